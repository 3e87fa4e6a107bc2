/*
 * test_mutex.c - one client or two and a server that works: what each call of
 * <kustos/mutex.h> returns, and what it leaves on the server.
 */
#include "mutex_pair.h"

#include <kustos/cancel.h>
#include <kustos/participant.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define T_MS 40000

static void set_up(void)
{
	pair_open(T_MS, 32);
}

static void tear_down(void)
{
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

static enum kustos_err lock(void)
{
	return kustos_mutex_lock(mutex, SOON, NULL);
}

static enum kustos_err flush(struct kustos_client *c)
{
	return kustos_client_flush(c, SOON, NULL);
}

START_TEST(a_lock_is_one_node_and_an_unlock_removes_it)
{
	struct kustos_hold *hold;

	check_err(lock(), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 1);
	hold = kustos_mutex_hold(mutex);
	ck_assert_ptr_nonnull(hold);
	check_node(hold, client);
	ck_assert(kustos_mutex_token(mutex) == kustos_hold_token(hold));
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	ck_assert_int_gt(kustos_hold_remaining_ms(hold), T_MS / 3);
	ck_assert_int_le(kustos_hold_remaining_ms(hold), LEASE_MS(T_MS));
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	check_err(flush(client), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 0);
	ck_assert_ptr_null(kustos_mutex_hold(mutex));
	ck_assert(kustos_mutex_token(mutex) == 0);
}
END_TEST

START_TEST(a_lock_nests_and_only_the_last_unlock_gives_it_back)
{
	uint64_t sent;

	check_err(lock(), KUSTOS_OK);
	int64_t token = kustos_mutex_token(mutex);
	check_err(flush(client), KUSTOS_OK);
	sent = client_stats(client).sent;
	for (int i = 0; i < 100; i++)
		check_err(kustos_mutex_lock(mutex, i % 2 ? KUSTOS_NOW : SOON,
				  NULL),
			KUSTOS_OK);
	for (int i = 0; i < 100; i++)
		check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	/* The watch of its own node, and no more requests. */
	ck_assert_uint_le(client_stats(client).sent, sent + 1);
	ck_assert(kustos_mutex_token(mutex) == token);
	ck_assert_int_eq(line_count(), 1);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	check_err(flush(client), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 0);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_ENOTHELD);
}
END_TEST

static void *unlock_it(void *err)
{
	*(enum kustos_err *)err = kustos_mutex_unlock(mutex);
	return kustos_mutex_hold(mutex);
}

START_TEST(U01_unlock_by_another_thread_is_an_error_and_does_nothing)
{
	enum kustos_err err = KUSTOS_OK;
	pthread_t thread;
	void *seen = mutex;

	check_err(kustos_mutex_unlock(mutex), KUSTOS_ENOTHELD);
	check_err(lock(), KUSTOS_OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, unlock_it, &err), 0);
	ck_assert_int_eq(pthread_join(thread, &seen), 0);
	check_err(err, KUSTOS_ENOTHELD);
	ck_assert_ptr_null(seen);
	check_node(kustos_mutex_hold(mutex), client);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
}
END_TEST

static void *release_it(void *hold)
{
	hold_give(hold);
	return NULL;
}

