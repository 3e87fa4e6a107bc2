/*
 * test_late_wakes.c - a thread that waits for a callback to return wakes up
 * late and finds that the client was closed meanwhile.
 */
#include "callback_gate.h"
#include "mutex_fixture.h"

#include <kustos/claim.h>
#include <kustos/election.h>
#include <kustos/participant.h>
#include <kustos/queue.h>

#include <pthread.h>
#include <time.h>

#define SLOW_MS 300

/* The thread that wakes up late. */
static struct {
	pthread_t id;
	int known, waits, wakes, done;
	int slow; /* whether it has been slow once */
} late;

/* The callback that the thread waits for. */
static struct {
	int knows; /* its owner */
	struct gate gate;
} callback;

/* The object that has the callback. */
enum what {
	LISTENER,
	OBSERVER,
	LATCH,
	SELECTOR,
	HOLD,
	MUTEX,
	CONSUMER,
	LEAVING, /* a queue whose consumer has stopped itself */
	QUEUE,
	CLAIMS,
	ALL
};

static struct {
	enum what what;
	struct kustos_client *client, *rival;
	struct kustos_listener *listener;
	struct kustos_observer *observer;
	struct kustos_latch *latch;
	struct kustos_selector *selector;
	struct kustos_mutex *mutex, *rivals;
	struct kustos_hold *hold;
	struct kustos_queue *queue;
	struct kustos_claims *claims;
	struct kustos_consumer *consumer;
	struct ask ask;
	int closed;
} it;

static const struct timespec never = { .tv_sec = INT32_MAX };

/* Replaces the C library's function.  A waiter must expect spurious wake-ups,
   so one late wake-up at the end is as good as any. */
__attribute__((visibility("default"))) int pthread_cond_wait(
	pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (!flag(&late.known) || !pthread_equal(late.id, pthread_self()))
		return pthread_cond_timedwait(cond, mutex, &never);
	raise_flag(&late.waits);
	pthread_mutex_unlock(mutex);
	test_within(flag(&late.wakes), PATIENCE_MS);
	return pthread_mutex_timedlock(mutex, &never);
}

/* A thread that has woken up is slow to lock the mutex again, if it needs
   it. */
__attribute__((visibility("default"))) int pthread_mutex_lock(
	pthread_mutex_t *mutex)
{
	if (flag(&late.wakes) && !flag(&late.slow) &&
		pthread_equal(late.id, pthread_self())) {
		raise_flag(&late.slow);
		test_never(flag(&it.closed), SLOW_MS);
	}
	return pthread_mutex_timedlock(mutex, &never);
}

static void state_told(void *arg, const struct kustos_session *now)
{
	(void)arg;
	if (now->state == KUSTOS_STATE_CONNECTED)
		stand(&callback.gate);
}

static void first_told(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	(void)err;
	(void)first;
	stand(&callback.gate);
}

static void gained(void *arg, struct kustos_latch *l, struct kustos_hold *hold)
{
	(void)arg;
	(void)l;
	(void)hold;
	stand(&callback.gate);
}

static void lead(void *arg, struct kustos_selector *s, struct kustos_hold *hold,
	struct kustos_cancel *cancel)
{
	(void)arg;
	(void)s;
	(void)hold;
	(void)cancel;
	stand(&callback.gate);
}

static void at_risk(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	(void)hold;
	stand(&callback.gate);
}

static void queued(void *arg, const char *path)
{
	(void)arg;
	(void)path;
	stand(&callback.gate);
}

static void taken(void *arg, struct kustos_item *const *items, size_t count)
{
	(void)arg;
	(void)items;
	(void)count;
	stand(&callback.gate);
}

static void unfit(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	stand(&callback.gate);
}

static void unfit_claim(void *arg, enum kustos_unfit why, int moved,
	const char *name)
{
	(void)why;
	(void)moved;
	unfit(arg, name);
}

static void make_latch(void)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

	o.on_gained = gained;
	check_err(kustos_latch_create(it.client, LINE, &o, &it.latch),
		KUSTOS_OK);
	check_err(kustos_latch_start(it.latch), KUSTOS_OK);
}

static void make_selector(void)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;

	o.lead = lead;
	check_err(kustos_selector_create(it.client, LINE, &o, &it.selector),
		KUSTOS_OK);
	check_err(kustos_selector_start(it.selector), KUSTOS_OK);
}

static void make_queued(void)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;

	o.on_queued = queued;
	check_err(kustos_mutex_create(it.client, LINE, &o, &it.mutex),
		KUSTOS_OK);
	ask(&it.ask, it.mutex, KUSTOS_FOREVER);
}

static void stops(void *arg, struct kustos_item *const *items, size_t count)
{
	(void)arg;
	(void)items;
	(void)count;
	test_within(flag(&callback.knows), PATIENCE_MS);
	kustos_consumer_stop(it.consumer);
	stand(&callback.gate);
}

