/*
 * test_semaphore_cost.c - how many requests and round trips a lease takes, and
 * that nothing grows over many leases.
 */
#include "process.h"
#include "semaphore_fixture.h"

#include <string.h>

#define T_MS 60000 /* so that heartbeats are rare */
#define MAX 3
#define WAITERS 60

/* "client" is behind a proxy. */
static void set_up(void)
{
	pair_open_behind_proxy(T_MS, 0);
	sem = sem_new(client, MAX);
	others = sem_new(other, MAX);
	for (int i = 0; i < 3; i++) { /* the nodes, and the note, are there */
		hold_give(sem_take(sem));
		hold_give(sem_take(others));
		sem_flush();
	}
}

static uint64_t sent(void)
{
	return client_stats(client).sent;
}

START_TEST(a_lease_with_room_is_three_requests)
{
	uint64_t before = sent();

	for (int i = 0; i < 100; i++)
		hold_give(sem_take(sem));
	pair_flush();
	/* Create and list, delete; a lease that lasts is also watched. */
	ck_assert_uint_ge(sent() - before, 300);
	ck_assert_uint_le(sent() - before, 360);
	ck_assert_int_eq(sem_count(LOCKS), 0);
}
END_TEST

START_TEST(leases_taken_together_have_one_listing)
{
	struct kustos_hold *all[MAX];

	proxy_reset_counts(proxy);
	sem_take_many(sem, MAX, all);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE2), MAX);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 1);
	give_many(all, MAX);
}
END_TEST

/* None of them stands in the line. */
START_TEST(leases_asked_for_at_once_are_tried_for_together)
{
	struct ask asks[MAX];

	memset(asks, 0, sizeof(asks));
	proxy_set_delay(proxy, 0, 100);
	proxy_reset_counts(proxy);
	for (int i = 0; i < MAX; i++)
		sem_ask(&asks[i], sem, SOON);
	for (int i = 0; i < MAX; i++)
		check_err(ask_wait(&asks[i], 5000), KUSTOS_OK);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE2), MAX);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_CHILDREN2), MAX);
	proxy_set_delay(proxy, 0, 0);
	for (int i = 0; i < MAX; i++)
		hold_give(asks[i].hold);
}
END_TEST

/* Answers take this long, so that time tells the number of round trips, on a
   machine that is late by no more than one. */
#define TRIP_MS 400

/* Return how many round trips it took until a lease was granted; 1 where times
   say nothing. */
static int64_t round_trips(void)
{
	int64_t began = test_now_ms();
	struct kustos_hold *hold = sem_take(sem);
	int64_t took = test_now_ms() - began;

	hold_give(hold);
	return TEST_CLOCK_COUNTS ? took / TRIP_MS : 1;
}

START_TEST(a_lease_with_room_is_one_round_trip)
{
	proxy_set_delay(proxy, 0, TRIP_MS);
	ck_assert_int_eq(round_trips(), 1);
	proxy_set_delay(proxy, 0, 0);
}
END_TEST

/* A client that had to wait joins the line first the next time, and does not
   try: then it takes one round trip for the line and one for the lease.  (One
   in all, if it looked so late that there was room again.) */
START_TEST(a_lease_after_a_wait_is_two_round_trips)
{
	struct kustos_hold *all[MAX];
	struct ask waits = { 0 };

	sem_take_many(others, MAX, all);
	sem_ask(&waits, sem, SOON);
	sem_wait_count(LOCKS, 1);
	sem_wait_count(LEASES, MAX + 1);
	pair_flush(); /* it has seen that there is no room */
	give_many(all, MAX);
	check_err(ask_wait(&waits, 5000), KUSTOS_OK);
	hold_give(waits.hold);
	sem_flush();
	proxy_set_delay(proxy, 0, TRIP_MS);
	ck_assert_int_le(round_trips(), 2);
	ck_assert_int_eq(round_trips(), 1);
	proxy_set_delay(proxy, 0, 0);
}
END_TEST

/* Ask while there is no room, and wait until that is known. */
static void ask_in_vain(struct ask *waits, struct kustos_hold **all)
{
	*waits = (struct ask){ .calls = 0 };
	sem_take_many(others, MAX, all);
	sem_ask(waits, sem, SOON);
	sem_wait_count(LOCKS, 1);
	sem_wait_count(LEASES, MAX + 1);
	pair_flush();
	ck_assert(ask_waits(waits));
}

static void get_after_all(struct ask *waits, struct kustos_hold **all)
{
	give_many(all, MAX);
	check_err(ask_wait(waits, 5000), KUSTOS_OK);
	hold_give(waits->hold);
	sem_flush();
}

