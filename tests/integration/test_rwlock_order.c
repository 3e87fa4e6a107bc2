/*
 * test_rwlock_order.c - who waits for whom: a reader waits for the writers
 * before it, a writer for all before it, and nobody for those that came later.
 */
#include "rwlock_fixture.h"

#include <kustos/cancel.h>

#include <stdlib.h>
#include <string.h>

#define T_MS 40000
#define QUIET_MS 60

static void set_up(void)
{
	pair_open(T_MS, 0);
	rw_pair_make(32);
}

/* --- Order --------------------------------------------------------------- */

#define READERS 6

START_TEST(readers_share_and_a_writer_has_it_alone)
{
	struct kustos_rwlock *objects[] = { rw, rw_rivals, rw_new(client, 0) };
	struct kustos_hold *holds[READERS];
	struct ask writer = { .calls = 0 };

	rw_lock(rw, KUSTOS_READ);
	for (int i = 0; i < READERS; i++)
		holds[i] = rw_take(objects[i % 3], KUSTOS_READ);
	ck_assert_int_eq(line_count(), READERS + 1);
	rw_ask(&writer, objects[_i], KUSTOS_WRITE, SOON);
	line_wait(READERS + 2);
	for (int i = 0; i < READERS; i++) { /* the first in line goes last */
		ck_assert(ask_waits(&writer));
		hold_give(holds[READERS - 1 - i]);
	}
	line_wait(2);
	test_never(!ask_waits(&writer), QUIET_MS);
	rw_unlock(rw, KUSTOS_READ);
	check_err(ask_wait(&writer, 2000), KUSTOS_OK);
	for (int i = 0; i < 3; i++)
		for (int side = 0; side < 2; side++)
			check_err(rw_try(objects[i], (enum kustos_side)side),
				KUSTOS_EBUSY);
	hold_give(writer.hold);
	kustos_rwlock_destroy(objects[2]);
}
END_TEST

/* Each pair of objects out of this one, one of the same client, and one of
   another client. */
START_TEST(a_reader_stands_behind_a_writer_that_waits)
{
	struct kustos_rwlock *objects[] = { rw, rw_rivals, rw_new(client, 32) };
	struct ask writer = { .calls = 0 }, reader = { .calls = 0 };
	struct kustos_hold *first = rw_take(rw, KUSTOS_READ);

	rw_ask(&writer, objects[_i / 3], KUSTOS_WRITE, SOON);
	line_wait(2);
	rw_ask(&reader, objects[_i % 3], KUSTOS_READ, SOON);
	line_wait(3);
	test_never(!ask_waits(&reader), QUIET_MS);
	hold_give(first);
	check_err(ask_wait(&writer, 2000), KUSTOS_OK);
	test_never(!ask_waits(&reader), QUIET_MS);
	hold_give(writer.hold);
	check_err(ask_wait(&reader, 2000), KUSTOS_OK);
	hold_give(reader.hold);
	kustos_rwlock_destroy(objects[2]);
}
END_TEST

/* A writer, a reader, and a writer behind it, of three clients.  If the reader
   took the last one for one that it must wait for, both would wait for ever. */
START_TEST(L19_a_reader_does_not_wait_for_a_writer_behind_it)
{
	struct ask reader = { .calls = 0 }, later = { .calls = 0 };
	struct rival first;

	rw_rival_enter(&first, KUSTOS_WRITE);
	rw_ask(&reader, rw, KUSTOS_READ, SOON);
	line_wait(2);
	rw_ask(&later, rw_rivals, KUSTOS_WRITE, SOON);
	line_wait(3);
	ck_assert(ask_waits(&reader));
	rival_leave(&first);
	check_err(ask_wait(&reader, 2000), KUSTOS_OK);
	test_never(!ask_waits(&later), QUIET_MS);
	hold_give(reader.hold);
	check_err(ask_wait(&later, 2000), KUSTOS_OK);
	hold_give(later.hold);
}
END_TEST

