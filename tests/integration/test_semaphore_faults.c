/*
 * test_semaphore_faults.c - a frame is lost at any point of acquiring, waiting
 * for and releasing leases; sessions end and nodes are deleted: there are never
 * too many leases, and nothing is left.  inject.h loses the frames; the rest is
 * done from outside.
 */
#include "faults.h"
#include "inject.h"
#include "rawkill.h"
#include "semaphore_fixture.h"

#include <stdio.h>
#include <string.h>

#define T_MS 8000
#define MAX 2

static void set_up(void)
{
	faults_open(T_MS);
	sem = sem_new(client, MAX);
	others = sem_new(other, MAX);
}

static void tear_down(void)
{
	inject_reset();
	sem_pair_close();
}

static void one_cycle(void)
{
	struct kustos_hold *both[MAX], *none = NULL;

	sem_take_many(sem, MAX, both);
	for (int i = 0; i < MAX; i++)
		check_node(both[i], client);
	sem_check(MAX, 0);
	check_err(kustos_semaphore_acquire(others, kustos_after_ms(20), NULL,
			  &none),
		KUSTOS_ETIMEDOUT);
	sem_flush();
	give_many(both, MAX);
	sem_check(0, 0);
}

static void one_wait(void)
{
	struct kustos_hold *theirs[MAX];
	struct ask ours[3] = { { .calls = 0 } };

	sem_take_many(others, MAX, theirs);
	fault_arm_own();
	for (int i = 0; i < 3; i++) {
		sem_ask(&ours[i], sem, SOON);
		sem_wait_count(LOCKS, 1 + i);
	}
	sem_wait_count(LEASES, MAX + 1);
	give_many(theirs, MAX);
	for (int i = 0; i < 2; i++) {
		check_err(ask_wait(&ours[i], 8000), KUSTOS_OK);
		check_node(ours[i].hold, client);
	}
	sem_wait_count(LEASES, MAX + 1);
	ck_assert(ask_waits(&ours[2]));
	hold_give(ours[1].hold);
	check_err(ask_wait(&ours[2], 8000), KUSTOS_OK);
	sem_check(MAX, 0);
	hold_give(ours[0].hold);
	hold_give(ours[2].hold);
	sem_check(0, 0);
}

static const struct faults_lock faulty = {
	.codes = fault_codes,
	.points = 3,
	.cycle = one_cycle,
	.wait = one_wait,
};

/* Give up while the fault is in effect, and before the client can recover. */
START_TEST(L05_giving_up_amid_a_fault_leaves_nothing)
{
	struct kustos_hold *theirs[MAX], *hold = NULL;

	sem_take_many(others, MAX, theirs);
	fault_arm(&faulty, _i);
	check_err(
		kustos_semaphore_acquire(sem, kustos_after_ms(40), NULL, &hold),
		KUSTOS_ETIMEDOUT);
	inject_reset();
	give_many(theirs, MAX);
	sem_check(0, 0);
	one_cycle();
}
END_TEST

/* --- Sessions that end --------------------------------------------------- */

START_TEST(S11_a_waiter_whose_session_ended_waits_anew)
{
	struct kustos_hold *theirs[MAX];
	struct ask ours = { 0 }, later = { 0 };
	int64_t session = client_session_id(client);

	sem_take_many(others, MAX, theirs);
	sem_ask(&ours, sem, SOON);
	sem_wait_count(LOCKS, 1);
	sem_wait_count(LEASES, MAX + 1);
	sem_ask(&later, others, SOON);
	sem_wait_count(LOCKS, 2);
	client_kill_session(client);
	/* The other one is first now, and ours is behind it. */
	test_eventually(client_session_id(client) != session, 5000);
	sem_wait_count(LOCKS, 2);
	ck_assert(ask_waits(&ours));
	hold_give(theirs[0]);
	check_err(ask_wait(&later, 2000), KUSTOS_OK);
	ck_assert(ask_waits(&ours));
	hold_give(later.hold);
	check_err(ask_wait(&ours, 2000), KUSTOS_OK);
	check_node(ours.hold, client);
	hold_give(ours.hold);
	hold_give(theirs[1]);
	sem_check(0, 0);
}
END_TEST

