/*
 * test_top.c - kustos top: it recognises every layout, counts holders and
 * waiters, and reports how many come and go.
 */
#include "cli.h"

#include "fixture.h"
#include "raw.h"
#include "rows.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID "00000000-0000-4000-8000-00000000000"
#define BARE "0000000000004000800000000000000"
#define SHARD "/r/q/shards/queue-00000000-0000-4000-8000-000000000001"

static struct cli top, lock, waiter;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
	ck_assert_int_eq(raw_create(fixture_address(), "/r", ""), 0);
}

static void make(const char *path)
{
	ck_assert_int_eq(raw_create(fixture_address(), path, ""), 0);
}

static const char *row(const char *path)
{
	return rows_find(top.out_text, path);
}

static void check_row(const char *path, const char *kind, int holds, int waits,
	const char *rest)
{
	rows_check(top.out_text, path, kind, holds, waits, rest);
}

static void look(const char *path)
{
	ck_assert_int_eq(cli_run(&top, "top", "--once", path), 0);
}

START_TEST(every_layout_is_recognised)
{
	static const char *const nodes[] = { "/r/lock",
		"/r/lock/_c_" UUID "1-lock-0000000003",
		"/r/lock/_c_" UUID "2-lock-0000000001",
		"/r/lock/x-0123456789abcdef-0000000002", "/r/rw",
		"/r/rw/_c_" UUID "1-__READ__0000000001",
		"/r/rw/_c_" UUID "2-__READ__0000000002",
		"/r/rw/_c_" UUID "3-__WRIT__0000000003", "/r/kazoo",
		"/r/kazoo/" BARE "1__rlock__0000000001",
		"/r/kazoo/" BARE "2__lock__0000000002", "/r/leader",
		"/r/leader/_c_" UUID "1-latch-0000000001",
		"/r/leader/_c_" UUID "2-latch-0000000002", "/r/sem",
		"/r/sem/leases", "/r/sem/leases/_c_" UUID "1-lease-0000000001",
		"/r/sem/locks", "/r/step", "/r/step/" UUID "1",
		"/r/step/" BARE "2", "/r/step/ready", "/r/coming",
		"/r/coming/" UUID "3", "/r/deploy", "/r/deploy/count-3",
		"/r/deploy/done-a", "/r/deploy/must-a", "/r/deploy/must-b",
		"/r/q", "/r/q/simple", "/r/q/simple/qn-0000000001",
		"/r/q/framed", "/r/q/framed/queue-0000000001",
		"/r/q/framed/queue-1000000050000000002", "/r/q/kazoo",
		"/r/q/kazoo/entry-100-0000000001", "/r/q/shards", SHARD,
		SHARD "/queue-0000000001", "/r/plain", "/r/plain/readme",
		NULL };

	for (int i = 0; nodes[i] != NULL; i++)
		make(nodes[i]);
	look("/r");
	cli_hears(&top, "  /r: 12\n");
	cli_hears(&top, "KIND        HOLD   WAIT     IN/S    OUT/S  PATH");
	check_row("/r/lock", "lock", 1, 2, "");
	check_row("/r/rw", "rwlock", 2, 1, "  (read)");
	check_row("/r/kazoo", "rwlock", 1, 1, "  (read)");
	check_row("/r/leader", "election", 1, 1, "");
	check_row("/r/sem", "semaphore", 1, 0, "");
	check_row("/r/step", "barrier", 2, 0, "  (ready)");
	check_row("/r/coming", "barrier", 0, 1, "");
	check_row("/r/deploy", "latch", 1, 2, "  (broken)");
	check_row("/r/q/simple", "queue", 0, 1, "");
	check_row("/r/q/framed", "queue", 0, 2, "");
	check_row("/r/q/kazoo", "queue", 0, 1, "");
	check_row(SHARD, "queue", 0, 1, "");
	ck_assert_ptr_null(strstr(top.out_text, "/r/plain"));
	/* Only the path itself. */
	look("/r/lock");
	cli_hears(&top, "  /r/lock: 1\n");
	look("/r/plain/readme");
	cli_hears(&top, "  /r/plain/readme: 0\n");
	look("/");
	check_row("/r/lock", "lock", 1, 2, "");
}
END_TEST

