/* claim_order.c - the rule about the order in which items are claimed. */
#include "claim_actor.h"

#include "custody.h"
#include "sim_impl.h"

/* Return since when nothing prevents a claim of the item.  If a server with too
   many requests refuses a claim, the item is claimed later than those requested
   along with it. */
static int64_t open_since(const struct stock *n)
{
	return n->put_off_at > n->free_since ? n->put_off_at : n->free_since;
}

/* Does "m" come before "n", so that it had to be claimed first?  It had to if
   it was free for long enough to be known, or if it was tried no later than
   "n". */
static bool is_passed_over(const struct stock *m, const struct stock *n,
	int64_t known)
{
	return ware_is_before(&m->ware, &n->ware) &&
		(open_since(m) < known ||
			(m->tried_at >= open_since(m) &&
				m->tried_at <= n->tried_at));
}

/* Claims that were lost after another was are put off.  Note which items those
   are at this try. */
static void note_put_off(struct sim *sim)
{
	struct shared *s = claim_shared(sim);

	for (int i = 0; i < MOST; i++) {
		const struct actor *a = sim_actor_state(sim, i);
		const struct ku_lent *l = a->desk != NULL ? a->desk->first
							  : NULL;

		for (; l != NULL; l = l->next) {
			struct stock *m = l->custody != NULL &&
					ku_custody_is_put_off(l->custody)
				? claim_node(s, ku_custody_name(l->custody))
				: NULL;

			if (m == NULL)
				continue;
			if (m->off_last < s->tries - 1)
				m->off_first = s->tries;
			m->off_last = s->tries;
		}
	}
}

void claim_tried(struct sim *sim, struct stock *n)
{
	n->last_try = ++claim_shared(sim)->tries;
	note_put_off(sim);
	if (n->tried_at < open_since(n) || n->tried_at == 0)
		n->tried_at = sim_now(sim);
}

/* Was "m" put off when "n" was tried?  Then a desk goes on to "n" without it,
   even if the claim of "m" is dropped meanwhile because of "n". */
static bool goes_on_without(const struct stock *m, const struct stock *n)
{
	return m->off_first <= n->last_try && n->last_try <= m->off_last;
}

/* Rule "order": "n" was just claimed.  Where a key decides, no other item may
   be left that comes before "n" and that the taker must have known of.  This
   holds for an actor that claims alone and does not use old listings.  It does
   not hold for an item that was delivered too often, which is being moved away,
   nor for one whose marker was deleted from outside, which its taker still has.
   A listing may come late, and a choice made by it may be carried out as much
   later; if clients stall, at any time. */
void claim_check_order(struct sim *sim, const struct stock *n)
{
	struct shared *s = claim_shared(sim);
	int64_t known = sim_now(sim) - sim_unheard_ns(sim) -
		2 * subjects_known_ns(sim, TAKING_NS);
	bool others = false, due = false;

	if (s->takers > 1 || s->stale > 0 || s->kind == KU_ITEM_SIMPLE ||
		sim_stalls(sim))
		return;
	/* A desk that tried before the markers' folder existed tries again. */
	if (s->marks_since > known)
		return;
	/* A desk that was beaten chooses at random for some claims. */
	if (s->had_since++ < SPREAD_FOR)
		return;
	for (int i = 0; i < s->node_count; i++) {
		const struct stock *m = &s->nodes[i];

		if (!m->there || m->marked || m->robbed || m == n ||
			(s->deliveries > 0 && m->sets >= s->deliveries))
			continue;
		if (is_passed_over(m, n, known) && !goes_on_without(m, n))
			sim_fail(sim, "order", "%s is had, and %s is there",
				n->path, m->path);
		others = others || ware_is_before(&n->ware, &m->ware);
		due = due || claim_due_at(s, m) < sim_now(sim);
	}
	s->figures[CLAIM_IN_RANK] += others;
	s->figures[CLAIM_IN_TIME] += others && due && s->kind == KU_ITEM_DELAY;
}
