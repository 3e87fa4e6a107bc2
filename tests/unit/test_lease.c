/*
 * test_lease.c - lease.h: the lease ends in time, and never moves back.
 */
#include "unit.h"

#include "clock.h"
#include "lease.h"
#include "random.h"

#include <limits.h>

#define T_MS 8000
#define T (T_MS * KU_NS_PER_MS)
#define START (100 * KU_NS_PER_S)

/* A session that began at START and was answered at once. */
static struct ku_lease lease_new(void)
{
	struct ku_lease lease;

	ku_lease_start(&lease, T_MS, START);
	ku_lease_answered(&lease, START, START, true);
	return lease;
}

START_TEST(a_new_session_lives_from_its_first_answer)
{
	struct ku_lease lease = lease_new();

	ck_assert_int_eq(ku_lease_end(&lease), START + T * 2 / 3);
	ck_assert_int_eq(ku_lease_left(&lease, START), T * 2 / 3);
	ck_assert_int_eq(ku_lease_left(&lease, START + T), 0);
}
END_TEST

START_TEST(there_is_no_lease_without_a_beginning)
{
	struct ku_lease lease;

	ku_lease_start(&lease, T_MS, 0);
	ck_assert_int_eq(ku_lease_end(&lease), 0);
	ck_assert_int_eq(ku_lease_left(&lease, 1), 0);
	ku_lease_answered(&lease, START, START + 1, true);
	ck_assert_int_eq(ku_lease_end(&lease), 0);
}
END_TEST

START_TEST(there_is_no_lease_before_the_first_answer)
{
	struct ku_lease lease;

	ku_lease_start(&lease, T_MS, START);
	ck_assert_int_eq(ku_lease_end(&lease), 0);
	ku_lease_answered(&lease, START + 1, START + 2, false);
	ck_assert_int_eq(ku_lease_end(&lease), 0);
}
END_TEST

START_TEST(S26_one_answer_proves_nothing)
{
	struct ku_lease lease = lease_new();

	ku_lease_answered(&lease, START + T / 2, START + T / 2 + 1, true);
	ck_assert_int_eq(ku_lease_end(&lease), START + T * 7 / 8);
}
END_TEST

START_TEST(S26_a_request_counts_half_a_tick_after_its_answer)
{
	struct ku_lease lease = lease_new();
	int64_t sent = START + T / 2, heard = sent + T / 16;

	ku_lease_answered(&lease, sent, heard, true);
	ku_lease_answered(&lease, heard + T / 4 - 1, heard + T / 4, true);
	ck_assert_int_eq(ku_lease_end(&lease), START + T * 7 / 8);
	ku_lease_answered(&lease, heard + T / 4, heard + T / 4, true);
	ck_assert_int_eq(ku_lease_end(&lease), sent + T * 7 / 8);
}
END_TEST

START_TEST(S26_a_follower_answers_for_itself_only)
{
	struct ku_lease lease = lease_new();
	int64_t now = START;

	for (int i = 0; i < 100; i++, now += T / 8)
		ku_lease_answered(&lease, now, now, false);
	ck_assert_int_eq(ku_lease_end(&lease), START + T * 2 / 3);
}
END_TEST

START_TEST(what_a_follower_answered_counts_once_the_leader_did)
{
	struct ku_lease lease = lease_new();

	ku_lease_answered(&lease, START + T / 8, START + T / 8, false);
	ku_lease_answered(&lease, START + T / 2, START + T / 2, true);
	ck_assert_int_eq(ku_lease_end(&lease), START + T / 8 + T * 7 / 8);
}
END_TEST

START_TEST(a_connection_counts_from_what_was_answered_before_it)
{
	struct ku_lease lease = lease_new();

	ku_lease_answered(&lease, START + T / 8, START + T / 8, false);
	ku_lease_linked(&lease, T_MS, 0);
	ku_lease_answered(&lease, START + T, START + T, true);
	ck_assert_int_eq(ku_lease_end(&lease), START + T / 8 + T * 7 / 8);
}
END_TEST

START_TEST(a_connection_counts_from_when_there_could_be_none)
{
	struct ku_lease lease = lease_new();

	ku_lease_linked(&lease, T_MS, START + T);
	ku_lease_answered(&lease, START + 2 * T, START + 2 * T, true);
	ck_assert_int_eq(ku_lease_end(&lease), START + T + T * 7 / 8);
	ku_lease_linked(&lease, T_MS, START);
	ck_assert_int_ge(ku_lease_end(&lease), START + T + T * 7 / 8);
}
END_TEST

START_TEST(S01_a_shorter_timeout_of_a_new_connection_counts_at_once)
{
	struct ku_lease lease = lease_new();

	ku_lease_linked(&lease, T_MS / 8, 0);
	ck_assert_int_eq(ku_lease_end(&lease), START + T / 8 * 2 / 3);
}
END_TEST

START_TEST(S04_what_another_server_answered_is_forgotten)
{
	struct ku_lease lease = lease_new();

	ku_lease_answered(&lease, START + T / 4, START + T / 4, true);
	ku_lease_linked(&lease, T_MS, 0);
	ku_lease_answered(&lease, START + T, START + T, true);
	ck_assert_int_eq(ku_lease_end(&lease), START + T / 4 + T * 7 / 8);
}
END_TEST

