/*
 * test_rwlock.c - read/write locks of three kinds on one path: readers of all
 * kinds share, writers exclude all others, and the line's order is kept.
 *
 * Two cases are left out because the peers fail them.  Curator's own downgrade
 * lets in a waiting writer (5.4.0).  Readers of kazoo 2.8.0 are left out where
 * a writer may come after them, because they wait for that one, too.
 */
#include "peer.h"
#include "spans.h"
#include "support/raw.h"
#include "turns.h"

#include <stdio.h>
#include <string.h>

#define SESSION_MS 10000
#define QUIET_MS 200
#define FOREVER 60000
#define LINE TURNS_LINE

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO,
	PEER_KINDS };

static struct peer peers[8];

static const char *const sides[] = { "read", "write" };
enum { READ, WRITE };

/* --- Two and three ------------------------------------------------------- */

static void take(struct peer *p, const char *path, int side)
{
	peer_do(p, "acquired", "acquire %s 30000 %s", path, sides[side]);
}

static void give(struct peer *p, const char *path, int side)
{
	peer_do(p, "released", "release %s %s", path, sides[side]);
}

/* Acquire without waiting for it, until the line has so many nodes. */
static void join(struct peer *p, const char *path, int side, int place)
{
	peer_tell(p, "acquire %s 60000 %s", path, sides[side]);
	line_await(path, place);
}

static void silent(struct peer *p)
{
	if (!peer_silent(p))
		ck_abort_msg("%s got in before its turn", peer_name(p->kind));
}

/* "first" holds one side, and "second" asks for one. */
static void meet(struct peer *first, int held, struct peer *second, int asked)
{
	char path[32];

	snprintf(path, sizeof(path), "/line-%s-%s", sides[held], sides[asked]);
	take(first, path, held);
	join(second, path, asked, 2);
	if (held == READ && asked == READ) {
		peer_hear_acquired(second, PEER_PATIENCE_MS);
		give(first, path, held);
	} else {
		test_never(!peer_silent(second), QUIET_MS);
		give(first, path, held);
		peer_hear_acquired(second, PEER_PATIENCE_MS);
	}
	give(second, path, asked);
	line_await(path, 0);
}

/* Ours with each other kind, in both orders; and with kazoo's own names. */
static const enum peer_kind meetings[][2] = { { PEER_KUSTOS, PEER_CURATOR },
	{ PEER_CURATOR, PEER_KUSTOS }, { PEER_KUSTOS, PEER_KAZOO },
	{ PEER_KAZOO, PEER_KUSTOS }, { PEER_KUSTOS, PEER_KUSTOS },
	{ PEER_KUSTOS_KAZOO, PEER_KAZOO_STOCK },
	{ PEER_KAZOO_STOCK, PEER_KUSTOS_KAZOO } };
#define MEETINGS 7

START_TEST(readers_share_and_writers_exclude_whoever_comes_first)
{
	peers_start(peers, meetings[_i], 2, SESSION_MS);
	for (int held = READ; held <= WRITE; held++)
		for (int asked = READ; asked <= WRITE; asked++)
			meet(&peers[0], held, &peers[1], asked);
	peers_end(peers, 2);
}
END_TEST

/* Start three processes of two kinds, in combination number "number". */
static void start_three(int number)
{
	enum peer_kind three[3];

	for (int i = 0; i < 3; i++)
		three[i] = number >> i & 1 ? PEER_CURATOR : PEER_KUSTOS;
	peers_start(peers, three, 3, SESSION_MS);
}

START_TEST(a_reader_stands_behind_a_writer_that_waits)
{
	start_three(_i);
	take(&peers[0], LINE, READ);
	join(&peers[1], LINE, WRITE, 2);
	join(&peers[2], LINE, READ, 3);
	test_never(!peer_silent(&peers[1]) || !peer_silent(&peers[2]),
		QUIET_MS);
	give(&peers[0], LINE, READ);
	peer_hear_acquired(&peers[1], PEER_PATIENCE_MS);
	silent(&peers[2]);
	give(&peers[1], LINE, WRITE);
	peer_hear_acquired(&peers[2], PEER_PATIENCE_MS);
	give(&peers[2], LINE, READ);
	peers_end(peers, 3);
}
END_TEST

START_TEST(L19_a_reader_does_not_wait_for_a_writer_behind_it)
{
	start_three(_i);
	take(&peers[0], LINE, WRITE);
	join(&peers[1], LINE, READ, 2);
	join(&peers[2], LINE, WRITE, 3);
	test_never(!peer_silent(&peers[1]) || !peer_silent(&peers[2]),
		QUIET_MS);
	give(&peers[0], LINE, WRITE);
	peer_hear_acquired(&peers[1], PEER_PATIENCE_MS);
	test_never(!peer_silent(&peers[2]), QUIET_MS);
	give(&peers[1], LINE, READ);
	peer_hear_acquired(&peers[2], PEER_PATIENCE_MS);
	give(&peers[2], LINE, WRITE);
	peers_end(peers, 3);
}
END_TEST

