/*
 * test_cancel_ops.c - every call ends exactly once, at whatever moment it is
 * canceled; and what the client's statistics and its request hook say of calls.
 */
#include "client_fixture.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"

#include <kustos/cancel.h>
#include <kustos/participant.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 10000
#define ROUNDS 150
#define BATCH 16
#define THREADS 4
#define LATE_MS 400 /* delay of the one answer that comes */

static struct proxy *proxy;
static struct kustos_client *client;

static void set_up(void)
{
	proxy = fixture_proxy();
	client = client_connected(proxy_address(proxy), T_MS);
	client_create(client, "/n", 0);
}

static void tear_down(void)
{
	client_close(client);
	proxy_free(proxy);
}

/* Keep busy for a random number of microseconds, below "most". */
static void dawdle(unsigned *seed, int most)
{
	int64_t end = test_now_us() + rand_r(seed) % most;

	while (test_now_us() < end)
		;
}

/* Start a call of the i-th kind. */
static enum kustos_err start(int i, struct kustos_cancel *cancel,
	struct completions *done)
{
	struct kustos_op op = { .kind = KUSTOS_OP_SET,
		.path = "/n",
		.version = -1 };

	switch (i % 6) {
	case 0:
		return kustos_get_async(client, "/n", SOON, cancel,
			count_completion, done);
	case 1:
		return kustos_create_async(client, "/p/q/n-", NULL, 0,
			KUSTOS_CREATE_PROTECTED | KUSTOS_CREATE_SEQUENTIAL |
				KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_PARENTS,
			SOON, cancel, count_completion, done);
	case 2:
		return kustos_set_async(client, "/n", "x", 1, -1, SOON, cancel,
			count_completion, done);
	case 3:
		return kustos_children_async(client, "/n", SOON, cancel,
			count_completion, done);
	case 4:
		return kustos_multi_async(client, &op, 1, SOON, cancel,
			count_completion, done);
	default:
		return kustos_delete_async(client, "/none", -1, SOON, cancel,
			count_completion, done);
	}
}

static bool may_be(int err)
{
	return err == KUSTOS_OK || err == KUSTOS_ECANCELED ||
		err == KUSTOS_ENONODE || err == KUSTOS_EUNKNOWN;
}

START_TEST(an_asynchronous_call_canceled_at_any_moment_ends_once)
{
	static struct completions done[ROUNDS][BATCH];
	unsigned seed = 7;
	int canceled = 0, finished = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct kustos_cancel *cancel;

		ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
		for (int i = 0; i < BATCH; i++)
			ck_assert_int_eq(start(i, cancel, &done[round][i]),
				KUSTOS_OK);
		if (round % 10 == 0)
			proxy_cut(proxy);
		if (round % 10 == 1) /* so that some are certainly answered */
			test_eventually(completions_of(&done[round][0]) == 1,
				1000);
		else
			dawdle(&seed, 3000);
		kustos_cancel_fire(cancel);
		for (int i = 0; i < BATCH; i++)
			test_eventually(completions_of(&done[round][i]) == 1,
				1000);
		kustos_cancel_destroy(cancel);
		client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	}
	ck_assert_int_eq(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	for (int i = 0; i < ROUNDS * BATCH; i++) {
		struct completions *d = &done[i / BATCH][i % BATCH];

		ck_assert_int_eq(completions_of(d), 1);
		ck_assert_msg(may_be(d->err), "%s",
			kustos_err_name((enum kustos_err)d->err));
		canceled += d->err == KUSTOS_ECANCELED;
		finished += d->err == KUSTOS_OK;
	}
	ck_assert_int_gt(canceled, 0);
	ck_assert_int_gt(finished, 0);
}
END_TEST

static struct kustos_cancel *shared;
static int waiting_done; /* threads */

static void *wait_on_calls(void *arg)
{
	unsigned seed = *(unsigned *)arg;
	enum kustos_err err;

	do {
		switch (rand_r(&seed) % 3) {
		case 0:
			err = kustos_get(client, "/n", KUSTOS_FOREVER, shared,
				NULL, NULL, NULL);
			break;
		case 1:
			err = kustos_set(client, "/n", "y", 1, -1,
				KUSTOS_FOREVER, shared, NULL);
			break;
		default:
			err = kustos_client_flush(client, KUSTOS_FOREVER,
				shared);
		}
	} while (err == KUSTOS_OK);
	__atomic_add_fetch(&waiting_done, 1, __ATOMIC_SEQ_CST);
	return (void *)(intptr_t)err;
}

