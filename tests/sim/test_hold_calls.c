/*
 * test_hold_calls.c - the callbacks of a hold, in a program that runs them itself: what
 * it asks for before its turn comes, and in one of them.
 */
#include "lone_line.h"

#include "../unit/unit.h"

#include <kustos/client.h>

/* A hold is nearer to its end than that at any time. */
#define ANY_MS (2 * LONE_TIMEOUT_MS)

static int calls, inside;

static void setup(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	calls = inside = 0;
	options.dispatch = KUSTOS_DISPATCH_FD;
	lone_line_open_with(&ku_zk_sim, &options);
	lone_line_ask();
	ck_assert_ptr_null(lone.hold); /* granted, and not told */
	ck_assert_int_eq(kustos_client_dispatch(lone.client), 1);
	lone_line_check();
	lone_run_ms(&lone.bench, lone.client, 1000); /* its node is watched */
}

static void on_lost(kustos_hold_fn *fn)
{
	ck_assert_int_eq(kustos_hold_on_lost(lone.hold, fn, &calls), KUSTOS_OK);
}

static void warn(kustos_hold_fn *fn)
{
	ck_assert_int_eq(kustos_hold_at_risk(lone.hold, ANY_MS, fn, &calls),
		KUSTOS_OK);
}

static void lose(void)
{
	lone_line_delete();
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_hold_state(lone.hold), KUSTOS_HOLD_LOST);
}

static void count(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(hold, lone.hold);
	ck_assert_int_eq(inside, 0);
	++*(int *)arg;
}

static void give_back_lost(void)
{
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
}

START_TEST(who_is_not_to_be_called_any_more_is_not_though_its_turn_comes)
{
	if (_i == 0) {
		on_lost(count);
		lose();
		on_lost(NULL);
	} else {
		warn(count);
		lone_run_ms(&lone.bench, lone.client, 100);
		warn(NULL);
		lose();
	}
	(void)kustos_client_dispatch(lone.client);
	ck_assert_int_eq(calls, 0);
	on_lost(count); /* it is lost already */
	(void)kustos_client_dispatch(lone.client);
	ck_assert_int_eq(calls, 1);
	give_back_lost();
}
END_TEST

START_TEST(what_is_asked_for_in_place_of_what_waits_is_called_once)
{
	int before = 0;

	ck_assert_int_eq(kustos_hold_on_lost(lone.hold, count, &before),
		KUSTOS_OK);
	lose();
	on_lost(count);
	on_lost(count);
	(void)kustos_client_dispatch(lone.client);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_client_dispatch(lone.client), 0);
	ck_assert_int_eq(before, 0);
	ck_assert_int_eq(calls, 1);
	give_back_lost();
}
END_TEST

/* Those that wait, here. */
static void dispatch_inside(void)
{
	inside++;
	(void)kustos_client_dispatch(lone.client);
	inside--;
}

/* Twice: it is called again, after this. */
static void lost_again(void *arg, struct kustos_hold *hold)
{
	count(arg, hold);
	if (calls > 2)
		return;
	on_lost(lost_again);
	dispatch_inside();
}

static void warned_again(void *arg, struct kustos_hold *hold)
{
	count(arg, hold);
	if (calls > 2)
		return;
	warn(warned_again);
	dispatch_inside();
}

START_TEST(what_is_due_while_it_runs_is_called_after_that_and_not_in_it)
{
	on_lost(lost_again);
	if (_i == 0)
		warn(warned_again);
	else
		lose();
	(void)kustos_client_dispatch(lone.client);
	ck_assert_int_eq(calls, 3);
	if (_i == 0)
		lone_line_give();
	else
		give_back_lost();
}
END_TEST

static void give_back_inside(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(hold, lone.hold);
	ck_assert_int_eq(inside, 1);
	++*(int *)arg;
	give_back_lost();
}

static void dispatch_until_it_is_gone(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(hold, lone.hold);
	++*(int *)arg;
	dispatch_inside();
}

/* The last of them frees it. */
START_TEST(a_hold_may_be_released_in_a_callback_within_another_of_its_own)
{
	warn(give_back_inside);
	on_lost(dispatch_until_it_is_gone);
	lose(); /* which is told before what waits */
	(void)kustos_client_dispatch(lone.client);
	ck_assert_int_eq(calls, 2);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_client_dispatch(lone.client), 0);
	ck_assert_int_eq(calls, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("callbacks of a hold in the simulator");
	TCase *t = tcase_create("dispatched");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, lone_line_close);
	tcase_add_loop_test(t,
		who_is_not_to_be_called_any_more_is_not_though_its_turn_comes,
		0, 2);
	tcase_add_test(t,
		what_is_asked_for_in_place_of_what_waits_is_called_once);
	tcase_add_loop_test(t,
		what_is_due_while_it_runs_is_called_after_that_and_not_in_it, 0,
		2);
	tcase_add_test(t,
		a_hold_may_be_released_in_a_callback_within_another_of_its_own);
	suite_add_tcase(s, t);
	return unit_main(s);
}
