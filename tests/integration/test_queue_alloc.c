/*
 * test_queue_alloc.c - each allocation of each call of a queue fails once
 * (allocs.h): the call either reports this or does without the memory, and what
 * it reports is true.
 */
#include "allocs.h"
#include "inject.h"
#include "queue_fixture.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define T_MS 10000
#define CLOSE_MS 8000
#define DUE_MS 300
/* The most data that an item can have in a request of its own. */
#define LARGEST (1048575 - 70)

static void set_up(void)
{
	inject_reset();
	pair_open(T_MS, 0);
	queue = queue_new(client);
	queue_others = queue_new(other);
	queue_put(queue, "first");
	queue_expect(queue, "first");
}

static void tear_down(void)
{
	inject_reset();
	queue_pair_close();
}

static enum kustos_err create(void)
{
	struct kustos_queue *q = NULL;
	enum kustos_err err = kustos_queue_create(client, QUEUE, NULL, &q);

	allocs_expect((err == KUSTOS_OK) == (q != NULL));
	kustos_queue_destroy(q);
	return err;
}

static enum kustos_err put(void)
{
	return kustos_queue_put(queue, "x", 1, SOON, NULL);
}

static enum kustos_err put_async(void)
{
	struct kustos_new_item item = { .data = "x", .len = 1 };
	static struct taken end;
	enum kustos_err err;

	memset(&end, 0, sizeof(end));
	err = kustos_queue_put_item_async(queue, &item, SOON, NULL,
		queue_was_put, &end);
	if (err != KUSTOS_OK)
		return err;
	while (taken_calls(&end) == 0)
		test_pause_1ms();
	return end.err;
}

static enum kustos_err poll(void)
{
	struct kustos_item *item = NULL;
	enum kustos_err err = kustos_queue_poll(queue, SOON, NULL, &item);

	allocs_expect((err == KUSTOS_OK) == (item != NULL));
	kustos_item_free(item);
	return err;
}

static enum kustos_err peek(void)
{
	struct kustos_item *item = NULL;
	enum kustos_err err = kustos_queue_peek(queue, SOON, NULL, &item);

	kustos_item_free(item);
	return err;
}

static enum kustos_err take_async(bool look)
{
	static struct taken end;
	enum kustos_err err;

	memset(&end, 0, sizeof(end));
	err = look
		? kustos_queue_peek_async(queue, SOON, NULL, queue_taken, &end)
		: kustos_queue_poll_async(queue, 1, SOON, NULL, queue_taken,
			  &end);
	if (err != KUSTOS_OK)
		return err;
	while (taken_calls(&end) == 0)
		test_pause_1ms();
	taken_free(&end);
	return end.err;
}

static enum kustos_err poll_async(void)
{
	return take_async(false);
}

static enum kustos_err peek_async(void)
{
	return take_async(true);
}

static void counted(void *arg, enum kustos_err err, size_t count)
{
	queue_taken(arg, err, NULL, 0);
	allocs_expect(count == 0);
}

static enum kustos_err count_async(void)
{
	static struct taken end;
	enum kustos_err err;

	memset(&end, 0, sizeof(end));
	err = kustos_queue_count_async(queue, SOON, NULL, counted, &end);
	if (err != KUSTOS_OK)
		return err;
	while (taken_calls(&end) == 0)
		test_pause_1ms();
	return end.err;
}

static const struct alloc_call calls[] = {
	{ "create", create, false },
	{ "put", put, false },
	{ "put_async", put_async, false },
	{ "poll", poll, true },
	{ "peek", peek, true },
	{ "poll_async", poll_async, true },
	{ "peek_async", peek_async, true },
	{ "count_async", count_async, false },
};
#define CALLS 8

/* There are two items, put by somebody else. */
static void fill(const struct alloc_call *call)
{
	while (queue_count() > 0)
		ck_assert_int_eq(queue_try(queue), KUSTOS_OK);
	if (call->full) {
		queue_put(queue_others, "a");
		queue_put(queue_others, "b");
	}
}

/* A call that failed has done nothing, or what it took is kept for the next
   call.  A call that succeeded has done what it should. */
static void check_left(const struct alloc_call *call, enum kustos_err err)
{
	int left = call->full ? 2 : 0;

	if (err == KUSTOS_OK && (call->fn == put || call->fn == put_async))
		left = 1;
	if (err == KUSTOS_OK && (call->fn == poll || call->fn == poll_async))
		left = 1;
	check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	if (err != KUSTOS_OK && call->full) {
		queue_expect(queue, "a"); /* still the first */
		left--;
	}
	ck_assert_msg(queue_count() == left, "%s: %s: %d", call->name,
		kustos_err_name(err), queue_count());
}

START_TEST(every_allocation_of_a_call_may_fail)
{
	allocs_fail_each(&calls[_i], fill, check_left);
}
END_TEST

