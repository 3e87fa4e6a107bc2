/* test_board.c - board.h: what the processes of a benchmark share. */
#include "board.h"
#include "unit.h"

#include <string.h>

static struct bench_options options;
static struct bench_plan plan;
static struct board *board;

static void set_up(void)
{
	memset(&options, 0, sizeof(options));
	options.path = "/p";
	options.recipe = "recipe";
	options.clients[0] = 4;
	options.threads = options.steps = 1;
	options.readers = -1;
	options.duration_ms = 1000;
}

static void make(enum lock_kind kind, int leases)
{
	options.form.kind = kind;
	options.form.leases = leases;
	bench_plan(&options, 0, &plan);
	board = board_make(&plan);
	ck_assert_ptr_nonnull(board);
}

static void tear_down(void)
{
	board_free(board, &plan);
	board = NULL;
}

static bool grant(int client, int64_t since_ns, int64_t now_ns)
{
	bool counts = board_granted(board, &plan, client,
		&board->workers[client], since_ns, now_ns);

	board_held(board, &board->workers[client], bench_reads(&plan, client));
	return counts;
}

/* It has lost the lock already, and does not know. */
static void grant_late(int client)
{
	(void)board_granted(board, &plan, client, &board->workers[client], 0,
		1);
}

static void lose(int client)
{
	board_given(board, &board->workers[client], bench_reads(&plan, client));
}

static void give(int client)
{
	lose(client);
	board_held(board, &board->workers[client], bench_reads(&plan, client));
}

static void overlaps(unsigned count)
{
	ck_assert_uint_eq(board_overlaps(board), count);
}

START_TEST(two_in_a_lock_for_one_are_seen)
{
	make(LOCK_MUTEX, 0);
	grant(0, 0, 1);
	give(0);
	grant(1, 0, 2);
	overlaps(0);
	grant(2, 0, 3);
	give(1);
	overlaps(1);
	give(2);
	overlaps(1);
}
END_TEST

START_TEST(who_has_lost_it_is_in_nobodys_way)
{
	make(LOCK_MUTEX, 0);
	/* Paused, and two others have held the lock since. */
	grant(0, 0, 1);
	grant(1, 0, 2);
	give(1);
	grant(2, 0, 3);
	lose(0);
	give(2);
	overlaps(0);
	/* Paused before it knew of its grant. */
	grant(1, 0, 4);
	grant_late(0);
	lose(0);
	give(1);
	overlaps(0);
	/* Paused as well, but two others are inside. */
	grant(0, 0, 5);
	grant(1, 0, 6);
	grant(2, 0, 7);
	lose(0);
	give(2);
	give(1);
	overlaps(1);
}
END_TEST

START_TEST(readers_may_be_many_and_a_writer_alone)
{
	make(LOCK_WRITE, 0);
	ck_assert_int_eq(plan.readers, 2);
	grant(0, 0, 1);
	grant(1, 0, 1);
	grant(2, 0, 1);
	give(0);
	overlaps(1);
	give(1);
	overlaps(1);
	grant(0, 0, 1);
	give(2);
	overlaps(2);
	grant(3, 0, 1);
	give(0);
	overlaps(3);
}
END_TEST

START_TEST(readers_do_not_keep_readers_out)
{
	make(LOCK_WRITE, 0);
	grant(0, 0, 1);
	grant(2, 0, 1); /* right, if the first has lost it */
	grant(1, 0, 1);
	lose(2);
	give(0);
	give(1);
	overlaps(1); /* the first one and the writer that lost it */
}
END_TEST

START_TEST(no_more_than_there_are_leases_may_be_inside)
{
	make(LOCK_SEMAPHORE, 2);
	grant(0, 0, 1);
	grant(1, 0, 1);
	grant(2, 0, 1);
	give(0);
	overlaps(0);
	give(1);
	overlaps(1);
	/* One of the two had lost it. */
	grant(0, 0, 1);
	grant(1, 0, 1);
	lose(2);
	give(0);
	overlaps(1);
}
END_TEST

START_TEST(all_may_be_where_they_meet)
{
	make(LOCK_BARRIER, 0);
	ck_assert_int_eq(plan.leases, 4);
	for (int i = 0; i < 4; i++)
		grant(i, 0, 1);
	for (int i = 0; i < 4; i++)
		give(i);
	overlaps(0);
}
END_TEST

