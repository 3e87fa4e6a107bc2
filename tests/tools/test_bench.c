/*
 * test_bench.c - kustos bench: its output is correct, and wrong use is refused.
 */
#include "cli.h"

#include "fixture.h"
#include "json.h"
#include "printed.h"
#include "raw.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT "-d0.4", "--warm-up=0.1"

static struct cli b;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
}

static double first(const char *name)
{
	return printed_first(b.out_text, name);
}

static bool is_json(void)
{
	return json_is_object(b.out_text, b.out_len);
}

/* Did each client in the output get a grant?  A table says only whether any
   did. */
static bool all_had_some(void)
{
	return is_json() ? strstr(b.out_text, "\"grants\":0,") == NULL
			 : strstr(b.out_text, "\nper grant ") != NULL;
}

/* A machine that stops for as long as the measurement grants nothing.  That is
   rare, so one repetition is enough. */
#define measure(...)                                                           \
	do {                                                                   \
		ck_assert_int_eq(cli_run(&b, "bench", SHORT, __VA_ARGS__), 0); \
		if (!all_had_some())                                           \
			ck_assert_int_eq(                                      \
				cli_run(&b, "bench", SHORT, __VA_ARGS__), 0);  \
	} while (0)

static void nothing_is_left(void)
{
	ck_assert_int_le(raw_count_children(fixture_address(), "/kustos-bench"),
		0);
}

START_TEST(a_table_tells_all)
{
	measure("-c2");
	ck_assert_str_eq(b.err_text, "");
	cli_hears(&b,
		"mutex: 2 clients with 1 thread in 1 process, for 0.4 s\n");
	cli_hears(&b, "\nwait ");
	cli_hears(&b, "\n  client 2 ");
	cli_hears(&b, "\nhold ");
	cli_hears(&b, "\nfairness ");
	cli_hears(&b, " requests by the clients; ");
	cli_hears(&b, " packets to the server, of ");
	cli_hears(&b, "clients 0.");
	cli_hears(&b, "servers not known (--server-pid)");
	cli_hears(&b, "never too many at a time\n");
	nothing_is_left();
}
END_TEST

START_TEST(the_counts_add_up)
{
	double all, clients = 0, squares = 0, slices = 0;
	const char *at;

	measure("-c3", "-t2", "-p2", "--json");
	ck_assert(is_json());
	all = first("grants");
	ck_assert(all > 0);
	ck_assert_double_eq_tol(first("per_second"), all / first("seconds"),
		all / 1000);
	at = strstr(b.out_text, "\"each\":[");
	for (int i = 0; i < 3; i++) {
		double grants = printed_next(&at, "grants");

		clients += grants;
		squares += grants * grants;
	}
	ck_assert_double_eq_tol(clients, all, 0.1);
	(void)printed_next(&at, "slices");
	for (int i = 0; i < 100; i++) {
		char *end;

		slices += strtod(at + 1, &end);
		at = end;
	}
	ck_assert_int_eq(*at, ']');
	ck_assert_double_eq_tol(slices, all, 0.1);
	ck_assert(first("requests_per_grant") > 0);
	ck_assert(first("server_packets_per_grant") > 0);
	ck_assert(first("server_bytes_per_grant") > 0);
	ck_assert(first("client_cpu_s") > 0);
	ck_assert_double_eq_tol(first("overlaps"), 0, 0.1);
	ck_assert_double_eq_tol(first("jain"), clients * clients / 3 / squares,
		1e-4);
	cli_hears(&b, "\"server_cpu_s\":null");
	cli_hears(&b, "\"leases\":null");
	nothing_is_left();
}
END_TEST

/* The first start is due long after the end. */
START_TEST(without_a_grant_no_figure_is_made_up)
{
	ck_assert_int_eq(
		cli_run(&b, "bench", SHORT, "-c1", "--rate=0.001", "--json"),
		0);
	ck_assert(is_json());
	ck_assert_double_eq_tol(first("grants"), 0, 0.1);
	cli_hears(&b, "\"requests_per_grant\":null");
	cli_hears(&b, "\"server_packets_per_grant\":null");
	cli_hears(&b, "\"server_bytes_per_grant\":null");
	cli_hears(&b, "\"max\":null");
	ck_assert_int_eq(
		cli_run(&b, "bench", SHORT, "-c1", "--rate=0.001", "--csv"), 0);
	/* Ten percentiles, and the cost of a grant. */
	cli_hears(&b, ",0,0,,,,,,,,,,,0,");
	cli_hears(&b, ",0,0,0,,,,");
	ck_assert_int_eq(cli_run(&b, "bench", SHORT, "-c1", "--rate=0.001"), 0);
	cli_hears(&b, "\nhold                  0       0         -");
}
END_TEST

