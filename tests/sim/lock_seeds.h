/*
 * lock_seeds.h - run some seeds of a lock's scenario, and look at what they
 * counted.
 */
#ifndef SIM_LOCK_SEEDS_H
#define SIM_LOCK_SEEDS_H

#include "mutex_actor.h"
#include "seeds.h"

/* Run the first "count" seeds without some of the faults, and return the
   sums. */
static inline struct mutex_figures lock_seeds_do(
	const struct sim_scenario *scenario, uint64_t count, unsigned without)
{
	struct sim_options options = { .steps = SEED_STEPS,
		.without = without };
	struct mutex_figures sum = { 0 };
	uint64_t *to = (uint64_t *)&sum;
	struct sim_result result;

	for (options.seed = 1; options.seed <= count; options.seed++) {
		sim_run(scenario, &options, &result);
		free(result.trace);
		ck_assert(!result.failed);
		struct mutex_figures one = mutex_last_figures();
		const uint64_t *from = (const uint64_t *)&one;
		for (size_t i = 0; i < sizeof(sum) / sizeof(*to); i++)
			to[i] += from[i];
	}
	return sum;
}

/* Run without faults, and fail if every release makes all waiters look. */
static inline void lock_seeds_wake_no_herd(const struct sim_scenario *scenario)
{
	const unsigned all_faults = (1u << SIM_FAULT_COUNT) - 1;
	struct mutex_figures all = lock_seeds_do(scenario, 20, all_faults);

	ck_assert_uint_gt(all.started, 2000);
	ck_assert_uint_lt(all.looks, all.started);
}

#endif
