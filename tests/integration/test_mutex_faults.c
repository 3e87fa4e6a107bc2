/*
 * test_mutex_faults.c - a frame fails at any point of taking and giving back:
 * one node while it is held, none after, and nobody else's is touched.
 */
#include "inject.h"
#include "mutex_pair.h"
#include "rawkill.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define T_MS 12000

static void set_up(void)
{
	struct kustos_client_options o;

	inject_reset();
	o = pair_proxy(T_MS);
	o.retry = kustos_retry_forever(5);
	pair_open_with(&o, 0);
}

static void tear_down(void)
{
	inject_reset();
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

/* Acquire, find one node, which is ours, and give it back. */
static void one_cycle(void)
{
	struct kustos_hold *hold = hold_take(mutex);

	if (kustos_hold_state(hold) != KUSTOS_HOLD_LOST) {
		check_node(hold, client);
		ck_assert_int_eq(line_count(), 1);
	}
	(void)kustos_hold_release(hold);
	pair_flush();
	ck_assert_int_eq(line_count(), 0);
}

/* What taking and giving back sends, on this handle or on the way to it. */
static const int codes[] = { ZK_OP_CREATE2, ZK_OP_CHILDREN2, ZK_OP_GET,
	ZK_OP_DELETE, ZK_OP_SYNC, ZK_OP_CREATE_CONTAINER };
#define CODES 6
#define POINTS 2
#define FAULTS (CODES * POINTS * 2)

static void arm(int fault)
{
	bool applied = fault / CODES / POINTS == 1;

	inject_frame(applied ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND,
		codes[fault % CODES], 1 + fault / CODES % POINTS);
}

START_TEST(S06_a_fault_at_any_frame_of_a_cycle_leaves_nothing)
{
	arm(_i);
	one_cycle();
	one_cycle();
}
END_TEST

START_TEST(S06_a_fault_at_any_frame_of_a_wait_leaves_nothing)
{
	struct ask ours[2] = { { .calls = 0 } };
	struct rival line[3];

	for (int i = 0; i < 3; i++)
		rival_enter(&line[i]);
	arm(_i);
	for (int i = 0; i < 2; i++)
		ask(&ours[i], mutex, SOON);
	line_wait(5);
	for (int i = 0; i < 3; i++)
		rival_leave(&line[i]);
	for (int i = 0; i < 2; i++) {
		test_eventually(!ask_waits(&ours[0]) || !ask_waits(&ours[1]),
			8000);
		struct ask *a = ask_waits(&ours[0]) ? &ours[1] : &ours[0];
		check_err(ask_wait(a, 8000), KUSTOS_OK);
		check_node(a->hold, client);
		ck_assert_int_eq(line_count(), 2 - i);
		hold_give(a->hold);
		atomic_store(&a->calls, 0);
		pair_flush();
	}
}
END_TEST

/* Give up while the fault has its effect, and before it can be mended. */
START_TEST(L05_giving_up_amid_a_fault_leaves_nothing)
{
	struct kustos_hold *hold = NULL;
	struct rival rival;
	int code = codes[_i / 2 % CODES];

	rival_enter(&rival);
	if (_i % 2)
		inject_frame(INJECT_HOLD_REPLY, code, 1);
	else
		arm(_i / 2);
	check_err(kustos_mutex_acquire(mutex, kustos_after_ms(40), NULL, &hold),
		KUSTOS_ETIMEDOUT);
	if (_i % 2 && code == ZK_OP_DELETE)
		test_eventually(inject_fired() == 1, 2000);
	inject_release();
	inject_reset();
	rival_leave(&rival);
	pair_flush();
	ck_assert_int_eq(line_count(), 0);
	one_cycle();
}
END_TEST

/* The connection goes with the creation under way, and is away for as long as
   the caller has patience. */
START_TEST(L05_giving_up_while_disconnected_leaves_nothing_once_connected)
{
	struct ask a = { .calls = 0 };

	hold_give(hold_take(mutex)); /* so that the line is there */
	pair_flush();
	inject_connect(ECONNREFUSED);
	proxy_arm(proxy, _i == 0 ? PROXY_LOSE_REPLY : PROXY_LOSE_REQUEST,
		ZK_OP_CREATE2, 1);
	ask(&a, mutex, kustos_after_ms(1500));
	test_within(proxy_fired(proxy) == 1, 1500);
	check_err(ask_wait(&a, 2000), KUSTOS_ETIMEDOUT);
	ck_assert_int_eq(line_count(), _i == 0 ? 1 : 0);
	check_err(kustos_client_flush(client, kustos_after_ms(20), NULL),
		KUSTOS_ETIMEDOUT);
	inject_connect(0);
	pair_flush();
	ck_assert_int_eq(line_count(), 0);
}
END_TEST

/* A release that cannot be sent is not forgotten. */
START_TEST(U06_a_release_while_disconnected_is_carried_out_later)
{
	struct kustos_hold *hold = hold_take(mutex);
	struct ask a = { .calls = 0 };

	ask(&a, rivals, SOON);
	line_wait(2);
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_SUSPENDED, 2000);
	hold_give(hold);
	check_err(kustos_client_flush(client, kustos_after_ms(50), NULL),
		KUSTOS_ETIMEDOUT);
	ck_assert(ask_waits(&a));
	inject_connect(0);
	check_err(ask_wait(&a, 3000), KUSTOS_OK);
	hold_give(a.hold);
	pair_flush();
}
END_TEST

