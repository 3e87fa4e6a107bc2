/* desk_try.c - tries for items, and what becomes of them. */

#include "desk_impl.h"

#include <stdlib.h>
#include <string.h>

/* However often a consumer is beaten, it chooses from no more than this. */
#define SPREAD_MAX 128

/* Is this item tried for, ready, or lent? */
static bool has(const struct ku_desk *desk, const struct ku_item *item)
{
	for (const struct ku_lent *l = desk->first; l != NULL; l = l->next)
		if (l->number == item->number && l->state != KU_LENT_LOST &&
			strcmp(ku_custody_name(l->custody), item->name) == 0)
			return true;
	return false;
}

bool ku_desk_knows(struct ku_desk *desk, const struct ku_item *item)
{
	return ku_unfits_have(&desk->unfits, item->name,
		       ku_now(desk->client)) ||
		has(desk, item);
}

void ku_lent_free(struct ku_lent *lent)
{
	struct ku_desk *desk = lent->desk;

	desk->tried -= lent->state == KU_LENT_TRIED;
	desk->ready -= lent->state == KU_LENT_READY;
	KU_ROW_REMOVE(desk->first, desk->last, lent);
	if (lent->custody != NULL)
		ku_custody_leave(lent->custody);
	/* Its marker goes, but the server has not told us yet. */
	desk->marks.current = false;
	desk->marks.blind = false;
	ku_hold_free(lent->hold);
	kustos_item_free(lent->item);
	free(lent->news);
	free(lent);
	ku_desk_put(desk);
}

static void beaten(struct ku_desk *desk)
{
	desk->spread = 2 * desk->spread + 3;
	if (desk->spread > SPREAD_MAX)
		desk->spread = SPREAD_MAX;
}

/* Pass this item over; if memory is short, it is tried again instead.  Returns
   whether the program has not been told yet. */
static bool pass_over(struct ku_desk *desk, const char *name,
	const struct kustos_stat *stat)
{
	enum ku_unfit_news what = ku_unfits_keep(&desk->unfits, name, stat,
		ku_now(desk->client));

	if (what == KU_UNFIT_SHORT) {
		ku_desk_relook(desk);
		ku_desk_rest(desk);
	}
	return what == KU_UNFIT_NEW;
}

static void unfit(struct ku_lent *lent, enum ku_missed how)
{
	const struct ku_custody *c = lent->custody;
	bool moved = how != KU_MISSED_LEFT;

	if (!moved &&
		!pass_over(lent->desk, ku_custody_name(c), ku_custody_stat(c)))
		return;
	if (lent->news == NULL || lent->desk->ended)
		return;
	ku_news_tell(lent->news,
		how == KU_MISSED_DEAD ? KU_UNFIT_DEAD : KU_UNFIT_CORRUPT,
		moved);
	lent->news = NULL;
}

/* The item is kept without a stat, as the program is not told of it as unfit.
   So if nobody can have it later, the program is told then. */
void ku_desk_deny(struct ku_desk *desk, const char *name)
{
	const struct kustos_stat none = { .version = 0 };

	(void)pass_over(desk, name, &none);
}

/* Draw the consequences for the desk. */
static void learn(struct ku_lent *lent, enum ku_missed how, enum kustos_err err)
{
	struct ku_desk *desk = lent->desk;
	const char *name = ku_custody_name(lent->custody);

	switch (how) {
	case KU_MISSED_TAKEN:
		desk->blocked = true;
		beaten(desk);
		break;
	case KU_MISSED_GONE:
		beaten(desk);
		desk->gone++;
		if (ku_head_is_spent(&desk->head, desk->gone))
			ku_desk_relook(desk);
		break;
	case KU_MISSED_DEAD:
	case KU_MISSED_CORRUPT:
	case KU_MISSED_LEFT:
		unfit(lent, how);
		break;
	case KU_MISSED_MARKS:
		ku_desk_relook(desk);
		ku_desk_make_folder(desk, desk->depot->marks, NULL);
		break;
	case KU_MISSED_DEADS:
	case KU_MISSED_CORRUPTS:
		ku_desk_relook(desk);
		ku_desk_make_folder(desk,
			how == KU_MISSED_DEADS ? desk->depot->dead
					       : desk->depot->corrupt,
			name);
		break;
	case KU_MISSED_LOST:
		ku_desk_relook(desk);
		break;
	case KU_MISSED_LATER:
		ku_desk_relook(desk);
		ku_desk_rest(desk);
		break;
	case KU_MISSED_DENIED:
		ku_desk_deny(desk, name);
		ku_desk_fail(desk, err);
		break;
	case KU_MISSED_REFUSED:
		ku_desk_relook(desk);
		ku_desk_rest(desk);
		ku_desk_fail(desk, err);
		break;
	}
}

