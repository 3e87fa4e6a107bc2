/*
 * queue_fixture.h - what tests of the queues share: for each of the two clients
 * of mutex_pair.h an object for the queue QUEUE; and short forms of the calls.
 */
#ifndef TEST_QUEUE_FIXTURE_H
#define TEST_QUEUE_FIXTURE_H

#include <kustos/queue.h>

#include "mutex_pair.h"

#define QUEUE "/queues/q"
#define RECEIPTS QUEUE "-receipts"

extern struct kustos_queue *queue, *queue_others;

/* Open both clients, the first behind the proxy, and create both objects.
   Close everything. */
void queue_pair_open(int timeout_ms);
void queue_pair_close(void);

struct kustos_queue *queue_new(struct kustos_client *owner);

void queue_put(struct kustos_queue *q, const char *text);

/* Put the numbers from "from" to "to" - 1 in one call. */
void queue_put_numbers(struct kustos_queue *q, int from, int to);

/* Take one item, or one item for each number, and check what it is. */
void queue_expect(struct kustos_queue *q, const char *text);
void queue_expect_numbers(struct kustos_queue *q, int from, int to);

/* Poll without waiting, free the item, and return the error. */
enum kustos_err queue_try(struct kustos_queue *q);

/* Return how many children the queue's node has; 0 if it does not exist. */
int queue_count(void);

/* The outcome of an asynchronous call. */
struct taken {
	int calls; /* read with taken_calls() */
	enum kustos_err err;
	size_t count;
	struct kustos_item *items[64];
};

/* A kustos_queue_poll_fn, and a kustos_end_fn; "arg" is a struct taken. */
void queue_taken(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count);
void queue_was_put(void *arg, enum kustos_err err);
int taken_calls(const struct taken *taken);

/* Wait for the call to end and return its error.  Free the items. */
enum kustos_err taken_wait(const struct taken *taken);
void taken_free(struct taken *taken);

#endif
