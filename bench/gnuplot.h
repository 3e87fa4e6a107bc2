/*
 * gnuplot.h - the program that draws.
 */
#ifndef BENCH_GNUPLOT_H
#define BENCH_GNUPLOT_H

#include "command.h"

#include <stdbool.h>
#include <stdio.h>

/* Return whether gnuplot is installed; if not, print that. */
bool gnuplot_found(void);

/* Begin a script.  Returns NULL, having printed why, if that fails. */
FILE *gnuplot_script(void);

/* Have gnuplot do what the script says, and wait for its end; a signal ends it
   at once.  The script is closed.  Returns an exit code, having printed what
   failed. */
int gnuplot_draw(FILE *script, struct signals *signals);

#endif
