/*
 * test_lockable.c - several locks acquired together: all or none, in one order,
 * and lost together.
 */
#include <kustos/cancel.h>
#include <kustos/lockable.h>
#include <kustos/rwlock.h>

#include "simple_fixture.h"

#include <string.h>

#define T_MS 9000
#define PARTS 3

/* A mutex on /x/b, a writer on /x/a, and a simple lock on /x/c, for each
   client. */
static const char *const paths[PARTS] = { "/x/b", "/x/a", "/x/c" };
static struct kustos_mutex *mutexes[2];
static struct kustos_rwlock *rwlocks[2];
static struct kustos_simple *simples[2];

static void set_up(void)
{
	pair_open_behind_proxy(T_MS, 0);
	for (int i = 0; i < 2; i++) {
		struct kustos_client *c = i == 0 ? client : other;

		check_err(kustos_mutex_create(c, paths[0], NULL, &mutexes[i]),
			KUSTOS_OK);
		check_err(kustos_rwlock_create(c, paths[1], NULL, &rwlocks[i]),
			KUSTOS_OK);
		check_err(kustos_simple_create(c, paths[2], NULL, &simples[i]),
			KUSTOS_OK);
	}
}

static void tear_down(void)
{
	for (int i = 0; i < 2; i++) {
		kustos_mutex_destroy(mutexes[i]);
		kustos_rwlock_destroy(rwlocks[i]);
		kustos_simple_destroy(simples[i]);
	}
	pair_close();
	for (int i = 0; i < PARTS; i++)
		ck_assert_int_le(
			raw_count_children(fixture_address(), paths[i]), 0);
	ck_assert_int_ne(raw_exists(fixture_address(), paths[2], NULL), 0);
}

static void parts_of(int i, struct kustos_lockable *out)
{
	out[0] = kustos_mutex_lockable(mutexes[i]);
	out[1] = kustos_rwlock_lockable(rwlocks[i], KUSTOS_WRITE);
	out[2] = kustos_simple_lockable(simples[i]);
}

static enum kustos_err take(int i, kustos_deadline deadline,
	struct kustos_hold **out)
{
	struct kustos_lockable parts[PARTS];

	parts_of(i, parts);
	return kustos_acquire_all(parts, PARTS, deadline, NULL, out);
}

static struct kustos_hold *take_all(int i)
{
	struct kustos_hold *hold = NULL;

	check_err(take(i, SOON, &hold), KUSTOS_OK);
	ck_assert_ptr_nonnull(hold);
	return hold;
}

/* Check that all of them are free. */
static void check_free(int i)
{
	struct kustos_hold *hold = NULL;

	check_err(kustos_client_flush(i == 0 ? other : client, SOON, NULL),
		KUSTOS_OK);
	check_err(take(i, KUSTOS_NOW, &hold), KUSTOS_OK);
	hold_give(hold);
}

START_TEST(all_are_taken_in_one_order_and_given_back_together)
{
	struct kustos_hold *hold = take_all(0), *none = NULL;
	int64_t tokens[PARTS];

	for (int i = 0; i < PARTS; i++) {
		struct kustos_hold *part = kustos_hold_part(hold, (size_t)i);

		ck_assert_int_eq(strncmp(kustos_hold_path(part), paths[i],
					 strlen(paths[i])),
			0);
		check_node(part, client);
		tokens[i] = kustos_hold_token(part);
		ck_assert_ptr_null(kustos_hold_part(part, 0));
	}
	ck_assert_ptr_null(kustos_hold_part(hold, PARTS));
	ck_assert_int_lt(tokens[1], tokens[0]); /* a, b, c */
	ck_assert_int_lt(tokens[0], tokens[2]);
	ck_assert_int_eq(kustos_hold_token(hold), tokens[2]);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	ck_assert_int_gt(kustos_hold_remaining_ms(hold), 0);
	check_err(take(1, KUSTOS_NOW, &none), KUSTOS_EBUSY);
	hold_give(hold);
	check_free(1);
}
END_TEST

/* "_i" is held by somebody else: the locks acquired before it are released
   again. */
