/*
 * semaphore_fixture.h - what tests of the semaphore share, on top of
 * mutex_pair.h: its clients and its requests.
 *
 * What cannot be done fails the test.
 */
#ifndef TEST_SEMAPHORE_FIXTURE_H
#define TEST_SEMAPHORE_FIXTURE_H

#include <kustos/semaphore.h>

#include "mutex_pair.h"

/* The semaphore that all tests use, its two lines, and a node for its number. */
#define SEM "/jobs/render"
#define LEASES SEM "/leases"
#define LOCKS SEM "/locks"
#define NUMBER "/settings/renderers"

extern struct kustos_semaphore *sem, *others; /* of "client" and of "other" */

/* Make a semaphore on SEM for so many, or for so many as NUMBER says. */
struct kustos_semaphore *sem_new(struct kustos_client *owner, int max);
struct kustos_semaphore *sem_shared(struct kustos_client *owner);

/* Acquire, which has to succeed. */
struct kustos_hold *sem_take(struct kustos_semaphore *from);
void sem_take_many(struct kustos_semaphore *from, int count,
	struct kustos_hold **out);
void give_many(struct kustos_hold **holds, int count);

/* The outcome of a try; what was got is given back. */
enum kustos_err sem_try(struct kustos_semaphore *from);

/* Ask, and do not wait.  ask_wait() and ask_waits() are for these, too. */
void sem_ask(struct ask *a, struct kustos_semaphore *from,
	kustos_deadline deadline);

/* Return how many children a node has, 0 also if it is not there; and wait
   until there are so many. */
int sem_count(const char *path);
void sem_wait_count(const char *path, int count);

/* Set the number, with patience. */
void sem_set(struct kustos_semaphore *from, int max);

/* Wait until everything that either client has sent is answered; and see that so
   many nodes are there then. */
void sem_flush(void);
void sem_check(int leases, int locks);

/* Destroy these two, close the pair, and see that nothing is left. */
void sem_pair_close(void);

#endif
