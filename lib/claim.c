/* claim.c - waits that end with a hold. */

#include "claim.h"
#include "client.h"

#include <stdlib.h>

static enum kustos_err init(struct ku_claim *claim,
	struct kustos_client *client, const struct ku_wait_calls *calls,
	kustos_deadline deadline)
{
	claim->wait.client = client;
	claim->wait.calls = calls;
	claim->once = deadline == KUSTOS_NOW;
	claim->hold = ku_hold_new(client);
	return claim->hold != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
}

enum kustos_err ku_claim_block(struct ku_claim *claim,
	struct kustos_client *client, const struct ku_wait_calls *calls,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out)
{
	enum kustos_err err = init(claim, client, calls, deadline);

	if (err != KUSTOS_OK)
		return err;
	err = ku_wait_block(&claim->wait, deadline, cancel);
	if (err == KUSTOS_OK)
		*out = claim->hold;
	else
		ku_hold_free(claim->hold);
	return err;
}

void ku_claim_tell(struct ku_wait *wait)
{
	struct ku_claim *claim = (struct ku_claim *)wait;
	struct kustos_client *client = wait->client;
	struct kustos_hold *hold = claim->hold;
	enum kustos_err err = wait->err;

	ku_lock(client);
	bool closing = client->closing != KU_OPEN;
	ku_unlock(client);
	/* What was granted before a close, and is told after it, is of no use.
	   */
	if (err == KUSTOS_OK && closing) {
		(void)ku_hold_release(hold);
		err = KUSTOS_ECLOSED;
	} else if (err != KUSTOS_OK) {
		ku_hold_free(hold);
	}
	claim->granted(claim->arg, err, err == KUSTOS_OK ? hold : NULL);
	free(claim);
}

enum kustos_err ku_claim_async(struct ku_claim *claim,
	struct kustos_client *client, const struct ku_wait_calls *calls,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_granted_fn *granted, void *arg)
{
	claim->granted = granted;
	claim->arg = arg;
	enum kustos_err err = init(claim, client, calls, deadline);
	if (err == KUSTOS_OK)
		err = ku_wait_async(&claim->wait, deadline, cancel);
	if (err != KUSTOS_OK) {
		ku_hold_free(claim->hold);
		free(claim);
	}
	return err;
}
