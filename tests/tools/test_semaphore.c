/*
 * test_semaphore.c - kustos semaphore: who gets a lease, and what the command
 * gets; and kustos ls of a semaphore.
 */
#include "cli.h"

#include "fixture.h"
#include "raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEM "/jobs"
#define NODE "/settings/jobs"

static struct cli a, b, c;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

static int leases(void)
{
	return raw_count_children(fixture_address(), SEM "/leases");
}

static int waiting(void)
{
	return raw_count_children(fixture_address(), SEM "/locks");
}

/* Let one hold a lease until it is told to go on. */
static void hold(struct cli *who)
{
	cli_start(who, "semaphore", "-n2", SEM, "--", "sh", "-c",
		"echo held; read go");
	cli_hears(who, "held\n");
}

static void let_go(struct cli *who)
{
	cli_type(who, "go\n");
	ck_assert_int_eq(cli_end(who), 0);
}

/* Return how often "text" has "word". */
static int times(const char *text, const char *word)
{
	int n = 0;

	while ((text = strstr(text, word)) != NULL) {
		text++;
		n++;
	}
	return n;
}

START_TEST(the_exit_code_is_the_commands)
{
	ck_assert_int_eq(
		cli_run(&a, "semaphore", "-n", "1", SEM, "sh", "-c", "exit 7"),
		7);
	ck_assert_int_eq(
		cli_run(&a, "semaphore", "-n1", SEM, "sh", "-c", "kill -9 $$"),
		128 + SIGKILL);
	ck_assert_int_eq(cli_run(&a, "semaphore", "-n1", SEM, "/no/such"), 127);
	ck_assert_int_eq(leases(), 0);
}
END_TEST

START_TEST(the_command_knows_its_lease)
{
	char node[256], *end;

	cli_start(&a, "semaphore", "-n2", SEM, "--", "sh", "-c",
		"echo $KUSTOS_PATH $KUSTOS_TOKEN $KUSTOS_NODE; read go");
	ck_assert_int_gt(strtoll(cli_hears(&a, SEM " "), &end, 10), 0);
	snprintf(node, sizeof(node), "%s", end + 1);
	node[strcspn(node, "\n")] = '\0';
	ck_assert_ptr_nonnull(strstr(node, SEM "/leases/"));
	ck_assert_int_eq(raw_exists(fixture_address(), node, NULL), 0);
	let_go(&a);
}
END_TEST

START_TEST(so_many_may_run_and_no_more)
{
	hold(&a);
	hold(&b);
	ck_assert_int_eq(cli_run(&c, "semaphore", "--nonblock", "-n2", SEM,
				 "echo", "ran"),
		120);
	ck_assert_str_eq(c.out_text, "");
	ck_assert_str_eq(c.err_text, "kustos: " SEM ": there is no room\n");
	ck_assert_int_eq(
		cli_run(&c, "semaphore", "-w0", "-E9", "-n2", SEM, "true"), 9);
	ck_assert_int_eq(
		cli_run(&c, "semaphore", "-w", "1.5", "-n2", SEM, "true"), 121);
	cli_hears_error(&c, SEM ": there was no room within 1.5 s\n");
	cli_start(&c, "semaphore", "-n2", SEM, "--", "echo", "ran");
	test_within(waiting() == 1, CLI_MS);
	let_go(&b);
	ck_assert_int_eq(cli_end(&c), 0);
	ck_assert_str_eq(c.out_text, "ran\n");
	let_go(&a);
	ck_assert_int_eq(leases(), 0);
}
END_TEST

