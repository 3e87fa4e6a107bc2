/*
 * test_bids.c - calls to one semaphore at the same moment: those for which there
 * can be room try together, and nobody passes an earlier call that waits.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/cancel.h>
#include <kustos/semaphore.h>
#include <string.h>

#define SEM "/sem"
#define LEASES SEM "/leases"
#define LOCKS SEM "/locks"
#define NUMBER "/number"
#define ROOM 10
/* How long each message between a client and its server takes. */
#define WAY_MS 10
#define CALLS 10

struct call {
	enum kustos_err err;
	bool ended;
	int nth; /* in the order in which they were granted, from 1 on */
	int count;
	struct kustos_hold *holds[ROOM];
};

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer that counts */
static struct kustos_client *client;
static struct kustos_semaphore *sem;
static struct call calls[CALLS];
static int grants;
static int leases, listings, locks; /* requests */

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool create = request->kind == KU_ZK_CREATE;

	leases += create && strncmp(request->path, LEASES "/", 12) == 0;
	locks += create && strncmp(request->path, LOCKS "/", 11) == 0;
	listings += request->kind == KU_ZK_CHILDREN &&
		strcmp(request->path, LEASES) == 0;
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void granted(void *arg, enum kustos_err err,
	struct kustos_hold *const *holds, int count)
{
	struct call *call = arg;

	ck_assert(!call->ended);
	call->ended = true;
	call->err = err;
	call->count = count;
	if (err != KUSTOS_OK)
		return;
	call->nth = ++grants;
	memcpy(call->holds, holds, (size_t)count * sizeof(*holds));
}

static void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

/* Ask for "count" leases. */
static void ask(struct call *call, int count, struct kustos_cancel *cancel)
{
	memset(call, 0, sizeof(*call));
	ck_assert_int_eq(kustos_semaphore_acquire_many_async(sem, count,
				 KUSTOS_FOREVER, cancel, granted, call),
		KUSTOS_OK);
}

/* It has all its leases: give one of them back. */
static void give_one(struct call *call)
{
	ck_assert(call->ended);
	ck_assert_int_eq(call->err, KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_release(call->holds[--call->count]),
		KUSTOS_OK);
}

static void give(struct call *call)
{
	while (call->count > 0)
		give_one(call);
}

static void set_room(char room)
{
	const char data[4] = { 0, 0, 0, room };
	const struct ku_zk_request request = { .kind = KU_ZK_SET,
		.path = NUMBER,
		.data = data,
		.len = sizeof(data) };

	lone_send(&bench, raw, &request);
	run_ms(100);
}

/* The number is fixed, or in a node. */
static void begin(bool shared)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	o.max = shared ? 0 : ROOM;
	o.max_path = shared ? NUMBER : NULL;
	ck_assert_int_eq(kustos_semaphore_create(client, SEM, &o, &sem),
		KUSTOS_OK);
	ask(&calls[0], 1, NULL);
	run_ms(1000);
	give(&calls[0]);
	run_ms(1000);
	leases = listings = locks = grants = 0;
}

static void setup(void)
{
	const char data[4] = { 0, 0, 0, ROOM };
	const struct ku_zk_request number = { .kind = KU_ZK_CREATE,
		.path = NUMBER,
		.data = data,
		.len = sizeof(data) };

	raw = lone_setup(&bench, WAY_MS);
	lone_send(&bench, raw, &number);
	lone_make(&bench, raw, SEM);
	lone_make(&bench, raw, LEASES);
	lone_make(&bench, raw, LOCKS);
	api = ku_zk_sim;
	api.submit = submit_it;
	client = lone_connected(&bench, &api);
}

static void teardown(void)
{
	run_ms(1000);
	kustos_semaphore_destroy(sem);
	run_ms(1000);
	ck_assert_int_eq(model_child_count(bench.model, LEASES), 0);
	ck_assert_int_eq(model_child_count(bench.model, LOCKS), 0);
	lone_teardown(&bench, client);
}

