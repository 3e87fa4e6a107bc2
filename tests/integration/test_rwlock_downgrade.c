/*
 * test_rwlock_downgrade.c - a writer becomes a reader: it keeps its place,
 * other readers get in, and no writer does until it has gone.
 */
#include "inject.h"
#include "rwlock_fixture.h"

#include <stdlib.h>
#include <string.h>

#define T_MS 8000
#define QUIET_MS 60
#define MANY 40 /* enough for a long line */

/* This object, another one of the same client, and one of another client. */
#define KINDS 3
static struct kustos_rwlock *objects[KINDS];

static void set_up(void)
{
	inject_reset();
	pair_open_behind_proxy(T_MS, 0);
	rw_pair_make(32);
	objects[0] = rw;
	objects[1] = rw_new(client, 32);
	objects[2] = rw_rivals;
}

static void tear_down(void)
{
	inject_reset();
	kustos_rwlock_destroy(objects[1]);
	rw_pair_close();
}

/* Two ways to become a reader: a thread locks once more, or with a hold. */
enum way { BY_THREAD, BY_HOLD, WAYS };

/* First a writer, then also a reader, then only a reader. */
struct turncoat {
	enum way way;
	struct kustos_hold *writer, *reader;
};

static struct turncoat write_first(enum way way)
{
	struct turncoat t = { .way = way };

	if (way == BY_THREAD) {
		rw_lock(rw, KUSTOS_WRITE);
		t.writer = kustos_rwlock_hold(rw, KUSTOS_WRITE);
	} else {
		t.writer = rw_take(rw, KUSTOS_WRITE);
	}
	return t;
}

static void read_too(struct turncoat *t)
{
	if (t->way == BY_THREAD) {
		rw_lock(rw, KUSTOS_READ);
		t->reader = kustos_rwlock_hold(rw, KUSTOS_READ);
	} else {
		t->reader = rw_downgrade(rw, t->writer);
	}
}

static void stop(struct turncoat *t, enum kustos_side side)
{
	if (t->way == BY_THREAD)
		rw_unlock(rw, side);
	else
		hold_give(side == KUSTOS_WRITE ? t->writer : t->reader);
	rw_flush();
}

/* --- Nodes and requests -------------------------------------------------- */

START_TEST(S13_the_reader_has_the_number_of_the_writer)
{
	struct turncoat t = write_first((enum way)_i);
	char writer[128], reader[128];
	struct raw_names names;

	strcpy(writer, rw_name(t.writer));
	read_too(&t);
	strcpy(reader, rw_name(t.reader));
	/* _c_<uuid>-__READ__0000000000 beside _c_<uuid>-__WRIT__0000000000 */
	ck_assert_uint_eq(strlen(reader), strlen(writer));
	ck_assert_str_eq(reader + 48, writer + 48);
	ck_assert(strncmp(reader, "_c_", 3) == 0);
	ck_assert(strncmp(reader + 39, "-__READ__", 9) == 0);
	ck_assert(strncmp(reader, writer, 39) != 0);
	check_node(t.writer, client);
	rw_check_node(t.reader, client);
	ck_assert(kustos_hold_token(t.reader) == kustos_hold_token(t.writer));
	ck_assert_int_eq(line_count(), 2);
	stop(&t, KUSTOS_WRITE);
	ck_assert_int_eq(raw_children(fixture_address(), LINE, &names), 0);
	ck_assert_int_eq(names.count, 1);
	ck_assert_str_eq(names.names[0], reader);
	raw_names_free(&names);
	ck_assert_int_eq(kustos_hold_state(t.reader), KUSTOS_HOLD_HELD);
	stop(&t, KUSTOS_READ);
}
END_TEST

