/*
 * test_timer.c - timer.h: the set of timers, compared with a plain array.
 */
#include "unit.h"

#include "fault.h"
#include "random.h"
#include "timer.h"

#include <string.h>

#define TIMERS 64

/* Is the heap in order, and does each timer know its slot? */
static bool is_heap(const struct ku_timers *timers)
{
	size_t i;

	if (timers->count > timers->room)
		return false;
	for (i = 0; i < timers->count; i++)
		if (timers->heap[i]->slot != i + 1 ||
			timers->heap[(i - (i > 0)) / 2]->at_ns >
				timers->heap[i]->at_ns)
			return false;
	return true;
}

START_TEST(an_empty_set_has_nothing_due)
{
	struct ku_timers timers = { 0 };

	ck_assert_int_eq(ku_timers_next(&timers), INT64_MAX);
	ck_assert_ptr_null(ku_timers_pop(&timers, INT64_MAX));
	ku_timers_free(&timers);
}
END_TEST

START_TEST(a_timer_is_due_at_its_time_and_not_before)
{
	struct ku_timers timers = { 0 };
	struct ku_timer timer = { 0 };

	ck_assert(ku_timer_set(&timers, &timer, 100));
	ck_assert(ku_timer_is_set(&timer));
	ck_assert_int_eq(ku_timers_next(&timers), 100);
	ck_assert_ptr_null(ku_timers_pop(&timers, 99));
	ck_assert(ku_timer_is_set(&timer));
	ck_assert_ptr_eq(ku_timers_pop(&timers, 100), &timer);
	ck_assert(!ku_timer_is_set(&timer));
	ck_assert_ptr_null(ku_timers_pop(&timers, INT64_MAX));
	ku_timers_free(&timers);
}
END_TEST

START_TEST(unsetting_a_timer_that_is_not_set_is_harmless)
{
	struct ku_timers timers = { 0 };
	struct ku_timer timer = { 0 };

	ku_timer_unset(&timers, &timer);
	ck_assert(ku_timer_set(&timers, &timer, 1));
	ku_timer_unset(&timers, &timer);
	ku_timer_unset(&timers, &timer);
	ck_assert_uint_eq(timers.count, 0);
	ku_timers_free(&timers);
}
END_TEST

START_TEST(a_timer_set_again_moves)
{
	struct ku_timers timers = { 0 };
	struct ku_timer a = { 0 }, b = { 0 };

	ck_assert(ku_timer_set(&timers, &a, 10));
	ck_assert(ku_timer_set(&timers, &b, 20));
	ck_assert(ku_timer_set(&timers, &a, 30));
	ck_assert_uint_eq(timers.count, 2);
	ck_assert_ptr_eq(ku_timers_pop(&timers, 30), &b);
	ck_assert(ku_timer_set(&timers, &b, 40));
	ck_assert(ku_timer_set(&timers, &b, 5));
	ck_assert_ptr_eq(ku_timers_pop(&timers, 30), &b);
	ck_assert_ptr_eq(ku_timers_pop(&timers, 30), &a);
	ku_timers_free(&timers);
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
			agrees = ku_timer_set(&timers, &timer[i], time);
			model.set[i] = true;
			model.at[i] = time;
			break;
		}
		agrees = agrees && set_agrees(&timers, timer, &model);
	}
	ck_assert_msg(agrees, "seed %d, step %d", _i, step);
	ku_timers_free(&timers);
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
		ck_assert(ku_timer_set(&timers, &timer[i],
			(int64_t)ku_random_below(&r, 1000000)));
	for (i = 0; (popped = ku_timers_pop(&timers, INT64_MAX)); i++) {
		ck_assert_int_ge(popped->at_ns, last);
		last = popped->at_ns;
	}
	ck_assert_int_eq(i, MANY);
	ku_timers_free(&timers);
}
END_TEST

START_TEST(a_timer_is_not_set_if_memory_is_short)
{
	struct ku_timers timers = { 0 };
	struct ku_timer timer = { 0 };

	fault_after(0);
	ck_assert(!ku_timer_set(&timers, &timer, 1));
	ck_assert(fault_end());
	ck_assert(!ku_timer_is_set(&timer));
	ck_assert_int_eq(ku_timers_next(&timers), INT64_MAX);
	ck_assert(ku_timer_set(&timers, &timer, 1));
	ku_timers_free(&timers);
}
END_TEST

