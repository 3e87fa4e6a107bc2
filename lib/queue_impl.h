/*
 * queue_impl.h - the insides of a queue, for the files that are called queue.
 *
 * A queue has two sides that know nothing of each other, each with a receipt of its
 * own (receipt.h), so that a put does not wait for a take.
 *
 * Put.  Calls stand in line; their items are gathered into batches, as many in one
 * transaction as have come while those before were on their way, and a few
 * transactions are on their way at a time.
 *
 * Take.  A listing fills the head (queue_head.h), and serves until it is used up.
 * The first items are read, several in one flight; then deleted in one
 * transaction, each by the version that was read, while the next are being read.
 * What was deleted is kept for whoever asks next, and for those who asked for it,
 * if they still do.  So at most as many are deleted as are asked for.
 *
 *	head --read--> catches --delete--> taken --> who waits
 *
 * What was read is deleted at once, or read again: if the queue's node is deleted
 * and made anew, numbers begin anew, and an item may have the name, and the version,
 * of one that was read before.
 *
 * When it is destroyed, what was taken for calls that had given up is put back, and
 * what is being taken, when that is decided: until then it lives on, but not longer
 * than its client.
 *
 * If another took one of them first the transaction is refused as a whole; that one
 * is forgotten, the others go back to the head, and the next that are tried are
 * chosen at random from the first of the head, from more of them each time this
 * happens, and from fewer when it does not.  Who is alone takes strictly the first.
 */
#ifndef KU_QUEUE_IMPL_H
#define KU_QUEUE_IMPL_H

#include "client.h"
#include "mirror.h"
#include "others.h"
#include "queue.h"
#include "queue_head.h"
#include "receipt.h"
#include "unfit.h"
#include "witness.h"

/* One transaction of a put has so many operations or bytes at the most, and so
   many are on their way. */
#define KU_BATCH_MAX 256
#define KU_BATCH_BYTES (256 * 1024)
#define KU_BATCHES 4

/* One transaction of a take has so many. */
#define KU_TAKE_MAX 256

/* What the change of the receipt takes in each, or a little more. */
#define KU_RECEIPT_SIZE 512

struct ku_put {		     /* what one call puts */
	struct ku_wait wait; /* first: cast back from it */
	struct ku_queue *queue;
	const struct kustos_new_item *items;
	size_t count;
	size_t gathered;   /* so many of them are in batches, or were */
	size_t open;	   /* in batches */
	size_t done;	   /* put */
	char *path, *data; /* of one item, in its form; else they are made */
	size_t len, cost;  /* of that data; and in memory, if it is copied */
	enum kustos_err err;
	uint64_t failed; /* the batch of one that was not put, and then nothing
			    behind it is to be; 0: none */
	int refs;	 /* of the caller, of the line */
	bool waited;	 /* by somebody who is not told yet */
	bool once;	 /* the deadline is KUSTOS_NOW */
	uint64_t serial;
	ku_put_fn *callback;
	void *arg;
	struct ku_put *prev, *next; /* in line, until all is decided */
};

struct ku_flush {	     /* who waits for what was begun before */
	struct ku_wait wait; /* first */
	struct ku_queue *queue;
	bool all; /* not only for what is taken */
	uint64_t puts, takes;
	struct ku_flush *prev, *next;
};

struct ku_roomer {	     /* who waits until fewer bytes wait */
	struct ku_wait wait; /* first */
	struct ku_queue *queue;
	bool kept; /* it has a reference to the queue, until it has gone on */
	struct ku_roomer *prev, *next;
};

struct ku_put_side {
	struct ku_receipt receipt;
	struct ku_put *first, *last;
	uint64_t begun;
	uint64_t gathered;	  /* batches */
	int batches;		  /* under way */
	struct ku_op *root;	  /* the creation of the queue's node */
	enum kustos_err root_err; /* what the last one came to */

	int64_t max_items; /* 0: any number */
	int64_t room;	   /* for so many more, as far as is known */
	int64_t sent;	   /* on their way */
	struct ku_request count;
	struct ku_timer pause;	 /* until that is asked again */
	bool unseen;		 /* nothing else tells of a change */
	struct ku_mirror full;	 /* what is there while it is full */
	size_t bytes, max_bytes; /* of what is put in the background */
	struct ku_roomer *rooms, *rooms_last;
};

struct ku_taker {	     /* a thread, or a callback, that waits for items */
	struct ku_wait wait; /* first */
	struct ku_queue *queue;
	size_t max;
	bool peek, ready; /* and nothing read before counts */
	bool once;
	uint64_t since; /* listings that had been asked for */
	struct kustos_item **items;
	size_t count;
	ku_poll_fn *callback;
	void *arg;
	struct ku_taker *prev, *next;
};

