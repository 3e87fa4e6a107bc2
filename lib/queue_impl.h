/*
 * queue_impl.h - the internals of a queue, for the files that are called queue.
 *
 * A queue has two sides, put and take, that know nothing of each other.  Each
 * has a receipt of its own (receipt.h), so that a put does not wait for a take.
 *
 * Put.  Calls stand in line, and their items are gathered into batches.  One
 * transaction carries as many items as have come while the transactions before
 * it were on their way.  A few transactions are on their way at a time.
 *
 * Take.  A listing fills the head (queue_head.h) and serves until it is used
 * up.  The first items are read, several in one flight.  Then they are deleted
 * in one transaction, each by the version that was read, while the next are
 * being read.  Deleted items go to the calls that asked for them; if one of
 * these has given up, its items are kept for the next call.  At most as many
 * are deleted as are asked for.
 *
 *	head --read--> catches --delete--> taken --> calls that wait
 *
 * An item that was read is deleted at once, or read again.  If the queue's node
 * is deleted and made anew, numbers begin anew, and a new item may have the
 * name and the version of one that was read before.
 *
 * When the queue is destroyed, items that were taken for calls that had given
 * up are put back.  So are items that are being taken, once it is decided
 * whether they were.  Until then the queue lives on, but not longer than its
 * client.
 *
 * If another consumer took one of the items first, the whole transaction is
 * refused.  That item is forgotten, and the others go back to the head.  The
 * next attempt starts at random among the first items of the head: among more
 * of them each time this happens, and among fewer when it does not.  A consumer
 * that is alone takes strictly the first.
 */
#ifndef KU_QUEUE_IMPL_H
#define KU_QUEUE_IMPL_H

#include "client.h"
#include "inside.h"
#include "mirror.h"
#include "others.h"
#include "queue.h"
#include "queue_head.h"
#include "receipt.h"
#include "unfit.h"
#include "witness.h"

/* The most operations and bytes in one transaction of a put, and the most such
   transactions on their way. */
#define KU_BATCH_MAX 256
#define KU_BATCH_BYTES (256 * 1024)
#define KU_BATCHES 4

/* The most items in one transaction of a take. */
#define KU_TAKE_MAX 256

/* The bytes that the change of the receipt takes in each transaction, or a few
   more. */
#define KU_RECEIPT_SIZE 512

struct ku_put {		     /* what one call puts */
	struct ku_wait wait; /* first: cast back from it */
	struct ku_queue *queue;
	const struct kustos_new_item *items;
	size_t count;
	size_t gathered;   /* how many of them are, or were, in batches */
	size_t open;	   /* in batches, and not decided */
	size_t done;	   /* put */
	char *path, *data; /* a copied item; NULL: made from "items" */
	size_t len, cost;  /* of that data; of the copy, in memory */
	enum kustos_err err;
	uint64_t failed; /* the batch of an item that was not put: items in
			    later batches are not put either; 0: none */
	int refs;	 /* of the caller, of the line */
	uint64_t serial;
	ku_put_fn *callback;
	void *arg;
	struct ku_put *prev, *next; /* in line, until all is decided */
};

struct ku_flush {	     /* a call that waits for what was begun before */
	struct ku_wait wait; /* first */
	struct ku_queue *queue;
	enum ku_flushed what;
	uint64_t puts, takes;
	struct ku_flush *prev, *next;
};

struct ku_roomer {	     /* a call that waits until fewer bytes wait */
	struct ku_wait wait; /* first */
	struct ku_queue *queue;
	struct ku_roomer *prev, *next;
};

struct ku_put_side {
	struct ku_receipt receipt;
	struct ku_put *first, *last;
	uint64_t begun;
	uint64_t gathered;	  /* batches */
	int batches;		  /* under way */
	struct ku_op *root;	  /* the creation of the queue's node */
	enum kustos_err root_err; /* how the last one ended */

	int64_t max_items; /* 0: any number */
	int64_t room;	   /* how many more fit, as far as is known */
	int64_t sent;	   /* items on their way */
	struct ku_request count;
	struct ku_timer pause;	 /* until they are counted again */
	bool unseen;		 /* no event tells of a change */
	struct ku_mirror full;	 /* the items, while the queue is full */
	size_t bytes, max_bytes; /* of what is put in the background */
	struct ku_roomer *rooms, *rooms_last;
};

struct ku_taker {	     /* a thread, or a callback, that waits for items */
	struct ku_wait wait; /* first */
	struct ku_queue *queue;
	size_t max;
	bool peek, ready; /* a peek is ready once earlier reads are dropped */
	uint64_t since;	  /* how many listings were asked for before it */
	struct kustos_item **items;
	size_t count;
	ku_poll_fn *callback;
	void *arg;
	struct ku_taker *prev, *next;
};

