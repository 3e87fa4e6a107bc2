/*
 * test_bench_lost.c - kustos bench while sessions end: holds that were lost are
 * told apart from errors.
 */
#include "cli.h"

#include "fixture.h"
#include "json.h"
#include "net.h"
#include "printed.h"
#include "process.h"
#include "raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static struct cli b;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

static double first(const char *name)
{
	return printed_first(b.out_text, name);
}

/* Return how many places in the line belong to live sessions. */
static int standing(void)
{
	char text[8192];
	int count = 0;

	ck_assert_uint_gt(
		fourletter(fixture_address(), "dump", text, sizeof(text)), 0);
	for (const char *at = text; (at = strstr(at, "/kustos-bench/")); at++)
		count++;
	return count;
}

/* Both processes are stopped until their sessions are over.  The one that
   waited gets a new session soon, and is granted the lock that the other one,
   stopped, believes to hold.  They think long enough for the first grant to be
   counted. */
START_TEST(a_hold_that_was_lost_is_no_overlap)
{
	const char *const argv[] = { cli_program(), "bench", "-d10",
		"--warm-up=0.1", "-c2", "-p2", "--think=1500", "--hold=20000",
		"--session-timeout=2000", "--json", NULL };
	pid_t workers[3];

	cli_start_on_terminal(&b, argv);
	cli_hears(&b, " 1 grants, ");
	test_within(standing() == 2, CLI_MS);
	ck_assert_int_eq(cli_children(&b, workers, 3), 2);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(process_pause(workers[i]), 0);
	test_within(standing() == 0, CLI_MS);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(process_resume(workers[i]), 0);
	ck_assert_int_eq(cli_end(&b), 0);
	ck_assert_double_eq_tol(first("overlaps"), 0, 0.1);
	ck_assert(first("lost") >= 1);
}
END_TEST

START_TEST(a_killed_holder_is_followed)
{
	const char *at = b.out_text;

	ck_assert_int_eq(cli_run(&b, "bench", "-d6", "--warm-up=0.1", "-c3",
				 "--kill-holder=2", "--session-timeout=1000",
				 "--json"),
		0);
	ck_assert(json_is_object(b.out_text, b.out_len));
	ck_assert_double_eq_tol(first("killed"), 2, 0.1);
	/* Not before the server has missed it for most of its session
	   timeout. */
	(void)printed_next(&at, "take_over_s");
	for (int i = 0; i < 2; i++) {
		double seconds;
		char *end;

		ck_assert_int_eq(*at, i == 0 ? '[' : ',');
		seconds = strtod(at + 1, &end);
		ck_assert(seconds > 0.5 && seconds < 60);
		at = end;
	}
	ck_assert_int_eq(*at, ']');
	ck_assert_int_le(raw_count_children(fixture_address(), "/kustos-bench"),
		0);
}
END_TEST

/* More is due than can be done, and what was due for the killed one stays
   due. */
START_TEST(what_was_due_stays_due_when_a_holder_is_killed)
{
	ck_assert_int_eq(cli_run(&b, "bench", "-d4", "--warm-up=0.1", "-c2",
				 "--kill-holder=2", "--session-timeout=1000",
				 "--rate=10000", "--json"),
		0);
	ck_assert(first("grants") > 0);
	ck_assert(first("grants") + first("waiting") > 38000);
}
END_TEST

/* Kill one of the processes that contend, unless all is over. */
static bool is_over_or_loses_one(void)
{
	pid_t worker;

	if (!cli_runs(&b))
		return true;
	if (cli_children(&b, &worker, 1) == 1)
		process_kill(worker);
	return false;
}

START_TEST(only_those_that_are_told_to_may_be_killed)
{
	const char *const argv[] = { cli_program(), "bench", "-d1000", "-c2",
		"-p2", "--kill-holder=1", "--session-timeout=1000", NULL };

	cli_start_on_terminal(&b, argv);
	cli_hears(&b, ", a holder was killed");
	/* The first one may be the one that was to be killed, dying or dead. */
	test_within(is_over_or_loses_one(), CLI_MS);
	ck_assert_int_eq(cli_end(&b), 124);
	cli_hears(&b, "a process has died of signal 9");
}
END_TEST

/* Two servers that are no ensemble both grant the lock.  This is reported
   before any other error. */
START_TEST(two_that_hold_at_a_time_are_told_first_of_all)
{
	struct server *other = server_start(NULL);
	const char *const deaf[] = { "/bin/sh", "-c",
		"exec \"$0\" bench -d0.4 -c32 --hold=20 >/dev/full",
		cli_program(), NULL };
	char hosts[128];

	ck_assert_ptr_nonnull(other);
	snprintf(hosts, sizeof(hosts), "%s,%s", fixture_address(),
		server_address(other));
	setenv("KUSTOS_HOSTS", hosts, 1);
	ck_assert_int_eq(cli_run(&b, "bench", "-d0.4", "-c32", "--hold=20"),
		122);
	cli_hears(&b, "\nOVERLAPS ");
	cli_hears_error(&b, "two held at the same time that must not\n");
	cli_start_argv(&b, deaf);
	ck_assert_int_eq(cli_end(&b), 122);
	cli_hears_error(&b, "two held at the same time that must not\n");
	cli_hears_error(&b, "cannot write to standard output: ");
	server_free(other);
}
END_TEST

/* All hold an item and are to put it back, which cannot be done before the
   server answers again. */
START_TEST(a_second_signal_ends_those_who_wait_for_a_server)
{
	const char *const argv[] = { cli_program(), "bench", "-d1000",
		"-rqueue", "-c3", "-p3", "--warm-up=0.1", "--think=1500",
		"--hold=100000", "--session-timeout=2000", NULL };
	struct server *server = server_start(NULL);

	ck_assert_ptr_nonnull(server);
	setenv("KUSTOS_HOSTS", server_address(server), 1);
	cli_start_on_terminal(&b, argv);
	cli_hears(&b, " 3 grants, ");
	ck_assert_int_eq(server_pause(server), 0);
	kill(b.pid, SIGINT);
	kill(b.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&b), -SIGTERM);
	cli_hears(&b, "a process did not end, and was killed");
	cli_hears(&b, " is left");
	server_free(server);
}
END_TEST

/* The nodes that it created cannot be deleted now, and it takes a while to find
   that out. */
START_TEST(a_signal_is_obeyed_while_it_clears_away)
{
	const char *const argv[] = { cli_program(), "bench", "-d2", "-c1,2",
		NULL };
	struct server *server = server_start(NULL);

	ck_assert_ptr_nonnull(server);
	setenv("KUSTOS_HOSTS", server_address(server), 1);
	cli_start_on_terminal(&b, argv);
	cli_hears(&b, " grants, now ");
	ck_assert_int_eq(server_pause(server), 0);
	cli_hears(&b, "no server could be told of the end");
	kill(b.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&b), -SIGTERM);
	cli_hears(&b, " is left");
	server_free(server);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos bench, lost");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, a_hold_that_was_lost_is_no_overlap);
	tcase_add_test(t, a_killed_holder_is_followed);
	tcase_add_test(t, what_was_due_stays_due_when_a_holder_is_killed);
	tcase_add_test(t, two_that_hold_at_a_time_are_told_first_of_all);
	tcase_add_test(t, a_second_signal_ends_those_who_wait_for_a_server);
	tcase_add_test(t, a_signal_is_obeyed_while_it_clears_away);
	tcase_add_test(t, only_those_that_are_told_to_may_be_killed);
	return fixture_main(s);
}
