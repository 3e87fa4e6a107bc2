/*
 * receipt.h - transactions that are done once each, in order, whatever happens
 * to their answers (S15).
 *
 * A stream of transactions owns a node, its receipt.  Each transaction (a deed)
 * begins with a change of the receipt, by the version that the deed before
 * left.  So deeds can only be done one after the other, and the receipt's
 * version says how many were done.  When an answer was lost, the version is
 * read in the next connection or session.  It tells which of the deeds on their
 * way were done, and the others are sent again.  No outcome is ever guessed.
 *
 *	NONE --first deed--> MAKING --> READY --answer lost, all ended--> ASKING
 *	  ^                               ^  |                              |
 *	  +---- somebody deleted it ------+--+<------- its version ---------+
 *
 * Several deeds may be on their way.  If one is refused, those behind it are
 * refused for their version; they are sent again with another version.
 *
 * Each deed also writes the new version into the receipt, and how many versions
 * were used up (see below).  So the receipt shows if anybody else has changed
 * it: then it proves nothing, as if it were gone.  Where we may not read nodes
 * that we make, only the length of that data shows.
 *
 * A deed that is found not to be done may be done yet: a server, or a link
 * between two servers, may still hold it when the session has long moved on.
 * Then the next deed that is sent with that version is refused, though it was
 * never done; if that answer is lost as well, the deed is taken for done.  So
 * the versions that the lost deeds were sent with are used up first, by changes
 * that say so (receipt_fence.c).
 *
 * The node is made when it is first needed, below a folder, with a UUID as its
 * name, and is deleted in the end.  Receipts that programs left behind when
 * they died are deleted when a day old, by whoever makes a receipt
 * (receipt_sweep.c).
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

/* The size of a version, and of how many before it were used up, as text. */
#define KU_STAMP_SIZE 24
#define KU_FENCE_STAMP_SIZE (KU_STAMP_SIZE + 1)

/* No more deeds than this are on their way at a time, so no more versions are
   used up at once. */
#define KU_FENCE_MAX 8

enum ku_deed_state {
	KU_DEED_IDLE, /* not done, and not on its way */
	KU_DEED_SENT,
	KU_DEED_LOST /* its answer was lost: the receipt tells if it was done */
};

struct ku_deed_calls {
	/* The deed is decided: KUSTOS_OK, with the answer, or NULL if that was
	   lost; KUSTOS_EUNKNOWN if it was lost and somebody has deleted the
	   receipt or written to it; or why it was not done.  The deed is its
	   owner's again. */
	void (*over)(struct ku_deed *deed, enum kustos_err err,
		const struct ku_zk_reply *reply);

	/* The server has refused ops[at] with "rc".  Return true to have the
	   deed, which may be changed first, tried again in its place.  If it
	   returns false the deed is over. */
	bool (*refused)(struct ku_deed *deed, int at, int rc);

	/* The deed is about to be sent, perhaps again, and may be changed.
	   Return false if it should not be sent any more: then it is over,
	   with KUSTOS_ECHANGED.  May be NULL. */
	bool (*fit)(struct ku_deed *deed);

	/* The answer was lost: the deed is not decided until there is a
	   connection again.  May be NULL. */
	void (*lost)(struct ku_deed *deed);
};

struct ku_deed { /* a field of whatever is to be done */
	/* The owner's. */
	const struct ku_deed_calls *calls;
	struct ku_zk_request *ops; /* the first is the receipt's */
	int op_count;		   /* including that one */
	void *owner;

	/* The stream's. */
	struct ku_receipt *receipt;
	enum ku_deed_state state;
	int version;		   /* of the receipt before it */
	char stamp[KU_STAMP_SIZE]; /* what it writes: the version after it */
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
	bool final;	/* its owner is over: what is left is still done */
	bool over;	/* ku_receipt_end() was called */
	bool broken;	/* the deeds on their way will be refused */
	bool unsure;	/* answers were lost: ask before sending more */
	bool throttled; /* the server asked for a pause */
	bool busy;	/* a function is at work, and steps at its end */
	int next_version, in_flight;
	struct ku_op *node; /* its creation, or its deletion */
	char *path;	    /* full, while the node is there */
	struct ku_deed *first, *last;
	struct ku_request question;
	struct ku_timer pause;

	/* The versions that are being used up, so that no deed that was sent
	   with one of them can be done any more. */
	int fence_from, fence_to; /* 0: none are */
	int used_up;		  /* how many were, since the node was made */
	char fence_stamp[KU_FENCE_STAMP_SIZE];
	struct ku_zk_request fence[KU_FENCE_MAX];
};

/* Begin.  "ended" is called after ku_receipt_end(). */
void ku_receipt_init(struct ku_receipt *receipt, struct kustos_client *client,
	const char *folder, void (*ended)(struct ku_receipt *receipt));

/* Have "deed" done after those before it. */
void ku_receipt_do(struct ku_receipt *receipt, struct ku_deed *deed);

/* Send nothing until ku_receipt_let_go(). */
void ku_receipt_hold(struct ku_receipt *receipt);
void ku_receipt_let_go(struct ku_receipt *receipt);

/* The owner is over.  Take back the deeds that wait for a connection, so that
   "fit" is asked about them again.  What is left goes on while the client
   drains. */
void ku_receipt_withdraw(struct ku_receipt *receipt);

/* Take it out of use.  Deeds that are not on their way end with KUSTOS_ECLOSED;
   the others end once answered, or with KUSTOS_EUNKNOWN if the answer is lost.
   "ended" follows, perhaps from within this call. */
void ku_receipt_end(struct ku_receipt *receipt);

#endif
