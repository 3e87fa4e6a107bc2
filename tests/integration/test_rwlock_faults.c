/*
 * test_rwlock_faults.c - a frame is lost at any point of an acquire, a
 * downgrade or a release: each holder has one node while it holds and none
 * afterwards, and no node of another contender is touched.  inject.h fails to
 * send the n-th frame of a kind, or loses its reply.
 */
#include "faults.h"
#include "inject.h"
#include "rawkill.h"
#include "rwlock_fixture.h"

#include <kustos/cancel.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 8000

static void set_up(void)
{
	faults_open(T_MS);
	rw_pair_make(0);
}

static void tear_down(void)
{
	inject_reset();
	rw_pair_close();
}

/* Write, become a reader, and release that. */
static void one_cycle(void)
{
	struct kustos_hold *writer = rw_take(rw, KUSTOS_WRITE);
	struct kustos_hold *reader = rw_downgrade(rw, writer), *none = NULL;

	check_node(writer, client);
	rw_check_node(reader, client);
	ck_assert_int_eq(line_count(), 2);
	hold_give(writer);
	rw_flush();
	ck_assert_int_eq(line_count(), 1);
	check_err(kustos_rwlock_acquire(rw_rivals, KUSTOS_WRITE,
			  kustos_after_ms(20), NULL, &none),
		KUSTOS_ETIMEDOUT);
	rw_flush();
	hold_give(reader);
	rw_flush();
	ck_assert_int_eq(line_count(), 0);
}

/* Our four wait behind a writer and a reader that leave: a reader, a writer,
   and two readers. */
#define OURS 4

static void one_wait(void)
{
	static const enum kustos_side sides[OURS] = { KUSTOS_READ, KUSTOS_WRITE,
		KUSTOS_READ, KUSTOS_READ };
	struct ask ours[OURS] = { { .calls = 0 } };
	struct rival line[2];

	rw_rival_enter(&line[0], KUSTOS_WRITE);
	rw_rival_enter(&line[1], KUSTOS_READ);
	fault_arm_own();
	for (int i = 0; i < OURS; i++) {
		rw_ask(&ours[i], rw, sides[i], SOON);
		line_wait(3 + i);
	}
	rival_leave(&line[0]);
	check_err(ask_wait(&ours[0], 8000), KUSTOS_OK);
	rival_leave(&line[1]);
	check_node(ours[0].hold, client);
	ck_assert(ask_waits(&ours[1]));
	hold_give(ours[0].hold);
	check_err(ask_wait(&ours[1], 8000), KUSTOS_OK);
	check_node(ours[1].hold, client);
	rw_flush();
	ck_assert_int_eq(line_count(), 3);
	ck_assert(ask_waits(&ours[2]) && ask_waits(&ours[3]));
	hold_give(ours[1].hold);
	for (int i = 2; i < OURS; i++)
		check_err(ask_wait(&ours[i], 8000), KUSTOS_OK);
	for (int i = 2; i < OURS; i++) {
		check_node(ours[i].hold, client);
		hold_give(ours[i].hold);
	}
	rw_flush();
	ck_assert_int_eq(line_count(), 0);
}

static const struct faults_lock faulty = {
	.codes = fault_codes,
	.points = 3,
	.cycle = one_cycle,
	.wait = one_wait,
};

/* Give up while the fault is in effect, and before the client can recover. */
START_TEST(L05_giving_up_amid_a_fault_leaves_nothing)
{
	struct kustos_hold *hold = NULL;
	struct rival rival;
	enum kustos_side side = (enum kustos_side)(_i / FAULTS(3));

	rw_rival_enter(&rival, KUSTOS_WRITE);
	fault_arm(&faulty, _i % FAULTS(3));
	check_err(kustos_rwlock_acquire(rw, side, kustos_after_ms(40), NULL,
			  &hold),
		KUSTOS_ETIMEDOUT);
	inject_reset();
	rival_leave(&rival);
	rw_flush();
	ck_assert_int_eq(line_count(), 0);
	one_cycle();
}
END_TEST

/* The creation is under way when the writer loses everything. */
START_TEST(S13_a_writer_that_is_lost_meanwhile_leaves_no_reader)
{
	struct kustos_hold *writer = rw_take(rw, KUSTOS_WRITE), *none = NULL;

	proxy_set_mode(proxy, PROXY_HOLE);
	check_err(kustos_rwlock_downgrade(rw, writer, KUSTOS_FOREVER, NULL,
			  &none),
		KUSTOS_ELOST);
	ck_assert_ptr_null(none);
	ck_assert_int_eq(kustos_hold_state(writer), KUSTOS_HOLD_LOST);
	ck_assert_int_eq(
		raw_kill_session(fixture_address(), client_session_id(client)),
		0);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(kustos_hold_release(writer), KUSTOS_ELOST);
	hold_give(rw_take(rw_rivals, KUSTOS_WRITE));
	client_wait_epoch(client, 1, 8000);
}
END_TEST

