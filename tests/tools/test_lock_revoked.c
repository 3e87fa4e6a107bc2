/*
 * test_lock_revoked.c - kustos lock --revocable: somebody asks for the lock,
 * and the command is asked to end.
 */
#include "cli.h"

#include "fixture.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A session so long that the clock never asks a command to end. */
#define SESSION "--session-timeout=40000"

#define GRACE "--grace=2"
#define GRACE_MS 2000

/* As long as it can be. */
#define LONG_GRACE "--grace=10"
#define LONG_GRACE_MS 10000

static struct cli a, b, c;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

static void ask_for(const char *path)
{
	ck_assert_int_eq(cli_run(&c, "break", "--revoke", path), 0);
}

/* Let "a" hold /l, revocably or not, with "trap" as its reaction. */
static void hold(const char *kind, const char *option, const char *trap)
{
	char script[256];

	snprintf(script, sizeof(script),
		"trap '%s' TERM; echo held; read go; echo went", trap);
	cli_start(&a, "lock", SESSION, GRACE, kind, option, "/l", "--", "sh",
		"-c", script);
	cli_hears(&a, "held\n");
}

/* For any kind of lock. */
START_TEST(a_lock_that_is_asked_for_is_given_back)
{
	static const char *const kinds[] = { "--record", "--no-record", "-s",
		"-x" };

	hold(kinds[_i], "--revocable", "echo asked; exit 7");
	cli_start(&b, "lock", _i < 2 ? "--record" : "-x", "/l", "echo", "next");
	test_within(fixture_children("/l") == 2, CLI_MS);
	ask_for("/l");
	cli_hears(&a, "asked\n");
	ck_assert_int_eq(cli_end(&a), 122);
	ck_assert_str_eq(a.err_text,
		"kustos: /l: the lock was asked for back while sh ran, which "
		"ended with 7\n");
	ck_assert_int_eq(cli_end(&b), 0);
	cli_hears(&b, "next\n");
}
END_TEST

/* The first process waits for the other, which must get the signal itself. */
START_TEST(each_process_of_the_command_is_asked)
{
	static const char script[] =
		"trap 'wait; exit 7' TERM\n"
		"(trap 'echo asked; exit' TERM; echo held\n"
		"while :; do sleep 0.02; done) &\n"
		"wait; wait";

	cli_start(&a, "lock", SESSION, GRACE, "--revocable", "/l", "--", "sh",
		"-c", script);
	cli_hears(&a, "held\n");
	ask_for("/l");
	cli_hears(&a, "asked\n");
	ck_assert_int_eq(cli_end(&a), 122);
	cli_hears_error(&a, "which ended with 7\n");
}
END_TEST

START_TEST(who_does_not_end_has_all_of_the_grace)
{
	int64_t start_ms;

	hold("--record", "--revocable", "");
	start_ms = test_now_ms();
	ask_for("/l");
	ck_assert_int_eq(cli_end(&a), 122);
	ck_assert_int_ge(test_now_ms() - start_ms, GRACE_MS);
	cli_hears_error(&a,
		"asked for back while sh ran, which ended with 137");
	ck_assert_int_eq(fixture_children("/l"), 0);
}
END_TEST

/* The request is visible to all, in place of the holder's record. */
START_TEST(who_cannot_be_asked_goes_on)
{
	hold("--record", "--record", "echo asked");
	ask_for("/l");
	ck_assert_int_eq(cli_run(&c, "ls", "/l"), 0);
	cli_hears(&c, "  __REVOKE__\n");
	ck_assert_ptr_null(strstr(c.out_text, "pid"));
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_str_eq(a.out_text, "held\nwent\n");
}
END_TEST

START_TEST(of_several_locks_one_is_enough_and_is_named)
{
	static const char *const paths[] = { "/l", "/m" };
	static const char *const told[] = {
		"kustos: /l: the lock was asked for back while sh ran",
		"kustos: /m: the lock was asked for back while sh ran",
	};

	cli_start(&a, "lock", SESSION, "--revocable", "/l", "/m", "--", "sh",
		"-c", "echo held; exec sleep 1000");
	cli_hears(&a, "held\n");
	ask_for(paths[_i]);
	ck_assert_int_eq(cli_end(&a), 122);
	cli_hears_error(&a, told[_i]);
	ck_assert_int_eq(fixture_children("/l") + fixture_children("/m"), 0);
}
END_TEST

/* Callbacks run one after the other.  So a request for the first lock is known
   before the second lock is granted and the command started. */
