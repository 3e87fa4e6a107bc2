/*
 * test_selector.c - a selector leads while its function runs, and joins the
 * line again if it is to; it shares its line with mutexes.
 */
#include "mutex_pair.h"
#include "selector_fixture.h"

#include <kustos/participant.h>
#include <string.h>

#define T_MS 20000
#define QUIET_MS 100

static struct chief ours, theirs;

static void set_up(void)
{
	pair_open(T_MS, 0);
}

static void tear_down(void)
{
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

START_TEST(it_leads_while_its_function_runs)
{
	struct kustos_participants *p = NULL;

	chief_make(&ours, client, chief_options("ann", 0));
	chief_state(&ours, KUSTOS_SELECTOR_IDLE);
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	chief_leads(&ours, 1);
	chief_state(&ours, KUSTOS_SELECTOR_LEADS);
	chief_node(&ours, client);
	check_err(kustos_participants(other, LINE, SOON, NULL, &p), KUSTOS_OK);
	ck_assert_uint_eq(p->count, 1);
	ck_assert_str_eq(p->list[0]->path, ours.node);
	ck_assert_str_eq(p->list[0]->data, "ann");
	ck_assert(p->list[0]->kind == KUSTOS_KIND_LOCK && p->list[0]->holds);
	ck_assert_ptr_nonnull(strstr(ours.node, "-lock-"));
	kustos_participants_free(p);
	chief_returns(&ours);
	chief_becomes(&ours, KUSTOS_SELECTOR_IDLE);
	line_wait(0);
	test_never(atomic_load(&ours.begun) != 1, QUIET_MS);
	check_err(kustos_selector_error(ours.selector), KUSTOS_OK);
	chief_end(&ours);
}
END_TEST

START_TEST(without_an_id_its_node_has_our_address)
{
	char *data = NULL;

	chief_run(&ours, client, chief_options(_i ? "" : NULL, 0));
	chief_leads(&ours, 1);
	check_err(kustos_get(other, ours.node, SOON, NULL, &data, NULL, NULL),
		KUSTOS_OK);
	ck_assert_str_eq(data, "127.0.0.1");
	kustos_free(data);
	chief_end(&ours);
	pair_flush();
}
END_TEST

START_TEST(it_leads_again_when_it_is_queued_again)
{
	struct kustos_hold *hold = hold_take(rivals);
	int64_t token;

	chief_make(&ours, client, chief_options(NULL, 0));
	check_err(kustos_selector_requeue(ours.selector), KUSTOS_EINVAL);
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	/* While it is in the line, this has no effect. */
	check_err(kustos_selector_requeue(ours.selector), KUSTOS_OK);
	hold_give(hold);
	chief_leads(&ours, 1);
	token = ours.token;
	chief_returns(&ours);
	chief_becomes(&ours, KUSTOS_SELECTOR_IDLE);
	atomic_store(&ours.stays, true);
	check_err(kustos_selector_requeue(ours.selector), KUSTOS_OK);
	chief_leads(&ours, 2);
	ck_assert_int_gt(ours.token, token);
	/* While it leads, this takes effect when its function returns. */
	check_err(kustos_selector_requeue(ours.selector), KUSTOS_OK);
	check_err(kustos_selector_requeue(ours.selector), KUSTOS_OK);
	chief_state(&ours, KUSTOS_SELECTOR_LEADS);
	chief_returns(&ours);
	chief_ended(&ours, 3);
	chief_becomes(&ours, KUSTOS_SELECTOR_IDLE);
	test_never(atomic_load(&ours.begun) != 3, QUIET_MS);
	chief_end(&ours);
	pair_flush();
}
END_TEST

#define TERMS 10

/* A selector that has led joins the line at the end. */
START_TEST(those_that_requeue_lead_by_turns)
{
	struct chief *chiefs[] = { &ours, &theirs };

	chief_run(&ours, client, chief_options("ours", 1));
	chief_leads(&ours, 1);
	chief_run(&theirs, other, chief_options("theirs", 1));
	for (int i = 0; i < TERMS; i++) {
		struct chief *c = chiefs[i % 2];

		chief_leads(c, i / 2 + 1);
		line_wait(2);
		chief_returns(c);
		atomic_store(&c->stays, true);
	}
	chief_leads(&ours, TERMS / 2 + 1);
	chief_end(&theirs);
	chief_end(&ours);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

#define LOCKS 30

/* Two selectors, each of which is always in the line or leads, and a mutex. */
START_TEST(selectors_and_a_mutex_exclude_each_other)
{
	int64_t end = test_now_ms() + PATIENCE_MS;
	atomic_int inside = 0;
	int locks = 0;

	chief_make(&ours, client, chief_options("ours", 1));
	chief_make(&theirs, other, chief_options("theirs", 1));
	ours.inside = theirs.inside = &inside;
	atomic_store(&ours.stays, false);
	atomic_store(&theirs.stays, false);
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	check_err(kustos_selector_start(theirs.selector), KUSTOS_OK);
	while (locks++ < LOCKS || ours.ended < LOCKS / 2 ||
		theirs.ended < LOCKS / 2) {
		struct kustos_hold *hold = hold_take(
			locks % 2 ? mutex : rivals);

		ck_assert_int_lt(test_now_ms(), end);
		ck_assert_int_eq(atomic_fetch_add(&inside, 1), 0);
		test_pause_1ms();
		atomic_fetch_sub(&inside, 1);
		hold_give(hold);
	}
	chief_end(&ours);
	chief_end(&theirs);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

START_TEST(a_leader_is_interrupted_and_leads_until_it_returns)
{
	chief_make(&ours, client, chief_options(NULL, _i));
	check_err(kustos_selector_interrupt(ours.selector), KUSTOS_ENOTHELD);
	ours.deaf = true;
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	chief_leads(&ours, 1);
	chief_run(&theirs, other, chief_options(NULL, 0));
	line_wait(2);
	check_err(kustos_selector_interrupt(theirs.selector), KUSTOS_ENOTHELD);
	check_err(kustos_selector_interrupt(ours.selector), KUSTOS_OK);
	test_eventually(atomic_load(&ours.asked) == 1, 1000);
	check_err(kustos_selector_interrupt(ours.selector), KUSTOS_OK);
	chief_state(&ours, KUSTOS_SELECTOR_LEADS);
	test_never(theirs.begun > 0 || ours.ended > 0, QUIET_MS);
	chief_returns(&ours);
	ours.deaf = false;
	atomic_store(&ours.stays, true);
	chief_leads(&theirs, 1);
	chief_becomes(&ours,
		_i ? KUSTOS_SELECTOR_WAITING : KUSTOS_SELECTOR_IDLE);
	chief_end(&theirs);
	if (_i)
		chief_leads(&ours, 2);
	test_never(ours.asked != 1, QUIET_MS); /* of the first term only */
	chief_end(&ours);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

START_TEST(a_closed_selector_takes_no_part)
{
	chief_run(&ours, client, chief_options(NULL, 1));
	chief_leads(&ours, 1);
	chief_run(&theirs, other, chief_options(NULL, 1));
	line_wait(2);
	kustos_selector_close(theirs.selector); /* in line */
	line_wait(1);
	kustos_selector_close(ours.selector); /* leads */
	ck_assert_int_eq(ours.ended, 1);
	ck_assert_int_eq(ours.asked, 1);
	for (int i = 0; i < 2; i++) {
		struct chief *c = i ? &theirs : &ours;

		chief_state(c, KUSTOS_SELECTOR_CLOSED);
		ck_assert_int_eq(kustos_selector_leads(c->selector), 0);
		kustos_selector_close(c->selector);
		check_err(kustos_selector_start(c->selector), KUSTOS_ECLOSED);
		check_err(kustos_selector_requeue(c->selector), KUSTOS_ECLOSED);
		check_err(kustos_selector_interrupt(c->selector),
			KUSTOS_ENOTHELD);
		chief_end(c);
	}
	line_wait(0);
	ck_assert_int_eq(theirs.begun, 0);
}
END_TEST

/* As kazoo's own Election does it. */
START_TEST(it_can_have_kazoos_names)
{
	struct kustos_selector_options o = chief_options("ann", 0);

	o.dialect = KUSTOS_DIALECT_KAZOO;
	chief_run(&ours, client, o);
	chief_leads(&ours, 1);
	ck_assert_uint_eq(strcspn(strstr(ours.node, "__lock__") - 32, "/"), 50);
	chief_end(&ours);
	pair_flush();
}
END_TEST

START_TEST(U04_a_candidate_that_would_not_wait_for_us_is_waited_for_and_told)
{
	struct raw *raw = raw_open(fixture_address(), 60000);

	client_create(client, "/locks", 0);
	client_create(client, LINE, 0);
	ck_assert_int_eq(raw_do_create(raw,
				 LINE
				 "/00112233445566778899aabbccddeeff__lock__",
				 "", RAW_EPHEMERAL_SEQUENTIAL, NULL, 0),
		0);
	chief_make(&ours, client, chief_options("ann", 1));
	ck_assert_int_eq(kustos_selector_mixed(ours.selector), 0);
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	test_eventually(kustos_selector_mixed(ours.selector) == 1, 2000);
	ck_assert_int_eq(atomic_load(&ours.begun), 0);
	raw_close(raw);
	chief_leads(&ours, 1);
	/* The last observation holds until the next one. */
	check_err(kustos_selector_interrupt(ours.selector), KUSTOS_OK);
	chief_leads(&ours, 2);
	ck_assert_int_eq(kustos_selector_mixed(ours.selector), 0);
	chief_end(&ours);
	ck_assert_int_eq(kustos_selector_mixed(NULL), 0);
}
END_TEST

static void never(void *arg, struct kustos_selector *s,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	(void)arg;
	(void)s;
	(void)hold;
	(void)cancel;
}

START_TEST(what_makes_no_sense_is_refused)
{
	struct kustos_selector_options o = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct kustos_selector *s = NULL;

	check_err(kustos_selector_create(client, LINE, NULL, &s),
		KUSTOS_EINVAL);
	check_err(kustos_selector_create(client, LINE, &o, &s), KUSTOS_EINVAL);
	chief_make(&ours, client, o);
	o.lead = never;
	check_err(kustos_selector_create(NULL, LINE, &o, &s), KUSTOS_EINVAL);
	check_err(kustos_selector_create(client, "a", &o, &s), KUSTOS_EINVAL);
	check_err(kustos_selector_create(client, LINE, &o, NULL),
		KUSTOS_EINVAL);
	o.dialect = (enum kustos_dialect)7;
	check_err(kustos_selector_create(client, LINE, &o, &s), KUSTOS_EINVAL);
	ck_assert_ptr_null(s);
	check_err(kustos_selector_start(NULL), KUSTOS_EINVAL);
	check_err(kustos_selector_requeue(NULL), KUSTOS_EINVAL);
	check_err(kustos_selector_interrupt(NULL), KUSTOS_EINVAL);
	check_err(kustos_selector_error(NULL), KUSTOS_EINVAL);
	ck_assert_int_eq(kustos_selector_leads(NULL), 0);
	ck_assert_int_eq(kustos_selector_state(NULL), KUSTOS_SELECTOR_CLOSED);
	kustos_selector_close(NULL);
	kustos_selector_destroy(NULL);
	ck_assert_str_eq(kustos_selector_state_name(KUSTOS_SELECTOR_LOST),
		"LOST");
	ck_assert_str_eq(
		kustos_selector_state_name((enum kustos_selector_state)7),
		"UNKNOWN");
	chief_end(&ours);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("selector");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, it_leads_while_its_function_runs);
	tcase_add_loop_test(t, without_an_id_its_node_has_our_address, 0, 2);
	tcase_add_test(t, it_leads_again_when_it_is_queued_again);
	tcase_add_test(t, those_that_requeue_lead_by_turns);
	tcase_add_test(t, selectors_and_a_mutex_exclude_each_other);
	tcase_add_loop_test(t,
		a_leader_is_interrupted_and_leads_until_it_returns, 0, 2);
	tcase_add_test(t, a_closed_selector_takes_no_part);
	tcase_add_test(t, it_can_have_kazoos_names);
	tcase_add_test(t,
		U04_a_candidate_that_would_not_wait_for_us_is_waited_for_and_told);
	tcase_add_test(t, what_makes_no_sense_is_refused);
	return fixture_main(s);
}
