/*
 * test_line_limits.c - holds and waits when nothing more may be sent or
 * watched, and when they learn of something too late.
 */
#include "line_impl.h"
#include "lone_line.h"

#include "../unit/unit.h"

#include <kustos/cancel.h>
#include <stdio.h>
#include <string.h>

static void setup(void)
{
	lone_line_open(&ku_zk_sim);
}

static void nothing(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	(void)result;
	ck_assert_int_eq(err, KUSTOS_OK);
}

/* Make the next request wait behind a hundred reads. */
static void fill_the_wire(void)
{
	lone.client->env.in_flight = 1;
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(kustos_get_async(lone.client, LINE,
					 KUSTOS_FOREVER, NULL, nothing, NULL),
			KUSTOS_OK);
}

static bool watches_own_next(void)
{
	const struct ku_request *last = lone.client->wire.last;

	return last != NULL &&
		strcmp(last->what.path, kustos_hold_path(lone.hold)) == 0;
}

/* If it were counted, it would be until the next reconnect; and after many of
   these no watch would be allowed any more. */
START_TEST(L07_a_watch_that_was_never_sent_is_not_counted)
{
	lone.hold = NULL;
	ck_assert_int_eq(kustos_mutex_acquire_async(lone.mutex, KUSTOS_FOREVER,
				 NULL, lone_line_granted, NULL),
		KUSTOS_OK);
	for (int i = 0; i < 100 && lone.hold == NULL; i++)
		lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_ptr_nonnull(lone.hold);
	fill_the_wire();
	for (int i = 0; i < 20 && !watches_own_next(); i++)
		lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert(watches_own_next());
	ck_assert_uint_gt(lone.client->footprint.watch_bytes, 0);
	lone_line_give();
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert_uint_eq(lone.client->wire.waiting, 0);
	ck_assert_uint_eq(lone.client->footprint.watch_bytes, 0);
}
END_TEST

/* Pretend that so much is watched that no further watch is allowed. */
static void watch_no_more(void)
{
	lone.client->footprint.watch_bytes += KU_FOOTPRINT_LIMIT;
}

static void watch_again(void)
{
	lone.client->footprint.watch_bytes -= KU_FOOTPRINT_LIMIT;
}

START_TEST(L07_who_may_watch_nothing_reads_the_node_that_all_fight_for)
{
	struct kustos_simple *simple;

	watch_no_more();
	simple = lone_line_ask_simple(lone_line_granted, NULL);
	lone_run_ms(&lone.bench, lone.client, 3000);
	ck_assert_ptr_null(lone.hold);
	ck_assert_int_eq(
		bench_delete(&lone.bench, lone.raw, LINE "/one", -1).rc,
		KU_ZK_OK);
	lone_run_ms(&lone.bench, lone.client, 3000);
	lone_line_check();
	lone_line_give();
	kustos_simple_destroy(simple);
	watch_again();
}
END_TEST

START_TEST(S09_who_may_watch_nothing_reads_what_it_holds)
{
	watch_no_more();
	lone_line_ask();
	lone_line_check();
	lone_run_ms(&lone.bench, lone.client, 3000);
	lone_line_check();
	lone_line_delete();
	lone_run_ms(&lone.bench, lone.client, 3000);
	ck_assert_int_eq(kustos_hold_state(lone.hold), KUSTOS_HOLD_LOST);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
	watch_again();
}
END_TEST

/* A server with too many requests refuses to remove a watch, the first two
   times. */
static int unwatches;

static int submit_throttled(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	if (request->kind == KU_ZK_UNWATCH && ++unwatches <= 2)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void canceled(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_ECANCELED);
	ck_assert_ptr_null(hold);
}

START_TEST(P03_a_watch_that_a_server_would_not_take_off_is_taken_off_later)
{
	static struct ku_zk_api api; /* used until the client is closed */
	struct kustos_cancel *cancel;

	lone_line_close();
	api = ku_zk_sim;
	api.submit = submit_throttled;
	lone_line_open(&api);
	unwatches = 0;
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	struct kustos_simple *simple = lone_line_ask_simple(canceled, cancel);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_uint_gt(lone.client->footprint.watch_bytes, 0);
	kustos_cancel_fire(cancel);
	lone_run_ms(&lone.bench, lone.client, LONE_TIMEOUT_MS / 2);
	ck_assert_int_ge(unwatches, 3);
	ck_assert_uint_eq(lone.client->footprint.watch_bytes, 0);
	ck_assert_int_eq(
		bench_delete(&lone.bench, lone.raw, LINE "/one", -1).rc,
		KU_ZK_OK);
	kustos_simple_destroy(simple);
	kustos_cancel_destroy(cancel);
}
END_TEST

static void count(void *arg, struct kustos_hold *of)
{
	ck_assert_ptr_eq(of, lone.hold);
	++*(int *)arg;
}