struct ku_catch { /* an item that is read, or was */
	struct ku_request request;
	struct ku_queue *queue;
	struct ku_item item;	 /* the name is the head's */
	struct kustos_item *got; /* NULL: not read yet */
	int version;
	uint64_t era; /* in which it was read */
	bool put_off; /* it is read again after a pause */
	bool dropped; /* nobody wants to know */
	bool own;     /* put by us: its name is in "path" */
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
	int chosen; /* so many of what that had were */
	struct ku_others others; /* who have changed what was listed */
	struct ku_timer due;
	struct ku_unfits unfits;
	int64_t own_next; /* number of the next item after all that is known */
	struct ku_head head;
	struct ku_catches caught, taking;
	struct ku_timer pause; /* until those that are put off are read again */
	size_t ahead;	       /* how many to read while others are deleted */
	size_t spread;	       /* from so many the next are chosen */
	size_t at;	       /* where in the head they were */
	size_t gone; /* so many of the head in a row were not there any more */
	struct ku_deed deed;
	bool busy; /* that is under way */
	bool stepping, again;
	int64_t active_ns; /* when something was last heard of it */
	uint64_t era;	   /* grows when what was read before counts no more */
	uint64_t begun;
	struct ku_zk_request *ops; /* KU_TAKE_MAX + 1 */
	struct ku_catches taken;   /* for who comes next */
	bool root_asked;	   /* the queue's node, for what goes back; */
	enum kustos_err root_err;  /* and why it could not be made */
	struct ku_taker *first, *last;
};

struct ku_queue {
	/* Constant. */
	struct kustos_client *client;
	enum ku_item_kind kind;
	char *path;	    /* full */
	char *receipts;	    /* as the program knows it */
	char *plain;	    /* full path of an ordinary item, without number */
	int patience;	    /* so many go by a stale listing, after one */
	ku_unfit_fn *unfit; /* NULL: nobody is told */
	void *unfit_arg;
	bool telling; /* of one, in this thread */
	pthread_t teller;

	/* Guarded by the client's lock. */
	int refs;   /* of the program, of the two sides, of requests */
	bool over;  /* for the program */
	bool ended; /* and nothing goes on behind it */
	struct ku_witness witness;
	struct ku_flush *flushes;
	struct ku_put_side put;
	struct ku_take_side take;
};

/* Locked, as all that follows. */
void ku_queue_get(struct ku_queue *q);
void ku_queue_drop(struct ku_queue *q);

/* Something was decided: who flushes may be served. */
void ku_queue_settled(struct ku_queue *q);

/* It is over: end it, if nothing is on its way that would be lost. */
void ku_queue_rest(struct ku_queue *q);

/* queue_put.c.  Returns false if memory is short.  First no call waits for it any
   more; then nothing goes on. */
bool ku_put_init(struct ku_queue *q);
void ku_put_end(struct ku_queue *q);
void ku_put_finish(struct ku_queue *q);

/* Not connected: tell those who do not want to wait for that. */
void ku_put_away(struct ku_queue *q);

/* queue_batch.c: send what waits, as far as it may be. */
void ku_put_pump(struct ku_queue *q);

/* Tell whoever waits for it, and has not been told. */
void ku_put_tell(struct ku_put *put, enum kustos_err err);

/* So much of it has been decided. */
void ku_put_decided(struct ku_put *put, size_t items, enum kustos_err err);

/* queue_root.c: the queue's node is missing: make it, and hold "receipt" until that has
   been tried.  "*asked" is false at first, and this one's who asks; what he has asked
   for and could not be made is not tried again.  Returns KUSTOS_OK, or why not. */
enum kustos_err ku_root_make(struct ku_queue *q, struct ku_receipt *receipt,
	bool *asked);

/* queue_form.c */

/* Can it be put into this queue? */
enum kustos_err ku_form_check(const struct ku_queue *q,
	const struct kustos_new_item *item);

/* Return the size of its data, and make that; NULL if memory is short. */
size_t ku_form_size(const struct ku_queue *q,
	const struct kustos_new_item *item);
char *ku_form_data(const struct ku_queue *q,
	const struct kustos_new_item *item);

/* Make the path that the server appends a number to; and free it. */
enum kustos_err ku_form_path(const struct ku_queue *q,
	const struct kustos_new_item *item, char **out);
void ku_form_free_path(const struct ku_queue *q, const char *path);

/* queue_room.c */

/* Returns false if memory is short. */
bool ku_room_init(struct ku_queue *q);
void ku_room_end(struct ku_queue *q);

/* See how many items are there; then those that wait are sent. */
void ku_room_count(struct ku_queue *q);

