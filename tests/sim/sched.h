/*
 * sched.h - virtual time: one queue of events, run one at a time.
 *
 * An event belongs to a client, or to nobody (the servers, the network, the
 * faults).  The events of a paused client are held back until it goes on, while
 * the clock and everybody else's events run.  Two events of the same instant
 * run in the order in which they were added.
 *
 * A client may also stall within an event, whenever it reads its clock.  For
 * this client time has then passed, and the rest of its event happens later.
 * For all others that time is yet to come: they go on from when the event
 * began, and the client is paused meanwhile.
 */
#ifndef SIM_SCHED_H
#define SIM_SCHED_H

#include "clock.h"

#include <stdbool.h>

#define SCHED_NOBODY (-1)

typedef void sched_fn(void *arg, uint64_t tag);

struct sched_event {
	int64_t at_ns;
	uint64_t order;
	sched_fn *fn;
	void *arg;
	uint64_t tag; /* passed to "fn"; often a generation to compare */
	int client;
};

struct sched_lane { /* of one client */
	bool paused;
	uint64_t pause; /* counts pauses, so that only the last resume acts */
	int64_t ahead;	/* it has seen that time: do not resume it earlier */
	struct sched_event *held;
	size_t held_count, held_room;
};

struct sched {
	int64_t now_ns;
	uint64_t order;
	struct sched_event *heap;
	size_t count, room;
	struct sched_lane *lanes;
	int lane_count;
	int ran;	  /* the client whose event ran last */
	bool running;	  /* it runs now; "now_ns" is the time it sees */
	int64_t began_ns; /* when the last event began */
	int64_t (*stall)(void *arg);
	void *stall_arg;
	struct ku_clock clock; /* tells "now_ns" */
};

void sched_init(struct sched *sched, int clients);
void sched_free(struct sched *sched);

/* Have "fn" run at "at_ns", or now if that has passed. */
void sched_add(struct sched *sched, int client, int64_t at_ns, sched_fn *fn,
	void *arg, uint64_t tag);

/* Run the next event.  Returns false if there is none. */
bool sched_run(struct sched *sched);

/* Hold back a client's events until "until_ns". */
void sched_pause(struct sched *sched, int client, int64_t until_ns);

/* Let a client go on at once, or as soon as its time is not ahead of the
   others'. */
void sched_resume(struct sched *sched, int client);

/* Whenever a client reads its clock, call "stall" for the time that the client
   stalls, in ns.  NULL: clients never stall. */
void sched_set_stall(struct sched *sched, int64_t (*stall)(void *arg),
	void *arg);

/* A stream of random numbers that its seed repeats. */
struct sim_random {
	uint64_t state;
};

static inline uint64_t sim_random_next(struct sim_random *r)
{
	uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Return a number in [0, bound); "bound" is small, so bias does not matter. */
static inline uint64_t sim_random_below(struct sim_random *r, uint64_t bound)
{
	return bound == 0 ? 0 : sim_random_next(r) % bound;
}

static inline int64_t sim_random_between(struct sim_random *r, int64_t low,
	int64_t high)
{
	return low + (int64_t)sim_random_below(r, (uint64_t)(high - low) + 1);
}

/* Return true "ppm" times in a million. */
static inline bool sim_random_ppm(struct sim_random *r, unsigned ppm)
{
	return ppm != 0 && sim_random_below(r, 1000000) < ppm;
}

/* Seed stream number "stream" of "seed"; streams do not disturb each other. */
void sim_random_seed(struct sim_random *r, uint64_t seed, uint64_t stream);

/* Like calloc and realloc, but without memory the program ends. */
void *sim_calloc(size_t count, size_t size);
void *sim_realloc(void *memory, size_t size);

/* Return "items" with room for item number "index", and set "*room" to how many
   fit. */
void *sim_room(void *items, int index, int *room, size_t size);

#endif
