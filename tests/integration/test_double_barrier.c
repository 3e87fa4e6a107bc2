/*
 * test_double_barrier.c - members of a double barrier enter together and leave
 * together, round after round, or give up.
 */
#include "crew.h"

#include <kustos/cancel.h>
#include <kustos/node.h>

#include <stdio.h>
#include <stdlib.h>

#define MANY 50

START_TEST(they_go_in_together_and_out_together_round_after_round)
{
	crew_make(3);
	for (int round = 0; round < 5; round++) {
		member_enter(ours[0], &ends[0]);
		member_enter(ours[1], &ends[1]);
		step_await(2);
		ck_assert_int_eq(end_calls(&ends[0]) + end_calls(&ends[1]), 0);
		ck_assert(!kustos_double_barrier_inside(ours[0]));
		check_err(kustos_double_barrier_enter(ours[2], SOON, NULL),
			KUSTOS_OK);
		for (int i = 0; i < 2; i++)
			check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
		for (int i = 0; i < 3; i++)
			ck_assert(kustos_double_barrier_inside(ours[i]));
		step_await(4);
		member_leave(ours[round % 3], &ends[0]);
		member_leave(ours[(round + 1) % 3], &ends[1]);
		/* The member with the lowest node may keep it until the last
		   one leaves. */
		test_eventually(
			raw_count_children(fixture_address(), STEP) <= 3, 5000);
		ck_assert_int_eq(end_calls(&ends[0]) + end_calls(&ends[1]), 0);
		check_err(kustos_double_barrier_leave(ours[(round + 2) % 3],
				  SOON, NULL),
			KUSTOS_OK);
		for (int i = 0; i < 2; i++)
			check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
		step_check_empty();
	}
	crew_free();
}
END_TEST

START_TEST(many_take_part)
{
	static struct kustos_double_barrier *m[MANY];
	static struct end e[MANY];

	for (int i = 0; i < MANY; i++)
		m[i] = member_new(i % 2 ? client : other, MANY);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < MANY; i++)
			member_enter(m[i], &e[i]);
		for (int i = 0; i < MANY; i++)
			check_err(end_wait(&e[i], 10000), KUSTOS_OK);
		for (int i = 0; i < MANY; i++)
			member_leave(m[i], &e[i]);
		for (int i = 0; i < MANY; i++)
			check_err(end_wait(&e[i], 10000), KUSTOS_OK);
		step_check_empty();
	}
	for (int i = 0; i < MANY; i++)
		kustos_double_barrier_destroy(m[i]);
}
END_TEST

START_TEST(the_last_member_enters_in_two_round_trips)
{
	struct kustos_double_barrier *m = member_new(client, 1);

	check_err(kustos_double_barrier_enter(m, SOON, NULL), KUSTOS_OK);
	check_err(kustos_double_barrier_leave(m, SOON, NULL), KUSTOS_OK);
	proxy_reset_counts(proxy);
	check_err(kustos_double_barrier_enter(m, SOON, NULL), KUSTOS_OK);
	/* Two of these requests are sent together with the creation of the
	   node. */
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE2), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_MULTI), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_EXISTS), 1);
	check_err(kustos_double_barrier_enter(m, SOON, NULL), KUSTOS_OK);
	check_err(kustos_double_barrier_leave(m, SOON, NULL), KUSTOS_OK);
	/* One look, then both deletions sent together. */
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE2), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_MULTI), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 2);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_EXISTS), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_GET), 1);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_DELETE), 2);
	kustos_double_barrier_destroy(m);
	watches_wait(0);
}
END_TEST

/* A "ready" node from a round whose members are dead. */
static void leave_ready_behind(void)
{
	(void)raw_create(fixture_address(), "/barriers", "");
	(void)raw_create(fixture_address(), STEP, "");
	ck_assert_int_eq(raw_create(fixture_address(), READY, ""), 0);
}

