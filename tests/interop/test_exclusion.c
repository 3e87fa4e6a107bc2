/*
 * test_exclusion.c - many processes of three kinds use one mutex: their updates
 * of a counter are not lost, and no two of them hold the mutex at once.
 */
#include "peer.h"
#include "spans.h"
#include "support/raw.h"
#include "turns.h"

#include <stdio.h>
#include <string.h>

#define EACH 3 /* processes of a kind */
#define PEERS (EACH * PEER_COMMON)
#define TURNS 340 /* of each process: more than 3000 together */
#define FOREVER 60000
#define SHORT 5
#define SESSION_MS 10000
#define LINE TURNS_LINE

static struct peer peers[PEERS];
static struct spans spans;
static struct turns plan[PEERS];

static const enum peer_kind kinds[PEERS + 1] = { PEER_KUSTOS, PEER_CURATOR,
	PEER_KAZOO, PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO, PEER_KUSTOS,
	PEER_CURATOR, PEER_KAZOO, PEER_KINDS };

/* Let "count" processes try so many turns each, with this patience for each
   turn. */
static void plan_turns(int count, int turns, const int *patience_ms)
{
	for (int i = 0; i < count; i++)
		plan[i] = (struct turns){ .turns = turns,
			.patience_ms = patience_ms[i],
			.percent = TURNS_MUTEX };
	spans_free(&spans);
}

START_TEST(nine_processes_of_three_kinds_exclude_each_other)
{
	const int patience_ms[PEERS] = { FOREVER, FOREVER, FOREVER, FOREVER,
		FOREVER, FOREVER, FOREVER, FOREVER, FOREVER };

	peers_start(peers, kinds, PEERS, SESSION_MS);
	plan_turns(PEERS, TURNS, patience_ms);
	turns_take(peers, plan, PEERS, &spans);
	ck_assert_int_eq(turns_counted(), PEERS * TURNS);
	ck_assert_uint_eq(spans.count, PEERS * TURNS);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);

	/* They really competed all the time. */
	ck_assert_uint_gt(spans_changes(&spans), PEERS * TURNS / 2);
	line_await(LINE, 0);
	peers_end(peers, PEERS);
}
END_TEST

/* Some have little patience, so places in the middle of the line vanish all the
   time, and nobody may take that for its turn.  Returns how many turns there
   were. */
static int take_turns_impatiently(int turns)
{
	const int patience_ms[PEERS] = { FOREVER, SHORT, FOREVER, SHORT,
		FOREVER, SHORT, FOREVER, FOREVER, FOREVER };
	int sum = 0;

	plan_turns(PEERS, turns, patience_ms);
	turns_take(peers, plan, PEERS, &spans);
	for (int i = 0; i < PEERS; i++) {
		sum += plan[i].done;
		if (patience_ms[i] == FOREVER)
			ck_assert_int_eq(plan[i].done, turns);
	}
	ck_assert_int_eq(turns_counted(), sum);
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

/* In a line with many children our processes leave a proof of each turn,
   instead of listing the line. */
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
	raw_close(raw); /* nobody sends pings for it */
	peers_start(peers, kinds, PEERS, SESSION_MS);
	ck_assert_int_lt(take_turns_impatiently(turns), (PEERS - 1) * turns);
	line_await(LINE, crowd);
	raw = raw_open(fixture_address(), SESSION_MS);
	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_do_get(raw, LINE, data, sizeof(data), NULL), 0);
	ck_assert_ptr_nonnull(strstr(data, "-lock-")); /* one was left */
	raw_close(raw);
	peers_end(peers, PEERS);
}
END_TEST

/* The tests above rely on this: without the lock both checks fail.  A quick
   process goes on taking turns, as it might otherwise be done before the others
   have begun. */
START_TEST(without_the_lock_the_checks_find_that_they_do_not)
{
	const int no_lock[PEER_COMMON] = { -1, -1, -1 };

	peers_start(peers, kinds, PEER_COMMON, SESSION_MS);
	plan_turns(PEER_COMMON, 200, no_lock);
	turns_contend(peers, plan, PEER_COMMON, &spans);
	ck_assert_int_lt(turns_counted(), (int)spans.count);
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
