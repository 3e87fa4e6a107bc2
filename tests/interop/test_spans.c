/*
 * test_spans.c - the checker itself (spans.h): it finds overlaps, counts
 * changes, adds up leases, and reads files.
 */
#include "spans.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct spans spans;

static void have(const int (*list)[2], size_t n)
{
	spans_free(&spans);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(
			spans_add(&spans, list[i][0], list[i][1], (int)i), 0);
}

#define HAVE(...)                             \
	have((const int[][2]){ __VA_ARGS__ }, \
		sizeof((const int[][2]){ __VA_ARGS__ }) / sizeof(int[2]))

START_TEST(what_is_apart_does_not_overlap)
{
	spans_free(&spans);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	HAVE({ 5, 9 });
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	HAVE({ 20, 29 }, { 0, 9 }, { 10, 19 });
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	HAVE({ -5, -1 }, { 0, 0 }, { 1, 1 });
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
}
END_TEST

START_TEST(overlaps_are_found_in_any_order)
{
	HAVE({ 0, 10 }, { 10, 20 }); /* both have the moment 10 */
	ck_assert_uint_eq(spans_overlaps(&spans), 1);
	HAVE({ 10, 20 }, { 0, 11 });
	ck_assert_uint_eq(spans_overlaps(&spans), 1);
	HAVE({ 0, 9 }, { 0, 9 });
	ck_assert_uint_eq(spans_overlaps(&spans), 1);
	HAVE({ 50, 60 }, { 0, 9 }, { 55, 56 }, { 20, 30 });
	ck_assert_uint_eq(spans_overlaps(&spans), 1);
}
END_TEST

START_TEST(one_that_is_long_overlaps_with_all_that_it_covers)
{
	HAVE({ 0, 100 }, { 10, 11 }, { 20, 21 }, { 100, 101 }, { 102, 103 });
	ck_assert_uint_eq(spans_overlaps(&spans), 3);
}
END_TEST

/* From 0 to 100 and from 10 to 20, both shared; then one that is not shared. */
static void share(int from, int to)
{
	spans_free(&spans);
	ck_assert_int_eq(spans_add_shared(&spans, 0, 100, 1), 0);
	ck_assert_int_eq(spans_add_shared(&spans, 10, 20, 2), 0);
	ck_assert_int_eq(spans_add(&spans, from, to, 3), 0);
}

START_TEST(shared_ones_may_overlap_each_other_and_nothing_else)
{
	share(101, 102);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	ck_assert_uint_eq(spans_together(&spans), 1);
	share(100, 102); /* the longer one is not over */
	ck_assert_uint_eq(spans_overlaps(&spans), 1);
	share(30, 40);
	ck_assert_uint_eq(spans_overlaps(&spans), 1);
	share(-5, 0);
	ck_assert_uint_eq(spans_overlaps(&spans), 1);
	share(-5, 15);
	ck_assert_uint_eq(spans_overlaps(&spans), 2);
	share(-5, -1);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	spans_free(&spans);
	ck_assert_int_eq(spans_add_shared(&spans, 0, 9, 1), 0);
	ck_assert_int_eq(spans_add_shared(&spans, 10, 19, 2), 0);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	ck_assert_uint_eq(spans_together(&spans), 0);
}
END_TEST

START_TEST(changes_of_the_owner_are_counted)
{
	spans_free(&spans);
	ck_assert_int_eq(spans_add(&spans, 30, 31, 1), 0);
	ck_assert_int_eq(spans_add(&spans, 0, 1, 1), 0);
	ck_assert_int_eq(spans_add(&spans, 10, 11, 1), 0);
	ck_assert_int_eq(spans_add(&spans, 20, 21, 2), 0);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	ck_assert_uint_eq(spans_changes(&spans), 2);
}
END_TEST

START_TEST(what_ends_before_it_begins_is_refused)
{
	spans_free(&spans);
	ck_assert_int_eq(spans_add(&spans, 1, 0, 0), -1);
	ck_assert_uint_eq(spans.count, 0);
}
END_TEST

static int read_text(const char *text)
{
	char name[] = "/tmp/spans-XXXXXX";
	int fd = mkstemp(name);
	int n;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(dprintf(fd, "%s", text) < 0, 0);
	close(fd);
	spans_free(&spans);
	n = spans_read(&spans, name, 7);
	unlink(name);
	return n;
}

START_TEST(a_file_is_read_whole_or_not_at_all)
{
	ck_assert_int_eq(read_text(""), 0);
	ck_assert_int_eq(read_text("1 2\n3 123456789012345\n"), 2);
	ck_assert_int_eq(spans.list[1].to, 123456789012345);
	ck_assert_int_eq(spans.list[1].who, 7);
	ck_assert_int_eq(read_text("1 2 r\n3 4\n"), 2);
	ck_assert(spans.list[0].shared && !spans.list[1].shared);
	ck_assert_int_eq(read_text("1 2 x3\n3 4 x1\n"), 2);
	ck_assert_int_eq(spans.list[0].leases, 3);
	ck_assert(spans.list[0].shared);
	ck_assert_int_eq(read_text("1 2\n3\n"), -1);
	ck_assert_int_eq(read_text("1 2 x0\n"), -1);
	ck_assert_int_eq(read_text("1 2 x\n"), -1);
	ck_assert_int_eq(read_text("1 2\n3 4"), -1);
	ck_assert_int_eq(read_text("1 2 3\n"), -1);
	ck_assert_int_eq(read_text("1 2 r"), -1);
	ck_assert_int_eq(read_text("1 2 rr\n"), -1);
	ck_assert_int_eq(read_text("2 1\n"), -1);
	ck_assert_int_eq(spans_read(&spans, "/no/such/file", 0), -1);
}
END_TEST

START_TEST(leases_that_overlap_are_added_up)
{
	ck_assert_int_eq(read_text("0 100 x2\n10 20 x1\n20 30 x3\n"
				   "21 40 x1\n101 102 x9\n"),
		5);
	ck_assert_int_eq(spans_most(&spans, 0, 1000), 9);
	ck_assert_int_eq(spans_most(&spans, 0, 100), 6);
	ck_assert_int_eq(spans_most(&spans, 0, 20), 6); /* that is not over */
	ck_assert_int_eq(spans_most(&spans, 0, 19), 3);
	ck_assert_int_eq(spans_most(&spans, 21, 100), 6);
	ck_assert_int_eq(spans_most(&spans, 22, 100), 0); /* nobody began */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("spans");
	TCase *t = tcase_create("spans");
	SRunner *runner;
	int failed;

	suite_add_tcase(s, t);
	tcase_add_test(t, what_is_apart_does_not_overlap);
	tcase_add_test(t, overlaps_are_found_in_any_order);
	tcase_add_test(t, one_that_is_long_overlaps_with_all_that_it_covers);
	tcase_add_test(t, shared_ones_may_overlap_each_other_and_nothing_else);
	tcase_add_test(t, changes_of_the_owner_are_counted);
	tcase_add_test(t, what_ends_before_it_begins_is_refused);
	tcase_add_test(t, leases_that_overlap_are_added_up);
	tcase_add_test(t, a_file_is_read_whole_or_not_at_all);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
