/* test_receipt_end.c - a queue's receipts, and the transactions that use them,
   when answers are lost, servers throttle requests, or the object ends. */
#include "lone.h"

#include "../unit/unit.h"
#include "queue.h"

#include <kustos/cancel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "/q-receipts"
#define BEHIND FOLDER "/"

static struct ku_zk_api api; /* ku_zk_sim, but for what "trouble" says */
static struct {
	int transactions, creations, deletions;
	int lose;	  /* the transaction whose answer is lost */
	int put_off;	  /* throttle transactions from this one on; 0: none */
	int root_off;	  /* throttle so many creations of the queue's node */
	int worn;	  /* pretend so many changes of the first receipt */
	bool no_reads;	  /* receipts may not be read */
	bool no_looks;	  /* receipts may not be looked at, either */
	const char *gone; /* a receipt that is gone when it is looked at */
	char receipt[128];
	ku_zk_done_fn *done; /* of a request whose answer is changed here */
	void *arg;
} trouble;
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_queue *queue;
static enum kustos_err ends[8];

static bool is_receipt(const char *path)
{
	return path != NULL && strncmp(path, BEHIND, strlen(BEHIND)) == 0;
}

/* Answer with a greater version of the receipt than the server did. */
static void wear(void *arg, const struct ku_zk_reply *reply)
{
	struct ku_zk_reply used = *reply;
	struct kustos_stat stat;

	(void)arg;
	if (reply->stat != NULL) {
		stat = *reply->stat;
		stat.version += trouble.worn;
		used.stat = &stat;
	}
	if (*trouble.receipt == '\0')
		snprintf(trouble.receipt, sizeof(trouble.receipt), "%s",
			reply->path);
	trouble.done(trouble.arg, &used);
}

static int submit_changed(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *changed, ku_zk_done_fn *done, void *arg)
{
	trouble.done = done;
	trouble.arg = arg;
	return ku_zk_sim.submit(zk, request, changed, arg);
}

static int submit_transaction(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	struct ku_zk_request ops[2], changed = *request;
	int count = ++trouble.transactions;

	if (trouble.put_off > 0 && count >= trouble.put_off)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	ck_assert_int_eq(request->op_count, 2);
	memcpy(ops, request->ops, sizeof(ops));
	if (strcmp(ops[0].path, trouble.receipt) == 0)
		ops[0].version -= trouble.worn;
	changed.ops = ops;
	return count == trouble.lose
		? lone_lose(zk, &changed, done, arg)
		: ku_zk_sim.submit(zk, &changed, done, arg);
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool of_receipt = is_receipt(request->path);

	if (request->kind == KU_ZK_MULTI)
		return submit_transaction(zk, request, done, arg);
	trouble.deletions += request->kind == KU_ZK_DELETE;
	if (request->kind == KU_ZK_CREATE && strcmp(request->path, "/q") == 0 &&
		trouble.creations++ < trouble.root_off)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	if (request->kind == KU_ZK_EXISTS && trouble.gone != NULL &&
		strcmp(request->path, trouble.gone) == 0)
		return lone_refuse(zk, KU_ZK_NONODE, done, arg);
	if (request->kind == KU_ZK_GET && of_receipt && trouble.no_reads)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	if (request->kind == KU_ZK_EXISTS && of_receipt && trouble.no_looks)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	if (of_receipt && trouble.worn > 0 &&
		(request->kind == KU_ZK_GET ||
			(request->kind == KU_ZK_CREATE &&
				*trouble.receipt == '\0')))
		return submit_changed(zk, request, wear, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void make_queue(void)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = FOLDER,
		.max_bytes = 1000000 };

	ck_assert_int_eq(ku_queue_create(client, "/q", &wish, &queue),
		KUSTOS_OK);
}

static void open_queue(void)
{
	client = lone_connected(&bench, &api);
	make_queue();
}

static void setup(void)
{
	raw = lone_setup(&bench, 5);
	memset(&trouble, 0, sizeof(trouble));
	for (int i = 0; i < 8; i++)
		ends[i] = KUSTOS_ETIMEDOUT;
	api = ku_zk_sim;
	api.submit = submit;
	lone_make(&bench, raw, FOLDER);
}

static void teardown(void)
{
	lone_teardown(&bench, NULL);
}

static void was_put(void *arg, enum kustos_err err)
{
	*(enum kustos_err *)arg = err;
}

static void put(int which, int len)
{
	static char data[200 * 1024];
	const struct kustos_new_item item = { .data = data,
		.len = (size_t)len };

	ck_assert_int_eq(ku_queue_put_async(queue, &item, KUSTOS_FOREVER, NULL,
				 was_put, &ends[which]),
		KUSTOS_OK);
}

