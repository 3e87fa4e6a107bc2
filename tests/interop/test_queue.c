/*
 * test_queue.c - Curator's and kazoo's queues return the items that we put, in
 * the same order, and we return theirs; and no item is taken twice when both
 * take from one queue.
 */
#include "integration/client_fixture.h"
#include "integration/mutex_fixture.h"
#include "peer.h"
#include "support/raw.h"

#include <kustos/queue.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 6
#define MANY 200
#define FULL 40
#define LOOKS 50

static const struct {
	enum kustos_queue_kind kind;
	enum peer_kind peer;
	const char *name;
	bool keyed; /* ordered by "keys"; else by the puts */
} kinds[] = {
	{ KUSTOS_QUEUE_SIMPLE, PEER_CURATOR, "simple", false },
	{ KUSTOS_QUEUE_FRAMED, PEER_CURATOR, "framed", false },
	{ KUSTOS_QUEUE_PRIORITY, PEER_CURATOR, "priority", true },
	{ KUSTOS_QUEUE_DELAY, PEER_CURATOR, "delay", true },
	{ KUSTOS_QUEUE_ID, PEER_CURATOR, "id", false },
	{ KUSTOS_QUEUE_KAZOO, PEER_KAZOO, "kazoo", true },
};
#define KINDS 6

static const enum peer_kind needed[] = { PEER_CURATOR, PEER_KAZOO, PEER_KINDS };

/* The keys of the items in the order of the puts; the last two are equal. */
static const int keys[ITEMS] = { 30, 10, 1, 20, 15, 15 };
static const int order[ITEMS] = { 2, 1, 4, 5, 3, 0 };

static struct kustos_client *client;
static struct kustos_queue *queue;
static struct peer peers[2];

static void set_up(void)
{
	client = client_connected(fixture_address(), 10000);
}

static void tear_down(void)
{
	kustos_queue_destroy(queue);
	queue = NULL;
	client_close(client);
}

static void start(int kind)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;

	o.kind = kinds[kind].kind;
	check_err(kustos_queue_create(client, "/q", &o, &queue), KUSTOS_OK);
	peers_start(peers, &kinds[kind].peer, 1, 10000);
}

static void put(int number, int key)
{
	char text[12], id[12];
	struct kustos_new_item item = { .data = text,
		.priority = key,
		.due_ms = key,
		.id = id };

	snprintf(id, sizeof(id), "%d", key);
	item.len = (size_t)snprintf(text, sizeof(text), "%d", number);
	check_err(kustos_queue_put_many(queue, &item, 1, SOON, NULL, NULL),
		KUSTOS_OK);
}

static int take(void)
{
	struct kustos_item *item = NULL;

	check_err(kustos_queue_poll(queue, SOON, NULL, &item), KUSTOS_OK);
	int number = atoi(item->data);
	kustos_item_free(item);
	return number;
}

/* Return how many items there are.  The server may have deleted an empty
   queue. */
static int left(void)
{
	return fixture_children("/q");
}

START_TEST(we_take_what_they_put_in_its_order)
{
	start(_i);
	for (int i = 0; i < ITEMS; i++)
		peer_do(&peers[0], "ok", "put %s /q %d %d", kinds[_i].name, i,
			keys[i]);
	for (int i = 0; i < ITEMS; i++)
		ck_assert_int_eq(take(), kinds[_i].keyed ? order[i] : i);
	ck_assert_int_eq(left(), 0);
	peers_end(peers, 1);
}
END_TEST

START_TEST(they_take_what_we_put_in_its_order)
{
	start(_i);
	for (int i = 0; i < ITEMS; i++)
		put(i, keys[i]);
	for (int i = 0; i < ITEMS; i++) {
		peer_tell(&peers[0], "take %s /q 30000", kinds[_i].name);
		ck_assert_int_eq(
			atoi(peer_hear(&peers[0], "took", PATIENCE_MS)),
			kinds[_i].keyed ? order[i] : i);
	}
	line_await("/q", 0);
	peers_end(peers, 1);
}
END_TEST

static void expect_count(const char *kind, int count)
{
	size_t found = 0;

	check_err(kustos_queue_count(queue, SOON, NULL, &found), KUSTOS_OK);
	ck_assert_uint_eq(found, (size_t)count);
	peer_tell(&peers[0], "size %s /q", kind);
	ck_assert_int_eq(atoi(peer_hear(&peers[0], "size", PATIENCE_MS)),
		count);
}

START_TEST(both_find_the_same_number_of_items)
{
	start(_i);
	put(0, keys[0]);
	peer_do(&peers[0], "ok", "put %s /q 1 %d", kinds[_i].name, keys[1]);
	expect_count(kinds[_i].name, 2);
	(void)take();
	expect_count(kinds[_i].name, 1);
	(void)take();
	peers_end(peers, 1);
}
END_TEST

START_TEST(both_find_the_same_number_in_a_locking_queue)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;

	o.kind = KUSTOS_QUEUE_KAZOO_LOCKING;
	check_err(kustos_queue_create(client, "/q", &o, &queue), KUSTOS_OK);
	peers_start(peers, &needed[1], 1, 10000);
	peer_do(&peers[0], "ok", "feed /q 0 3 locking");
	put(3, 100);
	expect_count("locking", 4);
	peers_end(peers, 1);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), "/q"), 0);
}
END_TEST

