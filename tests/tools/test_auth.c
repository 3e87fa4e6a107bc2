/*
 * test_auth.c - kustos with credentials, and the access control lists of the
 * nodes that it creates.
 */
#include "cli.h"

#include "fixture.h"
#include "raw.h"
#include "rows.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REFUSED (-102)
#define SECRET "alice:secret\n"

static struct cli a, b;
static char folder[] = "/tmp/kustos-auth-XXXXXX";
static char file[64];

static void write_file(const char *text, mode_t mode)
{
	FILE *f = fopen(file, "we");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(chmod(file, mode), 0);
}

static void set_up(void)
{
	unsetenv("KUSTOS_AUTH_FILE");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/auth", folder);
	write_file(SECRET, 0600);
}

static void set_up_with_server(void)
{
	set_up();
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

static void tear_down(void)
{
	unlink(file);
	rmdir(folder);
}

/* A node of the user with the credentials, in which others may do nothing. */
static void make_hers(void)
{
	ck_assert_int_eq(cli_run(&a, "barrier", "set", "--auth-file", file,
				 "--acl=creator", "/p"),
		0);
	ck_assert_int_eq(raw_set(fixture_address(), "/p", "x"), REFUSED);
}

/* Delete the node, which the next test could not do. */
static void remove_hers(const char *path)
{
	ck_assert_int_eq(
		cli_run(&a, "barrier", "remove", "--auth-file", file, path), 0);
}

static int enter_as(struct cli *c, const char *option, const char *value)
{
	return cli_run(c, "lock", option, value, "/p/l", "--", "echo", "in");
}

START_TEST(who_has_credentials_locks_where_others_may_not)
{
	make_hers();
	ck_assert_int_eq(enter_as(&a, "-w", "60"), 124);
	cli_hears_error(&a, "cannot lock /p/l: the node's ACL forbids this\n");
	ck_assert_int_eq(
		cli_run(&a, "semaphore", "--max-path=/p", "--set-max=1"), 124);
	cli_hears_error(&a, "cannot set /p: the node's ACL forbids this\n");
	ck_assert_int_eq(cli_run(&a, "semaphore", "--max-path=/p", "--nonblock",
				 "/s", "true"),
		120);
	ck_assert_str_eq(a.err_text,
		"kustos: /s: no lease is granted, as /p may not be read\n");
	write_file("alice:guess\n", 0600);
	ck_assert_int_eq(enter_as(&a, "--auth-file", file), 124);
	cli_hears_error(&a, "cannot lock /p/l: the node's ACL forbids this\n");
	write_file(SECRET "the rest is not read", 0600);
	ck_assert_int_eq(enter_as(&a, "--auth-file", file), 0);
	setenv("KUSTOS_AUTH_FILE", file, 1);
	ck_assert_int_eq(enter_as(&a, "-w", "60"), 0);
	cli_hears(&a, "in\n");
	ck_assert_int_eq(cli_run(&a, "ls", "/p/l"), 0);
	remove_hers("/p/l");
	remove_hers("/p");
}
END_TEST

/* New nodes are open to all, or to their creator only. */
START_TEST(an_acl_is_that_of_all_that_is_made)
{
	ck_assert_int_eq(cli_run(&a, "barrier", "set", "--auth-file", file,
				 "--acl", "world", "/open/b"),
		0);
	ck_assert_int_eq(raw_set(fixture_address(), "/open", "x"), 0);
	ck_assert_int_eq(raw_set(fixture_address(), "/open/b", "x"), 0);

	cli_start(&b, "lock", "--auth-file", file, "--acl=creator", "/p/l",
		"--", "sh", "-c", "echo held; read go");
	cli_hears(&b, "held\n");
	ck_assert_int_eq(raw_set(fixture_address(), "/p", "x"), REFUSED);
	ck_assert_int_eq(raw_set(fixture_address(), "/p/l", "x"), REFUSED);
	ck_assert_int_eq(cli_run(&a, "ls", "/p/l"), 124);
	ck_assert_int_eq(cli_run(&a, "ls", "--auth-file", file, "/p/l"), 0);
	cli_hears(&a, "/p/l: 1 holds, 0 wait\n");
	cli_type(&b, "go\n");
	ck_assert_int_eq(cli_end(&b), 0);
	remove_hers("/p/l");
	remove_hers("/p");
}
END_TEST

/* A node that others may not read is there nevertheless. */
START_TEST(a_line_is_shown_though_one_of_it_may_not_be_read)
{
	ck_assert_int_eq(raw_create(fixture_address(), "/open", "x"), 0);
	ck_assert_int_eq(raw_create(fixture_address(), "/open/l", "x"), 0);
	cli_start(&b, "lock", "--auth-file", file, "--acl=creator", "/open/l",
		"--", "sh", "-c", "echo held; read go");
	cli_hears(&b, "held\n");
	ck_assert_int_eq(cli_run(&a, "top", "--once", "/open"), 0);
	cli_hears(&a, "  /open: 1\n");
	rows_check(a.out_text, "/open/l", "lock", 1, 0, "  (may not be read)");
	ck_assert_int_eq(cli_run(&a, "ls", "/open/l"), 0);
	cli_hears(&a, "/open/l: 1 holds, 0 wait\n");
	cli_hears(&a, "(may not be read)\n");
	ck_assert_int_eq(cli_run(&a, "ls", "--json", "/open/l"), 0);
	cli_hears(&a, "\"data\":null,\"record\":null}");
	cli_type(&b, "go\n");
	ck_assert_int_eq(cli_end(&b), 0);

	ck_assert_int_eq(raw_create(fixture_address(), "/open/b", "x"), 0);
	cli_start(&b, "barrier", "enter", "-n2", "--auth-file", file,
		"--acl=creator", "/open/b", "--", "true");
	test_within(fixture_children("/open/b") == 1, CLI_MS);
	ck_assert_int_eq(cli_run(&a, "top", "--once", "/open"), 0);
	ck_assert_int_eq(kill(b.pid, SIGTERM), 0);
	(void)cli_end(&b);
	rows_check(a.out_text, "/open/b", "barrier", 0, 1, "");
}
END_TEST

START_TEST(the_clients_of_a_bench_have_credentials)
{
	make_hers();
	ck_assert_int_eq(cli_run(&a, "bench", "-c2", "-p2", "-d0.1", "/p"),
		124);
	ck_assert_int_eq(cli_run(&a, "bench", "--auth-file", file,
				 "--acl=creator", "-c2", "-p2", "-d0.1", "/p"),
		0);
	remove_hers("/p");
}
END_TEST

START_TEST(credentials_may_come_from_a_pipe)
{
	static const char script[] =
		"printf alice:secret | "
		"\"$0\" lock --auth-file /dev/stdin /p/l true";
	const char *argv[] = { "sh", "-c", script, cli_program(), NULL };

	make_hers();
	cli_start_argv(&a, argv);
	ck_assert_int_eq(cli_end(&a), 0);
	remove_hers("/p/l");
	remove_hers("/p");
}
END_TEST

static void expect_unused(const char *why)
{
	char says[256];

	snprintf(says, sizeof(says),
		"kustos: the credentials in %s are not used: %s\n", file, why);
	ck_assert_int_eq(enter_as(&a, "--auth-file", file), 124);
	ck_assert_str_eq(a.err_text, says);
	ck_assert_int_eq(cli_run(&a, "ls", "--auth-file", file, "/"), 124);
	ck_assert_str_eq(a.err_text, says);
}

START_TEST(what_holds_no_credentials_is_not_used)
{
	static char longer[2000];

	write_file("", 0600);
	expect_unused("it is empty");
	write_file("alice\n:\n", 0600);
	expect_unused("its first line is not USER:PASSWORD");
	write_file(":secret\n", 0600);
	expect_unused("its first line is not USER:PASSWORD");
	for (size_t i = 0; i < sizeof(longer) - 1; i++)
		longer[i] = ':';
	write_file(longer, 0600);
	expect_unused("its first line is too long");
	ck_assert_int_eq(unlink(file), 0);
	expect_unused("No such file or directory");
}
END_TEST

START_TEST(a_password_that_others_may_read_is_not_used)
{
	static const char why[] = "others may read or write it; see chmod(1)";

	write_file(SECRET, 0604);
	expect_unused(why);
	write_file(SECRET, 0620);
	expect_unused(why);
	/* As psql does: a file of root's may be readable by its group. */
	write_file(SECRET, 0640);
	if (geteuid() == 0)
		ck_assert_int_eq(enter_as(&a, "--auth-file", file), 0);
	else
		expect_unused(why);
}
END_TEST

START_TEST(nobody_in_particular_creates_nothing_for_himself)
{
	ck_assert_int_eq(enter_as(&a, "--acl", "creator"), 125);
	cli_hears_error(&a, "lock: --acl creator needs an --auth-file");
	ck_assert_int_eq(enter_as(&a, "--acl", "mine"), 125);
	cli_hears_error(&a, "--acl mine is neither world nor creator");
}
END_TEST

/* What is refused now is refused for ever: as a lock, it does not wait. */
START_TEST(an_election_ends_where_nothing_may_be_created)
{
	static const char *const ways[] = { "-r", "-w0", "-w50" };
	const char *layout = _i ? "--lock-layout" : "--verbose";
	char node[128] = "";

	for (int i = 0; i < 3; i++) {
		int64_t since_ms = test_now_ms();

		ck_assert_int_eq(cli_run(&a, "elect", layout, ways[i],
					 "--session-timeout=40000",
					 "/zookeeper/config", "true"),
			124);
		cli_hears_error(&a,
			"kustos: cannot take part in /zookeeper/config: the "
			"node's ACL forbids this\n");
		ck_assert_int_lt(test_now_ms() - since_ms, 30000);
	}
	cli_start(&b, "lock", "/e", "--", "sh", "-c",
		"echo node $KUSTOS_NODE on; read go");
	cli_hears(&b, " on\n");
	ck_assert_int_eq(sscanf(cli_hears(&b, "node "), "%127s", node), 1);
	ck_assert_int_eq(cli_run(&a, "elect", layout, node, "true"), 124);
	cli_hears_error(&a, ": an ephemeral node cannot have children\n");
	cli_type(&b, "go\n");
	ck_assert_int_eq(cli_end(&b), 0);
}
END_TEST

static void expect_refusal(const char *sub, const char *option)
{
	ck_assert_int_eq(cli_run(&a, sub, "--auth-file", file, option, "/l",
				 "--", "true"),
		124);
	cli_hears_error(&a, "kustos: the server refused the credentials\n");
	ck_assert_ptr_null(strstr(a.err_text, "answer"));
}

/* A server without the digest scheme ends the connection of a client that
   presents such credentials. */
START_TEST(credentials_that_are_refused_end_it)
{
	struct server_options options = {
		.jvm = "-Dzookeeper.DigestAuthenticationProvider.enabled=false"
	};
	struct server *server = server_start(&options);

	ck_assert_ptr_nonnull(server);
	setenv("KUSTOS_HOSTS", server_address(server), 1);
	expect_refusal("lock", "-v");
	expect_refusal("elect", "--restart");
	ck_assert_int_eq(cli_run(&a, "ls", "--auth-file", file, "/"), 124);
	ck_assert_str_eq(a.err_text,
		"kustos: the server refused the credentials\n");
	server_free(server);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos with credentials");
	TCase *t = fixture_case(s, "one server", 60);
	TCase *bare = fixture_bare_case(s, "no digest", 60);

	tcase_add_checked_fixture(t, set_up_with_server, tear_down);
	tcase_add_checked_fixture(bare, set_up, tear_down);
	tcase_add_test(t, who_has_credentials_locks_where_others_may_not);
	tcase_add_test(t, an_acl_is_that_of_all_that_is_made);
	tcase_add_test(t, a_line_is_shown_though_one_of_it_may_not_be_read);
	tcase_add_test(t, the_clients_of_a_bench_have_credentials);
	tcase_add_test(t, credentials_may_come_from_a_pipe);
	tcase_add_test(t, what_holds_no_credentials_is_not_used);
	tcase_add_test(t, a_password_that_others_may_read_is_not_used);
	tcase_add_test(t, nobody_in_particular_creates_nothing_for_himself);
	tcase_add_loop_test(t, an_election_ends_where_nothing_may_be_created, 0,
		2);
	tcase_add_test(bare, credentials_that_are_refused_end_it);
	return fixture_main(s);
}
