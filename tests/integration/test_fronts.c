/*
 * test_fronts.c - callback forms of calls that only send a request: each does
 * the same as its waiting form, and its callback gets the outcome exactly once,
 * whatever that is.
 */
#include "allocs.h"
#include "faults.h"
#include "inject.h"

#include <kustos/barrier.h>
#include <kustos/cancel.h>
#include <kustos/countdown.h>
#include <kustos/semaphore.h>

#include <stdatomic.h>
#include <string.h>

#define T_MS 20000
#define BARRIER "/fronts/barrier"

static struct kustos_barrier *barrier;

/* A call, on the objects above.  If "end" is NULL it has no callback. */
struct front {
	const char *name;
	void (*prepare)(void); /* gives the call something to do */
	enum kustos_err (*ask)(kustos_deadline deadline,
		struct kustos_cancel *cancel, struct end *end);
	bool (*is_done)(void);
};

static bool is_there(const char *path)
{
	return raw_exists(fixture_address(), path, NULL) == 0;
}

static void no_barrier(void)
{
	(void)raw_delete(fixture_address(), BARRIER);
}

static enum kustos_err ask_set(kustos_deadline deadline,
	struct kustos_cancel *cancel, struct end *end)
{
	return kustos_barrier_set_async(barrier, deadline, cancel,
		end != NULL ? end_told : NULL, end);
}

static bool is_set(void)
{
	return is_there(BARRIER);
}

static void a_barrier(void)
{
	(void)raw_create(fixture_address(), "/fronts", "");
	(void)raw_create(fixture_address(), BARRIER, "");
}

static enum kustos_err ask_remove(kustos_deadline deadline,
	struct kustos_cancel *cancel, struct end *end)
{
	return kustos_barrier_remove_async(barrier, deadline, cancel,
		end != NULL ? end_told : NULL, end);
}

static bool is_removed(void)
{
	return !is_there(BARRIER);
}

static struct kustos_hold *hold;

#define THING "/fronts/thing"

static void no_thing(void)
{
	(void)raw_create(fixture_address(), "/fronts", "");
	(void)raw_delete(fixture_address(), THING);
}

/* Only the first call creates the node.  No check of libcheck here, as memory
   may be short. */
static void multi_told(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	if (err == KUSTOS_OK || err == KUSTOS_EEXISTS)
		err = result->result_count == 1 && result->results[0].err == err
			? KUSTOS_OK
			: KUSTOS_EUNKNOWN;
	end_told(arg, err);
}

static enum kustos_err ask_guarded(kustos_deadline deadline,
	struct kustos_cancel *cancel, struct end *end)
{
	const struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = THING };

	return kustos_hold_multi_async(hold, &op, 1, deadline, cancel,
		end != NULL ? multi_told : NULL, end);
}

static bool is_made(void)
{
	return is_there(THING);
}

static struct kustos_countdown *countdown, *others;
static atomic_int looks;

#define LATCH "/fronts/latch"

static void no_latch(void)
{
	(void)raw_delete_tree(fixture_address(), LATCH);
}

static enum kustos_err ask_count(kustos_deadline deadline,
	struct kustos_cancel *cancel, struct end *end)
{
	return kustos_countdown_set_async(countdown, deadline, cancel,
		end != NULL ? end_told : NULL, end);
}

static bool is_counted(void)
{
	struct kustos_countdown_status *status = NULL;
	enum kustos_err err = kustos_countdown_look(others, SOON, NULL,
		&status);
	bool two = err == KUSTOS_OK && status->count == 2;

	kustos_countdown_status_free(status);
	return two;
}

static void a_latch(void)
{
	check_err(kustos_countdown_done(others, "a", SOON, NULL), KUSTOS_OK);
	atomic_store(&looks, 0);
}

/* No check of libcheck here, as memory may be short. */
static void look_told(void *arg, enum kustos_err err,
	const struct kustos_countdown_status *status)
{
	if ((err == KUSTOS_OK) != (status != NULL) ||
		(status != NULL && status->done != 1))
		err = KUSTOS_EUNKNOWN;
	if (err == KUSTOS_OK)
		atomic_fetch_add(&looks, 1);
	end_told(arg, err);
}

