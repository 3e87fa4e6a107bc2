/*
 * every_call.c - every public call once.  All arguments but the object are
 * valid, so that an error is about the object.
 */
#include "every_say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END KUSTOS_FOREVER
#define PATH "/every"

static const char *made[512]; /* the calls that were made, as text */
static size_t calls;
static int wrong;

void every_said(const char *call, bool right)
{
	if (calls < sizeof(made) / sizeof(made[0]))
		made[calls++] = call;
	if (right)
		return;
	wrong++;
	fprintf(stderr, "it is not so: %s\n", call);
}

int every_wrong(void)
{
	int count = wrong;

	wrong = 0;
	return count;
}

bool every_has(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < calls; i++)
		if (strncmp(made[i], name, len) == 0 && made[i][len] == '(')
			return true;
	return false;
}

static void never(void)
{
	abort();
}

/* A callback that must not be called. */
#define FN(type) ((type *)never)

static void ask_client(struct kustos_client *c, enum kustos_err err)
{
	struct kustos_session session = KUSTOS_SESSION_INIT;
	struct kustos_client_stats stats = KUSTOS_CLIENT_STATS_INIT;
	struct kustos_ticket ticket;
	struct kustos_listener *l;

	SAYS(KUSTOS_EINVAL, kustos_client_open(NULL, &c));
	SAYS(err, kustos_client_wait_connected(c, END, NULL));
	SAYS(err, kustos_client_flush(c, END, NULL));
	GIVES(KUSTOS_STATE_CLOSED, kustos_client_state(c));
	GIVES(0, kustos_client_lease_ms(c));
	SAYS(err, kustos_client_session(c, &session));
	SAYS(err, kustos_client_ticket(c, &ticket));
	SAYS(err, kustos_client_stats(c, &stats));
	SAYS(err, kustos_client_listen(c, FN(kustos_state_fn), NULL, &l));
	GIVES(-1, kustos_client_fd(c));
	GIVES(0, kustos_client_dispatch(c));
}

static const struct kustos_op one_op = { .kind = KUSTOS_OP_CHECK,
	.path = PATH,
	.version = -1 };

static void ask_nodes(struct kustos_client *c, enum kustos_err err)
{
	struct kustos_op_result result;
	struct kustos_names *names;
	struct kustos_stat stat;
	char *text;
	size_t len;

	SAYS(err, kustos_create(c, PATH, "", 0, 0, END, NULL, &text, &stat));
	SAYS(err, kustos_get(c, PATH, END, NULL, &text, &len, &stat));
	SAYS(err, kustos_set(c, PATH, "", 0, -1, END, NULL, &stat));
	SAYS(err, kustos_exists(c, PATH, END, NULL, &stat));
	SAYS(err, kustos_delete(c, PATH, -1, END, NULL));
	SAYS(err, kustos_delete_guaranteed(c, PATH, 1));
	SAYS(err, kustos_children(c, PATH, END, NULL, &names, &stat));
	SAYS(err, kustos_sync(c, PATH, END, NULL));
	SAYS(err, kustos_multi(c, &one_op, 1, END, NULL, &result));
}

static void ask_nodes_async(struct kustos_client *c, enum kustos_err err)
{
	kustos_done_fn *done = FN(kustos_done_fn);

	SAYS(err,
		kustos_create_async(c, PATH, "", 0, 0, END, NULL, done, NULL));
	SAYS(err, kustos_get_async(c, PATH, END, NULL, done, NULL));
	SAYS(err, kustos_set_async(c, PATH, "", 0, -1, END, NULL, done, NULL));
	SAYS(err, kustos_exists_async(c, PATH, END, NULL, done, NULL));
	SAYS(err, kustos_delete_async(c, PATH, -1, END, NULL, done, NULL));
	SAYS(err, kustos_children_async(c, PATH, END, NULL, done, NULL));
	SAYS(err, kustos_sync_async(c, PATH, END, NULL, done, NULL));
	SAYS(err, kustos_multi_async(c, &one_op, 1, END, NULL, done, NULL));
}

