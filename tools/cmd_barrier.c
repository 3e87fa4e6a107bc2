/*
 * cmd_barrier.c - kustos barrier: a gate for scripts, and commands that start
 * together.
 */
#include "layout.h"
#include "together_options.h"

#include <kustos/barrier.h>

#include <stdio.h>
#include <unistd.h>

static const char help[] =
	"Usage: kustos barrier set|remove|wait [OPTION]... PATH\n"
	"       kustos barrier enter -n NUMBER [OPTION]... PATH [--] COMMAND\n"
	"                            [ARGUMENT]...\n"
	"\n"
	"A barrier is the node PATH: 'set' creates it, 'remove' deletes it,\n"
	"and 'wait' waits until it does not exist.  'enter' waits until\n"
	"NUMBER members have entered PATH, each with a command like this,\n"
	"and runs COMMAND; then it waits until the commands of all members\n"
	"have ended.\n"
	"\n"
	"  -n, --count NUMBER    the number of members; the same for all\n"
	"  -w, --timeout SECONDS\n"
	"                        give up if the barrier is still set by\n"
	"                        then, or the others have not arrived; 0: do\n"
	"                        not wait\n"
	"      --no-wait         exit as soon as COMMAND has ended\n";

static const char codes[] =
	"Exit codes: 0, or for 'enter' that of COMMAND, 128+N if it died of\n"
	"signal N; or\n"
	"  120  the barrier is set, or the others are not there (-w 0)\n"
	"  121  timed out (-w)\n"
	"  122  while COMMAND ran the session ended, or the member's node\n"
	"       was deleted, and the others did not wait for this member\n"
	"  123  no server answers\n"
	"  124  another failure, described on standard error\n"
	"  125  usage error\n"
	"  126  COMMAND cannot be executed\n"
	"  127  COMMAND was not found\n";

/* Open a client, and call "act" with the barrier. */
static int with_barrier(struct together *t, const char *verb, bool waits,
	enum kustos_err (*act)(struct kustos_barrier *barrier,
		kustos_deadline deadline, struct kustos_cancel *cancel))
{
	struct kustos_barrier_options options = KUSTOS_BARRIER_OPTIONS_INIT;
	char host[64] = "localhost", says[128];
	kustos_deadline deadline = together_deadline(t, waits);
	struct kustos_barrier *barrier = NULL;
	struct kustos_client *client;
	int code = tool_connect(&t->tool, &client);

	if (code != TOOL_OK)
		return code;
	(void)gethostname(host, sizeof(host) - 1);
	options.data_len = (size_t)snprintf(says, sizeof(says),
		LAYOUT_GATE_SAYS ", %s pid %d", host, (int)getpid());
	options.data = says;
	enum kustos_err err = kustos_barrier_create(client, t->job.path,
		&options, &barrier);
	if (err == KUSTOS_OK)
		err = act(barrier, deadline, NULL);
	code = together_waited(t, client, verb, waits ? "it is set" : NULL,
		err);
	kustos_barrier_destroy(barrier);
	tool_close(client);
	return code;
}

static int set(struct together *t)
{
	return with_barrier(t, "cannot set", false, kustos_barrier_set);
}

static int take_away(struct together *t)
{
	return with_barrier(t, "cannot remove", false, kustos_barrier_remove);
}

static int await(struct together *t)
{
	return with_barrier(t, "cannot wait for", true, kustos_barrier_wait);
}

static enum kustos_err go_in(struct together *t,
	struct kustos_double_barrier *member)
{
	struct together_ask ask;
	enum kustos_err err = together_prepare(&ask, &t->job);

	if (err != KUSTOS_OK)
		return err;
	return together_await(&ask,
		kustos_double_barrier_enter_async(member, t->job.deadline,
			ask.cancel, together_answered, &ask));
}

/* Return the client's session, 0 if it has none. */
static int64_t session_of(const struct job *j)
{
	struct kustos_session now = KUSTOS_SESSION_INIT;

	(void)kustos_client_session(j->client, &now);
	return now.session_id;
}

/* Leave the barrier, after the command has ended with "code".  The member
   entered in "session". */
static int go_out(struct together *t, struct kustos_double_barrier *member,
	int64_t session, int code)
{
	kustos_deadline until = t->no_wait ? KUSTOS_NOW : KUSTOS_FOREVER;
	struct together_ask ask;
	enum kustos_err err = together_prepare(&ask, &t->job);

	if (err == KUSTOS_OK)
		err = together_await(&ask,
			kustos_double_barrier_leave_async(member, until,
				ask.cancel, together_answered, &ask));
	if (t->job.sig != 0)
		return TOOL_SIGNAL + t->job.sig;
	if (err == KUSTOS_OK)
		return code;
	/* The member is out; without a connection its node is deleted later. */
	if (t->no_wait && (err == KUSTOS_EBUSY || err == KUSTOS_EDISCONNECTED))
		return code;
	if (err != KUSTOS_ELOST)
		return tool_failed(&t->tool, "cannot leave", t->job.path, err);
	tool_say("%s: %s while %s ran, which ended with %d", t->job.path,
		session_of(&t->job) == session ? "the member's node was deleted"
					       : "the session ended",
		t->job.argv[0], code);
	return TOOL_LOST;
}

static int take_part(struct together *t)
{
	struct kustos_double_barrier *member = NULL;
	struct job *j = &t->job;
	enum kustos_err err = kustos_double_barrier_create(j->client, j->path,
		t->count, NULL, &member);

	if (err == KUSTOS_OK)
		err = go_in(t, member);
	int code = together_waited(t, j->client, "cannot enter",
		"the others are not there", err);
	if (code == TOOL_OK && j->sig != 0)
		code = TOOL_SIGNAL + j->sig; /* it came too late to cancel */
	int64_t session = session_of(j);
	if (code != TOOL_OK)
		under_abandon(&j->under);
	else
		code = go_out(t, member, session, job_run(j, NULL, 0));
	kustos_double_barrier_destroy(member);
	return code;
}

static int enter(struct together *t)
{
	return together_run(t, "barrier", true, take_part);
}

static const struct together_verb verbs[] = {
	{ .name = "set", .run = set },
	{ .name = "remove", .run = take_away },
	{ .name = "wait", .run = await },
	{ .name = "enter",
		.run = enter,
		.command = MUST_RUN,
		.count = MUST_COUNT,
		.has_rest = true },
	{ .name = NULL },
};

static int run(int argc, char **argv)
{
	struct together t;

	if (!together_parse(&t, &tool_barrier, verbs, argc, argv))
		return t.tool.exit_code;
	return t.verb->run(&t);
}

const struct tool_subcommand tool_barrier = { "barrier", run,
	"wait at a barrier; start commands together", help, tool_help_common,
	codes };
