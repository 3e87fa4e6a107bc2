/*
 * selector_fixture.c - what tests of the selector share.
 */
#include "selector_fixture.h"

#include <stdio.h>
#include <string.h>

static bool told_to_return(struct chief *c, struct kustos_hold *hold,
	struct kustos_cancel *cancel, bool *asked)
{
	if (!*asked && kustos_cancel_fired(cancel)) {
		*asked = true;
		c->left_ms = kustos_hold_remaining_ms(hold);
		atomic_fetch_add(&c->asked, 1);
	}
	return *asked && !c->deaf;
}

static void lead(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	struct chief *c = arg;
	int64_t end = test_now_ms() + PATIENCE_MS;
	bool asked = false;

	atomic_store(&c->from_ns, test_boot_ns());
	ck_assert_int_eq(atomic_load(&c->begun), atomic_load(&c->ended));
	ck_assert_ptr_nonnull(selector);
	if (c->inside != NULL)
		ck_assert_int_eq(atomic_fetch_add(c->inside, 1), 0);
	ck_assert_int_gt(kustos_hold_token(hold), c->token);
	c->hold = hold;
	c->token = kustos_hold_token(hold);
	snprintf(c->node, sizeof(c->node), "%s", kustos_hold_path(hold));
	atomic_fetch_add(&c->begun, 1);
	if (c->on_lead != NULL)
		c->on_lead(c);
	while (!told_to_return(c, hold, cancel, &asked) &&
		atomic_load(&c->stays) && test_now_ms() < end)
		test_pause_1ms();
	if (c->inside != NULL)
		atomic_fetch_sub(c->inside, 1);
	atomic_store(&c->to_ns, test_boot_ns());
	atomic_fetch_add(&c->ended, 1);
}

struct kustos_selector_options chief_options(const char *id, int requeues)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;

	o.id = id;
	o.requeues = requeues;
	return o;
}

void chief_make(struct chief *c, struct kustos_client *client,
	struct kustos_selector_options options)
{
	memset(c, 0, sizeof(*c));
	atomic_store(&c->stays, true);
	options.lead = lead;
	options.arg = c;
	check_err(kustos_selector_create(client, LINE, &options, &c->selector),
		KUSTOS_OK);
}

void chief_run(struct chief *c, struct kustos_client *client,
	struct kustos_selector_options options)
{
	chief_make(c, client, options);
	check_err(kustos_selector_start(c->selector), KUSTOS_OK);
}

void chief_leads(struct chief *c, int term)
{
	test_eventually(atomic_load(&c->begun) == term, PATIENCE_MS / 10);
	test_eventually(kustos_selector_leads(c->selector), 3000);
	ck_assert_int_eq(atomic_load(&c->ended), term - 1);
}

void chief_returns(struct chief *c)
{
	int ended = atomic_load(&c->ended);

	atomic_store(&c->stays, false);
	test_eventually(atomic_load(&c->ended) > ended, 3000);
}

void chief_ended(struct chief *c, int terms)
{
	test_eventually(atomic_load(&c->ended) >= terms, 3000);
}

void chief_state(struct chief *c, enum kustos_selector_state state)
{
	enum kustos_selector_state now = kustos_selector_state(c->selector);

	ck_assert_msg(now == state, "%s and not %s",
		kustos_selector_state_name(now),
		kustos_selector_state_name(state));
}

void chief_becomes(struct chief *c, enum kustos_selector_state state)
{
	int64_t end = test_now_ms() + PATIENCE_MS;

	while (kustos_selector_state(c->selector) != state &&
		test_now_ms() < end)
		test_pause_1ms();
	chief_state(c, state);
}

void chief_node(struct chief *c, struct kustos_client *client)
{
	struct raw_stat stat;

	ck_assert_int_eq(raw_exists(fixture_address(), c->node, &stat), 0);
	ck_assert(stat.czxid == c->token);
	ck_assert(stat.ephemeral_owner == client_session_id(client));
}

void chief_end(struct chief *c)
{
	kustos_selector_destroy(c->selector);
	ck_assert_int_eq(atomic_load(&c->ended), atomic_load(&c->begun));
	c->selector = NULL;
}
