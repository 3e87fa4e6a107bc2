/*
 * test_ack.c - acknowledging an item, or putting it back, when the answer is
 * lost, the request is throttled, or the session or the client ends meanwhile.
 */
#include "lone.h"

#include "../unit/unit.h"
#include "desk.h"

#include <string.h>

#define QUEUE "/queue"
#define MARKS "/marks"
#define ITEM QUEUE "/qn-0000000000"
#define MARK MARKS "/qn-0000000000"

/* An item of COUNTED bytes is written again by its claim, to count the
   delivery; an item of LARGE bytes is not. */
#define COUNTED 900000
#define LARGE 999800

/* What becomes of a request.  An UNANSWERED one is not done, and fails when its
   connection ends. */
enum fate { NORMAL, LOST, DONE_AND_LOST, UNANSWERED, PUT_OFF, DENIED };

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct {
	enum fate acks, items, marks; /* of requests about them */
	int ack_count, item_count, mark_count;
	ku_zk_done_fn *done; /* of the unanswered request */
	void *arg;
} trouble;
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct ku_desk *desk;
static struct ku_lent *had;
static int end; /* of an ack; -1: not yet */

static void hear_of_losses(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	if (reply->rc != KU_ZK_OK)
		trouble.done(trouble.arg, reply);
}

static int submit_to(enum fate fate, struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	static const struct ku_zk_request any = { .kind = KU_ZK_EXISTS,
		.path = "/",
		.version = -1 };

	switch (fate) {
	case UNANSWERED:
		trouble.done = done;
		trouble.arg = arg;
		return ku_zk_sim.submit(zk, &any, hear_of_losses, NULL);
	case LOST:
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	case DONE_AND_LOST:
		return lone_lose(zk, request, done, arg);
	case PUT_OFF:
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	case DENIED:
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	case NORMAL:
		break;
	}
	return ku_zk_sim.submit(zk, request, done, arg);
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	enum fate fate = NORMAL;

	if (request->kind == KU_ZK_MULTI &&
		request->ops[0].kind == KU_ZK_DELETE) {
		trouble.ack_count++;
		fate = trouble.acks;
	} else if (request->kind == KU_ZK_EXISTS &&
		strcmp(request->path, ITEM) == 0) {
		trouble.item_count++;
		fate = trouble.items;
	} else if (request->kind == KU_ZK_EXISTS &&
		strcmp(request->path, MARK) == 0) {
		trouble.mark_count++;
		fate = trouble.marks;
	}
	return submit_to(fate, zk, request, done, arg);
}

static void run(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static void setup(void)
{
	memset(&trouble, 0, sizeof(trouble));
	had = NULL;
	desk = NULL;
	end = -1;
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, 2);
	lone_make(&bench, raw, QUEUE);
	lone_make(&bench, raw, MARKS);
	client = lone_connected(&bench, &api);
}

static void teardown(void)
{
	ku_lent_return(had);
	ku_desk_destroy(desk);
	lone_teardown(&bench, client);
}

static void lent(void *arg, enum kustos_err err, struct ku_lent *got)
{
	(void)arg;
	ck_assert_int_eq(err, KUSTOS_OK);
	had = got;
}

/* Put an item of "len" bytes, and claim it. */
static void have(size_t len)
{
	static const struct ku_desk_wish wish = { .kind = KU_ITEM_SIMPLE,
		.items = QUEUE,
		.marks = MARKS };
	static char data[LARGE + 1];

	memset(data, 'x', len);
	data[len] = '\0';
	ck_assert_int_eq(
		bench_create(&bench, raw, ITEM, data, KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
	ck_assert_int_eq(ku_desk_create(client, &wish, &desk), KUSTOS_OK);
	ck_assert_int_eq(
		ku_desk_lend_async(desk, KUSTOS_FOREVER, NULL, lent, NULL),
		KUSTOS_OK);
	run(200);
	ck_assert_ptr_nonnull(had);
	trouble.item_count = trouble.mark_count = 0;
}

static void given(void *arg, enum kustos_err err)
{
	(void)arg;
	end = (int)err;
}

static void ack(void)
{
	ck_assert_int_eq(ku_lent_ack_async(had, KU_ACK_DELETE, KUSTOS_FOREVER,
				 NULL, given, NULL),
		KUSTOS_OK);
	had = NULL;
}

static void run_until(const int *count, int enough)
{
	for (int ms = 0; ms < 1000 && *count < enough; ms++)
		run(1);
	ck_assert_int_eq(*count, enough);
}

static void check_gone(void)
{
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 0);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}

START_TEST(an_ack_is_one_request)
{
	have(1);
	uint64_t before = model_figures(bench.model)->requests;
	ack();
	run(20);
	check_gone();
	ck_assert_uint_eq(model_figures(bench.model)->requests, before + 1);
}
END_TEST

/* Check that the request is repeated after pauses, until "*fate" allows it. */
static void check_patience(const int *count, enum fate *fate)
{
	run(1000);
	ck_assert_int_eq(end, -1);
	ck_assert_int_ge(*count, 2);
	ck_assert_int_le(*count, 11);
	*fate = trouble.acks = NORMAL;
	run(1000);
	check_gone();
}

START_TEST(L28_an_ack_that_is_put_off_is_sent_again_in_a_while)
{
	have(1);
	trouble.acks = PUT_OFF;
	ack();
	check_patience(&trouble.ack_count, &trouble.acks);
}
END_TEST

/* The client asks whether the item is there; if it is not, whether the marker
   is. */
START_TEST(L28_what_became_of_an_ack_is_asked_again_in_a_while)
{
	have(1);
	trouble.acks = _i == 0 ? LOST : DONE_AND_LOST;
	*(_i == 0 ? &trouble.items : &trouble.marks) = PUT_OFF;
	ack();
	if (_i == 0)
		check_patience(&trouble.item_count, &trouble.items);
	else
		check_patience(&trouble.mark_count, &trouble.marks);
}
END_TEST

/* The client may not look at the item, or may not look at the marker. */
START_TEST(S16_what_became_of_an_ack_is_not_told_by_what_is_refused)
{
	have(1);
	trouble.acks = _i == 0 ? LOST : DONE_AND_LOST;
	*(_i == 0 ? &trouble.items : &trouble.marks) = DENIED;
	ack();
	run(1000);
	ck_assert_int_eq(end, KUSTOS_EUNKNOWN);
	ck_assert_int_eq(trouble.ack_count, 1);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}
END_TEST

/* The marker may have gone with the ack, or with the session. */
START_TEST(S16_what_became_of_an_ack_is_not_told_by_the_next_session)
{
	have(1);
	trouble.acks = DONE_AND_LOST;
	trouble.items = UNANSWERED;
	ack();
	run_until(&trouble.item_count, 1);
	ck_assert(model_expire(bench.model, LONE_MACHINE));
	trouble.items = NORMAL;
	run(3 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(end, KUSTOS_EUNKNOWN);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 0);
}
END_TEST

/* The session lives on after the loss, and still owns the marker. */
START_TEST(S16_an_ack_that_was_not_done_before_a_loss_is_not_done_after_it)
{
	have(1);
	int64_t session = client->session.id;
	trouble.acks = UNANSWERED;
	ack();
	run_until(&trouble.ack_count, 1);
	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	for (int ms = 0; ms < LONE_TIMEOUT_MS &&
		client->session.state != KUSTOS_STATE_LOST;
		ms++)
		run(1);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_LOST);
	trouble.acks = NORMAL;
	model_heal(bench.model);
	run(LONE_TIMEOUT_MS);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	ck_assert_int_eq(client->session.id, session);
	ck_assert_int_eq(end, KUSTOS_ELOST);
	ck_assert(model_stat(bench.model, ITEM, NULL));
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}
END_TEST

