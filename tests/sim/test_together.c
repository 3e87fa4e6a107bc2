/* test_together.c - mutexes taken together survive the simulator
   (scenario_together.c). */
#include "seeds.h"
#include "together_figures.h"

#include "../unit/unit.h"

START_TEST(S09_S11_mutexes_taken_together_survive_all_faults)
{
	seeds_survive(seeds_of("together"), 80);
}
END_TEST

/* Check the figures: a rule about something that never happens proves
   nothing. */
START_TEST(they_do_everything_meanwhile)
{
	static const uint64_t least[TOGETHER_FIGURES] = {
		[FIGURE_GRANTED] = 1000,
		[FIGURE_GAVE_UP] = 200,
		[FIGURE_BUSY] = 100,
		[FIGURE_LOST] = 50,
	};

	seeds_do(seeds_of("together"), 25, least, TOGETHER_FIGURES);
}
END_TEST

START_TEST(a_seed_repeats_them_event_for_event)
{
	seeds_repeat(seeds_of("together"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("taken together, in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, S09_S11_mutexes_taken_together_survive_all_faults);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_test(t, a_seed_repeats_them_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
