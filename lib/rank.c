/* rank.c - parse names, and count who stands before whom. */

#include "rank.h"
#include "name.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* In this order: the mark of leases, that of elections, those of locks, those
   of read/write locks.  The rules below are ranges of this table. */
enum { LEASE, LATCH, LOCK, RW = LOCK + 4, MARKS = RW + 4 };
static const struct ku_mark marks[MARKS] = {
	[LEASE] = { "lease-", KUSTOS_STYLE_LOCK, KUSTOS_KIND_LEASE },
	[LATCH] = { "latch-", KUSTOS_STYLE_LOCK, KUSTOS_KIND_CANDIDATE },
	[LOCK] = { "lock-", KUSTOS_STYLE_LOCK, KUSTOS_KIND_LOCK },
	{ "__lock__", KUSTOS_STYLE_KAZOO, KUSTOS_KIND_LOCK },
	{ "__lock__-", KUSTOS_STYLE_KAZOO, KUSTOS_KIND_LOCK },
	{ NULL, KUSTOS_STYLE_SESSION, KUSTOS_KIND_LOCK },
	[RW] = { "__READ__", KUSTOS_STYLE_LOCK, KUSTOS_KIND_READ },
	{ "__WRIT__", KUSTOS_STYLE_LOCK, KUSTOS_KIND_WRITE },
	{ "__rlock__", KUSTOS_STYLE_KAZOO, KUSTOS_KIND_READ },
	{ "__lock__", KUSTOS_STYLE_KAZOO, KUSTOS_KIND_WRITE },
};

#define RANGE(from, to) .marks = marks + (from), .mark_count = (to) - (from)

const struct ku_rule ku_rule_lease = { RANGE(LEASE, LATCH), .counts = true };
const struct ku_rule ku_rule_latch = { RANGE(LATCH, LOCK) };
const struct ku_rule ku_rule_lock = { RANGE(LOCK, RW) };
const struct ku_rule ku_rule_rw = { RANGE(RW, MARKS), .downgrades = true };
/* All but the last: its text is that of a lock's mark as well. */
const struct ku_rule ku_rule_any = { RANGE(0, MARKS - 1), .downgrades = true };
const struct ku_rule ku_rule_seat = { .seat = true };

bool ku_marks_valid(const char *extra)
{
	size_t len;

	while (len = strcspn(extra, ",/"), len > 0 && extra[len] == ',')
		extra += len + 1;
	return len > 0 && extra[len] == '\0';
}

int ku_rule_compare(const struct ku_rule *a, const struct ku_rule *b)
{
	if (a->marks != b->marks)
		return (uintptr_t)a->marks < (uintptr_t)b->marks ? -1 : 1;
	if (a->mark_count != b->mark_count)
		return a->mark_count < b->mark_count ? -1 : 1;
	return strcmp(a->extra != NULL ? a->extra : "",
		b->extra != NULL ? b->extra : "");
}

const struct ku_rule *ku_rule_keep(const struct ku_rule *rule)
{
	if (rule->extra == NULL)
		return rule;
	struct ku_rule *copy = malloc(sizeof(*copy) + strlen(rule->extra) + 1);
	if (copy == NULL)
		return NULL;
	*copy = *rule;
	copy->extra = strcpy((char *)(copy + 1), rule->extra);
	return copy;
}

void ku_rule_free(const struct ku_rule *rule)
{
	if (rule->extra != NULL)
		free((void *)rule);
}

static bool is_lower_hex(const char *text, size_t len)
{
	return strspn(text, "0123456789abcdef") >= len;
}

/* "_c_<uuid>-" */
static bool has_protection(const char *name, size_t len)
{
	if (len < KU_PROTECTION_LEN || memcmp(name, "_c_", 3) != 0 ||
		name[KU_PROTECTION_LEN - 1] != '-')
		return false;
	for (size_t i = 3; i < KU_PROTECTION_LEN - 1; i++) {
		bool dash = i == 11 || i == 16 || i == 21 || i == 26;

		if (dash ? name[i] != '-' : !is_lower_hex(name + i, 1))
			return false;
	}
	return true;
}

/* "x-<16 hexadecimal digits>-" or "x-<decimal>-", and no more */
static bool is_session(const char *name, size_t len)
{
	if (len < 4 || memcmp(name, "x-", 2) != 0 || name[len - 1] != '-')
		return false;
	size_t id = len - 3;
	const char *digits = name + 2;
	if (id == 16 && is_lower_hex(digits, 16))
		return true;
	if (*digits == '-') {
		digits++;
		id--;
	}
	return id > 0 && strspn(digits, "0123456789") == id;
}

static bool ends_with(const char *name, size_t len, const char *text,
	size_t text_len)
{
	return len >= text_len &&
		memcmp(name + len - text_len, text, text_len) == 0;
}

