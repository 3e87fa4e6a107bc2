/*
 * test_semaphore.c - one client or two and a server that works: what each call
 * of <kustos/semaphore.h> returns, and what it leaves on the server.
 */
#include "semaphore_fixture.h"

#include <kustos/cancel.h>

#include <string.h>

#define T_MS 40000
#define UUID "xxxxxxxx-xxxx-4xxx-xxxx-xxxxxxxxxxxx"
#define MAX 3

static void set_up(void)
{
	pair_open(T_MS, 0);
	sem = sem_new(client, MAX);
	others = sem_new(other, MAX);
}

START_TEST(a_lease_is_a_node_below_leases)
{
	set_up();
	struct kustos_hold *hold = sem_take(sem);

	check_node(hold, client);
	ck_assert_ptr_nonnull(strstr(kustos_hold_path(hold), LEASES "/"));
	check_text(kustos_hold_path(hold) + strlen(LEASES "/"),
		"_c_" UUID "-lease-dddddddddd");
	ck_assert_int_eq(sem_count(LEASES), 1);
	ck_assert_int_eq(sem_count(LOCKS), 0);
	hold_give(hold);
	sem_flush();
	ck_assert_int_eq(sem_count(LEASES), 0);
	sem_pair_close();
}
END_TEST

START_TEST(S14_there_are_never_more_leases_than_max)
{
	struct kustos_hold *holds[MAX];
	struct ask waits = { 0 };

	set_up();
	for (int i = 0; i < MAX; i++)
		holds[i] = sem_take(i % 2 ? sem : others);
	check_err(sem_try(sem), KUSTOS_EBUSY);
	check_err(sem_try(others), KUSTOS_EBUSY);
	sem_ask(&waits, others, SOON);
	/* It waits with its lease and its lock, and nobody gets in before
	   it. */
	sem_wait_count(LEASES, MAX + 1);
	sem_wait_count(LOCKS, 1);
	check_err(sem_try(sem), KUSTOS_EBUSY);
	ck_assert(ask_waits(&waits));
	hold_give(holds[0]);
	check_err(ask_wait(&waits, 1000), KUSTOS_OK);
	sem_flush();
	ck_assert_int_eq(sem_count(LEASES), MAX);
	ck_assert_int_eq(sem_count(LOCKS), 0);
	check_err(sem_try(sem), KUSTOS_EBUSY);
	hold_give(waits.hold);
	sem_flush();
	check_err(sem_try(sem), KUSTOS_OK);
	give_many(holds + 1, MAX - 1);
	sem_pair_close();
}
END_TEST

static enum kustos_err make(const struct kustos_semaphore_options *o)
{
	struct kustos_semaphore *one = NULL;
	enum kustos_err err = kustos_semaphore_create(client, SEM, o, &one);

	ck_assert_int_eq(one != NULL, err == KUSTOS_OK);
	kustos_semaphore_destroy(one);
	return err;
}

START_TEST(what_cannot_be_is_refused)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_semaphore *one = NULL;
	struct kustos_hold *hold = NULL;

	set_up();
	check_err(make(NULL), KUSTOS_EINVAL);
	check_err(make(&o), KUSTOS_EINVAL);
	o.max = -1;
	check_err(make(&o), KUSTOS_EINVAL);
	o.max = 1;
	o.max_path = NUMBER;
	check_err(make(&o), KUSTOS_EINVAL);
	o.max_path = NULL;
	o.data_len = 1;
	check_err(make(&o), KUSTOS_EINVAL);
	o.data_len = 0;
	check_err(make(&o), KUSTOS_OK);
	o.max = 0;
	o.max_path = "number";
	check_err(make(&o), KUSTOS_EINVAL);
	o.max_path = NUMBER;
	check_err(make(&o), KUSTOS_OK);
	check_err(kustos_semaphore_create(client, "/", &o, &one),
		KUSTOS_EINVAL);
	check_err(kustos_semaphore_create(client, "", &o, &one), KUSTOS_EINVAL);
	check_err(kustos_semaphore_create(client, "jobs", &o, &one),
		KUSTOS_EINVAL);
	check_err(kustos_semaphore_create(NULL, SEM, &o, &one), KUSTOS_EINVAL);
	ck_assert_ptr_null(one);
	check_err(kustos_semaphore_acquire(NULL, SOON, NULL, &hold),
		KUSTOS_EINVAL);
	check_err(kustos_semaphore_acquire(sem, SOON, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_semaphore_acquire_many(sem, 0, SOON, NULL, &hold),
		KUSTOS_EINVAL);
	check_err(
		kustos_semaphore_acquire_many(sem, MAX + 1, SOON, NULL, &hold),
		KUSTOS_EINVAL);
	check_err(kustos_semaphore_set_max(sem, 5, SOON, NULL), KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_semaphore_max(sem), MAX);
	ck_assert_int_eq(kustos_semaphore_max(NULL), -1);
	kustos_semaphore_destroy(NULL);
	kustos_semaphore_mutex_destroy(NULL);
	sem_pair_close();
}
END_TEST