START_TEST(L18_a_leftover_ready_lets_nobody_in)
{
	leave_ready_behind();
	crew_make(3);
	member_enter(ours[0], &ends[0]);
	/* A member that finds itself alone with that node deletes it. */
	test_eventually(
		raw_exists(fixture_address(), READY, NULL) == RAW_NONODE, 5000);
	if (_i == 1) /* left behind by a kazoo client that is late */
		leave_ready_behind();
	member_enter(ours[1], &ends[1]);
	step_await(2 + _i);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	pair_flush();
	if (_i == 0)
		ck_assert_int_eq(end_calls(&ends[0]), 0);
	ck_assert_int_eq(end_calls(&ends[1]), 0);
	member_enter(ours[2], &ends[2]);
	for (int i = 0; i < 3; i++)
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
	crew_leave();
	step_check_empty();
	crew_free();
}
END_TEST

/* The first member of the next round comes before the last of this round is
   out. */
START_TEST(who_leaves_does_not_wait_for_the_next_round)
{
	struct kustos_double_barrier *early = member_new(other, 3);
	struct end e;

	crew_make(3);
	crew_enter();
	member_leave(ours[1], &ends[1]);
	member_leave(ours[2], &ends[2]);
	/* One of the two may keep its node until the last one leaves. */
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	kustos_double_barrier_destroy(early);
	early = member_new(other, 4); /* so that it has to wait */
	member_enter(early, &e);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	check_err(kustos_double_barrier_leave(ours[0], SOON, NULL), KUSTOS_OK);
	for (int i = 1; i < 3; i++)
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
	ck_assert_int_eq(end_calls(&e), 0);
	kustos_double_barrier_destroy(early);
	check_err(end_wait(&e, 3000), KUSTOS_ECLOSED);
	step_await(0);
	crew_free();
}
END_TEST

