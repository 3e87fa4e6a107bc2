/*
 * test_queue_kinds.c - kustos queue with queues of all kinds: how the kind is
 * found out, in which order items come, and what is no item.
 */
#include "cli.h"

#include "fixture.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS "/queues/jobs"

static struct cli a, b;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

/* The order in which items come out of a queue of this kind. */
static const struct kind {
	const char *name, *option, *first, *second, *wanted;
} kinds[] = {
	{ "framed", NULL, NULL, NULL, "a\nb\n" },
	{ "priority", "--priority", "3", "-3", "b\na\n" },
	{ "delay", "--delay", "0.2", "0", "b\na\n" },
	{ "id", "--id", "y", "b", "a\nb\n" },
	{ "kazoo", "--priority", "3", "2", "b\na\n" },
};
#define KINDS (int)(sizeof(kinds) / sizeof(kinds[0]))

static void put_kind(const struct kind *k, const char *value, const char *item)
{
	if (k->option == NULL)
		ck_assert_int_eq(
			cli_run(&a, "queue", "put", "-k", k->name, JOBS, item),
			0);
	else
		ck_assert_int_eq(cli_run(&a, "queue", "put", "-k", k->name,
					 k->option, value, JOBS, item),
			0);
}

START_TEST(each_kind_has_its_order)
{
	const struct kind *k = &kinds[_i];

	put_kind(k, k->first, "a");
	put_kind(k, k->second, "b");
	ck_assert_int_eq(cli_run(&a, "queue", "ls", "-k", k->name, JOBS), 0);
	cli_hears(&a, strcmp(k->name, "kazoo") == 0 ? "entry-" : "queue-");
	ck_assert_int_eq(
		cli_run(&a, "queue", "take", "-k", k->name, "-c", "2", JOBS),
		0);
	ck_assert_str_eq(a.out_text, k->wanted);
}
END_TEST

START_TEST(the_least_and_the_greatest_priority_can_be_said)
{
	put_kind(&kinds[1], "2147483647", "last");
	put_kind(&kinds[1], "-2147483647", "first");
	ck_assert_int_eq(cli_run(&a, "queue", "ls", JOBS), 0);
	ck_assert_int_eq(strncmp(a.out_text, "queue-0800000010", 16), 0);
	cli_hears(&a, "\nqueue-17FFFFFFF0");
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-c2", JOBS), 0);
	ck_assert_str_eq(a.out_text, "first\nlast\n");
}
END_TEST

/* What is listed and printed, and in which order, is the same. */
START_TEST(who_looks_need_not_say_the_kind)
{
	const struct kind *k = &kinds[_i];

	put_kind(k, k->first, "a");
	put_kind(k, k->second, "b");
	ck_assert_int_eq(
		cli_run(&a, "queue", "ls", "--json", "-k", k->name, JOBS), 0);
	ck_assert_int_eq(cli_run(&b, "queue", "ls", "--json", JOBS), 0);
	ck_assert_ptr_nonnull(strstr(b.out_text, "}\n{"));
	ck_assert_str_eq(b.out_text, a.out_text);
	ck_assert_int_eq(cli_run(&b, "queue", "peek", JOBS), 0);
	ck_assert_uint_eq(b.out_len, 2);
	ck_assert_int_eq(memcmp(b.out_text, k->wanted, 2), 0);
	/* With another kind no items are seen. */
	ck_assert_int_eq(cli_run(&b, "queue", "ls", "-k", "simple", JOBS), 0);
	ck_assert_str_eq(b.out_text, "");
}
END_TEST

START_TEST(who_takes_need_not_say_the_kind)
{
	const struct kind *k = &kinds[_i];

	put_kind(k, k->first, "a");
	put_kind(k, k->second, "b");
	ck_assert_int_eq(cli_run(&a, "queue", "take", JOBS), 0);
	ck_assert_uint_eq(a.out_len, 2);
	ck_assert_int_eq(memcmp(a.out_text, k->wanted, 2), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1", JOBS, "cat"),
		0);
	ck_assert_uint_eq(a.out_len, 1);
	ck_assert_int_eq(a.out_text[0], k->wanted[2]);
	ck_assert_int_eq(fixture_children(JOBS), 0);
}
END_TEST

/* The order is that of the text only with priorities.  Items of one key are ordered by number,
   the last of which are negative; and peers may write other keys. */
