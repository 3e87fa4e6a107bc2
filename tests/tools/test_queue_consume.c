/*
 * test_queue_consume.c - kustos queue consume: a command runs for each item;
 * what becomes of the item, and what is reported.
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

static struct cli a, b;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

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

/* It would be the same for any other item. */
START_TEST(a_command_that_cannot_be_executed_ends_it_and_leaves_the_item)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", JOBS, "/no/such"),
		127);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", JOBS, "/etc/passwd"),
		126);
	ck_assert_int_eq(fixture_children(JOBS), 1);
	ck_assert_int_eq(raw_exists(fixture_address(), FIRST, NULL), 0);
	/* Nor is it an attempt after which it is moved away. */
	ck_assert_int_eq(cli_run(&a, "queue", "put", OTHER, "x"), 0);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(cli_run(&a, "queue", "consume", "-w0",
					 "--deliveries=2", "--dead-letters",
					 DEAD, OTHER, "/no/such"),
			127);
	ck_assert_int_eq(fixture_children(OTHER), 1);
	ck_assert_int_eq(fixture_children(DEAD), 0);
}
END_TEST

/* As from a shell that finds no program; another item may not need that
   program. */
START_TEST(a_command_that_ends_as_if_it_could_not_be_executed_has_failed)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "126", "127", "0"),
		0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1",
				 "--deliveries=1", "--dead-letters", DEAD, JOBS,
				 "sh", "-c", "read n; exit $n"),
		0);
	cli_hears_error(&a, FIRST ": sh ended with 126\n");
	cli_hears_error(&a, JOBS "/qn-0000000001: sh ended with 127\n");
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

/* Its marker is deleted by somebody else, here by the command, which is ended
   then. */
START_TEST(S09_an_item_that_is_lost_while_its_command_runs_comes_again)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x"), 0);
	ck_assert_int_eq(
		cli_run(&a, "queue", "consume", "-c1", JOBS, "sh", "-c",
			"echo $(cat) $KUSTOS_DELIVERIES;"
			"test $KUSTOS_DELIVERIES -gt 1 && exit;"
			"\"$0\" barrier remove " JOBS "-locks/$KUSTOS_ITEM;"
			"exec sleep 1000",
			cli_program()),
		0);
	ck_assert_str_eq(a.out_text, "x 1\nx 2\n");
	cli_hears_error(&a,
		"the item was lost while sh ran, which ended with ");
	ck_assert_int_eq(fixture_children(JOBS), 0);
}
END_TEST

/* Somebody who ignores claims has taken the item, and it comes to nobody
   else. */
START_TEST(an_item_that_is_taken_from_under_its_command_is_not_promised)
{
	static const char taking[] = "\"$0\" queue take -w0 " JOBS;

	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "x"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-w1", JOBS, "sh",
				 "-c", taking, cli_program()),
		121);
	cli_hears(&a, "x\n");
	cli_hears_error(&a,
		"sh ended with 0, but the item was lost before that was "
		"stored: it will be delivered again, unless a program that "
		"ignores claims took it\n");
	ck_assert_int_eq(fixture_children(JOBS), 0);
}
END_TEST

/* So nobody knows whether the queue is empty; nor, perhaps, that the item is
   gone. */
START_TEST(who_loses_the_servers_is_told_so_also_after_an_item)
{
	struct proxy *proxy = fixture_proxy();

	if (_i == 1)
		proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_MULTI, 1);
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

/* Leave a process room for so many more descriptors.  Returns how many it
   has. */
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

/* There is room for what the guard needs, including its wait, but not for what
   the command needs. */
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
	/* The descriptor that wakes it stays open. */
	ck_assert_int_le(leave_descriptors(a.pid, 100), before + 1);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_str_eq(a.out_text, "x");
}
END_TEST

/* It continues with others, and retries the item after a while. */
START_TEST(an_item_that_fails_too_often_is_moved_away)
{
	int64_t began_ms = test_now_ms();

	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "bad", "good"), 0);
	cli_start(&a, "queue", "consume", "-c2", "--deliveries=2",
		"--dead-letters", DEAD, JOBS, "grep", "good");
	cli_hears_error(&a, "was tried too often, and was moved\n");
	ck_assert_int_ge(test_now_ms() - began_ms, 1000);
	cli_hears(&a, "good\n");
	ck_assert_int_eq(cli_run(&b, "queue", "put", JOBS, "good"), 0);
	ck_assert_int_eq(cli_end(&a), 0);
	cli_hears_error(&a, FIRST ": grep ended with 1\n");
	ck_assert_int_eq(fixture_children(JOBS), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-w0", DEAD), 0);
	ck_assert_str_eq(a.out_text, "bad\n");
}
END_TEST

/* However often the item comes again, the others get their turns in order. */
START_TEST(an_item_that_fails_stops_none_of_those_behind_it)
{
	ck_assert_int_eq(
		cli_run(&a, "queue", "put", JOBS, "bad", "x", "y", "z"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c3", JOBS, "grep",
				 "-v", "bad"),
		0);
	ck_assert_str_eq(a.out_text, "x\ny\nz\n");
	ck_assert_int_eq(raw_exists(fixture_address(), FIRST, NULL), 0);
	ck_assert_int_eq(fixture_children(JOBS), 1);
}
END_TEST

