/*
 * test_close.c - the close of a client: every pending call ends exactly once,
 * the server is told if it can be reached, and the close does not take longer
 * than its budget.  The proxy holds, swallows or refuses the client's data.
 */
#include "client_fixture.h"

#include "client.h"
#include "process.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MANY 50000

/* For each request: how often it was completed, and with what error. */
struct tally {
	unsigned char calls[MANY];
	unsigned char err[MANY];
};

struct ticket {
	struct tally *tally;
	int number;
};

static void tally_completion(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct ticket *t = arg;

	(void)result;
	t->tally->calls[t->number]++;
	t->tally->err[t->number] = (unsigned char)err;
}

static struct record record;
static struct tally tally;
static struct ticket tickets[MANY];

/* Return how many were completed.  None may have been completed twice. */
static int completed_once(void)
{
	int once = 0;

	for (int i = 0; i < MANY; i++) {
		ck_assert_int_le(tally.calls[i], 1);
		once += tally.calls[i];
	}
	return once;
}

static void ask_many(struct kustos_client *c)
{
	for (int i = 0; i < MANY; i++) {
		tickets[i] = (struct ticket){ &tally, i };
		ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER,
					 NULL, tally_completion, &tickets[i]),
			KUSTOS_OK);
	}
}

static int count_err(enum kustos_err err)
{
	int n = 0;

	for (int i = 0; i < MANY; i++)
		n += tally.calls[i] == 1 && tally.err[i] == (int)err;
	return n;
}

START_TEST(L01_every_pending_request_ends_once_when_none_is_answered)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 60000);

	proxy_set_mode(p, PROXY_HOLD);
	ask_many(c);
	ck_assert_int_eq(completed_once(), 0);
	(void)kustos_client_close(c, kustos_after_ms(100), NULL);
	ck_assert_int_eq(completed_once(), MANY);
	ck_assert_int_eq(count_err(KUSTOS_ECLOSED), MANY);
	proxy_free(p);
}
END_TEST

static void close_in_the_rush(void)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 40000);

	memset(&tally, 0, sizeof(tally));
	proxy_set_mode(p, PROXY_HOLD);
	ask_many(c);
	proxy_set_mode(p, PROXY_PASS);
	client_close(c);
	ck_assert_int_eq(completed_once(), MANY);
	ck_assert_int_eq(count_err(KUSTOS_ECLOSED) + count_err(KUSTOS_OK),
		MANY);
	proxy_free(p);
}

/* Repeated because on a busy machine all answers may be there before the
   close. */
START_TEST(L01_every_pending_request_ends_once_in_the_rush_of_answers)
{
	for (int i = 0; i < 10 && count_err(KUSTOS_ECLOSED) == 0; i++)
		close_in_the_rush();
	ck_assert_int_gt(count_err(KUSTOS_ECLOSED), 0);
}
END_TEST

/* A thread that waits for something that does not happen. */
struct waiter {
	struct kustos_client *client;
	int kind;
	enum kustos_err err;
};

static void *wait_main(void *arg)
{
	struct waiter *w = arg;

	if (w->kind == 0)
		w->err = kustos_exists(w->client, "/", KUSTOS_FOREVER, NULL,
			NULL);
	else if (w->kind == 1)
		w->err = kustos_create(w->client, "/x", NULL, 0,
			KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_SEQUENTIAL |
				KUSTOS_CREATE_PROTECTED,
			KUSTOS_FOREVER, NULL, NULL, NULL);
	else
		w->err = kustos_client_flush(w->client, KUSTOS_FOREVER, NULL);
	return NULL;
}

/* Return how many calls there are, including the asynchronous one: those that
   flush, and those with a request.  There are no heartbeats yet. */
static int count_callers(struct kustos_client *client)
{
	struct kustos_client_stats stats = client_stats(client);
	int flushes;

	ku_lock(client);
	flushes = client->callers;
	ku_unlock(client);
	return flushes + (int)(stats.waiting + stats.pending);
}

