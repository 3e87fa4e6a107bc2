/*
 * test_barrier.c - our barriers, Curator's and kazoo's are the same: whoever
 * closes, all wait; and members of three kinds go in and out together.
 */
#include "peer.h"
#include "support/raw.h"

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

/* One of each kind closes it, and another opens it. */
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

/* All wait still; else it is told who does not. */
static void all_wait(int round)
{
	for (int i = 0; i < MEMBERS; i++)
		ck_assert_msg(peer_silent(&peers[i]),
			"in round %d member %d, of kind %d, does not wait; "
			"%d are there",
			round, i, (int)kinds[i],
			raw_count_children(fixture_address(), STEP));
}

/* Rounds in which each is in turn the last to come, and the last to go. */
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
		/* The lowest of them may be there, and "ready". */
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

/* One of ours is there first, and removes it; so Curator's and kazoo's wait. */
START_TEST(L18_after_a_leftover_ready_they_go_in_together)
{
	ck_assert_int_eq(raw_create(fixture_address(), STEP, ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), STEP "/ready", ""), 0);
	for (int i = 0; i < MEMBERS; i++) {
		for (int k = 0; k < i; k++)
			ck_assert(peer_silent(&peers[k]));
		peer_tell(&peers[i], "enter " STEP " %d 60000", MEMBERS);
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

int main(void)
{
	Suite *s = suite_create("barriers, interop");
	TCase *t = fixture_case(s, "three kinds", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, whoever_closes_it_all_wait_for_whoever_opens_it,
		0, 9);
	tcase_add_test(t, members_of_three_kinds_go_in_and_out_together);
	tcase_add_test(t, L18_after_a_leftover_ready_they_go_in_together);
	return interop_main(s, kinds);
}
