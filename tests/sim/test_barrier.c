/* test_barrier.c - the barriers survive the simulator. */
#include "barrier_figures.h"
#include "seeds.h"

#include "../unit/unit.h"

static const struct sim_scenario *barriers(void)
{
	return seeds_of("barrier");
}

/* Four million steps. */
START_TEST(S12_L18_barriers_survive_all_faults)
{
	seeds_survive(barriers(), 200);
}
END_TEST

/* What is never done cannot fail. */
START_TEST(they_do_everything_meanwhile)
{
	uint64_t all[BARRIER_FIGURES] = { 0 };

	for (uint64_t seed = 1; seed <= 20; seed++) {
		(void)seed_hash(barriers(), seed);
		for (int i = 0; i < BARRIER_FIGURES; i++)
			all[i] += barrier_figure(i);
	}
	ck_assert_uint_gt(all[FIGURE_IN], 1000);
	ck_assert_uint_gt(all[FIGURE_OUT], 500);
	ck_assert_uint_gt(all[FIGURE_GAVE_UP], 100);
	ck_assert_uint_gt(all[FIGURE_LOST], 10);
	ck_assert_uint_gt(all[FIGURE_PASSED], 500);
	ck_assert_uint_gt(all[FIGURE_LEFTOVER], 50);
}
END_TEST

START_TEST(a_seed_repeats_the_barriers_event_for_event)
{
	seeds_repeat(barriers());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("barriers in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, S12_L18_barriers_survive_all_faults);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_test(t, a_seed_repeats_the_barriers_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
