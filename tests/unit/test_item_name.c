/* test_item_name.c - item_name.h: names of a queue's items, and their order. */
#include "fault.h"
#include "item_name.h"
#include "name.h"
#include "random.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 4000

static const enum ku_item_kind kinds[] = { KU_ITEM_SIMPLE, KU_ITEM_FRAMED,
	KU_ITEM_PRIORITY, KU_ITEM_DELAY, KU_ITEM_ID, KU_ITEM_KAZOO };

/* The name that a server makes of this beginning. */
static char *numbered(char *head, int32_t number)
{
	size_t size = strlen(head) + 12;
	char *name = malloc(size);

	snprintf(name, size, "%s%010d", head, (int)number);
	free(head);
	return name;
}

static char *head_of(enum ku_item_kind kind, const struct ku_item_wish *wish)
{
	char *head = NULL;

	ck_assert_int_eq(ku_item_head(kind, wish, &head), KUSTOS_OK);
	return head;
}

static char *name_of(enum ku_item_kind kind, const struct ku_item_wish *wish,
	int32_t number)
{
	return numbered(head_of(kind, wish), number);
}

static void expect_head(enum ku_item_kind kind, const struct ku_item_wish *wish,
	const char *expected)
{
	char *head = head_of(kind, wish);

	ck_assert_str_eq(head, expected);
	free(head);
}

static struct ku_item parsed(enum ku_item_kind kind, const char *name)
{
	struct ku_item item;

	ck_assert_msg(ku_item_parse(kind, name, &item), "%s", name);
	return item;
}

START_TEST(names_are_those_that_peers_were_seen_to_write)
{
	static const struct {
		int32_t priority;
		const char *head;
	} seen[] = {
		{ INT32_MIN, "queue-080000000" },
		{ -10, "queue-0FFFFFFF6" },
		{ -1, "queue-0FFFFFFFF" },
		{ 0, "queue-100000000" },
		{ 10, "queue-10000000A" },
		{ INT32_MAX, "queue-17FFFFFFF" },
	};
	struct ku_item_wish wish = { .due_ms = 0x1A1FA1B2383, .id = "one" };

	for (size_t i = 0; i < UNIT_COUNT(seen); i++) {
		wish.priority = seen[i].priority;
		expect_head(KU_ITEM_PRIORITY, &wish, seen[i].head);
	}
	expect_head(KU_ITEM_DELAY, &wish, "queue-|1A1FA1B2383|");
	expect_head(KU_ITEM_ID, &wish, "queue-|one|");
	expect_head(KU_ITEM_FRAMED, &wish, "queue-");
	expect_head(KU_ITEM_SIMPLE, &wish, "qn-");
	wish = (struct ku_item_wish){ .priority = KU_ITEM_KAZOO_DEFAULT };
	expect_head(KU_ITEM_KAZOO, &wish, "entry-100-");
	expect_head(KU_ITEM_DELAY, &wish, "queue-|00000000|");
	wish.priority = 7;
	expect_head(KU_ITEM_KAZOO, &wish, "entry-007-");
}
END_TEST

START_TEST(S17_what_does_not_fit_is_refused)
{
	struct ku_item_wish wish = { .priority = -1, .due_ms = -1 };
	char *head = NULL;

	ck_assert_int_eq(ku_item_head(KU_ITEM_KAZOO, &wish, &head),
		KUSTOS_EINVAL);
	wish.priority = 1000;
	ck_assert_int_eq(ku_item_head(KU_ITEM_KAZOO, &wish, &head),
		KUSTOS_EINVAL);
	ck_assert_int_eq(ku_item_head(KU_ITEM_DELAY, &wish, &head),
		KUSTOS_EINVAL);
	wish.id = "a\nb";
	ck_assert_int_eq(ku_item_head(KU_ITEM_ID, &wish, &head), KUSTOS_EINVAL);
	ck_assert_ptr_null(head);
	wish.priority = 999;
	wish.due_ms = INT64_MAX;
	expect_head(KU_ITEM_KAZOO, &wish, "entry-999-");
	expect_head(KU_ITEM_DELAY, &wish, "queue-|7FFFFFFFFFFFFFFF|");
}
END_TEST

