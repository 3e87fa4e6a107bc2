/*
 * gnuplot.h - the program that draws.
 */
#ifndef BENCH_GNUPLOT_H
#define BENCH_GNUPLOT_H

#include "command.h"

#include <stdbool.h>
#include <stdio.h>

/* Return whether it is installed; if not, say so. */
bool gnuplot_found(void);

/* Begin a script.  Returns NULL, having said why, if that cannot be. */
FILE *gnuplot_script(void);

/* Have it do what the script says, which is closed, and wait for its end; a signal
   ends it at once.  Returns an exit code, having said what failed. */
int gnuplot_draw(FILE *script, struct signals *signals);

#endif
