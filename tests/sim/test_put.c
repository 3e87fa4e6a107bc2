/* test_put.c - puts into a queue that are given up, refused, or wait for room. */
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
	int root_rc;  /* error for the creation of the queue; 0: none */
	int count_rc; /* error for the stat of the queue */
	int counts, lists;
	int receipt_rc; /* error for the creation of a receipt */
	int receipts;
	bool rival;  /* another makes the queue first */
	bool lost;   /* the answer to the queue's creation is lost */
	bool reaped; /* the queue is gone again by the next put */
} trouble;
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_queue *queue;
static enum kustos_err end, other;

static int submit_root(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (trouble.root_rc != 0)
		return lone_refuse(zk, trouble.root_rc, done, arg);
	if (trouble.rival)
		lone_send(&bench, raw, request);
	trouble.reaped = trouble.reaped || trouble.rival || trouble.lost;
	trouble.rival = false;
	if (!trouble.lost)
		return ku_zk_sim.submit(zk, request, done, arg);
	trouble.lost = false;
	return lone_lose(zk, request, done, arg);
}

static int submit_put(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	static struct ku_zk_result results[] = {
		{ .rc = KU_ZK_RUNTIMEINCONSISTENCY }, { .rc = KU_ZK_NONODE }
	};
	static const struct ku_zk_reply missing = { .rc = KU_ZK_NONODE,
		.results = results,
		.result_count = 2 };

	if (!trouble.reaped)
		return ku_zk_sim.submit(zk, request, done, arg);
	trouble.reaped = false;
	return lone_answer(zk, &missing, done, arg);
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool root = request->path != NULL && strcmp(request->path, QUEUE) == 0;

	if (request->kind == KU_ZK_CREATE && !root) {
		trouble.receipts++;
		if (trouble.receipt_rc != 0)
			return lone_refuse(zk, trouble.receipt_rc, done, arg);
	}
	if (root && request->kind == KU_ZK_CREATE)
		return submit_root(zk, request, done, arg);
	if (request->kind == KU_ZK_MULTI)
		return submit_put(zk, request, done, arg);
	trouble.counts += root && request->kind == KU_ZK_EXISTS;
	trouble.lists += root && request->kind == KU_ZK_CHILDREN;
	if (root && request->kind == KU_ZK_EXISTS && trouble.count_rc != 0)
		return lone_refuse(zk, trouble.count_rc, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void setup(void)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = RECEIPTS,
		.max_items = 1,
		.max_bytes = 1000 };

	memset(&trouble, 0, sizeof(trouble));
	end = other = KUSTOS_ETIMEDOUT;
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, WAY_MS);
	lone_make(&bench, raw, RECEIPTS);
	client = lone_connected(&bench, &api);
	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
}

static void teardown(void)
{
	ku_queue_destroy(queue);
	lone_teardown(&bench, client);
}

static void was_put(void *arg, enum kustos_err err)
{
	*(enum kustos_err *)arg = err;
}

static void put_until(kustos_deadline deadline, struct kustos_cancel *cancel,
	enum kustos_err *to)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };

	ck_assert_int_eq(
		ku_queue_put_async(queue, &item, deadline, cancel, was_put, to),
		KUSTOS_OK);
}

static void put(struct kustos_cancel *cancel)
{
	put_until(KUSTOS_FOREVER, cancel, &end);
}

static void run(int ms)
{
	lone_run_ms(&bench, client, ms);
}

/* The first put has the last room, and waits for a receipt when the second
   finds none. */
START_TEST(what_has_its_room_is_not_refused_for_want_of_it)
{
	enum kustos_err first = KUSTOS_ETIMEDOUT;

	lone_make(&bench, raw, QUEUE);
	put_until(KUSTOS_NOW, NULL, &first);
	put_until(KUSTOS_NOW, NULL, &end);
	run(1000);
	ck_assert_int_eq(first, KUSTOS_OK);
	ck_assert_int_eq(end, KUSTOS_EFULL);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 1);
}
END_TEST

/* There was no room for the item, and there is after it was given up. */
START_TEST(L20_what_was_given_up_is_not_put_later)
{
	struct kustos_cancel *cancel;

	lone_make(&bench, raw, QUEUE);
	lone_make(&bench, raw, QUEUE "/qn-0000000000");
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	put(cancel);
	run(SOON_MS);
	kustos_cancel_fire(cancel);
	run(SOON_MS);
	ck_assert_int_eq(end, KUSTOS_ECANCELED);
	bench_delete(&bench, raw, QUEUE "/qn-0000000000", -1);
	run(1000);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 0);
	kustos_cancel_destroy(cancel);
}
END_TEST

