/* test_selector.c - selectors survive the simulator (scenario_selector.c). */
#include "seeds.h"
#include "selector_figures.h"

#include "../unit/unit.h"

START_TEST(L12_L13_selectors_survive_all_faults)
{
	seeds_survive(seeds_of("selector"), 80);
}
END_TEST

/* Check the figures: a rule about something that never happens proves
   nothing. */
START_TEST(they_do_everything_meanwhile)
{
	static const uint64_t least[SELECTOR_FIGURES] = {
		[FIGURE_TERMS] = 1000,
		[FIGURE_LOST] = 100,
		[FIGURE_INTERRUPTED] = 100,
		[FIGURE_REQUEUED] = 500,
		[FIGURE_CLOSED] = 40,
		[FIGURE_DEAF] = 20,
		[FIGURE_EDITED] = 100,
		[FIGURE_HANDED] = 100,
		[FIGURE_ASKED] = 100,
	};

	seeds_do(seeds_of("selector"), 25, least, SELECTOR_FIGURES);
}
END_TEST

START_TEST(a_seed_repeats_the_selectors_event_for_event)
{
	seeds_repeat(seeds_of("selector"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("selectors in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, L12_L13_selectors_survive_all_faults);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_test(t, a_seed_repeats_the_selectors_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
