/*
 * test_mutex_fork.c - a process forks while it holds a mutex, and while it
 * waits for one: the child has nothing of it, and the parent goes on.
 */
#include "child.h"
#include "mutex_fixture.h"

#define T_MS 20000

struct state {
	struct kustos_client *client;
	struct kustos_mutex *mutex;
	struct kustos_hold *hold;
	struct ask waiting;
};

static void granted(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	(void)err;
	(void)hold;
	++*(int *)arg;
}

#define CHECK(cond)                                \
	do {                                       \
		if (!(cond))                       \
			return __LINE__ % 100 + 1; \
	} while (0)
#define FORKED(call) CHECK((call) == KUSTOS_EFORKED)

static int ask_mutex(struct kustos_client *c, struct kustos_mutex *m)
{
	struct kustos_mutex *another = NULL;
	struct kustos_hold *hold = NULL;
	int calls = 0;

	FORKED(kustos_mutex_create(c, LINE, NULL, &another));
	CHECK(another == NULL);
	FORKED(kustos_mutex_lock(m, KUSTOS_FOREVER, NULL));
	FORKED(kustos_mutex_lock(m, KUSTOS_NOW, NULL));
	FORKED(kustos_mutex_unlock(m));
	FORKED(kustos_mutex_acquire(m, KUSTOS_FOREVER, NULL, &hold));
	CHECK(hold == NULL);
	FORKED(kustos_mutex_acquire_async(m, KUSTOS_FOREVER, NULL, granted,
		&calls));
	CHECK(calls == 0);
	CHECK(kustos_mutex_hold(m) == NULL);
	CHECK(kustos_mutex_token(m) == 0);
	CHECK(kustos_mutex_mixed(m) == 0);
	return 0;
}

static int ask_hold(struct kustos_hold *h)
{
	struct kustos_op op = { .kind = KUSTOS_OP_SET,
		.path = LINE,
		.version = -1 };
	int calls = 0;

	CHECK(kustos_hold_state(h) == KUSTOS_HOLD_LOST);
	CHECK(kustos_hold_remaining_ms(h) == 0);
	FORKED(kustos_hold_on_lost(h, count_call, &calls));
	FORKED(kustos_hold_at_risk(h, 10, count_call, &calls));
	FORKED(kustos_hold_multi(h, &op, 1, KUSTOS_FOREVER, NULL, NULL));
	CHECK(calls == 0);
	return 0;
}

/* All that the child may do: get EFORKED from each call, and free. */
static int child_main(void *arg)
{
	struct state *s = arg;
	int rc;

	if ((rc = ask_mutex(s->client, s->mutex)) != 0 ||
		(rc = ask_hold(s->hold)) != 0)
		return rc;
	FORKED(kustos_hold_release(s->hold));
	kustos_mutex_destroy(s->mutex);
	FORKED(kustos_client_close(s->client, KUSTOS_NOW, NULL));
	return 0;
}

START_TEST(S24_a_child_holds_nothing_and_the_parent_goes_on)
{
	struct state s = { .client = client_connected(fixture_address(),
				   T_MS) };

	s.mutex = mutex_new(s.client, _i);
	s.hold = hold_take(s.mutex);
	ask(&s.waiting, s.mutex, SOON);
	if (_i == 0)
		line_wait(2);
	ck_assert_int_eq(child_run(child_main, &s), 0);
	ck_assert_int_eq(kustos_hold_state(s.hold), KUSTOS_HOLD_HELD);
	check_node(s.hold, s.client);
	ck_assert(ask_waits(&s.waiting));
	hold_give(s.hold);
	check_err(ask_wait(&s.waiting, 2000), KUSTOS_OK);
	hold_give(s.waiting.hold);
	kustos_mutex_destroy(s.mutex);
	client_close(s.client);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, fork");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_loop_test(t, S24_a_child_holds_nothing_and_the_parent_goes_on,
		0, 2);
	return fixture_main(s);
}
