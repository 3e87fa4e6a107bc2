/*
 * test_return_lost.c - a queue cannot put items back, or does not know whether
 * it did: the log must tell of these, and of no others.
 */
#include "return_bed.h"

/* Both the next number and the item's own number are another item's; or the
   item goes alone, as it is too large for a receipt. */
START_TEST(S15_what_can_have_no_number_is_not_put)
{
	bool alone = _i == 1;

	keep(alone ? 1 : 3, alone ? HUGE : 1);
	put_by_name(alone ? 2 : 6, "8");
	if (!alone)
		put_by_name(1, "9");
	told = LOST(1, "cannot be put back: the node exists already");
	put_back();
	check_order(alone ? "8" : "9208");
}
END_TEST

/* The queue's node may not be made, so all items are given up with the
   first. */
START_TEST(U09_a_queue_that_may_not_be_made_is_tried_once)
{
	keep(3, 1);
	ck_assert_int_eq(bench_delete(&bench, raw, QUEUE, -1).rc, KU_ZK_OK);
	trouble.no_root = true;
	told = LOST(3, "cannot be put back: the node's ACL forbids this");
	ku_queue_destroy(queue);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(client->unsettled, 0);
	ck_assert_int_eq(trouble.roots, 1);
	ck_assert(lone_close(&bench, client));
}
END_TEST

START_TEST(S15_what_may_be_back_is_told_of_as_such)
{
	keep(1, _i == 0 ? 1 : HUGE);
	trouble.lost = true;
	told = LOST(1, UNKNOWN);
	put_back();
	check_order("0");
}
END_TEST

/* Somebody has deleted the receipt.  The call that waits gets the error; or no
   call waits, and the log tells it. */
START_TEST(S15_what_may_have_been_taken_for_nobody_is_told_of)
{
	bool gives_up = _i == 1;

	trouble.unsure = true;
	if (gives_up)
		told = QUEUE ": 1 may have been taken for nobody: " MAYBE;
	ck_assert_int_eq(take(1, 1, gives_up),
		gives_up ? KUSTOS_ECANCELED : KUSTOS_EUNKNOWN);
	put_back();
}
END_TEST

/* A call that only looks has taken nothing, and goes on. */
START_TEST(S15_who_looks_is_not_told_of_what_may_have_been_taken)
{
	trouble.unsure = trouble.looks = true;
	told = QUEUE ": 1 may have been taken for nobody: " MAYBE;
	ck_assert_int_eq(take(1, 1, true), KUSTOS_ECANCELED);
	ck_assert_int_eq(lines, 1);
	ck_assert_int_eq(look_end, KUSTOS_OK);
	put_back();
	ck_assert_int_eq(look_end, KUSTOS_ECLOSED);
}
END_TEST

/* Items that were not sent back, or whose answer does not come before the close
   is over. */
static const struct {
	int count, bytes;
	enum { STOPPED, CUT_OFF, MUTE } how;
	int before_ms, returned, lines;
	const char *told;
} left[] = {
	{ 2, 1, STOPPED, 100, 0, 1, LOST(2, NOT_SENT) },
	{ 4, LARGE, CUT_OFF, LONE_TIMEOUT_MS, 0, 2, LOST(2, NOT_SENT) },
	{ 2, 1, CUT_OFF, 100, 1, 1, LOST(2, UNKNOWN) },
	{ 1, HUGE, MUTE, 0, 0, 1, LOST(1, UNKNOWN) },
};

START_TEST(S15_what_a_close_leaves_is_told_of)
{
	bool gone = false;

	keep(left[_i].count, (size_t)left[_i].bytes);
	trouble.mute = left[_i].how == MUTE;
	if (left[_i].how == STOPPED)
		model_server_stop(bench.model, 0);
	else if (left[_i].how == CUT_OFF)
		model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	lone_run_ms(&bench, client, left[_i].before_ms);
	told = left[_i].told;
	ku_queue_destroy(queue);
	ku_client_close_start(client, ku_now(client) + 100 * KU_NS_PER_MS,
		&gone);
	for (int ms = 0; ms < 1000 && !gone; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert(gone);
	ck_assert_int_eq(trouble.returned, left[_i].returned);
	ck_assert_int_eq(lines, left[_i].lines);
	if (left[_i].how == STOPPED)
		model_server_start(bench.model, 0);
}
END_TEST

/* There is no session, and the client waits for one to delete the receipt. */
START_TEST(P05_a_queue_that_ends_in_a_pause_leaves_no_timer)
{
	keep(1, 1);
	trouble.busy = true;
	ku_queue_destroy(queue);
	while (!ku_timer_is_set(&queue->take.receipt.pause))
		lone_run_ms(&bench, client, 1);
	ck_assert(model_expire(bench.model, LONE_MACHINE));
	while (client->session.id != 0)
		lone_run_ms(&bench, client, 1);
	ck_assert(ku_timer_is_set(&queue->take.receipt.pause));
	told = LOST(1, NOT_SENT);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(model_child_count(bench.model, RECEIPTS), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("what a queue cannot put back");
	TCase *t = tcase_create("lost");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, S15_what_can_have_no_number_is_not_put, 0, 2);
	tcase_add_test(t, U09_a_queue_that_may_not_be_made_is_tried_once);
	tcase_add_loop_test(t, S15_what_may_be_back_is_told_of_as_such, 0, 2);
	tcase_add_loop_test(t,
		S15_what_may_have_been_taken_for_nobody_is_told_of, 0, 2);
	tcase_add_test(t,
		S15_who_looks_is_not_told_of_what_may_have_been_taken);
	tcase_add_loop_test(t, S15_what_a_close_leaves_is_told_of, 0,
		sizeof(left) / sizeof(left[0]));
	tcase_add_test(t, P05_a_queue_that_ends_in_a_pause_leaves_no_timer);
	suite_add_tcase(s, t);
	return unit_main(s);
}
