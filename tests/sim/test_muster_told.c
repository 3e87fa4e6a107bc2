/*
 * test_muster_told.c - the last member of a double barrier has to write "ready"
 * plainly, without checking that all are there, as it may not read them all;
 * and that may be refused as well.
 */
#include "muster_bed.h"

#include "../unit/fault.h"

/* How long each message between a client and its server takes. */
#define WAY_MS 10
/* With this many members the checks are too large for a server. */
#define MANY 100

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */

static struct {
	bool forbidden; /* members may not be read, so transactions fail */
	bool may;	/* the plain write of "ready" is allowed */
	bool throttled; /* that write is throttled once */
	bool in_want;	/* memory is short at its answer */
	int cuts; /* so many transactions break their connection on the way */
	int checked, created; /* transactions, and plain writes, sent */
	const char *unseen; /* memory is short at an answer about this, once */
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

static void not_see(void *arg, const struct ku_zk_reply *reply)
{
	ck_assert_ptr_eq(arg, &plainly);
	ck_assert_int_eq(reply->rc, KU_ZK_OK);
	fault_after(0);
	plainly.done(plainly.arg, reply);
	ck_assert_int_eq(fault_end(), 1);
}

static bool is_unseen(const struct ku_zk_request *request)
{
	return plainly.unseen != NULL &&
		(request->kind == KU_ZK_CHILDREN ||
			request->kind == KU_ZK_GET ||
			request->kind == KU_ZK_EXISTS) &&
		strcmp(request->path, plainly.unseen) == 0;
}

/* Break the connection, as a server does if a request is too large for it. */
static int cut_off(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	int rc = ku_zk_sim.submit(zk, request, done, arg);

	plainly.cuts--;
	plainly.checked++;
	model_cut(bench.model, LONE_MACHINE, true);
	return rc;
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool ready = request->kind == KU_ZK_CREATE &&
		strcmp(request->path, READY) == 0;

	if (is_unseen(request)) {
		plainly.unseen = NULL;
		plainly.done = done;
		plainly.arg = arg;
		return ku_zk_sim.submit(zk, request, not_see, &plainly);
	}
	if (request->kind == KU_ZK_MULTI && plainly.cuts > 0)
		return cut_off(zk, request, done, arg);
	plainly.checked += request->kind == KU_ZK_MULTI;
	plainly.created += ready;
	if (request->kind == KU_ZK_MULTI && !plainly.forbidden)
		return ku_zk_sim.submit(zk, request, done, arg);
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

/* Set up a round in which two of three members are there. */
static void setup(void)
{
	memset(&plainly, 0, sizeof(plainly));
	plainly.forbidden = plainly.may = true;
	api = ku_zk_sim;
	api.submit = submit_it;
	open_member(&api, WAY_MS);
	make(SECOND, KU_ZK_EPHEMERAL);
}

START_TEST(U09_who_may_not_read_the_others_tells_them_all_the_same)
{
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	check_in();
	ck_assert(model_stat(bench.model, READY, NULL));
}
END_TEST

START_TEST(U09_who_may_tell_nobody_does_not_go_in)
{
	plainly.may = false;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_ENOAUTH);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
}
END_TEST

/* The member's deadline passed before the answer came, so it went in.  The
   others wait for its "ready", and it would wait for them to go. */
START_TEST(L18_who_went_in_and_may_tell_nobody_is_lost)
{
	plainly.may = false;
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
	plainly.in_want = true;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_ENOMEM);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
}
END_TEST

/* It looks again after a moment: when it enters; or when it leaves, at the
   members, or for the one for which it waits. */
START_TEST(who_sees_nothing_for_want_of_memory_looks_again)
{
	plainly.forbidden = false;
	plainly.unseen = _i == 0 ? ROUND : NULL;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	check_in();
	if (_i > 0)
		plainly.unseen = _i == 1 ? ROUND : READY;
	leave(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_ptr_null(plainly.unseen);
	ck_assert_int_eq(departure, -1);
	drop(SECOND);
	drop(RIVAL);
	run_ms(1000);
	ck_assert_int_eq(departure, KUSTOS_OK);
}
END_TEST

static int changes(void)
{
	struct kustos_stat stat;

	ck_assert(model_stat(bench.model, ROUND, &stat));
	return stat.cversion;
}

/* The others must not count it even for a moment. */
START_TEST(L18_who_gave_up_without_a_connection_does_not_come_later)
{
	int before = changes();

	model_hole(bench.model, LONE_MACHINE, 0, INT64_MAX);
	model_cut(bench.model, LONE_MACHINE, false);
	run_ms(100);
	enter(ku_now(client) + 50 * KU_NS_PER_MS);
	run_ms(100);
	ck_assert_int_eq(entry, KUSTOS_ETIMEDOUT);
	model_heal(bench.model);
	run_ms(20000);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	ck_assert_int_eq(changes(), before);
}
END_TEST

static void make_more(int count)
{
	char path[80];

	for (int i = 1; i <= count; i++) {
		snprintf(path, sizeof(path),
			ROUND "/%08x-0000-4000-8000-000000000000", i);
		send(KU_ZK_CREATE, path, "");
	}
	run_ms(1000);
}

static void go_in_beside(int others, int cuts)
{
	plainly.forbidden = false;
	plainly.cuts = cuts;
	make_more(others);
	enter(KUSTOS_FOREVER);
	run_ms(60000);
	check_in();
	ck_assert(model_stat(bench.model, READY, NULL));
}

/* A server does not say that a request is too large. */
START_TEST(L24_what_the_server_may_not_take_is_told_plainly)
{
	go_in_beside(MANY, 100);
	ck_assert_int_eq(plainly.checked, 3);
	ck_assert_int_eq(plainly.created, 1);
}
END_TEST

/* With few members the transaction is small; with many it was not too large if
   it was answered once. */
START_TEST(S12_what_any_server_takes_is_never_told_plainly)
{
	if (_i == 0)
		go_in_beside(0, 10);
	else
		go_in_beside(MANY, 2);
	ck_assert_int_eq(plainly.cuts, 0);
	ck_assert_int_eq(plainly.created, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("who tells the others of a double barrier");
	TCase *t = tcase_create("plainly");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, close_unwatched);
	tcase_add_test(t,
		U09_who_may_not_read_the_others_tells_them_all_the_same);
	tcase_add_test(t, U09_who_may_tell_nobody_does_not_go_in);
	tcase_add_loop_test(t, L18_who_went_in_and_may_tell_nobody_is_lost, 0,
		2);
	tcase_add_test(t,
		who_cannot_tell_the_others_for_want_of_memory_says_so);
	tcase_add_loop_test(t, who_sees_nothing_for_want_of_memory_looks_again,
		0, 3);
	tcase_add_test(t,
		L18_who_gave_up_without_a_connection_does_not_come_later);
	tcase_add_test(t, L24_what_the_server_may_not_take_is_told_plainly);
	tcase_add_loop_test(t, S12_what_any_server_takes_is_never_told_plainly,
		0, 2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
