/*
 * test_callbacks.c - callbacks that block, and what they must not hold up; and
 * callbacks that close their own client.
 */
#include "callback_gate.h"
#include "client_fixture.h"
#include "inject.h"
#include "process.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_MS INT64_C(1000000)

/* The timeout of the clients that are cut off, and the time within which they
   must be told of the loss.  That is much less than a blocked callback takes,
   which returns only when the test lets it. */
#define T_MS 6000
#define TOLD_MS (LEASE_MS(T_MS) + T_MS / 3)

static struct record record;

START_TEST(L10_a_callback_that_takes_long_delays_neither_LOST_nor_others)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), T_MS);
	struct kustos_client *other = client_connected(fixture_address(),
		20000);
	struct completions done = { 0 }, behind = { 0 };
	struct gate g = { 0 };
	int64_t cut_ns, lost_ns;

	record_start(&record, c);
	ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER, NULL,
				 stand_done, &g),
		KUSTOS_OK);
	test_eventually(flag(&g.entered), 1000);
	/* While the callback blocks, these work: waiting calls of the same
	   client, */
	ck_assert_int_eq(
		kustos_exists(c, "/", kustos_after_ms(PATIENCE_MS), NULL, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER, NULL,
				 count_completion, &behind),
		KUSTOS_OK);
	ck_assert_int_eq(
		kustos_client_flush(c, kustos_after_ms(PATIENCE_MS), NULL),
		KUSTOS_OK);
	/* callbacks of another client, */
	ck_assert_int_eq(kustos_exists_async(other, "/", KUSTOS_FOREVER, NULL,
				 count_completion, &done),
		KUSTOS_OK);
	test_eventually(completions_of(&done) == 1, 500);
	/* and the report of a loss. */
	proxy_set_mode(p, PROXY_HOLE);
	cut_ns = test_boot_ns();
	test_eventually(record_when(&record, KUSTOS_STATE_LOST, 1) != 0,
		TOLD_MS);
	lost_ns = record_when(&record, KUSTOS_STATE_LOST, 1);
	ck_assert_int_lt(lost_ns - cut_ns, TOLD_MS * NS_PER_MS);
	ck_assert_int_eq(flag(&g.left), 0);
	ck_assert_int_eq(completions_of(&behind), 0);
	raise_flag(&g.open);
	test_eventually(completions_of(&behind) == 1, 1000);
	client_drop(c);
	client_close(other);
	proxy_free(p);
}
END_TEST

static void stand_when_lost(void *arg, const struct kustos_session *now)
{
	if (now->state == KUSTOS_STATE_LOST)
		stand(arg);
}

/* Block a callback.  Then report a loss to "count" listeners, with no thread to
   be had for the "failing"-th of them; if that is negative, for none of them.
   All of them must get a thread soon. */
static void check_told(int count, int failing)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), T_MS);
	struct kustos_listener *listener;
	struct gate g = { 0 }, lost = { 0 };

	for (int i = 0; i < count; i++)
		ck_assert_int_eq(kustos_client_listen(c, stand_when_lost, &lost,
					 &listener),
			KUSTOS_OK);
	ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER, NULL,
				 stand_done, &g),
		KUSTOS_OK);
	test_eventually(flag(&g.entered), 1000);
	inject_thread(INJECT_PROGRAM, failing);
	proxy_set_mode(p, PROXY_HOLE);
	test_eventually(kustos_client_state(c) == KUSTOS_STATE_LOST, TOLD_MS);
	if (failing < 0)
		inject_thread(INJECT_PROGRAM, 0);
	test_eventually(flag(&lost.entered) == count, 1000);
	inject_thread(INJECT_PROGRAM, 0);
	raise_flag(&lost.open);
	raise_flag(&g.open);
	client_drop(c);
	proxy_free(p);
}

/* The second of two listeners has no thread at first, and the callback of the
   first does not return. */
START_TEST(L10_news_of_a_loss_that_had_no_thread_gets_one_soon)
{
	check_told(2, 2);
}
END_TEST

/* None of the listeners has a thread at first, and none of their callbacks
   returns. */
START_TEST(L10_news_of_a_loss_of_which_none_had_a_thread_are_told_at_once)
{
	check_told(3, -1);
}
END_TEST

