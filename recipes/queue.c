/*
 * queue.c - the calls of <kustos/queue.h>, passed on to a queue of the core.
 */
#include <kustos/queue.h>

#include "queue_names.h"

#include <kustos/node.h>
#include <stdlib.h>
#include <string.h>

/* The bytes that may wait in memory to be put, unless the program says
   otherwise. */
#define BUFFER_SIZE (4 * 1024 * 1024)

struct kustos_queue {
	struct kustos_client *client;
	struct ku_queue *queue;
	char *items; /* the path of the node below which they are */
	enum kustos_queue_kind kind;
	int leaving; /* see ku_consumer_start() */
};

/* Is "path" the queue's node, or below it? */
static bool is_in(const char *path, const char *queue)
{
	size_t len = strlen(queue);

	return strncmp(path, queue, len) == 0 &&
		(path[len] == '\0' || path[len] == '/');
}

static enum kustos_err make(struct kustos_queue *queue, const char *path,
	const struct kustos_queue_options *o)
{
	struct ku_queue_wish wish = {
		.max_items = o->max_items,
		.max_bytes = o->buffer > 0 ? o->buffer : BUFFER_SIZE,
		.stale = o->stale,
		.unfit = o->on_unfit,
		.unfit_arg = o->on_unfit_arg,
	};
	enum kustos_err err = KUSTOS_ENOMEM;

	if (!ku_queue_read_kind(o->kind, &wish.kind))
		return KUSTOS_EINVAL;
	queue->items = ku_queue_items(path, o->kind);
	char *receipts = o->receipts != NULL
		? ku_queue_beside(o->receipts, "")
		: ku_queue_beside(path, "-receipts");
	wish.receipts = receipts;
	queue->kind = o->kind;
	if (o->receipts != NULL && is_in(o->receipts, path))
		err = KUSTOS_EINVAL;
	else if (queue->items != NULL && receipts != NULL)
		err = ku_queue_create(queue->client, queue->items, &wish,
			&queue->queue);
	free(receipts);
	return err;
}

static void free_queue(struct kustos_queue *queue)
{
	free(queue->items);
	free(queue);
}

enum kustos_err kustos_queue_create(struct kustos_client *client,
	const char *path, const struct kustos_queue_options *options,
	struct kustos_queue **out)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (path == NULL || out == NULL ||
		!ku_recipe_options(&o, sizeof(o), options) || o.max_items < 0 ||
		o.stale < 0 || o.reserved != 0)
		return KUSTOS_EINVAL;
	struct kustos_queue *queue = calloc(1, sizeof(*queue));
	if (queue == NULL)
		return KUSTOS_ENOMEM;
	queue->client = client;
	err = make(queue, path, &o);
	if (err == KUSTOS_OK)
		*out = queue;
	else
		free_queue(queue);
	return err;
}

static enum kustos_err check(const struct kustos_queue *queue)
{
	return queue != NULL ? ku_recipe_check(queue->client) : KUSTOS_EINVAL;
}

/* Check a call that takes items.  Not allowed where consumers claim items: it
   would take an item that another consumer has claimed. */
static enum kustos_err check_takes(const struct kustos_queue *queue)
{
	enum kustos_err err = check(queue);

	return err == KUSTOS_OK && queue->kind == KUSTOS_QUEUE_KAZOO_LOCKING
		? KUSTOS_EINVAL
		: err;
}

static void end(void *queue)
{
	ku_queue_destroy(queue);
}

void kustos_queue_destroy(struct kustos_queue *queue)
{
	if (check(queue) != KUSTOS_OK)
		return;
	ku_consumer_wait(queue->client, &queue->leaving, end, queue->queue);
	free_queue(queue);
}

/* An ordinary item. */
static struct kustos_new_item plain(const void *data, size_t len)
{
	struct kustos_new_item item = KUSTOS_NEW_ITEM_INIT;

	item.data = data;
	item.len = len;
	return item;
}

enum kustos_err kustos_queue_put(struct kustos_queue *queue, const void *data,
	size_t len, kustos_deadline deadline, struct kustos_cancel *cancel)
{
	const struct kustos_new_item item = plain(data, len);

	return kustos_queue_put_item(queue, &item, deadline, cancel);
}

