/*
 * test_queue.c - a simple queue: items are put, taken once each and in order,
 * waited for, and looked at.
 */
#include "queue_fixture.h"

#include <kustos/cancel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 9000

static void set_up(void)
{
	queue_pair_open(T_MS);
}

START_TEST(what_was_put_is_taken_once_and_in_order)
{
	check_err(queue_try(queue), KUSTOS_EEMPTY);
	queue_put(queue, "a");
	queue_put(queue_others, "b");
	queue_put(queue, "");
	ck_assert_int_eq(queue_count(), 3);
	queue_expect(queue_others, "a");
	queue_expect(queue_others, "b");
	queue_expect(queue, "");
	check_err(queue_try(queue), KUSTOS_EEMPTY);
	check_err(queue_try(queue_others), KUSTOS_EEMPTY);
	ck_assert_int_eq(queue_count(), 0);
}
END_TEST

/* Return how many items had to be read. */
static int put_and_take(int count, int listings)
{
	proxy_reset_counts(proxy);
	queue_put_numbers(queue, 0, count);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_MULTI), 8);
	queue_expect_numbers(queue, 0, count);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), listings);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_MULTI), 8 + 16);
	check_err(queue_try(queue), KUSTOS_EEMPTY);
	return proxy_count(proxy, ZK_OP_GET);
}

START_TEST(many_are_put_and_taken_in_few_transactions)
{
	queue_put(queue, "x");
	queue_expect(queue, "x");
	pair_flush(); /* it looks for old receipts, once */
	int got = put_and_take(1000, 1);
	/* It need not read what it has put itself, unless it was silent for a
	   second, as on a busy machine; then it lists once more. */
	for (int tries = 10; got == 1000; tries--) {
		ck_assert_int_gt(tries, 0);
		got = put_and_take(1000, 2);
	}
	ck_assert_int_eq(got, 1000 - 64);
}
END_TEST

/* What it has put itself need not be listed or read, but comes in its turn. */
START_TEST(an_own_item_does_not_pass_by_those_of_others)
{
	queue_put(queue, "x");
	queue_expect(queue, "x");
	queue_put(queue_others, "a"); /* it does not hear of this one */
	queue_put(queue, "b");
	queue_expect(queue, "a");
	queue_expect(queue, "b");
}
END_TEST

/* Together they are too large for one request. */
START_TEST(large_items_go_in_several_transactions)
{
	enum { COUNT = 100, LEN = 20000 };
	static char data[LEN];
	struct kustos_new_item items[COUNT];
	size_t put;

	memset(data, 'x', LEN);
	memset(items, 0, sizeof(items));
	for (int i = 0; i < COUNT; i++) {
		items[i].data = data;
		items[i].len = LEN;
	}
	check_err(kustos_queue_put_many(queue, items, COUNT, SOON, NULL, &put),
		KUSTOS_OK);
	ck_assert_uint_eq(put, COUNT);
	ck_assert_int_eq(queue_count(), COUNT);
}
END_TEST

/* QUEUE_LENGTH sets the length; 100,000 take half a minute. */
START_TEST(P12_a_long_queue_is_listed_once_and_taken_in_order)
{
	const char *text = getenv("QUEUE_LENGTH");
	int length = text != NULL ? atoi(text) : 5000;

	queue_put_numbers(queue_others, 0, length);
	queue_expect(queue, "0");
	pair_flush();
	proxy_reset_counts(proxy);
	queue_expect_numbers(queue, 1, length);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 0);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_MULTI), length / 64 + 64);
	check_err(queue_try(queue), KUSTOS_EEMPTY);
}
END_TEST

/* A later call must not use a listing that was begun for an earlier one. */
START_TEST(who_looks_goes_by_no_listing_that_was_made_before)
{
	struct taken taken[3] = { { .calls = 0 } };

	queue_put(queue_others, "and the queue is there");
	queue_expect(queue_others, "and the queue is there");
	for (int i = 0; i < 3; i++) {
		if (i == 1) {
			pair_flush(); /* the first has its listing */
			proxy_set_mode(proxy, PROXY_HOLD);
		}
		check_err(kustos_queue_poll_async(queue, 1,
				  i == 1 ? KUSTOS_NOW : SOON, NULL, queue_taken,
				  &taken[i]),
			KUSTOS_OK);
	}
	queue_put_numbers(queue_others, 0, 3);
	proxy_set_mode(proxy, PROXY_PASS);
	for (int i = 0; i < 3; i++) {
		check_err(taken_wait(&taken[i]), KUSTOS_OK);
		taken_free(&taken[i]);
	}
}
END_TEST