/* Make the object take an item for a call that has given up. */
static struct kustos_queue *keep(struct kustos_client *mine, const char *text)
{
	struct kustos_queue *q = queue_new(mine);
	struct kustos_item *item = NULL;
	static char path[] = QUEUE "/qn-0000000000";

	raw_delete_tree(fixture_address(), QUEUE);
	ck_assert_int_eq(raw_create(fixture_address(), QUEUE, ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), path, text), 0);
	inject_connect(ECONNREFUSED);
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_MULTI, 1);
	check_err(kustos_queue_poll(q, KUSTOS_NOW, NULL, &item),
		KUSTOS_EDISCONNECTED);
	inject_connect(0);
	check_err(kustos_queue_flush(q, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 0);
	return q;
}

/* What must be created again when the item is put back; memory is short for
   this, too. */
enum { ALL_THERE, NO_QUEUE, NO_RECEIPT, LARGE_NO_QUEUE, BACKS };

static void remove_some(int what)
{
	if (what != ALL_THERE)
		ck_assert_int_eq(raw_delete_tree(fixture_address(), QUEUE), 0);
	if (what == NO_RECEIPT)
		ck_assert_int_eq(raw_delete_tree(fixture_address(), RECEIPTS),
			0);
}

/* Any allocation fails between the end of the queue and that of its client,
   which waits for the queue. */
START_TEST(S15_what_goes_back_in_the_end_is_not_lost_for_lack_of_memory)
{
	static char text[LARGEST + 1];
	int used = 1;

	memset(text, 'x', _i == LARGE_NO_QUEUE ? LARGEST : 1);
	for (int n = 1; n <= used + 1; n++) {
		struct kustos_client *mine = client_connected(fixture_address(),
			T_MS);
		struct kustos_queue *q = keep(mine, text);

		remove_some(_i);
		kustos_deadline until = kustos_after_ms(CLOSE_MS);
		int made = inject_allocs(INJECT_PROGRAM);
		inject_alloc(INJECT_PROGRAM, n);
		kustos_queue_destroy(q);
		enum kustos_err err = kustos_client_close(mine, until, NULL);
		used = inject_allocs(INJECT_PROGRAM) - made;
		allocs_disarm();
		check_err(err, KUSTOS_OK);
		queue_expect(queue_others, text);
		check_err(queue_try(queue_others), KUSTOS_EEMPTY);
	}
}
END_TEST

static atomic_int unfits;

static void count_unfit(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	atomic_fetch_add(&unfits, 1);
}

/* Put a node that is no item, and is due in a moment. */
static void put_delayed(void)
{
	struct timespec now;
	char path[64];

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(path, sizeof(path), QUEUE "/queue-|%llX|0000000000",
		(unsigned long long)(now.tv_sec * INT64_C(1000) +
			now.tv_nsec / 1000000 + DUE_MS));
	raw_delete_tree(fixture_address(), QUEUE);
	ck_assert_int_eq(raw_create(fixture_address(), QUEUE, ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), path, "no frame"), 0);
	atomic_store(&unfits, 0);
}

static void wait_for_it(struct kustos_queue *q, struct taken *end)
{
	memset(end, 0, sizeof(*end));
	check_err(kustos_queue_poll_async(q, 1, KUSTOS_FOREVER, NULL,
			  queue_taken, end),
		KUSTOS_OK);
	client_exchange(client); /* it has been listed, and is not due */
}

/* A call that comes again lists again: the old listing does not show that the
   item was unfit when it was read. */
START_TEST(L27_a_delayed_item_is_found_unfit_though_memory_was_short)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	static struct taken ends[2];
	struct kustos_queue *q = NULL;

	o.kind = KUSTOS_QUEUE_DELAY;
	o.on_unfit = count_unfit;
	check_err(kustos_queue_create(client, QUEUE, &o, &q), KUSTOS_OK);
	put_delayed();
	wait_for_it(q, &ends[0]);
	inject_alloc(INJECT_PROGRAM, _i + 1);
	for (int ms = 0; ms < DUE_MS + 2000 && taken_calls(&ends[0]) == 0 &&
		atomic_load(&unfits) == 0;
		ms++)
		test_pause_1ms();
	allocs_disarm();
	if (taken_calls(&ends[0]) > 0) {
		check_err(ends[0].err, KUSTOS_ENOMEM);
		wait_for_it(q, &ends[1]);
	}
	test_eventually(atomic_load(&unfits) == 1, 5000);
	kustos_queue_destroy(q);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("queue, alloc");
	TCase *t = fixture_case(s, "alloc", 180);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, every_allocation_of_a_call_may_fail, 0, CALLS);
	tcase_add_loop_test(t,
		S15_what_goes_back_in_the_end_is_not_lost_for_lack_of_memory, 0,
		BACKS);
	tcase_add_loop_test(t,
		L27_a_delayed_item_is_found_unfit_though_memory_was_short, 0,
		6);
	return fixture_main(s);
}
