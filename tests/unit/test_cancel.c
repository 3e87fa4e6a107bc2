/*
 * test_cancel.c - the cancel object, alone and between threads.
 * Linked as fault.h says, and with -Wl,--wrap=pthread_mutex_lock.
 */
#include "unit.h"

#include "cancel.h"
#include "fault.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Fired just before the next mutex is locked. */
static struct kustos_cancel *fired_first;

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct kustos_cancel *cancel = fired_first;

	if (cancel != NULL) {
		fired_first = NULL;
		kustos_cancel_fire(cancel);
	}
	return __real_pthread_mutex_lock(mutex);
}

struct waiter {
	struct ku_cancel_link link; /* first: cast back from it */
	int calls;
	struct waiter *other;
	struct kustos_cancel *cancel;
};

static struct waiter *waiter_of(struct ku_cancel_link *link)
{
	return (struct waiter *)link;
}

static void count(struct ku_cancel_link *link)
{
	waiter_of(link)->calls++;
}

static struct kustos_cancel *make(void)
{
	struct kustos_cancel *cancel = NULL;

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	ck_assert_ptr_nonnull(cancel);
	return cancel;
}

START_TEST(firing_calls_everyone_who_waits_once)
{
	struct kustos_cancel *cancel = make();
	struct waiter w[5];
	size_t i;

	memset(w, 0, sizeof(w));
	for (i = 0; i < UNIT_COUNT(w); i++)
		ck_assert(ku_cancel_attach(cancel, &w[i].link, count));
	ck_assert_int_eq(kustos_cancel_fired(cancel), 0);
	kustos_cancel_fire(cancel);
	kustos_cancel_fire(cancel);
	for (i = 0; i < UNIT_COUNT(w); i++) {
		ck_assert_int_eq(w[i].calls, 1);
		ku_cancel_detach(&w[i].link);
		ck_assert_ptr_null(w[i].link.cancel);
	}
	kustos_cancel_destroy(cancel);
}
END_TEST

START_TEST(once_fired_it_stays_fired)
{
	struct kustos_cancel *cancel = make();
	struct waiter w = { .link.cancel = cancel };

	kustos_cancel_fire(cancel);
	ck_assert_int_eq(kustos_cancel_fired(cancel), 1);
	ck_assert(!ku_cancel_attach(cancel, &w.link, count));
	ck_assert_ptr_null(w.link.cancel);
	ku_cancel_detach(&w.link);
	ck_assert_int_eq(w.calls, 0);
	ck_assert_int_eq(kustos_cancel_fired(cancel), 1);
	kustos_cancel_destroy(cancel);
}
END_TEST

START_TEST(firing_while_one_is_being_attached_is_not_missed)
{
	struct kustos_cancel *cancel = make();
	struct waiter w = { 0 };

	fired_first = cancel;
	ck_assert(!ku_cancel_attach(cancel, &w.link, count));
	ck_assert_ptr_null(fired_first);
	ck_assert_ptr_null(w.link.cancel);
	ck_assert_int_eq(w.calls, 0);
	kustos_cancel_destroy(cancel);
}
END_TEST

START_TEST(no_cancel_object_never_fires)
{
	struct kustos_cancel *other = make();
	struct waiter w = { .link.cancel = other };

	ck_assert_int_eq(kustos_cancel_create(NULL), KUSTOS_EINVAL);
	kustos_cancel_fire(NULL);
	ck_assert_int_eq(kustos_cancel_fired(NULL), 0);
	ck_assert(ku_cancel_attach(NULL, &w.link, count));
	ck_assert_ptr_null(w.link.cancel);
	ku_cancel_detach(&w.link);
	kustos_cancel_destroy(NULL);
	kustos_cancel_destroy(other);
}
END_TEST