START_TEST(U01_a_hold_is_released_by_any_thread)
{
	struct kustos_hold *hold = hold_take(mutex);
	pthread_t thread;

	check_err(kustos_mutex_unlock(mutex), KUSTOS_ENOTHELD);
	check_node(hold, client);
	ck_assert_int_eq(pthread_create(&thread, NULL, release_it, hold), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	hold_give(hold_take(rivals));
}
END_TEST

/* Who holds the lock that a test asks for. */
enum holder { THE_OBJECT, ANOTHER_OBJECT, ANOTHER_CLIENT, ANOTHER_LIBRARY };

static void occupy(enum holder who, struct kustos_mutex **holder,
	struct kustos_hold **hold, struct rival *rival)
{
	*holder = NULL;
	*hold = NULL;
	if (who == ANOTHER_LIBRARY) {
		rival_enter(rival);
		return;
	}
	if (who == ANOTHER_OBJECT)
		*holder = mutex_new(client, 32);
	*hold = hold_take(who == THE_OBJECT	? mutex
			: who == ANOTHER_OBJECT ? *holder
						: rivals);
}

static void vacate(struct kustos_mutex *holder, struct kustos_hold *hold,
	struct rival *rival)
{
	if (hold != NULL)
		hold_give(hold);
	else
		rival_leave(rival);
	kustos_mutex_destroy(holder);
}

START_TEST(L20_a_try_at_what_is_held_is_EBUSY_and_leaves_nothing)
{
	struct kustos_mutex *holder;
	struct kustos_hold *hold, *none = NULL;
	struct rival rival;
	struct ask a = { .calls = 0 };

	occupy((enum holder)_i, &holder, &hold, &rival);
	for (int i = 0; i < 5; i++)
		check_err(kustos_mutex_lock(mutex, KUSTOS_NOW, NULL),
			KUSTOS_EBUSY);
	check_err(kustos_mutex_acquire(mutex, KUSTOS_NOW, NULL, &none),
		KUSTOS_EBUSY);
	ck_assert_ptr_null(none);
	if (_i >= ANOTHER_CLIENT) {
		ask(&a, mutex, KUSTOS_NOW);
		check_err(ask_wait(&a, 2000), KUSTOS_EBUSY);
	} else { /* held by the same client: nothing is sent */
		check_err(ask_try(&a, mutex, KUSTOS_NOW), KUSTOS_EBUSY);
	}
	check_err(flush(client), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 1);
	vacate(holder, hold, &rival);
	check_err(flush(other), KUSTOS_OK);
	check_err(flush(client), KUSTOS_OK);
	check_err(kustos_mutex_lock(mutex, KUSTOS_NOW, NULL), KUSTOS_OK);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
}
END_TEST

/* In a long line, a releaser's node may stay until the releaser knows what to
   leave there. */
START_TEST(L20_a_try_right_after_a_release_finds_it_free)
{
	char path[64];

	check_err(lock(), KUSTOS_OK);
	for (int i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), LINE "/config-%d", i);
		ck_assert_int_eq(raw_create(fixture_address(), path, ""), 0);
	}
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	for (int i = 0; i < 100; i++) {
		check_err(kustos_mutex_lock(mutex, KUSTOS_NOW, NULL),
			KUSTOS_OK);
		check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	}
	check_err(flush(client), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 40);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), LINE), 0);
}
END_TEST

START_TEST(L20_a_deadline_ends_a_wait_in_time_and_leaves_nothing)
{
	struct kustos_mutex *holder;
	struct kustos_hold *hold;
	struct rival rival;
	int64_t start, took;

	occupy((enum holder)_i, &holder, &hold, &rival);
	start = test_now_ms();
	check_err(kustos_mutex_lock(mutex, kustos_after_ms(100), NULL),
		KUSTOS_ETIMEDOUT);
	took = test_now_ms() - start;
	ck_assert_int_ge(took, 100);
	ck_assert_int_lt(took, 3000);
	check_err(kustos_mutex_lock(mutex, kustos_after_ms(-1), NULL),
		KUSTOS_ETIMEDOUT);
	check_err(flush(client), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 1);
	vacate(holder, hold, &rival);
	check_err(lock(), KUSTOS_OK);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
}
END_TEST

#define HOLDERS 40

/* Each rival that leaves wakes the waiter, which must not restart its
   deadline. */
START_TEST(L20_a_deadline_holds_behind_a_queue_of_short_holders)
{
	struct rival line[HOLDERS];
	struct ask a = { .calls = 0 };
	int64_t start;
	int left = 0;

	for (int i = 0; i < HOLDERS; i++)
		rival_enter(&line[i]);
	start = test_now_ms();
	ask(&a, mutex, kustos_after_ms(800));
	for (; ask_waits(&a) && left < HOLDERS - 1; left++) {
		rival_leave(&line[left]);
		test_eventually(!ask_waits(&a) ||
				test_now_ms() >= start + 100 * (left + 1),
			2000);
	}
	check_err(ask_wait(&a, 2000), KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(a.at_ms - start, 800);
	ck_assert_int_lt(a.at_ms - start, 3000); /* started anew: over 4700 */
	for (; left < HOLDERS; left++)
		rival_leave(&line[left]);
	check_err(flush(client), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 0);
}
END_TEST

struct canceler {
	struct kustos_cancel *cancel;
	int waiters; /* fire once so many wait */
};

static void *fire(void *arg)
{
	struct canceler *c = arg;

	test_eventually(line_count() == c->waiters, 5000);
	kustos_cancel_fire(c->cancel);
	return NULL;
}

/* A hundred years: as seconds, more than 32 bits. */
#define LONG_MS (INT64_C(100) * 365 * 24 * 3600 * 1000)

START_TEST(L05_a_cancel_ends_a_wait_and_leaves_nothing)
{
	kustos_deadline deadline = _i == 0 ? KUSTOS_FOREVER
					   : kustos_after_ms(LONG_MS);
	struct canceler c = { .waiters = 2 };
	struct kustos_hold *hold = hold_take(rivals);
	pthread_t thread;

	check_err(kustos_cancel_create(&c.cancel), KUSTOS_OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, fire, &c), 0);
	check_err(kustos_mutex_lock(mutex, deadline, c.cancel),
		KUSTOS_ECANCELED);
	pthread_join(thread, NULL);
	check_err(kustos_mutex_lock(mutex, deadline, c.cancel),
		KUSTOS_ECANCELED);
	check_err(flush(client), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 1);
	hold_give(hold);
	kustos_cancel_destroy(c.cancel);
}
END_TEST