/* Only later writers are there, which may be of another library. */
START_TEST(L19_a_reader_whose_node_was_first_is_not_stopped_by_later_ones)
{
	struct ask asks[3] = { { .calls = 0 } };
	struct rival first, later[2];

	rw_rival_enter(&first, KUSTOS_WRITE);
	for (int i = 0; i < 3; i++)
		rw_ask(&asks[i], i % 2 ? rw_rivals : rw, KUSTOS_READ, SOON);
	line_wait(4);
	for (int i = 0; i < 2; i++)
		rw_rival_enter(&later[i], KUSTOS_WRITE);
	rival_leave(&first);
	for (int i = 0; i < 3; i++)
		check_err(ask_wait(&asks[i], 2000), KUSTOS_OK);
	for (int i = 0; i < 3; i++)
		hold_give(asks[i].hold);
	rival_leave(&later[0]);
	rival_leave(&later[1]);
}
END_TEST

/* A writer gives up.  A reader that waited for it alone is granted; one that
   waits for another writer as well is not. */
START_TEST(who_gives_up_lets_those_in_that_waited_for_it_alone)
{
	struct ask quitter = { .calls = 0 }, reader = { .calls = 0 };
	struct kustos_cancel *cancel;
	struct rival first;
	bool alone = _i % 2 == 0;

	rw_rival_enter(&first, alone ? KUSTOS_READ : KUSTOS_WRITE);
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	check_err(kustos_rwlock_acquire_async(_i / 2 ? rw : rw_rivals,
			  KUSTOS_WRITE, SOON, cancel, ask_ended, &quitter),
		KUSTOS_OK);
	line_wait(2);
	rw_ask(&reader, rw, KUSTOS_READ, SOON);
	line_wait(3);
	ck_assert(ask_waits(&reader));
	kustos_cancel_fire(cancel);
	check_err(ask_wait(&quitter, 2000), KUSTOS_ECANCELED);
	line_wait(2);
	if (alone)
		check_err(ask_wait(&reader, 2000), KUSTOS_OK);
	else
		test_never(!ask_waits(&reader), QUIET_MS);
	rival_leave(&first);
	check_err(ask_wait(&reader, 2000), KUSTOS_OK);
	hold_give(reader.hold);
	kustos_cancel_destroy(cancel);
}
END_TEST

/* Readers leave in any order; the writer behind them is granted when the last
   of them has left. */
START_TEST(S13_a_writer_waits_for_every_reader_before_it)
{
	struct rival crowd[READERS];
	struct ask writer = { .calls = 0 };
	int left;

	srand((unsigned)_i);
	for (int i = 0; i < READERS; i++)
		rw_rival_enter(&crowd[i], KUSTOS_READ);
	rw_ask(&writer, rw, KUSTOS_WRITE, SOON);
	line_wait(READERS + 1);
	for (left = READERS; left > 0; left--) {
		int one = rand() % left;

		ck_assert(ask_waits(&writer));
		rival_leave(&crowd[one]);
		crowd[one] = crowd[left - 1];
	}
	check_err(ask_wait(&writer, 2000), KUSTOS_OK);
	hold_give(writer.hold);
}
END_TEST

/* --- Any schedule -------------------------------------------------------- */

#define MANY 24

/* A contender; the array is in the order of their nodes. */
struct one {
	struct ask ask;
	enum kustos_side side;
	bool gone;
};

/* Return whether "i" should hold the lock now, by the rules. */
static bool has_turn(const struct one *all, int i)
{
	for (int k = 0; k < i; k++)
		if (!all[k].gone &&
			(all[i].side == KUSTOS_WRITE ||
				all[k].side == KUSTOS_WRITE))
			return false;
	return !all[i].gone;
}

/* Wait until all that should hold the lock do; no others ever may. */
static void check_turns(struct one *all)
{
	for (int i = 0; i < MANY; i++)
		if (has_turn(all, i))
			check_err(ask_wait(&all[i].ask, 4000), KUSTOS_OK);
	for (int i = 0; i < MANY; i++)
		ck_assert_msg(all[i].gone || has_turn(all, i) ||
				ask_waits(&all[i].ask),
			"number %d got in before its turn", i);
}

