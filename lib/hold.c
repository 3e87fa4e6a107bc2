/* hold.c - what was granted: for how long it is held, and who is notified of
   its loss. */

#include "client.h"
#include "hold.h"
#include "inside.h"

#include <kustos/node.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A callback of the program about a hold.  Most are never requested, and every
   lock that waits has three of them, so they are small. */
struct notice {
	struct ku_call call;
	kustos_hold_fn *fn;
	void *arg;
	unsigned short offset; /* of this struct in its hold */
	bool running;
	bool again; /* requested while it ran */
};

struct kustos_hold {
	struct kustos_client *client;
	struct ku_grant of;
	struct ku_bundle *bundle; /* of which it is the whole, or NULL */
	struct ku_bundle *within; /* of which it is a part, or NULL */
	int64_t epoch;

	struct notice on_lost, at_risk, asked;
	struct ku_inside *inside; /* threads in these callbacks */
	struct ku_risk risk;

	atomic_bool lost; /* written when locked */
	atomic_bool kept; /* the program may not release it */
	bool silent;	  /* calls no callback any more */
	bool released;	  /* in a callback of its own, which still runs */
};

const char *kustos_hold_state_name(enum kustos_hold_state state)
{
	static const char *const names[] = { "HELD", "UNSURE", "LOST" };

	if ((unsigned)state >= sizeof(names) / sizeof(names[0]))
		return "UNKNOWN";
	return names[state];
}

bool ku_hold_inside(const struct kustos_hold *hold)
{
	return ku_inside_here(hold->inside);
}

static void run_notice(struct kustos_client *client, struct ku_call *call)
{
	struct notice *notice = KU_OWNER(struct notice, call, call);
	struct kustos_hold *hold = (struct kustos_hold *)((char *)notice -
		notice->offset);
	struct ku_inside self;

	if (notice->fn == NULL)
		return;
	if (notice->running) {
		notice->again = true; /* one after the other */
		return;
	}
	notice->running = true;
	kustos_hold_fn *fn = notice->fn;
	void *arg = notice->arg;
	ku_inside_enter(client, &hold->inside, &self);
	fn(arg, hold);
	ku_inside_leave(client, &hold->inside, &self);
	notice->running = false;
	if (hold->released && hold->inside == NULL) {
		free(hold);
		return;
	}
	if (notice->again && notice->fn != NULL)
		ku_dispatch_push(client, &notice->call,
			notice == &hold->asked ? KU_ORDINARY : KU_URGENT);
	notice->again = false;
}

static void warn(struct ku_risk *risk)
{
	struct kustos_hold *hold = KU_OWNER(struct kustos_hold, risk, risk);

	ku_dispatch_push(hold->client, &hold->at_risk.call, KU_URGENT);
}

static void init_notice(struct kustos_hold *hold, struct notice *notice)
{
	notice->call.fn = run_notice;
	notice->offset = (unsigned short)((char *)notice - (char *)hold);
}

struct kustos_hold *ku_hold_new(struct kustos_client *client)
{
	struct kustos_hold *hold = calloc(1, sizeof(*hold));

	if (hold == NULL)
		return NULL;
	hold->client = client;
	init_notice(hold, &hold->on_lost);
	init_notice(hold, &hold->at_risk);
	init_notice(hold, &hold->asked);
	return hold;
}

void ku_hold_free(struct kustos_hold *hold)
{
	free(hold);
}

void ku_hold_grant(struct kustos_hold *hold, const struct ku_grant *grant)
{
	hold->of = *grant;
	hold->epoch = hold->client->session.epoch;
}

void ku_hold_grant_place(struct kustos_hold *hold, const struct ku_place *place,
	ku_hold_release_fn *release, void *owner)
{
	ku_hold_grant(hold,
		&(struct ku_grant){
			.path = ku_place_path(place),
			.token = ku_place_token(place),
			.release = release,
			.owner = owner,
		});
}

void *ku_hold_owner(const struct kustos_hold *hold, ku_hold_release_fn *release)
{
	return hold->of.release == release ? hold->of.owner : NULL;
}

void ku_hold_lose(struct kustos_hold *hold)
{
	if (hold->lost)
		return;
	hold->lost = true;
	ku_risk_stop(&hold->risk);
	if (hold->on_lost.fn != NULL)
		ku_dispatch_push(hold->client, &hold->on_lost.call, KU_URGENT);
	if (hold->within != NULL)
		ku_hold_lose(hold->within->whole);
}

void ku_hold_keep(struct kustos_hold *hold)
{
	hold->kept = true;
}

void ku_hold_bundle(struct ku_bundle *bundle)
{
	bundle->whole->bundle = bundle;
	for (size_t i = 0; i < bundle->count; i++)
		bundle->parts[i]->within = bundle;
}

static bool is_whole(const struct kustos_hold *hold)
{
	return hold->bundle != NULL;
}

