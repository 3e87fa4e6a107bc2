/*
 * queue_actor.h - the scenario of the queue: what became of each item and what must
 * hold (queue_rules.c), and who acts (scenario_queue.c).
 */
#ifndef SIM_QUEUE_ACTOR_H
#define SIM_QUEUE_ACTOR_H

#include "ask.h"
#include "ending.h"
#include "queue_figures.h"
#include "subject.h"
#include "ware.h"

#include "queue_impl.h"

#define MOST 4
#define SERVERS 3
#define TIMEOUT_MS 3000
#define TIMEOUT_NS (TIMEOUT_MS * KU_NS_PER_MS)
#define PREFIX "/q"
#define QUEUE PREFIX "/jobs"
#define RECEIPTS PREFIX "/receipts"
#define SERVED_NS (20 * TIMEOUT_NS)
#define KNOWN_NS (20 * KU_NS_PER_MS)
#define TAKING_NS (250 * KU_NS_PER_MS) /* with a reconnect, and another try */
#define TIDY_NS (4 * TIMEOUT_NS)
#define OUTSIDE (1u << SIM_DELETE | 1u << SIM_REMOVE_PARENT)

/* Items of a delay queue are due so late at the latest. */
#define DELAY_MS 2000

/* So many calls of one actor are under way at the most, of either kind. */
#define CALLS 6
#define AT_ONCE 5

/* What waits to be put has so many bytes at the most: enough for most of these
   calls, but not for all. */
#define BYTES (4 * sizeof(struct ku_put))

struct life { /* of a queue's object, from its making to its end */
	int actor;
	bool over;    /* it was closed in a hurry */
	bool ended;   /* its queue was destroyed */
	int last_put; /* the item that was put last, of those that are there */
};

struct piece {	   /* an item, known by its data: its number */
	int life;  /* that put it */
	bool made; /* it is, or was, there */
	bool there;
	bool stolen;  /* somebody deleted it from outside */
	bool excused; /* who took it died, or knows that it does not know */
	int taker;    /* life that deleted it; -1: none */
	bool had;     /* it was handed out */
	bool refused; /* its call was told that it is not put */
	int64_t made_at;
	struct ware ware;
	char path[40];
};

struct receipt {
	char path[96];
	int life;
	bool stolen;
};

struct errand { /* what one asks for */
	struct ask ask;
	struct actor *actor;
	bool takes, peeks;
	int piece;  /* that is put */
	size_t max; /* that are taken */
};

struct actor {
	struct subject it;
	struct ku_queue *queue;
	int life;
	bool puts, takes;
	bool leaving; /* asks for nothing more, and closes when all is told */
	bool trusts;  /* closes with time, and nothing is to be lost by it */
	uint64_t losses; /* of sessions, before that */
	struct errand calls[CALLS];
};

struct shared {
	struct life *lives;
	int life_count, life_room;
	struct piece *pieces;
	int piece_count, piece_room;
	struct receipt *receipts;
	int receipt_count, receipt_room;
	int64_t last_zxid; /* of which this receipt was changed */
	int last_life;
	bool delays; /* it is of that kind */
	enum ku_item_kind kind;
	int64_t max_items;
	int stale;
	int32_t numbers;  /* with which the next queue begins */
	int takers;	  /* how many actors take */
	struct ware last; /* that was handed out */
	struct ending ending;
	uint64_t figures[QUEUE_FIGURES];
};

struct shared *queue_shared(struct sim *sim);

/* What the model tells. */
void queue_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value);
void queue_change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential);

/* An object of the queue begins, and ends: carefully, or with what it had. */
int queue_new_life(struct sim *sim, int actor);
void queue_end_life(struct sim *sim, int life, bool careful);

/* Return a new item for "life" to put. */
int queue_new_piece(struct sim *sim, int life);

/* How a call ends; these are callbacks. */
void queue_was_put(void *arg, enum kustos_err err);
void queue_was_taken(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count);

/* Return a receipt that an object which ended carefully has left, or NULL. */
const char *queue_litter(struct sim *sim);

/* Return an item that should have been handed out and was not, or NULL. */
const char *queue_missing(struct sim *sim);

#endif
