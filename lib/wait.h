/*
 * wait.h - how a caller waits for what a recipe will decide, or for what an
 * operation will bring: as a thread, or with a callback.
 *
 * The recipe starts something, and ends the wait when it is decided.  A
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

/* Told of the end, and of nothing else. */
typedef void ku_end_fn(void *arg, enum kustos_err err);

struct ku_wait_calls {
	/* Begin.  Locked.  Not KUSTOS_OK: it did not begin.  May end it. */
	enum kustos_err (*start)(struct ku_wait *wait);

	/* Undo it, and end it with "why".  Locked. */
	void (*give_up)(struct ku_wait *wait, enum kustos_err why);

	/* It has ended: run the program's callback, and free what holds the
	   wait, unless call.fn does.  Not locked. */
	void (*tell)(struct ku_wait *wait);
};

struct ku_wait { /* a field of whatever waits; zero before its use */
	struct kustos_client *client;
	const struct ku_wait_calls *calls;
	bool started, over, canceled;
	bool unlisted; /* what is waited for hears of a close, and of refused
			  credentials, by itself */
	enum kustos_err err;
	struct ku_wait *prev, *next; /* all of the client's that are listed */
	struct ku_cancel_link cancel;
	struct ku_waker *waker; /* a thread waits, or has waited */
	struct ku_call call;	/* else; "fn" may be set beforehand to one that
				 begins with ku_wait_tell() */
	struct ku_timer deadline;
	kustos_deadline until;
};

/* Start, and wait for the end.  KUSTOS_NOW sets no limit: it is up to the
   recipe not to wait.  The client is not locked. */
enum kustos_err ku_wait_block(struct ku_wait *wait, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* The same, but the client is not freed before ku_wait_leave(), which is called
   even if this fails, and with the client locked. */
enum kustos_err ku_wait_stay(struct ku_wait *wait, kustos_deadline deadline,
	struct kustos_cancel *cancel);
void ku_wait_leave(struct ku_wait *wait);

/* Start; "tell" follows the end.  If this does not return KUSTOS_OK, it does
   not.  The client is not locked. */
enum kustos_err ku_wait_async(struct ku_wait *wait, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/* It has been decided.  Locked. */
void ku_wait_end(struct ku_wait *wait, enum kustos_err err);

/* Tell of the end.  Locked, and unlocked meanwhile.  "wait" may be gone then. */
void ku_wait_tell(struct kustos_client *client, struct ku_call *call);

/* Give all of a client's waits up that are listed. */
void ku_waits_fail(struct kustos_client *client, enum kustos_err why);

#endif
