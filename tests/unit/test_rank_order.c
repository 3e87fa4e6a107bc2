/*
 * test_rank_order.c - rank.h: ranks in random lists, compared with a plain
 * sort.
 */
#include "unit.h"

#include "random.h"
#include "rank.h"
#include "sanitized.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define UUID "00112233-4455-6677-8899-aabbccddeeff"
#define HEX32 "00112233445566778899aabbccddeeff"

#define MOST 40
#define ROUNDS (20000 / TIMES_LESS)

struct child {
	char name[72];
	int32_t number;
	bool takes_part, ours, listed, shares;
	enum kustos_style style;
};

struct list {
	struct child children[MOST];
	int count;
	struct child *sorted[MOST]; /* those that take part and are listed */
	int sorted_count;
};

struct pattern {
	const char *text;
	enum kustos_style style;
	bool takes_part, shares;
};

struct naming {
	const struct ku_rule *rule;
	struct pattern patterns[6]; /* ours may have the first two */
	bool downgrades;
};

static const struct naming locks = { &ku_rule_lock,
	{
		{ "_c_" UUID "-lock-", KUSTOS_STYLE_CURATOR, true, false },
		{ "_c_" UUID "-lock-", KUSTOS_STYLE_CURATOR, true, false },
		{ HEX32 "__lock__", KUSTOS_STYLE_KAZOO, true, false },
		{ "x-0123456789abcdef-", KUSTOS_STYLE_SESSION, true, false },
		{ "lease-", KUSTOS_STYLE_LOCK, false, false },
		{ "lock", KUSTOS_STYLE_LOCK, false, false },
	},
	false };

static const struct naming sides = { &ku_rule_rw,
	{
		{ "_c_" UUID "-__READ__", KUSTOS_STYLE_CURATOR, true, true },
		{ "_c_" UUID "-__WRIT__", KUSTOS_STYLE_CURATOR, true, false },
		{ HEX32 "__rlock__", KUSTOS_STYLE_KAZOO, true, true },
		{ HEX32 "__lock__", KUSTOS_STYLE_KAZOO, true, false },
		{ HEX32 "-__READ__", KUSTOS_STYLE_LOCK, true, true },
		{ "_c_" UUID "-lock-", KUSTOS_STYLE_LOCK, false, false },
	},
	true };

static void make_child(struct ku_random *random, const struct naming *naming,
	struct child *c, int pattern, int32_t number)
{
	const struct pattern *p = &naming->patterns[pattern];

	*c = (struct child){
		.number = number,
		.takes_part = p->takes_part,
		.shares = p->shares,
		.style = p->style,
		.listed = true,
	};
	c->ours = pattern < 2 && ku_random_below(random, 3) == 0;
	if (c->ours)
		c->listed = ku_random_below(random, 10) > 0;
	snprintf(c->name, sizeof(c->name), "%s%010d", p->text, number);
}

/* Children are made in the order of their numbers.  A writer may have a reader
   beside it, which it has become or is about to become. */
static void make_list(struct ku_random *random, const struct naming *naming,
	struct list *list)
{
	int32_t number = (int32_t)ku_random_below(random, INT32_MAX - 1000);
	int count = (int)ku_random_below(random, MOST);

	list->count = 0;
	while (list->count < count) {
		struct child *c = &list->children[list->count++];

		number += 1 + (int32_t)ku_random_below(random, 20);
		make_child(random, naming, c, (int)ku_random_below(random, 6),
			number);
		if (naming->downgrades && c->takes_part && !c->shares &&
			ku_random_below(random, 4) == 0) {
			struct child *reader = &list->children[list->count++];
			bool ours = c->ours;

			make_child(random, naming, reader, 0, number);
			reader->ours = ours;
			reader->listed = reader->listed || !ours;
		}
	}
}

/* As a plain sort has it. */
static void sort_list(struct list *list)
{
	list->sorted_count = 0;
	for (int i = 0; i < list->count; i++)
		if (list->children[i].takes_part && list->children[i].listed)
			list->sorted[list->sorted_count++] = &list->children[i];
}

/* Put the names into random order.  Returns how many there are. */
static int shuffle(struct ku_random *random, struct list *list,
	const char **names)
{
	int count = 0;

	for (int i = 0; i < list->count; i++) {
		if (!list->children[i].listed)
			continue;
		int at = (int)ku_random_below(random, (uint64_t)count + 1);
		names[count++] = names[at];
		names[at] = list->children[i].name;
	}
	return count;
}

