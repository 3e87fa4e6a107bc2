/*
 * selector_fixture.h - what tests of the selector share: selectors that record
 * their terms and check that one is over before the next begins.
 *
 * The line is LINE of mutex_fixture.h.  Whatever fails in here fails the test.
 */
#ifndef TEST_SELECTOR_FIXTURE_H
#define TEST_SELECTOR_FIXTURE_H

#include <kustos/cancel.h>
#include <kustos/election.h>

#include "mutex_fixture.h"

#define NODE_SIZE 128

struct chief;
typedef void chief_fn(struct chief *c);

/* A selector, and what its function saw. */
struct chief {
	struct kustos_selector *selector;
	atomic_int begun, ended;     /* calls of its function */
	atomic_int asked;	     /* calls that were asked to return */
	atomic_bool stays;	     /* while set, it does not return ... */
	atomic_bool deaf;	     /* ... and with this, not even if asked */
	atomic_llong from_ns, to_ns; /* boot time of the last term */
	int64_t left_ms;    /* left of its hold when it was asked to return */
	atomic_int *inside; /* how many lead; counted if not NULL */
	/* Of the last term. */
	struct kustos_hold *hold;
	int64_t token;
	char node[NODE_SIZE];
	chief_fn *on_lead; /* called in the function, or NULL */
};

/* Return options with "id" and "requeues". */
struct kustos_selector_options chief_options(const char *id, int requeues);

/* Create a selector on LINE.  Once started, it stays in its function until it
   is asked to return. */
void chief_make(struct chief *c, struct kustos_client *client,
	struct kustos_selector_options options);

/* Create a selector and start it. */
void chief_run(struct chief *c, struct kustos_client *client,
	struct kustos_selector_options options);

/* Wait until the selector leads in its term number "term" and its function
   runs. */
void chief_leads(struct chief *c, int term);

/* Let its function return, and wait for that. */
void chief_returns(struct chief *c);

/* Wait until its function has returned from so many terms. */
void chief_ended(struct chief *c, int terms);

/* Check that the selector is in this state now, or wait until it is. */
void chief_state(struct chief *c, enum kustos_selector_state state);
void chief_becomes(struct chief *c, enum kustos_selector_state state);

/* Check that the selector's node is that of its term, and belongs to the
   session that "client" has now. */
void chief_node(struct chief *c, struct kustos_client *client);

/* Destroy the selector and check that every term that began has ended. */
void chief_end(struct chief *c);

#endif
