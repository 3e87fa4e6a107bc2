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

/* Of one thread, which alone writes it. */
struct board_worker {
	struct histogram wait, hold;
	struct pace pace;
	bool paced;		  /* that has begun */
	uint64_t lost;		  /* holds that were over before they ended */
	uint64_t missed;	  /* starts that were due, and never made */
	_Atomic int64_t since_ns; /* it waits since then; 0: it does not */
	int64_t still_ns;	  /* it waited so long at the end; or 0 */
	_Atomic uint32_t grants;  /* that were counted */

	/* While it is inside: the doubts that were raised between its coming
	   and its going, and its own; or -1. */
	int first_doubt, last_doubt, own_doubt;
	uint32_t others_needed; /* for that to be right */
};

/* Somebody came in beside too many.  Whether that was wrong turns out when they
   leave: a process that was paused is inside until it knows that it has lost
   what it had, and its successor has it by right. */
struct board_doubt {
	_Atomic uint32_t writers, readers; /* who left, and held it still */
	_Atomic uint32_t needed;	   /* 0: who came in had lost it too */
	bool readers_count;
};

/* Of one process, which tells at the end. */
struct board_process {
	uint64_t requests; /* sent while it was counted */
	int64_t cpu_ns;
	bool told;
	atomic_bool killed; /* as it was to be */
};

struct board {
	/* What is counted: grants from "begin_ns" to "end_ns", of
	   CLOCK_MONOTONIC; INT64_MAX until it is known. */
	_Atomic int64_t begin_ns, end_ns;
	int64_t slice_ns;
	atomic_bool stop;
	atomic_int err; /* the first failure */

	/* In one word, so that who is inside when a doubt is raised knows it:
	   writers, readers, and how many doubts there were. */
	_Atomic uint64_t inside;
	struct board_doubt doubts[BOARD_DOUBTS]; /* later ones are not kept */
	struct fairness_turns turns;
	_Atomic uint32_t slices[BOARD_SLICES];

	/* A holder that is to be killed, and the grant that follows. */
	atomic_bool kill;
	atomic_int killed;	   /* so many were; */
	_Atomic int64_t killed_ns; /* since when nobody has followed; or 0 */
	atomic_int taken_over;
	int64_t take_overs_ns[BOARD_KILLS];

	struct board_process *processes;
	struct board_worker workers[];
};

/* Make one, all zero but for the times.  NULL if memory is short. */
struct board *board_make(const struct bench_plan *plan);
void board_free(struct board *board, const struct bench_plan *plan);

/* "client" has been granted what it waited for since "since_ns": look who else is
   inside, and count.  Who began to wait before the end and is granted after it was
   one who waited then.  Returns whether the run counts it. */
bool board_granted(struct board *board, const struct bench_plan *plan,
	int client, struct board_worker *worker, int64_t since_ns,
	int64_t now_ns);

/* It gives that back, or knows that it has lost it. */
void board_given(struct board *board, struct board_worker *worker, bool reads);

/* What it was granted is still its own.  To be called after each of those two, if
   that is so then. */
void board_held(struct board *board, const struct board_worker *worker,
	bool reads);

/* Return how often too many held it at the same time, beyond doubt.  Of those who
   have left. */
uint64_t board_overlaps(const struct board *board);

/* Return for how long that one waited at the end of the run, 0 if it did not. */
int64_t board_waited_ns(const struct board_worker *worker, int64_t end_ns);

/* Remember the first failure, and have all stop. */
void board_fail(struct board *board, enum kustos_err err);

#endif
