/*
 * test_latch_one_node.c - latches that compete for one node: the one that
 * creates it leads, and the others take over when it is deleted.
 */
#include "latch_fixture.h"

#include <string.h>

#define T_MS 9000
#define COUNT 3

static struct kustos_client *clients[COUNT];
static struct runner runners[COUNT];

static void set_up(void)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	static const char *const ids[COUNT] = { "a", "b", "c" };

	o.one_node = 1;
	for (int i = 0; i < COUNT; i++) {
		clients[i] = client_connected(fixture_address(), T_MS);
		o.id = ids[i];
		runner_make_with(&runners[i], clients[i], o);
		check_err(kustos_latch_start(runners[i].latch), KUSTOS_OK);
		if (i == 0)
			runner_leads(&runners[0]);
	}
	test_eventually(watch_count() == COUNT, 5000);
}

static void tear_down(void)
{
	for (int i = 0; i < COUNT; i++) {
		runner_end(&runners[i]);
		client_close(clients[i]);
	}
	ck_assert_int_eq(raw_exists(fixture_address(), LINE, NULL), RAW_NONODE);
}

/* Wait until one leads that is not number "other", and return its number. */
static int leader(int other)
{
	int found = -1;
	int64_t end = test_now_ms() + PATIENCE_MS;

	while (found < 0 && test_now_ms() < end) {
		for (int i = 0; i < COUNT; i++)
			if (i != other && runners[i].latch != NULL &&
				kustos_latch_leads(runners[i].latch))
				found = i;
		test_pause_1ms();
	}
	ck_assert_int_ge(found, 0);
	runner_leads(&runners[found]);
	return found;
}

/* Check what everybody can see of the leader. */
static void check_seen(int who)
{
	struct kustos_participants *p = NULL;
	static const char *const ids[COUNT] = { "a", "b", "c" };

	check_err(kustos_participants(clients[0], LINE, SOON, NULL, &p),
		KUSTOS_OK);
	ck_assert_uint_eq(p->count, 1);
	ck_assert_str_eq(p->list[0]->data, ids[who]);
	ck_assert_int_eq(p->list[0]->stat.czxid, runners[who].token);
	kustos_participants_free(p);
}

START_TEST(one_leads_and_when_it_closes_another_does)
{
	int64_t term = 0;
	int who = 0;

	for (int i = 0; i < COUNT; i++) {
		ck_assert_str_eq(runners[who].node, LINE);
		check_term(&runners[who], clients[who]);
		check_seen(who);
		ck_assert_int_gt(kustos_latch_term(runners[who].latch), term);
		term = kustos_latch_term(runners[who].latch);
		for (int k = 0; k < COUNT; k++)
			if (k != who && atomic_load(&runners[k].gains) == 0)
				check_state(&runners[k], KUSTOS_LATCH_WAITING);
		kustos_latch_close(runners[who].latch, KUSTOS_CLOSE_NOTIFY);
		runner_lost(&runners[who], 1);
		if (i < COUNT - 1)
			who = leader(who);
	}
}
END_TEST

START_TEST(L14_a_leader_that_loses_its_session_is_followed_and_waits_again)
{
	int next;

	client_kill_session(clients[0]);
	next = leader(0);
	runner_lost(&runners[0], 1);
	check_term(&runners[next], clients[next]);
	client_wait_epoch(clients[0], 1, 5000);
	/* All take part again: one watch of the leader on its node, and one for
	   each waiter. */
	test_eventually(watch_count() == COUNT, 5000);
	check_term(&runners[next], clients[next]);
	check_state(&runners[0], KUSTOS_LATCH_WAITING);
}
END_TEST

START_TEST(S09_a_leader_whose_node_is_deleted_stops_and_one_leads_again)
{
	int who;

	ck_assert_int_eq(raw_delete(fixture_address(), LINE), 0);
	runner_lost(&runners[0], 1);
	who = leader(-1);
	check_term(&runners[who], clients[who]);
	check_seen(who);
}
END_TEST

START_TEST(a_leader_changes_its_data_but_hands_over_to_nobody)
{
	struct kustos_participants *p = NULL;

	check_err(
		kustos_latch_set_data(runners[0].latch, "busy", 4, SOON, NULL),
		KUSTOS_OK);
	check_err(kustos_participants(clients[1], LINE, SOON, NULL, &p),
		KUSTOS_OK);
	ck_assert_str_eq(p->list[0]->data, "busy");
	kustos_participants_free(p);
	check_err(kustos_latch_hand_over(runners[0].latch, "b", SOON, NULL),
		KUSTOS_EUNSUPPORTED);
	ck_assert(kustos_latch_leads(runners[0].latch));
	/* Only the leader may write there. */
	ck_assert_int_eq(raw_set(fixture_address(), LINE, "mine"), 0);
	runner_lost(&runners[0], 1);
	(void)leader(-1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, one node");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, one_leads_and_when_it_closes_another_does);
	tcase_add_test(t,
		L14_a_leader_that_loses_its_session_is_followed_and_waits_again);
	tcase_add_test(t,
		S09_a_leader_whose_node_is_deleted_stops_and_one_leads_again);
	tcase_add_test(t, a_leader_changes_its_data_but_hands_over_to_nobody);
	return fixture_main(s);
}
