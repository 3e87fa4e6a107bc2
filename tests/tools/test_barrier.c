/*
 * test_barrier.c - kustos barrier: set, removed and waited for; and commands of
 * a double barrier, which start together and end together.
 */
#include "cli.h"

#include "fixture.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GATE "/gates/g"
#define STEP "/steps/s"
#define CREW 3
#define QUIET_MS 100

static struct cli a, b, crew[CREW];

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

/* Return how many members have nodes; "ready" is not counted. */
static int members(void)
{
	int count = fixture_children(STEP);
	bool ready = raw_exists(fixture_address(), STEP "/ready", NULL) == 0;

	return ready ? count - 1 : count;
}

START_TEST(who_waits_goes_on_when_it_is_removed)
{
	ck_assert_int_eq(cli_run(&a, "barrier", "wait", GATE), 0);
	ck_assert_int_eq(cli_run(&a, "barrier", "set", GATE), 0);
	ck_assert_int_eq(cli_run(&a, "barrier", "set", GATE), 0);
	ck_assert_int_eq(cli_run(&a, "barrier", "wait", "-w0", GATE), 120);
	cli_hears_error(&a, "kustos: " GATE ": it is set\n");
	ck_assert_int_eq(cli_run(&a, "barrier", "wait", "--timeout=2.5", GATE),
		121);
	cli_hears_error(&a, "kustos: " GATE ": it is set, for 2.5 s\n");
	cli_start(&a, "barrier", "wait", "-w60", GATE);
	test_within(
		fourletter_has(fixture_address(), "wchs", "Total watches:1"),
		CLI_MS);
	ck_assert_int_eq(cli_run(&b, "barrier", "remove", GATE), 0);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(cli_run(&b, "barrier", "remove", GATE), 0);
	ck_assert_int_eq(cli_run(&b, "barrier", "wait", "-w", "0", GATE), 0);
}
END_TEST

START_TEST(L20_what_does_not_wait_is_tried_once)
{
	ck_assert_int_eq(cli_run(&a, "barrier", "set", "-w0", GATE), 0);
	ck_assert_int_eq(cli_run(&a, "barrier", "wait", "-w0", GATE), 120);
	ck_assert_int_eq(cli_run(&a, "barrier", "remove", "-w0", GATE), 0);
	ck_assert_int_eq(cli_run(&a, "barrier", "wait", "-w0", GATE), 0);
}
END_TEST

/* Nor does it wait for a lost server longer than it would for one at the
   beginning. */
START_TEST(L20_what_does_not_wait_ends_when_the_server_has_gone)
{
	struct proxy *proxy = fixture_proxy();

	ck_assert_int_eq(cli_run(&a, "barrier", "set", GATE), 0);
	proxy_arm(proxy, PROXY_HOLD_REPLY, ZK_OP_DELETE, 1);
	ck_assert_int_eq(cli_run(&a, "barrier", "remove", "--hosts",
				 proxy_address(proxy), "--session-timeout=2000",
				 GATE),
		123);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	cli_hears_error(&a, "kustos: no server answers at ");
	proxy_free(proxy);
}
END_TEST

START_TEST(a_wait_that_is_over_without_a_server_is_told_as_that)
{
	struct proxy *proxy = fixture_proxy();

	ck_assert_int_eq(cli_run(&a, "barrier", "set", GATE), 0);
	cli_start(&a, "barrier", "wait", "-w4", "--hosts", proxy_address(proxy),
		GATE);
	test_within(
		fourletter_has(fixture_address(), "wchs", "Total watches:1"),
		CLI_MS);
	proxy_set_mode(proxy, PROXY_REFUSE);
	ck_assert_int_eq(cli_end(&a), 123);
	cli_hears_error(&a, "kustos: no server ");
	proxy_free(proxy);
}
END_TEST

/* Its session survives a machine that stops for 8 s. */
static void come(struct cli *c, const char *script)
{
	cli_start(c, "barrier", "enter", "-n3", "-w50",
		"--session-timeout=12000", STEP, "--", "sh", "-c", script);
}

/* Has the command, which was seen to begin, ended and been waited for? */
static bool command_is_over(const struct cli *c)
{
	pid_t one;

	return cli_children(c, &one, 1) == 0;
}

