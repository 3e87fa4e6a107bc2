/* claim_robbed.c - the rule about a claim whose marker was deleted from outside,
   checked after each event. */
#include "claim_actor.h"

#include <kustos/hold.h>

/* Has an actor the item, by this marker? */
static bool is_had(struct sim *sim, int64_t mark)
{
	for (int i = 0; i < MOST; i++) {
		const struct actor *a = sim_actor_state(sim, i);

		for (int j = 0; j < SLOTS; j++)
			if (a->slots[j].state == SLOT_HAS &&
				a->slots[j].token == mark)
				return true;
	}
	return false;
}

/* A client that does not know yet that its marker is gone may release its claim,
   and so delete the marker that another has made since: that is robbed, too. */
void claim_rob(struct sim *sim, struct stock *n, enum fate fate)
{
	if (fate != FATE_REMOVED &&
		!(n->robbed && fate == FATE_DELETED && is_had(sim, n->mark)))
		return;
	n->robbed = true;
	n->robbed_mark = n->mark;
	n->robbed_at = sim_now(sim);
}

static bool is_lately(struct sim *sim, int64_t at)
{
	return sim_now(sim) <= at + TIMEOUT_NS + sim_unheard_ns(sim);
}

bool claim_robbed_lately(struct sim *sim, const struct stock *n)
{
	return n->robbed && is_lately(sim, n->robbed_at);
}

static bool must_know(const struct actor *a, int64_t at)
{
	int64_t since = at > a->it.awake_since ? at : a->it.awake_since;

	return a->it.awake_since != INT64_MAX && !is_lately(a->it.sim, since);
}

/* kustos_hold_state() may declare a loss, so ask only about a hold that is held
   by the clock. */
static bool has_robbed(const struct actor *a, const struct slot *slot)
{
	struct shared *s = claim_shared(a->it.sim);
	const struct stock *n = &s->nodes[slot->node];

	if (slot->state != SLOT_HAS || slot->token != n->robbed_mark)
		return false;
	s->figures[CLAIM_ROBBED]++;
	return must_know(a, n->robbed_at) && subject_sure(&a->it) &&
		kustos_hold_state(ku_lent_hold(slot->lent)) != KUSTOS_HOLD_LOST;
}

static const char *check_robbed(struct sim *sim)
{
	for (int i = 0; i < MOST; i++) {
		struct actor *a = sim_actor_state(sim, i);

		if (a->it.gone)
			continue;
		subject_mind(&a->it);
		for (int j = 0; j < SLOTS; j++)
			if (has_robbed(a, &a->slots[j]))
				return "its marker was deleted, and it is held";
	}
	return NULL;
}

const struct sim_invariant claim_robbed_rule = {
	"robbed",
	check_robbed,
	NULL,
};
