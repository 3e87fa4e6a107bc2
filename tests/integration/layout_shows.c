/*
 * layout_shows.c - for each recipe, calls that make it create every node that
 * it can create on a server.
 */
#include "layout_shows.h"
#include "barrier_fixture.h"
#include "layout_table.h"

#include <kustos/cancel.h>
#include <kustos/claim.h>
#include <kustos/countdown.h>
#include <kustos/election.h>
#include <kustos/queue.h>
#include <kustos/rwlock.h>
#include <kustos/semaphore.h>
#include <kustos/simple.h>

#include <string.h>

#define L LAYOUT_PATH

static struct ask asks[4];
static int asked; /* how many of them, from the first on, are in use */
static struct end ends[2];
static struct kustos_mutex *mutexes[4];
static struct kustos_rwlock *rwlocks[2];
static struct kustos_latch *latches[3];
static struct kustos_selector *selectors[2];
static struct kustos_simple *lock;
static struct kustos_semaphore *semaphores[3];
static struct kustos_barrier *gate;
static struct kustos_double_barrier *members[2];
static struct kustos_countdown *countdown;
static struct kustos_queue *jobs, *kinds[4];
static struct kustos_claims *claims;
static struct kustos_claim *claim;

/* Called once the objects are destroyed, so that no further acquire is
   granted. */
static void end_asks(void)
{
	for (int i = 0; i < asked; i++) {
		test_eventually(asks[i].calls == 1, 5000);
		(void)kustos_hold_release(asks[i].hold);
	}
}

static void make_mutexes(enum kustos_dialect dialect)
{
	for (int i = 0; i < 4; i++) {
		struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;

		o.dialect = dialect;
		o.holder_record = i == 1;
		o.reason = "a test";
		o.data = i == 2 ? LAYOUT_DATA : NULL;
		o.data_len = i == 2 ? strlen(LAYOUT_DATA) : 0;
		o.on_revoke = i == 3 ? count_call : NULL;
		check_err(kustos_mutex_create(client, L, &o, &mutexes[i]),
			KUSTOS_OK);
		check_err(kustos_mutex_acquire_async(mutexes[i], SOON, NULL,
				  ask_ended, &asks[asked++]),
			KUSTOS_OK);
	}
}

static void mutex_of_curator(void)
{
	make_mutexes(KUSTOS_DIALECT_CURATOR);
}

static void mutex_of_kazoo(void)
{
	make_mutexes(KUSTOS_DIALECT_KAZOO);
}

static void end_mutexes(void)
{
	for (int i = 0; i < 4; i++)
		kustos_mutex_destroy(mutexes[i]);
}

/* One writer, which also becomes a reader, and one that waits. */
static void make_rwlocks(enum kustos_dialect dialect)
{
	for (int i = 0; i < 2; i++) {
		struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;

		o.dialect = dialect;
		o.holder_record = i == 1;
		check_err(kustos_rwlock_create(client, L, &o, &rwlocks[i]),
			KUSTOS_OK);
		check_err(kustos_rwlock_acquire_async(rwlocks[i], KUSTOS_WRITE,
				  SOON, NULL, ask_ended, &asks[asked++]),
			KUSTOS_OK);
		if (i == 0)
			check_err(ask_wait(&asks[0], 5000), KUSTOS_OK);
	}
	check_err(kustos_rwlock_downgrade_async(rwlocks[0], asks[0].hold, SOON,
			  NULL, ask_ended, &asks[asked++]),
		KUSTOS_OK);
	check_err(ask_wait(&asks[2], 5000), KUSTOS_OK);
	/* The reader's node has the number of the writer's node. */
	const char *write = kustos_hold_path(asks[0].hold);
	const char *read = kustos_hold_path(asks[2].hold);
	ck_assert_str_eq(write + strlen(write) - 10, read + strlen(read) - 10);
}

static void rwlock_of_curator(void)
{
	make_rwlocks(KUSTOS_DIALECT_CURATOR);
}

static void rwlock_of_kazoo(void)
{
	make_rwlocks(KUSTOS_DIALECT_KAZOO);
}

static void end_rwlocks(void)
{
	for (int i = 0; i < 2; i++)
		kustos_rwlock_destroy(rwlocks[i]);
}

static void make_latches(int count, int one_node)
{
	for (int i = 0; i < count; i++) {
		struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

		o.id = i == 1 ? NULL : LAYOUT_ID;
		o.one_node = one_node;
		check_err(kustos_latch_create(client, L, &o, &latches[i]),
			KUSTOS_OK);
		check_err(kustos_latch_start(latches[i]), KUSTOS_OK);
		if (i == 0)
			check_err(kustos_latch_wait(latches[0], SOON, NULL),
				KUSTOS_OK);
	}
}

static void election(void)
{
	make_latches(3, 0);
	check_err(kustos_latch_set_data(latches[0], LAYOUT_DATA,
			  strlen(LAYOUT_DATA), SOON, NULL),
		KUSTOS_OK);
}

