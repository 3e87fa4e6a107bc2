/* test_rank_room.c - rank.h: who may hold where all children count, as leases
   do. */
#include "rank.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

#define UUID "_c_01234567-89ab-4cde-8f01-23456789abcd-"
#define LEASE(number) UUID "lease-" number

static enum ku_verdict verdict(const char *const *names, int count,
	const char *own, int32_t number, int room)
{
	struct ku_standing one = { .name = own,
		.number = number,
		.shares = true,
		.company = room - 1 };

	ck_assert_int_eq(ku_rank(&ku_rule_lease, KUSTOS_STYLE_CURATOR, names,
				 count, &one, 1),
		0);
	return ku_rank_verdict(&one);
}

START_TEST(those_before_count_and_those_behind_do_not)
{
	static const char *const names[] = { LEASE("0000000009"),
		LEASE("0000000005"), LEASE("0000000007"), LEASE("0000000003") };

	ck_assert_int_eq(verdict(names, 4, names[2], 7, 3), KU_RANK_OWNER);
	ck_assert_int_eq(verdict(names, 4, names[2], 7, 2), KU_RANK_WAIT);
	ck_assert_int_eq(verdict(names, 4, names[3], 3, 1), KU_RANK_OWNER);
	ck_assert_int_eq(verdict(names, 4, names[0], 9, 4), KU_RANK_OWNER);
	ck_assert_int_eq(verdict(names, 4, names[0], 9, 3), KU_RANK_WAIT);
	/* No room at all: not for the first one either. */
	ck_assert_int_eq(verdict(names, 4, names[3], 3, 0), KU_RANK_WAIT);
	ck_assert_int_eq(verdict(names, 4, LEASE("0000000004"), 4, 9),
		KU_RANK_GONE);
}
END_TEST

/* Curator's clients count these, too. */
START_TEST(a_child_of_any_other_name_stands_before_all)
{
	static const char *const names[] = { LEASE("0000000005"), "whatever",
		"0123456789", UUID "lock-0000000099", "lease-", "x-lease--5" };

	for (int i = 1; i < 6; i++) {
		const char *two[] = { names[0], names[i] };

		ck_assert_int_eq(verdict(two, 2, names[0], 5, 1), KU_RANK_WAIT);
		ck_assert_int_eq(verdict(two, 2, names[0], 5, 2),
			KU_RANK_OWNER);
	}
	ck_assert_int_eq(verdict(names, 6, names[0], 5, 5), KU_RANK_WAIT);
	ck_assert_int_eq(verdict(names, 6, names[0], 5, 6), KU_RANK_OWNER);
}
END_TEST

/* When the server repeats the last number, all children count. */
START_TEST(S18_numbers_that_tell_no_order_all_count)
{
	static const char *const names[] = { "a-lease-2147483647",
		"b-lease-2147483647", "c-lease-2147483646",
		"d-lease--2147483648" };

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(verdict(names, 4, names[i], INT32_MAX, 4),
			KU_RANK_OWNER);
		ck_assert_int_eq(verdict(names, 4, names[i], INT32_MAX, 3),
			KU_RANK_WAIT);
	}
	ck_assert_int_eq(verdict(names, 4, names[3], INT32_MIN, 3),
		KU_RANK_WAIT);
	/* A child whose own number is in order has these before it. */
	ck_assert_int_eq(verdict(names, 4, names[2], INT32_MAX - 1, 3),
		KU_RANK_WAIT);
}
END_TEST

#define MOST 12

/* Whoever is granted last has seen the others.  Nodes are created and looked at
   in any order, and deleted at any time. */
START_TEST(S14_never_are_more_granted_than_there_is_room_for)
{
	static char text[2000][32];
	const char *there[MOST];
	bool granted[MOST];
	unsigned seed = (unsigned)_i + 1;
	int room = 1 + _i % 4, count = 0, number = 0, held;

	for (int step = 0; step < 2000; step++) {
		int which = count > 0 ? rand_r(&seed) % count : 0;

		if (count < MOST && rand_r(&seed) % 3 == 0) {
			char *name = text[number];

			snprintf(name, 32, "%d-lease-%010d", rand_r(&seed),
				number++);
			there[count] = name;
			granted[count++] = false;
		} else if (count > 0 && rand_r(&seed) % 4 == 0) {
			memmove(&there[which], &there[which + 1],
				(size_t)(count - which - 1) * sizeof(*there));
			memmove(&granted[which], &granted[which + 1],
				(size_t)(count - which - 1) * sizeof(*granted));
			count--;
		} else if (count > 0) {
			/* Ours go by order; every third is one of Curator's. */
			int own = atoi(
				there[which] + strlen(there[which]) - 10);
			bool may = own % 3 == 0
				? count <= room
				: verdict(there, count, there[which], own,
					  room) == KU_RANK_OWNER;

			granted[which] = granted[which] || may;
		}
		held = 0;
		for (int i = 0; i < count; i++)
			held += granted[i];
		ck_assert_int_le(held, room);
	}
	ck_assert_int_gt(number, 300);
}
END_TEST

/* Several places of ours at once, in the order of their numbers. */
START_TEST(several_of_ours_are_counted_as_each_alone)
{
	static char text[3 * MOST][32];
	const char *names[3 * MOST];
	struct ku_standing all[2 * MOST] = { 0 };
	unsigned seed = (unsigned)_i + 1;
	int count = 0, ours = 0;

	for (int number = 0; number < 3 * MOST; number++) {
		if (rand_r(&seed) % 4 == 0)
			continue; /* has left */
		names[count] = text[number];
		snprintf(text[number], 32, "%d-%s-%010d", rand_r(&seed),
			rand_r(&seed) % 5 > 0 ? "lease" : "other", number);
		if (ours < 2 * MOST && strstr(text[number], "lease") != NULL &&
			rand_r(&seed) % 2 == 0)
			all[ours++] = (struct ku_standing){ .name = text[number],
				.number = number };
		count++;
	}
	for (int i = count - 1; i > 0; i--) {
		int k = rand_r(&seed) % (i + 1);
		const char *name = names[i];

		names[i] = names[k];
		names[k] = name;
	}
	ku_rank(&ku_rule_lease, KUSTOS_STYLE_CURATOR, names, count, all, ours);
	for (int i = 0; i < ours; i++) {
		struct ku_standing one = { .name = all[i].name,
			.number = all[i].number };
		int before = 0;

		for (int k = 0; k < count; k++)
			before += strstr(names[k], "other") != NULL ||
				atoi(names[k] + strlen(names[k]) - 10) <
					one.number;
		ku_rank(&ku_rule_lease, KUSTOS_STYLE_CURATOR, names, count,
			&one, 1);
		ck_assert(all[i].seen && one.seen);
		ck_assert_int_eq(all[i].before, before);
		ck_assert_int_eq(one.before, before);
	}
	ck_assert_int_gt(ours, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rank, room");
	TCase *t = tcase_create("room");

	tcase_add_test(t, those_before_count_and_those_behind_do_not);
	tcase_add_test(t, a_child_of_any_other_name_stands_before_all);
	tcase_add_test(t, S18_numbers_that_tell_no_order_all_count);
	tcase_add_loop_test(t,
		S14_never_are_more_granted_than_there_is_room_for, 0, 40);
	tcase_add_loop_test(t, several_of_ours_are_counted_as_each_alone, 0,
		20);
	suite_add_tcase(s, t);
	return unit_main(s);
}
