/*
 * test_rank.c - rank.h: which names take part in a line, and who is before
 * whom.
 */
#include "unit.h"

#include "name.h"
#include "participant.h"
#include "rank.h"

#include <stdio.h>
#include <stdbool.h>
#include <string.h>

#define UUID "00112233-4455-6677-8899-aabbccddeeff"
#define HEX32 "00112233445566778899aabbccddeeff"

struct known {
	const char *name;
	enum kustos_style style;
	int32_t number;
};

START_TEST(U04_names_of_every_known_library_are_contenders)
{
	static const struct known names[] = {
		{ "_c_" UUID "-lock-0000000001", KUSTOS_STYLE_CURATOR, 1 },
		{ "_c_" HEX32 "-lock-0000000002", KUSTOS_STYLE_LOCK, 2 },
		{ HEX32 "-lock-0000000003", KUSTOS_STYLE_LOCK, 3 },
		{ "lock-0000000004", KUSTOS_STYLE_LOCK, 4 },
		{ HEX32 "__lock__0000000005", KUSTOS_STYLE_KAZOO, 5 },
		{ HEX32 "__lock__-0000000006", KUSTOS_STYLE_KAZOO, 6 },
		{ "x-0123456789abcdef-0000000007", KUSTOS_STYLE_SESSION, 7 },
		{ "x-72057594037927936-0000000008", KUSTOS_STYLE_SESSION, 8 },
		{ "x--72057594037927936-0000000009", KUSTOS_STYLE_SESSION, 9 },
		{ "x-1234567890123456-0000000010", KUSTOS_STYLE_SESSION, 10 },
		{ "lock-2147483646", KUSTOS_STYLE_LOCK, INT32_MAX - 1 },
	};
	struct ku_contender one;

	for (size_t i = 0; i < UNIT_COUNT(names); i++) {
		ck_assert_msg(
			ku_contender_parse(&ku_rule_lock, names[i].name, &one),
			"%s", names[i].name);
		ck_assert_int_eq(one.number, names[i].number);
		ck_assert_msg(one.style == names[i].style, "%s is %s",
			names[i].name, kustos_style_name(one.style));
	}
}
END_TEST

START_TEST(U04_other_names_are_nobodys)
{
	static const char *const names[] = {
		"",
		"lock-",
		"0000000000",
		"-0000000001",
		"lock0000000001",
		"Lock-0000000001",
		"lock-000000001",
		"lock-00000000001",
		"lock-0000000001x",
		"lock-0000000001 ",
		"lock_0000000001",
		"lock-2147483648",
		"lock-4294967297",
		"lock-9999999999",
		"lease-0000000001",
		"latch-0000000001",
		("_c_" UUID "-__READ__0000000001"),
		("_c_" UUID "-__WRIT__0000000001"),
		(HEX32 "__rlock__0000000001"),
		(HEX32 "__lock_0000000001"),
		"x-0123456789ABCDEF-0000000001",
		"x-0123456789abcde-0000000001",
		"x-0123456789abcdef0-0000000001",
		"x-0123456789abcdef0000000001",
		"x--0000000001",
		"x---0000000001",
		"y-1234-0000000001",
		"ax-1234-0000000001",
		"x-12 4-0000000001",
		"config",
	};
	struct ku_contender one;

	for (size_t i = 0; i < UNIT_COUNT(names); i++)
		ck_assert_msg(
			!ku_contender_parse(&ku_rule_lock, names[i], &one),
			"%s is %s %d", names[i], kustos_style_name(one.style),
			one.number);
}
END_TEST

/* Only Curator's own prefix makes a name Curator's. */
START_TEST(a_prefix_that_is_nearly_curators_is_not)
{
	static const char *const names[] = {
		"_c_00112233-4455-6677-8899-AABBCCDDEEFF-lock-0000000001",
		"_c_0011223-34455-6677-8899-aabbccddeeff-lock-0000000001",
		"_c_00112233-4455-6677-8899-aabbccddeef-lock-0000000001",
		"_c_00112233-4455-6677-8899-aabbccddeeg0-lock-0000000001",
		"_d_" UUID "-lock-0000000001",
		"_c_" UUID "_lock-0000000001",
	};
	struct ku_contender one;

	for (size_t i = 0; i < UNIT_COUNT(names); i++) {
		ck_assert(ku_contender_parse(&ku_rule_lock, names[i], &one));
		ck_assert_msg(one.style == KUSTOS_STYLE_LOCK, "%s", names[i]);
	}
}
END_TEST

