/*
 * test_consume.c - consumers, which call a function for each item of a queue:
 * items are taken for good, or claimed.
 */
#include "claim_fixture.h"

#include <kustos/cancel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 9000
#define ITEMS 200

/* What the consumer's function was called with. */
struct seen {
	pthread_mutex_t mutex;
	int calls, items[ITEMS], max, inside, most;
	enum kustos_verdict verdict; /* for the first call with each item */
	struct kustos_consumer *to_stop;
	int failed;
	enum kustos_err err;
};

static struct seen seen;

static void set_up(void)
{
	memset(&seen, 0, sizeof(seen));
	pthread_mutex_init(&seen.mutex, NULL);
	claim_pair_open(T_MS);
}

static int calls(void)
{
	return __atomic_load_n(&seen.calls, __ATOMIC_SEQ_CST);
}

static int failures(void)
{
	return __atomic_load_n(&seen.failed, __ATOMIC_SEQ_CST);
}

/* Count the item.  Returns how often it has been seen now. */
static int see(const struct kustos_item *item)
{
	int number = atoi(item->data), times;

	ck_assert_int_lt(number, ITEMS);
	pthread_mutex_lock(&seen.mutex);
	times = ++seen.items[number];
	pthread_mutex_unlock(&seen.mutex);
	__atomic_add_fetch(&seen.calls, 1, __ATOMIC_SEQ_CST);
	return times;
}

static void take(void *arg, struct kustos_item *const *items, size_t count)
{
	(void)arg;
	ck_assert_uint_le(count, (size_t)seen.max);
	for (size_t i = 0; i < count; i++)
		see(items[i]);
}

static void failed(void *arg, enum kustos_err err, const char *name)
{
	(void)arg;
	(void)name;
	seen.err = err;
	__atomic_add_fetch(&seen.failed, 1, __ATOMIC_SEQ_CST);
}

