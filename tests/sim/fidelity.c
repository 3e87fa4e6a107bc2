/*
 * fidelity.c - compare the model with a real server: several sessions send the
 * same random requests to both, and must get the same answers, stats and
 * events.
 */
#include "fid_script.h"
#include "fid_world.h"
#include "fixture.h"
#include "model.h"
#include "proxy.h"

#include <stdlib.h>
#include <string.h>

#define REQUESTS 12000
#define OF_ONE_ROOT 1500
#define BATCH_MAX 6
#define PLAYERS 3

static struct fid_world server;
static struct fid_world model;
static struct sched sched;
static struct fid_script script;

/* The counters of "/" last as long as the server, so begin with a new
   server. */
static void setup(void)
{
	ck_assert_int_eq(server_stop(fixture_server()), 0);
	ck_assert_int_eq(server_wipe(fixture_server()), 0);
	ck_assert_int_eq(server_restart(fixture_server()), 0);
	fid_real(&server, fixture_address());
	fid_model(&model, &sched);
}

static void teardown(void)
{
	fid_free(&server);
	fid_free(&model);
}

static void open_both(int session)
{
	fid_open(&server, session, NULL);
	fid_open(&model, session, NULL);
}

static void submit_both(int session, const struct ku_zk_request *request)
{
	int left = fid_submit(&server, session, request);
	int right = fid_submit(&model, session, request);

	ck_assert_msg(left == right, "submit of kind %d on %s: %d and %d",
		(int)request->kind, request->path ? request->path : "-", left,
		right);
}

static void compare(bool sorted)
{
	static char why[8000];

	fid_settle(&server);
	fid_settle(&model);
	ck_assert_msg(fid_compare(&server, &model, sorted, why, sizeof(why)),
		"%s", why);
}

static struct ku_zk_request request_of(enum ku_zk_kind kind, const char *path)
{
	static const struct kustos_acl acl = {
		KUSTOS_PERM_ALL,
		"world",
		"anyone",
	};
	struct ku_zk_request request = {
		.kind = kind,
		.path = path,
		.data = "x",
		.len = 1,
		.version = -1,
		.acl = &acl,
		.acl_count = 1,
	};

	return request;
}

static void both(int session, enum ku_zk_kind kind, const char *path)
{
	struct ku_zk_request request = request_of(kind, path);

	submit_both(session, &request);
	compare(false);
}

static void watch_both(int session, enum ku_zk_kind kind, const char *path)
{
	struct ku_zk_request request = request_of(kind, path);

	request.watch = true;
	submit_both(session, &request);
	compare(false);
}

static void renew(int session)
{
	fid_close(&server, session);
	fid_close(&model, session);
	/* The ephemerals of one session are deleted in any order. */
	compare(true);
	open_both(session);
	compare(false);
}

static void play(uint64_t seed)
{
	int sent = 0;
	int session;
	int n;

	sim_random_seed(&script.random, seed, 0);
	for (session = 0; session < PLAYERS; session++)
		open_both(session);
	while (sent < REQUESTS) {
		session = (int)sim_random_below(&script.random, PLAYERS);
		if (sent / OF_ONE_ROOT >= script.root) {
			script.root++;
			submit_both(session, fid_root(&script));
			compare(false);
		}
		n = (int)sim_random_below(&script.random, BATCH_MAX) + 1;
		for (sent += n; n > 0; n--)
			submit_both(session, fid_request(&script));
		compare(false);
		if (sim_random_below(&script.random, 40) == 0)
			renew(session);
	}
}

START_TEST(random_requests_have_the_same_answers)
{
	play(1);
}
END_TEST

START_TEST(an_empty_container_goes)
{
	struct ku_zk_request container = request_of(KU_ZK_CREATE, "/c/box");
	struct ku_zk_request empty = request_of(KU_ZK_DELETE, "/c/box/a");
	int i;

	container.mode = KU_ZK_CONTAINER;
	open_both(0);
	open_both(1);
	both(0, KU_ZK_CREATE, "/c");
	for (i = 0; i < 3; i++) {
		submit_both(0, &container);
		both(0, KU_ZK_CREATE, "/c/box/a");
		both(0, KU_ZK_GET, "/c/box");
		watch_both(1, KU_ZK_CHILDREN, "/c");
		watch_both(1, KU_ZK_GET, "/c/box");
		/* From here each side removes the container in its own time. */
		submit_both(0, &empty);
		fid_wait_gone(&server, 0, "/c/box");
		fid_wait_gone(&model, 0, "/c/box");
		compare(false);
		both(0, KU_ZK_EXISTS, "/c");
	}
}
END_TEST

