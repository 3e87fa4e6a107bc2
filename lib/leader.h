/*
 * leader.h - a candidate whose work is a function: it runs for as long as the
 * term lasts, and gives it up by returning.
 *
 * It runs on a thread of the long lane (dispatch.h), one term after the other,
 * and can be asked to return: by a cancel object, which is fired when the term
 * is lost, and by whoever interrupts it.
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
	struct ku_candidate_wish candidate; /* all but what is called, and
					       "keeps"; without data it has
					       what ku_recipe_data() says */
	ku_leader_fn *fn;
	void *arg;
	bool requeues; /* stands in line again after each term */
};

KU_SERVICE enum kustos_err ku_leader_create(struct kustos_client *client,
	const char *path, const struct ku_leader_wish *wish,
	struct ku_leader **out);

/* In its own function it is freed when that has returned. */
KU_SERVICE void ku_leader_destroy(struct ku_leader *l);

KU_SERVICE enum kustos_err ku_leader_start(struct ku_leader *l);

/* Stand in line once more: now, or when its function has returned. */
KU_SERVICE enum kustos_err ku_leader_requeue(struct ku_leader *l);

/* Ask its function to return.  Returns KUSTOS_ENOTHELD if there is no term. */
KU_SERVICE enum kustos_err ku_leader_interrupt(struct ku_leader *l);

/* Its candidate, for what that can say and do while it leads; but for this: */
KU_SERVICE struct ku_candidate *ku_leader_candidate(struct ku_leader *l);

/* As ku_candidate_hand_over(): its function is asked to return, and the other
   leads when it has.  So that must not wait for it: KUSTOS_EDEADLK. */
KU_SERVICE enum kustos_err ku_leader_hand_over(struct ku_leader *l,
	const void *id, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_candidate_done_fn *done, void *arg);

/* Ask that, wait until it has, and have no more terms.  It does not wait in its
   own function. */
KU_SERVICE void ku_leader_stop(struct ku_leader *l);

/* "*in_term": a term was begun and is not given up, whatever it is worth. */
KU_SERVICE enum ku_candidacy ku_leader_state(struct ku_leader *l,
	bool *in_term);
KU_SERVICE enum kustos_err ku_leader_error(struct ku_leader *l);

#endif
