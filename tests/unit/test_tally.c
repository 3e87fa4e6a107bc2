/* test_tally.c - tally.h: what the names below a count-down latch mean. */
#include "fault.h"
#include "tally.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define PROTECTION "_c_00000000-0000-4000-8000-00000000000a-"

static const char a_lives[] = PROTECTION "alive-a";
static const char aa_lives[] = PROTECTION "alive-aa";
static const char dash_lives[] = PROTECTION "alive-a-";
static const char b_lives[] = PROTECTION "alive-b";
static const char c_protected[] = PROTECTION "done-c";

static struct ku_tally tally;

static void read_names(const char *const *names)
{
	size_t size = 0;

	while (names[size] != NULL)
		size++;
	free(tally.list);
	ck_assert(ku_tally_read(names, size, &tally));
}

#define READ(...) read_names((const char *const[]){ __VA_ARGS__, NULL })

static void tear_down(void)
{
	free(tally.list);
	tally.list = NULL;
}

START_TEST(each_id_counts_once_and_what_is_not_ours_does_not)
{
	READ("done-b", "count-3", "done-a", "must-a", a_lives, "done-", "done",
		"x", "_c_", "ready", "lock-0000000001", c_protected,
		"_x_00000000-0000-4000-8000-00000000000a-alive-c");
	ck_assert_int_eq(tally.count, 3);
	ck_assert_uint_eq(tally.done, 2);
	ck_assert_uint_eq(tally.dead, 0);
	ck_assert_uint_eq(tally.size, 2);
	ck_assert_str_eq(tally.list[0].id, "a");
	ck_assert_int_eq(tally.list[0].kinds,
		KU_TALLY_DONE | KU_TALLY_MUST | KU_TALLY_ALIVE);
	ck_assert_str_eq(tally.list[1].id, "b");
	ck_assert_int_eq(tally.list[1].kinds, KU_TALLY_DONE);
}
END_TEST

/* Whatever is behind it in memory is not part of it. */
START_TEST(a_name_ends_where_it_ends)
{
	char name[sizeof(a_lives)];
	const char *id;

	memcpy(name, a_lives, sizeof(name));
	for (size_t len = 0; len < sizeof(PROTECTION); len++) {
		name[len] = '\0';
		ck_assert_int_eq(ku_tally_name(name, &id), KU_TALLY_OTHER);
		name[len] = a_lives[len];
	}
	ck_assert_int_eq(ku_tally_name(name, &id), KU_TALLY_ALIVE);
}
END_TEST

START_TEST(a_count_is_just_what_is_written)
{
	static const char *const wrong[] = { "count-", "count-0", "count-03",
		"count-+3", "count--3", "count-3x", "count- 3",
		"count-2147483648", "count-4294967299",
		"count-99999999999999999999" };

	for (size_t i = 0; i < UNIT_COUNT(wrong); i++) {
		const char *number;

		READ(wrong[i]);
		ck_assert_int_eq(tally.count, 0);
		/* Nor is it removed with the latch. */
		ck_assert_int_eq(ku_tally_name(wrong[i], &number),
			KU_TALLY_OTHER);
	}
	READ("count-2147483647");
	ck_assert_int_eq(tally.count, 2147483647);
	READ("count-4", "count-3");
	ck_assert(tally.disagree);
}
END_TEST

START_TEST(S12_nobody_goes_on_before_so_many_are_done)
{
	READ("count-2", "done-a");
	ck_assert_int_eq(ku_tally_judge(&tally, 0), KUSTOS_EBUSY);
	ck_assert_int_eq(ku_tally_judge(&tally, 2), KUSTOS_EBUSY);
	READ("count-2", "done-a", "done-b");
	ck_assert_int_eq(ku_tally_judge(&tally, 0), KUSTOS_OK);
	ck_assert_int_eq(ku_tally_judge(&tally, 2), KUSTOS_OK);
	READ("done-a", "done-b", "done-c");
	ck_assert_int_eq(ku_tally_judge(&tally, 0), KUSTOS_EBUSY);
	ck_assert_int_eq(ku_tally_judge(&tally, 4), KUSTOS_EBUSY);
	ck_assert_int_eq(ku_tally_judge(&tally, 2), KUSTOS_OK);
}
END_TEST

START_TEST(who_disagrees_is_told_even_at_zero)
{
	READ("count-2", "done-a", "done-b");
	ck_assert_int_eq(ku_tally_judge(&tally, 3), KUSTOS_EDISAGREE);
	ck_assert_int_eq(ku_tally_judge(&tally, 1), KUSTOS_EDISAGREE);
	READ("count-2", "count-3", "done-a", "done-b", "done-c");
	ck_assert_int_eq(ku_tally_judge(&tally, 0), KUSTOS_EDISAGREE);
	ck_assert_int_eq(ku_tally_judge(&tally, 2), KUSTOS_EDISAGREE);
}
END_TEST

