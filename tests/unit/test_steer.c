/* test_steer.c - steer.h: when a server is left, and for which one. */
#include "steer_bed.h"

START_TEST(nothing_is_done_while_all_is_well)
{
	expect_peace();
	ku_steer_heartbeat(&s, now);
	expect_quiet_until(now + T / 16);
	now -= 1;
	ku_steer_answered(&s);
	expect_peace();
}
END_TEST

START_TEST(L04_a_dead_server_is_left_after_an_eighth_for_a_live_one)
{
	int64_t sent = now;

	ku_steer_heartbeat(&s, now);
	expect_quiet_until(sent + T / 16);
	expect(KU_STEER_PROBE);
	ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	expect_quiet_until(sent + T / 8);
	expect(KU_STEER_KICK);
	ku_steer_disconnected(&s, now);
	expect(KU_STEER_RESOLVE);
	expect_quiet_until(sent + T / 8 + GRACE);
	expect_to(2);
	ku_steer_connected(&s, 2);
	expect(KU_STEER_STOP);
	expect_peace();
}
END_TEST

START_TEST(L04_a_server_that_refuses_probes_has_the_same_time)
{
	int64_t sent = now;

	miss_an_answer();
	ku_steer_verdict(&s, 0, KU_PROBE_REFUSED);
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	expect_quiet_until(sent + T / 8);
	expect(KU_STEER_KICK);
}
END_TEST

START_TEST(a_slow_server_is_left_after_a_third)
{
	int64_t sent = now;

	miss_an_answer();
	for (to = 0; to < 3; to++)
		ku_steer_verdict(&s, to, KU_PROBE_LIVE);
	expect(KU_STEER_STOP);
	expect(KU_STEER_NONE);
	ck_assert_int_lt(wake, sent + T / 3);
	now = sent + T / 3 - 1;
	expect(KU_STEER_PROBE);
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	now++;
	/* The present server has not had time to answer in this round. */
	expect(KU_STEER_NONE);
	ku_steer_verdict(&s, 0, KU_PROBE_LIVE);
	expect(KU_STEER_KICK);
}
END_TEST

START_TEST(a_server_is_not_left_when_no_other_lives)
{
	int64_t end = now + 2 * T;
	int lookups = 0;

	ku_steer_heartbeat(&s, now);
	while (now < end) {
		enum ku_steer_action action = next();

		ck_assert(action != KU_STEER_KICK && action != KU_STEER_TO);
		lookups += action == KU_STEER_RESOLVE;
		if (action == KU_STEER_PROBE)
			ku_steer_verdict(&s, 1, KU_PROBE_NOT_SERVING);
		if (action == KU_STEER_NONE)
			now = wake;
	}
	/* The names may have moved. */
	ck_assert_int_eq(lookups, 2);
}
END_TEST

START_TEST(a_connection_is_renewed_if_its_server_answers_only_probes)
{
	int64_t sent = now;

	miss_an_answer();
	ku_steer_verdict(&s, 0, KU_PROBE_LIVE);
	ku_steer_verdict(&s, 1, KU_PROBE_REFUSED);
	now = sent + T / 6;
	expect(KU_STEER_NONE);
	now = sent + T / 3;
	expect(KU_STEER_KICK);
}
END_TEST

START_TEST(an_answer_ends_the_search)
{
	miss_an_answer();
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	ku_steer_answered(&s);
	now += T;
	expect(KU_STEER_STOP);
	expect_peace();
}
END_TEST

START_TEST(yesterdays_answers_do_not_count)
{
	miss_an_answer();
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	ku_steer_answered(&s);
	expect(KU_STEER_STOP);
	now += T;
	ku_steer_heartbeat(&s, now);
	expect_quiet_until(now + T / 16);
	expect(KU_STEER_PROBE);
	pass_to(now + T / 16);
	expect(KU_STEER_NONE);
}
END_TEST

START_TEST(when_a_kick_is_not_possible_the_handle_is_steered_away)
{
	miss_an_answer();
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	now += T / 16;
	expect(KU_STEER_KICK);
	ku_steer_kick_failed(&s);
	expect_to(1);
	expect(KU_STEER_RESOLVE);
	ck_assert(!s.connected);
	/* The event may still come. */
	ku_steer_disconnected(&s, now);
	expect(KU_STEER_NONE);
	ck_assert_int_le(wake, now + T / 6);
}
END_TEST

/* Although they just were, as no server lived. */
START_TEST(U08_names_are_looked_up_when_the_handle_is_steered_away)
{
	int i;

	miss_an_answer();
	for (i = 0; i < 3; i++)
		ku_steer_verdict(&s, i, KU_PROBE_REFUSED);
	expect(KU_STEER_STOP);
	expect(KU_STEER_RESOLVE);
	expect_quiet_until(now + T / 16);
	expect(KU_STEER_PROBE);
	ku_steer_verdict(&s, 0, KU_PROBE_REFUSED);
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	expect(KU_STEER_KICK);
	ku_steer_kick_failed(&s);
	expect_to(1);
	expect(KU_STEER_RESOLVE);
}
END_TEST

