/*
 * test_lost.c - the answer to a change is lost, and so is whatever would tell
 * the outcome; or that may not be read, or proves nothing.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/node.h>

#include <stdio.h>
#include <string.h>

#define DIR "/dir"
#define LEAF DIR "/node-"
#define PLAIN "/plain"

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static int end; /* -1: not yet */

enum fate { /* of a change */
	ANSWERED,
	UNHEARD, /* done, but the answer is lost */
	UNSENT,
	PUT_OFF
};
static enum ku_zk_kind kind; /* the change */
static enum fate fate;	     /* of the next one; PUT_OFF: of all that follow */
static bool denied;	     /* nothing may be listed, or read */
static int64_t seen_of;	     /* owner of PLAIN to pretend; 0: none */
static int tries;
static ku_zk_done_fn *last_done; /* of the last unanswered request */
static void *last_arg;

static void hear_nothing(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	(void)reply;
}

static void say(int rc)
{
	const struct ku_zk_reply instead = { .rc = rc, .len = -1 };

	last_done(last_arg, &instead);
}

/* A request that is not answered ends with its handle, or by say(). */
static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	static const struct ku_zk_request any = { .kind = KU_ZK_EXISTS,
		.path = "/",
		.version = -1 };
	static struct kustos_stat stat;
	static const struct ku_zk_reply seen = { .stat = &stat, .len = -1 };
	enum fate now = request->kind == kind ? fate : ANSWERED;

	if ((request->kind == KU_ZK_CHILDREN || request->kind == KU_ZK_GET) &&
		denied)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	stat.ephemeral_owner = seen_of;
	if (request->kind == KU_ZK_EXISTS && seen_of != 0)
		return lone_answer(zk, &seen, done, arg);
	tries += request->kind == kind;
	if (now == ANSWERED)
		return ku_zk_sim.submit(zk, request, done, arg);
	last_done = done;
	last_arg = arg;
	if (now == PUT_OFF)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	fate = ANSWERED;
	return ku_zk_sim.submit(zk, now == UNHEARD ? request : &any,
		hear_nothing, NULL);
}

