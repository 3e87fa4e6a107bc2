/*
 * test_seat_late.c - the only node of a line (a seat) is made, but its client
 * learns that too late to be granted at once.
 */
#include "line_impl.h"
#include "seat_bed.h"

/* End the session's lease, until the next greeting. */
static void end_lease(void)
{
	ku_session_set_state(client, KUSTOS_STATE_LOST);
	client->session.greeted = false;
}

/* The lease has ended when the answer to the creation comes. */
static void make_late(void)
{
	ck_assert_int_eq(ask(0, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	const struct ku_place *place = ku_ring_place(client->lines.here.next);
	end_lease();
	for (int ms = 0; ms < 100 && place->path == NULL; ms++)
		run_ms(1);
	ck_assert_int_eq(place->state, KU_PLACE_LOOKING);
}

/* And it has ended again when the answer to the look comes. */
static void look_late(void)
{
	client->session.greeted = true;
	for (int ms = 0; ms < LONE_TIMEOUT_MS && reads == 0; ms++)
		run_ms(1);
	end_lease();
	run_ms(4 * WAY_MS);
	ck_assert_int_eq(wishes[0].err, KUSTOS_ETIMEDOUT);
}

START_TEST(who_sees_too_late_that_it_is_there_has_it_with_the_next_lease)
{
	make_late();
	look_late();
	client->session.greeted = true;
	run_ms(LONE_TIMEOUT_MS);
	check_granted(0);
	ck_assert_int_eq(tries, 1);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
}
END_TEST

/* And the node is gone when the client looks at it. */
START_TEST(L05_who_has_made_it_twice_leaves_nothing)
{
	struct kustos_stat stat;

	make_late();
	delete_it();
	client->session.greeted = true;
	run_ms(LONE_TIMEOUT_MS);
	check_granted(0);
	ck_assert_int_eq(tries, 2);
	ck_assert(model_stat(bench.model, NODE, &stat));
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
	run_ms(1000);
	ck_assert(!model_stat(bench.model, NODE, &stat));
}
END_TEST

/* Somebody asks for the release of the node, and "ms" go by. */
static void ask_for_it(int ms)
{
	static const struct ku_zk_request request = { .kind = KU_ZK_SET,
		.path = NODE,
		.data = "__REVOKE__",
		.len = 10 };

	lone_send(&bench, raw, &request);
	run_ms(ms);
}

/* The client reads the request in the look with which it is granted, in one
   before that, or when it holds already; and again later. */
START_TEST(who_is_asked_before_it_has_it_is_told_once_it_has)
{
	make_late();
	if (_i < 2)
		ask_for_it(2 * WAY_MS);
	if (_i == 1)
		look_late();
	client->session.greeted = true;
	run_ms(LONE_TIMEOUT_MS);
	check_granted(0);
	if (_i == 2)
		ask_for_it(1000);
	ck_assert_int_eq(asked, 1);
	model_cut(bench.model, LONE_MACHINE, false);
	run_ms(LONE_TIMEOUT_MS);
	ck_assert_int_eq(asked, 1);
	ask_for_it(1000);
	ck_assert_int_eq(asked, 2);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
}
END_TEST

START_TEST(what_was_asked_of_a_node_that_is_gone_is_not_told)
{
	make_late();
	ask_for_it(2 * WAY_MS);
	look_late();
	delete_it();
	client->session.greeted = true;
	run_ms(LONE_TIMEOUT_MS);
	check_granted(0);
	ck_assert_int_eq(tries, 2);
	ck_assert_int_eq(asked, 0);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("what is late in a line of one");
	TCase *t = tcase_create("the node is there");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		who_sees_too_late_that_it_is_there_has_it_with_the_next_lease);
	tcase_add_test(t, L05_who_has_made_it_twice_leaves_nothing);
	tcase_add_loop_test(t,
		who_is_asked_before_it_has_it_is_told_once_it_has, 0, 3);
	tcase_add_test(t, what_was_asked_of_a_node_that_is_gone_is_not_told);
	suite_add_tcase(s, t);
	return unit_main(s);
}
