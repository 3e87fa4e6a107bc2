/* test_steer_edges.c - steer.h: answers and events that no longer count, or do
   not count yet. */
#include "steer_bed.h"

/* "server" lives, and none of the others does. */
static void only_lives(int server)
{
	int i;

	for (i = 0; i < s.count; i++)
		ku_steer_verdict(&s, i,
			i == server ? KU_PROBE_LIVE : KU_PROBE_REFUSED);
}

START_TEST(without_a_handle_there_is_nothing_to_do)
{
	ku_steer_init(&s, &rnd);
	ku_steer_timeout(&s, T);
	ku_steer_addresses(&s, 3, true, -1);
	expect_peace();
	ku_steer_opened(&s, now);
	expect(KU_STEER_PROBE);
	ku_steer_closed(&s);
	expect(KU_STEER_STOP);
	expect_peace();
}
END_TEST

START_TEST(a_heartbeat_without_a_connection_changes_nothing)
{
	int64_t quiet_until;

	disconnect();
	expect(KU_STEER_NONE);
	quiet_until = wake;
	ku_steer_heartbeat(&s, now);
	expect(KU_STEER_NONE);
	ck_assert_int_eq(wake, quiet_until);
}
END_TEST

START_TEST(a_round_that_runs_when_a_heartbeat_goes_out_goes_on)
{
	int64_t sent = now;

	disconnect();
	ku_steer_connected(&s, 0);
	ku_steer_heartbeat(&s, now);
	expect(KU_STEER_NONE);
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	expect_quiet_until(sent + T / 16);
	expect_quiet_until(sent + T / 8);
	expect(KU_STEER_KICK);
}
END_TEST

START_TEST(each_silence_has_its_time_although_a_kick_has_failed)
{
	int64_t sent;

	miss_an_answer();
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	now += T / 16;
	expect(KU_STEER_KICK);
	ku_steer_kick_failed(&s);
	ku_steer_answered(&s);
	expect(KU_STEER_STOP);
	expect_peace();
	now += T;
	sent = now;
	miss_an_answer();
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	expect_quiet_until(sent + T / 8);
	expect(KU_STEER_KICK);
}
END_TEST

/* Leave for server 1, which lives, in the round that runs. */
static void kick(void)
{
	miss_an_answer();
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	now += T / 16;
	expect(KU_STEER_KICK);
}

START_TEST(what_a_kick_was_for_does_not_count_for_another_handle)
{
	kick();
	if (_i == 0)
		ku_steer_disconnected(&s, now);
	else
		ku_steer_closed(&s);
	ku_steer_opened(&s, now);
	expect(KU_STEER_STOP);
	expect(KU_STEER_PROBE);
}
END_TEST

START_TEST(answers_that_are_old_when_a_kick_comes_do_not_count)
{
	miss_an_answer();
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	now += _i == 0 ? T / 8 : T / 8 + 1;
	expect(KU_STEER_KICK);
	ku_steer_disconnected(&s, now);
	expect(KU_STEER_RESOLVE);
	expect(KU_STEER_STOP);
	if (_i == 0)
		expect_quiet_until(now + GRACE);
	else
		expect(KU_STEER_PROBE);
}
END_TEST

START_TEST(a_round_from_before_a_disconnect_tells_nothing_however_late)
{
	disconnect();
	ku_steer_connected(&s, 1);
	ku_steer_disconnected(&s, now);
	now += GRACE;
	ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	expect(KU_STEER_RESOLVE);
	expect(KU_STEER_STOP);
	expect(KU_STEER_PROBE);
}
END_TEST

/* The owner was kept from asking, and has probed nobody. */
START_TEST(answers_from_before_a_heartbeat_do_not_count_however_late)
{
	miss_an_answer();
	ku_steer_verdict(&s, 0, KU_PROBE_LIVE);
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	ku_steer_answered(&s);
	expect(KU_STEER_STOP);
	ku_steer_heartbeat(&s, now);
	now += T / 3;
	expect(KU_STEER_PROBE);
}
END_TEST

START_TEST(an_answer_after_its_round_does_not_count)
{
	miss_an_answer();
	for (int i = 0; i < 3; i++)
		ku_steer_verdict(&s, i, KU_PROBE_REFUSED);
	expect(KU_STEER_STOP);
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	expect(KU_STEER_RESOLVE); /* because none lives */
}
END_TEST

