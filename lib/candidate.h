/*
 * candidate.h - who takes part in a line again and again: the latch of an
 * election.
 *
 * A candidate has one term at a time: a place in the line, and what comes of
 * it.  When that is lost it takes another.  Nothing but stop() ends it, or what
 * no try can mend: credentials that are refused.
 *
 * The program is told of each gain and of its loss in turns, on the threads
 * that callbacks have; what was lost before it could be told of is not.
 *
 * Not called with the client locked.
 */
#ifndef KU_CANDIDATE_H
#define KU_CANDIDATE_H

#include "line.h"
#include "service.h"

#include <kustos/hold.h>

struct ku_candidate;
struct kustos_cancel;

typedef void ku_candidate_fn(void *arg, struct kustos_hold *hold);

struct ku_candidate_wish {
	const struct ku_rule *rule;
	const char *leaf; /* of its nodes, as in struct ku_place_kind */
	const char *data;
	size_t len;
	ku_candidate_fn *gained, *lost;
	void *arg;
	bool cautious; /* the connection is away: lost */
};

enum ku_candidacy {
	KU_CANDIDATE_IDLE,
	KU_CANDIDATE_WAITS,
	KU_CANDIDATE_LEADS,
	KU_CANDIDATE_UNSURE,
	KU_CANDIDATE_FAILED,
	KU_CANDIDATE_STOPPED
};

KU_SERVICE enum kustos_err ku_candidate_create(struct kustos_client *client,
	const char *path, const struct ku_candidate_wish *wish,
	struct ku_candidate **out);
KU_SERVICE void ku_candidate_destroy(struct ku_candidate *c);

KU_SERVICE enum kustos_err ku_candidate_start(struct ku_candidate *c);
KU_SERVICE void ku_candidate_stop(struct ku_candidate *c, bool notify);

KU_SERVICE enum ku_candidacy ku_candidate_state(struct ku_candidate *c);
KU_SERVICE enum kustos_err ku_candidate_error(struct ku_candidate *c);

/* Wait until it leads. */
KU_SERVICE enum kustos_err ku_candidate_wait(struct ku_candidate *c,
	kustos_deadline deadline, struct kustos_cancel *cancel);

#endif
