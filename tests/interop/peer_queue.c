/*
 * peer_queue.c - the commands of peer.h for queues that our process knows.
 */
#include <kustos/claim.h>
#include <kustos/hold.h>
#include <kustos/queue.h>

#include "peer_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 8 /* items at once */

/* What this process has at one path. */
struct store {
	struct kustos_queue *queue;   /* NULL: not asked for yet */
	struct kustos_claims *claims; /* the same */
	struct kustos_claim *claim;   /* NULL: none is claimed */
};

static enum kustos_queue_kind kind_of(const char *word)
{
	return strcmp(word, "locking") == 0 ? KUSTOS_QUEUE_KAZOO_LOCKING
					    : KUSTOS_QUEUE_SIMPLE;
}

static struct store *store_of(const char *path)
{
	struct lock *lock = lock_of(path, 0);

	if (lock->store == NULL)
		lock->store = calloc(1, sizeof(*lock->store));
	if (lock->store == NULL)
		exit(1);
	return lock->store;
}

static struct kustos_queue *queue_of(const char *kind, const char *path)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct store *s = store_of(path);

	o.kind = kind_of(kind);
	if (s->queue == NULL &&
		check(kustos_queue_create(client, path, &o, &s->queue),
			"create") < 0)
		exit(1);
	return s->queue;
}

void supply(char **w)
{
	struct kustos_new_item list[MOST];
	char text[MOST][16];
	long from = strtol(w[3], NULL, 10), to = strtol(w[4], NULL, 10);
	size_t put = 0;

	if (to <= from || to - from > MOST) {
		say("error so many");
		return;
	}
	for (long i = from; i < to; i++) {
		struct kustos_new_item *item = &list[i - from];

		*item = (struct kustos_new_item)KUSTOS_NEW_ITEM_INIT;
		item->data = text[i - from];
		item->len = (size_t)snprintf(text[i - from], sizeof(text[0]),
			"%ld", i);
	}
	enum kustos_err err = kustos_queue_put_many(queue_of(w[1], w[2]), list,
		(size_t)(to - from), kustos_after_ms(strtol(w[5], NULL, 10)),
		NULL, &put);
	if (err == KUSTOS_ETIMEDOUT || check(err, "put") == 0)
		say("supplied %zu", put);
}

void fetch(char **w)
{
	struct kustos_item *items[MOST];
	long max = strtol(w[3], NULL, 10);
	size_t count = 0;

	enum kustos_err err = kustos_queue_poll_many(queue_of(w[1], w[2]),
		(size_t)(max < MOST ? max : MOST),
		kustos_after_ms(strtol(w[4], NULL, 10)), NULL, items, &count);
	if (err != KUSTOS_ETIMEDOUT && check(err, "poll") < 0)
		return;
	say("fetched %zu", count);
	for (size_t i = 0; i < count; i++) {
		say(" %s", (const char *)items[i]->data);
		kustos_item_free(items[i]);
	}
}

static struct kustos_claims *claims_of(char **w)
{
	struct kustos_claims_options o = KUSTOS_CLAIMS_OPTIONS_INIT;
	struct store *s = store_of(w[2]);

	o.kind = kind_of(w[1]);
	o.ahead = (int)strtol(w[4], NULL, 10);
	if (s->claims == NULL &&
		check(kustos_claims_create(client, w[2], &o, &s->claims),
			"create") < 0)
		exit(1);
	return s->claims;
}

void claim_one(char **w)
{
	struct kustos_claim **claim = &store_of(w[2])->claim;
	enum kustos_err err = kustos_claim_next(claims_of(w),
		kustos_after_ms(strtol(w[3], NULL, 10)), NULL, claim);

	if (err == KUSTOS_ETIMEDOUT)
		say("claimed");
	else if (check(err, "claim") == 0)
		say("claimed %s %s",
			(const char *)kustos_claim_item(*claim)->data,
			kustos_claim_item(*claim)->name);
}

void claim_has(char **w)
{
	const struct kustos_claim *claim = store_of(w[1])->claim;

	if (claim == NULL)
		say("error not claimed");
	else if (kustos_hold_state(kustos_claim_hold(claim)) ==
		KUSTOS_HOLD_LOST)
		say("lost");
	else
		say("has");
}

void claim_end(char **w)
{
	struct store *s = store_of(w[1]);
	struct kustos_claim *claim = s->claim;
	enum kustos_err err = KUSTOS_OK;

	s->claim = NULL;
	if (strcmp(w[0], "unclaim") == 0)
		kustos_claim_release(claim);
	else if (strcmp(w[0], "ack") == 0)
		err = kustos_claim_ack(claim,
			kustos_after_ms(strtol(w[2], NULL, 10)), NULL);
	else
		err = kustos_claim_requeue(claim,
			kustos_after_ms(strtol(w[2], NULL, 10)), NULL);
	if (err == KUSTOS_ELOST)
		say("lost");
	else if (err == KUSTOS_EUNKNOWN || err == KUSTOS_ETIMEDOUT)
		say("unknown");
	else if (check(err, w[0]) == 0)
		say("%s%s", w[0], w[0][0] == 'r' ? "d" : "ed");
}

void store_end(struct lock *lock)
{
	struct store *s = lock->store;

	if (s == NULL)
		return;
	kustos_claim_release(s->claim);
	kustos_claims_destroy(s->claims);
	kustos_queue_destroy(s->queue);
	free(s);
}
