/*
 * test_queue_count.c - how many items a queue has, and how many one call gets.
 */
#include <kustos/cancel.h>

#include "queue_fixture.h"

#include <stdatomic.h>

#define T_MS 20000
#define LOCKING "/queues/locking"
#define MOST 256 /* items that one call gets */
#define MANY 300

struct answer {
	atomic_int calls;
	enum kustos_err err;
	size_t count;
};

static void set_up(void)
{
	queue_pair_open(T_MS);
}

static void answered(void *arg, enum kustos_err err, size_t count)
{
	struct answer *a = arg;

	a->err = err;
	a->count = count;
	atomic_fetch_add(&a->calls, 1);
}

static enum kustos_err await(struct answer *a)
{
	test_eventually(atomic_load(&a->calls) == 1, PATIENCE_MS);
	return a->err;
}

/* Count with the call that waits, and with the one that has a callback. */
static void expect_count(struct kustos_queue *q, size_t count)
{
	struct answer a = { .count = 99 };
	size_t found = 99;

	check_err(kustos_queue_count(q, SOON, NULL, &found), KUSTOS_OK);
	ck_assert_uint_eq(found, count);
	check_err(kustos_queue_count_async(q, SOON, NULL, answered, &a),
		KUSTOS_OK);
	check_err(await(&a), KUSTOS_OK);
	ck_assert_uint_eq(a.count, count);
}

START_TEST(each_child_of_the_node_counts)
{
	expect_count(queue, 0); /* there is no node yet */
	queue_put_numbers(queue_others, 0, 3);
	expect_count(queue_others, 3);
	ck_assert_int_eq(raw_create(fixture_address(), QUEUE "/no-item", ""),
		0);
	expect_count(queue, 4);
	queue_expect(queue, "0");
	expect_count(queue, 3);
}
END_TEST

START_TEST(the_items_of_kazoos_locking_queue_are_in_a_folder)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_queue *q = NULL;

	o.kind = KUSTOS_QUEUE_KAZOO_LOCKING;
	check_err(kustos_queue_create(client, LOCKING, &o, &q), KUSTOS_OK);
	expect_count(q, 0);
	queue_put_numbers(q, 0, 2);
	expect_count(q, 2);
	kustos_queue_destroy(q);
}
END_TEST

START_TEST(it_costs_one_request_however_long_the_queue_is)
{
	queue_put_numbers(queue_others, 0, 400);
	pair_flush();
	proxy_reset_counts(proxy);
	expect_count(queue, 400);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_EXISTS), 2);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 0);
}
END_TEST

START_TEST(it_ends_by_deadline_by_cancel_and_without_a_connection)
{
	struct kustos_cancel *cancel = NULL;
	struct answer a = { .count = 99 };
	size_t found;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	proxy_set_mode(proxy, PROXY_HOLD);
	check_err(kustos_queue_count(queue, kustos_after_ms(50), NULL, &found),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_queue_count_async(queue, KUSTOS_FOREVER, cancel,
			  answered, &a),
		KUSTOS_OK);
	kustos_cancel_fire(cancel);
	check_err(await(&a), KUSTOS_ECANCELED);
	ck_assert_uint_eq(a.count, 0);
	kustos_cancel_destroy(cancel);
	proxy_set_mode(proxy, PROXY_REFUSE);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 5000);
	check_err(kustos_queue_count(queue, KUSTOS_NOW, NULL, &found),
		KUSTOS_EDISCONNECTED);
}
END_TEST

START_TEST(it_goes_on_when_the_object_is_destroyed)
{
	struct answer a = { .count = 99 };

	queue_put_numbers(queue_others, 0, 3);
	proxy_set_mode(proxy, PROXY_HOLD);
	check_err(kustos_queue_count_async(queue, SOON, NULL, answered, &a),
		KUSTOS_OK);
	kustos_queue_destroy(queue);
	queue = NULL;
	ck_assert_int_eq(atomic_load(&a.calls), 0);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(await(&a), KUSTOS_OK);
	ck_assert_uint_eq(a.count, 3);
}
END_TEST

START_TEST(the_number_has_to_go_somewhere)
{
	check_err(kustos_queue_count(queue, SOON, NULL, NULL), KUSTOS_EINVAL);
	check_err(kustos_queue_count_async(queue, SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
}
END_TEST

static void note_count(void *arg, struct kustos_item *const *items,
	size_t count)
{
	size_t *first = arg, none = 0;

	(void)items;
	(void)__atomic_compare_exchange_n(first, &none, count, false,
		__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

START_TEST(one_call_gets_256_items_however_many_are_asked_for)
{
	struct kustos_item *items[MANY];
	struct kustos_consumer *consumer = NULL;
	size_t count = 0;

	queue_put_numbers(queue, 0, MANY);
	check_err(kustos_queue_poll_many(queue_others, MANY, SOON, NULL, items,
			  &count),
		KUSTOS_OK);
	ck_assert_uint_eq(count, MOST);
	for (size_t i = 0; i < count; i++)
		kustos_item_free(items[i]);
	queue_expect_numbers(queue_others, MOST, MANY);
	queue_put_numbers(queue, 0, MANY);
	count = 0;
	/* A new object has listed nothing yet, but will list all. */
	struct kustos_queue *fresh = queue_new(other);
	check_err(kustos_queue_consume(fresh, MANY, note_count, NULL, &count,
			  &consumer),
		KUSTOS_OK);
	test_eventually(queue_count() == 0, 5000);
	kustos_consumer_stop(consumer);
	kustos_queue_destroy(fresh);
	ck_assert_uint_eq(count, MOST);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, count");
	TCase *t = fixture_case(s, "two clients", 20);

	tcase_add_checked_fixture(t, set_up, queue_pair_close);
	tcase_add_test(t, each_child_of_the_node_counts);
	tcase_add_test(t, the_items_of_kazoos_locking_queue_are_in_a_folder);
	tcase_add_test(t, it_costs_one_request_however_long_the_queue_is);
	tcase_add_test(t,
		it_ends_by_deadline_by_cancel_and_without_a_connection);
	tcase_add_test(t, it_goes_on_when_the_object_is_destroyed);
	tcase_add_test(t, the_number_has_to_go_somewhere);
	tcase_add_test(t, one_call_gets_256_items_however_many_are_asked_for);
	return fixture_main(s);
}
