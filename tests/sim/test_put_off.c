/*
 * test_put_off.c - the claims of one item are lost again and again: other items
 * are claimed meanwhile, and this one in the end.
 */
#include "custody_bed.h"

#define SECOND "qn-0000000001"
#define THIRD "qn-0000000002"

/* How long a message between client and server takes; a round trip; and a pause
   on average. */
#define WAY_MS 50
#define TRIP_MS (2 * WAY_MS)
#define PAUSE_MS 200
/* The time of one try: the claim is lost, the client looks for its marker, and
   reads the item again. */
#define TRY_MS (3 * TRIP_MS + 2 * PAUSE_MS)

static bool lost;  /* claims of the first item are lost */
static int claims; /* number of these claims */

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool claim = request->kind == KU_ZK_MULTI &&
		strcmp(request->ops[0].path, MARK) == 0;

	claims += claim;
	if (claim && lost)
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void setup(void)
{
	claims = 0;
	lost = true;
	make_item(WAY_MS);
	bench_create(&bench, raw, QUEUE "/" SECOND, "y", KU_ZK_PERSISTENT);
	open_client(submit_it);
	open_desk(NULL, 0);
}

/* All markers are this client's. */
static void teardown(void)
{
	leave_nothing();
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
	lone_teardown(&bench, client);
}

static void check_has(size_t i, const char *data)
{
	ck_assert_uint_gt(had_count, i);
	ck_assert_mem_eq(ku_lent_item(had[i])->data, data, 1);
}

START_TEST(S16_an_item_whose_claim_was_lost_once_is_claimed_again)
{
	ask();
	while (claims == 0)
		run_ms(1);
	lost = false;
	run_ms(1000);
	check_has(0, "x");
	ck_assert_int_eq(claims, 2);
}
END_TEST

/* A server may never accept the claim.  Others are claimed meanwhile, even for
   an only caller. */
START_TEST(L28_an_item_whose_claims_are_lost_is_tried_in_a_while)
{
	ask();
	run_ms(1500);
	check_has(0, "y");
	ask();
	run_ms(1500);
	claims = 0;
	run_ms(50000);
	ck_assert_uint_eq(had_count, 1);
	ck_assert_int_ge(claims, 50000 / (TRY_MS + PAUSE_MS / 2));
	ck_assert_int_le(claims, 50000 / (TRY_MS - PAUSE_MS / 2));
	lost = false;
	run_ms(1000);
	check_has(1, "x");
}
END_TEST

/* After the first loss the item keeps its turn, but a caller does not wait for
   a pause. */
START_TEST(L28_who_asks_when_a_claim_was_lost_waits_for_no_pause)
{
	ask();
	run_ms(4 * _i);
	ask();
	run_ms(4 * TRIP_MS + 20);
	check_has(0, "y");
}
END_TEST

static void send_third(void)
{
	const struct ku_zk_request create = { .kind = KU_ZK_CREATE,
		.path = QUEUE "/" THIRD,
		.data = "z",
		.len = 1 };

	lone_send(&bench, raw, &create);
}

/* After more losses callers do not wait for it at all: a new item is claimed at
   once. */
START_TEST(L28_who_waits_when_claims_were_lost_has_the_next_at_once)
{
	ask();
	ask();
	run_ms(3 * TRY_MS + 4 * _i);
	send_third();
	run_ms((1 + 1 + 2) * TRIP_MS + 20);
	check_has(0, "y");
	check_has(1, "z");
}
END_TEST

/* No call waits for it any more.  Otherwise it would be claimed for nobody, and
   that would count as a delivery. */
START_TEST(L28_what_is_put_off_is_left_when_another_was_had)
{
	ask();
	while (had_count == 0)
		run_ms(1);
	run_ms(TRY_MS);
	lost = false;
	claims = 0;
	run_ms(1000);
	ck_assert_int_eq(claims, 0);
	ask();
	run_ms(1000);
	check_has(1, "x");
	ck_assert_int_eq(ku_lent_deliveries(had[1]), 1);
}
END_TEST

/* It must not be claimed for a call that has got another item meanwhile, unless
   its claim was already under way. */
START_TEST(L28_what_is_had_by_who_asks_alone_counts_once)
{
	ask();
	run_ms(1500);
	check_has(0, "y");
	ask();
	run_ms(3 * TRY_MS + 4 * _i);
	lost = false;
	send_third();
	run_ms(2000);
	ask();
	run_ms(2000);
	ck_assert_uint_eq(had_count, 3);
	for (int i = 1; i < 3; i++)
		ck_assert_int_eq(ku_lent_deliveries(had[i]), 1);
}
END_TEST

/* The caller gives up, whatever is known of the claim by then. */
START_TEST(P05_of_a_claim_that_is_given_up_nothing_is_left)
{
	ask();
	run_ms(20 * _i);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("items that are put off");
	TCase *t = tcase_create("their claims are lost");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		S16_an_item_whose_claim_was_lost_once_is_claimed_again);
	tcase_add_test(t,
		L28_an_item_whose_claims_are_lost_is_tried_in_a_while);
	tcase_add_loop_test(t, P05_of_a_claim_that_is_given_up_nothing_is_left,
		0, 50);
	tcase_add_loop_test(t,
		L28_who_asks_when_a_claim_was_lost_waits_for_no_pause, 0,
		TRY_MS / 2);
	tcase_add_loop_test(t,
		L28_who_waits_when_claims_were_lost_has_the_next_at_once, 0,
		TRY_MS / 2);
	tcase_add_loop_test(t, L28_what_is_had_by_who_asks_alone_counts_once, 0,
		TRY_MS / 4);
	tcase_add_test(t, L28_what_is_put_off_is_left_when_another_was_had);
	suite_add_tcase(s, t);
	return unit_main(s);
}
