/*
 * ware.h - an item of a queue as the rules of a scenario see it.  They parse
 * its node without the library's code, as the library's names and frames may be
 * wrong.
 */
#ifndef SIM_WARE_H
#define SIM_WARE_H

#include "sim.h"

#include "item_name.h"

struct ware {
	int64_t parent; /* czxid of the queue's node */
	int64_t key;	/* its priority; or when it is due, in ms */
	int64_t number;
};

/* Return the number that is the item's data. */
int ware_piece(struct sim *sim, enum ku_item_kind kind, const char *path);

/* Return the item at "path".  "kind" is SIMPLE, KAZOO, or DELAY. */
struct ware ware_at(enum ku_item_kind kind, const char *path, int64_t parent);

/* Does "a" come before "b", in the same queue? */
bool ware_is_before(const struct ware *a, const struct ware *b);

/* Return since when the item may be taken, if it exists since "made_at". */
int64_t ware_due_at(enum ku_item_kind kind, const struct ware *ware,
	int64_t made_at);

#endif
