/*
 * test_mutex_hold.c - the state that a hold reports, and the callbacks that it
 * makes, while its session, its node or its connection is lost.
 */
#include "child.h"
#include "mutex_pair.h"
#include "process.h"

#include <kustos/participant.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define T_MS 12000
#define RISK_MS 2400
#define EARLY_MS 3000

static void set_up(void)
{
	pair_open_behind_proxy(T_MS, 32);
}

/* Wait until there is a watch on the hold's own node. */
static void wait_guarded(struct kustos_hold *hold)
{
	char text[4096];

	ck_assert_ptr_nonnull(kustos_hold_path(hold));
	test_eventually(
		fourletter(fixture_address(), "wchp", text, sizeof(text)) > 0 &&
			strstr(text, kustos_hold_path(hold)) != NULL,
		2000);
}

START_TEST(S09_a_hold_whose_node_is_deleted_is_lost_at_once)
{
	struct kustos_hold *hold = hold_take(mutex);
	int lost = 0;

	check_err(kustos_hold_on_lost(hold, count_call, &lost), KUSTOS_OK);
	if (_i == 0)
		wait_guarded(hold); /* else before the node is watched */
	ck_assert_int_eq(raw_delete(fixture_address(), kustos_hold_path(hold)),
		0);
	hold_wait(hold, KUSTOS_HOLD_LOST, 100);
	test_eventually(calls_of(&lost) == 1, 500);
	ck_assert_int_eq(kustos_hold_remaining_ms(hold), 0);
	struct kustos_hold *next = hold_take(rivals);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	check_node(next, other);
	hold_give(next);
	ck_assert_int_eq(calls_of(&lost), 1);
}
END_TEST

START_TEST(S09_a_hold_that_is_handed_over_inside_is_watched_as_well)
{
	struct kustos_hold *first = hold_take(mutex);
	struct ask a = { .calls = 0 };
	int lost = 0;

	ask(&a, mutex, SOON);
	hold_give(first);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	check_err(kustos_hold_on_lost(a.hold, count_call, &lost), KUSTOS_OK);
	ck_assert_int_eq(
		raw_delete(fixture_address(), kustos_hold_path(a.hold)), 0);
	hold_wait(a.hold, KUSTOS_HOLD_LOST, 100);
	test_eventually(calls_of(&lost) == 1, 500);
	check_err(kustos_hold_release(a.hold), KUSTOS_ELOST);
}
END_TEST

START_TEST(S05_a_lost_lock_is_not_entered_again_and_every_level_says_so)
{
	struct kustos_hold *next;

	for (int i = 0; i < 3; i++)
		check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
	client_kill_session(client);
	hold_wait(kustos_mutex_hold(mutex), KUSTOS_HOLD_LOST, 2000);
	next = hold_take(rivals);
	client_wait_epoch(client, 1, 5000);
	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_ELOST);
	check_err(kustos_mutex_lock(mutex, KUSTOS_NOW, NULL), KUSTOS_ELOST);
	ck_assert(kustos_mutex_token(mutex) == 0);
	for (int i = 0; i < 3; i++)
		check_err(kustos_mutex_unlock(mutex), KUSTOS_ELOST);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_ENOTHELD);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 1);
	check_node(next, other);
	hold_give(next);
	check_err(kustos_mutex_lock(mutex, SOON, NULL), KUSTOS_OK);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
}
END_TEST

START_TEST(a_loss_is_told_once_also_to_who_asks_late)
{
	struct kustos_hold *hold = hold_take(mutex);
	int first = 0, replaced = 0, late = 0;

	check_err(kustos_hold_on_lost(hold, count_call, &replaced), KUSTOS_OK);
	check_err(kustos_hold_on_lost(hold, count_call, &first), KUSTOS_OK);
	client_kill_session(client);
	test_eventually(calls_of(&first) == 1, 2000);
	check_err(kustos_hold_on_lost(hold, count_call, &late), KUSTOS_OK);
	test_eventually(calls_of(&late) == 1, 2000);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	ck_assert_int_eq(calls_of(&replaced), 0);
	ck_assert_int_eq(calls_of(&first), 1);
	ck_assert_int_eq(calls_of(&late), 1);
}
END_TEST

