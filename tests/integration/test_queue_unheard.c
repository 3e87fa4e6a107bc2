/*
 * test_queue_unheard.c - a queue while its client does not hear that the
 * connection was lost (deaf.h): only unanswered requests show it.
 */
#include "client_fixture.h"
#include "deaf.h"
#include "inject.h"
#include "queue.h"

#include <string.h>

#define T_MS 20000
#define QUEUE "/q"
#define ITEMS 3000 /* more than may be in flight at a time */

static struct ku_queue *queue_new(struct kustos_client *c)
{
	const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = QUEUE "-receipts",
		.max_bytes = 1000 };
	struct ku_queue *q = NULL;

	ck_assert_int_eq(ku_queue_create(c, QUEUE, &wish, &q), KUSTOS_OK);
	return q;
}

static void check_taken(struct ku_queue *q, const char *text)
{
	const struct ku_poll_wish wish = { .max = 1, .deadline = KUSTOS_NOW };
	struct kustos_item *item = NULL;
	size_t count;

	while (ku_queue_poll(q, &wish, &item, &count) == KUSTOS_OK) {
		ck_assert_str_eq(item->data, text);
		kustos_item_free(item);
	}
	ck_assert_int_eq(fixture_children(QUEUE), 0);
}

/* The data belongs to the program again when the call has returned, so whatever
   is stored in the end must have been read before. */
START_TEST(what_is_put_is_not_read_after_a_try_has_ended)
{
	static struct kustos_new_item items[ITEMS];
	struct kustos_client *c = deaf_open(fixture_address(), T_MS);
	struct ku_queue *q = queue_new(c);
	char text[] = "early";
	size_t put = 0;

	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	for (int i = 0; i < ITEMS; i++)
		items[i] = (struct kustos_new_item){ .data = text, .len = 5 };
	ck_assert_int_eq(ku_queue_put(q, items, 1, SOON, NULL, &put),
		KUSTOS_OK);
	deaf_go(1);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_MULTI, 1);
	ck_assert_int_eq(ku_queue_put(q, items, ITEMS, KUSTOS_NOW, NULL, &put),
		KUSTOS_EDISCONNECTED);
	strcpy(text, "later");
	deaf_go(0);
	ck_assert_int_eq(ku_queue_flush(q, KU_FLUSH_ALL, SOON, NULL),
		KUSTOS_OK);
	ck_assert_int_lt(fixture_children(QUEUE), ITEMS);
	check_taken(q, "early");
	ku_queue_destroy(q);
	client_close(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, unheard");
	TCase *t = fixture_case(s, "one server", 60);

	tcase_add_checked_fixture(t, inject_reset, inject_reset);
	tcase_add_test(t, what_is_put_is_not_read_after_a_try_has_ended);
	return fixture_main(s);
}