START_TEST(several_leases_are_held_or_none)
{
	char *end;

	hold(&a);
	ck_assert_int_eq(cli_run(&c, "semaphore", "--nonblock", "--leases=2",
				 "-n2", SEM, "true"),
		120);
	ck_assert_int_eq(leases(), 1);
	let_go(&a);
	cli_start(&a, "semaphore", "--leases", "2", "-n2", SEM, "--", "sh",
		"-c", "echo $KUSTOS_NODE held $KUSTOS_TOKEN; read go");
	long long token = strtoll(cli_hears(&a, " held "), &end, 10);
	ck_assert_int_gt(token, 0);
	ck_assert_int_ne(strtoll(end, &end, 10), token);
	ck_assert_int_eq(*end, '\n');
	ck_assert_int_eq(times(a.out_text, SEM "/leases/"), 2);
	ck_assert_int_eq(leases(), 2);
	ck_assert_int_eq(
		cli_run(&c, "semaphore", "--nonblock", "-n2", SEM, "true"),
		120);
	let_go(&a);
	ck_assert_int_eq(leases(), 0);
}
END_TEST

/* Whichever of them is deleted. */
START_TEST(the_command_is_ended_when_one_of_its_leases_is_lost)
{
	static const char script[] = "trap 'echo asked; exit 9' TERM\n"
				     "echo held; read go; echo went on";
	struct raw_names names;
	char path[256];

	cli_start(&a, "semaphore", "--leases", "2", "-n2", SEM, "--", "sh",
		"-c", script);
	cli_hears(&a, "held\n");
	ck_assert_int_eq(raw_children(fixture_address(), SEM "/leases", &names),
		0);
	ck_assert_int_eq(names.count, 2);
	snprintf(path, sizeof(path), SEM "/leases/%s", names.names[_i]);
	raw_names_free(&names);
	ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	ck_assert_int_eq(cli_end(&a), 122);
	cli_hears_error(&a, "kustos: " SEM ": the lease was lost while sh ran");
	cli_hears(&a, "asked\n");
	ck_assert_ptr_null(strstr(a.out_text, "went on"));
	ck_assert_int_eq(leases(), 0);
}
END_TEST

static int set_max(const char *number)
{
	return cli_run(&c, "semaphore", "--max-path", NODE, "--set-max",
		number);
}

static void hold_shared(struct cli *who)
{
	cli_start(who, "semaphore", "--max-path", NODE, SEM, "--", "sh", "-c",
		"echo held; read go");
}

/* A shared number may grow to any size, so it gives no limit.  The test allows
   less memory than a table of so many leases would take. */
START_TEST(more_leases_than_a_session_can_have_are_refused_as_that)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	const char *limit = "ulimit -v unlimited";
#else
	const char *limit = "ulimit -v 4000000";
#endif
	char command[512];

	ck_assert_int_eq(set_max("1"), 0);
	snprintf(command, sizeof(command),
		"%s && exec %s semaphore --leases=2000000000 --max-path " NODE
		" " SEM " true",
		limit, cli_program());
	cli_start_argv(&a, (const char *const[]){ "sh", "-c", command, NULL });
	ck_assert_int_eq(cli_end(&a), 124);
	ck_assert_str_eq(a.err_text,
		"kustos: cannot get a lease of " SEM
		": one session would hold too much\n");
}
END_TEST

START_TEST(the_number_is_set_from_the_shell_and_changes_under_those_who_wait)
{
	ck_assert_int_eq(set_max("1"), 0);
	hold_shared(&a);
	cli_hears(&a, "held\n");
	hold_shared(&b);
	test_within(waiting() == 1, CLI_MS);
	ck_assert_int_eq(set_max("2"), 0);
	cli_hears(&b, "held\n");
	ck_assert_int_eq(set_max("1"), 0);
	let_go(&a);
	ck_assert_int_eq(cli_run(&c, "semaphore", "--nonblock", "--max-path",
				 NODE, SEM, "true"),
		120);
	let_go(&b);
	ck_assert_int_eq(cli_run(&c, "semaphore", "--nonblock", "--max-path",
				 NODE, SEM, "true"),
		0);
	ck_assert_int_eq(set_max("0"), 0);
	ck_assert_int_eq(cli_run(&c, "semaphore", "--nonblock", "--max-path",
				 NODE, SEM, "true"),
		120);
}
END_TEST

