/*
 * test_latch_terms.c - leaders that are killed, paused or cut off: the next one
 * leads in time, and not before the last one knows that it lost.
 *
 * KUSTOS_TEST_RUNS=100 pauses so many leaders, and cuts so many off.
 */
#include "child.h"
#include "latch_fixture.h"
#include "process.h"
#include "proxy.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS INT64_C(1000000)

#define TICK_MS 200 /* of the fixture's server */
#define T_MS 2000
#define TOGETHER 6
#define PAUSED 6 /* unless KUSTOS_TEST_RUNS asks for more */
#define CUT_OFF 3
#define NO_ROUND INT64_MAX

/* Return how many times to run: "few" unless more are asked for. */
static int runs(int few)
{
	const char *text = getenv("KUSTOS_TEST_RUNS");
	int n = text != NULL ? atoi(text) : 0;

	return n > 0 ? n : few;
}

/* Return how many of those that are left run at once. */
static int together(int left)
{
	return left < TOGETHER ? left : TOGETHER;
}

/* An election with a leader in a process of its own, and a second candidate in
   this process. */
struct race {
	struct child child;
	char path[32];
	struct kustos_latch *next;
	atomic_llong gained_ns;
};

static void next_gained(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	struct race *race = arg;

	(void)latch;
	(void)hold;
	atomic_store(&race->gained_ns, test_boot_ns());
}

/* In the child: when it was told of its loss. */
static atomic_llong told_ns;

static void note_loss(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)latch;
	(void)hold;
	atomic_store(&told_ns, test_boot_ns());
}

static int lead_in_child(int fd, void *arg)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	struct kustos_client *client = client_connected(fixture_address(),
		T_MS);
	const struct race *race = arg;
	struct kustos_latch *latch = NULL;
	char line[64];
	int leads;

	o.on_lost = note_loss;
	check_err(kustos_latch_create(client, race->path, &o, &latch),
		KUSTOS_OK);
	check_err(kustos_latch_start(latch), KUSTOS_OK);
	check_err(kustos_latch_wait(latch, SOON, NULL), KUSTOS_OK);
	child_say(fd, "leads");
	/* It is asked after a pause whether it leads. */
	child_expect(fd, "ask", PATIENCE_MS);
	leads = kustos_latch_leads(latch);
	for (int i = 0; i < PATIENCE_MS && atomic_load(&told_ns) == 0; i++)
		test_pause_1ms();
	snprintf(line, sizeof(line), "%d %lld", leads, atomic_load(&told_ns));
	child_say(fd, line);
	child_expect(fd, "end", PATIENCE_MS);
	kustos_latch_destroy(latch);
	client_drop(client);
	return 0;
}

static struct race races[TOGETHER];

/* Start the leaders, and then the second candidates. */
static struct kustos_client *races_start(int count)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	static int number;
	struct kustos_client *client;

	for (int i = 0; i < count; i++) {
		memset(&races[i], 0, sizeof(races[i]));
		snprintf(races[i].path, sizeof(races[i].path), "/race-%d",
			number++);
		ck_assert_int_eq(
			child_start(&races[i].child, lead_in_child, &races[i]),
			0);
	}
	for (int i = 0; i < count; i++)
		ck_assert(
			child_expect(races[i].child.fd, "leads", PATIENCE_MS));
	client = client_connected(fixture_address(), 20000);
	o.on_gained = next_gained;
	for (int i = 0; i < count; i++) {
		o.arg = &races[i];
		check_err(kustos_latch_create(client, races[i].path, &o,
				  &races[i].next),
			KUSTOS_OK);
		check_err(kustos_latch_start(races[i].next), KUSTOS_OK);
		test_eventually(raw_count_children(fixture_address(),
					races[i].path) == 2,
			3000);
	}
	return client;
}

static void races_end(struct kustos_client *client, int count)
{
	for (int i = 0; i < count; i++) {
		kustos_latch_destroy(races[i].next);
		child_end(&races[i].child);
	}
	client_close(client);
}

/* Kill the leaders.  Prints how many ms each of the next ones took, and returns
   the most; or NO_ROUND if one of them was early.  That happens if its leader
   had been silent for long before, although it sends something each third of
   the timeout at least. */
static int64_t kill_round(void)
{
	struct kustos_client *client = races_start(TOGETHER);
	int64_t killed_ns[TOGETHER];
	int64_t latest = 0;
	int early = 0;

	for (int i = 0; i < TOGETHER; i++) {
		killed_ns[i] = test_boot_ns();
		process_kill(races[i].child.pid);
		races[i].child.pid = 0;
	}
	for (int i = 0; i < TOGETHER; i++)
		test_eventually(atomic_load(&races[i].gained_ns) != 0,
			T_MS + TICK_MS);
	for (int i = 0; i < TOGETHER; i++) {
		int64_t took = races[i].gained_ns - killed_ns[i];

		latest = took > latest ? took : latest;
		early += took <= T_MS / 2 * NS_PER_MS;
		printf("%s %lld", i == 0 ? "killed: the next led after" : ",",
			(long long)(took / NS_PER_MS));
	}
	printf(" ms%s\n", early > 0 ? ", too early to count" : "");
	fflush(stdout); /* a test that fails does not */
	races_end(client, TOGETHER);
	return early > 0 ? NO_ROUND : latest / NS_PER_MS;
}

