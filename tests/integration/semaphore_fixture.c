/*
 * semaphore_fixture.c - what tests of the semaphore share.
 */
#include "semaphore_fixture.h"

struct kustos_semaphore *sem, *others;

struct kustos_semaphore *sem_new(struct kustos_client *owner, int max)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_semaphore *from = NULL;

	o.max = max;
	check_err(kustos_semaphore_create(owner, SEM, &o, &from), KUSTOS_OK);
	return from;
}

struct kustos_semaphore *sem_shared(struct kustos_client *owner)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_semaphore *from = NULL;

	o.max_path = NUMBER;
	check_err(kustos_semaphore_create(owner, SEM, &o, &from), KUSTOS_OK);
	return from;
}

struct kustos_hold *sem_take(struct kustos_semaphore *from)
{
	struct kustos_hold *hold = NULL;

	check_err(kustos_semaphore_acquire(from, SOON, NULL, &hold), KUSTOS_OK);
	ck_assert_ptr_nonnull(hold);
	return hold;
}

void sem_take_many(struct kustos_semaphore *from, int count,
	struct kustos_hold **out)
{
	check_err(kustos_semaphore_acquire_many(from, count, SOON, NULL, out),
		KUSTOS_OK);
}

void give_many(struct kustos_hold **holds, int count)
{
	for (int i = 0; i < count; i++)
		hold_give(holds[i]);
}

enum kustos_err sem_try(struct kustos_semaphore *from)
{
	struct kustos_hold *hold = NULL;
	enum kustos_err err = kustos_semaphore_acquire(from, KUSTOS_NOW, NULL,
		&hold);

	ck_assert_int_eq(hold != NULL, err == KUSTOS_OK);
	hold_give(hold);
	return err;
}

void sem_ask(struct ask *a, struct kustos_semaphore *from,
	kustos_deadline deadline)
{
	check_err(kustos_semaphore_acquire_async(from, deadline, NULL,
			  ask_ended, a),
		KUSTOS_OK);
}

int sem_count(const char *path)
{
	return fixture_children(path);
}

void sem_wait_count(const char *path, int count)
{
	test_eventually(sem_count(path) == count, 5000);
}

void sem_set(struct kustos_semaphore *from, int max)
{
	check_err(kustos_semaphore_set_max(from, max, SOON, NULL), KUSTOS_OK);
}

void sem_flush(void)
{
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}

void sem_check(int leases, int locks)
{
	sem_flush();
	ck_assert_int_eq(sem_count(LEASES), leases);
	ck_assert_int_eq(sem_count(LOCKS), locks);
}

void sem_pair_close(void)
{
	kustos_semaphore_destroy(sem);
	kustos_semaphore_destroy(others);
	sem = others = NULL;
	pair_close();
	ck_assert_int_eq(sem_count(LEASES), 0);
	ck_assert_int_eq(sem_count(LOCKS), 0);
}