/* The first warning is due at once.  Before it is given, another one replaces
   it, which is not due yet. */
START_TEST(a_warning_that_another_has_replaced_is_not_given)
{
	int early = 0, late = 0;

	lone_line_ask();
	lone_line_check();
	ck_assert_int_eq(
		kustos_hold_at_risk(lone.hold, LONE_TIMEOUT_MS, count, &early),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_at_risk(lone.hold, 1, count, &late),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert_int_eq(early, 0);
	ck_assert_int_eq(late, 0);
	ck_assert_int_eq(
		kustos_hold_at_risk(lone.hold, LONE_TIMEOUT_MS, count, &late),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert_int_eq(early, 0);
	ck_assert_int_eq(late, 1);
	lone_line_give();
}
END_TEST

/* After an outage the server does not end the old session at once, so its node
   still stands first in the line.  Writes that were sent under the old hold may
   still arrive. */
START_TEST(S02_a_place_does_not_follow_what_another_session_has_left)
{
	char path[128];
	struct kustos_stat stat;

	model_set_created(lone.bench.model, LINE, 1000000);
	lone_line_ask();
	lone_line_check();
	ck_assert_uint_lt(strlen(kustos_hold_path(lone.hold)), sizeof(path));
	strcpy(path, kustos_hold_path(lone.hold));
	model_server_stop(lone.bench.model, 0);
	lone_run_ms(&lone.bench, lone.client, 3 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
	lone_line_ask();
	model_server_start(lone.bench.model, 0);
	for (int ms = 0; ms < 3 * LONE_TIMEOUT_MS && lone.hold == NULL; ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert(!model_stat(lone.bench.model, path, &stat));
	lone_line_check();
	lone_line_give();
}
END_TEST

static void made(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)result;
	ck_assert_int_eq(err, KUSTOS_OK);
	--*(int *)arg;
}

/* The nodes' names become longer than what was asked for: by the number, and by
   the GUID if they are protected. */
START_TEST(P10_what_is_asked_for_counts_with_the_name_that_it_will_have)
{
	const int flags = KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_SEQUENTIAL |
		(_i == 0 ? 0 : KUSTOS_CREATE_PROTECTED);
	int asked = 0;

	while (kustos_create_async(lone.client, LINE "/x", NULL, 0, flags,
		       KUSTOS_FOREVER, NULL, made, &asked) == KUSTOS_OK)
		asked++;
	ck_assert_int_gt(asked, 1000);
	for (int i = 0; i < 1000 && asked > 0; i++)
		lone_run_ms(&lone.bench, lone.client, 10);
	ck_assert_int_eq(asked, 0);
	ck_assert_uint_le(lone.client->footprint.ephemeral_bytes,
		KU_FOOTPRINT_LIMIT);
	ck_assert_uint_eq(lone.client->footprint.asked_bytes, 0);
	ck_assert(model_expire(lone.bench.model, LONE_MACHINE));
	lone_run_ms(&lone.bench, lone.client, 10000);
}
END_TEST

static void fill(bool on)
{
	char path[32];

	for (int i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), LINE "/other-%02d", i);
		int rc = on ? bench_create(&lone.bench, lone.raw, path, "",
				      KU_ZK_PERSISTENT)
				      .rc
			    : bench_delete(&lone.bench, lone.raw, path, -1).rc;
		ck_assert_int_eq(rc, KU_ZK_OK);
	}
}

/* In a long line the deletion is a transaction that leaves a proof. */
START_TEST(a_deletion_that_was_not_sent_is_over_with_its_session)
{
	fill(true);
	lone_line_ask();
	ck_assert_ptr_nonnull(lone.hold);
	fill_the_wire();
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_OK);
	ck_assert_int_eq(lone.client->wire.last->what.kind, KU_ZK_MULTI);
	ck_assert_uint_ne(ku_lines_oldest_leaving(&lone.client->lines),
		UINT64_MAX);
	ck_assert(model_expire(lone.bench.model, LONE_MACHINE));
	bench_run_ms(&lone.bench, LONE_TIMEOUT_MS);
	ck_assert_ptr_null(lone.client->session.handle);
	ck_assert_uint_eq(ku_lines_oldest_leaving(&lone.client->lines),
		UINT64_MAX);
	lone_run_ms(&lone.bench, lone.client, 10000);
	ck_assert_uint_eq(lone.client->wire.waiting, 0);
	fill(false);
}
END_TEST

static void add(void *arg, struct kustos_hold *of)
{
	(void)of;
	++*(int *)arg;
}

static int asked;

static void ask_state(struct ku_place *place)
{
	(void)place;
	asked++;
	ck_assert_int_eq(ku_session_state(lone.client), KUSTOS_STATE_LOST);
}

/* The loss is noticed while the holds are told something else, at the first of
   them. */
