/* desk.c - a desk: made and ended; and what it does next. */

#include "desk_impl.h"

#include <stdlib.h>
#include <string.h>

struct ku_news { /* that an item is unfit */
	struct ku_call call;
	struct ku_desk *desk;
	enum ku_unfit why;
	bool moved;
	char name[];
};

void ku_desk_get(struct ku_desk *desk)
{
	desk->refs++;
}

void ku_desk_put(struct ku_desk *desk)
{
	if (--desk->refs > 0)
		return;
	ku_witness_remove(desk->client, &desk->witness);
	ku_timer_unset(&desk->client->timers, &desk->timer);
	ku_head_free(&desk->head);
	kustos_names_free(desk->marked);
	ku_unfits_forget_all(&desk->unfits);
	ku_depot_put(desk->depot);
	free(desk->folder_item);
	free(desk);
}

void ku_desk_pump(struct ku_desk *desk)
{
	struct ku_item item;

	if (desk->pumping || desk->ended)
		return;
	desk->pumping = true;
	while (desk->folder == NULL && ku_desk_wanted(desk) > 0 &&
		ku_desk_choose(desk, &item))
		if (!ku_desk_try(desk, &item)) {
			ku_desk_relook(desk);
			ku_desk_rest(desk);
		}
	desk->pumping = false;
	desk->depot->others.none = false;
	if (ku_desk_wanted(desk) == 0 || desk->resting ||
		desk->folder != NULL) {
		ku_mirror_rest(&desk->items);
		ku_mirror_rest(&desk->marks);
		return;
	}
	if (ku_others_asked(&desk->depot->others) || ku_desk_awaits_marks(desk))
		return;
	ku_desk_look(desk);
	if (ku_desk_has_listed(desk) && desk->tried == 0 &&
		ku_desk_tell_empty(desk))
		ku_mirror_look(&desk->items); /* for those that came later */
}

static void made(struct ku_op *op)
{
	struct ku_desk *desk = op->owner;
	enum kustos_err err = op->err;

	desk->folder = NULL;
	ku_op_drop(op);
	if (err != KUSTOS_OK && err != KUSTOS_EEXISTS) {
		if (desk->folder_item != NULL && err != KUSTOS_ENOMEM)
			ku_desk_deny(desk, desk->folder_item);
		else
			ku_desk_rest(desk);
		ku_desk_fail(desk, err);
	}
	ku_desk_pump(desk);
	ku_desk_put(desk);
}

/* Begin to make a folder.  Peers make it only once, so like theirs it must not
   go when it is empty. */
static enum kustos_err start_folder(struct ku_desk *desk, const char *path)
{
	struct kustos_client *client = desk->client;
	struct ku_op *op;
	enum kustos_err err = ku_create_new(client,
		ku_program_path(client, path), KUSTOS_CREATE_PARENTS, "", 0,
		&op);

	if (err != KUSTOS_OK)
		return err;
	op->any = true;
	op->plain = desk->depot->kind == KU_ITEM_KAZOO;
	desk->folder = op;
	ku_desk_get(desk);
	err = ku_op_start(&desk->folder, made, desk);
	if (err != KUSTOS_OK)
		desk->refs--; /* the caller has another */
	return err;
}

void ku_desk_make_folder(struct ku_desk *desk, const char *path,
	const char *item)
{
	if (desk->folder != NULL || desk->ended)
		return;
	free(desk->folder_item);
	desk->folder_item = item != NULL ? strdup(item) : NULL;
	if (start_folder(desk, path) != KUSTOS_OK)
		ku_desk_rest(desk);
}

static void tell(struct kustos_client *client, struct ku_call *call)
{
	struct ku_news *news = (struct ku_news *)call;
	struct ku_desk *desk = news->desk;

	if (!desk->ended) {
		struct ku_inside self;

		ku_inside_enter(client, &desk->inside, &self);
		desk->unfit(desk->arg, news->why, news->moved, news->name);
		ku_inside_leave(client, &desk->inside, &self);
	}
	ku_desk_put(desk);
	free(news);
}

struct ku_news *ku_news_new(struct ku_desk *desk, const char *name)
{
	struct ku_news *news = malloc(sizeof(*news) + strlen(name) + 1);

	if (news == NULL)
		return NULL;
	*news = (struct ku_news){ .call.fn = tell, .desk = desk };
	strcpy(news->name, name);
	return news;
}

void ku_news_tell(struct ku_news *news, enum ku_unfit why, bool moved)
{
	news->why = why;
	news->moved = moved;
	ku_desk_get(news->desk);
	ku_dispatch_push(news->desk->client, &news->call, KU_ORDINARY);
}

