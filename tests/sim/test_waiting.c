/*
 * test_waiting.c - requests that wait: for room to be sent, when the lease ends
 * before a disconnect was noticed; and for their next try.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "desk.h"
#include "queue.h"

#include <kustos/node.h>
#include <string.h>

#define PATH "/n"

static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static int ends[2]; /* -1: not yet */

static void setup(void)
{
	raw = lone_setup(&bench, 0);
	client = lone_connected(&bench, &ku_zk_sim);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	client->env.in_flight = 1;
	ends[0] = ends[1] = -1;
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

static void ended(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)result;
	ck_assert_int_eq(*(int *)arg, -1);
	*(int *)arg = (int)err;
}

static int64_t make(void)
{
	struct kustos_stat stat;

	ck_assert_int_eq(
		bench_create(&bench, raw, PATH, "", KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
	ck_assert(model_stat(bench.model, PATH, &stat));
	return stat.czxid;
}

/* Send a request that is not answered and takes all the room. */
static void fill(void)
{
	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	ck_assert_int_eq(kustos_exists_async(client, PATH, KUSTOS_FOREVER, NULL,
				 ended, &ends[0]),
		KUSTOS_OK);
	ck_assert_uint_eq(client->wire.waiting, 0);
}

/* Pause the process until the lease has ended; the program is the first to
   notice.  The session lives on. */
static void lose(void)
{
	int64_t id = client->session.id;

	sched_pause(&bench.sched, LONE_MACHINE,
		bench.sched.now_ns + LONE_TIMEOUT_MS * 3 / 4 * KU_NS_PER_MS);
	bench_run_ms(&bench, LONE_TIMEOUT_MS * 3 / 4 - 1);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	ck_assert_int_eq(kustos_client_state(client), KUSTOS_STATE_LOST);
	ck_assert(client->session.id == id);
}

START_TEST(S10_a_delete_that_waited_for_room_looks_first_after_a_loss)
{
	int64_t id = client->session.id;
	int64_t old = make(), new;
	struct kustos_stat stat;

	fill();
	ck_assert_int_eq(kustos_delete_guaranteed(client, PATH, old),
		KUSTOS_OK);
	ck_assert_uint_eq(client->wire.waiting, 1);
	lose();
	ck_assert_int_eq(bench_delete(&bench, raw, PATH, -1).rc, KU_ZK_OK);
	new = make();
	model_heal(bench.model);
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	ck_assert(client->session.id == id);
	ck_assert_ptr_null(client->ops.oldest);
	ck_assert(model_stat(bench.model, PATH, &stat));
	ck_assert(stat.czxid == new);
}
END_TEST

/* It ends however long there is no connection. */
START_TEST(L20_a_try_that_waited_for_room_ends_with_a_loss)
{
	(void)make();
	fill();
	ck_assert_int_eq(kustos_exists_async(client, PATH, KUSTOS_NOW, NULL,
				 ended, &ends[1]),
		KUSTOS_OK);
	ck_assert_uint_eq(client->wire.waiting, 1);
	lose();
	lone_run_ms(&bench, client, 2);
	ck_assert_int_eq(ends[1], KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(ends[0], -1);
	model_heal(bench.model);
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
}
END_TEST

/* The server throttles the deletion; when it is sent again, the node is
   another's. */
START_TEST(S10_a_delete_that_was_put_off_looks_first)
{
	int64_t old = make(), new;
	struct kustos_stat stat;

	model_set_throttle(bench.model, 1000000);
	ck_assert_int_eq(kustos_delete_guaranteed(client, PATH, old),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
	ck_assert_uint_eq(client->counters.retried, 1);
	model_set_throttle(bench.model, 0);
	ck_assert_int_eq(bench_delete(&bench, raw, PATH, -1).rc, KU_ZK_OK);
	new = make();
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	ck_assert_ptr_null(client->ops.oldest);
	ck_assert(model_stat(bench.model, PATH, &stat));
	ck_assert(stat.czxid == new);
}
END_TEST

static void lent(void *arg, enum kustos_err err, struct ku_lent *got)
{
	ck_assert_ptr_null(got);
	*(int *)arg = (int)err;
}

/* Open a desk with one item, whose requests go through "api". */
static struct ku_desk *open_desk(const struct ku_zk_api *api)
{
	static const struct ku_desk_wish wish = { .kind = KU_ITEM_SIMPLE,
		.items = "/queue",
		.marks = "/marks" };
	struct ku_desk *desk;

	client->env.api = api;
	client->env.in_flight = 0;
	bench_create(&bench, raw, "/queue", "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, "/marks", "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, "/queue/qn-0000000000", "x",
		KU_ZK_PERSISTENT);
	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
	return desk;
}

/* At a transaction the connection breaks, and the server stops. */
static int submit_last(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	int rc = ku_zk_sim.submit(zk, request, done, arg);

	if (request->kind == KU_ZK_MULTI) {
		model_cut(bench.model, LONE_MACHINE, true);
		model_server_stop(bench.model, 0);
	}
	return rc;
}

/* A claim's answer was lost with the connection, and its session is over.  Only
   a server could tell what became of it, and there is none. */
START_TEST(L06_a_claim_that_is_not_known_holds_up_no_close)
{
	struct ku_desk *desk;
	struct ku_zk_api api = ku_zk_sim;
	bool gone = false;

	api.submit = submit_last;
	desk = open_desk(&api);
	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_FOREVER, NULL, lent, &ends[0]),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 500);
	ck_assert(!ku_session_ready(client));
	ck_assert_int_eq(ends[0], -1);
	ck_assert(model_expire(bench.model, LONE_MACHINE));
	model_server_start(bench.model, 0);
	bench_run_ms(&bench, 6000);
	ck_assert_ptr_null(client->session.handle);
	ck_assert_uint_eq(client->wire.waiting, 1);
	model_server_stop(bench.model, 0);
	ku_desk_destroy(desk);
	ku_client_close_start(client, KUSTOS_FOREVER, &gone);
	for (int i = 0; i < 500 && !gone; i++) {
		(void)ku_client_step(client);
		bench_run_ms(&bench, 1);
	}
	ck_assert(gone);
	ck_assert_int_eq(ends[0], KUSTOS_ECLOSED);
	model_server_start(bench.model, 0);
	client = lone_connected(&bench, &ku_zk_sim);
}
END_TEST

/* The connection breaks with the next transaction, which arrives; and the next
   question about a node is throttled. */
static struct {
	bool cuts;
	const char *path; /* the node's, or how that begins */
	bool always;	  /* all that follow are throttled as well */
	int questions;
} trouble;

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool asks = trouble.path != NULL && request->path != NULL &&
		strncmp(request->path, trouble.path, strlen(trouble.path)) == 0;

	if (asks) {
		trouble.questions++;
		if (!trouble.always)
			trouble.path = NULL;
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	}
	int rc = ku_zk_sim.submit(zk, request, done, arg);
	if (request->kind == KU_ZK_MULTI && trouble.cuts) {
		trouble.cuts = false;
		model_cut(bench.model, LONE_MACHINE, false);
	}
	return rc;
}

static struct ku_lent *had;

static void have(void *arg, enum kustos_err err, struct ku_lent *got)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_OK);
	had = got;
}

