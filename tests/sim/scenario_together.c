/*
 * scenario_together.c - several mutexes taken together, by clients that each
 * list them in an order of their own, under all faults.
 *
 * The rules:
 *
 *   one holder   a mutex that two want has one holder, by its clock, except for
 *                a moment after a node was deleted from outside
 *   whole        a grant holds all parts; if one part is lost, all are
 *   told         a loss is told at once, and once
 *   kept         no node is deleted while it is held, unless its session ends
 *   end          a call ends once, with an error that fits, and in time
 *   served       after the faults everybody is granted what it wants: nobody
 *                waits in a circle
 *   orphan       after that nothing is left, neither nodes nor watches
 */
#include "ask.h"
#include "ending.h"
#include "ledger.h"
#include "sim_impl.h"
#include "subject.h"
#include "together_figures.h"

#include <kustos/lockable.h>
#include <kustos/mutex.h>
#include <string.h>

#define CLIENTS 5
#define LINES 4
#define PILES 2 /* of a client */
#define TIMEOUT_MS 3000
#define TIMEOUT_NS (TIMEOUT_MS * KU_NS_PER_MS)
#define PREFIX "/together"
#define TOLD_NS (5 * KU_NS_PER_MS)
#define TRY_NS (3 * TIMEOUT_NS)
#define SERVED_NS (60 * TIMEOUT_NS)
#define TIDY_NS (4 * TIMEOUT_NS)

static const char *const lines[LINES] = { PREFIX "/a", PREFIX "/b", PREFIX "/c",
	PREFIX "/d" };

struct actor;

/* Mutexes of some lines, taken together. */
struct pile {
	struct actor *actor;
	struct ask ask;
	size_t count;
	int line[LINES]; /* in the order of the call */
	struct kustos_hold *hold;
	int64_t until;
	int64_t lost_since; /* when the loss was seen, while it is not told */
	int told;
	bool excused; /* a node of it was deleted from outside */
	bool served;  /* granted since the faults ended */
};

struct actor {
	struct subject it;
	struct kustos_mutex *mutexes[LINES]; /* NULL: none */
	struct pile piles[PILES];
	bool ending; /* makes no more calls, to be closed */
};

struct shared {
	struct ledger ledger;
	int nodes;
	uint64_t figures[TOGETHER_FIGURES];
	struct ending ending;
};

static struct shared *shared_of(struct sim *sim)
{
	return sim_state(sim);
}

static struct pile *pile_of(struct sim *sim, int index)
{
	struct actor *a = sim_actor_state(sim, index / PILES);

	return &a->piles[index % PILES];
}

/* --- What is asked -------------------------------------------------------- */

static void told(void *arg, struct kustos_hold *hold)
{
	struct pile *p = arg;
	struct sim *sim = p->actor->it.sim;

	(void)hold;
	shared_of(sim)->figures[FIGURE_LOST]++;
	if (++p->told > 1)
		sim_fail(sim, "told", "%d is told twice", p->actor->it.index);
}

/* A pile was granted: check that it has all its parts, as far as the client can
   know. */