static enum kustos_err ask_look(kustos_deadline deadline,
	struct kustos_cancel *cancel, struct end *end)
{
	return kustos_countdown_look_async(countdown, deadline, cancel,
		end != NULL ? look_told : NULL, end);
}

static bool is_looked_at(void)
{
	return atomic_load(&looks) > 0;
}

static struct kustos_semaphore *sem;

#define NUMBER "/fronts/number"

static void no_number(void)
{
	(void)raw_delete(fixture_address(), NUMBER);
}

static void another_number(void)
{
	(void)raw_create(fixture_address(), "/fronts", "");
	(void)raw_create(fixture_address(), NUMBER, "");
	(void)raw_set(fixture_address(), NUMBER, "many");
}

static enum kustos_err ask_set_max(kustos_deadline deadline,
	struct kustos_cancel *cancel, struct end *end)
{
	return kustos_semaphore_set_max_async(sem, 0x01020304, deadline, cancel,
		end != NULL ? end_told : NULL, end);
}

static bool is_number(void)
{
	struct raw *raw = raw_open(fixture_address(), 30000);
	char data[8] = "";
	struct raw_stat stat;
	int rc = raw_do_get(raw, NUMBER, data, sizeof(data), &stat);

	raw_close(raw);
	return rc == 0 && memcmp(data, "\1\2\3\4", 4) == 0;
}

static const struct front fronts[] = {
	{ "barrier_set", no_barrier, ask_set, is_set },
	{ "barrier_remove", a_barrier, ask_remove, is_removed },
	{ "hold_multi", no_thing, ask_guarded, is_made },
	{ "semaphore_set_max", another_number, ask_set_max, is_number },
	{ "semaphore_set_max, made", no_number, ask_set_max, is_number },
	{ "countdown_set", no_latch, ask_count, is_counted },
	{ "countdown_look", a_latch, ask_look, is_looked_at },
};
#define FRONTS (int)(sizeof(fronts) / sizeof(fronts[0]))

static void make(void)
{
	struct kustos_semaphore_options numbered = KUSTOS_SEMAPHORE_OPTIONS_INIT;

	check_err(kustos_barrier_create(client, BARRIER, NULL, &barrier),
		KUSTOS_OK);
	hold = hold_take(mutex);
	numbered.max_path = NUMBER;
	check_err(
		kustos_semaphore_create(client, "/fronts/sem", &numbered, &sem),
		KUSTOS_OK);
	check_err(kustos_countdown_create(client, LATCH, 2, NULL, &countdown),
		KUSTOS_OK);
	check_err(kustos_countdown_create(other, LATCH, 0, NULL, &others),
		KUSTOS_OK);
}

static void set_up(void)
{
	faults_open(T_MS);
	make();
}

/* Without a proxy: it would run short of memory in this process as well, and
   disconnect the client. */
static void set_up_direct(void)
{
	inject_reset();
	pair_open(T_MS, 0);
	make();
}

static void destroy(void)
{
	kustos_barrier_destroy(barrier);
	kustos_hold_release(hold);
	kustos_semaphore_destroy(sem);
	kustos_countdown_destroy(countdown);
	kustos_countdown_destroy(others);
	barrier = NULL;
	sem = NULL;
	countdown = others = NULL;
	hold = NULL;
}

static void tear_down(void)
{
	inject_reset();
	destroy();
	pair_close();
}

static void ask_well(const struct front *front)
{
	struct end end = { .calls = 0 };

	check_err(front->ask(SOON, NULL, &end), KUSTOS_OK);
	check_err(end_wait(&end, PATIENCE_MS), KUSTOS_OK);
	ck_assert_msg(front->is_done(), "%s is not done", front->name);
}

START_TEST(each_is_done_and_may_be_asked_for_again)
{
	const struct front *front = &fronts[_i];

	front->prepare();
	ck_assert(!front->is_done());
	ask_well(front);
	ask_well(front);
	check_err(front->ask(SOON, NULL, NULL), KUSTOS_EINVAL);
}
END_TEST

