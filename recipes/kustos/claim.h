/*
 * kustos/claim.h - take items of a queue, each of which comes back unless it is
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
 * Items are put with <kustos/queue.h>, or by another library.  Who claims one has
 * it alone, until it
 *
 *   acknowledges it: the item is deleted;
 *   requeues it:     the item goes to the end of the queue, with its key;
 *   releases it:     the item is where it was;
 *   loses its session, or dies: the same.
 *
 * So every item that was put is dealt with, and some more than once: "at least
 * once".  Who was cut off for longer than its session's timeout has lost what it
 * claimed, and its ack says KUSTOS_ELOST, whatever has become of the item.  A
 * claim has a hold (<kustos/hold.h>): it says at any time whether the item is still
 * its own, can call when it is not, and has a token that grows with each claim of
 * an item.
 *
 * Each claim has a node, the marker, named as the item, in a folder of its own.
 * Curator's consumers that are lock-safe have the same (give its lockPath as
 * "lock_path"), and so have those of kazoo's LockingQueue: they and these leave
 * each other's items alone.  Who takes items without such markers, like
 * kustos_queue_poll(), takes them from under those who claimed them.
 *
 * How often an item was claimed is counted: by the version of its node, which no
 * library looks at but Kustos.  It counts when it is claimed, so also if the call
 * that wanted it has given up just then, or has got one that had been in doubt, and
 * nobody saw it.  (Not that of an item that is nearly as large as a server takes
 * them: it cannot be written in the transaction.)
 *
 * Threads: every call is safe from any thread and any callback, but that a claim
 * is not used while or after it is acknowledged, requeued or released.
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

/* Why nobody is given an item. */
enum kustos_unfit {
	KUSTOS_UNFIT_CORRUPT = 0, /* its data is no frame; or it has children,
				     and is always left where it is */
	KUSTOS_UNFIT_DEAD = 1	  /* it was delivered too often */
};

/* Nobody is given the item "name".  "moved" is 0 if it was left where it is, which
   is told once, unless it changes.  Not called once the claims are destroyed, nor for
   a move whose answer was lost: another may have made it. */
typedef void kustos_unfit_fn(void *arg, enum kustos_unfit why, int moved,
	const char *name);

/* Set by KUSTOS_CLAIMS_OPTIONS_INIT, then changed at will.  All is copied. */
struct kustos_claims_options {
	size_t size; /* of this struct, as the program knows it */
	enum kustos_queue_kind kind;

	/* The node below which the markers are; made, to stay, when it is first
	   needed.  NULL: beside the queue, "<its path>-locks"; of
	   KUSTOS_QUEUE_KAZOO_LOCKING always "<its path>/taken". */
	const char *lock_path;

	/* An item that was delivered so often, and is still there, is moved below
	   the node "dead_letters", with its key and a new number: a queue of the
	   same kind (of KUSTOS_QUEUE_KAZOO_LOCKING: one of KUSTOS_QUEUE_KAZOO).
	   A claim that comes when its caller has given up counts as well.
	   0 and NULL: it is delivered again and again.  An item that was requeued
	   is a new one, and its count begins anew: so release what has failed. */
	int deliveries;
	const char *dead_letters;

	/* What is no frame, in a queue whose items are framed, is moved below this
	   node, in the same way.  NULL: it is left where it is, and passed over.
	   This may be "dead_letters"; but neither is the queue, nor where the
	   markers are, and those two are not one. */
	const char *corrupt;

	/* Who hears of those two. */
	kustos_unfit_fn *unfit;
	void *unfit_arg;

	/* So many are claimed before they are asked for, so that nobody waits for
	   the server between one item and the next.  Nobody else can have them
	   meanwhile, and they count as delivered. */
	int ahead;

	/* In a queue with priorities or delays the items are listed again as soon
	   as another client has changed them, so that a newer one can come first;
	   an ack is a change, too.  After so many others only: less exact, and
	   cheaper where many wait. */
	int stale;

	/* Requeue as Curator's consumers do: an item of a queue with priorities
	   or delays loses them, and so comes first. */
	int curator_requeue;
};

#define KUSTOS_CLAIMS_OPTIONS_INIT                                            \
	{                                                                     \
		sizeof(struct kustos_claims_options), KUSTOS_QUEUE_SIMPLE, 0, \
			0, 0, 0, 0, 0, 0, 0, 0                                \
	}

/* Make an object that claims items of the queue at the node "path".  "options"
   NULL takes the defaults.  Sends nothing.  Returns KUSTOS_OK, KUSTOS_EINVAL,
   KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_claims_create(
	struct kustos_client *client, const char *path,
	const struct kustos_claims_options *options,
	struct kustos_claims **out);

/* Free "claims", which may be NULL, before its client is closed.  Calls that wait
   end with KUSTOS_ECLOSED; what was claimed and given to nobody goes back.  What
   was given stays with whom it was given. */
KUSTOS_API void kustos_claims_destroy(struct kustos_claims *claims);

