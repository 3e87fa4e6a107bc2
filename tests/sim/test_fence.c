/* test_fence.c - the answer of a transaction was lost, and the client finds
   that it was not done.  A server may still do it later, when the session has
   long moved on; a fence must prevent that. */
#include "lone.h"

#include "../unit/unit.h"
#include "queue.h"
#include "receipt.h"

#include <string.h>

#define FOLDER "/q-receipts"

enum when { NEVER, BEFORE_THE_FENCE, AFTER_THE_FENCE };

static struct ku_zk_api api; /* ku_zk_sim, but for what "trouble" says */
static struct {
	enum when late; /* when the first transaction is done after all */
	int refusal;	/* error for the first fence; 0: none */
	int losses;	/* so many transactions are lost and not done */
	bool lose;	/* the answer to the fence is lost */
	bool no_reads;	/* receipts may not be read */
	int transactions, fences;
	/* Copies of the first transaction's operations. */
	struct ku_zk_request ops[2];
	char receipt[128], item[64], stamp[16];
} trouble;
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_queue *queue;
static enum kustos_err end;

static void keep(const struct ku_zk_request *request)
{
	ck_assert_int_eq(request->op_count, 2);
	memcpy(trouble.ops, request->ops, sizeof(trouble.ops));
	strcpy(trouble.receipt, request->ops[0].path);
	memcpy(trouble.stamp, request->ops[0].data,
		(size_t)request->ops[0].len);
	strcpy(trouble.item, request->ops[1].path);
	trouble.ops[0].path = trouble.receipt;
	trouble.ops[0].data = trouble.stamp;
	trouble.ops[1].path = trouble.item;
	trouble.ops[1].data = "x";
}

static void was_done(void *arg, const struct ku_zk_reply *reply)
{
	*(int *)arg = reply->rc;
}

/* The server that still has the first transaction does it now. */
static int do_late(void)
{
	struct ku_zk_request request = { .kind = KU_ZK_MULTI,
		.version = -1,
		.ops = trouble.ops,
		.op_count = 2 };
	int rc = 1;

	ck_assert_int_eq(ku_zk_sim.submit(raw, &request, was_done, &rc),
		KU_ZK_OK);
	for (int ms = 0; ms < 1000 && rc == 1; ms++)
		bench_run_ms(&bench, 1);
	return rc;
}

static bool is_fence(const struct ku_zk_request *request)
{
	return request->ops[request->op_count - 1].kind == KU_ZK_SET;
}

static int submit_fence(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool first = trouble.fences++ == 0;

	if (first && trouble.late == BEFORE_THE_FENCE)
		ck_assert_int_eq(do_late(), KU_ZK_OK);
	if (first && trouble.refusal != 0)
		return lone_refuse(zk, trouble.refusal, done, arg);
	return first && trouble.lose ? lone_lose(zk, request, done, arg)
				     : ku_zk_sim.submit(zk, request, done, arg);
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (request->kind == KU_ZK_GET && trouble.no_reads &&
		strncmp(request->path, FOLDER "/", strlen(FOLDER "/")) == 0)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	if (request->kind != KU_ZK_MULTI)
		return ku_zk_sim.submit(zk, request, done, arg);
	if (is_fence(request))
		return submit_fence(zk, request, done, arg);
	if (++trouble.transactions == 1)
		keep(request);
	if (trouble.transactions <= trouble.losses)
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	if (trouble.late == AFTER_THE_FENCE && trouble.transactions == 2)
		ck_assert_int_eq(do_late(), KU_ZK_BADVERSION);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void setup(void)
{
	raw = lone_setup(&bench, 0);
	memset(&trouble, 0, sizeof(trouble));
	trouble.losses = 1;
	api = ku_zk_sim;
	api.submit = submit;
	end = KUSTOS_ETIMEDOUT;
	lone_make(&bench, raw, FOLDER);
	lone_make(&bench, raw, "/q");
}

static void teardown(void)
{
	lone_teardown(&bench, NULL);
}

static void was_put(void *arg, enum kustos_err err)
{
	*(enum kustos_err *)arg = err;
}

static void put_one(void)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = FOLDER,
		.max_bytes = 1000 };
	const struct kustos_new_item item = { .data = "x", .len = 1 };

	client = lone_connected(&bench, &api);
	ck_assert_int_eq(ku_queue_create(client, "/q", &wish, &queue),
		KUSTOS_OK);
	ck_assert_int_eq(ku_queue_put_async(queue, &item, KUSTOS_FOREVER, NULL,
				 was_put, &end),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 2000);
	ku_queue_destroy(queue);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(model_child_count(bench.model, FOLDER), 0);
}

START_TEST(S15_what_is_done_late_is_done_once)
{
	trouble.late = BEFORE_THE_FENCE;
	trouble.no_reads = _i == 1;
	put_one();
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(trouble.transactions, 1);
	ck_assert_int_eq(model_child_count(bench.model, "/q"), 1);
}
END_TEST