START_TEST(an_item_of_which_nothing_is_said_is_an_ordinary_one)
{
	const struct ku_item_wish nothing = { .id = NULL };

	expect_head(KU_ITEM_SIMPLE, &nothing, "qn-");
	expect_head(KU_ITEM_FRAMED, &nothing, "queue-");
	expect_head(KU_ITEM_PRIORITY, &nothing, "queue-100000000");
	expect_head(KU_ITEM_DELAY, &nothing, "queue-|00000000|");
	expect_head(KU_ITEM_ID, &nothing, "queue-||");
	expect_head(KU_ITEM_KAZOO, &nothing, "entry-000-");
}
END_TEST

START_TEST(ids_are_cleaned_and_found_again)
{
	struct ku_item_wish wish = { .id = "a/b|c" };
	char *name = name_of(KU_ITEM_ID, &wish, 3);
	struct ku_item item = parsed(KU_ITEM_ID, name);

	ck_assert_str_eq(name, "queue-|a_b_c|0000000003");
	ck_assert(ku_item_has_id(&item, "a/b|c"));
	ck_assert(ku_item_has_id(&item, "a_b_c"));
	ck_assert(!ku_item_has_id(&item, "a_b_"));
	ck_assert(!ku_item_has_id(&item, "a_b_cd"));
	ck_assert(!ku_item_has_id(&item, NULL));
	free(name);
	wish.id = "";
	name = name_of(KU_ITEM_ID, &wish, 4);
	ck_assert_str_eq(name, "queue-||0000000004");
	item = parsed(KU_ITEM_ID, name);
	ck_assert(ku_item_has_id(&item, ""));
	free(name);
	item = parsed(KU_ITEM_ID, "queue-0000000004");
	ck_assert(!ku_item_has_id(&item, ""));
}
END_TEST

/* Otherwise an item would be passed over in silence. */
START_TEST(an_id_is_known_also_when_memory_is_short)
{
	struct ku_item item;

	ck_assert(ku_item_parse(KU_ITEM_ID, "queue-|a_b|0000000001", &item));
	fault_after(0);
	bool known = ku_item_has_id(&item, "a/b");
	(void)fault_end();
	ck_assert(known);
}
END_TEST

START_TEST(other_names_are_nobodys_items)
{
	static const char *const names[] = { "", "qn-", "queue-", "entry-",
		"qn-000000001", "qn-00000000001", "qn-x0000000001",
		"qn-0000000001x", "qn-2147483648", "qn--0000000000",
		"qn- 000000001", "qn-+000000001", "queue-x0000000001",
		"queue-20000000000000000001", "queue-0fffffff60000000001",
		"queue-|x", "queue-|x0000000001", "queue-|x|", "queue-|x|y|z",
		"entry-0000000001", "entry-10-0000000001",
		"entry-100-000000001", "entry-x00-0000000001",
		"entry-99999999999-0000000001", "entry-9999999999-0000000001",
		"lock-0000000001", "config" };
	struct ku_item item;

	for (size_t k = 0; k < UNIT_COUNT(kinds); k++)
		for (size_t i = 0; i < UNIT_COUNT(names); i++)
			ck_assert_msg(!ku_item_parse(kinds[k], names[i], &item),
				"%s", names[i]);
	ck_assert(!ku_item_parse(KU_ITEM_SIMPLE, "queue-0000000001", &item));
	ck_assert(!ku_item_parse(KU_ITEM_FRAMED, "qn-0000000001", &item));
	ck_assert(!ku_item_parse(KU_ITEM_KAZOO, "qn-0000000001", &item));
}
END_TEST

/* Check that each name is before the next. */
static void expect_order(enum ku_item_kind kind, const char *const *names)
{
	for (; names[1] != NULL; names++) {
		struct ku_item a = parsed(kind, names[0]);
		struct ku_item b = parsed(kind, names[1]);

		ck_assert_msg(ku_item_before(&a, &b) && !ku_item_before(&b, &a),
			"%s, %s", names[0], names[1]);
		ck_assert(!ku_item_before(&a, &a));
	}
}