/* Claim the first item that nobody has, waiting for one.  KUSTOS_NOW: if there is
   one.  A wait survives disconnects, the end of the session, and the deletion of
   the queue's node.  Returns KUSTOS_OK; KUSTOS_EEMPTY if there is none and
   "deadline" is KUSTOS_NOW; KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and
   there is no connection, or the server has no time just now; KUSTOS_ETIMEDOUT;
   KUSTOS_ECANCELED; KUSTOS_ELIMIT if the session's ephemeral nodes together would be
   more than a server can clean up; KUSTOS_ENOAUTH, KUSTOS_EQUOTA, or KUSTOS_EEXISTS
   where it is to be moved to (as for a put); KUSTOS_ECLOSED;
   KUSTOS_EAUTH; KUSTOS_EINVAL; KUSTOS_ENOMEM; KUSTOS_EFORKED or KUSTOS_ESERVER.  An item
   that cannot be read, written, or moved where it belongs ends the waits that there are
   with why; then it is passed over, and looked at again a minute later. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_claim_next(
	struct kustos_claims *claims, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_claim **claim);

/* What became of it; "claim" is NULL unless "err" is KUSTOS_OK.  Called once. */
typedef void kustos_claim_fn(void *arg, enum kustos_err err,
	struct kustos_claim *claim);

/* The same, and return at once; "done" tells the end of it.  Takes no thread
   while it waits.  Returns KUSTOS_OK, or why it could not be started, and then
   "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_claim_next_async(
	struct kustos_claims *claims, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_claim_fn *done, void *arg);

/* Return the item.  It is freed with the claim. */
KUSTOS_API const struct kustos_item *kustos_claim_item(
	const struct kustos_claim *claim);

/* Return how often it was claimed, by whomever, with this time. */
KUSTOS_API int kustos_claim_deliveries(const struct kustos_claim *claim);

/* Return the hold.  It is not to be released, and is freed with the claim.  A
   callback of it may end the claim. */
KUSTOS_API struct kustos_hold *kustos_claim_hold(
	const struct kustos_claim *claim);

/* The item was dealt with: delete it, and the marker, in one transaction.  If the
   answer is lost it is found out what became of that.  KUSTOS_NOW: only if there is
   a connection, and KUSTOS_ETIMEDOUT if that goes meanwhile.  Whatever this returns,
   "claim" is freed.  Returns KUSTOS_OK: it was done; KUSTOS_ELOST: it was not, and
   the item is or was another's, as the session or the marker was lost;
   KUSTOS_EUNKNOWN: the item is gone, but the session ended before it could be told
   by whom; KUSTOS_ETIMEDOUT, KUSTOS_ECANCELED or KUSTOS_ECLOSED, and it may be done
   all the same; KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no
   connection, KUSTOS_ENOTEMPTY if it has got children, KUSTOS_ENOAUTH, KUSTOS_EAUTH,
   KUSTOS_ENOMEM, KUSTOS_EFORKED or KUSTOS_ESERVER, and then it was released;
   KUSTOS_EINVAL if it is NULL. */
KUSTOS_API enum kustos_err kustos_claim_ack(struct kustos_claim *claim,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* What became of it.  Called once. */
typedef void kustos_claim_end_fn(void *arg, enum kustos_err err);

/* The same, and return at once; "done" tells the end of it, and may be NULL.
   kustos_queue_flush() knows nothing of claims: who has to know that all is done
   counts the calls of "done"; closing the client waits for it, if it has the time.
   Returns KUSTOS_OK, or why it could not be started, and then "done" is not
   called; "claim" is freed in any case. */
KUSTOS_API enum kustos_err kustos_claim_ack_async(struct kustos_claim *claim,
	kustos_claim_end_fn *done, void *arg);

/* Put the item back at the end of the queue, or where its priority or due time
   has it, with the same data; KUSTOS_ETOOBIG if it is too large for that,
   KUSTOS_EQUOTA, or KUSTOS_EEXISTS if the next number is that of an item that was made
   by its name, and then it was released; else as the two above. */
KUSTOS_API enum kustos_err kustos_claim_requeue(struct kustos_claim *claim,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KUSTOS_API enum kustos_err kustos_claim_requeue_async(
	struct kustos_claim *claim, kustos_claim_end_fn *done, void *arg);

/* Leave the item where it is, for whoever comes next, and free "claim", which may
   be NULL.  Does not wait: others may have it a moment later, whatever happens to
   the connection. */
KUSTOS_API void kustos_claim_release(struct kustos_claim *claim);

/*
 * Consumers.
 */

/* What is to become of an item that a consumer was called with. */
enum kustos_verdict {
	KUSTOS_VERDICT_ACK = 0,	    /* it was dealt with, or never will be */
	KUSTOS_VERDICT_REQUEUE = 1, /* put it back at the end */
	KUSTOS_VERDICT_RELEASE =
		2,		/* leave it where it is: it comes again soon */
	KUSTOS_VERDICT_KEEP = 3 /* the function ends the claim, or has */
};

typedef enum kustos_verdict kustos_claims_fn(void *arg,
	struct kustos_claim *claim);

/* Start a consumer: "fn" is called with each item that it claims, and says what is
   to become of it.  That is done while the next one is waited for; "failed", which
   may be NULL, hears if it was not.  It is stopped before "claims" is destroyed.
   Returns KUSTOS_OK, KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_claims_consume(
	struct kustos_claims *claims, kustos_claims_fn *fn,
	kustos_consumer_failed_fn *failed, void *arg,
	struct kustos_consumer **out);

KUSTOS_END
#endif
