/*
 * test_queue_zookeeper.c - the queue that comes with ZooKeeper, its class
 * org.apache.zookeeper.recipes.queue.DistributedQueue, and ours are one queue.
 */
#include "integration/client_fixture.h"
#include "peer.h"
#include "support/raw.h"

#include <kustos/queue.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MS 10000
#define ITEMS 6

static const enum peer_kind needed[] = { PEER_ZOOKEEPER, PEER_KUSTOS,
	PEER_KINDS };

static struct kustos_client *client;
static struct kustos_queue *queue;
static struct peer peers[2];
static struct peer *const theirs = &peers[0]; /* their process */
static struct peer *const ours = &peers[1];   /* one of ours besides this one */

/* The processes are started before this one has threads. */
static void set_up(void)
{
	peers_start(peers, needed, 2, SESSION_MS);
	client = client_connected(fixture_address(), SESSION_MS);
	check_err(kustos_queue_create(client, "/q", NULL, &queue), KUSTOS_OK);
}

static void tear_down(void)
{
	kustos_queue_destroy(queue);
	client_close(client);
	peers_end(peers, 2);
}

static void make(const char *path, const char *data)
{
	ck_assert_int_eq(raw_create(fixture_address(), path, data), 0);
}

static void we_put(const char *text)
{
	check_err(kustos_queue_put(queue, text, strlen(text), SOON, NULL),
		KUSTOS_OK);
}

static void we_take(const char *text)
{
	struct kustos_item *item = NULL;

	check_err(kustos_queue_poll(queue, SOON, NULL, &item), KUSTOS_OK);
	ck_assert_str_eq(item->data, text);
	kustos_item_free(item);
}

static void we_see(const char *text)
{
	struct kustos_item *item = NULL;

	check_err(kustos_queue_peek(queue, KUSTOS_NOW, NULL, &item), KUSTOS_OK);
	ck_assert_str_eq(item->data, text);
	kustos_item_free(item);
}

static void they_put(const char *text)
{
	peer_do(theirs, "ok", "put simple /q %s", text);
}

static void they_take(const char *text)
{
	peer_tell(theirs, "take simple /q 0");
	ck_assert_str_eq(peer_hear(theirs, "took", PATIENCE_MS), text);
}

static void they_see(const char *text)
{
	peer_tell(theirs, "look simple /q");
	ck_assert_str_eq(peer_hear(theirs, "saw", PATIENCE_MS), text);
}

