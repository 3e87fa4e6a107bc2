/* unfit.c - items that nobody can have, and that were left where they are. */

#include "unfit.h"
#include "clock.h"

#include <stdlib.h>
#include <string.h>

/* After so long one is looked at again: it may have been mended, or the queue been
   made anew, so that it is another. */
#define AGAIN_MS 60000

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct ku_unfit_item *)a)->name,
		((const struct ku_unfit_item *)b)->name);
}

static struct ku_unfit_item *find(const struct ku_unfits *unfits,
	const char *name)
{
	const struct ku_unfit_item key = { .name = (char *)name };

	if (unfits->count == 0)
		return NULL;
	return bsearch(&key, unfits->list, unfits->count, sizeof(key), by_name);
}

bool ku_unfits_have(struct ku_unfits *unfits, const char *name, int64_t now_ns)
{
	struct ku_unfit_item *item = find(unfits, name);

	if (item == NULL)
		return false;
	item->listed = true;
	return now_ns < item->again_ns;
}

static void judge(struct ku_unfit_item *item, const struct kustos_stat *stat,
	int64_t now_ns)
{
	item->czxid = stat->czxid;
	item->version = stat->version;
	item->listed = false; /* by the next listing */
	item->again_ns = now_ns + AGAIN_MS * KU_NS_PER_MS;
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
	struct ku_unfit_item *all = realloc(unfits->list,
		(unfits->count + 1) * sizeof(*all));
	char *copy = strdup(name);
	if (all != NULL)
		unfits->list = all;
	if (all == NULL || copy == NULL) {
		free(copy);
		return KU_UNFIT_SHORT;
	}
	all[unfits->count] = (struct ku_unfit_item){ .name = copy };
	judge(&all[unfits->count++], stat, now_ns);
	qsort(all, unfits->count, sizeof(*all), by_name);
	return KU_UNFIT_NEW;
}

void ku_unfits_forget(struct ku_unfits *unfits, bool all)
{
	size_t kept = 0;

	for (size_t i = 0; i < unfits->count; i++) {
		struct ku_unfit_item item = unfits->list[i];

		if (all || !item.listed) {
			free(item.name);
			continue;
		}
		item.listed = false;
		unfits->list[kept++] = item;
	}
	unfits->count = kept;
	if (kept == 0) {
		free(unfits->list);
		unfits->list = NULL;
	}
}