START_TEST(S13_in_kazoos_dialect_as_well)
{
	struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;
	struct kustos_hold *writer, *reader;
	struct kustos_rwlock *kazoo = NULL;

	o.dialect = KUSTOS_DIALECT_KAZOO;
	check_err(kustos_rwlock_create(client, LINE, &o, &kazoo), KUSTOS_OK);
	hold_give(rw_take(kazoo, KUSTOS_READ));
	writer = rw_take(kazoo, KUSTOS_WRITE);
	reader = rw_downgrade(kazoo, writer);
	ck_assert_uint_eq(strspn(rw_name(reader), "0123456789abcdef"), 32);
	ck_assert(strncmp(rw_name(reader) + 32, "__rlock__", 9) == 0);
	ck_assert_str_eq(rw_name(reader) + 41, rw_name(writer) + 40);
	hold_give(writer);
	rw_check_node(reader, client);
	hold_give(reader);
	kustos_rwlock_destroy(kazoo);
}
END_TEST

/* By thread, a writer that reads twice has one node for that; each hold has its
   own. */
START_TEST(who_writes_may_read_more_than_once)
{
	struct turncoat t = write_first((enum way)_i);
	struct kustos_hold *again = NULL;
	struct ask writer = { .calls = 0 };

	read_too(&t);
	if (_i == BY_THREAD)
		rw_lock(rw, KUSTOS_READ);
	else
		again = rw_downgrade(rw, t.writer);
	ck_assert_int_eq(line_count(), _i == BY_THREAD ? 2 : 3);
	rw_ask(&writer, objects[1], KUSTOS_WRITE, SOON);
	stop(&t, KUSTOS_WRITE);
	ck_assert_int_eq(kustos_hold_state(t.reader), KUSTOS_HOLD_HELD);
	stop(&t, KUSTOS_READ);
	ck_assert_int_eq(line_count(), 2);
	check_err(rw_try(rw_rivals, KUSTOS_WRITE), KUSTOS_EBUSY);
	ck_assert(ask_waits(&writer));
	if (_i == BY_THREAD)
		rw_unlock(rw, KUSTOS_READ);
	else
		hold_give(again);
	check_err(ask_wait(&writer, 2000), KUSTOS_OK);
	hold_give(writer.hold);
}
END_TEST

START_TEST(who_stops_reading_first_is_a_writer_still)
{
	struct turncoat t = write_first((enum way)_i);

	read_too(&t);
	stop(&t, KUSTOS_READ);
	ck_assert_int_eq(line_count(), 1);
	check_node(t.writer, client);
	check_err(rw_try(rw_rivals, KUSTOS_READ), KUSTOS_EBUSY);
	read_too(&t); /* it may change its mind again */
	stop(&t, KUSTOS_WRITE);
	check_err(rw_try(rw_rivals, KUSTOS_READ), KUSTOS_OK);
	stop(&t, KUSTOS_READ);
}
END_TEST

START_TEST(S13_who_has_become_a_reader_may_not_write)
{
	rw_lock(rw, KUSTOS_WRITE);
	rw_lock(rw, KUSTOS_READ);
	rw_lock(rw, KUSTOS_WRITE); /* it still is a writer */
	rw_unlock(rw, KUSTOS_WRITE);
	rw_unlock(rw, KUSTOS_WRITE);
	check_err(kustos_rwlock_lock(rw, KUSTOS_WRITE, SOON, NULL),
		KUSTOS_EDEADLK);
	rw_unlock(rw, KUSTOS_READ);
	rw_lock(rw, KUSTOS_WRITE);
	rw_unlock(rw, KUSTOS_WRITE);
}
END_TEST

/* --- Who gets in --------------------------------------------------------- */

