/*
 * fault.c - the allocators as the linker wraps them.
 */
#include "fault.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* For the thread that runs the test. */
static _Thread_local bool armed, refused;
static _Thread_local int granted_before;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_pthread_mutex_init(pthread_mutex_t *mutex,
	const pthread_mutexattr_t *attr);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex,
	const pthread_mutexattr_t *attr);

void fault_after(int skip)
{
	armed = true;
	refused = false;
	granted_before = skip;
}

int fault_end(void)
{
	armed = false;
	return refused;
}

static bool refuse(void)
{
	if (!armed || refused)
		return false;
	if (granted_before-- > 0)
		return false;
	refused = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return refuse() ? NULL : __real_realloc(old, size);
}

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex,
	const pthread_mutexattr_t *attr)
{
	return refuse() ? ENOMEM : __real_pthread_mutex_init(mutex, attr);
}
