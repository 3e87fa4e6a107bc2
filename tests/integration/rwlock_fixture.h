/*
 * rwlock_fixture.h - what tests of the read/write lock share, on top of
 * mutex_pair.h: the same clients, line, acquires and rivals, for the side of
 * readers and that of writers.
 *
 * Whatever fails in here fails the test.
 */
#ifndef TEST_RWLOCK_FIXTURE_H
#define TEST_RWLOCK_FIXTURE_H

#include <kustos/rwlock.h>

#include "mutex_pair.h"

#define SIDES 2 /* of a loop test, in which _i is the side */

extern struct kustos_rwlock *rw, *rw_rivals; /* of "client" and of "other" */

/* Create these two, after pair_open() or another of its kind.  Destroy them,
   close everything, and check that no node is left. */
void rw_pair_make(int handoffs);
void rw_pair_close(void);

/* Make a read/write lock on LINE, with so many local hand-overs. */
struct kustos_rwlock *rw_new(struct kustos_client *owner, int handoffs);

/* Lock, unlock, acquire and downgrade; all must succeed. */
void rw_lock(struct kustos_rwlock *lock, enum kustos_side side);
void rw_unlock(struct kustos_rwlock *lock, enum kustos_side side);
struct kustos_hold *rw_take(struct kustos_rwlock *lock, enum kustos_side side);
struct kustos_hold *rw_downgrade(struct kustos_rwlock *lock,
	struct kustos_hold *hold);

/* Try to acquire "side" without waiting, release it again, and return the
   error. */
enum kustos_err rw_try(struct kustos_rwlock *lock, enum kustos_side side);

/* Acquire without waiting; ask_wait() and ask_waits() work for it, too. */
void rw_ask(struct ask *a, struct kustos_rwlock *lock, enum kustos_side side,
	kustos_deadline deadline);

/* Take a place with a node named as by Curator; rival_leave() deletes it. */
void rw_rival_enter(struct rival *rival, enum kustos_side side);

/* Check that the hold's node exists and belongs to the session that "owner" has
   now.  For a downgraded hold, whose token is not the czxid of its node, this
   replaces check_node(). */
void rw_check_node(struct kustos_hold *hold, struct kustos_client *owner);

/* Return the name of a hold's node, and its number. */
const char *rw_name(struct kustos_hold *hold);
int rw_number(struct kustos_hold *hold);

/* Wait until everything that either client has sent is answered. */
void rw_flush(void);

#endif
