/*
 * plan.c - what follows from the options for one run.
 */
#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void bench_plan(const struct bench_options *o, int step,
	struct bench_plan *plan)
{
	struct timespec t;
	int n = o->clients[step];

	memset(plan, 0, sizeof(*plan));
	plan->options = o;
	plan->clients = n;
	plan->workers = n * o->threads;
	plan->processes = o->processes > 0 ? o->processes
		: o->kills > 0		   ? n
					   : 1;
	if (o->form.kind == LOCK_WRITE)
		plan->readers = o->readers >= 0 ? o->readers : n / 2;
	plan->leases = o->form.leases > 0	 ? o->form.leases
		: o->form.kind == LOCK_SEMAPHORE ? LOCK_LEASES
						 : plan->workers;
	/* A name that nobody else uses, whatever was left there. */
	clock_gettime(CLOCK_REALTIME, &t);
	snprintf(plan->site, sizeof(plan->site), "%s/%s-%d-%lld",
		strcmp(o->path, "/") == 0 ? "" : o->path, o->recipe,
		(int)getpid(),
		(long long)t.tv_sec * 1000 + t.tv_nsec / 1000000);
	snprintf(plan->path, sizeof(plan->path), "%s/x", plan->site);
}

bool bench_has_items(const struct bench_options *o)
{
	return o->form.kind == LOCK_QUEUE || o->form.kind == LOCK_CLAIM;
}

bool bench_takes_leases(const struct bench_options *o)
{
	return o->form.kind == LOCK_SEMAPHORE || bench_has_items(o);
}

bool bench_meets(const struct bench_options *o)
{
	return o->form.kind == LOCK_BARRIER || o->form.kind == LOCK_COUNTDOWN;
}

bool bench_is_exclusive(const struct bench_plan *plan)
{
	enum lock_kind kind = plan->options->form.kind;

	return !bench_has_items(plan->options) && !bench_meets(plan->options) &&
		(kind != LOCK_SEMAPHORE || plan->leases == 1) &&
		plan->readers == 0;
}

bool bench_reads(const struct bench_plan *plan, int client)
{
	return client < plan->readers;
}
