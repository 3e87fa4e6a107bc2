/*
 * queue_fixture.h - what tests of the queues share: an object of the queue QUEUE
 * for each of the two clients of mutex_pair.h; and short forms of the calls.
 */
#ifndef TEST_QUEUE_FIXTURE_H
#define TEST_QUEUE_FIXTURE_H

#include <kustos/queue.h>

#include "mutex_pair.h"

#define QUEUE "/queues/q"
#define RECEIPTS QUEUE "-receipts"

extern struct kustos_queue *queue, *queue_others;

/* Open both clients, the first behind the proxy, and make both; and end it all. */
void queue_pair_open(int timeout_ms);
void queue_pair_close(void);

struct kustos_queue *queue_new(struct kustos_client *owner);

void queue_put(struct kustos_queue *q, const char *text);

/* Put "from" to "to" - 1, as numbers, in one call. */
void queue_put_numbers(struct kustos_queue *q, int from, int to);

/* Take one and see that it is this. */
void queue_expect(struct kustos_queue *q, const char *text);
void queue_expect_numbers(struct kustos_queue *q, int from, int to);

/* Return what a look without waiting brings, and free that. */
enum kustos_err queue_try(struct kustos_queue *q);

/* How many nodes are below the queue's; 0 if that is missing. */
int queue_count(void);

/* What an asynchronous call came to. */
struct taken {
	int calls; /* read with taken_calls() */
	enum kustos_err err;
	size_t count;
	struct kustos_item *items[64];
};

/* A kustos_queue_poll_fn, and a kustos_queue_put_fn; "arg" is a struct taken. */
void queue_taken(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count);
void queue_was_put(void *arg, enum kustos_err err);
int taken_calls(const struct taken *taken);

/* Wait for its end; and free the items. */
enum kustos_err taken_wait(const struct taken *taken);
void taken_free(struct taken *taken);

#endif
