/*
 * test_killed.c - the holder is killed: the next one gets the lock when the
 * dead one's session is over, and not before.
 */
#include "peer.h"
#include "support/process.h"
#include "support/raw.h"
#include "support/rawkill.h"

#include <stdio.h>
#include <string.h>

#define SESSION_MS 6000
#define MAX_PATH 256

/* The kind of the next process; and the sides of a read/write lock that the
   victim holds and the next one asks for, or "" for a mutex. */
struct scene {
	enum peer_kind next;
	const char *held, *asked;
};

/* A victim and the process behind it: their path, and the victim's node. */
struct pair {
	const struct scene *scene;
	char path[32];
	char node[MAX_PATH];
	struct peer *next;
	int64_t seen_ns; /* when the victim's node certainly existed */
	bool gone;
};

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO,
	PEER_KINDS };

/* Two for each kind of victim. */
#define PAIRS (PEER_COMMON * 2)
static const struct scene scenes[][PAIRS] = {
	{ { PEER_CURATOR, "", "" }, { PEER_KAZOO, "", "" },
		{ PEER_KUSTOS, "", "" }, { PEER_KAZOO, "", "" },
		{ PEER_KUSTOS, "", "" }, { PEER_CURATOR, "", "" } },
	{ { PEER_CURATOR, "read", "write" }, { PEER_CURATOR, "write", "read" },
		{ PEER_KUSTOS, "read", "write" },
		{ PEER_KUSTOS, "write", "read" },
		{ PEER_KUSTOS, "read", "write" },
		{ PEER_KUSTOS, "write", "read" } },
	{ { PEER_CURATOR, "write", "write" }, { PEER_KAZOO, "write", "write" },
		{ PEER_KUSTOS, "write", "write" },
		{ PEER_KAZOO, "write", "write" },
		{ PEER_KUSTOS, "write", "write" },
		{ PEER_CURATOR, "write", "write" } },
};
#define SCENES 3

static struct peer victims[PEER_COMMON];
static struct peer heirs[PAIRS];
static struct pair pairs[PAIRS];

static void first_node(const char *path, char *node, size_t size)
{
	struct raw_names names;
	char full[512];

	ck_assert_int_eq(raw_children(fixture_address(), path, &names), 0);
	ck_assert_int_eq(names.count, 1);
	snprintf(full, sizeof(full), "%s/%s", path, names.names[0]);
	ck_assert_uint_lt(strlen(full), size);
	memcpy(node, full, strlen(full) + 1);
	raw_names_free(&names);
}

/* Let "victim" hold the lock and "next" wait for it. */
static void make_pair(struct pair *pair, int number, struct peer *victim,
	struct peer *next)
{
	snprintf(pair->path, sizeof(pair->path), "/line-%d", number);
	pair->next = next;
	peer_do(victim, "acquired", "acquire %s 30000 %s", pair->path,
		pair->scene->held);
	first_node(pair->path, pair->node, sizeof(pair->node));
	peer_tell(next, "acquire %s 60000 %s", pair->path, pair->scene->asked);
	line_await(pair->path, 2);
}

/* Note when each victim's node was seen last.  Returns whether any still
   exists. */
static bool any_left(struct raw *raw)
{
	bool left = false;

	for (int i = 0; i < PAIRS; i++) {
		int64_t now_ns = test_now_us() * 1000;
		int rc;

		if (pairs[i].gone)
			continue;
		rc = raw_do_exists(raw, pairs[i].node, NULL);
		ck_assert(rc == 0 || rc == RAW_NONODE);
		if (rc == 0)
			pairs[i].seen_ns = now_ns;
		pairs[i].gone = rc != 0;
		left = left || rc == 0;
	}
	return left;
}

static void check_pair(const struct pair *pair, int64_t killed_ns)
{
	int64_t got_ns = peer_hear_acquired(pair->next, PEER_PATIENCE_MS);

	ck_assert_msg(got_ns > pair->seen_ns,
		"%s had it while the dead one's session lived",
		peer_name(pair->next->kind));

	/* Clients send something every third of the timeout at least, so a
	   session cannot end earlier after the kill. */
	ck_assert_int_gt(got_ns, killed_ns + SESSION_MS * INT64_C(500000));
	peer_do(pair->next, "released", "release %s %s", pair->path,
		pair->scene->asked);
}

