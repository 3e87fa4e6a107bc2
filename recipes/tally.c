/* tally.c - what the names below a count-down latch say. */

#include "tally.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROTECTION_LEN 40 /* "_c_" + a UUID + "-" */

static const char count_prefix[] = "count-";
static const char done_prefix[] = "done-";
static const char must_prefix[] = "must-";
static const char alive_prefix[] = "alive-";

static bool begins(const char *text, const char *prefix, const char **rest)
{
	size_t len = strlen(prefix);

	if (strncmp(text, prefix, len) != 0 || text[len] == '\0')
		return false;
	*rest = text + len;
	return true;
}

/* Read a count exactly as we write it; 0 for any other text. */
static int read_count(const char *text)
{
	char *end;
	long long n = strtoll(text, &end, 10);

	return text[0] < '1' || *end != '\0' || n > INT_MAX ? 0 : (int)n;
}

enum ku_tally_kind ku_tally_name(const char *name, const char **id)
{
	if (begins(name, done_prefix, id))
		return KU_TALLY_DONE;
	if (begins(name, must_prefix, id))
		return KU_TALLY_MUST;
	if (begins(name, count_prefix, id))
		return read_count(*id) > 0 ? KU_TALLY_COUNT : KU_TALLY_OTHER;
	if (strncmp(name, "_c_", 3) == 0 && strlen(name) > PROTECTION_LEN &&
		begins(name + PROTECTION_LEN, alive_prefix, id))
		return KU_TALLY_ALIVE;
	return KU_TALLY_OTHER;
}

static void add_count(struct ku_tally *tally, int count)
{
	tally->disagree = tally->count != 0; /* another name, another count */
	tally->count = count;
}

static int by_id(const void *a, const void *b)
{
	const struct ku_tally_one *x = a;
	const struct ku_tally_one *y = b;

	return strcmp(x->id, y->id);
}

/* Merge the entries of each id into one. */
static void join(struct ku_tally *tally)
{
	size_t size = 0;

	for (size_t i = 0; i < tally->size; i++) {
		struct ku_tally_one *one = &tally->list[i];

		if (size > 0 && by_id(&tally->list[size - 1], one) == 0)
			tally->list[size - 1].kinds |= one->kinds;
		else
			tally->list[size++] = *one;
	}
	tally->size = size;
}

bool ku_tally_read(const char *const *names, size_t size,
	struct ku_tally *tally)
{
	memset(tally, 0, sizeof(*tally));
	tally->list = calloc(size + 1, sizeof(*tally->list));
	if (tally->list == NULL)
		return false;
	for (size_t i = 0; i < size; i++) {
		const char *id = NULL;
		enum ku_tally_kind kind = ku_tally_name(names[i], &id);

		if (kind == KU_TALLY_COUNT)
			add_count(tally, read_count(id));
		else if (kind != KU_TALLY_OTHER)
			tally->list[tally->size++] = (struct ku_tally_one){ id,
				(int)kind };
	}
	qsort(tally->list, tally->size, sizeof(*tally->list), by_id);
	join(tally);
	for (size_t i = 0; i < tally->size; i++) {
		int kinds = tally->list[i].kinds;

		tally->done += (kinds & KU_TALLY_DONE) != 0;
		tally->dead += kinds == KU_TALLY_MUST;
	}
	return true;
}

enum kustos_err ku_tally_judge(const struct ku_tally *tally, int count)
{
	if (tally->disagree ||
		(count != 0 && tally->count != 0 && tally->count != count))
		return KUSTOS_EDISAGREE;
	if (count == 0)
		count = tally->count;
	if (count != 0 && tally->done >= (size_t)count)
		return KUSTOS_OK;
	return tally->dead > 0 ? KUSTOS_EBROKEN : KUSTOS_EBUSY;
}

bool ku_tally_write(enum ku_tally_kind kind, const char *id,
	char out[KU_TALLY_NAME_SIZE])
{
	const char *prefix = kind == KU_TALLY_DONE ? done_prefix
		: kind == KU_TALLY_MUST		   ? must_prefix
						   : alive_prefix;
	char *end = stpcpy(out, prefix);

	if (id == NULL || *id == '\0' || strlen(id) >= KU_TALLY_ID_SIZE)
		return false;
	for (; *id != '\0'; id++) {
		if (*id > ' ' && *id <= '~' && *id != '/' && *id != '%')
			*end++ = *id;
		else
			end += sprintf(end, "%%%02X", (unsigned char)*id);
	}
	*end = '\0';
	return true;
}

void ku_tally_write_count(int count, char out[KU_TALLY_NAME_SIZE])
{
	snprintf(out, KU_TALLY_NAME_SIZE, "%s%d", count_prefix, count);
}

static int digit(char c)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *at = c != '\0' ? strchr(digits, c) : NULL;

	return at != NULL ? (int)(at - digits) : -1;
}

void ku_tally_plain(const char *id, char *out)
{
	for (; *id != '\0'; id++) {
		int high = *id == '%' ? digit(id[1]) : -1;
		int low = high >= 0 ? digit(id[2]) : -1;

		if (low >= 0 && high + low > 0) {
			*out++ = (char)(high << 4 | low);
			id += 2;
		} else {
			*out++ = *id;
		}
	}
	*out = '\0';
}
