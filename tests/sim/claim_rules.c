/* claim_rules.c - track each item that is claimed, and check the rules. */
#include "claim_actor.h"

#include "custody_impl.h"
#include "hold.h"
#include "model_impl.h"
#include "sim_impl.h"

#include <kustos/hold.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shared *claim_shared(struct sim *sim)
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

int claim_new_piece(struct sim *sim)
{
	struct shared *s = claim_shared(sim);

	s->pieces = grow(s->pieces, s->piece_count, &s->piece_room,
		sizeof(*s->pieces));
	s->pieces[s->piece_count] = (struct piece){ .node = -1 };
	return s->piece_count++;
}

/* The nodes */

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

struct stock *claim_node(struct shared *s, const char *name)
{
	for (int i = s->node_count - 1; i >= 0; i--)
		if (strcmp(ku_path_leaf(s->nodes[i].path), name) == 0)
			return &s->nodes[i];
	return NULL;
}

/* An item is created: for the first time, or because it is put back. */
static void made(struct sim *sim, const char *path, int64_t zxid,
	int64_t parent)
{
	struct shared *s = claim_shared(sim);
	int number = ware_piece(sim, s->kind, path);
	struct piece *p = &s->pieces[number];

	if (p->made && !(p->again && p->gone_zxid == zxid))
		sim_fail(sim, "once", "%d is made twice: %s", number, path);
	s->nodes = grow(s->nodes, s->node_count, &s->node_room,
		sizeof(*s->nodes));
	struct stock *n = &s->nodes[s->node_count];
	*n = (struct stock){ .piece = number,
		.there = true,
		.free_since = sim_now(sim),
		.ware = ware_at(s->kind, path, parent) };
	snprintf(n->path, sizeof(n->path), "%s", path);
	p->made = true;
	p->done = p->again = false;
	p->node = s->node_count++;
}

static void died(struct sim *sim, const char *path, int64_t zxid)
{
	struct shared *s = claim_shared(sim);
	struct piece *p = &s->pieces[ware_piece(sim, s->kind, path)];

	/* The dead item is created before the item is deleted, in the same
	   transaction. */
	if (!s->nodes[p->node].there)
		sim_fail(sim, "once", "%s died though it was gone", path);
	if (s->nodes[p->node].sets < s->deliveries)
		sim_fail(sim, "dead", "%s was delivered %d times", path,
			s->nodes[p->node].sets);
	p->dead = true;
	p->gone_zxid = zxid;
	s->figures[CLAIM_DEAD]++;
}

/* An item is deleted: by a claim, with its marker, or moved, or from outside. */
static void deleted(struct sim *sim, struct stock *n, const char *path,
	int64_t zxid)
{
	struct shared *s = claim_shared(sim);
	struct piece *p = &s->pieces[n->piece];
	bool removed = ledger_fate(&s->ledger, path, 0) == FATE_REMOVED;

	if (!n->there)
		return;
	n->there = false;
	n->removed = p->removed = removed;
	if (removed) {
		s->had_since = 0;
		return;
	}
	if (s->mark_gone != zxid)
		sim_fail(sim, "bare", "%s is deleted without its marker", path);
	n->ended_by = s->mark_zxid;
	if (p->dead && p->gone_zxid == zxid)
		return;
	p->gone_zxid = zxid;
	p->done = p->again = true; /* unless this transaction makes it anew */
}

static void marker_changed(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner)
{
	struct shared *s = claim_shared(sim);
	struct stock *n = claim_node(s, ku_path_leaf(path));

	if (n == NULL)
		return;
	if (kind == CHANGE_CREATE) {
		n->mark = zxid;
		n->marked = true;
		if (claim_due_at(s, n) > sim_now(sim))
			sim_fail(sim, "due", "%s is had too early", path);
		claim_check_order(sim, n);
	} else if (kind == CHANGE_DELETE) {
		s->mark_gone = zxid;
		s->mark_zxid = n->mark;
		n->marked = false;
		n->free_since = sim_now(sim);
		claim_rob(sim, n, ledger_fate(&s->ledger, path, owner));
	}
}

/* Was a claim beaten: by another client, or by a marker of the client's former
   session? */
static bool is_beaten(struct shared *s, enum model_note what, const char *path,
	int64_t rc)
{
	if (what != NOTE_DONE)
		return false;
	if (path == NULL || path[0] == '\0') /* a transaction */
		return rc == KU_ZK_NODEEXISTS;
	return rc == KU_ZK_NONODE && is_below(path, QUEUE) &&
		claim_node(s, ku_path_leaf(path)) != NULL;
}

/* A server with too many requests refused one of "client": a read of an item or
   of its marker, or a claim.  A refused transaction does not show which item it
   was for. */
