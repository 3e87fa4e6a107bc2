/* consumer.c - wait for something again and again, and deal with it. */

#include "consumer.h"
#include "client.h"

#include <kustos/cancel.h>
#include <stdlib.h>

/* The pause after a failure. */
#define PAUSE_MS 1000

struct kustos_consumer {
	/* Constant. */
	struct kustos_client *client;
	const struct ku_consumer_calls *calls;
	void *owner;
	struct kustos_cancel *cancel;

	/* Guarded by the client's lock. */
	struct ku_call call; /* on the lengthy lane */
	pthread_t runner;
	bool running, stopped;
	bool own;     /* stopped from its own callback: it frees itself */
	int *leaving; /* where it is then counted until it has ended */
};

static void destroy(struct kustos_consumer *c)
{
	kustos_cancel_destroy(c->cancel);
	c->calls->over(c->owner);
	free(c);
}

/* Would every further wait for an item fail, too? */
static bool is_final(enum kustos_err err)
{
	return err == KUSTOS_ECANCELED || err == KUSTOS_ECLOSED ||
		err == KUSTOS_EAUTH || err == KUSTOS_EFORKED;
}

static void rest(struct kustos_consumer *c)
{
	struct kustos_client *client = c->client;
	kustos_deadline until = kustos_after_ms(PAUSE_MS);

	ku_lock(client);
	while (!c->stopped && client->closing == KU_OPEN &&
		ku_cond_wait(client, &client->state_changed, until))
		;
	ku_unlock(client);
}

/* Then its function is not called again: what that uses may be gone. */
static bool stopped_itself(struct kustos_consumer *c)
{
	ku_lock(c->client);
	bool own = c->own;
	ku_unlock(c->client);
	return own;
}

static void work(struct kustos_consumer *c)
{
	enum kustos_err err;

	do {
		err = c->calls->have(c->owner, c->cancel);
		if (err == KUSTOS_OK)
			c->calls->deal(c->owner);
		else if (err != KUSTOS_ECANCELED)
			c->calls->failed(c->owner, err);
		if (err != KUSTOS_OK && !is_final(err))
			rest(c);
	} while (!is_final(err));
	while (c->calls->have_last != NULL && !stopped_itself(c) &&
		c->calls->have_last(c->owner) == KUSTOS_OK)
		c->calls->deal(c->owner);
}

static void run(struct kustos_client *client, struct ku_call *call)
{
	struct kustos_consumer *c = KU_OWNER(struct kustos_consumer, call,
		call);

	c->running = true;
	c->runner = pthread_self();
	ku_unlock(client);
	work(c);
	ku_lock(client);
	c->running = false;
	*c->leaving -= c->own;
	pthread_cond_broadcast(&client->state_changed);
	if (!c->own)
		return;
	ku_unlock(client);
	destroy(c);
	ku_lock(client);
}

enum kustos_err ku_consumer_start(struct kustos_client *client,
	const struct ku_consumer_calls *calls, void *owner, int *leaving,
	struct kustos_consumer **out)
{
	if (!client->env.threads)
		return KUSTOS_EUNSUPPORTED;
	struct kustos_consumer *c = calloc(1, sizeof(*c));
	if (c == NULL)
		return KUSTOS_ENOMEM;
	enum kustos_err err = kustos_cancel_create(&c->cancel);
	if (err != KUSTOS_OK) {
		free(c);
		return err;
	}
	c->client = client;
	c->calls = calls;
	c->owner = owner;
	c->leaving = leaving;
	c->call.fn = run;
	*out = c;
	ku_lock(client);
	ku_dispatch_push(client, &c->call, KU_LENGTHY);
	ku_unlock(client);
	return KUSTOS_OK;
}

void kustos_consumer_stop(struct kustos_consumer *c)
{
	if (c == NULL || ku_forked(&c->client->fork))
		return;
	struct kustos_client *client = c->client;
	kustos_cancel_fire(c->cancel);
	ku_begin(client);
	c->stopped = true;
	pthread_cond_broadcast(&client->state_changed);
	ku_dispatch_pull(client, &c->call);
	c->own = c->running && pthread_equal(c->runner, pthread_self());
	bool own = c->own;
	*c->leaving += own;
	while (c->running && !own)
		ku_cond_wait(client, &client->state_changed, KUSTOS_FOREVER);
	ku_end(client);
	if (!own)
		destroy(c);
}

void ku_consumer_wait(struct kustos_client *client, const int *leaving,
	void (*end)(void *what), void *what)
{
	ku_begin(client);
	while (*leaving > 0)
		ku_cond_wait(client, &client->state_changed, KUSTOS_FOREVER);
	ku_unlock(client);
	end(what);
	ku_lock(client);
	ku_end(client);
}
