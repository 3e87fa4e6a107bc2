/*
 * test_mixed.c - kazoo's own names.  In Curator's dialect we wait for them and
 * report a mixed line; in kazoo's dialect they and ours are one line.
 */
#include "peer.h"
#include "spans.h"

#include "integration/client_fixture.h"
#include "tools/cli.h"
#include "turns.h"
#include "voters.h"

#include <kustos/mutex.h>
#include <kustos/participant.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MS 10000
#define LINE TURNS_LINE
#define PATIENCE kustos_after_ms(PATIENCE_MS)
#define SHORT_MS 300
#define TURNS 100

static const enum peer_kind both[] = { PEER_KAZOO_STOCK, PEER_KUSTOS_KAZOO,
	PEER_KAZOO_STOCK, PEER_KUSTOS_KAZOO, PEER_KINDS };
#define PEERS 4

static struct peer peers[PEERS];

/* Our side: a client of the test that counts warnings in its log. */
static struct kustos_client *client;
static struct kustos_mutex *mutex;
static atomic_int warnings; /* lines of log that name the line */

static void keep_log(void *arg, enum kustos_log_level level, const char *line)
{
	(void)arg;
	if (level <= KUSTOS_LOG_WARNING && strstr(line, LINE) != NULL)
		atomic_fetch_add(&warnings, 1);
}

static void open_ours(enum kustos_dialect dialect)
{
	struct kustos_client_options o = client_options(fixture_address(),
		SESSION_MS);
	struct kustos_mutex_options m = KUSTOS_MUTEX_OPTIONS_INIT;

	o.log = keep_log;
	client = client_open_with(&o);
	m.dialect = dialect;
	ck_assert_int_eq(kustos_mutex_create(client, LINE, &m, &mutex),
		KUSTOS_OK);
}

static void close_ours(void)
{
	kustos_mutex_destroy(mutex);
	client_close(client);
}

/* Return whether the list of participants reports a mixed line.  Its two
   participants must have these styles. */
static int list_says_mixed(enum kustos_style first, enum kustos_style second)
{
	struct kustos_participants *p = NULL;
	int mixed;

	ck_assert_int_eq(kustos_participants(client, LINE, PATIENCE, NULL, &p),
		KUSTOS_OK);
	ck_assert_uint_eq(p->count, 2);
	ck_assert_int_eq(p->list[0]->style, first);
	ck_assert_int_eq(p->list[1]->style, second);
	mixed = p->mixed;
	kustos_participants_free(p);
	return mixed;
}

/* What the callback of an acquire was told. */
static struct kustos_hold *granted_hold;
static atomic_int granted;

static void on_granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_OK);
	granted_hold = hold;
	atomic_store(&granted, 1);
}

static void start_to_wait(void)
{
	atomic_store(&granted, 0);
	ck_assert_int_eq(kustos_mutex_acquire_async(mutex, PATIENCE, NULL,
				 on_granted, NULL),
		KUSTOS_OK);
	line_await(LINE, 2);
}

/* "other" holds with names that do not wait for ours.  Our mutex must wait for
   it, and report a mixed line. */
static void wait_behind(enum peer_kind other, enum kustos_dialect dialect,
	enum kustos_style theirs, enum kustos_style ours)
{
	peer_start(&peers[0], other, SESSION_MS);
	peer_do(&peers[0], "acquired", "acquire " LINE " 30000");
	open_ours(dialect);
	ck_assert_int_eq(kustos_mutex_mixed(mutex), 0);
	start_to_wait();
	test_eventually(kustos_mutex_mixed(mutex) == 1, 5000);
	test_eventually(atomic_load(&warnings) > 0, 5000);
	ck_assert_int_eq(list_says_mixed(theirs, ours), 1);
	test_never(atomic_load(&granted), SHORT_MS);

	peer_do(&peers[0], "released", "release " LINE);
	test_eventually(atomic_load(&granted), 5000);
	kustos_hold_release(granted_hold);
	close_ours();
	peers_end(peers, 1);
}

START_TEST(ours_waits_for_a_stock_kazoo_and_reports_it)
{
	wait_behind(PEER_KAZOO_STOCK, KUSTOS_DIALECT_CURATOR,
		KUSTOS_STYLE_KAZOO, KUSTOS_STYLE_CURATOR);
}
END_TEST

START_TEST(in_kazoos_dialect_ours_waits_for_curators_names_and_reports_it)
{
	wait_behind(PEER_KUSTOS, KUSTOS_DIALECT_KAZOO, KUSTOS_STYLE_CURATOR,
		KUSTOS_STYLE_KAZOO);
}
END_TEST

/* The reason for the report.  If this fails because kazoo waits, the report is
   out of date. */