/* The request has not reached the server, the writer's node is deleted, and
   another client writes.  When the request is sent again, it must not create a
   reader beside that writer. */
START_TEST(S13_a_writer_whose_place_another_has_leaves_no_reader)
{
	struct kustos_hold *writer = rw_take(rw, KUSTOS_WRITE), *theirs;
	struct ask a = { .calls = 0 };

	pair_flush();
	inject_connect(ECONNREFUSED);
	proxy_arm(proxy, PROXY_LOSE_REQUEST, ZK_OP_CREATE2, 1);
	check_err(kustos_rwlock_downgrade_async(rw, writer, SOON, NULL,
			  ask_ended, &a),
		KUSTOS_OK);
	test_eventually(proxy_fired(proxy) == 1, 2000);
	ck_assert_int_eq(
		raw_delete(fixture_address(), kustos_hold_path(writer)), 0);
	theirs = rw_take(rw_rivals, KUSTOS_WRITE);
	ck_assert(ask_waits(&a));
	inject_connect(0);
	check_err(ask_wait(&a, 3000), KUSTOS_ELOST);
	check_err(kustos_hold_release(writer), KUSTOS_ELOST);
	rw_flush();
	ck_assert_int_eq(line_count(), 1);
	ck_assert_int_eq(kustos_hold_state(theirs), KUSTOS_HOLD_HELD);
	hold_give(theirs);
}
END_TEST

/* The request goes out on a connection that is silent from then on. */
START_TEST(a_try_ends_with_its_connection)
{
	struct kustos_hold *writer = rw_take(rw, KUSTOS_WRITE), *none = NULL;

	proxy_set_mode(proxy, PROXY_HOLD);
	check_err(kustos_rwlock_downgrade(rw, writer, KUSTOS_NOW, NULL, &none),
		KUSTOS_EDISCONNECTED);
	ck_assert_ptr_null(none);
	ck_assert_int_eq(kustos_hold_state(writer), KUSTOS_HOLD_UNSURE);
	proxy_set_mode(proxy, PROXY_PASS);
	hold_wait(writer, KUSTOS_HOLD_HELD, 3000);
	rw_flush();
	ck_assert_int_eq(line_count(), 1);
	hold_give(writer);
}
END_TEST

static void *fire(void *cancel)
{
	test_eventually(inject_fired() == 1, 2000);
	kustos_cancel_fire(cancel);
	return NULL;
}

/* Nothing is left of it once its requests have ended, and its writer is not
   touched. */
START_TEST(L05_a_downgrade_that_is_given_up_leaves_nothing)
{
	struct kustos_hold *writer = rw_take(rw, KUSTOS_WRITE), *none = NULL;
	struct kustos_cancel *cancel;
	pthread_t thread;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_CREATE2, 1);
	if (_i == 0) {
		check_err(kustos_rwlock_downgrade(rw, writer,
				  kustos_after_ms(50), NULL, &none),
			KUSTOS_ETIMEDOUT);
	} else {
		ck_assert_int_eq(pthread_create(&thread, NULL, fire, cancel),
			0);
		check_err(kustos_rwlock_downgrade(rw, writer, SOON, cancel,
				  &none),
			KUSTOS_ECANCELED);
		pthread_join(thread, NULL);
	}
	ck_assert_ptr_null(none);
	line_wait(2);
	inject_reset();
	rw_flush();
	ck_assert_int_eq(line_count(), 1);
	check_node(writer, client);
	ck_assert_int_eq(kustos_hold_state(writer), KUSTOS_HOLD_HELD);
	hold_give(rw_downgrade(rw, writer));
	hold_give(writer);
	kustos_cancel_destroy(cancel);
}
END_TEST

/* When its caller gives up, there is no connection, and it is unknown whether
   the reader's node exists.  If it does, it must be found and deleted. */
START_TEST(L05_a_downgrade_that_is_given_up_while_disconnected_leaves_nothing)
{
	struct kustos_hold *writer = rw_take(rw, KUSTOS_WRITE), *none = NULL;

	rw_flush();
	inject_connect(ECONNREFUSED);
	proxy_arm(proxy, _i == 0 ? PROXY_LOSE_REPLY : PROXY_LOSE_REQUEST,
		ZK_OP_CREATE2, 1);
	check_err(kustos_rwlock_downgrade(rw, writer, kustos_after_ms(100),
			  NULL, &none),
		KUSTOS_ETIMEDOUT);
	test_eventually(proxy_fired(proxy) == 1, 2000);
	ck_assert_int_eq(line_count(), _i == 0 ? 2 : 1);
	inject_connect(0);
	rw_flush();
	ck_assert_int_eq(line_count(), 1);
	check_node(writer, client);
	hold_give(writer);
	hold_give(rw_take(rw_rivals, KUSTOS_WRITE));
}
END_TEST

