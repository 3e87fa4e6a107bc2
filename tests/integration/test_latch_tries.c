/*
 * test_latch_tries.c - a frame fails, or a request is refused: a latch keeps
 * trying, and leaves no node behind that did not become its place.  inject.h
 * makes frames fail; access control lists make the server refuse.
 */
#include "inject.h"
#include "latch_fixture.h"
#include "mutex_pair.h"

#define T_MS 6000

static struct runner ours, theirs;

static void set_up(void)
{
	inject_reset();
	pair_open_behind_proxy(T_MS, 0);
}

static void tear_down(void)
{
	inject_reset();
	pair_close();
	ck_assert_int_eq(line_count(), 0);
}

static void leave_both(void)
{
	runner_end(&ours);
	runner_end(&theirs);
	pair_flush();
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}

static const int codes[] = { ZK_OP_CREATE2, ZK_OP_CHILDREN2, ZK_OP_GET,
	ZK_OP_SYNC, ZK_OP_CREATE_CONTAINER };
#define CODES 5

static void arm(int fault)
{
	/* SYNC is sent on a new connection, so the connection must break
	   first. */
	if (codes[fault % CODES] == ZK_OP_SYNC)
		proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	inject_frame(fault / CODES % 2 ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND,
		codes[fault % CODES], 1 + fault / CODES / 2);
}

START_TEST(S06_a_fault_at_any_frame_leaves_one_node)
{
	arm(_i);
	runner_run(&ours, client, NULL);
	runner_leads(&ours);
	check_term(&ours, client);
	pair_flush();
	ck_assert_int_eq(line_count(), 1);
	runner_run(&theirs, other, NULL);
	line_wait(2);
	kustos_latch_close(ours.latch, KUSTOS_CLOSE_NOTIFY);
	runner_leads(&theirs);
	leave_both();
}
END_TEST

START_TEST(S06_a_fault_at_any_frame_of_a_wait_leaves_one_node)
{
	runner_run(&theirs, other, NULL);
	runner_leads(&theirs);
	arm(_i);
	runner_run(&ours, client, NULL);
	line_wait(2);
	kustos_latch_close(theirs.latch, KUSTOS_CLOSE_NOTIFY);
	runner_leads(&ours);
	check_term(&ours, client);
	ck_assert_int_eq(line_count(), 1);
	leave_both();
}
END_TEST

/* Without this, the tests above might have tested nothing. */
START_TEST(S06_each_kind_of_frame_has_failed_in_both_ways)
{
	ck_assert_int_eq(inject_untried(codes, CODES), 0);
}
END_TEST

/* The latch may not create its node, or may not list the line. */
START_TEST(L13_a_latch_that_is_refused_goes_on_trying)
{
	static const int perms[] = { KUSTOS_PERM_READ | KUSTOS_PERM_DELETE,
		KUSTOS_PERM_CREATE | KUSTOS_PERM_DELETE };

	line_forbid(other, perms[_i]);
	proxy_reset_counts(proxy);
	runner_run(&ours, client, NULL);
	test_eventually(kustos_latch_error(ours.latch) == KUSTOS_ENOAUTH, 3000);
	check_state(&ours, KUSTOS_LATCH_WAITING);
	check_err(kustos_latch_wait(ours.latch, KUSTOS_NOW, NULL),
		KUSTOS_EBUSY);
	test_eventually(proxy_count(proxy, ZK_OP_CREATE2) >= 2, 3000);
	ck_assert_int_le(proxy_count(proxy, ZK_OP_CREATE2), 4);
	check_state(&ours, KUSTOS_LATCH_WAITING);
	/* A node that it created before it was refused is deleted. */
	test_eventually(raw_delete(fixture_address(), LINE) == 0, 3000);
	runner_leads(&ours);
	check_err(kustos_latch_error(ours.latch), KUSTOS_OK);
	check_term(&ours, client);
	ck_assert_int_eq(line_count(), 1);
	runner_end(&ours);
	pair_flush();
}
END_TEST

/* A latch that is in the line had no error when it tried last. */
START_TEST(L13_what_kept_a_latch_away_is_told_until_it_stands_in_line)
{
	line_forbid(other, KUSTOS_PERM_READ | KUSTOS_PERM_DELETE);
	runner_run(&ours, client, NULL);
	test_eventually(kustos_latch_error(ours.latch) == KUSTOS_ENOAUTH, 3000);
	proxy_set_mode(proxy, PROXY_HOLD);
	test_eventually(raw_delete(fixture_address(), LINE) == 0, 3000);
	runner_run(&theirs, other, NULL);
	runner_leads(&theirs);
	proxy_set_mode(proxy, PROXY_PASS);
	line_wait(2);
	test_eventually(kustos_latch_error(ours.latch) == KUSTOS_OK, 300);
	check_state(&ours, KUSTOS_LATCH_WAITING);
	leave_both();
}
END_TEST

/* It can also be closed in the middle of that. */
START_TEST(L13_a_latch_that_is_refused_can_be_closed)
{
	line_forbid(other, KUSTOS_PERM_READ | KUSTOS_PERM_DELETE);
	runner_run(&ours, client, NULL);
	test_eventually(kustos_latch_error(ours.latch) == KUSTOS_ENOAUTH, 3000);
	kustos_latch_close(ours.latch, KUSTOS_CLOSE_NOTIFY);
	check_state(&ours, KUSTOS_LATCH_CLOSED);
	pair_flush();
	proxy_reset_counts(proxy);
	test_never(proxy_count(proxy, ZK_OP_CREATE2) > 0, 1200);
	runner_end(&ours);
	ck_assert_int_eq(ours.gains + ours.losses, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("latch, tries");
	TCase *t = fixture_case(s, "one server", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, S06_a_fault_at_any_frame_leaves_one_node, 0,
		CODES * 4);
	tcase_add_loop_test(t,
		S06_a_fault_at_any_frame_of_a_wait_leaves_one_node, 0,
		CODES * 4);
	tcase_add_test(t, S06_each_kind_of_frame_has_failed_in_both_ways);
	tcase_add_loop_test(t, L13_a_latch_that_is_refused_goes_on_trying, 0,
		2);
	tcase_add_test(t,
		L13_what_kept_a_latch_away_is_told_until_it_stands_in_line);
	tcase_add_test(t, L13_a_latch_that_is_refused_can_be_closed);
	return fixture_main(s);
}