struct kustos_hold *kustos_hold_part(const struct kustos_hold *hold,
	size_t index)
{
	if (hold == NULL || !is_whole(hold) || index >= hold->bundle->count)
		return NULL;
	return hold->bundle->parts[index];
}

void ku_hold_ask(struct kustos_hold *hold, kustos_hold_fn *fn, void *arg)
{
	if (hold->silent)
		return;
	hold->asked.fn = fn;
	hold->asked.arg = arg;
	ku_dispatch_push(hold->client, &hold->asked.call, KU_ORDINARY);
}

enum kustos_hold_state ku_hold_state(struct kustos_hold *hold)
{
	struct kustos_client *client = hold->client;
	enum kustos_state state = ku_session_state(client);

	if (hold->lost || hold->epoch != client->session.epoch)
		return KUSTOS_HOLD_LOST;
	if (state == KUSTOS_STATE_CONNECTED)
		return KUSTOS_HOLD_HELD;
	return state == KUSTOS_STATE_SUSPENDED ? KUSTOS_HOLD_UNSURE
					       : KUSTOS_HOLD_LOST;
}

enum kustos_hold_state kustos_hold_state(struct kustos_hold *hold)
{
	if (hold == NULL || ku_forked(&hold->client->fork))
		return KUSTOS_HOLD_LOST;
	ku_lock(hold->client);
	enum kustos_hold_state state = ku_hold_state(hold);
	ku_unlock(hold->client);
	return state;
}

bool ku_hold_is_lost(struct kustos_hold *hold)
{
	/* In this order: a loss marks what is lost before a later epoch has a
	   lease.  So a thread that sees the lease of a later epoch then sees
	   the mark. */
	bool held = ku_session_alive(hold->client) && !hold->lost;

	return !held && kustos_hold_state(hold) == KUSTOS_HOLD_LOST;
}

int64_t kustos_hold_remaining_ms(struct kustos_hold *hold)
{
	int64_t left = 0;

	if (hold == NULL || ku_forked(&hold->client->fork))
		return 0;
	struct kustos_client *client = hold->client;
	ku_lock(client);
	if (ku_hold_state(hold) != KUSTOS_HOLD_LOST)
		left = ku_lease_left(&client->session.lease, ku_now(client));
	ku_unlock(client);
	return left / KU_NS_PER_MS;
}

int64_t kustos_hold_token(const struct kustos_hold *hold)
{
	return hold != NULL ? hold->of.token : 0;
}

const char *kustos_hold_path(const struct kustos_hold *hold)
{
	return hold != NULL ? hold->of.path : NULL;
}

enum kustos_err kustos_hold_on_lost(struct kustos_hold *hold,
	kustos_hold_fn *fn, void *arg)
{
	if (hold == NULL)
		return KUSTOS_EINVAL;
	if (ku_forked(&hold->client->fork))
		return KUSTOS_EFORKED;
	ku_lock(hold->client);
	if (!hold->silent) {
		hold->on_lost.fn = fn;
		hold->on_lost.arg = arg;
		if (fn != NULL && ku_hold_state(hold) == KUSTOS_HOLD_LOST)
			ku_dispatch_push(hold->client, &hold->on_lost.call,
				KU_URGENT);
	}
	ku_unlock(hold->client);
	return KUSTOS_OK;
}

/* Replace the warning that was requested before. */
static void watch_risk(struct kustos_hold *hold, int64_t before_ns,
	kustos_hold_fn *fn, void *arg)
{
	struct kustos_client *client = hold->client;

	hold->at_risk.fn = fn;
	hold->at_risk.arg = arg;
	ku_risk_stop(&hold->risk);
	/* Withdraw a queued call of the former callback. */
	ku_dispatch_pull(client, &hold->at_risk.call);
	hold->at_risk.again = false;
	if (fn != NULL && ku_hold_state(hold) != KUSTOS_HOLD_LOST)
		ku_risk_watch(client, &hold->risk, before_ns, warn);
}

enum kustos_err kustos_hold_at_risk(struct kustos_hold *hold, int64_t before_ms,
	kustos_hold_fn *fn, void *arg)
{
	if (hold == NULL || before_ms < 0 ||
		before_ms > INT64_MAX / KU_NS_PER_MS)
		return KUSTOS_EINVAL;
	struct kustos_client *client = hold->client;
	if (ku_forked(&client->fork))
		return KUSTOS_EFORKED;
	ku_lock(client);
	if (!hold->silent)
		watch_risk(hold, before_ms * KU_NS_PER_MS, fn, arg);
	ku_unlock(client);
	return KUSTOS_OK;
}

void ku_hold_hush(struct kustos_hold *hold)
{
	struct kustos_client *client = hold->client;

	hold->silent = true;
	hold->on_lost.fn = hold->at_risk.fn = hold->asked.fn = NULL;
	ku_dispatch_pull(client, &hold->on_lost.call);
	ku_dispatch_pull(client, &hold->at_risk.call);
	ku_dispatch_pull(client, &hold->asked.call);
	ku_risk_stop(&hold->risk);
	ku_inside_await(client, &hold->inside);
	/* Hush the parts only now: a part's callback looks at the whole, and at
	   the other parts. */
	for (size_t i = 0; is_whole(hold) && i < hold->bundle->count; i++)
		ku_hold_hush(hold->bundle->parts[i]);
}