/* Even if it comes shortly after the other server's. */
START_TEST(S04_what_another_server_answered_spares_no_mark_of_this_one)
{
	struct ku_lease lease = lease_new();
	int64_t soon = START + T / 4 + T / 64;

	ku_lease_answered(&lease, START + T / 4, START + T / 4, true);
	ku_lease_linked(&lease, T_MS, 0);
	ku_lease_answered(&lease, soon, soon, true);
	ku_lease_answered(&lease, START + T, START + T, true);
	ck_assert_int_eq(ku_lease_end(&lease), soon + T * 7 / 8);
}
END_TEST

/* Answers at any pace, with any delay, from both kinds of server. */
START_TEST(S01_the_lease_is_never_later_than_two_thirds_of_the_last_sending)
{
	struct ku_random r;
	struct ku_lease lease = lease_new();
	int64_t now = START, end = ku_lease_end(&lease);

	ku_random_seed(&r, 3);
	for (int i = 0; i < 100000; i++) {
		int64_t pace = (int64_t)ku_random_below(&r, 8) == 0 ? T / 4
								    : T / 64;
		int64_t sent = now +
			(int64_t)ku_random_below(&r, (uint64_t)pace);
		now = sent + (int64_t)ku_random_below(&r, T / 8);
		ku_lease_answered(&lease, sent, now,
			ku_random_below(&r, 2) == 0);
		ck_assert_int_ge(ku_lease_end(&lease), end);
		end = ku_lease_end(&lease);
		ck_assert_int_le(end, sent + T * 2 / 3);
	}
}
END_TEST

START_TEST(a_steady_heartbeat_leaves_at_least_half_of_the_timeout)
{
	struct ku_lease lease = lease_new();

	for (int64_t now = START; now < START + 20 * T; now += T / 8) {
		ku_lease_answered(&lease, now, now + T / 1000, true);
		if (now > START + T)
			ck_assert_int_ge(ku_lease_left(&lease, now),
				T / 2 - T / 100);
	}
}
END_TEST

START_TEST(heavy_traffic_does_not_push_the_marks_out)
{
	struct ku_lease lease = lease_new();

	for (int64_t now = START; now < START + 3 * T; now += T / 4096) {
		ku_lease_answered(&lease, now, now, true);
		if (now > START + T)
			ck_assert_int_ge(ku_lease_left(&lease, now), T / 2);
	}
}
END_TEST

/* Answers as late as those of a server that is just not left yet. */
START_TEST(late_answers_do_not_push_the_marks_out)
{
	struct ku_lease lease = lease_new();

	for (int64_t now = START; now < START + 3 * T; now += T / 4096) {
		int64_t heard = now + T / 8;

		ku_lease_answered(&lease, now, heard, true);
		if (now > START + T)
			ck_assert_int_ge(ku_lease_left(&lease, heard),
				T * 7 / 8 - (T / 4 + T / 8 + T / 32) - T / 8);
	}
}
END_TEST

START_TEST(a_session_of_which_nothing_was_answered_keeps_its_beginning)
{
	struct ku_lease lease;

	ku_lease_start(&lease, T_MS, START);
	ku_lease_linked(&lease, T_MS, 0);
	ku_lease_answered(&lease, START + T / 2, START + T / 2, true);
	ck_assert_int_eq(ku_lease_end(&lease), START + T * 7 / 8);
}
END_TEST

START_TEST(extreme_values_do_not_overflow)
{
	struct ku_lease lease;

	ku_lease_start(&lease, INT_MAX, INT64_MAX - 1);
	ku_lease_answered(&lease, INT64_MAX - 1, INT64_MAX, true);
	ck_assert_int_eq(ku_lease_end(&lease), INT64_MAX);
	ku_lease_start(&lease, INT_MIN, 5);
	ku_lease_answered(&lease, 5, 5, true);
	ck_assert_int_eq(ku_lease_end(&lease), 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lease");
	TCase *tcase = tcase_create("arithmetic");

	tcase_add_test(tcase, a_new_session_lives_from_its_first_answer);
	tcase_add_test(tcase, there_is_no_lease_without_a_beginning);
	tcase_add_test(tcase, there_is_no_lease_before_the_first_answer);
	tcase_add_test(tcase, S26_one_answer_proves_nothing);
	tcase_add_test(tcase,
		S26_a_request_counts_half_a_tick_after_its_answer);
	tcase_add_test(tcase, S26_a_follower_answers_for_itself_only);
	tcase_add_test(tcase,
		what_a_follower_answered_counts_once_the_leader_did);
	tcase_add_test(tcase,
		a_connection_counts_from_what_was_answered_before_it);
	tcase_add_test(tcase,
		a_connection_counts_from_when_there_could_be_none);
	tcase_add_test(tcase,
		S01_a_shorter_timeout_of_a_new_connection_counts_at_once);
	tcase_add_test(tcase, S04_what_another_server_answered_is_forgotten);
	tcase_add_test(tcase,
		S04_what_another_server_answered_spares_no_mark_of_this_one);
	tcase_add_test(tcase,
		S01_the_lease_is_never_later_than_two_thirds_of_the_last_sending);
	tcase_add_test(tcase,
		a_steady_heartbeat_leaves_at_least_half_of_the_timeout);
	tcase_add_test(tcase, heavy_traffic_does_not_push_the_marks_out);
	tcase_add_test(tcase, late_answers_do_not_push_the_marks_out);
	tcase_add_test(tcase,
		a_session_of_which_nothing_was_answered_keeps_its_beginning);
	tcase_add_test(tcase, extreme_values_do_not_overflow);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
