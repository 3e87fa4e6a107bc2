/* queue_rules.c - track each item of the queue, and check the rules. */
#include "queue_actor.h"

#include "model_impl.h"
#include "sim_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shared *queue_shared(struct sim *sim)
{
	return sim_state(sim);
}

static void *grow(void *array, int count, int *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room == 0 ? 64 : 2 * *room;
	return sim_realloc(array, (size_t)*room * size);
}

int queue_new_life(struct sim *sim, int actor)
{
	struct shared *s = queue_shared(sim);

	s->lives = grow(s->lives, s->life_count, &s->life_room,
		sizeof(*s->lives));
	s->lives[s->life_count] = (struct life){ .actor = actor,
		.last_put = -1 };
	return s->life_count++;
}

/* An object of the queue ends.  If it ends in a hurry, items that it has taken
   and not handed out, or is about to take, are lost with it. */
void queue_end_life(struct sim *sim, int life, bool careful)
{
	queue_shared(sim)->lives[life].over = !careful;
	queue_shared(sim)->lives[life].ended = true;
}

int queue_new_piece(struct sim *sim, int life)
{
	struct shared *s = queue_shared(sim);

	s->pieces = grow(s->pieces, s->piece_count, &s->piece_room,
		sizeof(*s->pieces));
	s->pieces[s->piece_count] = (struct piece){ .life = life, .taker = -1 };
	return s->piece_count++;
}

/* The nodes */

static struct receipt *receipt_of(struct shared *s, const char *path)
{
	for (int i = s->receipt_count - 1; i >= 0; i--)
		if (strcmp(s->receipts[i].path, path) == 0)
			return &s->receipts[i];
	return NULL;
}

/* Return a receipt that was left by an object that ended carefully, or NULL. */
const char *queue_litter(struct sim *sim)
{
	struct shared *s = queue_shared(sim);
	struct kustos_stat stat;

	for (int i = 0; i < s->receipt_count; i++)
		if (!s->lives[s->receipts[i].life].over &&
			model_stat(sim_model(sim), s->receipts[i].path, &stat))
			return s->receipts[i].path;
	return NULL;
}

/* Note which object makes a receipt, and which receipts are deleted from
   outside. */
void queue_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value)
{
	struct shared *s = queue_shared(sim);

	(void)value;
	if (what == NOTE_FAULT && client < 0 && path != NULL) {
		struct receipt *receipt = receipt_of(s, path);

		if (receipt != NULL)
			receipt->stolen = true;
	}
	if (client < 0)
		return;
	struct actor *a = sim_actor_state(sim, client);
	if (what == NOTE_CLOSE && a->trusts && a->it.closing &&
		a->it.client->counters.losses != a->losses)
		s->lives[a->life].over = true;
	if (what != NOTE_SEND || path == NULL ||
		strncmp(path, RECEIPTS "/_c_", strlen(RECEIPTS "/_c_")) != 0 ||
		receipt_of(s, path) != NULL)
		return;
	s->receipts = grow(s->receipts, s->receipt_count, &s->receipt_room,
		sizeof(*s->receipts));
	snprintf(s->receipts[s->receipt_count].path,
		sizeof(s->receipts[0].path), "%s", path);
	s->receipts[s->receipt_count].stolen = false;
	s->receipts[s->receipt_count++].life = a->life;
}

static struct piece *piece_of_path(struct shared *s, const char *path)
{
	for (int i = s->piece_count - 1; i >= 0; i--)
		if (s->pieces[i].there && strcmp(s->pieces[i].path, path) == 0)
			return &s->pieces[i];
	return NULL;
}

/* Is the item put back by the object that took it, because no call wants it any
   more? */
static bool comes_back(struct shared *s, const struct piece *p, int64_t zxid)
{
	return p->made && !p->there && !p->had && p->taker >= 0 &&
		s->last_zxid == zxid && s->last_life == p->taker &&
		s->lives[p->taker].ended;
}

