/*
 * test_claim.c - items that we have claimed are left alone by Curator's
 * lock-safe consumers and by kazoo's LockingQueue, and we leave theirs alone;
 * each consumes the items that others have put.
 */
#include "integration/client_fixture.h"
#include "peer.h"
#include "support/raw.h"
#include "support/rawkill.h"

#include <kustos/claim.h>
#include <kustos/queue.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/work"
#define ITEMS 60
#define PEERS 2

static const enum peer_kind needed[] = { PEER_CURATOR, PEER_KAZOO, PEER_KINDS };

static const struct kind {
	enum kustos_queue_kind kind;
	enum peer_kind peer;
	const char *name;
	const char *items, *markers; /* where they are */
} kinds[] = {
	{ KUSTOS_QUEUE_FRAMED, PEER_CURATOR, "framed", PATH, PATH "-locks" },
	{ KUSTOS_QUEUE_KAZOO_LOCKING, PEER_KAZOO, "locking", PATH "/entries",
		PATH "/taken" },
	{ KUSTOS_QUEUE_PRIORITY, PEER_CURATOR, "priority", PATH,
		PATH "-locks" },
	{ KUSTOS_QUEUE_DELAY, PEER_CURATOR, "delay", PATH, PATH "-locks" },
	{ KUSTOS_QUEUE_ID, PEER_CURATOR, "id", PATH, PATH "-locks" },
};
#define KINDS 5
#define LIBRARIES 2 /* the first kinds, one of each */

static struct peer peers[PEERS];
static struct kustos_client *client;
static int seen[ITEMS], ours;
static bool go_on; /* the peers have got enough items */

/* Processes are started before this one has threads. */
static void start(const struct kind *kind)
{
	const enum peer_kind both[PEERS] = { kind->peer, kind->peer };

	memset(seen, 0, sizeof(seen));
	ours = 0;
	go_on = false;
	peers_start(peers, both, PEERS, 10000);
	client = client_connected(fixture_address(), 10000);
}

static void end(void)
{
	client_close(client);
	peers_end(peers, PEERS);
}

static void see(int number)
{
	ck_assert_int_ge(number, 0);
	ck_assert_int_lt(number, ITEMS);
	__atomic_add_fetch(&seen[number], 1, __ATOMIC_SEQ_CST);
}

/* The first item takes until the peers have got some as well. */
static enum kustos_verdict work(void *arg, struct kustos_claim *claim)
{
	(void)arg;
	see(atoi(kustos_claim_item(claim)->data));
	__atomic_add_fetch(&ours, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&go_on, __ATOMIC_SEQ_CST))
		test_pause_1ms();
	return KUSTOS_VERDICT_ACK;
}

static struct kustos_claims *claims_of(const struct kind *kind)
{
	struct kustos_claims_options o = KUSTOS_CLAIMS_OPTIONS_INIT;
	struct kustos_claims *claims = NULL;

	o.kind = kind->kind;
	ck_assert_int_eq(kustos_claims_create(client, PATH, &o, &claims),
		KUSTOS_OK);
	return claims;
}

/* Return how many items a peer has consumed; "which" are their numbers with
   spaces between them. */
static int consumed(struct peer *peer, char **which)
{
	peer_tell(peer, "consumed " PATH);
	return (int)strtol(peer_hear(peer, "consumed", PATIENCE_MS), which, 10);
}

static bool they_have_some(void)
{
	char *which;

	for (int i = 0; i < PEERS; i++)
		if (consumed(&peers[i], &which) > 0)
			return true;
	return false;
}

static int count_consumed(struct peer *peer)
{
	char *which;
	int count = consumed(peer, &which);

	for (int i = 0; i < count; i++)
		see((int)strtol(which, &which, 10));
	return count;
}

START_TEST(S16_each_item_is_consumed_once_by_somebody)
{
	const struct kind *kind = &kinds[_i];
	struct kustos_consumer *consumer = NULL;
	int theirs = 0;

	start(kind);
	struct kustos_claims *claims = claims_of(kind);
	ck_assert_int_eq(
		kustos_claims_consume(claims, work, NULL, NULL, &consumer),
		KUSTOS_OK);
	peer_do(&peers[0], "ok", "feed " PATH " 0 1 %s", kind->name);
	test_eventually(__atomic_load_n(&ours, __ATOMIC_SEQ_CST) == 1,
		PATIENCE_MS);
	for (int i = 0; i < PEERS; i++)
		peer_do(&peers[i], "ok", "consume " PATH " 1 %s", kind->name);
	peer_do(&peers[0], "ok", "feed " PATH " 1 %d %s", ITEMS, kind->name);
	test_eventually(they_have_some(), PATIENCE_MS);
	__atomic_store_n(&go_on, true, __ATOMIC_SEQ_CST);
	line_await(kind->items, 0);
	kustos_consumer_stop(consumer);
	for (int i = 0; i < PEERS; i++)
		theirs += count_consumed(&peers[i]);
	for (int i = 0; i < ITEMS; i++)
		ck_assert_msg(seen[i] == 1, "%d: %d times", i, seen[i]);
	ck_assert_int_eq(theirs + ours, ITEMS);
	kustos_claims_destroy(claims);
	end();
}
END_TEST

