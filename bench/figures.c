/*
 * figures.c - what a run has measured, added up.
 */
#include "figures.h"

#include <stdlib.h>

const double figures_percents[FIGURES_PERCENTS] = { 50, 90, 99, 99.9, 100 };

/* Add one thread. */
static void add(struct figures_part *part, const struct board_worker *w,
	int64_t end_ns)
{
	int64_t still = board_waited_ns(w, end_ns);

	part->grants += w->grants;
	histogram_merge(&part->wait, &w->wait);
	histogram_merge(&part->hold, &w->hold);
	if (still > part->longest_ns)
		part->longest_ns = still;
	if (w->wait.max > part->longest_ns)
		part->longest_ns = w->wait.max;
}

static void add_workers(struct figures *f, const struct board *board,
	int64_t end_ns)
{
	const struct bench_plan *plan = &f->plan;

	for (int i = 0; i < plan->workers; i++) {
		const struct board_worker *w = &board->workers[i];
		int client = i / plan->options->threads;

		add(&f->all, w, end_ns);
		add(&f->parts[client], w, end_ns);
		add(bench_reads(plan, client) ? &f->readers : &f->writers, w,
			end_ns);
		f->lost += w->lost;
		f->waiting += w->missed + (board_waited_ns(w, end_ns) > 0);
	}
}

static void add_processes(struct figures *f, const struct board *board)
{
	double requests = 0, cpu_ns = 0;
	bool told = true;

	for (int i = 0; i < f->plan.processes; i++) {
		const struct board_process *p = &board->processes[i];

		requests += (double)p->requests;
		cpu_ns += (double)p->cpu_ns;
		told = told && p->told;
	}
	f->client_requests = told ? requests : -1;
	f->client_cpu_s = told ? cpu_ns / 1e9 : -1;
}

/* Return Jain's index, or -1 if memory is short. */
static double jain(const struct figures *f, const struct board *board)
{
	bool one = f->plan.clients == 1;
	int n = one ? f->plan.workers : f->plan.clients;
	double *shares = calloc((size_t)n, sizeof(*shares)), index = -1;

	for (int i = 0; shares != NULL && i < n; i++)
		shares[i] = one ? (double)board->workers[i].grants
				: (double)f->parts[i].grants;
	if (shares != NULL)
		index = fairness_jain(shares, (size_t)n);
	free(shares);
	return index;
}

struct figures *figures_make(const struct bench_plan *plan,
	const struct board *board, int64_t end_ns)
{
	struct figures *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->plan = *plan;
	f->parts = calloc((size_t)plan->clients, sizeof(*f->parts));
	if (f->parts == NULL) {
		free(f);
		return NULL;
	}
	f->seconds = (double)(end_ns - board->begin_ns) / 1e9;
	add_workers(f, board, end_ns);
	add_processes(f, board);
	f->jain = jain(f, board);
	f->streak = board->turns.longest;
	f->overlaps = board_overlaps(board);
	f->server_requests = f->server_bytes = f->server_cpu_s = -1;
	f->killed = board->killed;
	f->taken_over = board->taken_over;
	for (int i = 0; i < f->taken_over && i < BOARD_KILLS; i++)
		f->take_overs_s[i] = (double)board->take_overs_ns[i] / 1e9;
	for (int i = 0; i < BOARD_SLICES; i++)
		f->slices[i] = board->slices[i];
	return f;
}

void figures_free(struct figures *f)
{
	if (f != NULL)
		free(f->parts);
	free(f);
}

double figures_per_grant(const struct figures *f, double sum)
{
	return f->all.grants > 0 && sum >= 0 ? sum / (double)f->all.grants : -1;
}
