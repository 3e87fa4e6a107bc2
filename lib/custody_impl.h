/*
 * custody_impl.h - the internals of an item in custody, for the files that are
 * called custody.
 *
 * claim    The item is read.  Then one transaction makes the marker and sets
 *          the item to the same data, by the version that was read.  So of two
 *          that try, one succeeds, and the version counts how often the item
 *          was handed out.
 *          If the answer is lost, the marker tells whose it is, by the session
 *          that owns it and by its data.
 *          An item that is too large to be written in one request with a marker
 *          only has its version compared: then this claim is not counted.
 * ack      One transaction deletes the marker and the item, the item by the
 *          version that the claim left.  If the answer is lost, an item that is
 *          still there, by its czxid, was not deleted.  If the item is gone,
 *          the marker is gone, too, unless another deleted the item.
 *          The version of an item that is not counted would be the same if
 *          another had claimed it since.  So before such an ack the marker is
 *          compared, by its czxid.
 * again    The same, and the transaction makes the item anew.
 * aside    For an item that nobody is to have: one transaction makes and
 *          deletes the marker, so that nobody has the item just then, makes the
 *          item in another folder, and deletes it here.  If the answer is lost
 *          the item is read again, and if it is there all this begins anew.
 *
 * guard    An item that is held for longer than a moment has its marker
 *          watched.  If that is deleted, or is another's, the item is lost.
 *
 * An ack or again belongs to the session in which the item was claimed.  One
 * that was not sent in that session is not sent in the next, where the marker
 * may be another's (S16).
 */
#ifndef KU_CUSTODY_IMPL_H
#define KU_CUSTODY_IMPL_H

#include "client.h"
#include "custody.h"

enum ku_custody_state {
	KU_CUSTODY_READING,
	KU_CUSTODY_CLAIMING, /* or finding out whether it was claimed */
	KU_CUSTODY_MOVING,   /* aside */
	KU_CUSTODY_HELD,
	KU_CUSTODY_ENDING, /* acking or putting back, or finding that out */
	KU_CUSTODY_OVER
};

typedef void ku_custody_answer_fn(struct ku_custody *custody,
	const struct ku_zk_reply *reply);

#define KU_CUSTODY_OPS 4

struct ku_mark_watch;

struct ku_custody {
	/* Constant. */
	struct ku_depot *depot;
	const struct ku_custody_calls *calls;
	void *owner;
	struct ku_item item;
	char *item_path, *mark_path;	  /* full */
	char id[KU_PROTECTION_SIZE + 11]; /* the data of its marker */

	enum ku_custody_state state;
	bool left;	/* no callback is called any more */
	bool ambiguous; /* what was sent may have been applied */
	bool lost;	/* the session in which it was claimed was lost */
	bool stale;	/* the connection was lost since it was read; or the
			   marker may be another's by now */
	bool marked;	/* the marker is there, as far as we know */
	bool counted;	/* the claim writes the item, so its version counts */
	bool doubted; /* a claim before was lost, and none was answered since */
	bool put_off; /* this was lost as well: others go on without it */
	bool dead;    /* it is moved for having been delivered too often */
	int64_t session_id, token;  /* of the claim */
	struct kustos_stat stat;    /* of the item, as it was read */
	struct ku_hold_check check; /* of the claim */
	char *data;
	int len;
	char *new_path; /* where it is made anew; NULL: nowhere */

	struct ku_request request;
	ku_custody_answer_fn *then;
	struct ku_zk_request ops[KU_CUSTODY_OPS];
	size_t asked;
	struct ku_timer pause;
	void (*paused)(struct ku_custody *custody); /* called at its end */
	struct ku_mark_watch *watch;		    /* NULL: none, or not yet */
	struct ku_op *undo; /* made beforehand: nothing is allocated at the end */
	struct ku_witness witness;
};

/* Read a node; "then" takes the answer. */
void ku_custody_look(struct ku_custody *c, enum ku_zk_kind kind,
	const char *path, ku_custody_answer_fn *then);

/* Send the first "count" of c->ops in one transaction. */
void ku_custody_do(struct ku_custody *c, int count, ku_custody_answer_fn *then);

/* Would a server take them? */
bool ku_custody_fits(const struct ku_custody *c, int count);

/* Call "next" after so long; or after a pause of some length, in which others
   may be tried. */
void ku_custody_after(struct ku_custody *c, int64_t ms,
	void (*next)(struct ku_custody *custody));
void ku_custody_pause(struct ku_custody *c,
	void (*next)(struct ku_custody *custody));

/* Return the part of a transaction that makes the marker, if "mode" is
   ephemeral, or else a node with the item's data; or that deletes a node. */
struct ku_zk_request ku_custody_make(const struct ku_custody *c,
	const char *path, enum ku_zk_mode mode);
struct ku_zk_request ku_custody_delete(const char *path, int version);

/* It ends: call the callback, or free it if it was left. */
void ku_custody_missed(struct ku_custody *c, enum ku_missed how,
	enum kustos_err err);
void ku_custody_ended(struct ku_custody *c, enum kustos_err err);

/* It was ours, and is not any more. */
void ku_custody_lose(struct ku_custody *c);

/* custody_claim.c: begin. */
void ku_custody_read(struct ku_custody *c);

/* custody_guard.c: it is ours, watch the marker in a moment; and stop that,
   before the marker is deleted. */
void ku_custody_guard(struct ku_custody *c);
void ku_custody_unguard(struct ku_custody *c);

#endif
