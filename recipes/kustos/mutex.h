/*
 * kustos/mutex.h - one holder at a time, among all processes that use the same
 * path: ours, Curator's InterProcessMutex, and kazoo's Lock with Curator's
 * names.
 * Link with -lkustos-mutex (pkg-config kustos-mutex).
 *
 *	if (kustos_mutex_create(client, "/locks/report", NULL, &mutex))
 *		return 1;
 *	if (kustos_mutex_lock(mutex, kustos_after_ms(2000), NULL) == KUSTOS_OK) {
 *		write_report(kustos_mutex_fence(mutex));
 *		kustos_mutex_unlock(mutex);
 *	}
 *
 * Processes are served in the order in which they came.  Inside a process the
 * threads (and callbacks) that use one mutex object line up before it and are
 * served in their own order; a release hands over to the next of them without
 * ZooKeeper, at most "local_handoffs" times in a row, before other processes
 * have their turn.
 *
 * lock() and unlock() belong to the thread that calls them, and nest.
 * acquire() gives a hold (<kustos/hold.h>) that any thread may release, and
 * does not nest.  Both may be used on one object; they exclude each other.
 *
 * Threads: every call is safe from any thread and any callback.  A thread must
 * unlock what it has locked before it ends.
 */
#ifndef KUSTOS_MUTEX_H
#define KUSTOS_MUTEX_H

#include <kustos/base.h>
#include <kustos/hold.h>
#include <kustos/lockable.h>
#include <kustos/participant.h>

KUSTOS_BEGIN

struct kustos_mutex; /* opaque; lives from _create() to _destroy() */
struct kustos_client;
struct kustos_cancel;

/* Set by KUSTOS_MUTEX_OPTIONS_INIT, then changed at will.  All strings are
   copied. */
struct kustos_mutex_options {
	size_t size; /* of this struct, as the program knows it */

	/* How many times in a row threads of this object may hand over to each
	   other, and not for longer than 50 ms, before others have their turn.
	   Such a hand-over keeps the node and its token.  0: each has a node
	   and a token of its own, and all processes' threads are served in one
	   order.  Default 32. */
	int local_handoffs;

	enum kustos_dialect dialect; /* kazoo's: a stock Lock, nobody else */

	/* Stored in the node.  NULL: the client's default data; if it has
	   none, the local address. */
	const void *data;
	size_t data_len;

	/* Not 0: store who holds instead, as JSON: host, pid, program, since
	   when it waits, and "reason" (which may be NULL). */
	int holder_record;
	const char *reason;

	/* Makes this a revocable holder, whose node is empty unless "data" is
	   given.  Called at most once for each request of somebody who wants
	   the hold back; it is up to the program.  What was asked for is handed
	   over to no other thread of this object. */
	kustos_hold_fn *on_revoke;
	void *on_revoke_arg;

	/* Called when a wait has its node in the line and others stand before
	   it; it may be left out if memory is short.  NULL: nobody is told. */
	kustos_queued_fn *on_queued;
	void *on_queued_arg;

	/* Not 0: unlock waits until the server has confirmed it, or until the
	   session is over. */
	int unlock_waits;

	/* Who else is a contender.  Known are names with "lock-", "__lock__" or
	   "x-<session>-" before the number that the server gave; a name with one
	   of these texts there, which commas separate, counts as well:
	   "ex,mylock-".  None is empty or has a slash.  All others are ignored.
	   Whether their owners wait for us is not known, and
	   kustos_mutex_mixed() does not tell of them: see to it that they do, or
	   both of you hold it.  The same for all who use the line.  Each
	   hand-over takes a listing then.  NULL, as by default: none. */
	const char *extra_marks;
};

#define KUSTOS_MUTEX_OPTIONS_INIT                                            \
	{                                                                    \
		sizeof(struct kustos_mutex_options), 32,                     \
			KUSTOS_DIALECT_CURATOR, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
	}

/* Make a mutex on "path", which is made when it is first needed.  "options"
   NULL takes the defaults.  Sends nothing.  Returns KUSTOS_OK, KUSTOS_EINVAL,
   KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_mutex_create(
	struct kustos_client *client, const char *path,
	const struct kustos_mutex_options *options, struct kustos_mutex **out);

/* Free "mutex", which may be NULL, before its client is closed.  Waits for it
   end with KUSTOS_ECLOSED.  Holds stay what they are until they are released,
   but nobody is told of requests to give them back any more; what lock() holds
   is released. */
KUSTOS_API void kustos_mutex_destroy(struct kustos_mutex *mutex);

/* Lock for this thread, waiting until "deadline".  A thread that holds it
   already holds it once more, and nothing is sent.  KUSTOS_NOW: only if it is
   free.  A wait survives disconnects; when the session ends it goes on with a
   new node, at the tail.  Returns KUSTOS_OK; KUSTOS_EBUSY if it is another's
   and "deadline" is KUSTOS_NOW; KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED;
   KUSTOS_ELOST if this thread holds it but has lost it, and then it must unlock
   first; KUSTOS_ESATURATED if the line's numbers are used up;
   KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no connection;
   and what kustos_create() and kustos_children() return.  Whatever it returns
   but KUSTOS_OK, nothing of it stays on the server; after KUSTOS_EUNKNOWN (an
   answer was lost, and the line may not be listed), not longer than the
   session. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_mutex_lock(
	struct kustos_mutex *mutex, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Undo one lock of this thread.  The last one gives the mutex back, without
   waiting for the network.  Returns KUSTOS_OK; KUSTOS_ENOTHELD if this thread
   does not hold it, and nothing happens; KUSTOS_ELOST if it was lost meanwhile,
   at each level; or, if it waits, KUSTOS_ECLOSED, or
   KUSTOS_ENOAUTH and the like if the node may not be deleted, and stays in the way
   until the session ends.  It is unlocked then, too. */
KUSTOS_API enum kustos_err kustos_mutex_unlock(struct kustos_mutex *mutex);

/* Return the hold of this thread's lock(), NULL if there is none.  It is for
   looking at, and for its callbacks; unlock releases it. */
KUSTOS_API struct kustos_hold *kustos_mutex_hold(struct kustos_mutex *mutex);

/* Return the fencing token of this thread's lock, or 0 if it has none or has
   lost it. */
KUSTOS_API int64_t kustos_mutex_fence(struct kustos_mutex *mutex);

/* Wait for a hold, which any thread may release.  Does not nest: a thread that
   holds the mutex waits for itself.  Returns as kustos_mutex_lock(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_mutex_acquire(
	struct kustos_mutex *mutex, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out);

/* Ask for a hold and return at once; "granted" tells the end of it.  Takes no
   thread while it waits.  Returns KUSTOS_OK, or why it could not be started,
   and then "granted" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_mutex_acquire_async(
	struct kustos_mutex *mutex, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg);

/* Return 1 if the line was last seen with participants that do not wait for
   ours (kazoo's stock names in Curator's dialect, and the other way round). */
KUSTOS_API int kustos_mutex_mixed(struct kustos_mutex *mutex);

/* Describe it for kustos_acquire_all(). */
KUSTOS_API struct kustos_lockable kustos_mutex_lockable(
	struct kustos_mutex *mutex);

KUSTOS_END
#endif
