/*
 * test_lend.c - a call asks a desk for an item at an awkward moment, or has
 * ended when an item is claimed for it.
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
/* How long each message between a client and its server takes. */
#define WAY_MS 4

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct ku_desk *desk;
static int creations, transactions; /* requests for them */

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

/* The call's result will be in "*end"; -1: not yet. */
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

/* The listing that is under way may be older than the second call. */
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

/* The desk claims an item ahead of calls. */
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

/* With the path of the marker, the session's paths would be more than the
   server accepts when the session closes. */
START_TEST(L07_who_claims_with_no_room_for_a_marker_is_told)
{
	int end;

	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, ITEM, "x", KU_ZK_PERSISTENT);
	open_desk(0);
	client->footprint.asked_bytes += KU_FOOTPRINT_LIMIT;
	ask(KUSTOS_FOREVER, NULL, &end);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(end, KUSTOS_ELIMIT);
	ck_assert_int_eq(transactions, 0);
	client->footprint.asked_bytes -= KU_FOOTPRINT_LIMIT;
}
END_TEST

/* The program dispatches its callbacks itself, and does so only when it closes
   the client. */
START_TEST(L01_what_was_claimed_goes_back_if_the_call_comes_too_late)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	bool gone = false;
	int end;

	options.dispatch = KUSTOS_DISPATCH_FD;
	ck_assert(lone_close(&bench, client));
	client = lone_connected_with(&bench, &api, 1, &options);
	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, ITEM, "x", KU_ZK_PERSISTENT);
	open_desk(0);
	ask(KUSTOS_FOREVER, NULL, &end);
	lone_run_ms(&bench, client, 100);
	ck_assert(model_stat(bench.model, MARK, NULL));
	ck_assert_int_eq(end, -1);
	ku_client_close_start(client, KUSTOS_FOREVER, &gone);
	ck_assert_ptr_nonnull(desk->first);
	ck_assert_int_eq(kustos_client_dispatch(client), 1);
	ck_assert_int_eq(end, KUSTOS_ECLOSED);
	ck_assert_ptr_null(desk->first);
	ku_desk_destroy(desk);
	desk = NULL;
	for (int ms = 0; ms < 1000 && !gone; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert(gone);
	bench_run_ms(&bench, 2 * WAY_MS);
	ck_assert(!model_stat(bench.model, MARK, NULL));
	client = NULL;
}
END_TEST

static struct ku_lent *had;

static void lent(void *arg, enum kustos_err err, struct ku_lent *got)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_OK);
	had = got;
}

/* Wait "ms" for an item, and return it. */
static struct ku_lent *have(int ms)
{
	had = NULL;
	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_FOREVER, NULL, lent, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, ms);
	ck_assert_ptr_nonnull(had);
	return had;
}

/* The program has not given back yet the item that it lost with its session. */
START_TEST(L27_what_was_lost_is_had_again_before_it_is_given_back)
{
	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, ITEM, "x", KU_ZK_PERSISTENT);
	open_desk(0);
	struct ku_lent *lost = have(1000);
	ck_assert(model_expire(bench.model, LONE_MACHINE));
	lone_run_ms(&bench, client, 3 * LONE_TIMEOUT_MS);
	struct ku_lent *again = have(1000);
	ck_assert_int_eq(ku_lent_deliveries(again),
		ku_lent_deliveries(lost) + 1);
	ku_lent_return(lost);
	ck_assert(model_stat(bench.model, MARK, NULL));
	ku_lent_return(again);
}
END_TEST

/* A rival claims the first item first.  After that the desk chooses at random;
   later, when it is alone again, it takes strictly the first. */
START_TEST(who_was_beaten_takes_the_first_again)
{
	char path[] = QUEUE "/qn-0000000000";
	char *number = &path[sizeof(path) - 2];
	struct ku_lent *got[6];
	const struct ku_zk_request beat = { .kind = KU_ZK_CREATE,
		.path = MARK,
		.mode = KU_ZK_EPHEMERAL };

	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	for (int i = 0; i <= 8; i++) {
		*number = (char)('0' + i);
		bench_create(&bench, raw, path, number, KU_ZK_PERSISTENT);
	}
	open_desk(0);
	had = NULL;
	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_FOREVER, NULL, lent, NULL),
		KUSTOS_OK);
	while (ku_head_count(&desk->head) == 0)
		lone_run_ms(&bench, client, 1);
	lone_send(&bench, raw, &beat);
	lone_run_ms(&bench, client, 1000);
	ck_assert_ptr_nonnull(had);
	ck_assert_int_eq(transactions, 2);
	got[0] = had;
	for (int i = 1; i < 6; i++) {
		got[i] = have(1000);
		ck_assert(i < 3 ||
			*(const char *)ku_lent_item(got[i])->data >
				*(const char *)ku_lent_item(got[i - 1])->data);
	}
	for (int i = 0; i < 6; i++)
		ku_lent_return(got[i]);
}
END_TEST

/* There is no connection for some time. */
START_TEST(L20_who_does_not_wait_waits_for_no_connection)
{
	int end = -1;

	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, ITEM, "x", KU_ZK_PERSISTENT);
	open_desk(0);
	model_server_stop(bench.model, 0);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_NOW, NULL, ended, &end),
		KUSTOS_EDISCONNECTED);
	model_server_start(bench.model, 0);
	lone_run_ms(&bench, client, 3000);
	ku_lent_return(have(1000));
}
END_TEST

START_TEST(L28_nobody_lists_for_who_has_given_up)
{
	struct kustos_cancel *cancel;
	int end;

	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	open_desk(0);
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	ask(KUSTOS_FOREVER, cancel, &end);
	lone_run_ms(&bench, client, 100);
	kustos_cancel_fire(cancel);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(end, KUSTOS_ECANCELED);
	uint64_t before = desk->items.asked;
	bench_create(&bench, raw, ITEM, "x", KU_ZK_PERSISTENT);
	lone_run_ms(&bench, client, 1000);
	ck_assert_uint_eq(desk->items.asked, before);
	ku_lent_return(have(1000));
	kustos_cancel_destroy(cancel);
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
	tcase_add_test(t, L07_who_claims_with_no_room_for_a_marker_is_told);
	tcase_add_test(t,
		L01_what_was_claimed_goes_back_if_the_call_comes_too_late);
	tcase_add_test(t,
		L27_what_was_lost_is_had_again_before_it_is_given_back);
	tcase_add_test(t, who_was_beaten_takes_the_first_again);
	tcase_add_test(t, L20_who_does_not_wait_waits_for_no_connection);
	tcase_add_test(t, L28_nobody_lists_for_who_has_given_up);
	suite_add_tcase(s, t);
	return unit_main(s);
}
