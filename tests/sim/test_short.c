/*
 * test_short.c - an object that cannot be made because memory is short leaves
 * nothing behind, whichever allocation fails.
 */
#include "lone.h"

#include "../unit/fault.h"
#include "../unit/unit.h"
#include "desk.h"
#include "queue.h"
#include "vigil.h"

#include <kustos/node.h>
#include <kustos/semaphore.h>
#include <stdio.h>
#include <string.h>

/* No object needs more allocations than this. */
#define REQUESTS 60

#define RECEIPTS "/receipts"

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct kustos_cancel *cancel;
static struct ku_cancel_link ours; /* our link, beside those of calls */

static void fired(struct ku_cancel_link *it)
{
	(void)it;
}

/* When a request of this kind is refused, because its node is missing or exists
   already, memory is short from then on. */
static struct {
	bool armed, failed;
	enum ku_zk_kind kind;
	int requests; /* after so many allocations */
	ku_zk_done_fn *done;
	void *arg;
} refusal;

static void refused(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	ck_assert_int_eq(reply->rc,
		refusal.kind == KU_ZK_CREATE ? KU_ZK_NODEEXISTS : KU_ZK_NONODE);
	fault_after(refusal.requests);
	refusal.done(refusal.arg, reply);
	/* The program learns the end of a call only after this. */
	if (refusal.kind == KU_ZK_MULTI)
		refusal.failed = fault_end() || refusal.failed;
}

/* A receipt was made, and then memory is short. */
static void made(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	ck_assert_int_eq(reply->rc, KU_ZK_OK);
	fault_after(refusal.requests);
	refusal.done(refusal.arg, reply);
	refusal.failed = fault_end() || refusal.failed;
}

/* Memory is no longer short: from here on the simulator would lack it. */
static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	refusal.failed = fault_end() || refusal.failed;
	if (!refusal.armed || request->kind != refusal.kind)
		return ku_zk_sim.submit(zk, request, done, arg);
	refusal.armed = false;
	refusal.done = done;
	refusal.arg = arg;
	if (request->kind == KU_ZK_CREATE &&
		strncmp(request->path, RECEIPTS "/", strlen(RECEIPTS "/")) == 0)
		return ku_zk_sim.submit(zk, request, made, NULL);
	return request->kind == KU_ZK_CREATE
		? lone_refuse(zk, KU_ZK_NODEEXISTS, refused, NULL)
		: ku_zk_sim.submit(zk, request, refused, NULL);
}

static void arm(enum ku_zk_kind kind, int requests)
{
	refusal.armed = true;
	refusal.failed = false;
	refusal.kind = kind;
	refusal.requests = requests;
}

static void setup(void)
{
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, 0);
	client = lone_connected(&bench, &api);
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	ck_assert(ku_cancel_attach(cancel, &ours, fired));
}

static void teardown(void)
{
	ku_cancel_detach(&ours);
	kustos_cancel_destroy(cancel);
	lone_teardown(&bench, client);
}

static enum kustos_err judge(const void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	(void)reply;
	return KUSTOS_EBUSY;
}

static enum kustos_err make_vigil(void)
{
	static const struct ku_vigil_wish wish = { .kind = KU_ZK_CHILDREN,
		.judge = judge };
	struct ku_vigil *vigil = NULL;
	enum kustos_err err = ku_vigil_create(client, "/node", &wish, &vigil);

	ku_vigil_destroy(vigil);
	return err;
}

static enum kustos_err make_queue(void)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = RECEIPTS };
	struct ku_queue *queue = NULL;
	enum kustos_err err = ku_queue_create(client, "/queue", &wish, &queue);

	ku_queue_destroy(queue);
	return err;
}

static enum kustos_err make_desk(void)
{
	static const struct ku_desk_wish wish = { .kind = KU_ITEM_SIMPLE,
		.items = "/queue",
		.marks = "/marks",
		.dead = "/dead" };
	struct ku_desk *desk = NULL;
	enum kustos_err err = ku_desk_create(client, &wish, &desk);

	ku_desk_destroy(desk);
	return err;
}

static enum kustos_err make_node(void)
{
	return kustos_create_async(client, "/node", "x", 1,
		KUSTOS_CREATE_EPHEMERAL, kustos_after_ms(1000), cancel,
		lone_ignore, NULL);
}

