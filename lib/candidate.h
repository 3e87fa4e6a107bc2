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
typedef void ku_candidate_done_fn(void *arg, enum kustos_err err);

struct ku_candidate_wish {
	const struct ku_rule *rule;
	const char *leaf; /* of its nodes, as in struct ku_place_kind */
	const char *data;
	size_t len;
	ku_candidate_fn *gained, *lost; /* may be NULL */
	void *arg;
	bool cautious; /* the connection is away: lost */
	bool bare;     /* as in struct ku_place_kind */
	bool jealous;  /* likewise */
	bool resumes;  /* first look for a node of a process before us */

	/* A term of which the program was told lasts until it resigns: if it is
	   lost before, its place is not taken again meanwhile, and its hold
	   stays.  Then it is idle, until it is started again.  And its
	   functions return at once, so that they need not wait for others. */
	bool keeps;
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

/* End a term of which it was told, and is kept: once for each.  If "err" is not
   KUSTOS_OK it did not work out, and is tried again a moment later. */
void ku_candidate_resign(struct ku_candidate *c, enum kustos_err err);

/* Is this thread in a callback of it, or of its hold, so that it must not wait
   for what is told?  Locked. */
bool ku_candidate_inside(const struct ku_candidate *c);

/* The first: locked. */
enum ku_candidacy ku_candidate_state_now(const struct ku_candidate *c);
KU_SERVICE enum ku_candidacy ku_candidate_state(struct ku_candidate *c);
KU_SERVICE enum kustos_err ku_candidate_error(struct ku_candidate *c);

/* Wait until it leads. */
KU_SERVICE enum kustos_err ku_candidate_wait(struct ku_candidate *c,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* Return the token of the hold with which it leads; 0 if it does not. */
KU_SERVICE int64_t ku_candidate_term(struct ku_candidate *c);

/* Was the line last seen with candidates that do not wait for ours? */
KU_SERVICE bool ku_candidate_mixed(struct ku_candidate *c);

/* While it leads: change the data of its node, and of those of later terms; and
   hand over to the first of those who wait whose data is "id", or who wait at
   all if that is NULL.  With "done" NULL they wait; else "done" is called once,
   unless they return why not. */
KU_SERVICE enum kustos_err ku_candidate_set_data(struct ku_candidate *c,
	const void *data, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_candidate_done_fn *done, void *arg);
KU_SERVICE enum kustos_err ku_candidate_hand_over(struct ku_candidate *c,
	const void *id, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_candidate_done_fn *done, void *arg);

#endif
