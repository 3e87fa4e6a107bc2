/*
 * test_reopen.c - how long a client pauses from one handle to the next, and
 * what it does with a new handle.
 */
#include "lone.h"

#include "../unit/unit.h"

/* The pauses that lib/session.c promises. */
#define BASE_MS 50
#define MOST_MS 5000

/* Long enough for a client to learn that its session has expired, and to be
   connected anew. */
#define EXPIRY_MS (4 * LONE_TIMEOUT_MS)
#define SEEDS 32
#define TRIES 6
/* More tries than the policy counts. */
#define MANY 40

static struct ku_zk_api api; /* ku_zk_sim, but for handles that are refused */
static struct bench bench;
static struct kustos_client *client;

/* How many of the next tries to open a handle fail, and when each was made. */
static int refusals;
static int64_t tried_ms[MANY];
static int tries;
static int opened,
	resumed; /* all handles; those that were to resume a session */

static enum kustos_err open_it(void *env, const struct ku_zk_open *params,
	struct ku_zk **out)
{
	opened++;
	resumed += params->resume != NULL;
	if (tries == refusals)
		return ku_zk_sim.open(env, params, out);
	tried_ms[tries++] = bench.sched.now_ns / KU_NS_PER_MS;
	return KUSTOS_ENOMEM;
}

static void begin_with(uint64_t seed,
	const struct kustos_client_options *options)
{
	tries = refusals = opened = resumed = 0;
	api = ku_zk_sim;
	api.open = open_it;
	(void)lone_setup(&bench, 0);
	client = lone_connected_with(&bench, &api, seed, options);
}

static void begin(uint64_t seed)
{
	const struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;

	begin_with(seed, &options);
}

static void end(void)
{
	lone_teardown(&bench, client);
}

/* End the session, have "count" tries to open a handle fail, and store the
   pauses between them. */
static void expire(int count, int64_t *pauses_ms)
{
	int left_ms = EXPIRY_MS + count * MOST_MS;

	tries = 0;
	refusals = count;
	ck_assert(model_expire(bench.model, LONE_MACHINE));
	for (; tries < count || client->session.state != KUSTOS_STATE_CONNECTED;
		left_ms--) {
		ck_assert_int_gt(left_ms, 0);
		lone_run_ms(&bench, client, 1);
	}
	for (int i = 0; i + 1 < count; i++)
		pauses_ms[i] = tried_ms[i + 1] - tried_ms[i];
}

START_TEST(L28_the_pauses_between_handles_grow_and_differ)
{
	int64_t pauses[SEEDS][TRIES - 1];
	int64_t before = 0;

	for (int i = 0; i < SEEDS; i++) {
		begin((uint64_t)i + 1);
		expire(TRIES, pauses[i]);
		end();
	}
	/* Each is drawn from a range that doubles; so one may be less than that
	   before it, but hardly all of them. */
	for (int k = 0; k < TRIES - 1; k++) {
		int64_t sum = 0;

		for (int i = 0; i < SEEDS; i++) {
			ck_assert_int_ge(pauses[i][k], BASE_MS);
			ck_assert_int_le(pauses[i][k], BASE_MS * (4 << k));
			sum += pauses[i][k];
		}
		ck_assert_int_gt(sum, before);
		before = sum;
	}
	for (int i = 1; i < SEEDS; i++)
		ck_assert_mem_ne(pauses[i], pauses[i - 1], sizeof(pauses[i]));
}
END_TEST

START_TEST(L28_no_pause_between_handles_is_too_long_and_they_do_not_end)
{
	int64_t pauses[MANY - 1], longest = 0;

	begin(1);
	expire(MANY, pauses);
	for (int i = 0; i < MANY - 1; i++) {
		ck_assert_int_le(pauses[i], MOST_MS);
		if (pauses[i] > longest)
			longest = pauses[i];
	}
	ck_assert_int_eq(longest, MOST_MS);
	/* After a session the pauses start from the shortest again. */
	expire(2, pauses);
	ck_assert_int_le(pauses[0], BASE_MS * 4);
	end();
}
END_TEST

/* The ticket's session is over, or will be soon. */
START_TEST(a_session_is_resumed_once)
{
	struct kustos_client_options options = KUSTOS_CLIENT_OPTIONS_INIT;
	const struct kustos_ticket ticket = { .session_id = 12345 };
	int64_t pauses[1];

	options.resume = &ticket;
	begin_with(1, &options);
	ck_assert_int_eq(opened, 2);
	ck_assert_int_eq(resumed, 1);
	expire(2, pauses);
	ck_assert_int_eq(resumed, 1);
	end();
}
END_TEST

/* This holds however long ago the former session began. */
START_TEST(a_new_session_is_certain_as_soon_as_it_is_greeted)
{
	begin(1);
	lone_run_ms(&bench, client, EXPIRY_MS);
	ck_assert(model_expire(bench.model, LONE_MACHINE));
	for (int ms = 0; ms < EXPIRY_MS && client->counters.sessions < 2; ms++)
		lone_run_ms(&bench, client, 1);
	ck_assert_uint_eq(client->counters.sessions, 2);
	while (!client->session.greeted)
		lone_run_ms(&bench, client, 1);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	end();
}
END_TEST

/* The spread is a tenth of the timeout, but at most a second. */
static const struct {
	int timeout_ms;
	int64_t most_ms;
} spreads[] = { { 4000, 400 }, { 10000, 1000 }, { 60000, 1000 } };

START_TEST(L28_what_is_done_once_connected_is_spread)
{
	int64_t most = 0;

	begin(1);
	client->session.timeout_ms = spreads[_i].timeout_ms;
	for (int i = 0; i < 20000; i++) {
		int64_t ms = ku_session_spread_ms(client);

		ck_assert_int_ge(ms, 0);
		if (ms > most)
			most = ms;
	}
	ck_assert_int_eq(most, spreads[_i].most_ms);
	client->session.timeout_ms = LONE_TIMEOUT_MS;
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("new handles");
	TCase *t = tcase_create("pauses");

	tcase_add_test(t, L28_the_pauses_between_handles_grow_and_differ);
	tcase_add_test(t,
		L28_no_pause_between_handles_is_too_long_and_they_do_not_end);
	tcase_add_loop_test(t, L28_what_is_done_once_connected_is_spread, 0,
		UNIT_COUNT(spreads));
	tcase_add_test(t, a_session_is_resumed_once);
	tcase_add_test(t, a_new_session_is_certain_as_soon_as_it_is_greeted);
	suite_add_tcase(s, t);
	return unit_main(s);
}