START_TEST(S13_a_queued_writer_waits_until_the_reader_is_gone)
{
	struct turncoat t = write_first((enum way)(_i % WAYS));
	struct ask writer = { .calls = 0 }, after = { .calls = 0 };
	int64_t token;

	rw_ask(&writer, objects[_i / WAYS], KUSTOS_WRITE, SOON);
	/* Waits in this object share the node of the writer. */
	if (_i / WAYS > 0)
		line_wait(2);
	rw_ask(&after, rw_rivals, KUSTOS_READ, SOON); /* behind that writer */
	line_wait(_i / WAYS > 0 ? 3 : 2);
	read_too(&t);
	stop(&t, KUSTOS_WRITE);
	test_never(!ask_waits(&writer), QUIET_MS);
	ck_assert(_i / WAYS == 0 || ask_waits(&after));
	rw_check_node(t.reader, client);
	ck_assert_int_eq(kustos_hold_state(t.reader), KUSTOS_HOLD_HELD);
	token = kustos_hold_token(t.reader);
	stop(&t, KUSTOS_READ);
	if (_i / WAYS == 0) { /* its node is behind that of the reader */
		check_err(ask_wait(&after, 2000), KUSTOS_OK);
		hold_give(after.hold);
	}
	check_err(ask_wait(&writer, 2000), KUSTOS_OK);
	ck_assert_int_gt(writer.token, token); /* in the order of the line */
	ck_assert(_i / WAYS == 0 || ask_waits(&after));
	hold_give(writer.hold);
	check_err(ask_wait(&after, 2000), KUSTOS_OK);
	if (_i / WAYS > 0)
		hold_give(after.hold);
}
END_TEST

START_TEST(S13_queued_readers_get_in_beside_the_reader)
{
	struct turncoat t = write_first((enum way)(_i % WAYS));
	struct ask readers[2] = { { .calls = 0 } }, writer = { .calls = 0 };

	for (int i = 0; i < 2; i++)
		rw_ask(&readers[i], i ? rw_rivals : objects[_i / WAYS],
			KUSTOS_READ, SOON);
	line_wait(3);
	rw_ask(&writer, rw_rivals, KUSTOS_WRITE, SOON);
	line_wait(4);
	read_too(&t);
	for (int i = 0; i < 2; i++)
		ck_assert(ask_waits(&readers[i]));
	stop(&t, KUSTOS_WRITE);
	for (int i = 0; i < 2; i++)
		check_err(ask_wait(&readers[i], 2000), KUSTOS_OK);
	for (int i = 0; i < 2; i++)
		hold_give(readers[i].hold);
	line_wait(2);
	test_never(!ask_waits(&writer), QUIET_MS);
	stop(&t, KUSTOS_READ);
	check_err(ask_wait(&writer, 2000), KUSTOS_OK);
	hold_give(writer.hold);
}
END_TEST

/* The nearest waiter has seen which nodes are before it, and learns from what
   the writer leaves that the writer has gone.  Neither is a reason to begin. */
START_TEST(S13_a_long_line_of_writers_waits_until_the_reader_is_gone)
{
	static struct ask writers[MANY];
	struct kustos_rwlock *strict[] = { rw_new(client, 0),
		rw_new(other, 0) };
	struct kustos_hold *reader;
	atomic_int served = 0;

	for (int i = 0; i < MANY; i++)
		rw_ask(&writers[i], strict[i % 2], KUSTOS_WRITE, SOON);
	line_wait(MANY);
	while (served < MANY) {
		int i = 0;

		while (i < MANY &&
			(ask_waits(&writers[i]) || writers[i].hold == NULL))
			i++;
		if (i == MANY) { /* nobody yet */
			test_pause_1ms();
			continue;
		}
		reader = rw_downgrade(strict[i % 2], writers[i].hold);
		hold_give(writers[i].hold);
		writers[i].hold = NULL;
		served++;
		/* They learn that the writer has gone, look again, and get the
		   answers. */
		for (int round = 0; round < 2; round++)
			pair_settle();
		for (int k = 0; k < MANY; k++)
			ck_assert(ask_waits(&writers[k]) ||
				writers[k].hold == NULL);
		hold_give(reader);
	}
	for (int i = 0; i < 2; i++)
		kustos_rwlock_destroy(strict[i]);
}
END_TEST

