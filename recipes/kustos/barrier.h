/*
 * kustos/barrier.h - the barrier: wait until somebody removes it; and the
 * double barrier: go in together, and out together.
 * Link with -lkustos-barrier (pkg-config kustos-barrier).
 *
 *	if (kustos_barrier_create(client, "/jobs/paused", NULL, &barrier) ||
 *		kustos_barrier_wait(barrier, kustos_after_ms(60000), NULL))
 *		return 1;
 *	go_on();
 *
 * A barrier is a node: while the node is there callers wait, and when it goes
 * all go on.  Its setter need not stay: the barrier outlives the setter's
 * session.  Curator's DistributedBarrier and kazoo's Barrier use the same node.
 * (A waiter of kazoo's misses the removal of a barrier whose data has changed
 * meanwhile.  No call here changes the data.)
 *
 * A double barrier lets no member in before a given number are there, and no
 * member out before all of them leave:
 *
 *	if (kustos_double_barrier_create(client, "/jobs/step", 8, NULL, &step) ||
 *		kustos_double_barrier_enter(step, KUSTOS_FOREVER, NULL))
 *		return 1;
 *	compute();
 *	if (kustos_double_barrier_leave(step, KUSTOS_FOREVER, NULL))
 *		return 1;
 *
 * Members may also be Curator's DistributedDoubleBarrier and kazoo's
 * DoubleBarrier.
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

	/* Stored in the node.  NULL: the client's default data or, if it has
	   none, nothing. */
	const void *data;
	size_t data_len;
};

#define KUSTOS_BARRIER_OPTIONS_INIT                         \
	{                                                   \
		sizeof(struct kustos_barrier_options), 0, 0 \
	}

/* Make the object of the barrier at the node "path".  Sends nothing.  "options"
   may be NULL for the defaults.  Returns KUSTOS_OK, KUSTOS_EINVAL,
   KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_create(
	struct kustos_client *client, const char *path,
	const struct kustos_barrier_options *options,
	struct kustos_barrier **out);

/* Free "barrier", which may be NULL.  Call this before its client is closed.
   Calls that wait for the barrier end with KUSTOS_ECLOSED.  The node stays as
   it is. */
KUSTOS_API void kustos_barrier_destroy(struct kustos_barrier *barrier);

/* Set the barrier: make the node, and its parents, unless it is there.  The
   node was there at some time between the call and its end.  Returns KUSTOS_OK,
   also if the barrier was set already; and as kustos_create(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_set(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* Remove the barrier, whoever set it: all who wait go on.  Returns KUSTOS_OK,
   also if there is none; KUSTOS_ENOTEMPTY if the node has children; and as
   kustos_delete(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_remove(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, but return at once; "done" receives the outcome.  A call that is
   under way when "barrier" is destroyed goes on.  Return KUSTOS_OK, or the
   reason why it could not be started; then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_set_async(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_remove_async(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg);

/* Wait until there is no barrier.  KUSTOS_NOW: only look.  What a server
   answers after the call decides, not an event: so nobody goes on because the
   connection was lost, or because the node was changed.  But that server may
   lag behind: a barrier that somebody else set a moment ago may be passed.
   kustos_sync() of the path before this call rules that out.  A wait survives
   disconnects and the end of the session.  Any number of threads and callbacks
   may wait with one object; they share one watch.  If a barrier is removed and
   set again at once, some of those who wait may go on waiting.  Returns
   KUSTOS_OK; KUSTOS_EBUSY if the barrier is set and "deadline" is KUSTOS_NOW;
   KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no connection;
   KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; KUSTOS_ENOAUTH if the node may not be
   read; KUSTOS_ECLOSED; KUSTOS_EAUTH; KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_wait(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, but return at once; "done" receives the outcome.  Takes no thread
   while it waits.  Returns KUSTOS_OK, or the reason why it could not be
   started; then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_barrier_wait_async(
	struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg);

/*
 * One member of a double barrier, round after round.
 *
 * While a member is in, its node is below the barrier's node.  The member that
 * completes the round puts the node "ready" beside them, which the last one to
 * leave removes.  A child is not counted unless it is named like a member of
 * ours, of Curator's or of kazoo's.
 *
 * A member whose session ends, in whatever phase, is not waited for any more:
 * the others go on without it.  Members that are in stay in.
 *
 * A "ready" that was left behind by members that died lets no member of ours
 * in; Curator's members pass it, and kazoo's wait for ever.  So the first
 * member of ours that finds itself alone with such a "ready" removes it.
 *
 * No member of ours goes in before all were there, with one exception: a peer
 * writes "ready" late, when members have gone again, and it is deleted before
 * our member can read it, while enough others have come that the round may have
 * met.  (A member of ours may write "ready" late, too, if it is not allowed to
 * read the node of another, or if the members that it counted are more than one
 * request can name, or than the server takes in one.)
 *
 * A member that comes while a round goes on belongs to that round if it brings
 * the number of members that are there to "count".  Otherwise it waits for the
 * next round, and the members of this round do not wait for it when they leave.
 */
