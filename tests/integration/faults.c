/* faults.c - what tests of faults share. */
#include "faults.h"

#include "inject.h"
#include "rawkill.h"

#include <errno.h>

#define TURNS 60

const int fault_codes[FAULT_CODES] = { ZK_OP_CREATE2, ZK_OP_CHILDREN2,
	ZK_OP_GET, ZK_OP_DELETE, ZK_OP_SYNC, ZK_OP_CREATE_CONTAINER };

void faults_open(int timeout_ms)
{
	struct kustos_client_options o;

	inject_reset();
	o = pair_proxy(timeout_ms);
	o.retry = kustos_retry_forever(5);
	pair_open_with(&o, 0);
}

void faults_disconnect(void)
{
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
}

void faults_leave_unheard(struct rival *rival, bool on_its_way)
{
	if (on_its_way) {
		proxy_arm(proxy, PROXY_DROP_EVENT, PROXY_ANY, 1);
		rival_leave(rival);
		test_eventually(proxy_fired(proxy) == 1, 2000);
		proxy_cut(proxy);
	} else {
		faults_disconnect();
		rival_leave(rival);
		inject_connect(0);
	}
}

void faults_give_cut_off(struct kustos_hold *hold, struct ask *a)
{
	faults_disconnect();
	hold_give(hold);
	check_err(kustos_client_flush(client, kustos_after_ms(50), NULL),
		KUSTOS_ETIMEDOUT);
	ck_assert(ask_waits(a));
	inject_connect(0);
	check_err(ask_wait(a, 5000), KUSTOS_OK);
}

void fault_arm(const struct faults_lock *it, int fault)
{
	bool applied = fault / FAULT_CODES / it->points == 1;
	int code = it->codes[fault % FAULT_CODES];

	/* SYNC is what a new connection sends first, and EXISTS asks whether a
	   deletion was done: neither is sent unless something else fails
	   before. */
	if (code == ZK_OP_SYNC)
		proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	if (code == ZK_OP_EXISTS)
		proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_DELETE, 1);
	inject_frame(applied ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND, code,
		1 + fault / FAULT_CODES % it->points);
}

/* The lock of the tests below, and the fault that fault_arm_own() arms. */
static const struct faults_lock *lock;
static int own;

void fault_arm_own(void)
{
	fault_arm(lock, own);
}

START_TEST(S06_a_fault_at_any_frame_of_a_cycle_leaves_nothing)
{
	fault_arm(lock, _i);
	lock->cycle();
	lock->cycle();
}
END_TEST

START_TEST(S06_a_fault_at_any_frame_of_a_wait_leaves_nothing)
{
	own = _i;
	lock->wait();
}
END_TEST

/* Without this, the tests above might have tested nothing. */
START_TEST(S06_each_kind_of_frame_has_failed_in_both_ways)
{
	ck_assert_int_eq(inject_untried(lock->codes, FAULT_CODES), 0);
}
END_TEST

static void flush_both(void)
{
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}

/* A release that cannot be sent is carried out once it can be. */
START_TEST(U06_a_release_while_disconnected_is_carried_out_later)
{
	struct kustos_hold *hold = lock->take(false);
	struct ask a = { .calls = 0 };

	lock->ask(&a, true);
	faults_give_cut_off(hold, &a);
	check_node(a.hold, other);
	hold_give(a.hold);
	flush_both();
}
END_TEST

/* The outcome of a release is unknown, because its answer or the request was
   lost.  Before the release is retried, LINE is removed and another client
   acquires the lock. */
START_TEST(S10_a_late_retry_of_a_release_touches_nobody_else)
{
	struct kustos_hold *hold = lock->take(false), *theirs;
	int rc;

	inject_connect(ECONNREFUSED);
	proxy_arm(proxy, _i == 0 ? PROXY_LOSE_REPLY : PROXY_LOSE_REQUEST,
		ZK_OP_DELETE, 1);
	hold_give(hold);
	test_eventually(proxy_fired(proxy) == 1, 2000);
	rc = raw_delete_tree(fixture_address(), LINE);
	ck_assert(rc == 0 || rc == RAW_NONODE);
	theirs = lock->take(true);
	inject_connect(0);
	pair_flush();
	check_node(theirs, other);
	ck_assert_int_eq(kustos_hold_state(theirs), KUSTOS_HOLD_HELD);
	hold_give(theirs);
	flush_both();
}
END_TEST

/* The same, but the releaser's session ends before the release can be
   retried. */
START_TEST(S10_a_release_ends_with_its_session)
{
	struct kustos_hold *hold = lock->take(false), *theirs;
	int64_t id = client_session_id(client);

	faults_disconnect();
	hold_give(hold);
	ck_assert_int_eq(raw_kill_session(fixture_address(), id), 0);
	theirs = lock->take(true);
	inject_connect(0);
	client_wait_epoch(client, 1, 8000);
	pair_flush();
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_DELETE), 0);
	check_node(theirs, other);
	hold_give(theirs);
	flush_both();
}
END_TEST

/* Both clients take turns while the connection of one fails again and again. */
START_TEST(S06_turns_go_on_while_connections_fail)
{
	static struct ask asks[TURNS];
	static atomic_int inside;
	int made;

	proxy_reset_counts(proxy);
	for (int i = 0; i < TURNS; i++) {
		asks[i].release = true;
		asks[i].inside = &inside;
		lock->ask(&asks[i], i % 2 == 0);
		if (i % 10 == 5)
			proxy_cut(proxy);
	}
	for (int i = 0; i < TURNS; i++) {
		if (i % 15 == 7)
			proxy_cut(proxy);
		check_err(ask_wait(&asks[i], 20000), KUSTOS_OK);
	}
	flush_both();
	/* At most one node for each attempt to send the request. */
	made = proxy_count(proxy, ZK_OP_CREATE2);
	ck_assert_int_ge(made, TURNS / 2);
	if (lock->one_node)
		ck_assert_int_le(made, TURNS / 2 + 2 * TURNS / 2);
}
END_TEST

void faults_add(TCase *t, const struct faults_lock *it)
{
	int count = FAULTS(it->points);

	lock = it;
	tcase_add_loop_test(t,
		S06_a_fault_at_any_frame_of_a_cycle_leaves_nothing, 0, count);
	tcase_add_loop_test(t,
		S06_a_fault_at_any_frame_of_a_wait_leaves_nothing, 0, count);
	tcase_add_test(t, S06_each_kind_of_frame_has_failed_in_both_ways);
	if (it->take == NULL)
		return;
	tcase_add_test(t,
		U06_a_release_while_disconnected_is_carried_out_later);
	tcase_add_loop_test(t,
		S10_a_late_retry_of_a_release_touches_nobody_else, 0, 2);
	tcase_add_test(t, S10_a_release_ends_with_its_session);
	tcase_add_test(t, S06_turns_go_on_while_connections_fail);
}
