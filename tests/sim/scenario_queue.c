/*
 * scenario_queue.c - a queue that a few clients put into and take from, under
 * all faults.
 *
 * Each actor has a client with an object of the queue, and makes several calls
 * at once, with all kinds of deadlines.  Nodes are deleted from outside: items,
 * receipts, the queue.  Some objects end in the middle, others only when all
 * their calls have ended.  The rules:
 *
 *   once     an item is put once, and handed out once, by the object that
 *            deleted it, after the deletion
 *   put      if a put succeeds, its item exists, or has existed
 *   order    items of one object stand in the order of its calls.  If one actor
 *            takes alone, it gets the items in that order.  Where a key
 *            decides, it takes no item while one that comes before it was known
 *            to exist
 *   due      no item is taken before it is due
 *   empty    if a call reports an empty queue, no item had been there and due
 *            for so long that the server must know
 *   end      a call ends once, with an error that fits
 *   lost     each item that was put is handed out, except items that were
 *            deleted from outside, or were taken by an object that ended
 *   served   soon after the faults all that is done
 */
#include "queue_actor.h"

#include "sim_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void prepare(struct actor *a, struct errand *call)
{
	memset(call, 0, sizeof(*call));
	call->actor = a;
	ask_begin(&call->ask, &a->it,
		ask_some_deadline(&a->it, TIMEOUT_NS / 100));
}

static void put(struct actor *a, struct errand *call)
{
	struct kustos_new_item item = { .data = NULL };
	char text[16];

	prepare(a, call);
	call->piece = queue_new_piece(a->it.sim, a->life);
	item.len = (size_t)snprintf(text, sizeof(text), "%d", call->piece);
	item.data = text;
	if (queue_shared(a->it.sim)->kind == KU_ITEM_DELAY)
		item.due_ms = sim_now(a->it.sim) / KU_NS_PER_MS +
			sim_random_between(subject_random(&a->it), -1,
				DELAY_MS);
	else
		item.priority = (int32_t)sim_random_below(
			subject_random(&a->it), 3);
	sim_say(a->it.sim, a->it.index, "put", NULL, call->piece);
	enum kustos_err err = ku_queue_put_async(a->queue, &item,
		call->ask.deadline, call->ask.cancel, queue_was_put, call);
	if (err != KUSTOS_OK) {
		queue_shared(a->it.sim)->pieces[call->piece].refused = true;
		queue_was_put(call, err);
	}
}

static void take(struct actor *a, struct errand *call)
{
	struct sim_random *r = subject_random(&a->it);
	struct ku_poll_wish wish = { .max = 1 };

	prepare(a, call);
	call->takes = true;
	call->peeks = wish.peek = sim_random_below(r, 10) == 0;
	if (!call->peeks && sim_random_below(r, 2) == 0)
		wish.max = 1 + sim_random_below(r, AT_ONCE);
	call->max = wish.max;
	wish.deadline = call->ask.deadline;
	wish.cancel = call->ask.cancel;
	sim_say(a->it.sim, a->it.index, "take", NULL, (int64_t)wish.max);
	enum kustos_err err = ku_queue_poll_async(a->queue, &wish,
		queue_was_taken, call);
	if (err != KUSTOS_OK)
		queue_was_taken(call, err, NULL, 0);
}

static void open_client(struct actor *a)
{
	const struct shared *s = queue_shared(a->it.sim);
	struct ku_queue_wish wish = { .kind = s->kind,
		.receipts = RECEIPTS,
		.max_items = s->max_items,
		.stale = s->stale,
		.max_bytes = BYTES };

	/* At times allow only few requests in flight. */
	a->it.in_flight = sim_random_below(subject_random(&a->it), 4) == 0
		? (size_t)sim_random_between(subject_random(&a->it), 1, CALLS)
		: 0;
	if (!subject_open(&a->it))
		return;
	a->leaving = a->trusts = false;
	a->life = queue_new_life(a->it.sim, a->it.index);
	if (ku_queue_create(a->it.client, QUEUE, &wish, &a->queue) != KUSTOS_OK)
		sim_fail(a->it.sim, "simulator", "cannot make a queue");
}

