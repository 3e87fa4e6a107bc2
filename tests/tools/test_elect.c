/*
 * test_elect.c - kustos elect: one leads at a time, and the command runs while
 * it leads.
 */
#include "cli.h"

#include "fixture.h"
#include "process.h"
#include "proxy.h"
#include "raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cli a, b, watcher;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

static int in_line(void)
{
	return raw_count_children(fixture_address(), "/e");
}

/* Let "c" lead as "id" until it is told to go on. */
static void lead(struct cli *c, const char *id)
{
	cli_start(c, "elect", "--id", id, "/e", "--", "sh", "-c",
		"echo leads $KUSTOS_TOKEN at $KUSTOS_NODE pid $$ on; read go");
}

static int64_t term(struct cli *c, char node[128], int *pid)
{
	long long token = 0;

	cli_hears(c, " on\n");
	ck_assert_int_eq(sscanf(cli_hears(c, "leads "), "%lld at %127s pid %d",
				 &token, node, pid),
		3);
	/* What it prints next must not be mistaken for this. */
	memset(c->out_text, ' ', c->out_len);
	return token;
}

static void let_go(struct cli *c)
{
	cli_type(c, "go\n");
	ck_assert_int_eq(cli_end(c), 0);
}

START_TEST(the_exit_code_is_the_commands)
{
	const char *layout = _i ? "--lock-layout" : "--verbose";

	ck_assert_int_eq(cli_run(&a, "elect", layout, "/e", "--", "true"), 0);
	ck_assert_int_eq(
		cli_run(&a, "elect", layout, "/e", "sh", "-c", "exit 77"), 77);
	ck_assert_int_eq(
		cli_run(&a, "elect", layout, "/e", "sh", "-c", "kill -9 $$"),
		128 + SIGKILL);
	ck_assert_int_eq(cli_run(&a, "elect", layout, "-r", "/e", "/no/such"),
		127);
	ck_assert_int_eq(cli_run(&a, "elect", layout, "/e", "/etc/passwd"),
		126);
	ck_assert_int_eq(in_line(), 0);
}
END_TEST

START_TEST(one_leads_after_the_other)
{
	char node[2][128];
	int64_t tokens[2];
	struct raw_stat stat;
	int pid;

	lead(&a, "ann");
	tokens[0] = term(&a, node[0], &pid);
	ck_assert_ptr_nonnull(strstr(node[0], "-latch-"));
	ck_assert_int_eq(raw_exists(fixture_address(), node[0], &stat), 0);
	ck_assert_int_eq(stat.czxid, tokens[0]);
	lead(&b, "bob");
	test_within(in_line() == 2, CLI_MS);
	ck_assert_int_eq(cli_run(&watcher, "ls", "/e"), 0);
	cli_hears(&watcher, "ann");
	cli_hears(&watcher, "bob");
	ck_assert_uint_eq(b.out_len, 0);
	let_go(&a);
	tokens[1] = term(&b, node[1], &pid);
	ck_assert_int_gt(tokens[1], tokens[0]);
	let_go(&b);
}
END_TEST

START_TEST(it_says_who_it_is_if_nobody_else_does)
{
	char host[256] = "", id[300];

	ck_assert_int_eq(gethostname(host, sizeof(host) - 1), 0);
	ck_assert_int_eq(
		cli_run(&a, "elect", "/e", "--", cli_program(), "ls", "/e"), 0);
	snprintf(id, sizeof(id), "  %s:%d\n", host, (int)a.pid);
	cli_hears(&a, id);
}
END_TEST

START_TEST(in_the_layout_of_locks_it_excludes_locks)
{
	cli_start(&a, "elect", "--lock-layout", "/e", "--", "sh", "-c",
		"echo leads; read go");
	cli_hears(&a, "leads\n");
	ck_assert_int_eq(cli_run(&b, "lock", "-n", "/e", "--", "true"), 120);
	let_go(&a);
	lead(&a, "ann");
	cli_hears(&a, " on\n");
	ck_assert_int_eq(cli_run(&b, "lock", "-n", "/e", "--", "true"), 0);
	let_go(&a);
}
END_TEST

START_TEST(in_kazoos_dialect_its_node_has_kazoos_name)
{
	ck_assert_int_eq(cli_run(&a, "elect", "--lock-layout",
				 "--dialect=kazoo", "--id=ann", "/e", "--",
				 cli_program(), "ls", "--json", "/e"),
		0);
	cli_hears(&a, "\"style\":\"kazoo\"");
	cli_hears(&a, "\"data\":\"ann\"");
	ck_assert_int_eq(cli_run(&a, "elect", "--lock-layout",
				 "--dialect=curator", "/e", "--", cli_program(),
				 "ls", "--json", "/e"),
		0);
	cli_hears(&a, "\"style\":\"curator\"");
}
END_TEST

