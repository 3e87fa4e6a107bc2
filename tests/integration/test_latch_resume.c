/*
 * test_latch_resume.c - a program that was killed is started again within the
 * timeout of its session, resumes it with a ticket, and goes on with its node.
 */
#include "child.h"
#include "latch_fixture.h"
#include "proxy.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define T_MS 20000
#define QUIET_MS 100
#define LATCHES 2
#define LATE_MS 1000

static struct child former; /* its memory is its own */
static struct kustos_client *client, *other;
static struct runner runners[LATCHES], rival;
static struct kustos_ticket ticket;
static struct proxy *proxy;

/* A former process: latches "0" and "1" on LINE, then whatever it is told. */
static int former_main(int fd, void *arg)
{
	struct kustos_client *c = client_connected(fixture_address(), T_MS);
	static const char *const ids[LATCHES] = { "0", "1" };

	(void)arg;
	for (int i = 0; i < LATCHES; i++) {
		runner_run(&runners[i], c, ids[i]);
		line_wait(i + 1);
	}
	runner_leads(&runners[0]);
	ticket_say(fd, c);
	(void)child_expect(fd, "look", PATIENCE_MS);
	for (int64_t end = test_now_ms() + PATIENCE_MS;
		kustos_latch_leads(runners[0].latch) && test_now_ms() < end;)
		test_pause_1ms();
	(void)child_say(fd, "lost");
	(void)child_expect(fd, "never", PATIENCE_MS);
	return 0;
}

/* A former process with latch "0", behind another candidate. */
static int waiting_main(int fd, void *arg)
{
	struct kustos_client *c = client_connected(fixture_address(), T_MS);

	(void)arg;
	runner_run(&runners[0], c, "0");
	line_wait(2);
	ticket_say(fd, c);
	(void)child_expect(fd, "never", PATIENCE_MS);
	return 0;
}

/* A former process with latch "0", into whose node nobody may write. */
static int sealed_main(int fd, void *arg)
{
	struct kustos_client_options o = client_options_unwritable(
		fixture_address(), T_MS);
	struct kustos_client *c;

	(void)arg;
	c = client_open_with(&o);
	client_wait(c, KUSTOS_STATE_CONNECTED, 5000);
	runner_run(&runners[0], c, "0");
	runner_leads(&runners[0]);
	ticket_say(fd, c);
	(void)child_expect(fd, "never", PATIENCE_MS);
	return 0;
}

static void set_up(void)
{
	ck_assert_int_eq(child_start(&former, former_main, NULL), 0);
	ticket_hear(former.fd, &ticket);
	other = client_connected(fixture_address(), T_MS);
	runner_run(&rival, other, "rival");
	line_wait(LATCHES + 1);
}

/* The rival leads before. */
static void set_up_behind(void)
{
	other = client_connected(fixture_address(), T_MS);
	runner_run(&rival, other, "rival");
	runner_leads(&rival);
	ck_assert_int_eq(child_start(&former, waiting_main, NULL), 0);
	ticket_hear(former.fd, &ticket);
}

static void set_up_sealed(void)
{
	ck_assert_int_eq(child_start(&former, sealed_main, NULL), 0);
	ticket_hear(former.fd, &ticket);
	other = client_connected(fixture_address(), T_MS);
	runner_run(&rival, other, "rival");
	line_wait(2);
}

static void tear_down(void)
{
	child_end(&former);
	kustos_latch_destroy(rival.latch);
	client_close(client);
	client_close(other);
	proxy_free(proxy);
	proxy = NULL;
}

static void come_again_by(const char *address)
{
	struct kustos_client_options o = client_options(address, T_MS);

	o.resume = &ticket;
	client = client_open_with(&o);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
}

static void come_again(void)
{
	come_again_by(fixture_address());
}

static void resume(struct runner *r, const char *id)
{
	struct kustos_latch_options o = KUSTOS_LATCH_OPTIONS_INIT;

	o.id = id;
	o.resume = 1;
	runner_make_with(r, client, o);
	check_err(kustos_latch_start(r->latch), KUSTOS_OK);
}

static void kill_former(void)
{
	ck_assert_int_eq(kill(former.pid, SIGKILL), 0);
	ck_assert_int_eq(child_wait(&former, PATIENCE_MS), 128 + SIGKILL);
}

START_TEST(a_leader_that_comes_again_leads_on_in_its_term)
{
	char first[NODE_SIZE], second[NODE_SIZE];

	node_at(0, first);
	node_at(1, second);
	kill_former();
	come_again();
	ck_assert(client_session_id(client) == ticket.session_id);
	/* In any order: each finds its own node. */
	resume(&runners[_i], _i ? "1" : "0");
	resume(&runners[1 - _i], _i ? "0" : "1");
	runner_leads(&runners[0]);
	ck_assert_str_eq(runners[0].node, first);
	check_term(&runners[0], client);
	ck_assert_int_eq(line_count(), LATCHES + 1);
	test_never(runners[1].gains + rival.gains > 0, QUIET_MS);
	/* It can do what any leader can. */
	check_err(kustos_latch_set_data(runners[0].latch, "x", 1, SOON, NULL),
		KUSTOS_OK);
	runner_end(&runners[0]);
	runner_leads(&runners[1]);
	ck_assert_str_eq(runners[1].node, second);
	runner_end(&runners[1]);
	runner_leads(&rival);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(line_count(), 1);
}
END_TEST