START_TEST(whatever_is_taken_and_given_can_be_measured)
{
	static const char *const recipes[] = { "mutex", "rwlock", "semaphore",
		"simple", "latch", "selector", "pair", "queue", "claims",
		"barrier", "countdown" };

	for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
		char recipe[32];

		snprintf(recipe, sizeof(recipe), "-r%s", recipes[i]);
		measure("-c3", "--json", recipe);
		ck_assert(is_json());
		ck_assert_msg(first("grants") > 0, "%s: none", recipes[i]);
		ck_assert_double_eq_tol(first("overlaps"), 0, 0.1);
		nothing_is_left();
	}
}
END_TEST

/* Nobody begins a round before all are in it, so nobody is ever more than one
   round ahead, neither at the beginning nor at the end. */
START_TEST(those_who_meet_go_round_for_round)
{
	static const char *const recipes[] = { "-rbarrier", "-rcountdown" };

	for (int i = 0; i < 2; i++) {
		double least = 1e9, most = 0;
		const char *at;

		measure("-c4", "-p2", "--json", recipes[i]);
		at = strstr(b.out_text, "\"each\":[");
		for (int n = 0; n < 4; n++) {
			double grants = printed_next(&at, "grants");

			least = grants < least ? grants : least;
			most = grants > most ? grants : most;
		}
		ck_assert(most > 0);
		ck_assert(most - least <= 2);
	}
}
END_TEST

START_TEST(readers_are_told_from_writers)
{
	const char *at;

	measure("-c3", "--json", "-rrwlock", "--readers=2");
	at = strstr(b.out_text, "\"of_readers\":");
	ck_assert_ptr_nonnull(at);
	double read = printed_next(&at, "grants");
	at = strstr(b.out_text, "\"of_writers\":");
	double wrote = printed_next(&at, "grants");
	ck_assert(read > 0 && wrote > 0);
	ck_assert_double_eq_tol(read + wrote, first("grants"), 0.1);
}
END_TEST

/* With --hold, because without it all holds are as short as possible. */
START_TEST(holds_are_told_of_each_client)
{
	static const char *const parts[] = { "readers ", "writers ",
		"client 1 (r) ", "client 2 " };
	char *at;

	measure("-c2", "-rrwlock", "--readers=1", "--hold=7");
	at = strstr(b.out_text, "\nhold ");
	ck_assert_ptr_nonnull(at);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double grants, in_a_second, p50;

		at = strchr(at + 1, '\n');
		ck_assert_ptr_nonnull(at);
		ck_assert_msg(strncmp(at, "\n  ", 3) == 0 &&
				strncmp(at + 3, parts[i], strlen(parts[i])) ==
					0,
			"not %s: %s", parts[i], at);
		ck_assert_int_eq(sscanf(at + 3 + strlen(parts[i]), "%lf%lf%lf",
					 &grants, &in_a_second, &p50),
			3);
		ck_assert(grants > 0);
		ck_assert_double_ge(p50, 7 * 31 / 32.0);
	}
}
END_TEST

START_TEST(several_numbers_of_clients_are_several_runs)
{
	int lines = 0, commas = 0, first_line = 0;

	ck_assert_int_eq(cli_run(&b, "bench", SHORT, "-c1,3", "--csv"), 0);
	for (const char *at = b.out_text; *at != '\0'; at++) {
		commas += *at == ',';
		if (*at != '\n')
			continue;
		if (lines++ == 0)
			first_line = commas;
		ck_assert_int_eq(commas, first_line);
		commas = 0;
	}
	ck_assert_int_eq(lines, 1 + (1 + 1) + (1 + 3));
	cli_hears(&b, "\nmutex,1,1,1,all,");
	cli_hears(&b, "\nmutex,3,1,1,all,");
	cli_hears(&b, "\nmutex,3,1,1,3,");
}
END_TEST

