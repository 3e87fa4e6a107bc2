/*
 * figures.h - the counts of a scenario's last run: how often each thing was
 * done, indexed by an enum of the scenario.  Tests demand a least number for
 * each, as a rule about something that never happens proves nothing.
 */
#ifndef SIM_FIGURES_H
#define SIM_FIGURES_H

#include <stdint.h>

#define FIGURES_MOST 16 /* the most that a scenario counts */

/* A run ends: keep its counts. */
void figures_keep(const uint64_t *figures, int count);

/* Return the counts that were kept last, and set "*count" to their number. */
const uint64_t *figures_last(int *count);

#endif
