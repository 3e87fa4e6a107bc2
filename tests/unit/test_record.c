/*
 * test_record.c - the record of a holder is JSON, whatever is in it.
 */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "json.h"
#include "recipe.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static const char *host;

int __wrap_gethostname(char *name, size_t len);

int __wrap_gethostname(char *name, size_t len)
{
	ck_assert_uint_lt(strlen(host), len);
	strcpy(name, host);
	return 0;
}

/* What is given, and what stands in the record. */
static const struct {
	const char *text, *json;
} texts[] = {
	{ "", "" },
	{ "a \"b\\", "a \\\"b\\\\" },
	{ "\x01\t\x1f ~\x7f", "\\u0001\\u0009\\u001f ~\\u007f" },
	/* The first and the last of each length are passed on. */
	{ "\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf" },
	{ "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
		"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf" },
	{ "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
		"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
	/* A byte of Latin-1 within a word, and at its end. */
	{ "caf\xe9s", "caf\\ufffds" },
	{ "caf\xe9", "caf\\ufffd" },
	/* A lone continuation, and characters that are cut off. */
	{ "\x80", "\\ufffd" },
	{ "\xe2\x82", "\\ufffd\\ufffd" },
	{ "\xe2\x82\"", "\\ufffd\\ufffd\\\"" },
	{ "\xf0\x9f\x98\xc3\xa9", "\\ufffd\\ufffd\\ufffd\xc3\xa9" },
	/* More bytes than needed. */
	{ "\xc0\x80\xc1\xbf", "\\ufffd\\ufffd\\ufffd\\ufffd" },
	{ "\xe0\x9f\xbf", "\\ufffd\\ufffd\\ufffd" },
	{ "\xf0\x8f\xbf\xbf", "\\ufffd\\ufffd\\ufffd\\ufffd" },
	/* The first and the last surrogate. */
	{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" },
	{ "\xed\xbf\xbf", "\\ufffd\\ufffd\\ufffd" },
	/* Beyond the last character, and bytes that begin none. */
	{ "\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" },
	{ "\xf8\xff", "\\ufffd\\ufffd" },
};

static void has(const char *record, const char *name, const char *json)
{
	char field[256];

	ck_assert_int_lt(
		snprintf(field, sizeof(field), "\"%s\":\"%s\"", name, json),
		(int)sizeof(field));
	ck_assert_msg(strstr(record, field) != NULL, "%s has no %s", record,
		field);
}

START_TEST(any_text_makes_a_record_that_is_json)
{
	char name[64], *record;
	size_t len;

	/* A copy, as a program may overwrite its name. */
	strcpy(name, texts[_i].text);
	program_invocation_short_name = name;
	host = texts[_i].text;
	ck_assert_int_eq(ku_recipe_record(texts[_i].text, &record, &len),
		KUSTOS_OK);
	ck_assert_uint_eq(strlen(record), len);
	ck_assert_msg(json_is_object(record, len), "%s", record);
	has(record, "host", texts[_i].json);
	has(record, "program", texts[_i].json);
	has(record, "reason", texts[_i].json);
	free(record);
}
END_TEST

/* Nothing is written behind the record's buffer: valgrind and the sanitizers
   would notice. */
START_TEST(a_text_of_nothing_but_wrong_bytes_has_room)
{
	char wrong[256], name[256], *record;
	size_t len;

	memset(wrong, 0xff, sizeof(wrong) - 1);
	wrong[sizeof(wrong) - 1] = '\0';
	strcpy(name, wrong);
	program_invocation_short_name = name;
	host = wrong + 1;
	ck_assert_int_eq(ku_recipe_record(wrong, &record, &len), KUSTOS_OK);
	ck_assert_uint_gt(len, 6 * (255 + 254 + 255));
	ck_assert(json_is_object(record, len));
	free(record);
}
END_TEST

START_TEST(a_record_without_a_reason_has_none)
{
	char *record;
	size_t len;

	host = "";
	ck_assert_int_eq(ku_recipe_record(NULL, &record, &len), KUSTOS_OK);
	ck_assert(json_is_object(record, len));
	ck_assert_ptr_null(strstr(record, "reason"));
	free(record);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("record");
	TCase *t = tcase_create("record");

	tcase_add_loop_test(t, any_text_makes_a_record_that_is_json, 0,
		UNIT_COUNT(texts));
	tcase_add_test(t, a_text_of_nothing_but_wrong_bytes_has_room);
	tcase_add_test(t, a_record_without_a_reason_has_none);
	suite_add_tcase(s, t);
	return unit_main(s);
}
