/*
 * test_session.c - what the model's client library tells its user: watches,
 * broken connections, sessions.
 */
#include "bench.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define T 4000 /* session timeout, ms; a tick has 500 */

static struct model_config config;
static struct bench bench;
static struct ku_zk *zk;
static struct ku_zk *other;

static void start(int servers)
{
	model_config_init(&config);
	config.servers = servers;
	bench_init(&bench, &config);
}

static void setup(void)
{
	start(1);
	zk = bench_open(&bench, -1, T);
	other = bench_open(&bench, -1, T);
	bench_create(&bench, zk, "/a", "1", KU_ZK_PERSISTENT);
}

/* Open client 0 at the leader, and client 1 at a follower. */
static void setup_three(void)
{
	start(3);
	zk = bench_open(&bench, 0, T);
	other = bench_open(&bench, 1, T);
	bench_create(&bench, zk, "/a", "1", KU_ZK_PERSISTENT);
	bench_run_ms(&bench, 100);
}

static void teardown(void)
{
	ck_assert_int_eq(bench.broken, 0);
	bench_free(&bench);
}

START_TEST(a_data_watch_fires_once)
{
	bench_read(&bench, other, KU_ZK_GET, "/a", true);
	bench_read(&bench, other, KU_ZK_EXISTS, "/a", true);
	bench_set(&bench, zk, "/a", "2", -1);
	bench_set(&bench, zk, "/a", "3", -1);
	bench_run_ms(&bench, 100);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CHANGED, "/a"), 1);
	ck_assert_int_eq(bench_events(&bench, 0, KU_ZK_EVENT_CHANGED, "/a"), 0);
}
END_TEST

START_TEST(a_child_watch_fires_for_names_not_for_data)
{
	bench_read(&bench, other, KU_ZK_CHILDREN, "/a", true);
	bench_set(&bench, zk, "/a", "2", -1);
	bench_run_ms(&bench, 100);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CHILDREN, "/a"),
		0);
	bench_create(&bench, zk, "/a/b", "", KU_ZK_PERSISTENT);
	bench_delete(&bench, zk, "/a/b", -1);
	bench_run_ms(&bench, 100);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CHILDREN, "/a"),
		1);
}
END_TEST

START_TEST(deletion_drains_both_kinds_in_one_event)
{
	bench_read(&bench, other, KU_ZK_GET, "/a", true);
	bench_read(&bench, other, KU_ZK_CHILDREN, "/a", true);
	bench_delete(&bench, zk, "/a", -1);
	bench_create(&bench, zk, "/a", "", KU_ZK_PERSISTENT);
	bench_create(&bench, zk, "/a/b", "", KU_ZK_PERSISTENT);
	bench_run_ms(&bench, 100);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_DELETED, "/a"), 1);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CHILDREN, "/a"),
		0);
}
END_TEST

START_TEST(L08_only_exists_watches_what_is_not_there)
{
	ck_assert_int_eq(bench_read(&bench, other, KU_ZK_GET, "/n", true).rc,
		KU_ZK_NONODE);
	bench_create(&bench, zk, "/n", "", KU_ZK_PERSISTENT);
	bench_delete(&bench, zk, "/n", -1);
	bench_run_ms(&bench, 100);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CREATED, "/n"), 0);
	bench_read(&bench, other, KU_ZK_EXISTS, "/n", true);
	bench_create(&bench, zk, "/n", "", KU_ZK_PERSISTENT);
	bench_run_ms(&bench, 100);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CREATED, "/n"), 1);
}
END_TEST