START_TEST(who_reads_the_number_says_which_it_goes_by)
{
	ck_assert_int_eq(set_max("3"), 0);
	hold(&a); /* it goes by 2 */
	ck_assert_int_eq(
		cli_run(&c, "semaphore", "--max-path", NODE, SEM, "true"), 0);
	ck_assert_str_eq(c.err_text,
		"kustos: " SEM
		": others use a different number of leases than 3\n");
	let_go(&a);
}
END_TEST

#define NO_LEASE "kustos: " SEM ": no lease is granted, as " NODE
static const char *const no_lease[] = { NO_LEASE " is missing\n",
	NO_LEASE " holds no number\n" };

/* The node has something that is no number, or does not exist. */
static void set_no_number(int is_there)
{
	ck_assert_int_eq(set_max("1"), 0);
	ck_assert_int_eq(is_there ? raw_set(fixture_address(), NODE, "seven")
				  : raw_delete(fixture_address(), NODE),
		0);
}

START_TEST(who_has_no_number_says_so_and_blames_nobody)
{
	char text[256];

	set_no_number(_i);
	ck_assert_int_eq(cli_run(&c, "semaphore", "--nonblock", "--max-path",
				 NODE, SEM, "true"),
		120);
	ck_assert_str_eq(c.err_text, no_lease[_i]);
	ck_assert_int_eq(cli_run(&c, "semaphore", "-w1.5", "--max-path", NODE,
				 SEM, "true"),
		121);
	snprintf(text, sizeof(text),
		"%skustos: " SEM ": not got within 1.5 s\n", no_lease[_i]);
	ck_assert_str_eq(c.err_text, text);
}
END_TEST

START_TEST(who_waits_for_a_number_says_so_at_once_and_uses_it_when_it_comes)
{
	set_no_number(_i);
	hold_shared(&a);
	cli_hears_error(&a, no_lease[_i]);
	ck_assert_int_eq(set_max("1"), 0);
	cli_hears(&a, "held\n");
	/* The same if the number goes while somebody waits. */
	hold_shared(&b);
	test_within(waiting() == 1, CLI_MS);
	ck_assert(!cli_has_spoken(&b));
	set_no_number(_i);
	cli_hears_error(&b, no_lease[_i]);
	ck_assert_int_eq(set_max("2"), 0);
	cli_hears(&b, "held\n");
	let_go(&a);
	let_go(&b);
	ck_assert_str_eq(a.err_text, no_lease[_i]);
	ck_assert_str_eq(b.err_text, no_lease[_i]);
}
END_TEST