/* A listener whose first call blocks. */
struct slow_listener {
	struct gate gate;
	int64_t lost_ns;
};

static void stand_when_connected(void *arg, const struct kustos_session *now)
{
	struct slow_listener *l = arg;

	if (now->state == KUSTOS_STATE_CONNECTED)
		stand(&l->gate);
	else if (now->state == KUSTOS_STATE_LOST)
		__atomic_store_n(&l->lost_ns, test_boot_ns(), __ATOMIC_SEQ_CST);
}

START_TEST(L10_a_listener_is_told_LOST_beside_its_own_slow_call)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), T_MS);
	struct slow_listener slow = { .lost_ns = 0 };
	struct kustos_listener *l;
	int64_t cut_ns;

	ck_assert_int_eq(
		kustos_client_listen(c, stand_when_connected, &slow, &l),
		KUSTOS_OK);
	test_eventually(flag(&slow.gate.entered), 1000);
	proxy_set_mode(p, PROXY_HOLE);
	cut_ns = test_boot_ns();
	test_eventually(__atomic_load_n(&slow.lost_ns, __ATOMIC_SEQ_CST) != 0,
		TOLD_MS);
	ck_assert_int_lt(slow.lost_ns - cut_ns, TOLD_MS * NS_PER_MS);
	ck_assert_int_eq(flag(&slow.gate.left), 0);
	raise_flag(&slow.gate.open);
	client_drop(c);
	proxy_free(p);
}
END_TEST

/* A listener whose first call blocks, and so does its first report of a
   loss. */
struct twice_slow {
	struct gate first, lost;
	int told; /* reports of a loss */
};

static void stand_twice(void *arg, const struct kustos_session *now)
{
	struct twice_slow *l = arg;

	if (now->state == KUSTOS_STATE_LOST) {
		raise_flag(&l->told);
		if (flag(&l->told) == 1)
			stand(&l->lost);
	} else if (!flag(&l->first.entered)) {
		stand(&l->first);
	}
}

static void lose_session(struct kustos_client *c, int times)
{
	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	(void)raw_kill_session(fixture_address(), client_session_id(c));
	test_eventually(record_when(&record, KUSTOS_STATE_LOST, times) != 0,
		5000);
}

/* The session is lost again while the first loss is still being told. */
START_TEST(L10_a_second_loss_waits_for_the_first_and_no_other_call)
{
	struct kustos_client *c = client_connected(fixture_address(), T_MS);
	struct twice_slow slow = { .told = 0 };
	struct kustos_listener *l;

	record_start(&record, c);
	ck_assert_int_eq(kustos_client_listen(c, stand_twice, &slow, &l),
		KUSTOS_OK);
	test_eventually(flag(&slow.first.entered), 1000);
	lose_session(c, 1);
	test_eventually(flag(&slow.lost.entered), 1000);
	lose_session(c, 2);
	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	ck_assert_int_eq(flag(&slow.told), 1);
	raise_flag(&slow.lost.open);
	test_eventually(flag(&slow.told) == 2, 5000);
	ck_assert_int_eq(flag(&slow.first.left), 0);
	raise_flag(&slow.first.open);
	client_drop(c);
}
END_TEST

/*
 * L11: one of the client's own callbacks closes it.
 */
enum from {
	FROM_LISTENER,
	FROM_LOST, /* a listener told of a loss, beside another callback */
	FROM_COMPLETION, /* of a read */
	FROM_FAILURE,	 /* of a request that was never sent */
	FROM_CREATE,
	FROM_ALL
};

struct closer {
	struct kustos_client *client;
	enum from from;
	int closed, err;
	struct completions pending; /* calls that were made before the close */
};

static void close_here(struct closer *k)
{
	for (int i = 0; i < 10; i++)
		(void)!kustos_exists_async(k->client, "/", KUSTOS_FOREVER, NULL,
			count_completion, &k->pending);
	k->err = kustos_client_close(k->client, kustos_after_ms(PATIENCE_MS),
		NULL);
	raise_flag(&k->closed);
}

