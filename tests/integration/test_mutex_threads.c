/*
 * test_mutex_threads.c - many threads, many objects and many waiters: one holds
 * at a time, all are served, and every wait ends when its mutex or client is
 * closed.
 */
#include "mutex_fixture.h"
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 20000
#define THREADS 50
#define ROUNDS 8
#define MANY 1000

static struct kustos_client *client, *other;

static void set_up(void)
{
	client = client_connected(fixture_address(), T_MS);
	other = client_connected(fixture_address(), T_MS);
}

static void tear_down(void)
{
	client_close(client);
	client_close(other);
	ck_assert_int_eq(line_count(), 0);
}

/* What all threads share.  The counter is not atomic: the mutex guards it. */
static struct {
	struct kustos_mutex *mutexes[THREADS];
	atomic_int inside;
	int counter;
	int64_t last_token;
} work;

/* Check that nobody else is inside. */
static void use(int64_t token)
{
	ck_assert_int_eq(atomic_fetch_add(&work.inside, 1), 0);
	ck_assert_int_ge(token, work.last_token);
	work.last_token = token;
	work.counter++;
	atomic_fetch_sub(&work.inside, 1);
}

static void *lock_and_use(void *arg)
{
	struct kustos_mutex *mutex = arg;

	for (int i = 0; i < ROUNDS; i++) {
		check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
		if (i % 2 == 0)
			check_err(kustos_mutex_lock(mutex, SOON, NULL),
				KUSTOS_OK);
		use(kustos_mutex_token(mutex));
		if (i % 2 == 0)
			check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
		check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	}
	return NULL;
}

/* Run the threads, which share so many objects. */
static void run_threads(int objects, int handoffs)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < objects; i++)
		work.mutexes[i] = mutex_new(
			i % 2 && objects > 1 ? other : client, handoffs);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, lock_and_use,
					 work.mutexes[i % objects]),
			0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_int_eq(work.counter, THREADS * ROUNDS);
	for (int i = 0; i < objects; i++)
		kustos_mutex_destroy(work.mutexes[i]);
}

static const int handoffs[] = { 0, 1, 32 };

START_TEST(many_threads_on_one_object_exclude_each_other_and_are_all_served)
{
	run_threads(1, handoffs[_i]);
}
END_TEST

START_TEST(many_objects_in_many_threads_exclude_each_other)
{
	run_threads(THREADS, handoffs[_i]);
}
END_TEST

START_TEST(a_thousand_waiters_take_no_thread_each_and_are_all_served)
{
	static struct ask asks[MANY];
	struct kustos_mutex *mutex = mutex_new(client, handoffs[_i]);
	struct kustos_hold *hold = hold_take(mutex);
	atomic_int inside = 0;
	int before = thread_count();

	for (int i = 0; i < MANY; i++) {
		asks[i].release = true;
		asks[i].inside = &inside;
		ask(&asks[i], mutex, SOON);
	}
	if (handoffs[_i] == 0)
		line_wait(MANY + 1);
	ck_assert_int_le(thread_count(), before + 2);
	hold_give(hold);
	for (int i = 0; i < MANY; i++)
		check_err(ask_wait(&asks[i], 25000), KUSTOS_OK);
	/* In the order in which they asked. */
	for (int i = 1; i < MANY; i++) {
		ck_assert_int_eq(asks[i].order, asks[i - 1].order + 1);
		ck_assert_int_ge(asks[i].token, asks[i - 1].token);
	}
	kustos_mutex_destroy(mutex);
}
END_TEST

#define FEW 16

