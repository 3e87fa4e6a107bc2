/*
 * test_never_taken.c - requests that libzookeeper never accepts: each call ends
 * once, whatever is sent before it after a reconnect.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/node.h>

#define NODE "/node"
#define CALLS 3

static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static int ends[CALLS]; /* -1: not yet */

static void setup(void)
{
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;

	for (int i = 0; i < CALLS; i++)
		ends[i] = -1;
	raw = lone_setup(&bench, 5);
	lone_make(&bench, raw, NODE);
	o.retry = kustos_retry_forever(10000);
	client = lone_connected_with(&bench, &ku_zk_sim, 1, &o);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

static void ended(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	int *end = arg;

	(void)result;
	ck_assert_int_eq(*end, -1);
	*end = (int)err;
}

/* libzookeeper cannot create a container in a transaction. */
static void ask_in_vain(int *end)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE,
		.path = "/container",
		.flags = KUSTOS_CREATE_CONTAINER };

	ck_assert_int_eq(kustos_multi_async(client, &op, 1, KUSTOS_FOREVER,
				 NULL, ended, end),
		KUSTOS_OK);
}

static void read_node(int *end)
{
	ck_assert_int_eq(kustos_exists_async(client, NODE, KUSTOS_FOREVER, NULL,
				 ended, end),
		KUSTOS_OK);
}

static void run_until(enum kustos_state state)
{
	for (int ms = 0; ms < 3000 && client->session.state != state; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert_int_eq(client->session.state, state);
}

/* A read that was lost with the connection is sent again first, and the
   requests that wait with it. */
START_TEST(P05_it_is_told_once_behind_one_that_is_tried_again)
{
	read_node(&ends[0]);
	model_cut(bench.model, LONE_MACHINE, true);
	run_until(KUSTOS_STATE_SUSPENDED);
	ask_in_vain(&ends[1]);
	ask_in_vain(&ends[2]);
	run_until(KUSTOS_STATE_CONNECTED);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	ck_assert_int_eq(ends[1], KUSTOS_EUNSUPPORTED);
	ck_assert_int_eq(ends[2], KUSTOS_EUNSUPPORTED);
	ck_assert_ptr_null(client->ops.oldest);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("requests that are never taken");
	TCase *t = tcase_create("in the simulator");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, P05_it_is_told_once_behind_one_that_is_tried_again);
	suite_add_tcase(s, t);
	return unit_main(s);
}
