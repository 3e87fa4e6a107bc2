/*
 * test_double_barrier_faults.c - the double barrier while frames, connections,
 * sessions and nodes are lost.  inject.h loses the frames; sessions are ended
 * and nodes deleted from outside.
 */
#include "crew.h"
#include "inject.h"

#include <kustos/cancel.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NARROW 200 /* members; to check them all takes about 14000 bytes */

static void set_up(void)
{
	inject_reset();
	crew_set_up();
}

static void tear_down(void)
{
	inject_reset();
	crew_tear_down();
}

START_TEST(L18_a_member_that_dies_before_all_are_in_is_not_counted)
{
	crew_make(3);
	member_enter(ours[0], &ends[0]);
	step_await(1);
	member_enter(ours[1], &ends[1]);
	step_await(2);
	kustos_double_barrier_destroy(ours[0]);
	check_err(end_wait(&ends[0], 3000), KUSTOS_ECLOSED);
	step_await(1);
	member_enter(ours[2], &ends[2]);
	step_await(2);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(end_calls(&ends[1]) + end_calls(&ends[2]), 0);
	ours[0] = member_new(client, 3);
	member_enter(ours[0], &ends[0]);
	for (int i = 0; i < 3; i++)
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
	crew_leave();
	crew_free();
}
END_TEST

/* A member dies while all are in; while others wait for it to leave; and while
   it waits to leave itself. */
START_TEST(L18_a_member_that_dies_lets_the_others_out)
{
	crew_make(3);
	crew_enter();
	if (_i == 2)
		member_leave(ours[0], &ends[0]);
	if (_i > 0) {
		member_leave(ours[1], &ends[1]);
		check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
		pair_flush();
		ck_assert_int_eq(end_calls(&ends[1]), 0);
	}
	client_kill_session(client);
	if (_i == 0)
		member_leave(ours[1], &ends[1]);
	member_leave(ours[2], &ends[2]);
	for (int i = 1; i < 3; i++)
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
	client_wait_epoch(client, 1, 8000);
	ck_assert(!kustos_double_barrier_inside(ours[0]));
	if (_i == 2)
		check_err(end_wait(&ends[0], 5000), KUSTOS_OK);
	else
		check_err(kustos_double_barrier_leave(ours[0], SOON, NULL),
			KUSTOS_ELOST);
	check_err(kustos_double_barrier_leave(ours[0], SOON, NULL),
		KUSTOS_ENOTHELD);
	step_check_empty();
	crew_enter(); /* all of them take part in the next round */
	crew_leave();
	crew_free();
}
END_TEST

/* After the loss it is no longer in, and enters again as a new member. */
START_TEST(S05_who_has_lost_its_session_while_it_was_in_comes_again)
{
	crew_make(2);
	crew_enter();
	client_kill_session(client);
	client_wait_epoch(client, 1, 8000);
	ck_assert(!kustos_double_barrier_inside(ours[0]));
	check_err(kustos_double_barrier_enter(ours[0], SOON, NULL), KUSTOS_OK);
	ck_assert(kustos_double_barrier_inside(ours[0]));
	crew_leave();
	step_check_empty();
	crew_free();
}
END_TEST

START_TEST(S12_a_cut_or_a_new_session_lets_nobody_in)
{
	crew_make(2);
	member_enter(ours[0], &ends[0]);
	step_await(1);
	watches_wait(2); /* its node, and "ready" */
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	pair_flush();
	ck_assert_int_eq(end_calls(&ends[0]), 0);
	client_kill_session(client);
	client_wait_epoch(client, 1, 8000);
	step_await(1);
	watches_wait(2); /* its node, and "ready" */
	pair_flush();
	ck_assert_int_eq(end_calls(&ends[0]), 0);
	if (_i == 1) { /* the other comes while "client" is cut off */
		inject_connect(ECONNREFUSED);
		proxy_cut(proxy);
		client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	}
	member_enter(ours[1], &ends[1]);
	if (_i == 1) /* the node of "client" exists all the same */
		check_err(end_wait(&ends[1], 5000), KUSTOS_OK);
	inject_connect(0);
	for (int i = 0; i < 2; i++)
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
	crew_leave();
	crew_free();
}
END_TEST