static void release_in_call(void *arg, struct kustos_hold *hold)
{
	enum kustos_err err = kustos_hold_release(hold);

	__atomic_store_n((int *)arg, (int)err, __ATOMIC_SEQ_CST);
}

START_TEST(a_hold_may_be_released_in_its_own_callback)
{
	struct kustos_hold *hold = hold_take(mutex);
	int err = 0;

	check_err(kustos_hold_on_lost(hold, release_in_call, &err), KUSTOS_OK);
	client_kill_session(client);
	test_eventually(calls_of(&err) != 0, 2000);
	check_err((enum kustos_err)calls_of(&err), KUSTOS_ELOST);
	client_wait_epoch(client, 1, 5000);
	hold_give(hold_take(mutex));
}
END_TEST

/* A holder whose callback takes long, and that is released meanwhile. */
static struct slow {
	struct kustos_hold *hold;
	int calls, thread;
	bool goes_on;
} slow;

static void ask_slowly(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	ck_assert_ptr_eq(hold, slow.hold);
	__atomic_add_fetch(&slow.calls, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < PATIENCE_MS; i++) {
		if (__atomic_load_n(&slow.goes_on, __ATOMIC_SEQ_CST))
			return;
		test_pause_1ms();
	}
}

/* "lost" is not NULL if the hold is. */
static void *give_back(void *lost)
{
	__atomic_store_n(&slow.thread, thread_id(), __ATOMIC_SEQ_CST);
	check_err(kustos_hold_release(slow.hold),
		lost != NULL ? KUSTOS_ELOST : KUSTOS_OK);
	return lost;
}

static void ask_for_it(const char *path)
{
	check_err(kustos_participant_revoke(other, path, SOON, NULL),
		KUSTOS_OK);
}

START_TEST(who_is_giving_it_back_is_asked_no_more)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct ask behind = { .release = true };
	struct kustos_mutex *m;
	char path[128];
	pthread_t giver;

	o.on_revoke = ask_slowly;
	check_err(kustos_mutex_create(client, LINE, &o, &m), KUSTOS_OK);
	slow = (struct slow){ .hold = hold_take(m) };
	snprintf(path, sizeof(path), "%s", kustos_hold_path(slow.hold));
	ask_for_it(path);
	test_eventually(calls_of(&slow.calls) == 1, 2000);
	ck_assert_int_eq(pthread_create(&giver, NULL, give_back, NULL), 0);
	test_eventually(calls_of(&slow.thread) != 0 &&
			thread_sleeps(calls_of(&slow.thread)),
		2000); /* it waits for the callback */
	ask_for_it(path);
	pair_settle();
	__atomic_store_n(&slow.goes_on, true, __ATOMIC_SEQ_CST);
	ck_assert_int_eq(pthread_join(giver, NULL), 0);
	/* Callbacks run one after the other. */
	ask(&behind, mutex, SOON);
	check_err(ask_wait(&behind, 2000), KUSTOS_OK);
	ck_assert_int_eq(calls_of(&slow.calls), 1);
	kustos_mutex_destroy(m);
}
END_TEST

static void ask_for_more(void *arg, struct kustos_hold *hold)
{
	ask_slowly(NULL, hold); /* blocks until the release has begun */
	check_err(kustos_hold_on_lost(hold, count_call, arg), KUSTOS_OK);
	check_err(kustos_hold_at_risk(hold, 2 * T_MS, count_call, arg),
		KUSTOS_OK);
}