/* Nobody else of its round is in any more, so it deletes "ready", too. */
START_TEST(L18_who_goes_at_once_as_the_last_does_not_mind_the_next_round)
{
	struct kustos_double_barrier *early = member_new(other, 3);
	struct end e;

	crew_make(3);
	crew_enter();
	for (int i = 1; i < 3; i++) {
		kustos_double_barrier_destroy(ours[i]);
		ours[i] = NULL;
	}
	step_await(2);
	member_enter(early, &e);
	step_await(3);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	check_err(kustos_double_barrier_leave(ours[0], KUSTOS_NOW, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(raw_exists(fixture_address(), READY, NULL),
		RAW_NONODE);
	ck_assert_int_eq(end_calls(&e), 0);
	kustos_double_barrier_destroy(early);
	check_err(end_wait(&e, 3000), KUSTOS_ECLOSED);
	step_await(0);
	crew_free();
}
END_TEST

/* A third member has come while all were in, and belongs to their round. */
START_TEST(who_leaves_waits_for_who_has_joined_its_round)
{
	struct kustos_double_barrier *third = member_new(other, 2);
	struct end e;

	crew_make(2);
	crew_enter();
	member_enter(third, &e);
	check_err(end_wait(&e, 5000), KUSTOS_OK);
	kustos_double_barrier_destroy(ours[1]);
	ours[1] = NULL;
	step_await(3);
	proxy_reset_counts(proxy);
	member_leave(ours[0], &ends[0]);
	/* It reads "ready" and the node of the third member. */
	test_eventually(proxy_count(proxy, ZK_OP_GET) >= 2, 5000);
	pair_settle();
	ck_assert_int_eq(end_calls(&ends[0]), 0);
	check_err(kustos_double_barrier_leave(third, SOON, NULL), KUSTOS_OK);
	check_err(end_wait(&ends[0], 5000), KUSTOS_OK);
	kustos_double_barrier_destroy(third);
	crew_free();
}
END_TEST

START_TEST(L18_a_deadline_or_a_cancel_ends_each_phase_and_leaves_nothing)
{
	struct kustos_cancel *cancel = NULL;
	struct end e = { .calls = 0 };

	crew_make(2);
	check_err(
		kustos_double_barrier_enter(ours[0], kustos_after_ms(30), NULL),
		KUSTOS_ETIMEDOUT);
	step_await(0);
	check_err(kustos_double_barrier_enter(ours[0], KUSTOS_NOW, NULL),
		KUSTOS_EBUSY);
	step_await(0);
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	check_err(kustos_double_barrier_enter_async(ours[0], SOON, cancel,
			  end_told, &e),
		KUSTOS_OK);
	step_await(1);
	check_err(kustos_double_barrier_enter(ours[0], SOON, NULL),
		KUSTOS_EBUSY);
	check_err(kustos_double_barrier_leave(ours[0], SOON, NULL),
		KUSTOS_EBUSY);
	kustos_cancel_fire(cancel);
	check_err(end_wait(&e, 3000), KUSTOS_ECANCELED);
	step_await(0);
	for (int i = 0; i < 3; i++) {
		crew_enter();
		enum kustos_err err = i < 2
			? kustos_double_barrier_leave(ours[i],
				  i == 0 ? kustos_after_ms(30) : KUSTOS_NOW,
				  NULL)
			: kustos_double_barrier_leave(ours[0], SOON, cancel);
		check_err(err,
			i == 0		 ? KUSTOS_ETIMEDOUT
				: i == 1 ? KUSTOS_EBUSY
					 : KUSTOS_ECANCELED);
		/* Even if the cancel was fired before the call. */
		if (i == 2)
			check_err(kustos_double_barrier_leave(ours[0],
					  KUSTOS_NOW, NULL),
				KUSTOS_ENOTHELD);
		check_err(kustos_double_barrier_leave(ours[i == 1 ? 0 : 1],
				  SOON, NULL),
			KUSTOS_OK);
		step_await(0);
	}
	kustos_cancel_destroy(cancel);
	crew_free();
	watches_wait(0);
}
END_TEST

/* While it waits to enter, and while it waits to leave. */
START_TEST(L01_who_waits_is_told_when_its_member_ends_and_is_out)
{
	crew_make(2);
	if (_i == 0) {
		member_enter(ours[0], &ends[0]);
		step_await(1);
	} else {
		crew_enter();
		member_leave(ours[0], &ends[0]);
	}
	ck_assert_int_eq(end_calls(&ends[0]), 0);
	kustos_double_barrier_destroy(ours[0]);
	ours[0] = NULL;
	check_err(end_wait(&ends[0], 3000), KUSTOS_ECLOSED);
	if (_i == 1)
		check_err(kustos_double_barrier_leave(ours[1], SOON, NULL),
			KUSTOS_OK);
	step_await(0);
	crew_free();
	ck_assert_int_eq(end_calls(&ends[0]), 1);
}
END_TEST

START_TEST(a_member_shows_the_data_that_was_asked_for)
{
	struct kustos_barrier_options o = KUSTOS_BARRIER_OPTIONS_INIT;
	struct kustos_names *names = NULL;
	struct kustos_double_barrier *m = NULL;
	char path[128], *data = NULL;
	size_t len = 0;
	struct end end = { .calls = 0 };

	o.data_len = 4;
	check_err(kustos_double_barrier_create(client, STEP, 2, &o, &m),
		KUSTOS_EINVAL);
	o.data = "mine and more";
	check_err(kustos_double_barrier_create(client, STEP, 2, &o, &m),
		KUSTOS_OK);
	member_enter(m, &end);
	step_await(1);
	check_err(kustos_children(other, STEP, SOON, NULL, &names, NULL),
		KUSTOS_OK);
	snprintf(path, sizeof(path), STEP "/%s", names->names[0]);
	kustos_names_free(names);
	check_err(kustos_get(other, path, SOON, NULL, &data, &len, NULL),
		KUSTOS_OK);
	ck_assert_str_eq(data, "mine");
	kustos_free(data);
	kustos_double_barrier_destroy(m);
	check_err(end_wait(&end, 5000), KUSTOS_ECLOSED);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
	struct kustos_double_barrier *m = NULL;

	check_err(kustos_double_barrier_create(NULL, STEP, 1, NULL, &m),
		KUSTOS_EINVAL);
	check_err(kustos_double_barrier_create(client, "/", 1, NULL, &m),
		KUSTOS_EINVAL);
	check_err(kustos_double_barrier_create(client, "x", 1, NULL, &m),
		KUSTOS_EINVAL);
	check_err(kustos_double_barrier_create(client, STEP, 0, NULL, &m),
		KUSTOS_EINVAL);
	check_err(kustos_double_barrier_create(client, STEP, 1, NULL, NULL),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(m);
	check_err(kustos_double_barrier_enter(NULL, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_double_barrier_leave(NULL, SOON, NULL), KUSTOS_EINVAL);
	m = member_new(client, 1);
	check_err(kustos_double_barrier_enter_async(m, SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_double_barrier_leave_async(m, SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	ck_assert(!kustos_double_barrier_inside(NULL));
	kustos_double_barrier_destroy(m);
	kustos_double_barrier_destroy(NULL);
}
END_TEST

/* A client whose nodes nobody else may read. */
static struct kustos_client *secretive(void)
{
	static const struct kustos_acl acl = { KUSTOS_PERM_ALL, "auth", "" };
	struct kustos_client_options o = client_options(fixture_address(),
		9000);

	o.digest = "alice:secret";
	o.acl = &acl;
	o.acl_count = 1;
	check_err(kustos_create(other, STEP, "", 0, KUSTOS_CREATE_PARENTS, SOON,
			  NULL, NULL, NULL),
		KUSTOS_OK);
	return client_open_with(&o);
}

static void both_enter(struct kustos_client *c)
{
	ours[0] = member_new(client, 2);
	ours[1] = member_new(c, 2);
	member_enter(ours[1], &ends[1]);
	step_await(1);
	/* If that client saw all members, it would create "ready", which we may
	   not read. */
	check_err(kustos_client_flush(c, SOON, NULL), KUSTOS_OK);
	member_enter(ours[0], &ends[0]);
	for (int i = 0; i < 2; i++)
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
}

START_TEST(U09_a_member_that_may_not_be_read_is_waited_for)
{
	struct kustos_client *c = secretive();

	both_enter(c);
	member_leave(ours[0], &ends[0]);
	pair_flush();
	check_err(kustos_client_flush(c, SOON, NULL), KUSTOS_OK);
	member_leave(ours[1], &ends[1]);
	/* The waiter asks whether the member's node exists and does not read
	   it.  On a server where this needs the same right, it gets an error
	   instead. */
	check_err(end_wait(&ends[0], 5000), answer_to_the_blind());
	check_err(end_wait(&ends[1], 5000), KUSTOS_OK);
	kustos_double_barrier_destroy(ours[0]);
	kustos_double_barrier_destroy(ours[1]);
	client_close(c);
}
END_TEST

START_TEST(U09_who_goes_at_once_knows_that_such_a_member_is_in)
{
	struct kustos_client *c = secretive();
	enum kustos_err blind = answer_to_the_blind();

	both_enter(c);
	check_err(kustos_double_barrier_leave(ours[0], KUSTOS_NOW, NULL),
		blind == KUSTOS_OK ? KUSTOS_EBUSY : blind);
	kustos_double_barrier_destroy(ours[0]);
	kustos_double_barrier_destroy(ours[1]);
	client_close(c);
	check_err(kustos_delete(other, READY, -1, SOON, NULL), KUSTOS_OK);
}
END_TEST

START_TEST(U09_a_ready_that_may_not_be_read_lets_nobody_in)
{
	enum kustos_err blind = answer_to_the_blind();
	struct kustos_client *c = secretive();

	ours[0] = member_new(client, 2);
	ours[1] = member_new(c, 2);
	member_enter(ours[0], &ends[0]);
	step_await(1);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	check_err(kustos_double_barrier_enter(ours[1], SOON, NULL), KUSTOS_OK);
	/* No event reports the unreadable node, except on a reconnect.  Servers
	   that refuse to say whether it exists do not report it then,
	   either. */
	proxy_cut(proxy);
	if (blind == KUSTOS_OK)
		check_err(end_wait(&ends[0], 5000), KUSTOS_ENOAUTH);
	ck_assert(!kustos_double_barrier_inside(ours[0]));
	kustos_double_barrier_destroy(ours[0]);
	ck_assert_int_ne(end_wait(&ends[0], 5000), KUSTOS_OK);
	check_err(kustos_double_barrier_leave(ours[1], SOON, NULL), KUSTOS_OK);
	step_check_empty();
	kustos_double_barrier_destroy(ours[1]);
	client_close(c);
}
END_TEST

START_TEST(U09_a_ready_that_may_not_be_read_lets_out)
{
	static const char peer[] = STEP "/00000000-0000-4000-8000-000000000000";
	enum kustos_err blind = answer_to_the_blind();
	struct kustos_client *c = secretive();

	ours[0] = member_new(client, 2);
	check_err(kustos_create(c, peer, "", 0, KUSTOS_CREATE_EPHEMERAL, SOON,
			  NULL, NULL, NULL),
		KUSTOS_OK);
	member_enter(ours[0], &ends[0]);
	check_err(end_wait(&ends[0], 5000), KUSTOS_OK);
	check_err(kustos_delete(c, READY, -1, SOON, NULL), KUSTOS_OK);
	check_err(kustos_create(c, READY, "10.0.0.1", 8, 0, SOON, NULL, NULL,
			  NULL),
		KUSTOS_OK);
	member_leave(ours[0], &ends[0]);
	pair_flush();
	check_err(kustos_delete(c, peer, -1, SOON, NULL), KUSTOS_OK);
	check_err(end_wait(&ends[0], 5000), blind);
	if (blind != KUSTOS_OK) /* it has not waited until it was the last */
		check_err(kustos_delete(c, READY, -1, SOON, NULL), KUSTOS_OK);
	step_check_empty();
	kustos_double_barrier_destroy(ours[0]);
	client_close(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("double barrier");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, crew_set_up, crew_tear_down);
	tcase_add_test(t,
		they_go_in_together_and_out_together_round_after_round);
	tcase_add_test(t, many_take_part);
	tcase_add_test(t, the_last_member_enters_in_two_round_trips);
	tcase_add_loop_test(t, L18_a_leftover_ready_lets_nobody_in, 0, 2);
	tcase_add_test(t, who_leaves_does_not_wait_for_the_next_round);
	tcase_add_test(t,
		L18_who_goes_at_once_as_the_last_does_not_mind_the_next_round);
	tcase_add_test(t, who_leaves_waits_for_who_has_joined_its_round);
	tcase_add_test(t,
		L18_a_deadline_or_a_cancel_ends_each_phase_and_leaves_nothing);
	tcase_add_loop_test(t,
		L01_who_waits_is_told_when_its_member_ends_and_is_out, 0, 2);
	tcase_add_test(t, U09_a_member_that_may_not_be_read_is_waited_for);
	tcase_add_test(t, U09_who_goes_at_once_knows_that_such_a_member_is_in);
	tcase_add_test(t, U09_a_ready_that_may_not_be_read_lets_nobody_in);
	tcase_add_test(t, U09_a_ready_that_may_not_be_read_lets_out);
	tcase_add_test(t, a_member_shows_the_data_that_was_asked_for);
	tcase_add_test(t, wrong_arguments_are_refused);
	return fixture_main(s);
}
