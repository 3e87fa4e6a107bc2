/*
 * test_simple.c - the simple lock: acquired, refused, waited for and released;
 * its node, and who else may create that.
 */
#include "simple_fixture.h"

#include <kustos/cancel.h>
#include <kustos/participant.h>

#include <string.h>

#define T_MS 9000

static void set_up(void)
{
	pair_open_behind_proxy(T_MS, 0);
	simple_pair_make();
}

START_TEST(it_is_one_ephemeral_node_at_the_very_path)
{
	struct kustos_hold *hold = simple_take(simple);

	ck_assert_str_eq(kustos_hold_path(hold), LINE);
	check_node(hold, client);
	ck_assert_int_eq(raw_count_children(fixture_address(), LINE), 0);
	check_err(simple_try(simple_rivals), KUSTOS_EBUSY);
	check_err(simple_try(simple), KUSTOS_EBUSY);
	hold_give(hold);
	node_wait_gone();
	check_err(simple_try(simple_rivals), KUSTOS_OK);
}
END_TEST

START_TEST(taking_it_costs_one_round_trip_and_giving_it_back_none)
{
	struct kustos_hold *hold;

	hold_give(simple_take(simple)); /* its parents exist now */
	pair_flush();
	proxy_reset_counts(proxy);
	for (int i = 0; i < 5; i++) {
		hold = simple_take(simple);
		hold_give(hold);
	}
	pair_flush();
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CREATE2), 5);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_DELETE), 5);
	ck_assert_int_eq(proxy_count(proxy, ZK_OP_CHILDREN2), 0);
}
END_TEST

START_TEST(tokens_grow_from_holder_to_holder)
{
	int64_t last = 0;

	for (int i = 0; i < 20; i++) {
		struct kustos_hold *hold = simple_take(
			i % 2 ? simple : simple_rivals);

		ck_assert_int_gt(kustos_hold_token(hold), last);
		last = kustos_hold_token(hold);
		hold_give(hold);
	}
}
END_TEST

START_TEST(who_waits_has_it_when_the_holder_gives_it_back)
{
	struct kustos_hold *hold = simple_take(simple_rivals);
	struct ask asks[3] = { { .calls = 0 } };

	for (int i = 0; i < 3; i++)
		simple_ask(&asks[i], simple, SOON);
	wait_until_watched(2); /* the holder's, and one for all three */
	hold_give(hold);
	for (int i = 0; i < 3; i++) { /* those of one client have an order */
		check_err(ask_wait(&asks[i], 3000), KUSTOS_OK);
		check_node(asks[i].hold, client);
		for (int j = i + 1; j < 3; j++)
			ck_assert(ask_waits(&asks[j]));
		hold_give(asks[i].hold);
	}
}
END_TEST

START_TEST(a_node_of_any_other_program_is_waited_for)
{
	struct ask a = { .calls = 0 };
	struct rival rival;

	node_take(&rival);
	check_err(simple_try(simple), KUSTOS_EBUSY);
	simple_ask(&a, simple, SOON);
	wait_until_watched(1);
	ck_assert(ask_waits(&a));
	rival_leave(&rival);
	check_err(ask_wait(&a, 3000), KUSTOS_OK);
	check_node(a.hold, client);
	hold_give(a.hold);
}
END_TEST

START_TEST(L14_a_holder_that_dies_lets_others_in)
{
	struct kustos_hold *hold = simple_take(simple);
	struct ask a = { .calls = 0 };
	int lost = 0;

	check_err(kustos_hold_on_lost(hold, count_call, &lost), KUSTOS_OK);
	simple_ask(&a, simple_rivals, SOON);
	wait_until_watched(2);
	client_kill_session(client);
	check_err(ask_wait(&a, 3000), KUSTOS_OK);
	hold_wait(hold, KUSTOS_HOLD_LOST, 3000);
	test_eventually(calls_of(&lost) == 1, 3000);
	check_node(a.hold, other);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	client_wait_epoch(client, 1, 5000);
	pair_flush();
	check_node(a.hold, other); /* their node was not touched */
	hold_give(a.hold);
}
END_TEST

START_TEST(U03_a_deadline_passes_and_a_cancel_fires_while_it_waits)
{
	struct kustos_hold *hold = simple_take(simple_rivals), *none = NULL;
	struct kustos_cancel *cancel = NULL;
	struct ask a = { .calls = 0 };

	check_err(
		kustos_simple_acquire(simple, kustos_after_ms(30), NULL, &none),
		KUSTOS_ETIMEDOUT);
	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	check_err(kustos_simple_acquire_async(simple, SOON, cancel, ask_ended,
			  &a),
		KUSTOS_OK);
	wait_until_watched(2);
	kustos_cancel_fire(cancel);
	check_err(ask_wait(&a, 3000), KUSTOS_ECANCELED);
	kustos_cancel_destroy(cancel);
	ck_assert_ptr_null(none);
	hold_give(hold);
	node_wait_gone(); /* nobody takes it */
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
	pair_flush();
	ck_assert(!node_there());
	wait_until_watched(0);
}
END_TEST