/* --- Downgrade ----------------------------------------------------------- */

/* Ours writes; a reader and then a writer of another kind wait; ours downgrades
   to a reader. */
START_TEST(S13_a_writer_of_another_kind_waits_while_ours_has_become_a_reader)
{
	const enum peer_kind all[] = { PEER_KUSTOS, PEER_CURATOR, kinds[_i] };
	struct peer *ours = &peers[0], *reader = &peers[1], *writer = &peers[2];

	peers_start(peers, all, 3, SESSION_MS);
	take(ours, LINE, WRITE);
	join(reader, LINE, READ, 2);
	join(writer, LINE, WRITE, 3);
	take(ours, LINE, READ);
	line_await(LINE, 4);
	silent(reader);
	silent(writer);
	give(ours, LINE, WRITE);
	peer_hear_acquired(reader, PEER_PATIENCE_MS);
	give(reader, LINE, READ);
	line_await(LINE, 2);
	test_never(!peer_silent(writer), QUIET_MS);
	give(ours, LINE, READ);
	peer_hear_acquired(writer, PEER_PATIENCE_MS);
	give(writer, LINE, WRITE);
	peers_end(peers, 3);
}
END_TEST

/* The writer is the next in line, and watches the node that ours gives up. */
START_TEST(S13_also_if_it_is_the_next_in_line)
{
	const enum peer_kind all[] = { PEER_KUSTOS, kinds[_i] };

	peers_start(peers, all, 2, SESSION_MS);
	take(&peers[0], LINE, WRITE);
	join(&peers[1], LINE, WRITE, 2);
	take(&peers[0], LINE, READ);
	give(&peers[0], LINE, WRITE);
	line_await(LINE, 2);
	test_never(!peer_silent(&peers[1]), QUIET_MS);
	give(&peers[0], LINE, READ);
	peer_hear_acquired(&peers[1], PEER_PATIENCE_MS);
	give(&peers[1], LINE, WRITE);
	peers_end(peers, 2);
}
END_TEST

/* --- Many ---------------------------------------------------------------- */

/* Two of Curator's, three of ours, and two of kazoo's that only write. */
static const enum peer_kind crowd[] = { PEER_CURATOR, PEER_KUSTOS, PEER_KAZOO,
	PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO, PEER_KUSTOS };
#define CROWD 7
#define TURNS 160
#define READING 70 /* of a hundred */

static int turns_that_wrote(const struct spans *spans)
{
	int n = 0;

	for (size_t i = 0; i < spans->count; i++)
		n += !spans->list[i].shared;
	return n;
}

START_TEST(S13_seven_processes_of_three_kinds_read_and_write_at_random)
{
	struct spans spans = { 0 };
	struct turns turns[CROWD];
	int sum = 0;

	peers_start(peers, crowd, CROWD, SESSION_MS);
	for (int i = 0; i < CROWD; i++)
		turns[i] = (struct turns){ .turns = TURNS,
			.patience_ms = FOREVER,
			.percent = crowd[i] == PEER_KAZOO ? 0 : READING };
	turns_take(peers, turns, CROWD, &spans);
	for (int i = 0; i < CROWD; i++) {
		ck_assert_int_ge(turns[i].done, TURNS);
		sum += turns[i].done;
	}
	ck_assert_int_ge(sum, CROWD * TURNS);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	ck_assert_int_eq(turns_counted(), turns_that_wrote(&spans));

	/* They really competed, and really shared. */
	ck_assert_uint_gt(spans_changes(&spans), (size_t)sum / 2);
	ck_assert_uint_gt(spans_together(&spans), TURNS / 4);
	line_await(LINE, 0);
	spans_free(&spans);
	peers_end(peers, CROWD);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rwlock");
	TCase *t = fixture_case(s, "three kinds", 90);

	tcase_add_loop_test(t,
		readers_share_and_writers_exclude_whoever_comes_first, 0,
		MEETINGS);
	tcase_add_loop_test(t, a_reader_stands_behind_a_writer_that_waits, 1,
		7);
	tcase_add_loop_test(t,
		L19_a_reader_does_not_wait_for_a_writer_behind_it, 1, 7);
	tcase_add_loop_test(t,
		S13_a_writer_of_another_kind_waits_while_ours_has_become_a_reader,
		0, PEER_COMMON);
	tcase_add_loop_test(t, S13_also_if_it_is_the_next_in_line, 0,
		PEER_COMMON);
	tcase_add_test(t,
		S13_seven_processes_of_three_kinds_read_and_write_at_random);
	return interop_main(s, kinds);
}
