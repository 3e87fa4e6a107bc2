/*
 * scenario_latch.c - latches of many clients on shared lines, under all faults.
 *
 * The latches come and go, change their data, and hand over to each other by
 * name.  Others write into their nodes, and foreign nodes stand between them.
 * The rules:
 *
 *   one leader   a latch that leads by its clock has the first node of the
 *                line, except for a moment after the node was deleted from
 *                outside
 *   term         its term is greater than all before
 *   turns        the program is told of gains and losses alternately
 *   told         it is told of a loss at once; and before the latch deletes its
 *                node
 *   reason       no loss is told without a reason
 *   heir         a latch that was handed over to by name is the first when the
 *                leader's node goes
 *   resumed      if a process dies and another resumes its session, the latch
 *                that led leads on in the same term, with no other leader in
 *                between
 *   ends once    each call to a leader ends
 *   settles      after the faults each candidate stands in its line, the first
 *                one leads, none leads whose node somebody else wrote into, and
 *                observers know all that; closed latches leave nothing
 *
 * The scenario "one-node" is the same with elections of one node, for which all
 * fight: in the end one leads.  There nobody else writes, and no process dies.
 */
#include "latch_actor.h"

struct shared *latch_shared(struct sim *sim)
{
	return sim_state(sim);
}

struct actor *latch_actor_of(struct sim *sim, int index)
{
	return sim_actor_state(sim, index);
}

static void init(struct sim *sim, int index, void *self)
{
	struct actor *a = self;

	subject_init(&a->it, sim, index, latch_leave_all);
	(void)subject_open(&a->it);
}

static void step(void *self)
{
	struct actor *a = self;
	struct sim_random *r = subject_random(&a->it);

	if (a->it.closing && !a->it.gone)
		return;
	if (a->it.gone)
		a->dummy[0] = '\0';
	if (a->it.gone && a->crashed) {
		if (a->rest-- <= 0 || sim_draining(a->it.sim))
			latch_resume(a);
		return;
	}
	if (a->it.gone && sim_draining(a->it.sim))
		return;
	if (a->it.gone) {
		(void)subject_open(&a->it);
	} else if (sim_draining(a->it.sim)) {
		latch_tidy(a);
	} else if (sim_random_below(r, 1500) == 0) {
		subject_close(&a->it, subject_some_budget(&a->it));
	} else if (latch_crashes(a)) {
		latch_crash(a);
	} else {
		latch_act(a);
	}
}

static const struct sim_actor actor = {
	SUBJECT_ACTOR,
	.fini = subject_fini,
};

/* Everything of a scenario except its name and how it begins. */
#define LATCH_SCENARIO \
	.clients = CLIENTS, .step_ms = 20, \
	.faults.rate = { \
		[SIM_LOSE_REPLY] = 8000, [SIM_DELAY_REPLY] = 1000, \
		[SIM_CUT] = 400, [SIM_HOLE] = 200, [SIM_EXPIRE] = 60, \
		[SIM_PAUSE] = 1000, [SIM_DELETE] = 200, \
		[SIM_REMOVE_PARENT] = 40, [SIM_STOP_SERVER] = 100, \
		[SIM_LAG] = 1000, [SIM_THROTTLE] = 2000, \
	}, \
	SUBJECT_SCENARIO, .prefix = PREFIX, .end = latch_end, \
	.settled = latch_settled, .settle_ms = 60000, \
	.note = latch_note, .change = latch_change, \
	.invariants = latch_rules, .invariant_count = LATCH_RULE_COUNT

const struct sim_scenario scenario_latch = {
	.name = "latch",
	.about = "leader latches of many clients on shared lines, all faults",
	LATCH_SCENARIO,
};

static void begin_one_node(struct sim *sim)
{
	latch_shared(sim)->one_node = true;
}

const struct sim_scenario scenario_one_node = {
	.name = "one-node",
	.about = "the same, of one node for each line",
	.begin = begin_one_node,
	LATCH_SCENARIO,
};
