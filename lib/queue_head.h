/*
 * queue_head.h - the items of a queue that a listing showed, the first at hand.
 *
 * All are kept, but only those that are looked at are put in order: of a
 * hundred thousand a consumer may want one.  The ordered ones are the window;
 * the rest is a heap.
 */
#ifndef KU_QUEUE_HEAD_H
#define KU_QUEUE_HEAD_H

#include "item_name.h"

#include <stdbool.h>
#include <stddef.h>

#define KU_HEAD_WINDOW 1024

struct ku_head { /* zero before its use */
	struct ku_item *heap;
	size_t heap_count;
	struct ku_item *window; /* sorted, and before all of the heap */
	size_t window_count;
	char *text; /* all names */
};

/* Is this item to be skipped? */
typedef bool ku_head_skip_fn(const void *arg, const struct ku_item *item);

/* Replace what the head has by the items of this kind among "names", without
   those that "skip" wants skipped (NULL: none).  Returns false if memory is
   short; the head is then empty. */
bool ku_head_load(struct ku_head *head, enum ku_item_kind kind,
	const char *const *names, int count, ku_head_skip_fn *skip,
	const void *arg);

void ku_head_free(struct ku_head *head);

static inline size_t ku_head_count(const struct ku_head *head)
{
	return head->heap_count + head->window_count;
}

/* "gone" items of the head, one after the other, were found to be gone: is it
   better to list again?  Other consumers are then far ahead of us, and faster
   than we can find that out item by item.  A name in a listing costs far less
   than a request. */
static inline bool ku_head_is_spent(const struct ku_head *head, size_t gone)
{
	return gone >= 32 + ku_head_count(head) / 256;
}

/* Return the item that has "index" others before it, or NULL.  It is valid
   until the next call. */
const struct ku_item *ku_head_at(struct ku_head *head, size_t index);

/* Take it out.  Its name is valid until the next load. */
struct ku_item ku_head_take(struct ku_head *head, size_t index);

/* Put an item back.  It may be dropped instead: the next listing has it. */
void ku_head_put_back(struct ku_head *head, const struct ku_item *item);

#endif
