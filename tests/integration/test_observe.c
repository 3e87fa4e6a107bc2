/*
 * test_observe.c - observers: who is first in a line, reported to somebody who
 * takes no part in it.
 */
#include "latch_fixture.h"
#include "mutex_pair.h"
#include "rawkill.h"

#include <kustos/participant.h>

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#define T_MS 10000
#define QUIET_MS 100
#define TOLD_SIZE 64

/* What an observer's callback was told last. */
struct witness {
	struct kustos_observer *observer;
	atomic_int calls;
	pthread_mutex_t mutex; /* guards what follows */
	enum kustos_err err;
	bool somebody;
	char data[TOLD_SIZE];
	char path[NODE_SIZE];
	int64_t term, session;
	enum kustos_kind kind;
	atomic_bool asleep; /* while set, no call returns */
	atomic_bool inside;
	bool ends; /* destroys its observer, in the callback */
};

static struct witness witness;
static struct runner runners[12];
static atomic_int requests; /* of "client" */

static void count_request(void *arg, const struct kustos_request *request)
{
	(void)request;
	(void)arg;
	atomic_fetch_add(&requests, 1);
}

static void set_up(void)
{
	struct kustos_client_options o = pair_proxy(T_MS);

	atomic_store(&requests, 0);
	o.on_request = count_request;
	pair_open_with(&o, 0);
	memset(&witness, 0, sizeof(witness));
	pthread_mutex_init(&witness.mutex, NULL);
}

static void tear_down(void)
{
	kustos_observer_destroy(witness.observer);
	pthread_mutex_destroy(&witness.mutex);
	pair_close();
}

static void told(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	struct witness *w = arg;

	ck_assert(!atomic_exchange(&w->inside, true));
	pthread_mutex_lock(&w->mutex);
	bool ends = w->ends;
	w->err = err;
	w->somebody = first != NULL;
	if (first != NULL) {
		ck_assert_int_eq(first->holds, 1);
		ck_assert_int_ge(first->age_ms, 0);
		ck_assert_uint_eq(first->len, strlen(first->data));
		snprintf(w->data, sizeof(w->data), "%s",
			(const char *)first->data);
		snprintf(w->path, sizeof(w->path), "%s", first->path);
		w->term = first->stat.czxid;
		w->session = first->stat.ephemeral_owner;
		w->kind = first->kind;
	}
	pthread_mutex_unlock(&w->mutex);
	atomic_fetch_add(&w->calls, 1);
	for (int64_t end = test_now_ms() + PATIENCE_MS;
		atomic_load(&w->asleep) && test_now_ms() < end;)
		test_pause_1ms();
	atomic_store(&w->inside, false);
	if (ends) {
		kustos_observer_destroy(w->observer);
		__atomic_store_n(&w->observer, NULL, __ATOMIC_SEQ_CST);
	}
}

static struct kustos_observer *observer_left(void)
{
	return __atomic_load_n(&witness.observer, __ATOMIC_SEQ_CST);
}

static void observe(void)
{
	check_err(
		kustos_observe(client, LINE, told, &witness, &witness.observer),
		KUSTOS_OK);
}

/* Return whether the last report was of one with this data. */
static bool tells_of(struct witness *w, const char *data)
{
	pthread_mutex_lock(&w->mutex);
	bool is = w->somebody && strcmp(w->data, data) == 0;
	pthread_mutex_unlock(&w->mutex);
	return is;
}

static bool tells_of_somebody(struct witness *w)
{
	pthread_mutex_lock(&w->mutex);
	bool is = w->somebody;
	pthread_mutex_unlock(&w->mutex);
	return is;
}

static bool tells_of_nobody(struct witness *w)
{
	pthread_mutex_lock(&w->mutex);
	bool is = atomic_load(&w->calls) > 0 && !w->somebody;
	pthread_mutex_unlock(&w->mutex);
	return is;
}

static void line_up(int count)
{
	static const char *const ids[] = { "0", "1", "2", "3", "4", "5", "6",
		"7", "8", "9", "10", "11" };

	for (int i = 0; i < count; i++) {
		runner_run(&runners[i], other, ids[i]);
		line_wait(i + 1);
	}
}

START_TEST(who_leads_is_told_with_its_data_and_then_each_change)
{
	static struct runner first, second;

	if (_i == 0) /* the line does not exist yet */
		observe();
	runner_run(&first, other, "one");
	runner_leads(&first);
	runner_run(&second, other, "two");
	line_wait(2);
	if (_i == 1)
		observe();
	test_eventually(tells_of(&witness, "one"), 5000);
	ck_assert_str_eq(witness.path, first.node);
	ck_assert(witness.term == first.token);
	ck_assert(witness.session == client_session_id(other));
	ck_assert_int_eq(witness.kind, KUSTOS_KIND_CANDIDATE);
	runner_end(&first);
	test_eventually(tells_of(&witness, "two"), 5000);
	runner_leads(&second);
	ck_assert(witness.term == second.token);
	check_err(kustos_latch_set_data(second.latch, "new", 3, SOON, NULL),
		KUSTOS_OK);
	test_eventually(tells_of(&witness, "new"), 5000);
	runner_end(&second);
	test_eventually(tells_of_nobody(&witness), 5000);
	runner_run(&first, other, "three");
	test_eventually(tells_of(&witness, "three"), 5000);
	runner_end(&first);
}
END_TEST

