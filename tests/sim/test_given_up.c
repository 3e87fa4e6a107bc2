/*
 * test_given_up.c - the program gives up a creation under a name that nobody
 * else can know: if the node was made all the same, it must not stay.
 */
#include "lone.h"
#include "../unit/unit.h"

#include <kustos/countdown.h>
#include <kustos/mutex.h>
#include <kustos/node.h>
#include <string.h>

#define DIR "/dir"
#define PROTECTED KUSTOS_CREATE_PROTECTED
/* How long each message between a client and its server takes. */
#define WAY_MS 50

static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct kustos_cancel *cancel;
static int end;		     /* -1: not yet */
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static bool secret;	     /* the folder may not be listed */
static bool unseen;	     /* the node may not be looked at */
static bool kept;	     /* nothing may be deleted */
static int stays;	     /* log lines about a node that stays */

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (secret && request->kind == KU_ZK_CHILDREN)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	if (unseen && request->kind == KU_ZK_EXISTS &&
		strncmp(request->path, DIR "/", strlen(DIR "/")) == 0)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	if (kept && request->kind == KU_ZK_DELETE)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void take_line(void *arg, enum kustos_log_level level, const char *line)
{
	(void)arg;
	stays += level == KUSTOS_LOG_ERROR && strstr(line, DIR) != NULL;
}
static bool gone; /* its close has come to its end */

static void open_with(struct kustos_retry retry)
{
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;

	end = -1;
	secret = unseen = kept = false;
	stays = 0;
	api = ku_zk_sim;
	api.submit = submit_it;
	raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, DIR, "", KU_ZK_PERSISTENT);
	o.retry = retry;
	o.log = take_line;
	client = lone_connected_with(&bench, &api, 1, &o);
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
}

static void setup(void)
{
	open_with(kustos_retry_forever(100));
}

static void setup_once(void)
{
	open_with(kustos_retry_none());
}

static void teardown(void)
{
	kustos_cancel_destroy(cancel);
	lone_teardown(&bench, client);
}

static void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static int made(void)
{
	return model_child_count(bench.model, DIR);
}

static void ended(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	ck_assert_int_eq(end, -1);
	ck_assert(err == KUSTOS_OK || result->path == NULL);
	end = (int)err;
}

static const int kinds[] = {
	PROTECTED,
	PROTECTED | KUSTOS_CREATE_EPHEMERAL,
	PROTECTED | KUSTOS_CREATE_SEQUENTIAL,
	PROTECTED | KUSTOS_CREATE_SEQUENTIAL | KUSTOS_CREATE_EPHEMERAL,
};
#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

static void create(int flags, kustos_deadline deadline)
{
	ck_assert_int_eq(kustos_create_async(client, DIR "/node-", "", 0, flags,
				 deadline, cancel, ended, NULL),
		KUSTOS_OK);
}

/* Run until the server has made the node, and before its answer is here. */
static void run_until_made(void)
{
	for (int ms = 0; ms < 4 * WAY_MS && made() == 0; ms++)
		run_ms(1);
	ck_assert_int_eq(made(), 1);
	ck_assert_int_eq(end, -1);
}

static void lose_answer(void)
{
	model_cut(bench.model, LONE_MACHINE, false);
	run_ms(WAY_MS);
}

static void check_unmade(enum kustos_err err)
{
	ck_assert_int_eq(end, err);
	run_ms(5000);
	ck_assert_int_eq(made(), 0);
	ck_assert_uint_eq(client->ops.count, 0);
}

START_TEST(L05_a_creation_given_up_on_its_way_is_undone)
{
	create(kinds[_i], KUSTOS_FOREVER);
	run_ms(WAY_MS / 2);
	kustos_cancel_fire(cancel);
	run_ms(1);
	ck_assert_int_eq(end, KUSTOS_ECANCELED);
	run_ms(WAY_MS);
	ck_assert_int_eq(made(), 1); /* else the test shows nothing */
	check_unmade(KUSTOS_ECANCELED);
}
END_TEST