START_TEST(commands_start_together_and_end_together)
{
	for (int i = 0; i < CREW - 1; i++)
		come(&crew[i], "echo began; read go; exit 3");
	test_within(members() == CREW - 1, CLI_MS);
	test_never(cli_has_spoken(&crew[0]) || cli_has_spoken(&crew[1]),
		QUIET_MS);
	come(&crew[2], "echo began; read go; exit 3");
	for (int i = 0; i < CREW; i++)
		cli_hears(&crew[i], "began\n");
	ck_assert_int_eq(members(), CREW);
	for (int i = 0; i < CREW - 1; i++)
		cli_type(&crew[i], "go\n");
	for (int i = 0; i < CREW - 1; i++)
		test_within(command_is_over(&crew[i]), CLI_MS);
	/* The lowest member may keep its node until the last one leaves. */
	test_within(members() <= 2, CLI_MS);
	test_never(!cli_runs(&crew[0]) || !cli_runs(&crew[1]), QUIET_MS);
	cli_type(&crew[2], "go\n");
	for (int i = 0; i < CREW; i++)
		ck_assert_int_eq(cli_end(&crew[i]), 3);
	ck_assert_int_eq(members(), 0);
}
END_TEST

START_TEST(who_does_not_wait_for_the_others_ends_with_its_command)
{
	cli_start(&a, "barrier", "enter", "-n2", STEP, "--", "sh", "-c",
		"read go");
	ck_assert_int_eq(cli_run(&b, "barrier", "enter", "--count=2",
				 "--no-wait", STEP, "sh", "-c",
				 "echo $KUSTOS_PATH"),
		0);
	ck_assert_str_eq(b.out_text, STEP "\n");
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
}
END_TEST

START_TEST(L20_who_does_not_wait_for_the_others_waits_for_no_connection)
{
	struct proxy *proxy = fixture_proxy();

	cli_start(&a, "barrier", "enter", "-n1", "--no-wait", "--hosts",
		proxy_address(proxy), "--session-timeout=40000", STEP, "--",
		"sh", "-c", "echo began; read go; exit 3");
	cli_hears(&a, "began");
	proxy_set_mode(proxy, PROXY_REFUSE);
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 3);
	proxy_free(proxy);
}
END_TEST

START_TEST(a_wait_that_is_over_leaves_nothing)
{
	ck_assert_int_eq(cli_run(&a, "barrier", "enter", "-n2", "-w0", STEP,
				 "--", "echo", "no"),
		120);
	cli_hears_error(&a, STEP ": the others are not there\n");
	ck_assert_int_eq(cli_run(&a, "barrier", "enter", "-n2", "-w1.5", STEP,
				 "--", "echo", "no"),
		121);
	ck_assert_uint_eq(a.out_len, 0);
	cli_start(&b, "barrier", "enter", "-n2", STEP, "--", "echo", "no");
	test_within(members() == 1, CLI_MS);
	kill(b.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&b), -SIGTERM);
	ck_assert_uint_eq(b.out_len, 0);
	ck_assert_int_eq(members(), 0);
}
END_TEST

START_TEST(a_signal_ends_the_wait_for_the_others)
{
	cli_start(&a, "barrier", "enter", "-n2", STEP, "--", "sh", "-c",
		"echo began; read go");
	cli_start(&b, "barrier", "enter", "-n2", STEP, "--", "echo", "began");
	cli_hears(&a, "began\n");
	cli_hears(&b, "began\n");
	test_within(command_is_over(&b), CLI_MS);
	/* It is waiting; its node may be gone already. */
	test_never(!cli_runs(&b), QUIET_MS);
	kill(b.pid, SIGINT);
	ck_assert_int_eq(cli_end(&b), -SIGINT);
	ck_assert_str_eq(b.err_text, "");
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(members(), 0);
}
END_TEST

START_TEST(L18_a_member_that_is_killed_is_not_waited_for)
{
	for (int i = 0; i < CREW; i++)
		come(&crew[i], "echo began; read go");
	for (int i = 0; i < CREW; i++)
		cli_hears(&crew[i], "began\n");
	kill(crew[1].pid, SIGKILL);
	ck_assert_int_eq(cli_end(&crew[1]), -SIGKILL);
	cli_type(&crew[0], "go\n");
	cli_type(&crew[2], "go\n");
	ck_assert_int_eq(cli_end(&crew[0]), 0);
	ck_assert_int_eq(cli_end(&crew[2]), 0);
	ck_assert_int_eq(members(), 0);
}
END_TEST