START_TEST(without_local_hand_overs_all_clients_are_served_in_one_order)
{
	struct kustos_mutex *mutexes[] = { mutex_new(client, 0),
		mutex_new(other, 0) };
	struct kustos_hold *hold = hold_take(mutexes[0]);
	struct ask asks[FEW] = { { .calls = 0 } };

	for (int i = 0; i < FEW; i++) {
		asks[i].release = true;
		ask(&asks[i], mutexes[i / 3 % 2], SOON);
		line_wait(i + 2);
	}
	hold_give(hold);
	for (int i = 0; i < FEW; i++)
		check_err(ask_wait(&asks[i], 5000), KUSTOS_OK);
	for (int i = 1; i < FEW; i++)
		ck_assert_int_gt(asks[i].token, asks[i - 1].token);
	for (int i = 1; i < FEW; i++)
		ck_assert_int_gt(asks[i].at_ms + 1, asks[i - 1].at_ms);
	kustos_mutex_destroy(mutexes[0]);
	kustos_mutex_destroy(mutexes[1]);
}
END_TEST

/* While we hold the lock, let one of theirs wait for it and then ten of ours.
   Returns how many of the ten were served before theirs. */
static int served_before_other(int limit, int *with_one_token)
{
	struct kustos_mutex *ours = mutex_new(client, limit);
	struct kustos_mutex *theirs = mutex_new(other, limit);
	struct ask asks[10] = { { .calls = 0 } }, rival = { .calls = 0 };
	struct kustos_hold *hold = hold_take(ours);
	int64_t token = kustos_hold_token(hold);
	int before = 0;

	rival.release = true;
	ask(&rival, theirs, SOON);
	line_wait(2);
	for (int i = 0; i < 10; i++) {
		asks[i].release = true;
		ask(&asks[i], ours, SOON);
	}
	hold_give(hold);
	check_err(ask_wait(&rival, 5000), KUSTOS_OK);
	*with_one_token = 0;
	for (int i = 0; i < 10; i++) {
		check_err(ask_wait(&asks[i], 5000), KUSTOS_OK);
		before += asks[i].token < rival.token;
		*with_one_token += asks[i].token == token;
	}
	kustos_mutex_destroy(ours);
	kustos_mutex_destroy(theirs);
	return before;
}

START_TEST(local_hand_overs_keep_the_token_and_are_limited)
{
	int64_t end = test_now_ms() + PATIENCE_MS;
	int most = 0, same;

	/* There are fewer if they take longer than 50 ms. */
	while (most < 4 && test_now_ms() < end) {
		int before = served_before_other(4, &same);

		ck_assert_int_le(before, 4);
		ck_assert_int_eq(before, same);
		if (before > most)
			most = before;
	}
	ck_assert_int_eq(most, 4);
	ck_assert_int_eq(served_before_other(0, &same), 0);
}
END_TEST

/* After 50 ms even the first local hand-over is too late. */
START_TEST(local_hand_overs_end_after_50_ms)
{
	struct kustos_mutex *ours = mutex_new(client, 32);
	struct kustos_mutex *theirs = mutex_new(other, 32);
	struct ask next = { .release = true }, rival = { .release = true };
	struct kustos_hold *hold = hold_take(ours);
	int64_t granted_by_ms = test_now_ms();

	ask(&rival, theirs, SOON);
	line_wait(2);
	ask(&next, ours, SOON);
	test_eventually(test_now_ms() > granted_by_ms + 50, 1000);
	ck_assert(ask_waits(&rival) && ask_waits(&next));
	hold_give(hold);
	check_err(ask_wait(&rival, 5000), KUSTOS_OK);
	check_err(ask_wait(&next, 5000), KUSTOS_OK);
	ck_assert_int_gt(next.token, rival.token);
	kustos_mutex_destroy(ours);
	kustos_mutex_destroy(theirs);
}
END_TEST

/* A thread that never pauses must let others have the lock. */
struct hog {
	struct kustos_mutex *mutex;
	atomic_bool stop;
	atomic_int rounds;
};

static void *hog_it(void *arg)
{
	struct hog *hog = arg;

	for (; !atomic_load(&hog->stop); atomic_fetch_add(&hog->rounds, 1)) {
		check_err(kustos_mutex_lock(hog->mutex, SOON, NULL), KUSTOS_OK);
		check_err(kustos_mutex_unlock(hog->mutex), KUSTOS_OK);
	}
	return NULL;
}