START_TEST(no_more_is_taken_than_was_asked_for)
{
	struct kustos_item *items[10];
	size_t count = 0;

	queue_put_numbers(queue, 0, 10);
	queue_expect(queue, "0");
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 9);
	check_err(kustos_queue_poll_many(queue, 3, SOON, NULL, items, &count),
		KUSTOS_OK);
	ck_assert_uint_eq(count, 3);
	for (size_t i = 0; i < count; i++)
		kustos_item_free(items[i]);
	ck_assert_int_eq(queue_count(), 6);
	queue_expect_numbers(queue_others, 4, 10);
}
END_TEST

START_TEST(who_waits_gets_what_comes)
{
	struct taken taken[3] = { { .calls = 0 } };

	for (int i = 0; i < 3; i++)
		check_err(kustos_queue_poll_async(queue, 1, SOON, NULL,
				  queue_taken, &taken[i]),
			KUSTOS_OK);
	for (int i = 0; i < 3; i++) {
		char text[2] = { (char)('0' + i), '\0' };

		queue_put(queue_others, text);
		check_err(taken_wait(&taken[i]), KUSTOS_OK);
		ck_assert_uint_eq(taken[i].count, 1);
		ck_assert_str_eq(taken[i].items[0]->data, text);
		taken_free(&taken[i]);
	}
}
END_TEST