/* A stock kazoo Election ignores our names, although we heed its names. */
START_TEST(a_mixed_line_is_complained_about)
{
	static const char kazoo[] =
		"/e/0123456789abcdef0123456789abcdef__lock__0000000000";

	ck_assert_int_eq(raw_create(fixture_address(), "/e", NULL), 0);
	ck_assert_int_eq(raw_create(fixture_address(), kazoo, "k"), 0);
	cli_start(&a, "elect", "--lock-layout", "/e", "--", "true");
	cli_hears_error(&a, "kustos: /e: mixed dialects");
	ck_assert_int_eq(in_line(), 2);
	ck_assert_int_eq(raw_delete(fixture_address(), kazoo), 0);
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_ptr_eq(strchr(a.err_text, '\n') + 1, a.err_text + a.err_len);
}
END_TEST

START_TEST(a_wait_that_is_over_gives_121)
{
	lead(&a, "ann");
	cli_hears(&a, " on\n");
	ck_assert_int_eq(cli_run(&b, "elect", "-w", "1.5", "/e", "true"), 121);
	cli_hears_error(&b, "kustos: /e: leadership not won within 1.5 s\n");
	/* Also with --restart, which joins the line again only after a win. */
	ck_assert_int_eq(cli_run(&b, "elect", "-r", "--wait=1", "/e", "true"),
		121);
	test_within(in_line() == 1, CLI_MS);
	let_go(&a);
}
END_TEST

/* With no time to wait it still leads if nobody else does. */
START_TEST(without_waiting_it_leads_or_does_not)
{
	const char *layout = _i ? "--lock-layout" : "--verbose";
	const char *dialect = _i == 2 ? "--dialect=kazoo" : "--verbose";
	int64_t since_ms;

	ck_assert_int_eq(
		cli_run(&b, "elect", layout, dialect, "-w0", "/e", "true"), 0);
	cli_start(&a, "elect", layout, dialect, "/e", "--", "sh", "-c",
		"echo leads; read go");
	cli_hears(&a, "leads\n");
	since_ms = test_now_ms();
	ck_assert_int_eq(cli_run(&b, "elect", layout, dialect, "-w0",
				 "--session-timeout=40000", "/e", "true"),
		120);
	cli_hears_error(&b, "kustos: /e: another leads\n");
	ck_assert_int_lt(test_now_ms() - since_ms, 40000);
	let_go(&a);
}
END_TEST

START_TEST(wrong_use_gives_125_and_one_line)
{
	static const char *const wrong[][5] = {
		{ NULL },
		{ "/e" },
		{ "e", "true" },
		{ "-w", "soon", "/e", "true" },
		{ "--grace=9", "/e", "true" },
		{ "--json", "/e", "true" },
		{ "--dialect=kazoo", "/e", "true" },
		{ "--dialect=curator", "/e", "true" },
		{ "--lock-layout", "--dialect=basque", "/e", "true" },
		{ "--watch" },
		{ "--watch", "/e", "true" },
		{ "--watch", "-r", "/e" },
		{ "--watch", "--dialect=kazoo", "/e" },
		{ "--watch", "--lock-layout", "/e" },
		{ "--watch", "--id=ann", "/e" },
		{ "--watch", "-w1", "/e" },
		{ "--watch", "--grace=1", "/e" },
		{ "--watch", "e" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *const *w = wrong[i];

		ck_assert_msg(cli_run(&a, "elect", w[0], w[1], w[2], w[3]) ==
				125,
			"%s %s: %s", w[0], w[1], a.err_text);
		ck_assert_ptr_eq(strchr(a.err_text, '\n') + 1,
			a.err_text + a.err_len);
	}
}
END_TEST

/* It reports when it is asked to end, together with all its processes. */
static const char asked[] =
	"trap 'echo asked; exit 9' TERM\n"
	"echo leads $KUSTOS_TOKEN at $KUSTOS_NODE pid $$ on\n"
	"while :; do sleep 0.02; done";

START_TEST(a_leader_that_is_deposed_ends_its_command)
{
	char node[128];
	int pid;

	cli_start(&a, "elect", "/e", "--", "sh", "-c", asked);
	term(&a, node, &pid);
	ck_assert_int_eq(raw_delete(fixture_address(), node), 0);
	cli_hears(&a, "asked\n");
	ck_assert_int_eq(cli_end(&a), 122);
	cli_hears_error(&a, "kustos: /e: the leadership was lost while sh ran");
	ck_assert(!process_alive(pid));
}
END_TEST

START_TEST(S27_it_ends_in_time_although_the_leader_is_killed)
{
	char node[128];
	int pid;

	cli_start(&a, "elect", "--session-timeout=4000", "/e", "--", "sh", "-c",
		asked);
	term(&a, node, &pid);
	kill(a.pid, SIGKILL);
	test_within(!process_alive(pid), CLI_MS);
	ck_assert_int_eq(raw_exists(fixture_address(), node, NULL), 0);
	ck_assert_int_eq(cli_end(&a), -SIGKILL);
}
END_TEST

/* On each win: after it was deposed, and after its command has ended. */
START_TEST(restart_runs_the_command_on_each_win)
{
	char node[3][128];
	int64_t tokens[3];
	int pid;

	cli_start(&a, "elect", "-r", "/e", "--", "sh", "-c", asked);
	tokens[0] = term(&a, node[0], &pid);
	ck_assert_int_eq(raw_delete(fixture_address(), node[0]), 0);
	tokens[1] = term(&a, node[1], &pid);
	kill(pid, SIGKILL);
	tokens[2] = term(&a, node[2], &pid);
	ck_assert_int_gt(tokens[1], tokens[0]);
	ck_assert_int_gt(tokens[2], tokens[1]);
	/* A signal that ends the command through kustos ends kustos, too. */
	kill(a.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&a), 9);
	test_within(in_line() == 0, CLI_MS);
}
END_TEST

