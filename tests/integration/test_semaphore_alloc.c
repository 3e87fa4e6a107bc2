/*
 * test_semaphore_alloc.c - each allocation of each call of a semaphore fails
 * once (allocs.h): the call either reports this or does without the memory, and
 * leaves nothing behind.
 */
#include "allocs.h"
#include "inject.h"
#include "semaphore_fixture.h"

#define T_MS 6000 /* what cannot be sent is retried after an eighth of this */
#define MAX 2

static struct kustos_hold *full[MAX]; /* before some of the calls */
static struct raw *eye;

static void set_up(void)
{
	inject_reset();
	client = client_connected(fixture_address(), T_MS);
	sem = sem_new(client, MAX);
	eye = raw_open(fixture_address(), 60000);
	ck_assert_ptr_nonnull(eye);
}

static void tear_down(void)
{
	inject_reset();
	raw_close(eye);
	kustos_semaphore_destroy(sem);
	client_close(client);
}

static void check_empty(const char *path)
{
	struct raw_stat stat = { 0 };
	int rc = raw_do_exists(eye, path, &stat);

	ck_assert(rc == 0 || rc == RAW_NONODE);
	ck_assert_int_eq(stat.num_children, 0);
}

static enum kustos_err call_shared(void)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_semaphore *one = NULL;
	struct kustos_hold *hold = NULL;
	enum kustos_err err;

	o.max_path = NUMBER;
	o.holder_record = 1;
	o.reason = "why";
	err = kustos_semaphore_create(client, SEM, &o, &one);
	if (err != KUSTOS_OK)
		return err;
	err = kustos_semaphore_set_max(one, 1, SOON, NULL);
	if (err == KUSTOS_OK)
		err = kustos_semaphore_acquire(one, SOON, NULL, &hold);
	if (err == KUSTOS_OK)
		err = kustos_semaphore_set_data(one, "data", 4);
	allocs_expect(kustos_hold_release(hold) == KUSTOS_OK);
	kustos_semaphore_destroy(one);
	return err;
}

static enum kustos_err call_many(void)
{
	struct kustos_hold *holds[MAX];
	enum kustos_err err = kustos_semaphore_acquire_many(sem, MAX, SOON,
		NULL, holds);

	for (int i = 0; err == KUSTOS_OK && i < MAX; i++)
		allocs_expect(kustos_hold_release(holds[i]) == KUSTOS_OK);
	return err;
}

static enum kustos_err call_try(void)
{
	struct kustos_hold *hold = NULL;
	enum kustos_err err = kustos_semaphore_acquire(sem, KUSTOS_NOW, NULL,
		&hold);

	allocs_expect(kustos_hold_release(hold) == KUSTOS_OK);
	return err;
}

static enum kustos_err call_mutex(void)
{
	struct kustos_semaphore_mutex *lock = NULL;
	enum kustos_err err = kustos_semaphore_mutex_create(client, SEM, NULL,
		&lock);

	if (err == KUSTOS_OK)
		err = kustos_semaphore_mutex_lock(lock, SOON, NULL);
	kustos_semaphore_mutex_destroy(lock);
	return err;
}

static void leave(void)
{
	for (int i = 0; i < MAX; i++)
		allocs_expect(kustos_hold_release(full[i]) == KUSTOS_OK);
}

/* Two wait, and get what the others release. */
static enum kustos_err call_wait(void)
{
	struct ask asks[2] = { { .calls = 0 } };
	enum kustos_err err = KUSTOS_OK, ended;
	int asked = 0;

	while (asked < 2 && err == KUSTOS_OK) {
		err = kustos_semaphore_acquire_async(sem, SOON, NULL, ask_ended,
			&asks[asked]);
		asked += err == KUSTOS_OK;
	}
	leave();
	ended = asks_end(asks, asked);
	if (ended != KUSTOS_OK)
		err = ended;
	return err;
}

static enum kustos_err call_timeout(void)
{
	struct kustos_hold *hold = NULL;
	enum kustos_err err = kustos_semaphore_acquire(sem, kustos_after_ms(15),
		NULL, &hold);

	allocs_expect(hold == NULL);
	leave();
	return err == KUSTOS_ETIMEDOUT ? KUSTOS_OK : err;
}

static enum kustos_err call_busy(void)
{
	struct kustos_hold *hold = NULL;
	enum kustos_err err = kustos_semaphore_acquire(sem, KUSTOS_NOW, NULL,
		&hold);

	allocs_expect(hold == NULL);
	leave();
	return err == KUSTOS_EBUSY ? KUSTOS_OK : err;
}

static const struct alloc_call calls[] = {
	{ "a shared number", call_shared, false },
	{ "several", call_many, false },
	{ "try", call_try, false },
	{ "mutex", call_mutex, false },
	{ "wait", call_wait, true },
	{ "time out", call_timeout, true },
	{ "be refused", call_busy, true },
};
#define CALLS (int)(sizeof(calls) / sizeof(calls[0]))

static void fill(const struct alloc_call *call)
{
	if (call->full)
		sem_take_many(sem, MAX, full);
}

static void check_left(const struct alloc_call *call, enum kustos_err err)
{
	(void)call;
	(void)err;
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	check_empty(LEASES);
	check_empty(LOCKS);
	hold_give(sem_take(sem));
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
}

START_TEST(every_allocation_of_a_call_may_fail)
{
	allocs_fail_each_of(client, &calls[_i], fill, check_left);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("semaphore, alloc");
	TCase *t = fixture_case(s, "alloc", 180);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, every_allocation_of_a_call_may_fail, 0, CALLS);
	return fixture_main(s);
}