START_TEST(what_says_something_else_is_taken_over_by_the_last)
{
	struct raw *raw = raw_open(fixture_address(), 60000);
	char first[NODE_SIZE], data[32] = "";

	ck_assert_ptr_nonnull(raw);
	node_at(0, first);
	kill_former();
	come_again();
	resume(&runners[1], "1");
	resume(&runners[0], "renamed");
	runner_leads(&runners[0]);
	ck_assert_str_eq(runners[0].node, first);
	/* It may lead before this is written. */
	test_eventually(raw_do_get(raw, first, data, sizeof(data), NULL) == 0 &&
			strcmp(data, "renamed") == 0,
		5000);
	raw_close(raw);
	runner_end(&runners[0]);
	runner_end(&runners[1]);
}
END_TEST

/* As if the process had died between a new node and the deletion of the old. */
START_TEST(a_second_node_that_says_the_same_does_not_stay_in_the_way)
{
	static const char path[] = LINE
		"/_c_01234567-89ab-4cde-8f01-23456789abcd-latch-";
	static const char worn[] = LINE
		"/_c_12345678-9abc-4def-8012-3456789abcde-latch-2147483647";
	char last[NODE_SIZE];

	kill_former();
	come_again();
	if (_i) /* one more, with a number that tells no order */
		check_err(kustos_create(client, worn, "0", 1,
				  KUSTOS_CREATE_EPHEMERAL, SOON, NULL, NULL,
				  NULL),
			KUSTOS_OK);
	check_err(kustos_create(client, path, "0", 1,
			  KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_SEQUENTIAL,
			  SOON, NULL, NULL, NULL),
		KUSTOS_OK);
	line_wait(LATCHES + 2 + _i);
	node_at(LATCHES + 1, last);
	resume(&runners[0], "0");
	line_wait(LATCHES + 1);
	resume(&runners[1], "1");
	runner_leads(&runners[1]);
	runner_end(&runners[1]);
	runner_leads(&rival);
	kustos_latch_close(rival.latch, KUSTOS_CLOSE_NOTIFY);
	runner_leads(&runners[0]);
	ck_assert_str_eq(runners[0].node, last);
	runner_end(&runners[0]);
}
END_TEST

/* The other node has the same data, and is newer. */
START_TEST(S03_a_node_of_another_session_is_left_alone)
{
	static const char path[] = LINE
		"/_c_01234567-89ab-4cde-8f01-23456789abcd-latch-";
	char first[NODE_SIZE];

	node_at(0, first);
	check_err(kustos_create(other, path, "0", 1,
			  KUSTOS_CREATE_EPHEMERAL | KUSTOS_CREATE_SEQUENTIAL,
			  SOON, NULL, NULL, NULL),
		KUSTOS_OK);
	kill_former();
	come_again();
	resume(&runners[0], "0");
	runner_leads(&runners[0]);
	ck_assert_str_eq(runners[0].node, first);
	ck_assert_int_eq(line_count(), LATCHES + 2);
	runner_end(&runners[0]);
}
END_TEST

/* The process comes too late, or without a valid ticket. */
START_TEST(who_comes_too_late_stands_in_line_like_others)
{
	struct kustos_client_options o = client_options(fixture_address(),
		T_MS);

	kill_former();
	if (_i == 0) {
		struct kustos_client *end = NULL;

		o.resume = &ticket;
		end = client_open_with(&o);
		client_wait(end, KUSTOS_STATE_CONNECTED, 5000);
		client_kill_session(end);
		client_drop(end);
	} else {
		ticket.password[3] ^= 1; /* the server takes it for expired */
	}
	come_again();
	ck_assert(client_session_id(client) != ticket.session_id);
	resume(&runners[0], "0");
	if (_i == 0) {
		runner_leads(&rival);
		line_wait(2);
	} else {
		line_wait(LATCHES + 2);
	}
	test_never(runners[0].gains > 0, QUIET_MS);
	runner_end(&runners[0]);
}
END_TEST

static int leading(void)
{
	return kustos_latch_leads(runners[0].latch) +
		kustos_latch_leads(runners[1].latch) +
		kustos_latch_leads(rival.latch);
}

/* The former process has not ended.  Both of its latches must be resumed here:
   the node of one that is not would block the line for as long as the session
   lives. */
