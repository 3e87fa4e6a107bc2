/*
 * plot.h - draw what was measured.
 */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include "figures.h"

#include <stdbool.h>
#include <stdio.h>

/* Return whether that file can be written, which gnuplot would be told too late; if
   not, say why. */
bool plot_writable(const char *file);

/* Return whether it was drawn there to its end: gnuplot does not tell of a disk that is
   full.  If not, say so. */
bool plot_is_whole(const char *file);

/* Write what gnuplot is to do: draw how long was waited, how many grants there were
   as time went by, and, of several runs, what more clients make of it, into the SVG
   file "file"; or the first of these, with characters, if that is "-", standard output,
   or ends in ".txt". */
void plot_script(FILE *out, const char *file, struct figures *const *runs,
	int count);

#endif
