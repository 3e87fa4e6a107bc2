/*
 * test_latch.c - the latch while nothing fails: who takes part in an election,
 * who leads, and what callbacks, states and waits say of it.
 */
#include "latch_fixture.h"
#include "mutex_pair.h"
#include "process.h"

#include <kustos/cancel.h>

#include <string.h>

#define T_MS 20000
#define QUIET_MS 100

static struct runner ours, theirs;

static void set_up(void)
{
	pair_open(T_MS, 0);
}

static void tear_down(void)
{
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

/* --- The line ------------------------------------------------------------ */

static void check_name(const char *node)
{
	static const char form[] =
		"_c_xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx-latch-0000000000";
	const char *name = strrchr(node, '/') + 1;

	ck_assert_uint_eq(strlen(name), strlen(form));
	for (size_t i = 0; form[i] != '\0'; i++)
		ck_assert_msg(form[i] == 'x'
				? strchr("0123456789abcdef", name[i]) != NULL
				: form[i] == name[i],
			"%s", name);
}

START_TEST(a_candidate_is_an_ephemeral_node_with_its_id)
{
	static const char *const ids[] = { "host-7", "", NULL };
	const char *wanted = ids[_i] != NULL ? ids[_i] : "";
	struct raw *raw = raw_open(fixture_address(), 60000);
	struct raw_stat stat;
	char data[32] = "?";
	char node[NODE_SIZE];

	ck_assert_ptr_nonnull(raw);
	runner_run(&ours, client, ids[_i]);
	runner_leads(&ours);
	node_at(0, node);
	check_name(node);
	ck_assert_str_eq(node, ours.node);
	check_term(&ours, client);
	ck_assert_int_eq(raw_do_get(raw, node, data, sizeof(data), &stat), 0);
	ck_assert_int_eq(stat.data_length, (int)strlen(wanted));
	ck_assert_str_eq(data, wanted);
	raw_close(raw);
	runner_end(&ours);
	pair_flush();
}
END_TEST

#define MANY 6

START_TEST(candidates_lead_in_the_order_in_which_they_came)
{
	static struct runner all[MANY];
	int64_t token = 0;

	for (int i = 0; i < MANY; i++) {
		runner_run(&all[i], i % 2 ? client : other, NULL);
		line_wait(i + 1);
	}
	for (int i = 0; i < MANY; i++) {
		runner_leads(&all[i]);
		ck_assert_int_gt(all[i].token, token);
		token = all[i].token;
		for (int k = i + 1; k < MANY; k++)
			check_state(&all[k], KUSTOS_LATCH_WAITING);
		kustos_latch_close(all[i].latch,
			i % 3 == 0 ? KUSTOS_CLOSE_NOTIFY : KUSTOS_CLOSE_SILENT);
	}
	for (int i = 0; i < MANY; i++) {
		ck_assert_int_eq(all[i].gains, 1);
		ck_assert_int_eq(all[i].losses, i % 3 == 0);
		kustos_latch_destroy(all[i].latch);
	}
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

START_TEST(who_waits_and_closes_is_told_nothing_and_leaves)
{
	runner_run(&ours, client, NULL);
	runner_leads(&ours);
	runner_run(&theirs, other, NULL);
	line_wait(2);
	kustos_latch_close(theirs.latch,
		_i == 1 ? KUSTOS_CLOSE_NOTIFY : KUSTOS_CLOSE_SILENT);
	line_wait(1);
	ck_assert_int_eq(theirs.gains + theirs.losses, 0);
	check_state(&theirs, KUSTOS_LATCH_CLOSED);
	runner_end(&theirs);
	runner_end(&ours);
	ck_assert_int_eq(ours.losses, 0);
	pair_flush();
}
END_TEST

/* What others see while the leader's callback is told of its loss. */
static void look_around(struct runner *r)
{
	struct raw_stat stat;

	ck_assert_int_eq(raw_exists(fixture_address(), r->node, &stat), 0);
	test_never(kustos_latch_leads(theirs.latch), QUIET_MS);
	ck_assert_int_eq(kustos_hold_state(r->hold), KUSTOS_HOLD_HELD);
	ck_assert(!kustos_latch_leads(r->latch));
}

/* "ours" leads, and looks around when it is told of its loss; "theirs" waits. */
static void lead_and_look_around(void)
{
	runner_make(&ours, client, NULL);
	ours.on_lost = look_around;
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	runner_leads(&ours);
	runner_run(&theirs, other, NULL);
	line_wait(2);
}

START_TEST(a_leader_that_closes_is_told_before_the_next_begins)
{
	lead_and_look_around();
	kustos_latch_close(ours.latch, KUSTOS_CLOSE_NOTIFY);
	runner_leads(&theirs);
	ck_assert_int_eq(ours.losses, 1);
	ck_assert(ours.lost_ns < theirs.gained_ns);
	kustos_latch_close(ours.latch, KUSTOS_CLOSE_NOTIFY);
	runner_end(&ours);
	ck_assert_int_eq(ours.losses, 1);
	/* This close is without a callback. */
	kustos_latch_close(theirs.latch, KUSTOS_CLOSE_SILENT);
	check_state(&theirs, KUSTOS_LATCH_CLOSED);
	kustos_latch_destroy(theirs.latch);
	ck_assert_int_eq(theirs.losses, 0);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

/* A request is polite: nobody leads before its callback has returned. */
START_TEST(a_leader_that_another_asks_is_told_before_the_next_begins)
{
	lead_and_look_around();
	check_err(kustos_participant_revoke(other, ours.node, SOON, NULL),
		KUSTOS_OK);
	runner_leads(&theirs);
	ck_assert_int_eq(ours.losses, 1);
	ck_assert(ours.lost_ns < theirs.gained_ns);
	ours.on_lost = NULL;
	line_wait(2); /* it stands in line again */
	runner_end(&ours);
	runner_end(&theirs);
	pair_flush();
}
END_TEST

START_TEST(the_hold_of_a_term_serves_for_what_only_the_leader_does)
{
	struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = "/made" };

	runner_run(&ours, client, NULL);
	runner_leads(&ours);
	ck_assert_int_gt(kustos_hold_remaining_ms(ours.hold), 0);
	check_err(kustos_hold_multi(ours.hold, &op, 1, SOON, NULL, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(raw_exists(fixture_address(), "/made", NULL), 0);
	runner_end(&ours);
	pair_flush();
}
END_TEST

/* --- States and waits ---------------------------------------------------- */

START_TEST(states_follow_what_is_done)
{
	runner_make(&ours, client, NULL);
	check_state(&ours, KUSTOS_LATCH_IDLE);
	ck_assert(!kustos_latch_leads(ours.latch));
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	runner_leads(&ours);
	check_state(&ours, KUSTOS_LATCH_LEADS);
	check_err(kustos_latch_error(ours.latch), KUSTOS_OK);
	/* A second start takes no second place. */
	check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	runner_run(&theirs, other, NULL);
	line_wait(2);
	check_state(&theirs, KUSTOS_LATCH_WAITING);
	ck_assert(!kustos_latch_leads(theirs.latch));
	check_err(kustos_latch_start(theirs.latch), KUSTOS_OK);
	test_never(line_count() != 2, QUIET_MS);
	kustos_latch_close(ours.latch, KUSTOS_CLOSE_SILENT);
	check_state(&ours, KUSTOS_LATCH_CLOSED);
	ck_assert(!kustos_latch_leads(ours.latch));
	check_err(kustos_latch_start(ours.latch), KUSTOS_ECLOSED);
	line_wait(1);
	kustos_latch_destroy(ours.latch);
	runner_leads(&theirs);
	runner_end(&theirs);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

START_TEST(states_have_names)
{
	static const char *const names[] = { "IDLE", "WAITING", "LEADS",
		"UNSURE", "FAILED", "CLOSED", "UNKNOWN" };

	for (int i = 0; i < 7; i++)
		ck_assert_str_eq(
			kustos_latch_state_name((enum kustos_latch_state)i),
			names[i]);
	ck_assert_str_eq(kustos_latch_state_name((enum kustos_latch_state) - 1),
		"UNKNOWN");
}
END_TEST

START_TEST(a_wait_ends_as_it_was_told_to)
{
	struct kustos_cancel *cancel = NULL;
	int64_t begun;

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	runner_run(&ours, client, NULL);
	runner_leads(&ours);
	runner_run(&theirs, other, NULL);
	line_wait(2);
	check_err(kustos_latch_wait(ours.latch, KUSTOS_NOW, NULL), KUSTOS_OK);
	check_err(kustos_latch_wait(theirs.latch, KUSTOS_NOW, NULL),
		KUSTOS_EBUSY);
	begun = test_now_ms();
	check_err(kustos_latch_wait(theirs.latch, kustos_after_ms(30), NULL),
		KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(test_now_ms() - begun, 30);
	kustos_cancel_fire(cancel);
	check_err(kustos_latch_wait(theirs.latch, SOON, cancel),
		KUSTOS_ECANCELED);
	/* None of these has ended its part in the election. */
	check_state(&theirs, KUSTOS_LATCH_WAITING);
	runner_end(&ours);
	runner_leads(&theirs);
	runner_end(&theirs);
	kustos_cancel_destroy(cancel);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

struct waiter {
	pthread_t thread;
	struct kustos_latch *latch;
	struct kustos_cancel *cancel;
	atomic_int tid; /* 0: not begun */
	atomic_int err; /* -1: none yet */
};

static void *wait_for_it(void *arg)
{
	struct waiter *w = arg;

	atomic_store(&w->tid, thread_id());
	atomic_store(&w->err,
		(int)kustos_latch_wait(w->latch, KUSTOS_FOREVER, w->cancel));
	return NULL;
}

static void waiter_start(struct waiter *w, struct kustos_latch *latch)
{
	w->latch = latch;
	atomic_store(&w->err, -1);
	ck_assert_int_eq(pthread_create(&w->thread, NULL, wait_for_it, w), 0);
	/* It sleeps in the call; the latch may end under it. */
	test_eventually(atomic_load(&w->tid) != 0 &&
			thread_sleeps(atomic_load(&w->tid)),
		2000);
	test_never(atomic_load(&w->err) != -1, 20);
}

#define WAITERS 3

/* A waiter is woken by a close, by a destroy, because the latch leads, or by a
   cancel. */
START_TEST(those_who_wait_learn_of_the_end)
{
	static struct waiter waiters[WAITERS];
	struct kustos_cancel *cancel = NULL;
	static const enum kustos_err ends[] = { KUSTOS_ECLOSED, KUSTOS_ECLOSED,
		KUSTOS_OK, KUSTOS_ECANCELED };

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	runner_run(&theirs, other, NULL);
	runner_leads(&theirs);
	runner_make(&ours, client, NULL);
	for (int i = 0; i < WAITERS; i++) {
		waiters[i].cancel = cancel;
		waiter_start(&waiters[i], ours.latch);
		if (i == 0) /* before the latch takes part */
			check_err(kustos_latch_start(ours.latch), KUSTOS_OK);
	}
	if (_i == 0)
		kustos_latch_close(ours.latch, KUSTOS_CLOSE_SILENT);
	else if (_i == 1)
		kustos_latch_destroy(ours.latch);
	else if (_i == 2)
		kustos_latch_destroy(theirs.latch);
	else
		kustos_cancel_fire(cancel);
	for (int i = 0; i < WAITERS; i++) {
		pthread_join(waiters[i].thread, NULL);
		check_err((enum kustos_err)waiters[i].err, ends[_i]);
	}
	if (_i == 0)
		for (int i = 0; i < 2; i++)
			check_err(kustos_latch_wait(ours.latch,
					  i ? SOON : KUSTOS_NOW, NULL),
				KUSTOS_ECLOSED);
	if (_i != 1)
		kustos_latch_destroy(ours.latch);
	if (_i != 2)
		kustos_latch_destroy(theirs.latch);
	kustos_cancel_destroy(cancel);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

/* --- Arguments ----------------------------------------------------------- */

START_TEST(bad_arguments_are_refused)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;
	static const char *const paths[] = { NULL, "", "a", "/a/", "/a//b",
		"/a/../b" };
	struct kustos_latch *latch = NULL;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		check_err(kustos_latch_create(client, paths[i], &o, &latch),
			KUSTOS_EINVAL);
	check_err(kustos_latch_create(NULL, LINE, &o, &latch), KUSTOS_EINVAL);
	check_err(kustos_latch_create(client, LINE, &o, NULL), KUSTOS_EINVAL);
	ck_assert_ptr_null(latch);
	check_err(kustos_latch_start(NULL), KUSTOS_EINVAL);
	check_err(kustos_latch_wait(NULL, SOON, NULL), KUSTOS_EINVAL);
	check_err(kustos_latch_error(NULL), KUSTOS_EINVAL);
	ck_assert(!kustos_latch_leads(NULL));
	kustos_latch_close(NULL, KUSTOS_CLOSE_NOTIFY);
	kustos_latch_destroy(NULL);
}
END_TEST

/* Programs built with older or newer headers have smaller or larger options. */
START_TEST(options_have_the_size_that_the_program_knows)
{
	struct {
		struct kustos_latch_options known;
		char more[16];
	} o = { .known = KUSTOS_LATCH_OPTIONS_INIT };
	struct kustos_latch *latch = NULL;
	static const struct {
		size_t size;
		char more;
		enum kustos_err err;
	} cases[] = {
		{ 0, 0, KUSTOS_EINVAL },
		{ offsetof(struct kustos_latch_options, on_gained), 0,
			KUSTOS_OK },
		{ sizeof(o), 0, KUSTOS_OK },
		{ sizeof(o), 1, KUSTOS_EINVAL },
	};

	for (int i = 0; i < 4; i++) {
		o.known.size = cases[i].size;
		memset(o.more, cases[i].more, sizeof(o.more));
		check_err(kustos_latch_create(client, LINE, &o.known, &latch),
			cases[i].err);
		if (cases[i].err == KUSTOS_OK)
			kustos_latch_destroy(latch);
	}
	o.known.size = sizeof(o.known);
	o.known.reserved = 1;
	check_err(kustos_latch_create(client, LINE, &o.known, &latch),
		KUSTOS_EINVAL);
	check_err(kustos_latch_create(client, LINE, NULL, &latch), KUSTOS_OK);
	check_err(kustos_latch_start(latch), KUSTOS_OK);
	check_err(kustos_latch_wait(latch, SOON, NULL), KUSTOS_OK);
	kustos_latch_destroy(latch);
	pair_flush();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, a_candidate_is_an_ephemeral_node_with_its_id, 0,
		3);
	tcase_add_test(t, candidates_lead_in_the_order_in_which_they_came);
	tcase_add_loop_test(t, who_waits_and_closes_is_told_nothing_and_leaves,
		0, 2);
	tcase_add_test(t, a_leader_that_closes_is_told_before_the_next_begins);
	tcase_add_test(t,
		a_leader_that_another_asks_is_told_before_the_next_begins);
	tcase_add_test(t,
		the_hold_of_a_term_serves_for_what_only_the_leader_does);
	tcase_add_test(t, states_follow_what_is_done);
	tcase_add_test(t, states_have_names);
	tcase_add_test(t, a_wait_ends_as_it_was_told_to);
	tcase_add_loop_test(t, those_who_wait_learn_of_the_end, 0, 4);
	tcase_add_test(t, bad_arguments_are_refused);
	tcase_add_test(t, options_have_the_size_that_the_program_knows);
	return fixture_main(s);
}
