/*
 * rwlock_fixture.c - what tests of the read/write lock share.
 */
#include "rwlock_fixture.h"

#include <stdlib.h>
#include <string.h>

struct kustos_rwlock *rw, *rw_rivals;

void rw_pair_make(int handoffs)
{
	rw = rw_new(client, handoffs);
	rw_rivals = rw_new(other, handoffs);
}

void rw_pair_close(void)
{
	kustos_rwlock_destroy(rw);
	kustos_rwlock_destroy(rw_rivals);
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

struct kustos_rwlock *rw_new(struct kustos_client *owner, int handoffs)
{
	struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;
	struct kustos_rwlock *lock = NULL;

	o.local_handoffs = handoffs;
	check_err(kustos_rwlock_create(owner, LINE, &o, &lock), KUSTOS_OK);
	return lock;
}

void rw_lock(struct kustos_rwlock *lock, enum kustos_side side)
{
	check_err(kustos_rwlock_lock(lock, side, SOON, NULL), KUSTOS_OK);
}

void rw_unlock(struct kustos_rwlock *lock, enum kustos_side side)
{
	check_err(kustos_rwlock_unlock(lock, side), KUSTOS_OK);
}

struct kustos_hold *rw_take(struct kustos_rwlock *lock, enum kustos_side side)
{
	struct kustos_hold *hold = NULL;

	check_err(kustos_rwlock_acquire(lock, side, SOON, NULL, &hold),
		KUSTOS_OK);
	ck_assert_ptr_nonnull(hold);
	return hold;
}

struct kustos_hold *rw_downgrade(struct kustos_rwlock *lock,
	struct kustos_hold *hold)
{
	struct kustos_hold *reader = NULL;

	check_err(kustos_rwlock_downgrade(lock, hold, SOON, NULL, &reader),
		KUSTOS_OK);
	ck_assert_ptr_nonnull(reader);
	return reader;
}

enum kustos_err rw_try(struct kustos_rwlock *lock, enum kustos_side side)
{
	struct kustos_hold *hold = NULL;
	enum kustos_err err = kustos_rwlock_acquire(lock, side, KUSTOS_NOW,
		NULL, &hold);

	ck_assert_int_eq(hold != NULL, err == KUSTOS_OK);
	hold_give(hold);
	return err;
}

void rw_ask(struct ask *a, struct kustos_rwlock *lock, enum kustos_side side,
	kustos_deadline deadline)
{
	check_err(kustos_rwlock_acquire_async(lock, side, deadline, NULL,
			  ask_ended, a),
		KUSTOS_OK);
}

void rw_rival_enter(struct rival *rival, enum kustos_side side)
{
	static const char *const prefixes[] = {
		[KUSTOS_READ] = LINE
		"/_c_00112233-4455-6677-8899-aabbccddeeff-__READ__",
		[KUSTOS_WRITE] = LINE
		"/_c_00112233-4455-6677-8899-aabbccddeeff-__WRIT__",
	};

	rival_enter_as(rival, prefixes[side]);
}

void rw_check_node(struct kustos_hold *hold, struct kustos_client *owner)
{
	struct raw_stat stat;

	ck_assert_int_eq(
		raw_exists(fixture_address(), kustos_hold_path(hold), &stat),
		0);
	ck_assert(stat.ephemeral_owner == client_session_id(owner));
}

const char *rw_name(struct kustos_hold *hold)
{
	ck_assert(strncmp(kustos_hold_path(hold), LINE "/", strlen(LINE "/")) ==
		0);
	return kustos_hold_path(hold) + strlen(LINE "/");
}

int rw_number(struct kustos_hold *hold)
{
	const char *name = rw_name(hold);

	ck_assert_uint_gt(strlen(name), 10);
	return atoi(name + strlen(name) - 10);
}

void rw_flush(void)
{
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
