/*
 * test_queue_kinds.c - queues of all kinds: the names and data of items, which
 * item comes first, and how many items a queue may have.
 */
#include "queue_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define T_MS 9000
#define FRAME "\x00\x01\x00\x01"

static void set_up(void)
{
	queue_pair_open(T_MS);
}

/* Make both objects of this kind. */
static void remake(const struct kustos_queue_options *o)
{
	kustos_queue_destroy(queue);
	kustos_queue_destroy(queue_others);
	queue = queue_others = NULL;
	check_err(kustos_queue_create(client, QUEUE, o, &queue), KUSTOS_OK);
	check_err(kustos_queue_create(other, QUEUE, o, &queue_others),
		KUSTOS_OK);
}

static void remake_kind(enum kustos_queue_kind kind)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;

	o.kind = kind;
	remake(&o);
}

static void put_item(const struct kustos_new_item *item)
{
	check_err(kustos_queue_put_item(queue, item, SOON, NULL), KUSTOS_OK);
}

static void put_text(const char *text, int32_t priority, int64_t due_ms,
	const char *id)
{
	struct kustos_new_item item = { .data = text,
		.len = strlen(text),
		.priority = priority,
		.due_ms = due_ms,
		.id = id };

	put_item(&item);
}

static struct kustos_item *poll_one(void)
{
	struct kustos_item *item = NULL;

	check_err(kustos_queue_poll(queue_others, SOON, NULL, &item),
		KUSTOS_OK);
	return item;
}

static int64_t now_ms(void)
{
	struct timespec now;

	ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

START_TEST(framed_items_are_curators_and_have_several_parts)
{
	static const char frame[] = FRAME "\x01\x00\x00\x00\x03one\x02";
	struct kustos_part parts[] = { { "one", 3 }, { NULL, 0 }, { "3", 1 } };
	struct kustos_new_item item = { .parts = parts, .count = 3 };
	struct raw *raw = raw_open(fixture_address(), 10000);
	char data[64];
	struct raw_stat stat;

	remake_kind(KUSTOS_QUEUE_FRAMED);
	put_text("one", 0, 0, NULL);
	ck_assert_int_eq(raw_do_get(raw, QUEUE "/queue-0000000000", data,
				 sizeof(data), &stat),
		0);
	ck_assert_int_eq(stat.data_length, (int)sizeof(frame) - 1);
	ck_assert_int_eq(memcmp(data, frame, sizeof(frame) - 1), 0);
	raw_close(raw);
	put_item(&item);
	queue_expect(queue_others, "one");
	struct kustos_item *taken = poll_one();
	ck_assert_uint_eq(taken->count, 3);
	ck_assert_str_eq(taken->data, "one");
	ck_assert_uint_eq(taken->parts[1].len, 0);
	ck_assert_int_eq(memcmp(taken->parts[2].data, "3", 1), 0);
	kustos_item_free(taken);
}
END_TEST

START_TEST(S17_items_of_a_lesser_priority_number_come_first)
{
	static const int32_t in_order[] = { -INT32_MAX, -10, -1, 0, 0, 10,
		INT32_MAX };

	remake_kind(KUSTOS_QUEUE_PRIORITY);
	for (int i = 0; i < 7; i++) { /* 3 and 4 are equal, and stay so */
		static const int put[] = { 3, 6, 0, 4, 2, 5, 1 };
		char text[2] = { (char)('0' + put[i]), '\0' };

		put_text(text, in_order[put[i]], 0, NULL);
	}
	for (int i = 0; i < 7; i++) {
		struct kustos_item *item = poll_one();

		ck_assert_int_eq(atoi(item->data), i);
		ck_assert_int_eq(item->priority, in_order[i]);
		kustos_item_free(item);
	}
}
END_TEST

START_TEST(a_newer_item_of_a_lesser_number_is_not_passed_over)
{
	remake_kind(_i == 0 ? KUSTOS_QUEUE_PRIORITY : KUSTOS_QUEUE_KAZOO);
	for (int i = 0; i < 4; i++)
		put_text("later", 7, 0, NULL);
	for (int i = 0; i < 3; i++) {
		queue_expect(queue_others, "later");
		put_text("first", 3, 0, NULL);
		pair_hear(other);
		queue_expect(queue_others, "first");
	}
	queue_expect(queue_others, "later");
}
END_TEST

/* Those behind the first one are taken by the same listing as that. */
START_TEST(so_many_are_taken_by_an_older_listing_and_no_more)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;

	o.kind = KUSTOS_QUEUE_PRIORITY;
	o.stale = 2;
	remake(&o);
	for (int i = 0; i < 4; i++)
		put_text("later", 7, 0, NULL);
	queue_expect(queue_others, "later");
	put_text("first", 3, 0, NULL);
	pair_hear(other);
	queue_expect(queue_others, "later");
	queue_expect(queue_others, "later");
	queue_expect(queue_others, "first");
	queue_expect(queue_others, "later");
}
END_TEST

