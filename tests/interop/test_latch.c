/*
 * test_latch.c - Curator's LeaderLatch and ours on one path elect one leader,
 * and both know who that is.
 */
#include "peer.h"
#include "support/raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MS 4000
#define LINE "/election"
#define PEERS 4

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KINDS };

static struct peer peers[PEERS];
static const char *const ids[PEERS] = { "ann", "bob", "carl", "dora" };

/* Who takes part, in order, by number. */
static int line[PEERS], in_line;

static void elect(int i)
{
	peer_do(&peers[i], "ok", "elect " LINE " %s", ids[i]);
	line[in_line++] = i;
	line_await(LINE, in_line);
}

/* Take the leader out of the line.  Returns its number. */
static int take_first(void)
{
	int first = line[0];

	in_line--;
	memmove(line, line + 1, sizeof(*line) * (size_t)in_line);
	return first;
}

static void resign(void)
{
	peer_do(&peers[take_first()], "resigned", "resign " LINE);
}

/* By turns; "first" says who begins. */
static void enter(int first)
{
	enum peer_kind in_turns[PEERS];

	for (int i = 0; i < PEERS; i++)
		in_turns[i] = kinds[(first + i) % 2];
	peers_start(peers, in_turns, PEERS, SESSION_MS);
	for (int i = 0; i < PEERS; i++)
		elect(i);
}

/* The first of the line leads, the others do not, and every process, also one
   that takes no part, has the same leader and the same candidates. */
static void check_agreed(void)
{
	char count[16], all[256];
	size_t len;

	line_await(LINE, in_line);
	peer_do(&peers[line[0]], "leads", "leads " LINE " 30000");
	for (int i = 1; i < in_line; i++)
		peer_do(&peers[line[i]], "no", "leads " LINE " 0");
	snprintf(count, sizeof(count), "%d", in_line);
	len = (size_t)snprintf(all, sizeof(all), "%s %s", count, ids[line[0]]);
	for (int i = 0; i < in_line; i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, " %s",
			ids[line[i]]);
	for (int i = 0; i < PEERS; i++) {
		struct peer *p = &peers[i];

		if (p->child.pid == 0)
			continue; /* it was killed */
		peer_do(p, count, "candidates " LINE);
		ck_assert_msg(strcmp(p->reply, all) == 0,
			"%s says \"%s\" and not \"%s\"", peer_name(p->kind),
			p->reply, all);
	}
}

START_TEST(all_agree_who_leads_at_every_step)
{
	enter(_i);
	check_agreed();
	/* Each resigns, and stands in line again. */
	for (int i = 0; i < PEERS; i++) {
		int first = line[0];

		resign();
		check_agreed();
		elect(first);
		check_agreed();
	}
	while (in_line > 1) {
		resign();
		check_agreed();
	}
	resign();
	line_await(LINE, 0);
	peers_end(peers, PEERS);
}
END_TEST

/* The leader, and then the next one, which is of the other kind; and of the two
   that are left one resigns. */
START_TEST(the_next_leads_when_the_dead_ones_session_is_over)
{
	enter(_i);
	check_agreed();
	for (int i = 0; i < 2; i++) {
		struct peer *dead = &peers[line[0]];
		struct peer *next = &peers[line[1]];
		int64_t killed_ns = test_now_us() * 1000;

		(void)take_first();
		peer_kill(dead);
		peer_do(next, "leads", "leads " LINE " 30000");
		/* The clients say something each third of the timeout. */
		ck_assert_int_gt(
			strtoll(next->reply + strlen("leads "), NULL, 10),
			killed_ns + SESSION_MS * INT64_C(500000));
		check_agreed();
	}
	resign();
	check_agreed();
	peers_end(peers + 2, PEERS - 2);
}
END_TEST

/* Delete the node with the number. */
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

/* Ours only: Curator's does not look at its node while it leads. */
START_TEST(ours_lines_up_again_behind_theirs_when_its_node_is_deleted)
{
	static const int then[][PEERS] = { { 1, 2, 3, 0 }, { 1, 3, 0, 2 } };

	enter(0);
	check_agreed();
	for (int i = 0; i < 2; i++) {
		delete_node(i == 0 ? 0 : 2);
		memcpy(line, then[i], sizeof(then[i]));
		check_agreed();
	}
	peers_end(peers, PEERS);
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
	return interop_main(s, kinds);
}
