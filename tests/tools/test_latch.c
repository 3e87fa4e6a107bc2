/*
 * test_latch.c - kustos latch: set, counted down, waited for, and its status.
 */
#include "cli.h"

#include "fixture.h"
#include "proxy.h"
#include "raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATCH "/deploy/42"

static struct cli a, b;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

static void count_down(const char *id)
{
	ck_assert_int_eq(cli_run(&b, "latch", "done", "--id", id, LATCH), 0);
}

START_TEST(who_waits_goes_on_at_zero)
{
	ck_assert_int_eq(cli_run(&a, "latch", "status", LATCH), 117);
	ck_assert_int_eq(cli_run(&a, "latch", "set", "-n2", LATCH), 0);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", "-w0", LATCH), 120);
	cli_hears_error(&a, LATCH ": not enough are done\n");
	cli_start(&a, "latch", "wait", "--timeout=50", LATCH);
	count_down("x");
	count_down("x");
	ck_assert_int_eq(cli_run(&b, "latch", "wait", "-w2.5", LATCH), 121);
	ck_assert(cli_runs(&a));
	count_down("y");
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", "-n2", LATCH), 0);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", "-n3", LATCH), 124);
	cli_hears_error(&a, LATCH ": others use a different number\n");
	ck_assert_int_eq(cli_run(&a, "latch", "set", "-n3", LATCH), 124);
	ck_assert_int_eq(cli_run(&a, "latch", "remove", LATCH), 0);
	ck_assert_int_eq(cli_run(&a, "latch", "remove", LATCH), 0);
	ck_assert_int_eq(raw_exists(fixture_address(), LATCH, NULL),
		RAW_NONODE);
}
END_TEST

START_TEST(L20_what_does_not_wait_is_tried_once)
{
	ck_assert_int_eq(cli_run(&a, "latch", "set", "-w0", "-n2", LATCH), 0);
	ck_assert_int_eq(cli_run(&a, "latch", "done", "-w0", LATCH), 0);
	ck_assert_int_eq(
		cli_run(&a, "latch", "done", "-w0", "--id=x", LATCH, "true"),
		0);
	ck_assert_int_eq(cli_run(&a, "latch", "status", "-w0", LATCH), 0);
	cli_hears(&a, LATCH ": 2 of 2 are done\n");
	ck_assert_int_eq(cli_run(&a, "latch", "remove", "-w0", LATCH), 0);
}
END_TEST

START_TEST(what_could_not_be_done_in_time_is_no_wait_that_is_over)
{
	struct proxy *proxy = fixture_proxy();

	proxy_arm(proxy, PROXY_DROP_REPLY, ZK_OP_CHILDREN2, 1);
	ck_assert_int_eq(cli_run(&a, "latch", "set", "-w0.5", "-n2",
				 "--session-timeout=40000", "--hosts",
				 proxy_address(proxy), LATCH),
		123);
	cli_hears_error(&a, "kustos: no server answers");
	proxy_free(proxy);
}
END_TEST

START_TEST(what_it_is_like_is_told)
{
	char host[256] = "";

	ck_assert_int_eq(cli_run(&a, "latch", "done", LATCH), 0);
	ck_assert_int_eq(gethostname(host, sizeof(host) - 1), 0);
	ck_assert_int_eq(cli_run(&a, "latch", "status", LATCH), 0);
	cli_hears(&a, LATCH ": 1 is done\n");
	cli_hears(&a, host);
	count_down("b\"/\n");
	ck_assert_int_eq(cli_run(&a, "latch", "set", "-n3", LATCH), 0);
	cli_start(&b, "latch", "done", "--id", "works", LATCH, "sh", "-c",
		"echo $KUSTOS_PATH; read go");
	cli_hears(&b, LATCH "\n");
	ck_assert_int_eq(cli_run(&a, "latch", "status", LATCH), 0);
	cli_hears(&a, LATCH ": 2 of 3 are done\n");
	cli_hears(&a, "done   b\"/\\x0a\n");
	cli_hears(&a, "works  works\n");
	ck_assert_int_eq(cli_run(&a, "latch", "status", "--json", LATCH), 0);
	cli_hears(&a,
		"{\"path\":\"" LATCH "\",\"count\":3,\"done\":2,\"broken\":0,"
		"\"disagree\":false,\"participants\":[");
	cli_hears(&a,
		"{\"id\":\"b\\\"/\\u000a\",\"done\":true,\"must\":false,"
		"\"alive\":false}");
	cli_hears(&a,
		"{\"id\":\"works\",\"done\":false,\"must\":true,"
		"\"alive\":true}]}\n");
	cli_type(&b, "go\n");
	ck_assert_int_eq(cli_end(&b), 0);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", "-w0", LATCH), 0);
}
END_TEST

