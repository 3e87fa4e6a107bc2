/*
 * test_lock_several.c - kustos lock with several paths: it holds all or none.
 */
#include "cli.h"

#include "fixture.h"
#include "process.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cli a, b;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

/* Let "a" hold /m and /l with "option". */
static void hold_both(const char *option)
{
	cli_start(&a, "lock", option, "/m", "/l", "--", "sh", "-c",
		"echo held; read go");
	cli_hears(&a, "held\n");
}

static void let_go(void)
{
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
}

START_TEST(both_are_held_and_given_back)
{
	hold_both("--record");
	ck_assert_int_eq(fixture_children("/l"), 1);
	ck_assert_int_eq(fixture_children("/m"), 1);
	ck_assert_int_eq(cli_run(&b, "lock", "-n", "/l", "--", "true"), 120);
	ck_assert_int_eq(cli_run(&b, "lock", "-n", "/m", "--", "true"), 120);
	ck_assert_int_eq(cli_run(&b, "lock", "-n", "/x", "/m", "--", "true"),
		120);
	cli_hears_error(&b, "kustos: /x /m: another holds one of them\n");
	ck_assert_int_eq(fixture_children("/x"), 0);
	let_go();
	ck_assert_int_eq(fixture_children("/l"), 0);
	ck_assert_int_eq(fixture_children("/m"), 0);
	ck_assert_int_eq(cli_run(&b, "lock", "-n", "/l", "/m", "--", "sh", "-c",
				 "exit 7"),
		7);
}
END_TEST

START_TEST(the_environment_tells_of_each_in_the_order_given)
{
	static const char script[] =
		"echo path $KUSTOS_PATH token $KUSTOS_TOKEN node $KUSTOS_NODE "
		"end; read go";
	long long tokens[2];
	char nodes[2][128];
	struct raw_stat stat;

	cli_start(&a, "lock", "/m", "/l", "--", "sh", "-c", script);
	ck_assert_int_eq(sscanf(cli_hears(&a, "path /m /l token "),
				 "%lld %lld node %127s %127s end", &tokens[0],
				 &tokens[1], nodes[0], nodes[1]),
		4);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(raw_exists(fixture_address(), nodes[i], &stat),
			0);
		ck_assert_int_eq(stat.czxid, tokens[i]);
	}
	ck_assert_int_eq(strncmp(nodes[0], "/m/", 3), 0);
	ck_assert_int_eq(strncmp(nodes[1], "/l/", 3), 0);
	ck_assert(tokens[1] < tokens[0]); /* /l is taken first */
	let_go();
}
END_TEST

START_TEST(whoever_lists_them_the_other_way_round_waits_for_both)
{
	hold_both("--record");
	cli_start(&b, "lock", "-w", "50", "/l", "/m", "--", "echo", "ran");
	test_within(fixture_children("/l") == 2, CLI_MS);
	ck_assert_int_eq(fixture_children("/m"), 1); /* one after the other */
	let_go();
	ck_assert_int_eq(cli_end(&b), 0);
	ck_assert_str_eq(b.out_text, "ran\n");
}
END_TEST

START_TEST(a_wait_for_one_of_them_that_is_over_leaves_none)
{
	cli_start(&a, "lock", "/m", "--", "sh", "-c", "echo held; read go");
	cli_hears(&a, "held\n");
	ck_assert_int_eq(cli_run(&b, "lock", "-w", "1.5", "-E", "9", "/l", "/m",
				 "--", "true"),
		9);
	cli_hears_error(&b, "kustos: /l /m: not got within 1.5 s\n");
	ck_assert_int_eq(fixture_children("/l"), 0);
	ck_assert_int_eq(fixture_children("/m"), 1);
	let_go();
}
END_TEST

START_TEST(a_side_is_that_of_all)
{
	hold_both("-s");
	ck_assert_int_eq(
		cli_run(&b, "lock", "-s", "-n", "/l", "/m", "--", "true"), 0);
	ck_assert_int_eq(
		cli_run(&b, "lock", "-x", "-n", "/l", "/k", "--", "true"), 120);
	let_go();
}
END_TEST

/* The command prints the nodes under which it runs, and goes on running. */
static void run_under_both(const char *timeout, char nodes[2][128])
{
	cli_start(&a, "lock", timeout, "/m", "/l", "--", "sh", "-c",
		"echo node $KUSTOS_NODE known; exec sleep 60");
	ck_assert_int_eq(sscanf(cli_hears(&a, "node "), "%127s %127s known",
				 nodes[0], nodes[1]),
		2);
}

START_TEST(S27_the_command_ends_when_one_of_them_is_lost)
{
	static const char *const told[] = {
		"kustos: /m: the lock was lost while sh ran",
		"kustos: /l: the lock was lost while sh ran",
	};
	char nodes[2][128];

	run_under_both("--session-timeout=40000", nodes);
	ck_assert_int_eq(raw_delete(fixture_address(), nodes[_i]), 0);
	ck_assert_int_eq(cli_end(&a), 122);
	cli_hears_error(&a, told[_i]);
	ck_assert_int_eq(fixture_children("/l"), 0);
	ck_assert_int_eq(fixture_children("/m"), 0);
}
END_TEST

START_TEST(all_that_are_lost_are_named)
{
	char nodes[2][128];

	run_under_both("--session-timeout=2000", nodes);
	ck_assert_int_eq(process_pause(a.pid), 0);
	test_eventually(raw_exists(fixture_address(), nodes[0], NULL) != 0,
		CLI_MS);
	process_resume(a.pid);
	ck_assert_int_eq(cli_end(&a), 122);
	cli_hears_error(&a, "kustos: /m /l: the lock was lost while sh ran");
}
END_TEST

START_TEST(what_is_not_a_list_of_paths_is_a_command)
{
	ck_assert_int_eq(cli_run(&a, "lock", "/l", "sh", "-c", "echo \"$@\"",
				 "x", "--", "y"),
		0);
	ck_assert_str_eq(a.out_text, "-- y\n");
	ck_assert_int_eq(cli_run(&a, "lock", "/l", "/bin/echo", "/m"), 0);
	ck_assert_str_eq(a.out_text, "/m\n");
	ck_assert_int_eq(cli_run(&a, "lock", "/l", "--", "/bin/echo", "--"), 0);
	ck_assert_str_eq(a.out_text, "--\n");
	ck_assert_int_eq(cli_run(&a, "lock", "/l", "/m", "/l", "--", "true"),
		125);
	cli_hears_error(&a, "/l is given twice");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos lock, several");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, both_are_held_and_given_back);
	tcase_add_test(t, the_environment_tells_of_each_in_the_order_given);
	tcase_add_test(t,
		whoever_lists_them_the_other_way_round_waits_for_both);
	tcase_add_test(t, a_wait_for_one_of_them_that_is_over_leaves_none);
	tcase_add_test(t, a_side_is_that_of_all);
	tcase_add_loop_test(t, S27_the_command_ends_when_one_of_them_is_lost, 0,
		2);
	tcase_add_test(t, all_that_are_lost_are_named);
	tcase_add_test(t, what_is_not_a_list_of_paths_is_a_command);
	return fixture_main(s);
}
