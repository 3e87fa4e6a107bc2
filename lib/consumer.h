/*
 * consumer.h - a thread that waits for something again and again, and deals with
 * it.
 *
 * Not called with the client locked.
 */
#ifndef KU_CONSUMER_H
#define KU_CONSUMER_H

#include "service.h"

#include <kustos/consumer.h>

struct kustos_cancel;
struct kustos_client;

struct ku_consumer_calls {
	/* Wait for something, until "cancel" fires. */
	enum kustos_err (*have)(void *owner, struct kustos_cancel *cancel);

	/* It is stopped.  Return KUSTOS_OK if there is something all the same,
	   which was had while it was.  NULL: there never is. */
	enum kustos_err (*have_last)(void *owner);

	/* Deal with it. */
	void (*deal)(void *owner);

	/* It could not be had. */
	void (*failed)(void *owner, enum kustos_err err);

	/* It has ended. */
	void (*over)(void *owner);
};

/* Start one.  "leaving" counts those, of what it consumes, that were stopped by
   their own calls and have not ended; it is 0 in the beginning, and guarded by the
   client's lock.  Returns KUSTOS_OK; KUSTOS_ENOMEM; or KUSTOS_EUNSUPPORTED without
   threads. */
KU_SERVICE enum kustos_err ku_consumer_start(struct kustos_client *client,
	const struct ku_consumer_calls *calls, void *owner, int *leaving,
	struct kustos_consumer **out);

/* What they consume is about to go: wait until they have ended, and then call
   "end" with it.  A close waits for that, too. */
KU_SERVICE void ku_consumer_wait(struct kustos_client *client,
	const int *leaving, void (*end)(void *what), void *what);

#endif
