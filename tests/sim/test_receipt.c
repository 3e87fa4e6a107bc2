/* test_receipt.c - what of a queue's receipts takes a day. */
#include "lone.h"

#include "../unit/unit.h"
#include "queue.h"

#include <stdlib.h>
#include <string.h>

#define UUID "_c_00000000-0000-4000-8000-00000000000"
#define HOUR_MS (60 * 60 * 1000)

#define RACED "/q-receipts/" UUID "1-receipt"

static struct ku_zk_api api; /* ku_zk_sim, but for one deletion */
static struct {
	struct ku_zk *zk; /* NULL: it has not come */
	struct ku_zk_request request;
	ku_zk_done_fn *done;
	void *arg;
} held;
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;

static void setup(void)
{
	struct model_config config;

	model_config_init(&config);
	bench_init(&bench, &config);
	raw = bench_open(&bench, -1, LONE_TIMEOUT_MS);
}

static void make(const char *path)
{
	ck_assert_int_eq(
		bench_create(&bench, raw, path, "", KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
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

	make("/q-receipts");
	make("/q-receipts/" UUID "1-receipt");
	make("/q-receipts/" UUID "2-receipt");
	make("/q-receipts/" UUID "3-another");
	bench_run_ms(&bench, 2 * HOUR_MS);
	/* One that is in use: what was done with it is not so long ago. */
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
	held.request = *request; /* whose path is there until its end */
	held.done = done;
	held.arg = arg;
	return KU_ZK_OK;
}

/* Its user had slept for more than a day. */
START_TEST(a_receipt_that_is_used_just_then_stays)
{
	struct ku_queue *q;

	api = ku_zk_sim;
	api.submit = submit;
	held.zk = NULL;
	make("/q-receipts");
	make(RACED);
	bench_run_ms(&bench, 25 * HOUR_MS);
	q = put_one(&api);
	ck_assert_ptr_nonnull(held.zk);
	ck_assert_int_eq(bench_set(&bench, raw, RACED, "", -1).rc, KU_ZK_OK);
	ck_assert_int_eq(
		ku_zk_sim.submit(held.zk, &held.request, held.done, held.arg),
		KU_ZK_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert(is_there(RACED));
	ku_queue_destroy(q);
	ck_assert(lone_close(&bench, client));
}
END_TEST

static void lose(void *arg, const struct ku_zk_reply *reply)
{
	const struct ku_zk_reply lost = { .rc = KU_ZK_CONNECTIONLOSS };

	(void)reply;
	held.done(arg, &lost);
}

static int submit_and_lose(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	if (request->kind != KU_ZK_CREATE || held.zk != NULL)
		return ku_zk_sim.submit(zk, request, done, arg);
	held.zk = zk;
	held.done = done;
	return ku_zk_sim.submit(zk, request, lose, arg);
}

/* The answer to its creation is lost, and is looked for still when the object and
   its client end. */
START_TEST(L05_a_receipt_whose_making_is_unknown_in_the_end_is_deleted)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	enum kustos_err err = KUSTOS_OK;
	struct ku_queue *q;

	api = ku_zk_sim;
	api.submit = submit_and_lose;
	held.zk = NULL;
	make("/q-receipts");
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

static void teardown(void)
{
	ck_assert_int_eq(bench.broken, 0);
	bench_free(&bench);
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
	suite_add_tcase(s, t);
	return unit_main(s);
}
