/*
 * semaphore_fixture.h - what tests of the semaphore share, on top of
 * mutex_pair.h: the same clients and acquires.
 *
 * Whatever fails in here fails the test.
 */
#ifndef TEST_SEMAPHORE_FIXTURE_H
#define TEST_SEMAPHORE_FIXTURE_H

#include <kustos/semaphore.h>

#include "mutex_pair.h"

/* The semaphore of all tests, its two lines, and a node for its number. */
#define SEM "/jobs/render"
#define LEASES SEM "/leases"
#define LOCKS SEM "/locks"
#define NUMBER "/settings/renderers"

extern struct kustos_semaphore *sem, *others; /* of "client" and of "other" */

/* Create a semaphore on SEM with this number of leases, or with the number in
   the node NUMBER. */
struct kustos_semaphore *sem_new(struct kustos_client *owner, int max);
struct kustos_semaphore *sem_shared(struct kustos_client *owner);

/* Acquire one lease or many, which must succeed; and release them. */
struct kustos_hold *sem_take(struct kustos_semaphore *from);
void sem_take_many(struct kustos_semaphore *from, int count,
	struct kustos_hold **out);
void give_many(struct kustos_hold **holds, int count);

/* Try to acquire without waiting, release it again, and return the error. */
enum kustos_err sem_try(struct kustos_semaphore *from);

/* Acquire without waiting; ask_wait() and ask_waits() work for it, too. */
void sem_ask(struct ask *a, struct kustos_semaphore *from,
	kustos_deadline deadline);

/* Return how many children a node has, 0 also if it does not exist.  Wait until
   it has so many. */
int sem_count(const char *path);
void sem_wait_count(const char *path, int count);

/* Set the number of leases, waiting for as long as a test may. */
void sem_set(struct kustos_semaphore *from, int max);

/* Wait until everything that either client has sent is answered.  sem_check()
   then checks how many nodes both lines have. */
void sem_flush(void);
void sem_check(int leases, int locks);

/* Destroy these two, close the pair, and check that no node is left. */
void sem_pair_close(void);

#endif
