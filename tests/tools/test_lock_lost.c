/*
 * test_lock_lost.c - kustos lock when the lock is lost while the command runs.
 *
 * Wherever the command must end in time, the proof is the same: when its last
 * process is gone, the server still has the lock's node.
 */
#include "cli.h"

#include "fixture.h"
#include "process.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define T_MS 8000

/* A session so long that the clock does not end a command this soon: the clock
   asks it when an eighth of the time is left, of at least 3/8.  So a command
   that is asked sooner was asked because of what has happened. */
#define LONG_MS 40000
#define AT_ONCE_MS (LONG_MS / 5)

static struct cli a;
static struct proxy *proxy;
static char node[128];
static int leader, follower; /* processes of the command */

static void set_up(void)
{
	proxy = fixture_proxy();
	setenv("KUSTOS_HOSTS", proxy_address(proxy), 1);
}

static void tear_down(void)
{
	proxy_free(proxy);
}

/* Start a command of two processes.  "trap" is the first one's reaction to
   signals.  "option" sets the grace, or leaves the default. */
static void start_as(int session_ms, const char *option, const char *trap)
{
	char script[512], session[48];

	snprintf(session, sizeof(session), "--session-timeout=%d", session_ms);
	snprintf(script, sizeof(script),
		"%s\nsleep 1000 & echo node $KUSTOS_NODE pids $$ $! known\n"
		"while :; do sleep 0.02; done",
		trap);
	cli_start(&a, "lock", session, option, "/l", "--", "sh", "-c", script);
	cli_hears(&a, "known\n");
	ck_assert_int_eq(sscanf(cli_hears(&a, "node "), "%127s pids %d %d",
				 node, &leader, &follower),
		3);
	ck_assert(process_alive(leader) && process_alive(follower));
}

static void start_with(int session_ms, const char *trap)
{
	start_as(session_ms, "--record", trap);
}

static void start(const char *trap)
{
	start_with(T_MS, trap);
}

static void expect_asked_at_once(int64_t since_ms)
{
	cli_hears(&a, "asked\n");
	ck_assert_int_lt(test_now_ms() - since_ms, AT_ONCE_MS);
}

static bool node_is_there(void)
{
	int rc = raw_exists(fixture_address(), node, NULL);

	ck_assert(rc == 0 || rc == RAW_NONODE);
	return rc == 0;
}

static bool command_is_gone(void)
{
	return !process_alive(leader) && !process_alive(follower);
}

/* Return how long a command that does not obey lives after it was asked. */
static int64_t grace_given(void)
{
	int64_t asked_ms;

	cli_hears(&a, "asked\n");
	asked_ms = test_now_ms();
	test_within(command_is_gone(), CLI_MS);
	return test_now_ms() - asked_ms;
}

static void expect_gone_in_time(void)
{
	test_within(command_is_gone(), CLI_MS);
	ck_assert_msg(node_is_there(), "others may have had the lock by then");
}

static void expect_lost(void)
{
	ck_assert_int_eq(cli_end(&a), 122);
	cli_hears_error(&a, "kustos: /l: the lock was ");
}

/* The network swallows all data. */
START_TEST(S27_a_command_is_asked_to_end_before_the_lock_is_lost)
{
	start_with(2 * T_MS, "trap 'echo asked; kill $!; exit 9' TERM");
	proxy_set_mode(proxy, PROXY_HOLE);
	cli_hears(&a, "asked\n");
	ck_assert(node_is_there());
	expect_gone_in_time();
	expect_lost();
	cli_hears_error(&a,
		"about to be lost while sh ran, which ended with 9\n");
}
END_TEST

START_TEST(S27_a_command_that_does_not_end_is_killed_before_the_lock_is_lost)
{
	start("trap 'echo asked' TERM");
	proxy_set_mode(proxy, PROXY_HOLE);
	cli_hears(&a, "asked\n");
	expect_gone_in_time();
	expect_lost();
	cli_hears_error(&a, "ended with 137\n");
}
END_TEST

/* The grace ends a tenth before the lock does.  Only a machine that is seconds
   late comes near either bound. */
