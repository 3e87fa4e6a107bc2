/*
 * simple_fixture.c - what tests of the simple lock share.
 */
#include "simple_fixture.h"

#include <string.h>

struct kustos_simple *simple, *simple_rivals;

void simple_pair_make(void)
{
	simple = simple_new(client, 0);
	simple_rivals = simple_new(other, 0);
}

void simple_pair_close(void)
{
	kustos_simple_destroy(simple);
	kustos_simple_destroy(simple_rivals);
	pair_close();
	ck_assert(!node_there());
}

struct kustos_simple *simple_new(struct kustos_client *owner, int handoffs)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;
	struct kustos_simple *lock = NULL;

	o.local_handoffs = handoffs;
	check_err(kustos_simple_create(owner, LINE, &o, &lock), KUSTOS_OK);
	return lock;
}

struct kustos_hold *simple_take(struct kustos_simple *lock)
{
	struct kustos_hold *hold = NULL;

	check_err(kustos_simple_acquire(lock, SOON, NULL, &hold), KUSTOS_OK);
	ck_assert_ptr_nonnull(hold);
	return hold;
}

enum kustos_err simple_try(struct kustos_simple *lock)
{
	struct kustos_hold *hold = NULL;
	enum kustos_err err = kustos_simple_acquire(lock, KUSTOS_NOW, NULL,
		&hold);

	ck_assert_int_eq(hold != NULL, err == KUSTOS_OK);
	hold_give(hold);
	return err;
}

void simple_ask(struct ask *a, struct kustos_simple *lock,
	kustos_deadline deadline)
{
	check_err(
		kustos_simple_acquire_async(lock, deadline, NULL, ask_ended, a),
		KUSTOS_OK);
}

bool node_there(void)
{
	int rc = raw_exists(fixture_address(), LINE, NULL);

	ck_assert(rc == 0 || rc == RAW_NONODE);
	return rc == 0;
}

void node_wait_gone(void)
{
	test_eventually(!node_there(), 5000);
}

void node_take(struct rival *rival)
{
	rival->raw = raw_open(fixture_address(), 60000);
	ck_assert_ptr_nonnull(rival->raw);
	strcpy(rival->path, LINE);
	(void)raw_do_create(rival->raw, "/locks", NULL, RAW_PERSISTENT, NULL,
		0);
	ck_assert_int_eq(
		raw_do_create(rival->raw, LINE, "", RAW_EPHEMERAL, NULL, 0), 0);
}

void wait_until_watched(int watches)
{
	test_eventually(watch_count() == watches, 5000);
}
