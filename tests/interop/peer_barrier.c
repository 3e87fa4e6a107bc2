/*
 * peer_barrier.c - the commands of peer.h for barriers.
 */
#include <kustos/barrier.h>

#include "peer_words.h"

#include <inttypes.h>
#include <stdlib.h>

static struct kustos_barrier *gate_of(const char *path)
{
	struct lock *lock = lock_of(path, 0);

	if (lock->gate == NULL &&
		check(kustos_barrier_create(client, path, NULL, &lock->gate),
			"create") < 0)
		return NULL;
	return lock->gate;
}

static kustos_deadline in_ms(const char *text)
{
	return kustos_after_ms(strtol(text, NULL, 10));
}

/* Answer with "what" and the time, or that the deadline was reached. */
static void report(enum kustos_err err, const char *what)
{
	if (err == KUSTOS_ETIMEDOUT)
		say("timeout");
	else if (check(err, what) == 0)
		say("%s %" PRId64, what, now_ns());
}

void gate_close(char **w)
{
	struct kustos_barrier *gate = gate_of(w[1]);

	if (gate != NULL &&
		check(kustos_barrier_set(gate, PATIENCE, NULL), "set") == 0)
		say("ok");
}

void gate_open(char **w)
{
	struct kustos_barrier *gate = gate_of(w[1]);

	if (gate != NULL &&
		check(kustos_barrier_remove(gate, PATIENCE, NULL), "remove") ==
			0)
		say("ok");
}

void gate_pass(char **w)
{
	struct kustos_barrier *gate = gate_of(w[1]);

	if (gate != NULL)
		report(kustos_barrier_wait(gate, in_ms(w[2]), NULL), "passed");
}

void step_enter(char **w)
{
	struct lock *lock = lock_of(w[1], 0);

	if (lock->step == NULL &&
		check(kustos_double_barrier_create(client, w[1],
			      (int)strtol(w[2], NULL, 10), NULL, &lock->step),
			"create") < 0)
		return;
	report(kustos_double_barrier_enter(lock->step, in_ms(w[3]), NULL),
		"entered");
}

void step_leave(char **w)
{
	struct lock *lock = lock_of(w[1], 0);

	report(kustos_double_barrier_leave(lock->step, in_ms(w[2]), NULL),
		"left");
}

void barriers_end(struct lock *lock)
{
	kustos_barrier_destroy(lock->gate);
	kustos_double_barrier_destroy(lock->step);
}
