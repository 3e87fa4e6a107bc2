/*
 * test_write_lock.c - the lock that comes with ZooKeeper, its class
 * org.apache.zookeeper.recipes.lock.WriteLock, and our mutex are one line.
 *
 * Their waiter misses a node before it that goes while it is about to watch it,
 * and then waits for ever.  So nothing is released here before it is watched.
 */
#include "integration/client_fixture.h"
#include "peer.h"
#include "support/raw.h"

#include <kustos/participant.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MS 6000
#define LINE "/line"

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_ZOOKEEPER,
	PEER_KINDS };

static struct peer peers[2];

/* Write the path of the first of "count" nodes to "path". */
static void first_of(int count, char *path, size_t size)
{
	struct raw_names names;
	const char *first = "";

	ck_assert_int_eq(raw_children(fixture_address(), LINE, &names), 0);
	ck_assert_int_eq(names.count, count);
	for (int i = 0; i < count; i++) {
		const char *number = strrchr(names.names[i], '-');

		if (i == 0 || strcmp(number, strrchr(first, '-')) < 0)
			first = names.names[i];
	}
	snprintf(path, size, LINE "/%s", first);
	raw_names_free(&names);
}

/* "holder" holds it, and "waiter" comes. */
static void queue_up(struct peer *holder, struct peer *waiter)
{
	char first[256];

	peers_start(peers, kinds, 2, SESSION_MS);
	peer_do(holder, "acquired", "acquire " LINE " 60000");
	peer_join(waiter, LINE, 2);
	first_of(2, first, sizeof(first));
	peer_await_watch(waiter, first);
	ck_assert(peer_silent(waiter));
}

START_TEST(who_waits_gets_it_when_the_other_kind_releases_it)
{
	struct peer *holder = &peers[_i], *waiter = &peers[1 - _i];

	queue_up(holder, waiter);
	peer_do(holder, "released", "release " LINE);
	peer_hear_acquired(waiter, PEER_PATIENCE_MS);
	peer_do(holder, "timeout", "acquire " LINE " 100");
	peer_do(waiter, "released", "release " LINE);
	peer_do(holder, "acquired", "acquire " LINE " 60000");
	peer_do(holder, "released", "release " LINE);
	line_await(LINE, 0);
	peers_end(peers, 2);
}
END_TEST

START_TEST(who_waits_gets_it_when_the_session_of_the_other_kind_is_over)
{
	struct peer *holder = &peers[_i], *waiter = &peers[1 - _i];

	queue_up(holder, waiter);
	peer_kill(holder);
	peer_hear_acquired(waiter, PEER_PATIENCE_MS);
	peer_do(waiter, "released", "release " LINE);
	line_await(LINE, 0);
	peers_end(waiter, 1);
}
END_TEST

START_TEST(a_list_of_those_in_line_has_both_kinds)
{
	static const enum kustos_style styles[] = { KUSTOS_STYLE_CURATOR,
		KUSTOS_STYLE_SESSION };
	struct kustos_participants *p = NULL;
	struct kustos_client *client;

	queue_up(&peers[_i], &peers[1 - _i]);
	client = client_connected(fixture_address(), SESSION_MS);
	check_err(kustos_participants(client, LINE, SOON, NULL, &p), KUSTOS_OK);
	ck_assert_uint_eq(p->count, 2);
	ck_assert_uint_eq(p->foreign, 0);
	ck_assert_int_eq(p->mixed, 1); /* ours could be Curator's by its name */
	for (int i = 0; i < 2; i++) {
		int who = i == 0 ? _i : 1 - _i;

		ck_assert_int_eq(p->list[i]->style, styles[who]);
		ck_assert_int_eq(p->list[i]->holds, i == 0);
		ck_assert_int_eq(p->list[i]->stat.ephemeral_owner,
			peers[who].session);
	}
	kustos_participants_free(p);
	client_close(client);
	peer_do(&peers[_i], "released", "release " LINE);
	peer_hear_acquired(&peers[1 - _i], PEER_PATIENCE_MS);
	peers_end(peers, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ZooKeeper's WriteLock");
	TCase *t = fixture_case(s, "the two", 60);

	tcase_add_loop_test(t,
		who_waits_gets_it_when_the_other_kind_releases_it, 0, 2);
	tcase_add_loop_test(t,
		who_waits_gets_it_when_the_session_of_the_other_kind_is_over, 0,
		2);
	tcase_add_loop_test(t, a_list_of_those_in_line_has_both_kinds, 0, 2);
	return interop_main(s, kinds);
}
