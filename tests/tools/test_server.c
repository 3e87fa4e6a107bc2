/*
 * test_server.c - kustos server: it serves, and leaves nothing behind however
 * it ends.
 */
#include "cli.h"

#include "fixture.h"
#include "net.h"
#include "process.h"
#include "raw.h"
#include "reaper.h"

#include <dirent.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct cli a;
static char folder[64]; /* for temporary files, of this test alone */
static char hosts[512];
static int server;

static void set_up(void)
{
	strcpy(folder, "/tmp/kustos-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("TMPDIR", folder, 1);
}

static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n == 2;
}

static void tear_down(void)
{
	remove_tree(folder);
}

/* Wait for its first line, and send it a request. */
static void wait_until_up(void)
{
	cli_hears(&a, "\n");
	ck_assert_int_eq(sscanf(a.out_text, "%511s", hosts), 1);
	ck_assert_str_eq(strchr(a.out_text, '\n'), "\n");
	ck_assert_int_eq(raw_create(hosts, "/here", "x"), 0);
	ck_assert(!is_empty(folder));
}

static void expect_nothing_left(void)
{
	char answer[64];

	test_within(fourletter(hosts, "srvr", answer, sizeof(answer)) == 0,
		CLI_MS);
	test_within(is_empty(folder), CLI_MS);
}

START_TEST(it_prints_where_it_listens_and_ends_when_told)
{
	static const int with[] = { SIGTERM, SIGINT, SIGHUP };

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		cli_start(&a, "server");
		wait_until_up();
		kill(a.pid, with[i]);
		ck_assert_int_eq(cli_end(&a), 0);
		ck_assert_str_eq(a.err_text, "");
		ck_assert(is_empty(folder));
		expect_nothing_left();
	}
}
END_TEST

static void start_and_kill(void)
{
	cli_start(&a, "server");
	wait_until_up();
	kill(a.pid, SIGKILL);
	ck_assert_int_eq(cli_end(&a), -SIGKILL);
	expect_nothing_left();
}

START_TEST(nothing_is_left_when_it_is_killed)
{
	start_and_kill();
}
END_TEST

START_TEST(nothing_is_left_when_it_is_killed_on_an_old_kernel)
{
	if (cli_on_an_old_kernel())
		start_and_kill();
}
END_TEST

/* The signal comes before the server is up.  On a busy machine it may be too
   late, and another try is needed. */
START_TEST(nothing_is_left_when_it_is_interrupted_early)
{
	bool early = false;

	for (int i = 0; i < 10 && !early; i++) {
		cli_start(&a, "server");
		test_within(!is_empty(folder), CLI_MS);
		kill(a.pid, SIGINT);
		early = cli_end(&a) == -SIGINT;
		ck_assert(early || a.out_len > 0);
		test_within(is_empty(folder), CLI_MS);
	}
	ck_assert(early);
}
END_TEST

START_TEST(it_ends_with_its_standard_input)
{
	cli_start(&a, "server", "--until-eof");
	wait_until_up();
	cli_type(&a, "not the end\n");
	ck_assert_int_eq(raw_create(hosts, "/still", "x"), 0);
	cli_eof(&a);
	ck_assert_int_eq(cli_end(&a), 0);
	expect_nothing_left();
}
END_TEST

START_TEST(it_runs_a_command_and_ends_with_it)
{
	cli_start(&a, "server", "--", "sh", "-c",
		"echo $KUSTOS_HOSTS; read go; exit 5");
	wait_until_up();
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 5);
	expect_nothing_left();
}
END_TEST

START_TEST(it_passes_signals_on_to_the_command)
{
	static const char script[] = "trap 'exit 6' TERM; echo $KUSTOS_HOSTS\n"
				     "while :; do sleep 0.02; done";

	cli_start(&a, "server", "sh", "-c", script);
	wait_until_up();
	kill(a.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&a), 6);
	expect_nothing_left();
}
END_TEST

