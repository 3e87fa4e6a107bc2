/*
 * test_every_call.c - what holds for every public call (every_call.h): what it
 * returns for NULL, and what it does in a child after fork(), whatever the
 * parent was doing.
 */
#include "child.h"
#include "client_fixture.h"
#include "every_call.h"
#include "support/fixture.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#ifndef KUSTOS_MAPS
#define KUSTOS_MAPS "lib/kustos.map" /* the Makefile has all maps */
#endif

#define OK(call) ck_assert_int_eq(call, KUSTOS_OK)

/* Calls that have no object. */
static bool has_no_object(const char *name)
{
	size_t len = strlen(name);

	return strcmp(name + len - 5, "_name") == 0 ||
		strncmp(name, "kustos_retry_", 13) == 0 ||
		strcmp(name, "kustos_strerror") == 0 ||
		strcmp(name, "kustos_version") == 0 ||
		strcmp(name, "kustos_after_ms") == 0;
}

/* Return how many calls the map has; each must have been made in
   every_call.c. */
static int check_map(const char *path)
{
	FILE *map = fopen(path, "r");
	char line[256], name[64];
	int calls = 0;

	ck_assert_msg(map != NULL, "no map %s", path);
	while (fgets(line, sizeof(line), map) != NULL) {
		if (sscanf(line, " %63[a-z_];", name) != 1 ||
			strncmp(name, "kustos_", 7) != 0)
			continue;
		calls++;
		ck_assert_msg(has_no_object(name) || every_has(name),
			"%s() is not in every_call.c", name);
	}
	fclose(map);
	return calls;
}

START_TEST(every_call_takes_NULL_for_its_object)
{
	static const char *const maps[] = { KUSTOS_MAPS };
	const struct every none = { .client = NULL };
	int calls = 0;

	ck_assert_int_eq(every_ask(&none, KUSTOS_EINVAL), 0);
	ck_assert_int_eq(every_free(&none, KUSTOS_OK), 0);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		calls += check_map(maps[i]);
	ck_assert_int_gt(calls, 150);
}
END_TEST

