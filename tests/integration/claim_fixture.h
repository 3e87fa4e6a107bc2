/*
 * claim_fixture.h - what tests of claims share: the queue of queue_fixture.h,
 * and for each of the two clients an object that claims items from it.
 */
#ifndef TEST_CLAIM_FIXTURE_H
#define TEST_CLAIM_FIXTURE_H

#include <kustos/claim.h>
#include <kustos/hold.h>

#include "queue_fixture.h"

#define LOCKS QUEUE "-locks"
#define FRAMED QUEUE "-framed" /* another queue, of framed items */
#define DEAD QUEUE "-dead"

extern struct kustos_claims *claims, *claims_others;

/* Open both clients, the first behind the proxy, and create both objects.
   Close everything; by then no marker and no claim may be left. */
void claim_pair_open(int timeout_ms);
void claim_pair_close(void);

/* Return options for this kind of queue.  Create an object with such options
   for the queue "path". */
struct kustos_claims_options claims_options(enum kustos_queue_kind kind);
struct kustos_claims *claims_new(struct kustos_client *owner, const char *path,
	const struct kustos_claims_options *options);

/* Claim one item and check that its text is this. */
struct kustos_claim *claim_expect(struct kustos_claims *from, const char *text);

/* Claim an item without waiting for one, and release it. */
enum kustos_err claim_try(struct kustos_claims *from);

/* Acknowledge the claim and check the error that this returns. */
void claim_ack(struct kustos_claim *claim, enum kustos_err expected);

/* Return how many markers there are. */
int claim_marks(void);

/* Put an item as a peer would, with any beginning of its name and any bytes;
   the queue is created if need be.  Store the item's path in "made" unless that
   is NULL. */
void claim_put_raw(const char *path, const char *head, const void *data,
	int len, char made[128]);

/* The same in the queue FRAMED, with the text in Curator's frame. */
void claim_put_framed(const char *head, const char *text);

/* The outcome of an asynchronous call. */
struct claimed {
	int calls; /* read with claimed_wait() */
	enum kustos_err err;
	struct kustos_claim *claim;
};

/* A kustos_claim_next_fn, and a kustos_end_fn; "arg" is a struct claimed. */
void claim_told(void *arg, enum kustos_err err, struct kustos_claim *claim);
void claim_ended(void *arg, enum kustos_err err);
enum kustos_err claimed_wait(const struct claimed *claimed);

/* Acknowledge "claim" in the background. */
void claim_ack_later(struct kustos_claim *claim, kustos_deadline deadline,
	struct claimed *end);

#endif
