/*
 * allocs.h - every allocation of a call fails once: the call says so or does
 * without.
 *
 * That nothing leaks is for a run with the address sanitizer to see.  What uses
 * this is linked with libinject.a.
 */
#ifndef TEST_ALLOCS_H
#define TEST_ALLOCS_H

#include <kustos/client.h>

#include <stdbool.h>

struct alloc_call {
	const char *name;

	/* Returns KUSTOS_OK, or what did not succeed.  libcheck takes memory
	   for each check, so there is none in it before allocs_disarm(): only
	   allocs_expect(). */
	enum kustos_err (*fn)(void);
	bool full; /* for "before": somebody else has what it asks for */
};

/* Fail, in the end, unless it is so. */
void allocs_expect(bool so);

/* Nothing more fails: what follows belongs to the test. */
void allocs_disarm(void);

/* Let the call's first allocation fail, and then call it again and let the
   second, until it does not make as many.  It ends with KUSTOS_OK or with
   KUSTOS_ENOMEM, the latter at least once.  Each time, "before" goes before, if
   it is not NULL; and "after", with how it ended, sees what it left behind. */
void allocs_fail_each(const struct alloc_call *call,
	void (*before)(const struct alloc_call *call),
	void (*after)(const struct alloc_call *call, enum kustos_err err));

/* The same of a call of "client", which none of it cuts off: a busy machine may do
   that in one round, but what fails does it in each. */
void allocs_fail_each_of(struct kustos_client *client,
	const struct alloc_call *call,
	void (*before)(const struct alloc_call *call),
	void (*after)(const struct alloc_call *call, enum kustos_err err));

#endif
