/*
 * seat_bed.h - a test bed for the only node of a line (a seat): one client with
 * several simple locks on it, and a rival.
 *
 * Anything that cannot be done fails the test.
 */
#ifndef SIM_SEAT_BED_H
#define SIM_SEAT_BED_H

#include "lone.h"

#include "../unit/unit.h"

#include <kustos/cancel.h>
#include <kustos/simple.h>

#include <string.h>

#define NODE "/one"
/* How long each message between a client and its server takes. */
#define WAY_MS 10
#define PLACES 4

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static struct kustos_client *client;
static struct kustos_simple *locks[PLACES];
static struct wish {
	enum kustos_err err; /* KUSTOS_ETIMEDOUT: not yet */
	struct kustos_hold *hold;
} wishes[PLACES];

/* The client's next request about the node, and its time.  The rival makes the
   node just before it. */
static struct fight {
	bool on, asked;
	enum ku_zk_kind kind;
	int64_t at_ns;
} fight;
static bool uncreatable, undeletable, unreadable, unknowable;
static bool unanswered; /* the next try is not done, and not answered */
static int requests, tries, reads;
static int asked; /* how often a holder was asked to release it */

static inline int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	static const struct ku_zk_request rival = { .kind = KU_ZK_CREATE,
		.path = NODE,
		.data = "",
		.mode = KU_ZK_EPHEMERAL };
	bool ours = request->path != NULL && strcmp(request->path, NODE) == 0;

	if (ours && fight.on && !fight.asked) {
		fight.asked = true;
		fight.kind = request->kind;
		fight.at_ns = bench.sched.now_ns;
	}
	if (ours && fight.on && request->kind == KU_ZK_CREATE)
		lone_send(&bench, raw, &rival);
	requests += ours;
	tries += ours && request->kind == KU_ZK_CREATE;
	reads += ours && request->kind == KU_ZK_GET;
	if (ours && unanswered && request->kind == KU_ZK_CREATE) {
		unanswered = false;
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	}
	if (ours &&
		((uncreatable && request->kind == KU_ZK_CREATE) ||
			(undeletable && request->kind == KU_ZK_DELETE) ||
			(unreadable && request->kind == KU_ZK_GET) ||
			(unknowable && request->kind == KU_ZK_EXISTS)))
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

static inline void count_request(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	asked++;
}

static inline void setup(void)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;

	raw = lone_setup(&bench, WAY_MS);
	api = ku_zk_sim;
	api.submit = submit;
	fight.on = false;
	uncreatable = undeletable = unreadable = unknowable = false;
	unanswered = false;
	requests = tries = reads = asked = 0;
	client = lone_connected(&bench, &api);
	o.on_revoke = count_request;
	for (int i = 0; i < PLACES; i++) {
		wishes[i] = (struct wish){ KUSTOS_ETIMEDOUT, NULL };
		ck_assert_int_eq(
			kustos_simple_create(client, NODE, &o, &locks[i]),
			KUSTOS_OK);
	}
}

static inline void teardown(void)
{
	for (int i = 0; i < PLACES; i++)
		kustos_simple_destroy(locks[i]);
	lone_teardown(&bench, client);
}

static inline void granted(void *arg, enum kustos_err err,
	struct kustos_hold *hold)
{
	*(struct wish *)arg = (struct wish){ err, hold };
}

static inline enum kustos_err ask(int i, kustos_deadline deadline,
	struct kustos_cancel *cancel)
{
	return kustos_simple_acquire_async(locks[i], deadline, cancel, granted,
		&wishes[i]);
}

static inline void check_granted(int i)
{
	ck_assert_int_eq(wishes[i].err, KUSTOS_OK);
	ck_assert_int_eq(kustos_hold_state(wishes[i].hold), KUSTOS_HOLD_HELD);
}

static inline void run_ms(int ms)
{
	lone_run_ms(&bench, client, ms);
}

/* The rival makes the node. */
static inline void make_it(void)
{
	ck_assert_int_eq(
		bench_create(&bench, raw, NODE, "", KU_ZK_EPHEMERAL).rc,
		KU_ZK_OK);
}

static inline void delete_it(void)
{
	ck_assert_int_eq(bench_delete(&bench, raw, NODE, -1).rc, KU_ZK_OK);
}

#endif