/* --- What goes wrong ----------------------------------------------------- */

START_TEST(only_a_writers_hold_of_this_path_can_be_made_a_readers)
{
	struct kustos_hold *writer = rw_take(rw, KUSTOS_WRITE);
	struct kustos_hold *reader = rw_downgrade(objects[1], writer);
	struct kustos_hold *of_mutex = hold_take(mutex), *none = NULL;
	struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;
	struct kustos_rwlock *elsewhere, *kazoos;
	struct kustos_hold *several = NULL;

	o.dialect = KUSTOS_DIALECT_KAZOO;
	check_err(kustos_rwlock_create(client, LINE, &o, &kazoos), KUSTOS_OK);
	check_err(kustos_rwlock_create(client, "/locks/b", NULL, &elsewhere),
		KUSTOS_OK);
	struct kustos_lockable one = kustos_rwlock_lockable(elsewhere,
		KUSTOS_WRITE);
	check_err(kustos_acquire_all(&one, 1, SOON, NULL, &several), KUSTOS_OK);
	struct {
		struct kustos_rwlock *rw;
		struct kustos_hold *hold, **out;
	} wrong[] = { { elsewhere, writer, &none }, { kazoos, writer, &none },
		{ rw_rivals, writer, &none }, { rw, of_mutex, &none },
		{ elsewhere, several, &none }, { rw, reader, &none },
		{ rw, NULL, &none }, { NULL, writer, &none },
		{ rw, writer, NULL } };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		check_err(kustos_rwlock_downgrade(wrong[i].rw, wrong[i].hold,
				  SOON, NULL, wrong[i].out),
			KUSTOS_EINVAL);
	check_err(kustos_rwlock_downgrade_async(rw, NULL, SOON, NULL, ask_ended,
			  NULL),
		KUSTOS_EINVAL);
	check_err(kustos_rwlock_downgrade_async(rw, writer, SOON, NULL, NULL,
			  NULL),
		KUSTOS_EINVAL);
	ck_assert_ptr_null(none);
	ck_assert_int_eq(line_count(), 3);
	hold_give(writer);
	check_err(kustos_rwlock_downgrade(rw, reader, SOON, NULL, &none),
		KUSTOS_EINVAL);
	hold_give(reader);
	hold_give(of_mutex);
	hold_give(several);
	kustos_rwlock_destroy(elsewhere);
	kustos_rwlock_destroy(kazoos);
}
END_TEST