START_TEST(whoever_left_is_not_called)
{
	struct kustos_cancel *cancel = make();
	struct waiter w[3];
	size_t i, left;

	for (left = 0; left < UNIT_COUNT(w); left++) {
		cancel = left == 0 ? cancel : make();
		memset(w, 0, sizeof(w));
		for (i = 0; i < UNIT_COUNT(w); i++)
			ck_assert(ku_cancel_attach(cancel, &w[i].link, count));
		ku_cancel_detach(&w[left].link);
		ku_cancel_detach(&w[left].link);
		kustos_cancel_fire(cancel);
		for (i = 0; i < UNIT_COUNT(w); i++)
			ck_assert_int_eq(w[i].calls, i != left);
		kustos_cancel_destroy(cancel);
	}
}
END_TEST

START_TEST(a_link_can_be_attached_again)
{
	struct kustos_cancel *a = make(), *b = make();
	struct waiter w = { 0 };

	ck_assert(ku_cancel_attach(a, &w.link, count));
	ku_cancel_detach(&w.link);
	ck_assert(ku_cancel_attach(b, &w.link, count));
	kustos_cancel_fire(a);
	ck_assert_int_eq(w.calls, 0);
	kustos_cancel_fire(b);
	ck_assert_int_eq(w.calls, 1);
	kustos_cancel_destroy(a);
	kustos_cancel_destroy(b);
}
END_TEST

static void detach_self_and_other(struct ku_cancel_link *link)
{
	struct waiter *w = waiter_of(link);

	w->calls++;
	ku_cancel_detach(link);
	ku_cancel_detach(link);
	if (w->other != NULL)
		ku_cancel_detach(&w->other->link);
}

START_TEST(a_function_may_detach_its_own_link_and_others)
{
	struct kustos_cancel *cancel = make();
	struct waiter w[3];
	size_t i;

	memset(w, 0, sizeof(w));
	w[0].other = &w[1];
	w[2].other = &w[0];
	for (i = 0; i < UNIT_COUNT(w); i++)
		ck_assert(ku_cancel_attach(cancel, &w[i].link,
			detach_self_and_other));
	kustos_cancel_fire(cancel);
	ck_assert_int_eq(w[0].calls, 1);
	ck_assert_int_eq(w[1].calls, 0);
	ck_assert_int_eq(w[2].calls, 1);
	for (i = 0; i < UNIT_COUNT(w); i++)
		ck_assert_ptr_null(w[i].link.cancel);
	kustos_cancel_destroy(cancel);
}
END_TEST

static int freed;

static void detach_and_free(struct ku_cancel_link *link)
{
	ku_cancel_detach(link);
	free(waiter_of(link));
	freed++;
}

static void just_free(struct ku_cancel_link *link)
{
	free(waiter_of(link));
	freed++;
}

START_TEST(a_function_may_free_its_link)
{
	struct kustos_cancel *cancel = make();
	struct waiter *w;
	int i;

	for (i = 0; i < 4; i++) {
		w = calloc(1, sizeof(*w));
		ck_assert(ku_cancel_attach(cancel, &w->link,
			i % 2 ? just_free : detach_and_free));
	}
	kustos_cancel_fire(cancel);
	ck_assert_int_eq(freed, 4);
	kustos_cancel_destroy(cancel);
}
END_TEST

static void use_the_cancel_object(struct ku_cancel_link *link)
{
	struct waiter *w = waiter_of(link), more = { 0 };

	w->calls += kustos_cancel_fired(w->cancel);
	kustos_cancel_fire(w->cancel);
	w->calls += !ku_cancel_attach(w->cancel, &more.link, count);
}

START_TEST(a_function_may_use_the_cancel_object)
{
	struct kustos_cancel *cancel = make();
	struct waiter w = { .cancel = cancel };

	ck_assert(ku_cancel_attach(cancel, &w.link, use_the_cancel_object));
	kustos_cancel_fire(cancel);
	ck_assert_int_eq(w.calls, 2);
	kustos_cancel_destroy(cancel);
}
END_TEST

