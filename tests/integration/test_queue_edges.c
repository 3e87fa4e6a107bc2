/*
 * test_queue_edges.c - edge cases of queues: very long and very many items, a
 * queue's node that is deleted and created again, and items that may not be
 * read or listed.
 */
#include "claim_fixture.h"
#include "inject.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 12000

static void set_up(void)
{
	inject_reset();
	queue_pair_open(T_MS);
}

static void tear_down(void)
{
	inject_reset();
	queue_pair_close();
}

static struct kustos_queue *of_kind(struct kustos_client *owner,
	enum kustos_queue_kind kind)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_queue *q = NULL;

	o.kind = kind;
	check_err(kustos_queue_create(owner, QUEUE, &o, &q), KUSTOS_OK);
	return q;
}

static void use_kind(enum kustos_queue_kind kind)
{
	kustos_queue_destroy(queue);
	kustos_queue_destroy(queue_others);
	queue = of_kind(client, kind);
	queue_others = of_kind(other, kind);
}

/* So many that the sum of their sizes overflows. */
#define PARTS 2200
#define PART_SIZE 1000000

START_TEST(an_item_of_too_many_large_parts_is_refused)
{
	static char data[PART_SIZE];
	static struct kustos_part parts[PARTS];
	struct kustos_new_item item = { .parts = parts, .count = PARTS };

	for (int i = 0; i < PARTS; i++)
		parts[i] = (struct kustos_part){ data, sizeof(data) };
	use_kind(KUSTOS_QUEUE_FRAMED);
	check_err(kustos_queue_put_many(queue, &item, 1, SOON, NULL, NULL),
		KUSTOS_ETOOBIG);
	check_err(kustos_queue_put_item_async(queue, &item, SOON, NULL, NULL,
			  NULL),
		KUSTOS_ETOOBIG);
}
END_TEST

/* A transaction gets only as many items as a server accepts, however long their
   names are. */
#define LONG_IDS 250
#define LONG_ID 6000

START_TEST(items_with_long_ids_go_in_and_out)
{
	static char ids[LONG_IDS][LONG_ID + 1];
	struct kustos_new_item items[LONG_IDS];
	struct kustos_item *got[LONG_IDS];
	size_t put = 0, count = 0, taken = 0;

	memset(items, 0, sizeof(items));
	for (int i = 0; i < LONG_IDS; i++) {
		memset(ids[i], 'a' + i % 26, LONG_ID);
		items[i].id = ids[i];
	}
	use_kind(KUSTOS_QUEUE_ID);
	if (_i == 0) {
		check_err(kustos_queue_put_many(queue, items, LONG_IDS, SOON,
				  NULL, &put),
			KUSTOS_OK);
		ck_assert_uint_eq(put, LONG_IDS);
	} else {
		for (int i = 0; i < LONG_IDS; i++)
			check_err(kustos_queue_put_many(queue_others, &items[i],
					  1, SOON, NULL, NULL),
				KUSTOS_OK);
	}
	while (taken < LONG_IDS) {
		check_err(kustos_queue_poll_many(queue, LONG_IDS, SOON, NULL,
				  got, &count),
			KUSTOS_OK);
		for (size_t i = 0; i < count; i++) {
			ck_assert_str_eq(got[i]->id, ids[taken++]);
			kustos_item_free(got[i]);
		}
	}
}
END_TEST

/* In the new queue's node numbers start at 0, and one of them may be the very
   number that was next in the old one. */
START_TEST(L26_what_is_put_into_a_queue_made_anew_is_taken_in_its_order)
{
	for (int i = 0; i < 1 + _i; i++) {
		queue_put(queue, "old");
		queue_expect(queue, "old");
	}
	ck_assert_int_eq(raw_delete(fixture_address(), QUEUE), 0);
	for (int i = 0; i < _i; i++)
		queue_put(queue_others, "theirs");
	queue_put(queue, "a");
	queue_put(queue, "b");
	queue_put(queue, "c");
	for (int i = 0; i < _i; i++)
		queue_expect(queue, "theirs");
	queue_expect(queue, "a");
	queue_expect(queue, "b");
	queue_expect(queue, "c");
	check_err(queue_try(queue), KUSTOS_EEMPTY);
}
END_TEST

/* An item was read ahead long ago.  The new queue has an item of the same name,
   and the old data must not be used, although a put has just been answered. */
