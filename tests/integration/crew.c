/*
 * crew.c - a few members of one double barrier.
 */
#include "crew.h"

struct kustos_double_barrier *ours[CREW_MOST];
struct end ends[CREW_MOST];
static int crew;

void crew_set_up(void)
{
	struct kustos_client_options o;

	o = pair_proxy(9000);
	o.retry = kustos_retry_forever(5);
	pair_open_with(&o, 0);
}

void step_check_empty(void)
{
	int left = raw_count_children(fixture_address(), STEP);

	ck_assert_msg(left == 0 || left == RAW_NONODE, "%d are left", left);
}

struct kustos_double_barrier *member_new(struct kustos_client *owner, int count)
{
	struct kustos_double_barrier *m = NULL;

	check_err(kustos_double_barrier_create(owner, STEP, count, NULL, &m),
		KUSTOS_OK);
	return m;
}

void member_enter(struct kustos_double_barrier *m, struct end *end)
{
	end->calls = 0;
	check_err(
		kustos_double_barrier_enter_async(m, SOON, NULL, end_told, end),
		KUSTOS_OK);
}

void member_leave(struct kustos_double_barrier *m, struct end *end)
{
	end->calls = 0;
	check_err(
		kustos_double_barrier_leave_async(m, SOON, NULL, end_told, end),
		KUSTOS_OK);
}

void step_await(int count)
{
	test_eventually(raw_count_children(fixture_address(), STEP) == count,
		5000);
}

void crew_make(int count)
{
	crew = count;
	for (int i = 0; i < count; i++)
		ours[i] = member_new(i == 0 ? client : other, count);
}

void crew_enter(void)
{
	for (int i = 0; i < crew; i++)
		member_enter(ours[i], &ends[i]);
	for (int i = 0; i < crew; i++)
		check_err(end_wait(&ends[i], 10000), KUSTOS_OK);
}

void crew_leave(void)
{
	for (int i = 0; i < crew; i++)
		member_leave(ours[i], &ends[i]);
	for (int i = 0; i < crew; i++)
		check_err(end_wait(&ends[i], 10000), KUSTOS_OK);
}

void crew_free(void)
{
	for (int i = 0; i < crew; i++)
		kustos_double_barrier_destroy(ours[i]);
	crew = 0;
}

/* No node of any member is left. */
void crew_tear_down(void)
{
	pair_close();
	step_check_empty();
}
