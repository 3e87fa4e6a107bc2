/*
 * test_observe.c - an observer whose older watch fires while it reads again.
 */
#include "lone.h"
#include "model_impl.h"

#include "../unit/fault.h"
#include "../unit/unit.h"

#include <kustos/participant.h>
#include <stdio.h>
#include <string.h>

#define LINE "/line"
#define FIRST LINE "/lock-0000000000"
/* How long each message between a client and its server takes. */
#define WAY_MS 10
/* Within this time an observer looks again at what it watches. */
#define SAFETY_MS 70000

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct kustos_observer *observer;
static bool seen;
static char said[8];  /* data of the first */
static char path[32]; /* path of the first */
static int asked;     /* number of requests, without syncs */
static int told;      /* number of callbacks */
/* The error for the next request, or for the next one about FIRST; KU_ZK_OK:
   none. */
static int refusal;
static bool refuses_first;
/* How many allocations succeed at the next answer that leaves a watch, or at
   one that does not; -1: all. */
static int memory;
static bool watches;

static struct {
	ku_zk_done_fn *done;
	void *arg;
} scanty;

static void answer_scantily(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	fault_after(memory);
	memory = -1;
	scanty.done(scanty.arg, reply);
	ck_assert_int_eq(fault_end(), 1);
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	asked += request->kind != KU_ZK_SYNC;
	if (refusal != KU_ZK_OK && request->kind != KU_ZK_SYNC &&
		(!refuses_first || strcmp(request->path, FIRST) == 0)) {
		int rc = refusal;

		refusal = KU_ZK_OK;
		return lone_refuse(zk, rc, done, arg);
	}
	if (memory >= 0 && request->watch == watches) {
		scanty.done = done;
		scanty.arg = arg;
		return ku_zk_sim.submit(zk, request, answer_scantily, NULL);
	}
	return ku_zk_sim.submit(zk, request, done, arg);
}

/* Have the first's data changed. */
static void send_change(const char *data)
{
	const struct ku_zk_request request = { .kind = KU_ZK_SET,
		.path = FIRST,
		.data = data,
		.len = (int)strlen(data) };

	lone_send(&bench, raw, &request);
}

