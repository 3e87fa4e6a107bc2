/*
 * figures.h - what the last run of a scenario has counted, in the order of an
 * enum of its own: for tests, as what is never done cannot fail.
 */
#ifndef SIM_FIGURES_H
#define SIM_FIGURES_H

#include <stdint.h>

#define FIGURES_MOST 16 /* no scenario counts more things */

/* A run ends: keep what it has counted. */
void figures_keep(const uint64_t *figures, int count);

/* Return what was kept last, and how many they are. */
const uint64_t *figures_last(int *count);

#endif
