/* item_name.c - names of a queue's items. */

#include "item_name.h"
#include "name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sign digit and eight hex digits; three digits and a dash. */
#define PRIORITY_LEN 9
#define KAZOO_LEN 3

static const char *prefix_of(enum ku_item_kind kind)
{
	switch (kind) {
	case KU_ITEM_SIMPLE:
		return "qn-";
	case KU_ITEM_KAZOO:
		return "entry-";
	default:
		return "queue-";
	}
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Return the value of an upper-case hex digit, which all libraries write; or
   -1.  Curator also reads lower-case ones, but only in due times: see
   read_due(). */
static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Read a signed number of 32 bits as "%010d" writes it, with nothing behind it.
   Negative numbers, which servers give after the greatest one, sort behind
   it. */
static bool read_number(const char *text, uint32_t *out)
{
	bool minus = *text == '-';
	size_t digits = strspn(text + minus, "0123456789");
	int64_t value;

	if (text[minus + digits] != '\0' || digits > 10 || digits + minus < 10)
		return false;
	value = strtoll(text, NULL, 10);
	if (value < INT32_MIN || value > INT32_MAX || (minus && value == 0))
		return false;
	*out = (uint32_t)value;
	return true;
}

/* Read the first digits of a name as the key by which text sorts them.  A
   minus, which no key begins with, leaves it 0: as text, too, it is first. */
static bool read_key(const char *text, uint64_t *key)
{
	*key = 0;
	for (int i = 0; i < PRIORITY_LEN; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			return false;
		*key = *key << 4 | (uint64_t)digit;
	}
	return true;
}

/* Read the key of a priority queue.  The keys sort as the texts do: a negative
   priority begins with the lesser digit. */
static bool read_priority(const char *text, uint64_t *key)
{
	return (text[0] == '0' || text[0] == '1') && read_key(text, key);
}

/* Read when an item is due.  If the text is not a time, the item is due at
   once, as for Curator's consumers; these also read lower-case digits. */
static uint64_t read_due(const char *text, const char *end)
{
	uint64_t due = 0;

	for (; text < end; text++) {
		char c = *text >= 'a' && *text <= 'f' ? *text - 'a' + 'A'
						      : *text;
		int digit = hex_digit(c);

		if (digit < 0 || due >> 59 != 0)
			return 0;
		due = due << 4 | (uint64_t)digit;
	}
	return due;
}

/* Parse what follows "queue-": a plain number, or a number after one of three
   keys. */
static bool parse_queue(enum ku_item_kind kind, const char *rest,
	struct ku_item *out)
{
	const char *bar = rest[0] == '|' ? strchr(rest + 1, '|') : NULL;
	uint64_t key = 0;

	if (bar != NULL) {
		out->head = (uint32_t)(bar + 1 - out->name);
		if (kind == KU_ITEM_DELAY)
			out->key = read_due(rest + 1, bar);
		return read_number(bar + 1, &out->number);
	}
	if (read_number(rest, &out->number)) {
		/* As text, a plain number stands where this key does: that of
		   2,000,000,000 behind every priority. */
		if (kind == KU_ITEM_PRIORITY && read_key(rest, &key))
			out->key = key;
		return true;
	}
	if (!read_priority(rest, &key))
		return false;
	out->head += PRIORITY_LEN;
	if (kind == KU_ITEM_PRIORITY)
		out->key = key;
	return read_number(rest + PRIORITY_LEN, &out->number);
}

/* Parse "100-", or what kazoo writes for priorities that do not fit: "1000-",
   "-05-".  We sort these by their value. */
static bool parse_kazoo(const char *rest, struct ku_item *out)
{
	bool minus = *rest == '-';
	size_t digits = strspn(rest + minus, "0123456789");
	const char *end = rest + minus + digits;

	if (digits + minus < KAZOO_LEN || digits > 10 || *end != '-')
		return false;
	int64_t value = strtoll(rest, NULL, 10);
	if (value < INT32_MIN || value > INT32_MAX)
		return false;
	out->key = (uint64_t)(value - INT32_MIN);
	out->head = (uint32_t)(end + 1 - out->name);
	return read_number(end + 1, &out->number);
}

bool ku_item_parse(enum ku_item_kind kind, const char *name,
	struct ku_item *out)
{
	const char *prefix = prefix_of(kind);
	size_t len = strlen(prefix);

	if (strncmp(name, prefix, len) != 0)
		return false;
	*out = (struct ku_item){ .name = name, .head = (uint32_t)len };
	switch (kind) {
	case KU_ITEM_SIMPLE:
		return read_number(name + len, &out->number);
	case KU_ITEM_KAZOO:
		return parse_kazoo(name + len, out);
	default:
		return parse_queue(kind, name + len, out);
	}
}

bool ku_item_keyed(enum ku_item_kind kind)
{
	return kind == KU_ITEM_PRIORITY || kind == KU_ITEM_DELAY ||
		kind == KU_ITEM_KAZOO;
}

bool ku_item_before(const struct ku_item *a, const struct ku_item *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	if (a->number != b->number)
		return a->number < b->number;
	return strcmp(a->name, b->name) < 0;
}

#define BEFORE_ID "queue-|"

/* Return what Curator's queue would write for this character in an id. */
static char in_id(char c)
{
	return c == '/' || c == '|' ? '_' : c;
}

/* Return "queue-|id|". */
static enum kustos_err head_of_id(const char *id, char **out)
{
	size_t size = (id != NULL ? strlen(id) : 0) + sizeof(BEFORE_ID "|");
	char *head = malloc(size);

	if (head == NULL)
		return KUSTOS_ENOMEM;
	snprintf(head, size, BEFORE_ID "%s|", id != NULL ? id : "");
	for (size_t i = strlen(BEFORE_ID); i < size - 2; i++)
		head[i] = in_id(head[i]);
	if (!ku_name_valid(head)) {
		free(head);
		return KUSTOS_EINVAL;
	}
	*out = head;
	return KUSTOS_OK;
}

enum kustos_err ku_item_head(enum ku_item_kind kind,
	const struct ku_item_wish *wish, char **out)
{
	char text[32];

	snprintf(text, sizeof(text), "%s", prefix_of(kind));
	char *end = text + strlen(text);
	size_t room = sizeof(text) - strlen(text);
	switch (kind) {
	case KU_ITEM_PRIORITY:
		snprintf(end, room, "%d%08" PRIX32, wish->priority >= 0,
			(uint32_t)wish->priority);
		break;
	case KU_ITEM_DELAY:
		if (wish->due_ms < 0)
			return KUSTOS_EINVAL;
		snprintf(end, room, "|%08" PRIX64 "|", (uint64_t)wish->due_ms);
		break;
	case KU_ITEM_ID:
		return head_of_id(wish->id, out);
	case KU_ITEM_KAZOO:
		if (wish->priority < 0 || wish->priority > KU_ITEM_KAZOO_MAX)
			return KUSTOS_EINVAL;
		snprintf(end, room, "%03d-", (int)wish->priority);
		break;
	default:
		break;
	}
	*out = strdup(text);
	return *out != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
}

char *ku_item_again(enum ku_item_kind kind, const struct ku_item *item,
	bool plain)
{
	plain = plain && (kind == KU_ITEM_PRIORITY || kind == KU_ITEM_DELAY);
	return plain ? strdup(prefix_of(kind))
		     : strndup(item->name, item->head);
}

int32_t ku_item_priority(enum ku_item_kind kind, const struct ku_item *item)
{
	if (kind == KU_ITEM_KAZOO)
		return (int32_t)((int64_t)item->key + INT32_MIN);
	return (int32_t)(uint32_t)item->key;
}

bool ku_item_has_id(const struct ku_item *item, const char *id)
{
	const char *own = item->name + strlen(BEFORE_ID);
	size_t len = id != NULL ? strlen(id) : 0;

	if (strncmp(item->name, BEFORE_ID, strlen(BEFORE_ID)) != 0 ||
		item->head != strlen(BEFORE_ID) + len + 1)
		return false;
	for (size_t i = 0; i < len; i++)
		if (own[i] != in_id(id[i]))
			return false;
	return true;
}
