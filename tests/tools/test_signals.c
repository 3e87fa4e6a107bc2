/*
 * test_signals.c - a signal ends every command that waits for a server that
 * does not answer.
 */
#include "cli.h"

#include "fixture.h"
#include "proxy.h"
#include "raw.h"
#include "zkproto.h"

#include <signal.h>
#include <stdlib.h>

/* They would wait for this long, which is longer than cli_end() waits. */
#define SESSION "--session-timeout=200000"

#define WORDS 6
static const char *const commands[][WORDS] = {
	{ "top", SESSION, "/r" }, { "elect", SESSION, "--watch", "/r" },
	{ "elect", SESSION, "/r", "true" }, { "lock", SESSION, "/r", "true" },
	{ "semaphore", SESSION, "-n1", "/r", "true" },
	{ "semaphore", SESSION, "--max-path=/r", "--set-max=1" },
	{ "barrier", "set", SESSION, "/r" },
	{ "barrier", "enter", SESSION, "-n2", "/r", "true" },
	{ "latch", "wait", SESSION, "-n1", "/r" },
	{ "latch", "done", SESSION, "/r", "true" },
	{ "queue", "put", SESSION, "/r", "x" },
	{ "queue", "take", SESSION, "/r" }, { "queue", "ls", SESSION, "/r" },
	{ "queue", "consume", SESSION, "/r", "true" }, { "ls", SESSION, "/r" },
	{ "break", SESSION, "-y", "/r" },
	{ "bench", SESSION, "/r" }, /* the last */
};
#define COMMANDS (int)(sizeof(commands) / sizeof(commands[0]))

static struct cli a;
static struct proxy *proxy;

static void set_up(void)
{
	ck_assert_int_eq(raw_create(fixture_address(), "/r", ""), 0);
	proxy = fixture_proxy();
	setenv("KUSTOS_HOSTS", proxy_address(proxy), 1);
}

static void tear_down(void)
{
	proxy_free(proxy);
}

static void start(const char *const *words)
{
	const char *argv[WORDS + 2] = { cli_program() };

	for (int i = 0; i < WORDS; i++)
		argv[i + 1] = words[i];
	cli_start_argv(&a, argv);
}

static void end_by_signal(int sig)
{
	kill(a.pid, sig);
	ck_assert_int_eq(cli_end(&a), -sig);
}

START_TEST(L20_a_signal_ends_what_connects)
{
	proxy_set_mode(proxy, PROXY_HOLD);
	start(commands[_i]);
	test_within(proxy_accepted(proxy) > 0, CLI_MS);
	end_by_signal(_i % 2 == 0 ? SIGINT : SIGTERM);
}
END_TEST

/* The very first request is the library's own, before it reports a
   connection. */
START_TEST(L20_a_signal_ends_what_waits_for_the_first_answer)
{
	proxy_arm(proxy, PROXY_HOLD_REPLY, PROXY_ANY, 2);
	start(commands[_i]);
	test_within(proxy_fired(proxy) > 0, CLI_MS);
	end_by_signal(_i % 2 == 0 ? SIGINT : SIGTERM);
}
END_TEST

/* The first transaction claims the item. */
START_TEST(L20_a_signal_ends_what_waits_for_the_end_of_an_item)
{
	ck_assert_int_eq(raw_create(fixture_address(), "/r-locks", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), "/r/qn-0000000000", "x"),
		0);
	proxy_arm(proxy, PROXY_HOLD_REPLY, ZK_OP_MULTI, 2);
	cli_start(&a, "queue", "consume", SESSION, "/r", "true");
	test_within(proxy_fired(proxy) > 0, CLI_MS);
	end_by_signal(SIGTERM);
}
END_TEST

/* After the first signal it deletes what it has created. */
START_TEST(a_second_signal_ends_a_bench_that_cannot_clear_away)
{
	proxy_arm(proxy, PROXY_HOLD_REPLY, PROXY_ANY, 2);
	cli_start(&a, "bench", SESSION, "/r");
	test_within(proxy_fired(proxy) > 0, CLI_MS);
	proxy_reset_counts(proxy);
	kill(a.pid, SIGINT);
	test_within(proxy_accepted(proxy) > 0, CLI_MS);
	end_by_signal(SIGINT);
	cli_hears_error(&a, " is left\n");
}
END_TEST

static struct cli holder;

/* Connected directly, whatever happens to the proxy. */
static void hold(const char *subcommand)
{
	cli_start(&holder, subcommand, "--hosts", fixture_address(), "/r", "--",
		"sh", "-c", "echo held; read go");
	cli_hears(&holder, "held\n");
}

static bool ended_by_another(int sig)
{
	if (cli_runs(&a))
		kill(a.pid, sig);
	return !cli_runs(&a);
}

/* The first signal makes it leave the line, and this cannot be sent. */
START_TEST(the_next_signal_ends_what_cannot_say_that_it_leaves)
{
	static const char *const waiting[] = { "lock", "elect" };

	hold(waiting[_i]);
	cli_start(&a, waiting[_i], SESSION, "/r", "true");
	test_within(fixture_children("/r") == 2, CLI_MS);
	proxy_set_mode(proxy, PROXY_HOLD);
	kill(a.pid, SIGHUP);
	test_within(ended_by_another(SIGTERM), CLI_MS);
	ck_assert_int_eq(cli_end(&a), -SIGTERM);
	cli_eof(&holder);
	(void)cli_end(&holder);
}
END_TEST

/* It is looking who is before it. */
START_TEST(L20_a_signal_ends_an_election_that_is_not_to_wait)
{
	hold("elect");
	proxy_arm(proxy, PROXY_HOLD_REPLY, PROXY_ANY, 4);
	cli_start(&a, "elect", SESSION, "-w0", "/r", "true");
	test_within(proxy_fired(proxy) > 0, CLI_MS);
	test_never(!cli_runs(&a), 100); /* looks again, in vain */
	end_by_signal(SIGTERM);
	cli_eof(&holder);
	(void)cli_end(&holder);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos and signals");
	TCase *t = fixture_case(s, "one server", 90);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, L20_a_signal_ends_what_connects, 0, COMMANDS);
	tcase_add_test(t, L20_a_signal_ends_what_waits_for_the_end_of_an_item);
	tcase_add_test(t, a_second_signal_ends_a_bench_that_cannot_clear_away);
	tcase_add_loop_test(t,
		the_next_signal_ends_what_cannot_say_that_it_leaves, 0, 2);
	tcase_add_test(t, L20_a_signal_ends_an_election_that_is_not_to_wait);
	tcase_add_loop_test(t,
		L20_a_signal_ends_what_waits_for_the_first_answer, 0,
		COMMANDS - 1);
	return fixture_main(s);
}
