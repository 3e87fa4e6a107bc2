/*
 * site.h - the node below which a run works.
 */
#ifndef BENCH_SITE_H
#define BENCH_SITE_H

#include "bench.h"

/* Make it, and what has to be there, from a process of its own.  Returns an exit
   code, having said what is wrong: also that no server answers. */
int site_prepare(const struct bench_plan *plan);

/* Remove it with all below it, in the same way; a word if that cannot be. */
void site_clear(const struct bench_plan *plan);

#endif
