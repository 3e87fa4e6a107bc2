/*
 * bench_queue.c - Kustos' queue under bench/compare.  What is counted is items;
 * its styles, each with as many rounds as fit the time, and one at least:
 *
 *	turn	put one and poll it, in turn, with one object
 *	drain	poll of 1000 that are there, 64 at a time
 *	single	the same, one at a time
 *	framed	put 2000 framed items, then take them: both are counted
 *	bulk	put 10,000 items of 100 bytes in one call
 *	crowd	4 that put and 4 that take, each a client; 20,000 items
 *	claim	claim 200 framed items that are there, and acknowledge each
 */
#include <kustos/claim.h>
#include <kustos/client.h>
#include <kustos/queue.h>

#include "clocks.h"
#include "session.h"
#include "support/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDES 4
#define CROWD 20000
#define CLAIMS 200
#define AT_ONCE 64

struct bench {
	const struct driver_run *run;
	struct driver_result *result;
	struct kustos_client *client;
	struct kustos_queue *queue;
	enum kustos_queue_kind kind;
	int64_t until;
	atomic_int taken;
};

struct style {
	const char *name;
	enum kustos_queue_kind kind;
	void (*round)(struct bench *b);
};

static bool is_ok(struct bench *b, enum kustos_err err)
{
	return session_ok(b->result, err);
}

static bool open_queue(struct bench *b, struct kustos_client **client,
	struct kustos_queue **queue)
{
	struct kustos_queue_options q = KUSTOS_QUEUE_OPTIONS_INIT;

	q.kind = b->kind;
	return is_ok(b, session_open(b->run, client)) &&
		is_ok(b, kustos_queue_create(*client, b->run->path, &q, queue));
}

static void close_queue(struct kustos_client *client,
	struct kustos_queue *queue)
{
	kustos_queue_destroy(queue);
	session_close(client);
}

/* Put "count" items of "len" bytes each. */
static void put(struct bench *b, struct kustos_queue *queue, size_t count,
	size_t len)
{
	static const char data[100];
	struct kustos_new_item *items = calloc(count, sizeof(*items));

	if (items == NULL) {
		(void)is_ok(b, KUSTOS_ENOMEM);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		items[i].data = data;
		items[i].len = len;
	}
	(void)is_ok(b,
		kustos_queue_put_many(queue, items, count, session_soon(), NULL,
			NULL));
	free(items);
}

/* Take up to "at_once" at a time, until "count" are taken; returns how many
   were. */
static int take(struct bench *b, struct kustos_queue *queue, int count,
	size_t at_once)
{
	struct kustos_item *items[AT_ONCE];
	int taken = 0;

	while (taken < count && b->result->error == NULL) {
		size_t n = 0;

		if (!is_ok(b,
			    kustos_queue_poll_many(queue, at_once,
				    session_soon(), NULL, items, &n)))
			return taken;
		for (size_t i = 0; i < n; i++)
			kustos_item_free(items[i]);
		taken += (int)n;
	}
	return taken;
}

static void count(struct bench *b, int64_t begin, int items)
{
	b->result->ns += clocks_now_ns() - begin;
	b->result->ops += items;
}

static void turn(struct bench *b)
{
	int64_t begin = clocks_now_ns();
	int items = 0;

	while (clocks_now_ns() < b->until && b->result->error == NULL) {
		(void)is_ok(b,
			kustos_queue_put(b->queue, "x", 1, session_soon(),
				NULL));
		items += take(b, b->queue, 1, 1);
	}
	count(b, begin, items);
}

static void drain_by(struct bench *b, size_t at_once)
{
	put(b, b->queue, 1000, 10);
	int64_t begin = clocks_now_ns();
	count(b, begin, take(b, b->queue, 1000, at_once));
}

static void drain(struct bench *b)
{
	drain_by(b, AT_ONCE);
}

static void single(struct bench *b)
{
	drain_by(b, 1);
}

static void framed(struct bench *b)
{
	int64_t begin = clocks_now_ns();

	put(b, b->queue, 2000, 10);
	count(b, begin, take(b, b->queue, 2000, AT_ONCE));
}

static void bulk(struct bench *b)
{
	long before = rss_kb();
	int64_t begin = clocks_now_ns();

	put(b, b->queue, 10000, 100);
	count(b, begin, 10000);
	snprintf(b->result->more, sizeof(b->result->more), "bytes=%ld",
		(rss_kb() - before) * 1024 / 10000);
	(void)take(b, b->queue, 10000, AT_ONCE);
}