START_TEST(it_says_when_the_server_ends_by_itself)
{
	cli_start(&a, "server", "--json");
	server = atoi(cli_hears(&a, "\"pid\":"));
	sscanf(cli_hears(&a, "{\"hosts\":\""), "%511[0-9.:]", hosts);
	ck_assert_int_eq(raw_create(hosts, "/here", "x"), 0);
	ck_assert_int_gt(server, 1);
	kill(server, SIGKILL);
	ck_assert_int_eq(cli_end(&a), 124);
	cli_hears_error(&a, "kustos: the server has ended by itself\n");
	expect_nothing_left();
}
END_TEST

START_TEST(it_can_be_an_ensemble)
{
	cli_start(&a, "server", "--ensemble", "3");
	cli_hears(&a, "\n");
	ck_assert_int_eq(sscanf(a.out_text, "%511[0-9.:],127.0.0.2:", hosts),
		1);
	ck_assert_ptr_nonnull(strstr(a.out_text, ",127.0.0.2:"));
	ck_assert_ptr_nonnull(strstr(a.out_text, ",127.0.0.3:"));
	ck_assert(fourletter_has(hosts, "srvr", "Mode: follower") ||
		fourletter_has(hosts, "srvr", "Mode: leader"));
	ck_assert_int_eq(raw_create(hosts, "/here", "x"), 0);
	kill(a.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&a), 0);
	expect_nothing_left();
}
END_TEST

START_TEST(the_command_knows_the_processes_of_all_servers)
{
	int pids[2];

	cli_start(&a, "server", "--ensemble=2", "--", "sh", "-c",
		"echo pids $KUSTOS_SERVER_PIDS known; read go");
	cli_hears(&a, " known\n");
	ck_assert_int_eq(sscanf(cli_hears(&a, "pids "), "%d,%d known", &pids[0],
				 &pids[1]),
		2);
	ck_assert_int_ne(pids[0], pids[1]);
	for (int i = 0; i < 2; i++)
		ck_assert(process_alive(pids[i]));
	cli_type(&a, "go\n");
	ck_assert_int_eq(cli_end(&a), 0);
	for (int i = 0; i < 2; i++)
		ck_assert(!process_alive(pids[i]));
}
END_TEST

/* Names that a file of properties would read differently. */
static const char *const kept[] = { "kept", "k\\ept", "k\303\244pt", "kept " };
#define KEPT (int)(sizeof(kept) / sizeof(kept[0]))

START_TEST(it_keeps_its_data_where_it_is_told)
{
	char data[96];

	snprintf(data, sizeof(data), "--data=%s/%s", folder, kept[_i]);
	for (int i = 0; i < 2; i++) {
		cli_start(&a, "server", data);
		cli_hears(&a, "\n");
		ck_assert_int_eq(sscanf(a.out_text, "%511s", hosts), 1);
		ck_assert_int_eq(raw_create(hosts, "/kept", "x"),
			i == 0 ? 0 : RAW_NODEEXISTS);
		kill(a.pid, SIGTERM);
		ck_assert_int_eq(cli_end(&a), 0);
	}
	snprintf(data, sizeof(data), "%s/%s/version-2", folder, kept[_i]);
	ck_assert_int_eq(access(data, F_OK), 0);
}
END_TEST

/* Its temporary files are there. */
START_TEST(it_leaves_nothing_in_a_folder_with_a_strange_name)
{
	char own[96];

	snprintf(own, sizeof(own), "%s/t\\mp", folder);
	ck_assert_int_eq(mkdir(own, 0700), 0);
	setenv("TMPDIR", own, 1);
	ck_assert_int_eq(cli_run(&a, "server", "--", "true"), 0);
	ck_assert_int_eq(rmdir(own), 0);
	ck_assert(is_empty(folder));
}
END_TEST

START_TEST(it_listens_on_the_port_it_is_told)
{
	char port[16], expected[64];
	struct sockaddr_in at;
	int reserved, listener;

	ck_assert_int_eq(net_parse("127.0.0.1:0", &at), 0);
	ck_assert_int_ge(reserved = net_reserve(&at), 0);
	ck_assert_int_ge(listener = net_listen(&at), 0);
	snprintf(port, sizeof(port), "%d", ntohs(at.sin_port));
	ck_assert_int_eq(cli_run(&a, "server", "--port", port), 124);
	cli_hears_error(&a, "kustos: cannot listen on 127.0.0.1:");
	ck_assert(is_empty(folder));
	close(listener);
	cli_start(&a, "server", "--port", port);
	wait_until_up();
	snprintf(expected, sizeof(expected), "127.0.0.1:%s\n", port);
	ck_assert_str_eq(a.out_text, expected);
	kill(a.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&a), 0);
	close(reserved);
}
END_TEST

