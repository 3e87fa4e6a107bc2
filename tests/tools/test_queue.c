/*
 * test_queue.c - kustos queue: items go in and come out as lines, wait for room
 * or for items, and are listed.
 */
#include "cli.h"

#include "fixture.h"
#include "proxy.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS "/queues/jobs"
#define SHARDS "/queues"
#define SHARD "/queues/queue-1"
#define RECEIPTS "/elsewhere/receipts"
#define MANY 2000 /* in JSON, more than fits in a pipe */

static struct cli a, b;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

START_TEST(lines_go_in_and_come_out_in_order)
{
	cli_start(&a, "queue", "put", JOBS);
	cli_type(&a, "one\n\nthree");
	cli_eof(&a);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "four", "5 6"), 0);
	ck_assert_int_eq(fixture_children(JOBS), 5);
	ck_assert_int_eq(cli_run(&a, "queue", "peek", JOBS), 0);
	ck_assert_str_eq(a.out_text, "one\n");
	ck_assert_int_eq(cli_run(&a, "queue", "take", JOBS), 0);
	ck_assert_str_eq(a.out_text, "one\n");
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-c", "4", "-z", JOBS),
		0);
	ck_assert_uint_eq(a.out_len, strlen("_three_four_5 6_"));
	ck_assert_int_eq(memcmp(a.out_text, "\0three\0four\0005 6", 16), 0);
	ck_assert_int_eq(fixture_children(JOBS), 0);
}
END_TEST

START_TEST(what_goes_in_may_be_ended_by_zero_bytes)
{
	const char *argv[] = { "sh", "-c",
		"printf 'one\\ntwo\\0three' | \"$0\" queue put -z \"$1\"",
		cli_program(), JOBS, NULL };

	cli_start_argv(&a, argv);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-c2", JOBS), 0);
	ck_assert_str_eq(a.out_text, "one\ntwo\nthree\n");
	ck_assert_int_eq(fixture_children(JOBS), 0);
}
END_TEST

START_TEST(who_takes_waits_for_an_item)
{
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-w0", JOBS), 120);
	cli_hears_error(&a, "kustos: " JOBS ": there is no item\n");
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-w0.1", JOBS), 121);
	cli_hears_error(&a, JOBS ": there was no item for 0.1 s\n");
	/* Only 0 is no time at all. */
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-w1e-9", JOBS), 121);
	ck_assert_int_eq(cli_run(&a, "queue", "peek", "-w0", JOBS), 120);
	cli_start(&a, "queue", "take", JOBS);
	test_never(!cli_runs(&a), 100);
	ck_assert_int_eq(cli_run(&b, "queue", "put", JOBS, "at last"), 0);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_str_eq(a.out_text, "at last\n");
}
END_TEST

/* The item is gone, and it is in nobody's hands while the answer is kept. */
START_TEST(what_was_being_taken_when_the_time_ran_out_is_printed)
{
	struct proxy *proxy = fixture_proxy();

	ck_assert_int_eq(cli_run(&b, "queue", "put", JOBS, "only"), 0);
	proxy_arm(proxy, PROXY_HOLD_REPLY, ZK_OP_MULTI, 1);
	cli_start(&a, "queue", "take", "-w1", "--session-timeout=60000",
		"--hosts", proxy_address(proxy), JOBS);
	test_within(fixture_children(JOBS) == 0, CLI_MS);
	test_never(!cli_runs(&a) || cli_has_spoken(&a), 1500);
	proxy_set_mode(proxy, PROXY_PASS);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_str_eq(a.out_text, "only\n");
	ck_assert_str_eq(a.err_text, "");
	ck_assert_int_eq(fixture_children(JOBS), 0);
	proxy_free(proxy);
}
END_TEST

START_TEST(a_full_queue_is_waited_for)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "a", "b"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "put", "--max-items", "2",
				 "-w1.5", JOBS, "c"),
		121);
	cli_hears_error(&a, JOBS ": there was no room for 1.5 s\n");
	ck_assert_int_eq(
		cli_run(&a, "queue", "put", "--max-items=2", "-w0", JOBS, "c"),
		120);
	cli_hears_error(&a, JOBS ": there is no room\n");
	ck_assert_ptr_null(strstr(a.err_text, "for certain"));
	cli_start(&a, "queue", "put", "--max-items", "2", JOBS, "d");
	test_never(!cli_runs(&a), 100);
	ck_assert_int_eq(cli_run(&b, "queue", "take", "-c2", JOBS), 0);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(fixture_children(JOBS), 1);
}
END_TEST

