/*
 * clock.c - the real clocks, and arithmetic on time that cannot overflow.
 */
#include "clock.h"

/* How often to try to read two clocks at the same moment. */
#define PAIRS 8

static int64_t read_clock(clockid_t id)
{
	struct timespec now;

	/* It fails only for a clock that the kernel lacks, and Linux has had
	   both since 2.6.39; the start of time is then a harmless answer. */
	if (clock_gettime(id, &now) != 0)
		return 0;
	return (int64_t)now.tv_sec * KU_NS_PER_S + now.tv_nsec;
}

static int64_t real_monotonic(void *arg)
{
	(void)arg;
	return read_clock(CLOCK_MONOTONIC);
}

static int64_t real_boot(void *arg)
{
	(void)arg;
	return read_clock(CLOCK_BOOTTIME);
}

static int64_t real_wall(void *arg)
{
	(void)arg;
	return read_clock(CLOCK_REALTIME);
}

const struct ku_clock ku_clock_real = { real_monotonic, real_boot, real_wall,
	NULL };

int64_t ku_time_add(int64_t ns, int64_t more_ns)
{
	return more_ns > INT64_MAX - ns ? INT64_MAX : ns + more_ns;
}

struct timespec ku_timespec(int64_t ns)
{
	int64_t s = ns / KU_NS_PER_S;

	if (sizeof(time_t) < sizeof(s) && s > INT32_MAX)
		s = INT32_MAX;
	return (struct timespec){ (time_t)s, (long)(ns % KU_NS_PER_S) };
}

int64_t ku_deadline_boot(const struct ku_clock *clock, kustos_deadline deadline)
{
	int64_t before, monotonic, boot;
	int pairs = PAIRS;

	if (deadline == KUSTOS_FOREVER)
		return KUSTOS_FOREVER;
	/* The order matters: time that passes between the last two readings
	   makes the result late, and a deadline must never pass early.  If this
	   thread was stopped between them, it reads again. */
	boot = ku_boot(clock);
	do {
		before = boot;
		monotonic = ku_monotonic(clock);
		boot = ku_boot(clock);
	} while (boot - before > KU_NS_PER_MS && --pairs > 0);
	if (deadline <= monotonic)
		return boot;
	return ku_time_add(boot, deadline - monotonic);
}

kustos_deadline kustos_after_ms(int64_t ms)
{
	int64_t now = ku_monotonic(&ku_clock_real);

	if (ms <= 0)
		return now;
	if (ms > INT64_MAX / KU_NS_PER_MS)
		return KUSTOS_FOREVER;
	return ku_time_add(now, ms * KU_NS_PER_MS);
}
