/* mutex_end.c - the last phase of a run: everybody is served, then nothing is
   left, then all clients are closed. */
#include "mutex_actor.h"

/* After the faults end: the time until all are served, and then until nothing
   is left. */
#define SERVED_NS (7 * TIMEOUT_NS)
#define TIDY_NS (4 * TIMEOUT_NS)

static bool everybody_served(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);
	bool late = sim_now(sim) > sim_drain_since(sim) + SERVED_NS;
	bool served = foreign_done(mutex_actor_of(sim, FOREIGNER));

	for (int i = 0; i < s->count; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		for (int k = 0; k < SLOTS; k++) {
			if (a->turns[k] == NULL)
				continue;
			served = false;
			if (late)
				sim_fail(sim, "served", "turn %d still waits",
					a->turns[k]->number);
		}
	}
	return served;
}

/* A client makes at most one node for each acquisition, except for nodes that
   it lost, and for those that are made late. */
static void check_made(struct sim *sim)
{
	struct shared *s = mutex_shared(sim);
	int late = (int)model_figures(sim_model(sim))->back;

	for (int i = 0; i < s->count; i++) {
		struct actor *a = mutex_actor_of(sim, i);

		if (a->made > a->started + a->excuses + late)
			sim_fail(sim, "creations",
				"client %d: %d nodes for %d turns and %d "
				"losses",
				i, a->made, a->started, a->excuses);
	}
}

static const char *left(struct sim *sim)
{
	const struct place *place = line_some(mutex_shared(sim), false, 0);

	check_made(sim);
	return place != NULL ? place->path : NULL;
}

bool mutex_settled(struct sim *sim)
{
	static const struct ending_rules rules = {
		everybody_served,
		left,
		TIDY_NS,
	};

	return ending_settled(sim, &mutex_shared(sim)->ending, &rules);
}
