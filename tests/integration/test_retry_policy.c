/*
 * test_retry_policy.c - how long and how often a request is tried under each
 * retry policy, while there is no connection and while answers are lost.
 * inject.h refuses connections, and the proxy loses answers.
 */
#include "client_fixture.h"
#include "inject.h"
#include "proxy.h"
#include "raw.h"

#include <errno.h>
#include <string.h>

#define T_MS 30000
#define SLACK_MS 4000 /* for a busy machine */

static struct proxy *proxy;
static struct kustos_client *client;
static int lost_gets; /* so many answers are lost in turn */

/* Runs before the request is retried, so that the retry is lost, too. */
static void rearm(void *arg, const struct kustos_request *request)
{
	(void)arg;
	if (strcmp(request->operation, "get") == 0 &&
		request->result != KUSTOS_OK && --lost_gets > 0)
		proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_GET, 1);
}

static void set_up(void)
{
	inject_reset();
	lost_gets = 0;
	proxy = fixture_proxy();
}

static void tear_down(void)
{
	inject_reset();
	client_close(client);
	proxy_free(proxy);
}

static void open_with(struct kustos_retry retry)
{
	struct kustos_client_options o = client_options(proxy_address(proxy),
		T_MS);

	o.retry = retry;
	o.on_request = rearm;
	client = client_open_with(&o);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
}

/* Disconnect the client for good. */
static void disconnect(void)
{
	inject_connect(ECONNREFUSED);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
}

/* Return how long a read took, and check its error. */
static int64_t get_ms(kustos_deadline deadline, enum kustos_err wanted)
{
	int64_t start = test_now_ms();
	enum kustos_err err = kustos_get(client, "/", deadline, NULL, NULL,
		NULL, NULL);

	ck_assert_msg(err == wanted, "%s, not %s", kustos_err_name(err),
		kustos_err_name(wanted));
	return test_now_ms() - start;
}

/* Disconnected: the policy says how long to wait. */
static void waits(struct kustos_retry retry, int64_t least, int64_t most)
{
	open_with(retry);
	disconnect();
	int64_t ms = get_ms(kustos_after_ms(PATIENCE_MS), KUSTOS_EDISCONNECTED);
	ck_assert_int_ge(ms, least);
	ck_assert_int_le(ms, most + SLACK_MS);
}

START_TEST(P07_none_gives_up_at_once)
{
	waits(kustos_retry_none(), 0, 0);
}
END_TEST

START_TEST(P07_once_waits_one_pause)
{
	waits(kustos_retry_once(120), 120, 120);
}
END_TEST

START_TEST(P07_n_times_waits_n_pauses)
{
	waits(kustos_retry_n_times(4, 50), 200, 200);
}
END_TEST

START_TEST(P07_until_elapsed_gives_up_then)
{
	waits(kustos_retry_until_elapsed(200, 40), 200, 240);
}
END_TEST

START_TEST(P07_exponential_backs_off_to_its_cap)
{
	/* 5 pauses of at least 10 and at most 40 ms. */
	waits(kustos_retry_exponential(10, 40, 5), 50, 200);
}
END_TEST

START_TEST(P07_bounded_gives_up_when_its_time_has_passed)
{
	waits(kustos_retry_bounded(30, 60, 29, 200), 200, 260);
}
END_TEST

START_TEST(P07_forever_ends_with_the_deadline)
{
	open_with(kustos_retry_forever(20));
	disconnect();
	int64_t ms = get_ms(kustos_after_ms(300), KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(ms, 300);
	ck_assert_int_le(ms, 300 + SLACK_MS);
}
END_TEST

START_TEST(P07_the_deadline_wins_over_a_long_pause)
{
	open_with(kustos_retry_once(60000));
	disconnect();
	int64_t ms = get_ms(kustos_after_ms(150), KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(ms, 150);
	ck_assert_int_le(ms, 150 + SLACK_MS);
}
END_TEST

START_TEST(P07_now_tries_once_and_does_not_wait)
{
	open_with(kustos_retry_forever(20));
	ck_assert_int_lt(get_ms(KUSTOS_NOW, KUSTOS_OK), SLACK_MS);
	disconnect();
	ck_assert_int_le(get_ms(KUSTOS_NOW, KUSTOS_EDISCONNECTED), SLACK_MS);
}
END_TEST

/* A pause ends when the connection is back, however much of it is left. */
START_TEST(P07_a_reconnect_ends_the_pause)
{
	struct completions done = { 0 };

	open_with(kustos_retry_once(60000));
	disconnect();
	ck_assert_int_eq(kustos_get_async(client, "/", KUSTOS_FOREVER, NULL,
				 count_completion, &done),
		KUSTOS_OK);
	inject_connect(0);
	test_eventually(completions_of(&done) == 1, 2000);
	ck_assert_int_eq(done.err, KUSTOS_OK);
}
END_TEST

/* Longer than a reconnect, which ends the pause.  Otherwise the policy would be
   called once more meanwhile. */
#define LONG_MS 30000

/* Answers are lost one after the other. */
static void tries(struct kustos_retry retry, int lost, enum kustos_err wanted,
	uint64_t retried)
{
	open_with(retry);
	lost_gets = lost;
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_GET, 1);
	get_ms(kustos_after_ms(PATIENCE_MS), wanted);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	ck_assert_uint_eq(client_stats(client).retried, retried);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_GET), (int)retried + 1);
}

