/*
 * plot.h - draw what was measured.
 */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include "figures.h"

#include <stdbool.h>
#include <stdio.h>

/* Return whether that file can be written; if not, print why.  gnuplot would
   find that out too late. */
bool plot_writable(const char *file);

/* Return whether the drawing in the file is complete, as gnuplot does not
   report a full disk.  If it is not, print that. */
bool plot_is_whole(const char *file);

/* Write a script for gnuplot.  It draws the waits, the grants over time, and,
   if there were several runs, the effect of more clients, into the SVG file
   "file".  If "file" is "-" (standard output) or ends in ".txt", it draws only
   the waits, with characters. */
void plot_script(FILE *out, const char *file, struct figures *const *runs,
	int count);

#endif
