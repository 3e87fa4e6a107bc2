/*
 * scenario_countdown.c - a count-down latch that a few clients share, under all
 * faults.
 *
 * Each actor waits with all kinds of deadlines.  It is also a participant,
 * which joins, is done, and, as no program would, takes either back.  Nodes are
 * deleted from outside, too.  The rules:
 *
 *   zero     if a wait succeeds, enough participants were done at some time
 *            since the wait began
 *   broken   if a wait reports a death, a participant was missing at some time
 *            since the wait began
 *   end      a call ends once, with an error that fits
 *   told     after the faults, when a participant is missing, all waits report
 *            it
 *   served   when all participants are done after that, all waits succeed
 *   orphan   after that no watch is left
 */
#include "countdown_figures.h"
#include "ask.h"
#include "ending.h"
#include "subject.h"

#include "sim_impl.h"
#include "tally.h"

#include <kustos/countdown.h>
#include <kustos/node.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4
#define TIMEOUT_MS 3000
#define TIMEOUT_NS (TIMEOUT_MS * KU_NS_PER_MS)
#define PREFIX "/cdl"
#define LATCH PREFIX "/latch"
#define GHOST MOST /* a participant that must be done but never lives */
#define SERVED_NS (20 * TIMEOUT_NS)
#define TIDY_NS (4 * TIMEOUT_NS)
#define KNOWN_NS (20 * KU_NS_PER_MS)

struct actor {
	struct subject it;
	bool active;
	struct kustos_countdown *latch;

	struct ask wait;
	bool late; /* the wait began after the faults */
	bool told, served;
};

struct shared {
	int count;
	struct { /* of each participant, as the leader has it */
		bool done, must;
		int alive;
	} is[MOST + 1];
	bool zero, broken;
	int64_t zero_until, broken_until; /* until when they last were true */
	struct ending ending;
	uint64_t figures[COUNTDOWN_FIGURES];
};

static struct shared *shared_of(const struct actor *a)
{
	return sim_state(a->it.sim);
}

/* The nodes */

static void weigh(struct sim *sim)
{
	struct shared *s = sim_state(sim);
	bool broken = false;
	int done = 0;

	for (int i = 0; i <= MOST; i++) {
		done += s->is[i].done;
		broken = broken ||
			(s->is[i].must && !s->is[i].done &&
				s->is[i].alive == 0);
	}
	if (s->zero)
		s->zero_until = sim_now(sim);
	if (s->broken)
		s->broken_until = sim_now(sim);
	s->zero = done >= s->count;
	s->broken = broken;
}

static void change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential)
{
	struct shared *s = sim_state(sim);
	bool created = kind == CHANGE_CREATE;
	const char *id = NULL;

	(void)zxid;
	(void)owner;
	(void)parent_czxid;
	(void)sequential;
	if (kind == CHANGE_SET ||
		strncmp(path, LATCH "/", strlen(LATCH "/")) != 0)
		return;
	enum ku_tally_kind what = ku_tally_name(path + strlen(LATCH "/"), &id);
	int who = id != NULL ? id[0] - '0' : 0;
	if (what == KU_TALLY_DONE)
		s->is[who].done = created;
	else if (what == KU_TALLY_MUST)
		s->is[who].must = created;
	else if (what == KU_TALLY_ALIVE)
		s->is[who].alive += created ? 1 : -1;
	weigh(sim);
}

/* The wait */

static bool may_end(const struct ask *wait, enum kustos_err err)
{
	return ask_may_end(wait, err) || err == KUSTOS_EBROKEN ||
		(err == KUSTOS_EBUSY && wait->deadline == KUSTOS_NOW);
}

