/*
 * test_lease.c - the lease: how long the session is certainly alive by our own
 * clock, whatever happens to connections, clocks and processes.  The proxy
 * delays answers, inject.h moves clocks, and child processes are stopped.
 */
#include "child.h"
#include "client_fixture.h"
#include "inject.h"
#include "process.h"
#include "proxy.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS INT64_C(1000000)
#define T_MS 12000 /* or less, where something ends with it */
#define SHORT_MS 6000
#define LONG_MS 24000 /* so that a busy machine's pauses are short */
#define LATE_MS 1000

static struct record record;

/* Return the longest lease seen within "ms", and store the shortest. */
static int64_t longest_lease(struct kustos_client *c, int ms, int64_t *shortest)
{
	int64_t longest = 0, end = test_now_ms() + ms;

	*shortest = INT64_MAX;
	while (test_now_ms() < end) {
		int64_t lease = kustos_client_lease_ms(c);

		if (lease > longest)
			longest = lease;
		if (lease < *shortest)
			*shortest = lease;
		test_pause_1ms();
	}
	return longest;
}

START_TEST(S26_a_lease_is_two_thirds_of_the_timeout_at_most)
{
	struct kustos_client *c = client_connected(fixture_address(), LONG_MS);
	int64_t shortest, longest = longest_lease(c, LONG_MS / 3, &shortest);

	ck_assert_int_le(longest, LEASE_MS(LONG_MS));
	ck_assert_int_gt(longest, LONG_MS / 2);	 /* heartbeats are answered */
	ck_assert_int_gt(shortest, LONG_MS / 3); /* and sent often enough */
	client_close(c);
}
END_TEST

START_TEST(S26_a_lease_counts_from_when_an_answered_request_was_sent)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), T_MS);
	int64_t shortest, longest;

	/* Every answer comes this much later. */
	proxy_set_delay(p, 0, LATE_MS);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(kustos_exists(c, "/",
					 kustos_after_ms(PATIENCE_MS), NULL,
					 NULL),
			KUSTOS_OK);
	longest = longest_lease(c, T_MS / 3, &shortest);
	ck_assert_int_le(longest, LEASE_MS(T_MS) - LATE_MS);
	ck_assert_int_gt(longest, T_MS / 3);
	ck_assert_int_gt(shortest, 0);
	client_drop(c);
	proxy_free(p);
}
END_TEST

START_TEST(S26_what_is_not_answered_does_not_extend_a_lease)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), SHORT_MS);
	struct completions done = { 0 };
	int64_t before, cut_ns;
	int sent = 0;

	record_start(&record, c);
	/* With this answered, no other request is on its way. */
	ck_assert_int_eq(
		kustos_exists(c, "/", kustos_after_ms(PATIENCE_MS), NULL, NULL),
		KUSTOS_OK);
	proxy_set_mode(p, PROXY_HOLE);
	cut_ns = test_boot_ns();
	before = kustos_client_lease_ms(c);
	while (before > 0) {
		int64_t lease = kustos_client_lease_ms(c);

		ck_assert_int_le(lease, before);
		before = lease;
		sent += kustos_exists_async(c, "/", kustos_after_ms(100), NULL,
				count_completion, &done) == KUSTOS_OK;
		test_pause_1ms();
	}
	ck_assert_int_eq(kustos_client_state(c), KUSTOS_STATE_LOST);
	ck_assert_int_gt(sent, 100);
	test_eventually(record_when(&record, KUSTOS_STATE_LOST, 1) != 0, 1000);
	/* Counted from the last answer, without anybody's help. */
	ck_assert_int_lt(record_when(&record, KUSTOS_STATE_LOST, 1) - cut_ns,
		(SHORT_MS / 6 + LEASE_MS(SHORT_MS)) * NS_PER_MS);
	ck_assert_int_gt(record_when(&record, KUSTOS_STATE_LOST, 1) - cut_ns,
		SHORT_MS / 3 * NS_PER_MS);
	test_eventually(completions_of(&done) == sent, 2000);
	ck_assert_int_eq(done.failed, sent);
	client_drop(c);
	ck_assert_int_eq(completions_of(&done), sent);
	proxy_free(p);
}
END_TEST

