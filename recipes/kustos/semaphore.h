/*
 * kustos/semaphore.h - at most a given number of holders at a time, among all
 * processes that use the same path: ours, and Curator's
 * InterProcessSemaphoreV2.
 * Link with -lkustos-semaphore (pkg-config kustos-semaphore).
 *
 *	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
 *	o.max = 5;
 *	if (kustos_semaphore_create(client, "/jobs/render", &o, &sem))
 *		return 1;
 *	if (kustos_semaphore_acquire(sem, kustos_after_ms(2000), NULL, &lease) ==
 *		KUSTOS_OK) {
 *		render();
 *		kustos_hold_release(lease);
 *	}
 *
 * A lease is a hold (<kustos/hold.h>) that any thread may release.  It has a
 * node, a token and a state of its own.  Tokens of leases that were granted one
 * after the other grow; tokens of leases that overlap are in no order.
 *
 * While there is room a lease takes one round trip; of many calls to one object
 * at the same moment, some take two.  Otherwise callers wait in a line, and
 * only the first of them waits for room.  So nobody is passed over for ever: as
 * soon as the first has its node among the leases, nobody is granted a lease
 * before it.  As a rule calls to one object are granted in their order; one
 * whose deadline is KUSTOS_NOW may come first.
 *
 * The maximum is a number that each process passes, the same for all; or it is
 * stored in a node that all of them watch (Curator's SharedCount), and may
 * change while leases are held.
 *
 * Threads: every call is safe from any thread and any callback.
 */
#ifndef KUSTOS_SEMAPHORE_H
#define KUSTOS_SEMAPHORE_H

#include <kustos/base.h>
#include <kustos/hold.h>
#include <kustos/lockable.h>

KUSTOS_BEGIN

struct kustos_semaphore; /* opaque; lives from _create() to _destroy() */
struct kustos_client;
struct kustos_cancel;

/* Set by KUSTOS_SEMAPHORE_OPTIONS_INIT, then changed at will.  All strings are
   copied. */
struct kustos_semaphore_options {
	size_t size; /* of this struct, as the program knows it */

	/* The maximum number of leases, 1 or more; or 0 if "max_path" is set.
	   */
	int max;

	/* The node that stores the maximum instead, as four bytes, the most
	   significant first.  The node is read when a lease is first asked for,
	   and then watched; after a reconnect it is read again before a lease
	   is granted.  When the number shrinks, leases that were granted stay,
	   and no lease is granted until there is room by the new number.  When
	   it grows, those who wait are served at once.  While the node is
	   missing or holds anything else there is no room for anybody.  If the
	   node cannot be watched (memory is short, or the session watches as
	   much as it may) it is read for each call and each second; until the
	   next read those who wait may still be granted leases by the old
	   number. */
	const char *max_path;

	/* Stored in the nodes.  NULL: the client's default data or, if it has
	   none, the local address. */
	const void *data;
	size_t data_len;

	/* Not 0: store who holds the lease instead, as JSON: host, pid,
	   program, the time at which the node was asked for, and "reason"
	   (which may be NULL).  A byte that is not UTF-8 becomes U+FFFD. */
	int holder_record;
	const char *reason;
};

#define KUSTOS_SEMAPHORE_OPTIONS_INIT                                     \
	{                                                                 \
		sizeof(struct kustos_semaphore_options), 0, 0, 0, 0, 0, 0 \
	}

/* Make a semaphore on "path".  The node is made when it is first needed.  Sends
   nothing.  Returns KUSTOS_OK; KUSTOS_EINVAL, also unless exactly one of "max"
   and "max_path" is set; KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_create(
	struct kustos_client *client, const char *path,
	const struct kustos_semaphore_options *options,
	struct kustos_semaphore **out);

/* Free "sem", which may be NULL.  Call this before its client is closed.  Calls
   that wait for a lease end with KUSTOS_ECLOSED.  Leases stay as they are until
   they are released. */
KUSTOS_API void kustos_semaphore_destroy(struct kustos_semaphore *sem);

