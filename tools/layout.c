/*
 * layout.c - what a node is, by the names of its children or its data.
 */
#include "layout.h"
#include "item_sort.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_LEN 10	  /* that a server appends */
#define UUID_LEN 36	  /* with its dashes */
#define BARE_LEN 32	  /* without */
#define INT_DIGITS 10	  /* of the largest number of 32 bits */
#define PROTECTION_LEN 40 /* "_c_", a UUID, and "-" */

const char *layout_name(enum layout layout)
{
	static const char *const names[LAYOUTS] = { "node", "lock", "rwlock",
		"election", "leases", "semaphore", "barrier", "latch", "queue",
		"claims", "election", "party", "semaphore", "service", "simple",
		"ephemeral", "barrier" };

	return names[layout];
}

static bool begins(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* A UUID with dashes where they belong, or without any. */
static bool is_member(const char *name)
{
	size_t len = strlen(name);

	if (len == BARE_LEN)
		return strspn(name, "0123456789abcdef") == len;
	return len == UUID_LEN && strspn(name, "0123456789abcdef-") == len &&
		name[8] == '-' && name[13] == '-' && name[18] == '-' &&
		name[23] == '-';
}

/* Does the name begin with the prefix, and go on behind it? */
static bool has(const char *name, const char *prefix)
{
	return begins(name, prefix) && name[strlen(prefix)] != '\0';
}

static bool is_count(const char *text)
{
	size_t len = strlen(text);

	return *text >= '1' && *text <= '9' && len <= INT_DIGITS &&
		strspn(text, "0123456789") == len &&
		strtoll(text, NULL, 10) <= INT32_MAX;
}

static bool is_of_latch(const char *name)
{
	if (begins(name, "count-"))
		return is_count(name + strlen("count-"));
	if (begins(name, "_c_") && strlen(name) > PROTECTION_LEN)
		return has(name + PROTECTION_LEN, "alive-");
	return has(name, "done-") || has(name, "must-");
}

static bool is_of_party(const char *name)
{
	return strlen(name) > BARE_LEN &&
		strspn(name, "0123456789abcdef") == BARE_LEN &&
		strcmp(name + BARE_LEN, "__party__") == 0;
}

bool layout_is_shard(const char *name)
{
	return begins(name, "queue-") && is_member(name + strlen("queue-"));
}

/* Return the layout that the text before the number tells. */
static enum layout numbered(const char *name)
{
	static const struct {
		const char *part;
		enum layout layout;
	} parts[] = {
		{ "__READ__", LAYOUT_RWLOCK },
		{ "__WRIT__", LAYOUT_RWLOCK },
		{ "__rlock__", LAYOUT_RWLOCK },
		{ "latch-", LAYOUT_ELECTION },
		{ "lease-", LAYOUT_LEASES },
		{ "lock-", LAYOUT_LOCK },
		{ "__lock__", LAYOUT_LOCK },
	};

	if (layout_is_shard(name))
		return LAYOUT_NONE;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i].part) != NULL)
			return parts[i].layout;
	if (begins(name, "n_") && item_is_number(name + strlen("n_")))
		return LAYOUT_OFFERS;
	return begins(name, "x-") ? LAYOUT_LOCK : LAYOUT_NONE;
}

/* "end" is the last ten characters of a longer name.  A number below zero has
   one more character before these. */
static bool is_numbered(const char *end)
{
	if (strchr("0123456789", end[-1]) != NULL)
		return false;
	return item_is_number(end) || item_is_number(end - 1);
}

enum layout layout_part(const char *name)
{
	size_t len = strlen(name);

	if (is_of_latch(name))
		return LAYOUT_LATCH;
	if (is_member(name))
		return LAYOUT_BARRIER;
	if (is_of_party(name))
		return LAYOUT_PARTY;
	if (item_sort_of(name) != ITEM_OTHER)
		return LAYOUT_QUEUE;
	return len > NUMBER_LEN && is_numbered(name + len - NUMBER_LEN)
		? numbered(name)
		: LAYOUT_NONE;
}

enum layout layout_of(const struct kustos_names *names, size_t *parts)
{
	size_t counts[LAYOUTS] = { 0 };
	enum layout most = LAYOUT_LOCK;

	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->names[i], "leases") == 0)
			counts[LAYOUT_SEMAPHORE]++;
		else
			counts[layout_part(names->names[i])]++;
	}
	/* The locks beside readers and writers are kazoo's writers. */
	if (counts[LAYOUT_RWLOCK] > 0) {
		counts[LAYOUT_RWLOCK] += counts[LAYOUT_LOCK];
		counts[LAYOUT_LOCK] = 0;
	}
	for (int layout = LAYOUT_LOCK; layout < LAYOUTS; layout++)
		if (counts[layout] > counts[most])
			most = (enum layout)layout;
	*parts = counts[most];
	return *parts > 0 ? most : LAYOUT_NONE;
}

bool layout_says_gate(const char *data, size_t len)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address; /* room for either kind */
	size_t ours = strlen(LAYOUT_GATE_SAYS);

	if (len >= ours && memcmp(data, LAYOUT_GATE_SAYS, ours) == 0)
		return true;
	if (len == 0 || len >= sizeof(text))
		return false;
	memcpy(text, data, len);
	text[len] = '\0';
	return strlen(text) == len &&
		(inet_pton(AF_INET, text, &address) == 1 ||
			inet_pton(AF_INET6, text, &address) == 1);
}
