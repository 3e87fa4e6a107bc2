/*
 * progress.h - a line that shows the progress, if standard error is a terminal.
 */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include "board.h"

/* Write it again, if it is time to. */
void progress_show(const struct bench_plan *plan, const struct board *board);

/* Erase it. */
void progress_clear(void);

#endif
