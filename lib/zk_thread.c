/*
 * zk_thread.c - the conditions under which libzookeeper_mt makes its threads.
 */
#define _GNU_SOURCE
#include "zk_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static void *wait_for_mutex(void *mutex)
{
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	return NULL;
}

/* Can two threads exist at the same time? */
static bool two_threads(void)
{
	pthread_mutex_t hold = PTHREAD_MUTEX_INITIALIZER;
	pthread_t threads[2];
	int made = 0, why = 0, i;

	pthread_mutex_lock(&hold);
	while (made < 2 && why == 0) {
		why = pthread_create(&threads[made], NULL, wait_for_mutex,
			&hold);
		made += why == 0;
	}
	pthread_mutex_unlock(&hold);
	for (i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&hold);
	if (why != 0)
		errno = why;
	return made == 2;
}

bool ku_zk_thread_begin(sigset_t *mask)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, mask);
	if (two_threads())
		return true;
	ku_zk_thread_end(mask);
	return false;
}

void ku_zk_thread_end(const sigset_t *mask)
{
	pthread_sigmask(SIG_SETMASK, mask, NULL);
}
