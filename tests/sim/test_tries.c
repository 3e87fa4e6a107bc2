/*
 * test_tries.c - calls that only look, and must not wait, when no server
 * answers.
 */
#include "lone_line.h"

#include "../unit/unit.h"

#include <kustos/barrier.h>
#include <kustos/countdown.h>

static struct kustos_barrier *barrier;
static struct kustos_double_barrier *member;
static struct kustos_countdown *countdown;
static int ends[2]; /* -1: not yet */

/* Set up, and then cut the client off from all servers. */
static void setup(void)
{
	lone_line_open(&ku_zk_sim);
	struct kustos_client *client = lone.client;
	ck_assert_int_eq(kustos_barrier_create(client, "/b", NULL, &barrier),
		KUSTOS_OK);
	ck_assert_int_eq(
		kustos_double_barrier_create(client, "/d", 2, NULL, &member),
		KUSTOS_OK);
	ck_assert_int_eq(
		kustos_countdown_create(client, "/c", 1, NULL, &countdown),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, client, 200);
	model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
	ends[0] = ends[1] = -1;
}

static void teardown(void)
{
	kustos_barrier_destroy(barrier);
	kustos_double_barrier_destroy(member);
	kustos_countdown_destroy(countdown);
	model_heal(lone.bench.model);
	lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
	lone_line_close();
}

static void ended(void *arg, enum kustos_err err)
{
	ck_assert_int_eq(*(int *)arg, -1);
	*(int *)arg = (int)err;
}

#define KINDS 3

static enum kustos_err begin(int kind, kustos_deadline deadline, int *end)
{
	if (kind == 0)
		return kustos_barrier_wait_async(barrier, deadline, NULL, ended,
			end);
	if (kind == 1)
		return kustos_countdown_wait_async(countdown, deadline, NULL,
			ended, end);
	return kustos_double_barrier_enter_async(member, deadline, NULL, ended,
		end);
}

/* Run until the client has noticed the silence, which is long before the lease
   ends. */
static void run_until_away(void)
{
	for (int i = 0; i < LONE_TIMEOUT_MS &&
		lone.client->session.state == KUSTOS_STATE_CONNECTED;
		i++)
		lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(lone.client->session.state, KUSTOS_STATE_SUSPENDED);
	lone_run_ms(&lone.bench, lone.client, 2);
	ck_assert_int_eq(lone.client->session.state, KUSTOS_STATE_SUSPENDED);
}

START_TEST(L20_a_look_ends_when_the_connection_is_away)
{
	ck_assert_int_eq(begin(_i, KUSTOS_NOW, &ends[0]), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(ends[0], -1);
	run_until_away();
	ck_assert_int_eq(ends[0], KUSTOS_EDISCONNECTED);
}
END_TEST

/* The call that waits goes on to wait. */
START_TEST(L20_a_look_does_not_wait_for_who_waits)
{
	ck_assert_int_eq(begin(_i, KUSTOS_FOREVER, &ends[1]), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(begin(_i, KUSTOS_NOW, &ends[0]), KUSTOS_OK);
	run_until_away();
	ck_assert_int_eq(ends[0], KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(ends[1], -1);
}
END_TEST

static struct ku_op *second;

static struct ku_op *look(ku_op_ended_fn *fn)
{
	struct ku_op *op = NULL;

	ck_assert_int_eq(ku_op_new(lone.client, KU_ZK_EXISTS, "/x", 0, &op),
		KUSTOS_OK);
	ck_assert_int_eq(ku_op_start(&op, fn, NULL), KUSTOS_OK);
	return op;
}

static void ends_both(struct ku_op *op)
{
	ck_assert_ptr_nonnull(second);
	ku_op_let_go(&second);
	ends[0] = (int)op->err;
	ku_op_drop(op);
}

static void never(struct ku_op *op)
{
	(void)op;
	ck_abort_msg("it was let go");
}

/* A caller that waits for two operations cancels the second when the first has
   ended. */
START_TEST(L01_an_operation_that_ends_may_take_the_next_with_it)
{
	struct kustos_client *client = lone.client;

	lone_run_ms(&lone.bench, client, LONE_TIMEOUT_MS);
	ku_lock(client);
	(void)look(ends_both);
	second = look(never);
	size_t before = client->ops.count;
	ku_ops_close(client);
	ck_assert_uint_eq(client->ops.count, before - 2);
	ku_unlock(client);
	ck_assert_int_eq(ends[0], KUSTOS_ECLOSED);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tries in the simulator");
	TCase *t = tcase_create("tries");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, L20_a_look_ends_when_the_connection_is_away, 0,
		KINDS);
	tcase_add_loop_test(t, L20_a_look_does_not_wait_for_who_waits, 0, 2);
	tcase_add_test(t, L01_an_operation_that_ends_may_take_the_next_with_it);
	suite_add_tcase(s, t);
	return unit_main(s);
}
