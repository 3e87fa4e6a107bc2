/*
 * test_clock.c - deadlines, on the real clocks and on a pair of fake ones.
 */
#include "unit.h"

#include "clock.h"

#include <stdbool.h>
#include <time.h>

/* Each reading takes "step" nanoseconds on both clocks.  Before reading number
   "stop" the process stops for an hour, or the machine sleeps. */
struct fake {
	int64_t monotonic, boot, step;
	int stop, readings;
	bool sleeps;
};

static void read_one(struct fake *fake)
{
	if (++fake->readings == fake->stop) {
		fake->boot += 3600 * KU_NS_PER_S;
		fake->monotonic += fake->sleeps ? 0 : 3600 * KU_NS_PER_S;
	}
	fake->boot += fake->step;
	fake->monotonic += fake->step;
}

static int64_t fake_monotonic(void *arg)
{
	struct fake *fake = arg;

	read_one(fake);
	return fake->monotonic;
}

static int64_t fake_boot(void *arg)
{
	struct fake *fake = arg;

	read_one(fake);
	return fake->boot;
}

static int64_t now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * KU_NS_PER_S + t.tv_nsec;
}

START_TEST(the_real_clocks_are_those_of_the_system)
{
	int64_t before, got, after;

	before = now(CLOCK_MONOTONIC);
	got = ku_monotonic(&ku_clock_real);
	after = now(CLOCK_MONOTONIC);
	ck_assert_int_le(before, got);
	ck_assert_int_le(got, after);

	before = now(CLOCK_BOOTTIME);
	got = ku_boot(&ku_clock_real);
	after = now(CLOCK_BOOTTIME);
	ck_assert_int_le(before, got);
	ck_assert_int_le(got, after);

	before = now(CLOCK_REALTIME);
	got = ku_wall_ms(&ku_clock_real);
	after = now(CLOCK_REALTIME);
	ck_assert_int_le(before / KU_NS_PER_MS, got);
	ck_assert_int_le(got, after / KU_NS_PER_MS);
}
END_TEST

START_TEST(a_deadline_is_so_many_milliseconds_from_now)
{
	static const int64_t ms[] = { 0, 1, 999, 5000, INT64_C(1) << 40 };
	int64_t before, got, after;
	size_t i;

	for (i = 0; i < UNIT_COUNT(ms); i++) {
		before = now(CLOCK_MONOTONIC);
		got = kustos_after_ms(ms[i]);
		after = now(CLOCK_MONOTONIC);
		ck_assert_int_le(before + ms[i] * KU_NS_PER_MS, got);
		ck_assert_int_le(got, after + ms[i] * KU_NS_PER_MS);
	}
}
END_TEST

START_TEST(a_deadline_in_the_past_is_now)
{
	static const int64_t ms[] = { -1, -5000, INT64_MIN };
	int64_t before, got;
	size_t i;

	for (i = 0; i < UNIT_COUNT(ms); i++) {
		before = now(CLOCK_MONOTONIC);
		got = kustos_after_ms(ms[i]);
		ck_assert_int_le(before, got);
		ck_assert_int_le(got, now(CLOCK_MONOTONIC));
	}
}
END_TEST

START_TEST(a_deadline_past_the_end_of_time_is_forever)
{
	const int64_t most = INT64_MAX / KU_NS_PER_MS;

	ck_assert_int_eq(kustos_after_ms(INT64_MAX), KUSTOS_FOREVER);
	ck_assert_int_eq(kustos_after_ms(most + 1), KUSTOS_FOREVER);
	/* Its product still fits, but its sum does not. */
	ck_assert_int_eq(kustos_after_ms(most), KUSTOS_FOREVER);
}
END_TEST

START_TEST(time_is_added_up_to_its_end_and_not_beyond)
{
	ck_assert_int_eq(ku_time_add(0, 0), 0);
	ck_assert_int_eq(ku_time_add(2, 3), 5);
	ck_assert_int_eq(ku_time_add(INT64_MAX - 1, 1), INT64_MAX);
	ck_assert_int_eq(ku_time_add(INT64_MAX, 1), INT64_MAX);
	ck_assert_int_eq(ku_time_add(1, INT64_MAX), INT64_MAX);
	ck_assert_int_eq(ku_time_add(INT64_MAX, INT64_MAX), INT64_MAX);
}
END_TEST

