/*
 * test_guard.c - the guard of a command, alone: it ends the command in time, by
 * what it is told of the lock's remaining time.
 */
#include "guard.h"

#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_MS 3600000
#define SHORT_MS 500

/* Return for how many seconds its timer is set; 0 if it is not. */
static long sleeps_s(pid_t pid)
{
	char name[64], line[128];
	long seconds = 0;

	for (int fd = 3; fd < 16; fd++) {
		snprintf(name, sizeof(name), "/proc/%d/fdinfo/%d", (int)pid,
			fd);
		FILE *f = fopen(name, "r");
		while (f != NULL && fgets(line, sizeof(line), f) != NULL)
			(void)sscanf(line, "it_value: (%ld", &seconds);
		if (f != NULL)
			fclose(f);
	}
	return seconds;
}

static pid_t start_command(void (*on_term)(int))
{
	/* libcheck's handler would end the test, so replace it before the
	   fork. */
	void (*libchecks)(int) = signal(SIGTERM, on_term);
	pid_t command = fork();

	if (command == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		for (;;)
			pause();
	}
	signal(SIGTERM, libchecks);
	setpgid(command, command);
	return command;
}

/* Start a guard, and a command that it guards for LONG_MS for now. */
static pid_t start_guarded(struct guard *g, void (*on_term)(int), int grace_ms)
{
	ck_assert_int_eq(guard_start(g), 0);
	pid_t command = start_command(on_term);
	guard_feed(g, guard_now(), LONG_MS);
	guard_arm(g, command, grace_ms);
	return command;
}

/* As from a server that granted the session less time than the one before. */
START_TEST(S27_a_time_that_gets_shorter_is_heeded)
{
	struct guard g;
	int status;

	pid_t command = start_guarded(&g, SIG_DFL, SHORT_MS / 2);
	test_eventually(sleeps_s(g.pid) > 0, 5000);
	guard_feed(&g, guard_now(), LONG_MS - 1000); /* not so short yet */
	guard_feed(&g, guard_now(), SHORT_MS);
	test_within(waitpid(command, &status, WNOHANG) == command, 10000);
	ck_assert(WIFSIGNALED(status));
	ck_assert(guard_acted(&g));
	ck_assert_int_eq(guard_end(&g), 0);
}
END_TEST

/* It also acts before that time is over, by a tenth of the grace, whatever the
   command does. */
START_TEST(S27_a_command_that_is_deaf_is_not_left_until_the_end)
{
	struct guard g;
	int status;

	pid_t command = start_guarded(&g, SIG_IGN,
		LONG_MS); /* it is asked at once */
	test_eventually(sleeps_s(g.pid) > 0, 5000);
	ck_assert(guard_acted(&g));
	ck_assert_int_le(sleeps_s(g.pid), LONG_MS / 1000 / 10 * 9);
	ck_assert_int_eq(guard_end(&g), 0);
	kill(command, SIGKILL);
	ck_assert_int_eq(waitpid(command, &status, 0), command);
}
END_TEST

/* Whoever has asked for the lock waits until the command has ended; but who
   gets a lock that was lost does not. */
START_TEST(S27_a_loss_ends_the_patience_with_a_command_that_was_asked)
{
	struct guard g;
	int status;

	pid_t command = start_guarded(&g, SIG_IGN, LONG_MS / 4);
	guard_ask(&g);
	test_eventually(guard_acted(&g), 5000);
	test_eventually(sleeps_s(g.pid) > 0, 5000);
	ck_assert_int_eq(waitpid(command, &status, WNOHANG), 0);
	guard_lost(&g);
	test_within(waitpid(command, &status, WNOHANG) == command, 10000);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	ck_assert_int_eq(guard_end(&g), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("guard");
	TCase *t = fixture_bare_case(s, "by itself", 20);

	tcase_add_test(t, S27_a_time_that_gets_shorter_is_heeded);
	tcase_add_test(t, S27_a_command_that_is_deaf_is_not_left_until_the_end);
	tcase_add_test(t,
		S27_a_loss_ends_the_patience_with_a_command_that_was_asked);
	return fixture_main(s);
}
