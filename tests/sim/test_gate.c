/*
 * test_gate.c - several calls use one object: which of them are served, and
 * when none is.
 */
#include "lone_line.h"

#include "../unit/unit.h"
#include "cancel.h"
#include "gate_impl.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

/* For this long threads hand over to each other locally. */
#define LOCAL_MS 50

static struct kustos_mutex *shared; /* used by all calls of this test */
static struct wish {
	int calls;
	enum kustos_err err;
	struct kustos_hold *hold;
} wishes[2];
static int revokes;

static void asked_for(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(hold, wishes[0].hold);
	++*(int *)arg;
}

static void see_queued(void *arg, const char *path)
{
	(void)arg;
	ck_assert_int_eq(strncmp(path, LINE "/", strlen(LINE "/")), 0);
}

static void setup(void)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;

	lone_line_open(&ku_zk_sim);
	o.on_revoke = asked_for;
	o.on_revoke_arg = &revokes;
	o.on_queued = see_queued;
	ck_assert_int_eq(kustos_mutex_create(lone.client, LINE, &o, &shared),
		KUSTOS_OK);
	memset(wishes, 0, sizeof(wishes));
	revokes = 0;
}

static void teardown(void)
{
	kustos_mutex_destroy(shared);
	lone_run_ms(&lone.bench, lone.client, 100);
	lone_line_close();
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	struct wish *wish = arg;

	wish->calls++;
	wish->err = err;
	wish->hold = hold;
}

static void ask(struct wish *wish, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	ck_assert_int_eq(kustos_mutex_acquire_async(shared, deadline, cancel,
				 granted, wish),
		KUSTOS_OK);
}

static void run_until(const int *calls)
{
	for (int ms = 0; ms < 1000 && *calls == 0; ms++)
		lone_run_ms(&lone.bench, lone.client, 1);
	ck_assert_int_eq(*calls, 1);
}

static void take(struct wish *wish)
{
	ask(wish, KUSTOS_FOREVER, NULL);
	run_until(&wish->calls);
	ck_assert_int_eq(wish->err, KUSTOS_OK);
}

/* Have a rival stand in line, before our calls that are not in line yet. */
static struct bench_reply rival_enter(void)
{
	return bench_create(&lone.bench, lone.raw, LINE "/lock-", "",
		KU_ZK_EPHEMERAL_SEQUENTIAL);
}

static void rival_leave(const struct bench_reply *rival)
{
	ck_assert_int_eq(
		bench_delete(&lone.bench, lone.raw, rival->path, -1).rc,
		KU_ZK_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
}

static void check_served(const struct wish *wish)
{
	ck_assert_int_eq(wish->calls, 1);
	ck_assert_int_eq(wish->err, KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_state(wish->hold), KUSTOS_HOLD_HELD);
}

START_TEST(what_was_asked_for_is_handed_over_to_no_other_thread)
{
	take(&wishes[0]);
	int64_t since = lone.bench.sched.now_ns;
	ask(&wishes[1], KUSTOS_FOREVER, NULL);
	struct bench_reply rival = rival_enter();
	if (_i == 0) {
		ck_assert_int_eq(bench_set(&lone.bench, lone.raw,
					 kustos_hold_path(wishes[0].hold),
					 "__REVOKE__", -1)
					 .rc,
			KU_ZK_OK);
		run_until(&revokes);
	}
	ck_assert_int_lt(lone.bench.sched.now_ns - since,
		LOCAL_MS * KU_NS_PER_MS);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(wishes[1].calls, _i); /* 1: nobody asked */
	rival_leave(&rival);
	check_served(&wishes[1]);
	ck_assert_int_eq(kustos_hold_release(wishes[1].hold), KUSTOS_OK);
}
END_TEST

START_TEST(S09_who_waits_is_served_though_what_was_lost_is_not_given_back)
{
	take(&wishes[0]);
	ask(&wishes[1], KUSTOS_FOREVER, NULL);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(wishes[1].calls, 0);
	ck_assert_int_eq(bench_delete(&lone.bench, lone.raw,
				 kustos_hold_path(wishes[0].hold), -1)
				 .rc,
		KU_ZK_OK);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_hold_state(wishes[0].hold), KUSTOS_HOLD_LOST);
	check_served(&wishes[1]);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_ELOST);
	lone_run_ms(&lone.bench, lone.client, 100);
	check_served(&wishes[1]);
	ck_assert_int_eq(kustos_hold_release(wishes[1].hold), KUSTOS_OK);
}
END_TEST

/* The turn of the second call comes when the session can have no more nodes. */
START_TEST(who_cannot_be_served_is_told)
{
	take(&wishes[0]);
	ask(&wishes[1], KUSTOS_FOREVER, NULL);
	lone_run_ms(&lone.bench, lone.client, LOCAL_MS + 1);
	lone.client->footprint.ephemeral_bytes += KU_FOOTPRINT_LIMIT;
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 1000);
	lone.client->footprint.ephemeral_bytes -= KU_FOOTPRINT_LIMIT;
	ck_assert_int_eq(wishes[1].calls, 1);
	ck_assert_int_eq(wishes[1].err, KUSTOS_ELIMIT);
}
END_TEST

/* The call that waits comes while the try is under way, and before the try is
   canceled. */
START_TEST(L20_who_waits_does_not_get_the_answer_to_a_try)
{
	struct bench_reply rival = rival_enter();
	struct kustos_cancel *cancel;

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	ask(&wishes[0], KUSTOS_NOW, cancel);
	ask(&wishes[1], KUSTOS_FOREVER, NULL);
	kustos_cancel_fire(cancel);
	run_until(&wishes[0].calls);
	ck_assert_int_eq(wishes[0].err, KUSTOS_ECANCELED);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(wishes[1].calls, 0);
	rival_leave(&rival);
	check_served(&wishes[1]);
	ck_assert_int_eq(kustos_hold_release(wishes[1].hold), KUSTOS_OK);
	kustos_cancel_destroy(cancel);
}
END_TEST

