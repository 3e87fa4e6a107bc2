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
	CLAIM_LOST,    /* as its ack reported */
	CLAIM_UNKNOWN, /* as its ack reported */
	CLAIM_DEAD,
	CLAIM_EMPTY,
	CLAIM_GAVE_UP,
	CLAIM_IN_RANK, /* by the only taker, where a key decides the order */
	CLAIM_IN_TIME, /* the same, when other items were due as well */
	CLAIM_ROBBED,  /* events at which a claim had no marker any more */
	CLAIM_ASKED,   /* steps in which a desk asked for others' changes */
	CLAIM_FIGURES
};

#endif