static void both_find_nothing(void)
{
	struct kustos_item *item = NULL;

	they_see("");
	they_take("");
	check_err(kustos_queue_peek(queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EEMPTY);
	check_err(kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EEMPTY);
}

/* Either is the first to put, and so makes the queue's node. */
START_TEST(either_takes_what_both_have_put_in_one_order)
{
	static const char *const texts[ITEMS] = { "a", "b", "c", "d", "e",
		"f" };
	bool they_begin = _i & 1, they_get = _i & 2;

	for (int i = 0; i < ITEMS; i++)
		(i % 2 == they_begin ? we_put : they_put)(texts[i]);
	for (int i = 0; i < ITEMS; i++) {
		we_see(texts[i]);
		they_see(texts[i]);
		(they_get ? they_take : we_take)(texts[i]);
	}
	both_find_nothing();
}
END_TEST

START_TEST(a_queue_that_nobody_has_made_is_empty_to_both)
{
	both_find_nothing();
	ck_assert_int_eq(raw_exists(fixture_address(), "/q", NULL), RAW_NONODE);
}
END_TEST

/* The node of the queue is there, or is made by the call that waits or the one
   that puts, or goes while it is waited at, as an empty container does. */
enum node { THERE, MISSING, DELETED, NODES };

static bool is_watched(void)
{
	char text[8192];
	const char *count;

	ck_assert_uint_gt(
		fourletter(fixture_address(), "mntr", text, sizeof(text)), 0);
	count = strstr(text, "zk_watch_count\t"); /* of children as well */
	ck_assert_ptr_nonnull(count);
	return count[strlen("zk_watch_count\t")] != '0';
}

/* Have the process begin to wait for an item, as the first to do so.  Nobody
   else has a watch. */
static void wait_at(enum node node, struct peer *who, const char *call)
{
	if (node != MISSING)
		make("/q", "");
	peer_tell(who, "%s", call);
	test_within(is_watched(), PATIENCE_MS);
	if (node == DELETED) {
		ck_assert_int_eq(raw_delete(fixture_address(), "/q"), 0);
		test_within(is_watched(), PATIENCE_MS);
	}
}

START_TEST(they_wait_for_what_we_put)
{
	wait_at((enum node)_i, theirs, "take simple /q 60000");
	we_put("a");
	ck_assert_str_eq(peer_hear(theirs, "took", PATIENCE_MS), "a");
	both_find_nothing();
}
END_TEST

START_TEST(we_wait_for_what_they_put)
{
	wait_at((enum node)_i, ours, "fetch simple /q 1 60000");
	they_put("a");
	ck_assert_str_eq(peer_hear(ours, "fetched", PATIENCE_MS), "1 a");
	both_find_nothing();
}
END_TEST

/* "hex" has the bytes' digits. */
static void both_carry(const void *data, size_t len, const char *hex)
{
	struct kustos_item *item = NULL;

	check_err(kustos_queue_put(queue, data, len, SOON, NULL), KUSTOS_OK);
	peer_tell(theirs, "take bytes /q 0");
	ck_assert_str_eq(peer_hear(theirs, "took", PATIENCE_MS), hex);
	peer_do(theirs, "ok", "put bytes /q %s", hex);
	check_err(kustos_queue_poll(queue, SOON, NULL, &item), KUSTOS_OK);
	ck_assert_uint_eq(item->len, len);
	if (len > 0)
		ck_assert_mem_eq(item->data, data, len);
	kustos_item_free(item);
}

START_TEST(any_bytes_arrive_as_they_were_put)
{
	unsigned char every[256];
	char hex[sizeof("0x") + 2 * sizeof(every)] = "0x";

	for (int i = 0; i < 256; i++) {
		every[i] = (unsigned char)i;
		snprintf(hex + strlen(hex), 3, "%02x", i);
	}
	both_carry(NULL, 0, "0x");
	both_carry("", 0, "0x");
	both_carry("", 1, "0x00");
	both_carry("\xff\n \0\r", 5, "0xff0a20000d");
	both_carry(every, sizeof(every), hex);
}
END_TEST

START_TEST(a_node_without_data_is_an_empty_item_to_us)
{
	struct kustos_item *item = NULL;

	peer_do(theirs, "ok", "put bytes /q null");
	check_err(kustos_queue_poll(queue, SOON, NULL, &item), KUSTOS_OK);
	ck_assert_uint_eq(item->len, 0);
	ck_assert_str_eq(item->data, "");
	kustos_item_free(item);
}
END_TEST

START_TEST(U04_other_children_bother_neither)
{
	static const char *const others[] = { "/q/a", "/q/qn", "/q/qn-",
		"/q/qn-x", "/q/qn-000000000x", "/q/qn-0000000000-1",
		"/q/QN-0000000000", "/q/queue-0000000000",
		"/q/entry-100-0000000000", "/q/lock-0000000000" };
	int count = (int)(sizeof(others) / sizeof(*others));

	make("/q", "");
	for (int i = 0; i < count; i++)
		make(others[i], "other");
	peer_tell(theirs, "take simple /q 60000");
	test_within(is_watched(), PATIENCE_MS);
	make("/q/z", "other");
	make("/q/z/qn-0000000000", "other");
	we_put("a");
	ck_assert_str_eq(peer_hear(theirs, "took", PATIENCE_MS), "a");
	they_put("b");
	we_see("b");
	we_take("b");
	both_find_nothing();
	ck_assert_int_eq(fixture_children("/q"), count + 1);
}
END_TEST

START_TEST(an_item_with_children_stops_them_and_not_us)
{
	make("/q", "");
	make("/q/qn-0000000000", "parent");
	make("/q/qn-0000000000/child", "");
	make("/q/qn-0000000001", "a");
	peer_tell(theirs, "take simple /q 0");
	(void)peer_hear(theirs, "error", PATIENCE_MS);
	we_take("a");
	ck_assert_int_eq(fixture_children("/q"), 1);
}
END_TEST

/* They take any integer for the number of an item; servers write ten digits. */
START_TEST(a_number_that_no_server_wrote_is_an_item_to_them_only)
{
	make("/q", "");
	make("/q/qn-1", "short");
	make("/q/qn-99999999999", "long");
	we_put("a");
	we_take("a");
	they_take("short");
	they_take("long");
	both_find_nothing();
}
END_TEST

/* After the greatest number a server goes on with the least.  The older item
   comes first to us, and the lesser number to them. */
START_TEST(when_the_numbers_run_out_each_item_is_still_taken_by_either)
{
	make("/q", "");
	make("/q/qn-2147483646", "a");
	make("/q/qn-2147483647", "b");
	make("/q/qn--2147483648", "c");
	make("/q/qn--000000007", "d");
	we_see("a");
	they_see("c");
	we_take("a");
	they_take("c");
	we_take("b");
	they_take("d");
	both_find_nothing();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, ZooKeeper's own");
	TCase *t = fixture_case(s, "the two", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, either_takes_what_both_have_put_in_one_order, 0,
		4);
	tcase_add_test(t, a_queue_that_nobody_has_made_is_empty_to_both);
	tcase_add_loop_test(t, they_wait_for_what_we_put, 0, NODES);
	tcase_add_loop_test(t, we_wait_for_what_they_put, 0, NODES);
	tcase_add_test(t, any_bytes_arrive_as_they_were_put);
	tcase_add_test(t, a_node_without_data_is_an_empty_item_to_us);
	tcase_add_test(t, U04_other_children_bother_neither);
	tcase_add_test(t, an_item_with_children_stops_them_and_not_us);
	tcase_add_test(t,
		a_number_that_no_server_wrote_is_an_item_to_them_only);
	tcase_add_test(t,
		when_the_numbers_run_out_each_item_is_still_taken_by_either);
	return interop_main(s, needed);
}
