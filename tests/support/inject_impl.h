/*
 * inject_impl.h - what the files of the injecting archive share.
 */
#ifndef TEST_INJECT_IMPL_H
#define TEST_INJECT_IMPL_H

#include "inject.h"

#include <stdbool.h>
#include <stddef.h>

/* A sanitizer's own start calls malloc(), before its checks can work. */
#define INJECT_UNCHECKED                                              \
	__attribute__((no_sanitize("address"), no_sanitize("thread"), \
		no_sanitize("undefined")))

/* A function that takes the place of the C library's. */
#define INJECTED \
	__attribute__((visibility("default"), noinline)) INJECT_UNCHECKED

/* The caller of the function in which this is used. */
#define INJECT_CALLER() inject_caller_at(__builtin_return_address(0))

/* Set "real" to the C library's function of that name, once.  Two threads may
   both do it, with the same result. */
#define INJECT_REAL(real, name)                                              \
	do {                                                                 \
		if (__atomic_load_n(&(real), __ATOMIC_ACQUIRE) == NULL) {    \
			void *found_ = dlsym(RTLD_NEXT, name);               \
			__atomic_store(&(real), (__typeof__(real) *)&found_, \
				__ATOMIC_RELEASE);                           \
		}                                                            \
	} while (0)

INJECT_UNCHECKED enum inject_caller inject_caller_at(const void *address);

/* Before main(): set up the counts that all processes of the program share. */
void inject_frames_share(void);

void inject_frames_reset(void);
void inject_allocs_reset(void);

/* From here on this thread's allocations count, and may fail. */
void inject_allocs_thread(void);

/* malloc() that is neither counted nor refused. */
void *inject_own_malloc(size_t size);

/* A new connection of libzookeeper begins on "fd". */
void inject_frames_begin(int fd);

#endif
