/* scenarios.c - all that "sim --scenario" knows. */
#include "sim.h"

#include <string.h>

extern const struct sim_scenario scenario_raw;
extern const struct sim_scenario scenario_calm;
extern const struct sim_scenario scenario_naive;
extern const struct sim_scenario scenario_client;
extern const struct sim_scenario scenario_mutex;
extern const struct sim_scenario scenario_rwlock;

const struct sim_scenario *const sim_scenarios[] = {
	&scenario_raw,
	&scenario_calm,
	&scenario_naive,
	&scenario_client,
	&scenario_mutex,
	&scenario_rwlock,
	NULL,
};

const struct sim_scenario *sim_find_scenario(const char *name)
{
	int i;

	for (i = 0; sim_scenarios[i] != NULL; i++) {
		if (strcmp(sim_scenarios[i]->name, name) == 0)
			return sim_scenarios[i];
	}
	return NULL;
}
