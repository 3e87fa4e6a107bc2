/*
 * test_unlock_waits.c - what an unlock that waits for the server returns: OK
 * only if the server has confirmed that the node is gone.
 */
#include <kustos/rwlock.h>

#include "simple_fixture.h"

#include <stdio.h>
#include <string.h>

#define T_MS 1500
#define KINDS 3

/* A lock of "client" of each kind. */
static struct kustos_mutex *waiting;
static struct kustos_rwlock *rwlock;
static struct kustos_simple *single;

static void set_up(void)
{
	struct kustos_mutex_options m = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_rwlock_options r = KUSTOS_RWLOCK_OPTIONS_INIT;
	struct kustos_simple_options s = KUSTOS_SIMPLE_OPTIONS_INIT;

	pair_open_behind_proxy(T_MS, 0);
	m.unlock_waits = r.unlock_waits = s.unlock_waits = 1;
	check_err(kustos_mutex_create(client, LINE, &m, &waiting), KUSTOS_OK);
	check_err(kustos_rwlock_create(client, "/locks/rw", &r, &rwlock),
		KUSTOS_OK);
	check_err(kustos_simple_create(client, "/locks/one", &s, &single),
		KUSTOS_OK);
}

static void tear_down(void)
{
	kustos_mutex_destroy(waiting);
	kustos_rwlock_destroy(rwlock);
	kustos_simple_destroy(single);
	pair_close();
}

static enum kustos_err lock(int kind)
{
	if (kind == 0)
		return kustos_mutex_lock(waiting, SOON, NULL);
	if (kind == 1)
		return kustos_rwlock_lock(rwlock, KUSTOS_WRITE, SOON, NULL);
	return kustos_simple_lock(single, SOON, NULL);
}

static enum kustos_err unlock(int kind)
{
	if (kind == 0)
		return kustos_mutex_unlock(waiting);
	if (kind == 1)
		return kustos_rwlock_unlock(rwlock, KUSTOS_WRITE);
	return kustos_simple_unlock(single);
}

static struct kustos_hold *hold_of(int kind)
{
	if (kind == 0)
		return kustos_mutex_hold(waiting);
	if (kind == 1)
		return kustos_rwlock_hold(rwlock, KUSTOS_WRITE);
	return kustos_simple_hold(single);
}

START_TEST(an_unlock_that_is_not_confirmed_in_its_session_is_not_ok)
{
	check_err(lock(_i), KUSTOS_OK);
	proxy_set_mode(proxy, PROXY_REFUSE);
	proxy_cut(proxy);
	test_eventually(kustos_client_state(client) != KUSTOS_STATE_CONNECTED,
		3000);
	check_err(unlock(_i), KUSTOS_ELOST);
	check_err(unlock(_i), KUSTOS_ENOTHELD);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(lock(_i), KUSTOS_OK);
	check_err(unlock(_i), KUSTOS_OK);
}
END_TEST

/* The request was sent, and is never answered. */
START_TEST(an_unlock_that_is_not_answered_in_its_session_is_not_ok)
{
	check_err(lock(_i), KUSTOS_OK);
	pair_settle();
	ck_assert_int_eq(server_pause(fixture_server()), 0);
	check_err(unlock(_i), KUSTOS_ELOST);
	ck_assert_int_eq(server_resume(fixture_server()), 0);
	check_err(lock(_i), KUSTOS_OK);
	check_err(unlock(_i), KUSTOS_OK);
}
END_TEST

/* Somebody deletes the node, and its owner has not heard of that. */
START_TEST(an_unlock_that_finds_its_node_gone_is_ok)
{
	check_err(lock(_i), KUSTOS_OK);
	pair_settle();
	proxy_set_delay(proxy, 0, 200);
	ck_assert_int_eq(
		raw_delete(fixture_address(), kustos_hold_path(hold_of(_i))),
		0);
	check_err(unlock(_i), KUSTOS_OK);
	proxy_set_delay(proxy, 0, 0);
}
END_TEST

/* In a long line, the transaction that deletes the node writes into that of the
   line as well. */
START_TEST(an_unlock_in_a_long_line_is_confirmed_as_well)
{
	char path[64], node[128], *data = NULL;
	size_t len;

	for (int i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), LINE "/other%d", i);
		client_create(other, path, KUSTOS_CREATE_PARENTS);
	}
	check_err(lock(0), KUSTOS_OK);
	snprintf(node, sizeof(node), "%s", kustos_hold_path(hold_of(0)));
	check_err(unlock(0), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 40);
	check_err(kustos_get(other, LINE, SOON, NULL, &data, &len, NULL),
		KUSTOS_OK);
	ck_assert_str_eq(data, strrchr(node, '/') + 1);
	kustos_free(data);
	ck_assert_int_eq(raw_delete_tree(fixture_address(), LINE), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("an unlock that waits");
	TCase *t = fixture_case(s, "two clients", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t,
		an_unlock_that_is_not_confirmed_in_its_session_is_not_ok, 0,
		KINDS);
	tcase_add_loop_test(t,
		an_unlock_that_is_not_answered_in_its_session_is_not_ok, 0,
		KINDS);
	tcase_add_loop_test(t, an_unlock_that_finds_its_node_gone_is_ok, 0,
		KINDS);
	tcase_add_test(t, an_unlock_in_a_long_line_is_confirmed_as_well);
	return fixture_main(s);
}
