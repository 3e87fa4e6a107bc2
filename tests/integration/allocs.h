/*
 * allocs.h - fail every allocation that a call makes, one after the other: the
 * call must either report the failure or do without the memory.
 *
 * Leaks are found by a run with the address sanitizer.  A test that uses this
 * is linked with libinject.a.
 */
#ifndef TEST_ALLOCS_H
#define TEST_ALLOCS_H

#include <kustos/client.h>

#include <stdbool.h>

struct alloc_call {
	const char *name;

	/* Makes the call and returns its error.  libcheck allocates memory for
	   each check, so this function uses none until it has called
	   allocs_disarm(); before that it uses only allocs_expect(). */
	enum kustos_err (*fn)(void);
	bool full; /* for "before": somebody else has what the call asks for */
};

/* Remember a failure unless "so" is true; allocs_disarm() reports it. */
void allocs_expect(bool so);

/* Let no further allocation fail, because what follows belongs to the test.
   Fails the test if an allocs_expect() was not met. */
void allocs_disarm(void);

/* Make the call with its first allocation failing, then with its second, and so
   on, until the call makes fewer allocations than that.  Each time it must end
   with KUSTOS_OK or KUSTOS_ENOMEM, and at least once with KUSTOS_ENOMEM.
   "before", if not NULL, runs before each call; "after" runs after each, gets
   its error, and checks what it left behind. */
void allocs_fail_each(const struct alloc_call *call,
	void (*before)(const struct alloc_call *call),
	void (*after)(const struct alloc_call *call, enum kustos_err err));

/* The same, and no failed allocation may cost "client" its connection.  A busy
   machine may lose the connection in one round; a fault of the call would do it
   in every round. */
void allocs_fail_each_of(struct kustos_client *client,
	const struct alloc_call *call,
	void (*before)(const struct alloc_call *call),
	void (*after)(const struct alloc_call *call, enum kustos_err err));

#endif