struct ku_catch { /* an item that is being read, or was read */
	struct ku_request request;
	struct ku_queue *queue;
	struct ku_item item;	 /* its name points into the head */
	struct kustos_item *got; /* NULL: not read yet */
	int version;
	uint64_t era; /* in which it was read */
	bool put_off; /* it is read again after a pause */
	bool dropped; /* nobody wants it any more */
	bool own;     /* put by us: its name points into "path" */
	bool named;   /* it goes back under the name that it had */
	char digit;   /* the first of its number, if "path" was cut off there */
	struct ku_catch *next;
	char path[];
};

struct ku_catches {
	struct ku_catch *first, **end;
	size_t count;
};

struct ku_take_side {
	struct ku_receipt receipt;
	struct ku_mirror list;
	bool blank; /* the last listing had nothing, and nothing has changed */
	bool stale; /* something may have changed since the last listing */
	int chosen; /* how many items of the last listing were chosen */
	struct ku_others others; /* have they changed what was listed? */
	struct ku_timer due;
	struct ku_unfits unfits;
	int64_t own_next; /* number of the next new item, as far as is known */
	struct ku_head head;
	struct ku_catches caught, taking;
	struct ku_timer pause; /* until those that are put off are read again */
	size_t ahead;	       /* how many to read while others are deleted */
	size_t spread;	       /* choose among the first so many */
	size_t at;	       /* where in the head the chosen ones begin */
	size_t gone;	       /* how many of the head in a row had gone */
	struct ku_deed deed;
	bool busy; /* the deed is under way */
	bool stepping, again;
	int64_t active_ns; /* when the queue was last heard of */
	uint64_t era;	   /* grows when earlier reads no longer count */
	uint64_t begun;
	struct ku_zk_request ops[KU_TAKE_MAX + 1];
	struct ku_catches taken;  /* deleted, and not yet handed out */
	bool root_asked;	  /* for the queue's node, to put items back */
	enum kustos_err root_err; /* why that node could not be made */
	struct ku_taker *first, *last;
};

struct ku_queue {
	/* Constant. */
	struct kustos_client *client;
	enum ku_item_kind kind;
	char *path;	    /* full */
	char *receipts;	    /* as the program knows it */
	char *plain;	    /* full path of an ordinary item, without number */
	int patience;	    /* a stale listing serves so many after the first */
	ku_unfit_fn *unfit; /* NULL: nobody is told */
	void *unfit_arg;

	/* Guarded by the client's lock. */
	int refs;  /* of the program, of the two sides, of requests */
	bool over; /* the program has destroyed it */
	struct ku_inside *inside; /* "unfit" */
	bool ended; /* and nothing goes on in the background any more */
	struct ku_witness witness;
	struct ku_flush *flushes;
	struct ku_put_side put;
	struct ku_take_side take;
};

/* Called with the client locked, as all that follows unless it says
   otherwise. */
void ku_queue_get(struct ku_queue *q);
void ku_queue_drop(struct ku_queue *q);

/* Something was decided: end the flushes that waited for nothing else. */
void ku_queue_settled(struct ku_queue *q);

/* If the program has destroyed the queue, and nothing is on its way that would
   be lost: end it. */
void ku_queue_end_if_idle(struct ku_queue *q);

/* queue_put.c.  After ku_put_end() no call waits any more; after
   ku_put_finish() nothing goes on in the background either. */
void ku_put_init(struct ku_queue *q);
void ku_put_end(struct ku_queue *q);
void ku_put_finish(struct ku_queue *q);

/* Not connected: tell the calls that do not want to wait for a connection. */
void ku_put_away(struct ku_queue *q);

/* queue_batch.c: send the items that wait, as far as the bounds allow. */
void ku_put_pump(struct ku_queue *q);

/* So many items of the call have been decided. */
void ku_put_decided(struct ku_put *put, size_t items, enum kustos_err err);

/* Tell the caller now, if one waits.  Items that are on their way go on; the
   others are not put. */
void ku_put_give_up(struct ku_put *put, enum kustos_err why);

/* queue_root.c: the queue's node is missing.  Make it, and hold "receipt" until
   that has been tried.  "*asked" belongs to the caller and is false at first: a
   caller that has asked before is not served again if the node could not be
   made.  Returns KUSTOS_OK, or why the node cannot be made. */
enum kustos_err ku_root_make(struct ku_queue *q, struct ku_receipt *receipt,
	bool *asked);

/* queue_form.c */

/* Can the item be put into this queue? */
enum kustos_err ku_form_check(const struct ku_queue *q,
	const struct kustos_new_item *item);

/* Return the size of the item's data; make that data, NULL if memory is
   short. */
size_t ku_form_size(const struct ku_queue *q,
	const struct kustos_new_item *item);
char *ku_form_data(const struct ku_queue *q,
	const struct kustos_new_item *item);

/* Make the path to which the server appends a number; and free it. */
enum kustos_err ku_form_path(const struct ku_queue *q,
	const struct kustos_new_item *item, char **out);
void ku_form_free_path(const struct ku_queue *q, const char *path);

/* queue_room.c */

void ku_room_init(struct ku_queue *q);
void ku_room_end(struct ku_queue *q);

