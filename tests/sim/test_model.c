/* test_model.c - the rules of ZooKeeper, one by one, on the model's tree. */
#include "bench.h"
#include "model_impl.h"

#include <check.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static struct model_config config;
static struct bench bench;
static struct ku_zk *zk;

static void setup(void)
{
	model_config_init(&config);
	bench_init(&bench, &config);
	zk = bench_open(&bench, -1, 4000);
}

static void teardown(void)
{
	ck_assert_int_eq(bench.broken, 0);
	bench_free(&bench);
}

static int create(const char *path, enum ku_zk_mode mode)
{
	return bench_create(&bench, zk, path, "x", mode).rc;
}

START_TEST(a_created_node_is_read_back)
{
	struct bench_reply r;

	r = bench_create(&bench, zk, "/a", "data", KU_ZK_PERSISTENT);
	ck_assert_int_eq(r.rc, KU_ZK_OK);
	ck_assert_str_eq(r.path, "/a");
	ck_assert(r.has_stat);
	r = bench_read(&bench, zk, KU_ZK_GET, "/a", false);
	ck_assert_int_eq(r.rc, KU_ZK_OK);
	ck_assert_str_eq(r.data, "data");
	ck_assert_int_eq(r.len, 4);
	ck_assert_int_eq(r.stat.version, 0);
	ck_assert_int_eq(r.stat.data_length, 4);
	ck_assert_int_eq(r.stat.czxid, r.stat.mzxid);
	ck_assert_int_eq(r.stat.czxid, r.stat.pzxid);
	ck_assert_int_eq(r.stat.ephemeral_owner, 0);
}
END_TEST

START_TEST(null_data_is_not_empty_data)
{
	struct bench_reply r;

	bench_create(&bench, zk, "/null", NULL, KU_ZK_PERSISTENT);
	bench_create(&bench, zk, "/empty", "", KU_ZK_PERSISTENT);
	r = bench_read(&bench, zk, KU_ZK_GET, "/null", false);
	ck_assert_int_eq(r.len, -1);
	ck_assert_int_eq(r.stat.data_length, 0);
	r = bench_read(&bench, zk, KU_ZK_GET, "/empty", false);
	ck_assert_int_eq(r.len, 0);
}
END_TEST

START_TEST(wrong_requests_have_the_servers_codes)
{
	struct ku_zk_request no_acl = {
		.kind = KU_ZK_CREATE,
		.path = "/a",
		.len = -1,
	};

	ck_assert_int_eq(create("/no/child", 0), KU_ZK_NONODE);
	ck_assert_int_eq(create("/a", 0), KU_ZK_OK);
	ck_assert_int_eq(create("/a", 0), KU_ZK_NODEEXISTS);
	ck_assert_int_eq(create("/a/b", KU_ZK_EPHEMERAL), KU_ZK_OK);
	ck_assert_int_eq(create("/a/b/c", 0), KU_ZK_NOCHILDRENFOREPHEMERALS);
	ck_assert_int_eq(bench_delete(&bench, zk, "/a", -1).rc, KU_ZK_NOTEMPTY);
	ck_assert_int_eq(bench_delete(&bench, zk, "/a", 3).rc,
		KU_ZK_BADVERSION);
	ck_assert_int_eq(bench_delete(&bench, zk, "/b", 3).rc, KU_ZK_NONODE);
	ck_assert_int_eq(bench_delete(&bench, zk, "/", -1).rc,
		KU_ZK_BADARGUMENTS);
	ck_assert_int_eq(bench_set(&bench, zk, "/b", "", -1).rc, KU_ZK_NONODE);
	ck_assert_int_eq(bench_set(&bench, zk, "/a", "", 1).rc,
		KU_ZK_BADVERSION);
	ck_assert_int_eq(create("bad", 0), KU_ZK_BADARGUMENTS);
	ck_assert_int_eq(create("/bad/", 0), KU_ZK_BADARGUMENTS);
	ck_assert_int_eq(create("/a/../b", 0), KU_ZK_BADARGUMENTS);
	ck_assert_int_eq(create("/a//b", 0), KU_ZK_BADARGUMENTS);
	ck_assert_int_eq(bench_call(&bench, zk, &no_acl).rc, KU_ZK_INVALIDACL);
}
END_TEST

