/* allocs.c - fail every allocation that a call makes, one after the other. */
#include "allocs.h"

#include "client_fixture.h"
#include "inject.h"

#include <check.h>

#define MOST 300  /* more than any call makes */
#define HICCUPS 3 /* times that a busy machine may cut the connection */
#define ROUNDS 3

static bool well = true;

void allocs_expect(bool so)
{
	well = well && so;
}

void allocs_disarm(void)
{
	inject_alloc(INJECT_PROGRAM, 0);
	ck_assert(well);
}

void allocs_fail_each(const struct alloc_call *call,
	void (*before)(const struct alloc_call *call),
	void (*after)(const struct alloc_call *call, enum kustos_err err))
{
	int refused = 0, used = MOST, hiccups = 0, n;

	/* Go on as long as allocation n was reached.  A call fails only at an
	   allocation that it makes, and "used" counts that one. */
	for (n = 1; n <= used + 1; n++) {
		ck_assert_int_lt(n, MOST);
		if (before != NULL)
			before(call);
		int made = inject_allocs(INJECT_PROGRAM);
		inject_alloc(INJECT_PROGRAM, n);
		enum kustos_err err = call->fn();
		used = inject_allocs(INJECT_PROGRAM) - made;
		allocs_disarm();
		if (err == KUSTOS_EDISCONNECTED && hiccups++ < HICCUPS) {
			after(call, err);
			n--; /* repeat this one */
			continue;
		}
		ck_assert_msg(err == KUSTOS_OK || err == KUSTOS_ENOMEM,
			"%s, allocation %d: %s", call->name, n,
			kustos_err_name(err));
		refused += err == KUSTOS_ENOMEM;
		after(call, err);
	}
	ck_assert_int_gt(refused, 0);
}

void allocs_fail_each_of(struct kustos_client *client,
	const struct alloc_call *call,
	void (*before)(const struct alloc_call *call),
	void (*after)(const struct alloc_call *call, enum kustos_err err))
{
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t cuts = client_stats(client).disconnects;

		allocs_fail_each(call, before, after);
		if (client_stats(client).disconnects == cuts)
			return;
	}
	ck_abort_msg("%s: the connection was lost in each round", call->name);
}
