/*
 * test_hand_over.c - how a hand-over ends when the line changes meanwhile, or
 * when its answer is lost.
 */
#include "lone_latch.h"

#include "../unit/unit.h"

#include <stdio.h>
#include <string.h>

/* The connection breaks with the transaction of a hand-over, which follows its
   trial and arrives.  Then the client reads who is in the line, and that answer
   comes late. */
static struct {
	int transactions;
	int later; /* it breaks with a transaction so much later */
	bool lost; /* that transaction does not arrive */
	ku_zk_done_fn *done;
	void *arg;
	char data[8];
	struct kustos_stat stat; /* czxid 0: not answered yet */
	bool unlisted;		 /* meanwhile lines cannot be listed */
} late;

static void keep(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	ck_assert_int_eq(reply->rc, KU_ZK_OK);
	ck_assert_int_lt(reply->len, (int)sizeof(late.data));
	memcpy(late.data, reply->data, (size_t)reply->len);
	late.stat = *reply->stat;
}

static int submit_and_cut(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	int rc = ku_zk_sim.submit(zk, request, done, arg);

	if (request->kind == KU_ZK_MULTI &&
		++late.transactions == 2 + late.later)
		model_cut(lone.bench.model, LONE_MACHINE, late.lost);
	return rc;
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool reads = late.transactions == 2 && request->kind == KU_ZK_GET &&
		!request->watch;

	if (!reads || late.done != NULL)
		return submit_and_cut(zk, request, done, arg);
	late.done = done;
	late.arg = arg;
	return ku_zk_sim.submit(zk, request, keep, NULL);
}

static void setup(void)
{
	memset(&late, 0, sizeof(late));
	latches_setup();
}

static void teardown(void)
{
	lone.client->env.api = &ku_zk_sim;
	latches_teardown();
}

/* From here on, use "fn" instead of the model's submit(). */
static void submit_by(int (*fn)(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg))
{
	static struct ku_zk_api api;

	api = ku_zk_sim;
	api.submit = fn;
	lone.client->env.api = &api;
}

/* The answer, which shows that its node is gone and its heir is first, comes in
   time, or when the lease has ended. */
