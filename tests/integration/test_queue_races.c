/*
 * test_queue_races.c - what others do to a queue, or to one of its items, just
 * between two of our requests.  inject.h holds an answer back until the other
 * one has acted.
 */
#include "inject.h"
#include "queue_faults.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define T_MS 12000
#define QUIET_MS 100

static void set_up(void)
{
	inject_reset();
	queue_pair_open(T_MS);
}

static void tear_down(void)
{
	inject_reset();
	queue_pair_close();
}

/* The item is taken on the server, but the caller does not learn that, and the
   client cannot reconnect. */
static void take_too_late(void)
{
	struct kustos_item *item = NULL;

	queue_put(queue, "a");
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_MULTI, 1);
	check_err(kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EDISCONNECTED);
}

/* It was taken for a call that had given up, so it is put back, into a queue
   that is created again. */
START_TEST(S15_what_goes_back_finds_its_queue_deleted)
{
	take_too_late();
	ck_assert_int_eq(raw_delete(fixture_address(), QUEUE), 0);
	kustos_queue_destroy(queue);
	queue = NULL;
	inject_connect(0);
	queue_expect(queue_others, "a");
}
END_TEST

/* It was taken for a call that had given up, so the next call gets it. */
START_TEST(S15_what_was_taken_too_late_is_had_without_a_connection)
{
	struct kustos_item *item = NULL;

	take_too_late();
	inject_connect(0);
	check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	check_err(kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item), KUSTOS_OK);
	ck_assert_str_eq(item->data, "a");
	kustos_item_free(item);
	check_err(queue_try(queue), KUSTOS_EDISCONNECTED);
	inject_connect(0);
}
END_TEST

/* Write into the only receipt. */
static void write_to_receipt(const char *data)
{
	struct raw_names names;
	char path[128];

	ck_assert_int_eq(raw_children(fixture_address(), RECEIPTS, &names), 0);
	ck_assert_int_eq(names.count, 1);
	snprintf(path, sizeof(path), RECEIPTS "/%s", names.names[0]);
	raw_names_free(&names);
	ck_assert_int_eq(raw_set(fixture_address(), path, data), 0);
}

/* The put was done; or it was not, as its request was not sent. */
START_TEST(S15_what_somebody_has_written_to_a_receipt_proves_nothing)
{
	struct taken put = { .calls = 0 };

	queue_put(queue, "a");
	inject_connect(ECONNREFUSED);
	queue_put_unheard(queue, _i == 0, &put);
	test_eventually(inject_fired() == 1, 5000);
	write_to_receipt("1"); /* as the object itself has written */
	inject_connect(0);
	check_err(taken_wait(&put), KUSTOS_EUNKNOWN);
	queue_put(queue, "c");
	ck_assert_int_eq(queue_count(), _i == 0 ? 3 : 2);
}
END_TEST

START_TEST(a_receipt_that_somebody_has_written_to_holds_nothing_up)
{
	queue_put(queue, "a");
	write_to_receipt("mine");
	queue_put(queue, "b");
	ck_assert_int_eq(queue_count(), 2);
}
END_TEST

/* Nobody may read the nodes that this client creates, itself included.  Where
   the server wants the same right for it, the client may not even ask whether
   they exist. */
START_TEST(S15_a_receipt_that_may_not_be_read_says_what_was_done)
{
	const struct kustos_acl acl = { KUSTOS_PERM_ALL & ~KUSTOS_PERM_READ,
		"world", "anyone" };
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct taken put = { .calls = 0 };

	queue_put(queue, "a"); /* so that the folders may be read */
	o.retry = kustos_retry_forever(5);
	o.acl = &acl;
	o.acl_count = 1;
	struct kustos_client *blind = client_open_with(&o);
	struct kustos_queue *q = queue_new(blind);
	queue_put(q, "c");
	queue_put_unheard(q, _i == 0, &put);
	bool seen = answer_to_the_blind() == KUSTOS_OK;
	check_err(taken_wait(&put), seen ? KUSTOS_OK : KUSTOS_EUNKNOWN);
	ck_assert_int_eq(inject_fired(), 1);
	ck_assert_int_eq(queue_count(), seen || _i == 0 ? 3 : 2);
	kustos_queue_destroy(q);
	client_close(blind);
}
END_TEST