START_TEST(S15_what_was_read_long_ago_is_read_again_after_a_put)
{
	queue_put_numbers(queue, 0, 3);
	queue_expect(queue, "0");
	queue_expect(queue, "1");
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	queue_expect(queue_others, "2");
	ck_assert_int_eq(raw_delete(fixture_address(), QUEUE), 0);
	inject_clock(CLOCK_BOOTTIME, 1100);
	if (_i == 0)
		queue_put_numbers(queue_others, 10, 13);
	else
		queue_put_numbers(queue, 10, 13);
	queue_put(queue, "13");
	int sum = 0;
	for (int i = 0; i < 4; i++) {
		struct kustos_item *item = NULL;

		check_err(kustos_queue_poll(queue, SOON, NULL, &item),
			KUSTOS_OK);
		ck_assert_str_ne(item->data, "2");
		sum += atoi(item->data);
		kustos_item_free(item);
	}
	ck_assert_int_eq(sum, 10 + 11 + 12 + 13);
	check_err(queue_try(queue), KUSTOS_EEMPTY);
}
END_TEST

/* The connection breaks as the receipt is created, without which nothing is
   taken. */
START_TEST(L20_a_first_poll_at_once_does_not_wait_for_a_connection)
{
	struct kustos_item *item = NULL;

	queue_put(queue_others, "a");
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_CREATE2, 1);
	check_err(kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EDISCONNECTED);
	inject_connect(0);
	queue_expect(queue, "a");
}
END_TEST

/* kazoo writes any number as a priority, and Curator puts items back without
   one. */
START_TEST(S17_what_goes_back_in_the_end_keeps_a_key_that_we_would_not_write)
{
	static const struct {
		enum kustos_queue_kind kind;
		const char *head, *data;
		int len;
	} odd[] = { { KUSTOS_QUEUE_KAZOO, "entry-1000-", "a", 1 },
		{ KUSTOS_QUEUE_KAZOO, "entry--05-", "a", 1 },
		{ KUSTOS_QUEUE_PRIORITY, "queue-", "\0\1\0\1\1\0\0\0\1a\2",
			11 } };
	struct kustos_item *item = NULL;
	char name[128];

	use_kind(odd[_i].kind);
	claim_put_raw(QUEUE, odd[_i].head, odd[_i].data, odd[_i].len, name);
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_MULTI, 1);
	check_err(kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(queue_count(), 0);
	kustos_queue_destroy(queue);
	queue = NULL;
	inject_connect(0);
	check_err(kustos_queue_poll(queue_others, SOON, NULL, &item),
		KUSTOS_OK);
	ck_assert_str_eq(item->data, "a");
	size_t head = strlen(odd[_i].head);
	ck_assert_int_eq(strncmp(item->name, odd[_i].head, head), 0);
	ck_assert_uint_eq(strlen(item->name), head + 10);
	kustos_item_free(item);
}
END_TEST

/* Both need the queue's node: the put, and the item that is put back. */
START_TEST(the_node_is_made_once_for_what_is_put_and_what_goes_back)
{
	struct kustos_item *item = NULL;
	struct taken put = { .calls = 0 };
	const struct kustos_new_item new = { .data = "b", .len = 1 };

	queue_put(queue, "a");
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_MULTI, 1);
	check_err(kustos_queue_poll(queue, KUSTOS_NOW, NULL, &item),
		KUSTOS_EDISCONNECTED);
	check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(raw_delete(fixture_address(), QUEUE), 0);
	int sent = inject_sent(ZK_OP_CREATE_CONTAINER);
	check_err(kustos_queue_put_item_async(queue, &new, KUSTOS_FOREVER, NULL,
			  queue_was_put, &put),
		KUSTOS_OK);
	kustos_queue_destroy(queue);
	queue = NULL;
	check_err(taken_wait(&put), KUSTOS_ECLOSED);
	queue_expect(queue_others, "a");
	pair_flush();
	ck_assert_int_eq(inject_sent(ZK_OP_CREATE_CONTAINER) - sent, 1);
}
END_TEST

/* Nobody is waiting for the node any more, and it cannot be created any
   more. */
