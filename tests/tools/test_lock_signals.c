/*
 * test_lock_signals.c - signals to kustos lock, and to kustos elect --restart:
 * from processes, from terminals, and as process 1 of a container.
 */
#include "cli.h"

#include "fixture.h"
#include "process.h"
#include "raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cli a, b;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
	setenv("PS1", "prompt> ", 1);
}

static int waiting(void)
{
	return raw_count_children(fixture_address(), "/l");
}

START_TEST(signals_are_passed_on)
{
	static const char script[] =
		"for s in INT TERM HUP QUIT USR1 USR2 WINCH ALRM; do\n"
		"trap \"echo got $s\" $s; done\n"
		"trap 'echo going on' CONT; echo ready\n"
		"while :; do sleep 0.02; done";
	static const struct {
		int number;
		const char *name;
	} sent[] = { { SIGINT, "INT" }, { SIGTERM, "TERM" }, { SIGHUP, "HUP" },
		{ SIGQUIT, "QUIT" }, { SIGUSR1, "USR1" }, { SIGUSR2, "USR2" },
		{ SIGWINCH, "WINCH" }, { SIGALRM, "ALRM" } };

	/* The short sleeps let the shell run its traps. */
	cli_start(&a, "lock", "/l", "--", "sh", "-c", script);
	cli_hears(&a, "ready");
	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		char answer[32];

		kill(a.pid, sent[i].number);
		snprintf(answer, sizeof(answer), "got %s\n", sent[i].name);
		cli_hears(&a, answer);
	}
	kill(a.pid, SIGCONT);
	cli_hears(&a, "going on");
	ck_assert(process_alive(a.pid));
}
END_TEST

START_TEST(the_whole_process_group_hears_of_a_signal)
{
	static const char script[] =
		"(trap 'echo child; exit' TERM; echo child ready\n"
		"while :; do sleep 0.02; done) &\n"
		"trap 'wait; echo parent; exit 3' TERM; echo parent ready\n"
		"wait; wait";

	cli_start(&a, "lock", "/l", "--", "sh", "-c", script);
	cli_hears(&a, "child ready\n");
	cli_hears(&a, "parent ready\n");
	kill(a.pid, SIGTERM);
	cli_hears(&a, "\nchild\n");
	ck_assert_int_eq(cli_end(&a), 3);
	cli_hears(&a, "\nparent\n");
}
END_TEST

START_TEST(the_command_leads_a_process_group_of_its_own)
{
	int pid = 0, group = 0;

	ck_assert_int_eq(cli_run(&a, "lock", "/l", "--", "sh", "-c",
				 "set -- $(cat /proc/$$/stat); echo $1 $5"),
		0);
	ck_assert_int_eq(sscanf(a.out_text, "%d %d", &pid, &group), 2);
	ck_assert_int_eq(pid, group);
}
END_TEST

/* As under nohup: neither kustos, while it waits, nor its command minds. */
START_TEST(a_signal_that_was_ignored_stays_ignored)
{
	cli_start(&a, "lock", "/l", "--", "sh", "-c", "echo held; read go");
	cli_hears(&a, "held");
	signal(SIGHUP, SIG_IGN);
	cli_start(&b, "lock", "/l", "--", "sh", "-c",
		"echo ready; read go; grep SigIgn: /proc/$$/status");
	signal(SIGHUP, SIG_DFL);
	test_within(waiting() == 2, CLI_MS);
	kill(b.pid, SIGHUP);
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
	cli_hears(&b, "ready");
	kill(b.pid, SIGHUP);
	cli_type(&b, "go\n");
	ck_assert_int_eq(cli_end(&b), 0);
	ck_assert_int_eq(strtoul(cli_hears(&b, "SigIgn:"), NULL, 16) & 1, 1);
}
END_TEST

/* Read a line of this process's /proc/self/status.  It ignores the signals that
   its parent made it ignore. */
static void own_status(const char *name, char *out, size_t size)
{
	FILE *f = fopen("/proc/self/status", "re");

	ck_assert_ptr_nonnull(f);
	do
		ck_assert_ptr_nonnull(fgets(out, (int)size, f));
	while (strncmp(out, name, strlen(name)) != 0);
	fclose(f);
}

START_TEST(the_command_starts_with_the_signals_of_the_caller)
{
	char blocked[64], ignored[64];

	own_status("SigBlk:", blocked, sizeof(blocked));
	own_status("SigIgn:", ignored, sizeof(ignored));
	ck_assert_int_eq(
		cli_run(&a, "lock", "/l", "--", "cat", "/proc/self/status"), 0);
	cli_hears(&a, blocked);
	cli_hears(&a, ignored);
}
END_TEST

