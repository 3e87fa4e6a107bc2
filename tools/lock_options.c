/*
 * lock_options.c - the options of kustos lock.
 */
#include "lock_options.h"

#include <string.h>

const char lock_help[] =
	"Usage: kustos lock [OPTION]... PATH [--] COMMAND [ARGUMENT]...\n"
	"\n"
	"Run COMMAND while holding the lock at PATH.  In its environment\n"
	"it finds KUSTOS_PATH, KUSTOS_TOKEN (greater than that of every\n"
	"earlier holder), KUSTOS_NODE and KUSTOS_HOSTS.\n"
	"\n"
	"  -n, --nonblock        fail if another holds the lock\n"
	"  -w, --wait SECONDS    fail if it was not got in that time\n"
	"  -s, --shared          read: with other readers (-s), and not\n"
	"                        while somebody writes (-x)\n"
	"  -x, --exclusive       write: alone, among those who use -s or\n"
	"                        -x.  Without either it is a plain lock,\n"
	"                        which those two do not see\n"
	"  -E, --conflict-exit-code CODE\n"
	"                        exit with CODE when -n or -w fails\n"
	"      --reason TEXT     say why in the holder record; default:\n"
	"                        the name of COMMAND\n"
	"      --record          store who holds it as JSON; the default\n"
	"      --no-record       store the local address, as Curator does\n"
	"      --data TEXT       store TEXT instead\n"
	"      --dialect NAME    curator (default); or kazoo, to share it\n"
	"                        with kazoo's own Lock and nobody else\n"
	"      --grace SECONDS   ask COMMAND to end when no more is left;\n"
	"                        default an eighth of the session timeout,\n"
	"                        at most a quarter\n";

const char lock_codes[] =
	"Exit codes: that of COMMAND, 128+N if it died of signal N, or\n"
	"  120  another holds the lock (-n)\n"
	"  121  another held it all the time (-w)\n"
	"  122  lost, or about to be lost, while COMMAND ran\n"
	"  123  no server answers\n"
	"  124  another failure, named on standard error\n"
	"  125  wrong use\n"
	"  126  COMMAND cannot be executed\n"
	"  127  COMMAND was not found\n";

enum {
	OPT_REASON = TOOL_OPT_OWN,
	OPT_DATA,
	OPT_DIALECT,
	OPT_RECORD,
	OPT_NO_RECORD,
	OPT_GRACE
};

static const struct option long_options[] = {
	{ "nonblock", no_argument, NULL, 'n' },
	{ "wait", required_argument, NULL, 'w' },
	{ "shared", no_argument, NULL, 's' },
	{ "exclusive", no_argument, NULL, 'x' },
	{ "conflict-exit-code", required_argument, NULL, 'E' },
	{ "reason", required_argument, NULL, OPT_REASON },
	{ "data", required_argument, NULL, OPT_DATA },
	{ "dialect", required_argument, NULL, OPT_DIALECT },
	{ "record", no_argument, NULL, OPT_RECORD },
	{ "no-record", no_argument, NULL, OPT_NO_RECORD },
	{ "grace", required_argument, NULL, OPT_GRACE },
	TOOL_OPTIONS,
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

static bool take_seconds(struct lock_options *o, const char *name,
	int64_t *out_ms)
{
	if (tool_seconds(optarg, out_ms))
		return true;
	o->tool.exit_code = tool_usage(&o->tool,
		"%s %s is not a number of seconds", name, optarg);
	return false;
}

static bool take_dialect(struct lock_options *o)
{
	if (strcmp(optarg, "curator") == 0)
		o->dialect = KUSTOS_DIALECT_CURATOR;
	else if (strcmp(optarg, "kazoo") == 0)
		o->dialect = KUSTOS_DIALECT_KAZOO;
	else {
		o->tool.exit_code = tool_usage(&o->tool,
			"--dialect %s is neither curator nor kazoo", optarg);
		return false;
	}
	return true;
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

static bool take_option(struct lock_options *o, int option)
{
	switch (option) {
	case 'n':
		o->nonblock = true;
		return true;
	case 'w':
		return take_seconds(o, "-w", &o->wait_ms);
	case 's':
	case 'x':
		return take_kind(o,
			option == 's' ? KUSTOS_KIND_READ : KUSTOS_KIND_WRITE);
	case 'E':
		return take_code(o);
	case OPT_REASON:
		o->reason = optarg;
		return true;
	case OPT_DATA:
		o->data = optarg;
		return true;
	case OPT_DIALECT:
		return take_dialect(o);
	case OPT_RECORD:
	case OPT_NO_RECORD:
		o->record = option == OPT_RECORD;
		return true;
	case OPT_GRACE:
		return take_seconds(o, "--grace", &o->grace_ms);
	default:
		return tool_common(&o->tool, option);
	}
}

/* Options stand before PATH, and may also stand between it and COMMAND. */
static bool take_options(struct lock_options *o, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "+nw:sxE:vh", long_options,
			NULL)) != -1)
		if (!take_option(o, option))
			return false;
	return true;
}

static int wrong(const struct lock_options *o)
{
	const struct tool *tool = &o->tool;

	if (o->path == NULL)
		return tool_usage(tool, "no PATH given");
	if (*o->argv == NULL)
		return tool_usage(tool, "no COMMAND given");
	if (o->nonblock && o->wait_ms >= 0)
		return tool_usage(tool, "-n and -w exclude each other");
	if (o->data != NULL && o->record == 1)
		return tool_usage(tool,
			"--data and --record exclude each other");
	if (o->reason != NULL && (o->data != NULL || o->record == 0))
		return tool_usage(tool, "--reason needs the holder record");
	if (o->grace_ms > tool->session_ms / 4)
		return tool_usage(tool,
			"--grace is more than a quarter of the session "
			"timeout, which is %d ms",
			tool->session_ms);
	return TOOL_OK;
}

bool lock_parse(struct lock_options *o, int argc, char **argv)
{
	memset(o, 0, sizeof(*o));
	tool_init(&o->tool, &tool_lock);
	o->wait_ms = o->conflict_code = o->record = -1;
	o->grace_ms = -1;
	if (!take_options(o, argc, argv))
		return false;
	if (optind < argc) {
		o->path = argv[optind++];
		if (!take_options(o, argc, argv))
			return false;
	}
	o->argv = argv + optind;
	o->tool.exit_code = wrong(o);
	if (o->reason == NULL && o->tool.exit_code == TOOL_OK) {
		const char *slash = strrchr(o->argv[0], '/');

		o->reason = slash == NULL ? o->argv[0] : slash + 1;
	}
	return o->tool.exit_code == TOOL_OK;
}
