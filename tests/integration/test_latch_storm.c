/*
 * test_latch_storm.c - while connections break, terms of different leaders do
 * not overlap by the clock of leases, and somebody leads again afterwards.
 *
 * KUSTOS_TEST_SEED=1 repeats what that seed did.
 */
#include "latch_fixture.h"
#include "proxy.h"
#include "rawkill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS 3
#define LATCHES 6
#define STORM_T_MS 1200
#define STORM_MS 10000
#define SPANS 4096

/* It led at least from the end of the first question that it answered with yes
   to the beginning of the last. */
struct span {
	int64_t from_ns, to_ns;
	int who;
};

static struct {
	struct kustos_client *clients[CLIENTS];
	struct proxy *proxies[CLIENTS];
	struct runner runners[LATCHES];
	struct span spans[SPANS];
	int count;
	int open[LATCHES];  /* the span of each leader, or -1 */
	int gains[LATCHES]; /* as of the last question */
} storm;

static void take_part(int i)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

	o.cautious = i >= LATCHES - 2;
	runner_make_with(&storm.runners[i], storm.clients[i % CLIENTS], o);
	check_err(kustos_latch_start(storm.runners[i].latch), KUSTOS_OK);
	storm.open[i] = -1;
	storm.gains[i] = 0;
}

static void storm_set_up(void)
{
	memset(&storm, 0, sizeof(storm));
	for (int i = 0; i < CLIENTS; i++) {
		storm.proxies[i] = fixture_proxy();
		storm.clients[i] = client_connected(
			proxy_address(storm.proxies[i]), STORM_T_MS);
	}
	for (int i = 0; i < LATCHES; i++)
		take_part(i);
}

static void storm_tear_down(void)
{
	for (int i = 0; i < LATCHES; i++)
		runner_end(&storm.runners[i]);
	for (int i = 0; i < CLIENTS; i++) {
		client_close(storm.clients[i]);
		proxy_free(storm.proxies[i]);
	}
}

static void ask_one(int i)
{
	int64_t before = test_boot_ns();
	int leads = kustos_latch_leads(storm.runners[i].latch);
	int64_t after = test_boot_ns();
	int gains = atomic_load(&storm.runners[i].gains);

	if (!leads || gains != storm.gains[i])
		storm.open[i] = -1; /* or this may be another term */
	storm.gains[i] = gains;
	if (leads && storm.open[i] < 0) {
		ck_assert_int_lt(storm.count, SPANS);
		storm.open[i] = storm.count++;
		storm.spans[storm.open[i]] = (struct span){ after, before, i };
	} else if (leads) {
		storm.spans[storm.open[i]].to_ns = before;
	}
}

/* Ask all latches for "ms". */
static void ask_all(int ms)
{
	int64_t end = test_now_ms() + ms;

	do {
		for (int i = 0; i < LATCHES; i++)
			ask_one(i);
		test_pause_1ms();
	} while (test_now_ms() < end);
}

static int by_begin(const void *a, const void *b)
{
	const struct span *one = a, *other = b;

	return one->from_ns < other->from_ns ? -1
					     : one->from_ns > other->from_ns;
}

/* Return how often the leader changed. */
static int check_spans(void)
{
	int64_t end = 0;
	int who = -1, turns = 0;

	qsort(storm.spans, (size_t)storm.count, sizeof(*storm.spans), by_begin);
	for (int i = 0; i < storm.count; i++) {
		const struct span *s = &storm.spans[i];

		ck_assert_msg(s->who == who || s->from_ns >= end,
			"%d leads %lld us before %d has stopped", s->who,
			(long long)(end - s->from_ns) / 1000, who);
		turns += s->who != who;
		who = s->who;
		end = s->to_ns > end ? s->to_ns : end;
	}
	return turns;
}

/* Return the leader as far as is known, or else "other". */
static int leader_or(int other)
{
	for (int i = 0; i < LATCHES; i++)
		if (storm.open[i] >= 0)
			return i;
	return other;
}

