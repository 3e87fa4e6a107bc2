/*
 * test_risk.c - warnings that a hold is at risk: exact times, changed timeouts,
 * and holds that are lost or no longer to be warned about.
 */
#include "lone_late.h"

#include "../unit/unit.h"

static void count(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(hold, lone.hold);
	++*(int *)arg;
}

/* Take the mutex, and count warnings. */
static void hold_with_warning(int64_t before_ms, int *warnings)
{
	lone_line_ask();
	lone_line_check();
	ck_assert_int_eq(
		kustos_hold_at_risk(lone.hold, before_ms, count, warnings),
		KUSTOS_OK);
	ck_assert_int_gt(kustos_hold_remaining_ms(lone.hold), before_ms);
}

/* Time goes by, and answers come, while the client does nothing. */
static void pause_until_risk(int64_t before_ms)
{
	while (kustos_hold_remaining_ms(lone.hold) >= before_ms)
		bench_run_ms(&lone.bench, 1);
	ck_assert_int_gt(kustos_hold_remaining_ms(lone.hold), 0);
}

START_TEST(a_second_risk_is_told_though_only_a_pause_was_between_the_two)
{
	const int64_t before_ms = LONE_TIMEOUT_MS / 4;
	int warnings = 0;

	hold_with_warning(before_ms, &warnings);
	pause_until_risk(before_ms);
	(void)ku_client_step(lone.client);
	ck_assert_int_eq(warnings, 1);
	bench_run_ms(&lone.bench, 9); /* the heartbeat is answered */
	ck_assert_int_gt(kustos_hold_remaining_ms(lone.hold), before_ms);
	pause_until_risk(before_ms);
	(void)ku_client_step(lone.client);
	ck_assert_int_eq(warnings, 2);
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert_int_eq(warnings, 2);
	lone_line_give();
}
END_TEST

/* The next server grants a shorter timeout, and answers nothing else. */
START_TEST(U03_a_risk_is_told_by_the_timeout_of_the_last_connection)
{
	const int less_ms = LONE_TIMEOUT_MS / 4;
	const int before_ms = less_ms / 4;
	int warnings = 0;

	first.event = NULL;
	hold_with_warning(before_ms, &warnings);
	first.granted_ms = less_ms;
	first.withholds = true;
	first.kind = KU_ZK_SYNC;
	model_cut(lone.bench.model, LONE_MACHINE, true);
	while (kustos_hold_remaining_ms(lone.hold) >= before_ms) {
		ck_assert_int_eq(warnings, 0);
		lone_run_ms(&lone.bench, lone.client, 1);
	}
	ck_assert_int_eq(lone.client->session.timeout_ms, less_ms);
	lone_run_ms(&lone.bench, lone.client, 2);
	ck_assert_int_ne(kustos_hold_state(lone.hold), KUSTOS_HOLD_LOST);
	ck_assert_int_eq(warnings, 1);
	lone_run_ms(&lone.bench, lone.client, less_ms);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
	lone_run_ms(&lone.bench, lone.client, 3 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(warnings, 1);
}
END_TEST

/* The hold was lost because its node was deleted. */
START_TEST(what_was_lost_is_at_risk_no_more)
{
	const int64_t before_ms = LONE_TIMEOUT_MS / 4;
	int warnings = 0;

	hold_with_warning(before_ms, &warnings);
	lone_run_ms(&lone.bench, lone.client, 1000); /* its node is watched */
	lone_line_delete();
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_hold_state(lone.hold), KUSTOS_HOLD_LOST);
	if (_i == 1)
		ck_assert_int_eq(kustos_hold_at_risk(lone.hold, before_ms,
					 count, &warnings),
			KUSTOS_OK);
	while (lone.client->session.lease.end_ns - ku_now(lone.client) >
		before_ms * KU_NS_PER_MS)
		bench_run_ms(&lone.bench, 1); /* without the client */
	(void)ku_client_step(lone.client);
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert_int_eq(warnings, 0);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
}
END_TEST

