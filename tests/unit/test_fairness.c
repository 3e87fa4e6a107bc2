/* test_fairness.c - fairness.h: how evenly grants were distributed. */
#include "fairness.h"
#include "unit.h"

#include <pthread.h>

START_TEST(jains_index_is_one_if_all_are_equal)
{
	const double equal[] = { 7, 7, 7 };

	ck_assert_double_eq_tol(fairness_jain(equal, 3), 1, 1e-12);
	ck_assert_double_eq_tol(fairness_jain(equal, 1), 1, 1e-12);
}
END_TEST

START_TEST(jains_index_is_the_part_that_is_served_if_the_others_get_nothing)
{
	const double one[] = { 0, 9, 0, 0 }, two[] = { 5, 0, 5, 0 };

	ck_assert_double_eq_tol(fairness_jain(one, 4), 0.25, 1e-12);
	ck_assert_double_eq_tol(fairness_jain(two, 4), 0.5, 1e-12);
}
END_TEST

START_TEST(jains_index_of_some_shares)
{
	const double shares[] = { 1, 2, 3 }; /* 36 / (3 * 14) */

	ck_assert_double_eq_tol(fairness_jain(shares, 3), 6.0 / 7, 1e-12);
}
END_TEST

START_TEST(nothing_is_shared_evenly)
{
	const double none[] = { 0, 0 };

	ck_assert_double_eq_tol(fairness_jain(none, 2), 1, 1e-12);
	ck_assert_double_eq_tol(fairness_jain(none, 0), 1, 1e-12);
}
END_TEST

START_TEST(the_longest_streak_is_kept)
{
	static const uint32_t order[] = { 0, 0, 1, 1, 1, 0, 2, 2, 0 };
	static const uint32_t longest[] = { 1, 2, 2, 2, 3, 3, 3, 3, 3 };
	struct fairness_turns turns = { 0 };

	for (size_t i = 0; i < UNIT_COUNT(order); i++) {
		fairness_turn(&turns, order[i]);
		ck_assert_uint_eq(turns.longest, longest[i]);
	}
}
END_TEST

#define TURNS 20000

static void *take_turns(void *arg)
{
	for (int i = 0; i < TURNS; i++)
		fairness_turn(arg, 5);
	return NULL;
}

START_TEST(no_turn_is_missed_if_two_have_it_at_the_same_time)
{
	struct fairness_turns turns = { 0 };
	pthread_t other;

	ck_assert_int_eq(pthread_create(&other, NULL, take_turns, &turns), 0);
	take_turns(&turns);
	pthread_join(other, NULL);
	ck_assert_uint_eq(turns.longest, 2 * TURNS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fairness");
	TCase *t = tcase_create("fairness");

	tcase_add_test(t, jains_index_is_one_if_all_are_equal);
	tcase_add_test(t,
		jains_index_is_the_part_that_is_served_if_the_others_get_nothing);
	tcase_add_test(t, jains_index_of_some_shares);
	tcase_add_test(t, nothing_is_shared_evenly);
	tcase_add_test(t, the_longest_streak_is_kept);
	tcase_add_test(t, no_turn_is_missed_if_two_have_it_at_the_same_time);
	suite_add_tcase(s, t);
	return unit_main(s);
}
