/*
 * together_figures.h - what the scenario "together" counts.
 */
#ifndef SIM_TOGETHER_FIGURES_H
#define SIM_TOGETHER_FIGURES_H

#include "figures.h"

enum together_figure {
	FIGURE_GRANTED,
	FIGURE_GAVE_UP,
	FIGURE_BUSY,
	FIGURE_LOST,
	TOGETHER_FIGURES
};

#endif
