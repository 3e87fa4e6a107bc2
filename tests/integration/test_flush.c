/*
 * test_flush.c - a flush ends with the last operation that it waits for, and
 * does not need anything else to happen.  Answers are held back by the proxy or
 * by inject.h.
 */
#include "mutex_fixture.h"

#include "client.h"
#include "inject.h"
#include "proxy.h"

#include <kustos/barrier.h>
#include <kustos/cancel.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* So long that no heartbeat interferes: the first comes after an eighth of
   it. */
#define T_MS 60000
#define BEAT_MS (T_MS / 8)
#define SHORT_MS 200
#define MANY 40 /* enough children to make the line a long one */

static struct proxy *proxy;
static struct kustos_client *client;

static void set_up(void)
{
	inject_reset();
	proxy = fixture_proxy();
	client = client_connected(proxy_address(proxy), T_MS);
}

static void tear_down(void)
{
	inject_reset();
	client_close(client);
	proxy_free(proxy);
}

/* A thread that flushes. */
struct flush {
	pthread_t thread;
	enum kustos_err err;
	atomic_bool over;
};

static void *flush_main(void *arg)
{
	struct flush *flush = arg;

	flush->err = kustos_client_flush(client, SOON, NULL);
	flush->over = true;
	return NULL;
}

/* Return how many threads are flushing. */
static int flushing(void)
{
	ku_lock(client);
	int count = client->ops.flushing;
	ku_unlock(client);
	return count;
}

static void flush_start(struct flush *flush)
{
	flush->over = false;
	ck_assert_int_eq(
		pthread_create(&flush->thread, NULL, flush_main, flush), 0);
	test_eventually(flushing() == 1, 1000);
	test_never(flush->over, SHORT_MS);
}

/* The flush must end before a heartbeat could have helped it. */
static void flush_ends(struct flush *flush, int64_t since_ms)
{
	test_eventually(flush->over, BEAT_MS);
	ck_assert_int_lt(test_now_ms() - since_ms, BEAT_MS);
	pthread_join(flush->thread, NULL);
	ck_assert_int_eq(flush->err, KUSTOS_OK);
}

/* A call that its caller has given up is still on its way.  The flush waits for
   its answer, although nobody else does. */
START_TEST(a_flush_ends_with_an_answer_that_nobody_wants)
{
	struct flush flush;
	int64_t start = test_now_ms();

	proxy_set_mode(proxy, PROXY_HOLD);
	ck_assert_int_eq(kustos_exists(client, "/", kustos_after_ms(SHORT_MS),
				 NULL, NULL),
		KUSTOS_ETIMEDOUT);
	flush_start(&flush);
	proxy_set_mode(proxy, PROXY_PASS);
	flush_ends(&flush, start);
}
END_TEST

/* Nothing was sent, and nothing can be sent: the flush waits for the operation
   to end. */
START_TEST(a_flush_ends_with_an_operation_that_was_never_sent)
{
	struct flush flush;
	struct completions done = { 0 };
	struct kustos_cancel *cancel;
	int64_t start = test_now_ms();

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	ck_assert_int_eq(kustos_exists_async(client, "/", SOON, cancel,
				 count_completion, &done),
		KUSTOS_OK);
	flush_start(&flush);
	kustos_cancel_fire(cancel);
	flush_ends(&flush, start);
	ck_assert_int_eq(kustos_client_state(client), KUSTOS_STATE_SUSPENDED);
	test_eventually(completions_of(&done) == 1, 1000);
	ck_assert_int_eq(done.err, KUSTOS_ECANCELED);
	kustos_cancel_destroy(cancel);
}
END_TEST

/* A flush does not wait for operations that begin after it. */
START_TEST(a_flush_does_not_wait_for_what_comes_later)
{
	struct flush flush;
	struct completions done = { 0 };
	int64_t start = test_now_ms();

	/* Of two answers, in the server's order, only the second is held
	   back. */
	proxy_set_mode(proxy, PROXY_HOLD);
	ck_assert_int_eq(kustos_exists_async(client, "/", SOON, NULL,
				 count_completion, &done),
		KUSTOS_OK);
	flush_start(&flush);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_GET, 1);
	ck_assert_int_eq(kustos_get_async(client, "/", SOON, NULL,
				 count_completion, &done),
		KUSTOS_OK);
	proxy_set_mode(proxy, PROXY_PASS);
	flush_ends(&flush, start);
	test_eventually(completions_of(&done) == 1, 1000);
	inject_release();
	test_eventually(completions_of(&done) == 2, 1000);
}
END_TEST

static void ignore_end(void *arg, enum kustos_err err)
{
	(void)arg;
	(void)err;
}

/* A creation that was given up ends by deleting the node it has made.  The
   deletion is sent only when the flush is waiting already. */
START_TEST(L05_a_flush_waits_until_what_nobody_wants_is_deleted)
{
	struct kustos_double_barrier *member = NULL;
	struct flush flush;
	int64_t start = test_now_ms();

	check_err(kustos_create(client, "/step", NULL, 0, 0, SOON, NULL, NULL,
			  NULL),
		KUSTOS_OK);
	check_err(
		kustos_double_barrier_create(client, "/step", 2, NULL, &member),
		KUSTOS_OK);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_CREATE2, 1);
	check_err(kustos_double_barrier_enter_async(member, SOON, NULL,
			  ignore_end, NULL),
		KUSTOS_OK);
	test_eventually(raw_count_children(fixture_address(), "/step") == 1,
		2000);
	kustos_double_barrier_destroy(member);
	flush_start(&flush);
	proxy_set_delay(proxy, SHORT_MS, 0);
	inject_release();
	flush_ends(&flush, start);
	ck_assert_int_eq(raw_count_children(fixture_address(), "/step"), 0);
}
END_TEST

/* In a long line, the lock is released while the client is still asking whether
   it may leave a proof there, and it sends nothing before it knows that. */
START_TEST(L05_a_flush_waits_until_a_lock_is_given_back)
{
	struct kustos_mutex *mutex = NULL;
	struct flush flush;
	char path[64];

	ck_assert_int_eq(raw_create(fixture_address(), "/locks", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LINE, ""), 0);
	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), LINE "/x%d", i);
		ck_assert_int_eq(raw_create(fixture_address(), path, ""), 0);
	}
	mutex = mutex_new(client, 0);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_GET, 1);
	struct kustos_hold *hold = hold_take(mutex);
	test_eventually(inject_fired() == 1, 1000);
	int64_t start = test_now_ms();
	hold_give(hold);
	flush_start(&flush);
	proxy_set_delay(proxy, SHORT_MS, 0);
	inject_release();
	flush_ends(&flush, start);
	ck_assert_int_eq(line_count(), MANY);
	kustos_mutex_destroy(mutex);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("flush");
	TCase *t = fixture_case(s, "flush", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, a_flush_ends_with_an_answer_that_nobody_wants);
	tcase_add_test(t, a_flush_ends_with_an_operation_that_was_never_sent);
	tcase_add_test(t, a_flush_does_not_wait_for_what_comes_later);
	tcase_add_test(t, L05_a_flush_waits_until_what_nobody_wants_is_deleted);
	tcase_add_test(t, L05_a_flush_waits_until_a_lock_is_given_back);
	return fixture_main(s);
}
