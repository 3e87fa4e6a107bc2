/*
 * scenario_claim.c - a queue whose items are claimed by a few clients, under all
 * faults.
 *
 * Each actor puts items, claims some, with all kinds of deadlines, and acknowledges
 * them, puts them back, releases them, or closes its client with what it has.  Nodes
 * are deleted from outside: items, markers, folders.  What must hold:
 *
 *   alone       who is granted an item has it alone, of those who are certain by
 *               their own clocks; unless its marker was deleted, or its
 *               session ended, from outside
 *   deliveries  each claim of an item is counted
 *   dead        what was delivered too often is moved, and nothing else is
 *   bare        an item is deleted with its marker only
 *   acked       an ack that ends well has deleted its item; one that was lost, not
 *   once        an item is there once, though it is put back
 *   empty       who is told so: no item had been free for so long that a server
 *               would know
 *   end         a call ends once, with an error that fits
 *   lost        once faults are over each item is acknowledged, soon
 *   orphan      no marker stays, and nobody watches anything
 */
#include "claim_actor.h"

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
	enum kustos_err err = ku_lent_ack_async(lent, again, claim_ended, slot);
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

/* Whether it is put is seen when it is there. */
static void put(struct actor *a)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d",
		claim_new_piece(a->it.sim));
	struct ku_op *op = NULL;

	if (ku_op_new(a->it.client, KU_ZK_CREATE, QUEUE "/qn-",
		    KUSTOS_SEQUENTIAL | KUSTOS_PARENTS, &op) != KUSTOS_OK ||
		ku_op_data(op, text, (size_t)len) != KUSTOS_OK ||
		ku_create_init(op) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot put");
	ku_lock(a->it.client);
	(void)ku_op_detached(op);
	ku_unlock(a->it.client);
}

static void make_desk(struct actor *a)
{
	const struct ku_desk_wish wish = {
		.kind = KU_ITEM_SIMPLE,
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
	if (subject_open(&a->it))
		make_desk(a);
}

/* Claims end before the client does, and may outlive the desk. */
static void let_go(void *actor)
{
	struct actor *a = actor;

	ku_desk_destroy(a->desk);
	a->desk = NULL;
	for (int i = 0; i < SLOTS; i++)
		if (a->slots[i].state == SLOT_HAS)
			release(&a->slots[i]);
}

static void init(struct sim *sim, int index, void *self)
{
	struct actor *a = self;

	subject_init(&a->it, sim, index, let_go);
	if (index == 0)
		claim_shared(sim)->deliveries =
			(int)sim_random_below(sim_actor_random(sim, 0), 2) * 4;
	open_client(a);
}

static void act_on(struct actor *a, struct slot *slot)
{
	struct sim_random *r = subject_random(&a->it);
	bool drains = sim_draining(a->it.sim);

	switch (slot->state) {
	case SLOT_FREE:
		if (claim_shared(a->it.sim)->ending.served == 0)
			claim(a, slot);
		break;
	case SLOT_ASKING:
		if (claim_shared(a->it.sim)->ending.served > 0 ||
			sim_random_below(r, 20) == 0)
			fire(slot);
		break;
	case SLOT_HAS:
		if (sim_random_below(r, 3) > 0)
			end(slot, !drains && sim_random_below(r, 4) == 0);
		else if (sim_random_below(r, 3) == 0)
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

	if (a->it.gone) {
		open_client(a);
	} else if (a->it.closing) {
		return;
	} else if (!drains && sim_random_below(r, 800) == 0) {
		subject_close(&a->it, subject_some_budget(&a->it));
	} else if (!drains && sim_random_below(r, 500) == 0) {
		/* Those that wait hear of it; what is had is kept. */
		ku_desk_destroy(a->desk);
		make_desk(a);
	} else if (!drains && sim_random_below(r, 3) == 0) {
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

	if (missing != NULL && sim_now(sim) > sim_drain_since(sim) + SERVED_NS)
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
		ku_desk_destroy(a->desk); /* which watches while it is there */
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

const struct sim_scenario scenario_claim = {
	.name = "claim",
	.about = "items of a queue that clients claim, under all faults",
	.clients = MOST,
	.step_ms = 20,
	.faults.rate = { SUBJECT_FAULTS, [SIM_DELETE] = 500 },
	.prefix = PREFIX,
	.end = finish,
	.settled = settled,
	.settle_ms = 200000,
	.note = claim_note,
	.change = claim_change,
	SUBJECT_SCENARIO,
};
