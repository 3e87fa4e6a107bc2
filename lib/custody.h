/*
 * custody.h - one item of a queue in our hands, from the wish to have it until
 * it is acknowledged, put back, or given up.
 *
 *   READING -> CLAIMING -> HELD -- ack, again --> ENDING -> over
 *      |          |          |                      |
 *      +- missed -+          +------ lost ----------+
 *
 * Who has an item has an ephemeral node, the marker, named as the item, in a
 * folder that all consumers know: so do Curator's that are lock-safe, and
 * kazoo's LockingQueue.  The marker goes with the session, and then another may
 * have the item.  custody_impl.h has what is sent.
 *
 * Everything here is called, and calls back, with the client locked.
 */
#ifndef KU_CUSTODY_H
#define KU_CUSTODY_H

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
	bool plain;  /* put back as Curator's do, without its key */
	char *items; /* full paths of folders */
	char *marks;
	char *dead;	/* NULL: none */
	char *corrupt;	/* the same */
	int deliveries; /* so often at the most, then it is moved to "dead" */
	char id[KU_PROTECTION_SIZE]; /* begins what stands in our markers */
	unsigned serial;	     /* and ends it, of the next */
	bool doubts; /* a claim was lost on its way, and none was answered since */
	struct ku_others others; /* who change the items; told of what we do */
};

enum ku_missed {
	KU_MISSED_GONE,	   /* the item is not there any more */
	KU_MISSED_TAKEN,   /* another has it, or has just had it */
	KU_MISSED_DEAD,	   /* it was delivered too often, and was moved */
	KU_MISSED_CORRUPT, /* it is no frame, and was moved */
	KU_MISSED_LEFT,	   /* the same, or it has children, and was left */
	KU_MISSED_MARKS,   /* the folder of markers is not there */
	KU_MISSED_DEADS,   /* the folder is not there to which it is to be
			      moved */
	KU_MISSED_CORRUPTS,
	KU_MISSED_LOST,	  /* the session was lost, or is over; or the
			     connection, before anything was sent */
	KU_MISSED_LATER,  /* the server asks for a pause, memory is short */
	KU_MISSED_DENIED, /* we may not read it, write it, or move it away */
	KU_MISSED_REFUSED /* for the reason given */
};

struct ku_custody_calls {
	/* It is tried again in a moment: others may go on meanwhile. */
	void (*paused)(struct ku_custody *custody);

	/* It was put off: does anybody want it still, beside what else is tried for?
	   Else it is missed. */
	bool (*wanted)(struct ku_custody *custody);

	/* It is ours. */
	void (*claimed)(struct ku_custody *custody);

	/* It is not, and is to be left. */
	void (*missed)(struct ku_custody *custody, enum ku_missed how,
		enum kustos_err err);

	/* It was ours and may be another's by now.  It is to be left. */
	void (*lost)(struct ku_custody *custody);

	/* The ack has ended, or the putting back: see ku_custody_ack().  It is
	   to be left. */
	void (*ended)(struct ku_custody *custody, enum kustos_err err);
};

/* What is known of an item that is ours. */
struct ku_custody_view {
	const char *name; /* of the item */
	const char *data; /* NULL: null */
	size_t len;
	int64_t created_ms;
	int deliveries;	  /* with this one */
	const char *mark; /* path of the marker, as the program knows it */
	int64_t token;	  /* its czxid */
};

/* A count of 0 frees it and what it points to. */
void ku_depot_put(struct ku_depot *depot);

/* Take the item "name" into custody.  No call comes before this has returned.
   Returns KUSTOS_OK or KUSTOS_ENOMEM. */
enum kustos_err ku_custody_take(struct ku_depot *depot, const char *name,
	const struct ku_custody_calls *calls, void *owner,
	struct ku_custody **out);

void *ku_custody_owner(const struct ku_custody *custody);
void ku_custody_view(const struct ku_custody *custody,
	struct ku_custody_view *out);
const char *ku_custody_name(const struct ku_custody *custody);

/* Was the answer to its claim lost, and is it found out what became of that?  Not
   while there is a pause, nor from the second time on: a server may never take it. */
bool ku_custody_is_unsure(const struct ku_custody *custody);

/* Was it lost when one before was?  Others go on without it. */
bool ku_custody_is_put_off(const struct ku_custody *custody);

/* The item's, as it was read. */
const struct kustos_stat *ku_custody_stat(const struct ku_custody *custody);

/* Of one that is ours: delete it, or put it back at the end with its key, in
   one transaction with the marker.  Ends with KUSTOS_OK; KUSTOS_ELOST if that
   was not done, and another may have it or had it; KUSTOS_EUNKNOWN if the
   answer was lost and then the session, and the item is gone; KUSTOS_ECLOSED;
   or why the server refused it, and then it is given back.  Returns KUSTOS_OK
   or, and then nothing is sent, KUSTOS_ENOMEM, KUSTOS_ELOST, or KUSTOS_ETOOBIG. */
enum kustos_err ku_custody_ack(struct ku_custody *custody);
enum kustos_err ku_custody_again(struct ku_custody *custody);

/* Let it go, in whatever state it is: nothing is called any more, and what it
   has is given back; but an ack that is on its way goes on. */
void ku_custody_leave(struct ku_custody *custody);

#endif