/* Others have "count" leases, or give them back. */
static void others(int count, bool have)
{
	char path[] = LEASES "/x-lease-0000000000";

	for (int i = 0; i < count; i++) {
		path[sizeof(LEASES)] = (char)('a' + i);
		if (have)
			bench_create(&bench, raw, path, "", KU_ZK_EPHEMERAL);
		else
			bench_delete(&bench, raw, path, -1);
	}
}

static void check_calls(int from, enum kustos_err err)
{
	for (int i = from; i < CALLS; i++) {
		ck_assert(calls[i].ended);
		ck_assert_int_eq(calls[i].err, err);
	}
}

/* Then nobody knows for how many there can be room: one tries.  After a
   reconnect the number is not certain, but was known. */
START_TEST(while_the_number_is_unknown_few_try)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	if (_i == 0) {
		o.max_path = NUMBER;
		ck_assert_int_eq(kustos_semaphore_create(client, SEM, &o, &sem),
			KUSTOS_OK);
	} else {
		set_room(2);
		begin(true);
		int64_t connection = client->session.connection;
		model_cut(bench.model, LONE_MACHINE, true);
		while (client->session.connection == connection ||
			!ku_session_ready(client))
			run_ms(1);
	}
	for (int i = 0; i < CALLS; i++)
		ask(&calls[i], 1, NULL);
	run_ms(WAY_MS);
	ck_assert_int_le(leases, _i == 0 ? 1 : 2);
	for (int i = 0; i < CALLS; i++) {
		run_ms(1000);
		give(&calls[i]);
	}
	check_calls(0, KUSTOS_OK);
}
END_TEST

/* No lock can be made for them. */
START_TEST(those_that_cannot_queue_end_together)
{
	begin(false);
	ask(&calls[0], ROOM, NULL);
	for (int i = 1; i < CALLS; i++)
		ask(&calls[i], 1, NULL);
	client->footprint.asked_bytes += KU_FOOTPRINT_LIMIT;
	run_ms(1000);
	client->footprint.asked_bytes -= KU_FOOTPRINT_LIMIT;
	check_calls(1, KUSTOS_ELIMIT);
	give(&calls[0]);
}
END_TEST

/* The first two have a listing each in the flight of their creations, and the
   rest have one together. */
START_TEST(calls_at_once_take_two_round_trips_while_there_is_room)
{
	begin(_i == 1);
	for (int i = 0; i < CALLS; i++)
		ask(&calls[i], 1, NULL);
	run_ms(2 * WAY_MS + WAY_MS / 2);
	ck_assert_int_ge(grants, 2);
	run_ms(2 * WAY_MS);
	ck_assert_int_eq(grants, CALLS);
	ck_assert_int_eq(leases, CALLS);
	ck_assert_int_eq(listings, 3);
	ck_assert_int_eq(locks, 0);
	for (int i = 0; i < CALLS; i++) {
		ck_assert_int_eq(calls[i].nth, i + 1);
		give(&calls[i]);
	}
}
END_TEST

/* There is room for some.  The others are granted in their order. */
START_TEST(calls_at_once_that_find_no_room_queue_in_their_order)
{
	begin(_i == 1);
	others(ROOM - 4, true);
	for (int i = 0; i < CALLS; i++)
		ask(&calls[i], 1, NULL);
	run_ms(1000);
	ck_assert_int_eq(grants, 4);
	ck_assert_int_eq(locks, CALLS - 4);
	for (int i = 0; i < CALLS; i++) {
		ck_assert_int_eq(calls[i].nth, i + 1);
		give(&calls[i]);
		run_ms(1000);
	}
	others(ROOM - 4, false);
	/* Each has tried, and then waited. */
	ck_assert_int_eq(leases, 2 * CALLS - 4);
}
END_TEST

/* The second finds no room for all that it wants.  When that is known, the third
   has just asked, and would find room; the fourth could not even try. */
