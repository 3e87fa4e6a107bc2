/*
 * claim_actor.h - the scenario of claims: queue items that are handed out at
 * least once.  Its parts are the state of each item and the rules that must
 * hold (claim_rules.c, claim_order.c), and the actors (scenario_claim.c).
 */
#ifndef SIM_CLAIM_ACTOR_H
#define SIM_CLAIM_ACTOR_H

#include "claim_figures.h"
#include "ending.h"
#include "ledger.h"
#include "subject.h"
#include "ware.h"

#include "desk_impl.h"

#define MOST 4
#define TIMEOUT_MS 3000
#define TIMEOUT_NS (TIMEOUT_MS * KU_NS_PER_MS)
#define PREFIX "/cl"
#define QUEUE PREFIX "/jobs"
#define MARKS PREFIX "/locks"
#define DEAD PREFIX "/dead"
#define SERVED_NS (20 * TIMEOUT_NS)
#define TIDY_NS (4 * TIMEOUT_NS)
#define KNOWN_NS (100 * KU_NS_PER_MS)
#define TAKING_NS (250 * KU_NS_PER_MS) /* with a reconnect and a retry */
#define OUTSIDE (1u << SIM_DELETE | 1u << SIM_REMOVE_PARENT)

/* The longest delay of an item of a delay queue. */
#define DELAY_MS 2000

/* A desk that was beaten to an item chooses at random.  After this many claims
   it takes the first item again. */
#define SPREAD_FOR 16

/* How many claims an actor may have at a time. */
#define SLOTS 4

struct stock { /* a node of an item: one for each time that the item is made */
	int piece;
	bool there;
	bool robbed;	     /* its marker was deleted from outside: */
	int64_t robbed_mark; /* the last one, by its czxid */
	int64_t robbed_at;
	bool removed; /* its node was deleted from outside */
	int sets;     /* how often it was written */
	int64_t mark; /* czxid of its last marker */
	bool marked;
	int64_t free_since; /* when it was last made, or its marker went */
	int64_t put_off_at; /* when a server had too many requests for it */
	int64_t tried_at;   /* the first try after that */
	uint64_t last_try;  /* the number of the last try for it */
	/* The numbers of the first and the last try at which it was put off: of
	   tries that came one after the other. */
	uint64_t off_first, off_last;
	int64_t ended_by; /* czxid of the marker with which it went */
	struct ware ware;
	char path[48];
};

struct piece { /* an item, known by the number that is its data */
	bool made, done, removed, dead;
	int64_t gone_zxid;
	bool again; /* "gone_zxid" deleted it, and may make it anew */
	int node;   /* its last node: an index of "nodes" */
};

enum slot_state { SLOT_FREE, SLOT_ASKING, SLOT_HAS, SLOT_ENDING };

struct slot {
	enum slot_state state;
	struct actor *actor;
	struct ku_lent *lent;
	int node;
	int64_t token;
	int64_t keep_until;
	bool again; /* the item is put back */
	bool fired;
	kustos_deadline deadline;
	struct kustos_cancel *cancel;
	int64_t began;
	int desk; /* number of the desk that was asked */
};

struct actor {
	struct subject it;
	struct ku_desk *desk;
	int desks; /* how many desks it has had */
	bool takes;
	struct slot slots[SLOTS];
};

struct shared {
	struct ledger ledger;
	struct stock *nodes;
	int node_count, node_room;
	struct piece *pieces;
	int piece_count, piece_room;
	bool keyed; /* a key decides the items' order */
	enum ku_item_kind kind;
	int deliveries; /* 0: any number */
	int takers;	/* how many actors claim */
	int stale;
	int32_t numbers;   /* first sequence number of the next queue */
	int64_t mark_zxid; /* czxid of the marker that was deleted last */
	int64_t mark_gone;
	int64_t marks_since; /* when the markers' folder was made */
	uint64_t tries;	     /* for all items */
	int had_since; /* claims since one was beaten, or an item was removed */
	struct ending ending;
	uint64_t figures[CLAIM_FIGURES];
};

struct shared *claim_shared(struct sim *sim);

/* For the scenario's "note" and "change". */
void claim_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value);
void claim_change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential);

/* Return the last node that was made with this name, or NULL. */
struct stock *claim_node(struct shared *s, const char *name);

/* Return since when the item may be claimed. */
static inline int64_t claim_due_at(const struct shared *s,
	const struct stock *n)
{
	return ware_due_at(s->kind, &n->ware, n->free_since);
}

/* The item is being read, to be claimed; and it was claimed just now. */
void claim_tried(struct sim *sim, struct stock *n);
void claim_check_order(struct sim *sim, const struct stock *n);

/* Make a new item, and return its number. */
int claim_new_piece(struct sim *sim);

/* Callbacks: a call has ended. */
void claim_granted(void *arg, enum kustos_err err, struct ku_lent *lent);
void claim_ended(void *arg, enum kustos_err err);

/* Its marker was deleted, in this way: keep that, if it was from outside. */
void claim_rob(struct sim *sim, struct stock *n, enum fate fate);

/* A claim whose marker was deleted from outside is lost soon.  Was this item's
   deleted so lately that the client need not know? */
bool claim_robbed_lately(struct sim *sim, const struct stock *n);
extern const struct sim_invariant claim_robbed_rule;

/* Return an item, or a marker, that should no longer exist; or NULL. */
const char *claim_missing(struct sim *sim);
const char *claim_litter(struct sim *sim);

#endif
