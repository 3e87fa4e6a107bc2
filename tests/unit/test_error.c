/*
 * test_error.c - every error has its number, a name, and a sentence of its own.
 */
#include "unit.h"

#include <kustos/base.h>
#include <stdio.h>
#include <string.h>

/* The numbers are spelled out, because programs may have stored them. */
static const struct {
	int number;
	const char *name;
} errors[] = {
	{ 0, "KUSTOS_OK" },
	{ 1, "KUSTOS_EINVAL" },
	{ 2, "KUSTOS_ENOMEM" },
	{ 3, "KUSTOS_ETOOBIG" },
	{ 4, "KUSTOS_ELIMIT" },
	{ 5, "KUSTOS_EFORKED" },
	{ 6, "KUSTOS_ECLOSED" },
	{ 7, "KUSTOS_EUNSUPPORTED" },
	{ 20, "KUSTOS_ETIMEDOUT" },
	{ 21, "KUSTOS_ECANCELED" },
	{ 22, "KUSTOS_EBUSY" },
	{ 23, "KUSTOS_EDEADLK" },
	{ 40, "KUSTOS_EDISCONNECTED" },
	{ 41, "KUSTOS_ELOST" },
	{ 42, "KUSTOS_EAUTH" },
	{ 43, "KUSTOS_ELINGERING" },
	{ 60, "KUSTOS_EUNKNOWN" },
	{ 80, "KUSTOS_ENONODE" },
	{ 81, "KUSTOS_EEXISTS" },
	{ 82, "KUSTOS_EBADVERSION" },
	{ 83, "KUSTOS_ENOTEMPTY" },
	{ 84, "KUSTOS_ENOCHILDREN" },
	{ 85, "KUSTOS_ENOAUTH" },
	{ 86, "KUSTOS_EBADACL" },
	{ 87, "KUSTOS_EQUOTA" },
	{ 88, "KUSTOS_EROLLEDBACK" },
	{ 89, "KUSTOS_ESERVER" },
	{ 100, "KUSTOS_ENOTHELD" },
	{ 101, "KUSTOS_ESATURATED" },
	{ 102, "KUSTOS_ECHANGED" },
	{ 103, "KUSTOS_EABSENT" },
	{ 104, "KUSTOS_EBROKEN" },
	{ 105, "KUSTOS_EDISAGREE" },
	{ 106, "KUSTOS_EEMPTY" },
	{ 107, "KUSTOS_EFULL" },
	{ 108, "KUSTOS_ECORRUPT" },
};

START_TEST(every_error_keeps_its_number_and_name)
{
	size_t i;

	for (i = 0; i < UNIT_COUNT(errors); i++)
		ck_assert_str_eq(
			kustos_err_name((enum kustos_err)errors[i].number),
			errors[i].name);
}
END_TEST

START_TEST(every_error_has_a_sentence_of_its_own)
{
	const char *text, *other;
	size_t i, j;

	for (i = 0; i < UNIT_COUNT(errors); i++) {
		text = kustos_strerror((enum kustos_err)errors[i].number);
		ck_assert_str_ne(text, "unknown error");
		ck_assert_uint_gt(strlen(text), 5);
		ck_assert_int_ne(text[strlen(text) - 1], '.');
		for (j = 0; j < i; j++) {
			other = kustos_strerror(
				(enum kustos_err)errors[j].number);
			ck_assert_str_ne(text, other);
		}
	}
}
END_TEST

START_TEST(any_other_number_is_an_unknown_error)
{
	size_t i = 0;
	int n;

	for (n = -200; n < 200; n++) {
		if (i < UNIT_COUNT(errors) && errors[i].number == n) {
			i++;
			continue;
		}
		ck_assert_str_eq(kustos_strerror((enum kustos_err)n),
			"unknown error");
		ck_assert_ptr_nonnull(kustos_err_name((enum kustos_err)n));
	}
	ck_assert_uint_eq(i, UNIT_COUNT(errors));
}
END_TEST

START_TEST(the_library_is_of_the_version_of_its_headers)
{
	char text[32];

	snprintf(text, sizeof(text), "%d.%d.%d", KUSTOS_VERSION / 1000000,
		KUSTOS_VERSION / 1000 % 1000, KUSTOS_VERSION % 1000);
	ck_assert_str_eq(kustos_version(), text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("error");
	TCase *tcase = tcase_create("names");

	tcase_add_test(tcase, every_error_keeps_its_number_and_name);
	tcase_add_test(tcase, every_error_has_a_sentence_of_its_own);
	tcase_add_test(tcase, any_other_number_is_an_unknown_error);
	tcase_add_test(tcase, the_library_is_of_the_version_of_its_headers);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
