/*
 * test_custody.c - an item is claimed, moved aside, or acknowledged, and the
 * server's answer comes late.
 */
#include "custody_bed.h"

#define DEAD "/dead"

/* An item of this size is too large to be written again by its claim. */
#define LARGE 999800

/* The next request of this kind, and about this path unless it is NULL, is not
   answered. */
static struct {
	bool wanted;
	enum ku_zk_kind kind;
	const char *path;
	bool sent; /* it is sent all the same */
	ku_zk_done_fn *done;
	void *arg;
} held;
static struct kustos_stat stat;	    /* what the withheld answer says */
static struct ku_zk_result both[2]; /* the same of a transaction of two */

static void hear_nothing(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	if (reply->stat != NULL)
		stat = *reply->stat;
	if (reply->result_count == 2)
		memcpy(both, reply->results, sizeof(both));
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	static const struct ku_zk_request any = { .kind = KU_ZK_EXISTS,
		.path = "/",
		.version = -1 };

	if (!held.wanted || request->kind != held.kind ||
		(held.path != NULL && strcmp(request->path, held.path) != 0))
		return ku_zk_sim.submit(zk, request, done, arg);
	held.wanted = false;
	held.done = done;
	held.arg = arg;
	return ku_zk_sim.submit(zk, held.sent ? request : &any, hear_nothing,
		NULL);
}

static void hold(enum ku_zk_kind kind, const char *path, bool sent)
{
	held.wanted = true;
	held.kind = kind;
	held.path = path;
	held.sent = sent;
	held.done = NULL;
}

static void run_until_held(void)
{
	for (int ms = 0; ms < 5000 && held.done == NULL; ms++)
		run_ms(1);
	ck_assert_ptr_nonnull(held.done);
	run_ms(100);
}

static void say(int rc)
{
	const struct ku_zk_reply instead = { .rc = rc,
		.len = -1,
		.stat = rc == KU_ZK_OK ? &stat : NULL };

	held.done(held.arg, &instead);
}

static void setup(void)
{
	memset(&held, 0, sizeof(held));
	make_item(0);
	lone_make(&bench, raw, DEAD);
	open_client(submit);
}

static void ask_for(int deliveries)
{
	open_desk(DEAD, deliveries);
	ask();
}

/* The session ends either before the transaction was done, or after it. */
START_TEST(S16_what_is_moved_aside_as_the_session_ends_is_moved_once)
{
	bench_set(&bench, raw, ITEM, "x", -1); /* as if it was had */
	hold(KU_ZK_MULTI, NULL, _i == 1);
	ask_for(1);
	run_until_held();
	ck_assert(model_expire(bench.model, LONE_MACHINE));
	run_ms(3 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 0);
	ck_assert_int_eq(model_child_count(bench.model, DEAD), 1);
	ck_assert_int_eq(asked, -1);
}
END_TEST

/* Another client has written the item; the client learns it after the
   connection broke. */
START_TEST(S16_what_was_changed_before_an_outage_is_had_after_it)
{
	static const struct ku_zk_result results[] = {
		{ .rc = KU_ZK_RUNTIMEINCONSISTENCY },
		{ .rc = KU_ZK_BADVERSION },
	};
	static const struct ku_zk_reply changed = { .rc = KU_ZK_BADVERSION,
		.len = -1,
		.results = results,
		.result_count = 2 };
	hold(KU_ZK_MULTI, NULL, false);
	ask_for(0);
	run_until_held();
	model_cut(bench.model, LONE_MACHINE, false);
	run_ms(1000);
	held.done(held.arg, &changed);
	run_ms(1000);
	ck_assert_int_eq(asked, KUSTOS_OK);
}
END_TEST

/* The item is written after it was read, and before the answer comes. */
START_TEST(what_is_moved_aside_is_moved_as_it_is)
{
	bench_set(&bench, raw, ITEM, "x", -1); /* as if it was had */
	hold(KU_ZK_GET, ITEM, true);
	ask_for(1);
	run_until_held();
	ck_assert_int_eq(bench_set(&bench, raw, ITEM, "y", -1).rc, KU_ZK_OK);
	say(KU_ZK_OK);
	run_ms(1000);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 0);
	ck_assert_str_eq(
		bench_read(&bench, raw, KU_ZK_GET, DEAD "/qn-0000000000", false)
			.data,
		"y");
}
END_TEST

/* Somebody has created a node by name in the folder of dead items, with the
   number that the item would get there. */
START_TEST(U09_what_cannot_be_moved_aside_is_told_of)
{
	bench_set(&bench, raw, ITEM, "x", -1); /* as if it was had */
	lone_make(&bench, raw, DEAD "/qn-0000000001");
	ask_for(1);
	run_ms(1000);
	ck_assert_int_eq(asked, KUSTOS_EEXISTS);
	ck_assert(model_stat(bench.model, ITEM, NULL));
}
END_TEST

