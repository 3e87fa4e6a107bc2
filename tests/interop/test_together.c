/*
 * test_together.c - several mutexes acquired together, by us and by Curator's
 * InterProcessMultiLock, which gets them in the order in which we acquire them.
 */
#include "peer.h"
#include "support/raw.h"
#include "turns.h"

#define PEERS 6
#define TURNS 60 /* of each */
#define SESSION_MS 10000
#define FIRST TURNS_LINE
#define ALL TURNS_LINES

static const enum peer_kind kinds[PEERS + 1] = { PEER_KUSTOS, PEER_CURATOR,
	PEER_KUSTOS, PEER_CURATOR, PEER_KUSTOS, PEER_CURATOR, PEER_KINDS };

static struct peer peers[PEERS];
static struct turns plan[PEERS];
static struct spans spans;

/* Wait until each line has so many contenders. */
static void lines_await(int first, int second, int third)
{
	line_await(FIRST, first);
	line_await(TURNS_SECOND, second);
	line_await(TURNS_THIRD, third);
}

/* The last two peers want only the first mutex. */
START_TEST(those_who_want_all_and_those_who_want_one_exclude_each_other)
{
	int sum = 0;

	peers_start(peers, kinds, PEERS, SESSION_MS);
	for (int i = 0; i < PEERS; i++)
		plan[i] = (struct turns){ .turns = TURNS,
			.patience_ms = PATIENCE_MS,
			.percent = i < 4 ? TURNS_ALL : TURNS_MUTEX };
	turns_contend(peers, plan, PEERS, &spans);
	for (int i = 0; i < PEERS; i++)
		sum += plan[i].done;
	ck_assert_int_eq(turns_counted(), sum);
	ck_assert_uint_eq(spans.count, (size_t)sum);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	ck_assert_uint_gt(spans_changes(&spans), spans.count / 2);
	lines_await(0, 0, 0);
	peers_end(peers, PEERS);
	spans_free(&spans);
}
END_TEST

/* "loser" wants all, while "owner" holds the last one, and then all. */
static void give_up(struct peer *owner, struct peer *loser)
{
	peer_do(owner, "acquired", "acquire " TURNS_THIRD " 30000");
	peer_do(loser, "timeout", "acquire " ALL " 200 all");
	lines_await(0, 0, 1);
	peer_do(owner, "released", "release " TURNS_THIRD);
	peer_do(owner, "acquired", "acquire " ALL " 30000 all");
	lines_await(1, 1, 1);
	peer_do(loser, "timeout", "acquire " ALL " 200 all");
	lines_await(1, 1, 1);
	peer_do(owner, "released", "release " ALL " all");
	peer_do(loser, "acquired", "acquire " ALL " 30000 all");
	lines_await(1, 1, 1);
	peer_do(loser, "released", "release " ALL " all");
	lines_await(0, 0, 0);
}

START_TEST(who_gives_up_keeps_none)
{
	peers_start(peers, kinds, 2, SESSION_MS);
	give_up(&peers[0], &peers[1]);
	give_up(&peers[1], &peers[0]);
	peers_end(peers, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("together");
	TCase *t = fixture_case(s, "two kinds", 90);

	tcase_add_test(t,
		those_who_want_all_and_those_who_want_one_exclude_each_other);
	tcase_add_test(t, who_gives_up_keeps_none);
	return interop_main(s, kinds);
}
