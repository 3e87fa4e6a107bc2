/* queue_catch.c - items of a queue that are being read. */

#include "item.h"
#include "queue_impl.h"

#include <stdlib.h>
#include <string.h>

/* The pause before an item is read again when the server gave no answer. */
#define PUT_OFF_MS 100

void ku_catches_init(struct ku_catches *list)
{
	list->first = NULL;
	list->end = &list->first;
	list->count = 0;
}

void ku_catch_append(struct ku_catches *list, struct ku_catch *c)
{
	c->next = NULL;
	*list->end = c;
	list->end = &c->next;
	list->count++;
}

struct ku_catch *ku_catch_pop(struct ku_catches *list)
{
	struct ku_catch *c = list->first;

	list->first = c->next;
	if (list->first == NULL)
		list->end = &list->first;
	list->count--;
	return c;
}

static void catch_free(struct ku_catch *c)
{
	struct ku_queue *q = c->queue;

	kustos_item_free(c->got);
	free(c);
	ku_queue_drop(q);
}

void ku_catch_drop(struct ku_catch *c)
{
	c->dropped = true;
	(void)ku_wire_withdraw(c->queue->client, &c->request);
	if (!ku_request_busy(&c->request))
		catch_free(c);
}

struct kustos_item *ku_catch_open(struct ku_catch *c)
{
	struct kustos_item *item = c->got;

	c->got = NULL;
	ku_catch_drop(c);
	return item;
}

/* Take an item out of the list that it is in. */
static void take_out(struct ku_catches *list, struct ku_catch *c)
{
	struct ku_catch **at = &list->first;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	if (list->end == &c->next)
		list->end = at;
	list->count--;
}

/* The node is no item, or has children: leave it where it is. */
static void unfit(struct ku_catch *c, const struct kustos_stat *stat)
{
	struct ku_queue *q = c->queue;
	bool known = ku_take_pass_over(q, c->item.name, stat);

	ku_queue_get(q);
	take_out(&q->take.caught, c);
	catch_free(c);
	if (!known)
		ku_take_fail(q, KUSTOS_ENOMEM);
	ku_take_step(q);
	ku_queue_drop(q);
}

static void ask(struct ku_catch *c);

/* There was no answer: read the item again in a moment, or once connected. */
static void ask_again(struct ku_catch *c)
{
	struct kustos_client *client = c->queue->client;
	struct ku_timer *pause = &c->queue->take.pause;

	if (!ku_session_ready(client)) {
		ask(c);
		return;
	}
	c->put_off = true;
	if (!ku_timer_is_set(pause))
		ku_set_timer_ms(client, pause, PUT_OFF_MS);
}

static void pause_over(struct ku_timer *timer)
{
	struct ku_queue *q = KU_OWNER(struct ku_queue, take.pause, timer);

	if (q->over) {
		ku_queue_get(q); /* the first call may end it */
		ku_queue_return(q);
		ku_queue_end_if_idle(q);
		ku_queue_drop(q);
		return;
	}
	if (q->client->closing != KU_OPEN)
		return; /* no call waits for an item any more */
	for (struct ku_catch *c = q->take.caught.first; c != NULL; c = c->next)
		if (c->put_off) {
			c->put_off = false;
			ask(c);
		}
}

/* The item could not be read.  If another has taken it, or we may not read it,
   drop it.  Otherwise it remains the next: put it back. */
static void not_had(struct ku_catch *c, enum kustos_err err)
{
	struct ku_queue *q = c->queue;
	bool stays = err != KUSTOS_ENONODE && err != KUSTOS_ENOAUTH;

	ku_queue_get(q);
	if (err == KUSTOS_ENOAUTH)
		ku_take_deny(q, c->item.name);
	q->take.gone += err == KUSTOS_ENONODE && !c->own;
	if (stays) {
		ku_take_put_back(q);
	} else {
		take_out(&q->take.caught, c);
		catch_free(c);
	}
	if (err != KUSTOS_ENONODE)
		ku_take_fail(q, err);
	ku_take_step(q);
	ku_queue_drop(q);
}

static void answered(struct ku_request *request,
	const struct ku_zk_reply *reply)
{
	struct ku_catch *c = request->owner;
	struct ku_queue *q = c->queue;
	enum ku_outcome outcome = ku_outcome(reply->rc);

	ku_take_heard(q);
	if (c->dropped) {
		catch_free(c);
		return;
	}
	if (outcome == KU_OUTCOME_DONE &&
		(reply->stat->num_children > 0 || /* it cannot be deleted */
			!ku_item_fits(q->kind, reply->data, reply->len))) {
		unfit(c, reply->stat);
		return;
	}
	if (outcome == KU_OUTCOME_DONE) {
		c->got = ku_item_make(q->kind, &c->item, reply->data,
			reply->len, reply->stat->ctime_ms);
		c->version = reply->stat->version;
		c->era = q->take.era;
	}
	if (c->got != NULL) {
		q->take.gone = 0;
		ku_take_step(q);
	} else if (outcome == KU_OUTCOME_DONE ||
		outcome == KU_OUTCOME_REFUSED) {
		not_had(c,
			outcome == KU_OUTCOME_DONE ? KUSTOS_ENOMEM
						   : ku_rc_err(reply->rc));
	} else {
		ask_again(c);
		ku_take_fail_tries(q, KUSTOS_EDISCONNECTED);
	}
}

/* If the client is not connected this waits until it is. */
static void ask(struct ku_catch *c)
{
	c->request.owner = c;
	c->request.done = answered;
	ku_wire_read(c->queue->client, &c->request, KU_ZK_GET, c->path, false);
}

bool ku_catch_read(struct ku_queue *q, const struct ku_item *item)
{
	size_t path = strlen(q->path), name = strlen(item->name);
	struct ku_catch *c = calloc(1, sizeof(*c) + path + name + 2);

	if (c == NULL)
		return false;
	c->queue = q;
	c->item = *item;
	memcpy(c->path, q->path, path);
	c->path[path] = '/';
	memcpy(c->path + path + 1, item->name, name + 1);
	ku_queue_get(q);
	ku_catch_append(&q->take.caught, c);
	ask(c);
	return true;
}

void ku_catch_init(struct ku_queue *q)
{
	ku_catches_init(&q->take.caught);
	ku_catches_init(&q->take.taking);
	ku_catches_init(&q->take.taken);
	q->take.pause.fn = pause_over;
}

void ku_catch_end(struct ku_queue *q)
{
	while (q->take.caught.count > 0)
		ku_catch_drop(ku_catch_pop(&q->take.caught));
	ku_timer_unset(&q->client->timers, &q->take.pause);
}

void ku_catch_finish(struct ku_queue *q)
{
	ku_timer_unset(&q->client->timers, &q->take.pause);
}
