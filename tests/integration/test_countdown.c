/*
 * test_countdown.c - the count-down latch: counted down, waited for, and what
 * lost replies, dead participants and wrong counts do to it.  inject.h loses
 * frames, and sessions are ended from outside.
 */
#include "countdown_fixture.h"

#include <errno.h>
#include <string.h>

START_TEST(all_who_wait_go_on_at_zero)
{
	struct end ends[3] = { { .calls = 0 } };

	check_err(look(own), KUSTOS_EBUSY);
	await(others, &ends[0]); /* does not know the count */
	set(own);
	set(own);
	await(own, &ends[1]);
	await(own, &ends[2]);
	count_down(others, "a");
	count_down(own, "a");
	check_err(look(own), KUSTOS_EBUSY);
	check_err(look(others), KUSTOS_EBUSY);
	pair_settle();
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(end_calls(&ends[i]), 0);
	count_down(own, "b");
	for (int i = 0; i < 3; i++)
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
	count_down(own, "c"); /* one more than needed */
	check_err(look(own), KUSTOS_OK);
	check_err(kustos_countdown_wait(others, SOON, NULL), KUSTOS_OK);
}
END_TEST

START_TEST(each_call_costs_one_round_trip_and_all_share_one_watch)
{
	struct end ends[3] = { { .calls = 0 } };

	set(own);
	proxy_reset_counts(proxy);
	for (int i = 0; i < 3; i++)
		await(own, &ends[i]);
	pair_settle();
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 1);
	count_down(own, "a");
	test_eventually(proxy_count(proxy, ZK_OP_CHILDREN2) == 2, 5000);
	count_down(own, "a");
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE2), 2);
	count_down(others, "b");
	for (int i = 0; i < 3; i++)
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 3);
}
END_TEST

START_TEST(who_goes_by_another_number_is_told)
{
	struct kustos_countdown *three = make(other, 3);
	struct kustos_countdown_status *s = NULL;
	struct end end = { .calls = 0 };

	await(three, &end);
	pair_settle();
	set(own);
	check_err(end_wait(&end, 5000), KUSTOS_EDISAGREE);
	check_err(look(three), KUSTOS_EDISAGREE);
	check_err(kustos_countdown_set(three, SOON, NULL), KUSTOS_EDISAGREE);
	check_err(look(own), KUSTOS_EBUSY); /* its mistake changes nothing */
	check_err(kustos_countdown_set(others, SOON, NULL), KUSTOS_EINVAL);
	/* Two different counts at the same time. */
	ck_assert_int_eq(raw_create(fixture_address(), LATCH "/count-3", ""),
		0);
	check_err(look(own), KUSTOS_EDISAGREE);
	check_err(look(others), KUSTOS_EDISAGREE);
	check_err(kustos_countdown_look(own, SOON, NULL, &s), KUSTOS_OK);
	ck_assert(s->disagree && s->count == 0);
	kustos_countdown_status_free(s);
	check_err(kustos_countdown_set(own, SOON, NULL), KUSTOS_EDISAGREE);
	kustos_countdown_destroy(three);
}
END_TEST

START_TEST(S12_neither_a_cut_nor_a_new_session_lets_anybody_pass)
{
	struct end end = { .calls = 0 };

	set(own);
	count_down(others, "a");
	await(own, &end);
	pair_settle();
	proxy_cut(proxy);
	test_eventually(client_stats(client).disconnects == 1, 5000);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	pair_settle();
	ck_assert_int_eq(end_calls(&end), 0);
	proxy_reset_counts(proxy);
	client_kill_session(client);
	client_wait_epoch(client, 1, 8000);
	/* It may take a while until the client looks again. */
	test_eventually(proxy_count(proxy, ZK_OP_CHILDREN2) > 0, 5000);
	pair_settle();
	ck_assert_int_eq(end_calls(&end), 0);
	if (_i == 1) { /* zero is reached while "client" is cut off */
		inject_connect(ECONNREFUSED);
		proxy_cut(proxy);
		client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	}
	count_down(others, "b");
	inject_connect(0);
	check_err(end_wait(&end, 5000), KUSTOS_OK);
}
END_TEST