/* Except the first time, and after another client has put or taken
   something. */
START_TEST(P12_a_long_queue_with_keys_is_not_listed_for_each_item)
{
	struct kustos_new_item items[60] = { { .data = NULL } };

	remake_kind(KUSTOS_QUEUE_PRIORITY);
	for (int i = 0; i < 60; i++) {
		items[i].data = "x";
		items[i].len = 1;
	}
	check_err(kustos_queue_put_many(queue_others, items, 60, SOON, NULL,
			  NULL),
		KUSTOS_OK);
	queue_expect(queue, "x");
	pair_flush(); /* it looks for old receipts, once */
	proxy_reset_counts(proxy);
	for (int i = 0; i < 10; i++) {
		pair_hear(client); /* what was taken is reported as a change */
		queue_expect(queue, "x");
	}
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 0);
	items[0].priority = -1;
	items[0].data = "y";
	check_err(
		kustos_queue_put_many(queue_others, items, 1, SOON, NULL, NULL),
		KUSTOS_OK);
	pair_hear(client);
	queue_expect(queue, "y");
	pair_hear(client);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 1);
	queue_expect(queue_others, "x");
	pair_hear(client);
	queue_expect(queue, "x");
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 2);
}
END_TEST

START_TEST(a_delayed_item_comes_when_it_is_due_and_not_before)
{
	remake_kind(KUSTOS_QUEUE_DELAY);
	put_text("in an hour", 0, now_ms() + 3600000, NULL);
	check_err(queue_try(queue_others), KUSTOS_EEMPTY);
	int64_t now = now_ms();
	put_text("soon", 0, now + 300, NULL);
	struct kustos_item *item = poll_one();
	ck_assert_int_ge(now_ms(), now + 300);
	ck_assert_str_eq(item->data, "soon");
	ck_assert_int_eq(item->due_ms, now + 300);
	kustos_item_free(item);
	check_err(queue_try(queue_others), KUSTOS_EEMPTY);
	check_err(kustos_queue_poll(queue_others, kustos_after_ms(50), NULL,
			  &item),
		KUSTOS_ETIMEDOUT);
	put_text("at once", 0, 0, NULL);
	queue_expect(queue_others, "at once");
	ck_assert_int_eq(queue_count(), 1);
}
END_TEST

/* An earlier item arrives while it waits for a later one. */
START_TEST(who_waits_for_a_delayed_item_takes_an_earlier_one)
{
	struct taken taken = { .calls = 0 };

	remake_kind(KUSTOS_QUEUE_DELAY);
	put_text("in an hour", 0, now_ms() + 3600000, NULL);
	check_err(kustos_queue_poll_async(queue_others, 1, SOON, NULL,
			  queue_taken, &taken),
		KUSTOS_OK);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	put_text("soon", 0, now_ms() + 100, NULL);
	check_err(taken_wait(&taken), KUSTOS_OK);
	ck_assert_str_eq(taken.items[0]->data, "soon");
	taken_free(&taken);
}
END_TEST

START_TEST(items_have_ids)
{
	size_t removed = 0;

	remake_kind(KUSTOS_QUEUE_ID);
	put_text("a", 0, 0, "x");
	put_text("b", 0, 0, "a/b|c");
	check_err(kustos_queue_put_many(queue,
			  &(struct kustos_new_item){ .data = "", .len = 0 }, 1,
			  SOON, NULL, NULL),
		KUSTOS_OK); /* an ordinary one */
	struct kustos_item *item = poll_one();
	ck_assert_str_eq(item->name, "queue-|x|0000000000");
	ck_assert_str_eq(item->id, "x");
	kustos_item_free(item);
	item = poll_one();
	ck_assert_str_eq(item->id, "a_b_c");
	kustos_item_free(item);
	item = poll_one();
	ck_assert_str_eq(item->id, "");
	kustos_item_free(item);
	for (int i = 0; i < 4; i++)
		put_text(i % 2 ? "odd" : "even", 0, 0, i % 2 ? "x/" : "y");
	check_err(kustos_queue_remove_id(queue, "x/", SOON, NULL, &removed),
		KUSTOS_OK);
	ck_assert_uint_eq(removed, 2);
	check_err(kustos_queue_remove_id(queue, "z", SOON, NULL, &removed),
		KUSTOS_OK);
	ck_assert_uint_eq(removed, 0);
	queue_expect(queue_others, "even");
	queue_expect(queue_others, "even");
	check_err(queue_try(queue_others), KUSTOS_EEMPTY);
}
END_TEST

