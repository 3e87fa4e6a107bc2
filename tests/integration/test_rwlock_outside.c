/*
 * test_rwlock_outside.c - a read/write lock seen and changed from outside: who
 * holds it, who is asked to release it, and children that are no places of it.
 */
#include "rwlock_fixture.h"

#include <kustos/participant.h>

#include <stdio.h>
#include <string.h>

#define T_MS 40000

static void set_up(void)
{
	pair_open(T_MS, 0);
	rw_pair_make(32);
}

/* A writer that has become a reader and has not released the writer's hold; and
   a reader and a writer of another client. */
START_TEST(U07_participants_tell_who_reads_and_who_writes)
{
	static const struct {
		enum kustos_kind kind;
		int holds;
	} wanted[] = { { KUSTOS_KIND_WRITE, 1 }, { KUSTOS_KIND_READ, 1 },
		{ KUSTOS_KIND_READ, 0 }, { KUSTOS_KIND_WRITE, 0 } };
	struct ask asks[SIDES] = { { .calls = 0 } };
	struct kustos_participants *p = NULL;
	int seen = 0;

	rw_lock(rw, KUSTOS_WRITE);
	rw_lock(rw, KUSTOS_READ);
	for (int side = 0; side < SIDES; side++) {
		rw_ask(&asks[side], rw_rivals, (enum kustos_side)side, SOON);
		line_wait(side + 3);
	}
	check_err(kustos_participants(client, LINE, SOON, NULL, &p), KUSTOS_OK);
	ck_assert_uint_eq(p->count, 4);
	ck_assert_int_eq(p->mixed, 0);
	for (int i = 0; i < 4; i++) /* the first two have the same number */
		for (int k = i / 2 * 2; k < i / 2 * 2 + 2; k++)
			seen += p->list[k]->kind == wanted[i].kind &&
				p->list[k]->holds == wanted[i].holds &&
				p->list[k]->number == (i < 2 ? 0 : i);
	ck_assert_int_eq(seen, 4);
	kustos_participants_free(p);
	rw_unlock(rw, KUSTOS_WRITE);
	check_err(ask_wait(&asks[KUSTOS_READ], 2000), KUSTOS_OK);
	rw_flush();
	check_err(kustos_participants(client, LINE, SOON, NULL, &p), KUSTOS_OK);
	ck_assert_uint_eq(p->count, 3);
	for (int i = 0; i < 3; i++) /* readers hold together */
		ck_assert_int_eq(p->list[i]->holds,
			p->list[i]->kind == KUSTOS_KIND_READ);
	kustos_participants_free(p);
	rw_unlock(rw, KUSTOS_READ);
	hold_give(asks[KUSTOS_READ].hold);
	check_err(ask_wait(&asks[KUSTOS_WRITE], 2000), KUSTOS_OK);
	hold_give(asks[KUSTOS_WRITE].hold);
}
END_TEST

static struct kustos_hold *volatile asked_for;
static atomic_int asked;

static void note_request(void *arg, struct kustos_hold *hold)
{
	ck_assert_ptr_eq(arg, &asked);
	asked_for = hold;
	atomic_fetch_add(&asked, 1);
}

/* The other client asks for it, and the callback gets that hold. */
static void check_asked(struct kustos_hold *hold, int times)
{
	check_err(kustos_participant_revoke(other, kustos_hold_path(hold), SOON,
			  NULL),
		KUSTOS_OK);
	test_eventually(atomic_load(&asked) == times, 3000);
	ck_assert_ptr_eq(asked_for, hold);
}

START_TEST(every_holder_can_be_asked_to_give_it_back)
{
	struct kustos_rwlock_options o = KUSTOS_RWLOCK_OPTIONS_INIT;
	struct kustos_rwlock *lock = NULL;
	struct kustos_hold *reader, *writer;
	struct raw_stat stat;

	o.on_revoke = note_request;
	o.on_revoke_arg = &asked;
	check_err(kustos_rwlock_create(client, LINE, &o, &lock), KUSTOS_OK);
	reader = rw_take(lock, KUSTOS_READ);
	ck_assert_int_eq(
		raw_exists(fixture_address(), kustos_hold_path(reader), &stat),
		0);
	ck_assert_int_eq(stat.data_length, 0);
	check_asked(reader, 1);
	hold_give(reader);
	writer = rw_take(lock, KUSTOS_WRITE);
	check_asked(writer, 2);
	reader = rw_downgrade(lock, writer);
	check_asked(reader, 3);
	hold_give(writer);
	check_asked(reader, 4);
	hold_give(reader);
	kustos_rwlock_destroy(lock);
}
END_TEST

/* Nodes of a mutex on the same path belong to another lock, as for Curator. */
START_TEST(U04_children_that_are_no_places_of_such_a_lock_are_ignored)
{
	static const char *const foreign[] = { "0000000000", "config",
		"__READ__", "lease-0000000000", "__WRIT__000000000",
		"lock-0000000000" };
	char path[64];

	rw_lock(rw, KUSTOS_WRITE);
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		snprintf(path, sizeof(path), LINE "/%s", foreign[i]);
		ck_assert_int_eq(raw_create(fixture_address(), path, "x"), 0);
	}
	rw_unlock(rw, KUSTOS_WRITE);
	for (int side = 0; side < 2; side++) {
		hold_give(rw_take(rw_rivals, (enum kustos_side)side));
		rw_lock(rw, (enum kustos_side)side);
		ck_assert_int_eq(kustos_rwlock_mixed(rw), 0);
		rw_unlock(rw, (enum kustos_side)side);
		rw_flush();
	}
	ck_assert_int_eq(raw_delete_tree(fixture_address(), LINE), 0);
}
END_TEST

/* In kazoo's own dialect nobody waits for our nodes. */
START_TEST(U04_a_contender_that_would_not_wait_for_us_is_waited_for_and_told)
{
	static const char *const theirs[] = { "__rlock__", "__lock__" };
	struct raw *raw = raw_open(fixture_address(), 60000);
	struct ask a = { .calls = 0 };
	char path[128];

	client_create(client, "/locks", 0);
	client_create(client, LINE, 0);
	snprintf(path, sizeof(path), LINE "/00112233445566778899aabbccddeeff%s",
		theirs[_i]);
	ck_assert_int_eq(
		raw_do_create(raw, path, "", RAW_EPHEMERAL_SEQUENTIAL, NULL, 0),
		0);
	rw_ask(&a, rw, KUSTOS_WRITE, SOON);
	test_eventually(kustos_rwlock_mixed(rw) == 1, 2000);
	ck_assert(ask_waits(&a));
	raw_close(raw);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	hold_give(a.hold);
	rw_lock(rw, KUSTOS_READ);
	ck_assert_int_eq(kustos_rwlock_mixed(rw), 0);
	rw_unlock(rw, KUSTOS_READ);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rwlock, outside");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, rw_pair_close);
	tcase_add_test(t, U07_participants_tell_who_reads_and_who_writes);
	tcase_add_test(t, every_holder_can_be_asked_to_give_it_back);
	tcase_add_test(t,
		U04_children_that_are_no_places_of_such_a_lock_are_ignored);
	tcase_add_loop_test(t,
		U04_a_contender_that_would_not_wait_for_us_is_waited_for_and_told,
		0, 2);
	return fixture_main(s);
}