START_TEST(a_waiting_call_canceled_at_any_moment_ends)
{
	pthread_t threads[THREADS];
	unsigned seeds[THREADS], seed = 11;
	void *err;

	for (int round = 0; round < 40; round++) {
		waiting_done = 0;
		ck_assert_int_eq(kustos_cancel_create(&shared), KUSTOS_OK);
		for (int i = 0; i < THREADS; i++) {
			seeds[i] = (unsigned)(round * THREADS + i);
			pthread_create(&threads[i], NULL, wait_on_calls,
				&seeds[i]);
		}
		if (round % 4 == 0)
			proxy_cut(proxy);
		dawdle(&seed, 5000);
		kustos_cancel_fire(shared);
		test_eventually(__atomic_load_n(&waiting_done,
					__ATOMIC_SEQ_CST) == THREADS,
			1000);
		for (int i = 0; i < THREADS; i++) {
			pthread_join(threads[i], &err);
			ck_assert_int_eq((intptr_t)err, KUSTOS_ECANCELED);
		}
		kustos_cancel_destroy(shared);
		client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	}
}
END_TEST

static void *fire_once_held(void *cancel)
{
	test_eventually(proxy_fired(proxy) == 1, 2000);
	kustos_cancel_fire(cancel);
	return NULL;
}

/* One of the nodes was read; the answers about the others do not come. */
START_TEST(a_look_at_a_line_ends_while_its_nodes_are_read)
{
	struct kustos_participants *list = NULL;
	struct kustos_cancel *cancel;
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		client_create(client, "/line/lock-",
			KUSTOS_CREATE_PROTECTED | KUSTOS_CREATE_SEQUENTIAL |
				KUSTOS_CREATE_PARENTS);
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	proxy_arm(proxy, PROXY_HOLD_REPLY, ZK_OP_GET, 2);
	if (_i == 0)
		ck_assert_int_eq(
			pthread_create(&thread, NULL, fire_once_held, cancel),
			0);
	check_err(kustos_participants(client, "/line",
			  _i == 0 ? SOON : kustos_after_ms(1000), cancel,
			  &list),
		_i == 0 ? KUSTOS_ECANCELED : KUSTOS_ETIMEDOUT);
	ck_assert_ptr_null(list);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	if (_i == 0)
		pthread_join(thread, NULL);
	kustos_cancel_destroy(cancel);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(kustos_participants(client, "/line", SOON, NULL, &list),
		KUSTOS_OK);
	ck_assert_uint_eq(list->count, 3);
	kustos_participants_free(list);
}
END_TEST

START_TEST(a_call_given_a_fired_cancel_is_not_sent)
{
	struct kustos_cancel *cancel;
	struct completions done = { 0 };

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	kustos_cancel_fire(cancel);
	ck_assert_int_eq(kustos_create(client, "/c", NULL, 0, 0, SOON, cancel,
				 NULL, NULL),
		KUSTOS_ECANCELED);
	ck_assert_int_eq(start(2, cancel, &done), KUSTOS_ECANCELED);
	ck_assert_int_eq(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(completions_of(&done), 0);
	ck_assert_int_eq(raw_exists(fixture_address(), "/c", NULL), RAW_NONODE);
	kustos_cancel_destroy(cancel);
}
END_TEST

struct log {
	int lines;
	char forbidden[32]; /* text that must not occur in it */
	int wrong;
};

static void keep_log(void *arg, enum kustos_log_level level, const char *line)
{
	struct log *log = arg;

	(void)level;
	__atomic_add_fetch(&log->lines, 1, __ATOMIC_SEQ_CST);
	if (strstr(line, log->forbidden) != NULL)
		__atomic_add_fetch(&log->wrong, 1, __ATOMIC_SEQ_CST);
}

START_TEST(P15_two_clients_do_not_disturb_each_other)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct log quiet = { 0, "", 0 }, noisy = { 0, "", 0 };
	struct kustos_client *calm, *wild;
	struct completions done = { 0 };

	o.log_level = KUSTOS_LOG_DEBUG;
	o.log = keep_log;
	o.log_arg = &quiet;
	snprintf(quiet.forbidden, sizeof(quiet.forbidden), "%s",
		proxy_address(proxy));
	snprintf(noisy.forbidden, sizeof(noisy.forbidden), "%s",
		fixture_address());
	calm = client_open_with(&o);
	client_wait(calm, KUSTOS_STATE_CONNECTED, 5000);
	o.hosts = proxy_address(proxy);
	o.log_arg = &noisy;
	for (int i = 0; i < 5; i++) {
		wild = client_open_with(&o);
		client_wait(wild, KUSTOS_STATE_CONNECTED, 5000);
		for (int k = 0; k < 100; k++)
			ck_assert_int_eq(kustos_get_async(calm, "/n", SOON,
						 NULL, count_completion, &done),
				KUSTOS_OK);
		proxy_cut(proxy);
		ck_assert_int_eq(raw_kill_session(fixture_address(),
					 client_session_id(wild)),
			0);
		client_drop(wild);
	}
	test_eventually(completions_of(&done) == 500, 5000);
	ck_assert_int_eq(done.failed, 0);
	ck_assert_uint_eq(client_stats(calm).disconnects, 0);
	ck_assert_int_eq(client_epoch(calm), 1);
	client_close(calm);
	ck_assert_int_gt(quiet.lines, 0);
	ck_assert_int_eq(quiet.wrong, 0);
	ck_assert_int_eq(noisy.wrong, 0);
	ck_assert_int_gt(noisy.lines, quiet.lines);
}
END_TEST