/* Acquire a hold of another path, with a warning. */
static struct kustos_hold *hold_another(const char *path, int64_t before_ms,
	kustos_hold_fn *warned, void *arg, struct kustos_mutex **mutex)
{
	ck_assert_int_eq(kustos_mutex_create(lone.client, path, NULL, mutex),
		KUSTOS_OK);
	lone.hold = NULL;
	ck_assert_int_eq(kustos_mutex_acquire_async(*mutex, KUSTOS_FOREVER,
				 NULL, lone_line_granted, NULL),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_ptr_nonnull(lone.hold);
	ck_assert_int_eq(kustos_hold_at_risk(lone.hold, before_ms, warned, arg),
		KUSTOS_OK);
	return lone.hold;
}

static void count_any(void *arg, struct kustos_hold *hold)
{
	(void)hold;
	++*(int *)arg;
}

/* Holds whose warning was canceled, in whatever order, are not warned, and the
   others are. */
START_TEST(each_of_several_is_told_that_wants_to_be)
{
	static const char *const paths[] = { "/r0", "/r1", "/r2", "/r3" };
	const int64_t before_ms = LONE_TIMEOUT_MS / 4;
	struct kustos_mutex *mutex[4];
	struct kustos_hold *hold[4];
	int told[4] = { 0, 0, 0, 0 };
	int i;

	for (i = 0; i < 4; i++)
		hold[i] = hold_another(paths[i], before_ms, count_any, &told[i],
			&mutex[i]);
	/* Cancel the second twice, and in between the first, its neighbour. */
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(kustos_hold_at_risk(hold[i == 1 ? 0 : 1],
					 before_ms, NULL, NULL),
			KUSTOS_OK);
	for (i = 0; i < 2; i++) {
		pause_until_risk(before_ms);
		(void)ku_client_step(lone.client);
		ck_assert_int_eq(told[0] + told[1], 0);
		ck_assert_int_eq(told[2], i + 1);
		ck_assert_int_eq(told[3], i + 1);
		bench_run_ms(&lone.bench, 9); /* its heartbeat is answered */
	}
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(kustos_hold_release(hold[i]), KUSTOS_OK);
		kustos_mutex_destroy(mutex[i]);
	}
	lone_run_ms(&lone.bench, lone.client, 100);
}
END_TEST

/* The second cancel must not remove a warning that another asked for
   meanwhile. */
START_TEST(who_is_not_warned_any_more_may_say_so_twice)
{
	static const char *const paths[] = { "/r0", "/r1", "/r2" };
	const int64_t before_ms = LONE_TIMEOUT_MS / 4;
	struct kustos_mutex *mutex[3];
	struct kustos_hold *hold[3];
	int told[3] = { 0, 0, 0 };
	int i;

	for (i = 0; i < 3; i++)
		hold[i] = hold_another(paths[i], before_ms, count_any, &told[i],
			&mutex[i]);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(i == 1
				? kustos_hold_at_risk(hold[0], before_ms,
					  count_any, &told[0])
				: kustos_hold_at_risk(hold[2], before_ms, NULL,
					  NULL),
			KUSTOS_OK);
	for (i = 0; i < 2; i++) {
		pause_until_risk(before_ms);
		(void)ku_client_step(lone.client);
		ck_assert_int_eq(told[0], i + 1);
		ck_assert_int_eq(told[1], i + 1);
		bench_run_ms(&lone.bench, 9); /* its heartbeat is answered */
	}
	ck_assert_int_eq(told[2], 0);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(kustos_hold_release(hold[i]), KUSTOS_OK);
		kustos_mutex_destroy(mutex[i]);
	}
	lone_run_ms(&lone.bench, lone.client, 100);
}
END_TEST

/* It is told at that very moment, and only once. */
START_TEST(a_risk_is_told_when_so_much_is_left_as_was_asked_for)
{
	const int64_t before_ms = LONE_TIMEOUT_MS / 4;
	struct sched *sched = &lone.bench.sched;
	int64_t left, at;
	int warnings = 0;

	hold_with_warning(before_ms, &warnings);
	left = lone.client->session.lease.end_ns - ku_now(lone.client);
	at = sched->now_ns + left - before_ms * KU_NS_PER_MS;
	while (sched->count > 0 && sched->heap[0].at_ns <= at)
		(void)sched_run(sched);
	sched->now_ns = at;
	ck_assert_int_eq(lone.client->session.lease.end_ns -
			ku_now(lone.client),
		before_ms * KU_NS_PER_MS);
	(void)ku_client_step(lone.client);
	ck_assert_int_eq(warnings, 1);
	lone_line_give();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("risks in the simulator");
	TCase *t = tcase_create("risks");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, late_setup, lone_line_close);
	tcase_add_test(t,
		a_second_risk_is_told_though_only_a_pause_was_between_the_two);
	tcase_add_test(t,
		U03_a_risk_is_told_by_the_timeout_of_the_last_connection);
	tcase_add_test(t, each_of_several_is_told_that_wants_to_be);
	tcase_add_test(t, who_is_not_warned_any_more_may_say_so_twice);
	tcase_add_test(t, a_risk_is_told_when_so_much_is_left_as_was_asked_for);
	tcase_add_loop_test(t, what_was_lost_is_at_risk_no_more, 0, 2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
