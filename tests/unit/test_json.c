/*
 * test_json.c - the JSON that the command writes; and how it reads records,
 * which anybody may have written.
 */
#include "json.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define TEXT(literal) literal, sizeof(literal) - 1

typedef void write_fn(FILE *out, const char *text, size_t len);

/* A copy without a byte behind it, so that valgrind and the sanitizers notice
   if somebody reads on. */
static char *bare(const char *text, size_t len)
{
	char *copy = malloc(len > 0 ? len : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	return copy;
}

static void check_written(write_fn *write, const char *text, size_t len,
	const char *expected)
{
	char *copy = bare(text, len), *written = NULL;
	size_t size;
	FILE *out = open_memstream(&written, &size);

	ck_assert_ptr_nonnull(out);
	write(out, copy, len);
	fclose(out);
	ck_assert_str_eq(written, expected);
	free(written);
	free(copy);
}

static const struct {
	const char *text;
	size_t len;
	const char *json;
} strings[] = {
	{ TEXT(""), "\"\"" },
	{ TEXT("a/\"b\\"), "\"a/\\\"b\\\\\"" },
	/* Control characters of both kinds, and their neighbours. */
	{ TEXT("\0\n\x1f ~\x7f"), "\"\\u0000\\u000a\\u001f ~\\u007f\"" },
	{ TEXT("\xc2\x80\xc2\x9f\xc2\xa0"), "\"\\u0080\\u009f\xc2\xa0\"" },
	/* Other invisible characters are left to whatever shows the text
	   (show.c). */
	{ TEXT("\xe2\x80\xae"), "\"\xe2\x80\xae\"" },
	/* The first and the last of each length. */
	{ TEXT("\xdf\xbf\xe0\xa0\x80"), "\"\xdf\xbf\xe0\xa0\x80\"" },
	{ TEXT("\xed\x9f\xbf\xee\x80\x80"), "\"\xed\x9f\xbf\xee\x80\x80\"" },
	{ TEXT("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
		"\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"" },
	/* Not UTF-8: a single byte, a cut character, an overlong one, a
	   surrogate, beyond the last. */
	{ TEXT("\x80"), "\"\\ufffd\"" },
	{ TEXT("\xff"), "\"\\ufffd\"" },
	{ TEXT("a\xe2\x80"), "\"a\\ufffd\\ufffd\"" },
	{ TEXT("\xc3("), "\"\\ufffd(\"" },
	{ TEXT("\xc1\xbf"), "\"\\ufffd\\ufffd\"" },
	{ TEXT("\xe0\x9f\xbf"), "\"\\ufffd\\ufffd\\ufffd\"" },
	{ TEXT("\xf0\x8f\xbf\xbf"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
	{ TEXT("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"" },
	{ TEXT("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
	{ TEXT("\xf9\x80\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" },
};

START_TEST(any_text_is_written_as_a_string)
{
	check_written(json_string, strings[_i].text, strings[_i].len,
		strings[_i].json);
}
END_TEST

START_TEST(an_object_is_written_in_one_line)
{
	check_written(json_object,
		TEXT("{\r\n\t\"a\": \"\x7f\xc2\x85\xc3\xbc\"\n}"),
		"{   \"a\": \"\\u007f\\u0085\xc3\xbc\" }");
}
END_TEST

static const struct {
	const char *text;
	size_t len;
} objects[] = {
	{ TEXT("{}") },
	{ TEXT(" \t\r\n{ } \t\r\n") },
	{ TEXT("{\"\":[],\"a\":[ 1 , {} ],\"a\":true,\"b\":false,\"c\":null}") },
	{ TEXT("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00fF\\ud800\x7f\"}") },
	{ TEXT("{\"a\":[0,-0,10,0.50,-1.0e5,1E+05,2e-0]}") },
	/* Numbers are not evaluated, however large they are. */
	{ TEXT("{\"a\":99999999999999999999999999e999999999}") },
}, others[] = {
	{ TEXT("") },
	{ TEXT(" ") },
	{ TEXT("[]") },
	{ TEXT("\"a\"") },
	{ TEXT("{") },
	{ TEXT("{}{") },
	{ TEXT("{}\0") },
	{ TEXT("{,}") },
	{ TEXT("{\"a\"}") },
	{ TEXT("{\"a\":}") },
	{ TEXT("{\"a\":1") },
	{ TEXT("{\"a\":1,}") },
	{ TEXT("{\"a\" 1}") },
	{ TEXT("{\"a\":1 \"b\":2}") },
	{ TEXT("{a:1}") },
	{ TEXT("{1:1}") },
	{ TEXT("{\"a\":[1}") },
	{ TEXT("{\"a\":[1,]}") },
	{ TEXT("{\"a\":trux}") },
	{ TEXT("{\"a\":nul") },
	{ TEXT("{\"a\":True}") },
	{ TEXT("{\"a\":01}") },
	{ TEXT("{\"a\":+1}") },
	{ TEXT("{\"a\":.5}") },
	{ TEXT("{\"a\":-}") },
	{ TEXT("{\"a\":1.}") },
	{ TEXT("{\"a\":1e}") },
	{ TEXT("{\"a\":1e+}") },
	{ TEXT("{\"a\":0x1}") },
	{ TEXT("{\"a") },
	{ TEXT("{\"a\\") },
	{ TEXT("{\"a\":\"\\x\"}") },
	{ TEXT("{\"a\":\"\\\0\"}") },
	{ TEXT("{\"a\":\"\\u12") },
	{ TEXT("{\"a\":\"\\u12g4\"}") },
	{ TEXT("{\"a\":\"\\u12\0004\"}") },
	{ TEXT("{\"a\":\"\n\"}") },
	{ TEXT("{\"a\":\"\0\"}") },
	{ TEXT("{\"a\":\"\x80\"}") },
	{ TEXT("{\"a\":\"\xc3") },
};

static void check_object(const char *text, size_t len, bool is)
{
	char *copy = bare(text, len);

	ck_assert_int_eq(json_is_object(copy, len), is);
	free(copy);
}

START_TEST(what_is_an_object_is_taken_for_one)
{
	check_object(objects[_i].text, objects[_i].len, true);
}
END_TEST

START_TEST(what_is_no_object_is_not)
{
	char field[8] = "before";

	check_object(others[_i].text, others[_i].len, false);
	ck_assert(!json_field(others[_i].text, others[_i].len, "a", field,
		sizeof(field)));
	ck_assert_str_eq(field, "");
}
END_TEST

/* A reader's stack is limited. */
START_TEST(what_is_nested_deeply_is_no_object)
{
	for (int depth = 31; depth <= 32; depth++) {
		char text[128] = "{\"a\":";
		size_t len = strlen(text);

		memset(text + len, '[', (size_t)depth);
		memset(text + len + depth, ']', (size_t)depth);
		text[len + 2 * (size_t)depth] = '}';
		check_object(text, len + 2 * (size_t)depth + 1, depth == 31);
	}
}
END_TEST

static const struct {
	const char *text, *value; /* NULL: there is no "a" */
} fields[] = {
	{ "{\"a\":\"it\"}", "it" },
	{ " { \"b\" : \"a\" , \"a\" : \"it\" } ", "it" },
	{ "{\"b\":{\"a\":1},\"c\":[\"a\"]}", NULL },
	{ "{\"A\":1,\"aa\":2,\"\":3}", NULL },
	{ "{}", NULL },
	{ "{\"a\":1,\"a\":2}", "1" },
	{ "{\"\\u0061\":\"it\"}", "it" },
	{ "{\"a\":-1.50e+3}", "-1.50e+3" },
	{ "{\"a\":[1, {\"b\":2}]}", "[1, {\"b\":2}]" },
	{ "{\"a\":null }", "null" },
	{ "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "\"\\/\b\f\n\r\t" },
	{ "{\"a\":\"\\u007f\\u0080\\u07ff\\u0800\\uFfFf\"}",
		"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf" },
	{ "{\"a\":\"\\ud800\\udc00\\udbff\\udfff\"}",
		"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
	/* Half of a pair. */
	{ "{\"a\":\"\\ud800\"}", "\xef\xbf\xbd" },
	{ "{\"a\":\"\\udc00\\ud800\\u0041\"}", "\xef\xbf\xbd\xef\xbf\xbd\x41" },
};

START_TEST(a_field_is_read_as_text)
{
	char value[64] = "before";
	size_t len = strlen(fields[_i].text);
	char *copy = bare(fields[_i].text, len);

	ck_assert_int_eq(json_field(copy, len, "a", value, sizeof(value)),
		fields[_i].value != NULL);
	ck_assert_str_eq(value,
		fields[_i].value != NULL ? fields[_i].value : "");
	free(copy);
}
END_TEST

/* Cut between characters, with nothing written behind the buffer. */
START_TEST(a_field_that_is_too_long_is_cut_off)
{
	static const char *const texts[] = { "{\"a\":\"ab\303\274c\"}",
		"{\"a\":\"ab\\u00fcc\"}" };
	static const char *const cut[] = { "", "a", "ab", "ab", "ab\303\274",
		"ab\303\274c" };
	char value[8];

	for (size_t size = 1; size <= 6; size++) {
		memset(value, '#', sizeof(value));
		ck_assert(json_field(texts[_i], strlen(texts[_i]), "a", value,
			size));
		ck_assert_str_eq(value, cut[size - 1]);
		ck_assert_int_eq(value[size], '#');
	}
}
END_TEST

/* A name that is longer than any of ours is none of ours. */
START_TEST(a_long_name_is_no_other)
{
	char text[128] = "{\"a", value[8];
	size_t len = strlen(text);

	memset(text + len, 'b', 64);
	strcpy(text + len + 64, "\":1}");
	ck_assert(!json_field(text, strlen(text), "a", value, sizeof(value)));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json");
	TCase *t = tcase_create("written");

	tcase_add_loop_test(t, any_text_is_written_as_a_string, 0,
		UNIT_COUNT(strings));
	tcase_add_test(t, an_object_is_written_in_one_line);
	suite_add_tcase(s, t);
	t = tcase_create("read");
	tcase_add_loop_test(t, what_is_an_object_is_taken_for_one, 0,
		UNIT_COUNT(objects));
	tcase_add_loop_test(t, what_is_no_object_is_not, 0, UNIT_COUNT(others));
	tcase_add_test(t, what_is_nested_deeply_is_no_object);
	tcase_add_loop_test(t, a_field_is_read_as_text, 0, UNIT_COUNT(fields));
	tcase_add_loop_test(t, a_field_that_is_too_long_is_cut_off, 0, 2);
	tcase_add_test(t, a_long_name_is_no_other);
	suite_add_tcase(s, t);
	return unit_main(s);
}
