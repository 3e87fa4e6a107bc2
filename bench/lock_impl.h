/*
 * lock_impl.h - for lock.c: the kinds that make something anew for each turn.
 * For an election that is a candidate, which is elected and leaves; for a
 * barrier or a latch it is a member, which comes and goes.  lock_NAME_take()
 * waits for its turn, or until "stop" is fired, and leaves nothing behind if it
 * fails; lock_NAME_give() ends the turn, whatever it returns.
 */
#ifndef BENCH_LOCK_IMPL_H
#define BENCH_LOCK_IMPL_H

#include "lock.h"

/* lock_elect.c */
enum kustos_err lock_latch_take(struct lock *lock, struct kustos_cancel *stop);
enum kustos_err lock_latch_give(struct lock *lock);
bool lock_latch_held(const struct lock *lock);
enum kustos_err lock_selector_take(struct lock *lock,
	struct kustos_cancel *stop);
enum kustos_err lock_selector_give(struct lock *lock);
bool lock_selector_held(const struct lock *lock);

/* lock_meet.c */
enum kustos_err lock_barrier_take(struct lock *lock,
	struct kustos_cancel *stop);
enum kustos_err lock_barrier_give(struct lock *lock);
bool lock_barrier_held(const struct lock *lock);
enum kustos_err lock_countdown_take(struct lock *lock,
	struct kustos_cancel *stop);
enum kustos_err lock_countdown_give(struct lock *lock);

#endif
