/*
 * test_exclusion.c - many processes of three kinds on one lock: what they do
 * one after the other comes out right, and no two of them were at it at once.
 */
#include "peer.h"
#include "spans.h"
#include "support/raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EACH 3 /* processes of a kind */
#define PEERS (EACH * PEER_COMMON)
#define TURNS 340 /* of each process: more than 3000 together */
#define FOREVER 60000
#define SHORT 5
#define SESSION_MS 10000
#define LINE "/line"
#define COUNTER "/counter"

static struct peer peers[PEERS];
static struct spans spans;
static int done[PEERS]; /* how many turns each of them had */

static const enum peer_kind kinds[PEERS + 1] = { PEER_KUSTOS, PEER_CURATOR,
	PEER_KAZOO, PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO, PEER_KUSTOS,
	PEER_CURATOR, PEER_KAZOO, PEER_KINDS };

static void file_of(int i, char *path, size_t size)
{
	snprintf(path, size, "%s/spans-%d", server_dir(fixture_server()), i);
}

/* Have "count" of them try to take so many turns each, at the same time, with
   so much patience for each; then read when they had them. */
static void all_take_turns(int count, int turns, const int *patience_ms)
{
	char path[320];

	ck_assert_int_eq(raw_create(fixture_address(), COUNTER, "0"), 0);
	for (int i = 0; i < count; i++) {
		file_of(i, path, sizeof(path));
		peer_tell(&peers[i], "count " LINE " %d " COUNTER " %s %d",
			turns, path, patience_ms[i]);
	}
	spans_free(&spans);
	for (int i = 0; i < count; i++) {
		done[i] = atoi(peer_hear(&peers[i], "counted", 100000));
		file_of(i, path, sizeof(path));
		ck_assert_int_eq(spans_read(&spans, path, i), done[i]);
	}
}

static int counted(void)
{
	struct raw *raw = raw_open(fixture_address(), SESSION_MS);
	char text[32];

	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_do_get(raw, COUNTER, text, sizeof(text), NULL), 0);
	raw_close(raw);
	return atoi(text);
}

START_TEST(nine_processes_of_three_kinds_exclude_each_other)
{
	const int patience_ms[PEERS] = { FOREVER, FOREVER, FOREVER, FOREVER,
		FOREVER, FOREVER, FOREVER, FOREVER, FOREVER };

	peers_start(peers, kinds, PEERS, SESSION_MS);
	all_take_turns(PEERS, TURNS, patience_ms);
	ck_assert_int_eq(counted(), PEERS * TURNS);
	ck_assert_uint_eq(spans.count, PEERS * TURNS);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);

	/* They really were in each other's way all the time. */
	ck_assert_uint_gt(spans_changes(&spans), PEERS * TURNS / 2);
	line_await(LINE, 0);
	peers_end(peers, PEERS);
}
END_TEST

/* Some have no patience: places in the middle of the line vanish all the time,
   and nobody may take that for his turn.  Returns how many turns there were. */
static int take_turns_impatiently(int turns)
{
	const int patience_ms[PEERS] = { FOREVER, SHORT, FOREVER, SHORT,
		FOREVER, SHORT, FOREVER, FOREVER, FOREVER };
	int sum = 0;

	all_take_turns(PEERS, turns, patience_ms);
	for (int i = 0; i < PEERS; i++) {
		sum += done[i];
		if (patience_ms[i] == FOREVER)
			ck_assert_int_eq(done[i], turns);
	}
	ck_assert_int_eq(counted(), sum);
	ck_assert_uint_eq(spans.count, (size_t)sum);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	return sum;
}

START_TEST(those_that_give_up_let_nobody_in)
{
	const int turns = 60;

	peers_start(peers, kinds, PEERS, SESSION_MS);
	ck_assert_int_lt(take_turns_impatiently(turns), (PEERS - 1) * turns);
	line_await(LINE, 0);
	peers_end(peers, PEERS);
}
END_TEST

/* In a line with many children ours leave a proof of each turn, instead of
   listing them all. */
START_TEST(proofs_let_nobody_in_either)
{
	const int turns = 60, crowd = 100;
	struct raw *raw = raw_open(fixture_address(), SESSION_MS);
	char path[32], data[128];

	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_create(fixture_address(), LINE, ""), 0);
	for (int i = 0; i < crowd; i++) {
		snprintf(path, sizeof(path), LINE "/z-%d", i);
		ck_assert_int_eq(
			raw_do_create(raw, path, "", RAW_PERSISTENT, NULL, 0),
			0);
	}
	peers_start(peers, kinds, PEERS, SESSION_MS);
	ck_assert_int_lt(take_turns_impatiently(turns), (PEERS - 1) * turns);
	line_await(LINE, crowd);
	ck_assert_int_eq(raw_do_get(raw, LINE, data, sizeof(data), NULL), 0);
	ck_assert_ptr_nonnull(strstr(data, "-lock-")); /* one was left */
	raw_close(raw);
	peers_end(peers, PEERS);
}
END_TEST

/* What the tests above rely on: without the lock both checks fail. */
START_TEST(without_the_lock_the_checks_find_that_they_do_not)
{
	const int turns = 200;
	const int no_lock[PEER_COMMON] = { -1, -1, -1 };

	peers_start(peers, kinds, PEER_COMMON, SESSION_MS);
	all_take_turns(PEER_COMMON, turns, no_lock);
	ck_assert_int_lt(counted(), PEER_COMMON * turns);
	ck_assert_uint_gt(spans_overlaps(&spans), 0);
	peers_end(peers, PEER_COMMON);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("exclusion");
	TCase *t = fixture_case(s, "three kinds", 120);

	tcase_add_test(t, nine_processes_of_three_kinds_exclude_each_other);
	tcase_add_test(t, those_that_give_up_let_nobody_in);
	tcase_add_test(t, proofs_let_nobody_in_either);
	tcase_add_test(t, without_the_lock_the_checks_find_that_they_do_not);
	return interop_main(s, kinds);
}
