/*
 * test_errands.c - what a leader is asked to do at once, and not to wait for, when
 * nobody answers.
 */
#include "lone_line.h"

#include "../unit/unit.h"

#include <kustos/election.h>

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* As many as take seconds to be lined up under a sanitizer. */
#define ROW 20000

static struct kustos_latch *latch, *heir;
static int ends[2]; /* -1: not yet */

static struct kustos_latch *begin_with(const char *id, kustos_latch_fn *lost)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	struct kustos_latch *one;

	o.id = id;
	o.on_lost = lost;
	ck_assert_int_eq(kustos_latch_create(lone.client, LINE, &o, &one),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_latch_start(one), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 200);
	return one;
}

static struct kustos_latch *begin(const char *id)
{
	return begin_with(id, NULL);
}

/* It leads, another waits, and nothing reaches a server any more. */
static void setup(void)
{
	lone_line_open(&ku_zk_sim);
	latch = begin("me");
	heir = begin("you");
	ck_assert_int_eq(kustos_latch_state(latch), KUSTOS_LATCH_LEADS);
	model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
	ends[0] = ends[1] = -1;
}

static void teardown(void)
{
	model_heal(lone.bench.model);
	lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
	kustos_latch_destroy(latch);
	kustos_latch_destroy(heir);
	lone_run_ms(&lone.bench, lone.client, 200);
	lone_line_close();
}

static void ended(void *arg, enum kustos_err err)
{
	ck_assert_int_eq(*(int *)arg, -1);
	*(int *)arg = (int)err;
}

static void hand_over(const char *id)
{
	ck_assert_int_eq(kustos_latch_hand_over_async(latch, id, KUSTOS_FOREVER,
				 NULL, ended, &ends[0]),
		KUSTOS_OK);
}

static void say(kustos_deadline deadline, int *end)
{
	ck_assert_int_eq(kustos_latch_set_data_async(latch, "else", 4, deadline,
				 NULL, ended, end),
		KUSTOS_OK);
}

/* Until the client has noticed, which is long before the lease ends. */
static void run_until_away(void)
{
	for (int i = 0; i < LONE_TIMEOUT_MS &&
		kustos_latch_state(latch) == KUSTOS_LATCH_LEADS;
		i++)
		lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(kustos_latch_state(latch), KUSTOS_LATCH_UNSURE);
	lone_run_ms(&lone.bench, lone.client, 2);
	ck_assert_int_eq(kustos_latch_state(latch), KUSTOS_LATCH_UNSURE);
}