START_TEST(a_busy_process_does_not_starve_another)
{
	struct kustos_mutex *theirs = mutex_new(other, 32);
	struct hog hog = { .mutex = mutex_new(client, 32) };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, hog_it, &hog), 0);
	test_eventually(atomic_load(&hog.rounds) > 0, 5000);
	for (int i = 0; i < 20; i++) {
		struct kustos_hold *hold = NULL;

		check_err(kustos_mutex_acquire(theirs, SOON, NULL, &hold),
			KUSTOS_OK);
		hold_give(hold);
	}
	test_eventually(atomic_load(&hog.rounds) > 20, 5000);
	atomic_store(&hog.stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	kustos_mutex_destroy(hog.mutex);
	kustos_mutex_destroy(theirs);
}
END_TEST

struct blocked {
	struct kustos_mutex *mutex;
	enum kustos_err err;
	atomic_bool over;
};

static void *wait_blocked(void *arg)
{
	struct blocked *b = arg;

	b->err = kustos_mutex_lock(b->mutex, KUSTOS_FOREVER, NULL);
	atomic_store(&b->over, true);
	return NULL;
}

/* Start a thread, and return when it waits behind a rival. */
static void block(struct blocked *b, pthread_t *thread)
{
	ck_assert_int_eq(pthread_create(thread, NULL, wait_blocked, b), 0);
	line_wait(2);
}

START_TEST(destroying_a_mutex_ends_its_waits)
{
	struct blocked b = { .mutex = mutex_new(client, handoffs[_i]) };
	struct ask asks[5] = { { .calls = 0 } };
	struct rival rival;
	pthread_t thread;

	rival_enter(&rival);
	block(&b, &thread);
	for (int i = 0; i < 5; i++)
		ask(&asks[i], b.mutex, KUSTOS_FOREVER);
	ck_assert(!atomic_load(&b.over));
	kustos_mutex_destroy(b.mutex);
	pthread_join(thread, NULL);
	check_err(b.err, KUSTOS_ECLOSED);
	for (int i = 0; i < 5; i++)
		check_err(ask_wait(&asks[i], 2000), KUSTOS_ECLOSED);
	line_wait(1);
	rival_leave(&rival);
}
END_TEST

START_TEST(destroying_a_mutex_spares_its_hold)
{
	struct kustos_mutex *mutex = mutex_new(client, handoffs[_i]);
	struct kustos_hold *hold = hold_take(mutex);
	struct ask asks[5] = { { .calls = 0 } };

	for (int i = 0; i < 5; i++)
		ask(&asks[i], mutex, KUSTOS_FOREVER);
	kustos_mutex_destroy(mutex);
	for (int i = 0; i < 5; i++)
		check_err(ask_wait(&asks[i], 2000), KUSTOS_ECLOSED);
	line_wait(1);
	check_node(hold, client);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	hold_give(hold);
}
END_TEST

START_TEST(destroying_a_mutex_releases_what_its_threads_have_locked)
{
	struct kustos_mutex *mutex = mutex_new(client, handoffs[_i]);

	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
	kustos_mutex_destroy(mutex);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 0);
}
END_TEST

/* Never freed after the close of their client. */
static struct kustos_mutex *volatile left[2];
static struct kustos_hold *volatile left_hold;

