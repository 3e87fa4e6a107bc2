/* deaf.c - a client that can be made to miss the events of its session. */
#include "deaf.h"

#include "client.h"
#include "client_fixture.h"
#include "env.h"

static struct ku_zk_api api;
static ku_zk_event_fn *event_fn;
static int deaf;
static int missed;

static void event(void *arg, enum ku_zk_event event, enum ku_zk_state state,
	const char *path)
{
	if (event == KU_ZK_EVENT_SESSION &&
		__atomic_load_n(&deaf, __ATOMIC_SEQ_CST))
		__atomic_add_fetch(&missed, 1, __ATOMIC_SEQ_CST);
	else
		event_fn(arg, event, state, path);
}

static enum kustos_err open_it(void *env, const struct ku_zk_open *params,
	struct ku_zk **out)
{
	struct ku_zk_open mine = *params;

	event_fn = params->event;
	mine.event = event;
	return ku_zk_library.open(env, &mine, out);
}

struct kustos_client *deaf_open(const char *hosts, int timeout_ms)
{
	struct kustos_client_options o = client_options(hosts, timeout_ms);
	struct ku_env env = ku_env_real;
	struct kustos_client *c = NULL;

	api = ku_zk_library;
	api.open = open_it;
	env.api = &api;
	env.clock = ku_clock_real;
	ck_assert_int_eq(ku_client_open(&o, &env, &c), KUSTOS_OK);
	return c;
}

void deaf_go(int yes)
{
	__atomic_store_n(&deaf, yes, __ATOMIC_SEQ_CST);
}

int deaf_missed(void)
{
	return __atomic_load_n(&missed, __ATOMIC_SEQ_CST);
}
