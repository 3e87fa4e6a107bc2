/*
 * job.c - a command that is run once something is held.
 */
#include "job.h"

#include <kustos/hold.h>

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MORE_MAX 4
#define ASKED "asked for back"
#define CLOSE_MS 500 /* in which a server that is alive has learned of it */

int job_check(const struct job *j)
{
	if (j->path == NULL)
		return tool_usage(j->tool, "no PATH given");
	if (*j->argv == NULL)
		return tool_usage(j->tool, "no COMMAND given");
	if (j->grace_ms > j->tool->session_ms / 4)
		return tool_usage(j->tool,
			"--grace is more than a quarter of the session "
			"timeout, which is %d ms",
			j->tool->session_ms);
	return TOOL_OK;
}

bool job_prepare(struct job *j)
{
	j->client = NULL;
	j->sig = 0;
	atomic_store(&j->connected, false);
	return under_prepare(&j->under, j->signals, j->argv, 0);
}

static void on_state(void *arg, const struct kustos_session *now)
{
	struct job *j = arg;

	if (now->state == KUSTOS_STATE_CONNECTED)
		atomic_store(&j->connected, true);
	if (now->state == KUSTOS_STATE_CONNECTED ||
		now->state == KUSTOS_STATE_CLOSED)
		under_wake();
}

int job_left_ms(kustos_deadline deadline)
{
	int64_t ms = (deadline - kustos_after_ms(0)) / 1000000 + 1;

	if (deadline == KUSTOS_FOREVER)
		return -1;
	return ms < 0 ? 0 : ms > INT32_MAX ? INT32_MAX : (int)ms;
}

int job_connect(struct job *j)
{
	kustos_deadline end = kustos_after_ms(j->tool->session_ms);
	struct kustos_listener *listener;
	int code = tool_open(j->tool, &j->client);

	if (code != TOOL_OK)
		return code;
	bool cut_short = j->in_time && j->deadline < end;
	if (cut_short)
		end = j->deadline;
	if (kustos_client_listen(j->client, on_state, j, &listener) !=
		KUSTOS_OK) {
		tool_say("out of memory");
		return TOOL_FAILED;
	}
	while (!atomic_load(&j->connected)) {
		/* The credentials were refused, as the log has said. */
		if (kustos_client_state(j->client) == KUSTOS_STATE_CLOSED)
			return TOOL_FAILED;
		if (kustos_after_ms(0) >= end)
			return cut_short ? tool_unreachable_in_time(j->tool)
					 : tool_unreachable(j->tool);
		j->sig = under_wait(&j->under, job_left_ms(end));
		if (j->sig != 0)
			return TOOL_SIGNAL + j->sig;
	}
	return TOOL_OK;
}

static char *variable(const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 2;
	char *line = malloc(size);

	if (line != NULL)
		snprintf(line, size, "%s=%s", name, value);
	return line;
}

/* Return the part "index" of the hold, which is the hold itself if it has no
   parts; NULL if there are not so many. */
static struct kustos_hold *part_of(struct kustos_hold *hold, size_t index)
{
	if (index == 0 && kustos_hold_part(hold, 0) == NULL)
		return hold;
	return kustos_hold_part(hold, index);
}

/* Write the token of each part, or the path of its node. */
static void list_parts(FILE *out, struct kustos_hold *hold, bool tokens)
{
	struct kustos_hold *part;

	for (size_t i = 0; (part = part_of(hold, i)) != NULL; i++) {
		if (i > 0)
			fputc(' ', out);
		if (tokens)
			fprintf(out, "%" PRId64, kustos_hold_token(part));
		else
			fputs(kustos_hold_path(part), out);
	}
}

/* Return "name=" with the tokens of all holds, or the paths of their nodes. */
static char *list(const char *name, struct kustos_hold *const *holds, int count,
	bool tokens)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (out == NULL)
		return NULL;
	fprintf(out, "%s=", name);
	for (int i = 0; i < count; i++) {
		if (i > 0)
			fputc(' ', out);
		list_parts(out, holds[i], tokens);
	}
	return fclose(out) == 0 ? line : NULL;
}

/* Return the grace in milliseconds.  While all is well at least 3/8 of the
   timeout are left at any time.  So the servers may be silent for a quarter of
   the timeout before the command is asked to end; with the longest grace, for
   an eighth. */
static int64_t grace_of(const struct job *j, int timeout_ms)
{
	int64_t longest = timeout_ms / 4;

	if (j->grace_ms < 0)
		return timeout_ms / 8;
	return j->grace_ms < longest ? j->grace_ms : longest;
}

/* There is no memory for the command's environment. */
static void not_run(struct job *j)
{
	tool_say("%s is not run: out of memory", j->argv[0]);
	under_abandon(&j->under);
}

