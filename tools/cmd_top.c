/*
 * cmd_top.c - kustos top: watch the recipes below a node.
 */
#include "signals.h"
#include "top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char help[] =
	"Usage: kustos top [OPTION]... PATH\n"
	"\n"
	"Show the recipes at PATH and below it: locks, elections,\n"
	"semaphores, barriers, latches and queues of Kustos, Curator, kazoo\n"
	"and ZooKeeper.  For each, show how many hold and wait, or are in,\n"
	"or done; how many come and go in a second; and who holds.  Looks\n"
	"again every two seconds.  If standard output is not a terminal,\n"
	"each look is printed below the one before.\n"
	"\n"
	"  -i, --interval SECONDS\n"
	"                        time between two looks; 0.1 or more\n"
	"      --once            look once\n"
	"      --frames NUMBER   look so many times\n"
	"      --bare            show also empty nodes that never had a\n"
	"                        child, as barriers\n"
	"      --json            print a JSON object for each look\n";

static const char codes[] =
	"Exit codes: 0; 117 if PATH does not exist, 123 if no server\n"
	"answers, 124 for another failure, 125 for a usage error.\n";

enum { OPT_ONCE = TOOL_OPT_OWN, OPT_FRAMES, OPT_BARE };

static const struct option long_options[] = {
	{ "interval", required_argument, NULL, 'i' },
	{ "once", no_argument, NULL, OPT_ONCE },
	{ "frames", required_argument, NULL, OPT_FRAMES },
	{ "bare", no_argument, NULL, OPT_BARE },
	TOOL_OPTION_JSON,
	TOOL_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

#define INTERVAL_MS 2000 /* without -i */
#define LEAST_MS 100
#define CLEAR "\033[H\033[2J"

struct top {
	struct tool tool;
	const char *path;
	int64_t interval_ms;
	int frames; /* 0: no limit */
	bool bare;
	struct kustos_client *client;
	struct signals signals;
};

static bool take_option(struct top *t, int option)
{
	switch (option) {
	case 'i':
		if (!tool_take_seconds(&t->tool, "-i", &t->interval_ms))
			return false;
		if (t->interval_ms >= LEAST_MS && t->interval_ms <= INT32_MAX)
			return true;
		t->tool.exit_code = tool_usage(&t->tool,
			"-i %s is less than 0.1, or too much", optarg);
		return false;
	case OPT_ONCE:
		t->frames = 1;
		return true;
	case OPT_FRAMES:
		return tool_take_number(&t->tool, "--frames", 1, INT32_MAX,
			&t->frames);
	case OPT_BARE:
		t->bare = true;
		return true;
	default:
		return tool_common(&t->tool, option);
	}
}

static int print(const struct top *t, const struct top_frame *frame, bool first)
{
	struct winsize size = { 0 };

	if (t->tool.json) {
		top_print_json(stdout, t->path, frame);
	} else if (isatty(1)) {
		(void)ioctl(1, TIOCGWINSZ, &size);
		fputs(t->frames == 1 ? "" : CLEAR, stdout);
		top_print(stdout, t->path, frame,
			t->frames == 1 ? 0 : size.ws_row, size.ws_col);
	} else {
		fputs(first ? "" : "\n", stdout);
		top_print(stdout, t->path, frame, 0, 0);
	}
	return tool_flush(TOOL_OK);
}

/* Does another look follow look "i" although that has failed?  Not if it was
   the first. */
static bool goes_on(const struct top *t, enum kustos_err err, int i)
{
	bool passes = err == KUSTOS_EDISCONNECTED || err == KUSTOS_ETIMEDOUT ||
		err == KUSTOS_ENONODE;

	return passes && i > 0 && i != t->frames - 1;
}

static int look(struct top *t)
{
	struct top_frame frame, before = { 0 };
	int code = TOOL_OK, sig = 0;

	for (int i = 0; code == TOOL_OK && (t->frames == 0 || i < t->frames);
		i++) {
		signals_admit(&t->signals, false);
		if (i > 0)
			sig = signals_wait(&t->signals, (int)t->interval_ms);
		signals_admit(&t->signals, true);
		if (sig != 0)
			break;
		enum kustos_err err = top_look(t->client, t->path,
			t->tool.session_ms, t->bare, &before, &frame);
		if (err == KUSTOS_OK)
			code = print(t, &frame, i == 0);
		else
			code = tool_failed(&t->tool, "cannot look at", t->path,
				err);
		if (goes_on(t, err, i))
			code = TOOL_OK;
		if (err != KUSTOS_OK)
			continue;
		top_free(&before);
		before = frame;
	}
	top_free(&before);
	return sig != 0 ? TOOL_SIGNAL + sig : code;
}

static int run(int argc, char **argv)
{
	struct top t;
	int option, code;

	memset(&t, 0, sizeof(t));
	tool_init(&t.tool, &tool_top);
	t.interval_ms = INTERVAL_MS;
	while ((option = getopt_long(argc, argv, "i:vh", long_options, NULL)) !=
		-1)
		if (!take_option(&t, option))
			return t.tool.exit_code;
	if (argc - optind != 1)
		return tool_usage(&t.tool, "%s",
			optind == argc ? "no PATH given"
				       : "more than one PATH");
	t.path = argv[optind];
	t.tool.paths = argv + optind;
	t.tool.path_count = 1;
	if (signals_take(&t.signals) < 0) {
		tool_say("cannot handle signals: %s", strerror(errno));
		return TOOL_FAILED;
	}
	signals_admit(&t.signals, true);
	code = tool_connect(&t.tool, &t.client);
	if (code != TOOL_OK)
		return code;
	code = look(&t);
	tool_close(t.client);
	if (code > TOOL_SIGNAL)
		signals_suffer(code - TOOL_SIGNAL);
	return code;
}

const struct tool_subcommand tool_top = { "top", run,
	"watch the recipes below a node", help, tool_help_common, codes };