static void ended(void *arg, enum kustos_err err)
{
	struct actor *a = arg;
	struct sim *sim = a->it.sim;
	struct shared *s = shared_of(a);
	int64_t since = a->wait.began - subjects_known_ns(sim, KNOWN_NS);

	sim_say(sim, a->it.index, "waited", kustos_err_name(err), 0);
	if (!may_end(&a->wait, err))
		sim_fail(sim, "end", "a wait of %d: %s", a->it.index,
			kustos_err_name(err));
	ask_end(&a->wait, "a wait");
	if (err == KUSTOS_OK && !s->zero && s->zero_until < since)
		sim_fail(sim, "zero", "%d goes on before all are done",
			a->it.index);
	if (err == KUSTOS_EBROKEN && !s->broken && s->broken_until < since)
		sim_fail(sim, "broken", "%d is told, and nobody died",
			a->it.index);
	a->told = a->told || (a->late && err == KUSTOS_EBROKEN);
	a->served = a->served || (a->late && a->told && err == KUSTOS_OK);
	s->figures[err == KUSTOS_OK		? COUNTDOWN_ZERO
			: err == KUSTOS_EBROKEN ? COUNTDOWN_BROKEN
						: COUNTDOWN_GAVE_UP]++;
}

static void await(struct actor *a)
{
	a->late = sim_draining(a->it.sim);
	ask_begin(&a->wait, &a->it, ask_some_deadline(&a->it, TIMEOUT_NS / 8));
	sim_say(a->it.sim, a->it.index, "wait", NULL, 0);
	enum kustos_err err = kustos_countdown_wait_async(a->latch,
		a->wait.deadline, a->wait.cancel, ended, a);
	if (err != KUSTOS_OK)
		ended(a, err);
}

/* The participant */

static void ignore(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)arg;
	(void)err;
	(void)result;
}

static const char *path_of(enum ku_tally_kind kind, int who, char out[80])
{
	char name[KU_TALLY_NAME_SIZE];
	const char id[] = { (char)('0' + who), '\0' };

	(void)ku_tally_write(kind, id, name);
	snprintf(out, 80, "%s/%.60s", LATCH, name);
	return out;
}

/* Make the node of a ghost: a participant that must be done but is not
   alive. */
static void haunt(struct actor *a)
{
	char path[80];
	enum kustos_err err = kustos_create_async(a->it.client,
		path_of(KU_TALLY_MUST, GHOST, path), "", 0,
		KUSTOS_CREATE_PARENTS, KUSTOS_FOREVER, NULL, ignore, NULL);

	if (err != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot ask: %s",
			kustos_err_name(err));
}

static void take_back(struct actor *a, enum ku_tally_kind kind)
{
	char path[80];
	enum kustos_err err = kustos_delete_async(a->it.client,
		path_of(kind, a->it.index, path), -1, KUSTOS_FOREVER, NULL,
		ignore, NULL);

	if (err != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot ask: %s",
			kustos_err_name(err));
}

static void joined(void *arg, enum kustos_err err)
{
	struct shared *s = arg;

	s->figures[COUNTDOWN_JOINED] += err == KUSTOS_OK;
}

static void counted(void *arg, enum kustos_err err)
{
	(void)arg;
	(void)err;
}

static void be_done(struct actor *a)
{
	const char id[] = { (char)('0' + a->it.index), '\0' };
	enum kustos_err err = kustos_countdown_done_async(a->latch, id,
		KUSTOS_FOREVER, NULL, counted, NULL);

	if (err != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot ask: %s",
			kustos_err_name(err));
}

static void join(struct actor *a)
{
	const char id[] = { (char)('0' + a->it.index), '\0' };
	enum kustos_err err = kustos_countdown_join_async(a->latch, id,
		KUSTOS_FOREVER, NULL, joined, shared_of(a));

	if (err != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot ask: %s",
			kustos_err_name(err));
}

static void take_part(struct actor *a)
{
	const struct shared *s = shared_of(a);

	switch (sim_random_below(subject_random(&a->it), 8)) {
	case 0:
	case 1:
	case 2:
		be_done(a);
		break;
	case 3:
		take_back(a, KU_TALLY_DONE);
		break;
	case 4:
	case 5:
		if (s->is[a->it.index].alive < 3)
			join(a);
		break;
	default:
		take_back(a, KU_TALLY_MUST);
	}
}

