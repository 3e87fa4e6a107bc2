/*
 * lock_elect.c - elections as something to take: each turn is a candidate that is
 * made, leads, and is gone.
 */
#include "lock_impl.h"

#include <kustos/cancel.h>

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* --- Latches ------------------------------------------------------------- */

/* Compare the term: a latch that has lost stands in line again by itself, and
   may lead again in another term. */
bool lock_latch_held(const struct lock *lock)
{
	return lock->term != 0 && kustos_latch_term(lock->latch) == lock->term;
}

enum kustos_err lock_latch_give(struct lock *lock)
{
	enum kustos_err err = lock_latch_held(lock) ? KUSTOS_OK : KUSTOS_ELOST;

	kustos_latch_destroy(lock->latch);
	lock->latch = NULL;
	return err;
}

enum kustos_err lock_latch_take(struct lock *lock, struct kustos_cancel *stop)
{
	enum kustos_err err = kustos_latch_create(lock->client, lock->path,
		NULL, &lock->latch);

	if (err == KUSTOS_OK)
		err = kustos_latch_start(lock->latch);
	if (err == KUSTOS_OK)
		err = kustos_latch_wait(lock->latch, KUSTOS_FOREVER, stop);
	lock->term = err == KUSTOS_OK ? kustos_latch_term(lock->latch) : 0;
	if (err != KUSTOS_OK)
		(void)lock_latch_give(lock);
	return err;
}

/* --- Selectors ----------------------------------------------------------- */

#define STEP_NS 50000000 /* how often a waiting thread looks at "stop" */

/* A selector calls a function while it leads, on a thread of its own.  Here
   that function only waits until the thread whose turn it is has finished. */
struct lock_candidate {
	struct kustos_selector *selector;
	pthread_mutex_t mutex; /* guards "leads", "over"; the innermost lock */
	pthread_cond_t changed;
	bool leads, over;
};

static void lead(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	struct lock_candidate *c = arg;

	(void)selector;
	(void)hold;
	(void)cancel; /* the thread whose turn it is looks itself */
	pthread_mutex_lock(&c->mutex);
	c->leads = true;
	pthread_cond_signal(&c->changed);
	while (!c->over)
		pthread_cond_wait(&c->changed, &c->mutex);
	pthread_mutex_unlock(&c->mutex);
}

static struct lock_candidate *new_candidate(void)
{
	struct lock_candidate *c = calloc(1, sizeof(*c));
	pthread_condattr_t attr;

	if (c == NULL)
		return NULL;
	pthread_mutex_init(&c->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &attr);
	pthread_condattr_destroy(&attr);
	return c;
}

static bool leads_within_a_step(struct lock_candidate *c)
{
	struct timespec end;
	bool leads;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += STEP_NS;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	pthread_mutex_lock(&c->mutex);
	while (!c->leads &&
		pthread_cond_timedwait(&c->changed, &c->mutex, &end) == 0)
		;
	leads = c->leads;
	pthread_mutex_unlock(&c->mutex);
	return leads;
}

static enum kustos_err await_lead(struct lock_candidate *c,
	struct kustos_cancel *stop)
{
	while (!leads_within_a_step(c)) {
		if (kustos_cancel_fired(stop))
			return KUSTOS_ECANCELED;
		if (kustos_selector_state(c->selector) ==
			KUSTOS_SELECTOR_FAILED)
			return kustos_selector_error(c->selector);
	}
	return KUSTOS_OK;
}

bool lock_selector_held(const struct lock *lock)
{
	return kustos_selector_leads(lock->candidate->selector) != 0;
}

enum kustos_err lock_selector_give(struct lock *lock)
{
	struct lock_candidate *c = lock->candidate;
	enum kustos_err err = c->selector != NULL && lock_selector_held(lock)
		? KUSTOS_OK
		: KUSTOS_ELOST;

	pthread_mutex_lock(&c->mutex);
	c->over = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->mutex);
	kustos_selector_destroy(c->selector); /* waits for lead() to return */
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->mutex);
	free(c);
	lock->candidate = NULL;
	return err;
}

enum kustos_err lock_selector_take(struct lock *lock,
	struct kustos_cancel *stop)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct lock_candidate *c = new_candidate();
	enum kustos_err err;

	if (c == NULL)
		return KUSTOS_ENOMEM;
	lock->candidate = c;
	o.lead = lead;
	o.arg = c;
	err = kustos_selector_create(lock->client, lock->path, &o,
		&c->selector);
	if (err == KUSTOS_OK)
		err = kustos_selector_start(c->selector);
	if (err == KUSTOS_OK)
		err = await_lead(c, stop);
	if (err != KUSTOS_OK)
		(void)lock_selector_give(lock);
	return err;
}