START_TEST(a_node_that_nobody_will_remove_is_an_error)
{
	struct kustos_hold *hold = NULL;

	ck_assert_int_eq(raw_create(fixture_address(), "/locks", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LINE, ""), 0);
	check_err(kustos_simple_acquire(simple, SOON, NULL, &hold),
		KUSTOS_EEXISTS);
	ck_assert_int_eq(raw_delete(fixture_address(), LINE), 0);
	hold_give(simple_take(simple));
}
END_TEST

START_TEST(L21_missing_parents_are_made_again)
{
	struct kustos_hold *hold;

	for (int i = 0; i < 2; i++) {
		hold = simple_take(simple);
		hold_give(hold);
		pair_flush();
		ck_assert_int_eq(raw_delete(fixture_address(), "/locks"), 0);
	}
}
END_TEST

START_TEST(it_is_locked_by_threads_and_nests)
{
	check_err(kustos_simple_unlock(simple), KUSTOS_ENOTHELD);
	ck_assert_int_eq(kustos_simple_token(simple), 0);
	for (int i = 0; i < 3; i++)
		check_err(kustos_simple_lock(simple, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(kustos_simple_token(simple),
		kustos_hold_token(kustos_simple_hold(simple)));
	for (int i = 0; i < 3; i++) {
		check_err(simple_try(simple_rivals), KUSTOS_EBUSY);
		check_err(kustos_simple_unlock(simple), KUSTOS_OK);
	}
	pair_flush();
	check_err(simple_try(simple_rivals), KUSTOS_OK);
}
END_TEST

START_TEST(its_holder_is_the_only_participant)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;
	struct kustos_participants *p = NULL;
	struct kustos_simple *lock = NULL;
	struct kustos_hold *hold;

	o.data = "who";
	o.data_len = 3;
	check_err(kustos_simple_create(client, LINE, &o, &lock), KUSTOS_OK);
	check_err(kustos_participants(other, LINE, SOON, NULL, &p),
		KUSTOS_ENONODE);
	hold = simple_take(lock);
	check_err(kustos_participants(other, LINE, SOON, NULL, &p), KUSTOS_OK);
	ck_assert_uint_eq(p->count, 1);
	ck_assert_str_eq(p->list[0]->path, LINE);
	ck_assert_str_eq(p->list[0]->data, "who");
	ck_assert_int_eq(p->list[0]->holds, 1);
	ck_assert_int_eq(p->list[0]->style, KUSTOS_STYLE_NODE);
	ck_assert_str_eq(kustos_style_name(p->list[0]->style), "node");
	ck_assert_int_eq(p->list[0]->stat.czxid, kustos_hold_token(hold));
	ck_assert_int_eq(p->mixed, 0);
	check_err(kustos_participant_break(other, p->list[0], SOON, NULL),
		KUSTOS_OK);
	hold_wait(hold, KUSTOS_HOLD_LOST, 3000);
	kustos_participants_free(p);
	check_err(kustos_hold_release(hold), KUSTOS_ELOST);
	kustos_simple_destroy(lock);
}
END_TEST

/* Its node is a line without children, but not one of nobody. */
START_TEST(who_cleans_the_line_leaves_it_to_its_holder)
{
	struct kustos_hold *hold = simple_take(simple);

	check_err(kustos_line_clean(other, LINE, SOON, NULL), KUSTOS_OK);
	ck_assert(node_there());
	hold_give(hold);
}
END_TEST

START_TEST(its_node_tells_who_has_it_if_it_is_to)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;
	struct kustos_simple *told;
	char *data = NULL;
	size_t len;

	o.holder_record = 1;
	o.reason = "spring-cleaning";
	check_err(kustos_simple_create(client, LINE, &o, &told), KUSTOS_OK);
	struct kustos_hold *hold = simple_take(told);
	check_err(kustos_get(other, LINE, SOON, NULL, &data, &len, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(data[0], '{');
	ck_assert_ptr_nonnull(strstr(data, "spring-cleaning"));
	kustos_free(data);
	hold_give(hold);
	kustos_simple_destroy(told);
}
END_TEST

/* Without "on_revoke" its holder does not read them. */
START_TEST(a_request_to_release_it_replaces_the_data_and_no_more)
{
	struct kustos_participants *list = NULL;
	struct kustos_hold *hold = simple_take(simple);

	wait_until_watched(1);
	for (int i = 0; i < 2; i++)
		check_err(kustos_participant_revoke(other, LINE, SOON, NULL),
			KUSTOS_OK);
	pair_hear(client);
	check_err(kustos_participants(other, LINE, SOON, NULL, &list),
		KUSTOS_OK);
	ck_assert_uint_eq(list->count, 1);
	ck_assert_uint_eq(list->list[0]->len, 10);
	ck_assert_int_eq(memcmp(list->list[0]->data, "__REVOKE__", 10), 0);
	kustos_participants_free(list);
	ck_assert_int_eq(kustos_hold_state(hold), KUSTOS_HOLD_HELD);
	check_err(simple_try(simple_rivals), KUSTOS_EBUSY);
	hold_give(hold);
	node_wait_gone();
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;
	struct kustos_simple *lock = NULL;

	check_err(kustos_simple_create(NULL, LINE, NULL, &lock), KUSTOS_EINVAL);
	check_err(kustos_simple_create(client, "/", NULL, &lock),
		KUSTOS_EINVAL);
	check_err(kustos_simple_create(client, LINE, NULL, NULL),
		KUSTOS_EINVAL);
	o.local_handoffs = -1;
	check_err(kustos_simple_create(client, LINE, &o, &lock), KUSTOS_EINVAL);
	o.local_handoffs = 0;
	o.data_len = 1;
	check_err(kustos_simple_create(client, LINE, &o, &lock), KUSTOS_EINVAL);
	ck_assert_ptr_null(lock);
	check_err(kustos_simple_acquire(simple, SOON, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_simple_acquire_async(simple, SOON, NULL, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_simple_unlock(NULL), KUSTOS_EINVAL);
	kustos_simple_destroy(NULL);
}
END_TEST

/* Requests take a while to arrive. */
START_TEST(an_unlock_that_waits_has_taken_place_when_it_returns)
{
	struct kustos_simple_options o = KUSTOS_SIMPLE_OPTIONS_INIT;
	struct kustos_simple *waits;

	o.unlock_waits = 1;
	check_err(kustos_simple_create(client, LINE, &o, &waits), KUSTOS_OK);
	proxy_set_delay(proxy, 100, 0);
	for (int i = 0; i < 3; i++) {
		check_err(kustos_simple_lock(waits, SOON, NULL), KUSTOS_OK);
		check_err(kustos_simple_unlock(waits), KUSTOS_OK);
		ck_assert_int_eq(raw_exists(fixture_address(), LINE, NULL),
			RAW_NONODE);
	}
	proxy_set_delay(proxy, 0, 0);
	kustos_simple_destroy(waits);
}
END_TEST

START_TEST(an_unlock_that_is_not_to_wait_does_not)
{
	check_err(kustos_simple_lock(simple, SOON, NULL), KUSTOS_OK);
	proxy_set_mode(proxy, PROXY_HOLD);
	check_err(kustos_simple_unlock(simple), KUSTOS_OK);
	ck_assert(node_there());
	proxy_set_mode(proxy, PROXY_PASS);
	node_wait_gone();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("simple lock");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, simple_pair_close);
	tcase_add_test(t, it_is_one_ephemeral_node_at_the_very_path);
	tcase_add_test(t,
		taking_it_costs_one_round_trip_and_giving_it_back_none);
	tcase_add_test(t, tokens_grow_from_holder_to_holder);
	tcase_add_test(t, who_waits_has_it_when_the_holder_gives_it_back);
	tcase_add_test(t, a_node_of_any_other_program_is_waited_for);
	tcase_add_test(t, L14_a_holder_that_dies_lets_others_in);
	tcase_add_test(t,
		U03_a_deadline_passes_and_a_cancel_fires_while_it_waits);
	tcase_add_test(t, a_node_that_nobody_will_remove_is_an_error);
	tcase_add_test(t, L21_missing_parents_are_made_again);
	tcase_add_test(t, it_is_locked_by_threads_and_nests);
	tcase_add_test(t, its_holder_is_the_only_participant);
	tcase_add_test(t, who_cleans_the_line_leaves_it_to_its_holder);
	tcase_add_test(t, its_node_tells_who_has_it_if_it_is_to);
	tcase_add_test(t,
		a_request_to_release_it_replaces_the_data_and_no_more);
	tcase_add_test(t, wrong_arguments_are_refused);
	tcase_add_test(t, an_unlock_that_waits_has_taken_place_when_it_returns);
	tcase_add_test(t, an_unlock_that_is_not_to_wait_does_not);
	return fixture_main(s);
}
