/*
 * test_prefix.c - chroot and name space, and parents that are created and
 * reaped.
 *
 * The server checks for empty containers ten times a second.
 */
#include "client_fixture.h"
#include "inject.h"
#include "raw.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define T_MS 10000

static struct kustos_client *client;

static char asked[64]; /* the path of the last request; the client guards it */

static void note_path(void *arg, const struct kustos_request *request)
{
	(void)arg;
	snprintf(asked, sizeof(asked), "%s", request->path);
}

static void open_in(const char *chroot, const char *name_space)
{
	struct kustos_client_options o = client_options(NULL, T_MS);
	char hosts[96];

	snprintf(hosts, sizeof(hosts), "%s%s", fixture_address(), chroot);
	o.hosts = hosts;
	o.name_space = name_space;
	o.on_request = note_path;
	client = client_open_with(&o);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
}

/* Create a node and check the path that is returned. */
static void make(const char *path, int flags, const char *given_back)
{
	char *created = NULL;

	check_err(kustos_create(client, path, "x", 1, flags, SOON, NULL,
			  &created, NULL),
		KUSTOS_OK);
	ck_assert_str_eq(created, given_back);
	kustos_free(created);
}

static bool is_there(const char *path)
{
	int rc = raw_exists(fixture_address(), path, NULL);

	ck_assert(rc == 0 || rc == RAW_NONODE);
	return rc == 0;
}

/* A container is deleted when it is empty; no other node is. */
static void goes_with_its_last_child(const char *path, const char *child)
{
	ck_assert(is_there(path));
	ck_assert_int_eq(raw_delete(fixture_address(), child), 0);
	test_eventually(!is_there(path), 3000);
}

static void use_everything(const char *prefix)
{
	char full[64], *data = NULL;
	struct kustos_names *names = NULL;
	struct kustos_op ops[] = {
		{ .kind = KUSTOS_OP_CREATE, .path = "/m" },
		{ .kind = KUSTOS_OP_DELETE, .path = "/a", .version = -1 },
	};
	struct kustos_op_result results[2];

	make("/a", 0, "/a");
	snprintf(full, sizeof(full), "%s/a", prefix);
	ck_assert(is_there(full));
	make("/s-", KUSTOS_CREATE_SEQUENTIAL, "/s-0000000001");
	check_err(kustos_set(client, "/a", "yy", 2, 0, SOON, NULL, NULL),
		KUSTOS_OK);
	check_err(kustos_get(client, "/a", SOON, NULL, &data, NULL, NULL),
		KUSTOS_OK);
	ck_assert_str_eq(data, "yy");
	kustos_free(data);
	check_err(kustos_children(client, "/", SOON, NULL, &names, NULL),
		KUSTOS_OK);
	ck_assert_uint_eq(names->count, 2);
	kustos_names_free(names);
	check_err(kustos_exists(client, "/", SOON, NULL, NULL), KUSTOS_OK);
	check_err(kustos_multi(client, ops, 2, SOON, NULL, results), KUSTOS_OK);
	ck_assert_str_eq(results[0].path, "/m");
	kustos_free(results[0].path);
	ck_assert(!is_there(full));
	check_err(kustos_delete(client, "/m", -1, SOON, NULL), KUSTOS_OK);
	check_err(kustos_sync(client, "/", SOON, NULL), KUSTOS_OK);
}

START_TEST(everything_works_below_a_chroot)
{
	ck_assert_int_eq(raw_create(fixture_address(), "/app", NULL), 0);
	ck_assert_int_eq(raw_create(fixture_address(), "/app/x", NULL), 0);
	open_in("/app/x", NULL);
	use_everything("/app/x");
	client_close(client);
}
END_TEST

START_TEST(everything_works_in_a_name_space_of_a_chroot)
{
	ck_assert_int_eq(raw_create(fixture_address(), "/app", NULL), 0);
	open_in("/app", "/team/billing");
	ck_assert(!is_there("/app/team"));
	use_everything("/app/team/billing");
	goes_with_its_last_child("/app/team/billing",
		"/app/team/billing/s-0000000001");
	test_eventually(!is_there("/app/team"), 3000);
	ck_assert(is_there("/app"));
	client_close(client);
}
END_TEST