/* Ask the server how many items are there.  Then those that wait are sent. */
void ku_room_count(struct ku_queue *q);

/* Wait until more may be put in the background; "roomer" is zero.  A caller
   that had to wait keeps references to the queue, which may be destroyed
   meanwhile, and to its client, until it calls ku_room_leave().  Both are
   called without the lock. */
enum kustos_err ku_room_wait(struct ku_queue *q, struct ku_roomer *roomer,
	kustos_deadline deadline, struct kustos_cancel *cancel);
void ku_room_leave(struct ku_roomer *roomer);
void ku_room_freed(struct ku_queue *q);

/* queue_poll.c: calls that ask for items. */
void ku_take_serve(struct ku_queue *q);
void ku_taker_finish(struct ku_taker *taker, enum kustos_err err);

/* End all of them; end those whose deadline is KUSTOS_NOW. */
void ku_take_fail(struct ku_queue *q, enum kustos_err err);
void ku_take_fail_tries(struct ku_queue *q, enum kustos_err err);

/* The items that were being taken may be gone.  They are not tried again; if
   they are still there, the next listing has them.  The calls that wait for
   items are told, or the log if there are none. */
void ku_take_forget(struct ku_queue *q);

/* Not connected: tell the calls that do not want to wait for a connection. */
void ku_take_away(struct ku_queue *q);

/* queue_take.c */
void ku_take_init(struct ku_queue *q);
void ku_take_end(struct ku_queue *q);
void ku_take_free(struct ku_queue *q);

/* Take the next step. */
void ku_take_step(struct ku_queue *q);

/* Not connected, perhaps for long.  If an item that comes meanwhile may belong
   before others, choose anew once connected, by what is there then. */
void ku_take_unchoose(struct ku_queue *q);

/* Put the items that are being read back into the head: they are read again, in
   their order, when somebody asks. */
void ku_take_put_back(struct ku_queue *q);

/* Something was heard of the queue just now. */
void ku_take_heard(struct ku_queue *q);

/* queue_return.c: the queue is over for the program.  Put back what was taken
   for calls that had given up; once the queue has ended, drop the items. */
void ku_queue_return(struct ku_queue *q);

/* queue_order.c */

/* Do items have keys, so that a newer one may come first? */
bool ku_queue_keyed(const struct ku_queue *q);

/* May there be an item by now that belongs before others and was not listed?
   Then no more are chosen until all reads and deletes under way have ended, and
   the queue is listed again. */
bool ku_take_stale(const struct ku_queue *q);

/* Nothing is being read: make sure that the listing is still true, if that
   matters.  Returns false if the next step is taken only when that is known. */
bool ku_take_refresh(struct ku_queue *q);

/* The queue was listed, and this is its node's stat; NULL: the node is not
   there. */
void ku_take_listed(struct ku_queue *q, const struct kustos_stat *stat);

/* Is this item of the head due?  If not, another step is taken when it is. */
bool ku_take_due(struct ku_queue *q, size_t index);

/* A call waits for an item.  Mending an item that was passed over changes no
   listing, so have another step taken in a while, which looks at it. */
void ku_take_watch_unfit(struct ku_queue *q);

/* Pass this item over from now on, and tell the program.  Returns false if
   memory is short.  And a ku_head_skip_fn that skips such items; "arg" is the
   queue. */
bool ku_take_pass_over(struct ku_queue *q, const char *name,
	const struct kustos_stat *stat);
bool ku_take_skips(const void *arg, const struct ku_item *item);

/* The same with an item that we may not read; the program is not told. */
void ku_take_deny(struct ku_queue *q, const char *name);

void ku_order_init(struct ku_queue *q);
void ku_order_end(struct ku_queue *q);
void ku_order_free(struct ku_queue *q);

/* queue_own.c */

/* This was the node's stat when the queue was listed; NULL: the node was not
   there. */
void ku_own_listed(struct ku_queue *q, const struct kustos_stat *stat);

/* The queue's node was made anew, so its numbers begin anew. */
void ku_own_anew(struct ku_queue *q);

/* These items were put: some of them may be the next to be taken. */
void ku_own_put(struct ku_queue *q, const struct ku_deed *deed,
	const struct ku_zk_reply *reply);

/* queue_catch.c */

void ku_catches_init(struct ku_catches *list);

/* Begin; drop all that is caught; and end, when nothing is put back any
   more. */
void ku_catch_init(struct ku_queue *q);
void ku_catch_end(struct ku_queue *q);
void ku_catch_finish(struct ku_queue *q);

/* Read this item after those that are being read.  Returns false if memory is
   short. */
bool ku_catch_read(struct ku_queue *q, const struct ku_item *item);

/* Take the first out; append one; and free one, at once or when its read has
   ended. */
struct ku_catch *ku_catch_pop(struct ku_catches *list);
void ku_catch_append(struct ku_catches *list, struct ku_catch *c);
void ku_catch_drop(struct ku_catch *c);

/* Hand out its item, and free the rest. */
struct kustos_item *ku_catch_open(struct ku_catch *c);

#endif
