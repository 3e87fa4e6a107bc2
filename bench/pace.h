/*
 * pace.h - when a worker asks, and how long it keeps what it gets.  Pure.
 *
 * In a closed loop a worker asks again when it has thought for a while, so that
 * a worker that is served slowly asks rarely.  In an open loop it asks at times
 * that were drawn beforehand, as independent users would (Poisson), and a wait
 * counts from that time, also if the worker was busy with the one before: a
 * server that stalls makes all of them wait, and the figures have to show that.
 */
#ifndef BENCH_PACE_H
#define BENCH_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* From "least" to "most", each as likely. */
struct pace_span {
	int64_t least_ns, most_ns;
};

struct pace {
	unsigned short state[3]; /* of erand48() */
	double mean_ns;		 /* between two starts; 0: a closed loop */
	int64_t next_ns;	 /* of an open loop */
	struct pace_span think;
};

/* Begin at "now_ns".  "per_second" starts; 0: a closed loop.  The same seed and
   number of the worker give the same times. */
void pace_init(struct pace *p, uint64_t seed, uint32_t worker, int64_t now_ns,
	double per_second, struct pace_span think);

/* Return when the next start is due: in an open loop perhaps a time that is
   long past; in a closed loop after "now_ns". */
int64_t pace_next(struct pace *p, int64_t now_ns);

/* Return how many more starts of an open loop were due before "end_ns". */
uint64_t pace_missed(struct pace *p, int64_t end_ns);

/* Return a number in the span. */
int64_t pace_draw(struct pace *p, struct pace_span span);

#endif
