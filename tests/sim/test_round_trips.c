/*
 * test_round_trips.c - how many round trips a lock, or the lead of an election,
 * takes where nobody else is; and where others are, how many it takes to stand
 * in line with everything watched.  The creation and the listing leave at the
 * same time, in one flight.  (The same of a semaphore, and on a real server:
 * tests/integration/test_semaphore_cost.c.)
 */
#include "lone_line.h"

#include "../unit/unit.h"

#include <kustos/election.h>
#include <kustos/mutex.h>
#include <kustos/node.h>
#include <kustos/rwlock.h>
#include <string.h>

#define WAY_MS 50
#define TRIP_MS (2 * WAY_MS)

/* What is sent about the line, and when. */
static struct {
	int creations, listings, watches;
	int64_t created_ns, listed_ns, watched_ns; /* the last of each */
} sent;

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (request->kind == KU_ZK_CREATE) {
		sent.creations++;
		sent.created_ns = lone.bench.sched.now_ns;
	} else if (request->kind == KU_ZK_CHILDREN) {
		sent.listings++;
		sent.listed_ns = lone.bench.sched.now_ns;
	} else if (request->kind == KU_ZK_GET && request->watch) {
		sent.watches++;
		sent.watched_ns = lone.bench.sched.now_ns;
	}
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void set_up(void)
{
	static struct ku_zk_api api;

	api = ku_zk_sim;
	api.submit = submit_it;
	lone.raw = lone_setup(&lone.bench, WAY_MS);
	lone_make(&lone.bench, lone.raw, LINE);
	lone.client = lone_connected(&lone.bench, &api);
	memset(&sent, 0, sizeof(sent));
	lone.hold = NULL;
}

static void tear_down(void)
{
	lone_teardown(&lone.bench, lone.client);
}

/* --- What can be waited for in a line ------------------------------------- */

static bool got; /* what was asked for */

/* Give back the hold of a lock, if there is one. */
static void give(void)
{
	if (lone.hold != NULL)
		ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_OK);
	lone.hold = NULL;
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	(void)arg;
	if (err == KUSTOS_ECLOSED)
		return; /* it was dropped */
	ck_assert_int_eq(err, KUSTOS_OK);
	ck_assert_ptr_nonnull(hold);
	lone.hold = hold;
	got = true;
}

static void ask_mutex(void)
{
	ck_assert_int_eq(
		kustos_mutex_create(lone.client, LINE, NULL, &lone.mutex),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_mutex_acquire_async(lone.mutex, KUSTOS_FOREVER,
				 NULL, granted, NULL),
		KUSTOS_OK);
}

static void drop_mutex(void)
{
	give();
	kustos_mutex_destroy(lone.mutex);
}

static struct kustos_rwlock *rwlock;

static void ask_side(enum kustos_side side)
{
	ck_assert_int_eq(kustos_rwlock_create(lone.client, LINE, NULL, &rwlock),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_rwlock_acquire_async(rwlock, side,
				 KUSTOS_FOREVER, NULL, granted, NULL),
		KUSTOS_OK);
}

static void ask_to_read(void)
{
	ask_side(KUSTOS_READ);
}

static void ask_to_write(void)
{
	ask_side(KUSTOS_WRITE);
}

static void drop_rwlock(void)
{
	give();
	kustos_rwlock_destroy(rwlock);
}

static struct kustos_latch *latch;

static void gained(void *arg, struct kustos_latch *one,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)one;
	(void)hold;
	got = true;
}

static void ask_to_lead(void)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

	o.on_gained = gained;
	ck_assert_int_eq(kustos_latch_create(lone.client, LINE, &o, &latch),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_latch_start(latch), KUSTOS_OK);
}

static void drop_latch(void)
{
	kustos_latch_destroy(latch);
}

static const struct kind {
	const char *rival; /* the path of its node, up to the number */
	void (*ask)(void);
	void (*drop)(void);
	int watches; /* with two rivals before it */
} kinds[] = {
	{ LINE "/lock-", ask_mutex, drop_mutex, 3 },
	{ LINE "/__WRIT__", ask_to_read, drop_rwlock, 3 },
	{ LINE "/__WRIT__", ask_to_write, drop_rwlock, 2 }, /* as it lists */
	{ LINE "/x-latch-", ask_to_lead, drop_latch, 3 },
};

#define KINDS ((int)UNIT_COUNT(kinds))

/* Run the client until "*done", and return how many round trips that took,
   with the client's own time rounded off. */
static int trips_until(const bool *done)
{
	int ms = 0;

	for (; ms < 10 * TRIP_MS && !*done; ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	return (ms + WAY_MS / 2) / TRIP_MS;
}

static void created(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)result;
	ck_assert_int_eq(err, KUSTOS_OK);
	*(bool *)arg = true;
}

/* The measure: whatever is created alone takes one. */
START_TEST(a_creation_is_one_round_trip)
{
	bool done = false;

	ck_assert_int_eq(kustos_create_async(lone.client, "/one", NULL, 0, 0,
				 KUSTOS_FOREVER, NULL, created, &done),
		KUSTOS_OK);
	ck_assert_int_eq(trips_until(&done), 1);
	ck_assert(done);
}
END_TEST

/* A creation and a listing were sent, both at that time. */
static void check_flight(int64_t at_ns)
{
	ck_assert_int_eq(sent.creations, 1);
	ck_assert_int_eq(sent.listings, 1);
	ck_assert(sent.created_ns == at_ns);
	ck_assert(sent.listed_ns == at_ns);
}

START_TEST(where_nobody_is_it_is_one_round_trip)
{
	int64_t began_ns = lone.bench.sched.now_ns;

	got = false;
	kinds[_i].ask();
	ck_assert_int_eq(trips_until(&got), 1);
	ck_assert(got);
	check_flight(began_ns);
	kinds[_i].drop();
}
END_TEST

START_TEST(where_others_are_all_is_watched_after_one_round_trip)
{
	int64_t began_ns;

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(bench_create(&lone.bench, lone.raw,
					 kinds[_i].rival, "",
					 KU_ZK_EPHEMERAL_SEQUENTIAL)
					 .rc,
			KU_ZK_OK);
	began_ns = lone.bench.sched.now_ns;
	got = false;
	kinds[_i].ask();
	lone_run_ms(&lone.bench, lone.client, 10 * TRIP_MS);
	ck_assert(!got);
	check_flight(began_ns);
	ck_assert_int_eq(sent.watches, kinds[_i].watches);
	ck_assert_int_eq((sent.watched_ns - began_ns) / KU_NS_PER_MS / TRIP_MS,
		1);
	kinds[_i].drop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("round trips in the simulator");
	TCase *t = tcase_create("round trips");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, a_creation_is_one_round_trip);
	tcase_add_loop_test(t, where_nobody_is_it_is_one_round_trip, 0, KINDS);
	tcase_add_loop_test(t,
		where_others_are_all_is_watched_after_one_round_trip, 0, KINDS);
	suite_add_tcase(s, t);
	return unit_main(s);
}
