/* thread.c - start a thread that the program's signals do not reach. */

#include "thread.h"

#include <errno.h>
#include <signal.h>

bool ku_thread_start(pthread_t *id, void *(*main)(void *), void *arg)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int rc = pthread_create(id, NULL, main, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0)
		errno = rc;
	return rc == 0;
}