/* Find the node of the only member. */
static void find_member(char *path, size_t size, struct raw_stat *stat)
{
	struct raw_names names;

	ck_assert_int_eq(raw_children(fixture_address(), STEP, &names), 0);
	for (int i = 0; i < names.count; i++) {
		snprintf(path, size, STEP "/%s", names.names[i]);
		ck_assert_int_eq(raw_exists(fixture_address(), path, stat), 0);
		if (stat->ephemeral_owner != 0 &&
			strcmp(names.names[i], "ready") != 0)
			break;
	}
	raw_names_free(&names);
}

/* The others take its member for one that has left. */
START_TEST(a_member_that_is_lost_while_its_command_runs_gives_122)
{
	struct raw_stat stat;
	char path[256];

	cli_start(&a, "barrier", "enter", "-n1", "-v", STEP, "--", "sh", "-c",
		"echo began; read go; exit 3");
	cli_hears(&a, "began\n");
	find_member(path, sizeof(path), &stat);
	ck_assert_int_eq(
		raw_kill_session(fixture_address(), stat.ephemeral_owner), 0);
	cli_hears_error(&a, ", epoch 2");
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 122);
	cli_hears_error(&a,
		"kustos: " STEP ": the session ended while sh ran, which ended "
		"with 3\n");
}
END_TEST

/* Return how many requests the server has had from a session. */
static int requests_of(int64_t session)
{
	char all[8192], id[40];
	int count = -1;

	ck_assert_uint_gt(
		fourletter(fixture_address(), "cons", all, sizeof(all)), 0);
	snprintf(id, sizeof(id), "sid=0x%llx,", (unsigned long long)session);
	for (char *rest = NULL, *line = strtok_r(all, "\n", &rest);
		line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		const char *had = strstr(line, "recved=");

		if (had != NULL && strstr(line, id) != NULL)
			ck_assert_int_eq(sscanf(had, "recved=%d", &count), 1);
	}
	ck_assert_int_ge(count, 0);
	return count;
}

/* Wait until the session's client knows of all changes so far: a heartbeat is
   sent after the answer to the one before, which comes behind all events. */
static void until_known(int64_t session)
{
	int before = requests_of(session);

	test_within(requests_of(session) >= before + 2, CLI_MS);
}

/* It has waited for another member, so its node is watched. */
START_TEST(a_member_whose_node_was_deleted_while_its_command_runs_gives_122)
{
	struct raw_stat stat;
	char path[256];

	cli_start(&a, "barrier", "enter", "--session-timeout=6000", "-n2", STEP,
		"--", "sh", "-c", "echo began; read go; exit 3");
	test_within(members() == 1 &&
			fourletter_has(fixture_address(), "wchs",
				"Total watches:2"),
		CLI_MS);
	find_member(path, sizeof(path), &stat);
	ck_assert_int_eq(cli_run(&b, "barrier", "enter", "-n2", "--no-wait",
				 STEP, "--", "true"),
		0);
	cli_hears(&a, "began\n");
	ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	test_within(
		fourletter_has(fixture_address(), "wchs", "Total watches:0"),
		CLI_MS);
	until_known(stat.ephemeral_owner);
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 122);
	cli_hears_error(&a,
		"kustos: " STEP ": the member's node was deleted while sh ran, "
		"which ended with 3\n");
}
END_TEST

/* The lock still guards its writes. */
START_TEST(within_a_lock_the_token_and_the_node_are_those_of_the_lock)
{
	ck_assert_int_eq(cli_run(&a, "lock", "/outer", "--", "sh", "-c",
				 "echo $KUSTOS_TOKEN $KUSTOS_NODE;"
				 "\"$0\" barrier enter -n1 " STEP " sh -c "
				 "'echo $KUSTOS_TOKEN $KUSTOS_NODE;"
				 " echo $KUSTOS_PATH'",
				 cli_program()),
		0);
	size_t len = strcspn(a.out_text, "\n") + 1;
	ck_assert_ptr_nonnull(strstr(a.out_text, " /outer/"));
	ck_assert_int_eq(strncmp(a.out_text, a.out_text + len, len), 0);
	ck_assert_str_eq(a.out_text + 2 * len, STEP "\n");
}
END_TEST