/* "_i" selects a kind of fault and one of the first creations. */
START_TEST(S06_a_call_whose_answer_is_lost_counts_once)
{
	struct kustos_countdown_status *status = NULL;

	set(own);
	inject_frame(faults[_i % 2], ZK_OP_CREATE2, 1 + _i / 2);
	join(own, "a");
	count_down(own, "a");
	ck_assert_int_eq(inject_fired(), 1);
	inject_frame(faults[_i % 2], ZK_OP_CHILDREN2, 1);
	check_err(kustos_countdown_look(own, SOON, NULL, &status), KUSTOS_OK);
	ck_assert_uint_eq(status->done, 1);
	ck_assert_uint_eq(status->participant_count, 1);
	ck_assert_uint_eq(status->broken, 0);
	kustos_countdown_status_free(status);
	check_err(look(own), KUSTOS_EBUSY);
	count_down(others, "b");
	check_err(look(own), KUSTOS_OK);
	/* Only what counts is left: a number, a must, two done. */
	test_eventually(raw_count_children(fixture_address(), LATCH) == 4,
		5000);
}
END_TEST

START_TEST(S06_setting_it_survives_a_lost_answer)
{
	inject_frame(faults[_i], ZK_OP_CREATE2, 1);
	set(own);
	ck_assert_int_eq(inject_fired(), 1);
	ck_assert_int_eq(raw_count_children(fixture_address(), LATCH), 1);
}
END_TEST

START_TEST(who_waits_is_told_that_one_who_must_count_has_died)
{
	struct end end = { .calls = 0 };

	set(own);
	join(others, "b");
	join(own, "a");
	await(others, &end);
	pair_settle();
	check_err(look(others), KUSTOS_EBUSY);
	client_kill_session(client);
	check_err(end_wait(&end, 5000), KUSTOS_EBROKEN);
	check_err(look(others), KUSTOS_EBROKEN);
	client_wait_epoch(client, 1, 8000);
	if (_i == 0) /* it comes back in another session */
		join(own, "a");
	else
		count_down(others, "a");
	check_err(look(others), KUSTOS_EBUSY);
	count_down(own, "a");
	count_down(others, "b");
	check_err(look(others), KUSTOS_OK);
}
END_TEST

START_TEST(who_is_done_may_die)
{
	struct kustos_countdown_status *s = NULL;

	set(own);
	join(own, "a");
	count_down(own, "a");
	client_kill_session(client);
	client_wait_epoch(client, 1, 8000);
	check_err(look(others), KUSTOS_EBUSY);
	join(own, "b");
	kustos_countdown_destroy(own);
	pair_flush();
	own = NULL;
	check_err(look(others), KUSTOS_EBROKEN);
	check_err(kustos_countdown_look(others, SOON, NULL, &s), KUSTOS_OK);
	ck_assert_uint_eq(s->broken, 1);
	ck_assert_uint_eq(s->participant_count, 2);
	ck_assert(s->participants[0]->done && !s->participants[0]->alive);
	ck_assert(s->participants[1]->must && !s->participants[1]->alive);
	kustos_countdown_status_free(s);
}
END_TEST

/* A process is restarted while the session of its predecessor lives, and then
   that session ends.  At no time may the participant look dead. */
START_TEST(a_participant_lives_as_long_as_one_of_its_sessions)
{
	struct end end = { .calls = 0 };

	set(own);
	join(own, "a");
	await(others, &end);
	join(others, "a");
	join(others, "a");
	/* The replaced node is deleted in the background. */
	test_eventually(raw_count_children(fixture_address(), LATCH) == 4,
		5000);
	client_kill_session(client);
	test_eventually(raw_count_children(fixture_address(), LATCH) == 3,
		5000);
	check_err(look(others), KUSTOS_EBUSY);
	ck_assert_int_eq(end_calls(&end), 0);
	count_down(others, "a");
	count_down(others, "b");
	check_err(end_wait(&end, 5000), KUSTOS_OK);
}
END_TEST