static bool has_mark(const struct ku_mark *mark, const char *name, size_t len)
{
	return mark->text == NULL
		? is_session(name, len)
		: ends_with(name, len, mark->text, strlen(mark->text));
}

static bool has_extra(const char *extra, const char *name, size_t len)
{
	for (; extra != NULL; extra = strchr(extra, ',')) {
		extra += *extra == ',';
		if (ends_with(name, len, extra, strcspn(extra, ",")))
			return true;
	}
	return false;
}

bool ku_contender_parse(const struct ku_rule *rule, const char *name,
	struct ku_contender *out)
{
	size_t len;

	if (!ku_name_split(name, &len, &out->number))
		return false;
	for (int i = 0; i < rule->mark_count; i++) {
		const struct ku_mark *mark = &rule->marks[i];

		if (!has_mark(mark, name, len))
			continue;
		out->style = mark->style;
		out->kind = mark->kind;
		if (mark->style == KUSTOS_STYLE_LOCK &&
			has_protection(name, len))
			out->style = KUSTOS_STYLE_CURATOR;
		return true;
	}
	out->style = KUSTOS_STYLE_EXTRA;
	out->kind = KUSTOS_KIND_LOCK;
	return has_extra(rule->extra, name, len);
}

bool ku_style_sees(enum kustos_style theirs, enum kustos_style ours)
{
	bool kazoo = theirs == KUSTOS_STYLE_KAZOO;

	/* It is up to the program that named the extra marks. */
	if (theirs == KUSTOS_STYLE_EXTRA || ours == KUSTOS_STYLE_EXTRA)
		return true;
	/* kazoo's own names are seen by kazoo only, which sees no others.  A
	   name with a session in it belongs to a recipe that counts all
	   children. */
	if (theirs == KUSTOS_STYLE_SESSION)
		return ours != KUSTOS_STYLE_KAZOO;
	if (ours == KUSTOS_STYLE_SESSION)
		return false;
	return kazoo == (ours == KUSTOS_STYLE_KAZOO);
}

const char *kustos_style_name(enum kustos_style style)
{
	static const char *const names[] = { "curator", "lock", "kazoo",
		"session", "node", "extra" };

	if ((unsigned)style >= sizeof(names) / sizeof(names[0]))
		return "unknown";
	return names[style];
}

const char *kustos_kind_name(enum kustos_kind kind)
{
	static const char *const names[] = { "lock", "read", "write",
		"candidate", "lease" };

	if ((unsigned)kind >= sizeof(names) / sizeof(names[0]))
		return "unknown";
	return names[kind];
}

bool ku_contender_blocks(const struct ku_contender *before,
	const struct ku_contender *after)
{
	/* kazoo gives its lock and its write lock the same name. */
	bool both = before->style == KUSTOS_STYLE_KAZOO &&
		before->kind == KUSTOS_KIND_LOCK;
	bool one_line = both ||
		ku_kind_line(before->kind) == ku_kind_line(after->kind);

	if (before->kind == KUSTOS_KIND_LEASE)
		return false; /* there is room, or "after" waits elsewhere */
	return one_line && ku_number_before(before->number, after->number) &&
		!(ku_contender_shares(before) && ku_contender_shares(after));
}

/* Return the index of the first standing whose number is not before
   "number". */
