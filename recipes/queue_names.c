/* queue_names.c - kinds of queues, and the paths of their nodes. */

#include "queue_names.h"

#include <stdlib.h>
#include <string.h>

bool ku_queue_read_kind(enum kustos_queue_kind kind, enum ku_item_kind *out)
{
	static const enum ku_item_kind kinds[] = {
		[KUSTOS_QUEUE_SIMPLE] = KU_ITEM_SIMPLE,
		[KUSTOS_QUEUE_FRAMED] = KU_ITEM_FRAMED,
		[KUSTOS_QUEUE_PRIORITY] = KU_ITEM_PRIORITY,
		[KUSTOS_QUEUE_DELAY] = KU_ITEM_DELAY,
		[KUSTOS_QUEUE_ID] = KU_ITEM_ID,
		[KUSTOS_QUEUE_KAZOO] = KU_ITEM_KAZOO,
		[KUSTOS_QUEUE_KAZOO_LOCKING] = KU_ITEM_KAZOO,
	};

	if ((unsigned)kind >= sizeof(kinds) / sizeof(kinds[0]))
		return false;
	*out = kinds[kind];
	return true;
}

char *ku_queue_beside(const char *path, const char *end)
{
	char *whole = malloc(strlen(path) + strlen(end) + 1);

	return whole != NULL ? strcat(strcpy(whole, path), end) : NULL;
}

char *ku_queue_items(const char *path, enum kustos_queue_kind kind)
{
	bool below = kind == KUSTOS_QUEUE_KAZOO_LOCKING;

	return ku_queue_beside(path, below ? "/entries" : "");
}
