/*
 * kustos/mutex.h - one holder at a time, among all processes that use the same
 * path: ours, Curator's InterProcessMutex, and kazoo's Lock with Curator's
 * names.
 * Link with -lkustos-mutex (pkg-config kustos-mutex).
 *
 *	if (kustos_mutex_create(client, "/locks/report", NULL, &mutex))
 *		return 1;
 *	if (kustos_mutex_lock(mutex, kustos_after_ms(2000), NULL) == KUSTOS_OK) {
 *		write_report(kustos_mutex_token(mutex));
 *		kustos_mutex_unlock(mutex);
 *	}
 *
 * Processes are served in the order in which they arrived.  The threads and
 * callbacks of one process that use the same mutex object queue up before it
 * and are served in their own order.  A release hands the mutex over to the
 * next of them without asking ZooKeeper, at most "local_handoffs" times in a
 * row; then other processes have their turn.
 *
 * lock() and unlock() belong to the thread that calls them, and nest.
 * acquire() gives a hold (<kustos/hold.h>) that any thread may release, and
 * does not nest.  Both may be used on one object; they exclude each other.
 *
 * How many may wait.  The waits of one object share a node, unless
 * "local_handoffs" is 0: then each wait has one.  The paths of all ephemeral
 * nodes of a session, with 4 bytes more for each, may not exceed 700,000 bytes
 * together (KUSTOS_ELIMIT).  Such a path is 56 bytes longer than that of the
 * mutex, which counts with chroot and name space: ten thousand waiting nodes
 * fit if that has 10 bytes, and five thousand if it has 80.  Several clients
 * share the load.
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
	   other, within 50 ms after the node was granted, before other
	   processes have their turn.  Such a hand-over keeps the node and its
	   token.  0: each lock has a node and a token of its own, and the
	   threads of all processes are served in one order.  Default 32. */
	int local_handoffs;

	enum kustos_dialect dialect; /* KAZOO: shared with a stock kazoo Lock
					only */

	/* Stored in the node.  NULL: the client's default data or, if it has
	   none, the local address. */
	const void *data;
	size_t data_len;

	/* Not 0: store who holds the mutex instead, as JSON: host, pid,
	   program, the time at which the node was asked for, and "reason"
	   (which may be NULL).  A byte that is not UTF-8 becomes U+FFFD. */
	int holder_record;
	const char *reason;

	/* Makes the holder revocable; its node is then empty unless "data" or
	   "holder_record" is given.  Called at most once for each request to
	   give the hold back; the program decides whether to do so.  After such
	   a request the hold is not handed over to another thread of this
	   object.  The callback cannot release what something else releases:
	   for a part of several locks, release the whole, or, while
	   kustos_acquire_all() still waits for others of them, cancel that; for
	   what a thread has locked, have that thread unlock it. */
	kustos_hold_fn *on_revoke;
	void *on_revoke_arg;

	/* Called when a wait has its node in the line and others stand before
	   it.  The call may be left out if memory is short.  NULL: no call. */
	kustos_queued_fn *on_queued;
	void *on_queued_arg;

	/* Not 0: unlock waits until the server has confirmed the release, or
	   until the session is over; not if it hands the mutex over to another
	   thread of this object. */
	int unlock_waits;

	/* More names of contenders.  A name counts as a contender's if it has
	   "lock-", "__lock__" or "x-<session>-" before the number that the
	   server gave, or one of these texts, which are separated by commas:
	   "ex,mylock-".  No text may be empty or contain a slash.  All other
	   names are ignored.  We wait for the owners of such nodes.  Whether
	   they wait for us is not known, and kustos_mutex_mixed() does not
	   report them: make sure that they do, or both sides hold the mutex.
	   All users of the line should name the same texts.  With extra marks
	   each hand-over between nodes takes a listing.  NULL, the default:
	   none. */
	const char *extra_marks;
};

#define KUSTOS_MUTEX_OPTIONS_INIT                                            \
	{                                                                    \
		sizeof(struct kustos_mutex_options), 32,                     \
			KUSTOS_DIALECT_CURATOR, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 \
	}

