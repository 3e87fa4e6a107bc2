/*
 * test_revoke.c - revocation as Curator does it: each kind asks a holder of the
 * other kind to release the lock.
 */
#include "peer.h"
#include "support/raw.h"

#include <stdio.h>
#include <string.h>

#define SESSION_MS 10000
#define LINE "/line"
#define QUIET_MS 300

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KINDS };

static struct peer peers[2];

/* Return the path of the last of "count" nodes, as "observer" sees them. */
static const char *last_node(struct peer *observer, int count)
{
	static char node[256];
	const char *last;

	peer_tell(observer, "participants " LINE);
	peer_hear(observer, count == 1 ? "1" : "2", PEER_PATIENCE_MS);
	last = strrchr(observer->reply, ' ') + 1;
	snprintf(node, sizeof(node), "%.*s", (int)strcspn(last, "="), last);
	ck_assert_int_eq(raw_exists(fixture_address(), node, NULL), 0);
	return node;
}

/* Each kind holds the lock in turn, and the other kind asks for it. */
START_TEST(a_holder_of_the_other_kind_can_be_asked_for_it)
{
	struct peer *holder = &peers[_i];
	struct peer *other = &peers[1 - _i];
	char node[256];

	peers_start(peers, kinds, 2, SESSION_MS);
	peer_do(holder, "ok", "revocable " LINE);
	peer_do(holder, "acquired", "acquire " LINE " 30000");
	snprintf(node, sizeof(node), "%s", last_node(other, 1));
	peer_do(holder, "no", "revoked " LINE " 0");

	peer_do(other, "ok", "revoke %s", node);
	peer_do(holder, "revoked", "revoked " LINE " 30000");
	peer_do(holder, "no", "revoked " LINE " %d", QUIET_MS);
	peer_do(other, "ok", "revoke %s", node);
	peer_do(holder, "revoked", "revoked " LINE " 30000");

	peer_join(other, LINE, 2);
	peer_do(holder, "released", "release " LINE);
	peer_hear_acquired(other, PEER_PATIENCE_MS);
	peers_end(peers, 2);
}
END_TEST

/* A holder need not release; and other data in its node is no request. */
START_TEST(only_a_request_is_a_request)
{
	struct peer *holder = &peers[_i];
	struct peer *other = &peers[1 - _i];
	const char *node;

	peers_start(peers, kinds, 2, SESSION_MS);
	peer_do(holder, "ok", "revocable " LINE);
	peer_do(holder, "acquired", "acquire " LINE " 30000");
	node = last_node(other, 1);
	ck_assert_int_eq(raw_set(fixture_address(), node, "__REVOKE"), 0);
	ck_assert_int_eq(raw_set(fixture_address(), node, "__REVOKE__ "), 0);
	ck_assert_int_eq(raw_set(fixture_address(), node, ""), 0);
	peer_do(holder, "no", "revoked " LINE " %d", QUIET_MS);
	peer_do(other, "ok", "revoke %s", node);
	peer_do(holder, "revoked", "revoked " LINE " 30000");
	peer_do(other, "timeout", "acquire " LINE " %d", QUIET_MS);
	peer_do(holder, "released", "release " LINE);
	peer_do(other, "acquired", "acquire " LINE " 30000");
	peers_end(peers, 2);
}
END_TEST

/* It may be asked before it holds, and is told when it does.  (Curator misses a
   request that comes before it has begun to watch its node.) */
START_TEST(ours_can_be_asked_while_it_waits)
{
	struct peer *ours = &peers[0];
	struct peer *other = &peers[1];

	peers_start(peers, kinds, 2, SESSION_MS);
	peer_do(other, "acquired", "acquire " LINE " 30000");
	peer_do(ours, "ok", "revocable " LINE);
	peer_join(ours, LINE, 2);
	peer_do(other, "ok", "revoke %s", last_node(other, 2));
	peer_do(other, "released", "release " LINE);
	peer_hear_acquired(ours, PEER_PATIENCE_MS);
	peer_do(ours, "revoked", "revoked " LINE " 30000");
	peers_end(peers, 2);
}
END_TEST

/* It is a node like any other to the one who asks. */
START_TEST(a_holder_of_our_simple_lock_can_be_asked_for_it)
{
	struct peer *ours = &peers[0];
	struct peer *other = &peers[1];

	peers_start(peers, kinds, 2, SESSION_MS);
	peer_do(ours, "ok", "revocable " LINE);
	peer_do(ours, "acquired", "acquire " LINE " 30000 bare");
	peer_do(other, "timeout", "acquire " LINE " %d bare", QUIET_MS);
	for (int i = 0; i < 2; i++) {
		peer_do(other, "ok", "revoke " LINE);
		peer_do(ours, "revoked", "revoked " LINE " 30000");
	}
	peer_do(ours, "no", "revoked " LINE " %d", QUIET_MS);
	peer_do(ours, "released", "release " LINE " bare");
	peer_do(other, "acquired", "acquire " LINE " 30000 bare");
	peers_end(peers, 2);
}
END_TEST

/* A holder that is not revocable is not disturbed, and keeps the lock. */
START_TEST(a_holder_that_is_not_revocable_is_not_disturbed)
{
	struct peer *holder = &peers[_i];
	struct peer *other = &peers[1 - _i];

	peers_start(peers, kinds, 2, SESSION_MS);
	peer_do(holder, "acquired", "acquire " LINE " 30000");
	peer_do(other, "ok", "revoke %s", last_node(other, 1));
	peer_do(other, "timeout", "acquire " LINE " %d", QUIET_MS);
	peer_do(holder, "released", "release " LINE);
	peer_do(other, "acquired", "acquire " LINE " 30000");
	peers_end(peers, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("revoke");
	TCase *t = fixture_case(s, "two kinds", 60);

	tcase_add_loop_test(t, a_holder_of_the_other_kind_can_be_asked_for_it,
		0, 2);
	tcase_add_test(t, ours_can_be_asked_while_it_waits);
	tcase_add_test(t, a_holder_of_our_simple_lock_can_be_asked_for_it);
	tcase_add_loop_test(t, only_a_request_is_a_request, 0, 2);
	tcase_add_loop_test(t, a_holder_that_is_not_revocable_is_not_disturbed,
		0, 2);
	return interop_main(s, kinds);
}
