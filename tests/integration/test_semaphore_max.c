/*
 * test_semaphore_max.c - a number of leases that is stored in a node and
 * changes while leases are held.
 */
#include "semaphore_fixture.h"

#include <pthread.h>
#include <string.h>

#define T_MS 40000

static void open_pair(struct kustos_client_options *behind_proxy)
{
	if (behind_proxy != NULL)
		pair_open_with(behind_proxy, 0);
	else
		pair_open(T_MS, 0);
	sem = sem_shared(client);
	others = sem_shared(other);
}

static void set_up(void)
{
	open_pair(NULL);
}

/* Store something that is no number in its node, which exists. */
static void set_raw(const char *data)
{
	ck_assert_int_eq(raw_set(fixture_address(), NUMBER, data), 0);
}

static void wait_max(struct kustos_semaphore *which, int max)
{
	test_eventually(kustos_semaphore_max(which) == max, 2000);
}

START_TEST(the_number_is_that_of_curators_shared_count)
{
	struct raw_stat stat;
	char data[8];

	set_up();
	ck_assert_int_eq(kustos_semaphore_max(sem), -1);
	check_err(kustos_semaphore_set_max(sem, -1, SOON, NULL), KUSTOS_EINVAL);
	sem_set(sem, 0x01020304);
	struct raw *raw = raw_open(fixture_address(), 30000);
	memset(data, 'x', sizeof(data));
	ck_assert_int_eq(raw_do_get(raw, NUMBER, data, sizeof(data), &stat), 0);
	ck_assert_int_eq(stat.data_length, 4);
	ck_assert_int_eq(memcmp(data, "\1\2\3\4", 4), 0);
	ck_assert_int_eq(stat.ephemeral_owner, 0);
	raw_close(raw);
	check_err(sem_try(others), KUSTOS_OK);
	ck_assert_int_eq(kustos_semaphore_max(others), 0x01020304);
	sem_pair_close();
}
END_TEST

static void *set_seven(void *arg)
{
	enum kustos_err err = kustos_semaphore_set_max(sem, 7, SOON, NULL);

	(void)arg;
	return (void *)(intptr_t)err;
}

/* The node did not exist, and does when it is to be created. */
START_TEST(who_is_beaten_to_making_the_node_stores_its_number_all_the_same)
{
	struct kustos_client_options o = pair_proxy(T_MS);
	pthread_t thread;
	void *got;

	open_pair(&o);
	proxy_arm(proxy, PROXY_HOLD_REPLY, ZK_OP_SET, 1);
	pthread_create(&thread, NULL, set_seven, NULL);
	test_eventually(proxy_fired(proxy), 3000);
	sem_set(others, 2);
	proxy_set_mode(proxy, PROXY_PASS);
	ck_assert_int_eq(pthread_join(thread, &got), 0);
	check_err((enum kustos_err)(intptr_t)got, KUSTOS_OK);
	check_err(sem_try(others), KUSTOS_OK);
	wait_max(others, 7);
	sem_pair_close();
}
END_TEST

START_TEST(without_a_number_there_is_no_room)
{
	struct ask waits = { 0 };

	set_up();
	check_err(sem_try(sem), KUSTOS_EBUSY);
	sem_ask(&waits, sem, SOON);
	sem_wait_count(LEASES, 1);
	ck_assert(ask_waits(&waits));
	sem_set(others, 0);
	wait_max(sem, 0);
	set_raw("1234567");
	wait_max(sem, -1);
	ck_assert(ask_waits(&waits));
	/* Curator's count may be negative. */
	set_raw("\xff\xff\xff\xff");
	wait_max(sem, 0);
	ck_assert(ask_waits(&waits));
	sem_set(others, 1);
	check_err(ask_wait(&waits, 1000), KUSTOS_OK);
	hold_give(waits.hold);
	ck_assert_int_eq(raw_delete(fixture_address(), NUMBER), 0);
	pair_flush();
	check_err(sem_try(sem), KUSTOS_EBUSY);
	wait_max(sem, -1);
	sem_pair_close();
}
END_TEST

START_TEST(S14_growing_serves_those_who_wait)
{
	struct ask asks[3] = { { 0 } };
	struct kustos_hold *held;

	set_up();
	sem_set(sem, 1);
	held = sem_take(sem);
	for (int i = 0; i < 3; i++) {
		sem_ask(&asks[i], others, SOON);
		sem_wait_count(LOCKS, i + 1);
	}
	sem_wait_count(LEASES, 2);
	sem_set(sem, 3);
	check_err(ask_wait(&asks[0], 1000), KUSTOS_OK);
	check_err(ask_wait(&asks[1], 1000), KUSTOS_OK);
	sem_wait_count(LEASES, 4);
	ck_assert(ask_waits(&asks[2]));
	sem_set(sem, 4);
	check_err(ask_wait(&asks[2], 1000), KUSTOS_OK);
	hold_give(held);
	for (int i = 0; i < 3; i++)
		hold_give(asks[i].hold);
	sem_pair_close();
}
END_TEST

