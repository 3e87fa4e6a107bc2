/*
 * test_queue_faults.c - a queue while frames, connections, sessions and nodes
 * are lost: each item that was put is taken once, and no other item is.
 * inject.h loses frames and moves the clock; sessions are ended and nodes
 * deleted from outside.
 */
#include "child.h"
#include "inject.h"
#include "queue_faults.h"

#include <kustos/cancel.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 12000
/* The largest data that a server accepts, in a request of its own. */
#define LARGEST (1048575 - 70)

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

static const int codes[] = { ZK_OP_MULTI, ZK_OP_GET, ZK_OP_CHILDREN2,
	ZK_OP_CREATE2, ZK_OP_CREATE_CONTAINER, ZK_OP_EXISTS, ZK_OP_SYNC };
#define CODES 7
#define POINTS 3
#define FAULTS (CODES * POINTS * 2)
#define ITEMS 40
#define KINDS 3

/* A heartbeat may have met the fault, so there may be no connection just
   now. */
static void check_empty(void)
{
	enum kustos_err err;

	test_eventually((err = queue_try(queue)) != KUSTOS_EDISCONNECTED, 5000);
	check_err(err, KUSTOS_EEMPTY);
	ck_assert_int_eq(queue_count(), 0);
}

START_TEST(S15_a_fault_at_any_frame_changes_nothing)
{
	bool applied = _i / CODES / POINTS == 1;

	/* SYNC is sent on a new connection, so the connection must break
	   first. */
	if (codes[_i % CODES] == ZK_OP_SYNC)
		proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	inject_frame(applied ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND,
		codes[_i % CODES], 1 + _i / CODES % POINTS);
	for (int round = 0; round < 2; round++) {
		queue_put_numbers(queue, 0, ITEMS / 2);
		for (int i = ITEMS / 2; i < ITEMS; i++) {
			char text[12];

			snprintf(text, sizeof(text), "%d", i);
			queue_put(queue, text);
		}
		ck_assert_int_eq(queue_count(), ITEMS);
		queue_expect(queue, "0");
		queue_expect_numbers(queue, 1, ITEMS);
		check_empty();
	}
	if (_i == FAULTS - 1) /* else some faults were never tested */
		ck_assert_int_eq(inject_untried(codes, CODES), 0);
}
END_TEST

/* The request of "queue" has been carried out, but the answer is lost.  Then
   its session ends. */
static void lose_the_session(void)
{
	int64_t epoch = client_epoch(client);

	test_eventually(inject_fired() == 1, 5000);
	client_kill_session(client);
	inject_connect(0);
	client_wait_epoch(client, epoch, 8000);
}

START_TEST(S15_a_put_is_not_doubled_by_a_new_session)
{
	struct taken put = { .calls = 0 };

	queue_put(queue, "a");
	inject_connect(ECONNREFUSED);
	queue_put_unheard(queue, _i == 0, &put);
	lose_the_session();
	check_err(taken_wait(&put), KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 2);
	queue_expect(queue_others, "a");
	queue_expect(queue_others, "b");
}
END_TEST

START_TEST(S15_a_taken_item_is_handed_out_after_a_new_session)
{
	struct taken taken = { .calls = 0 };

	queue_put_numbers(queue, 0, 3);
	queue_expect(queue, "0");
	inject_connect(ECONNREFUSED);
	inject_frame(_i == 0 ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND,
		ZK_OP_MULTI, 1);
	check_err(kustos_queue_poll_async(queue, 1, KUSTOS_FOREVER, NULL,
			  queue_taken, &taken),
		KUSTOS_OK);
	lose_the_session();
	check_err(taken_wait(&taken), KUSTOS_OK);
	ck_assert_str_eq(taken.items[0]->data, "1");
	taken_free(&taken);
	queue_expect(queue, "2");
	check_err(queue_try(queue), KUSTOS_EEMPTY);
}
END_TEST

