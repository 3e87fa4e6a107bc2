/*
 * kustos/rwlock.h - many readers or one writer, among all processes that use
 * the same path: ours, and Curator's InterProcessReadWriteLock.
 * Link with -lkustos-rwlock (pkg-config kustos-rwlock).
 *
 *	if (kustos_rwlock_create(client, "/locks/table", NULL, &rw))
 *		return 1;
 *	if (kustos_rwlock_lock(rw, KUSTOS_READ, kustos_after_ms(2000), NULL) ==
 *		KUSTOS_OK) {
 *		look_up();
 *		kustos_rwlock_unlock(rw, KUSTOS_READ);
 *	}
 *
 * Readers and writers stand in one line and are served in the order in which
 * they arrived: a reader waits for the writers before it, a writer for all
 * before it.  So neither side starves.
 *
 * lock() and unlock() belong to the thread that calls them, and nest, each side
 * by itself.  A thread that holds the write side may also lock the read side,
 * and then unlock the write side: it has become a reader, and no writer came in
 * between.  A thread that holds only the read side may not lock the write side:
 * it would wait for itself.  lock() fails then; acquire() and
 * kustos_acquire_all() do wait.  acquire() gives a hold (<kustos/hold.h>) that
 * any thread may release, and does not nest; downgrade() makes a reader's hold
 * beside a writer's.
 *
 * Threads: every call is safe from any thread and any callback.  A thread must
 * unlock what it has locked before it ends.
 */
#ifndef KUSTOS_RWLOCK_H
#define KUSTOS_RWLOCK_H

#include <kustos/base.h>
#include <kustos/hold.h>
#include <kustos/lockable.h>
#include <kustos/participant.h>

KUSTOS_BEGIN

struct kustos_rwlock; /* opaque; lives from _create() to _destroy() */
struct kustos_client;
struct kustos_cancel;

enum kustos_side { KUSTOS_READ = 0, KUSTOS_WRITE = 1 };

/* Set by KUSTOS_RWLOCK_OPTIONS_INIT, then changed at will.  All strings are
   copied. */
struct kustos_rwlock_options {
	size_t size; /* of this struct, as the program knows it */

	/* How many times in a row writers of this object may hand over to each
	   other, within 50 ms after the node was granted, before other
	   processes have their turn; as for a mutex (<kustos/mutex.h>).  Each
	   reader has a node of its own.  Default 32. */
	int local_handoffs;

	enum kustos_dialect dialect; /* KAZOO: shared with kazoo's ReadLock and
					WriteLock only */

	/* Stored in the nodes.  NULL: the client's default data or, if it has
	   none, the local address. */
	const void *data;
	size_t data_len;

	/* Not 0: store who holds the lock instead, as JSON: host, pid, program,
	   the time at which the node was asked for, and "reason" (which may be
	   NULL).  A byte that is not UTF-8 becomes U+FFFD. */
	int holder_record;
	const char *reason;

	/* Makes the holders revocable; their nodes are then empty unless "data"
	   or "holder_record" is given.  As for a mutex: the callback cannot
	   release a part of several locks, nor what a thread has locked. */
	kustos_hold_fn *on_revoke;
	void *on_revoke_arg;

	/* Called when a wait has its node in the line and others stand before
	   it.  The call may be left out if memory is short.  NULL: no call. */
	kustos_queued_fn *on_queued;
	void *on_queued_arg;

	/* Not 0: unlock waits until the server has confirmed the release, or
	   until the session is over; not if it hands the side over to another
	   thread of this object. */
	int unlock_waits;

	int reserved; /* 0 */
};

#define KUSTOS_RWLOCK_OPTIONS_INIT                                           \
	{                                                                    \
		sizeof(struct kustos_rwlock_options), 32,                    \
			KUSTOS_DIALECT_CURATOR, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
	}

/* Make a read/write lock on "path".  The node is made when it is first needed.
   "options" may be NULL for the defaults.  Sends nothing.  Returns KUSTOS_OK,
   KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_create(
	struct kustos_client *client, const char *path,
	const struct kustos_rwlock_options *options,
	struct kustos_rwlock **out);

/* Free "rw", which may be NULL.  Call this before its client is closed.  Calls
   that wait for the lock end with KUSTOS_ECLOSED.  Holds stay as they are until
   they are released, but "on_revoke" is not called for them any more.  What
   lock() holds is released.  Waits for a call of "on_revoke" or "on_queued"
   that runs on another thread. */