START_TEST(the_others_stay_set_if_memory_is_short_for_one_more)
{
	struct ku_timers timers = { 0 };
	struct ku_timer timer[TIMERS];
	size_t i, refusals = 0;
	bool set;

	memset(timer, 0, sizeof(timer));
	for (i = 0; i < TIMERS; i++) {
		fault_after(0);
		set = ku_timer_set(&timers, &timer[i], (int64_t)i);
		ck_assert_int_eq(fault_end(), !set);
		if (!set) {
			refusals++;
			ck_assert_uint_eq(timers.count, i);
			ck_assert(is_heap(&timers));
			set = ku_timer_set(&timers, &timer[i], (int64_t)i);
		}
		ck_assert(set);
	}
	ck_assert_uint_gt(refusals, 1);
	for (i = 0; i < TIMERS; i++)
		ck_assert_ptr_eq(ku_timers_pop(&timers, INT64_MAX), &timer[i]);
	ku_timers_free(&timers);
}
END_TEST

START_TEST(what_was_reserved_can_be_set_without_memory)
{
	struct ku_timers timers = { 0 };
	struct ku_timer timer[TIMERS];
	bool set = true;
	size_t i;

	memset(timer, 0, sizeof(timer));
	for (i = 0; i < 5; i++)
		ck_assert(ku_timer_set(&timers, &timer[i], (int64_t)i));
	ck_assert(ku_timers_reserve(&timers, TIMERS - 5));
	fault_after(0);
	for (; i < TIMERS; i++)
		set = ku_timer_set(&timers, &timer[i], (int64_t)i) && set;
	for (i = 0; i < TIMERS; i++) /* moving a timer needs none, either */
		set = ku_timer_set(&timers, &timer[i], -(int64_t)i) && set;
	ck_assert(!fault_end());
	ck_assert(set);
	ck_assert(is_heap(&timers));
	ku_timers_free(&timers);
}
END_TEST

START_TEST(what_several_have_reserved_adds_up)
{
	struct ku_timers timers = { 0 };
	struct ku_timer timer[TIMERS];
	bool set = true;
	size_t i;

	memset(timer, 0, sizeof(timer));
	for (i = 0; i < TIMERS; i++)
		ck_assert(ku_timers_reserve(&timers, 1));
	fault_after(0);
	for (i = 0; i < TIMERS; i++)
		set = ku_timer_set(&timers, &timer[i], (int64_t)i) && set;
	ck_assert(!fault_end());
	ck_assert(set);
	ku_timers_free(&timers);
}
END_TEST

START_TEST(what_is_given_back_needs_no_more_memory)
{
	struct ku_timers timers = { 0 };
	bool reserved = true;
	int i;

	ck_assert(ku_timers_reserve(&timers, TIMERS));
	ku_timers_release(&timers, TIMERS);
	fault_after(0);
	for (i = 0; i < 100; i++) {
		reserved = ku_timers_reserve(&timers, TIMERS) && reserved;
		ku_timers_release(&timers, TIMERS);
	}
	ck_assert(!fault_end());
	ck_assert(reserved);
	ku_timers_free(&timers);
}
END_TEST

START_TEST(reserving_more_than_there_can_be_is_refused)
{
	struct ku_timers timers = { 0 };
	struct ku_timer timer = { 0 };

	ck_assert(ku_timer_set(&timers, &timer, 3));
	ck_assert(!ku_timers_reserve(&timers, SIZE_MAX));
	ck_assert(!ku_timers_reserve(&timers, SIZE_MAX / sizeof(void *)));
	ck_assert_int_eq(ku_timers_next(&timers), 3);
	ku_timers_free(&timers);
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
	tcase_add_test(tcase, a_timer_is_not_set_if_memory_is_short);
	tcase_add_test(tcase,
		the_others_stay_set_if_memory_is_short_for_one_more);
	tcase_add_test(tcase, what_was_reserved_can_be_set_without_memory);
	tcase_add_test(tcase, what_several_have_reserved_adds_up);
	tcase_add_test(tcase, what_is_given_back_needs_no_more_memory);
	tcase_add_test(tcase, reserving_more_than_there_can_be_is_refused);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
