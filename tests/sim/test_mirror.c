/* test_mirror.c - objects that read and watch the same node: what happens to a
   watch while reads are under way, or when an object ends. */
#include "lone.h"
#include "model_impl.h"

#include "../unit/unit.h"
#include "queue.h"

#include <kustos/barrier.h>
#include <kustos/cancel.h>
#include <kustos/simple.h>
#include <stdio.h>

#define PATH "/barrier"
/* How long each message between a client and its server takes. */
#define WAY_MS 10

static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct kustos_barrier *barriers[2]; /* both on PATH */

/* Store the result of a wait, which was -1. */
static void ended(void *arg, enum kustos_err err)
{
	*(int *)arg = (int)err;
}

static void wait_at(struct kustos_barrier *barrier, kustos_deadline deadline,
	struct kustos_cancel *cancel, int *end)
{
	*end = -1;
	ck_assert_int_eq(kustos_barrier_wait_async(barrier, deadline, cancel,
				 ended, end),
		KUSTOS_OK);
}

static void setup(void)
{
	raw = lone_setup(&bench, WAY_MS);
	ck_assert_int_eq(
		bench_create(&bench, raw, PATH, "", KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
	client = lone_connected(&bench, &ku_zk_sim);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(
			kustos_barrier_create(client, PATH, NULL, &barriers[i]),
			KUSTOS_OK);
}

static void teardown(void)
{
	for (int i = 0; i < 2; i++)
		kustos_barrier_destroy(barriers[i]);
	lone_teardown(&bench, client);
}

static void drop_node(void)
{
	ck_assert_int_eq(bench_delete(&bench, raw, PATH, -1).rc, KU_ZK_OK);
}

/* No watch may be left, neither in the client nor at the server. */
static void check_no_watch(void)
{
	ck_assert_ptr_null(client->watches.entries);
	ck_assert_uint_eq(bench.model->servers[0].watches.count, 0);
}

/* Have the node changed; return as soon as it is, before any event. */
static void change(void)
{
	const struct ku_zk_request request = { .kind = KU_ZK_SET,
		.path = PATH,
		.data = "x",
		.len = 1 };
	struct kustos_stat stat;

	lone_send(&bench, raw, &request);
	do
		lone_run_ms(&bench, client, 1);
	while (model_stat(bench.model, PATH, &stat) && stat.version == 0);
}

/* The first object's watch fires while a look of it and the read of the second
   are under way.  The look is answered first, and is not wanted any more.  So
   its watch is removed at the server, though the second object needs one. */
START_TEST(L08_a_watch_that_another_takes_off_behind_a_read_is_put_on_again)
{
	struct kustos_cancel *cancel;
	int gone, looked, waits;

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	wait_at(barriers[0], KUSTOS_FOREVER, cancel, &gone);
	lone_run_ms(&bench, client, 100);
	change();
	wait_at(barriers[0], KUSTOS_NOW, NULL, &looked);
	wait_at(barriers[1], KUSTOS_FOREVER, NULL, &waits);
	kustos_cancel_fire(cancel);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(gone, KUSTOS_ECANCELED);
	ck_assert_int_eq(looked, KUSTOS_EBUSY);
	ck_assert_int_eq(waits, -1);

	drop_node();
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(waits, KUSTOS_OK);
	kustos_cancel_destroy(cancel);
}
END_TEST

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	ck_assert_int_eq(err, KUSTOS_OK);
	*(struct kustos_hold **)arg = hold;
}

/* The same with a simple lock as the second object: its try was beaten, and its
   read is under way. */
START_TEST(L08_so_is_that_of_who_waits_for_the_node_to_go)
{
	struct kustos_hold *hold = NULL;
	struct kustos_simple *simple;
	struct kustos_cancel *cancel;
	int gone, looked;

	drop_node();
	bench_create(&bench, raw, PATH, "", KU_ZK_EPHEMERAL);
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	ck_assert_int_eq(kustos_simple_create(client, PATH, NULL, &simple),
		KUSTOS_OK);
	wait_at(barriers[0], KUSTOS_FOREVER, cancel, &gone);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(kustos_simple_acquire_async(simple, KUSTOS_FOREVER,
				 NULL, granted, &hold),
		KUSTOS_OK);
	lone_run_ms(&bench, client, WAY_MS / 2);
	change();
	wait_at(barriers[0], KUSTOS_NOW, NULL, &looked);
	lone_run_ms(&bench, client, WAY_MS * 3 / 4);
	ck_assert_int_eq(looked, -1);
	ck_assert_uint_eq(client->session.handle->in_flight, 2);
	kustos_cancel_fire(cancel);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(gone, KUSTOS_ECANCELED);
	ck_assert_int_eq(looked, KUSTOS_EBUSY);
	ck_assert_ptr_null(hold);

	drop_node();
	lone_run_ms(&bench, client, 3000);
	ck_assert_ptr_nonnull(hold);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	kustos_simple_destroy(simple);
	kustos_cancel_destroy(cancel);
}
END_TEST

/* The first object's watch fires while its look is under way, and then the
   object ends.  The look leaves a watch at the server that no object wants. */
START_TEST(P05_a_watch_that_an_ended_object_leaves_behind_is_taken_off)
{
	int waits, looked;

	wait_at(barriers[0], KUSTOS_FOREVER, NULL, &waits);
	lone_run_ms(&bench, client, 100);
	change();
	wait_at(barriers[0], KUSTOS_NOW, NULL, &looked);
	kustos_barrier_destroy(barriers[0]);
	barriers[0] = NULL;
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(waits, KUSTOS_ECLOSED);
	ck_assert_int_eq(looked, KUSTOS_ECLOSED);
	check_no_watch();
}
END_TEST

/* One request is under way, and the look waits behind it for room, when the
   connection breaks: the look ends with an error. */
START_TEST(who_only_looks_does_not_wait_for_a_connection)
{
	static int before; /* in use until its barrier is destroyed */
	int looked;

	client->env.in_flight = 1;
	wait_at(barriers[1], KUSTOS_FOREVER, NULL, &before);
	wait_at(barriers[0], KUSTOS_NOW, NULL, &looked);
	ck_assert_uint_eq(client->wire.waiting, 1);
	model_hole(bench.model, LONE_MACHINE, 0,
		bench.sched.now_ns + 60 * KU_NS_PER_S);
	model_cut(bench.model, LONE_MACHINE, false);
	lone_run_ms(&bench, client, 10 * WAY_MS);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_SUSPENDED);
	ck_assert_int_eq(before, -1);
	ck_assert_int_eq(looked, KUSTOS_EDISCONNECTED);
	model_hole(bench.model, LONE_MACHINE, 0, 0);
	lone_run_ms(&bench, client, 3000);
}
END_TEST

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct bench_reply deleted;

