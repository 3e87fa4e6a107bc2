/*
 * item_name.h - names of a queue's items: make, take apart, order, make again.
 *
 * A name is its kind's prefix, a key, and the number that the server appended:
 *
 *   qn-0000000007                 SIMPLE    Curator's and ZooKeeper's recipes
 *   queue-0000000007              FRAMED    Curator's DistributedQueue
 *   queue-17FFFFFFF0000000007     PRIORITY  sign, 8 hex digits
 *   queue-|1A1FA1B2383|0000000007 DELAY     due, in ms since 1970
 *   queue-|id|0000000007          ID
 *   entry-100-0000000007          KAZOO     priority
 *
 * The kinds with "queue-" read each other's names.  So do Curator's consumers,
 * which also put items back under plain names.  Nodes of other names are no
 * items.
 *
 * Pure functions.
 */
#ifndef KU_ITEM_NAME_H
#define KU_ITEM_NAME_H

#include <kustos/base.h>
#include <stdbool.h>

enum ku_item_kind {
	KU_ITEM_SIMPLE,
	KU_ITEM_FRAMED,
	KU_ITEM_PRIORITY,
	KU_ITEM_DELAY,
	KU_ITEM_ID,
	KU_ITEM_KAZOO
};

/* The greatest priority that kazoo can write so that names sort, and its
   default. */
#define KU_ITEM_KAZOO_MAX 999
#define KU_ITEM_KAZOO_DEFAULT 100

/* What an item is put with; each kind reads its own field. */
struct ku_item_wish {
	int32_t priority; /* PRIORITY, KAZOO: the lesser is first */
	int64_t due_ms;	  /* DELAY: since 1970; not negative */
	const char *id;	  /* ID: "/" and "|" become "_" */
};

/* Make the head of a new name, malloc'ed; the server appends the number.
   Returns KUSTOS_EINVAL if the wish has no name that sorts where it belongs, or
   none at all; or KUSTOS_ENOMEM. */
enum kustos_err ku_item_head(enum ku_item_kind kind,
	const struct ku_item_wish *wish, char **out);

/* One item among others of its queue. */
struct ku_item {
	const char *name; /* as given */
	uint64_t key;	  /* the lesser is first; DELAY: when it is due */
	uint32_t number;  /* the lesser is first among items of one key */
	uint32_t head;	  /* the length of what precedes the number */
};

/* Take a name apart.  Returns false if it is not that of an item of such a
   queue. */
bool ku_item_parse(enum ku_item_kind kind, const char *name,
	struct ku_item *out);

/* Have such items keys, so that a newer one may stand before others? */
bool ku_item_keyed(enum ku_item_kind kind);

/* Does "a" stand before "b"?  Unless the names are equal, one of two always
   does. */
bool ku_item_before(const struct ku_item *a, const struct ku_item *b);

/* Make the head of the name under which the item goes back into its queue: with
   its key; or if "plain" without it, as Curator's consumers do (an id is kept).
   It is malloc'ed; NULL if memory is short. */
char *ku_item_again(enum ku_item_kind kind, const struct ku_item *item,
	bool plain);

/* Return the priority in the name (PRIORITY, KAZOO).  A plain name under which
   an item was put back has one, too. */
int32_t ku_item_priority(enum ku_item_kind kind, const struct ku_item *item);

/* Was this item put with this id? */
bool ku_item_has_id(const struct ku_item *item, const char *id);

#endif
