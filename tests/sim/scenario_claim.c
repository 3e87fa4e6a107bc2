/*
 * scenario_claim.c - a queue whose items are claimed by a few clients, under
 * all faults.
 *
 * Each actor puts items, claims some, with all kinds of deadlines, and
 * acknowledges them, puts them back, releases them, or closes its client while
 * it has them.  Nodes are deleted from outside: items, markers, folders.  The
 * rules:
 *
 *   alone       no two clients hold an item by their own clocks, unless its
 *               marker was deleted, or a session ended, from outside
 *   order       if one actor claims alone, and a key decides, it does not claim
 *               an item while one that comes before it was known to be free
 *   due         no item is claimed before it is due
 *   deliveries  each claim of an item is counted
 *   dead        an item that was delivered too often is moved, and no other is
 *   bare        an item is deleted only together with its marker
 *   acked       an ack that succeeds has deleted its item; one that reports a
 *               loss has not
 *   once        an item exists only once, even if it is put back
 *   empty       if a claim reports an empty queue, no item had been free and
 *               due for so long that the server must know
 *   end         a call ends once, with an error that fits
 *   robbed      a claim whose marker was deleted from outside is lost soon
 *   lost        soon after the faults each item is acknowledged
 *   orphan      after that no marker and no watch is left
 */
#include "claim_actor.h"

#include "item_frame.h"