/* Count one more call that is running, and the most at once. */
static void enter(void)
{
	int inside = __atomic_add_fetch(&seen.inside, 1, __ATOMIC_SEQ_CST);
	int most = __atomic_load_n(&seen.most, __ATOMIC_SEQ_CST);

	while (inside > most &&
		!__atomic_compare_exchange_n(&seen.most, &most, inside, false,
			__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

static enum kustos_verdict work(void *arg, struct kustos_claim *claim)
{
	(void)arg;
	enter();
	int times = see(kustos_claim_item(claim));
	__atomic_sub_fetch(&seen.inside, 1, __ATOMIC_SEQ_CST);
	if (times > 1 || seen.verdict != KUSTOS_VERDICT_KEEP)
		return times > 1 ? KUSTOS_VERDICT_ACK : seen.verdict;
	kustos_claim_release(claim);
	return KUSTOS_VERDICT_KEEP;
}

static void check_all(int times)
{
	for (int i = 0; i < ITEMS; i++)
		ck_assert_int_eq(seen.items[i], times);
	test_eventually(queue_count() == 0, 5000);
}

START_TEST(a_consumer_takes_each_item_once)
{
	struct kustos_consumer *consumers[2] = { NULL };

	seen.max = 20;
	queue_put_numbers(queue, 0, ITEMS / 2);
	check_err(kustos_queue_consume(queue, 20, take, failed, NULL,
			  &consumers[0]),
		KUSTOS_OK);
	check_err(kustos_queue_consume(queue_others, 20, take, NULL, NULL,
			  &consumers[1]),
		KUSTOS_OK);
	queue_put_numbers(queue, ITEMS / 2, ITEMS);
	test_eventually(calls() == ITEMS, 10000);
	kustos_consumer_stop(consumers[0]);
	kustos_consumer_stop(consumers[1]);
	check_all(1);
	/* Neither consumer takes anything any more. */
	queue_put(queue, "1");
	queue_expect(queue_others, "1");
	ck_assert_int_eq(failures(), 0);
}
END_TEST

/* How many times each item is seen, by the verdict of the first call. */
static const int times_seen[] = { 1, 2, 2, 2 };

START_TEST(a_consumer_says_what_becomes_of_an_item)
{
	struct kustos_consumer *consumer = NULL;

	seen.verdict = (enum kustos_verdict)_i;
	queue_put_numbers(queue, 0, ITEMS);
	check_err(kustos_claims_consume(claims, work, failed, NULL, &consumer),
		KUSTOS_OK);
	test_eventually(calls() == ITEMS * times_seen[_i], 20000);
	kustos_consumer_stop(consumer);
	check_all(times_seen[_i]);
	ck_assert_int_eq(seen.most, 1);
	ck_assert_int_eq(failures(), 0);
}
END_TEST

START_TEST(consumers_of_one_object_share_its_items)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct kustos_consumer *consumers[3] = { NULL };
	struct kustos_claims *eager;

	o.ahead = 10;
	eager = claims_new(client, QUEUE, &o);
	queue_put_numbers(queue, 0, ITEMS);
	for (int i = 0; i < 3; i++)
		check_err(kustos_claims_consume(i < 2 ? eager : claims_others,
				  work, failed, NULL, &consumers[i]),
			KUSTOS_OK);
	test_eventually(calls() == ITEMS, 20000);
	for (int i = 0; i < 3; i++)
		kustos_consumer_stop(consumers[i]);
	kustos_claims_destroy(eager);
	check_all(1);
	ck_assert_int_eq(failures(), 0);
}
END_TEST

/* A consumer is stopped at any moment, now and then only after its first call.
   It must have been called with each item that is gone. */
START_TEST(what_was_taken_when_a_consumer_was_stopped_is_not_lost)
{
	struct kustos_consumer *consumer = NULL;
	int before = 0;

	seen.max = 4;
	for (int i = 0; i < ITEMS / 4; i++) {
		struct kustos_queue *one = queue_new(client);

		queue_put_numbers(queue_others, 4 * i, 4 * i + 4);
		check_err(kustos_queue_consume(one, 4, take, failed, NULL,
				  &consumer),
			KUSTOS_OK);
		for (int ms = 0; ms < i % 8; ms++)
			test_pause_1ms();
		if (i % 8 == 7)
			test_eventually(calls() > before, 5000);
		kustos_consumer_stop(consumer);
		kustos_queue_destroy(one);
		before = calls();
		ck_assert_int_eq(before + queue_count(), 4 * i + 4);
	}
}
END_TEST

/* The put never ends: it waits for room, and the queue is full with a node that
   is no item. */
START_TEST(who_stops_a_consumer_does_not_wait_for_what_is_put)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	const struct kustos_new_item item = { .data = "1", .len = 1 };
	struct kustos_consumer *consumer = NULL;
	struct taken put = { .calls = 0 };
	struct kustos_queue *full = NULL;

	o.max_items = 1;
	check_err(kustos_queue_create(client, QUEUE, &o, &full), KUSTOS_OK);
	client_create(other, QUEUE "/other", KUSTOS_CREATE_PARENTS);
	check_err(kustos_queue_put_item_async(full, &item, KUSTOS_FOREVER, NULL,
			  queue_was_put, &put),
		KUSTOS_OK);
	check_err(kustos_queue_consume(full, 1, take, failed, NULL, &consumer),
		KUSTOS_OK);
	/* Both the put and the consumer have listed the queue. */
	test_eventually(proxy_count(proxy, ZK_OP_CHILDREN2) == 2, 5000);
	int64_t began_ms = test_now_ms();
	kustos_consumer_stop(consumer);
	ck_assert_int_lt(test_now_ms() - began_ms, 9000);
	ck_assert_int_eq(taken_calls(&put), 0);
	kustos_queue_destroy(full);
	check_err(taken_wait(&put), KUSTOS_ECLOSED);
}
END_TEST

/* Nobody says what was taken.  It is there for the next call. */
START_TEST(who_stops_a_consumer_does_not_wait_for_servers_for_long)
{
	struct kustos_consumer *consumer = NULL;

	seen.max = 1;
	queue_put(queue_others, "1");
	proxy_arm(proxy, PROXY_HOLD_REPLY, ZK_OP_MULTI, 1);
	check_err(kustos_queue_consume(queue, 1, take, failed, NULL, &consumer),
		KUSTOS_OK);
	test_eventually(queue_count() == 0, 5000);
	int64_t began_ms = test_now_ms();
	kustos_consumer_stop(consumer);
	/* 10 s, and what a busy machine takes. */
	ck_assert_int_lt(test_now_ms() - began_ms, 15000);
	ck_assert_int_eq(calls(), 0);
	ck_assert_int_eq(failures(), 0);
	proxy_set_mode(proxy, PROXY_PASS);
	queue_expect(queue, "1");
}
END_TEST

static enum kustos_verdict stop_itself(void *arg, struct kustos_claim *claim)
{
	struct kustos_consumer **self = arg;

	see(kustos_claim_item(claim));
	/* The call that makes the consumer has stored it by the time this
	   ends. */
	while (__atomic_load_n(self, __ATOMIC_SEQ_CST) == NULL)
		test_pause_1ms();
	kustos_consumer_stop(*self);
	return KUSTOS_VERDICT_ACK;
}

START_TEST(a_consumer_may_stop_itself)
{
	struct kustos_consumer *consumer = NULL, *made = NULL;

	queue_put_numbers(queue, 0, 3);
	check_err(kustos_claims_consume(claims, stop_itself, NULL, &consumer,
			  &made),
		KUSTOS_OK);
	__atomic_store_n(&consumer, made, __ATOMIC_SEQ_CST);
	test_eventually(queue_count() == 2, 5000);
	ck_assert_int_eq(calls(), 1);
	for (int i = 1; i < 3; i++)
		claim_ack(claim_expect(claims_others, i == 1 ? "1" : "2"),
			KUSTOS_OK);
}
END_TEST

static int stopped, destroyed, outlived;

/* This call goes on for a while after the stop.  The object that it consumes
   must exist until it returns. */
static enum kustos_verdict stop_and_stay(void *arg, struct kustos_claim *claim)
{
	stop_itself(arg, claim);
	__atomic_store_n(&stopped, 1, __ATOMIC_SEQ_CST);
	for (int ms = 0; ms < 50; ms++)
		test_pause_1ms();
	outlived = !__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST);
	return KUSTOS_VERDICT_ACK;
}