/* Each has a node of its own, because there are no local hand-overs.  So it is
   known who waits for whom.  A random holder leaves until all have been
   served. */
START_TEST(S13_in_any_schedule_just_those_get_in_whose_turn_it_is)
{
	static struct one all[MANY];
	struct kustos_rwlock *objects[] = { rw_new(client, 0), rw_new(other, 0),
		rw_new(client, 0) };
	struct rival first;

	memset(all, 0, sizeof(all));
	srand((unsigned)_i);
	rw_rival_enter(&first, KUSTOS_WRITE);
	for (int i = 0; i < MANY; i++) {
		all[i].side = rand() % 3 ? KUSTOS_READ : KUSTOS_WRITE;
		rw_ask(&all[i].ask, objects[rand() % 3], all[i].side, SOON);
		line_wait(i + 2);
	}
	rival_leave(&first);
	for (int left = MANY; left > 0; left--) {
		int one = rand() % MANY;

		check_turns(all);
		while (!has_turn(all, one))
			one = (one + 1) % MANY;
		all[one].gone = true;
		hold_give(all[one].ask.hold);
	}
	for (int i = 0; i < 3; i++)
		kustos_rwlock_destroy(objects[i]);
}
END_TEST

/* --- Waiting that ends --------------------------------------------------- */
/* Who holds what: this object, one of the same client, another client, or
   somebody without the library; and who asks for what.  The loops go through
   all cases. */
struct occupied {
	int who;
	enum kustos_side held, asked;
	struct kustos_rwlock *object;
	struct kustos_hold *hold;
	struct rival rival;
};
#define OCCUPIED 16

static void occupy(struct occupied *o, int number)
{
	o->who = number / 4;
	o->held = (enum kustos_side)(number / 2 % 2);
	o->asked = (enum kustos_side)(number % 2);
	o->object = NULL;
	if (o->who == 3) {
		rw_rival_enter(&o->rival, o->held);
		return;
	}
	if (o->who == 1)
		o->object = rw_new(client, 32);
	o->hold = rw_take(o->who == 0 ? rw
			: o->who == 1 ? o->object
				      : rw_rivals,
		o->held);
}

static bool in_the_way(const struct occupied *o)
{
	return o->held == KUSTOS_WRITE || o->asked == KUSTOS_WRITE;
}

static void vacate(struct occupied *o)
{
	if (o->who == 3)
		rival_leave(&o->rival);
	else
		hold_give(o->hold);
	kustos_rwlock_destroy(o->object);
	rw_flush();
}

START_TEST(L20_a_try_succeeds_if_it_is_free_and_else_leaves_nothing)
{
	struct occupied o;
	struct ask a = { .calls = 0 };
	enum kustos_err wanted;

	occupy(&o, _i);
	wanted = in_the_way(&o) ? KUSTOS_EBUSY : KUSTOS_OK;
	for (int i = 0; i < 5; i++) {
		check_err(kustos_rwlock_lock(rw, o.asked, KUSTOS_NOW, NULL),
			wanted);
		if (wanted == KUSTOS_OK)
			rw_unlock(rw, o.asked);
		check_err(rw_try(rw, o.asked), wanted);
	}
	if (o.who > 1) { /* else it may be refused before it begins */
		a.release = true;
		rw_ask(&a, rw, o.asked, KUSTOS_NOW);
		check_err(ask_wait(&a, 2000), wanted);
	}
	rw_flush();
	ck_assert_int_eq(line_count(), 1);
	vacate(&o);
	check_err(rw_try(rw, o.asked), KUSTOS_OK);
}
END_TEST

