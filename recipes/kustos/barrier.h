/*
 * kustos/barrier.h - wait until somebody opens a gate; go in together, and out
 * together.
 * Link with -lkustos-barrier (pkg-config kustos-barrier).
 *
 *	if (kustos_barrier_create(client, "/jobs/paused", NULL, &barrier) ||
 *		kustos_barrier_wait(barrier, kustos_after_ms(60000), NULL))
 *		return 1;
 *	go_on();
 *
 * A barrier is a node: while it is there whoever comes waits, and when it goes
 * all go on.  Who sets it need not stay: the barrier outlives its session.
 * Curator's DistributedBarrier and kazoo's Barrier use the same node.  (A waiter
 * of kazoo's overlooks the removal of a barrier whose data has changed
 * meanwhile.  Nothing here changes it.)
 *
 * A double barrier lets nobody in before so many are there, and nobody out before
 * all of them go:
 *
 *	if (kustos_double_barrier_create(client, "/jobs/step", 8, NULL, &step) ||
 *		kustos_double_barrier_enter(step, KUSTOS_FOREVER, NULL))
 *		return 1;
 *	compute();
 *	if (kustos_double_barrier_leave(step, KUSTOS_FOREVER, NULL))
 *		return 1;
 *
 * Curator's DistributedDoubleBarrier and kazoo's DoubleBarrier are members of it
 * as well.
 *
 * Threads: every call is safe from any thread and any callback.
 */
#ifndef KUSTOS_BARRIER_H
#define KUSTOS_BARRIER_H

#include <kustos/base.h>

KUSTOS_BEGIN

struct kustos_barrier; /* opaque; lives from _create() to _destroy() */
struct kustos_client;
struct kustos_cancel;

/* Set by KUSTOS_BARRIER_OPTIONS_INIT, then changed at will.  All is copied. */
struct kustos_barrier_options {
	size_t size; /* of this struct, as the program knows it */

	/* Stored in the node.  NULL: the client's default data; if it has
	   none, nothing. */
	const void *data;
	size_t data_len;
};

#define KUSTOS_BARRIER_OPTIONS_INIT                         \
	{                                                   \
		sizeof(struct kustos_barrier_options), 0, 0 \
	}

/* The end of what was asked for.  Called once. */
typedef void kustos_barrier_fn(void *arg, enum kustos_err err);

/* Make the object of the barrier at the node "path".  Sends nothing.
   "options" NULL takes the defaults.  Returns KUSTOS_OK, KUSTOS_EINVAL,
   KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_create(
	struct kustos_client *client, const char *path,
	const struct kustos_barrier_options *options,
	struct kustos_barrier **out);

/* Free "barrier", which may be NULL, before its client is closed.  Waits for it
   end with KUSTOS_ECLOSED.  The node stays as it is. */
KUSTOS_API void kustos_barrier_destroy(struct kustos_barrier *barrier);

/* Set it: make the node, and its parents, unless it is there; it was there at
   some time between the call and its end.  Returns KUSTOS_OK, also if somebody
   had set it; and as kustos_create(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_set(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Remove it, whoever set it: all who wait go on.  Returns KUSTOS_OK, also if
   there is none; KUSTOS_ENOTEMPTY if the node has children; and as
   kustos_delete(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_remove(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, and return at once; "done" tells the end of it.  What is under way
   when "barrier" is destroyed goes on.  Return KUSTOS_OK, or why it could not be
   started, and then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_set_async(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_barrier_fn *done, void *arg);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_remove_async(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_barrier_fn *done, void *arg);

/* Wait until there is none.  KUSTOS_NOW: only look.  What counts is what a
   server says after the call, not an event: so nobody goes on because the
   connection was lost, or because the node was changed.  A wait survives
   disconnects and the end of the session.  Any number of threads and callbacks
   may wait with one object, and share one watch.  A barrier that was removed
   and set again at once may keep some of those who wait.  Returns KUSTOS_OK;
   KUSTOS_EBUSY if it is set and "deadline" is KUSTOS_NOW; KUSTOS_EDISCONNECTED
   if "deadline" is KUSTOS_NOW and there is no connection; KUSTOS_ETIMEDOUT;
   KUSTOS_ECANCELED; KUSTOS_ENOAUTH if the node may not be read; KUSTOS_ECLOSED;
   KUSTOS_EAUTH; KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_wait(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, and return at once; "done" tells the end of it.  Takes no thread
   while it waits.  Returns KUSTOS_OK, or why it could not be started, and then
   "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_wait_async(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_barrier_fn *done, void *arg);

/*
 * One member of a double barrier, round after round.
 *
 * Its node is below the barrier's, for as long as it is in; beside it the member
 * that completes the round puts the node "ready", which the last one to leave
 * removes.  What is named otherwise than a member of ours, of Curator's or of
 * kazoo's is not counted.
 *
 * A member whose session ends, in whatever phase, is not waited for any more:
 * the others go on without it.  Those who are in stay in.
 *
 * A "ready" that was left behind, by members that died, lets nobody of ours in;
 * Curator's members pass it, and kazoo's wait for ever.  So the first of ours
 * that finds itself alone with it removes it.
 *
 * None of ours goes in before all were there, but for one case: a peer writes "ready"
 * late, when members have gone again, and it is deleted before ours can read it, while so
 * many others have come that the round may have met.  (So may one of ours that is not
 * allowed to read the node of another, or where those who are counted are more than one
 * request can name, or than the server takes in one.)
 *
 * Who comes while a round goes on is of it if that makes so many members that are
 * there.  Else it waits for the next, and those of this round do not wait for it
 * when they leave.
 */
