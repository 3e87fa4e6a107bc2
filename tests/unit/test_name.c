/*
 * test_name.c - name.h: paths and names, by the server's own rules.
 */
#include "unit.h"

#include "fault.h"
#include "name.h"
#include "random.h"

#include <iconv.h>
#include <stdio.h>
#include <string.h>

START_TEST(U05_a_proper_path_is_valid)
{
	static const char *const paths[] = {
		"/",
		"/a",
		"/a/b",
		"/a/b/c.d",
		"/...",
		"/.a",
		"/a.",
		"/..a",
		"/a../b",
		"/.../b",
		"/ ",
		"/a b",
		"/~",
		"/zookeeper/config",
		"/\xc3\xa4",
		"/\xe2\x82\xac/\xef\xa4\x80",
		"/\xef\xbf\xaf",
	};
	size_t i;

	for (i = 0; i < UNIT_COUNT(paths); i++) {
		ck_assert_msg(ku_path_valid(paths[i], false), "%s", paths[i]);
		ck_assert_msg(ku_path_valid(paths[i], true), "%s", paths[i]);
	}
}
END_TEST

START_TEST(U05_an_improper_path_is_not_valid)
{
	static const char *const paths[] = {
		"",
		"a",
		"a/b",
		"//",
		"//a",
		"/a//b",
		"/./a",
		"/../a",
		"/a/./b",
		"/a/../b",
		"/\x01",
		"/a\x1f",
		"/a\x7f",
		"/a\n/b",
		"/\xc2\x80",
		"/\xc2\x9f/a", /* C1 controls */
		"/\xc0\xaf",
		"/\xc1\xbf",
		"/\xe0\x9f\xbf", /* overlong */
		"/\xed\xa0\x80",
		"/\xed\xbf\xbf", /* surrogates */
		"/\xee\x80\x80",
		"/\xef\xa3\xbf", /* private use */
		"/\xef\xbf\xb0",
		"/\xef\xbf\xbd",
		"/\xef\xbf\xbf",
		"/\xf0\x9f\x98\x80", /* beyond U+FFFF */
		"/\x80",
		"/\xff",
		"/\xc3",
		"/\xc3/a",
		"/\xe2\x82",
		"/\xe2/",
		"/a/\xfe",
		"/\xf8\x88\x80\x80\x80",
	};
	size_t i;

	for (i = 0; i < UNIT_COUNT(paths); i++) {
		ck_assert_msg(!ku_path_valid(paths[i], false), "%zu", i);
		ck_assert_msg(!ku_path_valid(paths[i], true), "%zu", i);
	}
	ck_assert(!ku_path_valid(NULL, false));
	ck_assert(!ku_path_valid(NULL, true));
}
END_TEST

START_TEST(U05_only_a_prefix_may_end_in_a_slash_or_dots)
{
	static const char *const paths[] = {
		"/a/",
		"/a/b/",
		"/.",
		"/..",
		"/a/.",
		"/a/..",
	};
	size_t i;

	for (i = 0; i < UNIT_COUNT(paths); i++) {
		ck_assert_msg(!ku_path_valid(paths[i], false), "%s", paths[i]);
		ck_assert_msg(ku_path_valid(paths[i], true), "%s", paths[i]);
	}
}
END_TEST

START_TEST(a_name_is_one_component)
{
	static const char *const good[] = { "a", "...", ".a", "a b", "lock-1" };
	static const char *const bad[] = {
		"",
		"/",
		"a/",
		"/a",
		"a/b",
		".",
		"..",
		"\x01",
		"a\xff",
	};
	size_t i;

	for (i = 0; i < UNIT_COUNT(good); i++)
		ck_assert_msg(ku_name_valid(good[i]), "%s", good[i]);
	for (i = 0; i < UNIT_COUNT(bad); i++)
		ck_assert_msg(!ku_name_valid(bad[i]), "%s", bad[i]);
	ck_assert(!ku_name_valid(NULL));
}
END_TEST

static bool server_allows(unsigned long c)
{
	return !(c <= 0x1f || (c >= 0x7f && c <= 0x9f) ||
		(c >= 0xd800 && c <= 0xf8ff) || c >= 0xfff0);
}