START_TEST(S17_the_first_that_is_listed_is_the_first_that_is_taken)
{
	static const struct {
		const char *kind, *first, *second;
	} pairs[] = { { "simple", "qn-2147483647", "qn--2147483648" },
		{ "simple", "qn--2147483648", "qn--2147483647" },
		{ "priority", "queue-17FFFFFFF0000000001", "queue-2000000000" },
		{ "delay", "queue-|0|0000000003", "queue-0000000005" },
		{ "delay", "queue-|FFFFFFFFFF|0000000003",
			"queue-|10000000000|0000000001" },
		{ "id", "queue-|z|0000000003", "queue-0000000005" },
		{ "kazoo", "entry-999-0000000003", "entry-1000-0000000001" },
		{ "kazoo", "entry--05-0000000003", "entry-000-0000000001" } };
	const char *first = pairs[_i].first,
		   *names[] = { pairs[_i].second, first };
	char path[64], says[64];

	ck_assert_int_eq(raw_create(fixture_address(), "/queues", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), JOBS, ""), 0);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), JOBS "/%s", names[i]);
		ck_assert_int_eq(raw_create(fixture_address(), path, ""), 0);
	}
	ck_assert_int_eq(
		cli_run(&a, "queue", "ls", "-c1", "-k", pairs[_i].kind, JOBS),
		0);
	snprintf(says, sizeof(says), "%s  ", first);
	ck_assert_int_eq(strncmp(a.out_text, says, strlen(says)), 0);
}
END_TEST

/* A name that only looks like an item's: it has more digits than a server
   writes, or something else than the key before them. */
START_TEST(what_is_no_item_says_no_kind_and_is_not_listed)
{
	static const char *const names[] = { "qn-99999999999", "qn-x0000000001",
		"qn-9999999999", "entry-0000000001", "entry-100-x0000000001",
		"queue-|a|99999999999", "queue-27FFFFFFF0000000001",
		"queue-17fffffff0000000001" };
	const char *name = names[_i];
	char path[64];

	snprintf(path, sizeof(path), JOBS "/%s", name);
	ck_assert_int_eq(raw_create(fixture_address(), "/queues", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), JOBS, ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), path, ""), 0);
	put_kind(&kinds[1], "3", "a");
	ck_assert_int_eq(cli_run(&a, "queue", "ls", JOBS), 0);
	cli_hears(&a, "queue-1000000030");
	ck_assert_ptr_null(strstr(a.out_text, name));
	ck_assert_int_eq(cli_run(&a, "top", "--once", JOBS), 0);
	cli_hears(&a, "queue          0      1 ");
}
END_TEST

static void check_refused(const char *verb, const char *kind, const char *last,
	const char *says)
{
	const char *argv[] = { cli_program(), "queue", verb, JOBS, "-k", kind,
		last, NULL };

	cli_start_argv(&a, argv);
	ck_assert_int_eq(cli_end(&a), 125);
	cli_hears_error(&a, says);
}

START_TEST(items_of_another_kind_are_not_mixed_in_nor_taken_for_such)
{
	static const char *const verbs[][2] = { { "put", "x" },
		{ "take", NULL }, { "peek", NULL }, { "consume", "true" } };
	const struct kind *k = &kinds[_i];
	char says[64];

	put_kind(k, k->first, "a");
	snprintf(says, sizeof(says), "of -k %s, not of -k kazoo-locking",
		k->name);
	for (int i = 0; i < 4; i++)
		check_refused(verbs[i][0], "kazoo-locking", verbs[i][1], says);
	snprintf(says, sizeof(says), "of -k %s, not of -k simple", k->name);
	for (int i = 0; i < 4; i++)
		check_refused(verbs[i][0], "simple", verbs[i][1], says);
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x"), 125);
	cli_hears_error(&a, says);
	ck_assert_int_eq(fixture_children(JOBS), 1);
}
END_TEST

/* An item with a key is not taken for one without.  The other way round is
   possible, as Curator puts items back without a key. */
START_TEST(items_without_a_key_may_be_of_a_kind_with_keys)
{
	put_kind(&kinds[0], NULL, "a");
	put_kind(&kinds[1], "-3", "b");
	check_refused("take", "framed", NULL, "of -k priority, not");
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-c2", JOBS), 0);
	ck_assert_str_eq(a.out_text, "a\nb\n");
	put_kind(&kinds[0], NULL, "a");
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-k", "delay", JOBS), 0);
	ck_assert_str_eq(a.out_text, "a\n");
}
END_TEST

START_TEST(who_finds_several_kinds_has_to_choose)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "a"), 0);
	ck_assert_int_eq(raw_create(fixture_address(),
				 JOBS "/entry-100-0000000001", "b"),
		0);
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-w0", JOBS), 125);
	cli_hears_error(&a, "of several kinds: say one with -k");
	ck_assert_int_eq(cli_run(&a, "queue", "ls", JOBS), 125);
	check_refused("put", "framed", "x", "no item of " JOBS " is of -k fr");
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-k", "kazoo", JOBS), 0);
	ck_assert_str_eq(a.out_text, "b\n");
	ck_assert_int_eq(cli_run(&a, "queue", "take", JOBS), 0);
	ck_assert_str_eq(a.out_text, "a\n");
}
END_TEST