START_TEST(L05_a_creation_that_was_not_sent_leaves_nothing_to_be_undone)
{
	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	run_ms(LONE_TIMEOUT_MS * 2 / 3 + 100);
	ck_assert(!ku_session_ready(client));
	create(kinds[_i], KUSTOS_FOREVER);
	run_ms(1);
	kustos_cancel_fire(cancel);
	run_ms(1);
	ck_assert_int_eq(end, KUSTOS_ECANCELED);
	ck_assert_uint_eq(client->ops.count, 0);
	model_heal(bench.model);
	check_unmade(KUSTOS_ECANCELED);
}
END_TEST

START_TEST(L05_a_creation_given_up_at_its_deadline_is_undone)
{
	create(kinds[_i], ku_monotonic(&client->env.clock) + 60 * KU_NS_PER_MS);
	run_until_made();
	run_ms(WAY_MS / 2);
	check_unmade(KUSTOS_ETIMEDOUT);
}
END_TEST

/* The answer is lost, and then the caller gives up. */
START_TEST(L05_a_creation_given_up_while_its_node_is_looked_for_is_undone)
{
	create(kinds[_i], KUSTOS_FOREVER);
	run_until_made();
	lose_answer();
	kustos_cancel_fire(cancel);
	run_ms(1);
	check_unmade(KUSTOS_ECANCELED);
}
END_TEST

/* The node stays and keeps others waiting, so the log must say so. */
START_TEST(L05_a_creation_given_up_that_may_not_be_looked_for_is_told_of)
{
	create(kinds[_i], KUSTOS_FOREVER);
	run_until_made();
	secret = true;
	lose_answer();
	kustos_cancel_fire(cancel);
	run_ms(5000);
	ck_assert_int_eq(end, KUSTOS_ECANCELED);
	ck_assert_int_eq(made(), 1);
	ck_assert_int_eq(stays, 1);
	ck_assert_uint_eq(client->ops.count, 0);
}
END_TEST

START_TEST(L05_a_creation_given_up_that_may_not_be_deleted_is_told_of)
{
	create(kinds[_i], KUSTOS_FOREVER);
	run_until_made();
	kept = true;
	kustos_cancel_fire(cancel);
	run_ms(5000);
	ck_assert_int_eq(made(), 1);
	ck_assert_int_eq(stays, 1);
	ck_assert_uint_eq(client->ops.count, 0);
}
END_TEST

/* It keeps its place in the list, as a flush waits for older operations. */
START_TEST(L05_a_creation_given_up_is_undone_beside_others)
{
	create(kinds[_i], KUSTOS_FOREVER);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(kustos_exists_async(client, DIR,
					 KUSTOS_FOREVER, NULL, lone_ignore,
					 NULL),
			KUSTOS_OK);
	run_until_made();
	kustos_cancel_fire(cancel);
	run_ms(1);
	const struct ku_op *oldest = client->ops.oldest;
	ck_assert_uint_eq(client->ops.count, 3);
	ck_assert_int_eq(oldest->kind, KU_ZK_CREATE);
	ck_assert_ptr_eq(oldest->next->prev, oldest);
	check_unmade(KUSTOS_ECANCELED);
}
END_TEST

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	(void)arg;
	ck_assert_ptr_null(hold);
	end = (int)err;
}

/* The same without a caller that gives up. */
START_TEST(L05_a_place_in_a_line_that_may_not_be_looked_for_is_told_of)
{
	struct kustos_mutex *mutex;

	ck_assert_int_eq(kustos_mutex_create(client, DIR, NULL, &mutex),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_mutex_acquire_async(mutex, KUSTOS_FOREVER,
				 cancel, granted, NULL),
		KUSTOS_OK);
	run_until_made();
	secret = true;
	lose_answer();
	run_ms(5000);
	ck_assert_int_eq(end, KUSTOS_EUNKNOWN);
	ck_assert_int_eq(made(), 1);
	ck_assert_int_eq(stays, 1);
	kustos_mutex_destroy(mutex);
}
END_TEST

/* Newer servers hide a node that we may not read, but a listing names it. */
START_TEST(L05_a_creation_given_up_that_may_not_be_seen_is_undone)
{
	create(kinds[_i], KUSTOS_FOREVER);
	run_until_made();
	unseen = true;
	lose_answer();
	kustos_cancel_fire(cancel);
	run_ms(1);
	check_unmade(KUSTOS_ECANCELED);
}
END_TEST

