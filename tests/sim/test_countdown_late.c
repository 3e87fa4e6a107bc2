/*
 * test_countdown_late.c - calls of a count-down latch that take several
 * requests, one after the other.  Each request must have the call's deadline,
 * and must be given up with the call.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/cancel.h>
#include <kustos/countdown.h>
#include <string.h>

#define LATCH "/latch"
#define PATIENCE_MS 1000

static struct bench bench;
static struct ku_zk_api api;
static struct kustos_client *client;
static struct kustos_countdown *latch;
static struct kustos_cancel *cancel;
static int end; /* -1: it has not ended */

/* After "after" more requests of this kind for the latch, nothing reaches a
   server. */
static struct {
	enum ku_zk_kind kind;
	int after;
} cut;

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (request->kind == cut.kind &&
		strncmp(request->path, LATCH, strlen(LATCH)) == 0 &&
		cut.after-- == 0)
		model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void setup(void)
{
	struct ku_zk *raw = lone_setup(&bench, 10);

	api = ku_zk_sim;
	api.submit = submit_it;
	lone_make(&bench, raw, LATCH);
	client = lone_connected(&bench, &api);
	ck_assert_int_eq(
		kustos_countdown_create(client, LATCH, 2, NULL, &latch),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	cut.after = 1;
	end = -1;
}

static void teardown(void)
{
	model_heal(bench.model);
	lone_run_ms(&bench, client, 2 * LONE_TIMEOUT_MS);
	kustos_countdown_destroy(latch);
	lone_run_ms(&bench, client, 1000);
	kustos_cancel_destroy(cancel);
	lone_teardown(&bench, client);
}

static void ended(void *arg, enum kustos_err err)
{
	ck_assert_int_eq(*(int *)arg, -1);
	*(int *)arg = (int)err;
}

/* Check how the call ends; the last request before the cut was not answered. */
static void check_end(bool canceled)
{
	lone_run_ms(&bench, client, PATIENCE_MS / 2);
	ck_assert_int_lt(cut.after, 0);
	ck_assert_int_eq(end, -1);
	if (canceled)
		kustos_cancel_fire(cancel);
	lone_run_ms(&bench, client, PATIENCE_MS);
	ck_assert_int_eq(end, canceled ? KUSTOS_ECANCELED : KUSTOS_ETIMEDOUT);
}

static kustos_deadline soon(bool canceled)
{
	return canceled
		? KUSTOS_FOREVER
		: ku_monotonic(&client->env.clock) + PATIENCE_MS * KU_NS_PER_MS;
}

START_TEST(who_sets_it_does_not_look_again_for_ever)
{
	cut.kind = KU_ZK_CHILDREN;
	ck_assert_int_eq(kustos_countdown_set_async(latch, soon(_i == 1),
				 cancel, ended, &end),
		KUSTOS_OK);
	check_end(_i == 1);
}
END_TEST

START_TEST(who_lives_is_not_made_to_count_for_ever)
{
	cut.kind = KU_ZK_CREATE;
	ck_assert_int_eq(kustos_countdown_join_async(latch, "a", soon(_i == 1),
				 cancel, ended, &end),
		KUSTOS_OK);
	check_end(_i == 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("late calls of a count-down latch");
	TCase *t = tcase_create("cut off");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, who_sets_it_does_not_look_again_for_ever, 0, 2);
	tcase_add_loop_test(t, who_lives_is_not_made_to_count_for_ever, 0, 2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
