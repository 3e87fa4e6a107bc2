/*
 * test_container.c - the server removes a line that has been empty for a while;
 * the next contender creates it again, whichever kind created it before.
 */
#include "peer.h"
#include "support/raw.h"

#define SESSION_MS 10000
#define BOX "/box"
#define LINE BOX "/line"
#define ROUNDS 3

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KINDS };

static struct peer peers[2];

static void await_reaped(const char *path)
{
	test_eventually(raw_exists(fixture_address(), path, NULL) == RAW_NONODE,
		10000);
}

/* Both kinds use the line once; "first" creates it.  Then it is empty and is
   removed. */
static void use_once(struct peer *first, struct peer *second)
{
	peer_do(first, "acquired", "acquire " LINE " 30000");
	peer_join(second, LINE, 2);
	ck_assert(peer_silent(second));
	peer_do(first, "released", "release " LINE);
	peer_hear_acquired(second, PEER_PATIENCE_MS);
	peer_do(second, "released", "release " LINE);
	await_reaped(BOX);
}

START_TEST(a_line_that_was_removed_is_made_again)
{
	peers_start(peers, kinds, 2, SESSION_MS);
	for (int i = 0; i < ROUNDS; i++) {
		use_once(&peers[0], &peers[1]);
		use_once(&peers[1], &peers[0]);
	}
	peers_end(peers, 2);
}
END_TEST

int main(void)
{
	static const struct server_options options = {
		.jvm = "-Dznode.container.checkIntervalMs=50"
	};
	Suite *s = suite_create("container");
	TCase *t = fixture_case(s, "two kinds", 60);

	fixture_options(&options);
	tcase_add_test(t, a_line_that_was_removed_is_made_again);
	return interop_main(s, kinds);
}