static void see(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	(void)err;
	(void)first;
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

START_TEST(what_is_made_has_to_go_somewhere)
{
	struct kustos_client_options o = client_options("127.0.0.1:1", 2000);
	struct kustos_semaphore_options two = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_selector_options leader = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct kustos_client *c = client_open_with(&o);
	const enum kustos_err no = KUSTOS_EINVAL;

	two.max = 2;
	leader.lead = lead;
	ck_assert_int_eq(kustos_client_open(&o, NULL), no);
	ck_assert_int_eq(kustos_cancel_create(NULL), no);
	ck_assert_int_eq(kustos_client_listen(c, record_state, NULL, NULL), no);
	ck_assert_int_eq(kustos_observe(c, "/x", see, NULL, NULL), no);
	ck_assert_int_eq(kustos_mutex_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_rwlock_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_semaphore_create(c, "/x", &two, NULL), no);
	ck_assert_int_eq(kustos_semaphore_mutex_create(c, "/x", NULL, NULL),
		no);
	ck_assert_int_eq(kustos_simple_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_latch_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_selector_create(c, "/x", &leader, NULL), no);
	ck_assert_int_eq(kustos_barrier_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_double_barrier_create(c, "/x", 1, NULL, NULL),
		no);
	ck_assert_int_eq(kustos_countdown_create(c, "/x", 1, NULL, NULL), no);
	ck_assert_int_eq(kustos_queue_create(c, "/x", NULL, NULL), no);
	ck_assert_int_eq(kustos_claims_create(c, "/x", NULL, NULL), no);
	client_drop(c);
}
END_TEST

#define SET(options) ((options).data = "", (options).data_len = (size_t)-1)

/* As from a read() that failed. */
START_TEST(no_data_has_a_length_of_minus_one)
{
	struct kustos_client_options o = client_options("127.0.0.1:1", 2000);
	struct kustos_mutex_options mutex = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_rwlock_options rw = KUSTOS_RWLOCK_OPTIONS_INIT;
	struct kustos_semaphore_options sem = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_simple_options simple = KUSTOS_SIMPLE_OPTIONS_INIT;
	struct kustos_barrier_options barrier = KUSTOS_BARRIER_OPTIONS_INIT;
	struct kustos_countdown_options down = KUSTOS_COUNTDOWN_OPTIONS_INIT;
	struct every on = { .client = client_open_with(&o) };
	struct kustos_client *c = on.client;
	const enum kustos_err no = KUSTOS_EINVAL;

	SET(mutex), SET(rw), SET(sem), SET(simple), SET(barrier), SET(down);
	sem.max = 1;
	ck_assert_int_eq(kustos_mutex_create(c, "/x", &mutex, &on.mutex), no);
	ck_assert_int_eq(kustos_rwlock_create(c, "/x", &rw, &on.rw), no);
	ck_assert_int_eq(kustos_semaphore_create(c, "/x", &sem, &on.sem), no);
	ck_assert_int_eq(
		kustos_semaphore_mutex_create(c, "/x", &sem, &on.sem_mutex),
		no);
	ck_assert_int_eq(kustos_simple_create(c, "/x", &simple, &on.simple),
		no);
	ck_assert_int_eq(kustos_barrier_create(c, "/x", &barrier, &on.barrier),
		no);
	ck_assert_int_eq(
		kustos_double_barrier_create(c, "/x", 1, &barrier, &on.member),
		no);
	ck_assert_int_eq(
		kustos_countdown_create(c, "/x", 1, &down, &on.countdown), no);
	client_drop(c);
}
END_TEST

START_TEST(nor_has_it_what_is_set_later)
{
	struct kustos_client_options o = client_options("127.0.0.1:1", 2000);
	struct kustos_semaphore_options one = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_client *c = client_open_with(&o);
	struct kustos_semaphore *sem;
	struct kustos_latch *latch;
	const size_t len = (size_t)-1;

	one.max = 1;
	OK(kustos_semaphore_create(c, "/x", &one, &sem));
	ck_assert_int_eq(kustos_semaphore_set_data(sem, "", len),
		KUSTOS_EINVAL);
	kustos_semaphore_destroy(sem);
	OK(kustos_latch_create(c, "/x", NULL, &latch));
	ck_assert_int_eq(kustos_latch_set_data(latch, "", len, SOON, NULL),
		KUSTOS_ETOOBIG);
	kustos_latch_destroy(latch);
	client_drop(c);
}
END_TEST

START_TEST(what_is_freed_may_be_nothing)
{
	struct kustos_client *c = client_connected(fixture_address(), 3000);
	struct kustos_listener *l;

	ck_assert_int_eq(kustos_client_listen(c, NULL, NULL, &l),
		KUSTOS_EINVAL);
	kustos_client_unlisten(c, NULL);
	kustos_names_free(NULL);
	kustos_free(NULL);
	client_close(c);
	ck_assert_int_eq(kustos_client_close(NULL, KUSTOS_FOREVER, NULL),
		KUSTOS_OK);
}
END_TEST

/* What the parent waits for, and the outcome. */
struct waits {
	struct kustos_cancel *stop;
	struct kustos_queue *feed;	    /* the queue that is claimed from */
	struct kustos_mutex *other, *again; /* the second on the same line */
	pthread_t thread;
	atomic_int canceled, worked, took;
};

static void ended(void *arg, enum kustos_err err)
{
	struct waits *w = arg;

	if (err == KUSTOS_ECANCELED)
		atomic_fetch_add(&w->canceled, 1);
}

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	kustos_hold_release(hold);
	ended(arg, err);
}

static void *wait_in_line(void *arg)
{
	struct waits *w = arg;
	struct kustos_hold *hold = NULL;

	ended(w,
		kustos_mutex_acquire(w->again, KUSTOS_FOREVER, w->stop, &hold));
	kustos_hold_release(hold);
	return NULL;
}

static enum kustos_verdict work(void *arg, struct kustos_claim *claim)
{
	struct waits *w = arg;

	(void)claim;
	atomic_fetch_add(&w->worked, 1);
	return KUSTOS_VERDICT_ACK;
}

static void take(void *arg, struct kustos_item *const *items, size_t count)
{
	struct waits *w = arg;

	(void)items;
	atomic_fetch_add(&w->took, (int)count);
}

