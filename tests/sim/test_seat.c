/*
 * test_seat.c - clients fight for the only node of a line (a seat): when they
 * try, and how long they wait first.
 */
#include "gate_impl.h"
#include "seat_bed.h"

#define FIGHTS 24
/* The longest pause, as <kustos/simple.h> says. */
#define PAUSE_MS 17
/* Within LOOK_MS a client without events looks again; within TRY_MS one that
   may not read tries. */
#define LOOK_MS 70000
#define TRY_MS 1100

START_TEST(L20_a_try_does_not_wait_for_what_another_had_begun)
{
	struct kustos_cancel *cancel;

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	ck_assert_int_eq(ask(0, KUSTOS_FOREVER, cancel), KUSTOS_OK);
	kustos_cancel_fire(cancel);
	enum kustos_err err = ask(1, KUSTOS_NOW, NULL);
	run_ms(WAY_MS - 1);
	ck_assert_int_eq(wishes[0].err, KUSTOS_ECANCELED);
	ck_assert_int_eq(err != KUSTOS_OK ? err : wishes[1].err, KUSTOS_EBUSY);
	kustos_cancel_destroy(cancel);
}
END_TEST

/* Pretend that the session has so many nodes that no more fit. */
static void have_no_more(void)
{
	client->footprint.ephemeral_bytes += KU_FOOTPRINT_LIMIT;
}

static void have_more(void)
{
	client->footprint.ephemeral_bytes -= KU_FOOTPRINT_LIMIT;
}

