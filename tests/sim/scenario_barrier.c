/*
 * scenario_barrier.c - a double barrier and a simple one, shared by a few
 * clients, under all faults.
 *
 * Each actor has a client with a member of the double barrier, and goes in and
 * out with all kinds of deadlines.  It also sets, removes and waits for the
 * simple barrier.  Nodes are deleted from outside.  The rules:
 *
 *   in together   a member that is in had a node while the round was complete
 *   out together  a member that is out left nobody behind: each other node of
 *                 its round is gone, or that node's member has begun to leave.
 *                 To the round belong the members that completed it, and those
 *                 that had come by what "ready" said, unless "ready" was
 *                 deleted
 *   open          if a wait for the simple barrier succeeds, the barrier was
 *                 not there at some time since the wait began
 *   end           a call ends once, with an error that fits
 *   served        after the faults all get in, and out, and past the barrier
 *   orphan        after that nothing is left, neither nodes nor watches
 *
 * In a crowded run there are more members than a round needs.
 */
#include "barrier_actor.h"

#include <kustos/node.h>
#include <stdlib.h>
#include <string.h>

/* Calls */

static void ignore(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	(void)err;
	(void)result;
}

static void prepare(struct actor *a, struct ask *call)
{
	ask_begin(call, &a->it, ask_some_deadline(&a->it, TIMEOUT_NS / 8));
}

static void go_in(struct actor *a)
{
	prepare(a, &a->step);
	a->phase = ENTERING;
	a->late = sim_draining(a->it.sim);
	a->first_node = bar_shared(a->it.sim)->node_count;
	a->told = 0;
	bar_shared(a->it.sim)->figures[FIGURE_LEFTOVER] +=
		bar_shared(a->it.sim)->ready_there;
	sim_say(a->it.sim, a->it.index, "enter", NULL, 0);
	enum kustos_err err = kustos_double_barrier_enter_async(a->member,
		a->step.deadline, a->step.cancel, bar_entered, a);
	if (err != KUSTOS_OK)
		bar_entered(a, err);
}

static void go_out(struct actor *a)
{
	prepare(a, &a->step);
	a->phase = LEAVING;
	bar_part(a);
	sim_say(a->it.sim, a->it.index, "leave", NULL, 0);
	enum kustos_err err = kustos_double_barrier_leave_async(a->member,
		a->step.deadline, a->step.cancel, bar_left, a);
	if (err == KUSTOS_ELOST) {
		bar_shared(a->it.sim)->figures[FIGURE_LOST]++;
		bar_call_over(a, &a->step, "lost", KUSTOS_OK);
		a->phase = OUT;
	} else if (err != KUSTOS_OK) {
		bar_left(a, err);
	}
}

static void pass_gate(struct actor *a)
{
	prepare(a, &a->wait);
	enum kustos_err err = kustos_barrier_wait_async(a->gate,
		a->wait.deadline, a->wait.cancel, bar_passed, a);
	if (err != KUSTOS_OK)
		bar_passed(a, err);
}

static void work_gate(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);
	enum kustos_err err = KUSTOS_OK;

	if (sim_draining(a->it.sim))
		(void)model_delete(sim_model(a->it.sim), GATE);
	else if (sim_random_below(r, 40) == 0)
		ask_fire(&a->wait);
	else if (sim_random_below(r, 6) == 0)
		err = kustos_create_async(a->it.client, GATE, "", 0,
			KUSTOS_CREATE_PARENTS, KUSTOS_FOREVER, NULL, ignore,
			NULL);
	else if (sim_random_below(r, 4) == 0)
		err = kustos_delete_async(a->it.client, GATE, -1,
			KUSTOS_FOREVER, NULL, ignore, NULL);
	else if (!a->wait.on)
		pass_gate(a);
	if (err != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot ask: %s",
			kustos_err_name(err));
}

