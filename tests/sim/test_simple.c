/* test_simple.c - simple locks survive the simulator (simple_recipe.c). */
#include "lock_seeds.h"

#include "../unit/unit.h"

static const struct sim_scenario *simple(void)
{
	return seeds_of("simple");
}

/* Four million steps. */
START_TEST(S03_S06_S10_simple_locks_survive_all_faults)
{
	seeds_survive(simple(), 200);
}
END_TEST

START_TEST(simple_locks_survive_stalls)
{
	seeds_survive_stalls(simple(), 30);
}
END_TEST

/* Check the figures: a rule about something that never happens proves
   nothing. */
START_TEST(they_do_everything_meanwhile)
{
	struct mutex_figures all = lock_seeds_do(simple(), 20, 0);

	ck_assert_uint_gt(all.granted, 1000);
	ck_assert_uint_gt(all.handed_over, 40);
	ck_assert_uint_gt(all.lost, 20);
	ck_assert_uint_gt(all.busy, 100);
	ck_assert_uint_gt(all.revoked, 10);
}
END_TEST

START_TEST(a_seed_repeats_the_simple_locks_event_for_event)
{
	seeds_repeat(simple());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("simple locks in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, S03_S06_S10_simple_locks_survive_all_faults);
	tcase_add_test(t, simple_locks_survive_stalls);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_test(t, a_seed_repeats_the_simple_locks_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
