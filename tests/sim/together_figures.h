/*
 * together_figures.h - what came of the last run of the scenario "together".
 */
#ifndef SIM_TOGETHER_FIGURES_H
#define SIM_TOGETHER_FIGURES_H

#include <stdint.h>

enum together_figure {
	FIGURE_GRANTED,
	FIGURE_GAVE_UP,
	FIGURE_BUSY,
	FIGURE_LOST,
	TOGETHER_FIGURES
};

uint64_t together_figure(enum together_figure which);

#endif
