/* test_pace.c - pace.h: when a worker of a benchmark begins its next
   acquire. */
#include "pace.h"
#include "unit.h"

#include <math.h>

#define SECOND 1000000000LL
#define NEVER ((struct pace_span){ 0, 0 })

static struct pace p, q;

START_TEST(a_closed_loop_thinks_after_each)
{
	pace_init(&p, 1, 0, 500, 0, (struct pace_span){ 30, 30 });
	ck_assert_int_eq(pace_next(&p, 1000), 1030);
	ck_assert_int_eq(pace_next(&p, 7000), 7030);
	ck_assert_uint_eq(pace_missed(&p, SECOND), 0);
}
END_TEST

/* The schedule exists before the first acquire, and a worker that is late finds
   that the next one was due as well. */
START_TEST(an_open_loop_does_not_wait_for_who_is_late)
{
	int64_t at[100];

	pace_init(&p, 1, 3, 0, 10, NEVER);
	pace_init(&q, 1, 3, 0, 10, NEVER);
	for (int i = 0; i < 100; i++)
		at[i] = pace_next(&p, 0);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(pace_next(&q, 1000 * SECOND), at[i]);
}
END_TEST

START_TEST(an_open_loop_has_the_rate_that_was_asked_for)
{
	int64_t last = 0, gap, shortest = SECOND, longest = 0;
	int n = 0;

	pace_init(&p, 42, 0, 0, 1000, NEVER);
	for (; last < 100 * SECOND; n++) {
		int64_t at = pace_next(&p, 0);

		ck_assert_int_ge(at, last);
		gap = at - last;
		shortest = gap < shortest ? gap : shortest;
		longest = gap > longest ? gap : longest;
		last = at;
	}
	/* 100,000 are expected, within three times 316.  The times between them
	   are those of independent users, so they are not even. */
	ck_assert_int_gt(n, 99000);
	ck_assert_int_lt(n, 101000);
	ck_assert_int_lt(shortest, SECOND / 1000000);
	ck_assert_int_gt(longest, SECOND / 1000 * 6);
}
END_TEST

START_TEST(what_was_due_and_never_begun_is_told)
{
	int64_t end = 2 * SECOND;
	uint64_t all = 0, taken = 0;

	pace_init(&p, 7, 1, 0, 100, NEVER);
	pace_init(&q, 7, 1, 0, 100, NEVER);
	all = pace_missed(&p, end);
	ck_assert_uint_gt(all, 100);
	while (taken < 50 && pace_next(&q, 0) < end)
		taken++;
	ck_assert_uint_eq(taken + pace_missed(&q, end), all);
}
END_TEST

/* However small the rate is, the next time is far in the future, and never
   past. */
START_TEST(a_rate_of_next_to_nothing_is_one)
{
	static const double rates[] = { 1e-9, 1e-12, 1e-300 };

	for (int i = 0; i < 3; i++) {
		pace_init(&p, 1, 0, 100 * SECOND, rates[i], NEVER);
		ck_assert_int_gt(pace_next(&p, 0), 1000 * SECOND);
		ck_assert_int_gt(pace_next(&p, 0), 1000 * SECOND);
		ck_assert_uint_eq(pace_missed(&p, 1000 * SECOND), 0);
	}
}
END_TEST

START_TEST(the_seed_and_the_worker_say_what_is_drawn)
{
	pace_init(&p, 1, 0, 0, 10, NEVER);
	pace_init(&q, 1, 0, 0, 10, NEVER);
	ck_assert_int_eq(pace_next(&p, 0), pace_next(&q, 0));
	pace_init(&q, 1, 1, 0, 10, NEVER);
	ck_assert_int_ne(pace_next(&p, 0), pace_next(&q, 0));
	pace_init(&p, 1, 0, 0, 10, NEVER);
	pace_init(&q, 2, 0, 0, 10, NEVER);
	ck_assert_int_ne(pace_next(&p, 0), pace_next(&q, 0));
}
END_TEST

START_TEST(what_is_drawn_is_in_the_span)
{
	struct pace_span span = { 100, 200 };
	double sum = 0;

	pace_init(&p, 1, 0, 0, 0, NEVER);
	for (int i = 0; i < 10000; i++) {
		int64_t n = pace_draw(&p, span);

		ck_assert_int_ge(n, 100);
		ck_assert_int_lt(n, 200);
		sum += (double)n;
	}
	ck_assert(fabs(sum / 10000 - 149.5) < 2);
	ck_assert_int_eq(pace_draw(&p, (struct pace_span){ 9, 9 }), 9);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pace");
	TCase *t = tcase_create("pace");

	tcase_add_test(t, a_closed_loop_thinks_after_each);
	tcase_add_test(t, an_open_loop_does_not_wait_for_who_is_late);
	tcase_add_test(t, an_open_loop_has_the_rate_that_was_asked_for);
	tcase_add_test(t, what_was_due_and_never_begun_is_told);
	tcase_add_test(t, a_rate_of_next_to_nothing_is_one);
	tcase_add_test(t, the_seed_and_the_worker_say_what_is_drawn);
	tcase_add_test(t, what_is_drawn_is_in_the_span);
	suite_add_tcase(s, t);
	return unit_main(s);
}
