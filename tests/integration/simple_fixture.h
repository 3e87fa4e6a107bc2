/*
 * simple_fixture.h - what tests of the simple lock share: one for each of the
 * two clients of mutex_pair.h, on the node LINE.
 */
#ifndef TEST_SIMPLE_FIXTURE_H
#define TEST_SIMPLE_FIXTURE_H

#include <kustos/simple.h>

#include "mutex_pair.h"

extern struct kustos_simple *simple, *simple_rivals;

/* Make both, once the clients are open; and end it all: the node is gone. */
void simple_pair_make(void);
void simple_pair_close(void);

struct kustos_simple *simple_new(struct kustos_client *owner, int handoffs);

/* Acquire, which has to succeed; and once, which returns what it returns. */
struct kustos_hold *simple_take(struct kustos_simple *lock);
enum kustos_err simple_try(struct kustos_simple *lock);

/* Ask, and do not wait. */
void simple_ask(struct ask *a, struct kustos_simple *lock,
	kustos_deadline deadline);

/* Is the node there; and wait until it is not. */
bool node_there(void);
void node_wait_gone(void);

/* Take the node with a session of its own; give it back. */
void node_take(struct rival *rival);

/* Wait until so many more requests of the proxy's client have asked for the
   node: it waits now. */
void wait_until_watched(int watches);

#endif
