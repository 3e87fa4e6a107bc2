/*
 * test_queue_parts.c - several items in one node (Curator's putMulti): what
 * Curator puts so is one item of so many parts here, and each part of what we
 * put so is an item to Curator's consumers.
 */
#include "integration/client_fixture.h"
#include "peer.h"

#include <kustos/queue.h>

#include <stdlib.h>
#include <string.h>

#define PARTS 3

static const struct {
	enum kustos_queue_kind kind;
	const char *name;
} kinds[] = {
	{ KUSTOS_QUEUE_FRAMED, "framed" },
	{ KUSTOS_QUEUE_PRIORITY, "priority" }, { KUSTOS_QUEUE_DELAY, "delay" },
	{ KUSTOS_QUEUE_ID, "id" }, /* without a putMulti of Curator's */
};
#define KINDS 4

static const enum peer_kind needed[] = { PEER_CURATOR, PEER_KINDS };

static struct kustos_client *client;
static struct kustos_queue *queue;
static struct peer peer;

/* The process is started before this one has threads. */
static void start(int kind)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;

	peer_start(&peer, PEER_CURATOR, 10000);
	client = client_connected(fixture_address(), 10000);
	o.kind = kinds[kind].kind;
	check_err(kustos_queue_create(client, "/q", &o, &queue), KUSTOS_OK);
}

static void end(void)
{
	kustos_queue_destroy(queue);
	client_close(client);
	peers_end(&peer, 1);
}

START_TEST(what_they_put_together_we_take_together)
{
	struct kustos_item *item = NULL;

	start(_i);
	peer_do(&peer, "ok", "bundle %s /q 7 a bb ccc", kinds[_i].name);
	peer_do(&peer, "ok", "put %s /q last 8", kinds[_i].name);
	check_err(kustos_queue_poll(queue, SOON, NULL, &item), KUSTOS_OK);
	ck_assert_uint_eq(item->count, PARTS);
	ck_assert_mem_eq(item->parts[0].data, "a", 1);
	ck_assert_mem_eq(item->parts[1].data, "bb", 2);
	ck_assert_mem_eq(item->parts[2].data, "ccc", 3);
	for (size_t i = 0; i < PARTS; i++)
		ck_assert_uint_eq(item->parts[i].len, i + 1);
	if (kinds[_i].kind == KUSTOS_QUEUE_PRIORITY)
		ck_assert_int_eq(item->priority, 7);
	if (kinds[_i].kind == KUSTOS_QUEUE_DELAY)
		ck_assert_int_eq(item->due_ms, 7);
	kustos_item_free(item);
	check_err(kustos_queue_poll(queue, SOON, NULL, &item), KUSTOS_OK);
	ck_assert_uint_eq(item->count, 1);
	ck_assert_str_eq(item->data, "last");
	kustos_item_free(item);
	ck_assert_int_eq(fixture_children("/q"), 0);
	end();
}
END_TEST

static void they_take(int kind, const char *text)
{
	peer_tell(&peer, "take %s /q 30000", kinds[kind].name);
	ck_assert_str_eq(peer_hear(&peer, "took", PATIENCE_MS), text);
}

START_TEST(each_part_of_what_we_put_is_an_item_to_them)
{
	const struct kustos_part parts[PARTS] = { { "a", 1 }, { "bb", 2 },
		{ "ccc", 3 } };
	struct kustos_new_item item = { .parts = parts,
		.count = PARTS,
		.priority = 7,
		.due_ms = 7,
		.id = "x" };

	start(_i);
	check_err(kustos_queue_put_item(queue, &item, SOON, NULL), KUSTOS_OK);
	item = (struct kustos_new_item){ .data = "last",
		.len = 4,
		.priority = 8,
		.due_ms = 8 };
	check_err(kustos_queue_put_item(queue, &item, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(fixture_children("/q"), 2);
	they_take(_i, "a");
	they_take(_i, "bb");
	they_take(_i, "ccc");
	they_take(_i, "last");
	line_await("/q", 0);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("several items in one node, interop");
	TCase *t = fixture_case(s, "Curator and we", 20);

	tcase_add_loop_test(t, what_they_put_together_we_take_together, 0,
		KINDS - 1);
	tcase_add_loop_test(t, each_part_of_what_we_put_is_an_item_to_them, 0,
		KINDS);
	return interop_main(s, needed);
}
