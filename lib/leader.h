/*
 * leader.h - a candidate whose terms are calls of a function.  The function
 * runs for as long as the term lasts, and gives the term up by returning.
 *
 * It runs on a thread of the lengthy lane (dispatch.h), one term after the
 * other.  It is asked to return by a cancel object, which is fired when the
 * term is lost, or when somebody interrupts the function.
 *
 * Not called with the client locked.
 */
#ifndef KU_LEADER_H
#define KU_LEADER_H

#include "candidate.h"

struct ku_leader;

typedef void ku_leader_fn(void *arg, struct kustos_hold *hold,
	struct kustos_cancel *cancel);

struct ku_leader_wish {
	struct ku_candidate_wish candidate; /* without callbacks and "keeps"; if
					       it has no data, it gets what
					       ku_recipe_data() says */
	ku_leader_fn *fn;
	void *arg;
	bool requeues; /* stands in line again after each term */
};

KU_SERVICE enum kustos_err ku_leader_create(struct kustos_client *client,
	const char *path, const struct ku_leader_wish *wish,
	struct ku_leader **out);

/* If called in its own function, it is freed when that has returned. */
KU_SERVICE void ku_leader_destroy(struct ku_leader *l);

KU_SERVICE enum kustos_err ku_leader_start(struct ku_leader *l);

/* Stand in line once more: now, or when its function has returned. */
KU_SERVICE enum kustos_err ku_leader_requeue(struct ku_leader *l);

/* Ask its function to return.  Returns KUSTOS_ENOTHELD if there is no term. */
KU_SERVICE enum kustos_err ku_leader_interrupt(struct ku_leader *l);

/* Return its candidate, for what that can say and do while it leads.  But to
   hand over, use the next function. */
KU_SERVICE struct ku_candidate *ku_leader_candidate(struct ku_leader *l);

/* As ku_candidate_hand_over().  The function is asked to return, and the heir
   leads once it has.  So the function itself must not wait for this:
   KUSTOS_EDEADLK. */
KU_SERVICE enum kustos_err ku_leader_hand_over(struct ku_leader *l,
	const void *id, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_candidate_done_fn *done, void *arg);

/* Ask its function to return, wait until it has, and begin no more terms.  If
   called in its own function, it does not wait. */
KU_SERVICE void ku_leader_stop(struct ku_leader *l);

/* "*in_term": a term was begun and has not been given up, even if it is
   lost. */
KU_SERVICE enum ku_candidacy ku_leader_state(struct ku_leader *l,
	bool *in_term);

#endif
