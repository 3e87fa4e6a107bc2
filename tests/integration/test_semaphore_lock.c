/*
 * test_semaphore_lock.c - the lock that is made of a semaphore for one.
 */
#include "semaphore_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define T_MS 40000

/* It is for one, whatever the options say. */
static struct kustos_semaphore_mutex *lock_new(struct kustos_client *owner)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_semaphore_mutex *lock = NULL;

	o.max = 2;
	o.max_path = NUMBER;
	check_err(kustos_semaphore_mutex_create(owner, SEM, &o, &lock),
		KUSTOS_OK);
	return lock;
}

static void *unlock(void *arg)
{
	return (void *)(intptr_t)kustos_semaphore_mutex_unlock(arg);
}

START_TEST(U01_any_thread_unlocks_the_lock_of_a_semaphore)
{
	struct kustos_semaphore_mutex *mine, *theirs;
	pthread_t thread;
	void *got = NULL;

	pair_open(T_MS, 0);
	mine = lock_new(client);
	theirs = lock_new(other);
	check_err(kustos_semaphore_mutex_unlock(mine), KUSTOS_ENOTHELD);
	ck_assert_ptr_null(kustos_semaphore_mutex_hold(mine));
	check_err(kustos_semaphore_mutex_lock(mine, SOON, NULL), KUSTOS_OK);
	check_node(kustos_semaphore_mutex_hold(mine), client);
	/* It does not nest, and excludes others. */
	check_err(kustos_semaphore_mutex_lock(mine, KUSTOS_NOW, NULL),
		KUSTOS_EBUSY);
	check_err(
		kustos_semaphore_mutex_lock(theirs, kustos_after_ms(30), NULL),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_semaphore_mutex_unlock(theirs), KUSTOS_ENOTHELD);
	ck_assert_int_eq(pthread_create(&thread, NULL, unlock, mine), 0);
	ck_assert_int_eq(pthread_join(thread, &got), 0);
	check_err((enum kustos_err)(intptr_t)got, KUSTOS_OK);
	check_err(kustos_semaphore_mutex_lock(theirs, SOON, NULL), KUSTOS_OK);
	kustos_semaphore_mutex_destroy(theirs);
	check_err(kustos_semaphore_mutex_lock(mine, SOON, NULL), KUSTOS_OK);
	check_err(kustos_semaphore_mutex_unlock(mine), KUSTOS_OK);
	kustos_semaphore_mutex_destroy(mine);
	sem_pair_close();
}
END_TEST

/* As a semaphore for one it can be acquired together with other locks. */
START_TEST(the_lock_of_a_semaphore_is_taken_together_with_others)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_semaphore_mutex *theirs;
	struct kustos_semaphore *same = NULL;
	struct kustos_lockable both[2];
	struct kustos_hold *hold = NULL;

	pair_open(T_MS, 0);
	theirs = lock_new(other);
	o.max = 1;
	check_err(kustos_semaphore_create(client, SEM, &o, &same), KUSTOS_OK);
	both[0] = kustos_semaphore_lockable(same);
	both[1] = kustos_mutex_lockable(mutex);
	check_err(kustos_semaphore_mutex_lock(theirs, SOON, NULL), KUSTOS_OK);
	check_err(kustos_acquire_all(both, 2, KUSTOS_NOW, NULL, &hold),
		KUSTOS_EBUSY);
	check_err(kustos_semaphore_mutex_unlock(theirs), KUSTOS_OK);
	check_err(kustos_acquire_all(both, 2, SOON, NULL, &hold), KUSTOS_OK);
	check_err(kustos_semaphore_mutex_lock(theirs, KUSTOS_NOW, NULL),
		KUSTOS_EBUSY);
	ck_assert_int_eq(kustos_semaphore_disagrees(same), 0);
	hold_give(hold);
	check_err(kustos_semaphore_mutex_lock(theirs, SOON, NULL), KUSTOS_OK);
	kustos_semaphore_mutex_destroy(theirs);
	kustos_semaphore_destroy(same);
	sem_pair_close();
}
END_TEST

START_TEST(the_lease_of_a_lock_tells_who_has_it_if_it_is_to)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_participants *list = NULL;
	struct kustos_semaphore_mutex *mine;

	pair_open(T_MS, 0);
	o.holder_record = 1;
	o.reason = "spring-cleaning";
	check_err(kustos_semaphore_mutex_create(client, SEM, &o, &mine),
		KUSTOS_OK);
	check_err(kustos_semaphore_mutex_lock(mine, SOON, NULL), KUSTOS_OK);
	check_err(kustos_participants(client, LEASES, SOON, NULL, &list),
		KUSTOS_OK);
	ck_assert_uint_eq(list->count, 1);
	const char *data = list->list[0]->data;
	ck_assert_int_eq(data[0], '{');
	ck_assert_ptr_nonnull(strstr(data, "spring-cleaning"));
	kustos_participants_free(list);
	kustos_semaphore_mutex_destroy(mine);
	sem_pair_close();
}
END_TEST