static void take_and_stop(void *arg, struct kustos_item *const *items,
	size_t count)
{
	struct kustos_consumer **self = arg;

	take(NULL, items, count);
	if (calls() > 1)
		return;
	while (__atomic_load_n(self, __ATOMIC_SEQ_CST) == NULL)
		test_pause_1ms();
	kustos_consumer_stop(*self);
	__atomic_store_n(&stopped, 1, __ATOMIC_SEQ_CST);
}

START_TEST(a_consumer_that_was_stopped_takes_nothing_more_for_good)
{
	struct kustos_consumer *consumer = NULL, *made = NULL;
	struct kustos_queue *one = queue_new(client);

	seen.max = 1;
	queue_put_numbers(queue_others, 0, 3);
	check_err(kustos_queue_consume(one, 1, take_and_stop, failed, &consumer,
			  &made),
		KUSTOS_OK);
	__atomic_store_n(&consumer, made, __ATOMIC_SEQ_CST);
	test_eventually(__atomic_load_n(&stopped, __ATOMIC_SEQ_CST), 5000);
	kustos_queue_destroy(one); /* it waits for that call */
	ck_assert_int_eq(calls(), 1);
	ck_assert_int_eq(queue_count(), 2);
}
END_TEST

/* Have "one" keep two items, which were taken for a call that has given up. */
static void keep_two(struct kustos_queue *one)
{
	struct taken late = { .calls = 0 };
	struct kustos_cancel *cancel = NULL;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	proxy_arm(proxy, PROXY_HOLD_REPLY, ZK_OP_MULTI, 1);
	check_err(kustos_queue_poll_async(one, 2, KUSTOS_FOREVER, cancel,
			  queue_taken, &late),
		KUSTOS_OK);
	test_eventually(queue_count() == 1, 5000);
	kustos_cancel_fire(cancel);
	check_err(taken_wait(&late), KUSTOS_ECANCELED);
	kustos_cancel_destroy(cancel);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(kustos_queue_flush(one, kustos_after_ms(5000), NULL),
		KUSTOS_OK);
}

/* It may free what its function uses, so what is kept goes back. */
START_TEST(a_consumer_that_stopped_itself_is_not_called_again)
{
	struct kustos_consumer *consumer = NULL, *made = NULL;
	struct kustos_queue *one = queue_new(client);

	stopped = 0;
	seen.max = 1;
	queue_put_numbers(queue_others, 0, 3);
	keep_two(one);
	check_err(kustos_queue_consume(one, 1, take_and_stop, failed, &consumer,
			  &made),
		KUSTOS_OK);
	__atomic_store_n(&consumer, made, __ATOMIC_SEQ_CST);
	test_eventually(__atomic_load_n(&stopped, __ATOMIC_SEQ_CST), 5000);
	kustos_queue_destroy(one); /* it waits for the consumer's end */
	ck_assert_int_eq(calls(), 1);
	ck_assert_int_eq(seen.items[0], 1);
	test_eventually(queue_count() == 2, 5000);
}
END_TEST

