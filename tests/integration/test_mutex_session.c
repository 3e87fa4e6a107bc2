/*
 * test_mutex_session.c - waiters whose session or node is lost while they wait,
 * and sessions that turn out to live after they were given up.  Sessions are
 * ended and nodes deleted from outside; the proxy or inject.h cuts the client
 * off.
 */
#include "faults.h"
#include "inject.h"
#include "mutex_pair.h"

#include <errno.h>
#include <string.h>

/* For a lease that is waited for; and for a session that must outlive any delay
   of a busy machine. */
#define T_MS 9000
#define LONG_T_MS 60000

static void set_up_short(void)
{
	inject_reset();
	pair_open_behind_proxy(T_MS, 0);
}

static void set_up(void)
{
	inject_reset();
	pair_open_behind_proxy(LONG_T_MS, 0);
}

static void tear_down(void)
{
	inject_reset();
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

/* Three wait behind a rival.  Their session ends, and then the rival leaves. */
START_TEST(S11_a_waiter_whose_session_died_is_served_with_a_new_node_only)
{
	struct ask asks[3] = { { .calls = 0 } };
	struct rival rival;
	int64_t old = client_session_id(client);

	rival_enter(&rival);
	for (int i = 0; i < 3; i++) {
		ask(&asks[i], mutex, SOON);
		line_wait(i + 2);
	}
	inject_connect(ECONNREFUSED);
	client_kill_session(client);
	ck_assert_int_eq(line_count(), 1);
	rival_leave(&rival);
	/* Nobody is before them, but they have no nodes. */
	test_never(!ask_waits(&asks[0]) || !ask_waits(&asks[1]) ||
			!ask_waits(&asks[2]),
		100);
	inject_connect(0);
	for (int i = 0; i < 3; i++) {
		check_err(ask_wait(&asks[i], 5000), KUSTOS_OK);
		check_node(asks[i].hold, client);
		hold_give(asks[i].hold);
	}
	ck_assert_int_ne(client_session_id(client), old);
}
END_TEST

START_TEST(L14_a_waiter_whose_session_died_lines_up_again_at_the_tail)
{
	struct ask ours = { .calls = 0 }, theirs = { .calls = 0 };
	struct rival rival;

	rival_enter(&rival);
	ask(&ours, mutex, SOON);
	line_wait(2);
	ask(&theirs, rivals, SOON);
	line_wait(3);
	client_kill_session(client);
	client_wait_epoch(client, 1, 5000);
	line_wait(3);
	rival_leave(&rival);
	check_err(ask_wait(&theirs, 2000), KUSTOS_OK);
	ck_assert(ask_waits(&ours));
	hold_give(theirs.hold);
	check_err(ask_wait(&ours, 2000), KUSTOS_OK);
	ck_assert_int_gt(ours.token, theirs.token);
	check_node(ours.hold, client);
	hold_give(ours.hold);
}
END_TEST

START_TEST(S11_a_waiter_whose_session_died_keeps_its_deadline)
{
	struct ask a = { .calls = 0 };
	struct rival rival;
	int64_t start = test_now_ms();

	rival_enter(&rival);
	ask(&a, mutex, kustos_after_ms(15000));
	line_wait(2);
	test_within(test_now_ms() >= start + 5000, 10000);
	client_kill_session(client);
	client_wait_epoch(client, 1, 5000);
	line_wait(2);
	check_err(ask_wait(&a, 15000), KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(a.at_ms - start, 15000);
	ck_assert_int_lt(a.at_ms - start, 20000); /* if it began anew */
	pair_flush();
	ck_assert_int_eq(line_count(), 1);
	rival_leave(&rival);
}
END_TEST

/* Return whether the node exists and belongs to the present session. */
static bool is_ours(struct kustos_hold *hold)
{
	struct raw_stat stat;

	return raw_exists(fixture_address(), kustos_hold_path(hold), &stat) ==
		0 &&
		stat.ephemeral_owner == client_session_id(client);
}

/* The answer to the creation or the listing is on its way when the session
   ends. */
START_TEST(S03_what_was_seen_of_an_old_session_grants_nothing_in_a_new_one)
{
	struct ask a = { .calls = 0 };

	/* So that the line exists and one flight is enough. */
	hold_give(hold_take(mutex));
	pair_flush();
	inject_frame(INJECT_HOLD_REPLY,
		_i == 0 ? ZK_OP_CREATE2 : ZK_OP_CHILDREN2, 1);
	ask(&a, mutex, SOON);
	test_eventually(inject_fired() == 1, 2000);
	line_wait(1);
	client_kill_session(client);
	ck_assert_int_eq(line_count(), 0);
	inject_release();
	check_err(ask_wait(&a, 8000), KUSTOS_OK);
	/* The lock may have been granted by what was true at the time of the
	   answer.  Then the hold is lost as soon as the rest has been read. */
	test_eventually(kustos_hold_state(a.hold) == KUSTOS_HOLD_LOST ||
			is_ours(a.hold),
		1000);
	(void)kustos_hold_release(a.hold);
	a.hold = hold_take(mutex);
	check_node(a.hold, client);
	hold_give(a.hold);
}
END_TEST

/* The waiter's own node is deleted, at each stage of a wait. */
START_TEST(S08_a_waiter_whose_node_was_deleted_lines_up_again)
{
	struct rival line[3];
	struct raw_names names;
	struct ask a = { .calls = 0 };
	char path[256] = LINE "/";
	int before = _i; /* as many are before it when its node is deleted */

	for (int i = 0; i < 3; i++)
		rival_enter(&line[i]);
	ask(&a, mutex, SOON);
	line_wait(4);
	ck_assert_int_eq(raw_children(fixture_address(), LINE, &names), 0);
	for (int i = 0; i < names.count; i++) {
		bool is_rival = false;

		for (int j = 0; j < 3; j++)
			is_rival = is_rival ||
				strcmp(names.names[i],
					strrchr(line[j].path, '/') + 1) == 0;
		if (!is_rival)
			strcat(path, names.names[i]);
	}
	raw_names_free(&names);
	for (int i = 0; i < 3 - before; i++)
		rival_leave(&line[i]);
	if (before > 0)
		ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	else
		(void)raw_delete(fixture_address(), path);
	for (int i = 3 - before; i < 3; i++) {
		ck_assert(ask_waits(&a));
		rival_leave(&line[i]);
	}
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	if (before > 0) {
		ck_assert_str_ne(kustos_hold_path(a.hold), path);
		check_node(a.hold, client);
	}
	(void)kustos_hold_release(a.hold);
	pair_flush();
}
END_TEST

/* Whatever was sent just before a cut has been done by now, unless a busy
   server has dropped it with the connection. */
static void lose_what_was_made(void)
{
	int64_t end = test_now_ms() + 1000;

	while (line_count() == 0 && test_now_ms() < end)
		test_pause_1ms();
	ck_assert_int_eq(raw_delete_tree(fixture_address(), LINE), 0);
}

/* The node is created, its listing is lost, and the node is deleted before the
   next one. */
START_TEST(S08_a_node_that_is_not_in_the_first_listing_is_made_again)
{
	struct ask a = { .calls = 0 };

	hold_give(hold_take(mutex));
	pair_flush();
	proxy_arm(proxy, PROXY_LOSE_REQUEST, ZK_OP_CHILDREN2, 1);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_SYNC, 1);
	ask(&a, mutex, SOON);
	test_eventually(proxy_fired(proxy) == 1, 2000);
	lose_what_was_made();
	inject_release();
	check_err(ask_wait(&a, 5000), KUSTOS_OK);
	check_node(a.hold, client);
	hold_give(a.hold);
}
END_TEST

/* The client is cut off for longer than the lease and shorter than the timeout,
   so the server has not noticed anything. */
START_TEST(L17_a_node_that_was_given_up_does_not_block_the_line)
{
	struct ask theirs = { .calls = 0 }, again = { .calls = 0 };
	struct kustos_hold *hold = hold_take(mutex);
	int64_t id = client_session_id(client);
	int lost = 0;

	check_err(kustos_hold_on_lost(hold, count_call, &lost), KUSTOS_OK);
	ask(&theirs, rivals, SOON);
	line_wait(2);
	proxy_set_mode(proxy, PROXY_HOLD);
	hold_wait(hold, KUSTOS_HOLD_LOST, T_MS);
	ck_assert_int_eq(line_count(), 2);
	ask(&again, mutex, SOON); /* must not wait behind itself */
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(ask_wait(&theirs, 2000), KUSTOS_OK);
	ck_assert(ask_waits(&again));
	hold_give(theirs.hold);
	check_err(ask_wait(&again, 2000), KUSTOS_OK);
	ck_assert(client_session_id(client) == id);
	ck_assert_int_eq(calls_of(&lost), 1);
	check_node(again.hold, client);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	check_node(again.hold, client);
	hold_give(again.hold);
}
END_TEST

START_TEST(L17_a_waiter_keeps_its_place_if_its_session_survives)
{
	struct ask ours = { .calls = 0 }, theirs = { .calls = 0 };
	struct rival rival;
	int64_t id = client_session_id(client);

	rival_enter(&rival);
	ask(&ours, mutex, SOON);
	line_wait(2);
	ask(&theirs, rivals, SOON);
	line_wait(3);
	proxy_set_mode(proxy, PROXY_HOLD);
	client_wait(client, KUSTOS_STATE_LOST, T_MS);
	proxy_set_mode(proxy, PROXY_PASS);
	client_wait_epoch(client, 1, T_MS);
	ck_assert(client_session_id(client) == id);
	rival_leave(&rival);
	check_err(ask_wait(&ours, 2000), KUSTOS_OK);
	ck_assert(ask_waits(&theirs));
	hold_give(ours.hold);
	check_err(ask_wait(&theirs, 2000), KUSTOS_OK);
	ck_assert_int_gt(theirs.token, ours.token);
	hold_give(theirs.hold);
}
END_TEST

/* The predecessor left while the waiter could not be notified. */
START_TEST(L08_a_waiter_looks_again_after_a_reconnect)
{
	struct ask a = { .calls = 0 };
	struct rival rival;

	rival_enter(&rival);
	ask(&a, mutex, SOON);
	line_wait(2);
	/* A watch on its own node, and one on the node before it. */
	test_eventually(watch_count() == 2, 2000);
	faults_leave_unheard(&rival, _i == 0);
	check_err(ask_wait(&a, 3000), KUSTOS_OK);
	check_node(a.hold, client);
	hold_give(a.hold);
}
END_TEST

START_TEST(a_try_without_a_connection_fails_at_once)
{
	struct kustos_hold *hold = NULL;
	struct ask a = { .calls = 0 };

	proxy_set_mode(proxy, PROXY_REFUSE);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	check_err(kustos_mutex_acquire(mutex, KUSTOS_NOW, NULL, &hold),
		KUSTOS_EDISCONNECTED);
	/* A caller with a later deadline waits for the connection. */
	ask(&a, mutex, SOON);
	check_err(kustos_mutex_acquire(mutex, kustos_after_ms(50), NULL, &hold),
		KUSTOS_ETIMEDOUT);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(ask_wait(&a, 3000), KUSTOS_OK);
	hold_give(a.hold);
	pair_flush();
	ck_assert_int_eq(line_count(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, sessions");
	TCase *t = fixture_case(s, "one server", 30);
	TCase *leases = fixture_case(s, "leases that end", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_checked_fixture(leases, set_up_short, tear_down);
	tcase_add_test(t,
		S11_a_waiter_whose_session_died_is_served_with_a_new_node_only);
	tcase_add_test(t,
		L14_a_waiter_whose_session_died_lines_up_again_at_the_tail);
	tcase_add_test(t, S11_a_waiter_whose_session_died_keeps_its_deadline);
	tcase_add_loop_test(t,
		S03_what_was_seen_of_an_old_session_grants_nothing_in_a_new_one,
		0, 2);
	tcase_add_loop_test(t,
		S08_a_waiter_whose_node_was_deleted_lines_up_again, 0, 4);
	tcase_add_test(t,
		S08_a_node_that_is_not_in_the_first_listing_is_made_again);
	tcase_add_test(leases,
		L17_a_node_that_was_given_up_does_not_block_the_line);
	tcase_add_test(leases,
		L17_a_waiter_keeps_its_place_if_its_session_survives);
	tcase_add_loop_test(t, L08_a_waiter_looks_again_after_a_reconnect, 0,
		2);
	tcase_add_test(t, a_try_without_a_connection_fails_at_once);
	return fixture_main(s);
}
