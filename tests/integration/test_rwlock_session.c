/*
 * test_rwlock_session.c - sessions and nodes are lost while somebody reads,
 * writes, or waits to do so.  Sessions are ended and nodes deleted from
 * outside; the proxy cuts the client off.
 */
#include "faults.h"
#include "inject.h"
#include "rawkill.h"
#include "rwlock_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 9000
#define QUIET_MS 100

static void set_up(void)
{
	inject_reset();
	pair_open_behind_proxy(T_MS, 0);
	rw_pair_make(32);
}

static void tear_down(void)
{
	inject_reset();
	rw_pair_close();
}

static void kill_session(void)
{
	ck_assert_int_eq(
		raw_kill_session(fixture_address(), client_session_id(client)),
		0);
}

/* --- Who holds ----------------------------------------------------------- */

/* What a thread has locked, as digits: 1 writes, 0 reads. */
static const char *const locked[] = { "0", "00", "1", "11", "10", "1001" };
#define LOCKED 6

START_TEST(S05_what_is_lost_is_not_entered_again_and_every_level_says_so)
{
	struct kustos_hold *theirs;
	bool sides[2] = { false, false };

	for (const char *step = locked[_i]; *step != '\0'; step++) {
		rw_lock(rw, (enum kustos_side)(*step - '0'));
		sides[*step - '0'] = true;
	}
	kill_session();
	for (int side = 0; side < 2; side++)
		if (sides[side])
			hold_wait(
				kustos_rwlock_hold(rw, (enum kustos_side)side),
				KUSTOS_HOLD_LOST, 2000);
	theirs = rw_take(rw_rivals, KUSTOS_WRITE);
	client_wait_epoch(client, 1, 5000);
	for (int side = 0; side < 2; side++)
		ck_assert_int_eq(
			kustos_rwlock_token(rw, (enum kustos_side)side), 0);
	for (int side = 0; side < 2; side++)
		if (sides[side])
			check_err(kustos_rwlock_lock(rw, (enum kustos_side)side,
					  SOON, NULL),
				KUSTOS_ELOST);
	for (const char *step = locked[_i]; *step != '\0'; step++)
		check_err(kustos_rwlock_unlock(rw,
				  (enum kustos_side)(*step - '0')),
			KUSTOS_ELOST);
	for (int side = 0; side < 2; side++)
		check_err(kustos_rwlock_unlock(rw, (enum kustos_side)side),
			KUSTOS_ENOTHELD);
	rw_flush();
	ck_assert_int_eq(line_count(), 1);
	check_node(theirs, other);
	hold_give(theirs);
	rw_lock(rw, KUSTOS_WRITE);
	rw_unlock(rw, KUSTOS_WRITE);
}
END_TEST

/* All holds of one session are told, each once; even a reader that was a
   writer. */
START_TEST(S01_every_hold_of_a_session_is_told_of_its_end)
{
	struct kustos_hold *holds[3];
	int lost[3] = { 0, 0, 0 };
	int count = 1;

	holds[0] = rw_take(rw, (enum kustos_side)(_i > 0));
	if (_i == 0) /* readers */
		holds[count++] = rw_take(rw, KUSTOS_READ);
	else if (_i == 2) /* a writer and its readers */
		for (; count < 3; count++)
			holds[count] = rw_downgrade(rw, holds[0]);
	for (int i = 0; i < count; i++)
		check_err(kustos_hold_on_lost(holds[i], count_call, &lost[i]),
			KUSTOS_OK);
	kill_session();
	for (int i = 0; i < count; i++) {
		test_eventually(calls_of(&lost[i]) == 1, 2000);
		ck_assert_int_eq(kustos_hold_state(holds[i]), KUSTOS_HOLD_LOST);
		check_err(kustos_hold_release(holds[i]), KUSTOS_ELOST);
		ck_assert_int_eq(calls_of(&lost[i]), 1);
	}
	hold_give(rw_take(rw_rivals, KUSTOS_WRITE));
}
END_TEST

/* A writer that also reads has two nodes; one is deleted and the other one
   stays. */
