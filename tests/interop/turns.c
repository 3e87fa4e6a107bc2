/*
 * turns.c - peers take turns at one lock, all at the same time.
 */
#include "turns.h"
#include "support/raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MS 10000

#define ROUND_MS (4 * PATIENCE_MS)

static void file_of(int i, char *path, size_t size)
{
	snprintf(path, size, "%s/spans-%d", server_dir(fixture_server()), i);
}

/* Tell peer number "i" to take its turns. */
static void tell(struct peer *peers, const struct turns *turns, int i)
{
	const struct turns *t = &turns[i];
	char percent[16] = "";
	char file[320];

	file_of(i, file, sizeof(file));
	if (t->percent == TURNS_SELECTOR) {
		peer_tell(&peers[i],
			"reign " TURNS_LINE " %d " TURNS_COUNTER " %s",
			t->turns, file);
		return;
	}
	if (t->percent == TURNS_DRAW) {
		peer_tell(&peers[i], "draw " TURNS_LINE " %d %d %d %s %d",
			t->max, t->leases, t->turns, file, t->patience_ms);
		return;
	}
	if (t->percent == TURNS_SOLE)
		strcpy(percent, " sole");
	else if (t->percent == TURNS_BARE)
		strcpy(percent, " bare");
	else if (t->percent == TURNS_ALL)
		strcpy(percent, " all");
	else if (t->percent != TURNS_MUTEX)
		snprintf(percent, sizeof(percent), " %d", t->percent);
	peer_tell(&peers[i], "count %s %d " TURNS_COUNTER " %s %d%s",
		t->percent == TURNS_ALL ? TURNS_LINES : TURNS_LINE, t->turns,
		file, t->patience_ms, percent);
}

static void begin(struct peer *peers, struct turns *turns, int count)
{
	ck_assert_int_eq(raw_create(fixture_address(), TURNS_COUNTER, "0"), 0);
	for (int i = 0; i < count; i++) {
		turns[i].done = 0;
		tell(peers, turns, i);
	}
}

/* Wait until peer number "i" is done, and read its spans. */
static void hear(struct peer *peers, struct turns *turns, int i,
	struct spans *spans)
{
	int done = atoi(peer_hear(&peers[i], "counted", ROUND_MS));
	char file[320];

	file_of(i, file, sizeof(file));
	ck_assert_int_eq(spans_read(spans, file, i), done);
	turns[i].done += done;
}

void turns_take(struct peer *peers, struct turns *turns, int count,
	struct spans *spans)
{
	begin(peers, turns, count);
	for (int i = 0; i < count; i++)
		hear(peers, turns, i, spans);
}

/* Collect the results of the peers that are done.  If others are not done yet,
   make them take as many turns again.  Returns whether there are such
   others. */
static bool press_on(struct peer *peers, struct turns *turns, int count,
	struct spans *spans)
{
	int left = 0;

	for (int i = 0; i < count; i++)
		left += turns[i].done == 0 && peer_silent(&peers[i]);
	for (int i = 0; i < count && left > 0; i++) {
		if (peer_silent(&peers[i]))
			continue;
		hear(peers, turns, i, spans);
		tell(peers, turns, i);
	}
	return left > 0;
}

void turns_contend(struct peer *peers, struct turns *turns, int count,
	struct spans *spans)
{
	begin(peers, turns, count);
	test_within(!press_on(peers, turns, count, spans), ROUND_MS);
	for (int i = 0; i < count; i++)
		hear(peers, turns, i, spans);
}

int turns_counted(void)
{
	struct raw *raw = raw_open(fixture_address(), SESSION_MS);
	char text[32];

	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(
		raw_do_get(raw, TURNS_COUNTER, text, sizeof(text), NULL), 0);
	raw_close(raw);
	return atoi(text);
}