static const enum proxy_fault delete_faults[] = { PROXY_LOSE_REPLY,
	PROXY_LOSE_REQUEST };

/* The answer to a release is lost; before it is tried again the line is
   removed and made again, by another who holds. */
START_TEST(S10_a_late_retry_of_a_release_touches_nobody_else)
{
	struct kustos_hold *hold = hold_take(mutex);
	struct kustos_hold *theirs;

	inject_connect(ECONNREFUSED);
	proxy_arm(proxy, delete_faults[_i], ZK_OP_DELETE, 1);
	hold_give(hold);
	test_eventually(proxy_fired(proxy) == 1, 2000);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), LINE), 0);
	theirs = hold_take(rivals);
	inject_connect(0);
	pair_flush();
	check_node(theirs, other);
	ck_assert_int_eq(kustos_hold_state(theirs), KUSTOS_HOLD_HELD);
	ck_assert_int_eq(line_count(), 1);
	hold_give(theirs);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

/* And the same when its session ends before it can be tried again. */
START_TEST(S10_a_release_ends_with_its_session)
{
	struct kustos_hold *hold = hold_take(mutex);
	int64_t id = client_session_id(client);

	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_SUSPENDED, 2000);
	hold_give(hold);
	ck_assert_int_eq(raw_kill_session(fixture_address(), id), 0);
	struct kustos_hold *theirs = hold_take(rivals);
	inject_connect(0);
	client_wait_epoch(client, 1, 8000);
	pair_flush();
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_DELETE), 0);
	check_node(theirs, other);
	hold_give(theirs);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

/* Several take turns while the connection of one fails again and again. */
static atomic_int inside;

START_TEST(S06_turns_go_on_while_connections_fail)
{
	static struct ask asks[60];
	int made;

	proxy_reset_counts(proxy);
	for (int i = 0; i < 60; i++) {
		asks[i].release = true;
		asks[i].inside = &inside;
		ask(&asks[i], i % 2 ? mutex : rivals, SOON);
		if (i % 10 == 5)
			proxy_cut(proxy);
	}
	for (int i = 0; i < 60; i++) {
		if (i % 15 == 7)
			proxy_cut(proxy);
		check_err(ask_wait(&asks[i], 20000), KUSTOS_OK);
	}
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 0);
	/* Not one more than there were tries to send. */
	made = proxy_count(proxy, ZK_OP_CREATE2);
	ck_assert_int_ge(made, 30);
	ck_assert_int_le(made, 30 + 2 * 30);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, faults");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t,
		S06_a_fault_at_any_frame_of_a_cycle_leaves_nothing, 0, FAULTS);
	tcase_add_loop_test(t,
		S06_a_fault_at_any_frame_of_a_wait_leaves_nothing, 0, FAULTS);
	tcase_add_loop_test(t, L05_giving_up_amid_a_fault_leaves_nothing, 0,
		2 * FAULTS);
	tcase_add_loop_test(t,
		L05_giving_up_while_disconnected_leaves_nothing_once_connected,
		0, 2);
	tcase_add_test(t,
		U06_a_release_while_disconnected_is_carried_out_later);
	tcase_add_loop_test(t,
		S10_a_late_retry_of_a_release_touches_nobody_else, 0, 2);
	tcase_add_test(t, S10_a_release_ends_with_its_session);
	tcase_add_test(t, S06_turns_go_on_while_connections_fail);
	return fixture_main(s);
}
