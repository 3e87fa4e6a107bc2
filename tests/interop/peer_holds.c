/*
 * peer_holds.c - the locks that peer.c acquires as a hold: the simple lock, and
 * several mutexes together.
 */
#include <kustos/lockable.h>
#include <kustos/mutex.h>
#include <kustos/simple.h>

#include "peer_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4 /* together */

enum kustos_err bare_take(struct lock *lock, long ms)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;

	o.on_revoke = lock->asked >= 0 ? note_request : NULL;
	o.on_revoke_arg = lock;
	if (lock->simple == NULL &&
		check(kustos_simple_create(client, lock->path, &o,
			      &lock->simple),
			"create") < 0)
		exit(1);
	return kustos_simple_acquire(lock->simple, kustos_after_ms(ms), NULL,
		&lock->hold);
}

/* In reverse order, because Kustos must find the right order itself. */
enum kustos_err all_take(struct lock *lock, long ms)
{
	struct kustos_lockable all[MOST];
	char paths[LINE];
	char *rest = NULL;
	size_t n = 0;

	snprintf(paths, sizeof(paths), "%s", lock->path);
	for (char *path = strtok_r(paths, ",", &rest); path != NULL && n < MOST;
		path = strtok_r(NULL, ",", &rest))
		all[MOST - ++n] = kustos_mutex_lockable(
			lock_of(path, 0)->mutex);
	return kustos_acquire_all(all + MOST - n, n, kustos_after_ms(ms), NULL,
		&lock->hold);
}

enum kustos_err hold_give(struct lock *lock)
{
	enum kustos_err err = kustos_hold_release(lock->hold);

	lock->hold = NULL;
	return err;
}

void holds_end(struct lock *lock)
{
	if (lock->hold != NULL)
		(void)hold_give(lock);
	kustos_simple_destroy(lock->simple);
}