START_TEST(who_is_asked_in_line_does_not_keep_the_lock)
{
	struct raw_names names;
	char path[128];

	hold("--record", "--record", "");
	cli_start(&b, "lock", SESSION, "--revocable", "/l", "/m", "--", "sleep",
		"1000");
	test_within(fixture_children("/l") == 2, CLI_MS);
	ck_assert_int_eq(raw_children(fixture_address(), "/l", &names), 0);
	for (int i = 0; i < names.count; i++)
		if (strstr(names.names[i], "lock-0000000001") != NULL)
			snprintf(path, sizeof(path), "/l/%s", names.names[i]);
	raw_names_free(&names);
	ask_for(path);
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
	ck_assert_int_eq(cli_end(&b), 122);
	cli_hears_error(&b,
		"kustos: /l: the lock was asked for back before sleep could "
		"start\n");
}
END_TEST

/* The next one does not wait for the command of somebody whose lock was
   broken. */
START_TEST(who_is_asked_and_loses_the_lock_has_not_all_of_the_grace)
{
	int64_t start_ms;

	cli_start(&a, "lock", SESSION, LONG_GRACE, "--revocable", "/l", "--",
		"sh", "-c",
		"trap 'echo asked' TERM; echo held; while :; do sleep 9; done");
	cli_hears(&a, "held\n");
	cli_start(&b, "lock", "/l", "echo", "next");
	test_within(fixture_children("/l") == 2, CLI_MS);
	ask_for("/l");
	cli_hears(&a, "asked\n");
	start_ms = test_now_ms();
	ck_assert_int_eq(cli_run(&c, "break", "-y", "/l"), 0);
	ck_assert_int_eq(cli_end(&a), 122);
	ck_assert_int_lt(test_now_ms() - start_ms, LONG_GRACE_MS / 2);
	cli_hears_error(&a,
		"kustos: /l: the lock was lost while sh ran, which ended with "
		"137\n");
	ck_assert_int_eq(cli_end(&b), 0);
	cli_hears(&b, "next\n");
}
END_TEST

/* A leader is asked as politely: nobody else leads while its command runs. */
START_TEST(a_leader_that_is_asked_has_all_of_the_grace_and_leads_alone)
{
	const char *layout = _i == 0 ? GRACE : "--lock-layout";
	char node[128];
	int64_t start_ms;

	cli_start(&a, "elect", SESSION, GRACE, layout, "/e", "--", "sh", "-c",
		"trap '' TERM; echo on $KUSTOS_NODE; read go");
	cli_hears(&a, "\n");
	ck_assert_int_eq(sscanf(a.out_text, "on %127s", node), 1);
	cli_start(&b, "elect", layout, "/e", "--", "echo", "next");
	test_within(fixture_children("/e") == 2, CLI_MS);
	start_ms = test_now_ms();
	ask_for(node);
	test_never(cli_has_spoken(&b), GRACE_MS / 2);
	ck_assert(cli_runs(&a));
	ck_assert_int_eq(cli_end(&a), 122);
	ck_assert_int_ge(test_now_ms() - start_ms, GRACE_MS);
	cli_hears_error(&a,
		"asked for back while sh ran, which ended with 137");
	ck_assert_int_eq(cli_end(&b), 0);
	ck_assert_str_eq(b.out_text, "next\n");
}
END_TEST

/* Otherwise who has asked would wait for somebody else's lock. */
START_TEST(who_is_asked_for_one_of_several_does_not_wait_for_the_others)
{
	cli_start(&b, "lock", "/m", "--", "sh", "-c", "echo held; read go");
	cli_hears(&b, "held\n");
	cli_start(&a, "lock", SESSION, "--revocable", "/m", "/l", "--", "sleep",
		"1000");
	test_within(fixture_children("/m") == 2, CLI_MS);
	ask_for("/l");
	ck_assert_int_eq(cli_end(&a), 122);
	ck_assert_str_eq(a.err_text,
		"kustos: /l: the lock was asked for back before sleep could "
		"start\n");
	ck_assert_int_eq(fixture_children("/l"), 0);
	ck_assert_int_eq(fixture_children("/m"), 1);
	cli_type(&b, "go\n");
	ck_assert_int_eq(cli_end(&b), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos lock --revocable");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_loop_test(t, a_lock_that_is_asked_for_is_given_back, 0, 4);
	tcase_add_test(t, each_process_of_the_command_is_asked);
	tcase_add_test(t, who_does_not_end_has_all_of_the_grace);
	tcase_add_test(t,
		who_is_asked_and_loses_the_lock_has_not_all_of_the_grace);
	tcase_add_test(t, who_cannot_be_asked_goes_on);
	tcase_add_loop_test(t, of_several_locks_one_is_enough_and_is_named, 0,
		2);
	tcase_add_test(t, who_is_asked_in_line_does_not_keep_the_lock);
	tcase_add_loop_test(t,
		a_leader_that_is_asked_has_all_of_the_grace_and_leads_alone, 0,
		2);
	tcase_add_test(t,
		who_is_asked_for_one_of_several_does_not_wait_for_the_others);
	return fixture_main(s);
}
