/*
 * test_lend.c - who asks for an item at an awkward moment, or is not there any more
 * when one has been claimed.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "desk_impl.h"

#include <kustos/cancel.h>
#include <string.h>

#define QUEUE "/queue"
#define MARKS "/marks"
#define ITEM QUEUE "/qn-0000000000"
#define MARK MARKS "/qn-0000000000"
/* Between a client and its server: all requests take the same. */
#define WAY_MS 4

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with the one below before it */
static struct kustos_client *client;
static struct ku_desk *desk;
static int creations, transactions; /* asked for */

/* The node of the markers may not be made. */
static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	transactions += request->kind == KU_ZK_MULTI;
	if (request->kind != KU_ZK_CREATE || strcmp(request->path, MARKS) != 0)
		return ku_zk_sim.submit(zk, request, done, arg);
	creations++;
	return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
}

static void ended(void *arg, enum kustos_err err, struct ku_lent *got)
{
	ck_assert_ptr_null(got);
	ck_assert_int_eq(*(int *)arg, -1);
	*(int *)arg = (int)err;
}

/* How it ended will be in "*end"; -1: not yet. */
static void ask(kustos_deadline deadline, struct kustos_cancel *cancel,
	int *end)
{
	*end = -1;
	ck_assert_int_eq(ku_desk_lend_async(desk, deadline, cancel, ended, end),
		KUSTOS_OK);
}

static void open_desk(int ahead)
{
	const struct ku_desk_wish wish = { .kind = KU_ITEM_SIMPLE,
		.items = QUEUE,
		.marks = MARKS,
		.ahead = ahead };

	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
}

static void setup(void)
{
	creations = transactions = 0;
	api = ku_zk_sim;
	api.submit = submit_it;
	raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, QUEUE, "", KU_ZK_PERSISTENT);
	client = lone_connected(&bench, &api);
}

static void teardown(void)
{
	ku_desk_destroy(desk);
	lone_teardown(&bench, client);
}

/* The listing may have been made before it came. */
START_TEST(L20_who_tries_while_all_is_listed_is_told_by_the_next_listing)
{
	int ends[2];

	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	open_desk(0);
	ask(KUSTOS_NOW, NULL, &ends[0]);
	lone_run_ms(&bench, client, WAY_MS / 2);
	ask(KUSTOS_NOW, NULL, &ends[1]);
	lone_run_ms(&bench, client, 2 * WAY_MS);
	ck_assert_int_eq(ends[0], KUSTOS_EEMPTY);
	ck_assert_int_eq(ends[1], -1);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ends[1], KUSTOS_EEMPTY);
}
END_TEST

START_TEST(L27_what_is_claimed_for_who_has_given_up_goes_back)
{
	struct kustos_cancel *cancel;
	int end;

	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, ITEM, "x", KU_ZK_PERSISTENT);
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	open_desk(0);
	ask(KUSTOS_FOREVER, cancel, &end);
	for (int ms = 0; transactions == 0; ms++) {
		ck_assert_int_lt(ms, 10 * WAY_MS);
		lone_run_ms(&bench, client, 1);
	}
	kustos_cancel_fire(cancel);
	lone_run_ms(&bench, client, WAY_MS + WAY_MS / 2);
	ck_assert_int_eq(end, KUSTOS_ECANCELED);
	ck_assert(model_stat(bench.model, MARK, NULL));
	lone_run_ms(&bench, client, 1000);
	ck_assert(!model_stat(bench.model, MARK, NULL));
	ck_assert(model_stat(bench.model, ITEM, NULL));
	kustos_cancel_destroy(cancel);
}
END_TEST

/* An item is to be had in stock, whoever asks. */
START_TEST(L28_markers_that_may_not_be_made_are_not_asked_for_all_the_time)
{
	int end;

	bench_create(&bench, raw, ITEM, "x", KU_ZK_PERSISTENT);
	open_desk(1);
	ask(KUSTOS_FOREVER, NULL, &end);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(end, KUSTOS_ENOAUTH);
	ck_assert_int_gt(creations, 0);
	ck_assert_int_le(creations, 10);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("who asks a desk in the simulator");
	TCase *t = tcase_create("in one moment");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		L20_who_tries_while_all_is_listed_is_told_by_the_next_listing);
	tcase_add_test(t, L27_what_is_claimed_for_who_has_given_up_goes_back);
	tcase_add_test(t,
		L28_markers_that_may_not_be_made_are_not_asked_for_all_the_time);
	suite_add_tcase(s, t);
	return unit_main(s);
}
