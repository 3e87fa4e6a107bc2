/*
 * minimise.c - reduce a run that fails to fewer faults and steps, and report
 * it.
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Return whether a run fails in the same way as "like".  If so, replace "like"
   by its result, without a trace: only the last run has one. */
static bool fails(const struct sim_scenario *scenario,
	const struct sim_options *options, struct sim_result *like)
{
	struct sim_options quiet = *options;
	struct sim_result result;

	quiet.trace = false;
	sim_run(scenario, &quiet, &result);
	if (!result.failed || strcmp(result.invariant, like->invariant) != 0)
		return false;
	*like = result;
	return true;
}

/* Leave out one kind of fault after the other, until the run needs all that are
   left. */
static void drop_faults(const struct sim_scenario *scenario,
	struct sim_options *options, struct sim_result *result)
{
	struct sim_options less;
	bool dropped = true;
	unsigned i;

	while (dropped) {
		dropped = false;
		for (i = 0; i < SIM_FAULT_COUNT; i++) {
			if ((result->faults & (1u << i)) == 0)
				continue;
			less = *options;
			less.without |= 1u << i;
			if (!fails(scenario, &less, result))
				continue;
			options->without |= 1u << i;
			dropped = true;
		}
	}
}

/* A run that failed in a step has no shorter failing prefix than up to that
   step.  A run that failed after its steps, while draining, may also fail after
   fewer steps, and not for every number in between.  Halving finds a prefix
   that fails and that does not fail with one step less; but far fewer steps
   might fail as well.  To try all numbers would take too long.  So only the
   first kind is called the shortest. */
static void shorten(const struct sim_scenario *scenario,
	struct sim_options *options, struct sim_result *result)
{
	uint64_t good = 0;
	struct sim_options less = *options;

	if (!result->draining) {
		options->steps = result->step;
		options->no_drain = true;
		return;
	}
	while (options->steps - good > 1) {
		less.steps = good + (options->steps - good) / 2;
		if (fails(scenario, &less, result))
			options->steps = less.steps;
		else
			good = less.steps;
	}
}

void sim_minimise(const struct sim_scenario *scenario,
	struct sim_options *options, struct sim_result *result)
{
	struct sim_result last;

	free(result->trace);
	result->trace = NULL;
	drop_faults(scenario, options, result);
	shorten(scenario, options, result);
	options->trace = true;
	sim_run(scenario, options, &last);
	if (last.hash != result->hash)
		snprintf(last.message, sizeof(last.message),
			"the run does not repeat itself");
	*result = last;
}

static void add_faults(const struct sim_result *result, struct sim_text *out)
{
	unsigned i;

	sim_text_add(out, "  faults:    ");
	for (i = 0; i < SIM_FAULT_COUNT; i++) {
		if (result->faults & (1u << i))
			sim_text_add(out, "%s ", sim_fault_name(i));
	}
	sim_text_add(out, "%s\n", result->faults ? "" : "none");
}

void sim_report(const struct sim_scenario *scenario,
	const struct sim_options *options, const struct sim_result *result,
	struct sim_text *out)
{
	const char *line = result->trace;
	const char *end;
	unsigned i;

	sim_text_add(out, "FAILED %s\n", scenario->name);
	sim_text_add(out, "  seed:      %llu\n",
		(unsigned long long)options->seed);
	sim_text_add(out, "  invariant: %s: %s\n", result->invariant,
		result->message);
	sim_text_add(out, "  %s: %llu steps%s\n",
		options->as_found	   ? "failed after"
			: result->draining ? "a failing prefix"
					   : "shortest failing prefix",
		(unsigned long long)(options->as_found ? result->step
						       : options->steps),
		result->draining ? ", then at rest" : "");
	add_faults(result, out);
	sim_text_add(out, "  last events:\n");
	while (line != NULL && *line != '\0') {
		end = line + strcspn(line, "\n");
		sim_text_add(out, "%.*s\n", (int)(end - line), line);
		line = end + (*end == '\n');
	}
	sim_text_add(out, "  again: sim --scenario %s --seed %llu --steps %llu",
		scenario->name, (unsigned long long)options->seed,
		(unsigned long long)options->steps);
	for (i = 0; i < SIM_FAULT_COUNT; i++) {
		if (options->without & (1u << i) && scenario->faults.rate[i])
			sim_text_add(out, " --without %s", sim_fault_name(i));
	}
	if (result->faults & (1u << SIM_STALL))
		sim_text_add(out, " --with %s", sim_fault_name(SIM_STALL));
	for (i = SIM_STALL + 1; i < SIM_FAULT_COUNT; i++) {
		if (result->faults & (1u << i))
			sim_text_add(out, " --with %s", sim_fault_name(i));
	}
	sim_text_add(out, "%s --trace\n",
		options->no_drain ? " --no-drain" : "");
}

bool sim_hunt(const struct sim_scenario *scenario,
	const struct sim_options *options, uint64_t count,
	struct sim_result *result, struct sim_text *report)
{
	struct sim_options one = *options;
	uint64_t requests = 0, late = 0;
	uint64_t i;

	for (i = 0; i < count; i++) {
		one.seed = options->seed + i;
		sim_run(scenario, &one, result);
		if (result->failed) {
			if (!one.as_found)
				sim_minimise(scenario, &one, result);
			sim_report(scenario, &one, result, report);
			return false;
		}
		requests += result->requests;
		late += result->late;
		if (i + 1 < count)
			free(result->trace);
	}
	result->requests = requests;
	result->late = late;
	return true;
}
