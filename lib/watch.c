/* watch.c - a table of watches by kind and path. */

#include "client.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

struct ku_watch_entry {
	enum ku_zk_watch_kind kind;
	char *path;
	struct ku_watch *watches; /* none: the server is still to be told */
	struct ku_request unwatch;
	bool again; /* tell the server again: a read was sent meanwhile */
	bool owed;  /* not confirmed yet: the server may still have a watch */
	struct ku_watch_entry *prev, *next;
};

/* What a path costs in the frame that sets all watches again. */
static size_t weight(const char *path)
{
	return strlen(path) + 4;
}

static int by_kind_and_path(const void *a, const void *b)
{
	const struct ku_watch_entry *x = a;
	const struct ku_watch_entry *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->path, y->path);
}

static struct ku_watch_entry *find(struct ku_watches *watches,
	enum ku_zk_watch_kind kind, const char *path)
{
	struct ku_watch_entry key = { .kind = kind, .path = (char *)path };
	struct ku_watch_entry **kept = tfind(&key, &watches->tree,
		by_kind_and_path);

	return kept != NULL ? *kept : NULL;
}

static struct ku_watch_entry *entry_new(struct kustos_client *client,
	enum ku_zk_watch_kind kind, const char *path)
{
	struct ku_watches *watches = &client->watches;
	struct ku_watch_entry *entry = calloc(1, sizeof(*entry));

	if (entry == NULL)
		return NULL;
	entry->kind = kind;
	entry->path = strdup(path);
	if (entry->path == NULL ||
		tsearch(entry, &watches->tree, by_kind_and_path) == NULL) {
		free(entry->path);
		free(entry);
		return NULL;
	}
	KU_LIST_PUSH(watches->entries, entry);
	client->footprint.watch_bytes += weight(path);
	return entry;
}

/* Take "entry" out of the table.  It stays in memory while a request of its
   own is under way. */
static void entry_remove(struct kustos_client *client,
	struct ku_watch_entry *entry)
{
	struct ku_watches *watches = &client->watches;

	tdelete(entry, &watches->tree, by_kind_and_path);
	KU_LIST_REMOVE(watches->entries, entry);
	client->footprint.watch_bytes -= weight(entry->path);
	entry->unwatch.owner = NULL;
	if (ku_wire_withdraw(client, &entry->unwatch) ||
		!ku_request_busy(&entry->unwatch)) {
		free(entry->path);
		free(entry);
	}
}

static void attach(struct ku_watch_entry *entry, struct ku_watch *watch)
{
	watch->entry = entry;
	KU_LIST_PUSH(entry->watches, watch);
}

static void detach(struct ku_watch *watch)
{
	KU_LIST_REMOVE(watch->entry->watches, watch);
	watch->entry = NULL;
}

enum kustos_err ku_watch_add(struct kustos_client *client,
	struct ku_watch *watch, enum ku_zk_watch_kind kind, const char *path)
{
	struct ku_watch_entry *entry = find(&client->watches, kind, path);

	if (entry == NULL) {
		if (client->footprint.watch_bytes + weight(path) >
			KU_FOOTPRINT_LIMIT)
			return KUSTOS_ELIMIT;
		entry = entry_new(client, kind, path);
		if (entry == NULL)
			return KUSTOS_ENOMEM;
	}
	attach(entry, watch);
	return KUSTOS_OK;
}

static void unwatch(struct kustos_client *client, struct ku_watch_entry *entry);

static void unwatched(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_watch_entry *entry = KU_OWNER(struct ku_watch_entry, unwatch,
		request);
	struct kustos_client *client = request->owner;

	if (client == NULL) { /* out of the table meanwhile */
		free(entry->path);
		free(entry);
		return;
	}
	bool done = reply->rc == KU_ZK_OK || reply->rc == KU_ZK_NOWATCHER;
	if (done)
		entry->owed = entry->again;
	else
		client->watches.refused = true;
	if (entry->watches == NULL && entry->again)
		unwatch(client, entry);
	else if (entry->watches == NULL && done)
		entry_remove(client, entry);
}

/* Nobody watches the node any more: tell the server. */
static void unwatch(struct kustos_client *client, struct ku_watch_entry *entry)
{
	entry->owed = true;
	entry->again = ku_request_busy(&entry->unwatch);
	if (entry->again || !ku_session_ready(client))
		return; /* later: ku_watch_tidy() */
	entry->unwatch.what = (struct ku_zk_request){ .kind = KU_ZK_UNWATCH,
		.path = entry->path,
		.version = -1,
		.unwatch = entry->kind };
	entry->unwatch.done = unwatched;
	entry->unwatch.owner = client;
	ku_wire_send(client, &entry->unwatch);
}

void ku_watch_remove(struct kustos_client *client, struct ku_watch *watch)
{
	struct ku_watch_entry *entry = watch->entry;

	if (entry == NULL)
		return;
	detach(watch);
	if (entry->path == NULL)
		return; /* it was on the list of fire() */
	if (entry->watches == NULL) {
		unwatch(client, entry);
		return;
	}
	/* Others watch the node, too.  If all their reads fail, the server may
	   still have this watch, and is told then: settle(). */
	entry->owed = true;
	entry->again = ku_request_busy(&entry->unwatch);
}