static enum kustos_err (*const make[])(
	void) = { make_vigil, make_queue, make_desk, make_node };

/* Make an object while the allocation after "requests" fails.  Returns whether
   no allocation failed. */
static bool is_made(int what, int requests)
{
	fault_after(requests);
	enum kustos_err err = make[what]();
	if (!fault_end()) {
		ck_assert_int_eq(err, KUSTOS_OK);
		lone_run_ms(&bench, client, 1000);
	} else {
		ck_assert_int_eq(err, KUSTOS_ENOMEM);
	}
	ck_assert_uint_eq(client->footprint.asked_bytes, 0);
	ck_assert_int_eq(client->unsettled, 0);
	ck_assert_ptr_null(client->ops.oldest);
	ck_assert_ptr_eq(ours.prev,
		ours.next); /* nothing but the ring's head */
	return err == KUSTOS_OK;
}

START_TEST(P05_what_cannot_be_made_leaves_nothing_behind)
{
	int requests = 0;

	while (!is_made(_i, requests))
		ck_assert_int_lt(++requests, REQUESTS);
	ck_assert_int_gt(requests, 0);
}
END_TEST

static void was_put(void *arg, enum kustos_err err)
{
	*(enum kustos_err *)arg = err;
}

static enum kustos_err put(struct ku_queue *queue)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	enum kustos_err end = KUSTOS_ETIMEDOUT;

	ck_assert_int_eq(ku_queue_put_async(queue, &item, KUSTOS_FOREVER, NULL,
				 was_put, &end),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	return end;
}

/* Delete the only receipt. */
static void delete_receipt(void)
{
	struct bench_reply there = bench_read(&bench, raw, KU_ZK_CHILDREN,
		RECEIPTS, false);
	char path[80];

	ck_assert_int_eq(there.name_count, 1);
	snprintf(path, sizeof(path), "/receipts/%s", there.names[0]);
	ck_assert_int_eq(bench_delete(&bench, raw, path, -1).rc, KU_ZK_OK);
}

/* Put when the queue's node is missing.  Returns whether memory was short while
   it was to be made. */
static bool put_first(struct ku_queue *queue, int requests)
{
	arm(KU_ZK_MULTI, requests);
	enum kustos_err end = put(queue);
	ck_assert(!refusal.armed);
	ck_assert(end == KUSTOS_OK || (refusal.failed && end == KUSTOS_ENOMEM));
	return refusal.failed;
}

/* The same when the queue has no receipt yet. */
static bool put_without_receipt(struct ku_queue *queue, int requests)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	enum kustos_err end = KUSTOS_ETIMEDOUT;

	refusal.failed = false;
	fault_after(requests);
	enum kustos_err err = ku_queue_put_async(queue, &item, KUSTOS_FOREVER,
		NULL, was_put, &end);
	refusal.failed = fault_end() || refusal.failed;
	lone_run_ms(&bench, client, 1000);
	if (err != KUSTOS_OK)
		end = err; /* the call did not begin */
	ck_assert(end == KUSTOS_OK || (refusal.failed && end == KUSTOS_ENOMEM));
	return refusal.failed;
}

/* The same when old receipts are to be swept up, which is then put off to
   another time. */