/* A release that cannot be sent is carried out once it can be. */
START_TEST(U06_a_release_while_disconnected_is_carried_out_later)
{
	struct kustos_hold *hold = rw_take(rw, (enum kustos_side)_i);
	struct ask a = { .calls = 0 };

	rw_ask(&a, rw_rivals, KUSTOS_WRITE, SOON);
	line_wait(2);
	faults_give_cut_off(hold, &a);
	hold_give(a.hold);
	rw_flush();
}
END_TEST

static const enum proxy_fault delete_faults[] = { PROXY_LOSE_REPLY,
	PROXY_LOSE_REQUEST };

/* The answer to a reader's release is lost.  Before it is retried, the line is
   deleted and created again.  The server does not number the reader's node, so
   it must not be mistaken for a new one of the same number. */
START_TEST(S10_a_late_retry_of_a_release_touches_nobody_else)
{
	struct kustos_hold *writer = rw_take(rw, KUSTOS_WRITE);
	struct kustos_hold *reader = rw_downgrade(rw, writer);
	struct kustos_hold *theirs, *theirs_too;

	hold_give(writer);
	rw_flush();
	inject_connect(ECONNREFUSED);
	proxy_arm(proxy, delete_faults[_i], ZK_OP_DELETE, 1);
	hold_give(reader);
	test_eventually(proxy_fired(proxy) == 1, 2000);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), LINE), 0);
	theirs = rw_take(rw_rivals, KUSTOS_WRITE);
	theirs_too = rw_downgrade(rw_rivals, theirs);
	inject_connect(0);
	rw_flush();
	check_node(theirs, other);
	rw_check_node(theirs_too, other);
	ck_assert_int_eq(kustos_hold_state(theirs_too), KUSTOS_HOLD_HELD);
	ck_assert_int_eq(line_count(), 2);
	hold_give(theirs);
	hold_give(theirs_too);
	rw_flush();
}
END_TEST

#define ALLOCS 70 /* more than all this code makes */

/* A failed allocation is an error of the call, or has no effect.  There are no
   checks meanwhile, because libcheck allocates for each. */
START_TEST(an_allocation_that_fails_leaves_nothing)
{
	enum kustos_err errs[3] = { KUSTOS_OK, KUSTOS_OK, KUSTOS_OK };
	struct kustos_rwlock *lock = NULL;

	hold_give(rw_take(rw, KUSTOS_READ));
	rw_flush();
	inject_alloc(INJECT_PROGRAM, _i + 1);
	errs[0] = kustos_rwlock_create(client, LINE, NULL, &lock);
	if (lock != NULL)
		errs[1] = kustos_rwlock_lock(lock, KUSTOS_WRITE, SOON, NULL);
	if (lock != NULL && errs[1] == KUSTOS_OK)
		errs[2] = kustos_rwlock_lock(lock, KUSTOS_READ, SOON, NULL);
	(void)kustos_rwlock_unlock(lock, KUSTOS_WRITE);
	(void)kustos_rwlock_unlock(lock, KUSTOS_READ);
	kustos_rwlock_destroy(lock);
	inject_alloc(INJECT_PROGRAM, 0);
	for (int i = 0; i < 3; i++)
		ck_assert_msg(errs[i] == KUSTOS_OK || errs[i] == KUSTOS_ENOMEM,
			"call %d: %s", i, kustos_err_name(errs[i]));
	if (_i == ALLOCS - 1)
		check_err(errs[0] + errs[1] + errs[2], KUSTOS_OK);
	one_cycle();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rwlock, faults");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	faults_add(t, &faulty);
	tcase_add_loop_test(t, L05_giving_up_amid_a_fault_leaves_nothing, 0,
		FAULTS(3) * SIDES);
	tcase_add_test(t, S13_a_writer_that_is_lost_meanwhile_leaves_no_reader);
	tcase_add_test(t,
		S13_a_writer_whose_place_another_has_leaves_no_reader);
	tcase_add_test(t, a_try_ends_with_its_connection);
	tcase_add_loop_test(t, L05_a_downgrade_that_is_given_up_leaves_nothing,
		0, 2);
	tcase_add_loop_test(t,
		L05_a_downgrade_that_is_given_up_while_disconnected_leaves_nothing,
		0, 2);
	tcase_add_loop_test(t,
		U06_a_release_while_disconnected_is_carried_out_later, 0,
		SIDES);
	tcase_add_loop_test(t,
		S10_a_late_retry_of_a_release_touches_nobody_else, 0, 2);
	tcase_add_loop_test(t, an_allocation_that_fails_leaves_nothing, 0,
		ALLOCS);
	return fixture_main(s);
}
