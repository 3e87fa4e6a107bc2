/*
 * test_hold_order.c - in which order a hold's callbacks are called, what is not
 * called, and what a hold that is lost still says and allows.
 */
#include "lone_line.h"

#include "../unit/unit.h"
#include "hold.h"

#include <kustos/client.h>
#include <kustos/node.h>
#include <string.h>

/* A time to the lease's end that is never exceeded: the hold is always at
   risk. */
#define ANY_MS (2 * LONE_TIMEOUT_MS)

static char order[16]; /* a letter for each call: */
static char answered[] = "x", asked[] = "a", lost[] = "l", warned[] = "r";
static int end; /* of a transaction; -1: not yet */

static void note(const char *letter)
{
	ck_assert_uint_lt(strlen(order), sizeof(order) - 1);
	strcat(order, letter);
}

static void note_hold(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(hold, lone.hold);
	note(arg);
}

static void note_answer(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)result;
	ck_assert_int_eq(err, KUSTOS_OK);
	note(arg);
}

static void setup(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	order[0] = '\0';
	end = -1;
	options.dispatch = KUSTOS_DISPATCH_FD;
	lone_line_open_with(&ku_zk_sim, &options);
	lone_line_ask();
	ck_assert_int_eq(kustos_client_dispatch(lone.client), 1);
	lone_line_check();
	lone_run_ms(&lone.bench, lone.client, 1000); /* its node is watched */
}

static void dispatch(void)
{
	(void)kustos_client_dispatch(lone.client);
}

static void warn(kustos_hold_fn *fn)
{
	ck_assert_int_eq(kustos_hold_at_risk(lone.hold, ANY_MS, fn, warned),
		KUSTOS_OK);
}

static void ask(kustos_hold_fn *fn)
{
	ku_lock(lone.client);
	ku_hold_ask(lone.hold, fn, asked);
	ku_unlock(lone.client);
}

/* The callback of an answer waits. */
static void answer(void)
{
	ck_assert_int_eq(kustos_exists_async(lone.client, "/", KUSTOS_FOREVER,
				 NULL, note_answer, answered),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
}

static void lose(void)
{
	lone_line_delete();
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_hold_state(lone.hold), KUSTOS_HOLD_LOST);
}

static void give_back_lost(void)
{
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
}

START_TEST(U03_a_warning_overtakes_and_a_request_to_release_does_not)
{
	answer();
	ask(note_hold);
	warn(note_hold);
	dispatch();
	ck_assert_str_eq(order, "rxa");
	lone_line_give();
}
END_TEST

static bool asks; /* else it warns */

/* Be due again while this runs, before another callback is. */
static void be_due_again(void *arg, struct kustos_hold *hold)
{
	bool first = order[0] == '\0';

	note_hold(arg, hold);
	if (!first)
		return;
	(asks ? ask : warn)(be_due_again);
	dispatch();
	answer();
}

START_TEST(U03_what_is_due_again_keeps_its_rank)
{
	asks = _i == 1;
	(asks ? ask : warn)(be_due_again);
	dispatch();
	ck_assert_str_eq(order, asks ? "axa" : "rrx");
	lone_line_give();
}
END_TEST

/* Be due while this runs, and ask for a later warning instead. */
static void ask_for_a_later_one(void *arg, struct kustos_hold *hold)
{
	note_hold(arg, hold);
	warn(ask_for_a_later_one);
	dispatch();
	ck_assert_int_eq(kustos_hold_at_risk(hold, 1, note_hold, lost),
		KUSTOS_OK);
}

START_TEST(a_warning_that_was_replaced_while_it_ran_is_not_called_again)
{
	warn(ask_for_a_later_one);
	dispatch();
	ck_assert_str_eq(order, "r");
	lone_line_give();
}
END_TEST

/* It was lost with its node, and is lost with the session as well. */
START_TEST(a_loss_is_told_once)
{
	ck_assert_int_eq(kustos_hold_on_lost(lone.hold, note_hold, lost),
		KUSTOS_OK);
	lose();
	dispatch();
	ku_lock(lone.client);
	ku_hold_lose(lone.hold);
	ku_unlock(lone.client);
	dispatch();
	ck_assert_str_eq(order, "l");
	give_back_lost();
}
END_TEST

