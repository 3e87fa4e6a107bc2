/*
 * test_muster_safety.c - a member of a double barrier loses its watches without
 * notice: it must look again, and decide by what it sees then.
 */
#include "muster_bed.h"

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static int asked;	     /* number of requests, without syncs */
static bool keeps;	     /* our nodes may not be deleted */

/* Requests of the member that are held until let_go(). */
static struct kept {
	bool wanted;
	struct ku_zk *zk; /* NULL: not yet */
	struct ku_zk_request request;
	char path[80];
	ku_zk_done_fn *done;
	void *arg;
} guard, farewell;

static int keep_back(struct kept *kept, struct ku_zk *zk,
	const struct ku_zk_request *request, ku_zk_done_fn *done, void *arg)
{
	kept->wanted = false;
	kept->zk = zk;
	kept->request = *request;
	ck_assert_uint_lt(strlen(request->path), sizeof(kept->path));
	kept->request.path = strcpy(kept->path, request->path);
	kept->done = done;
	kept->arg = arg;
	return KU_ZK_OK;
}

static void let_go(struct kept *kept)
{
	ck_assert_ptr_nonnull(kept->zk);
	ck_assert_int_eq(
		lone_submit(kept->zk, &kept->request, kept->done, kept->arg),
		KU_ZK_OK);
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	asked += request->kind != KU_ZK_SYNC;
	if (keeps && request->kind == KU_ZK_DELETE)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	if (guard.wanted && request->kind == KU_ZK_GET)
		return keep_back(&guard, zk, request, done, arg);
	if (farewell.wanted && request->kind == KU_ZK_DELETE)
		return keep_back(&farewell, zk, request, done, arg);
	return ku_zk_sim.submit(zk, request, done, arg);
}

/* Set up a round of three: one member is there, and ours waits for the
   others. */
static void setup(void)
{
	api = ku_zk_sim;
	api.submit = submit_it;
	keeps = false;
	memset(&guard, 0, sizeof(guard));
	memset(&farewell, 0, sizeof(farewell));
	open_member(&api, 0);
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, -1);
}

/* The client reconnects, and the server does not set its watches again. */
static void forget_watches(void)
{
	model_set_odd_faults(bench.model, 1000000, 0);
	model_cut(bench.model, LONE_MACHINE, false);
	run_ms(1000);
	model_set_odd_faults(bench.model, 0, 0);
}

START_TEST(L08_who_goes_in_hears_though_no_watch_was_set_again)
{
	forget_watches();
	complete();
	run_ms(140000);
	ck_assert_int_eq(entry, KUSTOS_OK);
}
END_TEST

/* This holds however long the member has been in. */
START_TEST(L08_who_is_in_hears_though_no_watch_was_set_again)
{
	let_in();
	run_ms(_i * 140000);
	forget_watches();
	drop(own_path());
	run_ms(140000);
	check_lost();
}
END_TEST

/* The last member did not wait, and so has set no watch. */
START_TEST(S09_who_came_last_hears_in_a_while_that_its_node_was_deleted)
{
	kustos_double_barrier_destroy(member);
	make(SECOND, KU_ZK_EPHEMERAL);
	make_member();
	run_ms(1000);
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_OK);
	asked = 0;
	run_ms(60000);
	ck_assert_int_eq(asked, 0);
	if (_i == 0)
		drop(own_path());
	run_ms(140000);
	ck_assert_int_ge(asked, 1);
	ck_assert_int_le(asked, 3);
	if (_i == 0) {
		check_lost();
		return;
	}
	ck_assert_int_eq(kustos_double_barrier_inside(member), 1);
	drop(own_path());
	run_ms(1000);
	check_lost();
}
END_TEST

/* The change removes the watch. */
START_TEST(S09_who_is_in_hears_though_its_node_was_changed_before)
{
	let_in();
	ck_assert_int_eq(bench_set(&bench, raw, own_path(), "x", -1).rc,
		KU_ZK_OK);
	run_ms(1000);
	ck_assert_int_eq(kustos_double_barrier_inside(member), 1);
	drop(own_path());
	run_ms(1000);
	check_lost();
}
END_TEST

START_TEST(L08_who_goes_out_hears_though_no_watch_was_set_again)
{
	let_in();
	leave(KUSTOS_FOREVER);
	run_ms(1000);
	forget_watches();
	drop(RIVAL);
	drop(SECOND);
	ck_assert_int_eq(departure, -1);
	run_ms(140000);
	ck_assert_int_eq(departure, KUSTOS_OK);
}
END_TEST

/* A member that waits for long looks only now and then. */
START_TEST(a_member_that_waits_in_peace_hardly_asks)
{
	asked = 0;
	run_ms(60000);
	ck_assert_int_eq(asked, 0);
	run_ms(540000);
	ck_assert_int_ge(asked, 2 * 4);
	ck_assert_int_le(asked, 2 * 9);
	ck_assert_int_eq(entry, -1);
	let_in();
}
END_TEST

