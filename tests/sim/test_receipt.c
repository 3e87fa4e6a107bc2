/* test_receipt.c - a queue's receipts: sweeping up old ones, which takes a day,
   making and exchanging them, and items that go back in the end. */
#include "lone.h"

#include "../unit/unit.h"
#include "queue.h"

#include <kustos/cancel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID "_c_00000000-0000-4000-8000-00000000000"
#define HOUR_MS (60 * 60 * 1000)

#define FOLDER "/q-receipts/"
#define RACED FOLDER UUID "1-receipt"

static struct ku_zk_api api; /* ku_zk_sim, but for one deletion */
static struct {
	struct ku_zk *zk; /* NULL: the deletion has not come yet */
	struct ku_zk_request request;
	ku_zk_done_fn *done;
	void *arg;
} held;
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;

static void setup(void)
{
	raw = lone_setup(&bench, 0);
}

static bool is_there(const char *path)
{
	return model_stat(bench.model, path, NULL);
}

static void was_put(void *arg, enum kustos_err err)
{
	*(enum kustos_err *)arg = err;
}

static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
	.receipts = "/q-receipts",
	.max_bytes = 1000 };

/* Open a client, and put an item into "/q". */
static struct ku_queue *put_one(const struct ku_zk_api *with)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	enum kustos_err err = KUSTOS_ETIMEDOUT;
	struct ku_queue *q;

	client = lone_open(&bench, with);
	ck_assert_ptr_nonnull(client);
	ck_assert_int_eq(ku_queue_create(client, "/q", &wish, &q), KUSTOS_OK);
	ck_assert_int_eq(ku_queue_put_async(q, &item, KUSTOS_FOREVER, NULL,
				 was_put, &err),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(err, KUSTOS_OK);
	return q;
}

START_TEST(receipts_of_the_dead_are_swept_up_after_a_day)
{
	struct ku_queue *q;

	lone_make(&bench, raw, "/q-receipts");
	lone_make(&bench, raw, "/q-receipts/" UUID "1-receipt");
	lone_make(&bench, raw, "/q-receipts/" UUID "2-receipt");
	lone_make(&bench, raw, "/q-receipts/" UUID "3-another");
	bench_run_ms(&bench, 2 * HOUR_MS);
	/* This one is in use: its last transaction was not so long ago. */
	ck_assert_int_eq(
		bench_set(&bench, raw, "/q-receipts/" UUID "2-receipt", "", -1)
			.rc,
		KU_ZK_OK);
	bench_run_ms(&bench, 23 * HOUR_MS);

	q = put_one(&ku_zk_sim);
	ck_assert(!is_there("/q-receipts/" UUID "1-receipt"));
	ck_assert(is_there("/q-receipts/" UUID "2-receipt"));
	ck_assert(is_there("/q-receipts/" UUID "3-another"));
	ku_queue_destroy(q);
	ck_assert(lone_close(&bench, client));
}
END_TEST

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (request->kind != KU_ZK_DELETE || strcmp(request->path, RACED) != 0)
		return ku_zk_sim.submit(zk, request, done, arg);
	ck_assert_ptr_null(held.zk);
	held.zk = zk;
	held.request = *request; /* its path stays valid until it ends */
	held.done = done;
	held.arg = arg;
	return KU_ZK_OK;
}

