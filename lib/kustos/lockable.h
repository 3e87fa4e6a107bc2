/*
 * kustos/lockable.h - several locks taken together: all, or none.
 * Link with -lkustos (pkg-config kustos).
 *
 *	struct kustos_lockable both[] = {
 *		kustos_mutex_lockable(from),
 *		kustos_rwlock_lockable(to, KUSTOS_WRITE),
 *	};
 *	if (kustos_acquire_all(both, 2, kustos_after_ms(2000), NULL, &hold) ==
 *		KUSTOS_OK) {
 *		move_money(kustos_hold_token(kustos_hold_part(hold, 0)));
 *		kustos_hold_release(hold);
 *	}
 *
 * The locks are taken in the order of their paths, whatever the order in which
 * they are listed.  Therefore programs that take several locks do not wait for
 * each other in a circle, as long as each takes all that it needs in one call.
 * (Curator's InterProcessMultiLock takes its locks in the order of its list; it
 * can be used together with this if that order is the same.)  The cost is that
 * of taking the locks one after the other; giving them back waits for nothing.
 *
 * The hold of all is a hold like any other (<kustos/hold.h>); its parts are the
 * holds of the locks.  Its state is the worst of the states of its parts: it is
 * lost when the first of them is lost, and that is reported once.  The states
 * of the parts tell which of them was lost.  kustos_hold_multi() checks the
 * nodes of all parts.  Its token and its path are those of the part whose path
 * is the last in order.  A part cannot be released by itself.  The callback for
 * requests to give a lock back (on_revoke in the options of a lock) gets the
 * part of that lock, also while others of the locks are still waited for: who
 * obliges releases the whole, or cancels the wait.
 *
 * Threads: every call is safe from any thread and any callback.
 */
#ifndef KUSTOS_LOCKABLE_H
#define KUSTOS_LOCKABLE_H

#include <kustos/base.h>
#include <kustos/hold.h>

KUSTOS_BEGIN

struct kustos_client;
struct kustos_cancel;

/* Something that can be held.  The recipes describe their locks so
   (kustos_mutex_lockable() and so on).  A program may describe anything else
   that grants holds, including kustos_acquire_all() itself.  What it names must
   exist for as long as it is used and held.  What is not set must be 0. */
struct kustos_lockable {
	struct kustos_client *client;
	const char *path; /* its place in the order */
	void *object;	  /* the first argument of the functions */

	/* Wait for a hold of "client": as kustos_mutex_acquire() and
	   kustos_mutex_acquire_async(). */
	enum kustos_err (*acquire)(void *object, kustos_deadline deadline,
		struct kustos_cancel *cancel, struct kustos_hold **out);
	enum kustos_err (*acquire_async)(void *object, kustos_deadline deadline,
		struct kustos_cancel *cancel, kustos_granted_fn *granted,
		void *arg);

	const void *reserved; /* NULL */
};

/* Wait until all "count" locks that "what" describes are held, and store one
   hold of them all in "*out".  If one is not granted before "deadline", those
   that were taken are given back.  KUSTOS_NOW: only if all are free.  If a lock
   that was taken is lost while another is waited for, all are given back and
   taken again.  What this thread has locked already is waited for, too: with
   the write side of a lock whose read side it has locked, it waits for itself.
   Returns KUSTOS_OK; KUSTOS_EINVAL, also if they are not of one client;
   KUSTOS_EDEADLK if two have the same path; KUSTOS_ELOST if one was lost
   meanwhile and "deadline" is KUSTOS_NOW; KUSTOS_ENOMEM; KUSTOS_EFORKED; and
   whatever taking one of them returns. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_acquire_all(
	const struct kustos_lockable *what, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out);

/* Ask for all of them and return at once; "granted" receives the outcome, and
   "what" is copied.  Takes no thread while it waits.  "cancel" must exist until
   the end.  Returns KUSTOS_OK, or the reason why it could not be started; then
   "granted" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_acquire_all_async(
	const struct kustos_lockable *what, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg);

KUSTOS_END
#endif
