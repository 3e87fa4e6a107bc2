/*
 * listener.c - notify the program of changes of state.
 *
 * A listener does not get a list of what happened; when its turn comes it gets
 * the state at that time.  Only losses are never left out.  Epochs count up and
 * each ends in at most one loss, so the number of the last loss told is all
 * that has to be remembered.
 *
 * News of a loss runs beside a callback that takes long, even one of the same
 * listener; so up to two threads can be in a listener at a time.
 */

#include "client.h"
#include "inside.h"

#include <stdlib.h>

struct kustos_listener {
	/* Constant. */
	kustos_state_fn *fn;
	void *arg;

	/* Guarded by the client's mutex. */
	struct ku_call call;
	bool told_any;
	enum kustos_state told;
	int64_t told_loss;	  /* the last epoch whose end was told */
	struct ku_inside *inside; /* up to two threads */
	bool removed;
	bool orphan; /* removed from inside: nobody waits to free it */
	struct kustos_listener *prev, *next;
};

/* Epochs need not be compared: before the state of a later one comes a loss. */
static bool has_news(const struct kustos_client *client,
	const struct kustos_listener *l)
{
	const struct ku_session *session = &client->session;

	return !l->told_any || l->told_loss < session->lost_epoch ||
		l->told != session->state;
}

/* Find what to tell next. */
static void next_news(struct kustos_client *client, struct kustos_listener *l,
	struct kustos_session *news)
{
	ku_session_describe(client, news);
	if (l->told_loss < client->session.lost_epoch) {
		news->state = KUSTOS_STATE_LOST;
		news->epoch = ++l->told_loss;
		news->session_id = l->told_loss == client->session.lost_epoch
			? client->session.lost_id
			: 0;
	}
	l->told_any = true;
	l->told = news->state;
}

static void tell(struct kustos_client *client, struct ku_call *call)
{
	struct kustos_listener *l = KU_OWNER(struct kustos_listener, call,
		call);
	struct kustos_session news;
	struct ku_inside self;
	bool two = l->inside != NULL && l->inside->next != NULL;

	if (two || l->removed || !has_news(client, l))
		return; /* a thread that returns looks for news again */
	next_news(client, l, &news);
	ku_inside_enter(client, &l->inside, &self);
	l->fn(l->arg, &news);
	ku_inside_leave(client, &l->inside, &self);
	if (!l->removed) {
		if (has_news(client, l))
			ku_dispatch_push(client, &l->call,
				l->told_loss < client->session.lost_epoch
					? KU_URGENT
					: KU_ORDINARY);
	} else if (l->orphan && l->inside == NULL) {
		free(l);
	}
}

void ku_listeners_notify(struct kustos_client *client)
{
	bool lost = client->session.state == KUSTOS_STATE_LOST;

	for (struct kustos_listener *l = client->listeners; l != NULL;
		l = l->next)
		ku_dispatch_push(client, &l->call,
			lost ? KU_URGENT : KU_ORDINARY);
}

void ku_listeners_free(struct kustos_client *client)
{
	while (client->listeners != NULL) {
		struct kustos_listener *l = client->listeners;

		client->listeners = l->next;
		free(l);
	}
}

enum kustos_err kustos_client_listen(struct kustos_client *client,
	kustos_state_fn *fn, void *arg, struct kustos_listener **out)
{
	if (client == NULL || fn == NULL || out == NULL)
		return KUSTOS_EINVAL;
	if (ku_forked(&client->fork))
		return KUSTOS_EFORKED;
	struct kustos_listener *l = calloc(1, sizeof(*l));
	if (l == NULL)
		return KUSTOS_ENOMEM;
	l->fn = fn;
	l->arg = arg;
	l->call.fn = tell;
	*out = l;
	ku_lock(client);
	l->told_loss = client->session.lost_epoch;
	KU_LIST_PUSH(client->listeners, l);
	ku_dispatch_push(client, &l->call, KU_ORDINARY);
	ku_unlock(client);
	return KUSTOS_OK;
}

void kustos_client_unlisten(struct kustos_client *client,
	struct kustos_listener *l)
{
	if (client == NULL || l == NULL || ku_forked(&client->fork))
		return;
	ku_begin(client);
	KU_LIST_REMOVE(client->listeners, l);
	ku_dispatch_pull(client, &l->call);
	l->removed = true;
	ku_inside_await(client, &l->inside);
	if (l->inside != NULL)
		l->orphan = true; /* freed when its caller returns */
	else
		free(l);
	ku_end(client);
}
