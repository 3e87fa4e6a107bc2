/* test_take.c - items of a queue that have changed, are gone, or were replaced
   by the time they are taken. */
#include "lone.h"

#include "../unit/unit.h"
#include "queue_impl.h"

#include <kustos/cancel.h>
#include <string.h>

#define QUEUE "/queue"
#define RECEIPTS "/receipts"
/* How long each message between a client and its server takes. */
#define WAY_MS 2
#define SOON_MS (20 * WAY_MS)

static struct ku_zk_api api; /* ku_zk_sim, but for what "trouble" says */
static struct {
	bool no_receipt; /* the creation of a receipt is throttled */
	bool no_take;	 /* nothing may be deleted */
	int list_rc;	 /* error for a listing of the queue; 0: none */
} trouble;
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_queue *queue;

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	static const struct ku_zk_result results[] = {
		{ .rc = KU_ZK_RUNTIMEINCONSISTENCY },
		{ .rc = KU_ZK_NOAUTH },
	};
	static const struct ku_zk_reply no = { .rc = KU_ZK_NOAUTH,
		.len = -1,
		.results = results,
		.result_count = 2 };

	if (request->kind == KU_ZK_CREATE && trouble.no_receipt)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	if (request->kind == KU_ZK_CHILDREN && trouble.list_rc != 0 &&
		strcmp(request->path, QUEUE) == 0)
		return lone_refuse(zk, trouble.list_rc, done, arg);
	if (request->kind == KU_ZK_MULTI && trouble.no_take)
		return lone_answer(zk, &no, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void open_queue(enum ku_item_kind kind)
{
	const struct ku_queue_wish wish = { .kind = kind,
		.receipts = RECEIPTS,
		.max_bytes = 1000 };

	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
}

static void setup(void)
{
	memset(&trouble, 0, sizeof(trouble));
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, WAY_MS);
	lone_make(&bench, raw, QUEUE);
	lone_make(&bench, raw, RECEIPTS);
	client = lone_connected(&bench, &api);
	open_queue(KU_ITEM_SIMPLE);
}

static void teardown(void)
{
	ku_queue_destroy(queue);
	lone_teardown(&bench, client);
}

static void put(const char *data)
{
	ck_assert_int_eq(bench_create(&bench, raw, QUEUE "/qn-", data,
				 KU_ZK_PERSISTENT_SEQUENTIAL)
				 .rc,
		KU_ZK_OK);
}

static void remove_it(const char *path)
{
	ck_assert_int_eq(bench_delete(&bench, raw, path, -1).rc, KU_ZK_OK);
}

/* What polls have returned, one letter for each item. */
static struct {
	char items[8];
	enum kustos_err err;
} got;

static void took(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	(void)arg;
	got.err = err;
	for (size_t i = 0; i < count; i++) {
		strncat(got.items, items[i]->data, 1);
		kustos_item_free(items[i]);
	}
}

static void ask(const struct ku_poll_wish *wish)
{
	*got.items = '\0';
	got.err = KUSTOS_ETIMEDOUT;
	ck_assert_int_eq(ku_queue_poll_async(queue, wish, took, NULL),
		KUSTOS_OK);
}

static void poll(size_t max)
{
	ask(&(struct ku_poll_wish){ .max = max, .deadline = KUSTOS_FOREVER });
}

