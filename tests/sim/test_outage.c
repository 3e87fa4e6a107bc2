/*
 * test_outage.c - knowledge about items from before an outage must not be used
 * after it: others may have put items that come first, or given items back.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "desk_impl.h"
#include "queue_impl.h"

#include <string.h>

#define QUEUE "/queue"
#define MARKS "/marks"
#define ITEM QUEUE "/qn-0000000000"
#define MARK MARKS "/qn-0000000000"
#define FIRST QUEUE "/entry-001-0000000001"
#define SECOND QUEUE "/entry-005-0000000000"
#define THIRD QUEUE "/entry-006-0000000002"
/* How long each message between a client and its server takes; and the time in
   which a take is over. */
#define WAY_MS 10
#define TAKING_MS (8 * WAY_MS)

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static bool refused; /* the next transaction is lost, and not done */

/* The read of this path is answered, but the client does not get the answer
   yet. */
static struct {
	const char *path; /* NULL: none is wanted any more */
	bool there;
	int rc;
	struct kustos_stat stat;
	ku_zk_done_fn *done;
	void *arg;
} late;

static void keep(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	late.there = true;
	late.rc = reply->rc;
	if (reply->stat != NULL)
		late.stat = *reply->stat;
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (refused && request->kind == KU_ZK_MULTI) {
		refused = false;
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	}
	if (late.path == NULL || request->kind != KU_ZK_GET ||
		strcmp(request->path, late.path) != 0)
		return ku_zk_sim.submit(zk, request, done, arg);
	late.path = NULL;
	late.done = done;
	late.arg = arg;
	return ku_zk_sim.submit(zk, request, keep, NULL);
}

