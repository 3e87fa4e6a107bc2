/*
 * test_queue_storm.c - all that is put while everything fails is taken once:
 * nothing is lost and nothing is doubled.
 *
 * Some clients put and some take, all through one proxy.  It breaks
 * connections, before a request or after it was carried out, and now and then
 * holds all data for longer than a session lasts.  The server is paused, and
 * killed and restarted.  Sessions are ended.  All this happens at least once in
 * each storm.  In the end all items are taken and counted.
 *
 * QUEUE_STORMS sets how often this is run (1), QUEUE_ITEMS with how many items
 * (800), QUEUE_STRIKES with how many faults (25; ten are enough for each kind to
 * have its turn), and QUEUE_SEED the random seed.
 */
#include "queue_fixture.h"
#include "queue_storm.h"
#include "rawkill.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 2000
#define SIDES 3
#define ITEMS_MAX 100000

struct side {
	struct kustos_client *client;
	struct kustos_queue *queue;
	pthread_t thread;
	int begin, from, to; /* what it puts */
};

static struct side putters[SIDES], takers[SIDES];
static int items, left_to_put;
static int strikes, strikes_wanted, sessions_ended;
static int put[ITEMS_MAX], taken[ITEMS_MAX]; /* how often */

static void side_open(struct side *side)
{
	struct kustos_client_options o = client_options(proxy_address(proxy),
		T_MS);

	o.retry = kustos_retry_forever(5);
	side->client = client_open_with(&o);
	side->queue = queue_new(side->client);
}

static void side_close(struct side *side)
{
	kustos_queue_destroy(side->queue);
	client_close(side->client);
}

/* Put "count" items, numbered from "from", in one call. */
static void put_some(struct side *side, int from, int count)
{
	struct kustos_new_item list[8] = { { .data = NULL } };
	char text[8][12];
	size_t done = 0;

	for (int i = 0; i < count; i++) {
		list[i].data = text[i];
		list[i].len = (size_t)snprintf(text[i], 12, "%d", from + i);
	}
	check_err(kustos_queue_put_many(side->queue, list, (size_t)count,
			  KUSTOS_FOREVER, NULL, &done),
		KUSTOS_OK);
	ck_assert_int_eq((int)done, count);
	for (int i = 0; i < count; i++)
		__atomic_add_fetch(&put[from + i], 1, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(&left_to_put, count, __ATOMIC_SEQ_CST);
}

/* Spread the faults over all items. */
static void keep_pace(const struct side *side)
{
	int64_t part = side->from - side->begin;

	while (__atomic_load_n(&strikes, __ATOMIC_SEQ_CST) <
		strikes_wanted * part / (side->to - side->begin))
		test_pause_1ms();
}

static void *putting(void *arg)
{
	struct side *side = arg;

	for (int n = 1; side->from < side->to; n = n % 4 + 1) {
		int rest = side->to - side->from;

		put_some(side, side->from, n < rest ? n : rest);
		side->from += n;
		keep_pace(side);
	}
	return NULL;
}

static void *taking(void *arg)
{
	struct side *side = arg;
	enum kustos_err err = KUSTOS_OK;

	while (err != KUSTOS_EEMPTY) {
		bool last = __atomic_load_n(&left_to_put, __ATOMIC_SEQ_CST) ==
			0;
		struct kustos_item *list[8];
		size_t count = 0;

		/* Now and then it gives up; what it was about to get comes
		   later. */
		err = kustos_queue_poll_many(side->queue, 8,
			kustos_after_ms(20), NULL, list, &count);
		for (size_t i = 0; i < count; i++) {
			__atomic_add_fetch(&taken[atoi(list[i]->data)], 1,
				__ATOMIC_SEQ_CST);
			kustos_item_free(list[i]);
		}
		if (!last || err != KUSTOS_ETIMEDOUT)
			continue;
		check_err(kustos_queue_flush(side->queue, KUSTOS_FOREVER, NULL),
			KUSTOS_OK);
		err = kustos_queue_poll(side->queue, KUSTOS_NOW, NULL, list);
		if (err == KUSTOS_OK) {
			__atomic_add_fetch(&taken[atoi(list[0]->data)], 1,
				__ATOMIC_SEQ_CST);
			kustos_item_free(list[0]);
		}
	}
	return NULL;
}

/* End a session.  It may just have ended by itself. */
static bool end_session(unsigned *seed)
{
	int64_t id = client_session_id(
		takers[(unsigned)rand_r(seed) % SIDES].client);
	bool ended = raw_kill_session(fixture_address(), id) == 0;

	sessions_ended += ended;
	return ended;
}

/* End a session, which comes first, or cause another fault. */
static void strike(unsigned *seed)
{
	if (strikes == 0)
		test_eventually(end_session(seed), 5000);
	else if ((unsigned)rand_r(seed) % 40 == 0)
		(void)end_session(seed);
	else
		storm_strike(seed, T_MS);
}

static void start(void)
{
	memset(put, 0, sizeof(put));
	memset(taken, 0, sizeof(taken));
	left_to_put = items;
	for (int i = 0; i < SIDES; i++) {
		side_open(&putters[i]);
		side_open(&takers[i]);
		putters[i].from = putters[i].begin = items * i / SIDES;
		putters[i].to = items * (i + 1) / SIDES;
		ck_assert_int_eq(pthread_create(&putters[i].thread, NULL,
					 putting, &putters[i]),
			0);
		ck_assert_int_eq(pthread_create(&takers[i].thread, NULL, taking,
					 &takers[i]),
			0);
	}
}

static void finish(void)
{
	for (int i = 0; i < SIDES; i++)
		pthread_join(putters[i].thread, NULL);
	for (int i = 0; i < SIDES; i++)
		pthread_join(takers[i].thread, NULL);
	for (int i = 0; i < items; i++) {
		ck_assert_msg(put[i] == 1, "%d: put %d times", i, put[i]);
		ck_assert_msg(taken[i] == 1, "%d: taken %d times", i, taken[i]);
	}
	ck_assert_int_eq(queue_count(), 0);
	for (int i = 0; i < SIDES; i++) {
		side_close(&putters[i]);
		side_close(&takers[i]);
	}
}

START_TEST(S15_nothing_is_lost_and_nothing_doubled)
{
	unsigned seed = (unsigned)storm_setting("QUEUE_SEED", 1) + (unsigned)_i;

	strikes = sessions_ended = 0;
	strikes_wanted = storm_setting("QUEUE_STRIKES", 25);
	items = storm_setting("QUEUE_ITEMS", 800);
	ck_assert_int_le(items, ITEMS_MAX);
	start();
	while (__atomic_load_n(&left_to_put, __ATOMIC_SEQ_CST) > 0) {
		strike(&seed);
		__atomic_add_fetch(&strikes, 1, __ATOMIC_SEQ_CST);
	}
	printf("storm %d: %d items, %d strikes, %d sessions ended\n", _i, items,
		strikes, sessions_ended);
	storm_end();
	finish();
	ck_assert_int_ge(strikes, strikes_wanted - 1);
	ck_assert_int_gt(sessions_ended, 0);
}
END_TEST

static void set_up(void)
{
	(void)pair_proxy(T_MS);
	storm_begin();
}

static void tear_down(void)
{
	proxy_free(proxy);
	proxy = NULL;
}

int main(void)
{
	Suite *s = suite_create("queue, storm");
	TCase *t = fixture_case(s, "storm", 240);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, S15_nothing_is_lost_and_nothing_doubled, 0,
		storm_setting("QUEUE_STORMS", 1));
	return fixture_main(s);
}
