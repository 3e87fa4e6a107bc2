/* test_queue.c - the queue survives the simulator (scenario_queue.c). */
#include "queue_figures.h"
#include "seeds.h"

#include "../unit/unit.h"

static const struct sim_scenario *queues(void)
{
	return seeds_of("queue");
}

/* Five million steps. */
START_TEST(S15_L27_each_item_is_put_once_and_taken_once)
{
	seeds_survive(queues(), 250);
}
END_TEST

START_TEST(S17_nothing_is_taken_before_it_is_due_nor_before_what_was_due)
{
	seeds_survive(seeds_of("delay-queue"), 100);
}
END_TEST

START_TEST(queues_survive_late_completions)
{
	seeds_survive_with(queues(), SIM_SLOW, 30);
}
END_TEST

START_TEST(queues_survive_connections_that_break_again)
{
	seeds_survive_with(queues(), SIM_RELAPSE, 30);
}
END_TEST

/* Check the figures: a rule about something that never happens proves
   nothing. */
START_TEST(they_do_everything_meanwhile)
{
	static const uint64_t least[QUEUE_FIGURES] = {
		[FIGURE_PUT] = 5000,
		[FIGURE_PUT_AFTER_LOSS] = 100,
		[FIGURE_TAKEN] = 4000,
		[FIGURE_TAKEN_LATE] = 2,
		[FIGURE_LOOKED] = 200,
		[FIGURE_EMPTY] = 50,
		[FIGURE_GAVE_UP] = 300,
		[FIGURE_UNKNOWN] = 1,
		[FIGURE_IN_ORDER] = 200,
		[FIGURE_IN_RANK] = 40,
		[FIGURE_BACK] = 20,
		[FIGURE_TOGETHER] = 1000,
	};

	seeds_do(queues(), 120, least, QUEUE_FIGURES);
}
END_TEST

START_TEST(those_with_delays_do_everything_meanwhile)
{
	static const uint64_t least[QUEUE_FIGURES] = {
		[FIGURE_TAKEN] = 1000,
		[FIGURE_EMPTY] = 20,
		[FIGURE_IN_RANK] = 200,
		[FIGURE_IN_TIME] = 50,
	};

	seeds_do(seeds_of("delay-queue"), 40, least, QUEUE_FIGURES);
}
END_TEST

START_TEST(a_seed_repeats_the_queue_event_for_event)
{
	seeds_repeat(queues());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, S15_L27_each_item_is_put_once_and_taken_once);
	tcase_add_test(t, queues_survive_late_completions);
	tcase_add_test(t, queues_survive_connections_that_break_again);
	tcase_add_test(t,
		S17_nothing_is_taken_before_it_is_due_nor_before_what_was_due);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_figures(t, those_with_delays_do_everything_meanwhile);
	tcase_add_test(t, a_seed_repeats_the_queue_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