/* As the exit code of a shell that finds no program. */
START_TEST(it_restarts_a_command_that_ends_as_if_it_could_not_be_executed)
{
	char node[128];
	int pid;

	cli_start(&a, "elect", "-r", "/e", "--", "sh", "-c",
		"echo leads $KUSTOS_TOKEN at $KUSTOS_NODE pid $$ on; exit 127");
	for (int i = 0; i < 2; i++)
		(void)term(&a, node, &pid);
	kill(a.pid, SIGTERM);
	(void)cli_end(&a);
}
END_TEST

START_TEST(a_wait_that_is_over_without_a_server_is_told_as_that)
{
	struct proxy *proxy = fixture_proxy();

	lead(&a, "a");
	cli_hears(&a, " on\n");
	cli_start(&b, "elect", "-w4", "--hosts", proxy_address(proxy), "/e",
		"true");
	test_within(in_line() == 2, CLI_MS);
	proxy_set_mode(proxy, PROXY_REFUSE);
	ck_assert_int_eq(cli_end(&b), 123);
	cli_hears_error(&b, "kustos: no server ");
	proxy_free(proxy);
	let_go(&a);
}
END_TEST

/* However soon its command ends. */
START_TEST(it_goes_on_while_no_server_answers_whatever_the_time_to_win)
{
	cli_start(&a, "elect", "-r", "-w0.1", "--hosts=127.0.0.9:1", "/e",
		"true");
	for (int i = 0; i < 3; i++) {
		cli_hears_error(&a,
			"kustos: no server at 127.0.0.9:1 answered in the time "
			"that -w says\n");
		memset(a.err_text, ' ', a.err_len); /* the next is another */
	}
	ck_assert(cli_runs(&a));
	kill(a.pid, SIGTERM);
	(void)cli_end(&a);
}
END_TEST

START_TEST(a_restart_comes_a_second_after_the_last_at_the_earliest)
{
	int64_t began_ms = test_now_ms();
	char node[128];
	int pid;

	cli_start(&a, "elect", "-r", "/e", "--", "sh", "-c",
		"echo leads $KUSTOS_TOKEN at $KUSTOS_NODE pid $$ on");
	for (int i = 0; i < 4; i++)
		(void)term(&a, node, &pid);
	ck_assert_int_ge(test_now_ms() - began_ms, 3000);
	kill(a.pid, SIGTERM);
	(void)cli_end(&a);
}
END_TEST

START_TEST(those_that_restart_take_turns)
{
	static const char script[] =
		"echo leads $KUSTOS_TOKEN at $KUSTOS_NODE pid $$ on; read go";
	struct cli *both[] = { &a, &b };
	int64_t last = 0;
	char node[128];
	int pid;

	cli_start(&a, "elect", "--restart", "/e", "--", "sh", "-c", script);
	cli_hears(&a, " on\n");
	cli_start(&b, "elect", "--restart", "/e", "--", "sh", "-c", script);
	for (int i = 0; i < 4; i++) {
		int64_t token = term(both[i % 2], node, &pid);

		ck_assert_int_gt(token, last);
		last = token;
		test_within(in_line() == 2, CLI_MS);
		cli_type(both[i % 2], "go\n");
	}
	for (int i = 0; i < 2; i++)
		kill(both[i]->pid, SIGTERM);
	(void)cli_end(&a);
	(void)cli_end(&b);
	test_within(in_line() == 0, CLI_MS);
}
END_TEST

