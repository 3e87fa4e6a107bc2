/*
 * test_sim.c - the simulator itself: its runs repeat, it reports nothing when
 * all is well, and it finds and reports what is wrong.
 */
#include "sanitized.h"
#include "sim.h"
#include "simbench.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS (2000 / TIMES_LESS)
#define STEPS 3000

START_TEST(seeds_without_a_bug_find_none)
{
	const struct sim_scenario *raw = sim_find_scenario("raw");
	struct sim_options options = { .seed = 1, .steps = STEPS };
	struct sim_result result;
	struct sim_text report = { NULL, 0, 0 };
	bool good = sim_hunt(raw, &options, SEEDS, &result, &report);

	if (!good)
		fputs(report.bytes, stderr);
	ck_assert(good);
	ck_assert_uint_gt(result.requests, SEEDS * 100);
}
END_TEST

START_TEST(a_seed_repeats_itself)
{
	const struct sim_scenario *raw = sim_find_scenario("raw");
	struct sim_options options = { .steps = STEPS };
	struct sim_result first;
	struct sim_result second;
	struct sim_result other;

	for (options.seed = 1; options.seed <= 50; options.seed++) {
		sim_run(raw, &options, &first);
		options.trace = true;
		sim_run(raw, &options, &second);
		options.trace = false;
		ck_assert_uint_eq(first.hash, second.hash);
		ck_assert_uint_eq(first.step, second.step);
		ck_assert_int_eq(first.ns, second.ns);
		ck_assert_ptr_nonnull(second.trace);
		free(second.trace);
	}
	sim_run(raw, &options, &other);
	ck_assert_uint_ne(first.hash, other.hash);
}
END_TEST

/* Without stalls, a seed does what it did before there were any. */
START_TEST(clients_stall_only_if_asked_to)
{
	const struct sim_scenario *client = sim_find_scenario("client");
	struct sim_options options = { .seed = 1, .steps = STEPS };
	struct sim_result without;
	struct sim_result with;

	sim_run(client, &options, &without);
	options.stalls = true;
	sim_run(client, &options, &with);
	ck_assert_uint_eq(with.faults, without.faults | 1u << SIM_STALL);
	ck_assert_uint_ne(without.faults, with.faults);
	ck_assert_uint_ne(without.hash, with.hash);
	options.without = 1u << SIM_STALL;
	sim_run(client, &options, &with);
	ck_assert_uint_eq(without.hash, with.hash);
}
END_TEST

START_TEST(a_prefix_is_the_beginning_of_a_longer_run)
{
	const struct sim_scenario *raw = sim_find_scenario("raw");
	struct sim_options options = {
		.seed = 5,
		.steps = 500,
		.no_drain = true,
	};
	struct sim_result shorter;
	struct sim_result longer;

	sim_run(raw, &options, &shorter);
	options.steps = 501;
	sim_run(raw, &options, &longer);
	ck_assert_int_le(shorter.ns, longer.ns);
	ck_assert_uint_eq(longer.step, 501);
	options.steps = 500;
	sim_run(raw, &options, &longer);
	ck_assert_uint_eq(shorter.hash, longer.hash);
}
END_TEST

START_TEST(a_lock_without_a_lease_has_two_holders)
{
	const struct sim_scenario *naive = sim_find_scenario("naive");
	struct sim_options options = { .seed = 1, .steps = 20000 };
	struct sim_result result;
	struct sim_text report = { NULL, 0, 0 };
	char expected[64];

	ck_assert(!sim_hunt(naive, &options, 300, &result, &report));
	ck_assert_str_eq(result.invariant, "one-holder");
	ck_assert_ptr_nonnull(strstr(report.bytes, "seed: "));
	snprintf(expected, sizeof(expected),
		"shortest failing prefix: %llu steps",
		(unsigned long long)result.step);
	ck_assert_ptr_nonnull(strstr(report.bytes, expected));
	ck_assert_ptr_nonnull(strstr(report.bytes, "last events:"));
	ck_assert_ptr_nonnull(strstr(report.bytes, "again: sim --scenario"));
	free(result.trace);
	free(report.bytes);
}
END_TEST

