/*
 * custody_impl.h - the insides of an item in custody, for the files that are
 * called custody.
 *
 * claim    the item is read, and then, in one transaction: the marker made, and
 *          the item set to the same data by the version read.  So of two that try one
 *          succeeds, and the version counts how often the item was handed out.
 *          If the answer is lost the marker tells whose it is: by the session
 *          that owns it and by what stands in it.
 *          An item that is too large to be written beside a marker is not, and
 *          its version is only compared: then it is not counted.
 * ack      the marker and the item are deleted in one transaction, the item by
 *          the version that the claim left.  If the answer is lost, an item that
 *          is still there, by its czxid, was not deleted.  If it
 *          is gone, so is the marker, unless another deleted the item.
 *          The version of one that is not counted would be the same if another had
 *          it by now, so before that the marker is looked at: by its czxid.
 * again    the same, and the item made anew.
 * aside    for what nobody is to have: the marker made and deleted, so that
 *          nobody has the item just then; the item made in another folder, and
 *          deleted here.  If the answer is lost it is read again, and begins
 *          anew if it is there.
 *
 * Each belongs to the session in which the item was claimed: an ack that was not
 * sent in it is not sent in the next, where the marker may be another's (S16).
 */
#ifndef KU_CUSTODY_IMPL_H
#define KU_CUSTODY_IMPL_H

#include "client.h"
#include "custody.h"

enum ku_custody_state {
	KU_CUSTODY_READING,
	KU_CUSTODY_CLAIMING, /* and finding out whether it was done */
	KU_CUSTODY_MOVING,   /* aside */
	KU_CUSTODY_HELD,
	KU_CUSTODY_ENDING, /* the same of an ack, or of putting it back */
	KU_CUSTODY_OVER
};

typedef void ku_custody_answer_fn(struct ku_custody *custody,
	const struct ku_zk_reply *reply);

#define KU_CUSTODY_OPS 4

struct ku_custody {
	/* Constant. */
	struct ku_depot *depot;
	const struct ku_custody_calls *calls;
	void *owner;
	struct ku_item item;
	char *item_path, *mark_path;	  /* full */
	char id[KU_PROTECTION_SIZE + 11]; /* what stands in its marker */

	enum ku_custody_state state;
	bool left;	/* nobody is told of anything */
	bool ambiguous; /* what was sent may have been applied */
	bool lost;	/* what it was claimed in is over */
	bool stale;	/* there was no connection since it was read */
	bool marked;	/* the marker is there, as far as we know */
	bool counted;	/* the claim has written the item */
	bool doubted; /* a claim before was lost, and none was answered since */
	bool put_off; /* so was this, and others go on without it */
	bool dead;    /* it is moved for having been delivered too often */
	int64_t session_id, token; /* of the claim */
	struct kustos_stat stat;   /* of the item, as it was read */
	char *data;
	int len;
	char *new_path; /* where it is made anew; NULL: nowhere */

	struct ku_request request;
	ku_custody_answer_fn *then;
	struct ku_zk_request ops[KU_CUSTODY_OPS];
	size_t asked;
	struct ku_timer pause;
	void (*paused)(struct ku_custody *custody); /* what comes after it */
	struct ku_op *undo; /* made beforehand: nothing is allocated at the end */
	struct ku_witness witness;
};

/* Ask for c->request.what; "then" takes the answer. */
void ku_custody_ask(struct ku_custody *c, ku_custody_answer_fn *then);

/* Read a node. */
void ku_custody_look(struct ku_custody *c, enum ku_zk_kind kind,
	const char *path, ku_custody_answer_fn *then);

/* Send the first "count" of c->ops in one transaction. */
void ku_custody_do(struct ku_custody *c, int count, ku_custody_answer_fn *then);

/* Would a server take them? */
bool ku_custody_fits(const struct ku_custody *c, int count);

/* Call "next" in a moment. */
void ku_custody_pause(struct ku_custody *c,
	void (*next)(struct ku_custody *custody));

struct ku_zk_request ku_custody_make(const struct ku_custody *c,
	const char *path, enum ku_zk_mode mode);
struct ku_zk_request ku_custody_delete(const char *path, int version);

/* See that the marker goes, if it is ours. */
void ku_custody_unmark(struct ku_custody *c);

/* It ends: told if somebody wants to know, else freed. */
void ku_custody_missed(struct ku_custody *c, enum ku_missed how,
	enum kustos_err err);
void ku_custody_ended(struct ku_custody *c, enum kustos_err err);

/* custody_claim.c: begin. */
void ku_custody_read(struct ku_custody *c);

#endif