/* The error is about the queue's node, not that there is no such node. */
START_TEST(U09_who_may_not_make_the_queue_is_told)
{
	trouble.root_rc = KU_ZK_NOAUTH;
	put(NULL);
	run(1000);
	ck_assert_int_eq(end, KUSTOS_ENOAUTH);
	trouble.root_rc = 0;
	put(NULL);
	run(1000);
	ck_assert_int_eq(end, KUSTOS_OK);
}
END_TEST

/* The creation is not repeated for ever. */
START_TEST(U09_who_may_not_make_a_receipt_is_told)
{
	lone_make(&bench, raw, QUEUE);
	trouble.receipt_rc = KU_ZK_NOAUTH;
	put(NULL);
	run(1000);
	ck_assert_int_eq(end, KUSTOS_ENOAUTH);
	ck_assert_int_eq(trouble.receipts, 1);
	trouble.receipt_rc = 0;
	put(NULL);
	run(1000);
	ck_assert_int_eq(end, KUSTOS_OK);
}
END_TEST

/* The connection breaks with the request that counts. */
START_TEST(L27_what_is_there_is_counted_again_on_the_next_connection)
{
	lone_make(&bench, raw, QUEUE);
	put(NULL);
	for (int ms = 0; trouble.counts == 0; ms++) {
		ck_assert_int_lt(ms, SOON_MS);
		run(1);
	}
	model_cut(bench.model, LONE_MACHINE, true);
	run(3000);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_gt(trouble.counts, 1);
}
END_TEST

/* The queue was made by another, or by a request whose answer was lost.  It is
   gone again before anything is put, which nobody has told the client. */
START_TEST(S06_a_queue_that_was_there_already_is_made_again)
{
	trouble.rival = _i == 0;
	trouble.lost = _i == 1;
	put(NULL);
	run(1000);
	ck_assert(!trouble.rival && !trouble.lost && !trouble.reaped);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 1);
}
END_TEST

/* A client that may put may be forbidden to count the items: the queue might be
   full. */
START_TEST(U09_what_may_not_be_counted_is_not_put)
{
	lone_make(&bench, raw, QUEUE);
	trouble.count_rc = KU_ZK_NOAUTH;
	put(NULL);
	run(1000);
	ck_assert_int_eq(end, KUSTOS_ENOAUTH);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 0);
	trouble.count_rc = 0;
	put(NULL);
	run(1000);
	ck_assert_int_eq(end, KUSTOS_OK);
}
END_TEST

START_TEST(L28_what_is_there_is_counted_once_for_all_who_wait)
{
	lone_make(&bench, raw, QUEUE);
	put(NULL);
	run(1);
	ck_assert_int_eq(trouble.counts, 1);
	put_until(KUSTOS_FOREVER, NULL, &other);
	run(1);
	ck_assert_int_eq(trouble.counts, 1);
	run(1000);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(other, KUSTOS_ETIMEDOUT);
}
END_TEST

/* The first put has found room for two. */
START_TEST(L28_nor_while_there_is_room_that_was_found_before)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = RECEIPTS,
		.max_items = 32,
		.max_bytes = 1000 };

	lone_make(&bench, raw, QUEUE);
	ku_queue_destroy(queue);
	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
	put(NULL);
	run(2 * WAY_MS + 1);
	put_until(KUSTOS_FOREVER, NULL, &other);
	run(1000);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(other, KUSTOS_OK);
	ck_assert_int_eq(trouble.counts, 1);
}
END_TEST

static void fill(const char *name)
{
	char path[64] = QUEUE "/";

	lone_make(&bench, raw, strcat(path, name));
}

static void make_room(const char *name)
{
	char path[64] = QUEUE "/";

	ck_assert_int_eq(bench_delete(&bench, raw, strcat(path, name), -1).rc,
		KU_ZK_OK);
}

/* The queue is listed with a watch until there is room. */
START_TEST(L28_nor_while_it_is_watched_for_room)
{
	lone_make(&bench, raw, QUEUE);
	fill("qn-0000000000");
	put(NULL);
	run(SOON_MS);
	put_until(KUSTOS_FOREVER, NULL, &other);
	run(SOON_MS);
	ck_assert_int_eq(trouble.counts, 1);
	ck_assert_int_eq(other, KUSTOS_ETIMEDOUT);
}
END_TEST

