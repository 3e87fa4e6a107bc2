/*
 * test_barrier.c - the simple barrier: set, removed, and waited for by many
 * callers; and which changes of its node must not be taken for its removal.
 */
#include "barrier_fixture.h"

#include "faults.h"
#include "inject.h"

#include <kustos/cancel.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define T_MS 9000

static void set_up(void)
{
	faults_open(T_MS);
	barrier_pair_make();
}

static void tear_down(void)
{
	inject_reset();
	barrier_pair_close();
}

static void await(struct end *end, kustos_deadline deadline)
{
	check_err(kustos_barrier_wait_async(barrier, deadline, NULL, end_told,
			  end),
		KUSTOS_OK);
}

static enum kustos_err look(struct kustos_barrier *b)
{
	return kustos_barrier_wait(b, KUSTOS_NOW, NULL);
}

START_TEST(it_is_set_and_removed_any_number_of_times)
{
	check_err(look(barrier), KUSTOS_OK);
	barrier_remove(barrier);
	for (int i = 0; i < 3; i++) {
		barrier_set(barrier);
		barrier_set(barrier_others);
		ck_assert(barrier_there());
		check_err(look(barrier), KUSTOS_EBUSY);
		check_err(look(barrier_others), KUSTOS_EBUSY);
		barrier_remove(barrier_others);
		barrier_remove(barrier);
		ck_assert(!barrier_there());
		check_err(look(barrier), KUSTOS_OK);
		check_err(look(barrier_others), KUSTOS_OK);
	}
}
END_TEST

START_TEST(each_call_costs_one_round_trip)
{
	barrier_set(barrier);
	pair_flush();
	proxy_reset_counts(proxy);
	barrier_set(barrier);
	check_err(look(barrier), KUSTOS_EBUSY);
	barrier_remove(barrier);
	check_err(kustos_barrier_wait(barrier, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE2), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_DELETE), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_GET), 2);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_EXISTS), 0);
	watches_wait(0);
}
END_TEST

#define MANY 50

START_TEST(all_who_wait_go_on_and_share_one_watch)
{
	static struct end ends[MANY];

	memset(ends, 0, sizeof(ends));
	barrier_set(barrier_others);
	proxy_reset_counts(proxy);
	for (int i = 0; i < MANY; i++)
		await(&ends[i], SOON);
	watches_wait(1);
	pair_flush();
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_GET), 1);
	for (int i = 0; i < MANY; i++)
		ck_assert_int_eq(end_calls(&ends[i]), 0);
	barrier_remove(barrier_others);
	for (int i = 0; i < MANY; i++)
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_GET), 2);
	watches_wait(0);
}
END_TEST

/* kazoo's waiter misses the removal after such a change. */
START_TEST(S12_a_change_of_its_data_is_not_its_removal)
{
	struct end end = { .calls = 0 };

	barrier_set(barrier);
	await(&end, SOON);
	watches_wait(1);
	for (int i = 0; i < 3; i++) {
		proxy_reset_counts(proxy);
		ck_assert_int_eq(raw_set(fixture_address(), BARRIER, "x"), 0);
		test_eventually(proxy_count(proxy, ZK_OP_GET) == 1, 5000);
		watches_wait(1);
		ck_assert_int_eq(end_calls(&end), 0);
	}
	barrier_remove(barrier_others);
	check_err(end_wait(&end, 5000), KUSTOS_OK);
}
END_TEST

START_TEST(S12_neither_a_cut_nor_a_new_session_lets_anybody_pass)
{
	struct end end = { .calls = 0 };

	barrier_set(barrier_others);
	await(&end, SOON);
	watches_wait(1);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	pair_flush();
	ck_assert_int_eq(end_calls(&end), 0);
	client_kill_session(client);
	client_wait_epoch(client, 1, 8000);
	client_kill_session(other); /* the client that has set it */
	client_wait_epoch(other, 1, 8000);
	watches_wait(1);
	pair_flush();
	ck_assert_int_eq(end_calls(&end), 0);
	if (_i == 1) { /* it is removed while "client" is cut off */
		faults_disconnect();
	}
	barrier_remove(barrier_others);
	inject_connect(0);
	check_err(end_wait(&end, 5000), KUSTOS_OK);
}
END_TEST

