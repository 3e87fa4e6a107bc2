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
 * An item is a node below the queue's; what it is named, and what its data is
 * like, is said by the kind of the queue.  Other nodes beside them are left alone.
 *
 * What other libraries call      is here
 *   offer, put                   kustos_queue_put()
 *   poll                         kustos_queue_poll(), with a deadline
 *   take                         the same, KUSTOS_FOREVER
 *   remove                       the same, KUSTOS_NOW: KUSTOS_EEMPTY if empty
 *   peek, element                kustos_queue_peek()
 *
 * Nothing is put twice or lost because an answer was lost.  With each transaction
 * that puts or takes goes the change of a node of this object's own, its receipt,
 * which tells afterwards whether the transaction was done.  Receipts are beside
 * the queue, and survive the session; see the option "receipts".
 *
 * Long queues.  A listing serves until it is used up, or others have taken very
 * many of it, so one that is drained is listed once, however long; one with
 * priorities or delays also when others have put or taken something, unless the
 * option "stale" allows for more.  100,000 items work with jute.maxbuffer as
 * shipped: it does not limit what this library receives.
 * (It does with Curator's.)
 *
 * Numbers begin anew with the queue's node, which goes when it is empty, as a
 * container does; so an item may have the name of one before it.  If all that
 * happens within a second (emptied, deleted, made, filled up to the same number), a
 * take may return an item that it had read, and delete the new one of that name.
 * Who makes the queue's node beforehand, to stay, has no such case.
 *
 * Who takes an item has it, and nobody else: if it dies then, the item is gone
 * ("at most once").  The items of KUSTOS_QUEUE_KAZOO_LOCKING are put and looked at
 * here; who has one has to be seen by others: <kustos/claim.h>.
 *
 * Order.  One object that takes alone takes the oldest first, and what one object
 * put, in the order of its calls.  Objects that take from the same queue at the
 * same time do not all reach for the first item, and so may take somewhat newer
 * ones before older ones.
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

/* The item "name" is none.  Told once for each; not after the object was destroyed,
   which is not to be done in here. */
typedef void kustos_queue_unfit_fn(void *arg, const char *name);

/* Set by KUSTOS_QUEUE_OPTIONS_INIT, then changed at will.  All is copied. */
struct kustos_queue_options {
	size_t size; /* of this struct, as the program knows it */
	enum kustos_queue_kind kind;

	/* The node below which the receipts are, which is made when it is
	   first needed.  NULL: beside the queue, "<its path>-receipts".  Not the
	   queue's own and not below it, where others might take them for items:
	   KUSTOS_EINVAL. */
	const char *receipts;

	/* There are not to be more items than so many: who puts waits while
	   there are.  0: any number.  Counted are all children of the queue's
	   node, and before something is put: objects that put at the same time
	   may pass it by as many as they are.  Each puts a sixteenth of the room
	   that it has seen, or one item, and counts again; so of many more
	   objects than that, and with one that is much slower than the others,
	   it may be such a part for each.  Who may not ask how many they are is
	   told KUSTOS_ENOAUTH: newer servers (3.9.3) answer that only to who may
	   read the queue's node.  (Curator's maxItems.) */
	int max_items;

	/* So many bytes that were put in the background may wait in memory;
	   then kustos_queue_put_async() waits.  0: 4 MB. */
	size_t buffer;

	/* Who hears of items whose data is not what the kind says, or that have
	   children and so cannot be taken.  They are left where they are, and
	   passed over; a minute later they are looked at again, if somebody
	   takes or waits.  Claims can move the former away: <kustos/claim.h>.
	   NULL: nobody. */
	kustos_queue_unfit_fn *unfit;
	void *unfit_arg;

	/* In a queue with priorities or delays the items are listed again when
	   others have put or taken something, so that a newer one can come
	   first.  After so many others only: less exact, and cheaper where many
	   wait.  (Curator's minItemsBeforeRefresh.) */
	int stale;
};

#define KUSTOS_QUEUE_OPTIONS_INIT                                            \
	{                                                                    \
		sizeof(struct kustos_queue_options), KUSTOS_QUEUE_SIMPLE, 0, \
			0, 0, 0, 0, 0                                        \
	}

/* Make the object of the queue at the node "path", which is made, with its
   parents, when something is put into it.  "options" NULL takes the defaults.
   Sends nothing.  Returns KUSTOS_OK, KUSTOS_EINVAL, KUSTOS_ENOMEM or
   KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_create(
	struct kustos_client *client, const char *path,
	const struct kustos_queue_options *options, struct kustos_queue **out);

/* Free "queue", which may be NULL, before its client is closed.  Calls that wait
   end with KUSTOS_ECLOSED.  What is being put may be put or not.  What was taken
   for a call that had given up goes back, to the end of the queue or where its key
   has it, or where it was, if the next number is that of an item that was made by
   its name: behind this call, and before the client is closed if that has the time
   and a connection.  (A peer's item that leaves no room for the receipt in a
   server's frame, with data of about 1,047,800 bytes, goes alone, with a new number
   only, and is sent once: it may be lost if the connection breaks just then.)  What
   cannot go back is told of in the client's log.  To have it instead see
   kustos_queue_flush(). */
KUSTOS_API void kustos_queue_destroy(struct kustos_queue *queue);

/*
 * Put.
 */

/* Put one item, and wait until it is there; with priority 0 (kazoo's: 100), due at
   once, with an empty id.  KUSTOS_NOW: only if there is a
   connection.  Survives disconnects and the end of the session, and is sent again
   only if it is certain that it was not done.  Returns KUSTOS_OK;
   KUSTOS_ETIMEDOUT or KUSTOS_ECANCELED, and then it may be put all the same;
   KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no connection, or
   it goes meanwhile, and then it may be put all the same;
   KUSTOS_EFULL if the queue is full, and "deadline" is KUSTOS_NOW;
   KUSTOS_EEXISTS if the next number is that of an item that was made by its name, as
   those of a queue that was copied are: until it is taken nothing can be put;
   KUSTOS_ETOOBIG; KUSTOS_EUNKNOWN if somebody deleted the receipt just then, or
   wrote to it;
   KUSTOS_ENOAUTH; KUSTOS_EQUOTA; KUSTOS_ECLOSED; KUSTOS_EAUTH; KUSTOS_EINVAL;
   KUSTOS_ENOMEM; KUSTOS_EFORKED or KUSTOS_ESERVER. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_put(
	struct kustos_queue *queue, const void *data, size_t len,
	kustos_deadline deadline, struct kustos_cancel *cancel);

/* The same of items of which more is to be said than their bytes; and of many,
   which go in this order, many in one transaction, and are read from "items" until
   the call returns.  The first error ends it: nothing that stands behind what was
   refused is put.  "*put", which may be NULL, says how many, from the first on, are
   there for certain, also after an error.  Returns KUSTOS_EINVAL also for a priority,
   a due time or an id that has no name. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_put_many(
	struct kustos_queue *queue, const struct kustos_new_item *items,
	size_t count, kustos_deadline deadline, struct kustos_cancel *cancel,
	size_t *put);

/* What became of a put.  Called once. */
typedef void kustos_queue_put_fn(void *arg, enum kustos_err err);

/* Put an item, which is copied, and return at once; "done" tells the end of it,
   and may be NULL.  Items go in the order of the calls, many in one transaction.
   While more waits in memory than the option "buffer" says, it waits for that, or
   returns KUSTOS_EFULL if "deadline" is KUSTOS_NOW.  Returns KUSTOS_OK, or why it
   could not be started, and then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_put_async(
	struct kustos_queue *queue, const struct kustos_new_item *item,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_queue_put_fn *done, void *arg);

/* Wait until all that was put before is decided, though the callbacks of the last
   of it may be still to come; and what was taken for a call
   that had given up, which the next kustos_queue_poll() then returns.  Returns
   KUSTOS_OK, KUSTOS_ETIMEDOUT, KUSTOS_ECANCELED, KUSTOS_ECLOSED, KUSTOS_EAUTH,
   KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_flush(
	struct kustos_queue *queue, kustos_deadline deadline,
	struct kustos_cancel *cancel);

/*
 * Take.
 */

/* Take the first item, waiting for one.  KUSTOS_NOW: if there is one.  A wait
   survives disconnects, the end of the session, and the deletion of the queue's
   node.  What is already being taken when the deadline passes is kept by the
   object and returned by the next call.  Returns KUSTOS_OK and an item to be
   freed; KUSTOS_EEMPTY if there is none and "deadline" is KUSTOS_NOW;
   KUSTOS_EDISCONNECTED if "deadline" is KUSTOS_NOW and there is no connection;
   KUSTOS_ETIMEDOUT; KUSTOS_ECANCELED; KUSTOS_EUNKNOWN if somebody deleted the
   receipt, or wrote to it, and so the only trace of whether an item was taken is gone;
   KUSTOS_ENOAUTH, also for an item that may not be read, which is passed over then and
   looked at again a minute later; KUSTOS_ECLOSED; KUSTOS_EAUTH; KUSTOS_EINVAL, also if
   the kind is KUSTOS_QUEUE_KAZOO_LOCKING; KUSTOS_ENOMEM; KUSTOS_EFORKED or
   KUSTOS_ESERVER. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_poll(
	struct kustos_queue *queue, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_item **item);

/* Take up to "max" items, 1 or more, in one transaction, as soon as there is one.
   "items" has room for as many; "*count" says how many they are.  No more is taken
   from the server than that.  Returns as kustos_queue_poll(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_poll_many(
	struct kustos_queue *queue, size_t max, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_item **items,
	size_t *count);

/* Delete all items with this id that a listing shows, in a queue of the kind
   KUSTOS_QUEUE_ID; "*removed", which may be NULL, says how many that were.  One that
   is claimed goes as well, and its ack says so; one that is claimed just then stays,
   and one that has children, of which "unfit" of the options hears: once more, if
   that was before anything was taken.  Returns KUSTOS_OK, also if there is none;
   KUSTOS_EINVAL if the queue is of another kind; and as kustos_children() and
   kustos_delete().  There is no form with a callback: an event loop calls it from a
   thread of its own. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_remove_id(
	struct kustos_queue *queue, const char *id, kustos_deadline deadline,
	struct kustos_cancel *cancel, size_t *removed);

/* What was taken: "count" items, in an array that is valid during the call; each
   is to be freed.  0 unless "err" is KUSTOS_OK.  Called once. */
typedef void kustos_queue_poll_fn(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count);

/* The same, and return at once; "done" tells the end of it.  Takes no thread
   while it waits.  Returns KUSTOS_OK, or why it could not be started, and then
   "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_poll_async(
	struct kustos_queue *queue, size_t max, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_queue_poll_fn *done, void *arg);

/* Look at the first item and leave it there: by the time this returns another may
   have taken it.  Else as kustos_queue_poll(). */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_peek(
	struct kustos_queue *queue, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_item **item);

/* The same, and return at once; "done" tells the end of it, with one item.  Takes
   no thread while it waits.  Returns KUSTOS_OK, or why it could not be started, and
   then "done" is not called. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_peek_async(
	struct kustos_queue *queue, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_queue_poll_fn *done, void *arg);

/* Called with items that were taken: "count" of them, in an array that is valid
   during the call, as the items are. */
typedef void kustos_queue_fn(void *arg, struct kustos_item *const *items,
	size_t count);

/* Start a consumer: "fn" is called with what it takes, up to "max" items at once.
   What it was called with is gone from the queue, whatever becomes of the call; for
   items that come back see <kustos/claim.h>.  "failed", which may be NULL, hears if
   nothing could be taken.  It is stopped before "queue" is destroyed.  Returns
   KUSTOS_OK, KUSTOS_EINVAL, KUSTOS_ENOMEM or KUSTOS_EFORKED. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_queue_consume(
	struct kustos_queue *queue, size_t max, kustos_queue_fn *fn,
	kustos_consumer_failed_fn *failed, void *arg,
	struct kustos_consumer **out);

KUSTOS_END
#endif
