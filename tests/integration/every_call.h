/*
 * every_call.h - every public call once, for what holds for all of them: with
 * NULL as the object, and in a child after fork().
 */
#ifndef TEST_EVERY_CALL_H
#define TEST_EVERY_CALL_H

#include <kustos/barrier.h>
#include <kustos/cancel.h>
#include <kustos/claim.h>
#include <kustos/client.h>
#include <kustos/countdown.h>
#include <kustos/election.h>
#include <kustos/lockable.h>
#include <kustos/mutex.h>
#include <kustos/node.h>
#include <kustos/participant.h>
#include <kustos/queue.h>
#include <kustos/rwlock.h>
#include <kustos/semaphore.h>
#include <kustos/simple.h>
#include <stdbool.h>

/* The objects to call. */
struct every {
	struct kustos_client *client;
	struct kustos_cancel *cancel;
	struct kustos_listener *listener;
	struct kustos_observer *observer;
	struct kustos_mutex *mutex;
	struct kustos_rwlock *rw;
	struct kustos_semaphore *sem;
	struct kustos_semaphore_mutex *sem_mutex;
	struct kustos_simple *simple;
	struct kustos_hold *hold, *writer, *lease, *lock, *all;
	struct kustos_latch *latch, *second;
	struct kustos_selector *selector;
	struct kustos_barrier *barrier;
	struct kustos_double_barrier *member;
	struct kustos_countdown *countdown;
	struct kustos_queue *queue;
	struct kustos_claims *claims;
	struct kustos_claim *claim;
	struct kustos_consumer *worker, *taker;
};

/* Make every call that frees nothing.  A call that returns an error must return
   "err"; any other must return its value for "nothing there".  Returns how many
   calls did not, and names them on standard error. */
int every_ask(const struct every *on, enum kustos_err err);

/* Free all objects.  The release of a hold and the close of the client must
   return "err".  In a child, what is not freed there is destroyed twice.
   Returns how many calls did not return what they should. */
int every_free(const struct every *on, enum kustos_err err);

/* Return whether the public call "name" has been made. */
bool every_has(const char *name);

#endif
