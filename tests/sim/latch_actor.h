/*
 * latch_actor.h - the scenario "latch", in four parts: the nodes in the lines
 * and the rules that must hold (latch_rules.c); the calls to latches
 * (latch_acts.c); processes that die (latch_crash.c); and the actors
 * (scenario_latch.c).
 */
#ifndef SIM_LATCH_ACTOR_H
#define SIM_LATCH_ACTOR_H

#include "posts.h"
#include "subject.h"

#include <kustos/election.h>
#include <kustos/participant.h>

#define CLIENTS 5
#define SERVERS 3
#define LINES POST_LINES
#define CANDIDATES 2 /* of a client */
#define TIMEOUT_MS 3000
#define TIMEOUT_NS (TIMEOUT_MS * KU_NS_PER_MS)
#define PREFIX "/elect"

struct actor;

struct candidate {
	struct actor *actor;
	struct kustos_latch *latch; /* NULL: none */
	int line, number;
	char id[16];
	bool cautious, resumes;
	bool fickle;  /* it says all kinds of things, not only its id */
	bool closing; /* its end is neither told nor checked */
	int gains, losses;
	struct post *post; /* node of the term that was told last */
	int64_t token, epoch;
	int64_t silent_since; /* its term is over, and that was not told */
	int64_t believed;     /* the last term that was seen */
	bool handing;	      /* a hand-over is under way */
};

/* A call to a leader: write other data, or hand over. */
struct errand {
	struct actor *actor;
	struct candidate *candidate; /* by now perhaps with another latch */
	int number;
	bool hands;
	char heir[16]; /* "": whoever is next */
	struct post *post;
};

struct watcher {
	struct kustos_observer *observer;
	struct actor *actor;
	int line;
	bool told, somebody;
	int64_t term, mzxid;
};

struct actor {
	struct subject it;
	struct candidate candidates[CANDIDATES];
	struct watcher watchers[LINES];
	char dummy[128]; /* a node that is nobody's candidate; "": none */
	bool dummying;
	int errands; /* number of errands that have not ended */

	/* Of the former process, if that crashed: its candidates; the terms in
	   which they led, and whether these were cautious; and for how many
	   more steps there is no process. */
	bool crashed;
	int rest;
	struct candidate before[CANDIDATES];
	int64_t led[LINES];
	bool cautious[LINES];
};

struct latch_figures { /* of uint64_t only */
	uint64_t gains, losses, edits, edited, handings, handed, absent,
		changed, seized, told, crashes, resumed, led_on;
};

/* Return those of the run that ended last. */
struct latch_figures latch_last_figures(void);

struct shared {
	struct posts posts;
	struct ledger ledger;
	int64_t granted[LINES]; /* the greatest term that was seen */
	int64_t removed[LINES]; /* when a node was last deleted from outside */
	int candidates;		/* number ever made */
	bool one_node;		/* a line is one node; nothing odd is done */
	bool closing;
	struct latch_figures figures;
};

extern const char *const latch_lines[LINES];

struct shared *latch_shared(struct sim *sim);
struct actor *latch_actor_of(struct sim *sim, int index);

/* Return the node of a term, or NULL; and the first node of a line, or NULL. */
static inline struct post *post_of(const struct shared *s, int64_t term)
{
	return posts_of(&s->posts, term);
}

static inline struct post *post_first(const struct shared *s, int line)
{
	return posts_first(&s->posts, line, 0);
}

/* latch_rules.c */

/* Return the term in which the latch says that it leads, or 0. */
int64_t latch_term_of(const struct candidate *c);

/* The end of its term was told: fail the run if there was no reason for it. */
void latch_check_loss(struct candidate *c);

void latch_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value);
void latch_change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential);

#define LATCH_RULE_COUNT 3
extern const struct sim_invariant latch_rules[LATCH_RULE_COUNT];

bool latch_settled(struct sim *sim);
void latch_end(struct sim *sim);

/* latch_acts.c */

void latch_act(struct actor *a);

/* Make its latch, and start it. */
void latch_begin(struct candidate *c);

/* Delete the dummy node, if there is one. */
void latch_tidy(struct actor *a);

/* Destroy all latches and observers of the actor "arg". */
void latch_leave_all(void *arg);

/* latch_crash.c */

/* Decide whether its process dies now.  Another process then goes on with the
   same candidates, in the same session if that lives on. */
bool latch_crashes(const struct actor *a);
void latch_crash(struct actor *a);
void latch_resume(struct actor *a);

/* A node was made.  Now and then the process dies just when it has one more
   node than candidates. */
void latch_made(struct sim *sim, int64_t owner);

/* Does the client know its nodes?  After a crash it has to find them again. */
bool latch_minds(struct sim *sim, int64_t owner);

/* The candidate leads: is its term the one that the former process had? */
void latch_check_resumed(struct candidate *c);

#endif
