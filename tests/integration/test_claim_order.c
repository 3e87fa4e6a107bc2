/*
 * test_claim_order.c - which item is claimed first in a queue with priorities,
 * and how seldom the queue has to be listed for that.
 */
#include "claim_fixture.h"

#include <kustos/cancel.h>
#include <kustos/node.h>

#include <string.h>

#define T_MS 9000

static void set_up(void)
{
	claim_pair_open(T_MS);
}

/* Listings of the queue and of the folder of markers. */
static int listings(void)
{
	return proxy_count(proxy, ZK_OP_CHILDREN2);
}

START_TEST(P12_who_is_alone_does_not_list_a_long_queue_for_each_item)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_PRIORITY);
	struct kustos_claims *some = claims_new(client, FRAMED, &o);

	for (int i = 0; i < 50; i++)
		claim_put_framed("queue-100000007", "later");
	claim_ack(claim_expect(some, "later"), KUSTOS_OK);
	proxy_reset_counts(proxy);
	for (int i = 0; i < 5; i++)
		claim_ack(claim_expect(some, "later"), KUSTOS_OK);
	ck_assert_int_eq(listings(), 0);
	/* What another client puts must be noticed, and so must our own
	   requeue. */
	claim_put_framed("queue-100000003", "first");
	pair_hear(client);
	check_err(kustos_claim_requeue(claim_expect(some, "first"), SOON, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(listings(), 2);
	claim_ack(claim_expect(some, "first"), KUSTOS_OK);
	claim_ack(claim_expect(some, "later"), KUSTOS_OK);
	ck_assert_int_eq(listings(), 4);
	kustos_claims_destroy(some);
}
END_TEST

/* The newer item came when there was a listing, but no claim was waiting. */
START_TEST(a_newer_item_comes_before_the_first_of_an_old_listing)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_PRIORITY);
	struct kustos_claims *some = claims_new(client, FRAMED, &o);
	struct claimed told = { 0 };
	struct kustos_cancel *cancel;

	claim_put_framed("queue-100000005", "and the folders are made");
	claim_ack(claim_expect(some, "and the folders are made"), KUSTOS_OK);
	claim_put_framed("queue-100000007", "later");
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	proxy_set_mode(proxy, PROXY_HOLD);
	check_err(
		kustos_claim_next_async(some, SOON, cancel, claim_told, &told),
		KUSTOS_OK);
	kustos_cancel_fire(cancel);
	check_err(claimed_wait(&told), KUSTOS_ECANCELED);
	proxy_set_mode(proxy, PROXY_PASS);
	pair_flush();
	claim_put_framed("queue-100000003", "first");
	pair_hear(client);
	claim_ack(claim_expect(some, "first"), KUSTOS_OK);
	claim_ack(claim_expect(some, "later"), KUSTOS_OK);
	kustos_cancel_destroy(cancel);
	kustos_claims_destroy(some);
}
END_TEST

/* Runs when the answer to a claim is lost, before the next connection is
   made. */
static void break_the_next(void *arg, const struct kustos_request *request)
{
	bool *armed = arg;

	if (*armed || strcmp(request->operation, "multi") != 0 ||
		request->result == KUSTOS_OK)
		return;
	*armed = true;
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_GET, 2);
}

/* Both claims are on their way when the connection breaks.  The outcome of the
   first is known when the next connection breaks as well; that of the second is
   not. */
START_TEST(claims_that_were_lost_at_once_are_made_again_in_their_order)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct kustos_client_options ours = client_options(proxy_address(proxy),
		T_MS);
	struct claimed told = { 0 };
	bool armed = false;

	queue_put_numbers(queue_others, 0, 3);
	claim_ack(claim_expect(claims_others, "0"), KUSTOS_OK);
	ours.on_request = break_the_next;
	ours.on_request_arg = &armed;
	struct kustos_client *c = client_open_with(&ours);
	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	proxy_arm(proxy, PROXY_LOSE_REQUEST, ZK_OP_MULTI, 1);
	o.ahead = 1;
	struct kustos_claims *some = claims_new(c, QUEUE, &o);
	check_err(kustos_claim_next_async(some, SOON, NULL, claim_told, &told),
		KUSTOS_OK);
	check_err(claimed_wait(&told), KUSTOS_OK);
	ck_assert_str_eq(kustos_claim_item(told.claim)->data, "1");
	ck_assert_int_eq(proxy_fired(proxy), 2);
	claim_ack(told.claim, KUSTOS_OK);
	claim_ack(claim_expect(some, "2"), KUSTOS_OK);
	kustos_claims_destroy(some);
	client_close(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("order of claims");
	TCase *t = fixture_case(s, "two clients", 5);

	tcase_add_checked_fixture(t, set_up, claim_pair_close);
	tcase_add_test(t,
		P12_who_is_alone_does_not_list_a_long_queue_for_each_item);
	tcase_add_test(t,
		a_newer_item_comes_before_the_first_of_an_old_listing);
	tcase_add_test(t,
		claims_that_were_lost_at_once_are_made_again_in_their_order);
	return fixture_main(s);
}