#define ORDER(kind, ...) \
	expect_order(kind, (const char *const[]){ __VA_ARGS__, NULL })

START_TEST(S17_what_peers_write_is_in_its_order)
{
	/* Curator puts items back without a key: they are first. */
	ORDER(KU_ITEM_PRIORITY, "queue-0000000009", "queue-0800000000000000002",
		"queue-0FFFFFFF60000000001", "queue-1000000000000000000",
		"queue-1000000000000000003", "queue-10000000A0000000002");
	/* Later ones stand among the keys, as text does; those numbered from
	   2,000,000,000 on stand last. */
	ORDER(KU_ITEM_PRIORITY, "queue--2147483648", "queue-0999999999",
		"queue-0FFFFFFFF0000000001", "queue-1000000000000000001",
		"queue-17FFFFFFF0000000001", "queue-1999999999",
		"queue-2000000000", "queue-2147483647");
	/* Here they are due at once; and so are items whose time cannot be
	   read. */
	ORDER(KU_ITEM_DELAY, "queue-0000000001", "queue-|x|0000000002",
		"queue-|1A1FA1B2383F1A1FA1B2383F|0000000003",
		"queue-|FFFFFFFFFFFFFFF6|0000000004",
		"queue-|000000FF|0000000002", "queue-|1a1fa1b2383|0000000001",
		"queue-|1A1FA1B2383|0000000007",
		"queue-|1A1FA1B2384|0000000001");
	ORDER(KU_ITEM_ID, "queue-|z|0000000001", "queue-0000000002",
		"queue-|a|0000000003", "queue-|a|0000000004");
	ORDER(KU_ITEM_FRAMED, "queue-17FFFFFFF0000000001",
		"queue-|z|0000000002", "queue-0000000003");
	ORDER(KU_ITEM_KAZOO, "entry--05-0000000003", "entry-000-0000000002",
		"entry-999-0000000001", "entry-1000-0000000000");
	/* Servers that go on after the last number continue below zero. */
	ORDER(KU_ITEM_SIMPLE, "qn-0000000000", "qn-2147483647",
		"qn--2147483648", "qn--1500000000", "qn--000000005");
	/* Of ids that share the last number, one is the first. */
	ORDER(KU_ITEM_ID, "queue-|a|2147483647", "queue-|b|2147483647");
}
END_TEST

static void random_wish(struct ku_random *random, struct ku_item_wish *wish)
{
	int bits = 1 + (int)ku_random_below(random, 32);

	*wish = (struct ku_item_wish){ .id = "x" };
	wish->priority = (int32_t)ku_random_next(random) >> (32 - bits);
	wish->due_ms = (int64_t)(ku_random_next(random) >> (64 - bits));
}

/* Return the key by which a kind sorts. */
static int64_t wished(enum ku_item_kind kind, const struct ku_item_wish *wish)
{
	if (kind == KU_ITEM_PRIORITY || kind == KU_ITEM_KAZOO)
		return wish->priority;
	return kind == KU_ITEM_DELAY ? wish->due_ms : 0;
}

static void check_pair(enum ku_item_kind kind, struct ku_random *random)
{
	struct ku_item_wish wishes[2];
	int32_t numbers[2];
	struct ku_item items[2];
	char *names[2];
	bool before;

	for (int i = 0; i < 2; i++) {
		random_wish(random, &wishes[i]);
		if (kind == KU_ITEM_KAZOO)
			wishes[i].priority = (int32_t)ku_random_below(random,
				KU_ITEM_KAZOO_MAX + 1);
		if (i == 1 && ku_random_below(random, 2) == 0)
			wishes[1] = wishes[0];
		numbers[i] = (int32_t)(ku_random_next(random) >> 33);
		names[i] = name_of(kind, &wishes[i], numbers[i]);
		items[i] = parsed(kind, names[i]);
		if (kind == KU_ITEM_PRIORITY || kind == KU_ITEM_KAZOO)
			ck_assert_int_eq(ku_item_priority(kind, &items[i]),
				wishes[i].priority);
	}
	before = wished(kind, &wishes[0]) < wished(kind, &wishes[1]) ||
		(wished(kind, &wishes[0]) == wished(kind, &wishes[1]) &&
			numbers[0] < numbers[1]);
	ck_assert_msg(ku_item_before(&items[0], &items[1]) == before, "%s, %s",
		names[0], names[1]);
	/* Peers that sort names as text get the same order. */
	if (kind != KU_ITEM_DELAY)
		ck_assert_msg((strcmp(names[0], names[1]) < 0) == before,
			"%s, %s", names[0], names[1]);
	free(names[0]);
	free(names[1]);
}

