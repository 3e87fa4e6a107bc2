/*
 * test_number.c - the number of leases is in a node: how its changes affect
 * those who wait, what is logged about it, and how it is stored.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/cancel.h>
#include <kustos/semaphore.h>
#include <string.h>

#define SEM "/sem"
#define LEASES SEM "/leases"
#define NUMBER "/number"
/* How long each message between a client and its server takes. */
#define WAY_MS 10

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct kustos_semaphore *sem;
static struct kustos_hold *hold;
static int ended;    /* -1: not yet */
static int reads;    /* number of reads of NUMBER */
static int listings; /* number of listings */
static int logged;   /* log lines that there is no number */
static int cuts;     /* kind of request that breaks the connection; -1: none */

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool number = request->path != NULL &&
		strcmp(request->path, NUMBER) == 0;

	reads += number && request->kind == KU_ZK_GET;
	listings += request->kind == KU_ZK_CHILDREN;
	if (number && (int)request->kind == cuts)
		model_cut(bench.model, LONE_MACHINE, true);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void take_line(void *arg, enum kustos_log_level level, const char *line)
{
	(void)arg;
	(void)level;
	logged += strstr(line, "no lease is granted") != NULL;
}

/* Have the rival write NUMBER: "len" bytes, all zero but the last.  -1: delete
   it. */
static void send(enum ku_zk_kind kind, int len, int last)
{
	char data[8] = { 0 };

	data[len > 0 ? len - 1 : 0] = (char)last;
	const struct ku_zk_request request = { .kind = kind,
		.path = NUMBER,
		.data = len < 0 ? NULL : data,
		.len = len };

	lone_send(&bench, raw, &request);
}

static void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *got)
{
	(void)arg;
	ended = (int)err;
	hold = got;
}

/* Set up a semaphore with one lease, which another client has. */
static void setup(void)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	raw = lone_setup(&bench, WAY_MS);
	logged = reads = listings = 0;
	cuts = ended = -1;
	hold = NULL;
	send(KU_ZK_CREATE, 4, 1);
	bench_create(&bench, raw, SEM, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, LEASES, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, LEASES "/x-lease-0000000000", "",
		KU_ZK_EPHEMERAL);
	api = ku_zk_sim;
	api.submit = submit_it;
	options.log = take_line;
	client = lone_connected_with(&bench, &api, 1, &options);
	o.max_path = NUMBER;
	ck_assert_int_eq(kustos_semaphore_create(client, SEM, &o, &sem),
		KUSTOS_OK);
}

static void teardown(void)
{
	if (hold != NULL)
		ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	kustos_semaphore_destroy(sem);
	run_ms(1000);
	ck_assert_ptr_null(client->witnesses.first);
	lone_teardown(&bench, client);
}

static void ask(void)
{
	ck_assert_int_eq(kustos_semaphore_acquire_async(sem, KUSTOS_FOREVER,
				 NULL, granted, NULL),
		KUSTOS_OK);
	run_ms(1000);
	ck_assert_int_eq(ended, -1);
}

/* The number comes while the state is SUSPENDED, and the connection turns out
   to hold. */
START_TEST(L08_a_number_that_comes_while_suspended_is_read_again_at_once)
{
	ask();
	reads = 0;
	send(KU_ZK_SET, 4, 2);
	while (reads == 0)
		run_ms(1);
	ku_session_set_state(client, KUSTOS_STATE_SUSPENDED);
	client->session.greeted = false;
	run_ms(2000);
	ck_assert_int_eq(reads, 2);
	ck_assert_int_eq(ended, KUSTOS_OK);
	ck_assert_uint_eq(client->counters.sessions, 1);
}
END_TEST

