/* candidate_ask.c - the state of a candidate, and waits until it leads. */

#include "candidate_impl.h"

/* A thread that waits until the candidate leads.  */
struct ku_lead_wait {
	struct ku_wait wait; /* first: cast back from it */
	struct ku_candidate *candidate;
	struct ku_lead_wait *prev, *next;
};

static void unlink_wait(struct ku_lead_wait *waiter)
{
	KU_LIST_REMOVE(waiter->candidate->lead_waits, waiter);
}

void ku_candidate_wake(struct ku_candidate *c, enum kustos_err err)
{
	while (c->lead_waits != NULL) {
		struct ku_lead_wait *waiter = c->lead_waits;

		unlink_wait(waiter);
		ku_wait_end(&waiter->wait, err);
	}
}

enum ku_candidacy ku_candidate_state_now(const struct ku_candidate *c)
{
	if (c->stopped)
		return KU_CANDIDATE_STOPPED;
	if (c->failed)
		return KU_CANDIDATE_FAILED;
	if (!c->started)
		return KU_CANDIDATE_IDLE;
	if (c->term == NULL || !c->term->granted)
		return KU_CANDIDATE_WAITS;
	switch (ku_hold_state(c->term->hold)) {
	case KUSTOS_HOLD_HELD:
		return KU_CANDIDATE_LEADS;
	case KUSTOS_HOLD_UNSURE:
		return KU_CANDIDATE_UNSURE;
	default:
		return KU_CANDIDATE_WAITS;
	}
}

enum ku_candidacy ku_candidate_state(struct ku_candidate *c)
{
	ku_lock(c->client);
	enum ku_candidacy state = ku_candidate_state_now(c);
	ku_unlock(c->client);
	return state;
}

int64_t ku_candidate_term(struct ku_candidate *c)
{
	int64_t term = 0;

	ku_lock(c->client);
	if (ku_candidate_leads(c) == KUSTOS_OK)
		term = kustos_hold_token(c->term->hold);
	ku_unlock(c->client);
	return term;
}

bool ku_candidate_mixed(struct ku_candidate *c)
{
	ku_lock(c->client);
	bool mixed = ku_line_mixed(c->line);
	ku_unlock(c->client);
	return mixed;
}

enum kustos_err ku_candidate_error(struct ku_candidate *c)
{
	ku_lock(c->client);
	enum kustos_err err = c->err;
	ku_unlock(c->client);
	return err;
}

enum kustos_err ku_candidate_leads(const struct ku_candidate *c)
{
	switch (ku_candidate_state_now(c)) {
	case KU_CANDIDATE_LEADS:
	case KU_CANDIDATE_UNSURE:
		return KUSTOS_OK;
	case KU_CANDIDATE_STOPPED:
		return KUSTOS_ECLOSED;
	case KU_CANDIDATE_FAILED:
		return c->err;
	default:
		return KUSTOS_EBUSY;
	}
}

static enum kustos_err wait_start(struct ku_wait *wait)
{
	struct ku_lead_wait *waiter = (struct ku_lead_wait *)wait;
	struct ku_candidate *c = waiter->candidate;
	enum kustos_err err = ku_candidate_leads(c);

	if (err == KUSTOS_OK)
		ku_wait_end(wait, KUSTOS_OK);
	if (err != KUSTOS_EBUSY || wait->once)
		return err;
	KU_LIST_PUSH(c->lead_waits, waiter);
	return KUSTOS_OK;
}

static void wait_give_up(struct ku_wait *wait, enum kustos_err why)
{
	unlink_wait((struct ku_lead_wait *)wait);
	ku_wait_end(wait, why);
}

enum kustos_err ku_candidate_wait(struct ku_candidate *c,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	static const struct ku_wait_calls calls = {
		.start = wait_start,
		.give_up = wait_give_up,
	};
	struct ku_lead_wait waiter = { .candidate = c };

	waiter.wait.client = c->client;
	waiter.wait.calls = &calls;
	return ku_wait_block(&waiter.wait, deadline, cancel);
}