static void given(void *arg, enum kustos_err err)
{
	*(int *)arg = (int)err;
}

/* The server throttles: the question whose the marker is, when the claim's
   answer was lost; the question whether the item is gone, when the ack's answer
   was lost; and an ack itself.  The connection stays, or, for the first
   question, breaks again. */
START_TEST(S16_what_is_put_off_of_a_claim_is_decided_in_a_while)
{
	struct ku_zk_api api = ku_zk_sim;
	struct ku_desk *desk;

	memset(&trouble, 0, sizeof(trouble));
	had = NULL;
	api.submit = submit_it;
	desk = open_desk(&api);
	trouble.cuts = _i == 0 || _i == 3;
	trouble.path = trouble.cuts ? "/marks/qn-0000000000" : NULL;
	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_FOREVER, NULL, have, NULL),
		KUSTOS_OK);
	while (_i == 3 && trouble.questions == 0)
		lone_run_ms(&bench, client, 1);
	if (_i == 3) {
		lone_run_ms(&bench, client, 50); /* the question is answered */
		model_cut(bench.model, LONE_MACHINE, false);
	}
	lone_run_ms(&bench, client, 2000);
	ck_assert_ptr_nonnull(had);
	trouble.cuts = _i == 1;
	trouble.path = _i == 1 ? "/queue/qn-0000000000" : NULL;
	model_set_throttle(bench.model, _i == 2 ? 1000000 : 0);
	ck_assert_int_eq(ku_lent_ack_async(had, KU_ACK_DELETE, KUSTOS_FOREVER,
				 NULL, given, &ends[0]),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 300);
	model_set_throttle(bench.model, 0);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, "/queue"), 0);
	ck_assert_int_eq(model_child_count(bench.model, "/marks"), 0);
	ck_assert_ptr_null(trouble.path);
	ku_desk_destroy(desk);
	lone_run_ms(&bench, client, 100);
	client->env.api = &ku_zk_sim;
}
END_TEST

