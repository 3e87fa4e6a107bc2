/*
 * queue_kind.c - what kind a queue is of, by the names in it.
 */
#include "item_sort.h"
#include "queue.h"

#include <kustos/node.h>

#include <stdlib.h>
#include <string.h>

/* The sort of the folder in which kazoo's locking queue has its items. */
#define FOLDER (ITEM_WITH_ID + 1)

/* The sorts of items that a queue of each kind may have.  Items without a key
   occur in every kind of Curator's, as Curator requeues them without; and an id
   may look like a time. */
#define BIT(sort) (1u << (sort))
#define TIMES (BIT(ITEM_AT_ANY_TIME) | BIT(ITEM_AT_A_TIME))
static const struct {
	const char *name;
	unsigned sorts;
} kinds[] = {
	[KUSTOS_QUEUE_SIMPLE] = { "simple", BIT(ITEM_SIMPLE) },
	[KUSTOS_QUEUE_FRAMED] = { "framed", BIT(ITEM_FRAMED) },
	[KUSTOS_QUEUE_PRIORITY] = { "priority",
		BIT(ITEM_FRAMED) | BIT(ITEM_WITH_PRIORITY) },
	[KUSTOS_QUEUE_DELAY] = { "delay", BIT(ITEM_FRAMED) | TIMES },
	[KUSTOS_QUEUE_ID] = { "id",
		BIT(ITEM_FRAMED) | TIMES | BIT(ITEM_WITH_ID) },
	[KUSTOS_QUEUE_KAZOO] = { "kazoo", BIT(ITEM_KAZOO) },
	[KUSTOS_QUEUE_KAZOO_LOCKING] = { "kazoo-locking", BIT(FOLDER) },
};
#define KINDS (int)(sizeof(kinds) / sizeof(kinds[0]))

bool queue_kind_named(const char *name, enum kustos_queue_kind *out)
{
	for (int kind = 0; kind < KINDS; kind++)
		if (strcmp(kinds[kind].name, name) == 0) {
			*out = (enum kustos_queue_kind)kind;
			return true;
		}
	return false;
}

/* Return the sorts that occur, as bits. */
static unsigned sorts_in(const struct kustos_names *names)
{
	unsigned sorts = 0;
	bool folder = false;

	for (size_t i = 0; i < names->count; i++) {
		sorts |= BIT(item_sort_of(names->names[i]));
		folder = folder || strcmp(names->names[i], "entries") == 0;
	}
	sorts &= ~BIT(ITEM_OTHER);
	return sorts == 0 && folder ? BIT(FOLDER) : sorts;
}

/* Return the first kind that may have all of these sorts, or -1. */
static int kind_of(unsigned sorts)
{
	for (int kind = 0; kind < KINDS; kind++)
		if ((sorts & ~kinds[kind].sorts) == 0)
			return kind;
	return -1;
}

static int settle(struct queue_job *q, unsigned sorts)
{
	const char *path = q->job.path;
	int kind = kind_of(sorts);

	if (sorts == 0)
		return TOOL_OK;
	if (kind >= 0 && !q->has_kind && !q->verb->items)
		q->kind = (enum kustos_queue_kind)kind;
	if ((sorts & ~kinds[q->kind].sorts) == 0)
		return TOOL_OK;
	if (kind >= 0)
		return tool_usage(&q->tool,
			"the items of %s are of -k %s, not of -k %s", path,
			kinds[kind].name, kinds[q->kind].name);
	if (!q->has_kind)
		return tool_usage(&q->tool,
			"the items of %s are of several kinds: say one with -k",
			path);
	if ((sorts & kinds[q->kind].sorts) != 0)
		return TOOL_OK;
	return tool_usage(&q->tool, "no item of %s is of -k %s", path,
		kinds[q->kind].name);
}

int queue_recognise(struct queue_job *q, struct kustos_client *client)
{
	struct kustos_names *names = NULL;
	enum kustos_err err = kustos_children(client, q->job.path,
		kustos_after_ms(q->tool.session_ms), NULL, &names, NULL);
	int code = TOOL_OK;

	/* A program that puts may have no right to list the items. */
	if (err == KUSTOS_OK)
		code = settle(q, sorts_in(names));
	else if (err != KUSTOS_ENONODE &&
		!(err == KUSTOS_ENOAUTH && q->verb->items))
		code = tool_failed(&q->tool, "cannot list", q->job.path, err);
	kustos_names_free(names);
	return code;
}