/* Wait until more may be put in the background; "roomer" is zero.  Who had to wait
   keeps the queue, which may go first, and its client, and gives them back when it
   has gone on.  Not locked. */
enum kustos_err ku_room_wait(struct ku_queue *q, struct ku_roomer *roomer,
	kustos_deadline deadline, struct kustos_cancel *cancel);
void ku_room_leave(struct ku_roomer *roomer);
void ku_room_freed(struct ku_queue *q);
void ku_roomer_end(struct ku_roomer *roomer, enum kustos_err err);

/* queue_poll.c: who asks for items. */
void ku_take_serve(struct ku_queue *q);
void ku_take_fail(struct ku_queue *q, enum kustos_err err, bool once);
void ku_taker_finish(struct ku_taker *taker, enum kustos_err err);

/* What was being taken may be gone: it is not tried again; if it is there, it will be
   listed.  Who waits for items is told so, or if nobody does the log says it. */
void ku_take_forget(struct ku_queue *q);

/* Not connected: tell those who do not want to wait for that. */
void ku_take_away(struct ku_queue *q);

/* queue_take.c.  Returns false if memory is short. */
bool ku_take_init(struct ku_queue *q);
void ku_take_end(struct ku_queue *q);
void ku_take_free(struct ku_queue *q);

/* Take the next step. */
void ku_take_step(struct ku_queue *q);

/* Not connected, perhaps for long: choose anew once connected, by what is there then,
   if one that comes meanwhile may belong before others. */
void ku_take_unchoose(struct ku_queue *q);

/* What is being read is to be read again, in its order, when somebody asks. */
void ku_take_put_back(struct ku_queue *q);

/* Something was heard of the queue just now. */
void ku_take_heard(struct ku_queue *q);

/* queue_return.c: it is over: put back what was taken for calls that had given up; or
   if nothing goes on behind it, drop that. */
void ku_queue_return(struct ku_queue *q);

/* queue_order.c */

/* Have items keys, so that a newer one may come first? */
bool ku_queue_keyed(const struct ku_queue *q);

/* May there be an item by now that belongs before others, and was not listed?  Then
   no more is chosen until what is being read or deleted is done with, and it is
   listed again. */
bool ku_take_stale(const struct ku_queue *q);

/* Nothing is being read: see that the listing is true still, if it matters.
   Returns false if another step is taken when that is known. */
bool ku_take_refresh(struct ku_queue *q);

/* So the queue's node is now that its items are listed; NULL: not there. */
void ku_take_listed(struct ku_queue *q, const struct kustos_stat *stat);

/* Is this item of the head due?  Else another step is taken when it is. */
bool ku_take_due(struct ku_queue *q, size_t index);

/* Somebody waits for an item.  To mend one that was passed over changes no listing:
   another step is taken in a while, which looks at it. */
void ku_take_watch_unfit(struct ku_queue *q);

/* Pass this one over from now on, and tell of it.  Returns false if memory is
   short.  And a ku_head_skip_fn for that; "arg" is the queue. */
bool ku_take_pass_over(struct ku_queue *q, const char *name,
	const struct kustos_stat *stat);
bool ku_take_skips(const void *arg, const struct ku_item *item);

/* The same with one that we may not read; it is not told of. */
void ku_take_deny(struct ku_queue *q, const char *name);

/* Returns false if memory is short. */
bool ku_order_init(struct ku_queue *q);
void ku_order_end(struct ku_queue *q);
void ku_order_free(struct ku_queue *q);

/* queue_own.c */

/* So the queue's node was when its items were listed; NULL: not there. */
void ku_own_listed(struct ku_queue *q, const struct kustos_stat *stat);

/* The queue's node was made anew: so are its numbers. */
void ku_own_anew(struct ku_queue *q);

/* This was put: some of it may be the next to be taken. */
void ku_own_put(struct ku_queue *q, const struct ku_deed *deed,
	const struct ku_zk_reply *reply);

/* queue_catch.c */

void ku_catches_init(struct ku_catches *list);

/* One timer is reserved for what is caught; all of that is dropped; and the timer given
   back, when nothing is put back any more. */
void ku_catch_init(struct ku_queue *q);
void ku_catch_end(struct ku_queue *q);
void ku_catch_finish(struct ku_queue *q);

/* Read this item, behind those that are being read.  Returns false if memory is
   short. */
bool ku_catch_read(struct ku_queue *q, const struct ku_item *item);

/* Take the first out; and free one, at once or when it was read. */
struct ku_catch *ku_catch_pop(struct ku_catches *list);
void ku_catch_append(struct ku_catches *list, struct ku_catch *c);
void ku_catch_drop(struct ku_catch *c);

/* Hand out its item, and free the rest. */
struct kustos_item *ku_catch_open(struct ku_catch *c);

#endif
