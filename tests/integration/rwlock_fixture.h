/*
 * rwlock_fixture.h - what tests of the read/write lock share, on top of
 * mutex_pair.h: its clients, line, requests and rivals, with two sides.
 *
 * What cannot be done fails the test.
 */
#ifndef TEST_RWLOCK_FIXTURE_H
#define TEST_RWLOCK_FIXTURE_H

#include <kustos/rwlock.h>

#include "mutex_pair.h"

#define SIDES 2 /* of a loop test: _i is the side */

extern struct kustos_rwlock *rw, *rw_rivals; /* of "client" and of "other" */

/* Make these two, after pair_open() or so.  Destroy them, close all there is,
   and see that nothing is left. */
void rw_pair_make(int handoffs);
void rw_pair_close(void);

/* Make a read/write lock on LINE, with so many local hand-overs. */
struct kustos_rwlock *rw_new(struct kustos_client *owner, int handoffs);

/* Lock and unlock, acquire and downgrade, which has to succeed. */
void rw_lock(struct kustos_rwlock *lock, enum kustos_side side);
void rw_unlock(struct kustos_rwlock *lock, enum kustos_side side);
struct kustos_hold *rw_take(struct kustos_rwlock *lock, enum kustos_side side);
struct kustos_hold *rw_downgrade(struct kustos_rwlock *lock,
	struct kustos_hold *hold);

/* The outcome of a try at "side"; what was got is given back. */
enum kustos_err rw_try(struct kustos_rwlock *lock, enum kustos_side side);

/* Ask, and do not wait.  ask_wait() and ask_waits() are for these, too. */
void rw_ask(struct ask *a, struct kustos_rwlock *lock, enum kustos_side side,
	kustos_deadline deadline);

/* Take a place with a name in Curator's manner; rival_leave() leaves it. */
void rw_rival_enter(struct rival *rival, enum kustos_side side);

/* The node of a hold exists and is of the session that "owner" has now.  For
   one that was downgraded, whose token is not that of its node, in place of
   check_node(). */
void rw_check_node(struct kustos_hold *hold, struct kustos_client *owner);

/* Return the name of a hold's node, and its number. */
const char *rw_name(struct kustos_hold *hold);
int rw_number(struct kustos_hold *hold);

/* Wait until everything that either client has sent is answered. */
void rw_flush(void);

#endif