static void hold_locks(struct every *on, struct waits *w)
{
	struct kustos_semaphore_options two = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_client *c = on->client;

	two.max = 2;
	OK(kustos_mutex_create(c, "/every/mutex", NULL, &on->mutex));
	OK(kustos_mutex_create(c, "/every/other", NULL, &w->other));
	OK(kustos_mutex_create(c, "/every/mutex", NULL, &w->again));
	OK(kustos_rwlock_create(c, "/every/rw", NULL, &on->rw));
	OK(kustos_semaphore_create(c, "/every/sem", &two, &on->sem));
	OK(kustos_semaphore_mutex_create(c, "/every/one", NULL,
		&on->sem_mutex));
	OK(kustos_simple_create(c, "/every/simple", NULL, &on->simple));
	const struct kustos_lockable both[] = { kustos_mutex_lockable(w->other),
		kustos_semaphore_lockable(on->sem) };
	OK(kustos_mutex_acquire(on->mutex, SOON, NULL, &on->hold));
	OK(kustos_rwlock_acquire(on->rw, KUSTOS_WRITE, SOON, NULL,
		&on->writer));
	OK(kustos_semaphore_acquire(on->sem, SOON, NULL, &on->lease));
	OK(kustos_semaphore_mutex_lock(on->sem_mutex, SOON, NULL));
	OK(kustos_simple_acquire(on->simple, SOON, NULL, &on->lock));
	OK(kustos_acquire_all(both, 2, SOON, NULL, &on->all));
}

static struct record record;

static void lead_all(struct every *on)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct kustos_client *c = on->client;

	o.lead = lead;
	OK(kustos_latch_create(c, "/every/latch", NULL, &on->latch));
	OK(kustos_latch_start(on->latch));
	OK(kustos_latch_wait(on->latch, SOON, NULL));
	OK(kustos_latch_create(c, "/every/latch", NULL, &on->second));
	OK(kustos_latch_start(on->second));
	OK(kustos_selector_create(c, "/every/selector", &o, &on->selector));
	OK(kustos_selector_start(on->selector));
	test_eventually(kustos_selector_leads(on->selector), PATIENCE_MS);
	OK(kustos_observe(c, "/every/latch", see, NULL, &on->observer));
	OK(kustos_client_listen(c, record_state, &record, &on->listener));
}

static void meet(struct every *on)
{
	struct kustos_client *c = on->client;

	OK(kustos_barrier_create(c, "/every/barrier", NULL, &on->barrier));
	OK(kustos_barrier_set(on->barrier, SOON, NULL));
	OK(kustos_double_barrier_create(c, "/every/double", 1, NULL,
		&on->member));
	OK(kustos_double_barrier_enter(on->member, SOON, NULL));
	OK(kustos_countdown_create(c, "/every/down", 2, NULL, &on->countdown));
	OK(kustos_countdown_join(on->countdown, "x", SOON, NULL));
}

static void consume(struct every *on, struct waits *w)
{
	struct kustos_client *c = on->client;

	OK(kustos_queue_create(c, "/every/queue", NULL, &on->queue));
	OK(kustos_queue_create(c, "/every/work", NULL, &w->feed));
	OK(kustos_claims_create(c, "/every/work", NULL, &on->claims));
	OK(kustos_queue_put(w->feed, "x", 1, SOON, NULL));
	OK(kustos_claim_next(on->claims, SOON, NULL, &on->claim));
	OK(kustos_claims_consume(on->claims, work, NULL, w, &on->worker));
	OK(kustos_queue_consume(on->queue, 1, take, NULL, w, &on->taker));
}

#define WAITS 7

static void wait_for_all(struct every *on, struct waits *w)
{
	const kustos_deadline end = KUSTOS_FOREVER;

	OK(kustos_mutex_acquire_async(on->mutex, end, w->stop, granted, w));
	OK(kustos_rwlock_acquire_async(on->rw, KUSTOS_READ, end, w->stop,
		granted, w));
	OK(kustos_semaphore_acquire_async(on->sem, end, w->stop, granted, w));
	OK(kustos_simple_acquire_async(on->simple, end, w->stop, granted, w));
	OK(kustos_barrier_wait_async(on->barrier, end, w->stop, ended, w));
	OK(kustos_countdown_wait_async(on->countdown, end, w->stop, ended, w));
	ck_assert_int_eq(pthread_create(&w->thread, NULL, wait_in_line, w), 0);
	test_eventually(fixture_children("/every/mutex") == 2, PATIENCE_MS);
}

