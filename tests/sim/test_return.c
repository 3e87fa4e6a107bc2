/*
 * test_return.c - a queue that ends puts items back that it has taken for calls
 * that had given up: many, and very large ones.
 */
#include "return_bed.h"

START_TEST(L24_no_more_goes_back_at_once_than_a_server_takes)
{
	keep(4, LARGE);
	put_back();
	ck_assert_int_eq(trouble.returned, 2);
	ck_assert_uint_le(trouble.most_bytes, KU_REQUEST_LIMIT);
	check_order("0123");
}
END_TEST

/* None, one or two items may not go back.  Those behind a refused one, in the
   same transaction, still go before all others. */
START_TEST(S17_what_goes_back_keeps_its_order)
{
	keep(4, LARGE);
	trouble.denied = _i;
	told = LOST(1, "cannot be put back: the node's ACL forbids this");
	put_back();
	check_order(&"0123"[_i]);
	ck_assert_int_eq(lines, _i);
}
END_TEST

/* The server's count is behind the numbers, as if the queue had been copied
   node by node. */
START_TEST(S15_what_would_have_anothers_number_keeps_its_own)
{
	keep(3, 1);
	put_by_name(5, "8");
	put_back();
	ck_assert_int_eq(trouble.returned, 2);
	check_order("1082");
}
END_TEST

/* The item fits into a transaction with a receipt only if its name has no
   number. */
START_TEST(S15_what_fits_without_its_number_only_is_put)
{
	const struct ku_zk_request bare = { .path = QUEUE "/qn-",
		.acl = client->config.acl,
		.acl_count = client->config.acl_count };
	size_t room = KU_FRAME_LIMIT - KU_RECEIPT_SIZE - strlen(RECEIPTS) -
		ku_request_size(&bare);

	keep(1, room - 5);
	put_by_name(2, "8");
	put_back();
	ck_assert_int_eq(trouble.returned, 1);
	check_order("08");
}
END_TEST

/* The item is too large to go together with others. */
START_TEST(S15_what_may_go_back_with_a_receipt_does)
{
	keep(1, KU_REQUEST_LIMIT + 10000);
	put_back();
	ck_assert_int_eq(trouble.returned, 1);
	check_order("0");
}
END_TEST

/* The server throttles it for some time, or for long, and the client is closed
   meanwhile. */
START_TEST(S15_what_goes_back_alone_is_put)
{
	keep(1, HUGE);
	trouble.put_off = _i == 0 ? 5 : 50;
	ku_queue_destroy(queue);
	if (_i == 1)
		lone_run_ms(&bench, client, 30000);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_lt(trouble.put_off, 0);
	ck_assert_int_eq(trouble.returned, 0);
	check_order("0");
}
END_TEST

/* Memory is short at first, when the item is to be put. */
START_TEST(S15_what_waits_for_memory_ends_the_queue)
{
	keep(1, HUGE);
	fault_after(_i);
	ku_queue_destroy(queue);
	ck_assert_int_eq(fault_end(), 1);
	ck_assert_int_eq(client->unsettled, 1);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(client->unsettled, 0);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(trouble.returned, 0);
	check_order("0");
}
END_TEST

/* Memory is short at first, when the queue's node is to be made; and then
   another may make it. */
START_TEST(S15_what_finds_its_queue_gone_is_put)
{
	keep(3, 1);
	ck_assert_int_eq(bench_delete(&bench, raw, QUEUE, -1).rc, KU_ZK_OK);
	trouble.poor = true;
	ku_queue_destroy(queue);
	lone_run_ms(&bench, client, 50);
	if (_i == 1)
		lone_make(&bench, raw, QUEUE);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(client->unsettled, 0);
	check_order("012");
	ck_assert(lone_close(&bench, client));
}
END_TEST

/* The creation of the queue's node is throttled, and the client is closed
   meanwhile. */
START_TEST(S15_what_waits_for_its_queue_to_be_made_is_put)
{
	keep(1, 1);
	ck_assert_int_eq(bench_delete(&bench, raw, QUEUE, -1).rc, KU_ZK_OK);
	trouble.root_off = 1;
	ku_queue_destroy(queue);
	for (int ms = 0; trouble.roots == 0 && ms < 1000; ms++)
		lone_run_ms(&bench, client, 1);
	lone_run_ms(&bench, client, 20);
	ck_assert_int_eq(trouble.roots, 1);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(trouble.roots, 2);
	check_order("0");
}
END_TEST

START_TEST(S15_what_goes_back_alone_finds_its_queue_gone)
{
	keep(1, HUGE);
	ck_assert_int_eq(bench_delete(&bench, raw, QUEUE, -1).rc, KU_ZK_OK);
	put_back();
	check_order("0");
}
END_TEST

START_TEST(S15_what_goes_back_alone_has_its_prefix)
{
	put_back();
	place = "/p" QUEUE;
	lone_make(&bench, raw, "/p");
	lone_make(&bench, raw, place);
	connect("/p");
	open_queue();
	keep(1, HUGE - strlen("/p"));
	put_back();
	ck_assert_int_eq(trouble.returned, 0);
	check_order("0");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("what a queue puts back");
	TCase *t = tcase_create("much, and large");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, L24_no_more_goes_back_at_once_than_a_server_takes);
	tcase_add_loop_test(t, S17_what_goes_back_keeps_its_order, 1, 3);
	tcase_add_test(t, S15_what_would_have_anothers_number_keeps_its_own);
	tcase_add_test(t, S15_what_fits_without_its_number_only_is_put);
	tcase_add_test(t, S15_what_may_go_back_with_a_receipt_does);
	tcase_add_loop_test(t, S15_what_goes_back_alone_is_put, 0, 2);
	tcase_add_loop_test(t, S15_what_waits_for_memory_ends_the_queue, 0, 2);
	tcase_add_loop_test(t, S15_what_finds_its_queue_gone_is_put, 0, 2);
	tcase_add_test(t, S15_what_waits_for_its_queue_to_be_made_is_put);
	tcase_add_test(t, S15_what_goes_back_alone_finds_its_queue_gone);
	tcase_add_test(t, S15_what_goes_back_alone_has_its_prefix);
	suite_add_tcase(s, t);
	return unit_main(s);
}
