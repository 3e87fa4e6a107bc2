/*
 * progress.c - a line that shows the progress.
 */
#include "progress.h"

#include "clocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define STEP_NS 200000000

static void show(const struct bench_plan *plan, const struct board *board,
	int64_t now_ns)
{
	int64_t begin_ns = board->begin_ns;
	uint64_t grants = 0, now = 0;
	int64_t slice = (now_ns - begin_ns) / board->slice_ns;

	fprintf(stderr, "\r%s, %d clients: ", plan->options->recipe,
		plan->clients);
	if (begin_ns == INT64_MAX) {
		fputs("warming up\033[K", stderr);
		return;
	}
	for (int i = 0; i < plan->workers; i++)
		grants += board->workers[i].grants;
	if (slice > 0 && slice <= BOARD_SLICES)
		now = board->slices[slice - 1];
	fprintf(stderr,
		"%.1f of %.0f s, %" PRIu64 " grants, now %.0f a second%s\033[K",
		(double)(now_ns - begin_ns) / 1e9,
		(double)plan->options->duration_ms / 1000, grants,
		(double)now * 1e9 / (double)board->slice_ns,
		board->killed_ns != 0 ? ", a holder was killed" : "");
}

void progress_show(const struct bench_plan *plan, const struct board *board)
{
	static int64_t last_ns;
	int64_t now_ns = clocks_now_ns();

	if (now_ns - last_ns < STEP_NS || !isatty(2))
		return;
	last_ns = now_ns;
	show(plan, board, now_ns);
	fflush(stderr);
}

void progress_clear(void)
{
	if (isatty(2))
		fputs("\r\033[K", stderr);
}