START_TEST(S03_one_that_lives_after_all_finds_out)
{
	come_again();
	resume(&runners[0], "0");
	resume(&runners[1], "1");
	ck_assert_int_eq(child_say(former.fd, "look"), 0);
	ck_assert(child_expect(former.fd, "lost", PATIENCE_MS));
	kill_former();
	/* Whichever of them it is, one leads. */
	test_eventually(leading() == 1, PATIENCE_MS / TEST_SLOW);
	runner_end(&runners[0]);
	runner_end(&runners[1]);
}
END_TEST

/* A waiter finds out as well; otherwise both would lead with the same node, for
   ever.  The new nodes that both create belong to one session, and go with
   it. */
START_TEST(S03_one_that_waits_and_lives_after_all_finds_out)
{
	char shared[NODE_SIZE];

	node_at(1, shared);
	come_again();
	resume(&runners[0], "0");
	test_eventually(raw_exists(fixture_address(), shared, NULL) ==
			RAW_NONODE,
		PATIENCE_MS / TEST_SLOW);
	kill_former();
	client_kill_session(client);
	kustos_latch_close(rival.latch, KUSTOS_CLOSE_NOTIFY);
	runner_leads(&runners[0]);
	ck_assert_str_ne(runners[0].node, shared);
	runner_end(&runners[0]);
}
END_TEST

/* The answers to a listing and to the creation behind it are lost.  Then the
   listing, sent again, shows the new node before it is known whose it is: that
   of a latch that waits for it, or of one that was closed. */
START_TEST(S03_a_node_that_is_being_made_was_not_left_by_a_former_process)
{
	struct runner late, young;

	kill_former();
	proxy = fixture_proxy();
	come_again_by(proxy_address(proxy));
	for (int i = 0; i < LATCHES; i++)
		resume(&runners[i], i ? "1" : "0");
	runner_leads(&runners[0]);
	for (int i = 0; i < LATCHES; i++)
		runner_end(&runners[i]);
	runner_leads(&rival);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	proxy_set_delay(proxy, 0, LATE_MS);
	resume(&late, "late");
	runner_run(&young, client, "young");
	line_wait(2);
	kustos_latch_close(rival.latch, KUSTOS_CLOSE_NOTIFY);
	line_wait(1);
	if (_i)
		runner_end(&young);
	proxy_cut(proxy);
	proxy_set_delay(proxy, 0, 0);
	if (!_i) {
		runner_leads(&young);
		line_wait(2);
		ck_assert_int_eq(late.gains, 0);
		runner_end(&young);
	}
	runner_leads(&late);
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	test_never(late.losses > 0, QUIET_MS);
	runner_end(&late);
}
END_TEST

/* A former process that is alive would not notice, and both would lead for
   ever. */
START_TEST(S03_a_node_that_cannot_be_written_into_is_given_up)
{
	char sealed[NODE_SIZE];

	node_at(0, sealed);
	kill_former();
	come_again();
	resume(&runners[0], "0");
	runner_leads(&rival);
	ck_assert_int_eq(raw_exists(fixture_address(), sealed, NULL),
		RAW_NONODE);
	kustos_latch_close(rival.latch, KUSTOS_CLOSE_NOTIFY);
	runner_leads(&runners[0]);
	ck_assert_str_ne(runners[0].node, sealed);
	runner_end(&runners[0]);
}
END_TEST

START_TEST(a_ticket_needs_a_session)
{
	struct kustos_client *c = client_open("127.0.0.1:1", T_MS);
	struct kustos_ticket t;

	check_err(kustos_client_ticket(c, &t), KUSTOS_EDISCONNECTED);
	check_err(kustos_client_ticket(c, NULL), KUSTOS_EINVAL);
	check_err(kustos_client_ticket(NULL, &t), KUSTOS_EINVAL);
	client_drop(c);
	kill_former();
	come_again();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, resumed");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, a_leader_that_comes_again_leads_on_in_its_term,
		0, 2);
	tcase_add_test(t, what_says_something_else_is_taken_over_by_the_last);
	tcase_add_loop_test(t,
		a_second_node_that_says_the_same_does_not_stay_in_the_way, 0,
		2);
	tcase_add_test(t, S03_a_node_of_another_session_is_left_alone);
	tcase_add_loop_test(t, who_comes_too_late_stands_in_line_like_others, 0,
		2);
	tcase_add_test(t, S03_one_that_lives_after_all_finds_out);
	tcase_add_loop_test(t,
		S03_a_node_that_is_being_made_was_not_left_by_a_former_process,
		0, 2);
	tcase_add_test(t, a_ticket_needs_a_session);

	t = fixture_case(s, "who has waited", 20);
	tcase_add_checked_fixture(t, set_up_behind, tear_down);
	tcase_add_test(t, S03_one_that_waits_and_lives_after_all_finds_out);

	t = fixture_case(s, "who may not write", 20);
	tcase_add_checked_fixture(t, set_up_sealed, tear_down);
	tcase_add_test(t, S03_a_node_that_cannot_be_written_into_is_given_up);
	return fixture_main(s);
}