START_TEST(a_line_that_goes_and_comes_again_is_told_of)
{
	static struct runner leader;

	observe();
	test_eventually(tells_of_nobody(&witness), 5000);
	for (int i = 0; i < 2; i++) {
		runner_run(&leader, other, "one");
		test_eventually(tells_of(&witness, "one"), 5000);
		runner_end(&leader);
		test_eventually(tells_of_nobody(&witness), 5000);
		check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
		ck_assert_int_eq(raw_delete(fixture_address(), LINE), 0);
	}
	ck_assert_int_eq(atomic_load(&witness.calls), 5);
}
END_TEST

START_TEST(holders_of_a_mutex_are_told_of_as_well)
{
	struct kustos_hold *hold;

	observe();
	test_eventually(tells_of_nobody(&witness), 5000);
	hold = hold_take(rivals);
	test_eventually(tells_of_somebody(&witness), 5000);
	ck_assert_str_eq(witness.path, kustos_hold_path(hold));
	ck_assert_int_eq(witness.kind, KUSTOS_KIND_LOCK);
	ck_assert_int_eq(line_count(), 1); /* the observer takes no part */
	hold_give(hold);
	test_eventually(tells_of_nobody(&witness), 5000);
}
END_TEST

START_TEST(a_change_costs_two_requests_whoever_waits)
{
	static const char *const later[] = { "2", "4", "6", "8" };
	int before;

	line_up(12);
	observe();
	test_eventually(tells_of(&witness, "0"), 5000);
	before = atomic_load(&requests);
	ck_assert_int_eq(before, 2);
	for (int i = 1; i < 11; i += 2) /* some of the waiters leave */
		runner_end(&runners[i]);
	line_wait(7);
	test_never(atomic_load(&requests) != before, QUIET_MS);
	for (int i = 0; i < 10; i += 2) {
		runner_end(&runners[i]);
		test_eventually(tells_of(&witness, i < 8 ? later[i / 2] : "10"),
			5000);
		ck_assert_int_le(atomic_load(&requests), before + 2);
		before += 2;
	}
	runner_end(&runners[10]);
	runner_end(&runners[11]);
}
END_TEST

START_TEST(S12_what_changed_while_it_was_cut_off_is_told)
{
	static struct runner first, second;

	runner_run(&first, other, "one");
	runner_leads(&first);
	observe();
	test_eventually(tells_of(&witness, "one"), 5000);
	proxy_set_mode(proxy, PROXY_REFUSE);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 5000);
	runner_end(&first);
	runner_run(&second, other, "two");
	runner_leads(&second);
	if (_i == 1)
		ck_assert_int_eq(raw_kill_session(fixture_address(),
					 client_session(client).session_id),
			0);
	ck_assert(tells_of(&witness, "one"));
	proxy_set_mode(proxy, PROXY_PASS);
	test_eventually(tells_of(&witness, "two"), 5000);
	/* And it continues. */
	runner_end(&second);
	test_eventually(tells_of_nobody(&witness), 5000);
	ck_assert_int_eq(atomic_load(&witness.calls), 3);
}
END_TEST

START_TEST(L08_an_event_that_is_missing_is_made_up_for_by_a_reconnect)
{
	static struct runner first, second;

	runner_run(&first, other, "one");
	runner_leads(&first);
	observe();
	test_eventually(tells_of(&witness, "one"), 5000);
	proxy_arm(proxy, PROXY_DROP_EVENT, PROXY_ANY, 1);
	runner_end(&first);
	runner_run(&second, other, "two");
	runner_leads(&second);
	proxy_cut(proxy);
	test_eventually(tells_of(&witness, "two"), 5000);
	runner_end(&second);
}
END_TEST

START_TEST(changes_may_be_merged_but_the_last_is_told)
{
	static struct runner leader;

	atomic_store(&witness.asleep, true);
	observe();
	test_eventually(tells_of_nobody(&witness), 5000);
	for (int i = 0; i < 3; i++) {
		runner_run(&leader, other, i < 2 ? "early" : "late");
		runner_leads(&leader);
		if (i < 2)
			runner_end(&leader);
	}
	ck_assert_int_eq(atomic_load(&witness.calls), 1);
	atomic_store(&witness.asleep, false);
	test_eventually(tells_of(&witness, "late"), 5000);
	runner_end(&leader);
	test_eventually(tells_of_nobody(&witness), 5000);
}
END_TEST