/* The first node is deleted, as its stat is not known. */
START_TEST(S06_a_creation_that_is_found_and_may_not_be_seen_is_made_anew)
{
	create(kinds[_i], KUSTOS_FOREVER);
	run_until_made();
	unseen = true;
	model_cut(bench.model, LONE_MACHINE, false);
	run_ms(2000);
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(made(), 1);
}
END_TEST

/* A node that does not end with its session is looked for in the next one. */
START_TEST(L05_a_creation_given_up_is_undone_by_the_next_session)
{
	uint64_t sessions = client->counters.sessions;

	create(kinds[_i], KUSTOS_FOREVER);
	run_until_made();
	kustos_cancel_fire(cancel);
	model_cut(bench.model, LONE_MACHINE, false);
	ck_assert(model_expire(bench.model, LONE_MACHINE));
	for (int ms = 0; ms < 10000 && client->counters.sessions == sessions;
		ms++)
		run_ms(1);
	ck_assert_uint_eq(client->counters.sessions, sessions + 1);
	check_unmade(KUSTOS_ECANCELED);
}
END_TEST

static void check_unknown(int flags, kustos_deadline deadline)
{
	create(flags, deadline);
	run_until_made();
	lose_answer();
	check_unmade(KUSTOS_EUNKNOWN);
}

/* A caller whose policy has no retries, or who does not wait, learns that the
   outcome is unknown. */
START_TEST(L05_a_creation_that_is_not_tried_again_is_undone)
{
	check_unknown(kinds[_i], KUSTOS_FOREVER);
}
END_TEST

/* The retry policy was for the caller; the undoing goes on without it. */
START_TEST(L05_a_creation_given_up_whose_answer_is_lost_then_is_undone)
{
	create(kinds[_i], KUSTOS_FOREVER);
	run_until_made();
	kustos_cancel_fire(cancel);
	run_ms(1);
	lose_answer();
	check_unmade(KUSTOS_ECANCELED);
}
END_TEST

START_TEST(L05_a_creation_that_is_tried_at_once_or_not_is_undone)
{
	check_unknown(kinds[_i], KUSTOS_NOW);
}
END_TEST

/* The server has refused the creation.  Only the parents would be made. */
START_TEST(L05_of_a_creation_given_up_no_parents_are_made)
{
	struct kustos_stat stat;

	ck_assert_int_eq(kustos_create_async(client, "/none/node-", "", 0,
				 kinds[_i] | KUSTOS_CREATE_PARENTS,
				 KUSTOS_FOREVER, cancel, ended, NULL),
		KUSTOS_OK);
	run_ms(WAY_MS / 2);
	kustos_cancel_fire(cancel);
	run_ms(1);
	check_unmade(KUSTOS_ECANCELED);
	ck_assert(!model_stat(bench.model, "/none", &stat));
}
END_TEST

static void close_start(void)
{
	gone = false;
	ku_client_close_start(client, KUSTOS_FOREVER, &gone);
}

static void check_closed_unmade(enum kustos_err err)
{
	for (int ms = 0; ms < 5000 && !gone; ms++)
		run_ms(1);
	ck_assert(gone);
	client = NULL;
	ck_assert_int_eq(end, err);
	bench_run_ms(&bench, 1000);
	ck_assert_int_eq(made(), 0);
}

START_TEST(L05_a_close_waits_until_what_was_given_up_is_undone)
{
	create(kinds[_i], KUSTOS_FOREVER);
	run_until_made();
	kustos_cancel_fire(cancel);
	run_ms(1);
	close_start();
	check_closed_unmade(KUSTOS_ECANCELED);
}
END_TEST

/* A close lets operations end; this one ends by its deadline. */
START_TEST(L05_a_creation_given_up_while_its_client_closes_is_undone)
{
	create(kinds[_i], ku_monotonic(&client->env.clock) + 60 * KU_NS_PER_MS);
	run_until_made();
	close_start();
	check_closed_unmade(KUSTOS_ETIMEDOUT);
}
END_TEST

/* During a close it is not tried again, and its caller gets KUSTOS_ECLOSED. */
START_TEST(L05_a_creation_whose_answer_a_close_loses_is_undone)
{
	create(kinds[_i], KUSTOS_FOREVER);
	run_until_made();
	close_start();
	model_cut(bench.model, LONE_MACHINE, false);
	check_closed_unmade(KUSTOS_ECLOSED);
}
END_TEST