static void setup(void)
{
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;

	kind = KU_ZK_CREATE;
	fate = ANSWERED;
	denied = false;
	seen_of = 0;
	tries = 0;
	end = -1;
	api = ku_zk_sim;
	api.submit = submit;
	raw = lone_setup(&bench, 0);
	bench_create(&bench, raw, DIR, "", KU_ZK_PERSISTENT);
	o.retry = kustos_retry_n_times(8, 500);
	client = lone_connected_with(&bench, &api, 1, &o);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

static void ended(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	(void)result;
	ck_assert_int_eq(end, -1);
	end = (int)err;
}

/* Run until the change is tried for the n-th time, and a little longer. */
static void run_until(int n)
{
	for (int ms = 0; ms < 10000 && tries < n; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert_int_eq(tries, n);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(end, -1);
}

static void create(const char *path, int flags, enum fate what)
{
	fate = what;
	ck_assert_int_eq(kustos_create_async(client, path, "", 0, flags,
				 KUSTOS_FOREVER, NULL, ended, NULL),
		KUSTOS_OK);
	run_until(1);
}

static void expire(void)
{
	uint64_t sessions = client->counters.sessions;

	ck_assert(model_expire(bench.model, LONE_MACHINE));
	for (int ms = 0; ms < 10000 && client->counters.sessions == sessions;
		ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert_uint_eq(client->counters.sessions, sessions + 1);
}

/* When the answer to the second try is lost, the list still has the node of the
   first try, before the node of the second or behind it. */
START_TEST(S03_S06_the_node_of_a_session_before_hides_no_other_of_ours)
{
	char ghost[128];

	create(LEAF,
		KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_SEQUENTIAL |
			KUSTOS_CREATE_PROTECTED,
		UNHEARD);
	struct bench_reply made = bench_read(&bench, raw, KU_ZK_CHILDREN, DIR,
		false);
	ck_assert_int_eq(made.name_count, 1);
	snprintf(ghost, sizeof(ghost), DIR "/%s", made.names[0]);
	fate = UNHEARD;
	expire();
	if (_i == 0)
		bench_create(&bench, raw, ghost, "", KU_ZK_EPHEMERAL);
	run_until(2);
	if (_i == 1)
		bench_create(&bench, raw, ghost, "", KU_ZK_EPHEMERAL);
	ck_assert_int_eq(model_child_count(bench.model, DIR), 2);
	say(KU_ZK_CONNECTIONLOSS);
	lone_run_ms(&bench, client, 5000);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(tries, 2);
	ck_assert_int_eq(model_child_count(bench.model, DIR), 2);
}
END_TEST

/* A search has found that the creation was not done. */
START_TEST(S06_what_was_not_done_for_certain_does_not_end_as_unknown)
{
	create(LEAF, KUSTOS_CREATE_SEQUENTIAL | KUSTOS_CREATE_PROTECTED,
		UNSENT);
	fate = PUT_OFF;
	say(KU_ZK_CONNECTIONLOSS);
	run_until(2);
	lone_run_ms(&bench, client, 10000);
	ck_assert_int_eq(end, KUSTOS_EDISCONNECTED);
	ck_assert_int_eq(model_child_count(bench.model, DIR), 0);
	fate = ANSWERED;
}
END_TEST

/* If the old session has made the node, it has gone with that session. */
START_TEST(S06_what_is_made_anew_is_refused_as_if_never_tried)
{
	create(LEAF,
		KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_SEQUENTIAL |
			KUSTOS_CREATE_PROTECTED,
		UNSENT);
	fate = UNSENT;
	expire();
	run_until(2);
	say(KU_ZK_NOAUTH);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(end, KUSTOS_ENOAUTH);
	ck_assert_int_eq(tries, 2);
}
END_TEST

/* The old session's node is still there when the next session tries, and then
   goes. */
START_TEST(S03_S06_a_node_of_the_session_before_is_not_anothers)
{
	create(PLAIN, KUSTOS_CREATE_EPHEMERAL, UNSENT);
	seen_of = client->session.id;
	bench_create(&bench, raw, PLAIN, "", KU_ZK_EPHEMERAL);
	expire();
	run_until(2);
	seen_of = 0;
	ck_assert_int_eq(bench_delete(&bench, raw, PLAIN, -1).rc, KU_ZK_OK);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(tries, 3);
}
END_TEST

/* Two sessions have ended since the first try.  The node may belong to the
   first of them, which the client does not remember, unless no session owns
   it. */
START_TEST(S06_a_node_of_two_sessions_before_may_be_ours)
{
	create(PLAIN, KUSTOS_CREATE_EPHEMERAL, UNSENT);
	fate = UNSENT;
	expire();
	run_until(2);
	bench_create(&bench, raw, PLAIN, "",
		_i == 0 ? KU_ZK_EPHEMERAL : KU_ZK_PERSISTENT);
	expire();
	lone_run_ms(&bench, client, 5000);
	ck_assert_int_eq(tries, 3);
	ck_assert_int_eq(end, _i == 0 ? KUSTOS_EUNKNOWN : KUSTOS_EEXISTS);
}
END_TEST

/* Only a listing would show whether the node was made, and listing is
   forbidden. */
START_TEST(S06_a_node_that_may_not_be_looked_for_ends_as_unknown)
{
	denied = true;
	create(LEAF, KUSTOS_CREATE_SEQUENTIAL | KUSTOS_CREATE_PROTECTED,
		UNHEARD);
	say(KU_ZK_CONNECTIONLOSS);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(end, KUSTOS_EUNKNOWN);
	ck_assert_int_eq(tries, 1);
}
END_TEST

/* The session owns the node, but a transaction of the session made a node
   there, too. */
START_TEST(S06_a_node_like_that_of_a_transaction_ends_as_unknown)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE,
		.path = PLAIN,
		.flags = KUSTOS_CREATE_EPHEMERAL };

	ck_assert_int_eq(kustos_multi_async(client, &op, 1, KUSTOS_FOREVER,
				 NULL, ended, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(end, KUSTOS_OK);
	end = -1;
	create(PLAIN, KUSTOS_CREATE_EPHEMERAL, UNSENT);
	say(KU_ZK_CONNECTIONLOSS);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(end, KUSTOS_EUNKNOWN);
	ck_assert_int_eq(tries, 2);
}
END_TEST

/* The node was made by another creation, whose answer came, or which has found
   it.  It must not be given to this one as well. */
START_TEST(S06_a_node_that_is_known_was_made_by_no_second_creation)
{
	fate = _i == 0 ? ANSWERED : UNHEARD;
	ck_assert_int_eq(kustos_create_async(client, PLAIN, "", 0,
				 KUSTOS_CREATE_EPHEMERAL, KUSTOS_FOREVER, NULL,
				 ended, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
	if (_i == 1)
		say(KU_ZK_CONNECTIONLOSS);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(end, KUSTOS_OK);
	end = -1;
	tries = 0;
	create(PLAIN, KUSTOS_CREATE_EPHEMERAL, UNSENT);
	say(KU_ZK_CONNECTIONLOSS);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(end, KUSTOS_EEXISTS);
	ck_assert_int_eq(tries, 2);
}
END_TEST

/* Our only try that may have been done was sent in the session before.  In the
   present one another creation makes the node, whose answer is lost. */
START_TEST(S06_a_node_of_a_session_after_ours_is_not_ours)
{
	create(PLAIN, KUSTOS_CREATE_EPHEMERAL, UNSENT);
	fate = UNSENT;
	expire();
	run_until(2);
	say(KU_ZK_THROTTLEDOP);
	fate = UNHEARD;
	ck_assert_int_eq(kustos_create_async(client, PLAIN, "", 0,
				 KUSTOS_CREATE_EPHEMERAL, KUSTOS_FOREVER, NULL,
				 lone_ignore, NULL),
		KUSTOS_OK);
	run_until(3);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(tries, 4);
	ck_assert_int_eq(end, KUSTOS_EEXISTS);
	say(KU_ZK_CONNECTIONLOSS);
	lone_run_ms(&bench, client, 2000);
}
END_TEST

/* Whether the set was done before the node was deleted, nothing tells. */
START_TEST(S20_a_set_that_finds_no_node_ends_as_unknown)
{
	bench_create(&bench, raw, PLAIN, "", KU_ZK_PERSISTENT);
	kind = KU_ZK_SET;
	fate = UNHEARD;
	ck_assert_int_eq(kustos_set_async(client, PLAIN, "x", 1, 0,
				 KUSTOS_FOREVER, NULL, ended, NULL),
		KUSTOS_OK);
	run_until(1);
	bench_delete(&bench, raw, PLAIN, -1);
	say(KU_ZK_CONNECTIONLOSS);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(end, KUSTOS_EUNKNOWN);
	ck_assert_int_eq(tries, 2);
}
END_TEST

/* The write was not done, but the node has another version.  It may not be
   read; or others have written more than once; or another has written data that
   only begins alike. */
START_TEST(S20_a_set_that_finds_another_version_tells_only_what_is_certain)
{
	bench_create(&bench, raw, PLAIN, "", KU_ZK_PERSISTENT);
	kind = KU_ZK_SET;
	fate = UNSENT;
	ck_assert_int_eq(kustos_set_async(client, PLAIN, "x", 1, 0,
				 KUSTOS_FOREVER, NULL, ended, NULL),
		KUSTOS_OK);
	run_until(1);
	denied = _i == 0;
	for (int i = 0; i < (_i == 1 ? 2 : 1); i++)
		bench_set(&bench, raw, PLAIN, "xy", -1);
	say(KU_ZK_CONNECTIONLOSS);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(end, _i < 2 ? KUSTOS_EUNKNOWN : KUSTOS_EBADVERSION);
	ck_assert_int_eq(tries, 2);
}
END_TEST

/* The node was deleted, and the next node of its name has another version. */
START_TEST(S20_a_deletion_that_finds_the_next_node_there_ends_as_unknown)
{
	bench_create(&bench, raw, PLAIN, "", KU_ZK_PERSISTENT);
	kind = KU_ZK_DELETE;
	fate = UNHEARD;
	ck_assert_int_eq(kustos_delete_async(client, PLAIN, 0, KUSTOS_FOREVER,
				 NULL, ended, NULL),
		KUSTOS_OK);
	run_until(1);
	bench_create(&bench, raw, PLAIN, "", KU_ZK_PERSISTENT);
	bench_set(&bench, raw, PLAIN, "x", -1);
	say(KU_ZK_CONNECTIONLOSS);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(end, KUSTOS_EUNKNOWN);
	ck_assert_int_eq(tries, 2);
	ck_assert(model_stat(bench.model, PLAIN, NULL));
}
END_TEST

/* Cut the client off until it is in "state". */
static void lose(enum kustos_state state)
{
	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	for (int ms = 0; ms < LONE_TIMEOUT_MS && client->session.state != state;
		ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert_int_eq(client->session.state, state);
}

/* The transaction was submitted while there was no connection. */
START_TEST(S02_what_proves_a_hold_and_waits_to_be_sent_ends_with_its_loss)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = PLAIN };
	const struct ku_guard guard = { .epoch = client->session.epoch };

	kind = KU_ZK_MULTI;
	lose(KUSTOS_STATE_SUSPENDED);
	ck_assert_int_eq(ku_multi_guarded_async(client, &guard, &op, 1,
				 KUSTOS_FOREVER, NULL, ended, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 10);
	ck_assert_int_eq(end, -1);
	lose(KUSTOS_STATE_LOST);
	lone_run_ms(&bench, client, 1);
	ck_assert_int_eq(end, KUSTOS_ELOST);
	model_heal(bench.model);
	lone_run_ms(&bench, client, 5000);
	ck_assert_int_eq(tries, 0);
}
END_TEST

/* The server throttles the transaction, and its answer comes when the hold is
   lost. */
START_TEST(S02_what_proves_a_hold_and_was_put_off_is_not_sent_after_its_loss)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = PLAIN };
	const struct ku_guard guard = { .epoch = client->session.epoch };

	kind = KU_ZK_MULTI;
	fate = UNSENT;
	ck_assert_int_eq(ku_multi_guarded_async(client, &guard, &op, 1,
				 KUSTOS_FOREVER, NULL, ended, NULL),
		KUSTOS_OK);
	run_until(1);
	lose(KUSTOS_STATE_LOST);
	say(KU_ZK_THROTTLEDOP);
	ck_assert_int_eq(end, -1);
	lone_run_ms(&bench, client, 600);
	ck_assert_int_eq(end, KUSTOS_ELOST);
	model_heal(bench.model);
	lone_run_ms(&bench, client, 5000);
	ck_assert_int_eq(tries, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("answers lost in the simulator");
	TCase *t = tcase_create("twice");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		S03_S06_the_node_of_a_session_before_hides_no_other_of_ours, 0,
		2);
	tcase_add_test(t,
		S06_what_was_not_done_for_certain_does_not_end_as_unknown);
	tcase_add_test(t, S06_what_is_made_anew_is_refused_as_if_never_tried);
	tcase_add_test(t, S03_S06_a_node_of_the_session_before_is_not_anothers);
	tcase_add_loop_test(t, S06_a_node_of_two_sessions_before_may_be_ours, 0,
		2);
	tcase_add_test(t,
		S06_a_node_that_may_not_be_looked_for_ends_as_unknown);
	tcase_add_test(t,
		S06_a_node_like_that_of_a_transaction_ends_as_unknown);
	tcase_add_loop_test(t,
		S06_a_node_that_is_known_was_made_by_no_second_creation, 0, 2);
	tcase_add_test(t, S06_a_node_of_a_session_after_ours_is_not_ours);
	tcase_add_loop_test(t,
		S20_a_set_that_finds_another_version_tells_only_what_is_certain,
		0, 3);
	tcase_add_test(t, S20_a_set_that_finds_no_node_ends_as_unknown);
	tcase_add_test(t,
		S20_a_deletion_that_finds_the_next_node_there_ends_as_unknown);
	tcase_add_test(t,
		S02_what_proves_a_hold_and_waits_to_be_sent_ends_with_its_loss);
	tcase_add_test(t,
		S02_what_proves_a_hold_and_was_put_off_is_not_sent_after_its_loss);
	suite_add_tcase(s, t);
	return unit_main(s);
}