START_TEST(if_one_cannot_be_had_none_is_kept)
{
	struct kustos_lockable theirs[PARTS];
	struct kustos_hold *one = NULL, *hold = NULL;
	struct kustos_cancel *cancel = NULL;
	struct kustos_lockable parts[PARTS];

	parts_of(1, theirs);
	parts_of(0, parts);
	check_err(kustos_acquire_all(&theirs[_i], 1, SOON, NULL, &one),
		KUSTOS_OK);
	check_err(take(0, KUSTOS_NOW, &hold), KUSTOS_EBUSY);
	check_err(take(0, kustos_after_ms(50), &hold), KUSTOS_ETIMEDOUT);
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	kustos_cancel_fire(cancel);
	check_err(kustos_acquire_all(parts, PARTS, SOON, cancel, &hold),
		KUSTOS_ECANCELED);
	kustos_cancel_destroy(cancel);
	ck_assert_ptr_null(hold);
	pair_flush();
	for (int i = 0; i < PARTS; i++) {
		if (i == _i)
			continue;
		check_err(kustos_acquire_all(&theirs[i], 1, KUSTOS_NOW, NULL,
				  &hold),
			KUSTOS_OK);
		hold_give(hold);
		hold = NULL;
	}
	hold_give(one);
	check_free(0);
}
END_TEST

static atomic_int inside;

/* The same locks, listed in reverse order. */
static void *go_round(void *arg)
{
	struct kustos_lockable parts[PARTS], turned[PARTS];
	int who = *(int *)arg;

	parts_of(who, parts);
	for (int i = 0; i < PARTS; i++)
		turned[i] = parts[PARTS - 1 - i];
	for (int i = 0; i < 20; i++) {
		struct kustos_hold *hold = NULL;

		if (kustos_acquire_all(who == 0 ? parts : turned, PARTS, SOON,
			    NULL, &hold) != KUSTOS_OK ||
			atomic_fetch_add(&inside, 1) != 0)
			return NULL;
		atomic_fetch_sub(&inside, 1);
		(void)kustos_hold_release(hold);
	}
	return arg;
}

START_TEST(those_who_list_them_in_other_orders_do_not_wait_in_a_circle)
{
	pthread_t threads[2];
	int who[2] = { 0, 1 };
	void *well;

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, go_round, &who[i]),
			0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &well), 0);
		ck_assert_ptr_nonnull(well);
	}
}
END_TEST

START_TEST(S09_all_are_lost_when_one_is_and_it_is_told_once)
{
	struct kustos_hold *hold = take_all(0);
	struct kustos_hold *part = kustos_hold_part(hold, (size_t)_i);
	int whole_lost = 0, part_lost = 0;

	check_err(kustos_hold_on_lost(hold, count_call, &whole_lost),
		KUSTOS_OK);
	check_err(kustos_hold_on_lost(part, count_call, &part_lost), KUSTOS_OK);
	ck_assert_int_eq(raw_delete(fixture_address(), kustos_hold_path(part)),
		0);
	hold_wait(hold, KUSTOS_HOLD_LOST, 3000);
	ck_assert_int_eq(kustos_hold_remaining_ms(hold), 0);
	test_eventually(calls_of(&whole_lost) == 1 && calls_of(&part_lost) == 1,
		3000);
	for (int i = 0; i < PARTS; i++)
		if (i != _i)
			check_node(kustos_hold_part(hold, (size_t)i), client);
	client_kill_session(client); /* and now the others are lost as well */
	client_wait_epoch(client, 1, 5000);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	ck_assert_int_eq(calls_of(&whole_lost), 1);
	check_free(1);
}
END_TEST

START_TEST(S02_a_guarded_transaction_checks_the_nodes_of_all)
{
	struct kustos_hold *hold = take_all(0);
	struct kustos_op_result result = { .err = KUSTOS_EINVAL };
	struct kustos_op op = { .kind = KUSTOS_OP_SET,
		.path = "/thing",
		.version = -1 };

	client_create(other, "/thing", 0);
	check_err(kustos_hold_multi(hold, &op, 1, SOON, NULL, &result),
		KUSTOS_OK);
	ck_assert_int_eq(result.stat.version, 1);
	/* Before the event can arrive. */
	proxy_set_delay(proxy, 0, 300);
	ck_assert_int_eq(
		raw_delete(fixture_address(),
			kustos_hold_path(kustos_hold_part(hold, (size_t)_i))),
		0);
	check_err(kustos_hold_multi(hold, &op, 1, SOON, NULL, NULL),
		KUSTOS_ELOST);
	proxy_set_delay(proxy, 0, 0);
	(void)kustos_hold_release(hold);
	ck_assert_int_eq(raw_delete(fixture_address(), "/thing"), 0);
}
END_TEST

/* A lock of the program's own: the first two, as one. */
static enum kustos_err take_two(void *two, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	return kustos_acquire_all(two, 2, deadline, cancel, out);
}

static enum kustos_err take_two_async(void *two, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg)
{
	return kustos_acquire_all_async(two, 2, deadline, cancel, granted, arg);
}