/* A busy machine is late now and then, or keeps a leader silent.  A wrong
   library would be late, or early, every time. */
START_TEST(the_next_leads_in_time_when_a_leader_is_killed)
{
	int64_t took = NO_ROUND;

	for (int i = 0; i < 6 && took > T_MS + TICK_MS + 100; i++)
		took = kill_round();
	ck_assert_int_le(took, T_MS + TICK_MS + 100);
}
END_TEST

/* A leader that was paused until the next one leads says at the first look that
   it does not lead, and is told of its loss.  Returns how many were told
   late. */
static int pause_round(int count, long long *slowest)
{
	struct kustos_client *client = races_start(count);
	int late = 0;

	for (int i = 0; i < count; i++)
		ck_assert_int_eq(process_pause(races[i].child.pid), 0);
	for (int i = 0; i < count; i++) {
		test_eventually(atomic_load(&races[i].gained_ns) != 0,
			T_MS + TICK_MS);
		child_say(races[i].child.fd, "ask");
		int64_t resumed_ns = test_boot_ns();
		long long lost_ns, took;
		char line[64];
		int leads;

		ck_assert_int_eq(process_resume(races[i].child.pid), 0);
		ck_assert_int_eq(child_hear(races[i].child.fd, line,
					 sizeof(line), PATIENCE_MS),
			0);
		ck_assert_int_eq(sscanf(line, "%d %lld", &leads, &lost_ns), 2);
		ck_assert_int_eq(leads, 0);
		took = lost_ns - resumed_ns;
		late += took >= T_MS / 3 * NS_PER_MS;
		*slowest = took > *slowest ? took : *slowest;
		child_say(races[i].child.fd, "end");
		ck_assert_int_eq(child_wait(&races[i].child, PATIENCE_MS), 0);
	}
	races_end(client, count);
	return late;
}

START_TEST(S01_a_leader_that_was_paused_too_long_knows_before_it_acts)
{
	long long slowest = 0;
	int late = 0;

	for (int left = runs(PAUSED); left > 0; left -= TOGETHER)
		late += pause_round(together(left), &slowest);
	printf("paused: %d of %d knew at the first look, and were told within "
	       "%lld us\n",
		runs(PAUSED), runs(PAUSED), slowest / 1000);
	/* As above, because of busy machines. */
	ck_assert_int_le(late, runs(PAUSED) / 2);
}
END_TEST

/* Cut off but running: told of the loss before the next one gains. */
static struct runner cut[TOGETHER];

static void cut_round(int count, int64_t *margin)
{
	static const enum proxy_mode how[] = { PROXY_HOLE, PROXY_REFUSE,
		PROXY_HOLD };
	struct kustos_client *client = client_connected(fixture_address(),
		20000);
	struct proxy *proxies[TOGETHER];
	struct kustos_client *clients[TOGETHER];
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

	for (int i = 0; i < count; i++) {
		struct race *race = &races[i];

		*race = (struct race){ .gained_ns = 0 };
		proxies[i] = fixture_proxy();
		clients[i] = client_connected(proxy_address(proxies[i]), T_MS);
		raw_delete_tree(fixture_address(), LINE);
		runner_run(&cut[i], clients[i], NULL);
		runner_leads(&cut[i]);
		o.on_gained = next_gained;
		o.arg = race;
		check_err(kustos_latch_create(client, LINE, &o, &race->next),
			KUSTOS_OK);
		check_err(kustos_latch_start(race->next), KUSTOS_OK);
		line_wait(2);
		proxy_set_mode(proxies[i], how[i % 3]);
		test_eventually(atomic_load(&race->gained_ns) != 0,
			T_MS + TICK_MS);
		ck_assert_int_eq(atomic_load(&cut[i].losses), 1);
		int64_t left = race->gained_ns - cut[i].lost_ns;

		ck_assert_int_gt(left, 0);
		*margin = left < *margin ? left : *margin;
		kustos_latch_destroy(race->next);
		kustos_latch_destroy(cut[i].latch);
		client_drop(clients[i]);
		proxy_free(proxies[i]);
	}
	client_close(client);
}

START_TEST(S01_a_leader_that_is_cut_off_is_told_before_the_next_gains)
{
	int64_t margin = INT64_MAX;

	for (int left = runs(CUT_OFF); left > 0; left -= TOGETHER)
		cut_round(together(left), &margin);
	printf("cut off: %d were told, at least %lld ms before the next "
	       "gained\n",
		runs(CUT_OFF), (long long)(margin / NS_PER_MS));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, terms");
	TCase *t = fixture_case(s, "processes", 60);

	tcase_add_test(t, the_next_leads_in_time_when_a_leader_is_killed);
	tcase_add_test(t,
		S01_a_leader_that_was_paused_too_long_knows_before_it_acts);
	tcase_add_test(t,
		S01_a_leader_that_is_cut_off_is_told_before_the_next_gains);
	return fixture_main(s);
}