/* The receipt's user has slept for more than a day, and uses it just now. */
START_TEST(a_receipt_that_is_used_just_then_stays)
{
	struct ku_queue *q;

	api = ku_zk_sim;
	api.submit = submit;
	held.zk = NULL;
	lone_make(&bench, raw, "/q-receipts");
	lone_make(&bench, raw, RACED);
	bench_run_ms(&bench, 25 * HOUR_MS);
	q = put_one(&api);
	ck_assert_ptr_nonnull(held.zk);
	ck_assert_int_eq(bench_set(&bench, raw, RACED, "", -1).rc, KU_ZK_OK);
	ck_assert_int_eq(
		lone_submit(held.zk, &held.request, held.done, held.arg),
		KU_ZK_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert(is_there(RACED));
	ku_queue_destroy(q);
	ck_assert(lone_close(&bench, client));
}
END_TEST

static int submit_and_lose(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	if (request->kind != KU_ZK_CREATE || held.zk != NULL)
		return ku_zk_sim.submit(zk, request, done, arg);
	held.zk = zk;
	return lone_lose(zk, request, done, arg);
}

/* The answer to the creation is lost, and the client still looks for the
   receipt when the object and the client end. */
START_TEST(L05_a_receipt_whose_making_is_unknown_in_the_end_is_deleted)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	enum kustos_err err = KUSTOS_OK;
	struct ku_queue *q;

	api = ku_zk_sim;
	api.submit = submit_and_lose;
	held.zk = NULL;
	lone_make(&bench, raw, "/q-receipts");
	client = lone_open(&bench, &api);
	ck_assert_ptr_nonnull(client);
	ck_assert_int_eq(ku_queue_create(client, "/q", &wish, &q), KUSTOS_OK);
	ck_assert_int_eq(ku_queue_put_async(q, &item, KUSTOS_FOREVER, NULL,
				 was_put, &err),
		KUSTOS_OK);
	for (int ms = 0; ms < 1000 && held.zk == NULL; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert_ptr_nonnull(held.zk);
	ku_queue_destroy(q);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(err, KUSTOS_ECLOSED);
	ck_assert_int_eq(
		bench_read(&bench, raw, KU_ZK_CHILDREN, "/q-receipts", false)
			.name_count,
		0);
}
END_TEST

/* There was never a session, and the put has ended. */
START_TEST(L06_a_receipt_that_is_not_needed_any_more_holds_up_no_close)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	enum kustos_err err = KUSTOS_OK;
	struct ku_queue *q;

	model_server_stop(bench.model, 0);
	client = lone_open(&bench, &ku_zk_sim);
	ck_assert_ptr_nonnull(client);
	ck_assert_int_eq(ku_queue_create(client, "/q", &wish, &q), KUSTOS_OK);
	ck_assert_int_eq(ku_queue_put_async(q, &item, KUSTOS_FOREVER, NULL,
				 was_put, &err),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
	ku_queue_destroy(q);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(err, KUSTOS_ECLOSED);
	model_server_start(bench.model, 0);
}
END_TEST

/* The outcome of the last put is unknown, and stays so.  (That everything is
   freed shows only with a leak checker.) */
START_TEST(P05_a_queue_that_waits_for_word_of_its_end_goes_with_its_client)
{
	const struct kustos_new_item item = { .data = "y", .len = 1 };
	enum kustos_err err = KUSTOS_OK;
	struct ku_queue *q;
	bool gone = false;

	lone_make(&bench, raw, "/q");
	q = put_one(&ku_zk_sim);
	ck_assert_int_eq(ku_queue_put_async(q, &item, KUSTOS_FOREVER, NULL,
				 was_put, &err),
		KUSTOS_OK);
	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	model_cut(bench.model, LONE_MACHINE, false);
	lone_run_ms(&bench, client, 100);
	ku_queue_destroy(q);
	ku_client_close_start(client,
		ku_monotonic(&client->env.clock) + 100 * KU_NS_PER_MS, &gone);
	for (int ms = 0; ms < 1000 && !gone; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert(gone);
	ck_assert_int_eq(err, KUSTOS_ECLOSED);
}
END_TEST

/* Requests about the queue's node, and transactions. */
static struct {
	int transactions, creations;
	int rc;	     /* error for the first creation; KU_ZK_OK: none */
	int put_off; /* the transaction that is throttled */
	int denied;  /* the transaction whose first item is refused */
} root;

static void unheard(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	(void)reply;
}

static int submit_root(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	static const struct ku_zk_result results[] = {
		{ .rc = KU_ZK_RUNTIMEINCONSISTENCY },
		{ .rc = KU_ZK_NOAUTH },
		{ .rc = KU_ZK_RUNTIMEINCONSISTENCY },
		{ .rc = KU_ZK_RUNTIMEINCONSISTENCY },
	};
	static const struct ku_zk_reply no = { .rc = KU_ZK_NOAUTH,
		.len = -1,
		.results = results,
		.result_count = 4 };

	root.transactions += request->kind == KU_ZK_MULTI;
	if (request->kind == KU_ZK_MULTI && root.transactions == root.put_off)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	if (request->kind == KU_ZK_MULTI && root.transactions == root.denied) {
		ck_assert_int_eq(request->op_count, no.result_count);
		return lone_answer(zk, &no, done, arg);
	}
	if (request->kind != KU_ZK_CREATE || strcmp(request->path, "/q") != 0 ||
		root.creations++ > 0)
		return ku_zk_sim.submit(zk, request, done, arg);
	if (root.rc == KU_ZK_NOAUTH) /* another makes it just now */
		ck_assert_int_eq(ku_zk_sim.submit(zk, request, unheard, NULL),
			KU_ZK_OK);
	return lone_refuse(zk, root.rc, done, arg);
}

static void refuse_root(int rc)
{
	memset(&root, 0, sizeof(root));
	root.rc = rc;
	api = ku_zk_sim;
	api.submit = submit_root;
}

static void was_taken(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	(void)items;
	ck_assert_uint_eq(count, 0);
	*(enum kustos_err *)arg = err;
}

static void run_until(const int *count, int enough)
{
	for (int ms = 0; ms < 1000 && *count < enough; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert_int_eq(*count, enough);
}

/* Put "count" items, and have the queue take them for a call that has given
   up. */
static struct ku_queue *keep(size_t count)
{
	struct ku_poll_wish all = { .max = count, .deadline = KUSTOS_FOREVER };
	enum kustos_err taken = KUSTOS_OK;
	struct ku_queue *q;

	lone_make(&bench, raw, "/q-receipts");
	lone_make(&bench, raw, "/q");
	for (size_t i = 0; i < count; i++) {
		char path[] = "/q/qn-0000000000";

		path[sizeof(path) - 2] = (char)('0' + i);
		bench_create(&bench, raw, path, &path[sizeof(path) - 2],
			KU_ZK_PERSISTENT);
	}
	client = lone_open(&bench, &api);
	ck_assert_ptr_nonnull(client);
	ck_assert_int_eq(ku_queue_create(client, "/q", &wish, &q), KUSTOS_OK);
	ck_assert_int_eq(kustos_cancel_create(&all.cancel), KUSTOS_OK);
	ck_assert_int_eq(ku_queue_poll_async(q, &all, was_taken, &taken),
		KUSTOS_OK);
	run_until(&root.transactions, 1);
	kustos_cancel_fire(all.cancel);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(taken, KUSTOS_ECANCELED);
	ck_assert_uint_eq(ku_queue_kept(q), count);
	kustos_cancel_destroy(all.cancel);
	return q;
}

/* An item was taken for a call that had given up.  The queue's node has gone
   since.  It is to be made for a put; that creation is throttled, and then the
   queue ends. */
START_TEST(S15_what_goes_back_waits_for_the_node_that_another_has_made)
{
	const struct kustos_new_item item = { .data = "new", .len = 3 };
	enum kustos_err put = KUSTOS_OK;

	refuse_root(KU_ZK_THROTTLEDOP);
	struct ku_queue *q = keep(1);
	ck_assert_int_eq(bench_delete(&bench, raw, "/q", -1).rc, KU_ZK_OK);

	ck_assert_int_eq(ku_queue_put_async(q, &item, KUSTOS_FOREVER, NULL,
				 was_put, &put),
		KUSTOS_OK);
	run_until(&root.creations, 1);
	ck_assert(!is_there("/q"));
	ku_queue_destroy(q);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(put, KUSTOS_ECLOSED);
	ck_assert_int_eq(model_child_count(bench.model, "/q"), 1);
	ck_assert(lone_close(&bench, client));
}
END_TEST

/* One of three items may not be put back, and is lost; the other two are put
   back. */
START_TEST(S15_what_may_not_go_back_takes_nothing_else_with_it)
{
	char data[8], path[80];

	refuse_root(KU_ZK_OK);
	root.denied = 2;
	ku_queue_destroy(keep(3));
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(root.transactions, 3);
	ck_assert_int_eq(model_child_count(bench.model, "/q"), 2);
	struct bench_reply left = bench_read(&bench, raw, KU_ZK_CHILDREN, "/q",
		false);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/q/%s", left.names[i]);
		ck_assert(model_data(bench.model, path, data, sizeof(data)));
		ck_assert_str_ne(data, "0"); /* the first */
	}
	ck_assert(lone_close(&bench, client));
}
END_TEST

/* The server throttles the transaction, and the client is closed meanwhile. */
START_TEST(S15_a_close_waits_for_what_goes_back_a_moment_later)
{
	refuse_root(KU_ZK_OK);
	root.put_off = 2;
	ku_queue_destroy(keep(1));
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(root.transactions, 3);
	ck_assert_int_eq(model_child_count(bench.model, "/q"), 1);
}
END_TEST

/* The first put succeeds all the same, so no call is told the error.  Then the
   queue's node goes, and the second put must not be told it, either. */
START_TEST(why_a_queue_could_not_be_made_is_not_told_when_it_can_be)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	enum kustos_err first = KUSTOS_ETIMEDOUT, second = KUSTOS_ETIMEDOUT;
	struct ku_queue *q;

	refuse_root(KU_ZK_NOAUTH);
	client = lone_open(&bench, &api);
	ck_assert_ptr_nonnull(client);
	ck_assert_int_eq(ku_queue_create(client, "/q", &wish, &q), KUSTOS_OK);
	ck_assert_int_eq(ku_queue_put_async(q, &item, KUSTOS_FOREVER, NULL,
				 was_put, &first),
		KUSTOS_OK);
	run_until(&root.creations, 1);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(first, KUSTOS_OK);
	ck_assert_int_eq(bench_delete(&bench, raw, "/q/qn-0000000000", -1).rc,
		KU_ZK_OK);
	ck_assert_int_eq(bench_delete(&bench, raw, "/q", -1).rc, KU_ZK_OK);
	ck_assert_int_eq(ku_queue_put_async(q, &item, KUSTOS_FOREVER, NULL,
				 was_put, &second),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(second, KUSTOS_OK);
	ck_assert_int_eq(root.creations, 2);
	ku_queue_destroy(q);
	ck_assert(lone_close(&bench, client));
}
END_TEST

static char worn[128]; /* the worn receipt; empty: none yet */

/* Pretend that the receipt was used a thousand million times. */
static void wear(void *arg, const struct ku_zk_reply *reply)
{
	struct ku_zk_reply used = *reply;

	if (reply->rc == KU_ZK_OK) {
		struct kustos_stat stat = *reply->stat;

		stat.version = 1000000000;
		used.stat = &stat;
		snprintf(worn, sizeof(worn), "%s", reply->path);
		held.done(arg, &used);
		return;
	}
	held.done(arg, reply);
}

static int submit_and_wear(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	bool first = request->kind == KU_ZK_CREATE && *worn == '\0' &&
		strncmp(request->path, FOLDER, strlen(FOLDER)) == 0;

	if (!first)
		return ku_zk_sim.submit(zk, request, done, arg);
	held.done = done;
	return ku_zk_sim.submit(zk, request, wear, arg);
}

/* It is exchanged long before its version, which has 31 bits, is used up. */
START_TEST(a_receipt_that_is_worn_is_exchanged)
{
	struct ku_queue *q;

	api = ku_zk_sim;
	api.submit = submit_and_wear;
	*worn = '\0';
	q = put_one(&api);
	ck_assert(*worn != '\0');
	ck_assert(!is_there(worn));
	ck_assert_int_eq(model_child_count(bench.model, "/q-receipts"), 1);
	ck_assert_int_eq(model_child_count(bench.model, "/q"), 1);
	ku_queue_destroy(q);
	ck_assert(lone_close(&bench, client));
}
END_TEST

static void teardown(void)
{
	lone_teardown(&bench, NULL);
}

int main(void)
{
	Suite *s = suite_create("receipts in the simulator");
	TCase *t = tcase_create("a day");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, receipts_of_the_dead_are_swept_up_after_a_day);
	tcase_add_test(t, a_receipt_that_is_used_just_then_stays);
	tcase_add_test(t,
		L05_a_receipt_whose_making_is_unknown_in_the_end_is_deleted);
	tcase_add_test(t,
		L06_a_receipt_that_is_not_needed_any_more_holds_up_no_close);
	tcase_add_test(t,
		P05_a_queue_that_waits_for_word_of_its_end_goes_with_its_client);
	tcase_add_test(t,
		S15_what_goes_back_waits_for_the_node_that_another_has_made);
	tcase_add_test(t, S15_what_may_not_go_back_takes_nothing_else_with_it);
	tcase_add_test(t, S15_a_close_waits_for_what_goes_back_a_moment_later);
	tcase_add_test(t,
		why_a_queue_could_not_be_made_is_not_told_when_it_can_be);
	tcase_add_test(t, a_receipt_that_is_worn_is_exchanged);
	suite_add_tcase(s, t);
	return unit_main(s);
}
