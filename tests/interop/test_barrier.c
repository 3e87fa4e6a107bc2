/*
 * test_barrier.c - barriers of Kustos, Curator and kazoo at one path.  All
 * processes wait at a barrier, whichever kind sets or removes it.  Members of a
 * double barrier enter and leave together, even if one of them is killed.
 */
#include "peer.h"
#include "support/raw.h"
#include "support/rawkill.h"

#include <stdlib.h>

#define GATE "/gate"
#define STEP "/step"
#define MEMBERS 6
#define ROUNDS 5

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO,
	PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO, PEER_KINDS };

static struct peer peers[MEMBERS];

static void set_up(void)
{
	peers_start(peers, kinds, MEMBERS, 10000);
}

static void tear_down(void)
{
	peers_end(peers, MEMBERS);
}

/* A process of one kind sets it, and one of another kind removes it. */
START_TEST(whoever_closes_it_all_wait_for_whoever_opens_it)
{
	struct peer *closer = &peers[_i / 3], *opener = &peers[3 + _i % 3];

	peer_do(closer, "ok", "close " GATE);
	for (int i = 0; i < MEMBERS; i++)
		if (&peers[i] != opener)
			peer_tell(&peers[i], "pass " GATE " 60000");
	for (int i = 0; i < MEMBERS; i++)
		if (&peers[i] != opener)
			peer_await_watch(&peers[i], GATE);
	peer_do(opener, "timeout", "pass " GATE " 50");
	for (int i = 0; i < MEMBERS; i++)
		ck_assert(peer_silent(&peers[i]));
	peer_do(opener, "ok", "open " GATE);
	for (int i = 0; i < MEMBERS; i++)
		if (&peers[i] != opener)
			(void)peer_hear(&peers[i], "passed", PATIENCE_MS);
	peer_do(opener, "passed", "pass " GATE " 60000");
}
END_TEST

/* All of them are still waiting; otherwise the message names the first that is
   not. */
static void all_wait(int round)
{
	for (int i = 0; i < MEMBERS; i++)
		ck_assert_msg(peer_silent(&peers[i]),
			"in round %d member %d, of kind %d, does not wait; "
			"%d are there",
			round, i, (int)kinds[i],
			raw_count_children(fixture_address(), STEP));
}

/* In each round another member is the last to enter and the last to leave. */
START_TEST(members_of_three_kinds_go_in_and_out_together)
{
	for (int round = 0; round < 2 * ROUNDS; round++) {
		int late = round % MEMBERS;

		for (int i = 1; i < MEMBERS; i++)
			peer_tell(&peers[(late + i) % MEMBERS],
				"enter " STEP " %d 60000", MEMBERS);
		line_await(STEP, MEMBERS - 1);
		all_wait(round);
		peer_tell(&peers[late], "enter " STEP " %d 60000", MEMBERS);
		for (int i = 0; i < MEMBERS; i++)
			(void)peer_hear(&peers[i], "entered", PATIENCE_MS);
		for (int i = 1; i < MEMBERS; i++)
			peer_tell(&peers[(late + i) % MEMBERS],
				"leave " STEP " 60000");
		/* At most the lowest member's node and "ready" are left, beside
		   the late one's. */
		test_eventually(
			raw_count_children(fixture_address(), STEP) <= 3, 5000);
		all_wait(round);
		peer_tell(&peers[late], "leave " STEP " 60000");
		for (int i = 0; i < MEMBERS; i++)
			(void)peer_hear(&peers[i], "left", PATIENCE_MS);
		line_await(STEP, 0);
	}
}
END_TEST

/* One of ours comes first and removes "ready", so Curator's and kazoo's
   wait. */
START_TEST(L18_after_a_leftover_ready_they_go_in_together)
{
	ck_assert_int_eq(raw_create(fixture_address(), STEP, ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), STEP "/ready", ""), 0);
	for (int i = 0; i < MEMBERS; i++) {
		for (int k = 0; k < i; k++)
			ck_assert(peer_silent(&peers[k]));
		peer_tell(&peers[i], "enter " STEP " %d 60000", MEMBERS);
		if (i == 0) /* until then "ready" is the one child */
			test_eventually(raw_exists(fixture_address(),
						STEP "/ready",
						NULL) == RAW_NONODE,
				5000);
		if (i < MEMBERS - 1)
			line_await(STEP, i + 1);
	}
	for (int i = 0; i < MEMBERS; i++)
		(void)peer_hear(&peers[i], "entered", PATIENCE_MS);
	for (int i = 0; i < MEMBERS; i++)
		peer_tell(&peers[i], "leave " STEP " 60000");
	for (int i = 0; i < MEMBERS; i++)
		(void)peer_hear(&peers[i], "left", PATIENCE_MS);
	line_await(STEP, 0);
}
END_TEST

#define VICTIM 2 /* kazoo's */
#define LAST 3	 /* ours */