START_TEST(S18_a_sign_belongs_to_the_number)
{
	static const struct known names[] = {
		{ "lock--000000005", KUSTOS_STYLE_LOCK, -5 },
		{ "_c_" UUID "-lock--000000001", KUSTOS_STYLE_CURATOR, -1 },
		{ "_c_" UUID "-lock--2147483648", KUSTOS_STYLE_CURATOR,
			INT32_MIN },
		{ "lock--1000000000", KUSTOS_STYLE_LOCK, -1000000000 },
		{ HEX32 "__lock__-000000007", KUSTOS_STYLE_KAZOO, -7 },
		{ "x-1234--000000005", KUSTOS_STYLE_SESSION, -5 },
		{ "lock-2147483647", KUSTOS_STYLE_LOCK, INT32_MAX },
	};
	struct ku_contender one;

	for (size_t i = 0; i < UNIT_COUNT(names); i++) {
		ck_assert_msg(
			ku_contender_parse(&ku_rule_lock, names[i].name, &one),
			"%s", names[i].name);
		ck_assert_msg(one.number == names[i].number, "%s is %d",
			names[i].name, one.number);
		ck_assert_int_eq(one.style, names[i].style);
		ck_assert(!ku_number_sound(one.number));
	}
	ck_assert(ku_number_sound(0));
	ck_assert(ku_number_sound(INT32_MAX - 1));
}
END_TEST

START_TEST(S18_numbers_are_compared_across_the_wrap)
{
	static const int32_t rising[] = { 0, 9, 10, 2147483646, 2147483647,
		INT32_MIN, INT32_MIN + 1 };

	for (size_t i = 0; i + 1 < UNIT_COUNT(rising); i++) {
		ck_assert(!ku_number_before(rising[i], rising[i]));
		if (i == 2)
			continue; /* too far apart to tell */
		ck_assert(ku_number_before(rising[i], rising[i + 1]));
		ck_assert(!ku_number_before(rising[i + 1], rising[i]));
	}
	ck_assert(ku_number_before(-1, 0));
}
END_TEST

/* Return the verdict for the first of "names", when the server lists these. */
static enum ku_verdict verdict_of(const char *const *names, int count)
{
	struct ku_contender own;
	struct ku_standing standing = { .name = names[0] };

	ck_assert(ku_contender_parse(&ku_rule_lock, names[0], &own));
	standing.number = own.number;
	ku_rank(&ku_rule_lock, KUSTOS_STYLE_CURATOR, names, count, &standing,
		1);
	return ku_rank_verdict(&standing);
}

START_TEST(S18_who_has_a_number_that_tells_no_order_never_owns)
{
	static const char *const last[] = { "a-lock-2147483647" };
	static const char *const below[] = { "a-lock--2147483648" };
	static const char *const twins[] = { "a-lock-2147483647",
		"b-lock-2147483647" };
	static const char *const tied[] = { "a-lock-0000000003",
		"b-lock-0000000003" };
	static const char *const fine[] = { "a-lock-2147483646",
		"b-lock-2147483647" };

	ck_assert_int_eq(verdict_of(last, 1), KU_RANK_SATURATED);
	ck_assert_int_eq(verdict_of(below, 1), KU_RANK_SATURATED);
	ck_assert_int_eq(verdict_of(twins, 2), KU_RANK_SATURATED);
	ck_assert_int_eq(verdict_of(tied, 2), KU_RANK_SATURATED);
	ck_assert_int_eq(verdict_of(fine, 2), KU_RANK_OWNER);
}
END_TEST

START_TEST(S08_who_is_not_in_the_list_is_gone)
{
	struct ku_standing own = { .name = "a-lock-0000000000", .number = 0 };
	static const char *const others[] = { "b-lock-0000000001",
		"c-lock-0000000002" };
	static const char *const twin[] = { "b-lock-0000000000" };

	for (int count = 0; count <= 2; count++) {
		ku_rank(&ku_rule_lock, KUSTOS_STYLE_CURATOR, others, count,
			&own, 1);
		ck_assert_int_eq(ku_rank_verdict(&own), KU_RANK_GONE);
	}
	ku_rank(&ku_rule_lock, KUSTOS_STYLE_CURATOR, twin, 1, &own, 1);
	ck_assert_int_eq(ku_rank_verdict(&own), KU_RANK_GONE);
}
END_TEST

