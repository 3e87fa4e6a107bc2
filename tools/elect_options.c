/*
 * elect_options.c - the options of kustos elect.
 */
#include "elect_options.h"

#include <string.h>

const char elect_help[] =
	"Usage: kustos elect [OPTION]... PATH [--] COMMAND [ARGUMENT]...\n"
	"       kustos elect --watch [OPTION]... PATH\n"
	"\n"
	"Run COMMAND while leading the election at PATH.  Its environment\n"
	"has KUSTOS_PATH, KUSTOS_TOKEN (the term: greater than that of every\n"
	"earlier leader), KUSTOS_NODE and KUSTOS_HOSTS.\n"
	"\n"
	"  -r, --restart         take part again when COMMAND has ended or\n"
	"                        leadership was lost, and run COMMAND again;\n"
	"                        until a signal, until COMMAND cannot be\n"
	"                        run, or until leadership cannot be won (-w,\n"
	"                        or a failure)\n"
	"      --id TEXT         who we are, for others to read; default:\n"
	"                        HOST:PID\n"
	"  -w, --wait SECONDS    fail if leadership was not won in this\n"
	"                        time; 0: fail if another leads\n"
	"      --lock-layout     take part like a lock and like Curator's\n"
	"                        LeaderSelector; default: like Curator's\n"
	"                        LeaderLatch\n"
	"      --dialect NAME    with --lock-layout: curator (default); or\n"
	"                        kazoo, which works with kazoo's own\n"
	"                        Election only\n"
	"      --grace SECONDS   ask COMMAND to end when this much of the\n"
	"                        lease is left; default an eighth of the\n"
	"                        session timeout, at most a quarter\n"
	"      --watch           do not take part; print a line whenever\n"
	"                        another leads, nobody leads any more, or\n"
	"                        the leader changes its data\n"
	"      --json            with --watch: print JSON objects\n";

const char elect_codes[] =
	"Exit codes: that of COMMAND, 128+N if it died of signal N, or\n"
	"  120  another leads (-w 0)\n"
	"  121  leadership was not won in time (-w)\n"
	"  122  lost, about to be lost, or asked for, while COMMAND ran\n"
	"  123  no server answers\n"
	"  124  another failure, described on standard error\n"
	"  125  usage error\n"
	"  126  COMMAND cannot be executed\n"
	"  127  COMMAND was not found\n";

enum {
	OPT_ID = TOOL_OPT_OWN,
	OPT_LOCK_LAYOUT,
	OPT_DIALECT,
	OPT_GRACE,
	OPT_WATCH
};

static const struct option long_options[] = {
	{ "restart", no_argument, NULL, 'r' },
	{ "id", required_argument, NULL, OPT_ID },
	{ "wait", required_argument, NULL, 'w' },
	{ "lock-layout", no_argument, NULL, OPT_LOCK_LAYOUT },
	{ "dialect", required_argument, NULL, OPT_DIALECT },
	{ "grace", required_argument, NULL, OPT_GRACE },
	{ "watch", no_argument, NULL, OPT_WATCH },
	TOOL_OPTION_JSON,
	TOOL_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static bool take_option(struct elect_options *o, struct job *j, int option)
{
	switch (option) {
	case 'r':
		o->restart = true;
		return true;
	case OPT_ID:
		o->id = optarg;
		return true;
	case 'w':
		return tool_take_seconds(&o->tool, "-w", &o->wait_ms);
	case OPT_LOCK_LAYOUT:
		o->lock_layout = true;
		return true;
	case OPT_DIALECT:
		o->has_dialect = true;
		return tool_take_dialect(&o->tool, &o->dialect);
	case OPT_GRACE:
		return tool_take_seconds(&o->tool, "--grace", &j->grace_ms);
	case OPT_WATCH:
		o->watch = true;
		return true;
	default:
		return tool_common(&o->tool, option);
	}
}

/* Options stand before PATH, and may also stand between it and COMMAND. */
static bool take_options(struct elect_options *o, struct job *j, int argc,
	char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "+rw:vh", long_options,
			NULL)) != -1)
		if (!take_option(o, j, option))
			return false;
	return true;
}

static int wrong(const struct elect_options *o, const struct job *j)
{
	if (!o->watch && o->tool.json)
		return tool_usage(&o->tool, "--json needs --watch");
	if (!o->watch && o->has_dialect && !o->lock_layout)
		return tool_usage(&o->tool, "--dialect needs --lock-layout");
	if (!o->watch)
		return job_check(j);
	if (j->path == NULL)
		return tool_usage(&o->tool, "no PATH given");
	if (*j->argv != NULL)
		return tool_usage(&o->tool, "--watch takes no COMMAND");
	if (o->restart || o->lock_layout || o->has_dialect || o->id != NULL ||
		o->wait_ms >= 0 || j->grace_ms >= 0)
		return tool_usage(&o->tool,
			"--watch takes no part, and none "
			"of the options for that");
	return TOOL_OK;
}

bool elect_parse(struct elect_options *o, struct job *j, int argc, char **argv)
{
	memset(o, 0, sizeof(*o));
	tool_init(&o->tool, &tool_elect);
	o->wait_ms = -1;
	j->tool = &o->tool;
	j->what = "leadership";
	j->grace_ms = -1;
	if (!take_options(o, j, argc, argv))
		return false;
	if (optind < argc) {
		o->tool.paths = argv + optind;
		o->tool.path_count = 1;
		j->path = argv[optind++];
		tool_options_anew();
		if (!take_options(o, j, argc, argv))
			return false;
	}
	j->argv = argv + optind;
	o->tool.exit_code = wrong(o, j);
	return o->tool.exit_code == TOOL_OK;
}
