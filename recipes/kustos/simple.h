/*
 * kustos/simple.h - the simple lock: one node, and whoever makes it has it.
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
 * a program would make with any ZooKeeper client, so everything that creates
 * the node or finds it there takes part.  To take it needs one round trip.  It
 * differs from the mutex (<kustos/mutex.h>), which is the better choice if
 * anybody waits for long:
 *
 * - It is not fair.  Nobody has a place: when the node goes all who wait try to
 *   make it, and who comes just then has it as soon as they.  Who takes it again
 *   right after giving it back is nearly always the first.
 * - All who wait are woken by each release.  With N of them (processes, or
 *   objects; not the threads of one object) it costs one read each, and as many
 *   tries to make the node, which are writes, the first time.  Who has been
 *   beaten waits a little at random from then on, 17 ms at the most, and reads
 *   before it tries; that leaves a few tries in all.
 * - Names do not tell nodes apart.  If somebody deletes the node of a holder by
 *   hand, another has it, and for as long as the news is on its way the first
 *   one's kustos_hold_multi() succeeds, and its release takes the other's node
 *   away.  The end of a session has no such gap.
 *
 * Inside a process the threads and callbacks that use one object line up before
 * it, as they do before a mutex, and hand over to each other.  Holds are those
 * of <kustos/hold.h>; tokens grow from holder to holder.  Who holds it, with its
 * data, kustos_participants() tells; who waits cannot be seen.
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
	   other, and not for longer than 50 ms, before the node is given up.
	   Such a hand-over keeps the node and its token.  Default 32. */
	int local_handoffs;

	/* Stored in the node.  NULL: the client's default data; if it has
	   none, the local address. */
	const void *data;
	size_t data_len;

	/* Not 0: store who holds instead, as JSON: host, pid, program, since
	   when it waits, and "reason" (which may be NULL). */
	int holder_record;
	const char *reason;

	/* Not 0: unlock waits until the server has confirmed it, or until the
	   session is over. */
	int unlock_waits;
};

#define KUSTOS_SIMPLE_OPTIONS_INIT                                      \
	{                                                               \
		sizeof(struct kustos_simple_options), 32, 0, 0, 0, 0, 0 \
	}

/* Make a simple lock on the node "path", whose parents are made when they are
   first needed.  "options" NULL takes the defaults.  Sends nothing.  Returns
   KUSTOS_OK, KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_simple_create(
	struct kustos_client *client, const char *path,
	const struct kustos_simple_options *options,
	struct kustos_simple **out);

/* Free "lock", which may be NULL, before its client is closed.  Waits for it
   end with KUSTOS_ECLOSED.  Holds stay what they are until they are released;
   what lock() holds is released. */
KUSTOS_API void kustos_simple_destroy(struct kustos_simple *lock);

/* Wait for a hold, which any thread may release.  KUSTOS_NOW: only if it is
   free.  A wait survives disconnects and the end of the session.  Returns
   KUSTOS_OK; KUSTOS_EBUSY if it is another's and "deadline" is KUSTOS_NOW;
   KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; KUSTOS_EEXISTS if a node is there that is
   no session's, and so would stay (but KUSTOS_EBUSY if "deadline" is KUSTOS_NOW);
   KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no connection; and
   what kustos_create() returns.
   Whatever it returns but KUSTOS_OK, nothing of it stays on the server. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_simple_acquire(
	struct kustos_simple *lock, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out);

/* Ask for a hold and return at once; "granted" tells the end of it.  Takes no
   thread while it waits.  Returns KUSTOS_OK, or why it could not be started,
   and then "granted" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_simple_acquire_async(
	struct kustos_simple *lock, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg);

/* Lock for this thread, waiting until "deadline".  A thread that holds it
   already holds it once more, and nothing is sent.  Returns as
   kustos_simple_acquire(); and KUSTOS_ELOST if this thread holds it but has
   lost it, and then it must unlock first. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_simple_lock(
	struct kustos_simple *lock, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Undo one lock of this thread.  The last one gives it back, without waiting
   for the network.  Returns KUSTOS_OK; KUSTOS_ENOTHELD if this thread does not
   hold it, and nothing happens; KUSTOS_ELOST if it was lost meanwhile, at each
   level; or, if it waits, KUSTOS_ECLOSED, or
   KUSTOS_ENOAUTH and the like if the node may not be deleted, and stays in the way
   until the session ends.  It is unlocked then, too. */
KUSTOS_API enum kustos_err kustos_simple_unlock(struct kustos_simple *lock);

/* Return the hold of this thread's lock(), NULL if there is none.  It is for
   looking at, and for its callbacks; unlock releases it. */
KUSTOS_API struct kustos_hold *kustos_simple_hold(struct kustos_simple *lock);

/* Return the fencing token of this thread's lock, or 0 if it has none or has
   lost it. */
KUSTOS_API int64_t kustos_simple_fence(struct kustos_simple *lock);

/* Describe it for kustos_acquire_all(). */
KUSTOS_API struct kustos_lockable kustos_simple_lockable(
	struct kustos_simple *lock);

KUSTOS_END
#endif