/* What a child sees in its copy; "fired" is whether the object had fired. */
static int use_in_child(struct kustos_cancel *cancel, struct waiter *listed,
	int fired)
{
	struct waiter w = { 0 };

	kustos_cancel_fire(cancel);
	if (kustos_cancel_fired(cancel) != fired)
		return 1;
	if (ku_cancel_attach(cancel, &w.link, count) || w.link.cancel != NULL)
		return 2;
	if (ku_cancel_refusal(cancel) != KUSTOS_EFORKED)
		return 3;
	if (listed->calls != fired || w.calls != 0)
		return 4;
	kustos_cancel_destroy(cancel);
	return 0;
}

START_TEST(S24_a_child_can_only_free_it)
{
	struct kustos_cancel *cancel = make();
	struct waiter w = { 0 };
	int status;

	ck_assert(ku_cancel_attach(cancel, &w.link, count));
	if (_i == 1)
		kustos_cancel_fire(cancel);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		alarm(60);
		_exit(use_in_child(cancel, &w, _i));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert_int_eq(kustos_cancel_fired(cancel), _i);
	kustos_cancel_fire(cancel);
	ck_assert_int_eq(w.calls, 1);
	ck_assert_int_eq(ku_cancel_refusal(cancel), KUSTOS_ECANCELED);
	ku_cancel_detach(&w.link);
	kustos_cancel_destroy(cancel);
}
END_TEST

START_TEST(nothing_is_made_if_memory_is_short)
{
	struct kustos_cancel *cancel = NULL;
	int skip;

	for (skip = 0;; skip++) {
		fault_after(skip);
		if (kustos_cancel_create(&cancel) == KUSTOS_OK)
			break;
		ck_assert(fault_end());
		ck_assert_ptr_null(cancel);
	}
	ck_assert(!fault_end());
	ck_assert_int_eq(skip, 2); /* memory, then the mutex */
	kustos_cancel_destroy(cancel);
}
END_TEST

static void *fire(void *arg)
{
	kustos_cancel_fire(arg);
	return NULL;
}

/* A slow function.  It ends only after the detach on the other thread is about
   to begin. */
struct slow {
	struct ku_cancel_link link;
	atomic_bool entered, detaching, ended;
};

static void slow_fn(struct ku_cancel_link *link)
{
	struct slow *slow = (struct slow *)link;
	int i;

	atomic_store(&slow->entered, true);
	while (!atomic_load(&slow->detaching))
		sched_yield();
	for (i = 0; i < 20; i++) /* gives a wrong detach time to return */
		sched_yield();
	atomic_store(&slow->ended, true);
}

START_TEST(detaching_waits_for_the_function_on_another_thread)
{
	struct kustos_cancel *cancel;
	struct slow *slow;
	pthread_t thread;
	int round;

	for (round = 0; round < 20; round++) {
		cancel = make();
		slow = calloc(1, sizeof(*slow));
		ck_assert(ku_cancel_attach(cancel, &slow->link, slow_fn));
		ck_assert_int_eq(pthread_create(&thread, NULL, fire, cancel),
			0);
		while (!atomic_load(&slow->entered))
			sched_yield();
		atomic_store(&slow->detaching, true);
		ku_cancel_detach(&slow->link);
		ck_assert(atomic_load(&slow->ended));
		free(slow);
		pthread_join(thread, NULL);
		kustos_cancel_destroy(cancel);
	}
}
END_TEST

/* Many threads attach and detach again and again while another fires.  The
   schedule decides what is called, but nothing may be called twice, nor after a
   detach. */
struct race {
	struct kustos_cancel *cancel;
	pthread_barrier_t start;
	atomic_int wrong;
};