START_TEST(S02_a_guarded_transaction_needs_the_readers_own_node)
{
	struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = "/a" };
	struct kustos_hold *writer = rw_take(rw, KUSTOS_WRITE);
	struct kustos_hold *reader = rw_downgrade(rw, writer);

	hold_give(writer);
	rw_flush();
	check_err(kustos_hold_multi(reader, &op, 1, SOON, NULL, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(raw_delete(fixture_address(), "/a"), 0);
	ck_assert_int_eq(
		raw_delete(fixture_address(), kustos_hold_path(reader)), 0);
	check_err(kustos_hold_multi(reader, &op, 1, SOON, NULL, NULL),
		KUSTOS_ELOST);
	ck_assert_int_eq(raw_exists(fixture_address(), "/a", NULL), RAW_NONODE);
	hold_wait(reader, KUSTOS_HOLD_LOST, 1000);
	check_err(kustos_hold_release(reader), KUSTOS_ELOST);
}
END_TEST

START_TEST(a_try_without_a_connection_fails_at_once)
{
	struct kustos_hold *writer = rw_take(rw, KUSTOS_WRITE), *reader = NULL;
	struct ask a = { .calls = 0 };

	proxy_set_mode(proxy, PROXY_REFUSE);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	check_err(
		kustos_rwlock_downgrade(rw, writer, KUSTOS_NOW, NULL, &reader),
		KUSTOS_EDISCONNECTED);
	/* A caller with a later deadline waits for the connection. */
	check_err(kustos_rwlock_downgrade_async(rw, writer, SOON, NULL,
			  ask_ended, &a),
		KUSTOS_OK);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(ask_wait(&a, 3000), KUSTOS_OK);
	check_err(
		kustos_rwlock_downgrade(rw, writer, KUSTOS_NOW, NULL, &reader),
		KUSTOS_OK);
	hold_give(writer);
	hold_give(a.hold);
	rw_flush();
	ck_assert_int_eq(line_count(), 1);
	hold_give(reader);
}
END_TEST

START_TEST(S05_a_lost_writer_cannot_become_a_reader)
{
	struct turncoat t = write_first((enum way)_i);
	struct kustos_hold *none = NULL;

	ck_assert_int_eq(
		raw_delete(fixture_address(), kustos_hold_path(t.writer)), 0);
	hold_wait(t.writer, KUSTOS_HOLD_LOST, 1000);
	if (_i == BY_THREAD) {
		check_err(kustos_rwlock_lock(rw, KUSTOS_READ, SOON, NULL),
			KUSTOS_ELOST);
		check_err(kustos_rwlock_unlock(rw, KUSTOS_WRITE), KUSTOS_ELOST);
		rw_lock(rw, KUSTOS_READ);
		rw_unlock(rw, KUSTOS_READ);
	} else {
		check_err(kustos_rwlock_downgrade(rw, t.writer, SOON, NULL,
				  &none),
			KUSTOS_ELOST);
		check_err(kustos_hold_release(t.writer), KUSTOS_ELOST);
	}
	rw_flush();
}
END_TEST

static const enum inject_fault faults[] = { INJECT_FAIL_SEND,
	INJECT_LOSE_REPLY };
#define FAULTS 2

/* The frame that creates the reader's node is lost, or its answer is. */
START_TEST(S06_a_downgrade_makes_one_node_whatever_becomes_of_the_answer)
{
	struct turncoat t = write_first((enum way)(_i % WAYS));

	rw_flush();
	inject_frame(faults[_i / WAYS], ZK_OP_CREATE2, 1);
	read_too(&t);
	ck_assert_int_eq(inject_fired(), 1);
	check_node(t.writer, client);
	rw_check_node(t.reader, client);
	ck_assert_int_eq(rw_number(t.reader), rw_number(t.writer));
	ck_assert_int_eq(line_count(), 2);
	stop(&t, KUSTOS_WRITE);
	stop(&t, KUSTOS_READ);
	ck_assert_int_eq(line_count(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rwlock, downgrade");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, S13_the_reader_has_the_number_of_the_writer, 0,
		WAYS);
	tcase_add_test(t, S13_in_kazoos_dialect_as_well);
	tcase_add_loop_test(t, who_writes_may_read_more_than_once, 0, WAYS);
	tcase_add_loop_test(t, who_stops_reading_first_is_a_writer_still, 0,
		WAYS);
	tcase_add_test(t, S13_who_has_become_a_reader_may_not_write);
	tcase_add_loop_test(t,
		S13_a_queued_writer_waits_until_the_reader_is_gone, 0,
		KINDS * WAYS);
	tcase_add_loop_test(t, S13_queued_readers_get_in_beside_the_reader, 0,
		KINDS * WAYS);
	tcase_add_test(t,
		S13_a_long_line_of_writers_waits_until_the_reader_is_gone);
	tcase_add_test(t,
		only_a_writers_hold_of_this_path_can_be_made_a_readers);
	tcase_add_test(t, S02_a_guarded_transaction_needs_the_readers_own_node);
	tcase_add_test(t, a_try_without_a_connection_fails_at_once);
	tcase_add_loop_test(t, S05_a_lost_writer_cannot_become_a_reader, 0,
		WAYS);
	tcase_add_loop_test(t,
		S06_a_downgrade_makes_one_node_whatever_becomes_of_the_answer,
		0, FAULTS * WAYS);
	return fixture_main(s);
}
