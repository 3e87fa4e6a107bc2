/*
 * seeds.h - tests that every scenario of the simulator has: no seed fails, each
 * thing happens often enough, and a seed repeats its run.
 */
#ifndef SIM_SEEDS_H
#define SIM_SEEDS_H

#include "figures.h"
#include "sanitized.h"
#include "sim.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define SEED_STEPS 20000

/* Figures are only tested where enough seeds are run. */
#if TIMES_LESS > 1
#define tcase_add_figures(tcase, test) ((void)(test))
#else
#define tcase_add_figures(tcase, test) tcase_add_test(tcase, test)
#endif

/* Return the scenario of that name, which there has to be. */
static inline const struct sim_scenario *seeds_of(const char *name)
{
	const struct sim_scenario *scenario = sim_find_scenario(name);

	ck_assert_ptr_nonnull(scenario);
	return scenario;
}

/* Run "count" seeds with "options"; fail, with the report, if one of them
   fails.  Returns how many requests were done late. */
static inline uint64_t seeds_survive_as(const struct sim_scenario *scenario,
	const struct sim_options *options, int count)
{
	struct sim_result result;
	struct sim_text report = { 0 };

	uint64_t seeds = ((uint64_t)count + TIMES_LESS - 1) / TIMES_LESS;

	if (!sim_hunt(scenario, options, seeds, &result, &report)) {
		fputs(report.bytes, stderr); /* too long for libcheck */
		ck_abort_msg("%s: %s", result.invariant, result.message);
	}
	free(result.trace);
	free(report.bytes);
	return result.late;
}

/* The same, with seeds from 1000 on. */
static inline void seeds_survive(const struct sim_scenario *scenario, int count)
{
	struct sim_options options = { .seed = 1000, .steps = SEED_STEPS };

	seeds_survive_as(scenario, &options, count);
}

/* The same, with clients that also stall within a step. */
static inline void seeds_survive_stalls(const struct sim_scenario *scenario,
	int count)
{
	struct sim_options options = { .seed = 1000,
		.steps = SEED_STEPS,
		.stalls = true };

	seeds_survive_as(scenario, &options, count);
}

/* The same, with one of the faults that happen only if asked for. */
static inline uint64_t seeds_survive_with(const struct sim_scenario *scenario,
	enum sim_fault fault, int count)
{
	struct sim_options options = { .seed = 1000,
		.steps = SEED_STEPS,
		.with = 1u << fault };

	return seeds_survive_as(scenario, &options, count);
}

/* Run the first "seeds" seeds.  Fail if one of them fails, or if they have not
   counted each figure of the scenario at least as often as "least" says. */
static inline void seeds_do(const struct sim_scenario *scenario, uint64_t seeds,
	const uint64_t *least, int count)
{
	struct sim_options options = { .steps = SEED_STEPS };
	uint64_t all[FIGURES_MOST] = { 0 };
	struct sim_result result;

	for (options.seed = 1; options.seed <= seeds; options.seed++) {
		int counted;

		sim_run(scenario, &options, &result);
		free(result.trace);
		ck_assert(!result.failed);
		const uint64_t *figures = figures_last(&counted);
		ck_assert_int_eq(counted, count);
		for (int i = 0; i < count; i++)
			all[i] += figures[i];
	}
	for (int i = 0; i < count; i++)
		ck_assert_msg(all[i] >= least[i], "figure %d: %d", i,
			(int)all[i]);
}

/* Return a hash of everything that a seed does. */
static inline uint64_t seed_hash(const struct sim_scenario *scenario,
	uint64_t seed)
{
	struct sim_options options = { .seed = seed, .steps = SEED_STEPS };
	struct sim_result result;

	sim_run(scenario, &options, &result);
	free(result.trace);
	return result.hash;
}

/* A seed repeats its run event for event, and another seed does not. */
static inline void seeds_repeat(const struct sim_scenario *scenario)
{
	uint64_t first = seed_hash(scenario, 77);

	ck_assert_uint_eq(first, seed_hash(scenario, 77));
	ck_assert_uint_ne(first, seed_hash(scenario, 78));
}

#endif
