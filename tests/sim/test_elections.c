/*
 * test_elections.c - latches and selectors of a lone client: what they report
 * about themselves, and what they must not do once they are closed or have led.
 */
#include "lone_latch.h"
#include "lone_selector.h"

#include "../unit/unit.h"
#include "recipe.h"

#include <pthread.h>
#include <sched.h>

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static bool refuses;	     /* all creations */
static int refused, made;
static int made_first; /* nodes made before the last transaction */
static int calls;      /* callbacks */

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (request->kind == KU_ZK_CREATE && refuses) {
		refused++;
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	}
	made += request->kind == KU_ZK_CREATE;
	if (request->kind == KU_ZK_MULTI)
		made_first = made;
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void run_ms(int ms)
{
	lone_run_ms(&lone.bench, lone.client, ms);
}

static void setup(void)
{
	api = ku_zk_sim;
	api.submit = submit_it;
	refuses = false;
	refused = made = made_first = calls = 0;
	lone_line_open(&api);
}

static void teardown(void)
{
	run_ms(200);
	lone_line_close();
}

static void ignore_end(void *arg, enum kustos_err err)
{
	(void)arg;
	(void)err;
}

/* Blocking calls need a thread that waits, which the simulator has only if
   "waits". */
static void let_wait(bool waits)
{
	lone.client->env.threads = waits;
}

static void refuse_credentials(void)
{
	ku_lock(lone.client);
	ku_session_event(lone.client, KU_ZK_STATE_AUTH_FAILED);
	ku_unlock(lone.client);
}

START_TEST(a_latch_refuses_what_it_cannot_use)
{
	struct kustos_latch *latch, *other;

	ck_assert_int_eq(kustos_latch_create(lone.client, LINE, NULL, &latch),
		KUSTOS_OK);
	let_wait(true);
	ck_assert_int_eq(kustos_latch_create(lone.client, NULL, NULL, &other),
		KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_latch_create(lone.client, LINE, NULL, NULL),
		KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_latch_set_data_async(latch, NULL, 1, KUSTOS_NOW,
				 NULL, ignore_end, NULL),
		KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_latch_set_data_async(latch, "x", 1, KUSTOS_NOW,
				 NULL, NULL, NULL),
		KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_latch_hand_over_async(latch, NULL, KUSTOS_NOW,
				 NULL, NULL, NULL),
		KUSTOS_EINVAL);
	let_wait(false);
	kustos_latch_destroy(latch);
}
END_TEST

static void count_loss(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)latch;
	(void)hold;
	calls++;
}

START_TEST(any_number_but_none_asks_to_be_told)
{
	struct kustos_latch *latch = latches_begin("me", count_loss);

	ck_assert_int_eq(kustos_latch_state(latch), KUSTOS_LATCH_LEADS);
	kustos_latch_close(latch,
		_i == 1 ? KUSTOS_CLOSE_NOTIFY : KUSTOS_CLOSE_SILENT);
	ck_assert_int_eq(calls, _i);
	kustos_latch_destroy(latch);
}
END_TEST

static void ignore_risk(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	(void)hold;
}

static void ask_for_a_warning(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)latch;
	calls++;
	ck_assert_int_eq(kustos_hold_at_risk(hold, 1, ignore_risk, NULL),
		KUSTOS_OK);
}

/* The term's callbacks end before the loss is told, and again with it. */
START_TEST(the_warning_of_a_term_ends_with_it)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	struct kustos_latch *latch;

	o.on_gained = ask_for_a_warning;
	ck_assert_int_eq(kustos_latch_create(lone.client, LINE, &o, &latch),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_latch_start(latch), KUSTOS_OK);
	run_ms(200);
	ck_assert_int_eq(calls, 1);
	kustos_latch_close(latch, KUSTOS_CLOSE_SILENT);
	run_ms(200);
	ck_assert_ptr_null(lone.client->risks.first);
	kustos_latch_destroy(latch);
}
END_TEST

