/*
 * queue_actor.h - the scenario of the queue.  Its parts are the state of each
 * item and the rules that must hold (queue_rules.c), and the actors
 * (scenario_queue.c).
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
#define TAKING_NS (250 * KU_NS_PER_MS) /* with a reconnect and a retry */
#define TIDY_NS (4 * TIMEOUT_NS)
#define OUTSIDE (1u << SIM_DELETE | 1u << SIM_REMOVE_PARENT)

/* The longest delay of an item of a delay queue. */
#define DELAY_MS 2000

/* How many calls of one actor may be under way, of both kinds together. */
#define CALLS 6
#define AT_ONCE 5

/* The limit for what waits to be put, in bytes: enough for most of these calls,
   but not for all. */
#define BYTES (4 * sizeof(struct ku_put))

struct life { /* one object of the queue, from its creation to its end */
	int actor;
	bool over;    /* it was closed in a hurry */
	bool ended;   /* its queue was destroyed */
	int last_put; /* of its items that were put, the last */
};

struct piece {	   /* an item, known by the number that is its data */
	int life;  /* the object that puts it */
	bool made; /* it is, or was, there */
	bool there;
	bool stolen;  /* somebody deleted it from outside */
	bool excused; /* its taker died, or knows that it does not know */
	int taker;    /* life that deleted it; -1: none */
	bool had;     /* it was handed out */
	bool refused; /* its call has reported that it is not put */
	int64_t made_at;
	struct ware ware;
	char path[40];
};

struct receipt {
	char path[96];
	int life;
	bool stolen;
};

struct errand { /* a call */
	struct ask ask;
	struct actor *actor;
	bool takes, peeks;
	int piece;  /* the item to put */
	size_t max; /* the most items to take */
};

struct actor {
	struct subject it;
	struct ku_queue *queue;
	int life;
	bool puts, takes;
	bool leaving; /* makes no more calls, and closes when all have ended */
	bool trusts;  /* closes with time, so that nothing may be lost */
	uint64_t losses; /* of sessions, before it closed */
	struct errand calls[CALLS];
};

struct shared {
	struct life *lives;
	int life_count, life_room;
	struct piece *pieces;
	int piece_count, piece_room;
	struct receipt *receipts;
	int receipt_count, receipt_room;
	int64_t last_zxid; /* last change of a receipt, and whose it is */
	int last_life;
	bool delays; /* it is a delay queue */
	enum ku_item_kind kind;
	int64_t max_items;
	int stale;
	int32_t numbers;  /* first sequence number of the next queue */
	int takers;	  /* how many actors take */
	struct ware last; /* the item that was handed out last */
	struct ending ending;
	uint64_t figures[QUEUE_FIGURES];
};

struct shared *queue_shared(struct sim *sim);

/* For the scenario's "note" and "change". */
void queue_note(struct sim *sim, enum model_note what, int client,
	const char *path, int64_t value);
void queue_change(struct sim *sim, enum model_change_kind kind,
	const char *path, int64_t zxid, int64_t owner, int64_t parent_czxid,
	bool sequential);

/* An object of the queue begins, and ends: carefully, or by losing what it had
   taken. */
int queue_new_life(struct sim *sim, int actor);
void queue_end_life(struct sim *sim, int life, bool careful);

/* Return a new item for "life" to put. */
int queue_new_piece(struct sim *sim, int life);

/* Callbacks: a call has ended. */
void queue_was_put(void *arg, enum kustos_err err);
void queue_was_taken(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count);

/* Return a receipt that was left by an object that ended carefully, or NULL. */
const char *queue_litter(struct sim *sim);

/* Return an item that should have been handed out and was not, or NULL. */
const char *queue_missing(struct sim *sim);

#endif
