/*
 * test_rwlock_threads.c - many threads, many objects and many waiters: readers
 * share, writers are alone, all are served, and every wait ends when its lock
 * or client is closed.
 */
#include "interop/spans.h"
#include "process.h"
#include "rwlock_fixture.h"

#include <stdlib.h>
#include <string.h>

#define T_MS 40000
#define THREADS 20
#define ROUNDS 20
#define MANY 300 /* who wait; the last of each EACH writes */
#define EACH 50

static void set_up(void)
{
	pair_open(T_MS, 0);
	rw_pair_make(32);
}

/* --- A table that many read and some change ------------------------------ */

/* A thread, and when it held what.  Of ten turns seven read, two write, and one
   writes and then reads. */
struct worker {
	struct kustos_rwlock *rw;
	pthread_t thread;
	unsigned seed;
	struct spans spans;
};

/* Inside at present, in the whole program. */
static atomic_int readers, writers;

static int64_t now_ns(void)
{
	return test_now_us() * 1000;
}

static void read_for_a_while(struct worker *w)
{
	int64_t from = now_ns();

	atomic_fetch_add(&readers, 1);
	ck_assert_int_eq(atomic_load(&writers), 0);
	test_pause_1ms();
	ck_assert_int_eq(atomic_load(&writers), 0);
	atomic_fetch_sub(&readers, 1);
	ck_assert_int_eq(spans_add_shared(&w->spans, from, now_ns() - 1000, 0),
		0);
}

static void write_for_a_while(struct worker *w)
{
	int64_t from = now_ns();

	ck_assert_int_eq(atomic_fetch_add(&writers, 1), 0);
	ck_assert_int_eq(atomic_load(&readers), 0);
	test_pause_1ms();
	ck_assert_int_eq(atomic_load(&readers), 0);
	ck_assert_int_eq(atomic_fetch_sub(&writers, 1), 1);
	ck_assert_int_eq(spans_add(&w->spans, from, now_ns() - 1000, 0), 0);
}

static void turn(struct worker *w)
{
	int kind = rand_r(&w->seed) % 10;

	if (kind < 7) {
		rw_lock(w->rw, KUSTOS_READ);
		read_for_a_while(w);
		rw_unlock(w->rw, KUSTOS_READ);
		return;
	}
	rw_lock(w->rw, KUSTOS_WRITE);
	write_for_a_while(w);
	if (kind == 7)
		rw_lock(w->rw, KUSTOS_READ);
	rw_unlock(w->rw, KUSTOS_WRITE);
	if (kind == 7) {
		read_for_a_while(w);
		rw_unlock(w->rw, KUSTOS_READ);
	}
}

static void *work(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		turn(arg);
	return NULL;
}

/* Collect all spans in one list and check it. */
static void check_spans(struct worker *workers)
{
	struct spans all = { 0 };

	for (int i = 0; i < THREADS; i++)
		for (size_t k = 0; k < workers[i].spans.count; k++) {
			const struct span *one = &workers[i].spans.list[k];

			ck_assert_int_eq((one->shared ? spans_add_shared
						      : spans_add)(&all,
						 one->from, one->to, i),
				0);
		}
	ck_assert_uint_ge(all.count, THREADS * ROUNDS);
	ck_assert_uint_eq(spans_overlaps(&all), 0);
	ck_assert_uint_gt(spans_together(&all), THREADS);
	spans_free(&all);
	for (int i = 0; i < THREADS; i++)
		spans_free(&workers[i].spans);
}

static const int handoffs[] = { 0, 1, 32 };
static const int objects[] = { 1, THREADS };

START_TEST(S13_threads_that_read_and_write_at_random_keep_the_rules)
{
	static struct worker workers[THREADS];
	int count = objects[_i % 2];

	for (int i = 0; i < THREADS; i++)
		workers[i].rw = i < count
			? rw_new(i % 2 ? other : client, handoffs[_i / 2])
			: workers[0].rw;
	for (int i = 0; i < THREADS; i++) {
		workers[i].seed = (unsigned)(_i * THREADS + i);
		ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work,
					 &workers[i]),
			0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	check_spans(workers);
	for (int i = 0; i < count; i++)
		kustos_rwlock_destroy(workers[i].rw);
}
END_TEST

