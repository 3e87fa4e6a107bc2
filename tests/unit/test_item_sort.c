/*
 * test_item_sort.c - what the command takes for an item is what the library does.
 */
#include "item_name.h"
#include "item_sort.h"
#include "random.h"
#include "unit.h"

#include <string.h>

#define ROUNDS 200000
#define KEYS_MAX 4
#define NAME_SIZE 80

static const enum ku_item_kind kinds[] = { KU_ITEM_SIMPLE, KU_ITEM_FRAMED,
	KU_ITEM_PRIORITY, KU_ITEM_DELAY, KU_ITEM_ID, KU_ITEM_KAZOO };

static bool somebody_takes(const char *name)
{
	struct ku_item item;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (ku_item_parse(kinds[i], name, &item))
			return true;
	return false;
}

static void expect(const char *name, enum item_sort sort)
{
	ck_assert_msg(item_sort_of(name) == sort, "%s is %d", name,
		(int)item_sort_of(name));
	ck_assert_msg(somebody_takes(name) == (sort != ITEM_OTHER), "%s", name);
}

START_TEST(a_name_says_what_its_item_is_like)
{
	expect("qn-0000000007", ITEM_SIMPLE);
	expect("qn--000000007", ITEM_SIMPLE);
	expect("queue-0000000007", ITEM_FRAMED);
	expect("queue-17FFFFFFF0000000007", ITEM_WITH_PRIORITY);
	expect("queue-|1A1FA1B2383|0000000007", ITEM_AT_A_TIME);
	expect("queue-|0|0000000007", ITEM_AT_ANY_TIME);
	expect("queue-|some id|0000000007", ITEM_WITH_ID);
	expect("entry-100-0000000007", ITEM_KAZOO);
	expect("entry-2147483647-0000000007", ITEM_KAZOO);
}
END_TEST

START_TEST(a_name_that_only_looks_so_is_no_items)
{
	expect("qn-7", ITEM_OTHER);
	expect("qn-4294967296", ITEM_OTHER);
	expect("queue-", ITEM_OTHER);
	expect("queue-|id|7", ITEM_OTHER);
	expect("entry-2147483648-0000000007", ITEM_OTHER);
	expect("entry-9999999999-0000000001", ITEM_OTHER);
	expect("entry-00000000100-0000000001", ITEM_OTHER);
	expect("leases", ITEM_OTHER);
}
END_TEST

static const char *any_of(struct ku_random *random, const char *const *pieces,
	size_t count)
{
	return pieces[ku_random_below(random, count)];
}

/* Write a name of pieces that belong into one, in an order that may be wrong. */
static void draw(struct ku_random *random, char name[NAME_SIZE])
{
	static const char *const prefixes[] = { "qn-", "queue-", "entry-" };
	static const char *const keys[] = { "", "-", "|", "0", "1", "05", "100",
		"2147483647", "2147483648", "17FFFFFFF", "1A1FA1B2383", "id" };
	static const char *const numbers[] = { "0000000007", "-000000007",
		"4294967295", "7" };

	strcpy(name, any_of(random, prefixes, 3));
	for (uint64_t i = ku_random_below(random, KEYS_MAX + 1); i > 0; i--)
		strcat(name, any_of(random, keys, 12));
	strcat(name, any_of(random, numbers, 4));
}

START_TEST(the_library_takes_the_same_names)
{
	struct ku_random random;
	int items = 0;

	ku_random_seed(&random, 1);
	for (int i = 0; i < ROUNDS; i++) {
		char name[NAME_SIZE];

		draw(&random, name);
		bool taken = somebody_takes(name);
		items += taken;
		ck_assert_msg((item_sort_of(name) != ITEM_OTHER) == taken,
			"%s: the library %s it", name,
			taken ? "takes" : "does not take");
	}
	ck_assert_int_gt(items, ROUNDS / 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("item sort");
	TCase *t = tcase_create("names");

	tcase_add_test(t, a_name_says_what_its_item_is_like);
	tcase_add_test(t, a_name_that_only_looks_so_is_no_items);
	tcase_add_test(t, the_library_takes_the_same_names);
	suite_add_tcase(s, t);
	return unit_main(s);
}
