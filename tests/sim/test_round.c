/*
 * test_round.c - the last member of a double barrier's round leaves, and its
 * deletion of "ready" is lost on the way.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/barrier.h>
#include <string.h>

#define ROUND "/round"
#define READY ROUND "/ready"

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct kustos_double_barrier *member;

static struct { /* the first deletion of "ready" */
	bool lost;
	ku_zk_done_fn *done;
	void *arg;
} deletion;

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (deletion.lost || request->kind != KU_ZK_DELETE ||
		strcmp(request->path, READY) != 0)
		return ku_zk_sim.submit(zk, request, done, arg);
	deletion.lost = true;
	deletion.done = done;
	deletion.arg = arg;
	return KU_ZK_OK;
}

static void say_lost(void)
{
	const struct ku_zk_reply lost = { .rc = KU_ZK_CONNECTIONLOSS,
		.len = -1 };

	deletion.done(deletion.arg, &lost);
}

static void ended(void *arg, enum kustos_err err)
{
	*(int *)arg = (int)err;
}

static int left; /* -1: not yet */

static void setup(void)
{
	int entered = -1;

	memset(&deletion, 0, sizeof(deletion));
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, 0);
	client = lone_connected(&bench, &api);
	ck_assert_int_eq(
		kustos_double_barrier_create(client, ROUND, 1, NULL, &member),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_double_barrier_enter_async(member,
				 KUSTOS_FOREVER, NULL, ended, &entered),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(entered, KUSTOS_OK);
	left = -1;
	ck_assert_int_eq(kustos_double_barrier_leave_async(member,
				 KUSTOS_FOREVER, NULL, ended, &left),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
	ck_assert(deletion.lost);
	ck_assert_int_eq(left, -1);
	ck_assert(model_stat(bench.model, READY, NULL));
}

static void teardown(void)
{
	kustos_double_barrier_destroy(member);
	lone_teardown(&bench, client);
}

/* The "ready" of the next round has the same version. */
START_TEST(S10_the_ready_of_the_next_round_is_not_deleted_late)
{
	bench_delete(&bench, raw, READY, -1);
	bench_create(&bench, raw, READY, "", KU_ZK_PERSISTENT);
	say_lost();
	lone_run_ms(&bench, client, 3000);
	ck_assert(model_stat(bench.model, READY, NULL));
	ck_assert_int_eq(left, KUSTOS_OK);
}
END_TEST

/* The member is alone in each round, and so the last. */
START_TEST(each_round_has_its_ready_deleted)
{
	int entered = -1;

	say_lost();
	lone_run_ms(&bench, client, 3000);
	ck_assert_int_eq(left, KUSTOS_OK);
	ck_assert(!model_stat(bench.model, READY, NULL));
	ck_assert_int_eq(kustos_double_barrier_enter_async(member,
				 KUSTOS_FOREVER, NULL, ended, &entered),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(entered, KUSTOS_OK);
	ck_assert(model_stat(bench.model, READY, NULL));
	ck_assert_int_eq(kustos_double_barrier_leave_async(member,
				 KUSTOS_FOREVER, NULL, ended, &left),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert(!model_stat(bench.model, READY, NULL));
}
END_TEST

START_TEST(L05_a_ready_that_is_to_go_is_deleted_before_the_client_is_closed)
{
	bool gone = false;

	kustos_double_barrier_destroy(member);
	member = NULL;
	ku_client_close_start(client, KUSTOS_FOREVER, &gone);
	say_lost();
	for (int ms = 0; ms < 10000 && !gone; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert(gone);
	client = NULL;
	ck_assert_int_eq(left, KUSTOS_ECLOSED);
	ck_assert(!model_stat(bench.model, READY, NULL));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("the end of a round in the simulator");
	TCase *t = tcase_create("lost");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, S10_the_ready_of_the_next_round_is_not_deleted_late);
	tcase_add_test(t, each_round_has_its_ready_deleted);
	tcase_add_test(t,
		L05_a_ready_that_is_to_go_is_deleted_before_the_client_is_closed);
	suite_add_tcase(s, t);
	return unit_main(s);
}
