/* scenarios.c - the list of all scenarios, as "sim --scenario" knows them. */
#include "sim.h"

#include <string.h>

extern const struct sim_scenario scenario_raw;
extern const struct sim_scenario scenario_calm;
extern const struct sim_scenario scenario_naive;
extern const struct sim_scenario scenario_barrier;
extern const struct sim_scenario scenario_crowd;
extern const struct sim_scenario scenario_claim;
extern const struct sim_scenario scenario_keyed_claim;
extern const struct sim_scenario scenario_client;
extern const struct sim_scenario scenario_countdown;
extern const struct sim_scenario scenario_latch;
extern const struct sim_scenario scenario_lease;
extern const struct sim_scenario scenario_mutex;
extern const struct sim_scenario scenario_one_node;
extern const struct sim_scenario scenario_queue;
extern const struct sim_scenario scenario_delay_queue;
extern const struct sim_scenario scenario_rwlock;
extern const struct sim_scenario scenario_selector;
extern const struct sim_scenario scenario_semaphore;
extern const struct sim_scenario scenario_simple;
extern const struct sim_scenario scenario_together;

const struct sim_scenario *const sim_scenarios[] = {
	&scenario_raw,
	&scenario_calm,
	&scenario_naive,
	&scenario_barrier,
	&scenario_crowd,
	&scenario_claim,
	&scenario_keyed_claim,
	&scenario_client,
	&scenario_countdown,
	&scenario_latch,
	&scenario_lease,
	&scenario_mutex,
	&scenario_one_node,
	&scenario_queue,
	&scenario_delay_queue,
	&scenario_rwlock,
	&scenario_selector,
	&scenario_semaphore,
	&scenario_simple,
	&scenario_together,
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