#define CROWD 8
#define ROOM 100

/* All of them count before any of them puts, and each could fill the queue
   alone. */
START_TEST(many_who_put_at_once_pass_the_bound_by_no_more_than_they_are)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	static struct taken puts[CROWD][ROOM];
	struct kustos_new_item item = { .data = "x", .len = 1 };
	struct kustos_queue *crowd[CROWD] = { NULL };

	memset(puts, 0, sizeof(puts));
	o.max_items = ROOM;
	proxy_set_mode(proxy, PROXY_HOLD);
	for (int i = 0; i < CROWD; i++) {
		check_err(kustos_queue_create(client, QUEUE, &o, &crowd[i]),
			KUSTOS_OK);
		for (int j = 0; j < ROOM; j++)
			check_err(kustos_queue_put_item_async(crowd[i], &item,
					  KUSTOS_NOW, NULL, queue_was_put,
					  &puts[i][j]),
				KUSTOS_OK);
	}
	proxy_set_mode(proxy, PROXY_PASS);
	for (int i = 0; i < CROWD * ROOM; i++) {
		enum kustos_err err = taken_wait(&puts[i / ROOM][i % ROOM]);

		ck_assert(err == KUSTOS_OK || err == KUSTOS_EFULL);
	}
	ck_assert_int_ge(queue_count(), ROOM);
	ck_assert_int_le(queue_count(), ROOM + CROWD);
	for (int i = 0; i < CROWD; i++)
		kustos_queue_destroy(crowd[i]);
}
END_TEST

static void bound_both(int max_items)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;

	o.max_items = max_items;
	kustos_queue_destroy(queue);
	kustos_queue_destroy(queue_others);
	queue = queue_others = NULL;
	check_err(kustos_queue_create(client, QUEUE, &o, &queue), KUSTOS_OK);
	check_err(kustos_queue_create(other, QUEUE, &o, &queue_others),
		KUSTOS_OK);
}

/* Both objects have a bound, and the first knows that the queue is full. */
static void fill_both(int max_items)
{
	bound_both(max_items);
	queue_put_numbers(queue, 0, max_items);
	check_err(kustos_queue_put(queue, "x", 1, KUSTOS_NOW, NULL),
		KUSTOS_EFULL);
}

/* Nobody is waiting to put when there is room again, and then others use it
   up. */
START_TEST(the_bound_goes_by_nothing_that_was_counted_before)
{
	fill_both(4);
	queue_expect(queue_others, "0");
	pair_settle();
	queue_put_numbers(queue_others, 4, 5);
	check_err(kustos_queue_put(queue, "x", 1, KUSTOS_NOW, NULL),
		KUSTOS_EFULL);
	ck_assert_int_eq(queue_count(), 4);
}
END_TEST

/* It had seen room for more, which others have used up. */
START_TEST(the_bound_goes_by_no_room_that_was_left_before)
{
	bound_both(64);
	queue_put(queue, "0");
	queue_put_numbers(queue_others, 1, 64);
	check_err(kustos_queue_put(queue, "x", 1, KUSTOS_NOW, NULL),
		KUSTOS_EFULL);
	ck_assert_int_eq(queue_count(), 64);
}
END_TEST

/* Nor is the queue listed whenever it changes. */
START_TEST(a_full_queue_is_not_watched_when_nobody_waits)
{
	fill_both(4);
	pair_settle();
	proxy_reset_counts(proxy);
	for (int i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), QUEUE "/x%d", i);
		ck_assert_int_eq(raw_create(fixture_address(), name, ""), 0);
		pair_settle();
	}
	ck_assert_int_le(proxy_count(proxy, ZK_OP_CHILDREN2), 1);
}
END_TEST

/* FILL items fill the memory, UNDER_WAY of which are in transactions. */
#define FILL 6
#define UNDER_WAY 4