START_TEST(only_what_is_granted_in_time_counts)
{
	make(LOCK_MUTEX, 0);
	ck_assert(!grant(0, 0, 5));
	give(0);
	board->begin_ns = 100;
	board->end_ns = 200;
	ck_assert(!grant(0, 0, 99));
	give(0);
	ck_assert(grant(0, 40, 100));
	give(0);
	ck_assert(grant(0, 190, 199));
	give(0);
	ck_assert(!grant(0, 190, 200));
	ck_assert_uint_eq(board->workers[0].grants, 2);
	ck_assert_uint_eq(board->workers[0].wait.count, 2);
	ck_assert_int_eq(board->workers[0].wait.max, 60);
	ck_assert_uint_eq(board->slices[0], 2);
}
END_TEST

START_TEST(who_waits_at_the_end_is_known_though_it_is_granted_later)
{
	make(LOCK_MUTEX, 0);
	board->begin_ns = 100;
	board->end_ns = 200;
	board->workers[0].since_ns = 120;
	ck_assert_int_eq(board_waited_ns(&board->workers[0], 200), 80);
	grant(0, 120, 230);
	give(0);
	ck_assert_int_eq(board_waited_ns(&board->workers[0], 200), 80);
	/* It waits again, and another has begun to wait: neither counts before
	   the end. */
	board->workers[0].since_ns = 240;
	ck_assert_int_eq(board_waited_ns(&board->workers[0], 200), 80);
	board->workers[1].since_ns = 200;
	ck_assert_int_eq(board_waited_ns(&board->workers[1], 200), 0);
	grant(1, 200, 250);
	ck_assert_int_eq(board_waited_ns(&board->workers[1], 200), 0);
	/* One that was granted in time. */
	board->workers[2].since_ns = 130;
	grant(2, 130, 199);
	ck_assert_int_eq(board_waited_ns(&board->workers[2], 200), 0);
	ck_assert_uint_eq(board->workers[2].wait.count, 1);
}
END_TEST

START_TEST(the_first_grant_after_a_holder_was_killed_is_the_take_over)
{
	make(LOCK_MUTEX, 0);
	grant(0, 0, 1000);
	give(0);
	ck_assert_int_eq(board->taken_over, 0);
	board->killed_ns = 1500;
	grant(1, 0, 4000);
	give(1);
	grant(2, 0, 5000);
	ck_assert_int_eq(board->taken_over, 1);
	ck_assert_int_eq(board->take_overs_ns[0], 2500);
	ck_assert_int_eq(board->killed_ns, 0);
}
END_TEST

START_TEST(the_first_failure_is_kept)
{
	make(LOCK_MUTEX, 0);
	board_fail(board, KUSTOS_ENOAUTH);
	board_fail(board, KUSTOS_ENOMEM);
	ck_assert_int_eq(board->err, KUSTOS_ENOAUTH);
	ck_assert(board->stop);
}
END_TEST

START_TEST(a_run_that_kills_has_a_process_for_each_client)
{
	make(LOCK_MUTEX, 0);
	ck_assert_int_eq(plan.processes, 1);
	tear_down();
	options.kills = 1;
	make(LOCK_MUTEX, 0);
	ck_assert_int_eq(plan.processes, 4);
	tear_down();
	options.processes = 2;
	make(LOCK_MUTEX, 0);
	ck_assert_int_eq(plan.processes, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("board");
	TCase *t = tcase_create("board");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, two_in_a_lock_for_one_are_seen);
	tcase_add_test(t, who_has_lost_it_is_in_nobodys_way);
	tcase_add_test(t, readers_may_be_many_and_a_writer_alone);
	tcase_add_test(t, readers_do_not_keep_readers_out);
	tcase_add_test(t, no_more_than_there_are_leases_may_be_inside);
	tcase_add_test(t, all_may_be_where_they_meet);
	tcase_add_test(t, only_what_is_granted_in_time_counts);
	tcase_add_test(t,
		who_waits_at_the_end_is_known_though_it_is_granted_later);
	tcase_add_test(t,
		the_first_grant_after_a_holder_was_killed_is_the_take_over);
	tcase_add_test(t, the_first_failure_is_kept);
	tcase_add_test(t, a_run_that_kills_has_a_process_for_each_client);
	suite_add_tcase(s, t);
	return unit_main(s);
}