static void made(struct sim *sim, const char *path, int64_t zxid,
	int64_t parent)
{
	struct shared *s = queue_shared(sim);
	int number = ware_piece(sim, s->kind, path);
	struct piece *p = &s->pieces[number];
	struct life *life = &s->lives[p->life];

	bool back = comes_back(s, p, zxid);

	s->figures[FIGURE_BACK] += back;
	if (p->made && !back)
		sim_fail(sim, "once", "%d is put twice: %s, %s", number, path,
			p->path);
	if (p->refused && !back)
		sim_fail(sim, "refused", "%d is put after all", number);
	if (life->last_put > number && !back)
		sim_fail(sim, "order", "%d is put after %d", number,
			life->last_put);
	if (!back)
		life->last_put = number;
	p->taker = -1;
	p->made = p->there = true;
	p->made_at = sim_now(sim);
	p->ware = ware_at(s->kind, path, parent);
	snprintf(p->path, sizeof(p->path), "%s", path);
}

/* Return since when the item may be taken. */
static int64_t due_at(const struct shared *s, const struct piece *p)
{
	return ware_due_at(s->kind, &p->ware, p->made_at);
}

/* Rule "order": "p" was just taken.  Where a key decides, no item may be left
   that comes before "p" and that the taker must have known of when it began to
   take "p".  (It does not give "p" back for an item that has come since.)  This
   holds for an actor that takes alone and does not use old listings.  A listing
   may come late, and an item read by it may be taken as much later; if clients
   stall, at any time. */
static void check_rank(struct sim *sim, const struct piece *p)
{
	struct shared *s = queue_shared(sim);
	int64_t known = sim_now(sim) - sim_unheard_ns(sim) -
		2 * subjects_known_ns(sim, TAKING_NS);
	bool others = false, due = false;

	if (s->takers > 1 || s->stale > 0 || s->kind == KU_ITEM_SIMPLE ||
		sim_stalls(sim))
		return;
	for (int i = 0; i < s->piece_count; i++) {
		const struct piece *q = &s->pieces[i];

		if (!q->there || q == p)
			continue;
		if (ware_is_before(&q->ware, &p->ware) && q->made_at < known)
			sim_fail(sim, "order", "%s is taken, and %s is there",
				p->path, q->path);
		others = others || ware_is_before(&p->ware, &q->ware);
		due = due ||
			(ware_is_before(&p->ware, &q->ware) &&
				due_at(s, q) < sim_now(sim));
	}
	s->figures[FIGURE_IN_RANK] += others;
	s->figures[FIGURE_IN_TIME] += due && s->kind == KU_ITEM_DELAY;
}

static void deleted(struct sim *sim, const char *path, int64_t zxid)
{
	struct shared *s = queue_shared(sim);
	struct piece *p = piece_of_path(s, path);

	if (p == NULL)
		return;
	p->there = false;
	if (zxid == s->last_zxid) {
		p->taker = s->last_life;
		if (due_at(s, p) > sim_now(sim))
			sim_fail(sim, "due", "%s is taken too early", path);
		check_rank(sim, p);
	} else {
		p->stolen = true;
	}
}

void queue_change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential)
{
	struct shared *s = queue_shared(sim);

	(void)owner;
	(void)sequential;
	if (kind == CHANGE_SET) {
		const struct receipt *receipt = receipt_of(s, path);

		if (receipt == NULL)
			return;
		s->last_zxid = zxid;
		s->last_life = receipt->life;
	} else if (kind == CHANGE_CREATE && strcmp(path, QUEUE) == 0) {
		/* Start with other numbers: within a second, an item with a
		   number of the former queue would be taken for the old item.
		   Tests against a server check what happens later. */
		model_set_created(sim_model(sim), path, s->numbers);
		s->numbers += 100000;
	} else if (strncmp(path, QUEUE "/", strlen(QUEUE "/")) != 0) {
		return;
	} else if (kind == CHANGE_CREATE) {
		made(sim, path, zxid, parent_czxid);
	} else {
		deleted(sim, path, zxid);
	}
}

/* How a call ends */

static bool may_end(const struct errand *call, enum kustos_err err)
{
	if (err == KUSTOS_EEMPTY)
		return call->takes && call->ask.deadline == KUSTOS_NOW;
	if (err == KUSTOS_EFULL) /* or memory is full: nobody can wait here */
		return !call->takes;
	return ask_may_end(&call->ask, err);
}

/* Did somebody delete a receipt of this object? */
static bool was_robbed(const struct shared *s, int life)
{
	for (int i = 0; i < s->receipt_count; i++)
		if (s->receipts[i].life == life && s->receipts[i].stolen)
			return true;
	return false;
}

