/*
 * test_stats.c - stats.h: the histogram of latencies, compared with sorted
 * samples.
 */
#include "unit.h"

#include "random.h"
#include "stats.h"

#include <string.h>

#define SAMPLES 1000

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* May "got" be reported for "real"?  It must not be less, and must be less than
   19 per cent more; the first bucket has 0 and 1. */
static int near(uint64_t real, uint64_t got)
{
	return got >= real && (got <= 1 || (double)got < (double)real * 1.1893);
}

START_TEST(an_empty_histogram_has_no_percentiles)
{
	struct ku_latency latency = { 0 };

	ck_assert_uint_eq(ku_latency_percentile(&latency, 0), 0);
	ck_assert_uint_eq(ku_latency_percentile(&latency, 50), 0);
	ck_assert_uint_eq(ku_latency_percentile(&latency, 100), 0);
}
END_TEST

START_TEST(count_sum_and_maximum_are_in_whole_microseconds)
{
	struct ku_latency latency = { 0 };

	ku_latency_add(&latency, 1999);
	ku_latency_add(&latency, 5000000);
	ku_latency_add(&latency, 0);
	ck_assert_uint_eq(latency.count, 3);
	ck_assert_uint_eq(latency.sum_us, 5001);
	ck_assert_uint_eq(latency.max_us, 5000);
}
END_TEST

START_TEST(a_negative_duration_counts_as_none)
{
	struct ku_latency latency = { 0 };

	ku_latency_add(&latency, -1);
	ku_latency_add(&latency, INT64_MIN);
	ck_assert_uint_eq(latency.count, 2);
	ck_assert_uint_eq(latency.sum_us, 0);
	ck_assert_uint_eq(ku_latency_percentile(&latency, 100), 0);
}
END_TEST

START_TEST(no_percentile_is_above_the_maximum)
{
	struct ku_latency latency = { 0 };

	ku_latency_add(&latency, 1000 * 1000);
	ck_assert_uint_eq(ku_latency_percentile(&latency, 0), 1000);
	ck_assert_uint_eq(ku_latency_percentile(&latency, 50), 1000);
	ck_assert_uint_eq(ku_latency_percentile(&latency, 100), 1000);
	ku_latency_add(&latency, INT64_MAX);
	ck_assert_uint_eq(ku_latency_percentile(&latency, 100),
		INT64_MAX / 1000);
}
END_TEST

START_TEST(a_share_outside_of_0_to_100_is_the_nearest)
{
	struct ku_latency latency = { 0 };

	ku_latency_add(&latency, 1000);
	ku_latency_add(&latency, 1000 * 1000);
	ck_assert_uint_eq(ku_latency_percentile(&latency, -1), 1);
	ck_assert_uint_eq(ku_latency_percentile(&latency, 101), 1000);
}
END_TEST

/* Up to 2^32 us; above that the last bucket says only "long". */
START_TEST(every_duration_is_reported_to_within_19_per_cent)
{
	struct ku_random r;
	uint64_t us, got;
	int i;

	ku_random_seed(&r, 1);
	for (i = 0; i < 200000; i++) {
		struct ku_latency latency = { 0 };

		us = i < 5000
			? (uint64_t)i
			: ku_random_next(&r) >> (33 + ku_random_below(&r, 31));
		ku_latency_add(&latency, (int64_t)us * 1000);
		ku_latency_add(&latency, INT64_MAX); /* lifts the maximum */
		got = ku_latency_percentile(&latency, 50);
		if (!near(us, got))
			ck_abort_msg("%llu gave %llu", (unsigned long long)us,
				(unsigned long long)got);
	}
}
END_TEST

START_TEST(percentiles_agree_with_sorted_samples)
{
	static uint64_t sample[SAMPLES];
	struct ku_random r;
	size_t i, count;
	int round, percent;

	ku_random_seed(&r, 2);
	for (round = 0; round < 50; round++) {
		struct ku_latency latency = { 0 };

		count = 1 + ku_random_below(&r, SAMPLES);
		for (i = 0; i < count; i++) {
			sample[i] = ku_random_below(&r,
				UINT64_C(1) << ku_random_below(&r, 31));
			ku_latency_add(&latency, (int64_t)sample[i] * 1000);
		}
		qsort(sample, count, sizeof(sample[0]), compare);
		for (percent = 1; percent <= 100; percent++) {
			i = (count * (size_t)percent + 99) / 100 - 1;
			ck_assert(near(sample[i],
				ku_latency_percentile(&latency, percent)));
		}
	}
}
END_TEST

START_TEST(a_full_bucket_stays_full)
{
	struct ku_latency latency = { 0 };
	size_t i;

	ku_latency_add(&latency, 1000);
	latency.bucket[0] = UINT32_MAX;
	for (i = 0; i < 10; i++)
		ku_latency_add(&latency, 1000);
	ck_assert_uint_eq(latency.bucket[0], UINT32_MAX);
	ck_assert_uint_eq(latency.count, 11);
	ck_assert_uint_eq(ku_latency_percentile(&latency, 50), 1);
}
END_TEST

START_TEST(more_than_the_buckets_hold_is_still_a_percentile)
{
	struct ku_latency latency = { 0 };
	size_t i;

	ku_latency_add(&latency, INT64_MAX);
	for (i = 0; i < KU_LATENCY_BUCKETS; i++)
		latency.bucket[i] = UINT32_MAX;
	latency.count = UINT64_MAX;
	ck_assert_uint_eq(ku_latency_percentile(&latency, 100),
		INT64_MAX / 1000);
	ck_assert_uint_lt(ku_latency_percentile(&latency, 50), 1 << 16);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stats");
	TCase *tcase = tcase_create("latency");

	tcase_add_test(tcase, an_empty_histogram_has_no_percentiles);
	tcase_add_test(tcase, count_sum_and_maximum_are_in_whole_microseconds);
	tcase_add_test(tcase, a_negative_duration_counts_as_none);
	tcase_add_test(tcase, no_percentile_is_above_the_maximum);
	tcase_add_test(tcase, a_share_outside_of_0_to_100_is_the_nearest);
	tcase_add_test(tcase, every_duration_is_reported_to_within_19_per_cent);
	tcase_add_test(tcase, percentiles_agree_with_sorted_samples);
	tcase_add_test(tcase, a_full_bucket_stays_full);
	tcase_add_test(tcase, more_than_the_buckets_hold_is_still_a_percentile);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
