/*
 * queue_held.h - items whose command has failed: each stays claimed for a
 * while, so that those behind it have their turn.
 */
#ifndef KU_QUEUE_HELD_H
#define KU_QUEUE_HELD_H

#include <kustos/claim.h>

#include <stdbool.h>

#define HELD_MAX 1000

struct held_item {
	struct kustos_claim *claim;
	int code; /* that its command ended with */
	kustos_deadline due;
};

struct held {
	struct held_item items[HELD_MAX];
	size_t count;
};

/* Keep a claim; the caller knows that there is room.  It is due after a pause
   that is longer the more often the item was delivered. */
void held_keep(struct held *h, struct kustos_claim *claim, int code);

/* Return when the first of them is due, or KUSTOS_FOREVER. */
kustos_deadline held_due(const struct held *h);

/* Take the first that is due by "by".  Returns false if there is none. */
bool held_take(struct held *h, kustos_deadline by, struct held_item *out);

#endif
