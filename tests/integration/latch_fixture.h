/*
 * latch_fixture.h - what tests of the latch share: candidates that remember
 * what they were told, and check that they are told in turns.
 *
 * The line is LINE of mutex_fixture.h.  What cannot be done fails the test.
 */
#ifndef TEST_LATCH_FIXTURE_H
#define TEST_LATCH_FIXTURE_H

#include <kustos/election.h>

#include "mutex_fixture.h"

#define NODE_SIZE 128

struct runner;
typedef void runner_fn(struct runner *r);

/* A latch, and what it told. */
struct runner {
	struct kustos_latch *latch;
	atomic_int gains, losses; /* calls that have begun */
	atomic_int ended;	  /* and those of either kind that returned */
	atomic_bool asleep;	  /* no call of a gain returns meanwhile */
	atomic_llong gained_ns, lost_ns; /* boot time of the last of each */
	/* Of the term that was told last. */
	struct kustos_hold *hold;
	_Atomic int64_t token;
	char node[NODE_SIZE];
	runner_fn *on_gained, *on_lost; /* called in the callbacks, or NULL */
};

/* Make a latch on LINE, which does not take part yet; "id" may be NULL. */
void runner_make(struct runner *r, struct kustos_client *client,
	const char *id);
void runner_make_with(struct runner *r, struct kustos_client *client,
	struct kustos_latch_options options);

/* Make one and start it. */
void runner_run(struct runner *r, struct kustos_client *client, const char *id);

/* Wait until it leads, and was told so. */
void runner_leads(struct runner *r);

/* Wait until "count" losses were told to their end. */
void runner_lost(struct runner *r, int count);

/* It is in the state. */
void check_state(struct runner *r, enum kustos_latch_state state);

/* Its node is that of its term, and of the session that "client" has now. */
void check_term(struct runner *r, struct kustos_client *client);

/* Destroy it; what was told went in turns. */
void runner_end(struct runner *r);

/* Store the path of the only node in LINE, or of that at the place "place". */
void node_at(int place, char *node);

/* Make LINE, with the help of "client", so that nobody may do there what is not
   in "perms". */
void line_forbid(struct kustos_client *client, int perms);

#endif