static size_t encode(unsigned long c, unsigned char *out)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;

	if (n == 1) {
		out[0] = (unsigned char)c;
		return 1;
	}
	for (i = n; i-- > 1; c >>= 6)
		out[i] = (unsigned char)(0x80 | (c & 0x3f));
	out[0] = (unsigned char)(0xf00u >> n | c);
	return n;
}

START_TEST(U05_every_character_is_judged_as_the_server_does)
{
	unsigned long c;
	char name[8];
	size_t n;

	for (c = 1; c <= 0x10ffff; c++) {
		name[0] = 'a';
		n = encode(c, (unsigned char *)name + 1);
		strcpy(name + 1 + n, "b");
		if (ku_name_valid(name) != (server_allows(c) && c != '/'))
			ck_abort_msg("U+%04lX", c);
	}
}
END_TEST

/* The C library is the reference; it gives numbers in this machine's byte
   order. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define UCS_4 "UCS-4BE"
#else
#define UCS_4 "UCS-4LE"
#endif

static bool is_utf8(iconv_t conv, const char *text, uint32_t *out, size_t *n)
{
	char *from = (char *)(uintptr_t)text, *to = (char *)out;
	size_t from_left = strlen(text), to_left = *n * sizeof(*out);
	size_t room = *n, result;

	iconv(conv, NULL, NULL, NULL, NULL);
	result = iconv(conv, &from, &from_left, &to, &to_left);
	*n = room - to_left / sizeof(*out);
	return result == 0 && from_left == 0;
}

START_TEST(U05_random_bytes_are_judged_as_the_c_library_does)
{
	static const unsigned char lead[] = { 0x41, 0xc0, 0xc1, 0xc2, 0xdf,
		0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff, 0x80, 0x9f,
		0xa0, 0xbf, 0x81, 0xbe, 0xbd };
	iconv_t conv = iconv_open(UCS_4, "UTF-8");
	struct ku_random r;
	bool expected;
	uint32_t chars[8];
	char name[8];
	size_t i, n;
	int round, valid = 0;

	ck_assert(conv != (iconv_t)-1);
	ku_random_seed(&r, 1);
	for (round = 0; round < 300000; round++) {
		n = 1 + ku_random_below(&r, 5);
		memset(name, 0, sizeof(name));
		for (i = 0; i < n; i++)
			name[i] = (char)(ku_random_below(&r, 2)
					? lead[ku_random_below(&r,
						  UNIT_COUNT(lead))]
					: 0x80 | ku_random_below(&r, 128));
		n = UNIT_COUNT(chars);
		expected = is_utf8(conv, name, chars, &n);
		for (i = 0; expected && i < n; i++)
			expected = server_allows(chars[i]);
		if (ku_name_valid(name) != expected)
			ck_abort_msg("round %d", round);
		valid += expected;
	}
	ck_assert_int_gt(valid, 1000);
	iconv_close(conv);
}
END_TEST

START_TEST(a_path_is_joined_to_its_prefix)
{
	static const struct {
		const char *prefix, *path, *joined;
	} cases[] = {
		{ "", "/", "/" },
		{ "", "/a/b", "/a/b" },
		{ "/p", "/", "/p" },
		{ "/p", "/a", "/p/a" },
		{ "/p/q", "/a/", "/p/q/a/" },
	};
	char *joined;
	size_t i;

	for (i = 0; i < UNIT_COUNT(cases); i++) {
		joined = ku_path_join(cases[i].prefix, cases[i].path);
		ck_assert_str_eq(joined, cases[i].joined);
		ck_assert_str_eq(
			ku_path_behind(joined, strlen(cases[i].prefix)),
			cases[i].path);
		free(joined);
	}
}
END_TEST

START_TEST(joining_fails_if_memory_is_short)
{
	char *joined;

	fault_after(0);
	joined = ku_path_join("/p", "/a");
	ck_assert(fault_end());
	ck_assert_ptr_null(joined);
}
END_TEST

START_TEST(a_path_is_taken_apart)
{
	ck_assert_str_eq(ku_path_leaf("/a/b"), "b");
	ck_assert_str_eq(ku_path_leaf("/a"), "a");
	ck_assert_str_eq(ku_path_leaf("/"), "");
	ck_assert_uint_eq(ku_path_parent_len("/a/b"), 2);
	ck_assert_uint_eq(ku_path_parent_len("/ab/cd/ef"), 6);
	ck_assert_uint_eq(ku_path_parent_len("/a"), 1);
	ck_assert_uint_eq(ku_path_parent_len("/"), 1);
}
END_TEST

START_TEST(protection_is_a_version_4_uuid_in_curators_form)
{
	static const char form[] = "_c_hhhhhhhh-hhhh-4hhh-yhhh-hhhhhhhhhhhh-";
	char out[KU_PROTECTION_SIZE];
	struct ku_random r;
	int round, i;

	ku_random_seed(&r, 1);
	for (round = 0; round < 1000; round++) {
		ku_protection(&r, out);
		ck_assert_uint_eq(strlen(out), KU_PROTECTION_LEN);
		for (i = 0; i < KU_PROTECTION_LEN; i++) {
			const char *set = form[i] == 'y' ? "89ab"
							 : "0123456789abcdef";

			if (form[i] == 'h' || form[i] == 'y')
				ck_assert_ptr_nonnull(strchr(set, out[i]));
			else
				ck_assert_int_eq(out[i], form[i]);
		}
	}
}
END_TEST

START_TEST(every_digit_of_protection_takes_all_its_values)
{
	unsigned char seen[KU_PROTECTION_LEN][128];
	char out[KU_PROTECTION_SIZE];
	struct ku_random r;
	int round, i, c, values, full = 0;

	ku_random_seed(&r, 2);
	memset(seen, 0, sizeof(seen));
	for (round = 0; round < 1000; round++) {
		ku_protection(&r, out);
		for (i = 0; i < KU_PROTECTION_LEN; i++)
			seen[i][(unsigned char)out[i]] = 1;
	}
	for (i = 0; i < KU_PROTECTION_LEN; i++) {
		for (c = 0, values = 0; c < 128; c++)
			values += seen[i][c];
		ck_assert(values == 1 || values == 4 || values == 16);
		full += values == 16;
	}
	ck_assert_int_eq(full, 30); /* 32, less the version and the variant */
}
END_TEST

