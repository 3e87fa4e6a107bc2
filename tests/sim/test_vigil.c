/*
 * test_vigil.c - several wait for the same node: one that gives up, or may not
 * wait, leaves the others as they are.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "vigil.h"

#include <kustos/cancel.h>
#include <string.h>

#define NODE "/node"

static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_vigil *vigil;
static struct kustos_cancel *cancel;
static int ends[2]; /* -1: not yet */

static enum kustos_err judge(const void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	return reply->len == 3 && memcmp(reply->data, "yes", 3) == 0
		? KUSTOS_OK
		: KUSTOS_EBUSY;
}

static void setup(void)
{
	const struct ku_vigil_wish wish = { .kind = KU_ZK_GET, .judge = judge };

	ends[0] = ends[1] = -1;
	raw = lone_setup(&bench, 5);
	bench_create(&bench, raw, NODE, "no", KU_ZK_PERSISTENT);
	client = lone_connected(&bench, &ku_zk_sim);
	ck_assert_int_eq(ku_vigil_create(client, NODE, &wish, &vigil),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
}

static void teardown(void)
{
	ku_vigil_destroy(vigil);
	kustos_cancel_destroy(cancel);
	lone_teardown(&bench, client);
}

static void ended(void *arg, enum kustos_err err)
{
	ck_assert_int_eq(*(int *)arg, -1);
	*(int *)arg = (int)err;
}

static void wait_as(int i, kustos_deadline deadline, struct kustos_cancel *by)
{
	ck_assert_int_eq(
		ku_vigil_wait_async(vigil, deadline, by, ended, &ends[i]),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
}

static void check_the_other(void)
{
	ck_assert_int_eq(ends[1], -1);
	bench_set(&bench, raw, NODE, "yes", -1);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(ends[1], KUSTOS_OK);
}

START_TEST(L08_who_gives_up_leaves_the_watch_to_who_waits_on)
{
	wait_as(1, KUSTOS_FOREVER, NULL);
	if (_i == 0) {
		wait_as(0, KUSTOS_FOREVER, cancel);
		ck_assert_int_eq(ends[0], -1);
		kustos_cancel_fire(cancel);
		lone_run_ms(&bench, client, 100);
		ck_assert_int_eq(ends[0], KUSTOS_ECANCELED);
	} else {
		wait_as(0, KUSTOS_NOW, NULL);
		ck_assert_int_eq(ends[0], KUSTOS_EBUSY);
	}
	check_the_other();
}
END_TEST

/* The connection is lost before the call, or while it looks. */
START_TEST(U09_who_may_not_wait_is_told_that_there_is_no_connection)
{
	wait_as(1, KUSTOS_FOREVER, NULL);
	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	for (int ms = 0; _i == 0 && ms < LONE_TIMEOUT_MS &&
		client->session.state == KUSTOS_STATE_CONNECTED;
		ms++)
		lone_run_ms(&bench, client, 1);
	enum kustos_err err = ku_vigil_wait_async(vigil, KUSTOS_NOW, NULL,
		ended, &ends[0]);
	if (_i == 0) {
		ck_assert_int_eq(err, KUSTOS_EDISCONNECTED);
	} else {
		ck_assert_int_eq(err, KUSTOS_OK);
		lone_run_ms(&bench, client, LONE_TIMEOUT_MS / 2);
		ck_assert_int_eq(ends[0], KUSTOS_EDISCONNECTED);
	}
	model_heal(bench.model);
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS);
	check_the_other();
}
END_TEST

/* The server has too many requests, and the read is tried again later. */
START_TEST(U09_who_may_not_wait_is_told_that_the_read_was_put_off)
{
	wait_as(1, KUSTOS_FOREVER, NULL);
	model_set_throttle(bench.model, 1000000);
	wait_as(0, KUSTOS_NOW, NULL);
	ck_assert_int_eq(ends[0], KUSTOS_EDISCONNECTED);
	model_set_throttle(bench.model, 0);
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS);
	check_the_other();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vigils in the simulator");
	TCase *t = tcase_create("several");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		L08_who_gives_up_leaves_the_watch_to_who_waits_on, 0, 2);
	tcase_add_loop_test(t,
		U09_who_may_not_wait_is_told_that_there_is_no_connection, 0, 2);
	tcase_add_test(t,
		U09_who_may_not_wait_is_told_that_the_read_was_put_off);
	suite_add_tcase(s, t);
	return unit_main(s);
}
