/*
 * turns.c - peers take turns at one lock, all at once.
 */
#include "turns.h"
#include "support/raw.h"

#include <stdio.h>
#include <stdlib.h>

#define SESSION_MS 10000

static void file_of(int i, char *path, size_t size)
{
	snprintf(path, size, "%s/spans-%d", server_dir(fixture_server()), i);
}

static void tell(struct peer *peer, const struct turns *t, const char *file)
{
	char percent[16] = "";

	if (t->percent != TURNS_MUTEX)
		snprintf(percent, sizeof(percent), " %d", t->percent);
	peer_tell(peer, "count " TURNS_LINE " %d " TURNS_COUNTER " %s %d%s",
		t->turns, file, t->patience_ms, percent);
}

void turns_take(struct peer *peers, struct turns *turns, int count,
	struct spans *spans)
{
	char path[320];

	ck_assert_int_eq(raw_create(fixture_address(), TURNS_COUNTER, "0"), 0);
	for (int i = 0; i < count; i++) {
		file_of(i, path, sizeof(path));
		tell(&peers[i], &turns[i], path);
	}
	for (int i = 0; i < count; i++) {
		turns[i].done = atoi(
			peer_hear(&peers[i], "counted", 4 * PATIENCE_MS));
		file_of(i, path, sizeof(path));
		ck_assert_int_eq(spans_read(spans, path, i), turns[i].done);
	}
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
