/* queue_form.c - what an item to be put looks like on the wire. */

#include "item.h"
#include "item_frame.h"
#include "queue_impl.h"

#include <stdlib.h>
#include <string.h>

/* The bytes that a transaction needs besides an item's path and data. */
#define ROOM_FOR_REST 512

/* Return the item's parts: its data alone is one part, made in "one". */
static const struct ku_bytes *parts_of(const struct kustos_new_item *item,
	struct ku_bytes *one, size_t *count)
{
	_Static_assert(sizeof(struct ku_bytes) == sizeof(struct kustos_part),
		"parts are laid out alike");
	if (item->parts != NULL) {
		*count = item->count;
		return (const struct ku_bytes *)item->parts;
	}
	*one = (struct ku_bytes){ item->data, item->len };
	*count = 1;
	return one;
}

size_t ku_form_size(const struct ku_queue *q,
	const struct kustos_new_item *item)
{
	struct ku_bytes one;
	size_t count;
	const struct ku_bytes *parts = parts_of(item, &one, &count);

	return ku_item_framed(q->kind) ? ku_frame_size(parts, count)
				       : item->len;
}

enum kustos_err ku_form_check(const struct ku_queue *q,
	const struct kustos_new_item *item)
{
	struct ku_bytes one;
	size_t count;
	const struct ku_bytes *parts = parts_of(item, &one, &count);
	char *path = NULL;

	if (item->parts != NULL && !ku_item_framed(q->kind))
		return KUSTOS_EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (parts[i].data == NULL && parts[i].len > 0)
			return KUSTOS_EINVAL;
		if (parts[i].len > KU_REQUEST_LIMIT)
			return KUSTOS_ETOOBIG;
	}
	enum kustos_err err = ku_form_path(q, item, &path);
	if (err != KUSTOS_OK)
		return err;
	size_t size = ku_form_size(q, item);
	if (size <= KU_REQUEST_LIMIT) /* else the sum could overflow */
		size += strlen(path) + ROOM_FOR_REST;
	ku_form_free_path(q, path);
	return size > KU_REQUEST_LIMIT ? KUSTOS_ETOOBIG : KUSTOS_OK;
}

static int32_t priority_of(const struct ku_queue *q,
	const struct kustos_new_item *item)
{
	if (item->priority != KUSTOS_PRIORITY_DEFAULT)
		return item->priority;
	return q->kind == KU_ITEM_KAZOO ? KU_ITEM_KAZOO_DEFAULT : 0;
}

enum kustos_err ku_form_path(const struct ku_queue *q,
	const struct kustos_new_item *item, char **out)
{
	const struct ku_item_wish wish = { priority_of(q, item), item->due_ms,
		item->id };
	char *head = NULL;

	*out = q->plain;
	if (q->kind == KU_ITEM_SIMPLE || q->kind == KU_ITEM_FRAMED)
		return KUSTOS_OK;
	enum kustos_err err = ku_item_head(q->kind, &wish, &head);
	if (err != KUSTOS_OK)
		return err;
	*out = ku_path_child(q->path, head);
	free(head);
	return *out != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
}

void ku_form_free_path(const struct ku_queue *q, const char *path)
{
	if (path != q->plain)
		free((char *)path);
}

char *ku_form_data(const struct ku_queue *q, const struct kustos_new_item *item)
{
	struct ku_bytes one;
	size_t count;
	const struct ku_bytes *parts = parts_of(item, &one, &count);
	char *data = malloc(ku_form_size(q, item) + 1);

	if (data == NULL)
		return NULL;
	if (ku_item_framed(q->kind))
		ku_frame_write(parts, count, data);
	else if (item->len > 0)
		memcpy(data, item->data, item->len);
	return data;
}