START_TEST(S02_tokens_grow_though_the_line_is_removed_now_and_then)
{
	struct kustos_mutex *strict = mutex_new(client, 0);
	struct kustos_mutex *both[] = { strict, rivals };
	int64_t last = 0;
	int removed = 0;

	for (int i = 0; i < 2000; i++) {
		struct kustos_hold *hold = hold_take(both[i % 2]);

		ck_assert_int_gt(kustos_hold_token(hold), last);
		last = kustos_hold_token(hold);
		hold_give(hold);
		if (i % 50 == 0)
			removed += raw_delete(fixture_address(), LINE) == 0;
	}
	ck_assert_int_gt(removed, 0);
	kustos_mutex_destroy(strict);
}
END_TEST

START_TEST(an_unlock_that_is_not_to_wait_does_not)
{
	struct kustos_client_options how = pair_proxy(T_MS);
	struct kustos_client *far = client_open_with(&how);
	struct kustos_mutex *one;

	client_wait(far, KUSTOS_STATE_CONNECTED, 5000);
	check_err(kustos_mutex_create(far, LINE, NULL, &one), KUSTOS_OK);
	check_err(kustos_mutex_lock(one, SOON, NULL), KUSTOS_OK);
	proxy_set_mode(proxy, PROXY_HOLD);
	check_err(kustos_mutex_unlock(one), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 1);
	proxy_set_mode(proxy, PROXY_PASS);
	kustos_mutex_destroy(one);
	client_close(far);
}
END_TEST

/* Requests take a while to arrive. */
START_TEST(an_unlock_that_waits_has_taken_place_when_it_returns)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_client_options how = pair_proxy(T_MS);
	struct kustos_client *far = client_open_with(&how);
	struct kustos_mutex *waits;

	client_wait(far, KUSTOS_STATE_CONNECTED, 5000);
	o.unlock_waits = 1;
	check_err(kustos_mutex_create(far, LINE, &o, &waits), KUSTOS_OK);
	proxy_set_delay(proxy, 100, 0);
	for (int i = 0; i < 3; i++) {
		check_err(kustos_mutex_lock(waits, SOON, NULL), KUSTOS_OK);
		check_err(kustos_mutex_unlock(waits), KUSTOS_OK);
		ck_assert_int_eq(line_count(), 0);
	}
	proxy_set_delay(proxy, 0, 0);
	kustos_mutex_destroy(waits);
	client_close(far);
}
END_TEST

START_TEST(options_of_any_size_are_read_as_far_as_they_go)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *m = NULL;

	/* The options of an older program: what is behind their end is not
	   read. */
	o.size = offsetof(struct kustos_mutex_options, dialect);
	o.dialect = (enum kustos_dialect)77;
	o.data_len = 5;
	check_err(kustos_mutex_create(client, LINE, &o, &m), KUSTOS_OK);
	check_err(kustos_mutex_lock(m, SOON, NULL), KUSTOS_OK);
	ck_assert_ptr_nonnull(
		strstr(kustos_hold_path(kustos_mutex_hold(m)), "-lock-"));
	check_err(kustos_mutex_unlock(m), KUSTOS_OK);
	kustos_mutex_destroy(m);
	o.size = sizeof(o);
	o.data_len = 0;
	check_err(kustos_mutex_create(client, LINE, &o, &m), KUSTOS_EINVAL);
	o.dialect = KUSTOS_DIALECT_CURATOR;
	o.data_len = 5;
	check_err(kustos_mutex_create(client, LINE, &o, &m), KUSTOS_EINVAL);
	o.data_len = 0;
	o.local_handoffs = -1;
	check_err(kustos_mutex_create(client, LINE, &o, &m), KUSTOS_EINVAL);
	o.local_handoffs = 1;
	o.size = 0;
	check_err(kustos_mutex_create(client, LINE, &o, &m), KUSTOS_EINVAL);
}
END_TEST

