/*
 * test_simple_faults.c - the simple lock while frames, connections, sessions
 * and nodes are lost: the holder has the node, and nobody else's is touched.
 * inject.h loses the frames; sessions are ended and nodes deleted from outside.
 */
#include "faults.h"
#include "inject.h"
#include "rawkill.h"
#include "simple_fixture.h"

#include <errno.h>
#include <kustos/node.h>
#include <kustos/participant.h>
#include <pthread.h>

#define T_MS 12000

static void set_up(void)
{
	faults_open(T_MS);
	simple_pair_make();
}

static void tear_down(void)
{
	inject_reset();
	simple_pair_close();
}

/* Acquire, check that the node is ours, and release. */
static void one_cycle(void)
{
	struct kustos_hold *hold = simple_take(simple);

	check_node(hold, client);
	hold_give(hold);
	pair_flush();
	ck_assert(!node_there());
}

static const int codes[FAULT_CODES] = { ZK_OP_CREATE2, ZK_OP_EXISTS, ZK_OP_GET,
	ZK_OP_DELETE, ZK_OP_SYNC, ZK_OP_CREATE_CONTAINER };

static void one_wait(void)
{
	struct ask asks[2] = { { .calls = 0 } };
	struct rival rival;

	node_take(&rival);
	fault_arm_own();
	for (int i = 0; i < 2; i++)
		simple_ask(&asks[i], simple, SOON);
	wait_until_watched(1);
	rival_leave(&rival);
	for (int i = 0; i < 2; i++) {
		check_err(ask_wait(&asks[i], 8000), KUSTOS_OK);
		check_node(asks[i].hold, client);
		ck_assert(i == 1 || ask_waits(&asks[1]));
		hold_give(asks[i].hold);
	}
	pair_flush();
	ck_assert(!node_there());
}

static struct kustos_hold *take(bool by_other)
{
	return simple_take(by_other ? simple_rivals : simple);
}

static void ask_it(struct ask *a, bool by_other)
{
	simple_ask(a, by_other ? simple_rivals : simple, SOON);
}

static const struct faults_lock faulty = {
	.codes = codes,
	.points = 2,
	.cycle = one_cycle,
	.wait = one_wait,
	.take = take,
	.ask = ask_it,
};

/* The answer comes after the caller has given up, or never. */
START_TEST(L05_giving_up_before_it_is_known_leaves_nothing)
{
	struct kustos_hold *hold = NULL;

	hold_give(simple_take(simple)); /* so that its parents exist */
	pair_flush();
	int sent = inject_sent(ZK_OP_CREATE2);
	inject_frame(_i == 0 ? INJECT_HOLD_REPLY : INJECT_LOSE_REPLY,
		ZK_OP_CREATE2, 1);
	if (_i > 0)
		inject_connect(ECONNREFUSED);
	/* Before it is retried, and after that; but once it has been sent. */
	for (int i = 0; i < 20 && inject_sent(ZK_OP_CREATE2) == sent; i++)
		check_err(kustos_simple_acquire(simple,
				  kustos_after_ms(_i == 2 ? 50 : 300), NULL,
				  &hold),
			KUSTOS_ETIMEDOUT);
	test_eventually(node_there(), 3000); /* the server may be slower */
	inject_release();
	inject_connect(0);
	pair_flush();
	ck_assert(!node_there());
	one_cycle();
}
END_TEST

/* Two objects of one client.  The answer to the first one's creation is lost,
   and the second must not take that node for its own. */