static void run(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static void run_until(const int *count, int enough)
{
	for (int ms = 0; ms < 1000 && *count < enough; ms++)
		run(1);
	ck_assert_int_eq(*count, enough);
}

/* Return the path of the only receipt. */
static const char *receipt_path(void)
{
	static char path[160];
	struct bench_reply there = bench_read(&bench, raw, KU_ZK_CHILDREN,
		FOLDER, false);

	ck_assert_int_eq(there.name_count, 1);
	snprintf(path, sizeof(path), "%s%s", BEHIND, there.names[0]);
	return path;
}

static void end_it(void)
{
	ku_queue_destroy(queue);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(model_child_count(bench.model, FOLDER), 0);
}

static void was_taken(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	(void)items;
	ck_assert_uint_eq(count, 0);
	*(enum kustos_err *)arg = err;
}

/* Have the queue take an item for a call that has given up. */
static void keep_one(void)
{
	struct ku_poll_wish all = { .max = 1, .deadline = KUSTOS_FOREVER };

	lone_make(&bench, raw, "/q");
	ck_assert_int_eq(bench_create(&bench, raw, "/q/qn-0000000000", "x",
				 KU_ZK_PERSISTENT)
				 .rc,
		KU_ZK_OK);
	open_queue();
	ck_assert_int_eq(kustos_cancel_create(&all.cancel), KUSTOS_OK);
	ck_assert_int_eq(ku_queue_poll_async(queue, &all, was_taken, &ends[0]),
		KUSTOS_OK);
	run_until(&trouble.transactions, 1);
	kustos_cancel_fire(all.cancel);
	run(1000);
	ck_assert_int_eq(ends[0], KUSTOS_ECANCELED);
	ck_assert_uint_eq(ku_queue_kept(queue), 1);
	kustos_cancel_destroy(all.cancel);
}

/* Somebody writes to the receipt after an answer was lost.  The client may read
   that, or may not, and sees only its length. */
START_TEST(L05_S15_a_receipt_that_another_has_written_to_goes_as_well)
{
	lone_make(&bench, raw, "/q");
	open_queue();
	put(0, 1);
	run(1000);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	trouble.lose = 2;
	trouble.no_reads = _i == 1;
	const char *path = receipt_path();
	put(1, 1);
	run_until(&trouble.transactions, 2);
	bench_set(&bench, raw, path, "another's", -1);
	run(1000);
	ck_assert_int_eq(ends[1], KUSTOS_EUNKNOWN);
	ck_assert(!model_stat(bench.model, path, NULL));
	trouble.no_reads = false;
	put(2, 1);
	run(1000);
	ck_assert_int_eq(ends[2], KUSTOS_OK);
	end_it();
}
END_TEST

/* Newer servers hide a receipt that the client may not read. */
START_TEST(U09_S15_a_receipt_that_may_not_be_seen_proves_nothing)
{
	lone_make(&bench, raw, "/q");
	open_queue();
	trouble.no_reads = trouble.no_looks = true;
	trouble.lose = 1;
	put(0, 1);
	run(1000);
	ck_assert_int_eq(ends[0], KUSTOS_EUNKNOWN);
	put(1, 1);
	run(1000);
	ck_assert_int_eq(ends[1], KUSTOS_OK);
	end_it();
}
END_TEST

/* A new receipt, or the queue's node, is made for the item while the client is
   closed. */
START_TEST(S15_what_goes_back_in_the_end_finds_its_receipt_or_queue_gone)
{
	keep_one();
	ck_assert_int_eq(
		bench_delete(&bench, raw, _i == 0 ? receipt_path() : "/q", -1)
			.rc,
		KU_ZK_OK);
	end_it();
	ck_assert_int_eq(model_child_count(bench.model, "/q"), 1);
}
END_TEST

/* The call has ended with an error, so its item must not be put after the
   reconnect. */
START_TEST(S15_what_waits_for_a_connection_in_the_end_is_not_put)
{
	lone_make(&bench, raw, "/q");
	open_queue();
	put(0, 1);
	run(1000);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	model_server_stop(bench.model, 0);
	run(100);
	put(1, 1);
	run(100);
	ku_queue_destroy(queue);
	run(10);
	ck_assert_int_eq(ends[1], KUSTOS_ECLOSED);
	model_server_start(bench.model, 0);
	run(3000);
	ck_assert_int_eq(model_child_count(bench.model, "/q"), 1);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(trouble.transactions, 1);
	ck_assert_int_eq(model_child_count(bench.model, FOLDER), 0);
}
END_TEST

START_TEST(L28_a_transaction_that_is_put_off_is_sent_again_in_a_while)
{
	lone_make(&bench, raw, "/q");
	open_queue();
	trouble.put_off = 1;
	put(0, 1);
	run(1000);
	ck_assert_int_eq(ends[0], KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(trouble.transactions, 5);
	ck_assert_int_le(trouble.transactions, 11);
	trouble.put_off = 0;
	run(200);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	end_it();
}
END_TEST

/* A put would be refused each time. */
START_TEST(L28_nothing_is_put_while_the_queue_is_being_made)
{
	open_queue();
	trouble.root_off = 1;
	put(0, 1);
	run_until(&trouble.creations, 2);
	run(1000);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	ck_assert_int_eq(trouble.transactions, 2);
	end_it();
}
END_TEST

/* A refusal because the queue's node has to be made must not reduce the number
   of transactions that are under way at a time. */
START_TEST(what_was_refused_once_slows_nothing_down)
{
	open_queue();
	put(0, 1);
	run(1000);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	trouble.transactions = 0;
	for (int i = 1; i < 4; i++)
		put(i, 200 * 1024);
	ck_assert_int_eq(trouble.transactions, 3);
	run(1000);
	for (int i = 1; i < 4; i++)
		ck_assert_int_eq(ends[i], KUSTOS_OK);
	end_it();
}
END_TEST

/* Only the old receipt tells what became of transactions that used it. */
START_TEST(S15_a_receipt_is_exchanged_when_nothing_is_on_its_way_with_it)
{
	lone_make(&bench, raw, "/q");
	open_queue();
	trouble.worn = 999999999;
	trouble.lose = 1;
	put(0, 1);
	run_until(&trouble.transactions, 1);
	put(1, 1);
	run(1000);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	ck_assert_int_eq(ends[1], KUSTOS_OK);
	ck_assert(!model_stat(bench.model, trouble.receipt, NULL));
	ck_assert_int_eq(model_child_count(bench.model, "/q"), 2);
	ck_assert_int_eq(trouble.transactions, 2);
	end_it();
}
END_TEST

#define OLD(digit) \
	"/p" BEHIND "_c_" digit "-0000-4000-8000-000000000000-receipt"
#define GONE OLD("00000000")
#define LAST OLD("ffffffff")
#define OTHER "/p" BEHIND "xxx00000000-0000-4000-8000-000000000000-receipt"

/* Only receipts below its own prefix are swept up, and nothing else.  One that
   another has deleted meanwhile does not stop the sweep. */
START_TEST(receipts_of_the_dead_are_swept_up_each_for_itself)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	options.name_space = "/p";
	lone_make(&bench, raw, "/p");
	lone_make(&bench, raw, "/p" FOLDER);
	lone_make(&bench, raw, GONE);
	lone_make(&bench, raw, LAST);
	lone_make(&bench, raw, OTHER);
	bench_run_ms(&bench, 25 * 60 * 60 * 1000);
	trouble.gone = GONE;
	client = lone_connected_with(&bench, &api, 1, &options);
	make_queue();
	put(0, 1);
	run(1000);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	ck_assert(!model_stat(bench.model, LAST, NULL));
	ck_assert(model_stat(bench.model, OTHER, NULL));
	ck_assert_int_eq(trouble.deletions, 1);
	ku_queue_destroy(queue);
	ck_assert(lone_close(&bench, client));
}
END_TEST

/* Every maker of a receipt looks for old ones, and there may be thousands of
   both. */
START_TEST(L28_of_many_receipts_each_who_makes_one_looks_at_a_hundred)
{
	char path[128];

	for (int i = 0; i < 250; i++) {
		snprintf(path, sizeof(path),
			BEHIND "_c_%08d-0000-4000-8000-000000000000-receipt",
			i);
		lone_make(&bench, raw, path);
	}
	bench_run_ms(&bench, 25 * 60 * 60 * 1000);
	open_queue();
	for (int i = 0; i < _i; i++) /* the sweep begins elsewhere */
		ku_random_below(&client->random, 2);
	put(0, 1);
	run(60 * 1000);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	/* Its own receipt may be among the hundred. */
	ck_assert_int_ge(trouble.deletions, 99);
	ck_assert_int_le(trouble.deletions, 100);
	ck_assert_int_eq(model_child_count(bench.model, FOLDER),
		251 - trouble.deletions);
	ku_queue_destroy(queue);
	ck_assert(lone_close(&bench, client));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ends of receipts in the simulator");
	TCase *t = tcase_create("lost, put off, over");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		L05_S15_a_receipt_that_another_has_written_to_goes_as_well, 0,
		2);
	tcase_add_test(t,
		U09_S15_a_receipt_that_may_not_be_seen_proves_nothing);
	tcase_add_loop_test(t,
		S15_what_goes_back_in_the_end_finds_its_receipt_or_queue_gone,
		0, 2);
	tcase_add_test(t,
		S15_what_waits_for_a_connection_in_the_end_is_not_put);
	tcase_add_test(t,
		L28_a_transaction_that_is_put_off_is_sent_again_in_a_while);
	tcase_add_test(t, L28_nothing_is_put_while_the_queue_is_being_made);
	tcase_add_test(t, what_was_refused_once_slows_nothing_down);
	tcase_add_test(t,
		S15_a_receipt_is_exchanged_when_nothing_is_on_its_way_with_it);
	tcase_add_test(t, receipts_of_the_dead_are_swept_up_each_for_itself);
	tcase_add_loop_test(t,
		L28_of_many_receipts_each_who_makes_one_looks_at_a_hundred, 0,
		8);
	suite_add_tcase(s, t);
	return unit_main(s);
}