START_TEST(a_silence_counts_from_the_first_heartbeat)
{
	int64_t sent = now;

	miss_an_answer();
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	ku_steer_heartbeat(&s, now);
	expect_quiet_until(sent + T / 8);
	expect(KU_STEER_KICK);
}
END_TEST

START_TEST(names_are_not_looked_up_while_a_server_lives)
{
	/* Kicks do not help, and the handle cannot be steered. */
	ku_steer_addresses(&s, 3, false, 0);
	miss_an_answer();
	only_lives(_i);
	expect(KU_STEER_STOP);
	now += T / 3;
	expect(KU_STEER_KICK);
	ku_steer_kick_failed(&s);
	expect(KU_STEER_PROBE);
	only_lives(-1);
	expect(KU_STEER_STOP);
	expect(KU_STEER_RESOLVE);
}
END_TEST

/* Return how long after the end of this round, which is at once, the next one
   begins. */
static int64_t pause_after(void)
{
	enum ku_steer_action action;
	int64_t ended = now;

	only_lives(-1);
	expect(KU_STEER_STOP);
	while ((action = next()) != KU_STEER_PROBE)
		if (action == KU_STEER_NONE)
			now = wake;
	return now - ended;
}

START_TEST(pauses_between_rounds_begin_small_with_each_search)
{
	int64_t pause = T / 16;
	int i;

	disconnect();
	for (i = 0; i < 5; i++) {
		ck_assert_int_eq(pause_after(), pause);
		pause = pause < T / 8 ? 2 * pause : T / 4;
	}
	ku_steer_addresses(&s, 2, true, -1);
	expect(KU_STEER_PROBE);
	ck_assert_int_eq(pause_after(), T / 16);
	ck_assert_int_eq(pause_after(), T / 8);
	ku_steer_connected(&s, 0);
	expect(KU_STEER_STOP);
	miss_an_answer();
	ck_assert_int_eq(pause_after(), T / 16);
	ck_assert_int_eq(pause_after(), T / 8);
	/* The same after a kick, although its round counts. */
	only_lives(1);
	expect(KU_STEER_KICK);
	ku_steer_disconnected(&s, now);
	expect(KU_STEER_RESOLVE);
	ck_assert_int_eq(pause_after(), T / 16);
}
END_TEST

START_TEST(rounds_are_a_tenth_of_a_second_apart_however_short_the_timeout)
{
	int i;

	ku_steer_timeout(&s, 200 * MS);
	disconnect();
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(pause_after(), 100 * MS);
}
END_TEST

START_TEST(the_librarys_own_try_has_a_part_of_the_timeout_but_not_long)
{
	static const int64_t timeouts[] = { 1200 * MS, 60000 * MS };
	static const int64_t graces[] = { 10 * MS, 50 * MS };

	ku_steer_timeout(&s, timeouts[_i]);
	disconnect();
	ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	expect_quiet_until(now + graces[_i]);
	expect_to(2);
}
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("steer_edges");
	TCase *tcase = tcase_create("decisions");

	tcase_add_checked_fixture(tcase, three_servers, NULL);
	tcase_add_test(tcase, without_a_handle_there_is_nothing_to_do);
	tcase_add_test(tcase, a_heartbeat_without_a_connection_changes_nothing);
	tcase_add_test(tcase,
		a_round_that_runs_when_a_heartbeat_goes_out_goes_on);
	tcase_add_test(tcase,
		each_silence_has_its_time_although_a_kick_has_failed);
	tcase_add_loop_test(tcase,
		what_a_kick_was_for_does_not_count_for_another_handle, 0, 2);
	tcase_add_loop_test(tcase,
		answers_that_are_old_when_a_kick_comes_do_not_count, 0, 2);
	tcase_add_test(tcase,
		a_round_from_before_a_disconnect_tells_nothing_however_late);
	tcase_add_test(tcase,
		answers_from_before_a_heartbeat_do_not_count_however_late);
	tcase_add_test(tcase, an_answer_after_its_round_does_not_count);
	tcase_add_test(tcase, a_silence_counts_from_the_first_heartbeat);
	tcase_add_loop_test(tcase, names_are_not_looked_up_while_a_server_lives,
		0, 2);
	tcase_add_test(tcase,
		pauses_between_rounds_begin_small_with_each_search);
	tcase_add_test(tcase,
		rounds_are_a_tenth_of_a_second_apart_however_short_the_timeout);
	tcase_add_loop_test(tcase,
		the_librarys_own_try_has_a_part_of_the_timeout_but_not_long, 0,
		2);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return unit_main(suite());
}