START_TEST(kazoos_folders_are_seen_as_what_they_are)
{
	ck_assert_int_eq(
		cli_run(&a, "queue", "put", "-k", "kazoo-locking", JOBS, "a"),
		0);
	ck_assert_int_eq(cli_run(&a, "queue", "ls", JOBS), 0);
	ck_assert_int_eq(strncmp(a.out_text, "entry-100-0000000000", 20), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "peek", JOBS), 0);
	ck_assert_str_eq(a.out_text, "a\n");
	ck_assert_int_eq(cli_run(&a, "queue", "take", JOBS), 125);
	cli_hears_error(&a, "not taken, but consumed");
	check_refused("put", "kazoo", "x", "of -k kazoo-locking, not of");
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1", JOBS, "cat"),
		0);
	ck_assert_str_eq(a.out_text, "a");
}
END_TEST

/* A time; then an id that looks like a time, beside one that does not. */
START_TEST(an_id_is_told_from_a_time)
{
	static const char late[] = JOBS "/queue-|19A1B2C3D4E|0000000001",
			  early[] = JOBS "/queue-|19A1B2C3D4D|0000000002",
			  word[] = JOBS "/queue-|word|0000000003";

	ck_assert_int_eq(raw_create(fixture_address(), "/queues", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), JOBS, ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), late, ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), early, ""), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "ls", "-c1", JOBS), 0);
	ck_assert_int_eq(strncmp(a.out_text, "queue-|19A1B2C3D4D|", 19), 0);
	ck_assert_int_eq(raw_create(fixture_address(), word, ""), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "ls", "-c1", JOBS), 0);
	ck_assert_int_eq(strncmp(a.out_text, "queue-|19A1B2C3D4E|", 19), 0);
}
END_TEST

START_TEST(what_is_no_item_is_told_and_left_where_it_is)
{
	static const char broken[] = JOBS "/queue-0000000007";

	put_kind(&kinds[0], NULL, "a");
	ck_assert_int_eq(raw_create(fixture_address(), broken, "no frame"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-c2", "-w0", JOBS), 120);
	ck_assert_str_eq(a.out_text, "a\n");
	cli_hears_error(&a,
		JOBS ": queue-0000000007 is not an item of this kind\n");
	ck_assert_int_eq(cli_run(&a, "queue", "peek", "-w0", JOBS), 120);
	cli_hears_error(&a,
		JOBS ": queue-0000000007 is not an item of this kind\n");
	ck_assert_int_eq(fixture_children(JOBS), 1);
}
END_TEST

/* Curator's QueueSharder has more queues below the node of one queue. */
START_TEST(a_shard_is_no_item)
{
	static const char shard[] = JOBS
		"/queue-550e8400-e29b-41d4-a716-446655440000";

	put_kind(&kinds[0], NULL, "a");
	ck_assert_int_eq(raw_create(fixture_address(), shard, ""), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "ls", JOBS), 0);
	ck_assert_int_eq(strncmp(a.out_text, "queue-0000000000 ", 17), 0);
	ck_assert_ptr_null(strstr(a.out_text, "550e8400"));
}
END_TEST

/* An id may be longer than any other name. */
START_TEST(a_command_is_told_the_whole_name_of_its_item)
{
	char id[601] = "", name[700];

	memset(id, 'x', sizeof(id) - 1);
	snprintf(name, sizeof(name), "<queue-|%s|0000000000>\n", id);
	ck_assert_int_eq(
		cli_run(&a, "queue", "put", "-kid", "--id", id, JOBS, "a"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1", JOBS, "sh",
				 "-c", "echo \"<$KUSTOS_ITEM>\""),
		0);
	ck_assert_str_eq(a.out_text, name);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos queue, kinds");
	TCase *t = fixture_case(s, "one server", 120);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_loop_test(t, what_is_no_item_says_no_kind_and_is_not_listed,
		0, 8);
	tcase_add_loop_test(t,
		S17_the_first_that_is_listed_is_the_first_that_is_taken, 0, 8);
	tcase_add_loop_test(t, each_kind_has_its_order, 0, KINDS);
	tcase_add_test(t, the_least_and_the_greatest_priority_can_be_said);
	tcase_add_loop_test(t, who_looks_need_not_say_the_kind, 0, KINDS);
	tcase_add_loop_test(t, who_takes_need_not_say_the_kind, 0, KINDS);
	tcase_add_loop_test(t,
		items_of_another_kind_are_not_mixed_in_nor_taken_for_such, 0,
		KINDS);
	tcase_add_test(t, items_without_a_key_may_be_of_a_kind_with_keys);
	tcase_add_test(t, who_finds_several_kinds_has_to_choose);
	tcase_add_test(t, kazoos_folders_are_seen_as_what_they_are);
	tcase_add_test(t, an_id_is_told_from_a_time);
	tcase_add_test(t, what_is_no_item_is_told_and_left_where_it_is);
	tcase_add_test(t, a_shard_is_no_item);
	tcase_add_test(t, a_command_is_told_the_whole_name_of_its_item);
	return fixture_main(s);
}
