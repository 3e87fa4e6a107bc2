/* candidate_errand.c - the errands of a leader, done one after the other. */

#include "candidate_impl.h"

#include <stdlib.h>

static void take_out(struct ku_errand *errand, enum kustos_err err)
{
	struct ku_errand **at = &errand->candidate->errands;

	while (*at != errand)
		at = &(*at)->next;
	*at = errand->next;
	errand->calls->clean(errand);
	ku_wait_end(&errand->wait, err);
}

/* Begin the oldest errand, unless it has begun; if it ends at once, the
   next. */
static void begin_next(struct ku_candidate *c)
{
	while (c->errands != NULL && c->errands->term == NULL) {
		/* This may find that the lease is over, and end errands. */
		enum kustos_err err = ku_candidate_leads(c);
		struct ku_errand *errand = c->errands;

		if (errand == NULL || errand->term != NULL)
			return;
		if (err == KUSTOS_EBUSY)
			err = KUSTOS_ENOTHELD;
		if (err == KUSTOS_OK && errand->wait.once &&
			!ku_session_ready(c->client))
			err = KUSTOS_EDISCONNECTED;
		if (err == KUSTOS_OK) {
			errand->term = c->term;
			errand->calls->begin(errand);
		} else {
			take_out(errand, err);
		}
	}
}

void ku_errand_end(struct ku_errand *errand, enum kustos_err err)
{
	struct ku_candidate *c = errand->candidate;

	take_out(errand, err);
	begin_next(c);
}

void ku_errands_skip(const struct ku_errand *heir)
{
	while (heir->next != NULL)
		ku_errand_end(heir->next, KUSTOS_ENOTHELD);
}

/* Only the first can have begun; the others end as they begin. */
void ku_errands_fail(struct ku_candidate *c, enum kustos_err why)
{
	while (c->errands != NULL) {
		struct ku_errand *errand = c->errands;

		errand->calls->cease(errand);
		ku_errand_end(errand, why);
	}
}

void ku_errands_away(struct ku_candidate *c)
{
	struct ku_errand *errand = c->errands;

	while (errand != NULL) {
		if (!errand->wait.once) {
			errand = errand->next;
			continue;
		}
		enum kustos_err err = errand->term != NULL
			? KUSTOS_ETIMEDOUT
			: KUSTOS_EDISCONNECTED;
		errand->calls->cease(errand);
		ku_errand_end(errand, err);
		errand = c->errands; /* the list may have changed */
	}
}

/* Would a thread that waits for the errand wait for the end of the callback
   that it is in itself? */
static bool waits_for_itself(const struct ku_errand *errand)
{
	const struct ku_candidate *c = errand->candidate;
	bool tells = errand->calls->inherit != NULL;

	for (const struct ku_errand *e = c->errands; e != NULL; e = e->next)
		tells = tells || e->calls->inherit != NULL;
	return errand->done == NULL && tells && ku_candidate_inside(c);
}

static enum kustos_err start(struct ku_wait *wait)
{
	struct ku_errand *errand = (struct ku_errand *)wait;
	struct ku_candidate *c = errand->candidate;
	struct ku_errand **at = &c->errands;

	if (waits_for_itself(errand))
		return KUSTOS_EDEADLK;
	if (c->moving && c->errands != NULL)
		return KUSTOS_ENOTHELD;
	if (errand->wait.once && c->errands != NULL &&
		!ku_session_ready(c->client))
		return KUSTOS_EDISCONNECTED;
	while (*at != NULL)
		at = &(*at)->next;
	*at = errand;
	begin_next(c);
	return KUSTOS_OK;
}

static void give_up(struct ku_wait *wait, enum kustos_err why)
{
	struct ku_errand *errand = (struct ku_errand *)wait;

	errand->calls->cease(errand);
	ku_errand_end(errand, why);
}

static void tell(struct ku_wait *wait)
{
	struct ku_errand *errand = (struct ku_errand *)wait;

	errand->done(errand->arg, wait->err);
	free(errand);
}

static const struct ku_wait_calls calls = { .start = start,
	.give_up = give_up,
	.tell = tell };

enum kustos_err ku_errand_do(struct ku_candidate *c, struct ku_errand *errand,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_candidate_done_fn *done, void *arg)
{
	struct kustos_client *client = c->client;
	enum kustos_err err;

	errand->wait.client = client;
	errand->wait.calls = &calls;
	errand->candidate = c;
	errand->done = done;
	errand->arg = arg;
	if (done != NULL)
		err = ku_wait_async(&errand->wait, deadline, cancel);
	else
		err = ku_wait_block(&errand->wait, deadline, cancel);
	if (done != NULL && err == KUSTOS_OK)
		return KUSTOS_OK;
	if (!errand->wait.started) {
		ku_lock(client);
		errand->calls->clean(errand);
		ku_unlock(client);
	}
	free(errand);
	return err;
}