START_TEST(what_it_is_like_is_told)
{
	struct kustos_countdown_status *s = NULL;

	check_err(kustos_countdown_look(own, SOON, NULL, &s), KUSTOS_ENONODE);
	ck_assert_ptr_null(s);
	set(own);
	join(own, "x/y");
	count_down(own, "a b");
	check_err(kustos_countdown_look(others, SOON, NULL, &s), KUSTOS_OK);
	ck_assert_int_eq(s->count, 2);
	ck_assert_uint_eq(s->done, 1);
	ck_assert_uint_eq(s->broken, 0);
	ck_assert_int_eq(s->disagree, 0);
	ck_assert_uint_eq(s->participant_count, 2);
	ck_assert_str_eq(s->participants[0]->id, "a b");
	ck_assert(s->participants[0]->done && !s->participants[0]->must);
	ck_assert_str_eq(s->participants[1]->id, "x/y");
	ck_assert(!s->participants[1]->done && s->participants[1]->must);
	ck_assert(s->participants[1]->alive);
	kustos_countdown_status_free(s);
	kustos_countdown_status_free(NULL);
}
END_TEST

START_TEST(L01_who_waits_is_told_when_it_is_destroyed_or_the_wait_given_up)
{
	struct kustos_cancel *cancel = NULL;
	struct end ends[2] = { { .calls = 0 } };

	check_err(kustos_countdown_wait(own, kustos_after_ms(30), NULL),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	check_err(kustos_countdown_wait_async(own, SOON, cancel, end_told,
			  &ends[0]),
		KUSTOS_OK);
	await(own, &ends[1]);
	pair_settle();
	kustos_cancel_fire(cancel);
	check_err(end_wait(&ends[0], 3000), KUSTOS_ECANCELED);
	ck_assert_int_eq(end_calls(&ends[1]), 0);
	kustos_countdown_destroy(own);
	own = NULL;
	check_err(end_wait(&ends[1], 3000), KUSTOS_ECLOSED);
	kustos_cancel_destroy(cancel);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
	struct kustos_countdown_options o = KUSTOS_COUNTDOWN_OPTIONS_INIT;
	static const char *const paths[] = { NULL, "/", "b", "/b/" };
	struct kustos_countdown *c = NULL;
	char id[KUSTOS_COUNTDOWN_ID_MAX + 2];

	check_err(kustos_countdown_create(NULL, LATCH, 1, NULL, &c),
		KUSTOS_EINVAL);
	for (int i = 0; i < 4; i++)
		check_err(
			kustos_countdown_create(client, paths[i], 1, NULL, &c),
			KUSTOS_EINVAL);
	check_err(kustos_countdown_create(client, LATCH, -1, NULL, &c),
		KUSTOS_EINVAL);
	check_err(kustos_countdown_create(client, LATCH, 1, NULL, NULL),
		KUSTOS_EINVAL);
	o.data_len = 1;
	check_err(kustos_countdown_create(client, LATCH, 1, &o, &c),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(c);
	memset(id, 'x', sizeof(id));
	id[sizeof(id) - 1] = '\0';
	check_err(kustos_countdown_done(own, id, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_countdown_join(own, "", SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_countdown_done(own, NULL, SOON, NULL), KUSTOS_EINVAL);
	id[sizeof(id) - 2] = '\0';
	check_err(kustos_countdown_done(own, id, SOON, NULL), KUSTOS_OK);
	check_err(kustos_countdown_set(NULL, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_countdown_wait(NULL, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_countdown_wait_async(own, SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_countdown_look(own, SOON, NULL, NULL), KUSTOS_EINVAL);
	kustos_countdown_destroy(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("count-down latch");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, all_who_wait_go_on_at_zero);
	tcase_add_test(t,
		each_call_costs_one_round_trip_and_all_share_one_watch);
	tcase_add_test(t, who_goes_by_another_number_is_told);
	tcase_add_loop_test(t,
		S12_neither_a_cut_nor_a_new_session_lets_anybody_pass, 0, 2);
	tcase_add_loop_test(t, S06_a_call_whose_answer_is_lost_counts_once, 0,
		6);
	tcase_add_loop_test(t, S06_setting_it_survives_a_lost_answer, 0, 2);
	tcase_add_loop_test(t,
		who_waits_is_told_that_one_who_must_count_has_died, 0, 2);
	tcase_add_test(t, who_is_done_may_die);
	tcase_add_test(t, a_participant_lives_as_long_as_one_of_its_sessions);
	tcase_add_test(t, what_it_is_like_is_told);
	tcase_add_test(t,
		L01_who_waits_is_told_when_it_is_destroyed_or_the_wait_given_up);
	tcase_add_test(t, wrong_arguments_are_refused);
	return fixture_main(s);
}
