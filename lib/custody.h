/*
 * custody.h - one item of a queue in our hands, from the first try to claim it
 * until it is acknowledged, put back, or given up.
 *
 *   READING -> CLAIMING -> HELD -- ack, again --> ENDING -> over
 *      |          |          |                      |
 *      +- missed -+          +------ lost ----------+
 *
 * A consumer that has an item has an ephemeral node, the marker, with the
 * item's name, in a folder that all consumers know.  Curator's lock-safe
 * consumers and kazoo's LockingQueue do the same.  The marker goes with the
 * session, and then another consumer may have the item.  custody_impl.h says
 * what is sent.
 *
 * Everything here is called, and calls back, with the client locked.
 */
#ifndef KU_CUSTODY_H
#define KU_CUSTODY_H

#include "hold.h"
#include "item_name.h"
#include "name.h"
#include "others.h"

#include <kustos/base.h>
#include <stdbool.h>

struct kustos_client;
struct ku_custody;

/* What all items of one consumer have in common.  Constant, but for "refs",
   "serial", "doubts" and "others". */
struct ku_depot {
	int refs;
	struct kustos_client *client;
	enum ku_item_kind kind;
	bool plain;  /* put back without its key, as Curator's consumers do */
	char *items; /* full paths of folders */
	char *marks;
	char *dead;	/* NULL: none */
	char *corrupt;	/* the same */
	int deliveries; /* the most; then an item is moved to "dead" */
	char id[KU_PROTECTION_SIZE]; /* the data of our markers begins so */
	unsigned serial;	     /* and ends so, in the next marker */
	bool doubts; /* a claim was lost, and none was answered since */
	struct ku_others others; /* have others changed the items? */
};

enum ku_missed {
	KU_MISSED_GONE,	   /* the item is not there any more */
	KU_MISSED_TAKEN,   /* another has it, or has just had it */
	KU_MISSED_DEAD,	   /* it was delivered too often, and was moved */
	KU_MISSED_CORRUPT, /* it is no frame, and was moved */
	KU_MISSED_LEFT,	   /* it is no frame, or has children: it was left */
	KU_MISSED_MARKS,   /* the folder of markers is not there */
	KU_MISSED_DEADS,   /* the folder to which it is to be moved is not
			      there */
	KU_MISSED_CORRUPTS,
	KU_MISSED_LOST,	  /* the session was lost, or is over; or the
			     connection was lost before it was claimed */
	KU_MISSED_LATER,  /* the server asks for a pause, or memory is short */
	KU_MISSED_DENIED, /* we may not read it, write it, or move it away */
	KU_MISSED_REFUSED /* for the reason given */
};

struct ku_custody_calls {
	/* The item is tried again in a moment: others may be tried
	   meanwhile. */
	void (*paused)(struct ku_custody *custody);

	/* Is the item still wanted, beside the others that are tried for?  If
	   not, it is missed. */
	bool (*wanted)(struct ku_custody *custody);

	/* The item is ours. */
	void (*claimed)(struct ku_custody *custody);

	/* The item is not ours.  Call ku_custody_leave(). */
	void (*missed)(struct ku_custody *custody, enum ku_missed how,
		enum kustos_err err);

	/* The item was ours and may be another's by now.  Call
	   ku_custody_leave(). */
	void (*lost)(struct ku_custody *custody);

	/* The ack, or the putting back, has ended: see ku_custody_ack().  Call
	   ku_custody_leave(). */
	void (*ended)(struct ku_custody *custody, enum kustos_err err);
};

/* What is known of an item that is ours. */
struct ku_custody_view {
	int deliveries;	  /* including this one */
	const char *mark; /* path of the marker, as the program knows it */
	int64_t token;	  /* its czxid */

	/* The item, as the claim left it; lives as long as the custody. */
	const struct ku_hold_check *check;
};

/* Drop a reference.  The last one frees the depot and what it points to. */
void ku_depot_put(struct ku_depot *depot);

/* Try to claim the item "name".  No callback comes before this has returned.
   Returns KUSTOS_OK or KUSTOS_ENOMEM. */
enum kustos_err ku_custody_take(struct ku_depot *depot, const char *name,
	const struct ku_custody_calls *calls, void *owner,
	struct ku_custody **out);

void *ku_custody_owner(const struct ku_custody *custody);
void ku_custody_view(const struct ku_custody *custody,
	struct ku_custody_view *out);
const char *ku_custody_name(const struct ku_custody *custody);

/* The item is ours: make it as the program gets it.  NULL: memory is short. */
struct kustos_item *ku_custody_open(const struct ku_custody *custody);

/* Was the answer to its claim lost, and is the outcome being found out?
   Returns false during a pause, and once the item is put off: a server may
   never take that claim. */
bool ku_custody_is_unsure(const struct ku_custody *custody);

/* Was the answer to its claim lost, as the answer to an earlier claim had been,
   with none in between?  Then others go on without it. */
bool ku_custody_is_put_off(const struct ku_custody *custody);

/* The item's stat, as it was read. */
const struct kustos_stat *ku_custody_stat(const struct ku_custody *custody);

/*
 * The item is ours: delete it, or put it back at the end with its key, in one
 * transaction that deletes the marker as well.  Returns KUSTOS_OK, and "ended"
 * follows with one of these:
 *
 *	KUSTOS_OK	it was done
 *	KUSTOS_ELOST	it was not done: another may have the item, or have
 *			had it
 *	KUSTOS_EUNKNOWN	the answer was lost, and nothing tells the outcome: the
 *			item is gone, and the session was lost or the marker is
 *			another's by now; or we may not look at item or marker
 *	KUSTOS_ECLOSED	the client was closed before the outcome was known
 *	others		why the server refused it; the item is given back
 *
 * Or returns KUSTOS_ENOMEM, KUSTOS_ELOST, or KUSTOS_ETOOBIG, and nothing is
 * sent.
 */
enum kustos_err ku_custody_ack(struct ku_custody *custody);
enum kustos_err ku_custody_again(struct ku_custody *custody);

/* Let the item go, in whatever state it is.  No callback is called any more,
   and a claim is given back; but an ack that is on its way goes on. */
void ku_custody_leave(struct ku_custody *custody);

#endif
