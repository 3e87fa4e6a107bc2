/*
 * ask.c - acquire what a command runs under, and run the command.
 */
#include "ask.h"

#include <kustos/cancel.h>
#include <kustos/hold.h>

#include <stdlib.h>
#include <string.h>

#define LOOK_MS 1000 /* how often a wait looks who else is there */

/* Keep the holds that were granted.  Room for them is allocated only now, since
   only the library knows how many there can be. */
static enum kustos_err keep(struct ask *a, struct kustos_hold *const *holds,
	int count)
{
	a->holds = calloc((size_t)count, sizeof(*holds));
	if (a->holds == NULL) {
		for (int i = 0; i < count; i++)
			(void)kustos_hold_release(holds[i]);
		return KUSTOS_ENOMEM;
	}
	memcpy(a->holds, holds, (size_t)count * sizeof(*holds));
	a->count = count;
	return KUSTOS_OK;
}

void ask_granted_many(void *arg, enum kustos_err err,
	struct kustos_hold *const *holds, int count)
{
	struct ask *a = arg;

	a->err = err == KUSTOS_OK ? keep(a, holds, count) : err;
	atomic_store(&a->answered, true);
	under_wake();
}

void ask_granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	ask_granted_many(arg, err, &hold, 1);
}

static int not_granted(const struct ask *a)
{
	const struct job *j = &a->job;
	const bool told = a->options.conflict_code >= 0;

	if (j->sig != 0)
		return TOOL_SIGNAL + j->sig;
	if (a->err == KUSTOS_ECANCELED)
		return job_asked(j);
	if (a->err == KUSTOS_EBUSY) {
		if (!a->explained && !a->options.quiet)
			tool_say("%s: %s", j->path,
				a->options.path_count > 1
					? "another holds one of them"
					: a->calls->busy);
		return told ? a->options.conflict_code : TOOL_BUSY;
	}
	if (a->err == KUSTOS_ETIMEDOUT &&
		kustos_client_state(j->client) == KUSTOS_STATE_CONNECTED) {
		if (!a->options.quiet)
			tool_say("%s: %s within %g s", j->path,
				a->explained ? "not got" : a->calls->missed,
				(double)a->options.wait_ms / 1000);
		return told ? a->options.conflict_code : TOOL_TIMEDOUT;
	}
	return tool_failed_of(j->tool, j->client, a->calls->verb, j->path,
		a->err);
}

/* Wait for the grant.  What ends the wait, a signal or a request for a lock
   that is already had, takes effect only once all places have been given up. */
static int acquire(struct ask *a)
{
	bool looks = a->calls->look != NULL;
	struct job *j = &a->job;
	enum kustos_err err = kustos_cancel_create(&a->cancel);

	if (err == KUSTOS_OK)
		err = a->calls->start(a);
	if (err != KUSTOS_OK)
		return tool_failed(j->tool, a->calls->verb,
			a->refused != NULL ? a->refused : j->path, err);
	while (!atomic_load(&a->answered)) {
		int sig = under_wait(&j->under, looks ? LOOK_MS : -1);

		looks = looks && a->calls->look(a);
		if (j->sig == 0)
			j->sig = sig;
		if (j->sig != 0 || atomic_load(&j->under.asked))
			kustos_cancel_fire(a->cancel);
	}
	if (looks)
		(void)a->calls->look(a);
	return a->count == 0 || j->sig != 0 ? not_granted(a) : TOOL_OK;
}

static int run(struct ask *a)
{
	struct job *j = &a->job;
	int code = job_connect(j);

	if (code == TOOL_OK)
		code = acquire(a);
	/* The code does not tell: the user chooses that of a conflict (-E), and
	   may choose 0. */
	if (a->count > 0 && j->sig == 0)
		code = job_run(j, a->holds, a->count);
	else
		under_abandon(&j->under);
	while (a->count > 0)
		(void)kustos_hold_release(a->holds[--a->count]);
	a->calls->end(a);
	kustos_cancel_destroy(a->cancel);
	job_close(j);
	free(a->holds);
	return job_end(j, code);
}

int ask_and_run(struct ask *a)
{
	static struct signals signals;
	struct job *j = &a->job;

	j->signals = &signals;
	j->in_time = a->options.wait_ms > 0;
	if (a->options.nonblock || a->options.wait_ms == 0)
		j->deadline = KUSTOS_NOW;
	else
		j->deadline = a->options.wait_ms < 0
			? KUSTOS_FOREVER
			: kustos_after_ms(a->options.wait_ms);
	return job_prepare(j) ? run(a) : TOOL_FAILED;
}