/* A claim would count as a delivery. */
START_TEST(what_is_read_for_who_has_given_up_is_not_claimed)
{
	hold(KU_ZK_GET, ITEM, true);
	ask_for(0);
	run_until_held();
	close_desk();
	run_ms(100);
	ck_assert_int_eq(asked, KUSTOS_ECLOSED);
	ku_zk_done_fn *done = held.done;
	hold(KU_ZK_MULTI, NULL, false);
	held.done = done;
	say(KU_ZK_OK);
	run_ms(1000);
	ck_assert(held.wanted);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}
END_TEST

/* The item changes after it was read.  It may be so large that the claim does
   not write it. */
START_TEST(S16_what_is_had_is_had_as_it_is)
{
	static char data[LARGE];
	const struct ku_zk_reply before = { .rc = KU_ZK_OK,
		.data = data,
		.len = _i == 0 ? 1 : LARGE,
		.stat = &stat };

	hold(KU_ZK_GET, ITEM, true);
	ask_for(0);
	run_until_held();
	ck_assert_int_eq(bench_set(&bench, raw, ITEM, "y", -1).rc, KU_ZK_OK);
	held.done(held.arg, &before);
	run_ms(1000);
	ck_assert_int_eq(asked, KUSTOS_OK);
	ck_assert_str_eq(ku_lent_item(had[0])->data, "y");
}
END_TEST

/* Another client may have the item by now. */
START_TEST(S16_what_was_claimed_as_the_lease_ran_out_is_not_had)
{
	const struct ku_zk_reply done = { .rc = KU_ZK_OK,
		.len = -1,
		.results = both,
		.result_count = 2 };

	hold(KU_ZK_MULTI, NULL, true);
	ask_for(0);
	run_until_held();
	ku_session_set_state(client, KUSTOS_STATE_LOST);
	client->session.greeted = false;
	held.done(held.arg, &done);
	run_ms(100);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_LOST);
	ck_assert_int_eq(asked, -1);
	client->session.greeted = true;
	run_ms(LONE_TIMEOUT_MS);
	ck_assert_int_eq(asked, KUSTOS_OK);
}
END_TEST

/* The desk is destroyed before the claim's answer comes; or the answer was
   lost, and the client has to look whose the marker is. */
START_TEST(P05_what_was_claimed_for_who_has_given_up_is_given_back)
{
	const struct ku_zk_reply done = { .rc = KU_ZK_OK,
		.len = -1,
		.results = both,
		.result_count = 2 };
	const struct ku_zk_reply lost = { .rc = KU_ZK_CONNECTIONLOSS,
		.len = -1 };

	hold(KU_ZK_MULTI, NULL, true);
	ask_for(0);
	run_until_held();
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 1);
	close_desk();
	held.done(held.arg, _i == 0 ? &done : &lost);
	run_ms(1000);
	ck_assert_int_eq(asked, KUSTOS_ECLOSED);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}
END_TEST

/* The answer of the claim was lost, and nothing tells whose the marker is. */
START_TEST(S16_who_may_not_read_its_marker_is_told)
{
	hold(KU_ZK_MULTI, NULL, true);
	ask_for(0);
	run_until_held();
	say(KU_ZK_CONNECTIONLOSS);
	hold(KU_ZK_GET, MARK, false);
	run_until_held();
	say(KU_ZK_NOAUTH);
	run_ms(100);
	ck_assert_int_eq(asked, KUSTOS_ENOAUTH);
}
END_TEST

/* Claim an item that is too large for its delivery to be counted. */
static void have_large(void)
{
	static char data[LARGE];
	memset(data, 'x', sizeof(data) - 1);
	ck_assert_int_eq(bench_set(&bench, raw, ITEM, data, -1).rc, KU_ZK_OK);
	ask_for(0);
	run_ms(1000);
	ck_assert_int_eq(asked, KUSTOS_OK);
}

/* Acknowledge such an item.  The client first looks at its marker, and the
   answer to that is withheld. */
static void ack_large(void)
{
	have_large();
	hold(KU_ZK_EXISTS, MARK, true);
	ck_assert_int_eq(ack(), KUSTOS_OK);
	run_until_held();
	ck_assert_int_eq(end, -1);
}

START_TEST(S16_an_ack_that_could_not_look_at_its_marker_looks_again)
{
	ack_large();
	say(KU_ZK_CONNECTIONLOSS);
	run_ms(1000);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 0);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}
END_TEST

START_TEST(S16_an_ack_that_may_not_look_at_its_marker_deletes_nothing)
{
	ack_large();
	say(KU_ZK_NOAUTH);
	run_ms(1000);
	ck_assert_int_eq(end, KUSTOS_ENOAUTH);
	ck_assert(model_stat(bench.model, ITEM, NULL));
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}
END_TEST

