/*
 * test_chroot.c - a missing chroot is reported by every subcommand, even by
 * those that would wait for a node or accept that there is none.  A malformed
 * path is reported as well, even if no server answers; and so are an option and
 * a list of servers.
 */
#include "cli.h"

#include "fixture.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGS 6

static struct cli a, b;
static char rooted[64]; /* in a chroot that does not exist yet */

static void set_up(void)
{
	snprintf(rooted, sizeof(rooted), "%s/none", fixture_address());
	setenv("KUSTOS_HOSTS", rooted, 1);
}

/* Every verb of every subcommand that uses a server; twice if it also has a
   form that does not wait and must report this first. */
static const char *const all[][ARGS] = {
	{ "lock", "/l", "true" },
	{ "lock", "-n", "/l", "true" },
	{ "lock", "-s", "/l", "true" },
	{ "lock", "/l", "/m", "--", "true" },
	{ "semaphore", "-n1", "/l", "true" },
	{ "semaphore", "--max-path=/l", "/m", "true" },
	{ "semaphore", "--max-path=/l", "--set-max=2" },
	{ "elect", "/l", "true" },
	{ "elect", "-w0", "/l", "true" },
	{ "elect", "--lock-layout", "-r", "/l", "true" },
	{ "elect", "--watch", "/l" },
	{ "barrier", "set", "/l" },
	{ "barrier", "remove", "/l" },
	{ "barrier", "wait", "/l" },
	{ "barrier", "wait", "-w0", "/l" },
	{ "barrier", "enter", "-n1", "/l", "true" },
	{ "latch", "set", "-n1", "/l" },
	{ "latch", "done", "/l" },
	{ "latch", "done", "/l", "true" },
	{ "latch", "wait", "/l" },
	{ "latch", "wait", "-n2", "-w0", "/l" },
	{ "latch", "status", "/l" },
	{ "latch", "remove", "/l" },
	{ "queue", "put", "/l", "x" },
	{ "queue", "put", "-kkazoo", "/l", "x" },
	{ "queue", "take", "/l" },
	{ "queue", "take", "-w0", "/l" },
	{ "queue", "peek", "/l" },
	{ "queue", "ls", "/l" },
	{ "queue", "ls", "-kid", "/l" },
	{ "queue", "consume", "/l", "true" },
	{ "ls", "/l" },
	{ "ls", "--json", "/" },
	{ "top", "/" },
	{ "top", "--once", "/l" },
	{ "break", "-y", "/l" },
	{ "break", "--revoke", "/l/n" },
	{ "bench", "-c1", "-d1", "/l" },
};
#define ALL (int)(sizeof(all) / sizeof(all[0]))

static int run(int which)
{
	const char *argv[1 + ARGS + 1] = { cli_program() };

	for (int i = 0; i < ARGS; i++)
		argv[1 + i] = all[which][i];
	cli_start_argv(&a, argv);
	return cli_end(&a);
}

START_TEST(a_chroot_that_is_missing_is_no_missing_node)
{
	char said[128];

	snprintf(said, sizeof(said), "kustos: the chroot of %s is missing\n",
		rooted);
	ck_assert_int_eq(run(_i), 124);
	ck_assert_str_eq(a.err_text, said);
	ck_assert_uint_eq(a.out_len, 0);
	ck_assert_int_ne(raw_exists(fixture_address(), "/none", NULL), 0);
}
END_TEST

/* The first path of the command ends in a slash. */
START_TEST(what_is_no_path_is_wrong_use_without_a_server)
{
	const char *argv[1 + ARGS + 1] = { cli_program() };
	char path[64] = "", said[128];

	setenv("KUSTOS_HOSTS", "127.0.0.9:1", 1);
	for (int i = 0; i < ARGS && all[_i][i] != NULL; i++) {
		bool bad = *path == '\0' && strchr(all[_i][i], '/') != NULL;

		if (bad)
			snprintf(path, sizeof(path), "%s/", all[_i][i]);
		argv[1 + i] = bad ? path : all[_i][i];
	}
	cli_start_argv(&a, argv);
	ck_assert_int_eq(cli_end(&a), 125);
	snprintf(said, sizeof(said),
		"kustos: %s: %s is not a path of ZooKeeper", all[_i][0],
		strchr(path, '/'));
	ck_assert_ptr_eq(strstr(a.err_text, said), a.err_text);
	ck_assert_uint_eq(a.out_len, 0);
}
END_TEST

