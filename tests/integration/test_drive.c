/*
 * test_drive.c - a thread that waits drives its client's handle meanwhile, if it
 * is the only one that waits (lib/drive.h).
 */
#include "mutex_fixture.h"
#include "process.h"
#include "support/proxy.h"

#include <kustos/cancel.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

/* The pings, which wake whoever drives, are far apart. */
#define T_MS 30000

static struct proxy *way;
static struct kustos_client *client;
static struct kustos_mutex *mutex;
static struct kustos_cancel *cancel;
static atomic_int reader; /* the thread that read the last answer */

static void answered(void *arg, const struct kustos_request *request)
{
	(void)arg;
	(void)request;
	atomic_store(&reader, thread_id());
}

static void set_up(void)
{
	struct kustos_client_options o;

	way = fixture_proxy();
	o = client_options(proxy_address(way), T_MS);
	o.on_request = answered;
	client = client_open_with(&o);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	mutex = mutex_new(client, 100);
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
}

static void tear_down(void)
{
	if (client != NULL) {
		kustos_mutex_destroy(mutex);
		client_close(client);
	}
	kustos_cancel_destroy(cancel);
	proxy_free(way);
}

/* Which thread reads the answer to a request that nobody waits for? */
static int reader_of_another(void)
{
	struct completions done = { 0 };

	atomic_store(&reader, 0);
	check_err(kustos_exists_async(client, "/", KUSTOS_FOREVER, NULL,
			  count_completion, &done),
		KUSTOS_OK);
	test_eventually(completions_of(&done) == 1, 500);
	return atomic_load(&reader);
}

/* On a busy machine the next call may come too late to drive. */
static bool reads_itself(void)
{
	client_exchange(client);
	client_exchange(client);
	return atomic_load(&reader) == thread_id();
}

START_TEST(who_waits_reads_the_answer)
{
	test_eventually(reads_itself(), 5000);
}
END_TEST

START_TEST(when_nobody_waits_the_handles_own_thread_reads)
{
	test_eventually(reads_itself(), 5000);
	test_eventually(reader_of_another() != thread_id(), 5000);
}
END_TEST

/* A thread that waits for a lock which the test has, and drives. */
static struct {
	pthread_t id;
	atomic_int number; /* once it drives */
	int limit_ms;	   /* 0: it waits for ever */
	enum kustos_err err;
	int64_t began_ms, ended_ms; /* its wait */
	atomic_bool over;
	struct kustos_hold *hold; /* what it waits for */
} waiter;

static void *wait_main(void *arg)
{
	(void)arg;
	while (!reads_itself())
		;
	waiter.began_ms = test_now_ms();
	atomic_store(&waiter.number, thread_id());
	waiter.err = kustos_mutex_lock(mutex,
		waiter.limit_ms > 0 ? kustos_after_ms(waiter.limit_ms)
				    : KUSTOS_FOREVER,
		cancel);
	waiter.ended_ms = test_now_ms();
	if (waiter.err == KUSTOS_OK)
		check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	atomic_store(&waiter.over, true);
	return NULL;
}

static void start_waiter(void)
{
	waiter.hold = hold_take(mutex);
	atomic_store(&waiter.number, 0);
	atomic_store(&waiter.over, false);
	ck_assert_int_eq(pthread_create(&waiter.id, NULL, wait_main, NULL), 0);
	test_eventually(atomic_load(&waiter.number) != 0, 5000);
}

static void end_waiter(enum kustos_err wanted)
{
	test_eventually(atomic_load(&waiter.over), 500);
	ck_assert_int_eq(pthread_join(waiter.id, NULL), 0);
	check_err(waiter.err, wanted);
}

static void grant(void)
{
	hold_give(waiter.hold);
	end_waiter(KUSTOS_OK);
}

/* The first may be late for that, too. */
static void start_driver(void)
{
	start_waiter();
	while (reader_of_another() != atomic_load(&waiter.number)) {
		grant();
		start_waiter();
	}
}

/* It drives for a tenth of a second at most, and on a busy machine all of this
   may be slow.  So whatever is quick need be so only once in many times. */
#define TIMES 50
#define QUICK_MS 40

START_TEST(who_waits_reads_what_is_for_others)
{
	bool read = false;

	for (int i = 0; i < TIMES && !read; i++) {
		start_driver();
		client_exchange(client);
		read = atomic_load(&reader) == atomic_load(&waiter.number);
		grant();
	}
	ck_assert(read);
}
END_TEST

/* In these two nothing is read that would end its sleep before its time. */
START_TEST(who_waits_hears_of_a_hand_over_at_once)
{
	int64_t begin, least = INT64_MAX;

	for (int i = 0; i < TIMES && least > QUICK_MS; i++) {
		start_driver();
		proxy_set_mode(way, PROXY_HOLE);
		begin = test_now_ms();
		grant();
		if (waiter.ended_ms - begin < least)
			least = waiter.ended_ms - begin;
		proxy_set_mode(way, PROXY_PASS);
		client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	}
	ck_assert_int_le(least, QUICK_MS);
}
END_TEST