struct hooked {
	int gets, creates, failed;
	int64_t longest_ns;
	char path[32];
};

static void hook(void *arg, const struct kustos_request *request)
{
	struct hooked *h = arg;

	if (strcmp(request->operation, "create") == 0) {
		h->creates++;
		snprintf(h->path, sizeof(h->path), "%s", request->path);
	}
	if (strcmp(request->operation, "get") != 0)
		return;
	h->gets++;
	h->failed += request->result == KUSTOS_EDISCONNECTED;
	if (request->duration_ns > h->longest_ns)
		h->longest_ns = request->duration_ns;
}

START_TEST(the_figures_and_the_hook_tell_of_each_request)
{
	struct kustos_client_options o = client_options(proxy_address(proxy),
		T_MS);
	struct hooked h = { 0 };
	struct kustos_client_stats before, after;
	struct kustos_client *c;

	o.on_request = hook;
	o.on_request_arg = &h;
	o.retry = kustos_retry_forever(500);
	c = client_open_with(&o);
	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	before = client_stats(c);
	client_create(c, "/h", 0);
	for (int i = 0; i < 50; i++)
		ck_assert_int_eq(
			kustos_get(c, "/h", SOON, NULL, NULL, NULL, NULL),
			KUSTOS_OK);
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_GET, 1);
	ck_assert_int_eq(kustos_get(c, "/h", SOON, NULL, NULL, NULL, NULL),
		KUSTOS_OK);
	proxy_set_delay(proxy, 0, LATE_MS);
	ck_assert_int_eq(kustos_get(c, "/h", SOON, NULL, NULL, NULL, NULL),
		KUSTOS_OK);
	proxy_set_delay(proxy, 0, 0);
	after = client_stats(c);
	client_close(c);
	ck_assert_int_eq(h.gets, 53);
	ck_assert_int_eq(h.creates, 1);
	ck_assert_int_eq(h.failed, 1);
	ck_assert_str_eq(h.path, "/h");
	ck_assert_int_ge(h.longest_ns, LATE_MS * INT64_C(1000000));
	ck_assert_uint_ge(after.sent - before.sent, 54);
	ck_assert_uint_ge(after.answered - before.answered, 53);
	ck_assert_uint_ge(after.failed - before.failed, 1);
	ck_assert_uint_eq(after.retried, 1);
	ck_assert_uint_eq(after.sessions, 1);
	ck_assert_uint_eq(after.disconnects, 1);
	ck_assert_uint_eq(after.losses, 0);
	ck_assert_uint_eq(after.waiting, 0);
	ck_assert_uint_ge(after.latency_max_us, LATE_MS * 1000);
	ck_assert_uint_gt(after.latency_p50_us, 0);
	ck_assert_uint_lt(after.latency_p50_us, LATE_MS * 1000 / 4);
	ck_assert_uint_le(after.latency_p50_us, after.latency_p99_us);
	ck_assert_uint_gt(after.latency_mean_us, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cancel ops");
	TCase *t = fixture_case(s, "cancel ops", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t,
		an_asynchronous_call_canceled_at_any_moment_ends_once);
	tcase_add_test(t, a_waiting_call_canceled_at_any_moment_ends);
	tcase_add_loop_test(t, a_look_at_a_line_ends_while_its_nodes_are_read,
		0, 2);
	tcase_add_test(t, a_call_given_a_fired_cancel_is_not_sent);
	tcase_add_test(t, P15_two_clients_do_not_disturb_each_other);
	tcase_add_test(t, the_figures_and_the_hook_tell_of_each_request);
	return fixture_main(s);
}
