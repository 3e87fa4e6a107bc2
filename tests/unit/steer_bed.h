/* steer_bed.h - a steering module with a clock of its own, for tests that
   report events to it and check its decisions. */
#ifndef UNIT_STEER_BED_H
#define UNIT_STEER_BED_H

#include "unit.h"

#include "clock.h"
#include "random.h"
#include "steer.h"

#define T (6000 * KU_NS_PER_MS)
#define MS KU_NS_PER_MS
#define GRACE (50 * MS)

static struct ku_random rnd;
static struct ku_steer s;
static int64_t now, wake;
static int to;

static inline enum ku_steer_action next(void)
{
	return ku_steer_next(&s, now, &to, &wake);
}

static inline void expect(enum ku_steer_action action)
{
	ck_assert_int_eq(next(), action);
}

static inline void expect_to(int server)
{
	expect(KU_STEER_TO);
	ck_assert_int_eq(to, server);
}

/* Check that there is nothing to do at any time. */
static inline void expect_peace(void)
{
	expect(KU_STEER_NONE);
	ck_assert_int_eq(wake, INT64_MAX);
}

/* Check that there is nothing to do before "at", and advance the clock to
   that. */
static inline void expect_quiet_until(int64_t at)
{
	expect(KU_STEER_NONE);
	ck_assert_int_eq(wake, at);
	now = at;
}

/* Advance the clock to "at", and check that there is nothing to do before
   that. */
static inline void pass_to(int64_t at)
{
	expect(KU_STEER_NONE);
	while (wake < at) {
		now = wake;
		expect(KU_STEER_NONE);
	}
	now = at;
}

/* The server has not answered for so long that all servers are probed. */
static inline void miss_an_answer(void)
{
	ku_steer_heartbeat(&s, now);
	now += T / 16;
	expect(KU_STEER_PROBE);
}

/* The connection breaks, and all servers are probed. */
static inline void disconnect(void)
{
	ku_steer_disconnected(&s, now);
	expect(KU_STEER_RESOLVE);
	expect(KU_STEER_PROBE);
}

static inline void three_servers(void)
{
	ku_random_seed(&rnd, 5);
	ku_steer_init(&s, &rnd);
	ku_steer_timeout(&s, T);
	ku_steer_addresses(&s, 3, true, -1);
	now = 1000 * T;
	ku_steer_opened(&s, now);
	ku_steer_connected(&s, 0);
}

#endif