START_TEST(two_numbers_are_told)
{
	ck_assert_int_eq(cli_run(&a, "latch", "set", "-n3", LATCH), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LATCH "/count-4", ""),
		0);
	ck_assert_int_eq(cli_run(&a, "latch", "done", "--id=x", LATCH), 0);
	ck_assert_int_eq(cli_run(&a, "latch", "status", LATCH), 0);
	cli_hears(&a, LATCH ": 1 is done, and two numbers are set\n");
	ck_assert_int_eq(cli_run(&a, "latch", "status", "--json", LATCH), 0);
	cli_hears(&a, "\"count\":0,\"done\":1,\"broken\":0,\"disagree\":true,");
	ck_assert_int_eq(cli_run(&a, "latch", "wait", "-w9", LATCH), 124);
	cli_hears_error(&a, ": others use a different number\n");
}
END_TEST

/* "_i" is 0 if the command fails and 1 if it is killed. */
START_TEST(who_waits_is_told_of_a_command_that_is_not_done)
{
	ck_assert_int_eq(cli_run(&a, "latch", "set", "-n1", LATCH), 0);
	cli_start(&b, "latch", "done", "--session-timeout=2000", "--id", "x",
		LATCH, "--", "sh", "-c", "echo began; read go; exit 7");
	cli_hears(&b, "began\n");
	cli_start(&a, "latch", "wait", "-w50", LATCH);
	ck_assert(cli_runs(&a));
	if (_i == 0)
		cli_type(&b, "go\n");
	else
		kill(b.pid, SIGKILL);
	ck_assert_int_eq(cli_end(&b), _i == 0 ? 7 : -SIGKILL);
	ck_assert_int_eq(cli_end(&a), 116);
	cli_hears_error(&a,
		LATCH ": a participant that must be done has died\n");
	ck_assert_int_eq(cli_run(&a, "latch", "status", LATCH), 0);
	cli_hears(&a, ": 0 of 1 are done, 1 has died\ndied   x\n");
	ck_assert_int_eq(
		cli_run(&b, "latch", "done", "--id", "x", LATCH, "true"), 0);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", LATCH), 0);
}
END_TEST

/* Return the session of the participant that has joined; 0 if none has. */
static int64_t session_in(void)
{
	struct raw_stat stat = { .ephemeral_owner = 0 };
	struct raw_names names;
	char path[256];

	ck_assert_int_eq(raw_children(fixture_address(), LATCH, &names), 0);
	for (int i = 0; i < names.count && stat.ephemeral_owner == 0; i++) {
		snprintf(path, sizeof(path), LATCH "/%s", names.names[i]);
		(void)raw_exists(fixture_address(), path, &stat); /* gone? */
	}
	raw_names_free(&names);
	return stat.ephemeral_owner;
}

static void start_part(const char *hosts)
{
	ck_assert_int_eq(cli_run(&a, "latch", "set", "-n1", LATCH), 0);
	cli_start(&b, "latch", "done", "--session-timeout=2000", "--hosts",
		hosts, "--id=x", LATCH, "--", "sh", "-c",
		"echo began; read code; exit $code");
	cli_hears(&b, "began\n");
}

static const char counted_late[] =
	"kustos: " LATCH ": the session ended before x was counted, which "
	"others may have taken for its death; it is counted now\n";

/* "_i" is 0 if the command ends well.  Those who wait when the session ends are
   told that the participant has died; those who come later wait for it. */
START_TEST(a_participant_whose_session_ends_joins_again)
{
	struct proxy *proxy = fixture_proxy();

	start_part(proxy_address(proxy));
	proxy_set_mode(proxy, PROXY_REFUSE);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", LATCH), 116);
	ck_assert_int_eq(session_in(), 0);
	proxy_set_mode(proxy, PROXY_PASS);
	test_within(session_in() != 0, CLI_MS);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", "-w0", LATCH), 120);
	ck_assert_int_eq(cli_run(&a, "latch", "status", LATCH), 0);
	cli_hears(&a, LATCH ": 0 of 1 are done\nworks  x\n");
	cli_type(&b, _i == 0 ? "0\n" : "7\n");
	ck_assert_int_eq(cli_end(&b), _i == 0 ? 122 : 7);
	ck_assert_str_eq(b.err_text, _i == 0 ? counted_late : "");
	ck_assert_int_eq(cli_run(&a, "latch", "wait", LATCH),
		_i == 0 ? 0 : 116);
	proxy_free(proxy);
}
END_TEST

/* It was alive in a session that has ended, and is to be alive in the next. */
START_TEST(a_session_that_ends_while_a_participant_joins_is_noticed)
{
	struct proxy *proxy = fixture_proxy();

	ck_assert_int_eq(cli_run(&a, "latch", "set", "-n1", LATCH), 0);
	proxy_arm(proxy, PROXY_HOLD_REPLY, ZK_OP_CREATE2, 2);
	cli_start(&b, "latch", "done", "-w300", "--session-timeout=2000",
		"--hosts", proxy_address(proxy), "--id=x", LATCH, "--", "sh",
		"-c", "echo began; read code; exit $code");
	test_within(proxy_fired(proxy) == 1, CLI_MS);
	test_within(session_in() == 0, CLI_MS);
	ck_assert(!cli_has_spoken(&b));
	proxy_set_mode(proxy, PROXY_PASS);
	cli_hears(&b, "began\n");
	test_within(session_in() != 0, CLI_MS);
	cli_type(&b, "0\n");
	ck_assert_int_eq(cli_end(&b), 122);
	ck_assert_str_eq(b.err_text, counted_late);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", "-w0", LATCH), 0);
	proxy_free(proxy);
}
END_TEST

