/*
 * test_node.c - the public operations on nodes: their results and errors,
 * paths, and malformed arguments.
 */
#include "client_fixture.h"
#include "raw.h"

#include <kustos/cancel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 10000

static struct kustos_client *client;

static void set_up(void)
{
	client = client_connected(fixture_address(), T_MS);
}

static void tear_down(void)
{
	client_close(client);
}

static void make(const char *path)
{
	check_err(
		kustos_create(client, path, "x", 1, 0, SOON, NULL, NULL, NULL),
		KUSTOS_OK);
}

START_TEST(a_node_is_made_read_changed_listed_and_deleted)
{
	struct kustos_stat made, got, set;
	struct kustos_names *names = NULL;
	char *path = NULL, *data = NULL;
	size_t len = 0;

	check_err(kustos_create(client, "/a", "one", 3, 0, SOON, NULL, &path,
			  &made),
		KUSTOS_OK);
	ck_assert_str_eq(path, "/a");
	ck_assert_int_gt(made.czxid, 0);
	ck_assert_int_eq(made.ephemeral_owner, 0);
	check_err(kustos_get(client, "/a", SOON, NULL, &data, &len, &got),
		KUSTOS_OK);
	ck_assert_str_eq(data, "one");
	ck_assert_uint_eq(len, 3);
	ck_assert_int_eq(got.czxid, made.czxid);
	check_err(kustos_set(client, "/a", "two!", 4, 0, SOON, NULL, &set),
		KUSTOS_OK);
	ck_assert_int_eq(set.version, 1);
	ck_assert_int_eq(set.data_length, 4);
	make("/a/b");
	check_err(kustos_children(client, "/a", SOON, NULL, &names, &got),
		KUSTOS_OK);
	ck_assert_uint_eq(names->count, 1);
	ck_assert_str_eq(names->names[0], "b");
	ck_assert_int_eq(got.num_children, 1);
	check_err(kustos_sync(client, "/a", SOON, NULL), KUSTOS_OK);
	check_err(kustos_exists(client, "/a/b", SOON, NULL, &got), KUSTOS_OK);
	check_err(kustos_delete(client, "/a/b", 0, SOON, NULL), KUSTOS_OK);
	check_err(kustos_delete(client, "/a", -1, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(raw_exists(fixture_address(), "/a", NULL), RAW_NONODE);
	kustos_free(path);
	kustos_free(data);
	kustos_names_free(names);
}
END_TEST

START_TEST(every_answer_of_the_server_has_its_error)
{
	make("/a");
	make("/a/b");
	check_err(kustos_create(client, "/e", NULL, 0, KUSTOS_CREATE_EPHEMERAL,
			  SOON, NULL, NULL, NULL),
		KUSTOS_OK);
	check_err(
		kustos_create(client, "/a", NULL, 0, 0, SOON, NULL, NULL, NULL),
		KUSTOS_EEXISTS);
	check_err(kustos_create(client, "/none/x", NULL, 0, 0, SOON, NULL, NULL,
			  NULL),
		KUSTOS_ENONODE);
	check_err(kustos_create(client, "/e/x", NULL, 0, 0, SOON, NULL, NULL,
			  NULL),
		KUSTOS_ENOCHILDREN);
	check_err(kustos_create(client, "/e/x/y", NULL, 0,
			  KUSTOS_CREATE_PARENTS, SOON, NULL, NULL, NULL),
		KUSTOS_ENOCHILDREN);
	check_err(kustos_get(client, "/none", SOON, NULL, NULL, NULL, NULL),
		KUSTOS_ENONODE);
	check_err(kustos_exists(client, "/none", SOON, NULL, NULL),
		KUSTOS_ENONODE);
	check_err(kustos_children(client, "/none", SOON, NULL, NULL, NULL),
		KUSTOS_ENONODE);
	check_err(kustos_set(client, "/none", "", 0, -1, SOON, NULL, NULL),
		KUSTOS_ENONODE);
	check_err(kustos_set(client, "/a", "", 0, 7, SOON, NULL, NULL),
		KUSTOS_EBADVERSION);
	check_err(kustos_delete(client, "/none", -1, SOON, NULL),
		KUSTOS_ENONODE);
	check_err(kustos_delete(client, "/a/b", 7, SOON, NULL),
		KUSTOS_EBADVERSION);
	check_err(kustos_delete(client, "/a", -1, SOON, NULL),
		KUSTOS_ENOTEMPTY);
	check_err(
		kustos_create(client, "/", NULL, 0, 0, SOON, NULL, NULL, NULL),
		KUSTOS_EEXISTS);
	ck_assert_uint_eq(client_stats(client).failed, 0);
}
END_TEST

START_TEST(null_data_empty_data_and_default_data_differ)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_client *other;
	char *data = NULL;
	size_t len = 7;

	ck_assert_int_eq(raw_create(fixture_address(), "/null", NULL), 0);
	check_err(kustos_get(client, "/null", SOON, NULL, &data, &len, NULL),
		KUSTOS_OK);
	ck_assert_ptr_null(data);
	ck_assert_uint_eq(len, 0);
	check_err(kustos_create(client, "/empty", NULL, 0, 0, SOON, NULL, NULL,
			  NULL),
		KUSTOS_OK);
	check_err(kustos_get(client, "/empty", SOON, NULL, &data, &len, NULL),
		KUSTOS_OK);
	ck_assert_ptr_nonnull(data);
	ck_assert_uint_eq(len, 0);
	kustos_free(data);

	o.node_data = "a\0b";
	o.node_data_len = 3;
	other = client_open_with(&o);
	check_err(kustos_create(other, "/default", NULL, 0, 0, SOON, NULL, NULL,
			  NULL),
		KUSTOS_OK);
	check_err(kustos_create(other, "/given", "", 0, 0, SOON, NULL, NULL,
			  NULL),
		KUSTOS_OK);
	check_err(kustos_get(other, "/default", SOON, NULL, &data, &len, NULL),
		KUSTOS_OK);
	ck_assert_uint_eq(len, 3);
	ck_assert_mem_eq(data, "a\0b", 4);
	kustos_free(data);
	check_err(kustos_get(other, "/given", SOON, NULL, &data, &len, NULL),
		KUSTOS_OK);
	ck_assert_uint_eq(len, 0);
	kustos_free(data);
	client_close(other);
}
END_TEST

START_TEST(sequential_and_protected_names_are_as_promised)
{
	char *path = NULL;

	make("/q");
	check_err(kustos_create(client, "/q/n-", NULL, 0,
			  KUSTOS_CREATE_SEQUENTIAL, SOON, NULL, &path, NULL),
		KUSTOS_OK);
	ck_assert_str_eq(path, "/q/n-0000000000");
	kustos_free(path);
	check_err(kustos_create(client, "/q/", NULL, 0,
			  KUSTOS_CREATE_SEQUENTIAL, SOON, NULL, &path, NULL),
		KUSTOS_OK);
	ck_assert_str_eq(path, "/q/0000000001");
	kustos_free(path);
	check_err(kustos_create(client, "/q/lock-", NULL, 0,
			  KUSTOS_CREATE_SEQUENTIAL | KUSTOS_CREATE_PROTECTED |
				  KUSTOS_CREATE_EPHEMERAL,
			  SOON, NULL, &path, NULL),
		KUSTOS_OK);
	ck_assert_uint_eq(strlen(path), 3 + 3 + 36 + 1 + 5 + 10);
	ck_assert_int_eq(strncmp(path, "/q/_c_", 6), 0);
	ck_assert_str_eq(path + 3 + 3 + 36, "-lock-0000000002");
	kustos_free(path);
}
END_TEST

static const char *const bad_paths[] = { "", "a", "a/b", "/a/", "//", "/a//b",
	"/a/.", "/a/../b", "/..", "/a\x01", "/\xff", "/a\xf0\x9f\x98\x80" };

START_TEST(U05_a_malformed_path_is_refused_and_never_sent)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	char hosts[64];
	struct kustos_client *rooted;

	ck_assert_int_eq(raw_create(fixture_address(), "/ch", NULL), 0);
	snprintf(hosts, sizeof(hosts), "%s/ch", fixture_address());
	o.hosts = hosts;
	rooted = client_open_with(&o);
	for (size_t i = 0; i < sizeof(bad_paths) / sizeof(bad_paths[0]); i++) {
		const char *p = bad_paths[i];
		struct kustos_op op = { .kind = KUSTOS_OP_DELETE,
			.path = p,
			.version = -1 };

		for (int k = 0; k < 2; k++) {
			struct kustos_client *c = k == 0 ? client : rooted;

			check_err(kustos_create(c, p, NULL, 0, 0, SOON, NULL,
					  NULL, NULL),
				KUSTOS_EINVAL);
			check_err(
				kustos_get(c, p, SOON, NULL, NULL, NULL, NULL),
				KUSTOS_EINVAL);
			check_err(kustos_set(c, p, "", 0, -1, SOON, NULL, NULL),
				KUSTOS_EINVAL);
			check_err(kustos_exists(c, p, SOON, NULL, NULL),
				KUSTOS_EINVAL);
			check_err(kustos_delete(c, p, -1, SOON, NULL),
				KUSTOS_EINVAL);
			check_err(kustos_delete_guaranteed(c, p, 1),
				KUSTOS_EINVAL);
			check_err(kustos_children(c, p, SOON, NULL, NULL, NULL),
				KUSTOS_EINVAL);
			check_err(kustos_sync(c, p, SOON, NULL), KUSTOS_EINVAL);
			check_err(kustos_multi(c, &op, 1, SOON, NULL, NULL),
				KUSTOS_EINVAL);
		}
	}
	check_err(kustos_get(client, NULL, SOON, NULL, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	ck_assert_int_eq(raw_count_children(fixture_address(), "/ch"), 0);
	client_close(rooted);
}
END_TEST

START_TEST(malformed_arguments_are_refused)
{
	struct kustos_op op = { .kind = KUSTOS_OP_CREATE,
		.path = "/x",
		.flags = KUSTOS_CREATE_PROTECTED };
	struct completions c = { 0 };

	check_err(
		kustos_create(client, "/x", NULL, 3, 0, SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_create(client, "/x", NULL, 0, 1024, SOON, NULL, NULL,
			  NULL),
		KUSTOS_EINVAL);
	check_err(kustos_create(client, "/x", NULL, 0,
			  KUSTOS_CREATE_CONTAINER | KUSTOS_CREATE_EPHEMERAL,
			  SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_set(client, "/x", "", 0, -2, SOON, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_delete(client, "/x", -2, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_multi(client, &op, 1, SOON, NULL, NULL),
		KUSTOS_EINVAL);
	op = (struct kustos_op){ .kind = KUSTOS_OP_CREATE,
		.path = "/x",
		.reserved = "" };
	check_err(kustos_multi(client, &op, 1, SOON, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_multi(client, &op, 0, SOON, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_multi(client, NULL, 1, SOON, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_get_async(client, "/x", SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(
		kustos_get_async(client, "x", SOON, NULL, count_completion, &c),
		KUSTOS_EINVAL);
	check_err(kustos_get(NULL, "/x", SOON, NULL, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(completions_of(&c), 0);
}
END_TEST

/* What was made is told by its path, which is the caller's. */
static void check_made(const struct kustos_op_result *result, const char *path)
{
	ck_assert_str_eq(result->path, path);
	kustos_free(result->path);
}

START_TEST(a_transaction_is_applied_as_a_whole)
{
	struct kustos_op ops[] = {
		{ .kind = KUSTOS_OP_CREATE,
			.path = "/m",
			.data = "d",
			.len = 1 },
		{ .kind = KUSTOS_OP_CREATE,
			.path = "/m/s-",
			.flags = KUSTOS_CREATE_SEQUENTIAL |
				KUSTOS_CREATE_EPHEMERAL },
		{ .kind = KUSTOS_OP_SET,
			.path = "/m",
			.data = "ee",
			.len = 2,
			.version = 0 },
		{ .kind = KUSTOS_OP_CHECK, .path = "/m", .version = 1 },
		{ .kind = KUSTOS_OP_DELETE, .path = "/old", .version = -1 },
	};
	struct kustos_op_result results[5];

	make("/old");
	check_err(kustos_multi(client, ops, 5, SOON, NULL, results), KUSTOS_OK);
	for (int i = 0; i < 5; i++)
		check_err(results[i].err, KUSTOS_OK);
	check_made(&results[0], "/m");
	check_made(&results[1], "/m/s-0000000000");
	for (int i = 2; i < 5; i++)
		ck_assert_ptr_null(results[i].path);
	ck_assert_int_eq(results[2].stat.version, 1);
	ck_assert_int_eq(results[2].stat.data_length, 2);
	ck_assert_int_eq(raw_exists(fixture_address(), "/m/s-0000000000", NULL),
		0);
	ck_assert_int_eq(raw_exists(fixture_address(), "/old", NULL),
		RAW_NONODE);
}
END_TEST

START_TEST(a_transaction_that_fails_changes_nothing_and_says_why)
{
	struct kustos_op ops[] = {
		{ .kind = KUSTOS_OP_CREATE, .path = "/m" },
		{ .kind = KUSTOS_OP_CHECK, .path = "/old", .version = 9 },
		{ .kind = KUSTOS_OP_DELETE, .path = "/old", .version = -1 },
	};
	struct kustos_op_result results[3];

	make("/old");
	check_err(kustos_multi(client, ops, 3, SOON, NULL, results),
		KUSTOS_EBADVERSION);
	check_err(results[0].err, KUSTOS_EROLLEDBACK);
	ck_assert_ptr_null(results[0].path); /* nobody would free it */
	check_err(results[1].err, KUSTOS_EBADVERSION);
	check_err(results[2].err, KUSTOS_EROLLEDBACK);
	ck_assert_int_eq(raw_exists(fixture_address(), "/m", NULL), RAW_NONODE);
	ck_assert_int_eq(raw_exists(fixture_address(), "/old", NULL), 0);
}
END_TEST

/* The transaction was not even begun. */
START_TEST(a_transaction_that_is_given_up_at_once_says_so_of_each_part)
{
	struct kustos_op ops[] = {
		{ .kind = KUSTOS_OP_CREATE, .path = "/m" },
		{ .kind = KUSTOS_OP_CREATE, .path = "/m/n" },
	};
	struct kustos_op_result results[2];
	struct kustos_cancel *cancel;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	kustos_cancel_fire(cancel);
	check_err(kustos_multi(client, ops, 2, SOON, cancel, results),
		KUSTOS_ECANCELED);
	kustos_cancel_destroy(cancel);
	check_err(results[0].err, KUSTOS_ECANCELED);
	check_err(results[1].err, KUSTOS_ECANCELED);
	ck_assert_ptr_null(results[0].path);
}
END_TEST

START_TEST(P04_a_container_in_a_transaction_is_not_supported)
{
	struct kustos_op ops[] = {
		{ .kind = KUSTOS_OP_CREATE, .path = "/m" },
		{ .kind = KUSTOS_OP_CREATE,
			.path = "/c",
			.flags = KUSTOS_CREATE_CONTAINER },
	};
	struct kustos_op_result results[2];

	check_err(kustos_multi(client, ops, 2, SOON, NULL, results),
		KUSTOS_EUNSUPPORTED);
	check_err(results[0].err, KUSTOS_EUNSUPPORTED);
	ck_assert_int_eq(raw_exists(fixture_address(), "/m", NULL), RAW_NONODE);
	make("/still-works");
}
END_TEST

struct lent {
	struct completions count;
	char path[64], data[64], name[64];
	struct kustos_stat stat;
	size_t results;
};

static void keep(void *arg, enum kustos_err err, const struct kustos_result *r)
{
	struct lent *l = arg;

	if (r->path != NULL)
		snprintf(l->path, sizeof(l->path), "%s", r->path);
	if (r->data != NULL)
		memcpy(l->data, r->data, r->len + 1);
	if (r->names != NULL && r->names->count > 0)
		snprintf(l->name, sizeof(l->name), "%s", r->names->names[0]);
	if (r->stat != NULL)
		l->stat = *r->stat;
	l->results = r->result_count;
	if (r->result_count > 0 && r->results[0].path != NULL)
		snprintf(l->path, sizeof(l->path), "%s", r->results[0].path);
	count_completion(&l->count, err, r);
}

/* Wait for one call to end and check its error. */
static void expect(struct lent *l, enum kustos_err err)
{
	test_eventually(completions_of(&l->count) == 1, 5000);
	check_err((enum kustos_err)l->count.err, err);
}

START_TEST(the_asynchronous_calls_bring_the_same)
{
	struct lent l[9] = { { { 0 }, "", "", "", { 0 }, 0 } };
	struct kustos_op op = { .kind = KUSTOS_OP_CREATE,
		.path = "/q/m-",
		.flags = KUSTOS_CREATE_SEQUENTIAL };

	make("/q");
	check_err(kustos_create_async(client, "/a", "one", 3, 0, SOON, NULL,
			  keep, &l[0]),
		KUSTOS_OK);
	check_err(kustos_get_async(client, "/a", SOON, NULL, keep, &l[1]),
		KUSTOS_OK);
	check_err(kustos_set_async(client, "/a", "x", 1, -1, SOON, NULL, keep,
			  &l[2]),
		KUSTOS_OK);
	check_err(kustos_exists_async(client, "/a", SOON, NULL, keep, &l[3]),
		KUSTOS_OK);
	check_err(kustos_children_async(client, "/", SOON, NULL, keep, &l[4]),
		KUSTOS_OK);
	check_err(kustos_sync_async(client, "/", SOON, NULL, keep, &l[5]),
		KUSTOS_OK);
	check_err(kustos_multi_async(client, &op, 1, SOON, NULL, keep, &l[6]),
		KUSTOS_OK);
	check_err(
		kustos_delete_async(client, "/a", -1, SOON, NULL, keep, &l[7]),
		KUSTOS_OK);
	check_err(kustos_get_async(client, "/a", SOON, NULL, keep, &l[8]),
		KUSTOS_OK);
	for (int i = 0; i < 8; i++)
		expect(&l[i], KUSTOS_OK);
	expect(&l[8], KUSTOS_ENONODE);
	ck_assert_str_eq(l[0].path, "/a");
	ck_assert_str_eq(l[1].data, "one");
	ck_assert_int_eq(l[2].stat.version, 1);
	ck_assert_int_eq(l[3].stat.data_length, 1);
	ck_assert_str_ne(l[4].name, "");
	ck_assert_uint_eq(l[6].results, 1);
	ck_assert_str_eq(l[6].path, "/q/m-0000000000");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("node");
	TCase *t = fixture_case(s, "node", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, a_node_is_made_read_changed_listed_and_deleted);
	tcase_add_test(t, every_answer_of_the_server_has_its_error);
	tcase_add_test(t, null_data_empty_data_and_default_data_differ);
	tcase_add_test(t, sequential_and_protected_names_are_as_promised);
	tcase_add_test(t, U05_a_malformed_path_is_refused_and_never_sent);
	tcase_add_test(t, malformed_arguments_are_refused);
	tcase_add_test(t, a_transaction_is_applied_as_a_whole);
	tcase_add_test(t,
		a_transaction_that_fails_changes_nothing_and_says_why);
	tcase_add_test(t,
		a_transaction_that_is_given_up_at_once_says_so_of_each_part);
	tcase_add_test(t, P04_a_container_in_a_transaction_is_not_supported);
	tcase_add_test(t, the_asynchronous_calls_bring_the_same);
	return fixture_main(s);
}
