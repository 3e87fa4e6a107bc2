/*
 * test_selector_faults.c - connections, sessions and nodes are lost while a
 * selector leads or waits: its function is asked to return, and only after it
 * has does the selector join the line again.  The proxy breaks connections;
 * sessions are ended and nodes deleted from outside.
 */
#include "inject.h"
#include "mutex_pair.h"
#include "rawkill.h"
#include "selector_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define T_MS 8000
#define QUIET_MS 150

static struct chief ours, theirs;

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

/* "ours" leads and does not return when asked to; "theirs" waits behind it. */
static void enter(struct kustos_selector_options options)
{
	chief_make(&ours, client, options);
	ours.deaf = true;
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	chief_leads(&ours, 1);
	chief_run(&theirs, other, chief_options("theirs", 0));
	line_wait(2);
}

static void leave_both(void)
{
	ours.deaf = false;
	chief_end(&ours);
	chief_end(&theirs);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}

/* "ours" has lost its term and its function still runs, so it stays out of the
   line until that returns.  "theirs" leads. */
static void check_waits_for_its_function(bool requeues)
{
	test_eventually(atomic_load(&ours.asked) == 1, 3000);
	chief_leads(&theirs, 1);
	chief_state(&ours, KUSTOS_SELECTOR_LOST);
	line_wait(1);
	test_never(line_count() != 1, QUIET_MS);
	ck_assert_int_eq(ours.ended, 0);
	chief_returns(&ours);
	if (!requeues) {
		chief_becomes(&ours, KUSTOS_SELECTOR_IDLE);
		test_never(line_count() != 1, QUIET_MS);
		return;
	}
	line_wait(2);
	chief_becomes(&ours, KUSTOS_SELECTOR_WAITING);
	chief_returns(&theirs);
	chief_ended(&ours, 2);
}

START_TEST(S05_a_leader_that_lost_its_session_stays_out_until_it_returns)
{
	int64_t epoch = client_epoch(client);

	enter(chief_options("ours", _i));
	client_kill_session(client);
	client_wait_epoch(client, epoch, 8000);
	check_waits_for_its_function(_i);
	leave_both();
}
END_TEST

START_TEST(S09_a_leader_whose_node_is_deleted_stays_out_until_it_returns)
{
	enter(chief_options("ours", 1));
	ck_assert_int_eq(raw_delete(fixture_address(), ours.node), 0);
	check_waits_for_its_function(true);
	leave_both();
}
END_TEST

/* It is requeued by a call while its function runs without leading. */
START_TEST(S05_a_requeue_of_a_lost_leader_waits_for_its_return)
{
	enter(chief_options("ours", 0));
	ck_assert_int_eq(raw_delete(fixture_address(), ours.node), 0);
	test_eventually(atomic_load(&ours.asked) == 1, 3000);
	check_err(kustos_selector_requeue(ours.selector), KUSTOS_OK);
	check_waits_for_its_function(true);
	leave_both();
}
END_TEST

/* No server can be reached, so only the clock says when the term is over. */
START_TEST(S01_a_leader_in_a_void_is_asked_before_the_next_leads)
{
	enter(chief_options("ours", 1));
	ours.deaf = false;
	proxy_set_mode(proxy, PROXY_HOLE);
	chief_ended(&ours, 1);
	ck_assert_int_eq(ours.asked, 1);
	ck_assert_int_eq(ours.left_ms, 0);
	ck_assert_int_eq(kustos_selector_leads(ours.selector), 0);
	chief_leads(&theirs, 1);
	ck_assert(ours.to_ns < theirs.from_ns);
	proxy_set_mode(proxy, PROXY_PASS);
	line_wait(2);
	chief_becomes(&ours, KUSTOS_SELECTOR_WAITING);
	leave_both();
}
END_TEST

START_TEST(U02_a_leader_that_is_disconnected_leads_on)
{
	enter(chief_options("ours", 0));
	proxy_set_mode(proxy, PROXY_REFUSE);
	chief_becomes(&ours, KUSTOS_SELECTOR_UNSURE);
	ck_assert(kustos_selector_leads(ours.selector));
	proxy_set_mode(proxy, PROXY_PASS);
	chief_becomes(&ours, KUSTOS_SELECTOR_LEADS);
	pair_flush();
	chief_node(&ours, client);
	ck_assert_int_eq(ours.asked, 0);
	chief_state(&theirs, KUSTOS_SELECTOR_WAITING);
	leave_both();
}
END_TEST

/* Its node is kept until its function has returned, whatever happens to the
   connection. */
START_TEST(U02_a_cautious_leader_is_asked_at_once)
{
	struct kustos_selector_options o = chief_options("ours", 1);

	o.cautious = 1;
	enter(o);
	proxy_set_mode(proxy, PROXY_REFUSE);
	test_eventually(atomic_load(&ours.asked) == 1, 1000);
	ck_assert_int_gt(ours.left_ms, 0);
	chief_state(&ours, KUSTOS_SELECTOR_LOST);
	proxy_set_mode(proxy, PROXY_PASS);
	client_wait(client, KUSTOS_STATE_CONNECTED, 3000);
	pair_flush();
	chief_state(&ours, KUSTOS_SELECTOR_LOST);
	ck_assert_int_eq(theirs.begun, 0);
	chief_returns(&ours);
	chief_leads(&theirs, 1);
	ck_assert(ours.to_ns < theirs.from_ns);
	line_wait(2);
	chief_state(&ours, KUSTOS_SELECTOR_WAITING);
	leave_both();
}
END_TEST

