/*
 * kustos/queue.h - put items in; each is taken out once, the oldest first.
 * Link with -lkustos-queue (pkg-config kustos-queue).
 *
 *	if (kustos_queue_create(client, "/jobs", NULL, &queue) ||
 *		kustos_queue_put(queue, "mow", 3, kustos_after_ms(5000), NULL))
 *		return 1;
 *	...
 *	struct kustos_item *item;
 *	if (kustos_queue_poll(queue, kustos_after_ms(60000), NULL, &item) ==
 *		KUSTOS_OK) {
 *		work(item->data, item->len);
 *		kustos_item_free(item);
 *	}
 *
 * An item is a node below the queue's node.  The kind of the queue decides how
 * items are named and what form their data has.  Other nodes beside them are
 * left alone.
 *
 * What other libraries call      is here
 *   offer, put                   kustos_queue_put()
 *   poll                         kustos_queue_poll(), with a deadline
 *   take                         the same, KUSTOS_FOREVER
 *   remove                       the same, KUSTOS_NOW: KUSTOS_EEMPTY if empty
 *   peek, element                kustos_queue_peek()
 *   len, numChildren             kustos_queue_count()
 *
 * No item is put twice or lost because an answer was lost.  Each transaction
 * that puts or takes also changes a node of this object's own, its receipt,
 * which shows afterwards whether the transaction was done.  Receipts are beside
 * the queue, and survive the session; see the option "receipts".
 *
 * Long queues.  A listing is used until it is exhausted, or others have taken
 * very many of its items.  So a queue that is drained is listed once, however
 * long it is.  A queue with priorities or delays is listed again also when
 * others have put or taken something, unless the option "stale" lets the old
 * listing serve for some more items.  100,000 items work with jute.maxbuffer as
 * shipped: it does not limit what this library receives.  (It does limit what
 * Curator receives, to about 50,000 items: a longer queue that Curator shares
 * has to be sharded.)
 *
 * The server numbers items anew when the queue's node is made anew.  The node
 * goes when it is empty, as a container does; so an item may have the name of
 * an earlier one.  If all that happens within a second (the queue is emptied,
 * deleted, made and filled up to the same number), a take may return an item
 * that it had read, and delete the new one of that name.  To rule this out,
 * make the queue's node beforehand, as one that stays.
 *
 * An item belongs to its taker alone: if the taker dies, the item is gone ("at
 * most once").  Items of KUSTOS_QUEUE_KAZOO_LOCKING are put and looked at here,
 * but taken with <kustos/claim.h>, as others must see who has an item.
 *
 * Order.  An object that takes alone takes the oldest item first, and items
 * that one object put in the order of its calls.  Objects that take from the
 * same queue at the same time do not all try the first item, and so may take
 * somewhat newer items before older ones.
 *
 * Threads: every call is safe from any thread and any callback.  A call that
 * waits holds up the callbacks behind it.
 */
#ifndef KUSTOS_QUEUE_H
#define KUSTOS_QUEUE_H

#include <kustos/base.h>
#include <kustos/consumer.h>
#include <kustos/item.h>

KUSTOS_BEGIN

struct kustos_queue; /* opaque; lives from _create() to _destroy() */
struct kustos_client;
struct kustos_cancel;

/* Called with the name of an item that cannot be handed out.  Called once for
   each item, unless the item changes; never after the object was destroyed.  It
   may destroy the object. */
typedef void kustos_queue_unfit_fn(void *arg, const char *name);

/* Set by KUSTOS_QUEUE_OPTIONS_INIT, then changed at will.  All is copied. */
struct kustos_queue_options {
	size_t size; /* of this struct, as the program knows it */
	enum kustos_queue_kind kind;

	/* The node below which the receipts are.  It is made when it is first
	   needed.  NULL: beside the queue, "<its path>-receipts".  The queue's
	   own node and nodes below it are rejected (KUSTOS_EINVAL), as others
	   might take receipts there for items.  Give a path elsewhere for a
	   shard of Curator's QueueSharder, which takes each node beside it for
	   another shard. */
	const char *receipts;

