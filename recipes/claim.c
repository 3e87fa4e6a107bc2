/* claim.c - the calls of <kustos/claim.h>, passed on to a desk of the core. */

#include <kustos/claim.h>

#include "queue_names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct kustos_claims {
	struct kustos_client *client;
	struct ku_desk *desk;
	kustos_claims_unfit_fn *unfit;
	void *unfit_arg;
	int leaving; /* see ku_consumer_start() */
};

static bool is_valid(const char *path, const struct kustos_claims_options *o)
{
	return path != NULL && path[0] == '/' && path[1] != '\0' &&
		o->reserved == 0 &&
		(o->deliveries > 0) == (o->dead_letters != NULL) &&
		(o->kind != KUSTOS_QUEUE_KAZOO_LOCKING || o->lock_path == NULL);
}

static void tell(void *arg, enum ku_unfit why, bool moved, const char *name)
{
	const struct kustos_claims *claims = arg;

	claims->unfit(claims->unfit_arg,
		why == KU_UNFIT_DEAD ? KUSTOS_UNFIT_DEAD : KUSTOS_UNFIT_CORRUPT,
		moved, name);
}

static enum kustos_err make_desk(struct kustos_claims *claims, const char *path,
	const struct kustos_claims_options *o, enum ku_item_kind kind)
{
	bool locking = o->kind == KUSTOS_QUEUE_KAZOO_LOCKING;
	char *items = ku_queue_items(path, o->kind);
	char *marks = ku_queue_beside(path, locking ? "/taken" : "-locks");
	enum kustos_err err = KUSTOS_ENOMEM;

	claims->unfit = o->on_unfit;
	claims->unfit_arg = o->on_unfit_arg;
	if (items != NULL && marks != NULL)
		err = ku_desk_create(claims->client,
			&(struct ku_desk_wish){
				.kind = kind,
				.plain = o->curator_requeue != 0,
				.items = items,
				.marks = o->lock_path != NULL ? o->lock_path
							      : marks,
				.dead = o->dead_letters,
				.corrupt = o->corrupt,
				.deliveries = o->deliveries,
				.ahead = o->ahead,
				.stale = o->stale,
				.unfit = o->on_unfit != NULL ? tell : NULL,
				.arg = claims,
			},
			&claims->desk);
	free(items);
	free(marks);
	return err;
}

enum kustos_err kustos_claims_create(struct kustos_client *client,
	const char *path, const struct kustos_claims_options *options,
	struct kustos_claims **out)
{
	struct kustos_claims_options o = KUSTOS_CLAIMS_OPTIONS_INIT;
	enum ku_item_kind kind;
	enum kustos_err err = ku_recipe_check(client);

	if (err != KUSTOS_OK)
		return err;
	if (out == NULL || !ku_recipe_options(&o, sizeof(o), options) ||
		!is_valid(path, &o) || !ku_queue_read_kind(o.kind, &kind))
		return KUSTOS_EINVAL;
	struct kustos_claims *claims = calloc(1, sizeof(*claims));
	if (claims == NULL)
		return KUSTOS_ENOMEM;
	claims->client = client;
	err = make_desk(claims, path, &o, kind);
	if (err == KUSTOS_OK)
		*out = claims;
	else
		free(claims);
	return err;
}

static enum kustos_err check(const struct kustos_claims *claims)
{
	return claims != NULL ? ku_recipe_check(claims->client) : KUSTOS_EINVAL;
}

static void end_desk(void *desk)
{
	ku_desk_destroy(desk);
}

void kustos_claims_destroy(struct kustos_claims *claims)
{
	if (check(claims) != KUSTOS_OK)
		return;
	ku_consumer_wait(claims->client, &claims->leaving, end_desk,
		claims->desk);
	free(claims);
}

static struct ku_lent *lent_of(const struct kustos_claim *claim)
{
	return (struct ku_lent *)claim;
}

enum kustos_err kustos_claim_next(struct kustos_claims *claims,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	struct kustos_claim **claim)
{
	enum kustos_err err = claim != NULL ? check(claims) : KUSTOS_EINVAL;
	struct ku_lent *lent;

	if (err == KUSTOS_OK)
		err = ku_desk_lend(claims->desk, deadline, cancel, &lent);
	if (err == KUSTOS_OK)
		*claim = (struct kustos_claim *)lent;
	return err;
}

struct asked { /* the callback of kustos_claim_next_async() */
	kustos_claim_next_fn *done;
	void *arg;
};