enum kustos_err kustos_queue_put_item(struct kustos_queue *queue,
	const struct kustos_new_item *item, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	return item != NULL
		? kustos_queue_put_many(queue, item, 1, deadline, cancel, NULL)
		: KUSTOS_EINVAL;
}

enum kustos_err kustos_queue_put_many(struct kustos_queue *queue,
	const struct kustos_new_item *items, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel, size_t *put)
{
	enum kustos_err err = items != NULL || count == 0 ? check(queue)
							  : KUSTOS_EINVAL;
	size_t done = 0;

	if (err == KUSTOS_OK)
		err = ku_queue_put(queue->queue, items, count, deadline, cancel,
			&done);
	if (put != NULL)
		*put = done;
	return err;
}

enum kustos_err kustos_queue_put_async(struct kustos_queue *queue,
	const void *data, size_t len, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg)
{
	const struct kustos_new_item item = plain(data, len);

	return kustos_queue_put_item_async(queue, &item, deadline, cancel, done,
		arg);
}

enum kustos_err kustos_queue_put_item_async(struct kustos_queue *queue,
	const struct kustos_new_item *item, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg)
{
	enum kustos_err err = item != NULL ? check(queue) : KUSTOS_EINVAL;

	return err != KUSTOS_OK ? err
				: ku_queue_put_async(queue->queue, item,
					  deadline, cancel, done, arg);
}

enum kustos_err kustos_queue_flush(struct kustos_queue *queue,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = check(queue);

	return err != KUSTOS_OK
		? err
		: ku_queue_flush(queue->queue, KU_FLUSH_ALL, deadline, cancel);
}

enum kustos_err kustos_queue_poll(struct kustos_queue *queue,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_item **item)
{
	size_t count;

	return kustos_queue_poll_many(queue, 1, deadline, cancel, item, &count);
}

enum kustos_err kustos_queue_peek(struct kustos_queue *queue,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_item **item)
{
	struct ku_poll_wish wish = { .max = 1,
		.peek = true,
		.deadline = deadline,
		.cancel = cancel };
	enum kustos_err err = item != NULL ? check(queue) : KUSTOS_EINVAL;
	size_t count;

	return err != KUSTOS_OK
		? err
		: ku_queue_poll(queue->queue, &wish, item, &count);
}

enum kustos_err kustos_queue_poll_many(struct kustos_queue *queue, size_t max,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_item **items, size_t *count)
{
	struct ku_poll_wish wish = { .max = max,
		.deadline = deadline,
		.cancel = cancel };
	enum kustos_err err = items != NULL && count != NULL && max > 0
		? check_takes(queue)
		: KUSTOS_EINVAL;

	return err != KUSTOS_OK
		? err
		: ku_queue_poll(queue->queue, &wish, items, count);
}

enum kustos_err kustos_queue_remove_id(struct kustos_queue *queue,
	const char *id, kustos_deadline deadline, struct kustos_cancel *cancel,
	size_t *removed)
{
	enum kustos_err err = id != NULL ? check(queue) : KUSTOS_EINVAL;
	size_t count = 0;

	if (err == KUSTOS_OK && queue->kind != KUSTOS_QUEUE_ID)
		err = KUSTOS_EINVAL;
	if (err == KUSTOS_OK)
		err = ku_queue_remove_id(queue->queue, id, deadline, cancel,
			&count);
	if (removed != NULL)
		*removed = count;
	return err;
}

/* Read how many items there are from what became of a look at their node.  If
   the node does not exist there are none. */
static enum kustos_err read_count(enum kustos_err err,
	const struct kustos_stat *stat, size_t *count)
{
	*count = err == KUSTOS_OK ? (size_t)stat->num_children : 0;
	return err == KUSTOS_ENONODE ? KUSTOS_OK : err;
}

enum kustos_err kustos_queue_count(struct kustos_queue *queue,
	kustos_deadline deadline, struct kustos_cancel *cancel, size_t *count)
{
	struct kustos_stat stat;
	enum kustos_err err = count != NULL ? check(queue) : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	err = kustos_exists(queue->client, queue->items, deadline, cancel,
		&stat);
	return read_count(err, &stat, count);
}

struct count_call {
	kustos_queue_count_fn *done;
	void *arg;
};