static const struct {
	const char *argv[6];
	const char *says;
} wrong[] = {
	{ { "semaphore", SEM, "true" }, "one of -n and --max-path" },
	{ { "semaphore", "-n1", "--max-path=/n", SEM, "true" },
		"one of -n and --max-path" },
	{ { "semaphore", "-n0", SEM, "true" },
		"-n 0 is not a number from 1 to 2147483647" },
	{ { "queue", "put", "--priority=99999999999", SEM, "x" },
		"is not a number from -2147483647 to 2147483647" },
	{ { "lock", "/", "true" },
		"lock: / is the root, where no recipe can be" },
	{ { "--hosts", "x:1", "lock", SEM, "true" },
		"kustos: --hosts is before the subcommand, but options go "
		"after it; see 'kustos help'" },
	{ { "wait" }, "kustos: there is no subcommand 'wait'; see 'kustos" },
	{ { "ls", SEM, "/l" }, "ls: more than one PATH" },
	{ { "break", "-y", SEM, "/l" }, "break: more than one PATH" },
	{ { "break", "--token=0", SEM }, "--token 0 is not a token" },
	{ { "break", "--token=", SEM }, "--token  is not a token" },
	{ { "break", "--token=7x", SEM }, "--token 7x is not a token" },
	{ { "semaphore", "-n1", SEM }, "no COMMAND given" },
	{ { "semaphore", "-n1" }, "no PATH given" },
	{ { "semaphore", "-n1", "--leases=2", SEM, "true" },
		"--leases is more than there may be, which is 1" },
	{ { "semaphore", "-n1", "--set-max=2" }, "--set-max needs --max-path" },
	{ { "semaphore", "--max-path=/n", "--set-max=2", SEM },
		"--set-max takes no PATH" },
	{ { "semaphore", "--max-path=/n", "--set-max=2", "--leases=2" },
		"--set-max takes no lease" },
	{ { "semaphore", "--max-path=/n", "--set-max=2", "-w1" },
		"--set-max takes no lease" },
	{ { "semaphore", "--max-path=/n", "--set-max=2", "--nonblock" },
		"--set-max takes no lease" },
	{ { "semaphore", "--max-path=/n", "--set-max=2", "-E9" },
		"--set-max takes no lease" },
	{ { "semaphore", "--max-path=/n", "--set-max=2", "--quiet" },
		"--set-max takes no lease" },
	{ { "semaphore", "--max-path=/n", "--set-max=2", "--reason=a" },
		"--set-max takes no lease" },
	{ { "semaphore", "--max-path=/n", "--set-max=2", "--data=a" },
		"--set-max takes no lease" },
	{ { "semaphore", "--max-path=/n", "--set-max=2", "--no-record" },
		"--set-max takes no lease" },
	{ { "semaphore", "--max-path=/n", "--set-max=2", "--grace=1" },
		"--set-max takes no lease" },
	{ { "lock", "--data=a", "--reason=b", SEM, "true" },
		"--reason needs the holder record" },
	{ { "semaphore", "-n1", "--nonblock", "-w1", SEM, "true" },
		"--nonblock and -w exclude each other" },
	{ { "semaphore", "-n1", "--shared", SEM, "true" }, "--shared" },
	{ { "semaphore", "--max-path=no", SEM, "true" },
		"semaphore: no is not a path of ZooKeeper" },
	{ { "semaphore", "--max-path=no", "jobs", "true" },
		"semaphore: jobs is not a path of ZooKeeper" },
	{ { "semaphore", "--max-path=no", "--set-max=1" },
		"semaphore: no is not a path of ZooKeeper" },
	{ { "lock", SEM, "/x//", "--", "true" },
		"lock: /x// is not a path of ZooKeeper" },
	{ { "lock", "--leases=2", SEM, "true" }, "--leases" },
};
#define WRONG ((int)(sizeof(wrong) / sizeof(*wrong)))

/* As in a crontab: the exit code tells of the conflict, and other messages
   remain. */
START_TEST(who_is_quiet_says_nothing_of_a_conflict_and_all_else)
{
	hold(&a);
	ck_assert_int_eq(cli_run(&b, "semaphore", "-n2", "--leases=2", "-q",
				 "--nonblock", SEM, "--", "false"),
		120);
	ck_assert_str_eq(b.err_text, "");
	ck_assert_int_eq(cli_run(&b, "semaphore", "-n2", "--leases=2",
				 "--quiet", "-w2.5", SEM, "--", "false"),
		121);
	ck_assert_str_eq(b.err_text, "");
	ck_assert_int_eq(cli_run(&b, "semaphore", "-q", "-n3", "--nonblock",
				 "--hosts=127.0.0.1:1", "--session-timeout=200",
				 SEM, "--", "false"),
		123);
	cli_hears_error(&b, "kustos: no server answers");
	let_go(&a);
}
END_TEST