START_TEST(a_signal_ends_the_wait_and_leaves_nothing)
{
	static const int with[] = { SIGINT, SIGTERM, SIGHUP };

	cli_start(&a, "lock", "/l", "--", "sh", "-c", "echo held; read go");
	cli_hears(&a, "held");
	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		cli_start(&b, "lock", "/l", "--", "echo", "ran");
		test_within(waiting() == 2, CLI_MS);
		kill(b.pid, with[i]);
		ck_assert_int_eq(cli_end(&b), -with[i]);
		ck_assert_str_eq(b.out_text, "");
		ck_assert_int_eq(waiting(), 1);
	}
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
}
END_TEST

/* Such as a window that changes its size; no such signal ends a program. */
START_TEST(what_ends_nothing_does_not_end_the_wait)
{
	static const int with[] = { SIGWINCH, SIGURG, SIGCONT, SIGCHLD };

	cli_start(&a, "lock", "/l", "--", "sh", "-c", "echo held; read go");
	cli_hears(&a, "held");
	cli_start(&b, "lock", "/l", "--", "echo", "ran");
	test_within(waiting() == 2, CLI_MS);
	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		kill(b.pid, with[i]);
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(cli_end(&b), 0);
	ck_assert_str_eq(b.out_text, "ran\n");
}
END_TEST

/* Open a shell with job control on a terminal, for what a person types
   there. */
static void open_shell(void)
{
	static const char *const argv[] = { "sh", "-i", NULL };

	cli_start_on_terminal(&a, argv);
	cli_hears(&a, "prompt> ");
}

static void type_lock(const char *rest)
{
	char line[400];

	snprintf(line, sizeof(line), "%s lock /l %s\n", cli_program(), rest);
	cli_type(&a, line);
}

/* Forget the output so far, so that only new output can be found. */
static void forget(void)
{
	a.out_len = 0;
	a.out_text[0] = '\0';
}

START_TEST(the_command_reads_from_the_terminal_and_hears_its_keys)
{
	open_shell();
	type_lock(
		"sh -c 'trap \"echo in\"terrupted INT; echo re\"\"ady; "
		"until read x && [ \"$x\" = two ]; do :; done; echo read $x'; "
		"echo code $?");
	cli_hears(&a, "ready");
	cli_type(&a, "\003"); /* Control-C */
	cli_hears(&a, "interrupted");
	cli_type(&a, "one\ntwo\n");
	cli_hears(&a, "read two");
	cli_hears(&a, "code 0");
	cli_type(&a, "exit\n");
	ck_assert_int_eq(cli_end(&a), 0);
}
END_TEST

START_TEST(the_command_is_a_job_that_can_be_stopped_and_continued)
{
	open_shell();
	type_lock("sh -c 'echo re\"\"ady; read x; echo read $x'");
	cli_hears(&a, "ready");
	cli_type(&a, "\032"); /* Control-Z */
	cli_hears(&a, "Stopped");
	forget();
	cli_type(&a, "echo al\"\"ive\n");
	cli_hears(&a, "alive");
	forget();
	cli_type(&a, "fg\nword\n");
	cli_hears(&a, "read word");
	forget();
	cli_type(&a, "exit\n");
	ck_assert_int_eq(cli_end(&a), 0);
}
END_TEST

/* The shell ends a loop when its command dies of the key's signal. */
START_TEST(a_loop_of_locks_can_be_interrupted)
{
	open_shell();
	cli_type(&a, "cd .; while :; do ");
	type_lock("sh -c 'echo re\"\"ady; exec sleep 100'; echo ag\"\"ain; "
		  "done");
	cli_hears(&a, "ready");
	cli_type(&a, "\003");
	cli_hears(&a, "prompt> ");
	ck_assert_ptr_null(strstr(a.out_text, "again"));
	cli_type(&a, "exit\n");
	(void)cli_end(&a);
}
END_TEST

/* The other end of the pipeline reads keys, as a pager does.  A key for the
   whole pipeline reaches the command, too. */
