/*
 * test_lost_in_time.c - a client is told LOST before the server deletes the
 * session's nodes, measured on one clock.
 *
 * Another session looks at the nodes all the time.  A node was still there when
 * the last request that found it was sent, so a LOST before that was in time.
 * The margin that is printed is smaller than the real one by a few milliseconds
 * at most.
 *
 * KUSTOS_TEST_RUNS=100 runs each case that often, with callbacks that sleep
 * long.
 */
#include "callback_gate.h"
#include "child.h"
#include "client_fixture.h"
#include "process.h"
#include "proxy.h"
#include "raw.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 3000 /* a machine that stops for a third of this fails */
#define DEFAULT_RUNS 6
#define LONG_SLEEP_MS 10000
#define TOGETHER 10 /* runs at the same time */
#define NS_PER_MS INT64_C(1000000)

static int runs(void)
{
	const char *text = getenv("KUSTOS_TEST_RUNS");
	int n = text != NULL ? atoi(text) : 0;

	return n > 0 ? n : DEFAULT_RUNS;
}

/* One node, as another session sees it. */
struct node {
	char path[32];
	int64_t seen_ns; /* it existed at some time after this */
	int64_t gone_ns; /* it did not at some time before this */
	bool gone;
};

static void look(struct raw *raw, struct node *node)
{
	int64_t asked_ns = test_boot_ns();
	int rc;

	if (node->gone)
		return;
	rc = raw_do_exists(raw, node->path, NULL);
	ck_assert(rc == 0 || rc == RAW_NONODE);
	if (rc == 0) {
		node->seen_ns = asked_ns;
	} else {
		node->gone_ns = test_boot_ns();
		node->gone = true;
	}
}

static struct raw *observer(void)
{
	struct raw *raw = raw_open(fixture_address(), 30000);

	ck_assert_ptr_nonnull(raw);
	return raw;
}

/* A user's callback that sleeps until all is over. */
struct sleeper {
	int begun, over;
};

static void sleep_in_callback(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct sleeper *s = arg;
	int64_t now = test_now_ms();
	int64_t least = now + (getenv("KUSTOS_TEST_RUNS") ? LONG_SLEEP_MS : 0);
	int64_t most = now + PATIENCE_MS;

	(void)err;
	(void)result;
	raise_flag(&s->begun);
	while ((now < least || !flag(&s->over)) && now < most) {
		test_pause_1ms();
		now = test_now_ms();
	}
}

static void put_to_sleep(struct kustos_client *c, struct sleeper *s)
{
	ck_assert_int_eq(kustos_exists_async(c, "/", KUSTOS_FOREVER, NULL,
				 sleep_in_callback, s),
		KUSTOS_OK);
	test_eventually(flag(&s->begun), 2000);
}

/*
 * Cut off: all of them in one process.
 */
struct cut {
	struct proxy *proxy;
	struct kustos_client *client;
	struct record record;
	struct sleeper sleeper;
	struct node node;
};

static struct cut cuts[TOGETHER];

static void cut_open(struct cut *k, int i, bool asleep)
{
	k->node = (struct node){ .gone = false };
	k->sleeper = (struct sleeper){ 0, 0 };
	snprintf(k->node.path, sizeof(k->node.path), "/cut-%d", i);
	k->proxy = fixture_proxy();
	k->client = client_connected(proxy_address(k->proxy), TIMEOUT_MS);
	record_start(&k->record, k->client);
	client_create(k->client, k->node.path, KUSTOS_CREATE_EPHEMERAL);
	if (asleep)
		put_to_sleep(k->client, &k->sleeper);
}

static void cut_close(struct cut *k)
{
	raise_flag(&k->sleeper.over);
	client_drop(k->client);
	proxy_free(k->proxy);
}

/* Cut off "n" clients, each in one of three ways and at a time of its own.
   Returns the smallest margin in nanoseconds. */
static int64_t cut_round(struct raw *raw, int n, bool asleep)
{
	static const enum proxy_mode how[] = { PROXY_HOLE, PROXY_REFUSE,
		PROXY_HOLD };
	int64_t start = test_now_ms(), margin = INT64_MAX;
	int cut = 0, gone = 0;

	for (int i = 0; i < n; i++)
		cut_open(&cuts[i], i, asleep);
	while (gone < n) {
		if (cut < n && test_now_ms() - start >= cut * 37) {
			proxy_set_mode(cuts[cut].proxy, how[cut % 3]);
			cut++;
		}
		gone = 0;
		for (int i = 0; i < n; i++) {
			look(raw, &cuts[i].node);
			gone += cuts[i].node.gone;
		}
		ck_assert_int_lt(test_now_ms() - start, PATIENCE_MS);
	}
	for (int i = 0; i < n; i++) {
		int64_t lost = record_when(&cuts[i].record, KUSTOS_STATE_LOST,
			1);
		int64_t left = cuts[i].node.seen_ns - lost;

		ck_assert_msg(lost != 0, "%d was not told", i);
		ck_assert_msg(left >= 0, "%d was told %lld us late", i,
			(long long)-left / 1000);
		margin = left < margin ? left : margin;
		cut_close(&cuts[i]);
	}
	return margin;
}

