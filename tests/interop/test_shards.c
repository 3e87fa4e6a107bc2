/*
 * test_shards.c - a queue that Curator's QueueSharder has spread over several
 * nodes: each shard is a queue to us.
 */
#include "integration/client_fixture.h"
#include "peer.h"
#include "support/raw.h"

#include <kustos/queue.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/q"
#define SHARDS 2
#define EACH 10 /* items for one shard that we put */
#define FEW 6	/* items, for which one shard is too small */
#define ITEMS 12

static const enum peer_kind needed[] = { PEER_CURATOR, PEER_KINDS };

static struct kustos_client *client;
static struct kustos_queue *shards[SHARDS];
static struct peer peers[2];

/* Curator makes two shards, and puts some items into each.  Our receipts must
   not be beside the shards: Curator would take their folder for another. */
static void start(int count)
{
	const enum peer_kind both[] = { PEER_CURATOR, PEER_CURATOR };
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct raw_names names;
	char path[256];

	peers_start(peers, both, count, 10000);
	client = client_connected(fixture_address(), 10000);
	peer_do(&peers[0], "ok", "shard " PATH);
	peer_do(&peers[0], "ok", "scatter " PATH " 0 %d", FEW);
	line_await(PATH, SHARDS);
	peer_do(&peers[0], "ok", "scatter " PATH " %d %d", FEW, ITEMS);
	ck_assert_int_eq(raw_children(fixture_address(), PATH, &names), 0);
	ck_assert_int_eq(names.count, SHARDS);
	o.kind = KUSTOS_QUEUE_FRAMED;
	o.receipts = PATH "-receipts";
	for (int i = 0; i < SHARDS; i++) {
		snprintf(path, sizeof(path), PATH "/%s", names.names[i]);
		check_err(kustos_queue_create(client, path, &o, &shards[i]),
			KUSTOS_OK);
	}
	raw_names_free(&names);
}

static void end(int count)
{
	for (int i = 0; i < SHARDS; i++)
		kustos_queue_destroy(shards[i]);
	client_close(client);
	peers_end(peers, count);
}

/* Curator knows no more shards than these.  The server may have deleted an empty
   one. */
static void expect_no_other_shard(void)
{
	ck_assert_int_le(fixture_children(PATH), SHARDS);
	peer_tell(&peers[0], "shards " PATH);
	ck_assert_int_eq(atoi(peer_hear(&peers[0], "shards", PATIENCE_MS)),
		SHARDS);
}

/* Take all items of a shard.  Returns how many they were. */
static int take_all(struct kustos_queue *shard, bool *had)
{
	struct kustos_item *item = NULL;
	int count = 0;
	enum kustos_err err;

	while ((err = kustos_queue_poll(shard, KUSTOS_NOW, NULL, &item)) ==
		KUSTOS_OK) {
		int number = atoi(item->data);

		ck_assert(number >= 0 && number < ITEMS && !had[number]);
		had[number] = true;
		kustos_item_free(item);
		count++;
	}
	check_err(err, KUSTOS_EEMPTY);
	return count;
}

START_TEST(we_take_what_they_put_into_the_shards)
{
	bool had[ITEMS] = { false };
	int count = 0;

	start(1);
	for (int i = 0; i < SHARDS; i++) {
		int of_this = take_all(shards[i], had);

		ck_assert_int_gt(of_this, 0);
		count += of_this;
	}
	ck_assert_int_eq(count, ITEMS);
	expect_no_other_shard();
	end(1);
}
END_TEST

static void put(struct kustos_queue *shard, int from, int to)
{
	char text[12];

	for (int i = from; i < to; i++) {
		size_t len = (size_t)snprintf(text, sizeof(text), "%d", i);

		check_err(kustos_queue_put(shard, text, len, SOON, NULL),
			KUSTOS_OK);
	}
}

/* Some of our items are there before their consumers, and some come later. */
START_TEST(they_take_what_we_put_into_the_shards)
{
	bool had[ITEMS + SHARDS * EACH] = { false };
	int from = ITEMS;

	start(2);
	for (int i = 0; i < SHARDS; i++, from += EACH)
		put(shards[i], from, from + EACH / 2);
	peer_do(&peers[1], "ok", "shard " PATH " taken");
	from = ITEMS;
	for (int i = 0; i < SHARDS; i++, from += EACH)
		put(shards[i], from + EACH / 2, from + EACH);
	for (int i = 0; i < ITEMS + SHARDS * EACH; i++) {
		peer_tell(&peers[1], "take framed " PATH " 30000");
		int number = atoi(peer_hear(&peers[1], "took", PATIENCE_MS));
		ck_assert(number >= 0 && number < ITEMS + SHARDS * EACH);
		ck_assert_msg(!had[number], "%d was taken twice", number);
		had[number] = true;
	}
	expect_no_other_shard();
	end(2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("Curator's shards, interop");
	TCase *t = fixture_case(s, "Curator and we", 20);

	tcase_add_test(t, we_take_what_they_put_into_the_shards);
	tcase_add_test(t, they_take_what_we_put_into_the_shards);
	return interop_main(s, needed);
}
