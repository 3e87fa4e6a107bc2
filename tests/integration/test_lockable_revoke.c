/*
 * test_lockable_revoke.c - a hold that something else releases, not the
 * program: a part of several locks, and what a thread has locked.  The program
 * is told of a request with just that hold.
 */
#include <kustos/cancel.h>
#include <kustos/lockable.h>
#include <kustos/participant.h>

#include "simple_fixture.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#define T_MS 9000
#define PARTS 2

/* A mutex and a simple lock of "client". */
static const char *const paths[PARTS] = { "/x/a", "/x/b" };
static struct kustos_mutex *first;
static struct kustos_simple *last;

static atomic_int asked;
static atomic_int answer; /* of the last release in a callback */
static _Atomic(struct kustos_hold *) asked_of;

static void give_back(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	atomic_store(&answer, kustos_hold_release(hold));
	atomic_store(&asked_of, hold);
	atomic_fetch_add(&asked, 1);
}

static void set_up(void)
{
	struct kustos_mutex_options m = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_simple_options s = KUSTOS_SIMPLE_OPTIONS_INIT;

	pair_open(T_MS, 0);
	m.on_revoke = s.on_revoke = give_back;
	check_err(kustos_mutex_create(client, paths[0], &m, &first), KUSTOS_OK);
	check_err(kustos_simple_create(client, paths[1], &s, &last), KUSTOS_OK);
	asked = 0;
	answer = KUSTOS_OK;
}

static void tear_down(void)
{
	kustos_mutex_destroy(first);
	kustos_simple_destroy(last);
	pair_close();
	ck_assert_int_le(raw_count_children(fixture_address(), paths[0]), 0);
	ck_assert_int_ne(raw_exists(fixture_address(), paths[1], NULL), 0);
}

static void parts_of(struct kustos_lockable *out)
{
	out[0] = kustos_mutex_lockable(first);
	out[1] = kustos_simple_lockable(last);
}

static struct kustos_hold *take_all(void)
{
	struct kustos_lockable parts[PARTS];
	struct kustos_hold *hold = NULL;

	parts_of(parts);
	check_err(kustos_acquire_all(parts, PARTS, SOON, NULL, &hold),
		KUSTOS_OK);
	return hold;
}

/* Ask for the release of the node, and wait until that was told. */
static void request(const char *path)
{
	check_err(kustos_participant_revoke(other, path, SOON, NULL),
		KUSTOS_OK);
	test_eventually(atomic_load(&asked) == 1, 3000);
}

/* Release "part", which must be refused. */
static void check_refused(struct kustos_hold *whole, struct kustos_hold *part,
	enum kustos_hold_state state)
{
	check_err(kustos_hold_release(part), KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_hold_state(part), state);
	ck_assert_int_eq(kustos_hold_state(whole), state);
}

START_TEST(a_part_is_not_released_by_itself)
{
	struct kustos_hold *whole = take_all();
	struct kustos_hold *part = kustos_hold_part(whole, (size_t)_i);

	request(kustos_hold_path(part));
	ck_assert_ptr_eq(atomic_load(&asked_of), part);
	ck_assert_int_eq(atomic_load(&answer), KUSTOS_EINVAL);
	check_refused(whole, part, KUSTOS_HOLD_HELD);
	for (size_t i = 0; i < PARTS; i++)
		check_node(kustos_hold_part(whole, i), client);
	check_err(kustos_hold_release(whole), KUSTOS_OK);
}
END_TEST

START_TEST(a_lost_part_is_not_released_by_itself)
{
	struct kustos_hold *whole = take_all();
	struct kustos_hold *part = kustos_hold_part(whole, (size_t)_i);

	ck_assert_int_eq(raw_delete(fixture_address(), kustos_hold_path(part)),
		0);
	hold_wait(whole, KUSTOS_HOLD_LOST, 3000);
	check_refused(whole, part, KUSTOS_HOLD_LOST);
	check_err(kustos_hold_release(whole), KUSTOS_ELOST);
}
END_TEST

/* A part of the whole that is a part itself. */
static enum kustos_err take_both(void *both, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	return kustos_acquire_all(both, PARTS, deadline, cancel, out);
}

static enum kustos_err take_both_async(void *both, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_granted_fn *granted, void *arg)
{
	return kustos_acquire_all_async(both, PARTS, deadline, cancel, granted,
		arg);
}

START_TEST(a_part_that_has_parts_is_not_released_by_itself)
{
	struct kustos_lockable parts[PARTS];
	struct kustos_lockable all = { client, "/x", parts, take_both,
		take_both_async, NULL };
	struct kustos_hold *whole = NULL;

	parts_of(parts);
	check_err(kustos_acquire_all(&all, 1, SOON, NULL, &whole), KUSTOS_OK);
	struct kustos_hold *both = kustos_hold_part(whole, 0);
	check_refused(whole, both, KUSTOS_HOLD_HELD);
	check_refused(whole, kustos_hold_part(both, 1), KUSTOS_HOLD_HELD);
	check_err(kustos_hold_release(whole), KUSTOS_OK);
}
END_TEST

/* Return the path of the mutex's only node, once it is held. */
static void path_of_first(char *path, size_t size)
{
	struct kustos_participants *all = NULL;

	test_eventually(raw_count_children(fixture_address(), paths[0]) == 1,
		3000);
	check_err(kustos_participants(other, paths[0], SOON, NULL, &all),
		KUSTOS_OK);
	ck_assert_uint_eq(all->count, 1);
	snprintf(path, size, "%s", all->list[0]->path);
	kustos_participants_free(all);
}

