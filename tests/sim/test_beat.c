/*
 * test_beat.c - greetings (the first sync of a connection), heartbeats, and a
 * handle whose state is not what its events said.
 */
#include "lone.h"
#include "model_impl.h"

#include "../unit/unit.h"

#include <kustos/barrier.h>
#include <kustos/node.h>

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;

/* What the library tells of the handle: all its events except those of one
   state; and its state, which is wrong at some of the next looks. */
static ku_zk_event_fn *event;
static void *event_arg;
static int deaf_to;	  /* an enum ku_zk_state; -1: to none */
static bool closed;	  /* no handle can be opened */
static const char *looks; /* 'x': a wrong state at that look */

/* Syncs are refused; or the answer to one is withheld. */
static bool refuses, withholds;
static int refused;
static int others; /* requests of other kinds */
static ku_zk_done_fn *withheld;
static void *withheld_arg;

static int told; /* number of requests that the program was told of */

static void hear(void *arg, enum ku_zk_event what, enum ku_zk_state state,
	const char *path)
{
	if (what != KU_ZK_EVENT_SESSION || (int)state != deaf_to)
		event(arg, what, state, path);
}

static enum kustos_err open_it(void *env, const struct ku_zk_open *params,
	struct ku_zk **out)
{
	struct ku_zk_open mine = *params;

	event = params->event;
	event_arg = params->arg;
	mine.event = hear;
	if (closed)
		return KUSTOS_ENOMEM;
	return ku_zk_sim.open(env, &mine, out);
}

static void no_answer(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	(void)reply;
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (request->kind != KU_ZK_SYNC) {
		others++;
	} else if (refuses) {
		refused++;
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	} else if (withholds && withheld == NULL) {
		withheld = done;
		withheld_arg = arg;
		return ku_zk_sim.submit(zk, request, no_answer, NULL);
	}
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void describe(struct ku_zk *zk, struct ku_zk_session *out)
{
	ku_zk_sim.session(zk, out);
	if (looks != NULL && *looks != '\0' && *looks++ == 'x')
		out->state = out->state == KU_ZK_STATE_CONNECTED
			? KU_ZK_STATE_CONNECTING
			: KU_ZK_STATE_CONNECTED;
}

static void count(void *arg, const struct kustos_request *request)
{
	(void)request;
	++*(int *)arg;
}

static void setup(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	deaf_to = -1;
	looks = NULL;
	refuses = withholds = closed = false;
	withheld = NULL;
	refused = others = told = 0;
	api = ku_zk_sim;
	api.open = open_it;
	api.submit = submit;
	api.session = describe;
	options.on_request = count;
	options.on_request_arg = &told;
	raw = lone_setup(&bench, 0);
	client = lone_connected_with(&bench, &api, 1, &options);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

static void run_until(enum kustos_state state)
{
	for (int i = 0; i < LONE_TIMEOUT_MS && client->session.state != state;
		i++)
		lone_run_ms(&bench, client, 1);
	ck_assert_int_eq(client->session.state, state);
}

static void ended(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)result;
	ck_assert_int_eq(err, KUSTOS_OK);
	++*(int *)arg;
}

static void ask(int *calls)
{
	ck_assert_int_eq(kustos_exists_async(client, "/", KUSTOS_FOREVER, NULL,
				 ended, calls),
		KUSTOS_OK);
}

START_TEST(the_program_is_told_of_no_request_but_its_own)
{
	int calls = 0;

	lone_run_ms(&bench, client, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(told, 0);
	ask(&calls);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(told, 1);
}
END_TEST

/* The server has answered the sync, but only a successful sync proves that it
   is up to date. */
START_TEST(S07_who_refuses_the_greeting_is_greeted_again_and_asked_nothing)
{
	int calls = 0;

	refuses = true;
	model_cut(bench.model, LONE_MACHINE, true);
	run_until(KUSTOS_STATE_SUSPENDED);
	ask(&calls);
	others = refused = 0;
	for (int ms = 0; refused < 3; ms++) {
		ck_assert_int_lt(ms, LONE_TIMEOUT_MS / 8);
		ck_assert_int_eq(client->session.state, KUSTOS_STATE_SUSPENDED);
		lone_run_ms(&bench, client, 1);
	}
	ck_assert_int_eq(others, 0);
	refuses = false;
	run_until(KUSTOS_STATE_CONNECTED);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(client->session.epoch, 1);
}
END_TEST

/* There are two connections in a row, and the answer of the first comes
   last. */
START_TEST(S04_a_greeting_that_an_earlier_connection_answered_is_none)
{
	static const struct ku_zk_reply answer = { .rc = KU_ZK_OK, .len = -1 };

	withholds = true;
	model_cut(bench.model, LONE_MACHINE, true);
	while (withheld == NULL)
		lone_run_ms(&bench, client, 1);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_SUSPENDED);
	if (_i == 0)
		event(event_arg, KU_ZK_EVENT_SESSION, KU_ZK_STATE_CONNECTED,
			"");
	else
		event(event_arg, KU_ZK_EVENT_SESSION, KU_ZK_STATE_CONNECTING,
			"");
	withheld(withheld_arg, &answer);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_SUSPENDED);
	run_until(KUSTOS_STATE_CONNECTED);
	ck_assert_int_eq(client->session.epoch, 1);
}
END_TEST

