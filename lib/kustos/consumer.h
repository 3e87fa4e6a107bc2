/*
 * kustos/consumer.h - a function that is called for each item of a queue.
 * Link with -lkustos (pkg-config kustos); consumers are started by the calls of
 * <kustos/queue.h> and <kustos/claim.h>.
 *
 * A consumer has a thread of its own, which waits for items and calls the function
 * with one after the other; it may take its time.  Several of one queue work in
 * parallel.
 */
#ifndef KUSTOS_CONSUMER_H
#define KUSTOS_CONSUMER_H

#include <kustos/base.h>

KUSTOS_BEGIN

struct kustos_consumer; /* opaque; lives until _stop() */

/* Something went wrong: with the end of the item "name", or, if that is NULL, with
   having any; then it is tried again a second later. */
typedef void kustos_consumer_failed_fn(void *arg, enum kustos_err err,
	const char *name);

/* End a consumer, which may be NULL: no call begins after this, and what was taken
   from a queue for good has been called with.  Waits for that, 10 s at the most if
   the servers are away, and for the call that is running, unless it is its own
   caller; not for the ends of claimed items.  Before what it consumes is
   destroyed, which waits for one that stopped itself: that is not for its call. */
KUSTOS_API void kustos_consumer_stop(struct kustos_consumer *consumer);

KUSTOS_END
#endif