/* Make a mutex on "path".  The node is made when it is first needed.  "options"
   may be NULL for the defaults.  Sends nothing.  Returns KUSTOS_OK,
   KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_mutex_create(
	struct kustos_client *client, const char *path,
	const struct kustos_mutex_options *options, struct kustos_mutex **out);

/* Free "mutex", which may be NULL.  Call this before its client is closed.
   Calls that wait for the mutex end with KUSTOS_ECLOSED.  Holds stay as
   they are until they are released, but "on_revoke" is not called for them any
   more.  What lock() holds is released.  Waits for a call of "on_revoke" or
   "on_queued" that runs on another thread. */
KUSTOS_API void kustos_mutex_destroy(struct kustos_mutex *mutex);

/* Lock for this thread, waiting until "deadline".  If this thread holds the
   mutex already, it holds it once more, and nothing is sent.  KUSTOS_NOW: lock
   only if the mutex is free.  A wait survives disconnects; when the session
   ends the wait goes on with a new node, at the tail.

   Returns KUSTOS_OK; KUSTOS_EBUSY if another holds the mutex and "deadline" is
   KUSTOS_NOW; KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; KUSTOS_ELOST if this thread
   holds the mutex but has lost it, and must unlock it first; KUSTOS_ESATURATED
   if the line's numbers are used up; KUSTOS_ELIMIT if the session can have no
   further node; KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is
   no connection; and what kustos_create() and kustos_children() return.  Unless
   KUSTOS_OK is returned, nothing of the attempt stays on the server; after
   KUSTOS_EUNKNOWN (an answer was lost, and the line may not be listed) a node
   may stay, but not longer than the session. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_mutex_lock(
	struct kustos_mutex *mutex, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Undo one lock of this thread.  The last one gives the mutex back, without
   waiting for the network.  Returns KUSTOS_OK; KUSTOS_ENOTHELD if this thread
   does not hold the mutex, and then nothing happens; or KUSTOS_ELOST, at each
   level, if the mutex was lost meanwhile.  With "unlock_waits" KUSTOS_OK means
   that the server has confirmed the release; it can also return KUSTOS_ELOST if
   the session was over first, so that the node stays until the server ends the
   session by its own timeout; KUSTOS_ECLOSED if the client was closed first; or
   KUSTOS_ENOAUTH and the like if the node may not be deleted and stays in the
   way until the session ends.  The mutex is unlocked in these cases, too. */
KUSTOS_API enum kustos_err kustos_mutex_unlock(struct kustos_mutex *mutex);

/* Return the hold of this thread's lock(), or NULL if there is none.  It serves
   to look at the state and to set callbacks.  unlock() releases it; the program
   must not. */
KUSTOS_API struct kustos_hold *kustos_mutex_hold(struct kustos_mutex *mutex);

/* Return the fencing token of this thread's lock, or 0 if it has none or has
   lost it. */
KUSTOS_API int64_t kustos_mutex_token(struct kustos_mutex *mutex);

/* Wait for a hold, which any thread may release.  Does not nest: a thread that
   holds the mutex already would wait for itself.  Returns as
   kustos_mutex_lock(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_mutex_acquire(
	struct kustos_mutex *mutex, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out);

/* Ask for a hold and return at once; "granted" receives the outcome.  Takes no
   thread while it waits.  Returns KUSTOS_OK, or the reason why it could not be
   started; then "granted" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_mutex_acquire_async(
	struct kustos_mutex *mutex, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg);

/* Return 1 if the line was last seen with participants that do not wait for
   ours (kazoo's stock names in Curator's dialect, and the other way round). */
KUSTOS_API int kustos_mutex_mixed(struct kustos_mutex *mutex);

/* Describe the mutex for kustos_acquire_all(). */
KUSTOS_API struct kustos_lockable kustos_mutex_lockable(
	struct kustos_mutex *mutex);

KUSTOS_END
#endif