START_TEST(the_terminal_is_not_taken_from_a_pipeline)
{
	open_shell();
	type_lock("sh -c 'echo re\"\"ady; exec sleep 1000 >/dev/null' | "
		  "sh -c 'read y; echo $y; read x </dev/tty; echo pager $x'");
	cli_hears(&a, "ready");
	cli_type(&a, "key\n");
	cli_hears(&a, "pager key");
	test_within(waiting() == 1, CLI_MS);
	forget();
	cli_type(&a, "\003");
	cli_hears(&a, "prompt> ");
	ck_assert_int_eq(waiting(), 0);
	cli_type(&a, "exit\n");
	(void)cli_end(&a);
}
END_TEST

/* The command is stopped when it reads, gets the terminal, and continues. */
START_TEST(the_command_of_a_pipeline_gets_the_terminal_when_it_reads)
{
	open_shell();
	type_lock("sh -c 'echo re\"\"ady; read x; echo read $x' | cat; "
		  "echo en\"\"ded");
	cli_hears(&a, "ready");
	cli_type(&a, "word\n");
	cli_hears(&a, "read word");
	cli_hears(&a, "ended");
	forget();
	cli_type(&a, "echo al\"\"ive; exit\n");
	cli_hears(&a, "alive");
	ck_assert_int_eq(cli_end(&a), 0);
}
END_TEST

/* Let it lead with --restart in the shell.  Returns its process id. */
static int lead_at_the_shell(void)
{
	char line[400];
	int pid;

	open_shell();
	snprintf(line, sizeof(line),
		"%s elect -r /l sh -c 'ulimit -c 0; echo le\"\"ads $PPID on; "
		"exec sleep 1000'\n",
		cli_program());
	cli_type(&a, line);
	cli_hears(&a, " on\r");
	ck_assert_int_eq(sscanf(cli_hears(&a, "leads "), "%d", &pid), 1);
	forget();
	return pid;
}

/* The key's signal reaches the command only. */
START_TEST(a_key_that_ends_the_command_ends_the_restarts)
{
	(void)lead_at_the_shell();
	cli_type(&a, _i ? "\034" : "\003"); /* Control-\, Control-C */
	cli_hears(&a, "prompt> ");
	ck_assert_int_eq(waiting(), 0);
	cli_type(&a, "echo co\"\"de $?\n");
	cli_hears(&a, _i ? "code 131" : "code 130");
	cli_type(&a, "exit\n");
	ck_assert_int_eq(cli_end(&a), 0);
}
END_TEST

/* The kernel tells the shell, and the processes in its foreground. */
START_TEST(the_end_of_its_terminal_ends_the_restarts)
{
	int pid = lead_at_the_shell();

	close(a.in);
	a.in = a.out = -1;
	test_within(!process_alive(pid), CLI_MS);
	ck_assert_int_eq(waiting(), 0);
	(void)cli_end(&a);
}
END_TEST

/* Return the only child of "pid": for unshare, the one that is process 1. */
static int child_of(int pid)
{
	char path[64];
	int child;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%d", &child), 1);
	fclose(f);
	return child;
}

START_TEST(as_process_1_it_reaps_orphans_and_passes_signals_on)
{
	static const char script[] =
		"echo pid $PPID; n=0\n"
		"orphan=$(sh -c 'sleep 0.1 >/dev/null & echo $!')\n"
		"while [ $n -lt 500 ] && [ -e /proc/$orphan ]; do\n"
		"n=$((n + 1)); sleep 0.02; done\n"
		"[ $n -lt 500 ] || echo not reaped\n"
		"trap 'exit 5' TERM; echo ready; while :; do sleep 0.02; done";
	const char *argv[] = { "unshare", "--pid", "--fork", "--kill-child",
		"--mount-proc", cli_program(), "lock", "/l", "--", "sh", "-c",
		script, NULL };

	cli_start_on_terminal(&a, argv);
	cli_hears(&a, "pid 1\r\n");
	cli_hears(&a, "ready");
	ck_assert_ptr_null(strstr(a.out_text, "not reaped"));
	kill(child_of((int)a.pid), SIGTERM);
	ck_assert_int_eq(cli_end(&a), 5);
}
END_TEST

/* A process that runs beside the command is no child of kustos, but may leave
   orphans to it; above all a health check run in the container. */
static void expect_to_reap(const struct cli *waiter)
{
	struct cli first = { .pid = child_of((int)waiter->pid) }, beside;
	char target[32];
	const char *check[] = { "nsenter", target, "--pid", "sh", "-c",
		"sleep 0.1 >/dev/null 2>&1 &", NULL };
	pid_t pids[8];
	int before = cli_children(&first, pids, 8);

	snprintf(target, sizeof(target), "--target=%d", (int)first.pid);
	cli_start_argv(&beside, check);
	ck_assert_int_eq(cli_end(&beside), 0);
	test_within(cli_children(&first, pids, 8) == before, CLI_MS);
}

