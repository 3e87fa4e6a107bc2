/*
 * latch_fixture.h - what tests of the latch share: candidates that record what
 * their callbacks were told and check that gains and losses alternate.
 *
 * The line is LINE of mutex_fixture.h.  Whatever fails in here fails the test.
 */
#ifndef TEST_LATCH_FIXTURE_H
#define TEST_LATCH_FIXTURE_H

#include <kustos/election.h>

#include "mutex_fixture.h"

#define NODE_SIZE 128

struct runner;
typedef void runner_fn(struct runner *r);

/* A latch, and what its callbacks were told. */
struct runner {
	struct kustos_latch *latch;
	atomic_int gains, losses; /* callbacks that have begun */
	atomic_int ended;	  /* and those of either kind that returned */
	atomic_bool asleep;	  /* while set, no gain returns */
	atomic_llong gained_ns, lost_ns; /* boot time of the last of each */
	/* Of the term that was told last. */
	struct kustos_hold *hold;
	_Atomic int64_t token;
	char node[NODE_SIZE];
	runner_fn *on_gained, *on_lost; /* called in the callbacks, or NULL */
};

/* Create a latch on LINE, not started; "id" may be NULL. */
void runner_make(struct runner *r, struct kustos_client *client,
	const char *id);
void runner_make_with(struct runner *r, struct kustos_client *client,
	struct kustos_latch_options options);

/* Create a latch and start it. */
void runner_run(struct runner *r, struct kustos_client *client, const char *id);

/* Wait until the latch leads and its callback was told of it. */
void runner_leads(struct runner *r);

/* Wait until the callbacks of "count" losses have returned. */
void runner_lost(struct runner *r, int count);

/* Check that the latch is in this state now. */
void check_state(struct runner *r, enum kustos_latch_state state);

/* Check that the latch's node is that of its term, and belongs to the session
   that "client" has now. */
void check_term(struct runner *r, struct kustos_client *client);

/* Destroy the latch and check that every callback that began has returned. */
void runner_end(struct runner *r);

/* Store the path of the node at "place" in LINE, from 0, by number. */
void node_at(int place, char *node);

/* Create LINE, and its parent with the help of "client", with an ACL that
   allows only "perms" to anybody. */
void line_forbid(struct kustos_client *client, int perms);

#endif
