/*
 * test_line.c - answers and events reach a place in a line too late, or never,
 * in exactly the order that is dangerous.
 */
#include "line_impl.h"
#include "lone_late.h"
#include "model_impl.h"

#include "../unit/fault.h"
#include "../unit/unit.h"

#include <kustos/barrier.h>
#include <kustos/cancel.h>
#include <kustos/election.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(S04_what_a_former_handle_still_tells_ends_nothing)
{
	lone_line_ask();
	lone_line_check();
	late_expire();
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert_int_eq(kustos_client_state(lone.client),
		KUSTOS_STATE_CONNECTED);
	ck_assert_int_eq(first.opened, 2);
	lone_line_ask();
	lone_line_check();
	lone_line_give();
}
END_TEST

START_TEST(S04_what_a_former_session_is_still_answered_grants_nothing)
{
	first.event = NULL;
	first.withholds = true;
	first.kind = _i == 0 ? KU_ZK_CREATE : KU_ZK_CHILDREN;
	lone_line_ask();
	ck_assert_ptr_nonnull(first.done);
	ck_assert_ptr_null(lone.hold);
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 1);
	late_expire();
	lone_run_ms(&lone.bench, lone.client, 1000);
	lone_line_check();
	lone_line_give();
}
END_TEST

/* Without such a look it would wait for ever, unless the connection breaks. */
START_TEST(L08_who_is_never_told_of_an_event_looks_one_day)
{
	struct bench_reply rival = bench_create(&lone.bench, lone.raw,
		LINE "/lock-", "", KU_ZK_EPHEMERAL_SEQUENTIAL);

	lone_line_ask();
	model_forget_watches(lone.bench.model, 0);
	ck_assert_int_eq(bench_delete(&lone.bench, lone.raw, rival.path, -1).rc,
		KU_ZK_OK);
	lone_run_ms(&lone.bench, lone.client, 20000);
	ck_assert_ptr_null(lone.hold);
	lone_run_ms(&lone.bench, lone.client, 45000);
	lone_line_check();
	lone_line_give();
}
END_TEST

START_TEST(L08_so_does_who_waits_for_a_node_that_all_fight_for)
{
	struct kustos_simple *simple;

	simple = lone_line_ask_simple(lone_line_granted, NULL);
	lone_run_ms(&lone.bench, lone.client, 100);
	model_forget_watches(lone.bench.model, 0);
	ck_assert_int_eq(
		bench_delete(&lone.bench, lone.raw, LINE "/one", -1).rc,
		KU_ZK_OK);
	lone_run_ms(&lone.bench, lone.client, 20000);
	ck_assert_ptr_null(lone.hold);
	lone_run_ms(&lone.bench, lone.client, 45000);
	lone_line_check();
	lone_line_give();
	kustos_simple_destroy(simple);
}
END_TEST

/* The client reconnects, and the server does not set its watches again. */
static void forget_watches(void)
{
	first.event = NULL;
	model_set_odd_faults(lone.bench.model, 1000000, 0);
	model_cut(lone.bench.model, LONE_MACHINE, false);
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert(ku_session_ready(lone.client));
}

/* A holder reads its node on each new connection. */
START_TEST(L08_who_holds_hears_though_no_watch_was_set_again)
{
	struct kustos_simple *simple = NULL;
	char path[128];

	if (_i == 0) {
		lone_line_ask();
	} else {
		simple = lone_line_ask_simple(lone_line_granted, NULL);
		lone_run_ms(&lone.bench, lone.client, 100);
		ck_assert_int_eq(
			bench_delete(&lone.bench, lone.raw, LINE "/one", -1).rc,
			KU_ZK_OK);
		lone_run_ms(&lone.bench, lone.client, 100);
	}
	lone_line_check();
	lone_run_ms(&lone.bench, lone.client, 1000);
	forget_watches();
	lone_line_check();
	snprintf(path, sizeof(path), "%s", kustos_hold_path(lone.hold));
	ck_assert_int_eq(bench_delete(&lone.bench, lone.raw, path, -1).rc,
		KU_ZK_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_hold_state(lone.hold), KUSTOS_HOLD_LOST);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
	lone_run_ms(&lone.bench, lone.client, 100);
	kustos_simple_destroy(simple);
}
END_TEST