/* It may be done all the same. */
START_TEST(L20_what_is_not_to_wait_ends_when_the_connection_is_away)
{
	if (_i == 0)
		say(KUSTOS_NOW, &ends[0]);
	else
		ck_assert_int_eq(kustos_latch_hand_over_async(latch, "you",
					 KUSTOS_NOW, NULL, ended, &ends[0]),
			KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(ends[0], -1);
	run_until_away();
	ck_assert_int_eq(ends[0], KUSTOS_ETIMEDOUT);
	/* And of what has begun, nothing is left in the way. */
	model_heal(lone.bench.model);
	lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(kustos_latch_leads(latch) + kustos_latch_leads(heir),
		1);
	say(KUSTOS_NOW, &ends[1]);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(ends[1],
		kustos_latch_leads(latch) ? KUSTOS_OK : KUSTOS_ENOTHELD);
}
END_TEST

START_TEST(L20_nor_does_it_wait_for_what_waits)
{
	say(KUSTOS_FOREVER, &ends[0]);
	if (_i == 0)
		say(KUSTOS_NOW, &ends[1]);
	run_until_away();
	if (_i == 1)
		ck_assert_int_eq(kustos_latch_set_data_async(latch, "else", 4,
					 KUSTOS_NOW, NULL, ended, &ends[1]),
			KUSTOS_EDISCONNECTED);
	else
		ck_assert_int_eq(ends[1], KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(ends[0], -1);
}
END_TEST

static void count(void *arg, struct kustos_hold *hold)
{
	(void)hold;
	++*(int *)arg;
}

/* The silence is noticed after a pause in which the lease has run out, and perhaps
   the session.  One that is not to wait ends, and the next may begin only if it still
   leads: there it is seen, while places are being told of the disconnect. */
START_TEST(S01_L17_a_loss_that_is_seen_amid_a_disconnect_is_told_of_all_holds)
{
	int pause_ms = _i == 0 ? LONE_TIMEOUT_MS * 3 / 4 : LONE_TIMEOUT_MS;
	int losses = 0;

	model_heal(lone.bench.model);
	lone_line_ask();
	ck_assert_ptr_nonnull(lone.hold);
	ck_assert_int_eq(kustos_hold_on_lost(lone.hold, count, &losses),
		KUSTOS_OK);
	model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
	say(KUSTOS_NOW, &ends[0]);
	say(KUSTOS_FOREVER, &ends[1]);
	lone_run_ms(&lone.bench, lone.client, 1);
	sched_pause(&lone.bench.sched, LONE_MACHINE,
		lone.bench.sched.now_ns + pause_ms * KU_NS_PER_MS);
	bench_run_ms(&lone.bench, pause_ms - 1);
	lone_run_ms(&lone.bench, lone.client, 2);
	ck_assert_int_ne(ends[0], -1);
	ck_assert_int_ne(ends[1], -1);
	ck_assert_int_eq(losses, 1);
	/* Nor does it stay in the line, where a session lives. */
	model_heal(lone.bench.model);
	lone_run_ms(&lone.bench, lone.client, LONE_TIMEOUT_MS);
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 2);
	ck_assert_int_eq(kustos_latch_leads(latch) + kustos_latch_leads(heir),
		1);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
}
END_TEST

/* The connection breaks with the transaction of a hand-over, behind its trial, which
   arrives; and then it is read who is in the line, of which is told late. */
static struct {
	int transactions;
	ku_zk_done_fn *done;
	void *arg;
	char data[8];
	struct kustos_stat stat; /* czxid 0: it is not answered yet */
	bool unlisted;		 /* meanwhile no line is looked at */
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

	if (request->kind == KU_ZK_MULTI && ++late.transactions == 2)
		model_cut(lone.bench.model, LONE_MACHINE, false);
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

/* That its node is gone, and its heir is first, is told in time, or when the lease has
   run out. */
START_TEST(S15_what_is_told_of_a_hand_over_after_a_loss_is_not_known)
{
	struct ku_zk_api api = ku_zk_sim;

	memset(&late, 0, sizeof(late));
	api.submit = submit_it;
	lone.client->env.api = &api;
	model_heal(lone.bench.model);
	hand_over("you");
	for (int ms = 0; ms < LONE_TIMEOUT_MS && late.stat.czxid == 0; ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	const struct ku_zk_reply reply = { .stat = &late.stat,
		.data = late.data,
		.len = (int)strlen(late.data) };
	model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
	lone_run_ms(&lone.bench, lone.client, _i * LONE_TIMEOUT_MS);
	ck_assert_int_eq(lone.client->session.state,
		_i == 0 ? KUSTOS_CONNECTED : KUSTOS_LOST);
	ck_assert_int_eq(ends[0], -1);
	late.done(late.arg, &reply);
	lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(ends[0], _i == 0 ? KUSTOS_OK : KUSTOS_EUNKNOWN);
	lone.client->env.api = &ku_zk_sim;
}
END_TEST

static void check_state(enum kustos_state state)
{
	ck_assert_int_eq(lone.client->session.state, state);
	ck_assert_int_eq(ends[0], -1);
}

static int submit_unlisted(struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	bool lists = late.transactions == 2 && !request->watch &&
		request->kind == KU_ZK_CHILDREN;

	return lists && late.unlisted ? KU_ZK_OK
				      : submit_and_cut(zk, request, done, arg);
}

/* After the second loss the heir is the first again, with a node that it has made in
   between. */
START_TEST(S15_nor_is_it_known_two_losses_later)
{
	struct ku_zk_api api = ku_zk_sim;

	memset(&late, 0, sizeof(late));
	late.unlisted = true;
	api.submit = submit_unlisted;
	lone.client->env.api = &api;
	model_heal(lone.bench.model);
	hand_over("you");
	for (int ms = 0; ms < LONE_TIMEOUT_MS && late.transactions < 2; ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	for (int losses = 0; losses < 2; losses++) {
		model_hole(lone.bench.model, LONE_MACHINE, 0, INT64_MAX);
		lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
		check_state(KUSTOS_LOST);
		model_heal(lone.bench.model);
		late.unlisted = losses == 0;
		lone_run_ms(&lone.bench, lone.client, LONE_TIMEOUT_MS);
		if (losses == 0)
			check_state(KUSTOS_CONNECTED);
	}
	ck_assert_int_eq(ends[0], KUSTOS_EUNKNOWN);
	lone.client->env.api = &ku_zk_sim;
}
END_TEST

static char condemned[128]; /* a node; "": it is gone */

/* The one in LINE with that number. */
static void condemn(const char *number)
{
	struct bench_reply line = bench_read(&lone.bench, lone.raw,
		KU_ZK_CHILDREN, LINE, false);

	for (int i = 0; i < line.name_count; i++)
		if (strstr(line.names[i], number) != NULL)
			snprintf(condemned, sizeof(condemned), LINE "/%s",
				line.names[i]);
	ck_assert_str_ne(condemned, "");
}

static void execute(void)
{
	ck_assert(model_delete(lone.bench.model, condemned));
	condemned[0] = '\0';
}

/* Somebody deletes it just before it is read. */
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
	struct ku_zk_api api = ku_zk_sim;

	api.submit = delete_and_submit;
	lone.client->env.api = &api;
	model_heal(lone.bench.model);
	condemn("-0000000001");
	hand_over(NULL);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_str_eq(condemned, "");
	ck_assert_int_eq(ends[0], KUSTOS_EABSENT);
	ck_assert(kustos_latch_leads(latch));
	lone.client->env.api = &ku_zk_sim;
}
END_TEST

/* Its answer is lost, and then somebody deletes a node. */
static int cut_and_delete(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (late.transactions == 2 && request->kind == KU_ZK_CHILDREN &&
		!request->watch && condemned[0] != '\0')
		execute();
	return submit_and_cut(zk, request, done, arg);
}

START_TEST(S15_of_an_heir_that_has_left_by_then_it_is_not_known)
{
	struct ku_zk_api api = ku_zk_sim;

	memset(&late, 0, sizeof(late));
	api.submit = cut_and_delete;
	lone.client->env.api = &api;
	model_heal(lone.bench.model);
	condemn("-0000000001");
	hand_over("you");
	lone_run_ms(&lone.bench, lone.client, LONE_TIMEOUT_MS);
	ck_assert_str_eq(condemned, "");
	ck_assert_int_eq(ends[0], KUSTOS_EUNKNOWN);
	lone.client->env.api = &ku_zk_sim;
}
END_TEST

static void lose_node(void *arg, struct kustos_latch *one,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)one;
	ck_assert(model_delete(lone.bench.model, kustos_hold_path(hold)));
}

/* Nothing was sent by then. */
START_TEST(who_loses_its_node_while_it_hands_over_is_told_so)
{
	model_heal(lone.bench.model);
	kustos_latch_destroy(latch);
	kustos_latch_destroy(heir);
	latch = begin_with("me", lose_node);
	heir = begin("you");
	hand_over("you");
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(ends[0], KUSTOS_ELOST);
	ck_assert(kustos_latch_leads(heir));
}
END_TEST

/* However many wait, those that end at once do not end inside one another. */
START_TEST(a_long_row_ends_within_a_small_stack)
{
	const struct rlimit small = { ROW * 50, ROW * 50 };
	static int row[ROW];

	ck_assert_int_eq(setrlimit(RLIMIT_STACK, &small), 0);
	for (int i = 0; i < ROW; i++) {
		row[i] = -1;
		say(KUSTOS_FOREVER, &row[i]);
	}
	lone_run_ms(&lone.bench, lone.client, 2 * LONE_TIMEOUT_MS);
	ck_assert_int_eq(row[0], KUSTOS_ELOST);
	for (int i = 1; i < ROW; i++)
		ck_assert_int_eq(row[i], KUSTOS_ENOTHELD);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("errands in the simulator");
	TCase *t = tcase_create("errands");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		L20_what_is_not_to_wait_ends_when_the_connection_is_away, 0, 2);
	tcase_add_loop_test(t, L20_nor_does_it_wait_for_what_waits, 0, 2);
	tcase_add_loop_test(t,
		S01_L17_a_loss_that_is_seen_amid_a_disconnect_is_told_of_all_holds,
		0, 2);
	tcase_add_loop_test(t,
		S15_what_is_told_of_a_hand_over_after_a_loss_is_not_known, 0,
		2);
	tcase_add_test(t, S15_nor_is_it_known_two_losses_later);
	tcase_add_test(t,
		an_heir_that_leaves_as_it_is_looked_for_does_not_wait);
	tcase_add_test(t, S15_of_an_heir_that_has_left_by_then_it_is_not_known);
	tcase_add_test(t, who_loses_its_node_while_it_hands_over_is_told_so);
	tcase_add_test(t, a_long_row_ends_within_a_small_stack);
	suite_add_tcase(s, t);
	return unit_main(s);
}