static void ask_participants(struct kustos_client *c, enum kustos_err err)
{
	const struct kustos_participant shown = { .path = PATH };
	struct kustos_participants *list;
	struct kustos_observer *observer;

	SAYS(err, kustos_participants(c, PATH, END, NULL, &list));
	SAYS(err, kustos_participants_marked(c, PATH, "-x-", END, NULL, &list));
	SAYS(err, kustos_participant_revoke(c, PATH, END, NULL));
	SAYS(err, kustos_participant_break(c, &shown, END, NULL));
	SAYS(err, kustos_line_clean(c, PATH, END, NULL));
	SAYS(err,
		kustos_observe(c, PATH, FN(kustos_observe_fn), NULL,
			&observer));
}

static void ask_hold(struct kustos_hold *h, enum kustos_err err)
{
	struct kustos_op_result result;

	GIVES(KUSTOS_HOLD_LOST, kustos_hold_state(h));
	GIVES(0, kustos_hold_remaining_ms(h));
	SAYS(err, kustos_hold_on_lost(h, FN(kustos_hold_fn), NULL));
	SAYS(err, kustos_hold_at_risk(h, 1, FN(kustos_hold_fn), NULL));
	SAYS(err, kustos_hold_multi(h, &one_op, 1, END, NULL, &result));
	SAYS(err,
		kustos_hold_multi_async(h, &one_op, 1, END, NULL,
			FN(kustos_done_fn), NULL));
	/* These never change, so a lost hold answers them, too. */
	GIVES(h != NULL, kustos_hold_token(h) != 0);
	GIVES(h != NULL, kustos_hold_path(h) != NULL);
}

static void ask_mutex(struct kustos_mutex *m, struct kustos_client *c,
	enum kustos_err err)
{
	struct kustos_lockable what = kustos_mutex_lockable(m);
	kustos_granted_fn *granted = FN(kustos_granted_fn);
	struct kustos_mutex *another;
	struct kustos_hold *h;

	SAYS(err, kustos_mutex_create(c, PATH, NULL, &another));
	SAYS(err, kustos_mutex_lock(m, END, NULL));
	SAYS(err, kustos_mutex_lock(m, KUSTOS_NOW, NULL));
	SAYS(err, kustos_mutex_unlock(m));
	GIVES(NULL, kustos_mutex_hold(m));
	GIVES(0, kustos_mutex_token(m));
	SAYS(err, kustos_mutex_acquire(m, END, NULL, &h));
	SAYS(err, kustos_mutex_acquire_async(m, END, NULL, granted, NULL));
	GIVES(0, kustos_mutex_mixed(m));
	GIVES(m != NULL, kustos_mutex_lockable(m).object != NULL);
	SAYS(err, kustos_acquire_all(&what, 1, END, NULL, &h));
	SAYS(err, kustos_acquire_all_async(&what, 1, END, NULL, granted, NULL));
}

static void ask_rwlock(struct kustos_rwlock *rw, struct kustos_hold *writer,
	struct kustos_client *c, enum kustos_err err)
{
	struct kustos_lockable what = kustos_rwlock_lockable(rw, KUSTOS_READ);
	kustos_granted_fn *granted = FN(kustos_granted_fn);
	struct kustos_rwlock *another;
	struct kustos_hold *h;

	SAYS(err, kustos_rwlock_create(c, PATH, NULL, &another));
	for (int i = 0; i < 2; i++) {
		enum kustos_side side = i ? KUSTOS_WRITE : KUSTOS_READ;

		SAYS(err, kustos_rwlock_lock(rw, side, END, NULL));
		SAYS(err, kustos_rwlock_unlock(rw, side));
		GIVES(NULL, kustos_rwlock_hold(rw, side));
		GIVES(0, kustos_rwlock_token(rw, side));
		SAYS(err, kustos_rwlock_acquire(rw, side, END, NULL, &h));
		SAYS(err,
			kustos_rwlock_acquire_async(rw, side, END, NULL,
				granted, NULL));
	}
	SAYS(err, kustos_rwlock_downgrade(rw, writer, END, NULL, &h));
	SAYS(err,
		kustos_rwlock_downgrade_async(rw, writer, END, NULL, granted,
			NULL));
	GIVES(0, kustos_rwlock_mixed(rw));
	GIVES(rw != NULL,
		kustos_rwlock_lockable(rw, KUSTOS_READ).object != NULL);
	SAYS(err, kustos_acquire_all(&what, 1, END, NULL, &h));
}