static void counted(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	const struct count_call call = *(struct count_call *)arg;
	size_t count;

	free(arg);
	err = read_count(err, result->stat, &count);
	call.done(call.arg, err, count);
}

enum kustos_err kustos_queue_count_async(struct kustos_queue *queue,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_queue_count_fn *done, void *arg)
{
	enum kustos_err err = done != NULL ? check(queue) : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct count_call *call = malloc(sizeof(*call));
	if (call == NULL)
		return KUSTOS_ENOMEM;
	*call = (struct count_call){ done, arg };
	err = kustos_exists_async(queue->client, queue->items, deadline, cancel,
		counted, call);
	if (err != KUSTOS_OK)
		free(call);
	return err;
}

enum kustos_err kustos_queue_peek_async(struct kustos_queue *queue,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_queue_poll_fn *done, void *arg)
{
	struct ku_poll_wish wish = { .max = 1,
		.peek = true,
		.deadline = deadline,
		.cancel = cancel };
	enum kustos_err err = done != NULL ? check(queue) : KUSTOS_EINVAL;

	return err != KUSTOS_OK
		? err
		: ku_queue_poll_async(queue->queue, &wish, done, arg);
}

enum kustos_err kustos_queue_poll_async(struct kustos_queue *queue, size_t max,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_queue_poll_fn *done, void *arg)
{
	struct ku_poll_wish wish = { .max = max,
		.deadline = deadline,
		.cancel = cancel };
	enum kustos_err err = done != NULL && max > 0 ? check_takes(queue)
						      : KUSTOS_EINVAL;

	return err != KUSTOS_OK
		? err
		: ku_queue_poll_async(queue->queue, &wish, done, arg);
}

/* How long a consumer that is stopped waits, at the most, to learn what it has
   taken. */
#define LAST_MS 10000

struct worker { /* a consumer */
	struct kustos_queue *queue;
	kustos_queue_consume_fn *fn;
	kustos_consumer_failed_fn *failed;
	void *arg;
	size_t max, count;
	struct kustos_item *items[];
};

static enum kustos_err have(void *owner, struct kustos_cancel *cancel)
{
	struct worker *w = owner;

	return kustos_queue_poll_many(w->queue, w->max, KUSTOS_FOREVER, cancel,
		w->items, &w->count);
}

/* Get the items that were being taken when the consumer was stopped: no other
   consumer can have them. */
static enum kustos_err have_last(void *owner)
{
	struct worker *w = owner;
	enum kustos_err err = ku_queue_flush(w->queue->queue, KU_FLUSH_TAKES,
		kustos_after_ms(LAST_MS), NULL);

	if (err == KUSTOS_OK && ku_queue_kept(w->queue->queue) == 0)
		err = KUSTOS_EEMPTY;
	return err != KUSTOS_OK
		? err
		: kustos_queue_poll_many(w->queue, w->max, KUSTOS_NOW, NULL,
			  w->items, &w->count);
}

static void deal(void *owner)
{
	struct worker *w = owner;

	w->fn(w->arg, w->items, w->count);
	for (size_t i = 0; i < w->count; i++)
		kustos_item_free(w->items[i]);
}

static void failed(void *owner, enum kustos_err err)
{
	const struct worker *w = owner;

	if (w->failed != NULL)
		w->failed(w->arg, err, NULL);
}

enum kustos_err kustos_queue_consume(struct kustos_queue *queue, size_t max,
	kustos_queue_consume_fn *fn, kustos_consumer_failed_fn *on_failed,
	void *arg, struct kustos_consumer **out)
{
	static const struct ku_consumer_calls calls = {
		.have = have,
		.have_last = have_last,
		.deal = deal,
		.failed = failed,
		.over = free,
	};
	enum kustos_err err = fn != NULL && out != NULL && max > 0 &&
			max < SIZE_MAX / 2 / sizeof(struct kustos_item *)
		? check_takes(queue)
		: KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct worker *w = malloc(
		sizeof(*w) + max * sizeof(struct kustos_item *));
	if (w == NULL)
		return KUSTOS_ENOMEM;
	*w = (struct worker){ queue, fn, on_failed, arg, max, 0 };
	err = ku_consumer_start(queue->client, &calls, w, &queue->leaving, out);
	if (err != KUSTOS_OK)
		free(w);
	return err;
}