START_TEST(who_waits_dies_of_a_signal_and_leaves_the_line)
{
	lead(&a, "ann");
	cli_hears(&a, " on\n");
	cli_start(&b, "elect", "-r", "/e", "--", "true");
	test_within(in_line() == 2, CLI_MS);
	kill(b.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&b), -SIGTERM);
	ck_assert_int_eq(in_line(), 1);
	let_go(&a);
}
END_TEST

START_TEST(watch_tells_who_leads)
{
	cli_start(&watcher, "elect", "--watch", "/e");
	cli_hears(&watcher, "nobody\n");
	lead(&a, "ann");
	cli_hears(&watcher, "  ann\n");
	lead(&b, "bob");
	test_within(in_line() == 2, CLI_MS);
	ck_assert_ptr_null(strstr(watcher.out_text, "bob"));
	let_go(&a);
	cli_hears(&watcher, "  bob\n");
	let_go(&b);
	cli_hears(&watcher, "bob\nnobody\n");
	kill(watcher.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&watcher), -SIGTERM);
}
END_TEST

START_TEST(watch_tells_it_in_json)
{
	lead(&a, "ann");
	cli_start(&watcher, "elect", "--watch", "--json", "/e");
	cli_hears(&watcher, "\"data\":\"ann\"");
	let_go(&a);
	cli_hears(&watcher, "{\"path\":\"/e\",\"leader\":null}\n");
	kill(watcher.pid, SIGINT);
	ck_assert_int_eq(cli_end(&watcher), -SIGINT);
	ck_assert_int_eq(cli_run(&watcher, "elect", "--watch", "--hosts",
				 "127.0.0.9:1", "--session-timeout", "400",
				 "/e"),
		123);
}
END_TEST

/* Data that somebody else wrote into a node may have several lines, as JSON;
   and it may change. */
START_TEST(watch_tells_it_in_one_line_each)
{
	static const char node[] =
		"/e/_c_01234567-89ab-cdef-0123-456789abcdef-latch-0000000000";

	ck_assert_int_eq(raw_create(fixture_address(), "/e", NULL), 0);
	ck_assert_int_eq(raw_create(fixture_address(), node,
				 "{\r\n  \"id\": \"a b\"\n}\n"),
		0);
	cli_start(&watcher, "elect", "--watch", "--json", "/e");
	cli_hears(&watcher, "\"record\":{    \"id\": \"a b\" } }}\n");
	ck_assert_ptr_eq(strchr(watcher.out_text, '\n') + 1,
		watcher.out_text + watcher.out_len);
	ck_assert_int_eq(raw_set(fixture_address(), node, "else"), 0);
	cli_hears(&watcher, "\"data\":\"else\"");
	kill(watcher.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&watcher), -SIGTERM);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos elect");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_loop_test(t, the_exit_code_is_the_commands, 0, 2);
	tcase_add_test(t, one_leads_after_the_other);
	tcase_add_test(t, it_says_who_it_is_if_nobody_else_does);
	tcase_add_test(t, in_the_layout_of_locks_it_excludes_locks);
	tcase_add_test(t, in_kazoos_dialect_its_node_has_kazoos_name);
	tcase_add_test(t, a_mixed_line_is_complained_about);
	tcase_add_test(t, a_wait_that_is_over_gives_121);
	tcase_add_loop_test(t, without_waiting_it_leads_or_does_not, 0, 3);
	tcase_add_test(t, wrong_use_gives_125_and_one_line);
	tcase_add_test(t, a_leader_that_is_deposed_ends_its_command);
	tcase_add_test(t, S27_it_ends_in_time_although_the_leader_is_killed);
	tcase_add_test(t, restart_runs_the_command_on_each_win);
	tcase_add_test(t,
		it_restarts_a_command_that_ends_as_if_it_could_not_be_executed);
	tcase_add_test(t, a_wait_that_is_over_without_a_server_is_told_as_that);
	tcase_add_test(t,
		it_goes_on_while_no_server_answers_whatever_the_time_to_win);
	tcase_add_test(t,
		a_restart_comes_a_second_after_the_last_at_the_earliest);
	tcase_add_test(t, those_that_restart_take_turns);
	tcase_add_test(t, who_waits_dies_of_a_signal_and_leaves_the_line);
	tcase_add_test(t, watch_tells_who_leads);
	tcase_add_test(t, watch_tells_it_in_json);
	tcase_add_test(t, watch_tells_it_in_one_line_each);
	return fixture_main(s);
}
