/*
 * queue_own.c - an item that was put by the object that takes it next.
 *
 * The number of a new node counts the children that the queue's node ever had.
 * So if our own item has the number that was next when the items were listed,
 * nobody has put an item in between.  Our item is then the next of all, and its
 * name, data and version are known: it need be neither listed nor read.  That
 * holds while the queue's node is the same, and so, as for items that were
 * read, not after a silence.
 *
 * Only as many items are kept as a consumer that puts will soon have taken.
 */

#include "item.h"
#include "queue_impl.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MAX 64
#define KEPT_BYTES (64 * 1024)

void ku_own_listed(struct ku_queue *q, const struct kustos_stat *stat)
{
	ku_take_heard(q);
	q->take.own_next = stat != NULL
		? ((int64_t)stat->cversion + stat->num_children) / 2
		: 0;
}

void ku_own_anew(struct ku_queue *q)
{
	ku_take_heard(q);
	q->take.own_next = 0;
	q->take.era++;
}

/* Is the item the next of all, and worth keeping? */
static bool is_next(const struct ku_queue *q, const struct ku_item *item,
	int len)
{
	const struct ku_take_side *take = &q->take;

	return take->begun > 0 && !ku_queue_keyed(q) && !q->over &&
		item->number == take->own_next && take->spread == 0 &&
		take->head.heap_count + take->head.window_count == 0 &&
		take->caught.count < KEPT_MAX && len < KEPT_BYTES / KEPT_MAX;
}

/* "time_ms" is that of the transaction. */
static void keep(struct ku_queue *q, const struct ku_zk_request *op,
	const char *path, const struct ku_deed *deed, int64_t time_ms)
{
	struct ku_catch *c = calloc(1, sizeof(*c) + strlen(path) + 1);

	if (c == NULL)
		return;
	strcpy(c->path, path);
	bool named = ku_item_parse(q->kind, ku_path_leaf(c->path), &c->item);
	if (named && c->item.number < q->take.own_next) {
		ku_own_anew(q); /* others have made the queue's node anew */
		q->take.own_next = -1;
	}
	if (named && is_next(q, &c->item, op->len))
		c->got = ku_item_make(q->kind, &c->item, op->data, op->len,
			time_ms);
	if (c->got == NULL) {
		free(c);
		return;
	}
	c->own = true;
	c->era = q->take.era;
	c->queue = q;
	c->request.connection = deed->request.connection;
	ku_queue_get(q);
	ku_catch_append(&q->take.caught, c);
	q->take.own_next++;
}

void ku_own_put(struct ku_queue *q, const struct ku_deed *deed,
	const struct ku_zk_reply *reply)
{
	if (reply == NULL || reply->result_count < deed->op_count)
		return;
	ku_take_heard(q);
	for (int i = 1; i < deed->op_count; i++)
		if (reply->results[i].path != NULL)
			keep(q, &deed->ops[i], reply->results[i].path, deed,
				reply->results[0].stat.mtime_ms);
}
