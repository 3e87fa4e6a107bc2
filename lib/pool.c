/* pool.c - make a pool, change its data, and end it. */

#include "pool_impl.h"
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

void ku_pool_get(struct ku_pool *pool)
{
	pool->refs++;
}

void ku_pool_put(struct ku_pool *pool)
{
	if (--pool->refs > 0)
		return;
	if (pool->locks != NULL)
		ku_line_put(pool->locks);
	if (pool->leases != NULL)
		ku_line_put(pool->leases);
	ku_pool_room_free(pool);
	free(pool->note.path);
	ku_payload_free(&pool->payload);
	free(pool);
}

void ku_pool_mirror_over(struct ku_mirror *mirror)
{
	ku_pool_put(mirror->owner);
}

/* Find the line "name" below "path". */
static enum kustos_err get_line(struct ku_pool *pool, const char *path,
	const char *name, const struct ku_rule *rule, struct ku_line **out)
{
	char *full = ku_path_child(path, name);

	if (full == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = ku_line_get(pool->client, full, rule, out);
	free(full);
	return err;
}

/* Find both lines.  Locked. */
static enum kustos_err get_lines(struct ku_pool *pool, const char *path)
{
	enum kustos_err err = get_line(pool, path, "locks", &ku_rule_lock,
		&pool->locks);

	if (err != KUSTOS_OK)
		return err;
	return get_line(pool, path, "leases", &ku_rule_lease, &pool->leases);
}

/* The steps that may fail; ku_pool_put() gives back what they leave.
   Locked. */
static enum kustos_err init(struct ku_pool *pool, const char *path,
	const struct ku_pool_wish *wish)
{
	if (!ku_path_valid(path, false) || strcmp(path, "/") == 0)
		return KUSTOS_EINVAL;
	enum kustos_err err = get_lines(pool, path);
	if (err != KUSTOS_OK)
		return err;
	err = ku_pool_room_init(pool, wish);
	if (err == KUSTOS_OK) {
		err = ku_pool_note_init(pool, path);
		if (err != KUSTOS_OK)
			ku_pool_room_end(pool);
	}
	return err;
}

enum kustos_err ku_pool_create(struct kustos_client *client, const char *path,
	const struct ku_pool_wish *wish, struct ku_pool **out)
{
	struct ku_pool *pool = calloc(1, sizeof(*pool));

	if (pool == NULL)
		return KUSTOS_ENOMEM;
	pool->client = client;
	pool->refs = 1;
	pool->lock_kind.leaf = "lock-";
	pool->lock_kind.events = &ku_pool_lock_events;
	pool->lease_kind.leaf = "lease-";
	pool->lease_kind.events = &ku_pool_lease_events;
	pool->lease_kind.shares = true;
	enum kustos_err err = ku_payload_init(&pool->payload, client,
		&wish->payload);
	ku_lock(client);
	if (err == KUSTOS_OK)
		err = init(pool, path, wish);
	if (err == KUSTOS_OK)
		*out = pool;
	else
		ku_pool_put(pool);
	ku_unlock(client);
	return err;
}

void ku_pool_destroy(struct ku_pool *pool)
{
	if (pool == NULL)
		return;
	struct kustos_client *client = pool->client;
	ku_lock(client);
	pool->destroyed = true;
	while (pool->bids != NULL)
		ku_bid_end(pool->bids, KUSTOS_ECLOSED);
	ku_pool_room_end(pool);
	ku_mirror_end(&pool->note);
	ku_pool_put(pool);
	ku_unlock(client);
}

enum kustos_err ku_pool_set_data(struct ku_pool *pool, const void *data,
	size_t len)
{
	struct ku_payload_wish wish = { .data = data,
		.len = len,
		.empty = true };
	struct ku_payload payload;
	enum kustos_err err = ku_payload_init(&payload, pool->client, &wish);

	if (err != KUSTOS_OK)
		return err;
	ku_lock(pool->client);
	struct ku_payload old = pool->payload;
	pool->payload = payload;
	ku_unlock(pool->client);
	ku_payload_free(&old);
	return KUSTOS_OK;
}