START_TEST(a_command_that_is_asked_has_the_grace_that_was_chosen)
{
	const int grace_ms = 5000, given_ms = grace_ms - grace_ms / 10;
	int64_t ms;

	start_as(4 * grace_ms, "--grace=5", "trap 'echo asked' TERM");
	proxy_set_mode(proxy, PROXY_HOLE);
	ms = grace_given();
	ck_assert(node_is_there());
	ck_assert_int_gt(ms, given_ms - grace_ms / 3);
	ck_assert_int_lt(ms, given_ms + grace_ms / 3);
	expect_lost();
}
END_TEST

/* The first process ends when asked, the second would not.  "_i" is 0 for a
   holder that runs, and 1 for a killed one, in which case only the guard can
   act. */
START_TEST(S27_nothing_of_the_process_group_is_left)
{
	start("trap '' TERM; sleep 1000 & deaf=$!\n"
	      "trap 'exit 0' TERM; echo deaf $deaf");
	if (_i == 0)
		proxy_set_mode(proxy, PROXY_HOLE);
	else
		kill(a.pid, SIGKILL);
	follower = atoi(cli_hears(&a, "deaf "));
	expect_gone_in_time();
	if (_i == 0)
		expect_lost();
}
END_TEST

/* As by kill -STOP, or by a shell, which stops the whole group. */
START_TEST(S27_it_ends_in_time_although_the_holder_is_stopped)
{
	start("trap 'echo asked' TERM");
	ck_assert_int_eq(kill(-a.pid, SIGSTOP), 0);
	ck_assert_int_eq(process_pause(a.pid), 0);
	cli_hears(&a, "asked\n");
	expect_gone_in_time();
	test_eventually(!node_is_there(), 3 * T_MS);
	process_resume(a.pid);
	expect_lost();
}
END_TEST

/* As by the kernel when memory is short. */
START_TEST(S27_it_ends_in_time_although_the_holder_is_killed)
{
	start("trap 'echo asked' TERM");
	kill(a.pid, SIGKILL);
	cli_hears(&a, "asked\n");
	expect_gone_in_time();
	ck_assert_int_eq(cli_end(&a), -SIGKILL);
}
END_TEST

START_TEST(a_command_whose_holder_was_killed_is_asked_at_once)
{
	int64_t then;

	start_with(LONG_MS, "trap 'echo asked; kill $!; exit' TERM");
	then = test_now_ms();
	kill(a.pid, SIGKILL);
	expect_asked_at_once(then);
	ck_assert_int_eq(cli_end(&a), -SIGKILL);
}
END_TEST

/* Nor does the guard keep descriptors of the caller open. */
START_TEST(an_old_kernel_tells_the_guard_as_well_that_the_holder_was_killed)
{
	char byte;
	int64_t then;
	int ends[2];

	if (!cli_on_an_old_kernel())
		return;
	ck_assert_int_eq(pipe(ends), 0);
	start_with(LONG_MS, "trap 'echo asked; kill $!; exit' TERM");
	close(ends[1]);
	then = test_now_ms();
	kill(a.pid, SIGKILL);
	expect_asked_at_once(then);
	ck_assert_int_eq(cli_end(&a), -SIGKILL);
	ck_assert_int_eq(read(ends[0], &byte, 1), 0);
	close(ends[0]);
}
END_TEST

START_TEST(S27_it_ends_in_time_although_the_server_is_stopped)
{
	start("trap 'echo asked' TERM");
	server_pause(fixture_server());
	cli_hears(&a, "asked\n");
	test_within(command_is_gone(), CLI_MS);
	expect_lost();
	server_resume(fixture_server());
}
END_TEST

/* A stopped command cannot receive the signal, nor clean up. */
START_TEST(S27_a_command_that_is_stopped_goes_on_to_hear_that_it_is_to_end)
{
	start("trap 'echo asked; kill $!; exit' TERM");
	ck_assert_int_eq(process_pause(leader), 0);
	server_pause(fixture_server());
	cli_hears(&a, "asked\n");
	test_within(command_is_gone(), CLI_MS);
	expect_lost();
	server_resume(fixture_server());
}
END_TEST

START_TEST(a_lock_that_was_broken_ends_the_command)
{
	int64_t then;

	start_with(LONG_MS, "trap 'echo asked; exit 0' TERM");
	then = test_now_ms();
	ck_assert_int_eq(raw_delete(fixture_address(), node), 0);
	expect_asked_at_once(then);
	test_within(command_is_gone(), CLI_MS);
	expect_lost();
	cli_hears_error(&a, "the lock was lost while sh ran");
}
END_TEST