/* More than fits in memory: there is room enough in the queue. */
START_TEST(however_much_is_put_at_once_if_there_is_room)
{
	static const char script[] =
		"head -c 12000000 /dev/zero | tr '\\0' x | fold -w 100000 |"
		" \"$0\" queue put -w0 \"$1\"";
	const char *argv[] = { "sh", "-c", script, cli_program(), JOBS, NULL };

	cli_start_argv(&a, argv);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(fixture_children(JOBS), 120);
}
END_TEST

/* The caller can continue from there. */
START_TEST(who_cannot_put_all_is_told_how_much_is_there)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", "--max-items=2", "-w2",
				 JOBS, "a", "b", "c", "d"),
		121);
	cli_hears_error(&a, JOBS ": the first 2 are there for certain\n");
	ck_assert_int_eq(fixture_children(JOBS), 2);
}
END_TEST

/* Curator's QueueSharder takes each node beside a shard for a shard. */
START_TEST(a_shard_gets_no_neighbour_if_told_so)
{
	ck_assert_int_eq(raw_create(fixture_address(), SHARDS, ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), SHARD, ""), 0);
	cli_start(&a, "queue", "put", "--receipts", RECEIPTS, SHARD);
	cli_type(&a, "one\n");
	test_within(fixture_children(SHARD) == 1, CLI_MS);
	ck_assert_int_eq(fixture_children(RECEIPTS), 1);
	cli_start(&b, "queue", "take", "-c2", "--receipts", RECEIPTS, SHARD);
	test_within(fixture_children(RECEIPTS) == 2, CLI_MS);
	cli_type(&a, "two\n");
	cli_eof(&a);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(cli_end(&b), 0);
	ck_assert_str_eq(b.out_text, "one\ntwo\n");
	test_within(fixture_children(RECEIPTS) == 0, CLI_MS);
	ck_assert_int_eq(cli_run(&a, "queue", "put", "--receipts", RECEIPTS,
				 SHARD, "three"),
		0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1", "--lock-path",
				 "/elsewhere/locks", SHARD, "true"),
		0);
	ck_assert_int_eq(fixture_children(SHARDS), 1);
}
END_TEST

START_TEST(what_is_listed_can_be_read_by_programs)
{
	ck_assert_int_eq(cli_run(&a, "queue", "ls", JOBS), 117);
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x", "yy"), 0);
	ck_assert_int_eq(raw_create(fixture_address(), JOBS "/other", ""), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "ls", "--json", JOBS), 0);
	cli_hears(&a,
		"{\"item\":\"qn-0000000000\",\"bytes\":1,"
		"\"deliveries\":0,\"since_ms\":");
	ck_assert_ptr_null(strstr(a.out_text, "other"));
	ck_assert_int_eq(cli_run(&a, "queue", "ls", "-c1", JOBS), 0);
	ck_assert_ptr_null(strstr(a.out_text, "qn-0000000001"));
}
END_TEST

/* Put MANY items and run "script", in which "$0" is the command. */
static int list_many(const char *script)
{
	const char *argv[] = { "sh", "-c", script, cli_program(), NULL };

	cli_start(&a, "queue", "put", JOBS);
	for (int i = 0; i < MANY; i++)
		cli_type(&a, "x\n");
	cli_eof(&a);
	ck_assert_int_eq(cli_end(&a), 0);
	cli_start_argv(&b, argv);
	return cli_end(&b);
}

START_TEST(many_are_listed_each_once_and_in_order)
{
	ck_assert_int_eq(list_many("\"$0\" queue ls " JOBS " | cut -d' ' -f1 |"
				   " LC_ALL=C sort -cu && \"$0\" queue ls " JOBS
				   " | wc -l"),
		0);
	ck_assert_int_eq(atoi(b.out_text), MANY);
}
END_TEST

/* The listing process waits for the pipe to be read, so it has not looked at
   the last items when these are deleted. */
START_TEST(items_that_go_while_they_are_listed_are_left_out)
{
	ck_assert_int_eq(
		list_many("\"$0\" queue ls --json " JOBS " | {"
			  " read -r first;"
			  " \"$0\" barrier remove " JOBS "/qn-0000001990;"
			  " \"$0\" barrier remove " JOBS "/qn-0000001999;"
			  " cut -d'\"' -f4 | tail -n 9 | cut -c 4-; }"),
		0);
	ck_assert_str_eq(b.err_text, "");
	ck_assert_str_eq(b.out_text,
		"0000001989\n0000001991\n0000001992\n0000001993\n"
		"0000001994\n0000001995\n0000001996\n0000001997\n"
		"0000001998\n");
}
END_TEST

