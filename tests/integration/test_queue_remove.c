/*
 * test_queue_remove.c - items are removed by their id while others take or
 * claim them, while frames are lost, and while the queue is destroyed.
 */
#include "inject.h"
#include "queue_fixture.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>

#define T_MS 12000

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

static void make_with_ids(void)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;

	o.kind = KUSTOS_QUEUE_ID;
	kustos_queue_destroy(queue);
	queue = NULL;
	check_err(kustos_queue_create(client, QUEUE, &o, &queue), KUSTOS_OK);
}

static void put_this(void)
{
	struct kustos_new_item item = { .data = "x", .len = 1, .id = "this" };

	check_err(kustos_queue_put_many(queue, &item, 1, SOON, NULL, NULL),
		KUSTOS_OK);
}

static void *remove_this(void *arg)
{
	check_err(kustos_queue_remove_id(queue, "this", SOON, NULL, arg),
		KUSTOS_OK);
	return NULL;
}

/* Store the path of the only item. */
static void find_the_item(char path[64])
{
	struct raw_names names;

	ck_assert_int_eq(raw_children(fixture_address(), QUEUE, &names), 0);
	ck_assert_int_eq(names.count, 1);
	snprintf(path, 64, QUEUE "/%s", names.names[0]);
	raw_names_free(&names);
}

START_TEST(an_item_that_is_claimed_meanwhile_is_not_removed_by_its_id)
{
	size_t removed = 99;
	pthread_t thread;
	char path[64];

	make_with_ids();
	put_this();
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_EXISTS, 1);
	pthread_create(&thread, NULL, remove_this, &removed);
	test_eventually(inject_fired() == 1, 5000);
	find_the_item(path); /* a claimer writes into it, too */
	ck_assert_int_eq(raw_set(fixture_address(), path, "claimed"), 0);
	inject_release();
	pthread_join(thread, NULL);
	ck_assert_uint_eq(removed, 0);
	ck_assert_int_eq(queue_count(), 1);
	remove_this(&removed);
	ck_assert_uint_eq(removed, 1);
}
END_TEST

/* When it has been listed, or looked at.  An earlier removal has found no
   item. */
START_TEST(an_item_that_is_taken_meanwhile_is_not_missed_by_who_removes_it)
{
	static const int frames[] = { ZK_OP_CHILDREN2, ZK_OP_EXISTS };
	size_t removed = 99;
	pthread_t thread;
	char path[64];

	make_with_ids();
	remove_this(&removed);
	ck_assert_uint_eq(removed, 0);
	put_this();
	inject_frame(INJECT_HOLD_REPLY, frames[_i], 1);
	pthread_create(&thread, NULL, remove_this, &removed);
	test_eventually(inject_fired() == 1, 5000);
	find_the_item(path);
	ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	inject_release();
	pthread_join(thread, NULL);
	ck_assert_uint_eq(removed, 0);
}
END_TEST

/* --- The deletion's request, or its answer, is lost ----------------------- */

struct call {
	pthread_t thread;
	kustos_deadline deadline;
	enum kustos_err err;
	size_t removed;
};

static void *run_call(void *arg)
{
	struct call *call = arg;

	call->err = kustos_queue_remove_id(queue, "this", call->deadline, NULL,
		&call->removed);
	return NULL;
}

/* The deletion is done and its answer lost, or else its request is not sent;
   and the client cannot reconnect. */
static void remove_unheard(struct call *call, bool is_done)
{
	*call = (struct call){ .deadline = SOON, .removed = 99 };
	make_with_ids();
	put_this();
	inject_connect(ECONNREFUSED);
	inject_frame(is_done ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND,
		ZK_OP_MULTI, 1);
	pthread_create(&call->thread, NULL, run_call, call);
	test_eventually(inject_fired() == 1, 5000);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 5000);
	ck_assert_int_eq(queue_count(), is_done ? 0 : 1);
}

static void check_call(struct call *call, enum kustos_err err, size_t removed)
{
	pthread_join(call->thread, NULL);
	check_err(call->err, err);
	ck_assert_uint_eq(call->removed, removed);
}