START_TEST(what_is_malformed_is_refused)
{
	static const char *const paths[] = { "", "a", "/", "//a", "/a/",
		"/a//b", "/a/../b", "/\x01" };
	struct kustos_mutex *m = NULL;
	struct kustos_hold *hold;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		check_err(kustos_mutex_create(client, paths[i], NULL, &m),
			KUSTOS_EINVAL);
	check_err(kustos_mutex_create(client, NULL, NULL, &m), KUSTOS_EINVAL);
	check_err(kustos_mutex_create(client, LINE, NULL, NULL), KUSTOS_EINVAL);
	ck_assert_ptr_null(m);
	check_err(kustos_mutex_lock(NULL, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_mutex_unlock(NULL), KUSTOS_EINVAL);
	check_err(kustos_mutex_acquire(NULL, SOON, NULL, &hold), KUSTOS_EINVAL);
	check_err(kustos_mutex_acquire(mutex, SOON, NULL, NULL), KUSTOS_EINVAL);
	check_err(kustos_mutex_acquire_async(mutex, SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(kustos_mutex_hold(NULL));
	ck_assert(kustos_mutex_token(NULL) == 0);
	ck_assert_int_eq(kustos_mutex_mixed(NULL), 0);
	check_err(kustos_hold_release(NULL), KUSTOS_OK);
	check_err(kustos_hold_on_lost(NULL, NULL, NULL), KUSTOS_EINVAL);
	check_err(kustos_hold_at_risk(NULL, 1, NULL, NULL), KUSTOS_EINVAL);
	kustos_mutex_destroy(NULL);
}
END_TEST

START_TEST(U04_foreign_children_are_ignored)
{
	static const char *const names[] = { "0000000000", "config", "lock-",
		"lease-0000000000", "-0000000000", "lock-000000000" };
	char path[64];

	check_err(lock(), KUSTOS_OK);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), LINE "/%s", names[i]);
		ck_assert_int_eq(raw_create(fixture_address(), path, "x"), 0);
	}
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	hold_give(hold_take(rivals));
	check_err(lock(), KUSTOS_OK);
	ck_assert_int_eq(kustos_mutex_mixed(mutex), 0);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	check_err(flush(client), KUSTOS_OK);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), LINE), 0);
}
END_TEST

START_TEST(U04_a_contender_that_would_not_wait_for_us_is_waited_for_and_told)
{
	struct raw *raw = raw_open(fixture_address(), 60000);
	struct ask a = { .calls = 0 };
	char path[128];

	client_create(client, "/locks", 0);
	client_create(client, LINE, 0);
	ck_assert_int_eq(
		raw_do_create(raw,
			LINE "/00112233445566778899aabbccddeeff__lock__", "",
			RAW_EPHEMERAL_SEQUENTIAL, path, sizeof(path)),
		0);
	ask(&a, mutex, SOON);
	test_eventually(kustos_mutex_mixed(mutex) == 1, 2000);
	ck_assert(ask_waits(&a));
	raw_close(raw);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	hold_give(a.hold);
	check_err(lock(), KUSTOS_OK);
	ck_assert_int_eq(kustos_mutex_mixed(mutex), 0);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, a_lock_is_one_node_and_an_unlock_removes_it);
	tcase_add_test(t, a_lock_nests_and_only_the_last_unlock_gives_it_back);
	tcase_add_test(t,
		U01_unlock_by_another_thread_is_an_error_and_does_nothing);
	tcase_add_test(t, U01_a_hold_is_released_by_any_thread);
	tcase_add_loop_test(t,
		L20_a_try_at_what_is_held_is_EBUSY_and_leaves_nothing, 0,
		ANOTHER_LIBRARY + 1);
	tcase_add_test(t, L20_a_try_right_after_a_release_finds_it_free);
	tcase_add_loop_test(t,
		L20_a_deadline_ends_a_wait_in_time_and_leaves_nothing, 0,
		ANOTHER_LIBRARY + 1);
	tcase_add_test(t, L20_a_deadline_holds_behind_a_queue_of_short_holders);
	tcase_add_loop_test(t, L05_a_cancel_ends_a_wait_and_leaves_nothing, 0,
		2);
	tcase_add_test(t,
		S02_tokens_grow_though_the_line_is_removed_now_and_then);
	tcase_add_test(t, an_unlock_that_is_not_to_wait_does_not);
	tcase_add_test(t, an_unlock_that_waits_has_taken_place_when_it_returns);
	tcase_add_test(t, options_of_any_size_are_read_as_far_as_they_go);
	tcase_add_test(t, what_is_malformed_is_refused);
	tcase_add_test(t, U04_foreign_children_are_ignored);
	tcase_add_test(t,
		U04_a_contender_that_would_not_wait_for_us_is_waited_for_and_told);
	return fixture_main(s);
}
