/*
 * test_requeue.c - items that a lock-safe consumer did not get done: we take
 * what Curator's consumers put back, and they take what we put back or release.
 */
#include "integration/client_fixture.h"
#include "peer.h"
#include "support/raw.h"
#include "support/rawkill.h"

#include <kustos/claim.h>
#include <kustos/queue.h>

#include <stdlib.h>
#include <string.h>

#define PATH "/work"
#define LOCKS PATH "-locks"
#define ITEMS 4

static const struct kind {
	enum kustos_queue_kind kind;
	const char *name;
	bool ordered; /* by a key, which Curator's requeue loses */
} kinds[] = {
	{ KUSTOS_QUEUE_FRAMED, "framed", false },
	{ KUSTOS_QUEUE_PRIORITY, "priority", true },
	{ KUSTOS_QUEUE_DELAY, "delay", true },
	{ KUSTOS_QUEUE_ID, "id", false },
};
#define KINDS 4

static const enum peer_kind needed[] = { PEER_CURATOR, PEER_KINDS };

static struct kustos_client *client;
static struct peer peer;
static int done[ITEMS], calls;
static bool go_on; /* Curator's consumer has got enough items */

/* The process is started before this one has threads. */
static void start(void)
{
	memset(done, 0, sizeof(done));
	calls = 0;
	go_on = false;
	peer_start(&peer, PEER_CURATOR, 10000);
	client = client_connected(fixture_address(), 10000);
}

static struct kustos_claims *claims_of(const struct kind *kind, int quirk)
{
	struct kustos_claims_options o = KUSTOS_CLAIMS_OPTIONS_INIT;
	struct kustos_claims *claims = NULL;

	o.kind = kind->kind;
	o.curator_requeue = quirk;
	check_err(kustos_claims_create(client, PATH, &o, &claims), KUSTOS_OK);
	return claims;
}

static struct kustos_claim *claim_expect(struct kustos_claims *claims,
	const char *text)
{
	struct kustos_claim *claim = NULL;

	check_err(kustos_claim_next(claims, SOON, NULL, &claim), KUSTOS_OK);
	ck_assert_str_eq(kustos_claim_item(claim)->data, text);
	return claim;
}

static void put(const struct kind *kind, const struct kustos_new_item *item)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_queue *queue = NULL;

	o.kind = kind->kind;
	check_err(kustos_queue_create(client, PATH, &o, &queue), KUSTOS_OK);
	check_err(kustos_queue_put_item(queue, item, SOON, NULL), KUSTOS_OK);
	kustos_queue_destroy(queue);
}

/* Return how many items Curator's consumer has begun; "which" are their numbers
   with spaces between them. */
static int consumed(char **which)
{
	peer_tell(&peer, "consumed " PATH);
	return (int)strtol(peer_hear(&peer, "consumed", PATIENCE_MS), which,
		10);
}

static bool has_begun(int count)
{
	char *which;

	return consumed(&which) == count;
}

static int count_consumed(void)
{
	char *which;
	int count = consumed(&which);

	for (int i = 0; i < count; i++) {
		long number = strtol(which, &which, 10);

		ck_assert(number >= 0 && number < ITEMS);
		done[number]++;
	}
	return count;
}

static void expect_all_done_once(void)
{
	for (int i = 0; i < ITEMS; i++)
		ck_assert_msg(done[i] == 1, "%d: %d times", i, done[i]);
}

/* The consumer fails with an item of two parts, and is killed when it has it
   again. */
static void they_requeue(const struct kind *kind)
{
	const struct kustos_part parts[] = { { "0", 1 }, { "1", 1 } };
	const struct kustos_new_item item = { .parts = parts,
		.count = 2,
		.priority = 7,
		.due_ms = 7,
		.id = "7" };

	put(kind, &item);
	peer_do(&peer, "ok", "consume " PATH " 600000 %s 1", kind->name);
	test_eventually(has_begun(2), PATIENCE_MS);
	ck_assert_int_eq(fixture_children(PATH), 1);
	peer_kill(&peer);
	ck_assert_int_eq(raw_kill_session(fixture_address(), peer.session), 0);
}