/* Putting them is not counted. */
static void claim(struct bench *b)
{
	struct kustos_claims_options o = KUSTOS_CLAIMS_OPTIONS_INIT;
	struct kustos_claims *claims = NULL;
	struct kustos_claim *one;
	int64_t begin;

	o.kind = b->kind;
	put(b, b->queue, CLAIMS, 10);
	if (!is_ok(b,
		    kustos_claims_create(b->client, b->run->path, &o, &claims)))
		return;
	begin = clocks_now_ns();
	for (int i = 0; i < CLAIMS && b->result->error == NULL; i++)
		if (is_ok(b,
			    kustos_claim_next(claims, session_soon(), NULL,
				    &one)))
			(void)is_ok(b,
				kustos_claim_ack(one, session_soon(), NULL));
	count(b, begin, CLAIMS);
	kustos_claims_destroy(claims);
}

/* --- A crowd ------------------------------------------------------------- */

struct side {
	struct bench *bench;
	struct kustos_client *client;
	struct kustos_queue *queue;
	pthread_t thread;
};

static void *putting(void *arg)
{
	struct side *side = arg;

	for (int i = 0; i < CROWD / SIDES / 100; i++)
		put(side->bench, side->queue, 100, 10);
	return NULL;
}

static void *taking(void *arg)
{
	struct side *side = arg;
	struct bench *b = side->bench;
	struct kustos_item *items[AT_ONCE];

	while (atomic_load(&b->taken) < CROWD && b->result->error == NULL) {
		size_t n = 0;
		enum kustos_err err = kustos_queue_poll_many(side->queue,
			AT_ONCE, kustos_after_ms(50), NULL, items, &n);

		if (err != KUSTOS_ETIMEDOUT)
			(void)is_ok(b, err);
		for (size_t i = 0; i < n; i++)
			kustos_item_free(items[i]);
		atomic_fetch_add(&b->taken, (int)n);
	}
	return NULL;
}

static void crowd(struct bench *b)
{
	struct side sides[2 * SIDES] = { { .bench = NULL } };
	int64_t begin;
	int opened = 0;

	atomic_store(&b->taken, 0);
	for (; opened < 2 * SIDES; opened++) {
		sides[opened].bench = b;
		if (!open_queue(b, &sides[opened].client, &sides[opened].queue))
			return; /* reported; the process ends */
	}
	begin = clocks_now_ns();
	for (int i = 0; i < opened; i++)
		if (pthread_create(&sides[i].thread, NULL,
			    i < SIDES ? putting : taking, &sides[i]) != 0)
			abort();
	for (int i = 0; i < opened; i++)
		pthread_join(sides[i].thread, NULL);
	count(b, begin, CROWD);
	for (int i = 0; i < opened; i++)
		close_queue(sides[i].client, sides[i].queue);
}

static const struct style styles[] = {
	{ "turn", KUSTOS_QUEUE_SIMPLE, turn },
	{ "drain", KUSTOS_QUEUE_SIMPLE, drain },
	{ "single", KUSTOS_QUEUE_SIMPLE, single },
	{ "framed", KUSTOS_QUEUE_FRAMED, framed },
	{ "bulk", KUSTOS_QUEUE_SIMPLE, bulk },
	{ "crowd", KUSTOS_QUEUE_SIMPLE, crowd },
	{ "claim", KUSTOS_QUEUE_FRAMED, claim },
};

static void measure(const struct driver_run *run, struct driver_result *result)
{
	const struct style *style = driver_style(run, styles,
		sizeof(styles) / sizeof(*styles), sizeof(*styles), result);
	struct bench b = { .run = run, .result = result };

	if (style == NULL)
		return;
	b.kind = style->kind;
	if (!open_queue(&b, &b.client, &b.queue))
		return;
	(void)is_ok(&b,
		kustos_queue_put(b.queue, "x", 1, session_soon(), NULL));
	(void)take(&b, b.queue, 1, 1); /* both receipts are there by now */
	b.until = clocks_now_ns() + run->ms * INT64_C(1000000);
	do
		style->round(&b);
	while (clocks_now_ns() < b.until && result->error == NULL);
	close_queue(b.client, b.queue);
}

int main(int argc, char **argv)
{
	return driver_main(argc, argv, measure);
}
