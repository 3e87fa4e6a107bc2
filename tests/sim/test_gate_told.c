/*
 * test_gate_told.c - an object is destroyed while the program is being told that it
 * waits in line: on this thread, on others, or not yet.
 */
#include "lone_line.h"

#include "../unit/unit.h"

#include <kustos/client.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define WISHES 2

static struct kustos_mutex *shared;
static pthread_t here;
static bool ends_here; /* destroy the object in a callback of this thread */
static int calls_here, closed;
static atomic_int others, others_left; /* callbacks of other threads */
static atomic_int dispatching;	       /* threads that dispatch */
static atomic_bool ending, ended;
static bool early; /* the object had ended while a callback still ran */

static void end_it(void)
{
	kustos_mutex_destroy(shared);
	atomic_store(&ended, true);
}

/* Does somebody wait for the object's end, has it ended, or was either seen
   before? */
static bool is_ending(void)
{
	ku_lock(lone.client);
	bool waits = lone.client->callers > atomic_load(&dispatching);
	ku_unlock(lone.client);
	if (waits || atomic_load(&ended))
		atomic_store(&ending, true);
	return atomic_load(&ending);
}

/* Callbacks of other threads return in the order in which they came, the next
   one a moment later. */
static void told(void *arg, const char *path)
{
	(void)arg;
	(void)path;
	if (pthread_equal(pthread_self(), here)) {
		calls_here++;
		if (ends_here)
			end_it();
		return;
	}
	int before = atomic_fetch_add(&others, 1);
	while (!is_ending() || atomic_load(&others_left) < before)
		sched_yield();
	for (int i = 0; i < 1000; i++)
		sched_yield();
	early = early || atomic_load(&ended);
	atomic_fetch_add(&others_left, 1);
}

static void is_closed(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_ECLOSED);
	ck_assert_ptr_null(hold);
	closed++;
}

/* Another mutex holds the lock.  The program has not been told yet that both
   wishes wait for it. */
static void setup(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;

	here = pthread_self();
	ends_here = early = false;
	calls_here = closed = 0;
	atomic_store(&others, 0);
	atomic_store(&others_left, 0);
	atomic_store(&dispatching, 0);
	atomic_store(&ending, false);
	atomic_store(&ended, false);
	options.dispatch = KUSTOS_DISPATCH_FD;
	lone_line_open_with(&ku_zk_sim, &options);
	lone_line_ask();
	ck_assert_int_eq(kustos_client_dispatch(lone.client), 1);
	lone_line_check();
	o.on_queued = told;
	o.local_handoffs = 0;
	ck_assert_int_eq(kustos_mutex_create(lone.client, LINE, &o, &shared),
		KUSTOS_OK);
	for (int i = 0; i < WISHES; i++)
		ck_assert_int_eq(kustos_mutex_acquire_async(shared,
					 KUSTOS_FOREVER, NULL, is_closed, NULL),
			KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
}

static void teardown(void)
{
	lone_run_ms(&lone.bench, lone.client, 100);
	(void)kustos_client_dispatch(lone.client);
	ck_assert_int_eq(closed, WISHES);
	lone_line_give();
	lone_line_close();
}

static void *dispatch(void *arg)
{
	atomic_fetch_add(&dispatching, 1);
	(void)kustos_client_dispatch(lone.client);
	return arg;
}

static void begin_elsewhere(pthread_t *thread, int callbacks)
{
	ck_assert_int_eq(pthread_create(thread, NULL, dispatch, NULL), 0);
	while (atomic_load(&others) < callbacks)
		sched_yield();
}

START_TEST(who_is_destroyed_in_its_callback_is_not_called_again)
{
	ends_here = true;
	(void)dispatch(NULL);
	ck_assert_int_eq(calls_here, 1);
}
END_TEST

START_TEST(who_destroys_it_waits_for_the_callbacks_of_other_threads)
{
	pthread_t threads[WISHES];
	int elsewhere = _i + 1;

	for (int i = 0; i < elsewhere; i++)
		begin_elsewhere(&threads[i], i + 1);
	end_it();
	ck_assert_int_eq(atomic_load(&others_left), elsewhere);
	for (int i = 0; i < elsewhere; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(atomic_load(&others), elsewhere); /* not more */
	ck_assert(!early);
}
END_TEST

START_TEST(who_destroys_it_in_its_callback_waits_for_that_of_another_thread)
{
	pthread_t thread;

	begin_elsewhere(&thread, 1);
	ends_here = true;
	(void)dispatch(NULL);
	ck_assert_int_eq(calls_here, 1);
	pthread_join(thread, NULL);
	ck_assert(!early);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("what an object tells while it is destroyed");
	TCase *t = tcase_create("queued");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, who_is_destroyed_in_its_callback_is_not_called_again);
	tcase_add_loop_test(t,
		who_destroys_it_waits_for_the_callbacks_of_other_threads, 0,
		WISHES);
	tcase_add_test(t,
		who_destroys_it_in_its_callback_waits_for_that_of_another_thread);
	suite_add_tcase(s, t);
	return unit_main(s);
}
