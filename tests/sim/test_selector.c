/* test_selector.c - selectors survive the simulator. */
#include "seeds.h"
#include "selector_figures.h"

#include "../unit/unit.h"

START_TEST(L12_L13_selectors_survive_all_faults)
{
	seeds_survive(seeds_of("selector"), 80);
}
END_TEST

/* What is never done cannot fail. */
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
	};
	struct sim_options options = { .steps = SEED_STEPS };
	uint64_t all[SELECTOR_FIGURES] = { 0 };
	struct sim_result result;

	for (options.seed = 1; options.seed <= 20; options.seed++) {
		sim_run(seeds_of("selector"), &options, &result);
		free(result.trace);
		ck_assert(!result.failed);
		for (int i = 0; i < SELECTOR_FIGURES; i++)
			all[i] += selector_figure((enum selector_figure)i);
	}
	for (int i = 0; i < SELECTOR_FIGURES; i++)
		ck_assert_msg(all[i] >= least[i], "figure %d: %d", i,
			(int)all[i]);
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
