/* test_muster.c - muster_rule.h: what a member of a double barrier does
   next. */
#include "muster_rule.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define A "00000000-0000-4000-8000-00000000000a"
#define B "00000000-0000-4000-8000-00000000000b"
#define C "00000000-0000-4000-8000-00000000000c"
#define KAZOO "0000000000004000800000000000000d"

static char *list[8];
static struct kustos_names names;

/* Up to eight names, unsorted, as a server lists them. */
static void set_names(const char *const *from)
{
	names.count = 0;
	names.names = list;
	for (; *from != NULL; from++)
		list[names.count++] = (char *)*from;
	ku_muster_sort(&names);
}

#define NAMES(...) set_names((const char *const[]){ __VA_ARGS__, NULL })

START_TEST(only_members_are_counted_and_they_are_sorted)
{
	NAMES(C, "ready", KAZOO, "x", A, "00000000-0000-4000-8000-00000000000g",
		"0000000000000-4000-8000-000000000000");
	ck_assert_uint_eq(names.count, 3);
	ck_assert_str_eq(names.names[0], A);
	ck_assert_str_eq(names.names[1], C);
	ck_assert_str_eq(names.names[2], KAZOO);
	NAMES("lock-0000000001");
	ck_assert_uint_eq(names.count, 0);
}
END_TEST

/* Three members are expected, and our node is from transaction 10. */
static struct ku_muster_view view(void)
{
	return (struct ku_muster_view){ .names = &names,
		.pzxid = 10,
		.count = 3,
		.own = B,
		.own_czxid = 10 };
}

START_TEST(S12_nobody_passes_before_all_are_there)
{
	struct ku_muster_view v = view();

	NAMES(A, B);
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_WAIT);
	NAMES(A, B, C);
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_TELL);
	NAMES(A, C, KAZOO);
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_ABSENT);
	v.came = true;
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_ABSENT);
	NAMES(B);
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_PASS);
}
END_TEST

/* The listing is from before our node: an earlier node of ours had the same
   name then, and all had come.  All have gone since. */
START_TEST(S12_what_was_seen_before_our_node_was_made_says_nothing)
{
	struct ku_muster_view v = view();

	v.pzxid = 9;
	NAMES(A, B, C);
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_ABSENT);
	v.ready = true;
	v.ready_round = 9;
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_ABSENT);
	v.pzxid = 10;
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_TELL);
}
END_TEST

START_TEST(a_ready_counts_if_it_is_younger_than_our_node)
{
	struct ku_muster_view v = view();

	v.ready = true;
	v.ready_round = 11;
	NAMES(A, B);
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_PASS);
	v.ready_round = 9;
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_WAIT);
	NAMES(A, B, C);
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_TELL);
	NAMES(B);
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_TIDY);
	v.tidied = true;
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_WAIT);
}
END_TEST

START_TEST(S12_a_ready_that_went_counts_if_as_many_came_as_were_missing)
{
	/* One of the children is no member. */
	struct ku_muster_traffic then = { 3, 7, 2 };
	/* The third member, and "ready", which has gone again. */
	struct ku_muster_traffic now = { .children = 4, .cversion = 10 };

	ck_assert(ku_muster_may_have_met(3, then, now));
	ck_assert(!ku_muster_may_have_met(4, then, now));
	/* The others have left as well. */
	now = (struct ku_muster_traffic){ .children = 2, .cversion = 12 };
	ck_assert(ku_muster_may_have_met(3, then, now));
	/* Only "ready" came; and then also somebody left. */
	now = (struct ku_muster_traffic){ .children = 3, .cversion = 9 };
	ck_assert(!ku_muster_may_have_met(3, then, now));
	now = (struct ku_muster_traffic){ .children = 2, .cversion = 10 };
	ck_assert(!ku_muster_may_have_met(3, then, now));
	ck_assert(ku_muster_may_have_met(2, then, now));
}
END_TEST

