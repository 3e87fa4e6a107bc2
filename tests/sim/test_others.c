/*
 * test_others.c - has anybody else changed the children of a node?  What its
 * stat tells about that, and what it does not.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "others.h"

#define NODE "/list"
#define CHILDREN 3

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct ku_others others;
static int rc; /* the error to answer with, or KU_ZK_OK */
static int told, answered;

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (rc != KU_ZK_OK && request->kind == KU_ZK_EXISTS)
		return lone_refuse(zk, rc, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void tell(struct ku_others *of, bool known)
{
	ck_assert_ptr_eq(of, &others);
	told++;
	answered = known;
}

/* Make the node and its children. */
static void make_all(void)
{
	lone_make(&bench, raw, NODE);
	lone_make(&bench, raw, NODE "/a");
	lone_make(&bench, raw, NODE "/b");
	lone_make(&bench, raw, NODE "/c");
}

static void delete_it(const char *path)
{
	ck_assert_int_eq(bench_delete(&bench, raw, path, -1).rc, KU_ZK_OK);
}

static void delete_all(void)
{
	delete_it(NODE "/a");
	delete_it(NODE "/b");
	delete_it(NODE "/c");
	delete_it(NODE);
}

static void setup(void)
{
	struct kustos_stat stat;

	raw = lone_setup(&bench, 0);
	api = ku_zk_sim;
	api.submit = submit;
	rc = KU_ZK_OK;
	told = 0;
	client = lone_connected(&bench, &api);
	others = (struct ku_others){ .client = client,
		.path = NODE,
		.told = tell };
	make_all();
	ck_assert(model_stat(bench.model, NODE, &stat));
	ck_assert_int_eq(stat.cversion, CHILDREN);
	ku_others_listed(&others, &stat);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

/* Ask, and return whether the answer is that nobody else has changed them. */
static bool ask(void)
{
	told = 0;
	ku_lock(client);
	ku_others_ask(&others);
	ck_assert(ku_others_asked(&others));
	ku_unlock(client);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(told, 1);
	ck_assert(!ku_others_asked(&others));
	return others.none;
}

START_TEST(what_others_make_or_delete_is_told_from_what_is_ours)
{
	ck_assert(ask() && answered);
	lone_make(&bench, raw, NODE "/d");
	ck_assert(!ask() && answered);
	ku_others_ours(&others, 1);
	ck_assert(ask());
	delete_it(NODE "/d");
	ck_assert(!ask());
	ku_others_ours(&others, 1);
	ck_assert(ask());
}
END_TEST

/* The new node has had as many children. */
START_TEST(a_node_that_was_made_anew_is_not_what_was_listed)
{
	struct kustos_stat stat;

	delete_all();
	ck_assert(!ask() && answered); /* no node is an answer, too */
	make_all();
	ck_assert(model_stat(bench.model, NODE, &stat));
	ck_assert_int_eq(stat.cversion, CHILDREN);
	ck_assert(!ask() && answered);
	ku_others_listed(&others, &stat);
	ck_assert(ask());
	ku_others_listed(&others, NULL);
	ck_assert(!ask());
}
END_TEST

/* After a refusal the caller lists the children; without an answer it asks
   again. */
START_TEST(a_refusal_is_an_answer_and_a_server_with_too_much_to_do_gives_none)
{
	rc = KU_ZK_NOAUTH;
	ck_assert(!ask() && answered);
	rc = KU_ZK_THROTTLEDOP;
	ck_assert(!ask() && !answered);
	rc = KU_ZK_CONNECTIONLOSS;
	ck_assert(!ask() && !answered);
	rc = KU_ZK_OK;
	ck_assert(ask() && answered);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("changes by others in the simulator");
	TCase *t = tcase_create("told");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_others_make_or_delete_is_told_from_what_is_ours);
	tcase_add_test(t, a_node_that_was_made_anew_is_not_what_was_listed);
	tcase_add_test(t,
		a_refusal_is_an_answer_and_a_server_with_too_much_to_do_gives_none);
	suite_add_tcase(s, t);
	return unit_main(s);
}