START_TEST(L01_threads_that_wait_are_let_go)
{
	enum { WAITERS = 12 };
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 60000);
	struct waiter w[WAITERS];
	pthread_t threads[WAITERS];
	struct completions done = { 0 };

	proxy_set_mode(p, _i == 0 ? PROXY_HOLD : PROXY_REFUSE);
	ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER, NULL,
				 count_completion, &done),
		KUSTOS_OK);
	for (int i = 0; i < WAITERS; i++) {
		w[i] = (struct waiter){ .client = c, .kind = i % 3 };
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, wait_main, &w[i]), 0);
	}
	test_eventually(count_callers(c) > WAITERS, 1000);
	(void)kustos_client_close(c, kustos_after_ms(100), NULL);
	for (int i = 0; i < WAITERS; i++) {
		pthread_join(threads[i], NULL);
		ck_assert_int_eq(w[i].err, KUSTOS_ECLOSED);
	}
	ck_assert_int_eq(completions_of(&done), 1);
	proxy_free(p);
}
END_TEST

/* The server becomes reachable again 400 ms after this is set, during the
   close. */
static atomic_bool closing;

static void *pass_main(void *arg)
{
	while (!atomic_load(&closing))
		test_pause_1ms();
	for (int i = 0; i < 400; i++)
		test_pause_1ms();
	proxy_set_mode(arg, PROXY_PASS);
	return NULL;
}

/* Start that thread and close the client. */
static enum kustos_err close_and_pass(struct kustos_client *c, struct proxy *p,
	int budget_ms, int64_t *linger_ms)
{
	pthread_t thread;

	atomic_store(&closing, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, pass_main, p), 0);
	int64_t start = test_now_ms();
	atomic_store(&closing, true);
	enum kustos_err err = kustos_client_close(c, kustos_after_ms(budget_ms),
		linger_ms);
	ck_assert_int_ge(test_now_ms() - start, 400);
	ck_assert_int_lt(test_now_ms() - start, PATIENCE_MS / 4);
	pthread_join(thread, NULL);
	return err;
}

START_TEST(L06_a_close_waits_for_the_server_to_come_back_and_tells_it)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 20000);
	int64_t linger_ms = -1;

	client_create(c, "/held", KUSTOS_CREATE_EPHEMERAL);
	proxy_set_mode(p, PROXY_REFUSE);
	client_wait(c, KUSTOS_STATE_SUSPENDED, 1000);
	ck_assert_int_eq(close_and_pass(c, p, PATIENCE_MS, &linger_ms),
		KUSTOS_OK);
	ck_assert_int_eq(linger_ms, 0);
	ck_assert_int_eq(raw_exists(fixture_address(), "/held", NULL),
		RAW_NONODE);
	proxy_free(p);
}
END_TEST

/* The session of an earlier process exists, although this process has not been
   connected to it. */
START_TEST(L06_a_close_waits_for_a_session_that_is_to_be_gone_on_with)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client_options o = client_options(proxy_address(p),
		20000);
	struct raw *former = raw_open(fixture_address(), 20000);
	struct kustos_ticket ticket = { .session_id = raw_session(former) };
	int64_t linger_ms = -1;

	raw_session_password(ticket.session_id, (char *)ticket.password);
	ck_assert_int_eq(
		raw_do_create(former, "/held", "", RAW_EPHEMERAL, NULL, 0), 0);
	raw_abandon(former);
	proxy_set_mode(p, PROXY_REFUSE);
	o.resume = &ticket;
	struct kustos_client *c = client_open_with(&o);
	if (_i == 0) {
		ck_assert_int_eq(kustos_client_close(c, kustos_after_ms(200),
					 &linger_ms),
			KUSTOS_ELINGERING);
		ck_assert_int_eq(linger_ms, 20000);
		int64_t id = ticket.session_id;
		ck_assert_int_eq(raw_kill_session(fixture_address(), id), 0);
	} else {
		ck_assert_int_eq(close_and_pass(c, p, PATIENCE_MS, &linger_ms),
			KUSTOS_OK);
		ck_assert_int_eq(linger_ms, 0);
		ck_assert_int_eq(raw_exists(fixture_address(), "/held", NULL),
			RAW_NONODE);
	}
	proxy_free(p);
}
END_TEST

START_TEST(L01_a_request_on_its_way_may_still_end_well)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 60000);
	struct ticket ticket = { &tally, 0 };

	memset(&tally, 0, sizeof(tally));
	proxy_set_mode(p, PROXY_HOLD);
	ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER, NULL,
				 tally_completion, &ticket),
		KUSTOS_OK);
	ck_assert_int_eq(close_and_pass(c, p, PATIENCE_MS, NULL), KUSTOS_OK);
	ck_assert_int_eq(tally.calls[0], 1);
	ck_assert_int_eq(tally.err[0], KUSTOS_OK);
	proxy_free(p);
}
END_TEST

