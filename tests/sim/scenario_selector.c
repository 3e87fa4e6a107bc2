/*
 * scenario_selector.c - selectors of many clients on shared lines, under all
 * faults.
 *
 * Their functions run for a while, are interrupted, ignore that ("deaf"), or
 * close their own selector.  Leaders change their data, hand over, and are asked
 * for leadership.  Some
 * selectors stand in line again by themselves, others when they are told to.
 * The rules:
 *
 *   one leader   a selector that leads by its clock has the first node of the
 *                line, except for a moment after the node was deleted from
 *                outside
 *   term         its term is greater than all before
 *   terms        the terms of one selector do not overlap, however deaf its
 *                function is
 *   asked        a function whose term is over is asked to return, at once
 *   kept         the node stays until the function has returned, unless the
 *                term is lost
 *   heir         a selector that was handed over to by name is the first when
 *                the leader's node goes
 *   ends once    each call to a leader ends
 *   settles      after the faults each selector that stands in line again by
 *                itself leads again and again, and each other one has led as
 *                often as it was told to
 *   orphan       after that nothing is left
 */
#include "ask.h"
#include "client.h"
#include "selector_actor.h"
#include "sim_impl.h"

#include <kustos/cancel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool one_in(const struct actor *a, uint64_t n)
{
	return sim_random_below(subject_random(&a->it), n) == 0;
}

/* --- Functions ------------------------------------------------------------ */

static bool has_to_return(const struct chief *c)
{
	const struct actor *a = c->actor;

	if (a->leaves || sim_now(a->it.sim) >= c->until)
		return true;
	return kustos_cancel_fired(c->cancel) && !c->deaf;
}

static void count_loss(const struct chief *c)
{
	uint64_t *figures = sel_shared(c->actor->it.sim)->figures;
	bool lost = kustos_hold_state(c->hold) == KUSTOS_HOLD_LOST;

	figures[FIGURE_LOST] += lost;
	figures[FIGURE_DEAF] += lost && c->deaf;
}

static void lead(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	struct chief *c = arg;
	struct actor *a = c->actor;
	struct sim_random *r = subject_random(&a->it);

	sim_say(a->it.sim, a->it.index, "leads", kustos_hold_path(hold),
		c->number);
	c->token = kustos_hold_token(hold);
	sel_check_begin(c);
	sel_shared(a->it.sim)->figures[FIGURE_TERMS]++;
	c->leads = true;
	c->hold = hold;
	c->cancel = cancel;
	c->epoch = a->it.client->session.epoch;
	c->deaf = one_in(a, 8);
	c->asked = false;
	c->silent_since = 0;
	c->until = sim_now(a->it.sim) +
		sim_random_between(r, 0,
			one_in(a, 8) ? 2 * TIMEOUT_NS : TIMEOUT_NS / 16);
	while (!has_to_return(c))
		fiber_yield();
	count_loss(c);
	c->served += sim_draining(a->it.sim);
	if (c->to_come > 0)
		c->to_come--;
	if (!a->leaves && !sim_draining(a->it.sim) && one_in(a, 40)) {
		sel_shared(a->it.sim)->figures[FIGURE_CLOSED]++;
		c->closed = true;
		kustos_selector_close(selector);
	}
	sim_say(a->it.sim, a->it.index, "returns", kustos_hold_path(hold),
		c->number);
	c->leads = false;
}

struct job {
	struct kustos_client *client;
	struct ku_call *call;
};

static void run_job(void *arg)
{
	struct job job = *(struct job *)arg;

	ku_lock(job.client);
	job.call->fn(job.client, job.call);
	ku_unlock(job.client);
}

/* Start the functions that are to begin. */
static void begin_functions(struct actor *a)
{
	for (int i = 0; i < CHIEFS; i++) {
		struct job job = { a->it.client, a->calls[i] };

		if (job.call == NULL)
			continue;
		a->calls[i] = NULL;
		a->fibers[i] = fiber_start(run_job, &job);
	}
}