/* Another process may have the lock already, so the grace does not apply. */
START_TEST(a_command_that_is_deaf_is_killed_soon_after_its_lock_was_broken)
{
	start_as(LONG_MS, "--grace=10", "trap 'echo asked' TERM");
	ck_assert_int_eq(raw_delete(fixture_address(), node), 0);
	ck_assert_int_lt(grace_given(), AT_ONCE_MS / 2);
	expect_lost();
}
END_TEST

/* Nor is a command that was stopped before made to continue, to hear of it. */
START_TEST(a_command_that_is_stopped_when_its_lock_is_broken_stays_so)
{
	start_with(LONG_MS, "trap 'echo asked' TERM");
	ck_assert_int_eq(process_pause(leader), 0);
	ck_assert_int_eq(raw_delete(fixture_address(), node), 0);
	test_within(command_is_gone(), CLI_MS);
	expect_lost();
	ck_assert_ptr_null(strstr(a.out_text, "asked"));
}
END_TEST

/* Without its lock a command that stops should stay stopped until it is killed.
   It needs a terminal of its own, where it is stopped and continued together
   with kustos. */
START_TEST(a_command_that_stops_once_its_lock_was_broken_does_not_go_on)
{
	static const char text[] =
		"trap 'echo asked; kill -TSTP $$; echo went on' TERM\n"
		"echo node $KUSTOS_NODE known; while :; do sleep 0.02; done";
	const char *const argv[] = { cli_program(), "lock",
		"--session-timeout=40000", "/l", "--", "sh", "-c", text, NULL };

	cli_start_on_terminal(&a, argv);
	ck_assert_int_eq(sscanf(cli_hears(&a, "node "), "%127s", node), 1);
	ck_assert_int_eq(raw_delete(fixture_address(), node), 0);
	cli_hears(&a, "asked");
	/* Nor when kustos itself is continued. */
	test_within((kill(a.pid, SIGCONT), !cli_runs(&a)), CLI_MS);
	ck_assert_int_eq(cli_end(&a), 122);
	ck_assert_ptr_null(strstr(a.out_text, "went on"));
}
END_TEST

static bool is_guard(int pid)
{
	char path[64], name[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(name, sizeof(name), f));
	fclose(f);
	return strcmp(name, "kustos-guard\n") == 0;
}

/* Return the child of the holder that is the guard, or that is not; 0 if
   none. */
static int child_of(const struct cli *c, bool guard)
{
	pid_t pids[2];
	int count = cli_children(c, pids, 2);

	for (int i = 0; i < count; i++)
		if (is_guard((int)pids[i]) == guard)
			return (int)pids[i];
	return 0;
}

/* The guard sets its name when it gets the time, even after the command
   began. */
static int find_guard_of(const struct cli *c)
{
	test_within(child_of(c, true) != 0, CLI_MS);
	return child_of(c, true);
}

static int find_command_of(const struct cli *c)
{
	(void)find_guard_of(c);
	ck_assert_int_ne(child_of(c, false), 0);
	return child_of(c, false);
}

static int find_guard(void)
{
	return find_guard_of(&a);
}

static bool is_stopped(int pid)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
	fclose(f);
	return state == 'T';
}

/* Without a guard nobody might end the command in time, so kustos ends it
   now. */
START_TEST(a_command_whose_guard_was_killed_is_killed)
{
	start_with(LONG_MS, "trap 'echo asked' TERM");
	kill(find_guard(), SIGKILL);
	cli_hears_error(&a, "kustos: the guard was killed, and so is the");
	test_within(command_is_gone(), CLI_MS);
	expect_lost();
	ck_assert_ptr_null(strstr(a.out_text, "asked"));
}
END_TEST

/* Being stopped is no end for the guard, and not meant for it. */
START_TEST(a_guard_that_was_stopped_goes_on)
{
	start_with(LONG_MS, "trap 'kill $!; exit 4' USR1");
	int guard = find_guard();

	ck_assert_int_eq(process_pause(a.pid), 0);
	ck_assert_int_eq(process_pause(guard), 0);
	ck_assert_int_eq(process_resume(a.pid), 0);
	test_within(!is_stopped(guard), CLI_MS);
	ck_assert(!command_is_gone());
	kill(a.pid, SIGUSR1);
	ck_assert_int_eq(cli_end(&a), 4);
	ck_assert_ptr_null(strstr(a.err_text, "kustos"));
}
END_TEST