/* Delete a member just before it is watched. */
static int delete_first(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	const struct ku_zk_request delete = { .kind = KU_ZK_DELETE,
		.path = request->path,
		.version = -1 };

	if (request->kind == KU_ZK_GET && request->watch && !deleted.done)
		ck_assert_int_eq(bench_send(&bench, raw, &delete, &deleted),
			KU_ZK_OK);
	return ku_zk_sim.submit(zk, request, done, arg);
}

/* The call only looks whether all have come, and ends before that is known. */
START_TEST(P05_a_watch_of_a_member_that_is_gone_is_not_kept)
{
	struct kustos_double_barrier *step;
	int entered = -1;

	api = ku_zk_sim;
	api.submit = delete_first;
	client->env.api = &api;
	ck_assert_int_eq(
		kustos_double_barrier_create(client, "/step", 2, NULL, &step),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_double_barrier_enter_async(step, KUSTOS_NOW,
				 NULL, ended, &entered),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(entered, KUSTOS_EBUSY);
	ck_assert(deleted.done);
	ck_assert_int_eq(deleted.rc, KU_ZK_OK);
	check_no_watch();
	kustos_double_barrier_destroy(step);
	client->env.api = &ku_zk_sim;
}
END_TEST

static void send(enum ku_zk_kind kind, const char *path,
	struct bench_reply *reply)
{
	const struct ku_zk_request request = { .kind = kind,
		.path = path,
		.data = "",
		.version = -1,
		.acl = &bench_acl,
		.acl_count = 1 };

	ck_assert_int_eq(bench_send(&bench, raw, &request, reply), KU_ZK_OK);
}

/* The member's node changes, so it looks again, and then it ends.  The watch of
   its first look fires, and the second look leaves another at the server. */
START_TEST(P05_a_watch_that_an_ended_member_leaves_behind_is_taken_off)
{
	struct kustos_double_barrier *step;
	static struct bench_reply set, made;
	char path[80];
	int entered = -1;

	ck_assert_int_eq(
		kustos_double_barrier_create(client, "/step", 2, NULL, &step),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_double_barrier_enter_async(step, KUSTOS_FOREVER,
				 NULL, ended, &entered),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 500);
	ck_assert_uint_eq(bench.model->servers[0].watches.count, 2);
	snprintf(path, sizeof(path), "/step/%s",
		bench_read(&bench, raw, KU_ZK_CHILDREN, "/step", false)
			.names[0]);
	send(KU_ZK_SET, path, &set);
	lone_run_ms(&bench, client, WAY_MS / 2);
	send(KU_ZK_CREATE, "/step/ready", &made);
	while (!set.done)
		lone_run_ms(&bench, client, 1);
	ck_assert(!made.done);
	kustos_double_barrier_destroy(step);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(entered, KUSTOS_ECLOSED);
	ck_assert_int_eq(set.rc, KU_ZK_OK);
	ck_assert_int_eq(made.rc, KU_ZK_OK);
	check_no_watch();
}
END_TEST

static void polled(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	(void)items;
	(void)count;
	*(int *)arg = (int)err;
}

/* A look whether the node exists waits for room to be sent.  It is sent in the
   next session, when the node exists. */
START_TEST(P05_a_watch_of_a_look_that_outlived_its_session_is_taken_off)
{
	static const struct ku_queue_wish wish = { .kind = KU_ITEM_SIMPLE,
		.receipts = "/q-receipts",
		.max_bytes = 1000 };
	static const struct ku_poll_wish poll = { .max = 1,
		.deadline = KUSTOS_FOREVER };
	static int before;
	struct ku_queue *q;
	int end = -1;

	client->env.in_flight = 1;
	ck_assert_int_eq(ku_queue_create(client, "/q", &wish, &q), KUSTOS_OK);
	ck_assert_int_eq(ku_queue_poll_async(q, &poll, polled, &end),
		KUSTOS_OK);
	wait_at(barriers[1], KUSTOS_FOREVER, NULL, &before);
	lone_run_ms(&bench, client, 2 * WAY_MS + WAY_MS / 2);
	ck_assert_uint_eq(client->wire.waiting, 1);
	ck_assert(model_expire(bench.model, LONE_MACHINE));
	ck_assert_int_eq(
		bench_create(&bench, raw, "/q", "", KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
	lone_run_ms(&bench, client, 3000);
	ck_assert_uint_eq(client->counters.sessions, 2);
	ck_assert_int_eq(end, -1);
	ku_queue_destroy(q);
	kustos_barrier_destroy(barriers[1]);
	barriers[1] = NULL;
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(end, KUSTOS_ECLOSED);
	check_no_watch();
}
END_TEST

/* Break the connection while the first object waits and watches. */
static void cut_off_who_waits(struct kustos_cancel *cancels[2], int ends[2])
{
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(kustos_cancel_create(&cancels[i]), KUSTOS_OK);
	wait_at(barriers[0], KUSTOS_FOREVER, cancels[0], &ends[0]);
	lone_run_ms(&bench, client, 100);
	ck_assert_uint_eq(bench.model->servers[0].watches.count, 1);
	model_cut(bench.model, LONE_MACHINE, true);
	while (ku_session_ready(client))
		lone_run_ms(&bench, client, 1);
}

static void connect_again(void)
{
	ck_assert(!ku_session_ready(client));
	lone_run_ms(&bench, client, 1000);
	ck_assert(ku_session_ready(client));
	ck_assert_uint_eq(client->counters.sessions, 1);
}

/* The first object's watch is to be removed, which needs a connection.  A read
   of the second object, which was not sent yet, is given up meanwhile. */
START_TEST(P05_a_watch_that_is_to_be_taken_off_outlives_a_read_given_up)
{
	struct kustos_cancel *cancels[2];
	int ends[2];

	cut_off_who_waits(cancels, ends);
	kustos_cancel_fire(cancels[0]);
	lone_run_ms(&bench, client, 1);
	wait_at(barriers[1], KUSTOS_FOREVER, cancels[1], &ends[1]);
	kustos_cancel_fire(cancels[1]);
	lone_run_ms(&bench, client, 1);
	connect_again();
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ends[i], KUSTOS_ECANCELED);
		kustos_cancel_destroy(cancels[i]);
		kustos_barrier_destroy(barriers[i]);
		barriers[i] = NULL;
	}
	lone_run_ms(&bench, client, 1000);
	ck_assert_uint_eq(client->counters.sessions, 1);
	check_no_watch();
}
END_TEST

/* The same if that read was submitted before the first object gave up: then the
   second object is the last that has the watch, and has not set it. */
START_TEST(P05_a_watch_of_who_gave_up_first_outlives_a_read_given_up)
{
	struct kustos_cancel *cancels[2];
	int ends[2];

	cut_off_who_waits(cancels, ends);
	wait_at(barriers[1], KUSTOS_FOREVER, cancels[1], &ends[1]);
	for (int i = 0; i < 2; i++) {
		kustos_cancel_fire(cancels[i]);
		lone_run_ms(&bench, client, 1);
		ck_assert_int_eq(ends[i], KUSTOS_ECANCELED);
	}
	connect_again();
	check_no_watch();
	for (int i = 0; i < 2; i++)
		kustos_cancel_destroy(cancels[i]);
}
END_TEST

/* The first read finds no node, and is answered when there is one again.  It
   counts only for the wait that began before the read. */
START_TEST(S12_who_comes_while_a_read_is_on_its_way_does_not_go_by_it)
{
	static struct bench_reply made;
	int before, since;

	drop_node();
	wait_at(barriers[0], KUSTOS_FOREVER, NULL, &before);
	lone_run_ms(&bench, client, 1);
	send(KU_ZK_CREATE, PATH, &made);
	while (!model_stat(bench.model, PATH, NULL))
		lone_run_ms(&bench, client, 1);
	ck_assert_int_eq(before, -1);
	wait_at(barriers[0], KUSTOS_FOREVER, NULL, &since);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(before, KUSTOS_OK);
	ck_assert_int_eq(since, -1);
	drop_node();
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(since, KUSTOS_OK);
}
END_TEST

/* Without a watch no event tells of the change. */
START_TEST(L07_who_may_watch_nothing_reads_what_it_waits_for)
{
	int waits;

	client->footprint.watch_bytes += KU_FOOTPRINT_LIMIT;
	wait_at(barriers[0], KUSTOS_FOREVER, NULL, &waits);
	lone_run_ms(&bench, client, 3000);
	ck_assert_int_eq(waits, -1);
	drop_node();
	lone_run_ms(&bench, client, 3000);
	ck_assert_int_eq(waits, KUSTOS_OK);
	client->footprint.watch_bytes -= KU_FOOTPRINT_LIMIT;
}
END_TEST

/* A server with too many requests does not set the watches that a client brings
   along when it reconnects; and libzookeeper_mt does not notice that. */
START_TEST(L08_who_waits_hears_though_no_watch_was_set_again)
{
	int waits, also = KUSTOS_OK;

	wait_at(barriers[0], KUSTOS_FOREVER, NULL, &waits);
	lone_run_ms(&bench, client, 100);
	if (_i == 1) /* this one uses what the first has read */
		wait_at(barriers[0], KUSTOS_FOREVER, NULL, &also);
	model_set_odd_faults(bench.model, 1000000, 0);
	model_cut(bench.model, LONE_MACHINE, false);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(waits, -1);
	drop_node();
	lone_run_ms(&bench, client, 140000);
	ck_assert(waits == KUSTOS_OK && also == KUSTOS_OK);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mirrors in the simulator");
	TCase *t = tcase_create("in one moment");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		L08_a_watch_that_another_takes_off_behind_a_read_is_put_on_again);
	tcase_add_test(t, L08_so_is_that_of_who_waits_for_the_node_to_go);
	tcase_add_test(t,
		P05_a_watch_that_an_ended_object_leaves_behind_is_taken_off);
	tcase_add_test(t, who_only_looks_does_not_wait_for_a_connection);
	tcase_add_test(t, P05_a_watch_of_a_member_that_is_gone_is_not_kept);
	tcase_add_test(t,
		P05_a_watch_that_an_ended_member_leaves_behind_is_taken_off);
	tcase_add_test(t,
		P05_a_watch_of_a_look_that_outlived_its_session_is_taken_off);
	tcase_add_test(t,
		P05_a_watch_that_is_to_be_taken_off_outlives_a_read_given_up);
	tcase_add_test(t,
		P05_a_watch_of_who_gave_up_first_outlives_a_read_given_up);
	tcase_add_test(t,
		S12_who_comes_while_a_read_is_on_its_way_does_not_go_by_it);
	tcase_add_test(t, L07_who_may_watch_nothing_reads_what_it_waits_for);
	tcase_add_loop_test(t,
		L08_who_waits_hears_though_no_watch_was_set_again, 0, 2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