static void missed(struct ku_custody *c, enum ku_missed how,
	enum kustos_err err)
{
	struct ku_lent *lent = ku_custody_owner(c);
	struct ku_desk *desk = lent->desk;

	ku_desk_get(desk);
	learn(lent, how, err);
	ku_lent_free(lent);
	/* The server's pause may be long: do not keep these callers waiting. */
	if (how == KU_MISSED_LATER && desk->tried == 0)
		ku_desk_fail_tries(desk, err);
	ku_desk_pump(desk);
	ku_desk_put(desk);
}

/* The hold's release does nothing: the item is the program's until given
   back. */
static void released(struct kustos_hold *hold, void *owner)
{
	(void)hold;
	(void)owner;
}

static void claimed(struct ku_custody *c)
{
	struct ku_lent *lent = ku_custody_owner(c);
	struct ku_desk *desk = lent->desk;
	struct ku_custody_view view;

	ku_custody_view(c, &view);
	ku_desk_get(desk);
	desk->spread /= 2;
	desk->gone = 0;
	if (!desk->ended)
		lent->item = ku_custody_open(c);
	if (lent->item == NULL) {
		ku_lent_free(lent); /* this gives it back */
		ku_desk_relook(desk);
		ku_desk_rest(desk);
	} else {
		desk->tried--;
		desk->ready++;
		lent->state = KU_LENT_READY;
		lent->deliveries = view.deliveries;
		ku_hold_grant(lent->hold,
			&(struct ku_grant){
				.path = view.mark,
				.check = view.check,
				.token = view.token,
				.release = released,
				.owner = lent,
			});
	}
	ku_desk_serve(desk);
	ku_desk_pump(desk);
	ku_desk_put(desk);
}

static void lost(struct ku_custody *c)
{
	struct ku_lent *lent = ku_custody_owner(c);
	struct ku_desk *desk = lent->desk;

	ku_desk_get(desk);
	ku_desk_relook(desk);
	if (lent->state == KU_LENT_READY) {
		ku_lent_free(lent);
	} else {
		lent->state = KU_LENT_LOST;
		if (lent->hold != NULL)
			ku_hold_lose(lent->hold);
	}
	ku_desk_pump(desk);
	ku_desk_put(desk);
}

static void ended(struct ku_custody *c, enum kustos_err err)
{
	ku_lent_given(ku_custody_owner(c), err);
}

static void paused(struct ku_custody *c)
{
	struct ku_lent *lent = ku_custody_owner(c);

	ku_desk_pump(lent->desk);
}

static bool is_wanted(struct ku_custody *c)
{
	const struct ku_lent *lent = ku_custody_owner(c);

	return ku_desk_wants(lent->desk, lent);
}

static const struct ku_custody_calls calls = {
	.paused = paused,
	.wanted = is_wanted,
	.claimed = claimed,
	.missed = missed,
	.lost = lost,
	.ended = ended,
};

bool ku_desk_try(struct ku_desk *desk, const struct ku_item *item)
{
	struct ku_lent *lent = calloc(1, sizeof(*lent));

	if (lent == NULL)
		return false;
	lent->desk = desk;
	lent->number = item->number;
	KU_ROW_APPEND(desk->first, desk->last, lent);
	desk->tried++;
	ku_desk_get(desk);
	lent->hold = ku_hold_new(desk->client);
	if (desk->unfit != NULL)
		lent->news = ku_news_new(desk, item->name);
	if (lent->hold != NULL && (lent->news != NULL || desk->unfit == NULL) &&
		ku_custody_take(desk->depot, item->name, &calls, lent,
			&lent->custody) == KUSTOS_OK)
		return true;
	ku_lent_free(lent);
	return false;
}