START_TEST(L28_nor_while_the_server_has_put_that_off)
{
	lone_make(&bench, raw, QUEUE);
	trouble.count_rc = KU_ZK_THROTTLEDOP;
	put(NULL);
	run(2 * WAY_MS + 1);
	put_until(KUSTOS_FOREVER, NULL, &other);
	run(1);
	ck_assert_int_eq(trouble.counts, 1);
	trouble.count_rc = 0;
	run(1000);
	ck_assert_int_eq(end, KUSTOS_OK);
}
END_TEST

/* After that, changes are the queue's own puts. */
START_TEST(L28_a_queue_that_has_room_is_not_listed_any_more)
{
	lone_make(&bench, raw, QUEUE);
	fill("qn-0000000000");
	put(NULL);
	run(SOON_MS);
	int lists = trouble.lists;
	make_room("qn-0000000000");
	run(SOON_MS);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(trouble.lists, lists + 1);
}
END_TEST

/* A put waits for room, and is given up. */
static void put_and_give_up(void)
{
	struct kustos_cancel *cancel;

	lone_make(&bench, raw, QUEUE);
	fill("qn-0000000000");
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	put(cancel);
	run(SOON_MS);
	kustos_cancel_fire(cancel);
	run(SOON_MS);
	ck_assert_int_eq(end, KUSTOS_ECANCELED);
	kustos_cancel_destroy(cancel);
}

/* Only the change for which there was a watch makes it list once more. */
START_TEST(L28_nobody_lists_a_full_queue_for_who_has_given_up)
{
	put_and_give_up();
	int lists = trouble.lists;
	fill("qn-0000000001");
	run(SOON_MS);
	fill("qn-0000000002");
	run(SOON_MS);
	ck_assert_int_eq(trouble.lists, lists + 1);
}
END_TEST

/* Another client has taken the room since. */
START_TEST(room_that_nobody_waited_for_is_not_gone_by_later)
{
	put_and_give_up();
	make_room("qn-0000000000");
	run(SOON_MS);
	fill("qn-0000000001");
	put_until(KUSTOS_NOW, NULL, &other);
	run(SOON_MS);
	ck_assert_int_eq(other, KUSTOS_EFULL);
}
END_TEST

/* The connection breaks with the request that counts, as the object ends. */
START_TEST(L06_what_is_there_is_not_counted_for_nobody)
{
	lone_make(&bench, raw, QUEUE);
	put(NULL);
	run(1);
	ck_assert_int_eq(trouble.counts, 1);
	ku_queue_destroy(queue);
	queue = NULL;
	model_cut(bench.model, LONE_MACHINE, true);
	run(3000);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	ck_assert_int_eq(end, KUSTOS_ECLOSED);
	ck_assert_int_eq(trouble.counts, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("puts in the simulator");
	TCase *t = tcase_create("refused, given up");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_has_its_room_is_not_refused_for_want_of_it);
	tcase_add_test(t, L20_what_was_given_up_is_not_put_later);
	tcase_add_test(t, U09_who_may_not_make_the_queue_is_told);
	tcase_add_test(t, U09_who_may_not_make_a_receipt_is_told);
	tcase_add_test(t,
		L27_what_is_there_is_counted_again_on_the_next_connection);
	tcase_add_test(t, U09_what_may_not_be_counted_is_not_put);
	tcase_add_loop_test(t, S06_a_queue_that_was_there_already_is_made_again,
		0, 2);
	tcase_add_test(t, L28_what_is_there_is_counted_once_for_all_who_wait);
	tcase_add_test(t, L28_nor_while_there_is_room_that_was_found_before);
	tcase_add_test(t, L28_nor_while_it_is_watched_for_room);
	tcase_add_test(t, L28_nor_while_the_server_has_put_that_off);
	tcase_add_test(t, L28_a_queue_that_has_room_is_not_listed_any_more);
	tcase_add_test(t, L28_nobody_lists_a_full_queue_for_who_has_given_up);
	tcase_add_test(t, room_that_nobody_waited_for_is_not_gone_by_later);
	tcase_add_test(t, L06_what_is_there_is_not_counted_for_nobody);
	suite_add_tcase(s, t);
	return unit_main(s);
}
