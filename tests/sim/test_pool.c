/*
 * test_pool.c - leases whose number is in a node, which changes at the very
 * moment at which they are asked for.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/cancel.h>
#include <kustos/participant.h>
#include <kustos/semaphore.h>
#include <string.h>

#define SEM "/sem"
#define LEASES SEM "/leases"
#define NUMBER "/number"
#define LOCKS SEM "/locks"
/* How long each message between a client and its server takes. */
#define WAY_MS 10
/* After a reconnect clients look again within this time; and the number of
   reconnects. */
#define SPREAD_MS (LONE_TIMEOUT_MS / 10)
#define CUTS 10

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer that counts */
static struct kustos_client *client;
static struct kustos_semaphore *sem;
static struct kustos_hold *hold;
static int ended; /* -1: not yet */

/* How often something was requested, and when for the last time. */
static struct asked {
	int times;
	int64_t last_ns;
} numbers, listings, leases;

static void count(struct asked *asked)
{
	asked->times++;
	asked->last_ns = bench.sched.now_ns;
}

/* Have the rival write NUMBER; do not wait for that. */
static void send(enum ku_zk_kind kind, char number)
{
	const char data[4] = { 0, 0, 0, number };
	const struct ku_zk_request request = { .kind = kind,
		.path = NUMBER,
		.data = kind == KU_ZK_DELETE ? NULL : data,
		.len = kind == KU_ZK_DELETE ? -1 : (int)sizeof(data) };

	lone_send(&bench, raw, &request);
}

static bool beaten; /* another creates NUMBER first */
static bool denied; /* no place in the line may be made */

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (request->kind == KU_ZK_GET && strcmp(request->path, NUMBER) == 0)
		count(&numbers);
	if (beaten && request->kind == KU_ZK_CREATE &&
		strcmp(request->path, NUMBER) == 0)
		send(KU_ZK_CREATE, 2);
	if (denied && request->kind == KU_ZK_CREATE &&
		strncmp(request->path, LOCKS "/", strlen(LOCKS "/")) == 0)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	if (request->kind == KU_ZK_CHILDREN &&
		strcmp(request->path, LEASES) == 0)
		count(&listings);
	if (request->kind == KU_ZK_CREATE &&
		strncmp(request->path, LEASES "/", strlen(LEASES "/")) == 0)
		count(&leases);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *got)
{
	(void)arg;
	ended = (int)err;
	hold = got;
}

static void ask(void)
{
	ended = -1;
	ck_assert_int_eq(kustos_semaphore_acquire_async(sem, KUSTOS_FOREVER,
				 NULL, granted, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, -1);
}

static void try_it(void)
{
	ended = -1;
	ck_assert_int_eq(kustos_semaphore_acquire_async(sem, KUSTOS_NOW, NULL,
				 granted, NULL),
		KUSTOS_OK);
}

static void setup(void)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	raw = lone_setup(&bench, WAY_MS);
	beaten = denied = false;
	send(KU_ZK_CREATE, 1);
	/* These nodes stay, so that all leases take the same time. */
	bench_create(&bench, raw, SEM, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, LEASES, "", KU_ZK_PERSISTENT);
	api = ku_zk_sim;
	api.submit = submit_it;
	client = lone_connected(&bench, &api);
	o.max_path = NUMBER;
	ck_assert_int_eq(kustos_semaphore_create(client, SEM, &o, &sem),
		KUSTOS_OK);
	try_it();
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
}

static void teardown(void)
{
	kustos_semaphore_destroy(sem);
	lone_run_ms(&bench, client, 1000);
	lone_teardown(&bench, client);
}

/* The event comes before the listing's answer, and the number behind it. */
START_TEST(who_does_not_wait_goes_by_the_number_that_is_on_its_way)
{
	static const struct {
		enum ku_zk_kind kind;
		char number;
		enum kustos_err err;
	} cases[] = {
		{ KU_ZK_SET, 1, KUSTOS_OK },
		{ KU_ZK_SET, 2, KUSTOS_OK },
		{ KU_ZK_SET, 0, KUSTOS_EBUSY },
		{ KU_ZK_DELETE, 0, KUSTOS_EBUSY },
	};

	send(cases[_i].kind, cases[_i].number);
	lone_run_ms(&bench, client, WAY_MS / 2);
	try_it();
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, cases[_i].err);
	if (ended == KUSTOS_OK)
		ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(model_child_count(bench.model, LEASES), 0);
}
END_TEST