static void open_client(struct actor *a)
{
	a->phase = OUT;
	if (!subject_open(&a->it))
		return;
	if (kustos_double_barrier_create(a->it.client, STEP,
		    bar_shared(a->it.sim)->count, NULL,
		    &a->member) != KUSTOS_OK ||
		kustos_barrier_create(a->it.client, GATE, NULL, &a->gate) !=
			KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot make a barrier");
}

static void let_go(void *actor)
{
	struct actor *a = actor;

	bar_part(a);
	kustos_double_barrier_destroy(a->member);
	kustos_barrier_destroy(a->gate);
}

/* Choose how many members a round needs, and how many there are. */
static void choose_numbers(struct sim *sim)
{
	struct shared *s = bar_shared(sim);
	struct sim_random *r = sim_actor_random(sim, 0);

	s->count = (int)sim_random_between(r, 1, MOST);
	s->members = s->count;
	if (s->crowded)
		s->members += (int)sim_random_between(r, 1, CROWD - MOST);
}

static void init(struct sim *sim, int index, void *self)
{
	struct actor *a = self;

	subject_init(&a->it, sim, index, let_go);
	if (index == 0)
		choose_numbers(sim);
	a->active = index < bar_shared(sim)->members;
	if (a->active)
		open_client(a);
}

static void step(void *self)
{
	struct actor *a = self;
	struct sim_random *r = subject_random(&a->it);
	bool drains = sim_draining(a->it.sim);

	if (!a->active || bar_shared(a->it.sim)->ending.served > 0) {
		return;
	} else if (a->it.gone) {
		open_client(a);
	} else if (a->it.closing) {
		return;
	} else if (!drains && sim_random_below(r, 400) == 0) {
		subject_close(&a->it, subject_some_budget(&a->it));
	} else if (sim_random_below(r, 3) == 0) {
		work_gate(a);
	} else if (a->phase == OUT) {
		go_in(a);
	} else if (a->phase == IN && sim_random_below(r, 3) == 0) {
		go_out(a);
	} else if (!drains && sim_random_below(r, 60) == 0) {
		ask_fire(&a->step);
	}
}

static void end(struct sim *sim)
{
	struct shared *s = bar_shared(sim);

	figures_keep(s->figures, BARRIER_FIGURES);
	free(s->nodes);
	ledger_free(&s->ledger);
}

/* The end */

/* Is there a member whose round was complete, but which cannot know that
   because "ready" was deleted before it could look?  The others wait for it. */
static bool one_missed_it(struct sim *sim)
{
	const struct shared *s = bar_shared(sim);
	bool missed = false;

	for (int i = 0; i < s->node_count; i++) {
		const struct spot *node = &s->nodes[i];

		missed = missed ||
			(node->there && node->full != 0 && node->actor >= 0 &&
				bar_actor_of(sim, node->actor)->phase ==
					ENTERING);
	}
	return missed && s->tampered && !s->ready_there;
}

/* It takes too long.  A member that has missed its round looks again after some
   time, if it had lost its connection: wait for that.  Otherwise it waits for
   others that wait for it.  The same happens to a member that went in only by
   what it saw, and takes a member of the next round for one of its own.  If
   "ready" was deleted, cancel the calls. */
static void be_patient(struct sim *sim)
{
	struct shared *s = bar_shared(sim);

	if (!s->missed && one_missed_it(sim)) {
		s->missed = true;
		s->patience_ns += MISSED_NS;
	} else if (s->tampered) {
		s->tampered = false;
		s->patience_ns += SERVED_NS;
		for (int i = 0; i < s->members; i++)
			ask_fire(&bar_actor_of(sim, i)->step);
	} else {
		sim_fail(sim, "served", "not all were in and out");
	}
}

/* Have all members been in and out, and past the simple barrier? */
static bool everybody_served(struct sim *sim)
{
	struct shared *s = bar_shared(sim);
	bool served = true;

	for (int i = 0; i < s->members; i++)
		served = served && bar_actor_of(sim, i)->served;
	if (!served &&
		sim_now(sim) > sim_drain_since(sim) + SERVED_NS +
				sim_unheard_ns(sim) + s->patience_ns)
		be_patient(sim);
	return served;
}

/* End all calls.  Returns whether none is left. */
static bool is_quiet(struct sim *sim)
{
	struct shared *s = bar_shared(sim);
	bool quiet = true;

	(void)model_delete(sim_model(sim), GATE);
	for (int i = 0; i < s->members; i++) {
		struct actor *a = bar_actor_of(sim, i);

		if (a->phase == ENTERING)
			ask_fire(&a->step);
		else if (a->phase == IN)
			go_out(a);
		quiet = quiet && !a->step.on && !a->wait.on;
	}
	if (!quiet &&
		sim_now(sim) >
			s->ending.served + SERVED_NS + sim_unheard_ns(sim))
		sim_fail(sim, "served", "a wait does not end");
	return quiet;
}

static const char *left(struct sim *sim)
{
	const struct shared *s = bar_shared(sim);

	if (!is_quiet(sim))
		return "a wait";
	for (int i = 0; i < s->node_count; i++)
		if (s->nodes[i].there)
			return s->nodes[i].path;
	return s->ready_there ? READY : NULL;
}

static bool settled(struct sim *sim)
{
	static const struct ending_rules rules = {
		everybody_served,
		left,
		SERVED_NS + TIDY_NS,
	};

	return ending_settled(sim, &bar_shared(sim)->ending, &rules);
}

static const struct sim_actor actor = {
	SUBJECT_ACTOR,
	.fini = subject_fini,
};

static void crowd(struct sim *sim)
{
	bar_shared(sim)->crowded = true;
}

#define BARRIER_SCENARIO                                                       \
	.step_ms = 20, .faults.rate = { SUBJECT_FAULTS, [SIM_DELETE] = 1000 }, \
	SUBJECT_SCENARIO, .prefix = PREFIX, .end = end, .settled = settled,    \
	.settle_ms = 500000, .note = bar_note, .change = bar_change

const struct sim_scenario scenario_barrier = {
	.name = "barrier",
	.about = "a double barrier and a simple one of a few clients, all "
		 "faults",
	.clients = MOST,
	BARRIER_SCENARIO,
};

const struct sim_scenario scenario_crowd = {
	.name = "crowd",
	.about = "the same, of more members than a round takes",
	.clients = CROWD,
	.begin = crowd,
	BARRIER_SCENARIO,
};