START_TEST(S01_a_client_that_is_cut_off_is_told_LOST_in_time)
{
	bool asleep = _i == 1;
	struct raw *raw = observer();
	int64_t margin = INT64_MAX;

	for (int left = runs(); left > 0; left -= TOGETHER) {
		int64_t m = cut_round(raw, left < TOGETHER ? left : TOGETHER,
			asleep);

		margin = m < margin ? m : margin;
	}
	printf("cut off%s: told in time in %d of %d runs, at least %lld ms "
	       "before the deletion\n",
		asleep ? ", a callback asleep" : "", runs(), runs(),
		(long long)(margin / NS_PER_MS));
	raw_close(raw);
}
END_TEST

/*
 * Paused: each in a process of its own.
 */
struct report {
	char state[16];
	long long epochs, lease_ms; /* at the first look after the pause */
	long long lost_ns;	    /* when the listener was told, or 0 */
	long long answered_ns;	    /* when a request had succeeded */
	int err;		    /* the error of that */
};

struct paused {
	struct child child;
	struct node node;
	bool asleep;
	int64_t stopped_ns, resumed_ns;
	int64_t pause_ns; /* INT64_MAX: until the node is gone */
	bool reported;
	struct report report;
};

static struct record record;

/* Report what this process sees first after a pause; it was told to look
   meanwhile. */
static void report_pause(int fd, struct kustos_client *c)
{
	char line[160];
	int64_t epoch = client_epoch(c);
	uint64_t losses = client_stats(c).losses;

	child_expect(fd, "look", PATIENCE_MS);
	int64_t lease = kustos_client_lease_ms(c);
	struct kustos_session s = client_session(c);
	enum kustos_err err = kustos_exists(c, "/",
		kustos_after_ms(PATIENCE_MS), NULL, NULL);
	int64_t answered_ns = test_boot_ns();
	/* A loss that has been declared is told within moments. */
	for (int i = 0; i < PATIENCE_MS &&
		record_count(&record, KUSTOS_STATE_LOST) == 0 &&
		client_stats(c).losses > losses;
		i++)
		test_pause_1ms();
	snprintf(line, sizeof(line), "%s %lld %lld %lld %lld %d",
		kustos_state_name(s.state), (long long)(s.epoch - epoch),
		(long long)lease,
		(long long)record_when(&record, KUSTOS_STATE_LOST, 1),
		(long long)answered_ns, (int)err);
	child_say(fd, line);
}

static int paused_main(int fd, void *arg)
{
	const struct paused *p = arg;
	struct sleeper sleeper = { 0, 0 };
	struct kustos_client *c = client_connected(fixture_address(),
		TIMEOUT_MS);

	record_start(&record, c);
	client_create(c, p->node.path, KUSTOS_CREATE_EPHEMERAL);
	if (p->asleep)
		put_to_sleep(c, &sleeper);
	child_say(fd, "ready");
	report_pause(fd, c);
	child_expect(fd, "end", PATIENCE_MS);
	raise_flag(&sleeper.over);
	client_drop(c);
	return 0;
}

static void read_report(struct paused *p)
{
	struct report *r = &p->report;
	char line[160];

	ck_assert_int_eq(
		child_hear(p->child.fd, line, sizeof(line), PATIENCE_MS), 0);
	ck_assert_int_eq(sscanf(line, "%15s %lld %lld %lld %lld %d", r->state,
				 &r->epochs, &r->lease_ms, &r->lost_ns,
				 &r->answered_ns, &r->err),
		6);
	p->reported = true;
}

/* Do the next step for one of them. */
static void paused_step(struct raw *raw, struct paused *p)
{
	struct pollfd has_line = { p->child.fd, POLLIN, 0 };

	look(raw, &p->node);
	if (p->resumed_ns == 0) {
		bool over = p->pause_ns == INT64_MAX
			? p->node.gone
			: test_boot_ns() - p->stopped_ns >= p->pause_ns;
		if (over) {
			child_say(p->child.fd, "look");
			p->resumed_ns = test_boot_ns();
			ck_assert_int_eq(process_resume(p->child.pid), 0);
		}
	} else if (!p->reported && poll(&has_line, 1, 0) == 1) {
		read_report(p);
	}
}

static struct paused pauses[TOGETHER];

/* Pause "n" processes: if "longer", until the server has deleted the node, else
   for 20 to 80 per cent of the timeout. */
