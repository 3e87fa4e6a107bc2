/*
 * test_mutex_marks.c - extra marks: contenders with names that no library uses,
 * but that the program has named.
 */
#include "mutex_fixture.h"

#include <kustos/cancel.h>
#include <kustos/participant.h>

#include <string.h>

#define T_MS 10000
#define MANY 40 /* enough children to make the line a long one */

static struct kustos_client *client, *other;
static struct rival rival;

static void set_up(void)
{
	client = client_connected(fixture_address(), T_MS);
	other = client_connected(fixture_address(), T_MS);
	ck_assert_int_eq(raw_create(fixture_address(), "/locks", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LINE, ""), 0);
	rival_enter_as(&rival, LINE "/ex");
}

static void tear_down(void)
{
	client_close(client);
	client_close(other);
}

/* Create a mutex on LINE; then overwrite the marks, which must have been
   copied. */
static struct kustos_mutex *marked(const char *marks)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *mutex = NULL;
	char text[32];

	o.extra_marks = strcpy(text, marks);
	check_err(kustos_mutex_create(client, LINE, &o, &mutex), KUSTOS_OK);
	memset(text, 'y', strlen(marks));
	return mutex;
}

/* Wait until the client has received all events so far, and the answers to the
   requests that these caused. */
static void hear(void)
{
	for (int i = 0; i < 5; i++)
		check_err(kustos_sync(client, LINE, SOON, NULL), KUSTOS_OK);
}

START_TEST(U04_who_has_an_extra_mark_is_waited_for)
{
	static const char *const lists[] = { "ex", "mylock-,ex", "ex,mylock-",
		"x,sh" };
	struct kustos_mutex *mutex = marked(lists[_i]);
	struct ask a = { .calls = 0 };

	check_err(kustos_mutex_lock(mutex, KUSTOS_NOW, NULL), KUSTOS_EBUSY);
	ask(&a, mutex, SOON);
	line_wait(2);
	hear();
	ck_assert(ask_waits(&a));
	ck_assert_int_eq(kustos_mutex_mixed(mutex), 0);
	rival_leave(&rival);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	hold_give(a.hold);
	kustos_mutex_destroy(mutex);
}
END_TEST

START_TEST(U04_who_has_another_mark_than_the_extra_ones_is_ignored)
{
	static const char *const lists[] = { "exx", "mylock-,e", "EX", "ex0",
		"/" };
	struct kustos_mutex *mutex = _i < 4 ? marked(lists[_i])
					    : mutex_new(client, 0);

	check_err(kustos_mutex_lock(mutex, KUSTOS_NOW, NULL), KUSTOS_OK);
	check_err(kustos_mutex_unlock(mutex), KUSTOS_OK);
	rival_leave(&rival);
	kustos_mutex_destroy(mutex);
}
END_TEST

/* Of two objects of one client, one does not know the mark. */
START_TEST(an_extra_mark_is_that_of_one_mutex_and_all_exclude_each_other)
{
	struct kustos_mutex *knows = marked("ex");
	struct kustos_mutex *knows_too = marked("ex");
	struct kustos_mutex *ignores = mutex_new(client, 0);
	struct kustos_hold *hold = hold_take(ignores);
	struct ask a = { .calls = 0 }, b = { .calls = 0 };

	ask(&a, knows, SOON);
	line_wait(3);
	ask(&b, knows_too, SOON);
	line_wait(4);
	rival_leave(&rival);
	hear();
	ck_assert(ask_waits(&a));
	hold_give(hold);
	check_err(ask_wait(&a, 2000), KUSTOS_OK);
	hear();
	ck_assert(ask_waits(&b));
	check_err(kustos_mutex_lock(ignores, KUSTOS_NOW, NULL), KUSTOS_EBUSY);
	kustos_mutex_destroy(knows); /* the other goes on with the line */
	hold_give(a.hold);
	check_err(ask_wait(&b, 2000), KUSTOS_OK);
	hold_give(b.hold);
	kustos_mutex_destroy(knows_too);
	kustos_mutex_destroy(ignores);
}
END_TEST