/* Acquire those two as one, and the third. */
static struct kustos_hold *take_nested(struct kustos_lockable *parts,
	bool async)
{
	struct kustos_lockable both[] = {
		{ client, "/x/two", parts, take_two, take_two_async, NULL },
		parts[2],
	};
	struct kustos_hold *hold = NULL;
	struct ask a = { .calls = 0 };

	if (!async) {
		check_err(kustos_acquire_all(both, 2, SOON, NULL, &hold),
			KUSTOS_OK);
		return hold;
	}
	check_err(kustos_acquire_all_async(both, 2, SOON, NULL, ask_ended, &a),
		KUSTOS_OK);
	check_err(ask_wait(&a, 5000), KUSTOS_OK);
	return a.hold;
}

/* Return the hold of number "i" of the three. */
static struct kustos_hold *nested_part(struct kustos_hold *hold, int i)
{
	struct kustos_hold *two = kustos_hold_part(hold, 0);

	return i < 2 ? kustos_hold_part(two, (size_t)i)
		     : kustos_hold_part(hold, 1);
}

START_TEST(what_holds_several_may_be_one_of_several)
{
	struct kustos_op op = { .kind = KUSTOS_OP_SET,
		.path = "/thing",
		.version = -1 };
	struct kustos_lockable parts[PARTS];

	parts_of(0, parts);
	hold_give(take_nested(parts, true));
	struct kustos_hold *hold = take_nested(parts, false);
	for (int i = 0; i < PARTS; i++)
		check_node(nested_part(hold, i), client);
	client_create(other, "/thing", 0);
	check_err(kustos_hold_multi(hold, &op, 1, SOON, NULL, NULL), KUSTOS_OK);
	proxy_set_delay(proxy, 0, 300); /* as above */
	ck_assert_int_eq(raw_delete(fixture_address(),
				 kustos_hold_path(nested_part(hold, _i))),
		0);
	check_err(kustos_hold_multi(hold, &op, 1, SOON, NULL, NULL),
		KUSTOS_ELOST);
	proxy_set_delay(proxy, 0, 0);
	hold_wait(hold, KUSTOS_HOLD_LOST, 3000);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	ck_assert_int_eq(raw_delete(fixture_address(), "/thing"), 0);
	check_free(1);
}
END_TEST

/* The session ends, and with it the lock acquired first, while the last one is
   still waited for. */
START_TEST(S11_one_that_is_lost_meanwhile_is_taken_again)
{
	struct kustos_lockable parts[PARTS];
	struct kustos_hold *last = simple_take(simples[1]);
	struct ask a = { .calls = 0 };

	parts_of(0, parts);
	check_err(kustos_acquire_all_async(parts, PARTS, SOON, NULL, ask_ended,
			  &a),
		KUSTOS_OK);
	test_eventually(raw_count_children(fixture_address(), paths[0]) == 1,
		5000);
	client_kill_session(client);
	client_wait_epoch(client, 1, 5000);
	ck_assert(ask_waits(&a));
	hold_give(last);
	check_err(ask_wait(&a, 8000), KUSTOS_OK);
	for (int i = 0; i < PARTS; i++)
		check_node(kustos_hold_part(a.hold, (size_t)i), client);
	hold_give(a.hold);
}
END_TEST

/* A lock of the program's own, the last one.  Before it is acquired, the
   session with the others ends. */
static enum kustos_err take_late(void *own, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	(void)own;
	client_kill_session(client);
	client_wait_epoch(client, 1, 5000);
	return kustos_simple_acquire(simples[0], deadline, cancel, out);
}

static enum kustos_err take_late_async(void *own, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg)
{
	(void)own;
	client_kill_session(client);
	client_wait_epoch(client, 1, 5000);
	return kustos_simple_acquire_async(simples[0], deadline, cancel,
		granted, arg);
}

START_TEST(S11_a_try_ends_if_one_is_lost_meanwhile)
{
	struct kustos_hold *hold = NULL;
	struct kustos_lockable parts[PARTS];
	struct ask a = { .calls = 0 };

	parts_of(0, parts);
	parts[2].acquire = take_late;
	parts[2].acquire_async = take_late_async;
	enum kustos_err err = _i == 0
		? kustos_acquire_all(parts, PARTS, KUSTOS_NOW, NULL, &hold)
		: kustos_acquire_all_async(parts, PARTS, KUSTOS_NOW, NULL,
			  ask_ended, &a);
	check_err(_i == 0 ? err : ask_wait(&a, 8000), KUSTOS_ELOST);
	check_free(1);
}
END_TEST

