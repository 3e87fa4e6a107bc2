/*
 * kustos/countdown.h - wait until so many have said that they are done.
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
 * and that it keeps when it is started again; at zero all who wait go on, and
 * who comes later does not wait.  Everything stands in nodes that outlive all
 * sessions.
 *
 * A participant that joins is one that must count: if its session ends before it
 * has, who waits is told KUSTOS_EBROKEN.
 *
 * A latch is for one time: another round takes another path.
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

/* Set by KUSTOS_COUNTDOWN_OPTIONS_INIT, then changed at will.  All is copied. */
struct kustos_countdown_options {
	size_t size; /* of this struct, as the program knows it */

	/* Stored in the nodes.  NULL: the client's default data; if it has
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

/* The end of what was asked for.  Called once. */
typedef void kustos_countdown_fn(void *arg, enum kustos_err err);

/* Make the object of the latch at the node "path".  "count" is how many have to
   be done; 0: as many as the latch says.  Sends nothing.  "options" NULL takes
   the defaults.  Returns KUSTOS_OK, KUSTOS_EINVAL, KUSTOS_ENOMEM or
   KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_create(
	struct kustos_client *client, const char *path, int count,
	const struct kustos_countdown_options *options,
	struct kustos_countdown **out);

/* Free "countdown", which may be NULL, before its client is closed.  Waits for
   it end with KUSTOS_ECLOSED; a participant that joined with it, and is not
   done, counts as dead. */
KUSTOS_API void kustos_countdown_destroy(struct kustos_countdown *countdown);

/* Have the latch say its count, for those who do not know it; its node and the
   parents are made.  Returns KUSTOS_OK, also if it says that already;
   KUSTOS_EDISAGREE if it says another; KUSTOS_EINVAL if the object's count is 0;
   and as kustos_create() and kustos_children(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_set(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, and return at once; "done" tells the end of it.  What is under way
   when "countdown" is destroyed goes on.  Returns KUSTOS_OK, or why it could not
   be started, and then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_set_async(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_countdown_fn *done, void *arg);

/* The participant "id" must count, from now on.  "id" is a text of 1 to
   KUSTOS_COUNTDOWN_ID_MAX bytes.  It is alive as long as the session of this
   object's client, or of any other that joined by this id; one whose session has
   ended may join again.  Returns KUSTOS_OK; and as kustos_create(), but after
   KUSTOS_ETIMEDOUT, KUSTOS_ECANCELED and KUSTOS_EDISCONNECTED it may have
   joined. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_join(
	struct kustos_countdown *countdown, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* The participant "id", whether it joined or not, is done.  Counts once, however
   often it is called and whoever calls it.  Returns KUSTOS_OK, also if it was
   counted before; and as kustos_create(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_done(
	struct kustos_countdown *countdown, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* The same, and return at once; "done" tells the end of it.  What is under way
   when "countdown" is destroyed goes on, but nobody joins any more:
   KUSTOS_ECLOSED.  Return KUSTOS_OK, or why it could not be started, and then
   "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_join_async(
	struct kustos_countdown *countdown, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_countdown_fn *done, void *arg);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_done_async(
	struct kustos_countdown *countdown, const char *id,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_countdown_fn *done, void *arg);

/* Wait until so many are done.  KUSTOS_NOW: only look.  What counts is what a
   server says after the call, not an event.  A wait survives disconnects and the
   end of the session.  Any number of threads and callbacks may wait with one
   object, and share one watch.  Where neither the object nor the latch says a
   count, it is waited for.  Returns KUSTOS_OK; KUSTOS_EBROKEN if one that joined
   has died and is not done; KUSTOS_EDISAGREE if the latch says another count
   than the object, or two; KUSTOS_EBUSY if it is not zero and "deadline" is
   KUSTOS_NOW; KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no
   connection; KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; KUSTOS_ENOAUTH if the node may
   not be read; KUSTOS_ECLOSED; KUSTOS_EAUTH; KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_wait(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, and return at once; "done" tells the end of it.  Takes no thread
   while it waits.  Returns KUSTOS_OK, or why it could not be started, and then
   "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_wait_async(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_countdown_fn *done, void *arg);

/* One participant. */
struct kustos_countdown_participant {
	const char *id;
	int done;  /* it has counted */
	int must;  /* it has joined */
	int alive; /* and its session has not ended */
};

/* What a latch is like. */
struct kustos_countdown_status {
	int count; /* as the latch says; 0: nothing yet, or two numbers */
	size_t done;
	size_t broken; /* participants that have died and are not done */
	size_t participant_count;
	const struct kustos_countdown_participant *participants; /* by id */
	int disagree; /* it says two numbers */
};

/* Look what it is like; free "*out" with the second.  NULL is allowed there.
   Returns KUSTOS_OK, KUSTOS_ENONODE, and as kustos_children(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_look(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_countdown_status **out);
KUSTOS_API void kustos_countdown_status_free(
	struct kustos_countdown_status *status);

/* The end of a look.  Called once; "status" is NULL unless "err" is KUSTOS_OK,
   and gone when this returns. */
typedef void kustos_countdown_look_fn(void *arg, enum kustos_err err,
	const struct kustos_countdown_status *status);

/* Look, and return at once.  What is under way when "countdown" is destroyed goes
   on.  Returns KUSTOS_OK, or why it could not be started, and then "done" is not
   called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_look_async(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_countdown_look_fn *done,
	void *arg);

/* Delete all of it, once nobody waits any more: who has not seen the zero then
   waits on.  All of it goes, or nothing, if it is no more than a hundred nodes.
   Returns KUSTOS_OK, also if there is nothing; KUSTOS_ENOTEMPTY if there is
   something else below its node, and what is the latch's has gone; KUSTOS_EBUSY if
   others change it all the time; and as kustos_children() and kustos_multi().
   There is no form with a callback: an event loop calls it from a thread of its
   own. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_countdown_remove(
	struct kustos_countdown *countdown, kustos_deadline deadline,
	struct kustos_cancel *cancel);

KUSTOS_END
#endif