static void run_until_kept(void)
{
	for (int ms = 0; ms < 5000 && !late.there; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert(late.there);
}

static void answer(void)
{
	const struct ku_zk_reply reply = { .rc = late.rc,
		.data = "x",
		.len = 1,
		.stat = &late.stat };

	late.done(late.arg, &reply);
}

static void setup(void)
{
	memset(&late, 0, sizeof(late));
	refused = false;
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, QUEUE, "", KU_ZK_PERSISTENT);
	client = lone_connected(&bench, &api);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

static void make(const char *path, enum ku_zk_mode mode)
{
	ck_assert_int_eq(bench_create(&bench, raw, path, "x", mode).rc,
		KU_ZK_OK);
}

/* Queues */

static void took(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	int64_t *key = arg;

	ck_assert_int_eq(err, KUSTOS_OK);
	ck_assert_uint_eq(count, 1);
	*key = items[0]->priority;
	kustos_item_free(items[0]);
}

static struct ku_queue *take(int64_t *key)
{
	const struct ku_queue_wish wish = { .kind = KU_ITEM_KAZOO,
		.receipts = "/queue-receipts",
		.max_bytes = 1000 };
	const struct ku_poll_wish poll = { .max = 1,
		.deadline = KUSTOS_FOREVER };
	struct ku_queue *queue;

	make(SECOND, KU_ZK_PERSISTENT);
	ck_assert_int_eq(ku_queue_create(client, QUEUE, &wish, &queue),
		KUSTOS_OK);
	ck_assert_int_eq(ku_queue_poll_async(queue, &poll, took, key),
		KUSTOS_OK);
	return queue;
}

/* Put an item that comes first, and return the key of the item to be taken. */
static int64_t put_first(void)
{
	struct kustos_stat stat;
	bool there = model_stat(bench.model, SECOND, &stat);

	make(FIRST, KU_ZK_PERSISTENT);
	return there ? 1 : 5;
}

/* The client is cut off at one moment or another; its session survives that, or
   ends. */
START_TEST(S17_what_was_chosen_before_an_outage_is_chosen_anew_after_it)
{
	int ms = _i / TAKING_MS == 0 ? LONE_TIMEOUT_MS / 4
				     : LONE_TIMEOUT_MS * 2;
	int64_t key = 0;
	struct ku_queue *queue = take(&key);

	lone_run_ms(&bench, client, _i % TAKING_MS);
	model_cut(bench.model, LONE_MACHINE, false);
	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	lone_run_ms(&bench, client, ms);
	int64_t due = put_first();
	model_heal(bench.model);
	lone_run_ms(&bench, client, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(key, due);
	ku_queue_destroy(queue);
}
END_TEST

/* The client is paused at one moment or another, and notices its loss before it
   reads what has arrived meanwhile. */
START_TEST(S17_what_is_listed_as_the_session_is_lost_is_not_chosen_from)
{
	int ms = _i / TAKING_MS == 0 ? LONE_TIMEOUT_MS * 3 / 4
				     : LONE_TIMEOUT_MS * 2;
	int64_t key = 0;
	struct ku_queue *queue = take(&key);

	lone_run_ms(&bench, client, _i % TAKING_MS);
	sched_pause(&bench.sched, LONE_MACHINE,
		bench.sched.now_ns + ms * KU_NS_PER_MS);
	bench_run_ms(&bench, ms / 2);
	int64_t due = put_first();
	bench_run_ms(&bench, ms - ms / 2 - 4 * WAY_MS);
	lone_run_ms(&bench, client, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(key, due);
	ku_queue_destroy(queue);
}
END_TEST

/* Claims */

static void lent(void *arg, enum kustos_err err, struct ku_lent *got)
{
	struct ku_lent **to = arg;

	ck_assert_int_eq(err, KUSTOS_OK);
	*to = got;
}

/* In the new session the items are listed before the markers are.  The item
   that another client had is free by now, and there is a second item. */
START_TEST(L27_what_was_marked_in_a_session_before_is_not_passed_over)
{
	const struct ku_desk_wish wish = { .kind = KU_ITEM_SIMPLE,
		.items = QUEUE,
		.marks = MARKS };
	int64_t session_id = client->session.id;
	struct ku_lent *got = NULL;
	struct kustos_stat stat;
	struct ku_desk *desk;

	make(MARKS, KU_ZK_PERSISTENT);
	make(MARK, KU_ZK_EPHEMERAL);
	make(ITEM, KU_ZK_PERSISTENT);
	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_FOREVER, NULL, lent, &got),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	lone_run_ms(&bench, client, 2 * LONE_TIMEOUT_MS);
	ck_assert_ptr_null(got);
	bench_delete(&bench, raw, MARK, -1);
	make(QUEUE "/qn-0000000001", KU_ZK_PERSISTENT);
	model_heal(bench.model);
	lone_run_ms(&bench, client, 2 * LONE_TIMEOUT_MS);
	ck_assert(client->session.id != session_id);
	ck_assert_ptr_nonnull(got);
	ck_assert(model_stat(bench.model, MARK, &stat));
	ck_assert(stat.ephemeral_owner == client->session.id);
	ku_desk_destroy(desk);
	ku_lent_return(got);
}
END_TEST

static struct ku_desk *lend(struct ku_lent **got, int count)
{
	const struct ku_desk_wish wish = { .kind = KU_ITEM_KAZOO,
		.items = QUEUE,
		.marks = MARKS };
	struct ku_desk *desk;

	make(MARKS, KU_ZK_PERSISTENT);
	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
	for (int i = 0; i < count; i++)
		ck_assert_int_eq(ku_desk_lend_async(desk, KUSTOS_FOREVER, NULL,
					 lent, &got[i]),
			KUSTOS_OK);
	return desk;
}

/* Two items are to be claimed, the second when the first claim was answered.
   The client is cut off at one moment or another, and its session survives
   that, or ends; or the client is paused until the session is lost.  Then an
   item is put that comes first.  Unless both were claimed by then, the last
   item must be left. */
START_TEST(S17_what_was_to_be_claimed_before_an_outage_is_chosen_anew_after_it)
{
	int way = _i / TAKING_MS, sum = 0;
	const int ms = 2 * LONE_TIMEOUT_MS;
	struct ku_lent *got[2] = { NULL };
	struct ku_desk *desk;

	client->env.in_flight = 1;
	make(SECOND, KU_ZK_PERSISTENT);
	make(THIRD, KU_ZK_PERSISTENT);
	desk = lend(got, 2);
	lone_run_ms(&bench, client, _i % TAKING_MS);
	bool both = got[0] != NULL && got[1] != NULL;
	if (way == 2) {
		sched_pause(&bench.sched, LONE_MACHINE,
			bench.sched.now_ns + ms * KU_NS_PER_MS);
		bench_run_ms(&bench, ms / 2);
	} else {
		model_cut(bench.model, LONE_MACHINE, false);
	}
	if (way == 1) {
		model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
		lone_run_ms(&bench, client, ms);
	}
	make(FIRST, KU_ZK_PERSISTENT);
	if (way == 0 && model_child_count(bench.model, MARKS) == 2)
		both = true;
	model_heal(bench.model);
	bench_run_ms(&bench, way == 2 ? ms / 2 : 0);
	lone_run_ms(&bench, client, 2 * LONE_TIMEOUT_MS);
	for (int i = 0; i < 2; i++) {
		ck_assert_ptr_nonnull(got[i]);
		sum += (int)ku_lent_item(got[i])->priority;
		ku_lent_return(got[i]);
	}
	ck_assert_int_eq(sum, both ? 5 + 6 : 1 + 5);
	ku_desk_destroy(desk);
}
END_TEST

/* An item that comes first is put during the outage. */
START_TEST(S17_what_was_read_before_an_outage_is_not_claimed_after_it)
{
	struct ku_lent *got = NULL;

	make(SECOND, KU_ZK_PERSISTENT);
	late.path = SECOND;
	struct ku_desk *desk = lend(&got, 1);
	run_until_kept();
	model_cut(bench.model, LONE_MACHINE, false);
	make(FIRST, KU_ZK_PERSISTENT);
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS);
	answer();
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS);
	ck_assert_ptr_nonnull(got);
	ck_assert_int_eq(ku_lent_item(got)->priority, 1);
	ku_lent_return(got);
	ku_desk_destroy(desk);
}
END_TEST

