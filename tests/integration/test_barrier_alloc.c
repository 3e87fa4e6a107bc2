/*
 * test_barrier_alloc.c - each allocation of each call of the barriers and of
 * the count-down latch fails once (allocs.h): the call either reports this or
 * does without the memory, and leaves nothing behind.
 */
#include "allocs.h"
#include "crew.h"
#include "inject.h"

#include <kustos/countdown.h>

#define LATCH "/barriers/latch"

static void set_up(void)
{
	inject_reset();
	crew_set_up();
}

static void tear_down(void)
{
	inject_reset();
	crew_tear_down();
}

static enum kustos_err call_simple(void)
{
	struct kustos_barrier *b = NULL;
	enum kustos_err err = kustos_barrier_create(client, BARRIER, NULL, &b);

	if (err == KUSTOS_OK)
		err = kustos_barrier_set(b, SOON, NULL);
	if (err == KUSTOS_OK &&
		kustos_barrier_wait(b, kustos_after_ms(5), NULL) ==
			KUSTOS_ENOMEM)
		err = KUSTOS_ENOMEM;
	if (err == KUSTOS_OK)
		err = kustos_barrier_remove(b, SOON, NULL);
	if (err == KUSTOS_OK)
		err = kustos_barrier_wait(b, SOON, NULL);
	kustos_barrier_destroy(b);
	return err;
}

static enum kustos_err call_double(void)
{
	struct kustos_double_barrier *m = NULL;
	enum kustos_err err = kustos_double_barrier_create(client, STEP, 1,
		NULL, &m);

	if (err == KUSTOS_OK)
		err = kustos_double_barrier_enter(m, SOON, NULL);
	if (err == KUSTOS_OK)
		err = kustos_double_barrier_leave(m, SOON, NULL);
	kustos_double_barrier_destroy(m);
	return err;
}

static enum kustos_err call_latch(void)
{
	struct kustos_countdown_status *status = NULL;
	struct kustos_countdown *c = NULL;
	enum kustos_err err = kustos_countdown_create(client, LATCH, 1, NULL,
		&c);

	if (err == KUSTOS_OK)
		err = kustos_countdown_set(c, SOON, NULL);
	if (err == KUSTOS_OK)
		err = kustos_countdown_join(c, "a", SOON, NULL);
	if (err == KUSTOS_OK)
		err = kustos_countdown_done(c, "a", SOON, NULL);
	if (err == KUSTOS_OK)
		err = kustos_countdown_wait(c, SOON, NULL);
	if (err == KUSTOS_OK)
		err = kustos_countdown_look(c, SOON, NULL, &status);
	if (err == KUSTOS_OK)
		err = kustos_countdown_remove(c, SOON, NULL);
	kustos_countdown_status_free(status);
	kustos_countdown_destroy(c);
	return err;
}

/* The callbacks of these calls run while allocations fail. */
static enum kustos_err call_latch_async(void)
{
	struct kustos_countdown *c = NULL;
	struct end joined = { .calls = 0 }, done = { .calls = 0 };
	enum kustos_err err = kustos_countdown_create(client, LATCH, 1, NULL,
		&c);

	if (err == KUSTOS_OK)
		err = kustos_countdown_join_async(c, "a", SOON, NULL, end_told,
			&joined);
	if (err == KUSTOS_OK) {
		while (end_calls(&joined) == 0)
			test_pause_1ms();
		err = joined.err;
	}
	if (err == KUSTOS_OK)
		err = kustos_countdown_done_async(c, "a", SOON, NULL, end_told,
			&done);
	if (err == KUSTOS_OK) {
		while (end_calls(&done) == 0)
			test_pause_1ms();
		err = done.err;
	}
	kustos_countdown_destroy(c);
	return err;
}

static const struct alloc_call calls[] = {
	{ "simple", call_simple, false },
	{ "double", call_double, false },
	{ "latch", call_latch, false },
	{ "latch, async", call_latch_async, false },
};
#define CALLS (int)(sizeof(calls) / sizeof(calls[0]))

static void check_left(const struct alloc_call *call, enum kustos_err err)
{
	(void)call;
	(void)err;
	pair_flush();
	/* A call that failed may have left the barrier set, or a round
	   unfinished. */
	(void)raw_delete(fixture_address(), BARRIER);
	(void)raw_delete(fixture_address(), READY);
	/* No participant may be left alive, except one whose node could not
	   even be asked to be deleted: that node goes with the session. */
	test_eventually(fixture_children(LATCH) <= 3, 5000);
	(void)raw_delete_tree(fixture_address(), LATCH);
	step_check_empty();
}

/* The proxy runs in this process: a failed allocation of its own disconnects
   the client, too. */
START_TEST(every_allocation_of_a_call_may_fail)
{
	allocs_fail_each(&calls[_i], NULL, check_left);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("barrier, alloc");
	TCase *t = fixture_case(s, "alloc", 180);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, every_allocation_of_a_call_may_fail, 0, CALLS);
	return fixture_main(s);
}
