/*
 * test_selector.c - Curator's LeaderSelector, kazoo's Election with Curator's
 * names, and our selector on one path elect one leader.  All know which one
 * leads, and none leads while another does, or while another holds the mutex at
 * that path.
 */
#include "turns.h"
#include "voters.h"

#include <stdio.h>

#define SESSION_MS 6000
#define TICK_MS 200 /* the server's */
#define IN_TIME_MS (SESSION_MS + TICK_MS + 100)
#define PEERS VOTERS_MAX

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO,
	PEER_KINDS };

static struct voters voters;

START_TEST(all_agree_who_leads_at_every_step)
{
	voters_enter(&voters, kinds, _i, PEERS, "select", 2 * SESSION_MS);
	voters_take_turns(&voters);
	peers_end(voters.peers, PEERS);
}
END_TEST

/* How many ms the soonest heir of each kind took to lead. */
static int64_t soonest_ms[PEER_COMMON];

static bool all_were_in_time(void)
{
	for (int i = 0; i < PEER_COMMON; i++)
		if (soonest_ms[i] > IN_TIME_MS)
			return false;
	return true;
}

/* A leader of each kind is killed, and more if an heir was late.  Each is
   followed by another kind. */
static void kill_round(int first)
{
	int i = 0;

	voters_enter(&voters, kinds, first, PEERS, "select", SESSION_MS);
	voters_agree(&voters);
	for (; i < PEER_COMMON || (!all_were_in_time() && i < PEERS - 1); i++) {
		int64_t ms = voters_kill(&voters, SESSION_MS);
		enum peer_kind heir = voters.peers[i + 1].kind;

		printf("%s is dead: %s leads after %d ms\n",
			peer_name(voters.peers[i].kind), peer_name(heir),
			(int)ms);
		fflush(stdout); /* a test that fails does not */
		if (ms < soonest_ms[heir])
			soonest_ms[heir] = ms;
		voters_agree(&voters);
	}
	peers_end(voters.peers + i, PEERS - i);
}

/* A busy machine may be late with some, but not with all heirs of one kind: if
   need be there are five of each. */
START_TEST(the_next_leads_when_the_dead_ones_session_is_over)
{
	for (int i = 0; i < PEER_COMMON; i++)
		soonest_ms[i] = INT64_MAX;
	for (int i = PEER_COMMON - 1; i >= 0 && !all_were_in_time(); i--)
		kill_round(i);
	for (int i = 0; i < PEER_COMMON; i++)
		ck_assert_msg(soonest_ms[i] <= IN_TIME_MS,
			"%s leads after %d ms, never sooner",
			peer_name((enum peer_kind)i), (int)soonest_ms[i]);
}
END_TEST

/* Ours hands over to the last of each kind, past those of other kinds.  They
   join the line again by themselves, and lead in turn. */
START_TEST(ours_hands_over_to_one_of_any_kind_past_others)
{
	static const char *const heirs[] = { "dora", "eve", "fred" };
	int heir = PEER_COMMON + _i;

	voters_enter(&voters, kinds, 0, PEERS, "select", 2 * SESSION_MS);
	voters_agree(&voters);
	peer_do(&voters.peers[0], "handed", "hand " VOTERS_LINE " %s",
		heirs[_i]);
	peer_do(&voters.peers[heir], "leads", "leads " VOTERS_LINE " 30000");
	(void)voters_take_first(&voters); /* it does not requeue */
	voters_look(&voters);
	ck_assert_int_eq(voters.line[0], heir);
	while (voters.in_line > 1) {
		voters_agree(&voters);
		voters_resign(&voters);
	}
	voters_agree(&voters);
	peers_end(voters.peers, PEERS);
}
END_TEST

#define TURNS 60 /* of each process */

START_TEST(leaders_and_a_mutex_exclude_each_other)
{
	static struct peer peers[PEERS];
	enum peer_kind in_turns[PEERS];
	struct turns plan[PEERS];
	struct spans spans = { 0 };

	for (int i = 0; i < PEERS; i++) {
		in_turns[i] = kinds[i % PEER_COMMON];
		plan[i] = (struct turns){ .turns = TURNS,
			.patience_ms = PATIENCE_MS,
			.percent = i < PEER_COMMON ? TURNS_SELECTOR
						   : TURNS_MUTEX };
	}
	peers_start(peers, in_turns, PEERS, 10000);
	turns_take(peers, plan, PEERS, &spans);
	ck_assert_int_eq(turns_counted(), PEERS * TURNS);
	ck_assert_uint_eq(spans.count, PEERS * TURNS);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	ck_assert_uint_gt(spans_changes(&spans), PEERS * TURNS / 2);
	spans_free(&spans);
	line_await(TURNS_LINE, 0);
	peers_end(peers, PEERS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("selector, interop");
	TCase *t = fixture_case(s, "three kinds", 60);

	tcase_add_loop_test(t, all_agree_who_leads_at_every_step, 0,
		PEER_COMMON);
	tcase_add_test(t, the_next_leads_when_the_dead_ones_session_is_over);
	tcase_add_loop_test(t, ours_hands_over_to_one_of_any_kind_past_others,
		0, PEER_COMMON);
	tcase_add_test(t, leaders_and_a_mutex_exclude_each_other);
	return interop_main(s, kinds);
}