/* --- Several at once ----------------------------------------------------- */

START_TEST(several_are_granted_all_or_none)
{
	struct kustos_hold *two[2], *all[MAX];
	struct kustos_hold *none[MAX] = { NULL };

	set_up();
	sem_take_many(others, 2, two);
	sem_check(2, 0);
	ck_assert_str_ne(kustos_hold_path(two[0]), kustos_hold_path(two[1]));
	ck_assert(kustos_hold_token(two[0]) != kustos_hold_token(two[1]));
	check_err(kustos_semaphore_acquire_many(sem, 2, KUSTOS_NOW, NULL, none),
		KUSTOS_EBUSY);
	check_err(kustos_semaphore_acquire_many(sem, 2, kustos_after_ms(50),
			  NULL, none),
		KUSTOS_ETIMEDOUT);
	ck_assert_ptr_null(none[0]);
	sem_check(2, 0);
	/* One of the leases that it wanted two of is still available. */
	check_err(sem_try(sem), KUSTOS_OK);
	hold_give(two[0]);
	sem_take_many(sem, 2, all);
	sem_check(MAX, 0);
	give_many(all, 2);
	hold_give(two[1]);
	sem_take_many(sem, MAX, all);
	check_err(sem_try(others), KUSTOS_EBUSY);
	give_many(all, MAX);
	sem_pair_close();
}
END_TEST

struct many {
	atomic_int calls;
	enum kustos_err err;
	int count;
	struct kustos_hold *holds[MAX];
};

static void many_ended(void *arg, enum kustos_err err,
	struct kustos_hold *const *holds, int count)
{
	struct many *many = arg;

	many->err = err;
	many->count = count;
	for (int i = 0; i < count; i++)
		many->holds[i] = holds[i];
	atomic_fetch_add(&many->calls, 1);
}

START_TEST(who_waits_for_several_is_not_passed_over)
{
	struct kustos_hold *held = NULL;
	struct many many = { 0 };
	struct ask later = { 0 };

	set_up();
	held = sem_take(others);
	check_err(kustos_semaphore_acquire_many_async(sem, MAX, SOON, NULL,
			  many_ended, &many),
		KUSTOS_OK);
	sem_wait_count(LOCKS, 1);
	sem_wait_count(LEASES, 1 + MAX);
	/* There would be room for one, but it is reserved. */
	check_err(sem_try(others), KUSTOS_EBUSY);
	sem_ask(&later, others, SOON);
	sem_wait_count(LOCKS, 2);
	ck_assert_int_eq(atomic_load(&many.calls), 0);
	hold_give(held);
	test_eventually(atomic_load(&many.calls) == 1, 1000);
	check_err(many.err, KUSTOS_OK);
	ck_assert_int_eq(many.count, MAX);
	ck_assert(ask_waits(&later));
	hold_give(many.holds[1]);
	check_err(ask_wait(&later, 1000), KUSTOS_OK);
	hold_give(many.holds[0]);
	hold_give(many.holds[2]);
	hold_give(later.hold);
	sem_pair_close();
}
END_TEST