START_TEST(S06_one_of_a_clients_two_objects_has_it)
{
	struct kustos_simple *twin = simple_new(client, 0);
	struct ask asks[2] = { { .calls = 0 } };

	hold_give(simple_take(simple));
	pair_flush();
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	simple_ask(&asks[0], simple, SOON);
	simple_ask(&asks[1], twin, SOON);
	for (int i = 0; i < 2; i++) {
		test_eventually(!ask_waits(&asks[0]) || !ask_waits(&asks[1]),
			5000);
		struct ask *a = ask_waits(&asks[0]) ? &asks[1] : &asks[0];

		check_err(ask_wait(a, 5000), KUSTOS_OK);
		ck_assert_int_eq(proxy_fired(proxy), 1);
		check_node(a->hold, client);
		ck_assert(i == 1 || ask_waits(&asks[0]) || ask_waits(&asks[1]));
		hold_give(a->hold);
		a->calls = 0;
	}
	kustos_simple_destroy(twin);
	pair_flush();
}
END_TEST

START_TEST(S09_a_holder_whose_node_was_deleted_knows_and_spares_the_next)
{
	struct kustos_hold *hold = simple_take(simple);
	struct rival rival;
	int lost = 0;

	check_err(kustos_hold_on_lost(hold, count_call, &lost), KUSTOS_OK);
	wait_until_watched(1);
	ck_assert_int_eq(raw_delete(fixture_address(), LINE), 0);
	node_take(&rival);
	hold_wait(hold, KUSTOS_HOLD_LOST, 2000);
	test_eventually(calls_of(&lost) == 1, 2000);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	pair_flush();
	ck_assert(node_there());
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_DELETE), 0);
	rival_leave(&rival);
}
END_TEST

/* The node is deleted, and created by somebody else, while the client is cut
   off.  The lock is released at the moment of the reconnect, or later. */
START_TEST(S09_a_node_of_others_is_spared_after_a_disconnect)
{
	struct kustos_hold *hold = simple_take(simple);
	struct rival rival;

	if (_i >= 2)
		wait_until_watched(1);
	faults_disconnect();
	ck_assert_int_eq(raw_delete(fixture_address(), LINE), 0);
	node_take(&rival);
	inject_connect(0);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	if (_i % 2 == 1)
		hold_wait(hold, KUSTOS_HOLD_LOST, 5000);
	(void)kustos_hold_release(hold);
	pair_flush();
	ck_assert(node_there());
	rival_leave(&rival);
}
END_TEST

/* Released while the client is cut off; afterwards the answer to its first look
   at the node is lost. */
START_TEST(S10_a_release_that_has_to_look_twice_spares_the_next_one)
{
	struct kustos_hold *hold = simple_take(simple);
	struct rival rival;

	faults_disconnect();
	hold_give(hold);
	ck_assert_int_eq(raw_delete(fixture_address(), LINE), 0);
	node_take(&rival);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_EXISTS, 1);
	inject_connect(0);
	pair_flush();
	ck_assert_int_eq(inject_fired(), 1);
	ck_assert(node_there());
	rival_leave(&rival);
}
END_TEST

/* The node has been created, and the client does not know it yet, when the
   session ends. */
START_TEST(S03_what_an_old_session_made_grants_nothing_in_a_new_one)
{
	struct ask a = { .calls = 0 };
	struct rival rival;

	hold_give(simple_take(simple));
	pair_flush();
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_CREATE2, 1);
	inject_connect(ECONNREFUSED);
	simple_ask(&a, simple, SOON);
	test_eventually(inject_fired() == 1 && node_there(), 3000);
	client_kill_session(client);
	node_take(&rival);
	inject_connect(0);
	client_wait_epoch(client, 1, 8000);
	wait_until_watched(1);
	ck_assert(ask_waits(&a));
	rival_leave(&rival);
	check_err(ask_wait(&a, 5000), KUSTOS_OK);
	check_node(a.hold, client);
	hold_give(a.hold);
}
END_TEST

static void *set_guarded(void *hold)
{
	struct kustos_op op = { .kind = KUSTOS_OP_SET,
		.path = "/thing",
		.data = "by us",
		.len = 5,
		.version = -1 };
	struct kustos_op_result result = { .err = KUSTOS_OK };

	check_err(kustos_hold_multi(hold, &op, 1, SOON, NULL, &result),
		KUSTOS_ELOST);
	check_err(result.err, KUSTOS_ELOST);
	return NULL;
}

