/*
 * test_hold_thread.c - a hold is released while a callback of its own runs on
 * another thread.
 */
#include "lone_line.h"

#include "../unit/unit.h"
#include "hold.h"

#include <kustos/client.h>
#include <kustos/node.h>

#include <semaphore.h>

static sem_t entered, due, noted, go, over;
static bool returned;
static int calls;

/* Whoever waits lets the callback go on. */
bool __wrap_ku_cond_wait(struct kustos_client *c, pthread_cond_t *cond,
	kustos_deadline until);
bool __real_ku_cond_wait(struct kustos_client *c, pthread_cond_t *cond,
	kustos_deadline until);
bool __wrap_ku_cond_wait(struct kustos_client *c, pthread_cond_t *cond,
	kustos_deadline until)
{
	sem_post(&go);
	return __real_ku_cond_wait(c, cond, until);
}

static void setup(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	returned = false;
	calls = 0;
	sem_init(&entered, 0, 0);
	sem_init(&due, 0, 0);
	sem_init(&noted, 0, 0);
	sem_init(&go, 0, 0);
	sem_init(&over, 0, 0);
	options.dispatch = KUSTOS_DISPATCH_FD;
	lone_line_open_with(&ku_zk_sim, &options);
	lone_line_ask();
	ck_assert_int_eq(kustos_client_dispatch(lone.client), 1);
	lone_line_check();
}

/* It is due again while it runs, and learns of that: it runs what is due. */
static void stay(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	(void)hold;
	if (calls++ > 0)
		return;
	sem_post(&entered);
	sem_wait(&due);
	(void)kustos_client_dispatch(lone.client);
	sem_post(&noted);
	sem_wait(&go);
	returned = true;
}

static void ask(void)
{
	ku_lock(lone.client);
	ku_hold_ask(lone.hold, stay, NULL);
	ku_unlock(lone.client);
}

static void stay_until_it_is_over(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	(void)err;
	(void)result;
	sem_wait(&over);
}

static void *dispatch(void *arg)
{
	(void)arg;
	(void)kustos_client_dispatch(lone.client);
	return NULL;
}

/* The callback is due again while it runs, and behind it another one is due, in
   which the other thread then stays.  If the first were queued again, it would
   be called for a hold that is gone. */
START_TEST(a_release_waits_for_a_callback_and_no_other_comes_after_it)
{
	const struct ku_lane *lane = &lone.client->dispatch.lanes[KU_ORDINARY];
	pthread_t other;

	ask();
	ck_assert_int_eq(pthread_create(&other, NULL, dispatch, NULL), 0);
	sem_wait(&entered);
	ask();
	sem_post(&due);
	sem_wait(&noted);
	ck_assert_int_eq(kustos_exists_async(lone.client, "/", KUSTOS_FOREVER,
				 NULL, stay_until_it_is_over, NULL),
		KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_OK);
	ck_assert(returned);
	ck_assert_int_eq(calls, 1);
	ku_lock(lone.client);
	ck_assert_int_eq(lane->queued, 0);
	ku_unlock(lone.client);
	sem_post(&over);
	ck_assert_int_eq(pthread_join(other, NULL), 0);
	ck_assert_int_eq(calls, 1);
	lone_run_ms(&lone.bench, lone.client, 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("a hold and two threads");
	TCase *t = tcase_create("released");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, lone_line_close);
	tcase_add_test(t,
		a_release_waits_for_a_callback_and_no_other_comes_after_it);
	suite_add_tcase(s, t);
	return unit_main(s);
}
