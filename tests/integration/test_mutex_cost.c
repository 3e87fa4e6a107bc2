/*
 * test_mutex_cost.c - how many requests a mutex sends, and that nothing grows
 * over many holds: watches, memory, descriptors, threads.
 */
#include "mutex_fixture.h"
#include "process.h"
#include "proxy.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 60000 /* so that heartbeats are rare */
#define MOST_CLIENTS 10
#define MOST_WAITERS 1000

static struct kustos_client *clients[MOST_CLIENTS];
static struct kustos_mutex *mutexes[MOST_CLIENTS];

static void open_clients(int count, int handoffs)
{
	for (int i = 0; i < count; i++) {
		clients[i] = client_connected(fixture_address(), T_MS);
		mutexes[i] = mutex_new(clients[i], handoffs);
	}
}

static void close_clients(int count)
{
	for (int i = 0; i < count; i++) {
		kustos_mutex_destroy(mutexes[i]);
		client_close(clients[i]);
	}
}

static void flush(int count)
{
	for (int i = 0; i < count; i++)
		check_err(kustos_client_flush(clients[i], SOON, NULL),
			KUSTOS_OK);
}

static uint64_t sent(int count)
{
	uint64_t sum = 0;

	for (int i = 0; i < count; i++)
		sum += client_stats(clients[i]).sent;
	return sum;
}

/* Return the value that the server reports under that name ("mntr"). */
static long monitored(const char *name)
{
	char text[16384];
	const char *at;

	ck_assert_uint_gt(
		fourletter(fixture_address(), "mntr", text, sizeof(text)), 0);
	at = strstr(text, name);
	ck_assert_ptr_nonnull(at);
	return atol(at + strlen(name));
}

START_TEST(an_uncontended_hold_is_three_requests)
{
	uint64_t before;

	open_clients(1, 0);
	hold_give(hold_take(mutexes[0]));
	flush(1);
	before = sent(1);
	for (int i = 0; i < 100; i++)
		hold_give(hold_take(mutexes[0]));
	flush(1);
	/* Create and list, delete; a hold that lasts is also watched. */
	ck_assert_uint_ge(sent(1) - before, 300);
	ck_assert_uint_le(sent(1) - before, 360);
	close_clients(1);
}
END_TEST

/* Let "waiters" wait, on "count" clients in turn, and serve them one after the
   other.  Returns how many requests they sent from the first release on. */
static uint64_t serve(int waiters, int count)
{
	static struct ask asks[MOST_WAITERS];
	struct kustos_hold *hold = hold_take(mutexes[0]);
	uint64_t before;
	long packets;

	for (int i = 0; i < waiters; i++) {
		memset(&asks[i], 0, sizeof(asks[i]));
		asks[i].release = true;
		ask(&asks[i], mutexes[i % count], SOON);
	}
	line_wait(waiters + 1);
	flush(count);
	before = sent(count);
	packets = monitored("zk_packets_received");
	hold_give(hold);
	for (int i = 0; i < waiters; i++)
		check_err(ask_wait(&asks[i], 30000), KUSTOS_OK);
	flush(count);
	ck_assert_uint_ge(sent(count) - before, (uint64_t)waiters);
	/* Nobody else sends requests, so the server's own count must agree. */
	packets = monitored("zk_packets_received") - packets;
	ck_assert_int_le(packets, (long)(sent(count) - before) + 100);
	return sent(count) - before;
}

START_TEST(L28_waiters_of_one_client_take_three_requests_each)
{
	open_clients(1, 0);
	ck_assert_uint_le(serve(500, 1), 500 * 3 + 50);
	close_clients(1);
}
END_TEST

START_TEST(L28_a_release_takes_few_requests_however_many_wait)
{
	uint64_t few, many;

	open_clients(MOST_CLIENTS, 0);
	few = serve(500, MOST_CLIENTS);
	many = serve(1000, MOST_CLIENTS);
	/* Three watches, a look, and a release, which every other time is a
	   proof. */
	ck_assert_uint_le(few, 500 * 6);
	ck_assert_uint_le(many, 1000 * 6);
	ck_assert_uint_le(many, 2 * few + 2 * few * 40 / 100);
	close_clients(MOST_CLIENTS);
}
END_TEST

#define LINES 50