/* A member has come and gone before the look.  It would have made three, but
   not when "ready" was made, which is late. */
START_TEST(S12_who_has_looked_in_vain_goes_by_what_came_since)
{
	bool enough = _i == 1;

	make(SECOND, KU_ZK_EPHEMERAL);
	drop(SECOND);
	run_ms(140000);
	ck_assert_int_eq(entry, -1);
	if (enough)
		make(SECOND, KU_ZK_EPHEMERAL);
	/* Both happen before anybody looks. */
	send(KU_ZK_CREATE, READY, "");
	send(KU_ZK_DELETE, READY, "");
	run_ms(1000);
	ck_assert_int_eq(entry, enough ? KUSTOS_OK : -1);
}
END_TEST

/* The member has seen that "ready" is not for its round.  By now as many
   members have come as were missing, but never at the same time. */
START_TEST(S12_a_late_ready_that_was_seen_and_goes_lets_nobody_in)
{
	bench_create(&bench, raw, READY, "round 0x0000000000000001",
		KU_ZK_PERSISTENT);
	run_ms(1000);
	for (int i = 0; i < 3; i++) {
		make(SECOND, KU_ZK_EPHEMERAL);
		drop(SECOND);
	}
	drop(READY);
	run_ms(1000);
	ck_assert_int_eq(entry, -1);
}
END_TEST

/* Run so many seconds, and return for how many ms of them our node was gone. */
static int ms_without(int seconds)
{
	int ms = 0;

	for (int i = 0; i < 10 * seconds; i++) {
		run_ms(100);
		ms += model_child_count(bench.model, ROUND) == 1 ? 100 : 0;
	}
	return ms;
}

/* Does our node exist?  The rival's always does. */
static bool is_there(void)
{
	return model_child_count(bench.model, ROUND) -
		(model_stat(bench.model, READY, NULL) ? 1 : 0) ==
		2;
}

/* The round has met while the member was disconnected, and "ready" is gone:
   members that leave wait for its node.  So it deletes its node and comes
   again, but not before they are out. */
START_TEST(L18_who_may_have_missed_its_round_comes_again)
{
	bool old = _i == 1;

	if (old) { /* "ready" is of a former round */
		bench_create(&bench, raw, READY, "round 0x0000000000000001",
			KU_ZK_PERSISTENT);
		run_ms(1000);
	}
	model_cut(bench.model, LONE_MACHINE, false);
	if (old) {
		make(SECOND, KU_ZK_EPHEMERAL);
		drop(READY);
		drop(SECOND);
	} else {
		meet_and_part();
	}
	run_ms(60000);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	int ms = ms_without(240);
	ck_assert_int_ge(ms, 800);
	ck_assert_int_le(ms, 3000);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	ck_assert_int_eq(ms_without(300), 0);
	ck_assert_int_eq(entry, -1);
	let_in();
}
END_TEST

/* A "ready" that comes meanwhile does not shorten the wait: the others are not
   out yet. */
START_TEST(L18_who_comes_again_is_not_hurried_by_a_ready)
{
	bool gone = _i == 1;

	model_cut(bench.model, LONE_MACHINE, false);
	meet_and_part();
	for (int i = 0; i < 300000 && model_child_count(bench.model, ROUND) > 1;
		i++)
		run_ms(1);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 1);
	send(KU_ZK_CREATE, READY, "");
	if (gone)
		send(KU_ZK_DELETE, READY, "");
	for (int i = 0; i < 800; i++) {
		run_ms(1);
		ck_assert(!is_there());
	}
	run_ms(1000);
	ck_assert(is_there());
	ck_assert_int_eq(entry, -1);
	if (!gone)
		drop(READY);
	complete();
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_OK);
}
END_TEST

/* With a second node the member would be counted twice. */
START_TEST(S12_who_cannot_take_its_node_away_does_not_come_again_beside_it)
{
	model_cut(bench.model, LONE_MACHINE, false);
	meet_and_part();
	run_ms(1000);
	keeps = true;
	run_ms(300000);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	ck_assert_int_eq(entry, KUSTOS_ENOAUTH);
}
END_TEST

/* The deletion is refused even if the node is gone.  If it is gone, the look
   shows that it is in nobody's way. */
START_TEST(S12_who_comes_again_is_not_kept_by_a_node_that_has_gone)
{
	bool gone = _i == 0;

	let_in();
	farewell.wanted = true;
	leave(KUSTOS_NOW);
	run_ms(100);
	ck_assert_int_eq(departure, KUSTOS_EBUSY);
	ck_assert_ptr_nonnull(farewell.zk);
	enter(KUSTOS_FOREVER);
	if (gone)
		drop(farewell.path);
	keeps = true;
	ck_assert_int_eq(lone_refuse(farewell.zk, KU_ZK_NOAUTH, farewell.done,
				 farewell.arg),
		KU_ZK_OK);
	run_ms(1000);
	if (gone)
		check_in();
	else
		ck_assert_int_eq(entry, KUSTOS_ENOAUTH);
}
END_TEST

