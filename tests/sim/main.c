/* main.c - the simulator as a command. */
#include "sim.h"
#include "simbench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct option long_options[] = {
	{ "scenario", required_argument, NULL, 's' },
	{ "seed", required_argument, NULL, 'S' },
	{ "seeds", required_argument, NULL, 'c' },
	{ "steps", required_argument, NULL, 'n' },
	{ "without", required_argument, NULL, 'w' },
	{ "with", required_argument, NULL, 'W' },
	{ "mutate", required_argument, NULL, 'm' },
	{ "as-found", no_argument, NULL, 'f' },
	{ "no-drain", no_argument, NULL, 'd' },
	{ "trace", no_argument, NULL, 't' },
	{ "bench", no_argument, NULL, 'b' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct arguments {
	const struct sim_scenario *scenario;
	struct sim_options options;
	uint64_t seeds;
	bool bench;
	bool help;
};

static void usage(FILE *to)
{
	int i;

	fputs("usage: sim [--scenario NAME] [--seed S] [--seeds COUNT] "
	      "[--steps N]\n"
	      "           [--without FAULT]... [--with FAULT]... "
	      "[--mutate BUG]... [--no-drain]\n"
	      "           [--as-found] [--trace]\n"
	      "       sim --bench\n\nscenarios:\n",
		to);
	for (i = 0; sim_scenarios[i] != NULL; i++)
		fprintf(to, "  %-10s %s\n", sim_scenarios[i]->name,
			sim_scenarios[i]->about);
	fputs("\nfaults:", to);
	for (i = 0; i < SIM_FAULT_COUNT; i++)
		fprintf(to, " %s", sim_fault_name((enum sim_fault)i));
	fputs("\n\nNo seed has \"stall\" and what comes after it but "
	      "by --with.\n\nA failure is reported with its seed, the shortest "
	      "prefix and the fewest\nfaults found that still fail, and the "
	      "last events; the exit code is then 1.\nOf what fails only at "
	      "rest, after its steps, the prefix is one found by halving.\n",
		to);
}

static bool leave_out(struct sim_options *options, const char *name)
{
	unsigned i;

	for (i = 0; i < SIM_FAULT_COUNT; i++) {
		if (strcmp(sim_fault_name((enum sim_fault)i), name) != 0)
			continue;
		options->without |= 1u << i;
		return true;
	}
	return false;
}

static bool add_fault(struct sim_options *options, const char *name)
{
	unsigned i;

	for (i = SIM_STALL; i < SIM_FAULT_COUNT; i++) {
		if (strcmp(sim_fault_name((enum sim_fault)i), name) != 0)
			continue;
		if (i == SIM_STALL)
			options->stalls = true;
		else
			options->with |= 1u << i;
		return true;
	}
	return false;
}

static bool take_option(struct arguments *a, int option, const char *value)
{
	switch (option) {
	case 's':
		a->scenario = sim_find_scenario(value);
		return a->scenario != NULL;
	case 'S':
		a->options.seed = strtoull(value, NULL, 0);
		return true;
	case 'c':
		a->seeds = strtoull(value, NULL, 0);
		return a->seeds > 0;
	case 'n':
		a->options.steps = strtoull(value, NULL, 0);
		return true;
	case 'w':
		return leave_out(&a->options, value);
	case 'W':
		return add_fault(&a->options, value);
	case 'm':
		sim_mutate(value);
		return sim_mutation_known(value);
	case 'd':
		a->options.no_drain = true;
		return true;
	case 'f':
		a->options.as_found = true;
		return true;
	case 't':
		a->options.print = true;
		return true;
	case 'b':
		a->bench = true;
		return true;
	case 'h':
		a->help = true;
		return true;
	default:
		return false;
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int hunt(const struct arguments *a)
{
	struct sim_text report = { NULL, 0, 0 };
	struct sim_result result;
	double begin = seconds();
	bool good = sim_hunt(a->scenario, &a->options, a->seeds, &result,
		&report);

	free(result.trace);
	if (!good) {
		fputs(report.bytes, stdout);
		free(report.bytes);
		return EXIT_FAILURE;
	}
	printf("%s: %llu seeds from %llu, %llu steps each: no failure "
	       "(%llu requests, %.1f s, hash of the last %016llx)\n",
		a->scenario->name, (unsigned long long)a->seeds,
		(unsigned long long)a->options.seed,
		(unsigned long long)a->options.steps,
		(unsigned long long)result.requests, seconds() - begin,
		(unsigned long long)result.hash);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct arguments a = {
		.scenario = sim_scenarios[0],
		.options = { .seed = 1, .steps = 20000 },
		.seeds = 1,
	};
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) !=
		-1) {
		if (!take_option(&a, option, optarg)) {
			fprintf(stderr, "sim: bad argument: %s\n",
				optarg ? optarg : argv[optind - 1]);
			return 2;
		}
	}
	if (a.help || optind < argc) {
		usage(a.help ? stdout : stderr);
		return a.help ? EXIT_SUCCESS : 2;
	}
	return a.bench ? simbench() : hunt(&a);
}
