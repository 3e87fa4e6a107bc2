/*
 * test_queue.c - kustos queue: lines in and out, and a command for each item.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* prlimit() */
#endif
#include "cli.h"

#include "fixture.h"
#include "proxy.h"
#include "raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define JOBS "/queues/jobs"
#define DEAD "/queues/dead"
#define OTHER "/queues/other"
#define FIRST JOBS "/qn-0000000000"
#define MANY 2000 /* more, in JSON, than a pipe takes */

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

START_TEST(a_full_queue_is_waited_for)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "a", "b"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "put", "--max-items", "2",
				 "-w0.1", JOBS, "c"),
		121);
	cli_hears_error(&a, JOBS ": there was no room for 0.1 s\n");
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

/* More than may wait in memory: that is room enough. */
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

/* It can be gone on from there. */
START_TEST(who_cannot_put_all_is_told_how_much_is_there)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", "--max-items=2", "-w2",
				 JOBS, "a", "b", "c", "d"),
		121);
	cli_hears_error(&a, JOBS ": the first 2 are there for certain\n");
	ck_assert_int_eq(fixture_children(JOBS), 2);
}
END_TEST

START_TEST(a_command_gets_each_item)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x", "y"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-w0", JOBS, "--",
				 "sh", "-c",
				 "echo $(cat) $KUSTOS_ITEM $KUSTOS_DELIVERIES"),
		0);
	ck_assert_str_eq(a.out_text, "x qn-0000000000 1\ny qn-0000000001 1\n");
	ck_assert_int_eq(fixture_children(JOBS), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-w0", JOBS, "true"),
		120);
}
END_TEST

/* No other item would fare better. */
START_TEST(a_command_that_cannot_be_executed_ends_it_and_leaves_the_item)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", JOBS, "/no/such"),
		127);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", JOBS, "/etc/passwd"),
		126);
	ck_assert_int_eq(fixture_children(JOBS), 1);
}
END_TEST

/* As a shell does that finds no program; another item may need none. */
START_TEST(a_command_that_ends_as_if_it_could_not_be_executed_has_failed)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "126", "127", "0"),
		0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1",
				 "--deliveries=1", "--dead-letters", DEAD, JOBS,
				 "sh", "-c", "read n; exit $n"),
		0);
	cli_hears_error(&a, JOBS ": sh ended with 126\n");
	cli_hears_error(&a, JOBS ": sh ended with 127\n");
	ck_assert_int_eq(fixture_children(JOBS), 0);
	ck_assert_int_eq(fixture_children(DEAD), 2);
}
END_TEST

START_TEST(items_that_are_taken_are_marked_where_it_is_said)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1", "--lock-path",
				 OTHER, JOBS, "--", cli_program(), "queue",
				 "ls", "--lock-path", OTHER, JOBS),
		0);
	cli_hears(&a, "taken by session 0x");
}
END_TEST

START_TEST(P13_the_command_of_an_item_inherits_no_descriptor_of_ours)
{
	static const char list[] = "ls /proc/$$/fd; echo end";
	const char *const argv[] = { "sh", "-c", list, NULL };

	cli_start_argv(&a, argv);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(cli_run(&b, "queue", "put", JOBS, "x"), 0);
	ck_assert_int_eq(cli_run(&b, "queue", "consume", "-c1", JOBS, "--",
				 "sh", "-c", list),
		0);
	ck_assert_str_eq(b.out_text, a.out_text);
}
END_TEST

START_TEST(S16_an_item_comes_again_if_its_consumer_is_killed)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x"), 0);
	cli_start(&a, "queue", "consume", "--session-timeout=2000", JOBS, "sh",
		"-c", "echo began; sleep 1000");
	cli_hears(&a, "began\n");
	ck_assert_int_eq(cli_run(&b, "queue", "ls", JOBS), 0);
	cli_hears(&b, "taken by session 0x");
	ck_assert_int_eq(cli_run(&b, "queue", "ls", "--json", JOBS), 0);
	cli_hears(&b, "\"deliveries\":1,");
	cli_hears(&b, ",\"taken_by\":\"0x");
	ck_assert_int_eq(cli_run(&b, "queue", "consume", "-w0", JOBS, "true"),
		120);
	kill(a.pid, SIGKILL);
	ck_assert_int_eq(cli_end(&a), -SIGKILL);
	ck_assert_int_eq(cli_run(&b, "queue", "consume", "-c1", JOBS, "sh",
				 "-c", "echo $(cat) $KUSTOS_DELIVERIES"),
		0);
	ck_assert_str_eq(b.out_text, "x 2\n");
	ck_assert_int_eq(fixture_children(JOBS), 0);
}
END_TEST

