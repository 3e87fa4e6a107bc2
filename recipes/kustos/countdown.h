/*
 * kustos/countdown.h - wait until a given number of participants are done.
 * Link with -lkustos-barrier (pkg-config kustos-barrier).
 *
 *	if (kustos_countdown_create(client, "/jobs/42", 8, NULL, &countdown) ||
 *		kustos_countdown_set(countdown, kustos_after_ms(5000), NULL))
 *		return 1;
 *	start_workers();
 *	if (kustos_countdown_wait(countdown, KUSTOS_FOREVER, NULL))
 *		return 1;
 *
 * and each of the workers, when its work is done:
 *
 *	if (kustos_countdown_done(countdown, "worker-3", KUSTOS_FOREVER, NULL))
 *		return 1;
 *
 * A count-down latch.  Each participant counts once, by an id that is its own
 * and that it keeps when it is restarted.  At zero all who wait go on, and
 * callers that come later do not wait.  All that counts is in nodes that
 * outlive all sessions.
 *
 * A participant that joins must count: if its session ends before it has
 * counted, those who wait get KUSTOS_EBROKEN, unless as many as the count are
 * done.
 *
 * A latch is used once: another round needs another path, as a server that lags
 * may show an old zero.
 *
 * Threads: every call is safe from any thread and any callback.
 */
#ifndef KUSTOS_COUNTDOWN_H
#define KUSTOS_COUNTDOWN_H

#include <kustos/base.h>

KUSTOS_BEGIN

struct kustos_countdown; /* opaque; lives from _create() to _destroy() */
struct kustos_client;
struct kustos_cancel;

/* Set by KUSTOS_COUNTDOWN_OPTIONS_INIT, then changed at will.  All is
   copied. */
struct kustos_countdown_options {
	size_t size; /* of this struct, as the program knows it */

	/* Stored in the nodes.  NULL: the client's default data or, if it has
	   none, nothing. */
	const void *data;
	size_t data_len;
};

#define KUSTOS_COUNTDOWN_OPTIONS_INIT                         \
	{                                                     \
		sizeof(struct kustos_countdown_options), 0, 0 \
	}

/* The longest id, in bytes. */
#define KUSTOS_COUNTDOWN_ID_MAX 200

/* Make the object of the latch at the node "path".  "count" is the number of
   participants that must be done; 0: the count that is stored in the latch.
   Sends nothing.  "options" may be NULL for the defaults.  Returns KUSTOS_OK,
   KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_create(
	struct kustos_client *client, const char *path, int count,
	const struct kustos_countdown_options *options,
	struct kustos_countdown **out);

/* Free "countdown", which may be NULL.  Call this before its client is closed.
   Calls that wait for the latch end with KUSTOS_ECLOSED.  A participant that
   joined with this object, and is not done, counts as dead. */
KUSTOS_API void kustos_countdown_destroy(struct kustos_countdown *countdown);

/* Store the object's count in the latch, for those who do not know it.  The
   latch's node and its parents are made.  Returns KUSTOS_OK, also if that count
   is stored already; KUSTOS_EDISAGREE if another is stored; KUSTOS_EINVAL if
   the object's count is 0; and as kustos_create() and kustos_children(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_set(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, but return at once; "done" receives the outcome.  A call that is
   under way when "countdown" is destroyed goes on.  Returns KUSTOS_OK, or the
   reason why it could not be started; then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_set_async(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg);

/* Declare that the participant "id" must count from now on.  "id" is a text of
   1 to KUSTOS_COUNTDOWN_ID_MAX bytes.  The participant is alive as long as the
   session of this object's client, or any other session that joined by this id.
   A participant whose session has ended may join again.  Returns KUSTOS_OK; and
   as kustos_create(), but after KUSTOS_ETIMEDOUT, KUSTOS_ECANCELED,
   KUSTOS_EDISCONNECTED and KUSTOS_EUNKNOWN it may have joined. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_join(
	struct kustos_countdown *countdown, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* Count the participant "id", which is done, whether it joined or not.  It
   counts once, however often this is called, and whoever calls it.  Returns
   KUSTOS_OK, also if it was counted before; and as kustos_create().  After
   KUSTOS_EDISCONNECTED or KUSTOS_EUNKNOWN, with which the client's retry policy
   may end the call before its deadline, call it again. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_done(
	struct kustos_countdown *countdown, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* The same, but return at once; "done" receives the outcome.  A call that is
   under way when "countdown" is destroyed goes on, except that a join ends with
   KUSTOS_ECLOSED.  Return KUSTOS_OK, or the reason why it could not be started;
   then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_join_async(
	struct kustos_countdown *countdown, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_done_async(
	struct kustos_countdown *countdown, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);

/* Wait until as many participants as the count are done.  KUSTOS_NOW: only
   look.  What a server answers after the call decides, not an event.  A wait
   survives disconnects and the end of the session.  Any number of threads and
   callbacks may wait with one object; they share one watch.  If neither the
   object nor the latch has a count, the call waits for that, too.  Returns
   KUSTOS_OK, also if others have died; KUSTOS_EBROKEN if the latch is not at
   zero, and a participant that joined has died and is not done;
   KUSTOS_EDISAGREE if the latch has another count than the object, or two,
   whatever else is true; KUSTOS_EBUSY if the latch is not at zero and
   "deadline" is KUSTOS_NOW; KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW
   and there is no connection; KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED;
   KUSTOS_ENOAUTH if the node may not be read; KUSTOS_ECLOSED; KUSTOS_EAUTH;
   KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_wait(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, but return at once; "done" receives the outcome.  Takes no thread
   while it waits.  Returns KUSTOS_OK, or the reason why it could not be
   started; then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_wait_async(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg);

/* One participant.  May grow at its end. */
struct kustos_countdown_participant {
	const char *id;
	int done;  /* it has counted */
	int must;  /* it has joined */
	int alive; /* and its session has not ended */
};

/* The state of a latch.  May grow at its end. */
struct kustos_countdown_status {
	int count; /* as stored in the latch; 0: none yet, or two numbers */
	size_t done;
	size_t broken; /* participants that have died and are not done */
	size_t participant_count;
	/* By id. */
	const struct kustos_countdown_participant *const *participants;
	int disagree; /* two numbers are stored */
};

/* Look at the state of the latch; free "*out" with the second function, which
   allows NULL.  Returns KUSTOS_OK, KUSTOS_ENONODE, and as kustos_children(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_look(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_countdown_status **out);
KUSTOS_API void kustos_countdown_status_free(
	struct kustos_countdown_status *status);

/* Receives the outcome of a look.  Called once.  "status" is NULL unless "err"
   is KUSTOS_OK, and is valid only during the call. */
typedef void kustos_countdown_look_fn(void *arg, enum kustos_err err,
	const struct kustos_countdown_status *status);

/* Look, but return at once; "done" receives the outcome.  A call that is under
   way when "countdown" is destroyed goes on.  Returns KUSTOS_OK, or the reason
   why it could not be started; then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_look_async(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_countdown_look_fn *done,
	void *arg);

/* Delete all nodes of the latch.  Call this once nobody waits any more: a
   caller that has not seen the zero by then goes on waiting.  All nodes go or
   none, if they are no more than a hundred.  Returns KUSTOS_OK, also if there
   is no latch; KUSTOS_ENOTEMPTY if there is something else below its node, and
   then only the latch's nodes have gone; KUSTOS_EBUSY if others keep changing
   it; and as kustos_children() and kustos_multi().  There is no form with a
   callback: a program with an event loop calls this from another thread. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_remove(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel);

KUSTOS_END
#endif