/* Run until the observer looks again, and return the time that this takes. */
static int run_until_it_asks(void)
{
	int ms = 0;

	for (asked = 0; ms < SAFETY_MS && asked == 0; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert_int_gt(asked, 0);
	return ms;
}

static void see(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	told++;
	seen = err == KUSTOS_OK && first != NULL;
	snprintf(said, sizeof(said), "%s",
		seen ? (const char *)first->data : "");
	snprintf(path, sizeof(path), "%s", seen ? first->path : "");
}

static void setup(void)
{
	api = ku_zk_sim;
	api.submit = submit_it;
	seen = false;
	refusal = KU_ZK_OK;
	refuses_first = false;
	watches = true;
	memory = -1;
	raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, LINE, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, FIRST, "", KU_ZK_EPHEMERAL);
	client = lone_connected(&bench, &api);
	ck_assert_int_eq(kustos_observe(client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert(seen);
	ck_assert_uint_eq(bench.model->servers[0].watches.count, 1);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

/* Have the observer look again just after a change, so that the older watch
   fires.  To know the time of the look, run everything once before: it repeats
   exactly. */
static void have_it_ask_as_a_change_is_told(void)
{
	int ms = run_until_it_asks();

	kustos_observer_destroy(observer);
	teardown();
	setup();
	lone_run_ms(&bench, client, ms - WAY_MS / 2);
	send_change("x");
	(void)run_until_it_asks();
}

START_TEST(P05_a_watch_that_an_ended_observer_leaves_behind_is_taken_off)
{
	have_it_ask_as_a_change_is_told();
	kustos_observer_destroy(observer);
	lone_run_ms(&bench, client, 1000);
	ck_assert_ptr_null(client->watches.entries);
	ck_assert_uint_eq(bench.model->servers[0].watches.count, 0);
}
END_TEST

/* The observer takes this event for one of the watch that its look sets.  So it
   must not rely on that watch, and looks again. */
START_TEST(L08_a_change_after_an_event_that_came_early_is_told_at_once)
{
	have_it_ask_as_a_change_is_told();
	lone_run_ms(&bench, client, 6 * WAY_MS);
	ck_assert_str_eq(said, "x");
	send_change("y");
	lone_run_ms(&bench, client, 6 * WAY_MS);
	ck_assert_str_eq(said, "y");
	kustos_observer_destroy(observer);
}
END_TEST

/* The number of callbacks: the first destroys the observer, so none may
   follow. */
static int calls;

static void end_amid_news(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	(void)err;
	(void)first;
	calls++;
	send_change("x");
	bench_run_ms(&bench, 6 * WAY_MS);
	kustos_observer_destroy(observer);
}

START_TEST(who_is_destroyed_amid_news_is_not_told_of_them)
{
	kustos_observer_destroy(observer);
	calls = 0;
	ck_assert_int_eq(
		kustos_observe(client, LINE, end_amid_news, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(calls, 1);
}
END_TEST

static bool inside;

static void dispatch_amid_news(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	ck_assert(!inside);
	inside = true;
	see(arg, err, first);
	if (told == 1) {
		send_change("x");
		bench_run_ms(&bench, 6 * WAY_MS);
		(void)ku_dispatch_run(client);
		ck_assert_str_eq(first->data, "");
	}
	inside = false;
}

START_TEST(who_dispatches_amid_news_is_told_of_them_when_it_has_returned)
{
	kustos_observer_destroy(observer);
	told = 0;
	ck_assert_int_eq(kustos_observe(client, LINE, dispatch_amid_news, NULL,
				 &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(told, 2);
	ck_assert_str_eq(said, "x");
	kustos_observer_destroy(observer);
}
END_TEST

/* Memory is short in the client, at the first node or at an empty line. */
START_TEST(L13_without_memory_it_looks_again)
{
	kustos_observer_destroy(observer);
	if (_i == 0)
		ck_assert(model_delete(bench.model, FIRST));
	lone_run_ms(&bench, client, 100);
	told = 0;
	memory = _i == 0 ? 0 : _i - 1;
	ck_assert_int_eq(kustos_observe(client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(memory, -1);
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(seen, _i != 0);
	kustos_observer_destroy(observer);
}
END_TEST

/* Memory is short for the first node's path, or for a watch. */
START_TEST(L13_without_memory_for_the_first_it_reads_it_soon)
{
	kustos_observer_destroy(observer);
	lone_run_ms(&bench, client, 100);
	watches = false;
	memory = _i;
	ck_assert_int_eq(kustos_observe(client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 500);
	ck_assert_int_eq(memory, -1);
	send_change("y");
	lone_run_ms(&bench, client, 2000);
	ck_assert_str_eq(said, "y");
	kustos_observer_destroy(observer);
}
END_TEST

START_TEST(L07_what_could_not_be_watched_leaves_no_watch)
{
	kustos_observer_destroy(observer);
	lone_run_ms(&bench, client, 100);
	told = 0;
	watches = false;
	memory = 1;
	ck_assert_int_eq(kustos_observe(client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 500);
	ck_assert_int_eq(memory, -1);
	ck_assert_int_eq(told, 1);
	ck_assert_uint_eq(bench.model->servers[0].watches.count, 0);
	kustos_observer_destroy(observer);
}
END_TEST

START_TEST(L07_what_may_not_be_read_is_not_watched)
{
	kustos_observer_destroy(observer);
	lone_run_ms(&bench, client, 100);
	asked = told = 0;
	refusal = KU_ZK_NOAUTH;
	refuses_first = true;
	ck_assert_int_eq(kustos_observe(client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 500);
	ck_assert(!seen);
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(refusal, KU_ZK_OK);
	ck_assert_ptr_null(client->watches.entries);
	lone_run_ms(&bench, client, 1000);
	ck_assert(seen);
	ck_assert_int_eq(asked, 3); /* no watch was removed */
	kustos_observer_destroy(observer);
}
END_TEST

START_TEST(a_line_that_is_made_is_told_of_at_once)
{
	kustos_observer_destroy(observer);
	lone_run_ms(&bench, client, 100);
	ck_assert(model_delete(bench.model, LINE));
	told = 0;
	ck_assert_int_eq(kustos_observe(client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 500);
	ck_assert_int_eq(told, 1);
	ck_assert(!seen);
	bench_create(&bench, raw, LINE, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, FIRST, "x", KU_ZK_EPHEMERAL);
	lone_run_ms(&bench, client, 9 * WAY_MS);
	ck_assert_str_eq(said, "x");
	kustos_observer_destroy(observer);
}
END_TEST

START_TEST(what_a_server_does_not_answer_for_now_is_asked_again)
{
	kustos_observer_destroy(observer);
	seen = false;
	refusal = KU_ZK_THROTTLEDOP;
	ck_assert_int_eq(kustos_observe(client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(refusal, KU_ZK_OK);
	ck_assert(seen);
	kustos_observer_destroy(observer);
}
END_TEST

START_TEST(a_path_is_told_as_the_program_knows_it)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	kustos_observer_destroy(observer);
	ck_assert(lone_close(&bench, client));
	options.name_space = "/top";
	bench_create(&bench, raw, "/top", "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, "/top" LINE, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, "/top" FIRST, "z", KU_ZK_EPHEMERAL);
	client = lone_connected_with(&bench, &api, 1, &options);
	ck_assert_int_eq(kustos_observe(client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_str_eq(said, "z");
	ck_assert_str_eq(path, FIRST);
	kustos_observer_destroy(observer);
}
END_TEST

/* Somebody comes and goes while the program is told that nobody is there. */
static void come_and_go(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	see(arg, err, first);
	if (told > 1)
		return;
	bench_create(&bench, raw, FIRST, "", KU_ZK_EPHEMERAL);
	bench_run_ms(&bench, 6 * WAY_MS);
	ck_assert_int_eq(bench_delete(&bench, raw, FIRST, -1).rc, KU_ZK_OK);
	bench_run_ms(&bench, 12 * WAY_MS);
}

START_TEST(what_came_and_went_during_a_call_is_not_told_as_if_it_were_there)
{
	kustos_observer_destroy(observer);
	ck_assert(model_delete(bench.model, FIRST));
	lone_run_ms(&bench, client, 100);
	told = asked = 0;
	ck_assert_int_eq(
		kustos_observe(client, LINE, come_and_go, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_ge(asked, 6); /* so it was seen meanwhile */
	ck_assert(!seen);
	kustos_observer_destroy(observer);
}
END_TEST

/* After a reconnect the observer has to look again, but its earlier look still
   waits. */
START_TEST(who_waits_to_ask_does_not_ask_beside_that)
{
	client->env.in_flight = 1;
	for (int i = 0; i < 200; i++)
		ck_assert_int_eq(kustos_exists_async(client, LINE,
					 KUSTOS_FOREVER, NULL, lone_ignore,
					 NULL),
			KUSTOS_OK);
	send_change("x");
	lone_run_ms(&bench, client, 100);
	ck_assert_str_eq(said, "");
	model_cut(bench.model, LONE_MACHINE, true);
	lone_run_ms(&bench, client, 30000);
	ck_assert_str_eq(said, "x");
	send_change("y");
	lone_run_ms(&bench, client, 6 * WAY_MS);
	ck_assert_str_eq(said, "y");
	kustos_observer_destroy(observer);
}
END_TEST

/* Everything that the program is told about the first. */
static struct kustos_participant who;

static void see_all(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_OK);
	who = *first;
}

static void observe_all(const char *line)
{
	kustos_observer_destroy(observer);
	memset(&who, 0, sizeof(who));
	ck_assert_int_eq(kustos_observe(client, line, see_all, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	kustos_observer_destroy(observer);
}

START_TEST(null_data_is_told_apart_from_none)
{
	ck_assert(model_delete(bench.model, FIRST));
	bench_create(&bench, raw, FIRST, _i == 0 ? NULL : "", KU_ZK_EPHEMERAL);
	observe_all(LINE);
	ck_assert_int_eq(who.holds, 1);
	ck_assert_uint_eq(who.len, 0);
	ck_assert_int_eq(who.data == NULL, _i == 0);
}
END_TEST

START_TEST(who_is_first_is_told_with_what_its_name_says)
{
	static const char *const lines[] = { LINE, "/solo" };

	ck_assert(model_delete(bench.model, FIRST));
	bench_create(&bench, raw, LINE "/lock-0000000007", "", KU_ZK_EPHEMERAL);
	bench_create(&bench, raw, "/solo", "", KU_ZK_EPHEMERAL);
	observe_all(lines[_i]);
	ck_assert_int_eq(who.style,
		_i == 0 ? KUSTOS_STYLE_LOCK : KUSTOS_STYLE_NODE);
	ck_assert_int_eq(who.kind, KUSTOS_KIND_LOCK);
	ck_assert_int_eq(who.number, _i == 0 ? 7 : 0);
	ck_assert_int_gt(who.age_ms, 0); /* our clock is far ahead */
}
END_TEST

START_TEST(what_is_watched_is_not_asked_for_again_soon)
{
	ck_assert_int_gt(run_until_it_asks(), 25000);
	kustos_observer_destroy(observer);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("observers in the simulator");
	TCase *t = tcase_create("in one moment");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		P05_a_watch_that_an_ended_observer_leaves_behind_is_taken_off);
	tcase_add_test(t,
		L08_a_change_after_an_event_that_came_early_is_told_at_once);
	tcase_add_test(t, who_is_destroyed_amid_news_is_not_told_of_them);
	tcase_add_test(t,
		who_dispatches_amid_news_is_told_of_them_when_it_has_returned);
	tcase_add_loop_test(t, L13_without_memory_it_looks_again, 0, 3);
	tcase_add_loop_test(t,
		L13_without_memory_for_the_first_it_reads_it_soon, 0, 2);
	tcase_add_test(t, L07_what_could_not_be_watched_leaves_no_watch);
	tcase_add_test(t, L07_what_may_not_be_read_is_not_watched);
	tcase_add_test(t, a_line_that_is_made_is_told_of_at_once);
	tcase_add_test(t, what_a_server_does_not_answer_for_now_is_asked_again);
	tcase_add_test(t, a_path_is_told_as_the_program_knows_it);
	tcase_add_test(t,
		what_came_and_went_during_a_call_is_not_told_as_if_it_were_there);
	tcase_add_test(t, who_waits_to_ask_does_not_ask_beside_that);
	tcase_add_loop_test(t, null_data_is_told_apart_from_none, 0, 2);
	tcase_add_loop_test(t, who_is_first_is_told_with_what_its_name_says, 0,
		2);
	tcase_add_test(t, what_is_watched_is_not_asked_for_again_soon);
	suite_add_tcase(s, t);
	return unit_main(s);
}