/* The answer about the marker comes after the loss, or is lost. */
START_TEST(S16_an_ack_whose_claim_is_lost_meanwhile_deletes_nothing)
{
	ack_large();
	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	for (int ms = 0; ms < LONE_TIMEOUT_MS &&
		client->session.state != KUSTOS_STATE_LOST;
		ms++)
		run_ms(1);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_LOST);
	ck_assert_int_eq(end, -1);
	say(_i == 0 ? KU_ZK_OK : KU_ZK_CONNECTIONLOSS);
	run_ms(2);
	ck_assert_int_eq(end, KUSTOS_ELOST);
	model_heal(bench.model);
	run_ms(LONE_TIMEOUT_MS);
	ck_assert(model_stat(bench.model, ITEM, NULL));
}
END_TEST

/* The marker is gone, or is another's, who has claimed the item. */
START_TEST(S16_an_ack_whose_marker_is_gone_deletes_nothing)
{
	if (_i < 2) {
		have_large();
	} else {
		ask_for(0);
		run_ms(1000);
		ck_assert_int_eq(asked, KUSTOS_OK);
	}
	ck_assert_int_eq(bench_delete(&bench, raw, MARK, -1).rc, KU_ZK_OK);
	if (_i % 2 == 1)
		bench_create(&bench, raw, MARK, "other", KU_ZK_EPHEMERAL);
	if (_i == 3)
		bench_set(&bench, raw, ITEM, "x", -1);
	hold(KU_ZK_DELETE, MARK, true);
	ck_assert_int_eq(ack(), KUSTOS_OK);
	run_ms(1000);
	ck_assert_int_eq(end, KUSTOS_ELOST);
	ck_assert(held.wanted); /* a delete could hit another's marker */
	ck_assert(model_stat(bench.model, ITEM, NULL));
	ck_assert_int_eq(model_child_count(bench.model, MARKS), _i % 2);
}
END_TEST

START_TEST(a_marker_that_an_ack_has_deleted_is_not_deleted_again)
{
	ask_for(0);
	run_ms(1000);
	ck_assert_int_eq(asked, KUSTOS_OK);
	hold(KU_ZK_DELETE, MARK, true);
	ck_assert_int_eq(ack(), KUSTOS_OK);
	run_ms(1000);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert(held.wanted);
}
END_TEST

/* The answer of the ack is lost.  If it was not done, the item is gone by then,
   or another item of its name is claimed by another client.  If it was done,
   there is another item of its name. */
START_TEST(S16_what_became_of_an_ack_is_not_told_by_what_is_anothers)
{
	bool done = _i == 2;

	ask_for(0);
	run_ms(1000);
	ck_assert_int_eq(asked, KUSTOS_OK);
	hold(KU_ZK_MULTI, NULL, done);
	ck_assert_int_eq(ack(), KUSTOS_OK);
	run_until_held();
	bench_delete(&bench, raw, ITEM, -1);
	bench_delete(&bench, raw, MARK, -1);
	if (!done)
		bench_create(&bench, raw, MARK, "other", KU_ZK_EPHEMERAL);
	if (_i > 0) {
		bench_create(&bench, raw, ITEM, "y", KU_ZK_PERSISTENT);
		bench_set(&bench, raw, ITEM, "y", -1);
	}
	say(KU_ZK_CONNECTIONLOSS);
	run_ms(1000);
	ck_assert_int_eq(end, done ? KUSTOS_OK : KUSTOS_EUNKNOWN);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), !done);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), _i > 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("items in custody in the simulator");
	TCase *t = tcase_create("is answered late");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, close_all);
	tcase_add_loop_test(t,
		S16_what_is_moved_aside_as_the_session_ends_is_moved_once, 0,
		2);
	tcase_add_test(t,
		S16_what_was_changed_before_an_outage_is_had_after_it);
	tcase_add_test(t, what_is_moved_aside_is_moved_as_it_is);
	tcase_add_test(t, U09_what_cannot_be_moved_aside_is_told_of);
	tcase_add_test(t, what_is_read_for_who_has_given_up_is_not_claimed);
	tcase_add_loop_test(t, S16_what_is_had_is_had_as_it_is, 0, 2);
	tcase_add_test(t, S16_what_was_claimed_as_the_lease_ran_out_is_not_had);
	tcase_add_loop_test(t,
		P05_what_was_claimed_for_who_has_given_up_is_given_back, 0, 2);
	tcase_add_test(t, S16_who_may_not_read_its_marker_is_told);
	tcase_add_test(t,
		S16_an_ack_that_could_not_look_at_its_marker_looks_again);
	tcase_add_test(t,
		S16_an_ack_that_may_not_look_at_its_marker_deletes_nothing);
	tcase_add_loop_test(t,
		S16_an_ack_whose_claim_is_lost_meanwhile_deletes_nothing, 0, 2);
	tcase_add_loop_test(t, S16_an_ack_whose_marker_is_gone_deletes_nothing,
		0, 4);
	tcase_add_test(t,
		a_marker_that_an_ack_has_deleted_is_not_deleted_again);
	tcase_add_loop_test(t,
		S16_what_became_of_an_ack_is_not_told_by_what_is_anothers, 0,
		3);
	suite_add_tcase(s, t);
	return unit_main(s);
}