static const int codes[] = { ZK_OP_CREATE2, ZK_OP_EXISTS, ZK_OP_CHILDREN2,
	ZK_OP_GET, ZK_OP_DELETE, ZK_OP_SYNC, ZK_OP_CREATE_CONTAINER,
	ZK_OP_MULTI };
#define CODES 8
#define POINTS 3
#define FAULTS (CODES * POINTS * 2)

START_TEST(S06_a_fault_at_any_frame_of_a_round_changes_nothing)
{
	bool applied = _i / CODES / POINTS == 1;

	crew_make(3);
	/* SYNC is sent on a new connection, so the connection must break
	   first. */
	if (codes[_i % CODES] == ZK_OP_SYNC)
		proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	inject_frame(applied ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND,
		codes[_i % CODES], 1 + _i / CODES % POINTS);
	for (int round = 0; round < 2; round++) {
		crew_enter();
		for (int i = 0; i < 3; i++)
			ck_assert(kustos_double_barrier_inside(ours[i]));
		ck_assert_int_eq(raw_count_children(fixture_address(), STEP),
			4);
		crew_leave();
		step_check_empty();
	}
	crew_free();
}
END_TEST

/* Without this, the test above might have tested nothing. */
START_TEST(S06_each_kind_of_frame_has_failed_in_both_ways)
{
	ck_assert_int_eq(inject_untried(codes, CODES), 0);
}
END_TEST

/* Its node has been created, but the reply is lost, when the session ends. */
START_TEST(L18_re_entering_after_a_cut_finds_no_node_in_the_way)
{
	crew_make(2);
	crew_enter();
	crew_leave();
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_CREATE2, 1);
	inject_connect(ECONNREFUSED);
	member_enter(ours[0], &ends[0]);
	test_eventually(inject_fired() == 1, 5000);
	step_await(1);
	if (_i == 1)
		client_kill_session(client);
	inject_connect(0);
	client_wait(client, KUSTOS_STATE_CONNECTED, 8000);
	step_await(1);
	member_enter(ours[1], &ends[1]);
	for (int i = 0; i < 2; i++)
		check_err(end_wait(&ends[i], 8000), KUSTOS_OK);
	crew_leave();
	crew_free();
}
END_TEST

/* The others enter because it has written "ready", so it must be in as well. */
START_TEST(S12_who_has_told_the_others_goes_in_though_it_gives_up)
{
	struct kustos_cancel *cancel = NULL;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	crew_make(2);
	member_enter(ours[1], &ends[1]);
	step_await(1);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_MULTI, 1); /* with "ready" */
	check_err(kustos_double_barrier_enter_async(ours[0], SOON, cancel,
			  end_told, &ends[0]),
		KUSTOS_OK);
	test_eventually(inject_fired() == 1, 5000);
	kustos_cancel_fire(cancel);
	check_err(end_wait(&ends[0], 5000), KUSTOS_OK);
	inject_release(); /* the held reply holds up the others, too */
	check_err(end_wait(&ends[1], 5000), KUSTOS_OK);
	ck_assert_int_eq(kustos_double_barrier_inside(ours[0]), 1);
	crew_leave();
	crew_free();
	kustos_cancel_destroy(cancel);
}
END_TEST

/* It has seen an old "ready" and is about to delete it, when another member of
   its round writes it to say that all are in. */
START_TEST(S12_a_ready_that_is_written_just_then_is_not_removed)
{
	crew_make(2);
	(void)raw_create(fixture_address(), "/barriers", "");
	(void)raw_create(fixture_address(), STEP, "");
	ck_assert_int_eq(raw_create(fixture_address(), READY, ""), 0);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_EXISTS, 1);
	member_enter(ours[0], &ends[0]);
	test_eventually(inject_fired() == 1, 5000);
	ck_assert_int_eq(raw_set(fixture_address(), READY, ""), 0);
	inject_release();
	check_err(end_wait(&ends[0], 5000), KUSTOS_OK);
	check_err(kustos_double_barrier_leave(ours[0], SOON, NULL), KUSTOS_OK);
	crew_free();
}
END_TEST