START_TEST(as_process_1_it_reaps_orphans_also_while_it_waits)
{
	const char *argv[] = { "unshare", "--pid", "--fork", "--kill-child",
		"--mount-proc", cli_program(), "lock", "/l", "--", "true",
		NULL };
	struct cli waiter;

	cli_start(&a, "lock", "/l", "--", "sh", "-c", "echo held; read go");
	cli_hears(&a, "held");
	cli_start_argv(&waiter, argv);
	test_within(waiting() == 2, CLI_MS);
	expect_to_reap(&waiter);
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(cli_end(&waiter), 0);
}
END_TEST

START_TEST(as_process_1_it_reaps_orphans_while_others_are_waited_for)
{
	const char *argv[] = { "unshare", "--pid", "--fork", "--kill-child",
		"--mount-proc", cli_program(), "barrier", "enter", "-n2", "/b",
		"--", "true", NULL };
	struct cli waiter;

	cli_start_argv(&waiter, argv);
	test_within(raw_count_children(fixture_address(), "/b") == 1, CLI_MS);
	expect_to_reap(&waiter);
	ck_assert_int_eq(
		cli_run(&a, "barrier", "enter", "-n2", "/b", "--", "true"), 0);
	ck_assert_int_eq(cli_end(&waiter), 0);
}
END_TEST

START_TEST(as_process_1_it_reaps_orphans_while_an_item_is_waited_for)
{
	const char *argv[] = { "unshare", "--pid", "--fork", "--kill-child",
		"--mount-proc", cli_program(), "queue", "consume", "-c2", "/q",
		"--", "sh", "-c", "echo began", NULL };
	struct cli waiter;

	ck_assert_int_eq(cli_run(&a, "queue", "put", "/q", "x"), 0);
	cli_start_argv(&waiter, argv);
	cli_hears(&waiter, "began\n");
	struct cli first = { .pid = child_of((int)waiter.pid) };
	pid_t one;
	test_within(cli_children(&first, &one, 1) == 0, CLI_MS);
	expect_to_reap(&waiter);
	ck_assert_int_eq(cli_run(&a, "queue", "put", "/q", "x"), 0);
	ck_assert_int_eq(cli_end(&waiter), 0);
}
END_TEST

int main(void)
{
	/* Whatever runs the tests may ignore the signals that are to be passed
	   on. */
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);

	Suite *s = suite_create("kustos lock and signals");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, signals_are_passed_on);
	tcase_add_test(t, the_whole_process_group_hears_of_a_signal);
	tcase_add_test(t, the_command_leads_a_process_group_of_its_own);
	tcase_add_test(t, a_signal_that_was_ignored_stays_ignored);
	tcase_add_test(t, the_command_starts_with_the_signals_of_the_caller);
	tcase_add_test(t, a_signal_ends_the_wait_and_leaves_nothing);
	tcase_add_test(t, what_ends_nothing_does_not_end_the_wait);
	tcase_add_test(t,
		the_command_reads_from_the_terminal_and_hears_its_keys);
	tcase_add_test(t,
		the_command_is_a_job_that_can_be_stopped_and_continued);
	tcase_add_test(t, a_loop_of_locks_can_be_interrupted);
	tcase_add_test(t, the_terminal_is_not_taken_from_a_pipeline);
	tcase_add_test(t,
		the_command_of_a_pipeline_gets_the_terminal_when_it_reads);
	tcase_add_loop_test(t, a_key_that_ends_the_command_ends_the_restarts, 0,
		2);
	tcase_add_test(t, the_end_of_its_terminal_ends_the_restarts);
	if (system("unshare --pid --fork --kill-child --mount-proc true") !=
		0) {
		fputs("not run: as_process_1_*, as unshare(1) fails\n", stderr);
	} else {
		tcase_add_test(t,
			as_process_1_it_reaps_orphans_and_passes_signals_on);
		tcase_add_test(t,
			as_process_1_it_reaps_orphans_also_while_it_waits);
		tcase_add_test(t,
			as_process_1_it_reaps_orphans_while_others_are_waited_for);
		tcase_add_test(t,
			as_process_1_it_reaps_orphans_while_an_item_is_waited_for);
	}
	return fixture_main(s);
}
