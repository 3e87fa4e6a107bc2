/* test_claim.c - claims survive the simulator (scenario_claim.c). */
#include "claim_figures.h"
#include "seeds.h"

#include "../unit/unit.h"

static const struct sim_scenario *claims(void)
{
	return seeds_of("claim");
}

START_TEST(S16_L27_each_item_is_acknowledged_once_or_comes_back)
{
	seeds_survive(claims(), 250);
}
END_TEST

START_TEST(S17_what_comes_first_by_its_key_is_had_first)
{
	seeds_survive(seeds_of("keyed-claim"), 100);
}
END_TEST

START_TEST(claims_with_keys_survive_stalls)
{
	seeds_survive_stalls(seeds_of("keyed-claim"), 30);
}
END_TEST

/* Each new connection breaks while the loss of the last one is still dealt
   with. */
START_TEST(claims_with_keys_survive_connections_that_break_again)
{
	seeds_survive_with(seeds_of("keyed-claim"), SIM_RELAPSE, 30);
}
END_TEST

/* The claim of an item that was put off is dropped for another that is tried for
   just then and comes behind it. */
START_TEST(what_is_tried_for_while_another_is_put_off_may_be_had_first)
{
	struct sim_options options = { .seed = 5558,
		.steps = SEED_STEPS,
		.with = 1u << SIM_RELAPSE };

	seeds_survive_as(seeds_of("keyed-claim"), &options, 1);
}
END_TEST

/* Check the figures: a rule about something that never happens proves
   nothing. */
START_TEST(they_do_everything_meanwhile)
{
	static const uint64_t least[CLAIM_FIGURES] = {
		[CLAIM_GRANTED] = 4000,
		[CLAIM_AGAIN] = 500,
		[CLAIM_ACKED] = 1500,
		[CLAIM_REQUEUED] = 500,
		[CLAIM_RELEASED] = 300,
		[CLAIM_LOST] = 50,
		[CLAIM_UNKNOWN] = 1,
		[CLAIM_DEAD] = 10,
		[CLAIM_EMPTY] = 50,
		[CLAIM_GAVE_UP] = 300,
	};

	seeds_do(claims(), 50, least, CLAIM_FIGURES);
}
END_TEST

START_TEST(those_alone_do_everything_meanwhile)
{
	static const uint64_t least[CLAIM_FIGURES] = {
		[CLAIM_GRANTED] = 2000,
		[CLAIM_REQUEUED] = 300,
		[CLAIM_IN_RANK] = 1000,
		[CLAIM_IN_TIME] = 300,
		[CLAIM_ASKED] = 100,
	};

	seeds_do(seeds_of("keyed-claim"), 40, least, CLAIM_FIGURES);
}
END_TEST

START_TEST(a_seed_repeats_claims_event_for_event)
{
	seeds_repeat(claims());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("claims in the simulator");
	TCase *t = tcase_create("seeds");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, S16_L27_each_item_is_acknowledged_once_or_comes_back);
	tcase_add_test(t, S17_what_comes_first_by_its_key_is_had_first);
	tcase_add_test(t, claims_with_keys_survive_stalls);
	tcase_add_test(t,
		claims_with_keys_survive_connections_that_break_again);
	tcase_add_test(t,
		what_is_tried_for_while_another_is_put_off_may_be_had_first);
	tcase_add_figures(t, they_do_everything_meanwhile);
	tcase_add_figures(t, those_alone_do_everything_meanwhile);
	tcase_add_test(t, a_seed_repeats_claims_event_for_event);
	suite_add_tcase(s, t);
	return unit_main(s);
}