/* After that no call waits any more to learn whether its old node went. */
START_TEST(S12_who_gives_up_while_its_last_node_is_taken_away_may_come_again)
{
	let_in();
	farewell.wanted = true;
	leave(KUSTOS_NOW);
	run_ms(50);
	enter(bench.sched.now_ns + 200 * KU_NS_PER_MS);
	for (int i = 0; i < 2; i++) {
		ck_assert_ptr_nonnull(farewell.zk);
		ck_assert_int_eq(lone_refuse(farewell.zk, KU_ZK_NOAUTH,
					 farewell.done, farewell.arg),
			KU_ZK_OK);
		farewell.zk = NULL;
		farewell.wanted = i == 0;
		run_ms(300);
		ck_assert_int_eq(entry, KUSTOS_ETIMEDOUT);
	}
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 4);
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	check_in();
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 4);
}
END_TEST

/* A read of its node is under way when the member deletes it, and the deletion
   takes long.  The second that it stays away begins only when the node is
   gone. */
START_TEST(L18_who_comes_again_waits_from_when_its_node_is_gone)
{
	model_cut(bench.model, LONE_MACHINE, false);
	meet_and_part();
	run_ms(1000);
	send(KU_ZK_SET, own_path(), "written");
	run_ms(64000); /* it has looked, and is in doubt since */
	guard.wanted = farewell.wanted = true;
	send(KU_ZK_SET, own_path(), "written again");
	run_ms(1500);
	ck_assert_ptr_nonnull(guard.zk);
	ck_assert_ptr_null(farewell.zk);
	send(KU_ZK_CREATE, READY, "");
	send(KU_ZK_DELETE, READY, "");
	run_ms(100);
	ck_assert_ptr_nonnull(farewell.zk);
	let_go(&guard);
	run_ms(300);
	ck_assert(is_there());
	let_go(&farewell);
	run_ms(50);
	for (int i = 0; i < 800; i++) {
		ck_assert(!is_there());
		run_ms(1);
	}
	run_ms(1000);
	ck_assert(is_there());
	let_in();
}
END_TEST

/* A member that completes a round just then would not count it: so it must not
   go away without need. */
START_TEST(who_cannot_have_missed_its_round_keeps_its_node)
{
	static const bool cut[] = { true, true, false, true };

	if (cut[_i])
		model_cut(bench.model, LONE_MACHINE, false);
	/* In the last case it has looked since. */
	run_ms(_i == 3 ? 140000 : 0);
	if (_i == 0) { /* too few members came */
		make(READY, KU_ZK_PERSISTENT);
		drop(READY);
	} else if (_i == 1) {
		make(SECOND, KU_ZK_EPHEMERAL);
		drop(SECOND);
	} else { /* enough came, but it would have heard */
		make(SECOND, KU_ZK_EPHEMERAL);
		drop(SECOND);
		make(SECOND, KU_ZK_EPHEMERAL);
		drop(SECOND);
	}
	ck_assert_int_eq(ms_without(400), 0);
	ck_assert_int_eq(entry, -1);
	let_in();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("watches of double barriers in the simulator");
	TCase *t = tcase_create("a member");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, close_member);
	tcase_add_test(t, L08_who_goes_in_hears_though_no_watch_was_set_again);
	tcase_add_test(t, L08_who_goes_out_hears_though_no_watch_was_set_again);
	tcase_add_loop_test(t,
		L08_who_is_in_hears_though_no_watch_was_set_again, 0, 2);
	tcase_add_loop_test(t,
		S09_who_came_last_hears_in_a_while_that_its_node_was_deleted, 0,
		2);
	tcase_add_test(t,
		S09_who_is_in_hears_though_its_node_was_changed_before);
	tcase_add_test(t, a_member_that_waits_in_peace_hardly_asks);
	tcase_add_loop_test(t,
		S12_who_has_looked_in_vain_goes_by_what_came_since, 0, 2);
	tcase_add_test(t,
		S12_a_late_ready_that_was_seen_and_goes_lets_nobody_in);
	tcase_add_loop_test(t, L18_who_may_have_missed_its_round_comes_again, 0,
		2);
	tcase_add_loop_test(t, L18_who_comes_again_is_not_hurried_by_a_ready, 0,
		2);
	tcase_add_test(t,
		S12_who_cannot_take_its_node_away_does_not_come_again_beside_it);
	tcase_add_loop_test(t,
		S12_who_comes_again_is_not_kept_by_a_node_that_has_gone, 0, 2);
	tcase_add_test(t,
		S12_who_gives_up_while_its_last_node_is_taken_away_may_come_again);
	tcase_add_test(t, L18_who_comes_again_waits_from_when_its_node_is_gone);
	tcase_add_loop_test(t, who_cannot_have_missed_its_round_keeps_its_node,
		0, 4);
	suite_add_tcase(s, t);
	return unit_main(s);
}
