/*
 * soak_items.h - what has become of each item of a queue.  Items are numbers.
 *
 * What ours puts is there once if it said so, and at most once otherwise.
 * Processes of other kinds may put an item twice when an answer is lost.
 */
#ifndef TEST_SOAK_ITEMS_H
#define TEST_SOAK_ITEMS_H

#include "soak.h"

struct item {
	bool foreign; /* of another kind's process */
	bool put;     /* certainly */
	bool unsure;  /* an acknowledgment of unknown outcome */
	int gone;     /* how often it was taken, or acknowledged */
	int64_t when; /* it was acknowledged first */
};

/* Forget all items. */
void items_reset(void);

/* Let "c" put so many new items, from c->from to c->to - 1. */
void items_offer(struct contender *c, int count);

/* The first "count" of these were certainly put. */
void items_put(const struct contender *c, int count);

/* Are there so many that producers should wait? */
bool items_many(void);

/* Return the item.  Fail if nobody has put it. */
struct item *item_of(int number);

/* Return how many items there were, whether put or not. */
int items_count(void);

/* It was taken or acknowledged.  Fail if that was done before, unless it may
   have been put twice. */
void item_gone(int number);

/* Fail unless each item that was certainly put is gone, or, if "unsure" allows
   it, may be.  Print how many there were. */
void items_verdict(bool unsure);

#endif
