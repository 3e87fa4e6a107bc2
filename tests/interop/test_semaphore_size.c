/*
 * test_semaphore_size.c - the number of leases is in a node that our processes
 * and Curator's share, and both change it while leases are held.
 */
#include "peer.h"
#include "spans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MS 10000
#define QUIET_MS 200
#define SIZE "/size"
#define SEM "/sem"
#define NS_MS INT64_C(1000000)

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KINDS };

static struct peer peers[8];
static struct spans spans;

static void resize(struct peer *by, int size)
{
	peer_do(by, "resized", "resize " SEM " " SIZE " %d", size);
}

static void take(struct peer *p, const char *path)
{
	peer_do(p, "leased", "lease %s " SIZE " 1 30000", path);
}

static void give(struct peer *p, const char *path)
{
	peer_do(p, "returned", "return %s", path);
}

/* --- One who waits ------------------------------------------------------- */

/* "waiter" gets a lease when the number grows, and not while it is less than
   the leases that are held. */
static void grow_and_shrink(const char *path, struct peer *holders,
	struct peer *waiter, struct peer *master)
{
	char leases[64];

	snprintf(leases, sizeof(leases), "%s/leases", path);
	resize(master, 1);
	take(&holders[0], path);
	peer_tell(waiter, "lease %s " SIZE " 1 60000", path);
	line_await(leases, 2);
	test_never(!peer_silent(waiter), QUIET_MS);
	resize(master, 2);
	peer_hear(waiter, "leased", PEER_PATIENCE_MS);
	give(waiter, path);
	take(&holders[1], path);
	resize(master, 1);
	peer_tell(waiter, "lease %s " SIZE " 1 60000", path);
	line_await(leases, 3);
	give(&holders[0], path);
	line_await(leases, 2);
	test_never(!peer_silent(waiter), QUIET_MS);
	give(&holders[1], path);
	peer_hear(waiter, "leased", PEER_PATIENCE_MS);
	give(waiter, path);
	line_await(leases, 0);
}

START_TEST(S14_who_waits_hears_of_a_number_that_either_kind_changes)
{
	const enum peer_kind all[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KUSTOS,
		PEER_CURATOR };

	peers_start(peers, all, 4, SESSION_MS);
	resize(&peers[0], 1); /* Curator's would begin with 0 */
	grow_and_shrink("/ours-by-ours", peers, &peers[2], &peers[0]);
	grow_and_shrink("/ours-by-curators", peers, &peers[2], &peers[1]);
	grow_and_shrink("/curators-by-ours", peers, &peers[3], &peers[0]);
	grow_and_shrink("/curators-by-curators", peers, &peers[3], &peers[1]);
	peers_end(peers, 4);
}
END_TEST

/* --- Many ---------------------------------------------------------------- */

#define DRAWERS 5
#define TURNS 10       /* at a stretch */
#define HEARD_MS 1000  /* after which all go by a change */
#define GROWN_MS 300   /* how long a larger number stays */
#define SHRUNK_MS 1700 /* and a smaller one */

static const enum peer_kind crowd[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KUSTOS,
	PEER_CURATOR, PEER_KUSTOS, PEER_CURATOR };
static const int sizes[] = { 4, 1, 5, 2, 3, 1 };
#define SIZES 6

static int64_t changed_ns[SIZES + 1]; /* when each began to be set, and the
					end */

static void file_of(int i, char *path, size_t size)
{
	snprintf(path, size, "%s/draws-%d", server_dir(fixture_server()), i);
}

static void tell_to_draw(int i)
{
	char file[320];

	file_of(i, file, sizeof(file));
	peer_tell(&peers[i], "draw " SEM " " SIZE " 1 %d %s 60000", TURNS,
		file);
}

static void collect(int i)
{
	char file[320];

	peer_hear(&peers[i], "counted", 2 * PATIENCE_MS);
	file_of(i, file, sizeof(file));
	ck_assert_int_eq(spans_read(&spans, file, i), TURNS);
}

/* Keep all drawing leases for so long. */
static void draw_on(int ms)
{
	int64_t end = test_now_ms() + ms;

	while (test_now_ms() < end) {
		for (int i = 0; i < DRAWERS; i++) {
			if (peer_silent(&peers[i]))
				continue;
			collect(i);
			tell_to_draw(i);
		}
		test_pause_1ms();
	}
}

static bool has_shrunk(int i)
{
	int before = i > 0 ? sizes[i - 1] : 0;

	return sizes[i] < before;
}

/* Keep all drawing leases until some have noticed that there are more.  This is
   known of each stretch when it is over. */
static void await_more(int i)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	while (spans_most(&spans, changed_ns[i], INT64_MAX) <= sizes[i - 1]) {
		ck_assert_int_lt(test_now_ms(), end);
		draw_on(GROWN_MS / 3);
	}
}

/* One of ours and one of Curator's set the number in turn; they take no
   leases. */
static void change_sizes(struct peer *ours, struct peer *curators)
{
	for (int i = 0; i < SIZES; i++) {
		changed_ns[i] = test_now_us() * 1000;
		resize(i % 2 ? curators : ours, sizes[i]);
		if (i == 0)
			for (int k = 0; k < DRAWERS; k++)
				tell_to_draw(k);
		draw_on(has_shrunk(i) ? SHRUNK_MS : GROWN_MS);
		if (i > 0 && !has_shrunk(i))
			await_more(i);
	}
	changed_ns[SIZES] = test_now_us() * 1000;
}

static void check_sizes(void)
{
	for (int i = 0; i < SIZES; i++) {
		int64_t from = changed_ns[i] +
			(has_shrunk(i) ? HEARD_MS * NS_MS : 0);

		ck_assert_int_le(spans_most(&spans, from, changed_ns[i + 1]),
			sizes[i]);
	}
}

START_TEST(S14_the_number_grows_and_shrinks_while_leases_are_held)
{
	struct peer *ours = &peers[DRAWERS + 1], *curators = &peers[DRAWERS];

	peers_start(peers, crowd, DRAWERS + 1, SESSION_MS);
	peer_start(ours, PEER_KUSTOS, SESSION_MS);
	change_sizes(ours, curators);
	resize(ours, 3);
	for (int i = 0; i < DRAWERS; i++)
		collect(i);
	check_sizes();
	for (int i = 0; i < DRAWERS; i++) {
		size_t turns = 0;

		for (size_t k = 0; k < spans.count; k++)
			turns += spans.list[k].who == i;
		ck_assert_uint_ge(turns, 2 * TURNS);
	}
	line_await(SEM "/leases", 0);
	peers_end(peers, DRAWERS + 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("semaphore size");
	TCase *t = fixture_case(s, "two kinds", 90);

	tcase_add_test(t,
		S14_who_waits_hears_of_a_number_that_either_kind_changes);
	tcase_add_test(t,
		S14_the_number_grows_and_shrinks_while_leases_are_held);
	return interop_main(s, kinds);
}