/* Must "a" have left before "b" may be granted? */
static bool blocks(const struct child *a, const struct child *b)
{
	return a->number < b->number && !(a->shares && b->shares);
}

/* Return the number of the nearest exclusive child of ours before "own", listed
   or not. */
static int32_t base_of(const struct list *list, const struct child *own)
{
	int32_t base = -1;

	for (int i = 0; i < list->count; i++) {
		const struct child *c = &list->children[i];

		if (c->ours && !c->shares && c != own &&
			c->number <= own->number)
			base = c->number;
	}
	return base;
}

static bool is_at(const struct list *list, const char *name, int32_t number)
{
	for (int i = 0; i < list->sorted_count; i++)
		if (strcmp(list->sorted[i]->name, name) == 0)
			return list->sorted[i]->number == number;
	return false;
}

/* Compare the standing of one place with the sorted list. */
static void check_one(const struct list *list, const struct child *own,
	const struct ku_standing *s)
{
	enum ku_verdict verdict = ku_rank_verdict(s);
	int32_t base = base_of(list, own);
	int before = 0, near = 0;

	if (!own->listed) {
		ck_assert_int_eq(verdict, KU_RANK_GONE);
		return;
	}
	for (int i = list->sorted_count - 1; i >= 0; i--) {
		const struct child *c = list->sorted[i];

		if (!blocks(c, own))
			continue;
		before++;
		/* A reader beside the base is behind it. */
		if (c->ours || c->number < base ||
			(c->number == base && !c->shares))
			continue;
		/* A writer and the reader that it becomes may change places. */
		if (near < KU_NEAR) {
			ck_assert_int_eq(s->near.numbers[near], c->number);
			ck_assert(is_at(list, s->near.names[near], c->number));
		}
		near++;
	}
	ck_assert_int_eq(s->before, before);
	ck_assert_int_eq(s->near.count, near);
	ck_assert_int_eq(verdict, before == 0 ? KU_RANK_OWNER : KU_RANK_WAIT);
}

static int count_blind(const struct list *list)
{
	int blind = 0;

	for (int i = 0; i < list->sorted_count; i++)
		blind += !ku_style_sees(list->sorted[i]->style,
			KUSTOS_STYLE_CURATOR);
	return blind;
}

static void check_rounds(const struct naming *naming)
{
	struct ku_random random;
	struct list list;
	const char *names[MOST];
	int verdicts[4] = { 0 };

	ku_random_seed(&random, 20260101);
	for (int round = 0; round < ROUNDS; round++) {
		struct ku_standing standings[MOST] = { { .name = NULL } };
		const struct child *own[MOST];
		int ours = 0;

		make_list(&random, naming, &list);
		sort_list(&list);
		int count = shuffle(&random, &list, names);
		for (int i = 0; i < list.count; i++) {
			if (!list.children[i].ours)
				continue;
			own[ours] = &list.children[i];
			standings[ours].name = own[ours]->name;
			standings[ours].number = own[ours]->number;
			standings[ours].shares = own[ours]->shares;
			ours++;
		}
		ck_assert_int_eq(ku_rank(naming->rule, KUSTOS_STYLE_CURATOR,
					 names, count, standings, ours),
			count_blind(&list));
		for (int i = 0; i < ours; i++) {
			check_one(&list, own[i], &standings[i]);
			verdicts[ku_rank_verdict(&standings[i])]++;
		}
	}
	ck_assert_int_gt(verdicts[KU_RANK_OWNER], ROUNDS / 200);
	ck_assert_int_gt(verdicts[KU_RANK_WAIT], ROUNDS / 200);
	ck_assert_int_gt(verdicts[KU_RANK_GONE], ROUNDS / 200);
}

START_TEST(S08_a_rank_is_that_of_a_plain_sort)
{
	check_rounds(&locks);
}
END_TEST

START_TEST(L19_who_shares_waits_for_the_exclusive_ones_before_it_only)
{
	check_rounds(&sides);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rank, order");
	TCase *t = tcase_create("order");

	tcase_add_test(t, S08_a_rank_is_that_of_a_plain_sort);
	tcase_add_test(t,
		L19_who_shares_waits_for_the_exclusive_ones_before_it_only);
	suite_add_tcase(s, t);
	return unit_main(s);
}
