/*
 * clock.h - the clocks that Kustos reads, behind a seam.
 *
 * Deadlines of callers are on the monotonic clock.  Leases and all timers are
 * on the boot-time clock, which also counts while the machine sleeps: a lease
 * must not outlive a suspend.  The time of day is for what other processes have
 * written down.  The simulator puts virtual time here.
 */
#ifndef KU_CLOCK_H
#define KU_CLOCK_H

#include <kustos/base.h>

#include <time.h>

#define KU_NS_PER_MS INT64_C(1000000)
#define KU_NS_PER_S INT64_C(1000000000)

struct ku_clock {
	int64_t (*monotonic)(void *arg); /* ns */
	int64_t (*boot)(void *arg);	 /* ns */
	int64_t (*wall)(void *arg);	 /* ns since 1970 */
	void *arg;
};

extern const struct ku_clock ku_clock_real;

static inline int64_t ku_monotonic(const struct ku_clock *clock)
{
	return clock->monotonic(clock->arg);
}

static inline int64_t ku_boot(const struct ku_clock *clock)
{
	return clock->boot(clock->arg);
}

static inline int64_t ku_wall_ms(const struct ku_clock *clock)
{
	return clock->wall(clock->arg) / KU_NS_PER_MS;
}

/* Add; a sum that would overflow is INT64_MAX.  Neither may be negative. */
int64_t ku_time_add(int64_t ns, int64_t more_ns);

/* Return a time, which may not be negative, as the system takes it.  Where
   time_t has 32 bits, a time that does not fit becomes its last second. */
struct timespec ku_timespec(int64_t ns);

/* Return the boot time at which "deadline" passes; KUSTOS_FOREVER stays as it
   is. */
int64_t ku_deadline_boot(const struct ku_clock *clock,
	kustos_deadline deadline);

#endif
