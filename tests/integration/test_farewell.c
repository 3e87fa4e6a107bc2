/*
 * test_farewell.c - any callback of a recipe may end everything: it destroys
 * the call's cancel object, releases what it was given, destroys the recipe's
 * object, and closes the client.
 *
 * That nothing is used afterwards is checked by runs with a sanitizer.
 */
#include "client_fixture.h"
#include "process.h"
#include "raw.h"

#include <kustos/barrier.h>
#include <kustos/cancel.h>
#include <kustos/claim.h>
#include <kustos/countdown.h>
#include <kustos/election.h>
#include <kustos/mutex.h>
#include <kustos/queue.h>
#include <kustos/rwlock.h>
#include <kustos/semaphore.h>
#include <kustos/simple.h>
#include <stdatomic.h>

#define NODE "/farewell"
#define T_MS 20000

static struct kustos_client *client;
static struct kustos_cancel *cancel;
static void *object;
static atomic_bool ready, closed;

/* Wait until the test makes no further calls, and end everything, once. */
static void leave(void (*destroy)(void *object))
{
	if (atomic_load(&closed))
		return;
	test_eventually(atomic_load(&ready), PATIENCE_MS);
	kustos_cancel_destroy(cancel);
	destroy(object);
	check_err(kustos_client_close(client, SOON, NULL), KUSTOS_OK);
	atomic_store(&closed, true);
}

/* Locks */

static void destroy_mutex(void *mutex)
{
	kustos_mutex_destroy(mutex);
}

static void release_and_leave(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	kustos_hold_release(hold);
	leave(destroy_mutex);
}

static void mutex_granted(void *arg, enum kustos_err err,
	struct kustos_hold *hold)
{
	(void)arg;
	check_err(err, KUSTOS_OK);
	kustos_hold_release(hold);
	leave(destroy_mutex);
}

static void ask_mutex(kustos_granted_fn *granted)
{
	check_err(kustos_mutex_create(client, NODE, NULL,
			  (struct kustos_mutex **)&object),
		KUSTOS_OK);
	check_err(
		kustos_mutex_acquire_async(object, SOON, cancel, granted, NULL),
		KUSTOS_OK);
}

static void by_a_grant(void)
{
	ask_mutex(mutex_granted);
}

static void by_a_grant_of_several(void)
{
	struct kustos_lockable what;

	check_err(kustos_mutex_create(client, NODE, NULL,
			  (struct kustos_mutex **)&object),
		KUSTOS_OK);
	what = kustos_mutex_lockable(object);
	check_err(kustos_acquire_all_async(&what, 1, SOON, cancel,
			  mutex_granted, NULL),
		KUSTOS_OK);
}

static void take_mutex(struct kustos_hold **hold)
{
	check_err(kustos_mutex_create(client, NODE, NULL,
			  (struct kustos_mutex **)&object),
		KUSTOS_OK);
	check_err(kustos_mutex_acquire(object, SOON, cancel, hold), KUSTOS_OK);
}

static void by_a_loss(void)
{
	struct kustos_hold *hold;

	take_mutex(&hold);
	check_err(kustos_hold_on_lost(hold, release_and_leave, NULL),
		KUSTOS_OK);
	client_kill_session(client);
}

static void by_a_warning(void)
{
	struct kustos_hold *hold;

	take_mutex(&hold);
	check_err(kustos_hold_at_risk(hold, T_MS, release_and_leave, NULL),
		KUSTOS_OK);
}

static void multi_done(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)result;
	check_err(err, KUSTOS_OK);
	release_and_leave(NULL, arg);
}

static void by_a_transaction(void)
{
	static const struct kustos_op op = { .kind = KUSTOS_OP_CHECK,
		.path = "/",
		.version = -1 };
	struct kustos_hold *hold;

	take_mutex(&hold);
	check_err(kustos_hold_multi_async(hold, &op, 1, SOON, cancel,
			  multi_done, hold),
		KUSTOS_OK);
}

static void ended(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	(void)arg;
	(void)hold;
	check_err(err, KUSTOS_ECLOSED);
}

static void queued(void *arg, const char *path)
{
	(void)arg;
	(void)path;
	leave(destroy_mutex);
}

