/*
 * test_mutex_warned.c - a warning of a hold takes its time, and the next one comes.
 */
#include "callback_gate.h"
#include "mutex_pair.h"

#define T_MS 12000

static struct gate gate;

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

/* Have "fn" warn of "hold", which is nearer to its end than that at any time. */
static void warn(struct kustos_hold *hold, kustos_hold_fn *fn, void *arg)
{
	check_err(kustos_hold_at_risk(hold, INT64_C(2) * T_MS, fn, arg),
		KUSTOS_OK);
}

/* One after the other, though there are several threads for them; and what was
   replaced meanwhile is not given. */
START_TEST(a_warning_that_comes_while_one_is_given_is_given_after_it)
{
	const bool replaced = _i == 1;
	struct kustos_mutex *second;
	int behind = 0, early = 0;

	check_err(kustos_mutex_create(client, LINE "-2", NULL, &second),
		KUSTOS_OK);
	struct kustos_hold *hold = hold_take(mutex);
	struct kustos_hold *another = hold_take(second);
	warn(hold, warn_slowly, &hold);
	test_eventually(flag(&gate.entered) == 1, 2000);
	warn(hold, warn_slowly, &hold);
	warn(another, count_call, &behind);
	test_eventually(calls_of(&behind) == 1, 2000);
	ck_assert_int_eq(flag(&gate.entered), 1);
	if (replaced)
		check_err(kustos_hold_at_risk(hold, 1, count_call, &early),
			KUSTOS_OK);
	raise_flag(&gate.open);
	test_eventually(flag(&gate.left) == (replaced ? 1 : 2), 2000);
	test_never(calls_of(&early) > 0 || flag(&gate.entered) > 2, 100);
	hold_give(hold);
	hold_give(another);
	kustos_mutex_destroy(second);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, warnings");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, pair_close);
	tcase_add_loop_test(t,
		a_warning_that_comes_while_one_is_given_is_given_after_it, 0,
		2);
	return fixture_main(s);
}
