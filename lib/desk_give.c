/* desk_give.c - items that were lent are given back or acknowledged. */

#include "desk_impl.h"

#include <stdlib.h>

const struct kustos_item *ku_lent_item(const struct ku_lent *lent)
{
	return lent->item;
}

int ku_lent_deliveries(const struct ku_lent *lent)
{
	return lent->deliveries;
}

struct kustos_hold *ku_lent_hold(const struct ku_lent *lent)
{
	return lent->hold;
}

/* Release the hold: from here on no callback tells of it.  Called without the
   lock. */
static void end_hold(struct ku_lent *lent)
{
	struct kustos_client *client = lent->desk->client;

	ku_lock(client);
	struct kustos_hold *hold = lent->hold;
	lent->hold = NULL;
	ku_unlock(client);
	(void)ku_hold_release(hold);
}

/* The hold was released: give the item back.  Called without the lock. */
static void give_back(struct ku_lent *lent)
{
	struct kustos_client *client = lent->desk->client;

	ku_lock(client);
	struct ku_desk *desk = lent->desk;
	ku_desk_get(desk);
	ku_lent_free(lent);
	ku_desk_relook(desk);
	ku_desk_pump(desk);
	ku_desk_put(desk);
	ku_unlock(client);
}

void ku_lent_return(struct ku_lent *lent)
{
	if (lent == NULL || ku_forked(&lent->desk->client->fork))
		return;
	end_hold(lent);
	give_back(lent);
}

void ku_lent_given(struct ku_lent *lent, enum kustos_err err)
{
	struct ku_desk *desk = lent->desk;
	struct ku_giver *giver = lent->giver;

	ku_desk_get(desk);
	/* The item was not deleted, so it may be in the queue. */
	if (err != KUSTOS_OK)
		ku_desk_relook(desk);
	ku_lent_free(lent);
	if (giver != NULL) {
		giver->lent = NULL;
		ku_wait_end(&giver->wait, err);
	}
	ku_desk_pump(desk);
	ku_desk_put(desk);
}

static enum kustos_err start(struct ku_wait *wait)
{
	struct ku_giver *giver = (struct ku_giver *)wait;
	struct ku_lent *lent = giver->lent;

	if (wait->once && !ku_session_ready(wait->client))
		return KUSTOS_EDISCONNECTED;
	lent->giver = giver;
	enum kustos_err err = giver->how == KU_ACK_AGAIN
		? ku_custody_again(lent->custody)
		: ku_custody_ack(lent->custody);
	if (err != KUSTOS_OK)
		lent->giver = NULL;
	return err;
}

/* The caller waits no longer, but the ack goes on. */
static void give_up(struct ku_wait *wait, enum kustos_err why)
{
	struct ku_giver *giver = (struct ku_giver *)wait;

	giver->lent->giver = NULL;
	giver->lent = NULL;
	ku_wait_end(wait, why);
}

void ku_givers_away(struct ku_desk *desk)
{
	for (struct ku_lent *l = desk->first; l != NULL; l = l->next)
		if (l->giver != NULL && l->giver->wait.once)
			give_up(&l->giver->wait, KUSTOS_ETIMEDOUT);
}

static void tell(struct ku_wait *wait)
{
	struct ku_giver *giver = (struct ku_giver *)wait;

	if (giver->done != NULL)
		giver->done(giver->arg, wait->err);
	free(giver);
}

static const struct ku_wait_calls calls = { .start = start,
	.give_up = give_up,
	.tell = tell };

static void prepare(struct ku_giver *giver, struct ku_lent *lent,
	enum ku_ack how)
{
	giver->wait.client = lent->desk->client;
	giver->wait.calls = &calls;
	giver->lent = lent;
	giver->how = how;
}

enum kustos_err ku_lent_ack(struct ku_lent *lent, enum ku_ack how,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	struct ku_giver giver = { .lent = NULL };

	if (ku_forked(&lent->desk->client->fork))
		return KUSTOS_EFORKED;
	end_hold(lent);
	prepare(&giver, lent, how);
	enum kustos_err err = ku_wait_block(&giver.wait, deadline, cancel);
	/* If "lent" is NULL, the ack has ended, or goes on by itself. */
	if (err != KUSTOS_OK && giver.lent != NULL)
		give_back(lent);
	return err;
}

enum kustos_err ku_lent_ack_async(struct ku_lent *lent, enum ku_ack how,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	if (ku_forked(&lent->desk->client->fork))
		return KUSTOS_EFORKED;
	struct ku_giver *giver = calloc(1, sizeof(*giver));
	enum kustos_err err = KUSTOS_ENOMEM;
	end_hold(lent);
	if (giver != NULL) {
		prepare(giver, lent, how);
		giver->done = done;
		giver->arg = arg;
		err = ku_wait_async(&giver->wait, deadline, cancel);
	}
	if (err == KUSTOS_OK)
		return KUSTOS_OK;
	free(giver);
	give_back(lent);
	return err;
}
