/*
 * test_seat_rule.c - seat_rule.h: what a place in a line of one makes of a try,
 * of a look, and of its own end.
 */
#include "seat_rule.h"
#include "unit.h"

#include "sanitized.h"

#define ROUNDS (20000 / TIMES_LESS)

/* The longest pause; and as many defeats as lead to it, and more. */
#define PAUSE_MS 16
#define DEFEATS 300

#define OUR_SESSION 0x100000001
#define OUR_CZXID 0x200000007

static struct ku_random rnd;

static void seed(void)
{
	ku_random_seed(&rnd, 1);
}

static const struct {
	enum kustos_err err;
	enum ku_seat_try is;
} outcomes[] = {
	{ KUSTOS_OK, KU_SEAT_MADE },
	{ KUSTOS_EEXISTS, KU_SEAT_BEATEN },
	{ KUSTOS_EUNKNOWN, KU_SEAT_BEATEN },
	{ KUSTOS_ENOAUTH, KU_SEAT_REFUSED },
	{ KUSTOS_ECLOSED, KU_SEAT_REFUSED },
	{ KUSTOS_ELOST, KU_SEAT_REFUSED },
	{ KUSTOS_ENOMEM, KU_SEAT_REFUSED },
	{ KUSTOS_ETOOBIG, KU_SEAT_REFUSED },
	{ KUSTOS_EDISCONNECTED, KU_SEAT_REFUSED },
	{ KUSTOS_ENONODE, KU_SEAT_REFUSED },
};

/* Only a certain success is one, and what is not known is waited for: the node
   may be another's. */
START_TEST(S06_a_try_has_made_it_or_was_beaten_or_was_refused)
{
	ck_assert_int_eq(ku_seat_try(outcomes[_i].err), outcomes[_i].is);
}
END_TEST

static const struct {
	bool made;
	int64_t czxid, owner;
	enum ku_seat_sight is;
} sights[] = {
	{ true, OUR_CZXID, OUR_SESSION, KU_SEAT_OWN },
	/* Of this client, but another place's. */
	{ true, OUR_CZXID + 1, OUR_SESSION, KU_SEAT_REPLACED },
	{ true, OUR_CZXID - 1, OUR_SESSION, KU_SEAT_REPLACED },
	{ true, OUR_CZXID + 1, OUR_SESSION + 1, KU_SEAT_REPLACED },
	/* Half of it is the same. */
	{ true, OUR_CZXID + (INT64_C(1) << 32), OUR_SESSION, KU_SEAT_REPLACED },
	{ true, OUR_CZXID + 1, 0, KU_SEAT_REPLACED },
	/* A place without a node has none here, whatever it had before. */
	{ false, OUR_CZXID, OUR_SESSION, KU_SEAT_TAKEN },
	{ false, OUR_CZXID + 1, OUR_SESSION + 1, KU_SEAT_TAKEN },
	{ false, OUR_CZXID + 1, -1, KU_SEAT_TAKEN },
	{ false, OUR_CZXID, 0, KU_SEAT_NO_LOCK },
	{ false, OUR_CZXID + 1, 0, KU_SEAT_NO_LOCK },
};

START_TEST(S03_a_node_is_ours_only_under_its_czxid)
{
	struct kustos_stat node = { .czxid = sights[_i].czxid,
		.ephemeral_owner = sights[_i].owner };

	ck_assert_int_eq(ku_seat_sight(sights[_i].made, OUR_CZXID, &node),
		sights[_i].is);
}
END_TEST

/* What else a node says of itself does not matter. */
START_TEST(S03_nothing_else_makes_a_node_ours)
{
	seed();
	for (int round = 0; round < ROUNDS; round++) {
		int64_t ours = (int64_t)ku_random_below(&rnd, 4);
		struct kustos_stat node = {
			.czxid = (int64_t)ku_random_below(&rnd, 4),
			.mzxid = ours,
			.pzxid = ours,
			.version = (int)ku_random_below(&rnd, 2),
			.ephemeral_owner = (int64_t)ku_random_below(&rnd, 3),
		};
		bool made = ku_random_below(&rnd, 2) == 0;
		enum ku_seat_sight sight = ku_seat_sight(made, ours, &node);

		ck_assert_int_eq(sight == KU_SEAT_OWN,
			made && node.czxid == ours);
		ck_assert_int_eq(sight == KU_SEAT_NO_LOCK,
			!made && node.ephemeral_owner == 0);
		ck_assert_int_eq(made,
			sight == KU_SEAT_OWN || sight == KU_SEAT_REPLACED);
	}
}
END_TEST