START_TEST(L05_a_creation_that_a_close_ends_while_it_is_looked_for_is_undone)
{
	create(kinds[_i], KUSTOS_FOREVER);
	run_until_made();
	lose_answer();
	ck_assert_int_eq(end, -1);
	close_start();
	check_closed_unmade(KUSTOS_ECLOSED);
}
END_TEST

/* A node whose name the caller knows is left to the caller. */
START_TEST(L05_a_creation_given_up_by_name_is_not_undone)
{
	create(0, KUSTOS_FOREVER);
	run_ms(WAY_MS / 2);
	kustos_cancel_fire(cancel);
	run_ms(5000);
	ck_assert_int_eq(end, KUSTOS_ECANCELED);
	ck_assert_int_eq(made(), 1);
}
END_TEST

static void joined(void *arg, enum kustos_err err)
{
	(void)arg;
	end = (int)err;
}

/* Otherwise those who wait would learn of its death only when the session
   ends. */
START_TEST(L05_who_has_given_up_to_join_is_not_alive)
{
	struct kustos_countdown *countdown;

	ck_assert_int_eq(
		kustos_countdown_create(client, DIR, 1, NULL, &countdown),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_countdown_join_async(countdown, "one",
				 KUSTOS_FOREVER, cancel, joined, NULL),
		KUSTOS_OK);
	run_until_made();
	kustos_cancel_fire(cancel);
	run_ms(1);
	check_unmade(KUSTOS_ECANCELED);
	kustos_countdown_destroy(countdown);
}
END_TEST

/* Run a test with each kind of creation. */
#define ADD(tcase, test) tcase_add_loop_test(tcase, test, 0, KINDS)

static void add_once(TCase *once)
{
	tcase_add_checked_fixture(once, setup_once, teardown);
	ADD(once, L05_a_creation_that_is_not_tried_again_is_undone);
	ADD(once, L05_a_creation_given_up_whose_answer_is_lost_then_is_undone);
}

int main(void)
{
	Suite *s = suite_create("creations given up in the simulator");
	TCase *t = tcase_create("given up");
	TCase *once = tcase_create("not tried again");

	tcase_add_checked_fixture(t, setup, teardown);
	ADD(t, L05_a_creation_given_up_on_its_way_is_undone);
	ADD(t, L05_a_creation_that_was_not_sent_leaves_nothing_to_be_undone);
	ADD(t, L05_a_creation_given_up_at_its_deadline_is_undone);
	ADD(t, L05_a_creation_given_up_while_its_node_is_looked_for_is_undone);
	ADD(t, L05_a_creation_given_up_that_may_not_be_looked_for_is_told_of);
	tcase_add_test(t,
		L05_a_place_in_a_line_that_may_not_be_looked_for_is_told_of);
	ADD(t, L05_a_creation_given_up_that_may_not_be_deleted_is_told_of);
	ADD(t, L05_a_creation_given_up_is_undone_beside_others);
	ADD(t, L05_a_creation_given_up_that_may_not_be_seen_is_undone);
	ADD(t, S06_a_creation_that_is_found_and_may_not_be_seen_is_made_anew);
	ADD(t, L05_a_creation_given_up_is_undone_by_the_next_session);
	ADD(t, L05_a_creation_that_is_tried_at_once_or_not_is_undone);
	ADD(t, L05_of_a_creation_given_up_no_parents_are_made);
	ADD(t, L05_a_close_waits_until_what_was_given_up_is_undone);
	ADD(t, L05_a_creation_given_up_while_its_client_closes_is_undone);
	ADD(t, L05_a_creation_whose_answer_a_close_loses_is_undone);
	ADD(t, L05_a_creation_that_a_close_ends_while_it_is_looked_for_is_undone);
	tcase_add_test(t, L05_a_creation_given_up_by_name_is_not_undone);
	tcase_add_test(t, L05_who_has_given_up_to_join_is_not_alive);
	suite_add_tcase(s, t);
	add_once(once);
	suite_add_tcase(s, once);
	return unit_main(s);
}