static void ask_semaphore(struct kustos_semaphore *sem, struct kustos_client *c,
	enum kustos_err err)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_lockable what = kustos_semaphore_lockable(sem);
	struct kustos_semaphore *another;
	struct kustos_hold *h;

	o.max = 2;
	SAYS(err, kustos_semaphore_create(c, PATH, &o, &another));
	SAYS(err, kustos_semaphore_acquire(sem, END, NULL, &h));
	SAYS(err,
		kustos_semaphore_acquire_async(sem, END, NULL,
			FN(kustos_granted_fn), NULL));
	SAYS(err, kustos_semaphore_acquire_many(sem, 1, END, NULL, &h));
	SAYS(err,
		kustos_semaphore_acquire_many_async(sem, 1, END, NULL,
			FN(kustos_granted_many_fn), NULL));
	GIVES(sem != NULL, kustos_semaphore_lockable(sem).object != NULL);
	SAYS(err, kustos_acquire_all(&what, 1, END, NULL, &h));
	SAYS(err, kustos_semaphore_set_data(sem, "x", 1));
	GIVES(-1, kustos_semaphore_max(sem));
	SAYS(err, kustos_semaphore_set_max(sem, 1, END, NULL));
	SAYS(err,
		kustos_semaphore_set_max_async(sem, 1, END, NULL,
			FN(kustos_end_fn), NULL));
	GIVES(0, kustos_semaphore_disagrees(sem));
}

static void ask_semaphore_mutex(struct kustos_semaphore_mutex *m,
	struct kustos_client *c, enum kustos_err err)
{
	struct kustos_semaphore_mutex *another;

	SAYS(err, kustos_semaphore_mutex_create(c, PATH, NULL, &another));
	SAYS(err, kustos_semaphore_mutex_lock(m, END, NULL));
	SAYS(err, kustos_semaphore_mutex_unlock(m));
	GIVES(NULL, kustos_semaphore_mutex_hold(m));
	GIVES(0, kustos_semaphore_mutex_token(m));
}

static void ask_simple(struct kustos_simple *s, struct kustos_client *c,
	enum kustos_err err)
{
	struct kustos_lockable what = kustos_simple_lockable(s);
	struct kustos_simple *another;
	struct kustos_hold *h;

	SAYS(err, kustos_simple_create(c, PATH, NULL, &another));
	SAYS(err, kustos_simple_acquire(s, END, NULL, &h));
	SAYS(err,
		kustos_simple_acquire_async(s, END, NULL, FN(kustos_granted_fn),
			NULL));
	SAYS(err, kustos_simple_lock(s, END, NULL));
	SAYS(err, kustos_simple_unlock(s));
	GIVES(NULL, kustos_simple_hold(s));
	GIVES(0, kustos_simple_token(s));
	GIVES(s != NULL, kustos_simple_lockable(s).object != NULL);
	SAYS(err, kustos_acquire_all(&what, 1, END, NULL, &h));
}

static void ask_latch(struct kustos_latch *l, struct kustos_client *c,
	enum kustos_err err)
{
	kustos_end_fn *done = FN(kustos_end_fn);
	struct kustos_latch *another;

	SAYS(err, kustos_latch_create(c, PATH, NULL, &another));
	SAYS(err, kustos_latch_start(l));
	GIVES(0, kustos_latch_leads(l));
	GIVES(KUSTOS_LATCH_CLOSED, kustos_latch_state(l));
	SAYS(err, kustos_latch_error(l));
	SAYS(err, kustos_latch_wait(l, END, NULL));
	GIVES(0, kustos_latch_term(l));
	SAYS(err, kustos_latch_set_data(l, "x", 1, END, NULL));
	SAYS(err,
		kustos_latch_set_data_async(l, "x", 1, END, NULL, done, NULL));
	SAYS(err, kustos_latch_hand_over(l, NULL, END, NULL));
	SAYS(err, kustos_latch_hand_over_async(l, "x", END, NULL, done, NULL));
}

