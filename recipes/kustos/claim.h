/*
 * kustos/claim.h - take items of a queue; an item comes back unless it is
 * acknowledged.
 * Link with -lkustos-queue (pkg-config kustos-queue).
 *
 *	if (kustos_claims_create(client, "/jobs", NULL, &claims))
 *		return 1;
 *	...
 *	struct kustos_claim *claim;
 *	if (kustos_claim_next(claims, KUSTOS_FOREVER, cancel, &claim) ==
 *		KUSTOS_OK) {
 *		const struct kustos_item *item = kustos_claim_item(claim);
 *
 *		if (work(item->data, item->len))
 *			kustos_claim_ack(claim, kustos_after_ms(5000), NULL);
 *		else
 *			kustos_claim_requeue(claim, kustos_after_ms(5000), NULL);
 *	}
 *
 * Items are put with <kustos/queue.h>, or by another library.  A claimer has
 * its item alone, until it
 *
 *   acknowledges it: the item is deleted;
 *   requeues it:     the item goes to the end of the queue, with its key;
 *   releases it:     the item is where it was;
 *   loses its session, or dies: the same.
 *
 * So every item that was put is dealt with, and some more than once: "at least
 * once".  A client that was cut off for longer than its session's timeout has
 * lost what it claimed, and its ack returns KUSTOS_ELOST, whatever has become
 * of the item.  A claim has a hold (<kustos/hold.h>), which is lost with the
 * session, or a moment after somebody has deleted the marker.  The hold tells
 * at any time whether that has happened, can call a function when it has, and
 * has a token that grows with each claim of an item.  It does not tell that
 * somebody took the item in spite of the marker: only the ack does, and
 * kustos_hold_multi(), which also proves that nobody has claimed the item since
 * (unless that is too large to be counted, as below).
 *
 * Each claim has a node, the marker, which is named like the item and is in a
 * folder of its own.  Curator's lock-safe consumers make the same markers (give
 * their lockPath as "lock_path"), and so do those of kazoo's LockingQueue.  All
 * of these leave each other's items alone.  A client that takes items without
 * such markers, like kustos_queue_poll(), takes them away from those who
 * claimed them.  Curator's consumers look for items when one was put or taken,
 * not when a marker has gone: if all of them wait, they find a released item
 * only when another is put or taken.
 *
 * The version of an item's node counts how often it was claimed.  Without a
 * lockPath Curator's DistributedIdQueue removes by id only items of version 0,
 * that is, none that was ever claimed, and Curator's consumers delete the
 * version that they have read.  A claim counts when it is made, even if the
 * call that wanted it has given up at that moment, or has received another item
 * whose claim had been in doubt, so that nobody saw this one.  (Claims of an
 * item that is nearly as large as a server accepts are not counted: it cannot
 * be written in the transaction.)
 *
 * Threads: every call is safe from any thread and any callback, except that a
 * claim must not be used while or after it is acknowledged, requeued or
 * released.
 */
#ifndef KUSTOS_CLAIM_H
#define KUSTOS_CLAIM_H

#include <kustos/base.h>
#include <kustos/consumer.h>
#include <kustos/item.h>

KUSTOS_BEGIN

struct kustos_claims; /* opaque; lives from _create() to _destroy() */
struct kustos_claim;  /* opaque; lives until its ack, requeue or release */
struct kustos_client;
struct kustos_cancel;
struct kustos_hold;

/* Why an item cannot be handed out. */
enum kustos_unfit {
	KUSTOS_UNFIT_CORRUPT = 0, /* its data is no frame; or it has children,
				     and is always left where it is */
	KUSTOS_UNFIT_DEAD = 1	  /* it was delivered too often */
};

/* Called with the name of an item that is handed out to nobody.  "moved" is 0
   if the item was left where it is, which is reported once, unless the item
   changes.  Not called once the claims are destroyed, nor for a move whose
   answer was lost: another may have made it. */
typedef void kustos_claims_unfit_fn(void *arg, enum kustos_unfit why, int moved,
	const char *name);

/* Set by KUSTOS_CLAIMS_OPTIONS_INIT, then changed at will.  All is copied. */
struct kustos_claims_options {
	size_t size; /* of this struct, as the program knows it */
	enum kustos_queue_kind kind;

