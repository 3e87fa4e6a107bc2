/* desk_lend.c - callers that wait for an item, and get one. */

#include "desk_impl.h"

#include <stdlib.h>

static struct ku_borrower *borrower_of(struct ku_wait *wait)
{
	return (struct ku_borrower *)wait;
}

static void end(struct ku_borrower *b, enum kustos_err err)
{
	struct ku_desk *desk = b->desk;

	KU_ROW_REMOVE(desk->asking, desk->asking_last, b);
	ku_wait_end(&b->wait, err);
}

void ku_desk_fail(struct ku_desk *desk, enum kustos_err err)
{
	while (desk->asking != NULL)
		end(desk->asking, err);
}

void ku_desk_fail_tries(struct ku_desk *desk, enum kustos_err err)
{
	struct ku_borrower *next;

	for (struct ku_borrower *b = desk->asking; b != NULL; b = next) {
		next = b->next;
		if (b->wait.once && b->since < desk->items.asked)
			end(b, err);
	}
}

bool ku_desk_tell_empty(struct ku_desk *desk)
{
	struct ku_borrower *next;
	bool others = false;

	for (struct ku_borrower *b = desk->asking; b != NULL; b = next) {
		next = b->next;
		if (b->wait.once && b->since >= desk->items.asked)
			others = true;
		else if (b->wait.once && ku_desk_knows_marks(desk, b->marks))
			end(b, KUSTOS_EEMPTY);
	}
	return others;
}

void ku_desk_away(struct ku_desk *desk)
{
	struct ku_borrower *next;
	bool any = false;

	for (struct ku_borrower *b = desk->asking; b != NULL; b = next) {
		next = b->next;
		any = any || b->wait.once;
		if (b->wait.once)
			end(b, KUSTOS_EDISCONNECTED);
	}
	if (any)
		ku_desk_pump(desk);
}

static struct ku_lent *first_ready(const struct ku_desk *desk)
{
	struct ku_lent *lent = desk->first;

	while (lent != NULL && lent->state != KU_LENT_READY)
		lent = lent->next;
	return lent;
}

/* A borrower may have given up, so that more items are ready than are wanted:
   give back the newest. */
static void return_surplus(struct ku_desk *desk)
{
	struct ku_lent *prev;

	for (struct ku_lent *l = desk->last;
		l != NULL && desk->ready > desk->ahead; l = prev) {
		prev = l->prev;
		if (l->state == KU_LENT_READY) {
			ku_lent_free(l);
			ku_desk_relook(desk);
		}
	}
}

void ku_desk_serve(struct ku_desk *desk)
{
	while (desk->asking != NULL && desk->ready > 0) {
		struct ku_borrower *b = desk->asking;
		struct ku_lent *lent = first_ready(desk);

		desk->ready--;
		lent->state = KU_LENT_OUT;
		b->lent = lent;
		end(b, KUSTOS_OK);
	}
	return_surplus(desk);
}

static enum kustos_err start(struct ku_wait *wait)
{
	struct ku_borrower *b = borrower_of(wait);
	struct ku_desk *desk = b->desk;

	if (desk->ended)
		return KUSTOS_ECLOSED;
	if (b->wait.once && !ku_session_ready(desk->client))
		return KUSTOS_EDISCONNECTED;
	b->since = desk->items.asked;
	b->marks = desk->marks.asked;
	KU_ROW_APPEND(desk->asking, desk->asking_last, b);
	if (b->wait.once && ku_head_count(&desk->head) == 0) {
		ku_desk_relook(desk);
		desk->marks.blind = false;
	}
	ku_desk_serve(desk);
	ku_desk_pump(desk);
	return KUSTOS_OK;
}

static void give_up(struct ku_wait *wait, enum kustos_err why)
{
	struct ku_desk *desk = borrower_of(wait)->desk;

	end(borrower_of(wait), why);
	ku_desk_pump(desk);
}

static void tell(struct ku_wait *wait)
{
	struct ku_borrower *b = borrower_of(wait);
	struct kustos_client *client = wait->client;
	enum kustos_err err = wait->err;

	ku_lock(client);
	bool closing = client->closing != KU_OPEN;
	ku_unlock(client);
	if (err == KUSTOS_OK && closing) {
		ku_lent_return(b->lent);
		err = KUSTOS_ECLOSED;
	}
	b->done(b->arg, err, err == KUSTOS_OK ? b->lent : NULL);
	free(b);
}

static const struct ku_wait_calls calls = { .start = start,
	.give_up = give_up,
	.tell = tell };

static void prepare(struct ku_borrower *b, struct ku_desk *desk)
{
	b->desk = desk;
	b->wait.client = desk->client;
	b->wait.calls = &calls;
}

enum kustos_err ku_desk_lend(struct ku_desk *desk, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct ku_lent **out)
{
	struct ku_borrower b = { .desk = desk };

	prepare(&b, desk);
	enum kustos_err err = ku_wait_block(&b.wait, deadline, cancel);
	if (err == KUSTOS_OK)
		*out = b.lent;
	return err;
}

enum kustos_err ku_desk_lend_async(struct ku_desk *desk,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	ku_lend_fn *done, void *arg)
{
	struct ku_borrower *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return KUSTOS_ENOMEM;
	prepare(b, desk);
	b->done = done;
	b->arg = arg;
	enum kustos_err err = ku_wait_async(&b->wait, deadline, cancel);
	if (err != KUSTOS_OK)
		free(b);
	return err;
}
