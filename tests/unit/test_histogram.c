/* test_histogram.c - histogram.h: percentiles. */
#include "histogram.h"
#include "unit.h"

#include <string.h>

static struct histogram h, other;

static void set_up(void)
{
	memset(&h, 0, sizeof(h));
	memset(&other, 0, sizeof(other));
}

START_TEST(of_none_everything_is_zero)
{
	ck_assert_int_eq(histogram_percentile(&h, 50), 0);
	ck_assert_int_eq(histogram_percentile(&h, 100), 0);
	ck_assert_double_eq(histogram_mean(&h), 0);
}
END_TEST

START_TEST(small_numbers_and_the_greatest_are_exact)
{
	for (int64_t i = 0; i < 64; i++) {
		memset(&h, 0, sizeof(h));
		histogram_add(&h, i);
		histogram_add(&h, 1000000007);
		ck_assert_int_eq(histogram_percentile(&h, 50), i);
		ck_assert_int_eq(histogram_percentile(&h, 100), 1000000007);
	}
}
END_TEST

/* Around each power of two: never too low, and only slightly too high. */
START_TEST(a_percentile_is_never_too_low_and_hardly_too_high)
{
	for (int power = 6; power < 42; power++)
		for (int64_t off = -2; off <= 2; off++) {
			int64_t value = ((int64_t)1 << power) + off;
			int64_t told;

			memset(&h, 0, sizeof(h));
			histogram_add(&h, value);
			histogram_add(&h, (int64_t)1 << 43);
			told = histogram_percentile(&h, 50);
			ck_assert_int_ge(told, value);
			ck_assert_int_le(told, value + value / 32);
		}
}
END_TEST

START_TEST(percentiles_go_by_rank)
{
	for (int i = 1; i <= 1000; i++)
		histogram_add(&h, i <= 900 ? 10 : i <= 999 ? 20 : 30);
	ck_assert_int_eq(histogram_percentile(&h, 0), 10);
	ck_assert_int_eq(histogram_percentile(&h, 90), 10);
	ck_assert_int_eq(histogram_percentile(&h, 90.1), 20);
	ck_assert_int_eq(histogram_percentile(&h, 99.9), 20);
	ck_assert_int_eq(histogram_percentile(&h, 99.95), 30);
	ck_assert_double_eq_tol(histogram_mean(&h), 11.01, 1e-9);
}
END_TEST

START_TEST(what_is_out_of_range_is_counted)
{
	histogram_add(&h, -5);
	ck_assert_int_eq(histogram_percentile(&h, 100), 0);
	histogram_add(&h, INT64_MAX);
	ck_assert_int_eq(h.count, 2);
	ck_assert_int_eq(histogram_percentile(&h, 50), 0);
	ck_assert_int_eq(histogram_percentile(&h, 99), INT64_MAX);
}
END_TEST

START_TEST(two_become_one)
{
	for (int i = 0; i < 100; i++)
		histogram_add(i % 2 ? &h : &other, i * 1000);
	histogram_merge(&h, &other);
	ck_assert_int_eq(h.count, 100);
	ck_assert_int_eq(h.max, 99000);
	ck_assert_double_eq_tol(histogram_mean(&h), 49500, 1e-6);
	ck_assert_int_ge(histogram_percentile(&h, 50), 49000);
	ck_assert_int_le(histogram_percentile(&h, 50), 49000 * 33 / 32);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("histogram");
	TCase *t = tcase_create("histogram");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, of_none_everything_is_zero);
	tcase_add_test(t, small_numbers_and_the_greatest_are_exact);
	tcase_add_test(t, a_percentile_is_never_too_low_and_hardly_too_high);
	tcase_add_test(t, percentiles_go_by_rank);
	tcase_add_test(t, what_is_out_of_range_is_counted);
	tcase_add_test(t, two_become_one);
	suite_add_tcase(s, t);
	return unit_main(s);
}
