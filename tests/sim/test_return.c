/*
 * test_return.c - what a queue has taken for calls that had given up, and puts back in
 * the end: much of it, and what is very large.
 */
#include "lone.h"

#include "../unit/fault.h"
#include "../unit/unit.h"
#include "client.h"
#include "queue_impl.h"

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

#define LOST(count, how) QUEUE ": of what was taken too late " #count " " how
#define UNKNOWN                                                             \
	"may not have been put back: the request may or may not have been " \
	"applied"
#define NOT_SENT "cannot be put back: the client was closed"

static struct ku_zk_api api; /* ku_zk_sim, but for what "trouble" says */
static struct {
	int taken;    /* transactions that take */
	int returned; /* and that put */
	int denied;   /* the first item of so many of these */
	int put_off;  /* so many puts without a receipt */
	bool lost;    /* the answers of all puts are, and what they left */
	bool mute;    /* nor is a put without a receipt ever answered */
	bool busy;    /* the server has no time for these */
	bool no_root; /* the queue may not be made */
	int roots;
	size_t most_bytes;
	bool poor; /* memory is short when the first of them is answered */
	ku_zk_done_fn *done;
	void *arg;
} trouble;
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_queue *queue;
static const char *place; /* the queue's full path */
static char data[MAX][HUGE + 1];
static const char *told; /* in the log, in the end, of what is lost */
static int lines;

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
	static struct ku_zk_result results[MAX + 1];
	static struct ku_zk_reply no = { .rc = KU_ZK_NOAUTH,
		.len = -1,
		.results = results };
	size_t bytes = ku_request_size(request);

	if (bytes > trouble.most_bytes)
		trouble.most_bytes = bytes;
	trouble.returned++;
	if (trouble.lost)
		return lone_lose(zk, request, done, arg);
	if (trouble.returned == 1 && trouble.poor) {
		trouble.done = done;
		trouble.arg = arg;
		return ku_zk_sim.submit(zk, request, answer_poor, NULL);
	}
	if (trouble.busy)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	if (trouble.returned > trouble.denied)
		return ku_zk_sim.submit(zk, request, done, arg);
	no.result_count = request->op_count;
	for (int i = 0; i < no.result_count; i++)
		results[i].rc = i == 1 ? no.rc : KU_ZK_RUNTIMEINCONSISTENCY;
	return lone_answer(zk, &no, done, arg);
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	size_t len = strlen(place);
	bool is_below = request->kind == KU_ZK_CREATE &&
		strncmp(request->path, place, len) == 0;
	bool is_put = is_below && request->path[len] == '/';
	bool is_root = is_below && request->path[len] == '\0';

	if (request->kind == KU_ZK_MULTI &&
		request->ops[1].kind == KU_ZK_CREATE)
		return submit_return(zk, request, done, arg);
	trouble.taken += request->kind == KU_ZK_MULTI;
	trouble.roots += is_root;
	if (is_root && trouble.no_root)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	if (is_put && trouble.mute)
		return KU_ZK_OK;
	if (is_put && trouble.put_off-- > 0)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	if (is_put && trouble.lost)
		return lone_lose(zk, request, done, arg);
	if (request->kind == KU_ZK_GET && trouble.lost) /* a receipt */
		return lone_refuse(zk, KU_ZK_NONODE, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void open_queue(void)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = "/receipts",
		.max_bytes = 1000 };

	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
}

static void take_line(void *arg, enum kustos_log_level level, const char *line)
{
	(void)arg;
	if (level > KUSTOS_LOG_ERROR)
		return;
	lines++;
	ck_assert_str_eq(line, told);
}

static void connect(const char *name_space)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	options.name_space = name_space;
	options.log = take_line;
	client = lone_connected_with(&bench, &api, 1, &options);
}

static void setup(void)
{
	memset(&trouble, 0, sizeof(trouble));
	told = NULL;
	lines = 0;
	api = ku_zk_sim;
	api.submit = submit;
	place = QUEUE;
	raw = lone_setup(&bench, 5);
	lone_make(&bench, raw, QUEUE);
	lone_make(&bench, raw, "/receipts");
	connect(NULL);
	open_queue();
}

static void teardown(void)
{
	ck_assert_int_eq(lines > 0, told != NULL);
	lone_teardown(&bench, NULL);
}

static void was_taken(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	(void)items;
	ck_assert_uint_eq(count, 0);
	*(enum kustos_err *)arg = err;
}