/* A plain barrier is a node like any other.  It is recognised by the data that
   we and Curator store; an empty node counts only if asked for. */
START_TEST(a_plain_barrier_is_known_by_what_it_says)
{
	ck_assert_int_eq(cli_run(&lock, "barrier", "set", "/r/ours"), 0);
	raw_create(fixture_address(), "/r/curator", "192.0.2.7");
	raw_create(fixture_address(), "/r/six", "2001:db8::7");
	raw_create(fixture_address(), "/r/config", "192.0.2.7:80");
	raw_create(fixture_address(), "/r/parent", "192.0.2.7");
	make("/r/empty");
	make("/r/parent/x");
	ck_assert_int_eq(raw_delete(fixture_address(), "/r/parent/x"), 0);
	look("/r");
	cli_hears(&top, "  /r: 3\n");
	check_row("/r/ours", "barrier", 0, 0, "  (set)  kustos barrier, ");
	check_row("/r/curator", "barrier", 0, 0, "  (set)  192.0.2.7, ");
	check_row("/r/six", "barrier", 0, 0, "  (set)  2001:db8::7, ");
	ck_assert_int_eq(cli_run(&top, "top", "--once", "--bare", "/r"), 0);
	cli_hears(&top, "  /r: 4\n");
	check_row("/r/empty", "barrier", 0, 0, "  (if it is one)  -, ");
	look("/r/curator");
	cli_hears(&top, "  /r/curator: 1\n");
	ck_assert_int_eq(cli_run(&lock, "barrier", "remove", "/r/ours"), 0);
	look("/r");
	cli_hears(&top, "  /r: 2\n");
}
END_TEST

/* Curator's QueueSharder stores an address, as its barrier does. */
START_TEST(a_shard_that_is_empty_is_a_queue_and_no_barrier)
{
	make("/r/q");
	make("/r/q/shards");
	ck_assert_int_eq(raw_create(fixture_address(), SHARD, "192.0.2.7"), 0);
	look("/r");
	cli_hears(&top, "  /r: 1\n");
	check_row(SHARD, "queue", 0, 0, "");
	make(SHARD "/queue-0000000000");
	look(SHARD);
	check_row(SHARD, "queue", 0, 1, "");
}
END_TEST

/* A node that is looked at again may have changed. */
START_TEST(a_barrier_that_says_something_else_is_none)
{
	struct raw *raw = raw_open(fixture_address(), 60000);

	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_create(fixture_address(), "/r/gate", "192.0.2.7"),
		0);
	cli_start(&top, "top", "-i0.1", "/r");
	cli_hears(&top, "  /r: 1\n");
	ck_assert_int_eq(raw_do_set(raw, "/r/gate", "more", -1), 0);
	cli_hears(&top, "  /r: 0\n");
	kill(top.pid, SIGINT);
	ck_assert_int_eq(cli_end(&top), -SIGINT);
	raw_close(raw);
}
END_TEST

START_TEST(claims_are_told_from_the_items_that_they_are_named_after)
{
	struct raw *raw = raw_open(fixture_address(), 60000);

	ck_assert_ptr_nonnull(raw);
	make("/r/q");
	make("/r/q/qn-0000000001");
	make("/r/q/qn-0000000002");
	make("/r/q-locks");
	ck_assert_int_eq(raw_do_create(raw, "/r/q-locks/qn-0000000001", "",
				 RAW_EPHEMERAL, NULL, 0),
		0);
	look("/r");
	check_row("/r/q", "queue", 0, 2, "");
	check_row("/r/q-locks", "claims", 1, 0, "");
	raw_close(raw);
}
END_TEST

START_TEST(who_holds_is_told)
{
	cli_start(&lock, "lock", "--reason", "mowing", "/r/l", "--", "sh", "-c",
		"echo held; read go");
	cli_hears(&lock, "held\n");
	cli_start(&waiter, "lock", "/r/l", "--", "true");
	test_within(raw_count_children(fixture_address(), "/r/l") == 2, CLI_MS);
	look("/r");
	check_row("/r/l", "lock", 1, 1, "  ");
	ck_assert_ptr_nonnull(strstr(row("/r/l"), " kustos: mowing, "));
	cli_type(&lock, "go\n");
	ck_assert_int_eq(cli_end(&lock), 0);
	ck_assert_int_eq(cli_end(&waiter), 0);
	look("/r");
	cli_hears(&top, "  /r: 0\n");
}
END_TEST

