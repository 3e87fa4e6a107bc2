/*
 * test_unheard.c - an observer whose events do not come, or come at a bad
 * moment.
 */
#include "lone.h"
#include "model_impl.h"

#include "../unit/unit.h"

#include <kustos/participant.h>
#include <malloc.h>
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
static int told; /* number of callbacks */
static bool seen;
static int asked;	/* number of requests about the line */
static bool makes_line; /* another makes it just before it is looked for */

static void make(const char *path, enum ku_zk_mode mode)
{
	const struct ku_zk_request request = { .kind = KU_ZK_CREATE,
		.path = path,
		.len = -1,
		.mode = mode };

	lone_send(&bench, raw, &request);
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	asked += request->path != NULL &&
		strncmp(request->path, LINE, strlen(LINE)) == 0;
	if (makes_line && request->kind == KU_ZK_EXISTS) {
		makes_line = false;
		make(LINE, KU_ZK_PERSISTENT);
		make(FIRST, KU_ZK_EPHEMERAL);
	}
	return ku_zk_sim.submit(zk, request, done, arg);
}

/* When a request ends, its path must still be valid. */
static void check_path(void *arg, const struct kustos_request *request)
{
	(void)arg;
	if (strcmp(request->operation, "sync") != 0)
		ck_assert(strcmp(request->path, LINE) == 0 ||
			strcmp(request->path, FIRST) == 0);
}

static void see(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_OK);
	told++;
	seen = first != NULL;
}

static void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static void setup_with(bool line, bool somebody)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	told = asked = 0;
	raw = lone_setup(&bench, WAY_MS);
	if (line)
		bench_create(&bench, raw, LINE, "", KU_ZK_PERSISTENT);
	if (somebody)
		bench_create(&bench, raw, FIRST, "", KU_ZK_EPHEMERAL);
	api = ku_zk_sim;
	api.submit = submit_it;
	options.on_request = check_path;
	client = lone_connected_with(&bench, &api, 1, &options);
	ck_assert_int_eq(kustos_observe(client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	run_ms(1000);
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(seen, somebody);
	asked = 0;
}

static void teardown(void)
{
	kustos_observer_destroy(observer);
	lone_teardown(&bench, client);
}

/* There is no line, or nobody in it, or somebody that goes. */
START_TEST(L08_what_no_event_tells_of_is_seen_in_a_while)
{
	setup_with(_i > 0, _i == 2);
	model_forget_watches(bench.model, 0);
	if (_i == 0)
		make(LINE, KU_ZK_PERSISTENT);
	if (_i < 2)
		make(FIRST, KU_ZK_EPHEMERAL);
	else
		ck_assert(model_delete(bench.model, FIRST));
	run_ms(1000);
	ck_assert_int_eq(told, 1);
	run_ms(SAFETY_MS);
	ck_assert_int_eq(told, 2);
	ck_assert_int_eq(seen, _i < 2);
	teardown();
}
END_TEST

START_TEST(a_line_that_is_made_before_it_is_watched_is_seen_at_once)
{
	makes_line = true;
	raw = lone_setup(&bench, WAY_MS);
	api = ku_zk_sim;
	api.submit = submit_it;
	told = 0;
	client = lone_connected(&bench, &api);
	ck_assert_int_eq(kustos_observe(client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	run_ms(500);
	ck_assert(!makes_line);
	ck_assert_int_eq(told, 1);
	ck_assert(seen);
	teardown();
}
END_TEST

/* After a minute an observer looks again; without a connection it must not
   queue that. */
START_TEST(L28_nothing_waits_to_be_asked_while_it_is_away)
{
	setup_with(true, true);
	model_server_stop(bench.model, 0);
	run_ms(1000);
	size_t others = client->wire.waiting;
	run_ms(SAFETY_MS);
	ck_assert_uint_eq(client->wire.waiting, others);
	ck_assert_int_eq(asked, 0);
	model_server_start(bench.model, 0);
	run_ms(5000);
	ck_assert_int_gt(asked, 0);
	teardown();
}
END_TEST

/* The event is that of an older watch.  To know the time of the look, run
   everything once before: it repeats exactly. */
START_TEST(who_goes_while_it_is_read_is_not_forgotten_before_the_answer)
{
	int ms = 0;

	mallopt(M_PERTURB, 0x5a); /* freed memory is overwritten */
	setup_with(true, true);
	for (; ms < SAFETY_MS && asked == 0; ms++)
		run_ms(1);
	ck_assert_int_gt(asked, 0);
	teardown();
	setup_with(true, true);
	run_ms(ms - WAY_MS / 2);
	const struct ku_zk_request go = { .kind = KU_ZK_DELETE, .path = FIRST };
	lone_send(&bench, raw, &go);
	run_ms(1000);
	ck_assert_int_eq(told, 2);
	ck_assert(!seen);
	teardown();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("observers that hear nothing");
	TCase *t = tcase_create("in one moment");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, L08_what_no_event_tells_of_is_seen_in_a_while, 0,
		3);
	tcase_add_test(t,
		a_line_that_is_made_before_it_is_watched_is_seen_at_once);
	tcase_add_test(t, L28_nothing_waits_to_be_asked_while_it_is_away);
	tcase_add_test(t,
		who_goes_while_it_is_read_is_not_forgotten_before_the_answer);
	suite_add_tcase(s, t);
	return unit_main(s);
}
