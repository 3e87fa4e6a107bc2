/* test_steer_servers.c - steer.h: decisions that depend on which servers there
   are. */
#include "steer_bed.h"

START_TEST(rounds_go_on_and_become_rarer)
{
	int64_t last = -1, gap = 0, end = now + 20 * T;
	int rounds = 0;

	ku_steer_disconnected(&s, now);
	while (now < end) {
		enum ku_steer_action action = next();

		if (action == KU_STEER_PROBE) {
			if (last >= 0) {
				ck_assert_int_ge(now - last, gap);
				gap = now - last;
			}
			last = now;
			rounds++;
		}
		if (action == KU_STEER_NONE) {
			ck_assert_int_gt(wake, now);
			now = wake;
		}
	}
	ck_assert_int_eq(gap, T / 8 + T / 4);
	ck_assert_int_gt(rounds, 20 * 8 / 3 - 1);
}
END_TEST

/* Return the number of rounds until "end".  One server lives, and meanwhile no
   decision may steer, kick, or try anew. */
static int probes_until(int64_t end)
{
	int probes = 0;

	while (now < end) {
		enum ku_steer_action action = next();

		ck_assert(action != KU_STEER_TO && action != KU_STEER_KICK &&
			action != KU_STEER_ANEW);
		if (action == KU_STEER_NONE)
			now = wake;
		if (action != KU_STEER_PROBE)
			continue;
		probes++;
		ku_steer_verdict(&s, s.count - 1, KU_PROBE_LIVE);
	}
	return probes;
}

START_TEST(L23_servers_on_one_ip_are_never_steered_to)
{
	int64_t end = now + 5 * T;

	ku_steer_addresses(&s, 3, false, 0);
	ku_steer_disconnected(&s, now);
	ck_assert_int_gt(probes_until(end), 5);
	/* Nor is the only one that is left tried anew. */
	ku_steer_shun(&s, 0, true);
	ku_steer_shun(&s, 1, true);
	ck_assert_int_gt(probes_until(end + 5 * T), 5);
	/* But they can be kicked. */
	ku_steer_shun(&s, 1, false);
	ku_steer_connected(&s, 0);
	if (s.probing)
		expect(KU_STEER_STOP);
	miss_an_answer();
	ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	now += T / 16;
	expect(KU_STEER_KICK);
	ku_steer_kick_failed(&s);
	pass_to(now + T / 20);
}
END_TEST

START_TEST(U08_names_are_looked_up_at_each_disconnect_and_then_now_and_again)
{
	int64_t end = now + 10 * T;
	int lookups = 0;

	ku_steer_disconnected(&s, now);
	expect(KU_STEER_RESOLVE);
	while (now < end) {
		enum ku_steer_action action = next();

		lookups += action == KU_STEER_RESOLVE;
		if (action == KU_STEER_NONE)
			now = wake;
	}
	ck_assert_int_ge(lookups, 9);
	ck_assert_int_le(lookups, 10);
}
END_TEST

START_TEST(U08_new_addresses_are_probed_and_steered_to)
{
	disconnect();
	now += T / 20;
	ku_steer_addresses(&s, 1, true, -1);
	expect(KU_STEER_PROBE);
	ku_steer_verdict(&s, 0, KU_PROBE_LIVE);
	expect_to(0);
	expect(KU_STEER_STOP);
	pass_to(now + T / 20);
}
END_TEST

/* Among the new addresses the same server has another number. */
START_TEST(U08_what_the_handle_knows_is_found_among_new_addresses)
{
	disconnect();
	ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	ku_steer_verdict(&s, 0, KU_PROBE_REFUSED);
	expect_quiet_until(now + GRACE);
	expect_to(2);
	ku_steer_connected(&s, 2);
	ku_steer_addresses(&s, 2, true, 1);
	ku_steer_disconnected(&s, now);
	ck_assert_int_eq(s.server, 1);
}
END_TEST

