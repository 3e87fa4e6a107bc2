/* desk_look.c - which items there are, and which of them others have. */

#include "desk_impl.h"

#define REST_MS 100

/* How many more items are wanted than are ready or tried for: below 0, if fewer
   are.  Those that are put off do not count as tried for. */
static int64_t balance(const struct ku_desk *desk)
{
	int64_t wanted = desk->ended
		? 0
		: (int64_t)desk->ahead - desk->ready - desk->tried;

	/* From the end, where the newest are: the items that are tried for. */
	int left = desk->tried;
	for (const struct ku_lent *l = desk->last; left > 0; l = l->prev)
		if (l->state == KU_LENT_TRIED) {
			wanted += ku_custody_is_put_off(l->custody);
			left--;
		}
	for (const struct ku_borrower *b = desk->asking; b != NULL; b = b->next)
		wanted++;
	return wanted;
}

bool ku_desk_wants(const struct ku_desk *desk, const struct ku_lent *lent)
{
	int64_t wanted = balance(desk);

	if (ku_custody_is_put_off(lent->custody))
		return wanted > 0;
	/* If too many are tried for, the newest are not wanted. */
	for (const struct ku_lent *l = lent; l != NULL; l = l->next)
		wanted += l->state == KU_LENT_TRIED &&
			!ku_custody_is_put_off(l->custody);
	return wanted > 0;
}

int ku_desk_wanted(const struct ku_desk *desk)
{
	int64_t wanted = balance(desk);

	if (wanted > KU_DESK_TRIES - desk->tried)
		wanted = KU_DESK_TRIES - desk->tried;
	return wanted > 0 ? (int)wanted : 0;
}

static bool is_marked(const struct ku_desk *desk, const char *name)
{
	return desk->marked != NULL && ku_names_have(desk->marked, name);
}

/* Return in how many ms the item is due; 0 or less: it is due. */
static int64_t due_in(const struct ku_desk *desk, const struct ku_item *item)
{
	if (desk->depot->kind != KU_ITEM_DELAY)
		return 0;
	return (int64_t)item->key - ku_wall_ms(&desk->client->env.clock);
}

/* Return whether the item is due.  If not, set the timer so that it is looked
   at then. */
static bool is_due(struct ku_desk *desk, const struct ku_item *item)
{
	int64_t left = due_in(desk, item);

	if (left <= 0)
		return true;
	if (left > 60000)
		left = 60000; /* the clock may be set */
	if (!desk->resting)   /* else this is asked again after the rest */
		ku_set_timer_ms(desk->client, &desk->timer, left);
	return false;
}

/* Choose among the first few that are due. */
static size_t some_index(struct ku_desk *desk)
{
	const struct ku_item *item;
	size_t index = (size_t)ku_random_below(&desk->client->random,
		desk->spread + 1);

	for (; index > 0; index /= 2) {
		item = ku_head_at(&desk->head, index);
		if (item != NULL && due_in(desk, item) <= 0)
			break;
	}
	return index;
}

static void cannot_read(struct ku_desk *desk)
{
	ku_desk_fail_tries(desk, KUSTOS_EDISCONNECTED);
}

/* May an item have come meanwhile that belongs before those in the head? */
static bool is_stale(const struct ku_desk *desk)
{
	bool keyed = ku_item_keyed(desk->depot->kind);
	bool enough = desk->chosen > desk->stale ||
		(desk->changed && desk->stale == 0);

	return keyed && !desk->items.current && enough &&
		!desk->depot->others.none;
}

/* Is it worth asking whether others have changed the items, before listing all
   again?  Not where others are known to be there: an item that they give back
   changes no list of items. */
static bool is_worth_asking(struct ku_desk *desk)
{
	return desk->spread == 0 && !desk->blocked && !desk->items.wanted &&
		ku_head_count(&desk->head) >= KU_OTHERS_FROM &&
		is_due(desk, ku_head_at(&desk->head, 0));
}

static void told(struct ku_others *others, bool answered)
{
	struct ku_desk *desk = others->owner;

	if (!others->none)
		ku_desk_relook(desk);
	if (!answered) {
		desk->items.asked++; /* counts as a listing for all borrowers */
		cannot_read(desk);
	}
	ku_desk_pump(desk);
	ku_desk_put(desk);
}

/* May an item that was chosen before have to be tried again, and would then
   come behind one that is chosen now? */
static bool is_unsure(const struct ku_desk *desk)
{
	for (const struct ku_lent *l = desk->first; l != NULL; l = l->next)
		if (l->state == KU_LENT_TRIED &&
			ku_custody_is_unsure(l->custody))
			return true;
	return false;
}

/* The new listing of markers may come after that of the items, and many markers
   may have gone since the old one. */
bool ku_desk_awaits_marks(const struct ku_desk *desk)
{
	return desk->marked_in != desk->client->session.id &&
		ku_request_busy(&desk->marks.request);
}

/* Return whether the head may be used: it is as current as it has to be, and no
   other item is to be tried before its items. */
static bool is_ready(struct ku_desk *desk)
{
	struct ku_others *others = &desk->depot->others;

	if (!ku_session_ready(desk->client)) {
		ku_desk_relook(desk); /* once connected */
		return false;
	}
	if (is_unsure(desk))
		return false;
	if (ku_desk_awaits_marks(desk))
		return false;
	if (ku_others_asked(others))
		return false;
	if (!is_stale(desk))
		return true;
	if (!is_worth_asking(desk)) {
		ku_desk_relook(desk);
		return true;
	}
	ku_desk_get(desk);
	ku_others_ask(others);
	return false;
}

