/*
 * test_simple.c - the simple lock, and peers that create the same node with
 * their library's call for any node, without a recipe.
 */
#include "integration/client_fixture.h"
#include "peer.h"
#include "support/raw.h"
#include "turns.h"

#include <kustos/participant.h>

#include <stdio.h>

#define PEERS (2 * PEER_COMMON)
#define TURNS 60 /* of each */
#define SESSION_MS 10000
#define SHORT_MS 4000
#define NODE TURNS_LINE
#define PATIENCE kustos_after_ms(PATIENCE_MS)

static const enum peer_kind kinds[PEERS + 1] = { PEER_KUSTOS, PEER_CURATOR,
	PEER_KAZOO, PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO, PEER_KINDS };

static struct peer peers[PEERS];
static struct turns plan[PEERS];
static struct spans spans;

/* Return the session that holds the lock at "path", or 0. */
static int64_t holder(struct kustos_client *client, const char *path)
{
	struct kustos_participants *p = NULL;
	enum kustos_err err = kustos_participants(client, path, PATIENCE, NULL,
		&p);
	int64_t session = 0;

	if (err == KUSTOS_ENONODE)
		return 0;
	ck_assert_int_eq(err, KUSTOS_OK);
	if (p->count > 0) {
		ck_assert_uint_eq(p->count, 1);
		ck_assert_int_eq(p->list[0]->style, KUSTOS_STYLE_NODE);
		ck_assert_int_eq(p->list[0]->holds, 1);
		session = p->list[0]->stat.ephemeral_owner;
	}
	kustos_participants_free(p);
	return session;
}

START_TEST(six_processes_of_three_kinds_exclude_each_other)
{
	struct kustos_client *client;

	peers_start(peers, kinds, PEERS, SESSION_MS);
	for (int i = 0; i < PEERS; i++)
		plan[i] = (struct turns){ .turns = TURNS,
			.patience_ms = PATIENCE_MS,
			.percent = TURNS_BARE };
	turns_take(peers, plan, PEERS, &spans);
	ck_assert_int_eq(turns_counted(), PEERS * TURNS);
	ck_assert_uint_eq(spans.count, PEERS * TURNS);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	ck_assert_uint_gt(spans_changes(&spans), PEERS * TURNS / 4);
	client = client_connected(fixture_address(), SESSION_MS);
	test_within(holder(client, NODE) == 0, PATIENCE_MS);
	client_close(client);
	peers_end(peers, PEERS);
	spans_free(&spans);
}
END_TEST

/* Each kind holds it in turn, while the next kind tries in vain and then
   waits. */
START_TEST(who_holds_it_is_seen_and_keeps_the_others_out)
{
	struct kustos_client *client;

	peers_start(peers, kinds, PEER_COMMON, SESSION_MS);
	client = client_connected(fixture_address(), SESSION_MS);
	for (int i = 0; i < PEER_COMMON; i++) {
		struct peer *other = &peers[(i + 1) % PEER_COMMON];

		peer_do(&peers[i], "acquired", "acquire " NODE " 30000 bare");
		ck_assert_int_eq(holder(client, NODE), peers[i].session);
		peer_do(other, "timeout", "acquire " NODE " 100 bare");
		ck_assert_int_eq(holder(client, NODE), peers[i].session);
		peer_tell(other, "acquire " NODE " 30000 bare");
		peer_do(&peers[i], "released", "release " NODE " bare");
		peer_hear_acquired(other, PEER_PATIENCE_MS);
		ck_assert_int_eq(holder(client, NODE), other->session);
		peer_do(other, "released", "release " NODE " bare");
	}
	client_close(client);
	peers_end(peers, PEER_COMMON);
}
END_TEST

/* --- Killed -------------------------------------------------------------- */

static struct peer heirs[PEER_COMMON];
static const enum peer_kind heir_kinds[] = { PEER_CURATOR, PEER_KAZOO,
	PEER_KUSTOS };

static const char *path_of(int i)
{
	static const char *const paths[] = { "/one", "/two", "/three" };

	return paths[i];
}

/* Wait until no dead process holds, and note when each was seen as the holder
   last. */
static void await_end(struct kustos_client *client, int64_t *seen_ns)
{
	int64_t end = test_now_ms() + PATIENCE_MS;
	int left = PEER_COMMON;

	while (left > 0) {
		left = 0;
		for (int i = 0; i < PEER_COMMON; i++) {
			int64_t now_ns = test_now_us() * 1000;

			if (holder(client, path_of(i)) != peers[i].session)
				continue;
			seen_ns[i] = now_ns;
			left++;
		}
		ck_assert_int_lt(test_now_ms(), end);
		test_pause_1ms();
	}
}

START_TEST(the_next_kind_gets_it_when_the_dead_ones_session_is_over)
{
	int64_t seen_ns[PEER_COMMON] = { 0 };
	struct kustos_client *client;

	peers_start(peers, kinds, PEER_COMMON, SHORT_MS);
	peers_start(heirs, heir_kinds, PEER_COMMON, SESSION_MS);
	client = client_connected(fixture_address(), SESSION_MS);
	for (int i = 0; i < PEER_COMMON; i++) {
		peer_do(&peers[i], "acquired", "acquire %s 30000 bare",
			path_of(i));
		peer_tell(&heirs[i], "acquire %s 60000 bare", path_of(i));
		peer_await_watch(&heirs[i], path_of(i));
	}
	for (int i = 0; i < PEER_COMMON; i++)
		peer_kill(&peers[i]);
	await_end(client, seen_ns);
	for (int i = 0; i < PEER_COMMON; i++) {
		ck_assert_int_gt(seen_ns[i], 0);
		ck_assert_int_gt(
			peer_hear_acquired(&heirs[i], PEER_PATIENCE_MS),
			seen_ns[i]);
		ck_assert_int_eq(holder(client, path_of(i)), heirs[i].session);
		peer_do(&heirs[i], "released", "release %s bare", path_of(i));
	}
	client_close(client);
	peers_end(heirs, PEER_COMMON);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("simple lock");
	TCase *t = fixture_case(s, "three kinds", 90);

	tcase_add_test(t, six_processes_of_three_kinds_exclude_each_other);
	tcase_add_test(t, who_holds_it_is_seen_and_keeps_the_others_out);
	tcase_add_test(t,
		the_next_kind_gets_it_when_the_dead_ones_session_is_over);
	return interop_main(s, kinds);
}