START_TEST(L29_what_was_refused_for_good_and_closed_is_closed)
{
	struct kustos_latch *latch = latches_begin("me", NULL);

	refuse_credentials();
	run_ms(100);
	ck_assert_int_eq(kustos_latch_state(latch), KUSTOS_LATCH_FAILED);
	ck_assert_int_eq(kustos_latch_error(latch), KUSTOS_EAUTH);
	kustos_latch_close(latch, KUSTOS_CLOSE_SILENT);
	ck_assert_int_eq(kustos_latch_state(latch), KUSTOS_LATCH_CLOSED);
	kustos_latch_destroy(latch);
}
END_TEST

/* If it were not closed, it would try again after a second. */
START_TEST(L13_who_was_closed_tries_no_more)
{
	refuses = true;
	struct kustos_latch *latch = latches_begin("me", NULL);

	ck_assert_int_eq(kustos_latch_error(latch), KUSTOS_ENOAUTH);
	kustos_latch_close(latch, KUSTOS_CLOSE_SILENT);
	refuses = false;
	run_ms(5000);
	ck_assert_int_eq(refused, 1);
	ck_assert_int_eq(made, 0);
	kustos_latch_destroy(latch);
}
END_TEST

/* The candidate is stopped, and resigns as its term cannot begin. */
static void give_up(void *arg, struct kustos_hold *hold)
{
	struct ku_candidate *c = *(struct ku_candidate **)arg;

	(void)hold;
	calls++;
	ku_candidate_stop(c, true);
	ku_candidate_resign(c, KUSTOS_ENOMEM);
}

START_TEST(L13_a_term_that_fails_after_a_stop_is_not_tried_again)
{
	struct ku_candidate *c;
	const struct ku_candidate_wish wish = {
		.rule = &ku_rule_lock,
		.leaf = "lock-",
		.gained = give_up,
		.arg = &c,
		.keeps = true,
	};

	ck_assert_int_eq(ku_candidate_create(lone.client, LINE, &wish, &c),
		KUSTOS_OK);
	ck_assert_int_eq(ku_candidate_start(c), KUSTOS_OK);
	run_ms(5000);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(made, 1);
	ku_candidate_destroy(c);
}
END_TEST

/* None of the client's threads could run during the pause; any of the questions
   may come first. */
START_TEST(S01_who_asks_after_a_pause_is_told_that_it_leads_no_more)
{
	struct sched *sched = &lone.bench.sched;

	ck_assert_int_eq(kustos_latch_term(latches.heir), 0);
	sched_pause(sched, LONE_MACHINE,
		sched->now_ns + 3 * LONE_TIMEOUT_MS * KU_NS_PER_MS);
	bench_run_ms(&lone.bench, 2 * LONE_TIMEOUT_MS);
	if (_i == 0)
		ck_assert_int_eq(kustos_latch_term(latches.leader), 0);
	if (_i == 1)
		ck_assert_int_eq(kustos_latch_leads(latches.leader), 0);
	ck_assert_int_eq(kustos_latch_state(latches.leader),
		KUSTOS_LATCH_WAITING);
}
END_TEST

START_TEST(U02_who_leads_while_the_connection_is_away_leads)
{
	for (int ms = 0; ms < LONE_TIMEOUT_MS &&
		kustos_latch_state(latches.leader) == KUSTOS_LATCH_LEADS;
		ms++)
		run_ms(1);
	ck_assert_int_eq(kustos_latch_state(latches.leader),
		KUSTOS_LATCH_UNSURE);
	ck_assert_int_eq(kustos_latch_leads(latches.leader), 1);
	ck_assert_int_ne(kustos_latch_term(latches.leader), 0);
}
END_TEST

static void count_term(void *arg, struct kustos_selector *s,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	(void)arg;
	(void)s;
	(void)hold;
	(void)cancel;
	calls++;
}

