/*
 * test_top_peers.c - kustos top: nodes that other libraries have created are
 * not taken for something else.
 */
#include "cli.h"

#include "fixture.h"
#include "proxy.h"
#include "raw.h"
#include "rows.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID "00000000-0000-4000-8000-00000000000"
#define BARE "0000000000004000800000000000000"

static struct cli top;

static void set_up(void)
{
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
	ck_assert_int_eq(raw_create(fixture_address(), "/r", ""), 0);
}

static void make(const char *path)
{
	ck_assert_int_eq(raw_create(fixture_address(), path, ""), 0);
}

static void look(const char *path)
{
	ck_assert_int_eq(cli_run(&top, "top", "--once", path), 0);
}

/* All of these belong to one session, which must be open while they are looked
   at. */
static struct raw *make_ephemerals(const char *const nodes[][2])
{
	struct raw *raw = raw_open(fixture_address(), 60000);

	ck_assert_ptr_nonnull(raw);
	for (int i = 0; nodes[i][0] != NULL; i++)
		ck_assert_int_eq(raw_do_create(raw, nodes[i][0], nodes[i][1],
					 RAW_EPHEMERAL, NULL, 0),
			0);
	return raw;
}

/* Its holders have names like those of members of a double barrier. */
START_TEST(a_semaphore_of_kazoos_is_none_of_what_its_parts_look_like)
{
	static const char *const nodes[][2] = { { "/r/sem/" BARE "1", "ann" },
		{ "/r/sem/" BARE "2", "bob" },
		{ "/r/sem-__lock__/" BARE "3__lock__0000000001", "b'cid'" },
		{ "/r/step/" BARE "4", "dan" },
		{ "/r/x-__lock__/" BARE "5__lock__0000000001", "eve" },
		{ NULL } };

	ck_assert_int_eq(raw_create(fixture_address(), "/r/sem", "2"), 0);
	make("/r/sem-__lock__");
	make("/r/step");
	make("/r/x");
	make("/r/x-__lock__");
	struct raw *raw = make_ephemerals(nodes);
	look("/r");
	cli_hears(&top, "  /r: 3\n");
	rows_check(top.out_text, "/r/sem", "semaphore", 2, 1, "  ann, ");
	rows_check(top.out_text, "/r/step", "barrier", 0, 1, "");
	rows_check(top.out_text, "/r/x-__lock__", "lock", 1, 0, "  eve, ");
	/* Waiters are shown even if nobody holds: it is known to be a semaphore
	   by then. */
	cli_start(&top, "top", "-i0.1", "/r");
	cli_hears(&top, "semaphore      2      1        -        -  /r/sem");
	ck_assert_int_eq(raw_do_delete(raw, "/r/sem/" BARE "1", -1), 0);
	ck_assert_int_eq(raw_do_delete(raw, "/r/sem/" BARE "2", -1), 0);
	cli_hears(&top, "semaphore      0      1 ");
	kill(top.pid, SIGINT);
	ck_assert_int_eq(cli_end(&top), -SIGINT);
	raw_close(raw);
}
END_TEST

START_TEST(an_election_of_ZooKeepers_has_one_leader)
{
	static const char *const nodes[][2] = { { "/r/el/n_0000000002", "b" },
		{ "/r/el/n_0000000001", "a" }, { "/r/el/n_0000000003", "c" },
		{ NULL } };

	make("/r/el");
	make("/r/no");
	make("/r/no/n_0000000001"); /* stays, as no candidate does */
	struct raw *raw = make_ephemerals(nodes);
	look("/r");
	cli_hears(&top, "  /r: 1\n");
	rows_check(top.out_text, "/r/el", "election", 1, 2, "  a, ");
	raw_close(raw);
}
END_TEST

/* Only a node that tells its holder is certainly a lock. */
START_TEST(what_lives_with_a_session_is_not_taken_for_a_lock)
{
	static const char *const nodes[][2] = { { "/r/party/" BARE "1__party__",
							"ann" },
		{ "/r/party/" BARE "2__party__", "bob" },
		{ "/r/shallow/" BARE "3-cid", "cid" },
		{ "/r/svc/" UUID "1",
			"{\"name\":\"svc\",\"serviceType\":\"DYNAMIC\"}" },
		{ "/r/lock",
			"{\"host\":\"h\",\"pid\":1,\"program\":\"p\","
			"\"since\":\"2020-01-01T00:00:00Z\"}" },
		{ "/r/node", "" }, { NULL } };

	make("/r/party");
	make("/r/shallow");
	make("/r/svc");
	struct raw *raw = make_ephemerals(nodes);
	look("/r");
	cli_hears(&top, "  /r: 5\n");
	rows_check(top.out_text, "/r/party", "party", 2, 0, "  ann, ");
	rows_check(top.out_text, "/r/shallow/" BARE "3-cid", "ephemeral", 1, 0,
		"  (perhaps a simple lock)  cid, ");
	rows_check(top.out_text, "/r/svc", "service", 1, 0, "  {");
	rows_check(top.out_text, "/r/lock", "simple", 1, 0, "  h pid 1 p, ");
	rows_check(top.out_text, "/r/node", "ephemeral", 1, 0,
		"  (perhaps a simple lock)  -, ");
	raw_close(raw);
}
END_TEST

/* However long the counting takes: a server is lost only if it does not
   answer. */
START_TEST(who_is_far_from_many_locks_sees_them_all)
{
	enum { LOCKS = 100, AWAY_MS = 20, SESSION_MS = 2000 };
	struct raw *raw = raw_open(fixture_address(), 60000);
	struct proxy *proxy = fixture_proxy();
	char path[64];

	ck_assert_ptr_nonnull(raw);
	for (int i = 0; i < LOCKS; i++) {
		snprintf(path, sizeof(path), "/r/%d", i);
		ck_assert_int_eq(raw_do_create(raw, path, "", 0, NULL, 0), 0);
		strcat(path, "/lock-0000000001");
		ck_assert_int_eq(raw_do_create(raw, path, "me", 0, NULL, 0), 0);
	}
	raw_close(raw);
	proxy_set_delay(proxy, AWAY_MS / 2, AWAY_MS / 2);
	snprintf(path, sizeof(path), "%d", SESSION_MS);
	ck_assert_int_eq(cli_run(&top, "top", "--once", "--hosts",
				 proxy_address(proxy), "--session-timeout",
				 path, "/r"),
		0);
	ck_assert_msg(strstr(top.out_text, "/r: 100\n") != NULL, "%s",
		top.out_text);
	rows_check(top.out_text, "/r/99", "lock", 1, 0, "  me, ");
	proxy_free(proxy);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kustos top, of others");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t,
		a_semaphore_of_kazoos_is_none_of_what_its_parts_look_like);
	tcase_add_test(t, an_election_of_ZooKeepers_has_one_leader);
	tcase_add_test(t, what_lives_with_a_session_is_not_taken_for_a_lock);
	tcase_add_test(t, who_is_far_from_many_locks_sees_them_all);
	return fixture_main(s);
}