START_TEST(a_missing_chroot_is_not_made)
{
	open_in("/none", _i == 0 ? NULL : "/ns");
	check_err(
		kustos_create(client, "/a", NULL, 0, 0, SOON, NULL, NULL, NULL),
		KUSTOS_ENONODE);
	check_err(kustos_create(client, "/a/b/c", NULL, 0,
			  KUSTOS_CREATE_PARENTS | KUSTOS_CREATE_PROTECTED, SOON,
			  NULL, NULL, NULL),
		KUSTOS_ENONODE);
	check_err(kustos_get(client, "/a", SOON, NULL, NULL, NULL, NULL),
		KUSTOS_ENONODE);
	ck_assert(!is_there("/none"));
	client_close(client);
}
END_TEST

/* Its parents are created like those of any node. */
START_TEST(the_root_of_a_name_space_may_be_made_like_a_node)
{
	char *data = NULL;

	open_in("", "/deep/inside");
	make("/", _i == 0 ? 0 : KUSTOS_CREATE_PARENTS, "/");
	check_err(kustos_get(client, "/", SOON, NULL, &data, NULL, NULL),
		KUSTOS_OK);
	ck_assert_str_eq(data, "x");
	kustos_free(data);
	check_err(kustos_delete(client, "/", -1, SOON, NULL), KUSTOS_OK);
	client_close(client);
	test_eventually(!is_there("/deep"), 3000);
}
END_TEST

START_TEST(a_name_space_is_made_only_as_far_as_it_goes)
{
	open_in("", "/ns");
	check_err(kustos_create(client, "/a/b", NULL, 0, 0, SOON, NULL, NULL,
			  NULL),
		KUSTOS_ENONODE);
	ck_assert(!is_there("/ns/a"));
	make("/a/b", KUSTOS_CREATE_PARENTS, "/a/b");
	goes_with_its_last_child("/ns/a", "/ns/a/b");
	client_close(client);
}
END_TEST

static void keep_path(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	if (err == KUSTOS_OK)
		snprintf(arg, sizeof(asked), "%s",
			result->result_count > 0 ? result->results[0].path
						 : result->path);
}

static void delete_root(void)
{
	check_err(kustos_delete(client, "/", -1, SOON, NULL), KUSTOS_OK);
	ck_assert_str_eq(asked, "/");
}

START_TEST(the_root_of_a_name_space_is_given_back_as_a_slash)
{
	struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = "/" };
	char one[64] = "none", of_many[64] = "none";

	open_in("", "/ns");
	make("/", 0, "/");
	ck_assert(is_there("/ns"));
	delete_root();
	check_err(kustos_create_async(client, "/", NULL, 0, 0, SOON, NULL,
			  keep_path, one),
		KUSTOS_OK);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	delete_root();
	check_err(kustos_multi_async(client, &op, 1, SOON, NULL, keep_path,
			  of_many),
		KUSTOS_OK);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	client_close(client);
	ck_assert_str_eq(one, "/");
	ck_assert_str_eq(of_many, "/");
}
END_TEST

START_TEST(a_reaped_name_space_is_made_again)
{
	open_in("", "/ns");
	for (int i = 0; i < 3; i++) {
		make("/a", 0, "/a");
		check_err(kustos_delete(client, "/a", -1, SOON, NULL),
			KUSTOS_OK);
		test_eventually(!is_there("/ns"), 3000);
	}
	client_close(client);
}
END_TEST

START_TEST(P11_missing_parents_are_made_as_containers_in_one_flight)
{
	uint64_t sent;

	inject_reset();
	open_in("", NULL);
	sent = client_stats(client).sent;
	make("/a/b/c/d", KUSTOS_CREATE_PARENTS, "/a/b/c/d");
	ck_assert_int_eq(inject_sent(ZK_OP_CREATE_CONTAINER), 3);
	ck_assert_int_eq(inject_sent(ZK_OP_CREATE2), 2);
	make("/a/b/c/e", KUSTOS_CREATE_PARENTS, "/a/b/c/e");
	ck_assert_int_eq(inject_sent(ZK_OP_CREATE2), 3);
	make("/k", KUSTOS_CREATE_CONTAINER, "/k");
	ck_assert_int_eq(inject_sent(ZK_OP_CREATE_CONTAINER), 4);
	ck_assert_uint_ge(client_stats(client).sent, sent + 7);
	make("/k/x", 0, "/k/x");
	goes_with_its_last_child("/k", "/k/x");
	client_close(client);
}
END_TEST