START_TEST(what_is_wrong_is_told_by_its_name)
{
	ck_assert_int_eq(cli_run(&a, "lock", "--bogus", "/l", "true"), 125);
	ck_assert_str_eq(a.err_text,
		"kustos: lock: unrecognized option '--bogus'\n");
	ck_assert_int_eq(cli_run(&a, "ls", "--hosts=", "/l"), 125);
	cli_hears_error(&a, "kustos: ls: --hosts: an empty host in ");
	setenv("KUSTOS_HOSTS", "zk:2181,", 1);
	ck_assert_int_eq(cli_run(&a, "ls", "/l"), 125);
	cli_hears_error(&a, "kustos: ls: KUSTOS_HOSTS: an empty host in ");
}
END_TEST

static bool has_row(const char *name, const char *verb)
{
	for (int i = 0; i < ALL; i++)
		if (strcmp(all[i][0], name) == 0 &&
			(*verb == '\0' || strcmp(all[i][1], verb) == 0))
			return true;
	return false;
}

/* Check that all verbs in the subcommand's usage are in the table. */
static void look_up_verbs(const char *name)
{
	char before[64], verbs[64], *verb, *rest;

	snprintf(before, sizeof(before), " kustos %s ", name);
	ck_assert_int_eq(cli_run(&b, name, "--help"), 0);
	for (const char *at = b.out_text; (at = strstr(at, before)) != NULL;) {
		at += strlen(before);
		if (sscanf(at, "%63[a-z|]", verbs) != 1)
			continue;
		for (verb = strtok_r(verbs, "|", &rest); verb != NULL;
			verb = strtok_r(NULL, "|", &rest))
			ck_assert_msg(has_row(name, verb), "no %s %s", name,
				verb);
	}
}

START_TEST(no_subcommand_was_forgotten)
{
	char *rest, *line, name[32];
	int count = 0;

	ck_assert_int_eq(cli_run(&a, "help"), 0);
	for (line = strtok_r(a.out_text, "\n", &rest); line != NULL;
		line = strtok_r(NULL, "\n", &rest)) {
		if (sscanf(line, "  kustos %31[a-z]", name) != 1 ||
			strncmp(line, "  kustos ", 9) != 0 ||
			strcmp(name, "server") == 0)
			continue;
		ck_assert_msg(has_row(name, ""), "no %s", name);
		look_up_verbs(name);
		count++;
	}
	ck_assert_int_eq(count, 10);
}
END_TEST

START_TEST(in_a_chroot_that_is_there_a_missing_node_is_one)
{
	ck_assert_int_eq(raw_create(fixture_address(), "/none", NULL), 0);
	ck_assert_int_eq(cli_run(&a, "barrier", "wait", "/l"), 0);
	ck_assert_int_eq(cli_run(&a, "barrier", "remove", "/l"), 0);
	ck_assert_int_eq(cli_run(&a, "latch", "wait", "-w0", "/l"), 120);
	ck_assert_int_eq(cli_run(&a, "queue", "take", "-w0", "/l"), 120);
	ck_assert_int_eq(cli_run(&a, "queue", "ls", "/l"), 117);
	ck_assert_int_eq(cli_run(&a, "ls", "/l"), 117);
	ck_assert_str_eq(a.err_text, "kustos: /l: there is no such node\n");
	ck_assert_int_eq(cli_run(&a, "break", "-y", "/l"), 117);
	ck_assert_int_eq(cli_run(&a, "top", "--once", "/l"), 117);
	ck_assert_int_eq(cli_run(&a, "top", "--once", "/"), 0);
}
END_TEST

/* A process that waits never finds this out. */
START_TEST(a_server_that_is_missing_is_no_missing_chroot)
{
	static const char *const waits[][3] = {
		{ "barrier", "wait", "/l" },
		{ "latch", "wait", "/l" },
		{ "queue", "take", "/l" },
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		ck_assert_int_eq(cli_run(&a, waits[i][0], waits[i][1],
					 waits[i][2],
					 "--hosts=127.0.0.9:1/none",
					 "--session-timeout=300"),
			123);
		ck_assert_str_eq(a.err_text,
			"kustos: no server answers at 127.0.0.9:1/none\n");
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos in a chroot");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_loop_test(t, a_chroot_that_is_missing_is_no_missing_node, 0,
		ALL);
	tcase_add_loop_test(t, what_is_no_path_is_wrong_use_without_a_server, 0,
		ALL);
	tcase_add_test(t, what_is_wrong_is_told_by_its_name);
	tcase_add_test(t, no_subcommand_was_forgotten);
	tcase_add_test(t, in_a_chroot_that_is_there_a_missing_node_is_one);
	tcase_add_test(t, a_server_that_is_missing_is_no_missing_chroot);
	return fixture_main(s);
}
