/*
 * timer.h - a set of timers, the earliest first.
 *
 * A timer is a field of its owner and belongs to at most one set.  The set
 * consists of the timers themselves, so setting one needs no memory and cannot
 * fail.  Adding and removing cost O(log n).
 */
#ifndef KU_TIMER_H
#define KU_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ku_timer;
typedef void ku_timer_fn(struct ku_timer *timer);

struct ku_timer {
	int64_t at_ns; /* boot time */
	ku_timer_fn *fn;
	struct ku_timer *parent; /* in the heap; NULL: it is not set */
	struct ku_timer *child[2];
};

struct ku_timers {	     /* zero: none is set */
	struct ku_timer top; /* no timer: child[1] is the earliest */
	size_t count;
};

/* Set "timer", or move it if it is set already. */
void ku_timer_set(struct ku_timers *timers, struct ku_timer *timer,
	int64_t at_ns);

/* Unset it; harmless if it is not set. */
void ku_timer_unset(struct ku_timers *timers, struct ku_timer *timer);

static inline bool ku_timer_is_set(const struct ku_timer *timer)
{
	return timer->parent != NULL;
}

/* Return when the earliest is due, or INT64_MAX. */
int64_t ku_timers_next(const struct ku_timers *timers);

/* Take the earliest out of the set if it is due at "now_ns", else NULL.  The
   caller calls its function. */
struct ku_timer *ku_timers_pop(struct ku_timers *timers, int64_t now_ns);

#endif