START_TEST(L06_a_close_whose_budget_is_spent_says_how_long_it_lingers)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 9000);
	int64_t linger_ms = -1, heard, start, closed;

	heard = test_now_ms(); /* at this time or later */
	client_create(c, "/held", KUSTOS_CREATE_EPHEMERAL);
	proxy_set_mode(p, PROXY_REFUSE);
	client_wait(c, KUSTOS_STATE_SUSPENDED, 1000);
	start = test_now_ms();
	ck_assert_int_eq(
		kustos_client_close(c, kustos_after_ms(200), &linger_ms),
		KUSTOS_ELINGERING);
	closed = test_now_ms();
	ck_assert_int_ge(closed - start, 200);
	ck_assert_int_lt(closed - start, 3200); /* and not 2/3 of 9000 */
	ck_assert_int_eq(raw_exists(fixture_address(), "/held", NULL), 0);
	ck_assert_int_gt(linger_ms, 0);
	/* The server keeps the session for its whole timeout, checks only from
	   time to time, and takes longer if it is busy. */
	ck_assert_int_ge(linger_ms, 9000 - (closed - heard));
	ck_assert_int_le(linger_ms, 9400);
	test_eventually(raw_exists(fixture_address(), "/held", NULL) ==
			RAW_NONODE,
		linger_ms + 1000);
	proxy_free(p);
}
END_TEST

START_TEST(L06_a_guaranteed_delete_is_done_before_the_close)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 20000);
	int64_t czxid = client_create(c, "/stays", 0);

	proxy_set_mode(p, PROXY_REFUSE);
	client_wait(c, KUSTOS_STATE_SUSPENDED, 1000);
	ck_assert_int_eq(kustos_delete_guaranteed(c, "/stays", czxid),
		KUSTOS_OK);
	ck_assert_int_eq(close_and_pass(c, p, PATIENCE_MS, NULL), KUSTOS_OK);
	ck_assert_int_eq(raw_exists(fixture_address(), "/stays", NULL),
		RAW_NONODE);
	proxy_free(p);
}
END_TEST

START_TEST(P09_a_close_ends_with_its_budget_though_the_server_is_silent)
{
	static const int budgets[] = { 0, 300, 300 };
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 20000);
	int64_t linger_ms = -1, start;

	client_create(c, "/held", KUSTOS_CREATE_EPHEMERAL);
	proxy_set_mode(p, PROXY_HOLE);
	if (_i == 2) /* silent for so long that the client knows it */
		client_wait(c, KUSTOS_STATE_SUSPENDED, 3000);
	start = test_now_ms();
	ck_assert_int_eq(kustos_client_close(c, kustos_after_ms(budgets[_i]),
				 &linger_ms),
		KUSTOS_ELINGERING);
	ck_assert_int_ge(test_now_ms() - start, budgets[_i]);
	ck_assert_int_lt(test_now_ms() - start, budgets[_i] + 2500);
	ck_assert_int_gt(linger_ms, 0);
	proxy_free(p);
}
END_TEST

/* The library's own message that the session ends would not get through either,
   and it would wait three seconds for that. */
START_TEST(P09_a_close_ends_with_its_budget_though_nothing_can_be_sent)
{
	static char data[900000];
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 20000);
	struct completions done = { 0 };
	int64_t start;

	client_create(c, "/held", KUSTOS_CREATE_EPHEMERAL);
	proxy_set_mode(p, PROXY_HOLD);
	for (int i = 0; i < 25; i++)
		ck_assert_int_eq(kustos_set_async(c, "/held", data,
					 sizeof(data), -1, KUSTOS_FOREVER, NULL,
					 count_completion, &done),
			KUSTOS_OK);
	start = test_now_ms();
	ck_assert_int_eq(kustos_client_close(c, kustos_after_ms(300), NULL),
		KUSTOS_ELINGERING);
	ck_assert_int_lt(test_now_ms() - start, 300 + 2500);
	ck_assert_int_eq(completions_of(&done), 25);
	proxy_free(p);
}
END_TEST

