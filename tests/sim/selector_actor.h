/*
 * selector_actor.h - the scenario "selector", in two parts: the nodes in the
 * lines and the rules that must hold (selector_rules.c); and the actors
 * (scenario_selector.c).
 */
#ifndef SIM_SELECTOR_ACTOR_H
#define SIM_SELECTOR_ACTOR_H

#include "fiber.h"
#include "posts.h"
#include "selector_figures.h"
#include "subject.h"

#include <kustos/election.h>

#define CLIENTS 5
#define LINES POST_LINES
#define CHIEFS 2 /* of a client */
#define TIMEOUT_MS 3000
#define TIMEOUT_NS (TIMEOUT_MS * KU_NS_PER_MS)
#define PREFIX "/select"

struct actor;

struct chief {
	struct actor *actor;
	struct kustos_selector *selector; /* NULL: none */
	int line, number;
	char id[16];
	bool requeues, cautious;
	bool closed; /* by its own function */
	int to_come; /* terms that were asked for one by one */
	int served;  /* terms since the faults ended */

	/* The term whose function runs. */
	bool leads;
	struct kustos_hold *hold;
	struct kustos_cancel *cancel;
	int64_t token, epoch, until;
	bool deaf;	      /* it does not return when it is asked to */
	bool asked;	      /* by the scenario, to return */
	int64_t silent_since; /* term over, function not asked to return */
};

/* A call to a leader: write other data, or hand over. */
struct errand {
	struct actor *actor;
	bool hands;
	char heir[16]; /* "": whoever is next */
	const struct post *post;
};

struct actor {
	struct subject it;
	struct chief chiefs[CHIEFS];
	struct ku_call *calls[CHIEFS]; /* functions that are to begin */
	struct fiber *fibers[CHIEFS];  /* functions that run */
	bool leaves;		       /* all of them are to return at once */
	int errands;		       /* number that have not ended */
};

struct shared {
	struct posts posts;
	struct ledger ledger;
	int64_t granted[LINES]; /* the greatest term that was seen */
	int chiefs;		/* number ever made */
	bool closing;
	uint64_t figures[SELECTOR_FIGURES];
};

static inline struct shared *sel_shared(struct sim *sim)
{
	return sim_state(sim);
}

static inline struct actor *sel_actor_of(struct sim *sim, int index)
{
	return sim_actor_state(sim, index);
}

/* selector_rules.c */

extern const char *const sel_lines[LINES];

/* A chief's function begins: fail the run if it must not. */
void sel_check_begin(struct chief *c);

void sel_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value);
void sel_change(struct sim *sim, enum model_change_kind kind, const char *path,
	int64_t zxid, int64_t owner, int64_t parent_czxid, bool sequential);

#define SELECTOR_RULE_COUNT 3
extern const struct sim_invariant sel_rules[SELECTOR_RULE_COUNT];

bool sel_settled(struct sim *sim);
void sel_end(struct sim *sim);

#endif