/* --- Many waiters, and few threads --------------------------------------- */

START_TEST(hundreds_of_waiters_are_served_in_order_and_readers_together)
{
	static struct ask asks[MANY];
	struct kustos_rwlock *rws[] = { rw_new(client, 0), rw_new(client, 0) };
	struct kustos_hold *hold = rw_take(rws[0], KUSTOS_WRITE);
	int before = thread_count();

	for (int i = 0; i < MANY; i++)
		rw_ask(&asks[i], rws[i % 2],
			i % EACH == EACH - 1 ? KUSTOS_WRITE : KUSTOS_READ,
			SOON);
	line_wait(MANY + 1);
	ck_assert_int_le(thread_count(), before + 2);
	hold_give(hold);
	for (int i = 0; i < MANY; i += EACH) {
		struct ask *writer = &asks[i + EACH - 1];

		for (int k = i; k < i + EACH - 1; k++)
			check_err(ask_wait(&asks[k], 8000), KUSTOS_OK);
		for (int k = i; k < i + EACH - 1; k++) {
			ck_assert(ask_waits(writer));
			hold_give(asks[k].hold);
		}
		check_err(ask_wait(writer, 8000), KUSTOS_OK);
		ck_assert(i + EACH == MANY || ask_waits(&asks[i + EACH]));
		hold_give(writer->hold);
	}
	kustos_rwlock_destroy(rws[0]);
	kustos_rwlock_destroy(rws[1]);
}
END_TEST

/* Threads that never pause, of one side.  They must not starve the other
   side. */
struct hog {
	struct kustos_rwlock *rw;
	enum kustos_side side;
	atomic_bool stop;
	atomic_int rounds;
};

static void *hog_it(void *arg)
{
	struct hog *hog = arg;

	for (; !atomic_load(&hog->stop); atomic_fetch_add(&hog->rounds, 1)) {
		rw_lock(hog->rw, hog->side);
		rw_unlock(hog->rw, hog->side);
	}
	return NULL;
}

START_TEST(neither_side_starves_the_other)
{
	struct hog hog = { .rw = rw_new(client, 32),
		.side = (enum kustos_side)(_i % 2) };
	struct kustos_rwlock *theirs = _i / 2 ? rw_new(other, 32) : hog.rw;
	pthread_t threads[4];
	int begun;

	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, hog_it, &hog), 0);
	test_eventually((begun = atomic_load(&hog.rounds)) > 0, 2000);
	/* If it were starved, it would be for good. */
	for (int i = 0; i < 20 || atomic_load(&hog.rounds) <= begun + 20; i++) {
		ck_assert_int_lt(i, 1000);
		hold_give(rw_take(theirs, !hog.side));
	}
	atomic_store(&hog.stop, true);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	kustos_rwlock_destroy(hog.rw);
	if (_i / 2)
		kustos_rwlock_destroy(theirs);
}
END_TEST

/* --- Its end ------------------------------------------------------------- */

struct blocked {
	struct kustos_rwlock *rw;
	enum kustos_side side;
	enum kustos_err err;
};

static void *wait_blocked(void *arg)
{
	struct blocked *b = arg;

	b->err = kustos_rwlock_lock(b->rw, b->side, KUSTOS_FOREVER, NULL);
	return NULL;
}

START_TEST(destroying_it_ends_the_waits_for_both_sides)
{
	struct blocked b[SIDES];
	struct ask asks[4] = { { .calls = 0 } };
	struct kustos_rwlock *lock = rw_new(client, handoffs[_i]);
	pthread_t threads[SIDES];
	struct rival rival;

	rw_rival_enter(&rival, KUSTOS_WRITE);
	for (int side = 0; side < SIDES; side++) {
		b[side] = (struct blocked){ lock, (enum kustos_side)side,
			KUSTOS_OK };
		ck_assert_int_eq(pthread_create(&threads[side], NULL,
					 wait_blocked, &b[side]),
			0);
		line_wait(side + 2);
	}
	for (int i = 0; i < 4; i++)
		rw_ask(&asks[i], lock, (enum kustos_side)(i % 2),
			KUSTOS_FOREVER);
	kustos_rwlock_destroy(lock);
	for (int side = 0; side < SIDES; side++) {
		pthread_join(threads[side], NULL);
		check_err(b[side].err, KUSTOS_ECLOSED);
	}
	for (int i = 0; i < 4; i++)
		check_err(ask_wait(&asks[i], 2000), KUSTOS_ECLOSED);
	line_wait(1);
	rival_leave(&rival);
}
END_TEST

