/*
 * test_latch_duties.c - what a leader can do besides leading: change its data,
 * tell its term, and hand over to another candidate.
 */
#include "latch_fixture.h"
#include "mutex_pair.h"

#include <kustos/cancel.h>
#include <kustos/participant.h>

#include <string.h>

#define T_MS 9000
#define QUIET_MS 100
#define MOST 6

static struct runner runners[MOST];

static void set_up(void)
{
	pair_open_behind_proxy(T_MS, 0);
}

static void tear_down(void)
{
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

/* The first belongs to "client", the others to "other"; the id of each is its
   number. */
static void line_up(int count)
{
	static const char *const ids[MOST] = { "0", "1", "2", "3", "4", "5" };

	for (int i = 0; i < count; i++) {
		runner_run(&runners[i], i == 0 ? client : other, ids[i]);
		line_wait(i + 1);
	}
	runner_leads(&runners[0]);
}

static void all_end(int count)
{
	for (int i = 0; i < count; i++)
		runner_end(&runners[i]);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}

/* Check the data of the node at that place. */
static void check_data(int place, const char *wanted)
{
	struct raw *raw = raw_open(fixture_address(), T_MS);
	char data[64] = "";
	char node[NODE_SIZE];

	ck_assert_ptr_nonnull(raw);
	node_at(place, node);
	ck_assert_int_eq(raw_do_get(raw, node, data, sizeof(data), NULL), 0);
	ck_assert_str_eq(data, wanted);
	raw_close(raw);
}

/* --- Data and terms ------------------------------------------------------- */

START_TEST(a_leader_says_something_else_and_so_do_its_later_terms)
{
	line_up(2);
	check_err(
		kustos_latch_set_data(runners[0].latch, "busy", 4, SOON, NULL),
		KUSTOS_OK);
	check_data(0, "busy");
	check_err(kustos_latch_set_data(runners[0].latch, "", 0, SOON, NULL),
		KUSTOS_OK);
	check_data(0, "");
	check_err(
		kustos_latch_set_data(runners[0].latch, "idle", 4, SOON, NULL),
		KUSTOS_OK);
	test_never(!kustos_latch_leads(runners[0].latch), QUIET_MS);
	ck_assert_int_eq(runners[0].losses, 0);
	/* Somebody deletes its node. */
	ck_assert_int_eq(raw_delete(fixture_address(), runners[0].node), 0);
	runner_leads(&runners[1]);
	line_wait(2);
	check_data(1, "idle");
	all_end(2);
}
END_TEST

static void say_more(struct runner *r)
{
	check_err(kustos_latch_set_data(r->latch, "more", 4, SOON, NULL),
		KUSTOS_OK);
}

START_TEST(a_callback_says_something_else)
{
	runner_make(&runners[0], client, "id");
	runners[0].on_gained = say_more;
	check_err(kustos_latch_start(runners[0].latch), KUSTOS_OK);
	test_eventually(atomic_load(&runners[0].ended) == 1, 5000);
	check_data(0, "more");
	all_end(1);
}
END_TEST

START_TEST(only_who_leads_says_something_else)
{
	line_up(2);
	check_err(kustos_latch_set_data(runners[1].latch, "x", 1, SOON, NULL),
		KUSTOS_ENOTHELD);
	check_data(1, "1");
	check_err(kustos_latch_set_data(NULL, "x", 1, SOON, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_latch_set_data(runners[0].latch, NULL, 1, SOON, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_latch_set_data_async(runners[0].latch, "x", 1, SOON,
			  NULL, NULL, NULL),
		KUSTOS_EINVAL);
	kustos_latch_close(runners[0].latch, KUSTOS_CLOSE_SILENT);
	check_err(kustos_latch_set_data(runners[0].latch, "x", 1, SOON, NULL),
		KUSTOS_ECLOSED);
	runner_leads(&runners[1]);
	all_end(2);
}
END_TEST

START_TEST(S20_an_answer_that_is_lost_does_not_end_leadership)
{
	line_up(1);
	proxy_arm(proxy, _i ? PROXY_LOSE_REPLY : PROXY_LOSE_REQUEST, ZK_OP_SET,
		1);
	check_err(
		kustos_latch_set_data(runners[0].latch, "busy", 4, SOON, NULL),
		KUSTOS_OK);
	check_data(0, "busy");
	check_err(
		kustos_latch_set_data(runners[0].latch, "idle", 4, SOON, NULL),
		KUSTOS_OK);
	check_data(0, "idle");
	test_never(!kustos_latch_leads(runners[0].latch), QUIET_MS);
	ck_assert_int_eq(runners[0].losses, 0);
	all_end(1);
}
END_TEST

/* What is written after its callers gave up is still taken into account. */
START_TEST(a_change_that_nobody_waits_for_is_seen_to_its_end)
{
	struct end ends[3] = { { .calls = 0 } };
	struct kustos_cancel *cancel = NULL;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	line_up(1);
	proxy_set_mode(proxy, PROXY_HOLD);
	for (int i = 0; i < 3; i++)
		check_err(kustos_latch_set_data_async(runners[0].latch,
				  &"abc"[i], 1, SOON, i < 2 ? cancel : NULL,
				  end_told, &ends[i]),
			KUSTOS_OK);
	check_err(kustos_latch_set_data(runners[0].latch, "d", 1,
			  kustos_after_ms(30), NULL),
		KUSTOS_ETIMEDOUT);
	kustos_cancel_fire(cancel);
	check_err(end_wait(&ends[0], 5000), KUSTOS_ECANCELED);
	check_err(end_wait(&ends[1], 5000), KUSTOS_ECANCELED);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(end_wait(&ends[2], 5000), KUSTOS_OK);
	check_data(0, "c");
	test_never(!kustos_latch_leads(runners[0].latch), QUIET_MS);
	ck_assert_int_eq(runners[0].losses, 0);
	kustos_cancel_destroy(cancel);
	all_end(1);
}
END_TEST

/* A leader whose node somebody else writes into is thereby asked to go. */
START_TEST(a_leader_whose_node_another_writes_into_stops)
{
	line_up(2);
	if (_i == 0)
		check_err(kustos_participant_revoke(other, runners[0].node,
				  SOON, NULL),
			KUSTOS_OK);
	else
		ck_assert_int_eq(
			raw_set(fixture_address(), runners[0].node, "mine"), 0);
	runner_lost(&runners[0], 1);
	runner_leads(&runners[1]);
	ck_assert(runners[0].lost_ns > 0);
	line_wait(2);
	check_data(1, "0");
	all_end(2);
}
END_TEST

START_TEST(terms_are_czxids_and_grow)
{
	line_up(3);
	ck_assert(kustos_latch_term(runners[0].latch) == runners[0].token);
	ck_assert(kustos_latch_term(runners[1].latch) == 0);
	ck_assert(kustos_latch_term(NULL) == 0);
	for (int i = 0; i < 2; i++) {
		kustos_latch_close(runners[i].latch, KUSTOS_CLOSE_SILENT);
		ck_assert(kustos_latch_term(runners[i].latch) == 0);
		runner_leads(&runners[i + 1]);
		ck_assert(kustos_latch_term(runners[i + 1].latch) ==
			runners[i + 1].token);
		ck_assert_int_gt(runners[i + 1].token, runners[i].token);
	}
	all_end(3);
}
END_TEST

/* --- Hand-over ------------------------------------------------------------ */

/* From the first to each other, and to the next one, whoever it is. */
START_TEST(leadership_goes_to_the_one_that_is_named)
{
	static const char *const ids[] = { "1", "2", "4", NULL };
	/* The candidate that is certainly second then, as it kept its place. */
	static const char *const second[] = { "2", "3", NULL, "2" };
	int heir = ids[_i] != NULL ? ids[_i][0] - '0' : 1;

	line_up(5);
	check_err(kustos_latch_hand_over(runners[0].latch, ids[_i], SOON, NULL),
		KUSTOS_OK);
	runner_leads(&runners[heir]);
	ck_assert_int_eq(runners[0].losses, 1);
	ck_assert(runners[0].lost_ns < runners[heir].gained_ns);
	ck_assert_int_gt(runners[heir].token, runners[0].token);
	for (int i = 1; i < 5; i++)
		ck_assert_int_eq(runners[i].gains, i == heir);
	/* The others have joined the line again, and lead in turn. */
	line_wait(5);
	if (second[_i] != NULL)
		check_data(1, second[_i]);
	all_end(5);
}
END_TEST

START_TEST(nothing_is_done_if_nobody_of_that_name_waits)
{
	line_up(2);
	check_err(kustos_latch_hand_over(runners[0].latch, "9", SOON, NULL),
		KUSTOS_EABSENT);
	/* The leader itself is not waiting. */
	check_err(kustos_latch_hand_over(runners[0].latch, "0", SOON, NULL),
		KUSTOS_EABSENT);
	check_err(kustos_latch_hand_over(runners[1].latch, "0", SOON, NULL),
		KUSTOS_ENOTHELD);
	runner_end(&runners[1]);
	line_wait(1);
	check_err(kustos_latch_hand_over(runners[0].latch, NULL, SOON, NULL),
		KUSTOS_EABSENT);
	ck_assert(kustos_latch_leads(runners[0].latch));
	ck_assert_int_eq(runners[0].losses, 0);
	all_end(1);
}
END_TEST

/* Between two latches of one client, in a line with others. */
START_TEST(two_of_one_client_hand_over_to_each_other)
{
	struct rival rival;

	runner_run(&runners[0], client, "0");
	line_wait(1);
	runner_run(&runners[2], other, "2");
	line_wait(2);
	runner_run(&runners[1], client, "1");
	line_wait(3);
	rival_enter(&rival); /* a lock's node, not a candidate */
	for (int i = 0; i < 4; i++) {
		struct runner *from = &runners[i % 2];
		struct runner *to = &runners[1 - i % 2];

		runner_leads(from);
		check_err(kustos_latch_hand_over(from->latch, i % 2 ? "0" : "1",
				  SOON, NULL),
			KUSTOS_OK);
		runner_leads(to);
		ck_assert_int_gt(to->token, from->token);
	}
	ck_assert_int_eq(runners[2].gains, 0);
	rival_leave(&rival);
	all_end(3);
}
END_TEST

static struct end from_inside;

static void hand_over_at_once(struct runner *r)
{
	if (r->gains > 1)
		return;
	line_wait(2); /* the other has joined the line again */
	check_err(kustos_latch_hand_over(r->latch, "1", SOON, NULL),
		KUSTOS_EDEADLK);
	check_err(kustos_latch_hand_over_async(r->latch, "1", SOON, NULL,
			  end_told, &from_inside),
		KUSTOS_OK);
}

START_TEST(a_callback_can_hand_over_without_waiting)
{
	memset(&from_inside, 0, sizeof(from_inside));
	runner_run(&runners[1], other, "1");
	runner_leads(&runners[1]);
	runner_make(&runners[0], client, "0");
	runners[0].on_gained = hand_over_at_once;
	check_err(kustos_latch_start(runners[0].latch), KUSTOS_OK);
	line_wait(2);
	check_err(kustos_latch_hand_over(runners[1].latch, "0", SOON, NULL),
		KUSTOS_OK);
	check_err(end_wait(&from_inside, 5000), KUSTOS_OK);
	test_eventually(atomic_load(&runners[1].gains) == 2, 5000);
	runner_leads(&runners[1]);
	all_end(2);
}
END_TEST

static atomic_int told;

static void count_it(void *arg, struct kustos_hold *hold)
{
	(void)arg;
	(void)hold;
	atomic_fetch_add(&told, 1);
}

static void count_losses(struct runner *r)
{
	check_err(kustos_hold_on_lost(r->hold, count_it, NULL), KUSTOS_OK);
}

/* Its node was watched while it waited, so its deletion is noticed. */
START_TEST(the_hold_of_who_has_handed_over_calls_nobody)
{
	runner_run(&runners[0], client, "0");
	runner_leads(&runners[0]);
	runner_make(&runners[1], other, "1");
	runners[1].on_gained = count_losses;
	check_err(kustos_latch_start(runners[1].latch), KUSTOS_OK);
	for (int from = 0; from < 2; from++) {
		line_wait(2);
		check_err(kustos_latch_hand_over(runners[from].latch, NULL,
				  SOON, NULL),
			KUSTOS_OK);
		runner_leads(&runners[1 - from]);
	}
	test_never(atomic_load(&told) > 0, QUIET_MS);
	all_end(2);
}
END_TEST

/* Any frame of it may be lost: there is one leader, and it is known who. */
START_TEST(S15_a_fault_at_any_frame_of_a_hand_over_leaves_one_leader)
{
	enum kustos_err err;

	line_up(4);
	proxy_arm(proxy, _i % 2 ? PROXY_LOSE_REPLY : PROXY_LOSE_REQUEST,
		PROXY_ANY, 1 + _i / 2);
	err = kustos_latch_hand_over(runners[0].latch, "3", SOON, NULL);
	check_err(err, KUSTOS_OK);
	runner_leads(&runners[3]);
	ck_assert_int_eq(runners[1].gains + runners[2].gains, 0);
	line_wait(4);
	all_end(4);
}
END_TEST

/* The answer is lost, and the heir no longer leads when it can be asked for. */
START_TEST(S15_what_nothing_tells_of_a_hand_over_is_said_to_be_unknown)
{
	struct end end = { .calls = 0 };

	line_up(3);
	proxy_arm(proxy, PROXY_HOLD_REPLY, ZK_OP_MULTI, 2);
	check_err(kustos_latch_hand_over_async(runners[0].latch, "1", SOON,
			  NULL, end_told, &end),
		KUSTOS_OK);
	runner_leads(&runners[1]);
	ck_assert_int_eq(raw_delete(fixture_address(), runners[1].node), 0);
	runner_leads(&runners[2]);
	line_wait(2);
	proxy_cut(proxy);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(end_wait(&end, 5000), KUSTOS_EUNKNOWN);
	line_wait(3);
	all_end(3);
}
END_TEST

START_TEST(a_hand_over_ends_as_it_was_told_to)
{
	struct end end = { .calls = 0 };
	struct kustos_cancel *cancel = NULL;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	line_up(2);
	proxy_set_mode(proxy, PROXY_HOLD);
	check_err(kustos_latch_hand_over(runners[0].latch, "1",
			  kustos_after_ms(30), NULL),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_latch_hand_over_async(runners[0].latch, "1", SOON,
			  cancel, end_told, &end),
		KUSTOS_OK);
	ck_assert_int_eq(end_calls(&end), 0);
	if (_i == 0)
		kustos_cancel_fire(cancel);
	else if (_i == 1)
		kustos_latch_close(runners[0].latch, KUSTOS_CLOSE_SILENT);
	else
		kustos_latch_destroy(runners[0].latch);
	check_err(end_wait(&end, 5000),
		_i == 0 ? KUSTOS_ECANCELED : KUSTOS_ECLOSED);
	if (_i == 0)
		ck_assert(kustos_latch_leads(runners[0].latch));
	proxy_set_mode(proxy, PROXY_PASS);
	if (_i < 2)
		kustos_latch_destroy(runners[0].latch);
	runner_leads(&runners[1]);
	runner_end(&runners[1]);
	kustos_cancel_destroy(cancel);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

/* Between the look and the deed, while a callback runs, the heir leaves, or
   takes another id. */
static void heir_leaves(struct runner *r)
{
	(void)r;
	kustos_latch_close(runners[2].latch, KUSTOS_CLOSE_SILENT);
	line_wait(2);
}

static void heir_is_renamed(struct runner *r)
{
	char node[NODE_SIZE];

	(void)r;
	node_at(2, node);
	ck_assert_int_eq(raw_set(fixture_address(), node, "9"), 0);
}

START_TEST(an_heir_left_or_renamed_is_told_of)
{
	runner_make(&runners[0], client, "0");
	runners[0].on_lost = _i == 0 ? heir_leaves : heir_is_renamed;
	check_err(kustos_latch_start(runners[0].latch), KUSTOS_OK);
	line_wait(1);
	runner_run(&runners[1], other, "1");
	line_wait(2);
	runner_run(&runners[2], other, "2");
	line_wait(3);
	runner_leads(&runners[0]);
	check_err(kustos_latch_hand_over(runners[0].latch, "2", SOON, NULL),
		KUSTOS_ECHANGED);
	runner_leads(&runners[1]);
	line_wait(_i == 0 ? 2 : 3);
	runners[0].on_lost = NULL;
	all_end(3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, duties");
	TCase *t = fixture_case(s, "one server", 10);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t,
		a_leader_says_something_else_and_so_do_its_later_terms);
	tcase_add_test(t, a_callback_says_something_else);
	tcase_add_test(t, only_who_leads_says_something_else);
	tcase_add_loop_test(t,
		S20_an_answer_that_is_lost_does_not_end_leadership, 0, 2);
	tcase_add_test(t, a_change_that_nobody_waits_for_is_seen_to_its_end);
	tcase_add_loop_test(t, a_leader_whose_node_another_writes_into_stops, 0,
		2);
	tcase_add_test(t, terms_are_czxids_and_grow);
	tcase_add_loop_test(t, leadership_goes_to_the_one_that_is_named, 0, 4);
	tcase_add_test(t, nothing_is_done_if_nobody_of_that_name_waits);
	tcase_add_test(t, two_of_one_client_hand_over_to_each_other);
	tcase_add_test(t, a_callback_can_hand_over_without_waiting);
	tcase_add_test(t, the_hold_of_who_has_handed_over_calls_nobody);
	tcase_add_loop_test(t,
		S15_a_fault_at_any_frame_of_a_hand_over_leaves_one_leader, 0,
		12);
	tcase_add_test(t,
		S15_what_nothing_tells_of_a_hand_over_is_said_to_be_unknown);
	tcase_add_loop_test(t, a_hand_over_ends_as_it_was_told_to, 0, 3);
	tcase_add_loop_test(t, an_heir_left_or_renamed_is_told_of, 0, 2);
	return fixture_main(s);
}
