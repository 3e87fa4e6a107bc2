/*
 * countdown_figures.h - what came of the last run of the latch's scenario.
 */
#ifndef SIM_COUNTDOWN_FIGURES_H
#define SIM_COUNTDOWN_FIGURES_H

#include <stdint.h>

enum countdown_figure {
	COUNTDOWN_ZERO,	  /* waits that ended so */
	COUNTDOWN_BROKEN, /* and so */
	COUNTDOWN_GAVE_UP,
	COUNTDOWN_JOINED,
	COUNTDOWN_FIGURES
};

uint64_t countdown_figure(enum countdown_figure which);

#endif
