/*
 * test_line_limits.c - a hold and a wait at the limits of what may be sent and
 * watched, and what is told of them too late.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/mutex.h>
#include <kustos/simple.h>

#include <string.h>

#define LINE "/line"

static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct kustos_mutex *mutex;
static struct kustos_hold *hold;

static void setup(void)
{
	struct model_config config;

	model_config_init(&config);
	bench_init(&bench, &config);
	raw = bench_open(&bench, -1, LONE_TIMEOUT_MS);
	ck_assert_int_eq(
		bench_create(&bench, raw, LINE, "", KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
	client = lone_open(&bench, &ku_zk_sim);
	ck_assert_ptr_nonnull(client);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(kustos_mutex_create(client, LINE, NULL, &mutex),
		KUSTOS_OK);
}

static void teardown(void)
{
	kustos_mutex_destroy(mutex);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(model_child_count(bench.model, LINE), 0);
	ck_assert_int_eq(bench.broken, 0);
	bench_free(&bench);
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *got)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_OK);
	hold = got;
}

static void ask(void)
{
	hold = NULL;
	ck_assert_int_eq(kustos_mutex_acquire_async(mutex, KUSTOS_FOREVER, NULL,
				 granted, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
}

/* It is granted, and its node is there, of the session of now, alone. */
static void check_hold(void)
{
	struct kustos_stat stat;

	ck_assert_ptr_nonnull(hold);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	ck_assert(model_stat(bench.model, kustos_hold_path(hold), &stat));
	ck_assert(stat.czxid == kustos_hold_token(hold));
	ck_assert(stat.ephemeral_owner == client->session.id);
	ck_assert_int_eq(model_child_count(bench.model, LINE), 1);
}

static void give_back(void)
{
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
}

static void nothing(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	(void)result;
	ck_assert_int_eq(err, KUSTOS_OK);
}

static bool watches_own_next(void)
{
	const struct ku_request *last = client->wire.last;

	return last != NULL &&
		strcmp(last->what.path, kustos_hold_path(hold)) == 0;
}

/* It would be counted until the next reconnect, and after enough of them nothing
   may be watched any more. */
START_TEST(L07_a_watch_that_was_never_sent_is_not_counted)
{
	hold = NULL;
	ck_assert_int_eq(kustos_mutex_acquire_async(mutex, KUSTOS_FOREVER, NULL,
				 granted, NULL),
		KUSTOS_OK);
	for (int i = 0; i < 100 && hold == NULL; i++)
		lone_run_ms(&bench, client, 1);
	ck_assert_ptr_nonnull(hold);
	client->env.in_flight = 1;
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(kustos_get_async(client, LINE, KUSTOS_FOREVER,
					 NULL, nothing, NULL),
			KUSTOS_OK);
	for (int i = 0; i < 20 && !watches_own_next(); i++)
		lone_run_ms(&bench, client, 1);
	ck_assert(watches_own_next());
	ck_assert_uint_gt(client->footprint.watch_bytes, 0);
	give_back();
	lone_run_ms(&bench, client, 1000);
	ck_assert_uint_eq(client->wire.waiting, 0);
	ck_assert_uint_eq(client->footprint.watch_bytes, 0);
}
END_TEST

/* So much is watched already that nothing more may be. */
static void watch_no_more(void)
{
	client->footprint.watch_bytes += KU_FOOTPRINT_LIMIT;
}

static void watch_again(void)
{
	client->footprint.watch_bytes -= KU_FOOTPRINT_LIMIT;
}

START_TEST(L07_who_may_watch_nothing_reads_the_node_that_all_fight_for)
{
	struct kustos_simple *simple;

	watch_no_more();
	ck_assert_int_eq(
		kustos_simple_create(client, LINE "/one", NULL, &simple),
		KUSTOS_OK);
	ck_assert_int_eq(
		bench_create(&bench, raw, LINE "/one", "", KU_ZK_EPHEMERAL).rc,
		KU_ZK_OK);
	hold = NULL;
	ck_assert_int_eq(kustos_simple_acquire_async(simple, KUSTOS_FOREVER,
				 NULL, granted, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 3000);
	ck_assert_ptr_null(hold);
	ck_assert_int_eq(bench_delete(&bench, raw, LINE "/one", -1).rc,
		KU_ZK_OK);
	lone_run_ms(&bench, client, 3000);
	check_hold();
	give_back();
	kustos_simple_destroy(simple);
	watch_again();
}
END_TEST

START_TEST(S09_who_may_watch_nothing_reads_what_it_holds)
{
	watch_no_more();
	ask();
	check_hold();
	lone_run_ms(&bench, client, 3000);
	check_hold();
	ck_assert_int_eq(
		bench_delete(&bench, raw, kustos_hold_path(hold), -1).rc,
		KU_ZK_OK);
	lone_run_ms(&bench, client, 3000);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_LOST);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_ELOST);
	watch_again();
}
END_TEST

static void count(void *arg, struct kustos_hold *of)
{
	ck_assert_ptr_eq(of, hold);
	++*(int *)arg;
}

/* The first is due at once, and has not been called when another takes its place,
   for which it is too early. */
START_TEST(a_warning_that_another_has_replaced_is_not_given)
{
	int early = 0, late = 0;

	ask();
	check_hold();
	ck_assert_int_eq(
		kustos_hold_at_risk(hold, LONE_TIMEOUT_MS, count, &early),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_at_risk(hold, 1, count, &late), KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(early, 0);
	ck_assert_int_eq(late, 0);
	ck_assert_int_eq(
		kustos_hold_at_risk(hold, LONE_TIMEOUT_MS, count, &late),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(early, 0);
	ck_assert_int_eq(late, 1);
	give_back();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("a line in the simulator, limits");
	TCase *t = tcase_create("limits");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, L07_a_watch_that_was_never_sent_is_not_counted);
	tcase_add_test(t,
		L07_who_may_watch_nothing_reads_the_node_that_all_fight_for);
	tcase_add_test(t, S09_who_may_watch_nothing_reads_what_it_holds);
	tcase_add_test(t, a_warning_that_another_has_replaced_is_not_given);
	suite_add_tcase(s, t);
	return unit_main(s);
}
