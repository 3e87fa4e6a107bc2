/*
 * kustos/semaphore.h - at most so many holders at a time, among all processes
 * that use the same path: ours, and Curator's InterProcessSemaphoreV2.
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
 * A lease is a hold (<kustos/hold.h>) that any thread may release: with a node,
 * a token and a state of its own.  Tokens of leases that were granted one after
 * the other grow; leases that overlap have no order.
 *
 * While there is room a lease takes one round trip.  Else whoever waits stands
 * in a line, and only the first of it waits for room, so that nobody is passed
 * over for ever: as soon as the first has its node among the leases, nobody
 * comes in before it.
 *
 * How many there may be is a number that each process is given, the same for
 * all; or it stands in a node that all of them watch (Curator's SharedCount),
 * and may change while leases are held.
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

	/* So many leases there may be, 1 or more; or 0, with "max_path". */
	int max;

	/* The node in which that number stands instead: four bytes, the most
	   significant first.  It is read when a lease is first asked for, and
	   watched; and after a reconnect before any is granted.  When it
	   shrinks, leases that were granted stay, and nobody is granted one
	   until there is room by the new number; when it grows, those who wait
	   are served at once.  While the node is missing or holds anything else
	   there is no room for anybody.  If it cannot be watched (memory, or the limit of what one
	   session may watch) it is read for each call and each second: for so
	   long those who wait may still be granted leases by the number before. */
	const char *max_path;

	/* Stored in the nodes.  NULL: the client's default data; if it has
	   none, the local address. */
	const void *data;
	size_t data_len;

	/* Not 0: store who holds instead, as JSON: host, pid, program, since
	   when it waits, and "reason" (which may be NULL). */
	int holder_record;
	const char *reason;
};

#define KUSTOS_SEMAPHORE_OPTIONS_INIT                                     \
	{                                                                 \
		sizeof(struct kustos_semaphore_options), 0, 0, 0, 0, 0, 0 \
	}

/* Make a semaphore on "path", which is made when it is first needed.  Sends
   nothing.  Returns KUSTOS_OK; KUSTOS_EINVAL, also unless "options" has one of
   "max" and "max_path"; KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_create(
	struct kustos_client *client, const char *path,
	const struct kustos_semaphore_options *options,
	struct kustos_semaphore **out);

/* Free "sem", which may be NULL, before its client is closed.  Waits for it end
   with KUSTOS_ECLOSED.  Leases stay what they are until they are released. */
KUSTOS_API void kustos_semaphore_destroy(struct kustos_semaphore *sem);

/* Wait for a lease until "deadline".  KUSTOS_NOW: only if there is room at this
   moment, which somebody who tries the same just now may take or hide.  A wait
   survives disconnects; when the session ends it goes on at the tail.  Returns
   KUSTOS_OK; KUSTOS_EBUSY if there is no room and "deadline" is KUSTOS_NOW;
   KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; KUSTOS_EDISCONNECTED if "deadline" is
   KUSTOS_NOW and there is no connection; KUSTOS_ESATURATED if the numbers of
   the line are used up; and what kustos_create() and kustos_children() return.
   Whatever it returns but KUSTOS_OK, nothing of it stays on the server; after
   KUSTOS_EUNKNOWN (an answer was lost, and the nodes may not be listed), not
   longer than the session. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_acquire(
	struct kustos_semaphore *sem, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out);

/* Ask for a lease and return at once; "granted" tells the end of it.  Takes no
   thread while it waits.  Returns KUSTOS_OK, or why it could not be started,
   and then "granted" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_acquire_async(
	struct kustos_semaphore *sem, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg);

/* Wait for "count" leases at once: all of them or none.  "out" has room for as
   many; each is released by itself.  Curator's takes several one by one, and
   keeps those that it has while it waits for the next: two of it, or one and
   one of ours, may wait for each other until its deadline.  Whoever comes later
   waits behind it, also for fewer, for which there would be room.  Returns as
   kustos_semaphore_acquire(), and KUSTOS_EINVAL if "count" is less than 1, or
   more than a fixed "max".  One that is more than a shared "max" waits until
   that has grown; but KUSTOS_ELIMIT says at once that one session cannot have so
   many nodes, which are some thousands. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_acquire_many(
	struct kustos_semaphore *sem, int count, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out);

/* The same, and return at once; "granted" tells the end of it.  Returns
   KUSTOS_OK, or why it could not be started, and then "granted" is not
   called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_acquire_many_async(
	struct kustos_semaphore *sem, int count, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_many_fn *granted,
	void *arg);

/* Return one lease of "sem" as something that can be taken together with other
   locks; valid for as long as "sem". */
