/*
 * cmd_break.c - kustos break: take a place in line away from its owner.
 */
#include "json.h"
#include "show.h"
#include "standing.h"
#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"Usage: kustos break [OPTION]... PATH[/NODE]\n"
	"\n"
	"Take the lock at PATH away from its holder, or remove NODE from the\n"
	"line.  Shows whose node it is, asks for confirmation, and deletes\n"
	"the node only if it is still the one that was shown.  For a\n"
	"semaphore a NODE must be named.\n"
	"\n"
	"  -y, --yes             do not ask; needed without a terminal\n"
	"      --token TOKEN     only if this is the token of the node; see\n"
	"                        'kustos ls'\n"
	"      --revoke          ask the owner to let go; delete nothing\n"
	"      --extra-marks TEXT[,TEXT]...\n"
	"                        as for 'kustos ls'\n"
	"      --json            print one JSON object\n";

static const char codes[] =
	"Exit codes: 0; 117 if PATH does not exist or nobody is there, 118\n"
	"if the node is no longer the one that was shown, 119 if not\n"
	"confirmed, 123 if no server answers, 124 for another failure, 125\n"
	"for a usage error.\n";

enum { OPT_TOKEN = TOOL_OPT_OWN, OPT_REVOKE };

static const struct option long_options[] = {
	{ "yes", no_argument, NULL, 'y' },
	{ "token", required_argument, NULL, OPT_TOKEN },
	{ "revoke", no_argument, NULL, OPT_REVOKE },
	TOOL_OPTION_MARKS,
	TOOL_OPTION_JSON,
	TOOL_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

struct breaker {
	struct tool tool;
	const char *path;
	bool yes, revoke;
	int64_t token; /* 0: any */
	const char *extra_marks;
	struct kustos_client *client;
	struct standing at, above;		 /* the path; and its parent */
	const struct kustos_participant *victim; /* in one of these */
};

static kustos_deadline soon(const struct breaker *b)
{
	return kustos_after_ms(b->tool.session_ms);
}

/* Find the participant that the last part of the path names.  "there": the path
   is a node, but nobody stands in line below it. */
static int find_named(struct breaker *b, bool there)
{
	const char *name = show_name(b->path);
	enum kustos_err err = there ? KUSTOS_OK : KUSTOS_ENONODE;
	char *line = strdup(b->path);

	if (line == NULL)
		return tool_failed(&b->tool, "cannot list", b->path,
			KUSTOS_ENOMEM);
	if (name > b->path + 1) {
		line[name - b->path - 1] = '\0';
		err = standing_get(b->client, line, b->extra_marks, soon(b),
			&b->above);
	}
	free(line);
	if (err != KUSTOS_OK)
		return tool_failed(&b->tool, "cannot list", b->path, err);
	const struct kustos_participants *all = b->above.list;
	for (size_t i = 0; all != NULL && i < all->count; i++)
		if (strcmp(show_name(all->list[i]->path), name) == 0)
			b->victim = all->list[i];
	if (b->victim != NULL)
		return TOOL_OK;
	tool_say("%s: nobody is in line there", b->path);
	return TOOL_NONODE;
}

static int find(struct breaker *b)
{
	enum kustos_err err = standing_get(b->client, b->path, b->extra_marks,
		soon(b), &b->at);

	if (err != KUSTOS_OK && err != KUSTOS_ENONODE)
		return tool_failed(&b->tool, "cannot list", b->path, err);
	if (err == KUSTOS_OK && b->at.line->count > 0) {
		b->victim = b->at.line->list[0];
		return TOOL_OK;
	}
	if (err == KUSTOS_OK && b->at.list->count > 0)
		return tool_usage(&b->tool,
			"%s is a semaphore, which several may hold: name one "
			"of those that 'kustos ls' shows",
			b->path);
	return find_named(b, err == KUSTOS_OK);
}

static bool answered_yes(void)
{
	char line[16];

	fputs("Break it? [y/N] ", stderr);
	fflush(stderr);
	return fgets(line, sizeof(line), stdin) != NULL &&
		(*line == 'y' || *line == 'Y');
}

static int confirm(const struct breaker *b)
{
	if (b->token != 0 && b->victim->stat.czxid != b->token) {
		tool_say("%s: its token is %" PRId64 ", not %" PRId64,
			b->victim->path, b->victim->stat.czxid, b->token);
		return TOOL_CHANGED;
	}
	if (b->yes || b->revoke)
		return TOOL_OK;
	if (!isatty(0) || !isatty(2)) {
		tool_say("nothing is broken without a terminal to ask on, or "
			 "--yes");
		return TOOL_REFUSED;
	}
	if (answered_yes())
		return TOOL_OK;
	tool_say("nothing was broken");
	return TOOL_REFUSED;
}

static int act(const struct breaker *b)
{
	const char *path = b->victim->path;
	enum kustos_err err;

	if (b->revoke)
		err = kustos_participant_revoke(b->client, path, soon(b), NULL);
	else
		err = kustos_participant_break(b->client, b->victim, soon(b),
			NULL);
	if (err == KUSTOS_OK)
		return TOOL_OK;
	if (err == KUSTOS_ENONODE || err == KUSTOS_ECHANGED) {
		tool_say("%s: %s; nothing was done", path,
			err == KUSTOS_ENONODE ? "has left by itself"
					      : kustos_strerror(err));
		return TOOL_CHANGED;
	}
	return tool_failed(&b->tool, b->revoke ? "cannot ask" : "cannot break",
		path, err);
}

static void report(const struct breaker *b)
{
	const char *done = b->revoke ? "asked" : "broken";

	if (b->tool.json) {
		fprintf(stdout, "{\"action\":\"%s\",\"participant\":", done);
		show_participant_json(stdout, b->victim);
		puts("}");
	} else {
		printf("%s: ", done);
		show_text(stdout, b->victim->path);
		putchar('\n');
	}
}

static int break_path(struct breaker *b)
{
	bool asks = !b->yes && !b->revoke;
	/* A user who is asked has to see what for: on standard error, if
	   standard output is no terminal. */
	bool aside = b->tool.json || (asks && !isatty(1));
	FILE *out = aside ? stderr : stdout;
	int code = tool_connect(&b->tool, &b->client);

	if (code != TOOL_OK)
		return code;
	code = find(b);
	if (code == TOOL_OK && !(b->tool.json && b->yes)) {
		show_heading(out);
		show_participant(out, b->victim);
		fflush(out);
	}
	if (code == TOOL_OK)
		code = confirm(b);
	if (code == TOOL_OK)
		code = act(b);
	if (code == TOOL_OK)
		report(b);
	standing_free(&b->at);
	standing_free(&b->above);
	tool_close(b->client);
	return tool_flush(code);
}

static bool take_token(struct breaker *b)
{
	char *end;

	errno = 0;
	b->token = strtoll(optarg, &end, 0);
	if (end != optarg && *end == '\0' && errno == 0 && b->token > 0)
		return true;
	b->tool.exit_code = tool_usage(&b->tool, "--token %s is not a token",
		optarg);
	return false;
}

static bool take_option(struct breaker *b, int option)
{
	switch (option) {
	case 'y':
		b->yes = true;
		return true;
	case OPT_REVOKE:
		b->revoke = true;
		return true;
	case OPT_TOKEN:
		return take_token(b);
	case TOOL_OPT_MARKS:
		return tool_take_marks(&b->tool, &b->extra_marks);
	default:
		return tool_common(&b->tool, option);
	}
}

static int run(int argc, char **argv)
{
	struct breaker b;
	int option;

	memset(&b, 0, sizeof(b));
	tool_init(&b.tool, &tool_break);
	while ((option = getopt_long(argc, argv, "yvh", long_options, NULL)) !=
		-1)
		if (!take_option(&b, option))
			return b.tool.exit_code;
	if (argc - optind != 1)
		return tool_usage(&b.tool, "%s",
			optind == argc ? "no PATH given"
				       : "more than one PATH");
	b.path = argv[optind];
	b.tool.paths = argv + optind;
	b.tool.path_count = 1;
	return break_path(&b);
}

const struct tool_subcommand tool_break = { "break", run,
	"take a lock away from its holder", help, tool_help_common, codes };
