/*
 * test_cancel_locks.c - which locks are taken when a cancel object fires, and
 * what links are tied to it then.  Linked with
 * -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_unlock.
 */
#include "unit.h"

#include "cancel.h"

#include <pthread.h>

/* How often a mutex was locked, and how often one was unlocked by a thread that
   did not hold it. */
static int locks, wrong_unlocks;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	locks++;
	return __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int err = __real_pthread_mutex_unlock(mutex);

	wrong_unlocks += err != 0;
	return err;
}

struct waiter {
	struct ku_cancel_link link; /* first: cast back from it */
	int calls;
	struct kustos_cancel *cancel;
	int locked; /* mutexes locked by its own call */
};

static struct kustos_cancel *one, *two;

static void setup(void)
{
	ck_assert_int_eq(kustos_cancel_create(&one), KUSTOS_OK);
	ck_assert_int_eq(kustos_cancel_create(&two), KUSTOS_OK);
	locks = wrong_unlocks = 0;
}

static void teardown(void)
{
	kustos_cancel_destroy(one);
	kustos_cancel_destroy(two);
}

static void count(struct ku_cancel_link *link)
{
	((struct waiter *)link)->calls++;
}

/* Fire again, and attach another link. */
static void use(struct ku_cancel_link *link)
{
	struct waiter *w = (struct waiter *)link, more = { 0 };
	int before = locks;

	kustos_cancel_fire(w->cancel);
	w->calls += !ku_cancel_attach(w->cancel, &more.link, count);
	w->locked = locks - before;
}

static void detach(struct ku_cancel_link *link)
{
	((struct waiter *)link)->calls++;
	ku_cancel_detach(link);
}

/* The thread that fires holds the lock, and would wait for itself. */
START_TEST(what_has_fired_is_fired_and_attached_to_without_its_lock)
{
	struct waiter w = { .cancel = one };

	ck_assert(ku_cancel_attach(one, &w.link, use));
	kustos_cancel_fire(one);
	ck_assert_int_eq(w.calls, 1);
	ck_assert_int_eq(w.locked, 0);
	ck_assert_int_eq(wrong_unlocks, 0);
}
END_TEST

START_TEST(whoever_fires_has_the_lock_until_all_were_called)
{
	struct waiter w[2] = { { .calls = 0 }, { .calls = 0 } };

	ck_assert(ku_cancel_attach(one, &w[0].link, detach));
	ck_assert(ku_cancel_attach(one, &w[1].link, detach));
	kustos_cancel_fire(one);
	ck_assert_int_eq(w[0].calls + w[1].calls, 2);
	ck_assert_int_eq(wrong_unlocks, 0);
}
END_TEST

START_TEST(a_link_that_was_called_is_tied_to_nobody)
{
	struct waiter a = { .calls = 0 }, b = { .calls = 0 };

	ck_assert(ku_cancel_attach(one, &a.link, count));
	ck_assert(ku_cancel_attach(one, &b.link, count));
	kustos_cancel_fire(one);
	ck_assert(ku_cancel_attach(two, &b.link, count));
	ku_cancel_detach(&a.link);
	ku_cancel_detach(&b.link);
	kustos_cancel_fire(two);
	ck_assert_int_eq(a.calls, 1);
	ck_assert_int_eq(b.calls, 1);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("cancel_locks");
	TCase *t = tcase_create("one thread");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		what_has_fired_is_fired_and_attached_to_without_its_lock);
	tcase_add_test(t, whoever_fires_has_the_lock_until_all_were_called);
	tcase_add_test(t, a_link_that_was_called_is_tied_to_nobody);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return unit_main(suite());
}