START_TEST(a_watch_that_is_taken_back_does_not_fire)
{
	struct ku_zk_request unwatch = {
		.kind = KU_ZK_UNWATCH,
		.path = "/a",
		.unwatch = KU_ZK_WATCH_DATA,
	};

	ck_assert_int_eq(bench_call(&bench, other, &unwatch).rc,
		KU_ZK_NOWATCHER);
	bench_read(&bench, other, KU_ZK_GET, "/a", true);
	bench_read(&bench, other, KU_ZK_CHILDREN, "/a", true);
	ck_assert_int_eq(bench_call(&bench, other, &unwatch).rc, KU_ZK_OK);
	bench_set(&bench, zk, "/a", "2", -1);
	bench_create(&bench, zk, "/a/b", "", KU_ZK_PERSISTENT);
	bench_run_ms(&bench, 100);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CHANGED, "/a"), 0);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CHILDREN, "/a"),
		1);
}
END_TEST

START_TEST(a_reconnect_tells_what_was_missed)
{
	bench_create(&bench, zk, "/gone", "", KU_ZK_PERSISTENT);
	bench_create(&bench, zk, "/same", "", KU_ZK_PERSISTENT);
	bench_read(&bench, other, KU_ZK_GET, "/a", true);
	bench_read(&bench, other, KU_ZK_EXISTS, "/gone", true);
	bench_read(&bench, other, KU_ZK_EXISTS, "/new", true);
	bench_read(&bench, other, KU_ZK_GET, "/same", true);
	bench_read(&bench, other, KU_ZK_CHILDREN, "/", true);
	model_hole(bench.model, 1, 0, bench.sched.now_ns + KU_NS_PER_S);
	model_cut(bench.model, 1, false);
	bench_set(&bench, zk, "/a", "2", -1);
	bench_delete(&bench, zk, "/gone", -1);
	bench_create(&bench, zk, "/new", "", KU_ZK_PERSISTENT);
	bench_run_ms(&bench, 2000);
	ck_assert_int_eq(bench_states(&bench, 1, KU_ZK_STATE_CONNECTED), 2);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CHANGED, "/a"), 1);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_DELETED, "/gone"),
		1);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CREATED, "/new"),
		1);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CHILDREN, "/"), 1);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CHANGED, "/same"),
		0);
	bench_set(&bench, zk, "/same", "2", -1);
	bench_run_ms(&bench, 100);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CHANGED, "/same"),
		1);
}
END_TEST

START_TEST(a_cut_tells_the_state_before_it_fails_the_requests)
{
	struct ku_zk_request sync = { .kind = KU_ZK_SYNC, .path = "/" };
	struct bench_reply first;
	struct bench_reply second;
	int64_t told;

	bench_send(&bench, other, &sync, &first);
	bench_send(&bench, other, &sync, &second);
	model_cut(bench.model, 1, true);
	bench_wait(&bench, &second);
	ck_assert_int_eq(first.rc, KU_ZK_CONNECTIONLOSS);
	ck_assert_int_eq(second.rc, KU_ZK_CONNECTIONLOSS);
	ck_assert_int_eq(bench_states(&bench, 1, KU_ZK_STATE_CONNECTING), 1);
	told = bench.events[bench.event_count - 1].at_ns;
	ck_assert_int_le(told, first.at_ns);
	bench_run_ms(&bench, 500);
	ck_assert_int_eq(bench_states(&bench, 1, KU_ZK_STATE_CONNECTED), 2);
}
END_TEST

START_TEST(S06_a_lost_reply_leaves_what_it_was_about)
{
	model_set_reply_faults(bench.model, 1000000, 0);
	ck_assert_int_eq(
		bench_create(&bench, other, "/ghost", "", KU_ZK_PERSISTENT).rc,
		KU_ZK_CONNECTIONLOSS);
	ck_assert(model_stat(bench.model, "/ghost", NULL));
}
END_TEST

