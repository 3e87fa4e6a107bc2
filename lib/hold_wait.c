/* hold_wait.c - waits that end with holds. */

#include "hold_wait.h"
#include "client.h"

#include <stdlib.h>
#include <string.h>

/* Free the holds that have not been handed out. */
static void free_holds(struct ku_hold_wait *want)
{
	for (int i = 0; want->holds != NULL && i < want->count; i++)
		ku_hold_free(want->holds[i]);
	if (want->holds != &want->hold)
		free(want->holds);
}

static enum kustos_err init(struct ku_hold_wait *want,
	struct kustos_client *client, const struct ku_wait_calls *calls)
{
	want->wait.client = client;
	want->wait.calls = calls;
	if (want->count < 1)
		want->count = 1;
	want->holds = want->count == 1
		? &want->hold
		: calloc((size_t)want->count, sizeof(struct kustos_hold *));
	if (want->holds == NULL)
		return KUSTOS_ENOMEM;
	for (int i = 0; i < want->count; i++) {
		want->holds[i] = ku_hold_new(client);
		if (want->holds[i] == NULL)
			return KUSTOS_ENOMEM;
		if (want->kept)
			ku_hold_keep(want->holds[i]);
	}
	return KUSTOS_OK;
}

enum kustos_err ku_hold_wait_block(struct ku_hold_wait *want,
	struct kustos_client *client, const struct ku_wait_calls *calls,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_hold **out)
{
	enum kustos_err err = init(want, client, calls);

	if (err == KUSTOS_OK)
		err = ku_wait_block(&want->wait, deadline, cancel);
	for (int i = 0; err == KUSTOS_OK && i < want->count; i++) {
		out[i] = want->holds[i];
		want->holds[i] = NULL;
	}
	free_holds(want);
	return err;
}

void ku_hold_wait_tell(struct ku_wait *wait)
{
	struct ku_hold_wait *want = (struct ku_hold_wait *)wait;
	struct kustos_client *client = wait->client;
	enum kustos_err err = wait->err;

	ku_lock(client);
	bool closing = client->closing != KU_OPEN;
	ku_unlock(client);
	/* A hold that was granted before a close, and would be handed out after
	   it, is of no use. */
	for (int i = 0; err == KUSTOS_OK && closing && i < want->count; i++) {
		(void)ku_hold_release(want->holds[i]);
		want->holds[i] = NULL;
	}
	if (err == KUSTOS_OK && closing)
		err = KUSTOS_ECLOSED;
	bool good = err == KUSTOS_OK;
	if (want->granted_many != NULL)
		want->granted_many(want->arg, err, good ? want->holds : NULL,
			good ? want->count : 0);
	else
		want->granted(want->arg, err, good ? want->hold : NULL);
	if (good)
		memset(want->holds, 0,
			(size_t)want->count * sizeof(*want->holds));
	free_holds(want);
	free(want);
}

enum kustos_err ku_hold_wait_async(struct ku_hold_wait *want,
	struct kustos_client *client, const struct ku_wait_calls *calls,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	enum kustos_err err = init(want, client, calls);

	if (err == KUSTOS_OK)
		err = ku_wait_async(&want->wait, deadline, cancel);
	if (err != KUSTOS_OK) {
		free_holds(want);
		free(want);
	}
	return err;
}