START_TEST(destroying_it_spares_its_holds)
{
	struct kustos_rwlock *lock = rw_new(client, handoffs[_i]);
	struct kustos_hold *writer = rw_take(lock, KUSTOS_WRITE);
	struct kustos_hold *reader = rw_downgrade(lock, writer);
	struct ask asks[4] = { { .calls = 0 } };

	for (int i = 0; i < 4; i++)
		rw_ask(&asks[i], lock, (enum kustos_side)(i % 2),
			KUSTOS_FOREVER);
	kustos_rwlock_destroy(lock);
	for (int i = 0; i < 4; i++)
		check_err(ask_wait(&asks[i], 2000), KUSTOS_ECLOSED);
	line_wait(2);
	check_node(writer, client);
	rw_check_node(reader, client);
	ck_assert_int_eq(kustos_hold_state(writer), KUSTOS_HOLD_HELD);
	hold_give(writer);
	ck_assert_int_eq(kustos_hold_state(reader), KUSTOS_HOLD_HELD);
	line_wait(1);
	hold_give(reader);
}
END_TEST

static const char *const locked[] = { "00", "11", "10", "1001" };
#define LOCKED 4

START_TEST(destroying_it_releases_what_its_threads_have_locked)
{
	struct kustos_rwlock *lock = rw_new(client, 32);

	for (const char *step = locked[_i]; *step != '\0'; step++)
		rw_lock(lock, (enum kustos_side)(*step - '0'));
	kustos_rwlock_destroy(lock);
	rw_flush();
	ck_assert_int_eq(line_count(), 0);
}
END_TEST

/* Never freed after the close of their client. */
static struct kustos_rwlock *volatile left;
static struct kustos_hold *volatile left_holds[2];

START_TEST(L01_closing_a_client_gives_back_all_and_ends_each_wait_once)
{
	struct kustos_client *victim = client_connected(fixture_address(),
		T_MS);
	struct ask asks[6] = { { .calls = 0 } }, rival = { .calls = 0 };

	left = rw_new(victim, handoffs[_i]);
	left_holds[0] = rw_take(left, KUSTOS_WRITE);
	left_holds[1] = rw_downgrade(left, left_holds[0]);
	rw_ask(&rival, rw_rivals, KUSTOS_WRITE, SOON);
	for (int i = 0; i < 6; i++)
		rw_ask(&asks[i], left, (enum kustos_side)(i % 2),
			KUSTOS_FOREVER);
	ck_assert(ask_waits(&rival));
	client_close(victim);
	for (int i = 0; i < 6; i++) {
		ck_assert_int_eq(asks[i].calls, 1);
		check_err(asks[i].err, KUSTOS_ECLOSED);
	}
	check_err(ask_wait(&rival, 2000), KUSTOS_OK);
	hold_give(rival.hold);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rwlock, threads");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, rw_pair_close);
	tcase_add_loop_test(t,
		S13_threads_that_read_and_write_at_random_keep_the_rules, 0,
		2 * 3);
	tcase_add_test(t,
		hundreds_of_waiters_are_served_in_order_and_readers_together);
	tcase_add_loop_test(t, neither_side_starves_the_other, 0, 4);
	tcase_add_loop_test(t, destroying_it_ends_the_waits_for_both_sides, 0,
		3);
	tcase_add_loop_test(t, destroying_it_spares_its_holds, 0, 3);
	tcase_add_loop_test(t,
		destroying_it_releases_what_its_threads_have_locked, 0, LOCKED);
	tcase_add_loop_test(t,
		L01_closing_a_client_gives_back_all_and_ends_each_wait_once, 0,
		3);
	return fixture_main(s);
}
