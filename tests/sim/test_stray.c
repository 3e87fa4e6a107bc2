/*
 * test_stray.c - a creation that was looked for in vain is done late, and the
 * connection lasts.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/node.h>
#include <string.h>

#define LINE "/line"
#define WAY_MS 5

/* A heartbeat has been answered by then. */
#define BEAT_MS (LONE_TIMEOUT_MS / 8 + 4 * WAY_MS)

static struct bench bench;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static char lost[128]; /* the path of the creation that was lost */
static int looks;
static bool keeps; /* no deletion reaches the server */

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	looks += request->kind == KU_ZK_CHILDREN;
	if (request->kind == KU_ZK_CREATE && lost[0] == '\0') {
		strcpy(lost, request->path);
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	}
	if (request->kind == KU_ZK_DELETE && keeps)
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static void setup(void)
{
	lost[0] = '\0';
	keeps = false;
	api = ku_zk_sim;
	api.submit = submit;
	struct ku_zk *raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, LINE, "", KU_ZK_PERSISTENT);
	client = lone_connected(&bench, &api);
	ku_shun_add(&client->session.shun, "192.0.2.1:2181", ku_now(client));
	ck_assert_int_eq(
		kustos_create_async(client, LINE "/n", "", 0,
			KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_PROTECTED,
			KUSTOS_FOREVER, NULL, lone_ignore, NULL),
		KUSTOS_OK);
	for (int i = 0; i < 1000 && model_child_count(bench.model, LINE) == 0;
		i++)
		run_ms(1);
	ck_assert_ptr_nonnull(client->strays.nests);
	looks = 0;
}

static void teardown(void)
{
	ck_assert_ptr_null(client->strays.nests);
	ck_assert_uint_eq(client->counters.disconnects, 0);
	lone_teardown(&bench, client);
}

static void ignore(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	(void)reply;
}

/* The creation is done. */
static void be_late(void)
{
	const struct ku_zk_request late = { .kind = KU_ZK_CREATE,
		.path = lost,
		.data = "",
		.version = -1,
		.acl = client->config.acl,
		.acl_count = client->config.acl_count,
		.mode = KU_ZK_EPHEMERAL };

	ck_assert_int_eq(
		lone_submit(client->session.handle->zk, &late, ignore, NULL),
		KU_ZK_OK);
	run_ms(WAY_MS);
	ck_assert(model_stat(bench.model, lost, NULL));
}

/* It is found after at most as long again, and a heartbeat. */
START_TEST(S06_what_is_made_late_is_deleted_while_the_connection_lasts)
{
	static const int after_ms[] = { 1, 400, 3000, 10000, KU_SHUN_MS - 100 };

	run_ms(after_ms[_i]);
	be_late();
	run_ms(after_ms[_i] + BEAT_MS + 50);
	ck_assert(!model_stat(bench.model, lost, NULL));
	ck_assert_int_eq(model_child_count(bench.model, LINE), 1);
	ck_assert_ptr_null(client->strays.nests);
}
END_TEST

/* The lease ends before the deletion is answered, but the session does not end,
   and nor does the node. */
START_TEST(S06_L17_what_is_made_late_is_deleted_by_the_session_that_made_it)
{
	int64_t session_id = client->session.id, epoch = client->session.epoch;

	run_ms(100);
	be_late();
	keeps = true;
	run_ms(100 + BEAT_MS + 50);
	bench_run_ms(&bench, LONE_TIMEOUT_MS - 2 * BEAT_MS);
	run_ms(WAY_MS);
	keeps = false;
	run_ms(LONE_TIMEOUT_MS);
	ck_assert_int_eq(client->session.id, session_id);
	ck_assert_int_ne(client->session.epoch, epoch);
	ck_assert(!model_stat(bench.model, lost, NULL));
}
END_TEST

/* It is looked for once after the time in which it can come. */
START_TEST(L28_what_never_comes_is_looked_for_seldom_and_then_not_any_more)
{
	run_ms(KU_SHUN_MS - 100);
	ck_assert_ptr_nonnull(client->strays.nests);
	ck_assert_int_ge(looks, 3);
	ck_assert_int_le(looks, 8);
	looks = 0;
	run_ms(BEAT_MS + 100);
	ck_assert_int_eq(looks, 1);
	ck_assert_ptr_null(client->strays.nests);
	run_ms(2 * KU_SHUN_MS);
	ck_assert_int_eq(looks, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("nodes that are made late");
	TCase *t = tcase_create("are looked for");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		S06_what_is_made_late_is_deleted_while_the_connection_lasts, 0,
		5);
	tcase_add_test(t,
		S06_L17_what_is_made_late_is_deleted_by_the_session_that_made_it);
	tcase_add_test(t,
		L28_what_never_comes_is_looked_for_seldom_and_then_not_any_more);
	suite_add_tcase(s, t);
	return unit_main(s);
}
