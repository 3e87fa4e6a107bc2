/*
 * latch_run.c - kustos latch done with a command: join, run it, and count.
 */
#include "latch_run.h"

#include <kustos/countdown.h>

typedef enum kustos_err tell_fn(struct kustos_countdown *latch, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);

/* Join, or count down, as "how" does.  A signal that ends the wait is stored in
   the job. */
static enum kustos_err tell(struct together *t, struct kustos_countdown *latch,
	tell_fn *how)
{
	struct together_ask ask;
	enum kustos_err err = together_prepare(&ask, &t->job);

	if (err != KUSTOS_OK)
		return err;
	return together_await(&ask,
		how(latch, t->id, together_deadline(t, false), ask.cancel,
			together_answered, &ask));
}

/* Join, run the command, and count down if it ended with 0. */
int latch_run(struct together *t)
{
	struct kustos_countdown *latch = NULL;
	struct job *j = &t->job;
	enum kustos_err err = kustos_countdown_create(j->client, j->path, 0,
		NULL, &latch);

	if (err == KUSTOS_OK)
		err = tell(t, latch, kustos_countdown_join_async);
	int code = together_waited(t, j->client, "cannot join", NULL, err);
	if (code == TOOL_OK && j->sig != 0)
		code = TOOL_SIGNAL + j->sig; /* it came too late to cancel */
	if (code != TOOL_OK)
		under_abandon(&j->under);
	else
		code = job_run(j, NULL, 0);
	if (code == 0 && err == KUSTOS_OK)
		err = tell(t, latch, kustos_countdown_done_async);
	if (code == 0)
		code = together_waited(t, j->client, "cannot count", NULL, err);
	kustos_countdown_destroy(latch);
	return code;
}