START_TEST(L26_a_parent_that_is_deleted_is_made_again)
{
	crew_make(2);
	member_enter(ours[0], &ends[0]);
	step_await(1);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), STEP), 0);
	/* The client has lost its node, and finds out when it looks again. */
	proxy_cut(proxy);
	client_kill_session(client);
	step_await(1);
	member_enter(ours[1], &ends[1]);
	for (int i = 0; i < 2; i++)
		check_err(end_wait(&ends[i], 8000), KUSTOS_OK);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), STEP), 0);
	/* A member that has waited watches its node, and may know already that
	   it is gone. */
	enum kustos_err err = kustos_double_barrier_leave(ours[0], SOON, NULL);
	ck_assert(err == KUSTOS_OK || err == KUSTOS_ELOST);
	check_err(kustos_double_barrier_leave(ours[1], SOON, NULL), KUSTOS_OK);
	crew_free();
}
END_TEST

/* Cut the client off at the n-th frame with this code; if n is 0, at once. */
static void arm_cut(enum inject_fault fault, int code, int n)
{
	inject_connect(ECONNREFUSED);
	if (n > 0) {
		inject_frame(fault, code, n);
		return;
	}
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
}

/* Make the first member's call with a deadline that is over. */
static enum kustos_err at_once(enum kustos_err (
	*call)(struct kustos_double_barrier *member, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_end_fn *done, void *arg))
{
	struct end end = { .calls = 0 };
	enum kustos_err err = call(ours[0], KUSTOS_NOW, NULL, end_told, &end);

	return err == KUSTOS_OK ? end_wait(&end, 500) : err;
}

/* Connect again; the member's node must go.  "ready" would be deleted by the
   next round. */
static void mend_cut(void)
{
	crew_free();
	inject_connect(0);
	client_wait(client, KUSTOS_STATE_CONNECTED, 8000);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	(void)raw_delete(fixture_address(), READY);
	step_check_empty();
}

/* The connection breaks before the node is created; as it is created; as it is
   created again after its parents; and as "ready" is written, with no other
   member to be told. */
START_TEST(L20_a_try_to_enter_does_not_wait_for_a_connection)
{
	static const struct {
		int count, code, nth;
		enum inject_fault fault;
		enum kustos_err err;
	} cases[] = { { 2, ZK_OP_CREATE2, 0, INJECT_NOTHING,
			      KUSTOS_EDISCONNECTED },
		{ 2, ZK_OP_CREATE2, 1, INJECT_FAIL_SEND, KUSTOS_EDISCONNECTED },
		{ 2, ZK_OP_CREATE2, 2, INJECT_LOSE_REPLY,
			KUSTOS_EDISCONNECTED },
		{ 1, ZK_OP_MULTI, 1, INJECT_FAIL_SEND, KUSTOS_OK },
		{ 1, ZK_OP_MULTI, 1, INJECT_LOSE_REPLY, KUSTOS_OK } };

	crew_make(cases[_i].count);
	arm_cut(cases[_i].fault, cases[_i].code, cases[_i].nth);
	check_err(at_once(kustos_double_barrier_enter_async), cases[_i].err);
	ck_assert_int_eq(inject_fired(), cases[_i].nth > 0);
	mend_cut();
}
END_TEST

/* The connection breaks before; while it looks who is there; or when all others
   have left. */
