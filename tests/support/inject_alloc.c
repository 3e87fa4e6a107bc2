/*
 * inject_alloc.c - allocations that fail on demand.
 *
 * The memory is the C library's own, so free() needs no part in this.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "inject.h"
#include "inject_impl.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int made[2]; /* by caller */
static int left[2]; /* by caller; 0 = disarmed */

/* Do allocations of this thread count?  A sanitizer allocates in a new thread
   before that runs any code of ours, and dies if it cannot. */
static __thread bool under_way;

void inject_allocs_thread(void)
{
	under_way = true;
}

void inject_allocs_reset(void)
{
	for (int i = 0; i < 2; i++) {
		__atomic_store_n(&left[i], 0, __ATOMIC_SEQ_CST);
		__atomic_store_n(&made[i], 0, __ATOMIC_SEQ_CST);
	}
}

void inject_alloc(enum inject_caller caller, int n)
{
	__atomic_store_n(&left[caller], n, __ATOMIC_SEQ_CST);
}

int inject_allocs(enum inject_caller caller)
{
	return __atomic_load_n(&made[caller], __ATOMIC_SEQ_CST);
}

INJECT_UNCHECKED static bool refuse(enum inject_caller caller)
{
	if (!under_way)
		return false;
	__atomic_add_fetch(&made[caller], 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(&left[caller], __ATOMIC_SEQ_CST) <= 0 ||
		__atomic_sub_fetch(&left[caller], 1, __ATOMIC_SEQ_CST) != 0)
		return false;
	errno = ENOMEM;
	return true;
}

static void *(*real_malloc)(size_t);

INJECT_UNCHECKED void *inject_own_malloc(size_t size)
{
	INJECT_REAL(real_malloc, "malloc");
	return real_malloc(size);
}

INJECTED void *malloc(size_t size)
{
	return refuse(INJECT_CALLER()) ? NULL : inject_own_malloc(size);
}

INJECTED void *calloc(size_t count, size_t size)
{
	static void *(*real)(size_t, size_t);

	INJECT_REAL(real, "calloc");
	return refuse(INJECT_CALLER()) ? NULL : real(count, size);
}

INJECTED void *realloc(void *p, size_t size)
{
	static void *(*real)(void *, size_t);

	INJECT_REAL(real, "realloc");
	return refuse(INJECT_CALLER()) ? NULL : real(p, size);
}

/* The C library's own strdup() would call malloc() itself, and hide who
   called. */
INJECTED char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy;

	copy = refuse(INJECT_CALLER()) ? NULL : inject_own_malloc(size);
	if (copy != NULL)
		memcpy(copy, text, size);
	return copy;
}