/* Until "end" the only server answers "verdict" whenever it is probed.  Returns
   how often it was tried anew. */
static int times_anew(int64_t end, enum ku_probe_verdict verdict)
{
	bool asked = false; /* the answer takes a moment */
	int anew = 0;

	while (now < end) {
		enum ku_steer_action action = next();

		ck_assert(action != KU_STEER_TO && action != KU_STEER_KICK);
		if (action == KU_STEER_NONE && asked)
			ku_steer_verdict(&s, 0, verdict);
		else if (action == KU_STEER_NONE)
			now = wake < end ? wake : end;
		asked = action == KU_STEER_PROBE ||
			(asked && action != KU_STEER_NONE);
		anew += action == KU_STEER_ANEW;
	}
	return anew;
}

START_TEST(L04_a_single_server_that_lives_and_takes_nobody_is_tried_anew)
{
	ku_steer_addresses(&s, 1, true, -1);
	ku_steer_opened(&s, now);
	/* A server that is down is not tried anew, however long. */
	ck_assert_int_eq(times_anew(now + 2 * T, KU_PROBE_REFUSED), 0);
	while (!s.probing)
		if (next() == KU_STEER_NONE)
			now = wake;
	ku_steer_verdict(&s, 0, KU_PROBE_LIVE);
	ck_assert_int_eq(times_anew(now + T / 6, KU_PROBE_LIVE), 0);
	expect(KU_STEER_ANEW);
	ck_assert_int_eq(to, 0);
	/* A slow server gets more time, and then as much as the library
	   gives. */
	ck_assert_int_eq(times_anew(now + T / 3, KU_PROBE_LIVE), 0);
	expect(KU_STEER_ANEW);
	ck_assert_int_eq(times_anew(now + 5 * T, KU_PROBE_LIVE), 0);
	/* A restart of the server is another chance. */
	ck_assert_int_eq(times_anew(now + T, KU_PROBE_NOT_SERVING), 0);
	ck_assert_int_eq(times_anew(now + T, KU_PROBE_LIVE), 2);
	ku_steer_connected(&s, 0);
	ck_assert_int_eq(times_anew(now + 1, KU_PROBE_LIVE), 0);
	/* So is each loss of the connection. */
	ku_steer_disconnected(&s, now);
	ck_assert_int_eq(times_anew(now + T, KU_PROBE_LIVE), 2);
}
END_TEST

START_TEST(a_single_server_that_is_down_is_asked_again_soon)
{
	int64_t end = now + 5 * T;

	ku_steer_addresses(&s, 1, true, -1);
	ku_steer_opened(&s, now);
	while (now < end) {
		enum ku_steer_action action = next();

		if (action == KU_STEER_PROBE)
			ku_steer_verdict(&s, 0, KU_PROBE_REFUSED);
		if (action != KU_STEER_NONE)
			continue;
		ck_assert_int_le(wake, now + T / 16);
		now = wake;
	}
}
END_TEST

START_TEST(a_single_server_that_dies_again_is_not_tried_anew)
{
	ku_steer_addresses(&s, 1, true, -1);
	ku_steer_opened(&s, now);
	ck_assert_int_eq(times_anew(now + 1, KU_PROBE_LIVE), 0);
	ck_assert_int_eq(times_anew(now + 2 * T, KU_PROBE_REFUSED), 0);
}
END_TEST

START_TEST(a_server_not_in_the_list_is_left_after_a_third)
{
	int64_t sent = now;
	int i;

	ku_steer_connected(&s, -1);
	miss_an_answer();
	for (i = 0; i < 3; i++)
		ku_steer_verdict(&s, i, KU_PROBE_LIVE);
	expect(KU_STEER_STOP);
	now = sent + T / 3 - 1;
	if (next() == KU_STEER_PROBE)
		ku_steer_verdict(&s, 1, KU_PROBE_LIVE);
	expect_quiet_until(sent + T / 3);
	expect(KU_STEER_KICK);
}
END_TEST

