/*
 * ending.h - the last phase of a run, for scenarios that may leave nothing
 * behind: first everybody is served, then nothing is left on the servers, then
 * all clients are closed.
 */
#ifndef SIM_ENDING_H
#define SIM_ENDING_H

#include "sim.h"

struct ending { /* when each of the first two was reached; 0: not yet */
	int64_t served, tidy;
};

struct ending_rules {
	/* Is everybody served?  Fails the run if that takes too long. */
	bool (*served)(struct sim *sim);

	/* Return what is left and should not be, or NULL. */
	const char *(*left)(struct sim *sim);
	int64_t tidy_ns; /* after all are served, until nothing is left */
};

/* For the "settled" function of a scenario. */
bool ending_settled(struct sim *sim, struct ending *ending,
	const struct ending_rules *rules);

#endif
