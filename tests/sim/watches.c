/* watches.c - watches in a hash table by path, and in a list by owner. */
#include "watches.h"
#include "sched.h"

#include <stdlib.h>
#include <string.h>

void watches_init(struct watches *watches)
{
	memset(watches, 0, sizeof(*watches));
	watches->mask = 63;
	watches->buckets = sim_calloc(64, sizeof(*watches->buckets));
}

void watches_free(struct watches *watches)
{
	struct watch *watch;
	uint32_t i;

	for (i = 0; watches->buckets != NULL && i <= watches->mask; i++) {
		while ((watch = watches->buckets[i]) != NULL) {
			watches->buckets[i] = watch->hash_next;
			blob_unref(watch->path);
			free(watch);
		}
	}
	while ((watch = watches->spare) != NULL) {
		watches->spare = watch->hash_next;
		free(watch);
	}
	free(watches->buckets);
	memset(watches, 0, sizeof(*watches));
}

static void grow(struct watches *watches)
{
	uint32_t old = watches->mask + 1;
	struct watch **buckets = watches->buckets;
	struct watch *watch;
	struct watch *next;
	uint32_t i;
	uint32_t to;

	watches->mask = old * 2 - 1;
	watches->buckets = sim_calloc((size_t)old * 2, sizeof(*buckets));
	for (i = 0; i < old; i++) {
		for (watch = buckets[i]; watch != NULL; watch = next) {
			next = watch->hash_next;
			to = watch->path->hash & watches->mask;
			watch->hash_next = watches->buckets[to];
			watches->buckets[to] = watch;
		}
	}
	free(buckets);
}

static bool same_path(const struct watch *watch, const struct blob *path)
{
	return watch->path->hash == path->hash &&
		watch->path->len == path->len &&
		memcmp(watch->path->bytes, path->bytes, (size_t)path->len) == 0;
}

struct watch *watch_find(const struct watches *watches, const void *owner,
	const struct blob *path)
{
	struct watch *watch = watches->buckets[path->hash & watches->mask];

	for (; watch != NULL; watch = watch->hash_next) {
		if (watch->owner == owner && same_path(watch, path))
			return watch;
	}
	return NULL;
}

void watch_add(struct watches *watches, struct watch **list, void *owner,
	struct blob *path, int kinds)
{
	struct watch *watch = watch_find(watches, owner, path);
	uint32_t at;

	if (watch != NULL) {
		watch->kinds |= kinds;
		return;
	}
	if (watches->count > watches->mask)
		grow(watches);
	watch = watches->spare;
	if (watch != NULL)
		watches->spare = watch->hash_next;
	else
		watch = sim_calloc(1, sizeof(*watch));
	watch->path = blob_ref(path);
	watch->owner = owner;
	watch->kinds = kinds;
	at = path->hash & watches->mask;
	watch->hash_next = watches->buckets[at];
	watches->buckets[at] = watch;
	watches->count++;
	watch->next = *list;
	watch->link = list;
	if (*list != NULL)
		(*list)->link = &watch->next;
	*list = watch;
}

void watch_drop(struct watches *watches, struct watch *watch, int kinds)
{
	struct watch **at;

	watch->kinds &= ~kinds;
	if (watch->kinds != 0)
		return;
	at = &watches->buckets[watch->path->hash & watches->mask];
	while (*at != watch)
		at = &(*at)->hash_next;
	*at = watch->hash_next;
	watches->count--;
	*watch->link = watch->next;
	if (watch->next != NULL)
		watch->next->link = watch->link;
	blob_unref(watch->path);
	watch->hash_next = watches->spare;
	watches->spare = watch;
}

void watch_fire(struct watches *watches, const struct blob *path, int kinds,
	watch_fn *fn, void *arg)
{
	struct watch *watch = watches->buckets[path->hash & watches->mask];
	struct watch *next;
	void *owner;
	int fired;

	for (; watch != NULL; watch = next) {
		next = watch->hash_next;
		fired = watch->kinds & kinds;
		if (fired == 0 || !same_path(watch, path))
			continue;
		owner = watch->owner;
		watch_drop(watches, watch, fired);
		fn(arg, owner, fired);
	}
}
