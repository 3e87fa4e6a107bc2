/*
 * desk.h - where the items of a queue are handed out at least once: each comes
 * back unless it is acknowledged.
 *
 * Not called with the client locked.
 */
#ifndef KU_DESK_H
#define KU_DESK_H

#include "item_name.h"
#include "service.h"

#include <kustos/item.h>
#include <stdbool.h>

struct kustos_cancel;
struct kustos_client;
struct kustos_hold;
struct ku_desk;
struct ku_lent;

/* What was done with an item that nobody can have.  "moved": to the folder for
   such; else it was left where it is. */
enum ku_unfit { KU_UNFIT_CORRUPT, KU_UNFIT_DEAD };
typedef void ku_desk_unfit_fn(void *arg, enum ku_unfit why, bool moved,
	const char *name);

struct ku_desk_wish {
	enum ku_item_kind kind;
	bool plain;	   /* put back without key, as Curator's do */
	const char *items; /* folders, as the program knows them */
	const char *marks;
	const char *dead;    /* NULL: none */
	const char *corrupt; /* NULL: left where they are */
	int deliveries;	     /* 0: any number */
	int ahead;	     /* so many are had before they are asked for */
	int stale; /* where a key has its say: so many may be had by an older
		      listing after one */
	ku_desk_unfit_fn *unfit; /* NULL: nobody is told */
	void *arg;
};

KU_SERVICE enum kustos_err ku_desk_create(struct kustos_client *client,
	const struct ku_desk_wish *wish, struct ku_desk **out);

/* What was lent stays so until it is given back.  NULL is allowed. */
KU_SERVICE void ku_desk_destroy(struct ku_desk *desk);

typedef void ku_lend_fn(void *arg, enum kustos_err err, struct ku_lent *lent);
typedef void ku_give_fn(void *arg, enum kustos_err err);

/* Wait for an item.  KUSTOS_NOW: KUSTOS_EEMPTY if there is none to be had.  The
   other one returns at once; "done" is told of the end. */
KU_SERVICE enum kustos_err ku_desk_lend(struct ku_desk *desk,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct ku_lent **out);
KU_SERVICE enum kustos_err ku_desk_lend_async(struct ku_desk *desk,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_lend_fn *done, void *arg);

/* How it was lent.  The hold is not to be released. */
KU_SERVICE const struct kustos_item *ku_lent_item(const struct ku_lent *lent);
KU_SERVICE int ku_lent_deliveries(const struct ku_lent *lent);
KU_SERVICE struct kustos_hold *ku_lent_hold(const struct ku_lent *lent);

/* It was dealt with: delete it; or put it back at the end ("again"), and wait for
   that.  KUSTOS_NOW: if there is a connection.  "lent" is gone whatever happens.
   Returns what ku_custody_ack() ends with; KUSTOS_ETIMEDOUT or KUSTOS_ECANCELED,
   and it goes on.  The other one returns at once; "done", which may be NULL, is
   told of the end. */
KU_SERVICE enum kustos_err ku_lent_ack(struct ku_lent *lent, bool again,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KU_SERVICE enum kustos_err ku_lent_ack_async(struct ku_lent *lent, bool again,
	ku_give_fn *done, void *arg);

/* Give it back where it was.  NULL is allowed. */
KU_SERVICE void ku_lent_return(struct ku_lent *lent);

#endif
