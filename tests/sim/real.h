/*
 * real.h - a real client whose world is the model.
 */
#ifndef SIM_REAL_H
#define SIM_REAL_H

#include "client.h"
#include "sim.h"

/* Open one for the actor "index"; wake(arg) is called when it has to be
   stepped.  Returns false, and fails the run, if that cannot be. */
bool real_open(struct sim *sim, int index, int timeout_ms,
	void (*wake)(void *arg), void *arg, struct kustos_client **out);

#endif