START_TEST(S15_what_is_told_of_a_hand_over_after_a_loss_is_not_known)
{
	submit_by(submit_it);
	model_heal(lone.bench.model);
	latches_hand_over("you");
	for (int ms = 0; ms < LONE_TIMEOUT_MS && late.stat.czxid == 0; ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	const struct ku_zk_reply reply = { .stat = &late.stat,
		.data = late.data,
		.len = (int)strlen(late.data) };
	model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
	lone_run_ms(&lone.bench, lone.client, _i * LONE_TIMEOUT_MS);
	ck_assert_int_eq(lone.client->session.state,
		_i == 0 ? KUSTOS_STATE_CONNECTED : KUSTOS_STATE_LOST);
	ck_assert_int_eq(latches.ends[0], -1);
	late.done(late.arg, &reply);
	lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(latches.ends[0],
		_i == 0 ? KUSTOS_OK : KUSTOS_EUNKNOWN);
}
END_TEST

static void check_state(enum kustos_state state)
{
	ck_assert_int_eq(lone.client->session.state, state);
	ck_assert_int_eq(latches.ends[0], -1);
}

static int submit_unlisted(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	bool lists = late.transactions == 2 && !request->watch &&
		request->kind == KU_ZK_CHILDREN;

	return lists && late.unlisted ? KU_ZK_OK
				      : submit_and_cut(zk, request, done, arg);
}

/* After the second loss the heir is the first again, but with a node that it
   has made in between. */
START_TEST(S15_nor_is_it_known_two_losses_later)
{
	late.unlisted = true;
	submit_by(submit_unlisted);
	model_heal(lone.bench.model);
	latches_hand_over("you");
	for (int ms = 0; ms < LONE_TIMEOUT_MS && late.transactions < 2; ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	for (int losses = 0; losses < 2; losses++) {
		model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
		lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
		check_state(KUSTOS_STATE_LOST);
		model_heal(lone.bench.model);
		late.unlisted = losses == 0;
		lone_run_ms(&lone.bench, lone.client, LONE_TIMEOUT_MS);
		if (losses == 0)
			check_state(KUSTOS_STATE_CONNECTED);
	}
	ck_assert_int_eq(latches.ends[0], KUSTOS_EUNKNOWN);
}
END_TEST

static char condemned[128]; /* a node to delete; "": it is gone */

/* Choose the node in LINE with that number. */
static void condemn(const char *number)
{
	struct bench_reply line = bench_read(&lone.bench, lone.raw,
		KU_ZK_CHILDREN, LINE, false);

	for (int i = 0; i < line.name_count; i++)
		if (strstr(line.names[i], number) != NULL)
			snprintf(condemned, sizeof(condemned), LINE "/%.63s",
				line.names[i]);
	ck_assert_str_ne(condemned, "");
}

static void execute(void)
{
	ck_assert(model_delete(lone.bench.model, condemned));
	condemned[0] = '\0';
}

/* Somebody deletes the node just before it is read. */
static int delete_and_submit(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	if (request->kind == KU_ZK_GET && !request->watch &&
		strcmp(request->path, condemned) == 0)
		execute();
	return ku_zk_sim.submit(zk, request, done, arg);
}

START_TEST(an_heir_that_leaves_as_it_is_looked_for_does_not_wait)
{
	submit_by(delete_and_submit);
	model_heal(lone.bench.model);
	condemn("-0000000001");
	latches_hand_over(NULL);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_str_eq(condemned, "");
	ck_assert_int_eq(latches.ends[0], KUSTOS_EABSENT);
	ck_assert(kustos_latch_leads(latches.leader));
}
END_TEST

/* The answer to the hand-over is lost, and then somebody deletes the node. */
static int cut_and_delete(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (late.transactions == 2 && request->kind == KU_ZK_CHILDREN &&
		!request->watch && condemned[0] != '\0')
		execute();
	return submit_and_cut(zk, request, done, arg);
}

/* The heir's node is deleted; or the line, when it is empty. */
START_TEST(S15_of_an_heir_that_has_left_by_then_it_is_not_known)
{
	submit_by(cut_and_delete);
	model_heal(lone.bench.model);
	condemn("-0000000001");
	if (_i == 1)
		strcpy(condemned, LINE);
	latches_hand_over("you");
	lone_run_ms(&lone.bench, lone.client, LONE_TIMEOUT_MS);
	ck_assert_str_eq(condemned, "");
	ck_assert_int_eq(latches.ends[0], KUSTOS_EUNKNOWN);
}
END_TEST

/* The hand-over was not done, the leader's node goes, and another node stands
   before the heir. */
START_TEST(S15_of_an_heir_that_is_not_the_first_it_is_not_known)
{
	model_heal(lone.bench.model);
	kustos_latch_destroy(latches.heir);
	struct bench_reply rival = bench_create(&lone.bench, lone.raw,
		LINE "/x-latch-", "x", KU_ZK_EPHEMERAL_SEQUENTIAL);
	latches.heir = latches_begin("you", NULL);
	condemn("-0000000000"); /* ours */
	late.lost = true;
	submit_by(cut_and_delete);
	latches_hand_over("you");
	lone_run_ms(&lone.bench, lone.client, LONE_TIMEOUT_MS);
	ck_assert_str_eq(condemned, "");
	ck_assert_int_eq(latches.ends[0], KUSTOS_EUNKNOWN);
	bench_delete(&lone.bench, lone.raw, rival.path, -1);
}
END_TEST

/* The trial changes nothing, whatever became of it. */
START_TEST(a_hand_over_whose_trial_is_not_answered_goes_on)
{
	late.later = -1;
	submit_by(submit_and_cut);
	model_heal(lone.bench.model);
	latches_hand_over("you");
	lone_run_ms(&lone.bench, lone.client, LONE_TIMEOUT_MS);
	ck_assert_int_eq(late.transactions, 3);
	ck_assert_int_eq(latches.ends[0], KUSTOS_OK);
	ck_assert(kustos_latch_leads(latches.heir));
}
END_TEST

/* The transaction is not done, or its answer is lost, or its answer comes. */
START_TEST(who_is_destroyed_as_it_hands_over_leaves_nothing)
{
	late.lost = _i == 0;
	late.later = _i == 2;
	submit_by(submit_and_cut);
	model_heal(lone.bench.model);
	latches_hand_over("you");
	for (int ms = 0; ms < LONE_TIMEOUT_MS && late.transactions < 2; ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	kustos_latch_destroy(latches.leader);
	latches.leader = NULL;
	lone_run_ms(&lone.bench, lone.client, LONE_TIMEOUT_MS);
	ck_assert_int_eq(late.transactions, 2);
	ck_assert_int_eq(latches.ends[0], KUSTOS_ECLOSED);
	ck_assert(kustos_latch_leads(latches.heir));
}
END_TEST

static void lose_node(void *arg, struct kustos_latch *one,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)one;
	ck_assert(model_delete(lone.bench.model, kustos_hold_path(hold)));
}

static void lose_line(void *arg, struct kustos_latch *one,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)one;
	(void)hold;
	ck_assert(model_delete(lone.bench.model, LINE));
}

/* The node is lost before the transaction is sent. */
START_TEST(who_loses_its_node_while_it_hands_over_is_told_so)
{
	model_heal(lone.bench.model);
	kustos_latch_destroy(latches.leader);
	kustos_latch_destroy(latches.heir);
	latches.leader = latches_begin("me", _i == 0 ? lose_node : lose_line);
	latches.heir = latches_begin("you", NULL);
	latches_hand_over("you");
	lone_run_ms(&lone.bench, lone.client, 200);
	ck_assert_int_eq(latches.ends[0], KUSTOS_ELOST);
	ck_assert_int_eq(kustos_latch_leads(latches.leader) +
			kustos_latch_leads(latches.heir),
		1);
}
END_TEST

static int forbid_reads(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	return request->kind == KU_ZK_GET && !request->watch
		? lone_refuse(zk, KU_ZK_NOAUTH, done, arg)
		: ku_zk_sim.submit(zk, request, done, arg);
}

START_TEST(who_may_not_see_who_waits_is_told_so_and_leads_on)
{
	submit_by(forbid_reads);
	model_heal(lone.bench.model);
	latches_hand_over("you");
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(latches.ends[0], KUSTOS_ENOAUTH);
	ck_assert(kustos_latch_leads(latches.leader));
}
END_TEST

static char hidden[80]; /* may not be read, and not seen if "unseen" */
static bool unseen;

static int hide_one(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	static struct ku_zk_result results[2] = { { .rc = KU_ZK_NOAUTH },
		{ .rc = KU_ZK_RUNTIMEINCONSISTENCY } };
	static const struct ku_zk_reply unchecked = { .rc = KU_ZK_NOAUTH,
		.len = -1,
		.results = results,
		.result_count = 2 };
	bool read = request->kind == KU_ZK_GET ||
		(unseen && request->kind == KU_ZK_EXISTS);

	if (request->kind == KU_ZK_MULTI &&
		request->ops[0].kind == KU_ZK_CHECK &&
		strcmp(request->ops[0].path, hidden) == 0)
		return lone_answer(zk, &unchecked, done, arg);
	return read && !request->watch && strcmp(request->path, hidden) == 0
		? lone_refuse(zk, KU_ZK_NOAUTH, done, arg)
		: ku_zk_sim.submit(zk, request, done, arg);
}

/* A hidden node stands before a latch with this id.  Hand over to "heir". */
static void hand_over_behind(const char *id, bool not_even_seen,
	const char *heir)
{
	model_heal(lone.bench.model);
	kustos_latch_destroy(latches.heir);
	struct bench_reply rival = bench_create(&lone.bench, lone.raw,
		LINE "/x-latch-", "x", KU_ZK_EPHEMERAL_SEQUENTIAL);
	strcpy(hidden, rival.path);
	unseen = not_even_seen;
	submit_by(hide_one);
	latches.heir = latches_begin(id, NULL);
	latches_hand_over(heir);
	lone_run_ms(&lone.bench, lone.client, 500);
}

/* The hidden node is deleted like the others between leader and heir. */
START_TEST(who_may_not_be_read_is_passed_over_as_others)
{
	hand_over_behind("you", _i == 1, "you");
	ck_assert_int_eq(latches.ends[0], KUSTOS_OK);
	ck_assert(kustos_latch_leads(latches.heir));
	ck_assert(!model_stat(lone.bench.model, hidden, NULL));
}
END_TEST

/* The hidden node may or may not have the heir's id, which no other node
   has. */
START_TEST(who_may_not_be_read_may_be_the_heir)
{
	hand_over_behind("another", _i == 1, "you");
	ck_assert_int_eq(latches.ends[0], KUSTOS_ENOAUTH);
	ck_assert(kustos_latch_leads(latches.leader));
	bench_delete(&lone.bench, lone.raw, hidden, -1);
}
END_TEST

/* The transaction could not check that the node still exists: a check needs the
   right to read. */
START_TEST(who_may_not_be_read_is_not_the_next_that_leads)
{
	hand_over_behind("you", _i == 1, NULL);
	ck_assert_int_eq(latches.ends[0], KUSTOS_ENOAUTH);
	ck_assert(kustos_latch_leads(latches.leader));
	bench_delete(&lone.bench, lone.raw, hidden, -1);
}
END_TEST

/* The latch leads no more, so the call ends without waiting for the
   hand-over. */
START_TEST(what_is_asked_of_who_hands_over_ends_when_it_has_stopped)
{
	submit_by(submit_and_cut);
	model_heal(lone.bench.model);
	latches_hand_over("you");
	latches_say(KUSTOS_FOREVER, &latches.ends[1]);
	for (int ms = 0; ms < LONE_TIMEOUT_MS && late.transactions < 2; ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	(void)ku_client_step(lone.client);
	ck_assert_int_eq(latches.ends[0], -1);
	ck_assert_int_eq(latches.ends[1], KUSTOS_ENOTHELD);
	ck_assert_int_eq(kustos_latch_set_data_async(latches.leader, "else", 4,
				 KUSTOS_FOREVER, NULL, latches_ended,
				 &latches.ends[1]),
		KUSTOS_ENOTHELD);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hand-overs in the simulator");
	TCase *t = tcase_create("hand-overs");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		S15_what_is_told_of_a_hand_over_after_a_loss_is_not_known, 0,
		2);
	tcase_add_test(t, S15_nor_is_it_known_two_losses_later);
	tcase_add_test(t,
		an_heir_that_leaves_as_it_is_looked_for_does_not_wait);
	tcase_add_loop_test(t,
		S15_of_an_heir_that_has_left_by_then_it_is_not_known, 0, 2);
	tcase_add_test(t, S15_of_an_heir_that_is_not_the_first_it_is_not_known);
	tcase_add_test(t, a_hand_over_whose_trial_is_not_answered_goes_on);
	tcase_add_loop_test(t, who_is_destroyed_as_it_hands_over_leaves_nothing,
		0, 3);
	tcase_add_loop_test(t,
		who_loses_its_node_while_it_hands_over_is_told_so, 0, 2);
	tcase_add_test(t, who_may_not_see_who_waits_is_told_so_and_leads_on);
	tcase_add_loop_test(t, who_may_not_be_read_is_passed_over_as_others, 0,
		2);
	tcase_add_loop_test(t, who_may_not_be_read_may_be_the_heir, 0, 2);
	tcase_add_loop_test(t, who_may_not_be_read_is_not_the_next_that_leads,
		0, 2);
	tcase_add_test(t,
		what_is_asked_of_who_hands_over_ends_when_it_has_stopped);
	suite_add_tcase(s, t);
	return unit_main(s);
}