START_TEST(after_a_disconnect_all_are_probed_at_once)
{
	disconnect();
	ku_steer_verdict(&s, 1, KU_PROBE_REFUSED);
	ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	expect_quiet_until(now + GRACE);
	expect_to(2);
}
END_TEST

START_TEST(a_reconnect_by_the_library_is_not_disturbed)
{
	disconnect();
	ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	expect(KU_STEER_NONE);
	now += GRACE - 1;
	ku_steer_connected(&s, 1);
	now += T;
	expect(KU_STEER_STOP);
	expect(KU_STEER_NONE);
}
END_TEST

START_TEST(answers_from_before_a_disconnect_do_not_count)
{
	int running;

	for (running = 0; running < 2; running++) {
		disconnect();
		ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
		ku_steer_connected(&s, 1);
		if (!running)
			expect(KU_STEER_STOP);
		now += T / 1000;
		ku_steer_disconnected(&s, now);
		expect(KU_STEER_RESOLVE);
		if (running)
			expect(KU_STEER_STOP);
		expect(KU_STEER_PROBE);
		expect_quiet_until(now + T / 16);
		ku_steer_connected(&s, 0);
		expect(KU_STEER_STOP);
	}
}
END_TEST

/* Steered to server 2 and connected there: the handle knows no other server. */
static void steer_to_2(void)
{
	disconnect();
	ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	now += GRACE;
	expect_to(2);
}

START_TEST(a_handle_that_knows_only_a_dead_server_is_moved_soon)
{
	steer_to_2();
	ku_steer_connected(&s, 2);
	expect(KU_STEER_STOP);
	now += 10 * T;
	disconnect();
	ku_steer_verdict(&s, 0, KU_PROBE_LIVE);
	expect_quiet_until(now + T / 16);
	expect_to(0);
	ku_steer_connected(&s, 0);
	expect(KU_STEER_STOP);
	now += 10 * T;
	disconnect();
	ku_steer_verdict(&s, 0, KU_PROBE_REFUSED);
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	expect_quiet_until(now + GRACE);
	expect_to(1);
}
END_TEST

START_TEST(L04_a_handle_that_missed_where_to_go_is_told_again)
{
	int64_t told;

	steer_to_2();
	told = now;
	ku_steer_verdict(&s, 0, KU_PROBE_SILENT);
	ku_steer_verdict(&s, 1, KU_PROBE_SILENT);
	expect(KU_STEER_STOP);
	while (next() != KU_STEER_TO) {
		ck_assert_int_lt(now, told + T / 6);
		now = wake;
		ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	}
	ck_assert_int_eq(now, told + T / 6);
	ck_assert_int_ne(to, 2);
	while (next() != KU_STEER_TO) {
		now = wake;
		ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	}
	ck_assert_int_eq(now, told + T / 6 + GRACE);
	ck_assert_int_eq(to, 2);
}
END_TEST

START_TEST(L04_no_server_has_more_than_a_sixth_to_take_us)
{
	int64_t tried;
	int steps = 0;

	steer_to_2();
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	tried = now;
	for (;;) {
		enum ku_steer_action action = next();
		int i;

		ck_assert_int_lt(++steps, 100);
		if (action == KU_STEER_TO)
			break;
		if (action == KU_STEER_PROBE)
			for (i = 1; i < 3; i++)
				ku_steer_verdict(&s, i, KU_PROBE_LIVE);
		if (action == KU_STEER_NONE)
			now = wake;
	}
	ck_assert_int_eq(to, 1);
	ck_assert_int_eq(now, tried + T / 6);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("steer");
	TCase *tcase = tcase_create("decisions");

	tcase_add_checked_fixture(tcase, three_servers, NULL);
	tcase_add_test(tcase, nothing_is_done_while_all_is_well);
	tcase_add_test(tcase,
		L04_a_dead_server_is_left_after_an_eighth_for_a_live_one);
	tcase_add_test(tcase,
		L04_a_server_that_refuses_probes_has_the_same_time);
	tcase_add_test(tcase, a_slow_server_is_left_after_a_third);
	tcase_add_test(tcase, a_server_is_not_left_when_no_other_lives);
	tcase_add_test(tcase,
		a_connection_is_renewed_if_its_server_answers_only_probes);
	tcase_add_test(tcase, an_answer_ends_the_search);
	tcase_add_test(tcase, yesterdays_answers_do_not_count);
	tcase_add_test(tcase,
		when_a_kick_is_not_possible_the_handle_is_steered_away);
	tcase_add_test(tcase,
		U08_names_are_looked_up_when_the_handle_is_steered_away);
	tcase_add_test(tcase, after_a_disconnect_all_are_probed_at_once);
	tcase_add_test(tcase, a_reconnect_by_the_library_is_not_disturbed);
	tcase_add_test(tcase, answers_from_before_a_disconnect_do_not_count);
	tcase_add_test(tcase,
		a_handle_that_knows_only_a_dead_server_is_moved_soon);
	tcase_add_test(tcase,
		L04_a_handle_that_missed_where_to_go_is_told_again);
	tcase_add_test(tcase, L04_no_server_has_more_than_a_sixth_to_take_us);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
