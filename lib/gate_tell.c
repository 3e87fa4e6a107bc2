/* gate_tell.c - the callbacks of a gate, besides those of holds: that a place
   waits, and that somebody asks for its release. */

#include "gate_impl.h"

#include <stdlib.h>
#include <string.h>

/* Enter a callback, and unlock the client.  Returns false, with the client
   still locked, if no callback may be called any more. */
static bool begin(struct ku_gate *gate, struct ku_teller *teller)
{
	if (gate->destroyed)
		return false;
	gate->refs++;
	teller->thread = pthread_self();
	teller->next = gate->tellers;
	gate->tellers = teller;
	ku_unlock(gate->client);
	return true;
}

static void end(struct ku_gate *gate, struct ku_teller *teller)
{
	struct kustos_client *client = gate->client;
	struct ku_teller **at = &gate->tellers;

	ku_lock(client);
	while (*at != teller)
		at = &(*at)->next;
	*at = teller->next;
	pthread_cond_broadcast(&client->state_changed);
	ku_gate_put(gate);
}

static bool others_tell(const struct ku_gate *gate)
{
	const struct ku_teller *teller = gate->tellers;

	while (teller != NULL && pthread_equal(teller->thread, pthread_self()))
		teller = teller->next;
	return teller != NULL;
}

void ku_gate_hush(struct ku_gate *gate)
{
	struct kustos_client *client = gate->client;

	while (others_tell(gate))
		ku_cond_wait(client, &client->state_changed, KUSTOS_FOREVER);
}

static void call_on_revoke(void *arg, struct kustos_hold *hold)
{
	struct ku_gate *gate = arg;
	struct kustos_client *client = gate->client;
	struct ku_teller teller;

	ku_lock(client);
	if (begin(gate, &teller)) {
		gate->on_revoke(gate->on_revoke_arg, hold);
		end(gate, &teller);
	}
	ku_unlock(client);
}

void ku_gate_tell_revoked(struct ku_gate *gate, struct kustos_hold *hold)
{
	ku_hold_ask(hold, call_on_revoke, gate);
}

struct notice {
	struct ku_call call; /* first: cast back from it */
	struct ku_gate *gate;
	char path[];
};

static void call_on_queued(struct kustos_client *client, struct ku_call *call)
{
	struct notice *notice = (struct notice *)call;
	struct ku_gate *gate = notice->gate;
	struct ku_teller teller;

	(void)client;
	if (begin(gate, &teller)) {
		gate->on_queued(gate->on_queued_arg, notice->path);
		end(gate, &teller);
	}
	ku_gate_put(gate);
	free(notice);
}

void ku_gate_tell_queued(struct ku_gate *gate, const char *path)
{
	if (gate->on_queued == NULL)
		return;
	struct notice *notice = calloc(1, sizeof(*notice) + strlen(path) + 1);
	if (notice == NULL)
		return; /* nothing depends on it */
	notice->call.fn = call_on_queued;
	notice->gate = gate;
	strcpy(notice->path, path);
	gate->refs++;
	ku_dispatch_push(gate->client, &notice->call, KU_ORDINARY);
}
