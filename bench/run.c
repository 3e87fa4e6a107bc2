/*
 * run.c - one run.
 *
 * This process has no client and no thread, so that it can fork at any time: a
 * process that is killed while it holds is replaced by another.
 */
#include "run.h"

#include "clocks.h"
#include "mntr.h"
#include "progress.h"
#include "site.h"
#include "worker.h"

#include "support/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_MS 20
#define END_MS INT64_C(60000)

struct run {
	const struct bench_plan *plan;
	struct board *board;
	struct signals *signals;
	struct worker_process *processes;
	struct child *children;
	int count; /* of those that were started */
	int kills; /* that were asked for */
	int code;  /* TOOL_OK, as long as all is well */
	struct mntr before, after;
	char why_not[128]; /* why the servers' counters are unknown; or "" */
	double server_cpu_s;
};

static bool goes_on(const struct run *r)
{
	return r->code == TOOL_OK && !r->board->stop;
}

static void start_process(struct run *r, int i)
{
	r->processes[i] = (struct worker_process){ r->plan, r->board, i };
	if (child_start(&r->children[i], worker_run, &r->processes[i]) < 0) {
		tool_say("cannot start a process");
		r->code = TOOL_FAILED;
	}
}

/* Wait until it is connected. */
static void await_ready(struct run *r, int i)
{
	const struct tool *tool = &r->plan->options->tool;
	int64_t end = clocks_now_ns() +
		(tool->session_ms + END_MS) * INT64_C(1000000);
	char line[16];

	while (goes_on(r)) {
		int sig = signals_obey(r->signals);

		if (child_hear(r->children[i].fd, line, sizeof(line),
			    LOOK_MS) == 0)
			return;
		if (sig != 0)
			r->code = TOOL_SIGNAL + sig;
		int code = child_wait(&r->children[i], -1);
		if (code >= 0) /* it has said why */
			r->code = code != 0 ? code : TOOL_FAILED;
		else if (clocks_now_ns() > end)
			r->code = tool_unreachable(tool);
	}
}

static void start_all(struct run *r)
{
	for (; r->count < r->plan->processes && r->code == TOOL_OK; r->count++)
		start_process(r, r->count);
	r->count -= r->code != TOOL_OK;
	for (int i = 0; i < r->count && goes_on(r); i++)
		await_ready(r, i);
}

static void tell_all(struct run *r, const char *line)
{
	for (int i = 0; i < r->count; i++)
		if (r->children[i].pid > 0)
			(void)child_say(r->children[i].fd, line);
}

/* --- While it runs ------------------------------------------------------- */

/* Remember that a process has failed.  If it has died of a signal print that,
   as it could not do so itself. */
static void has_failed(struct run *r, int code)
{
	if (code > TOOL_SIGNAL)
		tool_say("a process has died of signal %d", code - TOOL_SIGNAL);
	if (r->code == TOOL_OK)
		r->code = code > 0 && code < TOOL_SIGNAL ? code : TOOL_FAILED;
}

/* Was it killed as planned, while it held? */
static bool was_killed(const struct run *r, int i, int code)
{
	return code == TOOL_SIGNAL + SIGKILL && r->board->processes[i].killed;
}

/* Replace the processes that were killed as planned.  If one has ended in
   another way the run is over. */
static void look_after(struct run *r)
{
	for (int i = 0; i < r->count; i++) {
		int code = child_wait(&r->children[i], -1);

		if (code < 0)
			continue;
		child_end(&r->children[i]);
		if (!was_killed(r, i, code)) {
			has_failed(r, code);
			continue;
		}
		r->board->processes[i] = (struct board_process){ 0 };
		start_process(r, i);
	}
}

/* Have holders killed, evenly spread over the time. */
static void kill_in_time(struct run *r, int64_t begin_ns)
{
	const struct bench_options *o = r->plan->options;
	int64_t passed_ms = (clocks_now_ns() - begin_ns) / 1000000;

	if (r->kills < o->kills &&
		passed_ms >= o->duration_ms * r->kills / o->kills &&
		r->board->killed_ns == 0) {
		r->kills++;
		r->board->kill = true;
	}
}

/* Watch until "until_ns", or until something is wrong. */
static void watch(struct run *r, int64_t until_ns, bool counts)
{
	int64_t begin_ns = clocks_now_ns(), left_ns;

	while (goes_on(r) && (left_ns = until_ns - clocks_now_ns()) > 0) {
		int ms = (int)(left_ns / 1000000);
		int sig = signals_wait(r->signals, ms < LOOK_MS ? ms : LOOK_MS);

		if (sig != 0)
			r->code = TOOL_SIGNAL + sig;
		look_after(r);
		if (counts)
			kill_in_time(r, begin_ns);
		progress_show(r->plan, r->board);
	}
}

/* --- What is counted ----------------------------------------------------- */

static double server_cpu_s(const struct bench_options *o)
{
	double sum = 0;

	for (int i = 0; i < o->server_count; i++) {
		struct timespec t;
		clockid_t clock;

		if (clock_getcpuclockid(o->servers[i], &clock) != 0 ||
			clock_gettime(clock, &t) != 0)
			return -1;
		sum += (double)t.tv_sec + (double)t.tv_nsec / 1e9;
	}
	return o->server_count > 0 ? sum : -1;
}