START_TEST(a_deadline_keeps_its_distance_on_the_boot_clock)
{
	struct fake fake = { .monotonic = 1000, .boot = 7000 };
	const struct ku_clock clock = { fake_monotonic, fake_boot, fake_boot,
		&fake };

	ck_assert_int_eq(ku_deadline_boot(&clock, 1500), 7500);
	ck_assert_int_eq(ku_deadline_boot(&clock, 1001), 7001);
	ck_assert_int_eq(ku_deadline_boot(&clock, 1000), 7000);
	ck_assert_int_eq(ku_deadline_boot(&clock, KUSTOS_FOREVER),
		KUSTOS_FOREVER);
	ck_assert_int_eq(ku_deadline_boot(&clock, KUSTOS_FOREVER - 1),
		KUSTOS_FOREVER);
}
END_TEST

START_TEST(a_passed_deadline_passes_now_on_the_boot_clock)
{
	struct fake fake = { .monotonic = 1000, .boot = 7000 };
	const struct ku_clock clock = { fake_monotonic, fake_boot, fake_boot,
		&fake };

	ck_assert_int_eq(ku_deadline_boot(&clock, 999), 7000);
	ck_assert_int_eq(ku_deadline_boot(&clock, KUSTOS_NOW), 7000);
	ck_assert_int_eq(ku_deadline_boot(&clock, INT64_MIN), 7000);
}
END_TEST

START_TEST(a_deadline_never_passes_early_on_the_boot_clock)
{
	struct fake fake = { .monotonic = 1000, .boot = 7000, .step = 10 };
	const struct ku_clock clock = { fake_monotonic, fake_boot, fake_boot,
		&fake };

	/* Both clocks run alike, so the true answer is 6000 more. */
	ck_assert_int_ge(ku_deadline_boot(&clock, 1500), 7500);
	ck_assert_int_le(ku_deadline_boot(&clock, 1500), 7520);
}
END_TEST

START_TEST(a_deadline_is_not_late_if_time_passes_between_two_readings)
{
	struct fake fake = { 1000, 7000, 10, _i / 2 + 1, 0, _i % 2 != 0 };
	const struct ku_clock clock = { fake_monotonic, fake_boot, fake_boot,
		&fake };
	int64_t deadline = 7200 * KU_NS_PER_S;
	int64_t boot = ku_deadline_boot(&clock, deadline);
	int64_t left = deadline - fake.monotonic;

	ck_assert_int_ge(boot, fake.boot + left);
	ck_assert_int_le(boot, fake.boot + left + 20);
}
END_TEST

/* On a machine so slow that no two readings are of one moment. */
START_TEST(a_deadline_is_found_and_not_early_however_slow_the_clocks_are)
{
	struct fake fake = { .monotonic = 1000,
		.boot = 7000,
		.step = 2 * KU_NS_PER_MS };
	const struct ku_clock clock = { fake_monotonic, fake_boot, fake_boot,
		&fake };
	int64_t deadline = 3600 * KU_NS_PER_S;

	ck_assert_int_ge(ku_deadline_boot(&clock, deadline), deadline + 6000);
	ck_assert_int_lt(fake.readings, 100);
}
END_TEST

START_TEST(the_system_is_told_a_time_that_is_not_before_ours)
{
	static const int64_t times[] = { 0, 1, KU_NS_PER_S - 1, KU_NS_PER_S,
		INT32_MAX * KU_NS_PER_S - 1,
		(INT32_MAX + INT64_C(1)) * KU_NS_PER_S, KUSTOS_FOREVER };
	struct timespec got = ku_timespec(times[_i]);

	ck_assert_int_eq(got.tv_nsec, times[_i] % KU_NS_PER_S);
	if (sizeof(got.tv_sec) < 8 && times[_i] / KU_NS_PER_S > INT32_MAX)
		ck_assert_int_eq(got.tv_sec, INT32_MAX);
	else
		ck_assert_int_eq(got.tv_sec, times[_i] / KU_NS_PER_S);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clock");
	TCase *tcase = tcase_create("deadlines");

	tcase_add_test(tcase, the_real_clocks_are_those_of_the_system);
	tcase_add_test(tcase, a_deadline_is_so_many_milliseconds_from_now);
	tcase_add_test(tcase, a_deadline_in_the_past_is_now);
	tcase_add_test(tcase, a_deadline_past_the_end_of_time_is_forever);
	tcase_add_test(tcase, time_is_added_up_to_its_end_and_not_beyond);
	tcase_add_test(tcase, a_deadline_keeps_its_distance_on_the_boot_clock);
	tcase_add_test(tcase, a_passed_deadline_passes_now_on_the_boot_clock);
	tcase_add_test(tcase, a_deadline_never_passes_early_on_the_boot_clock);
	tcase_add_loop_test(tcase,
		a_deadline_is_not_late_if_time_passes_between_two_readings, 0,
		8);
	tcase_add_test(tcase,
		a_deadline_is_found_and_not_early_however_slow_the_clocks_are);
	tcase_add_loop_test(tcase,
		the_system_is_told_a_time_that_is_not_before_ours, 0, 7);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
