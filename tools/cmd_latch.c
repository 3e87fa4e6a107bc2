/*
 * cmd_latch.c - kustos latch: count down, and wait for zero.
 */
#include "latch_run.h"
#include "show.h"

#include <kustos/countdown.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"Usage: kustos latch set -n NUMBER [OPTION]... PATH\n"
	"       kustos latch done [OPTION]... PATH\n"
	"       kustos latch done [OPTION]... PATH [--] COMMAND [ARGUMENT]...\n"
	"       kustos latch wait|status|remove [OPTION]... PATH\n"
	"\n"
	"A count-down latch at PATH: 'set' stores how many participants must\n"
	"be done; 'done' counts one participant, once; 'wait' waits until\n"
	"that many are; 'status' lists them; 'remove' deletes the latch.\n"
	"With a COMMAND, 'done' counts when COMMAND has ended with 0; if it\n"
	"ends otherwise, or this host dies, all who wait fail.\n"
	"\n"
	"  -n, --count NUMBER    how many must be done; for 'wait', if the\n"
	"                        latch itself does not say\n"
	"      --id TEXT         the participant; default: the host name\n"
	"  -w, --timeout SECONDS\n"
	"                        give up after this time; 0: do not wait\n"
	"      --json            for 'status': print one JSON object\n";

static const char codes[] =
	"Exit codes: 0, or that of COMMAND, 128+N if it died of signal N; or\n"
	"  116  a participant that must be done has died\n"
	"  117  there is no such latch ('status')\n"
	"  120  not enough are done (-w 0)\n"
	"  121  timed out (-w)\n"
	"  122  the session ended before COMMAND was counted, so others may\n"
	"       have failed with 116; it is counted now\n"
	"  123  no server answers\n"
	"  124  another failure, described on standard error, such as a\n"
	"       latch with a different count\n"
	"  125  usage error\n"
	"  126  COMMAND cannot be executed\n"
	"  127  COMMAND was not found\n";

/* Do a verb that runs no command: open a client, and call "act". */
static int with_latch(struct together *t, const char *verb, bool waits,
	enum kustos_err (*act)(struct together *t,
		struct kustos_countdown *latch, kustos_deadline deadline))
{
	kustos_deadline deadline = together_deadline(t, waits);
	struct kustos_countdown *latch = NULL;
	struct kustos_client *client;
	int code = tool_connect(&t->tool, &client);

	if (code != TOOL_OK)
		return code;
	enum kustos_err err = kustos_countdown_create(client, t->job.path,
		t->count, NULL, &latch);
	if (err == KUSTOS_OK)
		err = act(t, latch, deadline);
	code = together_waited(t, client, verb,
		waits ? "not enough are done" : NULL, err);
	kustos_countdown_destroy(latch);
	tool_close(client);
	return tool_flush(code);
}

static enum kustos_err act_set(struct together *t,
	struct kustos_countdown *latch, kustos_deadline deadline)
{
	(void)t;
	return kustos_countdown_set(latch, deadline, NULL);
}

static enum kustos_err act_wait(struct together *t,
	struct kustos_countdown *latch, kustos_deadline deadline)
{
	(void)t;
	return kustos_countdown_wait(latch, deadline, NULL);
}

static enum kustos_err act_remove(struct together *t,
	struct kustos_countdown *latch, kustos_deadline deadline)
{
	(void)t;
	return kustos_countdown_remove(latch, deadline, NULL);
}

static enum kustos_err act_done(struct together *t,
	struct kustos_countdown *latch, kustos_deadline deadline)
{
	return kustos_countdown_done(latch, t->id, deadline, NULL);
}

static void print_text(const struct together *t,
	const struct kustos_countdown_status *s)
{
	show_text(stdout, t->job.path);
	if (s->count > 0)
		printf(": %zu of %d", s->done, s->count);
	else
		printf(": %zu", s->done);
	fputs(s->done == 1 && s->count == 0 ? " is done" : " are done", stdout);
	if (s->disagree)
		fputs(", and two numbers are set", stdout);
	if (s->broken > 0)
		printf(", %zu %s died", s->broken,
			s->broken == 1 ? "has" : "have");
	putchar('\n');
	for (size_t i = 0; i < s->participant_count; i++) {
		const struct kustos_countdown_participant
			*p = s->participants[i];

		printf("%-6s ",
			p->done		   ? "done"
				: p->alive ? "works"
				: p->must  ? "died"
					   : "-");
		show_text(stdout, p->id);
		putchar('\n');
	}
}

static void print_json(const struct together *t,
	const struct kustos_countdown_status *s)
{
	static const char *const words[] = { "false", "true" };

	fputs("{\"path\":", stdout);
	show_json(stdout, t->job.path);
	printf(",\"count\":%d,\"done\":%zu,\"broken\":%zu,\"disagree\":%s,"
	       "\"participants\":[",
		s->count, s->done, s->broken, words[s->disagree != 0]);
	for (size_t i = 0; i < s->participant_count; i++) {
		const struct kustos_countdown_participant
			*p = s->participants[i];

		fputs(i > 0 ? ",{\"id\":" : "{\"id\":", stdout);
		show_json(stdout, p->id);
		printf(",\"done\":%s,\"must\":%s,\"alive\":%s}",
			words[p->done != 0], words[p->must != 0],
			words[p->alive != 0]);
	}
	puts("]}");
}

static enum kustos_err act_status(struct together *t,
	struct kustos_countdown *latch, kustos_deadline deadline)
{
	struct kustos_countdown_status *status = NULL;
	enum kustos_err err = kustos_countdown_look(latch, deadline, NULL,
		&status);

	if (err == KUSTOS_OK)
		(t->tool.json ? print_json : print_text)(t, status);
	kustos_countdown_status_free(status);
	return err;
}

static int set(struct together *t)
{
	return with_latch(t, "cannot set", false, act_set);
}

static int await(struct together *t)
{
	return with_latch(t, "cannot wait for", true, act_wait);
}

static int status(struct together *t)
{
	return with_latch(t, "cannot see", false, act_status);
}

static int take_away(struct together *t)
{
	return with_latch(t, "cannot remove", false, act_remove);
}

static int done(struct together *t)
{
	char host[256] = "localhost";

	if (t->id == NULL && gethostname(host, sizeof(host)) == 0)
		host[sizeof(host) - 1] = '\0';
	if (t->id == NULL)
		t->id = host;
	if (*t->id == '\0' || strlen(t->id) > KUSTOS_COUNTDOWN_ID_MAX)
		return tool_usage(&t->tool,
			"--id is not a text of 1 to %d bytes",
			KUSTOS_COUNTDOWN_ID_MAX);
	return *t->job.argv == NULL
		? with_latch(t, "cannot count", false, act_done)
		: together_run(t, "latch", false, latch_run);
}

static const struct together_verb verbs[] = {
	{ .name = "set", .run = set, .count = MUST_COUNT },
	{ .name = "done", .run = done, .command = MAY_RUN, .has_id = true },
	{ .name = "wait", .run = await, .count = MAY_COUNT },
	{ .name = "status", .run = status, .has_json = true },
	{ .name = "remove", .run = take_away },
	{ .name = NULL },
};

static int run(int argc, char **argv)
{
	struct together t;

	if (!together_parse(&t, &tool_latch, verbs, argc, argv))
		return t.tool.exit_code;
	return t.verb->run(&t);
}

const struct tool_subcommand tool_latch = { "latch", run,
	"count down, and wait for zero", help, tool_help_common, codes };
