/*
 * queue_fixture.c - what tests of the queues share.
 */
#include "queue_fixture.h"

#include <stdio.h>
#include <string.h>

#define BULK 500

struct kustos_queue *queue, *queue_others;

struct kustos_queue *queue_new(struct kustos_client *owner)
{
	struct kustos_queue *q = NULL;

	check_err(kustos_queue_create(owner, QUEUE, NULL, &q), KUSTOS_OK);
	ck_assert_ptr_nonnull(q);
	return q;
}

void queue_pair_open(int timeout_ms)
{
	struct kustos_client_options o = pair_proxy(timeout_ms);

	o.retry = kustos_retry_forever(5);
	pair_open_with(&o, 0);
	queue = queue_new(client);
	queue_others = queue_new(other);
}

void queue_pair_close(void)
{
	kustos_queue_destroy(queue);
	kustos_queue_destroy(queue_others);
	pair_close();
}

void queue_put(struct kustos_queue *q, const char *text)
{
	check_err(kustos_queue_put(q, text, strlen(text), SOON, NULL),
		KUSTOS_OK);
}

void queue_put_numbers(struct kustos_queue *q, int from, int to)
{
	static char texts[BULK][12];
	struct kustos_new_item items[BULK];
	size_t put;

	memset(items, 0, sizeof(items));
	while (from < to) {
		int count = to - from < BULK ? to - from : BULK;

		for (int i = 0; i < count; i++) {
			items[i].len = (size_t)snprintf(texts[i], 12, "%d",
				from + i);
			items[i].data = texts[i];
		}
		check_err(kustos_queue_put_many(q, items, (size_t)count, SOON,
				  NULL, &put),
			KUSTOS_OK);
		ck_assert_int_eq((int)put, count);
		from += count;
	}
}

void queue_expect(struct kustos_queue *q, const char *text)
{
	struct kustos_item *item = NULL;

	check_err(kustos_queue_poll(q, SOON, NULL, &item), KUSTOS_OK);
	ck_assert_str_eq(item->data, text);
	ck_assert_uint_eq(item->len, strlen(text));
	kustos_item_free(item);
}

void queue_expect_numbers(struct kustos_queue *q, int from, int to)
{
	struct kustos_item *items[64];
	size_t count;

	while (from < to) {
		size_t want = to - from < 64 ? (size_t)(to - from) : 64;

		check_err(kustos_queue_poll_many(q, want, SOON, NULL, items,
				  &count),
			KUSTOS_OK);
		ck_assert_uint_ge(count, 1);
		ck_assert_uint_le(count, want);
		for (size_t i = 0; i < count; i++) {
			char text[12];

			snprintf(text, sizeof(text), "%d", from++);
			ck_assert_str_eq(items[i]->data, text);
			kustos_item_free(items[i]);
		}
	}
}

enum kustos_err queue_try(struct kustos_queue *q)
{
	struct kustos_item *item = NULL;
	enum kustos_err err = kustos_queue_poll(q, KUSTOS_NOW, NULL, &item);

	ck_assert_int_eq(err == KUSTOS_OK, item != NULL);
	kustos_item_free(item);
	return err;
}

int queue_count(void)
{
	return fixture_children(QUEUE);
}

static void told(struct taken *taken, enum kustos_err err)
{
	taken->err = err;
	__atomic_add_fetch(&taken->calls, 1, __ATOMIC_SEQ_CST);
}

void queue_taken(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	struct taken *taken = arg;

	taken->count = count;
	if (count > 0)
		memcpy(taken->items, items, count * sizeof(*items));
	told(taken, err);
}

void queue_was_put(void *arg, enum kustos_err err)
{
	told(arg, err);
}

int taken_calls(const struct taken *taken)
{
	return __atomic_load_n(&taken->calls, __ATOMIC_SEQ_CST);
}

enum kustos_err taken_wait(const struct taken *taken)
{
	test_eventually(taken_calls(taken) > 0, 5000);
	ck_assert_int_eq(taken_calls(taken), 1);
	return taken->err;
}

void taken_free(struct taken *taken)
{
	for (size_t i = 0; i < taken->count; i++)
		kustos_item_free(taken->items[i]);
}
