/*
 * latch_run.c - kustos latch done with a command: join, run it, and count.
 *
 * If the session ends before the participant has counted, it joins again.  That
 * happens in callbacks, as the thread that made the client waits for the
 * command.
 */
#include "latch_run.h"

#include <kustos/countdown.h>

#include <pthread.h>

struct part {
	struct together *t;
	pthread_mutex_t mutex;		/* guards the rest */
	struct kustos_countdown *latch; /* NULL: it does not join any more */
	int64_t session;		/* in which it has joined, or joins */
};

static int64_t session_of(const struct job *j)
{
	struct kustos_session now = KUSTOS_SESSION_INIT;

	(void)kustos_client_session(j->client, &now);
	return now.session_id;
}

/* Nobody can tell whether it was done.  To do it twice does no harm. */
static bool is_unknown(enum kustos_err err)
{
	return err == KUSTOS_EUNKNOWN;
}

static void joined_again(void *arg, enum kustos_err err);

/* Called with the mutex locked. */
static void join_again(struct part *p)
{
	const struct together *t = p->t;
	enum kustos_err err = kustos_countdown_join_async(p->latch, t->id,
		KUSTOS_FOREVER, NULL, joined_again, p);

	if (err != KUSTOS_OK)
		(void)tool_failed(&t->tool, "cannot join again", t->job.path,
			err);
}

static void joined_again(void *arg, enum kustos_err err)
{
	struct part *p = arg;

	pthread_mutex_lock(&p->mutex);
	if (p->latch != NULL && is_unknown(err))
		join_again(p);
	else if (p->latch != NULL && err != KUSTOS_OK)
		(void)tool_failed(&p->t->tool, "cannot join again",
			p->t->job.path, err);
	pthread_mutex_unlock(&p->mutex);
}

static void on_state(void *arg, const struct kustos_session *now)
{
	struct part *p = arg;

	if (now->state != KUSTOS_STATE_CONNECTED)
		return;
	pthread_mutex_lock(&p->mutex);
	if (p->latch != NULL && now->session_id != p->session) {
		p->session = now->session_id;
		join_again(p);
	}
	pthread_mutex_unlock(&p->mutex);
}

typedef enum kustos_err tell_fn(struct kustos_countdown *latch, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);

/* Join, or count down, as "how" does.  A signal that ends the wait is stored in
   the job. */
static enum kustos_err tell(struct together *t, struct kustos_countdown *latch,
	tell_fn *how, kustos_deadline deadline)
{
	struct together_ask ask;
	enum kustos_err err = together_prepare(&ask, &t->job);

	if (err != KUSTOS_OK)
		return err;
	return together_await(&ask,
		how(latch, t->id, deadline, ask.cancel, together_answered,
			&ask));
}

/* The command has ended with 0: count.  It may have taken hours, so this waits
   for a server for as long as it takes, unless -w says otherwise. */
static int count(struct together *t, struct kustos_countdown *latch,
	int64_t session)
{
	kustos_deadline until = together_deadline(t, true);
	const struct job *j = &t->job;
	enum kustos_err err;

	do
		err = tell(t, latch, kustos_countdown_done_async, until);
	while (is_unknown(err) && until == KUSTOS_FOREVER && j->sig == 0);
	int code = together_waited(t, j->client, "cannot count", NULL, err);
	if (code != TOOL_OK || session_of(j) == session)
		return code;
	tool_say("%s: the session ended before %s was counted, which others "
		 "may have taken for its death; it is counted now",
		j->path, t->id);
	return TOOL_LOST;
}

/* Run the command, and count down if it ended with 0.  The participant has
   joined; it was in "session" when that began.  If that session has ended by
   now, the listener is told of the new one at once. */
static int run(struct part *p, int64_t session)
{
	struct job *j = &p->t->job;
	struct kustos_listener *listener = NULL;
	struct kustos_countdown *latch = p->latch;
	int code;

	p->session = session;
	if (kustos_client_listen(j->client, on_state, p, &listener) !=
		KUSTOS_OK) {
		tool_say("out of memory");
		under_abandon(&j->under);
		return TOOL_FAILED;
	}
	code = job_run(j, NULL, 0);
	if (code == 0)
		code = count(p->t, latch, session);
	kustos_client_unlisten(j->client, listener);
	return code;
}

int latch_run(struct together *t)
{
	/* The answer to an attempt to join may come until the client is
	   closed. */
	static struct part p = { .mutex = PTHREAD_MUTEX_INITIALIZER };
	struct kustos_countdown *latch = NULL;
	struct job *j = &t->job;
	int64_t session = session_of(j);
	enum kustos_err err = kustos_countdown_create(j->client, j->path, 0,
		NULL, &latch);

	p.t = t;
	p.latch = latch;
	if (err == KUSTOS_OK)
		err = tell(t, latch, kustos_countdown_join_async, j->deadline);
	int code = together_waited(t, j->client, "cannot join", NULL, err);
	if (code == TOOL_OK && j->sig != 0)
		code = TOOL_SIGNAL + j->sig; /* it came too late to cancel */
	if (code != TOOL_OK)
		under_abandon(&j->under);
	else
		code = run(&p, session);
	pthread_mutex_lock(&p.mutex);
	p.latch = NULL;
	pthread_mutex_unlock(&p.mutex);
	kustos_countdown_destroy(latch);
	return code;
}
