/*
 * kustos/hold.h - what a recipe has granted: a lock, a lease, leadership.
 * Link with -lkustos (pkg-config kustos).
 *
 *   HELD  <---- in touch again ---->  UNSURE
 *     |                                  |
 *     +--> LOST <--- the lease ran out --+
 *
 * HELD and UNSURE both mean that the hold is certainly yours, for at least
 * kustos_hold_remaining_ms() more.  UNSURE means that the connection is away
 * and time is running out.  LOST is final: another may have it by now.  A clock
 * decides the state, so it is right even when no server can be reached, and
 * after the whole process was paused.
 *
 * A clock cannot stop a write that is already on its way.  If the resource that
 * is protected can compare numbers, give it the token: each later holder of the
 * same line has a greater one, except that threads of one process that hand
 * over to each other keep it.  Readers' tokens are greater than those of the
 * writers before them, and in no order among themselves.  If the resource is in
 * ZooKeeper, use kustos_hold_multi().
 *
 * Threads: every call is safe from any thread and any callback; but the caller
 * must ensure that no call on a hold overlaps or follows its release (calls in
 * the hold's own callbacks may overlap: release waits for them), or follows the
 * close of its client.  The close gives unreleased holds back, but does not
 * free them.
 */
#ifndef KUSTOS_HOLD_H
#define KUSTOS_HOLD_H

#include <kustos/base.h>
#include <kustos/node.h>

KUSTOS_BEGIN

struct kustos_hold; /* opaque; lives from its grant to _release() */
struct kustos_cancel;

enum kustos_hold_state {
	KUSTOS_HOLD_HELD = 0,
	KUSTOS_HOLD_UNSURE = 1,
	KUSTOS_HOLD_LOST = 2
};

/* Receives the outcome of an acquire_async(), of whatever recipe.  Called once;
   "hold" is NULL unless "err" is KUSTOS_OK. */
typedef void kustos_granted_fn(void *arg, enum kustos_err err,
	struct kustos_hold *hold);

/* Called when a wait of this object has the node "path" in the line, and others
   stand before it: kustos_participants() lists them.  Called for each node, so
   again if the session ended meanwhile.  Not called if nobody is before it.
   Like other callbacks, it may run when the wait has ended already. */
typedef void kustos_queued_fn(void *arg, const char *path);

/* Receives the outcome of a call that asks for several holds at once.  Called
   once; "holds" is NULL unless "err" is KUSTOS_OK.  The array is gone when this
   returns, but not the holds in it. */
typedef void kustos_granted_many_fn(void *arg, enum kustos_err err,
	struct kustos_hold *const *holds, int count);

/* Return "HELD" and so on; never NULL, never freed. */
KUSTOS_API const char *kustos_hold_state_name(enum kustos_hold_state state);

/* Give the hold back and free "hold", which may be NULL.  Sends what is needed
   and does not wait: others see the release a moment later, or as soon as there
   is a connection again.  If there is none before the session is over, nothing
   is sent: the server removes the node when it ends the session by its own
   timeout.  (If no server was running meanwhile, that may be up to the session
   timeout after they run again.)  If the ACL of the node's parent forbids this
   client to delete the node, the node stays in everybody's way, including this
   client's, until the session ends; the client's log says so once.
   kustos_client_flush() waits until the node was deleted or that was refused.
   Returns KUSTOS_OK; KUSTOS_ELOST if the hold had been lost, and then no node
   of anybody else is touched; or KUSTOS_EINVAL, and nothing happens, if
   something else releases the hold: a part of several is released with the
   whole, and while the others are still waited for it goes if that wait is
   cancelled; the hold of a thread's lock() is released by unlock().  Three
   others are not refused, but are not the program's to release either: that of
   kustos_semaphore_mutex_lock(), which its unlock() releases; that of a term,
   which its latch or selector releases; and that of a claim, which ends with
   the claim. */
KUSTOS_API enum kustos_err kustos_hold_release(struct kustos_hold *hold);

/* Return the state at this instant, as the clock decides it. */
KUSTOS_API enum kustos_hold_state kustos_hold_state(struct kustos_hold *hold);

/* Return for how many milliseconds the hold is certainly yours; 0 if it is
   lost. */
KUSTOS_API int64_t kustos_hold_remaining_ms(struct kustos_hold *hold);

/* Return the fencing token: the czxid of the node; for a reader that was a
   writer, the writer's token.  It grows from holder to holder, for as long as
   the ensemble keeps its data. */
KUSTOS_API int64_t kustos_hold_token(const struct kustos_hold *hold);

/* Return the path of the node, as the client knows paths.  Freed with the
   hold. */
KUSTOS_API const char *kustos_hold_path(const struct kustos_hold *hold);

/* Return the hold of one of several locks that were taken together
   (<kustos/lockable.h>), counted in the order in which they were given.  Use it
   for its token, its path, its state and its callbacks; it is released with the
   whole.  NULL if there are not so many, and for any other hold. */
KUSTOS_API struct kustos_hold *kustos_hold_part(const struct kustos_hold *hold,
	size_t index);

typedef void kustos_hold_fn(void *arg, struct kustos_hold *hold);

/* Have "fn" called once when "hold" is lost, or at once if it is lost already.
   "fn" is called without waiting for other callbacks that take long, unless
   nine of these are running.  It may release the hold, and should stop whatever
   the hold protects.  A later call replaces the function; NULL removes it.
   After kustos_hold_release() has returned "fn" is not running, unless it is
   itself the caller; if it has not begun by then it is not called, and the
   release reports the loss.  Closing the client before the hold is released is
   a loss, too, and waits for "fn".  Returns KUSTOS_OK, KUSTOS_EINVAL if "hold"
   is NULL, or KUSTOS_EFORKED. */
KUSTOS_API enum kustos_err kustos_hold_on_lost(struct kustos_hold *hold,
	kustos_hold_fn *fn, void *arg);

/* Have "fn" called when "before_ms" milliseconds or less are left, once until
   more are left again: the time to stop in good order.  Returns KUSTOS_OK,
   KUSTOS_EINVAL if "hold" is NULL or "before_ms" is negative, or
   KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_hold_at_risk(
	struct kustos_hold *hold, int64_t before_ms, kustos_hold_fn *fn,
	void *arg);

/* Apply all of "ops" if "hold" is still held, in one transaction: the server
   compares, not the clock.  Returns as kustos_multi(), and KUSTOS_ELOST if the
   node of the hold is gone, or the hold is known to be lost, also while this
   waits to be sent.  "results" has no entry for the check. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_hold_multi(
	struct kustos_hold *hold, const struct kustos_op *ops, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_op_result *results);

/* The same, but return at once; "done" receives the outcome, as for
   kustos_multi_async().  A call that is under way when the hold is released
   goes on, if the hold's node is still there when the request reaches the
   server.  Returns KUSTOS_OK, or the reason why it could not be started; then
   "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_hold_multi_async(
	struct kustos_hold *hold, const struct kustos_op *ops, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg);

KUSTOS_END
#endif