START_TEST(L01_closing_a_client_ends_each_wait_once)
{
	struct kustos_client *victim = client_connected(fixture_address(),
		T_MS);
	struct blocked b = { .mutex = mutex_new(victim, handoffs[_i]) };
	struct ask asks[20] = { { .calls = 0 } };
	struct rival rival;
	pthread_t thread;

	left[0] = b.mutex;
	left[1] = mutex_new(victim, handoffs[_i]);
	rival_enter(&rival);
	block(&b, &thread);
	for (int i = 0; i < 20; i++)
		ask(&asks[i], left[i % 2], KUSTOS_FOREVER);
	client_close(victim);
	pthread_join(thread, NULL);
	check_err(b.err, KUSTOS_ECLOSED);
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(asks[i].calls, 1);
		check_err(asks[i].err, KUSTOS_ECLOSED);
	}
	ck_assert_int_eq(line_count(), 1);
	rival_leave(&rival);
}
END_TEST

START_TEST(L01_closing_a_client_gives_back_what_it_holds)
{
	struct kustos_client *victim = client_connected(fixture_address(),
		T_MS);
	struct kustos_mutex *rivals = mutex_new(client, 0);
	struct ask own = { .calls = 0 }, rival = { .calls = 0 };

	left[0] = mutex_new(victim, handoffs[_i]);
	left_hold = hold_take(left[0]);
	ask(&own, left[0], KUSTOS_FOREVER);
	ask(&rival, rivals, SOON);
	ck_assert(ask_waits(&own) && ask_waits(&rival));
	client_close(victim);
	ck_assert_int_eq(own.calls, 1);
	check_err(own.err, KUSTOS_ECLOSED);
	check_err(ask_wait(&rival, 2000), KUSTOS_OK);
	hold_give(rival.hold);
	kustos_mutex_destroy(rivals);
}
END_TEST

/* What a holder is told, and how its release ends. */
struct farewell {
	int calls;
	enum kustos_hold_state state;
	enum kustos_err err;
};

static void take_leave(void *arg, struct kustos_hold *hold)
{
	struct farewell *f = arg;

	f->calls++;
	f->state = kustos_hold_state(hold);
	f->err = kustos_hold_release(hold);
}

START_TEST(L01_a_hold_that_is_left_is_lost_with_its_client_and_may_go_then)
{
	struct kustos_client *victim = client_connected(fixture_address(),
		T_MS);
	struct kustos_mutex *mutex = mutex_new(victim, handoffs[_i]);
	struct farewell f = { .calls = 0 };

	check_err(kustos_hold_on_lost(hold_take(mutex), take_leave, &f),
		KUSTOS_OK);
	kustos_mutex_destroy(mutex);
	client_close(victim);
	ck_assert_int_eq(f.calls, 1);
	ck_assert_int_eq(f.state, KUSTOS_HOLD_LOST);
	check_err(f.err, KUSTOS_ELOST);
	ck_assert_int_eq(line_count(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, threads");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t,
		many_threads_on_one_object_exclude_each_other_and_are_all_served,
		0, 3);
	tcase_add_loop_test(t, many_objects_in_many_threads_exclude_each_other,
		0, 3);
	tcase_add_loop_test(t,
		a_thousand_waiters_take_no_thread_each_and_are_all_served, 0,
		3);
	tcase_add_test(t,
		without_local_hand_overs_all_clients_are_served_in_one_order);
	tcase_add_test(t, local_hand_overs_keep_the_token_and_are_limited);
	tcase_add_test(t, local_hand_overs_end_after_50_ms);
	tcase_add_test(t, a_busy_process_does_not_starve_another);
	tcase_add_loop_test(t, destroying_a_mutex_ends_its_waits, 0, 3);
	tcase_add_loop_test(t, destroying_a_mutex_spares_its_hold, 0, 3);
	tcase_add_loop_test(t,
		destroying_a_mutex_releases_what_its_threads_have_locked, 0, 3);
	tcase_add_loop_test(t, L01_closing_a_client_ends_each_wait_once, 0, 3);
	tcase_add_loop_test(t, L01_closing_a_client_gives_back_what_it_holds, 0,
		3);
	tcase_add_loop_test(t,
		L01_a_hold_that_is_left_is_lost_with_its_client_and_may_go_then,
		0, 3);
	return fixture_main(s);
}
