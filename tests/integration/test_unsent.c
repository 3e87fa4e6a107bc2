/*
 * test_unsent.c - a client that never reached a server: what its recipes asked
 * for was not sent, and does not hold up its close.
 */
#include <kustos/barrier.h>
#include <kustos/claim.h>
#include <kustos/countdown.h>
#include <kustos/election.h>
#include <kustos/mutex.h>
#include <kustos/queue.h>
#include <kustos/rwlock.h>
#include <kustos/semaphore.h>
#include <kustos/simple.h>

#include "client_fixture.h"
#include "mutex_fixture.h"

#include <stdatomic.h>
#include <stdlib.h>

#define PATH "/unsent"

static struct kustos_client *client;
static atomic_int ended; /* calls */

static void open_client(void)
{
	struct kustos_client_options options = client_options("127.0.0.1:1",
		10000);

	client = client_open_with(&options);
	atomic_store(&ended, 0);
}

/* Every call ends with an error, and the close has nothing to wait for. */
static void check_closed(int calls)
{
	ck_assert_int_eq(kustos_client_close(client, KUSTOS_FOREVER, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(atomic_load(&ended), calls);
}

static void done(void *arg, enum kustos_err err)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_ECLOSED);
	atomic_fetch_add(&ended, 1);
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	ck_assert_ptr_null(hold);
	done(arg, err);
}

static void polled(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	(void)items;
	ck_assert_uint_eq(count, 0);
	done(arg, err);
}

static void claimed(void *arg, enum kustos_err err, struct kustos_claim *claim)
{
	ck_assert_ptr_null(claim);
	done(arg, err);
}

static void never(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)first;
	done(arg, err);
}

START_TEST(a_mutex)
{
	struct kustos_mutex *mutex;

	check_err(kustos_mutex_create(client, PATH, NULL, &mutex), KUSTOS_OK);
	check_err(kustos_mutex_acquire_async(mutex, KUSTOS_FOREVER, NULL,
			  granted, NULL),
		KUSTOS_OK);
	kustos_mutex_destroy(mutex);
	check_closed(1);
}
END_TEST

START_TEST(a_read_write_lock)
{
	struct kustos_rwlock *rw;

	check_err(kustos_rwlock_create(client, PATH, NULL, &rw), KUSTOS_OK);
	check_err(kustos_rwlock_acquire_async(rw, KUSTOS_READ, KUSTOS_FOREVER,
			  NULL, granted, NULL),
		KUSTOS_OK);
	check_err(kustos_rwlock_acquire_async(rw, KUSTOS_WRITE, KUSTOS_FOREVER,
			  NULL, granted, NULL),
		KUSTOS_OK);
	kustos_rwlock_destroy(rw);
	check_closed(2);
}
END_TEST

static void lease_of(struct kustos_semaphore_options *options)
{
	struct kustos_semaphore *sem;

	check_err(kustos_semaphore_create(client, PATH, options, &sem),
		KUSTOS_OK);
	check_err(kustos_semaphore_acquire_async(sem, KUSTOS_FOREVER, NULL,
			  granted, NULL),
		KUSTOS_OK);
	kustos_semaphore_destroy(sem);
	check_closed(1);
}

START_TEST(a_semaphore)
{
	struct kustos_semaphore_options options = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	options.max = 3;
	lease_of(&options);
}
END_TEST

START_TEST(a_semaphore_whose_maximum_is_shared)
{
	struct kustos_semaphore_options options = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	options.max_path = PATH "-max";
	lease_of(&options);
}
END_TEST

START_TEST(a_simple_lock)
{
	struct kustos_simple *lock;

	check_err(kustos_simple_create(client, PATH, NULL, &lock), KUSTOS_OK);
	check_err(kustos_simple_acquire_async(lock, KUSTOS_FOREVER, NULL,
			  granted, NULL),
		KUSTOS_OK);
	kustos_simple_destroy(lock);
	check_closed(1);
}
END_TEST

START_TEST(a_latch)
{
	struct kustos_latch *latch;

	check_err(kustos_latch_create(client, PATH, NULL, &latch), KUSTOS_OK);
	check_err(kustos_latch_start(latch), KUSTOS_OK);
	kustos_latch_destroy(latch);
	check_closed(0);
}
END_TEST

