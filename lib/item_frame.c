/* item_frame.c - the data of an item in Curator's queues. */

#include "item_frame.h"

#include <string.h>

#define VERSION 0x00010001u
/* The code of an item and its length. */
#define HEAD_LEN 5

static void put_number(char *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		out[i] = (char)(unsigned char)(value >> (24 - 8 * i));
}

static uint32_t get_number(const char *data)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++)
		value = value << 8 | (unsigned char)data[i];
	return value;
}

size_t ku_frame_size(const struct ku_bytes *items, size_t count)
{
	size_t size = KU_FRAME_BEGINNING + 1;

	for (size_t i = 0; i < count; i++) {
		if (items[i].len > INT32_MAX || size > INT32_MAX)
			return SIZE_MAX;
		size += HEAD_LEN + items[i].len;
	}
	return size;
}

void ku_frame_write(const struct ku_bytes *items, size_t count, char *out)
{
	put_number(out, VERSION);
	out += KU_FRAME_BEGINNING;
	for (size_t i = 0; i < count; i++) {
		*out++ = KU_FRAME_ITEM;
		put_number(out, (uint32_t)items[i].len);
		out += 4;
		if (items[i].len > 0)
			memcpy(out, items[i].data, items[i].len);
		out += items[i].len;
	}
	*out = KU_FRAME_END;
}

/* Step to the next item of "*rest", whose version was skipped, or to the end
   code: "*item" has no data then.  Returns false if there is neither. */
static bool step(struct ku_bytes *rest, struct ku_bytes *item)
{
	*item = (struct ku_bytes){ NULL, 0 };
	if (rest->len > 0 && rest->data[0] == KU_FRAME_END)
		return true;
	if (rest->len < HEAD_LEN || rest->data[0] != KU_FRAME_ITEM)
		return false;
	item->data = rest->data + HEAD_LEN;
	item->len = get_number(rest->data + 1);
	if (item->len > rest->len - HEAD_LEN)
		return false;
	rest->data += HEAD_LEN + item->len;
	rest->len -= HEAD_LEN + item->len;
	return true;
}

/* Skip the version, if "*rest" begins with it.  The version's first byte is no
   code, so it cannot be taken for an item. */
static bool skip_version(struct ku_bytes *rest)
{
	if (rest->len < KU_FRAME_BEGINNING || get_number(rest->data) != VERSION)
		return false;
	rest->data += KU_FRAME_BEGINNING;
	rest->len -= KU_FRAME_BEGINNING;
	return true;
}

bool ku_frame_check(const char *data, size_t len, size_t *count)
{
	struct ku_bytes rest = { data, len }, item;

	*count = 0;
	if (!skip_version(&rest))
		return false;
	while (step(&rest, &item)) {
		if (item.data == NULL)
			return true;
		++*count;
	}
	return false;
}

bool ku_frame_next(struct ku_bytes *rest, struct ku_bytes *item)
{
	skip_version(rest);
	return step(rest, item) && item->data != NULL;
}
