/* test_countdown.c - the count-down latch survives the simulator
   (scenario_countdown.c). */
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

START_TEST(a_latch_survives_stalls)
{
	seeds_survive_stalls(countdown(), 30);
}
END_TEST

/* Check the figures: a rule about something that never happens proves
   nothing. */
START_TEST(they_do_everything_meanwhile)
{
	static const uint64_t least[COUNTDOWN_FIGURES] = {
		[COUNTDOWN_ZERO] = 501,
		[COUNTDOWN_BROKEN] = 501,
		[COUNTDOWN_GAVE_UP] = 201,
		[COUNTDOWN_JOINED] = 501,
	};

	seeds_do(countdown(), 20, least, COUNTDOWN_FIGURES);
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
	tcase_add_test(t, a_latch_survives_stalls);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_test(t, a_seed_repeats_the_latch_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
