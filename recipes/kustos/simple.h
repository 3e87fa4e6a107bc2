/*
 * kustos/simple.h - the simple lock: one node, held by whoever makes it.
 * Link with -lkustos-simple (pkg-config kustos-simple).
 *
 *	if (kustos_simple_create(client, "/locks/nightly", NULL, &lock))
 *		return 1;
 *	if (kustos_simple_acquire(lock, KUSTOS_NOW, NULL, &hold) == KUSTOS_OK) {
 *		run_nightly();
 *		kustos_hold_release(hold);
 *	}
 *
 * For what is rarely fought for: a job that one machine of many does, and that
 * the others leave alone.  The lock is one ephemeral node at the very path, as
 * a program would make it with any ZooKeeper client.  So every program that
 * creates the node or finds it there takes part.  Taking the lock needs one
 * round trip.  It differs from the mutex (<kustos/mutex.h>), which is the
 * better choice if anybody waits for long:
 *
 * - It is not fair.  There is no line: when the node goes, all who wait try to
 *   make it, and a caller that comes just then has the same chance.  A holder
 *   that takes the lock again right after releasing it is nearly always the
 *   first.
 * - Each release wakes all who wait.  With N of them (processes, or objects;
 *   not the threads of one object) this costs N reads and, the first time, N
 *   tries to make the node, which are writes.  A caller that has been beaten
 *   waits from then on for a random time before each try, 16 ms at the most,
 *   and reads before it tries; that leaves a few tries in all.
 * - Names do not tell nodes apart.  If somebody deletes the node of a holder by
 *   hand, another client gets the lock.  Until the first holder is notified,
 *   its kustos_hold_multi() still succeeds, and its release deletes the other's
 *   node.  The end of a session has no such gap.
 * - A request to release the lock (kustos_participant_revoke()) replaces the
 *   data of the node: as long as that node is there, nothing in it shows who
 *   holds the lock.
 * - If the client has resumed the session of an earlier process that held the
 *   lock (struct kustos_client_options), nothing takes the node over.  It stays
 *   for as long as the session lives, and everybody waits, also in this
 *   process.  So do not resume the session of a program that uses such locks;
 *   or, once the earlier process has ended, delete the node (kustos_delete())
 *   before you take the lock, if its data and its owner say that it is yours.
 *   (If the answer to a creation is lost just then, that node looks like the one
 *   that was to be made, and is taken for it.)
 *
 * The threads and callbacks of one process that use the same object queue up
 * before it, as they do before a mutex, and hand over to each other.  Holds are
 * those of <kustos/hold.h>; tokens grow from holder to holder.
 * kustos_participants() shows the holder and its data; those who wait cannot be
 * seen.
 *
 * Threads: every call is safe from any thread and any callback.  A thread must
 * unlock what it has locked before it ends.
 */
#ifndef KUSTOS_SIMPLE_H
#define KUSTOS_SIMPLE_H

#include <kustos/base.h>
#include <kustos/hold.h>
#include <kustos/lockable.h>

KUSTOS_BEGIN

struct kustos_simple; /* opaque; lives from _create() to _destroy() */
struct kustos_client;
struct kustos_cancel;

/* Set by KUSTOS_SIMPLE_OPTIONS_INIT, then changed at will.  All strings are
   copied. */
struct kustos_simple_options {
	size_t size; /* of this struct, as the program knows it */

	/* How many times in a row threads of this object may hand over to each
	   other, within 50 ms after the node was granted, before the node is
	   given up.  Such a hand-over keeps the node and its token.  0: each
	   lock has a node and a token of its own.  Default 32. */
	int local_handoffs;

	/* Stored in the node.  NULL: the client's default data or, if it has
	   none, the local address. */
	const void *data;
	size_t data_len;

	/* Not 0: store who holds the lock instead, as JSON: host, pid, program,
	   the time at which the node was asked for, and "reason" (which may be
	   NULL).  A byte that is not UTF-8 becomes U+FFFD. */
	int holder_record;
	const char *reason;