START_TEST(S09_a_hold_whose_node_is_deleted_is_lost_and_no_other)
{
	struct kustos_hold *writer = rw_take(rw, KUSTOS_WRITE);
	struct kustos_hold *reader = rw_downgrade(rw, writer);
	struct kustos_hold *gone = _i == 0 ? reader : writer;
	struct kustos_hold *left = _i == 0 ? writer : reader;
	struct ask theirs = { .calls = 0 };
	int lost = 0, none = 0;

	rw_ask(&theirs, rw_rivals, KUSTOS_WRITE, SOON);
	line_wait(3);
	check_err(kustos_hold_on_lost(gone, count_call, &lost), KUSTOS_OK);
	check_err(kustos_hold_on_lost(left, count_call, &none), KUSTOS_OK);
	ck_assert_int_eq(raw_delete(fixture_address(), kustos_hold_path(gone)),
		0);
	hold_wait(gone, KUSTOS_HOLD_LOST, 1000);
	test_eventually(calls_of(&lost) == 1, 1000);
	test_never(!ask_waits(&theirs), QUIET_MS);
	ck_assert_int_eq(kustos_hold_state(left), KUSTOS_HOLD_HELD);
	check_err(kustos_hold_release(gone), KUSTOS_ELOST);
	rw_check_node(left, client);
	hold_give(left);
	check_err(ask_wait(&theirs, 2000), KUSTOS_OK);
	ck_assert_int_eq(calls_of(&lost), 1);
	ck_assert_int_eq(calls_of(&none), 0);
	hold_give(theirs.hold);
}
END_TEST

START_TEST(S09_a_reader_whose_node_is_deleted_is_lost_at_once)
{
	struct kustos_hold *holds[2] = { rw_take(rw, KUSTOS_READ),
		rw_take(rw, KUSTOS_READ) };

	ck_assert_int_eq(
		raw_delete(fixture_address(), kustos_hold_path(holds[_i])), 0);
	hold_wait(holds[_i], KUSTOS_HOLD_LOST, 1000);
	ck_assert_int_eq(kustos_hold_state(holds[!_i]), KUSTOS_HOLD_HELD);
	check_err(kustos_hold_release(holds[_i]), KUSTOS_ELOST);
	hold_give(holds[!_i]);
}
END_TEST

/* Cut off for longer than the lease and shorter than the timeout: what was held
   stays lost, and blocks nobody. */
START_TEST(L17_what_was_given_up_does_not_block_the_line)
{
	struct kustos_hold *hold = rw_take(rw, (enum kustos_side)_i);
	int64_t id = client_session_id(client);
	struct ask theirs = { .calls = 0 };

	rw_ask(&theirs, rw_rivals, KUSTOS_WRITE, SOON);
	line_wait(2);
	proxy_set_mode(proxy, PROXY_HOLD);
	hold_wait(hold, KUSTOS_HOLD_LOST, T_MS);
	ck_assert_int_eq(line_count(), 2);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(ask_wait(&theirs, 3000), KUSTOS_OK);
	ck_assert(client_session_id(client) == id);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	check_node(theirs.hold, other);
	hold_give(theirs.hold);
}
END_TEST

/* --- Who waits ----------------------------------------------------------- */

/* Three wait behind a writer; the loop tries all combinations of sides.  Their
   session ends, and the writer leaves. */
START_TEST(S11_who_waits_and_loses_its_session_is_served_with_a_new_node_only)
{
	struct ask asks[3] = { { .calls = 0 } };
	int64_t old = client_session_id(client);
	struct rival rival;

	rw_rival_enter(&rival, KUSTOS_WRITE);
	for (int i = 0; i < 3; i++) {
		rw_ask(&asks[i], rw, _i >> i & 1 ? KUSTOS_WRITE : KUSTOS_READ,
			SOON);
		/* The writers of one object share a node. */
		test_eventually(line_count() > 1, 2000);
	}
	inject_connect(ECONNREFUSED);
	kill_session();
	ck_assert_int_eq(line_count(), 1);
	rival_leave(&rival);
	test_never(!ask_waits(&asks[0]) || !ask_waits(&asks[1]) ||
			!ask_waits(&asks[2]),
		QUIET_MS);
	inject_connect(0);
	for (int i = 0; i < 3; i++) {
		test_eventually(!ask_waits(&asks[0]) || !ask_waits(&asks[1]) ||
				!ask_waits(&asks[2]),
			5000);
		int k = !ask_waits(&asks[0]) ? 0 : !ask_waits(&asks[1]) ? 1 : 2;
		check_err(ask_wait(&asks[k], 100), KUSTOS_OK);
		check_node(asks[k].hold, client);
		hold_give(asks[k].hold);
		atomic_store(&asks[k].calls, 0);
	}
	ck_assert_int_ne(client_session_id(client), old);
}
END_TEST