/* At once if nothing else is there.  If it goes to the end, it is a new
   item. */
START_TEST(an_item_that_fails_comes_again)
{
	static const char *const others[] = { "-c1", "--requeue" };
	static const char script[] =
		"echo $KUSTOS_ITEM $KUSTOS_DELIVERIES;"
		"test \"$KUSTOS_ITEM $KUSTOS_DELIVERIES\" != 'qn-0000000000 1'";

	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "bad"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1", others[_i],
				 JOBS, "sh", "-c", script),
		0);
	ck_assert_str_eq(a.out_text,
		_i == 0 ? "qn-0000000000 1\nqn-0000000000 2\n"
			: "qn-0000000000 1\nqn-0000000001 1\n");
	ck_assert_int_eq(fixture_children(JOBS), 0);
}
END_TEST

/* -w0 is for the items that are there, each once, even if items go to the end
   or are to be moved away. */
START_TEST(what_does_not_wait_tries_each_item_once)
{
	static const char *const others[][3] = { { "-w0", "-w0", "-w0" },
		{ "--requeue", "-w0", "-w0" },
		{ "--deliveries=1", "--dead-letters=" DEAD, "-w0" } };
	static const char script[] =
		"read i; echo $i; test ${#i} != 3 -a $i != worse";

	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "bad", "good",
				 "worse", "better"),
		0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", others[_i][0],
				 others[_i][1], others[_i][2], JOBS, "sh", "-c",
				 script),
		116);
	ck_assert_str_eq(a.out_text, "bad\ngood\nworse\nbetter\n");
	cli_hears_error(&a, JOBS ": 2 done, 2 failed\n");
	ck_assert_int_eq(fixture_children(_i == 2 ? DEAD : JOBS), 2);
	/* Nobody holds them any more. */
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-w0",
				 _i == 2 ? DEAD : JOBS, "cat"),
		0);
	ck_assert_str_eq(a.out_text, "badworse");
}
END_TEST

/* It is due again after 1 second, after 2 more, and then not within the
   time. */
START_TEST(an_item_that_fails_does_not_make_the_wait_longer)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "bad"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-w5", JOBS, "sh",
				 "-c", "cat; exit 3"),
		116);
	ck_assert_uint_le(a.out_len, strlen("badbadbad"));
	cli_hears_error(&a, JOBS ": 0 done, 1 failed\n");
	ck_assert_int_eq(fixture_children(JOBS), 1);
}
END_TEST

START_TEST(so_many_items_fail_and_no_more)
{
	static const char text[] = "seq 1001 | \"$0\" queue put " JOBS ";"
				   "\"$0\" queue consume -w0 " JOBS
				   " false 2>&1 | tail -n 1";
	const char *const argv[] = { "sh", "-c", text, cli_program(), NULL };

	cli_start_argv(&a, argv);
	test_within(!cli_runs(&a), 4 * CLI_MS); /* of a thousand processes */
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_str_eq(a.out_text,
		"kustos: " JOBS ": 0 done, 1000 failed; no more are tried\n");
	ck_assert_int_eq(fixture_children(JOBS), 1001);
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

/* Exit code 122 is kustos' own, but a command may have it, too. */
START_TEST(an_item_whose_command_ends_as_if_it_was_lost_has_failed)
{
	ck_assert_int_eq(cli_run(&a, "queue", "put", JOBS, "bad", "good"), 0);
	ck_assert_int_eq(cli_run(&a, "queue", "consume", "-c1", "--requeue",
				 JOBS, "sh", "-c", "grep good || exit 122"),
		0);
	cli_hears_error(&a, FIRST ": sh ended with 122\n");
	ck_assert_int_eq(
		raw_exists(fixture_address(), JOBS "/qn-0000000002", NULL), 0);
	ck_assert_int_eq(fixture_children(JOBS), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos queue consume");
	TCase *t = fixture_case(s, "one server", 300);

	tcase_add_checked_fixture(t, set_up, NULL);
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
		S09_an_item_that_is_lost_while_its_command_runs_comes_again);
	tcase_add_test(t,
		an_item_that_is_taken_from_under_its_command_is_not_promised);
	tcase_add_loop_test(t,
		who_loses_the_servers_is_told_so_also_after_an_item, 0, 2);
	tcase_add_test(t, a_signal_ends_the_command_and_leaves_the_item);
	tcase_add_test(t, a_command_that_cannot_be_begun_leaves_nothing);
	tcase_add_test(t, an_item_that_fails_too_often_is_moved_away);
	tcase_add_test(t, an_item_that_fails_stops_none_of_those_behind_it);
	tcase_add_loop_test(t, an_item_that_fails_comes_again, 0, 2);
	tcase_add_loop_test(t, what_does_not_wait_tries_each_item_once, 0, 3);
	tcase_add_test(t, an_item_that_fails_does_not_make_the_wait_longer);
	tcase_add_test(t, so_many_items_fail_and_no_more);
	tcase_add_test(t, an_item_may_go_to_the_end_instead);
	tcase_add_test(t,
		an_item_whose_command_ends_as_if_it_was_lost_has_failed);
	return fixture_main(s);
}
