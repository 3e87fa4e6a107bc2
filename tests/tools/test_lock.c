/*
 * test_lock.c - kustos lock: exit codes, messages, and what the command gets.
 */
#include "cli.h"

#include "fixture.h"
#include "raw.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cli a, b;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

/* Let "a" hold /l until it is told to go on, with "option". */
static void hold_as(const char *option)
{
	cli_start(&a, "lock", option, "/l", "--", "sh", "-c",
		"echo held; read go");
	cli_hears(&a, "held\n");
}

static void hold(void)
{
	hold_as("--record"); /* the default */
}

static void let_go(void)
{
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
}

static int waiting(void)
{
	return raw_count_children(fixture_address(), "/l");
}

START_TEST(the_exit_code_is_the_commands)
{
	ck_assert_int_eq(cli_run(&a, "lock", "/l", "--", "true"), 0);
	ck_assert_int_eq(cli_run(&a, "lock", "/l", "sh", "-c", "exit 77"), 77);
	ck_assert_str_eq(a.err_text, "");
	ck_assert_int_eq(waiting(), 0);
}
END_TEST

START_TEST(a_command_that_dies_of_a_signal_gives_128_and_its_number)
{
	ck_assert_int_eq(
		cli_run(&a, "lock", "/l", "--", "sh", "-c", "kill -9 $$"),
		128 + SIGKILL);
}
END_TEST

START_TEST(a_command_that_cannot_be_executed_gives_126_or_127)
{
	ck_assert_int_eq(cli_run(&a, "lock", "/l", "--", "/no/such"), 127);
	cli_hears_error(&a, "kustos: cannot execute /no/such: ");
	ck_assert_int_eq(cli_run(&a, "lock", "/l", "--", "/etc/passwd"), 126);
	ck_assert_int_eq(waiting(), 0);
}
END_TEST

START_TEST(without_waiting_a_held_lock_gives_120)
{
	hold();
	ck_assert_int_eq(cli_run(&b, "lock", "-n", "/l", "--", "echo", "ran"),
		120);
	ck_assert_str_eq(b.out_text, "");
	ck_assert_str_eq(b.err_text, "kustos: /l: another holds the lock\n");
	ck_assert_int_eq(waiting(), 1);
	let_go();
	ck_assert_int_eq(cli_run(&b, "lock", "-n", "/l", "--", "true"), 0);
}
END_TEST

START_TEST(a_wait_that_is_over_gives_121)
{
	int64_t began = test_now_ms();

	hold();
	ck_assert_int_eq(
		cli_run(&b, "lock", "--wait", "1.5", "/l", "--", "true"), 121);
	ck_assert_int_ge(test_now_ms() - began, 1500);
	cli_hears_error(&b, "kustos: /l: not got within 1.5 s\n");
	test_within(waiting() == 1, CLI_MS);
	let_go();
}
END_TEST

START_TEST(the_exit_code_for_a_conflict_can_be_chosen)
{
	hold();
	ck_assert_int_eq(
		cli_run(&b, "lock", "--nonblock", "-E7", "/l", "--", "true"),
		7);
	ck_assert_int_eq(cli_run(&b, "lock", "-w", "1.5",
				 "--conflict-exit-code=0", "/l", "--", "false"),
		0);
	ck_assert_int_eq(cli_run(&b, "lock", "-nqE0", "/l", "false"), 0);
	ck_assert_str_eq(b.err_text, "");
	let_go();
}
END_TEST

START_TEST(a_wait_that_is_rewarded_runs_the_command)
{
	hold();
	cli_start(&b, "lock", "-w", "30", "/l", "--", "echo", "ran");
	test_within(waiting() == 2, CLI_MS);
	let_go();
	ck_assert_int_eq(cli_end(&b), 0);
	ck_assert_str_eq(b.out_text, "ran\n");
}
END_TEST

