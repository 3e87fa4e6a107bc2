/*
 * worker.c - a process that contends.
 */
#include "worker.h"

#include "clocks.h"

#include "support/child.h"

#include <kustos/cancel.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 50000000 /* how often a napping thread looks up */
#define HEAR_MS 60000

struct crowd;

struct thread {
	struct crowd *crowd;
	int client;
	struct board_worker *figures;
	struct lock lock;
	pthread_t id;
	bool runs;
};

struct crowd {
	const struct bench_plan *plan;
	struct board *board;
	struct board_process *figures;
	struct kustos_cancel *stop;
	struct kustos_client **clients;
	struct thread *threads;
	int client_count, thread_count;
};

/* --- A thread ------------------------------------------------------------ */

static void sleep_until(int64_t at_ns)
{
	struct timespec t = { at_ns / 1000000000, at_ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Sleep until "at_ns", or until all is to stop, or "held" (which may be NULL)
   has been lost. */
static void nap_until(const struct board *board, const struct lock *held,
	int64_t at_ns)
{
	int64_t now = clocks_now_ns();

	for (; now < at_ns && !board->stop && (!held || lock_held(held));
		now = clocks_now_ns())
		sleep_until(at_ns - now < STEP_NS ? at_ns : now + STEP_NS);
}

/* Leave the board.  Returns whether the lock was held until then. */
static bool leave(struct thread *t)
{
	struct board *board = t->crowd->board;
	bool reads = bench_reads(t->crowd->plan, t->client), held;

	board_given(board, t->figures, reads);
	held = lock_held(&t->lock);
	if (held)
		board_held(board, t->figures, reads);
	return held;
}

/* If a holder is to be killed, die: what this process holds is not given
   back, and nobody is told. */
static void die_if_told(struct thread *t, int64_t now_ns)
{
	struct board *board = t->crowd->board;
	bool told = true;

	if (!atomic_load(&board->kill) ||
		bench_reads(t->crowd->plan, t->client) ||
		!atomic_compare_exchange_strong(&board->kill, &told, false))
		return;
	(void)leave(t);
	atomic_store(&t->crowd->figures->killed, true);
	atomic_fetch_add(&board->killed, 1);
	atomic_store(&board->killed_ns, now_ns);
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

static enum kustos_err hold(struct thread *t, int64_t since_ns)
{
	const struct bench_plan *plan = t->crowd->plan;
	struct board *board = t->crowd->board;
	int64_t now = clocks_now_ns();
	bool counts = board_granted(board, plan, t->client, t->figures,
		since_ns, now);

	if (lock_held(&t->lock))
		board_held(board, t->figures, bench_reads(plan, t->client));
	die_if_told(t, now);
	if (plan->options->hold.most_ns > 0)
		nap_until(board, &t->lock,
			now + pace_draw(&t->figures->pace, plan->options->hold));
	/* A hold that was lost, or cut short by the end of the run, says
	   nothing of how long holds are. */
	if (leave(t) && counts && !board->stop)
		histogram_add(&t->figures->hold, clocks_now_ns() - now);
	return lock_give(&t->lock);
}

static bool take_turn(struct thread *t)
{
	struct board *board = t->crowd->board;
	bool open = t->crowd->plan->options->rate > 0;
	int64_t since = pace_next(&t->figures->pace, clocks_now_ns());
	enum kustos_err err;

	nap_until(board, NULL, since);
	if (board->stop) {
		t->figures->missed += open && since < board->end_ns;
		return false;
	}
	/* If the nap took too long, that must not count as waiting for the
	   lock. */
	if (!open)
		since = clocks_now_ns();
	atomic_store(&t->figures->since_ns, since);
	err = lock_take(&t->lock, t->crowd->stop);
	if (err == KUSTOS_OK)
		err = hold(t, since);
	if (err == KUSTOS_ELOST)
		t->figures->lost++;
	else if (err != KUSTOS_OK && err != KUSTOS_ECANCELED)
		board_fail(board, err);
	return err == KUSTOS_OK || err == KUSTOS_ELOST;
}

static void *contend(void *arg)
{
	struct thread *t = arg;
	const struct bench_plan *plan = t->crowd->plan;
	const struct bench_options *o = plan->options;
	struct board *board = t->crowd->board;

	/* The replacement of a process that was killed goes on where that
	   was. */
	if (!t->figures->paced)
		pace_init(&t->figures->pace, o->seed,
			(uint32_t)(t->figures - board->workers),
			clocks_now_ns(), o->rate / plan->workers, o->think);
	t->figures->paced = true;
	while (take_turn(t))
		;
	t->figures->missed += pace_missed(&t->figures->pace, board->end_ns);
	return NULL;
}

/* --- All of them --------------------------------------------------------- */

static bool start(struct thread *t)
{
	t->runs = pthread_create(&t->id, NULL, contend, t) == 0;
	if (!t->runs)
		board_fail(t->crowd->board, KUSTOS_ENOMEM);
	return t->runs;
}

/* The threads of one client share one object, as they do in a program. */
static enum kustos_err make_lock(struct crowd *c, int i)
{
	struct thread *t = &c->threads[i];
	struct lock_form form = c->plan->options->form;
	int per_client = c->plan->options->threads;
	enum kustos_err err;

	if (i % per_client != 0) {
		t->lock = c->threads[i - i % per_client].lock;
		t->lock.number += i % per_client;
		return KUSTOS_OK;
	}
	if (bench_reads(c->plan, t->client))
		form.kind = LOCK_READ;
	form.leases = c->plan->leases;
	err = lock_make(&t->lock, c->clients[i / per_client], c->plan->path,
		&form);
	t->lock.number = t->client * per_client;
	return err;
}

static void contend_all(struct crowd *c)
{
	bool good = true;

	for (int i = 0; i < c->thread_count && good; i++) {
		enum kustos_err err = make_lock(c, i);

		if (err != KUSTOS_OK)
			board_fail(c->board, err);
		good = err == KUSTOS_OK;
	}
	for (int i = 0; i < c->thread_count && good; i++)
		good = start(&c->threads[i]);
}

static void end_all(struct crowd *c)
{
	kustos_cancel_fire(c->stop);
	for (int i = 0; i < c->thread_count; i++)
		if (c->threads[i].runs)
			pthread_join(c->threads[i].id, NULL);
	for (int i = 0; i < c->thread_count; i += c->plan->options->threads)
		lock_destroy(&c->threads[i].lock);
}

/* --- What it costs ------------------------------------------------------- */

/* Measure from "begin" to "end"; return when told to "stop". */
static void measure(struct crowd *c, int fd)
{
	struct board_process *figures = c->figures;
	char line[16];

	for (;;) {
		if (child_hear(fd, line, sizeof(line), HEAR_MS) < 0)
			continue;
		if (strcmp(line, "stop") == 0)
			return;
		uint64_t requests = lock_requests(c->clients, c->client_count);
		int64_t cpu = clocks_ns(CLOCK_PROCESS_CPUTIME_ID);

		figures->told = strcmp(line, "end") == 0 &&
			figures->cpu_ns != 0;
		figures->requests = requests - figures->requests;
		figures->cpu_ns = cpu - figures->cpu_ns;
	}
}

/* --- The process --------------------------------------------------------- */

static int open_clients(struct crowd *c, const struct tool *tool)
{
	int code = TOOL_OK;

	for (int i = 0; i < c->client_count && code == TOOL_OK; i++)
		code = tool_open(tool, &c->clients[i]);
	for (int i = 0; i < c->client_count && code == TOOL_OK; i++)
		if (kustos_client_wait_connected(c->clients[i],
			    kustos_after_ms(tool->session_ms),
			    NULL) != KUSTOS_OK)
			code = tool_unreachable(tool);
	return code;
}

static bool make_room(struct crowd *c, int number)
{
	int per_client = c->plan->options->threads;
	int processes = c->plan->processes;

	/* One at least, as there are no more processes than clients. */
	c->client_count = 1 + (c->plan->clients - 1 - number) / processes;
	c->thread_count = c->client_count * per_client;
	c->clients = calloc((size_t)c->client_count, sizeof(*c->clients));
	c->threads = calloc((size_t)c->thread_count, sizeof(*c->threads));
	if (c->clients == NULL || c->threads == NULL ||
		kustos_cancel_create(&c->stop) != KUSTOS_OK) {
		tool_say("out of memory");
		return false;
	}
	for (int i = 0; i < c->thread_count; i++) {
		struct thread *t = &c->threads[i];

		t->crowd = c;
		t->client = number + i / per_client * processes;
		t->figures = &c->board->workers[t->client * per_client +
			i % per_client];
	}
	return true;
}

/* A client takes a few descriptors, and there may be many. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int worker_run(int fd, void *arg)
{
	const struct worker_process *process = arg;
	struct crowd c = { .plan = process->plan,
		.board = process->board,
		.figures = &process->board->processes[process->number] };
	int code = TOOL_FAILED;

	allow_descriptors();
	if (make_room(&c, process->number))
		code = open_clients(&c, &c.plan->options->tool);
	if (code == TOOL_OK && child_say(fd, "ready") == 0) {
		contend_all(&c);
		measure(&c, fd);
		end_all(&c);
	}
	for (int i = 0; c.clients != NULL && i < c.client_count; i++)
		if (c.clients[i] != NULL)
			tool_close(c.clients[i]);
	kustos_cancel_destroy(c.stop);
	free(c.threads);
	free(c.clients);
	return code;
}