/* Return a number of the path in the frame. */
static double number(const char *frame, const char *path, const char *name)
{
	char wanted[64];
	const char *at;

	snprintf(wanted, sizeof(wanted), "{\"path\":\"%s\"", path);
	at = strstr(frame, wanted);
	ck_assert_ptr_nonnull(at);
	snprintf(wanted, sizeof(wanted), "\"%s\":", name);
	at = strstr(at, wanted);
	ck_assert_ptr_nonnull(at);
	return strtod(at + strlen(wanted), NULL);
}

/* In an open session, so that all of it comes between two frames. */
static void make_in(struct raw *raw, const char *path)
{
	ck_assert_int_eq(raw_do_create(raw, path, "", RAW_PERSISTENT, NULL, 0),
		0);
}

/* The time between the frames is not known exactly, so check that one is ten
   times the other. */
START_TEST(how_many_come_and_go_is_told_exactly)
{
	struct raw *raw = raw_open(fixture_address(), 60000);
	char path[64];
	const char *frame;
	int64_t began_ms;

	ck_assert_ptr_nonnull(raw);
	make("/r/a");
	make("/r/b");
	make("/r/a/qn-0000000000");
	make("/r/b/qn-0000000000");
	make("/r/c");
	make("/r/c/qn-0000000000");
	began_ms = test_now_ms();
	cli_start(&top, "top", "--frames=2", "-i3", "--json", "/r");
	frame = cli_hears(&top, "]}\n");
	ck_assert_ptr_nonnull(strstr(top.out_text, "\"in\":null,\"out\":null"));
	for (int i = 1; i <= 10; i++) {
		snprintf(path, sizeof(path), "/r/a/qn-%010d", i);
		make_in(raw, path);
		if (i <= 3)
			ck_assert_int_eq(raw_do_delete(raw, path, -1), 0);
	}
	make_in(raw, "/r/b/qn-0000000001");
	/* A queue that is emptied is still shown. */
	ck_assert_int_eq(raw_do_delete(raw, "/r/c/qn-0000000000", -1), 0);
	raw_close(raw);
	ck_assert_int_eq(cli_end(&top), 0);
	ck_assert_int_ge(test_now_ms() - began_ms, 3000);
	double one = number(frame, "/r/b", "in");
	ck_assert(one > 0 && one < 1);
	ck_assert(fabs(number(frame, "/r/b", "out")) < 0.001);
	ck_assert(fabs(number(frame, "/r/a", "in") - 10 * one) < 0.02);
	ck_assert(fabs(number(frame, "/r/a", "out") - 3 * one) < 0.02);
	ck_assert_int_eq((int)number(frame, "/r/a", "waits"), 8);
	ck_assert(fabs(number(frame, "/r/c", "out") - one) < 0.002);
	ck_assert_int_eq((int)number(frame, "/r/c", "waits"), 0);
}
END_TEST

START_TEST(a_terminal_is_cleared_and_a_signal_ends_it)
{
	const char *const argv[] = { "sh", "-c",
		"stty rows 6 cols 40; exec \"$0\" top -i 0.2 /r", cli_program(),
		NULL };

	for (int c = 'a'; c < 'h'; c++) {
		char path[64];

		snprintf(path, sizeof(path), "/r/%c", c);
		make(path);
		snprintf(path, sizeof(path), "/r/%c/qn-0000000001", c);
		make(path);
	}
	cli_start_on_terminal(&top, argv);
	cli_hears(&top, "\033[H\033[2J");
	cli_hears(&top, "and 5 more\r\n");
	cli_hears(&top, "\033[H\033[2J");
	ck_assert_ptr_null(strstr(top.out_text, "PATH AND WHO"));
	kill(top.pid, SIGTERM);
	ck_assert_int_eq(cli_end(&top), -SIGTERM);
}
END_TEST

