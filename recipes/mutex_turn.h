/*
 * mutex_turn.h - a mutex, and who of this process has it next.
 *
 * A turn is a place in the line and what has become of it: waiting, held,
 * lost.  With local hand-overs a mutex has one turn at a time that is not lost,
 * and whoever waits longest gets it; without, each that waits has its own.
 */
#ifndef KU_MUTEX_TURN_H
#define KU_MUTEX_TURN_H

#include <kustos/mutex.h>

#include "recipe.h"

#include <pthread.h>

struct turn {
	struct kustos_mutex *mutex;
	struct ku_place *place;
	struct waiter *waiter;	  /* whose it is; NULL: of the first in line */
	struct kustos_hold *hold; /* NULL until it is granted */
	bool once;		  /* it is not to wait */
	int handed;		  /* how often it was handed over */
	int64_t granted_ns;
};

/* A thread, or a callback, that waits. */
struct waiter {
	struct ku_wait wait; /* first: cast back from it */
	struct kustos_mutex *mutex;
	struct kustos_hold *hold; /* for its grant */
	struct turn *turn;	  /* its own, if each has one */
	bool once;
	struct waiter *prev, *next;
	kustos_mutex_granted_fn *granted;
	void *arg;
};

/* What a thread has locked. */
struct lock {
	pthread_t thread;
	int depth;
	struct kustos_hold *hold;
	struct lock *next;
};

struct kustos_mutex {
	/* Constant. */
	struct kustos_client *client;
	struct ku_line *line;
	struct ku_place_kind kind;
	int local_handoffs;
	char *data; /* NULL: a record of the holder is made each time */
	size_t len;
	char *reason;
	kustos_revoke_fn *on_revoke;
	void *on_revoke_arg;
	bool unlock_waits;

	/* Guarded by the client's lock. */
	int refs; /* of the program, of waiters, of turns */
	bool destroyed;
	bool telling; /* of a request to give it back, on this thread */
	pthread_t teller;
	struct waiter *first, *last; /* who waits, the longest first */
	struct turn *turn;	     /* of them all, unless each has one */
	struct lock *locks;
};

/* Begin to wait, and give it up.  Locked. */
enum kustos_err ku_mutex_enter(struct waiter *w);
void ku_mutex_give_up(struct waiter *w, enum kustos_err why);

/* Give a reference back; the last one frees it.  Locked. */
void ku_mutex_put(struct kustos_mutex *mutex);

extern const struct ku_place_events ku_mutex_events;

#endif