/* A waiter looks now and then, and sees that its node is not in the line. */
START_TEST(L08_who_waits_hears_that_its_own_node_is_gone)
{
	struct bench_reply rival = bench_create(&lone.bench, lone.raw,
		LINE "/lock-", "", KU_ZK_EPHEMERAL_SEQUENTIAL);
	char path[128] = "";

	lone_line_ask();
	ck_assert_ptr_null(lone.hold);
	const struct bench_reply list = bench_read(&lone.bench, lone.raw,
		KU_ZK_CHILDREN, LINE, false);
	ck_assert_int_eq(list.name_count, 2);
	for (int i = 0; i < 2; i++)
		if (strstr(rival.path, list.names[i]) == NULL)
			snprintf(path, sizeof(path), LINE "/%s", list.names[i]);
	if (_i == 0)
		forget_watches();
	else
		model_forget_watches(lone.bench.model, 0);
	ck_assert_int_eq(bench_delete(&lone.bench, lone.raw, path, -1).rc,
		KU_ZK_OK);
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 1);
	lone_run_ms(&lone.bench, lone.client, 65000);
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 2);
	ck_assert_int_eq(bench_delete(&lone.bench, lone.raw, rival.path, -1).rc,
		KU_ZK_OK);
	lone_run_ms(&lone.bench, lone.client, 1000);
	lone_line_check();
	lone_line_give();
}
END_TEST

static void canceled(void *arg, enum kustos_err err, struct kustos_hold *got)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_ECANCELED);
	ck_assert_ptr_null(got);
}

/* The node changes just before a waiter looks at it again.  The waiter gets the
   event, and gives up, before the look is answered.  The look then leaves a
   watch at the server that no client code wants. */
