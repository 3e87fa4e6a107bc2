/*
 * test_random.c - the generator against its published values and by counting.
 * Linked with -Wl,--wrap=getrandom.
 */
#include "unit.h"

#include "random.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum kernel { KERNEL_ANSWERS, KERNEL_REFUSES, KERNEL_INTERRUPTED, KERNEL_ZERO };

static enum kernel kernel;
static int asked;

ssize_t __real_getrandom(void *buf, size_t len, unsigned flags);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags);

ssize_t __wrap_getrandom(void *buf, size_t len, unsigned flags)
{
	asked++;
	switch (kernel) {
	case KERNEL_REFUSES:
		errno = EPERM;
		return -1;
	case KERNEL_INTERRUPTED:
		kernel = KERNEL_ANSWERS;
		errno = EINTR;
		return -1;
	case KERNEL_ZERO:
		memset(buf, 0, len);
		return (ssize_t)len;
	default:
		return __real_getrandom(buf, len, flags);
	}
}

START_TEST(the_sequence_is_that_of_xoshiro256_star_star)
{
	struct ku_random r = { { 1, 2, 3, 4 } };

	ck_assert_uint_eq(ku_random_next(&r), 11520);
	ck_assert_uint_eq(ku_random_next(&r), 0);
	ck_assert_uint_eq(ku_random_next(&r), 1509978240);
	ck_assert_uint_eq(ku_random_next(&r), UINT64_C(1215971899390074240));
}
END_TEST

START_TEST(a_seed_is_spread_as_splitmix64_does)
{
	struct ku_random r;

	ku_random_seed(&r, 0);
	ck_assert_uint_eq(r.s[0], UINT64_C(0xe220a8397b1dcdaf));
	ck_assert_uint_eq(r.s[1], UINT64_C(0x6e789e6aa1b965f4));
}
END_TEST

START_TEST(a_seed_gives_the_same_sequence_again)
{
	struct ku_random a, b, c;
	int i, same = 0;

	ku_random_seed(&a, 42);
	ku_random_seed(&b, 42);
	ku_random_seed(&c, 43);
	for (i = 0; i < 100; i++) {
		uint64_t x = ku_random_next(&a);

		ck_assert_uint_eq(x, ku_random_next(&b));
		same += x == ku_random_next(&c);
	}
	ck_assert_int_eq(same, 0);
}
END_TEST

/* Seed "count" generators from "source"; they must all differ. */
static void check_seeds_differ(enum kernel source)
{
	struct ku_random r[16];
	size_t i, j;

	kernel = source;
	for (i = 0; i < UNIT_COUNT(r); i++) {
		memset(&r[i], 0, sizeof(r[i]));
		ku_random_init(&r[i]);
		for (j = 0; j < i; j++)
			ck_assert_uint_ne(ku_random_next(&r[i]),
				ku_random_next(&r[j]));
	}
}

START_TEST(two_generators_differ)
{
	check_seeds_differ(KERNEL_ANSWERS);
}
END_TEST

START_TEST(an_interrupted_seeding_is_done_again)
{
	struct ku_random r;

	asked = 0;
	kernel = KERNEL_INTERRUPTED;
	ku_random_init(&r);
	ck_assert_int_eq(asked, 2);
}
END_TEST

START_TEST(two_generators_differ_though_the_kernel_refuses)
{
	check_seeds_differ(KERNEL_REFUSES);
}
END_TEST

START_TEST(the_state_is_never_all_zero)
{
	struct ku_random r;

	kernel = KERNEL_ZERO;
	ku_random_init(&r);
	ck_assert_uint_ne(r.s[0] | r.s[1] | r.s[2] | r.s[3], 0);
	ck_assert_uint_ne(ku_random_next(&r), ku_random_next(&r));
}
END_TEST

START_TEST(a_number_below_a_bound_is_below_it)
{
	struct ku_random r;
	uint64_t bound;
	int i;

	ku_random_seed(&r, 1);
	for (i = 0; i < 200000; i++) {
		bound = ku_random_next(&r) >> ku_random_below(&r, 64);
		if (bound != 0 && ku_random_below(&r, bound) >= bound)
			ck_abort_msg("bound %llu", (unsigned long long)bound);
	}
	ck_assert_uint_eq(ku_random_below(&r, 0), 0);
	ck_assert_uint_eq(ku_random_below(&r, 1), 0);
}
END_TEST

/* The seed is fixed, so this passes always or never; the margin is six standard
   deviations. */
START_TEST(every_number_below_a_bound_is_as_likely)
{
	unsigned seen[10] = { 0 };
	struct ku_random r;
	size_t i;

	ku_random_seed(&r, 2);
	for (i = 0; i < 100000; i++)
		seen[ku_random_below(&r, UNIT_COUNT(seen))]++;
	for (i = 0; i < UNIT_COUNT(seen); i++) {
		ck_assert_uint_gt(seen[i], 10000 - 600);
		ck_assert_uint_lt(seen[i], 10000 + 600);
	}
}
END_TEST

/* With this bound a bare remainder would return the first third half of the
   time. */
START_TEST(a_bound_near_the_end_brings_no_bias)
{
	const uint64_t third = UINT64_C(1) << 62;
	struct ku_random r;
	unsigned first = 0;
	int i;

	ku_random_seed(&r, 3);
	for (i = 0; i < 30000; i++)
		first += ku_random_below(&r, 3 * third) < third;
	ck_assert_uint_gt(first, 10000 - 500);
	ck_assert_uint_lt(first, 10000 + 500);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("random");
	TCase *tcase = tcase_create("numbers");

	tcase_add_test(tcase, the_sequence_is_that_of_xoshiro256_star_star);
	tcase_add_test(tcase, a_seed_is_spread_as_splitmix64_does);
	tcase_add_test(tcase, a_seed_gives_the_same_sequence_again);
	tcase_add_test(tcase, two_generators_differ);
	tcase_add_test(tcase, an_interrupted_seeding_is_done_again);
	tcase_add_test(tcase, two_generators_differ_though_the_kernel_refuses);
	tcase_add_test(tcase, the_state_is_never_all_zero);
	tcase_add_test(tcase, a_number_below_a_bound_is_below_it);
	tcase_add_test(tcase, every_number_below_a_bound_is_as_likely);
	tcase_add_test(tcase, a_bound_near_the_end_brings_no_bias);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
