/*
 * barrier_fixture.h - what tests of the barriers share: a simple barrier for each
 * of the two clients of mutex_pair.h, on the node BARRIER.
 */
#ifndef TEST_BARRIER_FIXTURE_H
#define TEST_BARRIER_FIXTURE_H

#include <kustos/barrier.h>

#include "mutex_pair.h"

#define BARRIER "/barriers/b"

/* Wait until the server has so many watches, of all sessions. */
void watches_wait(int count);

extern struct kustos_barrier *barrier, *barrier_others;

/* Create both barriers, once the clients are open.  Destroy them and close the
   pair. */
void barrier_pair_make(void);
void barrier_pair_close(void);

struct kustos_barrier *barrier_new(struct kustos_client *owner);
void barrier_set(struct kustos_barrier *b);
void barrier_remove(struct kustos_barrier *b);
bool barrier_there(void);

#endif