START_TEST(P05_a_watch_of_who_gave_up_meanwhile_is_taken_off)
{
	struct kustos_simple *simple;
	struct kustos_cancel *cancel;

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	simple = lone_line_ask_simple(canceled, cancel);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_uint_eq(lone.bench.model->servers[0].watches.count, 1);
	first.delays = true;
	for (int ms = 0; ms < 65000 && first.read.path == NULL; ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_ptr_nonnull(first.read.path);
	ck_assert_int_eq(
		bench_set(&lone.bench, lone.raw, LINE "/one", "x", -1).rc,
		KU_ZK_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	kustos_cancel_fire(cancel);
	ck_assert_int_eq(
		lone_submit(first.zk, &first.read, first.done, first.done_arg),
		KU_ZK_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_uint_eq(lone.bench.model->servers[0].watches.count, 0);
	ck_assert_ptr_null(lone.client->watches.entries);
	kustos_simple_destroy(simple);
	kustos_cancel_destroy(cancel);
	ck_assert_int_eq(
		bench_delete(&lone.bench, lone.raw, LINE "/one", -1).rc,
		KU_ZK_OK);
}
END_TEST

static void nobody_comes(void *arg, enum kustos_err err)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_ECANCELED);
}

/* Another object's watch is to be removed at the server after the reconnect.
   Meanwhile a read that nobody wants fails. */
START_TEST(P05_a_watch_that_is_to_be_taken_off_outlives_an_unwanted_read)
{
	const struct ku_zk_reply failed = { .rc = KU_ZK_CONNECTIONLOSS,
		.len = -1 };
	struct kustos_barrier *barrier;
	struct kustos_simple *simple;
	struct kustos_cancel *cancels[2];

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(kustos_cancel_create(&cancels[i]), KUSTOS_OK);
	ck_assert_int_eq(bench_create(&lone.bench, lone.raw, LINE "/one", "",
				 KU_ZK_EPHEMERAL)
				 .rc,
		KU_ZK_OK);
	ck_assert_int_eq(
		kustos_barrier_create(lone.client, LINE "/one", NULL, &barrier),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_barrier_wait_async(barrier, KUSTOS_FOREVER,
				 cancels[0], nobody_comes, NULL),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_uint_eq(lone.bench.model->servers[0].watches.count, 1);
	first.delays = true;
	ck_assert_int_eq(
		kustos_simple_create(lone.client, LINE "/one", NULL, &simple),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_simple_acquire_async(simple, KUSTOS_FOREVER,
				 cancels[1], canceled, NULL),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_ptr_nonnull(first.read.path);
	kustos_cancel_fire(cancels[1]);
	model_cut(lone.bench.model, LONE_MACHINE, true);
	while (ku_session_ready(lone.client))
		lone_run_ms(&lone.bench, lone.client, 1);
	kustos_cancel_fire(cancels[0]);
	lone_run_ms(&lone.bench, lone.client, 1);
	first.done(first.done_arg, &failed);
	ck_assert(!ku_session_ready(lone.client));
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert(ku_session_ready(lone.client));
	ck_assert_uint_eq(lone.client->counters.sessions, 1);
	ck_assert_ptr_null(lone.client->watches.entries);
	ck_assert_uint_eq(lone.bench.model->servers[0].watches.count, 0);
	kustos_simple_destroy(simple);
	kustos_barrier_destroy(barrier);
	for (int i = 0; i < 2; i++)
		kustos_cancel_destroy(cancels[i]);
	ck_assert_int_eq(
		bench_delete(&lone.bench, lone.raw, LINE "/one", -1).rc,
		KU_ZK_OK);
}
END_TEST

static void refused(void *arg, enum kustos_err err, struct kustos_hold *got)
{
	ck_assert_int_eq(err, KUSTOS_ECLOSED);
	ck_assert_ptr_null(got);
	*(bool *)arg = true;
}

/* The session is over, and there is no server: whatever was not sent, there is
   nothing to wait for. */
START_TEST(a_listing_that_cannot_be_sent_holds_up_no_close)
{
	bool told = false, gone = false;

	first.zk = NULL; /* it has nothing to tell */
	lone.client->env.in_flight = 1;
	ck_assert_int_eq(kustos_mutex_acquire_async(lone.mutex, KUSTOS_FOREVER,
				 NULL, refused, &told),
		KUSTOS_OK);
	ck_assert_uint_eq(lone.client->wire.waiting, 1);
	ck_assert(model_expire(lone.bench.model, LONE_MACHINE));
	bench_run_ms(&lone.bench, REOPEN_MS);
	ck_assert_ptr_null(lone.client->session.handle);
	model_server_stop(lone.bench.model, 0);
	kustos_mutex_destroy(lone.mutex);
	ku_client_close_start(lone.client, KUSTOS_FOREVER, &gone);
	for (int i = 0; i < CONNECT_MS && !gone; i++) {
		(void)ku_client_step(lone.client);
		bench_run_ms(&lone.bench, 1);
	}
	ck_assert(gone);
	ck_assert(told);
	model_server_start(lone.bench.model, 0);
	lone.client = lone_open(&lone.bench, &late_api);
	ck_assert_ptr_nonnull(lone.client);
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert_int_eq(
		kustos_mutex_create(lone.client, LINE, NULL, &lone.mutex),
		KUSTOS_OK);
}
END_TEST

static void ask_and_withhold_the_listing(void)
{
	first.event = NULL;
	first.withholds = true;
	first.kind = KU_ZK_CHILDREN;
	lone_line_ask();
	ck_assert_ptr_nonnull(first.done);
	ck_assert_int_eq(first.reply.name_count, 1);
}

/* The line is removed before the client has listed it.  When the client learns
   that, memory is short. */
START_TEST(L21_a_line_that_was_removed_is_made_anew_though_memory_is_short)
{
	const struct ku_zk_reply missing = { .rc = KU_ZK_NONODE, .len = -1 };
	char path[128];

	ask_and_withhold_the_listing();
	snprintf(path, sizeof(path), LINE "/%s", first.reply.path);
	ck_assert_int_eq(bench_delete(&lone.bench, lone.raw, path, -1).rc,
		KU_ZK_OK);
	ck_assert_int_eq(bench_delete(&lone.bench, lone.raw, LINE, -1).rc,
		KU_ZK_OK);
	fault_after(0);
	first.done(first.done_arg, &missing);
	ck_assert_int_eq(fault_end(), 1);
	lone_run_ms(&lone.bench, lone.client, 1000);
	lone_line_check();
	lone_line_give();
}
END_TEST

/* If a listing is wrong there is a second node, but not for long. */
START_TEST(L05_a_node_that_a_listing_leaves_out_is_deleted)
{
	const struct ku_zk_reply nobody = { .stat = &first.reply.stat,
		.len = -1 };

	ask_and_withhold_the_listing();
	first.done(first.done_arg, &nobody);
	lone_run_ms(&lone.bench, lone.client, 1000);
	lone_line_check();
	lone_line_give();
}
END_TEST

static const struct ku_zk_reply lost = { .rc = KU_ZK_CONNECTIONLOSS,
	.len = -1 };

static void others(bool there)
{
	for (int i = 0; i <= KU_LINE_LONG; i++) {
		char path[32];

		snprintf(path, sizeof(path), LINE "/other-%d", i);
		if (there)
			lone_make(&lone.bench, lone.raw, path);
		else
			bench_delete(&lone.bench, lone.raw, path, -1);
	}
}

/* The node is kept until the client knows whether it may leave a proof. */
START_TEST(who_tries_does_not_find_the_node_that_it_has_given_back)
{
	others(true);
	first.withholds = true;
	first.kind = KU_ZK_GET;
	lone_line_ask();
	lone_line_give();
	ck_assert_ptr_nonnull(first.done);
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE),
		KU_LINE_LONG + 2);
	lone.hold = NULL;
	ck_assert_int_eq(kustos_mutex_acquire_async(lone.mutex, KUSTOS_NOW,
				 NULL, lone_line_granted, NULL),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_ptr_nonnull(lone.hold);
	first.done(first.done_arg, &lost);
	others(false);
	lone_line_check();
	lone_line_give();
}
END_TEST

static void said(void *arg, enum kustos_err err)
{
	*(int *)arg = (int)err;
}

/* The answer to a write is lost, and memory is short when the client reads what
   the node says.  The write was sent, so its outcome is unknown. */
START_TEST(S20_a_write_that_memory_is_too_short_to_look_for_is_not_known)
{
	const struct ku_zk_reply data = { .stat = &first.reply.stat,
		.data = "else",
		.len = 4 };
	struct kustos_latch *latch;
	int end = -1;

	first.event = NULL;
	ck_assert_int_eq(kustos_latch_create(lone.client, LINE, NULL, &latch),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_latch_start(latch), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 200);
	first.withholds = true;
	first.kind = KU_ZK_SET;
	ck_assert_int_eq(kustos_latch_set_data_async(latch, "else", 4,
				 KUSTOS_FOREVER, NULL, said, &end),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ku_zk_done_fn *done = first.done;
	ck_assert_ptr_nonnull(done);
	first.done = NULL;
	first.kind = KU_ZK_GET;
	done(first.done_arg, &lost);
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert_ptr_nonnull(first.done);
	ck_assert_int_eq(first.reply.stat.version, 1);
	fault_after(0);
	first.done(first.done_arg, &data);
	ck_assert_int_eq(fault_end(), 1);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(end, KUSTOS_EUNKNOWN);
	kustos_latch_destroy(latch);
	lone_run_ms(&lone.bench, lone.client, 100);
}
END_TEST

static void count(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(hold, lone.hold);
	++*(int *)arg;
}

/* The next server grants a shorter timeout, and answers nothing else. */
START_TEST(S01_a_loss_is_told_by_the_timeout_of_the_last_connection)
{
	const int less_ms = LONE_TIMEOUT_MS / 4;
	int losses = 0;

	first.event = NULL;
	lone_line_ask();
	lone_line_check();
	ck_assert_int_eq(kustos_hold_on_lost(lone.hold, count, &losses),
		KUSTOS_OK);
	first.granted_ms = less_ms;
	first.withholds = true;
	first.kind = KU_ZK_SYNC;
	model_cut(lone.bench.model, LONE_MACHINE, true);
	for (int ms = 0; ms < less_ms && first.done == NULL; ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(lone.client->session.timeout_ms, less_ms);
	ck_assert_int_eq(losses, 0);
	lone_run_ms(&lone.bench, lone.client, less_ms);
	ck_assert_int_eq(losses, 1);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
	lone_run_ms(&lone.bench, lone.client, 3 * LONE_TIMEOUT_MS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("a line in the simulator");
	TCase *t = tcase_create("too late, or never");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, late_setup, lone_line_close);
	tcase_add_test(t, S04_what_a_former_handle_still_tells_ends_nothing);
	tcase_add_loop_test(t,
		S04_what_a_former_session_is_still_answered_grants_nothing, 0,
		2);
	tcase_add_test(t, L08_who_is_never_told_of_an_event_looks_one_day);
	tcase_add_test(t, L08_so_does_who_waits_for_a_node_that_all_fight_for);
	tcase_add_loop_test(t,
		L08_who_holds_hears_though_no_watch_was_set_again, 0, 2);
	tcase_add_loop_test(t, L08_who_waits_hears_that_its_own_node_is_gone, 0,
		2);
	tcase_add_test(t, P05_a_watch_of_who_gave_up_meanwhile_is_taken_off);
	tcase_add_test(t,
		P05_a_watch_that_is_to_be_taken_off_outlives_an_unwanted_read);
	tcase_add_test(t, a_listing_that_cannot_be_sent_holds_up_no_close);
	tcase_add_test(t,
		L21_a_line_that_was_removed_is_made_anew_though_memory_is_short);
	tcase_add_test(t, L05_a_node_that_a_listing_leaves_out_is_deleted);
	tcase_add_test(t,
		who_tries_does_not_find_the_node_that_it_has_given_back);
	tcase_add_test(t,
		S20_a_write_that_memory_is_too_short_to_look_for_is_not_known);
	tcase_add_test(t,
		S01_a_loss_is_told_by_the_timeout_of_the_last_connection);
	suite_add_tcase(s, t);
	return unit_main(s);
}