static void put_by_name(int number, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/qn-%010d", place, number);
	ck_assert_int_eq(
		bench_create(&bench, raw, path, what, KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
}

/* So many items are there, of "bytes" each, and begin with their numbers.  They are taken
   for a call that has given up. */
static void keep(int count, size_t bytes)
{
	struct ku_poll_wish all = { .max = (size_t)count,
		.deadline = KUSTOS_FOREVER };
	enum kustos_err end = KUSTOS_OK;

	for (int i = 0; i < count; i++) {
		memset(data[i], 'x', bytes);
		data[i][bytes] = '\0'; /* another test's may be longer */
		data[i][0] = (char)('0' + i);
		put_by_name(i, data[i]);
	}
	ck_assert_int_eq(kustos_cancel_create(&all.cancel), KUSTOS_OK);
	ck_assert_int_eq(ku_queue_poll_async(queue, &all, was_taken, &end),
		KUSTOS_OK);
	for (int ms = 0; ms < 1000 && trouble.taken == 0; ms++)
		lone_run_ms(&bench, client, 1);
	kustos_cancel_fire(all.cancel);
	lone_run_ms(&bench, client, 500);
	ck_assert_int_eq(end, KUSTOS_ECANCELED);
	ck_assert_uint_eq(ku_queue_kept(queue), count);
	ck_assert_int_eq(model_child_count(bench.model, place), 0);
	kustos_cancel_destroy(all.cancel);
}

static void put_back(void)
{
	ku_queue_destroy(queue);
	ck_assert(lone_close(&bench, client));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Those are there that "numbers" says, in that order. */
static void check_order(const char *numbers)
{
	struct bench_reply there = bench_read(&bench, raw, KU_ZK_CHILDREN,
		place, false);
	const char *names[MAX] = { NULL };
	char path[80], found[MAX + 1] = "";
	size_t len;

	ck_assert_int_le(there.name_count, MAX);
	for (int i = 0; i < there.name_count; i++)
		names[i] = there.names[i];
	qsort(names, (size_t)there.name_count, sizeof(names[0]), by_name);
	for (int i = 0; i < there.name_count; i++) {
		ck_assert_uint_eq(strlen(names[i]), strlen("qn-0000000000"));
		snprintf(path, sizeof(path), "%s/%s", place, names[i]);
		found[i] = *model_bytes(bench.model, path, &len);
	}
	ck_assert_str_eq(found, numbers);
}

START_TEST(L24_no_more_goes_back_at_once_than_a_server_takes)
{
	keep(4, LARGE);
	put_back();
	ck_assert_int_eq(trouble.returned, 2);
	ck_assert_uint_le(trouble.most_bytes, KU_REQUEST_LIMIT);
	check_order("0123");
}
END_TEST

/* One may not, or two, and those behind it, of the same transaction, go before the
   others. */
START_TEST(S17_what_goes_back_keeps_its_order)
{
	keep(4, LARGE);
	trouble.denied = _i;
	told = LOST(1, "cannot be put back: the node's ACL forbids this");
	put_back();
	check_order(&"0123"[_i]);
	ck_assert_int_eq(lines, _i);
}
END_TEST

/* As if the queue had been copied node by node: the server's count is behind. */
START_TEST(S15_what_would_have_anothers_number_keeps_its_own)
{
	keep(3, 1);
	put_by_name(5, "8");
	put_back();
	ck_assert_int_eq(trouble.returned, 2);
	check_order("1082");
}
END_TEST

/* Or is alone, as it is too large for a receipt. */
START_TEST(S15_what_can_have_no_number_is_not_put)
{
	bool alone = _i == 1;

	keep(alone ? 1 : 3, alone ? HUGE : 1);
	put_by_name(alone ? 2 : 6, "8");
	if (!alone)
		put_by_name(1, "9");
	told = LOST(1, "cannot be put back: the node exists already");
	put_back();
	check_order(alone ? "8" : "9208");
}
END_TEST

/* It goes with a receipt without its number, and not with it. */
START_TEST(S15_what_fits_without_its_number_only_is_put)
{
	const struct ku_zk_request bare = { .path = QUEUE "/qn-",
		.acl = client->config.acl,
		.acl_count = client->config.acl_count };
	size_t room = KU_FRAME_LIMIT - KU_RECEIPT_SIZE - strlen("/receipts") -
		ku_request_size(&bare);

	keep(1, room - 5);
	put_by_name(2, "8");
	put_back();
	ck_assert_int_eq(trouble.returned, 1);
	check_order("08");
}
END_TEST

/* Though it is more than goes together with others. */
START_TEST(S15_what_may_go_back_with_a_receipt_does)
{
	keep(1, KU_REQUEST_LIMIT + 10000);
	put_back();
	ck_assert_int_eq(trouble.returned, 1);
	check_order("0");
}
END_TEST

/* Though the server has no time for a while, or for long, and the client is closed
   meanwhile. */
START_TEST(S15_what_goes_back_alone_is_put)
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
START_TEST(S15_what_waits_for_memory_ends_the_queue)
{
	keep(1, HUGE);
	fault_after(_i);
	ku_queue_destroy(queue);
	ck_assert_int_eq(fault_end(), 1);
	ck_assert_int_eq(client->unsettled, 1);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(client->unsettled, 0);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(trouble.returned, 0);
	check_order("0");
}
END_TEST

/* Memory is short at first, when that is to be made; and then another may make it. */
START_TEST(S15_what_finds_its_queue_gone_is_put)
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

/* It goes with the first that may not be put. */
START_TEST(U09_a_queue_that_may_not_be_made_is_tried_once)
{
	keep(3, 1);
	ck_assert_int_eq(bench_delete(&bench, raw, QUEUE, -1).rc, KU_ZK_OK);
	trouble.no_root = true;
	told = LOST(3, "cannot be put back: the node's ACL forbids this");
	ku_queue_destroy(queue);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(client->unsettled, 0);
	ck_assert_int_eq(trouble.roots, 1);
	ck_assert(lone_close(&bench, client));
}
END_TEST

START_TEST(S15_what_goes_back_alone_finds_its_queue_gone)
{
	keep(1, HUGE);
	ck_assert_int_eq(bench_delete(&bench, raw, QUEUE, -1).rc, KU_ZK_OK);
	put_back();
	check_order("0");
}
END_TEST

START_TEST(S15_what_may_be_back_is_told_of_as_such)
{
	keep(1, _i == 0 ? 1 : HUGE);
	trouble.lost = true;
	told = LOST(1, UNKNOWN);
	put_back();
	check_order("0");
}
END_TEST

/* It was not sent, or its answer does not come before the close is over. */
static const struct {
	int count, bytes;
	enum { STOPPED, CUT_OFF, MUTE } how;
	int before_ms, returned, lines;
	const char *told;
} left[] = {
	{ 2, 1, STOPPED, 100, 0, 1, LOST(2, NOT_SENT) },
	{ 4, LARGE, CUT_OFF, LONE_TIMEOUT_MS, 0, 2, LOST(2, NOT_SENT) },
	{ 2, 1, CUT_OFF, 100, 1, 1, LOST(2, UNKNOWN) },
	{ 1, HUGE, MUTE, 0, 0, 1, LOST(1, UNKNOWN) },
};

START_TEST(S15_what_a_close_leaves_is_told_of)
{
	bool gone = false;

	keep(left[_i].count, (size_t)left[_i].bytes);
	trouble.mute = left[_i].how == MUTE;
	if (left[_i].how == STOPPED)
		model_server_stop(bench.model, 0);
	else if (left[_i].how == CUT_OFF)
		model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	lone_run_ms(&bench, client, left[_i].before_ms);
	told = left[_i].told;
	ku_queue_destroy(queue);
	ku_client_close_start(client, ku_now(client) + 100 * KU_NS_PER_MS,
		&gone);
	for (int ms = 0; ms < 1000 && !gone; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert(gone);
	ck_assert_int_eq(trouble.returned, left[_i].returned);
	ck_assert_int_eq(lines, left[_i].lines);
	if (left[_i].how == STOPPED)
		model_server_start(bench.model, 0);
}
END_TEST

START_TEST(S15_what_goes_back_alone_has_its_prefix)
{
	put_back();
	place = "/p" QUEUE;
	lone_make(&bench, raw, "/p");
	lone_make(&bench, raw, place);
	connect("/p");
	open_queue();
	keep(1, HUGE - strlen("/p"));
	put_back();
	ck_assert_int_eq(trouble.returned, 0);
	check_order("0");
}
END_TEST

/* Nor is there a session, while the client waits for one to delete the receipt. */
START_TEST(P05_a_queue_that_ends_in_a_pause_leaves_no_timer)
{
	keep(1, 1);
	trouble.busy = true;
	ku_queue_destroy(queue);
	while (!ku_timer_is_set(&queue->take.receipt.pause))
		lone_run_ms(&bench, client, 1);
	ck_assert(model_expire(bench.model, LONE_MACHINE));
	while (client->session.id != 0)
		lone_run_ms(&bench, client, 1);
	ck_assert(ku_timer_is_set(&queue->take.receipt.pause));
	told = LOST(1, NOT_SENT);
	ck_assert(lone_close(&bench, client));
	ck_assert_int_eq(model_child_count(bench.model, "/receipts"), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("what a queue puts back");
	TCase *t = tcase_create("much, and large");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, L24_no_more_goes_back_at_once_than_a_server_takes);
	tcase_add_loop_test(t, S17_what_goes_back_keeps_its_order, 1, 3);
	tcase_add_test(t, S15_what_would_have_anothers_number_keeps_its_own);
	tcase_add_loop_test(t, S15_what_can_have_no_number_is_not_put, 0, 2);
	tcase_add_test(t, S15_what_fits_without_its_number_only_is_put);
	tcase_add_test(t, S15_what_may_go_back_with_a_receipt_does);
	tcase_add_loop_test(t, S15_what_goes_back_alone_is_put, 0, 2);
	tcase_add_loop_test(t, S15_what_waits_for_memory_ends_the_queue, 0, 2);
	tcase_add_loop_test(t, S15_what_finds_its_queue_gone_is_put, 0, 2);
	tcase_add_test(t, U09_a_queue_that_may_not_be_made_is_tried_once);
	tcase_add_test(t, S15_what_goes_back_alone_finds_its_queue_gone);
	tcase_add_test(t, S15_what_goes_back_alone_has_its_prefix);
	tcase_add_loop_test(t, S15_what_may_be_back_is_told_of_as_such, 0, 2);
	tcase_add_loop_test(t, S15_what_a_close_leaves_is_told_of, 0,
		sizeof(left) / sizeof(left[0]));
	tcase_add_test(t, P05_a_queue_that_ends_in_a_pause_leaves_no_timer);
	suite_add_tcase(s, t);
	return unit_main(s);
}