	/* The greatest number of items: a put waits while there are as many.
	   0: any number.  All children of the queue's node are counted, before
	   something is put.  So objects that put at the same time may exceed
	   the limit by as many as there are objects.  Each puts a sixteenth of
	   the room that it has seen, or one item, and counts again; so with
	   many more than sixteen objects, or one that is much slower than the
	   others, the limit may be exceeded by such a part for each object.  A
	   client that may not count the items gets KUSTOS_ENOAUTH: newer
	   servers (3.9.3) answer that only to a client that may read the
	   queue's node.  (Curator's maxItems.) */
	int max_items;

	/* The number of bytes put in the background that may wait in memory; if
	   there are more, kustos_queue_put_async() waits.  0: 4 MB. */
	size_t buffer;

	/* Called for items whose data does not have the form of the kind, or
	   that have children and so cannot be taken.  They are left where they
	   are, and passed over.  A minute later they are looked at again, if
	   somebody takes or waits.  Claims can move the former away:
	   <kustos/claim.h>.  NULL: no call. */
	kustos_queue_unfit_fn *on_unfit;
	void *on_unfit_arg;

	/* In a queue with priorities or delays the items are listed again when
	   others have put or taken something, so that a newer item can come
	   first.  With this option a listing that others have changed still
	   serves for this many more items after its first: less exact, and
	   cheaper where many wait.  (Curator's minItemsBeforeRefresh.) */
	int stale;

	int reserved; /* 0 */
};

#define KUSTOS_QUEUE_OPTIONS_INIT                                            \
	{                                                                    \
		sizeof(struct kustos_queue_options), KUSTOS_QUEUE_SIMPLE, 0, \
			0, 0, 0, 0, 0, 0                                     \
	}

/* Make the object of the queue at the node "path".  The node and its parents
   are made when something is put.  "options" may be NULL for the defaults.
   Sends nothing.  Returns KUSTOS_OK, KUSTOS_EINVAL, KUSTOS_ENOMEM or
   KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_create(
	struct kustos_client *client, const char *path,
	const struct kustos_queue_options *options, struct kustos_queue **out);

/* Free "queue", which may be NULL.  Call this before its client is closed.
   Calls that wait end with KUSTOS_ECLOSED.  Waits for a call of "on_unfit" that
   is running, unless it is called there.

   Items that are being put may or may not be put.  Items that were taken for a
   call that had given up are put back: at the end of the queue, or where their
   keys place them, or, if the next number is that of an item that was made by
   its name, where they were.  That happens after this call, and before the
   client is closed, if the close has the time and a connection.  (A peer's item
   that leaves no room for the receipt in a server's frame, with data of about
   1,047,800 bytes, is put back alone, with a new number only, and is sent once:
   it may be lost if the connection breaks just then.)  Items that cannot be put
   back are reported in the client's log.  To receive them instead see
   kustos_queue_flush(). */
KUSTOS_API void kustos_queue_destroy(struct kustos_queue *queue);

/*
 * Put.
 */

