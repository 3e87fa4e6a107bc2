/*
 * candidate.h - a contender that takes part in a line again and again: the
 * latch of an election.
 *
 * A candidate has one term at a time: a place in the line, and what comes of
 * it.  When the place is lost the candidate takes another.  Only stop() ends
 * this, or an error that no retry can cure: refused credentials.
 *
 * The program is told of each gain and of the loss that follows it, in turn, on
 * the threads that run callbacks.  A term that was lost before the program
 * could be told of it is not reported.
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
	bool cautious; /* a lost connection ends its term */
	bool bare;     /* as in struct ku_place_kind */
	bool jealous;  /* likewise */
	bool resumes;  /* first looks for the node of a former process */

	/* A term that the program was told of lasts until
	   ku_candidate_resign().  If the term is lost before, no other place is
	   taken meanwhile, and the hold stays.  After it was resigned, the
	   candidate is idle until it is started again.  "gained" is as urgent
	   as "lost": neither waits for other callbacks, so both must return at
	   once. */
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

/* Make a candidate for the line at "path"; it is idle at first.  And stop and
   destroy it; if this is called in a callback of its own, it is freed when that
   has returned. */
KU_SERVICE enum kustos_err ku_candidate_create(struct kustos_client *client,
	const char *path, const struct ku_candidate_wish *wish,
	struct ku_candidate **out);
KU_SERVICE void ku_candidate_destroy(struct ku_candidate *c);

/* Begin to take part; KUSTOS_ECLOSED once it was stopped.  And end that for
   good, and wait for callbacks that run on other threads.  With "notify" the
   program is told of the end of a term of which it was told. */
KU_SERVICE enum kustos_err ku_candidate_start(struct ku_candidate *c);
KU_SERVICE void ku_candidate_stop(struct ku_candidate *c, bool notify);

/* End a kept term that was reported; to be called once for each.  If "err" is
   not KUSTOS_OK the term did not work out, and a moment later the candidate
   tries for another. */
void ku_candidate_resign(struct ku_candidate *c, enum kustos_err err);

/* Is this thread inside a callback of the candidate, or of its hold, so that it
   must not wait for callbacks to end?  Locked. */
bool ku_candidate_inside(const struct ku_candidate *c);

/* The first of these: locked. */
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

/* While it leads: change the data of its node, and of the nodes of later terms;
   and hand over to the first waiting candidate whose data is "id", or to the
   first of all if that is NULL.  With "done" NULL these functions wait for the
   end; else "done" is called once, unless they return an error. */
KU_SERVICE enum kustos_err ku_candidate_set_data(struct ku_candidate *c,
	const void *data, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_candidate_done_fn *done, void *arg);
KU_SERVICE enum kustos_err ku_candidate_hand_over(struct ku_candidate *c,
	const void *id, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_candidate_done_fn *done, void *arg);

#endif