/* The call ends after that, with the client, so it has no cancel object. */
static void by_a_place(void)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;

	check_err(raw_create(fixture_address(), NODE, ""), 0);
	check_err(raw_create(fixture_address(), NODE "/lock-0000000000", ""),
		0);
	o.on_queued = queued;
	check_err(kustos_mutex_create(client, NODE, &o,
			  (struct kustos_mutex **)&object),
		KUSTOS_OK);
	check_err(kustos_mutex_acquire_async(object, SOON, NULL, ended, NULL),
		KUSTOS_OK);
}

static void destroy_rwlock(void *rw)
{
	kustos_rwlock_destroy(rw);
}

static void rwlock_granted(void *arg, enum kustos_err err,
	struct kustos_hold *hold)
{
	(void)arg;
	check_err(err, KUSTOS_OK);
	kustos_hold_release(hold);
	leave(destroy_rwlock);
}

static void by_a_reader(void)
{
	check_err(kustos_rwlock_create(client, NODE, NULL,
			  (struct kustos_rwlock **)&object),
		KUSTOS_OK);
	check_err(kustos_rwlock_acquire_async(object, KUSTOS_READ, SOON, cancel,
			  rwlock_granted, NULL),
		KUSTOS_OK);
}

static void destroy_semaphore(void *sem)
{
	kustos_semaphore_destroy(sem);
}

static void leases_granted(void *arg, enum kustos_err err,
	struct kustos_hold *const *holds, int count)
{
	(void)arg;
	check_err(err, KUSTOS_OK);
	for (int i = 0; i < count; i++)
		kustos_hold_release(holds[i]);
	leave(destroy_semaphore);
}

static void by_leases(void)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	o.max = 2;
	check_err(kustos_semaphore_create(client, NODE, &o,
			  (struct kustos_semaphore **)&object),
		KUSTOS_OK);
	check_err(kustos_semaphore_acquire_many_async(object, 2, SOON, cancel,
			  leases_granted, NULL),
		KUSTOS_OK);
}

/* Elections */

static void destroy_latch(void *latch)
{
	kustos_latch_destroy(latch);
}

static void turned(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)latch;
	(void)hold;
	leave(destroy_latch);
}

static void start_latch(kustos_latch_fn *gained, kustos_latch_fn *lost)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

	o.on_gained = gained;
	o.on_lost = lost;
	check_err(kustos_latch_create(client, NODE, &o,
			  (struct kustos_latch **)&object),
		KUSTOS_OK);
	check_err(kustos_latch_start(object), KUSTOS_OK);
}

static void by_a_gain(void)
{
	start_latch(turned, NULL);
}

static void cut_short(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	(void)arg;
	(void)latch;
	(void)hold;
	client_kill_session(client);
}

/* The loss of a term is told only if its gain was. */
static void by_the_end_of_a_term(void)
{
	start_latch(cut_short, turned);
}

static void latch_done(void *arg, enum kustos_err err)
{
	(void)arg;
	check_err(err, KUSTOS_EABSENT);
	leave(destroy_latch);
}

static void by_a_hand_over(void)
{
	start_latch(NULL, NULL);
	check_err(kustos_latch_wait(object, SOON, NULL), KUSTOS_OK);
	check_err(kustos_latch_hand_over_async(object, "nobody", SOON, cancel,
			  latch_done, NULL),
		KUSTOS_OK);
}

static void destroy_selector(void *selector)
{
	kustos_selector_destroy(selector);
}

static void lead(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *told)
{
	(void)arg;
	(void)selector;
	(void)hold;
	(void)told;
	leave(destroy_selector);
}

static void by_who_leads(void)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;

	o.lead = lead;
	o.requeues = 1;
	check_err(kustos_selector_create(client, NODE, &o,
			  (struct kustos_selector **)&object),
		KUSTOS_OK);
	check_err(kustos_selector_start(object), KUSTOS_OK);
}

static void destroy_observer(void *observer)
{
	kustos_observer_destroy(observer);
}

static void seen(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	(void)arg;
	(void)err;
	(void)first;
	leave(destroy_observer);
}

static void by_an_observer(void)
{
	check_err(kustos_observe(client, NODE, seen, NULL,
			  (struct kustos_observer **)&object),
		KUSTOS_OK);
}

/* The others */

static void destroy_barrier(void *barrier)
{
	kustos_barrier_destroy(barrier);
}

static void barrier_done(void *arg, enum kustos_err err)
{
	(void)arg;
	check_err(err, KUSTOS_OK);
	leave(destroy_barrier);
}