static void make_consumer(kustos_queue_consume_fn *fn)
{
	check_err(kustos_queue_create(it.client, LINE, NULL, &it.queue),
		KUSTOS_OK);
	check_err(kustos_queue_put(it.queue, "a", 1, SOON, NULL), KUSTOS_OK);
	check_err(
		kustos_queue_consume(it.queue, 1, fn, NULL, NULL, &it.consumer),
		KUSTOS_OK);
	raise_flag(&callback.knows);
}

/* Create a node that is no item, and poll, so that it is found unfit. */
static void make_queue(void)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_item *item;

	o.kind = KUSTOS_QUEUE_FRAMED;
	o.on_unfit = unfit;
	client_create(it.client, LINE "/queue-0000000001",
		KUSTOS_CREATE_PARENTS);
	check_err(kustos_queue_create(it.client, LINE, &o, &it.queue),
		KUSTOS_OK);
	check_err(kustos_queue_poll(it.queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EEMPTY);
}

static void make_claims(void)
{
	struct kustos_claims_options o = KUSTOS_CLAIMS_OPTIONS_INIT;
	struct kustos_claim *claim;

	o.kind = KUSTOS_QUEUE_FRAMED;
	o.on_unfit = unfit_claim;
	client_create(it.client, LINE "/queue-0000000001",
		KUSTOS_CREATE_PARENTS);
	check_err(kustos_claims_create(it.client, LINE, &o, &it.claims),
		KUSTOS_OK);
	check_err(kustos_claim_next(it.claims, KUSTOS_NOW, NULL, &claim),
		KUSTOS_EEMPTY);
}

static void make_it(void)
{
	enum kustos_err err = KUSTOS_OK;

	switch (it.what) {
	case LISTENER:
		err = kustos_client_listen(it.client, state_told, NULL,
			&it.listener);
		break;
	case OBSERVER:
		err = kustos_observe(it.client, LINE, first_told, NULL,
			&it.observer);
		break;
	case LATCH:
		make_latch();
		break;
	case SELECTOR:
		make_selector();
		break;
	case HOLD:
		it.mutex = mutex_new(it.client, 0);
		it.hold = hold_take(it.mutex);
		kustos_mutex_destroy(it.mutex);
		err = kustos_hold_at_risk(it.hold, INT32_MAX, at_risk, NULL);
		break;
	case CONSUMER:
		make_consumer(taken);
		break;
	case LEAVING:
		make_consumer(stops);
		break;
	case QUEUE:
		make_queue();
		break;
	case CLAIMS:
		make_claims();
		break;
	default:
		it.rival = client_connected(fixture_address(), 5000);
		it.rivals = mutex_new(it.rival, 0);
		it.hold = hold_take(it.rivals);
		make_queued();
		break;
	}
	check_err(err, KUSTOS_OK);
}

static void *end_it(void *arg)
{
	late.id = pthread_self();
	raise_flag(&late.known);
	switch (it.what) {
	case LISTENER:
		kustos_client_unlisten(it.client, it.listener);
		break;
	case OBSERVER:
		kustos_observer_destroy(it.observer);
		break;
	case LATCH:
		kustos_latch_destroy(it.latch);
		break;
	case SELECTOR:
		kustos_selector_destroy(it.selector);
		break;
	case HOLD:
		(void)kustos_hold_release(it.hold);
		break;
	case CONSUMER:
		kustos_consumer_stop(it.consumer);
		break;
	case LEAVING:
	case QUEUE:
		kustos_queue_destroy(it.queue);
		break;
	case CLAIMS:
		kustos_claims_destroy(it.claims);
		break;
	default:
		kustos_mutex_destroy(it.mutex);
		break;
	}
	raise_flag(&late.done);
	return arg;
}

static void *close_it(void *arg)
{
	(void)kustos_client_close(it.client, kustos_after_ms(1000), NULL);
	raise_flag(&it.closed);
	return arg;
}

START_TEST(L11_a_close_waits_for_who_waits_for_a_callback)
{
	pthread_t ends, closes;

	it.what = (enum what)_i;
	it.client = client_connected(fixture_address(), 5000);
	make_it();
	test_eventually(flag(&callback.gate.entered), 3000);
	ck_assert_int_eq(pthread_create(&ends, NULL, end_it, NULL), 0);
	test_eventually(flag(&late.waits), 1000);
	ck_assert_int_eq(pthread_create(&closes, NULL, close_it, NULL), 0);
	raise_flag(&callback.gate.open);
	test_never(flag(&it.closed), 1500);
	ck_assert_int_eq(flag(&late.done), 0);
	raise_flag(&late.wakes);
	ck_assert_int_eq(pthread_join(ends, NULL), 0);
	ck_assert_int_eq(pthread_join(closes, NULL), 0);
	if (it.rival == NULL)
		return;
	hold_give(it.hold);
	kustos_mutex_destroy(it.rivals);
	client_close(it.rival);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("late wakes");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_loop_test(t, L11_a_close_waits_for_who_waits_for_a_callback,
		0, ALL);
	return fixture_main(s);
}