/* Our reader was before their writer, and is behind it in its new session. */
START_TEST(L14_a_reader_that_loses_its_session_lines_up_again_at_the_tail)
{
	struct ask ours = { .calls = 0 }, theirs = { .calls = 0 };
	struct rival rival;

	rw_rival_enter(&rival, KUSTOS_WRITE);
	rw_ask(&ours, rw, KUSTOS_READ, SOON);
	line_wait(2);
	rw_ask(&theirs, rw_rivals, KUSTOS_WRITE, SOON);
	line_wait(3);
	kill_session();
	client_wait_epoch(client, 1, 5000);
	line_wait(3);
	rival_leave(&rival);
	check_err(ask_wait(&theirs, 2000), KUSTOS_OK);
	test_never(!ask_waits(&ours), QUIET_MS);
	hold_give(theirs.hold);
	check_err(ask_wait(&ours, 2000), KUSTOS_OK);
	ck_assert_int_gt(ours.token, theirs.token);
	check_node(ours.hold, client);
	hold_give(ours.hold);
}
END_TEST

/* Store the path of the one child that is none of the rivals'. */
static void find_ours(const struct rival *line, int count, char *path)
{
	struct raw_names names;

	strcpy(path, LINE "/");
	ck_assert_int_eq(raw_children(fixture_address(), LINE, &names), 0);
	ck_assert_int_eq(names.count, count + 1);
	for (int i = 0; i < names.count; i++) {
		bool theirs = false;

		for (int k = 0; k < count; k++)
			theirs = theirs ||
				strcmp(names.names[i],
					strrchr(line[k].path, '/') + 1) == 0;
		if (!theirs)
			strcat(path, names.names[i]);
	}
	raw_names_free(&names);
}

/* It waits behind a writer, a reader, and a writer, of which "gone" have
   left. */
START_TEST(S08_who_waits_and_loses_its_node_lines_up_again)
{
	enum kustos_side side = (enum kustos_side)(_i % 2);
	struct ask a = { .calls = 0 };
	struct rival line[3];
	char path[256];
	int gone = _i / 2;

	for (int i = 0; i < 3; i++)
		rw_rival_enter(&line[i], (enum kustos_side)(i != 1));
	rw_ask(&a, rw, side, SOON);
	line_wait(4);
	find_ours(line, 3, path);
	for (int i = 0; i < gone; i++)
		rival_leave(&line[i]);
	ck_assert(ask_waits(&a));
	ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	for (int i = gone; i < 3; i++) {
		ck_assert(ask_waits(&a));
		rival_leave(&line[i]);
	}
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	ck_assert_str_ne(kustos_hold_path(a.hold), path);
	check_node(a.hold, client);
	hold_give(a.hold);
}
END_TEST

/* Delete the line's node and all its children in one transaction. */
static void delete_line(void)
{
	struct kustos_op ops[8];
	struct raw_names names;
	char paths[8][256];
	int i;

	ck_assert_int_eq(raw_children(fixture_address(), LINE, &names), 0);
	ck_assert_int_lt(names.count, 8);
	for (i = 0; i < names.count; i++) {
		snprintf(paths[i], sizeof(paths[i]), LINE "/%s",
			names.names[i]);
		ops[i] = (struct kustos_op){ .kind = KUSTOS_OP_DELETE,
			.path = paths[i],
			.version = -1 };
	}
	ops[i] = (struct kustos_op){ .kind = KUSTOS_OP_DELETE,
		.path = LINE,
		.version = -1 };
	check_err(kustos_multi(other, ops, (size_t)i + 1, SOON, NULL, NULL),
		KUSTOS_OK);
	raw_names_free(&names);
}

/* It was granted: in the new line; or because the node before it had gone, in
   which case it learns next that its own node has gone. */
static void check_served(struct ask *a, struct kustos_client *owner)
{
	check_err(ask_wait(a, 2000), KUSTOS_OK);
	test_eventually(kustos_hold_state(a->hold) == KUSTOS_HOLD_LOST ||
			raw_exists(fixture_address(), kustos_hold_path(a->hold),
				NULL) == 0,
		1000);
	if (kustos_hold_state(a->hold) != KUSTOS_HOLD_LOST)
		check_node(a->hold, owner);
	(void)kustos_hold_release(a->hold);
	atomic_store(&a->calls, 0);
}

/* The whole line is deleted with its node.  The holder has lost its hold, and
   the waiters wait in the new line. */
