/* test_item_frame.c - item_frame.h: the data of items in Curator's queues. */
#include "item_frame.h"
#include "random.h"
#include "unit.h"

#include <string.h>

#define MOST 8

static const struct ku_bytes one[] = { { "one", 3 } };
static const struct ku_bytes empty[] = { { NULL, 0 } };

static void expect_frame(const struct ku_bytes *items, size_t count,
	const char *expected, size_t len)
{
	char frame[64];

	ck_assert_uint_eq(ku_frame_size(items, count), len);
	ku_frame_write(items, count, frame);
	ck_assert_mem_eq(frame, expected, len);
}

#define EXPECT(items, count, text) \
	expect_frame(items, count, text, sizeof(text) - 1)

START_TEST(frames_are_those_that_curators_were_seen_to_write)
{
	EXPECT(one, 1, "\0\1\0\1\1\0\0\0\3one\2");
	EXPECT(empty, 1, "\0\1\0\1\1\0\0\0\0\2");
	EXPECT(NULL, 0, "\0\1\0\1\2");
}
END_TEST

static void expect_corrupt(const char *data, size_t len)
{
	size_t count;
	/* No byte behind the data may be read. */
	char *copy = malloc(len + 1);

	memcpy(copy, data, len);
	char *end = realloc(copy, len > 0 ? len : 1);
	ck_assert_msg(!ku_frame_check(end, len, &count), "%zu bytes", len);
	free(end);
}

#define CORRUPT(text) expect_corrupt(text, sizeof(text) - 1)

START_TEST(what_is_no_frame_is_told)
{
	CORRUPT("");
	CORRUPT("one");
	CORRUPT("\0\1\0\1");
	CORRUPT("\0\1\0\2\2");
	CORRUPT("\1\0\1\0\2");
	CORRUPT("\0\1\0\1\3");
	CORRUPT("\0\1\0\1\0");
	CORRUPT("\0\1\0\1\1\0\0\0");
	CORRUPT("\0\1\0\1\1\0\0\0\4one\2");
	CORRUPT("\0\1\0\1\1\0\0\0\3one");
	CORRUPT("\0\1\0\1\1\0\0\0\3one\1");
	CORRUPT("\0\1\0\1\1\0\0\0\3one\1\0\0\0\1\2");
	CORRUPT("\0\1\0\1\1\377\377\377\377\2");
	CORRUPT("\0\1\0\1\1\200\0\0\0\2");
	size_t count;
	ck_assert(!ku_frame_check(NULL, 0, &count));
}
END_TEST

START_TEST(what_follows_the_end_is_not_looked_at)
{
	static const char data[] = "\0\1\0\1\1\0\0\0\3one\2\0\1";
	size_t count;

	ck_assert(ku_frame_check(data, sizeof(data) - 1, &count));
	ck_assert_uint_eq(count, 1);
}
END_TEST

START_TEST(what_cannot_stand_in_a_frame_has_no_size)
{
	const struct ku_bytes big[] = { { NULL, (size_t)INT32_MAX + 1 } };
	const struct ku_bytes many[] = { { NULL, INT32_MAX }, { NULL, 1 } };

	ck_assert_uint_eq(ku_frame_size(big, 1), SIZE_MAX);
	ck_assert_uint_eq(ku_frame_size(many, 2), SIZE_MAX);
}
END_TEST

static void fill(struct ku_random *random, struct ku_bytes *item, char *room)
{
	item->len = ku_random_below(random, 4) == 0
		? 0
		: ku_random_below(random, 300);
	item->data = room;
	/* These may be codes and versions of frames. */
	for (size_t i = 0; i < item->len; i++)
		room[i] = (char)ku_random_below(random, 4);
}

START_TEST(what_was_written_is_read)
{
	struct ku_random random;
	char room[MOST][300];
	struct ku_bytes items[MOST], item;

	ku_random_seed(&random, 2);
	for (int round = 0; round < 3000; round++) {
		size_t count = ku_random_below(&random, MOST + 1), counted;

		for (size_t i = 0; i < count; i++)
			fill(&random, &items[i], room[i]);
		size_t size = ku_frame_size(items, count);
		char *frame = malloc(size);
		ku_frame_write(items, count, frame);
		ck_assert(ku_frame_check(frame, size, &counted));
		ck_assert_uint_eq(counted, count);
		struct ku_bytes rest = { frame, size };
		for (size_t i = 0; i < count; i++) {
			ck_assert(ku_frame_next(&rest, &item));
			ck_assert_uint_eq(item.len, items[i].len);
			ck_assert(item.len == 0 ||
				memcmp(item.data, items[i].data, item.len) ==
					0);
		}
		ck_assert(!ku_frame_next(&rest, &item));
		ck_assert(!ku_frame_next(&rest, &item));
		/* A frame that breaks off is no frame. */
		expect_corrupt(frame, ku_random_below(&random, size));
		free(frame);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("items of queues, frames");
	TCase *t = tcase_create("frames");

	tcase_add_test(t, frames_are_those_that_curators_were_seen_to_write);
	tcase_add_test(t, what_is_no_frame_is_told);
	tcase_add_test(t, what_follows_the_end_is_not_looked_at);
	tcase_add_test(t, what_cannot_stand_in_a_frame_has_no_size);
	tcase_add_test(t, what_was_written_is_read);
	suite_add_tcase(s, t);
	return unit_main(s);
}
