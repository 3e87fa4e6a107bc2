/* test_countdown.c - the count-down latch survives the simulator. */
#include "countdown_figures.h"
#include "seeds.h"

#include "../unit/unit.h"

static const struct sim_scenario *countdown(void)
{
	return seeds_of("countdown");
}

/* Two million steps. */
START_TEST(S12_a_latch_survives_all_faults)
{
	seeds_survive(countdown(), 100);
}
END_TEST

/* What is never done cannot fail. */
START_TEST(they_do_everything_meanwhile)
{
	uint64_t all[COUNTDOWN_FIGURES] = { 0 };

	for (uint64_t seed = 1; seed <= 20; seed++) {
		(void)seed_hash(countdown(), seed);
		for (int i = 0; i < COUNTDOWN_FIGURES; i++)
			all[i] += countdown_figure(i);
	}
	ck_assert_uint_gt(all[COUNTDOWN_ZERO], 500);
	ck_assert_uint_gt(all[COUNTDOWN_BROKEN], 500);
	ck_assert_uint_gt(all[COUNTDOWN_GAVE_UP], 200);
	ck_assert_uint_gt(all[COUNTDOWN_JOINED], 500);
}
END_TEST

START_TEST(a_seed_repeats_the_latch_event_for_event)
{
	seeds_repeat(countdown());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("count-down latch in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, S12_a_latch_survives_all_faults);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_test(t, a_seed_repeats_the_latch_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
