/*
 * test_retry.c - what return codes mean, and every policy.
 */
#include "unit.h"

#include "clock.h"
#include "random.h"
#include "retry.h"
#include "zk.h"

#include <limits.h>

#define DONE KU_OUTCOME_DONE
#define REFUSED KU_OUTCOME_REFUSED
#define AGAIN KU_OUTCOME_AGAIN
#define UNKNOWN KU_OUTCOME_UNKNOWN
#define EXPIRED KU_OUTCOME_EXPIRED

/* ZooKeeper's own numbers, in its order. */
static const struct {
	int rc;
	enum ku_outcome outcome;
	enum kustos_err err;
} codes[] = {
	{ 0, DONE, KUSTOS_OK },
	{ -1, UNKNOWN, KUSTOS_EDISCONNECTED }, /* system error */
	{ -2, UNKNOWN, KUSTOS_EDISCONNECTED }, /* runtime inconsistency */
	{ -3, UNKNOWN, KUSTOS_EDISCONNECTED }, /* data inconsistency */
	{ -4, UNKNOWN, KUSTOS_EDISCONNECTED }, /* connection loss */
	{ -5, AGAIN, KUSTOS_EDISCONNECTED },   /* marshalling error */
	{ -6, REFUSED, KUSTOS_EUNSUPPORTED },  /* unimplemented */
	{ -7, UNKNOWN, KUSTOS_EDISCONNECTED }, /* operation timeout */
	{ -8, REFUSED, KUSTOS_EINVAL },	       /* bad arguments */
	{ -9, AGAIN, KUSTOS_EDISCONNECTED },   /* invalid state */
	{ -101, REFUSED, KUSTOS_ENONODE }, { -102, REFUSED, KUSTOS_ENOAUTH },
	{ -103, REFUSED, KUSTOS_EBADVERSION },
	{ -108, REFUSED, KUSTOS_ENOCHILDREN },
	{ -110, REFUSED, KUSTOS_EEXISTS }, { -111, REFUSED, KUSTOS_ENOTEMPTY },
	{ -112, EXPIRED, KUSTOS_ELOST }, { -114, REFUSED, KUSTOS_EBADACL },
	{ -115, REFUSED, KUSTOS_EAUTH },
	{ -116, UNKNOWN, KUSTOS_EDISCONNECTED }, /* closing */
	{ -118, AGAIN, KUSTOS_EDISCONNECTED },	 /* session moved */
	{ -119, REFUSED, KUSTOS_EUNSUPPORTED },	 /* not read-only */
	{ -121, REFUSED, KUSTOS_ESERVER },	 /* no watcher */
	{ -125, REFUSED, KUSTOS_EQUOTA },
	{ -127, AGAIN, KUSTOS_EDISCONNECTED }, /* throttled */
};

static struct ku_random rng;

static void setup(void)
{
	ku_random_seed(&rng, 1);
}

#define next_pause(r, now_ns) \
	ku_retry_next(r, KUSTOS_EDISCONNECTED, now_ns, &rng)

/* Return the pause in ms after "tries" tries have failed, the last of them
   "at_ms" after the first; or -1. */
static int64_t pause_after(const struct kustos_retry *policy, int tries,
	int64_t at_ms)
{
	struct ku_retry r;
	int64_t pause;

	ku_retry_start(&r, policy, 5 * KU_NS_PER_S);
	r.tries = tries - 1;
	pause = next_pause(&r, 5 * KU_NS_PER_S + at_ms * KU_NS_PER_MS);
	if (pause < 0)
		return pause;
	return pause / KU_NS_PER_MS;
}

START_TEST(every_return_code_has_its_outcome)
{
	size_t i;

	for (i = 0; i < UNIT_COUNT(codes); i++)
		ck_assert_msg(ku_outcome(codes[i].rc) == codes[i].outcome,
			"rc %d gives %d", codes[i].rc, ku_outcome(codes[i].rc));
}
END_TEST

