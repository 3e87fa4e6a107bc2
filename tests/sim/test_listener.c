/*
 * test_listener.c - a program dispatches late: what its listener is told then,
 * and that it is told nothing after it has stopped to listen.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/client.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define MOST 8
/* Long enough for a client to learn that its session has expired, and to be
   connected anew. */
#define EXPIRY_MS (4 * LONE_TIMEOUT_MS)

static struct bench bench;
static struct kustos_client *client;
static struct kustos_listener *listener;

static struct kustos_session news[MOST];
static int count;

static void note(void *arg, const struct kustos_session *session)
{
	ck_assert_ptr_eq(arg, news);
	ck_assert_int_lt(count, MOST);
	news[count++] = *session;
}

static void setup(void)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	count = 0;
	options.dispatch = KUSTOS_DISPATCH_FD;
	(void)lone_setup(&bench, 0);
	client = lone_connected_with(&bench, &ku_zk_sim, 1, &options);
	ck_assert_int_eq(kustos_client_listen(client, note, news, &listener),
		KUSTOS_OK);
}

static void teardown(void)
{
	kustos_client_unlisten(client, listener);
	lone_teardown(&bench, client);
}

static void check(int i, enum kustos_state state, int64_t epoch, int64_t id)
{
	ck_assert_int_lt(i, count);
	ck_assert_int_eq(news[i].state, state);
	ck_assert_int_eq(news[i].epoch, epoch);
	ck_assert_int_eq(news[i].session_id, id);
}

/* End the session, and wait for another.  Returns the id of the old one. */
static int64_t expire(void)
{
	int64_t id = client->session.id, epoch = client->session.epoch;

	ck_assert(model_expire(bench.model, LONE_MACHINE));
	for (int i = 0; i < EXPIRY_MS &&
		(client->session.epoch == epoch ||
			client->session.state != KUSTOS_STATE_CONNECTED);
		i++)
		lone_run_ms(&bench, client, 1);
	ck_assert_int_eq(client->session.epoch, epoch + 1);
	ck_assert_int_ne(client->session.id, id);
	return id;
}

START_TEST(the_state_of_now_is_told_once)
{
	(void)kustos_client_dispatch(client);
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS);
	ck_assert_int_eq(kustos_client_dispatch(client), 0);
	ck_assert_int_eq(count, 1);
	check(0, KUSTOS_STATE_CONNECTED, 1, client->session.id);
}
END_TEST

/* The listener is told the state even if there was no other before. */
START_TEST(the_state_of_a_client_that_has_just_been_opened_is_told)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	kustos_client_unlisten(client, listener);
	ck_assert(lone_close(&bench, client));
	options.dispatch = KUSTOS_DISPATCH_FD;
	options.hosts = model_addresses(bench.model);
	const struct ku_env env = {
		.api = &ku_zk_sim,
		.api_env = model_client(bench.model, LONE_MACHINE),
		.clock = bench.sched.clock,
		.seed = 1,
	};
	ck_assert_int_eq(ku_client_open(&options, &env, &client), KUSTOS_OK);
	ck_assert_int_eq(kustos_client_listen(client, note, news, &listener),
		KUSTOS_OK);
	(void)kustos_client_dispatch(client);
	ck_assert_int_eq(count, 1);
	check(0, KUSTOS_STATE_CONNECTING, 0, 0);
}
END_TEST

/* Of the states in between it is told only the losses.  Only the last one comes
   with its session. */
START_TEST(no_loss_is_left_out)
{
	int64_t id = 0;

	(void)kustos_client_dispatch(client);
	count = 0;
	for (int i = 0; i <= _i; i++)
		id = expire();
	(void)kustos_client_dispatch(client);
	ck_assert_int_eq(count, _i + 2);
	for (int i = 0; i < _i; i++)
		check(i, KUSTOS_STATE_LOST, i + 1, 0);
	check(_i, KUSTOS_STATE_LOST, _i + 1, id);
	check(_i + 1, KUSTOS_STATE_CONNECTED, _i + 2, client->session.id);
	ck_assert_int_eq(kustos_client_dispatch(client), 0);
}
END_TEST

/* A listener is not told of losses before it began. */
START_TEST(a_loss_before_it_listened_is_not_told)
{
	kustos_client_unlisten(client, listener);
	(void)expire();
	ck_assert_int_eq(kustos_client_listen(client, note, news, &listener),
		KUSTOS_OK);
	(void)kustos_client_dispatch(client);
	ck_assert_int_eq(count, 1);
	check(0, KUSTOS_STATE_CONNECTED, 2, client->session.id);
}
END_TEST

static void leave(void)
{
	struct kustos_listener *l = listener;

	listener = NULL;
	kustos_client_unlisten(client, l);
}

START_TEST(who_listens_no_more_is_not_told_though_its_turn_comes)
{
	leave();
	ck_assert_int_eq(kustos_client_dispatch(client), 0);
	ck_assert_int_eq(count, 0);
}
END_TEST

static void leave_within(void *arg, const struct kustos_session *session)
{
	(void)session;
	if (++*(int *)arg == 2) {
		leave();
		return;
	}
	(void)expire();
	(void)kustos_client_dispatch(client);
}

/* The callback that returns last frees the listener. */
START_TEST(it_may_listen_no_more_in_a_callback_within_another_of_its_own)
{
	int calls = 0;

	leave();
	ck_assert_int_eq(
		kustos_client_listen(client, leave_within, &calls, &listener),
		KUSTOS_OK);
	(void)kustos_client_dispatch(client);
	(void)expire();
	ck_assert_int_eq(kustos_client_dispatch(client), 0);
	ck_assert_int_eq(calls, 2);
}
END_TEST

static atomic_bool left;

static void *leave_elsewhere(void *arg)
{
	leave();
	atomic_store(&left, true);
	return arg;
}

static int callers(void)
{
	ku_lock(client);
	int now = client->callers;
	ku_unlock(client);
	return now;
}

/* Closing the client waits for the thread that stops listening, as for this
   one. */
static void be_left(void *arg, const struct kustos_session *session)
{
	(void)session;
	ck_assert_int_eq(pthread_create(arg, NULL, leave_elsewhere, NULL), 0);
	while (callers() < 2)
		sched_yield();
	for (int i = 0; i < 1000; i++) {
		ck_assert_int_eq(callers(), 2);
		ck_assert(!atomic_load(&left));
		sched_yield();
	}
}

START_TEST(who_listens_no_more_waits_for_a_callback_on_another_thread)
{
	pthread_t other;

	leave();
	atomic_store(&left, false);
	ck_assert_int_eq(
		kustos_client_listen(client, be_left, &other, &listener),
		KUSTOS_OK);
	(void)kustos_client_dispatch(client);
	pthread_join(other, NULL);
	ck_assert_int_eq(callers(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("listeners in the simulator");
	TCase *t = tcase_create("late");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_state_of_now_is_told_once);
	tcase_add_test(t,
		the_state_of_a_client_that_has_just_been_opened_is_told);
	tcase_add_loop_test(t, no_loss_is_left_out, 0, 3);
	tcase_add_test(t, a_loss_before_it_listened_is_not_told);
	tcase_add_test(t,
		who_listens_no_more_is_not_told_though_its_turn_comes);
	tcase_add_test(t,
		it_may_listen_no_more_in_a_callback_within_another_of_its_own);
	tcase_add_test(t,
		who_listens_no_more_waits_for_a_callback_on_another_thread);
	suite_add_tcase(s, t);
	return unit_main(s);
}
