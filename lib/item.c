/* item.c - an item as the program gets it. */

#include "item.h"

#include <stdlib.h>
#include <string.h>

bool ku_item_fits(enum ku_item_kind kind, const char *data, int len)
{
	size_t count;

	return !ku_item_framed(kind) ||
		(len >= 0 && ku_frame_check(data, (size_t)len, &count));
}

/* Find the id, which stands between two bars. */
static void read_id(const struct ku_item *name, const char **id, size_t *len)
{
	const char *bar = strchr(name->name, '|');
	size_t before = bar == NULL ? 0 : (size_t)(bar - name->name) + 1;

	*id = NULL;
	*len = 0;
	if (bar == NULL || name->head < before + 1)
		return;
	*id = bar + 1;
	*len = name->head - (before + 1);
}

/* Copy the bytes into "*room", with a zero behind them, and move "*room" on. */
static char *copy(char **room, const void *from, size_t len)
{
	char *to = *room;

	if (len > 0)
		memcpy(to, from, len);
	to[len] = '\0';
	*room += len + 1;
	return to;
}

/* Set the item's data and parts.  The parts of a frame stay where they are in
   it; the byte behind each, a code of the frame, is overwritten with a zero. */
static void open_data(enum ku_item_kind kind, struct kustos_item *item,
	struct kustos_part *parts, struct ku_bytes data)
{
	struct ku_bytes rest = data, part;

	item->parts = parts;
	if (!ku_item_framed(kind))
		parts[item->count++] = (struct kustos_part){ data.data,
			data.len };
	while (ku_item_framed(kind) && ku_frame_next(&rest, &part))
		parts[item->count++] = (struct kustos_part){ part.data,
			part.len };
	for (size_t i = 0; i < item->count; i++)
		((char *)parts[i].data)[parts[i].len] = '\0';
	item->data = item->count > 0 ? parts[0].data : "";
	item->len = item->count > 0 ? parts[0].len : 0;
}

struct ku_bytes ku_item_close(enum ku_item_kind kind, struct kustos_item *item)
{
	char *data = (char *)(item->parts + item->count);
	char *behind = data + KU_FRAME_BEGINNING;

	if (!ku_item_framed(kind))
		return (struct ku_bytes){ data, item->len };
	for (size_t i = 0; i < item->count; i++) {
		*behind = KU_FRAME_ITEM;
		behind = (char *)item->parts[i].data + item->parts[i].len;
	}
	*behind = KU_FRAME_END;
	return (struct ku_bytes){ data, (size_t)(behind + 1 - data) };
}

struct kustos_item *ku_item_make(enum ku_item_kind kind,
	const struct ku_item *name, const char *data, int len,
	int64_t created_ms)
{
	struct ku_bytes bytes = { data, len > 0 ? (size_t)len : 0 };
	size_t count = 1, id_len, name_len = strlen(name->name);
	const char *id;

	if (ku_item_framed(kind))
		ku_frame_check(data, bytes.len, &count);
	read_id(name, &id, &id_len);
	struct kustos_item *item = malloc(sizeof(*item) +
		count * sizeof(struct kustos_part) + name_len + id_len +
		bytes.len + 3);
	if (item == NULL)
		return NULL;
	struct kustos_part *parts = (struct kustos_part *)(item + 1);
	char *room = (char *)(parts + count);
	bytes.data = copy(&room, data, bytes.len);
	*item = (struct kustos_item){
		.name = copy(&room, name->name, name_len),
		.created_ms = created_ms,
	};
	if (kind == KU_ITEM_PRIORITY || kind == KU_ITEM_KAZOO)
		item->priority = ku_item_priority(kind, name);
	if (kind == KU_ITEM_DELAY)
		item->due_ms = (int64_t)name->key;
	if (kind == KU_ITEM_ID && id != NULL)
		item->id = copy(&room, id, id_len);
	open_data(kind, item, parts, bytes);
	return item;
}

void kustos_item_free(struct kustos_item *item)
{
	free(item); /* one block */
}