/* Its marker is deleted from outside, here by the command. */
START_TEST(S16_an_item_that_was_lost_as_its_command_ended_comes_again)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x"), 0);
	ck_assert_int_eq(
		cli_run(&a, "queue", "consume", "-c1", JOBS, "sh", "-c",
			"echo $(cat) $KUSTOS_DELIVERIES;"
			"test $KUSTOS_DELIVERIES -gt 1 ||"
			" \"$0\" barrier remove " JOBS "-locks/$KUSTOS_ITEM",
			cli_program()),
		0);
	ck_assert_str_eq(a.out_text, "x 1\nx 2\n");
	cli_hears_error(&a, "sh ended with 0, but the item was lost before");
	ck_assert_int_eq(fixture_children(JOBS), 0);
}
END_TEST

/* That the queue is empty nobody knows then. */
/* Whoever takes items regardless of claims has it, and it comes to nobody. */
START_TEST(an_item_that_is_taken_from_under_its_command_is_not_promised)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-w1", JOBS, "sh",
				 "-c", "\"$0\" queue take -w0 " JOBS,
				 cli_program()),
		121);
	cli_hears(&a, "x\n");
	cli_hears_error(&a, "it comes again, unless another took it away\n");
	ck_assert_int_eq(fixture_children(JOBS), 0);
}
END_TEST

START_TEST(who_loses_the_servers_is_told_so_also_after_an_item)
{
	struct proxy *proxy = proxy_start("127.0.0.1", fixture_address(),
		PROXY_ZOOKEEPER);

	ck_assert_ptr_nonnull(proxy);
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x"), 0);
	cli_start(&a, "queue", "consume", "-w5", "--hosts",
		proxy_address(proxy), JOBS, "cat");
	test_within(fixture_children(JOBS) == 0, CLI_MS);
	proxy_set_mode(proxy, PROXY_REFUSE);
	ck_assert_int_eq(cli_end(&a), 123);
	cli_hears_error(&a, "kustos: no server answers at ");
	proxy_free(proxy);
}
END_TEST

START_TEST(a_signal_ends_the_command_and_leaves_the_item)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x"), 0);
	cli_start(&a, "queue", "consume", JOBS, "sh", "-c",
		"echo began; sleep 1000");
	cli_hears(&a, "began\n");
	kill(a.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&a), -SIGTERM);
	ck_assert_int_eq(raw_exists(fixture_address(), FIRST, NULL), 0);
	cli_start(&a, "queue", "consume", OTHER, "true");
	test_within(fourletter_has(fixture_address(), "wchs",
			    "1 connections watching"),
		CLI_MS);
	kill(a.pid, SIGINT);
	ck_assert_int_eq(cli_end(&a), -SIGINT);
}
END_TEST

/* Have room for so many more descriptors in a process.  Returns how many there
   are. */
static int leave_descriptors(pid_t pid, int room)
{
	struct rlimit limit = { 0, 4096 };
	char path[64];
	int count = 0;

	while (room >= 0) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid,
			(int)limit.rlim_cur);
		if (access(path, F_OK) == 0)
			count++;
		else if (room-- == 0)
			break;
		limit.rlim_cur++;
	}
	ck_assert_int_eq(prlimit(pid, RLIMIT_NOFILE, &limit, NULL), 0);
	return count;
}

/* There is room for what the guard takes, with the one of the wait, and not for what
   the command does. */
START_TEST(a_command_that_cannot_be_begun_leaves_nothing)
{
	pid_t guard;
	int before;

	cli_start(&a, "queue", "consume", "-c1", JOBS, "cat");
	test_within(fourletter_has(fixture_address(), "wchs",
			    "1 connections watching"),
		CLI_MS);
	before = leave_descriptors(a.pid, 3);
	ck_assert_int_eq(cli_run(&b, "queue", "put", JOBS, "x"), 0);
	cli_hears_error(&a, "kustos: cannot start a process: ");
	cli_hears_error(&a, " ended with 124\n");
	test_within(cli_children(&a, &guard, 1) == 0, CLI_MS);
	ck_assert_int_le(leave_descriptors(a.pid, 100), before);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_str_eq(a.out_text, "x");
}
END_TEST

