/*
 * desk.h - the items of a queue handed out at least once: an item that is not
 * acknowledged comes back.
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

/* Why nobody can have an item.  "moved": it was moved to the folder for such
   items; otherwise it was left where it is. */
enum ku_unfit { KU_UNFIT_CORRUPT, KU_UNFIT_DEAD };
typedef void ku_desk_unfit_fn(void *arg, enum ku_unfit why, bool moved,
	const char *name);

struct ku_desk_wish {
	enum ku_item_kind kind;
	bool plain;	   /* put back without its key, as Curator's
			      consumers do */
	const char *items; /* folders, as the program knows them */
	const char *marks;
	const char *dead;    /* NULL: none */
	const char *corrupt; /* NULL: such items are left where they are */
	int deliveries;	     /* 0: any number */
	int ahead;	     /* how many to claim before they are asked for */
	int stale; /* where keys decide the order: how many items a listing may
		      serve after its first, though it may be out of date */
	ku_desk_unfit_fn *unfit; /* NULL: nobody is told */
	void *arg;
};

KU_SERVICE enum kustos_err ku_desk_create(struct kustos_client *client,
	const struct ku_desk_wish *wish, struct ku_desk **out);

/* An item that was lent stays lent until it is given back.  NULL is allowed. */
KU_SERVICE void ku_desk_destroy(struct ku_desk *desk);

typedef void ku_lend_fn(void *arg, enum kustos_err err, struct ku_lent *lent);

/* Wait for an item.  With KUSTOS_NOW, returns KUSTOS_EEMPTY if no item is
   available.  The async form returns at once, and calls "done" at the end. */
KU_SERVICE enum kustos_err ku_desk_lend(struct ku_desk *desk,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct ku_lent **out);
KU_SERVICE enum kustos_err ku_desk_lend_async(struct ku_desk *desk,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_lend_fn *done, void *arg);

/* The item that was lent, how often it was delivered, and the hold on it, which
   the caller must not release. */
KU_SERVICE const struct kustos_item *ku_lent_item(const struct ku_lent *lent);
KU_SERVICE int ku_lent_deliveries(const struct ku_lent *lent);
KU_SERVICE struct kustos_hold *ku_lent_hold(const struct ku_lent *lent);

/* What becomes of an item that was dealt with: it is deleted, or put back at
   the end. */
enum ku_ack { KU_ACK_DELETE, KU_ACK_AGAIN };

/* The item was dealt with: delete it, or put it back, and wait until that is
   done.  With KUSTOS_NOW, it is done only if there is a
   connection.  "lent" is gone whatever happens.  Returns what ku_custody_ack()
   returns or ends with; KUSTOS_EDISCONNECTED, if KUSTOS_NOW and there is no
   connection; or KUSTOS_ETIMEDOUT or KUSTOS_ECANCELED.  If the ack had begun by
   then, it goes on; if not, the item is given back.  The async form returns at
   once, and calls "done", which may be NULL, at the end. */
KU_SERVICE enum kustos_err ku_lent_ack(struct ku_lent *lent, enum ku_ack how,
	kustos_deadline deadline, struct kustos_cancel *cancel);
KU_SERVICE enum kustos_err ku_lent_ack_async(struct ku_lent *lent,
	enum ku_ack how, kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg);

/* Give the item back where it was.  NULL is allowed. */
KU_SERVICE void ku_lent_return(struct ku_lent *lent);

#endif