/* It is logged once while there is no number, and again after there was one. */
START_TEST(that_there_is_no_number_is_logged_once_each_time)
{
	ask();
	ck_assert_int_eq(logged, 0);
	for (int i = 1; i < 4; i++) {
		send(KU_ZK_SET, 5, 0);
		run_ms(1000);
		ck_assert_int_eq(logged, i);
		ck_assert_int_eq(kustos_semaphore_max(sem), -1);
		send(KU_ZK_SET, 3, 0);
		run_ms(1000);
		ck_assert_int_eq(logged, i);
		send(KU_ZK_SET, 4, 0);
		run_ms(1000);
		ck_assert_int_eq(kustos_semaphore_max(sem), 0);
	}
	send(KU_ZK_DELETE, -1, 0);
	run_ms(1000);
	ck_assert_int_eq(logged, 4);
	send(KU_ZK_CREATE, 4, 2);
	run_ms(1000);
	ck_assert_int_eq(ended, KUSTOS_OK);
	ck_assert_int_eq(logged, 4);
}
END_TEST

START_TEST(a_number_that_is_too_large_for_one_is_nobodys)
{
	const struct ku_zk_request large = { .kind = KU_ZK_SET,
		.path = NUMBER,
		.data = "\x80\0\0\1",
		.len = 4 };

	ask();
	lone_send(&bench, raw, &large);
	run_ms(1000);
	ck_assert_int_eq(kustos_semaphore_max(sem), 0);
	ck_assert_int_eq(logged, 0);
	ck_assert_int_eq(ended, -1);
}
END_TEST

/* It cannot be the waiter's turn. */
START_TEST(L28_who_waits_does_not_look_when_there_is_room_for_nobody)
{
	ask();
	listings = 0;
	send(KU_ZK_SET, 4, 0);
	run_ms(1000);
	ck_assert_int_eq(kustos_semaphore_max(sem), 0);
	ck_assert_int_eq(listings, 0);
	send(KU_ZK_SET, 4, 2);
	run_ms(1000);
	ck_assert_int_eq(ended, KUSTOS_OK);
}
END_TEST

static void was_set(void *arg, enum kustos_err err)
{
	(void)arg;
	ended = (int)err;
}

/* The node exists; or it has to be made, which takes two requests. */
START_TEST(L20_who_stores_a_number_without_a_connection_may_give_up)
{
	bool missing = _i % 2 != 0, cancels = _i / 2 != 0;
	struct kustos_cancel *cancel = NULL;

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	if (missing)
		send(KU_ZK_DELETE, -1, 0);
	run_ms(1000);
	cuts = missing ? KU_ZK_CREATE : KU_ZK_SET;
	ck_assert_int_eq(kustos_semaphore_set_max_async(sem, 7,
				 cancels ? KUSTOS_FOREVER
					 : bench.sched.now_ns + KU_NS_PER_S,
				 cancel, was_set, NULL),
		KUSTOS_OK);
	run_ms(500);
	ck_assert_int_eq(ended, -1);
	if (cancels)
		kustos_cancel_fire(cancel);
	run_ms(cancels ? 100 : 1000);
	ck_assert_int_eq(ended, cancels ? KUSTOS_ECANCELED : KUSTOS_ETIMEDOUT);
	kustos_cancel_destroy(cancel);
}
END_TEST

START_TEST(a_number_is_made_with_its_parents)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_semaphore *other;

	o.max_path = "/a/b/number";
	ck_assert_int_eq(kustos_semaphore_create(client, SEM, &o, &other),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_semaphore_set_max_async(other, 7,
				 KUSTOS_FOREVER, NULL, was_set, NULL),
		KUSTOS_OK);
	run_ms(1000);
	ck_assert_int_eq(ended, KUSTOS_OK);
	ck_assert(model_stat(bench.model, o.max_path, NULL));
	kustos_semaphore_destroy(other);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("a number of leases in the simulator");
	TCase *t = tcase_create("the number");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		L08_a_number_that_comes_while_suspended_is_read_again_at_once);
	tcase_add_test(t, that_there_is_no_number_is_logged_once_each_time);
	tcase_add_test(t, a_number_that_is_too_large_for_one_is_nobodys);
	tcase_add_test(t,
		L28_who_waits_does_not_look_when_there_is_room_for_nobody);
	tcase_add_test(t, a_number_is_made_with_its_parents);
	tcase_add_loop_test(t,
		L20_who_stores_a_number_without_a_connection_may_give_up, 0, 4);
	suite_add_tcase(s, t);
	return unit_main(s);
}