START_TEST(who_shares_excludes_only_who_does_not)
{
	hold_as("--shared");
	ck_assert_int_eq(cli_run(&b, "lock", "-s", "-n", "/l", "true"), 0);
	ck_assert_int_eq(cli_run(&b, "lock", "-x", "-n", "/l", "true"), 120);
	ck_assert_int_eq(cli_run(&b, "ls", "/l"), 0);
	ck_assert_ptr_nonnull(strstr(b.out_text, "\nreads  "));
	let_go();
	hold_as("--exclusive");
	ck_assert_int_eq(cli_run(&b, "lock", "-s", "-n", "/l", "true"), 120);
	ck_assert_int_eq(cli_run(&b, "lock", "-x", "-n", "/l", "true"), 120);
	ck_assert_int_eq(cli_run(&b, "ls", "--json", "/l"), 0);
	ck_assert_ptr_nonnull(strstr(b.out_text, "\"kind\":\"write\""));
	ck_assert_int_eq(cli_run(&b, "ls", "/l"), 0);
	ck_assert_ptr_nonnull(strstr(b.out_text, "\nwrites "));
	let_go();
	ck_assert_int_eq(waiting(), 0);
}
END_TEST

/* One heeds plain locks, the other readers and writers. */
START_TEST(a_plain_lock_and_a_shared_one_do_not_see_each_other)
{
	hold_as("-x");
	ck_assert_int_eq(cli_run(&b, "lock", "-n", "/l", "--", cli_program(),
				 "ls", "/l"),
		0);
	ck_assert_ptr_nonnull(strstr(b.out_text, "/l: 2 hold, 0 wait\n"));
	ck_assert_ptr_nonnull(strstr(b.out_text, "mixed dialects"));
	let_go();
}
END_TEST

/* Nobody listens on port 1 of this address. */
START_TEST(no_server_gives_123)
{
	ck_assert_int_eq(cli_run(&a, "lock", "--hosts", "127.0.0.9:1",
				 "--session-timeout", "500", "/l", "--",
				 "true"),
		123);
	ck_assert_str_eq(a.err_text,
		"kustos: no server answers at 127.0.0.9:1\n");
}
END_TEST

/* Any -w is a time, however short, and its end says nothing of the servers. */
START_TEST(no_server_in_the_time_that_was_given_is_told_as_that)
{
	static const char *const runs[][4] = { { "lock", "-w0.2", "/l", "-s" },
		{ "lock", "-w1e-9", "/l", "-s" },
		{ "lock", "-w1e-999", "/l", "-s" },
		{ "elect", "-w0.2", "/l", "-v" },
		{ "semaphore", "-w0.2", "/l", "-n1" } };

	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(cli_run(&a, runs[i][0], runs[i][1], runs[i][2],
					 runs[i][3], "--hosts", "127.0.0.9:1",
					 "--", "true"),
			123);
		cli_hears_error(&a,
			"kustos: no server at 127.0.0.9:1 answered in the time "
			"that -w says\n");
	}
	ck_assert_int_eq(cli_run(&a, "barrier", "enter", "-n2", "-w0.2",
				 "--hosts", "127.0.0.9:1", "/l", "true"),
		123);
	cli_hears_error(&a, " in the time that -w says\n");
}
END_TEST

START_TEST(no_server_in_the_time_of_who_holds_nothing_is_told_as_that)
{
	static const char *const runs[][2] = { { "barrier", "wait" },
		{ "barrier", "set" }, { "latch", "wait" },
		{ "latch", "done" } };

	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(cli_run(&a, runs[i][0], runs[i][1], "-w0.2",
					 "--hosts", "127.0.0.9:1", "/l"),
			123);
		cli_hears_error(&a,
			"kustos: no server at 127.0.0.9:1 answered in the time "
			"that -w says\n");
	}
}
END_TEST

