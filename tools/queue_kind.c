/*
 * queue_kind.c - what kind a queue is of, by the names in it.
 */
#include "queue.h"

#include <kustos/node.h>

#include <stdlib.h>
#include <string.h>

#define NUMBER 10  /* digits that a server appends */
#define PRIORITY 9 /* a sign, and eight hexadecimal digits */
#define TIME_MIN \
	10 /* hexadecimal digits, of ms since 1970: from the year 2004 */
#define TIME_MAX 11 /* up to 2527 */
#define HEX "0123456789abcdefABCDEF"

enum sort { /* of names */
	OTHER,
	SIMPLE,
	KAZOO,
	FRAMED,
	WITH_PRIORITY,
	AT_ANY_TIME, /* a due time of 0, or an id that is so */
	AT_A_TIME,
	WITH_ID,
	SORTS
};

static bool begins(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Of "queue-|KEY|NUMBER": is KEY a time, or an id? */
static enum sort sort_of_key(const char *key)
{
	size_t len = strcspn(key, "|");
	size_t digits = strspn(key, HEX);

	if (key[len] == '\0')
		return OTHER;
	if (digits != len)
		return WITH_ID;
	if (strspn(key, "0") == len)
		return AT_ANY_TIME;
	return digits >= TIME_MIN && digits <= TIME_MAX ? AT_A_TIME : WITH_ID;
}

static enum sort sort_of(const char *name)
{
	size_t len = strlen(name);

	if (len < NUMBER ||
		strspn(name + len - NUMBER, "-0123456789") != NUMBER)
		return OTHER;
	if (begins(name, "qn-"))
		return SIMPLE;
	if (begins(name, "entry-"))
		return KAZOO;
	if (!begins(name, "queue-"))
		return OTHER;
	name += strlen("queue-");
	len -= strlen("queue-");
	if (*name == '|')
		return sort_of_key(name + 1);
	return len == PRIORITY + NUMBER && strspn(name, HEX) == len
		? WITH_PRIORITY
		: FRAMED;
}

/* Items without a key stand in every kind of Curator's, which puts them back so. */
static enum kustos_queue_kind kind_of(const struct kustos_names *names)
{
	size_t counts[SORTS] = { 0 };
	bool folders = false;

	for (size_t i = 0; i < names->count; i++) {
		counts[sort_of(names->names[i])]++;
		folders = folders || strcmp(names->names[i], "entries") == 0;
	}
	if (counts[WITH_ID] > 0)
		return KUSTOS_QUEUE_ID;
	if (counts[AT_A_TIME] + counts[AT_ANY_TIME] > 0)
		return KUSTOS_QUEUE_DELAY;
	if (counts[WITH_PRIORITY] > 0)
		return KUSTOS_QUEUE_PRIORITY;
	if (counts[FRAMED] > 0)
		return KUSTOS_QUEUE_FRAMED;
	if (counts[SIMPLE] > 0)
		return KUSTOS_QUEUE_SIMPLE;
	if (counts[KAZOO] > 0)
		return KUSTOS_QUEUE_KAZOO;
	return folders ? KUSTOS_QUEUE_KAZOO_LOCKING : KUSTOS_QUEUE_SIMPLE;
}

enum kustos_err queue_recognise(struct queue_job *q,
	struct kustos_client *client)
{
	struct kustos_names *names = NULL;

	if (q->has_kind)
		return KUSTOS_OK;
	enum kustos_err err = kustos_children(client, q->job.path,
		kustos_after_ms(q->tool.session_ms), NULL, &names, NULL);
	if (err == KUSTOS_OK)
		q->kind = kind_of(names);
	kustos_names_free(names);
	return err == KUSTOS_ENONODE ? KUSTOS_OK : err;
}