START_TEST(a_node_that_goes_is_looked_for_again)
{
	make("/r/x");
	cli_start(&top, "top", "-i0.1", "/r/x");
	cli_hears(&top, "  /r/x: 0\n");
	ck_assert_int_eq(raw_delete(fixture_address(), "/r/x"), 0);
	cli_hears_error(&top, "kustos: /r/x: there is no such node\n");
	make("/r/x");
	make("/r/x/qn-0000000001");
	cli_hears(&top, "  /r/x: 1\n");
	kill(top.pid, SIGINT);
	ck_assert_int_eq(cli_end(&top), -SIGINT);
}
END_TEST

/* A semaphore is the node above its leases, whatever else is there.  Nodes that
   only have the names of its parts hide nothing. */
START_TEST(what_stands_beside_or_in_leases_is_gone_into)
{
	static const char *const nodes[] = { "/r/app", "/r/app/leases",
		"/r/app/leases/_c_" UUID "1-lease-0000000001",
		"/r/app/leases/more", "/r/app/leases/more/qn-0000000001",
		"/r/app/locks", "/r/app/locks/_c_" UUID "2-lock-0000000001",
		"/r/app/locks/db",
		"/r/app/locks/db/_c_" UUID "3-lock-0000000001", "/r/app/jobs",
		"/r/app/jobs/qn-0000000001", "/r/rent", "/r/rent/leases",
		"/r/rent/leases/flat",
		"/r/rent/leases/flat/_c_" UUID "4-lock-0000000001",
		"/r/rent/locks", "/r/rent/locks/_c_" UUID "6-lock-0000000001",
		"/r/step", "/r/step/" UUID "5", "/r/step/ready",
		"/r/step/queue", "/r/step/queue/qn-0000000001", "/r/free",
		"/r/free/leases", NULL };

	for (int i = 0; nodes[i] != NULL; i++)
		make(nodes[i]);
	look("/r");
	check_row("/r/app", "semaphore", 1, 1, "");
	check_row("/r/app/jobs", "queue", 0, 1, "");
	check_row("/r/app/leases/more", "queue", 0, 1, "");
	check_row("/r/app/locks/db", "lock", 1, 0, "");
	check_row("/r/rent/leases/flat", "lock", 1, 0, "");
	check_row("/r/rent/locks", "lock", 1, 0, "");
	check_row("/r/step", "barrier", 1, 0, "  (ready)");
	check_row("/r/step/queue", "queue", 0, 1, "");
	check_row("/r/free", "semaphore", 0, 0, "");
	cli_hears(&top, "  /r: 9\n");
}
END_TEST

/* A name of a recipe's part where no recipe can be. */
START_TEST(the_root_is_looked_at_whatever_is_there)
{
	static const char *const names[] = { "/leases", "/done-deal" };

	make(names[_i]);
	ck_assert_int_eq(cli_run(&top, "top", "--once", "/"), 0);
	cli_hears(&top, "  /: ");
	ck_assert_str_eq(top.err_text, "");
	ck_assert_int_eq(raw_delete(fixture_address(), names[_i]), 0);
}
END_TEST

START_TEST(the_last_look_says_how_it_ends)
{
	make("/r/x");
	cli_start(&top, "top", "-i3", "--frames=2", "/r/x");
	cli_hears(&top, "  /r/x: 0\n");
	ck_assert_int_eq(raw_delete(fixture_address(), "/r/x"), 0);
	ck_assert_int_eq(cli_end(&top), 117);
}
END_TEST

START_TEST(wrong_use_is_refused)
{
	ck_assert_int_eq(cli_run(&top, "top"), 125);
	ck_assert_int_eq(cli_run(&top, "top", "/r", "/s"), 125);
	ck_assert_int_eq(cli_run(&top, "top", "-i", "0", "/r"), 125);
	ck_assert_int_eq(cli_run(&top, "top", "--frames=0", "/r"), 125);
	ck_assert_int_eq(cli_run(&top, "top", "--once", "/none"), 117);
	ck_assert_int_eq(cli_run(&top, "top", "/none"), 117);
	ck_assert_int_eq(cli_run(&top, "top", "--once", "r"), 125);
}
END_TEST

/* What is below a node of such a name is looked at. */
static void check_no_parts(const char *const *names, int count)
{
	char path[96];

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/r/%d", i);
		make(path);
		snprintf(path, sizeof(path), "/r/%d/%s", i, names[i]);
		make(path);
		strcat(path, "/lock-0000000001");
		make(path);
	}
	look("/r");
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "/r/%d/%s", i, names[i]);
		check_row(path, "lock", 1, 0, "");
	}
}

