/* gate_tell.c - the callbacks of a gate, besides those of holds: that a place
   waits, and that somebody asks for its release. */

#include "gate_impl.h"

#include <stdlib.h>
#include <string.h>

/* Enter a callback, and unlock the client.  Returns false, with the client
   still locked, if no callback may be called any more. */
static bool begin(struct ku_gate *gate, struct ku_inside *self)
{
	if (gate->destroyed)
		return false;
	gate->refs++;
	ku_inside_enter(gate->client, &gate->inside, self);
	return true;
}

static void end(struct ku_gate *gate, struct ku_inside *self)
{
	ku_inside_leave(gate->client, &gate->inside, self);
	ku_gate_put(gate);
}

static void call_on_revoke(void *arg, struct kustos_hold *hold)
{
	struct ku_gate *gate = arg;
	struct kustos_client *client = gate->client;
	struct ku_inside self;

	ku_lock(client);
	if (begin(gate, &self)) {
		gate->on_revoke(gate->on_revoke_arg, hold);
		end(gate, &self);
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
	struct ku_inside self;

	(void)client;
	if (begin(gate, &self)) {
		gate->on_queued(gate->on_queued_arg, notice->path);
		end(gate, &self);
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