/* All that a child may do: get EFORKED from each call, and free. */
static int ask_and_free(void *arg)
{
	const struct every *on = arg;

	return every_ask(on, KUSTOS_EFORKED) + every_free(on, KUSTOS_EFORKED);
}

static void check_parent(struct every *on, struct waits *w)
{
	struct kustos_hold *holds[] = { on->hold, on->writer, on->lease,
		on->lock, on->all, kustos_claim_hold(on->claim),
		kustos_semaphore_mutex_hold(on->sem_mutex) };

	for (size_t i = 0; i < sizeof(holds) / sizeof(holds[0]); i++)
		ck_assert_int_eq(kustos_hold_state(holds[i]), KUSTOS_HOLD_HELD);
	ck_assert_int_eq(kustos_latch_leads(on->latch), 1);
	ck_assert_int_eq(kustos_selector_leads(on->selector), 1);
	ck_assert_int_eq(kustos_double_barrier_inside(on->member), 1);
	OK(kustos_queue_put(on->queue, "y", 1, SOON, NULL));
	OK(kustos_queue_put(w->feed, "y", 1, SOON, NULL));
	test_eventually(atomic_load(&w->took) == 1, PATIENCE_MS);
	test_eventually(atomic_load(&w->worked) == 1, PATIENCE_MS);
	ck_assert_int_eq(atomic_load(&w->canceled), 0);
	kustos_cancel_fire(w->stop);
	test_eventually(atomic_load(&w->canceled) == WAITS, PATIENCE_MS);
	ck_assert_int_eq(pthread_join(w->thread, NULL), 0);
}

/* The thread that ends a request stays here, with the client locked. */
static atomic_bool stays;
static sem_t is_there, may_go;

static void stay(void *arg, const struct kustos_request *request)
{
	(void)arg;
	(void)request;
	if (atomic_exchange(&stays, false)) {
		sem_post(&is_there);
		sem_wait(&may_go);
	}
}

/* The same, while a thread of the parent has locked the client. */
static int in_child_of_locked(struct every *on)
{
	struct completions done = { .calls = 0 };

	atomic_store(&stays, true);
	OK(kustos_exists_async(on->client, "/", SOON, NULL, count_completion,
		&done));
	ck_assert_int_eq(sem_wait(&is_there), 0);
	int code = child_run(ask_and_free, on);
	sem_post(&may_go);
	test_eventually(completions_of(&done) == 1, PATIENCE_MS);
	return code;
}

START_TEST(S24_a_child_has_nothing_of_all_that_its_parent_has)
{
	struct kustos_client_options o = client_options(fixture_address(),
		20000);
	struct waits w = { .stop = NULL };
	struct every on = { .client = NULL };

	ck_assert_int_eq(sem_init(&is_there, 0, 0), 0);
	ck_assert_int_eq(sem_init(&may_go, 0, 0), 0);
	o.on_request = stay;
	on.client = client_open_with(&o);
	OK(kustos_cancel_create(&on.cancel));
	w.stop = on.cancel;
	hold_locks(&on, &w);
	lead_all(&on);
	meet(&on);
	consume(&on, &w);
	wait_for_all(&on, &w);
	ck_assert_int_eq(child_run(ask_and_free, &on), 0);
	ck_assert_int_eq(in_child_of_locked(&on), 0);
	check_parent(&on, &w);
	OK(kustos_semaphore_mutex_unlock(on.sem_mutex));
	OK(kustos_claim_ack(on.claim, SOON, NULL));
	on.claim = NULL;
	kustos_queue_destroy(w.feed);
	kustos_mutex_destroy(w.other);
	kustos_mutex_destroy(w.again);
	ck_assert_int_eq(every_free(&on, KUSTOS_OK), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("every call");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_test(t, every_call_takes_NULL_for_its_object);
	tcase_add_test(t, what_is_made_has_to_go_somewhere);
	tcase_add_test(t, no_data_has_a_length_of_minus_one);
	tcase_add_test(t, nor_has_it_what_is_set_later);
	tcase_add_test(t, what_is_freed_may_be_nothing);
	tcase_add_test(t, S24_a_child_has_nothing_of_all_that_its_parent_has);
	return fixture_main(s);
}
