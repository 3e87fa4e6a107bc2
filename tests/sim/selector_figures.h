/*
 * selector_figures.h - what the selectors' scenario counts.
 */
#ifndef SIM_SELECTOR_FIGURES_H
#define SIM_SELECTOR_FIGURES_H

#include "figures.h"

enum selector_figure {
	FIGURE_TERMS,
	FIGURE_LOST, /* terms that were lost while their function ran */
	FIGURE_INTERRUPTED,
	FIGURE_REQUEUED,
	FIGURE_CLOSED, /* selectors closed by their own function */
	FIGURE_DEAF,   /* functions that went on after a loss */
	FIGURE_EDITED, /* leaders said something else */
	FIGURE_HANDED, /* leadership was handed over */
	FIGURE_ASKED,  /* somebody has asked the first of a line for it */
	SELECTOR_FIGURES
};

#endif
