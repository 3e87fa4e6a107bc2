/*
 * lock_options.c - the options of kustos lock and of kustos semaphore.
 */
#include "lock_options.h"

#include <string.h>

#define COMMON_HELP                                                            \
	"  -E, --conflict-exit-code CODE\n"                                    \
	"                        exit with CODE instead of 120 or 121\n"       \
	"  -q, --quiet           print no message in these cases\n"            \
	"      --reason TEXT     the reason in the holder record; default:\n"  \
	"                        the name of COMMAND\n"                        \
	"      --record          store a holder record as JSON; the default\n" \
	"      --no-record       store the local address, as Curator does\n"   \
	"      --data TEXT       store TEXT instead\n"                         \
	"      --grace SECONDS   ask COMMAND to end when this much of the\n"   \
	"                        lease is left; default an eighth of the\n"    \
	"                        session timeout, at most a quarter\n"

const char lock_help[] =
	"Usage: kustos lock [OPTION]... PATH [--] COMMAND [ARGUMENT]...\n"
	"       kustos lock [OPTION]... PATH PATH... -- COMMAND [ARGUMENT]...\n"
	"\n"
	"Run COMMAND while holding the lock at PATH, or the locks at all\n"
	"PATHs, of which either all are taken or none.  Its environment has\n"
	"KUSTOS_PATH, KUSTOS_TOKEN (greater than that of every earlier\n"
	"holder) and KUSTOS_NODE, each a list if there are several locks,\n"
	"and KUSTOS_HOSTS.\n"
	"\n"
	"  -n, --nonblock        fail if another holds the lock\n"
	"  -w, --wait SECONDS    fail if it was not acquired in this time\n"
	"  -s, --shared          take it as a reader: together with other\n"
	"                        readers (-s), but with no writer (-x)\n"
	"  -x, --exclusive       take it as a writer: alone among -s and -x.\n"
	"                        Without -s and -x it is a plain lock, which\n"
	"                        readers and writers do not see\n"
	"      --dialect NAME    curator (default); or kazoo, which works\n"
	"                        with kazoo's own Lock only\n"
	"      --revocable       ask COMMAND to end when the lock is asked\n"
	"                        for, as by 'kustos break --revoke'\n"
	"      --extra-marks TEXT[,TEXT]...\n"
	"                        also wait for contenders whose names have\n"
	"                        TEXT before their number\n" COMMON_HELP;

const char semaphore_help[] =
	"Usage: kustos semaphore -n N [OPTION]... PATH [--] COMMAND\n"
	"                        [ARGUMENT]...\n"
	"       kustos semaphore --max-path NODE --set-max N [OPTION]...\n"
	"\n"
	"Run COMMAND while holding one of the N leases of the semaphore at\n"
	"PATH.  Its environment has KUSTOS_PATH, KUSTOS_TOKEN, KUSTOS_NODE\n"
	"and KUSTOS_HOSTS.\n"
	"\n"
	"  -n, --max N           the number of leases; the same for all\n"
	"                        users of PATH\n"
	"      --max-path NODE   read and watch the number of leases in NODE\n"
	"                        instead\n"
	"      --set-max N       store N in NODE, and do nothing else\n"
	"      --leases K        hold K leases at once, or none\n"
	"      --nonblock        fail if there is no room\n"
	"  -w, --wait SECONDS    fail if there was no room in this time; 0\n"
	"                        is the same as --nonblock\n" COMMON_HELP;

#define COMMON_CODES                                            \
	"  123  no server answers\n"                            \
	"  124  another failure, described on standard error\n" \
	"  125  usage error\n"                                  \
	"  126  COMMAND cannot be executed\n"                   \
	"  127  COMMAND was not found\n"

const char lock_codes[] =
	"Exit codes: that of COMMAND, 128+N if it died of signal N, or\n"
	"  120  another holds the lock (-n)\n"
	"  121  timed out (-w)\n"
	"  122  lost, about to be lost, or revoked, while COMMAND\n"
	"       ran\n" COMMON_CODES;

const char semaphore_codes[] =
	"Exit codes: that of COMMAND, 128+N if it died of signal N, or\n"
	"  120  there is no room (--nonblock)\n"
	"  121  timed out (-w)\n"
	"  122  lost, or about to be lost, while COMMAND ran\n" COMMON_CODES;

enum {
	OPT_REASON = TOOL_OPT_OWN,
	OPT_DATA,
	OPT_DIALECT,
	OPT_REVOCABLE,
	OPT_RECORD,
	OPT_NO_RECORD,
	OPT_GRACE,
	OPT_MAX,
	OPT_MAX_PATH,
	OPT_SET_MAX,
	OPT_LEASES
};