/* Let the functions go on. */
static void run_functions(struct actor *a)
{
	for (int i = 0; i < CHIEFS; i++) {
		if (a->fibers[i] == NULL)
			continue;
		if (!fiber_over(a->fibers[i]))
			fiber_resume(a->fibers[i]);
		if (fiber_over(a->fibers[i])) {
			fiber_free(a->fibers[i]);
			a->fibers[i] = NULL;
		}
	}
	begin_functions(a);
}

static void apart(void *arg, struct ku_call *call)
{
	struct actor *a = arg;

	for (int i = 0; i < CHIEFS; i++)
		if (a->calls[i] == NULL && a->fibers[i] == NULL) {
			a->calls[i] = call;
			return;
		}
	sim_fail(a->it.sim, "terms", "more functions than selectors");
}

/* --- Errands -------------------------------------------------------------- */

static void ended(void *arg, enum kustos_err err)
{
	struct errand *e = arg;
	struct actor *a = e->actor;
	uint64_t *figures = sel_shared(a->it.sim)->figures;

	sim_say(a->it.sim, a->it.index, e->hands ? "handed over" : "edited",
		kustos_err_name(err), 0);
	a->errands--;
	figures[FIGURE_EDITED] += !e->hands && err == KUSTOS_OK;
	figures[FIGURE_HANDED] += e->hands && err == KUSTOS_OK;
	if (e->hands && err == KUSTOS_OK)
		posts_check_heir(a->it.sim, e->post, e->heir);
	free(e);
}

static enum kustos_err edit(const struct chief *c, struct errand *e)
{
	struct actor *a = c->actor;
	const char *data = one_in(a, 4) ? "edited" : c->id;

	return kustos_selector_set_data_async(c->selector, data, strlen(data),
		ask_some_deadline(&a->it, TIMEOUT_NS / 64), NULL, ended, e);
}

/* Hand over to a chief that exists, existed or will exist, perhaps in the other
   line. */
static enum kustos_err hand_over(const struct chief *c, struct errand *e)
{
	struct actor *a = c->actor;
	struct sim_random *r = subject_random(&a->it);
	const struct actor *other = sel_actor_of(a->it.sim,
		(int)sim_random_below(r, CLIENTS));
	bool named = !one_in(a, 4);

	if (named)
		snprintf(e->heir, sizeof(e->heir), "%s",
			other->chiefs[one_in(a, 2)].id);
	return kustos_selector_hand_over_async(c->selector,
		e->heir[0] != '\0' ? e->heir : NULL,
		ask_some_deadline(&a->it, TIMEOUT_NS / 8), NULL, ended, e);
}

static void send_on_errand(struct chief *c)
{
	struct actor *a = c->actor;
	struct errand *e = sim_calloc(1, sizeof(*e));

	e->actor = a;
	e->hands = one_in(a, 2);
	e->post = posts_of(&sel_shared(a->it.sim)->posts, c->token);
	a->errands++;
	if ((e->hands ? hand_over(c, e) : edit(c, e)) == KUSTOS_OK)
		return;
	a->errands--;
	free(e);
}

/* --- Selectors ------------------------------------------------------------ */

static void enter(struct actor *a, struct chief *c)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;

	memset(c, 0, sizeof(*c));
	c->actor = a;
	c->number = ++sel_shared(a->it.sim)->chiefs;
	c->line = one_in(a, 4);
	c->requeues = one_in(a, 2);
	c->cautious = one_in(a, 4);
	c->to_come = 1;
	snprintf(c->id, sizeof(c->id), "c%d", c->number);
	o.id = c->id;
	o.lead = lead;
	o.arg = c;
	o.requeues = c->requeues;
	o.cautious = c->cautious;
	if (kustos_selector_create(a->it.client, sel_lines[c->line], &o,
		    &c->selector) != KUSTOS_OK ||
		kustos_selector_start(c->selector) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot make a selector");
}

static bool is_idle(const struct actor *a)
{
	for (int i = 0; i < CHIEFS; i++)
		if (a->fibers[i] != NULL || a->calls[i] != NULL)
			return false;
	return true;
}