/* A try in vain would wake the first in line for nothing. */
START_TEST(L28_who_had_to_wait_does_not_try_the_next_time)
{
	struct kustos_hold *all[MAX];
	struct ask waits;

	ask_in_vain(&waits, all);
	get_after_all(&waits, all);
	proxy_reset_counts(proxy);
	ask_in_vain(&waits, all);
	/* Its place in the line, and then its lease. */
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE2), 2);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_DELETE), 0);
	get_after_all(&waits, all);
}
END_TEST

START_TEST(a_shared_number_is_read_once)
{
	struct kustos_semaphore *shared = sem_shared(client);

	sem_set(shared, MAX);
	hold_give(sem_take(shared));
	pair_flush();
	proxy_reset_counts(proxy);
	for (int i = 0; i < 10; i++)
		hold_give(sem_take(shared));
	pair_flush();
	/* Except for the nodes of leases that last. */
	ck_assert_int_le(proxy_count(proxy, ZK_OP_GET), 5);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 10);
	proxy_reset_counts(proxy);
	sem_set(shared, MAX - 1);
	pair_hear(client); /* the event arrives before this */
	ck_assert_int_gt(proxy_events(proxy), 0);
	hold_give(sem_take(shared));
	ck_assert_int_eq(kustos_semaphore_max(shared), MAX - 1);
	kustos_semaphore_destroy(shared);
}
END_TEST

/* Only the first in line looks when the leases change. */
START_TEST(L28_a_release_wakes_one_however_many_wait)
{
	static struct ask asks[WAITERS];
	struct kustos_hold *all[MAX];
	uint64_t before;

	sem_take_many(others, MAX, all);
	memset(asks, 0, sizeof(asks));
	for (int i = 0; i < WAITERS; i++) {
		asks[i].release = true;
		sem_ask(&asks[i], sem, SOON);
	}
	sem_wait_count(LOCKS, WAITERS);
	sem_wait_count(LEASES, MAX + 1);
	pair_flush();
	proxy_reset_counts(proxy);
	before = sent();
	give_many(all, 1);
	for (int i = 0; i < WAITERS; i++)
		check_err(ask_wait(&asks[i], 20000), KUSTOS_OK);
	sem_flush();
	ck_assert_int_ge(proxy_count(proxy, ZK_OP_CREATE2), WAITERS - 1);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_CREATE2), WAITERS);
	/* Two listings of the leases each, because a release wakes the next
	   one; hardly any of the locks. */
	ck_assert_int_le(proxy_count(proxy, ZK_OP_CHILDREN2), 3 * WAITERS);
	ck_assert_uint_le(sent() - before, 8 * WAITERS);
	give_many(all + 1, MAX - 1);
}
END_TEST

static void churn(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		struct kustos_semaphore *one = sem_new(client, MAX);
		struct kustos_hold *all[MAX], *hold = NULL;
		struct ask waits = { .release = true };

		sem_take_many(others, MAX, all);
		sem_ask(&waits, one, SOON);
		check_err(kustos_semaphore_acquire(one, kustos_after_ms(1),
				  NULL, &hold),
			KUSTOS_ETIMEDOUT);
		give_many(all, MAX);
		check_err(ask_wait(&waits, 5000), KUSTOS_OK);
		hold_give(sem_take(one));
		kustos_semaphore_destroy(one);
	}
	sem_flush();
}

/* A sanitizer keeps freed memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define rss_kb() 0
#endif

START_TEST(P05_nothing_grows_over_thousands_of_leases)
{
	long kb, fds;

	churn(100); /* after this the clients no longer probe servers */
	fds = fd_count();
	kb = rss_kb();
	churn(500);
	ck_assert_int_le(rss_kb(), kb + 300);
	ck_assert_int_eq(fd_count(), fds);
	kustos_semaphore_destroy(sem);
	kustos_semaphore_destroy(others);
	sem_flush();
	test_eventually(watch_count() == 0, 1000);
	sem = others = NULL;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("semaphore, cost");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, sem_pair_close);
	tcase_add_test(t, a_lease_with_room_is_three_requests);
	tcase_add_test(t, leases_taken_together_have_one_listing);
	tcase_add_test(t, leases_asked_for_at_once_are_tried_for_together);
	tcase_add_test(t, a_lease_with_room_is_one_round_trip);
	tcase_add_test(t, a_lease_after_a_wait_is_two_round_trips);
	tcase_add_test(t, L28_who_had_to_wait_does_not_try_the_next_time);
	tcase_add_test(t, a_shared_number_is_read_once);
	tcase_add_test(t, L28_a_release_wakes_one_however_many_wait);
	tcase_add_test(t, P05_nothing_grows_over_thousands_of_leases);
	return fixture_main(s);
}