START_TEST(a_server_not_in_the_list_is_not_left_when_none_lives)
{
	int64_t end = now + T;

	ku_steer_connected(&s, -1);
	ku_steer_heartbeat(&s, now);
	while (now < end) {
		enum ku_steer_action action = next();

		ck_assert(action != KU_STEER_KICK && action != KU_STEER_TO);
		if (action == KU_STEER_NONE)
			now = wake;
	}
}
END_TEST

START_TEST(a_handle_that_knows_several_is_not_taken_to_know_one)
{
	ku_steer_addresses(&s, 3, true, 0);
	disconnect();
	ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	expect_quiet_until(now + GRACE);
	expect_to(2);
}
END_TEST

START_TEST(without_a_server_none_is_probed)
{
	ku_steer_addresses(&s, 0, true, -1);
	ku_steer_disconnected(&s, now);
	expect(KU_STEER_RESOLVE);
	expect_quiet_until(now + T);
	expect(KU_STEER_RESOLVE);
}
END_TEST

START_TEST(servers_beyond_those_that_are_probed_count_as_not_in_the_list)
{
	struct {
		struct ku_steer steer;
		enum ku_probe_verdict behind[4];
	} many = { 0 };
	int i;

	ku_steer_init(&many.steer, &rnd);
	ku_steer_timeout(&many.steer, T);
	ku_steer_addresses(&many.steer, KU_PROBE_MAX + 4, true,
		KU_PROBE_MAX + 1);
	ck_assert_int_eq(many.steer.count, KU_PROBE_MAX);
	ck_assert_int_eq(many.steer.server, -1);
	ku_steer_connected(&many.steer, KU_PROBE_MAX);
	ck_assert_int_eq(many.steer.server, -1);
	ku_steer_disconnected(&many.steer, now);
	while (ku_steer_next(&many.steer, now, &to, &wake) != KU_STEER_PROBE)
		;
	for (i = 0; i < KU_PROBE_MAX + 4; i++)
		ku_steer_verdict(&many.steer, i, KU_PROBE_LIVE);
	ku_steer_shun(&many.steer, KU_PROBE_MAX, true);
	ck_assert(!many.steer.owed); /* it is behind the arrays */
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(many.behind[i], KU_PROBE_UNKNOWN);
}
END_TEST

START_TEST(L28_live_servers_are_chosen_evenly)
{
	int chosen[3] = { 0, 0, 0 }, i, j;

	for (i = 0; i < 1000; i++) {
		ku_steer_opened(&s, now);
		expect(KU_STEER_PROBE);
		for (j = 0; j < 3; j++)
			ku_steer_verdict(&s, j, KU_PROBE_LIVE);
		now += GRACE;
		expect(KU_STEER_TO);
		chosen[to]++;
		ku_steer_connected(&s, to);
		expect(KU_STEER_STOP);
		now += T;
	}
	for (i = 0; i < 3; i++)
		ck_assert_int_gt(chosen[i], 250);
}
END_TEST

START_TEST(S06_a_server_that_is_shunned_is_not_chosen)
{
	for (int i = 0; i < 100; i++) {
		ku_steer_opened(&s, now);
		ku_steer_shun(&s, 1, true);
		expect(KU_STEER_PROBE);
		for (int j = 0; j < 3; j++)
			ku_steer_verdict(&s, j, KU_PROBE_LIVE);
		now += GRACE;
		expect(KU_STEER_TO);
		ck_assert_int_ne(to, 1);
		ku_steer_connected(&s, to);
		expect(KU_STEER_STOP);
		now += T;
	}
}
END_TEST

