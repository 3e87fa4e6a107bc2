/*
 * test_queued.c - the callback on_queued: a waiter is told that it has a place
 * in the line, and which node that is.
 */
#include "rwlock_fixture.h"

#include <kustos/participant.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define T_MS 8000
#define NOTICES 8

/* What "queued" was called with. */
static struct {
	pthread_mutex_t mutex;
	atomic_int count;
	char paths[NOTICES][128];
	struct kustos_mutex *destroys; /* in the callback */
	atomic_bool stays;	       /* in it, until this is false */
} told = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void queued(void *arg, const char *path)
{
	ck_assert_ptr_eq(arg, &told);
	pthread_mutex_lock(&told.mutex);
	int at = atomic_load(&told.count);
	ck_assert_int_lt(at, NOTICES);
	snprintf(told.paths[at], sizeof(told.paths[at]), "%s", path);
	pthread_mutex_unlock(&told.mutex);
	atomic_store(&told.count, at + 1);
	kustos_mutex_destroy(told.destroys);
	test_eventually(!atomic_load(&told.stays), 1000);
}

static struct kustos_mutex *told_mutex(int handoffs)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *made;

	o.local_handoffs = handoffs;
	o.on_queued = queued;
	o.on_queued_arg = &told;
	check_err(kustos_mutex_create(client, LINE, &o, &made), KUSTOS_OK);
	return made;
}

static void wait_told(int count)
{
	test_eventually(atomic_load(&told.count) >= count, 2000);
	ck_assert_int_eq(atomic_load(&told.count), count);
}

/* Check that the place at "index" has this node. */
static void check_place(const char *path, int index)
{
	struct kustos_participants *all;

	check_err(kustos_participants(client, LINE, SOON, NULL, &all),
		KUSTOS_OK);
	ck_assert_uint_gt(all->count, (size_t)index);
	ck_assert_str_eq(all->list[index]->path, path);
	kustos_participants_free(all);
}

static void set_up(void)
{
	memset(told.paths, 0, sizeof(told.paths));
	atomic_store(&told.count, 0);
	atomic_store(&told.stays, false);
	told.destroys = NULL;
	pair_open(T_MS, 0);
}

/* Wait behind "hold".  The waiter is told its node once, and is granted that
   node. */
static void wait_behind(struct kustos_hold *hold, struct kustos_mutex *waits)
{
	struct ask a = { .calls = 0 };

	ask(&a, waits, SOON);
	wait_told(1);
	ck_assert(ask_waits(&a));
	check_place(told.paths[0], 1);
	hold_give(hold);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	ck_assert_str_eq(kustos_hold_path(a.hold), told.paths[0]);
	hold_give(a.hold);
	kustos_mutex_destroy(waits);
	ck_assert_int_eq(atomic_load(&told.count), 1);
}

static void wait_for_each(struct ask asks[3])
{
	for (int i = 0; i < 3; i++) {
		check_err(ask_wait(&asks[i], 2000), KUSTOS_OK);
		hold_give(asks[i].hold);
	}
}

START_TEST(U07_who_waits_is_told_its_node)
{
	wait_behind(hold_take(rivals), told_mutex(_i));
}
END_TEST

START_TEST(U07_who_is_alone_or_tries_once_is_told_nothing)
{
	struct kustos_mutex *waits = told_mutex(_i);
	struct kustos_hold *mine = hold_take(waits);

	hold_give(mine);
	pair_flush();
	struct kustos_hold *hold = hold_take(rivals);
	check_err(kustos_mutex_acquire(waits, KUSTOS_NOW, NULL, &mine),
		KUSTOS_EBUSY);
	/* The next report comes after all of this. */
	wait_behind(hold, waits);
}
END_TEST

START_TEST(U07_who_waits_behind_its_own_process_is_told)
{
	struct kustos_mutex *waits = told_mutex(0);

	wait_behind(hold_take(waits), waits);
}
END_TEST

/* This is known without asking the server. */
START_TEST(U07_who_waits_behind_a_wait_of_its_own_process_is_told)
{
	struct kustos_mutex *waits = told_mutex(0);
	struct kustos_hold *hold = hold_take(rivals);
	struct ask asks[3] = { { .calls = 0 } };

	for (int i = 0; i < 3; i++) {
		ask(&asks[i], waits, SOON);
		wait_told(i + 1);
		check_place(told.paths[i], i + 1);
	}
	hold_give(hold);
	wait_for_each(asks);
	kustos_mutex_destroy(waits);
	ck_assert_int_eq(atomic_load(&told.count), 3);
}
END_TEST

START_TEST(U07_a_new_node_is_told_of_again)
{
	struct kustos_mutex *waits = told_mutex(32);
	struct kustos_hold *hold = hold_take(rivals);
	struct ask a = { .calls = 0 };

	ask(&a, waits, SOON);
	wait_told(1);
	client_kill_session(client);
	wait_told(2);
	ck_assert_str_ne(told.paths[0], told.paths[1]);
	check_place(told.paths[1], 1);
	hold_give(hold);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	ck_assert_str_eq(kustos_hold_path(a.hold), told.paths[1]);
	hold_give(a.hold);
	kustos_mutex_destroy(waits);
}
END_TEST

