/*
 * test_queue_shared.c - eight consumers share a queue: they leave nothing, none
 * of them waits for long while there are items, and few of their takes are in
 * vain.
 *
 * QUEUE_SHARED sets how many items (800).  If it is set the machine should be
 * quiet, as the time that a consumer waits is then held against the promise
 * itself.
 */
#include "queue_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 9000
#define CONSUMERS 8
#define ITEMS_MAX 100000
#define STALL_MS 1000

static struct consumer {
	struct kustos_queue *queue;
	struct taken taken;
	int64_t since, until; /* a poll; in ms */
	int count;	      /* items that it got */
} consumers[CONSUMERS];

static bool had[ITEMS_MAX];
static int items, left;

/* When the last half of the items was there, and when the last of these was
   taken; the longest that a consumer waited for one meanwhile, and that nothing
   was done here. */
static int64_t full_ms, last_ms, stall_ms, late_ms;

static void set_up(void)
{
	const char *text = getenv("QUEUE_SHARED");

	items = left = text != NULL ? atoi(text) : 800;
	ck_assert_int_le(items, ITEMS_MAX);
	memset(had, 0, sizeof(had));
	memset(consumers, 0, sizeof(consumers));
	stall_ms = late_ms = 0;
	queue_pair_open(T_MS);
	/* The proxy counts the requests of half of them. */
	for (int i = 0; i < CONSUMERS; i++)
		consumers[i].queue = queue_new(i % 2 ? client : other);
}

static void tear_down(void)
{
	for (int i = 0; i < CONSUMERS; i++)
		kustos_queue_destroy(consumers[i].queue); /* or NULL */
	queue_pair_close();
}

static void got(void *arg, enum kustos_err err, struct kustos_item *const *list,
	size_t count)
{
	struct consumer *c = arg;

	c->until = test_now_ms();
	queue_taken(&c->taken, err, list, count);
}

static void poll(struct consumer *c, size_t max)
{
	c->taken.calls = 0;
	c->since = test_now_ms();
	check_err(kustos_queue_poll_async(c->queue, max, SOON, NULL, got, c),
		KUSTOS_OK);
}

static void waited(const struct consumer *c, int64_t until)
{
	int64_t ms = until - (c->since > full_ms ? c->since : full_ms);

	if (ms > stall_ms)
		stall_ms = ms;
}

/* Look at what it has got, if anything, and let it poll again.  Returns whether
   it had something. */
static bool serve(struct consumer *c)
{
	struct taken *t = &c->taken;

	if (taken_calls(t) == 0)
		return false;
	check_err(taken_wait(t), KUSTOS_OK);
	for (size_t i = 0; i < t->count; i++) {
		int number = atoi(t->items[i]->data);

		ck_assert(!had[number]);
		had[number] = true;
	}
	left -= (int)t->count;
	c->count += (int)t->count;
	taken_free(t);
	waited(c, c->until);
	last_ms = c->until > last_ms ? c->until : last_ms;
	poll(c, 1);
	return true;
}

/* Have the items from "from" to "to" - 1 taken.  The consumers wait already, or
   begin now. */
static void share(int from, int to, bool begin)
{
	int64_t seen;

	queue_put_numbers(queue_others, from, to);
	full_ms = last_ms = seen = test_now_ms();
	for (int i = 0; begin && i < CONSUMERS; i++)
		poll(&consumers[i], 3);
	while (left > items - to) {
		bool any = false;

		for (int i = 0; i < CONSUMERS; i++)
			any = serve(&consumers[i]) || any;
		if (!any)
			test_pause_1ms();
		int64_t now = test_now_ms();
		late_ms = now - seen > late_ms ? now - seen : late_ms;
		seen = now;
	}
	/* Those that have nothing have waited while others had items. */
	for (int i = 0; i < CONSUMERS; i++)
		if (taken_calls(&consumers[i].taken) == 0)
			waited(&consumers[i], last_ms);
}

/* Have all items taken, the first half by consumers that begin then, and the
   others by consumers that wait. */
static void share_all(void)
{
	share(0, items / 2, true);
	share(items / 2, items, false);
	ck_assert_int_eq(queue_count(), 0);
}

/* One item for each that waits, which then takes no more: nobody was left behind
   by what went before. */
static void share_last(void)
{
	queue_put_numbers(queue_others, 0, CONSUMERS);
	for (int i = 0; i < CONSUMERS; i++) {
		check_err(taken_wait(&consumers[i].taken), KUSTOS_OK);
		taken_free(&consumers[i].taken);
	}
	ck_assert_int_eq(queue_count(), 0);
}

START_TEST(L27_eight_consumers_leave_nothing_and_wait_for_nothing)
{
	bool strict = getenv("QUEUE_SHARED") != NULL && TEST_CLOCK_COUNTS;

	share_all();
	printf("%d items: the longest wait was %d ms, and %d ms were lost "
	       "here\n",
		items, (int)stall_ms, (int)late_ms);
	ck_assert_int_le(stall_ms,
		strict ? STALL_MS + late_ms : TEST_SLOW * STALL_MS);
	share_last();
	for (int i = 0; i < CONSUMERS; i++) {
		poll(&consumers[i], 1);
		kustos_queue_destroy(consumers[i].queue);
		consumers[i].queue = NULL;
		check_err(taken_wait(&consumers[i].taken), KUSTOS_ECLOSED);
	}
}
END_TEST

/* If all of them tried for the first item, each item would take about six
   transactions. */
START_TEST(eight_consumers_do_not_fight_for_the_first_item)
{
	int count = 0, takes;

	proxy_reset_counts(proxy);
	share_all();
	takes = proxy_count(proxy, ZK_OP_MULTI);
	for (int i = 1; i < CONSUMERS; i += 2)
		count += consumers[i].count;
	printf("%d of %d items with %d transactions\n", count, items, takes);
	ck_assert_int_le(takes, 3 * count);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, shared");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t,
		L27_eight_consumers_leave_nothing_and_wait_for_nothing);
	tcase_add_test(t, eight_consumers_do_not_fight_for_the_first_item);
	return fixture_main(s);
}