static void give_back_and_be_asked(void *arg, struct kustos_hold *hold)
{
	note_hold(arg, hold);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	ask(note_hold);
}

START_TEST(what_was_given_back_is_asked_for_no_more)
{
	warn(give_back_and_be_asked);
	dispatch();
	ck_assert_str_eq(order, "r");
	lone_run_ms(&lone.bench, lone.client, 100);
}
END_TEST

START_TEST(S05_a_hold_whose_node_is_gone_has_no_time_left)
{
	ck_assert(!ku_hold_is_lost(lone.hold));
	ck_assert_int_gt(kustos_hold_remaining_ms(lone.hold), 0);
	lose();
	ck_assert(ku_hold_is_lost(lone.hold));
	ck_assert_int_eq(kustos_hold_remaining_ms(lone.hold), 0);
	give_back_lost();
}
END_TEST

/* The process stood still, so nothing has noticed yet that the lease is over. */
START_TEST(S05_a_hold_is_lost_as_soon_as_its_lease_is_over)
{
	lone.bench.sched.now_ns += 2 * LONE_TIMEOUT_MS * KU_NS_PER_MS;
	ck_assert(ku_hold_is_lost(lone.hold));
	give_back_lost();
	lone_run_ms(&lone.bench, lone.client, 3 * LONE_TIMEOUT_MS);
}
END_TEST

static void ended(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	(void)result;
	end = (int)err;
}

static void cut_off_until(enum kustos_state state)
{
	model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
	for (int ms = 0;
		ms < LONE_TIMEOUT_MS && lone.client->session.state != state;
		ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(lone.client->session.state, state);
}

START_TEST(S02_what_a_hold_is_to_prove_and_waits_ends_with_the_hold)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = "/x" };

	cut_off_until(KUSTOS_STATE_SUSPENDED);
	ck_assert_int_eq(kustos_hold_multi_async(lone.hold, &op, 1,
				 KUSTOS_FOREVER, NULL, ended, NULL),
		KUSTOS_OK);
	dispatch();
	ck_assert_int_eq(end, -1);
	cut_off_until(KUSTOS_STATE_LOST);
	lone_run_ms(&lone.bench, lone.client, 1);
	dispatch();
	ck_assert_int_eq(end, KUSTOS_ELOST);
	model_heal(lone.bench.model);
	give_back_lost();
	lone_run_ms(&lone.bench, lone.client, 3 * LONE_TIMEOUT_MS);
	ck_assert(!model_stat(lone.bench.model, "/x", NULL));
}
END_TEST

START_TEST(what_cannot_be_meant_is_refused)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = "/x" };
	const int64_t longest = INT64_MAX / KU_NS_PER_MS;

	ck_assert_int_eq(kustos_hold_multi(lone.hold, &op, SIZE_MAX,
				 KUSTOS_FOREVER, NULL, NULL),
		KUSTOS_EINVAL);
	ck_assert_int_eq(
		kustos_hold_at_risk(lone.hold, longest + 1, note_hold, warned),
		KUSTOS_EINVAL);
	ck_assert_int_eq(
		kustos_hold_at_risk(lone.hold, longest, note_hold, warned),
		KUSTOS_OK);
	dispatch();
	ck_assert_str_eq(order, "r");
	lone_line_give();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("order of a hold's callbacks in the simulator");
	TCase *t = tcase_create("dispatched");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, lone_line_close);
	tcase_add_test(t,
		U03_a_warning_overtakes_and_a_request_to_release_does_not);
	tcase_add_loop_test(t, U03_what_is_due_again_keeps_its_rank, 0, 2);
	tcase_add_test(t,
		a_warning_that_was_replaced_while_it_ran_is_not_called_again);
	tcase_add_test(t, a_loss_is_told_once);
	tcase_add_test(t, what_was_given_back_is_asked_for_no_more);
	tcase_add_test(t, S05_a_hold_whose_node_is_gone_has_no_time_left);
	tcase_add_test(t, S05_a_hold_is_lost_as_soon_as_its_lease_is_over);
	tcase_add_test(t,
		S02_what_a_hold_is_to_prove_and_waits_ends_with_the_hold);
	tcase_add_test(t, what_cannot_be_meant_is_refused);
	suite_add_tcase(s, t);
	return unit_main(s);
}