START_TEST(an_observer)
{
	struct kustos_observer *observer;

	check_err(kustos_observe(client, PATH, never, NULL, &observer),
		KUSTOS_OK);
	kustos_observer_destroy(observer);
	check_closed(0);
}
END_TEST

START_TEST(a_barrier)
{
	struct kustos_barrier *barrier;

	check_err(kustos_barrier_create(client, PATH, NULL, &barrier),
		KUSTOS_OK);
	check_err(kustos_barrier_wait_async(barrier, KUSTOS_FOREVER, NULL, done,
			  NULL),
		KUSTOS_OK);
	kustos_barrier_destroy(barrier);
	check_closed(1);
}
END_TEST

START_TEST(a_double_barrier)
{
	struct kustos_double_barrier *step;

	check_err(kustos_double_barrier_create(client, PATH, 3, NULL, &step),
		KUSTOS_OK);
	check_err(kustos_double_barrier_enter_async(step, KUSTOS_FOREVER, NULL,
			  done, NULL),
		KUSTOS_OK);
	kustos_double_barrier_destroy(step);
	check_closed(1);
}
END_TEST

START_TEST(a_count_down)
{
	struct kustos_countdown *countdown;

	check_err(kustos_countdown_create(client, PATH, 3, NULL, &countdown),
		KUSTOS_OK);
	check_err(kustos_countdown_wait_async(countdown, KUSTOS_FOREVER, NULL,
			  done, NULL),
		KUSTOS_OK);
	check_err(kustos_countdown_done_async(countdown, "one", KUSTOS_FOREVER,
			  NULL, done, NULL),
		KUSTOS_OK);
	kustos_countdown_destroy(countdown);
	check_closed(2);
}
END_TEST

static void item_of(struct kustos_queue_options *options)
{
	struct kustos_new_item item = { .data = "x", .len = 1 };
	struct kustos_queue *queue;

	check_err(kustos_queue_create(client, PATH, options, &queue),
		KUSTOS_OK);
	check_err(kustos_queue_put_item_async(queue, &item, KUSTOS_FOREVER,
			  NULL, done, NULL),
		KUSTOS_OK);
	check_err(kustos_queue_poll_async(queue, 1, KUSTOS_FOREVER, NULL,
			  polled, NULL),
		KUSTOS_OK);
	kustos_queue_destroy(queue);
	check_closed(2);
}

START_TEST(a_queue)
{
	item_of(NULL);
}
END_TEST

START_TEST(a_bounded_queue)
{
	struct kustos_queue_options options = KUSTOS_QUEUE_OPTIONS_INIT;

	options.max_items = 3;
	item_of(&options);
}
END_TEST

START_TEST(a_queue_with_priorities)
{
	struct kustos_queue_options options = KUSTOS_QUEUE_OPTIONS_INIT;

	options.kind = KUSTOS_QUEUE_PRIORITY;
	item_of(&options);
}
END_TEST

START_TEST(a_claim)
{
	struct kustos_claims *claims;

	check_err(kustos_claims_create(client, PATH, NULL, &claims), KUSTOS_OK);
	check_err(kustos_claim_next_async(claims, KUSTOS_FOREVER, NULL, claimed,
			  NULL),
		KUSTOS_OK);
	kustos_claims_destroy(claims);
	check_closed(1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unsent");
	TCase *t = tcase_create("no server");

	tcase_set_timeout(t, 10);
	tcase_add_checked_fixture(t, open_client, NULL);
	tcase_add_test(t, a_mutex);
	tcase_add_test(t, a_read_write_lock);
	tcase_add_test(t, a_semaphore);
	tcase_add_test(t, a_semaphore_whose_maximum_is_shared);
	tcase_add_test(t, a_simple_lock);
	tcase_add_test(t, a_latch);
	tcase_add_test(t, an_observer);
	tcase_add_test(t, a_barrier);
	tcase_add_test(t, a_double_barrier);
	tcase_add_test(t, a_count_down);
	tcase_add_test(t, a_queue);
	tcase_add_test(t, a_bounded_queue);
	tcase_add_test(t, a_queue_with_priorities);
	tcase_add_test(t, a_claim);
	suite_add_tcase(s, t);
	return fixture_main(s);
}
