/*
 * test_countdown_calls.c - asynchronous calls of the count-down latch, and
 * calls that are under way when the latch is destroyed.
 */
#include "countdown_fixture.h"

#include <pthread.h>

START_TEST(participants_take_part_by_callbacks)
{
	struct end ends[4] = { { .calls = 0 } };

	set(own);
	inject_frame(faults[_i], ZK_OP_CREATE2, 2);
	check_err(kustos_countdown_join_async(own, "a", SOON, NULL, end_told,
			  &ends[0]),
		KUSTOS_OK);
	check_err(end_wait(&ends[0], 5000), KUSTOS_OK);
	ck_assert_int_eq(inject_fired(), 1);
	ck_assert_int_eq(raw_count_children(fixture_address(), LATCH), 3);
	check_err(look(others), KUSTOS_EBUSY);
	for (int i = 1; i < 3; i++) {
		inject_frame(faults[_i], ZK_OP_CREATE2, 1);
		check_err(kustos_countdown_done_async(own, "a", SOON, NULL,
				  end_told, &ends[i]),
			KUSTOS_OK);
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
	}
	/* All are done, so none is listed as alive: a number, a must, a
	   done. */
	test_eventually(raw_count_children(fixture_address(), LATCH) == 3,
		5000);
	ck_assert_int_eq(inject_fired(), 3);
	check_err(kustos_countdown_done_async(own, "", SOON, NULL, end_told,
			  &ends[3]),
		KUSTOS_EINVAL);
	check_err(kustos_countdown_join_async(own, "a", SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(look(others), KUSTOS_EBUSY);
}
END_TEST

/* The request is lost.  The participant may count later, provided that it does
   not look dead by then. */
START_TEST(who_could_not_be_counted_lives_on)
{
	struct kustos_countdown_status *s = NULL;
	struct end end = { .calls = 0 };
	enum kustos_err err;

	set(own);
	join(own, "a");
	inject_frame(faults[0], ZK_OP_CREATE2, 1);
	if (_i == 0) {
		err = kustos_countdown_done(own, "a", KUSTOS_NOW, NULL);
	} else {
		check_err(kustos_countdown_done_async(own, "a", KUSTOS_NOW,
				  NULL, end_told, &end),
			KUSTOS_OK);
		err = end_wait(&end, 5000);
	}
	check_err(err, KUSTOS_EUNKNOWN);
	ck_assert_int_eq(inject_fired(), 1);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	check_err(kustos_countdown_look(others, SOON, NULL, &s), KUSTOS_OK);
	ck_assert_uint_eq(s->participant_count, 1);
	ck_assert(!s->participants[0]->done && s->participants[0]->alive);
	kustos_countdown_status_free(s);
}
END_TEST

/* Calls under way end with their callbacks, and no participant is left
   alive. */
START_TEST(L01_a_latch_is_destroyed_under_its_participants)
{
	struct end ends[2] = { { .calls = 0 } };

	ck_assert_int_eq(raw_create(fixture_address(), "/countdowns", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LATCH, ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LATCH "/count-2", ""),
		0);
	inject_frame(INJECT_HOLD_REPLY, ZK_OP_CREATE2, 1);
	check_err(kustos_countdown_join_async(own, "a", SOON, NULL, end_told,
			  &ends[0]),
		KUSTOS_OK);
	check_err(kustos_countdown_done_async(own, "b", SOON, NULL, end_told,
			  &ends[1]),
		KUSTOS_OK);
	test_eventually(raw_count_children(fixture_address(), LATCH) == 3,
		5000);
	kustos_countdown_destroy(own);
	own = NULL;
	ck_assert_int_eq(end_calls(&ends[0]) + end_calls(&ends[1]), 0);
	inject_release();
	check_err(end_wait(&ends[0], 5000), KUSTOS_ECLOSED);
	check_err(end_wait(&ends[1], 5000), KUSTOS_OK);
	/* A number, and one that is done. */
	test_eventually(raw_count_children(fixture_address(), LATCH) == 2,
		5000);
}
END_TEST

static enum kustos_err call_join(void)
{
	return kustos_countdown_join(own, "a", SOON, NULL);
}

static enum kustos_err call_done(void)
{
	return kustos_countdown_done(own, "a", SOON, NULL);
}

static enum kustos_err call_set(void)
{
	return kustos_countdown_set(own, SOON, NULL);
}

static enum kustos_err call_look(void)
{
	struct kustos_countdown_status *status = NULL;
	enum kustos_err err = kustos_countdown_look(own, SOON, NULL, &status);

	kustos_countdown_status_free(status);
	return err;
}

static enum kustos_err call_remove(void)
{
	return kustos_countdown_remove(own, SOON, NULL);
}

/* The first request of each call, how the call ends, and what it leaves. */
static const struct {
	enum kustos_err (*call)(void);
	int op;
	enum kustos_err err;
	int left;
} waiting[] = {
	{ call_join, ZK_OP_CREATE2, KUSTOS_ECLOSED, 0 },
	{ call_done, ZK_OP_CREATE2, KUSTOS_OK, 1 },
	{ call_set, ZK_OP_CHILDREN2, KUSTOS_OK, 1 },
	{ call_look, ZK_OP_CHILDREN2, KUSTOS_OK, 0 },
	{ call_remove, ZK_OP_CHILDREN2, KUSTOS_OK, RAW_NONODE },
};
#define WAITING (int)(sizeof(waiting) / sizeof(waiting[0]))

static int called; /* the index of the running call */

static void *call_and_wait(void *arg)
{
	end_told(arg, waiting[called].call());
	return NULL;
}

START_TEST(L01_a_latch_is_destroyed_under_a_call_that_waits)
{
	struct end end = { .calls = 0 };
	struct kustos_countdown *destroyed = own;
	pthread_t thread;

	called = _i;
	ck_assert_int_eq(raw_create(fixture_address(), "/countdowns", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LATCH, ""), 0);
	inject_frame(INJECT_HOLD_REPLY, waiting[_i].op, 1);
	pthread_create(&thread, NULL, call_and_wait, &end);
	test_eventually(inject_fired() == 1, 5000);
	kustos_countdown_destroy(destroyed);
	ck_assert_int_eq(end_calls(&end), 0);
	inject_release();
	pthread_join(thread, NULL);
	own = NULL;
	check_err(end_wait(&end, 5000), waiting[_i].err);
	test_eventually(raw_count_children(fixture_address(), LATCH) ==
			waiting[_i].left,
		5000);
}
END_TEST

static void *set_own(void *arg)
{
	end_told(arg, kustos_countdown_set(own, SOON, NULL));
	return NULL;
}

/* Each client has looked before the other one wrote. */
START_TEST(two_counts_that_are_set_at_once_are_told)
{
	struct end end = { .calls = 0 };
	pthread_t thread;

	inject_frame(INJECT_HOLD_REPLY, ZK_OP_CHILDREN2, 1);
	if (_i == 0)
		pthread_create(&thread, NULL, set_own, &end);
	else
		check_err(kustos_countdown_set_async(own, SOON, NULL, end_told,
				  &end),
			KUSTOS_OK);
	test_eventually(inject_fired() == 1, 5000);
	ck_assert_int_eq(raw_create(fixture_address(), "/countdowns", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LATCH, ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LATCH "/count-3", ""),
		0);
	inject_release();
	if (_i == 0)
		pthread_join(thread, NULL);
	check_err(end_wait(&end, 5000), KUSTOS_EDISAGREE);
	ck_assert_int_eq(raw_count_children(fixture_address(), LATCH), 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("count-down latch, calls");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, participants_take_part_by_callbacks, 0, 2);
	tcase_add_loop_test(t, who_could_not_be_counted_lives_on, 0, 2);
	tcase_add_test(t, L01_a_latch_is_destroyed_under_its_participants);
	tcase_add_loop_test(t, L01_a_latch_is_destroyed_under_a_call_that_waits,
		0, WAITING);
	tcase_add_loop_test(t, two_counts_that_are_set_at_once_are_told, 0, 2);
	return fixture_main(s);
}