START_TEST(who_is_giving_it_back_is_not_called_whatever_its_callback_asks_for)
{
	const bool lost = _i == 1; /* what it asks for is due at once */
	pthread_t giver;
	int more = 0;

	slow = (struct slow){ .hold = hold_take(mutex) };
	if (lost) {
		check_err(kustos_hold_on_lost(slow.hold, ask_for_more, &more),
			KUSTOS_OK);
		client_kill_session(client);
	} else {
		check_err(kustos_hold_at_risk(slow.hold, 2 * T_MS, ask_for_more,
				  &more),
			KUSTOS_OK);
	}
	test_eventually(calls_of(&slow.calls) == 1, 2000);
	ck_assert_int_eq(
		pthread_create(&giver, NULL, give_back, lost ? &slow : NULL),
		0);
	test_eventually(calls_of(&slow.thread) != 0 &&
			thread_sleeps(calls_of(&slow.thread)),
		2000);
	__atomic_store_n(&slow.goes_on, true, __ATOMIC_SEQ_CST);
	ck_assert_int_eq(pthread_join(giver, NULL), 0);
	if (lost)
		client_wait_epoch(client, 1, 5000);
	/* Its timers and callbacks would come before this. */
	hold_give(hold_take(mutex));
	test_never(calls_of(&more) > 0, 100);
}
END_TEST

START_TEST(U02_a_hold_outlives_disconnects_and_counts_down_meanwhile)
{
	struct kustos_hold *hold = hold_take(mutex);
	int64_t token = kustos_hold_token(hold), left, last;
	int lost = 0;

	check_err(kustos_hold_on_lost(hold, count_call, &lost), KUSTOS_OK);
	for (int i = 0; i < 5; i++) {
		proxy_set_mode(proxy, PROXY_REFUSE);
		hold_wait(hold, KUSTOS_HOLD_UNSURE, 1000);
		last = kustos_hold_remaining_ms(hold);
		ck_assert_int_gt(last, 0);
		test_eventually((left = kustos_hold_remaining_ms(hold)) < last,
			1000);
		ck_assert_int_gt(left, 0);
		proxy_set_mode(proxy, PROXY_PASS);
		hold_wait(hold, KUSTOS_HOLD_HELD, 2000);
	}
	ck_assert(kustos_hold_token(hold) == token);
	ck_assert_int_eq(calls_of(&lost), 0);
	check_node(hold, client);
	hold_give(hold);
}
END_TEST

/* What was seen when a warning was called. */
struct warning {
	int calls;
	int64_t left_ms;
	enum kustos_hold_state state;
};

static void note_warning(void *arg, struct kustos_hold *hold)
{
	struct warning *w = arg;

	w->left_ms = kustos_hold_remaining_ms(hold);
	w->state = kustos_hold_state(hold);
	__atomic_add_fetch(&w->calls, 1, __ATOMIC_SEQ_CST);
}

START_TEST(a_warning_comes_before_the_loss)
{
	struct kustos_hold *hold = hold_take(mutex);
	struct warning w = { .calls = 0 };
	int lost = 0;

	check_err(kustos_hold_on_lost(hold, count_call, &lost), KUSTOS_OK);
	check_err(kustos_hold_at_risk(hold, -1, note_warning, &w),
		KUSTOS_EINVAL);
	check_err(kustos_hold_at_risk(hold, RISK_MS, note_warning, &w),
		KUSTOS_OK);
	test_never(calls_of(&w.calls) > 0, T_MS / 4);
	proxy_set_mode(proxy, PROXY_HOLE);
	test_eventually(calls_of(&w.calls) == 1, T_MS);
	ck_assert_int_eq(calls_of(&lost), 0);
	ck_assert_int_le(w.left_ms, RISK_MS);
	ck_assert_int_gt(w.left_ms, RISK_MS / 4);
	ck_assert_int_eq(w.state, KUSTOS_HOLD_UNSURE);
	hold_wait(hold, KUSTOS_HOLD_LOST, RISK_MS);
	test_eventually(calls_of(&lost) == 1, 500);
	ck_assert_int_eq(calls_of(&w.calls), 1);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
}
END_TEST