/* The lease counts from when the connection was made, which is when the leader
   heard of the session, and not from when its answer came; even though no
   further connection can be made. */
START_TEST(S26_a_lease_counts_from_the_making_of_a_connection)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), T_MS);

	record_start(&record, c);
	proxy_reset_counts(p);
	proxy_set_delay(p, 0, T_MS / 3);
	proxy_cut(p);
	test_eventually(proxy_count(p, ZK_OP_CONNECT) == 1, PATIENCE_MS);
	int64_t heard_ms = test_now_ms();
	/* Only the answer to the handshake is late.  Before it comes, the
	   servers are probed twice and accept no connections. */
	proxy_set_mode(p, PROXY_SHUT);
	test_eventually(test_now_ms() - heard_ms > T_MS / 8, T_MS / 4);
	proxy_set_delay(p, 0, 0);
	test_eventually(record_count(&record, KUSTOS_STATE_CONNECTED) == 2,
		T_MS / 2);
	int64_t now_ms = test_now_ms();
	int64_t lease_ms = kustos_client_lease_ms(c);
	ck_assert_int_gt(now_ms - heard_ms, T_MS / 4);
	ck_assert_int_gt(lease_ms, 0);
	ck_assert_int_le(now_ms - heard_ms + lease_ms, T_MS / 8 * 7);
	ck_assert_int_eq(client_epoch(c), 1);
	client_drop(c);
	proxy_free(p);
}
END_TEST

START_TEST(S25_a_step_of_the_wall_clock_changes_nothing)
{
	const int64_t hour_ms = 3600 * 1000;
	struct kustos_client *c = client_connected(fixture_address(), T_MS);
	int64_t shortest, start;

	record_start(&record, c);
	for (int i = 0; i < 2; i++) {
		inject_clock(CLOCK_REALTIME, i == 0 ? hour_ms : -hour_ms);
		ck_assert_int_le(longest_lease(c, 400, &shortest),
			LEASE_MS(T_MS) + 1);
		ck_assert_int_gt(shortest, T_MS / 6);
		ck_assert_int_eq(kustos_client_state(c),
			KUSTOS_STATE_CONNECTED);
		ck_assert_int_eq(kustos_exists(c, "/",
					 kustos_after_ms(PATIENCE_MS), NULL,
					 NULL),
			KUSTOS_OK);
	}
	ck_assert_int_eq(server_pause(fixture_server()), 0);
	start = test_now_ms();
	ck_assert_int_eq(
		kustos_exists(c, "/", kustos_after_ms(100), NULL, NULL),
		KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(test_now_ms() - start, 100);
	ck_assert_int_lt(test_now_ms() - start, T_MS / 3);
	ck_assert_int_eq(server_resume(fixture_server()), 0);
	ck_assert_int_eq(record_count(&record, KUSTOS_STATE_LOST), 0);
	ck_assert_int_eq(client_epoch(c), 1);
	client_close(c);
	inject_reset();
}
END_TEST

START_TEST(S25_a_lease_does_not_outlive_a_suspend_of_the_machine)
{
	const int64_t jump_ms = LEASE_MS(T_MS);
	struct kustos_client *c = client_connected(fixture_address(), T_MS);
	int64_t id = client_session_id(c);
	struct kustos_session s;

	record_start(&record, c);
	ck_assert_int_gt(kustos_client_lease_ms(c), 0);
	/* After a suspend of the machine only the boot-time clock has gone
	   on. */
	inject_clock(CLOCK_BOOTTIME, jump_ms);
	s = client_session(c);
	ck_assert(s.state == KUSTOS_STATE_LOST || s.epoch > 1);
	/* The server slept, too, so the session is still there. */
	client_wait_epoch(c, 1, 2000);
	ck_assert_int_eq(client_epoch(c), 2);
	ck_assert(client_session_id(c) == id);
	test_eventually(record_count(&record, KUSTOS_STATE_LOST) == 1, 1000);
	client_drop(c);
	inject_reset();
}
END_TEST

/* A deadline uses the clock that stops while the machine sleeps. */
START_TEST(S25_a_deadline_does_not_pass_during_a_suspend)
{
	const int deadline_ms = PATIENCE_MS / 2;
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), T_MS);
	struct completions done = { 0 };
	int64_t start = test_now_ms();

	record_start(&record, c);
	proxy_set_mode(p, PROXY_HOLD);
	ck_assert_int_eq(kustos_exists_async(c, "/",
				 kustos_after_ms(deadline_ms), NULL,
				 count_completion, &done),
		KUSTOS_OK);
	inject_clock(CLOCK_BOOTTIME, 2 * deadline_ms);
	/* The client has checked its timers, because its lease is over. */
	test_eventually(record_count(&record, KUSTOS_STATE_LOST) == 1,
		T_MS / 8);
	ck_assert_int_eq(completions_of(&done), 0);
	proxy_set_mode(p, PROXY_PASS);
	test_eventually(completions_of(&done) == 1, 2000);
	ck_assert_int_eq(done.err, KUSTOS_OK);
	ck_assert_int_lt(test_now_ms() - start, deadline_ms);
	client_drop(c);
	proxy_free(p);
	inject_reset();
}
END_TEST

