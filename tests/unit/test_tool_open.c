/*
 * test_tool_open.c - the client that the command opens.
 */
#include "unit.h"

#include "clock.h"
#include "random.h"
#include "retry.h"
#include "tool.h"

#define DAY_NS (INT64_C(24) * 60 * 60 * 1000000000)
#define LONGEST_NS (INT64_C(5) * 1000000000) /* a pause */

enum kustos_err __wrap_kustos_client_open(
	const struct kustos_client_options *options, struct kustos_client **out)
	__attribute__((used));

static struct kustos_retry policy;

enum kustos_err __wrap_kustos_client_open(
	const struct kustos_client_options *options, struct kustos_client **out)
{
	(void)out;
	policy = options->retry;
	return KUSTOS_ENOMEM;
}

/* So a call ends at its deadline, which is what -w says, and not before. */
START_TEST(a_day_without_a_server_is_not_too_long)
{
	static const struct tool_subcommand none = { .name = "none" };
	struct kustos_client *client = NULL;
	struct ku_random random;
	struct ku_retry retry;
	struct tool tool;
	int64_t now = 0;

	tool_init(&tool, &none);
	ck_assert_int_eq(tool_open(&tool, &client), TOOL_FAILED);
	ku_random_seed(&random, 1);
	ku_retry_start(&retry, &policy, now);
	while (now < DAY_NS) {
		int64_t pause = ku_retry_next(&retry, KUSTOS_EDISCONNECTED, now,
			&random);

		if (pause <= 0 || pause > LONGEST_NS)
			ck_abort_msg("after %lld s the pause is %lld ns",
				(long long)(now / 1000000000),
				(long long)pause);
		now += pause;
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tool_open");
	TCase *t = tcase_create("the policy");

	suite_add_tcase(s, t);
	tcase_add_test(t, a_day_without_a_server_is_not_too_long);
	return unit_main(s);
}