static void away(struct ku_witness *witness)
{
	struct ku_desk *desk = KU_OWNER(struct ku_desk, witness, witness);

	ku_desk_get(desk);
	ku_givers_away(desk);
	ku_desk_away(desk);
	ku_desk_put(desk);
}

static bool is_path(const char *path, bool needed)
{
	return path != NULL ? ku_path_valid(path, false) : !needed;
}

/* Are the folders different ones?  Otherwise items among markers would be taken
   for claimed, markers among items for items, and an item that is moved would
   stay where it was. */
static bool are_apart(const struct ku_desk_wish *wish)
{
	const char *const others[] = { wish->marks, wish->dead, wish->corrupt };

	for (int i = 0; i < 3; i++)
		if (others[i] != NULL &&
			(strcmp(others[i], wish->items) == 0 ||
				(i > 0 && strcmp(others[i], wish->marks) == 0)))
			return false;
	return true;
}

static char *full(const struct kustos_client *client, const char *path)
{
	return ku_path_join(client->config.prefix, path);
}

static struct ku_depot *make_depot(struct kustos_client *client,
	const struct ku_desk_wish *wish)
{
	struct ku_depot *depot = calloc(1, sizeof(*depot));

	if (depot == NULL)
		return NULL;
	depot->refs = 1;
	depot->client = client;
	depot->kind = wish->kind;
	depot->plain = wish->plain;
	depot->deliveries = wish->deliveries;
	depot->items = full(client, wish->items);
	depot->marks = full(client, wish->marks);
	if (wish->dead != NULL)
		depot->dead = full(client, wish->dead);
	if (wish->corrupt != NULL)
		depot->corrupt = full(client, wish->corrupt);
	if (depot->items != NULL && depot->marks != NULL &&
		(depot->dead != NULL || wish->dead == NULL) &&
		(depot->corrupt != NULL || wish->corrupt == NULL))
		return depot;
	ku_depot_put(depot);
	return NULL;
}

enum kustos_err ku_desk_create(struct kustos_client *client,
	const struct ku_desk_wish *wish, struct ku_desk **out)
{
	if (!is_path(wish->items, true) || !is_path(wish->marks, true) ||
		!is_path(wish->dead, false) || !is_path(wish->corrupt, false) ||
		!are_apart(wish) || wish->deliveries < 0 || wish->ahead < 0 ||
		wish->stale < 0)
		return KUSTOS_EINVAL;
	struct ku_desk *desk = calloc(1, sizeof(*desk));
	struct ku_depot *depot = make_depot(client, wish);
	if (desk == NULL || depot == NULL) {
		free(desk);
		if (depot != NULL)
			ku_depot_put(depot);
		return KUSTOS_ENOMEM;
	}
	desk->client = client;
	desk->depot = depot;
	desk->ahead = wish->ahead;
	desk->stale = wish->stale;
	desk->unfit = wish->unfit;
	desk->arg = wish->arg;
	desk->refs = 3; /* of the program, and of the mirrors */
	ku_desk_init_look(desk);
	ku_lock(client);
	ku_protection_bare(&client->random, depot->id);
	desk->witness.away = away;
	ku_witness_add(client, &desk->witness);
	ku_unlock(client);
	*out = desk;
	return KUSTOS_OK;
}

/* Give back the items that were not lent. */
static void return_unlent(struct ku_desk *desk)
{
	struct ku_lent *next;

	for (struct ku_lent *l = desk->first; l != NULL; l = next) {
		next = l->next;
		if (l->state == KU_LENT_TRIED || l->state == KU_LENT_READY)
			ku_lent_free(l);
	}
}

void ku_desk_destroy(struct ku_desk *desk)
{
	if (desk == NULL)
		return;
	struct kustos_client *client = desk->client;
	ku_begin(client);
	desk->ended = true;
	ku_desk_fail(desk, KUSTOS_ECLOSED);
	return_unlent(desk);
	ku_timer_unset(&client->timers, &desk->timer);
	if (desk->folder != NULL) {
		ku_op_let_go(&desk->folder);
		desk->refs--; /* the caller has another */
	}
	/* Callbacks that are queued find that it has ended. */
	ku_inside_await(client, &desk->inside);
	if (ku_others_end(&desk->depot->others))
		desk->refs--; /* the caller has another */
	ku_mirror_end(&desk->items);
	ku_mirror_end(&desk->marks);
	ku_desk_put(desk);
	ku_end(client);
}
