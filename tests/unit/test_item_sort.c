/*
 * test_item_sort.c - the command takes the same names for items, in the same
 * order, as the library.
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

static const char *const prefixes[] = { "qn-", "queue-", "entry-" };

/* Write a name made of pieces of item names, in an order that may be wrong. */
static void draw(struct ku_random *random, const char *prefix,
	char name[NAME_SIZE])
{
	static const char *const keys[] = { "", "-", "|", "0", "1", "05", "100",
		"2147483647", "2147483648", "17FFFFFFF", "07FFFFFFF",
		"1A1FA1B2383", "id", "999-", "1000-", "-05-", "|A1FA1B2383|",
		"|1A1FA1B2383|", "|0|", "|id|" };
	static const char *const numbers[] = { "0000000007", "0000000012",
		"2147483647", "-000000007", "-2147483648", "4294967295", "7" };

	strcpy(name, prefix);
	for (uint64_t i = ku_random_below(random, KEYS_MAX + 1); i > 0; i--)
		strcat(name, any_of(random, keys, 20));
	strcat(name, any_of(random, numbers, 7));
}

START_TEST(the_library_takes_the_same_names)
{
	struct ku_random random;
	int items = 0;

	ku_random_seed(&random, 1);
	for (int i = 0; i < ROUNDS; i++) {
		char name[NAME_SIZE];

		draw(&random, any_of(&random, prefixes, 3), name);
		bool taken = somebody_takes(name);
		items += taken;
		ck_assert_msg((item_sort_of(name) != ITEM_OTHER) == taken,
			"%s: the library %s it", name,
			taken ? "takes" : "does not take");
	}
	ck_assert_int_gt(items, ROUNDS / 100);
}
END_TEST

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static int library_order(const struct ku_item *a, const struct ku_item *b)
{
	return ku_item_before(b, a) - ku_item_before(a, b);
}

START_TEST(S17_the_library_has_the_same_order)
{
	static const struct {
		enum kustos_queue_kind kind;
		enum ku_item_kind library;
		int prefix;
	} * k,
		both[] = { { KUSTOS_QUEUE_SIMPLE, KU_ITEM_SIMPLE, 0 },
			{ KUSTOS_QUEUE_FRAMED, KU_ITEM_FRAMED, 1 },
			{ KUSTOS_QUEUE_PRIORITY, KU_ITEM_PRIORITY, 1 },
			{ KUSTOS_QUEUE_DELAY, KU_ITEM_DELAY, 1 },
			{ KUSTOS_QUEUE_ID, KU_ITEM_ID, 1 },
			{ KUSTOS_QUEUE_KAZOO, KU_ITEM_KAZOO, 2 } };
	char a[NAME_SIZE], b[NAME_SIZE];
	int compared[6] = { 0 };
	struct ku_item x, y;
	struct ku_random random;

	ku_random_seed(&random, 2);
	for (int i = 0; i < 4 * ROUNDS; i++) {
		k = &both[ku_random_below(&random, 6)];
		draw(&random, prefixes[k->prefix], a);
		draw(&random, prefixes[k->prefix], b);
		if (!ku_item_parse(k->library, a, &x) ||
			!ku_item_parse(k->library, b, &y))
			continue;
		compared[k - both]++;
		ck_assert_msg(sign(item_compare(k->kind, a, b)) ==
				library_order(&x, &y),
			"%s and %s, in a queue of kind %d", a, b, (int)k->kind);
	}
	for (int i = 0; i < 6; i++)
		ck_assert_int_gt(compared[i], 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("item sort");
	TCase *t = tcase_create("names");

	tcase_add_test(t, a_name_says_what_its_item_is_like);
	tcase_add_test(t, a_name_that_only_looks_so_is_no_items);
	tcase_add_test(t, the_library_takes_the_same_names);
	tcase_add_test(t, S17_the_library_has_the_same_order);
	suite_add_tcase(s, t);
	return unit_main(s);
}