/* Waiters do not all look at the same time. */
START_TEST(L28_waiters_look_again_one_by_one_after_a_reconnect)
{
	struct proxy *proxy = fixture_proxy();
	struct kustos_mutex *behind[LINES] = { NULL }, *first[LINES];
	static struct ask asks[LINES];
	int64_t began, took;
	char path[32];

	open_clients(1, 0);
	clients[1] = client_connected(proxy_address(proxy), T_MS);
	for (int i = 0; i < LINES; i++) {
		snprintf(path, sizeof(path), "/lines/%d", i);
		check_err(
			kustos_mutex_create(clients[0], path, NULL, &first[i]),
			KUSTOS_OK);
		check_err(kustos_mutex_lock(first[i], SOON, NULL), KUSTOS_OK);
		check_err(
			kustos_mutex_create(clients[1], path, NULL, &behind[i]),
			KUSTOS_OK);
		ask(&asks[i], behind[i], KUSTOS_FOREVER);
	}
	check_err(kustos_client_flush(clients[1], SOON, NULL), KUSTOS_OK);
	proxy_reset_counts(proxy);
	began = test_now_ms();
	proxy_cut(proxy);
	test_eventually(proxy_count(proxy, ZK_OP_CHILDREN2) == LINES, 5000);
	took = test_now_ms() - began;
	ck_assert_int_gt(took, 400); /* of at most 1000 */
	test_never(proxy_count(proxy, ZK_OP_CHILDREN2) > LINES, 50);
	for (int i = 0; i < LINES; i++) {
		kustos_mutex_destroy(first[i]);
		check_err(ask_wait(&asks[i], 5000), KUSTOS_OK);
		hold_give(asks[i].hold);
		kustos_mutex_destroy(behind[i]);
	}
	client_close(clients[1]);
	close_clients(1);
	proxy_free(proxy);
}
END_TEST

/* Three clients take turns; each is watched by the next one. */
static void take_turns(int turns)
{
	static struct ask asks[MOST_WAITERS];

	for (int i = 0; i < turns; i++) {
		memset(&asks[i], 0, sizeof(asks[i]));
		asks[i].release = true;
		ask(&asks[i], mutexes[i % 3], SOON);
	}
	for (int i = 0; i < turns; i++)
		check_err(ask_wait(&asks[i], 30000), KUSTOS_OK);
	flush(3);
}

START_TEST(L09_P03_no_watch_is_left_after_a_thousand_turns)
{
	open_clients(3, 0);
	for (int i = 0; i < 20; i++) {
		take_turns(50);
		test_eventually(watch_count() == 0, 1000);
	}
	close_clients(3);
}
END_TEST

START_TEST(L09_P03_no_watch_is_left_by_who_gives_up)
{
	struct kustos_hold *hold;
	struct rival rivals[3];
	static struct ask asks[60];

	open_clients(3, 0);
	for (int i = 0; i < 3; i++)
		rival_enter(&rivals[i]);
	for (int i = 0; i < 60; i++)
		ask(&asks[i], mutexes[i % 3], kustos_after_ms(50 + i));
	for (int i = 0; i < 60; i++)
		check_err(ask_wait(&asks[i], 5000), KUSTOS_ETIMEDOUT);
	flush(3);
	test_eventually(watch_count() == 0, 1000);
	ck_assert_int_eq(line_count(), 3);
	for (int i = 0; i < 3; i++)
		rival_leave(&rivals[i]);
	/* A hold has one watch, on its own node. */
	hold = hold_take(mutexes[0]);
	test_eventually(watch_count() == 1, 1000);
	hold_give(hold);
	flush(1);
	test_eventually(watch_count() == 0, 1000);
	close_clients(3);
}
END_TEST

/* Contenders that come and go do not make each other create new places. */
START_TEST(L12_a_place_is_made_once_however_the_line_changes)
{
	struct proxy *proxy = fixture_proxy();
	static struct ask asks[100];
	int timed_out = 0;

	for (int i = 0; i < 5; i++) {
		clients[i] = client_connected(proxy_address(proxy), T_MS);
		mutexes[i] = mutex_new(clients[i], 0);
	}
	for (int round = 0; round < 5; round++) {
		memset(asks, 0, sizeof(asks));
		proxy_reset_counts(proxy);
		for (int i = 0; i < 100; i++) {
			asks[i].release = true;
			ask(&asks[i], mutexes[i % 5],
				i % 3 ? SOON : kustos_after_ms(10));
		}
		for (int i = 0; i < 100; i++)
			timed_out += ask_wait(&asks[i], 20000) != KUSTOS_OK;
		flush(5);
		/* One each; in the first round also the line's nodes. */
		ck_assert_int_le(proxy_count(proxy, ZK_OP_CREATE2),
			round == 0 ? 200 : 100);
		ck_assert_int_eq(line_count(), 0);
	}
	ck_assert_int_gt(timed_out, 0);
	close_clients(5);
	proxy_free(proxy);
}
END_TEST

struct usage {
	long rss_kb;
	int threads, fds, watches;
};