static const struct {
	const char *arguments[6], *says;
} wrong[] = {
	{ { NULL }, "no action given" },
	{ { "give", JOBS }, "'give' is not an action of kustos queue" },
	{ { "take" }, "no PATH given" },
	{ { "take", JOBS, "x" }, "more than one PATH" },
	{ { "consume", JOBS }, "no COMMAND given" },
	{ { "take", "-k", "odd", JOBS }, "-k odd is not simple, framed" },
	{ { "take", "--requeue", JOBS }, "'take' has no --requeue" },
	{ { "put", "-c", "2", JOBS }, "'put' has no -c" },
	{ { "put", "--id", "x", JOBS }, "--id is for -k id" },
	{ { "put", "-k", "id", JOBS }, "items of -k id need an --id" },
	{ { "put", "--delay", "1", JOBS }, "--delay is for -k delay" },
	{ { "put", "--priority", "1", JOBS }, "--priority is for -k" },
	{ { "put", "--max-items", "0", JOBS }, "--max-items 0 is not" },
	{ { "consume", "--deliveries", "1", JOBS, "x" },
		"--deliveries and --dead-letters go together" },
	{ { "take", "-k", "kazoo-locking", JOBS }, "not taken, but consumed" },
	{ { "put", "-k", "kazoo", "--priority=1000", JOBS, "x" },
		"cannot have such a priority" },
	{ { "consume", "--lock-path", "locks", JOBS, "x" },
		"locks is not a path of ZooKeeper" },
	{ { "consume", "--lock-path", JOBS, JOBS, "x" },
		"PATH, --lock-path and --dead-letters are not three paths" },
	{ { "consume", "--deliveries=1", "--dead-letters", JOBS, JOBS, "x" },
		"PATH, --lock-path and --dead-letters are not three paths" },
	{ { "consume", "-kkazoo-locking", "--lock-path", "/l", JOBS, "x" },
		"of -k kazoo-locking there is no --lock-path" },
	{ { "put", "--receipts", "receipts", JOBS, "x" },
		"receipts is not a path of ZooKeeper" },
	{ { "put", "--receipts", JOBS, JOBS, "x" },
		"--receipts must not be PATH or below it" },
	{ { "take", "--receipts", JOBS "/x", JOBS },
		"--receipts must not be PATH or below it" },
	{ { "peek", "--receipts", "/x", JOBS }, "'peek' has no --receipts" },
	{ { "consume", "--requeue", "--deliveries=2", "--dead-letters=/dead",
		  JOBS, "x" },
		"it does not go with --deliveries" },
};
#define WRONG (int)(sizeof(wrong) / sizeof(wrong[0]))

START_TEST(wrong_use_is_told)
{
	const char *argv[9] = { cli_program(), "queue" };

	for (int i = 0; i < 6; i++)
		argv[2 + i] = wrong[_i].arguments[i];
	cli_start_argv(&a, argv);
	ck_assert_int_eq(cli_end(&a), 125);
	cli_hears_error(&a, wrong[_i].says);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos queue");
	TCase *t = fixture_case(s, "one server", 120);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, lines_go_in_and_come_out_in_order);
	tcase_add_test(t, what_goes_in_may_be_ended_by_zero_bytes);
	tcase_add_test(t, who_takes_waits_for_an_item);
	tcase_add_test(t,
		what_was_being_taken_when_the_time_ran_out_is_printed);
	tcase_add_test(t, a_full_queue_is_waited_for);
	tcase_add_test(t, however_much_is_put_at_once_if_there_is_room);
	tcase_add_test(t, who_cannot_put_all_is_told_how_much_is_there);
	tcase_add_test(t, a_shard_gets_no_neighbour_if_told_so);
	tcase_add_test(t, what_is_listed_can_be_read_by_programs);
	tcase_add_test(t, many_are_listed_each_once_and_in_order);
	tcase_add_test(t, items_that_go_while_they_are_listed_are_left_out);
	tcase_add_loop_test(t, wrong_use_is_told, 0, WRONG);
	return fixture_main(s);
}