/* Make a latch resign, or break a connection, mostly the leader's.  Or, from
   outside, end a session or delete nodes, which no clock foresees. */
static void harm(unsigned dice, bool from_outside)
{
	static const enum proxy_mode modes[] = { PROXY_HOLE, PROXY_REFUSE,
		PROXY_HOLD };
	int who = (int)(dice % LATCHES);

	dice /= LATCHES;
	if (dice % 2 == 0)
		who = leader_or(who);
	dice = dice / 2 % 7;
	if (!from_outside && dice > 4)
		dice = 4;
	if (dice < 3) {
		proxy_set_mode(storm.proxies[who % CLIENTS], modes[dice]);
	} else if (dice == 3) {
		proxy_cut(storm.proxies[who % CLIENTS]);
	} else if (dice == 4) {
		kustos_latch_close(storm.runners[who].latch,
			who % 2 == 1 ? KUSTOS_CLOSE_NOTIFY
				     : KUSTOS_CLOSE_SILENT);
		kustos_latch_destroy(storm.runners[who].latch);
		take_part(who);
	} else if (dice == 5) {
		(void)raw_kill_session(fixture_address(),
			client_session_id(storm.clients[who % CLIENTS]));
	} else {
		(void)raw_delete_tree(fixture_address(), LINE);
	}
}

static int leaders(void)
{
	int n = 0;

	for (int i = 0; i < LATCHES; i++)
		n += kustos_latch_leads(storm.runners[i].latch);
	return n;
}

static void calm_down(void)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	for (int i = 0; i < CLIENTS; i++)
		proxy_set_mode(storm.proxies[i], PROXY_PASS);
	while (leaders() == 0) {
		ck_assert_int_lt(test_now_ms(), end);
		ask_all(1);
	}
	for (int i = 0; i < CLIENTS; i++)
		client_wait(storm.clients[i], KUSTOS_STATE_CONNECTED, 8000);
	ask_all(200);
	line_wait(LATCHES);
	test_eventually(leaders() == 1, 3000);
}

static void blow(bool from_outside)
{
	const char *text = getenv("KUSTOS_TEST_SEED");
	unsigned seed = text != NULL ? (unsigned)atoi(text)
				     : (unsigned)test_now_us();
	int64_t end = test_now_ms() + STORM_MS;

	printf("KUSTOS_TEST_SEED=%u\n", seed);
	while (test_now_ms() < end) {
		harm((unsigned)rand_r(&seed) / 16, from_outside);
		ask_all(50 + rand_r(&seed) / 16 % 400);
		proxy_set_mode(storm.proxies[rand_r(&seed) / 16 % CLIENTS],
			PROXY_PASS);
	}
}

START_TEST(S01_S04_at_most_one_leads_while_connections_break)
{
	blow(false);
	calm_down();
	int changes = check_spans();

	printf("storm: %d changes of leader, never two at once\n", changes);
	ck_assert_int_gt(changes, 3);
}
END_TEST

/* A latch cannot know at once that somebody has deleted its node, so a moment
   with two leaders is possible and not counted here.  But the election must go
   on. */
START_TEST(L13_somebody_leads_again_whatever_was_deleted)
{
	blow(true);
	calm_down();
}
END_TEST

/* The checker finds two leaders at once. */
START_TEST(overlapping_spans_are_found)
{
	storm.count = 2;
	storm.spans[0] = (struct span){ 10, 20, 0 };
	storm.spans[1] = (struct span){ 19, 30, 1 };
	check_spans();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, storm");
	TCase *t = fixture_case(s, "storm", 60);

	tcase_add_checked_fixture(t, storm_set_up, storm_tear_down);
	tcase_add_test(t, S01_S04_at_most_one_leads_while_connections_break);
	tcase_add_test(t, L13_somebody_leads_again_whatever_was_deleted);
	t = fixture_bare_case(s, "checker", 10);
	tcase_add_exit_test(t, overlapping_spans_are_found, 1);
	return fixture_main(s);
}
