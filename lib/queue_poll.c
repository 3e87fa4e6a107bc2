/* queue_poll.c - calls that ask for items of a queue: threads and callbacks. */

#include "queue_impl.h"

#include <stdlib.h>
#include <string.h>

static struct ku_taker *taker_of(struct ku_wait *wait)
{
	return (struct ku_taker *)wait;
}

void ku_taker_finish(struct ku_taker *taker, enum kustos_err err)
{
	struct ku_take_side *take = &taker->queue->take;

	KU_ROW_REMOVE(take->first, take->last, taker);
	ku_wait_end(&taker->wait, err);
}

void ku_take_fail(struct ku_queue *q, enum kustos_err err)
{
	while (q->take.first != NULL)
		ku_taker_finish(q->take.first, err);
}

void ku_take_fail_tries(struct ku_queue *q, enum kustos_err err)
{
	struct ku_taker *next;

	for (struct ku_taker *taker = q->take.first; taker != NULL;
		taker = next) {
		next = taker->next;
		if (taker->wait.once)
			ku_taker_finish(taker, err);
	}
}

void ku_take_forget(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;
	struct ku_taker *next;
	bool heard = false;

	for (struct ku_taker *t = take->first; t != NULL; t = next) {
		next = t->next;
		if (t->peek)
			continue; /* nothing is taken for it */
		ku_taker_finish(t, KUSTOS_EUNKNOWN);
		heard = true;
	}
	if (!heard)
		ku_log(q->client, KUSTOS_LOG_ERROR,
			"%s: %zu may have been taken for nobody: %s", q->path,
			take->taking.count, kustos_strerror(KUSTOS_EUNKNOWN));
	while (take->taking.count > 0)
		ku_catch_drop(ku_catch_pop(&take->taking));
}

void ku_take_away(struct ku_queue *q)
{
	ku_take_unchoose(q);
	ku_take_fail_tries(q, KUSTOS_EDISCONNECTED);
	ku_take_step(q);
}

/* Hand out what was taken. */
void ku_take_serve(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;
	struct ku_taker *next;

	for (struct ku_taker *taker = take->first;
		taker != NULL && take->taken.count > 0; taker = next) {
		next = taker->next;
		if (taker->peek)
			continue;
		while (taker->count < taker->max && take->taken.count > 0)
			taker->items[taker->count++] = ku_catch_open(
				ku_catch_pop(&take->taken));
		ku_taker_finish(taker, KUSTOS_OK);
	}
}

static enum kustos_err start(struct ku_wait *wait)
{
	struct ku_taker *taker = taker_of(wait);
	struct ku_queue *q = taker->queue;

	if (q->over)
		return KUSTOS_ECLOSED;
	if (taker->wait.once && !ku_session_ready(q->client) &&
		(taker->peek || q->take.taken.count == 0))
		return KUSTOS_EDISCONNECTED;
	taker->since = q->take.list.asked;
	KU_ROW_APPEND(q->take.first, q->take.last, taker);
	ku_take_step(q);
	return KUSTOS_OK;
}

static void give_up(struct ku_wait *wait, enum kustos_err why)
{
	struct ku_queue *q = taker_of(wait)->queue;

	ku_taker_finish(taker_of(wait), why);
	ku_take_step(q);
}

static void taker_free(struct ku_taker *taker)
{
	free(taker->items);
	free(taker);
}

static void tell_program(struct ku_wait *wait)
{
	struct ku_taker *taker = taker_of(wait);

	taker->callback(taker->arg, wait->err, taker->items, taker->count);
	taker_free(taker);
}

static struct ku_taker *make(struct ku_queue *q,
	const struct ku_poll_wish *wish)
{
	static const struct ku_wait_calls calls = { .start = start,
		.give_up = give_up,
		.tell = tell_program };
	struct ku_taker *taker = calloc(1, sizeof(*taker));

	if (taker == NULL)
		return NULL;
	taker->queue = q;
	taker->max = wish->max < KU_TAKE_MAX ? wish->max : KU_TAKE_MAX;
	taker->peek = wish->peek;
	taker->wait.client = q->client;
	taker->wait.calls = &calls;
	taker->items = calloc(taker->max, sizeof(struct kustos_item *));
	if (taker->items != NULL)
		return taker;
	free(taker);
	return NULL;
}

size_t ku_queue_kept(struct ku_queue *q)
{
	ku_lock(q->client);
	size_t count = q->take.taken.count;
	ku_unlock(q->client);
	return count;
}

enum kustos_err ku_queue_poll(struct ku_queue *q,
	const struct ku_poll_wish *wish, struct kustos_item **items,
	size_t *count)
{
	struct ku_taker *taker = make(q, wish);

	if (taker == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = ku_wait_block(&taker->wait, wish->deadline,
		wish->cancel);
	*count = taker->count;
	memcpy(items, taker->items, taker->count * sizeof(*items));
	taker_free(taker);
	return err;
}

enum kustos_err ku_queue_poll_async(struct ku_queue *q,
	const struct ku_poll_wish *wish, ku_poll_fn *done, void *arg)
{
	struct ku_taker *taker = make(q, wish);

	if (taker == NULL)
		return KUSTOS_ENOMEM;
	taker->callback = done;
	taker->arg = arg;
	enum kustos_err err = ku_wait_async(&taker->wait, wish->deadline,
		wish->cancel);
	if (err != KUSTOS_OK)
		taker_free(taker);
	return err;
}