START_TEST(wrong_use_gives_125)
{
	const char *argv[8] = { cli_program() };

	for (int i = 0; i < 6 && wrong[_i].argv[i] != NULL; i++)
		argv[i + 1] = wrong[_i].argv[i];
	cli_start_argv(&a, argv);
	ck_assert_int_eq(cli_end(&a), 125);
	cli_hears_error(&a, wrong[_i].says);
}
END_TEST

START_TEST(ls_shows_leases_and_who_waits)
{
	hold(&a);
	hold(&b);
	cli_start(&c, "semaphore", "-n2", "--reason=patience", SEM, "true");
	test_within(waiting() == 1 && leases() == 3, CLI_MS);

	static struct cli ls;
	ck_assert_int_eq(cli_run(&ls, "ls", SEM), 0);
	cli_hears(&ls, SEM ": 2 hold, 1 waits\n");
	ck_assert_int_eq(times(ls.out_text, "\nleases "), 2);
	ck_assert_int_eq(times(ls.out_text, "\nwaits "), 1);
	cli_hears(&ls, "patience");
	ck_assert_int_eq(cli_run(&ls, "ls", "--json", SEM), 0);
	ck_assert_int_eq(
		times(ls.out_text, "\"state\":\"holds\",\"kind\":\"lease\""),
		2);
	ck_assert_int_eq(
		times(ls.out_text, "\"state\":\"waits\",\"kind\":\"lock\""), 1);
	let_go(&a);
	ck_assert_int_eq(cli_end(&c), 0);
	let_go(&b);
	ck_assert_int_eq(cli_run(&ls, "ls", SEM), 0);
	cli_hears(&ls, SEM ": free\n");
}
END_TEST

/* Whatever number the holders went by: they have left it in the node. */
START_TEST(ls_shows_all_who_hold_by_another_number)
{
	static struct cli ls, d;

	ck_assert_int_eq(set_max("3"), 0);
	hold(&a); /* and goes by 2 */
	hold_shared(&b);
	cli_hears(&b, "held\n");
	hold_shared(&c);
	cli_hears(&c, "held\n");
	ck_assert_int_eq(cli_run(&ls, "ls", SEM), 0);
	cli_hears(&ls, SEM ": 3 hold, 0 wait\n");
	ck_assert_int_eq(times(ls.out_text, "\nleases "), 3);
	hold_shared(&d);
	test_within(waiting() == 1 && leases() == 4, CLI_MS);
	ck_assert_int_eq(cli_run(&ls, "ls", SEM), 0);
	cli_hears(&ls, SEM ": 3 hold, 1 waits\n");
	let_go(&a);
	cli_hears(&d, "held\n");
	let_go(&b);
	let_go(&c);
	let_go(&d);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos semaphore");
	TCase *t = fixture_case(s, "kustos semaphore", 20);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, the_exit_code_is_the_commands);
	tcase_add_test(t, the_command_knows_its_lease);
	tcase_add_test(t, so_many_may_run_and_no_more);
	tcase_add_test(t, several_leases_are_held_or_none);
	tcase_add_test(t,
		more_leases_than_a_session_can_have_are_refused_as_that);
	tcase_add_loop_test(t,
		the_command_is_ended_when_one_of_its_leases_is_lost, 0, 2);
	tcase_add_test(t,
		the_number_is_set_from_the_shell_and_changes_under_those_who_wait);
	tcase_add_test(t, who_reads_the_number_says_which_it_goes_by);
	tcase_add_loop_test(t, who_has_no_number_says_so_and_blames_nobody, 0,
		2);
	tcase_add_loop_test(t,
		who_waits_for_a_number_says_so_at_once_and_uses_it_when_it_comes,
		0, 2);
	tcase_add_test(t, who_is_quiet_says_nothing_of_a_conflict_and_all_else);
	tcase_add_loop_test(t, wrong_use_gives_125, 0, WRONG);
	tcase_add_test(t, ls_shows_leases_and_who_waits);
	tcase_add_test(t, ls_shows_all_who_hold_by_another_number);
	return fixture_main(s);
}