START_TEST(S05_a_lock_that_was_lost_has_to_be_unlocked_first)
{
	struct kustos_semaphore_mutex *mine;
	struct kustos_hold *hold;

	pair_open(T_MS, 0);
	mine = lock_new(client);
	ck_assert_int_eq(kustos_semaphore_mutex_token(mine), 0);
	check_err(kustos_semaphore_mutex_lock(mine, SOON, NULL), KUSTOS_OK);
	hold = kustos_semaphore_mutex_hold(mine);
	ck_assert_int_eq(kustos_semaphore_mutex_token(mine),
		kustos_hold_token(hold));
	ck_assert_int_eq(raw_delete(fixture_address(), kustos_hold_path(hold)),
		0);
	hold_wait(hold, KUSTOS_HOLD_LOST, 1000);
	ck_assert_int_eq(kustos_semaphore_mutex_token(mine), 0);
	check_err(kustos_semaphore_mutex_lock(mine, SOON, NULL), KUSTOS_ELOST);
	check_err(kustos_semaphore_mutex_unlock(mine), KUSTOS_ELOST);
	check_err(kustos_semaphore_mutex_lock(mine, SOON, NULL), KUSTOS_OK);
	check_err(kustos_semaphore_mutex_unlock(mine), KUSTOS_OK);
	kustos_semaphore_mutex_destroy(mine);
	sem_pair_close();
}
END_TEST

/* And that is said at once, although another holds it. */
START_TEST(S05_who_has_lost_a_lock_does_not_wait_for_it)
{
	struct kustos_semaphore_mutex *mine, *theirs;

	pair_open(T_MS, 0);
	mine = lock_new(client);
	theirs = lock_new(other);
	check_err(kustos_semaphore_mutex_lock(mine, SOON, NULL), KUSTOS_OK);
	struct kustos_hold *hold = kustos_semaphore_mutex_hold(mine);
	ck_assert_int_eq(raw_delete(fixture_address(), kustos_hold_path(hold)),
		0);
	hold_wait(hold, KUSTOS_HOLD_LOST, 1000);
	check_err(kustos_semaphore_mutex_lock(theirs, SOON, NULL), KUSTOS_OK);
	check_err(
		kustos_semaphore_mutex_lock(mine, kustos_after_ms(1000), NULL),
		KUSTOS_ELOST);
	ck_assert_int_eq(sem_count(LOCKS), 0);
	check_err(kustos_semaphore_mutex_unlock(mine), KUSTOS_ELOST);
	check_err(kustos_semaphore_mutex_lock(mine, KUSTOS_NOW, NULL),
		KUSTOS_EBUSY);
	check_err(kustos_semaphore_mutex_unlock(theirs), KUSTOS_OK);
	check_err(kustos_semaphore_mutex_lock(mine, SOON, NULL), KUSTOS_OK);
	kustos_semaphore_mutex_destroy(mine);
	kustos_semaphore_mutex_destroy(theirs);
	sem_pair_close();
}
END_TEST

static atomic_int stands_still, may_go_on;

static void stand_still(int sig)
{
	(void)sig;
	atomic_store(&stands_still, 1);
	while (!atomic_load(&may_go_on))
		test_pause_1ms();
}

static void *lock_it(void *arg)
{
	return (void *)(intptr_t)kustos_semaphore_mutex_lock(arg,
		KUSTOS_FOREVER, NULL);
}

START_TEST(a_lock_that_is_destroyed_is_waited_for_no_more)
{
	struct kustos_semaphore_mutex *mine, *theirs;
	pthread_t thread;
	void *got = NULL;

	pair_open(T_MS, 0);
	mine = lock_new(client);
	theirs = lock_new(other);
	check_err(kustos_semaphore_mutex_lock(theirs, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, lock_it, mine), 0);
	sem_wait_count(LOCKS, 1);
	kustos_semaphore_mutex_destroy(mine);
	ck_assert_int_eq(pthread_join(thread, &got), 0);
	check_err((enum kustos_err)(intptr_t)got, KUSTOS_ECLOSED);
	sem_wait_count(LOCKS, 0);
	kustos_semaphore_mutex_destroy(theirs);
	sem_pair_close();
}
END_TEST

/* The lock is granted to a thread that has not woken up yet.  Then the lock is
   destroyed, so the thread could not unlock it. */
START_TEST(a_lock_that_a_destruction_overtakes_is_given_back)
{
	struct sigaction action = { .sa_handler = stand_still };
	struct kustos_semaphore_mutex *mine, *theirs;
	pthread_t thread;
	void *got = NULL;

	pair_open(T_MS, 0);
	mine = lock_new(client);
	theirs = lock_new(other);
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	check_err(kustos_semaphore_mutex_lock(theirs, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, lock_it, mine), 0);
	sem_wait_count(LOCKS, 1);
	sem_wait_count(LEASES, 2);
	check_err(kustos_sync(client, "/", SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(pthread_kill(thread, SIGUSR1), 0);
	test_eventually(atomic_load(&stands_still), 3000);
	check_err(kustos_semaphore_mutex_unlock(theirs), KUSTOS_OK);
	sem_wait_count(LOCKS, 0); /* it is granted */
	kustos_semaphore_mutex_destroy(mine);
	atomic_store(&may_go_on, 1);
	ck_assert_int_eq(pthread_join(thread, &got), 0);
	check_err((enum kustos_err)(intptr_t)got, KUSTOS_ECLOSED);
	kustos_semaphore_mutex_destroy(theirs);
	sem_pair_close();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("semaphore, its lock");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_test(t, U01_any_thread_unlocks_the_lock_of_a_semaphore);
	tcase_add_test(t,
		the_lock_of_a_semaphore_is_taken_together_with_others);
	tcase_add_test(t, the_lease_of_a_lock_tells_who_has_it_if_it_is_to);
	tcase_add_test(t, S05_a_lock_that_was_lost_has_to_be_unlocked_first);
	tcase_add_test(t, S05_who_has_lost_a_lock_does_not_wait_for_it);
	tcase_add_test(t, a_lock_that_is_destroyed_is_waited_for_no_more);
	tcase_add_test(t, a_lock_that_a_destruction_overtakes_is_given_back);
	return fixture_main(s);
}