/* Both take at the same time, from one queue, all that is there. */
START_TEST(S15_none_is_taken_twice_and_none_is_left)
{
	static bool had[MANY];

	memset(had, 0, sizeof(had));
	start(0);
	for (int i = 0; i < MANY; i++)
		put(i, 0);
	for (int left = MANY; left > 0;) {
		struct kustos_item *item = NULL;

		peer_tell(&peers[0], "take simple /q 0");
		if (kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item) ==
			KUSTOS_OK) {
			ck_assert(!had[atoi(item->data)]);
			had[atoi(item->data)] = true;
			left--;
		}
		kustos_item_free(item);
		const char *said = peer_hear(&peers[0], "took", PATIENCE_MS);
		if (*said != '\0') {
			ck_assert(!had[atoi(said)]);
			had[atoi(said)] = true;
			left--;
		}
	}
	ck_assert_int_eq(left(), 0);
	peers_end(peers, 1);
}
END_TEST

static struct kustos_queue *framed(int max_items)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_queue *q = NULL;

	o.kind = KUSTOS_QUEUE_FRAMED;
	o.max_items = max_items;
	check_err(kustos_queue_create(client, "/q", &o, &q), KUSTOS_OK);
	return q;
}

/* Curator goes by an old listing, which is refreshed in the background: there
   is time for that until so many commands have been answered. */
static void let_it_hear(void)
{
	for (int i = 0; i < LOOKS; i++)
		peer_do(&peers[0], "ok", "close /gate");
}

START_TEST(what_either_has_put_counts_for_the_bound_of_the_other)
{
	struct kustos_queue *bounded = framed(ITEMS);

	queue = framed(0);
	peers_start(peers, needed, 1, 10000);
	peer_do(&peers[0], "ok", "pour /q %d 0 1", ITEMS);
	for (int i = 1; i < ITEMS; i++)
		check_err(kustos_queue_put(bounded, "x", 1, SOON, NULL),
			KUSTOS_OK);
	check_err(kustos_queue_put(bounded, "x", 1, KUSTOS_NOW, NULL),
		KUSTOS_EFULL);
	let_it_hear();
	peer_tell(&peers[0], "pour /q %d 1 2", ITEMS);
	for (int i = 0; i < LOOKS; i++) {
		ck_assert_int_eq(left(), ITEMS);
		ck_assert(peer_silent(&peers[0]));
	}
	(void)take();
	(void)peer_hear(&peers[0], "ok", PATIENCE_MS);
	check_err(kustos_queue_put(bounded, "x", 1, KUSTOS_NOW, NULL),
		KUSTOS_EFULL);
	ck_assert_int_eq(left(), ITEMS);
	kustos_queue_destroy(bounded);
	peers_end(peers, 1);
}
END_TEST

static void put_told(void *arg, enum kustos_err err)
{
	int *failed = arg;

	if (err != KUSTOS_OK)
		__atomic_add_fetch(failed, 1, __ATOMIC_RELAXED);
}

/* Take items one by one, looking each time how many there are.  Returns the
   most. */
static int take_all(int count)
{
	static bool had[2 * MANY];
	struct raw *raw = raw_open(fixture_address(), 10000);
	struct raw_stat stat;
	int most = 0;

	ck_assert_ptr_nonnull(raw);
	memset(had, 0, sizeof(had));
	for (int i = 0; i < count; i++) {
		if (raw_do_exists(raw, "/q", &stat) == 0 &&
			stat.num_children > most)
			most = stat.num_children;
		int number = take();
		ck_assert_msg(number >= 0 && number < count && !had[number],
			"%d was taken twice", number);
		had[number] = true;
	}
	raw_close(raw);
	return most;
}

/* Both put as fast as they may, and wait for each item that is taken.  Ours
   exceeds the bound by a sixteenth, or its rest; Curator's by what it has not
   heard of. */
START_TEST(two_bounded_queues_share_one_bound)
{
	struct kustos_queue *bounded = framed(FULL);
	int failed = 0;

	queue = framed(0);
	peers_start(peers, needed, 1, 10000);
	peer_do(&peers[0], "ok", "pour /q %d 0 1", FULL);
	let_it_hear();
	peer_tell(&peers[0], "pour /q %d 1 %d", FULL, MANY);
	for (int i = MANY; i < 2 * MANY; i++) {
		char text[12];
		struct kustos_new_item item = { .data = text };

		item.len = (size_t)snprintf(text, sizeof(text), "%d", i);
		check_err(kustos_queue_put_item_async(bounded, &item, SOON,
				  NULL, put_told, &failed),
			KUSTOS_OK);
	}
	int most = take_all(2 * MANY);
	ck_assert_int_ge(most, FULL);
	ck_assert_int_le(most, 2 * FULL);
	check_err(kustos_queue_flush(bounded, SOON, NULL), KUSTOS_OK);
	(void)peer_hear(&peers[0], "ok", PATIENCE_MS);
	ck_assert_int_eq(left(), 0);
	kustos_queue_destroy(bounded);
	ck_assert_int_eq(__atomic_load_n(&failed, __ATOMIC_RELAXED), 0);
	peers_end(peers, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, interop");
	TCase *t = fixture_case(s, "kinds", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, we_take_what_they_put_in_its_order, 0, KINDS);
	tcase_add_loop_test(t, they_take_what_we_put_in_its_order, 0, KINDS);
	tcase_add_loop_test(t, both_find_the_same_number_of_items, 0, KINDS);
	tcase_add_test(t, both_find_the_same_number_in_a_locking_queue);
	tcase_add_test(t, S15_none_is_taken_twice_and_none_is_left);
	tcase_add_test(t,
		what_either_has_put_counts_for_the_bound_of_the_other);
	tcase_add_test(t, two_bounded_queues_share_one_bound);
	return interop_main(s, needed);
}