START_TEST(every_return_code_has_its_error)
{
	size_t i;

	for (i = 0; i < UNIT_COUNT(codes); i++)
		ck_assert_msg(ku_rc_err(codes[i].rc) == codes[i].err,
			"rc %d gives %d", codes[i].rc, ku_rc_err(codes[i].rc));
}
END_TEST

static int is_listed(int rc)
{
	size_t i;

	for (i = 0; i < UNIT_COUNT(codes); i++)
		if (codes[i].rc == rc)
			return 1;
	return 0;
}

START_TEST(other_answers_are_refusals_and_the_rest_is_unknown)
{
	int rc;

	for (rc = -1000; rc < 1000; rc++) {
		if (is_listed(rc))
			continue;
		ck_assert_int_eq(ku_outcome(rc),
			rc <= -100 ? REFUSED : UNKNOWN);
		ck_assert_int_eq(ku_rc_err(rc),
			rc <= -100 ? KUSTOS_ESERVER : KUSTOS_EDISCONNECTED);
	}
	ck_assert_int_eq(ku_outcome(INT_MIN), REFUSED);
	ck_assert_int_eq(ku_outcome(INT_MAX), UNKNOWN);
}
END_TEST

START_TEST(none_gives_up_at_once)
{
	struct kustos_retry policy = kustos_retry_none();

	ck_assert_int_eq(pause_after(&policy, 1, 0), -1);
}
END_TEST

START_TEST(once_tries_again_once)
{
	struct kustos_retry policy = kustos_retry_once(70);

	ck_assert_int_eq(pause_after(&policy, 1, 0), 70);
	ck_assert_int_eq(pause_after(&policy, 2, 70), -1);
}
END_TEST

START_TEST(n_times_tries_again_n_times)
{
	struct kustos_retry policy = kustos_retry_n_times(3, 0);
	struct ku_retry r;
	int i;

	ku_retry_start(&r, &policy, 0);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(next_pause(&r, i), 0);
	ck_assert_int_eq(next_pause(&r, 3), -1);
	ck_assert_int_eq(next_pause(&r, 4), -1);
}
END_TEST

START_TEST(n_times_zero_or_less_is_none)
{
	static const int n[] = { 0, -1, INT_MIN };
	size_t i;

	for (i = 0; i < UNIT_COUNT(n); i++) {
		struct kustos_retry policy = kustos_retry_n_times(n[i], 5);

		ck_assert(ku_retry_valid(&policy));
		ck_assert_int_eq(pause_after(&policy, 1, 0), -1);
	}
}
END_TEST

START_TEST(a_policy_is_not_used_up_by_one_call)
{
	struct kustos_retry policy = kustos_retry_once(1);
	struct ku_retry r;
	int i;

	for (i = 0; i < 3; i++) {
		ku_retry_start(&r, &policy, 0);
		ck_assert_int_eq(next_pause(&r, 0), KU_NS_PER_MS);
		ck_assert_int_eq(next_pause(&r, 0), -1);
	}
}
END_TEST

START_TEST(until_elapsed_stops_when_the_time_has_passed)
{
	struct kustos_retry policy = kustos_retry_until_elapsed(1000, 30);
	struct ku_retry r;

	ck_assert_int_eq(pause_after(&policy, 1, 0), 30);
	ck_assert_int_eq(pause_after(&policy, 1000000, 999), 30);
	ck_assert_int_eq(pause_after(&policy, 1, 1000), -1);
	ck_assert_int_eq(pause_after(&policy, 1, 1001), -1);
	/* Not a nanosecond early. */
	ku_retry_start(&r, &policy, 0);
	ck_assert_int_ge(next_pause(&r, KU_NS_PER_S - 1), 0);
	ck_assert_int_eq(next_pause(&r, KU_NS_PER_S), -1);
	policy = kustos_retry_until_elapsed(0, 30);
	ck_assert_int_eq(pause_after(&policy, 1, 0), -1);
}
END_TEST