START_TEST(stats_count_what_changed)
{
	struct kustos_stat first;
	struct kustos_stat now;

	create("/a", 0);
	model_stat(bench.model, "/a", &first);
	bench_set(&bench, zk, "/a", "yy", 0);
	create("/a/b", 0);
	create("/a/c", 0);
	bench_delete(&bench, zk, "/a/b", -1);
	ck_assert(model_stat(bench.model, "/a", &now));
	ck_assert_int_eq(now.czxid, first.czxid);
	ck_assert_int_eq(now.mzxid, first.czxid + 1);
	ck_assert_int_eq(now.pzxid, first.czxid + 4);
	ck_assert_int_eq(now.version, 1);
	ck_assert_int_eq(now.cversion, 3);
	ck_assert_int_eq(now.num_children, 1);
	ck_assert_int_eq(now.data_length, 2);
}
END_TEST

START_TEST(children_of_any_mode_take_a_number)
{
	struct bench_reply r;

	create("/q", 0);
	create("/q/plain", 0);
	bench_delete(&bench, zk, "/q/plain", -1);
	r = bench_create(&bench, zk, "/q/n-", "", KU_ZK_EPHEMERAL_SEQUENTIAL);
	ck_assert_str_eq(r.path, "/q/n-0000000001");
	r = bench_create(&bench, zk, "/q/m-", "", KU_ZK_PERSISTENT_SEQUENTIAL);
	ck_assert_str_eq(r.path, "/q/m-0000000002");
	r = bench_read(&bench, zk, KU_ZK_CHILDREN, "/q", false);
	ck_assert_int_eq(r.name_count, 2);
	ck_assert(strcmp(r.names[0], "n-0000000001") == 0 ||
		strcmp(r.names[1], "n-0000000001") == 0);
}
END_TEST

START_TEST(S18_the_counter_sticks_at_its_maximum)
{
	struct bench_reply r;

	create("/q", 0);
	model_set_created(bench.model, "/q", INT32_MAX - 1);
	r = bench_create(&bench, zk, "/q/a", "", KU_ZK_PERSISTENT_SEQUENTIAL);
	ck_assert_str_eq(r.path, "/q/a2147483646");
	r = bench_create(&bench, zk, "/q/a", "", KU_ZK_PERSISTENT_SEQUENTIAL);
	ck_assert_str_eq(r.path, "/q/a2147483647");
	r = bench_create(&bench, zk, "/q/a", "", KU_ZK_PERSISTENT_SEQUENTIAL);
	ck_assert_int_eq(r.rc, KU_ZK_NODEEXISTS);
	r = bench_create(&bench, zk, "/q/b", "", KU_ZK_PERSISTENT_SEQUENTIAL);
	ck_assert_str_eq(r.path, "/q/b2147483647");
}
END_TEST

START_TEST(the_counter_restarts_with_its_parent)
{
	struct bench_reply r;

	create("/q", 0);
	create("/q/a", 0);
	bench_delete(&bench, zk, "/q/a", -1);
	bench_delete(&bench, zk, "/q", -1);
	create("/q", 0);
	r = bench_create(&bench, zk, "/q/a", "", KU_ZK_PERSISTENT_SEQUENTIAL);
	ck_assert_str_eq(r.path, "/q/a0000000000");
}
END_TEST

START_TEST(a_container_goes_with_its_last_child)
{
	create("/c", KU_ZK_CONTAINER);
	create("/never", KU_ZK_CONTAINER);
	create("/c/a", 0);
	bench_run_ms(&bench, 3000);
	ck_assert(model_stat(bench.model, "/c", NULL));
	bench_delete(&bench, zk, "/c/a", -1);
	ck_assert(model_stat(bench.model, "/c", NULL));
	bench_run_ms(&bench, 1100);
	ck_assert(!model_stat(bench.model, "/c", NULL));
	ck_assert(model_stat(bench.model, "/never", NULL));
}
END_TEST

static struct ku_zk_request op(enum ku_zk_kind kind, const char *path,
	int version)
{
	struct ku_zk_request request = {
		.kind = kind,
		.path = path,
		.data = "m",
		.len = 1,
		.version = version,
		.acl = &bench_acl,
		.acl_count = 1,
	};

	return request;
}

START_TEST(a_listing_has_each_child_once_wherever_it_begins)
{
	struct msg msg = { 0 };

	create("/a", 0);
	create("/a/1", 0);
	create("/a/2", 0);
	create("/a/3", 0);
	msg_names(&msg,
		tree_find(&bench.model->tree, "/a", 2, path_hash("/a", 2)),
		UINT_MAX);
	ck_assert_int_eq(msg.name_count, 3);
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_ne(msg.names[i], msg.names[(i + 1) % 3]);
	for (int i = 0; i < 3; i++)
		blob_unref(msg.names[i]);
	free(msg.names);
}
END_TEST