/* Row: the waiter; column: the one before it; as the libraries behave. */
START_TEST(who_waits_for_whom)
{
	static const bool sees[4][4] = {
		/* curator, lock, kazoo, session */
		{ true, true, false, false },
		{ true, true, false, false },
		{ false, false, true, false },
		{ true, true, false, true },
	};

	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++)
			ck_assert_msg(ku_style_sees((enum kustos_style)i,
					      (enum kustos_style)j) ==
					sees[i][j],
				"%d waits for %d", i, j);
}
END_TEST

START_TEST(U04_a_mixed_crowd_is_counted)
{
	static const char *const names[] = {
		"_c_" UUID "-lock-0000000001",
		HEX32 "__lock__0000000002",
		"x-1234-0000000003",
		HEX32 "-lock-0000000004",
		"config",
		"lease-0000000000",
	};

	ck_assert_int_eq(
		ku_rank(&ku_rule_lock, KUSTOS_STYLE_CURATOR, names, 6, NULL, 0),
		1); /* kazoo's */
	ck_assert_int_eq(
		ku_rank(&ku_rule_lock, KUSTOS_STYLE_KAZOO, names, 6, NULL, 0),
		3); /* all but kazoo's */
}
END_TEST

START_TEST(U04_extra_marks_make_contenders_of_other_names)
{
	static const struct known names[] = {
		{ "ex0000000001", KUSTOS_STYLE_EXTRA, 1 },
		{ "a-ex0000000002", KUSTOS_STYLE_EXTRA, 2 },
		{ "my,lock-0000000003", KUSTOS_STYLE_LOCK, 3 },
		{ "mine-0000000004", KUSTOS_STYLE_EXTRA, 4 },
		{ "mine--000000005", KUSTOS_STYLE_EXTRA, -5 },
		{ "_c_" UUID "-lock-0000000006", KUSTOS_STYLE_CURATOR, 6 },
		{ HEX32 "__lock__0000000007", KUSTOS_STYLE_KAZOO, 7 },
	};
	static const char *const others[] = { "x0000000001", "ex000000001",
		"mine0000000001", "ex,mine-", "lease-0000000001", "config" };
	static const char *const crowded[] = { "ex0000000001" };
	struct ku_rule rule = ku_rule_lock;
	struct ku_contender one;

	rule.extra = "ex,mine-";
	for (size_t i = 0; i < UNIT_COUNT(names); i++) {
		ck_assert_msg(ku_contender_parse(&rule, names[i].name, &one),
			"%s", names[i].name);
		ck_assert_int_eq(one.number, names[i].number);
		ck_assert_int_eq(one.style, names[i].style);
		ck_assert_int_eq(one.kind, KUSTOS_KIND_LOCK);
	}
	for (size_t i = 0; i < UNIT_COUNT(others); i++)
		ck_assert_msg(!ku_contender_parse(&rule, others[i], &one), "%s",
			others[i]);
	ck_assert(ku_contender_parse(&rule, crowded[0], &one));
	ck_assert_int_eq(
		ku_rank(&rule, KUSTOS_STYLE_CURATOR, crowded, 1, NULL, 0), 0);
}
END_TEST

START_TEST(rules_are_alike_if_they_see_the_same)
{
	static const char *const marks[] = { NULL, "ex", "ex,mine-" };
	const struct ku_rule *rules[6] = { &ku_rule_lease, &ku_rule_latch,
		&ku_rule_lock, &ku_rule_rw, &ku_rule_any, &ku_rule_seat };
	struct ku_rule marked = ku_rule_lock;
	char text[16];

	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 6; j++)
			ck_assert_int_eq(ku_rule_compare(rules[i], rules[j]) ==
					0,
				i == j);
	for (int i = 1; i < 3; i++) {
		marked.extra = strcpy(text, marks[i]);
		const struct ku_rule *kept = ku_rule_keep(&marked);
		ck_assert_ptr_nonnull(kept);
		ck_assert_ptr_ne(kept, &marked);
		text[0] = 'y'; /* it has its own copy */
		for (int j = 0; j < 3; j++) {
			marked.extra = marks[j];
			ck_assert_int_eq(ku_rule_compare(kept, &marked) == 0,
				i == j);
			ck_assert_int_eq(ku_rule_compare(&marked, kept) == 0,
				i == j);
		}
		ku_rule_free(kept);
	}
	ck_assert_ptr_eq(ku_rule_keep(&ku_rule_lock), &ku_rule_lock);
	ku_rule_free(&ku_rule_lock);
}
END_TEST

