/* queue_put.c - calls that put items into a queue, one after the other. */

#include "queue_impl.h"

#include <stdlib.h>
#include <string.h>

static struct ku_put *put_of(struct ku_wait *wait)
{
	return (struct ku_put *)wait;
}

static void put_down(struct ku_put *put)
{
	if (--put->refs == 0)
		free(put);
}

/* Free the path and data: the item is in a batch, or is not put any more. */
static void drop_form(struct ku_put *put)
{
	ku_form_free_path(put->queue, put->path);
	free(put->data);
	put->path = put->data = NULL;
}

static void line_up(struct ku_put *put)
{
	struct ku_put_side *side = &put->queue->put;

	put->serial = side->begun++;
	KU_ROW_APPEND(side->first, side->last, put);
	put->refs++;
	side->bytes += put->cost;
}

static void leave_line(struct ku_put *put)
{
	struct ku_put_side *side = &put->queue->put;

	KU_ROW_REMOVE(side->first, side->last, put);
	side->bytes -= put->cost;
	drop_form(put);
	ku_room_freed(put->queue);
	put_down(put);
}

void ku_put_decided(struct ku_put *put, size_t items, enum kustos_err err)
{
	struct ku_queue *q = put->queue;

	put->open -= items;
	if (err == KUSTOS_OK)
		put->done += items;
	else if (put->err == KUSTOS_OK)
		put->err = err;
	if (put->err != KUSTOS_OK)
		put->gathered = put->count; /* the rest is not put */
	if (put->open > 0 || put->gathered < put->count)
		return;
	ku_wait_end(&put->wait, put->err);
	leave_line(put);
	ku_queue_settled(q);
}

void ku_put_give_up(struct ku_put *put, enum kustos_err why)
{
	ku_wait_end(&put->wait, why);
	ku_put_decided(put, 0, why);
}

static enum kustos_err start(struct ku_wait *wait)
{
	struct ku_put *put = put_of(wait);
	struct ku_queue *q = put->queue;

	if (q->over)
		return KUSTOS_ECLOSED;
	if (put->wait.once && !ku_session_ready(q->client))
		return KUSTOS_EDISCONNECTED;
	line_up(put);
	ku_put_pump(q);
	return KUSTOS_OK;
}

static void give_up(struct ku_wait *wait, enum kustos_err why)
{
	ku_put_give_up(put_of(wait), why);
}

static void tell_program(struct ku_wait *wait)
{
	struct ku_put *put = put_of(wait);
	struct kustos_client *client = wait->client;

	if (put->callback != NULL)
		put->callback(put->arg, wait->err);
	ku_lock(client);
	put_down(put);
	ku_unlock(client);
}

static const struct ku_wait_calls calls = { .start = start,
	.give_up = give_up,
	.tell = tell_program };

static struct ku_put *make(struct ku_queue *q)
{
	struct ku_put *put = calloc(1, sizeof(*put));

	if (put == NULL)
		return NULL;
	put->queue = q;
	put->refs = 1;
	put->wait.client = q->client;
	put->wait.calls = &calls;
	return put;
}

enum kustos_err ku_queue_put(struct ku_queue *q,
	const struct kustos_new_item *items, size_t count,
	kustos_deadline deadline, struct kustos_cancel *cancel, size_t *done)
{
	enum kustos_err err = KUSTOS_OK;

	*done = 0;
	for (size_t i = 0; i < count && err == KUSTOS_OK; i++)
		err = ku_form_check(q, &items[i]);
	if (err != KUSTOS_OK || count == 0)
		return err;
	struct ku_put *put = make(q);
	if (put == NULL)
		return KUSTOS_ENOMEM;
	struct kustos_client *client = q->client; /* the queue may go first */
	put->items = items;
	put->count = count;
	err = ku_wait_stay(&put->wait, deadline, cancel);
	ku_lock(client);
	*done = put->done;
	ku_wait_leave(&put->wait);
	put_down(put);
	ku_unlock(client);
	return err;
}

/* Copy the item into "put", as the path and data that are sent. */
static enum kustos_err copy(struct ku_put *put,
	const struct kustos_new_item *item)
{
	enum kustos_err err = ku_form_path(put->queue, item, &put->path);

	if (err != KUSTOS_OK)
		return err;
	put->len = ku_form_size(put->queue, item);
	put->cost = sizeof(*put) + strlen(put->path) + put->len;
	put->data = ku_form_data(put->queue, item);
	put->count = 1;
	return put->data != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
}

/* There is room for one more in the background. */
static enum kustos_err put_async(struct ku_queue *q,
	const struct kustos_new_item *item, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_put_fn *done, void *arg)
{
	struct ku_put *put = make(q);

	if (put == NULL)
		return KUSTOS_ENOMEM;
	put->callback = done;
	put->arg = arg;
	enum kustos_err err = copy(put, item);
	if (err == KUSTOS_OK)
		err = ku_wait_async(&put->wait, deadline, cancel);
	if (err != KUSTOS_OK) {
		drop_form(put);
		put_down(put);
	}
	return err;
}

enum kustos_err ku_queue_put_async(struct ku_queue *q,
	const struct kustos_new_item *item, kustos_deadline deadline,
	struct kustos_cancel *cancel, ku_put_fn *done, void *arg)
{
	struct ku_roomer roomer = { .queue = q };
	enum kustos_err err = ku_form_check(q, item);

	if (err == KUSTOS_OK)
		err = ku_room_wait(q, &roomer, deadline, cancel);
	if (err == KUSTOS_OK)
		err = put_async(q, item, deadline, cancel, done, arg);
	ku_room_leave(&roomer);
	return err;
}

static void receipt_ended(struct ku_receipt *receipt)
{
	ku_queue_drop(KU_OWNER(struct ku_queue, put.receipt, receipt));
}

void ku_put_init(struct ku_queue *q)
{
	ku_receipt_init(&q->put.receipt, q->client, q->receipts, receipt_ended);
	ku_queue_get(q);
	ku_room_init(q);
}

static void decide_all(struct ku_queue *q)
{
	struct ku_put *next;

	for (struct ku_put *put = q->put.first; put != NULL; put = next) {
		next = put->next;
		ku_put_give_up(put, KUSTOS_ECLOSED);
	}
}

void ku_put_end(struct ku_queue *q)
{
	decide_all(q);
	ku_room_end(q);
}

void ku_put_finish(struct ku_queue *q)
{
	decide_all(q);
	ku_op_let_go(&q->put.root);
	q->put.receipt.held = q->take.receipt.held = false;
	ku_receipt_end(&q->put.receipt);
}

void ku_put_away(struct ku_queue *q)
{
	struct ku_put *next;

	for (struct ku_put *put = q->put.first; put != NULL; put = next) {
		next = put->next;
		if (put->wait.once && !put->wait.over)
			ku_put_give_up(put, KUSTOS_EDISCONNECTED);
	}
}
