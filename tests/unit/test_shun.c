/* test_shun.c - shun.h: servers that a session does not go back to, and for how
   long. */
#include "unit.h"

#include "clock.h"
#include "shun.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define F "10.0.0.1:2181"
#define G "10.0.0.2:2181"
#define H "10.0.0.3:2181"
#define SIX "[fd00::1]:2181"
#define SIX_BARE "fd00::1:2181"
#define LONG "2001:0db8:aaaa:bbbb:cccc:dddd:eeee:0001:2181"

static struct ku_shun shun;
static const int64_t now = 1000;
static const int64_t over = 1000 + KU_SHUN_MS * KU_NS_PER_MS;

static void setup(void)
{
	memset(&shun, 0, sizeof(shun));
}

/* Check what is left of "list" for a session at "present", and the list that
   the library gets; NULL: unchanged. */
static void leaves(const char *list, const char *present, const char *left,
	const char *joined)
{
	char *work = malloc(ku_shun_room(list)),
	     *out = malloc(ku_shun_room(list));

	ku_shun_begin(work, list);
	ck_assert_int_eq(ku_shun_narrow(&shun, now, present, work),
		joined != NULL);
	ck_assert_str_eq(work, left);
	if (joined != NULL) {
		ku_shun_join(work, present, out);
		ck_assert_str_eq(out, joined);
	}
	free(work);
	free(out);
}

START_TEST(it_tells_how_long_some_server_is_shunned)
{
	ck_assert_int_eq(ku_shun_until(&shun, now), 0);
	ku_shun_add(&shun, F, now);
	ku_shun_add(&shun, G, now + 5);
	ku_shun_add(&shun, H, now + 2);
	ck_assert_int_eq(ku_shun_until(&shun, now), over + 5);
	ck_assert_int_eq(ku_shun_until(&shun, over + 4), over + 5);
	ck_assert_int_eq(ku_shun_until(&shun, over + 5), 0);
	ku_shun_drop(&shun, G);
	ck_assert_int_eq(ku_shun_until(&shun, now), over + 2);
}
END_TEST

START_TEST(S06_it_is_shunned_until_its_time_is_over)
{
	ku_shun_add(&shun, F, now);
	ck_assert(ku_shun_has(&shun, F, now));
	ck_assert(ku_shun_has(&shun, F, over - 1));
	ck_assert(!ku_shun_has(&shun, F, over));
	ck_assert(!ku_shun_has(&shun, G, now));
	ku_shun_add(&shun, F, over);
	ck_assert_int_eq(shun.count, 1);
	ck_assert(ku_shun_has(&shun, F, over));
}
END_TEST

START_TEST(S06_or_until_it_has_answered)
{
	ku_shun_add(&shun, F, now);
	ku_shun_add(&shun, SIX, now);
	ku_shun_add(&shun, G, now);
	ku_shun_drop(&shun, H);
	ck_assert_int_eq(shun.count, 3);
	ku_shun_drop(&shun, SIX);
	ck_assert(ku_shun_has(&shun, F, now));
	ck_assert(!ku_shun_has(&shun, SIX, now));
	ck_assert(ku_shun_has(&shun, G, now));
}
END_TEST

START_TEST(the_oldest_makes_room)
{
	char text[24];

	for (int i = 0; i <= KU_SHUN_MAX; i++) {
		snprintf(text, sizeof(text), "10.0.1.%d:2181", i);
		ku_shun_add(&shun, text, now);
	}
	ck_assert_int_eq(shun.count, KU_SHUN_MAX);
	ck_assert(!ku_shun_has(&shun, "10.0.1.0:2181", now));
	ck_assert(ku_shun_has(&shun, "10.0.1.1:2181", now));
	ck_assert(ku_shun_has(&shun, text, now));
}
END_TEST

START_TEST(what_cannot_be_a_server_is_not_kept)
{
	char text[KU_SHUN_TEXT + 1];

	memset(text, '1', KU_SHUN_TEXT);
	text[KU_SHUN_TEXT] = '\0';
	ku_shun_add(&shun, "", now);
	ku_shun_add(&shun, text, now);
	ck_assert_int_eq(shun.count, 0);
	ku_shun_add(&shun, text + 1, now);
	ck_assert_int_eq(shun.count, 1);
}
END_TEST

START_TEST(L03_a_list_without_it_is_of_odd_length)
{
	leaves(F "," G "," H, G, F "," G "," H, NULL);
	ku_shun_add(&shun, F, now);
	leaves(F "," G "," H, G, G "," H, G "," H "," H);
	leaves(G "," F "," H, H, G "," H, G "," H "," G);
	leaves(F "," G "," F, G, G, G);
	leaves(G "," F "," G, G, G, G);
	leaves(G "," H "," G, G, G "," H, NULL);
	leaves(F "," G "," H "," SIX_BARE "," F, G, G "," H "," SIX_BARE,
		G "," H "," SIX_BARE);
	ku_shun_add(&shun, H, now);
	leaves(F "," G "," H, G, G, G);
}
END_TEST