START_TEST(S08_who_waits_in_a_line_that_is_deleted_is_served_in_a_new_one)
{
	struct kustos_hold *hold = rw_take(rw_rivals,
		(enum kustos_side)(_i / 2));
	struct ask writer = { .calls = 0 }, asked = { .calls = 0 };
	int writers_node = _i / 2 == KUSTOS_WRITE ? 1 : 2; /* the holder's */

	rw_ask(&writer, rw_rivals, KUSTOS_WRITE, SOON);
	line_wait(writers_node);
	rw_ask(&asked, rw, (enum kustos_side)(_i % 2), SOON);
	line_wait(writers_node + 1);
	ck_assert(ask_waits(&writer) && ask_waits(&asked));
	delete_line();
	hold_wait(hold, KUSTOS_HOLD_LOST, 1000);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	for (int i = 0; i < 2; i++) {
		test_eventually(!ask_waits(&writer) || !ask_waits(&asked),
			3000);
		if (ask_waits(&writer))
			check_served(&asked, client);
		else
			check_served(&writer, other);
	}
	rw_flush();
}
END_TEST

/* The one before it left while the waiter could not be notified. */
START_TEST(L08_who_waits_looks_again_after_a_reconnect)
{
	enum kustos_side side = (enum kustos_side)(_i % 2);
	struct ask a = { .calls = 0 };
	struct rival rival;

	rw_rival_enter(&rival, KUSTOS_WRITE);
	rw_ask(&a, rw, side, SOON);
	line_wait(2);
	/* A watch on its own node, and one on the node before it. */
	test_eventually(watch_count() == 2, 2000);
	faults_leave_unheard(&rival, _i / 2 == 0);
	check_err(ask_wait(&a, 3000), KUSTOS_OK);
	check_node(a.hold, client);
	hold_give(a.hold);
}
END_TEST

/* Writers and readers of two clients, one of whose connections is cut again and
   again: nobody starts over, and nobody is forgotten. */
#define CHURN 40

START_TEST(L12_turns_go_on_while_connections_fail_and_nodes_are_few)
{
	static struct ask asks[CHURN];
	struct kustos_rwlock *strict[] = { rw_new(client, 0),
		rw_new(other, 0) };

	proxy_reset_counts(proxy);
	for (int i = 0; i < CHURN; i++) {
		asks[i].release = true;
		rw_ask(&asks[i], strict[i % 2],
			i % 8 / 2 ? KUSTOS_READ : KUSTOS_WRITE, SOON);
		if (i % 10 == 5)
			proxy_cut(proxy);
	}
	for (int i = 0; i < CHURN; i++) {
		if (i % 15 == 7)
			proxy_cut(proxy);
		check_err(ask_wait(&asks[i], 8000), KUSTOS_OK);
	}
	rw_flush();
	/* At most one node for each attempt to send the request. */
	ck_assert_int_ge(proxy_count(proxy, ZK_OP_CREATE2), CHURN / 2);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_CREATE2), CHURN * 3 / 2);
	for (int i = 0; i < 2; i++)
		kustos_rwlock_destroy(strict[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rwlock, sessions");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t,
		S05_what_is_lost_is_not_entered_again_and_every_level_says_so,
		0, LOCKED);
	tcase_add_loop_test(t, S01_every_hold_of_a_session_is_told_of_its_end,
		0, 3);
	tcase_add_loop_test(t,
		S09_a_hold_whose_node_is_deleted_is_lost_and_no_other, 0, 2);
	tcase_add_loop_test(t,
		S09_a_reader_whose_node_is_deleted_is_lost_at_once, 0, 2);
	tcase_add_loop_test(t, L17_what_was_given_up_does_not_block_the_line, 0,
		SIDES);
	tcase_add_loop_test(t,
		S11_who_waits_and_loses_its_session_is_served_with_a_new_node_only,
		0, 8);
	tcase_add_test(t,
		L14_a_reader_that_loses_its_session_lines_up_again_at_the_tail);
	tcase_add_loop_test(t, S08_who_waits_and_loses_its_node_lines_up_again,
		0, 2 * 3);
	tcase_add_loop_test(t,
		S08_who_waits_in_a_line_that_is_deleted_is_served_in_a_new_one,
		0, 4);
	tcase_add_loop_test(t, L08_who_waits_looks_again_after_a_reconnect, 0,
		4);
	tcase_add_test(t,
		L12_turns_go_on_while_connections_fail_and_nodes_are_few);
	return fixture_main(s);
}