START_TEST(L20_a_reader_that_tries_does_not_overtake_a_writer_that_waits)
{
	struct kustos_rwlock *writers = _i == 0 ? rw : rw_rivals;
	struct ask writer = { .calls = 0 };
	struct rival rival;

	rw_rival_enter(&rival, KUSTOS_READ);
	rw_ask(&writer, writers, KUSTOS_WRITE, SOON);
	line_wait(2);
	check_err(rw_try(rw, KUSTOS_READ), KUSTOS_EBUSY);
	rw_flush();
	ck_assert_int_eq(line_count(), 2);
	rival_leave(&rival);
	check_err(ask_wait(&writer, 2000), KUSTOS_OK);
	check_err(rw_try(rw, KUSTOS_READ), KUSTOS_EBUSY);
	hold_give(writer.hold);
}
END_TEST

/* All cases but a reader beside a reader. */
static const int in_way[] = { 1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15 };
#define IN_WAY 12

START_TEST(L20_a_deadline_ends_a_wait_in_time_and_leaves_nothing)
{
	struct occupied o;
	int64_t start, took;

	occupy(&o, in_way[_i]);
	start = test_now_ms();
	check_err(kustos_rwlock_lock(rw, o.asked, kustos_after_ms(100), NULL),
		KUSTOS_ETIMEDOUT);
	took = test_now_ms() - start;
	ck_assert_int_ge(took, 100);
	ck_assert_int_lt(took, 3000);
	check_err(kustos_rwlock_lock(rw, o.asked, kustos_after_ms(-1), NULL),
		KUSTOS_ETIMEDOUT);
	rw_flush();
	ck_assert_int_eq(line_count(), 1);
	vacate(&o);
	check_err(rw_try(rw, o.asked), KUSTOS_OK);
}
END_TEST

static void *fire_when_two(void *cancel)
{
	line_wait(2);
	kustos_cancel_fire(cancel);
	return NULL;
}

START_TEST(L05_a_cancel_ends_a_wait_and_leaves_nothing)
{
	enum kustos_side side = (enum kustos_side)_i;
	struct kustos_hold *hold = rw_take(rw_rivals, KUSTOS_WRITE),
			   *none = NULL;
	struct kustos_cancel *cancel;
	pthread_t thread;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	ck_assert_int_eq(pthread_create(&thread, NULL, fire_when_two, cancel),
		0);
	check_err(kustos_rwlock_lock(rw, side, KUSTOS_FOREVER, cancel),
		KUSTOS_ECANCELED);
	pthread_join(thread, NULL);
	check_err(
		kustos_rwlock_acquire(rw, side, KUSTOS_FOREVER, cancel, &none),
		KUSTOS_ECANCELED);
	ck_assert_ptr_null(none);
	rw_flush();
	ck_assert_int_eq(line_count(), 1);
	hold_give(hold);
	kustos_cancel_destroy(cancel);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rwlock, order");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, rw_pair_close);
	tcase_add_loop_test(t, readers_share_and_a_writer_has_it_alone, 0, 3);
	tcase_add_loop_test(t, a_reader_stands_behind_a_writer_that_waits, 0,
		9);
	tcase_add_test(t, L19_a_reader_does_not_wait_for_a_writer_behind_it);
	tcase_add_test(t,
		L19_a_reader_whose_node_was_first_is_not_stopped_by_later_ones);
	tcase_add_loop_test(t,
		who_gives_up_lets_those_in_that_waited_for_it_alone, 0, 4);
	tcase_add_loop_test(t, S13_a_writer_waits_for_every_reader_before_it, 0,
		4);
	tcase_add_loop_test(t,
		S13_in_any_schedule_just_those_get_in_whose_turn_it_is, 0, 6);
	tcase_add_loop_test(t,
		L20_a_try_succeeds_if_it_is_free_and_else_leaves_nothing, 0,
		OCCUPIED);
	tcase_add_loop_test(t,
		L20_a_reader_that_tries_does_not_overtake_a_writer_that_waits,
		0, 2);
	tcase_add_loop_test(t,
		L20_a_deadline_ends_a_wait_in_time_and_leaves_nothing, 0,
		IN_WAY);
	tcase_add_loop_test(t, L05_a_cancel_ends_a_wait_and_leaves_nothing, 0,
		SIDES);
	return fixture_main(s);
}
