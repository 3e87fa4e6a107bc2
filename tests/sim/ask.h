/*
 * ask.h - one thing that an actor asks for and waits for, until that has ended.
 */
#ifndef SIM_ASK_H
#define SIM_ASK_H

#include "subject.h"

struct ask {
	struct subject *it; /* who asks */
	bool on;	    /* it has not ended */
	kustos_deadline deadline;
	struct kustos_cancel *cancel; /* while it is on */
	bool fired;
	bool closed; /* what it was asked of is destroyed */
	int64_t began;
	int64_t last; /* when it began, or was fired or closed */
};

/* How late something may be that happens by a timer: a step in the same
   instant. */
#define ASK_LATE_NS (2 * KU_NS_PER_MS)

/* Begin to ask. */
void ask_begin(struct ask *ask, struct subject *it, kustos_deadline deadline);

/* Choose: at once; soon, within "soon_ns"; within two timeouts of a session; and
   mostly, or always once the run drains, for ever. */
kustos_deadline ask_some_deadline(struct subject *it, int64_t soon_ns);

/* Cancel it, unless it has ended or that was done. */
void ask_fire(struct ask *ask);

/* What it was asked of is being destroyed. */
void ask_close(struct ask *ask);

/* Is it to end by its deadline? */
bool ask_is_bounded(const struct ask *ask);

/* Is it past the time at which it should have ended?  One that is not to wait has
   "try_ns"; while its client is paused none has to end. */
bool ask_is_overdue(const struct ask *ask, int64_t try_ns);

/* May it end with "err", as far as every call may?  KUSTOS_ECLOSED is for those
   that are closed, or whose client is being. */
bool ask_may_end(const struct ask *ask, enum kustos_err err);

/* It has ended; fails the run if it had before. */
void ask_end(struct ask *ask, const char *what);

#endif
