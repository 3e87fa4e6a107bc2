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
 * They are taken one after the other in the order of their paths, whatever the
 * order in which they are given: so programs that take several never wait for
 * each other in a circle, as long as each takes all that it needs in one call.
 * (Curator's InterProcessMultiLock takes them in the order in which they are
 * listed; it gets along with ours if that is the same.)  To take N costs what
 * taking each costs, one after the other; to give them back, nothing that is
 * waited for.
 *
 * The hold of all is a hold (<kustos/hold.h>) whose parts are the holds of each.
 * Its state is the worst of theirs, so it is lost as soon as one of them is, and
 * told of once; kustos_hold_multi() checks the nodes of all; its token and path
 * are those of the part whose path is the last in order.
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

/* Something that can be held.  The recipes make them (kustos_mutex_lockable()
   and so on); so may a program, of whatever gives holds, kustos_acquire_all()
   among them.  What it names must stay for as long as it is used and held. */
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
};

/* Wait until all of the "count" are held, and store the hold of them all in
   "*out".  If one cannot be had before "deadline", those that were taken are
   given back.  KUSTOS_NOW: only if all are free.  If one is lost while another
   is waited for, it begins anew.  Returns KUSTOS_OK; KUSTOS_EINVAL, also if
   they are not of one client; KUSTOS_EDEADLK if two have the same path;
   KUSTOS_ELOST if one was lost meanwhile and "deadline" is KUSTOS_NOW;
   KUSTOS_ENOMEM; KUSTOS_EFORKED; and whatever taking one of them returns. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_acquire_all(
	const struct kustos_lockable *what, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out);

/* Ask for all of them and return at once; "granted" tells the end of it, and
   "what" is copied.  Takes no thread while it waits.  "cancel" must stay until
   the end.  Returns KUSTOS_OK, or why it could not be started, and then
   "granted" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_acquire_all_async(
	const struct kustos_lockable *what, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg);

KUSTOS_END
#endif