static void let_go(void *actor)
{
	struct actor *a = actor;

	if (a->queue != NULL)
		queue_end_life(a->it.sim, a->life, a->leaving || a->trusts);
	ku_queue_destroy(a->queue);
	a->queue = NULL;
}

static void init(struct sim *sim, int index, void *self)
{
	struct actor *a = self;
	struct shared *s = queue_shared(sim);

	subject_init(&a->it, sim, index, let_go);
	if (index == 0) {
		struct sim_random *r = sim_actor_random(sim, 0);

		s->kind = s->delays		     ? KU_ITEM_DELAY
			: sim_random_below(r, 3) > 0 ? KU_ITEM_SIMPLE
						     : KU_ITEM_KAZOO;
		s->max_items = sim_random_below(r, 3) > 0
			? 0
			: sim_random_between(r, 1, 20);
		s->stale = (int)sim_random_below(r, 4);
		s->takers = sim_random_below(r, 3) == 0
			? 1
			: (int)sim_random_between(r, 1, MOST);
	}
	a->takes = index < s->takers;
	a->puts = !a->takes || s->takers > MOST / 2;
	open_client(a);
}

static int calls_on(const struct actor *a)
{
	int on = 0;

	for (int i = 0; i < CALLS; i++)
		on += a->calls[i].ask.on;
	return on;
}

/* Have all calls of the object ended, and has it handed out all items?  Calls
   that may never end are canceled. */
static bool is_done(struct actor *a)
{
	const struct shared *s = queue_shared(a->it.sim);
	const struct ku_queue *q = a->queue;

	if (q == NULL)
		return true;
	for (int i = 0; i < CALLS; i++)
		/* The actor that waits for room may be the one that would make
		   room. */
		if (a->calls[i].takes || s->max_items > 0)
			ask_fire(&a->calls[i].ask);
	return calls_on(a) == 0 && q->put.first == NULL && !q->take.busy &&
		q->take.taken.count == 0;
}

/* Take the items that the object had taken for calls that had given up. */
static void collect(struct actor *a)
{
	for (int i = 0; i < CALLS && a->queue->take.taken.count > 0; i++)
		if (!a->calls[i].ask.on) {
			take(a, &a->calls[i]);
			queue_shared(a->it.sim)->figures[FIGURE_TAKEN_LATE]++;
		}
}

/* At times, expire the session while its receipts are being deleted: they must
   be deleted all the same. */
static void upset(struct actor *a)
{
	bool may = (a->it.sim->faults & 1u << SIM_EXPIRE) != 0;

	if (may && sim_random_below(subject_random(&a->it), 4) == 0)
		(void)model_expire(sim_model(a->it.sim), a->it.index);
}

static void leave(struct actor *a)
{
	a->leaving = true;
	if (!is_done(a)) {
		if (!a->queue->take.busy)
			collect(a);
	} else if (queue_shared(a->it.sim)->ending.served > 0) {
		let_go(a); /* the client is closed with the others */
	} else {
		subject_close(&a->it, KUSTOS_FOREVER);
		upset(a);
	}
}

static void ask_one(struct actor *a)
{
	struct sim_random *r = subject_random(&a->it);
	struct errand *call = &a->calls[sim_random_below(r, CALLS)];
	bool drains = sim_draining(a->it.sim);

	if (call->ask.on) {
		if (!drains && sim_random_below(r, 20) == 0)
			ask_fire(&call->ask);
	} else if (a->takes && (drains || sim_random_below(r, 2) == 0)) {
		take(a, call);
	} else if (a->puts && !drains) {
		put(a, call);
	}
}

/* Mostly make one call, at times as many as there is room for, so that several
   transactions are on their way. */
static void ask(struct actor *a)
{
	int times = sim_random_below(subject_random(&a->it), 4) == 0 ? CALLS
								     : 1;

	while (times-- > 0)
		ask_one(a);
	if (a->queue->put.receipt.in_flight > 1)
		queue_shared(a->it.sim)->figures[FIGURE_TOGETHER]++;
}

