/*
 * worker.h - a process that contends: clients, and threads that take and give.
 *
 * It says "ready" when it is connected.  Then it is sent lines: when the time
 * that is counted begins ("begin") and ends ("end"), and when to stop ("stop"),
 * as the board says then.
 */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include "board.h"

struct worker_process {
	const struct bench_plan *plan;
	struct board *board;
	int number; /* it has the clients number, number + processes, ... */
};

/* Run the process; "fd" is its side of a socket (support/child.h).  Returns an
   exit code, having printed what is wrong. */
int worker_run(int fd, void *process);

#endif
