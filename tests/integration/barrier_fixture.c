/*
 * barrier_fixture.c - what tests of the barriers share.
 */
#include "barrier_fixture.h"

struct kustos_barrier *barrier, *barrier_others;

void watches_wait(int count)
{
	test_eventually(watch_count() == count, 5000);
}

void barrier_pair_make(void)
{
	barrier = barrier_new(client);
	barrier_others = barrier_new(other);
}

void barrier_pair_close(void)
{
	kustos_barrier_destroy(barrier);
	kustos_barrier_destroy(barrier_others);
	pair_close();
}

struct kustos_barrier *barrier_new(struct kustos_client *owner)
{
	struct kustos_barrier *b = NULL;

	check_err(kustos_barrier_create(owner, BARRIER, NULL, &b), KUSTOS_OK);
	ck_assert_ptr_nonnull(b);
	return b;
}

void barrier_set(struct kustos_barrier *b)
{
	check_err(kustos_barrier_set(b, SOON, NULL), KUSTOS_OK);
}

void barrier_remove(struct kustos_barrier *b)
{
	check_err(kustos_barrier_remove(b, SOON, NULL), KUSTOS_OK);
}

bool barrier_there(void)
{
	int rc = raw_exists(fixture_address(), BARRIER, NULL);

	ck_assert(rc == 0 || rc == RAW_NONODE);
	return rc == 0;
}