static bool put_unswept(struct ku_queue *queue, int requests)
{
	ck_assert_int_eq(kustos_create_async(client, RECEIPTS, "", 0, 0,
				 kustos_after_ms(1000), NULL, lone_ignore,
				 NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
	arm(KU_ZK_CREATE, requests);
	ck_assert_int_eq(put(queue), KUSTOS_OK);
	ck_assert(!refusal.armed);
	return refusal.failed;
}

#define WAYS 4

/* The same for a receipt that could not be made. */
START_TEST(a_queue_that_could_not_be_made_holds_up_no_later_put)
{
	struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = RECEIPTS,
		.max_bytes = 1000 };
	char path[32];
	bool failed = true;
	int requests = 0;

	for (; failed && requests < REQUESTS; requests++) {
		struct ku_queue *queue = NULL;

		snprintf(path, sizeof(path), "/queue-%d", requests);
		ck_assert_int_eq(ku_queue_create(client, path, &wish, &queue),
			KUSTOS_OK);
		failed = _i == 0	 ? put_first(queue, requests)
			: _i == WAYS - 1 ? put_unswept(queue, requests)
					 : put_without_receipt(queue, requests);
		if (_i < 2) /* otherwise it ends without another put */
			ck_assert_int_eq(put(queue), KUSTOS_OK);
		ku_queue_destroy(queue);
		lone_run_ms(&bench, client, 1000);
	}
	ck_assert(!failed);
	ck_assert_int_gt(requests, 3);
}
END_TEST

/* The receipt was deleted, which the client finds out when the queue is
   destroyed. */
START_TEST(P05_a_queue_that_cannot_make_its_receipt_anew_in_the_end_goes)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = RECEIPTS,
		.max_bytes = 1000 };
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	int requests = 0, failed = 0;

	lone_make(&bench, raw, RECEIPTS);
	do {
		enum kustos_err end = KUSTOS_ETIMEDOUT;
		struct ku_queue *queue = NULL;

		ck_assert_int_eq(
			ku_queue_create(client, "/queue", &wish, &queue),
			KUSTOS_OK);
		ck_assert_int_eq(put(queue), KUSTOS_OK);
		delete_receipt();
		arm(KU_ZK_MULTI, requests);
		ck_assert_int_eq(ku_queue_put_async(queue, &item,
					 KUSTOS_FOREVER, NULL, was_put, &end),
			KUSTOS_OK);
		ck_assert(!refusal.armed);
		ku_queue_destroy(queue);
		lone_run_ms(&bench, client, 1000);
		ck_assert_int_eq(end, KUSTOS_ECLOSED);
		ck_assert_int_eq(model_child_count(bench.model, RECEIPTS), 0);
		failed += refusal.failed;
	} while (refusal.failed && ++requests < REQUESTS);
	ck_assert(!refusal.failed);
	ck_assert_int_gt(failed, 1);
}
END_TEST

static int stored; /* how often the end of the call was told */

static void was_stored(void *arg, enum kustos_err err)
{
	stored++;
	*(enum kustos_err *)arg = err;
}

/* The number's node is to be made; or another has made it first, and it is to
   be set. */
START_TEST(a_number_that_cannot_be_stored_for_want_of_memory_is_told_of)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_semaphore *semaphore = NULL;
	int requests = 0, told_so = 0;

	refusal.failed = true;
	for (; refusal.failed && requests < REQUESTS; requests++) {
		enum kustos_err end = KUSTOS_ETIMEDOUT;
		char path[32];

		snprintf(path, sizeof(path), "/number-%d", requests);
		o.max_path = path;
		ck_assert_int_eq(kustos_semaphore_create(client, "/semaphore",
					 &o, &semaphore),
			KUSTOS_OK);
		lone_run_ms(&bench, client, 50); /* no heartbeat is due */
		arm(_i == 0 ? KU_ZK_SET : KU_ZK_CREATE, requests);
		stored = 0;
		ck_assert_int_eq(kustos_semaphore_set_max_async(semaphore, 7,
					 KUSTOS_FOREVER, NULL, was_stored,
					 &end),
			KUSTOS_OK);
		lone_run_ms(&bench, client, 1000);
		refusal.failed = fault_end() || refusal.failed;
		ck_assert(!refusal.armed);
		ck_assert_int_eq(stored, 1);
		ck_assert(end == KUSTOS_OK ||
			(refusal.failed && end == KUSTOS_ENOMEM));
		told_so += end == KUSTOS_ENOMEM;
		kustos_semaphore_destroy(semaphore);
	}
	ck_assert(!refusal.failed);
	ck_assert_int_gt(told_so, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("memory is short");
	TCase *t = tcase_create("in the simulator");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, P05_what_cannot_be_made_leaves_nothing_behind, 0,
		(int)UNIT_COUNT(make));
	tcase_add_loop_test(t,
		a_queue_that_could_not_be_made_holds_up_no_later_put, 0, WAYS);
	tcase_add_test(t,
		P05_a_queue_that_cannot_make_its_receipt_anew_in_the_end_goes);
	tcase_add_loop_test(t,
		a_number_that_cannot_be_stored_for_want_of_memory_is_told_of, 0,
		2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