/* Is there an item that is taken, or being taken, and not yet handed out? */
static bool has_taken(const struct actor *a)
{
	return a->queue->take.busy || a->queue->take.taken.count > 0;
}

/* Close the client, whatever it is doing.  Nothing may be lost by that if the
   close has time and there is a session. */
static void close_it(struct actor *a)
{
	const struct kustos_client *client = a->it.client;
	bool harsh = (a->it.sim->faults &
			     (1u << SIM_REMOVE_PARENT | 1u << SIM_THROTTLE)) !=
		0;

	a->trusts = sim_random_below(subject_random(&a->it), 2) == 0 &&
		ku_session_ready(client) && !harsh;
	a->losses = client->counters.losses;
	subject_close(&a->it,
		a->trusts ? KUSTOS_FOREVER : subject_some_budget(&a->it));
}

static void step(void *self)
{
	struct actor *a = self;
	struct sim_random *r = subject_random(&a->it);

	if (a->it.gone) {
		if (queue_shared(a->it.sim)->ending.served == 0)
			open_client(a);
	} else if (a->it.closing) {
		return;
	} else if (queue_shared(a->it.sim)->ending.served > 0) {
		leave(a);
	} else if (a->leaving) {
		leave(a);
	} else if (sim_draining(a->it.sim)) {
		ask(a);
	} else if (sim_random_below(r, has_taken(a) ? 40 : 800) == 0) {
		close_it(a);
	} else if (sim_random_below(r, 400) == 0) {
		leave(a);
	} else {
		ask(a);
	}
}

static void end(struct sim *sim)
{
	struct shared *s = queue_shared(sim);

	figures_keep(s->figures, QUEUE_FIGURES);
	free(s->lives);
	free(s->pieces);
	free(s->receipts);
}

/* The end */

static bool everything_told(struct sim *sim)
{
	const char *missing = queue_missing(sim);

	for (int i = 0; i < MOST; i++) {
		const struct actor *a = sim_actor_state(sim, i);

		if (a->it.closing ||
			(a->queue != NULL && a->queue->put.first != NULL))
			missing = "a put";
	}
	if (missing != NULL &&
		sim_now(sim) >
			sim_drain_since(sim) + SERVED_NS + sim_unheard_ns(sim))
		sim_fail(sim, "lost", "%s", missing);
	return missing == NULL;
}

static const char *left(struct sim *sim)
{
	const char *missing = queue_missing(sim);

	for (int i = 0; i < MOST; i++) {
		struct actor *a = sim_actor_state(sim, i);

		if (!a->it.gone && !a->it.closing && a->queue != NULL)
			return "a call";
	}
	return missing != NULL ? missing : queue_litter(sim);
}

static bool settled(struct sim *sim)
{
	static const struct ending_rules rules = { everything_told, left,
		TIDY_NS };

	return ending_settled(sim, &queue_shared(sim)->ending, &rules);
}

static const struct sim_actor actor = {
	SUBJECT_ACTOR,
	.fini = subject_fini,
};

#define QUEUE_SCENARIO                                                      \
	.clients = MOST, .step_ms = 20,                                     \
	.faults.rate = { SUBJECT_FAULTS, [SIM_DELETE] = 500 },              \
	SUBJECT_SCENARIO, .prefix = PREFIX, .end = end, .settled = settled, \
	.settle_ms = 200000, .note = queue_note, .change = queue_change

const struct sim_scenario scenario_queue = {
	.name = "queue",
	.about =
		"a queue that a few clients put into and take from, all faults",
	QUEUE_SCENARIO,
};

static void begin_delays(struct sim *sim)
{
	queue_shared(sim)->delays = true;
}

const struct sim_scenario scenario_delay_queue = {
	.name = "delay-queue",
	.about = "the same, of items that are not to be taken before a time",
	.begin = begin_delays,
	QUEUE_SCENARIO,
};
