/*
 * test_queue_behind.c - one of the objects that share a long queue has fallen
 * behind: others have taken most of the items that it has listed.
 */
#include "claim_fixture.h"

#include <stdlib.h>

#define T_MS 9000
#define LENGTH 400
#define TAKEN (LENGTH / 2) /* before it continues */
#define TRIES 60

static void set_up(void)
{
	claim_pair_open(T_MS);
	queue_put_numbers(queue_others, 0, LENGTH);
}

START_TEST(L27_who_takes_and_is_far_behind_lists_again)
{
	struct kustos_item *item = NULL;

	queue_expect(queue, "0");
	queue_expect_numbers(queue_others, 1, TAKEN);
	pair_flush();
	proxy_reset_counts(proxy);
	check_err(kustos_queue_poll(queue, SOON, NULL, &item), KUSTOS_OK);
	ck_assert_int_ge(atoi(item->data), TAKEN);
	kustos_item_free(item);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 1);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_GET), TRIES);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_MULTI), TRIES);
}
END_TEST

/* It lists the markers, too. */
START_TEST(L27_who_claims_and_is_far_behind_lists_again)
{
	struct kustos_claim *claim = NULL;

	claim_ack(claim_expect(claims, "0"), KUSTOS_OK);
	for (int i = 1; i < TAKEN; i++) {
		check_err(kustos_claim_next(claims_others, SOON, NULL, &claim),
			KUSTOS_OK);
		claim_ack(claim, KUSTOS_OK);
	}
	pair_flush();
	proxy_reset_counts(proxy);
	check_err(kustos_claim_next(claims, SOON, NULL, &claim), KUSTOS_OK);
	ck_assert_int_ge(atoi(kustos_claim_item(claim)->data), TAKEN);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_CHILDREN2), 2);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_GET), TRIES);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_MULTI), TRIES);
	claim_ack(claim, KUSTOS_OK);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, behind");
	TCase *t = fixture_case(s, "two clients", 5);

	tcase_add_checked_fixture(t, set_up, claim_pair_close);
	tcase_add_test(t, L27_who_takes_and_is_far_behind_lists_again);
	tcase_add_test(t, L27_who_claims_and_is_far_behind_lists_again);
	return fixture_main(s);
}
