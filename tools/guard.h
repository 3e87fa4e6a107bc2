/*
 * guard.h - a process that ends a command when the time of its lock runs out,
 * whatever has become of the process that holds the lock.
 *
 * It belongs to a session of its own, so no key pressed and no signal to the
 * holder's process group stops it.  If the holder is stopped, the guard acts by
 * the clock; if the holder is killed, it acts at once.
 */
#ifndef KU_GUARD_H
#define KU_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct guard_page;

struct guard {
	pid_t pid;
	int pipe;
	struct guard_page *page; /* shared with the guard's process */
};

/* Fork it.  Do it before any thread is started.  Returns 0 or -1. */
int guard_start(struct guard *g);

/* From now on, guard the process group "group": it is sent SIGTERM when less
   than "grace_ms" are left, and SIGKILL shortly before the time is over. */
void guard_arm(struct guard *g, pid_t group, int64_t grace_ms);

/* Return the time of the clock that the guard uses, in nanoseconds. */
int64_t guard_now(void);

/* Tell the guard that the lock is certainly held for "left_ms" from "now_ns"
   on.  Read the clock first, and then how long the lock is held. */
void guard_feed(struct guard *g, int64_t now_ns, int64_t left_ms);

/* Tell it that the lock is lost though its time had not run out. */
void guard_lost(struct guard *g);

/* Tell it that the lock is held, but is to be given back: the group has all of
   the grace to end, unless the lock is lost meanwhile. */
void guard_ask(struct guard *g);

/* Return whether it has begun to end the group. */
bool guard_acted(const struct guard *g);

/* Continue the guard if it was stopped, as nobody else guards the group. */
void guard_resume(const struct guard *g);

/* End it; the group, if it still runs, is left alone.  Returns 0, or -1 if it
   had ended before. */
int guard_end(struct guard *g);

#endif
