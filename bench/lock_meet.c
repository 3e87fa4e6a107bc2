/*
 * lock_meet.c - barriers and count-down latches as something to take: a turn is a
 * round that all have come to, and nobody is kept out.
 */
#include "lock_impl.h"

#include <kustos/barrier.h>
#include <kustos/countdown.h>

#include <stdio.h>

/* --- Double barriers: in together, and out together ---------------------- */

bool lock_barrier_held(const struct lock *lock)
{
	return kustos_double_barrier_inside(lock->member) != 0;
}

enum kustos_err lock_barrier_give(struct lock *lock)
{
	enum kustos_err err = kustos_double_barrier_leave(lock->member,
		KUSTOS_FOREVER, NULL);

	kustos_double_barrier_destroy(lock->member);
	lock->member = NULL;
	return err;
}

enum kustos_err lock_barrier_take(struct lock *lock, struct kustos_cancel *stop)
{
	enum kustos_err err = kustos_double_barrier_create(lock->client,
		lock->path, lock->form.leases, NULL, &lock->member);

	if (err == KUSTOS_OK)
		err = kustos_double_barrier_enter(lock->member, KUSTOS_FOREVER,
			stop);
	if (err == KUSTOS_OK)
		return KUSTOS_OK;
	kustos_double_barrier_destroy(lock->member);
	lock->member = NULL;
	return err;
}

/* --- Count-down latches: done, and past the zero together ---------------- */

/* Each round has a latch of its own, as a latch is for one time. */
static enum kustos_err make_round(const struct lock *lock, int64_t round,
	struct kustos_countdown **out)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%lld", lock->path, (long long)round);
	return kustos_countdown_create(lock->client, path, lock->form.leases,
		NULL, out);
}

enum kustos_err lock_countdown_take(struct lock *lock,
	struct kustos_cancel *stop)
{
	struct kustos_countdown *latch = NULL;
	enum kustos_err err = make_round(lock, lock->round, &latch);
	char id[16];

	snprintf(id, sizeof(id), "%d", lock->number);
	if (err == KUSTOS_OK)
		err = kustos_countdown_done(latch, id, KUSTOS_FOREVER, stop);
	if (err == KUSTOS_OK)
		err = kustos_countdown_wait(latch, KUSTOS_FOREVER, stop);
	kustos_countdown_destroy(latch);
	return err;
}

/* A member that has passed the zero of a round knows that all have passed the
   zero of the round before, whose latch is not needed any more: the first
   member removes it. */
enum kustos_err lock_countdown_give(struct lock *lock)
{
	struct kustos_countdown *before = NULL;
	enum kustos_err err = KUSTOS_OK;
	int64_t round = lock->round++;

	if (lock->number != 0 || round == 0)
		return KUSTOS_OK;
	err = make_round(lock, round - 1, &before);
	if (err == KUSTOS_OK)
		err = kustos_countdown_remove(before, KUSTOS_FOREVER, NULL);
	kustos_countdown_destroy(before);
	return err;
}
