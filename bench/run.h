/*
 * run.h - one run: processes that contend, and one that watches them.
 */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "figures.h"
#include "signals.h"

/* Do what the plan says, and put the figures into "*out", also those of a run
   that a signal cut short.  Returns an exit code, having printed what is wrong:
   TOOL_LOST if too many held at a time, whatever else went wrong; 128 plus the
   number of the signal. */
int run_plan(const struct bench_plan *plan, struct signals *signals,
	struct figures **out);

#endif
