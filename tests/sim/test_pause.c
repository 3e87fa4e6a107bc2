/*
 * test_pause.c - what a queue asks its server again after a pause, and not at
 * once: throttled requests, and whether an item that nobody could take was
 * mended.  And what happens between its requests.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "queue_impl.h"

#include <kustos/cancel.h>
#include <string.h>

#define QUEUE "/queue"
/* How long each message between a client and its server takes. */
#define WAY_MS 2
/* How long the server throttles requests, and how many it may get meanwhile. */
#define LONG_MS 1000
#define FEW 15

static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_queue *queue;

static void open_queue(int64_t max_items)
{
	const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = "/queue-receipts",
		.max_items = max_items,
		.max_bytes = 1000 };

	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
}

static void setup(void)
{
	raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, QUEUE, "", KU_ZK_PERSISTENT);
	client = lone_connected(&bench, &ku_zk_sim);
	queue = NULL;
}

static void teardown(void)
{
	ku_queue_destroy(queue);
	lone_teardown(&bench, client);
}

/* Throttle all requests for LONG_MS, and check that only few come. */
static void check_patience(void)
{
	uint64_t before = model_figures(bench.model)->requests;

	model_set_throttle(bench.model, 1000000);
	lone_run_ms(&bench, client, LONG_MS);
	ck_assert_uint_le(model_figures(bench.model)->requests, before + FEW);
	/* But the queue does go on to ask. */
	ck_assert_uint_ge(model_figures(bench.model)->requests, before + 5);
}

static void polled(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		kustos_item_free(items[i]);
	*(int *)arg = (int)err;
}

/* Check that the call under way waits patiently.  It succeeds when the server
   has time again; or it ends when the queue is destroyed before that.  "items"
   are left then. */
static void check_end(const int *end, bool destroyed, int items)
{
	check_patience();
	ck_assert_int_eq(*end, -1);
	if (destroyed) {
		ku_queue_destroy(queue);
		queue = NULL;
	}
	model_set_throttle(bench.model, 0);
	lone_run_ms(&bench, client, 500);
	ck_assert_int_eq(*end, destroyed ? KUSTOS_ECLOSED : KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), items);
}

/* The items were listed, and one is to be read.  The read succeeds in the end,
   or the queue is destroyed before that. */
START_TEST(L28_an_item_is_read_again_in_a_while)
{
	const struct ku_poll_wish wish = { .max = 1,
		.deadline = KUSTOS_FOREVER };
	int end = -1;

	bench_create(&bench, raw, QUEUE "/qn-0000000000", "x",
		KU_ZK_PERSISTENT);
	open_queue(0);
	ck_assert_int_eq(ku_queue_poll_async(queue, &wish, polled, &end),
		KUSTOS_OK);
	lone_run_ms(&bench, client, WAY_MS + WAY_MS / 2);
	check_end(&end, _i == 1, _i == 1);
}
END_TEST

static void was_put(void *arg, enum kustos_err err)
{
	*(int *)arg = (int)err;
}

START_TEST(L28_what_is_there_is_counted_again_in_a_while)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	int end = -1;

	open_queue(5);
	ck_assert_int_eq(ku_queue_put_async(queue, &item, KUSTOS_FOREVER, NULL,
				 was_put, &end),
		KUSTOS_OK);
	check_end(&end, _i == 1, _i == 0);
}
END_TEST

static void put(const char *data)
{
	ck_assert_int_eq(bench_create(&bench, raw, QUEUE "/qn-", data,
				 KU_ZK_PERSISTENT_SEQUENTIAL)
				 .rc,
		KU_ZK_OK);
}

static void took(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	ck_assert_int_eq(err, KUSTOS_OK);
	ck_assert_uint_eq(count, 1);
	strcpy(arg, items[0]->data);
	kustos_item_free(items[0]);
}