/* The call has given up, but the item was taken: the next call gets it. */
START_TEST(S15_what_is_taken_too_late_is_kept)
{
	struct kustos_cancel *cancel = NULL;
	struct taken taken = { .calls = 0 };
	struct kustos_item *item = NULL;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	queue_put_numbers(queue, 0, 3);
	queue_expect(queue, "0");
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_MULTI, 1);
	check_err(kustos_queue_poll_async(queue, 1, _i == 0 ? SOON : KUSTOS_NOW,
			  cancel, queue_taken, &taken),
		KUSTOS_OK);
	test_eventually(inject_fired() == 1, 5000);
	if (_i == 0)
		kustos_cancel_fire(cancel);
	check_err(taken_wait(&taken),
		_i == 0 ? KUSTOS_ECANCELED : KUSTOS_EDISCONNECTED);
	kustos_cancel_destroy(cancel);
	ck_assert_int_eq(queue_count(), 1);
	check_err(queue_try(queue), KUSTOS_EDISCONNECTED);
	inject_connect(0);
	/* The flush waits for that item; afterwards the poll need not wait. */
	check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	check_err(kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item), KUSTOS_OK);
	ck_assert_str_eq(item->data, "1");
	kustos_item_free(item);
	queue_expect(queue, "2");
}
END_TEST

START_TEST(without_a_connection_nothing_is_done_at_once)
{
	struct kustos_item *item = NULL;

	queue_put(queue, "a");
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	check_err(kustos_queue_put(queue, "b", 1, KUSTOS_NOW, NULL),
		KUSTOS_EDISCONNECTED);
	check_err(kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EDISCONNECTED);
	check_err(kustos_queue_poll(queue, kustos_after_ms(20), NULL, &item),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	inject_connect(0);
	queue_expect(queue, "a");
	ck_assert_int_eq(queue_count(), 0);
}
END_TEST

/* The connection breaks as the first put creates what it needs: the receipt, or
   the queue. */
START_TEST(a_first_put_at_once_does_not_wait_for_a_connection)
{
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_LOSE_REPLY,
		_i == 0 ? ZK_OP_CREATE2 : ZK_OP_CREATE_CONTAINER, 1);
	check_err(kustos_queue_put(queue, "b", 1, KUSTOS_NOW, NULL),
		KUSTOS_EDISCONNECTED);
	inject_connect(0);
	check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	queue_put(queue, "c");
	while (queue_count() > 1)
		ck_assert_int_eq(queue_try(queue), KUSTOS_OK);
	queue_expect(queue, "c");
}
END_TEST

/* An item that was taken for a call that gave up is put back when the object is
   destroyed, although only the next connection shows that it was taken. */
START_TEST(S15_what_is_taken_too_late_goes_back_in_the_end)
{
	struct kustos_item *item = NULL;

	queue_put_numbers(queue, 0, 2);
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_MULTI, 1);
	check_err(kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(queue_count(), 1);
	if (_i == 0) { /* it is known that it was taken */
		inject_connect(0);
		check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	}
	kustos_queue_destroy(queue);
	queue = NULL;
	inject_connect(0);
	queue_expect(queue_others, "1");
	queue_expect(queue_others, "0");
}
END_TEST

/* A peer's item may be too large to be put together with a receipt, or larger
   than what we would put. */
START_TEST(L24_what_is_as_large_as_can_be_goes_back_in_the_end)
{
	static char data[LARGEST + 1];
	struct kustos_item *item = NULL;

	memset(data, 'x', _i == 0 ? LARGEST : LARGEST - 1000);
	ck_assert_int_eq(raw_create(fixture_address(), "/queues", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), QUEUE, ""), 0);
	ck_assert_int_eq(
		raw_create(fixture_address(), QUEUE "/qn-0000000000", data), 0);
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_MULTI, 1);
	check_err(kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(queue_count(), 0);
	inject_connect(0);
	check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	kustos_queue_destroy(queue);
	queue = NULL;
	queue_expect(queue_others, data);
	check_err(kustos_sync(client, "/", SOON, NULL), KUSTOS_OK);
}
END_TEST

