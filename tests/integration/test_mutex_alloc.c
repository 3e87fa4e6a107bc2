/*
 * test_mutex_alloc.c - each allocation of each call of a mutex, and of a few
 * recipes on the same engine, fails once (allocs.h): the call either reports
 * this or does without the memory, and leaves nothing behind.
 */
#include "allocs.h"
#include "child.h"
#include "inject.h"
#include "mutex_fixture.h"

#include <kustos/lockable.h>
#include <kustos/participant.h>
#include <kustos/simple.h>

#include <string.h>

#define T_MS 6000 /* what cannot be sent is retried after an eighth of this */
#define RIVALS 3
#define TAKEN "/taken" /* held by somebody else */

static struct kustos_client *client;
static struct kustos_mutex *mutex;
static struct raw *taken_by;
static struct child line; /* a process, so that its memory is its own */

/* Fill the line, and empty it from the front, as often as asked. */
static int rivals_main(int fd, void *arg)
{
	struct rival rivals[RIVALS];

	(void)arg;
	while (child_expect(fd, "enter", PATIENCE_MS)) {
		for (int i = 0; i < RIVALS; i++)
			rival_enter(&rivals[i]);
		child_say(fd, "done");
		if (!child_expect(fd, "leave", PATIENCE_MS))
			break;
		for (int i = 0; i < RIVALS; i++)
			rival_leave(&rivals[i]);
		child_say(fd, "done");
	}
	return 0;
}

static void tell_rivals(const char *what)
{
	allocs_expect(child_say(line.fd, what) == 0);
	allocs_expect(child_expect(line.fd, "done", PATIENCE_MS));
}

static void set_up(void)
{
	inject_reset();
	ck_assert_int_eq(child_start(&line, rivals_main, NULL), 0);
	taken_by = raw_open(fixture_address(), 60000);
	ck_assert_ptr_nonnull(taken_by);
	ck_assert_int_eq(
		raw_do_create(taken_by, TAKEN, "", RAW_EPHEMERAL, NULL, 0), 0);
	client = client_connected(fixture_address(), T_MS);
	mutex = mutex_new(client, 0);
}

static void tear_down(void)
{
	inject_reset();
	kustos_mutex_destroy(mutex);
	client_close(client);
	raw_close(taken_by);
	child_end(&line);
}

static enum kustos_err flushed(enum kustos_err err)
{
	allocs_disarm();
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	return err;
}

static enum kustos_err call_create(void)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *m = NULL;
	enum kustos_err err;

	o.holder_record = 1;
	o.reason = "why";
	o.extra_marks = "ex,mine-";
	err = kustos_mutex_create(client, "/other/line", &o, &m);
	if (err != KUSTOS_OK)
		return err;
	err = kustos_mutex_lock(m, SOON, NULL);
	if (err == KUSTOS_OK)
		allocs_expect(kustos_mutex_unlock(m) == KUSTOS_OK);
	kustos_mutex_destroy(m);
	return flushed(err);
}

static enum kustos_err call_lock(void)
{
	enum kustos_err err = kustos_mutex_lock(mutex, SOON, NULL);

	if (err == KUSTOS_OK)
		err = kustos_mutex_lock(mutex, SOON, NULL);
	while (kustos_mutex_unlock(mutex) != KUSTOS_ENOTHELD)
		;
	return flushed(err);
}

static enum kustos_err call_hold(void)
{
	struct kustos_op op = { .kind = KUSTOS_OP_SET,
		.path = "/thing",
		.version = -1 };
	struct kustos_hold *hold = NULL;
	int lost = 0;
	enum kustos_err err = kustos_mutex_acquire(mutex, SOON, NULL, &hold);

	if (err != KUSTOS_OK)
		return flushed(err);
	allocs_expect(
		kustos_hold_on_lost(hold, count_call, &lost) == KUSTOS_OK);
	err = kustos_hold_at_risk(hold, 10, count_call, &lost);
	if (err == KUSTOS_OK)
		err = kustos_hold_multi(hold, &op, 1, SOON, NULL, NULL);
	allocs_expect(kustos_hold_release(hold) == KUSTOS_OK);
	allocs_expect(calls_of(&lost) == 0);
	return flushed(err);
}

static enum kustos_err call_together(void)
{
	struct kustos_mutex *another = NULL;
	struct kustos_hold *hold = NULL;
	enum kustos_err err = kustos_mutex_create(client, "/other/one", NULL,
		&another);
	struct kustos_lockable both[] = { kustos_mutex_lockable(mutex),
		kustos_mutex_lockable(another) };
	struct ask a = { .calls = 0 };