/* The options that both have. */
#define COMMON_OPTIONS                                                  \
	{ "wait", required_argument, NULL, 'w' },                       \
		{ "conflict-exit-code", required_argument, NULL, 'E' }, \
		{ "quiet", no_argument, NULL, 'q' },                    \
		{ "reason", required_argument, NULL, OPT_REASON },      \
		{ "data", required_argument, NULL, OPT_DATA },          \
		{ "record", no_argument, NULL, OPT_RECORD },            \
		{ "no-record", no_argument, NULL, OPT_NO_RECORD },      \
		{ "grace", required_argument, NULL, OPT_GRACE }, TOOL_OPTIONS

static const struct option lock_long[] = {
	{ "nonblock", no_argument, NULL, 'n' },
	{ "shared", no_argument, NULL, 's' },
	{ "exclusive", no_argument, NULL, 'x' },
	{ "dialect", required_argument, NULL, OPT_DIALECT },
	{ "revocable", no_argument, NULL, OPT_REVOCABLE },
	TOOL_OPTION_MARKS,
	COMMON_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

/* Its -n means something else than that of a lock. */
static const struct option semaphore_long[] = {
	{ "max", required_argument, NULL, OPT_MAX },
	{ "max-path", required_argument, NULL, OPT_MAX_PATH },
	{ "set-max", required_argument, NULL, OPT_SET_MAX },
	{ "leases", required_argument, NULL, OPT_LEASES },
	{ "nonblock", no_argument, NULL, 'n' },
	COMMON_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static bool take_code(struct lock_options *o)
{
	if (tool_number(optarg, 0, &o->conflict_code) &&
		o->conflict_code <= 255)
		return true;
	o->tool.exit_code = tool_usage(&o->tool,
		"-E %s is not an exit code (0 to 255)", optarg);
	return false;
}

static bool take_kind(struct lock_options *o, enum kustos_kind kind)
{
	if (o->kind != KUSTOS_KIND_LOCK && o->kind != kind) {
		o->tool.exit_code = tool_usage(&o->tool,
			"-s and -x exclude each other");
		return false;
	}
	o->kind = kind;
	return true;
}

/* An option of a semaphore. */
static bool take_semaphores(struct lock_options *o, int option)
{
	switch (option) {
	case OPT_MAX:
		return tool_take_number(&o->tool, "-n", 1, INT32_MAX, &o->max);
	case OPT_MAX_PATH:
		o->max_path = optarg;
		return true;
	case OPT_SET_MAX:
		return tool_take_number(&o->tool, "--set-max", 0, INT32_MAX,
			&o->set_max);
	case OPT_LEASES:
		return tool_take_number(&o->tool, "--leases", 1, INT32_MAX,
			&o->leases);
	default:
		return tool_common(&o->tool, option);
	}
}

static bool take_option(struct lock_options *o, struct job *j, int option)
{
	switch (option) {
	case 'n':
		o->nonblock = true;
		return true;
	case 'w':
		return tool_take_seconds(&o->tool, "-w", &o->wait_ms);
	case 's':
	case 'x':
		return take_kind(o,
			option == 's' ? KUSTOS_KIND_READ : KUSTOS_KIND_WRITE);
	case 'E':
		return take_code(o);
	case 'q':
		o->quiet = true;
		return true;
	case OPT_REASON:
		o->reason = optarg;
		return true;
	case OPT_DATA:
		o->data = optarg;
		return true;
	case OPT_DIALECT:
		return tool_take_dialect(&o->tool, &o->dialect);
	case TOOL_OPT_MARKS:
		return tool_take_marks(&o->tool, &o->extra_marks);
	case OPT_REVOCABLE:
		o->revocable = true;
		return true;
	case OPT_RECORD:
	case OPT_NO_RECORD:
		o->record = option == OPT_RECORD;
		return true;
	case OPT_GRACE:
		return tool_take_seconds(&o->tool, "--grace", &j->grace_ms);
	default:
		return take_semaphores(o, option);
	}
}

static bool is_semaphore(const struct lock_options *o)
{
	return o->tool.subcommand == &tool_semaphore;
}

/* Options stand before PATH, and may also stand between it and COMMAND. */
static bool take_options(struct lock_options *o, struct job *j, int argc,
	char **argv)
{
	bool sem = is_semaphore(o);
	const char *letters = sem ? "+n:w:E:qvh" : "+nw:sxE:qvh";
	const struct option *longs = sem ? semaphore_long : lock_long;
	int option, index;

	for (;;) {
		index = -1;
		option = getopt_long(argc, argv, letters, longs, &index);
		if (option == -1)
			return true;
		if (sem && option == 'n' && index < 0)
			option = OPT_MAX;
		if (!take_option(o, j, option))
			return false;
	}
}

/* Count the paths.  If there are several, all of them stand before "--". */
static int count_paths(char *const *argv)
{
	int count = 0;

	while (argv[count] != NULL && argv[count][0] == '/')
		count++;
	if (count > 1 && argv[count] != NULL && strcmp(argv[count], "--") == 0)
		return count;
	return argv[0] != NULL;
}

static const char *twice(const struct lock_options *o)
{
	for (int i = 0; i < o->path_count; i++)
		for (int k = 0; k < i; k++)
			if (strcmp(o->paths[i], o->paths[k]) == 0)
				return o->paths[i];
	return NULL;
}

static int wrong(const struct lock_options *o)
{
	const struct tool *tool = &o->tool;

	if (twice(o) != NULL)
		return tool_usage(tool, "%s is given twice", twice(o));
	if (o->nonblock && o->wait_ms >= 0)
		return tool_usage(tool, "%s and -w exclude each other",
			is_semaphore(o) ? "--nonblock" : "-n");
	if (o->extra_marks != NULL && o->kind != KUSTOS_KIND_LOCK)
		return tool_usage(tool,
			"--extra-marks is for a plain lock, without -s and -x");
	if (o->data != NULL && o->record == 1)
		return tool_usage(tool,
			"--data and --record exclude each other");
	if (o->reason != NULL && (o->data != NULL || o->record == 0))
		return tool_usage(tool, "--reason needs the holder record");
	return TOOL_OK;
}

static int wrong_number(const struct lock_options *o)
{
	if (!is_semaphore(o))
		return TOOL_OK;
	if ((o->max > 0) == (o->max_path != NULL))
		return tool_usage(&o->tool,
			"one of -n and --max-path has to be given, "
			"and not both");
	if (o->max > 0 && o->leases > o->max)
		return tool_usage(&o->tool,
			"--leases is more than there may be, which is %d",
			o->max);
	return TOOL_OK;
}

static int wrong_setting(const struct lock_options *o, const struct job *j)
{
	if (o->max_path == NULL)
		return tool_usage(&o->tool, "--set-max needs --max-path");
	if (j->path != NULL)
		return tool_usage(&o->tool,
			"--set-max takes no PATH and no COMMAND");
	if (o->nonblock || o->wait_ms >= 0 || o->conflict_code >= 0 ||
		o->quiet || o->leases > 1 || o->reason != NULL ||
		o->data != NULL || o->record >= 0 || j->grace_ms >= 0)
		return tool_usage(&o->tool,
			"--set-max takes no lease, and none of the options for "
			"that");
	return TOOL_OK;
}

static int check(const struct lock_options *o, const struct job *j)
{
	int code = wrong_number(o);

	if (code == TOOL_OK && o->set_max >= 0)
		return wrong_setting(o, j);
	if (code == TOOL_OK)
		code = job_check(j);
	return code == TOOL_OK ? wrong(o) : code;
}

bool lock_parse(struct lock_options *o, struct job *j,
	const struct tool_subcommand *subcommand, int argc, char **argv)
{
	memset(o, 0, sizeof(*o));
	tool_init(&o->tool, subcommand);
	o->wait_ms = o->conflict_code = o->record = o->set_max = -1;
	o->leases = 1;
	j->tool = &o->tool;
	j->what = is_semaphore(o) ? "lease" : "lock";
	j->grace_ms = -1;
	if (!take_options(o, j, argc, argv))
		return false;
	if (optind < argc) {
		o->paths = argv + optind;
		o->path_count = is_semaphore(o) ? 1 : count_paths(o->paths);
		j->path = o->paths[0];
		optind += o->path_count;
		tool_options_anew();
		if (!take_options(o, j, argc, argv))
			return false;
	}
	j->argv = argv + optind;
	o->tool.paths = o->paths;
	o->tool.path_count = o->path_count;
	o->tool.more_paths[0] = o->max_path;
	o->tool.exit_code = check(o, j);
	if (o->tool.exit_code == TOOL_OK && o->set_max < 0 &&
		o->reason == NULL) {
		const char *slash = strrchr(j->argv[0], '/');

		o->reason = slash == NULL ? j->argv[0] : slash + 1;
	}
	return o->tool.exit_code == TOOL_OK;
}
