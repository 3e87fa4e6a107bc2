/*
 * test_lanes.c - long callbacks on threads of the client when there is only one
 * thread, or when that is about to end.
 */
#include "callback_gate.h"
#include "client_fixture.h"

#include "client.h"

/* A call, and the gate where it blocks. */
struct errand {
	struct ku_call call; /* first: cast back from it */
	struct gate *gate;
};

static void run_errand(struct kustos_client *c, struct ku_call *call)
{
	ku_unlock(c);
	stand(((struct errand *)call)->gate);
	ku_lock(c);
}

static int idle_threads(struct kustos_client *c)
{
	ku_lock(c);
	int idle = (int)c->dispatch.lanes[KU_LENGTHY].idle;
	ku_unlock(c);
	return idle;
}

/* There is one idle thread.  Of two calls that come at once the second must get
   another thread, because the first does not return. */
START_TEST(L10_what_takes_long_does_not_wait_for_a_thread_that_another_got)
{
	struct kustos_client *c = client_connected(fixture_address(), 20000);
	struct gate before = { .open = 1 }, g = { 0 };
	struct errand errands[] = {
		{ { .fn = run_errand }, &before },
		{ { .fn = run_errand }, &g },
		{ { .fn = run_errand }, &g },
	};

	ku_lock(c);
	ku_dispatch_push(c, &errands[0].call, KU_LENGTHY);
	ku_unlock(c);
	test_eventually(idle_threads(c) == 1, 1000);
	ku_lock(c);
	ku_dispatch_push(c, &errands[1].call, KU_LENGTHY);
	ku_dispatch_push(c, &errands[2].call, KU_LENGTHY);
	ku_unlock(c);
	test_eventually(flag(&g.entered) == 2, 1000);
	ck_assert_int_eq(flag(&before.left), 1);
	raise_flag(&g.open);
	client_close(c);
	ck_assert_int_eq(flag(&g.left), 2);
}
END_TEST

/* The idle thread is just about to end for want of work, and cannot yet, when
   there is some. */
START_TEST(L10_what_comes_as_the_last_thread_ends_is_run)
{
	struct kustos_client *c = client_connected(fixture_address(), 20000);
	struct gate gates[2] = { { .open = 1 }, { .open = 1 } };
	struct errand errands[] = {
		{ { .fn = run_errand }, &gates[0] },
		{ { .fn = run_errand }, &gates[1] },
	};

	ku_lock(c);
	ku_dispatch_push(c, &errands[0].call, KU_LENGTHY);
	ku_unlock(c);
	test_eventually(idle_threads(c) == 1, 1000);
	ku_lock(c);
	test_never(c->dispatch.lanes[KU_LENGTHY].running > 0, 1100);
	ku_dispatch_push(c, &errands[1].call, KU_LENGTHY);
	ku_unlock(c);
	test_eventually(flag(&gates[1].left) == 1, 1000);
	client_close(c);
}
END_TEST

/* The first call has no thread yet, and is not known to take long. */
START_TEST(L10_news_of_a_loss_does_not_stay_behind_what_has_not_begun)
{
	struct kustos_client *c = client_connected(fixture_address(), 20000);
	struct gate slow = { 0 }, news = { .open = 1 };
	struct errand errands[] = {
		{ { .fn = run_errand }, &slow },
		{ { .fn = run_errand }, &news },
	};

	ku_lock(c);
	ku_dispatch_push(c, &errands[0].call, KU_ORDINARY);
	ku_dispatch_push(c, &errands[1].call, KU_URGENT);
	ku_unlock(c);
	test_eventually(flag(&news.left) == 1, 1000);
	ck_assert_int_eq(flag(&slow.left), 0);
	raise_flag(&slow.open);
	client_close(c);
	ck_assert_int_eq(flag(&slow.left), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lanes");
	TCase *t = fixture_case(s, "one server", 20);

	tcase_add_test(t,
		L10_what_takes_long_does_not_wait_for_a_thread_that_another_got);
	tcase_add_test(t, L10_what_comes_as_the_last_thread_ends_is_run);
	tcase_add_test(t,
		L10_news_of_a_loss_does_not_stay_behind_what_has_not_begun);
	return fixture_main(s);
}