START_TEST(where_the_session_is_it_stays)
{
	ku_shun_add(&shun, F, now);
	ku_shun_add(&shun, G, now);
	leaves(F "," G "," H, F, F "," H, F "," H "," H);
	leaves(F, F, F, NULL);
}
END_TEST

START_TEST(a_list_without_the_present_one_is_left_alone)
{
	ku_shun_add(&shun, F, now);
	leaves(F "," G "," G, H, F "," G, NULL);
	leaves(F "," G "," G, "", F "," G, NULL);
	leaves("", H, "", NULL);
}
END_TEST

START_TEST(who_is_no_longer_shunned_stays_in_the_list)
{
	ku_shun_add(&shun, F, now - KU_SHUN_MS * KU_NS_PER_MS);
	leaves(F "," G "," H, G, F "," G "," H, NULL);
}
END_TEST

/* The list has such addresses without brackets. */
START_TEST(brackets_make_no_difference)
{
	ku_shun_add(&shun, SIX, now);
	ku_shun_add(&shun, SIX, now);
	ck_assert_int_eq(shun.count, 1);
	ck_assert(ku_shun_has(&shun, SIX, now));
	leaves(SIX_BARE "," G "," H, G, G "," H, G "," H "," H);
	leaves(SIX_BARE "," G "," H, SIX, SIX_BARE "," G "," H, NULL);
	leaves(SIX_BARE "0," G "," H, G, SIX_BARE "0," G "," H, NULL);
	leaves("fd00::1:218," G "," H, G, "fd00::1:218," G "," H, NULL);
}
END_TEST

/* The library would ignore the change, or heed it only if the list is too
   short. */
START_TEST(L23_of_those_that_share_an_ip_none_is_left_out)
{
	ku_shun_add(&shun, F, now);
	leaves(F ",10.0.0.1:2182," G, G, "", NULL);
	leaves(F "0," F "," G, G, "", NULL); /* the ports begin alike */
	leaves(F ",10.0.0.10:2181," G, G, "10.0.0.10:2181," G,
		"10.0.0.10:2181," G ",10.0.0.10:2181");
	/* An IP that begins like another is a different one. */
	leaves("fd00::1:2:2181," SIX_BARE "," F, SIX,
		"fd00::1:2:2181," SIX_BARE,
		"fd00::1:2:2181," SIX_BARE ",fd00::1:2:2181");
}
END_TEST

/* One address is much longer than those that are removed one after the
   other. */
START_TEST(a_list_is_narrowed_again_and_again_in_its_room)
{
	const char *list = LONG "," F "," G "," H ",10.0.0.4:2181";
	char *work = malloc(ku_shun_room(list)),
	     *out = malloc(ku_shun_room(list));
	const char *gone[] = { F, G, H };

	ku_shun_begin(work, list);
	for (int i = 0; i < 3; i++) {
		ku_shun_add(&shun, gone[i], now);
		ck_assert(ku_shun_narrow(&shun, now, "10.0.0.4:2181", work));
		ku_shun_join(work, "10.0.0.4:2181", out);
		ck_assert_uint_lt(strlen(out), ku_shun_room(list));
	}
	ck_assert_str_eq(work, LONG ",10.0.0.4:2181");
	ck_assert_str_eq(out, LONG ",10.0.0.4:2181," LONG);
	free(work);
	free(out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("shun");
	TCase *t = tcase_create("servers");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, it_tells_how_long_some_server_is_shunned);
	tcase_add_test(t, S06_it_is_shunned_until_its_time_is_over);
	tcase_add_test(t, S06_or_until_it_has_answered);
	tcase_add_test(t, the_oldest_makes_room);
	tcase_add_test(t, what_cannot_be_a_server_is_not_kept);
	tcase_add_test(t, L03_a_list_without_it_is_of_odd_length);
	tcase_add_test(t, where_the_session_is_it_stays);
	tcase_add_test(t, a_list_without_the_present_one_is_left_alone);
	tcase_add_test(t, who_is_no_longer_shunned_stays_in_the_list);
	tcase_add_test(t, brackets_make_no_difference);
	tcase_add_test(t, L23_of_those_that_share_an_ip_none_is_left_out);
	tcase_add_test(t, a_list_is_narrowed_again_and_again_in_its_room);
	suite_add_tcase(s, t);
	return unit_main(s);
}