static void was_put_off(struct sim *sim, int client, const char *path)
{
	struct shared *s = claim_shared(sim);
	const struct actor *a = sim_actor_state(sim, client);
	const struct ku_lent *l = a->desk != NULL ? a->desk->first : NULL;

	for (; l != NULL; l = l->next) {
		struct stock *n = l->custody != NULL
			? claim_node(s, ku_custody_name(l->custody))
			: NULL;

		if (n != NULL && l->custody->state < KU_CUSTODY_HELD &&
			(path == NULL ||
				strcmp(ku_path_leaf(path),
					ku_path_leaf(n->path)) == 0))
			n->put_off_at = sim_now(sim);
	}
}

void claim_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value)
{
	struct shared *s = claim_shared(sim);

	ledger_note(&s->ledger, what, client, path, value);
	if (is_beaten(s, what, path, value))
		s->had_since = 0;
	if (what == NOTE_SERVE && value == KU_ZK_THROTTLEDOP)
		was_put_off(sim, client, path);
	if (what != NOTE_SEND || value != KU_ZK_GET || !is_below(path, QUEUE))
		return;
	struct stock *n = claim_node(s, ku_path_leaf(path));
	if (n != NULL)
		claim_tried(sim, n);
}

void claim_change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential)
{
	struct shared *s = claim_shared(sim);

	(void)sequential;
	if (is_below(path, MARKS)) {
		marker_changed(sim, kind, path, zxid, owner);
	} else if (kind == CHANGE_CREATE && strcmp(path, QUEUE) == 0) {
		/* Start with other numbers: an item with a number of the former
		   queue would be taken for the old item. */
		model_set_created(sim_model(sim), path, s->numbers);
		s->numbers += 100000;
	} else if (kind == CHANGE_CREATE && strcmp(path, MARKS) == 0) {
		s->marks_since = sim_now(sim);
	} else if (is_below(path, DEAD) && kind == CHANGE_CREATE) {
		died(sim, path, zxid);
	} else if (is_below(path, QUEUE)) {
		struct stock *n = claim_node(s, ku_path_leaf(path));

		if (kind == CHANGE_CREATE)
			made(sim, path, zxid, parent_czxid);
		else if (kind == CHANGE_DELETE && n != NULL)
			deleted(sim, n, path, zxid);
		else if (kind == CHANGE_SET && n != NULL)
			n->sets++;
	}
}

/* How calls end */

static bool may_end(const struct slot *slot, enum kustos_err err)
{
	struct sim *sim = slot->actor->it.sim;

	switch (err) {
	case KUSTOS_OK:
		return true;
	case KUSTOS_EEMPTY:
	case KUSTOS_EDISCONNECTED:
		return slot->deadline == KUSTOS_NOW;
	case KUSTOS_ETIMEDOUT:
		return slot->deadline != KUSTOS_NOW &&
			sim_now(sim) >= slot->deadline;
	case KUSTOS_ECANCELED:
		return slot->fired;
	case KUSTOS_ECLOSED:
		return slot->actor->it.closing ||
			slot->desk < slot->actor->desks;
	default:
		return false;
	}
}

/* Is the item certainly held, by the client's own clock?  After a pause a claim
   may be granted that is lost by then; and a client whose session was ended
   from outside cannot know. */
static bool is_sure(const struct slot *slot)
{
	struct actor *a = slot->actor;

	return slot->state == SLOT_HAS &&
		kustos_hold_state(ku_lent_hold(slot->lent)) !=
		KUSTOS_HOLD_LOST &&
		!ledger_killed(&claim_shared(a->it.sim)->ledger,
			a->it.client->session.id);
}

static void check_alone(struct sim *sim, const struct slot *slot)
{
	struct shared *s = claim_shared(sim);
	const struct stock *n = &s->nodes[slot->node];

	if (claim_robbed_lately(sim, n) || !is_sure(slot))
		return;
	for (int i = 0; i < MOST; i++) {
		struct actor *a = sim_actor_state(sim, i);

		for (int j = 0; j < SLOTS; j++) {
			struct slot *other = &a->slots[j];

			if (other != slot && other->node == slot->node &&
				is_sure(other))
				sim_fail(sim, "alone", "%s is had by %d and %d",
					n->path, slot->actor->it.index, i);
		}
	}
}

static void check_granted(struct sim *sim, const struct slot *slot)
{
	struct shared *s = claim_shared(sim);
	const struct stock *n = &s->nodes[slot->node];
	int deliveries = ku_lent_deliveries(slot->lent);

	if (atoi(ku_lent_item(slot->lent)->data) != n->piece)
		sim_fail(sim, "data", "%s is not %d", n->path, n->piece);
	if (deliveries < 1 || deliveries > n->sets ||
		(slot->token == n->mark && deliveries != n->sets))
		sim_fail(sim, "deliveries", "%s: %d of %d", n->path, deliveries,
			n->sets);
	if (s->deliveries > 0 && deliveries > s->deliveries)
		sim_fail(sim, "dead", "%s is delivered for time %d", n->path,
			deliveries);
	check_alone(sim, slot);
	s->figures[CLAIM_GRANTED]++;
	s->figures[CLAIM_AGAIN] += deliveries > 1;
}

