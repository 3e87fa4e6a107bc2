/*
 * test_selector_callbacks.c - the function of a selector: what it may call,
 * what it does not hold up, and what does not hold it up.
 */
#include "allocs.h"
#include "inject.h"
#include "mutex_pair.h"
#include "selector_fixture.h"

#include <poll.h>
#include <stdio.h>

#define T_MS 20000
#define QUIET_MS 100

static struct chief ours, theirs;

static void set_up(void)
{
	inject_reset();
	pair_open(T_MS, 0);
}

static void tear_down(void)
{
	inject_reset();
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

static void close_it(struct chief *c)
{
	kustos_selector_close(c->selector);
	chief_state(c, KUSTOS_SELECTOR_CLOSED);
}

static void destroy_it(struct chief *c)
{
	kustos_selector_destroy(c->selector);
}

static void close_and_destroy(struct chief *c)
{
	kustos_selector_close(c->selector);
	kustos_selector_destroy(c->selector);
}

static void requeue_once(struct chief *c)
{
	if (c->begun == 1)
		check_err(kustos_selector_requeue(c->selector), KUSTOS_OK);
	atomic_store(&c->stays, false);
}

static void interrupt_it(struct chief *c)
{
	check_err(kustos_selector_interrupt(c->selector), KUSTOS_OK);
}

static const struct {
	chief_fn *on_lead;
	int requeues;
	int terms, asked; /* in the end */
	enum kustos_selector_state state;
	bool destroyed;
} own[] = {
	{ close_it, 1, 1, 1, KUSTOS_SELECTOR_CLOSED, false },
	{ destroy_it, 1, 1, 1, KUSTOS_SELECTOR_CLOSED, true },
	{ close_and_destroy, 1, 1, 1, KUSTOS_SELECTOR_CLOSED, true },
	{ requeue_once, 0, 2, 0, KUSTOS_SELECTOR_IDLE, false },
	{ interrupt_it, 0, 1, 1, KUSTOS_SELECTOR_IDLE, false },
};
#define OWN 5

START_TEST(its_own_function_may_call_anything)
{
	chief_make(&ours, client, chief_options(NULL, own[_i].requeues));
	ours.on_lead = own[_i].on_lead;
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	chief_ended(&ours, own[_i].terms);
	line_wait(0);
	test_never(ours.begun != own[_i].terms, QUIET_MS);
	ck_assert_int_eq(ours.asked, own[_i].asked);
	if (!own[_i].destroyed) {
		chief_state(&ours, own[_i].state);
		chief_end(&ours);
	}
	pair_flush();
}
END_TEST

static atomic_bool over;

static void end_it(struct chief *c, void (*end)(struct chief *))
{
	atomic_store(&c->deaf, false);
	end(c);
	ck_assert_int_eq(atomic_load(&c->ended), 2);
	atomic_store(&over, true);
}

static void end_by_closing(void *arg, struct kustos_hold *hold)
{
	(void)hold;
	end_it(arg, close_it);
}

static void end_by_destroying(void *arg, struct kustos_hold *hold)
{
	(void)hold;
	end_it(arg, destroy_it);
}

/* The hold is that of a later term, the function of which has not returned
   yet. */
START_TEST(it_may_be_ended_in_a_callback_of_its_hold)
{
	atomic_store(&over, false); /* the round before has set it */
	chief_run(&ours, client, chief_options(NULL, 1));
	chief_leads(&ours, 1);
	check_err(kustos_selector_interrupt(ours.selector), KUSTOS_OK);
	chief_leads(&ours, 2);
	ours.deaf = true; /* until the hold's callback was told of the loss */
	check_err(kustos_hold_on_lost(ours.hold,
			  _i == 0 ? end_by_closing : end_by_destroying, &ours),
		KUSTOS_OK);
	ck_assert_int_eq(raw_delete(fixture_address(), ours.node), 0);
	test_eventually(atomic_load(&over), 8000);
	line_wait(0);
	if (_i == 0)
		chief_end(&ours);
	pair_flush();
}
END_TEST

static void *end_elsewhere(void *arg)
{
	struct chief *c = arg;

	if (c->on_lead == NULL)
		kustos_selector_close(c->selector);
	else
		kustos_selector_destroy(c->selector);
	return NULL;
}

static void nothing(struct chief *c)
{
	(void)c;
}

START_TEST(a_close_waits_for_the_function_and_the_next_for_the_close)
{
	pthread_t thread;

	chief_make(&ours, client, chief_options(NULL, 1));
	ours.deaf = true;
	ours.on_lead = _i ? nothing : NULL;
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	chief_leads(&ours, 1);
	chief_run(&theirs, other, chief_options(NULL, 0));
	line_wait(2);
	pthread_create(&thread, NULL, end_elsewhere, &ours);
	test_eventually(atomic_load(&ours.asked) == 1, 1000);
	test_never(theirs.begun > 0 || ours.ended > 0, QUIET_MS);
	ck_assert_int_eq(line_count(), 2);
	atomic_store(&ours.stays, false);
	pthread_join(thread, NULL);
	ck_assert_int_eq(ours.ended, 1);
	chief_leads(&theirs, 1);
	ck_assert(ours.to_ns < theirs.from_ns);
	if (_i == 0)
		chief_end(&ours);
	chief_end(&theirs);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

static atomic_int sleeping;
static atomic_bool awake;

static void sleep_long(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	(void)err;
	(void)result;
	atomic_fetch_add(&sleeping, 1);
	while (!atomic_load(&awake) && test_now_ms() < end)
		test_pause_1ms();
	atomic_store((atomic_int *)arg, 1);
}

START_TEST(a_callback_that_sleeps_does_not_keep_it_from_leading)
{
	atomic_int done = 0;

	atomic_store(&sleeping, 0);
	atomic_store(&awake, false);
	check_err(
		kustos_exists_async(client, "/", SOON, NULL, sleep_long, &done),
		KUSTOS_OK);
	test_eventually(atomic_load(&sleeping) == 1, 2000);
	chief_run(&ours, client, chief_options(NULL, 0));
	chief_leads(&ours, 1);
	/* It is also told that it no longer leads. */
	ck_assert_int_eq(raw_delete(fixture_address(), ours.node), 0);
	chief_ended(&ours, 1);
	ck_assert_int_eq(ours.asked, 1);
	ck_assert_int_eq(atomic_load(&done), 0);
	atomic_store(&awake, true);
	test_eventually(atomic_load(&done) == 1, 2000);
	chief_end(&ours);
	pair_flush();
}
END_TEST

#define MANY 20

static void many_lead(void *arg, struct kustos_selector *s,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	(void)s;
	(void)hold;
	atomic_fetch_add((atomic_int *)arg, 1);
	while (!kustos_cancel_fired(cancel))
		test_pause_1ms();
	atomic_fetch_sub((atomic_int *)arg, 1);
}

/* All lead at once, although a client has one thread for callbacks, and
   callbacks run as well.  There is no thread for a selector before it leads. */
START_TEST(many_lead_at_the_same_time)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct kustos_selector *all[MANY];
	struct completions c = { 0 };
	atomic_int leading = 0;
	char path[32];

	o.lead = many_lead;
	o.arg = &leading;
	for (int i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "/many/%d", i);
		check_err(kustos_selector_create(client, path, &o, &all[i]),
			KUSTOS_OK);
		check_err(kustos_selector_start(all[i]), KUSTOS_OK);
	}
	test_eventually(atomic_load(&leading) == MANY, 5000);
	check_err(kustos_exists_async(client, "/", SOON, NULL, count_completion,
			  &c),
		KUSTOS_OK);
	test_eventually(completions_of(&c) == 1, 2000);
	for (int i = 0; i < MANY; i++)
		kustos_selector_destroy(all[i]);
	ck_assert_int_eq(atomic_load(&leading), 0);
	pair_flush();
}
END_TEST