START_TEST(a_multi_is_all)
{
	struct ku_zk_request ops[4];
	struct ku_zk_request multi = {
		.kind = KU_ZK_MULTI,
		.ops = ops,
		.op_count = 4,
	};
	struct bench_reply r;
	struct kustos_stat stat;

	ops[0] = op(KU_ZK_CREATE, "/m", 0);
	ops[1] = op(KU_ZK_SET, "/m", 0);
	ops[2] = op(KU_ZK_CHECK, "/m", 1);
	ops[3] = op(KU_ZK_CREATE, "/m/n", 0);
	r = bench_call(&bench, zk, &multi);
	ck_assert_int_eq(r.rc, KU_ZK_OK);
	ck_assert_int_eq(r.result_count, 4);
	ck_assert_int_eq(r.results[1].stat.version, 1);
	model_stat(bench.model, "/m/n", &stat);
	ck_assert_int_eq(stat.czxid, r.results[1].stat.mzxid);
}
END_TEST

START_TEST(a_multi_is_nothing)
{
	struct ku_zk_request ops[5];
	struct ku_zk_request multi = {
		.kind = KU_ZK_MULTI,
		.ops = ops,
		.op_count = 5,
	};
	struct kustos_stat before = { 0 };
	struct kustos_stat after = { 0 };
	struct bench_reply r;

	create("/m", 0);
	create("/m/old", KU_ZK_EPHEMERAL);
	model_stat(bench.model, "/m", &before);
	ops[0] = op(KU_ZK_SET, "/m", -1);
	ops[1] = op(KU_ZK_CREATE, "/m/n", 0);
	ops[2] = op(KU_ZK_DELETE, "/m/old", -1);
	ops[3] = op(KU_ZK_CHECK, "/m", 7);
	ops[4] = op(KU_ZK_DELETE, "/m/n", -1);
	r = bench_call(&bench, zk, &multi);
	ck_assert_int_eq(r.rc, KU_ZK_BADVERSION);
	ck_assert_int_eq(r.results[0].rc, KU_ZK_OK);
	ck_assert_int_eq(r.results[2].rc, KU_ZK_OK);
	ck_assert_int_eq(r.results[3].rc, KU_ZK_BADVERSION);
	ck_assert_int_eq(r.results[4].rc, KU_ZK_RUNTIMEINCONSISTENCY);
	model_stat(bench.model, "/m", &after);
	ck_assert_int_eq(before.mzxid, after.mzxid);
	ck_assert_int_eq(before.pzxid, after.pzxid);
	ck_assert_int_eq(before.version, after.version);
	ck_assert_int_eq(before.cversion, after.cversion);
	ck_assert_int_eq(before.data_length, after.data_length);
	ck_assert_int_eq(before.num_children, after.num_children);
	ck_assert(!model_stat(bench.model, "/m/n", NULL));
	/* The ephemeral that was put back still ends with its session. */
	model_expire(bench.model, 0);
	ck_assert(!model_stat(bench.model, "/m/old", NULL));
}
END_TEST

START_TEST(a_frame_too_large_breaks_the_connection)
{
	char *big = calloc(1, 1100000);
	struct ku_zk_request request = {
		.kind = KU_ZK_CREATE,
		.path = "/big",
		.data = big,
		.len = 1100000,
		.acl = &bench_acl,
		.acl_count = 1,
	};

	ck_assert_int_eq(bench_call(&bench, zk, &request).rc,
		KU_ZK_CONNECTIONLOSS);
	ck_assert(!model_stat(bench.model, "/big", NULL));
	free(big);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("model");
	TCase *c = tcase_create("tree");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_created_node_is_read_back);
	tcase_add_test(c, null_data_is_not_empty_data);
	tcase_add_test(c, wrong_requests_have_the_servers_codes);
	tcase_add_test(c, stats_count_what_changed);
	tcase_add_test(c, children_of_any_mode_take_a_number);
	tcase_add_test(c, S18_the_counter_sticks_at_its_maximum);
	tcase_add_test(c, the_counter_restarts_with_its_parent);
	tcase_add_test(c, a_container_goes_with_its_last_child);
	tcase_add_test(c, a_listing_has_each_child_once_wherever_it_begins);
	tcase_add_test(c, a_multi_is_all);
	tcase_add_test(c, a_multi_is_nothing);
	tcase_add_test(c, a_frame_too_large_breaks_the_connection);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(suite());
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