/* With the priority, due time or id that it was put with. */
START_TEST(S17_what_goes_back_in_the_end_keeps_its_key)
{
	static const enum kustos_queue_kind kinds[KINDS] = {
		KUSTOS_QUEUE_PRIORITY, KUSTOS_QUEUE_DELAY, KUSTOS_QUEUE_ID
	};
	static const struct kustos_part parts[] = { { "a", 1 }, { "bc", 2 } };
	struct kustos_new_item put = { .parts = parts, .count = 2 };
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_item *item = NULL;

	o.kind = kinds[_i];
	put.priority = o.kind == KUSTOS_QUEUE_PRIORITY ? -7 : 0;
	put.due_ms = o.kind == KUSTOS_QUEUE_DELAY ? 1234 : 0;
	put.id = o.kind == KUSTOS_QUEUE_ID ? "this" : NULL;
	kustos_queue_destroy(queue);
	kustos_queue_destroy(queue_others);
	queue = queue_others = NULL;
	check_err(kustos_queue_create(client, QUEUE, &o, &queue), KUSTOS_OK);
	check_err(kustos_queue_create(other, QUEUE, &o, &queue_others),
		KUSTOS_OK);
	check_err(kustos_queue_put_many(queue, &put, 1, SOON, NULL, NULL),
		KUSTOS_OK);
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_MULTI, 1);
	check_err(kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(queue_count(), 0);
	kustos_queue_destroy(queue);
	queue = NULL;
	inject_connect(0);
	check_err(kustos_queue_poll(queue_others, SOON, NULL, &item),
		KUSTOS_OK);
	ck_assert_uint_eq(item->count, 2);
	ck_assert_uint_eq(item->parts[1].len, 2);
	ck_assert_int_eq(item->priority, put.priority);
	ck_assert_int_eq(item->due_ms, put.due_ms);
	if (put.id != NULL)
		ck_assert_str_eq(item->id, put.id);
	kustos_item_free(item);
}
END_TEST

/* Delete all receipts, as somebody might do to clean up. */
static void delete_receipts(void)
{
	ck_assert_int_eq(raw_delete_tree(fixture_address(), RECEIPTS), 0);
}

START_TEST(S15_without_its_receipt_it_says_that_it_does_not_know)
{
	struct taken put = { .calls = 0 };
	struct kustos_new_item item = { .data = "b", .len = 1 };

	queue_put(queue, "a");
	delete_receipts();
	queue_put(queue, "x"); /* nothing was in doubt */
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_MULTI, 1);
	check_err(kustos_queue_put_item_async(queue, &item, KUSTOS_FOREVER,
			  NULL, queue_was_put, &put),
		KUSTOS_OK);
	test_eventually(inject_fired() == 1, 5000);
	delete_receipts();
	inject_connect(0);
	check_err(taken_wait(&put), KUSTOS_EUNKNOWN);
	queue_put(queue, "c");
	ck_assert_int_eq(queue_count(), 4);
}
END_TEST

START_TEST(L26_who_waits_goes_on_when_the_queue_is_deleted)
{
	struct taken taken = { .calls = 0 };

	queue_put(queue, "a");
	queue_expect(queue, "a");
	check_err(kustos_queue_poll_async(queue, 1, SOON, NULL, queue_taken,
			  &taken),
		KUSTOS_OK);
	pair_flush();
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(raw_delete_tree(fixture_address(), QUEUE), 0);
		/* One watch on the missing node; child watches do not count
		   here. */
		test_eventually(watch_count() == 1, 5000);
		pair_flush();
		ck_assert_int_eq(raw_create(fixture_address(), QUEUE, ""), 0);
		pair_hear(client);
		pair_flush();
	}
	ck_assert_int_eq(taken_calls(&taken), 0);
	queue_put(queue_others, "b");
	check_err(taken_wait(&taken), KUSTOS_OK);
	taken_free(&taken);
}
END_TEST

/* Put three and take two; the third has then been read ahead. */
static void read_one_ahead(void)
{
	queue_put_numbers(queue, 0, 3);
	queue_expect(queue, "0");
	queue_expect(queue, "1");
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
}

/* An item of the new queue has the name and version of the one that was read
   ahead from the old queue, by a client that is disconnected, has reconnected,
   or slept. */
START_TEST(S15_an_item_of_a_queue_made_anew_is_not_taken_for_an_old_one)
{
	read_one_ahead();
	if (_i < 2) {
		inject_connect(ECONNREFUSED);
		proxy_cut(proxy);
		client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	}
	queue_expect(queue_others, "2");
	ck_assert_int_eq(raw_delete(fixture_address(), QUEUE), 0);
	queue_put(queue_others, "new 0");
	queue_put(queue_others, "new 1");
	queue_put(queue_others, "new 2");
	inject_connect(0);
	if (_i == 1)
		client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	else if (_i == 2)
		inject_clock(CLOCK_BOOTTIME, 1100);
	queue_expect(queue, "new 2"); /* as if it were the next of the old */
	queue_expect(queue, "new 0");
	queue_expect(queue, "new 1");
	check_err(queue_try(queue), KUSTOS_EEMPTY);
}
END_TEST