/* Return the processor time that it has used so far. */
static long spent_ms(const struct cli *c)
{
	unsigned long user, system;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)c->pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f,
				 "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u "
				 "%*u %*u %*u %*u %lu %lu",
				 &user, &system),
		2);
	fclose(f);
	return (long)(user + system) * 1000 / sysconf(_SC_CLK_TCK);
}

/* Reports of a connection must not keep a process busy that waits for something
   else. */
START_TEST(who_waits_for_the_others_sleeps_also_after_a_reconnect)
{
	struct proxy *proxy = fixture_proxy();

	cli_start(&a, "barrier", "enter", "-n2", "--hosts",
		proxy_address(proxy), STEP, "--", "sh", "-c", "echo began");
	cli_start(&b, "barrier", "enter", "-n2", STEP, "--", "sh", "-c",
		"read go");
	cli_hears(&a, "began\n");
	test_within(command_is_over(&a), CLI_MS);
	proxy_cut(proxy);
	long before_ms = spent_ms(&a);
	test_never(spent_ms(&a) - before_ms > 300, 2500);
	cli_type(&b, "go\n");
	ck_assert_int_eq(cli_end(&b), 0);
	ck_assert_int_eq(cli_end(&a), 0);
	proxy_free(proxy);
}
END_TEST

START_TEST(wrong_use_is_refused)
{
	ck_assert_int_eq(cli_run(&a, "barrier"), 125);
	ck_assert_int_eq(cli_run(&a, "barrier", "open", GATE), 125);
	cli_hears_error(&a, "'open' is not an action of kustos barrier");
	ck_assert_int_eq(cli_run(&a, "barrier", "set"), 125);
	cli_hears_error(&a, "no PATH given");
	ck_assert_int_eq(cli_run(&a, "barrier", "set", GATE, "true"), 125);
	cli_hears_error(&a, "'set' takes no COMMAND");
	ck_assert_int_eq(cli_run(&a, "barrier", "set", "-n3", GATE), 125);
	ck_assert_int_eq(cli_run(&a, "barrier", "wait", "--id=x", GATE), 125);
	cli_hears_error(&a, "'wait' has no --id");
	ck_assert_int_eq(cli_run(&a, "barrier", "enter", STEP, "true"), 125);
	cli_hears_error(&a, "'enter' needs -n");
	ck_assert_int_eq(cli_run(&a, "barrier", "enter", "-n0", STEP, "true"),
		125);
	ck_assert_int_eq(cli_run(&a, "barrier", "enter", "-n2", STEP), 125);
	ck_assert_int_eq(cli_run(&a, "barrier", "wait", "-w", "x", GATE), 125);
	ck_assert_int_eq(cli_run(&a, "barrier", "wait", "gate"), 125);
	ck_assert_int_eq(cli_run(&a, "barrier", "wait", "--hosts=127.0.0.1:1",
				 "--session-timeout=300", GATE),
		123);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos barrier");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, who_waits_goes_on_when_it_is_removed);
	tcase_add_test(t, L20_what_does_not_wait_is_tried_once);
	tcase_add_test(t, L20_what_does_not_wait_ends_when_the_server_has_gone);
	tcase_add_test(t, a_wait_that_is_over_without_a_server_is_told_as_that);
	tcase_add_test(t, commands_start_together_and_end_together);
	tcase_add_test(t,
		who_does_not_wait_for_the_others_ends_with_its_command);
	tcase_add_test(t,
		L20_who_does_not_wait_for_the_others_waits_for_no_connection);
	tcase_add_test(t, a_wait_that_is_over_leaves_nothing);
	tcase_add_test(t, a_signal_ends_the_wait_for_the_others);
	tcase_add_test(t, L18_a_member_that_is_killed_is_not_waited_for);
	tcase_add_test(t,
		a_member_that_is_lost_while_its_command_runs_gives_122);
	tcase_add_test(t,
		a_member_whose_node_was_deleted_while_its_command_runs_gives_122);
	tcase_add_test(t,
		within_a_lock_the_token_and_the_node_are_those_of_the_lock);
	tcase_add_test(t,
		who_waits_for_the_others_sleeps_also_after_a_reconnect);
	tcase_add_test(t, wrong_use_is_refused);
	return fixture_main(s);
}