static void check_empty(struct sim *sim, const struct slot *slot)
{
	struct shared *s = claim_shared(sim);
	int64_t late = subjects_known_ns(sim, KNOWN_NS);

	for (int i = 0; i < s->node_count; i++) {
		const struct stock *n = &s->nodes[i];

		/* If the marker was deleted from outside, the item is still
		   held. */
		if (n->there && !n->marked && !n->robbed &&
			claim_due_at(s, n) < slot->began - late)
			sim_fail(sim, "empty", "%s is there", n->path);
	}
}

static void slot_over(struct slot *slot)
{
	kustos_cancel_destroy(slot->cancel);
	slot->cancel = NULL;
	slot->lent = NULL;
	slot->state = SLOT_FREE;
}

void claim_granted(void *arg, enum kustos_err err, struct ku_lent *lent)
{
	struct slot *slot = arg;
	struct sim *sim = slot->actor->it.sim;
	struct shared *s = claim_shared(sim);

	sim_say(sim, slot->actor->it.index, "claim", kustos_err_name(err), 0);
	if (slot->state != SLOT_ASKING || (lent != NULL) != (err == KUSTOS_OK))
		sim_fail(sim, "end", "a claim ended twice");
	if (!may_end(slot, err))
		sim_fail(sim, "end", "a claim of %d: %s", slot->actor->it.index,
			kustos_err_name(err));
	if (err == KUSTOS_EEMPTY)
		check_empty(sim, slot);
	s->figures[err == KUSTOS_EEMPTY ? CLAIM_EMPTY : CLAIM_GAVE_UP] += err !=
		KUSTOS_OK;
	if (err != KUSTOS_OK) {
		slot_over(slot);
		return;
	}
	const struct stock *n = claim_node(s, ku_lent_item(lent)->name);
	if (n == NULL) {
		sim_fail(sim, "simulator", "no node");
		return;
	}
	slot->lent = lent;
	slot->node = (int)(n - s->nodes);
	slot->token = kustos_hold_token(ku_lent_hold(lent));
	slot->state = SLOT_HAS;
	check_granted(sim, slot);
}

void claim_ended(void *arg, enum kustos_err err)
{
	struct slot *slot = arg;
	struct sim *sim = slot->actor->it.sim;
	struct shared *s = claim_shared(sim);
	const struct stock *n = &s->nodes[slot->node];
	bool ours = !n->there && n->ended_by == slot->token;

	sim_say(sim, slot->actor->it.index, "ended", kustos_err_name(err), 0);
	if (err == KUSTOS_OK && !ours && !n->removed && !n->robbed)
		sim_fail(sim, "acked", "%s was not deleted by %d", n->path,
			slot->actor->it.index);
	else if (err == KUSTOS_ELOST && ours)
		sim_fail(sim, "acked", "%s was deleted by %d all the same",
			n->path, slot->actor->it.index);
	else if (err != KUSTOS_OK && err != KUSTOS_ELOST &&
		err != KUSTOS_EUNKNOWN && err != KUSTOS_ECLOSED)
		sim_fail(sim, "end", "an ack of %d: %s", slot->actor->it.index,
			kustos_err_name(err));
	if (err == KUSTOS_OK && slot->again && ours &&
		s->pieces[n->piece].node == slot->node)
		sim_fail(sim, "once", "%s was not put back", n->path);
	if (err == KUSTOS_OK)
		s->figures[slot->again ? CLAIM_REQUEUED : CLAIM_ACKED]++;
	s->figures[CLAIM_LOST] += err == KUSTOS_ELOST;
	s->figures[CLAIM_UNKNOWN] += err == KUSTOS_EUNKNOWN;
	slot_over(slot);
}

/* In the end */

const char *claim_missing(struct sim *sim)
{
	struct shared *s = claim_shared(sim);

	for (int i = 0; i < s->node_count; i++)
		if (s->nodes[i].there)
			return s->nodes[i].path;
	for (int i = 0; i < s->piece_count; i++) {
		const struct piece *p = &s->pieces[i];

		if (p->made && !p->done && !p->removed && !p->dead)
			return "an item";
	}
	return NULL;
}

const char *claim_litter(struct sim *sim)
{
	return model_child_count(sim_model(sim), MARKS) > 0 ? "a marker" : NULL;
}