START_TEST(nothing_is_told_after_it_was_destroyed)
{
	static struct runner leader;

	observe();
	test_eventually(tells_of_nobody(&witness), 5000);
	if (_i == 0) { /* in its own callback */
		pthread_mutex_lock(&witness.mutex);
		witness.ends = true; /* not the call that may be running */
		pthread_mutex_unlock(&witness.mutex);
		runner_run(&leader, other, "one");
		test_eventually(tells_of(&witness, "one"), 5000);
	} else { /* while a request is under way */
		proxy_set_mode(proxy, PROXY_HOLD);
		runner_run(&leader, other, "one");
		runner_leads(&leader);
		kustos_observer_destroy(witness.observer);
		witness.observer = NULL;
		proxy_set_mode(proxy, PROXY_PASS);
	}
	runner_end(&leader);
	pair_flush();
	test_never(atomic_load(&witness.calls) > 2 - _i, QUIET_MS);
	test_eventually(watch_count() == 0, 2000);
	/* The call in which it was destroyed may still have something to
	   write. */
	test_eventually(observer_left() == NULL, 2000);
}
END_TEST

static void *destroy_it(void *arg)
{
	struct witness *w = arg;

	kustos_observer_destroy(w->observer);
	w->observer = NULL;
	ck_assert(!atomic_load(&w->inside));
	return NULL;
}

START_TEST(a_destroy_waits_for_the_call)
{
	pthread_t thread;

	mallopt(M_PERTURB, 0x5a); /* freed memory is overwritten */
	witness.asleep = true;
	observe();
	test_eventually(atomic_load(&witness.inside), 5000);
	pthread_create(&thread, NULL, destroy_it, &witness);
	test_never(!atomic_load(&witness.inside), QUIET_MS);
	atomic_store(&witness.asleep, false);
	pthread_join(thread, NULL);
	ck_assert_int_eq(witness.calls, 1);
}
END_TEST

START_TEST(L13_who_may_not_look_is_told_so_and_looks_again)
{
	line_forbid(other, KUSTOS_PERM_CREATE | KUSTOS_PERM_DELETE);
	observe();
	test_eventually(atomic_load(&witness.calls) == 1, 5000);
	check_err(witness.err, KUSTOS_ENOAUTH);
	ck_assert(!witness.somebody);
	/* Reported once, although it is tried again and again. */
	test_eventually(atomic_load(&requests) >= 3, 5000);
	ck_assert_int_eq(atomic_load(&witness.calls), 1);
	ck_assert_int_eq(raw_delete(fixture_address(), LINE), 0);
	test_eventually(atomic_load(&witness.calls) == 2, 5000);
	check_err(witness.err, KUSTOS_OK);
	ck_assert(!witness.somebody);
}
END_TEST

/* So only its path tells the second node from the first. */
START_TEST(a_second_one_of_the_same_transaction_is_told_of)
{
	struct kustos_op ops[2];

	for (int i = 0; i < 2; i++)
		ops[i] = (struct kustos_op){ .kind = KUSTOS_OP_CREATE,
			.path = LINE "/lock-",
			.data = i == 0 ? "a" : "b",
			.len = 1,
			.flags = KUSTOS_CREATE_EPHEMERAL |
				KUSTOS_CREATE_SEQUENTIAL };
	hold_give(hold_take(rivals)); /* so that the line exists */
	check_err(kustos_multi(other, ops, 2, SOON, NULL, NULL), KUSTOS_OK);
	observe();
	for (int i = 0; i < 2; i++) {
		test_eventually(tells_of(&witness, ops[i].data), 5000);
		check_err(kustos_delete(other, witness.path, -1, SOON, NULL),
			KUSTOS_OK);
	}
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
	struct kustos_observer *o = NULL;

	check_err(kustos_observe(NULL, LINE, told, NULL, &o), KUSTOS_EINVAL);
	check_err(kustos_observe(client, "bad", told, NULL, &o), KUSTOS_EINVAL);
	check_err(kustos_observe(client, LINE, NULL, NULL, &o), KUSTOS_EINVAL);
	check_err(kustos_observe(client, LINE, told, NULL, NULL),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(o);
	kustos_observer_destroy(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("observers");
	TCase *t = fixture_case(s, "one server", 10);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t,
		who_leads_is_told_with_its_data_and_then_each_change, 0, 2);
	tcase_add_test(t, a_line_that_goes_and_comes_again_is_told_of);
	tcase_add_test(t, holders_of_a_mutex_are_told_of_as_well);
	tcase_add_test(t, a_change_costs_two_requests_whoever_waits);
	tcase_add_loop_test(t, S12_what_changed_while_it_was_cut_off_is_told, 0,
		2);
	tcase_add_test(t,
		L08_an_event_that_is_missing_is_made_up_for_by_a_reconnect);
	tcase_add_test(t, changes_may_be_merged_but_the_last_is_told);
	tcase_add_loop_test(t, nothing_is_told_after_it_was_destroyed, 0, 2);
	tcase_add_test(t, a_destroy_waits_for_the_call);
	tcase_add_test(t, L13_who_may_not_look_is_told_so_and_looks_again);
	tcase_add_test(t, a_second_one_of_the_same_transaction_is_told_of);
	tcase_add_test(t, bad_arguments_are_refused);
	return fixture_main(s);
}