START_TEST(S16_what_we_put_they_consume_once)
{
	const struct kind *kind = &kinds[_i];
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_queue *queue = NULL;
	int theirs = 0;

	start(kind);
	o.kind = kind->kind;
	ck_assert_int_eq(kustos_queue_create(client, PATH, &o, &queue),
		KUSTOS_OK);
	for (int i = 0; i < ITEMS; i++) {
		char text[12];
		struct kustos_new_item item = { .data = text,
			.priority = i,
			.due_ms = i,
			.id = text };

		item.len = (size_t)snprintf(text, sizeof(text), "%d", i);
		ck_assert_int_eq(
			kustos_queue_put_item(queue, &item, SOON, NULL),
			KUSTOS_OK);
	}
	for (int i = 0; i < PEERS; i++)
		peer_do(&peers[i], "ok", "consume " PATH " 1 %s", kind->name);
	line_await(kind->items, 0);
	for (int i = 0; i < PEERS; i++)
		theirs += count_consumed(&peers[i]);
	for (int i = 0; i < ITEMS; i++)
		ck_assert_msg(seen[i] == 1, "%d: %d times", i, seen[i]);
	ck_assert_int_eq(theirs, ITEMS);
	kustos_queue_destroy(queue);
	end();
}
END_TEST

START_TEST(S16_what_we_have_they_leave_alone)
{
	const struct kind *kind = &kinds[_i];
	struct kustos_claim *claim = NULL;

	start(kind);
	struct kustos_claims *claims = claims_of(kind);
	peer_do(&peers[0], "ok", "feed " PATH " 0 3 %s", kind->name);
	ck_assert_int_eq(kustos_claim_next(claims, SOON, NULL, &claim),
		KUSTOS_OK);
	ck_assert_str_eq(kustos_claim_item(claim)->data, "0");
	peer_do(&peers[0], "ok", "consume " PATH " 1 %s", kind->name);
	line_await(kind->items, 1);
	ck_assert_int_eq(kustos_claim_ack(claim, SOON, NULL), KUSTOS_OK);
	line_await(kind->items, 0);
	ck_assert_int_eq(count_consumed(&peers[0]), 2);
	ck_assert_int_eq(seen[0], 0);
	kustos_claims_destroy(claims);
	end();
}
END_TEST

START_TEST(S16_what_a_killed_peer_had_is_ours)
{
	const struct kind *kind = &kinds[_i];
	struct kustos_claim *claim = NULL;

	start(kind);
	struct kustos_claims *claims = claims_of(kind);
	peer_do(&peers[0], "ok", "consume " PATH " 600000 %s", kind->name);
	peer_do(&peers[1], "ok", "feed " PATH " 0 1 %s", kind->name);
	line_await(kind->markers, 1);
	ck_assert_int_eq(kustos_claim_next(claims, KUSTOS_NOW, NULL, &claim),
		KUSTOS_EEMPTY);
	peer_kill(&peers[0]);
	/* Its session is ended here, sooner than it would expire. */
	ck_assert_int_eq(raw_kill_session(fixture_address(), peers[0].session),
		0);
	ck_assert_int_eq(kustos_claim_next(claims, SOON, NULL, &claim),
		KUSTOS_OK);
	ck_assert_str_eq(kustos_claim_item(claim)->data, "0");
	ck_assert_int_eq(kustos_claim_ack(claim, SOON, NULL), KUSTOS_OK);
	kustos_claims_destroy(claims);
	client_close(client);
	peers_end(&peers[1], 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("claims beside Curator and kazoo");
	TCase *t = fixture_case(s, "two peers of a kind, and we", 20);

	tcase_add_loop_test(t, S16_each_item_is_consumed_once_by_somebody, 0,
		KINDS);
	tcase_add_loop_test(t, S16_what_we_put_they_consume_once, 0, KINDS);
	tcase_add_loop_test(t, S16_what_we_have_they_leave_alone, 0, KINDS);
	tcase_add_loop_test(t, S16_what_a_killed_peer_had_is_ours, 0,
		LIBRARIES);
	return interop_main(s, needed);
}
