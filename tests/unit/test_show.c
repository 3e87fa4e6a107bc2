/*
 * test_show.c - show.h: how the command prints an age.
 */
#include "show.h"
#include "unit.h"

#include <time.h>

static const struct {
	int64_t seconds;
	const char *text;
} ages[] = { { -3600, "0s" }, /* of a server whose clock is ahead */
	{ 0, "0s" }, { 59, "59s" }, { 60, "1m00s" }, { 3599, "59m59s" },
	{ 3600, "1h00m" }, { 86399, "23h59m" }, { 86400, "1d00h" },
	{ 100 * 86400 + 7 * 3600, "100d07h" } };

START_TEST(an_age_is_told_in_the_two_units_that_matter)
{
	char *text = NULL;
	size_t size;
	time_t now;

	do { /* within one second */
		free(text);
		now = time(NULL);
		FILE *out = open_memstream(&text, &size);
		ck_assert_ptr_nonnull(out);
		show_age(out, (now - ages[_i].seconds) * 1000);
		fclose(out);
	} while (time(NULL) != now);
	ck_assert_str_eq(text, ages[_i].text);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("show");
	TCase *t = tcase_create("ages");

	tcase_add_loop_test(t, an_age_is_told_in_the_two_units_that_matter, 0,
		UNIT_COUNT(ages));
	suite_add_tcase(s, t);
	return unit_main(s);
}