/* The actors */

static void open_client(struct actor *a)
{
	if (!subject_open(&a->it))
		return;
	if (kustos_countdown_create(a->it.client, LATCH, shared_of(a)->count,
		    NULL, &a->latch) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot make a latch");
}

static void let_go(void *actor)
{
	struct actor *a = actor;

	kustos_countdown_destroy(a->latch);
}

static void init(struct sim *sim, int index, void *self)
{
	struct shared *s = sim_state(sim);
	struct actor *a = self;

	subject_init(&a->it, sim, index, let_go);
	if (index == 0)
		s->count = (int)sim_random_between(sim_actor_random(sim, 0), 1,
			MOST);
	a->active = index < s->count;
	if (a->active)
		open_client(a);
}

/* Have all been told of the ghost?  Then all participants can be done. */
static bool all_told(struct sim *sim)
{
	const struct shared *s = sim_state(sim);
	bool told = true;

	for (int i = 0; i < s->count; i++)
		told = told && ((struct actor *)sim_actor_state(sim, i))->told;
	return told;
}

static void finish(struct actor *a)
{
	if (!a->wait.on)
		await(a);
	else if (!a->late && !a->wait.fired)
		ask_fire(&a->wait);
	if (all_told(a->it.sim)) {
		be_done(a);
		return;
	}
	haunt(a);
	if (a->it.index == 0)
		take_back(a, KU_TALLY_DONE);
}

static void step(void *self)
{
	struct actor *a = self;
	struct sim_random *r = subject_random(&a->it);

	if (!a->active || shared_of(a)->ending.served > 0)
		return;
	else if (a->it.gone)
		open_client(a);
	else if (a->it.closing)
		return;
	else if (sim_draining(a->it.sim))
		finish(a);
	else if (sim_random_below(r, 400) == 0)
		subject_close(&a->it, subject_some_budget(&a->it));
	else if (!a->wait.on && sim_random_below(r, 2) == 0)
		await(a);
	else if (a->wait.on && !a->wait.fired && sim_random_below(r, 60) == 0)
		ask_fire(&a->wait);
	else {
		take_part(a);
	}
}

static void end(struct sim *sim)
{
	const struct shared *s = sim_state(sim);

	figures_keep(s->figures, COUNTDOWN_FIGURES);
}

static bool everybody_served(struct sim *sim)
{
	const struct shared *s = sim_state(sim);
	bool late = sim_now(sim) > sim_drain_since(sim) + SERVED_NS;
	bool served = true;

	for (int i = 0; i < s->count; i++)
		served = served &&
			((struct actor *)sim_actor_state(sim, i))->served;
	if (!served && late)
		sim_fail(sim, all_told(sim) ? "served" : "told",
			"not all of %d", s->count);
	return served;
}

/* When nobody waits, no watch may be left. */
static const char *left(struct sim *sim)
{
	const struct shared *s = sim_state(sim);
	const char *what = NULL;

	for (int i = 0; i < s->count; i++) {
		struct actor *a = sim_actor_state(sim, i);

		if (!a->wait.on)
			continue;
		what = "a wait";
		ask_fire(&a->wait);
	}
	return what;
}

static bool settled(struct sim *sim)
{
	static const struct ending_rules rules = { everybody_served, left,
		SERVED_NS + TIDY_NS };
	struct shared *s = sim_state(sim);

	return ending_settled(sim, &s->ending, &rules);
}

static const struct sim_actor actor = {
	SUBJECT_ACTOR,
	.fini = subject_fini,
};

const struct sim_scenario scenario_countdown = {
	.name = "countdown",
	.about = "a count-down latch of a few clients, all faults",
	.clients = MOST,
	.step_ms = 20,
	.faults.rate = {
		SUBJECT_FAULTS,
		[SIM_DELETE] = 200,
	},
	SUBJECT_SCENARIO,
	.prefix = PREFIX,
	.end = end,
	.settled = settled,
	.settle_ms = 200000,
	.change = change,
};
