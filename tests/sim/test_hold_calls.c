/*
 * test_hold_calls.c - the callbacks of a hold, in a program that dispatches
 * them itself: calls that it makes before a callback is run, and within one.
 */
#include "lone_line.h"

#include "../unit/unit.h"
#include "hold.h"

#include <kustos/client.h>
#include <kustos/node.h>
#include <limits.h>
#include <stdint.h>

/* A time to the lease's end that is never exceeded: the hold is always at
   risk. */
#define ANY_MS (2 * LONE_TIMEOUT_MS)

static int calls, inside;

static void setup(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	calls = inside = 0;
	options.dispatch = KUSTOS_DISPATCH_FD;
	lone_line_open_with(&ku_zk_sim, &options);
	lone_line_ask();
	ck_assert_ptr_null(lone.hold); /* it is granted, but not told */
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
	on_lost(count); /* the hold is lost already */
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

START_TEST(S02_what_a_lost_hold_is_to_prove_is_not_sent)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = "/x" };
	struct kustos_op_result result = { .err = KUSTOS_OK };

	lose();
	ck_assert_int_eq(kustos_hold_multi(lone.hold, &op, 1, KUSTOS_FOREVER,
				 NULL, &result),
		KUSTOS_ELOST);
	ck_assert_int_eq(result.err, KUSTOS_ELOST);
	give_back_lost();
}
END_TEST

/* As kustos_multi() does: whoever frees the paths finds none. */
START_TEST(each_result_is_set_also_if_there_is_no_hold)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = "/x" };
	char text[] = "not ours";
	struct kustos_op_result result = { .path = text };

	ck_assert_int_eq(
		kustos_hold_multi(NULL, &op, 1, KUSTOS_FOREVER, NULL, &result),
		KUSTOS_EINVAL);
	ck_assert_int_eq(result.err, KUSTOS_EINVAL);
	ck_assert_ptr_null(result.path);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_OK);
}
END_TEST

static void written(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	*(enum kustos_err *)arg = err;
	ck_assert_uint_eq(result->result_count, 1);
}

/* More than any transaction has, and more than fits in memory with what is
   added. */
static const size_t too_many[] = { SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2,
	SIZE_MAX / sizeof(struct kustos_op), SIZE_MAX / 1000,
	(size_t)INT_MAX / 2 + 1 };

START_TEST(what_is_counted_wrongly_is_refused_and_has_no_results)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = "/x" };
	struct kustos_client *owners[] = { lone.client, NULL };
	struct kustos_hold *holds[] = { lone.hold, NULL };
	struct kustos_op_result result = { .err = KUSTOS_EQUOTA };
	size_t count = too_many[_i];

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(kustos_multi(owners[i], &op, count,
					 KUSTOS_FOREVER, NULL, &result),
			KUSTOS_EINVAL);
		ck_assert_int_eq(kustos_multi_async(owners[i], &op, count,
					 KUSTOS_FOREVER, NULL, written, NULL),
			KUSTOS_EINVAL);
		ck_assert_int_eq(kustos_hold_multi(holds[i], &op, count,
					 KUSTOS_FOREVER, NULL, &result),
			KUSTOS_EINVAL);
		ck_assert_int_eq(kustos_hold_multi_async(holds[i], &op, count,
					 KUSTOS_FOREVER, NULL, written, NULL),
			KUSTOS_EINVAL);
	}
	ck_assert_int_eq(result.err, KUSTOS_EQUOTA);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_OK);
}
END_TEST

/* The program's own operation fails, not the check of the hold. */
START_TEST(S02_what_a_hold_proves_and_is_refused_does_not_lose_it)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_DELETE, .path = "/x" };
	enum kustos_err end = KUSTOS_OK;

	ck_assert_int_eq(kustos_hold_multi_async(lone.hold, &op, 1,
				 KUSTOS_FOREVER, NULL, written, &end),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 1000);
	(void)kustos_client_dispatch(lone.client);
	ck_assert_int_eq(end, KUSTOS_ENONODE);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_OK);
}
END_TEST

/* Run the callbacks that wait, from within a callback. */
static void dispatch_inside(void)
{
	inside++;
	(void)kustos_client_dispatch(lone.client);
	inside--;
}

/* Ask for the same callback again, twice, and dispatch it from here. */
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
	on_lost(count); /* too late: it is not called */
	warn(count);
}

/* Give the hold back and ask for a warning, which must not be watched for.  Then
   the lease ends, and a callback for the loss must not be called. */
static void give_back_and_ask(void *arg, struct kustos_hold *hold)
{
	++*(int *)arg;
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	ck_assert_ptr_null(lone.client->risks.first);
	warn(count);
	ck_assert_ptr_null(lone.client->risks.first);
	model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
	lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_LOST);
	on_lost(count);
	dispatch_inside();
	model_heal(lone.bench.model);
}