static void call_over(struct errand *call, const char *what,
	enum kustos_err err)
{
	struct actor *a = call->actor;
	struct shared *s = queue_shared(a->it.sim);

	sim_say(a->it.sim, a->it.index, what, kustos_err_name(err),
		call->piece);
	ask_end(&call->ask, what);
	if (err == KUSTOS_EUNKNOWN && was_robbed(s, a->life))
		s->figures[FIGURE_UNKNOWN]++;
	else if (!may_end(call, err))
		sim_fail(a->it.sim, "end", "%s of %d: %s", what, a->it.index,
			kustos_err_name(err));
}

void queue_was_put(void *arg, enum kustos_err err)
{
	struct errand *call = arg;
	struct sim *sim = call->actor->it.sim;
	struct shared *s = queue_shared(sim);
	struct piece *p = &s->pieces[call->piece];

	if (err == KUSTOS_OK && !p->made)
		sim_fail(sim, "put", "%d is not there", call->piece);
	s->figures[err == KUSTOS_OK ? FIGURE_PUT : FIGURE_GAVE_UP]++;
	s->figures[FIGURE_PUT_AFTER_LOSS] += err != KUSTOS_OK && p->made;
	call_over(call, "put", err);
}

/* An actor that takes alone must get the items in order, if none is deleted
   from outside. */
static void check_order(struct sim *sim, const struct piece *p)
{
	struct shared *s = queue_shared(sim);

	if (s->takers > 1 || (sim->faults & OUTSIDE) != 0 ||
		s->kind != KU_ITEM_SIMPLE)
		return;
	if (p->ware.parent < s->last.parent ||
		ware_is_before(&p->ware, &s->last))
		sim_fail(sim, "order", "%s is taken after %lld", p->path,
			(long long)s->last.number);
	s->last = p->ware;
	s->figures[FIGURE_IN_ORDER]++;
}

static void check_taken(struct errand *call, struct kustos_item *item)
{
	struct actor *a = call->actor;
	struct sim *sim = a->it.sim;
	struct shared *s = queue_shared(sim);
	int number = atoi(item->data);
	struct piece *p = &s->pieces[number];

	if (p->had)
		sim_fail(sim, "once", "%d is taken twice", number);
	else if (p->there)
		sim_fail(sim, "taken", "%d is there all the same", number);
	else if (p->taker != a->life)
		sim_fail(sim, "taken", "%d was deleted by %d, not by %d",
			number, p->taker, a->life);
	check_order(sim, p);
	p->had = true;
	s->figures[FIGURE_TAKEN]++;
}

static void check_empty(struct errand *call)
{
	struct sim *sim = call->actor->it.sim;
	struct shared *s = queue_shared(sim);

	for (int i = 0; i < s->piece_count; i++) {
		const struct piece *p = &s->pieces[i];

		if (p->there &&
			due_at(s, p) < call->ask.began -
					subjects_known_ns(sim, KNOWN_NS))
			sim_fail(sim, "empty", "%s is there", p->path);
	}
}

void queue_was_taken(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	struct errand *call = arg;
	struct shared *s = queue_shared(call->actor->it.sim);

	if (count > call->max || (count > 0) != (err == KUSTOS_OK))
		sim_fail(call->actor->it.sim, "end", "%d items: %s", (int)count,
			kustos_err_name(err));
	for (size_t i = 0; i < count; i++) {
		if (!call->peeks)
			check_taken(call, items[i]);
		kustos_item_free(items[i]);
	}
	if (err == KUSTOS_OK)
		s->figures[FIGURE_LOOKED] += call->peeks;
	else if (err == KUSTOS_EEMPTY)
		s->figures[FIGURE_EMPTY]++;
	else
		s->figures[FIGURE_GAVE_UP]++;
	if (err == KUSTOS_EEMPTY)
		check_empty(call);
	call_over(call, "taken", err);
}

/* In the end */

const char *queue_missing(struct sim *sim)
{
	struct shared *s = queue_shared(sim);

	for (int i = 0; i < s->piece_count; i++) {
		const struct piece *p = &s->pieces[i];

		if (!p->made || p->had || p->stolen)
			continue;
		if (!p->there && p->taker >= 0 &&
			(s->lives[p->taker].over || was_robbed(s, p->taker)))
			continue;
		return p->path;
	}
	return NULL;
}
