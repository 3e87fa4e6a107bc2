/*
 * raw_floor.c - what the server and the wire cost at least: bare sockets that
 * send what a perfect recipe would send, and do nothing else.
 *
 * The requests of one call of a recipe are sent in one flight, unless one
 * depends on an answer; and whatever a program waits for before it goes on is
 * waited for here.  (A lock in a line that is in use can do with less than
 * "one": lib/line_follow.c, and "bare".)
 *
 * Its styles, beside those of driver.h, with all their requests in the file that is
 * named with them in raw_floor.h:
 *
 *	one	lock and unlock in 1 round trip
 *	two	in 2 round trips
 *	bare	a simple lock, in 1 round trip
 *	pair	two locks, in 1 round trip
 *	line	as "own": a turn takes one flight of writes and one event
 *	careful	the same with the requests that Kustos takes for a turn
 *	leases	the line with room for LOCK_LEASES at a time
 *	gate	a barrier: set, look, remove, pass, each a round trip
 *	step	a double barrier: in and out, two writes after each other either way
 *	count	a count-down latch: each call a round trip
 *	deeds	an item is put, and taken, each in 1 round trip, so that it cannot be
 *		lost with an answer
 *	drain, single, framed, bulk, crowd, claim	as bench_queue.c has them
 */
#include "raw_floor.h"

#include <string.h>

struct style {
	const char *name;
	floor_fn *measure;
};

static const struct style styles[] = {
	{ "one", floor_one },
	{ "two", floor_two },
	{ "bare", floor_bare },
	{ "pair", floor_pair },
	{ "line", floor_line },
	{ "careful", floor_careful },
	{ "leases", floor_leases },
	{ "gate", floor_gate },
	{ "step", floor_step },
	{ "count", floor_count },
	{ "deeds", floor_deeds },
	{ "drain", floor_drain },
	{ "single", floor_single },
	{ "framed", floor_framed },
	{ "bulk", floor_bulk },
	{ "claim", floor_claim },
	{ "crowd", floor_crowd },
};

int floor_repeat(struct floor *f, int (*once)(void *arg), void *arg)
{
	return driver_repeat(f->run, once, arg, f->result);
}

static int open_and_measure(struct floor *f, const struct style *style)
{
	for (int i = 0; i < f->run->sessions; i++)
		if (link_open(&f->links[i], f->run->hosts) < 0)
			return -1;
	return style->measure(f);
}

static void measure(const struct driver_run *run, struct driver_result *result)
{
	struct link links[FLOOR_LINKS];
	struct floor f = { .run = run, .result = result, .links = links };
	const struct style *style = driver_style(run, styles,
		sizeof(styles) / sizeof(*styles), sizeof(*styles), result);

	if (style == NULL)
		return;
	if (run->sessions > FLOOR_LINKS) {
		result->error = "too many sessions";
		return;
	}
	memset(links, 0, sizeof(links));
	for (int i = 0; i < run->sessions; i++)
		links[i].fd = -1;
	if (open_and_measure(&f, style) < 0)
		result->error = "the server did not do as it was asked";
	for (int i = 0; i < run->sessions; i++)
		link_close(&links[i]);
}

int main(int argc, char **argv)
{
	return driver_main(argc, argv, measure);
}