static void check_sequence(const char *name, int32_t expected)
{
	int32_t got = 77;

	if (!ku_name_sequence(name, &got) || got != expected)
		ck_abort_msg("%s gave %d", name, got);
}

START_TEST(S18_a_number_is_read_on_both_sides_of_the_wrap)
{
	check_sequence("lock-0000000000", 0);
	check_sequence("lock-0000000005", 5);
	check_sequence("lock-2147483647", 2147483647);
	check_sequence("lock--2147483648", -2147483647 - 1);
	check_sequence("lock--2147483647", -2147483647);
	check_sequence("lock--1000000000", -1000000000);
	check_sequence("lock--999999999", -999999999);
	check_sequence("lock--000000005", -5);
	check_sequence("lock--000000001", -1);
	check_sequence("-000000005", -5);
	check_sequence("-2147483648", -2147483647 - 1);
	check_sequence("2147483647", 2147483647);
	check_sequence("x__lock__0000000007", 7);
	check_sequence("x__lock__-000000007", -7);
	check_sequence("x__lock__-2147483648", -2147483647 - 1);
	check_sequence("node12345670000000042", 42);
}
END_TEST

START_TEST(S18_a_minus_that_could_be_either_belongs_to_the_prefix)
{
	check_sequence("lock-1500000000", 1500000000);
	check_sequence("lock-1000000000", 1000000000);
	check_sequence("lock--1500000000", -1500000000);
	check_sequence("-1500000000", -1500000000);
}
END_TEST

