/*
 * test_return.c - what a queue has taken for calls that had given up, and puts back in
 * the end: much of it, and what is very large.
 */
#include "lone.h"

#include "../unit/fault.h"
#include "../unit/unit.h"
#include "client.h"
#include "queue.h"

#include <kustos/cancel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE "/q"
#define MAX 4
/* Two go back in one transaction, and three do not. */
#define LARGE 400000
/* One that a server takes, but not with the change of a receipt. */
#define HUGE (KU_FRAME_LIMIT - 300)

static struct ku_zk_api api; /* ku_zk_sim, but for what "trouble" says */
static struct {
	int taken;    /* transactions that take */
	int returned; /* and that put */
	bool denied;  /* the first item of the first of these */
	int put_off;  /* so many puts without a receipt */
	size_t most_bytes;
	bool poor; /* memory is short when the first of them is answered */
	ku_zk_done_fn *done;
	void *arg;
} trouble;
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_queue *queue;
static char data[MAX][HUGE + 1];

static void answer_poor(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	fault_after(0);
	trouble.done(trouble.arg, reply);
	ck_assert_int_eq(fault_end(), 1);
}

static int submit_return(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	static const struct ku_zk_result results[] = {
		{ .rc = KU_ZK_RUNTIMEINCONSISTENCY },
		{ .rc = KU_ZK_NOAUTH },
		{ .rc = KU_ZK_RUNTIMEINCONSISTENCY },
	};
	static const struct ku_zk_reply no = { .rc = KU_ZK_NOAUTH,
		.len = -1,
		.results = results,
		.result_count = 3 };
	size_t bytes = ku_request_size(request);

	if (bytes > trouble.most_bytes)
		trouble.most_bytes = bytes;
	if (++trouble.returned == 1 && trouble.poor) {
		trouble.done = done;
		trouble.arg = arg;
		return ku_zk_sim.submit(zk, request, answer_poor, NULL);
	}
	if (trouble.returned > 1 || !trouble.denied)
		return ku_zk_sim.submit(zk, request, done, arg);
	ck_assert_int_eq(request->op_count, no.result_count);
	return lone_answer(zk, &no, done, arg);
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool is_put = request->kind == KU_ZK_CREATE &&
		strncmp(request->path, QUEUE "/", strlen(QUEUE "/")) == 0;

	if (request->kind == KU_ZK_MULTI &&
		request->ops[1].kind == KU_ZK_CREATE)
		return submit_return(zk, request, done, arg);
	trouble.taken += request->kind == KU_ZK_MULTI;
	if (is_put && trouble.put_off-- > 0)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void setup(void)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = "/receipts",
		.max_bytes = 1000 };

	memset(&trouble, 0, sizeof(trouble));
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, 5);
	lone_make(&bench, raw, QUEUE);
	lone_make(&bench, raw, "/receipts");
	client = lone_connected(&bench, &api);
	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
}

static void teardown(void)
{
	lone_teardown(&bench, NULL);
}

static void was_taken(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	(void)items;
	ck_assert_uint_eq(count, 0);
	*(enum kustos_err *)arg = err;
}

/* So many items are there, of "bytes" each, and begin with their numbers.  They are taken
   for a call that has given up. */
static void keep(int count, size_t bytes)
{
	struct ku_poll_wish all = { .max = (size_t)count,
		.deadline = KUSTOS_FOREVER };
	enum kustos_err end = KUSTOS_OK;
	char path[64];

	for (int i = 0; i < count; i++) {
		memset(data[i], 'x', bytes);
		data[i][0] = (char)('0' + i);
		snprintf(path, sizeof(path), QUEUE "/qn-%010d", i);
		ck_assert_int_eq(bench_create(&bench, raw, path, data[i],
					 KU_ZK_PERSISTENT)
					 .rc,
			KU_ZK_OK);
	}
	ck_assert_int_eq(kustos_cancel_create(&all.cancel), KUSTOS_OK);
	ck_assert_int_eq(ku_queue_poll_async(queue, &all, was_taken, &end),
		KUSTOS_OK);
	for (int ms = 0; trouble.taken == 0; ms++) {
		ck_assert_int_lt(ms, 1000);
		lone_run_ms(&bench, client, 1);
	}
	kustos_cancel_fire(all.cancel);
	lone_run_ms(&bench, client, 500);
	ck_assert_int_eq(end, KUSTOS_ECANCELED);
	ck_assert_uint_eq(ku_queue_kept(queue), count);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 0);
	kustos_cancel_destroy(all.cancel);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those are there that "numbers" says, in that order. */
