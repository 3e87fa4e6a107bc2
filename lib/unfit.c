/* unfit.c - items that nobody can take, and that were left where they are. */

#include "unfit.h"
#include "clock.h"

#include <stdlib.h>
#include <string.h>

/* Return the index of "name" in the list, or where it would be.  Items are read
   in their order, so most new ones come last. */
static size_t place_of(const struct ku_unfits *unfits, const char *name)
{
	size_t from = 0, to = unfits->count;

	if (to > 0 && strcmp(unfits->list[to - 1].name, name) < 0)
		return to;
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (strcmp(unfits->list[middle].name, name) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct ku_unfit_item *find(const struct ku_unfits *unfits,
	const char *name)
{
	size_t at = place_of(unfits, name);

	return at < unfits->count && strcmp(unfits->list[at].name, name) == 0
		? &unfits->list[at]
		: NULL;
}

bool ku_unfits_have(struct ku_unfits *unfits, const char *name, int64_t now_ns)
{
	struct ku_unfit_item *item = find(unfits, name);

	if (item == NULL)
		return false;
	item->listed = true;
	return now_ns < item->again_ns;
}

bool ku_unfits_due(const struct ku_unfits *unfits, int64_t now_ns)
{
	for (size_t i = 0; i < unfits->count; i++)
		if (now_ns >= unfits->list[i].again_ns)
			return true;
	return false;
}

int64_t ku_unfits_next(const struct ku_unfits *unfits, int64_t now_ns)
{
	int64_t next_ns = now_ns + KU_UNFIT_AGAIN_MS * KU_NS_PER_MS;

	for (size_t i = 0; i < unfits->count; i++) {
		int64_t again_ns = unfits->list[i].again_ns;

		if (now_ns < again_ns && again_ns < next_ns)
			next_ns = again_ns;
	}
	return next_ns;
}

static void judge(struct ku_unfit_item *item, const struct kustos_stat *stat,
	int64_t now_ns)
{
	item->czxid = stat->czxid;
	item->version = stat->version;
	item->listed = false; /* the next listing sets it */
	item->again_ns = now_ns + KU_UNFIT_AGAIN_MS * KU_NS_PER_MS;
}

/* Make room for one more.  Returns false if memory is short. */
static bool make_room(struct ku_unfits *unfits)
{
	size_t size = unfits->size == 0 ? 8 : 2 * unfits->size;

	if (unfits->count < unfits->size)
		return true;
	struct ku_unfit_item *all = realloc(unfits->list, size * sizeof(*all));
	if (all == NULL)
		return false;
	unfits->list = all;
	unfits->size = size;
	return true;
}

enum ku_unfit_news ku_unfits_keep(struct ku_unfits *unfits, const char *name,
	const struct kustos_stat *stat, int64_t now_ns)
{
	struct ku_unfit_item *item = find(unfits, name);

	if (item != NULL) {
		bool same = item->czxid == stat->czxid &&
			item->version == stat->version;

		judge(item, stat, now_ns);
		return same ? KU_UNFIT_KNOWN : KU_UNFIT_NEW;
	}
	char *copy = strdup(name);
	if (copy == NULL || !make_room(unfits)) {
		free(copy);
		return KU_UNFIT_SHORT;
	}
	item = &unfits->list[place_of(unfits, name)];
	memmove(item + 1, item,
		(size_t)(unfits->list + unfits->count - item) * sizeof(*item));
	*item = (struct ku_unfit_item){ .name = copy };
	judge(item, stat, now_ns);
	unfits->count++;
	return KU_UNFIT_NEW;
}

void ku_unfits_forget_all(struct ku_unfits *unfits)
{
	for (size_t i = 0; i < unfits->count; i++)
		free(unfits->list[i].name);
	free(unfits->list);
	unfits->list = NULL;
	unfits->count = unfits->size = 0;
}

void ku_unfits_forget_unlisted(struct ku_unfits *unfits)
{
	size_t kept = 0;

	for (size_t i = 0; i < unfits->count; i++) {
		struct ku_unfit_item item = unfits->list[i];

		if (!item.listed) {
			free(item.name);
			continue;
		}
		item.listed = false;
		unfits->list[kept++] = item;
	}
	unfits->count = kept;
	if (kept == 0)
		ku_unfits_forget_all(unfits);
}
