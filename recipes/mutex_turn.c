/* mutex_turn.c - take places, and give them to those who wait. */

#include "mutex_turn.h"

#include <stdlib.h>

/* For how long threads of one mutex hand over to each other at the most. */
#define LOCAL_NS (50 * INT64_C(1000000))

static void enqueue(struct waiter *w)
{
	struct kustos_mutex *mutex = w->mutex;

	w->next = NULL;
	w->prev = mutex->last;
	if (w->prev != NULL)
		w->prev->next = w;
	else
		mutex->first = w;
	mutex->last = w;
	mutex->refs++;
}

/* Take "w" out of the queue, and end its wait. */
static void dequeue(struct waiter *w, enum kustos_err err)
{
	struct kustos_mutex *mutex = w->mutex;

	if (w->prev != NULL)
		w->prev->next = w->next;
	else
		mutex->first = w->next;
	if (w->next != NULL)
		w->next->prev = w->prev;
	else
		mutex->last = w->prev;
	w->turn = NULL;
	mutex->refs--; /* the program or its turn has another */
	ku_wait_end(&w->wait, err);
}

/* Give the place up for good. */
static void turn_end(struct turn *turn)
{
	struct kustos_mutex *mutex = turn->mutex;

	if (mutex->turn == turn)
		mutex->turn = NULL;
	ku_place_leave(turn->place);
	free(turn);
	ku_mutex_put(mutex);
}

/* Take a place for "w", or for whoever is first. */
static enum kustos_err turn_begin(struct kustos_mutex *mutex, struct waiter *w,
	bool once)
{
	struct turn *turn = calloc(1, sizeof(*turn));
	char *record = NULL;
	size_t len = mutex->len;
	enum kustos_err err = KUSTOS_OK;

	if (turn == NULL)
		return KUSTOS_ENOMEM;
	if (mutex->data == NULL)
		err = ku_recipe_record(mutex->reason, &record, &len);
	turn->mutex = mutex;
	turn->waiter = w;
	turn->once = once;
	if (err == KUSTOS_OK)
		err = ku_place_take(mutex->line, &mutex->kind,
			mutex->data != NULL ? mutex->data : record, len, once,
			turn, &turn->place);
	free(record);
	if (err != KUSTOS_OK) {
		free(turn);
		return err;
	}
	mutex->refs++;
	if (w != NULL)
		w->turn = turn;
	else
		mutex->turn = turn;
	return KUSTOS_OK;
}

/* See that the first in line is served; who cannot be is told so. */
static void serve(struct kustos_mutex *mutex)
{
	mutex->refs++;
	while (mutex->local_handoffs > 0 && mutex->turn == NULL &&
		mutex->first != NULL) {
		struct waiter *w = mutex->first;
		enum kustos_err err = turn_begin(mutex, NULL, w->once);

		if (err != KUSTOS_OK)
			dequeue(w, err);
	}
	ku_mutex_put(mutex);
}

static void released(struct kustos_hold *hold, void *owner);

static void hand_over(struct turn *turn, struct waiter *w)
{
	turn->hold = w->hold;
	turn->waiter = NULL;
	ku_hold_grant(turn->hold, turn->place, released, turn);
	dequeue(w, KUSTOS_OK);
}

/* May the next thread have it without another process's having its turn? */
static bool may_hand_over(const struct turn *turn)
{
	const struct kustos_mutex *mutex = turn->mutex;

	return mutex->first != NULL && turn->handed < mutex->local_handoffs &&
		ku_recipe_now(mutex->client) - turn->granted_ns < LOCAL_NS;
}

/* The hold is given back. */
static void released(struct kustos_hold *hold, void *owner)
{
	struct turn *turn = owner;
	struct kustos_mutex *mutex = turn->mutex;

	if (ku_hold_state(hold) != KUSTOS_HOLD_LOST && may_hand_over(turn)) {
		turn->handed++;
		hand_over(turn, mutex->first);
		return;
	}
	mutex->refs++;
	turn_end(turn);
	serve(mutex);
	ku_mutex_put(mutex);
}

static void granted(struct ku_place *place)
{
	struct turn *turn = ku_place_owner(place);
	struct waiter *w = turn->waiter != NULL ? turn->waiter
						: turn->mutex->first;

	turn->granted_ns = ku_recipe_now(turn->mutex->client);
	hand_over(turn, w); /* with nobody waiting there is no turn */
}

static void failed(struct ku_place *place, enum kustos_err err)
{
	struct turn *turn = ku_place_owner(place);
	struct kustos_mutex *mutex = turn->mutex;
	struct waiter *w = turn->waiter != NULL ? turn->waiter : mutex->first;
	bool once = turn->once;

	mutex->refs++;
	turn_end(turn);
	/* Whoever came for a single try may have gone meanwhile. */
	if (w != NULL && (!once || w->once))
		dequeue(w, err);
	serve(mutex);
	ku_mutex_put(mutex);
}

static void lost(struct ku_place *place)
{
	struct turn *turn = ku_place_owner(place);
	struct kustos_mutex *mutex = turn->mutex;

	if (mutex->turn == turn)
		mutex->turn = NULL; /* it ends when its hold is released */
	ku_hold_lose(turn->hold);
	serve(mutex);
}

static void call_on_revoke(void *arg, struct kustos_hold *hold)
{
	struct kustos_mutex *mutex = arg;
	struct kustos_client *client = mutex->client;

	ku_recipe_lock(client);
	bool wanted = !mutex->destroyed;
	if (wanted) {
		mutex->refs++;
		mutex->telling = true;
		mutex->teller = pthread_self();
	}
	ku_recipe_unlock(client);
	if (!wanted)
		return;
	mutex->on_revoke(mutex->on_revoke_arg, hold);
	ku_recipe_lock(client);
	mutex->telling = false;
	ku_recipe_wake(client);
	ku_mutex_put(mutex);
	ku_recipe_unlock(client);
}

static void revoked(struct ku_place *place)
{
	struct turn *turn = ku_place_owner(place);

	/* Whoever asks waits for the node to go, so threads that hand it over
	   among themselves would make fun of the request. */
	turn->handed = turn->mutex->local_handoffs;
	if (!turn->mutex->destroyed)
		ku_hold_ask(turn->hold, call_on_revoke, turn->mutex);
}

const struct ku_place_events ku_mutex_events = { granted, failed, lost,
	revoked };

enum kustos_err ku_mutex_enter(struct waiter *w)
{
	struct kustos_mutex *mutex = w->mutex;
	bool own = mutex->local_handoffs == 0;

	if (mutex->destroyed)
		return KUSTOS_ECLOSED;
	if (w->once && !own && mutex->turn != NULL)
		return KUSTOS_EBUSY;
	if (own || mutex->turn == NULL) {
		enum kustos_err err = turn_begin(mutex, own ? w : NULL,
			w->once);

		if (err != KUSTOS_OK)
			return err;
	}
	enqueue(w);
	return KUSTOS_OK;
}

void ku_mutex_give_up(struct waiter *w, enum kustos_err why)
{
	struct kustos_mutex *mutex = w->mutex;
	struct turn *turn = w->turn;

	mutex->refs++;
	dequeue(w, why);
	if (turn == NULL && mutex->first == NULL && mutex->turn != NULL &&
		mutex->turn->hold == NULL)
		turn = mutex->turn; /* nobody wants it any more */
	if (turn != NULL)
		turn_end(turn);
	ku_mutex_put(mutex);
}