static void lent_to(void *arg, enum kustos_err err, struct ku_lent *lent)
{
	struct asked asked = *(struct asked *)arg;

	free(arg);
	asked.done(asked.arg, err, (struct kustos_claim *)lent);
}

enum kustos_err kustos_claim_next_async(struct kustos_claims *claims,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_claim_next_fn *done, void *arg)
{
	enum kustos_err err = done != NULL ? check(claims) : KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct asked *asked = malloc(sizeof(*asked));
	if (asked == NULL)
		return KUSTOS_ENOMEM;
	*asked = (struct asked){ done, arg };
	err = ku_desk_lend_async(claims->desk, deadline, cancel, lent_to,
		asked);
	if (err != KUSTOS_OK)
		free(asked);
	return err;
}

const struct kustos_item *kustos_claim_item(const struct kustos_claim *claim)
{
	return claim != NULL ? ku_lent_item(lent_of(claim)) : NULL;
}

int kustos_claim_deliveries(const struct kustos_claim *claim)
{
	return claim != NULL ? ku_lent_deliveries(lent_of(claim)) : 0;
}

struct kustos_hold *kustos_claim_hold(const struct kustos_claim *claim)
{
	return claim != NULL ? ku_lent_hold(lent_of(claim)) : NULL;
}

static enum kustos_err end(struct kustos_claim *claim, enum ku_ack how,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	return claim != NULL
		? ku_lent_ack(lent_of(claim), how, deadline, cancel)
		: KUSTOS_EINVAL;
}

static enum kustos_err end_async(struct kustos_claim *claim, enum ku_ack how,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	return claim != NULL ? ku_lent_ack_async(lent_of(claim), how, deadline,
				       cancel, done, arg)
			     : KUSTOS_EINVAL;
}

enum kustos_err kustos_claim_ack(struct kustos_claim *claim,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	return end(claim, KU_ACK_DELETE, deadline, cancel);
}

enum kustos_err kustos_claim_ack_async(struct kustos_claim *claim,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	return end_async(claim, KU_ACK_DELETE, deadline, cancel, done, arg);
}

enum kustos_err kustos_claim_requeue(struct kustos_claim *claim,
	kustos_deadline deadline, struct kustos_cancel *cancel)
{
	return end(claim, KU_ACK_AGAIN, deadline, cancel);
}

enum kustos_err kustos_claim_requeue_async(struct kustos_claim *claim,
	kustos_deadline deadline, struct kustos_cancel *cancel,
	kustos_end_fn *done, void *arg)
{
	return end_async(claim, KU_ACK_AGAIN, deadline, cancel, done, arg);
}

void kustos_claim_release(struct kustos_claim *claim)
{
	if (claim != NULL)
		ku_lent_return(lent_of(claim));
}

struct worker { /* a consumer */
	/* Constant. */
	struct kustos_claims *claims;
	kustos_claims_consume_fn *fn;
	kustos_consumer_failed_fn *failed;
	void *arg;

	/* Used by its thread. */
	struct ku_lent *lent;
	struct verdict *verdict; /* on "lent"; NULL: no callback for failures */

	pthread_mutex_t mutex; /* guards the rest */
	pthread_cond_t told;
	int refs;    /* of the consumer, of verdicts */
	bool silent; /* it was stopped: no failed verdicts are told any more */
	int telling; /* callbacks running, all on this thread: */
	pthread_t teller;
};

struct verdict { /* one that is being carried out */
	struct worker *worker;
	char name[];
};

static void worker_put(struct worker *w)
{
	pthread_mutex_lock(&w->mutex);
	bool last = --w->refs == 0;
	pthread_mutex_unlock(&w->mutex);
	if (!last)
		return;
	pthread_cond_destroy(&w->told);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}

/* Tell the program, unless the consumer was stopped.  A stop waits for a
   callback that runs on another thread: see over(). */
static void tell_failed(struct worker *w, enum kustos_err err, const char *name)
{
	pthread_mutex_lock(&w->mutex);
	bool tell = !w->silent;
	w->telling += tell;
	w->teller = tell ? pthread_self() : w->teller;
	pthread_mutex_unlock(&w->mutex);
	if (!tell)
		return;
	w->failed(w->arg, err, name);
	pthread_mutex_lock(&w->mutex);
	w->telling--;
	pthread_cond_broadcast(&w->told);
	pthread_mutex_unlock(&w->mutex);
}

