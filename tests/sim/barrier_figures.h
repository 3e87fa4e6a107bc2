/*
 * barrier_figures.h - what the barriers' scenario counts.
 */
#ifndef SIM_BARRIER_FIGURES_H
#define SIM_BARRIER_FIGURES_H

#include "figures.h"

enum barrier_figure {
	FIGURE_IN,
	FIGURE_OUT,
	FIGURE_GAVE_UP,
	FIGURE_LOST,
	FIGURE_PASSED,
	FIGURE_LEFTOVER, /* members that came while "ready" existed */
	BARRIER_FIGURES
};

#endif