START_TEST(forever_does_not_end)
{
	struct kustos_retry policy = kustos_retry_forever(10);

	ck_assert_int_eq(pause_after(&policy, 1, 0), 10);
	ck_assert_int_eq(pause_after(&policy, INT_MAX, INT64_C(1) << 40), 10);
}
END_TEST

START_TEST(the_count_of_tries_does_not_overflow)
{
	struct kustos_retry policy = kustos_retry_forever(1);
	struct ku_retry r;

	ku_retry_start(&r, &policy, 0);
	r.tries = INT_MAX;
	ck_assert_int_eq(next_pause(&r, 0), KU_NS_PER_MS);
	ck_assert_int_eq(r.tries, INT_MAX);
}
END_TEST

/* The k-th pause is base * max(1, random in [0, 2^k)).  Each factor occurs, and
   1 is twice as frequent as any other. */
START_TEST(exponential_pauses_are_those_of_curator)
{
	struct kustos_retry policy = kustos_retry_exponential(100, 0, 29);
	int64_t pause;
	int i, k;

	for (k = 1; k <= 5; k++) {
		int seen[32] = { 0 };

		for (i = 0; i < 1000 << k; i++) {
			pause = pause_after(&policy, k, 0);
			if (pause % 100 != 0 || pause < 100 ||
				pause >= INT64_C(100) << k)
				ck_abort_msg("pause %lld", (long long)pause);
			seen[pause / 100]++;
		}
		ck_assert_int_lt(abs(seen[1] - 2000), 300);
		for (i = 2; i < 32; i++)
			ck_assert_int_lt(abs(seen[i] - (i < 1 << k) * 1000),
				200);
	}
}
END_TEST

START_TEST(exponential_pauses_stay_below_the_cap)
{
	struct kustos_retry policy = kustos_retry_exponential(100, 250, 29);
	int64_t pause, longest = 0;
	int i;

	for (i = 0; i < 1000; i++) {
		pause = pause_after(&policy, 1 + i % 29, 0);
		ck_assert_int_ge(pause, 100);
		ck_assert_int_le(pause, 250);
		longest = pause > longest ? pause : longest;
	}
	ck_assert_int_eq(longest, 250);
}
END_TEST

/* 2^62 times 2 would be negative, and times 4 would be 0. */
START_TEST(P07_a_huge_base_is_cut_to_the_cap)
{
	const int64_t base = INT64_C(1) << 62;
	struct kustos_retry policy = kustos_retry_exponential(base, 7, 29);
	int i;

	for (i = 0; i < 100; i++)
		ck_assert_int_eq(pause_after(&policy, 1 + i % 4, 0), 7);
}
END_TEST

START_TEST(exponential_ends_after_its_retries)
{
	struct kustos_retry policy = kustos_retry_exponential(1, 0, 4);

	ck_assert_int_ge(pause_after(&policy, 4, INT64_C(1) << 40), 0);
	ck_assert_int_eq(pause_after(&policy, 5, 0), -1);
	policy = kustos_retry_exponential(1, 0, 0);
	ck_assert_int_eq(pause_after(&policy, 1, 0), -1);
	policy = kustos_retry_exponential(1, 0, -3);
	ck_assert_int_eq(pause_after(&policy, 1, 0), -1);
}
END_TEST

START_TEST(exponential_ends_after_29_retries_at_the_most)
{
	struct kustos_retry policy = kustos_retry_exponential(1, 0, INT_MAX);

	ck_assert_int_ge(pause_after(&policy, 29, 0), 1);
	ck_assert_int_eq(pause_after(&policy, 30, 0), -1);
	ck_assert_int_eq(pause_after(&policy, INT_MAX, 0), -1);
}
END_TEST