/* Put one item, and wait until it is there.  The item has priority 0 (kazoo's:
   100), is due at once, and has an empty id.  KUSTOS_NOW: put only if there is
   a connection.  A put survives disconnects and the end of the session, and is
   sent again only if it is certain that it was not done.

   Returns KUSTOS_OK; KUSTOS_ETIMEDOUT or KUSTOS_ECANCELED, and then the item
   may be put all the same; KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and
   there is no connection, or if the connection is lost meanwhile, and then the
   item may be put all the same; KUSTOS_EFULL if the queue is full, and
   "deadline" is KUSTOS_NOW; KUSTOS_EEXISTS if the next number is that of an
   item that was made by its name, as the items of a copied queue are: until
   that item is taken nothing can be put; KUSTOS_ETOOBIG; KUSTOS_EUNKNOWN if
   somebody deleted the receipt just then, or wrote to it; KUSTOS_ENOAUTH;
   KUSTOS_EQUOTA; KUSTOS_ECLOSED; KUSTOS_EAUTH; KUSTOS_EINVAL; KUSTOS_ENOMEM;
   KUSTOS_EFORKED or KUSTOS_ESERVER. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_put(
	struct kustos_queue *queue, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* The same for an item with more than its bytes.  Also returns KUSTOS_EINVAL
   for a priority, a due time or an id that cannot be in a name, and for parts
   where the kind has no frames. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_put_item(
	struct kustos_queue *queue, const struct kustos_new_item *item,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* The same for many items.  They are put in this order, many in one
   transaction, and are read from "items" until the call returns.  If an item is
   malformed (KUSTOS_EINVAL) or certainly too large (KUSTOS_ETOOBIG), nothing is
   put.  Otherwise the first error ends the call: nothing behind the item that
   was rejected is put.  "*put", which may be NULL, receives how many items,
   from the first on, are there for certain, also after an error. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_put_many(
	struct kustos_queue *queue, const struct kustos_new_item *items,
	size_t count, kustos_deadline deadline, struct kustos_cancel *cancel,
	size_t *put);

/* Put one item, which is copied, and return at once; "done" receives the
   outcome, and may be NULL if nobody need know of a failure.  Items are put in
   the order of the calls, many in one transaction.  While more bytes wait in
   memory than the option "buffer" allows, this call waits for room, or returns
   KUSTOS_EFULL if "deadline" is KUSTOS_NOW.  Returns KUSTOS_OK, or the reason
   why it could not be started; then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_put_async(
	struct kustos_queue *queue, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_put_item_async(
	struct kustos_queue *queue, const struct kustos_new_item *item,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);

/* Wait until the outcome of all earlier puts is known, and until the items that
   were being taken for calls that gave up are there: the next
   kustos_queue_poll() then returns them.  KUSTOS_OK does not say that the items
   were put, only that each was put or has failed: which of both, only the
   callback of each put tells.  The last callbacks may still be to come when
   this returns; each is called exactly once, so who counts them knows when
   there are none left.  KUSTOS_NOW: does not wait, and returns KUSTOS_ETIMEDOUT
   if something is under way.  Returns KUSTOS_OK, KUSTOS_ETIMEDOUT,
   KUSTOS_ECANCELED, KUSTOS_ECLOSED, KUSTOS_EAUTH, KUSTOS_ENOMEM or
   KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_flush(
	struct kustos_queue *queue, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/*
 * Take.
 */

/* Take the first item, waiting for one.  KUSTOS_NOW: take one if there is one.
   In a queue with delays an item is there once it is due by the clock of this
   machine; who waits notices within a minute that it was set.  A wait survives
   disconnects, the end of the session, and the deletion of the queue's node.
   An item that is already being taken when the deadline passes is kept by the
   object and returned by the next call.

   Returns KUSTOS_OK and an item to be freed; KUSTOS_EEMPTY if there is none and
   "deadline" is KUSTOS_NOW; KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW
   and there is no connection; KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED;
   KUSTOS_EUNKNOWN if somebody deleted the receipt, or wrote to it, so that the
   only trace of whether an item was taken is gone; KUSTOS_ENOAUTH, also for an
   item that may not be read, which is then passed over and looked at again a
   minute later; KUSTOS_ECLOSED; KUSTOS_EAUTH; KUSTOS_EINVAL, also if the kind
   is KUSTOS_QUEUE_KAZOO_LOCKING; KUSTOS_ENOMEM; KUSTOS_EFORKED or
   KUSTOS_ESERVER. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_poll(
	struct kustos_queue *queue, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_item **item);

/* Take up to "max" items, 1 or more, in one transaction, as soon as there is
   one.  "items" has room for "max"; "*count" receives the number of items.  No
   more items than "max" are taken from the server, and no more than 256, the
   most that one call gets: a greater "max" is no error.  Returns as
   kustos_queue_poll(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_poll_many(
	struct kustos_queue *queue, size_t max, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_item **items,
	size_t *count);

/* Delete all items with this id that a listing shows, in a queue of the kind
   KUSTOS_QUEUE_ID.  "*removed", which may be NULL, receives their number.  An
   item that is claimed is deleted as well, and its ack reports that.  An item
   that is claimed at that moment stays, and so does one that has children.
   "on_unfit" of the options is called for the latter; if nothing was taken with
   this object before, a later take that meets the item calls it once more.
   Each deletion changes the receipt, so an item counts exactly if this call has
   deleted it, whatever answers are lost, and not if a consumer was faster.
   Returns KUSTOS_OK, also if there is no such item; KUSTOS_EINVAL if the queue
   is of another kind; KUSTOS_EUNKNOWN if somebody deleted the receipt, or wrote
   to it, when a deletion was under way, or if the connection was lost then and
   the deadline is KUSTOS_NOW; and as kustos_children() and
   kustos_queue_put().  An item whose deletion was under way at an error may be
   gone; it does not count.  There is no form with a callback: a program with an
   event loop calls this from another thread. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_remove_id(
	struct kustos_queue *queue, const char *id, kustos_deadline deadline,
	struct kustos_cancel *cancel, size_t *removed);

/* Receives what was taken: "count" items, in an array that is valid during the
   call.  Each is to be freed.  "count" is 0 unless "err" is KUSTOS_OK.  Called
   once. */