/* Open a client whose callbacks run in the program's own loop. */
static struct kustos_client *looped_open(void)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_client *looped;

	o.dispatch = KUSTOS_DISPATCH_FD;
	looped = client_open_with(&o);
	client_wait(looped, KUSTOS_STATE_CONNECTED, 5000);
	return looped;
}

static void loop_once(struct kustos_client *looped)
{
	struct pollfd p = { kustos_client_fd(looped), POLLIN, 0 };

	ck_assert_int_ge(poll(&p, 1, 10), 0);
	kustos_client_dispatch(looped);
}

/* The program's loop is told that it leads, and its function does not block
   that. */
START_TEST(it_leads_beside_a_programs_own_loop)
{
	struct kustos_client *looped = looped_open();

	chief_run(&ours, looped, chief_options(NULL, 0));
	while (atomic_load(&ours.begun) == 0)
		loop_once(looped);
	chief_leads(&ours, 1);
	check_err(kustos_selector_interrupt(ours.selector), KUSTOS_OK);
	chief_ended(&ours, 1);
	line_wait(0);
	chief_end(&ours);
	client_close(looped);
}
END_TEST

/* The node is deleted while there is no thread to lead on. */
START_TEST(S05_a_term_that_is_lost_before_it_began_is_left_out)
{
	struct kustos_client *looped = looped_open();
	char first[NODE_SIZE];
	struct raw_names names;

	inject_thread(INJECT_PROGRAM, -1);
	chief_run(&ours, looped, chief_options(NULL, 0));
	while (!kustos_selector_leads(ours.selector))
		loop_once(looped);
	loop_once(looped); /* it is told that it leads */
	ck_assert_int_eq(raw_children(fixture_address(), LINE, &names), 0);
	ck_assert_int_eq(names.count, 1);
	snprintf(first, sizeof(first), LINE "/%s", names.names[0]);
	raw_names_free(&names);
	ck_assert_int_eq(raw_delete(fixture_address(), first), 0);
	chief_becomes(&ours, KUSTOS_SELECTOR_LOST);
	loop_once(looped); /* and that it no longer does */
	ck_assert_int_eq(atomic_load(&ours.begun), 0);
	inject_thread(INJECT_PROGRAM, 0);
	while (atomic_load(&ours.begun) == 0)
		loop_once(looped);
	chief_leads(&ours, 1);
	ck_assert_str_ne(ours.node, first);
	chief_end(&ours);
	client_close(looped);
}
END_TEST