START_TEST(a_throttled_request_does_nothing)
{
	model_set_throttle(bench.model, 1000000);
	ck_assert_int_eq(
		bench_create(&bench, other, "/much", "", KU_ZK_PERSISTENT).rc,
		KU_ZK_THROTTLEDOP);
	ck_assert(!model_stat(bench.model, "/much", NULL));
	model_set_throttle(bench.model, 0);
	ck_assert_int_eq(
		bench_create(&bench, other, "/much", "", KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
}
END_TEST

START_TEST(L04_silence_ends_the_connection_after_two_thirds)
{
	int64_t begin = bench.sched.now_ns;
	struct ku_zk_request sync = { .kind = KU_ZK_SYNC, .path = "/" };
	struct bench_reply reply;

	model_hole(bench.model, 1, 0, begin + 60 * KU_NS_PER_S);
	bench_send(&bench, other, &sync, &reply);
	bench_wait(&bench, &reply);
	ck_assert_int_eq(reply.rc, KU_ZK_OPERATIONTIMEOUT);
	ck_assert_int_ge(reply.at_ns - begin, (T * 2 / 3 - 1) * KU_NS_PER_MS);
	ck_assert_int_le(reply.at_ns - begin, (T * 2 / 3 + 1) * KU_NS_PER_MS);
	/* A request made now waits for the next attempt, and fails with it. */
	bench_send(&bench, other, &sync, &reply);
	bench_run_ms(&bench, 1000);
	ck_assert(!reply.done);
	bench_wait(&bench, &reply);
	ck_assert_int_eq(reply.rc, KU_ZK_OPERATIONTIMEOUT);
}
END_TEST

START_TEST(a_request_made_while_disconnected_is_sent_later)
{
	model_cut(bench.model, 1, false);
	ck_assert_int_eq(
		bench_create(&bench, other, "/later", "", KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
}
END_TEST

START_TEST(an_idle_session_lives)
{
	struct ku_zk_session session;

	bench_create(&bench, other, "/e", "", KU_ZK_EPHEMERAL);
	bench_run_ms(&bench, 20 * T);
	ku_zk_sim.session(other, &session);
	ck_assert_int_eq(session.state, KU_ZK_STATE_CONNECTED);
	ck_assert_int_eq(session.timeout_ms, T);
	ck_assert_str_eq(session.server, "10.0.0.1:2181");
	ck_assert(model_stat(bench.model, "/e", NULL));
	ck_assert_int_eq(bench_states(&bench, 1, KU_ZK_STATE_CONNECTING), 0);
}
END_TEST

START_TEST(S01_a_paused_client_expires_and_learns_it_late)
{
	struct ku_zk_session session;
	int64_t begin = bench.sched.now_ns;

	bench_create(&bench, other, "/e", "", KU_ZK_EPHEMERAL);
	bench_read(&bench, zk, KU_ZK_EXISTS, "/e", true);
	sched_pause(&bench.sched, 1, begin + 10 * KU_NS_PER_S);
	bench_run_ms(&bench, T - 1);
	ck_assert(model_stat(bench.model, "/e", NULL));
	bench_run_ms(&bench, 1002);
	ck_assert(!model_stat(bench.model, "/e", NULL));
	ck_assert_int_eq(bench_events(&bench, 0, KU_ZK_EVENT_DELETED, "/e"), 1);
	ku_zk_sim.session(other, &session);
	ck_assert_int_eq(session.state, KU_ZK_STATE_CONNECTED);
	bench_run_ms(&bench, 10000);
	ck_assert_int_eq(bench_states(&bench, 1, KU_ZK_STATE_EXPIRED), 1);
	ku_zk_sim.session(other, &session);
	ck_assert_int_eq(session.state, KU_ZK_STATE_EXPIRED);
	ck_assert_int_eq(bench_create(&bench, other, "/x", "", 0).rc,
		KU_ZK_INVALIDSTATE);
}
END_TEST

START_TEST(the_server_decides_the_timeout)
{
	struct ku_zk_session session;
	struct ku_zk *third = bench_open(&bench, -1, 1);

	ku_zk_sim.session(third, &session);
	ck_assert_int_eq(session.timeout_ms, 1000);
	ck_assert_int_ne(session.id, 0);
}
END_TEST

START_TEST(close_ends_the_session_and_is_silent_afterwards)
{
	struct ku_zk_request sync = { .kind = KU_ZK_SYNC, .path = "/" };
	struct bench_reply replies[100];
	int events;
	int done = 0;
	int i;

	bench_create(&bench, other, "/e", "", KU_ZK_EPHEMERAL);
	for (i = 0; i < 100; i++)
		bench_send(&bench, other, &sync, &replies[i]);
	ku_zk_sim.close(other);
	for (i = 0; i < 100; i++)
		done += replies[i].done;
	events = bench.event_count;
	bench_run_ms(&bench, 1000);
	for (i = 0; i < 100; i++)
		done -= replies[i].done;
	ck_assert_int_eq(done, 0);
	ck_assert_int_eq(bench.event_count, events);
	ck_assert(!model_stat(bench.model, "/e", NULL));
}
END_TEST

START_TEST(refused_credentials_end_the_handle)
{
	ck_assert_int_eq(ku_zk_sim.add_auth(other, "digest", "a:b", 3),
		KU_ZK_OK);
	bench_run_ms(&bench, 100);
	ck_assert_int_eq(bench_states(&bench, 1, KU_ZK_STATE_AUTH_FAILED), 0);
	ku_zk_sim.add_auth(other, "nonsense", "a:b", 3);
	bench_run_ms(&bench, 100);
	ck_assert_int_eq(bench_states(&bench, 1, KU_ZK_STATE_AUTH_FAILED), 1);
}
END_TEST

START_TEST(S07_a_lagging_follower_reads_the_past_until_it_syncs)
{
	struct ku_zk_request sync = { .kind = KU_ZK_SYNC, .path = "/" };
	int64_t until = bench.sched.now_ns + KU_NS_PER_S;
	struct bench_reply reply;

	bench_read(&bench, other, KU_ZK_EXISTS, "/new", true);
	model_lag(bench.model, 1, until);
	bench_create(&bench, zk, "/new", "", KU_ZK_PERSISTENT);
	bench_run_ms(&bench, 200);
	ck_assert_int_eq(bench_read(&bench, zk, KU_ZK_EXISTS, "/new", false).rc,
		KU_ZK_OK);
	ck_assert_int_eq(
		bench_read(&bench, other, KU_ZK_EXISTS, "/new", false).rc,
		KU_ZK_NONODE);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CREATED, "/new"),
		0);
	reply = bench_call(&bench, other, &sync);
	ck_assert_int_eq(reply.rc, KU_ZK_OK);
	ck_assert_int_ge(reply.at_ns, until);
	ck_assert_int_eq(
		bench_read(&bench, other, KU_ZK_EXISTS, "/new", false).rc,
		KU_ZK_OK);
	ck_assert_int_eq(bench_events(&bench, 1, KU_ZK_EVENT_CREATED, "/new"),
		1);
}
END_TEST

START_TEST(a_follower_answers_a_write_when_it_has_applied_it)
{
	int64_t until = bench.sched.now_ns + KU_NS_PER_S;
	struct bench_reply reply;
	struct ku_zk_request create = {
		.kind = KU_ZK_CREATE,
		.path = "/w",
		.len = -1,
		.acl = &bench_acl,
		.acl_count = 1,
	};

	model_lag(bench.model, 1, until);
	bench_send(&bench, other, &create, &reply);
	bench_run_ms(&bench, 100);
	ck_assert(!reply.done);
	ck_assert(model_stat(bench.model, "/w", NULL));
	bench_wait(&bench, &reply);
	ck_assert_int_ge(reply.at_ns, until);
	ck_assert_int_eq(bench_read(&bench, other, KU_ZK_GET, "/w", false).rc,
		KU_ZK_OK);
}
END_TEST

START_TEST(a_session_outlives_its_server_if_others_are_up)
{
	struct ku_zk *third = bench_open(&bench, -1, T);
	int server = model_server_of(bench.model, 2);

	bench_create(&bench, third, "/e", "", KU_ZK_EPHEMERAL);
	model_server_stop(bench.model, server);
	bench_run_ms(&bench, 3 * T);
	ck_assert_int_ne(model_server_of(bench.model, 2), -1);
	ck_assert_int_ne(model_server_of(bench.model, 2), server);
	ck_assert(model_stat(bench.model, "/e", NULL));
	ck_assert_int_eq(bench_states(&bench, 2, KU_ZK_STATE_EXPIRED), 0);
}
END_TEST

START_TEST(without_a_quorum_nobody_serves_and_nothing_expires)
{
	bench_create(&bench, zk, "/e", "", KU_ZK_EPHEMERAL);
	model_server_stop(bench.model, 2);
	model_server_stop(bench.model, 1);
	bench_run_ms(&bench, 5 * T);
	ck_assert_int_eq(model_server_of(bench.model, 0), -1);
	ck_assert(model_stat(bench.model, "/e", NULL));
	model_server_start(bench.model, 1);
	bench_run_ms(&bench, T / 2);
	ck_assert_int_eq(model_server_of(bench.model, 0), 0);
	ck_assert_int_eq(bench_states(&bench, 0, KU_ZK_STATE_EXPIRED), 0);
}
END_TEST

START_TEST(a_kick_breaks_and_a_steer_points)
{
	struct ku_zk *third = bench_open(&bench, -1, T);
	struct ku_zk_request sync = { .kind = KU_ZK_SYNC, .path = "/" };
	int server = model_server_of(bench.model, 2);
	int to = (server + 1) % 3;

	while (!ku_zk_sim.kick(third))
		;
	bench_run_ms(&bench, 0);
	while (bench_states(&bench, 2, KU_ZK_STATE_CONNECTING) == 0)
		ck_assert(sched_run(&bench.sched));
	ku_zk_sim.steer(third, model_address(bench.model, to), true);
	ck_assert_int_eq(bench_call(&bench, third, &sync).rc, KU_ZK_OK);
	ck_assert_int_eq(model_server_of(bench.model, 2), to);
}
END_TEST

static void add_watches(Suite *s)
{
	TCase *c = tcase_create("watches");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_data_watch_fires_once);
	tcase_add_test(c, a_child_watch_fires_for_names_not_for_data);
	tcase_add_test(c, deletion_drains_both_kinds_in_one_event);
	tcase_add_test(c, L08_only_exists_watches_what_is_not_there);
	tcase_add_test(c, a_watch_that_is_taken_back_does_not_fire);
	tcase_add_test(c, a_reconnect_tells_what_was_missed);
	suite_add_tcase(s, c);
}

static void add_sessions(Suite *s)
{
	TCase *c = tcase_create("sessions");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_cut_tells_the_state_before_it_fails_the_requests);
	tcase_add_test(c, S06_a_lost_reply_leaves_what_it_was_about);
	tcase_add_test(c, a_throttled_request_does_nothing);
	tcase_add_test(c, L04_silence_ends_the_connection_after_two_thirds);
	tcase_add_test(c, a_request_made_while_disconnected_is_sent_later);
	tcase_add_test(c, an_idle_session_lives);
	tcase_add_test(c, S01_a_paused_client_expires_and_learns_it_late);
	tcase_add_test(c, the_server_decides_the_timeout);
	tcase_add_test(c, close_ends_the_session_and_is_silent_afterwards);
	tcase_add_test(c, refused_credentials_end_the_handle);
	suite_add_tcase(s, c);
}

static void add_ensemble(Suite *s)
{
	TCase *c = tcase_create("ensemble");

	tcase_add_checked_fixture(c, setup_three, teardown);
	tcase_add_test(c, S07_a_lagging_follower_reads_the_past_until_it_syncs);
	tcase_add_test(c, a_follower_answers_a_write_when_it_has_applied_it);
	tcase_add_test(c, a_session_outlives_its_server_if_others_are_up);
	tcase_add_test(c, without_a_quorum_nobody_serves_and_nothing_expires);
	tcase_add_test(c, a_kick_breaks_and_a_steer_points);
	suite_add_tcase(s, c);
}

int main(void)
{
	Suite *s = suite_create("session");
	SRunner *runner = srunner_create(s);
	int failed;

	add_watches(s);
	add_sessions(s);
	add_ensemble(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