static void *put_until_the_end(void *arg)
{
	static const char big[1000];
	struct kustos_new_item item = { .data = big, .len = sizeof(big) };
	atomic_int *puts = arg;
	enum kustos_err err = KUSTOS_OK;

	while (err == KUSTOS_OK) {
		err = kustos_queue_put_item_async(queue, &item, KUSTOS_FOREVER,
			NULL, NULL, NULL);
		if (err == KUSTOS_OK)
			atomic_fetch_add(puts, 1);
	}
	check_err(err, KUSTOS_ECLOSED);
	return NULL;
}

/* The destruction makes room, and then the queue is gone. */
START_TEST(L01_a_queue_is_destroyed_under_who_waits_for_memory)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	static atomic_int puts;
	pthread_t thread;

	mallopt(M_PERTURB, 0x5a); /* freed memory is overwritten */
	kustos_queue_destroy(queue);
	o.buffer = UNDER_WAY * 1000 + 1500;
	check_err(kustos_queue_create(client, QUEUE, &o, &queue), KUSTOS_OK);
	queue_put(queue, "a");
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	pthread_create(&thread, NULL, put_until_the_end, &puts);
	test_eventually(atomic_load(&puts) > UNDER_WAY, 5000);
	test_never(atomic_load(&puts) > FILL, QUIET_MS);
	kustos_queue_destroy(queue);
	pthread_join(thread, NULL);
	queue = NULL;
	inject_connect(0);
	ck_assert_int_eq(queue_count(), 1);
}
END_TEST

/* Put until the queue is destroyed, which waits for this callback, and then
   flush. */
static void put_and_flush(void *arg, const char *name)
{
	enum kustos_err err;

	(void)name;
	do
		err = kustos_queue_put(queue, "y", 1, kustos_after_ms(10),
			NULL);
	while (err != KUSTOS_ECLOSED);
	*(enum kustos_err *)arg = kustos_queue_flush(queue,
		kustos_after_ms(1000), NULL);
}

/* The outcome of what was put before stays open for long. */
START_TEST(L01_a_flush_of_a_queue_that_is_being_destroyed_ends_at_once)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	static struct taken taken;
	static enum kustos_err flushed = KUSTOS_OK;

	o.kind = KUSTOS_QUEUE_FRAMED;
	o.on_unfit = put_and_flush;
	o.on_unfit_arg = &flushed;
	ck_assert_int_eq(raw_create(fixture_address(), "/queues", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), QUEUE, ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(),
				 QUEUE "/queue-0000000000", "no frame"),
		0);
	kustos_queue_destroy(queue);
	check_err(kustos_queue_create(client, QUEUE, &o, &queue), KUSTOS_OK);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_MULTI, 1);
	memset(&taken, 0, sizeof(taken));
	check_err(kustos_queue_poll_async(queue, 1, KUSTOS_FOREVER, NULL,
			  queue_taken, &taken),
		KUSTOS_OK);
	test_eventually(inject_fired() == 1, 5000);
	kustos_queue_destroy(queue);
	queue = NULL;
	inject_release();
	check_err(flushed, KUSTOS_ECLOSED);
	check_err(taken_wait(&taken), KUSTOS_ECLOSED);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, races");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, S15_what_goes_back_finds_its_queue_deleted);
	tcase_add_test(t,
		S15_what_was_taken_too_late_is_had_without_a_connection);
	tcase_add_loop_test(t,
		S15_what_somebody_has_written_to_a_receipt_proves_nothing, 0,
		2);
	tcase_add_test(t,
		a_receipt_that_somebody_has_written_to_holds_nothing_up);
	tcase_add_loop_test(t,
		S15_a_receipt_that_may_not_be_read_says_what_was_done, 0, 2);
	tcase_add_test(t,
		many_who_put_at_once_pass_the_bound_by_no_more_than_they_are);
	tcase_add_test(t, the_bound_goes_by_nothing_that_was_counted_before);
	tcase_add_test(t, the_bound_goes_by_no_room_that_was_left_before);
	tcase_add_test(t, a_full_queue_is_not_watched_when_nobody_waits);
	tcase_add_test(t, L01_a_queue_is_destroyed_under_who_waits_for_memory);
	tcase_add_test(t,
		L01_a_flush_of_a_queue_that_is_being_destroyed_ends_at_once);
	return fixture_main(s);
}