START_TEST(a_danger_that_has_passed_is_warned_of_again)
{
	struct kustos_hold *hold = hold_take(mutex);
	struct warning w = { .calls = 0 };
	int never = 0;

	check_err(kustos_hold_at_risk(hold, EARLY_MS, count_call, &never),
		KUSTOS_OK);
	check_err(kustos_hold_at_risk(hold, EARLY_MS, note_warning, &w),
		KUSTOS_OK);
	for (int i = 1; i <= 2; i++) {
		proxy_set_mode(proxy, PROXY_REFUSE);
		test_eventually(calls_of(&w.calls) == i, T_MS);
		proxy_set_mode(proxy, PROXY_PASS);
		hold_wait(hold, KUSTOS_HOLD_HELD, 1000);
		test_eventually(kustos_hold_remaining_ms(hold) > EARLY_MS,
			2000);
		/* A slow machine may be in danger again at once. */
		if (TEST_CLOCK_COUNTS)
			test_never(calls_of(&w.calls) > i, 50);
	}
	check_err(kustos_hold_at_risk(hold, EARLY_MS, NULL, NULL), KUSTOS_OK);
	ck_assert_int_eq(calls_of(&never), 0);
	hold_give(hold);
}
END_TEST

static enum kustos_err set_guarded(struct kustos_hold *hold, const char *path)
{
	struct kustos_op op = { .kind = KUSTOS_OP_SET,
		.path = path,
		.data = "by us",
		.len = 5,
		.version = -1 };
	struct kustos_op_result result = { .err = KUSTOS_EUNKNOWN };
	enum kustos_err err = kustos_hold_multi(hold, &op, 1, SOON, NULL,
		&result);

	if (err == KUSTOS_OK || err == KUSTOS_ENONODE)
		check_err(result.err, err);
	else /* found out by the server, or known before */
		ck_assert(
			result.err == KUSTOS_EROLLEDBACK || result.err == err);
	return err;
}

/* Delete the hold's node.  With "unseen" the client is not notified, so that
   only the server knows that the hold is gone. */
static void lose_node(struct kustos_hold *hold, bool unseen)
{
	if (unseen) {
		wait_guarded(hold);
		proxy_arm(proxy, PROXY_DROP_EVENT, PROXY_ANY, 1);
	}
	ck_assert_int_eq(raw_delete(fixture_address(), kustos_hold_path(hold)),
		0);
	if (!unseen)
		return;
	test_eventually(proxy_fired(proxy) == 1, 2000);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
}

START_TEST(S02_a_guarded_transaction_needs_the_hold)
{
	struct kustos_hold *hold = hold_take(mutex);
	struct raw_stat stat;
	enum kustos_err err;

	ck_assert_int_eq(raw_create(fixture_address(), "/thing", "new"), 0);
	check_err(set_guarded(hold, "/thing"), KUSTOS_OK);
	check_err(set_guarded(hold, "/nothing"), KUSTOS_ENONODE);
	if (_i == 0)
		client_kill_session(client);
	else
		lose_node(hold, _i == 2);
	err = set_guarded(hold, "/thing");
	if (_i == 0 && err == KUSTOS_EUNKNOWN)
		err = KUSTOS_ELOST; /* sent on a connection that was closed */
	check_err(err, KUSTOS_ELOST);
	ck_assert_int_eq(raw_exists(fixture_address(), "/thing", &stat), 0);
	ck_assert_int_eq(stat.version, 1);
	if (_i == 2)
		proxy_cut(proxy); /* then it looks for the node */
	hold_wait(hold, KUSTOS_HOLD_LOST, 2000);
	check_err(set_guarded(hold, "/thing"), KUSTOS_ELOST);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
}
END_TEST

/* Cut off for good: the hold is lost by the clock, before the server ends the
   session. */
START_TEST(S01_a_holder_that_is_cut_off_knows_before_another_can_have_it)
{
	struct kustos_hold *hold = hold_take(mutex);
	struct ask a = { .calls = 0 };

	ask(&a, rivals, SOON);
	line_wait(2);
	proxy_set_mode(proxy, PROXY_HOLE);
	while (ask_waits(&a))
		test_pause_1ms();
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_LOST);
	ck_assert_int_eq(kustos_hold_remaining_ms(hold), 0);
	check_err(ask_wait(&a, 100), KUSTOS_OK);
	hold_give(a.hold);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
}
END_TEST