/* The same for a put item: the client reads the receipt to learn whether it was
   put. */
START_TEST(S15_L28_what_is_put_off_of_a_receipt_is_asked_in_a_while)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = "/receipts",
		.max_bytes = 1000 };
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	struct ku_zk_api api = ku_zk_sim;
	struct ku_queue *queue;

	memset(&trouble, 0, sizeof(trouble));
	api.submit = submit_it;
	client->env.api = &api;
	client->env.in_flight = 0;
	bench_create(&bench, raw, "/queue", "", KU_ZK_PERSISTENT);
	ck_assert_int_eq(ku_queue_create(client, "/queue", &wish, &queue),
		KUSTOS_OK);
	for (int i = 0; i < 2; i++) {
		ends[0] = -1;
		trouble.cuts = trouble.always = i == 1;
		ck_assert_int_eq(ku_queue_put_async(queue, &item,
					 KUSTOS_FOREVER, NULL, given, &ends[0]),
			KUSTOS_OK);
		trouble.path = i == 1 ? "/receipts/" : NULL;
		lone_run_ms(&bench, client, 2000);
		ck_assert_int_eq(ends[0], i == 1 ? -1 : KUSTOS_OK);
	}
	/* It asks again each tenth of a second. */
	ck_assert_int_gt(trouble.questions, 5);
	ck_assert_int_le(trouble.questions, 21);
	trouble.path = NULL;
	lone_run_ms(&bench, client, 500);
	ck_assert_int_eq(ends[0], KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, "/queue"), 2);
	ku_queue_destroy(queue);
	lone_run_ms(&bench, client, 100);
	client->env.api = &ku_zk_sim;
}
END_TEST

static int take_no_exists(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (request->kind == KU_ZK_EXISTS)
		return KU_ZK_BADARGUMENTS;
	return ku_zk_sim.submit(zk, request, done, arg);
}

/* It does not end within the call itself. */
START_TEST(what_the_library_never_takes_ends_in_a_moment)
{
	struct ku_zk_api picky = ku_zk_sim;

	picky.submit = take_no_exists;
	client->env.api = &picky;
	ck_assert_int_eq(kustos_exists_async(client, PATH, KUSTOS_FOREVER, NULL,
				 ended, &ends[0]),
		KUSTOS_OK);
	ck_assert_int_eq(ends[0], -1);
	lone_run_ms(&bench, client, 2);
	ck_assert_int_eq(ends[0], KUSTOS_EINVAL);
	client->env.api = &ku_zk_sim;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("requests that wait");
	TCase *t = tcase_create("waits");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		S10_a_delete_that_waited_for_room_looks_first_after_a_loss);
	tcase_add_test(t, L20_a_try_that_waited_for_room_ends_with_a_loss);
	tcase_add_test(t, S10_a_delete_that_was_put_off_looks_first);
	tcase_add_test(t, L06_a_claim_that_is_not_known_holds_up_no_close);
	tcase_add_loop_test(t,
		S16_what_is_put_off_of_a_claim_is_decided_in_a_while, 0, 4);
	tcase_add_test(t,
		S15_L28_what_is_put_off_of_a_receipt_is_asked_in_a_while);
	tcase_add_test(t, what_the_library_never_takes_ends_in_a_moment);
	suite_add_tcase(s, t);
	return unit_main(s);
}
