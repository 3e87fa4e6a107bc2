/*
 * timer.h - a set of timers, the earliest first.
 *
 * A timer is a field of its owner and belongs to at most one set.  Adding and
 * removing cost O(log n); a binary heap of pointers.
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
	size_t slot; /* 1 + index in the heap; 0 = not set */
};

struct ku_timers {
	struct ku_timer **heap;
	size_t count;
	size_t room;
	size_t reserved;
};

/* Make room so that "more" timers can be set without failing, until
   ku_timers_release() gives it back.  This holds if room was made for every
   timer that is set. */
bool ku_timers_reserve(struct ku_timers *timers, size_t more);
void ku_timers_release(struct ku_timers *timers, size_t fewer);

/* Set "timer", or move it if it is set already.  Returns false if memory is
   short, and then the timer is not set. */
bool ku_timer_set(struct ku_timers *timers, struct ku_timer *timer,
	int64_t at_ns);

/* Unset it; harmless if it is not set. */
void ku_timer_unset(struct ku_timers *timers, struct ku_timer *timer);

static inline bool ku_timer_is_set(const struct ku_timer *timer)
{
	return timer->slot != 0;
}

/* Return when the earliest is due, or INT64_MAX. */
int64_t ku_timers_next(const struct ku_timers *timers);

/* Take the earliest out of the set if it is due at "now_ns", else NULL.  The
   caller calls its function. */
struct ku_timer *ku_timers_pop(struct ku_timers *timers, int64_t now_ns);

/* Free the heap.  The timers are their owners'. */
void ku_timers_free(struct ku_timers *timers);

#endif
