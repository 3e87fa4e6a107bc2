/*
 * inside.h - which threads are inside the callbacks of an object.
 *
 * An object that is destroyed waits for its callbacks that run on other
 * threads.  It does not wait for one that this thread is inside, which may be
 * the one that destroys it.
 *
 * Everything here is called with the client locked.
 */
#ifndef KU_INSIDE_H
#define KU_INSIDE_H

#include <pthread.h>
#include <stdbool.h>

struct kustos_client;

struct ku_inside { /* on the stack of the thread; the object has the list */
	pthread_t thread;
	struct ku_inside *next;
};

/* This thread enters a callback: unlock the client.  It has left it: lock the
   client again, and wake whoever waits. */
void ku_inside_enter(struct kustos_client *client, struct ku_inside **all,
	struct ku_inside *self);
void ku_inside_leave(struct kustos_client *client, struct ku_inside **all,
	struct ku_inside *self);

/* Is this thread inside one? */
bool ku_inside_here(const struct ku_inside *all);

/* Wait until no other thread is inside one.  Unlocks meanwhile. */
void ku_inside_await(struct kustos_client *client,
	struct ku_inside *const *all);

#endif
