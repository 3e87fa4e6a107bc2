/*
 * cmd_semaphore.c - kustos semaphore: run a command while holding leases.
 */
#include "ask.h"

#include <kustos/node.h>
#include <kustos/semaphore.h>

#include <string.h>

#define READ_MS 1000 /* then try later: a signal or a deadline may be due */

struct semaphore {
	struct ask ask; /* first: a pointer to it is one to this struct */
	struct kustos_semaphore *sem;
	bool told; /* the user, that others disagree */
};

static enum kustos_err make(struct semaphore *s, const char *path)
{
	struct kustos_semaphore_options options = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	options.max = s->ask.options.max;
	options.max_path = s->ask.options.max_path;
	LOCK_TAKE_DATA(&options, &s->ask.options);
	return kustos_semaphore_create(s->ask.job.client, path, &options,
		&s->sem);
}

/* Return what is wrong with the node that holds the number of leases; NULL if
   nothing is, as far as can be seen now. */
static const char *fault_of(const struct ask *ask)
{
	struct kustos_client *client = ask->job.client;
	char *data = NULL;
	size_t len = 0;

	if (kustos_client_state(client) != KUSTOS_STATE_CONNECTED)
		return NULL;
	enum kustos_err err = kustos_get(client, ask->options.max_path,
		kustos_after_ms(READ_MS), NULL, &data, &len, NULL);
	kustos_free(data);
	/* If the chroot is missing, the request for a lease itself says so. */
	if (err == KUSTOS_ENONODE)
		return kustos_exists(client, "/", kustos_after_ms(READ_MS),
			       NULL, NULL) == KUSTOS_OK
			? "is missing"
			: NULL;
	if (err == KUSTOS_ENOAUTH)
		return "may not be read";
	return err == KUSTOS_OK && len != 4 ? "holds no number" : NULL;
}

/* Without a number nobody gets a lease: say so each time that the number is
   found to be missing. */
static void explain(struct semaphore *s)
{
	struct ask *ask = &s->ask;
	bool missing = kustos_semaphore_max(s->sem) < 0;

	if (!missing || ask->explained) {
		ask->explained = missing;
		return;
	}
	const char *fault = fault_of(ask);
	ask->explained = fault != NULL;
	if (fault != NULL)
		tool_say("%s: no lease is granted, as %s %s", ask->job.path,
			ask->options.max_path, fault);
}

/* If others use another number than ours, one of the two is wrong: warn
   once. */
static void tell_if_disagrees(struct semaphore *s)
{
	int max = kustos_semaphore_max(s->sem);

	if (s->told || max < 0 || !kustos_semaphore_disagrees(s->sem))
		return;
	s->told = true;
	tool_say("%s: others use a different number of leases than %d",
		s->ask.job.path, max);
}

static bool look(struct ask *ask)
{
	struct semaphore *s = (struct semaphore *)ask;

	explain(s);
	tell_if_disagrees(s);
	return !s->told || ask->options.max_path != NULL;
}

static enum kustos_err start(struct ask *ask)
{
	struct semaphore *s = (struct semaphore *)ask;
	enum kustos_err err = make(s, ask->job.path);

	if (err == KUSTOS_OK)
		err = kustos_semaphore_acquire_many_async(s->sem,
			ask->options.leases, ask->job.deadline, ask->cancel,
			ask_granted_many, ask);
	/* The number was asked for by now, so it is known once the request in
	   here is answered. */
	if (err == KUSTOS_OK)
		explain(s);
	return err;
}

static void end(struct ask *ask)
{
	kustos_semaphore_destroy(((struct semaphore *)ask)->sem);
}

static const struct ask_calls calls = { "cannot get a lease of",
	"there is no room", "there was no room", start, look, end };

/* Store the number of leases for all who name the same node. */
static int set_max(struct semaphore *s)
{
	const struct lock_options *o = &s->ask.options;
	struct kustos_client **client = &s->ask.job.client;
	int code = tool_connect(&o->tool, client);

	if (code != TOOL_OK)
		return code;
	/* The path of the semaphore does not matter, as no lease is taken. */
	enum kustos_err err = make(s, o->max_path);
	if (err == KUSTOS_OK)
		err = kustos_semaphore_set_max(s->sem, o->set_max,
			kustos_after_ms(o->tool.session_ms), NULL);
	if (err != KUSTOS_OK)
		code = tool_failed_of(&o->tool, *client, "cannot set",
			o->max_path, err);
	end(&s->ask);
	tool_close(*client);
	return code;
}

static int run(int argc, char **argv)
{
	struct semaphore s;

	memset(&s, 0, sizeof(s));
	s.ask.calls = &calls;
	if (!lock_parse(&s.ask.options, &s.ask.job, &tool_semaphore, argc,
		    argv))
		return s.ask.options.tool.exit_code;
	return s.ask.options.set_max >= 0 ? set_max(&s) : ask_and_run(&s.ask);
}

const struct tool_subcommand tool_semaphore = { "semaphore", run,
	"run a command while holding leases", semaphore_help, tool_help_common,
	semaphore_codes };