static void by_a_barrier(void)
{
	check_err(kustos_barrier_create(client, NODE, NULL,
			  (struct kustos_barrier **)&object),
		KUSTOS_OK);
	check_err(kustos_barrier_wait_async(object, SOON, cancel, barrier_done,
			  NULL),
		KUSTOS_OK);
}

static void destroy_member(void *member)
{
	kustos_double_barrier_destroy(member);
}

static void member_done(void *arg, enum kustos_err err)
{
	(void)arg;
	check_err(err, KUSTOS_OK);
	leave(destroy_member);
}

static void by_a_member(void)
{
	check_err(kustos_double_barrier_create(client, NODE, 1, NULL,
			  (struct kustos_double_barrier **)&object),
		KUSTOS_OK);
	check_err(kustos_double_barrier_enter_async(object, SOON, cancel,
			  member_done, NULL),
		KUSTOS_OK);
}

static void destroy_countdown(void *countdown)
{
	kustos_countdown_destroy(countdown);
}

static void looked(void *arg, enum kustos_err err,
	const struct kustos_countdown_status *status)
{
	(void)arg;
	(void)status;
	check_err(err, KUSTOS_ENONODE);
	leave(destroy_countdown);
}

static void by_a_look(void)
{
	check_err(kustos_countdown_create(client, NODE, 1, NULL,
			  (struct kustos_countdown **)&object),
		KUSTOS_OK);
	check_err(
		kustos_countdown_look_async(object, SOON, cancel, looked, NULL),
		KUSTOS_OK);
}

static void destroy_queue(void *queue)
{
	kustos_queue_destroy(queue);
}

static void polled(void *arg, enum kustos_err err,
	struct kustos_item *const *items, size_t count)
{
	(void)arg;
	check_err(err, KUSTOS_OK);
	ck_assert_uint_eq(count, 1);
	kustos_item_free(items[0]);
	leave(destroy_queue);
}

static void put_one(void)
{
	check_err(raw_create(fixture_address(), NODE, ""), 0);
	check_err(raw_create(fixture_address(), NODE "/qn-0000000000", "x"), 0);
}

static void by_an_item(void)
{
	put_one();
	check_err(kustos_queue_create(client, NODE, NULL,
			  (struct kustos_queue **)&object),
		KUSTOS_OK);
	check_err(
		kustos_queue_poll_async(object, 1, SOON, cancel, polled, NULL),
		KUSTOS_OK);
}

static void destroy_claims(void *claims)
{
	kustos_claims_destroy(claims);
}

static void claimed(void *arg, enum kustos_err err, struct kustos_claim *claim)
{
	(void)arg;
	check_err(err, KUSTOS_OK);
	check_err(
		kustos_claim_ack_async(claim, KUSTOS_FOREVER, NULL, NULL, NULL),
		KUSTOS_OK);
	leave(destroy_claims);
}

static void by_a_claim(void)
{
	put_one();
	check_err(kustos_claims_create(client, NODE, NULL,
			  (struct kustos_claims **)&object),
		KUSTOS_OK);
	check_err(kustos_claim_next_async(object, SOON, cancel, claimed, NULL),
		KUSTOS_OK);
}

static void (*const ways[])(void) = { by_a_grant, by_a_grant_of_several,
	by_a_loss, by_a_warning, by_a_transaction, by_a_place, by_a_reader,
	by_leases, by_a_gain, by_the_end_of_a_term, by_a_hand_over,
	by_who_leads, by_an_observer, by_a_barrier, by_a_member, by_a_look,
	by_an_item, by_a_claim };

START_TEST(L11_any_callback_of_a_recipe_may_end_it_all)
{
	int threads = thread_count_before(), fds = fd_count();
	int64_t id;

	closed = ready = false;
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	client = client_connected(fixture_address(), T_MS);
	id = client_session_id(client);
	ways[_i]();
	atomic_store(&ready, true);
	test_eventually(atomic_load(&closed), 5000);
	test_eventually(thread_count() == threads, 3000);
	test_eventually(fd_count() == fds, 1000);
	ck_assert(!session_lives(id));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("farewell");
	TCase *t = fixture_case(s, "one client", 20);

	tcase_add_loop_test(t, L11_any_callback_of_a_recipe_may_end_it_all, 0,
		sizeof(ways) / sizeof(ways[0]));
	return fixture_main(s);
}