START_TEST(they_can_be_asked_for_without_waiting)
{
	struct kustos_lockable parts[PARTS];
	struct kustos_hold *hold = take_all(1);
	struct kustos_cancel *cancel = NULL;
	struct ask asks[3] = { { .calls = 0 } };

	parts_of(0, parts);
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	check_err(kustos_acquire_all_async(parts, PARTS, KUSTOS_NOW, NULL,
			  ask_ended, &asks[0]),
		KUSTOS_OK);
	check_err(ask_wait(&asks[0], 5000), KUSTOS_EBUSY);
	check_err(kustos_acquire_all_async(parts, PARTS, SOON, cancel,
			  ask_ended, &asks[1]),
		KUSTOS_OK);
	kustos_cancel_fire(cancel);
	check_err(ask_wait(&asks[1], 5000), KUSTOS_ECANCELED);
	kustos_cancel_destroy(cancel);
	check_err(kustos_acquire_all_async(parts, PARTS, SOON, NULL, ask_ended,
			  &asks[2]),
		KUSTOS_OK);
	ck_assert(ask_waits(&asks[2]));
	hold_give(hold);
	check_err(ask_wait(&asks[2], 5000), KUSTOS_OK);
	hold_give(asks[2].hold);
	check_free(1);
}
END_TEST

/* Objects that a program leaves behind if it closes their client first. */
static struct kustos_rwlock *left_rwlock;
static struct kustos_mutex *left_mutex;

/* It holds the first of two locks, and waits for the second. */
START_TEST(L01_closing_a_client_ends_each_wait_once_and_keeps_none)
{
	struct kustos_client *victim = client_connected(fixture_address(),
		T_MS);
	struct kustos_hold *hold = NULL;
	struct ask asks[4] = { { .calls = 0 } };

	check_err(kustos_rwlock_create(victim, paths[1], NULL, &left_rwlock),
		KUSTOS_OK);
	check_err(kustos_mutex_create(victim, paths[0], NULL, &left_mutex),
		KUSTOS_OK);
	check_err(kustos_mutex_acquire(mutexes[1], SOON, NULL, &hold),
		KUSTOS_OK);
	struct kustos_lockable both[] = {
		kustos_mutex_lockable(left_mutex),
		kustos_rwlock_lockable(left_rwlock, KUSTOS_WRITE),
	};
	for (int i = 0; i < 4; i++)
		check_err(kustos_acquire_all_async(both, 2, KUSTOS_FOREVER,
				  NULL, ask_ended, &asks[i]),
			KUSTOS_OK);
	test_eventually(raw_count_children(fixture_address(), paths[0]) == 2,
		5000);
	client_close(victim);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(asks[i].calls, 1);
		check_err(asks[i].err, KUSTOS_ECLOSED);
	}
	hold_give(hold);
	check_free(1);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
	struct kustos_lockable parts[PARTS], wrong[2];
	struct kustos_hold *hold = NULL;

	parts_of(0, parts);
	check_err(kustos_acquire_all(NULL, 1, SOON, NULL, &hold),
		KUSTOS_EINVAL);
	check_err(kustos_acquire_all(parts, 0, SOON, NULL, &hold),
		KUSTOS_EINVAL);
	check_err(kustos_acquire_all(parts, 1, SOON, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_acquire_all_async(parts, 1, SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	wrong[0] = parts[0];
	wrong[1] = parts[0];
	check_err(kustos_acquire_all(wrong, 2, SOON, NULL, &hold),
		KUSTOS_EDEADLK);
	wrong[1] = kustos_simple_lockable(simples[1]); /* another client */
	check_err(kustos_acquire_all(wrong, 2, SOON, NULL, &hold),
		KUSTOS_EINVAL);
	wrong[0] = kustos_mutex_lockable(NULL);
	check_err(kustos_acquire_all(wrong, 1, SOON, NULL, &hold),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(hold);
	ck_assert_ptr_null(kustos_hold_part(NULL, 0));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("several locks");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, all_are_taken_in_one_order_and_given_back_together);
	tcase_add_loop_test(t, if_one_cannot_be_had_none_is_kept, 0, PARTS);
	tcase_add_test(t,
		those_who_list_them_in_other_orders_do_not_wait_in_a_circle);
	tcase_add_loop_test(t, S09_all_are_lost_when_one_is_and_it_is_told_once,
		0, PARTS);
	tcase_add_loop_test(t,
		S02_a_guarded_transaction_checks_the_nodes_of_all, 0, PARTS);
	tcase_add_loop_test(t, what_holds_several_may_be_one_of_several, 0,
		PARTS);
	tcase_add_test(t, S11_one_that_is_lost_meanwhile_is_taken_again);
	tcase_add_loop_test(t, S11_a_try_ends_if_one_is_lost_meanwhile, 0, 2);
	tcase_add_test(t, they_can_be_asked_for_without_waiting);
	tcase_add_test(t,
		L01_closing_a_client_ends_each_wait_once_and_keeps_none);
	tcase_add_test(t, wrong_arguments_are_refused);
	return fixture_main(s);
}