/* Who was beaten once tries at once, as it is alone most often; and so does who
   has just looked. */
START_TEST(L28_who_was_hardly_beaten_or_has_looked_tries_at_once)
{
	seed();
	ck_assert_int_eq(ku_seat_pause_ms(0, false, &rnd), 0);
	ck_assert_int_eq(ku_seat_pause_ms(1, false, &rnd), 0);
	for (int beaten = 0, i = 0; i < DEFEATS; i++) {
		ck_assert_int_eq(ku_seat_pause_ms(beaten, true, &rnd), 0);
		beaten = ku_seat_beaten(beaten);
	}
}
END_TEST

/* Each defeat doubles the longest pause, up to a limit; and all pauses up to
   that occur. */
START_TEST(L28_the_more_defeats_the_longer_the_pause_may_be)
{
	int beaten = 0, longest = 1;

	seed();
	for (int defeats = 1; defeats < 10; defeats++) {
		bool occurs[PAUSE_MS + 1] = { false };

		beaten = ku_seat_beaten(beaten);
		if (defeats == 1)
			continue;
		longest = longest < PAUSE_MS ? 2 * longest : longest;
		for (int round = 0; round < 100 * PAUSE_MS; round++) {
			int64_t ms = ku_seat_pause_ms(beaten, false, &rnd);

			ck_assert_int_ge(ms, 1);
			ck_assert_int_le(ms, longest);
			occurs[ms] = true;
		}
		for (int ms = 1; ms <= longest; ms++)
			ck_assert(occurs[ms]);
	}
	ck_assert_int_eq(longest, PAUSE_MS);
}
END_TEST

/* A place has a byte for it. */
START_TEST(the_count_of_defeats_stops_where_it_makes_no_difference)
{
	int beaten = 0;

	for (int i = 0; i < DEFEATS; i++) {
		int more = ku_seat_beaten(beaten);

		ck_assert_int_ge(more, beaten);
		ck_assert_int_le(more, beaten + 1);
		beaten = more;
	}
	ck_assert_int_eq(ku_seat_beaten(beaten), beaten);
	ck_assert_int_le(beaten, UINT8_MAX);
}
END_TEST

static const struct {
	struct ku_seat_leaver leaver;
	enum ku_seat_end is;
} ends[] = {
	/* It waited, and whatever it knew of an earlier node is no matter. */
	{ { .trying = false }, KU_SEAT_OVER },
	{ { .seen = true }, KU_SEAT_OVER },
	{ { .gone = true }, KU_SEAT_OVER },
	{ { .trying = true }, KU_SEAT_UNWANTED },
	{ { .trying = true, .seen = true }, KU_SEAT_UNWANTED },
	{ { .trying = true, .gone = true }, KU_SEAT_UNWANTED },
	{ { .made = true, .seen = true }, KU_SEAT_DELETE },
	{ { .made = true }, KU_SEAT_LOOK_FIRST },
	/* The next holder's node may be there already. */
	{ { .made = true, .gone = true }, KU_SEAT_OVER },
	{ { .made = true, .gone = true, .seen = true }, KU_SEAT_OVER },
};

START_TEST(S10_only_a_node_that_was_seen_is_deleted_without_a_look)
{
	ck_assert_int_eq(ku_seat_end(&ends[_i].leaver), ends[_i].is);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("line of one, rules");
	TCase *t = tcase_create("rules");

	tcase_add_loop_test(t,
		S06_a_try_has_made_it_or_was_beaten_or_was_refused, 0,
		UNIT_COUNT(outcomes));
	tcase_add_loop_test(t, S03_a_node_is_ours_only_under_its_czxid, 0,
		UNIT_COUNT(sights));
	tcase_add_test(t, S03_nothing_else_makes_a_node_ours);
	tcase_add_test(t,
		L28_who_was_hardly_beaten_or_has_looked_tries_at_once);
	tcase_add_test(t, L28_the_more_defeats_the_longer_the_pause_may_be);
	tcase_add_test(t,
		the_count_of_defeats_stops_where_it_makes_no_difference);
	tcase_add_loop_test(t,
		S10_only_a_node_that_was_seen_is_deleted_without_a_look, 0,
		UNIT_COUNT(ends));
	suite_add_tcase(s, t);
	return unit_main(s);
}
