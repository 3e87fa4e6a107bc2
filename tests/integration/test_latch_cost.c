/*
 * test_latch_cost.c - how many requests a latch sends, and that a child after
 * fork() does not lead.
 */
#include "child.h"
#include "latch_fixture.h"

#include <kustos/participant.h>

#define T_MS 60000 /* so that heartbeats are rare */
#define ROUNDS 50
#define SOME 5

static struct kustos_client *client, *other;
static struct runner runners[SOME];

static void set_up(void)
{
	client = client_connected(fixture_address(), T_MS);
	other = client_connected(fixture_address(), T_MS);
}

static void tear_down(void)
{
	client_close(client);
	client_close(other);
}

static uint64_t sent(struct kustos_client *c)
{
	check_err(kustos_client_flush(c, SOON, NULL), KUSTOS_OK);
	return client_stats(c).sent;
}

START_TEST(a_term_alone_is_four_requests_at_the_most)
{
	uint64_t before;

	runner_run(&runners[0], client, NULL);
	runner_leads(&runners[0]);
	runner_end(&runners[0]);
	before = sent(client);
	for (int i = 0; i < ROUNDS; i++) {
		runner_run(&runners[0], client, NULL);
		runner_leads(&runners[0]);
		runner_end(&runners[0]);
	}
	/* Create and list, delete; and the watch, if a term lasts long
	   enough. */
	ck_assert_uint_ge(sent(client) - before, 3 * ROUNDS);
	ck_assert_uint_le(sent(client) - before, 4 * ROUNDS + 20);
}
END_TEST

START_TEST(what_a_leader_says_is_a_request_and_a_hand_over_reads_once)
{
	uint64_t before;

	for (int i = 0; i < SOME; i++) {
		runner_run(&runners[i], i == 0 ? client : other, "x");
		line_wait(i + 1);
	}
	runner_leads(&runners[0]);
	before = sent(client);
	for (int i = 0; i < ROUNDS; i++)
		check_err(kustos_latch_set_data(runners[0].latch, "y", 1, SOON,
				  NULL),
			KUSTOS_OK);
	/* Each also sets the watch on its own node again. */
	ck_assert_uint_le(sent(client) - before, 2 * ROUNDS + 20);
	before = sent(client);
	check_err(kustos_latch_hand_over(runners[0].latch, NULL, SOON, NULL),
		KUSTOS_OK);
	line_wait(SOME);
	/* One listing, one read for each node, the trial, the deletion, one
	   more to be certain; and a new place with the watches for it. */
	ck_assert_uint_le(sent(client) - before, 1 + SOME + 3 + 6);
	for (int i = 0; i < SOME; i++)
		runner_end(&runners[i]);
}
END_TEST

#define FORKED(call)                          \
	do {                                  \
		if ((call) != KUSTOS_EFORKED) \
			return __LINE__;      \
	} while (0)

static void nothing(void *arg, enum kustos_err err)
{
	(void)arg;
	(void)err;
}

static int child_main(void *observer)
{
	struct kustos_latch *latch = runners[0].latch;
	struct kustos_latch *made = NULL;

	FORKED(kustos_latch_create(client, LINE, NULL, &made));
	FORKED(kustos_latch_start(latch));
	FORKED(kustos_latch_wait(latch, SOON, NULL));
	FORKED(kustos_latch_error(latch));
	FORKED(kustos_latch_set_data(latch, "x", 1, SOON, NULL));
	FORKED(kustos_latch_hand_over(latch, NULL, SOON, NULL));
	FORKED(kustos_latch_hand_over_async(latch, NULL, SOON, NULL, nothing,
		NULL));
	if (kustos_latch_leads(latch) || kustos_latch_term(latch) != 0 ||
		kustos_latch_state(latch) != KUSTOS_LATCH_CLOSED)
		return 1;
	kustos_latch_close(latch, KUSTOS_CLOSE_NOTIFY);
	kustos_latch_destroy(latch);
	kustos_observer_destroy(observer);
	return 0;
}

static void ignore(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	(void)err;
	(void)first;
}

START_TEST(S24_a_child_does_not_lead_and_the_parent_goes_on)
{
	struct kustos_observer *observer = NULL;

	check_err(kustos_observe(client, LINE, ignore, NULL, &observer),
		KUSTOS_OK);
	runner_run(&runners[0], client, "x");
	runner_leads(&runners[0]);
	ck_assert_int_eq(child_run(child_main, observer), 0);
	ck_assert(kustos_latch_leads(runners[0].latch));
	ck_assert_int_eq(runners[0].losses, 0);
	check_term(&runners[0], client);
	kustos_observer_destroy(observer);
	runner_end(&runners[0]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, cost and forks");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, a_term_alone_is_four_requests_at_the_most);
	tcase_add_test(t,
		what_a_leader_says_is_a_request_and_a_hand_over_reads_once);
	tcase_add_test(t, S24_a_child_does_not_lead_and_the_parent_goes_on);
	return fixture_main(s);
}