/* One listing serves all readers that wait for one writer. */
START_TEST(U07_each_of_several_readers_is_told)
{
	struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;
	struct kustos_rwlock *reads, *writes = rw_new(other, 0);
	struct ask asks[3] = { 0 };

	o.local_handoffs = 0;
	o.on_queued = queued;
	o.on_queued_arg = &told;
	check_err(kustos_rwlock_create(client, LINE, &o, &reads), KUSTOS_OK);
	rw_lock(writes, KUSTOS_WRITE);
	for (int i = 0; i < 3; i++)
		rw_ask(&asks[i], reads, KUSTOS_READ, SOON);
	wait_told(3);
	rw_unlock(writes, KUSTOS_WRITE);
	wait_for_each(asks);
	kustos_rwlock_destroy(reads);
	kustos_rwlock_destroy(writes);
}
END_TEST

START_TEST(a_lock_may_be_destroyed_while_its_wait_is_told)
{
	struct kustos_mutex *waits = told_mutex(_i);
	struct kustos_hold *hold = hold_take(rivals);
	struct ask a = { .calls = 0 };

	told.destroys = waits;
	ask(&a, waits, SOON);
	check_err(ask_wait(&a, 2000), KUSTOS_ECLOSED);
	wait_told(1);
	hold_give(hold);
}
END_TEST

static atomic_bool lane_stays;

static void stay(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	check_err(err, KUSTOS_OK);
	*(struct kustos_hold **)arg = hold;
	test_eventually(!atomic_load(&lane_stays), 1000);
}

/* The report is queued behind another callback when the lock is destroyed. */
START_TEST(who_waits_before_a_lock_that_is_gone_is_told_no_more)
{
	struct kustos_mutex *waits = told_mutex(_i), *elsewhere = NULL;
	struct kustos_hold *hold = hold_take(rivals), *busy = NULL;
	struct ask a = { .calls = 0 };

	check_err(kustos_mutex_create(client, "/elsewhere", NULL, &elsewhere),
		KUSTOS_OK);
	atomic_store(&lane_stays, true);
	check_err(
		kustos_mutex_acquire_async(elsewhere, SOON, NULL, stay, &busy),
		KUSTOS_OK);
	pair_flush(); /* its callback is running by now */
	ask(&a, waits, SOON);
	line_wait(2);
	pair_flush();
	kustos_mutex_destroy(waits);
	atomic_store(&lane_stays, false);
	check_err(ask_wait(&a, 2000), KUSTOS_ECLOSED);
	ck_assert_int_eq(atomic_load(&told.count), 0);
	hold_give(busy);
	kustos_mutex_destroy(elsewhere);
	hold_give(hold);
}
END_TEST

static void *destroy(void *arg)
{
	kustos_mutex_destroy(arg);
	ck_assert(!atomic_load(&told.stays));
	return NULL;
}

START_TEST(a_lock_is_not_destroyed_under_a_callback_of_another_thread)
{
	struct kustos_mutex *waits = told_mutex(_i);
	struct kustos_hold *hold = hold_take(rivals);
	struct ask a = { .calls = 0 };
	pthread_t thread;

	atomic_store(&told.stays, true);
	ask(&a, waits, SOON);
	wait_told(1);
	ck_assert_int_eq(pthread_create(&thread, NULL, destroy, waits), 0);
	/* By then it is being destroyed. */
	test_eventually(kustos_mutex_acquire(waits, KUSTOS_NOW, NULL,
				&a.hold) == KUSTOS_ECLOSED,
		2000);
	atomic_store(&told.stays, false);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	check_err(ask_wait(&a, 2000), KUSTOS_ECLOSED);
	hold_give(hold);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queued");
	TCase *t = fixture_case(s, "told", 30);

	tcase_add_checked_fixture(t, set_up, pair_close);
	tcase_add_loop_test(t, U07_who_waits_is_told_its_node, 0, 2);
	tcase_add_loop_test(t, U07_who_is_alone_or_tries_once_is_told_nothing,
		0, 2);
	tcase_add_test(t, U07_who_waits_behind_its_own_process_is_told);
	tcase_add_test(t,
		U07_who_waits_behind_a_wait_of_its_own_process_is_told);
	tcase_add_test(t, U07_a_new_node_is_told_of_again);
	tcase_add_test(t, U07_each_of_several_readers_is_told);
	tcase_add_loop_test(t, a_lock_may_be_destroyed_while_its_wait_is_told,
		0, 2);
	tcase_add_loop_test(t,
		who_waits_before_a_lock_that_is_gone_is_told_no_more, 0, 2);
	tcase_add_loop_test(t,
		a_lock_is_not_destroyed_under_a_callback_of_another_thread, 0,
		2);
	return fixture_main(s);
}
