/*
 * queue_order.c - which item is next, where that is not just the first of the
 * head.  In a queue with keys a later item may belong before others, an item
 * may not be due yet, and a node may be no item after all.
 */

#include "queue_impl.h"

#include <stdlib.h>
#include <string.h>

/* Look at the clock at least this often while an item is not due: it may be
   set. */
#define CLOCK_MS 60000

bool ku_queue_keyed(const struct ku_queue *q)
{
	return ku_item_keyed(q->kind);
}

void ku_take_listed(struct ku_queue *q, const struct kustos_stat *stat)
{
	ku_others_listed(&q->take.others, stat);
	q->take.chosen = 0;
	q->take.gone = 0;
}

static void told(struct ku_others *others, bool answered)
{
	struct ku_queue *q = others->owner;

	if (!others->none)
		ku_head_free(&q->take.head);
	if (!answered)
		ku_take_fail_tries(q, KUSTOS_EDISCONNECTED);
	if (!q->over)
		ku_take_step(q);
	ku_queue_drop(q);
}

/* Is it worth asking whether the listing is still true, instead of listing
   again?  Not where others are known to take, nor if the listing is no larger
   than the question. */
static bool is_worth_asking(struct ku_queue *q)
{
	return q->take.spread == 0 &&
		ku_head_count(&q->take.head) >= KU_OTHERS_FROM &&
		ku_take_due(q, 0);
}

static bool is_spent(const struct ku_queue *q)
{
	return ku_head_is_spent(&q->take.head, q->take.gone);
}

bool ku_take_stale(const struct ku_queue *q)
{
	const struct ku_take_side *take = &q->take;
	bool keyed = ku_queue_keyed(q) && take->stale &&
		(q->patience == 0 || take->chosen > q->patience);

	return keyed || is_spent(q);
}

bool ku_take_refresh(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;

	if (ku_others_asked(&take->others))
		return false;
	if (!ku_take_stale(q) || take->others.none)
		return true;
	if (!is_spent(q) && is_worth_asking(q)) {
		ku_queue_get(q);
		ku_others_ask(&take->others);
		return false;
	}
	ku_head_free(&take->head);
	return true;
}

bool ku_take_due(struct ku_queue *q, size_t index)
{
	const struct ku_item *item = ku_head_at(&q->take.head, index);
	int64_t left = 0;

	if (q->kind == KU_ITEM_DELAY && item != NULL)
		left = (int64_t)item->key - ku_wall_ms(&q->client->env.clock);
	if (left <= 0)
		return item != NULL;
	if (left > CLOCK_MS)
		left = CLOCK_MS;
	ku_set_timer_ms(q->client, &q->take.due, left);
	return false;
}

void ku_take_watch_unfit(struct ku_queue *q)
{
	struct ku_take_side *take = &q->take;

	if (take->unfits.count > 0 && !ku_timer_is_set(&take->due))
		ku_set_timer(q->client, &take->due,
			ku_unfits_next(&take->unfits, ku_now(q->client)));
}

static void due(struct ku_timer *timer)
{
	struct ku_queue *q = KU_OWNER(struct ku_queue, take.due, timer);
	struct ku_take_side *take = &q->take;

	if (!take->busy && take->caught.count == 0 &&
		ku_unfits_due(&take->unfits, ku_now(q->client))) {
		ku_head_free(&take->head);
		take->blank = false;
	}
	ku_take_step(q);
}

void ku_order_init(struct ku_queue *q)
{
	q->take.others.client = q->client;
	q->take.others.path = q->path;
	q->take.others.told = told;
	q->take.others.owner = q;
	q->take.due.fn = due;
}

void ku_order_end(struct ku_queue *q)
{
	if (ku_others_end(&q->take.others))
		ku_queue_drop(q);
	ku_timer_unset(&q->client->timers, &q->take.due);
}

/* Nodes that are no items */

struct news {		     /* for the program */
	struct ku_call call; /* first */
	struct ku_queue *queue;
	char name[];
};

static void tell(struct kustos_client *client, struct ku_call *call)
{
	struct news *news = (struct news *)call;
	struct ku_queue *q = news->queue;

	if (!q->over) {
		struct ku_inside self;

		ku_inside_enter(client, &q->inside, &self);
		q->unfit(q->unfit_arg, news->name);
		ku_inside_leave(client, &q->inside, &self);
	}
	free(news);
	ku_queue_drop(q);
}

static struct news *make_news(struct ku_queue *q, const char *name)
{
	struct news *news = malloc(sizeof(*news) + strlen(name) + 1);

	if (news == NULL)
		return NULL;
	memset(news, 0, sizeof(*news));
	news->call.fn = tell;
	news->queue = q;
	strcpy(news->name, name);
	return news;
}

bool ku_take_skips(const void *arg, const struct ku_item *item)
{
	struct ku_queue *q = (struct ku_queue *)arg;

	return ku_unfits_have(&q->take.unfits, item->name, ku_now(q->client));
}

bool ku_take_pass_over(struct ku_queue *q, const char *name,
	const struct kustos_stat *stat)
{
	struct news *news = NULL;

	/* Make the news first: an item that is kept is not told of again. */
	if (q->unfit != NULL && (news = make_news(q, name)) == NULL)
		return false;
	enum ku_unfit_news what = ku_unfits_keep(&q->take.unfits, name, stat,
		ku_now(q->client));

	if (news != NULL && what == KU_UNFIT_NEW) {
		ku_queue_get(q);
		ku_dispatch_push(q->client, &news->call, KU_ORDINARY);
	} else {
		free(news);
	}
	return what != KU_UNFIT_SHORT;
}

void ku_take_deny(struct ku_queue *q, const char *name)
{
	const struct kustos_stat none = { .version = 0 };

	/* If memory is short, it is listed and read again. */
	(void)ku_unfits_keep(&q->take.unfits, name, &none, ku_now(q->client));
}

void ku_order_free(struct ku_queue *q)
{
	ku_unfits_forget_all(&q->take.unfits);
}