START_TEST(the_next_gets_it_when_the_dead_ones_session_is_over)
{
	struct raw *raw = raw_open(fixture_address(), 60000);
	enum peer_kind heir_kinds[PAIRS];
	int64_t killed_ns;

	ck_assert_ptr_nonnull(raw);
	peers_start(victims, kinds, PEER_COMMON, SESSION_MS);
	for (int i = 0; i < PAIRS; i++) {
		pairs[i].scene = &scenes[_i][i];
		heir_kinds[i] = scenes[_i][i].next;
	}
	peers_start(heirs, heir_kinds, PAIRS, 10000);
	for (int i = 0; i < PAIRS; i++)
		make_pair(&pairs[i], i, &victims[i / 2], &heirs[i]);
	killed_ns = test_now_us() * 1000;
	for (int v = 0; v < PEER_COMMON; v++)
		peer_kill(&victims[v]);
	test_within(!any_left(raw), PATIENCE_MS);
	for (int i = 0; i < PAIRS; i++)
		check_pair(&pairs[i], killed_ns);
	raw_close(raw);
	peers_end(heirs, PAIRS);
}
END_TEST

static bool is_lost(struct peer *ours)
{
	peer_do(ours, "state", "state /line");
	return strcmp(ours->reply, "state LOST") == 0;
}

/* Our process lives, but its session is ended.  The other kind gets the lock;
   ours reports this each time, and does not touch the other's node. */
START_TEST(S05_ours_knows_that_another_kind_has_it_now)
{
	struct peer ours, other;

	peer_start(&ours, PEER_KUSTOS, SESSION_MS);
	peer_start(&other, kinds[_i], SESSION_MS);
	peer_do(&ours, "acquired", "acquire /line 30000");
	peer_do(&ours, "acquired", "acquire /line 30000"); /* nested */
	peer_join(&other, "/line", 2);
	ck_assert_int_eq(raw_kill_session(fixture_address(), ours.session), 0);
	peer_hear_acquired(&other, PEER_PATIENCE_MS);
	test_within(is_lost(&ours), PEER_PATIENCE_MS);
	peer_do(&ours, "lost", "acquire /line 30000");
	peer_do(&ours, "lost", "release /line");
	peer_do(&ours, "lost", "release /line");
	ck_assert_int_eq(raw_count_children(fixture_address(), "/line"), 1);
	peer_do(&other, "released", "release /line");
	peer_do(&ours, "acquired", "acquire /line 30000");
	peers_end(&ours, 1);
	peers_end(&other, 1);
}
END_TEST

/* Our process is stopped beyond the end of its session.  The first thing that
   it reports afterwards is the loss, and whatever it does then disturbs
   nobody. */
START_TEST(S01_ours_knows_when_it_wakes_that_another_kind_has_it)
{
	struct peer ours, other;

	peer_start(&ours, PEER_KUSTOS, SESSION_MS);
	peer_start(&other, kinds[_i], 10000);
	peer_do(&ours, "acquired", "acquire /line 30000");
	peer_join(&other, "/line", 2);
	ck_assert_int_eq(process_pause(ours.child.pid), 0);
	peer_hear_acquired(&other, PEER_PATIENCE_MS);
	peer_tell(&ours, "state /line");
	peer_tell(&ours, "release /line");
	ck_assert_int_eq(process_resume(ours.child.pid), 0);
	ck_assert_str_eq(peer_hear(&ours, "state", PEER_PATIENCE_MS), "LOST");
	peer_hear(&ours, "lost", PEER_PATIENCE_MS);
	peer_do(&ours, "timeout", "acquire /line 300");
	peer_do(&other, "released", "release /line");
	peer_do(&ours, "acquired", "acquire /line 30000");
	peers_end(&ours, 1);
	peers_end(&other, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("killed");
	TCase *t = fixture_case(s, "three kinds", 60);

	tcase_add_loop_test(t,
		the_next_gets_it_when_the_dead_ones_session_is_over, 0, SCENES);
	tcase_add_loop_test(t, S05_ours_knows_that_another_kind_has_it_now, 1,
		PEER_COMMON);
	tcase_add_loop_test(t,
		S01_ours_knows_when_it_wakes_that_another_kind_has_it, 1,
		PEER_COMMON);
	return interop_main(s, kinds);
}
