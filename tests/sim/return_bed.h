/*
 * return_bed.h - a test bed for items that are put back: a queue has taken them
 * for a call that had given up by then.  The server makes trouble as a test
 * wants.
 */
#ifndef SIM_RETURN_BED_H
#define SIM_RETURN_BED_H

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
#define RECEIPTS "/receipts"
#define MAX 4
/* Two items of this size go back in one transaction, and three do not. */
#define LARGE 400000
/* An item that the server takes alone, but not together with the change of a
   receipt. */
#define HUGE (KU_FRAME_LIMIT - 300)

#define LOST(count, how) QUEUE ": of what was taken too late " #count " " how
#define MAYBE "the request may or may not have been applied"
#define UNKNOWN "may not have been put back: " MAYBE
#define NOT_SENT                                      \
	"cannot be put back: the client was closed, " \
	"or the object destroyed"

static struct ku_zk_api api; /* ku_zk_sim, but for what "trouble" says */
static struct {
	int taken;    /* number of transactions that take items */
	int returned; /* number of transactions that put items back */
	int denied;   /* so many of these are refused at their first item */
	int put_off;  /* so many puts without a receipt are throttled */
	bool lost;    /* answers of all puts are lost, and the receipts gone */
	bool unsure;  /* the same for all transactions that take */
	bool looks;   /* a call that looks is waiting meanwhile */
	bool mute;    /* a put without a receipt is never answered */
	bool busy;    /* transactions that put back are throttled */
	bool no_root; /* creation of the queue's node is refused */
	int root_off; /* so often its creation is throttled */
	int roots;
	size_t most_bytes;
	bool poor; /* memory is short when the first return is answered */
	ku_zk_done_fn *done;
	void *arg;
} trouble;
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_queue *queue;
static const char *place; /* the queue's full path */
static char data[MAX][HUGE + 1];
static const char *told; /* the expected log line about what is lost */
static int lines;
static enum kustos_err look_end; /* result of the look; KUSTOS_OK: none */

static inline void answer_poor(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	fault_after(0);
	trouble.done(trouble.arg, reply);
	ck_assert_int_eq(fault_end(), 1);
}

static inline int submit_return(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
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

static inline int submit(struct ku_zk *zk, const struct ku_zk_request *request,
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
	if (request->kind == KU_ZK_MULTI && trouble.unsure)
		return lone_lose(zk, request, done, arg);
	trouble.roots += is_root;
	if (is_root && trouble.no_root)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	if (is_root && trouble.root_off-- > 0)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	if (is_put && trouble.mute)
		return KU_ZK_OK;
	if (is_put && trouble.put_off-- > 0)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	if (is_put && trouble.lost)
		return lone_lose(zk, request, done, arg);
	if (request->kind == KU_ZK_GET && (trouble.lost || trouble.unsure) &&
		strncmp(request->path, RECEIPTS "/", strlen(RECEIPTS "/")) == 0)
		return lone_refuse(zk, KU_ZK_NONODE, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static inline void open_queue(void)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = RECEIPTS,
		.max_bytes = 1000 };

	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
}

static inline void take_line(void *arg, enum kustos_log_level level,
	const char *line)
{
	(void)arg;
	if (level > KUSTOS_LOG_ERROR)
		return;
	lines++;
	ck_assert_str_eq(line, told);
}

static inline void connect(const char *name_space)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	options.name_space = name_space;
	options.log = take_line;
	client = lone_connected_with(&bench, &api, 1, &options);
}

static inline void setup(void)
{
	memset(&trouble, 0, sizeof(trouble));
	told = NULL;
	lines = 0;
	look_end = KUSTOS_OK;
	api = ku_zk_sim;
	api.submit = submit;
	place = QUEUE;
	raw = lone_setup(&bench, 5);
	lone_make(&bench, raw, QUEUE);
	lone_make(&bench, raw, RECEIPTS);
	connect(NULL);
	open_queue();
}

static inline void teardown(void)
{
	ck_assert_int_eq(lines > 0, told != NULL);
	lone_teardown(&bench, NULL);
}

static inline void was_taken(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	(void)items;
	ck_assert_uint_eq(count, 0);
	*(enum kustos_err *)arg = err;
}

static inline void put_by_name(int number, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/qn-%010d", place, number);
	ck_assert_int_eq(
		bench_create(&bench, raw, path, what, KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
}

/* Put "count" items of "bytes" each, which begin with their numbers, and have a
   call take them.  With "gives_up" it is canceled before they are taken.
   Returns its result. */
static inline enum kustos_err take(int count, size_t bytes, bool gives_up)
{
	struct ku_poll_wish all = { .max = (size_t)count,
		.deadline = KUSTOS_FOREVER };
	struct ku_poll_wish look = { .max = 1,
		.peek = true,
		.deadline = KUSTOS_FOREVER };
	enum kustos_err end = KUSTOS_OK;

	for (int i = 0; i < count; i++) {
		memset(data[i], 'x', bytes);
		data[i][bytes] = '\0'; /* a former test's may be longer */
		data[i][0] = (char)('0' + i);
		put_by_name(i, data[i]);
	}
	ck_assert_int_eq(kustos_cancel_create(&all.cancel), KUSTOS_OK);
	ck_assert_int_eq(ku_queue_poll_async(queue, &all, was_taken, &end),
		KUSTOS_OK);
	for (int ms = 0; ms < 1000 && trouble.taken == 0; ms++)
		lone_run_ms(&bench, client, 1);
	if (gives_up)
		kustos_cancel_fire(all.cancel);
	if (trouble.looks)
		ck_assert_int_eq(
			ku_queue_poll_async(queue, &look, was_taken, &look_end),
			KUSTOS_OK);
	lone_run_ms(&bench, client, 500);
	ck_assert_int_eq(model_child_count(bench.model, place), 0);
	kustos_cancel_destroy(all.cancel);
	return end;
}

static inline void keep(int count, size_t bytes)
{
	ck_assert_int_eq(take(count, bytes, true), KUSTOS_ECANCELED);
	ck_assert_uint_eq(ku_queue_kept(queue), count);
}

static inline void put_back(void)
{
	ku_queue_destroy(queue);
	ck_assert(lone_close(&bench, client));
}

static inline int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Check that the queue has the items that "numbers" names, in that order. */
static inline void check_order(const char *numbers)
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

#endif