#include <kustos/node.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void prepare(struct actor *a, struct slot *slot)
{
	struct sim_random *r = subject_random(&a->it);

	memset(slot, 0, sizeof(*slot));
	slot->actor = a;
	slot->desk = a->desks;
	slot->state = SLOT_ASKING;
	slot->began = sim_now(a->it.sim);
	slot->deadline = KUSTOS_FOREVER;
	switch (sim_draining(a->it.sim) ? 5 : sim_random_below(r, 6)) {
	case 0:
		slot->deadline = KUSTOS_NOW;
		break;
	case 1:
		slot->deadline = sim_now(a->it.sim) +
			sim_random_between(r, 1, TIMEOUT_NS / 100);
		break;
	case 2:
		slot->deadline = sim_now(a->it.sim) +
			sim_random_between(r, 1, 2 * TIMEOUT_NS);
		break;
	default:
		break;
	}
	if (kustos_cancel_create(&slot->cancel) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot make a cancel object");
}

static void claim(struct actor *a, struct slot *slot)
{
	prepare(a, slot);
	enum kustos_err err = ku_desk_lend_async(a->desk, slot->deadline,
		slot->cancel, claim_granted, slot);
	if (err != KUSTOS_OK)
		claim_granted(slot, err, NULL);
}

static void end(struct slot *slot, bool again)
{
	struct ku_lent *lent = slot->lent;

	slot->lent = NULL;
	slot->again = again;
	slot->state = SLOT_ENDING;
	enum kustos_err err = ku_lent_ack_async(lent,
		again ? KU_ACK_AGAIN : KU_ACK_DELETE, KUSTOS_FOREVER, NULL,
		claim_ended, slot);
	if (err != KUSTOS_OK)
		claim_ended(slot, err);
}

static void release(struct slot *slot)
{
	struct ku_lent *lent = slot->lent;

	claim_shared(slot->actor->it.sim)->figures[CLAIM_RELEASED]++;
	kustos_cancel_destroy(slot->cancel);
	memset(slot, 0, sizeof(*slot));
	ku_lent_return(lent);
}

static void fire(struct slot *slot)
{
	if (slot->fired)
		return;
	slot->fired = true;
	kustos_cancel_fire(slot->cancel);
}

/* Return the path of a new item without its number.  It is malloc'ed. */
static char *some_path(struct actor *a, enum ku_item_kind kind)
{
	const int64_t now_ms = sim_now(a->it.sim) / KU_NS_PER_MS;
	struct ku_item_wish wish = { .priority = 0 };
	char *head = NULL, *path = NULL;

	if (kind == KU_ITEM_KAZOO)
		wish.priority = (int32_t)sim_random_below(
			subject_random(&a->it), 3);
	else if (kind == KU_ITEM_DELAY)
		wish.due_ms = now_ms +
			sim_random_between(subject_random(&a->it), -1,
				DELAY_MS);
	if (ku_item_head(kind, &wish, &head) == KUSTOS_OK)
		path = ku_path_child(QUEUE, head);
	free(head);
	return path;
}

/* Put an item.  The call's end is not awaited: the rules see the node when it
   is created. */
static void put(struct actor *a)
{
	enum ku_item_kind kind = claim_shared(a->it.sim)->kind;
	char text[16], data[32];
	char *path = some_path(a, kind);
	struct ku_bytes item = { .data = text };
	struct ku_op *op = NULL;

	item.len = (size_t)snprintf(text, sizeof(text), "%d",
		claim_new_piece(a->it.sim));
	if (kind == KU_ITEM_DELAY) {
		ku_frame_write(&item, 1, data);
		item = (struct ku_bytes){ data, ku_frame_size(&item, 1) };
	}
	if (path == NULL ||
		ku_op_new(a->it.client, KU_ZK_CREATE, path,
			KUSTOS_CREATE_SEQUENTIAL | KUSTOS_CREATE_PARENTS,
			&op) != KUSTOS_OK ||
		ku_op_data(op, item.data, item.len) != KUSTOS_OK ||
		ku_create_init(op) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot put");
	free(path);
	ku_lock(a->it.client);
	(void)ku_op_start_unowned(op);
	ku_unlock(a->it.client);
}

static void make_desk(struct actor *a)
{
	const struct ku_desk_wish wish = {
		.kind = claim_shared(a->it.sim)->kind,
		.stale = claim_shared(a->it.sim)->stale,
		.items = QUEUE,
		.marks = MARKS,
		.deliveries = claim_shared(a->it.sim)->deliveries,
		.dead = claim_shared(a->it.sim)->deliveries > 0 ? DEAD : NULL,
		.ahead = (int)sim_random_below(subject_random(&a->it), 3),
	};

	if (ku_desk_create(a->it.client, &wish, &a->desk) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot make a desk");
	a->desks++;
}

static void open_client(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);

	/* At times allow only few requests in flight. */
	if (claim_shared(a->it.sim)->keyed)
		a->it.in_flight = sim_random_below(r, 3) == 0
			? (size_t)sim_random_between(r, 1, SLOTS)
			: 0;
	if (subject_open(&a->it))
		make_desk(a);
}

/* Claims must end before the client, but may outlive the desk. */
static void let_go(void *actor)
{
	struct actor *a = actor;

	ku_desk_destroy(a->desk);
	a->desk = NULL;
	for (int i = 0; i < SLOTS; i++)
		if (a->slots[i].state == SLOT_HAS)
			release(&a->slots[i]);
}

static void choose_kind(struct sim *sim)
{
	struct shared *s = claim_shared(sim);
	struct sim_random *r = sim_actor_random(sim, 0);

	s->deliveries = (int)sim_random_below(r, 2) * 4;
	s->kind = KU_ITEM_SIMPLE;
	s->takers = MOST;
	if (!s->keyed)
		return;
	s->kind = sim_random_below(r, 2) > 0 ? KU_ITEM_KAZOO : KU_ITEM_DELAY;
	s->takers = sim_random_below(r, 4) > 0 ? 1 : MOST;
	s->stale = (int)sim_random_below(r, 4) / 3;
}

static void init(struct sim *sim, int index, void *self)
{
	struct actor *a = self;

	subject_init(&a->it, sim, index, let_go);
	if (index == 0)
		choose_kind(sim);
	a->takes = index < claim_shared(sim)->takers;
	open_client(a);
}

/* Is the actor to release a claim?  An only taker seldom does: after a release
   it lists the queue again, and so does not look for changes of others any
   more. */
static bool releases(const struct actor *a)
{
	return claim_shared(a->it.sim)->takers > 1 ||
		sim_random_below(subject_random(&a->it), 20) == 0;
}

/* Is the claim to be kept for so long that, if its marker is deleted from outside,
   it has to be seen to be lost?  Not where order matters: the more is claimed,
   the more is found there. */
static bool keeps(const struct actor *a)
{
	return !claim_shared(a->it.sim)->keyed &&
		sim_random_below(subject_random(&a->it), 20) == 0;
}

static void keep(struct slot *slot)
{
	struct sim *sim = slot->actor->it.sim;

	slot->keep_until = sim_now(sim) +
		sim_random_between(subject_random(&slot->actor->it), 0,
			3 * TIMEOUT_NS);
}

static bool is_kept(const struct slot *slot)
{
	struct sim *sim = slot->actor->it.sim;

	return !sim_draining(sim) && sim_now(sim) < slot->keep_until;
}

static void act_on(struct actor *a, struct slot *slot)
{
	struct sim_random *r = subject_random(&a->it);
	bool drains = sim_draining(a->it.sim);

	switch (slot->state) {
	case SLOT_FREE:
		if (a->takes && claim_shared(a->it.sim)->ending.served == 0)
			claim(a, slot);
		break;
	case SLOT_ASKING:
		if (claim_shared(a->it.sim)->ending.served > 0 ||
			sim_random_below(r, 20) == 0)
			fire(slot);
		break;
	case SLOT_HAS:
		if (is_kept(slot))
			break;
		if (keeps(a))
			keep(slot);
		else if (sim_random_below(r, 3) > 0)
			end(slot, !drains && sim_random_below(r, 4) == 0);
		else if (sim_random_below(r, 3) == 0 && releases(a))
			release(slot);
		break;
	case SLOT_ENDING:
		break;
	}
}

static void step(void *self)
{
	struct actor *a = self;
	struct sim_random *r = subject_random(&a->it);
	bool drains = sim_draining(a->it.sim);

	if (a->desk != NULL && ku_others_asked(&a->desk->depot->others))
		claim_shared(a->it.sim)->figures[CLAIM_ASKED]++;
	if (a->it.gone) {
		open_client(a);
	} else if (a->it.closing) {
		return;
	} else if (!drains && sim_random_below(r, 800) == 0) {
		subject_close(&a->it, subject_some_budget(&a->it));
	} else if (!drains && sim_random_below(r, 500) == 0) {
		/* Calls that wait end with an error; claims are kept. */
		ku_desk_destroy(a->desk);
		make_desk(a);
	} else if (!drains && sim_random_below(r, a->takes ? 3 : 10) == 0) {
		put(a);
	} else {
		act_on(a, &a->slots[sim_random_below(r, SLOTS)]);
	}
}

static void finish(struct sim *sim)
{
	struct shared *s = claim_shared(sim);

	figures_keep(s->figures, CLAIM_FIGURES);
	free(s->nodes);
	free(s->pieces);
	ledger_free(&s->ledger);
}

/* The end */

static bool everything_acked(struct sim *sim)
{
	const char *missing = claim_missing(sim);

	if (missing != NULL &&
		sim_now(sim) >
			sim_drain_since(sim) + SERVED_NS + sim_unheard_ns(sim))
		sim_fail(sim, "lost", "%s", missing);
	return missing == NULL;
}

static const char *left(struct sim *sim)
{
	for (int i = 0; i < MOST; i++) {
		struct actor *a = sim_actor_state(sim, i);

		for (int j = 0; j < SLOTS; j++)
			if (a->slots[j].state != SLOT_FREE)
				return "a call";
		ku_desk_destroy(a->desk); /* it watches as long as it lives */
		a->desk = NULL;
	}
	return claim_litter(sim);
}

static bool settled(struct sim *sim)
{
	static const struct ending_rules rules = { everything_acked, left,
		TIDY_NS };

	return ending_settled(sim, &claim_shared(sim)->ending, &rules);
}

static const struct sim_actor actor = {
	.fini = subject_fini,
	SUBJECT_ACTOR,
};

#define CLAIM_SCENARIO                                                   \
	.clients = MOST, .step_ms = 20,                                  \
	.faults.rate = { SUBJECT_FAULTS, [SIM_DELETE] = 500 },           \
	.prefix = PREFIX, .end = finish, .settled = settled,             \
	.invariants = &claim_robbed_rule, .invariant_count = 1,          \
	.settle_ms = 200000, .note = claim_note, .change = claim_change, \
	SUBJECT_SCENARIO

const struct sim_scenario scenario_claim = {
	.name = "claim",
	.about = "items of a queue that clients claim, under all faults",
	CLAIM_SCENARIO,
};

static void begin_keyed(struct sim *sim)
{
	claim_shared(sim)->keyed = true;
	claim_shared(sim)->had_since = SPREAD_FOR;
}

const struct sim_scenario scenario_keyed_claim = {
	.name = "keyed-claim",
	.about = "the same, with priorities or delays, mostly by one alone",
	.begin = begin_keyed,
	CLAIM_SCENARIO,
};
