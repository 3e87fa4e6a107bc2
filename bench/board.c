/*
 * board.c - the memory that all processes of a run share.
 */
#include "board.h"

#include <sys/mman.h>

static size_t size_of(const struct bench_plan *plan)
{
	return sizeof(struct board) +
		(size_t)plan->workers * sizeof(struct board_worker) +
		(size_t)plan->processes * sizeof(struct board_process);
}

struct board *board_make(const struct bench_plan *plan)
{
	struct board *board = mmap(NULL, size_of(plan), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (board == MAP_FAILED)
		return NULL;
	board->processes = (struct board_process *)(void *)&board
				   ->workers[plan->workers];
	board->begin_ns = board->end_ns = INT64_MAX;
	board->slice_ns = plan->options->duration_ms * 1000000 / BOARD_SLICES +
		1;
	return board;
}

void board_free(struct board *board, const struct bench_plan *plan)
{
	if (board != NULL)
		munmap(board, size_of(plan));
}

/* --- Who is inside ------------------------------------------------------- */

#define WRITER UINT64_C(1)
#define READER (UINT64_C(1) << 20)
#define DOUBT (UINT64_C(1) << 40)
#define MANY (READER - 1) /* the most that there can be of each */

static uint32_t writers_of(uint64_t inside)
{
	return (uint32_t)(inside & MANY);
}

static uint32_t readers_of(uint64_t inside)
{
	return (uint32_t)(inside / READER & MANY);
}

static int doubts_of(uint64_t inside)
{
	return (int)(inside / DOUBT);
}

/* Return how many of those who are inside must hold for another to be one too
   many. */
static uint32_t too_many(const struct bench_plan *plan)
{
	return bench_is_exclusive(plan) || plan->readers > 0
		? 1
		: (uint32_t)plan->leases;
}

/* Come in.  As this is one atomic step, of several that come in at the same
   time the last sees all others inside. */
static void come_in(struct board *board, const struct bench_plan *plan,
	struct board_worker *worker, bool reads)
{
	uint64_t before = atomic_load(&board->inside), after;
	uint32_t most = too_many(plan);
	bool doubt;

	do {
		uint32_t others = writers_of(before) +
			(reads ? 0 : readers_of(before));

		doubt = others >= most && doubts_of(before) < BOARD_DOUBTS;
		after = before + (reads ? READER : WRITER) +
			(doubt ? DOUBT : 0);
	} while (!atomic_compare_exchange_weak(&board->inside, &before, after));
	worker->first_doubt = worker->last_doubt = doubts_of(after);
	worker->own_doubt = doubt ? doubts_of(before) : -1;
	worker->others_needed = most;
}

void board_given(struct board *board, struct board_worker *worker, bool reads)
{
	worker->last_doubt = doubts_of(
		atomic_fetch_sub(&board->inside, reads ? READER : WRITER));
}

void board_held(struct board *board, const struct board_worker *worker,
	bool reads)
{
	if (worker->own_doubt >= 0) {
		struct board_doubt *own = &board->doubts[worker->own_doubt];

		own->readers_count = !reads;
		atomic_store(&own->needed, worker->others_needed);
	}
	for (int i = worker->first_doubt; i < worker->last_doubt; i++)
		atomic_fetch_add(reads ? &board->doubts[i].readers
				       : &board->doubts[i].writers,
			1);
}

uint64_t board_overlaps(const struct board *board)
{
	uint64_t count = 0;

	for (int i = 0; i < doubts_of(atomic_load(&board->inside)); i++) {
		const struct board_doubt *d = &board->doubts[i];
		uint32_t needed = atomic_load(&d->needed);
		uint32_t held = atomic_load(&d->writers) +
			(d->readers_count ? atomic_load(&d->readers) : 0);

		count += needed > 0 && held >= needed;
	}
	return count;
}

/* --- What is counted ----------------------------------------------------- */

static void end_take_over(struct board *board, int64_t now_ns)
{
	int64_t killed_ns = atomic_load(&board->killed_ns);
	int at;

	if (killed_ns == 0 ||
		!atomic_compare_exchange_strong(&board->killed_ns, &killed_ns,
			0))
		return;
	at = atomic_load(&board->taken_over);
	if (at < BOARD_KILLS)
		board->take_overs_ns[at] = now_ns - killed_ns;
	atomic_store(&board->taken_over, at + 1);
}

bool board_granted(struct board *board, const struct bench_plan *plan,
	int client, struct board_worker *worker, int64_t since_ns,
	int64_t now_ns)
{
	int64_t begin_ns = atomic_load(&board->begin_ns);
	int64_t end_ns = atomic_load(&board->end_ns);

	come_in(board, plan, worker, bench_reads(plan, client));
	end_take_over(board, now_ns);
	atomic_store(&worker->since_ns, 0);
	if (now_ns >= end_ns && since_ns < end_ns)
		worker->still_ns = end_ns - since_ns;
	if (now_ns < begin_ns || now_ns >= end_ns)
		return false;
	histogram_add(&worker->wait, now_ns - since_ns);
	atomic_fetch_add(&worker->grants, 1);
	fairness_turn(&board->turns,
		(uint32_t)(plan->clients > 1 ? client
					     : worker - board->workers));
	int64_t slice = (now_ns - begin_ns) / board->slice_ns;
	if (slice < BOARD_SLICES)
		atomic_fetch_add(&board->slices[slice], 1);
	return true;
}

int64_t board_waited_ns(const struct board_worker *worker, int64_t end_ns)
{
	int64_t since_ns = atomic_load(&worker->since_ns);

	return since_ns > 0 && since_ns < end_ns ? end_ns - since_ns
						 : worker->still_ns;
}

void board_fail(struct board *board, enum kustos_err err)
{
	int none = KUSTOS_OK;

	atomic_compare_exchange_strong(&board->err, &none, (int)err);
	atomic_store(&board->stop, true);
}
