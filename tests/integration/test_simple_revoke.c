/*
 * test_simple_revoke.c - the holder of a simple lock is asked to give it back.
 */
#include "simple_fixture.h"

#include <kustos/participant.h>

#include <stdatomic.h>

#define T_MS 9000

static atomic_int asked;
static _Atomic(struct kustos_hold *) asked_of;
static struct kustos_simple *ours;

static void note_request(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	atomic_store(&asked_of, hold);
	atomic_fetch_add(&asked, 1);
}

static void give_back(void *arg, struct kustos_hold *hold)
{
	note_request(arg, hold);
	check_err(kustos_hold_release(hold), KUSTOS_OK);
}

static struct kustos_simple *revocable(kustos_hold_fn *on_revoke)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;
	struct kustos_simple *lock;

	o.on_revoke = on_revoke;
	check_err(kustos_simple_create(client, LINE, &o, &lock), KUSTOS_OK);
	return lock;
}

static void set_up(void)
{
	pair_open_behind_proxy(T_MS, 0);
	simple_pair_make();
	asked = 0;
	ours = revocable(note_request);
}

static void tear_down(void)
{
	kustos_simple_destroy(ours);
	simple_pair_close();
}

static void request(void)
{
	check_err(kustos_participant_revoke(other, LINE, SOON, NULL),
		KUSTOS_OK);
}

/* Wait until what both clients have to hear has come, and what "client" calls
   for that has been called: those calls are made in order. */
static void let_calls_run(void)
{
	struct completions last = { .calls = 0 };

	pair_settle();
	check_err(kustos_exists_async(client, "/", SOON, NULL, count_completion,
			  &last),
		KUSTOS_OK);
	test_eventually(completions_of(&last) == 1, 3000);
}

/* A new connection; and the node has been read on it. */
static void reconnect(void)
{
	proxy_reset_counts(proxy);
	proxy_cut(proxy);
	test_eventually(proxy_count(proxy, ZK_OP_GET) > 0, 5000);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
}

/* It is told of each request once, also when it reads the node again after a
   reconnect; other data is no request. */
START_TEST(a_holder_is_told_of_each_request_once)
{
	int64_t epoch = client_epoch(client);

	check_err(kustos_simple_lock(ours, SOON, NULL), KUSTOS_OK);
	for (int i = 1; i <= 3; i++) {
		request();
		test_eventually(atomic_load(&asked) == i, 3000);
		ck_assert_ptr_eq(atomic_load(&asked_of),
			kustos_simple_hold(ours));
		if (_i == 1)
			reconnect();
		else
			ck_assert_int_eq(
				raw_set(fixture_address(), LINE, "__REVOKE_"),
				0);
		let_calls_run();
		ck_assert_int_eq(atomic_load(&asked), i);
	}
	ck_assert(client_epoch(client) == epoch);
	ck_assert_int_eq(kustos_hold_state(kustos_simple_hold(ours)),
		KUSTOS_HOLD_HELD);
	check_err(kustos_simple_unlock(ours), KUSTOS_OK);
}
END_TEST

START_TEST(who_gives_it_back_when_asked_lets_others_in)
{
	struct kustos_simple *obliging = revocable(give_back);
	struct ask a = { .calls = 0 };

	(void)simple_take(obliging);
	simple_ask(&a, simple_rivals, SOON);
	wait_until_watched(2);
	ck_assert(ask_waits(&a));
	request();
	check_err(ask_wait(&a, 3000), KUSTOS_OK);
	ck_assert_int_eq(atomic_load(&asked), 1);
	hold_give(a.hold);
	kustos_simple_destroy(obliging);
}
END_TEST

/* Else the one who asks would wait for all of them. */
START_TEST(after_a_request_its_node_goes_though_others_of_the_object_wait)
{
	struct kustos_hold *hold = simple_take(ours);
	int64_t token = kustos_hold_token(hold);
	struct ask a = { .calls = 0 };

	simple_ask(&a, ours, SOON);
	request();
	test_eventually(atomic_load(&asked) == 1, 3000);
	hold_give(hold);
	check_err(ask_wait(&a, 3000), KUSTOS_OK);
	ck_assert_int_gt(kustos_hold_token(a.hold), token);
	hold_give(a.hold);
}
END_TEST

/* The request goes with the node. */
START_TEST(the_next_holder_is_not_told_of_what_the_last_was_asked)
{
	struct kustos_hold *hold = simple_take(ours);

	request();
	test_eventually(atomic_load(&asked) == 1, 3000);
	hold_give(hold);
	hold = simple_take(ours);
	let_calls_run();
	ck_assert_int_eq(atomic_load(&asked), 1);
	hold_give(hold);
}
END_TEST

START_TEST(what_a_lock_itself_has_stored_is_no_request)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;
	struct kustos_simple *lock;

	o.on_revoke = note_request;
	o.data = "__REVOKE__";
	o.data_len = 10;
	check_err(kustos_simple_create(client, LINE, &o, &lock), KUSTOS_OK);
	struct kustos_hold *hold = simple_take(lock);
	let_calls_run();
	ck_assert_int_eq(atomic_load(&asked), 0);
	request();
	test_eventually(atomic_load(&asked) == 1, 3000);
	hold_give(hold);
	kustos_simple_destroy(lock);
}
END_TEST

START_TEST(a_destroyed_lock_tells_nobody)
{
	struct kustos_simple *gone = revocable(note_request);
	struct kustos_hold *hold = simple_take(gone);

	pair_settle(); /* its node is watched */
	kustos_simple_destroy(gone);
	request();
	let_calls_run();
	ck_assert_int_eq(atomic_load(&asked), 0);
	hold_give(hold);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("requests to a simple lock");
	TCase *t = fixture_case(s, "two clients", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, a_holder_is_told_of_each_request_once, 0, 2);
	tcase_add_test(t, who_gives_it_back_when_asked_lets_others_in);
	tcase_add_test(t,
		after_a_request_its_node_goes_though_others_of_the_object_wait);
	tcase_add_test(t,
		the_next_holder_is_not_told_of_what_the_last_was_asked);
	tcase_add_test(t, what_a_lock_itself_has_stored_is_no_request);
	tcase_add_test(t, a_destroyed_lock_tells_nobody);
	return fixture_main(s);
}
