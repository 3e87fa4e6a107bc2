/*
 * claim_fixture.h - what tests of claims share: beside the queue of
 * queue_fixture.h, an object that claims of it for each client.
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

/* Open both clients, the first behind the proxy, and make all; and end it, when
   no marker and no claim is left. */
void claim_pair_open(int timeout_ms);
void claim_pair_close(void);

/* Options for the kind; and an object with these for a queue. */
struct kustos_claims_options claims_options(enum kustos_queue_kind kind);
struct kustos_claims *claims_new(struct kustos_client *owner, const char *path,
	const struct kustos_claims_options *options);

/* Claim one and see that it is this. */
struct kustos_claim *claim_expect(struct kustos_claims *from, const char *text);

/* Claim what there is without waiting, and release it. */
enum kustos_err claim_try(struct kustos_claims *from);

/* End it, and see how. */
void claim_ack(struct kustos_claim *claim, enum kustos_err expected);

/* Return how many markers there are. */
int claim_marks(void);

/* Put an item as a peer does, whatever its name begins with and its bytes are;
   make its queue first.  Store the path in "made", if that is not NULL. */
void claim_put_raw(const char *path, const char *head, const void *data,
	int len, char made[128]);

/* Put it framed. */
void claim_put_framed(const char *head, const char *text);

/* What an asynchronous call came to. */
struct claimed {
	int calls; /* read with claimed_wait() */
	enum kustos_err err;
	struct kustos_claim *claim;
};

/* A kustos_claim_fn, and a kustos_claim_end_fn; "arg" is a struct claimed. */
void claim_told(void *arg, enum kustos_err err, struct kustos_claim *claim);
void claim_ended(void *arg, enum kustos_err err);
enum kustos_err claimed_wait(const struct claimed *claimed);

#endif