/* The parent is empty in each round, and so may be reaped at any moment. */
START_TEST(L21_a_parent_reaped_under_a_creation_is_made_again)
{
	char *path;
	int64_t end = test_now_ms() + PATIENCE_MS;
	int reaped = 0;

	open_in("", NULL);
	while (reaped < 3) {
		ck_assert_int_lt(test_now_ms(), end);
		check_err(kustos_create(client, "/p/q/n-", NULL, 0,
				  KUSTOS_CREATE_PARENTS |
					  KUSTOS_CREATE_SEQUENTIAL |
					  KUSTOS_CREATE_EPHEMERAL |
					  KUSTOS_CREATE_PROTECTED,
				  SOON, NULL, &path, NULL),
			KUSTOS_OK);
		reaped += strstr(path, "-n-0000000000") != NULL;
		check_err(kustos_delete(client, path, -1, SOON, NULL),
			KUSTOS_OK);
		kustos_free(path);
	}
	client_close(client);
}
END_TEST

/* The parents were created, and are reaped before the creation behind them
   arrives. */
START_TEST(L21_a_parent_gone_right_after_it_was_made_is_made_again)
{
	struct completions done = { 0 };

	inject_reset();
	open_in("", NULL);
	inject_connect(ECONNREFUSED); /* it does not come back for now */
	inject_frame(INJECT_FAIL_SEND, ZK_OP_CREATE2, 2);
	check_err(kustos_create_async(client, "/p/q", NULL, 0,
			  KUSTOS_CREATE_PARENTS, SOON, NULL, count_completion,
			  &done),
		KUSTOS_OK);
	test_eventually(inject_fired() == 1 && is_there("/p"), 2000);
	ck_assert_int_eq(raw_delete(fixture_address(), "/p"), 0);
	ck_assert_int_eq(completions_of(&done), 0);
	inject_connect(0);
	test_eventually(completions_of(&done) == 1, 5000);
	check_err((enum kustos_err)done.err, KUSTOS_OK);
	ck_assert(is_there("/p/q"));
	client_close(client);
}
END_TEST

/* The request for the upper level is lost.  The request for the lower level was
   made at the same time and may still be sent, on the next connection, where
   the upper level is missing. */
START_TEST(L21_an_upper_level_lost_on_its_way_is_made_again)
{
	char path[64];

	inject_reset();
	open_in("", NULL);
	for (int i = 0; i < 16; i++) {
		snprintf(path, sizeof(path), "/p%d/q/r/s/n", i);
		inject_frame(INJECT_FAIL_SEND, ZK_OP_CREATE_CONTAINER, 1);
		make(path, KUSTOS_CREATE_PARENTS | KUSTOS_CREATE_EPHEMERAL,
			path);
		ck_assert_int_eq(inject_fired(), i + 1);
	}
	client_close(client);
}
END_TEST

int main(void)
{
	static const struct server_options options = {
		.jvm = "-Dznode.container.checkIntervalMs=100"
	};
	Suite *s = suite_create("prefix");
	TCase *t;

	fixture_options(&options);
	t = fixture_case(s, "prefix", 30);
	tcase_add_test(t, everything_works_below_a_chroot);
	tcase_add_test(t, everything_works_in_a_name_space_of_a_chroot);
	tcase_add_loop_test(t, a_missing_chroot_is_not_made, 0, 2);
	tcase_add_loop_test(t, the_root_of_a_name_space_may_be_made_like_a_node,
		0, 2);
	tcase_add_test(t, a_name_space_is_made_only_as_far_as_it_goes);
	tcase_add_test(t, the_root_of_a_name_space_is_given_back_as_a_slash);
	tcase_add_test(t, a_reaped_name_space_is_made_again);
	tcase_add_test(t,
		P11_missing_parents_are_made_as_containers_in_one_flight);
	tcase_add_test(t, L21_a_parent_reaped_under_a_creation_is_made_again);
	tcase_add_test(t,
		L21_a_parent_gone_right_after_it_was_made_is_made_again);
	tcase_add_test(t, L21_an_upper_level_lost_on_its_way_is_made_again);
	return fixture_main(s);
}