bool ku_desk_choose(struct ku_desk *desk, struct ku_item *out)
{
	if (!is_ready(desk))
		return false;
	while (!desk->resting && ku_head_at(&desk->head, 0) != NULL) {
		size_t index = some_index(desk);

		if (!is_due(desk, ku_head_at(&desk->head, index)))
			return false;
		*out = ku_head_take(&desk->head, index);
		desk->chosen++;
		if (ku_desk_knows(desk, out))
			continue;
		if (!is_marked(desk, out->name))
			return true;
		desk->blocked = true;
	}
	return false;
}

void ku_desk_rest(struct ku_desk *desk)
{
	desk->resting = true;
	ku_set_timer_ms(desk->client, &desk->timer, REST_MS);
}

static void timer_due(struct ku_timer *timer)
{
	struct ku_desk *desk = KU_OWNER(struct ku_desk, timer, timer);

	desk->resting = false;
	if (ku_unfits_due(&desk->unfits, ku_now(desk->client)))
		ku_desk_relook(desk);
	ku_desk_pump(desk);
}

void ku_desk_relook(struct ku_desk *desk)
{
	ku_head_free(&desk->head);
	desk->items.current = desk->items.blind = false;
}

bool ku_desk_has_listed(const struct ku_desk *desk)
{
	return desk->items.current || desk->items.blind;
}

/* If not, an item that was passed over may be free by now: the event that says
   so, or the listing, is on its way. */
bool ku_desk_knows_marks(const struct ku_desk *desk, uint64_t since)
{
	return !desk->blocked || desk->marks.current || desk->marks.blind ||
		since < desk->marks_shown;
}

void ku_desk_look(struct ku_desk *desk)
{
	/* Markers first: an item that others have then is marked. */
	if (desk->blocked || !desk->items.current)
		ku_mirror_keep(&desk->marks);
	ku_mirror_keep(&desk->items);
	/* Mending an unfit item changes no list of items. */
	if (desk->unfits.count > 0 && !ku_timer_is_set(&desk->timer))
		ku_set_timer(desk->client, &desk->timer,
			ku_unfits_next(&desk->unfits, ku_now(desk->client)));
}

static bool is_refused(const struct ku_zk_reply *reply)
{
	return reply->rc != KU_ZK_OK && reply->rc != KU_ZK_NONODE;
}

/* The listing may be older than the end of an item that was ours: skip that
   item. */
static bool is_known(const void *arg, const struct ku_item *item)
{
	return ku_desk_knows((struct ku_desk *)arg, item);
}

/* Rest, unless the folder cannot be watched: then it is read again in a while,
   if that is still wanted. */
static void rest_if_watched(struct ku_mirror *mirror)
{
	if (!mirror->blind)
		ku_mirror_rest(mirror);
}

static void items_show(struct ku_mirror *mirror,
	const struct ku_zk_reply *reply)
{
	struct ku_desk *desk = mirror->owner;

	desk->changed = reply == NULL;
	if (reply == NULL) {
		if (mirror->wanted) /* read again; and the markers before */
			ku_mirror_want(&desk->marks);
		return;
	}
	if (is_refused(reply)) {
		ku_desk_fail(desk, ku_rc_err(reply->rc));
		return;
	}
	/* Numbers begin anew with the node. */
	if (reply->rc == KU_ZK_OK &&
		reply->stat->czxid != desk->depot->others.czxid)
		ku_unfits_forget_all(&desk->unfits);
	ku_others_listed(&desk->depot->others,
		reply->rc == KU_ZK_OK ? reply->stat : NULL);
	desk->blocked = false;
	desk->chosen = 0;
	desk->gone = 0;
	if (!ku_head_load(&desk->head, desk->depot->kind, reply->names,
		    reply->rc == KU_ZK_OK ? reply->name_count : 0, is_known,
		    desk)) {
		mirror->current = false;
		ku_desk_rest(desk);
	}
	ku_unfits_forget_unlisted(&desk->unfits);
	rest_if_watched(mirror);
	ku_desk_pump(desk);
}

static void marks_show(struct ku_mirror *mirror,
	const struct ku_zk_reply *reply)
{
	struct ku_desk *desk = mirror->owner;

	if (reply == NULL)
		return;
	if (is_refused(reply)) {
		ku_desk_fail(desk, ku_rc_err(reply->rc));
		return;
	}
	desk->marks_shown = mirror->asked;
	kustos_names_free(desk->marked);
	desk->marked_in = desk->client->session.id;
	desk->marked = reply->rc == KU_ZK_OK
		? ku_names_copy(reply->names, reply->name_count)
		: NULL;
	if (desk->marked != NULL)
		ku_names_sort(desk->marked);
	rest_if_watched(mirror);
	/* An item that was passed over may be free now, and those that are left
	   in the head may be due far later. */
	if (desk->blocked)
		desk->items.current = false;
	ku_desk_pump(desk);
}

static void failed(struct ku_mirror *mirror)
{
	cannot_read(mirror->owner);
}

static void over(struct ku_mirror *mirror)
{
	ku_desk_put(mirror->owner);
}

static const struct ku_mirror_calls items_calls = {
	.shows = items_show,
	.over = over,
	.failed = failed,
};
static const struct ku_mirror_calls marks_calls = {
	.shows = marks_show,
	.over = over,
	.failed = failed,
};

void ku_desk_init_look(struct ku_desk *desk)
{
	ku_mirror_init(&desk->items, desk->client, &items_calls,
		desk->depot->items);
	ku_mirror_init(&desk->marks, desk->client, &marks_calls,
		desk->depot->marks);
	desk->items.kind = desk->marks.kind = KU_ZK_CHILDREN;
	desk->items.owner = desk->marks.owner = desk;
	desk->depot->others.client = desk->client;
	desk->depot->others.path = desk->depot->items;
	desk->depot->others.told = told;
	desk->depot->others.owner = desk;
	desk->timer.fn = timer_due;
}
