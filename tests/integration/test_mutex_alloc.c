/*
 * test_mutex_alloc.c - every allocation of every call of a mutex fails once:
 * the call says so or does without, and nothing is left behind.
 *
 * That nothing leaks is for a run with the address sanitizer to see.
 */
#include "child.h"
#include "inject.h"
#include "mutex_fixture.h"

#include <kustos/participant.h>

#include <string.h>

#define T_MS 4000
#define MOST 300 /* allocations that no call reaches */
#define RIVALS 3

static struct kustos_client *client;
static struct kustos_mutex *mutex;
static struct child line; /* a process, whose memory is its own */

/* Fill the line, and empty it from the front, as often as told. */
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

/* libcheck takes memory for each check, so there are none before disarm(). */
static bool well = true;

static void expect(bool cond)
{
	well = well && cond;
}

static void tell_rivals(const char *what)
{
	expect(child_say(line.fd, what) == 0);
	expect(child_expect(line.fd, "done", PATIENCE_MS));
}

static void set_up(void)
{
	inject_reset();
	ck_assert_int_eq(child_start(&line, rivals_main, NULL), 0);
	client = client_connected(fixture_address(), T_MS);
	mutex = mutex_new(client, 0);
}

static void tear_down(void)
{
	inject_reset();
	kustos_mutex_destroy(mutex);
	client_close(client);
	child_end(&line);
}

/* Nothing more fails: what follows belongs to the test. */
static void disarm(void)
{
	inject_alloc(INJECT_PROGRAM, 0);
	ck_assert(well);
}

static enum kustos_err flushed(enum kustos_err err)
{
	disarm();
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	return err;
}

typedef enum kustos_err call_fn(void);

static enum kustos_err call_create(void)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *m = NULL;
	enum kustos_err err;

	o.holder_record = 1;
	o.reason = "why";
	err = kustos_mutex_create(client, "/other/line", &o, &m);
	if (err != KUSTOS_OK)
		return err;
	err = kustos_mutex_lock(m, SOON, NULL);
	if (err == KUSTOS_OK)
		expect(kustos_mutex_unlock(m) == KUSTOS_OK);
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
	expect(kustos_hold_on_lost(hold, count_call, &lost) == KUSTOS_OK);
	err = kustos_hold_at_risk(hold, 10, count_call, &lost);
	if (err == KUSTOS_OK)
		err = kustos_hold_multi(hold, &op, 1, SOON, NULL, NULL);
	expect(kustos_hold_release(hold) == KUSTOS_OK);
	expect(calls_of(&lost) == 0);
	return flushed(err);
}

static enum kustos_err call_try(void)
{
	enum kustos_err err = kustos_mutex_lock(mutex, KUSTOS_NOW, NULL);

	if (err == KUSTOS_OK)
		expect(kustos_mutex_unlock(mutex) == KUSTOS_OK);
	return flushed(err);
}

/* Those for which the line is full when they begin. */
static enum kustos_err call_wait(void)
{
	struct ask asks[2] = { { .calls = 0 } };
	enum kustos_err err = KUSTOS_OK;
	int64_t end = test_now_ms() + PATIENCE_MS;
	int asked = 0, ended = 0;

	while (asked < 2 && err == KUSTOS_OK) {
		err = ask_try(&asks[asked], mutex, SOON);
		asked += err == KUSTOS_OK;
	}
	tell_rivals("leave");
	for (; ended < asked && test_now_ms() < end; test_pause_1ms())
		for (int i = 0; i < asked; i++) {
			if (atomic_exchange(&asks[i].calls, 0) == 0)
				continue;
			ended++;
			if (asks[i].err != KUSTOS_OK)
				err = asks[i].err;
			else
				expect(kustos_hold_release(asks[i].hold) ==
					KUSTOS_OK);
		}
	expect(ended == asked);
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
		err = kustos_participant_revoke(client, p->list[0].path, SOON,
			NULL);
	if (err == KUSTOS_OK)
		err = kustos_participant_break(client, &p->list[0], SOON, NULL);
	if (err == KUSTOS_OK)
		err = kustos_line_clean(client, LINE, SOON, NULL);
	disarm();
	kustos_participants_free(p);
	tell_rivals("leave");
	return err;
}

static const struct call {
	const char *name;
	call_fn *fn;
	bool full; /* behind rivals */
} calls[] = {
	{ "create", call_create, false },
	{ "lock", call_lock, false },
	{ "hold", call_hold, false },
	{ "try", call_try, false },
	{ "wait", call_wait, true },
	{ "time out", call_timeout, true },
	{ "be refused", call_busy, true },
	{ "participants", call_participants, true },
};
#define CALLS (int)(sizeof(calls) / sizeof(calls[0]))

START_TEST(every_allocation_of_a_call_may_fail)
{
	const struct call *call = &calls[_i];
	int refused = 0, n, used;

	client_create(client, "/thing", 0);
	for (n = 1; n < MOST; n++) {
		if (call->full)
			tell_rivals("enter");
		int before = inject_allocs(INJECT_PROGRAM);
		inject_alloc(INJECT_PROGRAM, n);
		enum kustos_err err = call->fn();
		used = inject_allocs(INJECT_PROGRAM) - before;
		disarm();
		ck_assert_msg(err == KUSTOS_OK || err == KUSTOS_ENOMEM,
			"%s, allocation %d: %s", call->name, n,
			kustos_err_name(err));
		refused += err == KUSTOS_ENOMEM;
		ck_assert_int_eq(line_count(), 0);
		hold_give(hold_take(mutex));
		check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
		if (used < n)
			break;
	}
	ck_assert_int_lt(n, MOST);
	ck_assert_int_gt(refused, 0);
	ck_assert_uint_eq(client_stats(client).disconnects, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, alloc");
	TCase *t = fixture_case(s, "alloc", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, every_allocation_of_a_call_may_fail, 0, CALLS);
	return fixture_main(s);
}