static int run_under(struct job *j, struct kustos_hold *const *holds, int count)
{
	struct kustos_session session = KUSTOS_SESSION_INIT;
	char *env[4] = { NULL };
	const char *lines[4 + MORE_MAX + 1] = { NULL };
	int more = 0;
	int64_t grace_ms;
	int code = TOOL_FAILED;

	(void)kustos_client_session(j->client, &session);
	grace_ms = grace_of(j, session.timeout_ms);
	env[0] = variable("KUSTOS_HOSTS", j->tool->hosts);
	env[1] = variable("KUSTOS_PATH", j->path);
	if (count > 0) {
		env[2] = list("KUSTOS_TOKEN", holds, count, true);
		env[3] = list("KUSTOS_NODE", holds, count, false);
	}
	while (j->more != NULL && j->more[more] != NULL && more < MORE_MAX) {
		lines[more] = j->more[more];
		more++;
	}
	for (int i = 0; i < 4 && env[i] != NULL; i++)
		lines[more + i] = env[i];
	if (env[0] != NULL && env[1] != NULL &&
		(count == 0 || (env[2] != NULL && env[3] != NULL)))
		code = under_run(&j->under, holds, count, lines, grace_ms,
			session.timeout_ms / 32 + 1);
	else
		not_run(j);
	for (int i = 0; i < 4; i++)
		free(env[i]);
	return code;
}

static bool is_lost(struct kustos_hold *part)
{
	return part != NULL && kustos_hold_state(part) == KUSTOS_HOLD_LOST;
}

/* Return the paths of those parts of the hold that were lost, or asked for,
   which the caller frees; NULL if there is no memory, or no such part.  There
   need not be a hold to see what was asked for. */
static char *some_paths(const struct job *j, struct kustos_hold *hold,
	bool lost)
{
	const char *space = "";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	for (int i = 0; i < j->tool->path_count; i++) {
		if (lost ? !is_lost(kustos_hold_part(hold, (size_t)i))
			 : !atomic_load(&j->asked[i]))
			continue;
		fprintf(out, "%s%s", space, j->paths[i]);
		space = " ";
	}
	if (fclose(out) == 0 && size > 0)
		return text;
	free(text);
	return NULL;
}

/* Print what was lost, and how. */
static void tell_lost(const struct job *j, const char *path, const char *how,
	int code)
{
	if (!j->under.started)
		tool_say("%s: the %s was %s before %s could start", path,
			j->what, how, j->argv[0]);
	else
		tool_say("%s: the %s was %s while %s ran, which ended with "
			 "%d",
			path, j->what, how, j->argv[0], code);
}

int job_run(struct job *j, struct kustos_hold *const *holds, int count)
{
	int code = run_under(j, holds, count);
	char *paths = NULL;
	bool lost = false;

	for (int i = 0; i < count; i++)
		lost = lost || kustos_hold_state(holds[i]) == KUSTOS_HOLD_LOST;
	j->lost = lost || j->under.lost;
	if (!j->lost)
		return code;
	if (j->paths != NULL && (lost || j->under.revoked))
		paths = some_paths(j, holds[0], lost);
	tell_lost(j, paths != NULL ? paths : j->path,
		lost			   ? "lost"
			: j->under.revoked ? ASKED
					   : "about to be lost",
		code);
	free(paths);
	return TOOL_LOST;
}

int job_asked(const struct job *j)
{
	char *paths = some_paths(j, NULL, false);

	tell_lost(j, paths != NULL ? paths : j->path, ASKED, 0);
	free(paths);
	return TOOL_LOST;
}

struct closing {
	struct kustos_client *client;
	int done; /* an eventfd */
};

static void *close_client(void *arg)
{
	const struct closing *c = arg;

	tool_close(c->client);
	eventfd_write(c->done, 1);
	return NULL;
}

void job_close(struct job *j)
{
	struct closing c = { j->client, eventfd(0, EFD_CLOEXEC) };
	struct pollfd done = { c.done, POLLIN, 0 };
	pthread_t thread;

	if (c.done < 0 ||
		pthread_create(&thread, NULL, close_client, &c) != 0) {
		tool_close(j->client);
	} else {
		bool slow = poll(&done, 1, CLOSE_MS) == 0;

		if (slow)
			signals_admit(j->signals, true);
		pthread_join(thread, NULL);
		if (slow)
			signals_admit(j->signals, false);
	}
	if (c.done >= 0)
		close(c.done);
}

int job_end(struct job *j, int code)
{
	if (j->sig != 0)
		signals_suffer(j->sig);
	else
		command_imitate(&j->under.command, code);
	return code;
}