START_TEST(a_wait_ends_by_deadline_and_by_cancel)
{
	struct taken taken = { .calls = 0 };
	struct kustos_cancel *cancel = NULL;
	struct kustos_item *item;

	check_err(kustos_queue_poll(queue, kustos_after_ms(50), NULL, &item),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_queue_peek(queue, kustos_after_ms(50), NULL, &item),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	check_err(kustos_queue_poll_async(queue, 1, KUSTOS_FOREVER, cancel,
			  queue_taken, &taken),
		KUSTOS_OK);
	kustos_cancel_fire(cancel);
	check_err(taken_wait(&taken), KUSTOS_ECANCELED);
	ck_assert_uint_eq(taken.count, 0);
	kustos_cancel_destroy(cancel);
	queue_put(queue, "x");
	queue_expect(queue, "x");
}
END_TEST

START_TEST(a_look_leaves_the_first_item_there)
{
	struct kustos_item *item = NULL;

	check_err(kustos_queue_peek(queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EEMPTY);
	queue_put_numbers(queue, 0, 3);
	for (int i = 0; i < 3; i++) {
		check_err(kustos_queue_peek(queue, SOON, NULL, &item),
			KUSTOS_OK);
		ck_assert_int_eq(atoi(item->data), i);
		kustos_item_free(item);
		char text[12];
		snprintf(text, sizeof(text), "%d", i);
		queue_expect(queue_others, text);
	}
}
END_TEST

static void look_async(struct taken *taken, kustos_deadline deadline,
	struct kustos_cancel *cancel, enum kustos_err err)
{
	check_err(kustos_queue_peek_async(queue, deadline, cancel, queue_taken,
			  taken),
		KUSTOS_OK);
	if (cancel != NULL)
		kustos_cancel_fire(cancel);
	check_err(taken_wait(taken), err);
}

START_TEST(a_look_with_a_callback_leaves_it_there_too)
{
	struct taken taken[6] = { { .calls = 0 } };
	struct kustos_cancel *cancel = NULL;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	look_async(&taken[0], KUSTOS_NOW, NULL, KUSTOS_EEMPTY);
	look_async(&taken[1], kustos_after_ms(50), NULL, KUSTOS_ETIMEDOUT);
	look_async(&taken[2], SOON, cancel, KUSTOS_ECANCELED);
	check_err(kustos_queue_peek_async(queue, SOON, NULL, queue_taken,
			  &taken[3]),
		KUSTOS_OK);
	queue_put(queue_others, "a");
	check_err(taken_wait(&taken[3]), KUSTOS_OK);
	look_async(&taken[4], KUSTOS_NOW, NULL, KUSTOS_OK);
	for (int i = 3; i < 5; i++) {
		ck_assert_uint_eq(taken[i].count, 1);
		ck_assert_str_eq(taken[i].items[0]->data, "a");
		taken_free(&taken[i]);
	}
	queue_expect(queue, "a");
	check_err(kustos_queue_peek_async(queue, SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_queue_peek_async(queue, KUSTOS_FOREVER, NULL,
			  queue_taken, &taken[5]),
		KUSTOS_OK);
	kustos_queue_destroy(queue);
	check_err(taken_wait(&taken[5]), KUSTOS_ECLOSED);
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(taken_calls(&taken[i]), 1);
	queue = NULL;
	kustos_cancel_destroy(cancel);
}
END_TEST

static void look_and_take(struct taken taken[4], kustos_deadline deadline)
{
	for (int i = 0; i < 3; i++)
		check_err(kustos_queue_peek_async(queue, deadline, NULL,
				  queue_taken, &taken[i]),
			KUSTOS_OK);
	check_err(kustos_queue_poll_async(queue, 1, deadline, NULL, queue_taken,
			  &taken[3]),
		KUSTOS_OK);
}

START_TEST(who_looks_at_the_same_time_as_others_holds_up_none_of_them)
{
	struct taken taken[8] = { { .calls = 0 } };

	look_and_take(&taken[0], SOON);
	queue_put(queue_others, "a");
	queue_put(queue_others, "a");
	look_and_take(&taken[4], KUSTOS_NOW);
	for (int i = 0; i < 8; i++) {
		check_err(taken_wait(&taken[i]), KUSTOS_OK);
		ck_assert_uint_eq(taken[i].count, 1);
		ck_assert_str_eq(taken[i].items[0]->data, "a");
		taken_free(&taken[i]);
	}
}
END_TEST

START_TEST(other_nodes_are_left_alone)
{
	const char *address = fixture_address();

	queue_put(queue, "a");
	ck_assert_int_eq(raw_create(address, QUEUE "/lock-0000000000", ""), 0);
	ck_assert_int_eq(raw_create(address, QUEUE "/qn-x", ""), 0);
	ck_assert_int_eq(raw_create(address, QUEUE "/qn-", ""), 0);
	ck_assert_int_eq(raw_create(address, QUEUE "/qn-00000000001", ""), 0);
	queue_put(queue, "b");
	queue_expect(queue, "a");
	queue_expect(queue, "b");
	check_err(queue_try(queue), KUSTOS_EEMPTY);
	ck_assert_int_eq(queue_count(), 4);
}
END_TEST

START_TEST(items_in_the_background_come_in_the_order_of_the_calls)
{
	static struct taken put[300];

	memset(put, 0, sizeof(put));
	for (int i = 0; i < 300; i++) {
		char text[12];
		struct kustos_new_item item = { .data = text };

		item.len = (size_t)snprintf(text, sizeof(text), "%d", i);
		check_err(kustos_queue_put_item_async(queue, &item, SOON, NULL,
				  i % 2 ? queue_was_put : NULL, &put[i]),
			KUSTOS_OK);
	}
	check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 300);
	queue_expect_numbers(queue_others, 0, 300);
	for (int i = 1; i < 300; i += 2)
		check_err(taken_wait(&put[i]), KUSTOS_OK);
}
END_TEST

START_TEST(the_receipts_go_with_their_objects)
{
	queue_put(queue, "a");
	queue_expect(queue_others, "a");
	ck_assert_int_eq(raw_count_children(fixture_address(), RECEIPTS), 2);
	kustos_queue_destroy(queue);
	kustos_queue_destroy(queue_others);
	queue = queue_others = NULL;
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(raw_count_children(fixture_address(), RECEIPTS), 0);
}
END_TEST

START_TEST(its_end_ends_who_waits)
{
	struct taken taken = { .calls = 0 };

	check_err(kustos_queue_poll_async(queue, 1, KUSTOS_FOREVER, NULL,
			  queue_taken, &taken),
		KUSTOS_OK);
	kustos_queue_destroy(queue);
	queue = NULL;
	check_err(taken_wait(&taken), KUSTOS_ECLOSED);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_queue *q = NULL;
	struct kustos_item *item;
	size_t count;

	check_err(kustos_queue_create(NULL, QUEUE, NULL, &q), KUSTOS_EINVAL);
	check_err(kustos_queue_create(client, "q", NULL, &q), KUSTOS_EINVAL);
	check_err(kustos_queue_create(client, "/", NULL, &q), KUSTOS_EINVAL);
	check_err(kustos_queue_create(client, NULL, NULL, &q), KUSTOS_EINVAL);
	check_err(kustos_queue_create(client, QUEUE, NULL, NULL),
		KUSTOS_EINVAL);
	o.receipts = "x";
	check_err(kustos_queue_create(client, QUEUE, &o, &q), KUSTOS_EINVAL);
	o.receipts = QUEUE; /* others would take receipts for items */
	check_err(kustos_queue_create(client, QUEUE, &o, &q), KUSTOS_EINVAL);
	o.receipts = QUEUE "/x";
	check_err(kustos_queue_create(client, QUEUE, &o, &q), KUSTOS_EINVAL);
	o.kind = KUSTOS_QUEUE_KAZOO_LOCKING; /* its markers are there */
	o.receipts = QUEUE "/taken";
	check_err(kustos_queue_create(client, QUEUE, &o, &q), KUSTOS_EINVAL);
	o.kind = KUSTOS_QUEUE_SIMPLE;
	o.receipts = QUEUE "x";
	check_err(kustos_queue_create(client, QUEUE, &o, &q), KUSTOS_OK);
	kustos_queue_destroy(q);
	q = NULL;
	o.receipts = NULL;
	o.stale = -1;
	check_err(kustos_queue_create(client, QUEUE, &o, &q), KUSTOS_EINVAL);
	o.stale = 0;
	o.max_items = -1;
	check_err(kustos_queue_create(client, QUEUE, &o, &q), KUSTOS_EINVAL);
	o.max_items = 0;
	o.kind = (enum kustos_queue_kind)99;
	check_err(kustos_queue_create(client, QUEUE, &o, &q), KUSTOS_EINVAL);
	ck_assert_ptr_null(q);
	check_err(kustos_queue_remove_id(queue, "x", SOON, NULL, NULL),
		KUSTOS_EINVAL); /* its items have no ids */
	check_err(kustos_queue_put(NULL, "x", 1, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_queue_put(queue, NULL, 1, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_queue_put(queue, "x", 1000000, SOON, NULL),
		KUSTOS_ETOOBIG);
	check_err(kustos_queue_poll(queue, SOON, NULL, NULL), KUSTOS_EINVAL);
	check_err(kustos_queue_poll_many(queue, 0, SOON, NULL, &item, &count),
		KUSTOS_EINVAL);
	check_err(kustos_queue_poll_async(queue, 1, SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	kustos_queue_destroy(NULL);
	kustos_item_free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue");
	TCase *t = fixture_case(s, "one server", 10);

	tcase_add_checked_fixture(t, set_up, queue_pair_close);
	tcase_add_test(t, what_was_put_is_taken_once_and_in_order);
	tcase_add_test(t, many_are_put_and_taken_in_few_transactions);
	tcase_add_test(t, an_own_item_does_not_pass_by_those_of_others);
	tcase_add_test(t, large_items_go_in_several_transactions);
	tcase_add_test(t, P12_a_long_queue_is_listed_once_and_taken_in_order);
	tcase_add_test(t, who_looks_goes_by_no_listing_that_was_made_before);
	tcase_add_test(t, no_more_is_taken_than_was_asked_for);
	tcase_add_test(t, who_waits_gets_what_comes);
	tcase_add_test(t, a_wait_ends_by_deadline_and_by_cancel);
	tcase_add_test(t, a_look_leaves_the_first_item_there);
	tcase_add_test(t, a_look_with_a_callback_leaves_it_there_too);
	tcase_add_test(t,
		who_looks_at_the_same_time_as_others_holds_up_none_of_them);
	tcase_add_test(t, other_nodes_are_left_alone);
	tcase_add_test(t,
		items_in_the_background_come_in_the_order_of_the_calls);
	tcase_add_test(t, the_receipts_go_with_their_objects);
	tcase_add_test(t, its_end_ends_who_waits);
	tcase_add_test(t, what_makes_no_sense_is_refused);
	return fixture_main(s);
}