START_TEST(each_fault_that_is_left_is_needed)
{
	const struct sim_scenario *naive = sim_find_scenario("naive");
	struct sim_options options = { .seed = 1, .steps = 20000 };
	struct sim_options less;
	struct sim_result result;
	unsigned faults;
	unsigned i;

	do {
		sim_run(naive, &options, &result);
	} while (!result.failed && options.seed++ < 300);
	ck_assert(result.failed);
	sim_minimise(naive, &options, &result);
	free(result.trace);
	options.trace = false;
	faults = result.faults;
	ck_assert_uint_ne(faults, 0);
	for (i = 0; i < SIM_FAULT_COUNT; i++) {
		less = options;
		less.steps = 20000;
		less.without |= 1u << i;
		sim_run(naive, &less, &result);
		ck_assert(result.failed == ((faults & (1u << i)) == 0));
	}
}
END_TEST

START_TEST(the_prefix_fails_and_one_step_less_does_not)
{
	const struct sim_scenario *naive = sim_find_scenario("naive");
	struct sim_options options = { .seed = 1, .steps = 20000 };
	struct sim_result result;

	do {
		sim_run(naive, &options, &result);
	} while (!result.failed && options.seed++ < 300);
	ck_assert(result.failed);
	sim_minimise(naive, &options, &result);
	free(result.trace);
	options.trace = false;
	sim_run(naive, &options, &result);
	ck_assert(result.failed);
	options.steps--;
	sim_run(naive, &options, &result);
	ck_assert(!result.failed);
}
END_TEST

/* If a run fails after its steps, some shorter prefix may fail as well. */
START_TEST(only_what_is_the_shortest_prefix_is_called_so)
{
	const struct sim_scenario *raw = sim_find_scenario("raw");
	struct sim_options options = { .seed = 1, .steps = 20 };
	struct sim_result result = { .step = 20, .draining = true };
	struct sim_text report = { NULL, 0, 0 };

	sim_report(raw, &options, &result, &report);
	ck_assert_ptr_nonnull(strstr(report.bytes,
		"a failing prefix: 20 steps, then at rest"));
	ck_assert_ptr_null(strstr(report.bytes, "shortest"));
	free(report.bytes);
}
END_TEST

static const struct {
	const char *mutation;
	const char *invariant;
} bugs[] = {
	{ "model-sequence", "sequence" },
	{ "model-watch-twice", "watch-once" },
	{ "model-lose-done", "done-order" },
	{ "model-reorder", "fifo" },
	{ "model-keep-ephemeral", "ephemeral" },
	{ "model-watch-lost", "watch-kept" },
};

START_TEST(each_bug_of_the_model_is_found)
{
	const struct sim_scenario *raw = sim_find_scenario("raw");
	struct sim_options options = { .seed = 1, .steps = 20000 };
	struct sim_result result;
	struct sim_text report = { NULL, 0, 0 };
	bool good;

	sim_mutate(bugs[_i].mutation);
	good = sim_hunt(raw, &options, 100, &result, &report);
	sim_mutate(NULL);
	ck_assert_msg(!good, "%s was not found", bugs[_i].mutation);
	ck_assert_str_eq(result.invariant, bugs[_i].invariant);
	free(result.trace);
	free(report.bytes);
}
END_TEST

/* simbench() counts processor time, so a busy machine does not matter. */
START_TEST(the_model_serves_200000_requests_a_second)
{
#if TIMES_LESS == 1 && defined(__OPTIMIZE__)
	ck_assert_int_eq(simbench(), EXIT_SUCCESS);
#endif
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim");
	TCase *c = tcase_create("sim");
	SRunner *runner;
	int failed;

	tcase_set_timeout(c, 300);
	tcase_add_test(c, seeds_without_a_bug_find_none);
	tcase_add_test(c, a_seed_repeats_itself);
	tcase_add_test(c, clients_stall_only_if_asked_to);
	tcase_add_test(c, a_prefix_is_the_beginning_of_a_longer_run);
	tcase_add_test(c, a_lock_without_a_lease_has_two_holders);
	tcase_add_test(c, each_fault_that_is_left_is_needed);
	tcase_add_test(c, the_prefix_fails_and_one_step_less_does_not);
	tcase_add_test(c, only_what_is_the_shortest_prefix_is_called_so);
	tcase_add_test(c, the_model_serves_200000_requests_a_second);
	tcase_add_loop_test(c, each_bug_of_the_model_is_found, 0,
		(int)(sizeof(bugs) / sizeof(bugs[0])));
	suite_add_tcase(s, c);
	runner = srunner_create(s);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
