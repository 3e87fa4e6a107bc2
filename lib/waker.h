/*
 * waker.h - how a waiting thread is woken without running into the lock.
 *
 * The thread that wakes it holds the client's lock, which the woken thread
 * needs first: if it ran at once, it would only go to sleep again.  So threads
 * of the ZooKeeper library note whom to wake, and do so when they have
 * unlocked.  By then the waiting thread may have seen that it may go on, and be
 * gone.  So its waker belongs to the client, for as long as the client exists.
 * A signal too many wakes the next thread that waits with that waker, which
 * checks and waits on.
 */
#ifndef KU_WAKER_H
#define KU_WAKER_H

#include <pthread.h>
#include <stdbool.h>

struct kustos_client;
struct ku_zk;

struct ku_waker {
	pthread_cond_t cond;
	struct ku_zk *drives;  /* its thread does, instead of waiting for
				  "cond" */
	struct ku_waker *next; /* of those that nobody waits with */
};

/* At most so many are noted; more are woken at once. */
#define KU_WAKERS_NOTED 8

struct ku_wakers {
	struct ku_waker *spare;
	struct ku_waker *noted[KU_WAKERS_NOTED];
	int count;
	bool notes; /* the thread that has the lock wakes them afterwards */
};

/* Take a waker to wait with; NULL if memory is short.  And give it back.
   Locked. */
struct ku_waker *ku_waker_take(struct kustos_client *client);
void ku_waker_put(struct kustos_client *client, struct ku_waker *waker);

/* Wake the thread that waits with it.  Locked. */
void ku_waker_wake(struct kustos_client *client, struct ku_waker *waker);

/* Lock, and unlock and then wake.  Only for threads that end before the client
   is freed: those of a handle, which is closed before. */
void ku_lock_to_wake(struct kustos_client *client);
void ku_unlock_and_wake(struct kustos_client *client);

/* The thread that has the lock was one that wakes afterwards, and is so no more:
   wake those that it noted, but for itself. */
void ku_wakers_settle(struct kustos_client *client, const struct ku_waker *own);

void ku_wakers_free(struct ku_wakers *wakers);

#endif
