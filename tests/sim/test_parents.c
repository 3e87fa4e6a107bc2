/*
 * test_parents.c - missing parents, and containers, are created on servers that
 * do not support containers.
 */
#include "lone.h"

#include "../unit/fault.h"
#include "../unit/unit.h"

#include <kustos/cancel.h>
#include <kustos/node.h>

#include <string.h>

/* Time for a few round trips, but not for a pause between two tries. */
#define AT_ONCE_MS 50

static struct bench bench;
static struct ku_zk_api api; /* ku_zk_sim, on servers of an older version */
static struct kustos_client *client;

/* Creations of containers, which are to be refused. */
static struct {
	ku_zk_done_fn *done;
	void *arg;
} refused[8];
static int refused_count;

/* Other creations: what is sent, and how many are refused, with what. */
static int plain_count;
static struct {
	const char *path;
	int count, rc;
} refusal;

/* Memory is short when the next plain creation of "refusal.path" is answered. */
static struct {
	bool due;
	ku_zk_done_fn *done;
	void *arg;
} shortage;

static void hear_and_be_short(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	fault_after(0);
	shortage.done(shortage.arg, reply);
	ck_assert(fault_end());
}

static void refuse(void *arg, const struct ku_zk_reply *reply)
{
	const struct ku_zk_reply no = { .rc = KU_ZK_UNIMPLEMENTED, .len = -1 };
	const int *i = arg;

	ck_assert_int_eq(reply->rc, KU_ZK_OK);
	refused[*i].done(refused[*i].arg, &no);
}

/* A sync is sent in place of the container, so that the refusal comes when the
   answer would. */
static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	static const struct ku_zk_request sync = { .kind = KU_ZK_SYNC,
		.path = "/" };
	static int numbers[UNIT_COUNT(refused)];

	if (request->kind != KU_ZK_CREATE)
		return ku_zk_sim.submit(zk, request, done, arg);
	if (request->mode != KU_ZK_CONTAINER) {
		plain_count++;
		if (shortage.due && strcmp(request->path, refusal.path) == 0) {
			shortage.due = false;
			shortage.done = done;
			shortage.arg = arg;
			return ku_zk_sim.submit(zk, request, hear_and_be_short,
				NULL);
		}
		if (refusal.count == 0 ||
			strcmp(request->path, refusal.path) != 0)
			return ku_zk_sim.submit(zk, request, done, arg);
		refusal.count--;
		return lone_refuse(zk, refusal.rc, done, arg);
	}
	ck_assert_int_lt(refused_count, UNIT_COUNT(refused));
	refused[refused_count].done = done;
	refused[refused_count].arg = arg;
	numbers[refused_count] = refused_count;
	return ku_zk_sim.submit(zk, &sync, refuse, &numbers[refused_count++]);
}

static void setup(void)
{
	shortage.due = false;
	refused_count = plain_count = refusal.count = 0;
	api = ku_zk_sim;
	api.submit = submit_it;
	(void)lone_setup(&bench, 2);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

static void open_in(const char *name_space, struct kustos_retry retry)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	options.name_space = name_space;
	options.retry = retry;
	client = lone_connected_with(&bench, &api, 1, &options);
}

static void made(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)result;
	*(int *)arg = (int)err;
}

/* Create a node.  It must be there at once, without a retry. */
static void make(const char *path, int flags)
{
	struct kustos_client_stats stats = KUSTOS_CLIENT_STATS_INIT;
	int end = -1;

	ck_assert_int_eq(kustos_create_async(client, path, NULL, 0, flags,
				 KUSTOS_FOREVER, NULL, made, &end),
		KUSTOS_OK);
	lone_run_ms(&bench, client, AT_ONCE_MS);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(kustos_client_stats(client, &stats), KUSTOS_OK);
	ck_assert_uint_eq(stats.retried, 0);
}

static bool is_there(const char *path)
{
	return model_stat(bench.model, path, NULL);
}