static void *wait_again_and_again(void *arg)
{
	struct race *race = arg;
	struct waiter *w;
	int i, fired;

	pthread_barrier_wait(&race->start);
	for (i = 0; i < 100000; i++) {
		w = calloc(1, sizeof(*w));
		fired = kustos_cancel_fired(race->cancel);
		if (!ku_cancel_attach(race->cancel, &w->link, count)) {
			free(w);
			break;
		}
		atomic_fetch_add(&race->wrong, fired);
		if (i % 16 == 0)
			sched_yield();
		ku_cancel_detach(&w->link);
		/* Without a lock: after the detach it is ours alone. */
		atomic_fetch_add(&race->wrong, w->calls > 1);
		free(w);
	}
	if (!kustos_cancel_fired(race->cancel))
		atomic_fetch_add(&race->wrong, i < 100000);
	return NULL;
}

static void *fire_in_the_race(void *arg)
{
	struct race *race = arg;
	int i;

	pthread_barrier_wait(&race->start);
	for (i = 0; i < 20; i++)
		sched_yield();
	kustos_cancel_fire(race->cancel);
	return NULL;
}

START_TEST(waits_and_firing_may_race)
{
	enum { THREADS = 5 };
	pthread_t thread[THREADS];
	struct race race;
	int round, i;

	atomic_init(&race.wrong, 0);
	for (round = 0; round < 100; round++) {
		race.cancel = make();
		pthread_barrier_init(&race.start, NULL, THREADS);
		for (i = 0; i < THREADS; i++)
			ck_assert_int_eq(pthread_create(&thread[i], NULL,
						 i < 3 ? wait_again_and_again
						       : fire_in_the_race,
						 &race),
				0);
		for (i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		pthread_barrier_destroy(&race.start);
		kustos_cancel_destroy(race.cancel);
	}
	ck_assert_int_eq(atomic_load(&race.wrong), 0);
}
END_TEST

START_TEST(whoever_stays_is_called_once_however_many_fire)
{
	enum { THREADS = 3, WAITERS = 20 };
	struct kustos_cancel *cancel;
	struct waiter w[WAITERS];
	pthread_t thread[THREADS];
	int round, i;

	for (round = 0; round < 100; round++) {
		cancel = make();
		memset(w, 0, sizeof(w));
		for (i = 0; i < WAITERS; i++)
			ck_assert(ku_cancel_attach(cancel, &w[i].link, count));
		for (i = 0; i < THREADS; i++)
			ck_assert_int_eq(
				pthread_create(&thread[i], NULL, fire, cancel),
				0);
		for (i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		for (i = 0; i < WAITERS; i++)
			ck_assert_int_eq(w[i].calls, 1);
		kustos_cancel_destroy(cancel);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cancel");
	TCase *alone = tcase_create("alone");
	TCase *threads = tcase_create("threads");

	tcase_add_test(alone, firing_calls_everyone_who_waits_once);
	tcase_add_test(alone, once_fired_it_stays_fired);
	tcase_add_test(alone, firing_while_one_is_being_attached_is_not_missed);
	tcase_add_test(alone, no_cancel_object_never_fires);
	tcase_add_test(alone, whoever_left_is_not_called);
	tcase_add_test(alone, a_link_can_be_attached_again);
	tcase_add_test(alone, a_function_may_detach_its_own_link_and_others);
	tcase_add_test(alone, a_function_may_free_its_link);
	tcase_add_test(alone, a_function_may_use_the_cancel_object);
	tcase_add_loop_test(alone, S24_a_child_can_only_free_it, 0, 2);
	tcase_add_test(alone, nothing_is_made_if_memory_is_short);
	suite_add_tcase(suite, alone);

	tcase_set_timeout(threads, 60);
	tcase_add_test(threads,
		detaching_waits_for_the_function_on_another_thread);
	tcase_add_test(threads, waits_and_firing_may_race);
	tcase_add_test(threads, whoever_stays_is_called_once_however_many_fire);
	suite_add_tcase(suite, threads);
	return unit_main(suite);
}