START_TEST(a_lease_is_taken_together_with_a_lock)
{
	struct kustos_mutex *lock = NULL;
	struct kustos_hold *both = NULL, *all[MAX];
	struct kustos_lockable two[2];

	set_up();
	check_err(kustos_mutex_create(client, "/jobs/lock", NULL, &lock),
		KUSTOS_OK);
	two[0] = kustos_semaphore_lockable(sem);
	two[1] = kustos_mutex_lockable(lock);
	check_err(kustos_acquire_all(two, 2, SOON, NULL, &both), KUSTOS_OK);
	sem_check(1, 0);
	hold_give(both);
	sem_check(0, 0);
	sem_take_many(others, MAX, all);
	check_err(kustos_acquire_all(two, 2, kustos_after_ms(20), NULL, &both),
		KUSTOS_ETIMEDOUT);
	pair_flush();
	check_err(kustos_mutex_lock(lock, KUSTOS_NOW, NULL), KUSTOS_OK);
	kustos_mutex_destroy(lock);
	give_many(all, MAX);
	two[0] = kustos_semaphore_lockable(NULL);
	check_err(kustos_acquire_all(two, 1, SOON, NULL, &both), KUSTOS_EINVAL);
	sem_pair_close();
}
END_TEST

/* --- Waiting ------------------------------------------------------------- */

START_TEST(those_who_wait_are_served_in_their_order)
{
	struct kustos_hold *all[MAX];
	struct ask asks[6] = { { 0 } };

	set_up();
	sem_take_many(sem, MAX, all);
	for (int i = 0; i < 6; i++) {
		asks[i].release = true;
		sem_ask(&asks[i], i % 2 ? sem : others, SOON);
		sem_wait_count(LOCKS, i + 1);
	}
	/* The first of them waits in both lines. */
	sem_wait_count(LEASES, MAX + 1);
	hold_give(all[0]);
	for (int i = 0; i < 6; i++)
		check_err(ask_wait(&asks[i], 5000), KUSTOS_OK);
	for (int i = 1; i < 6; i++)
		ck_assert_int_gt(asks[i].order, asks[i - 1].order);
	give_many(all + 1, MAX - 1);
	sem_pair_close();
}
END_TEST