/* After the suspend it passes when it should. */
START_TEST(S25_a_deadline_passes_in_time_after_a_suspend)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), LONG_MS);
	struct completions done = { 0 };
	int64_t start = test_now_ms();

	proxy_set_mode(p, PROXY_HOLD);
	ck_assert_int_eq(kustos_exists_async(c, "/", kustos_after_ms(LATE_MS),
				 NULL, count_completion, &done),
		KUSTOS_OK);
	inject_clock(CLOCK_BOOTTIME, 3600 * 1000);
	test_eventually(completions_of(&done) == 1, 2 * LATE_MS);
	ck_assert_int_eq(done.err, KUSTOS_ETIMEDOUT);
	ck_assert_int_ge(test_now_ms() - start, LATE_MS);
	client_drop(c);
	proxy_free(p);
	inject_reset();
}
END_TEST

/*
 * S1: a process that is stopped.
 */
struct paused {
	const char *address;
	int timeout_ms;
};

/* Hold an ephemeral node.  Report what the first look after a pause shows; the
   child was told to look while it was stopped. */
static int paused_main(int fd, void *arg)
{
	const struct paused *how = arg;
	struct kustos_client *c = client_connected(how->address,
		how->timeout_ms);
	char line[128];

	record_start(&record, c);
	client_create(c, "/held", KUSTOS_CREATE_EPHEMERAL);
	child_say(fd, "ready");
	child_expect(fd, "look", PATIENCE_MS);
	/* In this order: if the later one is certain, so was the earlier. */
	int64_t lease = kustos_client_lease_ms(c);
	struct kustos_session s = client_session(c);
	snprintf(line, sizeof(line), "%s %lld %lld", kustos_state_name(s.state),
		(long long)s.epoch, (long long)lease);
	child_say(fd, line);
	/* What succeeds now does so in the next session.  The loss of this one
	   is told by a thread that may have to wait for a processor. */
	enum kustos_err err = kustos_exists(c, "/",
		kustos_after_ms(PATIENCE_MS), NULL, NULL);
	long long epoch = (long long)client_epoch(c);
	test_eventually(record_when(&record, KUSTOS_STATE_LOST, 1) != 0, 1000);
	snprintf(line, sizeof(line), "%s %lld", kustos_err_name(err), epoch);
	child_say(fd, line);
	client_drop(c);
	return 0;
}

/* Read what the child saw first, and check that it did not believe to hold
   on. */
