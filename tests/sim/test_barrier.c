/* test_barrier.c - the barriers survive the simulator (scenario_barrier.c). */
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

START_TEST(L18_barriers_survive_stalls)
{
	seeds_survive_stalls(barriers(), 60);
}
END_TEST

/* "ready" is deleted while a member stalls for which it may have been meant. */
START_TEST(S12_barriers_survive_stalls_and_deletions)
{
	struct sim_options options = { .seed = 1000,
		.steps = SEED_STEPS,
		.stalls = true,
		.without = 1u << SIM_LOSE_REPLY | 1u << SIM_DELAY_REPLY |
			1u << SIM_REMOVE_PARENT | 1u << SIM_STOP_SERVER };

	seeds_survive_as(barriers(), &options, 60);
}
END_TEST

START_TEST(L08_barriers_survive_servers_that_set_no_watches_again)
{
	seeds_survive_with(barriers(), SIM_FORGET, 60);
}
END_TEST

/* There are more members than a round needs: they join it as it goes on, or
   make the next round. */
START_TEST(S12_L18_a_crowd_survives_all_faults)
{
	seeds_survive(seeds_of("crowd"), 150);
}
END_TEST

START_TEST(L18_a_crowd_survives_stalls)
{
	seeds_survive_stalls(seeds_of("crowd"), 60);
}
END_TEST

/* Only members delete "ready", so all must be served soon. */
START_TEST(L18_a_crowd_left_alone_survives_stalls)
{
	struct sim_options options = { .seed = 1000,
		.steps = SEED_STEPS,
		.stalls = true,
		.without = 1u << SIM_DELETE };

	seeds_survive_as(seeds_of("crowd"), &options, 60);
}
END_TEST

/* Check the figures: a rule about something that never happens proves
   nothing. */
START_TEST(they_do_everything_meanwhile)
{
	static const uint64_t least[BARRIER_FIGURES] = {
		[FIGURE_IN] = 1001,
		[FIGURE_OUT] = 501,
		[FIGURE_GAVE_UP] = 101,
		[FIGURE_LOST] = 11,
		[FIGURE_PASSED] = 501,
		[FIGURE_LEFTOVER] = 51,
	};

	seeds_do(barriers(), 20, least, BARRIER_FIGURES);
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
	tcase_add_test(t, L18_barriers_survive_stalls);
	tcase_add_test(t, S12_barriers_survive_stalls_and_deletions);
	tcase_add_test(t,
		L08_barriers_survive_servers_that_set_no_watches_again);
	tcase_add_test(t, S12_L18_a_crowd_survives_all_faults);
	tcase_add_test(t, L18_a_crowd_survives_stalls);
	tcase_add_test(t, L18_a_crowd_left_alone_survives_stalls);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_test(t, a_seed_repeats_the_barriers_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
