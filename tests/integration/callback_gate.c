/* callback_gate.c - callbacks that block until the test lets them return. */
#include "callback_gate.h"

#include "fixture.h"

int flag(const int *f)
{
	return __atomic_load_n(f, __ATOMIC_SEQ_CST);
}

void raise_flag(int *f)
{
	__atomic_add_fetch(f, 1, __ATOMIC_SEQ_CST);
}

void stand(struct gate *g)
{
	raise_flag(&g->entered);
	test_within(flag(&g->open), PATIENCE_MS);
	raise_flag(&g->left);
}

void stand_done(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	(void)err;
	(void)result;
	stand(arg);
}