START_TEST(S15_a_removal_whose_answer_is_lost_counts_once)
{
	struct call call;

	remove_unheard(&call, _i == 0);
	inject_connect(0);
	check_call(&call, KUSTOS_OK, 1);
	ck_assert_int_eq(queue_count(), 0);
}
END_TEST

/* It is gone when the deletion is sent again, as it would be if the first one
   had been done. */
START_TEST(S15_what_another_took_was_not_removed)
{
	struct call call;

	remove_unheard(&call, false);
	char path[64];
	find_the_item(path);
	ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	inject_connect(0);
	check_call(&call, KUSTOS_OK, 0);
}
END_TEST

/* Nothing is left that could tell. */
START_TEST(S15_a_removal_without_its_receipt_is_not_known)
{
	struct raw_names names;
	struct call call;
	char path[128];

	remove_unheard(&call, _i == 0);
	ck_assert_int_eq(raw_children(fixture_address(), RECEIPTS, &names), 0);
	ck_assert_int_eq(names.count, 1);
	snprintf(path, sizeof(path), RECEIPTS "/%s", names.names[0]);
	raw_names_free(&names);
	ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	inject_connect(0);
	check_call(&call, KUSTOS_EUNKNOWN, 0);
}
END_TEST

/* The caller has gone, and what it asked for is done, or is done no more. */
START_TEST(a_removal_that_nobody_waits_for_is_done_once_or_not_at_all)
{
	struct call call;

	remove_unheard(&call, _i == 0);
	kustos_queue_destroy(queue); /* nobody waits for that any more */
	queue = NULL;
	pthread_join(call.thread, NULL);
	ck_assert_uint_eq(call.removed, 0);
	inject_connect(0);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	pair_settle();
	ck_assert_int_eq(queue_count(), _i == 0 ? 0 : 1);
}
END_TEST

START_TEST(a_removal_that_must_not_wait_ends_with_the_connection)
{
	struct call call = { .deadline = KUSTOS_NOW };

	make_with_ids();
	put_this();
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_MULTI, 1);
	run_call(&call);
	check_err(call.err, KUSTOS_EUNKNOWN);
	ck_assert_uint_eq(call.removed, 0);
	run_call(&call);
	check_err(call.err, KUSTOS_EDISCONNECTED);
	inject_connect(0);
}
END_TEST

/* --- The end ---------------------------------------------------------------- */

static void *remove_until_the_end(void *arg)
{
	check_err(kustos_queue_remove_id(queue, "this", SOON, NULL, arg),
		KUSTOS_ECLOSED);
	return NULL;
}

/* Nothing is deleted after that. */
START_TEST(L01_a_queue_is_destroyed_under_who_removes_from_it)
{
	size_t removed = 7;
	pthread_t thread;

	mallopt(M_PERTURB, 0x5a); /* freed memory is overwritten */
	make_with_ids();
	put_this();
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_CHILDREN2, 1);
	pthread_create(&thread, NULL, remove_until_the_end, &removed);
	test_eventually(inject_fired() == 1, 5000);
	kustos_queue_destroy(queue);
	inject_release();
	pthread_join(thread, NULL);
	queue = NULL;
	ck_assert_uint_eq(removed, 0);
	ck_assert_int_eq(queue_count(), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, remove");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t,
		an_item_that_is_claimed_meanwhile_is_not_removed_by_its_id);
	tcase_add_loop_test(t,
		an_item_that_is_taken_meanwhile_is_not_missed_by_who_removes_it,
		0, 2);
	tcase_add_loop_test(t, S15_a_removal_whose_answer_is_lost_counts_once,
		0, 2);
	tcase_add_test(t, S15_what_another_took_was_not_removed);
	tcase_add_loop_test(t, S15_a_removal_without_its_receipt_is_not_known,
		0, 2);
	tcase_add_loop_test(t,
		a_removal_that_nobody_waits_for_is_done_once_or_not_at_all, 0,
		2);
	tcase_add_test(t,
		a_removal_that_must_not_wait_ends_with_the_connection);
	tcase_add_test(t, L01_a_queue_is_destroyed_under_who_removes_from_it);
	return fixture_main(s);
}
