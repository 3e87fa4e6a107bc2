/*
 * test_lockable_own.c - locks of a program's own that are acquired together
 * with others: what they must provide, what may happen meanwhile, and which of
 * several was lost.
 */
#include <kustos/lockable.h>

#include "mutex_pair.h"

#include <stdatomic.h>

#define T_MS 9000

static void set_up(void)
{
	pair_open(T_MS, 0);
}

static int calls;

/* Acquired after the mutex, the session of which ends first the first time. */
static enum kustos_err take_late(void *own, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_hold **out)
{
	if (++calls == 1) {
		client_kill_session(client);
		client_wait_epoch(client, 1, 5000);
	}
	return kustos_mutex_acquire(own, deadline, cancel, out);
}

static struct kustos_mutex *make_last(void)
{
	struct kustos_mutex *last = NULL;

	check_err(kustos_mutex_create(client, LINE "/last", NULL, &last),
		KUSTOS_OK);
	return last;
}

START_TEST(S11_who_waits_takes_one_again_that_is_lost_meanwhile)
{
	struct kustos_mutex *last = make_last();
	struct kustos_lockable parts[2] = { kustos_mutex_lockable(mutex),
		kustos_mutex_lockable(last) };
	struct kustos_hold *hold = NULL;

	calls = 0;
	parts[1].object = last;
	parts[1].acquire = take_late;
	check_err(kustos_acquire_all(parts, 2, SOON, NULL, &hold), KUSTOS_OK);
	ck_assert_int_eq(calls, 2);
	for (size_t i = 0; i < 2; i++)
		check_node(kustos_hold_part(hold, i), client);
	hold_give(hold);
	kustos_mutex_destroy(last);
}
END_TEST

/* What the callback of one part looks at while the whole is being released. */
static struct {
	struct kustos_hold *whole;
	atomic_bool runs, early;
} watched;

static void look_at_last(void *arg, struct kustos_hold *part)
{
	(void)arg;
	(void)part;
	atomic_store(&watched.runs, true);
	for (int i = 0; i < 100 && !atomic_load(&watched.early); i++)
		if (kustos_hold_part(watched.whole, 1) == NULL ||
			raw_count_children(fixture_address(), LINE "/last") !=
				1)
			atomic_store(&watched.early, true);
}

START_TEST(what_is_released_keeps_all_while_a_callback_of_one_runs)
{
	struct kustos_mutex *last = make_last();
	struct kustos_lockable parts[2] = { kustos_mutex_lockable(mutex),
		kustos_mutex_lockable(last) };

	check_err(kustos_acquire_all(parts, 2, SOON, NULL, &watched.whole),
		KUSTOS_OK);
	atomic_store(&watched.runs, false);
	atomic_store(&watched.early, false);
	check_err(kustos_hold_at_risk(kustos_hold_part(watched.whole, 0), T_MS,
			  look_at_last, NULL),
		KUSTOS_OK);
	test_eventually(atomic_load(&watched.runs), 3000);
	hold_give(watched.whole);
	ck_assert_int_eq(watched.early, false);
	kustos_mutex_destroy(last);
}
END_TEST

/* What the callback for the loss of all has found out about each part. */
static enum kustos_hold_state found[2];
static atomic_bool told;

static void look_which(void *arg, struct kustos_hold *whole)
{
	(void)arg;
	for (size_t i = 0; i < 2; i++)
		found[i] = kustos_hold_state(kustos_hold_part(whole, i));
	atomic_store(&told, true);
}

START_TEST(the_states_of_the_parts_tell_which_was_lost)
{
	struct kustos_mutex *last = make_last();
	struct kustos_lockable parts[2] = { kustos_mutex_lockable(mutex),
		kustos_mutex_lockable(last) };
	struct kustos_hold *hold = NULL;

	check_err(kustos_acquire_all(parts, 2, SOON, NULL, &hold), KUSTOS_OK);
	check_err(kustos_hold_on_lost(hold, look_which, NULL), KUSTOS_OK);
	atomic_store(&told, false);
	ck_assert_int_eq(
		raw_delete(fixture_address(),
			kustos_hold_path(kustos_hold_part(hold, (size_t)_i))),
		0);
	test_eventually(atomic_load(&told), 3000);
	ck_assert_int_eq(found[_i], KUSTOS_HOLD_LOST);
	ck_assert_int_eq(found[1 - _i], KUSTOS_HOLD_HELD);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	kustos_mutex_destroy(last);
}
END_TEST

START_TEST(what_lacks_something_or_sets_what_is_reserved_is_refused)
{
	struct kustos_mutex *last = make_last();
	struct kustos_hold *hold = NULL;

	for (int i = 0; i < 4; i++) {
		struct kustos_lockable parts[2] = { kustos_mutex_lockable(
							    mutex),
			kustos_mutex_lockable(last) };

		if (i == 0)
			parts[1].path = NULL;
		else if (i == 1)
			parts[1].acquire = NULL;
		else if (i == 2)
			parts[1].acquire_async = NULL;
		else
			parts[1].reserved = "";
		check_err(kustos_acquire_all(parts, 2, SOON, NULL, &hold),
			KUSTOS_EINVAL);
	}
	ck_assert_ptr_null(hold);
	kustos_mutex_destroy(last);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("locks of a program's own");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, pair_close);
	tcase_add_test(t, S11_who_waits_takes_one_again_that_is_lost_meanwhile);
	tcase_add_test(t,
		what_is_released_keeps_all_while_a_callback_of_one_runs);
	tcase_add_loop_test(t, the_states_of_the_parts_tell_which_was_lost, 0,
		2);
	tcase_add_test(t,
		what_lacks_something_or_sets_what_is_reserved_is_refused);
	return fixture_main(s);
}
