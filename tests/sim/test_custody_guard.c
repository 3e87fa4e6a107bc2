/*
 * test_custody_guard.c - somebody else deletes the marker of an item that is
 * held.
 */
#include "custody_bed.h"

#include <kustos/hold.h>

#define WAY_MS 5
#define TRIP_MS (2 * WAY_MS)
/* A marker is watched by then. */
#define WATCHED_MS (KU_HELD_WATCH_MS + TRIP_MS + 5)

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

/* Have the item, a moment ago. */
static void have(void)
{
	ask();
	for (int ms = 0; ms < 1000 && asked < 0; ms++)
		run_ms(1);
	ck_assert_int_eq(asked, KUSTOS_OK);
	looks = deletes = unwatches = 0;
}

static void setup(void)
{
	refuse = 0;
	make_item(WAY_MS);
	open_client(submit);
	open_desk(NULL, 0);
	have();
}

static bool is_held(void)
{
	return kustos_hold_state(ku_lent_hold(had[had_count - 1])) !=
		KUSTOS_HOLD_LOST;
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

static void ack_and_wait(void)
{
	enum kustos_err err = ack();

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
	ack_and_wait();
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
		ack_and_wait();
	} else {
		ku_lent_return(give());
	}
	run_ms(100);
	ck_assert_int_eq(looks, 0);
}
END_TEST

/* The watch goes with the marker, whether the read of it has been answered. */
START_TEST(P05_a_long_claim_leaves_no_watch_and_sends_nothing_for_it)
{
	run_ms(WATCHED_MS - _i);
	ack_and_wait();
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
	ku_lent_return(give());
	run_ms(1000);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 1);
	ck_assert_int_eq(deletes, 0);
}
END_TEST

/* Somebody who waits gets the item that was lost, as it is free. */
START_TEST(L27_an_item_whose_marker_went_is_had_again)
{
	run_ms(WATCHED_MS);
	rob(false);
	have();
	ck_assert_int_eq(ku_lent_deliveries(had[1]), 2);
	ck_assert_int_eq(kustos_hold_state(ku_lent_hold(had[0])),
		KUSTOS_HOLD_LOST);
	ku_lent_return(had[0]);
	had[0] = had[1];
	had_count = 1;
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
	tcase_add_checked_fixture(t, setup, close_all);
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