	if (err == KUSTOS_OK)
		err = kustos_acquire_all(both, 2, SOON, NULL, &hold);
	if (err == KUSTOS_OK)
		allocs_expect(kustos_hold_release(hold) == KUSTOS_OK);
	if (err == KUSTOS_OK)
		err = kustos_acquire_all_async(both, 2, SOON, NULL, ask_ended,
			&a);
	if (err == KUSTOS_OK) {
		while (atomic_load(&a.calls) == 0)
			test_pause_1ms();
		err = a.err;
		allocs_expect(kustos_hold_release(a.hold) == KUSTOS_OK);
	}
	kustos_mutex_destroy(another);
	return flushed(err);
}

/* A simple lock that is free, and one that is held by somebody else. */
static enum kustos_err call_simple(void)
{
	struct kustos_simple *lock = NULL, *taken = NULL;
	struct kustos_hold *hold = NULL;
	enum kustos_err err = kustos_simple_create(client, "/other/node", NULL,
		&lock);

	if (err == KUSTOS_OK)
		err = kustos_simple_acquire(lock, SOON, NULL, &hold);
	if (err == KUSTOS_OK)
		err = kustos_hold_release(hold);
	if (err == KUSTOS_OK)
		err = kustos_simple_create(client, TAKEN, NULL, &taken);
	if (err == KUSTOS_OK)
		err = kustos_simple_acquire(taken, kustos_after_ms(30), NULL,
			&hold);
	if (err == KUSTOS_ETIMEDOUT)
		err = KUSTOS_OK;
	kustos_simple_destroy(lock);
	kustos_simple_destroy(taken);
	return flushed(err);
}

static enum kustos_err call_try(void)
{
	enum kustos_err err = kustos_mutex_lock(mutex, KUSTOS_NOW, NULL);

	if (err == KUSTOS_OK)
		allocs_expect(kustos_mutex_unlock(mutex) == KUSTOS_OK);
	return flushed(err);
}

/* Calls before which the line is filled. */
static enum kustos_err call_wait(void)
{
	struct ask asks[2] = { { .calls = 0 } };
	enum kustos_err err = KUSTOS_OK, ended;
	int asked = 0;

	while (asked < 2 && err == KUSTOS_OK) {
		err = ask_try(&asks[asked], mutex, SOON);
		asked += err == KUSTOS_OK;
	}
	tell_rivals("leave");
	ended = asks_end(asks, asked);
	if (ended != KUSTOS_OK)
		err = ended;
	return flushed(err);
}

static enum kustos_err call_timeout(void)
{
	enum kustos_err err = kustos_mutex_lock(mutex, kustos_after_ms(15),
		NULL);

	flushed(err);
	ck_assert_int_eq(line_count(), RIVALS);
	tell_rivals("leave");
	return err == KUSTOS_ETIMEDOUT ? KUSTOS_OK : err;
}

static enum kustos_err call_busy(void)
{
	enum kustos_err err = kustos_mutex_lock(mutex, KUSTOS_NOW, NULL);

	flushed(err);
	ck_assert_int_eq(line_count(), RIVALS);
	tell_rivals("leave");
	return err == KUSTOS_EBUSY ? KUSTOS_OK : err;
}

static enum kustos_err call_participants(void)
{
	struct kustos_participants *p = NULL;
	enum kustos_err err = kustos_participants(client, LINE, SOON, NULL, &p);

	if (err == KUSTOS_OK)
		err = kustos_participant_revoke(client, p->list[0]->path, SOON,
			NULL);
	if (err == KUSTOS_OK)
		err = kustos_participant_break(client, p->list[0], SOON, NULL);
	if (err == KUSTOS_OK)
		err = kustos_line_clean(client, LINE, SOON, NULL);
	allocs_disarm();
	kustos_participants_free(p);
	tell_rivals("leave");
	return err;
}

static const struct alloc_call calls[] = {
	{ "create", call_create, false },
	{ "lock", call_lock, false },
	{ "hold", call_hold, false },
	{ "together", call_together, false },
	{ "simple", call_simple, false },
	{ "try", call_try, false },
	{ "wait", call_wait, true },
	{ "time out", call_timeout, true },
	{ "be refused", call_busy, true },
	{ "participants", call_participants, true },
};
#define CALLS (int)(sizeof(calls) / sizeof(calls[0]))

static void fill(const struct alloc_call *call)
{
	if (call->full)
		tell_rivals("enter");
}

static void check_left(const struct alloc_call *call, enum kustos_err err)
{
	(void)call;
	(void)err;
	ck_assert_int_eq(line_count(), 0);
	hold_give(hold_take(mutex));
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
}

START_TEST(every_allocation_of_a_call_may_fail)
{
	client_create(client, "/thing", 0);
	allocs_fail_each_of(client, &calls[_i], fill, check_left);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, alloc");
	TCase *t = fixture_case(s, "alloc", 180);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, every_allocation_of_a_call_may_fail, 0, CALLS);
	return fixture_main(s);
}
