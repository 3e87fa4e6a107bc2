/*
 * test_mutex_warned.c - a hold's warning callback takes long, and the next
 * warning is due meanwhile.
 */
#include "callback_gate.h"
#include "mutex_pair.h"
#include "process.h"

#include <pthread.h>

#define T_MS 12000

static struct gate gate;

/* What happens to a warning that is still due. */
enum fate { GIVEN, REPLACED, HOLD_GONE, FATES };

static void set_up(void)
{
	gate = (struct gate){ 0 };
	pair_open(T_MS, 32);
}

static void warn_slowly(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(hold, *(struct kustos_hold **)arg);
	stand(&gate);
}

/* Make "fn" warn of "hold".  The hold is always nearer to its end than this, so
   the warning is due at once. */
static void warn(struct kustos_hold *hold, kustos_hold_fn *fn, void *arg)
{
	check_err(kustos_hold_at_risk(hold, INT64_C(2) * T_MS, fn, arg),
		KUSTOS_OK);
}

static int giver_id;

static void *give_back(void *hold)
{
	__atomic_store_n(&giver_id, thread_id(), __ATOMIC_SEQ_CST);
	hold_give(hold);
	return NULL;
}

/* Release it on another thread, which waits for the warning that is running. */
static void begin_to_give_back(struct kustos_hold *hold, pthread_t *giver)
{
	ck_assert_int_eq(pthread_create(giver, NULL, give_back, hold), 0);
	test_eventually(calls_of(&giver_id) != 0 &&
			thread_sleeps(calls_of(&giver_id)),
		2000);
}

/* The hold that is warned of, and another one. */
static struct kustos_mutex *second;
static struct kustos_hold *hold, *another;

/* When this returns, the first hold's warning is running, until the gate
   opens. */
static void warn_first(void)
{
	check_err(kustos_mutex_create(client, LINE "-2", NULL, &second),
		KUSTOS_OK);
	hold = hold_take(mutex);
	another = hold_take(second);
	warn(hold, warn_slowly, &hold);
	test_eventually(flag(&gate.entered) == 1, 2000);
}

/* The next warning of the first hold must wait for its turn; that of the other
   hold must not. */
static void warn_both(int *behind)
{
	warn(hold, warn_slowly, &hold);
	warn(another, count_call, behind);
	test_eventually(calls_of(behind) == 1, 2000);
	ck_assert_int_eq(flag(&gate.entered), 1);
}

static void give_other(void)
{
	hold_give(another);
	kustos_mutex_destroy(second);
}

/* Warnings of one hold come one after the other, although there are several
   threads; and a warning that was replaced meanwhile does not come. */
START_TEST(a_warning_that_comes_while_one_is_given_is_given_after_it)
{
	const enum fate fate = (enum fate)_i;
	int behind = 0, early = 0;
	pthread_t giver;

	warn_first();
	warn_both(&behind);
	if (fate == REPLACED)
		check_err(kustos_hold_at_risk(hold, 1, count_call, &early),
			KUSTOS_OK);
	if (fate == HOLD_GONE)
		begin_to_give_back(hold, &giver);
	raise_flag(&gate.open);
	test_eventually(flag(&gate.left) == (fate == GIVEN ? 2 : 1), 2000);
	if (fate == HOLD_GONE)
		ck_assert_int_eq(pthread_join(giver, NULL), 0);
	else
		test_never(calls_of(&early) > 0 || flag(&gate.entered) > 2,
			100);
	/* This comes behind all other callbacks. */
	warn(another, count_call, &behind);
	test_eventually(calls_of(&behind) == 2, 2000);
	ck_assert_int_eq(flag(&gate.left), fate == GIVEN ? 2 : 1);
	if (fate != HOLD_GONE)
		hold_give(hold);
	give_other();
}
END_TEST

/* A warning does not wait for other callbacks, even if it has waited for an
   earlier warning of its own hold. */
START_TEST(a_warning_that_had_to_wait_waits_for_nothing_else)
{
	struct gate long_gate = { 0 };
	int behind = 0;

	warn_first();
	check_err(kustos_exists_async(client, "/", SOON, NULL, stand_done,
			  &long_gate),
		KUSTOS_OK);
	check_err(kustos_exists(client, "/", SOON, NULL, NULL), KUSTOS_OK);
	warn_both(&behind);
	raise_flag(&gate.open);
	test_eventually(flag(&gate.left) == 2, 2000);
	ck_assert_int_eq(flag(&long_gate.left), 0);
	raise_flag(&long_gate.open);
	test_eventually(flag(&long_gate.left) == 1, 2000);
	hold_give(hold);
	give_other();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, warnings");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, pair_close);
	tcase_add_loop_test(t,
		a_warning_that_comes_while_one_is_given_is_given_after_it, 0,
		FATES);
	tcase_add_test(t, a_warning_that_had_to_wait_waits_for_nothing_else);
	return fixture_main(s);
}
