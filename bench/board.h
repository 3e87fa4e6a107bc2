/*
 * board.h - the memory that all processes of a run share: what they are to do, and
 * what they have measured.  It outlives a process that is killed.
 */
#ifndef BENCH_BOARD_H
#define BENCH_BOARD_H

#include "bench.h"
#include "fairness.h"
#include "histogram.h"

#include <stdatomic.h>

#define BOARD_SLICES 100 /* of the time that is counted */
#define BOARD_KILLS 1000
#define BOARD_DOUBTS 100000

/* What one thread has measured.  No other thread writes it. */
struct board_worker {
	struct histogram wait, hold;
	struct pace pace;
	bool paced;		  /* that has begun */
	uint64_t lost;		  /* holds that were lost before they ended */
	uint64_t missed;	  /* starts that were due, and never made */
	_Atomic int64_t since_ns; /* it waits since then; 0: does not wait */
	int64_t still_ns;	  /* it waited so long at the end; or 0 */
	_Atomic uint32_t grants;  /* that were counted */

	/* While it is inside: which doubts were raised between its coming and
	   its going; and the one that it has raised itself, or -1. */
	int first_doubt, last_doubt, own_doubt;
	uint32_t others_needed; /* for its own doubt to be right */
};

/* A doubt: somebody came in while too many others were inside.  Whether that
   was wrong turns out only when these leave: a process that was paused stays
   inside until it knows that it has lost what it had, and by then its successor
   holds that rightfully. */
struct board_doubt {
	_Atomic uint32_t writers, readers; /* that left, and held it still */
	_Atomic uint32_t needed;	   /* 0: the newcomer had lost it */
	bool readers_count;
};

/* Of one process, which writes it at the end. */
struct board_process {
	uint64_t requests; /* sent in the time that is counted */
	int64_t cpu_ns;
	bool told;
	atomic_bool killed; /* as planned */
};

struct board {
	/* What is counted: grants from "begin_ns" to "end_ns", of
	   CLOCK_MONOTONIC; INT64_MAX until it is known. */
	_Atomic int64_t begin_ns, end_ns;
	int64_t slice_ns;
	atomic_bool stop;
	atomic_int err; /* the first failure */

	/* How many writers and readers are inside, and how many doubts there
	   were: in one word, so that all who are inside when a doubt is raised
	   know of it. */
	_Atomic uint64_t inside;
	struct board_doubt doubts[BOARD_DOUBTS]; /* later ones are not kept */
	struct fairness_turns turns;
	_Atomic uint32_t slices[BOARD_SLICES];

	/* Holders that are to be killed, and the grants that follow. */
	atomic_bool kill;
	atomic_int killed;	   /* how many were */
	_Atomic int64_t killed_ns; /* a kill that no grant has followed; or 0 */
	atomic_int taken_over;
	int64_t take_overs_ns[BOARD_KILLS];

	struct board_process *processes;
	struct board_worker workers[];
};

/* Make one, all zero but for the times.  NULL if memory is short. */
struct board *board_make(const struct bench_plan *plan);
void board_free(struct board *board, const struct bench_plan *plan);

/* "client" has been granted what it waited for since "since_ns": look who else
   is inside, and count the grant.  A client that began to wait before the end,
   and is granted after it, was still waiting at the end.  Returns whether the
   run counts the grant. */
bool board_granted(struct board *board, const struct bench_plan *plan,
	int client, struct board_worker *worker, int64_t since_ns,
	int64_t now_ns);

/* The worker gives back what it was granted, or knows that it has lost it. */
void board_given(struct board *board, struct board_worker *worker, bool reads);

/* What the worker was granted is still its own.  To be called after each of
   those two functions, if that is so then. */
void board_held(struct board *board, const struct board_worker *worker,
	bool reads);

/* Return how often too many held at the same time, for certain.  Counted are
   only those who have left. */
uint64_t board_overlaps(const struct board *board);

/* Return how long the worker had been waiting at the end of the run, 0 if it
   was not waiting. */
int64_t board_waited_ns(const struct board_worker *worker, int64_t end_ns);

/* Remember the first failure, and have all stop. */
void board_fail(struct board *board, enum kustos_err err);

#endif