static void election_of_one_node(void)
{
	make_latches(1, 1);
}

static void end_latches(void)
{
	for (int i = 0; i < 3; i++) {
		kustos_latch_destroy(latches[i]);
		latches[i] = NULL;
	}
}

static void lead(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	(void)arg;
	(void)selector;
	(void)hold;
	while (!kustos_cancel_fired(cancel))
		test_pause_1ms();
}

static void selector(void)
{
	for (int i = 0; i < 2; i++) {
		struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;

		o.id = i == 0 ? LAYOUT_ID : NULL;
		o.lead = lead;
		check_err(kustos_selector_create(client, L, &o, &selectors[i]),
			KUSTOS_OK);
		check_err(kustos_selector_start(selectors[i]), KUSTOS_OK);
	}
}

static void end_selectors(void)
{
	for (int i = 0; i < 2; i++)
		kustos_selector_destroy(selectors[i]);
}

static void simple(void)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;

	o.holder_record = 1;
	check_err(kustos_simple_create(client, L, &o, &lock), KUSTOS_OK);
	check_err(kustos_simple_acquire_async(lock, SOON, NULL, ask_ended,
			  &asks[asked++]),
		KUSTOS_OK);
}

static void end_simple(void)
{
	kustos_simple_destroy(lock);
}

/* One holds the lease, one waits for a lease, and one waits behind that. */
static void semaphore(void)
{
	for (int i = 0; i < 3; i++) {
		struct kustos_semaphore_options o =
			KUSTOS_SEMAPHORE_OPTIONS_INIT;

		o.max = 1;
		o.holder_record = i == 1;
		o.data = i == 2 ? LAYOUT_DATA : NULL;
		o.data_len = i == 2 ? strlen(LAYOUT_DATA) : 0;
		check_err(
			kustos_semaphore_create(client, L, &o, &semaphores[i]),
			KUSTOS_OK);
		check_err(kustos_semaphore_acquire_async(semaphores[i], SOON,
				  NULL, ask_ended, &asks[asked++]),
			KUSTOS_OK);
		if (i == 0)
			check_err(ask_wait(&asks[0], 5000), KUSTOS_OK);
	}
}

static void semaphore_shared(void)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	o.max_path = L "-max";
	check_err(kustos_semaphore_create(client, L, &o, &semaphores[0]),
		KUSTOS_OK);
	check_err(kustos_semaphore_set_max(semaphores[0], 3, SOON, NULL),
		KUSTOS_OK);
}

static void end_semaphores(void)
{
	for (int i = 0; i < 3; i++) {
		kustos_semaphore_destroy(semaphores[i]);
		semaphores[i] = NULL;
	}
}

static void barrier_alone(void)
{
	check_err(kustos_barrier_create(client, L, NULL, &gate), KUSTOS_OK);
	check_err(kustos_barrier_set(gate, SOON, NULL), KUSTOS_OK);
}

static void end_barrier(void)
{
	kustos_barrier_destroy(gate);
}

static void double_barrier(void)
{
	for (int i = 0; i < 2; i++) {
		struct kustos_barrier_options o = KUSTOS_BARRIER_OPTIONS_INIT;

		o.data = i == 1 ? LAYOUT_DATA : NULL;
		o.data_len = i == 1 ? strlen(LAYOUT_DATA) : 0;
		check_err(kustos_double_barrier_create(client, L, 2, &o,
				  &members[i]),
			KUSTOS_OK);
		check_err(kustos_double_barrier_enter_async(members[i], SOON,
				  NULL, end_told, &ends[i]),
			KUSTOS_OK);
	}
	for (int i = 0; i < 2; i++)
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
}

/* Both leave before either is waited for. */
static void end_double_barrier(void)
{
	memset(ends, 0, sizeof(ends));
	for (int i = 0; i < 2; i++)
		check_err(kustos_double_barrier_leave_async(members[i], SOON,
				  NULL, end_told, &ends[i]),
			KUSTOS_OK);
	for (int i = 0; i < 2; i++) {
		check_err(end_wait(&ends[i], 5000), KUSTOS_OK);
		kustos_double_barrier_destroy(members[i]);
	}
}

static void count_down(void)
{
	check_err(kustos_countdown_create(client, L, 8, NULL, &countdown),
		KUSTOS_OK);
	check_err(kustos_countdown_set(countdown, SOON, NULL), KUSTOS_OK);
	check_err(kustos_countdown_join(countdown, "one of them", SOON, NULL),
		KUSTOS_OK);
	check_err(kustos_countdown_done(countdown, "another/one", SOON, NULL),
		KUSTOS_OK);
}

static void end_countdown(void)
{
	kustos_countdown_destroy(countdown);
}

static void take_one(void)
{
	struct kustos_item *item = NULL;

	check_err(kustos_queue_poll(jobs, SOON, NULL, &item), KUSTOS_OK);
	kustos_item_free(item);
}

