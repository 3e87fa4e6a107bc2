/* test_item.c - item.h: an item as the program gets it. */
#include "item.h"
#include "unit.h"

#include <string.h>

static struct kustos_item *made(enum ku_item_kind kind, const char *name,
	const char *data, int len)
{
	struct ku_item parsed;
	struct kustos_item *item;

	ck_assert(ku_item_parse(kind, name, &parsed));
	ck_assert(ku_item_fits(kind, data, len));
	item = ku_item_make(kind, &parsed, data, len, 42);
	ck_assert_ptr_nonnull(item);
	ck_assert_str_eq(item->name, name);
	ck_assert_int_eq(item->created_ms, 42);
	return item;
}

START_TEST(bytes_are_one_part)
{
	struct kustos_item *item = made(KU_ITEM_SIMPLE, "qn-0000000001", "one",
		3);

	ck_assert_uint_eq(item->count, 1);
	ck_assert_uint_eq(item->len, 3);
	ck_assert_str_eq(item->data, "one");
	ck_assert_ptr_eq(item->parts[0].data, item->data);
	ck_assert_ptr_null(item->id);
	kustos_item_free(item);
	item = made(KU_ITEM_KAZOO, "entry-007-0000000001", NULL, -1);
	ck_assert_uint_eq(item->len, 0);
	ck_assert_str_eq(item->data, "");
	ck_assert_int_eq(item->priority, 7);
	kustos_item_free(item);
	kustos_item_free(NULL);
}
END_TEST

START_TEST(a_frame_has_as_many_parts_as_were_put)
{
	static const char two[] = "\0\1\0\1\1\0\0\0\3one\1\0\0\0\0\2";
	struct kustos_item *item = made(KU_ITEM_PRIORITY,
		"queue-0FFFFFFF60000000001", two, sizeof(two) - 1);

	ck_assert_uint_eq(item->count, 2);
	ck_assert_uint_eq(item->len, 3);
	ck_assert_str_eq(item->data, "one");
	ck_assert_uint_eq(item->parts[1].len, 0);
	ck_assert_str_eq(item->parts[1].data, "");
	ck_assert_int_eq(item->priority, -10);
	kustos_item_free(item);
	item = made(KU_ITEM_FRAMED, "queue-0000000001", "\0\1\0\1\2", 5);
	ck_assert_uint_eq(item->count, 0);
	ck_assert_uint_eq(item->len, 0);
	ck_assert_str_eq(item->data, "");
	kustos_item_free(item);
}
END_TEST

/* What is put back is what was there before. */
START_TEST(an_item_that_nobody_was_handed_is_its_data_again)
{
	static const char two[] = "\0\1\0\1\1\0\0\0\3one\1\0\0\0\0\2";
	static const struct {
		enum ku_item_kind kind;
		const char *name, *data;
		size_t len;
	} all[] = {
		{ KU_ITEM_FRAMED, "queue-0000000001", two, sizeof(two) - 1 },
		{ KU_ITEM_ID, "queue-|a|0000000001", "\0\1\0\1\2", 5 },
		{ KU_ITEM_SIMPLE, "qn-0000000001", "\0one", 4 },
		{ KU_ITEM_KAZOO, "entry-007-0000000001", "", 0 },
	};

	for (int i = 0; i < 8; i++) {
		int which = i / 2;
		struct kustos_item *item = made(all[which].kind,
			all[which].name, all[which].data, (int)all[which].len);
		struct ku_bytes data = ku_item_close(all[which].kind, item);

		if (i % 2 == 1) /* again */
			data = ku_item_close(all[which].kind, item);
		ck_assert_uint_eq(data.len, all[which].len);
		ck_assert_mem_eq(data.data, all[which].data, data.len);
		kustos_item_free(item);
	}
}
END_TEST

START_TEST(the_name_says_when_it_is_due_and_what_its_id_is)
{
	static const char none[] = "\0\1\0\1\2";
	struct kustos_item *item = made(KU_ITEM_DELAY,
		"queue-|1A1FA1B2383|0000000001", none, 5);

	ck_assert_int_eq(item->due_ms, 0x1A1FA1B2383);
	ck_assert_ptr_null(item->id);
	kustos_item_free(item);
	item = made(KU_ITEM_ID, "queue-|a b|0000000001", none, 5);
	ck_assert_str_eq(item->id, "a b");
	kustos_item_free(item);
	item = made(KU_ITEM_ID, "queue-||0000000001", none, 5);
	ck_assert_str_eq(item->id, "");
	kustos_item_free(item);
	item = made(KU_ITEM_ID, "queue-0000000001", none, 5);
	ck_assert_ptr_null(item->id);
	kustos_item_free(item);
}
END_TEST

START_TEST(only_frames_can_be_unfit)
{
	ck_assert(!ku_item_fits(KU_ITEM_FRAMED, "one", 3));
	ck_assert(!ku_item_fits(KU_ITEM_ID, NULL, -1));
	ck_assert(ku_item_fits(KU_ITEM_SIMPLE, NULL, -1));
	ck_assert(ku_item_fits(KU_ITEM_KAZOO, "one", 3));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("items of queues, as programs get them");
	TCase *t = tcase_create("items");

	tcase_add_test(t, bytes_are_one_part);
	tcase_add_test(t, a_frame_has_as_many_parts_as_were_put);
	tcase_add_test(t, an_item_that_nobody_was_handed_is_its_data_again);
	tcase_add_test(t, the_name_says_when_it_is_due_and_what_its_id_is);
	tcase_add_test(t, only_frames_can_be_unfit);
	suite_add_tcase(s, t);
	return unit_main(s);
}
