/*
 * test_pool_limit.c - more leases than one session can have.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/semaphore.h>
#include <stdio.h>
#include <string.h>

#define SEM "/sem"
#define LEASES SEM "/leases"
#define LOCKS SEM "/locks"
#define OTHER LEASES "/x" /* the rival's */
#define NUMBER "/number"
/* Room for the path of one lease, with all that it needs, but not for two. */
#define ROOM 130

static struct bench bench;
static struct ku_zk *raw;
static struct kustos_client *client;
static struct kustos_semaphore *sem;
static int ended; /* -1: not yet */

static void granted(void *arg, enum kustos_err err,
	struct kustos_hold *const *holds, int count)
{
	(void)arg;
	(void)holds;
	(void)count;
	ended = (int)err;
}

static enum kustos_err ask(int count, kustos_deadline deadline)
{
	ended = -1;
	return kustos_semaphore_acquire_many_async(sem, count, deadline, NULL,
		granted, NULL);
}

static void setup(void)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	const struct ku_zk_request two = { .kind = KU_ZK_CREATE,
		.path = NUMBER,
		.data = "\0\0\0\2",
		.len = 4 };

	raw = lone_setup(&bench, 0);
	lone_send(&bench, raw, &two);
	lone_make(&bench, raw, SEM);
	lone_make(&bench, raw, LOCKS);
	lone_make(&bench, raw, LEASES);
	client = lone_connected(&bench, &ku_zk_sim);
	o.max_path = NUMBER;
	ck_assert_int_eq(kustos_semaphore_create(client, SEM, &o, &sem),
		KUSTOS_OK);
}

static void teardown(void)
{
	kustos_semaphore_destroy(sem);
	lone_teardown(&bench, client);
}

/* Pretend that the session has so many nodes that no more fit. */
static void have_no_more(void)
{
	client->footprint.ephemeral_bytes += KU_FOOTPRINT_LIMIT;
}

static void check_refused(void)
{
	lone_run_ms(&bench, client, 1000);
	client->footprint.ephemeral_bytes -= KU_FOOTPRINT_LIMIT;
	ck_assert_int_eq(ended, KUSTOS_ELIMIT);
	ck_assert_int_eq(model_child_count(bench.model, LOCKS), 0);
}

START_TEST(L07_more_leases_than_one_session_can_have_are_refused_at_once)
{
	ck_assert_int_eq(ask(20000, KUSTOS_FOREVER), KUSTOS_ELIMIT);
	/* This many leases fit, and wait. */
	ck_assert_int_eq(ask(5000, bench.sched.now_ns + KU_NS_PER_S),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(ended, -1);
}
END_TEST

START_TEST(who_can_take_one_of_two_takes_none)
{
	size_t before = client->footprint.ephemeral_bytes;

	client->footprint.ephemeral_bytes = KU_FOOTPRINT_LIMIT - ROOM;
	ck_assert_int_eq(ask(2, KUSTOS_FOREVER), KUSTOS_ELIMIT);
	client->footprint.ephemeral_bytes = before;
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(model_child_count(bench.model, LEASES), 0);
	ck_assert_int_eq(model_child_count(bench.model, LOCKS), 0);
}
END_TEST

START_TEST(who_can_take_none_when_its_turn_has_come_is_told)
{
	struct bench_reply rival = bench_create(&bench, raw, LOCKS "/lock-", "",
		KU_ZK_EPHEMERAL_SEQUENTIAL);

	bench_create(&bench, raw, OTHER, "", KU_ZK_EPHEMERAL);
	ck_assert_int_eq(ask(2, KUSTOS_FOREVER), KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, -1);
	have_no_more();
	bench_delete(&bench, raw, rival.path, -1);
	check_refused();
}
END_TEST

/* The call has one of two leases when both its nodes are deleted. */
START_TEST(who_can_take_none_anew_is_told)
{
	bench_create(&bench, raw, OTHER, "", KU_ZK_EPHEMERAL);
	ck_assert_int_eq(ask(2, KUSTOS_FOREVER), KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert_int_eq(ended, -1);
	struct bench_reply there = bench_read(&bench, raw, KU_ZK_CHILDREN,
		LEASES, false);
	ck_assert_int_eq(there.name_count, 3);
	have_no_more();
	for (int i = 0; i < there.name_count; i++) {
		char path[sizeof(LEASES) + sizeof(there.names[0])];

		snprintf(path, sizeof(path), "%s/%s", LEASES, there.names[i]);
		if (strcmp(path, OTHER) != 0)
			bench_delete(&bench, raw, path, -1);
	}
	check_refused();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pools in the simulator, and too many");
	TCase *t = tcase_create("leases");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		L07_more_leases_than_one_session_can_have_are_refused_at_once);
	tcase_add_test(t, who_can_take_one_of_two_takes_none);
	tcase_add_test(t, who_can_take_none_when_its_turn_has_come_is_told);
	tcase_add_test(t, who_can_take_none_anew_is_told);
	suite_add_tcase(s, t);
	return unit_main(s);
}
