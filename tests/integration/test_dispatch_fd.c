/*
 * test_dispatch_fd.c - callbacks in the program's own loop, which polls the
 * client's descriptor and calls kustos_client_dispatch().
 */
#include "client_fixture.h"

#include "client.h"
#include "process.h"
#include "proxy.h"
#include "raw.h"

#include <poll.h>
#include <pthread.h>

#define T_MS 8000
#define CALLS 500

static struct proxy *proxy;
static struct kustos_client *client;
static pthread_t here;
static int elsewhere; /* calls on other threads */

static void open_client(const char *hosts)
{
	struct kustos_client_options o = client_options(hosts, T_MS);

	o.dispatch = KUSTOS_DISPATCH_FD;
	client = client_open_with(&o);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
}

static void set_up(void)
{
	proxy = fixture_proxy();
	open_client(proxy_address(proxy));
	here = pthread_self();
	elsewhere = 0;
}

static void tear_down(void)
{
	if (client != NULL)
		client_close(client);
	proxy_free(proxy);
}

static bool readable(int ms)
{
	struct pollfd p = { .fd = kustos_client_fd(client), .events = POLLIN };

	return poll(&p, 1, ms) == 1 && (p.revents & POLLIN) != 0;
}

/* Wait until there is a callback to run, and run it. */
static void dispatch_next(void)
{
	ck_assert(readable(PATIENCE_MS));
	kustos_client_dispatch(client);
}

static void done(void *arg, enum kustos_err err, const struct kustos_result *r)
{
	elsewhere += !pthread_equal(pthread_self(), here);
	count_completion(arg, err, r);
}

/* Ask for the root's data "n" times, with "fn" as the callback. */
static void ask(int n, kustos_done_fn *fn, struct completions *c)
{
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(
			kustos_get_async(client, "/", SOON, NULL, fn, c),
			KUSTOS_OK);
}

/* The program's loop, until "n" completions have run. */
static void loop(struct completions *c, int n)
{
	while (completions_of(c) < n) {
		dispatch_next();
	}
}