START_TEST(wrong_use_gives_125_and_one_line)
{
	static const char *const wrong[][6] = {
		{ "lock" },
		{ "lock", "/l" },
		{ "lock", "/l", "--" },
		{ "lock", "-n", "-w1", "/l", "true" },
		{ "lock", "-w", "soon", "/l", "true" },
		{ "lock", "-w", "-1", "/l", "true" },
		{ "lock", "-E", "256", "/l", "true" },
		{ "lock", "-sx", "/l", "true" },
		{ "lock", "l", "true" },
		{ "lock", "/l/", "true" },
		{ "lock", "--dialect", "basque", "/l", "true" },
		{ "lock", "--data=a", "--record", "/l", "true" },
		{ "lock", "--reason=a", "--no-record", "/l", "true" },
		{ "lock", "--session-timeout=ten", "/l", "true" },
		{ "lock", "--grace=9", "/l", "true" },
		{ "lock", "--hosts=:", "/l", "true" },
		{ "lock", "--extra-marks=", "/l", "true" },
		{ "lock", "--extra-marks=a,", "/l", "true" },
		{ "lock", "--extra-marks=a,,b", "/l", "true" },
		{ "lock", "--extra-marks=a/b", "/l", "true" },
		{ "lock", "--extra-marks=a", "-s", "/l", "true" },
		{ "lock", "/l", "-x", "--extra-marks=a", "true" },
		{ "semaphore", "-n1", "--extra-marks=a", "/l", "true" },
		{ "ls", "--extra-marks=,a", "/l" },
		{ "break", "--extra-marks=", "/l" },
		{ "unlock", "/l" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *const *w = wrong[i];

		ck_assert_msg(cli_run(&a, w[0], w[1], w[2], w[3], w[4], w[5]) ==
				125,
			"%s %s %s", w[0], w[1], w[2]);
		ck_assert_ptr_eq(strchr(a.err_text, '\n') + 1,
			a.err_text + a.err_len);
		ck_assert_int_eq(strncmp(a.err_text, "kustos: ", 8), 0);
	}
}
END_TEST

/* Before the path, and after it. */
START_TEST(options_may_be_ended_twice)
{
	static const char *const ended[][12] = {
		{ "lock", "-n", "--", "/l", "--", "true" },
		{ "lock", "--", "/l", "-n", "--", "true" },
		{ "lock", "--", "/l", "/m", "--", "true" },
		{ "lock", "--", "/l", "true" },
		{ "semaphore", "-n1", "--", "/s", "--", "true" },
		{ "elect", "--", "/e", "--", "true" },
		{ "barrier", "enter", "-n1", "--", "/b", "--", "true" },
		{ "barrier", "--", "enter", "--", "/b", "-n1", "--", "true" },
		{ "latch", "--", "set", "--", "/c", "-n1" },
		{ "latch", "done", "--", "/c", "--", "true" },
		{ "queue", "put", "--", "/q", "--", "-x" },
		{ "queue", "consume", "-w0", "--", "/q", "--", "true" },
	};

	for (size_t i = 0; i < sizeof(ended) / sizeof(*ended); i++) {
		const char *argv[13] = { cli_program() };

		memcpy(argv + 1, ended[i], sizeof(ended[i]));
		cli_start_argv(&a, argv);
		ck_assert_msg(cli_end(&a) == 0, "%s %s %s: %s", argv[1],
			argv[2], argv[3], a.err_text);
		ck_assert_str_eq(a.err_text, "");
	}
}
END_TEST

START_TEST(a_session_that_cannot_be_asked_for_is_told_by_its_option)
{
	static const char *const wrong[] = { "1", "2147483647", "99999999999" };

	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(cli_run(&a, "lock", "--session-timeout",
					 wrong[i], "/l", "true"),
			125);
		cli_hears_error(&a, "lock: --session-timeout ");
		cli_hears_error(&a, " is not a number of milliseconds from ");
	}
}
END_TEST

/* A reader may take each line for a message, and a terminal may obey it. */
START_TEST(a_message_is_one_line_whatever_is_in_a_path)
{
	ck_assert_int_eq(cli_run(&a, "ls", "/a\nkustos: \033[2Jb"), 125);
	cli_hears_error(&a,
		"kustos: ls: /a\\x0akustos: \\x1b[2Jb is not a path of ");
	ck_assert_ptr_eq(strchr(a.err_text, '\n') + 1, a.err_text + a.err_len);
	/* Other characters stay as they are. */
	ck_assert_int_eq(cli_run(&a, "ls", "\303\244"), 125);
	cli_hears_error(&a, "kustos: ls: \303\244 is not a path of ");
}
END_TEST