START_TEST(bounded_is_exponential_until_the_time_has_passed)
{
	struct kustos_retry policy = kustos_retry_bounded(10, 50, 3, 1000);

	ck_assert_int_eq(pause_after(&policy, 1, 999), 10);
	ck_assert_int_eq(pause_after(&policy, 1, 1000), -1);
	ck_assert_int_ge(pause_after(&policy, 3, 999), 10);
	ck_assert_int_le(pause_after(&policy, 3, 999), 50);
	ck_assert_int_eq(pause_after(&policy, 4, 0), -1);
	policy = kustos_retry_bounded(10, 50, 3, 0);
	ck_assert_int_eq(pause_after(&policy, 1, 0), -1);
}
END_TEST

struct question {
	enum kustos_err err;
	int tries;
	int64_t elapsed_ms;
	int64_t answer;
};

static int64_t ask(void *arg, enum kustos_err err, int tries,
	int64_t elapsed_ms)
{
	struct question *q = arg;

	*q = (struct question){ err, tries, elapsed_ms, q->answer };
	return q->answer;
}

START_TEST(custom_asks_each_time)
{
	struct question question = { .answer = 12 };
	struct kustos_retry policy = kustos_retry_custom(ask, &question);
	struct ku_retry r;

	ku_retry_start(&r, &policy, KU_NS_PER_S);
	ck_assert_int_eq(next_pause(&r, KU_NS_PER_S), 12 * KU_NS_PER_MS);
	ck_assert_int_eq(question.tries, 1);
	ck_assert_int_eq(question.elapsed_ms, 0);
	question.answer = -7;
	ck_assert_int_eq(
		ku_retry_next(&r, KUSTOS_ESERVER, 4 * KU_NS_PER_S, &rng), -1);
	ck_assert_int_eq(question.err, KUSTOS_ESERVER);
	ck_assert_int_eq(question.tries, 2);
	ck_assert_int_eq(question.elapsed_ms, 3000);
	question.answer = INT64_MAX;
	ck_assert_int_eq(next_pause(&r, 5 * KU_NS_PER_S), INT64_MAX);
}
END_TEST

START_TEST(a_clock_before_the_start_counts_as_no_time)
{
	struct question question = { .elapsed_ms = 7, .answer = 30 };
	struct kustos_retry policy = kustos_retry_custom(ask, &question);

	ck_assert_int_eq(pause_after(&policy, 1, -1000), 30);
	ck_assert_int_eq(question.elapsed_ms, 0);
}
END_TEST

START_TEST(what_the_functions_make_is_valid)
{
	const struct kustos_retry policies[] = {
		kustos_retry_none(),
		kustos_retry_once(1),
		kustos_retry_n_times(5, 0),
		kustos_retry_forever(0),
		kustos_retry_until_elapsed(0, 0),
		kustos_retry_exponential(100, 5000, 29),
		kustos_retry_bounded(1, 0, 3, INT64_MAX),
		kustos_retry_custom(ask, NULL),
	};
	size_t i;

	for (i = 0; i < UNIT_COUNT(policies); i++)
		ck_assert(ku_retry_valid(&policies[i]));
}
END_TEST

START_TEST(what_makes_no_sense_is_not_valid)
{
	const struct kustos_retry policies[] = {
		kustos_retry_once(-1),
		kustos_retry_forever(INT64_MIN),
		kustos_retry_until_elapsed(-1, 5),
		kustos_retry_until_elapsed(5, -1),
		kustos_retry_exponential(-1, 0, 3),
		kustos_retry_exponential(1, -1, 3),
		kustos_retry_bounded(1, 1, 3, -1),
		kustos_retry_custom(NULL, NULL),
		{ .kind = (enum kustos_retry_kind)6 },
		{ .kind = (enum kustos_retry_kind) - 1 },
	};
	size_t i;

	for (i = 0; i < UNIT_COUNT(policies); i++)
		ck_assert_msg(!ku_retry_valid(&policies[i]), "policy %zu", i);
}
END_TEST