/* The guard is stopped, or the process that will be the command. */
START_TEST(a_wait_ends_although_a_process_of_it_is_stopped)
{
	struct cli b;

	start_with(LONG_MS, "");
	cli_start(&b, "lock", "/l", "--", "true");
	test_within(raw_count_children(fixture_address(), "/l") == 2, CLI_MS);
	ck_assert_int_eq(process_pause(_i == 0 ? find_guard_of(&b)
					       : find_command_of(&b)),
		0);
	kill(b.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&b), -SIGTERM);
	kill(a.pid, SIGTERM);
	(void)cli_end(&a);
}
END_TEST

START_TEST(a_lock_whose_session_was_ended_ends_a_command_that_is_deaf)
{
	struct raw_stat stat;

	start("trap '' TERM");
	ck_assert_int_eq(raw_exists(fixture_address(), node, &stat), 0);
	ck_assert_int_eq(
		raw_kill_session(fixture_address(), stat.ephemeral_owner), 0);
	test_within(command_is_gone(), CLI_MS);
	expect_lost();
}
END_TEST

/* The client notices some of these as a loss of contact, but the lock
   survives. */
START_TEST(a_command_outlives_a_disturbance)
{
	start_with(2 * T_MS,
		"trap 'echo asked' TERM; trap 'kill $!; exit 4' USR1");
	for (int i = 0; i < 5; i++) {
		int before = proxy_accepted(proxy);

		proxy_cut(proxy);
		test_within(proxy_accepted(proxy) > before, CLI_MS);
	}
	proxy_set_mode(proxy, PROXY_HOLD);
	test_never(command_is_gone(), T_MS / 4);
	proxy_set_mode(proxy, PROXY_PASS);
	test_never(command_is_gone(), 2 * T_MS);
	ck_assert(node_is_there());
	kill(a.pid, SIGUSR1);
	ck_assert_int_eq(cli_end(&a), 4);
	ck_assert_ptr_null(strstr(a.out_text, "asked"));
	ck_assert_ptr_null(strstr(a.err_text, "kustos"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos lock, lost");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t,
		S27_a_command_is_asked_to_end_before_the_lock_is_lost);
	tcase_add_test(t,
		S27_a_command_that_does_not_end_is_killed_before_the_lock_is_lost);
	tcase_add_test(t,
		a_command_that_is_asked_has_the_grace_that_was_chosen);
	tcase_add_loop_test(t, S27_nothing_of_the_process_group_is_left, 0, 2);
	tcase_add_test(t, S27_it_ends_in_time_although_the_holder_is_stopped);
	tcase_add_test(t, S27_it_ends_in_time_although_the_holder_is_killed);
	tcase_add_test(t, a_command_whose_holder_was_killed_is_asked_at_once);
	tcase_add_test(t,
		an_old_kernel_tells_the_guard_as_well_that_the_holder_was_killed);
	tcase_add_test(t, S27_it_ends_in_time_although_the_server_is_stopped);
	tcase_add_test(t,
		S27_a_command_that_is_stopped_goes_on_to_hear_that_it_is_to_end);
	tcase_add_test(t, a_lock_that_was_broken_ends_the_command);
	tcase_add_test(t,
		a_command_that_is_deaf_is_killed_soon_after_its_lock_was_broken);
	tcase_add_test(t,
		a_command_that_is_stopped_when_its_lock_is_broken_stays_so);
	tcase_add_test(t,
		a_command_that_stops_once_its_lock_was_broken_does_not_go_on);
	tcase_add_test(t, a_command_whose_guard_was_killed_is_killed);
	tcase_add_test(t, a_guard_that_was_stopped_goes_on);
	tcase_add_loop_test(t, a_wait_ends_although_a_process_of_it_is_stopped,
		0, 2);
	tcase_add_test(t,
		a_lock_whose_session_was_ended_ends_a_command_that_is_deaf);
	tcase_add_test(t, a_command_outlives_a_disturbance);
	return fixture_main(s);
}