START_TEST(nobody_passes_an_earlier_call_that_has_tried_in_vain)
{
	static const int wants[] = { 1, 4, 1, 5 };

	begin(_i == 1);
	others(ROOM - 4, true);
	for (int i = 0; i < 4; i++)
		ask(&calls[i], wants[i], NULL);
	run_ms(1000);
	ck_assert_int_eq(grants, 1);
	others(ROOM - 4, false);
	run_ms(1000);
	ck_assert_int_eq(grants, 3);
	give(&calls[0]);
	run_ms(1000);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(calls[i].nth, i + 1);
		give(&calls[i]);
	}
}
END_TEST

/* The leases are all ours, so the next call does not try, and another stands
   before it in the line. */
START_TEST(nobody_passes_an_earlier_call_that_stands_in_line)
{
	begin(_i == 1);
	struct bench_reply rival = bench_create(&bench, raw, LOCKS "/lock-", "",
		KU_ZK_EPHEMERAL_SEQUENTIAL);
	ask(&calls[0], ROOM, NULL);
	run_ms(1000);
	for (int i = 1; i < 3; i++) {
		ask(&calls[i], 1, NULL);
		run_ms(1000);
		give_one(&calls[0]);
		run_ms(1000);
	}
	ck_assert_int_eq(grants, 1);
	ck_assert_int_eq(leases, ROOM);
	bench_delete(&bench, raw, rival.path, -1);
	run_ms(1000);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(calls[i].nth, i + 1);
		give(&calls[i]);
	}
}
END_TEST

/* The calls for all leases do not try together.  The first one is given up, or
   its connection breaks, or there is room for none any more. */
START_TEST(who_comes_behind_a_try_goes_on_however_that_ends)
{
	struct kustos_cancel *cancel;

	begin(true);
	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	for (int i = 0; i < 3; i++)
		ask(&calls[i], ROOM, i == 0 ? cancel : NULL);
	ck_assert_int_eq(leases, ROOM);
	run_ms(WAY_MS / 2);
	if (_i == 0)
		kustos_cancel_fire(cancel);
	else if (_i == 1)
		model_cut(bench.model, LONE_MACHINE, true);
	else
		set_room(0);
	run_ms(5000);
	if (_i == 2) {
		give(&calls[0]);
		run_ms(1000);
		ck_assert_int_eq(grants, 1);
		set_room(ROOM);
		run_ms(1000);
	}
	for (int i = _i != 1; i < 3; i++) {
		ck_assert_int_eq(grants, i + (_i != 0));
		give(&calls[i]);
		run_ms(1000);
	}
	ck_assert_int_eq(calls[0].err, _i == 0 ? KUSTOS_ECANCELED : KUSTOS_OK);
	kustos_cancel_destroy(cancel);
}
END_TEST

/* All that wait end, whatever they wait for. */
START_TEST(who_comes_behind_a_try_ends_with_the_semaphore)
{
	begin(_i == 1);
	for (int i = 0; i < 3; i++)
		ask(&calls[i], ROOM, NULL);
	run_ms(WAY_MS / 2);
	kustos_semaphore_destroy(sem);
	sem = NULL;
	run_ms(1000);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(calls[i].err, KUSTOS_ECLOSED);
	ck_assert_int_eq(locks, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("calls to one semaphore");
	TCase *t = tcase_create("at the same moment");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, while_the_number_is_unknown_few_try, 0, 2);
	tcase_add_test(t, those_that_cannot_queue_end_together);
	tcase_add_loop_test(t,
		calls_at_once_take_two_round_trips_while_there_is_room, 0, 2);
	tcase_add_loop_test(t,
		calls_at_once_that_find_no_room_queue_in_their_order, 0, 2);
	tcase_add_loop_test(t,
		nobody_passes_an_earlier_call_that_has_tried_in_vain, 0, 2);
	tcase_add_loop_test(t,
		nobody_passes_an_earlier_call_that_stands_in_line, 0, 2);
	tcase_add_loop_test(t, who_comes_behind_a_try_goes_on_however_that_ends,
		0, 3);
	tcase_add_loop_test(t, who_comes_behind_a_try_ends_with_the_semaphore,
		0, 2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
