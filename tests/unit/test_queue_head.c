/* test_queue_head.c - queue_head.h: the items of a listing, in their order. */
#include "queue_head.h"
#include "random.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 3000

static char texts[MANY][16];
static const char *names[MANY];
static struct ku_random seed;

/* Items with all numbers below MANY, in random order. */
static void shuffle_names(void)
{
	ku_random_seed(&seed, 7);
	for (int i = 0; i < MANY; i++) {
		int j = (int)ku_random_below(&seed, (uint64_t)i + 1);

		snprintf(texts[i], sizeof(texts[i]), "qn-%010d", i);
		names[i] = names[j];
		names[j] = texts[i];
	}
}

static void check_take(struct ku_head *head, size_t index, uint32_t number)
{
	ck_assert_uint_eq(ku_head_at(head, index)->number, number);
	struct ku_item item = ku_head_take(head, index);
	ck_assert_uint_eq(item.number, number);
	ck_assert_int_eq(atoi(item.name + 3), (int)number);
}

START_TEST(they_come_in_order)
{
	struct ku_head head = { .heap_count = 0 };

	shuffle_names();
	ck_assert(ku_head_load(&head, KU_ITEM_SIMPLE, names, MANY, NULL, NULL));
	for (uint32_t i = 0; i < MANY; i++) {
		ck_assert_uint_eq(ku_head_count(&head), MANY - i);
		check_take(&head, 0, i);
	}
	ck_assert_ptr_null(ku_head_at(&head, 0));
	ku_head_free(&head);
}
END_TEST

START_TEST(whichever_is_taken_or_put_back_the_rest_stays_in_order)
{
	struct ku_head head = { .heap_count = 0 };
	struct ku_item out[8];
	static bool gone[MANY];

	shuffle_names();
	memset(gone, 0, sizeof(gone));
	ck_assert(ku_head_load(&head, KU_ITEM_SIMPLE, names, MANY, NULL, NULL));
	while (ku_head_count(&head) > 500) {
		size_t count = 1 + ku_random_below(&seed, 8);
		size_t at = ku_random_below(&seed, 400);

		for (size_t i = 0; i < count; i++)
			out[i] = ku_head_take(&head, at);
		for (size_t i = 0; i < count; i++) {
			if (i % 3 == 1)
				ku_head_put_back(&head, &out[i]);
			else
				gone[out[i].number] = true;
		}
		uint32_t first = 0;
		for (size_t i = 0; i < 20; i++, first++) {
			while (gone[first])
				first++;
			ck_assert_uint_eq(ku_head_at(&head, i)->number, first);
		}
	}
	ku_head_free(&head);
}
END_TEST

START_TEST(no_farther_than_the_window_is_looked)
{
	struct ku_head head = { .heap_count = 0 };

	shuffle_names();
	ck_assert(ku_head_load(&head, KU_ITEM_SIMPLE, names, MANY, NULL, NULL));
	ck_assert_ptr_nonnull(ku_head_at(&head, KU_HEAD_WINDOW - 1));
	ck_assert_ptr_null(ku_head_at(&head, KU_HEAD_WINDOW));
	ck_assert_uint_eq(ku_head_count(&head), MANY);
	ku_head_free(&head);
}
END_TEST

START_TEST(what_finds_the_window_full_is_dropped)
{
	struct ku_head head = { .heap_count = 0 };

	shuffle_names();
	ck_assert(ku_head_load(&head, KU_ITEM_SIMPLE, names, MANY, NULL, NULL));
	struct ku_item first = ku_head_take(&head, 0);
	ck_assert_ptr_nonnull(ku_head_at(&head, KU_HEAD_WINDOW - 1));
	ku_head_put_back(&head, &first);
	ck_assert_uint_eq(ku_head_count(&head), MANY - 1);
	ck_assert_ptr_null(ku_head_at(&head, KU_HEAD_WINDOW));
	check_take(&head, 0, 1);
	ku_head_free(&head);
}
END_TEST

START_TEST(what_finds_no_listing_is_dropped)
{
	struct ku_head head = { .heap_count = 0 };
	const struct ku_item item = { .name = "qn-0000000000" };

	ku_head_put_back(&head, &item);
	ck_assert_uint_eq(ku_head_count(&head), 0);
	ck_assert_ptr_null(ku_head_at(&head, 0));
}
END_TEST

/* The item is from an earlier listing. */
START_TEST(what_belongs_behind_the_window_is_not_put_into_it)
{
	struct ku_head before = { .heap_count = 0 }, head = { .heap_count = 0 };

	shuffle_names();
	ck_assert(
		ku_head_load(&before, KU_ITEM_SIMPLE, names, MANY, NULL, NULL));
	struct ku_item late = ku_head_take(&before, 100);
	ck_assert(ku_head_load(&head, KU_ITEM_SIMPLE, names, MANY, NULL, NULL));
	ck_assert_uint_eq(ku_head_at(&head, 0)->number, 0);
	ku_head_put_back(&head, &late);
	ck_assert_uint_eq(ku_head_at(&head, 1)->number, 1);
	ku_head_free(&before);
	ku_head_free(&head);
}
END_TEST

static bool is_odd(const void *arg, const struct ku_item *item)
{
	return item->number % *(const uint32_t *)arg == 1;
}

START_TEST(others_are_not_among_them)
{
	static const char *const mixed[] = { "qn-0000000003",
		"queue-0000000001", "qn-", "qn-0000000002", "lock-0000000000",
		"qn-1" };
	struct ku_head head = { .heap_count = 0 };
	uint32_t two = 2;

	ck_assert(ku_head_load(&head, KU_ITEM_SIMPLE, mixed, 6, NULL, NULL));
	ck_assert_uint_eq(ku_head_count(&head), 2);
	check_take(&head, 0, 2);
	ck_assert(ku_head_load(&head, KU_ITEM_SIMPLE, mixed, 6, is_odd, &two));
	ck_assert_uint_eq(ku_head_count(&head), 1);
	check_take(&head, 0, 2);
	ck_assert(ku_head_load(&head, KU_ITEM_SIMPLE, mixed, 0, NULL, NULL));
	ck_assert_uint_eq(ku_head_count(&head), 0);
	ku_head_free(&head);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("head of a queue");
	TCase *t = tcase_create("head");

	tcase_add_test(t, they_come_in_order);
	tcase_add_test(t,
		whichever_is_taken_or_put_back_the_rest_stays_in_order);
	tcase_add_test(t, no_farther_than_the_window_is_looked);
	tcase_add_test(t, what_finds_the_window_full_is_dropped);
	tcase_add_test(t, what_finds_no_listing_is_dropped);
	tcase_add_test(t, what_belongs_behind_the_window_is_not_put_into_it);
	tcase_add_test(t, others_are_not_among_them);
	suite_add_tcase(s, t);
	return unit_main(s);
}
