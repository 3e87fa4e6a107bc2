/* rank.c - take names apart, and count who stands before whom. */

#include "rank.h"
#include "name.h"

#include <stddef.h>
#include <string.h>

static const struct ku_mark lock_marks[] = {
	{ "lock-", KUSTOS_STYLE_LOCK },
	{ "__lock__", KUSTOS_STYLE_KAZOO },
	{ "__lock__-", KUSTOS_STYLE_KAZOO },
	{ NULL, KUSTOS_STYLE_SESSION },
};

const struct ku_rule ku_rule_lock = { lock_marks, 4 };

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

static bool ends_with(const char *name, size_t len, const char *text)
{
	size_t text_len = strlen(text);

	return len >= text_len &&
		memcmp(name + len - text_len, text, text_len) == 0;
}

bool ku_contender_parse(const struct ku_rule *rule, const char *name,
	struct ku_contender *out)
{
	size_t len;

	if (!ku_name_split(name, &len, &out->number))
		return false;
	for (int i = 0; i < rule->mark_count; i++) {
		const struct ku_mark *mark = &rule->marks[i];

		if (mark->text == NULL ? !is_session(name, len)
				       : !ends_with(name, len, mark->text))
			continue;
		out->style = mark->style;
		if (mark->style == KUSTOS_STYLE_LOCK &&
			has_protection(name, len))
			out->style = KUSTOS_STYLE_CURATOR;
		return true;
	}
	return false;
}

bool ku_style_sees(enum kustos_style theirs, enum kustos_style ours)
{
	bool kazoo = theirs == KUSTOS_STYLE_KAZOO;

	/* kazoo's own names are seen by kazoo only, which sees no others; a
	   name with a session in it belongs to a recipe that counts all. */
	if (theirs == KUSTOS_STYLE_SESSION)
		return ours != KUSTOS_STYLE_KAZOO;
	if (ours == KUSTOS_STYLE_SESSION)
		return false;
	return kazoo == (ours == KUSTOS_STYLE_KAZOO);
}

const char *kustos_style_name(enum kustos_style style)
{
	static const char *const names[] = { "curator", "lock", "kazoo",
		"session" };

	if ((unsigned)style >= sizeof(names) / sizeof(names[0]))
		return "unknown";
	return names[style];
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

/* One more stands before "standing". */
static void count_before(struct ku_standing *standing, const char *name,
	int32_t number)
{
	const int32_t *numbers = standing->near_number;
	int at = standing->gap++;

	if (at >= KU_NEAR) {
		at = KU_NEAR - 1;
		if (!ku_number_before(numbers[at], number))
			return; /* it is farther than all of them */
	}
	for (; at > 0 && ku_number_before(numbers[at - 1], number); at--) {
		standing->near[at] = standing->near[at - 1];
		standing->near_number[at] = numbers[at - 1];
	}
	standing->near[at] = name;
	standing->near_number[at] = number;
}

void ku_rank(const struct ku_rule *rule, enum kustos_style ours,
	const char *const *names, int count, struct ku_standing *standings,
	int standing_count, struct ku_crowd *crowd)
{
	struct ku_contender one;

	for (int i = 0; i < standing_count; i++) {
		standings[i].seen = standings[i].tied = false;
		standings[i].gap = 0;
		memset(standings[i].near, 0, sizeof(standings[i].near));
	}
	*crowd = (struct ku_crowd){ 0 };
	for (int i = 0; i < count; i++) {
		if (!ku_contender_parse(rule, names[i], &one))
			continue;
		crowd->contenders++;
		crowd->blind += !ku_style_sees(one.style, ours);
		int at = find(standings, standing_count, one.number);
		if (at == standing_count)
			continue;
		struct ku_standing *next = &standings[at];
		if (next->number != one.number)
			count_before(next, names[i], one.number);
		else if (strcmp(next->name, names[i]) == 0)
			next->seen = true;
		else
			next->tied = true;
	}
}

enum ku_verdict ku_rank_verdict(const struct ku_standing *own, int before)
{
	if (!own->seen)
		return KU_RANK_GONE;
	if (own->tied || !ku_number_sound(own->number))
		return KU_RANK_SATURATED;
	return before + own->gap == 0 ? KU_RANK_OWNER : KU_RANK_WAIT;
}