START_TEST(who_asks_for_it_of_what_was_given_back_is_not_called)
{
	warn(give_back_and_ask);
	(void)kustos_client_dispatch(lone.client);
	ck_assert_int_eq(calls, 1);
	lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
	(void)kustos_client_dispatch(lone.client);
	ck_assert_int_eq(calls, 1);
}
END_TEST

static void dispatch_until_it_is_gone(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(hold, lone.hold);
	++*(int *)arg;
	dispatch_inside();
}

/* The callback that returns last frees the hold. */
START_TEST(a_hold_may_be_released_in_a_callback_within_another_of_its_own)
{
	warn(give_back_inside);
	on_lost(dispatch_until_it_is_gone);
	lose(); /* a loss is told before what waits */
	(void)kustos_client_dispatch(lone.client);
	ck_assert_int_eq(calls, 2);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_client_dispatch(lone.client), 0);
	ck_assert_int_eq(calls, 2);
}
END_TEST

/* The kinds of callbacks. */
enum { LOST, AT_RISK, ASKED, KINDS };

static void make_due(int kind, kustos_hold_fn *fn)
{
	if (kind == LOST)
		on_lost(fn);
	if (kind == LOST && kustos_hold_state(lone.hold) != KUSTOS_HOLD_LOST)
		lose();
	if (kind == AT_RISK)
		warn(fn);
	if (kind != ASKED)
		return;
	ku_lock(lone.client);
	ku_hold_ask(lone.hold, fn, &calls);
	ku_unlock(lone.client);
}

static void give_back(int kind)
{
	ck_assert_int_eq(kustos_hold_release(lone.hold),
		kind == LOST ? KUSTOS_ELOST : KUSTOS_OK);
}

START_TEST(what_waits_to_be_told_is_not_when_the_hold_is_given_back)
{
	make_due(_i, count);
	lone_run_ms(&lone.bench, lone.client, 100);
	give_back(_i);
	ck_assert_int_eq(kustos_client_dispatch(lone.client), 0);
	ck_assert_int_eq(calls, 0);
	lone_run_ms(&lone.bench, lone.client, 100);
}
END_TEST

static int inner;

/* The callback is due again, but the hold is given back before it runs. */
static void give_back_what_is_due_again(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(hold, lone.hold);
	ck_assert_int_eq(++*(int *)arg, 2);
	make_due(inner, give_back_what_is_due_again);
	dispatch_inside();
	give_back(inner);
}

static void call_the_inner(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(hold, lone.hold);
	++*(int *)arg;
	make_due(inner, give_back_what_is_due_again);
	dispatch_inside();
}

START_TEST(what_is_due_again_is_not_called_when_the_hold_is_given_back)
{
	inner = _i;
	make_due(inner == AT_RISK ? ASKED : AT_RISK, call_the_inner);
	(void)kustos_client_dispatch(lone.client);
	ck_assert_int_eq(calls, 2);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_client_dispatch(lone.client), 0);
}
END_TEST

/* It is in the list once, however often it is asked for. */
START_TEST(a_warning_is_watched_for_once_until_the_hold_is_given_back)
{
	struct kustos_client *c = lone.client;

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(
			kustos_hold_at_risk(lone.hold, 1, count, &calls),
			KUSTOS_OK);
	ck_assert_ptr_nonnull(c->risks.first);
	ck_assert_ptr_null(c->risks.first->next);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_OK);
	ck_assert_ptr_null(c->risks.first);
	lone_run_ms(&lone.bench, c, 100);
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
	tcase_add_test(t, S02_what_a_lost_hold_is_to_prove_is_not_sent);
	tcase_add_test(t, each_result_is_set_also_if_there_is_no_hold);
	tcase_add_loop_test(t,
		what_is_counted_wrongly_is_refused_and_has_no_results, 0,
		UNIT_COUNT(too_many));
	tcase_add_test(t,
		S02_what_a_hold_proves_and_is_refused_does_not_lose_it);
	tcase_add_loop_test(t,
		what_is_due_while_it_runs_is_called_after_that_and_not_in_it, 0,
		2);
	tcase_add_loop_test(t,
		what_waits_to_be_told_is_not_when_the_hold_is_given_back, 0,
		KINDS);
	tcase_add_loop_test(t,
		what_is_due_again_is_not_called_when_the_hold_is_given_back, 0,
		KINDS);
	tcase_add_test(t,
		a_warning_is_watched_for_once_until_the_hold_is_given_back);
	tcase_add_test(t, who_asks_for_it_of_what_was_given_back_is_not_called);
	tcase_add_test(t,
		a_hold_may_be_released_in_a_callback_within_another_of_its_own);
	suite_add_tcase(s, t);
	return unit_main(s);
}