START_TEST(an_unknown_kind_gives_up)
{
	struct kustos_retry policy = kustos_retry_forever(1);

	policy.kind = (enum kustos_retry_kind)6;
	ck_assert_int_eq(pause_after(&policy, 1, 0), -1);
}
END_TEST

/* A random number of any magnitude, or close to an extreme. */
static int64_t wild(void)
{
	uint64_t x = ku_random_next(&rng) >> ku_random_below(&rng, 64);

	switch (ku_random_below(&rng, 6)) {
	case 0:
		return INT64_MAX - (int64_t)(x >> 60);
	case 1:
		return INT64_MIN + (int64_t)(x >> 60);
	default:
		return (int64_t)x;
	}
}

START_TEST(P07_no_policy_makes_the_pause_overflow_or_negative)
{
	int64_t pause = 0;

	for (int i = 0; i < 200000; i++) {
		struct question question = { .answer = wild() };
		struct kustos_retry policy = kustos_retry_custom(ask,
			&question);
		struct ku_retry r;
		policy.kind = (enum kustos_retry_kind)ku_random_below(&rng, 7);
		policy.pause_ms = wild();
		policy.max_pause_ms = wild();
		policy.max_elapsed_ms = wild();
		policy.max_retries = (int)wild();
		int64_t now = wild() & INT64_MAX, fits = policy.max_pause_ms;
		ku_retry_start(&r, &policy, now);
		for (int step = 0; step < 40; step++) {
			pause = next_pause(&r, now);
			if (pause < 0)
				break;
			if (policy.kind == KUSTOS_RETRY_EXPONENTIAL &&
				fits > 0 && pause / KU_NS_PER_MS > fits)
				break;
			now = ku_time_add(now, pause);
			pause = -1;
		}
		ck_assert_int_eq(pause, -1);
	}
}
END_TEST

static TCase *code_tests(void)
{
	TCase *tcase = tcase_create("return codes");

	tcase_add_test(tcase, every_return_code_has_its_outcome);
	tcase_add_test(tcase, every_return_code_has_its_error);
	tcase_add_test(tcase,
		other_answers_are_refusals_and_the_rest_is_unknown);
	return tcase;
}

static TCase *policy_tests(void)
{
	TCase *tcase = tcase_create("policies");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, none_gives_up_at_once);
	tcase_add_test(tcase, once_tries_again_once);
	tcase_add_test(tcase, n_times_tries_again_n_times);
	tcase_add_test(tcase, n_times_zero_or_less_is_none);
	tcase_add_test(tcase, a_policy_is_not_used_up_by_one_call);
	tcase_add_test(tcase, until_elapsed_stops_when_the_time_has_passed);
	tcase_add_test(tcase, forever_does_not_end);
	tcase_add_test(tcase, the_count_of_tries_does_not_overflow);
	tcase_add_test(tcase, a_clock_before_the_start_counts_as_no_time);
	tcase_add_test(tcase, exponential_pauses_are_those_of_curator);
	tcase_add_test(tcase, exponential_pauses_stay_below_the_cap);
	tcase_add_test(tcase, P07_a_huge_base_is_cut_to_the_cap);
	tcase_add_test(tcase, exponential_ends_after_its_retries);
	tcase_add_test(tcase, exponential_ends_after_29_retries_at_the_most);
	tcase_add_test(tcase, bounded_is_exponential_until_the_time_has_passed);
	tcase_add_test(tcase, custom_asks_each_time);
	tcase_add_test(tcase, what_the_functions_make_is_valid);
	tcase_add_test(tcase, what_makes_no_sense_is_not_valid);
	tcase_add_test(tcase, an_unknown_kind_gives_up);
	tcase_add_test(tcase,
		P07_no_policy_makes_the_pause_overflow_or_negative);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("retry");

	suite_add_tcase(suite, code_tests());
	suite_add_tcase(suite, policy_tests());
	return unit_main(suite);
}