struct kustos_double_barrier; /* opaque; lives from _create() to _destroy() */

/* Make a member of the barrier at the node "path".  The node is made, with its
   parents, when it is first needed.  "count" is the number of members that a
   round takes, 1 or more, and the same for all members.  "options" may be NULL
   for the defaults; but if there is no data at all, the nodes of members get
   the local address.  Sends nothing.  Returns KUSTOS_OK, KUSTOS_EINVAL,
   KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_double_barrier_create(
	struct kustos_client *client, const char *path, int count,
	const struct kustos_barrier_options *options,
	struct kustos_double_barrier **out);

/* Free "member", which may be NULL.  Call this before its client is closed.
   Its node is deleted, so nobody waits for it; calls that wait with it end with
   KUSTOS_ECLOSED. */
KUSTOS_API void kustos_double_barrier_destroy(
	struct kustos_double_barrier *member);

/* Come in, and wait until "count" members are in.  KUSTOS_NOW: only if this
   member completes the round.  If the member is in already, it stays in, and
   nothing is sent; if it was, and has lost its session or its node since, it
   comes again.  A wait survives disconnects; if the session ends the wait goes
   on with a new node, for the next round if this round has met without it.  It
   also makes a new node, within a few minutes, if the round may have met during
   a disconnect and "ready" was deleted since (kazoo's members delete it when
   they leave); then those who leave do not wait for this member any more.

   Returns KUSTOS_OK; KUSTOS_EBUSY if the others are not there and "deadline" is
   KUSTOS_NOW, or if this member is entering or leaving already;
   KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; KUSTOS_EDISCONNECTED if "deadline" is
   KUSTOS_NOW and there is no connection; KUSTOS_ECLOSED; KUSTOS_ENOAUTH and the
   like if the member's last node is still there and may not be deleted, so that
   it would be counted twice, or if another member made a "ready" that this one
   may not read (it may find that only after two minutes, for a server sends no
   event of such a node); and what kustos_create(), kustos_children() and
   kustos_set() return.

   If anything but KUSTOS_OK is returned, the member is out and its node is
   being deleted, unless it was in already or another call of it goes on.  A
   member that comes before the deletion is done (kustos_client_flush() waits
   for that) may count the node, and go in.

   Once the member has seen that all are in it returns KUSTOS_OK, even if the
   deadline passes before it could tell the others.  If it then turns out that
   it could not tell them, because one of them had gone, the connection was lost
   or it lacks the right, the member is lost: leave() says so. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_double_barrier_enter(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, but return at once; "done" receives the outcome.  Takes no thread
   while it waits.  Returns KUSTOS_OK, or the reason why it could not be
   started; then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_double_barrier_enter_async(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg);

/* Leave, and wait until all members of the round have left.  KUSTOS_NOW: leave,
   and do not wait for them.  A wait survives disconnects and the end of the
   session.

   Returns KUSTOS_OK; KUSTOS_ENOTHELD if the member is not in; KUSTOS_ELOST if
   it is known by now that its session ended, or somebody deleted its node,
   while it was in, or as soon as it is known that it could not tell the others
   that all were in: they have not waited for it, and it does not wait for them;
   KUSTOS_EBUSY if others are in and "deadline" is KUSTOS_NOW, or if this member
   is entering or leaving already; KUSTOS_ENOAUTH if it may not read the node of
   another, and a newer server (3.9.3) does not tell whether that is there; and
   otherwise as enter().  Whatever is returned, unless another call goes on, the
   member is out, and its node is gone or being deleted; so after KUSTOS_OK it
   may enter the next round. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_double_barrier_leave(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, but return at once; "done" receives the outcome.  Returns
   KUSTOS_OK, or the reason why it could not be started; then "done" is not
   called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_double_barrier_leave_async(
	struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg);

/* Return 1 if "member" is in, as far as is known: it has entered and not left,
   its session has not ended, and nobody is known to have deleted its node,
   which it checks every minute or two. */
KUSTOS_API int kustos_double_barrier_inside(
	struct kustos_double_barrier *member);

KUSTOS_END
#endif