struct kustos_double_barrier; /* opaque; lives from _create() to _destroy() */

/* Make a member of the barrier at the node "path", which is made, with its
   parents, when it is first needed.  "count" is how many it takes, 1 or more,
   and the same for all.  "options" NULL takes the defaults, but without any data
   the nodes get the local address.  Sends nothing.  Returns KUSTOS_OK,
   KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_double_barrier_create(
	struct kustos_client *client, const char *path, int count,
	const struct kustos_barrier_options *options,
	struct kustos_double_barrier **out);

/* Free "member", which may be NULL, before its client is closed.  Its node goes,
   so nobody waits for it; who waits with it is told KUSTOS_ECLOSED. */
KUSTOS_API void kustos_double_barrier_destroy(
	struct kustos_double_barrier *member);

/* Come, and wait until so many are in.  KUSTOS_NOW: only if this one completes
   them.  A wait survives disconnects; if the session ends it goes on with a new
   node, and waits for the next round if this one has met without it.  So it does, in
   a few minutes, if it may have met during a disconnect, and "ready" was deleted since,
   as kazoo's members do who leave: those who leave do not wait for it any more.  Who is
   in already stays in, and nothing is sent; who was, and has lost its session or its node
   since, comes again.  Returns KUSTOS_OK; KUSTOS_EBUSY if the others are not there and
   "deadline" is KUSTOS_NOW, or if this member enters or leaves already; KUSTOS_ETIMEDOUT;
   KUSTOS_ECANCELED; KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no
   connection; KUSTOS_ECLOSED; KUSTOS_ENOAUTH and the like if its last node may not be
   deleted, and is there, beside which it would be counted twice, or if another made a
   "ready" that this one may not read (it may find that only after two minutes, for
   a server does not tell of such a node); and what kustos_create(), kustos_children() and
   kustos_set() return.  Whatever it returns but KUSTOS_OK, it is out, unless it was in
   or another call goes on, and its node is being deleted: who comes before that is done
   (kustos_client_flush()) may count it, and go in.
   Once it has seen that all are in it returns KUSTOS_OK, even if the deadline passes
   before it could tell them; if then it turns out that it could not, for one of them had
   gone, the connection was lost or it may not, it is lost: leave() says so. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_double_barrier_enter(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, and return at once; "done" tells the end of it.  Takes no thread
   while it waits.  Returns KUSTOS_OK, or why it could not be started, and then
   "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_double_barrier_enter_async(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_barrier_fn *done, void *arg);

/* Go, and wait until all of the round have gone.  KUSTOS_NOW: go, and do not wait
   for them.  A wait survives disconnects and the end of the session.  Returns
   KUSTOS_OK; KUSTOS_ENOTHELD if it is not in; KUSTOS_ELOST if it is known by now
   that its session ended, or somebody deleted its node, while it was in, or once it
   is known that it could not tell the others that all were in: they have not waited
   for it, and it does not wait for them; KUSTOS_EBUSY if others are
   in and "deadline" is KUSTOS_NOW, or if this member enters or leaves already;
   KUSTOS_ENOAUTH if it may not read the node of another, and a newer server (3.9.3)
   does not tell whether that is there; and else as enter().
   Whatever it returns, unless another call goes on, it is out, and its node is gone or
   being deleted; so after KUSTOS_OK it may enter the next round. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_double_barrier_leave(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, and return at once; "done" tells the end of it.  Returns KUSTOS_OK,
   or why it could not be started, and then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_double_barrier_leave_async(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_barrier_fn *done, void *arg);

/* Return 1 if "member" is in, as far as is known: it has entered and not left,
   its session has not ended, and nobody was seen to have deleted its node, after
   which it looks every minute or two. */
KUSTOS_API int kustos_double_barrier_inside(
	struct kustos_double_barrier *member);

KUSTOS_END
#endif
