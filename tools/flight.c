/*
 * flight.c - many requests at once.
 */
#include "flight.h"

#include <stdatomic.h>

void flight_init(struct flight *flight)
{
	pthread_mutex_init(&flight->mutex, NULL);
	pthread_cond_init(&flight->less, NULL);
	flight->pending = 0;
}

void flight_free(struct flight *flight)
{
	pthread_cond_destroy(&flight->less);
	pthread_mutex_destroy(&flight->mutex);
}

void flight_answered(struct flight *flight)
{
	pthread_mutex_lock(&flight->mutex);
	flight->pending--;
	pthread_cond_signal(&flight->less);
	pthread_mutex_unlock(&flight->mutex);
}

/* Wait until no more than "most" are under way, and count "more" in. */
static void wait_for(struct flight *flight, int most, int more)
{
	pthread_mutex_lock(&flight->mutex);
	while (flight->pending > most)
		pthread_cond_wait(&flight->less, &flight->mutex);
	flight->pending += more;
	pthread_mutex_unlock(&flight->mutex);
}

enum kustos_err flight_ask(struct flight *flight, flight_fn *how,
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, kustos_done_fn *done, void *arg)
{
	wait_for(flight, FLIGHT_MAX - 1, 1);
	enum kustos_err err = how(client, path, deadline, NULL, done, arg);
	if (err != KUSTOS_OK)
		flight_answered(flight);
	return err;
}

void flight_wait(struct flight *flight)
{
	wait_for(flight, 0, 0);
}

struct round {
	size_t count;
	atomic_size_t next;
	void (*work)(void *arg, size_t at);
	void *arg;
};

static void *crew_member(void *arg)
{
	struct round *round = arg;
	size_t at;

	while ((at = atomic_fetch_add(&round->next, 1)) < round->count)
		round->work(round->arg, at);
	return NULL;
}

void flight_each(size_t count, void (*work)(void *arg, size_t at), void *arg)
{
	struct round round = { .count = count, .work = work, .arg = arg };
	pthread_t crew[FLIGHT_CREW];
	size_t others = 0;

	while (others < FLIGHT_CREW - 1 && others + 1 < count &&
		pthread_create(&crew[others], NULL, crew_member, &round) == 0)
		others++;
	crew_member(&round);
	while (others > 0)
		pthread_join(crew[--others], NULL);
}