START_TEST(it_is_broken_while_one_that_must_is_neither_done_nor_alive)
{
	READ("count-2", "must-a", a_lives, "must-b", "done-b");
	ck_assert_int_eq(ku_tally_judge(&tally, 0), KUSTOS_EBUSY);
	READ("count-2", "must-a", b_lives, "must-b");
	ck_assert_uint_eq(tally.dead, 1);
	ck_assert_int_eq(ku_tally_judge(&tally, 0), KUSTOS_EBROKEN);
	READ("count-2", "must-a", "done-b", "done-c");
	ck_assert_int_eq(ku_tally_judge(&tally, 0), KUSTOS_OK);
	/* This is not the "a" of another id. */
	READ("count-2", "must-a", aa_lives, dash_lives);
	ck_assert_int_eq(ku_tally_judge(&tally, 0), KUSTOS_EBROKEN);
}
END_TEST

static void check_id(const char *id, const char *written)
{
	char name[KU_TALLY_NAME_SIZE], back[KU_TALLY_NAME_SIZE];
	const char *found = NULL;

	ck_assert(ku_tally_write(KU_TALLY_DONE, id, name));
	ck_assert_int_eq(ku_tally_name(name, &found), KU_TALLY_DONE);
	ck_assert_str_eq(found, written);
	ku_tally_plain(found, back);
	ck_assert_str_eq(back, id);
	ck_assert(ku_tally_write(KU_TALLY_MUST, id, name));
	ck_assert_int_eq(ku_tally_name(name, &found), KU_TALLY_MUST);
	ck_assert_str_eq(found, written);
}

START_TEST(an_id_is_written_so_that_any_can_be_a_name)
{
	char longest[KU_TALLY_ID_SIZE + 1], name[KU_TALLY_NAME_SIZE];

	check_id("worker-1", "worker-1");
	check_id("host:12", "host:12");
	check_id("!a~", "!a~");
	check_id("a/b %41", "a%2Fb%20%2541");
	check_id("\x01\x7f\n", "%01%7F%0A");
	check_id("K\xc3\xa4se", "K%C3%A4se");
	memset(longest, '/', sizeof(longest));
	longest[KU_TALLY_ID_SIZE - 1] = '\0';
	ck_assert(ku_tally_write(KU_TALLY_ALIVE, longest, name));
	ck_assert_uint_lt(strlen(name), sizeof(name));
	longest[KU_TALLY_ID_SIZE - 1] = '/';
	longest[KU_TALLY_ID_SIZE] = '\0';
	ck_assert(!ku_tally_write(KU_TALLY_ALIVE, longest, name));
	ck_assert(!ku_tally_write(KU_TALLY_DONE, "", name));
	ck_assert(!ku_tally_write(KU_TALLY_DONE, NULL, name));
}
END_TEST

START_TEST(what_others_wrote_is_read_as_it_stands)
{
	char out[16];

	ku_tally_plain("%", out);
	ck_assert_str_eq(out, "%");
	ku_tally_plain("%4", out);
	ck_assert_str_eq(out, "%4");
	ku_tally_plain("%4g%00%41", out);
	ck_assert_str_eq(out, "%4g%00A");
}
END_TEST

START_TEST(a_failed_allocation_is_told)
{
	const char *const names[] = { "done-a" };
	struct ku_tally t;

	fault_after(0);
	bool read = ku_tally_read(names, 1, &t);
	ck_assert(fault_end());
	ck_assert(!read);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tally");
	TCase *t = tcase_create("names");

	tcase_add_checked_fixture(t, NULL, tear_down);
	tcase_add_test(t, each_id_counts_once_and_what_is_not_ours_does_not);
	tcase_add_test(t, a_name_ends_where_it_ends);
	tcase_add_test(t, a_count_is_just_what_is_written);
	tcase_add_test(t, S12_nobody_goes_on_before_so_many_are_done);
	tcase_add_test(t, who_disagrees_is_told_even_at_zero);
	tcase_add_test(t,
		it_is_broken_while_one_that_must_is_neither_done_nor_alive);
	tcase_add_test(t, an_id_is_written_so_that_any_can_be_a_name);
	tcase_add_test(t, what_others_wrote_is_read_as_it_stands);
	tcase_add_test(t, a_failed_allocation_is_told);
	suite_add_tcase(s, t);
	return unit_main(s);
}
