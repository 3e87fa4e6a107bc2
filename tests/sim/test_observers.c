/*
 * test_observers.c - several observers of one client: when they ask the server,
 * and that nothing of them is left, whether they are destroyed or not.
 */
#include "lone.h"
#include "model_impl.h"

#include "../unit/unit.h"

#include <kustos/participant.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>

#define LINE "/line"
#define FIRST LINE "/lock-0000000000"
/* How long each message between a client and its server takes. */
#define WAY_MS 10
/* Within this time after a reconnect observers look again. */
#define SPREAD_MS (LONE_TIMEOUT_MS / 10)
#define OBSERVERS 8
#define OTHERS 20

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct kustos_observer *observers[OBSERVERS];
static int told;	   /* number of callbacks */
static int reads, removed; /* reads of the first; removals of its watch */

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	reads += request->kind == KU_ZK_GET &&
		strcmp(request->path, FIRST) == 0;
	removed += request->kind == KU_ZK_UNWATCH;
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void see(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_OK);
	ck_assert_ptr_nonnull(first);
	told++;
}

static void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static struct kustos_observer *observe(void)
{
	struct kustos_observer *o = NULL;

	ck_assert_int_eq(kustos_observe(client, LINE, see, NULL, &o),
		KUSTOS_OK);
	return o;
}

static void observe_all(int count)
{
	for (int i = 0; i < count; i++)
		observers[i] = observe();
	run_ms(1000);
	ck_assert_int_eq(told, count);
	told = reads = 0;
}

static void setup(void)
{
	mallopt(M_PERTURB, 0x5a); /* freed memory is overwritten */
	memset(observers, 0, sizeof(observers));
	told = reads = removed = 0;
	raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, LINE, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, FIRST, "", KU_ZK_EPHEMERAL);
	api = ku_zk_sim;
	api.submit = submit_it;
	client = lone_connected(&bench, &api);
}

static void teardown(void)
{
	for (int i = 0; i < OBSERVERS; i++)
		kustos_observer_destroy(observers[i]);
	lone_teardown(&bench, client);
}

static bool is_connected(void)
{
	return kustos_client_state(client) == KUSTOS_STATE_CONNECTED;
}

/* Run until the client is connected, or until it is not. */
static void run_until(bool connected)
{
	for (int ms = 0; ms < 30000 && is_connected() != connected; ms++)
		run_ms(1);
	ck_assert_int_eq(is_connected(), connected);
}

START_TEST(L28_after_a_reconnect_they_look_again_one_by_one)
{
	int moments = 0;

	observe_all(OBSERVERS);
	model_server_stop(bench.model, 0);
	run_until(false);
	model_server_start(bench.model, 0);
	run_until(true);
	for (int ms = 0; ms <= SPREAD_MS; ms++) {
		int before = reads;

		run_ms(1);
		moments += reads > before;
	}
	ck_assert_int_eq(reads, OBSERVERS);
	ck_assert_int_gt(moments, OBSERVERS / 2);
	ck_assert_int_eq(told, 0);
}
END_TEST

START_TEST(who_knows_nothing_yet_looks_as_soon_as_it_is_connected)
{
	observe_all(0);
	model_server_stop(bench.model, 0);
	run_until(false);
	observers[0] = observe();
	run_ms(100);
	model_server_start(bench.model, 0);
	run_until(true);
	run_ms(5 * WAY_MS);
	ck_assert_int_eq(told, 1);
}
END_TEST

/* Two of three observers are destroyed, in each order. */
START_TEST(L08_who_is_left_looks_again_after_a_reconnect)
{
	int first = _i / 2;

	observe_all(3);
	for (int n = 0; n < 2; n++) {
		int gone = n == 0 ? first : (first + 1 + _i % 2) % 3;

		kustos_observer_destroy(observers[gone]);
		observers[gone] = NULL;
		run_ms(100);
	}
	model_server_stop(bench.model, 0);
	run_until(false);
	model_server_start(bench.model, 0);
	run_until(true);
	run_ms(SPREAD_MS);
	ck_assert_int_eq(reads, 1);
}
END_TEST

/* The observer's first request is answered, under way, or waits for room. */
START_TEST(P05_who_is_destroyed_leaves_nothing)
{
	if (_i == 2)
		client->env.in_flight = 1;
	for (int i = 0; _i == 2 && i < OTHERS; i++)
		ck_assert_int_eq(kustos_exists_async(client, "/",
					 KUSTOS_FOREVER, NULL, lone_ignore,
					 NULL),
			KUSTOS_OK);
	size_t waiting = client->wire.waiting;
	struct kustos_observer *o = observe();
	ck_assert_uint_eq(client->wire.waiting, waiting + (_i == 2));
	if (_i == 0)
		run_ms(1000);
	kustos_observer_destroy(o);
	ck_assert_uint_eq(client->wire.waiting, waiting);
	run_ms(10000);
	ck_assert_int_eq(told, _i == 0);
	ck_assert_ptr_null(client->watches.entries);
	ck_assert_uint_eq(bench.model->servers[0].watches.count, 0);
}
END_TEST

/* The watch was never sent to the server, so it must not be removed there. */
START_TEST(P05_a_read_that_was_never_sent_leaves_no_watch)
{
	observe_all(1);
	client->env.in_flight = 1;
	for (int i = 0; i < OTHERS; i++)
		ck_assert_int_eq(kustos_exists_async(client, "/",
					 KUSTOS_FOREVER, NULL, lone_ignore,
					 NULL),
			KUSTOS_OK);
	const struct ku_zk_request change = { .kind = KU_ZK_SET,
		.path = FIRST,
		.data = "x",
		.len = 1 };
	lone_send(&bench, raw, &change);
	run_ms(3 * WAY_MS);
	ck_assert_ptr_nonnull(client->watches.entries);
	kustos_observer_destroy(observers[0]);
	observers[0] = NULL;
	ck_assert_ptr_null(client->watches.entries);
	run_ms(10000);
	ck_assert_int_eq(reads, 0);
	ck_assert_int_eq(removed, 0);
}
END_TEST

/* The number of timers that are set when the client is freed. */
static size_t timers_left;

void __real_ku_wire_free(struct ku_wire *wire);
void __wrap_ku_wire_free(struct ku_wire *wire);

void __wrap_ku_wire_free(struct ku_wire *wire)
{
	timers_left = KU_OWNER(struct kustos_client, wire, wire)->timers.count;
	__real_ku_wire_free(wire);
}

/* Objects that are freed later unset their timers, and could meet one that is
   left. */
START_TEST(who_is_not_destroyed_leaves_no_timer_when_its_client_is_freed)
{
	timers_left = SIZE_MAX;
	(void)observe();
	run_ms(1000);
	ck_assert(lone_close(&bench, client));
	client = NULL;
	ck_assert_uint_eq(timers_left, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("several observers");
	TCase *t = tcase_create("of one client");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, L28_after_a_reconnect_they_look_again_one_by_one);
	tcase_add_test(t,
		who_knows_nothing_yet_looks_as_soon_as_it_is_connected);
	tcase_add_loop_test(t, L08_who_is_left_looks_again_after_a_reconnect, 0,
		6);
	tcase_add_loop_test(t, P05_who_is_destroyed_leaves_nothing, 0, 3);
	tcase_add_test(t, P05_a_read_that_was_never_sent_leaves_no_watch);
	tcase_add_test(t,
		who_is_not_destroyed_leaves_no_timer_when_its_client_is_freed);
	suite_add_tcase(s, t);
	return unit_main(s);
}