START_TEST(an_item_that_fails_too_often_is_moved_away)
{
	int64_t began_ms = test_now_ms();

	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "bad", "good"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1",
				 "--deliveries=2", "--dead-letters", DEAD, JOBS,
				 "grep", "good"),
		0);
	ck_assert_str_eq(a.out_text, "good\n");
	/* After each failure. */
	ck_assert_int_ge(test_now_ms() - began_ms, 2000);
	cli_hears_error(&a, JOBS ": grep ended with 1\n");
	cli_hears_error(&a, "was tried too often, and is moved away\n");
	ck_assert_int_eq(fixture_children(JOBS), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-w0", DEAD), 0);
	ck_assert_str_eq(a.out_text, "bad\n");
}
END_TEST

START_TEST(an_item_may_go_to_the_end_instead)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "bad", "good"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1", "--requeue",
				 JOBS, "grep", "good"),
		0);
	ck_assert_int_eq(
		raw_exists(fixture_address(), JOBS "/qn-0000000002", NULL), 0);
	ck_assert_int_eq(fixture_children(JOBS), 1);
}
END_TEST

/* 122 is ours to say, but a command may, too. */
START_TEST(an_item_whose_command_ends_as_if_it_was_lost_has_failed)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "bad", "good"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1", "--requeue",
				 JOBS, "sh", "-c", "grep good || exit 122"),
		0);
	cli_hears_error(&a, JOBS ": sh ended with 122\n");
	ck_assert_int_eq(
		raw_exists(fixture_address(), JOBS "/qn-0000000002", NULL), 0);
	ck_assert_int_eq(fixture_children(JOBS), 1);
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

/* Put them, and run "script" on what is listed: "$0" is the command. */
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

/* Whoever lists waits for the pipe to be read, and so has not looked at the last
   ones when those go. */
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
	{ { NULL }, "the first word says what to do" },
	{ { "give", JOBS }, "'give' is nothing to do with a queue" },
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
		"PATH, --lock-path and --dead-letters are not three paths" },
	{ { "consume", "--deliveries=1", "--dead-letters", JOBS, JOBS, "x" },
		"PATH, --lock-path and --dead-letters are not three paths" },
	{ { "consume", "-kkazoo-locking", "--lock-path", "/l", JOBS, "x" },
		"of -k kazoo-locking there is no --lock-path" },
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
	tcase_add_test(t, a_full_queue_is_waited_for);
	tcase_add_test(t, however_much_is_put_at_once_if_there_is_room);
	tcase_add_test(t, who_cannot_put_all_is_told_how_much_is_there);
	tcase_add_test(t, a_command_gets_each_item);
	tcase_add_test(t,
		a_command_that_cannot_be_executed_ends_it_and_leaves_the_item);
	tcase_add_test(t,
		a_command_that_ends_as_if_it_could_not_be_executed_has_failed);
	tcase_add_test(t, items_that_are_taken_are_marked_where_it_is_said);
	tcase_add_test(t,
		P13_the_command_of_an_item_inherits_no_descriptor_of_ours);
	tcase_add_test(t, S16_an_item_comes_again_if_its_consumer_is_killed);
	tcase_add_test(t,
		S16_an_item_that_was_lost_as_its_command_ended_comes_again);
	tcase_add_test(t,
		an_item_that_is_taken_from_under_its_command_is_not_promised);
	tcase_add_test(t, who_loses_the_servers_is_told_so_also_after_an_item);
	tcase_add_test(t, a_signal_ends_the_command_and_leaves_the_item);
	tcase_add_test(t, a_command_that_cannot_be_begun_leaves_nothing);
	tcase_add_test(t, an_item_that_fails_too_often_is_moved_away);
	tcase_add_test(t, an_item_may_go_to_the_end_instead);
	tcase_add_test(t,
		an_item_whose_command_ends_as_if_it_was_lost_has_failed);
	tcase_add_test(t, what_is_listed_can_be_read_by_programs);
	tcase_add_test(t, many_are_listed_each_once_and_in_order);
	tcase_add_test(t, items_that_go_while_they_are_listed_are_left_out);
	tcase_add_loop_test(t, wrong_use_is_told, 0, WRONG);
	return fixture_main(s);
}
