/*
 * test_mutex_follow.c - holds that are granted because of the number of their
 * node, without a listing; and cases in which such a number proves nothing.
 */
#include "mutex_pair.h"
#include "zkproto.h"

#include <kustos/node.h>

#define T_MS 60000 /* so that heartbeats are rare */
#define USED 1000  /* holds after which numbers are trusted */
#define AT_ONCE 67 /* children that one transaction makes */
#define SOME_OTHERS 50

static void set_up(void)
{
	pair_open_behind_proxy(T_MS, 0);
}

/* Acquire and release so many times.  Returns how many listings that took. */
static int use(int times)
{
	int before = proxy_count(proxy, ZK_OP_CHILDREN2);

	for (int i = 0; i < times; i++)
		hold_give(hold_take(mutex));
	pair_flush();
	return proxy_count(proxy, ZK_OP_CHILDREN2) - before;
}

START_TEST(a_line_in_use_need_not_be_listed)
{
	ck_assert_int_gt(use(USED), 0);
	ck_assert_int_eq(use(100), 0);
}
END_TEST

START_TEST(who_has_come_between_is_waited_for)
{
	struct ask a = { .calls = 0 };
	struct rival rival;

	use(USED);
	rival_enter(&rival);
	ask(&a, mutex, SOON);
	line_wait(2);
	pair_settle();
	ck_assert(ask_waits(&a));
	rival_leave(&rival);
	check_err(ask_wait(&a, PATIENCE_MS), KUSTOS_OK);
	hold_give(a.hold);
}
END_TEST

/* More requests than it would take to create the line's node and its children
   anew. */
START_TEST(after_much_else_has_happened_the_line_is_looked_at)
{
	use(USED);
	ck_assert_int_eq(raw_create(fixture_address(), "/other", ""), 0);
	for (int i = 0; i < SOME_OTHERS; i++)
		ck_assert_int_eq(raw_set(fixture_address(), "/other", ""), 0);
	ck_assert_int_eq(use(1), 1);
	ck_assert_int_eq(use(1), 1); /* sent before that was known */
	ck_assert_int_eq(use(1), 0);
}
END_TEST

/* Create contenders in the line, in as few transactions as possible. */
static void fill(int count)
{
	struct kustos_op ops[AT_ONCE];

	ck_assert_int_eq(count % AT_ONCE, 0);
	for (int i = 0; i < AT_ONCE; i++)
		ops[i] = (struct kustos_op){
			.kind = KUSTOS_OP_CREATE,
			.path = LINE "/_c_3f0e9a51-72a1-4b6c-9d0e-"
				     "5c1b7f4e2d90-lock-",
			.data = "",
			.flags = KUSTOS_CREATE_EPHEMERAL |
				KUSTOS_CREATE_SEQUENTIAL,
		};
	for (int made = 0; made < count; made += AT_ONCE)
		check_err(kustos_multi(other, ops, AT_ONCE, SOON, NULL, NULL),
			KUSTOS_OK);
}

/* Our node gets the next number, but others have all the numbers before it. */
START_TEST(S02_the_next_number_of_a_line_that_was_made_anew_says_nothing)
{
	struct ask a = { .calls = 0 };

	use(3 * AT_ONCE); /* numbers up to 200 */
	ck_assert_int_eq(raw_delete(fixture_address(), LINE), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LINE, ""), 0);
	fill(3 * AT_ONCE);
	ask(&a, mutex, SOON);
	line_wait(3 * AT_ONCE + 1);
	pair_settle();
	ck_assert(ask_waits(&a));
	kustos_mutex_destroy(rivals);
	rivals = NULL;
	client_close(other);
	other = NULL;
	check_err(ask_wait(&a, PATIENCE_MS), KUSTOS_OK);
	hold_give(a.hold);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, granted by its number");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, pair_close);
	tcase_add_test(t, a_line_in_use_need_not_be_listed);
	tcase_add_test(t, who_has_come_between_is_waited_for);
	tcase_add_test(t, after_much_else_has_happened_the_line_is_looked_at);
	tcase_add_test(t,
		S02_the_next_number_of_a_line_that_was_made_anew_says_nothing);
	return fixture_main(s);
}
