/* claim.c - waits that end with holds. */

#include "claim.h"
#include "client.h"

#include <stdlib.h>
#include <string.h>

/* Free what has not been handed out. */
static void free_holds(struct ku_claim *claim)
{
	for (int i = 0; claim->holds != NULL && i < claim->count; i++)
		ku_hold_free(claim->holds[i]);
	if (claim->holds != &claim->hold)
		free(claim->holds);
}

static enum kustos_err init(struct ku_claim *claim,
	struct kustos_client *client, const struct ku_wait_calls *calls,
	kustos_deadline deadline)
{
	claim->wait.client = client;
	claim->wait.calls = calls;
	claim->once = deadline == KUSTOS_NOW;
	if (claim->count < 1)
		claim->count = 1;
	claim->holds = claim->count == 1
		? &claim->hold
		: calloc((size_t)claim->count, sizeof(struct kustos_hold *));
	if (claim->holds == NULL)
		return KUSTOS_ENOMEM;
	for (int i = 0; i < claim->count; i++) {
		claim->holds[i] = ku_hold_new(client);
		if (claim->holds[i] == NULL)
			return KUSTOS_ENOMEM;
	}
	return KUSTOS_OK;
}

enum kustos_err ku_claim_block(struct ku_claim *claim,
	struct kustos_client *client, const struct ku_wait_calls *calls,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out)
{
	enum kustos_err err = init(claim, client, calls, deadline);

	if (err == KUSTOS_OK)
		err = ku_wait_block(&claim->wait, deadline, cancel);
	for (int i = 0; err == KUSTOS_OK && i < claim->count; i++) {
		out[i] = claim->holds[i];
		claim->holds[i] = NULL;
	}
	free_holds(claim);
	return err;
}

void ku_claim_tell(struct ku_wait *wait)
{
	struct ku_claim *claim = (struct ku_claim *)wait;
	struct kustos_client *client = wait->client;
	enum kustos_err err = wait->err;

	ku_lock(client);
	bool closing = client->closing != KU_OPEN;
	ku_unlock(client);
	/* What was granted before a close, and is told after it, is of no use.
	   */
	for (int i = 0; err == KUSTOS_OK && closing && i < claim->count; i++) {
		(void)ku_hold_release(claim->holds[i]);
		claim->holds[i] = NULL;
	}
	if (err == KUSTOS_OK && closing)
		err = KUSTOS_ECLOSED;
	bool good = err == KUSTOS_OK;
	if (claim->granted_many != NULL)
		claim->granted_many(claim->arg, err, good ? claim->holds : NULL,
			good ? claim->count : 0);
	else
		claim->granted(claim->arg, err, good ? claim->hold : NULL);
	if (good)
		memset(claim->holds, 0,
			(size_t)claim->count * sizeof(*claim->holds));
	free_holds(claim);
	free(claim);
}

enum kustos_err ku_claim_async(struct ku_claim *claim,
	struct kustos_client *client, const struct ku_wait_calls *calls,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = init(claim, client, calls, deadline);

	if (err == KUSTOS_OK)
		err = ku_wait_async(&claim->wait, deadline, cancel);
	if (err != KUSTOS_OK) {
		free_holds(claim);
		free(claim);
	}
	return err;
}
