/* sim_impl.h - the state of a run, shared by the parts of the simulator. */
#ifndef SIM_SIM_IMPL_H
#define SIM_SIM_IMPL_H

#include "sim.h"

struct sim_line { /* of the trace */
	int64_t at_ns;
	uint64_t step;
	int client;
	int64_t value;
	const char *what;
	char path[72];
};

struct sim {
	struct sched sched;
	struct model *model;
	const struct sim_scenario *scenario;
	struct sim_options options;
	struct sim_result *result;
	uint64_t step;
	uint64_t hash;
	bool failed;
	bool draining;
	int64_t drain_since;
	unsigned faults; /* kinds that are on */
	struct sim_random fault_random[SIM_FAULT_COUNT];
	char *actors;
	struct sim_random *actor_random;
	int64_t *tick_at;
	uint64_t *tick_number;
	void *state;
	struct sim_line *lines; /* a ring, if traced */
	uint64_t line_count;
};

/* nemesis.c */
void nemesis_start(struct sim *sim);
void nemesis_stop(struct sim *sim);

/* trace.c */
void trace_note(void *arg, enum model_note note, int client, const char *what,
	const char *path, int64_t value);
char *trace_text(const struct sim *sim);

/* mutation.c */
unsigned mutation_model_bugs(void);

#endif