/* When it could be sent, the node of this name is somebody else's. */
START_TEST(S02_a_guarded_transaction_that_waits_ends_with_the_hold)
{
	struct kustos_hold *hold = simple_take(simple);
	struct raw_stat stat;
	struct rival rival;
	pthread_t thread;

	ck_assert_int_eq(raw_create(fixture_address(), "/thing", "new"), 0);
	faults_disconnect();
	ck_assert_uint_eq(client_stats(client).waiting, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, set_guarded, hold), 0);
	test_eventually(client_stats(client).waiting == 1, 2000);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_UNSURE);
	client_kill_session(client);
	node_take(&rival);
	inject_connect(0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(raw_exists(fixture_address(), "/thing", &stat), 0);
	ck_assert_int_eq(stat.version, 0);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	client_wait_epoch(client, 1, 8000);
	rival_leave(&rival);
}
END_TEST

START_TEST(S11_a_waiter_waits_on_through_disconnects_and_sessions)
{
	struct ask a = { .calls = 0 };
	struct rival rival;

	node_take(&rival);
	simple_ask(&a, simple, SOON);
	wait_until_watched(1);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	client_kill_session(client);
	client_wait_epoch(client, 1, 8000);
	wait_until_watched(1);
	ck_assert(ask_waits(&a));
	if (_i == 1) { /* it goes while the client is cut off */
		faults_disconnect();
	}
	rival_leave(&rival);
	inject_connect(0);
	check_err(ask_wait(&a, 5000), KUSTOS_OK);
	check_node(a.hold, client);
	hold_give(a.hold);
}
END_TEST

/* The next holder's node has the same name. */
START_TEST(S10_a_break_whose_answer_is_lost_does_not_break_the_next_one)
{
	struct kustos_participants *p = NULL;
	struct ask a = { .calls = 0 };
	struct rival rival;

	node_take(&rival);
	simple_ask(&a, simple_rivals, SOON);
	pair_settle();
	check_err(kustos_participants(client, LINE, SOON, NULL, &p), KUSTOS_OK);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_DELETE, 1);
	check_err(kustos_participant_break(client, p->list[0], SOON, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(inject_fired(), 1);
	check_err(ask_wait(&a, 5000), KUSTOS_OK);
	check_node(a.hold, other);
	hold_give(a.hold);
	pair_settle();
	rival_leave(&rival);
	kustos_participants_free(p);
}
END_TEST

START_TEST(L20_a_try_does_not_wait_for_a_connection)
{
	faults_disconnect();
	check_err(simple_try(simple), KUSTOS_EDISCONNECTED);
	inject_connect(0);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	check_err(simple_try(simple), KUSTOS_OK);
}
END_TEST

static void add_node_tests(TCase *t)
{
	tcase_add_test(t,
		S09_a_holder_whose_node_was_deleted_knows_and_spares_the_next);
	tcase_add_loop_test(t,
		S09_a_node_of_others_is_spared_after_a_disconnect, 0, 4);
	tcase_add_test(t,
		S10_a_release_that_has_to_look_twice_spares_the_next_one);
	tcase_add_test(t,
		S03_what_an_old_session_made_grants_nothing_in_a_new_one);
	tcase_add_test(t,
		S02_a_guarded_transaction_that_waits_ends_with_the_hold);
	tcase_add_loop_test(t,
		S11_a_waiter_waits_on_through_disconnects_and_sessions, 0, 2);
	tcase_add_test(t,
		S10_a_break_whose_answer_is_lost_does_not_break_the_next_one);
	tcase_add_test(t, L20_a_try_does_not_wait_for_a_connection);
}

int main(void)
{
	Suite *s = suite_create("simple lock, faults");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	faults_add(t, &faulty);
	tcase_add_loop_test(t, L05_giving_up_before_it_is_known_leaves_nothing,
		0, 3);
	tcase_add_test(t, S06_one_of_a_clients_two_objects_has_it);
	add_node_tests(t);
	return fixture_main(s);
}