/* The new item does not fit into one frame together with the deletions. */
START_TEST(L24_what_is_too_large_to_be_put_back_is_given_back)
{
	have(LARGE);
	ck_assert_int_eq(ku_lent_ack_async(had, KU_ACK_AGAIN, KUSTOS_FOREVER,
				 NULL, given, NULL),
		KUSTOS_ETOOBIG);
	had = NULL;
	run(100);
	ck_assert_int_eq(end, -1);
	ck_assert_int_eq(trouble.ack_count, 0);
	ck_assert(model_stat(bench.model, ITEM, NULL));
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}
END_TEST

/* Without a connection the ack cannot be sent; or, if its answer was lost, the
   client cannot ask what became of it. */
START_TEST(L06_an_ack_holds_up_no_close_without_a_connection)
{
	bool lost = _i == 1, gone = false;

	have(1);
	if (lost) {
		trouble.acks = DONE_AND_LOST;
		ack();
		run_until(&trouble.ack_count, 1);
		run(10);
	}
	model_server_stop(bench.model, 0);
	run(20);
	ck_assert(!ku_session_ready(client));
	if (!lost)
		ack();
	run(20);
	ck_assert_int_eq(end, -1);
	ku_client_close_start(client, KUSTOS_FOREVER, &gone);
	ck_assert_int_eq(end, -1);
	run(1);
	ck_assert_int_eq(end, KUSTOS_ECLOSED);
	ku_desk_destroy(desk);
	desk = NULL;
	run(500);
	model_server_start(bench.model, 0);
	for (int ms = 0; ms < 2 * LONE_TIMEOUT_MS && !gone; ms++)
		run(1);
	ck_assert(gone);
	client = NULL;
	/* No more requests were sent. */
	ck_assert_int_eq(trouble.ack_count, lost ? 1 : 0);
	ck_assert_int_eq(trouble.item_count, 0);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), lost ? 0 : 1);
}
END_TEST

START_TEST(an_item_that_is_large_is_counted)
{
	struct kustos_stat stat;

	have(COUNTED);
	ck_assert(model_stat(bench.model, ITEM, &stat));
	ck_assert_int_eq(stat.version, 1);
}
END_TEST

START_TEST(P05_an_item_that_was_acknowledged_leaves_nothing)
{
	have(1);
	ack();
	run(100);
	check_gone();
	ku_desk_destroy(desk);
	desk = NULL;
	run(100);
	ck_assert_ptr_null(client->witnesses.first);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acks in the simulator");
	TCase *t = tcase_create("lost, put off, too large");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, an_ack_is_one_request);
	tcase_add_test(t, L28_an_ack_that_is_put_off_is_sent_again_in_a_while);
	tcase_add_loop_test(t,
		L28_what_became_of_an_ack_is_asked_again_in_a_while, 0, 2);
	tcase_add_loop_test(t,
		S16_what_became_of_an_ack_is_not_told_by_what_is_refused, 0, 2);
	tcase_add_test(t,
		S16_what_became_of_an_ack_is_not_told_by_the_next_session);
	tcase_add_test(t,
		S16_an_ack_that_was_not_done_before_a_loss_is_not_done_after_it);
	tcase_add_test(t, L24_what_is_too_large_to_be_put_back_is_given_back);
	tcase_add_loop_test(t,
		L06_an_ack_holds_up_no_close_without_a_connection, 0, 2);
	tcase_add_test(t, an_item_that_is_large_is_counted);
	tcase_add_test(t, P05_an_item_that_was_acknowledged_leaves_nothing);
	suite_add_tcase(s, t);
	return unit_main(s);
}
