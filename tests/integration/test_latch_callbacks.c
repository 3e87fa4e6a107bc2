/*
 * test_latch_callbacks.c - the callbacks of a latch: gains and losses
 * alternate, however slow a callback is; and what a program may do in them.
 */
#include "latch_fixture.h"
#include "mutex_pair.h"

#include <string.h>

#define T_MS 20000
#define QUIET_MS 100

static struct runner ours, theirs;

static void set_up(void)
{
	pair_open(T_MS, 0);
}

static void tear_down(void)
{
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

static void close_it(struct runner *r)
{
	kustos_latch_close(r->latch, KUSTOS_CLOSE_NOTIFY);
}

static void destroy_it(struct runner *r)
{
	kustos_latch_destroy(r->latch);
}

static void close_and_destroy(struct runner *r)
{
	kustos_latch_close(r->latch, KUSTOS_CLOSE_NOTIFY);
	kustos_latch_destroy(r->latch);
}

static const struct {
	runner_fn *on_gained, *on_lost;
	int losses;	/* that are told in the end */
	bool destroyed; /* by the callback itself */
} own[] = {
	{ close_it, NULL, 1, false },
	{ close_it, close_it, 1, false },
	{ destroy_it, NULL, 0, true },
	{ close_and_destroy, NULL, 0, true },
	{ NULL, close_it, 1, false },
	{ NULL, destroy_it, 1, true },
};
#define OWN 6

START_TEST(a_latch_may_be_ended_in_its_own_callbacks)
{
	runner_make(&ours, client, NULL);
	ours.on_gained = own[_i].on_gained;
	ours.on_lost = own[_i].on_lost;
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	test_eventually(atomic_load(&ours.ended) > 0, 5000);
	if (own[_i].on_gained == NULL)
		ck_assert_int_eq(raw_delete(fixture_address(), ours.node), 0);
	line_wait(0);
	test_eventually(ours.ended == 1 + own[_i].losses, 2000);
	test_never(ours.ended != 1 + own[_i].losses, QUIET_MS);
	if (!own[_i].destroyed) {
		check_state(&ours, KUSTOS_LATCH_CLOSED);
		runner_end(&ours);
	}
	pair_flush();
}
END_TEST

static runner_fn *const ends[] = { close_it, destroy_it };
static runner_fn *at_last;
static atomic_bool inside, over;

static void wait_for_other(struct runner *r)
{
	(void)r;
	test_eventually(atomic_load(&inside), 5000);
}

/* A callback of the hold.  The thread that tells the loss waits for it after
   the loss was told. */
static void end_it(void *arg, struct kustos_hold *hold)
{
	struct runner *r = arg;

	(void)hold;
	atomic_store(&inside, true);
	test_eventually(atomic_load(&r->ended) == 2, 5000);
	at_last(r);
	atomic_store(&over, true);
}

static void listen_to_hold(struct runner *r)
{
	check_err(kustos_hold_on_lost(r->hold, end_it, r), KUSTOS_OK);
}

START_TEST(a_latch_may_be_ended_in_a_callback_of_its_hold)
{
	at_last = ends[_i];
	atomic_store(&inside, false); /* an earlier round may have set them */
	atomic_store(&over, false);
	runner_make(&ours, client, NULL);
	ours.on_gained = listen_to_hold;
	ours.on_lost = wait_for_other;
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	test_eventually(atomic_load(&ours.ended) == 1, 5000);
	ck_assert_int_eq(raw_delete(fixture_address(), ours.node), 0);
	test_eventually(atomic_load(&over), 8000);
	line_wait(0);
	if (_i == 0)
		runner_end(&ours);
	ck_assert_int_eq(ours.losses, 1);
	pair_flush();
}
END_TEST

/* The node is deleted while the callback of the gain is still running. */
START_TEST(a_loss_is_told_when_the_gain_has_been_taken_in)
{
	char node[NODE_SIZE];

	runner_make(&ours, client, NULL);
	ours.asleep = true;
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	runner_leads(&ours);
	runner_run(&theirs, other, NULL);
	line_wait(2);
	node_at(0, node);
	/* From now on the node is watched. */
	test_eventually(watch_count() >= 2, 2000);
	ck_assert_int_eq(raw_delete(fixture_address(), node), 0);
	test_eventually(!kustos_latch_leads(ours.latch), 500);
	runner_leads(&theirs);
	test_never(atomic_load(&ours.losses) > 0, QUIET_MS);
	kustos_latch_close(theirs.latch, KUSTOS_CLOSE_NOTIFY);
	check_err(kustos_latch_wait(ours.latch, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(ours.gains, 1);
	atomic_store(&ours.asleep, false);
	test_eventually(atomic_load(&ours.ended) == 3, 2000);
	ck_assert_int_eq(ours.gains, 2);
	ck_assert_str_ne(ours.node, node);
	runner_end(&theirs);
	kustos_latch_destroy(ours.latch);
	pair_flush();
}
END_TEST

static void *close_elsewhere(void *arg)
{
	struct runner *r = arg;

	kustos_latch_close(r->latch, KUSTOS_CLOSE_NOTIFY);
	return NULL;
}

START_TEST(a_close_waits_for_the_callback_and_the_next_for_the_close)
{
	pthread_t thread;

	runner_make(&ours, client, NULL);
	ours.asleep = true;
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	runner_leads(&ours);
	runner_run(&theirs, other, NULL);
	line_wait(2);
	pthread_create(&thread, NULL, close_elsewhere, &ours);
	test_eventually(kustos_latch_state(ours.latch) == KUSTOS_LATCH_CLOSED,
		1000);
	test_never(ours.losses > 0 || kustos_latch_leads(theirs.latch),
		QUIET_MS);
	atomic_store(&ours.asleep, false);
	pthread_join(thread, NULL);
	ck_assert_int_eq(ours.ended, 2);
	runner_leads(&theirs);
	ck_assert(ours.lost_ns < theirs.gained_ns);
	runner_end(&ours);
	kustos_latch_destroy(theirs.latch);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

static void close_at_once(void *arg, struct kustos_hold *hold)
{
	(void)hold;
	atomic_store(&inside, true);
	close_it(arg);
	atomic_store(&over, true);
}

static void close_with_hold(struct runner *r)
{
	check_err(kustos_hold_on_lost(r->hold, close_at_once, r), KUSTOS_OK);
}

/* The callback of the hold is not the one that the close waits for, so it does
   not wait for itself. */
START_TEST(a_close_in_a_callback_of_its_hold_waits_for_that_of_the_latch)
{
	atomic_store(&inside, false);
	atomic_store(&over, false);
	runner_make(&ours, client, NULL);
	ours.asleep = true;
	ours.on_gained = close_with_hold;
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	runner_leads(&ours);
	client_kill_session(client);
	test_eventually(atomic_load(&inside), 5000);
	test_never(atomic_load(&over), QUIET_MS);
	ck_assert_int_eq(ours.losses, 0);
	atomic_store(&ours.asleep, false);
	test_eventually(atomic_load(&over), 5000);
	runner_lost(&ours, 1);
	check_state(&ours, KUSTOS_LATCH_CLOSED);
	runner_end(&ours);
	pair_flush();
}
END_TEST

static struct end handed;

/* The hand-over waits until this callback has returned, and a call behind it
   would wait for the hand-over. */
static void ask_behind_a_hand_over(struct runner *r)
{
	line_wait(2);
	check_err(kustos_latch_hand_over_async(r->latch, NULL, SOON, NULL,
			  end_told, &handed),
		KUSTOS_OK);
	check_err(kustos_latch_set_data(r->latch, "x", 1, SOON, NULL),
		KUSTOS_EDEADLK);
}

START_TEST(nothing_is_waited_for_behind_a_hand_over_in_a_callback)
{
	memset(&handed, 0, sizeof(handed));
	runner_make(&ours, client, NULL);
	ours.on_gained = ask_behind_a_hand_over;
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	line_wait(1);
	runner_run(&theirs, other, NULL);
	check_err(end_wait(&handed, 5000), KUSTOS_OK);
	runner_leads(&theirs);
	ours.on_gained = NULL;
	runner_end(&theirs);
	runner_end(&ours);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

static void take_it_in(struct runner *r)
{
	(void)r;
	atomic_store(&inside, true);
	test_eventually(atomic_load(&over), 5000);
}

static atomic_bool closed;

static void *close_and_say(void *arg)
{
	(void)close_elsewhere(arg);
	atomic_store(&closed, true);
	return NULL;
}

static void stay_in_it(void *arg, struct kustos_hold *hold)
{
	(void)hold;
	take_it_in(arg);
}

static void stay_with_hold(struct runner *r)
{
	check_err(kustos_hold_on_lost(r->hold, stay_in_it, r), KUSTOS_OK);
}

/* The loss was told.  A close waits for the callback of the hold, unless it is
   called in that. */
START_TEST(a_close_waits_for_a_callback_of_its_hold)
{
	pthread_t thread;

	atomic_store(&inside, false);
	atomic_store(&over, false);
	atomic_store(&closed, false);
	runner_make(&ours, client, NULL);
	ours.on_gained = stay_with_hold;
	ours.on_lost = wait_for_other; /* else that may be left out */
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	test_eventually(atomic_load(&ours.ended) == 1, 5000);
	ck_assert_int_eq(raw_delete(fixture_address(), ours.node), 0);
	test_eventually(atomic_load(&inside), 5000);
	runner_lost(&ours, 1);
	pthread_create(&thread, NULL, close_and_say, &ours);
	test_never(atomic_load(&closed), QUIET_MS);
	atomic_store(&over, true);
	pthread_join(thread, NULL);
	runner_end(&ours);
	ck_assert_int_eq(ours.losses, 1);
	pair_flush();
}
END_TEST

/* The program's loop would tell a loss that is just being told by a close.
   Another close waits for that. */
START_TEST(a_loss_that_is_being_told_is_not_told_again_elsewhere)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_client *looped;
	pthread_t threads[2];

	atomic_store(&inside, false);
	atomic_store(&over, false);
	atomic_store(&closed, false);
	o.dispatch = KUSTOS_DISPATCH_FD;
	looped = client_open_with(&o);
	client_wait(looped, KUSTOS_STATE_CONNECTED, 5000);
	runner_make(&ours, looped, NULL);
	ours.on_lost = take_it_in;
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	check_err(kustos_latch_wait(ours.latch, SOON, NULL), KUSTOS_OK);
	ck_assert_int_gt(kustos_client_dispatch(looped), 0);
	ck_assert_int_eq(ours.gains, 1);
	ck_assert_int_eq(raw_delete(fixture_address(), ours.node), 0);
	/* With no other candidate it may lead again at once. */
	test_eventually(kustos_latch_term(ours.latch) != ours.token, 5000);
	pthread_create(&threads[0], NULL, close_elsewhere, &ours);
	test_eventually(atomic_load(&inside), 5000);
	ck_assert_int_gt(kustos_client_dispatch(looped), 0);
	pthread_create(&threads[1], NULL, close_and_say, &ours);
	test_never(atomic_load(&closed), QUIET_MS);
	atomic_store(&over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(ours.losses, 1);
	runner_end(&ours);
	client_close(looped);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, callbacks");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, a_latch_may_be_ended_in_its_own_callbacks, 0,
		OWN);
	tcase_add_loop_test(t, a_latch_may_be_ended_in_a_callback_of_its_hold,
		0, 2);
	tcase_add_test(t, a_loss_is_told_when_the_gain_has_been_taken_in);
	tcase_add_test(t,
		a_close_waits_for_the_callback_and_the_next_for_the_close);
	tcase_add_test(t,
		a_close_in_a_callback_of_its_hold_waits_for_that_of_the_latch);
	tcase_add_test(t,
		nothing_is_waited_for_behind_a_hand_over_in_a_callback);
	tcase_add_test(t, a_close_waits_for_a_callback_of_its_hold);
	tcase_add_test(t,
		a_loss_that_is_being_told_is_not_told_again_elsewhere);
	return fixture_main(s);
}