/* The command may have taken hours. */
START_TEST(what_a_command_has_done_is_counted_whenever_a_server_answers)
{
	struct proxy *proxy = fixture_proxy();

	start_part(proxy_address(proxy));
	proxy_set_mode(proxy, PROXY_REFUSE);
	cli_type(&b, "0\n");
	/* Nothing tells when it would have given up, but two session timeouts
	   are enough. */
	test_within(session_in() == 0, CLI_MS);
	test_never(!cli_runs(&b), 2500);
	proxy_set_mode(proxy, PROXY_PASS);
	ck_assert_int_eq(cli_end(&b), 122);
	cli_hears_error(&b, counted_late);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", "-w0", LATCH), 0);
	proxy_free(proxy);
}
END_TEST

START_TEST(with_a_time_what_a_command_has_done_is_counted_in_that_or_not)
{
	struct proxy *proxy = fixture_proxy();

	ck_assert_int_eq(cli_run(&a, "latch", "set", "-n1", LATCH), 0);
	cli_start(&b, "latch", "done", "-w1", "--hosts", proxy_address(proxy),
		"--id=x", LATCH, "--", "sh", "-c", "echo began; read go");
	cli_hears(&b, "began\n");
	proxy_set_mode(proxy, PROXY_REFUSE);
	cli_type(&b, "go\n");
	ck_assert_int_eq(cli_end(&b), 123);
	cli_hears_error(&b, "kustos: no server answers");
	proxy_free(proxy);
}
END_TEST

/* Much of the time goes by until a server answers, and what is left until the
   participant has joined. */
START_TEST(the_time_to_connect_and_to_join_is_one)
{
	struct proxy *proxy = fixture_proxy();
	int64_t start_ms = test_now_ms();

	proxy_set_mode(proxy, PROXY_HOLD);
	cli_start(&a, "latch", "done", "-w6", "--session-timeout=40000",
		"--hosts", proxy_address(proxy), LATCH, "true");
	test_within(proxy_accepted(proxy) > 0, CLI_MS);
	test_never(!cli_runs(&a), 5000);
	proxy_arm(proxy, PROXY_HOLD_REPLY, ZK_OP_CREATE2, 1);
	proxy_set_mode(proxy, PROXY_PASS);
	cli_hears_error(&a, "kustos: no server ");
	ck_assert_int_lt(test_now_ms() - start_ms, 10000);
	ck_assert_int_eq(cli_end(&a), 123);
	proxy_free(proxy);
}
END_TEST

START_TEST(wrong_use_is_refused)
{
	ck_assert_int_eq(cli_run(&a, "latch"), 125);
	cli_hears_error(&a, "no action given");
	ck_assert_int_eq(cli_run(&a, "latch", "count", LATCH), 125);
	cli_hears_error(&a, "'count' is not an action of kustos latch");
	ck_assert_int_eq(cli_run(&a, "latch", "set", LATCH), 125);
	cli_hears_error(&a, "'set' needs -n");
	ck_assert_int_eq(cli_run(&a, "latch", "done", "-n2", LATCH), 125);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", "--json", LATCH), 125);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", LATCH, "true"), 125);
	ck_assert_int_eq(cli_run(&a, "latch", "done", "--id=", LATCH), 125);
	cli_hears_error(&a, "--id");
	ck_assert_int_eq(cli_run(&a, "latch", "status", "--no-wait", LATCH),
		125);
	ck_assert_int_eq(cli_run(&a, "latch", "done", LATCH, "/no/such"), 127);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos latch");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, who_waits_goes_on_at_zero);
	tcase_add_test(t, L20_what_does_not_wait_is_tried_once);
	tcase_add_test(t,
		what_could_not_be_done_in_time_is_no_wait_that_is_over);
	tcase_add_test(t, what_it_is_like_is_told);
	tcase_add_test(t, two_numbers_are_told);
	tcase_add_loop_test(t, who_waits_is_told_of_a_command_that_is_not_done,
		0, 2);
	tcase_add_loop_test(t, a_participant_whose_session_ends_joins_again, 0,
		2);
	tcase_add_test(t,
		a_session_that_ends_while_a_participant_joins_is_noticed);
	tcase_add_test(t,
		what_a_command_has_done_is_counted_whenever_a_server_answers);
	tcase_add_test(t,
		with_a_time_what_a_command_has_done_is_counted_in_that_or_not);
	tcase_add_test(t, the_time_to_connect_and_to_join_is_one);
	tcase_add_test(t, wrong_use_is_refused);
	return fixture_main(s);
}