static void check_first_look(struct child *child)
{
	char line[128], state[16];
	long long epoch, lease;

	ck_assert_int_eq(child_hear(child->fd, line, sizeof(line), PATIENCE_MS),
		0);
	ck_assert_int_eq(sscanf(line, "%15s %lld %lld", state, &epoch, &lease),
		3);
	if (epoch == 1) { /* else it has a new session already */
		ck_assert_str_ne(state, "CONNECTED");
		ck_assert_str_ne(state, "SUSPENDED");
		ck_assert_int_eq(lease, 0);
	}
	ck_assert_int_eq(child_hear(child->fd, line, sizeof(line), PATIENCE_MS),
		0);
	ck_assert_str_eq(line, "KUSTOS_OK 2");
}

START_TEST(S01_a_process_that_was_stopped_too_long_knows_at_once)
{
	struct paused how = { fixture_address(), 3000 };
	struct child child;

	ck_assert_int_eq(child_start(&child, paused_main, &how), 0);
	ck_assert(child_expect(child.fd, "ready", PATIENCE_MS));
	ck_assert_int_eq(process_pause(child.pid), 0);
	test_eventually(raw_exists(fixture_address(), "/held", NULL) ==
			RAW_NONODE,
		3000);
	child_say(child.fd, "look");
	ck_assert_int_eq(process_resume(child.pid), 0);
	check_first_look(&child);
	ck_assert_int_eq(child_wait(&child, PATIENCE_MS), 0);
	child_end(&child);
}
END_TEST

START_TEST(S01_a_stop_longer_than_the_lease_is_a_loss_though_the_node_lives)
{
	struct paused how = { fixture_address(), T_MS };
	struct child child;
	int64_t start;

	ck_assert_int_eq(child_start(&child, paused_main, &how), 0);
	ck_assert(child_expect(child.fd, "ready", PATIENCE_MS));
	ck_assert_int_eq(process_pause(child.pid), 0);
	start = test_now_ms();
	test_eventually(test_now_ms() - start > LEASE_MS(T_MS) + 50, T_MS);
	ck_assert_int_eq(raw_exists(fixture_address(), "/held", NULL), 0);
	child_say(child.fd, "look");
	ck_assert_int_eq(process_resume(child.pid), 0);
	check_first_look(&child);
	ck_assert_int_eq(child_wait(&child, PATIENCE_MS), 0);
	child_end(&child);
}
END_TEST

START_TEST(S01_a_client_that_is_cut_off_knows_before_the_server_acts)
{
	struct proxy *p = fixture_proxy();
	struct kustos_client *c = client_connected(proxy_address(p), 3000);

	client_create(c, "/held", KUSTOS_CREATE_EPHEMERAL);
	proxy_set_mode(p, PROXY_HOLE);
	while (raw_exists(fixture_address(), "/held", NULL) == 0)
		test_pause_1ms();
	ck_assert_int_eq(kustos_client_lease_ms(c), 0);
	ck_assert(kustos_client_state(c) == KUSTOS_STATE_LOST ||
		kustos_client_state(c) == KUSTOS_STATE_CONNECTING);
	ck_assert_uint_eq(client_stats(c).losses, 1);
	client_drop(c);
	proxy_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lease");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_test(t, S26_a_lease_is_two_thirds_of_the_timeout_at_most);
	tcase_add_test(t,
		S26_a_lease_counts_from_when_an_answered_request_was_sent);
	tcase_add_test(t, S26_what_is_not_answered_does_not_extend_a_lease);
	tcase_add_test(t, S26_a_lease_counts_from_the_making_of_a_connection);
	tcase_add_test(t, S25_a_step_of_the_wall_clock_changes_nothing);
	tcase_add_test(t,
		S25_a_lease_does_not_outlive_a_suspend_of_the_machine);
	tcase_add_test(t, S25_a_deadline_does_not_pass_during_a_suspend);
	tcase_add_test(t, S25_a_deadline_passes_in_time_after_a_suspend);
	tcase_add_test(t,
		S01_a_process_that_was_stopped_too_long_knows_at_once);
	tcase_add_test(t,
		S01_a_stop_longer_than_the_lease_is_a_loss_though_the_node_lives);
	tcase_add_test(t,
		S01_a_client_that_is_cut_off_knows_before_the_server_acts);
	return fixture_main(s);
}