START_TEST(S06_no_server_is_better_than_one_that_is_shunned)
{
	ku_steer_shun(&s, 2, true);
	ku_steer_heartbeat(&s, now);
	ck_assert_int_gt(probes_until(now + 5 * T), 5); /* only one lives */
	if (s.probing)
		expect(KU_STEER_STOP);
	ku_steer_disconnected(&s, now);
	ck_assert_int_gt(probes_until(now + 5 * T), 5);
	ku_steer_shun(&s, 2, false);
	while (next() != KU_STEER_TO) {
		if (s.probing)
			ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
		now += MS;
	}
	ck_assert_int_eq(to, 2);
}
END_TEST

/* The only server that lives does not take us, so it is left for one that is
   dead; or, if there is none, it is tried anew. */
START_TEST(S06_nor_is_it_what_another_is_left_for)
{
	ku_steer_shun(&s, 1, true);
	ku_steer_shun(&s, 2, _i == 1);
	ku_steer_addresses(&s, 3, true, 0);
	ku_steer_connected(&s, 0);
	ku_steer_disconnected(&s, now);
	s.server = s.listed = 0;
	int64_t end = now + T;
	enum ku_steer_action action = KU_STEER_NONE;
	while (now < end && (action = next()) != KU_STEER_TO &&
		action != KU_STEER_ANEW) {
		if (s.probing)
			ku_steer_verdict(&s, 0, KU_PROBE_LIVE);
		now += MS;
	}
	ck_assert_int_eq(action, _i == 1 ? KU_STEER_ANEW : KU_STEER_TO);
	ck_assert_int_eq(to, _i == 1 ? 0 : 2);
}
END_TEST

/* But only if servers can be told apart; otherwise the connection is kicked. */
START_TEST(S06_one_that_may_have_a_write_of_ours_is_not_tried_once_more)
{
	ku_steer_addresses(&s, 3, _i == 0, 0);
	miss_an_answer();
	ku_steer_owed(&s, true);
	ku_steer_verdict(&s, 2, KU_PROBE_LIVE);
	now += T / 16;
	if (_i == 0)
		expect_to(2);
	else
		expect(KU_STEER_KICK);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("steer_servers");
	TCase *tcase = tcase_create("decisions");

	tcase_add_checked_fixture(tcase, three_servers, NULL);
	tcase_add_test(tcase, rounds_go_on_and_become_rarer);
	tcase_add_test(tcase, L23_servers_on_one_ip_are_never_steered_to);
	tcase_add_test(tcase,
		U08_names_are_looked_up_at_each_disconnect_and_then_now_and_again);
	tcase_add_test(tcase, U08_new_addresses_are_probed_and_steered_to);
	tcase_add_test(tcase,
		U08_what_the_handle_knows_is_found_among_new_addresses);
	tcase_add_test(tcase,
		L04_a_single_server_that_lives_and_takes_nobody_is_tried_anew);
	tcase_add_test(tcase, a_single_server_that_is_down_is_asked_again_soon);
	tcase_add_test(tcase,
		a_single_server_that_dies_again_is_not_tried_anew);
	tcase_add_test(tcase, a_server_not_in_the_list_is_left_after_a_third);
	tcase_add_test(tcase,
		a_server_not_in_the_list_is_not_left_when_none_lives);
	tcase_add_test(tcase,
		a_handle_that_knows_several_is_not_taken_to_know_one);
	tcase_add_test(tcase, without_a_server_none_is_probed);
	tcase_add_test(tcase,
		servers_beyond_those_that_are_probed_count_as_not_in_the_list);
	tcase_add_test(tcase, L28_live_servers_are_chosen_evenly);
	tcase_add_test(tcase, S06_a_server_that_is_shunned_is_not_chosen);
	tcase_add_test(tcase, S06_no_server_is_better_than_one_that_is_shunned);
	tcase_add_loop_test(tcase, S06_nor_is_it_what_another_is_left_for, 0,
		2);
	tcase_add_loop_test(tcase,
		S06_one_that_may_have_a_write_of_ours_is_not_tried_once_more, 0,
		2);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
