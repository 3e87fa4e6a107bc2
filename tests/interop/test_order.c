/*
 * test_order.c - contenders are served in the order in which they came,
 * whichever library they use.
 */
#include "peer.h"
#include "support/raw.h"

#define SESSION_MS 10000
#define LINE "/line"
#define SHORT_MS 5000 /* enough for the next one to come */
#define QUIET_MS 300

/* In this order each kind hands over to each kind, itself included. */
static const enum peer_kind order[] = { PEER_KUSTOS, PEER_KUSTOS, PEER_CURATOR,
	PEER_CURATOR, PEER_KAZOO, PEER_KAZOO, PEER_KUSTOS, PEER_KAZOO,
	PEER_CURATOR, PEER_KUSTOS, PEER_KINDS };
#define PEERS ((int)(sizeof(order) / sizeof(*order)) - 1)

static struct peer peers[PEERS];

static void all_silent_from(int i)
{
	for (; i < PEERS; i++)
		ck_assert_msg(peer_silent(&peers[i]),
			"number %d, %s, had its turn before it came", i,
			peer_name(peers[i].kind));
}

START_TEST(processes_are_served_in_the_order_in_which_they_came)
{
	int64_t last = 0;

	peers_start(peers, order, PEERS, SESSION_MS);
	for (int i = 0; i < PEERS; i++)
		peer_join(&peers[i], LINE, i + 1);
	for (int i = 0; i < PEERS; i++) {
		int64_t now = peer_hear_acquired(&peers[i], PEER_PATIENCE_MS);

		ck_assert_int_gt(now, last);
		last = now;
		all_silent_from(i + 1);
		peer_do(&peers[i], "released", "release " LINE);
	}
	line_await(LINE, 0);
	peers_end(peers, PEERS);
}
END_TEST

/* The one before the last gives up while the first still holds.  Its node goes,
   which must not be taken for a release. */
START_TEST(one_that_gives_up_passes_nothing_on)
{
	struct peer *quitter = &peers[_i];
	struct peer *holder = &peers[(_i + 1) % PEER_COMMON];
	struct peer *last = &peers[(_i + 2) % PEER_COMMON];
	static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR,
		PEER_KAZOO };

	peers_start(peers, kinds, PEER_COMMON, SESSION_MS);
	peer_join(holder, LINE, 1);
	peer_hear_acquired(holder, PEER_PATIENCE_MS);
	peer_tell(quitter, "acquire " LINE " %d", SHORT_MS);
	line_await(LINE, 2);
	peer_join(last, LINE, 3);
	peer_hear(quitter, "timeout", PEER_PATIENCE_MS);
	line_await(LINE, 2);
	test_never(!peer_silent(last), QUIET_MS);
	peer_do(holder, "released", "release " LINE);
	peer_hear_acquired(last, PEER_PATIENCE_MS);
	peer_do(last, "released", "release " LINE);
	peers_end(peers, PEER_COMMON);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("order");
	TCase *t = fixture_case(s, "three kinds", 90);

	tcase_add_test(t, processes_are_served_in_the_order_in_which_they_came);
	tcase_add_loop_test(t, one_that_gives_up_passes_nothing_on, 0,
		PEER_COMMON);
	return interop_main(s, order);
}