/* The answer of a read is delayed.  It says that there is no barrier, but one
   has been set since, for which a later waiter must wait. */
START_TEST(S12_nobody_goes_by_what_was_read_before_it_came)
{
	struct end early = { .calls = 0 }, late = { .calls = 0 };

	inject_frame(INJECT_HOLD_REPLY, ZK_OP_GET, 1);
	await(&early, SOON);
	test_eventually(inject_fired() == 1, 5000);
	ck_assert_int_eq(raw_create(fixture_address(), "/barriers", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), BARRIER, ""), 0);
	await(&late, SOON);
	inject_release();
	check_err(end_wait(&early, 5000), KUSTOS_OK);
	watches_wait(1);
	pair_flush();
	ck_assert_int_eq(end_calls(&late), 0);
	barrier_remove(barrier_others);
	check_err(end_wait(&late, 5000), KUSTOS_OK);
}
END_TEST

START_TEST(a_deadline_passes_and_a_cancel_fires_while_it_waits)
{
	struct end end = { .calls = 0 };
	struct kustos_cancel *cancel = NULL;

	barrier_set(barrier_others);
	check_err(kustos_barrier_wait(barrier, kustos_after_ms(30), NULL),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	check_err(kustos_barrier_wait_async(barrier, SOON, cancel, end_told,
			  &end),
		KUSTOS_OK);
	watches_wait(1);
	kustos_cancel_fire(cancel);
	check_err(end_wait(&end, 3000), KUSTOS_ECANCELED);
	check_err(kustos_barrier_wait(barrier, SOON, cancel), KUSTOS_ECANCELED);
	watches_wait(0);
	kustos_cancel_destroy(cancel);
	barrier_remove(barrier_others);
}
END_TEST

START_TEST(L20_a_look_does_not_wait_for_a_connection)
{
	struct end end = { .calls = 0 };

	inject_frame(INJECT_HOLD_REPLY, ZK_OP_GET, 1);
	await(&end, KUSTOS_NOW);
	test_eventually(inject_fired() == 1, 5000);
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	check_err(end_wait(&end, 5000), KUSTOS_EDISCONNECTED);
	check_err(look(barrier), KUSTOS_EDISCONNECTED);
	inject_release();
	inject_connect(0);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	check_err(look(barrier), KUSTOS_OK);
}
END_TEST

static const enum inject_fault faults[] = { INJECT_FAIL_SEND,
	INJECT_LOSE_REPLY };

START_TEST(S06_a_call_whose_answer_is_lost_is_done_all_the_same)
{
	inject_frame(faults[_i], ZK_OP_CREATE2, 1);
	barrier_set(barrier);
	ck_assert_int_eq(inject_fired(), 1);
	ck_assert(barrier_there());
	inject_frame(faults[_i], ZK_OP_DELETE, 1);
	barrier_remove(barrier);
	ck_assert_int_eq(inject_fired(), 2);
	ck_assert(!barrier_there());
	inject_frame(faults[_i], ZK_OP_GET, 1);
	check_err(kustos_barrier_wait(barrier, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(inject_fired(), 3);
}
END_TEST

START_TEST(it_holds_the_data_that_was_asked_for)
{
	struct kustos_barrier_options o = KUSTOS_BARRIER_OPTIONS_INIT;
	struct kustos_barrier *b = NULL;
	char *data = NULL;
	size_t len = 0;

	o.data = "why";
	o.data_len = 3;
	check_err(kustos_barrier_create(client, BARRIER, &o, &b), KUSTOS_OK);
	barrier_set(b);
	check_err(kustos_get(other, BARRIER, SOON, NULL, &data, &len, NULL),
		KUSTOS_OK);
	ck_assert_str_eq(data, "why");
	kustos_free(data);
	check_err(kustos_create(other, BARRIER "/child", "", 0, 0, SOON, NULL,
			  NULL, NULL),
		KUSTOS_OK);
	check_err(kustos_barrier_remove(b, SOON, NULL), KUSTOS_ENOTEMPTY);
	check_err(kustos_delete(other, BARRIER "/child", -1, SOON, NULL),
		KUSTOS_OK);
	barrier_remove(b);
	kustos_barrier_destroy(b);
}
END_TEST

START_TEST(L01_who_waits_is_told_when_it_is_destroyed)
{
	struct kustos_barrier *b = barrier_new(client);
	struct end ends[2] = { { .calls = 0 } };

	barrier_set(b);
	await(&ends[0], SOON);
	check_err(kustos_barrier_wait_async(b, SOON, NULL, end_told, &ends[1]),
		KUSTOS_OK);
	if (_i == 1)
		watches_wait(1);
	kustos_barrier_destroy(b);
	check_err(end_wait(&ends[1], 3000), KUSTOS_ECLOSED);
	ck_assert_int_eq(end_calls(&ends[0]), 0);
	kustos_barrier_destroy(barrier);
	check_err(end_wait(&ends[0], 3000), KUSTOS_ECLOSED);
	barrier = NULL;
	watches_wait(0);
}
END_TEST

/* Waited at by a thread, and so never freed after the close of its client. */
static struct kustos_barrier *volatile left;

static void *wait_there(void *arg)
{
	*(enum kustos_err *)arg = kustos_barrier_wait(left, KUSTOS_FOREVER,
		NULL);
	return NULL;
}

START_TEST(L01_who_waits_is_told_when_the_client_is_closed)
{
	struct kustos_client *victim = client_connected(fixture_address(),
		20000);
	enum kustos_err err = KUSTOS_OK;
	struct end told = { .calls = 0 };
	pthread_t thread;

	barrier_set(barrier);
	left = barrier_new(victim);
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_there, &err), 0);
	watches_wait(1);
	check_err(kustos_barrier_wait_async(left, KUSTOS_FOREVER, NULL,
			  end_told, &told),
		KUSTOS_OK);
	client_close(victim);
	pthread_join(thread, NULL);
	check_err(err, KUSTOS_ECLOSED);
	ck_assert_int_eq(end_calls(&told), 1);
	check_err(end_wait(&told, 1000), KUSTOS_ECLOSED);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
	struct kustos_barrier_options o = KUSTOS_BARRIER_OPTIONS_INIT;
	struct kustos_barrier *b = NULL;

	check_err(kustos_barrier_create(NULL, BARRIER, NULL, &b),
		KUSTOS_EINVAL);
	check_err(kustos_barrier_create(client, NULL, NULL, &b), KUSTOS_EINVAL);
	check_err(kustos_barrier_create(client, "/", NULL, &b), KUSTOS_EINVAL);
	check_err(kustos_barrier_create(client, "b", NULL, &b), KUSTOS_EINVAL);
	check_err(kustos_barrier_create(client, BARRIER, NULL, NULL),
		KUSTOS_EINVAL);
	o.data_len = 1;
	check_err(kustos_barrier_create(client, BARRIER, &o, &b),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(b);
	check_err(kustos_barrier_set(NULL, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_barrier_remove(NULL, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_barrier_wait(NULL, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_barrier_wait_async(barrier, SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	kustos_barrier_destroy(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("barrier");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, it_is_set_and_removed_any_number_of_times);
	tcase_add_test(t, each_call_costs_one_round_trip);
	tcase_add_test(t, all_who_wait_go_on_and_share_one_watch);
	tcase_add_test(t, S12_a_change_of_its_data_is_not_its_removal);
	tcase_add_loop_test(t,
		S12_neither_a_cut_nor_a_new_session_lets_anybody_pass, 0, 2);
	tcase_add_test(t, S12_nobody_goes_by_what_was_read_before_it_came);
	tcase_add_test(t, a_deadline_passes_and_a_cancel_fires_while_it_waits);
	tcase_add_test(t, L20_a_look_does_not_wait_for_a_connection);
	tcase_add_loop_test(t,
		S06_a_call_whose_answer_is_lost_is_done_all_the_same, 0, 2);
	tcase_add_test(t, it_holds_the_data_that_was_asked_for);
	tcase_add_loop_test(t, L01_who_waits_is_told_when_it_is_destroyed, 0,
		2);
	tcase_add_test(t, L01_who_waits_is_told_when_the_client_is_closed);
	tcase_add_test(t, wrong_arguments_are_refused);
	return fixture_main(s);
}