	/* Makes the holder revocable.  Called at most once for each request to
	   give the hold back; the program decides whether to do so.  After such
	   a request the hold is not handed over to another thread of this
	   object.  The callback cannot release what something else releases:
	   for a part of several locks, release the whole, or, while
	   kustos_acquire_all() still waits for others of them, cancel that; for
	   what a thread has locked, have that thread unlock it.  NULL: requests
	   are not read. */
	kustos_hold_fn *on_revoke;
	void *on_revoke_arg;

	/* Not 0: unlock waits until the server has confirmed the release, or
	   until the session is over; not if it hands the lock over to another
	   thread of this object. */
	int unlock_waits;

	int reserved; /* 0 */
};

#define KUSTOS_SIMPLE_OPTIONS_INIT                                             \
	{                                                                      \
		sizeof(struct kustos_simple_options), 32, 0, 0, 0, 0, 0, 0, 0, \
			0                                                      \
	}

/* Make a simple lock on the node "path".  Its parents are made when they are
   first needed.  "options" may be NULL for the defaults.  Sends nothing.
   Returns KUSTOS_OK, KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_simple_create(
	struct kustos_client *client, const char *path,
	const struct kustos_simple_options *options,
	struct kustos_simple **out);

/* Free "lock", which may be NULL.  Call this before its client is closed.
   Calls that wait for the lock end with KUSTOS_ECLOSED.  Holds stay as they are
   until they are released, but "on_revoke" is not called for them any more.
   What lock() holds is released.  Waits for a call of "on_revoke" that runs on
   another thread. */
KUSTOS_API void kustos_simple_destroy(struct kustos_simple *lock);

/* Wait for a hold, which any thread may release.  KUSTOS_NOW: only if the lock
   is free.  A wait survives disconnects and the end of the session.  Returns
   KUSTOS_OK; KUSTOS_EBUSY if another holds the lock and "deadline" is
   KUSTOS_NOW; KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; KUSTOS_EEXISTS if the node is
   not ephemeral, and so would stay (but KUSTOS_EBUSY if "deadline" is
   KUSTOS_NOW); KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no
   connection; and what kustos_create() returns.  Unless KUSTOS_OK is returned,
   nothing of the attempt stays on the server. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_simple_acquire(
	struct kustos_simple *lock, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out);

/* Ask for a hold and return at once; "granted" receives the outcome.  Takes no
   thread while it waits.  Returns KUSTOS_OK, or the reason why it could not be
   started; then "granted" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_simple_acquire_async(
	struct kustos_simple *lock, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg);

/* Lock for this thread, waiting until "deadline".  If this thread holds the
   lock already, it holds it once more, and nothing is sent.  Returns as
   kustos_simple_acquire(), and KUSTOS_ELOST if this thread holds the lock but
   has lost it, and must unlock it first. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_simple_lock(
	struct kustos_simple *lock, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Undo one lock of this thread.  The last one gives the lock back, without
   waiting for the network.  Returns KUSTOS_OK; KUSTOS_ENOTHELD if this thread
   does not hold the lock, and then nothing happens; or KUSTOS_ELOST, at each
   level, if the lock was lost meanwhile.  With "unlock_waits" KUSTOS_OK means
   that the server has confirmed the release; it can also return KUSTOS_ELOST if
   the session was over first, so that the node stays until the server ends the
   session by its own timeout; KUSTOS_ECLOSED if the client was closed first; or
   KUSTOS_ENOAUTH and the like if the node may not be deleted and stays in the
   way until the session ends.  It is unlocked in these cases, too. */
KUSTOS_API enum kustos_err kustos_simple_unlock(struct kustos_simple *lock);

/* Return the hold of this thread's lock(), or NULL if there is none.  It serves
   to look at the state and to set callbacks.  unlock() releases it; the program
   must not. */
KUSTOS_API struct kustos_hold *kustos_simple_hold(struct kustos_simple *lock);

/* Return the fencing token of this thread's lock, or 0 if it has none or has
   lost it. */
KUSTOS_API int64_t kustos_simple_token(struct kustos_simple *lock);

/* Describe the lock for kustos_acquire_all(). */
KUSTOS_API struct kustos_lockable kustos_simple_lockable(
	struct kustos_simple *lock);

KUSTOS_END
#endif