START_TEST(L20_each_ends_while_there_is_no_connection)
{
	const struct front *front = &fronts[_i];
	struct end canceled = { .calls = 0 }, late = canceled, now = canceled;
	struct end patient = canceled, never = canceled;
	struct kustos_cancel *cancel = NULL;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	front->prepare();
	faults_disconnect();
	check_err(front->ask(SOON, NULL, &patient), KUSTOS_OK);
	check_err(front->ask(SOON, cancel, &canceled), KUSTOS_OK);
	check_err(front->ask(kustos_after_ms(30), NULL, &late), KUSTOS_OK);
	check_err(front->ask(KUSTOS_NOW, NULL, &now), KUSTOS_OK);
	check_err(end_wait(&now, PATIENCE_MS), KUSTOS_EDISCONNECTED);
	check_err(end_wait(&late, PATIENCE_MS), KUSTOS_ETIMEDOUT);
	ck_assert_int_eq(end_calls(&canceled), 0);
	kustos_cancel_fire(cancel);
	check_err(end_wait(&canceled, PATIENCE_MS), KUSTOS_ECANCELED);
	check_err(front->ask(SOON, cancel, &never), KUSTOS_ECANCELED);
	ck_assert_int_eq(end_calls(&patient), 0);
	ck_assert(!front->is_done());
	inject_connect(0);
	check_err(end_wait(&patient, PATIENCE_MS), KUSTOS_OK);
	ck_assert(front->is_done());
	ck_assert_int_eq(end_calls(&never), 0);
	kustos_cancel_destroy(cancel);
}
END_TEST

START_TEST(a_latch_that_says_another_count_is_left_as_it_is)
{
	struct kustos_countdown *three = NULL;
	struct end end = { .calls = 0 };

	no_latch();
	check_err(kustos_countdown_create(other, LATCH, 3, NULL, &three),
		KUSTOS_OK);
	check_err(kustos_countdown_set(three, SOON, NULL), KUSTOS_OK);
	check_err(ask_count(SOON, NULL, &end), KUSTOS_OK);
	check_err(end_wait(&end, PATIENCE_MS), KUSTOS_EDISAGREE);
	ck_assert(!is_counted());
	check_err(
		kustos_countdown_set_async(others, SOON, NULL, end_told, &end),
		KUSTOS_EINVAL);
	kustos_countdown_destroy(three);
}
END_TEST

/* The object of the call may be destroyed before it ends. */
START_TEST(L01_each_is_told_when_the_client_is_closed)
{
	const struct front *front = &fronts[_i];
	struct end end = { .calls = 0 };

	front->prepare();
	faults_disconnect();
	check_err(front->ask(KUSTOS_FOREVER, NULL, &end), KUSTOS_OK);
	destroy();
	ck_assert_int_eq(end_calls(&end), 0);
	kustos_mutex_destroy(mutex);
	client_drop(client);
	check_err(end_wait(&end, PATIENCE_MS), KUSTOS_ECLOSED);
	mutex = NULL;
	client = NULL;
}
END_TEST

static const struct front *asked; /* by ask_asked() */

static enum kustos_err ask_asked(void)
{
	struct end end = { .calls = 0 };
	enum kustos_err err = asked->ask(SOON, NULL, &end);

	while (err == KUSTOS_OK && end_calls(&end) == 0)
		test_pause_1ms();
	return err != KUSTOS_OK ? err : end.err;
}

static void before(const struct alloc_call *call)
{
	(void)call;
	asked->prepare();
}

static void after(const struct alloc_call *call, enum kustos_err err)
{
	pair_flush();
	ck_assert_msg(err != KUSTOS_OK || asked->is_done(), "%s is not done",
		call->name);
}

START_TEST(every_allocation_of_each_may_fail)
{
	const struct alloc_call call = { fronts[_i].name, ask_asked, false };

	asked = &fronts[_i];
	allocs_fail_each(&call, before, after);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fronts");
	TCase *t = fixture_case(s, "one server", 60);
	TCase *alloc = fixture_case(s, "alloc", 60);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, each_is_done_and_may_be_asked_for_again, 0,
		FRONTS);
	tcase_add_loop_test(t, L20_each_ends_while_there_is_no_connection, 0,
		FRONTS);
	tcase_add_loop_test(t, L01_each_is_told_when_the_client_is_closed, 0,
		FRONTS);
	tcase_add_test(t, a_latch_that_says_another_count_is_left_as_it_is);
	tcase_add_checked_fixture(alloc, set_up_direct, tear_down);
	tcase_add_loop_test(alloc, every_allocation_of_each_may_fail, 0,
		FRONTS);
	return fixture_main(s);
}
