/*
 * test_queue_quota.c - a server with a quota refuses some of many items: those
 * that are larger than the quota of the queue allows.
 */
#include "queue_fixture.h"

#include <stdlib.h>
#include <string.h>

#define T_MS 20000
#define LIMITS "/zookeeper/quota" QUEUE
#define BYTES_MAX 100000
/* More than fit in one transaction, and more than may be in flight at a
   time. */
#define ITEMS 2000

static char large[BYTES_MAX + 1];

/* It may be left from an earlier test. */
static void make(const char *path, const char *data)
{
	enum kustos_err err = kustos_create(other, path, data, strlen(data),
		KUSTOS_CREATE_PARENTS, SOON, NULL, NULL, NULL);

	if (err != KUSTOS_EEXISTS)
		check_err(err, KUSTOS_OK);
}

static void set_up(void)
{
	queue_pair_open(T_MS);
	make(QUEUE, "");
	make(LIMITS "/zookeeper_limits",
		"count=-1,bytes=-1=;byteHardLimit=100000;countHardLimit=-1");
	make(LIMITS "/zookeeper_stats", "count=1,bytes=0");
}

/* Item number "at" is too large.  Exactly the items before it are put, so a
   caller that continues behind it loses nothing. */
static void put_up_to(size_t count, size_t at)
{
	struct kustos_new_item *items = calloc(count, sizeof(*items));
	size_t put = 0;

	ck_assert_ptr_nonnull(items);
	for (size_t i = 0; i < count; i++)
		items[i] = (struct kustos_new_item){ .data = "x", .len = 1 };
	items[at] = (struct kustos_new_item){ .data = large,
		.len = sizeof(large) };
	check_err(kustos_queue_put_many(queue, items, count, SOON, NULL, &put),
		KUSTOS_EQUOTA);
	ck_assert_uint_eq(put, at);
	check_err(kustos_queue_flush(queue, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(queue_count(), (int)at);
	free(items);
}

START_TEST(of_one_call_nothing_is_put_behind_what_is_refused)
{
	static const struct {
		size_t count, at;
	} calls[] = { { 3, 1 }, { 3, 0 }, { 3, 2 }, { ITEMS, 1 },
		{ ITEMS, 300 } };

	put_up_to(calls[_i].count, calls[_i].at);
}
END_TEST

/* Each of several calls is decided by itself, although all are in one
   transaction. */
START_TEST(what_is_refused_to_one_call_is_put_for_another)
{
	struct taken ends[5];
	struct kustos_new_item item;

	memset(ends, 0, sizeof(ends));
	queue_put(queue, "first");
	for (int i = 0; i < 5; i++) {
		item = (struct kustos_new_item){ .data = large,
			.len = i == 2 ? sizeof(large) : 1 };
		check_err(kustos_queue_put_item_async(queue, &item, SOON, NULL,
				  queue_was_put, &ends[i]),
			KUSTOS_OK);
	}
	for (int i = 0; i < 5; i++)
		check_err(taken_wait(&ends[i]),
			i == 2 ? KUSTOS_EQUOTA : KUSTOS_OK);
	ck_assert_int_eq(queue_count(), 5);
}
END_TEST

int main(void)
{
	static const struct server_options options = {
		.jvm = "-Dzookeeper.enforceQuota=true"
	};
	Suite *s = suite_create("queue, quota");

	fixture_options(&options);
	TCase *t = fixture_case(s, "one server", 60);
	tcase_add_checked_fixture(t, set_up, queue_pair_close);
	tcase_add_loop_test(t,
		of_one_call_nothing_is_put_behind_what_is_refused, 0, 5);
	tcase_add_test(t, what_is_refused_to_one_call_is_put_for_another);
	return fixture_main(s);
}
