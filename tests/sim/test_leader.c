/*
 * test_leader.c - what other threads do to a selector while the client is not
 * locked: when its cancel object is made, fired or destroyed, or when it
 * resigns.
 */
#include "lone_selector.h"

#include "../unit/unit.h"
#include "candidate.h"

#include <kustos/cancel.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum kustos_err __real_kustos_cancel_create(struct kustos_cancel **out);
void __real_kustos_cancel_fire(struct kustos_cancel *cancel);
void __real_kustos_cancel_destroy(struct kustos_cancel *cancel);
enum kustos_err __wrap_kustos_cancel_create(struct kustos_cancel **out);
void __wrap_kustos_cancel_fire(struct kustos_cancel *cancel);
void __wrap_kustos_cancel_destroy(struct kustos_cancel *cancel);
void __real_ku_candidate_resign(struct ku_candidate *c, enum kustos_err err);
void __wrap_ku_candidate_resign(struct ku_candidate *c, enum kustos_err err);

static struct kustos_selector *selector;
static void (*before_create)(void), (*before_destroy)(void),
	(*before_resign)(void); /* each is called once */
static bool holds_fire; /* delay fire() until the function has returned */
static atomic_bool firing, returned, destroyed, closed;
static bool spoilt; /* of the thread that fires */
static atomic_int calls;
static pthread_t other;

static void once(void (**hook)(void))
{
	void (*fn)(void) = *hook;

	*hook = NULL;
	if (fn != NULL)
		fn();
}

enum kustos_err __wrap_kustos_cancel_create(struct kustos_cancel **out)
{
	once(&before_create);
	return __real_kustos_cancel_create(out);
}

void __wrap_kustos_cancel_destroy(struct kustos_cancel *cancel)
{
	atomic_store(&destroyed, true);
	once(&before_destroy);
	__real_kustos_cancel_destroy(cancel);
}

void __wrap_ku_candidate_resign(struct ku_candidate *c, enum kustos_err err)
{
	once(&before_resign);
	__real_ku_candidate_resign(c, err);
}

void __wrap_kustos_cancel_fire(struct kustos_cancel *cancel)
{
	if (!holds_fire) {
		__real_kustos_cancel_fire(cancel);
		return;
	}
	atomic_store(&firing, true);
	while (!atomic_load(&returned))
		sched_yield();
	for (int i = 0; i < 1000 && !atomic_load(&destroyed); i++)
		sched_yield();
	spoilt = atomic_load(&destroyed);
	if (!spoilt)
		__real_kustos_cancel_fire(cancel);
}

static void setup(void)
{
	before_create = before_destroy = before_resign = NULL;
	holds_fire = spoilt = false;
	atomic_store(&firing, false);
	atomic_store(&returned, false);
	atomic_store(&destroyed, false);
	atomic_store(&closed, false);
	atomic_store(&calls, 0);
	lone_line_open(&ku_zk_sim);
}

static void teardown(void)
{
	lone_run_ms(&lone.bench, lone.client, 200);
	lone_line_close();
}

static void count_term(void *arg, struct kustos_selector *s,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	(void)arg;
	(void)s;
	(void)hold;
	(void)cancel;
	atomic_fetch_add(&calls, 1);
}

static void *close_it(void *arg)
{
	kustos_selector_close(arg);
	atomic_store(&closed, true);
	return NULL;
}

/* Another thread closes the selector, and must wait for what is going on
   here. */
static void be_closed(void)
{
	ck_assert_int_eq(pthread_create(&other, NULL, close_it, selector), 0);
	while (kustos_selector_state(selector) != KUSTOS_SELECTOR_CLOSED)
		sched_yield();
	for (int i = 0; i < 1000; i++) {
		ck_assert(!atomic_load(&closed));
		sched_yield();
	}
}

/* If the function began, it would not learn that it is to return. */
START_TEST(who_is_closed_while_it_is_told_of_its_term_does_not_begin_it)
{
	selector = selector_make("me", count_term, NULL);
	before_create = be_closed;
	ck_assert_int_eq(kustos_selector_start(selector), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 200);
	ck_assert_ptr_null(selector_call);
	pthread_join(other, NULL);
	ck_assert_int_eq(atomic_load(&calls), 0);
	kustos_selector_destroy(selector);
}
END_TEST

/* The close comes before the place is given up, or after that. */
START_TEST(who_closes_it_waits_for_the_thread_of_its_last_term)
{
	selector = selector_begin("me", count_term, NULL);
	if (_i == 0)
		before_resign = be_closed;
	else
		before_destroy = be_closed;
	selector_run();
	pthread_join(other, NULL);
	ck_assert_int_eq(atomic_load(&calls), 1);
	kustos_selector_destroy(selector);
}
END_TEST

static void queue_it_again(void)
{
	ck_assert_int_eq(kustos_selector_requeue(selector), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 200);
	ck_assert_int_eq(kustos_selector_leads(selector), 1);
}

/* Otherwise two threads would call the function at the same time. */
START_TEST(a_term_that_is_granted_while_the_last_ends_is_led_on_that_thread)
{
	selector = selector_begin("me", count_term, NULL);
	before_destroy = queue_it_again;
	selector_run();
	ck_assert_ptr_null(selector_call);
	ck_assert_int_eq(atomic_load(&calls), 2);
	kustos_selector_destroy(selector);
}
END_TEST

static void *interrupt_it(void *arg)
{
	return kustos_selector_interrupt(arg) == KUSTOS_OK ? arg : NULL;
}

static void be_interrupted(void *arg, struct kustos_selector *s,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	(void)arg;
	(void)hold;
	(void)cancel;
	holds_fire = true;
	ck_assert_int_eq(pthread_create(&other, NULL, interrupt_it, s), 0);
	while (!atomic_load(&firing))
		sched_yield();
	atomic_store(&returned, true);
}

START_TEST(what_is_being_fired_is_not_destroyed)
{
	void *interrupted = NULL;

	selector = selector_begin("me", be_interrupted, NULL);
	selector_run();
	pthread_join(other, &interrupted);
	ck_assert_ptr_eq(interrupted, selector);
	ck_assert(!spoilt);
	ck_assert_int_eq(kustos_selector_state(selector), KUSTOS_SELECTOR_IDLE);
	kustos_selector_destroy(selector);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("a leader between two steps");
	TCase *t = tcase_create("selectors");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		who_is_closed_while_it_is_told_of_its_term_does_not_begin_it);
	tcase_add_loop_test(t,
		who_closes_it_waits_for_the_thread_of_its_last_term, 0, 2);
	tcase_add_test(t,
		a_term_that_is_granted_while_the_last_ends_is_led_on_that_thread);
	tcase_add_test(t, what_is_being_fired_is_not_destroyed);
	suite_add_tcase(s, t);
	return unit_main(s);
}
