/*
 * queue_head.h - the items of a queue that a listing showed, the first at hand.
 *
 * All are kept, but only as many are put in order as are looked at: of a hundred
 * thousand a consumer may want one.  Those are the window; the rest is a heap.
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

/* Does somebody not want this item? */
typedef bool ku_head_skip_fn(const void *arg, const struct ku_item *item);

/* Forget what it has and have the items of this kind among "names", but for those
   that are to be skipped (NULL: none).  Returns false if memory is short, and then
   it is empty. */
bool ku_head_load(struct ku_head *head, enum ku_item_kind kind,
	const char *const *names, int count, ku_head_skip_fn *skip,
	const void *arg);

void ku_head_free(struct ku_head *head);

static inline size_t ku_head_count(const struct ku_head *head)
{
	return head->heap_count + head->window_count;
}

/* Have so many of those that it had, one after the other, been gone that it is better
   to list again?  Others are far ahead of us then, and faster than we can find that
   out item by item.  To list one takes a small part of a question. */
static inline bool ku_head_is_spent(const struct ku_head *head, size_t gone)
{
	return gone >= 32 + ku_head_count(head) / 256;
}

/* Return the item that stands behind so many others, or NULL: valid until the
   next call. */
const struct ku_item *ku_head_at(struct ku_head *head, size_t index);

/* Take it out.  Its name is valid until the next load. */
struct ku_item ku_head_take(struct ku_head *head, size_t index);

/* Put it back.  It may be dropped: the next listing has it. */
void ku_head_put_back(struct ku_head *head, const struct ku_item *item);

#endif
