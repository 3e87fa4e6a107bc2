/*
 * mutex_fixture.c - what tests of the mutex share.
 */
#include "mutex_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_text(const char *text, const char *pattern)
{
	ck_assert_msg(strlen(text) == strlen(pattern), "%s is not %s", text,
		pattern);
	for (size_t i = 0; pattern[i] != '\0'; i++) {
		const char *set = pattern[i] == 'x' ? "0123456789abcdef"
			: pattern[i] == 'd'	    ? "0123456789"
						    : NULL;

		ck_assert_msg(set != NULL ? strchr(set, text[i]) != NULL
					  : text[i] == pattern[i],
			"%s is not %s", text, pattern);
	}
}

struct kustos_mutex *mutex_new(struct kustos_client *client, int handoffs)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *mutex = NULL;

	o.local_handoffs = handoffs;
	check_err(kustos_mutex_create(client, LINE, &o, &mutex), KUSTOS_OK);
	return mutex;
}

struct kustos_hold *hold_take(struct kustos_mutex *mutex)
{
	struct kustos_hold *hold = NULL;

	check_err(kustos_mutex_acquire(mutex, SOON, NULL, &hold), KUSTOS_OK);
	ck_assert_ptr_nonnull(hold);
	return hold;
}

void hold_give(struct kustos_hold *hold)
{
	check_err(kustos_hold_release(hold), KUSTOS_OK);
}

void hold_wait(struct kustos_hold *hold, enum kustos_hold_state state, int ms)
{
	int64_t end;

	ms *= TEST_SLOW;
	end = test_now_ms() + ms;
	while (kustos_hold_state(hold) != state) {
		if (test_now_ms() > end)
			ck_abort_msg("%s, and not %s within %d ms",
				kustos_hold_state_name(kustos_hold_state(hold)),
				kustos_hold_state_name(state), ms);
		test_pause_1ms();
	}
}

void check_node(struct kustos_hold *hold, struct kustos_client *client)
{
	struct raw_stat stat;

	ck_assert_int_eq(
		raw_exists(fixture_address(), kustos_hold_path(hold), &stat),
		0);
	ck_assert(stat.czxid == kustos_hold_token(hold));
	ck_assert(stat.ephemeral_owner == client_session_id(client));
}

int line_count(void)
{
	return fixture_children(LINE);
}

void line_wait(int count)
{
	test_eventually(line_count() == count, 5000);
}

int watch_count(void)
{
	char text[512];
	const char *total;

	ck_assert_uint_gt(
		fourletter(fixture_address(), "wchs", text, sizeof(text)), 0);
	total = strstr(text, "Total watches:");
	ck_assert_ptr_nonnull(total);
	return atoi(total + strlen("Total watches:"));
}

static atomic_int asks_ended;

void ask_ended(void *arg, enum kustos_err err, struct kustos_hold *hold)
{
	struct ask *a = arg;

	a->err = err;
	a->hold = hold;
	a->token = hold != NULL ? kustos_hold_token(hold) : 0;
	a->order = atomic_fetch_add(&asks_ended, 1) + 1;
	a->at_ms = test_now_ms();
	if (hold != NULL && a->inside != NULL)
		ck_assert_int_eq(atomic_fetch_add(a->inside, 1), 0);
	if (hold != NULL && a->release) {
		if (a->inside != NULL)
			atomic_fetch_sub(a->inside, 1);
		check_err(kustos_hold_release(hold), KUSTOS_OK);
		a->hold = NULL;
	}
	atomic_fetch_add(&a->calls, 1);
}

enum kustos_err ask_try(struct ask *a, struct kustos_mutex *mutex,
	kustos_deadline deadline)
{
	return kustos_mutex_acquire_async(mutex, deadline, NULL, ask_ended, a);
}

void ask(struct ask *a, struct kustos_mutex *mutex, kustos_deadline deadline)
{
	check_err(ask_try(a, mutex, deadline), KUSTOS_OK);
}

enum kustos_err ask_wait(struct ask *a, int ms)
{
	test_eventually(atomic_load(&a->calls) > 0, ms);
	ck_assert_int_eq(atomic_load(&a->calls), 1);
	return a->err;
}

/* Take them in the order in which they end: one may wait for what another
   holds. */
enum kustos_err asks_end(struct ask *asks, int count)
{
	int64_t end = test_now_ms() + PATIENCE_MS;
	enum kustos_err err = KUSTOS_OK;
	int ended = 0;

	for (; ended < count && test_now_ms() < end; test_pause_1ms())
		for (int i = 0; i < count; i++) {
			if (atomic_exchange(&asks[i].calls, 0) == 0)
				continue;
			ended++;
			if (asks[i].err != KUSTOS_OK)
				err = asks[i].err;
			else if (kustos_hold_release(asks[i].hold) != KUSTOS_OK)
				err = KUSTOS_ELOST;
		}
	return ended == count ? err : KUSTOS_ETIMEDOUT;
}

bool ask_waits(const struct ask *a)
{
	return atomic_load(&a->calls) == 0;
}

void rival_enter_as(struct rival *rival, const char *prefix)
{
	rival->raw = raw_open(fixture_address(), 60000);
	ck_assert_ptr_nonnull(rival->raw);
	(void)raw_do_create(rival->raw, "/locks", NULL, RAW_PERSISTENT, NULL,
		0);
	(void)raw_do_create(rival->raw, LINE, "", RAW_PERSISTENT, NULL, 0);
	ck_assert_int_eq(raw_do_create(rival->raw, prefix, "",
				 RAW_EPHEMERAL_SEQUENTIAL, rival->path,
				 sizeof(rival->path)),
		0);
}

void rival_enter(struct rival *rival)
{
	rival_enter_as(rival,
		LINE "/_c_00112233-4455-6677-8899-aabbccddeeff-lock-");
}

void rival_leave(struct rival *rival)
{
	(void)raw_do_delete(rival->raw, rival->path, -1);
	raw_close(rival->raw);
	rival->raw = NULL;
}

void count_call(void *arg, struct kustos_hold *hold)
{
	(void)hold;
	__atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

int calls_of(const int *count)
{
	return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}