static void close_from_listener(void *arg, const struct kustos_session *now)
{
	struct closer *k = arg;
	enum kustos_state wanted = k->from == FROM_LOST
		? KUSTOS_STATE_LOST
		: KUSTOS_STATE_CONNECTED;

	if (now->state == wanted && !flag(&k->closed))
		close_here(k);
}

static void close_from_done(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct closer *k = arg;

	(void)result;
	ck_assert(k->from == FROM_FAILURE ? err == KUSTOS_ETIMEDOUT
					  : err == KUSTOS_OK);
	close_here(k);
}

/* Make the callback that closes the client run. */
static void provoke(struct closer *k)
{
	struct kustos_listener *l;
	int64_t id = client_session_id(k->client);
	enum kustos_err err = KUSTOS_OK;

	switch (k->from) {
	case FROM_LISTENER:
	case FROM_LOST:
		err = kustos_client_listen(k->client, close_from_listener, k,
			&l);
		if (k->from == FROM_LOST)
			ck_assert_int_eq(
				raw_kill_session(fixture_address(), id), 0);
		break;
	case FROM_FAILURE:
		ck_assert_int_eq(server_pause(fixture_server()), 0);
		err = kustos_exists_async(k->client, "/", kustos_after_ms(50),
			NULL, close_from_done, k);
		break;
	case FROM_CREATE:
		err = kustos_create_async(k->client, "/made", NULL, 0,
			KUSTOS_CREATE_EPHEMERAL, KUSTOS_FOREVER, NULL,
			close_from_done, k);
		break;
	default:
		err = kustos_exists_async(k->client, "/", KUSTOS_FOREVER, NULL,
			close_from_done, k);
		break;
	}
	ck_assert_int_eq(err, KUSTOS_OK);
}

static void check_nothing_left(const struct closer *k, int threads, int fds,
	int64_t id)
{
	ck_assert_int_eq(k->err, KUSTOS_OK);
	if (k->from == FROM_FAILURE)
		ck_assert_int_eq(server_resume(fixture_server()), 0);
	test_eventually(thread_count() == threads, 3000);
	test_eventually(fd_count() == fds, 1000);
	ck_assert_int_eq(completions_of(&k->pending), 10);
	if (k->from != FROM_FAILURE) /* the server was told of the close */
		ck_assert(!session_lives(id));
}

START_TEST(L11_any_callback_may_close_the_client)
{
	struct closer k = { .from = (enum from)_i };
	int threads = thread_count_before(), fds = fd_count();
	int64_t id;

	k.client = client_connected(fixture_address(), 9000);
	id = client_session_id(k.client);
	provoke(&k);
	test_eventually(flag(&k.closed), 5000);
	check_nothing_left(&k, threads, fds, id);
}
END_TEST

START_TEST(L11_a_callback_from_dispatch_may_close_the_client)
{
	struct closer k = { .from = (enum from)_i };
	int threads = thread_count_before(), fds = fd_count();
	struct kustos_client_options o = client_options(fixture_address(),
		9000);
	int64_t id, end;

	o.dispatch = KUSTOS_DISPATCH_FD;
	k.client = client_open_with(&o);
	client_wait(k.client, KUSTOS_STATE_CONNECTED, 3000);
	id = client_session_id(k.client);
	provoke(&k);
	end = test_now_ms() + PATIENCE_MS;
	/* When the call that closed the client has returned, the client is
	   gone. */
	while (!flag(&k.closed) && test_now_ms() < end) {
		struct pollfd p = { kustos_client_fd(k.client), POLLIN, 0 };

		ck_assert_int_ge(poll(&p, 1, 1000), 0);
		kustos_client_dispatch(k.client);
	}
	ck_assert_int_eq(flag(&k.closed), 1);
	ck_assert_int_eq(completions_of(&k.pending), 10);
	check_nothing_left(&k, threads, fds, id);
}
END_TEST