START_TEST(S17_what_has_no_name_is_refused)
{
	struct kustos_new_item item = { .data = "x", .len = 1, .priority = -1 };

	remake_kind(KUSTOS_QUEUE_KAZOO);
	check_err(kustos_queue_put_item(queue, &item, SOON, NULL),
		KUSTOS_EINVAL);
	item.priority = 1000;
	check_err(kustos_queue_put_item_async(queue, &item, SOON, NULL, NULL,
			  NULL),
		KUSTOS_EINVAL);
	item = (struct kustos_new_item)KUSTOS_NEW_ITEM_INIT;
	put_item(&item);
	item.due_ms = -1;
	struct kustos_item *taken = poll_one();
	ck_assert_str_eq(taken->name, "entry-100-0000000000");
	kustos_item_free(taken);
	remake_kind(KUSTOS_QUEUE_DELAY);
	check_err(kustos_queue_put_item(queue, &item, SOON, NULL),
		KUSTOS_EINVAL);
}
END_TEST

static int odd_count;
static char odd_name[64];

static void odd(void *arg, const char *name)
{
	ck_assert_ptr_null(arg);
	snprintf(odd_name, sizeof(odd_name), "%s", name);
	__atomic_add_fetch(&odd_count, 1, __ATOMIC_SEQ_CST);
}

START_TEST(what_is_no_frame_is_passed_over_and_told_of_and_left)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;

	odd_count = 0;
	o.kind = KUSTOS_QUEUE_FRAMED;
	o.on_unfit = odd;
	remake(&o);
	put_text("a", 0, 0, NULL);
	ck_assert_int_eq(raw_create(fixture_address(),
				 QUEUE "/queue-0000000001", "no frame"),
		0);
	put_text("b", 0, 0, NULL);
	queue_expect(queue_others, "a");
	queue_expect(queue_others, "b");
	check_err(queue_try(queue_others), KUSTOS_EEMPTY);
	test_eventually(__atomic_load_n(&odd_count, __ATOMIC_SEQ_CST) == 1,
		5000);
	ck_assert_str_eq(odd_name, "queue-0000000001");
	ck_assert_int_eq(queue_count(), 1);
}
END_TEST

/* Numbers start again with the queue's node. */
START_TEST(an_item_may_have_the_name_of_what_was_none)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;

	o.kind = KUSTOS_QUEUE_FRAMED;
	remake(&o);
	put_text("a", 0, 0, NULL);
	queue_expect(queue_others, "a");
	ck_assert_int_eq(raw_create(fixture_address(),
				 QUEUE "/queue-0000000000", "no frame"),
		0);
	check_err(queue_try(queue_others), KUSTOS_EEMPTY);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), QUEUE), 0);
	put_text("b", 0, 0, NULL);
	queue_expect(queue_others, "b");
}
END_TEST

START_TEST(the_bound_holds_for_those_who_put_in_turn)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;

	o.max_items = 10;
	remake(&o);
	queue_put_numbers(queue, 0, 1);
	queue_put_numbers(queue_others, 1, 10);
	check_err(kustos_queue_put(queue, "x", 1, KUSTOS_NOW, NULL),
		KUSTOS_EFULL);
	ck_assert_int_eq(queue_count(), 10);
}
END_TEST

static void *put_and_wait(void *arg)
{
	struct taken *put = arg;

	queue_was_put(put,
		kustos_queue_put(queue, "x", 1, KUSTOS_FOREVER, NULL));
	return NULL;
}

START_TEST(L01_a_full_queue_is_destroyed_under_who_waits)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct taken put = { .calls = 0 };
	pthread_t thread;

	o.max_items = 1;
	remake(&o);
	queue_put_numbers(queue, 0, 1);
	pair_flush();
	proxy_reset_counts(proxy);
	pthread_create(&thread, NULL, put_and_wait, &put);
	test_eventually(proxy_count(proxy, ZK_OP_CHILDREN2) == 1, 5000);
	kustos_queue_destroy(queue);
	check_err(taken_wait(&put), KUSTOS_ECLOSED);
	pthread_join(thread, NULL);
	queue = NULL;
}
END_TEST

