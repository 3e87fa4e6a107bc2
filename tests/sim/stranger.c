/* stranger.c - a bare handle of the ZooKeeper library, for actors without
   Kustos. */
#include "stranger.h"

const struct kustos_acl stranger_acl = { KUSTOS_PERM_ALL, "world", "anyone" };

static void event(void *arg, enum ku_zk_event event, enum ku_zk_state state,
	const char *path)
{
	struct stranger *s = arg;

	(void)path;
	if (event != KU_ZK_EVENT_SESSION)
		return;
	s->connected = state == KU_ZK_STATE_CONNECTED;
	s->ended = state == KU_ZK_STATE_EXPIRED;
}

void stranger_open(struct stranger *s, struct sim *sim, int index)
{
	struct ku_zk_open open = {
		.addresses = model_addresses(sim_model(sim)),
		.timeout_ms = sim_scenario_of(sim)->timeout_ms,
		.event = event,
		.arg = s,
	};

	s->connected = s->ended = false;
	s->pending = 0;
	if (ku_zk_sim.open(model_client(sim_model(sim), index), &open,
		    &s->zk) != KUSTOS_OK)
		sim_fail(sim, "simulator", "cannot open a handle");
}

void stranger_close(struct stranger *s)
{
	if (s->zk != NULL)
		ku_zk_sim.close(s->zk);
	s->zk = NULL;
	s->connected = false;
}

bool stranger_submit(struct stranger *s, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool taken = ku_zk_sim.submit(s->zk, request, done, arg) == KU_ZK_OK;

	s->pending += taken;
	return taken;
}