static void queue(void)
{
	check_err(kustos_queue_create(client, L, NULL, &jobs), KUSTOS_OK);
	for (int i = 0; i < 2; i++)
		check_err(kustos_queue_put(jobs, LAYOUT_DATA,
				  strlen(LAYOUT_DATA), SOON, NULL),
			KUSTOS_OK);
	take_one();
}

static void end_queue(void)
{
	take_one();
	kustos_queue_destroy(jobs);
}

/* Make a queue of this kind, and put one item. */
static struct kustos_queue *queue_of(enum kustos_queue_kind kind)
{
	struct kustos_queue_options o = KUSTOS_QUEUE_OPTIONS_INIT;
	struct kustos_new_item item = { .data = LAYOUT_DATA,
		.len = strlen(LAYOUT_DATA),
		.priority = kind == KUSTOS_QUEUE_KAZOO ? 7 : -7,
		.due_ms = 1700000000000,
		.id = "an id" };
	struct kustos_queue *made = NULL;

	o.kind = kind;
	check_err(kustos_queue_create(client, L, &o, &made), KUSTOS_OK);
	check_err(kustos_queue_put_many(made, &item, 1, SOON, NULL, NULL),
		KUSTOS_OK);
	return made;
}

static void queue_of_curator(void)
{
	for (int i = 0; i < 4; i++)
		kinds[i] = queue_of(
			(enum kustos_queue_kind)(KUSTOS_QUEUE_FRAMED + i));
}

/* A queue of one of these kinds takes the items of all of them. */
static void end_kinds(void)
{
	jobs = kinds[0];
	for (int i = 0; i < 4; i++)
		take_one();
	for (int i = 0; i < 4; i++)
		kustos_queue_destroy(kinds[i]);
}

static void queue_of_kazoo(void)
{
	jobs = queue_of(KUSTOS_QUEUE_KAZOO);
}

static void put(const char *path, int parents)
{
	check_err(kustos_create(client, path, LAYOUT_DATA, strlen(LAYOUT_DATA),
			  KUSTOS_CREATE_SEQUENTIAL | parents, SOON, NULL, NULL,
			  NULL),
		KUSTOS_OK);
}

static void claim_one(enum kustos_queue_kind kind)
{
	struct kustos_claims_options o = KUSTOS_CLAIMS_OPTIONS_INIT;

	o.kind = kind;
	check_err(kustos_claims_create(client, L, &o, &claims), KUSTOS_OK);
	check_err(kustos_claim_next(claims, SOON, NULL, &claim), KUSTOS_OK);
}

static void claims_of_items(void)
{
	put(L "/qn-", KUSTOS_CREATE_PARENTS);
	claim_one(KUSTOS_QUEUE_SIMPLE);
}

/* The queue's nodes exist before, as kazoo creates them. */
static void claims_of_kazoo(void)
{
	static const char *const made[] = { LAYOUT_ROOT, L, L "/entries" };

	for (int i = 0; i < 3; i++)
		check_err(kustos_create(client, made[i], "", 0, 0, SOON, NULL,
				  NULL, NULL),
			KUSTOS_OK);
	put(L "/entries/entry-100-", 0);
	claim_one(KUSTOS_QUEUE_KAZOO_LOCKING);
}

static void end_claims(void)
{
	check_err(kustos_claim_ack(claim, SOON, NULL), KUSTOS_OK);
	kustos_claims_destroy(claims);
}

static const struct {
	const char *heading;
	void (*begin)(void);
	void (*end)(void);
} recipes[LAYOUT_RECIPES] = {
	{ "mutex", mutex_of_curator, end_mutexes },
	{ "mutex, kazoo's dialect", mutex_of_kazoo, end_mutexes },
	{ "rwlock", rwlock_of_curator, end_rwlocks },
	{ "rwlock, kazoo's dialect", rwlock_of_kazoo, end_rwlocks },
	{ "election", election, end_latches },
	{ "election of one node", election_of_one_node, end_latches },
	{ "selector", selector, end_selectors },
	{ "simple", simple, end_simple },
	{ "semaphore", semaphore, end_semaphores },
	{ "semaphore, a number that is shared", semaphore_shared,
		end_semaphores },
	{ "barrier", barrier_alone, end_barrier },
	{ "double barrier", double_barrier, end_double_barrier },
	{ "count-down latch", count_down, end_countdown },
	{ "queue", queue, end_queue },
	{ "queue, Curator's kinds", queue_of_curator, end_kinds },
	{ "queue, kazoo's kind", queue_of_kazoo, end_queue },
	{ "claims", claims_of_items, end_claims },
	{ "claims, beside kazoo's LockingQueue", claims_of_kazoo, end_claims },
};

const char *layout_heading(int recipe)
{
	return recipes[recipe].heading;
}

void layout_show(int recipe)
{
	memset(asks, 0, sizeof(asks));
	memset(ends, 0, sizeof(ends));
	asked = 0;
	recipes[recipe].begin();
}

void layout_end(int recipe)
{
	recipes[recipe].end();
	end_asks();
}