START_TEST(callbacks_run_in_dispatch_only)
{
	struct kustos_client_options o = client_options(fixture_address(),
		9000);
	struct completions done = { 0 };
	struct kustos_client *c;
	struct pollfd p = { .events = POLLIN };

	o.dispatch = KUSTOS_DISPATCH_FD;
	c = client_open_with(&o);
	p.fd = kustos_client_fd(c);
	ck_assert_int_ge(p.fd, 0);
	client_wait(c, KUSTOS_STATE_CONNECTED, 3000);
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	ck_assert_int_eq(kustos_client_dispatch(c), 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER,
					 NULL, count_completion, &done),
			KUSTOS_OK);
	ck_assert_int_eq(
		kustos_client_flush(c, kustos_after_ms(PATIENCE_MS), NULL),
		KUSTOS_OK);
	ck_assert_int_eq(completions_of(&done), 0);
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	ck_assert_int_eq(kustos_client_dispatch(c), 3);
	ck_assert_int_eq(completions_of(&done), 3);
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	/* What is queued when the client is closed runs in the close. */
	ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER, NULL,
				 count_completion, &done),
		KUSTOS_OK);
	client_close(c);
	ck_assert_int_eq(completions_of(&done), 4);
}
END_TEST

/* A listener that blocks when told of a loss, and when told of the end. */
struct deaf {
	struct kustos_client *client;
	struct gate lost, closed;
	int gone; /* the close has returned */
};

static void stand_when_over(void *arg, const struct kustos_session *now)
{
	struct deaf *d = arg;

	if (now->state == KUSTOS_STATE_LOST)
		stand(&d->lost);
	else if (now->state == KUSTOS_STATE_CLOSED)
		stand(&d->closed);
}

static void *close_deaf(void *arg)
{
	struct deaf *d = arg;

	(void)kustos_client_close(d->client, KUSTOS_NOW, NULL);
	raise_flag(&d->gone);
	return NULL;
}

/* Two losses are being told beside an ordinary callback, so the end cannot be
   told before one of the two has returned.  By then no ordinary callback runs
   any more. */
START_TEST(L11_a_close_waits_for_a_callback_that_another_left_behind)
{
	int threads = thread_count_before();
	struct deaf d = { .client = client_connected(fixture_address(), 9000) };
	struct kustos_listener *l;
	struct gate ordinary = { 0 };
	pthread_t closer;

	ck_assert_int_eq(
		kustos_client_listen(d.client, stand_when_over, &d, &l),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_exists_async(d.client, "/", KUSTOS_FOREVER,
				 NULL, stand_done, &ordinary),
		KUSTOS_OK);
	test_eventually(flag(&ordinary.entered), 1000);
	for (int i = 1; i <= 2; i++) {
		client_kill_session(d.client);
		test_eventually(flag(&d.lost.entered) == i, 3000);
		client_wait_epoch(d.client, i, 5000);
	}
	ck_assert_int_eq(pthread_create(&closer, NULL, close_deaf, &d), 0);
	/* The handle's threads end.  Left are the closer, the manager, the
	   ordinary callback's thread, and the two that block in a loss. */
	test_eventually(thread_count() == threads + 5, 3000);
	raise_flag(&ordinary.open);
	test_eventually(thread_count() == threads + 4, 3000);
	raise_flag(&d.lost.open);
	test_eventually(flag(&d.closed.entered), 1000);
	test_never(flag(&d.gone), 200);
	raise_flag(&d.closed.open);
	ck_assert_int_eq(pthread_join(closer, NULL), 0);
	test_eventually(thread_count() == threads, 1000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("callbacks");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_test(t,
		L10_a_callback_that_takes_long_delays_neither_LOST_nor_others);
	tcase_add_test(t, L10_news_of_a_loss_that_had_no_thread_gets_one_soon);
	tcase_add_test(t,
		L10_news_of_a_loss_of_which_none_had_a_thread_are_told_at_once);
	tcase_add_test(t, L10_a_listener_is_told_LOST_beside_its_own_slow_call);
	tcase_add_test(t,
		L10_a_second_loss_waits_for_the_first_and_no_other_call);
	tcase_add_loop_test(t, L11_any_callback_may_close_the_client, 0,
		FROM_ALL);
	tcase_add_loop_test(t,
		L11_a_callback_from_dispatch_may_close_the_client, 0, FROM_ALL);
	tcase_add_test(t, callbacks_run_in_dispatch_only);
	tcase_add_test(t,
		L11_a_close_waits_for_a_callback_that_another_left_behind);
	return fixture_main(s);
}