START_TEST(a_full_queue_makes_them_wait)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct taken put = { .calls = 0 };

	o.max_items = 4;
	remake(&o);
	queue_put_numbers(queue, 0, 4);
	check_err(kustos_queue_put(queue, "x", 1, KUSTOS_NOW, NULL),
		KUSTOS_EFULL);
	check_err(kustos_queue_put(queue_others, "x", 1, kustos_after_ms(50),
			  NULL),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_queue_put_async(queue, "4", 1, SOON, NULL,
			  queue_was_put, &put),
		KUSTOS_OK);
	pair_flush();
	ck_assert_int_eq(queue_count(), 4);
	queue_expect(queue_others, "0");
	check_err(taken_wait(&put), KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 4);
	queue_expect_numbers(queue_others, 1, 5);
	check_err(queue_try(queue_others), KUSTOS_EEMPTY);
}
END_TEST

/* One puts much more than there is room for, and one takes it. */
START_TEST(a_bounded_queue_passes_everything_on)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	static struct taken put[100];

	memset(put, 0, sizeof(put));
	o.max_items = 7;
	remake(&o);
	for (int i = 0; i < 100; i++) {
		char text[12];
		int len = snprintf(text, sizeof(text), "%d", i);

		check_err(kustos_queue_put_async(queue, text, (size_t)len, SOON,
				  NULL, queue_was_put, &put[i]),
			KUSTOS_OK);
	}
	for (int i = 0; i < 100; i++) {
		char text[12];

		snprintf(text, sizeof(text), "%d", i);
		queue_expect(queue_others, text);
		ck_assert_int_le(queue_count(), 7);
	}
	for (int i = 0; i < 100; i++)
		check_err(taken_wait(&put[i]), KUSTOS_OK);
}
END_TEST

START_TEST(no_more_waits_in_memory_than_it_may)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	static char big[10000];
	struct kustos_new_item item = { .data = big, .len = sizeof(big) };
	enum kustos_err err = KUSTOS_OK;
	int puts = 0;

	o.buffer = 50000;
	remake(&o);
	proxy_set_mode(proxy, PROXY_HOLD);
	while (err == KUSTOS_OK && puts < 100) {
		err = kustos_queue_put_item_async(queue, &item, KUSTOS_NOW,
			NULL, NULL, NULL);
		puts += err == KUSTOS_OK;
	}
	check_err(err, KUSTOS_EFULL);
	ck_assert_int_eq(puts, 5);
	check_err(kustos_queue_put_item_async(queue, &item, kustos_after_ms(50),
			  NULL, NULL, NULL),
		KUSTOS_ETIMEDOUT);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(kustos_queue_put_item_async(queue, &item, SOON, NULL, NULL,
			  NULL),
		KUSTOS_OK);
	check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 6);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, kinds");
	TCase *t = fixture_case(s, "one server", 10);

	tcase_add_checked_fixture(t, set_up, queue_pair_close);
	tcase_add_test(t, framed_items_are_curators_and_have_several_parts);
	tcase_add_test(t, S17_items_of_a_lesser_priority_number_come_first);
	tcase_add_loop_test(t,
		a_newer_item_of_a_lesser_number_is_not_passed_over, 0, 2);
	tcase_add_test(t, so_many_are_taken_by_an_older_listing_and_no_more);
	tcase_add_test(t,
		P12_a_long_queue_with_keys_is_not_listed_for_each_item);
	tcase_add_test(t, a_delayed_item_comes_when_it_is_due_and_not_before);
	tcase_add_test(t, who_waits_for_a_delayed_item_takes_an_earlier_one);
	tcase_add_test(t, items_have_ids);
	tcase_add_test(t, S17_what_has_no_name_is_refused);
	tcase_add_test(t, what_is_no_frame_is_passed_over_and_told_of_and_left);
	tcase_add_test(t, an_item_may_have_the_name_of_what_was_none);
	tcase_add_test(t, the_bound_holds_for_those_who_put_in_turn);
	tcase_add_test(t, L01_a_full_queue_is_destroyed_under_who_waits);
	tcase_add_test(t, a_full_queue_makes_them_wait);
	tcase_add_test(t, a_bounded_queue_passes_everything_on);
	tcase_add_test(t, no_more_waits_in_memory_than_it_may);
	return fixture_main(s);
}
