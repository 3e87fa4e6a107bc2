/*
 * report.h - print what was measured: for people, as JSON, as lines with commas.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "figures.h"

#include <stdio.h>

/* Print one run as a table. */
void report_table(FILE *out, const struct figures *f);

/* Print all runs as one JSON object. */
void report_json(FILE *out, const struct bench_options *o,
	struct figures *const *runs, int count);

/* Print a heading; a line for all clients of a run, and one for each. */
void report_csv_heading(FILE *out);
void report_csv(FILE *out, const struct figures *f);

#endif
