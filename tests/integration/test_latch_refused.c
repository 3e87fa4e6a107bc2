/*
 * test_latch_refused.c - what the server refuses is reported to the caller, and
 * the leader goes on leading; but refused credentials end everything.
 */
#include "latch_fixture.h"
#include "mutex_pair.h"
#include "server.h"

#include <stdio.h>
#include <string.h>

#define T_MS 9000
#define CROWD 12
#define LONG 95000 /* length of a name; CROWD of them exceed one frame */

static struct runner ours, theirs;

/* Nobody may write into the nodes of "client". */
static void set_up(void)
{
	struct kustos_client_options o = client_options_unwritable(
		fixture_address(), T_MS);

	pair_open_with(&o, 0);
}

static void tear_down(void)
{
	runner_end(&ours);
	runner_end(&theirs);
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

static void line_up(void)
{
	runner_run(&ours, client, "ours");
	runner_leads(&ours);
	runner_run(&theirs, other, "theirs");
	line_wait(2);
}

static void check_leads_on(int64_t term)
{
	ck_assert_int_eq(kustos_latch_term(ours.latch), term);
	ck_assert_int_eq(atomic_load(&ours.losses), 0);
	check_term(&ours, client);
}

START_TEST(who_may_not_write_is_told_so_and_leads_on)
{
	line_up();
	int64_t term = kustos_latch_term(ours.latch);

	check_err(kustos_latch_set_data(ours.latch, "else", 4, SOON, NULL),
		KUSTOS_ENOAUTH);
	check_leads_on(term);
	check_err(kustos_latch_hand_over(ours.latch, "theirs", SOON, NULL),
		KUSTOS_OK);
	runner_leads(&theirs);
	check_err(kustos_latch_set_data(theirs.latch, "else", 4, SOON, NULL),
		KUSTOS_OK);
}
END_TEST

/* Its node would stay, and nobody would lead until its session ends. */
START_TEST(who_may_not_delete_is_told_so_and_leads_on)
{
	int64_t term;

	line_forbid(other, KUSTOS_PERM_READ | KUSTOS_PERM_CREATE);
	line_up();
	term = kustos_latch_term(ours.latch);
	check_err(kustos_latch_hand_over(ours.latch, "theirs", SOON, NULL),
		KUSTOS_ENOAUTH);
	check_leads_on(term);
	ck_assert_int_eq(kustos_latch_leads(theirs.latch), 0);
	client_kill_session(client);
	runner_leads(&theirs);
	ck_assert_int_eq(atomic_load(&ours.gains), 1);
}
END_TEST

/* The path of a node that stands between the two. */
static void long_node(int number, char *node)
{
	size_t len = strlen(LINE) + 1;

	memcpy(node, LINE "/", len);
	memset(node + len, 'x', LONG);
	sprintf(node + len + LONG, "-latch-%010d", number);
}

/* The size of the deletion is known before leadership is given up. */
START_TEST(who_has_too_many_to_delete_is_told_so_and_leads_on)
{
	static char node[LONG + 256];
	int64_t term;

	runner_run(&ours, client, "ours");
	runner_leads(&ours);
	term = kustos_latch_term(ours.latch);
	for (int i = 1; i <= CROWD; i++) {
		long_node(i, node);
		ck_assert_int_eq(raw_create(fixture_address(), node, ""), 0);
	}
	runner_run(&theirs, other, "theirs");
	line_wait(CROWD + 2);
	check_err(kustos_latch_hand_over(ours.latch, "theirs", SOON, NULL),
		KUSTOS_ETOOBIG);
	check_leads_on(term);
	for (int i = 1; i <= CROWD; i++) {
		long_node(i, node);
		ck_assert_int_eq(raw_delete(fixture_address(), node), 0);
	}
	check_err(kustos_latch_hand_over(ours.latch, "theirs", SOON, NULL),
		KUSTOS_OK);
	runner_leads(&theirs);
}
END_TEST

/* The heir leaves.  Another candidate with the same id is too far away then. */
static void heir_leaves(struct runner *r)
{
	r->on_lost = NULL;
	kustos_latch_close(theirs.latch, KUSTOS_CLOSE_SILENT);
	line_wait(CROWD + 2);
}

START_TEST(an_heir_that_has_left_is_told_of_though_another_is_too_far)
{
	static const char heir[] = LINE "/x-latch-0000000099";
	static char node[LONG + 256];

	line_up();
	for (int i = 2; i < 2 + CROWD; i++) {
		long_node(i, node);
		ck_assert_int_eq(raw_create(fixture_address(), node, ""), 0);
	}
	ck_assert_int_eq(raw_create(fixture_address(), heir, "theirs"), 0);
	line_wait(CROWD + 3);
	ours.on_lost = heir_leaves;
	check_err(kustos_latch_hand_over(ours.latch, "theirs", SOON, NULL),
		KUSTOS_ECHANGED);
	ck_assert_int_eq(kustos_latch_leads(ours.latch), 0);
	for (int i = 2; i < 2 + CROWD; i++) {
		long_node(i, node);
		ck_assert_int_eq(raw_delete(fixture_address(), node), 0);
	}
	ck_assert_int_eq(raw_delete(fixture_address(), heir), 0);
	runner_leads(&ours);
}
END_TEST

struct seen {
	atomic_int calls;
	_Atomic enum kustos_err err;
};

static void see(void *arg, enum kustos_err err,
	const struct kustos_participant *first)
{
	struct seen *seen = arg;

	ck_assert_ptr_null(first);
	atomic_store(&seen->err, err);
	atomic_fetch_add(&seen->calls, 1);
}

static void never_lead(void *arg, struct kustos_selector *selector,
	struct kustos_hold *hold, struct kustos_cancel *cancel)
{
	(void)selector;
	(void)hold;
	(void)cancel;
	atomic_fetch_add((atomic_int *)arg, 1);
}

/* A server without the digest scheme ends the connection of a client that
   presents such credentials. */
START_TEST(L29_refused_credentials_end_a_candidate_and_an_observer)
{
	struct server_options options = {
		.jvm = "-Dzookeeper.DigestAuthenticationProvider.enabled=false"
	};
	struct server *server = server_start(&options);
	struct kustos_selector_options so = KUSTOS_SELECTOR_OPTIONS_INIT;
	struct kustos_selector *selector = NULL;
	struct kustos_observer *observer = NULL, *second = NULL;
	struct seen seen = { 0 }, late = { 0 };
	atomic_int led = 0;
	struct kustos_client_options o;
	struct kustos_client *c;

	ck_assert_ptr_nonnull(server);
	o = client_options(server_address(server), T_MS);
	o.digest = "alice:secret";
	c = client_open_with(&o);
	so.lead = never_lead;
	so.arg = &led;
	runner_run(&ours, c, "ours");
	check_err(kustos_selector_create(c, LINE, &so, &selector), KUSTOS_OK);
	check_err(kustos_selector_start(selector), KUSTOS_OK);
	check_err(kustos_observe(c, LINE, see, &seen, &observer), KUSTOS_OK);

	check_err(kustos_latch_wait(ours.latch, SOON, NULL), KUSTOS_EAUTH);
	check_state(&ours, KUSTOS_LATCH_FAILED);
	check_err(kustos_latch_error(ours.latch), KUSTOS_EAUTH);
	check_err(kustos_latch_set_data(ours.latch, "", 0, SOON, NULL),
		KUSTOS_EAUTH);
	test_eventually(kustos_selector_state(selector) ==
			KUSTOS_SELECTOR_FAILED,
		5000);
	check_err(kustos_selector_error(selector), KUSTOS_EAUTH);
	test_eventually(atomic_load(&seen.calls) == 1, 5000);
	check_err(seen.err, KUSTOS_EAUTH);
	/* An observer that comes too late gets the error as well. */
	check_err(kustos_observe(c, LINE, see, &late, &second), KUSTOS_OK);
	test_eventually(atomic_load(&late.calls) == 1, 5000);
	check_err(late.err, KUSTOS_EAUTH);

	kustos_observer_destroy(second);
	kustos_observer_destroy(observer);
	kustos_selector_destroy(selector);
	runner_end(&ours);
	ours.latch = NULL;
	kustos_client_close(c, SOON, NULL);
	server_free(server);
	ck_assert_int_eq(ours.gains + atomic_load(&led), 0);
	ck_assert_int_eq(atomic_load(&seen.calls), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, refused");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, who_may_not_write_is_told_so_and_leads_on);
	tcase_add_test(t, who_may_not_delete_is_told_so_and_leads_on);
	tcase_add_test(t, who_has_too_many_to_delete_is_told_so_and_leads_on);
	tcase_add_test(t,
		an_heir_that_has_left_is_told_of_though_another_is_too_far);
	tcase_add_test(t,
		L29_refused_credentials_end_a_candidate_and_an_observer);
	return fixture_main(s);
}