/* Let all functions return, and then destroy all selectors.  To destroy a
   selector while its function runs would wait for the function, for ever. */
static void leave_all(void *arg)
{
	struct actor *a = arg;

	a->leaves = true;
	while (!is_idle(a))
		run_functions(a);
	for (int i = 0; i < CHIEFS; i++) {
		kustos_selector_destroy(a->chiefs[i].selector);
		a->chiefs[i].selector = NULL;
	}
	a->leaves = false;
}

static void requeue(struct chief *c)
{
	const struct actor *a = c->actor;

	if (c->to_come > 1 || c->closed)
		return;
	if (kustos_selector_requeue(c->selector) != KUSTOS_OK)
		sim_fail(a->it.sim, "requeue", "%d cannot", c->number);
	sel_shared(a->it.sim)->figures[FIGURE_REQUEUED]++;
	/* A selector that has not led yet stands in line for that already. */
	c->to_come = c->leads ? 2 : 1;
}

static void asked(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	uint64_t *figures = arg;

	(void)result;
	figures[FIGURE_ASKED] += err == KUSTOS_OK;
}

/* Ask the first of a line for leadership. */
static void ask_first(struct actor *a)
{
	struct shared *s = sel_shared(a->it.sim);
	const struct post *post = posts_first(&s->posts, one_in(a, 2), 0);

	if (post != NULL &&
		kustos_set_async(a->it.client, post->path, "__REVOKE__", 10, -1,
			sim_now(a->it.sim) + TIMEOUT_NS, NULL, asked,
			s->figures) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot ask");
}

static void act(struct actor *a)
{
	struct chief *c = &a->chiefs[one_in(a, 2)];

	if (c->selector == NULL) {
		enter(a, c);
	} else if (is_idle(a) && one_in(a, c->closed ? 4 : 60)) {
		kustos_selector_destroy(c->selector);
		c->selector = NULL;
	} else if (one_in(a, 10)) {
		requeue(c);
	} else if (one_in(a, 60)) {
		ask_first(a);
	} else if (c->leads && one_in(a, 10)) {
		sel_shared(a->it.sim)->figures[FIGURE_INTERRUPTED]++;
		(void)kustos_selector_interrupt(c->selector);
	} else if (c->leads && one_in(a, 4)) {
		send_on_errand(c);
	}
}

static void init(struct sim *sim, int index, void *self)
{
	struct actor *a = self;

	subject_init(&a->it, sim, index, leave_all);
	a->it.apart = apart;
	(void)subject_open(&a->it);
}

static void step(void *self)
{
	struct actor *a = self;

	if (a->it.closing && !a->it.gone)
		return;
	if (a->it.gone) {
		if (!sim_draining(a->it.sim))
			(void)subject_open(&a->it);
		return;
	}
	run_functions(a);
	if (sim_draining(a->it.sim))
		return;
	if (one_in(a, 1500))
		subject_close(&a->it, subject_some_budget(&a->it));
	else
		act(a);
}

static void tick(void *self, int64_t now_ns)
{
	struct actor *a = self;

	subject_tick(self, now_ns);
	if (!a->it.gone)
		begin_functions(a);
}

static const struct sim_actor actor = {
	.size = sizeof(struct actor),
	.init = init,
	.step = step,
	.next_due = subject_next_due,
	.tick = tick,
	.fini = subject_fini,
};

const struct sim_scenario scenario_selector = {
	.name = "selector",
	.about = "leader selectors of many clients on shared lines, all faults",
	.clients = CLIENTS,
	.step_ms = 20,
	.faults.rate = {
		SUBJECT_FAULTS,
		[SIM_DELETE] = 400,
	},
	SUBJECT_SCENARIO,
	.prefix = PREFIX,
	.end = sel_end,
	.settled = sel_settled,
	.settle_ms = 200000,
	.note = sel_note,
	.change = sel_change,
	.invariants = sel_rules,
	.invariant_count = SELECTOR_RULE_COUNT,
};