START_TEST(P11_a_name_space_is_made_of_plain_nodes_where_containers_are_unknown)
{
	open_in("/team/billing", kustos_retry_exponential(100, 5000, 29));
	make("/first", 0);
	ck_assert(is_there("/team/billing/first"));
	ck_assert_int_eq(refused_count, 2);
}
END_TEST

static struct kustos_retry patience(int i)
{
	return i == 0 ? kustos_retry_exponential(100, 5000, 29)
		      : kustos_retry_none();
}

START_TEST(P11_parents_are_plain_nodes_where_containers_are_unknown)
{
	open_in(NULL, patience(_i));
	make("/a/b/c", KUSTOS_CREATE_PARENTS);
	ck_assert(is_there("/a/b/c"));
	ck_assert_int_eq(refused_count, 2);
	/* Now the client knows that there are no containers. */
	make("/d/e/f", KUSTOS_CREATE_PARENTS);
	make("/g", KUSTOS_CREATE_CONTAINER);
	ck_assert(is_there("/d/e/f") && is_there("/g"));
	ck_assert_int_eq(refused_count, 2);
}
END_TEST

START_TEST(P11_a_container_is_a_plain_node_where_containers_are_unknown)
{
	open_in(NULL, patience(_i));
	make("/g", KUSTOS_CREATE_CONTAINER);
	make("/h", KUSTOS_CREATE_CONTAINER);
	ck_assert(is_there("/g") && is_there("/h"));
	ck_assert_int_eq(refused_count, 1);
}
END_TEST