START_TEST(S12_the_count_of_what_came_goes_past_the_largest_number)
{
	struct ku_muster_traffic then = { 2, INT32_MAX - 1, 2 };
	struct ku_muster_traffic now = { 3, INT32_MIN + 1, 3 };

	ck_assert(ku_muster_may_have_met(3, then, now));
	ck_assert(!ku_muster_may_have_met(4, then, now));
}
END_TEST

START_TEST(one_alone_is_enough_for_one)
{
	struct ku_muster_view v = view();

	v.count = 1;
	NAMES(B);
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_TELL);
	v.ready = true;
	v.ready_round = 9;
	ck_assert_int_eq(ku_muster_decide(&v), KU_MUSTER_TELL);
}
END_TEST

START_TEST(the_lowest_waits_for_the_highest_and_the_others_for_it)
{
	NAMES(C, A, B);
	ck_assert(ku_muster_stays(&names, A));
	ck_assert_str_eq(ku_muster_awaited(&names, A, 0), C);
	ck_assert_str_eq(ku_muster_awaited(&names, A, 1), B);
	ck_assert_ptr_null(ku_muster_awaited(&names, A, 2));
	ck_assert(!ku_muster_stays(&names, B));
	ck_assert_str_eq(ku_muster_awaited(&names, B, 0), A);
	ck_assert_str_eq(ku_muster_awaited(&names, B, 1), C);
	ck_assert_ptr_null(ku_muster_awaited(&names, B, 2));
	/* Our node is gone already. */
	ck_assert_str_eq(ku_muster_awaited(&names, KAZOO, 0), A);
	NAMES(B);
	ck_assert(ku_muster_stays(&names, B));
	ck_assert_ptr_null(ku_muster_awaited(&names, B, 0));
	NAMES("ready");
	ck_assert(!ku_muster_stays(&names, B));
	ck_assert_ptr_null(ku_muster_awaited(&names, B, 0));
}
END_TEST

START_TEST(L18_a_late_ready_says_for_whom_it_is)
{
	char text[KU_MUSTER_TEXT_SIZE];

	ku_muster_print(text, 0x500000007);
	ck_assert_str_eq(text, "round 0x0000000500000007");
	ck_assert_int_eq(ku_muster_parse(text, (int)strlen(text), 0x500000008),
		0x500000007);
	ck_assert_int_eq(ku_muster_parse(text, (int)strlen(text) - 1, 99), 99);
	ck_assert_int_eq(ku_muster_parse("127.0.0.1", 9, 99), 99);
	ck_assert_int_eq(ku_muster_parse("", 0, 99), 99);
	ck_assert_int_eq(ku_muster_parse(NULL, -1, 99), 99);
	ck_assert_int_eq(
		ku_muster_parse("round 0xfffffffffffffffffffffffffff", 34, 99),
		99);
}
END_TEST

/* The text was copied from other servers, whose transactions had higher
   numbers. */
START_TEST(L18_a_ready_that_speaks_of_the_future_is_for_nobody_who_comes)
{
	char text[KU_MUSTER_TEXT_SIZE];

	ku_muster_print(text, 0x500000007);
	ck_assert_int_eq(ku_muster_parse(text, (int)strlen(text), 0x100000020),
		0x100000020);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("double barrier, rules");
	TCase *t = tcase_create("rules");

	tcase_add_test(t, only_members_are_counted_and_they_are_sorted);
	tcase_add_test(t, S12_nobody_passes_before_all_are_there);
	tcase_add_test(t,
		S12_what_was_seen_before_our_node_was_made_says_nothing);
	tcase_add_test(t, a_ready_counts_if_it_is_younger_than_our_node);
	tcase_add_test(t,
		S12_a_ready_that_went_counts_if_as_many_came_as_were_missing);
	tcase_add_test(t,
		S12_the_count_of_what_came_goes_past_the_largest_number);
	tcase_add_test(t, one_alone_is_enough_for_one);
	tcase_add_test(t,
		the_lowest_waits_for_the_highest_and_the_others_for_it);
	tcase_add_test(t, L18_a_late_ready_says_for_whom_it_is);
	tcase_add_test(t,
		L18_a_ready_that_speaks_of_the_future_is_for_nobody_who_comes);
	suite_add_tcase(s, t);
	return unit_main(s);
}
