/*
 * ware.h - an item of a queue as the rules of a scenario see it: by its node, with
 * nothing of the library's, as its names and frames may be what is wrong.
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

/* Return the number that its data is. */
int ware_piece(struct sim *sim, enum ku_item_kind kind, const char *path);

/* SIMPLE, KAZOO, or DELAY. */
struct ware ware_at(enum ku_item_kind kind, const char *path, int64_t parent);

/* Of one queue, does "a" come first? */
bool ware_is_before(const struct ware *a, const struct ware *b);

/* Since when could it be had, if it was there since "made_at"? */
int64_t ware_due_at(enum ku_item_kind kind, const struct ware *ware,
	int64_t made_at);

#endif
