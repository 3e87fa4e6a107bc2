/*
 * test_queue_id.c - items are removed by their id: by Curator what we put, and
 * by us what Curator put.  Curator without a lockPath deletes version 0, so it
 * does not remove what was ever claimed.
 */
#include "integration/client_fixture.h"
#include "peer.h"

#include <kustos/claim.h>
#include <kustos/queue.h>

#include <stdlib.h>
#include <string.h>

static const enum peer_kind needed[] = { PEER_CURATOR, PEER_KINDS };

static struct kustos_client *client;
static struct kustos_queue *queue;
static struct kustos_claims *claims;
static struct peer peer;

/* The process is started before this one has threads. */
static void set_up(void)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_claims_options c = KUSTOS_CLAIMS_OPTIONS_INIT;

	peer_start(&peer, PEER_CURATOR, 10000);
	client = client_connected(fixture_address(), 10000);
	o.kind = c.kind = KUSTOS_QUEUE_ID;
	check_err(kustos_queue_create(client, "/q", &o, &queue), KUSTOS_OK);
	check_err(kustos_claims_create(client, "/q", &c, &claims), KUSTOS_OK);
}

static void tear_down(void)
{
	kustos_claims_destroy(claims);
	kustos_queue_destroy(queue);
	client_close(client);
	peers_end(&peer, 1);
}

static void put(const char *id)
{
	struct kustos_new_item item = { .data = "x", .len = 1, .id = id };

	check_err(kustos_queue_put_item(queue, &item, SOON, NULL), KUSTOS_OK);
}

/* They remove this id; "how" is empty, or "locked" for a lockPath. */
static void they_remove(const char *id, const char *how, int count)
{
	peer_tell(&peer, "remove /q %s %s", id, how);
	ck_assert_int_eq(atoi(peer_hear(&peer, "removed", PATIENCE_MS)), count);
}

static void we_remove(const char *id, size_t count)
{
	size_t removed = 0;

	check_err(kustos_queue_remove_id(queue, id, SOON, NULL, &removed),
		KUSTOS_OK);
	ck_assert_uint_eq(removed, count);
}

static struct kustos_claim *claim_one(const char *id)
{
	struct kustos_claim *claim = NULL;

	check_err(kustos_claim_next(claims, SOON, NULL, &claim), KUSTOS_OK);
	ck_assert_str_eq(kustos_claim_item(claim)->id, id);
	return claim;
}

/* With a lockPath or without. */
START_TEST(they_remove_what_we_put)
{
	const char *how = _i == 0 ? "" : "locked";

	put("a");
	put("b");
	put("a");
	they_remove("none", how, 0);
	they_remove("a", how, 2);
	ck_assert_int_eq(fixture_children("/q"), 1);
	they_remove("b", how, 1);
	ck_assert_int_eq(fixture_children("/q"), 0);
}
END_TEST

START_TEST(we_remove_what_they_put)
{
	peer_do(&peer, "ok", "put id /q 1 a");
	peer_do(&peer, "ok", "put id /q 2 b/c");
	peer_do(&peer, "ok", "put id /q 3 a");
	we_remove("none", 0);
	we_remove("a", 2);
	ck_assert_int_eq(fixture_children("/q"), 1);
	we_remove("b/c", 1);
	ck_assert_int_eq(fixture_children("/q"), 0);
}
END_TEST

START_TEST(S16_what_we_have_claimed_they_do_not_remove)
{
	put("a");
	struct kustos_claim *claim = claim_one("a");
	they_remove("a", "", 0);
	they_remove("a", "locked", 0);
	check_err(kustos_claim_ack(claim, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(fixture_children("/q"), 0);
}
END_TEST

START_TEST(what_was_claimed_before_they_remove_only_with_a_lock_path)
{
	put("a");
	kustos_claim_release(claim_one("a"));
	line_await("/q-locks", 0);
	they_remove("a", "", 0);
	ck_assert_int_eq(fixture_children("/q"), 1);
	they_remove("a", "locked", 1);
	ck_assert_int_eq(fixture_children("/q"), 0);
	/* We do, and what is requeued is a new item to them. */
	put("b");
	kustos_claim_release(claim_one("b"));
	line_await("/q-locks", 0);
	we_remove("b", 1);
	put("c");
	check_err(kustos_claim_requeue(claim_one("c"), SOON, NULL), KUSTOS_OK);
	they_remove("c", "", 1);
	ck_assert_int_eq(fixture_children("/q"), 0);
}
END_TEST

/* They delete the version that they have read. */
START_TEST(what_was_claimed_before_they_take_without_a_lock_path)
{
	put("a");
	kustos_claim_release(claim_one("a"));
	line_await("/q-locks", 0);
	peer_tell(&peer, "take id /q 30000");
	ck_assert_str_eq(peer_hear(&peer, "took", PATIENCE_MS), "x");
	line_await("/q", 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("removal by id, interop");
	TCase *t = fixture_case(s, "Curator and we", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, they_remove_what_we_put, 0, 2);
	tcase_add_test(t, we_remove_what_they_put);
	tcase_add_test(t, S16_what_we_have_claimed_they_do_not_remove);
	tcase_add_test(t,
		what_was_claimed_before_they_remove_only_with_a_lock_path);
	tcase_add_test(t,
		what_was_claimed_before_they_take_without_a_lock_path);
	return interop_main(s, needed);
}