bool ku_watch_keep(struct kustos_client *client, struct ku_watch *watch,
	const struct ku_zk_request *read)
{
	enum ku_zk_watch_kind kind = ku_zk_watch_of(read->kind);

	if (read->watch && watch->entry == NULL &&
		!ku_watch_is_ending(client, kind, read->path))
		(void)ku_watch_add(client, watch, kind, read->path);
	return read->watch && watch->entry != NULL;
}

void ku_watch_take_back(struct kustos_client *client, struct ku_watch *watch,
	const struct ku_zk_request *read)
{
	(void)ku_watch_keep(client, watch, read);
	ku_watch_remove(client, watch);
}

int64_t ku_watch_doubt_ms(struct kustos_client *client, int64_t least_ms)
{
	return least_ms +
		(int64_t)ku_random_below(&client->random, (uint64_t)least_ms);
}

bool ku_watch_is_ending(struct kustos_client *client,
	enum ku_zk_watch_kind kind, const char *path)
{
	const struct ku_watch_entry *entry = find(&client->watches, kind, path);

	return entry != NULL && ku_request_busy(&entry->unwatch);
}

/* A read has left no watch.  If nobody wants one, tell the server to drop what
   others may have left there. */
static void settle(struct kustos_client *client, struct ku_watch_entry *entry)
{
	if (entry->watches != NULL || ku_request_busy(&entry->unwatch))
		return;
	if (entry->owed)
		unwatch(client, entry);
	else
		entry_remove(client, entry);
}

void ku_watch_failed(struct kustos_client *client, struct ku_watch *watch)
{
	struct ku_watch_entry *entry = watch->entry;

	if (entry == NULL)
		return;
	detach(watch);
	if (entry->path != NULL)
		settle(client, entry);
}

void ku_watch_forget(struct ku_watch *watch)
{
	if (watch->entry != NULL)
		detach(watch);
}

void ku_watch_unset(struct kustos_client *client, enum ku_zk_watch_kind kind,
	const char *path)
{
	struct ku_watch_entry *entry = find(&client->watches, kind, path);

	if (entry != NULL)
		settle(client, entry);
}

/* Take all watches off "entry".  Take the entry itself out of the table, unless
   the server is being told that nobody watches the node: ku_watch_is_ending()
   must find that, until the handle ends.  Only then call the watches, as each
   may put itself on again. */
static void fire(struct kustos_client *client, struct ku_watch_entry *entry,
	enum ku_watch_event event)
{
	struct ku_watch *watch;

	/* They hang on this while they wait for their turn, so that one can
	   take another off meanwhile. */
	struct ku_watch_entry list = { .path = NULL };
	while ((watch = entry->watches) != NULL) {
		detach(watch);
		attach(&list, watch);
	}
	if (event == KU_WATCH_GONE || !ku_request_busy(&entry->unwatch))
		entry_remove(client, entry);
	while ((watch = list.watches) != NULL) {
		detach(watch);
		watch->fn(watch, event);
	}
}

static void fire_at(struct kustos_client *client, enum ku_zk_watch_kind kind,
	const char *path, enum ku_watch_event event)
{
	struct ku_watch_entry *entry = find(&client->watches, kind, path);

	if (entry != NULL)
		fire(client, entry, event);
}

void ku_watch_event(struct kustos_client *client, enum ku_zk_event event,
	const char *path)
{
	switch (event) {
	case KU_ZK_EVENT_CREATED:
		fire_at(client, KU_ZK_WATCH_DATA, path, KU_WATCH_CREATED);
		break;
	case KU_ZK_EVENT_CHANGED:
		fire_at(client, KU_ZK_WATCH_DATA, path, KU_WATCH_CHANGED);
		break;
	case KU_ZK_EVENT_CHILDREN:
		fire_at(client, KU_ZK_WATCH_CHILDREN, path, KU_WATCH_CHILDREN);
		break;
	case KU_ZK_EVENT_DELETED:
		fire_at(client, KU_ZK_WATCH_DATA, path, KU_WATCH_DELETED);
		fire_at(client, KU_ZK_WATCH_CHILDREN, path, KU_WATCH_DELETED);
		break;
	default:
		break;
	}
}

void ku_watch_tidy(struct kustos_client *client)
{
	for (struct ku_watch_entry *e = client->watches.entries; e != NULL;
		e = e->next)
		if (e->watches == NULL)
			unwatch(client, e);
}

void ku_watch_insist(struct kustos_client *client)
{
	if (!client->watches.refused)
		return; /* each heartbeat comes here; there may be thousands */
	client->watches.refused = false;
	for (struct ku_watch_entry *e = client->watches.entries; e != NULL;
		e = e->next)
		if (e->watches == NULL && !ku_request_busy(&e->unwatch))
			unwatch(client, e);
}

void ku_watch_clear(struct kustos_client *client)
{
	while (client->watches.entries != NULL)
		fire(client, client->watches.entries, KU_WATCH_GONE);
}