START_TEST(callbacks_run_in_dispatch_and_nowhere_else)
{
	struct completions c = { 0 };

	ck_assert_int_ge(kustos_client_fd(client), 0);
	ask(CALLS, done, &c);
	ck_assert(readable(PATIENCE_MS));
	ck_assert_int_eq(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(completions_of(&c), 0);
	loop(&c, CALLS);
	ck_assert_int_eq(elsewhere, 0);
	ck_assert_int_eq(c.failed, 0);
	ck_assert(!readable(0));
	ck_assert_int_eq(kustos_client_dispatch(client), 0);
}
END_TEST

static void chain(void *arg, enum kustos_err err, const struct kustos_result *r)
{
	struct completions *c = arg;

	done(c, err, r);
	if (completions_of(c) < CALLS)
		ck_assert_int_eq(
			kustos_exists_async(client, "/", SOON, NULL, chain, c),
			KUSTOS_OK);
}

START_TEST(a_callback_may_start_the_next_call)
{
	struct completions c = { 0 };

	ck_assert_int_eq(
		kustos_exists_async(client, "/", SOON, NULL, chain, &c),
		KUSTOS_OK);
	loop(&c, CALLS);
	ck_assert_int_eq(elsewhere, 0);
	ck_assert_int_eq(c.failed, 0);
}
END_TEST

static void waits(void *arg, enum kustos_err err, const struct kustos_result *r)
{
	ck_assert_int_eq(kustos_get(client, "/", SOON, NULL, NULL, NULL, NULL),
		KUSTOS_OK);
	done(arg, err, r);
}

START_TEST(a_callback_may_make_a_waiting_call)
{
	struct completions c = { 0 };

	ask(1, waits, &c);
	loop(&c, 1);
	ck_assert_int_eq(c.failed, 0);
}
END_TEST

START_TEST(the_waiting_calls_need_no_dispatch)
{
	ck_assert_int_eq(
		kustos_create(client, "/n", NULL, 0, 0, SOON, NULL, NULL, NULL),
		KUSTOS_OK);
	ck_assert(!readable(0));
}
END_TEST

START_TEST(a_state_is_told_in_dispatch)
{
	struct record record;

	record_listen(&record, client);
	dispatch_next();
	ck_assert_int_eq(record_count(&record, KUSTOS_STATE_CONNECTED), 1);
	proxy_set_mode(proxy, PROXY_REFUSE);
	ck_assert(readable(PATIENCE_MS));
	ck_assert_int_eq(record_count(&record, KUSTOS_STATE_SUSPENDED), 0);
	kustos_client_dispatch(client);
	ck_assert_int_eq(record_count(&record, KUSTOS_STATE_SUSPENDED), 1);
	client_wait(client, KUSTOS_STATE_LOST, 3000);
	dispatch_next();
	ck_assert_int_eq(record_count(&record, KUSTOS_STATE_LOST), 1);
	proxy_set_mode(proxy, PROXY_PASS);
	client_wait_epoch(client, 1, 8000);
	while (record_count(&record, KUSTOS_STATE_CONNECTED) < 2) {
		dispatch_next();
	}
	record_stop(&record, client);
}
END_TEST

START_TEST(closing_runs_what_was_not_dispatched)
{
	struct completions c = { 0 };

	ask(CALLS, done, &c);
	client_close(client);
	client = NULL;
	ck_assert_int_eq(completions_of(&c), CALLS);
}
END_TEST

static void closes(void *arg, enum kustos_err err,
	const struct kustos_result *r)
{
	done(arg, err, r);
	kustos_client_close(client, kustos_after_ms(PATIENCE_MS), NULL);
}

/* The first callback closes the client, and all callbacks behind it still
   run. */
static void check_closed_by(kustos_done_fn *fn)
{
	struct completions first = { 0 }, rest = { 0 };

	ask(1, fn, &first);
	ask(20, done, &rest);
	dispatch_next();
	client = NULL;
	ck_assert_int_eq(completions_of(&first), 1);
	ck_assert_int_eq(completions_of(&rest), 20);
}

START_TEST(a_callback_may_close_the_client)
{
	check_closed_by(closes);
}
END_TEST

/* This callback dispatches what has come meanwhile, and then it is still a
   callback that may close the client. */
static void dispatches_and_closes(void *arg, enum kustos_err err,
	const struct kustos_result *r)
{
	kustos_client_dispatch(client);
	closes(arg, err, r);
}

START_TEST(a_callback_may_dispatch_and_then_close_the_client)
{
	check_closed_by(dispatches_and_closes);
}
END_TEST

static int turns[2], turn;

static void first_call(struct kustos_client *c, struct ku_call *call)
{
	(void)c;
	(void)call;
	turns[0] = ++turn;
}

static void second_call(struct kustos_client *c, struct ku_call *call)
{
	(void)c;
	(void)call;
	turns[1] = ++turn;
}

START_TEST(L10_news_of_a_loss_is_told_first)
{
	struct ku_call call = { .fn = first_call };
	struct ku_call news = { .fn = second_call };

	turn = 0;
	ku_lock(client);
	ku_dispatch_push(client, &call, KU_ORDINARY);
	ku_dispatch_push(client, &news, KU_URGENT);
	ku_unlock(client);
	dispatch_next();
	ck_assert_int_eq(turns[1], 1);
	ck_assert_int_eq(turns[0], 2);
}
END_TEST

START_TEST(a_client_with_threads_has_no_descriptor)
{
	struct kustos_client *other = client_connected(fixture_address(), T_MS);

	ck_assert_int_eq(kustos_client_fd(other), -1);
	ck_assert_int_eq(kustos_client_dispatch(other), 0);
	client_close(other);
}
END_TEST

static void close_it(struct kustos_client *c, struct ku_call *call)
{
	(void)call;
	ku_unlock(c);
	ck_assert_int_eq(kustos_client_close(c, SOON, NULL), KUSTOS_OK);
	ku_lock(c);
}

/* A callback on a thread of its own counts as a callback, too. */
START_TEST(a_close_on_a_thread_apart_is_ended_by_the_last_dispatch)
{
	struct ku_call call = { .fn = close_it };
	int threads;

	client_close(client);
	threads = thread_count_before(); /* of the proxy */
	open_client(fixture_address());
	while (readable(0))
		kustos_client_dispatch(client);
	ku_lock(client);
	ku_dispatch_push(client, &call, KU_LENGTHY);
	ku_unlock(client);
	dispatch_next();
	client = NULL;
	test_eventually(thread_count() <= threads, 1000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dispatch fd");
	TCase *t = fixture_case(s, "dispatch fd", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, callbacks_run_in_dispatch_and_nowhere_else);
	tcase_add_test(t, a_callback_may_start_the_next_call);
	tcase_add_test(t, a_callback_may_make_a_waiting_call);
	tcase_add_test(t, the_waiting_calls_need_no_dispatch);
	tcase_add_test(t, a_state_is_told_in_dispatch);
	tcase_add_test(t, closing_runs_what_was_not_dispatched);
	tcase_add_test(t, a_callback_may_close_the_client);
	tcase_add_test(t, a_callback_may_dispatch_and_then_close_the_client);
	tcase_add_test(t, L10_news_of_a_loss_is_told_first);
	tcase_add_test(t,
		a_close_on_a_thread_apart_is_ended_by_the_last_dispatch);
	tcase_add_test(t, a_client_with_threads_has_no_descriptor);
	return fixture_main(s);
}
