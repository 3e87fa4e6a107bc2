/* test_waker.c - waker.h: when waiting threads are woken, and what becomes of
   their wakers. */
#include "unit.h"

#include "client.h"

#include <string.h>

#define MORE (KU_WAKERS_NOTED + 2)

static struct kustos_client client;
static struct ku_waker *wakers[MORE];
static int signals[MORE];
static bool locked;

int __wrap_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	locked = pthread_mutex_trylock(&client.mutex) != 0;
	if (!locked)
		pthread_mutex_unlock(&client.mutex);
	for (int i = 0; i < MORE; i++)
		signals[i] += wakers[i] != NULL && cond == &wakers[i]->cond;
	return 0;
}

static void take(int count)
{
	for (int i = 0; i < count; i++) {
		wakers[i] = ku_waker_take(&client);
		ck_assert_ptr_nonnull(wakers[i]);
	}
}

static void put(int count)
{
	for (int i = 0; i < count; i++)
		ku_waker_put(&client, wakers[i]);
}

static void setup(void)
{
	memset(&client, 0, sizeof(client));
	memset(signals, 0, sizeof(signals));
	memset(wakers, 0, sizeof(wakers));
	ck_assert_int_eq(pthread_mutex_init(&client.mutex, NULL), 0);
}

static void teardown(void)
{
	ku_wakers_free(&client.wakers);
	pthread_mutex_destroy(&client.mutex);
}

START_TEST(a_waker_that_was_put_back_is_taken_again)
{
	struct ku_waker *first[3];

	take(3);
	memcpy(first, wakers, sizeof(first));
	put(3);
	take(3);
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_eq(wakers[i], first[2 - i]);
	put(3);
}
END_TEST

START_TEST(who_is_woken_by_a_thread_of_the_program_is_woken_at_once)
{
	take(1);
	ku_lock(&client);
	ku_waker_wake(&client, wakers[0]);
	ck_assert_int_eq(signals[0], 1);
	ku_unlock(&client);
	put(1);
}
END_TEST

/* More than are noted are woken at once. */
START_TEST(who_is_woken_by_a_thread_of_a_handle_is_woken_after_it_unlocks)
{
	take(MORE);
	ku_lock_to_wake(&client);
	for (int i = 0; i < MORE; i++) {
		ku_waker_wake(&client, wakers[i]);
		ck_assert_int_eq(signals[i], i < KU_WAKERS_NOTED ? 0 : 1);
	}
	ku_unlock_and_wake(&client);
	ck_assert(!locked);
	for (int i = 0; i < MORE; i++)
		ck_assert_int_eq(signals[i], 1);
	put(MORE);
}
END_TEST

START_TEST(nobody_is_woken_twice)
{
	take(2);
	ku_lock_to_wake(&client);
	ku_waker_wake(&client, wakers[0]);
	ku_unlock_and_wake(&client);
	ku_lock(&client);
	ku_waker_wake(&client, wakers[1]);
	ck_assert_int_eq(signals[1], 1);
	ku_unlock(&client);
	ku_lock_to_wake(&client);
	ku_unlock_and_wake(&client);
	ck_assert_int_eq(signals[0], 1);
	ck_assert_int_eq(signals[1], 1);
	put(2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("waker");
	TCase *t = tcase_create("woken");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_waker_that_was_put_back_is_taken_again);
	tcase_add_test(t,
		who_is_woken_by_a_thread_of_the_program_is_woken_at_once);
	tcase_add_test(t,
		who_is_woken_by_a_thread_of_a_handle_is_woken_after_it_unlocks);
	tcase_add_test(t, nobody_is_woken_twice);
	suite_add_tcase(s, t);
	return unit_main(s);
}