static void run(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static void disconnect(void)
{
	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	model_cut(bench.model, LONE_MACHINE, false);
	run(SOON_MS);
}

static void check(const char *items)
{
	ck_assert_int_eq(got.err, KUSTOS_OK);
	ck_assert_str_eq(got.items, items);
}

static void take(const char *item)
{
	poll(1);
	run(SOON_MS);
	check(item);
}

/* Poll for "count" items, and run until these are about to be deleted. */
static void poll_until_taking(size_t count)
{
	poll(count);
	for (int ms = 0; queue->take.taking.count < count; ms++) {
		ck_assert_int_lt(ms, SOON_MS);
		run(1);
	}
}

/* Replace the item by another of the same name and version. */
static void make_anew(const char *data)
{
	remove_it(QUEUE "/qn-0000000000");
	remove_it(QUEUE);
	lone_make(&bench, raw, QUEUE);
	put(data);
}

/* The item was read, and the receipt is not there yet: for a long time, or
   until after a reconnect. */
START_TEST(S15_what_was_read_is_read_again_if_it_is_taken_late)
{
	put("o");
	trouble.no_receipt = true;
	poll_until_taking(1);
	make_anew("n");
	if (_i == 1)
		model_cut(bench.model, LONE_MACHINE, true);
	run(_i == 1 ? 300 : 1500);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	trouble.no_receipt = false;
	run(1500);
	check("n");
}
END_TEST

static void was_put(void *arg, enum kustos_err err)
{
	*(enum kustos_err *)arg = err;
}

/* Put an item through the object that takes. */
static void put_own(const char *data, int64_t due_ms)
{
	const struct kustos_new_item item = { .data = data,
		.len = 1,
		.due_ms = due_ms };
	enum kustos_err err = KUSTOS_ETIMEDOUT;

	ck_assert_int_eq(ku_queue_put_async(queue, &item, KUSTOS_FOREVER, NULL,
				 was_put, &err),
		KUSTOS_OK);
	run(SOON_MS);
	ck_assert_int_eq(err, KUSTOS_OK);
}

/* The object is about to take its own item, which it does not read.  When it is
   connected again, that node is another's. */
START_TEST(S15_an_own_item_is_not_taken_without_a_connection)
{
	put("f");
	take("f");
	put_own("o", 0);
	ck_assert_uint_eq(queue->take.caught.count, 1);
	disconnect();
	poll(1);
	remove_it(QUEUE "/qn-0000000001");
	remove_it(QUEUE);
	lone_make(&bench, raw, QUEUE);
	put("p");
	put("n");
	remove_it(QUEUE "/qn-0000000000");
	model_heal(bench.model);
	run(3000);
	check("n");
}
END_TEST

/* It does not come before listed items, even if one of these is just being read
   ahead. */
START_TEST(an_own_item_comes_behind_all_that_were_there)
{
	for (char letter[] = "a"; *letter <= 'e'; ++*letter)
		put(letter);
	take("a");
	put_own("o", 0);
	for (char letter[] = "b"; *letter <= 'e'; ++*letter)
		take(letter);
	take("o");
}
END_TEST

/* This holds although a call waits, and there is no other item. */
START_TEST(S17_an_own_item_is_not_taken_before_it_is_due)
{
	const struct ku_clock *clock = &client->env.clock;

	ku_queue_destroy(queue);
	open_queue(KU_ITEM_DELAY);
	put_own("f", ku_wall_ms(clock));
	take("f");
	poll(1);
	run(SOON_MS);
	put_own("o", ku_wall_ms(clock) + 5000);
	run(4000);
	ck_assert_int_eq(got.err, KUSTOS_ETIMEDOUT);
	run(2000);
	check("o");
}
END_TEST

/* Check that the poll "now" ends at once without a connection. */
static void check_at_once(const struct ku_poll_wish *now)
{
	got.err = KUSTOS_ETIMEDOUT;
	enum kustos_err err = ku_queue_poll_async(queue, now, took, NULL);

	run(SOON_MS);
	ck_assert_int_eq(err == KUSTOS_OK ? got.err : err,
		KUSTOS_EDISCONNECTED);
}

/* Items were read before, or only listed. */
START_TEST(L20_who_does_not_wait_does_not_wait_for_a_connection)
{
	const struct ku_poll_wish now = { .max = 1, .deadline = KUSTOS_NOW };

	for (char letter[] = "a"; *letter <= 'e'; ++*letter)
		put(letter);
	take("a");
	disconnect();
	for (int i = 0; i < 2; i++)
		check_at_once(&now);
	model_heal(bench.model);
	run(3000);
	take("b");
}
END_TEST

/* An item was taken for nobody, but may not be shown to a call that only
   looks. */
START_TEST(L20_who_looks_without_waiting_does_not_wait_for_a_connection)
{
	struct ku_poll_wish all = { .max = 1, .deadline = KUSTOS_FOREVER };
	const struct ku_poll_wish now = { .max = 1,
		.peek = true,
		.deadline = KUSTOS_NOW };

	put("a");
	put("b");
	ck_assert_int_eq(kustos_cancel_create(&all.cancel), KUSTOS_OK);
	ask(&all);
	for (int ms = 0; !queue->take.busy; ms++) {
		ck_assert_int_lt(ms, SOON_MS);
		run(1);
	}
	kustos_cancel_fire(all.cancel);
	run(SOON_MS);
	kustos_cancel_destroy(all.cancel);
	ck_assert_int_eq(got.err, KUSTOS_ECANCELED);
	ck_assert_uint_eq(ku_queue_kept(queue), 1);
	disconnect();
	check_at_once(&now);
	model_heal(bench.model);
	run(3000);
	take("a");
}
END_TEST

/* The item is still the first, although the next one was read.  And an only
   taker takes the following ones strictly in order. */
START_TEST(an_item_that_is_changed_as_it_is_taken_is_the_next_still)
{
	put("a");
	put("b");
	for (char letter[] = "c"; *letter <= 'h'; ++*letter)
		put(letter);
	take("a");
	poll(1);
	ck_assert_uint_eq(queue->take.caught.count, 2);
	run(1); /* it was read, and is about to be deleted */
	lone_send(&bench, raw,
		&(struct ku_zk_request){ .kind = KU_ZK_SET,
			.path = QUEUE "/qn-0000000001",
			.data = "B",
			.len = 1 });
	run(SOON_MS);
	check("B");
	for (char letter[] = "c"; *letter <= 'h'; ++*letter)
		take(letter);
}
END_TEST

/* One of three items is gone. */
START_TEST(L27_what_is_left_of_those_to_be_taken_need_not_be_listed)
{
	put("a");
	put("b");
	put("c");
	poll_until_taking(3);
	uint64_t before = queue->take.list.asked;
	remove_it(QUEUE "/qn-0000000001");
	run(SOON_MS);
	ck_assert_int_eq(got.err, KUSTOS_OK);
	ck_assert_uint_eq(strlen(got.items), 2);
	ck_assert_uint_eq(queue->take.list.asked, before);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 0);
}
END_TEST