START_TEST(L20_a_try_to_leave_does_not_wait_for_a_connection)
{
	static const int frames[] = { 0, ZK_OP_GET, ZK_OP_DELETE };

	crew_make(1);
	crew_enter();
	arm_cut(INJECT_FAIL_SEND, frames[_i], _i > 0);
	check_err(at_once(kustos_double_barrier_leave_async),
		KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(kustos_double_barrier_inside(ours[0]), 0);
	check_err(at_once(kustos_double_barrier_leave_async), KUSTOS_ENOTHELD);
	mend_cut();
}
END_TEST

/* The call never begins, but the others must not wait for this member. */
START_TEST(L18_who_leaves_with_what_was_canceled_before_is_out)
{
	struct kustos_cancel *cancel = NULL;
	struct end end = { .calls = 0 };

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	kustos_cancel_fire(cancel);
	crew_make(2);
	crew_enter();
	if (_i == 0)
		check_err(kustos_double_barrier_leave(ours[0], SOON, cancel),
			KUSTOS_ECANCELED);
	else
		check_err(kustos_double_barrier_leave_async(ours[0], SOON,
				  cancel, end_told, &end),
			KUSTOS_ECANCELED);
	ck_assert_int_eq(kustos_double_barrier_inside(ours[0]), 0);
	check_err(kustos_double_barrier_leave(ours[1], SOON, NULL), KUSTOS_OK);
	check_err(kustos_double_barrier_leave(ours[0], SOON, NULL),
		KUSTOS_ENOTHELD);
	crew_free();
	kustos_cancel_destroy(cancel);
}
END_TEST

/* The server closes the connection at each transaction that checks all
   members. */
START_TEST(L24_more_than_the_server_takes_in_one_request_go_in_all_the_same)
{
	const struct server_options options = {
		.jvm = "-Djute.maxbuffer=8000"
	};
	struct server *narrow = server_start(&options);
	struct end end = { .calls = 0 };
	char path[80];

	ck_assert_ptr_nonnull(narrow);
	struct raw *raw = raw_open(server_address(narrow), 30000);
	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_create(server_address(narrow), "/barriers", ""),
		0);
	ck_assert_int_eq(raw_create(server_address(narrow), STEP, ""), 0);
	for (int i = 1; i < NARROW; i++) {
		snprintf(path, sizeof(path),
			STEP "/%08x-0000-4000-8000-000000000000", i);
		ck_assert_int_eq(
			raw_do_create(raw, path, "", RAW_PERSISTENT, NULL, 0),
			0);
	}
	struct kustos_client *owner = client_connected(server_address(narrow),
		9000);
	struct kustos_double_barrier *m = member_new(owner, NARROW);
	member_enter(m, &end);
	check_err(end_wait(&end, 10000), KUSTOS_OK);
	ck_assert_int_eq(raw_do_exists(raw, READY, NULL), 0);
	ck_assert(kustos_double_barrier_inside(m));
	kustos_double_barrier_destroy(m);
	client_close(owner);
	raw_close(raw);
	server_free(narrow);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("double barrier, faults");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t,
		L18_a_member_that_dies_before_all_are_in_is_not_counted);
	tcase_add_loop_test(t, L18_a_member_that_dies_lets_the_others_out, 0,
		3);
	tcase_add_test(t,
		S05_who_has_lost_its_session_while_it_was_in_comes_again);
	tcase_add_loop_test(t, S12_a_cut_or_a_new_session_lets_nobody_in, 0, 2);
	tcase_add_loop_test(t,
		S06_a_fault_at_any_frame_of_a_round_changes_nothing, 0, FAULTS);
	tcase_add_test(t, S06_each_kind_of_frame_has_failed_in_both_ways);
	tcase_add_loop_test(t,
		L18_re_entering_after_a_cut_finds_no_node_in_the_way, 0, 2);
	tcase_add_test(t,
		S12_who_has_told_the_others_goes_in_though_it_gives_up);
	tcase_add_test(t, S12_a_ready_that_is_written_just_then_is_not_removed);
	tcase_add_test(t, L26_a_parent_that_is_deleted_is_made_again);
	tcase_add_loop_test(t,
		L20_a_try_to_enter_does_not_wait_for_a_connection, 0, 5);
	tcase_add_loop_test(t,
		L20_a_try_to_leave_does_not_wait_for_a_connection, 0, 3);
	tcase_add_loop_test(t,
		L18_who_leaves_with_what_was_canceled_before_is_out, 0, 2);
	tcase_add_test(t,
		L24_more_than_the_server_takes_in_one_request_go_in_all_the_same);
	return fixture_main(s);
}