START_TEST(L20_who_gives_up_leaves_nothing)
{
	struct kustos_hold *all[MAX], *hold = NULL;
	struct kustos_cancel *cancel = NULL;
	struct ask asks[3] = { { 0 } };
	int64_t began = test_now_ms();

	set_up();
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	sem_take_many(others, MAX, all);
	check_err(sem_try(sem), KUSTOS_EBUSY);
	sem_check(MAX, 0);
	check_err(
		kustos_semaphore_acquire(sem, kustos_after_ms(50), NULL, &hold),
		KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(test_now_ms() - began, 50);
	sem_check(MAX, 0);
	check_err(kustos_semaphore_acquire_async(sem, SOON, cancel, ask_ended,
			  &asks[0]),
		KUSTOS_OK);
	sem_wait_count(LOCKS, 1);
	check_err(kustos_semaphore_acquire_async(sem, SOON, cancel, ask_ended,
			  &asks[1]),
		KUSTOS_OK);
	sem_wait_count(LOCKS, 2);
	kustos_cancel_fire(cancel);
	for (int i = 0; i < 2; i++)
		check_err(ask_wait(&asks[i], 1000), KUSTOS_ECANCELED);
	sem_check(MAX, 0);
	sem_ask(&asks[2], sem, SOON);
	sem_wait_count(LOCKS, 1);
	kustos_semaphore_destroy(sem);
	check_err(ask_wait(&asks[2], 1000), KUSTOS_ECLOSED);
	sem_check(MAX, 0);
	sem = sem_new(client, MAX);
	give_many(all, MAX);
	kustos_cancel_destroy(cancel);
	sem_pair_close();
}
END_TEST

START_TEST(leases_outlive_their_semaphore)
{
	set_up();
	struct kustos_hold *hold = sem_take(sem);

	kustos_semaphore_destroy(sem);
	sem = sem_new(client, MAX);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	check_node(hold, client);
	sem_check(1, 0);
	hold_give(hold);
	sem_check(0, 0);
	sem_pair_close();
}
END_TEST

/* --- What is stored, and seen -------------------------------------------- */

START_TEST(leases_carry_the_data_of_their_time)
{
	struct kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;
	struct kustos_participants *list = NULL;
	struct kustos_semaphore *one = NULL;
	struct kustos_hold *holds[3];

	set_up();
	o.max = MAX;
	o.data = "first";
	o.data_len = 5;
	check_err(kustos_semaphore_create(client, SEM, &o, &one), KUSTOS_OK);
	holds[0] = sem_take(one);
	check_err(kustos_semaphore_set_data(one, "second", 6), KUSTOS_OK);
	holds[1] = sem_take(one);
	check_err(kustos_semaphore_set_data(one, NULL, 0), KUSTOS_OK);
	check_err(kustos_semaphore_set_data(one, NULL, 1), KUSTOS_EINVAL);
	holds[2] = sem_take(others);
	check_err(kustos_participants(client, LEASES, SOON, NULL, &list),
		KUSTOS_OK);
	ck_assert_uint_eq(list->count, 3);
	ck_assert_uint_eq(list->foreign, 0);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(list->list[i]->kind, KUSTOS_KIND_LEASE);
		ck_assert_int_eq(list->list[i]->holds, 1);
		ck_assert_str_eq(list->list[i]->path,
			kustos_hold_path(holds[i]));
		ck_assert(list->list[i]->stat.czxid ==
			kustos_hold_token(holds[i]));
	}
	ck_assert_str_eq(list->list[0]->data, "first");
	ck_assert_str_eq(list->list[1]->data, "second");
	/* The default is the same as Curator's. */
	ck_assert_str_eq(list->list[2]->data, "127.0.0.1");
	kustos_participants_free(list);
	give_many(holds, 3);
	kustos_semaphore_destroy(one);
	sem_pair_close();
}
END_TEST

START_TEST(a_lease_is_a_hold_with_a_token)
{
	struct kustos_op op = { .kind = KUSTOS_OP_CREATE,
		.path = "/written",
		.version = -1 };
	struct kustos_hold *one, *next;
	int lost = 0;

	set_up();
	one = sem_take(sem);
	ck_assert_int_gt(kustos_hold_remaining_ms(one), 0);
	check_err(kustos_hold_multi(one, &op, 1, SOON, NULL, NULL), KUSTOS_OK);
	next = sem_take(others);
	ck_assert(kustos_hold_token(next) > kustos_hold_token(one));
	/* Somebody deletes its node: it is told, and cannot write. */
	check_err(kustos_hold_on_lost(one, count_call, &lost), KUSTOS_OK);
	ck_assert_int_eq(raw_delete(fixture_address(), kustos_hold_path(one)),
		0);
	test_eventually(calls_of(&lost) == 1, 1000);
	ck_assert_int_eq(kustos_hold_state(one), KUSTOS_HOLD_LOST);
	op.path = "/written again";
	check_err(kustos_hold_multi(one, &op, 1, SOON, NULL, NULL),
		KUSTOS_ELOST);
	check_err(kustos_hold_release(one), KUSTOS_ELOST);
	hold_give(next);
	sem_pair_close();
}
END_TEST

/* --- Others on the same path --------------------------------------------- */

