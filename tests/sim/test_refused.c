/*
 * test_refused.c - the server refuses the client's credentials: who learns it,
 * even if memory is short just then, or an object is being destroyed.
 */
#include "lone_line.h"

#include "../unit/fault.h"
#include "../unit/unit.h"

#include <kustos/participant.h>

#include <sched.h>

static struct kustos_observer *observer;
static int told;
static enum kustos_err told_last;

static void see(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	ck_assert_ptr_null(first);
	told_last = err;
	told++;
}

static void setup(void)
{
	lone_line_open(&ku_zk_sim);
	told = 0;
	ck_assert_int_eq(
		kustos_observe(lone.client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(told_last, KUSTOS_OK);
}

static void teardown(void)
{
	kustos_observer_destroy(observer);
	lone_line_close();
}

START_TEST(L29_an_observer_hears_of_it_though_memory_was_short)
{
	ku_lock(lone.client);
	if (_i == 1)
		fault_after(0);
	ku_session_event(lone.client, KU_ZK_STATE_AUTH_FAILED);
	ck_assert_int_eq(fault_end(), _i);
	ku_unlock(lone.client);
	lone_run_ms(&lone.bench, lone.client, 2000);
	ck_assert_int_eq(told, 2);
	ck_assert_int_eq(told_last, KUSTOS_EAUTH);
}
END_TEST

/* It has no watch yet whose end would tell it; and perhaps it could not even
   send its request. */
START_TEST(L29_an_observer_that_has_only_begun_to_look_hears_of_it)
{
	kustos_observer_destroy(observer);
	lone_run_ms(&lone.bench, lone.client, 100);
	if (_i == 1) {
		model_server_stop(lone.bench.model, 0);
		lone_run_ms(&lone.bench, lone.client, 100);
		ck_assert_int_ne(kustos_client_state(lone.client),
			KUSTOS_STATE_CONNECTED);
	}
	told = 0;
	ck_assert_int_eq(
		kustos_observe(lone.client, LINE, see, NULL, &observer),
		KUSTOS_OK);
	ku_lock(lone.client);
	ck_assert_ptr_null(lone.client->watches.entries);
	ku_session_event(lone.client, KU_ZK_STATE_AUTH_FAILED);
	ku_unlock(lone.client);
	lone_run_ms(&lone.bench, lone.client, 2000);
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(told_last, KUSTOS_EAUTH);
}
END_TEST

static void *destroy_it(void *arg)
{
	kustos_observer_destroy(arg);
	return NULL;
}

static bool is_observed(void)
{
	ku_lock(lone.client);
	bool observed = lone.client->observers != NULL;
	ku_unlock(lone.client);
	return observed;
}

/* The credentials are refused while another thread waits to destroy the
   observer. */
static void be_destroyed(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)err;
	(void)first;
	ck_assert_int_eq(
		pthread_create((pthread_t *)arg, NULL, destroy_it, observer),
		0);
	while (is_observed())
		sched_yield();
	ku_lock(lone.client);
	ck_assert_int_eq(lone.client->callers, 1); /* it still waits */
	ku_session_event(lone.client, KU_ZK_STATE_AUTH_FAILED);
	ck_assert_int_eq(lone.client->dispatch.lanes[KU_ORDINARY].queued, 0);
	ku_unlock(lone.client);
	told++;
}

START_TEST(an_observer_that_is_being_destroyed_has_nothing_more_to_tell)
{
	pthread_t other;

	kustos_observer_destroy(observer);
	told = 0;
	ck_assert_int_eq(kustos_observe(lone.client, LINE, be_destroyed, &other,
				 &observer),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 1000);
	ck_assert_int_eq(told, 1);
	pthread_join(other, NULL);
	observer = NULL;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("refused credentials");
	TCase *t = tcase_create("observers");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		L29_an_observer_hears_of_it_though_memory_was_short, 0, 2);
	tcase_add_loop_test(t,
		L29_an_observer_that_has_only_begun_to_look_hears_of_it, 0, 2);
	tcase_add_test(t,
		an_observer_that_is_being_destroyed_has_nothing_more_to_tell);
	suite_add_tcase(s, t);
	return unit_main(s);
}