START_TEST(standard_input_and_output_are_the_commands)
{
	cli_start(&a, "lock", "/l", "--", "sed", "s/in/out/");
	cli_type(&a, "what goes in\n");
	cli_eof(&a);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_str_eq(a.out_text, "what goes out\n");
}
END_TEST

/* A grace beyond the session's time would end the command at once. */
START_TEST(the_grace_is_a_quarter_of_what_is_granted_at_most)
{
	cli_start(&a, "lock", "--session-timeout=86400000", "--grace=21600",
		"/l", "--", "sh", "-c", "echo runs; read x; exit 9");
	(void)cli_hears(&a, "runs");
	ck_assert_int_eq(cli_run(&b, "ls", "/l"), 0);
	cli_type(&a, "\n");
	ck_assert_int_eq(cli_end(&a), 9);
}
END_TEST

START_TEST(the_environment_tells_of_the_innermost_lock)
{
	static const char script[] =
		"echo outer $KUSTOS_PATH $KUSTOS_TOKEN; "
		"exec \"$0\" lock /m -- sh -c '"
		"echo inner $KUSTOS_PATH $KUSTOS_TOKEN $KUSTOS_NODE; "
		"echo $KUSTOS_HOSTS; read go'";
	char token[32] = "", outer[32] = "", node[128] = "";
	struct raw_stat stat;

	/* Only the variable tells the inner one where the server is. */
	ck_assert_int_eq(unsetenv("KUSTOS_HOSTS"), 0);
	cli_start(&a, "lock", "--hosts", fixture_address(), "/l", "--", "sh",
		"-c", script, cli_program());
	sscanf(cli_hears(&a, "outer /l "), "%31s", outer);
	cli_hears(&a, fixture_address());
	sscanf(cli_hears(&a, "inner /m "), "%31s %127s", token, node);
	ck_assert_int_eq(raw_exists(fixture_address(), node, &stat), 0);
	ck_assert_int_eq(stat.czxid, atoll(token));
	ck_assert_int_gt(atoll(token), atoll(outer));
	ck_assert_int_gt(atoll(outer), 0);
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
}
END_TEST

static void descriptors(char *out, size_t size)
{
	char *end = strstr(a.out_text, "end");

	ck_assert_ptr_nonnull(end);
	snprintf(out, size, "%.*s", (int)(end - a.out_text), a.out_text);
}

/* The descriptors of the shell and its listing are the same both times. */
START_TEST(P13_the_command_inherits_no_descriptor_of_ours)
{
	static const char list[] = "ls /proc/$$/fd; echo end";
	char plain[256], locked[256];
	char text[300];
	FILE *f;

	snprintf(text, sizeof(text), "sh -c '%s'", list);
	f = popen(text, "re");
	ck_assert_ptr_nonnull(f);
	memset(&a, 0, sizeof(a));
	ck_assert_int_gt(fread(a.out_text, 1, sizeof(plain) - 1, f), 0);
	pclose(f);
	descriptors(plain, sizeof(plain));
	ck_assert_int_eq(cli_run(&a, "lock", "/l", "--", "sh", "-c", list), 0);
	descriptors(locked, sizeof(locked));
	ck_assert_str_eq(locked, plain);
}
END_TEST

START_TEST(a_descriptor_of_the_callers_reaches_the_command)
{
	static const char script[] =
		"exec 7<<EOF\nfrom outside\nEOF\n"
		"exec \"$0\" lock /m -- cat /proc/self/fd/7";

	ck_assert_int_eq(cli_run(&a, "lock", "/l", "--", "sh", "-c", script,
				 cli_program()),
		0);
	ck_assert_str_eq(a.out_text, "from outside\n");
}
END_TEST

