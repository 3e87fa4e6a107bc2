/*
 * bench.h - what is to be measured: the options of kustos bench.
 */
#ifndef BENCH_H
#define BENCH_H

#include "lock.h"
#include "pace.h"
#include "tool.h"

#include <sys/types.h>

#define BENCH_STEPS 16	/* numbers of clients, one after the other */
#define BENCH_SERVERS 9 /* whose processes may be named */

struct bench_options {
	struct tool tool;
	const char *path; /* below which there is a node for each run */
	const char *recipe;
	struct lock_form form; /* of a read/write lock: that of a writer */
	int clients[BENCH_STEPS];
	int steps;
	int threads;
	int processes; /* 0: one; if holders are killed, one per client */
	int readers;   /* -1: half of them */
	struct pace_span hold, think;
	double rate; /* starts a second, of all; 0: a closed loop */
	int64_t duration_ms, warm_up_ms;
	uint64_t seed;
	int kills; /* of holders */
	pid_t servers[BENCH_SERVERS];
	int server_count;
	bool csv;
	const char *plot; /* a file; "-": standard output; or NULL */
};

/* One run: one number of clients. */
struct bench_plan {
	const struct bench_options *options;
	char site[128]; /* the node of this run */
	char path[136]; /* what is contended for, below it */
	int clients, processes, readers;
	int workers; /* threads of all clients */
	int leases;
};

extern const char bench_help[];
extern const char bench_codes[];

/* Parse the command line.  Returns false if the program is to end now, with
   "tool.exit_code". */
bool bench_parse(struct bench_options *o, int argc, char **argv);

/* Fill in the plan of the run with that number. */
void bench_plan(const struct bench_options *o, int step,
	struct bench_plan *plan);

/* Return whether no two may hold at the same time; and, as the last of these,
   whether "client" reads. */
bool bench_is_exclusive(const struct bench_plan *plan);
bool bench_has_items(const struct bench_options *o);	/* a queue's */
bool bench_takes_leases(const struct bench_options *o); /* for --leases */
bool bench_meets(const struct bench_options *o);	/* nobody is kept out */
bool bench_reads(const struct bench_plan *plan, int client);

#endif