START_TEST(who_waits_hears_of_a_cancel)
{
	start_driver();
	proxy_set_mode(way, PROXY_HOLE);
	kustos_cancel_fire(cancel);
	end_waiter(KUSTOS_ECANCELED);
	hold_give(waiter.hold);
	proxy_set_mode(way, PROXY_PASS);
}
END_TEST

START_TEST(who_waits_keeps_its_deadline)
{
	int64_t least = INT64_MAX;

	waiter.limit_ms = 20;
	for (int i = 0; i < TIMES && least > waiter.limit_ms + QUICK_MS; i++) {
		start_waiter();
		end_waiter(KUSTOS_ETIMEDOUT);
		hold_give(waiter.hold);
		ck_assert_int_ge(waiter.ended_ms - waiter.began_ms,
			waiter.limit_ms);
		if (waiter.ended_ms - waiter.began_ms < least)
			least = waiter.ended_ms - waiter.began_ms;
	}
	ck_assert_int_le(least, waiter.limit_ms + QUICK_MS);
}
END_TEST

START_TEST(who_waits_hears_of_the_end_of_its_session)
{
	int64_t epoch = client_epoch(client);

	start_driver();
	client_kill_session(client);
	end_waiter(KUSTOS_OK);
	client_wait_epoch(client, epoch, 10000);
	check_err(kustos_hold_release(waiter.hold), KUSTOS_ELOST);
}
END_TEST

/* A handler of a signal that takes as long as the test wants. */
static atomic_bool handles, handled;

static void take_long(int sig)
{
	(void)sig;
	atomic_store(&handles, true);
	while (!atomic_load(&handled))
		(void)poll(NULL, 0, 1);
}

/* Have it meet the handler while it certainly drives. */
static void start_held_up(void)
{
	int64_t begin;

	signal(SIGUSR1, take_long);
	for (;;) {
		atomic_store(&handles, false);
		atomic_store(&handled, false);
		start_driver();
		begin = waiter.began_ms;
		ck_assert_int_eq(pthread_kill(waiter.id, SIGUSR1), 0);
		test_eventually(atomic_load(&handles), 1000);
		if (test_now_ms() - begin < 90)
			return;
		atomic_store(&handled, true);
		grant();
	}
}

START_TEST(who_is_held_up_does_not_hold_up_the_session)
{
	start_held_up();
	ck_assert_int_ne(reader_of_another(), atomic_load(&waiter.number));
	client_exchange(client);
	hold_give(waiter.hold);
	ck_assert(!atomic_load(&waiter.over));
	atomic_store(&handled, true);
	end_waiter(KUSTOS_OK);
	test_eventually(reads_itself(), 5000);
}
END_TEST

START_TEST(who_is_held_up_does_not_hold_up_the_next_session)
{
	int64_t epoch = client_epoch(client);

	start_held_up();
	client_kill_session(client);
	client_wait_epoch(client, epoch, 10000);
	client_exchange(client);
	check_err(kustos_hold_release(waiter.hold), KUSTOS_ELOST);
	ck_assert(!atomic_load(&waiter.over));
	atomic_store(&handled, true);
	end_waiter(KUSTOS_OK);
}
END_TEST

/* It drives for a part of this. */
#define LONG_MS 1000

START_TEST(who_waits_for_long_leaves_it_to_the_own_thread)
{
	int64_t begin;

	start_driver();
	begin = test_now_ms();
	test_eventually(test_now_ms() >= begin + LONG_MS, LONG_MS);
	ck_assert_int_ne(reader_of_another(), atomic_load(&waiter.number));
	grant();
}
END_TEST

START_TEST(who_waits_does_not_keep_the_client_from_being_closed)
{
	start_driver();
	client_drop(client);
	end_waiter(KUSTOS_ECLOSED);
	client = NULL;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("driving");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, who_waits_reads_the_answer);
	tcase_add_test(t, when_nobody_waits_the_handles_own_thread_reads);
	tcase_add_test(t, who_waits_reads_what_is_for_others);
	tcase_add_test(t, who_waits_hears_of_a_hand_over_at_once);
	tcase_add_test(t, who_waits_hears_of_a_cancel);
	tcase_add_test(t, who_waits_keeps_its_deadline);
	tcase_add_test(t, who_waits_hears_of_the_end_of_its_session);
	tcase_add_test(t, who_is_held_up_does_not_hold_up_the_session);
	tcase_add_test(t, who_is_held_up_does_not_hold_up_the_next_session);
	tcase_add_test(t, who_waits_for_long_leaves_it_to_the_own_thread);
	tcase_add_test(t, who_waits_does_not_keep_the_client_from_being_closed);
	return fixture_main(s);
}