/* Wait for a lease until "deadline".  KUSTOS_NOW: only if there is room at this
   moment; another caller that tries at the same moment may take the room, or
   hide it.  A wait survives disconnects; when the session ends the wait goes on
   at the tail.  Returns KUSTOS_OK; KUSTOS_EBUSY if there is no room and
   "deadline" is KUSTOS_NOW; KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED;
   KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no connection;
   KUSTOS_ESATURATED if the line's numbers are used up; and what kustos_create()
   and kustos_children() return.  Unless KUSTOS_OK is returned, nothing of the
   attempt stays on the server; after KUSTOS_EUNKNOWN (an answer was lost, and
   the nodes may not be listed) a node may stay, but not longer than the
   session. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_acquire(
	struct kustos_semaphore *sem, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out);

/* Ask for a lease and return at once; "granted" receives the outcome.  Takes no
   thread while it waits.  Returns KUSTOS_OK, or the reason why it could not be
   started; then "granted" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_acquire_async(
	struct kustos_semaphore *sem, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg);

/* Wait for "count" leases together: all of them or none.  "out" has room for
   "count" holds; each is released by itself.  Callers that come later wait
   behind this one, even if there would be room for the fewer leases that they
   want.  (Curator takes several leases one by one, and keeps those that it has
   while it waits for the next.  Two such callers, or one of them and one of
   ours, may wait for each other until Curator's deadline.)  Returns as
   kustos_semaphore_acquire(), and KUSTOS_EINVAL if "count" is less than 1, or
   more than a fixed "max".  A count above the number in "max_path" waits until
   that has grown; but KUSTOS_ELIMIT is returned at once if one session cannot
   have so many nodes, which are some thousands. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_acquire_many(
	struct kustos_semaphore *sem, int count, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out);

/* The same, but return at once; "granted" receives the outcome.  Returns
   KUSTOS_OK, or the reason why it could not be started; then "granted" is not
   called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_acquire_many_async(
	struct kustos_semaphore *sem, int count, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_many_fn *granted,
	void *arg);

/* Describe one lease of "sem" for kustos_acquire_all().  Valid for as long as
   "sem". */
KUSTOS_API struct kustos_lockable kustos_semaphore_lockable(
	struct kustos_semaphore *sem);

/* Store "data" in the nodes of calls that ask for a lease from now on, instead
   of the data in the options; NULL and 0 store nothing.  Returns KUSTOS_OK,
   KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_set_data(
	struct kustos_semaphore *sem, const void *data, size_t len);

/* Return the maximum: the fixed one, or the one that was last read from the
   node.  Returns -1 if the number is in a node and not known: not read yet,
   missing, or malformed. */
KUSTOS_API int kustos_semaphore_max(struct kustos_semaphore *sem);

/* Store "max", 0 or more, in the node "max_path", for all processes.  The node
   and its parents are made if they are missing.  Returns KUSTOS_OK;
   KUSTOS_EINVAL, also if the number is fixed; and as kustos_create() and
   kustos_set(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_set_max(
	struct kustos_semaphore *sem, int max, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, but return at once; "done" receives the outcome.  A call that is
   under way when "sem" is destroyed goes on.  Returns KUSTOS_OK, or the reason
   why it could not be started; then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_set_max_async(
	struct kustos_semaphore *sem, int max, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg);

/* Return 1 if another client was seen that uses another maximum than "sem".
   Each of our clients with a fixed maximum stores it as text in the node
   "path", as kazoo does, and compares it with the one that it finds there.
   Curator's clients store nothing, and are not seen.  A disagreement is logged
   once.  A number that was stored stays until another fixed number replaces it,
   or until the servers remove the node, which is made as a container, some time
   after the last lease has gone.  So empty it when all clients have moved to
   "max_path". */
KUSTOS_API int kustos_semaphore_disagrees(struct kustos_semaphore *sem);

/*
 * A lock made of a semaphore with a maximum of 1: as Curator's
 * InterProcessSemaphoreMutex, on the same nodes.  It belongs to no thread: any
 * thread may unlock it, and a thread that locks it twice waits for itself.
 * Other mutexes on the same path do not see it.  A semaphore on that path with
 * a "max" of 1 is the same lock: its kustos_semaphore_lockable() takes it
 * together with other locks, and its holds belong to whoever was granted them.
 */
struct kustos_semaphore_mutex;

/* Make one on "path".  "options" may be NULL; its "max" and "max_path" are
   ignored.  Sends nothing.  Returns as kustos_semaphore_create(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_mutex_create(
	struct kustos_client *client, const char *path,
	const struct kustos_semaphore_options *options,
	struct kustos_semaphore_mutex **out);

/* Unlock and free "mutex", which may be NULL.  Call this before its client is
   closed.  Calls that wait for the lock end with KUSTOS_ECLOSED. */
KUSTOS_API void kustos_semaphore_mutex_destroy(
	struct kustos_semaphore_mutex *mutex);

/* Lock.  Returns as kustos_semaphore_acquire(), and KUSTOS_ELOST if this
   object's lock was lost and nobody has unlocked it yet: at once if it was lost
   before the call, at the end of the wait if during the call. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_mutex_lock(
	struct kustos_semaphore_mutex *mutex, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Unlock, without waiting for the network.  Returns KUSTOS_OK; KUSTOS_ENOTHELD
   if this object is not locked; KUSTOS_ELOST if the lock was lost meanwhile. */
KUSTOS_API enum kustos_err kustos_semaphore_mutex_unlock(
	struct kustos_semaphore_mutex *mutex);

/* Return the hold of this object's lock, or NULL if there is none.  It serves
   to look at the state and to set callbacks.  unlock() releases it; the program
   must not. */
KUSTOS_API struct kustos_hold *kustos_semaphore_mutex_hold(
	struct kustos_semaphore_mutex *mutex);

/* Return the fencing token of this object's lock, or 0 if it has none or has
   lost it. */
KUSTOS_API int64_t kustos_semaphore_mutex_token(
	struct kustos_semaphore_mutex *mutex);

KUSTOS_END
#endif