START_TEST(a_part_that_is_had_while_others_are_awaited_goes_with_the_wait)
{
	struct kustos_lockable parts[PARTS];
	struct kustos_simple *theirs = NULL;
	struct kustos_cancel *cancel = NULL;
	struct ask a = { .calls = 0 };
	char path[128];

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	check_err(kustos_simple_create(other, paths[1], NULL, &theirs),
		KUSTOS_OK);
	struct kustos_hold *hold = simple_take(theirs);
	parts_of(parts);
	check_err(kustos_acquire_all_async(parts, PARTS, SOON, cancel,
			  ask_ended, &a),
		KUSTOS_OK);
	path_of_first(path, sizeof(path));
	request(path);
	ck_assert_int_eq(atomic_load(&answer), KUSTOS_EINVAL);
	ck_assert(ask_waits(&a));
	ck_assert_int_eq(raw_exists(fixture_address(), path, NULL), 0);
	kustos_cancel_fire(cancel);
	check_err(ask_wait(&a, 3000), KUSTOS_ECANCELED);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_ne(raw_exists(fixture_address(), path, NULL), 0);
	kustos_cancel_destroy(cancel);
	hold_give(hold);
	kustos_simple_destroy(theirs);
}
END_TEST

START_TEST(what_a_thread_has_locked_is_released_by_unlock_alone)
{
	check_err(kustos_mutex_lock(first, SOON, NULL), KUSTOS_OK);
	struct kustos_hold *hold = kustos_mutex_hold(first);

	request(kustos_hold_path(hold));
	ck_assert_ptr_eq(atomic_load(&asked_of), hold);
	ck_assert_int_eq(atomic_load(&answer), KUSTOS_EINVAL);
	check_refused(hold, hold, KUSTOS_HOLD_HELD);
	if (_i == 1) {
		ck_assert_int_eq(
			raw_delete(fixture_address(), kustos_hold_path(hold)),
			0);
		hold_wait(hold, KUSTOS_HOLD_LOST, 3000);
		check_refused(hold, hold, KUSTOS_HOLD_LOST);
	}
	check_err(kustos_mutex_unlock(first),
		_i == 1 ? KUSTOS_ELOST : KUSTOS_OK);
}
END_TEST

static atomic_int stands_still, may_go_on;

static void stand_still(int sig)
{
	(void)sig;
	atomic_store(&stands_still, 1);
	while (!atomic_load(&may_go_on))
		test_pause_1ms();
}

struct sleeper {
	bool locks; /* else it takes the mutex as one of several */
	enum kustos_err err;
	struct kustos_hold *hold;
};

static void *sleep_on_it(void *arg)
{
	struct sleeper *s = arg;
	struct kustos_lockable parts[PARTS];

	parts_of(parts);
	s->err = s->locks ? kustos_mutex_lock(first, SOON, NULL)
			  : kustos_acquire_all(parts, 1, SOON, NULL, &s->hold);
	while (!atomic_load(&may_go_on))
		test_pause_1ms();
	if (s->err == KUSTOS_OK)
		s->err = s->locks ? kustos_mutex_unlock(first)
				  : kustos_hold_release(s->hold);
	return NULL;
}

/* It is granted to a thread that has not woken up yet: the callback has the
   hold before the call that waited for it. */
START_TEST(who_is_asked_before_the_wait_has_returned_cannot_release_it)
{
	struct sigaction action = { .sa_handler = stand_still };
	struct sleeper sleeper = { .locks = _i == 1 };
	struct kustos_mutex *theirs = NULL;
	struct kustos_hold *hold = NULL;
	pthread_t thread;
	char path[128];

	atomic_store(&stands_still, 0);
	atomic_store(&may_go_on, 0);
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	check_err(kustos_mutex_create(other, paths[0], NULL, &theirs),
		KUSTOS_OK);
	check_err(kustos_mutex_acquire(theirs, SOON, NULL, &hold), KUSTOS_OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, sleep_on_it, &sleeper),
		0);
	/* For theirs: its own node.  For ours: its own node, and theirs. */
	test_eventually(watch_count() == 3, 3000);
	pair_settle();
	ck_assert_int_eq(pthread_kill(thread, SIGUSR1), 0);
	test_eventually(atomic_load(&stands_still), 3000);
	hold_give(hold);
	path_of_first(path, sizeof(path));
	request(path);
	ck_assert_int_eq(atomic_load(&answer), KUSTOS_EINVAL);
	atomic_store(&may_go_on, 1);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	check_err(sleeper.err, KUSTOS_OK);
	kustos_mutex_destroy(theirs);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("holds that something else releases");
	TCase *t = fixture_case(s, "two clients", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, a_part_is_not_released_by_itself, 0, PARTS);
	tcase_add_loop_test(t, a_lost_part_is_not_released_by_itself, 0, PARTS);
	tcase_add_test(t, a_part_that_has_parts_is_not_released_by_itself);
	tcase_add_test(t,
		a_part_that_is_had_while_others_are_awaited_goes_with_the_wait);
	tcase_add_loop_test(t,
		what_a_thread_has_locked_is_released_by_unlock_alone, 0, 2);
	tcase_add_loop_test(t,
		who_is_asked_before_the_wait_has_returned_cannot_release_it, 0,
		2);
	return fixture_main(s);
}
