/*
 * barrier_figures.h - what came of the last run of the barriers' scenario.
 */
#ifndef SIM_BARRIER_FIGURES_H
#define SIM_BARRIER_FIGURES_H

#include <stdint.h>

enum barrier_figure {
	FIGURE_IN,
	FIGURE_OUT,
	FIGURE_GAVE_UP,
	FIGURE_LOST,
	FIGURE_PASSED,
	FIGURE_LEFTOVER, /* times that somebody came and "ready" was there */
	BARRIER_FIGURES
};

uint64_t barrier_figure(enum barrier_figure which);

#endif