START_TEST(L15_a_connection_of_which_no_event_tells_is_found)
{
	const enum ku_zk_state deaf[] = { KU_ZK_STATE_CONNECTED,
		KU_ZK_STATE_CONNECTING };

	deaf_to = (int)deaf[_i];
	if (_i == 1)
		model_hole(bench.model, LONE_MACHINE, 0,
			bench.sched.now_ns + KU_NS_PER_S);
	model_cut(bench.model, LONE_MACHINE, true);
	run_until(KUSTOS_STATE_SUSPENDED);
	run_until(KUSTOS_STATE_CONNECTED);
	ck_assert_int_eq(client->session.epoch, 1);
	ck_assert_uint_eq(client->counters.disconnects, 1);
}
END_TEST

/* The client must not look at a handle while there is none. */
START_TEST(L15_an_end_of_which_no_event_tells_is_found)
{
	deaf_to = KU_ZK_STATE_EXPIRED;
	closed = true;
	ck_assert(model_expire(bench.model, LONE_MACHINE));
	lone_run_ms(&bench, client, 2 * LONE_TIMEOUT_MS);
	ck_assert_ptr_null(client->session.handle);
	closed = false;
	lone_run_ms(&bench, client, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	ck_assert_uint_eq(client->counters.sessions, 2);
}
END_TEST

/* After a long silence the session may be over, although a server just accepted
   it. */
START_TEST(S01_a_session_of_which_nothing_is_certain_is_not_connected)
{
	struct ku_session *session = &client->session;
	int ms = 0;

	model_cut(bench.model, LONE_MACHINE, true);
	while (!session->linked || session->greeted)
		lone_run_ms(&bench, client, 1);
	session->lease.base_ns = bench.sched.now_ns -
		LONE_TIMEOUT_MS * KU_NS_PER_MS;
	session->lease.end_ns = 0;
	ck_assert_int_eq(ku_session_state(client), KUSTOS_STATE_LOST);
	while (!session->greeted)
		lone_run_ms(&bench, client, 1);
	while (session->state != KUSTOS_STATE_CONNECTED) {
		ms++;
		lone_run_ms(&bench, client, 1);
	}
	ck_assert_int_ge(ms, LONE_TIMEOUT_MS / 4);
	ck_assert_int_le(ms, LONE_TIMEOUT_MS / 3);
	ck_assert_int_eq(session->epoch, 2);
	ck_assert_uint_eq(client->counters.losses, 1);
	ck_assert_uint_eq(client->counters.sessions, 1);
}
END_TEST

/* The greeting's answer proves that the server has no write of ours any
   more. */
START_TEST(S06_a_server_that_greets_is_shunned_no_more)
{
	struct ku_session *session = &client->session;

	ku_shun_add(&session->shun, session->server, bench.sched.now_ns);
	ck_assert(ku_shun_has(&session->shun, session->server,
		bench.sched.now_ns));
	model_cut(bench.model, LONE_MACHINE, false);
	run_until(KUSTOS_STATE_SUSPENDED);
	run_until(KUSTOS_STATE_CONNECTED);
	ck_assert(!ku_shun_has(&session->shun, session->server,
		bench.sched.now_ns));
}
END_TEST

/* The event that would explain the other state may still be on its way. */
START_TEST(a_handle_that_looks_otherwise_once_is_as_the_events_say)
{
	looks = " x x  x ";
	lone_run_ms(&bench, client, 2 * LONE_TIMEOUT_MS);
	ck_assert_str_eq(looks, "");
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	ck_assert_uint_eq(client->counters.disconnects, 0);
}
END_TEST

START_TEST(a_handle_that_looks_otherwise_twice_is_believed)
{
	looks = " xx";
	for (int ms = 0; *looks != '\0' && ms < LONE_TIMEOUT_MS; ms++) {
		ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
		lone_run_ms(&bench, client, 1);
	}
	ck_assert_str_eq(looks, "");
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_SUSPENDED);
	ck_assert_uint_eq(client->counters.disconnects, 1);
	ku_beat_nudge(client); /* there is no event of a new connection */
	run_until(KUSTOS_STATE_CONNECTED);
}
END_TEST

/* The heartbeat counts from the last answer, whenever that came. */
START_TEST(S01_a_heartbeat_goes_out_an_eighth_after_the_last_answer)
{
	const int64_t most = LONE_TIMEOUT_MS * KU_NS_PER_MS / 8 +
		50 * KU_NS_PER_MS; /* there and back */

	for (int pause = 0; pause < LONE_TIMEOUT_MS / 8; pause += 30) {
		int64_t heard = client->session.lease.leader_ns;

		ck_assert_int_eq(kustos_sync_async(client, "/", KUSTOS_FOREVER,
					 NULL, lone_ignore, NULL),
			KUSTOS_OK);
		for (int i = 0; i < 2; i++) {
			while (client->session.lease.leader_ns == heard) {
				ck_assert_int_le(bench.sched.now_ns,
					heard + most);
				lone_run_ms(&bench, client, 1);
			}
			heard = client->session.lease.leader_ns;
		}
		lone_run_ms(&bench, client, pause);
	}
}
END_TEST