/* A claim was lost and not done, and the client does not know that yet: the item
   may have to be claimed again. */
START_TEST(S17_what_comes_behind_an_unsure_claim_waits_for_it)
{
	struct ku_lent *got[2] = { NULL };

	make(SECOND, KU_ZK_PERSISTENT);
	refused = true;
	late.path = MARKS "/entry-005-0000000000";
	struct ku_desk *desk = lend(got, 2);
	run_until_kept();
	make(THIRD, KU_ZK_PERSISTENT);
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
	answer();
	lone_run_ms(&bench, client, LONE_TIMEOUT_MS);
	for (int i = 0; i < 2; i++) {
		ck_assert_ptr_nonnull(got[i]);
		ck_assert_int_eq(ku_lent_item(got[i])->priority, 5 + i);
		ku_lent_return(got[i]);
	}
	ku_desk_destroy(desk);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("outages in the simulator");
	TCase *t = tcase_create("and items");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		S17_what_was_chosen_before_an_outage_is_chosen_anew_after_it, 0,
		2 * TAKING_MS);
	tcase_add_loop_test(t,
		S17_what_is_listed_as_the_session_is_lost_is_not_chosen_from, 0,
		2 * TAKING_MS);
	tcase_add_test(t,
		L27_what_was_marked_in_a_session_before_is_not_passed_over);
	tcase_add_loop_test(t,
		S17_what_was_to_be_claimed_before_an_outage_is_chosen_anew_after_it,
		0, 3 * TAKING_MS);
	tcase_add_test(t,
		S17_what_was_read_before_an_outage_is_not_claimed_after_it);
	tcase_add_test(t, S17_what_comes_behind_an_unsure_claim_waits_for_it);
	suite_add_tcase(s, t);
	return unit_main(s);
}
