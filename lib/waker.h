/*
 * waker.h - how a thread that waits is woken without being in the way.
 *
 * Who wakes it holds the client's lock, and that is what it needs first: if it
 * runs at once, it only goes to sleep again.  So threads of the ZooKeeper
 * library note whom to wake, and do so when they have unlocked.  By then the
 * one that waited may have seen that it may go on, and be gone; so what it
 * waited with belongs to the client, for as long as that is there, and a signal
 * too many wakes whoever waits with it next, who looks and waits on.
 */
#ifndef KU_WAKER_H
#define KU_WAKER_H

#include <pthread.h>
#include <stdbool.h>

struct kustos_client;

struct ku_waker {
	pthread_cond_t cond;
	struct ku_waker *next; /* of those that nobody waits with */
};

/* So many are noted at the most; more are woken at once. */
#define KU_WAKERS_NOTED 8

struct ku_wakers {
	struct ku_waker *spare;
	struct ku_waker *noted[KU_WAKERS_NOTED];
	int count;
	bool notes; /* whoever has the lock wakes when it has unlocked */
};

/* Have one to wait with; NULL if memory is short.  And give it back.  Locked. */
struct ku_waker *ku_waker_take(struct kustos_client *client);
void ku_waker_put(struct kustos_client *client, struct ku_waker *waker);

/* Wake who waits with it.  Locked. */
void ku_waker_wake(struct kustos_client *client, struct ku_waker *waker);

/* Lock, and unlock and then wake.  Only for threads that end before the client
   is freed: those of a handle, which is closed before. */
void ku_lock_to_wake(struct kustos_client *client);
void ku_unlock_and_wake(struct kustos_client *client);

void ku_wakers_free(struct ku_wakers *wakers);

#endif