static void ask_selector(struct kustos_selector *s, struct kustos_client *c,
	enum kustos_err err)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
	kustos_end_fn *done = FN(kustos_end_fn);
	struct kustos_selector *another;

	o.lead = FN(kustos_selector_fn);
	SAYS(err, kustos_selector_create(c, PATH, &o, &another));
	SAYS(err, kustos_selector_start(s));
	SAYS(err, kustos_selector_requeue(s));
	SAYS(err, kustos_selector_interrupt(s));
	GIVES(0, kustos_selector_leads(s));
	GIVES(KUSTOS_SELECTOR_CLOSED, kustos_selector_state(s));
	SAYS(err, kustos_selector_error(s));
	GIVES(0, kustos_selector_term(s));
	GIVES(0, kustos_selector_mixed(s));
	SAYS(err, kustos_selector_set_data(s, "x", 1, END, NULL));
	SAYS(err,
		kustos_selector_set_data_async(s, "x", 1, END, NULL, done,
			NULL));
	SAYS(err, kustos_selector_hand_over(s, NULL, END, NULL));
	SAYS(err,
		kustos_selector_hand_over_async(s, "x", END, NULL, done, NULL));
}

static void ask_barrier(struct kustos_barrier *b, struct kustos_client *c,
	enum kustos_err err)
{
	kustos_end_fn *done = FN(kustos_end_fn);
	struct kustos_barrier *another;

	SAYS(err, kustos_barrier_create(c, PATH, NULL, &another));
	SAYS(err, kustos_barrier_set(b, END, NULL));
	SAYS(err, kustos_barrier_remove(b, END, NULL));
	SAYS(err, kustos_barrier_set_async(b, END, NULL, done, NULL));
	SAYS(err, kustos_barrier_remove_async(b, END, NULL, done, NULL));
	SAYS(err, kustos_barrier_wait(b, END, NULL));
	SAYS(err, kustos_barrier_wait_async(b, END, NULL, done, NULL));
}

static void ask_double_barrier(struct kustos_double_barrier *m,
	struct kustos_client *c, enum kustos_err err)
{
	kustos_end_fn *done = FN(kustos_end_fn);
	struct kustos_double_barrier *another;

	SAYS(err, kustos_double_barrier_create(c, PATH, 1, NULL, &another));
	SAYS(err, kustos_double_barrier_enter(m, END, NULL));
	SAYS(err, kustos_double_barrier_enter_async(m, END, NULL, done, NULL));
	SAYS(err, kustos_double_barrier_leave(m, END, NULL));
	SAYS(err, kustos_double_barrier_leave_async(m, END, NULL, done, NULL));
	GIVES(0, kustos_double_barrier_inside(m));
}

static void ask_countdown(struct kustos_countdown *d, struct kustos_client *c,
	enum kustos_err err)
{
	kustos_end_fn *done = FN(kustos_end_fn);
	struct kustos_countdown_status *status;
	struct kustos_countdown *another;

	SAYS(err, kustos_countdown_create(c, PATH, 1, NULL, &another));
	SAYS(err, kustos_countdown_set(d, END, NULL));
	SAYS(err, kustos_countdown_set_async(d, END, NULL, done, NULL));
	SAYS(err,
		kustos_countdown_look_async(d, END, NULL,
			FN(kustos_countdown_look_fn), NULL));
	SAYS(err, kustos_countdown_join(d, "x", END, NULL));
	SAYS(err, kustos_countdown_join_async(d, "x", END, NULL, done, NULL));
	SAYS(err, kustos_countdown_done(d, "x", END, NULL));
	SAYS(err, kustos_countdown_done_async(d, "x", END, NULL, done, NULL));
	SAYS(err, kustos_countdown_wait(d, END, NULL));
	SAYS(err, kustos_countdown_wait_async(d, END, NULL, done, NULL));
	SAYS(err, kustos_countdown_look(d, END, NULL, &status));
	SAYS(err, kustos_countdown_remove(d, END, NULL));
}

static void ask_queue(struct kustos_queue *q, struct kustos_client *c,
	enum kustos_err err)
{
	const struct kustos_new_item item = { .data = "x", .len = 1 };
	struct kustos_item *items[1];
	struct kustos_consumer *consumer;
	struct kustos_queue *another;
	kustos_end_fn *done = FN(kustos_end_fn);
	size_t n;

