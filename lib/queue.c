/* queue.c - a queue: made, flushed, ended. */

#include "queue_impl.h"
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

void ku_queue_get(struct ku_queue *q)
{
	q->refs++;
}

static void queue_free(struct ku_queue *q)
{
	ku_take_free(q);
	free(q->plain);
	free(q->receipts);
	free(q->path);
	free(q);
}

void ku_queue_drop(struct ku_queue *q)
{
	if (--q->refs == 0)
		queue_free(q);
}

/* Flush */

static void flush_end(struct ku_flush *flush, enum kustos_err err)
{
	KU_LIST_REMOVE(flush->queue->flushes, flush);
	ku_wait_end(&flush->wait, err);
}

void ku_queue_settled(struct ku_queue *q)
{
	uint64_t puts = q->put.first != NULL ? q->put.first->serial
					     : q->put.begun;
	uint64_t takes = q->take.begun - (q->take.busy ? 1 : 0);
	struct ku_flush *next;

	for (struct ku_flush *flush = q->flushes; flush != NULL; flush = next) {
		next = flush->next;
		if (flush->puts <= puts && flush->takes <= takes)
			flush_end(flush, KUSTOS_OK);
	}
}

static enum kustos_err flush_start(struct ku_wait *wait)
{
	struct ku_flush *flush = (struct ku_flush *)wait;
	struct ku_queue *q = flush->queue;

	if (q->over)
		return KUSTOS_ECLOSED;
	if (flush->what == KU_FLUSH_ALL)
		flush->puts = q->put.begun;
	flush->takes = q->take.begun;
	KU_LIST_PUSH(q->flushes, flush);
	ku_queue_settled(q);
	return KUSTOS_OK;
}

static void flush_give_up(struct ku_wait *wait, enum kustos_err why)
{
	flush_end((struct ku_flush *)wait, why);
}

enum kustos_err ku_queue_flush(struct ku_queue *q, enum ku_flushed what,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	static const struct ku_wait_calls calls = {
		.start = flush_start,
		.give_up = flush_give_up,
	};
	struct ku_flush flush = { .queue = q, .what = what };

	flush.wait.client = q->client;
	flush.wait.calls = &calls;
	/* It asks the server nothing, so KUSTOS_NOW is a deadline that has
	   passed. */
	return ku_wait_block(&flush.wait, deadline == KUSTOS_NOW ? 1 : deadline,
		cancel);
}

/* The beginning and the end */

static void finish(struct ku_queue *q)
{
	q->ended = true;
	q->client->unsettled--;
	ku_witness_remove(q->client, &q->witness);
	ku_catch_finish(q);
	ku_queue_return(q);
	ku_put_finish(q);
	ku_receipt_end(&q->take.receipt);
}

void ku_queue_end_if_idle(struct ku_queue *q)
{
	if (q->over && !q->ended && !q->take.busy && q->take.taken.count == 0 &&
		q->put.first == NULL)
		finish(q);
}

static struct ku_queue *queue_of(struct ku_witness *witness)
{
	return KU_OWNER(struct ku_queue, witness, witness);
}

static void away(struct ku_witness *witness)
{
	ku_put_away(queue_of(witness));
	ku_take_away(queue_of(witness));
}

/* The client is being closed.  Without a session the queue would wait for
   ever. */
static void closing(struct ku_witness *witness)
{
	struct ku_queue *q = queue_of(witness);
	const struct kustos_client *client = q->client;

	if (q->over && client->closing != KU_OPEN &&
		(client->closing != KU_DRAINING || client->session.id == 0))
		finish(q);
}

static void start(struct ku_queue *q)
{
	q->witness.away = away;
	q->witness.closing = closing;
	ku_witness_add(q->client, &q->witness);
}

static enum kustos_err name_them(struct ku_queue *q, const char *path,
	const struct ku_queue_wish *wish)
{
	static const struct ku_item_wish some = { .id = "" };
	char *head = NULL;
	enum kustos_err err = ku_item_head(q->kind, &some, &head);

	if (err != KUSTOS_OK)
		return err;
	q->path = ku_path_join(q->client->config.prefix, path);
	if (q->path != NULL)
		q->plain = ku_path_child(q->path, head);
	free(head);
	q->receipts = strdup(wish->receipts);
	return q->plain != NULL && q->receipts != NULL ? KUSTOS_OK
						       : KUSTOS_ENOMEM;
}

enum kustos_err ku_queue_create(struct kustos_client *client, const char *path,
	const struct ku_queue_wish *wish, struct ku_queue **out)
{
	if (!ku_path_valid(path, false) || strcmp(path, "/") == 0 ||
		!ku_path_valid(wish->receipts, false))
		return KUSTOS_EINVAL;
	struct ku_queue *q = calloc(1, sizeof(*q));
	if (q == NULL)
		return KUSTOS_ENOMEM;
	q->client = client;
	q->kind = wish->kind;
	q->put.max_items = wish->max_items;
	q->put.max_bytes = wish->max_bytes;
	q->patience = wish->stale;
	q->unfit = wish->unfit;
	q->unfit_arg = wish->unfit_arg;
	q->refs = 1;
	enum kustos_err err = name_them(q, path, wish);
	ku_lock(client);
	if (err == KUSTOS_OK) {
		ku_put_init(q);
		ku_take_init(q);
		start(q);
		*out = q;
	} else {
		ku_queue_drop(q);
	}
	ku_unlock(client);
	return err;
}

void ku_queue_destroy(struct ku_queue *q)
{
	if (q == NULL)
		return;
	struct kustos_client *client = q->client;
	ku_begin(client);
	q->over = true;
	client->unsettled++;
	while (q->flushes != NULL)
		flush_end(q->flushes, KUSTOS_ECLOSED);
	ku_put_end(q);
	ku_take_end(q);
	ku_queue_return(q);
	ku_receipt_withdraw(&q->put.receipt);
	ku_receipt_withdraw(&q->take.receipt);
	ku_queue_end_if_idle(q);
	/* Callbacks that are queued find that it is over. */
	ku_inside_await(client, &q->inside);
	ku_queue_drop(q);
	ku_end(client);
}