typedef void kustos_queue_poll_fn(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count);

/* The same, also with 256 items at the most, but return at once; "done"
   receives the outcome.  Takes no thread while it waits.  Returns KUSTOS_OK, or
   the reason why it could not be started; then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_poll_async(
	struct kustos_queue *queue, size_t max, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_queue_poll_fn *done, void *arg);

/* Look at the first item and leave it there: by the time this returns another
   may have taken it.  Otherwise as kustos_queue_poll(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_peek(
	struct kustos_queue *queue, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_item **item);

/* The same, but return at once; "done" receives the outcome, with one item.
   Takes no thread while it waits.  Returns KUSTOS_OK, or the reason why it
   could not be started; then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_peek_async(
	struct kustos_queue *queue, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_queue_poll_fn *done, void *arg);

/* Store in "*count" how many items there are: the children of the queue's node,
   or, if the kind is KUSTOS_QUEUE_KAZOO_LOCKING, of the node "entries" in it.
   Each child counts, also one that is claimed, not due, unfit, or no item.
   What is still to be put does not count, nor what was taken for a call that
   had given up.  0 if there is no such node.  One small request, however long
   the queue is; others may put and take at the same time.  Destroying "queue"
   does not end this call.  Returns KUSTOS_OK, KUSTOS_EINVAL, and as
   kustos_exists() otherwise.  (kazoo's len(); numChildren of the stat with
   Curator.) */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_count(
	struct kustos_queue *queue, kustos_deadline deadline,
	struct kustos_cancel *cancel, size_t *count);

/* Receives the number of items, which is 0 unless "err" is KUSTOS_OK.  Called
   once. */
typedef void kustos_queue_count_fn(void *arg, enum kustos_err err,
	size_t count);

/* The same, but return at once; "done" receives the outcome.  Returns
   KUSTOS_OK, or the reason why it could not be started; then "done" is not
   called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_count_async(
	struct kustos_queue *queue, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_queue_count_fn *done, void *arg);

/* Called with items that were taken: "count" of them.  The array and the items
   are valid during the call. */
typedef void kustos_queue_consume_fn(void *arg,
	struct kustos_item *const *items, size_t count);

/* Start a consumer: it calls "fn" with the items that it takes, up to "max" at
   once, and never more than 256.  These items are gone from the queue, whatever
   becomes of the call; for items that come back see <kustos/claim.h>.
   "failed", which may be NULL, is called if nothing could be taken.  Stop the
   consumer before "queue" is destroyed.  Returns KUSTOS_OK, KUSTOS_EINVAL,
   KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_consume(
	struct kustos_queue *queue, size_t max, kustos_queue_consume_fn *fn,
	kustos_consumer_failed_fn *failed, void *arg,
	struct kustos_consumer **out);

KUSTOS_END
#endif
