/*
 * latch_fixture.c - what tests of the latch share.
 */
#include "latch_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORBID_MS 10000

static void gained(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	struct runner *r = arg;

	atomic_store(&r->gained_ns, test_boot_ns());
	ck_assert_int_eq(atomic_load(&r->gains), atomic_load(&r->losses));
	ck_assert_int_eq(atomic_load(&r->ended), 2 * atomic_load(&r->losses));
	ck_assert_ptr_nonnull(latch);
	r->hold = hold;
	atomic_store(&r->token, kustos_hold_token(hold));
	snprintf(r->node, sizeof(r->node), "%s", kustos_hold_path(hold));
	atomic_fetch_add(&r->gains, 1);
	if (r->on_gained != NULL)
		r->on_gained(r);
	for (int64_t end = test_now_ms() + PATIENCE_MS;
		atomic_load(&r->asleep) && test_now_ms() < end;)
		test_pause_1ms();
	atomic_fetch_add(&r->ended, 1);
}

static void lost(void *arg, struct kustos_latch *latch,
	struct kustos_hold *hold)
{
	struct runner *r = arg;

	atomic_store(&r->lost_ns, test_boot_ns());
	ck_assert_int_eq(atomic_load(&r->gains), atomic_load(&r->losses) + 1);
	ck_assert_int_eq(atomic_load(&r->ended),
		2 * atomic_load(&r->losses) + 1);
	ck_assert_ptr_nonnull(latch);
	ck_assert(hold == r->hold && kustos_hold_token(hold) == r->token);
	atomic_fetch_add(&r->losses, 1);
	if (r->on_lost != NULL)
		r->on_lost(r);
	atomic_fetch_add(&r->ended, 1);
}

void runner_make_with(struct runner *r, struct kustos_client *client,
	struct kustos_latch_options options)
{
	memset(r, 0, sizeof(*r));
	options.on_gained = gained;
	options.on_lost = lost;
	options.arg = r;
	check_err(kustos_latch_create(client, LINE, &options, &r->latch),
		KUSTOS_OK);
}

void runner_make(struct runner *r, struct kustos_client *client, const char *id)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

	o.id = id;
	runner_make_with(r, client, o);
}

void runner_run(struct runner *r, struct kustos_client *client, const char *id)
{
	runner_make(r, client, id);
	check_err(kustos_latch_start(r->latch), KUSTOS_OK);
}

/* The latch leads, and the last gain was told for this term: the callbacks of
   an earlier term may still be outstanding. */
void runner_leads(struct runner *r)
{
	check_err(kustos_latch_wait(r->latch, SOON, NULL), KUSTOS_OK);
	test_eventually(atomic_load(&r->gains) == atomic_load(&r->losses) + 1 &&
			kustos_latch_term(r->latch) == atomic_load(&r->token),
		3000);
}

void runner_lost(struct runner *r, int count)
{
	test_eventually(atomic_load(&r->ended) >= 2 * count, 3000);
	ck_assert_int_eq(atomic_load(&r->losses), count);
}

void check_state(struct runner *r, enum kustos_latch_state state)
{
	enum kustos_latch_state now = kustos_latch_state(r->latch);

	ck_assert_msg(now == state, "%s and not %s",
		kustos_latch_state_name(now), kustos_latch_state_name(state));
}

void check_term(struct runner *r, struct kustos_client *client)
{
	struct raw_stat stat;

	ck_assert_int_eq(raw_exists(fixture_address(), r->node, &stat), 0);
	ck_assert(stat.czxid == r->token);
	ck_assert(stat.ephemeral_owner == client_session_id(client));
}

void runner_end(struct runner *r)
{
	kustos_latch_destroy(r->latch);
	ck_assert_int_eq(atomic_load(&r->ended),
		atomic_load(&r->gains) + atomic_load(&r->losses));
	r->latch = NULL;
}

static int by_number(const void *a, const void *b)
{
	const char *one = *(char *const *)a;
	const char *other = *(char *const *)b;

	return strcmp(one + strlen(one) - 10, other + strlen(other) - 10);
}

void node_at(int place, char *node)
{
	struct raw_names names;

	ck_assert_int_eq(raw_children(fixture_address(), LINE, &names), 0);
	ck_assert_int_lt(place, names.count);
	qsort(names.names, (size_t)names.count, sizeof(*names.names),
		by_number);
	ck_assert_int_lt(
		snprintf(node, NODE_SIZE, LINE "/%s", names.names[place]),
		NODE_SIZE);
	raw_names_free(&names);
}

void line_forbid(struct kustos_client *client, int perms)
{
	struct kustos_acl acl = { perms, "world", "anyone" };
	struct kustos_client_options o = client_options(fixture_address(),
		FORBID_MS);
	struct kustos_client *owner;

	client_create(client, "/locks", 0);
	o.acl = &acl;
	o.acl_count = 1;
	owner = client_open_with(&o);
	client_create(owner, LINE, 0);
	client_close(owner);
}
