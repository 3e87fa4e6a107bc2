/*
 * test_mutex_faults.c - a frame is lost at any point of an acquire or a
 * release: there is one node while the lock is held and none afterwards, and no
 * node of another contender is touched.  inject.h fails to send the n-th frame
 * of a kind, or loses its reply.
 */
#include "faults.h"
#include "inject.h"

#include <kustos/cancel.h>

#include <errno.h>

#define T_MS 12000

static void set_up(void)
{
	faults_open(T_MS);
}

static void tear_down(void)
{
	inject_reset();
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

/* Acquire, check that there is one node, which is ours, and release. */
static void one_cycle(void)
{
	struct kustos_hold *hold = hold_take(mutex);

	if (kustos_hold_state(hold) != KUSTOS_HOLD_LOST) {
		check_node(hold, client);
		ck_assert_int_eq(line_count(), 1);
	}
	(void)kustos_hold_release(hold);
	pair_flush();
	ck_assert_int_eq(line_count(), 0);
}

static void one_wait(void)
{
	struct ask ours[2] = { { .calls = 0 } };
	struct rival line[3];

	for (int i = 0; i < 3; i++)
		rival_enter(&line[i]);
	fault_arm_own();
	for (int i = 0; i < 2; i++)
		ask(&ours[i], mutex, SOON);
	line_wait(5);
	for (int i = 0; i < 3; i++)
		rival_leave(&line[i]);
	for (int i = 0; i < 2; i++) {
		test_eventually(!ask_waits(&ours[0]) || !ask_waits(&ours[1]),
			8000);
		struct ask *a = ask_waits(&ours[0]) ? &ours[1] : &ours[0];
		check_err(ask_wait(a, 8000), KUSTOS_OK);
		check_node(a->hold, client);
		ck_assert_int_eq(line_count(), 2 - i);
		hold_give(a->hold);
		atomic_store(&a->calls, 0);
		pair_flush();
	}
}

static struct kustos_hold *take(bool by_other)
{
	return hold_take(by_other ? rivals : mutex);
}

static void ask_it(struct ask *a, bool by_other)
{
	ask(a, by_other ? rivals : mutex, SOON);
}

static const struct faults_lock faulty = {
	.codes = fault_codes,
	.points = 2,
	.cycle = one_cycle,
	.wait = one_wait,
	.take = take,
	.ask = ask_it,
	.one_node = true,
};

/* Give up while the fault is in effect, and before the client can recover. */
START_TEST(L05_giving_up_amid_a_fault_leaves_nothing)
{
	struct kustos_hold *hold = NULL;
	struct rival rival;
	int code = fault_codes[_i / 2 % FAULT_CODES];

	rival_enter(&rival);
	if (_i % 2)
		inject_frame(INJECT_HOLD_REPLY, code, 1);
	else
		fault_arm(&faulty, _i / 2);
	check_err(kustos_mutex_acquire(mutex, kustos_after_ms(40), NULL, &hold),
		KUSTOS_ETIMEDOUT);
	if (_i % 2 && code == ZK_OP_DELETE)
		test_eventually(inject_fired() == 1, 2000);
	inject_release();
	inject_reset();
	rival_leave(&rival);
	pair_flush();
	ck_assert_int_eq(line_count(), 0);
	one_cycle();
}
END_TEST

/* The connection breaks during the creation, and is gone for as long as the
   caller waits. */
START_TEST(L05_giving_up_while_disconnected_leaves_nothing_once_connected)
{
	struct ask a = { .calls = 0 };

	hold_give(hold_take(mutex)); /* so that the line exists */
	pair_flush();
	inject_connect(ECONNREFUSED);
	proxy_arm(proxy, _i == 0 ? PROXY_LOSE_REPLY : PROXY_LOSE_REQUEST,
		ZK_OP_CREATE2, 1);
	ask(&a, mutex, kustos_after_ms(1500));
	test_eventually(proxy_fired(proxy) == 1, 1500);
	check_err(ask_wait(&a, 2000), KUSTOS_ETIMEDOUT);
	ck_assert_int_eq(line_count(), _i == 0 ? 1 : 0);
	check_err(kustos_client_flush(client, kustos_after_ms(20), NULL),
		KUSTOS_ETIMEDOUT);
	inject_connect(0);
	pair_flush();
	ck_assert_int_eq(line_count(), 0);
}
END_TEST

/* Both share a node, which was created for the try. */
START_TEST(a_try_that_is_given_up_on_its_way_fails_nobody_who_waits)
{
	struct ask tries = { .calls = 0 }, waits = { .calls = 0 };
	struct kustos_mutex *shared = mutex_new(client, 32);
	struct kustos_cancel *cancel = NULL;
	struct rival rival;

	rival_enter(&rival);
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_CHILDREN2, 1);
	check_err(kustos_mutex_acquire_async(shared, KUSTOS_NOW, cancel,
			  ask_ended, &tries),
		KUSTOS_OK);
	ask(&waits, shared, SOON);
	test_eventually(inject_fired() == 1, 2000);
	kustos_cancel_fire(cancel);
	check_err(ask_wait(&tries, 2000), KUSTOS_ECANCELED);
	inject_release();
	pair_flush();
	rival_leave(&rival);
	check_err(ask_wait(&waits, 2000), KUSTOS_OK);
	check_node(waits.hold, client);
	hold_give(waits.hold);
	kustos_mutex_destroy(shared);
	kustos_cancel_destroy(cancel);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, faults");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	faults_add(t, &faulty);
	tcase_add_loop_test(t, L05_giving_up_amid_a_fault_leaves_nothing, 0,
		2 * FAULTS(2));
	tcase_add_loop_test(t,
		L05_giving_up_while_disconnected_leaves_nothing_once_connected,
		0, 2);
	tcase_add_test(t,
		a_try_that_is_given_up_on_its_way_fails_nobody_who_waits);
	return fixture_main(s);
}
