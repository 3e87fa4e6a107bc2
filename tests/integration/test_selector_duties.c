/*
 * test_selector_duties.c - what a selector can do besides leading: change its
 * data, tell its term, hand over to another candidate, and lead on after its
 * process was restarted.
 */
#include "child.h"
#include "mutex_pair.h"
#include "selector_fixture.h"

#include <kustos/participant.h>
#include <signal.h>
#include <string.h>

#define T_MS 9000
#define QUIET_MS 100

static struct chief ours, theirs;

static void set_up(void)
{
	pair_open_behind_proxy(T_MS, 0);
}

static void tear_down(void)
{
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

/* "ours" leads, and "theirs" waits behind it. */
static void line_up(int requeues)
{
	chief_run(&ours, client, chief_options("ours", requeues));
	chief_leads(&ours, 1);
	chief_run(&theirs, other, chief_options("theirs", 0));
	line_wait(2);
}

static void both_end(void)
{
	chief_end(&ours);
	chief_end(&theirs);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}

static void check_data(const char *node, const char *wanted)
{
	char *data = NULL;

	check_err(kustos_get(other, node, SOON, NULL, &data, NULL, NULL),
		KUSTOS_OK);
	ck_assert_str_eq(data, wanted);
	kustos_free(data);
}

/* --- Data and terms ------------------------------------------------------- */

static void say_busy(struct chief *c)
{
	check_err(kustos_selector_set_data(c->selector, "busy", 4, SOON, NULL),
		KUSTOS_OK);
}

START_TEST(a_leader_says_something_else_and_so_do_its_later_terms)
{
	chief_make(&ours, client, chief_options("ours", 1));
	ours.on_lead = say_busy;
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	chief_leads(&ours, 1);
	test_never(!kustos_selector_leads(ours.selector), QUIET_MS);
	check_data(ours.node, "busy");
	check_err(
		kustos_selector_set_data(ours.selector, "idle", 4, SOON, NULL),
		KUSTOS_OK);
	check_data(ours.node, "idle");
	ours.on_lead = NULL;
	check_err(kustos_selector_interrupt(ours.selector), KUSTOS_OK);
	chief_leads(&ours, 2);
	check_data(ours.node, "idle");
	chief_end(&ours);
	pair_flush();
}
END_TEST

START_TEST(only_who_leads_says_something_else)
{
	struct end end = { .calls = 0 };

	line_up(0);
	ck_assert(kustos_selector_term(ours.selector) == ours.token);
	ck_assert(kustos_selector_term(theirs.selector) == 0);
	ck_assert(kustos_selector_term(NULL) == 0);
	check_err(kustos_selector_set_data(theirs.selector, "x", 1, SOON, NULL),
		KUSTOS_ENOTHELD);
	check_err(kustos_selector_set_data(NULL, "x", 1, SOON, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_selector_set_data(ours.selector, NULL, 1, SOON, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_selector_set_data_async(ours.selector, "x", 1, SOON,
			  NULL, NULL, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_selector_set_data_async(ours.selector, "x", 1, SOON,
			  NULL, end_told, &end),
		KUSTOS_OK);
	check_err(end_wait(&end, 5000), KUSTOS_OK);
	check_data(ours.node, "x");
	both_end();
}
END_TEST

/* A request is polite: the next one begins when the function has returned. */
START_TEST(a_leader_that_another_asks_for_leadership_is_asked_to_return)
{
	line_up(1);
	ours.deaf = true;
	check_err(kustos_participant_revoke(other, ours.node, SOON, NULL),
		KUSTOS_OK);
	test_eventually(atomic_load(&ours.asked) == 1, 5000);
	test_never(theirs.begun > 0, QUIET_MS);
	ck_assert_int_eq(raw_exists(fixture_address(), ours.node, NULL), 0);
	atomic_store(&ours.stays, false);
	chief_leads(&theirs, 1);
	chief_ended(&ours, 1);
	line_wait(2); /* it has joined the line again */
	both_end();
}
END_TEST

/* Whoever writes anything else may have taken the node over. */
START_TEST(a_leader_whose_node_another_writes_into_is_asked_to_return)
{
	line_up(1);
	ck_assert_int_eq(raw_set(fixture_address(), ours.node, "mine"), 0);
	chief_leads(&theirs, 1);
	chief_ended(&ours, 1);
	ck_assert_int_eq(ours.asked, 1);
	line_wait(2); /* it has joined the line again */
	both_end();
}
END_TEST

/* --- Hand-over ------------------------------------------------------------ */

/* A mutex waits between the two, and the function does not return for a
   while. */
START_TEST(leadership_goes_to_the_one_that_is_named_when_it_has_returned)
{
	struct end end = { .calls = 0 };
	struct ask between = { .calls = 0 };

	chief_run(&ours, client, chief_options("ours", _i));
	chief_leads(&ours, 1);
	ours.deaf = true;
	ask(&between, rivals, SOON);
	line_wait(2);
	chief_run(&theirs, other, chief_options("theirs", 0));
	line_wait(3);
	check_err(kustos_selector_hand_over_async(ours.selector, "theirs", SOON,
			  NULL, end_told, &end),
		KUSTOS_OK);
	test_eventually(atomic_load(&ours.asked) == 1, 5000);
	chief_becomes(&ours, KUSTOS_SELECTOR_LOST);
	test_never(theirs.begun > 0 || end.calls > 0, QUIET_MS);
	ck_assert_int_eq(line_count(), 3);
	atomic_store(&ours.stays, false);
	check_err(end_wait(&end, 5000), KUSTOS_OK);
	chief_leads(&theirs, 1);
	ck_assert_int_gt(theirs.token, ours.token);
	ck_assert(ours.to_ns < theirs.from_ns);
	chief_becomes(&ours,
		_i ? KUSTOS_SELECTOR_WAITING : KUSTOS_SELECTOR_IDLE);
	ck_assert_int_eq(ours.begun, 1);
	line_wait(_i ? 3 : 2);
	ck_assert(ask_waits(&between));
	chief_end(&theirs);
	check_err(ask_wait(&between, 5000), KUSTOS_OK);
	hold_give(between.hold);
	chief_end(&ours);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

START_TEST(nothing_is_done_if_nobody_of_that_name_waits)
{
	line_up(0);
	check_err(
		kustos_selector_hand_over(ours.selector, "nobody", SOON, NULL),
		KUSTOS_EABSENT);
	check_err(
		kustos_selector_hand_over(theirs.selector, "ours", SOON, NULL),
		KUSTOS_ENOTHELD);
	check_err(kustos_selector_hand_over(NULL, "ours", SOON, NULL),
		KUSTOS_EINVAL);
	check_err(kustos_selector_hand_over_async(ours.selector, "theirs", SOON,
			  NULL, NULL, NULL),
		KUSTOS_EINVAL);
	chief_state(&ours, KUSTOS_SELECTOR_LEADS);
	ck_assert_int_eq(ours.asked, 0);
	both_end();
}
END_TEST

static struct end from_inside;
static atomic_bool go_on;

/* Called as the function: it hands over, and then asks for something else.  It
   must not wait for that, because the hand-over waits for the function to
   return. */
static void hand_over_and_ask(struct chief *c)
{
	int64_t end = test_now_ms() + PATIENCE_MS;
	struct end queued = { .calls = 0 };

	while (!atomic_load(&go_on) && test_now_ms() < end)
		test_pause_1ms();
	check_err(kustos_selector_hand_over(c->selector, NULL, SOON, NULL),
		KUSTOS_EDEADLK);
	proxy_set_mode(proxy, PROXY_HOLD);
	check_err(kustos_selector_hand_over_async(c->selector, NULL, SOON, NULL,
			  end_told, &from_inside),
		KUSTOS_OK);
	check_err(kustos_selector_set_data_async(c->selector, "x", 1, SOON,
			  NULL, end_told, &queued),
		KUSTOS_OK);
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(end_wait(&queued, 5000), KUSTOS_ENOTHELD);
	check_err(kustos_selector_set_data(c->selector, "x", 1, SOON, NULL),
		KUSTOS_ENOTHELD);
	ck_assert_int_eq(end_calls(&from_inside), 0);
}

START_TEST(its_own_function_hands_over_without_waiting)
{
	memset(&from_inside, 0, sizeof(from_inside));
	atomic_store(&go_on, false);
	chief_make(&ours, client, chief_options("ours", 0));
	ours.on_lead = hand_over_and_ask;
	check_err(kustos_selector_start(ours.selector), KUSTOS_OK);
	chief_leads(&ours, 1);
	chief_run(&theirs, other, chief_options("theirs", 0));
	line_wait(2);
	atomic_store(&go_on, true);
	check_err(end_wait(&from_inside, 5000), KUSTOS_OK);
	chief_leads(&theirs, 1);
	ck_assert_int_eq(ours.asked, 1);
	both_end();
}
END_TEST

/* The hand-over has been given up after it had stopped leading.  It joins the
   line again when its function has returned, and not before. */
START_TEST(a_hand_over_that_is_given_up_is_a_resignation)
{
	struct kustos_cancel *cancel = NULL;
	struct end end = { .calls = 0 };

	check_err(kustos_cancel_create(&cancel), KUSTOS_OK);
	line_up(1);
	ours.deaf = true;
	check_err(kustos_selector_hand_over_async(ours.selector, "theirs", SOON,
			  cancel, end_told, &end),
		KUSTOS_OK);
	test_eventually(atomic_load(&ours.asked) == 1, 5000);
	kustos_cancel_fire(cancel);
	check_err(end_wait(&end, 5000), KUSTOS_ECANCELED);
	kustos_cancel_destroy(cancel);
	chief_becomes(&ours, KUSTOS_SELECTOR_LOST);
	test_never(line_count() != 2 || theirs.begun > 0, QUIET_MS);
	chief_returns(&ours);
	chief_leads(&theirs, 1);
	line_wait(2);
	ck_assert_int_eq(ours.begun, 1);
	both_end();
}
END_TEST

/* It joins the line again only when the hand-over is over, so it is not its own
   heir. */
static void stay(struct chief *c)
{
	atomic_store(&c->stays, true);
}

START_TEST(an_heir_that_has_left_is_told_of)
{
	struct end end = { .calls = 0 };

	line_up(1);
	ours.deaf = true;
	check_err(kustos_selector_hand_over_async(ours.selector, NULL, SOON,
			  NULL, end_told, &end),
		KUSTOS_OK);
	test_eventually(atomic_load(&ours.asked) == 1, 5000);
	chief_end(&theirs);
	line_wait(1);
	ours.on_lead = stay; /* the next term may begin at once */
	atomic_store(&ours.stays, false);
	check_err(end_wait(&end, 5000), KUSTOS_ECHANGED);
	chief_leads(&ours, 2);
	ours.deaf = false; /* else its end would wait for the function */
	chief_end(&ours);
	pair_flush();
}
END_TEST

/* Any frame of it may be lost: there is one leader, and it is known who. */
START_TEST(S15_a_fault_at_any_frame_of_a_hand_over_leaves_one_leader)
{
	line_up(1);
	proxy_arm(proxy, _i % 2 ? PROXY_LOSE_REPLY : PROXY_LOSE_REQUEST,
		PROXY_ANY, 1 + _i / 2);
	check_err(
		kustos_selector_hand_over(ours.selector, "theirs", SOON, NULL),
		KUSTOS_OK);
	chief_leads(&theirs, 1);
	ck_assert(ours.to_ns < theirs.from_ns);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	line_wait(2);
	both_end();
}
END_TEST

/* --- After a restart ------------------------------------------------------ */

static struct child former; /* its memory is its own */

static int former_main(int fd, void *arg)
{
	struct kustos_client *c = client_connected(fixture_address(), T_MS);

	(void)arg;
	chief_run(&ours, c, chief_options("ours", 1));
	chief_leads(&ours, 1);
	ticket_say(fd, c);
	child_say(fd, ours.node);
	(void)child_expect(fd, "never", PATIENCE_MS);
	return 0;
}

/* Before this process has any threads. */
static void set_up_former(void)
{
	ck_assert_int_eq(child_start(&former, former_main, NULL), 0);
	set_up();
}

/* Kill the former process and resume its session.  Stores its node in
   "node". */
static struct kustos_client *come_again(char *node)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);
	struct kustos_ticket ticket;
	struct kustos_client *resumed;

	ticket_hear(former.fd, &ticket);
	ck_assert_int_eq(child_hear(former.fd, node, NODE_SIZE, PATIENCE_MS),
		0);
	ck_assert_int_eq(kill(former.pid, SIGKILL), 0);
	ck_assert_int_eq(child_wait(&former, PATIENCE_MS), 128 + SIGKILL);
	child_end(&former);
	o.resume = &ticket;
	resumed = client_open_with(&o);
	client_wait(resumed, KUSTOS_STATE_CONNECTED, 5000);
	return resumed;
}

START_TEST(a_leader_that_comes_again_leads_on_in_its_term)
{
	struct kustos_selector_options again = chief_options("ours", 1);
	char node[NODE_SIZE];

	line_wait(1); /* that of the former process, which leads */
	chief_run(&theirs, other, chief_options("theirs", 0));
	line_wait(2);
	struct kustos_client *resumed = come_again(node);
	again.resume = 1;
	chief_run(&ours, resumed, again);
	chief_leads(&ours, 1);
	ck_assert_str_eq(ours.node, node);
	chief_node(&ours, resumed);
	ck_assert_int_eq(theirs.begun, 0);
	ck_assert_int_eq(line_count(), 2);
	/* It can do what any leader can. */
	check_err(
		kustos_selector_hand_over(ours.selector, "theirs", SOON, NULL),
		KUSTOS_OK);
	chief_leads(&theirs, 1);
	line_wait(2);
	chief_end(&ours);
	chief_end(&theirs);
	client_close(resumed);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}
END_TEST

/* The node is that of a mutex in the same line, which has an extra mark that
   the selector does not know. */
START_TEST(S03_a_node_of_a_mutex_of_ours_was_not_left_by_a_former_process)
{
	struct kustos_mutex_options options = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_selector_options again = chief_options("ours", 1);
	struct kustos_mutex *marked;
	char node[NODE_SIZE];
	struct kustos_client *resumed = come_again(node);

	ck_assert_int_eq(raw_delete(fixture_address(), node), 0);
	options.extra_marks = "-mine-";
	check_err(kustos_mutex_create(resumed, LINE, &options, &marked),
		KUSTOS_OK);
	struct kustos_hold *hold = hold_take(marked);
	again.resume = 1;
	chief_run(&ours, resumed, again);
	line_wait(2);
	ck_assert_int_eq(ours.begun, 0);
	hold_give(hold);
	chief_leads(&ours, 1);
	chief_end(&ours);
	kustos_mutex_destroy(marked);
	client_close(resumed);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("selector, duties");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t,
		a_leader_says_something_else_and_so_do_its_later_terms);
	tcase_add_test(t, only_who_leads_says_something_else);
	tcase_add_test(t,
		a_leader_whose_node_another_writes_into_is_asked_to_return);
	tcase_add_test(t,
		a_leader_that_another_asks_for_leadership_is_asked_to_return);
	tcase_add_loop_test(t,
		leadership_goes_to_the_one_that_is_named_when_it_has_returned,
		0, 2);
	tcase_add_test(t, nothing_is_done_if_nobody_of_that_name_waits);
	tcase_add_test(t, its_own_function_hands_over_without_waiting);
	tcase_add_test(t, a_hand_over_that_is_given_up_is_a_resignation);
	tcase_add_test(t, an_heir_that_has_left_is_told_of);
	tcase_add_loop_test(t,
		S15_a_fault_at_any_frame_of_a_hand_over_leaves_one_leader, 0,
		8);
	t = fixture_case(s, "after another process", 20);
	tcase_add_checked_fixture(t, set_up_former, tear_down);
	tcase_add_test(t, a_leader_that_comes_again_leads_on_in_its_term);
	tcase_add_test(t,
		S03_a_node_of_a_mutex_of_ours_was_not_left_by_a_former_process);
	return fixture_main(s);
}