START_TEST(S18_a_name_without_a_number_of_the_server_has_none)
{
	static const char *const names[] = {
		"",
		"-",
		"lock",
		"lock-",
		"5",
		"lock-5",
		"000000005",
		"x000000005",
		"lock-00000005",
		"-000000000",
		"lock--000000000",
		"2147483648",
		"lock-2147483649",
		"lock--2147483649",
		"9999999999",
		"lock--9999999999",
		"0000000005x",
		"000000000x5",
		"+000000005",
		" 000000005",
	};
	int32_t got;
	size_t i;

	for (i = 0; i < UNIT_COUNT(names); i++) {
		got = 77;
		ck_assert_msg(!ku_name_sequence(names[i], &got), "%s",
			names[i]);
		ck_assert_int_eq(got, 77);
	}
}
END_TEST

/* All but the ambiguous case of the test above. */
START_TEST(S18_whatever_the_server_appends_is_read_back)
{
	static const char *const prefix[] = {
		"",
		"lock-",
		"_c_6f8e0f1c-5d1d-4c31-9e3e-0d0a0b0c0d0e-lock-",
		"d41d8cd98f00b204e9800998ecf8427e__lock__",
		"x-",
		"n",
		"__READ__",
		"7",
	};
	struct ku_random r;
	char name[80];
	int32_t value;
	size_t p;
	int i;

	ku_random_seed(&r, 3);
	for (i = 0; i < 100000; i++) {
		value = (int32_t)ku_random_next(&r) >> ku_random_below(&r, 31);
		p = ku_random_below(&r, UNIT_COUNT(prefix));
		if (value <= -1000000000 && value != INT32_MIN &&
			strcmp(prefix[p], "lock-") != 0)
			p = 0;
		snprintf(name, sizeof(name), "%s%010d", prefix[p], value);
		check_sequence(name, value);
	}
}
END_TEST

START_TEST(U04_a_foreign_name_never_crashes_the_parser)
{
	static const char letters[] = "0123456789-_.x";
	struct ku_random r;
	int32_t got;
	char name[24], end[16];
	size_t i, n, len;
	int round;

	ku_random_seed(&r, 4);
	for (round = 0; round < 200000; round++) {
		n = ku_random_below(&r, sizeof(name));
		for (i = 0; i < n; i++)
			name[i] = letters[ku_random_below(&r, 14)];
		name[n] = '\0';
		if (!ku_name_sequence(name, &got))
			continue;
		/* It must then end as the server would have ended it. */
		len = (size_t)snprintf(end, sizeof(end), "%010d", got);
		if (len > n || strcmp(name + n - len, end) != 0)
			ck_abort_msg("%s gave %d", name, got);
	}
}
END_TEST

static TCase *path_tests(void)
{
	TCase *tcase = tcase_create("paths");

	tcase_add_test(tcase, U05_a_proper_path_is_valid);
	tcase_add_test(tcase, U05_an_improper_path_is_not_valid);
	tcase_add_test(tcase, U05_only_a_prefix_may_end_in_a_slash_or_dots);
	tcase_add_test(tcase, a_name_is_one_component);
	tcase_add_test(tcase, U05_every_character_is_judged_as_the_server_does);
	tcase_add_test(tcase,
		U05_random_bytes_are_judged_as_the_c_library_does);
	tcase_add_test(tcase, a_path_is_joined_to_its_prefix);
	tcase_add_test(tcase, joining_fails_if_memory_is_short);
	tcase_add_test(tcase, a_path_is_taken_apart);
	return tcase;
}

static TCase *name_tests(void)
{
	TCase *tcase = tcase_create("names");

	tcase_add_test(tcase, protection_is_a_version_4_uuid_in_curators_form);
	tcase_add_test(tcase, every_digit_of_protection_takes_all_its_values);
	tcase_add_test(tcase, S18_a_number_is_read_on_both_sides_of_the_wrap);
	tcase_add_test(tcase,
		S18_a_minus_that_could_be_either_belongs_to_the_prefix);
	tcase_add_test(tcase,
		S18_a_name_without_a_number_of_the_server_has_none);
	tcase_add_test(tcase, S18_whatever_the_server_appends_is_read_back);
	tcase_add_test(tcase, U04_a_foreign_name_never_crashes_the_parser);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("name");

	suite_add_tcase(suite, path_tests());
	suite_add_tcase(suite, name_tests());
	return unit_main(suite);
}
