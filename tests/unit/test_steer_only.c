/* test_steer_only.c - steer.h: how long the only server has, and how often it is
   asked, if it lives and does not take us. */
#include "steer_bed.h"

/* Advance the clock until something else than a round of probes is to be done,
   or for a hundred steps.  Returns that, or KU_STEER_NONE.  In each round the
   servers up to "live" live, and no others do. */
static enum ku_steer_action next_deed(int live)
{
	for (int steps = 0; steps < 100; steps++) {
		enum ku_steer_action action = next();

		if (action == KU_STEER_NONE)
			now = wake;
		else if (action == KU_STEER_PROBE)
			for (int i = 0; i < s.count; i++)
				ku_steer_verdict(&s, i,
					i <= live ? KU_PROBE_LIVE
						  : KU_PROBE_REFUSED);
		else if (action != KU_STEER_STOP && action != KU_STEER_RESOLVE)
			return action;
	}
	return KU_STEER_NONE;
}

/* It was down for long when it is found to live. */
START_TEST(L04_it_is_tried_anew_as_soon_as_its_time_is_up)
{
	ku_steer_addresses(&s, 1, true, -1);
	ku_steer_opened(&s, now);
	ck_assert_int_eq(next_deed(-1), KU_STEER_NONE);
	while (next() != KU_STEER_PROBE)
		now = wake;
	int64_t found = now;
	ku_steer_verdict(&s, 0, KU_PROBE_LIVE);
	ck_assert_int_eq(next_deed(0), KU_STEER_ANEW);
	ck_assert_int_eq(now, found + T / 6);
}
END_TEST

START_TEST(it_is_asked_less_often_with_time)
{
	int64_t end = now + 10 * T;
	int rounds = 0;

	ku_steer_addresses(&s, 1, true, -1);
	ku_steer_opened(&s, now);
	while (now < end) {
		enum ku_steer_action action = next();

		if (action == KU_STEER_PROBE)
			ku_steer_verdict(&s, 0, KU_PROBE_LIVE);
		rounds += action == KU_STEER_PROBE;
		if (action == KU_STEER_NONE)
			now = wake;
	}
	ck_assert_int_gt(rounds, 40);
	ck_assert_int_lt(rounds, 50);
}
END_TEST

/* The handle tries a server that is to be avoided.  The only other server may
   take us from when the handle turns to it. */
START_TEST(L04_its_time_begins_when_the_handle_turns_to_it)
{
	ku_steer_shun(&s, 0, true);
	ku_steer_shun(&s, 2, true);
	s.listed = 0;
	ku_steer_disconnected(&s, now);
	ck_assert_int_eq(next_deed(1), KU_STEER_TO);
	ck_assert_int_eq(to, 1);
	int64_t turned = now;
	ck_assert_int_eq(next_deed(1), KU_STEER_ANEW);
	ck_assert_int_eq(to, 1);
	ck_assert_int_eq(now, turned + T / 6);
}
END_TEST

START_TEST(L04_it_has_its_time_again_though_another_may_be_turned_to)
{
	ku_steer_opened(&s, now);
	ku_steer_shun(&s, 1, true);
	ku_steer_shun(&s, 2, true);
	ck_assert_int_eq(next_deed(0), KU_STEER_TO);
	ck_assert_int_eq(next_deed(0), KU_STEER_ANEW);
	int64_t anew = now;
	ku_steer_shun(&s, 1, false);
	ck_assert_int_eq(next_deed(1), KU_STEER_TO);
	ck_assert_int_eq(to, 1);
	ck_assert_int_eq(now, anew + T / 6);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("steer_only");
	TCase *tcase = tcase_create("decisions");

	tcase_add_checked_fixture(tcase, three_servers, NULL);
	tcase_add_test(tcase, L04_it_is_tried_anew_as_soon_as_its_time_is_up);
	tcase_add_test(tcase, it_is_asked_less_often_with_time);
	tcase_add_test(tcase, L04_its_time_begins_when_the_handle_turns_to_it);
	tcase_add_test(tcase,
		L04_it_has_its_time_again_though_another_may_be_turned_to);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