static void check_order(const char *numbers)
{
	struct bench_reply there = bench_read(&bench, raw, KU_ZK_CHILDREN,
		QUEUE, false);
	const char *names[MAX] = { NULL };
	char path[80], found[MAX + 1] = "";
	size_t len;

	ck_assert_int_le(there.name_count, MAX);
	for (int i = 0; i < there.name_count; i++)
		names[i] = there.names[i];
	qsort(names, (size_t)there.name_count, sizeof(names[0]), by_name);
	for (int i = 0; i < there.name_count; i++) {
		snprintf(path, sizeof(path), QUEUE "/%s", names[i]);
		found[i] = *model_bytes(bench.model, path, &len);
	}
	ck_assert_str_eq(found, numbers);
}

START_TEST(L24_no_more_goes_back_at_once_than_a_server_takes)
{
	keep(4, LARGE);
	ku_queue_destroy(queue);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(trouble.returned, 2);
	ck_assert_uint_le(trouble.most_bytes, KU_REQUEST_LIMIT);
	check_order("0123");
}
END_TEST

/* One may not, and those behind it, of the same transaction, go before the others. */
START_TEST(S17_what_goes_back_keeps_its_order)
{
	keep(4, LARGE);
	trouble.denied = true;
	ku_queue_destroy(queue);
	ck_assert(lone_close(&bench, client));
	check_order("123");
}
END_TEST

/* Though it is more than goes together with others. */
START_TEST(S15_what_may_go_back_with_a_receipt_does)
{
	keep(1, KU_REQUEST_LIMIT + 10000);
	ku_queue_destroy(queue);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(trouble.returned, 1);
	check_order("0");
}
END_TEST

/* Though the server has no time for a while, or for long, and the client is closed
   meanwhile. */
START_TEST(S15_what_goes_back_without_a_receipt_is_put)
{
	keep(1, HUGE);
	trouble.put_off = _i == 0 ? 5 : 50;
	ku_queue_destroy(queue);
	if (_i == 1)
		lone_run_ms(&bench, client, 30000);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_lt(trouble.put_off, 0);
	ck_assert_int_eq(trouble.returned, 0);
	check_order("0");
}
END_TEST

/* Memory is short at first, when it is to be put. */
START_TEST(S15_what_goes_back_when_there_is_memory_ends_the_queue)
{
	keep(1, HUGE);
	fault_after(_i);
	ku_queue_destroy(queue);
	ck_assert_int_eq(fault_end(), 1);
	ck_assert_int_eq(client->unsettled, 1);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(client->unsettled, 0);
	ck_assert(lone_close(&bench, client));
	check_order("0");
}
END_TEST

/* Memory is short at first, when that is to be made; and then another may make it. */
START_TEST(S15_what_goes_back_into_a_queue_that_is_gone_is_put)
{
	keep(3, 1);
	ck_assert_int_eq(bench_delete(&bench, raw, QUEUE, -1).rc, KU_ZK_OK);
	trouble.poor = true;
	ku_queue_destroy(queue);
	lone_run_ms(&bench, client, 50);
	if (_i == 1)
		lone_make(&bench, raw, QUEUE);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(client->unsettled, 0);
	check_order("012");
	ck_assert(lone_close(&bench, client));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("what a queue puts back");
	TCase *t = tcase_create("much, and large");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, L24_no_more_goes_back_at_once_than_a_server_takes);
	tcase_add_test(t, S17_what_goes_back_keeps_its_order);
	tcase_add_test(t, S15_what_may_go_back_with_a_receipt_does);
	tcase_add_loop_test(t, S15_what_goes_back_without_a_receipt_is_put, 0,
		2);
	tcase_add_loop_test(t,
		S15_what_goes_back_when_there_is_memory_ends_the_queue, 0, 2);
	tcase_add_loop_test(t,
		S15_what_goes_back_into_a_queue_that_is_gone_is_put, 0, 2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