START_TEST(S17_what_they_requeue_is_a_new_item_to_us)
{
	const struct kind *kind = &kinds[_i];
	const struct kustos_new_item urgent = { .data = "urgent",
		.len = 6,
		.priority = -5,
		.due_ms = 1 };

	start();
	struct kustos_claims *claims = claims_of(kind, 0);
	they_requeue(kind);
	put(kind, &urgent);
	struct kustos_claim *claim = claim_expect(claims, "0");
	const struct kustos_item *item = kustos_claim_item(claim);
	ck_assert_int_eq(kustos_claim_deliveries(claim), 1);
	ck_assert_uint_eq(item->count, 2);
	ck_assert_mem_eq(item->parts[1].data, "1", 1);
	ck_assert_int_eq(item->priority, 0);
	ck_assert_int_eq(item->due_ms, 0);
	if (kind->kind == KUSTOS_QUEUE_ID)
		ck_assert_str_eq(item->id, "7");
	check_err(kustos_claim_ack(claim, SOON, NULL), KUSTOS_OK);
	check_err(kustos_claim_ack(claim_expect(claims, "urgent"), SOON, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(fixture_children(PATH), 0);
	kustos_claims_destroy(claims);
	client_close(client);
}
END_TEST

/* Their consumer has looked, and waits.  It looks again when an item is put or
   taken, and then finds the one that was released before. */
START_TEST(S16_what_we_give_back_they_take)
{
	const struct kind *kind = &kinds[_i];

	start();
	struct kustos_claims *claims = claims_of(kind, 0);
	struct kustos_claims *quirk = claims_of(kind, 1);
	peer_do(&peer, "ok", "feed " PATH " 0 %d %s", ITEMS, kind->name);
	struct kustos_claim *released = claim_expect(claims, "0");
	struct kustos_claim *requeued = claim_expect(claims, "1");
	struct kustos_claim *keyless = claim_expect(quirk, "2");
	peer_do(&peer, "ok", "consume " PATH " 1 %s", kind->name);
	line_await(PATH, ITEMS - 1);
	kustos_claim_release(released);
	line_await(LOCKS, 2);
	check_err(kustos_claim_requeue(requeued, SOON, NULL), KUSTOS_OK);
	check_err(kustos_claim_requeue(keyless, SOON, NULL), KUSTOS_OK);
	line_await(PATH, 0);
	ck_assert_int_eq(count_consumed(), ITEMS);
	expect_all_done_once();
	kustos_claims_destroy(quirk);
	kustos_claims_destroy(claims);
	client_close(client);
	peers_end(&peer, 1);
}
END_TEST

/* Fails twice, and does not finish the third item until they have theirs. */
static enum kustos_verdict work(void *arg, struct kustos_claim *claim)
{
	int call = __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);

	(void)arg;
	if (call == 0)
		return KUSTOS_VERDICT_REQUEUE;
	if (call == 1)
		return KUSTOS_VERDICT_RELEASE;
	while (!__atomic_load_n(&go_on, __ATOMIC_SEQ_CST))
		test_pause_1ms();
	done[atoi(kustos_claim_item(claim)->data)]++;
	return KUSTOS_VERDICT_ACK;
}

START_TEST(S16_what_our_consumer_fails_with_they_take)
{
	const struct kind *kind = &kinds[_i];
	struct kustos_consumer *consumer = NULL;

	start();
	struct kustos_claims *claims = claims_of(kind, 0);
	peer_do(&peer, "ok", "feed " PATH " 0 %d %s", ITEMS, kind->name);
	check_err(kustos_claims_consume(claims, work, NULL, NULL, &consumer),
		KUSTOS_OK);
	test_eventually(__atomic_load_n(&calls, __ATOMIC_SEQ_CST) == 3,
		PATIENCE_MS);
	line_await(LOCKS, 1);
	peer_do(&peer, "ok", "consume " PATH " 1 %s", kind->name);
	line_await(PATH, 1);
	ck_assert_int_eq(count_consumed(), ITEMS - 1);
	__atomic_store_n(&go_on, true, __ATOMIC_SEQ_CST);
	line_await(PATH, 0);
	kustos_consumer_stop(consumer);
	expect_all_done_once();
	kustos_claims_destroy(claims);
	client_close(client);
	peers_end(&peer, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("items that were put back, interop");
	TCase *t = fixture_case(s, "Curator and we", 20);

	tcase_add_loop_test(t, S17_what_they_requeue_is_a_new_item_to_us, 0,
		KINDS);
	tcase_add_loop_test(t, S16_what_we_give_back_they_take, 0, KINDS);
	tcase_add_loop_test(t, S16_what_our_consumer_fails_with_they_take, 0,
		KINDS);
	return interop_main(s, needed);
}
