/* test_claim_marker.c - somebody else deletes the marker of an item that is
   claimed: the claimer learns of it. */
#include "claim_fixture.h"

#define T_MS 12000
#define SOON_MS 2000 /* far below the session's timeout */

static void set_up(void)
{
	claim_pair_open(T_MS);
}

static struct kustos_claim *claim_told_if_lost(int *lost)
{
	struct kustos_claim *claim = claim_expect(claims, "a");

	check_err(
		kustos_hold_on_lost(kustos_claim_hold(claim), count_call, lost),
		KUSTOS_OK);
	return claim;
}

static void delete_marker(const struct kustos_claim *claim)
{
	ck_assert_int_eq(raw_delete(fixture_address(),
				 kustos_hold_path(kustos_claim_hold(claim))),
		0);
}

START_TEST(S09_who_has_an_item_learns_that_its_marker_was_deleted)
{
	int lost = 0;

	queue_put(queue_others, "a");
	struct kustos_claim *claim = claim_told_if_lost(&lost);
	delete_marker(claim);
	test_eventually(calls_of(&lost) == 1, SOON_MS);
	ck_assert_int_eq(kustos_hold_state(kustos_claim_hold(claim)),
		KUSTOS_HOLD_LOST);
	claim_ack(claim, KUSTOS_ELOST);
	claim_ack(claim_expect(claims_others, "a"), KUSTOS_OK);
	ck_assert_int_eq(calls_of(&lost), 1);
}
END_TEST

/* The item is another's by then, whose marker has the same name. */
START_TEST(S09_who_has_lost_its_item_gives_back_none_of_anothers)
{
	int lost = 0;

	queue_put(queue_others, "a");
	struct kustos_claim *claim = claim_told_if_lost(&lost);
	delete_marker(claim);
	struct kustos_claim *theirs = claim_expect(claims_others, "a");
	test_eventually(calls_of(&lost) == 1, SOON_MS);
	kustos_claim_release(claim);
	check_err(kustos_client_flush(client, kustos_after_ms(SOON_MS), NULL),
		KUSTOS_OK);
	ck_assert_int_eq(claim_marks(), 1);
	claim_ack(theirs, KUSTOS_OK);
}
END_TEST

/* Another client has the item by now, or has taken it, or neither; and the news
   of that is still under way. */
START_TEST(S16_a_transaction_of_a_claim_that_is_anothers_does_nothing)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE,
		.path = QUEUE "-result" };
	struct kustos_claim *theirs = NULL;

	queue_put(queue_others, "a");
	struct kustos_claim *claim = claim_expect(claims, "a");
	proxy_set_delay(proxy, 0, SOON_MS / 2);
	if (_i == 0) {
		delete_marker(claim);
		theirs = claim_expect(claims_others, "a");
	} else if (_i == 1) {
		queue_expect(queue_others, "a");
	}
	check_err(kustos_hold_multi(kustos_claim_hold(claim), &op, 1,
			  kustos_after_ms(SOON_MS), NULL, NULL),
		_i < 2 ? KUSTOS_ELOST : KUSTOS_OK);
	check_err(kustos_exists(other, op.path, kustos_after_ms(SOON_MS), NULL,
			  NULL),
		_i < 2 ? KUSTOS_ENONODE : KUSTOS_OK);
	claim_ack(claim, _i < 2 ? KUSTOS_ELOST : KUSTOS_OK);
	if (theirs != NULL)
		claim_ack(theirs, KUSTOS_OK);
}
END_TEST

/* The claimer's own client gets the item again, though its program still has
   the claim that was lost. */
START_TEST(L27_what_was_lost_is_there_for_who_waits)
{
	int lost = 0;

	queue_put(queue_others, "a");
	struct kustos_claim *claim = claim_told_if_lost(&lost), *next;
	delete_marker(claim);
	next = claim_expect(claims, "a");
	ck_assert_int_eq(kustos_claim_deliveries(next), 2);
	ck_assert_int_eq(kustos_hold_state(kustos_claim_hold(claim)),
		KUSTOS_HOLD_LOST);
	claim_ack(claim, KUSTOS_ELOST);
	claim_ack(next, KUSTOS_OK);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("markers of claims");
	TCase *t = fixture_case(s, "two clients", 30);

	tcase_add_checked_fixture(t, set_up, claim_pair_close);
	tcase_add_test(t,
		S09_who_has_an_item_learns_that_its_marker_was_deleted);
	tcase_add_test(t,
		S09_who_has_lost_its_item_gives_back_none_of_anothers);
	tcase_add_loop_test(t,
		S16_a_transaction_of_a_claim_that_is_anothers_does_nothing, 0,
		3);
	tcase_add_test(t, L27_what_was_lost_is_there_for_who_waits);
	return fixture_main(s);
}