enum kustos_err ku_hold_release(struct kustos_hold *hold)
{
	struct kustos_client *client = hold->client;

	ku_begin(client);
	/* Hush it before anything that its callbacks may look at goes.  If this
	   is called in one of them, the hold is freed when that returns. */
	ku_hold_hush(hold);
	bool lost = ku_hold_state(hold) == KUSTOS_HOLD_LOST;
	hold->of.release(hold, hold->of.owner);
	hold->released = true;
	bool last = hold->inside == NULL;
	ku_end(client);
	if (last)
		free(hold);
	return lost ? KUSTOS_ELOST : KUSTOS_OK;
}

enum kustos_err kustos_hold_release(struct kustos_hold *hold)
{
	if (hold == NULL)
		return KUSTOS_OK;
	if (hold->kept)
		return KUSTOS_EINVAL;
	if (ku_forked(&hold->client->fork)) {
		free(hold);
		return KUSTOS_EFORKED;
	}
	return ku_hold_release(hold);
}

/* Return how many nodes prove that it is held; a part may have several as
   well. */
static size_t proof_count(const struct kustos_hold *hold)
{
	size_t count = 0;

	if (!is_whole(hold))
		return hold->of.check != NULL ? 2 : 1;
	for (size_t i = 0; i < hold->bundle->count; i++)
		count += proof_count(hold->bundle->parts[i]);
	return count;
}

/* Write a check of each of these nodes to "at".  Returns the end of the
   checks. */
static struct kustos_op *put_checks(const struct kustos_hold *hold,
	struct kustos_op *at)
{
	const struct ku_hold_check *check = hold->of.check;

	if (!is_whole(hold)) {
		*at++ = (struct kustos_op){ .kind = KUSTOS_OP_CHECK,
			.path = kustos_hold_path(hold),
			.version = -1 };
		if (check != NULL)
			*at++ = (struct kustos_op){ .kind = KUSTOS_OP_CHECK,
				.path = check->path,
				.version = check->version };
		return at;
	}
	for (size_t i = 0; i < hold->bundle->count; i++)
		at = put_checks(hold->bundle->parts[i], at);
	return at;
}

/* Put a check of each of the hold's nodes before "ops".  The caller frees what
   is stored in "*guarded". */
static enum kustos_err guard(const struct kustos_hold *hold,
	const struct kustos_op *ops, size_t count, struct ku_guard *by,
	struct kustos_op **guarded)
{
	/* Only in this epoch: in a later session, another's node may have its
	   path. */
	*by = (struct ku_guard){ hold->epoch, proof_count(hold) };
	*guarded = calloc(by->checks + count, sizeof(**guarded));
	if (*guarded == NULL)
		return KUSTOS_ENOMEM;
	memcpy(put_checks(hold, *guarded), ops, count * sizeof(*ops));
	return KUSTOS_OK;
}

static enum kustos_err check_multi(struct kustos_hold *hold,
	const struct kustos_op *ops, size_t count)
{
	if (hold == NULL || ops == NULL || count == 0 || count > KU_OPS_MAX)
		return KUSTOS_EINVAL;
	if (ku_forked(&hold->client->fork))
		return KUSTOS_EFORKED;
	return kustos_hold_state(hold) == KUSTOS_HOLD_LOST ? KUSTOS_ELOST
							   : KUSTOS_OK;
}

enum kustos_err kustos_hold_multi(struct kustos_hold *hold,
	const struct kustos_op *ops, size_t count, kustos_deadline deadline,
	struct kustos_cancel *cancel, struct kustos_op_result *results)
{
	struct kustos_op *guarded = NULL;
	struct ku_guard by;
	enum kustos_err err = check_multi(hold, ops, count);

	if (err == KUSTOS_OK)
		err = guard(hold, ops, count, &by, &guarded);
	if (err == KUSTOS_OK)
		err = ku_multi_guarded(hold->client, &by, guarded,
			by.checks + count, deadline, cancel, results);
	else if (results != NULL && count <= KU_OPS_MAX) /* nothing was sent */
		for (size_t i = 0; i < count; i++)
			results[i] = (struct kustos_op_result){ .err = err };
	free(guarded);
	return err;
}

enum kustos_err kustos_hold_multi_async(struct kustos_hold *hold,
	const struct kustos_op *ops, size_t count, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg)
{
	struct kustos_op *guarded = NULL;
	struct ku_guard by;
	enum kustos_err err = check_multi(hold, ops, count);

	if (err == KUSTOS_OK)
		err = guard(hold, ops, count, &by, &guarded);
	if (err == KUSTOS_OK)
		err = ku_multi_guarded_async(hold->client, &by, guarded,
			by.checks + count, deadline, cancel, done, arg);
	free(guarded);
	return err;
}
