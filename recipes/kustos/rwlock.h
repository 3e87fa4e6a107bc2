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
 * they came: a reader waits for the writers before it, a writer for all.  So
 * neither starves.
 *
 * lock() and unlock() belong to the thread that calls them, and nest, on each
 * side by itself.  A thread that writes may lock for reading, too, and then
 * unlock the writing: it has become a reader, and no writer came in between.  A
 * thread that reads may not lock for writing: it would wait for itself.
 * acquire() gives a hold (<kustos/hold.h>) that any thread may release, and
 * does not nest; downgrade() makes a reader's of a writer's.
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
	   other, and not for longer than 50 ms, before others have their turn;
	   as for a mutex (<kustos/mutex.h>).  Each reader has a node of its
	   own.  Default 32. */
	int local_handoffs;

	enum kustos_dialect dialect; /* kazoo's: its ReadLock and WriteLock */

	/* Stored in the nodes.  NULL: the client's default data; if it has
	   none, the local address. */
	const void *data;
	size_t data_len;

	/* Not 0: store who holds instead, as JSON: host, pid, program, since
	   when it waits, and "reason" (which may be NULL). */
	int holder_record;
	const char *reason;

	/* Makes these revocable holders, whose nodes are empty unless "data" is
	   given; as for a mutex. */
	kustos_hold_fn *on_revoke;
	void *on_revoke_arg;

	/* Called when a wait has its node in the line and others stand before
	   it; it may be left out if memory is short.  NULL: nobody is told. */
	kustos_queued_fn *on_queued;
	void *on_queued_arg;

	/* Not 0: unlock waits until the server has confirmed it, or until the
	   session is over. */
	int unlock_waits;
};

#define KUSTOS_RWLOCK_OPTIONS_INIT                                        \
	{                                                                 \
		sizeof(struct kustos_rwlock_options), 32,                 \
			KUSTOS_DIALECT_CURATOR, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
	}

/* Make a read/write lock on "path", which is made when it is first needed.
   "options" NULL takes the defaults.  Sends nothing.  Returns KUSTOS_OK,
   KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_create(
	struct kustos_client *client, const char *path,
	const struct kustos_rwlock_options *options,
	struct kustos_rwlock **out);

/* Free "rw", which may be NULL, before its client is closed.  Waits for it end
   with KUSTOS_ECLOSED.  Holds stay what they are until they are released; what
   lock() holds is released. */
KUSTOS_API void kustos_rwlock_destroy(struct kustos_rwlock *rw);

/* Lock one side for this thread, waiting until "deadline".  A thread that holds
   it already holds it once more, and nothing is sent.  KUSTOS_NOW: only if it
   is free; and for a reader, if no writer waits for it either.  A wait survives
   disconnects; when the session ends it goes on with a new node, at the tail.
   Returns KUSTOS_OK; KUSTOS_EDEADLK if this thread reads and asks to write, at
   once; KUSTOS_ELOST if it has lost what it holds on that side, or as a writer,
   and then it must unlock first; KUSTOS_EBUSY if it is not free and "deadline" is
   KUSTOS_NOW; KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; and as kustos_mutex_lock().
   */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_lock(
	struct kustos_rwlock *rw, enum kustos_side side,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* Undo one lock of this thread on this side.  The last one gives it back,
   without waiting for the network.  The sides may be unlocked in any order.
   Returns KUSTOS_OK; KUSTOS_ENOTHELD if this thread does not hold it, and
   nothing happens; KUSTOS_ELOST if it was lost meanwhile, at each level; or, if
   it waits, KUSTOS_ECLOSED, or KUSTOS_ENOAUTH and the like if the node may not be
   deleted, and stays in the way until the session ends.  It is unlocked then,
   too. */
KUSTOS_API enum kustos_err kustos_rwlock_unlock(struct kustos_rwlock *rw,
	enum kustos_side side);

/* Return the hold of this thread's lock(), NULL if there is none.  It is for
   looking at, and for its callbacks; unlock releases it. */
KUSTOS_API struct kustos_hold *kustos_rwlock_hold(struct kustos_rwlock *rw,
	enum kustos_side side);

/* Return the fencing token of this thread's lock, or 0 if it has none or has
   lost it.  A reader's that was a writer is the writer's. */
KUSTOS_API int64_t kustos_rwlock_fence(struct kustos_rwlock *rw,
	enum kustos_side side);

/* Wait for a hold, which any thread may release.  Does not nest: whoever holds
   one and asks again may wait for itself, a reader when a writer waits.
   Returns as kustos_rwlock_lock(), but for KUSTOS_EDEADLK. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_acquire(
	struct kustos_rwlock *rw, enum kustos_side side,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out);

/* Ask for a hold and return at once; "granted" tells the end of it.  Takes no
   thread while it waits.  Returns KUSTOS_OK, or why it could not be started,
   and then "granted" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_acquire_async(
	struct kustos_rwlock *rw, enum kustos_side side,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg);

/* Make a reader's hold beside "hold", a writer's of this object or of another
   on the same path and in the same dialect, which stays what it is: release it
   after this, and other readers come in, but no writer that waits.  Its token
   is that of "hold".  Returns KUSTOS_OK; KUSTOS_ELOST if "hold" was lost or
   released before it was done; KUSTOS_EINVAL if it is not a writer's;
   KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; KUSTOS_EDISCONNECTED if "deadline" is
   KUSTOS_NOW and there is no connection; and what kustos_create() returns. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_downgrade(
	struct kustos_rwlock *rw, struct kustos_hold *hold,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out);

/* The same, and return at once; "granted" tells the end of it.  Returns
   KUSTOS_OK, or why it could not be started, and then "granted" is not called.
 */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_rwlock_downgrade_async(
	struct kustos_rwlock *rw, struct kustos_hold *hold,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg);

/* Return 1 if the line was last seen with participants that do not wait for
   ours. */
KUSTOS_API int kustos_rwlock_mixed(struct kustos_rwlock *rw);

/* Describe one side of it for kustos_acquire_all(). */
KUSTOS_API struct kustos_lockable kustos_rwlock_lockable(
	struct kustos_rwlock *rw, enum kustos_side side);

KUSTOS_END
#endif
