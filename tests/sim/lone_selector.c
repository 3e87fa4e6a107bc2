/* lone_selector.c - a lone client with selectors; the test runs their
   functions. */
#include "lone_selector.h"

#include "../unit/unit.h"

struct ku_call *selector_call;

static void put_aside(void *arg, struct ku_call *call)
{
	(void)arg;
	ck_assert_ptr_null(selector_call);
	selector_call = call;
}

void selector_run(void)
{
	struct ku_call *call = selector_call;

	ck_assert_ptr_nonnull(call);
	selector_call = NULL;
	ku_lock(lone.client);
	call->fn(lone.client, call);
	ku_unlock(lone.client);
}

struct kustos_selector *selector_make(const char *id, kustos_selector_fn *lead,
	void *arg)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct kustos_selector *s;

	selector_call = NULL;
	lone.client->env.apart = put_aside;
	o.id = id;
	o.lead = lead;
	o.arg = arg;
	ck_assert_int_eq(kustos_selector_create(lone.client, LINE, &o, &s),
		KUSTOS_OK);
	return s;
}

struct kustos_selector *selector_begin(const char *id, kustos_selector_fn *lead,
	void *arg)
{
	struct kustos_selector *s = selector_make(id, lead, arg);

	ck_assert_int_eq(kustos_selector_start(s), KUSTOS_OK);
	lone_run_ms(&lone.bench, lone.client, 200);
	return s;
}
