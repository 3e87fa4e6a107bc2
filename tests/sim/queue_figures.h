/*
 * queue_figures.h - what the queue's scenario counts.
 */
#ifndef SIM_QUEUE_FIGURES_H
#define SIM_QUEUE_FIGURES_H

#include "figures.h"

enum queue_figure {
	FIGURE_PUT,
	FIGURE_PUT_AFTER_LOSS, /* put although the call failed */
	FIGURE_TAKEN,
	FIGURE_TAKEN_LATE, /* for a call that had given up */
	FIGURE_LOOKED,
	FIGURE_EMPTY,
	FIGURE_GAVE_UP,
	FIGURE_UNKNOWN,
	FIGURE_IN_ORDER, /* taken by the only taker */
	FIGURE_IN_RANK,	 /* the same, before others, where a key decides */
	FIGURE_IN_TIME,	 /* the same, when those others were due as well */
	FIGURE_BACK,	 /* put back by an object that was destroyed */
	FIGURE_TOGETHER, /* transactions of one object under way at once */
	QUEUE_FIGURES
};

#endif
