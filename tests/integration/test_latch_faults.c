/*
 * test_latch_faults.c - connections, sessions and nodes are lost while a latch
 * leads or waits: it is told its loss, and joins the line again by itself.  The
 * proxy breaks connections; sessions are ended and nodes deleted from outside.
 */
#include "inject.h"
#include "latch_fixture.h"
#include "mutex_pair.h"
#include "rawkill.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define T_MS 6000
#define QUIET_MS 150

static struct runner ours, theirs;

static void set_up(void)
{
	inject_reset();
	pair_open_behind_proxy(T_MS, 0);
}

static void tear_down(void)
{
	inject_reset();
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

/* Both take part, "theirs" behind "ours". */
static void enter_both(void)
{
	runner_run(&ours, client, "ours");
	runner_leads(&ours);
	runner_run(&theirs, other, "theirs");
	line_wait(2);
}

/* Both take part, "ours" behind "theirs". */
static void enter_behind(void)
{
	runner_run(&theirs, other, "theirs");
	runner_leads(&theirs);
	runner_run(&ours, client, "ours");
	line_wait(2);
	proxy_reset_counts(proxy);
}

static void leave_both(void)
{
	runner_end(&ours);
	runner_end(&theirs);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}

/* "theirs" leaves, and "ours" leads with a node of its own. */
static void check_succession(void)
{
	check_state(&ours, KUSTOS_LATCH_WAITING);
	kustos_latch_close(theirs.latch, KUSTOS_CLOSE_NOTIFY);
	runner_leads(&ours);
	check_term(&ours, client);
	ck_assert_int_gt(ours.token, theirs.token);
	ck_assert_int_eq(line_count(), 1);
}

/* --- Disconnects --------------------------------------------------------- */

START_TEST(U02_a_leader_that_is_disconnected_leads_on)
{
	enter_both();
	proxy_set_mode(proxy, PROXY_REFUSE);
	test_eventually(kustos_latch_state(ours.latch) == KUSTOS_LATCH_UNSURE,
		1000);
	ck_assert(kustos_latch_leads(ours.latch));
	check_err(kustos_latch_wait(ours.latch, KUSTOS_NOW, NULL), KUSTOS_OK);
	proxy_set_mode(proxy, PROXY_PASS);
	test_eventually(kustos_latch_state(ours.latch) == KUSTOS_LATCH_LEADS,
		3000);
	pair_flush();
	check_term(&ours, client);
	ck_assert_int_eq(ours.gains, 1);
	ck_assert_int_eq(ours.losses, 0);
	check_state(&theirs, KUSTOS_LATCH_WAITING);
	leave_both();
}
END_TEST

static void run_cautious(void)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

	o.cautious = 1;
	runner_make_with(&ours, client, o);
}

/* It cannot know yet how long the connection will be away. */
static void check_early(struct runner *r)
{
	ck_assert_int_gt(kustos_hold_remaining_ms(r->hold), 0);
}

START_TEST(U02_a_cautious_leader_gives_up_at_once_and_lines_up_again)
{
	run_cautious();
	ours.on_lost = check_early;
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	runner_leads(&ours);
	int64_t token = ours.token;

	runner_run(&theirs, other, NULL);
	line_wait(2);
	proxy_set_mode(proxy, PROXY_REFUSE);
	runner_lost(&ours, 1);
	ours.on_lost = NULL;
	check_state(&ours, KUSTOS_LATCH_WAITING);
	ck_assert_int_eq(theirs.gains, 0);
	proxy_set_mode(proxy, PROXY_PASS);
	runner_leads(&theirs);
	ck_assert(ours.lost_ns < theirs.gained_ns);
	line_wait(2);
	ck_assert_int_eq(ours.gains, 1);
	check_succession();
	ck_assert_int_gt(ours.token, token);
	leave_both();
}
END_TEST

/* Its connection is lost twice, or its session ends, before the callback of the
   first gain has returned. */
START_TEST(U02_a_cautious_leader_that_is_slow_loses_once)
{
	int64_t epoch = client_epoch(client);

	run_cautious();
	ours.asleep = true;
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	runner_leads(&ours);
	proxy_set_mode(proxy, PROXY_REFUSE);
	test_eventually(!kustos_latch_leads(ours.latch), 1000);
	ck_assert_int_gt(kustos_client_lease_ms(client), 0);
	if (_i == 1)
		client_kill_session(client);
	proxy_set_mode(proxy, PROXY_PASS);
	if (_i == 1) {
		client_wait_epoch(client, epoch, 8000);
	} else {
		client_wait(client, KUSTOS_STATE_CONNECTED, 8000);
		pair_flush();
		proxy_set_mode(proxy, PROXY_REFUSE);
		client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
		proxy_set_mode(proxy, PROXY_PASS);
		client_wait(client, KUSTOS_STATE_CONNECTED, 8000);
	}
	atomic_store(&ours.asleep, false);
	test_eventually(ours.gains == 2 && ours.ended == 3, 8000);
	pair_flush();
	line_wait(1);
	check_term(&ours, client);
	runner_run(&theirs, other, NULL);
	line_wait(2);
	kustos_latch_close(ours.latch, KUSTOS_CLOSE_NOTIFY);
	runner_leads(&theirs);
	leave_both();
}
END_TEST

