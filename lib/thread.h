/*
 * thread.h - start a thread that the program's signals do not reach.
 */
#ifndef KU_THREAD_H
#define KU_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Start it with all signals blocked, so that handlers run on the program's own
   threads only.  Returns false if no thread can be started; then "errno" tells
   why. */
bool ku_thread_start(pthread_t *id, void *(*main)(void *), void *arg);

#endif