START_TEST(S01_a_loss_that_is_seen_amid_a_round_is_told_of_all_holds)
{
	struct kustos_hold *first;
	struct kustos_mutex *other;
	int losses = 0;

	lone_line_ask();
	first = lone.hold;
	lone.hold = NULL;
	ck_assert_int_eq(
		kustos_mutex_create(lone.client, LINE "/two", NULL, &other),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_mutex_acquire_async(other, KUSTOS_FOREVER, NULL,
				 lone_line_granted, NULL),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_ptr_nonnull(lone.hold);
	ck_assert_int_eq(kustos_hold_on_lost(first, add, &losses), KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_on_lost(lone.hold, add, &losses),
		KUSTOS_OK);
	model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
	sched_pause(&lone.bench.sched, LONE_MACHINE,
		lone.bench.sched.now_ns + LONE_TIMEOUT_MS * KU_NS_PER_MS);
	bench_run_ms(&lone.bench, LONE_TIMEOUT_MS - 1);
	ku_lock(lone.client);
	ck_assert_int_eq(lone.client->session.state, KUSTOS_STATE_CONNECTED);
	asked = 0;
	ku_lines_each(lone.client, ask_state);
	ck_assert_int_eq(asked, 2);
	ku_unlock(lone.client);
	lone_run_ms(&lone.bench, lone.client, 2);
	ck_assert_int_eq(losses, 2);
	model_heal(lone.bench.model);
	lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(kustos_hold_release(first), KUSTOS_ELOST);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
	kustos_mutex_destroy(other);
	/* The line may have gone when it was empty. */
	(void)bench_delete(&lone.bench, lone.raw, LINE "/two", -1);
}
END_TEST

/* The lease ends before the request that is under way is answered, and answers
   do not renew it; let_renew() lets them do so again. */
static void let_lapse(void)
{
	ku_session_set_state(lone.client, KUSTOS_STATE_LOST);
	lone.client->session.greeted = false;
}

static void let_renew(void)
{
	lone.client->session.greeted = true;
}

/* The lease has ended when the answer to the creation comes, and again when the
   answer to the look comes.  Neither can grant the lock.  But the node is
   there, and others wait for it to go. */
START_TEST(S01_what_is_seen_after_the_lease_is_granted_with_the_next_one)
{
	int64_t connection = lone.client->session.connection;
	struct kustos_simple *simple;
	const struct ku_place *place;

	ck_assert_int_eq(
		kustos_simple_create(lone.client, LINE "/one", NULL, &simple),
		KUSTOS_OK);
	lone.hold = NULL;
	ck_assert_int_eq(kustos_simple_acquire_async(simple, KUSTOS_FOREVER,
				 NULL, lone_line_granted, NULL),
		KUSTOS_OK);
	place = ku_ring_place(lone.client->lines.here.next);
	let_lapse();
	for (int i = 0; i < 100 && place->path == NULL; i++)
		lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(place->state, KU_PLACE_LOOKING);
	let_renew();
	for (int i = 0; i < 5000 && place->own == NULL; i++) {
		bench_run_ms(&lone.bench, 1);
		(void)ku_client_step(lone.client);
	}
	ck_assert_ptr_nonnull(place->own);
	let_lapse();
	lone_run_ms(&lone.bench, lone.client, 10);
	ck_assert(!ku_request_busy(&place->own->request));
	ck_assert_ptr_null(lone.hold);
	let_renew();
	lone_run_ms(&lone.bench, lone.client, LONE_TIMEOUT_MS);
	ck_assert_int_eq(lone.client->session.connection, connection);
	lone_line_check();
	lone_line_give();
	kustos_simple_destroy(simple);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("a line in the simulator, limits");
	TCase *t = tcase_create("limits");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, lone_line_close);
	tcase_add_test(t, L07_a_watch_that_was_never_sent_is_not_counted);
	tcase_add_test(t,
		L07_who_may_watch_nothing_reads_the_node_that_all_fight_for);
	tcase_add_test(t, S09_who_may_watch_nothing_reads_what_it_holds);
	tcase_add_test(t,
		P03_a_watch_that_a_server_would_not_take_off_is_taken_off_later);
	tcase_add_test(t, a_warning_that_another_has_replaced_is_not_given);
	tcase_add_test(t,
		S02_a_place_does_not_follow_what_another_session_has_left);
	tcase_add_test(t,
		a_deletion_that_was_not_sent_is_over_with_its_session);
	tcase_add_test(t,
		S01_a_loss_that_is_seen_amid_a_round_is_told_of_all_holds);
	tcase_add_test(t,
		S01_what_is_seen_after_the_lease_is_granted_with_the_next_one);
	tcase_add_loop_test(t,
		P10_what_is_asked_for_counts_with_the_name_that_it_will_have, 0,
		2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
