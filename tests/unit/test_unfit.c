/* test_unfit.c - unfit.h: items that nobody can have. */
#include "clock.h"
#include "unfit.h"
#include "unit.h"

#include <kustos/node.h>

#include <stdio.h>

#define MANY 100000
#define MINUTE (60 * KU_NS_PER_S)

static struct ku_unfits unfits;

static void tear_down(void)
{
	ku_unfits_forget_all(&unfits);
}

static enum ku_unfit_news keep(int number, int version, int64_t now_ns)
{
	const struct kustos_stat stat = { .czxid = number, .version = version };
	char name[16];

	snprintf(name, sizeof(name), "qn-%010d", number);
	return ku_unfits_keep(&unfits, name, &stat, now_ns);
}

static bool have(int number, int64_t now_ns)
{
	char name[16];

	snprintf(name, sizeof(name), "qn-%010d", number);
	return ku_unfits_have(&unfits, name, now_ns);
}

START_TEST(each_is_told_of_once_unless_it_changes)
{
	static const int numbers[] = { 5, 1, 9, 3, 7 };

	for (size_t i = 0; i < UNIT_COUNT(numbers); i++)
		ck_assert_int_eq(keep(numbers[i], 0, 0), KU_UNFIT_NEW);
	for (int i = 0; i <= 10; i++)
		ck_assert_int_eq(have(i, 1), i % 2);
	for (size_t i = 0; i < UNIT_COUNT(numbers); i++)
		ck_assert_int_eq(keep(numbers[i], 0, 0), KU_UNFIT_KNOWN);
	ck_assert_int_eq(keep(9, 1, 0), KU_UNFIT_NEW);
	ck_assert_uint_eq(unfits.count, UNIT_COUNT(numbers));
}
END_TEST

START_TEST(one_is_looked_at_again_after_a_minute)
{
	ck_assert_int_eq(keep(1, 0, 5), KU_UNFIT_NEW);
	ck_assert_int_eq(keep(0, 0, 6), KU_UNFIT_NEW);
	ck_assert(have(1, MINUTE + 4));
	ck_assert(!ku_unfits_due(&unfits, MINUTE + 4));
	ck_assert(!have(1, MINUTE + 5));
	ck_assert(ku_unfits_due(&unfits, MINUTE + 5));
	ck_assert_int_eq(ku_unfits_next(&unfits, 7), MINUTE + 5);
	ck_assert_int_eq(ku_unfits_next(&unfits, MINUTE + 5), MINUTE + 6);
	/* Both are being looked at. */
	ck_assert_int_eq(ku_unfits_next(&unfits, MINUTE + 6), 2 * MINUTE + 6);
}
END_TEST

START_TEST(those_that_are_not_listed_any_more_are_forgotten)
{
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(keep(i, 0, 0), KU_UNFIT_NEW);
	for (int i = 0; i < 6; i += 2)
		ck_assert(have(i, 1));
	ku_unfits_forget_unlisted(&unfits);
	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(have(i, 1), i % 2 == 0);
	ku_unfits_forget_all(&unfits);
	ck_assert(!have(0, 1));
	ck_assert_uint_eq(unfits.count, 0);
}
END_TEST

/* In the order in which they are read, the oldest first.  (With a sort for each
   it took minutes.) */
START_TEST(P12_a_hundred_thousand_are_kept_at_once)
{
	for (int i = 0; i < MANY; i++)
		ck_assert_int_eq(keep(i, 0, 0), KU_UNFIT_NEW);
	ck_assert_uint_eq(unfits.count, MANY);
	ck_assert(have(0, 1) && have(MANY / 2, 1) && have(MANY - 1, 1));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unfit items");
	TCase *t = tcase_create("kept");

	tcase_set_timeout(t, 30);
	tcase_add_checked_fixture(t, NULL, tear_down);
	tcase_add_test(t, each_is_told_of_once_unless_it_changes);
	tcase_add_test(t, one_is_looked_at_again_after_a_minute);
	tcase_add_test(t, those_that_are_not_listed_any_more_are_forgotten);
	tcase_add_test(t, P12_a_hundred_thousand_are_kept_at_once);
	suite_add_tcase(s, t);
	return unit_main(s);
}
