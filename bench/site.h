/*
 * site.h - the node below which a run works.
 */
#ifndef BENCH_SITE_H
#define BENCH_SITE_H

#include "bench.h"
#include "signals.h"

/* Make it, and what has to be there, from a process of its own.  Returns an exit
   code, having said what is wrong: also that no server answers; TOOL_SIGNAL and more if a
   signal has ended that, and then there is none. */
int site_prepare(const struct bench_plan *plan, struct signals *signals);

/* Remove it with all below it, in the same way; a word if that cannot be, or a
   signal has ended it, which is returned, or 0. */
int site_clear(const struct bench_plan *plan, struct signals *signals);

#endif