/* --- Sessions ------------------------------------------------------------ */

START_TEST(L14_a_leader_that_loses_its_session_is_told_and_lines_up_again)
{
	int64_t epoch = client_epoch(client);

	enter_both();
	client_kill_session(client);
	runner_lost(&ours, 1);
	runner_leads(&theirs);
	client_wait_epoch(client, epoch, 8000);
	line_wait(2);
	check_succession();
	ck_assert_int_eq(ours.gains, 2);
	leave_both();
}
END_TEST

/* Return how many nodes came to the line, or left it. */
static int line_changes(void)
{
	struct kustos_stat stat;

	check_err(kustos_exists(other, LINE, SOON, NULL, &stat), KUSTOS_OK);
	return stat.cversion;
}

/* It makes one node.  (It may also ask for one in the old session, if it connects
   once more in the moment before that ends.) */
START_TEST(L14_a_candidate_that_loses_its_session_lines_up_again)
{
	int64_t epoch = client_epoch(client);
	char before[NODE_SIZE], after[NODE_SIZE];

	enter_behind();
	int changes = line_changes();
	node_at(1, before);
	client_kill_session(client);
	client_wait_epoch(client, epoch, 8000);
	line_wait(2);
	node_at(1, after);
	ck_assert_str_ne(before, after);
	ck_assert_int_eq(ours.gains, 0);
	ck_assert_int_eq(line_changes(), changes + 2);
	check_succession();
	leave_both();
}
END_TEST

/* The candidate's session is over, and it cannot know this when the one before
   it leaves. */
START_TEST(S11_a_candidate_whose_session_died_does_not_lead)
{
	enter_behind();
	inject_connect(ECONNREFUSED);
	client_kill_session(client);
	kustos_latch_close(theirs.latch, KUSTOS_CLOSE_SILENT);
	line_wait(0);
	test_never(kustos_latch_leads(ours.latch) || ours.gains > 0, QUIET_MS);
	inject_connect(0);
	runner_leads(&ours);
	check_term(&ours, client);
	kustos_latch_destroy(theirs.latch);
	runner_end(&ours);
	pair_flush();
}
END_TEST

/* The latch loses its term while it closes or is destroyed, and before the
   callback of the gain has returned. */
static void *end_it(void *arg)
{
	struct runner *r = arg;

	if (r->on_lost == NULL)
		kustos_latch_close(r->latch, KUSTOS_CLOSE_NOTIFY);
	kustos_latch_destroy(r->latch);
	return NULL;
}

static void nothing(struct runner *r)
{
	(void)r;
}

START_TEST(S05_a_latch_that_ends_takes_no_part_whatever_it_loses)
{
	int64_t epoch = client_epoch(client);
	pthread_t thread;

	runner_make(&ours, client, NULL);
	ours.asleep = true;
	ours.on_lost = _i ? nothing : NULL;
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	runner_leads(&ours);
	proxy_reset_counts(proxy);
	pthread_create(&thread, NULL, end_it, &ours);
	test_eventually(kustos_latch_state(ours.latch) == KUSTOS_LATCH_CLOSED,
		2000);
	client_kill_session(client);
	client_wait_epoch(client, epoch, 8000);
	pair_flush();
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE2), 0);
	atomic_store(&ours.asleep, false);
	pthread_join(thread, NULL);
	ck_assert_int_eq(ours.losses, _i == 0);
	pair_flush();
	ck_assert_int_eq(line_count(), 0);
}
END_TEST

/* --- Nodes --------------------------------------------------------------- */

START_TEST(S09_a_leader_whose_node_is_deleted_is_told_and_lines_up_again)
{
	enter_both();
	/* From now on two watches are set: the leader's, and that of the one
	   behind it. */
	test_eventually(watch_count() >= 2, 2000);
	ck_assert_int_eq(raw_delete(fixture_address(), ours.node), 0);
	test_eventually(!kustos_latch_leads(ours.latch), 1000);
	runner_lost(&ours, 1);
	runner_leads(&theirs);
	line_wait(2);
	check_succession();
	leave_both();
}
END_TEST

#define DELETIONS 10

