/*
 * soak_items.c - the ledger of a queue.
 */
#include "soak_items.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST (1 << 20)
#define MANY 300 /* in the queue */

static struct item *items;
static int offered, left; /* to be taken, of those certainly put */

void items_reset(void)
{
	free(items);
	items = calloc(MOST, sizeof(*items));
	ck_assert_ptr_nonnull(items);
	offered = left = 0;
}

void items_offer(struct contender *c, int count)
{
	ck_assert_int_le(offered + count, MOST);
	c->from = offered;
	c->to = offered += count;
	for (int i = c->from; i < c->to; i++)
		items[i].foreign = !soak_is_ours(c);
}

void items_put(const struct contender *c, int count)
{
	ck_assert_int_le(count, c->to - c->from);
	for (int i = c->from; i < c->from + count; i++)
		items[i].put = true;
	left += count;
}

bool items_many(void)
{
	return left > MANY;
}

int items_count(void)
{
	return offered;
}

struct item *item_of(int number)
{
	ck_assert_int_ge(number, 0);
	ck_assert_int_lt(number, offered);
	return &items[number];
}

void item_gone(int number)
{
	struct item *item = item_of(number);

	item->gone++;
	left--;
	ck_assert_msg(item->gone == 1 || item->foreign, "%d is gone twice",
		number);
}

void items_verdict(bool unsure)
{
	int put = 0, gone = 0, doubts = 0, lost = 0;

	for (int i = 0; i < offered; i++) {
		const struct item *item = &items[i];

		put += item->put;
		gone += item->gone > 0;
		doubts += item->gone == 0 && item->unsure;
		if (item->put && item->gone == 0 && !(unsure && item->unsure)) {
			fprintf(stderr, "item %d was put and is lost\n", i);
			lost++;
		}
	}
	fprintf(stderr, "%s: %d items offered, %d put, %d gone, %d in doubt\n",
		soak.scene->name, offered, put, gone, doubts);
	ck_assert_int_eq(lost, 0);
}
