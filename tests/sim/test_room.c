/*
 * test_room.c - there is room in a bounded queue, or for a lease, and no event
 * tells of it.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "queue.h"

#include <kustos/hold.h>
#include <kustos/semaphore.h>
#include <string.h>

#define QUEUE "/q"
#define NUMBER "/number" /* of leases */
#define ITEM QUEUE "/qn-0000000000"

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_queue *queue;
static enum kustos_err ends[2]; /* KUSTOS_ETIMEDOUT: not yet */

static struct {
	bool listing, number, put; /* refused: all, all, the next one */
} refusal;

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
	bool put = refusal.put && request->kind == KU_ZK_MULTI;
	bool listing = refusal.listing && request->kind == KU_ZK_CHILDREN &&
		strcmp(request->path, QUEUE) == 0;
	bool number = refusal.number && request->kind == KU_ZK_GET &&
		strcmp(request->path, NUMBER) == 0;

	if (!put && !listing && !number)
		return ku_zk_sim.submit(zk, request, done, arg);
	if (put)
		refusal.put = false;
	return lone_answer(zk, &no, done, arg);
}

static void was_put(void *arg, enum kustos_err err)
{
	*(enum kustos_err *)arg = err;
}

static void put(enum kustos_err *end)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };

	*end = KUSTOS_ETIMEDOUT;
	ck_assert_int_eq(ku_queue_put_async(queue, &item, KUSTOS_FOREVER, NULL,
				 was_put, end),
		KUSTOS_OK);
}

static void setup(void)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = "/q-receipts",
		.max_items = 1,
		.max_bytes = 1000 };

	memset(&refusal, 0, sizeof(refusal));
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, 0);
	bench_create(&bench, raw, QUEUE, "", KU_ZK_PERSISTENT);
	client = lone_connected(&bench, &api);
	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
}

static void teardown(void)
{
	ku_queue_destroy(queue);
	lone_teardown(&bench, client);
}

/* The client may still ask how many items there are. */
START_TEST(U09_who_may_not_list_a_full_queue_hears_of_room_in_a_while)
{
	bench_create(&bench, raw, ITEM, "", KU_ZK_PERSISTENT);
	refusal.listing = true;
	put(&ends[0]);
	lone_run_ms(&bench, client, 3000);
	ck_assert_int_eq(ends[0], KUSTOS_ETIMEDOUT);
	ck_assert_int_eq(bench_delete(&bench, raw, ITEM, -1).rc, KU_ZK_OK);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
}
END_TEST

/* Another put makes the client count, which helps all that wait. */
START_TEST(who_may_not_list_a_full_queue_hears_of_room_when_another_puts)
{
	bench_create(&bench, raw, ITEM, "", KU_ZK_PERSISTENT);
	refusal.listing = true;
	put(&ends[0]);
	lone_run_ms(&bench, client, 300);
	ck_assert_int_eq(bench_delete(&bench, raw, ITEM, -1).rc, KU_ZK_OK);
	put(&ends[1]);
	lone_run_ms(&bench, client, 300);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
}
END_TEST

/* The receipt is still being made, so the second put is counted, and the queue
   listed, before the first is sent.  Then the first is refused, which causes no
   event. */
START_TEST(who_waits_for_the_place_of_another_has_it_when_that_is_refused)
{
	refusal.put = true;
	put(&ends[0]);
	put(&ends[1]);
	lone_run_ms(&bench, client, 3000);
	ck_assert(!refusal.put);
	ck_assert_int_eq(ends[0], KUSTOS_ENOAUTH);
	ck_assert_int_eq(ends[1], KUSTOS_OK);
}
END_TEST

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	ck_assert_int_eq(err, KUSTOS_OK);
	*(struct kustos_hold **)arg = hold;
}

/* No event tells when a node may be read again. */
START_TEST(U09_who_may_not_read_how_many_leases_there_are_asks_again_in_a_while)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	const struct ku_zk_request one = { .kind = KU_ZK_CREATE,
		.path = NUMBER,
		.data = "\0\0\0\1",
		.len = 4,
		.version = -1,
		.acl = &bench_acl,
		.acl_count = 1 };
	struct kustos_semaphore *semaphore;
	struct kustos_hold *lease = NULL;

	ck_assert_int_eq(bench_call(&bench, raw, &one).rc, KU_ZK_OK);
	o.max_path = NUMBER;
	refusal.number = true;
	ck_assert_int_eq(kustos_semaphore_create(client, "/s", &o, &semaphore),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_semaphore_acquire_async(semaphore,
				 KUSTOS_FOREVER, NULL, granted, &lease),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	refusal.number = false;
	lone_run_ms(&bench, client, 45000);
	ck_assert_ptr_nonnull(lease);
	ck_assert_int_eq(kustos_hold_release(lease), KUSTOS_OK);
	kustos_semaphore_destroy(semaphore);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("room in the simulator");
	TCase *t = tcase_create("not told of");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		U09_who_may_not_list_a_full_queue_hears_of_room_in_a_while);
	tcase_add_test(t,
		who_may_not_list_a_full_queue_hears_of_room_when_another_puts);
	tcase_add_test(t,
		who_waits_for_the_place_of_another_has_it_when_that_is_refused);
	tcase_add_test(t,
		U09_who_may_not_read_how_many_leases_there_are_asks_again_in_a_while);
	suite_add_tcase(s, t);
	return unit_main(s);
}