/* In a long line a contender that was granted leaves a proof that nobody was
   before it.  But this contender does not know the mark. */
START_TEST(the_proof_of_one_who_ignores_an_extra_mark_is_not_believed)
{
	struct kustos_mutex *knows = marked("ex");
	struct kustos_mutex *ignores = mutex_new(other, 0);
	struct ask second = { .calls = 0 }, ours = { .calls = 0 };
	char made[128];

	for (int i = 0; i < MANY; i++)
		ck_assert_int_eq(raw_do_create(rival.raw, LINE "/config", "x",
					 RAW_EPHEMERAL_SEQUENTIAL, made,
					 sizeof(made)),
			0);
	struct kustos_hold *first = hold_take(ignores);
	ask(&second, ignores, SOON);
	line_wait(MANY + 3);
	ask(&ours, knows, SOON);
	line_wait(MANY + 4);
	hear();
	hold_give(first);
	check_err(ask_wait(&second, 2000), KUSTOS_OK);
	hear();
	hold_give(second.hold);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	line_wait(MANY + 2);
	hear();
	ck_assert(ask_waits(&ours));
	rival_leave(&rival);
	check_err(ask_wait(&ours, 2000), KUSTOS_OK);
	hold_give(ours.hold);
	kustos_mutex_destroy(knows);
	kustos_mutex_destroy(ignores);
}
END_TEST

START_TEST(who_has_an_extra_mark_is_listed_if_that_is_named)
{
	struct kustos_mutex *mutex = mutex_new(client, 0);
	struct kustos_hold *hold = hold_take(mutex);
	struct kustos_participants *p = NULL;

	check_err(kustos_participants_marked(client, LINE, "mylock-,ex", SOON,
			  NULL, &p),
		KUSTOS_OK);
	ck_assert_uint_eq(p->count, 2);
	ck_assert_uint_eq(p->foreign, 0);
	ck_assert_int_eq(p->mixed, 0);
	ck_assert_int_eq(p->list[0]->style, KUSTOS_STYLE_EXTRA);
	ck_assert_int_eq(p->list[0]->kind, KUSTOS_KIND_LOCK);
	ck_assert_int_eq(p->list[0]->holds, 1);
	ck_assert_str_eq(p->list[0]->path, rival.path);
	ck_assert_int_eq(p->list[1]->holds, 0);
	kustos_participants_free(p);
	check_err(
		kustos_participants_marked(client, LINE, NULL, SOON, NULL, &p),
		KUSTOS_OK);
	ck_assert_uint_eq(p->count, 1);
	ck_assert_uint_eq(p->foreign, 1);
	ck_assert_int_eq(p->list[0]->holds, 1);
	kustos_participants_free(p);
	hold_give(hold);
	rival_leave(&rival);
	kustos_mutex_destroy(mutex);
}
END_TEST

START_TEST(marks_that_say_nothing_are_refused)
{
	static const char *const lists[] = { "", ",", ",ex", "ex,", "ex,,sh",
		"ex/sh", "/" };
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_participants *p = NULL;
	struct kustos_mutex *mutex = NULL;

	o.extra_marks = lists[_i];
	check_err(kustos_mutex_create(client, LINE, &o, &mutex), KUSTOS_EINVAL);
	check_err(kustos_participants_marked(client, LINE, lists[_i], SOON,
			  NULL, &p),
		KUSTOS_EINVAL);
	rival_leave(&rival);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, extra marks");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, U04_who_has_an_extra_mark_is_waited_for, 0, 4);
	tcase_add_loop_test(t,
		U04_who_has_another_mark_than_the_extra_ones_is_ignored, 0, 5);
	tcase_add_test(t,
		an_extra_mark_is_that_of_one_mutex_and_all_exclude_each_other);
	tcase_add_test(t,
		the_proof_of_one_who_ignores_an_extra_mark_is_not_believed);
	tcase_add_test(t, who_has_an_extra_mark_is_listed_if_that_is_named);
	tcase_add_loop_test(t, marks_that_say_nothing_are_refused, 0, 7);
	return fixture_main(s);
}