/* One is served in 50 ms and 40 a second are due, so most of them wait for a
   worker that is busy; that counts. */
START_TEST(in_an_open_loop_waits_begin_when_they_were_meant_to)
{
	const char *at = b.out_text;

	ck_assert_int_eq(cli_run(&b, "bench", "-d1.5", "--warm-up=0.1", "-c1",
				 "--hold=50", "--rate=40", "--json"),
		0);
	(void)printed_next(&at, "wait_ms");
	ck_assert(printed_next(&at, "max") > 300);
	ck_assert(first("grants") <= 31);
	ck_assert(first("waiting") >= 10);
	/* The same in a closed loop: nobody else wants the lock. */
	measure("-c1", "--hold=50", "--json");
	at = b.out_text;
	(void)printed_next(&at, "hold_ms");
	ck_assert(printed_next(&at, "p50") >= 50);
	ck_assert(first("waiting") <= 1);
}
END_TEST

START_TEST(a_server_that_does_not_tell_is_named)
{
	static const struct server_options shy = {
		.config = "4lw.commands.whitelist=srvr",
	};
	struct server *server = server_start(&shy);
	char wanted[128];

	ck_assert_ptr_nonnull(server);
	setenv("KUSTOS_HOSTS", server_address(server), 1);
	measure("-c2");
	snprintf(wanted, sizeof(wanted),
		"the server's count is not known:\n              "
		"%s does not allow \"mntr\"",
		server_address(server));
	cli_hears(&b, wanted);
	server_free(server);
}
END_TEST

START_TEST(the_processor_time_of_a_server_is_known_by_its_process)
{
	char pid[32];

	snprintf(pid, sizeof(pid), "%d", (int)server_pid(fixture_server()));
	setenv("KUSTOS_SERVER_PIDS", pid, 1);
	measure("--json");
	ck_assert(first("server_cpu_s") > 0);
	/* The processes are those of other servers. */
	setenv("KUSTOS_HOSTS", "127.0.0.1:1", 1);
	ck_assert_int_eq(cli_run(&b, "bench", SHORT, "--json", "--hosts",
				 fixture_address()),
		0);
	ck_assert_ptr_nonnull(strstr(b.out_text, "\"server_cpu_s\":null"));
	set_up();
	unsetenv("KUSTOS_SERVER_PIDS");
	measure("--json", "--server-pid", pid);
	ck_assert(first("server_cpu_s") > 0);
}
END_TEST

START_TEST(a_terminal_sees_how_it_goes)
{
	const char *const argv[] = { cli_program(), "bench", "-d2.5", "-c2",
		NULL };

	cli_start_on_terminal(&b, argv);
	cli_hears(&b, "\rmutex, 2 clients: warming up");
	cli_hears(&b, " grants, now ");
	cli_hears(&b, "\r\033[K");
	cli_hears(&b, "never too many at a time\r\n");
	ck_assert_int_eq(cli_end(&b), 0);
}
END_TEST

START_TEST(a_signal_has_it_print_what_there_is)
{
	const char *const argv[] = { cli_program(), "bench", "-d1000", "-c2",
		NULL };

	cli_start_on_terminal(&b, argv);
	cli_hears(&b, " grants, now ");
	kill(b.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&b), -SIGTERM);
	cli_hears(&b, "mutex: 2 clients with 1 thread in 1 process, for ");
	ck_assert_ptr_null(strstr(b.out_text, "for 1000.0 s"));
	cli_hears(&b, "\nfairness ");
	nothing_is_left();
}
END_TEST

START_TEST(nothing_runs_on_when_it_is_killed)
{
	const char *const argv[] = { cli_program(), "bench", "-d1000", "-c4",
		"-p2", NULL };

	cli_start_on_terminal(&b, argv);
	cli_hears(&b, " grants, now ");
	ck_assert(fourletter_has(fixture_address(), "cons", "sid="));
	kill(b.pid, SIGKILL);
	ck_assert_int_eq(cli_end(&b), -SIGKILL);
	test_within(fourletter_lacks(fixture_address(), "cons", "sid="),
		CLI_MS);
}
END_TEST

/* --- Wrong use ----------------------------------------------------------- */

