/* queue_head.c - items that a listing showed. */

#include "queue_head.h"

#include <stdlib.h>
#include <string.h>

static void swap(struct ku_item *a, struct ku_item *b)
{
	struct ku_item kept = *a;

	*a = *b;
	*b = kept;
}

static void sift_down(struct ku_item *heap, size_t count, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count &&
			ku_item_before(&heap[child + 1], &heap[child]))
			child++;
		if (!ku_item_before(&heap[child], &heap[at]))
			return;
		swap(&heap[child], &heap[at]);
	}
}

void ku_head_free(struct ku_head *head)
{
	free(head->heap);
	free(head->window);
	free(head->text);
	memset(head, 0, sizeof(*head));
}

static bool make_room(struct ku_head *head, const char *const *names, int count)
{
	size_t text = 0;

	for (int i = 0; i < count; i++)
		text += strlen(names[i]) + 1;
	head->heap = malloc(((size_t)count + 1) * sizeof(*head->heap));
	head->window = malloc(KU_HEAD_WINDOW * sizeof(*head->window));
	head->text = malloc(text + 1);
	return head->heap != NULL && head->window != NULL && head->text != NULL;
}

bool ku_head_load(struct ku_head *head, enum ku_item_kind kind,
	const char *const *names, int count, ku_head_skip_fn *skip,
	const void *arg)
{
	ku_head_free(head);
	if (!make_room(head, names, count)) {
		ku_head_free(head);
		return false;
	}
	char *end = head->text;
	for (int i = 0; i < count; i++) {
		struct ku_item *item = &head->heap[head->heap_count];

		if (!ku_item_parse(kind, names[i], item) ||
			(skip != NULL && skip(arg, item)))
			continue;
		item->name = end;
		end = stpcpy(end, names[i]) + 1;
		head->heap_count++;
	}
	for (size_t i = head->heap_count / 2; i > 0; i--)
		sift_down(head->heap, head->heap_count, i - 1);
	return true;
}

/* Move the first of the heap into the window. */
static void extend(struct ku_head *head)
{
	head->window[head->window_count++] = head->heap[0];
	head->heap[0] = head->heap[--head->heap_count];
	sift_down(head->heap, head->heap_count, 0);
}

const struct ku_item *ku_head_at(struct ku_head *head, size_t index)
{
	while (head->window_count <= index && head->heap_count > 0 &&
		head->window_count < KU_HEAD_WINDOW)
		extend(head);
	return index < head->window_count ? &head->window[index] : NULL;
}

static void move(struct ku_head *head, size_t from, size_t to)
{
	memmove(&head->window[to], &head->window[from],
		(head->window_count - from) * sizeof(*head->window));
}

struct ku_item ku_head_take(struct ku_head *head, size_t index)
{
	struct ku_item item = *ku_head_at(head, index);

	move(head, index + 1, index);
	head->window_count--;
	return item;
}

void ku_head_put_back(struct ku_head *head, const struct ku_item *item)
{
	size_t at = 0;

	/* Most are put back where they came from: at the front. */
	while (at < head->window_count &&
		ku_item_before(&head->window[at], item))
		at++;
	if (at == head->window_count && head->heap_count > 0 &&
		ku_item_before(&head->heap[0], item))
		return; /* its place is in the heap by now */
	if (head->window == NULL || head->window_count == KU_HEAD_WINDOW)
		return;
	move(head, at, at + 1);
	head->window[at] = *item;
	head->window_count++;
}