static void check_whole(struct pile *p)
{
	struct sim *sim = p->actor->it.sim;
	struct kustos_stat stat;

	for (size_t i = 0; i < p->count; i++) {
		const char *path = kustos_hold_path(
			kustos_hold_part(p->hold, i));
		const char *line = lines[p->line[i]];

		if (path != NULL && !model_stat(sim_model(sim), path, &stat))
			p->excused = true;
		if (path == NULL || strncmp(path, line, strlen(line)) != 0)
			sim_fail(sim, "whole", "part %d is %s", (int)i,
				path != NULL ? path : "none");
	}
	if (kustos_hold_part(p->hold, p->count) != NULL)
		sim_fail(sim, "whole", "there are too many");
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	struct pile *p = arg;
	struct actor *a = p->actor;
	struct sim_random *r = subject_random(&a->it);
	uint64_t *figures = shared_of(a->it.sim)->figures;

	sim_say(a->it.sim, a->it.index, "together", kustos_err_name(err),
		(int64_t)p->count);
	if (!ask_may_end(&p->ask, err) &&
		!(p->ask.deadline == KUSTOS_NOW &&
			(err == KUSTOS_EBUSY || err == KUSTOS_ELOST)))
		sim_fail(a->it.sim, "end", "%s", kustos_err_name(err));
	ask_end(&p->ask, "together");
	figures[FIGURE_GRANTED] += err == KUSTOS_OK;
	figures[FIGURE_BUSY] += err == KUSTOS_EBUSY;
	figures[FIGURE_GAVE_UP] += err != KUSTOS_OK && err != KUSTOS_EBUSY;
	if (err != KUSTOS_OK)
		return;
	p->hold = hold;
	p->told = 0;
	p->lost_since = 0;
	p->served = p->served || sim_draining(a->it.sim);
	p->until = sim_now(a->it.sim) +
		sim_random_between(r, 0, TIMEOUT_NS / 8);
	check_whole(p);
	if (kustos_hold_on_lost(hold, told, p) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot listen");
}

/* Choose some of the mutexes, in any order. */
static void choose(struct pile *p, struct kustos_lockable *what)
{
	struct sim_random *r = subject_random(&p->actor->it);
	int all[LINES] = { 0, 1, 2, 3 };

	p->count = 2 + sim_random_below(r, LINES - 1);
	for (size_t i = 0; i < p->count; i++) {
		size_t k = i + sim_random_below(r, LINES - i);

		p->line[i] = all[k];
		all[k] = all[i];
		what[i] = kustos_mutex_lockable(p->actor->mutexes[p->line[i]]);
	}
}

static void ask(struct pile *p)
{
	struct kustos_lockable what[LINES];
	struct subject *it = &p->actor->it;

	choose(p, what);
	p->excused = false;
	ask_begin(&p->ask, it, ask_some_deadline(it, TIMEOUT_NS / 8));
	enum kustos_err err = kustos_acquire_all_async(what, p->count,
		p->ask.deadline, p->ask.cancel, granted, p);
	if (err != KUSTOS_OK)
		granted(p, err, NULL);
}

static void give_back(struct pile *p)
{
	struct kustos_hold *hold = p->hold;

	p->hold = NULL;
	if (hold != NULL)
		(void)kustos_hold_release(hold);
}

/* --- Clients -------------------------------------------------------------- */

static void open_client(struct actor *a)
{
	a->ending = false;
	if (!subject_open(&a->it))
		return;
	for (int i = 0; i < LINES; i++)
		if (kustos_mutex_create(a->it.client, lines[i], NULL,
			    &a->mutexes[i]) != KUSTOS_OK)
			sim_fail(a->it.sim, "simulator", "cannot make a mutex");
}

static bool is_asking(const struct actor *a)
{
	return a->piles[0].ask.on || a->piles[1].ask.on;
}

/* Mutexes must not be destroyed while a call for several of them is under
   way. */
static void let_go(void *actor)
{
	struct actor *a = actor;
	bool asking = is_asking(a);

	for (int i = 0; i < PILES; i++) {
		give_back(&a->piles[i]);
		ask_fire(&a->piles[i].ask);
	}
	for (int i = 0; i < LINES && !asking; i++) {
		kustos_mutex_destroy(a->mutexes[i]);
		a->mutexes[i] = NULL;
	}
}

static void init(struct sim *sim, int index, void *self)
{
	struct actor *a = self;

	subject_init(&a->it, sim, index, let_go);
	for (int i = 0; i < PILES; i++)
		a->piles[i].actor = a;
	open_client(a);
}

static void act(struct pile *p)
{
	struct actor *a = p->actor;
	struct sim_random *r = subject_random(&a->it);
	bool quiet = a->ending || shared_of(a->it.sim)->ending.served != 0;

	if (p->hold != NULL && (quiet || sim_now(a->it.sim) >= p->until))
		give_back(p);
	else if (p->ask.on && (quiet || sim_random_below(r, 60) == 0) &&
		!(sim_draining(a->it.sim) && !quiet))
		ask_fire(&p->ask);
	else if (!p->ask.on && p->hold == NULL && !quiet)
		ask(p);
}

static void step(void *self)
{
	struct actor *a = self;
	bool drains = sim_draining(a->it.sim);

	if (a->it.gone) {
		open_client(a);
		return;
	}
	if (a->it.closing)
		return;
	if (!drains && sim_random_below(subject_random(&a->it), 400) == 0)
		a->ending = true;
	for (int i = 0; i < PILES; i++)
		act(&a->piles[i]);
	if (a->ending && !is_asking(a))
		subject_close(&a->it, subject_some_budget(&a->it));
}

/* --- What must hold ------------------------------------------------------- */

static bool holds(const struct pile *p)
{
	return p->hold != NULL && !p->actor->it.gone && !p->actor->it.closing &&
		subject_sure(&p->actor->it) &&
		kustos_hold_state(p->hold) == KUSTOS_HOLD_HELD;
}

static bool has_line(const struct pile *p, int line)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->line[i] == line)
			return true;
	return false;
}

static const char *check_exclusion(struct sim *sim)
{
	for (int line = 0; line < LINES; line++) {
		int holders = 0;

		for (int i = 0; i < CLIENTS * PILES; i++) {
			const struct pile *p = pile_of(sim, i);

			holders += has_line(p, line) && !p->excused && holds(p);
		}
		if (holders > 1)
			return "two hold the same";
	}
	return NULL;
}