/* A sanitizer keeps freed memory, so sizes say nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIZES_MEAN_NOTHING 1
#else
#define SIZES_MEAN_NOTHING 0
#endif

static struct usage usage_now(void)
{
	return (struct usage){ SIZES_MEAN_NOTHING ? 0 : rss_kb(),
		thread_count(), fd_count(), watch_count() };
}

/* Hold, contend, time out and destroy: all that can happen. */
static void churn(int rounds)
{
	for (int i = 0; i < rounds; i++) {
		struct kustos_mutex *m = mutex_new(clients[1], i % 3);
		struct kustos_hold *hold = NULL;
		struct ask a = { .release = true };
		int lost = 0;

		check_err(kustos_mutex_lock(mutexes[0], SOON, NULL), KUSTOS_OK);
		ask(&a, m, SOON);
		check_err(kustos_mutex_acquire(m, KUSTOS_NOW, NULL, &hold),
			KUSTOS_EBUSY);
		check_err(kustos_mutex_unlock(mutexes[0]), KUSTOS_OK);
		hold = hold_take(m);
		check_err(kustos_hold_on_lost(hold, count_call, &lost),
			KUSTOS_OK);
		check_err(kustos_hold_at_risk(hold, 1, count_call, &lost),
			KUSTOS_OK);
		hold_give(hold);
		check_err(ask_wait(&a, 5000), KUSTOS_OK);
		kustos_mutex_destroy(m);
	}
	flush(2);
	/* Threads that ran callbacks end after a second. */
	test_eventually(thread_count() <= 7, 3000);
}

START_TEST(P05_nothing_grows_over_ten_thousand_holds)
{
	struct usage before, after;

	open_clients(2, 32);
	churn(300);
	before = usage_now();
	churn(3200); /* each round has three holds */
	after = usage_now();
	ck_assert_int_le(after.rss_kb, before.rss_kb + 400);
	ck_assert_int_le(after.threads, before.threads);
	ck_assert_int_eq(after.fds, before.fds);
	ck_assert_int_eq(after.watches, 0);
	close_clients(2);
}
END_TEST

START_TEST(P05_nothing_grows_with_lines_that_are_used_once)
{
	struct usage before = { 0 }, after;

	open_clients(1, 32);
	for (int i = 0; i < 2200; i++) {
		struct kustos_mutex *m = NULL;
		char path[32];

		if (i == 200)
			before = usage_now();
		snprintf(path, sizeof(path), "/once/%d", i % 100);
		check_err(kustos_mutex_create(clients[0], path, NULL, &m),
			KUSTOS_OK);
		check_err(kustos_mutex_lock(m, SOON, NULL), KUSTOS_OK);
		check_err(kustos_mutex_unlock(m), KUSTOS_OK);
		kustos_mutex_destroy(m);
	}
	flush(1);
	after = usage_now();
	ck_assert_int_le(after.rss_kb, before.rss_kb + 200);
	ck_assert_int_eq(after.fds, before.fds);
	ck_assert_int_eq(after.watches, 0);
	close_clients(1);
}
END_TEST

START_TEST(a_waiting_lock_takes_less_than_two_kilobytes)
{
	static struct kustos_mutex *waiting[MOST_WAITERS];
	static struct ask asks[MOST_WAITERS];
	struct kustos_hold *hold;
	size_t before;

	open_clients(2, 0);
	hold = hold_take(mutexes[0]);
	before = mallinfo2().uordblks;
	for (int i = 0; i < MOST_WAITERS; i++) {
		waiting[i] = mutex_new(clients[1], 0);
		asks[i].release = true;
		ask(&asks[i], waiting[i], SOON);
	}
	line_wait(MOST_WAITERS + 1);
	flush(2);
	if (!SIZES_MEAN_NOTHING)
		ck_assert_uint_lt(mallinfo2().uordblks - before,
			MOST_WAITERS * 2048);
	hold_give(hold);
	for (int i = 0; i < MOST_WAITERS; i++)
		check_err(ask_wait(&asks[i], 30000), KUSTOS_OK);
	for (int i = 0; i < MOST_WAITERS; i++)
		kustos_mutex_destroy(waiting[i]);
	close_clients(2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, cost");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_test(t, an_uncontended_hold_is_three_requests);
	tcase_add_test(t, L28_waiters_of_one_client_take_three_requests_each);
	tcase_add_test(t, L28_a_release_takes_few_requests_however_many_wait);
	tcase_add_test(t, L28_waiters_look_again_one_by_one_after_a_reconnect);
	tcase_add_test(t, L09_P03_no_watch_is_left_after_a_thousand_turns);
	tcase_add_test(t, L09_P03_no_watch_is_left_by_who_gives_up);
	tcase_add_test(t, L12_a_place_is_made_once_however_the_line_changes);
	tcase_add_test(t, P05_nothing_grows_over_ten_thousand_holds);
	tcase_add_test(t, P05_nothing_grows_with_lines_that_are_used_once);
	tcase_add_test(t, a_waiting_lock_takes_less_than_two_kilobytes);
	return fixture_main(s);
}