START_TEST(P07_none_is_never_sent_again)
{
	tries(kustos_retry_none(), 1, KUSTOS_EDISCONNECTED, 0);
}
END_TEST

START_TEST(P07_n_times_is_sent_n_more_times)
{
	if (_i == 0)
		tries(kustos_retry_n_times(3, LONG_MS), 4, KUSTOS_EDISCONNECTED,
			3);
	else
		tries(kustos_retry_n_times(3, LONG_MS), 3, KUSTOS_OK, 3);
}
END_TEST

START_TEST(P07_forever_is_sent_until_it_is_answered)
{
	tries(kustos_retry_forever(LONG_MS), 7, KUSTOS_OK, 7);
}
END_TEST

struct asked {
	int calls;
	int last_tries;
	int64_t last_elapsed_ms;
	bool in_order;
	int give_up_at;
	int pause_ms;
};

static int64_t ask(void *arg, enum kustos_err err, int tried,
	int64_t elapsed_ms)
{
	struct asked *a = arg;

	a->calls++;
	if (err != KUSTOS_EDISCONNECTED || tried != a->calls ||
		elapsed_ms < a->last_elapsed_ms)
		a->in_order = false;
	a->last_tries = tried;
	a->last_elapsed_ms = elapsed_ms;
	return tried >= a->give_up_at ? -1 : a->pause_ms;
}

START_TEST(P07_a_function_is_asked_after_each_try)
{
	struct asked a = { .in_order = true,
		.give_up_at = 3,
		.pause_ms = LONG_MS };

	tries(kustos_retry_custom(ask, &a), 9, KUSTOS_EDISCONNECTED, 2);
	ck_assert_int_eq(a.calls, 3);
	ck_assert(a.in_order);
}
END_TEST

START_TEST(P07_a_function_is_asked_how_long_to_wait_while_disconnected)
{
	struct asked a = { .in_order = true, .give_up_at = 5, .pause_ms = 30 };

	waits(kustos_retry_custom(ask, &a), 120, 120);
	ck_assert_int_eq(a.calls, 5);
	ck_assert(a.in_order);
	ck_assert_int_ge(a.last_elapsed_ms, 120);
}
END_TEST

START_TEST(P07_an_answer_is_never_a_matter_of_policy)
{
	struct asked a = { .in_order = true, .give_up_at = 5 };

	open_with(kustos_retry_custom(ask, &a));
	ck_assert_int_eq(kustos_get(client, "/none",
				 kustos_after_ms(PATIENCE_MS), NULL, NULL, NULL,
				 NULL),
		KUSTOS_ENONODE);
	ck_assert_int_eq(a.calls, 0);
	ck_assert_uint_eq(client_stats(client).retried, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("retry policy");
	TCase *t = fixture_case(s, "retry policy", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, P07_none_gives_up_at_once);
	tcase_add_test(t, P07_once_waits_one_pause);
	tcase_add_test(t, P07_n_times_waits_n_pauses);
	tcase_add_test(t, P07_until_elapsed_gives_up_then);
	tcase_add_test(t, P07_exponential_backs_off_to_its_cap);
	tcase_add_test(t, P07_bounded_gives_up_when_its_time_has_passed);
	tcase_add_test(t, P07_forever_ends_with_the_deadline);
	tcase_add_test(t, P07_the_deadline_wins_over_a_long_pause);
	tcase_add_test(t, P07_now_tries_once_and_does_not_wait);
	tcase_add_test(t, P07_a_reconnect_ends_the_pause);
	tcase_add_test(t, P07_none_is_never_sent_again);
	tcase_add_loop_test(t, P07_n_times_is_sent_n_more_times, 0, 2);
	tcase_add_test(t, P07_forever_is_sent_until_it_is_answered);
	tcase_add_test(t, P07_a_function_is_asked_after_each_try);
	tcase_add_test(t,
		P07_a_function_is_asked_how_long_to_wait_while_disconnected);
	tcase_add_test(t, P07_an_answer_is_never_a_matter_of_policy);
	return fixture_main(s);
}