KUSTOS_API void kustos_rwlock_destroy(struct kustos_rwlock *rw);

/* Lock one side for this thread, waiting until "deadline".  If this thread
   holds this side already, it holds it once more, and nothing is sent.
   KUSTOS_NOW: lock only if the side is free; a reader also fails if a writer
   waits.  A wait survives disconnects; when the session ends the wait goes on
   with a new node, at the tail.

   Returns KUSTOS_OK; KUSTOS_EDEADLK, at once, if this thread holds only the
   read side and asks for the write side; KUSTOS_ELOST if this thread has lost
   what it holds on this side, or on the write side, and must unlock that first;
   KUSTOS_EBUSY if the side is not free and "deadline" is KUSTOS_NOW;
   KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; and as kustos_mutex_lock(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_lock(
	struct kustos_rwlock *rw, enum kustos_side side,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* Undo one lock of this thread on this side.  The last one gives the side back,
   without waiting for the network.  The sides may be unlocked in any order.
   Returns KUSTOS_OK; KUSTOS_ENOTHELD if this thread does not hold the side, and
   then nothing happens; or KUSTOS_ELOST, at each level, if it was lost
   meanwhile.  With "unlock_waits" KUSTOS_OK means that the server has confirmed
   the release; it can also return KUSTOS_ELOST if the session was over first,
   so that the node stays until the server ends the session by its own timeout;
   KUSTOS_ECLOSED if the client was closed first; or KUSTOS_ENOAUTH and the like
   if the node may not be deleted and stays in the way until the session ends.
   The side is unlocked in these cases, too. */
KUSTOS_API enum kustos_err kustos_rwlock_unlock(struct kustos_rwlock *rw,
	enum kustos_side side);

/* Return the hold of this thread's lock(), or NULL if there is none.  It serves
   to look at the state and to set callbacks.  unlock() releases it; the program
   must not. */
KUSTOS_API struct kustos_hold *kustos_rwlock_hold(struct kustos_rwlock *rw,
	enum kustos_side side);

/* Return the fencing token of this thread's lock, or 0 if it has none or has
   lost it.  A reader that was a writer has the writer's token. */
KUSTOS_API int64_t kustos_rwlock_token(struct kustos_rwlock *rw,
	enum kustos_side side);

/* Wait for a hold, which any thread may release.  Does not nest: a caller
   that holds one and asks again may wait for itself; a reader does if a writer
   waits.  A thread that has locked the read side and asks for the write side
   waits for itself, too.  Returns as kustos_rwlock_lock(), except for
   KUSTOS_EDEADLK and KUSTOS_ELOST. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_acquire(
	struct kustos_rwlock *rw, enum kustos_side side,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out);

/* Ask for a hold and return at once; "granted" receives the outcome.  Takes no
   thread while it waits.  Returns KUSTOS_OK, or the reason why it could not be
   started; then "granted" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_acquire_async(
	struct kustos_rwlock *rw, enum kustos_side side,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg);

/* Make a reader's hold beside "hold".  "hold" is a writer's, of this object or
   of another one of the same client, path and dialect; it stays as it is.  Once
   it is released, other readers come in, but no writer that waits.  The
   reader's token is that of "hold".  Returns KUSTOS_OK; KUSTOS_ELOST if "hold"
   was lost or released before the reader's hold was made; KUSTOS_EINVAL if
   "hold" is not such a writer's; KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED;
   KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no connection;
   and what kustos_create() returns. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_downgrade(
	struct kustos_rwlock *rw, struct kustos_hold *hold,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out);

/* The same, but return at once; "granted" receives the outcome.  Returns
   KUSTOS_OK, or the reason why it could not be started; then "granted" is not
   called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_downgrade_async(
	struct kustos_rwlock *rw, struct kustos_hold *hold,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg);

/* Return 1 if the line was last seen with participants that do not wait for
   ours. */
KUSTOS_API int kustos_rwlock_mixed(struct kustos_rwlock *rw);

/* Describe one side of the lock for kustos_acquire_all().  As acquire() does,
   that waits for itself with the write side if this thread has locked the read
   side of the same path. */
KUSTOS_API struct kustos_lockable kustos_rwlock_lockable(
	struct kustos_rwlock *rw, enum kustos_side side);

KUSTOS_END
#endif