/* The loss of one part must be the loss of all, and must be told. */
static void check_hold(struct sim *sim, struct pile *p)
{
	bool lost = kustos_hold_state(p->hold) == KUSTOS_HOLD_LOST;
	bool part = false;

	for (size_t i = 0; i < p->count; i++)
		part = part ||
			kustos_hold_state(kustos_hold_part(p->hold, i)) ==
				KUSTOS_HOLD_LOST;
	if (part && !lost)
		sim_fail(sim, "whole", "%d has lost one of them",
			p->actor->it.index);
	if (!lost || p->told > 0 || sim_paused(sim, p->actor->it.index))
		p->lost_since = 0;
	else if (p->lost_since == 0)
		p->lost_since = sim_now(sim);
	else if (sim_now(sim) - p->lost_since > TOLD_NS)
		sim_fail(sim, "told", "%d was not told", p->actor->it.index);
}

static const char *check_piles(struct sim *sim)
{
	for (int i = 0; i < CLIENTS * PILES; i++) {
		struct pile *p = pile_of(sim, i);

		if (i % PILES == 0)
			subject_mind(&p->actor->it);
		if (p->actor->it.gone || p->actor->it.closing)
			continue;
		if (p->hold != NULL)
			check_hold(sim, p);
		if (p->ask.on && ask_is_overdue(&p->ask, TRY_NS))
			return "a call does not end";
	}
	return NULL;
}

static const struct sim_invariant rules[] = {
	{ "one holder", check_exclusion, NULL },
	{ "end", check_piles, NULL },
};

/* A node of "p" is deleted. */
static void part_gone(struct pile *p, const char *path)
{
	struct sim *sim = p->actor->it.sim;
	const struct ledger *ledger = &shared_of(sim)->ledger;
	int64_t owner = p->actor->it.client->session.id;
	enum fate fate = ledger_fate(ledger, path, owner);

	if (fate == FATE_REMOVED || ledger_killed(ledger, owner))
		p->excused = true;
	else if (fate == FATE_DELETED && holds(p))
		sim_fail(sim, "kept", "%s is held, and goes", path);
}

static void node_gone(struct sim *sim, const char *path)
{
	for (int i = 0; i < CLIENTS * PILES; i++) {
		struct pile *p = pile_of(sim, i);

		for (size_t k = 0; p->hold != NULL && k < p->count; k++)
			if (strcmp(kustos_hold_path(
					   kustos_hold_part(p->hold, k)),
				    path) == 0)
				part_gone(p, path);
	}
	ledger_gone(&shared_of(sim)->ledger);
}

static void change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential)
{
	(void)zxid;
	(void)owner;
	(void)parent_czxid;
	(void)sequential;
	if (strlen(path) < sizeof(PREFIX) ||
		strchr(path + sizeof(PREFIX), '/') == NULL)
		return; /* a line's node, or its parent */
	if (kind == CHANGE_CREATE) {
		shared_of(sim)->nodes++;
	} else if (kind == CHANGE_DELETE) {
		shared_of(sim)->nodes--;
		node_gone(sim, path);
	}
}

static void note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value)
{
	ledger_note(&shared_of(sim)->ledger, what, client, path, value);
}

/* --- The end -------------------------------------------------------------- */

static bool everybody_served(struct sim *sim)
{
	bool served = true;

	for (int i = 0; i < CLIENTS * PILES; i++)
		served = served && pile_of(sim, i)->served;
	if (!served && sim_now(sim) > sim_drain_since(sim) + SERVED_NS)
		sim_fail(sim, "served", "somebody waits for ever");
	return served;
}

static const char *left(struct sim *sim)
{
	for (int i = 0; i < CLIENTS * PILES; i++)
		if (pile_of(sim, i)->ask.on || pile_of(sim, i)->hold != NULL)
			return "a call, or a hold";
	return shared_of(sim)->nodes > 0 ? "a node" : NULL;
}

static bool settled(struct sim *sim)
{
	static const struct ending_rules ending = {
		everybody_served,
		left,
		TIDY_NS,
	};

	return ending_settled(sim, &shared_of(sim)->ending, &ending);
}

static void end(struct sim *sim)
{
	figures_keep(shared_of(sim)->figures, TOGETHER_FIGURES);
	ledger_free(&shared_of(sim)->ledger);
}

static const struct sim_actor actor = {
	SUBJECT_ACTOR,
	.fini = subject_fini,
};

const struct sim_scenario scenario_together = {
	.name = "together",
	.about = "several mutexes taken together by many clients, all faults",
	.clients = CLIENTS,
	.step_ms = 20,
	.faults.rate = {
		SUBJECT_FAULTS,
		[SIM_DELETE] = 400,
	},
	SUBJECT_SCENARIO,
	.prefix = PREFIX,
	.end = end,
	.settled = settled,
	.settle_ms = 300000,
	.note = note,
	.change = change,
	.invariants = rules,
	.invariant_count = sizeof(rules) / sizeof(rules[0]),
};
