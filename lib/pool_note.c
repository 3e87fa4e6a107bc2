/* pool_note.c - do all clients use the same number?  A pool with a fixed number
   leaves it as text in the node of the semaphore, where kazoo keeps it, and
   looks at what others have left there.  Curator's clients make that node, and
   never look at it.

   Nothing depends on this: it only lets people know. */

#include "pool_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Return the number in the node; 0 if the node is empty; -1 if its data is
   something else. */
static int parse(const struct ku_zk_reply *reply)
{
	char text[11] = "";

	if (reply->len <= 0)
		return 0;
	if (reply->len >= (int)sizeof(text))
		return -1;
	memcpy(text, reply->data, (size_t)reply->len);
	long long value = strtoll(text, NULL, 10);
	if (strspn(text, "0123456789") != (size_t)reply->len || value < 1 ||
		value > INT32_MAX)
		return -1;
	return (int)value;
}

static void left(struct ku_request *request, const struct ku_zk_reply *reply)
{
	struct ku_pool *pool = request->owner;
	enum ku_outcome outcome = ku_outcome(reply->rc);

	/* If another client was quicker, the mirror shows us its number. */
	pool->left = outcome == KU_OUTCOME_DONE ||
		outcome == KU_OUTCOME_REFUSED;
	if (!pool->left && !pool->destroyed)
		ku_mirror_look(&pool->note);
	ku_pool_put(pool);
}

/* Leave our number in place of what was read. */
static void leave(struct ku_pool *pool, int32_t version)
{
	snprintf(pool->text, sizeof(pool->text), "%d", pool->room);
	pool->leaving.owner = pool;
	pool->leaving.done = left;
	pool->leaving.what = (struct ku_zk_request){
		.kind = KU_ZK_SET,
		.path = pool->note.path,
		.data = pool->text,
		.len = (int)strlen(pool->text),
		.version = version,
	};
	/* Now or not at all, so that no close waits for it. */
	pool->left = ku_wire_send_now(pool->client, &pool->leaving);
	if (pool->left)
		ku_pool_get(pool);
}

static void note_shows(struct ku_mirror *mirror,
	const struct ku_zk_reply *reply)
{
	struct ku_pool *pool = mirror->owner;

	if (reply == NULL || reply->rc != KU_ZK_OK)
		return;
	int theirs = parse(reply);
	if (theirs > 0 && pool->room >= 0 && theirs != pool->room) {
		if (!pool->disagrees)
			ku_log(pool->client, KUSTOS_LOG_WARNING,
				"%s: there is room for %d, but another client "
				"goes by %d",
				mirror->path, pool->room, theirs);
		pool->disagrees = true;
	}
	/* If our number has been there before, a client that uses another
	   number has overwritten it.  Writing ours again could hide that number
	   from the rest of us. */
	if (theirs == pool->room)
		pool->left = true;
	if (pool->room_path == NULL && !pool->left && theirs >= 0 &&
		ku_session_ready(pool->client))
		leave(pool, reply->stat->version);
}

static const struct ku_mirror_calls note_calls = { .shows = note_shows,
	.over = ku_pool_mirror_over };

enum kustos_err ku_pool_note_init(struct ku_pool *pool, const char *path)
{
	struct kustos_client *client = pool->client;
	char *full = ku_path_join(client->config.prefix, path);

	if (full == NULL)
		return KUSTOS_ENOMEM;
	ku_mirror_init(&pool->note, client, &note_calls, full);
	pool->note.lax = true;
	pool->note.owner = pool;
	ku_pool_get(pool);
	return KUSTOS_OK;
}

void ku_pool_note_want(struct ku_pool *pool)
{
	ku_mirror_want(&pool->note);
}

/* The note stays wanted for as long as the pool is used, but a close must not
   wait for it. */
void ku_pool_note_rest(struct ku_pool *pool)
{
	if (pool->note.request.waiting)
		ku_mirror_rest(&pool->note);
}

bool ku_pool_disagrees(struct ku_pool *pool)
{
	ku_lock(pool->client);
	bool disagrees = pool->disagrees;
	ku_unlock(pool->client);
	return disagrees;
}
