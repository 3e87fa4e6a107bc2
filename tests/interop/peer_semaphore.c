/*
 * peer_semaphore.c - the commands of peer.h for semaphores.
 */
#include <kustos/participant.h>
#include <kustos/semaphore.h>

#include "peer_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_HOLDS 16

/* What this process has at one path. */
struct leases {
	struct kustos_semaphore *sem; /* NULL: not asked for yet */
	struct kustos_semaphore_mutex *sole;
	struct kustos_hold *holds[MAX_HOLDS];
	int count;
};

static struct leases *leases_of(const char *path)
{
	struct lock *lock = lock_of(path, 0);

	if (lock->leases == NULL)
		lock->leases = calloc(1, sizeof(*lock->leases));
	if (lock->leases == NULL)
		exit(1);
	return lock->leases;
}

/* The semaphore at "path"; "max" is a number, or the path of the node that has
   it. */
static struct leases *sem_of(const char *path, const char *max)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct leases *l = leases_of(path);

	if (*max == '/')
		o.max_path = max;
	else
		o.max = (int)strtol(max, NULL, 10);
	if (l->sem == NULL &&
		check(kustos_semaphore_create(client, path, &o, &l->sem),
			"create") < 0)
		return NULL;
	return l;
}

static int give_back(struct leases *l)
{
	int lost = 0;

	while (l->count > 0)
		lost += kustos_hold_release(l->holds[--l->count]) != KUSTOS_OK;
	return lost;
}

void leases_end(struct lock *lock)
{
	if (lock->leases == NULL)
		return;
	(void)give_back(lock->leases);
	kustos_semaphore_destroy(lock->leases->sem);
	kustos_semaphore_mutex_destroy(lock->leases->sole);
	free(lock->leases);
}

/* Acquire so many more leases. */
static enum kustos_err ask(struct leases *l, long count, const char *ms)
{
	if (count < 1 || count > MAX_HOLDS - l->count)
		return KUSTOS_EINVAL;
	enum kustos_err err = kustos_semaphore_acquire_many(l->sem, (int)count,
		kustos_after_ms(strtol(ms, NULL, 10)), NULL,
		l->holds + l->count);
	if (err == KUSTOS_OK)
		l->count += (int)count;
	return err;
}

void lease(char **w)
{
	struct leases *l = sem_of(w[1], w[2]);

	if (l == NULL)
		return;
	enum kustos_err err = ask(l, strtol(w[3], NULL, 10), w[4]);
	if (err == KUSTOS_ETIMEDOUT)
		say("timeout");
	else if (check(err, "lease") == 0)
		say("leased %" PRId64, now_ns());
}

void held_leases(char **w)
{
	const struct leases *l = leases_of(w[1]);

	for (int i = 0; i < l->count; i++)
		if (kustos_hold_state(l->holds[i]) == KUSTOS_HOLD_LOST) {
			say("lost");
			return;
		}
	say("leases %d", l->count);
	for (int i = 0; i < l->count; i++)
		say(" %s", strrchr(kustos_hold_path(l->holds[i]), '/') + 1);
}

void give_leases(char **w)
{
	say(give_back(leases_of(w[1])) > 0 ? "lost" : "returned");
}

void resize(char **w)
{
	struct leases *l = sem_of(w[1], w[2]);

	if (l != NULL &&
		check(kustos_semaphore_set_max(l->sem,
			      (int)strtol(w[3], NULL, 10), PATIENCE, NULL),
			"resize") == 0)
		say("resized");
}

void holders(char **w)
{
	struct kustos_participants *p = NULL;
	char path[LINE + 8];

	snprintf(path, sizeof(path), "%s/leases", w[1]);
	if (check(kustos_participants(client, path, PATIENCE, NULL, &p),
		    "participants") < 0)
		return;
	say("%zu", p->count);
	for (size_t i = 0; i < p->count; i++)
		say(" %s", strrchr(p->list[i]->path, '/') + 1);
	kustos_participants_free(p);
}

/* One turn with so many leases.  Returns the same as turn() of peer.c. */
static int draw_some(struct leases *l, long count, const char *ms, FILE *file)
{
	const struct timespec while_held = { 0, 2000000 };
	enum kustos_err err = ask(l, count, ms);

	if (err == KUSTOS_ETIMEDOUT)
		return 0;
	if (check(err, "lease") < 0)
		return -1;
	int64_t from = now_ns();
	nanosleep(&while_held, NULL);
	fprintf(file, "%" PRId64 " %" PRId64 " x%ld\n", from, now_ns(), count);
	if (give_back(l) == 0)
		return 1;
	say("error a lease was lost");
	return -1;
}

void draw(char **w)
{
	struct leases *l = sem_of(w[1], w[2]);
	FILE *file = fopen(w[5], "we");
	long most = strtol(w[3], NULL, 10);
	long n = strtol(w[4], NULL, 10);
	int done = 0;

	if (l == NULL || file == NULL || most < 1) {
		say("error cannot draw");
		return;
	}
	for (long i = 0; i < n; i++) {
		int had = draw_some(l, 1 + i % most, w[6], file);

		if (had < 0)
			break;
		done += had;
	}
	fclose(file);
	say("counted %d", done);
}

enum kustos_err sole_take(struct lock *lock, long ms)
{
	struct leases *l = leases_of(lock->path);

	if (l->sole == NULL &&
		check(kustos_semaphore_mutex_create(client, lock->path, NULL,
			      &l->sole),
			"create") < 0)
		exit(1);
	return kustos_semaphore_mutex_lock(l->sole, kustos_after_ms(ms), NULL);
}

enum kustos_err sole_give(struct lock *lock)
{
	return kustos_semaphore_mutex_unlock(leases_of(lock->path)->sole);
}