/* It does not wait for a connection on which the number could be read. */
START_TEST(L20_who_does_not_wait_ends_though_the_number_is_not_read)
{
	send(KU_ZK_SET, 2);
	lone_run_ms(&bench, client, WAY_MS / 2);
	try_it();
	lone_run_ms(&bench, client, 2 * WAY_MS + WAY_MS / 2);
	ck_assert_int_eq(ended, -1);
	model_cut(bench.model, LONE_MACHINE, true);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, KUSTOS_EDISCONNECTED);
	lone_run_ms(&bench, client, 5000);
	ck_assert_int_eq(model_child_count(bench.model, LEASES), 0);
}
END_TEST

/* End the session's lease, until the next greeting. */
static void end_lease(void)
{
	ku_session_set_state(client, KUSTOS_STATE_LOST);
	client->session.greeted = false;
}

/* Others have lowered the number, and the lease that was in the way goes.  Our
   lease may have ended before that, with the number read before, or its answer
   still under way. */
START_TEST(L08_a_number_of_which_no_watch_was_set_again_is_not_gone_by)
{
	const char *lease = LEASES "/x-lease-0000000000";

	bench_create(&bench, raw, lease, "", KU_ZK_EPHEMERAL);
	ask();
	if (_i == 2) {
		numbers.times = 0;
		send(KU_ZK_SET, 1);
		while (numbers.times == 0)
			lone_run_ms(&bench, client, 1);
	}
	if (_i > 0) {
		end_lease();
		lone_run_ms(&bench, client, 3 * WAY_MS);
	}
	model_set_odd_faults(bench.model, 1000000, 0);
	model_cut(bench.model, LONE_MACHINE, false);
	send(KU_ZK_SET, 0);
	lone_run_ms(&bench, client, 1000);
	bench_delete(&bench, raw, lease, -1);
	lone_run_ms(&bench, client, 62000);
	ck_assert_int_eq(ended, -1);
	send(KU_ZK_SET, 1);
	lone_run_ms(&bench, client, 140000);
	ck_assert_int_eq(ended, KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
}
END_TEST

/* Break the connection, and run until there is another. */
static void reconnect(void)
{
	model_cut(bench.model, LONE_MACHINE, false);
	while (ku_session_ready(client))
		lone_run_ms(&bench, client, 1);
	numbers.times = listings.times = 0;
	while (!ku_session_ready(client))
		lone_run_ms(&bench, client, 1);
}

/* Many clients must not all read it at once; it is read when the leases are
   listed. */
START_TEST(L28_after_a_reconnect_a_shared_number_is_read_in_a_while)
{
	const char *lease = LEASES "/x-lease-0000000000";
	int64_t waited_ns = 0;

	bench_create(&bench, raw, lease, "", KU_ZK_EPHEMERAL);
	ask();
	for (int i = 0; i < CUTS; i++) {
		reconnect();
		int64_t since_ns = bench.sched.now_ns;
		lone_run_ms(&bench, client, SPREAD_MS + 10 * WAY_MS);
		ck_assert_int_eq(numbers.times, 1);
		ck_assert_int_eq(listings.times, 1);
		ck_assert_int_eq(numbers.last_ns, listings.last_ns);
		waited_ns += numbers.last_ns - since_ns;
	}
	ck_assert_int_gt(waited_ns, CUTS * SPREAD_MS / 4 * KU_NS_PER_MS);
	ck_assert_uint_eq(client->counters.sessions, 1);
	ck_assert_int_eq(ended, -1);

	/* A try meanwhile does not wait for that. */
	reconnect();
	try_it();
	ck_assert_int_eq(numbers.times, 1);
	lone_run_ms(&bench, client, 3 * WAY_MS);
	ck_assert_int_eq(ended, KUSTOS_EBUSY);
	bench_delete(&bench, raw, lease, -1);
	lone_run_ms(&bench, client, SPREAD_MS + 10 * WAY_MS);
	ck_assert_int_eq(ended, KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
}
END_TEST

/* Only the first in line needs the number. */
START_TEST(L28_after_a_reconnect_who_stands_in_line_does_not_read_it)
{
	bench_create(&bench, raw, LOCKS, "", KU_ZK_PERSISTENT);
	struct bench_reply rival = bench_create(&bench, raw, LOCKS "/lock-", "",
		KU_ZK_EPHEMERAL_SEQUENTIAL);
	const char *lease = LEASES "/x-lease-0000000000";

	bench_create(&bench, raw, lease, "", KU_ZK_EPHEMERAL);
	ask();
	for (int i = 0; i < CUTS; i++) {
		reconnect();
		lone_run_ms(&bench, client, SPREAD_MS + 10 * WAY_MS);
		ck_assert_int_eq(numbers.times, 0);
		ck_assert_int_eq(listings.times, 0);
	}
	bench_delete(&bench, raw, lease, -1);
	ck_assert_int_eq(ended, -1);
	bench_delete(&bench, raw, rival.path, -1);
	lone_run_ms(&bench, client, 5 * WAY_MS);
	ck_assert_int_eq(numbers.times, 1);
	ck_assert_int_eq(ended, KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
}
END_TEST

/* After others had to wait, a new call most likely has to wait as well. */
START_TEST(L28_after_who_gave_up_waiting_nobody_tries)
{
	bench_create(&bench, raw, LOCKS, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, LOCKS "/lock-", "",
		KU_ZK_EPHEMERAL_SEQUENTIAL);
	bench_create(&bench, raw, LEASES "/x-lease-0000000000", "",
		KU_ZK_EPHEMERAL);
	leases.times = 0;
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(kustos_semaphore_acquire_async(sem,
					 bench.sched.now_ns + KU_NS_PER_S, NULL,
					 granted, NULL),
			KUSTOS_OK);
		lone_run_ms(&bench, client, 2000);
		ck_assert_int_eq(ended, KUSTOS_ETIMEDOUT);
		ck_assert_int_eq(leases.times, 1);
	}
}
END_TEST

/* Each call makes only the lease that it is granted. */
START_TEST(L28_who_comes_behind_others_of_ours_does_not_try)
{
	leases.times = 0;
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(kustos_semaphore_acquire_async(sem,
					 KUSTOS_FOREVER, NULL, granted, NULL),
			KUSTOS_OK);
	for (int i = 0; i < 2; i++) {
		ended = -1;
		lone_run_ms(&bench, client, 1000);
		ck_assert_int_eq(ended, KUSTOS_OK);
		ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	}
	ck_assert_int_eq(leases.times, 2);
}
END_TEST

static void see(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	(void)first;
	ck_assert_int_eq(err, KUSTOS_OK);
}

static void observe(struct kustos_observer **observer)
{
	ck_assert_int_eq(kustos_observe(client, LEASES, see, NULL, observer),
		KUSTOS_OK);
}

/* Two observers watch leases that nobody has; one of them has just sent its
   watch.  The leases change, and the other's watch fires.  A place then lists
   behind both.  The first observer ends, and removes its watch at the server,
   though the place needs it. */
START_TEST(L08_a_watch_taken_off_behind_a_listing_is_not_gone_by)
{
	const char *foreign[] = { LEASES "/x", LEASES "/y" };
	const struct ku_zk_request create = { .kind = KU_ZK_CREATE,
		.path = foreign[1],
		.data = "",
		.version = -1,
		.acl = &bench_acl,
		.acl_count = 1 };
	static struct bench_reply made;
	struct kustos_observer *observers[2];
	struct kustos_cancel *cancel;

	/* After a call that waited, the next one does not try. */
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	bench_create(&bench, raw, LOCKS, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, foreign[0], "", KU_ZK_PERSISTENT);
	ended = -1;
	ck_assert_int_eq(kustos_semaphore_acquire_async(sem, KUSTOS_FOREVER,
				 cancel, granted, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	kustos_cancel_fire(cancel);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, KUSTOS_ECANCELED);
	kustos_cancel_destroy(cancel);

	observe(&observers[0]);
	lone_run_ms(&bench, client, 1000);
	observe(&observers[1]);
	lone_run_ms(&bench, client, WAY_MS / 2);
	ended = -1;
	ck_assert_int_eq(kustos_semaphore_acquire_async(sem, KUSTOS_FOREVER,
				 NULL, granted, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, WAY_MS);
	listings.times = 0;
	ck_assert_int_eq(bench_send(&bench, raw, &create, &made), KU_ZK_OK);
	lone_run_ms(&bench, client, 3 * WAY_MS / 2);
	ck_assert_int_eq(listings.times, 2);
	while (!made.done)
		lone_run_ms(&bench, client, 1);
	kustos_observer_destroy(observers[1]);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, -1);
	for (int i = 0; i < 2; i++)
		bench_delete(&bench, raw, foreign[i], -1);
	lone_run_ms(&bench, client, 2000);
	ck_assert_int_eq(ended, KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	kustos_observer_destroy(observers[0]);
}
END_TEST

/* Others may set it as often as they like.  A call that could not begin, as the
   session has too many nodes, does not wait, either. */
START_TEST(L28_a_number_for_which_nobody_waits_is_not_read)
{
	if (_i == 1) {
		client->footprint.ephemeral_bytes += KU_FOOTPRINT_LIMIT;
		ck_assert_int_eq(kustos_semaphore_acquire_async(sem,
					 KUSTOS_FOREVER, NULL, granted, NULL),
			KUSTOS_ELIMIT);
		client->footprint.ephemeral_bytes -= KU_FOOTPRINT_LIMIT;
		lone_run_ms(&bench, client, 1000);
	}
	numbers.times = 0;
	for (char number = 2; number < 5; number++) {
		send(KU_ZK_SET, number);
		lone_run_ms(&bench, client, 1000);
	}
	ck_assert_int_eq(numbers.times, 0);
	try_it();
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, KUSTOS_OK);
	ck_assert_int_eq(kustos_semaphore_max(sem), 4);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
}
END_TEST

static void was_set(void *arg, enum kustos_err err)
{
	(void)arg;
	ended = (int)err;
}

START_TEST(who_is_beaten_to_making_the_number_stores_its_own_all_the_same)
{
	send(KU_ZK_DELETE, 0);
	lone_run_ms(&bench, client, 1000);
	beaten = true;
	ended = -1;
	ck_assert_int_eq(kustos_semaphore_set_max_async(sem, 7, KUSTOS_FOREVER,
				 NULL, was_set, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, KUSTOS_OK);
	try_it();
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, KUSTOS_OK);
	ck_assert_int_eq(kustos_semaphore_max(sem), 7);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
}
END_TEST

/* There is no free lease, and the client may not stand in line for one. */
START_TEST(who_may_not_stand_in_line_is_told)
{
	lone_make(&bench, raw, LEASES "/other");
	denied = true;
	ended = -1;
	ck_assert_int_eq(kustos_semaphore_acquire_async(sem, KUSTOS_FOREVER,
				 NULL, granted, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, KUSTOS_ENOAUTH);
	ck_assert_int_eq(model_child_count(bench.model, LEASES), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pools in the simulator");
	TCase *t = tcase_create("in one moment");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		who_does_not_wait_goes_by_the_number_that_is_on_its_way, 0, 4);
	tcase_add_test(t,
		L20_who_does_not_wait_ends_though_the_number_is_not_read);
	tcase_add_loop_test(t,
		L08_a_number_of_which_no_watch_was_set_again_is_not_gone_by, 0,
		3);
	tcase_add_test(t,
		L28_after_a_reconnect_a_shared_number_is_read_in_a_while);
	tcase_add_test(t,
		L28_after_a_reconnect_who_stands_in_line_does_not_read_it);
	tcase_add_test(t, L28_after_who_gave_up_waiting_nobody_tries);
	tcase_add_test(t, L28_who_comes_behind_others_of_ours_does_not_try);
	tcase_add_test(t,
		L08_a_watch_taken_off_behind_a_listing_is_not_gone_by);
	tcase_add_loop_test(t, L28_a_number_for_which_nobody_waits_is_not_read,
		0, 2);
	tcase_add_test(t,
		who_is_beaten_to_making_the_number_stores_its_own_all_the_same);
	tcase_add_test(t, who_may_not_stand_in_line_is_told);
	suite_add_tcase(s, t);
	return unit_main(s);
}
