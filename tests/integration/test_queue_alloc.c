/*
 * test_queue_alloc.c - every allocation of every call of a queue fails once: the
 * call says so or does without, and what it says is so.
 */
#include "allocs.h"
#include "inject.h"
#include "queue_fixture.h"

#include <string.h>

#define T_MS 10000

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
	err = kustos_queue_put_async(queue, &item, SOON, NULL, queue_was_put,
		&end);
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

static enum kustos_err poll_async(void)
{
	static struct taken end;
	enum kustos_err err;

	memset(&end, 0, sizeof(end));
	err = kustos_queue_poll_async(queue, 1, SOON, NULL, queue_taken, &end);
	if (err != KUSTOS_OK)
		return err;
	while (taken_calls(&end) == 0)
		test_pause_1ms();
	taken_free(&end);
	return end.err;
}

static const struct alloc_call calls[] = {
	{ "create", create, false },
	{ "put", put, false },
	{ "put_async", put_async, false },
	{ "poll", poll, true },
	{ "peek", peek, true },
	{ "poll_async", poll_async, true },
};
#define CALLS 6

/* There are two, which others have put. */
static void fill(const struct alloc_call *call)
{
	while (queue_count() > 0)
		ck_assert_int_eq(queue_try(queue), KUSTOS_OK);
	if (call->full) {
		queue_put(queue_others, "a");
		queue_put(queue_others, "b");
	}
}

/* What failed has not happened, or is kept for the next call; and what has not failed
   has. */
static void check_left(const struct alloc_call *call, enum kustos_err err)
{
	int left = call->full ? 2 : 0;

	if (err == KUSTOS_OK && (call->fn == put || call->fn == put_async))
		left = 1;
	if (err == KUSTOS_OK && (call->fn == poll || call->fn == poll_async))
		left = 1;
	check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	if (err != KUSTOS_OK && call->full) {
		queue_expect(queue, "a"); /* which is the first still */
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

int main(void)
{
	Suite *s = suite_create("queue, alloc");
	TCase *t = fixture_case(s, "alloc", 180);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, every_allocation_of_a_call_may_fail, 0, CALLS);
	return fixture_main(s);
}