	SAYS(err, kustos_queue_create(c, PATH, NULL, &another));
	SAYS(err, kustos_queue_put(q, "x", 1, END, NULL));
	SAYS(err, kustos_queue_put_item(q, &item, END, NULL));
	SAYS(err, kustos_queue_put_many(q, &item, 1, END, NULL, &n));
	SAYS(err, kustos_queue_put_async(q, "x", 1, END, NULL, done, NULL));
	SAYS(err, kustos_queue_put_item_async(q, &item, END, NULL, done, NULL));
	SAYS(err, kustos_queue_flush(q, END, NULL));
	SAYS(err, kustos_queue_poll(q, END, NULL, items));
	SAYS(err, kustos_queue_poll_many(q, 1, END, NULL, items, &n));
	SAYS(err,
		kustos_queue_poll_async(q, 1, END, NULL,
			FN(kustos_queue_poll_fn), NULL));
	SAYS(err, kustos_queue_peek(q, END, NULL, items));
	SAYS(err,
		kustos_queue_peek_async(q, END, NULL, FN(kustos_queue_poll_fn),
			NULL));
	SAYS(err, kustos_queue_count(q, END, NULL, &n));
	SAYS(err,
		kustos_queue_count_async(q, END, NULL,
			FN(kustos_queue_count_fn), NULL));
	SAYS(err, kustos_queue_remove_id(q, "x", END, NULL, &n));
	SAYS(err,
		kustos_queue_consume(q, 1, FN(kustos_queue_consume_fn), NULL,
			NULL, &consumer));
}

static void ask_claims(struct kustos_claims *claims, struct kustos_client *c,
	enum kustos_err err)
{
	struct kustos_claims *another;
	struct kustos_consumer *consumer;
	struct kustos_claim *claim;

	SAYS(err, kustos_claims_create(c, PATH, NULL, &another));
	SAYS(err, kustos_claim_next(claims, END, NULL, &claim));
	SAYS(err,
		kustos_claim_next_async(claims, END, NULL,
			FN(kustos_claim_next_fn), NULL));
	SAYS(err,
		kustos_claims_consume(claims, FN(kustos_claims_consume_fn),
			NULL, NULL, &consumer));
}

static void ask_claim(struct kustos_claim *claim, enum kustos_err err)
{
	kustos_end_fn *done = FN(kustos_end_fn);

	SAYS(err, kustos_claim_ack(claim, END, NULL));
	SAYS(err, kustos_claim_ack_async(claim, END, NULL, done, NULL));
	SAYS(err, kustos_claim_requeue(claim, END, NULL));
	SAYS(err, kustos_claim_requeue_async(claim, END, NULL, done, NULL));
	GIVES(claim != NULL, kustos_claim_item(claim) != NULL);
	GIVES(claim != NULL, kustos_claim_deliveries(claim) != 0);
	GIVES(claim != NULL, kustos_claim_hold(claim) != NULL);
	GIVES(KUSTOS_HOLD_LOST, kustos_hold_state(kustos_claim_hold(claim)));
}

int every_ask(const struct every *on, enum kustos_err err)
{
	struct kustos_hold *holds[] = { on->hold, on->writer, on->lease,
		on->lock, kustos_hold_part(on->all, 0), on->all };
	struct kustos_client *c = on->client;

	ENDS(kustos_cancel_fire(on->cancel));
	GIVES(0, kustos_cancel_fired(on->cancel));
	SAYS(KUSTOS_EINVAL, kustos_cancel_create(NULL));
	GIVES(on->all != NULL, kustos_hold_part(on->all, 1) != NULL);
	for (size_t i = 0; i < sizeof(holds) / sizeof(holds[0]) - 1; i++)
		ask_hold(holds[i], err);
	GIVES(KUSTOS_HOLD_LOST, kustos_hold_state(on->all));
	ask_client(c, err);
	ask_nodes(c, err);
	ask_nodes_async(c, err);
	ask_participants(c, err);
	ask_mutex(on->mutex, c, err);
	ask_rwlock(on->rw, on->writer, c, err);
	ask_semaphore(on->sem, c, err);
	ask_semaphore_mutex(on->sem_mutex, c, err);
	ask_simple(on->simple, c, err);
	ask_latch(on->latch, c, err);
	ask_latch(on->second, c, err);
	ask_selector(on->selector, c, err);
	ask_barrier(on->barrier, c, err);
	ask_double_barrier(on->member, c, err);
	ask_countdown(on->countdown, c, err);
	ask_queue(on->queue, c, err);
	ask_claims(on->claims, c, err);
	ask_claim(on->claim, err);
	return every_wrong();
}