START_TEST(L12_a_candidate_whose_node_is_deleted_makes_one_other)
{
	char node[NODE_SIZE], last[NODE_SIZE] = "";

	enter_behind();
	for (int i = 0; i < DELETIONS; i++) {
		node_at(1, node);
		ck_assert_str_ne(node, last);
		strcpy(last, node);
		/* From now on the node is watched. */
		test_eventually(watch_count() >= 2, 2000);
		ck_assert_int_eq(raw_delete(fixture_address(), node), 0);
		test_eventually(proxy_count(proxy, ZK_OP_CREATE2) == i + 1,
			3000);
		line_wait(2);
	}
	pair_flush();
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE2), DELETIONS);
	ck_assert_int_eq(ours.gains, 0);
	ck_assert_int_eq(theirs.losses, 0);
	check_succession();
	leave_both();
}
END_TEST

/* The whole path is deleted, again and again; in the end one leads. */
START_TEST(L13_an_election_goes_on_when_its_path_is_deleted)
{
	struct runner *leader, *follower;

	if (_i == 0)
		enter_both();
	else
		enter_behind();
	for (int i = 0; i < 5; i++) {
		int rc = raw_delete_tree(fixture_address(), "/locks");

		ck_assert(rc == 0 || rc == RAW_NOTEMPTY); /* try again */
		line_wait(2);
	}
	test_eventually(kustos_latch_leads(ours.latch) !=
			kustos_latch_leads(theirs.latch),
		3000);
	leader = kustos_latch_leads(ours.latch) ? &ours : &theirs;
	follower = leader == &ours ? &theirs : &ours;
	runner_leads(leader);
	check_term(leader, leader == &ours ? client : other);
	check_state(follower, KUSTOS_LATCH_WAITING);
	kustos_latch_close(leader->latch, KUSTOS_CLOSE_NOTIFY);
	runner_leads(follower);
	check_term(follower, leader == &ours ? other : client);
	leave_both();
}
END_TEST

/* --- Many ---------------------------------------------------------------- */

#define CANDIDATES 5
#define TERMS 40

/* Each leader loses its node, or closes and starts again, while connections
   fail.  No creation may be sent without a reason. */
START_TEST(L12_candidates_that_come_and_go_make_few_nodes)
{
	static struct runner all[CANDIDATES];
	int anew = 0;

	proxy_reset_counts(proxy);
	for (int i = 0; i < CANDIDATES; i++)
		runner_run(&all[i], client, NULL);
	line_wait(CANDIDATES);
	for (int i = 0; i < TERMS; i++) {
		struct runner *leader = NULL;
		int64_t end = test_now_ms() + PATIENCE_MS;

		while (leader == NULL) {
			ck_assert_int_lt(test_now_ms(), end);
			for (int k = 0; k < CANDIDATES; k++)
				if (kustos_latch_leads(all[k].latch))
					leader = &all[k];
			test_pause_1ms();
		}
		if (i % 10 == 9)
			proxy_cut(proxy);
		kustos_latch_destroy(leader->latch);
		runner_run(leader, client, NULL);
		anew++;
	}
	line_wait(CANDIDATES);
	/* As many as have joined, and those that a cut has met on their way. */
	ck_assert_int_ge(proxy_count(proxy, ZK_OP_CREATE2), CANDIDATES + anew);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_CREATE2),
		CANDIDATES + anew + TERMS / 10 * 2);
	for (int i = 0; i < CANDIDATES; i++)
		kustos_latch_destroy(all[i].latch);
	pair_flush();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, faults");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, U02_a_leader_that_is_disconnected_leads_on);
	tcase_add_test(t,
		U02_a_cautious_leader_gives_up_at_once_and_lines_up_again);
	tcase_add_loop_test(t, U02_a_cautious_leader_that_is_slow_loses_once, 0,
		2);
	tcase_add_test(t,
		L14_a_leader_that_loses_its_session_is_told_and_lines_up_again);
	tcase_add_test(t,
		L14_a_candidate_that_loses_its_session_lines_up_again);
	tcase_add_test(t, S11_a_candidate_whose_session_died_does_not_lead);
	tcase_add_loop_test(t,
		S05_a_latch_that_ends_takes_no_part_whatever_it_loses, 0, 2);
	tcase_add_test(t,
		S09_a_leader_whose_node_is_deleted_is_told_and_lines_up_again);
	tcase_add_test(t,
		L12_a_candidate_whose_node_is_deleted_makes_one_other);
	tcase_add_loop_test(t, L13_an_election_goes_on_when_its_path_is_deleted,
		0, 2);
	tcase_add_test(t, L12_candidates_that_come_and_go_make_few_nodes);
	return fixture_main(s);
}
