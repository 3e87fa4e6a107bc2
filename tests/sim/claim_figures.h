/*
 * claim_figures.h - what the claims' scenario counts.
 */
#ifndef SIM_CLAIM_FIGURES_H
#define SIM_CLAIM_FIGURES_H

#include "figures.h"

enum claim_figure {
	CLAIM_GRANTED,
	CLAIM_AGAIN, /* of an item that was claimed before */
	CLAIM_ACKED,
	CLAIM_REQUEUED,
	CLAIM_RELEASED,
	CLAIM_LOST,    /* and its ack said so */
	CLAIM_UNKNOWN, /* the same */
	CLAIM_DEAD,
	CLAIM_EMPTY,
	CLAIM_GAVE_UP,
	CLAIM_IN_RANK, /* by one that was alone, where a key decides */
	CLAIM_IN_TIME, /* so, and others were due as well */
	CLAIM_ASKED,   /* looks of such a one that found it asking for others */
	CLAIM_FIGURES
};

#endif