START_TEST(what_it_consumes_outlives_a_consumer_that_stopped_itself)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct kustos_claims *own = claims_new(client, QUEUE, &o);
	struct kustos_consumer *consumer = NULL, *made = NULL;

	stopped = destroyed = outlived = 0;
	queue_put(queue, "7");
	check_err(kustos_claims_consume(own, stop_and_stay, NULL, &consumer,
			  &made),
		KUSTOS_OK);
	__atomic_store_n(&consumer, made, __ATOMIC_SEQ_CST);
	test_eventually(__atomic_load_n(&stopped, __ATOMIC_SEQ_CST) == 1, 5000);
	kustos_claims_destroy(own);
	__atomic_store_n(&destroyed, 1, __ATOMIC_SEQ_CST);
	test_eventually(queue_count() == 0, 5000);
	ck_assert_int_eq(outlived, 1);
}
END_TEST

static enum kustos_verdict lose_marker(void *arg, struct kustos_claim *claim)
{
	(void)arg;
	if (see(kustos_claim_item(claim)) == 1)
		raw_delete(fixture_address(),
			kustos_hold_path(kustos_claim_hold(claim)));
	return KUSTOS_VERDICT_ACK;
}

START_TEST(S16_a_consumer_hears_that_an_item_was_lost)
{
	struct kustos_consumer *consumer = NULL;

	queue_put(queue, "7");
	check_err(kustos_claims_consume(claims, lose_marker, failed, NULL,
			  &consumer),
		KUSTOS_OK);
	/* The outcome of a verdict is reported later, and not at all after the
	   consumer was stopped. */
	test_eventually(calls() == 2 && failures() > 0, 10000);
	kustos_consumer_stop(consumer);
	test_eventually(queue_count() == 0, 5000);
	ck_assert_int_eq(failures(), 1);
	check_err(seen.err, KUSTOS_ELOST);
}
END_TEST

START_TEST(a_consumer_goes_on_after_cuts_and_sessions)
{
	struct kustos_consumer *consumer = NULL;

	check_err(kustos_claims_consume(claims, work, failed, NULL, &consumer),
		KUSTOS_OK);
	for (int i = 0; i < 4; i++) {
		queue_put_numbers(queue_others, ITEMS / 4 * i,
			ITEMS / 4 * (i + 1));
		if (i == 2)
			client_kill_session(client);
		else
			proxy_cut(proxy);
	}
	test_eventually(queue_count() == 0, 20000);
	kustos_consumer_stop(consumer);
	for (int i = 0; i < ITEMS; i++)
		ck_assert_int_ge(seen.items[i], 1);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused)
{
	struct kustos_consumer *none = NULL;

	check_err(kustos_claims_consume(claims, NULL, NULL, NULL, &none),
		KUSTOS_EINVAL);
	check_err(kustos_claims_consume(NULL, work, NULL, NULL, &none),
		KUSTOS_EINVAL);
	check_err(kustos_queue_consume(queue, 0, take, NULL, NULL, &none),
		KUSTOS_EINVAL);
	check_err(
		kustos_queue_consume(queue, SIZE_MAX, take, NULL, NULL, &none),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(none);
	kustos_consumer_stop(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("consumers");
	TCase *t = fixture_case(s, "two clients", 50);

	tcase_add_checked_fixture(t, set_up, claim_pair_close);
	tcase_add_test(t, a_consumer_takes_each_item_once);
	tcase_add_loop_test(t, a_consumer_says_what_becomes_of_an_item, 0, 4);
	tcase_add_test(t, consumers_of_one_object_share_its_items);
	tcase_add_test(t,
		what_was_taken_when_a_consumer_was_stopped_is_not_lost);
	tcase_add_test(t, who_stops_a_consumer_does_not_wait_for_what_is_put);
	tcase_add_test(t,
		who_stops_a_consumer_does_not_wait_for_servers_for_long);
	tcase_add_test(t, a_consumer_may_stop_itself);
	tcase_add_test(t,
		a_consumer_that_was_stopped_takes_nothing_more_for_good);
	tcase_add_test(t, a_consumer_that_stopped_itself_is_not_called_again);
	tcase_add_test(t,
		what_it_consumes_outlives_a_consumer_that_stopped_itself);
	tcase_add_test(t, S16_a_consumer_hears_that_an_item_was_lost);
	tcase_add_test(t, a_consumer_goes_on_after_cuts_and_sessions);
	tcase_add_test(t, what_makes_no_sense_is_refused);
	return fixture_main(s);
}
