/* test_figures.c - figures.h: the figures of a benchmark run, added up. */
#include "figures.h"
#include "unit.h"

#include <string.h>

static struct bench_options options;
static struct bench_plan plan;
static struct board *board;
static struct figures *figures;

static void set_up(void)
{
	memset(&options, 0, sizeof(options));
	options.path = "/p";
	options.recipe = "mutex";
	options.clients[0] = 2;
	options.threads = options.steps = 1;
	options.readers = -1;
	options.duration_ms = 1000;
	bench_plan(&options, 0, &plan);
	board = board_make(&plan);
	ck_assert_ptr_nonnull(board);
	board->begin_ns = 100;
	board->end_ns = 1100;
}

static void tear_down(void)
{
	figures_free(figures);
	board_free(board, &plan);
}

static void add_up(void)
{
	figures = figures_make(&plan, board, board->end_ns);
	ck_assert_ptr_nonnull(figures);
}

static void grant(int client, int64_t since_ns, int64_t now_ns)
{
	struct board_worker *w = &board->workers[client];

	board_granted(board, &plan, client, w, since_ns, now_ns);
	board_given(board, w, false);
}

START_TEST(a_cost_is_known_if_there_are_grants_and_a_sum)
{
	grant(0, 100, 200);
	grant(1, 100, 300);
	add_up();
	ck_assert_double_eq_tol(figures_per_grant(figures, 5), 2.5, 1e-9);
	ck_assert_double_eq_tol(figures_per_grant(figures, 0), 0, 1e-9);
	ck_assert_double_eq_tol(figures_per_grant(figures, -1), -1, 1e-9);
}
END_TEST

START_TEST(without_a_grant_nothing_has_a_cost)
{
	add_up();
	ck_assert_uint_eq(figures->all.grants, 0);
	ck_assert_double_eq_tol(figures_per_grant(figures, 5), -1, 1e-9);
	ck_assert_double_eq_tol(figures_per_grant(figures, -1), -1, 1e-9);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("figures");
	TCase *t = tcase_create("figures");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, a_cost_is_known_if_there_are_grants_and_a_sum);
	tcase_add_test(t, without_a_grant_nothing_has_a_cost);
	suite_add_tcase(s, t);
	return unit_main(s);
}