/* It has more digits than a server writes, or a number that does not exist. */
START_TEST(what_has_no_number_of_a_server_is_no_part)
{
	static const char *const names[] = { "lock-99999999999",
		"lock-9999999999", "x-lock---------1", "latch-00000000001" };

	make("/r/last");
	make("/r/last/lock--2147483648");
	make("/r/last/lock--000000002");
	check_no_parts(names, 4);
	cli_hears(&top, "  /r: 5\n");
	check_row("/r/last", "lock", 1, 1, "");
}
END_TEST

START_TEST(what_only_begins_as_parts_of_a_latch_do_is_none)
{
	static const char *const names[] = { "count-service", "count-0",
		"count-2147483648", "alive-hosts", "done-", "must-",
		"_c_" UUID "1-count-3", "_c_" UUID "1-alive-" };

	check_no_parts(names, 8);
	cli_hears(&top, "  /r: 8\n");
}
END_TEST

START_TEST(what_outlives_its_session_is_no_candidate_and_no_member)
{
	make("/r/offers");
	make("/r/offers/n_0000000001");
	make("/r/party");
	make("/r/party/" BARE "1__party__");
	look("/r");
	cli_hears(&top, "  /r: 0\n");
}
END_TEST

/* Create nodes of this name with the numbers from "first" to "last". */
static void make_many(const char *begins, int first, int last)
{
	struct raw *raw = raw_open(fixture_address(), 20000);
	char path[64];

	ck_assert_ptr_nonnull(raw);
	for (int i = first; i <= last; i++) {
		snprintf(path, sizeof(path), "%s%010d", begins, i);
		ck_assert_int_eq(
			raw_do_create(raw, path, "", RAW_PERSISTENT, NULL, 0),
			0);
	}
	raw_close(raw);
}

START_TEST(of_a_long_line_only_the_number_is_told)
{
	make("/r/line");
	make_many("/r/line/x-" BARE "1-", 1, 500);
	look("/r");
	check_row("/r/line", "lock", 1, 499, "");
	ck_assert_ptr_null(strstr(top.out_text, "at least"));
	make_many("/r/line/x-" BARE "1-", 501, 501);
	look("/r");
	check_row("/r/line", "lock", 1, 500, "  (at least one holds)");
}
END_TEST

START_TEST(that_there_is_more_than_is_looked_at_is_said)
{
	make_many("/r/plain", 1, 4999);
	look("/r");
	cli_hears(&top, "  /r: 0\n");
	make_many("/r/plain", 5000, 5000);
	look("/r");
	cli_hears(&top, "  /r: 0, and there is more\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos top");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, every_layout_is_recognised);
	tcase_add_test(t, what_has_no_number_of_a_server_is_no_part);
	tcase_add_test(t, what_only_begins_as_parts_of_a_latch_do_is_none);
	tcase_add_test(t, a_plain_barrier_is_known_by_what_it_says);
	tcase_add_test(t, a_shard_that_is_empty_is_a_queue_and_no_barrier);
	tcase_add_test(t, a_barrier_that_says_something_else_is_none);
	tcase_add_test(t,
		claims_are_told_from_the_items_that_they_are_named_after);
	tcase_add_test(t, who_holds_is_told);
	tcase_add_test(t, how_many_come_and_go_is_told_exactly);
	tcase_add_test(t, a_terminal_is_cleared_and_a_signal_ends_it);
	tcase_add_test(t, a_node_that_goes_is_looked_for_again);
	tcase_add_test(t, what_stands_beside_or_in_leases_is_gone_into);
	tcase_add_loop_test(t, the_root_is_looked_at_whatever_is_there, 0, 2);
	tcase_add_test(t, the_last_look_says_how_it_ends);
	tcase_add_test(t, wrong_use_is_refused);
	tcase_add_test(t,
		what_outlives_its_session_is_no_candidate_and_no_member);
	tcase_add_test(t, of_a_long_line_only_the_number_is_told);
	tcase_add_test(t, that_there_is_more_than_is_looked_at_is_said);
	return fixture_main(s);
}
