/*
 * ending.h - how a run ends after which nothing may be left: everybody is served,
 * then nothing is left, then all clients are closed.
 */
#ifndef SIM_ENDING_H
#define SIM_ENDING_H

#include "sim.h"

struct ending { /* when that was so; 0: not yet */
	int64_t served, tidy;
};

struct ending_rules {
	/* Is everybody served?  Fails the run if it is too late for that. */
	bool (*served)(struct sim *sim);

	/* Return what is left and should not be, or NULL. */
	const char *(*left)(struct sim *sim);
	int64_t tidy_ns; /* by which nothing may be, after all are served */
};

/* What "settled" of a scenario does. */
bool ending_settled(struct sim *sim, struct ending *ending,
	const struct ending_rules *rules);

#endif
