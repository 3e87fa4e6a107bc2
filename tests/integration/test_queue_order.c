/*
 * test_queue_order.c - which item is taken first in a queue with priorities by
 * several calls of one object at the same time; and numbers that somebody
 * else's node has.
 */
#include "claim_fixture.h"

#include "inject.h"

#include <string.h>

#define T_MS 9000

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

/* Another item is put as the first one is read.  The client learns this once
   the receipt has been created, and then the answer to the deletion of the
   first is held back. */
static void interfere(void *arg, const struct kustos_request *request)
{
	int *stage = arg;

	if (*stage == 0 && strcmp(request->operation, "get") == 0) {
		claim_put_framed("queue-100000003", "first");
		*stage = 1;
	} else if (*stage == 1 && strcmp(request->operation, "create") == 0) {
		inject_frame(INJECT_HOLD_REPLY, ZK_OP_MULTI, 1);
		*stage = 2;
	}
}

static void check_taken(const struct taken *taken, const char *text)
{
	check_err(taken_wait(taken), KUSTOS_OK);
	ck_assert_uint_eq(taken->count, 1);
	ck_assert_str_eq(taken->items[0]->data, text);
}

START_TEST(S17_who_comes_while_another_takes_passes_over_no_newer_item)
{
	struct kustos_client_options ours = client_options(fixture_address(),
		T_MS);
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct taken taken[2] = { { .calls = 0 } };
	struct kustos_queue *q = NULL;
	int stage = 0;

	for (int i = 0; i < 2; i++)
		claim_put_framed("queue-100000007", "later");
	ours.on_request = interfere;
	ours.on_request_arg = &stage;
	struct kustos_client *c = client_open_with(&ours);
	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	o.kind = KUSTOS_QUEUE_PRIORITY;
	check_err(kustos_queue_create(c, FRAMED, &o, &q), KUSTOS_OK);
	check_err(kustos_queue_poll_async(q, 1, SOON, NULL, queue_taken,
			  &taken[0]),
		KUSTOS_OK);
	test_eventually(inject_fired() == 1, 5000);
	check_err(kustos_queue_poll_async(q, 1, SOON, NULL, queue_taken,
			  &taken[1]),
		KUSTOS_OK);
	inject_release();
	check_taken(&taken[0], "later");
	check_taken(&taken[1], "first");
	for (int i = 0; i < 2; i++)
		taken_free(&taken[i]);
	kustos_queue_destroy(q);
	client_close(c);
}
END_TEST

/* Somebody has copied the queue by creating its items by their full names, so
   the server's counter does not include their numbers. */
START_TEST(a_number_that_is_anothers_is_told)
{
	for (int i = 0; i < 2; i++)
		check_err(kustos_create(other,
				  i == 0 ? QUEUE "/qn-0000000002"
					 : QUEUE "/qn-0000000007",
				  "copied", 6, KUSTOS_CREATE_PARENTS, SOON,
				  NULL, NULL, NULL),
			KUSTOS_OK);
	check_err(kustos_queue_put(queue, "new", 3, SOON, NULL),
		KUSTOS_EEXISTS);
	check_err(kustos_queue_put(queue, "new", 3, SOON, NULL),
		KUSTOS_EEXISTS);
	queue_expect(queue_others, "copied");
	queue_put(queue, "new");
	ck_assert_int_eq(queue_count(), 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("order of queues");
	TCase *t = fixture_case(s, "one server", 10);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t,
		S17_who_comes_while_another_takes_passes_over_no_newer_item);
	tcase_add_test(t, a_number_that_is_anothers_is_told);
	return fixture_main(s);
}