/* The topmost parent is under way, and the others wait for room. */
START_TEST(L05_parents_that_wait_are_not_made_for_who_has_given_up)
{
	struct kustos_cancel *cancel;
	int end = -1;

	open_in(NULL, patience(0));
	make("/g", KUSTOS_CREATE_CONTAINER); /* learn that there are none */
	client->env.in_flight = 1;
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	ck_assert_int_eq(kustos_create_async(client, "/a/b/c/d", NULL, 0,
				 KUSTOS_CREATE_PARENTS, KUSTOS_FOREVER, cancel,
				 made, &end),
		KUSTOS_OK);
	for (int ms = 0; client->wire.waiting < 3 && ms < 1000; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert_uint_eq(client->wire.waiting, 3);
	kustos_cancel_fire(cancel);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(end, KUSTOS_ECANCELED);
	ck_assert(is_there("/a") && !is_there("/a/b"));
	kustos_cancel_destroy(cancel);
}
END_TEST

/* Two containers are under way at once.  The second refusal comes when the
   client knows already that there are no containers. */
START_TEST(P11_containers_asked_for_at_once_are_plain_nodes)
{
	int ends[2] = { -1, -1 };

	open_in(NULL, patience(_i));
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(kustos_create_async(client,
					 i == 0 ? "/g" : "/h", NULL, 0,
					 KUSTOS_CREATE_CONTAINER,
					 KUSTOS_FOREVER, NULL, made, &ends[i]),
			KUSTOS_OK);
	lone_run_ms(&bench, client, AT_ONCE_MS);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	ck_assert_int_eq(ends[1], KUSTOS_OK);
	ck_assert(is_there("/g") && is_there("/h"));
	ck_assert_int_eq(refused_count, 2);
}
END_TEST

/* Of the next creations of "path", "count" are refused with "rc". */
static void refuse_next(const char *path, int rc, int count)
{
	refusal.path = path;
	refusal.rc = rc;
	refusal.count = count;
}

/* Create a node and return how that ends, or -1 if it does not. */
static int try_to_make(const char *path, int flags)
{
	int end = -1;

	plain_count = 0;
	ck_assert_int_eq(kustos_create_async(client, path, NULL, 0, flags,
				 KUSTOS_FOREVER, NULL, made, &end),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 5000);
	return end;
}

static void open_without_containers(void)
{
	open_in(NULL, kustos_retry_n_times(10, 100));
	make("/g", KUSTOS_CREATE_CONTAINER); /* learn that there are none */
}

/* They are removed as often as they are made, at first. */
START_TEST(L21_parents_that_go_again_and_again_are_made_each_time)
{
	open_without_containers();
	refuse_next("/a/b/c", KU_ZK_NONODE, 5);
	ck_assert_int_eq(try_to_make("/a/b/c", KUSTOS_CREATE_PARENTS),
		KUSTOS_OK);
	ck_assert_int_eq(plain_count, 6 + 3 * 2);
}
END_TEST

/* The creation of the first was lost, so the second could not be made. */
START_TEST(L21_a_parent_whose_parent_is_missing_is_tried_again)
{
	open_without_containers();
	refuse_next("/a", KU_ZK_CONNECTIONLOSS, 1);
	ck_assert_int_eq(try_to_make("/a/b/c", KUSTOS_CREATE_PARENTS),
		KUSTOS_OK);
}
END_TEST

START_TEST(L21_a_parent_that_is_forbidden_ends_the_creation)
{
	open_without_containers();
	refuse_next("/a", KU_ZK_NOAUTH, 1000);
	ck_assert_int_eq(try_to_make("/a/b/c", KUSTOS_CREATE_PARENTS),
		KUSTOS_ENOAUTH);
	ck_assert_int_eq(plain_count, 4);
}
END_TEST

/* It is tried again when there may be memory, also if only the name space is to
   be made. */
START_TEST(L21_parents_for_which_memory_was_short_are_made_later)
{
	open_in(_i == 0 ? NULL : "/a/b", kustos_retry_n_times(10, 100));
	client->ops.no_containers = true;
	refuse_next("/a/b/c", KU_ZK_OK, 0);
	shortage.due = true;
	ck_assert_int_eq(_i == 0 ? try_to_make("/a/b/c", KUSTOS_CREATE_PARENTS)
				 : try_to_make("/c", 0),
		KUSTOS_OK);
	ck_assert(!shortage.due && is_there("/a/b/c"));
	ck_assert_int_eq(plain_count, 2 + 2 + 1);
}
END_TEST

START_TEST(what_a_server_does_not_know_is_not_tried_again)
{
	open_without_containers();
	refuse_next("/a", KU_ZK_UNIMPLEMENTED, 1000);
	ck_assert_int_eq(try_to_make("/a", 0), KUSTOS_EUNSUPPORTED);
	ck_assert_int_eq(plain_count, 1);
}
END_TEST

START_TEST(a_node_whose_parent_nobody_asked_for_is_sent_once)
{
	open_without_containers();
	ck_assert_int_eq(try_to_make("/a/b", 0), KUSTOS_ENONODE);
	ck_assert_int_eq(plain_count, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("parents");
	TCase *t = tcase_create("no containers");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		P11_a_name_space_is_made_of_plain_nodes_where_containers_are_unknown);
	tcase_add_loop_test(t,
		P11_parents_are_plain_nodes_where_containers_are_unknown, 0, 2);
	tcase_add_loop_test(t,
		P11_a_container_is_a_plain_node_where_containers_are_unknown, 0,
		2);
	tcase_add_loop_test(t, P11_containers_asked_for_at_once_are_plain_nodes,
		0, 2);
	tcase_add_test(t,
		L05_parents_that_wait_are_not_made_for_who_has_given_up);
	tcase_add_test(t,
		L21_parents_that_go_again_and_again_are_made_each_time);
	tcase_add_test(t, L21_a_parent_whose_parent_is_missing_is_tried_again);
	tcase_add_test(t, L21_a_parent_that_is_forbidden_ends_the_creation);
	tcase_add_loop_test(t,
		L21_parents_for_which_memory_was_short_are_made_later, 0, 2);
	tcase_add_test(t, what_a_server_does_not_know_is_not_tried_again);
	tcase_add_test(t, a_node_whose_parent_nobody_asked_for_is_sent_once);
	suite_add_tcase(s, t);
	return unit_main(s);
}
