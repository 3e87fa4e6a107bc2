/* muster_rule.c - what a member of a double barrier does next, by what it has
   seen; and what the names and data there mean. */

#include "muster_rule.h"
#include "name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Curator's UUID, and kazoo's, which has no dashes. */
#define UUID_LEN 36
#define BARE_LEN 32

static bool is_member(const char *name)
{
	size_t len = strlen(name);
	size_t dashes = 0;

	if (len != UUID_LEN && len != BARE_LEN)
		return false;
	for (const char *c = name; *c != '\0'; c++)
		dashes += *c == '-';
	return strspn(name, "-0123456789abcdefABCDEF") == len &&
		dashes == len - BARE_LEN;
}

void ku_muster_sort(struct kustos_names *names)
{
	size_t members = 0;

	for (size_t i = 0; i < names->count; i++)
		if (is_member(names->names[i]))
			names->names[members++] = names->names[i];
	names->count = members;
	ku_names_sort(names);
}

enum ku_muster_step ku_muster_decide(const struct ku_muster_view *v)
{
	/* A node of our name in a listing from before our node was made is from
	   an earlier try: that node and the others may have gone since. */
	if (!ku_names_have(v->names, v->own) || v->pzxid < v->own_czxid)
		return KU_MUSTER_ABSENT;
	if (v->came || (v->ready && v->ready_round >= v->own_czxid))
		return KU_MUSTER_PASS;
	if (v->names->count >= (size_t)v->count)
		return KU_MUSTER_TELL;
	return v->ready && v->names->count == 1 && !v->tidied ? KU_MUSTER_TIDY
							      : KU_MUSTER_WAIT;
}

/* The cversion counts children that are made and children that go. */
bool ku_muster_may_have_met(int count, struct ku_muster_traffic then,
	struct ku_muster_traffic now)
{
	int32_t events = (int32_t)((uint32_t)now.cversion -
		(uint32_t)then.cversion);
	int64_t made = ((int64_t)events + now.children - then.children) / 2;

	return then.members + made - 1 >= count; /* one of these is "ready" */
}

void ku_muster_print(char text[KU_MUSTER_TEXT_SIZE], int64_t round)
{
	snprintf(text, KU_MUSTER_TEXT_SIZE, "round 0x%016" PRIx64,
		(uint64_t)round);
}

bool ku_muster_may_parse(int len)
{
	return len == KU_MUSTER_TEXT_LEN;
}

int64_t ku_muster_parse(const char *data, int len, int64_t mzxid)
{
	char text[KU_MUSTER_TEXT_SIZE] = "";
	char again[KU_MUSTER_TEXT_SIZE];

	if (!ku_muster_may_parse(len))
		return mzxid;
	memcpy(text, data, (size_t)len);
	int64_t round = (int64_t)strtoull(text + 8, NULL, 16);
	ku_muster_print(again, round);
	/* Data that names a later transaction was copied from other servers. */
	return strcmp(text, again) == 0 && round <= mzxid ? round : mzxid;
}

bool ku_muster_stays(const struct kustos_names *names, const char *own)
{
	return names->count > 0 && strcmp(names->names[0], own) == 0;
}

const char *ku_muster_awaited(const struct kustos_names *names, const char *own,
	size_t skip)
{
	bool stays = ku_muster_stays(names, own);

	for (size_t i = 0; i < names->count; i++) {
		const char
			*name = names->names[stays ? names->count - 1 - i : i];

		if (strcmp(name, own) != 0 && skip-- == 0)
			return name;
	}
	return NULL;
}