/* The process dies, and its session ends. */
static void kill_victim(void)
{
	int64_t session = peers[VICTIM].session;

	peer_kill(&peers[VICTIM]);
	ck_assert_int_eq(raw_kill_session(fixture_address(), session), 0);
}

static void tell_enter(int i)
{
	peer_tell(&peers[i], "enter " STEP " %d 60000", MEMBERS);
}

static void all_enter(void)
{
	for (int i = 0; i < MEMBERS; i++)
		tell_enter(i);
	for (int i = 0; i < MEMBERS; i++)
		(void)peer_hear(&peers[i], "entered", PATIENCE_MS);
}

/* All living members except this one, which is to be the last. */
static void tell_leave_but(int last)
{
	for (int i = 0; i < MEMBERS; i++)
		if (i != last && i != VICTIM)
			peer_tell(&peers[i], "leave " STEP " 60000");
}

static void hear_left(void)
{
	for (int i = 0; i < MEMBERS; i++)
		if (i != VICTIM)
			(void)peer_hear(&peers[i], "left", PATIENCE_MS);
	line_await(STEP, 0);
}

/* The members that leave wait for the last one, whose node may not be the
   lowest.  There may also be the lowest member's node, and "ready". */
static void leave_without_victim(void)
{
	tell_leave_but(LAST);
	test_within(raw_count_children(fixture_address(), STEP) <= 3,
		PATIENCE_MS);
	for (int i = 0; i < MEMBERS; i++)
		ck_assert(i == VICTIM || peer_silent(&peers[i]));
	peer_tell(&peers[LAST], "leave " STEP " 60000");
	hear_left();
}

static void all_leave(void)
{
	for (int i = 0; i < MEMBERS; i++)
		peer_tell(&peers[i], "leave " STEP " 60000");
	for (int i = 0; i < MEMBERS; i++)
		(void)peer_hear(&peers[i], "left", PATIENCE_MS);
	line_await(STEP, 0);
}

/* The victim is started again, and takes part in the next round. */
static void one_more_round(void)
{
	peer_start(&peers[VICTIM], kinds[VICTIM], 10000);
	all_enter();
	all_leave();
}

START_TEST(L18_S12_one_that_is_killed_while_it_enters_is_not_counted)
{
	for (int i = 0; i < MEMBERS; i++)
		if (i != LAST)
			tell_enter(i);
	line_await(STEP, MEMBERS - 1);
	kill_victim();
	line_await(STEP, MEMBERS - 2);
	tell_enter(LAST);
	peer_await_watch(&peers[LAST], STEP "/ready");
	for (int i = 0; i < MEMBERS; i++)
		ck_assert(i == VICTIM || peer_silent(&peers[i]));
	ck_assert_int_eq(raw_count_children(fixture_address(), STEP),
		MEMBERS - 1);
	peer_start(&peers[VICTIM], kinds[VICTIM], 10000);
	tell_enter(VICTIM);
	for (int i = 0; i < MEMBERS; i++)
		(void)peer_hear(&peers[i], "entered", PATIENCE_MS);
	all_leave();
}
END_TEST

/* It is killed before the others leave, or while they wait for it. */
START_TEST(L18_one_that_is_killed_while_it_is_in_lets_the_others_out)
{
	all_enter();
	if (_i == 0) {
		kill_victim();
		line_await(STEP, MEMBERS); /* with "ready" */
		leave_without_victim();
	} else {
		tell_leave_but(VICTIM);
		test_within(raw_count_children(fixture_address(), STEP) <= 3,
			PATIENCE_MS);
		for (int i = 0; i < MEMBERS; i++)
			ck_assert(peer_silent(&peers[i]));
		kill_victim();
		hear_left();
	}
	one_more_round();
}
END_TEST

/* A leave begins with the removal of "ready". */
START_TEST(L18_one_that_is_killed_while_it_leaves_lets_the_others_out)
{
	all_enter();
	peer_tell(&peers[VICTIM], "leave " STEP " 60000");
	test_within(raw_exists(fixture_address(), STEP "/ready", NULL) ==
			RAW_NONODE,
		PATIENCE_MS);
	ck_assert(peer_silent(&peers[VICTIM]));
	kill_victim();
	leave_without_victim();
	one_more_round();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("barriers, interop");
	TCase *t = fixture_case(s, "three kinds", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, whoever_closes_it_all_wait_for_whoever_opens_it,
		0, 9);
	tcase_add_test(t, members_of_three_kinds_go_in_and_out_together);
	tcase_add_test(t, L18_after_a_leftover_ready_they_go_in_together);
	tcase_add_test(t,
		L18_S12_one_that_is_killed_while_it_enters_is_not_counted);
	tcase_add_loop_test(t,
		L18_one_that_is_killed_while_it_is_in_lets_the_others_out, 0,
		2);
	tcase_add_test(t,
		L18_one_that_is_killed_while_it_leaves_lets_the_others_out);
	return interop_main(s, kinds);
}
