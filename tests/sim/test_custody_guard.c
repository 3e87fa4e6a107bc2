/*
 * test_custody_guard.c - somebody else deletes the marker of an item that is
 * held.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "desk.h"

#include <kustos/hold.h>
#include <string.h>

#define QUEUE "/queue"
#define MARKS "/marks"
#define ITEM QUEUE "/qn-0000000000"
#define MARK MARKS "/qn-0000000000"

#define WAY_MS 5
#define TRIP_MS (2 * WAY_MS)
/* A marker is watched by then. */
#define WATCHED_MS (KU_HELD_WATCH_MS + TRIP_MS + 5)

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct ku_desk *desk;
static struct ku_lent *had;
static int end; /* result of an ack; -1: not yet */

/* Requests about the marker: */
static int looks, deletes, unwatches;
static int refuse; /* reads of it are answered with this, unless it is 0 */

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool look = request->path != NULL && strcmp(request->path, MARK) == 0 &&
		(request->kind == KU_ZK_GET || request->kind == KU_ZK_EXISTS);

	looks += look;
	deletes += request->kind == KU_ZK_DELETE;
	unwatches += request->kind == KU_ZK_UNWATCH;
	if (look && refuse != 0)
		return lone_refuse(zk, refuse, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static void lent(void *arg, enum kustos_err err, struct ku_lent *got)
{
	(void)arg;
	if (err == KUSTOS_OK)
		had = got;
}

/* Have the item, a moment ago. */
static void have(void)
{
	had = NULL;
	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_FOREVER, NULL, lent, NULL),
		KUSTOS_OK);
	for (int ms = 0; ms < 1000 && had == NULL; ms++)
		run_ms(1);
	ck_assert_ptr_nonnull(had);
	looks = deletes = unwatches = 0;
}

static void setup(void)
{
	const struct ku_desk_wish wish = { .kind = KU_ITEM_SIMPLE,
		.items = QUEUE,
		.marks = MARKS };

	end = -1;
	refuse = 0;
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, QUEUE, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, MARKS, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, ITEM, "x", KU_ZK_PERSISTENT);
	client = lone_connected(&bench, &api);
	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
	have();
}

static void teardown(void)
{
	ku_lent_return(had);
	ku_desk_destroy(desk);
	run_ms(1000);
	ck_assert_ptr_null(client->witnesses.first);
	ck_assert_ptr_null(client->watches.entries);
	lone_teardown(&bench, client);
}

static bool is_held(void)
{
	return kustos_hold_state(ku_lent_hold(had)) != KUSTOS_HOLD_LOST;
}

/* Another client deletes the marker, and may make one of its own, both before
   the client hears of it. */
static void rob(bool and_claim)
{
	static const struct ku_zk_request robbery = { .kind = KU_ZK_DELETE,
		.path = MARK };
	static const struct ku_zk_request claim = { .kind = KU_ZK_CREATE,
		.path = MARK,
		.data = "other",
		.len = 5,
		.mode = KU_ZK_EPHEMERAL };

	lone_send(&bench, raw, &robbery);
	if (and_claim)
		lone_send(&bench, raw, &claim);
}

/* "done" of an ack */
static void given(void *arg, enum kustos_err how)
{
	(void)arg;
	end = (int)how;
}

static void ack(void)
{
	enum kustos_err err = ku_lent_ack_async(had, KU_ACK_DELETE,
		KUSTOS_FOREVER, NULL, given, NULL);

	had = NULL;
	if (err != KUSTOS_OK)
		end = (int)err;
	run_ms(100);
}

START_TEST(S09_who_has_an_item_learns_that_its_marker_is_gone)
{
	run_ms(WATCHED_MS);
	ck_assert_int_eq(looks, 1);
	ck_assert(is_held());
	rob(_i == 1);
	run_ms(WAY_MS + TRIP_MS + WAY_MS + 5);
	ck_assert(!is_held());
	ack();
	ck_assert_int_eq(end, KUSTOS_ELOST);
	ck_assert(model_stat(bench.model, ITEM, NULL));
	ck_assert_int_eq(model_child_count(bench.model, MARKS), _i);
}
END_TEST

/* It is deleted before it is watched. */
START_TEST(S09_a_marker_that_went_at_once_is_missed_all_the_same)
{
	rob(_i == 1);
	run_ms(WATCHED_MS);
	ck_assert(!is_held());
}
END_TEST