/* A folder with what libtool's wrapper of the program needs, but without
   Java. */
START_TEST(it_says_that_there_is_no_java)
{
	char text[256];

	snprintf(text, sizeof(text),
		"mkdir %s/bin && for f in sh sed ls cat expr rm dirname "
		"basename; do ln -s \"$(command -v $f)\" %s/bin; done",
		folder, folder);
	ck_assert_int_eq(system(text), 0);
	snprintf(text, sizeof(text), "%s/bin", folder);
	setenv("PATH", text, 1);
	ck_assert_int_eq(cli_run(&a, "server"), 124);
	cli_hears_error(&a, "kustos: no Java in $PATH ");
}
END_TEST

START_TEST(a_folder_that_cannot_be_had_is_named)
{
	char link[96], data[128];

	snprintf(link, sizeof(link), "%s/link", folder);
	ck_assert_int_eq(symlink("nowhere", link), 0);
	snprintf(data, sizeof(data), "--data=%s", link);
	ck_assert_int_eq(cli_run(&a, "server", data, "true"), 124);
	ck_assert_ptr_nonnull(strstr(a.err_text, link));
	ck_assert_int_eq(unlink(link), 0);
}
END_TEST

START_TEST(a_number_that_cannot_be_written_is_told)
{
	char path[96], data[128];

	snprintf(path, sizeof(path), "%s/kept", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/kept/server.1", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/kept/server.1/myid", folder);
	ck_assert_int_eq(symlink("/dev/full", path), 0);
	snprintf(data, sizeof(data), "--data=%s/kept", folder);
	ck_assert_int_eq(cli_run(&a, "server", "--ensemble=3", data, "true"),
		124);
	cli_hears_error(&a, "/kept/server.1/myid: No space left on device\n");
}
END_TEST

START_TEST(wrong_use_gives_125)
{
	static const char *const wrong[][3] = {
		{ "server", "--ensemble=0" },
		{ "server", "--ensemble=10" },
		{ "server", "--port=99999" },
		{ "server", "--tick=x" },
		{ "server", "--tick=30001", "true" },
		{ "server", "--json", "true" },
		{ "server", "--until-eof", "true" },
		{ "server", "--hosts=h" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(cli_run(&a, wrong[i][0], wrong[i][1],
				      wrong[i][2]) == 125,
			"%s", wrong[i][1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos server");
	TCase *t = fixture_bare_case(s, "its own", 90);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, it_prints_where_it_listens_and_ends_when_told);
	tcase_add_test(t, nothing_is_left_when_it_is_killed);
	tcase_add_test(t, nothing_is_left_when_it_is_killed_on_an_old_kernel);
	tcase_add_test(t, nothing_is_left_when_it_is_interrupted_early);
	tcase_add_test(t, it_ends_with_its_standard_input);
	tcase_add_test(t, it_runs_a_command_and_ends_with_it);
	tcase_add_test(t, it_passes_signals_on_to_the_command);
	tcase_add_test(t, it_says_when_the_server_ends_by_itself);
	tcase_add_test(t, it_can_be_an_ensemble);
	tcase_add_test(t, the_command_knows_the_processes_of_all_servers);
	tcase_add_loop_test(t, it_keeps_its_data_where_it_is_told, 0, KEPT);
	tcase_add_test(t, it_leaves_nothing_in_a_folder_with_a_strange_name);
	tcase_add_test(t, a_folder_that_cannot_be_had_is_named);
	tcase_add_test(t, a_number_that_cannot_be_written_is_told);
	tcase_add_test(t, it_listens_on_the_port_it_is_told);
	tcase_add_test(t, it_says_that_there_is_no_java);
	tcase_add_test(t, wrong_use_gives_125);
	return fixture_main(s);
}