START_TEST(U09_who_may_not_take_or_list_is_told)
{
	put("a");
	trouble.no_take = _i == 0;
	trouble.list_rc = _i == 1 ? KU_ZK_NOAUTH : 0;
	poll(1);
	run(SOON_MS);
	ck_assert_int_eq(got.err, KUSTOS_ENOAUTH);
	trouble.no_take = false;
	trouble.list_rc = 0;
	take("a");
}
END_TEST

/* The server throttles the listing. */
START_TEST(L20_who_does_not_wait_does_not_wait_for_a_listing)
{
	put("a");
	trouble.list_rc = KU_ZK_THROTTLEDOP;
	ask(&(struct ku_poll_wish){ .max = 1, .deadline = KUSTOS_NOW });
	run(SOON_MS);
	ck_assert_int_eq(got.err, KUSTOS_EDISCONNECTED);
	trouble.list_rc = 0;
	run(1000);
	take("a");
}
END_TEST

/* The item was read ahead, for a former take. */
START_TEST(who_looks_goes_by_nothing_that_was_read_before)
{
	put("a");
	put("b");
	put("c");
	take("a");
	take("b");
	ck_assert_uint_eq(queue->take.caught.count, 1);
	ck_assert_int_eq(
		bench_set(&bench, raw, QUEUE "/qn-0000000002", "C", -1).rc,
		KU_ZK_OK);
	ask(&(struct ku_poll_wish){ .max = 1,
		.peek = true,
		.deadline = KUSTOS_FOREVER });
	run(SOON_MS);
	check("C");
	take("C");
}
END_TEST

START_TEST(L28_nobody_lists_for_who_has_given_up)
{
	struct ku_poll_wish wish = { .max = 1, .deadline = KUSTOS_FOREVER };

	ck_assert_int_eq(kustos_cancel_create(&wish.cancel), KUSTOS_OK);
	ask(&wish);
	run(SOON_MS);
	kustos_cancel_fire(wish.cancel);
	run(SOON_MS);
	ck_assert_int_eq(got.err, KUSTOS_ECANCELED);
	uint64_t before = queue->take.list.asked;
	put("a");
	run(SOON_MS);
	put("b");
	run(1000);
	ck_assert_uint_eq(queue->take.list.asked, before);
	take("a");
	kustos_cancel_destroy(wish.cancel);
}
END_TEST

/* Another client takes the item first, so there is nothing to put back. */
START_TEST(L06_a_take_that_is_refused_in_the_end_holds_up_no_close)
{
	put("a");
	put("b");
	take("a");
	poll(1);
	run(1);
	lone_send(&bench, raw,
		&(struct ku_zk_request){ .kind = KU_ZK_DELETE,
			.path = QUEUE "/qn-0000000001" });
	run(2 * WAY_MS);
	ck_assert(queue->take.busy);
	ku_queue_destroy(queue);
	queue = NULL;
	ck_assert(lone_close(&bench, client));
	client = NULL;
	ck_assert_int_eq(got.err, KUSTOS_ECLOSED);
	ck_assert_int_eq(model_child_count(bench.model, RECEIPTS), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("takes in the simulator");
	TCase *t = tcase_create("changed meanwhile");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		S15_what_was_read_is_read_again_if_it_is_taken_late, 0, 2);
	tcase_add_test(t, S15_an_own_item_is_not_taken_without_a_connection);
	tcase_add_test(t, an_own_item_comes_behind_all_that_were_there);
	tcase_add_test(t, S17_an_own_item_is_not_taken_before_it_is_due);
	tcase_add_test(t,
		an_item_that_is_changed_as_it_is_taken_is_the_next_still);
	tcase_add_test(t,
		L27_what_is_left_of_those_to_be_taken_need_not_be_listed);
	tcase_add_loop_test(t, U09_who_may_not_take_or_list_is_told, 0, 2);
	tcase_add_test(t, L20_who_does_not_wait_does_not_wait_for_a_listing);
	tcase_add_test(t, L20_who_does_not_wait_does_not_wait_for_a_connection);
	tcase_add_test(t,
		L20_who_looks_without_waiting_does_not_wait_for_a_connection);
	tcase_add_test(t, who_looks_goes_by_nothing_that_was_read_before);
	tcase_add_test(t, L28_nobody_lists_for_who_has_given_up);
	tcase_add_test(t,
		L06_a_take_that_is_refused_in_the_end_holds_up_no_close);
	suite_add_tcase(s, t);
	return unit_main(s);
}