START_TEST(the_node_says_what_was_asked_for)
{
	static const struct {
		const char *option, *data;
	} of[] = {
		{ "--data=mine", "\"data\":\"mine\"" },
		{ "--reason=a \"b\"", "\\\"reason\\\":\\\"a \\\\\\\"b" },
		{ "--record", "\\\"reason\\\":\\\"env\\\"" },
		{ "--no-record", "\"data\":\"1" },
		{ "--dialect=kazoo", "\"style\":\"kazoo\"" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		ck_assert_int_eq(cli_run(&a, "lock", of[i].option, "/l", "--",
					 "/usr/bin/env", cli_program(), "ls",
					 "--json", "/l"),
			0);
		ck_assert_msg(strstr(a.out_text, of[i].data) != NULL, "%s: %s",
			of[i].option, a.out_text);
	}
}
END_TEST

/* A stock kazoo lock ignores our names, although we heed its names. */
START_TEST(a_mixed_line_is_complained_about)
{
	static const char kazoo[] =
		"/l/0123456789abcdef0123456789abcdef__lock__0000000000";

	ck_assert_int_eq(raw_create(fixture_address(), "/l", NULL), 0);
	ck_assert_int_eq(raw_create(fixture_address(), kazoo, "k"), 0);
	cli_start(&a, "lock", "/l", "--", "true");
	cli_hears_error(&a, "kustos: /l: mixed dialects");
	ck_assert_int_eq(waiting(), 2);
	ck_assert_int_eq(raw_delete(fixture_address(), kazoo), 0);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_ptr_eq(strchr(a.err_text, '\n') + 1, a.err_text + a.err_len);
}
END_TEST

/* Names that no known library uses, but that the caller has given. */
START_TEST(who_has_an_extra_mark_is_waited_for)
{
	static const char theirs[] = "/l/ex0000000000";

	ck_assert_int_eq(raw_create(fixture_address(), "/l", NULL), 0);
	ck_assert_int_eq(raw_create(fixture_address(), theirs, "k"), 0);
	ck_assert_int_eq(cli_run(&a, "lock", "-n", "/l", "true"), 0);
	ck_assert_int_eq(cli_run(&a, "lock", "-n", "--extra-marks", "mine-,ex",
				 "/l", "true"),
		120);
	cli_start(&a, "lock", "--extra-marks=ex", "/l", "--", "true");
	test_within(waiting() == 2, CLI_MS);
	ck_assert_int_eq(raw_delete(fixture_address(), theirs), 0);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_str_eq(a.err_text, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos lock");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, the_exit_code_is_the_commands);
	tcase_add_test(t,
		a_command_that_dies_of_a_signal_gives_128_and_its_number);
	tcase_add_test(t, a_command_that_cannot_be_executed_gives_126_or_127);
	tcase_add_test(t, without_waiting_a_held_lock_gives_120);
	tcase_add_test(t, a_wait_that_is_over_gives_121);
	tcase_add_test(t, the_exit_code_for_a_conflict_can_be_chosen);
	tcase_add_test(t, a_wait_that_is_rewarded_runs_the_command);
	tcase_add_test(t, who_shares_excludes_only_who_does_not);
	tcase_add_test(t, a_plain_lock_and_a_shared_one_do_not_see_each_other);
	tcase_add_test(t, no_server_gives_123);
	tcase_add_test(t, no_server_in_the_time_that_was_given_is_told_as_that);
	tcase_add_test(t,
		no_server_in_the_time_of_who_holds_nothing_is_told_as_that);
	tcase_add_test(t, wrong_use_gives_125_and_one_line);
	tcase_add_test(t, options_may_be_ended_twice);
	tcase_add_test(t,
		a_session_that_cannot_be_asked_for_is_told_by_its_option);
	tcase_add_test(t, a_message_is_one_line_whatever_is_in_a_path);
	tcase_add_test(t, standard_input_and_output_are_the_commands);
	tcase_add_test(t, the_grace_is_a_quarter_of_what_is_granted_at_most);
	tcase_add_test(t, the_environment_tells_of_the_innermost_lock);
	tcase_add_test(t, P13_the_command_inherits_no_descriptor_of_ours);
	tcase_add_test(t, a_descriptor_of_the_callers_reaches_the_command);
	tcase_add_test(t, the_node_says_what_was_asked_for);
	tcase_add_test(t, a_mixed_line_is_complained_about);
	tcase_add_test(t, who_has_an_extra_mark_is_waited_for);
	return fixture_main(s);
}