START_TEST(S01_a_lease_whose_session_ended_is_lost_and_given_to_another)
{
	struct kustos_hold *ours = sem_take(sem), *theirs = sem_take(others);
	struct ask waits = { 0 };
	int lost = 0;

	check_err(kustos_hold_on_lost(ours, count_call, &lost), KUSTOS_OK);
	sem_ask(&waits, others, SOON);
	sem_wait_count(LOCKS, 1);
	client_kill_session(client);
	check_err(ask_wait(&waits, 2000), KUSTOS_OK);
	test_eventually(calls_of(&lost) == 1, 5000);
	check_err(kustos_hold_release(ours), KUSTOS_ELOST);
	sem_check(2, 0);
	hold_give(waits.hold);
	hold_give(theirs);
}
END_TEST

START_TEST(S12_a_cut_satisfies_nobody_who_waits)
{
	struct kustos_hold *theirs[MAX];
	struct ask ours = { 0 };

	sem_take_many(others, MAX, theirs);
	sem_ask(&ours, sem, SOON);
	sem_wait_count(LOCKS, 1);
	for (int i = 0; i < 3; i++) {
		int64_t epoch = client_epoch(client);

		proxy_cut(proxy);
		client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
		ck_assert_int_eq(client_epoch(client), epoch);
		ck_assert(ask_waits(&ours));
	}
	hold_give(theirs[0]);
	check_err(ask_wait(&ours, 5000), KUSTOS_OK);
	hold_give(ours.hold);
	hold_give(theirs[1]);
}
END_TEST

/* --- Nodes that go ------------------------------------------------------- */

/* Find the one child of "path" that is none of "theirs" and not "old". */
static bool find_ours(const char *path, struct kustos_hold **theirs,
	const char *old, char found[256])
{
	struct raw_names names;
	int count = 0;

	ck_assert_int_eq(raw_children(fixture_address(), path, &names), 0);
	for (int i = 0; i < names.count; i++) {
		char node[256];
		bool known;

		snprintf(node, sizeof(node), "%s/%s", path, names.names[i]);
		known = strcmp(node, old) == 0;
		for (int k = 0; k < MAX; k++)
			known = known ||
				strcmp(node, kustos_hold_path(theirs[k])) == 0;
		if (known)
			continue;
		snprintf(found, 256, "%s", node);
		count++;
	}
	raw_names_free(&names);
	return count == 1;
}

/* Delete our node in "path"; it must then be replaced by another. */
static void replace(const char *path, struct kustos_hold **theirs)
{
	char old[256], now[256];

	test_eventually(find_ours(path, theirs, "", old), 2000);
	ck_assert_int_eq(raw_delete(fixture_address(), old), 0);
	test_eventually(find_ours(path, theirs, old, now), 2000);
}

/* A waiter has a node of each kind, a lease and a lock; either may be deleted
   by somebody else. */
START_TEST(S09_who_waits_takes_what_was_deleted_anew)
{
	struct kustos_hold *theirs[MAX];
	struct ask ours = { 0 };

	sem_take_many(others, MAX, theirs);
	sem_ask(&ours, sem, SOON);
	sem_wait_count(LOCKS, 1);
	sem_wait_count(LEASES, MAX + 1);
	replace(LEASES, theirs);
	replace(LOCKS, theirs);
	sem_wait_count(LEASES, MAX + 1);
	ck_assert(ask_waits(&ours));
	ck_assert_int_eq(
		raw_delete(fixture_address(), kustos_hold_path(theirs[0])), 0);
	check_err(ask_wait(&ours, 5000), KUSTOS_OK);
	check_node(ours.hold, client);
	hold_give(ours.hold);
	hold_wait(theirs[0], KUSTOS_HOLD_LOST, 2000);
	check_err(kustos_hold_release(theirs[0]), KUSTOS_ELOST);
	hold_give(theirs[1]);
	sem_check(0, 0);
}
END_TEST

START_TEST(L13_a_semaphore_that_was_deleted_is_made_again)
{
	one_cycle();
	ck_assert_int_eq(raw_delete_tree(fixture_address(), SEM), 0);
	one_cycle();
}
END_TEST

/* --- No connection ------------------------------------------------------- */