START_TEST(L01_a_queue_goes_with_its_client_while_its_node_is_to_be_made)
{
	struct kustos_client *its = client_connected(fixture_address(), T_MS);
	struct kustos_queue *q = queue_new(its);
	struct taken put = { .calls = 0 };
	const struct kustos_new_item new = { .data = "b", .len = 1 };

	queue_put(q, "a");
	queue_expect(q, "a");
	ck_assert_int_eq(raw_delete(fixture_address(), QUEUE), 0);
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_FAIL_SEND, ZK_OP_CREATE_CONTAINER, 1);
	check_err(kustos_queue_put_item_async(q, &new, KUSTOS_FOREVER, NULL,
			  queue_was_put, &put),
		KUSTOS_OK);
	client_wait(its, KUSTOS_STATE_SUSPENDED, 5000);
	ck_assert_int_eq(inject_fired(), 1);
	kustos_queue_destroy(q);
	check_err(taken_wait(&put), KUSTOS_ECLOSED);
	client_drop(its);
	inject_connect(0);
	ck_assert_int_eq(queue_count(), 0);
}
END_TEST

struct told { /* of nodes that are no items */
	int calls;
	char name[64];
};

static void was_none(void *arg, const char *name)
{
	struct told *told = arg;

	snprintf(told->name, sizeof(told->name), "%s", name);
	__atomic_add_fetch(&told->calls, 1, __ATOMIC_SEQ_CST);
}

/* An item with children cannot be deleted. */
START_TEST(what_has_children_is_passed_over_and_told_of)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct told told = { .calls = 0 };
	struct kustos_queue *some = NULL;

	o.on_unfit = was_none;
	o.on_unfit_arg = &told;
	check_err(kustos_queue_create(client, QUEUE, &o, &some), KUSTOS_OK);
	queue_put(queue_others, "parent");
	queue_put(queue_others, "a");
	ck_assert_int_eq(
		raw_create(fixture_address(), QUEUE "/qn-0000000000/child", ""),
		0);
	queue_expect(some, "a");
	check_err(queue_try(some), KUSTOS_EEMPTY);
	test_eventually(__atomic_load_n(&told.calls, __ATOMIC_SEQ_CST) == 1,
		5000);
	ck_assert_str_eq(told.name, "qn-0000000000");
	ck_assert_int_eq(
		raw_delete(fixture_address(), QUEUE "/qn-0000000000/child"), 0);
	queue_expect(queue_others, "parent");
	kustos_queue_destroy(some);
}
END_TEST

/* Somebody has put it for others, and it comes first.  Others keep putting
   items. */
START_TEST(what_may_not_be_read_holds_nobody_up)
{
	const struct kustos_acl acl = { KUSTOS_PERM_WRITE, "world", "anyone" };
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_item *item = NULL;
	char *made = NULL;

	o.acl = &acl;
	o.acl_count = 1;
	use_kind(KUSTOS_QUEUE_PRIORITY);
	queue_put(queue_others, "0");
	struct kustos_client *c = client_open_with(&o);
	check_err(kustos_create(c, QUEUE "/queue-000000001", "", 0,
			  KUSTOS_CREATE_SEQUENTIAL, SOON, NULL, &made, NULL),
		KUSTOS_OK);
	client_close(c);
	check_err(kustos_queue_poll(queue, SOON, NULL, &item), KUSTOS_ENOAUTH);
	for (int i = 0; i < 5; i++) {
		char text[2] = { (char)('0' + i), '\0' };

		text[0]++;
		queue_put(queue_others, text);
		pair_hear(client);
		text[0]--;
		queue_expect(queue, text);
	}
	check_err(kustos_delete(other, made, -1, SOON, NULL), KUSTOS_OK);
	kustos_free(made);
}
END_TEST

/* The putter may have no right to list the queue; it needs only the number of
   items. */
