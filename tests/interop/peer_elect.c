/*
 * peer_elect.c - the commands of peer.h for elections.
 */
#include <kustos/cancel.h>
#include <kustos/client.h>
#include <kustos/election.h>
#include <kustos/participant.h>

#include "peer_words.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A selector, and what its function does. */
struct chief {
	struct kustos_selector *selector;
	const char *counter; /* NULL: stay until it is told to return */
	FILE *file;
	int turns; /* that are left */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards "turns" */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void pause_ms(int ms)
{
	const struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}

static void lead(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	struct chief *c = arg;
	int64_t from = now_ns();

	(void)hold;
	while (c->counter == NULL && !kustos_cancel_fired(cancel))
		pause_ms(1);
	if (c->counter == NULL || c->turns == 0)
		return;
	if (use(c->counter, false) == 0)
		fprintf(c->file, "%" PRId64 " %" PRId64 "\n", from, now_ns());
	pthread_mutex_lock(&mutex);
	if (--c->turns == 0)
		kustos_selector_close(selector);
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
}

static struct chief *chief_start(const char *path, const char *id,
	const char *counter)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct chief *c = calloc(1, sizeof(*c));

	if (c == NULL)
		exit(1);
	c->counter = counter;
	o.id = id;
	o.lead = lead;
	o.arg = c;
	o.requeues = counter != NULL;
	o.dialect = dialect;
	if (check(kustos_selector_create(client, path, &o, &c->selector),
		    "create") == 0)
		return c;
	free(c);
	return NULL;
}

static void chief_end(struct chief *c)
{
	kustos_selector_destroy(c->selector);
	free(c);
}

static int start_latch(struct lock *lock, const char *path, const char *id)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

	o.id = id;
	if (check(kustos_latch_create(client, path, &o, &lock->latch),
		    "create") < 0)
		return -1;
	return check(kustos_latch_start(lock->latch), "start");
}

static int start_chief(struct lock *lock, const char *path, const char *id)
{
	lock->chief = chief_start(path, id, NULL);
	if (lock->chief == NULL)
		return -1;
	return check(kustos_selector_start(lock->chief->selector), "start");
}

void elect(char **w)
{
	struct lock *lock = lock_of(w[1], 0);
	int rc = strcmp(w[3], "latch") == 0 ? start_latch(lock, w[1], w[2])
					    : start_chief(lock, w[1], w[2]);

	if (rc == 0)
		say("ok");
}

static void chief_leads(const struct chief *c, long ms)
{
	int64_t end = now_ns() + ms * INT64_C(1000000);
	int leads;

	while (!(leads = kustos_selector_leads(c->selector)) && now_ns() < end)
		pause_ms(1);
	if (leads)
		say("leads %" PRId64, now_ns());
	else
		say("no");
}

void leads(char **w)
{
	const struct lock *lock = lock_of(w[1], 0);
	long ms = strtol(w[2], NULL, 10);
	enum kustos_err err;

	if (lock->chief != NULL) {
		chief_leads(lock->chief, ms);
		return;
	}
	err = kustos_latch_wait(lock->latch,
		ms == 0 ? KUSTOS_NOW : kustos_after_ms(ms), NULL);
	if (err == KUSTOS_EBUSY || err == KUSTOS_ETIMEDOUT)
		say("no");
	else if (check(err, "wait") == 0)
		say("leads %" PRId64, now_ns());
}

void term(char **w)
{
	const struct lock *lock = lock_of(w[1], 0);
	int64_t now = lock->chief != NULL
		? kustos_selector_term(lock->chief->selector)
		: kustos_latch_term(lock->latch);

	if (now == 0)
		say("lost");
	else
		say("term %" PRId64, now);
}

void election_end(struct lock *lock)
{
	kustos_latch_destroy(lock->latch);
	lock->latch = NULL;
	if (lock->chief != NULL)
		chief_end(lock->chief);
	lock->chief = NULL;
}

void resign(char **w)
{
	election_end(lock_of(w[1], 0));
	say("resigned");
}

void hand(char **w)
{
	const struct lock *lock = lock_of(w[1], 0);
	enum kustos_err err = lock->chief != NULL
		? kustos_selector_hand_over(lock->chief->selector, w[2],
			  PATIENCE, NULL)
		: kustos_latch_hand_over(lock->latch, w[2], PATIENCE, NULL);

	if (check(err, "hand") == 0)
		say("handed");
}

void yield(char **w)
{
	const struct lock *lock = lock_of(w[1], 0);
	kustos_deadline end = kustos_after_ms(strtol(w[2], NULL, 10));
	enum kustos_err err = lock->chief != NULL
		? kustos_selector_hand_over(lock->chief->selector, NULL, end,
			  NULL)
		: kustos_latch_hand_over(lock->latch, NULL, end, NULL);

	switch (err) {
	case KUSTOS_OK:
	case KUSTOS_EABSENT:
	case KUSTOS_ECHANGED:
	case KUSTOS_ELOST:
	case KUSTOS_ENOTHELD:
	case KUSTOS_ETIMEDOUT:
	case KUSTOS_EUNKNOWN:
		say("yielded %s", kustos_strerror(err));
		break;
	default:
		(void)check(err, "hand over");
	}
}

void candidates(char **w)
{
	struct kustos_participants *p = NULL;
	const char *leader = "";

	if (check(kustos_participants(client, w[1], PATIENCE, NULL, &p),
		    "participants") < 0)
		return;
	for (size_t i = 0; i < p->count; i++)
		if (p->list[i]->holds)
			leader = p->list[i]->data;
	say("%zu %s", p->count, leader);
	for (size_t i = 0; i < p->count; i++)
		say(" %s", (const char *)p->list[i]->data);
	kustos_participants_free(p);
}

void reign(char **w)
{
	struct chief *c = chief_start(w[1], "", w[3]);
	int n = (int)strtol(w[2], NULL, 10);
	int left;

	if (c == NULL)
		return;
	c->turns = n;
	c->file = fopen(w[4], "we");
	if (c->file == NULL)
		exit(1);
	if (check(kustos_selector_start(c->selector), "start") == 0) {
		pthread_mutex_lock(&mutex);
		while (c->turns > 0)
			pthread_cond_wait(&changed, &mutex);
		pthread_mutex_unlock(&mutex);
	}
	left = c->turns;
	fclose(c->file);
	chief_end(c);
	say("counted %d", n - left);
}
