/*
 * lock.h - what is contended for, by kustos bench and by the workers of
 * bench_mutex.c:
 *
 *	a mutex, a side of a read/write lock, a semaphore, a simple lock, or two
 *	mutexes together;
 *	an election: to take it, make a latch or a selector, start it and wait
 *	for it to lead; to give it back, end that;
 *	the items of a queue, which are taken out, or claimed, and put back;
 *	a round of a double barrier or of a count-down latch, to which all come.
 */
#ifndef BENCH_LOCK_H
#define BENCH_LOCK_H

#include <kustos/claim.h>
#include <kustos/election.h>
#include <kustos/hold.h>
#include <kustos/mutex.h>
#include <kustos/queue.h>
#include <kustos/rwlock.h>
#include <kustos/semaphore.h>
#include <kustos/simple.h>

#include <stdbool.h>

enum lock_kind {
	LOCK_MUTEX,
	LOCK_READ,
	LOCK_WRITE,
	LOCK_SEMAPHORE,
	LOCK_ELECTION,
	LOCK_SIMPLE,
	LOCK_PAIR,
	LOCK_QUEUE,
	LOCK_CLAIM,
	LOCK_SELECTOR,
	LOCK_BARRIER,
	LOCK_COUNTDOWN
};

#define LOCK_LEASES 5 /* of a semaphore, by default */

struct lock_form {
	enum lock_kind kind;
	bool fifo;  /* no hand-over inside the process */
	int leases; /* of a semaphore; items of a queue; all who meet */
};

struct lock_candidate;
struct kustos_double_barrier;

/* One of these is there, of a pair two mutexes; "path" is lent. */
struct lock {
	struct lock_form form;
	struct kustos_mutex *mutex, *second;
	struct kustos_simple *simple;
	struct kustos_rwlock *rw;
	struct kustos_semaphore *sem;
	struct kustos_queue *queue;
	struct kustos_item *item; /* while it is taken */
	struct kustos_claims *claims;
	struct kustos_claim *claim;		/* the same */
	struct kustos_hold *holds[LOCK_LEASES]; /* of "sem", while taken; or
						   the one of a pair */
	struct kustos_client *client;	  /* of what is made for each turn; */
	const char *path;		  /* and its path */
	struct kustos_latch *latch;	  /* while it takes part; */
	int64_t term;			  /* and in which term it leads */
	struct lock_candidate *candidate; /* a selector, the same */
	struct kustos_double_barrier *member; /* the same */
	int number;			      /* of those who meet, from 0; */
	int64_t round;			      /* in which it is */
};

/* Make one at "path". */
enum kustos_err lock_make(struct lock *lock, struct kustos_client *client,
	const char *path, const struct lock_form *form);
void lock_destroy(struct lock *lock);

/* Make what has to be there before anybody can take it. */
enum kustos_err lock_fill(const struct lock *lock, kustos_deadline deadline);

/* Wait for it, or until "stop" is fired; and give it back. */
enum kustos_err lock_take(struct lock *lock, struct kustos_cancel *stop);
enum kustos_err lock_give(struct lock *lock);

/* Return whether what was taken is certainly this thread's at this instant; once
   that is false it stays false. */
bool lock_held(const struct lock *lock);

/* Make a lock that keeps everybody out of the locks of the same kind at "path",
   and take it.  Not for a semaphore of more than LOCK_LEASES leases, nor for a
   queue. */
enum kustos_err lock_close(struct lock *lock, struct kustos_client *client,
	const char *path, const struct lock_form *form);

/* Return how many requests these clients have sent. */
uint64_t lock_requests(struct kustos_client *const *clients, int count);

/* Ask for it; "fn" is called with the outcome. */
enum kustos_err lock_ask(const struct lock *lock, struct kustos_cancel *stop,
	kustos_granted_fn *fn, void *arg);

#endif