START_TEST(every_child_of_the_leases_counts)
{
	struct rival curator = { 0 };
	struct ask waits = { 0 };

	set_up();
	hold_give(sem_take(sem));
	for (int i = 1; i < MAX; i++)
		ck_assert_int_eq(raw_create(fixture_address(),
					 i == 1 ? LEASES "/whatever"
						: LEASES "/0123456789",
					 ""),
			0);
	curator.raw = raw_open(fixture_address(), 30000);
	ck_assert_ptr_nonnull(curator.raw);
	ck_assert_int_eq(raw_do_create(curator.raw,
				 LEASES "/_c_" UUID "-lease-", "",
				 RAW_EPHEMERAL_SEQUENTIAL, curator.path,
				 sizeof(curator.path)),
		0);
	check_err(sem_try(sem), KUSTOS_EBUSY);
	sem_ask(&waits, sem, SOON);
	sem_wait_count(LOCKS, 1);
	sem_wait_count(LEASES, MAX + 1);
	ck_assert(ask_waits(&waits));
	rival_leave(&curator);
	check_err(ask_wait(&waits, 1000), KUSTOS_OK);
	hold_give(waits.hold);
	raw_delete_tree(fixture_address(), LEASES);
	sem_pair_close();
}
END_TEST

START_TEST(S14_who_goes_by_another_number_is_told)
{
	struct kustos_semaphore *more;
	char text[16] = "";
	struct raw *raw;

	set_up();
	for (int i = 0; i < 2; i++)
		check_err(sem_try(sem), KUSTOS_OK); /* the first makes SEM */
	sem_flush();
	raw = raw_open(fixture_address(), 30000);
	ck_assert_int_ge(raw_do_get(raw, SEM, text, sizeof(text), NULL), 0);
	ck_assert_str_eq(text, "3");
	ck_assert_int_eq(kustos_semaphore_disagrees(sem), 0);
	check_err(sem_try(others), KUSTOS_OK);
	sem_flush();
	ck_assert_int_eq(kustos_semaphore_disagrees(others), 0);
	more = sem_new(other, MAX + 4);
	check_err(sem_try(more), KUSTOS_OK);
	test_eventually(kustos_semaphore_disagrees(more), 1000);
	test_eventually(kustos_semaphore_disagrees(sem), 1000);
	test_eventually(kustos_semaphore_disagrees(others), 1000);
	/* Nobody writes the old number again, not even those that had found it:
	   the next client is to be told of this one. */
	pair_settle();
	ck_assert_int_ge(raw_do_get(raw, SEM, text, sizeof(text), NULL), 0);
	ck_assert_str_eq(text, "7");
	kustos_semaphore_destroy(more);
	/* Data that is no number is somebody else's, and left alone. */
	for (int i = 0; i < 2; i++) {
		const char *theirs = i ? "5 of us" : "private";

		ck_assert_int_eq(raw_do_set(raw, SEM, theirs, -1), 0);
		more = sem_new(other, MAX);
		check_err(sem_try(more), KUSTOS_OK);
		sem_flush();
		memset(text, 0, sizeof(text));
		ck_assert_int_ge(raw_do_get(raw, SEM, text, sizeof(text), NULL),
			0);
		ck_assert_str_eq(text, theirs);
		ck_assert_int_eq(kustos_semaphore_disagrees(more), 0);
		kustos_semaphore_destroy(more);
	}
	raw_close(raw);
	sem_pair_close();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("semaphore");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_test(t, a_lease_is_a_node_below_leases);
	tcase_add_test(t, S14_there_are_never_more_leases_than_max);
	tcase_add_test(t, what_cannot_be_is_refused);
	tcase_add_test(t, several_are_granted_all_or_none);
	tcase_add_test(t, who_waits_for_several_is_not_passed_over);
	tcase_add_test(t, a_lease_is_taken_together_with_a_lock);
	tcase_add_test(t, those_who_wait_are_served_in_their_order);
	tcase_add_test(t, L20_who_gives_up_leaves_nothing);
	tcase_add_test(t, leases_outlive_their_semaphore);
	tcase_add_test(t, leases_carry_the_data_of_their_time);
	tcase_add_test(t, a_lease_is_a_hold_with_a_token);
	tcase_add_test(t, every_child_of_the_leases_counts);
	tcase_add_test(t, S14_who_goes_by_another_number_is_told);
	return fixture_main(s);
}
