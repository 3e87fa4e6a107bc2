/*
 * test_latch.c - Curator's LeaderLatch and our latch on one path elect one
 * leader, and both know which one that is.
 */
#include "support/raw.h"
#include "voters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MS 8000
#define LINE VOTERS_LINE
#define PEERS 4

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KINDS };

static struct voters voters;

static void enter(int first)
{
	voters_enter(&voters, kinds, first, PEERS, "latch", SESSION_MS);
}

START_TEST(all_agree_who_leads_at_every_step)
{
	enter(_i);
	voters_take_turns(&voters);
	peers_end(voters.peers, PEERS);
}
END_TEST

/* The leader is killed, and then the next one, which is of the other kind.  Of
   the two that are left one resigns. */
START_TEST(the_next_leads_when_the_dead_ones_session_is_over)
{
	enter(_i);
	voters_agree(&voters);
	for (int i = 0; i < 2; i++) {
		voters_kill(&voters, SESSION_MS);
		voters_agree(&voters);
	}
	voters_resign(&voters);
	voters_agree(&voters);
	peers_end(voters.peers + 2, PEERS - 2);
}
END_TEST

/* Delete the node with this number. */
static void delete_node(int number)
{
	struct raw_names names;
	char node[256];
	int found = 0;

	ck_assert_int_eq(raw_children(fixture_address(), LINE, &names), 0);
	for (int i = 0; i < names.count; i++) {
		const char *name = names.names[i];

		if (strtol(name + strlen(name) - 10, NULL, 10) != number)
			continue;
		snprintf(node, sizeof(node), LINE "/%s", name);
		ck_assert_int_eq(raw_delete(fixture_address(), node), 0);
		found++;
	}
	ck_assert_int_eq(found, 1);
	raw_names_free(&names);
}

/* Only with our leaders: Curator's does not watch its own node while it
   leads. */
START_TEST(ours_lines_up_again_behind_theirs_when_its_node_is_deleted)
{
	static const int then[][PEERS] = { { 1, 2, 3, 0 }, { 1, 3, 0, 2 } };

	enter(0);
	voters_agree(&voters);
	for (int i = 0; i < 2; i++) {
		delete_node(i == 0 ? 0 : 2);
		memcpy(voters.line, then[i], sizeof(then[i]));
		voters_agree(&voters);
	}
	peers_end(voters.peers, PEERS);
}
END_TEST

/* Our leader hands over to the last, one of Curator's, and joins again; or to
   another one of ours, past one of Curator's.  Those that are passed join the
   line again by themselves. */
START_TEST(ours_hands_over_to_one_of_them_past_others)
{
	static const char *const heirs[] = { "dora", "carl" };
	int heir = _i == 0 ? 3 : 2;

	enter(0);
	voters_agree(&voters);
	peer_do(&voters.peers[0], "handed", "hand " LINE " %s", heirs[_i]);
	peer_do(&voters.peers[heir], "leads", "leads " LINE " 30000");
	voters_look(&voters);
	ck_assert_int_eq(voters.line[0], heir);
	voters_agree(&voters);
	for (int i = 0; i < PEERS - 1; i++) {
		voters_resign(&voters);
		voters_agree(&voters);
	}
	peers_end(voters.peers, PEERS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, interop");
	TCase *t = fixture_case(s, "two kinds", 60);

	tcase_add_loop_test(t, all_agree_who_leads_at_every_step, 0, 2);
	tcase_add_loop_test(t,
		the_next_leads_when_the_dead_ones_session_is_over, 0, 2);
	tcase_add_test(t,
		ours_lines_up_again_behind_theirs_when_its_node_is_deleted);
	tcase_add_loop_test(t, ours_hands_over_to_one_of_them_past_others, 0,
		2);
	return interop_main(s, kinds);
}