START_TEST(a_close_before_any_connection_leaves_nobody_to_tell)
{
	struct proxy *p = fixture_proxy();
	struct completions done = { 0 };
	struct kustos_client *c;
	int64_t start;

	proxy_set_mode(p, _i == 0 ? PROXY_REFUSE : PROXY_HOLE);
	c = client_open(proxy_address(p), 6000);
	ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER, NULL,
				 count_completion, &done),
		KUSTOS_OK);
	start = test_now_ms();
	ck_assert_int_eq(kustos_client_close(c, kustos_after_ms(20000), NULL),
		KUSTOS_OK);
	ck_assert_int_lt(test_now_ms() - start, 5000);
	ck_assert_int_eq(completions_of(&done), 1);
	ck_assert_int_eq(done.err, KUSTOS_ECLOSED);
	proxy_free(p);
}
END_TEST

static int handles_of(struct kustos_client *c)
{
	ku_lock(c);
	int handles = (int)c->session.handles;
	ku_unlock(c);
	return handles;
}

/* No server can be reached for so long that the client gives up a session: its
   own, or that of another client which it was to resume. */
START_TEST(L06_a_session_that_was_given_up_may_linger)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p),
		_i == 0 ? 2000 : 40000);
	struct kustos_client_options o = client_options(proxy_address(p), 2000);
	struct kustos_client *next = NULL;
	struct kustos_ticket ticket;
	int64_t linger_ms = -1;

	ck_assert_int_eq(kustos_client_ticket(c, &ticket), KUSTOS_OK);
	client_create(c, "/held", KUSTOS_CREATE_EPHEMERAL);
	proxy_set_mode(p, PROXY_REFUSE);
	if (_i == 1) {
		o.resume = &ticket;
		next = client_open_with(&o);
	}
	test_within(handles_of(_i == 0 ? c : next) > 1, PATIENCE_MS);
	if (_i == 1)
		ck_assert_int_eq(raw_exists(fixture_address(), "/held", NULL),
			0);
	ck_assert_int_eq(kustos_client_close(_i == 0 ? c : next,
				 kustos_after_ms(100), &linger_ms),
		KUSTOS_ELINGERING);
	ck_assert_int_gt(linger_ms, 0);
	if (_i == 1)
		client_drop(c);
	proxy_free(p);
}
END_TEST

START_TEST(a_closed_client_leaves_no_thread_and_no_descriptor)
{
	int threads = thread_count_before(), fds = fd_count();
	struct kustos_client *c = client_connected(fixture_address(), 3000);

	ck_assert_int_gt(thread_count(), threads);
	record_start(&record, c); /* which also starts a thread for callbacks */
	client_close(c);
	/* A joined thread may be visible for a moment longer. */
	test_eventually(thread_count() == threads, 1000);
	ck_assert_int_eq(fd_count(), fds);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("close");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_test(t,
		L01_every_pending_request_ends_once_when_none_is_answered);
	tcase_add_test(t,
		L01_every_pending_request_ends_once_in_the_rush_of_answers);
	tcase_add_loop_test(t, L01_threads_that_wait_are_let_go, 0, 2);
	tcase_add_test(t,
		L06_a_close_waits_for_the_server_to_come_back_and_tells_it);
	tcase_add_loop_test(t,
		L06_a_close_waits_for_a_session_that_is_to_be_gone_on_with, 0,
		2);
	tcase_add_test(t, L01_a_request_on_its_way_may_still_end_well);
	tcase_add_test(t,
		L06_a_close_whose_budget_is_spent_says_how_long_it_lingers);
	tcase_add_test(t, L06_a_guaranteed_delete_is_done_before_the_close);
	tcase_add_loop_test(t,
		P09_a_close_ends_with_its_budget_though_the_server_is_silent, 0,
		3);
	tcase_add_test(t,
		P09_a_close_ends_with_its_budget_though_nothing_can_be_sent);
	tcase_add_loop_test(t,
		a_close_before_any_connection_leaves_nobody_to_tell, 0, 2);
	tcase_add_loop_test(t, L06_a_session_that_was_given_up_may_linger, 0,
		2);
	tcase_add_test(t, a_closed_client_leaves_no_thread_and_no_descriptor);
	return fixture_main(s);
}