START_TEST(S17_the_order_is_that_of_key_and_number)
{
	struct ku_random random;

	ku_random_seed(&random, 17);
	for (int i = 0; i < ROUNDS; i++)
		for (size_t k = 0; k < UNIT_COUNT(kinds); k++)
			check_pair(kinds[k], &random);
}
END_TEST

START_TEST(S17_an_item_put_back_a_thousand_times_keeps_its_key)
{
	struct ku_random random;
	struct ku_item_wish wish;

	ku_random_seed(&random, 56);
	for (size_t k = 0; k < UNIT_COUNT(kinds); k++) {
		random_wish(&random, &wish);
		if (kinds[k] == KU_ITEM_KAZOO)
			wish.priority = 42;
		char *name = name_of(kinds[k], &wish, 0);
		struct ku_item item = parsed(kinds[k], name);
		uint64_t key = item.key;
		size_t len = strlen(name);

		for (int32_t i = 1; i <= 1000; i++) {
			char *again = numbered(
				ku_item_again(kinds[k], &item, false), i);

			free(name);
			name = again;
			item = parsed(kinds[k], name);
			ck_assert_uint_eq(item.key, key);
			ck_assert_uint_eq(item.number, (uint32_t)i);
			ck_assert_uint_eq(strlen(name), len);
		}
		ck_assert(kinds[k] != KU_ITEM_ID || ku_item_has_id(&item, "x"));
		free(name);
	}
}
END_TEST

START_TEST(put_back_as_curator_does_it_loses_its_key_but_no_id)
{
	static const struct {
		enum ku_item_kind kind;
		const char *name, *head;
	} rows[] = {
		{ KU_ITEM_PRIORITY, "queue-0FFFFFFF60000000001", "queue-" },
		{ KU_ITEM_DELAY, "queue-|1A1FA1B2383|0000000001", "queue-" },
		{ KU_ITEM_ID, "queue-|a_b|0000000001", "queue-|a_b|" },
		{ KU_ITEM_FRAMED, "queue-0000000001", "queue-" },
		{ KU_ITEM_KAZOO, "entry-007-0000000001", "entry-007-" },
		{ KU_ITEM_SIMPLE, "qn-0000000001", "qn-" },
	};

	for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
		struct ku_item item = parsed(rows[i].kind, rows[i].name);
		char *head = ku_item_again(rows[i].kind, &item, true);

		ck_assert_str_eq(head, rows[i].head);
		free(head);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("items of queues, names");
	TCase *t = tcase_create("names");

	tcase_add_test(t, names_are_those_that_peers_were_seen_to_write);
	tcase_add_test(t, S17_what_does_not_fit_is_refused);
	tcase_add_test(t, an_item_of_which_nothing_is_said_is_an_ordinary_one);
	tcase_add_test(t, ids_are_cleaned_and_found_again);
	tcase_add_test(t, an_id_is_known_also_when_memory_is_short);
	tcase_add_test(t, other_names_are_nobodys_items);
	tcase_add_test(t, S17_what_peers_write_is_in_its_order);
	tcase_add_test(t, S17_the_order_is_that_of_key_and_number);
	tcase_add_test(t, S17_an_item_put_back_a_thousand_times_keeps_its_key);
	tcase_add_test(t, put_back_as_curator_does_it_loses_its_key_but_no_id);
	suite_add_tcase(s, t);
	return unit_main(s);
}
