/*
 * test_forbidden.c - the answer of a write was lost, and when it is sent again
 * it is forbidden.  The client must find out whether the first try was done.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/barrier.h>
#include <kustos/election.h>
#include <kustos/node.h>
#include <kustos/simple.h>
#include <string.h>

#define NODE "/one"

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static enum { ASK, LOSE, FORBID } next; /* for the next write to the node */
static bool done_at_first;
static bool unheard; /* the answer to the next look is lost */
static int refusal;
static int tries;
static int end;	 /* -1: not yet */
static int told; /* log lines about a node that stays */
static struct kustos_hold *hold;

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool writes = request->kind == KU_ZK_CREATE ||
		request->kind == KU_ZK_SET || request->kind == KU_ZK_DELETE;

	if (unheard && request->kind == KU_ZK_EXISTS) {
		unheard = false;
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	}
	if (!writes || next == ASK)
		return ku_zk_sim.submit(zk, request, done, arg);
	ck_assert_int_eq(strncmp(request->path, NODE, strlen(NODE)), 0);
	tries++;
	if (next == FORBID)
		return lone_refuse(zk, refusal, done, arg);
	next = FORBID;
	return done_at_first ? lone_lose(zk, request, done, arg)
			     : lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
}

static void take_line(void *arg, enum kustos_log_level level, const char *line)
{
	(void)arg;
	if (level > KUSTOS_LOG_ERROR)
		return;
	told++;
	ck_assert_str_eq(line,
		NODE " cannot be deleted, and stays: "
		     "the node's ACL forbids this");
}

static void setup(void)
{
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;

	raw = lone_setup(&bench, 5);
	api = ku_zk_sim;
	api.submit = submit;
	next = ASK;
	unheard = false;
	refusal = KU_ZK_NOAUTH;
	tries = told = 0;
	end = -1;
	hold = NULL;
	o.log = take_line;
	o.retry = kustos_retry_forever(100);
	client = lone_connected_with(&bench, &api, 1, &o);
}

static void teardown(void)
{
	lone_teardown(&bench, client);
}

static void run(void)
{
	lone_run_ms(&bench, client, 2000);
}

static void lose(bool done)
{
	next = LOSE;
	done_at_first = done;
}

static void ended(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	(void)result;
	end = (int)err;
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *got)
{
	(void)arg;
	end = (int)err;
	hold = got;
}

static void create(int flags)
{
	ck_assert_int_eq(kustos_create_async(client, NODE, "x", 1, flags,
				 KUSTOS_FOREVER, NULL, ended, NULL),
		KUSTOS_OK);
	run();
}

static int there(void)
{
	return model_child_count(bench.model, NODE) >= 0;
}

/* If anything but KUSTOS_OK is returned, no node may stay. */
START_TEST(S06_a_simple_lock_that_was_made_is_had_though_it_is_forbidden_now)
{
	struct kustos_simple *lock;

	ck_assert_int_eq(kustos_simple_create(client, NODE, NULL, &lock),
		KUSTOS_OK);
	lose(_i == 1);
	ck_assert_int_eq(kustos_simple_acquire_async(lock, KUSTOS_FOREVER, NULL,
				 granted, NULL),
		KUSTOS_OK);
	run();
	ck_assert_int_eq(end, _i == 1 ? KUSTOS_OK : KUSTOS_ENOAUTH);
	ck_assert_int_eq(there(), _i);
	next = ASK;
	if (hold != NULL)
		ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	run();
	ck_assert(!there());
	kustos_simple_destroy(lock);
}
END_TEST

START_TEST(an_ephemeral_node_that_was_made_is_found)
{
	lose(_i == 1);
	create(KUSTOS_CREATE_EPHEMERAL);
	ck_assert_int_eq(end, _i == 1 ? KUSTOS_OK : KUSTOS_ENOAUTH);
	ck_assert_int_eq(there(), _i);
}
END_TEST

START_TEST(of_a_node_that_stays_nothing_is_known)
{
	lose(_i == 1);
	create(0);
	ck_assert_int_eq(tries, 2);
	ck_assert_int_eq(end, KUSTOS_EUNKNOWN);
	ck_assert_int_eq(there(), _i);
}
END_TEST

START_TEST(of_a_change_nothing_is_known)
{
	lone_make(&bench, raw, NODE);
	lose(_i % 2 == 1);
	if (_i >= 2)
		refusal = KU_ZK_QUOTAEXCEEDED;
	ck_assert_int_eq(kustos_set_async(client, NODE, "x", 1, 0,
				 KUSTOS_FOREVER, NULL, ended, NULL),
		KUSTOS_OK);
	run();
	ck_assert_int_eq(tries, 2);
	ck_assert_int_eq(end, KUSTOS_EUNKNOWN);
}
END_TEST