START_TEST(a_selector_refuses_what_it_cannot_use)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct kustos_selector *s = selector_make("me", count_term, NULL),
			       *other;

	o.lead = count_term;
	let_wait(true);
	ck_assert_int_eq(kustos_selector_create(lone.client, NULL, &o, &other),
		KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_selector_create(lone.client, LINE, &o, NULL),
		KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_selector_set_data_async(s, NULL, 1, KUSTOS_NOW,
				 NULL, ignore_end, NULL),
		KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_selector_set_data_async(s, "x", 1, KUSTOS_NOW,
				 NULL, NULL, NULL),
		KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_selector_hand_over_async(s, NULL, KUSTOS_NOW,
				 NULL, NULL, NULL),
		KUSTOS_EINVAL);
	let_wait(false);
	kustos_selector_destroy(s);
}
END_TEST

START_TEST(only_what_was_started_and_is_not_closed_is_queued_again)
{
	struct kustos_selector *s = selector_make("me", count_term, NULL);

	ck_assert_int_eq(kustos_selector_requeue(s), KUSTOS_EINVAL);
	run_ms(200);
	ck_assert_int_eq(made, 0);
	ck_assert_int_eq(kustos_selector_start(s), KUSTOS_OK);
	run_ms(200);
	selector_run();
	ck_assert_int_eq(calls, 1);
	kustos_selector_close(s);
	ck_assert_int_eq(kustos_selector_requeue(s), KUSTOS_ECLOSED);
	kustos_selector_destroy(s);
}
END_TEST

/* The selector's function has returned, and runs on no thread any more. */
START_TEST(who_has_led_does_not_lead)
{
	struct kustos_selector *s = selector_begin("me", count_term, NULL);

	selector_run();
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(kustos_selector_state(s), KUSTOS_SELECTOR_IDLE);
	let_wait(true);
	ck_assert_int_eq(kustos_selector_hand_over(s, NULL, KUSTOS_NOW, NULL),
		KUSTOS_ENOTHELD);
	let_wait(false);
	ck_assert_int_eq(kustos_selector_interrupt(s), KUSTOS_ENOTHELD);
	ck_assert_int_eq(kustos_selector_start(s), KUSTOS_OK);
	run_ms(200);
	ck_assert_int_eq(made, 1); /* only the first start lines up */
	kustos_selector_destroy(s);
}
END_TEST

/* First the clock says that the term is lost, and then the client has noticed
   it.  The function has not returned yet. */