START_TEST(who_cannot_try_is_in_nobodys_way)
{
	have_no_more();
	ck_assert_int_eq(ask(0, KUSTOS_FOREVER, NULL), KUSTOS_ELIMIT);
	have_more();
	ck_assert_int_eq(ask(1, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	run_ms(1000);
	check_granted(1);
	ck_assert_int_eq(kustos_hold_release(wishes[1].hold), KUSTOS_OK);
}
END_TEST

/* All calls behind it are told, too. */
START_TEST(who_cannot_try_when_its_turn_has_come_is_told)
{
	for (int i = 0; i < PLACES; i++)
		ck_assert_int_eq(ask(i, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	run_ms(1000);
	check_granted(0);
	for (int i = 1; i < PLACES; i++)
		ck_assert_int_eq(wishes[i].err, KUSTOS_ETIMEDOUT);
	have_no_more();
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
	run_ms(1000);
	have_more();
	for (int i = 1; i < PLACES; i++)
		ck_assert_int_eq(wishes[i].err, KUSTOS_ELIMIT);
}
END_TEST

START_TEST(who_may_not_make_it_is_told_and_leaves_nothing)
{
	uncreatable = true;
	ck_assert_int_eq(ask(0, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	run_ms(1000);
	ck_assert_int_eq(wishes[0].err, KUSTOS_ENOAUTH);
	ck_assert_uint_eq(ku_lines_oldest_leaving(&client->lines), UINT64_MAX);
}
END_TEST

/* Neither the answer to a deletion, nor the end of its call, tells what became
   of a try. */
START_TEST(S06_nobody_tries_before_it_is_known_what_became_of_the_try_before)
{
	struct kustos_cancel *cancel;

	ck_assert_int_eq(kustos_cancel_create(&cancel), KUSTOS_OK);
	ck_assert_int_eq(ask(0, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	run_ms(1000);
	check_granted(0);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
	run_ms(WAY_MS);
	ck_assert_int_eq(ask(1, KUSTOS_FOREVER, cancel), KUSTOS_OK);
	kustos_cancel_fire(cancel);
	ck_assert_int_eq(ask(0, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	run_ms(2 * WAY_MS - 1); /* the deletion's answer has come */
	ck_assert_int_eq(tries, 2);
	run_ms(1000);
	ck_assert_int_eq(tries, 3);
	check_granted(0);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
	kustos_cancel_destroy(cancel);
}
END_TEST

static void run_until_granted(void)
{
	for (int ms = 0; ms < 1000 && wishes[0].err == KUSTOS_ETIMEDOUT; ms++)
		run_ms(1);
}

/* The client knows that the node is its own: before it watches it, after that,
   and on a later connection than the one on which it made the node. */
START_TEST(to_give_it_back_is_one_request)
{
	struct kustos_stat stat;

	ck_assert_int_eq(ask(0, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	if (_i == 2)
		run_until_granted();
	else
		run_ms(1000);
	if (_i == 1) {
		model_cut(bench.model, LONE_MACHINE, false);
		run_ms(LONE_TIMEOUT_MS);
	}
	check_granted(0);
	requests = 0;
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
	run_ms(1000);
	ck_assert_int_eq(requests, 1);
	ck_assert(!model_stat(bench.model, NODE, &stat));
}
END_TEST

/* While the client is disconnected its node is deleted, and the rival makes
   another.  The client sees that it is another's, or gives its hold back before
   that. */
START_TEST(S10_what_another_has_made_meanwhile_is_left_to_it)
{
	struct kustos_stat stat;

	ck_assert_int_eq(ask(0, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	run_ms(1000);
	check_granted(0);
	int64_t before = client->session.connection;
	model_cut(bench.model, LONE_MACHINE, false);
	delete_it();
	make_it();
	while (client->session.connection == before ||
		!ku_session_ready(client))
		run_ms(1);
	check_granted(0);
	if (_i == 0) {
		run_ms(LONE_TIMEOUT_MS);
		ck_assert_int_eq(kustos_hold_state(wishes[0].hold),
			KUSTOS_HOLD_LOST);
	}
	(void)kustos_hold_release(wishes[0].hold);
	run_ms(LONE_TIMEOUT_MS);
	ck_assert(model_stat(bench.model, NODE, &stat));
	ck_assert_int_ne(stat.ephemeral_owner, client->session.id);
}
END_TEST

/* The first try was not done, and the next was beaten; but the client learns
   neither. */
START_TEST(S06_who_cannot_know_whose_it_is_waits_for_it)
{
	make_it();
	unanswered = unknowable = true;
	ck_assert_int_eq(ask(0, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	run_ms(1000);
	ck_assert(!unanswered);
	ck_assert_int_eq(wishes[0].err, KUSTOS_ETIMEDOUT);
	delete_it();
	run_ms(1000);
	check_granted(0);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
}
END_TEST

/* The rival has the node, and the client waits. */
static void wait_for_it(void)
{
	make_it();
	ck_assert_int_eq(ask(0, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	run_ms(1000);
	ck_assert_int_eq(wishes[0].err, KUSTOS_ETIMEDOUT);
}

START_TEST(L08_who_waits_looks_again_though_nothing_tells)
{
	wait_for_it();
	model_forget_watches(bench.model,
		model_server_of(bench.model, LONE_MACHINE));
	delete_it();
	run_ms(1000);
	ck_assert_int_eq(wishes[0].err, KUSTOS_ETIMEDOUT);
	run_ms(LOOK_MS);
	check_granted(0);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
}
END_TEST

START_TEST(U09_who_may_not_read_the_node_tries_now_and_then)
{
	unreadable = true;
	wait_for_it();
	delete_it();
	run_ms(TRY_MS);
	check_granted(0);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
}
END_TEST

/* Delete the node, and let the rival be quicker.  Return how long the client
   waited. */
static double lose_a_fight(void)
{
	fight.asked = false;
	delete_it();
	int64_t since = bench.sched.now_ns;
	for (int ms = 0; ms < 1000 && !fight.asked; ms++)
		run_ms(1);
	ck_assert(fight.asked);
	int64_t at_ns = fight.at_ns;
	run_ms(8 * WAY_MS);
	ck_assert_int_eq(wishes[0].err, KUSTOS_ETIMEDOUT);
	return (double)(at_ns - since) / KU_NS_PER_MS;
}

/* A client that was not beaten yet does not wait at all: most often it is
   alone. */
START_TEST(L28_who_is_beaten_waits_longer_each_time_but_not_for_long)
{
	double pause, longest = 0;

	wait_for_it();
	fight.on = true;
	ck_assert(lose_a_fight() <= 0);
	ck_assert_int_eq(fight.kind, KU_ZK_CREATE);
	for (int beaten = 1; beaten < FIGHTS; beaten++) {
		pause = lose_a_fight();
		ck_assert_int_eq(fight.kind, KU_ZK_GET);
		ck_assert(pause >= 1 && pause <= PAUSE_MS);
		ck_assert(beaten > 4 || pause <= 1 + (1 << beaten));
		longest = pause > longest ? pause : longest;
	}
	ck_assert(longest > PAUSE_MS / 2.0);
	fight.on = false;
	delete_it();
	run_ms(1000);
	check_granted(0);
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
}
END_TEST

START_TEST(who_waits_until_its_node_is_gone_hears_that_it_may_not_go)
{
	struct ku_parting parting = { .err = KUSTOS_OK };

	ck_assert_int_eq(ask(0, KUSTOS_FOREVER, NULL), KUSTOS_OK);
	run_ms(1000);
	check_granted(0);
	ku_lock(client);
	ku_gate_part(wishes[0].hold, &parting);
	ku_unlock(client);
	undeletable = true;
	ck_assert_int_eq(kustos_hold_release(wishes[0].hold), KUSTOS_OK);
	run_ms(1000);
	ck_assert_ptr_null(parting.of);
	ck_assert_int_eq(parting.err, KUSTOS_ENOAUTH);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("places in a line of one in the simulator");
	TCase *t = tcase_create("who tries");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, L20_a_try_does_not_wait_for_what_another_had_begun);
	tcase_add_test(t, who_cannot_try_is_in_nobodys_way);
	tcase_add_test(t, who_cannot_try_when_its_turn_has_come_is_told);
	tcase_add_test(t, who_may_not_make_it_is_told_and_leaves_nothing);
	tcase_add_test(t,
		S06_nobody_tries_before_it_is_known_what_became_of_the_try_before);
	tcase_add_loop_test(t, to_give_it_back_is_one_request, 0, 3);
	tcase_add_loop_test(t,
		S10_what_another_has_made_meanwhile_is_left_to_it, 0, 2);
	tcase_add_test(t, S06_who_cannot_know_whose_it_is_waits_for_it);
	tcase_add_test(t, L08_who_waits_looks_again_though_nothing_tells);
	tcase_add_test(t, U09_who_may_not_read_the_node_tries_now_and_then);
	tcase_add_test(t,
		L28_who_is_beaten_waits_longer_each_time_but_not_for_long);
	tcase_add_test(t,
		who_waits_until_its_node_is_gone_hears_that_it_may_not_go);
	suite_add_tcase(s, t);
	return unit_main(s);
}
