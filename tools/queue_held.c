/*
 * queue_held.c - items whose command has failed, until they are to come again.
 */
#include "queue_held.h"

#define PAUSE_MS 1000	 /* after the first failure */
#define LONGEST_MS 60000 /* after many */

static int64_t pause_ms(int deliveries)
{
	int64_t ms = PAUSE_MS;

	while (--deliveries > 0 && ms < LONGEST_MS)
		ms *= 2;
	return ms < LONGEST_MS ? ms : LONGEST_MS;
}

void held_keep(struct held *h, struct kustos_claim *claim, int code)
{
	h->items[h->count++] = (struct held_item){ claim, code,
		kustos_after_ms(pause_ms(kustos_claim_deliveries(claim))) };
}

/* Return the index of the one that is due first; there is one. */
static size_t first(const struct held *h)
{
	size_t at = 0;

	for (size_t i = 1; i < h->count; i++)
		if (h->items[i].due < h->items[at].due)
			at = i;
	return at;
}

kustos_deadline held_due(const struct held *h)
{
	return h->count > 0 ? h->items[first(h)].due : KUSTOS_FOREVER;
}

bool held_take(struct held *h, kustos_deadline by, struct held_item *out)
{
	if (held_due(h) > by || h->count == 0)
		return false;
	size_t at = first(h);
	*out = h->items[at];
	h->items[at] = h->items[--h->count];
	return true;
}
