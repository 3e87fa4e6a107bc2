/*
 * test_muster_told.c - the last member of a double barrier has to tell the others
 * plainly, as it may not read them all; and that is refused as well.
 */
#include "muster_bed.h"

#include "../unit/fault.h"

/* Between a client and its server: all requests take the same. */
#define WAY_MS 10

static struct ku_zk_api api; /* ku_zk_sim, with the one below before it */

static struct {
	bool may;	/* in the end it may write "ready" */
	bool throttled; /* but the server has no time for it, once */
	bool in_want;	/* memory is short as it hears of that */
	ku_zk_done_fn *done;
	void *arg;
} plainly;

static void refuse(void *arg, const struct ku_zk_reply *reply)
{
	ck_assert_ptr_eq(arg, &plainly);
	if (plainly.in_want)
		fault_after(0);
	plainly.done(plainly.arg, reply);
	ck_assert_int_eq(fault_end(), plainly.in_want);
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool ready = request->kind == KU_ZK_CREATE &&
		strcmp(request->path, READY) == 0;

	if (request->kind == KU_ZK_MULTI) {
		plainly.done = done;
		plainly.arg = arg;
		return lone_refuse(zk, KU_ZK_NOAUTH, refuse, &plainly);
	}
	if (ready && plainly.throttled) {
		plainly.throttled = false;
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	}
	if (ready && !plainly.may)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

/* Two of three are there. */
static void setup(void)
{
	memset(&plainly, 0, sizeof(plainly));
	api = ku_zk_sim;
	api.submit = submit_it;
	open_member(&api, WAY_MS);
	make(SECOND, KU_ZK_EPHEMERAL);
}

START_TEST(U09_who_may_not_read_the_others_tells_them_all_the_same)
{
	plainly.may = true;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	check_in();
	ck_assert(model_stat(bench.model, READY, NULL));
}
END_TEST

START_TEST(U09_who_may_tell_nobody_does_not_go_in)
{
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_ENOAUTH);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
}
END_TEST

/* Its deadline passed before it knew, and so it went in.  The others wait for it to tell
   them, and it would wait for them to go. */
START_TEST(L18_who_went_in_and_may_tell_nobody_is_lost)
{
	plainly.throttled = true;
	enter(ku_now(client) + 5 * WAY_MS * KU_NS_PER_MS);
	while (entry == -1)
		run_ms(1);
	check_in();
	ck_assert(!plainly.throttled);
	if (_i == 1)
		leave(KUSTOS_FOREVER);
	run_ms(2000);
	if (_i == 1)
		ck_assert_int_eq(departure, KUSTOS_ELOST);
	else
		check_lost();
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
}
END_TEST

START_TEST(who_cannot_tell_the_others_for_want_of_memory_says_so)
{
	plainly.may = plainly.in_want = true;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_ENOMEM);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("who tells the others of a double barrier");
	TCase *t = tcase_create("plainly");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, close_member);
	tcase_add_test(t,
		U09_who_may_not_read_the_others_tells_them_all_the_same);
	tcase_add_test(t, U09_who_may_tell_nobody_does_not_go_in);
	tcase_add_loop_test(t, L18_who_went_in_and_may_tell_nobody_is_lost, 0,
		2);
	tcase_add_test(t,
		who_cannot_tell_the_others_for_want_of_memory_says_so);
	suite_add_tcase(s, t);
	return unit_main(s);
}