/* A process that is stopped while it holds the lock.  It reports what its first
   look shows; it was told to look while it was stopped. */
static int paused_main(int fd, void *arg)
{
	struct kustos_client *c = client_connected(arg, 3000);
	struct kustos_mutex *m = mutex_new(c, 32);

	check_err(kustos_mutex_lock(m, SOON, NULL), KUSTOS_OK);
	child_say(fd, "held");
	child_expect(fd, "look", PATIENCE_MS);
	struct kustos_hold *hold = kustos_mutex_hold(m);
	child_say(fd, kustos_hold_state_name(kustos_hold_state(hold)));
	child_say(fd, kustos_err_name(kustos_mutex_lock(m, KUSTOS_NOW, NULL)));
	child_say(fd, kustos_err_name(kustos_mutex_unlock(m)));
	child_expect(fd, "end", PATIENCE_MS);
	kustos_mutex_destroy(m);
	client_drop(c);
	return 0;
}

START_TEST(S01_a_holder_that_was_stopped_too_long_says_lost_first)
{
	char address[64];
	struct child child;

	snprintf(address, sizeof(address), "%s", fixture_address());
	ck_assert_int_eq(child_start(&child, paused_main, address), 0);
	ck_assert(child_expect(child.fd, "held", PATIENCE_MS));
	ck_assert_int_eq(process_pause(child.pid), 0);
	client = client_connected(fixture_address(), T_MS);
	mutex = mutex_new(client, 32);
	struct kustos_hold *hold = hold_take(mutex);
	child_say(child.fd, "look");
	ck_assert_int_eq(process_resume(child.pid), 0);
	ck_assert(child_expect(child.fd, "LOST", PATIENCE_MS));
	ck_assert(child_expect(child.fd, "KUSTOS_ELOST", PATIENCE_MS));
	ck_assert(child_expect(child.fd, "KUSTOS_ELOST", PATIENCE_MS));
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	check_node(hold, client);
	child_say(child.fd, "end");
	ck_assert_int_eq(child_wait(&child, PATIENCE_MS), 0);
	child_end(&child);
	hold_give(hold);
	kustos_mutex_destroy(mutex);
	client_close(client);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, holds");
	TCase *t = fixture_case(s, "one server", 30);
	TCase *processes = fixture_case(s, "processes", 30);

	tcase_add_checked_fixture(t, set_up, pair_close);
	tcase_add_loop_test(t, S09_a_hold_whose_node_is_deleted_is_lost_at_once,
		0, 2);
	tcase_add_test(t,
		S09_a_hold_that_is_handed_over_inside_is_watched_as_well);
	tcase_add_test(t,
		S05_a_lost_lock_is_not_entered_again_and_every_level_says_so);
	tcase_add_test(t, a_loss_is_told_once_also_to_who_asks_late);
	tcase_add_test(t, a_hold_may_be_released_in_its_own_callback);
	tcase_add_test(t, who_is_giving_it_back_is_asked_no_more);
	tcase_add_loop_test(t,
		who_is_giving_it_back_is_not_called_whatever_its_callback_asks_for,
		0, 2);
	tcase_add_test(t,
		U02_a_hold_outlives_disconnects_and_counts_down_meanwhile);
	tcase_add_test(t, a_warning_comes_before_the_loss);
	tcase_add_test(t, a_danger_that_has_passed_is_warned_of_again);
	tcase_add_loop_test(t, S02_a_guarded_transaction_needs_the_hold, 0, 3);
	tcase_add_test(t,
		S01_a_holder_that_is_cut_off_knows_before_another_can_have_it);
	tcase_add_test(processes,
		S01_a_holder_that_was_stopped_too_long_says_lost_first);
	return fixture_main(s);
}