START_TEST(a_frame_too_large_is_a_lost_connection)
{
	char *big = calloc(1, 1500000);
	struct ku_zk_request request = request_of(KU_ZK_CREATE, "/big");

	open_both(0);
	both(0, KU_ZK_CREATE, "/a");
	watch_both(0, KU_ZK_GET, "/a");
	request.data = big;
	request.len = 1500000;
	submit_both(0, &request);
	fid_wait_connected(&server, 0, 2);
	fid_wait_connected(&model, 0, 2);
	compare(false);
	both(0, KU_ZK_EXISTS, "/big");
	both(0, KU_ZK_SET, "/a");
	free(big);
}
END_TEST

/* Everything that can happen to a watched node while its watcher is away. */
static const char *const missed[] = { "/m/changed", "/m/gone", "/m/again",
	"/m/same", "/m/parent" };

static void watch_all(int session)
{
	size_t i;

	for (i = 0; i < sizeof(missed) / sizeof(missed[0]); i++) {
		watch_both(session, KU_ZK_GET, missed[i]);
		watch_both(session, KU_ZK_CHILDREN, missed[i]);
		watch_both(session, KU_ZK_EXISTS, missed[i]);
	}
	watch_both(session, KU_ZK_EXISTS, "/m/new");
	watch_both(session, KU_ZK_EXISTS, "/m/brief");
	watch_both(session, KU_ZK_EXISTS, "/m/never");
	watch_both(session, KU_ZK_CHILDREN, "/m");
}

static void change_all(int session)
{
	both(session, KU_ZK_SET, "/m/changed");
	both(session, KU_ZK_DELETE, "/m/gone");
	both(session, KU_ZK_DELETE, "/m/again");
	both(session, KU_ZK_CREATE, "/m/again");
	both(session, KU_ZK_CREATE, "/m/parent/child");
	both(session, KU_ZK_CREATE, "/m/new");
	both(session, KU_ZK_CREATE, "/m/brief");
	both(session, KU_ZK_DELETE, "/m/brief");
}

START_TEST(a_reconnect_tells_the_same_of_what_was_missed)
{
	struct proxy *proxy = fixture_proxy();
	size_t i;

	open_both(0);
	fid_open(&server, 1, proxy_address(proxy));
	fid_open(&model, 1, NULL);
	both(0, KU_ZK_CREATE, "/m");
	for (i = 0; i < sizeof(missed) / sizeof(missed[0]); i++)
		both(0, KU_ZK_CREATE, missed[i]);
	watch_all(1);
	proxy_set_mode(proxy, PROXY_REFUSE);
	fid_wait_away(&server, 1);
	model_hole(model.model, 1, 0, INT64_MAX);
	model_cut(model.model, 1, false);
	fid_wait_away(&model, 1);
	change_all(0);
	proxy_set_mode(proxy, PROXY_PASS);
	model_heal(model.model);
	fid_wait_connected(&server, 1, 2);
	fid_wait_connected(&model, 1, 2);
	/* The library sends its watches in the order of a hash table. */
	compare(true);
	change_all(1);
	for (i = 0; i < sizeof(missed) / sizeof(missed[0]); i++)
		both(0, KU_ZK_SET, missed[i]);
	both(0, KU_ZK_CREATE, "/m/never");
	fid_close(&server, 1);
	fid_close(&model, 1);
	proxy_free(proxy);
}
END_TEST

int main(void)
{
	static const struct server_options options = {
		.jvm = "-Dznode.container.checkIntervalMs=100",
	};
	Suite *s = suite_create("fidelity");
	TCase *t = fixture_case(s, "model and server", 240);

	fixture_options(&options);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, random_requests_have_the_same_answers);
	tcase_add_test(t, an_empty_container_goes);
	tcase_add_test(t, a_frame_too_large_is_a_lost_connection);
	tcase_add_test(t, a_reconnect_tells_the_same_of_what_was_missed);
	return fixture_main(s);
}