static void take_leave(void *arg, struct kustos_hold *lease)
{
	int *told = (int *)arg;

	*told += kustos_hold_state(lease) == KUSTOS_HOLD_LOST;
	check_err(kustos_hold_release(lease), KUSTOS_ELOST);
}

/* Never freed after the close of its client; known here, so it is no leak. */
static struct kustos_semaphore *volatile left;

START_TEST(L01_closing_a_client_ends_each_wait_once_and_gives_leases_back)
{
	struct ask asks[3] = { { .calls = 0 } };
	struct ask theirs = { .calls = 0 };
	struct kustos_client *victim;
	int told = 0;

	victim = client_connected(fixture_address(), T_MS);
	left = sem_new(victim, MAX);
	for (int i = 0; i < MAX; i++)
		check_err(
			kustos_hold_on_lost(sem_take(left), take_leave, &told),
			KUSTOS_OK);
	for (int i = 0; i < 3; i++)
		sem_ask(&asks[i], left, KUSTOS_FOREVER);
	sem_ask(&theirs, others, SOON);
	sem_wait_count(LOCKS, 4);
	client_close(victim);
	ck_assert_int_eq(told, MAX);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(asks[i].calls, 1);
		check_err(asks[i].err, KUSTOS_ECLOSED);
	}
	check_err(ask_wait(&theirs, 2000), KUSTOS_OK);
	sem_check(1, 0);
	hold_give(theirs.hold);
}
END_TEST

START_TEST(L20_a_try_does_not_wait_for_a_connection)
{
	struct kustos_hold *hold = NULL;
	struct ask ours = { 0 };

	proxy_set_mode(proxy, PROXY_REFUSE);
	proxy_cut(proxy);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 5000);
	check_err(sem_try(sem), KUSTOS_EDISCONNECTED);
	check_err(
		kustos_semaphore_acquire(sem, kustos_after_ms(50), NULL, &hold),
		KUSTOS_ETIMEDOUT);
	sem_ask(&ours, sem, SOON);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(ask_wait(&ours, 5000), KUSTOS_OK);
	hold_give(ours.hold);
	sem_check(0, 0);
}
END_TEST

/* A try that is cut off ends at once, and its node is deleted later. */
START_TEST(L05_a_try_that_is_cut_off_leaves_nothing)
{
	hold_give(sem_take(sem));
	sem_flush();
	inject_frame(INJECT_LOSE_REPLY, ZK_OP_CREATE2, 1);
	check_err(sem_try(sem), KUSTOS_EDISCONNECTED);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	sem_check(0, 0);
}
END_TEST

/* Return whether the semaphore's node says for how many there is room. */
static bool is_noted(void)
{
	struct raw *raw = raw_open(fixture_address(), 30000);
	char text[16] = "";

	ck_assert_int_ge(raw_do_get(raw, SEM, text, sizeof(text), NULL), 0);
	raw_close(raw);
	return strcmp(text, "2") == 0;
}

START_TEST(S14_a_note_that_did_not_arrive_is_left_again)
{
	inject_frame(INJECT_FAIL_SEND, ZK_OP_SET, 1);
	hold_give(sem_take(sem));
	test_eventually(inject_fired() == 1, 5000);
	test_eventually(is_noted(), 5000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("semaphore, faults");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	faults_add(t, &faulty);
	tcase_add_loop_test(t, L05_giving_up_amid_a_fault_leaves_nothing, 0,
		FAULTS(3));
	tcase_add_test(t, S11_a_waiter_whose_session_ended_waits_anew);
	tcase_add_test(t,
		S01_a_lease_whose_session_ended_is_lost_and_given_to_another);
	tcase_add_test(t, S12_a_cut_satisfies_nobody_who_waits);
	tcase_add_test(t, S09_who_waits_takes_what_was_deleted_anew);
	tcase_add_test(t, L13_a_semaphore_that_was_deleted_is_made_again);
	tcase_add_test(t,
		L01_closing_a_client_ends_each_wait_once_and_gives_leases_back);
	tcase_add_test(t, L20_a_try_does_not_wait_for_a_connection);
	tcase_add_test(t, L05_a_try_that_is_cut_off_leaves_nothing);
	tcase_add_test(t, S14_a_note_that_did_not_arrive_is_left_again);
	return fixture_main(s);
}
