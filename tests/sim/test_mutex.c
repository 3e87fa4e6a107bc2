/* test_mutex.c - mutexes survive the simulator. */
#include "mutex_actor.h"

#include "../unit/unit.h"

#include <stdlib.h>

#define STEPS 20000

static const struct sim_scenario *mutex(void)
{
	const struct sim_scenario *scenario = sim_find_scenario("mutex");

	ck_assert_ptr_nonnull(scenario);
	return scenario;
}

/* Six million steps; mutants.sh begins with four million of other seeds. */
START_TEST(mutexes_survive_all_faults)
{
	struct sim_options options = { .seed = 1000, .steps = STEPS };
	struct sim_result result;
	struct sim_text report = { 0 };

	if (!sim_hunt(mutex(), &options, 300, &result, &report))
		ck_abort_msg("%s", report.bytes);
	free(result.trace);
	free(report.bytes);
}
END_TEST

/* What is never done cannot fail. */
START_TEST(they_do_everything_meanwhile)
{
	struct sim_options options = { .steps = STEPS };
	struct mutex_figures all = { 0 };
	struct sim_result result;

	for (options.seed = 1; options.seed <= 20; options.seed++) {
		sim_run(mutex(), &options, &result);
		free(result.trace);
		ck_assert(!result.failed);
		struct mutex_figures figures = mutex_last_figures();
		all.granted += figures.granted;
		all.handed_over += figures.handed_over;
		all.lost += figures.lost;
		all.saturated += figures.saturated;
		all.busy += figures.busy;
		all.revoked += figures.revoked;
		all.proofs += figures.proofs;
	}
	ck_assert_uint_gt(all.granted, 1000);
	ck_assert_uint_gt(all.handed_over, 60);
	ck_assert_uint_gt(all.lost, 20);
	ck_assert_uint_gt(all.saturated, 10);
	ck_assert_uint_gt(all.busy, 100);
	ck_assert_uint_gt(all.revoked, 10);
	ck_assert_uint_gt(all.proofs, 100);
}
END_TEST

/* The server is asked less than once for each acquisition, however many wait. */
START_TEST(L28_a_release_does_not_wake_the_herd)
{
	struct sim_options options = {
		.steps = STEPS,
		.without = (1u << SIM_FAULT_COUNT) - 1,
	};
	struct mutex_figures all = { 0 };
	struct sim_result result;

	for (options.seed = 1; options.seed <= 20; options.seed++) {
		sim_run(mutex(), &options, &result);
		free(result.trace);
		ck_assert(!result.failed);
		struct mutex_figures figures = mutex_last_figures();
		all.started += figures.started;
		all.looks += figures.looks;
	}
	ck_assert_uint_gt(all.started, 2000);
	ck_assert_uint_lt(all.looks, all.started);
}
END_TEST

START_TEST(a_seed_repeats_the_mutexes_event_for_event)
{
	struct sim_options options = { .seed = 77, .steps = STEPS };
	struct sim_result first, second;

	sim_run(mutex(), &options, &first);
	sim_run(mutex(), &options, &second);
	ck_assert_uint_eq(first.hash, second.hash);
	options.seed = 78;
	free(second.trace);
	sim_run(mutex(), &options, &second);
	ck_assert_uint_ne(first.hash, second.hash);
	free(first.trace);
	free(second.trace);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutexes in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, mutexes_survive_all_faults);
	tcase_add_test(t, they_do_everything_meanwhile);
	tcase_add_test(t, L28_a_release_does_not_wake_the_herd);
	tcase_add_test(t, a_seed_repeats_the_mutexes_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
