/*
 * receipt.h - transactions that are done once each, in order, whatever happens to
 * their answers (S15).
 *
 * A stream of them owns a node, its receipt, and each transaction (a deed) begins
 * with the change of it from the version before.  So they can only be done one
 * after the other, and the receipt's version says how many were.  When an answer
 * was lost, that is read, with the next connection or session, and tells of all
 * that were on their way which were done: the others are sent again.  No outcome
 * is ever guessed.
 *
 *	NONE --first deed--> MAKING --> READY --answer lost, all ended--> ASKING
 *	  ^                               ^  |                              |
 *	  +---- somebody deleted it ------+--+<------- its version ---------+
 *
 * Several may be on their way.  If one is refused those behind it are as well, for
 * their version; they are sent again with another.
 *
 * The version is written into it as well, and how many were used up (see below).  So
 * it shows if anybody else has changed it: then it proves nothing, as if it were gone.
 * Where nodes that we make are not for us to read, only the length of that shows.
 *
 * What is found not to be done may be done yet: a server, or a link between two, may
 * have it still when the session has long moved on, and then the next is refused,
 * though it was never done.  So the versions that were sent with are used up first, by
 * changes that say so.
 *
 * The node is made when it is first needed, below a folder, with a UUID as its
 * name; it is deleted in the end.  Those of programs that died are swept up by
 * whoever makes one, when a day old (receipt_sweep.c).
 *
 * Everything here is called, and calls back, with the client locked.
 */
#ifndef KU_RECEIPT_H
#define KU_RECEIPT_H

#include "timer.h"
#include "wire.h"

#include <stdbool.h>

struct ku_deed;
struct ku_op;
struct ku_receipt;

/* A version, and how many before it were used up, as text. */
#define KU_STAMP_SIZE 24
#define KU_FENCE_STAMP_SIZE (KU_STAMP_SIZE + 1)

/* So many are on their way at the most. */
#define KU_FENCE_MAX 8

enum ku_deed_state {
	KU_DEED_IDLE, /* not done, and not on its way */
	KU_DEED_SENT,
	KU_DEED_LOST /* done or not: the receipt is to be asked */
};

struct ku_deed_calls {
	/* It is decided: KUSTOS_OK, with the answer, or NULL if that was lost;
	   KUSTOS_EUNKNOWN if somebody deleted the receipt, or wrote to it; else why it was not
	   done.  The deed is its owner's again. */
	void (*over)(struct ku_deed *deed, enum kustos_err err,
		const struct ku_zk_reply *reply);

	/* The server has refused ops[at], with "rc".  Return true to have it
	   tried again in its place, perhaps after a change; else it is over. */
	bool (*refused)(struct ku_deed *deed, int at, int rc);

	/* It is about to be sent, perhaps again, and may be changed before.
	   Return false if it is not fit for that any more: then it is over,
	   with KUSTOS_ECHANGED.  May be NULL. */
	bool (*fit)(struct ku_deed *deed);

	/* Its answer was lost: it takes until there is a connection again to
	   decide it.  May be NULL. */
	void (*lost)(struct ku_deed *deed);
};

struct ku_deed { /* a field of whatever is to be done */
	/* The owner's. */
	const struct ku_deed_calls *calls;
	struct ku_zk_request *ops; /* the first is the receipt's */
	int op_count;		   /* with that */
	void *owner;

	/* The stream's. */
	struct ku_receipt *receipt;
	enum ku_deed_state state;
	int version;		   /* of the receipt, before it */
	char stamp[KU_STAMP_SIZE]; /* and after it, which it writes */
	struct ku_request request;
	struct ku_deed *prev, *next;
};

enum ku_receipt_state {
	KU_RECEIPT_NONE,
	KU_RECEIPT_MAKING,
	KU_RECEIPT_READY,
	KU_RECEIPT_ASKING
};

struct ku_receipt { /* a field of its owner */
	/* Constant. */
	struct kustos_client *client;
	const char *folder; /* as the program knows it; the owner's */
	void (*ended)(struct ku_receipt *receipt);

	enum ku_receipt_state state;
	bool held;	/* by its owner: nothing is sent */
	bool final;	/* its owner is over: what is left is to be done */
	bool over;	/* ku_receipt_end() was called */
	bool broken;	/* what is on its way will be refused */
	bool unsure;	/* answers were lost */
	bool throttled; /* the server asked for a pause */
	bool busy;	/* somebody is at it, and takes the next step */
	int next_version, in_flight;
	struct ku_op *node; /* its creation, or its deletion */
	char *path;	    /* full, while it is there */
	struct ku_deed *first, *last;
	struct ku_request question;
	struct ku_timer pause;

	/* These versions were used up, or are being, so that nothing that was sent with
	   one of them can be done any more. */
	int fence_from, fence_to; /* 0: none are */
	int used_up;		  /* before, since the node was made */
	char fence_stamp[KU_FENCE_STAMP_SIZE];
	struct ku_zk_request fence[KU_FENCE_MAX];
};

/* Returns false if memory is short.  "ended" is called after ku_receipt_end(). */
bool ku_receipt_init(struct ku_receipt *receipt, struct kustos_client *client,
	const char *folder, void (*ended)(struct ku_receipt *receipt));

/* Have "deed" done, after those before it. */
void ku_receipt_do(struct ku_receipt *receipt, struct ku_deed *deed);

/* Send nothing until it is let go again. */
void ku_receipt_hold(struct ku_receipt *receipt);
void ku_receipt_let_go(struct ku_receipt *receipt);

/* The owner is over.  Take back what waits for a connection: whether it is fit is
   asked again.  What is left goes on while the client drains. */
void ku_receipt_withdraw(struct ku_receipt *receipt);

/* Take it out of use: what is not on its way ends with KUSTOS_ECLOSED, and what
   is, in its time.  "ended" follows, perhaps from in here. */
void ku_receipt_end(struct ku_receipt *receipt);

/* Is nothing to be done? */
static inline bool ku_receipt_is_idle(const struct ku_receipt *receipt)
{
	return receipt->first == NULL;
}

/* receipt_fence.c.  What stands in a receipt of this version, if we alone have
   written to it. */
int ku_receipt_stamp(const struct ku_receipt *r, int version,
	char out[KU_STAMP_SIZE]);

/* The receipt was read, or looked at.  Have we alone written to it?  Were the versions
   used up that were to be last? */
bool ku_receipt_is_ours(const struct ku_receipt *r,
	const struct ku_zk_reply *reply);
bool ku_receipt_is_fenced(const struct ku_receipt *r,
	const struct ku_zk_reply *reply);

/* The version behind that of the last whose answer was lost. */
int ku_receipt_behind_lost(const struct ku_receipt *r);

/* Use up these versions, "to" not with them, in one transaction. */
void ku_receipt_fence(struct ku_receipt *r, int from, int to,
	ku_request_fn *fenced);

/* That was refused for what the deeds will be refused for as well, who are told why
   then: not because one of them was done meanwhile, or the receipt is gone. */
bool ku_receipt_fence_useless(const struct ku_zk_reply *reply);

/* receipt_sweep.c: delete receipts in the folder that were not used for a day, by
   the server's clock, which says "now_ms".  Nobody waits for it. */
void ku_receipt_sweep(struct kustos_client *client, const char *folder,
	int64_t now_ms);

#endif
