/* ware.c - an item of a queue, as its node shows it. */
#include "ware.h"

#include "model.h"
#include "sim_impl.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER 10 /* digits at the end of a name */
#define FRAME 9	  /* bytes before the first item of a frame */

int ware_piece(struct sim *sim, enum ku_item_kind kind, const char *path)
{
	size_t before = kind == KU_ITEM_DELAY ? FRAME : 0, len = 0;
	const char *data = model_bytes(sim_model(sim), path, &len);

	if (data == NULL || len <= before) {
		sim_fail(sim, "simulator", "no data in %s", path);
		return 0;
	}
	return atoi(data + before);
}

struct ware ware_at(enum ku_item_kind kind, const char *path, int64_t parent)
{
	const char *name = strrchr(path, '/') + 1;
	struct ware ware = { .parent = parent };

	ware.number = atoll(name + strlen(name) - NUMBER);
	if (kind == KU_ITEM_KAZOO)
		ware.key = atoll(name + strlen("entry-"));
	else if (kind == KU_ITEM_DELAY)
		ware.key = strtoll(name + strlen("queue-|"), NULL, 16);
	return ware;
}

bool ware_is_before(const struct ware *a, const struct ware *b)
{
	return a->parent == b->parent &&
		(a->key < b->key ||
			(a->key == b->key && a->number < b->number));
}

int64_t ware_due_at(enum ku_item_kind kind, const struct ware *ware,
	int64_t made_at)
{
	int64_t due = kind == KU_ITEM_DELAY ? ware->key * KU_NS_PER_MS : 0;

	return due > made_at ? due : made_at;
}