static void ask_servers(struct run *r, struct mntr *out)
{
	if (*r->why_not == '\0' &&
		mntr_ask(r->plan->options->tool.hosts, out, r->why_not,
			sizeof(r->why_not)))
		*r->why_not = '\0';
}

static void count(struct run *r)
{
	struct board *board = r->board;
	int64_t begin_ns, ns = r->plan->options->duration_ms * 1000000;
	double before;

	ask_servers(r, &r->before);
	before = server_cpu_s(r->plan->options);
	tell_all(r, "begin");
	begin_ns = clocks_now_ns();
	atomic_store(&board->end_ns, begin_ns + ns);
	atomic_store(&board->begin_ns, begin_ns);
	watch(r, begin_ns + ns, true);
	atomic_store(&board->kill, false);
	if (clocks_now_ns() < begin_ns + ns)
		atomic_store(&board->end_ns, clocks_now_ns());
	tell_all(r, "end");
	r->server_cpu_s = server_cpu_s(r->plan->options);
	if (before >= 0 && r->server_cpu_s >= 0)
		r->server_cpu_s -= before;
	ask_servers(r, &r->after);
}

/* As child_wait(), but only until "*until_ns"; a signal puts that into the
   past. */
static int await_end(struct run *r, struct child *child, int64_t *until_ns)
{
	for (;;) {
		int code = child_wait(child, -1), sig;

		if (code >= 0 || clocks_now_ns() > *until_ns)
			return code;
		sig = signals_wait(r->signals, LOOK_MS);
		if (sig == 0)
			continue;
		r->code = TOOL_SIGNAL + sig;
		*until_ns = 0;
	}
}

static void stop_all(struct run *r)
{
	int64_t until_ns = clocks_now_ns() + END_MS * INT64_C(1000000);

	atomic_store(&r->board->stop, true);
	tell_all(r, "stop");
	for (int i = 0; i < r->count; i++) {
		int code = r->children[i].pid > 0
			? await_end(r, &r->children[i], &until_ns)
			: 0;

		if (code < 0)
			tool_say("a process did not end, and was killed");
		if (code != 0 && !was_killed(r, i, code))
			has_failed(r, code);
		child_end(&r->children[i]);
	}
	progress_clear();
}

/* --- Its end ------------------------------------------------------------- */

static struct figures *sum_up(struct run *r)
{
	struct figures *f;
	uint64_t grants;

	if (r->board->begin_ns == INT64_MAX)
		return NULL;
	f = figures_make(r->plan, r->board, r->board->end_ns);
	if (f == NULL)
		return NULL;
	grants = f->all.grants;
	snprintf(f->why_not, sizeof(f->why_not), "%s", r->why_not);
	f->server_cpu_s = r->server_cpu_s;
	if (*r->why_not == '\0' && grants > 0) {
		f->server_requests = (double)(r->after.packets -
			r->before.packets);
		if (r->after.bytes >= 0 && r->before.bytes >= 0)
			f->server_bytes = (double)(r->after.bytes -
				r->before.bytes);
	}
	return f;
}

/* A broken promise of the recipe decides the exit code, whatever else went
   wrong: also if the run failed or was ended early, and if that was not in the
   time that is counted. */
static void judge(struct run *r)
{
	if (board_overlaps(r->board) == 0)
		return;
	tool_say("two held at the same time that must not");
	r->code = TOOL_LOST;
}

static void contend(struct run *r, struct figures **out)
{
	const struct bench_options *o = r->plan->options;

	start_all(r);
	watch(r, clocks_now_ns() + o->warm_up_ms * 1000000, false);
	if (goes_on(r))
		count(r);
	stop_all(r);
	if (r->board->err != KUSTOS_OK)
		r->code = tool_failed(&o->tool, "cannot have", r->plan->path,
			(enum kustos_err)r->board->err);
	else
		*out = sum_up(r);
	if (*out == NULL && r->code == TOOL_OK) {
		tool_say("out of memory");
		r->code = TOOL_FAILED;
	}
	judge(r);
}

int run_plan(const struct bench_plan *plan, struct signals *signals,
	struct figures **out)
{
	size_t count = (size_t)plan->processes;
	struct run r = { .plan = plan, .signals = signals };
	int sig;

	*out = NULL;
	r.code = site_prepare(plan, signals);
	if (r.code != TOOL_OK)
		return r.code;
	r.board = board_make(plan);
	r.processes = calloc(count, sizeof(*r.processes));
	r.children = calloc(count, sizeof(*r.children));
	if (r.board == NULL || r.processes == NULL || r.children == NULL) {
		tool_say("out of memory");
		r.code = TOOL_FAILED;
	} else {
		contend(&r, out);
	}
	sig = site_clear(plan, signals);
	if (sig != 0 && r.code == TOOL_OK)
		r.code = TOOL_SIGNAL + sig;
	free(r.children);
	free(r.processes);
	board_free(r.board, plan);
	return r.code;
}
