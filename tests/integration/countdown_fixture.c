/*
 * countdown_fixture.c - what tests of the count-down latch share.
 */
#include "countdown_fixture.h"

struct kustos_countdown *own, *others;
const enum inject_fault faults[2] = { INJECT_FAIL_SEND, INJECT_LOSE_REPLY };

struct kustos_countdown *make(struct kustos_client *owner, int count)
{
	struct kustos_countdown *c = NULL;

	check_err(kustos_countdown_create(owner, LATCH, count, NULL, &c),
		KUSTOS_OK);
	ck_assert_ptr_nonnull(c);
	return c;
}

void set_up(void)
{
	struct kustos_client_options o;

	inject_reset();
	o = pair_proxy(9000);
	o.retry = kustos_retry_forever(5);
	pair_open_with(&o, 0);
	own = make(client, 2);
	others = make(other, 0);
}

void tear_down(void)
{
	inject_reset();
	kustos_countdown_destroy(own);
	kustos_countdown_destroy(others);
	pair_close();
}

void set(struct kustos_countdown *c)
{
	check_err(kustos_countdown_set(c, SOON, NULL), KUSTOS_OK);
}

void count_down(struct kustos_countdown *c, const char *id)
{
	check_err(kustos_countdown_done(c, id, SOON, NULL), KUSTOS_OK);
}

void join(struct kustos_countdown *c, const char *id)
{
	check_err(kustos_countdown_join(c, id, SOON, NULL), KUSTOS_OK);
}

enum kustos_err look(struct kustos_countdown *c)
{
	return kustos_countdown_wait(c, KUSTOS_NOW, NULL);
}

void await(struct kustos_countdown *c, struct end *end)
{
	end->calls = 0;
	check_err(kustos_countdown_wait_async(c, SOON, NULL, end_told, end),
		KUSTOS_OK);
}