START_TEST(styles_have_names)
{
	ck_assert_str_eq(kustos_style_name(KUSTOS_STYLE_CURATOR), "curator");
	ck_assert_str_eq(kustos_style_name(KUSTOS_STYLE_SESSION), "session");
	ck_assert_str_eq(kustos_style_name(KUSTOS_STYLE_EXTRA), "extra");
	ck_assert_ptr_nonnull(kustos_style_name((enum kustos_style)99));
	ck_assert_ptr_nonnull(kustos_style_name((enum kustos_style) - 1));
}
END_TEST

START_TEST(U04_names_of_both_sides_are_known)
{
	static const struct {
		const char *name;
		enum kustos_style style;
		enum kustos_kind kind;
	} names[] = {
		{ "_c_" UUID "-__READ__0000000001", KUSTOS_STYLE_CURATOR,
			true },
		{ "_c_" UUID "-__WRIT__0000000002", KUSTOS_STYLE_CURATOR,
			KUSTOS_KIND_WRITE },
		{ HEX32 "-__READ__0000000003", KUSTOS_STYLE_LOCK,
			KUSTOS_KIND_READ },
		{ HEX32 "-__WRIT__0000000004", KUSTOS_STYLE_LOCK,
			KUSTOS_KIND_WRITE },
		{ HEX32 "__rlock__0000000005", KUSTOS_STYLE_KAZOO,
			KUSTOS_KIND_READ },
		{ HEX32 "__lock__0000000006", KUSTOS_STYLE_KAZOO,
			KUSTOS_KIND_WRITE },
	};
	static const char *const others[] = { "_c_" UUID "-lock-0000000001",
		"_c_" UUID "-__WRITE__0000000001", "x-1234-0000000001" };
	struct ku_contender one;

	for (size_t i = 0; i < UNIT_COUNT(names); i++) {
		ck_assert_msg(
			ku_contender_parse(&ku_rule_rw, names[i].name, &one),
			"%s", names[i].name);
		ck_assert_int_eq(one.number, (int32_t)i + 1);
		ck_assert_int_eq(one.style, names[i].style);
		ck_assert_int_eq(one.kind, names[i].kind);
	}
	for (size_t i = 0; i < UNIT_COUNT(others); i++)
		ck_assert_msg(!ku_contender_parse(&ku_rule_rw, others[i], &one),
			"%s", others[i]);
}
END_TEST

START_TEST(a_writer_is_before_the_reader_that_it_becomes)
{
	static const char reader[] = "_c_" UUID "-__READ__0000000003",
			  writer[] = HEX32 "-__WRIT__0000000003",
			  later[] = "_c_" UUID "-__READ__0000000004";
	const char *const names[][4] = { { reader, writer, later, "x" },
		{ later, writer, "x", reader } };
	struct ku_contender first;

	ck_assert_str_eq(ku_participant_first(names[_i], 4, &first), writer);
	ck_assert_int_eq(first.kind, KUSTOS_KIND_WRITE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rank");
	TCase *t = tcase_create("rank");

	tcase_add_test(t, U04_names_of_every_known_library_are_contenders);
	tcase_add_test(t, U04_other_names_are_nobodys);
	tcase_add_test(t, a_prefix_that_is_nearly_curators_is_not);
	tcase_add_test(t, S18_a_sign_belongs_to_the_number);
	tcase_add_test(t, S18_numbers_are_compared_across_the_wrap);
	tcase_add_test(t, S18_who_has_a_number_that_tells_no_order_never_owns);
	tcase_add_test(t, S08_who_is_not_in_the_list_is_gone);
	tcase_add_test(t, who_waits_for_whom);
	tcase_add_test(t, U04_a_mixed_crowd_is_counted);
	tcase_add_test(t, U04_extra_marks_make_contenders_of_other_names);
	tcase_add_test(t, rules_are_alike_if_they_see_the_same);
	tcase_add_test(t, styles_have_names);
	tcase_add_test(t, U04_names_of_both_sides_are_known);
	tcase_add_loop_test(t, a_writer_is_before_the_reader_that_it_becomes, 0,
		2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
