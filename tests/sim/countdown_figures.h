/*
 * countdown_figures.h - what the count-down latch's scenario counts.
 */
#ifndef SIM_COUNTDOWN_FIGURES_H
#define SIM_COUNTDOWN_FIGURES_H

#include "figures.h"

enum countdown_figure {
	COUNTDOWN_ZERO,	  /* waits that ended at zero */
	COUNTDOWN_BROKEN, /* waits that ended as it was broken */
	COUNTDOWN_GAVE_UP,
	COUNTDOWN_JOINED,
	COUNTDOWN_FIGURES
};

#endif