KUSTOS_API struct kustos_lockable kustos_semaphore_lockable(
	struct kustos_semaphore *sem);

/* Store "data" in the nodes of those who ask from now on, instead of what the
   options said.  Returns KUSTOS_OK, KUSTOS_EINVAL, KUSTOS_ENOMEM or
   KUSTOS_EFORKED. */
KUSTOS_API enum kustos_err kustos_semaphore_set_data(
	struct kustos_semaphore *sem, const void *data, size_t len);

/* Return how many leases there may be: as it is fixed, or as it was last read.
   -1 if it is shared and not known: not read yet, missing, or malformed. */
KUSTOS_API int kustos_semaphore_max(struct kustos_semaphore *sem);

/* Store "max", 0 or more, in the node "max_path", for everybody; make the node,
   and its parents, if it is not there.  Returns KUSTOS_OK; KUSTOS_EINVAL, also
   if the number is fixed; and as kustos_create() and kustos_set(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_set_max(
	struct kustos_semaphore *sem, int max, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The end of that.  Called once. */
typedef void kustos_semaphore_fn(void *arg, enum kustos_err err);

/* The same, and return at once; "done" tells the end of it.  What is under way
   when "sem" is destroyed goes on.  Returns KUSTOS_OK, or why it could not be
   started, and then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_set_max_async(
	struct kustos_semaphore *sem, int max, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_semaphore_fn *done, void *arg);

/* Return 1 if a client was seen that goes by another number than "sem".  Each
   of ours with a fixed number leaves it as text in the node "path", as kazoo
   does, and looks what it finds there; Curator's leave nothing, and are not
   seen.  It is logged once.  A number that was left stays, also when nobody
   goes by it any more: empty the node then. */
KUSTOS_API int kustos_semaphore_disagrees(struct kustos_semaphore *sem);

/*
 * A lock made of a semaphore for one: as Curator's InterProcessSemaphoreMutex,
 * on the same nodes.  It belongs to no thread: any may unlock it, and one that
 * locks it twice waits for itself.  Other mutexes on the same path do not see
 * it, but a semaphore on that path with a "max" of 1 is the same lock: whose
 * kustos_semaphore_lockable() takes it together with others, and whose hold
 * belongs to nobody but who has it.
 */
struct kustos_semaphore_mutex;

/* Make one on "path"; of "options", which may be NULL, "max" and "max_path" do
   not matter.  Sends nothing.  Returns as kustos_semaphore_create(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_mutex_create(
	struct kustos_client *client, const char *path,
	const struct kustos_semaphore_options *options,
	struct kustos_semaphore_mutex **out);

/* Unlock and free "mutex", which may be NULL, before its client is closed.
   Waits for it end with KUSTOS_ECLOSED. */
KUSTOS_API void kustos_semaphore_mutex_destroy(
	struct kustos_semaphore_mutex *mutex);

/* Lock.  Returns as kustos_semaphore_acquire(); and KUSTOS_ELOST if what this
   object had locked was lost, and nobody has unlocked it yet. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_semaphore_mutex_lock(
	struct kustos_semaphore_mutex *mutex, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Unlock, without waiting for the network.  Returns KUSTOS_OK; KUSTOS_ENOTHELD
   if this object is not locked; KUSTOS_ELOST if the lock was lost meanwhile. */
KUSTOS_API enum kustos_err kustos_semaphore_mutex_unlock(
	struct kustos_semaphore_mutex *mutex);

/* Return the hold of this object's lock, NULL if there is none.  It is for
   looking at, and for its callbacks; unlock releases it. */
KUSTOS_API struct kustos_hold *kustos_semaphore_mutex_hold(
	struct kustos_semaphore_mutex *mutex);

KUSTOS_END
#endif