START_TEST(S15_what_was_found_not_to_be_done_cannot_be_done_any_more)
{
	trouble.late = AFTER_THE_FENCE;
	trouble.lose = (_i & 1) != 0;
	trouble.no_reads = (_i & 2) != 0;
	put_one();
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(trouble.fences, 1);
	ck_assert_int_eq(trouble.transactions, 2);
	ck_assert_int_eq(model_child_count(bench.model, "/q"), 1);
}
END_TEST

/* The client must recognize the receipt's content as its own, even if the
   answer to the next fence is lost, or that fence is not done. */
START_TEST(S15_it_may_take_many_losses)
{
	trouble.losses = 12;
	trouble.lose = (_i & 1) != 0;
	trouble.no_reads = (_i & 2) != 0;
	trouble.refusal = (_i & 4) != 0 ? KU_ZK_CONNECTIONLOSS : 0;
	put_one();
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(trouble.fences, 12 + (trouble.refusal != 0));
	ck_assert_int_eq(trouble.transactions, 13);
	ck_assert_int_eq(model_child_count(bench.model, "/q"), 1);
}
END_TEST

/* Whatever error a server returns for the fence, the client repeats it, or
   sends the next transaction without it. */
START_TEST(S15_a_fence_that_is_refused_holds_nothing_up)
{
	static const int refusals[] = { KU_ZK_NOAUTH, KU_ZK_THROTTLEDOP,
		KU_ZK_CONNECTIONLOSS, KU_ZK_BADVERSION };

	trouble.refusal = refusals[_i];
	put_one();
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(trouble.fences, _i == 0 ? 1 : 2);
	ck_assert_int_eq(trouble.transactions, 2);
	ck_assert_int_eq(model_child_count(bench.model, "/q"), 1);
}
END_TEST

START_TEST(S15_a_receipt_that_goes_meanwhile_proves_nothing)
{
	trouble.refusal = KU_ZK_NONODE;
	put_one();
	ck_assert_int_eq(end, KUSTOS_OK); /* the item is there */
	ck_assert_int_eq(trouble.fences, 2);
}
END_TEST

#define MANY (KU_FENCE_MAX + 4)

static int deeds_over;
static bool receipt_over;

static void deed_over(struct ku_deed *deed, enum kustos_err err,
	const struct ku_zk_reply *reply)
{
	(void)deed;
	(void)reply;
	ck_assert_int_eq(err, KUSTOS_OK);
	deeds_over++;
}

static void receipt_ended(struct ku_receipt *receipt)
{
	(void)receipt;
	receipt_over = true;
}

/* Each deed but the first is asked for when the receipt is there. */
static void do_many(struct ku_receipt *receipt, struct ku_deed deeds[MANY])
{
	for (int i = 0; i < MANY; i++) {
		ku_lock(client);
		ku_receipt_do(receipt, &deeds[i]);
		ku_unlock(client);
		if (i == 0)
			lone_run_ms(&bench, client, 1000);
	}
}

START_TEST(S15_no_more_are_on_their_way_than_a_fence_makes_impossible)
{
	static const struct ku_deed_calls calls = { .over = deed_over };
	static struct ku_receipt receipt;
	static struct ku_deed deeds[MANY];
	static struct ku_zk_request ops[MANY][2];

	trouble.losses = 0;
	client = lone_connected(&bench, &api);
	for (int i = 0; i < MANY; i++) {
		ops[i][1] = (struct ku_zk_request){ .kind = KU_ZK_CHECK,
			.path = "/q",
			.version = -1 };
		deeds[i] = (struct ku_deed){ .calls = &calls,
			.ops = ops[i],
			.op_count = 2 };
	}
	ku_receipt_init(&receipt, client, FOLDER, receipt_ended);
	do_many(&receipt, deeds);
	ck_assert_int_eq(deeds_over, 1);
	ck_assert_int_eq(trouble.transactions, 1 + KU_FENCE_MAX);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(deeds_over, MANY);
	ku_lock(client);
	ku_receipt_end(&receipt);
	ku_unlock(client);
	lone_run_ms(&bench, client, 1000);
	ck_assert(receipt_over);
	ck_assert(lone_close(&bench, client));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fence");
	TCase *t = tcase_create("late");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, S15_what_is_done_late_is_done_once, 0, 2);
	tcase_add_loop_test(t,
		S15_what_was_found_not_to_be_done_cannot_be_done_any_more, 0,
		4);
	tcase_add_loop_test(t, S15_it_may_take_many_losses, 0, 8);
	tcase_add_loop_test(t, S15_a_fence_that_is_refused_holds_nothing_up, 0,
		4);
	tcase_add_test(t, S15_a_receipt_that_goes_meanwhile_proves_nothing);
	tcase_add_test(t,
		S15_no_more_are_on_their_way_than_a_fence_makes_impossible);
	suite_add_tcase(s, t);
	return unit_main(s);
}