START_TEST(a_stock_kazoo_does_not_wait_for_ours_and_the_list_says_so)
{
	struct kustos_hold *hold = NULL;

	peer_start(&peers[0], PEER_KAZOO_STOCK, SESSION_MS);
	open_ours(KUSTOS_DIALECT_CURATOR);
	ck_assert_int_eq(kustos_mutex_acquire(mutex, PATIENCE, NULL, &hold),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_mutex_mixed(mutex), 0);
	peer_do(&peers[0], "acquired", "acquire " LINE " 30000");
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	ck_assert_int_eq(
		list_says_mixed(KUSTOS_STYLE_CURATOR, KUSTOS_STYLE_KAZOO), 1);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	peer_do(&peers[0], "released", "release " LINE);
	close_ours();
	peers_end(peers, 1);
}
END_TEST

/* Take turns, all at once, and fail if any two held the lock at the same
   time. */
static void take_turns(void)
{
	struct spans spans = { 0 };
	struct turns plan[PEERS];

	for (int i = 0; i < PEERS; i++)
		plan[i] = (struct turns){ .turns = TURNS,
			.patience_ms = 60000,
			.percent = TURNS_MUTEX };
	turns_take(peers, plan, PEERS, &spans);
	ck_assert_uint_eq(spans.count, PEERS * TURNS);
	ck_assert_int_eq(turns_counted(), PEERS * TURNS);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	ck_assert_uint_gt(spans_changes(&spans), PEERS * TURNS / 2);
	spans_free(&spans);
}

START_TEST(in_kazoos_dialect_ours_and_a_stock_kazoo_are_one_line)
{
	peers_start(peers, both, PEERS, SESSION_MS);
	for (int i = 0; i < PEERS; i++)
		peer_join(&peers[i], LINE, i + 1);
	for (int i = 0; i < PEERS; i++) {
		peer_hear_acquired(&peers[i], PEER_PATIENCE_MS);
		for (int k = i + 1; k < PEERS; k++)
			ck_assert(peer_silent(&peers[k]));
		peer_do(&peers[i], "released", "release " LINE);
	}
	take_turns();
	peers_end(peers, PEERS);
}
END_TEST

START_TEST(in_kazoos_dialect_ours_and_kazoos_election_elect_one)
{
	static struct voters voters;

	voters_enter(&voters, both, _i, PEERS, "select", SESSION_MS);
	voters_take_turns(&voters);
	peers_end(voters.peers, PEERS);
}
END_TEST

/* Our command is in the line of kazoo's election, and each waits for the
   other. */
START_TEST(in_kazoos_dialect_the_command_and_kazoos_election_elect_one)
{
	static struct cli command;

	peer_start(&peers[0], PEER_KAZOO_STOCK, SESSION_MS);
	peer_do(&peers[0], "ok", "elect " LINE " ann select");
	peer_do(&peers[0], "leads", "leads " LINE " 30000");
	setenv("KUSTOS_HOSTS", fixture_address(), 1);
	cli_start(&command, "elect", "--lock-layout", "--dialect", "kazoo",
		"--id=bob", LINE, "--", "sh", "-c", "echo leads; read go");
	line_await(LINE, 2);
	peer_do(&peers[0], "2", "candidates " LINE);
	ck_assert_str_eq(peers[0].reply, "2 ann ann bob");
	test_never(cli_has_spoken(&command), SHORT_MS);
	peer_do(&peers[0], "resigned", "resign " LINE);
	cli_hears(&command, "leads\n");
	peer_do(&peers[0], "ok", "elect " LINE " ann select");
	line_await(LINE, 2);
	peer_do(&peers[0], "no", "leads " LINE " 300");
	cli_type(&command, "go\n");
	ck_assert_int_eq(cli_end(&command), 0);
	ck_assert_str_eq(command.err_text, "");
	peer_do(&peers[0], "leads", "leads " LINE " 30000");
	peers_end(peers, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mixed");
	TCase *t = fixture_case(s, "kazoo's own names", 90);

	tcase_add_test(t, ours_waits_for_a_stock_kazoo_and_reports_it);
	tcase_add_test(t,
		in_kazoos_dialect_ours_waits_for_curators_names_and_reports_it);
	tcase_add_test(t,
		a_stock_kazoo_does_not_wait_for_ours_and_the_list_says_so);
	tcase_add_test(t,
		in_kazoos_dialect_ours_and_a_stock_kazoo_are_one_line);
	tcase_add_loop_test(t,
		in_kazoos_dialect_ours_and_kazoos_election_elect_one, 0, 2);
	tcase_add_test(t,
		in_kazoos_dialect_the_command_and_kazoos_election_elect_one);
	return interop_main(s, both);
}
