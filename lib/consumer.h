/*
 * consumer.h - a thread that waits for an item again and again, and deals with
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
	/* Wait for an item, until "cancel" fires. */
	enum kustos_err (*have)(void *owner, struct kustos_cancel *cancel);

	/* The consumer is stopped.  Return KUSTOS_OK if there is an item all
	   the same, which was taken while it was being stopped.  NULL: there
	   never is one. */
	enum kustos_err (*have_last)(void *owner);

	/* Deal with the item. */
	void (*deal)(void *owner);

	/* "have" failed. */
	void (*failed)(void *owner, enum kustos_err err);

	/* The consumer has ended. */
	void (*over)(void *owner);
};

/* Start one.  "*leaving" belongs to the object that is consumed: it counts that
   object's consumers that were stopped from within their own callback and have
   not ended.  It is 0 in the beginning, and guarded by the client's lock.
   Returns KUSTOS_OK, KUSTOS_ENOMEM, or KUSTOS_EUNSUPPORTED without threads. */
KU_SERVICE enum kustos_err ku_consumer_start(struct kustos_client *client,
	const struct ku_consumer_calls *calls, void *owner, int *leaving,
	struct kustos_consumer **out);

/* The object that is consumed is about to be destroyed: wait until the
   consumers that "*leaving" counts have ended, and then call "end" with "what".
   A close of the client waits for that, too. */
KU_SERVICE void ku_consumer_wait(struct kustos_client *client,
	const int *leaving, void (*end)(void *what), void *what);

#endif
