/*
 * kustos/hold.h - what a recipe has granted: a lock, a lease, leadership.
 * Link with -lkustos (pkg-config kustos).
 *
 *   HELD  <---- in touch again ---->  UNSURE
 *     |                                  |
 *     +--> LOST <--- the lease ran out --+
 *
 * HELD and UNSURE both mean that it is certainly yours, for at least
 * kustos_hold_remaining_ms() more; UNSURE, that the connection is away and
 * time is running out.  LOST is final: another may have it by now.  The state
 * is told by a clock, so it is right even when no server can be reached, and
 * after the whole process was paused.
 *
 * A clock cannot stop a write that is already on its way.  Where the thing
 * that is protected can compare numbers, give it the token: each later holder
 * of the same line has a greater one, but for threads of one process that hand
 * over to each other, and keep it.  Readers' tokens are greater than those of
 * the writers before them, and in no order among themselves.  Where it is kept
 * in ZooKeeper, use kustos_hold_multi().
 *
 * Threads: every call is safe from any thread and any callback; but the caller
 * must see to it that no call on a hold overlaps or follows its release (those
 * of its own callbacks may overlap: release waits for them), or follows the close
 * of its client.  That gives back what was not released, but does not free it.
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

/* The end of an acquire_async(), of whatever recipe.  Called once; "hold" is
   NULL unless "err" is KUSTOS_OK. */
typedef void kustos_granted_fn(void *arg, enum kustos_err err,
	struct kustos_hold *hold);

/* Somebody of this object waits now, with the node "path", and others stand
   before it: kustos_participants() tells who.  Called for each node, so again
   if the session ended meanwhile; not if nobody is there; and, as the others,
   possibly when the wait has ended already. */
typedef void kustos_queued_fn(void *arg, const char *path);

/* The end of a call that asks for several at once.  Called once; "holds" is
   NULL unless "err" is KUSTOS_OK, and gone when this returns, but not the holds
   in it. */
typedef void kustos_granted_many_fn(void *arg, enum kustos_err err,
	struct kustos_hold *const *holds, int count);

/* Return "HELD" and so on; never NULL, never freed. */
KUSTOS_API const char *kustos_hold_state_name(enum kustos_hold_state state);

/* Give it back and free "hold", which may be NULL.  Sends what is needed and
   does not wait: others see it a moment later, whatever happens to the
   connection; unless the client may not delete it, since the ACL of the node that
   it is in forbids that: then it stays in the way until the session ends, which
   the client's log says once.  kustos_client_flush() waits for either.  Returns
   KUSTOS_OK; or
   KUSTOS_ELOST if it had been lost, and then nothing of anybody else's is
   touched. */
KUSTOS_API enum kustos_err kustos_hold_release(struct kustos_hold *hold);

/* Return the state as the clock has it at this instant. */
KUSTOS_API enum kustos_hold_state kustos_hold_state(struct kustos_hold *hold);

/* Return for how many milliseconds it is certainly yours; 0 if it is lost. */
KUSTOS_API int64_t kustos_hold_remaining_ms(struct kustos_hold *hold);

/* Return the fencing token: the czxid of the node; of a reader that was a
   writer, the writer's.  It grows from holder to
   holder, for as long as the ensemble keeps its data. */
KUSTOS_API int64_t kustos_hold_token(const struct kustos_hold *hold);

/* Return the path of the node, as the client knows paths.  Freed with the
   hold. */
KUSTOS_API const char *kustos_hold_path(const struct kustos_hold *hold);

/* Return the hold of one of the locks that were taken together
   (<kustos/lockable.h>), in the order in which they were given: for its token,
   its path, and its callbacks; it is released with the whole.  NULL if there
   are not so many, and of any other hold. */
KUSTOS_API struct kustos_hold *kustos_hold_part(const struct kustos_hold *hold,
	size_t index);

typedef void kustos_hold_fn(void *arg, struct kustos_hold *hold);

/* Have "fn" called once when "hold" is lost, at once if it is lost already. The
   call does not wait for other callbacks that take long, unless nine do
   already.  "fn" may release the hold; it should stop whatever the hold
   protects.  A later call replaces the function; NULL takes it away.  After
   kustos_hold_release() has returned it is not running, unless it is itself the
   caller; if it has not begun by then it is left out, and the release tells.  A
   close of the client with the hold unreleased is a loss, too, and waits for "fn".
   Returns KUSTOS_OK, KUSTOS_EINVAL if "hold" is NULL, or KUSTOS_EFORKED. */
KUSTOS_API enum kustos_err kustos_hold_on_lost(struct kustos_hold *hold,
	kustos_hold_fn *fn, void *arg);

/* Have "fn" called when "before_ms" or less are left, once until more are left
   again: the time to stop in good order.  Returns KUSTOS_OK, KUSTOS_EINVAL if
   "hold" is NULL or "before_ms" is negative, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API enum kustos_err kustos_hold_at_risk(struct kustos_hold *hold,
	int64_t before_ms, kustos_hold_fn *fn, void *arg);

/* Apply all of "ops" if "hold" is still held, in one transaction: the server
   compares, not the clock.  As kustos_multi(), and KUSTOS_ELOST if the node of
   the hold is gone, or the hold is known to be lost, also while this waits to be
   sent.  "results" leaves the check out. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_hold_multi(
	struct kustos_hold *hold, const struct kustos_op *ops, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_op_result *results);

/* The same, and return at once; "done" tells the end of it, as of
   kustos_multi_async().  What is under way when the hold is released goes on, if
   its node is still there when it comes to the server.  Returns KUSTOS_OK, or why
   it could not be started, and then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_hold_multi_async(
	struct kustos_hold *hold, const struct kustos_op *ops, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_done_fn *done, void *arg);

KUSTOS_END
#endif
