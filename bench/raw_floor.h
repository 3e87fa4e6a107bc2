/*
 * raw_floor.h - what the styles of raw_floor.c have in common.
 */
#ifndef BENCH_RAW_FLOOR_H
#define BENCH_RAW_FLOOR_H

#include "driver.h"
#include "raw_link.h"

#define FLOOR_LINKS 64 /* at most */

struct floor {
	const struct driver_run *run;
	struct driver_result *result;
	struct link *links; /* of each session */
};

/* A style: measure it.  Returns 0, or -1 if the server did not do as it was asked. */
typedef int floor_fn(struct floor *f);

/* As driver_repeat(). */
int floor_repeat(struct floor *f, int (*once)(void *arg), void *arg);

/* Locks, one client: raw_alone.c. */
floor_fn floor_one, floor_two, floor_bare, floor_pair;

/* Lines: raw_line.c. */
floor_fn floor_line, floor_careful, floor_leases;

/* Clients that wait for each other: raw_meet.c. */
floor_fn floor_gate, floor_step, floor_count;

/* Queues: raw_items.c and raw_crowd.c. */
floor_fn floor_deeds, floor_drain, floor_single, floor_framed, floor_bulk,
	floor_claim, floor_crowd;

#endif
