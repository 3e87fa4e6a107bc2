/*
 * test_timer.c - timer.h: the set of timers, compared with a plain array.
 */
#include "unit.h"

#include "random.h"
#include "timer.h"

#include <string.h>

#define TIMERS 64

/* Count the timers below "timer" and itself; -1 if the heap is out of order. */
static long count(const struct ku_timer *timer)
{
	long all = 1;

	for (int i = 0; i < 2; i++) {
		const struct ku_timer *child = timer->child[i];

		if (child == NULL)
			continue;
		long below = count(child);
		if (below < 0 || child->parent != timer ||
			child->at_ns < timer->at_ns)
			return -1;
		all += below;
	}
	return all;
}

static bool is_heap(const struct ku_timers *timers)
{
	const struct ku_timer *first = timers->top.child[1];

	if (first == NULL)
		return timers->count == 0;
	return first->parent == &timers->top &&
		count(first) == (long)timers->count;
}

START_TEST(an_empty_set_has_nothing_due)
{
	struct ku_timers timers = { 0 };

	ck_assert_int_eq(ku_timers_next(&timers), INT64_MAX);
	ck_assert_ptr_null(ku_timers_pop(&timers, INT64_MAX));
}
END_TEST

START_TEST(a_timer_is_due_at_its_time_and_not_before)
{
	struct ku_timers timers = { 0 };
	struct ku_timer timer = { 0 };

	ku_timer_set(&timers, &timer, 100);
	ck_assert(ku_timer_is_set(&timer));
	ck_assert_int_eq(ku_timers_next(&timers), 100);
	ck_assert_ptr_null(ku_timers_pop(&timers, 99));
	ck_assert(ku_timer_is_set(&timer));
	ck_assert_ptr_eq(ku_timers_pop(&timers, 100), &timer);
	ck_assert(!ku_timer_is_set(&timer));
	ck_assert_ptr_null(ku_timers_pop(&timers, INT64_MAX));
}
END_TEST

START_TEST(unsetting_a_timer_that_is_not_set_is_harmless)
{
	struct ku_timers timers = { 0 };
	struct ku_timer timer = { 0 };

	ku_timer_unset(&timers, &timer);
	ku_timer_set(&timers, &timer, 1);
	ku_timer_unset(&timers, &timer);
	ku_timer_unset(&timers, &timer);
	ck_assert_uint_eq(timers.count, 0);
}
END_TEST

START_TEST(a_timer_set_again_moves)
{
	struct ku_timers timers = { 0 };
	struct ku_timer a = { 0 }, b = { 0 };

	ku_timer_set(&timers, &a, 10);
	ku_timer_set(&timers, &b, 20);
	ku_timer_set(&timers, &a, 30);
	ck_assert_uint_eq(timers.count, 2);
	ck_assert_ptr_eq(ku_timers_pop(&timers, 30), &b);
	ku_timer_set(&timers, &b, 40);
	ku_timer_set(&timers, &b, 5);
	ck_assert_ptr_eq(ku_timers_pop(&timers, 30), &b);
	ck_assert_ptr_eq(ku_timers_pop(&timers, 30), &a);
}
END_TEST

/* What the set should contain. */
struct model {
	bool set[TIMERS];
	int64_t at[TIMERS];
};

/* Return the index of an earliest timer that is set, or -1. */
static int earliest(const struct model *model)
{
	int i, best = -1;

	for (i = 0; i < TIMERS; i++)
		if (model->set[i] &&
			(best < 0 || model->at[i] < model->at[best]))
			best = i;
	return best;
}

/* Few different times, so that many are equal; and now and then an extreme
   one. */
static int64_t random_time(struct ku_random *r)
{
	switch (ku_random_below(r, 50)) {
	case 0:
		return INT64_MAX;
	case 1:
		return INT64_MIN;
	default:
		return (int64_t)ku_random_below(r, 100);
	}
}

static bool pop_agrees(struct ku_timers *timers, const struct ku_timer *timer,
	struct model *model, int64_t now)
{
	struct ku_timer *popped = ku_timers_pop(timers, now);
	int best = earliest(model);

	if (best < 0 || model->at[best] > now)
		return popped == NULL;
	if (popped == NULL || !model->set[popped - timer] ||
		popped->at_ns != model->at[best])
		return false;
	model->set[popped - timer] = false;
	return true;
}

static bool set_agrees(const struct ku_timers *timers,
	const struct ku_timer *timer, const struct model *model)
{
	int i, best = earliest(model);

	for (i = 0; i < TIMERS; i++)
		if (ku_timer_is_set(&timer[i]) != model->set[i])
			return false;
	return is_heap(timers) &&
		ku_timers_next(timers) ==
		(best < 0 ? INT64_MAX : model->at[best]);
}

START_TEST(any_sequence_of_operations_agrees_with_an_array)
{
	struct ku_timers timers = { 0 };
	struct ku_timer timer[TIMERS];
	struct model model = { { false }, { 0 } };
	struct ku_random r;
	bool agrees = true;
	int64_t time;
	int step, i;

	ku_random_seed(&r, (uint64_t)_i);
	memset(timer, 0, sizeof(timer));
	for (step = 0; agrees && step < 20000; step++) {
		i = (int)ku_random_below(&r, TIMERS);
		time = random_time(&r);
		switch (ku_random_below(&r, 4)) {
		case 0:
			ku_timer_unset(&timers, &timer[i]);
			model.set[i] = false;
			break;
		case 1:
			agrees = pop_agrees(&timers, timer, &model, time);
			break;
		default:
			ku_timer_set(&timers, &timer[i], time);
			model.set[i] = true;
			model.at[i] = time;
			break;
		}
		agrees = agrees && set_agrees(&timers, timer, &model);
	}
	ck_assert_msg(agrees, "seed %d, step %d", _i, step);
}
END_TEST

START_TEST(timers_leave_in_the_order_of_their_times)
{
	enum { MANY = 5000 };
	static struct ku_timer timer[MANY];
	struct ku_timers timers = { 0 };
	struct ku_timer *popped;
	struct ku_random r;
	int64_t last = -1;
	int i;

	ku_random_seed(&r, 7);
	for (i = 0; i < MANY; i++)
		ku_timer_set(&timers, &timer[i],
			(int64_t)ku_random_below(&r, 1000000));
	for (i = 0; (popped = ku_timers_pop(&timers, INT64_MAX)); i++) {
		ck_assert_int_ge(popped->at_ns, last);
		last = popped->at_ns;
	}
	ck_assert_int_eq(i, MANY);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timer");
	TCase *tcase = tcase_create("set");

	tcase_add_test(tcase, an_empty_set_has_nothing_due);
	tcase_add_test(tcase, a_timer_is_due_at_its_time_and_not_before);
	tcase_add_test(tcase, unsetting_a_timer_that_is_not_set_is_harmless);
	tcase_add_test(tcase, a_timer_set_again_moves);
	tcase_add_loop_test(tcase,
		any_sequence_of_operations_agrees_with_an_array, 1, 11);
	tcase_add_test(tcase, timers_leave_in_the_order_of_their_times);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
