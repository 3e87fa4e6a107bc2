/* pool_room.c - how much room there is: fixed, or the number in a node that all
   clients read.  As in Curator's SharedCount, that is four bytes, the most
   significant first. */

#include "pool_impl.h"

#include <kustos/node.h>
#include <stdlib.h>
#include <string.h>

static void set_room(struct ku_pool *pool, int room)
{
	pool->room = room;
	pool->lease_kind.company = room > 0 ? room - 1 : -1; /* nobody */
}

static int decode(const struct ku_zk_reply *reply)
{
	const unsigned char *b = (const unsigned char *)reply->data;

	if (reply->rc != KU_ZK_OK || reply->len != 4)
		return -1;
	uint32_t value = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
		(uint32_t)b[2] << 8 | (uint32_t)b[3];
	return value <= INT32_MAX ? (int)value : 0;
}

/* Return what is wrong with the number, or NULL. */
static const char *fault_of(const struct ku_zk_reply *reply)
{
	if (reply->rc == KU_ZK_NONODE)
		return "does not exist";
	if (reply->rc != KU_ZK_OK)
		return "cannot be read";
	return decode(reply) < 0 ? "is not a number of four bytes" : NULL;
}

/* Does a bid need the number at once? */
static bool is_tried(const struct ku_pool *pool)
{
	const struct ku_bid *bid = pool->bids;

	while (bid != NULL && bid->state != KU_BID_TRIES)
		bid = bid->next;
	return bid != NULL;
}

/* While the number is not known there is no room: waiting places must not use
   the old one. */
static void number_shows(struct ku_mirror *mirror,
	const struct ku_zk_reply *reply)
{
	struct ku_pool *pool = mirror->owner;

	if (reply == NULL) {
		pool->lease_kind.company = KU_COMPANY_UNKNOWN;
		return;
	}
	if (!ku_session_ready(pool->client)) {
		/* We might not hear of the end of this answer's connection. */
		mirror->current = false;
		if (mirror->wanted)
			ku_mirror_want(mirror);
		return;
	}
	const char *fault = fault_of(reply);
	if (fault != NULL && !pool->malformed)
		ku_log(pool->client, KUSTOS_LOG_WARNING,
			"%s: no lease is granted, as this %s", mirror->path,
			fault);
	pool->malformed = fault != NULL;
	set_room(pool, decode(reply));
	if (pool->room > 0 || is_tried(pool))
		ku_line_look(pool->leases);
}

/* The connection is lost, and the next server may not set the watch again.  So
   the number is read again before anybody uses it, but only when a place that
   needs it looks, so that a whole fleet does not read at once. */
static void away(struct ku_witness *witness)
{
	struct ku_pool *pool = KU_OWNER(struct ku_pool, away, witness);

	pool->lease_kind.company = KU_COMPANY_UNKNOWN;
	pool->number.current = false;
}

static const struct ku_mirror_calls number_calls = { .shows = number_shows,
	.over = ku_pool_mirror_over };

enum kustos_err ku_pool_room_init(struct ku_pool *pool,
	const struct ku_pool_wish *wish)
{
	struct kustos_client *client = pool->client;

	set_room(pool, wish->room_path == NULL ? wish->room : -1);
	if (wish->room_path == NULL)
		return KUSTOS_OK;
	pool->lease_kind.company = KU_COMPANY_UNKNOWN;
	if (!ku_path_valid(wish->room_path, false))
		return KUSTOS_EINVAL;
	char *full = ku_path_join(client->config.prefix, wish->room_path);
	if (full == NULL)
		return KUSTOS_ENOMEM;
	pool->room_path = ku_program_path(client, full);
	ku_mirror_init(&pool->number, client, &number_calls, full);
	pool->number.owner = pool;
	pool->away.away = away;
	ku_witness_add(client, &pool->away);
	ku_pool_get(pool);
	return KUSTOS_OK;
}

void ku_pool_room_want(struct ku_pool *pool)
{
	if (pool->room_path != NULL)
		ku_mirror_want(&pool->number);
}

void ku_pool_room_rest(struct ku_pool *pool)
{
	if (pool->room_path != NULL)
		ku_mirror_rest(&pool->number);
}

void ku_pool_room_end(struct ku_pool *pool)
{
	if (pool->room_path == NULL)
		return;
	ku_witness_remove(pool->client, &pool->away);
	ku_mirror_end(&pool->number);
}

void ku_pool_room_free(struct ku_pool *pool)
{
	free(pool->number.path);
}

int ku_pool_room(struct ku_pool *pool)
{
	ku_lock(pool->client);
	int room = pool->room;
	ku_unlock(pool->client);
	return room;
}

/* Encode the number as the node has it. */
static void encode(int room, char data[4])
{
	uint32_t value = (uint32_t)room;

	for (int i = 0; i < 4; i++)
		data[i] = (char)(value >> (24 - 8 * i));
}

enum kustos_err ku_pool_set_room(struct ku_pool *pool, int room,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err;
	char data[4];

	if (pool->room_path == NULL)
		return KUSTOS_EINVAL;
	encode(room, data);
	do { /* until nobody makes or deletes it in between */
		err = kustos_set(pool->client, pool->room_path, data,
			sizeof(data), -1, deadline, cancel, NULL);
		if (err == KUSTOS_ENONODE)
			err = kustos_create(pool->client, pool->room_path, data,
				sizeof(data), KUSTOS_CREATE_PARENTS, deadline,
				cancel, NULL, NULL);
	} while (err == KUSTOS_EEXISTS);
	return err;
}

/* The same with a callback; the pool may be destroyed before it is called. */
struct setting {
	struct kustos_client *client;
	kustos_deadline deadline;
	struct kustos_cancel *cancel;
	kustos_end_fn *done;
	void *arg;
	char data[4];
	char path[];
};

static void was_set(void *arg, enum kustos_err err,
	const struct kustos_result *result);

static enum kustos_err set_it(struct setting *s)
{
	return kustos_set_async(s->client, s->path, s->data, sizeof(s->data),
		-1, s->deadline, s->cancel, was_set, s);
}

static void setting_end(struct setting *s, enum kustos_err err)
{
	s->done(s->arg, err);
	free(s);
}

static void was_made(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)result;
	if (err == KUSTOS_EEXISTS) {
		err = set_it(arg);
		if (err == KUSTOS_OK)
			return;
	}
	setting_end(arg, err);
}

static void was_set(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct setting *s = arg;

	(void)result;
	if (err == KUSTOS_ENONODE) {
		err = kustos_create_async(s->client, s->path, s->data,
			sizeof(s->data), KUSTOS_CREATE_PARENTS, s->deadline,
			s->cancel, was_made, s);
		if (err == KUSTOS_OK)
			return;
	}
	setting_end(s, err);
}

enum kustos_err ku_pool_set_room_async(struct ku_pool *pool, int room,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	if (pool->room_path == NULL)
		return KUSTOS_EINVAL;
	struct setting *s = malloc(sizeof(*s) + strlen(pool->room_path) + 1);
	if (s == NULL)
		return KUSTOS_ENOMEM;
	*s = (struct setting){ .client = pool->client,
		.deadline = deadline,
		.cancel = cancel,
		.done = done,
		.arg = arg };
	encode(room, s->data);
	strcpy(s->path, pool->room_path);
	enum kustos_err err = set_it(s);
	if (err != KUSTOS_OK)
		free(s);
	return err;
}