static void said(void *arg, enum kustos_err err)
{
	(void)arg;
	end = (int)err;
}

/* Setting a barrier succeeds if its node exists, whoever made it. */
START_TEST(a_barrier_that_was_set_is_set)
{
	struct kustos_barrier *barrier;

	ck_assert_int_eq(kustos_barrier_create(client, NODE, NULL, &barrier),
		KUSTOS_OK);
	lose(_i == 1);
	ck_assert_int_eq(kustos_barrier_set_async(barrier, KUSTOS_FOREVER, NULL,
				 said, NULL),
		KUSTOS_OK);
	run();
	ck_assert_int_eq(end, _i == 1 ? KUSTOS_OK : KUSTOS_ENOAUTH);
	ck_assert_int_eq(there(), _i);
	kustos_barrier_destroy(barrier);
}
END_TEST

/* The leader reads what its node says.  So it knows what became of the write,
   and does not lose its place. */
START_TEST(a_leader_leads_on_whatever_it_may_say)
{
	struct kustos_latch *latch;

	ck_assert_int_eq(kustos_latch_create(client, NODE, NULL, &latch),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_latch_start(latch), KUSTOS_OK);
	run();
	lose(_i % 2 == 1);
	if (_i >= 2)
		refusal = KU_ZK_QUOTAEXCEEDED;
	ck_assert_int_eq(kustos_latch_set_data_async(latch, "x", 1,
				 KUSTOS_FOREVER, NULL, said, NULL),
		KUSTOS_OK);
	run();
	if (_i % 2 == 1)
		ck_assert_int_eq(end, KUSTOS_OK);
	else
		ck_assert_int_eq(end, _i >= 2 ? KUSTOS_EQUOTA : KUSTOS_ENOAUTH);
	ck_assert_int_eq(tries, _i % 2 == 1 ? 2 : 3);
	ck_assert(kustos_latch_leads(latch));
	next = ASK;
	kustos_latch_destroy(latch);
	run();
}
END_TEST

START_TEST(of_a_deletion_nothing_is_known)
{
	lone_make(&bench, raw, NODE);
	lose(_i == 1);
	ck_assert_int_eq(kustos_delete_async(client, NODE, -1, KUSTOS_FOREVER,
				 NULL, ended, NULL),
		KUSTOS_OK);
	run();
	ck_assert_int_eq(tries, 2);
	ck_assert_int_eq(end, KUSTOS_EUNKNOWN);
	ck_assert_int_eq(there(), _i == 0);
}
END_TEST

/* Nobody waits for a guaranteed delete, but the log tells of a node that
   stays. */
START_TEST(L05_what_is_guaranteed_stays_only_if_it_is_there)
{
	lone_make(&bench, raw, NODE);
	lose(_i % 2 == 1);
	unheard = _i >= 2;
	ck_assert_int_eq(kustos_delete_guaranteed(client, NODE, 0), KUSTOS_OK);
	run();
	ck_assert_int_eq(tries, _i >= 2 ? 3 : 2);
	ck_assert_int_eq(told, there());
	ck_assert_int_eq(there(), _i % 2 == 0);
	ck_assert_uint_eq(client->ops.count, 0);
}
END_TEST

/* The first try was answered, so there is nothing to find out. */
START_TEST(what_is_forbidden_at_once_was_not_done)
{
	lone_make(&bench, raw, NODE);
	next = FORBID;
	ck_assert_int_eq(kustos_set_async(client, NODE, "x", 1, 0,
				 KUSTOS_FOREVER, NULL, ended, NULL),
		KUSTOS_OK);
	run();
	ck_assert_int_eq(tries, 1);
	ck_assert_int_eq(end, KUSTOS_ENOAUTH);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("writes that are forbidden when sent again");
	TCase *t = tcase_create("lost and forbidden");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		S06_a_simple_lock_that_was_made_is_had_though_it_is_forbidden_now,
		0, 2);
	tcase_add_loop_test(t, an_ephemeral_node_that_was_made_is_found, 0, 2);
	tcase_add_loop_test(t, of_a_node_that_stays_nothing_is_known, 0, 2);
	tcase_add_loop_test(t, of_a_change_nothing_is_known, 0, 4);
	tcase_add_loop_test(t, a_barrier_that_was_set_is_set, 0, 2);
	tcase_add_loop_test(t, a_leader_leads_on_whatever_it_may_say, 0, 4);
	tcase_add_loop_test(t, of_a_deletion_nothing_is_known, 0, 2);
	tcase_add_loop_test(t, L05_what_is_guaranteed_stays_only_if_it_is_there,
		0, 4);
	tcase_add_test(t, what_is_forbidden_at_once_was_not_done);
	suite_add_tcase(s, t);
	return unit_main(s);
}