START_TEST(an_item_that_was_changed_meanwhile_is_read_again)
{
	struct raw_names names;
	char path[64];

	read_one_ahead();
	ck_assert_int_eq(raw_children(fixture_address(), QUEUE, &names), 0);
	snprintf(path, sizeof(path), QUEUE "/%s", names.names[0]);
	raw_names_free(&names);
	ck_assert_int_eq(raw_set(fixture_address(), path, "changed"), 0);
	queue_expect(queue, "changed");
	check_err(queue_try(queue), KUSTOS_EEMPTY);
}
END_TEST

/* A process of its own: it takes an item, reports that, and puts one item after
   the other. */
static int user_main(int fd, void *arg)
{
	struct kustos_client *own;
	struct kustos_queue *q;
	char line[16];

	(void)arg;
	if (child_hear(fd, line, sizeof(line), PATIENCE_MS) != 0)
		return 1;
	own = client_connected(fixture_address(), T_MS);
	q = queue_new(own);
	queue_expect(q, "0");
	child_say(fd, "has it");
	for (int i = 3;; i++) {
		snprintf(line, sizeof(line), "%d", i);
		queue_put(q, line);
	}
}

/* The item that it took is gone.  All that it put is there, except possibly the
   last item, and nothing is there twice. */
START_TEST(S15_a_process_that_is_killed_puts_nothing_twice_and_leaves_no_gap)
{
	struct kustos_item *item = NULL;
	struct child child;
	char text[16];
	int next = 1;

	ck_assert_int_eq(child_start(&child, user_main, NULL), 0);
	queue_pair_open(T_MS);
	queue_put_numbers(queue, 0, 3);
	child_say(child.fd, "go");
	ck_assert(child_expect(child.fd, "has it", PATIENCE_MS));
	test_eventually(queue_count() >= 10, PATIENCE_MS);
	kill(child.pid, SIGKILL);
	child_end(&child);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	while (kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item) == KUSTOS_OK) {
		snprintf(text, sizeof(text), "%d", next++);
		ck_assert_str_eq(item->data, text);
		kustos_item_free(item);
	}
	ck_assert_int_ge(next, 11);
	ck_assert_int_eq(queue_count(), 0);
	queue_pair_close();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, faults");
	TCase *t = fixture_case(s, "faults", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, S15_a_fault_at_any_frame_changes_nothing, 0,
		FAULTS);
	tcase_add_loop_test(t, S15_a_put_is_not_doubled_by_a_new_session, 0, 2);
	tcase_add_loop_test(t,
		S15_a_taken_item_is_handed_out_after_a_new_session, 0, 2);
	tcase_add_loop_test(t, S15_what_is_taken_too_late_is_kept, 0, 2);
	tcase_add_test(t, without_a_connection_nothing_is_done_at_once);
	tcase_add_loop_test(t,
		a_first_put_at_once_does_not_wait_for_a_connection, 0, 2);
	tcase_add_loop_test(t, S15_what_is_taken_too_late_goes_back_in_the_end,
		0, 2);
	tcase_add_loop_test(t,
		L24_what_is_as_large_as_can_be_goes_back_in_the_end, 0, 2);
	tcase_add_test(t,
		S15_without_its_receipt_it_says_that_it_does_not_know);
	tcase_add_loop_test(t, S17_what_goes_back_in_the_end_keeps_its_key, 0,
		KINDS);
	tcase_add_test(t, L26_who_waits_goes_on_when_the_queue_is_deleted);
	tcase_add_loop_test(t,
		S15_an_item_of_a_queue_made_anew_is_not_taken_for_an_old_one, 0,
		3);
	tcase_add_test(t, an_item_that_was_changed_meanwhile_is_read_again);
	t = fixture_case(s, "a user of its own", 30);
	tcase_add_test(t,
		S15_a_process_that_is_killed_puts_nothing_twice_and_leaves_no_gap);
	return fixture_main(s);
}
