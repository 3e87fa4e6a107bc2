/*
 * test_written_early.c - another writes into a node before its maker, who has
 * lost the answer to the creation, finds it.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/election.h>
#include <kustos/mutex.h>
#include <kustos/simple.h>

#include <string.h>

#define NODE "/one"
/* How long each message between a client and its server takes. */
#define WAY_MS 10
/* Longer than the longest pause before a client looks at its node again. */
#define LONG_MS 70000

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static const char *writes; /* what another writes before the node is found */
static bool loses;	   /* the answer to the next creation is lost */
static int creations, granted, asked, lost;

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool ours = request->path != NULL &&
		strncmp(request->path, NODE, strlen(NODE)) == 0;

	creations += ours && request->kind == KU_ZK_CREATE;
	if (ours && loses && request->kind == KU_ZK_CREATE) {
		loses = false;
		return lone_lose(zk, request, done, arg);
	}
	if (ours && writes != NULL && request->kind == KU_ZK_EXISTS) {
		const struct ku_zk_request set = { .kind = KU_ZK_SET,
			.path = request->path,
			.data = writes,
			.len = (int)strlen(writes) };

		writes = NULL;
		lone_send(&bench, raw, &set);
	}
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void run(void)
{
	for (int ms = 0; ms < LONG_MS; ms++) {
		(void)ku_client_step(client);
		bench_run_ms(&bench, 1);
	}
	ck_assert(!loses);
	ck_assert_ptr_null(writes);
}

static void set_up(void)
{
	raw = lone_setup(&bench, WAY_MS);
	api = ku_zk_sim;
	api.submit = submit;
	client = lone_connected(&bench, &api);
	loses = true;
	creations = granted = asked = lost = 0;
}

static void tear_down(void)
{
	lone_teardown(&bench, client);
}

static void on_granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	struct kustos_hold **out = arg;

	ck_assert_int_eq(err, KUSTOS_OK);
	*out = hold;
	granted++;
}

static void on_revoke(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	(void)hold;
	asked++;
}

static void check_asked(struct kustos_hold *hold)
{
	ck_assert_int_eq(granted, 1);
	ck_assert_int_eq(asked, 1);
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
}

START_TEST(a_request_to_release_a_mutex_is_heard)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *mutex;
	struct kustos_hold *hold = NULL;

	o.on_revoke = on_revoke;
	writes = "__REVOKE__";
	lone_make(&bench, raw, NODE);
	ck_assert_int_eq(kustos_mutex_create(client, NODE, &o, &mutex),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_mutex_acquire_async(mutex, KUSTOS_FOREVER, NULL,
				 on_granted, &hold),
		KUSTOS_OK);
	run();
	check_asked(hold);
	kustos_mutex_destroy(mutex);
}
END_TEST

START_TEST(a_request_to_release_a_simple_lock_is_heard)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;
	struct kustos_simple *lock;
	struct kustos_hold *hold = NULL;

	o.on_revoke = on_revoke;
	writes = "__REVOKE__";
	ck_assert_int_eq(kustos_simple_create(client, NODE, &o, &lock),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_simple_acquire_async(lock, KUSTOS_FOREVER, NULL,
				 on_granted, &hold),
		KUSTOS_OK);
	run();
	check_asked(hold);
	kustos_simple_destroy(lock);
}
END_TEST

static void on_gained(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)latch;
	(void)hold;
	granted++;
}

static void on_lost(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)latch;
	(void)hold;
	lost++;
}

/* With nodes in a line, and with one node. */
START_TEST(nobody_leads_by_a_node_in_which_another_has_written)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	struct kustos_latch *latch;

	o.id = "a";
	o.one_node = _i;
	o.on_gained = on_gained;
	o.on_lost = on_lost;
	writes = "mine";
	if (_i == 0)
		lone_make(&bench, raw, NODE);
	ck_assert_int_eq(kustos_latch_create(client, NODE, &o, &latch),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_latch_start(latch), KUSTOS_OK);
	run();
	/* It leads by another node, perhaps after a moment with that one.  The
	   creation of the only node is sent again to find that it is there. */
	ck_assert_int_eq(creations, 2 + _i);
	ck_assert_int_eq(granted, lost + 1);
	ck_assert(kustos_latch_leads(latch));
	kustos_latch_destroy(latch);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("written early");
	TCase *t = tcase_create("creation without an answer");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, a_request_to_release_a_mutex_is_heard);
	tcase_add_test(t, a_request_to_release_a_simple_lock_is_heard);
	tcase_add_loop_test(t,
		nobody_leads_by_a_node_in_which_another_has_written, 0, 2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
