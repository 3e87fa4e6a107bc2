/*
 * kustos/consumer.h - a function that is called for each item of a queue.
 * Link with -lkustos (pkg-config kustos); consumers are started by the calls of
 * <kustos/queue.h> and <kustos/claim.h>.
 *
 * A consumer has a thread of its own, which waits for items and calls the
 * function with them; the function may take its time.  Several consumers of one
 * queue work in parallel.
 */
#ifndef KUSTOS_CONSUMER_H
#define KUSTOS_CONSUMER_H

#include <kustos/base.h>

KUSTOS_BEGIN

struct kustos_consumer; /* opaque; lives until _stop() */

/* Called when something went wrong: with the end of the claim of the item
   "name", or, if "name" is NULL, with getting an item, which is tried again a
   second later, but not after KUSTOS_EAUTH or KUSTOS_ECLOSED.  With a name it
   may be called on another thread, while the consumer's function runs. */
typedef void kustos_consumer_failed_fn(void *arg, enum kustos_err err,
	const char *name);

/* Stop a consumer, which may be NULL: no call begins after this, and the
   function has been called with all that was taken from a queue for good.  This
   waits for a call of the function that is running, however long that takes,
   unless that is its caller; it does not wait for the ends of claimed items.
   If the servers are away and have not said yet what was taken, it waits 10 s
   for them at the most.  What was taken then is left to the next call that
   takes from the queue's object, or is put back when the object is destroyed.
   Stop a consumer before its queue or claims object is destroyed.  Destroying
   that waits for a consumer that stopped itself, so the consumer's function
   must not do it. */
KUSTOS_API void kustos_consumer_stop(struct kustos_consumer *consumer);

KUSTOS_END
#endif