START_TEST(S11_a_candidate_whose_session_died_does_not_lead)
{
	chief_run(&theirs, other, chief_options("theirs", 0));
	chief_leads(&theirs, 1);
	chief_run(&ours, client, chief_options("ours", 0));
	line_wait(2);
	inject_connect(ECONNREFUSED);
	client_kill_session(client);
	chief_returns(&theirs);
	line_wait(0);
	test_never(ours.begun > 0, QUIET_MS);
	inject_connect(0);
	chief_leads(&ours, 1);
	chief_node(&ours, client);
	leave_both();
}
END_TEST

static void *close_it(void *arg)
{
	struct chief *c = arg;

	kustos_selector_close(c->selector);
	return NULL;
}

/* It loses its session before the close, or while the close waits for its
   function. */
START_TEST(S05_a_close_and_a_loss_meet)
{
	int64_t epoch = client_epoch(client);
	pthread_t thread;

	enter(chief_options("ours", 1));
	if (_i == 0)
		client_kill_session(client);
	pthread_create(&thread, NULL, close_it, &ours);
	test_eventually(kustos_selector_state(ours.selector) ==
			KUSTOS_SELECTOR_CLOSED,
		2000);
	if (_i == 1)
		client_kill_session(client);
	client_wait_epoch(client, epoch, 8000);
	chief_leads(&theirs, 1);
	ck_assert_int_eq(ours.ended, 0);
	chief_returns(&ours);
	pthread_join(thread, NULL);
	pair_flush();
	test_never(line_count() != 1, QUIET_MS);
	ck_assert_int_eq(ours.begun, 1);
	leave_both();
}
END_TEST

/* --- Frames -------------------------------------------------------------- */

static const int codes[] = { ZK_OP_CREATE2, ZK_OP_CHILDREN2, ZK_OP_SYNC,
	ZK_OP_CREATE_CONTAINER, ZK_OP_DELETE };
#define CODES 5

START_TEST(S06_a_fault_at_any_frame_leaves_one_node)
{
	/* SYNC is sent on a new connection, so the connection must break
	   first. */
	if (codes[_i % CODES] == ZK_OP_SYNC)
		proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	inject_frame(_i / CODES ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND,
		codes[_i % CODES], 1);
	chief_run(&ours, client, chief_options("ours", 1));
	chief_leads(&ours, 1);
	chief_node(&ours, client);
	check_err(kustos_selector_interrupt(ours.selector), KUSTOS_OK);
	chief_ended(&ours, 1);
	chief_leads(&ours, 2);
	pair_flush();
	line_wait(1);
	chief_node(&ours, client);
	chief_end(&ours);
	pair_flush();
}
END_TEST

/* Without this, the test above might have tested nothing. */
START_TEST(S06_each_kind_of_frame_has_failed_in_both_ways)
{
	ck_assert_int_eq(inject_untried(codes, CODES), 0);
}
END_TEST

/* --- Many ---------------------------------------------------------------- */

#define CROWD 4
#define MOVES 400

/* Selectors are created, destroyed, interrupted and requeued at random while
   connections break: terms must not overlap, and nothing may be left behind. */
START_TEST(L13_selectors_come_and_go)
{
	static struct chief all[CROWD];
	atomic_int inside = 0;
	unsigned seed = (unsigned)test_now_us();
	int64_t end = test_now_ms() + 15000;
	int terms = 0;

	for (int i = 0; i < CROWD; i++)
		all[i].selector = NULL;
	/* On a slow machine they have few terms in this many moves. */
	for (int i = 0; i < MOVES || (terms <= CROWD && test_now_ms() < end);
		i++) {
		struct chief *c = &all[rand_r(&seed) / 16 % CROWD];

		test_pause_1ms();
		if (c->selector == NULL) {
			chief_make(c, c == all ? other : client,
				chief_options(NULL, i % 2));
			c->inside = &inside;
			atomic_store(&c->stays, i % 3 != 0);
			check_err(kustos_selector_start(c->selector),
				KUSTOS_OK);
			continue;
		}
		switch (rand_r(&seed) / 16 % 5) {
		case 0:
			chief_end(c);
			terms += c->ended;
			break;
		case 1:
			kustos_selector_interrupt(c->selector);
			break;
		case 2:
			if (i % 8 == 0)
				proxy_cut(proxy);
			break;
		default:
			check_err(kustos_selector_requeue(c->selector),
				KUSTOS_OK);
		}
	}
	for (int i = 0; i < CROWD; i++) {
		if (all[i].selector == NULL)
			continue;
		chief_end(&all[i]);
		terms += all[i].ended;
	}
	printf("%d terms\n", terms);
	ck_assert_int_gt(terms, CROWD);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("selector, faults");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t,
		S05_a_leader_that_lost_its_session_stays_out_until_it_returns,
		0, 2);
	tcase_add_test(t,
		S09_a_leader_whose_node_is_deleted_stays_out_until_it_returns);
	tcase_add_test(t, S05_a_requeue_of_a_lost_leader_waits_for_its_return);
	tcase_add_test(t,
		S01_a_leader_in_a_void_is_asked_before_the_next_leads);
	tcase_add_test(t, U02_a_leader_that_is_disconnected_leads_on);
	tcase_add_test(t, U02_a_cautious_leader_is_asked_at_once);
	tcase_add_test(t, S11_a_candidate_whose_session_died_does_not_lead);
	tcase_add_loop_test(t, S05_a_close_and_a_loss_meet, 0, 2);
	tcase_add_loop_test(t, S06_a_fault_at_any_frame_leaves_one_node, 0,
		CODES * 2);
	tcase_add_test(t, S06_each_kind_of_frame_has_failed_in_both_ways);
	tcase_add_test(t, L13_selectors_come_and_go);
	return fixture_main(s);
}