START_TEST(S01_a_term_that_is_lost_is_lost_until_its_function_returns)
{
	struct kustos_selector *s = selector_begin("me", count_term, NULL);

	ck_assert_int_eq(kustos_selector_state(s), KUSTOS_SELECTOR_LEADS);
	model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
	bench_run_ms(&lone.bench, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(kustos_selector_state(s), KUSTOS_SELECTOR_LOST);
	ck_assert_int_eq(kustos_selector_leads(s), 0);
	run_ms(100);
	ck_assert_int_eq(kustos_selector_state(s), KUSTOS_SELECTOR_LOST);
	model_heal(lone.bench.model);
	run_ms(2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(kustos_selector_state(s), KUSTOS_SELECTOR_LOST);
	selector_run(); /* the function did not begin, so it leads again */
	ck_assert_int_eq(calls, 0);
	run_ms(2 * LONE_TIMEOUT_MS);
	selector_run();
	ck_assert_int_eq(calls, 1);
	kustos_selector_destroy(s);
}
END_TEST

static void close_it(void *arg, struct kustos_selector *s,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	(void)arg;
	(void)hold;
	calls++;
	kustos_selector_close(s);
	ck_assert_int_eq(kustos_cancel_fired(cancel), 1);
	ck_assert_int_eq(kustos_selector_state(s), KUSTOS_SELECTOR_CLOSED);
}

START_TEST(what_was_closed_in_its_function_is_closed)
{
	struct kustos_selector *s = selector_begin("me", close_it, NULL);

	selector_run();
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(kustos_selector_state(s), KUSTOS_SELECTOR_CLOSED);
	kustos_selector_destroy(s);
}
END_TEST

static void *close_elsewhere(void *arg)
{
	kustos_selector_close(arg);
	return NULL;
}

static bool is_waited_for(void)
{
	ku_lock(lone.client);
	bool waited_for = lone.client->callers > 0;
	ku_unlock(lone.client);
	return waited_for;
}

/* Another thread closes the selector, and does not return before this function:
   a client that is closed must wait for it. */
static void be_closed(void *arg, struct kustos_selector *s,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	(void)hold;
	ck_assert_int_eq(
		pthread_create((pthread_t *)arg, NULL, close_elsewhere, s), 0);
	while (kustos_selector_state(s) != KUSTOS_SELECTOR_CLOSED)
		sched_yield();
	ck_assert_int_eq(kustos_cancel_fired(cancel), 1);
	for (int i = 0; i < 1000; i++) {
		ck_assert(is_waited_for());
		sched_yield();
	}
	calls++;
}

START_TEST(who_closes_it_waits_for_its_function)
{
	pthread_t other;
	struct kustos_selector *s = selector_begin("me", be_closed, &other);

	selector_run();
	pthread_join(other, NULL);
	ck_assert_int_eq(calls, 1);
	ck_assert(!is_waited_for());
	kustos_selector_destroy(s);
}
END_TEST

/* It must not take a new place before its old one is gone. */
START_TEST(who_has_handed_over_stands_in_line_behind_the_heir)
{
	struct kustos_selector *s = selector_begin("me", count_term, NULL);
	struct ku_call *mine = selector_call;
	int end = -1;

	struct kustos_selector *heir = selector_begin("you", count_term, NULL);
	selector_call = mine;
	ck_assert_int_eq(kustos_selector_hand_over_async(s, "you",
				 KUSTOS_FOREVER, NULL, latches_ended, &end),
		KUSTOS_OK);
	run_ms(200);
	made_first = 0;
	selector_run(); /* it is over before the function begins */
	ck_assert_int_eq(made, 2);
	run_ms(500);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(made_first, 2);
	ck_assert_int_eq(made, 3);
	ck_assert_int_eq(kustos_selector_state(heir), KUSTOS_SELECTOR_LEADS);
	ck_assert_int_eq(kustos_selector_state(s), KUSTOS_SELECTOR_WAITING);
	selector_run();
	run_ms(500);
	selector_run();
	ck_assert_int_eq(calls, 2);
	kustos_selector_destroy(heir);
	kustos_selector_destroy(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("elections of a lone client");
	TCase *t = tcase_create("latches");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_latch_refuses_what_it_cannot_use);
	tcase_add_loop_test(t, any_number_but_none_asks_to_be_told, 0, 2);
	tcase_add_test(t, the_warning_of_a_term_ends_with_it);
	tcase_add_test(t, L29_what_was_refused_for_good_and_closed_is_closed);
	tcase_add_test(t, L13_who_was_closed_tries_no_more);
	tcase_add_test(t,
		L13_a_term_that_fails_after_a_stop_is_not_tried_again);
	suite_add_tcase(s, t);

	t = tcase_create("a latch without a connection");
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, latches_setup, latches_teardown);
	tcase_add_loop_test(t,
		S01_who_asks_after_a_pause_is_told_that_it_leads_no_more, 0, 3);
	tcase_add_test(t, U02_who_leads_while_the_connection_is_away_leads);
	suite_add_tcase(s, t);

	t = tcase_create("selectors");
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_selector_refuses_what_it_cannot_use);
	tcase_add_test(t,
		only_what_was_started_and_is_not_closed_is_queued_again);
	tcase_add_test(t, who_has_led_does_not_lead);
	tcase_add_test(t,
		S01_a_term_that_is_lost_is_lost_until_its_function_returns);
	tcase_add_test(t, what_was_closed_in_its_function_is_closed);
	tcase_add_test(t, who_closes_it_waits_for_its_function);
	tcase_add_test(t, who_has_handed_over_stands_in_line_behind_the_heir);
	suite_add_tcase(s, t);
	return unit_main(s);
}
