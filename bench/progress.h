/*
 * progress.h - a line that tells how it goes, on a terminal's standard error.
 */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include "board.h"

/* Write it again, if it is time to. */
void progress_show(const struct bench_plan *plan, const struct board *board);

/* Take it away. */
void progress_clear(void);

#endif
