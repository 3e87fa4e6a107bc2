/*
 * ask.h - one call that an actor has made and waits for, until the call has
 * ended.
 */
#ifndef SIM_ASK_H
#define SIM_ASK_H

#include "subject.h"

struct ask {
	struct subject *it; /* the caller */
	bool on;	    /* the call has not ended */
	kustos_deadline deadline;
	struct kustos_cancel *cancel; /* while the call is on */
	bool fired;
	bool closed; /* the object that was called is destroyed */
	int64_t began;
	int64_t last; /* time of the last of: begin, fire, close */
};

/* How late a timer's effect may be: the step runs in the same instant. */
#define ASK_LATE_NS (2 * KU_NS_PER_MS)

/* The call begins. */
void ask_begin(struct ask *ask, struct subject *it, kustos_deadline deadline);

/* Choose a deadline: at once, within "soon_ns", within two session timeouts, or
   none.  Mostly there is none; and never one while the run drains. */
kustos_deadline ask_some_deadline(struct subject *it, int64_t soon_ns);

/* Cancel the call, unless it has ended or was canceled already. */
void ask_fire(struct ask *ask);

/* The object that was called is being destroyed. */
void ask_close(struct ask *ask);

/* Has the call a deadline at which it is to end? */
bool ask_is_bounded(const struct ask *ask);

/* Is the call past the time at which it should have ended?  A call that is not
   to wait (KUSTOS_NOW) has "try_ns".  While the client is paused no call has to
   end. */
bool ask_is_overdue(const struct ask *ask, int64_t try_ns);

/* Is "err" one of the ends that any call may have, and is there a reason for
   it?  KUSTOS_ECLOSED needs a closed object, or a client that is being
   closed. */
bool ask_may_end(const struct ask *ask, enum kustos_err err);

/* The call has ended.  Fails the run if it had ended before. */
void ask_end(struct ask *ask, const char *what);

#endif
