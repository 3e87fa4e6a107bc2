/* test_witness.c - witness.h: who is told, and who is not, while witnesses come
   and go. */
#include "unit.h"

#include "client.h"

#include <stdlib.h>
#include <string.h>

static struct kustos_client client;
static struct ku_witness *all[3];
static int removes[2]; /* which ones go when all[1] is told; -1: none */
static char told[8];

static void note(const struct ku_witness *witness, const char *letters)
{
	size_t len = strlen(told);

	ck_assert_uint_lt(len, sizeof(told) - 1);
	for (int i = 0; i < 3; i++)
		if (witness == all[i])
			told[len] = letters[i];
	told[len + 1] = '\0';
}

static void away(struct ku_witness *witness)
{
	bool second = witness == all[1];

	note(witness, "abc");
	for (int i = 0; second && i < 2; i++) {
		if (removes[i] < 0)
			continue;
		ku_witness_remove(&client, all[removes[i]]);
		memset(all[removes[i]], 0x5a, sizeof(**all));
	}
}

static void lost(struct ku_witness *witness)
{
	note(witness, "ABC");
}

static void closing(struct ku_witness *witness)
{
	note(witness, "xyz");
}

/* The one that was added last is told first. */
static void setup(void)
{
	memset(&client, 0, sizeof(client));
	told[0] = '\0';
	removes[0] = removes[1] = -1;
	for (int i = 2; i >= 0; i--) {
		all[i] = calloc(1, sizeof(**all));
		ck_assert_ptr_nonnull(all[i]);
		all[i]->away = away;
		ku_witness_add(&client, all[i]);
	}
}

static void teardown(void)
{
	for (int i = 0; i < 3; i++)
		free(all[i]);
}

START_TEST(each_is_told_once)
{
	ku_witnesses_tell(&client, KU_WITNESS_AWAY);
	ck_assert_str_eq(told, "abc");
}
END_TEST

START_TEST(whoever_goes_meanwhile_is_not_told_and_the_others_are)
{
	static const char *const expected[3][3] = {
		{ "abc", "abc", "ab" },
		{ "abc", "abc", "ab" },
		{ "ab", "ab", "ab" },
	};

	removes[0] = _i / 3;
	removes[1] = _i % 3 == removes[0] ? -1 : _i % 3;
	ku_witnesses_tell(&client, KU_WITNESS_AWAY);
	ck_assert_str_eq(told, expected[_i / 3][_i % 3]);
}
END_TEST

START_TEST(a_loss_is_told_as_one_unless_it_is_all_the_same)
{
	all[1]->lost = lost;
	ku_witnesses_tell(&client, KU_WITNESS_LOST);
	ck_assert_str_eq(told, "aBc");
}
END_TEST

START_TEST(only_those_are_told_who_want_to_be)
{
	all[0]->away = NULL;
	all[2]->closing = closing;
	ku_witnesses_tell(&client, KU_WITNESS_CLOSING);
	ck_assert_str_eq(told, "z");
	ku_witnesses_tell(&client, KU_WITNESS_AWAY);
	ck_assert_str_eq(told, "zbc");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("witness");
	TCase *t = tcase_create("told");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, each_is_told_once);
	tcase_add_loop_test(t,
		whoever_goes_meanwhile_is_not_told_and_the_others_are, 0, 9);
	tcase_add_test(t, a_loss_is_told_as_one_unless_it_is_all_the_same);
	tcase_add_test(t, only_those_are_told_who_want_to_be);
	suite_add_tcase(s, t);
	return unit_main(s);
}
