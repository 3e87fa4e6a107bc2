/* lookup.c - a resolver's thread, which goes on if its lookup is abandoned. */

#include "lookup.h"
#include "hosts.h"
#include "thread.h"

#include <stdlib.h>
#include <string.h>

struct ku_lookup {
	struct ku_hosts hosts; /* the thread's */

	/* Guards the rest.  Taken while no other lock is held. */
	pthread_mutex_t mutex;
	ku_lookup_fn *done; /* NULL: abandoned, the thread frees it */
	void *arg;
	bool finished;
	struct ku_addresses addresses;
	enum kustos_err err;
	const char *why;
};

static bool copy_hosts(struct ku_hosts *to, const struct ku_hosts *from)
{
	to->chroot = strdup("");
	to->list = calloc((size_t)from->count, sizeof(*to->list));
	if (to->chroot == NULL || to->list == NULL)
		return false;
	to->count = from->count;
	for (int i = 0; i < from->count; i++) {
		to->list[i] = from->list[i];
		to->list[i].name = strdup(from->list[i].name);
	}
	for (int i = 0; i < from->count; i++)
		if (to->list[i].name == NULL)
			return false;
	return true;
}

static void lookup_free(struct ku_lookup *lookup)
{
	ku_addresses_free(&lookup->addresses);
	ku_hosts_free(&lookup->hosts);
	pthread_mutex_destroy(&lookup->mutex);
	free(lookup);
}

static void *lookup_main(void *arg)
{
	struct ku_lookup *lookup = arg;
	struct ku_addresses addresses = { 0 };
	const char *why;
	enum kustos_err err = ku_resolve(&lookup->hosts, &addresses, &why);

	pthread_mutex_lock(&lookup->mutex);
	bool abandoned = lookup->done == NULL;
	lookup->addresses = addresses;
	lookup->err = err;
	lookup->why = why;
	lookup->finished = true;
	if (!abandoned)
		lookup->done(lookup->arg);
	pthread_mutex_unlock(&lookup->mutex);
	if (abandoned)
		lookup_free(lookup);
	return NULL;
}

struct ku_lookup *ku_lookup_start(const struct ku_hosts *hosts,
	ku_lookup_fn *done, void *arg)
{
	struct ku_lookup *lookup = calloc(1, sizeof(*lookup));
	pthread_t thread;

	if (lookup == NULL)
		return NULL;
	if (pthread_mutex_init(&lookup->mutex, NULL) != 0) {
		free(lookup);
		return NULL;
	}
	lookup->done = done;
	lookup->arg = arg;
	if (!copy_hosts(&lookup->hosts, hosts) ||
		!ku_thread_start(&thread, lookup_main, lookup)) {
		lookup_free(lookup);
		return NULL;
	}
	pthread_detach(thread);
	return lookup;
}

bool ku_lookup_take(struct ku_lookup *lookup, struct ku_addresses *out,
	enum kustos_err *err, const char **why)
{
	pthread_mutex_lock(&lookup->mutex);
	bool finished = lookup->finished;
	pthread_mutex_unlock(&lookup->mutex);
	if (!finished)
		return false;
	*out = lookup->addresses;
	*err = lookup->err;
	*why = lookup->why;
	memset(&lookup->addresses, 0, sizeof(lookup->addresses));
	lookup_free(lookup);
	return true;
}

void ku_lookup_abandon(struct ku_lookup *lookup)
{
	if (lookup == NULL)
		return;
	pthread_mutex_lock(&lookup->mutex);
	bool finished = lookup->finished;
	lookup->done = NULL;
	pthread_mutex_unlock(&lookup->mutex);
	if (finished)
		lookup_free(lookup);
}