	/* The node below which the markers are; made, to stay, when it is first
	   needed.  NULL: beside the queue, "<its path>-locks"; give a path
	   elsewhere for a shard of Curator's QueueSharder, which takes each
	   node beside it for another shard.  For KUSTOS_QUEUE_KAZOO_LOCKING it
	   is always "<its path>/taken", and must be NULL here. */
	const char *lock_path;

	/* An item that was delivered "deliveries" times, and is still there, is
	   moved below the node "dead_letters", with its key and a new number.
	   That node is a queue of the same kind (for
	   KUSTOS_QUEUE_KAZOO_LOCKING: of KUSTOS_QUEUE_KAZOO).  A claim that
	   comes when its caller has given up counts as well.  0 and NULL: an
	   item is delivered any number of times.  One without the other is
	   rejected (KUSTOS_EINVAL).  A requeued item is a new one, and its
	   count begins anew: so release items that failed. */
	int deliveries;
	const char *dead_letters;

	/* In a queue whose items are framed, an item that is no frame is moved
	   below this node, in the same way.  NULL: it is left where it is, and
	   passed over.  This may be the same node as "dead_letters"; but
	   neither may be the queue or the node of the markers, and these two
	   must differ. */
	const char *corrupt;

	/* Called for both kinds of items. */
	kustos_claims_unfit_fn *on_unfit;
	void *on_unfit_arg;

	/* The number of items that are claimed before they are asked for, so
	   that nobody waits for the server between one item and the next.
	   Nobody else can have these items meanwhile, and they count as
	   delivered. */
	int ahead;

	/* In a queue with priorities or delays the items are listed again as
	   soon as another client has changed them, so that a newer item can
	   come first; an ack is a change, too.  With this option a listing
	   serves for this many more items after its first: less exact, and
	   cheaper where many wait. */
	int stale;

	/* Requeue as Curator's consumers do: in a queue with priorities or
	   delays the item loses its key, and so comes first. */
	int curator_requeue;

	int reserved; /* 0 */
};

#define KUSTOS_CLAIMS_OPTIONS_INIT                                            \
	{                                                                     \
		sizeof(struct kustos_claims_options), KUSTOS_QUEUE_SIMPLE, 0, \
			0, 0, 0, 0, 0, 0, 0, 0, 0                             \
	}

/* Make an object that claims items of the queue at the node "path".  "options"
   may be NULL for the defaults.  Sends nothing.  Returns KUSTOS_OK,
   KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_claims_create(
	struct kustos_client *client, const char *path,
	const struct kustos_claims_options *options,
	struct kustos_claims **out);

/* Free "claims", which may be NULL.  Call this before its client is closed.
   Calls that wait end with KUSTOS_ECLOSED.  Items that were claimed but handed
   out to nobody go back.  Claims that were handed out stay with their owners.
   */
KUSTOS_API void kustos_claims_destroy(struct kustos_claims *claims);

/* Claim the first item that nobody has, waiting for one.  KUSTOS_NOW: claim one
   if there is one.  A wait survives disconnects, the end of the session, and
   the deletion of the queue's node.  In a queue with delays an item is there
   once it is due by the clock of this machine; who waits notices within a
   minute that it was set.

   Returns KUSTOS_OK; KUSTOS_EEMPTY if there is none and "deadline" is
   KUSTOS_NOW; KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no
   connection, or the server is overloaded; KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED;
   KUSTOS_ELIMIT if the session's ephemeral nodes together would be more than a
   server can clean up; KUSTOS_ENOAUTH; KUSTOS_EQUOTA; KUSTOS_EEXISTS (as for a
   put) if an item is to be moved, and the next number where it is moved to is
   taken; KUSTOS_ECLOSED; KUSTOS_EAUTH; KUSTOS_EINVAL; KUSTOS_ENOMEM;
   KUSTOS_EFORKED or KUSTOS_ESERVER.

   An item that cannot be read, written, or moved where it belongs ends the
   current waits with the reason.  Then it is passed over, and looked at again a
   minute later. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_claim_next(
	struct kustos_claims *claims, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_claim **claim);

/* Receives the outcome; "claim" is NULL unless "err" is KUSTOS_OK.  Called
   once. */
typedef void kustos_claim_next_fn(void *arg, enum kustos_err err,
	struct kustos_claim *claim);