/* The line's numbers are used up, and the line is gone before the second call
   asks.  The answer to the first call is still under way when that call is
   canceled. */
START_TEST(S18_who_waits_does_not_hear_what_a_line_was_like_before_it_asked)
{
	struct kustos_cancel *cancel;

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	model_set_created(lone.bench.model, LINE, INT32_MAX);
	ask(&wishes[0], KUSTOS_FOREVER, cancel);
	while (model_child_count(lone.bench.model, LINE) == 0)
		ck_assert(sched_run(&lone.bench.sched));
	ck_assert(model_delete(lone.bench.model, LINE));
	ask(&wishes[1], KUSTOS_FOREVER, NULL);
	kustos_cancel_fire(cancel);
	run_until(&wishes[0].calls);
	ck_assert_int_eq(wishes[0].err, KUSTOS_ECANCELED);
	run_until(&wishes[1].calls);
	check_served(&wishes[1]);
	ck_assert_int_eq(kustos_hold_release(wishes[1].hold), KUSTOS_OK);
	kustos_cancel_destroy(cancel);
}
END_TEST

/* A struct on the stack of the first thread waits for the end of the place.  It
   must be detached when the place goes to the next thread. */
START_TEST(who_has_handed_over_does_not_hear_of_the_end_of_the_place)
{
	struct ku_parting parting = { .of = NULL };

	take(&wishes[0]);
	ask(&wishes[1], KUSTOS_FOREVER, NULL);
	ku_lock(lone.client);
	ku_gate_part(wishes[0].hold, &parting);
	ku_unlock(lone.client);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
	run_until(&wishes[1].calls);
	check_served(&wishes[1]);
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 1);
	ck_assert_ptr_null(parting.of);
	ck_assert_int_eq(kustos_hold_release(wishes[1].hold), KUSTOS_OK);
	ck_assert_ptr_null(parting.of);
}
END_TEST

/* The holder's node is deleted, and no event tells so.  The listing of the next
   call shows that it is gone, and that a rival stands between the two. */
START_TEST(L08_who_is_behind_what_was_lost_unseen_is_served_when_it_is_first)
{
	lone_line_ask();
	lone_line_check();
	model_forget_watches(lone.bench.model, 0);
	lone_line_delete();
	struct bench_reply rival = rival_enter();
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_hold_state(lone.hold), KUSTOS_HOLD_HELD);
	ask(&wishes[1], KUSTOS_FOREVER, NULL);
	lone_run_ms(&lone.bench, lone.client, 100);
	ck_assert_int_eq(kustos_hold_state(lone.hold), KUSTOS_HOLD_LOST);
	ck_assert_int_eq(wishes[1].calls, 0);
	rival_leave(&rival);
	check_served(&wishes[1]);
	ck_assert_int_eq(kustos_hold_release(wishes[1].hold), KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_release(lone.hold), KUSTOS_ELOST);
}
END_TEST

static void *lock_shared(void *cancel)
{
	wishes[0].err = kustos_mutex_lock(shared, KUSTOS_FOREVER, cancel);
	wishes[0].calls++;
	return NULL;
}

static bool somebody_waits(void)
{
	ku_lock(lone.client);
	bool waits = lone.client->callers > 0;
	ku_unlock(lone.client);
	return waits;
}

/* While this runs, the call that waits with the cancel object cannot return. */
static void grant_and_destroy(struct ku_cancel_link *link)
{
	(void)link;
	lone_run_ms(&lone.bench, lone.client, 200);
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 1);
	kustos_mutex_destroy(shared);
	shared = NULL;
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 1);
}

/* Nobody else would give the grant back. */
START_TEST(what_was_granted_before_a_destroy_and_not_taken_is_given_back)
{
	struct kustos_cancel *cancel;
	struct ku_cancel_link link;
	pthread_t other;

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	ck_assert(ku_cancel_attach(cancel, &link, grant_and_destroy));
	lone.client->env.threads = true; /* allow a blocking call */
	ck_assert_int_eq(pthread_create(&other, NULL, lock_shared, cancel), 0);
	while (!somebody_waits())
		sched_yield();
	lone.client->env.threads = false;
	kustos_cancel_fire(cancel);
	pthread_join(other, NULL);
	ck_assert_int_eq(wishes[0].calls, 1);
	ck_assert_int_eq(wishes[0].err, KUSTOS_ECLOSED);
	lone_run_ms(&lone.bench, lone.client, 200);
	ck_assert_int_eq(model_child_count(lone.bench.model, LINE), 0);
	kustos_cancel_destroy(cancel);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("one object of several in the simulator");
	TCase *t = tcase_create("who is served");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		what_was_asked_for_is_handed_over_to_no_other_thread, 0, 2);
	tcase_add_test(t,
		S09_who_waits_is_served_though_what_was_lost_is_not_given_back);
	tcase_add_test(t, who_cannot_be_served_is_told);
	tcase_add_test(t, L20_who_waits_does_not_get_the_answer_to_a_try);
	tcase_add_test(t,
		S18_who_waits_does_not_hear_what_a_line_was_like_before_it_asked);
	tcase_add_test(t,
		who_has_handed_over_does_not_hear_of_the_end_of_the_place);
	tcase_add_test(t,
		L08_who_is_behind_what_was_lost_unseen_is_served_when_it_is_first);
	tcase_add_test(t,
		what_was_granted_before_a_destroy_and_not_taken_is_given_back);
	suite_add_tcase(s, t);
	return unit_main(s);
}
