/*
 * site.h - the node below which a run works.
 */
#ifndef BENCH_SITE_H
#define BENCH_SITE_H

#include "bench.h"
#include "signals.h"

/* Make the node, and what has to be there, in a process of its own.  Returns an
   exit code, having printed what is wrong, such as that no server answers.  It
   is TOOL_SIGNAL plus a signal if that has ended it, and then there is no
   node. */
int site_prepare(const struct bench_plan *plan, struct signals *signals);

/* Remove the node with all below it, in the same way.  Prints it if that fails,
   or if a signal has ended it.  Returns that signal, or 0. */
int site_clear(const struct bench_plan *plan, struct signals *signals);

#endif