START_TEST(U03_a_silent_server_is_not_trusted_after_a_sixth)
{
	int64_t since;

	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	while ((since = ku_beat_silent_since(client)) == 0)
		lone_run_ms(&bench, client, 1);
	run_until(KUSTOS_STATE_SUSPENDED);
	ck_assert_int_ge(bench.sched.now_ns,
		since + LONE_TIMEOUT_MS * KU_NS_PER_MS / 6);
	ck_assert_int_le(bench.sched.now_ns,
		since + (LONE_TIMEOUT_MS / 6 + 2) * KU_NS_PER_MS);
	model_heal(bench.model);
	run_until(KUSTOS_STATE_CONNECTED);
}
END_TEST

/* libzookeeper notices that it is to use another server only when a request
   comes.  Whether it still has a connection then, no event has said yet. */
START_TEST(S07_whoever_is_turned_elsewhere_goes_by_no_connection_from_then_on)
{
	others = 0;
	ku_beat_nudge(client);
	ck_assert_int_eq(others, 1);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_SUSPENDED);
	ck_assert(!client->session.linked);
	/* The first request may still wait inside libzookeeper. */
	ku_beat_nudge(client);
	ck_assert_int_eq(others, 2);
	ck_assert_uint_eq(client->counters.disconnects, 1);
	run_until(KUSTOS_STATE_CONNECTED);
	ck_assert_int_eq(told, 0);
}
END_TEST

/* Between two sessions there is no handle. */
START_TEST(S07_nobody_is_asked_where_there_is_no_handle)
{
	struct ku_handle *handle = client->session.handle;

	others = 0;
	client->session.handle = NULL;
	ku_beat_nudge(client);
	client->session.handle = handle;
	ck_assert_int_eq(others, 0);
	ck_assert(!client->session.linked);
	run_until(KUSTOS_STATE_CONNECTED);
}
END_TEST

static void waited(void *arg, enum kustos_err err)
{
	*(int *)arg = (int)err;
}

/* The server had too many requests to remove the watch. */
START_TEST(P05_what_a_server_did_not_take_off_is_taken_off_behind_a_beat)
{
	struct kustos_barrier *barrier;
	int end = -1;

	lone_make(&bench, raw, "/barrier");
	ck_assert_int_eq(
		kustos_barrier_create(client, "/barrier", NULL, &barrier),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_barrier_wait_async(barrier, KUSTOS_FOREVER,
				 NULL, waited, &end),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 50);
	ck_assert_uint_eq(bench.model->servers[0].watches.count, 1);
	model_set_throttle(bench.model, 1000000);
	kustos_barrier_destroy(barrier);
	lone_run_ms(&bench, client, 50);
	ck_assert_int_eq(end, KUSTOS_ECLOSED);
	ck_assert_uint_eq(bench.model->servers[0].watches.count, 1);
	model_set_throttle(bench.model, 0);
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS / 2);
	ck_assert_uint_eq(bench.model->servers[0].watches.count, 0);
	ck_assert_ptr_null(client->watches.entries);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("beats in the simulator");
	TCase *t = tcase_create("beats");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_program_is_told_of_no_request_but_its_own);
	tcase_add_test(t,
		S07_who_refuses_the_greeting_is_greeted_again_and_asked_nothing);
	tcase_add_loop_test(t,
		S04_a_greeting_that_an_earlier_connection_answered_is_none, 0,
		2);
	tcase_add_loop_test(t,
		L15_a_connection_of_which_no_event_tells_is_found, 0, 2);
	tcase_add_test(t, L15_an_end_of_which_no_event_tells_is_found);
	tcase_add_test(t,
		S01_a_session_of_which_nothing_is_certain_is_not_connected);
	tcase_add_test(t, S06_a_server_that_greets_is_shunned_no_more);
	tcase_add_test(t,
		a_handle_that_looks_otherwise_once_is_as_the_events_say);
	tcase_add_test(t, a_handle_that_looks_otherwise_twice_is_believed);
	tcase_add_test(t,
		S01_a_heartbeat_goes_out_an_eighth_after_the_last_answer);
	tcase_add_test(t, U03_a_silent_server_is_not_trusted_after_a_sixth);
	tcase_add_test(t,
		S07_whoever_is_turned_elsewhere_goes_by_no_connection_from_then_on);
	tcase_add_test(t, S07_nobody_is_asked_where_there_is_no_handle);
	tcase_add_test(t,
		P05_what_a_server_did_not_take_off_is_taken_off_behind_a_beat);
	suite_add_tcase(s, t);
	return unit_main(s);
}