static void take(const char *data)
{
	const struct ku_poll_wish wish = { .max = 1,
		.deadline = KUSTOS_FOREVER };
	char taken[8] = "";

	ck_assert_int_eq(ku_queue_poll_async(queue, &wish, took, taken),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
	ck_assert_str_eq(taken, data);
}

/* The queue's node was made anew meanwhile, without notice.  So the number of
   the queue's own item seems to be the next one, and is not. */
START_TEST(after_a_silence_an_own_item_does_not_go_before_others)
{
	const struct kustos_new_item item = { .data = "own", .len = 3 };
	int end = -1;

	open_queue(0);
	put("old");
	take("old");
	lone_run_ms(&bench, client, 2 * LONG_MS);
	ck_assert_int_eq(bench_delete(&bench, raw, QUEUE, -1).rc, KU_ZK_OK);
	bench_create(&bench, raw, QUEUE, "", KU_ZK_PERSISTENT);
	put("first");
	ck_assert_int_eq(ku_queue_put_async(queue, &item, KUSTOS_FOREVER, NULL,
				 was_put, &end),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(end, KUSTOS_OK);
	take("first");
	take("own");
}
END_TEST

/* The item has a child, and then none, which does not change the list of items;
   nothing is put meanwhile.  A look is two listings.  The item is mended just
   after a look, and must be found by the next one. */
START_TEST(L27_what_is_mended_is_taken_in_a_while)
{
	const struct ku_poll_wish wish = { .max = 1,
		.deadline = KUSTOS_FOREVER };
	int end = -1;

	bench_create(&bench, raw, QUEUE "/qn-0000000000", "x",
		KU_ZK_PERSISTENT);
	bench_create(&bench, raw, QUEUE "/qn-0000000000/child", "",
		KU_ZK_PERSISTENT);
	open_queue(0);
	ck_assert_int_eq(ku_queue_poll_async(queue, &wish, polled, &end),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	uint64_t before = queue->take.list.asked;
	lone_run_ms(&bench, client, 10 * KU_UNFIT_AGAIN_MS);
	ck_assert_uint_le(queue->take.list.asked, before + 20);
	ck_assert_int_eq(end, -1);
	lone_run_until_read(&bench, client, &queue->take.list);
	bench_delete(&bench, raw, QUEUE "/qn-0000000000/child", -1);
	lone_run_ms(&bench, client, KU_UNFIT_AGAIN_MS);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 0);
}
END_TEST

/* The item gets a child after it was read, and before it is deleted. */
START_TEST(L27_what_gets_a_child_as_it_is_taken_is_passed_over)
{
	const struct ku_poll_wish wish = { .max = 1,
		.deadline = KUSTOS_FOREVER };
	char taken[8] = "";

	put("parent");
	put("other");
	open_queue(0);
	ck_assert_int_eq(ku_queue_poll_async(queue, &wish, took, taken),
		KUSTOS_OK);
	for (int ms = 0; queue->take.taking.count == 0; ms++) {
		ck_assert_int_lt(ms, 10 * WAY_MS);
		lone_run_ms(&bench, client, 1);
	}
	bench_create(&bench, raw, QUEUE "/qn-0000000000/child", "",
		KU_ZK_PERSISTENT);
	lone_run_ms(&bench, client, 100);
	ck_assert_str_eq(taken, "other");
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 1);
}
END_TEST

static void ask(bool peek, struct kustos_cancel **cancel, int *end)
{
	struct ku_poll_wish wish = { .max = 1,
		.deadline = KUSTOS_FOREVER,
		.peek = peek };

	*end = -1;
	ck_assert_int_eq(kustos_cancel_create(cancel), KUSTOS_OK);
	wish.cancel = *cancel;
	ck_assert_int_eq(ku_queue_poll_async(queue, &wish, polled, end),
		KUSTOS_OK);
}

static void give_up(struct kustos_cancel *cancel, const int *end)
{
	kustos_cancel_fire(cancel);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(*end, KUSTOS_ECANCELED);
	kustos_cancel_destroy(cancel);
}

/* The call that asked for the item has given up, and so does a call that only
   looks. */
START_TEST(L27_what_is_taken_for_nobody_is_kept_for_the_next)
{
	struct kustos_cancel *cancel;
	int end;

	open_queue(0);
	put("late");
	ask(false, &cancel, &end);
	for (int ms = 0; !queue->take.busy; ms++) {
		ck_assert_int_lt(ms, 10 * WAY_MS);
		lone_run_ms(&bench, client, 1);
	}
	give_up(cancel, &end);
	ck_assert_uint_eq(ku_queue_kept(queue), 1);
	ask(true, &cancel, &end);
	lone_run_ms(&bench, client, 100);
	give_up(cancel, &end);
	take("late");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pauses in the simulator");
	TCase *t = tcase_create("of a queue");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, L28_an_item_is_read_again_in_a_while, 0, 2);
	tcase_add_loop_test(t, L28_what_is_there_is_counted_again_in_a_while, 0,
		2);
	tcase_add_test(t,
		after_a_silence_an_own_item_does_not_go_before_others);
	tcase_add_test(t, L27_what_is_mended_is_taken_in_a_while);
	tcase_add_test(t, L27_what_gets_a_child_as_it_is_taken_is_passed_over);
	tcase_add_test(t, L27_what_is_taken_for_nobody_is_kept_for_the_next);
	suite_add_tcase(s, t);
	return unit_main(s);
}
