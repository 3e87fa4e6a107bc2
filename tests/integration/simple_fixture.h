/*
 * simple_fixture.h - what tests of the simple lock share: one lock for each of
 * the two clients of mutex_pair.h, on the node LINE.
 */
#ifndef TEST_SIMPLE_FIXTURE_H
#define TEST_SIMPLE_FIXTURE_H

#include <kustos/simple.h>

#include "mutex_pair.h"

extern struct kustos_simple *simple, *simple_rivals;

/* Create both locks, once the clients are open.  Destroy them, close the pair
   and check that the node is gone. */
void simple_pair_make(void);
void simple_pair_close(void);

struct kustos_simple *simple_new(struct kustos_client *owner, int handoffs);

/* simple_take() acquires, which must succeed.  simple_try() tries without
   waiting, releases the lock again and returns the error. */
struct kustos_hold *simple_take(struct kustos_simple *lock);
enum kustos_err simple_try(struct kustos_simple *lock);

/* Acquire without waiting for it. */
void simple_ask(struct ask *a, struct kustos_simple *lock,
	kustos_deadline deadline);

/* Return whether the node exists.  Wait until it does not. */
bool node_there(void);
void node_wait_gone(void);

/* Create the node with a session of its own; rival_leave() deletes it. */
void node_take(struct rival *rival);

/* Wait until the server has so many watches, of all sessions: a waiter has then
   set its watch on the node. */
void wait_until_watched(int watches);

#endif
