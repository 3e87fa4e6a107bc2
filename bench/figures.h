/*
 * figures.h - what a run has measured, added up.
 */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include "board.h"

/* The figures of one client, of those who read, or of all. */
struct figures_part {
	uint64_t grants;
	struct histogram wait, hold;
	int64_t longest_ns; /* wait, of those who wait still as well */
};

struct figures {
	struct bench_plan plan;
	double seconds; /* that were counted */
	struct figures_part all, readers, writers;
	struct figures_part *parts; /* of each client */
	double jain;		    /* of the clients; of one: of its threads */
	uint32_t streak;	    /* most turns in a row of one of them */
	uint64_t lost, overlaps;
	uint64_t waiting;		      /* at the end, or never begun */
	double server_requests, server_bytes; /* -1: not known */
	double client_requests;		      /* the same */
	double server_cpu_s, client_cpu_s;    /* the same */
	char why_not[128]; /* why the server's counters are unknown */
	int killed, taken_over;
	double take_overs_s[BOARD_KILLS];
	uint32_t slices[BOARD_SLICES]; /* grants over time */
};

/* Add up what the workers have measured; what the servers say is not known yet.
   Returns NULL if memory is short. */
struct figures *figures_make(const struct bench_plan *plan,
	const struct board *board, int64_t end_ns);
void figures_free(struct figures *f);

/* The percentiles that are printed. */
#define FIGURES_PERCENTS 5
extern const double figures_percents[FIGURES_PERCENTS];

/* Return what part of "sum" each grant has cost; -1 if there was no grant, or
   "sum" is not known. */
double figures_per_grant(const struct figures *f, double sum);

#endif
