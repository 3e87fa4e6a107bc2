/*
 * item_sort.c - what sort of item a node of a queue is, by its name.
 */
#include "item_sort.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define HEX DIGITS "abcdefABCDEF"
#define PRIORITY 9    /* a sign, 0 or 1, and eight digits, in capitals */
#define KAZOO 3	      /* characters of a priority, at least */
#define DIGITS_MAX 10 /* of a number of 32 bits */
#define TIME_MIN \
	10 /* hexadecimal digits, of ms since 1970: from the year 2004 */
#define TIME_MAX 11 /* up to 2527 */

bool item_is_number(const char *text)
{
	size_t minus = *text == '-';
	size_t digits = strspn(text + minus, DIGITS);

	if (text[minus + digits] != '\0' || digits > DIGITS_MAX ||
		minus + digits < DIGITS_MAX)
		return false;
	long long n = strtoll(text, NULL, 10);
	return n >= INT32_MIN && n <= INT32_MAX && (minus == 0 || n != 0);
}

/* Of "|KEY|NUMBER": is KEY a time, or an id? */
static enum item_sort sort_of_key(const char *rest)
{
	const char *key = rest + 1;
	size_t len = strcspn(key, "|");

	if (key[len] == '\0' || !item_is_number(key + len + 1))
		return ITEM_OTHER;
	if (strspn(key, HEX) != len)
		return ITEM_WITH_ID;
	if (strspn(key, "0") == len)
		return ITEM_AT_ANY_TIME;
	return len >= TIME_MIN && len <= TIME_MAX ? ITEM_AT_A_TIME
						  : ITEM_WITH_ID;
}

static bool has_priority(const char *rest)
{
	return (*rest == '0' || *rest == '1') &&
		strspn(rest, DIGITS "ABCDEF") >= PRIORITY &&
		item_is_number(rest + PRIORITY);
}

/* "100-NUMBER", and what kazoo writes for priorities that do not fit into three
   digits. */
static bool is_kazoos(const char *rest)
{
	size_t minus = *rest == '-';
	size_t digits = strspn(rest + minus, DIGITS);
	size_t len = minus + digits;

	if (len < KAZOO || digits > DIGITS_MAX || rest[len] != '-' ||
		!item_is_number(rest + len + 1))
		return false;
	long long priority = strtoll(rest, NULL, 10);
	return priority >= INT32_MIN && priority <= INT32_MAX;
}

/* Return what follows the prefix, or NULL. */
static const char *after(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(name, prefix, len) == 0 ? name + len : NULL;
}

enum item_sort item_sort_of(const char *name)
{
	const char *rest = after(name, "qn-");

	if (rest != NULL)
		return item_is_number(rest) ? ITEM_SIMPLE : ITEM_OTHER;
	rest = after(name, "entry-");
	if (rest != NULL)
		return is_kazoos(rest) ? ITEM_KAZOO : ITEM_OTHER;
	rest = after(name, "queue-");
	if (rest == NULL)
		return ITEM_OTHER;
	if (*rest == '|')
		return sort_of_key(rest);
	if (item_is_number(rest))
		return ITEM_FRAMED;
	return has_priority(rest) ? ITEM_WITH_PRIORITY : ITEM_OTHER;
}

struct place {		 /* of an item among others */
	uint64_t key;	 /* the least comes first */
	uint32_t number; /* the same; those below zero come last */
};

/* Return the value of so many hexadecimal digits; 0 if they are no time. */
static uint64_t hex(const char *text, size_t len)
{
	uint64_t value = 0;

	if (strspn(text, HEX) < len)
		return 0;
	for (size_t i = 0; i < len; i++) {
		char digit[] = { text[i], '\0' };

		if (value >> 59 != 0)
			return 0;
		value = value << 4 | strtoul(digit, NULL, 16);
	}
	return value;
}

/* Read what follows "queue-": perhaps a key, which only some kinds order by;
   and the number. */
static struct place place_of_curators(enum kustos_queue_kind kind,
	const char *rest)
{
	bool is_delay = kind == KUSTOS_QUEUE_DELAY;
	/* The digits of a plain number sort as a key. */
	bool has_key = kind == KUSTOS_QUEUE_PRIORITY && *rest >= '0' &&
		*rest <= '2';
	uint64_t key = has_key ? hex(rest, PRIORITY) : 0;

	if (*rest == '|') {
		size_t len = strcspn(rest + 1, "|");

		key = is_delay ? hex(rest + 1, len) : 0;
		rest += len + 2;
	} else if (!item_is_number(rest)) {
		rest += PRIORITY;
	}
	return (struct place){ key, (uint32_t)strtoll(rest, NULL, 10) };
}

static struct place place_of(enum kustos_queue_kind kind, const char *name)
{
	const char *rest = after(name, "queue-");
	char *end;

	if (rest != NULL)
		return place_of_curators(kind, rest);
	rest = after(name, "qn-");
	if (rest != NULL)
		return (struct place){ 0, (uint32_t)strtoll(rest, NULL, 10) };
	int64_t priority = strtoll(after(name, "entry-"), &end, 10);
	return (struct place){ (uint64_t)(priority - INT32_MIN),
		(uint32_t)strtoll(end + 1, NULL, 10) };
}

int item_compare(enum kustos_queue_kind kind, const char *a, const char *b)
{
	struct place x = place_of(kind, a), y = place_of(kind, b);

	if (x.key != y.key)
		return x.key < y.key ? -1 : 1;
	if (x.number != y.number)
		return x.number < y.number ? -1 : 1;
	return strcmp(a, b);
}
