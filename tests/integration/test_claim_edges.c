/*
 * test_claim_edges.c - edge cases of claims: the largest number to claim ahead,
 * and connections that break when a call must not wait for the next one.
 * inject.h breaks the connection at a chosen frame.
 */
#include "claim_fixture.h"
#include "inject.h"

#include <errno.h>
#include <limits.h>

#define T_MS 12000

static void set_up(void)
{
	inject_reset();
	claim_pair_open(T_MS);
}

static void tear_down(void)
{
	inject_reset();
	claim_pair_close();
}

START_TEST(any_number_may_be_claimed_ahead)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct kustos_claims *eager;

	queue_put_numbers(queue_others, 0, 3);
	o.ahead = INT_MAX;
	eager = claims_new(client, QUEUE, &o);
	claim_ack(claim_expect(eager, "0"), KUSTOS_OK);
	claim_ack(claim_expect(eager, "1"), KUSTOS_OK);
	claim_ack(claim_expect(eager, "2"), KUSTOS_OK);
	kustos_claims_destroy(eager);
}
END_TEST

/* The connection breaks as the item is read, as it is claimed, or as the folder
   of the markers is created. */
START_TEST(L20_a_claim_at_once_does_not_wait_for_a_connection)
{
	static const int codes[] = { ZK_OP_GET, ZK_OP_MULTI, ZK_OP_CREATE2 };
	struct kustos_claim *claim = NULL;

	queue_put_numbers(queue_others, 0, 2);
	if (_i % 6 < 4) { /* the folder exists, and the next item is listed */
		claim_ack(claim_expect(claims, "0"), KUSTOS_OK);
		pair_flush();
	}
	inject_connect(ECONNREFUSED);
	inject_frame(_i < 6 ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND,
		codes[_i % 6 / 2], 1);
	check_err(kustos_claim_next(claims, KUSTOS_NOW, NULL, &claim),
		KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(inject_fired(), 1);
	inject_connect(0);
	claim_ack(claim_expect(claims, _i % 6 < 4 ? "1" : "0"), KUSTOS_OK);
	if (_i % 6 >= 4)
		claim_ack(claim_expect(claims, "1"), KUSTOS_OK);
}
END_TEST

/* The call came while another one was having the items listed. */
START_TEST(L20_a_claim_at_once_behind_others_does_not_wait_for_a_connection)
{
	struct claimed waits = { 0 }, tries = { 0 };

	proxy_set_mode(proxy, PROXY_HOLD);
	check_err(kustos_claim_next_async(claims, KUSTOS_FOREVER, NULL,
			  claim_told, &waits),
		KUSTOS_OK);
	check_err(kustos_claim_next_async(claims, KUSTOS_NOW, NULL, claim_told,
			  &tries),
		KUSTOS_OK);
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	check_err(claimed_wait(&tries), KUSTOS_EDISCONNECTED);
	proxy_set_mode(proxy, PROXY_PASS);
	inject_connect(0);
	queue_put(queue_others, "a");
	check_err(claimed_wait(&waits), KUSTOS_OK);
	claim_ack(waits.claim, KUSTOS_OK);
}
END_TEST

/* The answer is lost, and only the next connection would tell the outcome. */
START_TEST(L20_an_ack_at_once_does_not_wait_for_a_connection)
{
	struct kustos_claim *claim;

	queue_put(queue_others, "a");
	claim = claim_expect(claims, "a");
	if (_i % 2 == 1) { /* a claim outlives the object that it came from */
		kustos_claims_destroy(claims);
		claims = NULL;
	}
	inject_connect(ECONNREFUSED);
	inject_frame(_i < 2 ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND, ZK_OP_MULTI,
		1);
	check_err(kustos_claim_ack(claim, KUSTOS_NOW, NULL), KUSTOS_ETIMEDOUT);
	inject_connect(0);
	test_eventually(queue_count() == 0, 5000);
}
END_TEST

/* If the connection was gone before, nothing is sent and the item is available
   again. */
START_TEST(L20_an_ack_at_once_is_not_begun_without_a_connection)
{
	struct kustos_claim *claim;

	queue_put(queue_others, "a");
	claim = claim_expect(claims, "a");
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	check_err(kustos_claim_ack(claim, KUSTOS_NOW, NULL),
		KUSTOS_EDISCONNECTED);
	inject_connect(0);
	claim_ack(claim_expect(claims, "a"), KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("claims, edges");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, any_number_may_be_claimed_ahead);
	tcase_add_loop_test(t,
		L20_a_claim_at_once_does_not_wait_for_a_connection, 0, 12);
	tcase_add_test(t,
		L20_a_claim_at_once_behind_others_does_not_wait_for_a_connection);
	tcase_add_loop_test(t,
		L20_an_ack_at_once_does_not_wait_for_a_connection, 0, 4);
	tcase_add_test(t, L20_an_ack_at_once_is_not_begun_without_a_connection);
	return fixture_main(s);
}