START_TEST(S14_shrinking_grants_nobody_until_it_fits)
{
	struct kustos_hold *three[3];
	struct ask waits = { 0 };

	set_up();
	sem_set(sem, 3);
	sem_take_many(sem, 3, three);
	sem_set(others, 1);
	sem_ask(&waits, others, SOON);
	sem_wait_count(LEASES, 4);
	/* The holders keep their leases. */
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(kustos_hold_state(three[i]), KUSTOS_HOLD_HELD);
	hold_give(three[1]);
	sem_wait_count(LEASES, 3);
	hold_give(three[0]);
	sem_wait_count(LEASES, 2);
	check_err(sem_try(sem), KUSTOS_EBUSY);
	ck_assert(ask_waits(&waits));
	hold_give(three[2]);
	check_err(ask_wait(&waits, 1000), KUSTOS_OK);
	hold_give(waits.hold);
	sem_pair_close();
}
END_TEST

START_TEST(more_than_there_may_be_waits_for_it_to_grow)
{
	struct kustos_hold *two[2];

	set_up();
	sem_set(sem, 1);
	check_err(
		kustos_semaphore_acquire_many(others, 2, KUSTOS_NOW, NULL, two),
		KUSTOS_EBUSY);
	check_err(kustos_semaphore_acquire_many(others, 2, kustos_after_ms(30),
			  NULL, two),
		KUSTOS_ETIMEDOUT);
	sem_set(sem, 2);
	sem_take_many(others, 2, two);
	give_many(two, 2);
	sem_pair_close();
}
END_TEST

START_TEST(L08_a_number_that_changed_meanwhile_is_seen_after_a_reconnect)
{
	struct kustos_client_options o = pair_proxy(T_MS);
	struct ask waits = { 0 };
	struct kustos_hold *held;

	open_pair(&o);
	sem_set(others, 1);
	held = sem_take(sem);
	sem_ask(&waits, sem, SOON);
	sem_wait_count(LEASES, 2);
	proxy_set_mode(proxy, PROXY_REFUSE);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 5000);
	sem_set(others, 2);
	ck_assert(ask_waits(&waits));
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(ask_wait(&waits, 5000), KUSTOS_OK);
	hold_give(waits.hold);
	hold_give(held);
	sem_pair_close();
}
END_TEST

/* A request for the number is waiting for a connection. */
START_TEST(L06_a_close_does_not_wait_for_a_number)
{
	struct kustos_client *nowhere = client_open("127.0.0.1:1", T_MS);
	struct kustos_semaphore *one = sem_shared(nowhere);
	struct kustos_hold *hold = NULL;
	int64_t began;

	check_err(
		kustos_semaphore_acquire(one, kustos_after_ms(50), NULL, &hold),
		KUSTOS_ETIMEDOUT);
	kustos_semaphore_destroy(one);
	began = test_now_ms();
	check_err(kustos_client_close(nowhere, kustos_after_ms(PATIENCE_MS),
			  NULL),
		KUSTOS_OK);
	ck_assert_int_lt(test_now_ms() - began, PATIENCE_MS / 2);
}
END_TEST

/* Never freed after the close of their client; known here, so they are no
   leaks. */
static struct kustos_semaphore *volatile left[2];

/* The node in which others leave their number is watched as long as the
   semaphore exists, and read again in the next session.  Here the session was
   given up, so nobody knows whether it is over. */
START_TEST(L06_a_close_does_not_wait_for_what_is_only_watched)
{
	struct kustos_client_options o = pair_proxy(4000);
	struct kustos_client *mine = client_open_with(&o);
	int64_t began;

	client_wait(mine, KUSTOS_STATE_CONNECTED, 5000);
	left[_i] = _i == 0 ? sem_new(mine, 1) : sem_shared(mine);
	check_err(sem_try(left[_i]), _i == 0 ? KUSTOS_OK : KUSTOS_EBUSY);
	proxy_set_mode(proxy, PROXY_REFUSE);
	test_eventually(client_session_id(mine) == 0, 10000);
	began = test_now_ms();
	check_err(kustos_client_close(mine, kustos_after_ms(PATIENCE_MS), NULL),
		KUSTOS_ELINGERING);
	ck_assert_int_lt(test_now_ms() - began, PATIENCE_MS / 2);
	proxy_free(proxy);
	proxy = NULL;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("semaphore, its number");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_test(t, the_number_is_that_of_curators_shared_count);
	tcase_add_test(t,
		who_is_beaten_to_making_the_node_stores_its_number_all_the_same);
	tcase_add_test(t, without_a_number_there_is_no_room);
	tcase_add_test(t, S14_growing_serves_those_who_wait);
	tcase_add_test(t, S14_shrinking_grants_nobody_until_it_fits);
	tcase_add_test(t, more_than_there_may_be_waits_for_it_to_grow);
	tcase_add_test(t,
		L08_a_number_that_changed_meanwhile_is_seen_after_a_reconnect);
	tcase_add_test(t, L06_a_close_does_not_wait_for_a_number);
	tcase_add_loop_test(t,
		L06_a_close_does_not_wait_for_what_is_only_watched, 0, 2);
	return fixture_main(s);
}