START_TEST(S09_a_marker_that_is_only_written_is_not_gone)
{
	static const struct ku_zk_request set = { .kind = KU_ZK_SET,
		.path = MARK,
		.data = "new",
		.len = 3 };

	run_ms(WATCHED_MS);
	lone_send(&bench, raw, &set);
	run_ms(100);
	ck_assert(is_held());
	ck_assert_int_eq(looks, 2);
	rob(false);
	run_ms(100);
	ck_assert(!is_held());
}
END_TEST

START_TEST(S09_a_marker_that_goes_during_an_outage_is_missed_afterwards)
{
	run_ms(WATCHED_MS);
	model_cut(bench.model, LONE_MACHINE, false);
	rob(_i == 1);
	run_ms(1000);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	ck_assert(!is_held());
}
END_TEST

/* A server that cannot answer for now is asked again; one that does not let the
   client read is asked seldom, and nothing is lost by that. */
START_TEST(S09_a_marker_that_cannot_be_read_is_held)
{
	refuse = _i == 0 ? KU_ZK_THROTTLEDOP : KU_ZK_NOAUTH;
	run_ms(1000);
	ck_assert_int_ge(looks, _i == 0 ? 5 : 1);
	ck_assert_int_le(looks, _i == 0 ? 20 : 1);
	ck_assert(is_held());
	refuse = 0;
	rob(false);
	run_ms(31000);
	ck_assert(!is_held());
}
END_TEST

/* Most items are acknowledged or given back sooner, and cost no request. */
START_TEST(P03_a_short_claim_looks_at_no_marker)
{
	run_ms(KU_HELD_WATCH_MS - 1);
	if (_i == 0) {
		ack();
	} else {
		ku_lent_return(had);
		had = NULL;
	}
	run_ms(100);
	ck_assert_int_eq(looks, 0);
}
END_TEST

/* The watch goes with the marker, whether the read of it has been answered. */
START_TEST(P05_a_long_claim_leaves_no_watch_and_sends_nothing_for_it)
{
	run_ms(WATCHED_MS - _i);
	ack();
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(looks, 1);
	ck_assert_int_le(unwatches, _i > 5);
	ck_assert_ptr_null(client->watches.entries);
}
END_TEST

/* The client has heard that the marker changed, and has not read it yet; or the
   connection was lost meanwhile. */
START_TEST(S09_who_gives_its_item_back_spares_anothers_marker)
{
	run_ms(WATCHED_MS);
	if (_i == 1)
		model_cut(bench.model, LONE_MACHINE, false);
	rob(true);
	run_ms(TRIP_MS + 2);
	ku_lent_return(had);
	had = NULL;
	run_ms(1000);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 1);
	ck_assert_int_eq(deletes, 0);
}
END_TEST

/* Somebody who waits gets the item that was lost, as it is free. */
START_TEST(L27_an_item_whose_marker_went_is_had_again)
{
	struct ku_lent *lost = had;

	run_ms(WATCHED_MS);
	rob(false);
	have();
	ck_assert_int_eq(ku_lent_deliveries(had), 2);
	ck_assert_int_eq(kustos_hold_state(ku_lent_hold(lost)),
		KUSTOS_HOLD_LOST);
	ku_lent_return(lost);
	run_ms(100);
	ck_assert(is_held());
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("markers of items in custody");
	TCase *t = tcase_create("are watched");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		S09_who_has_an_item_learns_that_its_marker_is_gone, 0, 2);
	tcase_add_loop_test(t,
		S09_a_marker_that_went_at_once_is_missed_all_the_same, 0, 2);
	tcase_add_test(t, S09_a_marker_that_is_only_written_is_not_gone);
	tcase_add_loop_test(t,
		S09_a_marker_that_goes_during_an_outage_is_missed_afterwards, 0,
		2);
	tcase_add_loop_test(t, S09_a_marker_that_cannot_be_read_is_held, 0, 2);
	tcase_add_loop_test(t, P03_a_short_claim_looks_at_no_marker, 0, 2);
	tcase_add_loop_test(t,
		P05_a_long_claim_leaves_no_watch_and_sends_nothing_for_it, 0,
		TRIP_MS + 5);
	tcase_add_loop_test(t,
		S09_who_gives_its_item_back_spares_anothers_marker, 0, 2);
	tcase_add_test(t, L27_an_item_whose_marker_went_is_had_again);
	suite_add_tcase(s, t);
	return unit_main(s);
}