static int find(const struct ku_standing *standings, int count, int32_t number)
{
	int low = 0;

	while (low < count) {
		int middle = low + (count - low) / 2;

		if (ku_number_before(standings[middle].number, number))
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

/* Add a contender to "near". */
static void count_one(struct ku_nearest *near, const char *name, int32_t number)
{
	int at = near->count++;

	if (at >= KU_NEAR) {
		at = KU_NEAR - 1;
		if (!ku_number_before(near->numbers[at], number))
			return; /* it is farther away than all of them */
	}
	for (; at > 0 && ku_number_before(near->numbers[at - 1], number);
		at--) {
		near->names[at] = near->names[at - 1];
		near->numbers[at] = near->numbers[at - 1];
	}
	near->names[at] = name;
	near->numbers[at] = number;
}

/* Add "more" to "near"; all of "more" stand nearer. */
static void count_nearer(struct ku_nearest *near, const struct ku_nearest *more)
{
	struct ku_nearest sum = *more;

	for (int i = 0; sum.count + i < KU_NEAR && i < near->count; i++) {
		sum.names[sum.count + i] = near->names[i];
		sum.numbers[sum.count + i] = near->numbers[i];
	}
	sum.count += near->count;
	*near = sum;
}

/* Note where the contender "name" stands. */
static void place_one(struct ku_standing *standings, int count,
	const char *name, const struct ku_contender *one)
{
	struct ku_standing *tied = NULL;
	bool shares = ku_contender_shares(one);
	int at = find(standings, count, one->number);

	for (; at < count && standings[at].number == one->number; at++) {
		if (strcmp(standings[at].name, name) == 0) {
			standings[at].seen = true;
			return;
		}
		if (!shares && !standings[at].shares)
			tied = &standings[at];
	}
	if (tied != NULL)
		tied->tied = true;
	if (tied != NULL || at == count)
		return;
	count_one(&standings[at].all, name, one->number);
	if (!shares)
		count_one(&standings[at].exclusive, name, one->number);
}

/* Sum up, from the front, how many stand before each. */
static void sum_up(struct ku_standing *standings, int count)
{
	struct ku_nearest all = { 0 }, exclusive = { 0 };
	int before = 0, before_exclusive = 0;
	const struct ku_standing *base = NULL;

	for (int i = 0; i < count; i++) {
		struct ku_standing *s = &standings[i];
		bool there = s->seen || s->tied;

		count_nearer(&all, &s->all);
		count_nearer(&exclusive, &s->exclusive);
		before += s->all.count;
		before_exclusive += s->exclusive.count;
		s->near = s->shares ? exclusive : all;
		s->before = s->shares ? before_exclusive : before;
		if (s->shares && base != NULL && base->number == s->number &&
			(base->seen || base->tied))
			s->before--; /* it stands beside its base */
		before += there;
		if (s->shares)
			continue;
		before_exclusive += there;
		base = s;
		all = exclusive = (struct ku_nearest){ 0 };
	}
}

/* May "number" stand before "other", as far as numbers can tell? */
static bool may_stand_before(int32_t number, int32_t other)
{
	return !ku_number_sound(number) || !ku_number_sound(other) ||
		!ku_number_before(other, number);
}

/* For each place of ours: is "name" its own node, or does it stand before
   it? */
static void compare_all(struct ku_standing *standings, int count,
	const char *name, int32_t number)
{
	for (int i = 0; i < count; i++) {
		struct ku_standing *s = &standings[i];

		if (number == s->number && strcmp(name, s->name) == 0)
			s->seen = true;
		else if (may_stand_before(number, s->number))
			s->before++;
	}
}

/* The same, faster, if the numbers of all places of ours tell an order: the
   places are sorted by them.  "name" is counted once: at the first place that
   it does not stand behind, even if it is that place's own node.  count_all()
   then sums up. */
static void find_all(struct ku_standing *standings, int count, const char *name,
	int32_t number)
{
	int at = ku_number_sound(number) ? find(standings, count, number) : 0;

	if (at < count)
		standings[at].before++;
	for (; at < count && standings[at].number == number; at++)
		if (strcmp(name, standings[at].name) == 0)
			standings[at].seen = true;
}

/* Every child counts. */
static void count_all(const struct ku_rule *rule, const char *const *names,
	int count, struct ku_standing *standings, int standing_count)
{
	struct ku_contender one;
	bool sound = true;
	int before = 0;

	for (int i = 0; i < standing_count; i++) {
		standings[i].before = 0;
		standings[i].near = (struct ku_nearest){ 0 };
		sound = sound && ku_number_sound(standings[i].number);
	}
	for (int i = 0; i < count; i++) {
		if (!ku_contender_parse(rule, names[i], &one))
			one.number = INT32_MIN; /* whatever its name ends in */
		(sound ? find_all : compare_all)(standings, standing_count,
			names[i], one.number);
	}
	for (int i = 0; sound && i < standing_count; i++) {
		before += standings[i].before;
		standings[i].before = before - standings[i].seen;
	}
}

int ku_rank(const struct ku_rule *rule, enum kustos_style ours,
	const char *const *names, int count, struct ku_standing *standings,
	int standing_count)
{
	struct ku_contender one;
	int blind = 0;

	for (int i = 0; i < standing_count; i++) {
		struct ku_standing *s = &standings[i];

		s->seen = s->tied = false;
		s->all = s->exclusive = (struct ku_nearest){ 0 };
	}
	if (rule->counts) {
		count_all(rule, names, count, standings, standing_count);
		return 0;
	}
	for (int i = 0; i < count; i++) {
		if (!ku_contender_parse(rule, names[i], &one))
			continue;
		blind += !ku_style_sees(one.style, ours);
		place_one(standings, standing_count, names[i], &one);
	}
	sum_up(standings, standing_count);
	for (int i = 0; i < standing_count; i++)
		if (!ku_number_sound(standings[i].number))
			standings[i].tied = true;
	return blind;
}

enum ku_verdict ku_rank_verdict(const struct ku_standing *own)
{
	if (!own->seen)
		return KU_RANK_GONE;
	if (own->tied)
		return KU_RANK_SATURATED;
	return own->before <= own->company ? KU_RANK_OWNER : KU_RANK_WAIT;
}
