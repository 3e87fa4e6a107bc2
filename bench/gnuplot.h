/*
 * gnuplot.h - the program that draws.
 */
#ifndef BENCH_GNUPLOT_H
#define BENCH_GNUPLOT_H

#include "command.h"

#include <stdbool.h>
#include <stdio.h>

struct gnuplot {
	struct command command;
	FILE *script; /* what it is to do goes in here */
};

/* Return whether it is installed; if not, say so. */
bool gnuplot_found(void);

/* Start it.  Returns false, having said why, if that cannot be. */
bool gnuplot_start(struct gnuplot *g, const struct signals *signals);

/* Wait until it has done that.  Returns false, with a word, if it failed. */
bool gnuplot_end(struct gnuplot *g);

#endif
