/*
 * wait.h - how a caller waits for the decision of a recipe, or for the result
 * of an operation: as a blocked thread, or with a callback.
 *
 * The recipe starts something, and ends the wait when that is decided.  A
 * deadline that passes, a cancel object that fires and a client that is closed
 * ask the recipe to give up; it then undoes what it started, and ends the wait
 * with the reason that it was given.
 */
#ifndef KU_WAIT_H
#define KU_WAIT_H

#include "cancel.h"
#include "dispatch.h"
#include "timer.h"
#include "waker.h"

#include <kustos/base.h>
#include <stdbool.h>

struct kustos_client;
struct ku_wait;

struct ku_wait_calls {
	/* Begin.  Locked.  May end the wait.  Not KUSTOS_OK: it did not
	   begin. */
	enum kustos_err (*start)(struct ku_wait *wait);

	/* Undo what was started, and end the wait with "why".  Locked. */
	void (*give_up)(struct ku_wait *wait, enum kustos_err why);

	/* It has ended: run the program's callback, and free what holds the
	   wait, unless call.fn does.  Not locked. */
	void (*tell)(struct ku_wait *wait);

	/* If the deadline is KUSTOS_NOW, it does not begin without a
	   connection, and is given up when that is lost. */
	bool connected;
};

struct ku_wait { /* a field of whatever waits; zero before its use */
	struct kustos_client *client;
	const struct ku_wait_calls *calls;
	bool started, over, canceled;
	bool once; /* the deadline is KUSTOS_NOW: the recipe must not wait */
	bool unlisted; /* what is waited for handles a close, and refused
			  credentials, itself */
	enum kustos_err err;
	struct ku_wait *prev, *next; /* of those that are listed */
	struct ku_cancel_link cancel;
	struct ku_waker *waker; /* a thread waits, or has waited */
	struct ku_call call;	/* without a thread; "fn" may be set beforehand
				 to one that begins with ku_wait_tell() */
	struct ku_timer deadline;
	kustos_deadline until;
};

/* Start, and wait for the end.  KUSTOS_NOW sets no limit here: the recipe must
   see to it that it does not wait.  The client is not locked. */
enum kustos_err ku_wait_block(struct ku_wait *wait, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, but the client is not freed before ku_wait_leave(), which is called
   even if this fails, and with the client locked. */
enum kustos_err ku_wait_stay(struct ku_wait *wait, kustos_deadline deadline,
	struct kustos_cancel *cancel);
void ku_wait_leave(struct ku_wait *wait);

/* Start; "tell" is called after the end, but not if this returns an error.  The
   client is not locked. */
enum kustos_err ku_wait_async(struct ku_wait *wait, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The wait has been decided: end it, unless that was done.  Locked. */
void ku_wait_end(struct ku_wait *wait, enum kustos_err err);

/* Call "tell".  Locked before and after, but not meanwhile.  The wait may be
   gone then. */
void ku_wait_tell(struct kustos_client *client, struct ku_call *call);

/* Give up all of a client's waits that are listed; those that need a
   connection. */
void ku_waits_fail(struct kustos_client *client, enum kustos_err why);
void ku_waits_away(struct kustos_client *client);

#endif