static void over(void *owner)
{
	struct worker *w = owner;

	pthread_mutex_lock(&w->mutex);
	w->silent = true;
	while (w->telling > 0 && !pthread_equal(w->teller, pthread_self()))
		pthread_cond_wait(&w->told, &w->mutex);
	pthread_mutex_unlock(&w->mutex);
	worker_put(w);
}

/* Copy the item's name, as that is freed with the item. */
static struct verdict *verdict_new(struct worker *w, const char *name)
{
	struct verdict *v = malloc(sizeof(*v) + strlen(name) + 1);

	if (v == NULL)
		return NULL;
	v->worker = w;
	strcpy(v->name, name);
	pthread_mutex_lock(&w->mutex);
	w->refs++;
	pthread_mutex_unlock(&w->mutex);
	return v;
}

static void verdict_free(struct verdict *v)
{
	if (v == NULL)
		return;
	worker_put(v->worker);
	free(v);
}

/* Get an item, and the memory to tell of a verdict that fails: without that
   memory the item is given back. */
static enum kustos_err have(void *owner, struct kustos_cancel *cancel)
{
	struct worker *w = owner;
	enum kustos_err err = ku_desk_lend(w->claims->desk, KUSTOS_FOREVER,
		cancel, &w->lent);

	if (err != KUSTOS_OK || w->failed == NULL)
		return err;
	w->verdict = verdict_new(w, ku_lent_item(w->lent)->name);
	if (w->verdict != NULL)
		return KUSTOS_OK;
	ku_lent_return(w->lent);
	return KUSTOS_ENOMEM;
}

/* Tell the program from the consumer's own thread.  No lock is needed: when the
   consumer is over, that thread has ended, or is the one that stops it. */
static void failed_here(struct worker *w, enum kustos_err err, const char *name)
{
	if (w->failed != NULL)
		w->failed(w->arg, err, name);
}

static void carried_out(void *arg, enum kustos_err err)
{
	struct verdict *v = arg;

	if (err != KUSTOS_OK)
		tell_failed(v->worker, err, v->name);
	verdict_free(v);
}

/* Carry a verdict out; nobody waits for it. */
static void carry_out(struct worker *w, enum ku_ack how)
{
	struct verdict *v = w->verdict;
	enum kustos_err err = ku_lent_ack_async(w->lent, how, KUSTOS_FOREVER,
		NULL, v != NULL ? carried_out : NULL, v);

	if (err == KUSTOS_OK || v == NULL)
		return;
	failed_here(w, err, v->name);
	verdict_free(v);
}

static void deal(void *owner)
{
	struct worker *w = owner;

	switch (w->fn(w->arg, (struct kustos_claim *)w->lent)) {
	case KUSTOS_VERDICT_ACK:
		carry_out(w, KU_ACK_DELETE);
		return;
	case KUSTOS_VERDICT_REQUEUE:
		carry_out(w, KU_ACK_AGAIN);
		return;
	case KUSTOS_VERDICT_RELEASE:
		ku_lent_return(w->lent);
		break;
	case KUSTOS_VERDICT_KEEP:
		break;
	}
	verdict_free(w->verdict);
}

static void failed(void *owner, enum kustos_err err)
{
	failed_here(owner, err, NULL);
}

static struct worker *worker_new(struct kustos_claims *claims)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->claims = claims;
	w->refs = 1;
	if (pthread_mutex_init(&w->mutex, NULL) != 0) {
		free(w);
		return NULL;
	}
	if (pthread_cond_init(&w->told, NULL) != 0) {
		pthread_mutex_destroy(&w->mutex);
		free(w);
		return NULL;
	}
	return w;
}

enum kustos_err kustos_claims_consume(struct kustos_claims *claims,
	kustos_claims_consume_fn *fn, kustos_consumer_failed_fn *on_failed,
	void *arg, struct kustos_consumer **out)
{
	static const struct ku_consumer_calls calls = {
		.have = have,
		.deal = deal,
		.failed = failed,
		.over = over,
	};
	enum kustos_err err = fn != NULL && out != NULL ? check(claims)
							: KUSTOS_EINVAL;

	if (err != KUSTOS_OK)
		return err;
	struct worker *w = worker_new(claims);
	if (w == NULL)
		return KUSTOS_ENOMEM;
	w->fn = fn;
	w->failed = on_failed;
	w->arg = arg;
	err = ku_consumer_start(claims->client, &calls, w, &claims->leaving,
		out);
	if (err != KUSTOS_OK)
		worker_put(w);
	return err;
}
