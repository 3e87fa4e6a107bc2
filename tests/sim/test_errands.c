/*
 * test_errands.c - calls to a leader that must not wait (KUSTOS_NOW), when no
 * server answers.
 */
#include "lone_latch.h"

#include "../unit/unit.h"

#include <string.h>
#include <sys/resource.h>

/* A number of calls that takes seconds to start under a sanitizer. */
#define ROW 20000

/* Run until the client has noticed the silence, which is long before the lease
   ends. */
static void run_until_away(void)
{
	for (int i = 0; i < LONE_TIMEOUT_MS &&
		kustos_latch_state(latches.leader) == KUSTOS_LATCH_LEADS;
		i++)
		lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(kustos_latch_state(latches.leader),
		KUSTOS_LATCH_UNSURE);
	lone_run_ms(&lone.bench, lone.client, 2);
	ck_assert_int_eq(kustos_latch_state(latches.leader),
		KUSTOS_LATCH_UNSURE);
}

/* The call ends, but its request may be done all the same. */
START_TEST(L20_what_is_not_to_wait_ends_when_the_connection_is_away)
{
	if (_i == 0)
		latches_say(KUSTOS_NOW, &latches.ends[0]);
	else
		ck_assert_int_eq(kustos_latch_hand_over_async(latches.leader,
					 "you", KUSTOS_NOW, NULL, latches_ended,
					 &latches.ends[0]),
			KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(latches.ends[0], -1);
	run_until_away();
	ck_assert_int_eq(latches.ends[0], KUSTOS_ETIMEDOUT);
	/* The call that had begun does not hinder later ones. */
	model_heal(lone.bench.model);
	lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(kustos_latch_leads(latches.leader) +
			kustos_latch_leads(latches.heir),
		1);
	latches_say(KUSTOS_NOW, &latches.ends[1]);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(latches.ends[1],
		kustos_latch_leads(latches.leader) ? KUSTOS_OK
						   : KUSTOS_ENOTHELD);
}
END_TEST

/* The call of a candidate that does not lead fails with that error instead. */
START_TEST(L20_what_is_not_to_wait_does_not_begin_while_it_is_away)
{
	run_until_away();
	latches_say(KUSTOS_NOW, &latches.ends[0]);
	ck_assert_int_eq(kustos_latch_set_data_async(latches.heir, "else", 4,
				 KUSTOS_NOW, NULL, latches_ended,
				 &latches.ends[1]),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(latches.ends[0], KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(latches.ends[1], KUSTOS_ENOTHELD);
	/* A call that may wait does wait. */
	latches.ends[0] = -1;
	latches_say(KUSTOS_FOREVER, &latches.ends[0]);
	lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(latches.ends[0], -1);
}
END_TEST

/* Such calls end whether they stand before a call that waits or behind it. */
START_TEST(L20_all_that_is_not_to_wait_ends_when_the_connection_is_away)
{
	int between = -1;

	latches_say(KUSTOS_NOW, &latches.ends[0]);
	latches_say(KUSTOS_FOREVER, &between);
	latches_say(KUSTOS_NOW, &latches.ends[1]);
	run_until_away();
	ck_assert_int_eq(latches.ends[0], KUSTOS_ETIMEDOUT);
	ck_assert_int_eq(between, -1);
	ck_assert_int_eq(latches.ends[1], KUSTOS_EDISCONNECTED);
	model_heal(lone.bench.model);
	lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_ne(between, -1);
}
END_TEST

START_TEST(L20_nor_does_it_wait_for_what_waits)
{
	latches_say(KUSTOS_FOREVER, &latches.ends[0]);
	if (_i == 0)
		latches_say(KUSTOS_NOW, &latches.ends[1]);
	run_until_away();
	if (_i == 1)
		ck_assert_int_eq(kustos_latch_set_data_async(latches.leader,
					 "else", 4, KUSTOS_NOW, NULL,
					 latches_ended, &latches.ends[1]),
			KUSTOS_EDISCONNECTED);
	else
		ck_assert_int_eq(latches.ends[1], KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(latches.ends[0], -1);
}
END_TEST

static void count(void *arg, struct kustos_hold *hold)
{
	(void)hold;
	++*(int *)arg;
}

/* The silence is noticed after a pause in which the lease, and perhaps the
   session, has ended.  The call that must not wait ends, and the next may begin
   only if the latch still leads.  That check finds the loss, while places are
   being told of the disconnect. */
START_TEST(S01_L17_a_loss_that_is_seen_amid_a_disconnect_is_told_of_all_holds)
{
	int pause_ms = _i == 0 ? LONE_TIMEOUT_MS * 3 / 4 : LONE_TIMEOUT_MS;
	int losses = 0;

	model_heal(lone.bench.model);
	lone_line_ask();
	ck_assert_ptr_nonnull(lone.hold);
	ck_assert_int_eq(kustos_hold_on_lost(lone.hold, count, &losses),
		KUSTOS_OK);
	model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
	latches_say(KUSTOS_NOW, &latches.ends[0]);
	latches_say(KUSTOS_FOREVER, &latches.ends[1]);
	lone_run_ms(&lone.bench, lone.client, 1);
	sched_pause(&lone.bench.sched, LONE_MACHINE,
		lone.bench.sched.now_ns + pause_ms * KU_NS_PER_MS);
	bench_run_ms(&lone.bench, pause_ms - 1);
	lone_run_ms(&lone.bench, lone.client, 2);
	ck_assert_int_ne(latches.ends[0], -1);
	ck_assert_int_ne(latches.ends[1], -1);
	ck_assert_int_eq(losses, 1);
	/* If the session lives on, the node does not stay in the line. */
	model_heal(lone.bench.model);
	lone_run_ms(&lone.bench, lone.client, LONE_TIMEOUT_MS);
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 2);
	ck_assert_int_eq(kustos_latch_leads(latches.leader) +
			kustos_latch_leads(latches.heir),
		1);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
}
END_TEST

/* However many calls end at the same time, they do not recurse into each
   other. */
START_TEST(a_long_row_ends_within_a_small_stack)
{
	const struct rlimit small = { ROW * 50, ROW * 50 };
	static int row[ROW];

	ck_assert_int_eq(setrlimit(RLIMIT_STACK, &small), 0);
	for (int i = 0; i < ROW; i++) {
		row[i] = -1;
		latches_say(KUSTOS_FOREVER, &row[i]);
	}
	lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(row[0], KUSTOS_ELOST);
	for (int i = 1; i < ROW; i++)
		ck_assert_int_eq(row[i], KUSTOS_ENOTHELD);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("errands in the simulator");
	TCase *t = tcase_create("errands");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, latches_setup, latches_teardown);
	tcase_add_loop_test(t,
		L20_what_is_not_to_wait_ends_when_the_connection_is_away, 0, 2);
	tcase_add_test(t,
		L20_what_is_not_to_wait_does_not_begin_while_it_is_away);
	tcase_add_test(t,
		L20_all_that_is_not_to_wait_ends_when_the_connection_is_away);
	tcase_add_loop_test(t, L20_nor_does_it_wait_for_what_waits, 0, 2);
	tcase_add_loop_test(t,
		S01_L17_a_loss_that_is_seen_amid_a_disconnect_is_told_of_all_holds,
		0, 2);
	tcase_add_test(t, a_long_row_ends_within_a_small_stack);
	suite_add_tcase(s, t);
	return unit_main(s);
}