/* A selector can be destroyed even if its function was never called. */
START_TEST(without_a_thread_it_is_destroyed_all_the_same)
{
	struct kustos_client *looped = looped_open();

	inject_thread(INJECT_PROGRAM, -1);
	chief_run(&ours, looped, chief_options(NULL, 0));
	while (!kustos_selector_leads(ours.selector))
		loop_once(looped);
	loop_once(looped); /* it is told that it leads */
	chief_end(&ours);
	ck_assert_int_eq(atomic_load(&ours.begun), 0);
	line_wait(0);
	inject_thread(INJECT_PROGRAM, 0);
	client_close(looped);
}
END_TEST

/* The n-th thread cannot be created; that is retried soon. */
START_TEST(without_a_thread_it_leads_a_moment_later)
{
	chief_make(&ours, client, chief_options(NULL, 0));
	inject_thread(INJECT_PROGRAM, 1 + _i);
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	chief_leads(&ours, 1);
	inject_thread(INJECT_PROGRAM, 0);
	chief_end(&ours);
	pair_flush();
}
END_TEST

/* --- Memory -------------------------------------------------------------- */

static void lead_briefly(void *arg, struct kustos_selector *s,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	(void)s;
	(void)hold;
	(void)cancel;
	atomic_fetch_add((atomic_int *)arg, 1);
}

/* A selector that leads once, or reports why it did not. */
static enum kustos_err one_term(void)
{
	struct kustos_selector_options o = chief_options(NULL, 0);
	struct kustos_selector *s = NULL;
	int64_t end = test_now_ms() + PATIENCE_MS;
	atomic_int led = 0;
	enum kustos_err err;

	o.lead = lead_briefly;
	o.arg = &led;
	err = kustos_selector_create(client, LINE, &o, &s);
	if (err == KUSTOS_OK)
		err = kustos_selector_start(s);
	while (err == KUSTOS_OK && atomic_load(&led) == 0 &&
		test_now_ms() < end) {
		test_pause_1ms();
		err = kustos_selector_error(s);
	}
	if (err == KUSTOS_OK && atomic_load(&led) != 1)
		err = KUSTOS_ETIMEDOUT;
	kustos_selector_destroy(s);
	return err;
}

static void check_left(const struct alloc_call *call, enum kustos_err err)
{
	(void)call;
	(void)err;
	pair_flush();
	ck_assert_int_eq(line_count(), 0);
	hold_give(hold_take(mutex));
	pair_flush();
}

START_TEST(every_allocation_may_fail)
{
	static const struct alloc_call call = { "one term", one_term, false };

	allocs_fail_each(&call, NULL, check_left);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("selector, callbacks");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, its_own_function_may_call_anything, 0, OWN);
	tcase_add_loop_test(t, it_may_be_ended_in_a_callback_of_its_hold, 0, 2);
	tcase_add_loop_test(t,
		a_close_waits_for_the_function_and_the_next_for_the_close, 0,
		2);
	tcase_add_test(t, a_callback_that_sleeps_does_not_keep_it_from_leading);
	tcase_add_test(t, many_lead_at_the_same_time);
	tcase_add_test(t, it_leads_beside_a_programs_own_loop);
	tcase_add_test(t, without_a_thread_it_is_destroyed_all_the_same);
	tcase_add_loop_test(t, without_a_thread_it_leads_a_moment_later, 0, 2);
	tcase_add_test(t, S05_a_term_that_is_lost_before_it_began_is_left_out);
	tcase_add_test(t, every_allocation_may_fail);
	return fixture_main(s);
}