static void refused(const char *option, const char *value, const char *says)
{
	ck_assert_int_eq(cli_run(&b, "bench", option, value), 125);
	ck_assert_msg(strstr(b.err_text, says) != NULL, "%s %s: %s", option,
		value, b.err_text);
	/* One line. */
	ck_assert_str_eq(strchr(b.err_text, '\n'), "\n");
	ck_assert_str_eq(b.out_text, "");
}

START_TEST(wrong_use_is_refused)
{
	refused("-r", "mutx", "--recipe mutx is not mutex, rwlock, ");
	refused("-c", "0", "--clients 0 is not a number from 1 to 10000");
	refused("-c", "1,,2", "--clients 1,,2 is not");
	refused("-c", "", "--clients  is not");
	refused("-t", "x", "--threads x is not a number from 1 to 1000");
	refused("-t", "1001", "--threads 1001 is not a number from 1 to 1000");
	refused("-c101", "-t1000", "more than 100000 --threads");
	refused("-rqueue", "--leases=100001", "is not a number from 1 to");
	refused("-p", "9", "more --processes than --clients");
	refused("--readers", "1", "--readers is for rwlock");
	refused("--leases", "1", "--leases is for semaphore, queue and claims");
	refused("--hold", "2-1", "--hold 2-1 is not MS or MS-MS");
	refused("--hold", "-1", "--hold -1 is not MS");
	refused("--hold", "nan", "--hold nan is not MS");
	refused("--hold", "1e300", "--hold 1e300 is not MS");
	refused("--think", "1x", "--think 1x is not MS");
	refused("--rate", "0", "--rate 0 is not a number of starts");
	refused("-d", "0", "--duration is to be more than 0");
	refused("-d", "x", "--duration x is not a number of seconds");
	refused("-d", "86401", "--duration is to be more than 0, and no more");
	refused("--warm-up", "86401", "--warm-up is to be no more than a day");
	refused("--seed", "-1", "--seed -1 is not a whole number");
	refused("--kill-holder", "0", "--kill-holder 0 is not a number");
	refused("--kill-holder", "1", "takes a --duration of 15.0 or more");
	refused("--server-pid", "me", "--server-pid me is not PID");
	refused("/a", "/b", "more than one PATH");
	refused("a", "--fifo", "a is not a path of ZooKeeper");
	refused("-rqueue", "--kill-holder=1", "for what one can hold");
	refused("-rbarrier", "--kill-holder=1", "for what one can hold");
	refused("-rsimple", "--fifo", "--fifo is for mutex");
	refused("--csv", "--json", "--csv and --json exclude each other");
	refused("--plot=-", "--csv", "--plot - prints where --csv and");
	refused("--plot=-", "--json", "--plot - prints where --csv and");
	refused("--server-pid", "2147483647", "2147483647 is no process here");
	refused("--nothing", "x", "unrecognized option '--nothing'");
}
END_TEST

START_TEST(no_server_is_said_once)
{
	ck_assert_int_eq(cli_run(&b, "bench", "-p4", "--hosts=127.0.0.1:1",
				 "--session-timeout=500"),
		123);
	ck_assert_str_eq(b.err_text,
		"kustos: no server answers at 127.0.0.1:1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos bench");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, a_table_tells_all);
	tcase_add_test(t, the_counts_add_up);
	tcase_add_test(t, without_a_grant_no_figure_is_made_up);
	tcase_add_test(t, whatever_is_taken_and_given_can_be_measured);
	tcase_add_test(t, those_who_meet_go_round_for_round);
	tcase_add_test(t, readers_are_told_from_writers);
	tcase_add_test(t, holds_are_told_of_each_client);
	tcase_add_test(t, several_numbers_of_clients_are_several_runs);
	tcase_add_test(t, in_an_open_loop_waits_begin_when_they_were_meant_to);
	tcase_add_test(t, a_server_that_does_not_tell_is_named);
	tcase_add_test(t,
		the_processor_time_of_a_server_is_known_by_its_process);
	tcase_add_test(t, a_terminal_sees_how_it_goes);
	tcase_add_test(t, a_signal_has_it_print_what_there_is);
	tcase_add_test(t, nothing_runs_on_when_it_is_killed);
	t = fixture_bare_case(s, "wrong use", 60);
	tcase_add_test(t, wrong_use_is_refused);
	tcase_add_test(t, no_server_is_said_once);
	return fixture_main(s);
}