/* The same, but return at once; "done" receives the outcome.  Takes no thread
   while it waits.  Returns KUSTOS_OK, or the reason why it could not be
   started; then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_claim_next_async(
	struct kustos_claims *claims, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_claim_next_fn *done, void *arg);

/* Return the item.  It is freed with the claim. */
KUSTOS_API const struct kustos_item *kustos_claim_item(
	const struct kustos_claim *claim);

/* Return how often the item was claimed, by whomever, including this claim. */
KUSTOS_API int kustos_claim_deliveries(const struct kustos_claim *claim);

/* Return the hold.  Do not release it; it is freed with the claim.  A callback
   of the hold may end the claim. */
KUSTOS_API struct kustos_hold *kustos_claim_hold(
	const struct kustos_claim *claim);

/* Acknowledge: delete the item and the marker in one transaction.  If the
   answer is lost, the call finds out the outcome.  KUSTOS_NOW: only if there is
   a connection, and KUSTOS_ETIMEDOUT if it is lost meanwhile.  Whatever is
   returned, "claim" is freed.

   Returns KUSTOS_OK: the item was deleted; KUSTOS_ELOST: it was not, and others
   may have the item, or have had it, as the session or the marker was lost, or
   the session was not certain for a while; KUSTOS_EUNKNOWN: the item is gone,
   but the session ended before it was known who deleted it; KUSTOS_ETIMEDOUT,
   KUSTOS_ECANCELED or KUSTOS_ECLOSED, and the item may be deleted all the same,
   but not if "cancel" had fired before: then the claim was released;
   KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no connection,
   KUSTOS_ENOTEMPTY if the item has got children, KUSTOS_ENOAUTH, KUSTOS_EAUTH,
   KUSTOS_ENOMEM or KUSTOS_ESERVER, and then the claim was released;
   KUSTOS_EINVAL if "claim" is NULL; KUSTOS_EFORKED, and then nothing was
   done. */
KUSTOS_API enum kustos_err kustos_claim_ack(struct kustos_claim *claim,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* The same, but return at once; "done" receives the outcome, and may be NULL.
   kustos_queue_flush() does not wait for claims: to know that all are done,
   count the calls of "done".  Closing the client ends these calls with
   KUSTOS_ECLOSED, but finishes what they have begun if it has the time.
   Returns KUSTOS_OK, or the reason why it could not be started; then "done" is
   not called.  "claim" is freed in any case. */
KUSTOS_API enum kustos_err kustos_claim_ack_async(struct kustos_claim *claim,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);

/* Put the item back at the end of the queue, or where its priority or due time
   places it, with the same data.  Returns KUSTOS_ETOOBIG if it is too large for
   that, KUSTOS_EQUOTA, or KUSTOS_EEXISTS if the next number is that of an item
   that was made by its name, and then the claim was released; otherwise as the
   two calls above. */
KUSTOS_API enum kustos_err kustos_claim_requeue(struct kustos_claim *claim,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KUSTOS_API enum kustos_err kustos_claim_requeue_async(
	struct kustos_claim *claim, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg);

/* Leave the item where it is, for whoever comes next, and free "claim", which
   may be NULL.  Does not wait: others may have the item a moment later,
   whatever happens to the connection. */
KUSTOS_API void kustos_claim_release(struct kustos_claim *claim);

/*
 * Consumers.
 */

/* What is to be done with an item that a consumer was called with. */
enum kustos_verdict {
	KUSTOS_VERDICT_ACK = 0,	    /* it was dealt with, or never will be */
	KUSTOS_VERDICT_REQUEUE = 1, /* put it back at the end */
	KUSTOS_VERDICT_RELEASE =
		2,		/* leave it where it is: it comes again soon */
	KUSTOS_VERDICT_KEEP = 3 /* the function ends the claim, or has */
};

typedef enum kustos_verdict kustos_claims_consume_fn(void *arg,
	struct kustos_claim *claim);

/* Start a consumer: it calls "fn" with each item that it claims, and "fn"
   returns what is to be done with the item.  That is done while the consumer
   waits for the next item; "failed", which may be NULL, is called if it could
   not be done.  Stop the consumer before "claims" is destroyed.  Returns
   KUSTOS_OK, KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_claims_consume(
	struct kustos_claims *claims, kustos_claims_consume_fn *fn,
	kustos_consumer_failed_fn *failed, void *arg,
	struct kustos_consumer **out);

KUSTOS_END
#endif