START_TEST(L26_who_may_not_list_a_full_queue_waits_all_the_same)
{
	const struct kustos_acl acl = { KUSTOS_PERM_CREATE | KUSTOS_PERM_DELETE,
		"world", "anyone" };
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_queue_options qo = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_new_item item = { .data = "c", .len = 1 };
	struct kustos_queue *some = NULL;
	struct kustos_stat stat;
	struct taken end;

	memset(&end, 0, sizeof(end));
	o.acl = &acl;
	o.acl_count = 1;
	queue_put(queue_others, "before"); /* this creates the parents */
	queue_expect(queue_others, "before");
	check_err(kustos_delete(other, QUEUE, -1, SOON, NULL), KUSTOS_OK);
	struct kustos_client *c = client_open_with(&o);
	check_err(kustos_create(c, QUEUE, "", 0, 0, SOON, NULL, NULL, NULL),
		KUSTOS_OK);
	client_close(c);
	qo.max_items = 2;
	check_err(kustos_queue_create(client, QUEUE, &qo, &some), KUSTOS_OK);
	if (answer_to_the_blind() != KUSTOS_OK) {
		check_err(kustos_queue_put(some, "a", 1, SOON, NULL),
			KUSTOS_ENOAUTH);
		kustos_queue_destroy(some);
		check_err(kustos_delete(other, QUEUE, -1, SOON, NULL),
			KUSTOS_OK); /* it is empty */
		return;
	}
	queue_put(some, "a");
	queue_put(some, "b");
	check_err(kustos_queue_put(some, "c", 1, kustos_after_ms(500), NULL),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_queue_put(some, "c", 1, KUSTOS_NOW, NULL),
		KUSTOS_EFULL);
	check_err(kustos_queue_put_item_async(some, &item, SOON, NULL,
			  queue_was_put, &end),
		KUSTOS_OK);
	check_err(kustos_delete(other, QUEUE "/qn-0000000000", -1, SOON, NULL),
		KUSTOS_OK);
	check_err(taken_wait(&end), KUSTOS_OK);
	check_err(kustos_exists(other, QUEUE, SOON, NULL, &stat), KUSTOS_OK);
	ck_assert_int_eq(stat.num_children, 2);
	kustos_queue_destroy(some);
	for (int i = 1; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), QUEUE "/qn-%010d", i);
		check_err(kustos_delete(other, path, -1, SOON, NULL),
			KUSTOS_OK);
	}
	check_err(kustos_delete(other, QUEUE, -1, SOON, NULL), KUSTOS_OK);
}
END_TEST

/* Wherever the items are in the listing. */
START_TEST(those_of_an_id_are_removed_but_for_what_has_children)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	const struct kustos_new_item item = { .data = "a",
		.len = 1,
		.id = "x" };
	struct told told = { .calls = 0 };
	struct kustos_queue *some = NULL;
	size_t removed = 0;

	o.kind = KUSTOS_QUEUE_ID;
	o.on_unfit = was_none;
	o.on_unfit_arg = &told;
	check_err(kustos_queue_create(client, QUEUE, &o, &some), KUSTOS_OK);
	for (int i = 0; i < 4; i++)
		check_err(
			kustos_queue_put_many(some, &item, 1, SOON, NULL, NULL),
			KUSTOS_OK);
	queue_expect(some, "a");
	ck_assert_int_eq(raw_create(fixture_address(),
				 QUEUE "/queue-|x|0000000001/child", ""),
		0);
	ck_assert_int_eq(raw_create(fixture_address(),
				 QUEUE "/queue-|x|0000000003/child", ""),
		0);
	check_err(kustos_queue_remove_id(some, "x", SOON, NULL, &removed),
		KUSTOS_OK);
	ck_assert_uint_eq(removed, 1);
	ck_assert_int_eq(queue_count(), 2);
	test_eventually(__atomic_load_n(&told.calls, __ATOMIC_SEQ_CST) == 2,
		5000);
	check_err(queue_try(some), KUSTOS_EEMPTY);
	kustos_queue_destroy(some);
	ck_assert_int_eq(__atomic_load_n(&told.calls, __ATOMIC_SEQ_CST), 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, edges");
	TCase *t = fixture_case(s, "queues", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, an_item_of_too_many_large_parts_is_refused);
	tcase_add_loop_test(t,
		L26_what_is_put_into_a_queue_made_anew_is_taken_in_its_order, 0,
		2);
	tcase_add_loop_test(t,
		S15_what_was_read_long_ago_is_read_again_after_a_put, 0, 2);
	tcase_add_test(t,
		L20_a_first_poll_at_once_does_not_wait_for_a_connection);
	tcase_add_loop_test(t,
		S17_what_goes_back_in_the_end_keeps_a_key_that_we_would_not_write,
		0, 3);
	tcase_add_test(t,
		the_node_is_made_once_for_what_is_put_and_what_goes_back);
	tcase_add_test(t,
		L01_a_queue_goes_with_its_client_while_its_node_is_to_be_made);
	tcase_add_loop_test(t, items_with_long_ids_go_in_and_out, 0, 2);
	tcase_add_test(t, what_has_children_is_passed_over_and_told_of);
	tcase_add_test(t, what_may_not_be_read_holds_nobody_up);
	tcase_add_test(t, L26_who_may_not_list_a_full_queue_waits_all_the_same);
	tcase_add_test(t, those_of_an_id_are_removed_but_for_what_has_children);
	return fixture_main(s);
}