static void pause_round(struct raw *raw, int n, bool longer)
{
	static int count; /* nodes of an earlier round may still exist */
	int64_t start;
	int reported = 0;

	for (int i = 0; i < n; i++) {
		struct paused *p = &pauses[i];

		*p = (struct paused){ .asleep = i % 2 == 1 };
		snprintf(p->node.path, sizeof(p->node.path), "/paused-%d",
			count++);
		p->pause_ns = longer
			? INT64_MAX
			: (20 + 60 * i / n) * TIMEOUT_MS * NS_PER_MS / 100;
		ck_assert_int_eq(child_start(&p->child, paused_main, p), 0);
	}
	for (int i = 0; i < n; i++)
		ck_assert(
			child_expect(pauses[i].child.fd, "ready", PATIENCE_MS));
	for (int i = 0; i < n; i++) {
		ck_assert_int_eq(process_pause(pauses[i].child.pid), 0);
		pauses[i].stopped_ns = test_boot_ns();
	}
	start = test_now_ms();
	while (reported < n) {
		reported = 0;
		for (int i = 0; i < n; i++) {
			paused_step(raw, &pauses[i]);
			reported += pauses[i].reported;
		}
		ck_assert_int_lt(test_now_ms() - start, PATIENCE_MS);
	}
	for (int i = 0; i < n; i++)
		look(raw, &pauses[i].node);
	for (int i = 0; i < n; i++) {
		child_say(pauses[i].child.fd, "end");
		ck_assert_int_eq(child_wait(&pauses[i].child, PATIENCE_MS), 0);
		child_end(&pauses[i].child);
	}
}

static bool held_on(const struct report *r)
{
	return r->epochs == 0 &&
		(r->lease_ms > 0 || strcmp(r->state, "CONNECTED") == 0 ||
			strcmp(r->state, "SUSPENDED") == 0);
}

START_TEST(S01_a_client_that_was_paused_shortly_held_on_or_is_told_in_time)
{
	struct raw *raw = observer();
	int lost = 0;

	for (int left = runs(); left > 0; left -= TOGETHER) {
		int n = left < TOGETHER ? left : TOGETHER;

		pause_round(raw, n, false);
		for (int i = 0; i < n; i++) {
			const struct report *r = &pauses[i].report;
			const struct node *node = &pauses[i].node;

			ck_assert_int_eq(r->err, KUSTOS_OK);
			ck_assert(r->lost_ns != 0 || held_on(r));
			/* A client that held on had a node to hold on to: the
			   answer extended its life by one timeout. */
			ck_assert(!held_on(r) || !node->gone ||
				node->gone_ns - r->answered_ns >
					TIMEOUT_MS * NS_PER_MS / 2);
			ck_assert(!TEST_CLOCK_COUNTS || !node->gone ||
				r->lost_ns <= node->seen_ns);
			lost += r->lost_ns != 0;
		}
	}
	printf("paused shortly: %d of %d runs held on, %d were told in time\n",
		runs() - lost, runs(), lost);
	raw_close(raw);
}
END_TEST

START_TEST(S01_a_client_that_was_paused_too_long_knows_before_it_acts)
{
	struct raw *raw = observer();
	int64_t slowest = 0, closest = INT64_MAX;

	for (int left = runs(); left > 0; left -= TOGETHER) {
		int n = left < TOGETHER ? left : TOGETHER;

		pause_round(raw, n, true);
		for (int i = 0; i < n; i++) {
			const struct report *r = &pauses[i].report;
			int64_t delay = r->lost_ns - pauses[i].resumed_ns;
			int64_t before = r->answered_ns - r->lost_ns;

			ck_assert_int_eq(r->err, KUSTOS_OK);
			ck_assert_msg(!held_on(r), "%s, lease %lld ms",
				r->state, r->lease_ms);
			ck_assert(r->lost_ns != 0 && before > 0);
			ck_assert_int_lt(delay, TIMEOUT_MS / 3 * NS_PER_MS);
			slowest = delay > slowest ? delay : slowest;
			closest = before < closest ? before : closest;
		}
	}
	printf("paused too long: %d of %d runs knew at the first look, were "
	       "told within %lld us and at least %lld us before a request "
	       "succeeded\n",
		runs(), runs(), (long long)slowest / 1000,
		(long long)closest / 1000);
	raw_close(raw);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lost in time");
	TCase *t = fixture_case(s, "one server", 300);

	tcase_add_loop_test(t,
		S01_a_client_that_is_cut_off_is_told_LOST_in_time, 0, 2);
	tcase_add_test(t,
		S01_a_client_that_was_paused_shortly_held_on_or_is_told_in_time);
	tcase_add_test(t,
		S01_a_client_that_was_paused_too_long_knows_before_it_acts);
	return fixture_main(s);
}
