/* test_semaphore.c - semaphores survive the simulator
   (scenario_semaphore.c). */
#include "sem_actor.h"
#include "seeds.h"

#include "../unit/unit.h"

static const struct sim_scenario *semaphore(void)
{
	return seeds_of("semaphore");
}

/* Run the first "count" seeds without some of the faults, and return the
   sums. */
static struct sem_figures figures_of(uint64_t count, unsigned without)
{
	struct sim_options options = { .steps = SEED_STEPS,
		.without = without };
	struct sem_figures sum = { 0 };
	uint64_t *to = (uint64_t *)&sum;
	struct sim_result result;

	for (options.seed = 1; options.seed <= count; options.seed++) {
		sim_run(semaphore(), &options, &result);
		free(result.trace);
		ck_assert(!result.failed);
		struct sem_figures one = sem_last_figures();
		const uint64_t *from = (const uint64_t *)&one;
		for (size_t i = 0; i < sizeof(sum) / sizeof(*to); i++)
			to[i] += from[i];
	}
	return sum;
}

/* Six million steps. */
START_TEST(S14_semaphores_survive_all_faults)
{
	seeds_survive(semaphore(), 300);
}
END_TEST

START_TEST(semaphores_survive_stalls)
{
	seeds_survive_stalls(semaphore(), 30);
}
END_TEST

/* Neither watches of the line nor those of the number are set again. */
START_TEST(L08_semaphores_survive_servers_that_set_no_watches_again)
{
	seeds_survive_with(semaphore(), SIM_FORGET, 60);
}
END_TEST

/* Check the figures: a rule about something that never happens proves
   nothing. */
START_TEST(they_do_everything_meanwhile)
{
	struct sem_figures all = figures_of(20, 0);

	ck_assert_uint_gt(all.granted, 1000);
	ck_assert_uint_gt(all.many, 200);
	ck_assert_uint_gt(all.tries, 1000);
	ck_assert_uint_gt(all.queued, 1000);
	ck_assert_uint_gt(all.lost, 20);
	ck_assert_uint_gt(all.busy, 100);
	ck_assert_uint_gt(all.theirs, 20);
	ck_assert_uint_gt(all.changes, 100);
	ck_assert_uint_gt(all.full, 1000);
	ck_assert_uint_gt(all.saturated, 5);
}
END_TEST

/* Only the first in line looks when the leases change. */
START_TEST(L28_a_release_does_not_wake_the_herd)
{
	const unsigned all_faults = (1u << SIM_FAULT_COUNT) - 1;
	struct sem_figures all = figures_of(20, all_faults);

	ck_assert_uint_gt(all.started, 2000);
	ck_assert_uint_lt(all.looks, 2 * all.started);
}
END_TEST

/* Of the calls to one object, those that asked earlier are granted earlier; but
   nodes whose parents are missing at first are made in any order. */
START_TEST(calls_to_one_object_are_granted_in_their_order)
{
	const unsigned all_faults = (1u << SIM_FAULT_COUNT) - 1;
	struct sem_figures all = figures_of(20, all_faults);

	ck_assert_uint_gt(all.together, 300);
	ck_assert_uint_lt(all.passed, 5);
}
END_TEST

START_TEST(a_seed_repeats_the_semaphores_event_for_event)
{
	seeds_repeat(semaphore());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("semaphores in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, S14_semaphores_survive_all_faults);
	tcase_add_test(t, semaphores_survive_stalls);
	tcase_add_test(t,
		L08_semaphores_survive_servers_that_set_no_watches_again);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_figures(t, L28_a_release_does_not_wake_the_herd);
	tcase_add_figures(t, calls_to_one_object_are_granted_in_their_order);
	tcase_add_test(t, a_seed_repeats_the_semaphores_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
