/*
 * test_muster_lost.c - a member of a double barrier learns too late what it has
 * made: its node, as the answer was lost; or "ready", as its deadline came
 * first.  And what others do to its node, and to "ready", when it is in or has
 * gone.
 */
#include "muster_bed.h"

#define LOWEST ROUND "/00000000-0000-0000-8000-000000000000"
#define HIGH ROUND "/ffffffff-ffff-4fff-8fff-fffffffffffe"
#define HIGHER ROUND "/ffffffff-ffff-4fff-8fff-ffffffffffff"
#define TAIL "-ffff-4fff-8fff-ffffffffffff"
/* How long each message between a client and its server takes. */
#define WAY_MS 10

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */
static char own[80];	     /* the member's last node */

/* The second creation of the member's node, which is held. */
static struct {
	bool wanted;
	struct ku_zk *zk; /* NULL: not yet */
	struct ku_zk_request request;
	char path[80];
	ku_zk_done_fn *done;
	void *arg;
} kept;

/* What becomes of the write of "ready". */
static struct {
	bool forbidden; /* not all members may be read */
	bool refused;	/* it is throttled once */
	void (*before)(void), (*behind)(void);
} telling;

/* What the rival does just before and behind the second creation of the
   member's node. */
static struct {
	int sent;
	bool refused; /* the first creation is throttled */
	void (*before)(void), (*act)(void); /* NULL: nothing */
} upon;

static int tell(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (telling.forbidden && request->kind == KU_ZK_MULTI)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	if (telling.refused) {
		telling.refused = false;
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	}
	if (telling.before != NULL)
		telling.before();
	int rc = ku_zk_sim.submit(zk, request, done, arg);
	if (telling.behind != NULL)
		telling.behind();
	telling.before = telling.behind = NULL;
	return rc;
}

static int submit_node(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool second = ++upon.sent == 2;

	if (upon.sent == 1 && upon.refused)
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	if (second && upon.before != NULL)
		upon.before();
	int rc = ku_zk_sim.submit(zk, request, done, arg);
	if (second && upon.act != NULL)
		upon.act();
	return rc;
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (request->kind == KU_ZK_MULTI ||
		(request->kind == KU_ZK_CREATE &&
			strcmp(request->path, READY) == 0))
		return tell(zk, request, done, arg);
	if (request->kind == KU_ZK_CREATE)
		snprintf(own, sizeof(own), "%s", request->path);
	if (request->kind == KU_ZK_CREATE && !kept.wanted &&
		strlen(request->path) == strlen(RIVAL))
		return submit_node(zk, request, done, arg);
	if (!kept.wanted || request->kind != KU_ZK_CREATE)
		return ku_zk_sim.submit(zk, request, done, arg);
	kept.wanted = false;
	kept.zk = zk;
	kept.request = *request;
	ck_assert_uint_lt(strlen(request->path), sizeof(kept.path));
	kept.request.path = strcpy(kept.path, request->path);
	kept.request.data = NULL;
	kept.request.len = -1;
	kept.request.acl = &bench_acl;
	kept.request.acl_count = 1;
	kept.done = done;
	kept.arg = arg;
	return KU_ZK_OK;
}

/* Set up a round in which two of three members are there. */
static void setup(void)
{
	memset(&kept, 0, sizeof(kept));
	memset(&upon, 0, sizeof(upon));
	memset(&telling, 0, sizeof(telling));
	api = ku_zk_sim;
	api.submit = submit_it;
	open_member(&api, WAY_MS);
	make(SECOND, KU_ZK_EPHEMERAL);
}

/* The member saw all three while it did not know of its own node.  Then all
   three went, and its node was made again with the same name. */
START_TEST(S12_what_was_seen_before_the_node_was_made_lets_nobody_in)
{
	bool gone = _i == 0;

	enter(KUSTOS_FOREVER);
	run_ms(WAY_MS + WAY_MS / 2);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 3);
	model_cut(bench.model, LONE_MACHINE, false);
	kept.wanted = true;
	run_ms(1000);
	ck_assert_ptr_nonnull(kept.zk);
	ck_assert_int_eq(entry, -1);
	if (gone) {
		drop(kept.path);
		drop(RIVAL);
		drop(SECOND);
	}
	ck_assert_int_eq(
		lone_submit(kept.zk, &kept.request, kept.done, kept.arg),
		KU_ZK_OK);
	run_ms(1000);
	ck_assert_int_eq(entry, gone ? -1 : KUSTOS_OK);
	ck_assert_int_eq(model_stat(bench.model, kept.path, NULL), true);
}
END_TEST

static void all_come_and_one_goes(void)
{
	send(KU_ZK_CREATE, SECOND, "");
	send(KU_ZK_CREATE, THIRD, "");
	send(KU_ZK_CREATE, READY, "");
	send(KU_ZK_DELETE, READY, "");
	send(KU_ZK_DELETE, THIRD, "");
}

/* Do what a late member of a former round may do. */
static void come_and_say_so_late(void)
{
	send(KU_ZK_CREATE, SECOND, "");
	send(KU_ZK_CREATE, READY, "");
	send(KU_ZK_DELETE, READY, "");
}

/* The barrier's node is made first, so the member looks in vain before its own
   node exists.  The round meets and parts before it looks again. */
START_TEST(L18_who_comes_by_a_detour_hears_of_its_round)
{
	bool met = _i == 0;

	drop(RIVAL);
	drop(SECOND);
	drop(ROUND);
	upon.act = met ? all_come_and_one_goes : come_and_say_so_late;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(upon.sent, 2);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	ck_assert_int_eq(entry, met ? KUSTOS_OK : -1);
}
END_TEST

static void two_give_up(void)
{
	send(KU_ZK_DELETE, SECOND, "");
	send(KU_ZK_DELETE, THIRD, "");
}

static void say_so_late(void)
{
	send(KU_ZK_CREATE, READY, "");
	send(KU_ZK_DELETE, READY, "");
}

/* Three others were there when the member looked, and two of them gave up
   before its node was made.  It cannot know whether the round was its own, so
   it comes again later. */
START_TEST(S12_who_had_all_before_its_node_was_there_is_not_let_in_by_that)
{
	make(THIRD, KU_ZK_EPHEMERAL);
	upon.refused = true;
	upon.before = two_give_up;
	upon.act = say_so_late;
	enter(KUSTOS_FOREVER);
	run_ms(5000);
	ck_assert_int_eq(upon.sent, 2);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	ck_assert_int_eq(entry, -1);
	run_ms(140000);
	ck_assert_int_eq(upon.sent, 3);
	complete();
	run_ms(1000);
	check_in();
}
END_TEST

/* The others give up by the same deadline.  The member has written "ready",
   does not know that yet, and leaves. */
START_TEST(L18_a_ready_that_is_made_behind_who_leaves_goes_with_it)
{
	kustos_deadline soon = ku_now(client) + 3 * WAY_MS * KU_NS_PER_MS;

	enter(soon);
	while (entry == -1)
		run_ms(1);
	ck_assert_int_eq(entry, KUSTOS_OK);
	ck_assert_int_ge(ku_now(client), soon);
	send(KU_ZK_DELETE, RIVAL, "");
	send(KU_ZK_DELETE, SECOND, "");
	leave(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(departure, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 0);
}
END_TEST

static void enter_in_vain(void)
{
	kustos_deadline soon = ku_now(client) + 5 * WAY_MS * KU_NS_PER_MS;

	telling.refused = true;
	enter(soon);
	while (entry == -1)
		run_ms(1);
	ck_assert_int_eq(entry, KUSTOS_OK);
	ck_assert(!telling.refused);
	ck_assert(!model_stat(bench.model, READY, NULL));
	drop(RIVAL);
	drop(SECOND);
}

/* The same, but "ready" is made after the member has looked for it: it may not
   read the others, and so writes "ready" without checking them. */
START_TEST(L18_a_ready_that_is_made_after_who_leaves_has_looked_goes_with_it)
{
	telling.forbidden = true;
	enter_in_vain();
	leave(KUSTOS_FOREVER);
	run_ms(2000);
	ck_assert_int_eq(departure, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 0);
}
END_TEST

/* The member's deadline passed before it could write "ready", so it went in;
   and the others have given up.  It is alone, and learns that while it is in,
   or leaves. */
START_TEST(S12_who_could_not_tell_the_others_is_lost)
{
	enter_in_vain();
	ck_assert_int_eq(kustos_double_barrier_inside(member), 1);
	if (_i == 1)
		leave(KUSTOS_FOREVER);
	run_ms(2000);
	ck_assert(!model_stat(bench.model, READY, NULL));
	if (_i == 1)
		ck_assert_int_eq(departure, KUSTOS_ELOST);
	else
		check_lost();
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 0);
}
END_TEST

static void give_up(void)
{
	send(KU_ZK_DELETE, SECOND, "");
}

/* One member gives up before "ready" is written.  If it were written, a member
   that comes instead, and finds "ready" gone, would take it for its own. */
START_TEST(S12_the_others_are_told_only_if_all_are_there)
{
	telling.before = give_up;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert(telling.before == NULL);
	ck_assert(!model_stat(bench.model, READY, NULL));
	ck_assert_int_eq(entry, -1);
	complete();
	run_ms(1000);
	check_in();
}
END_TEST

/* There are more members than one request can name. */
START_TEST(L18_very_many_are_told_all_the_same)
{
	char path[80];

	for (int i = 0; i < 20000; i++) {
		snprintf(path, sizeof(path), ROUND "/%08x" TAIL, i);
		send(KU_ZK_CREATE, path, "");
	}
	run_ms(1000);
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_OK);
	ck_assert(model_stat(bench.model, READY, NULL));
}
END_TEST

/* A member of Curator's that leaves goes on when only one node is left: so that
   must not be the node of a member that is in. */
START_TEST(L18_the_lowest_keeps_its_node_until_it_is_alone)
{
	drop(RIVAL);
	drop(SECOND);
	make(HIGH, KU_ZK_EPHEMERAL);
	make(HIGHER, KU_ZK_EPHEMERAL);
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_OK);
	leave(KUSTOS_FOREVER);
	run_ms(1000);
	drop(HIGHER);
	run_ms(1000);
	ck_assert(model_stat(bench.model, own, NULL));
	drop(HIGH);
	run_ms(1000);
	ck_assert_int_eq(departure, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 0);
}
END_TEST

static void come_late(void)
{
	send(KU_ZK_CREATE, LOWEST, "");
}

/* "ready" would stay for a member that came after the round was complete and
   before "ready".  But this one has given up before the round is over. */
START_TEST(L18_a_ready_does_not_stay_for_who_has_gone)
{
	telling.before = come_late;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_OK);
	leave(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(departure, -1);
	drop(LOWEST);
	drop(RIVAL);
	drop(SECOND);
	run_ms(1000);
	ck_assert_int_eq(departure, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 0);
}
END_TEST

static void say_it(void)
{
	send(KU_ZK_CREATE, READY, "");
}

static void part(void)
{
	send(KU_ZK_DELETE, READY, "");
	send(KU_ZK_DELETE, SECOND, "");
}

/* A peer writes "ready" first, and is out before the member looks again. */
START_TEST(L18_who_was_not_the_first_to_tell_the_others_is_in)
{
	telling.before = say_it;
	telling.behind = part;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert(telling.behind == NULL);
	ck_assert_int_eq(entry, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
}
END_TEST

/* The server throttles the listing. */
START_TEST(L20_who_goes_at_once_does_not_look_twice)
{
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_OK);
	model_set_throttle(bench.model, 1000000);
	leave(KUSTOS_NOW);
	run_ms(5 * WAY_MS);
	ck_assert_int_eq(departure, KUSTOS_EDISCONNECTED);
	model_set_throttle(bench.model, 0);
}
END_TEST

START_TEST(S09_who_is_in_stays_in_if_its_node_is_only_written)
{
	drop(SECOND);
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	make(SECOND, KU_ZK_EPHEMERAL);
	make(READY, KU_ZK_PERSISTENT);
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_OK);
	send(KU_ZK_SET, own, "written");
	run_ms(1000);
	ck_assert_int_eq(kustos_double_barrier_inside(member), 1);
	drop(RIVAL);
	drop(SECOND);
	leave(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(departure, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 0);
}
END_TEST

START_TEST(S09_who_waits_comes_again_at_once_if_its_node_was_deleted)
{
	char first[sizeof(own)];

	drop(SECOND);
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	strcpy(first, own);
	drop(first);
	run_ms(1000);
	ck_assert_str_ne(own, first);
	ck_assert(model_stat(bench.model, own, NULL));
	ck_assert_int_eq(entry, -1);
}
END_TEST

/* The member's node is gone when "ready" is written for the next round. */
START_TEST(L18_who_has_gone_does_not_wait_for_the_next_round)
{
	struct kustos_stat stat;
	char text[32];

	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, KUSTOS_OK);
	drop(SECOND);
	leave(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(model_stat(bench.model, own, NULL), 0);
	ck_assert_int_eq(departure, -1);
	make(THIRD, KU_ZK_EPHEMERAL);
	ck_assert(model_stat(bench.model, THIRD, &stat));
	snprintf(text, sizeof(text), "round 0x%016llx",
		(unsigned long long)stat.czxid);
	send(KU_ZK_SET, READY, text);
	run_ms(1000);
	drop(RIVAL);
	run_ms(1000);
	ck_assert_int_eq(departure, KUSTOS_OK);
	ck_assert(model_stat(bench.model, READY, NULL));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lost answers of double barriers");
	TCase *t = tcase_create("a member");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, close_unwatched);
	tcase_add_loop_test(t,
		S12_what_was_seen_before_the_node_was_made_lets_nobody_in, 0,
		2);
	tcase_add_loop_test(t, L18_who_comes_by_a_detour_hears_of_its_round, 0,
		2);
	tcase_add_test(t,
		S12_who_had_all_before_its_node_was_there_is_not_let_in_by_that);
	tcase_add_test(t,
		L18_a_ready_that_is_made_behind_who_leaves_goes_with_it);
	tcase_add_test(t,
		L18_a_ready_that_is_made_after_who_leaves_has_looked_goes_with_it);
	tcase_add_loop_test(t, S12_who_could_not_tell_the_others_is_lost, 0, 2);
	tcase_add_test(t, S12_the_others_are_told_only_if_all_are_there);
	tcase_add_test(t, L18_very_many_are_told_all_the_same);
	tcase_add_test(t, L18_the_lowest_keeps_its_node_until_it_is_alone);
	tcase_add_test(t, L18_a_ready_does_not_stay_for_who_has_gone);
	tcase_add_test(t, L18_who_was_not_the_first_to_tell_the_others_is_in);
	tcase_add_test(t, L20_who_goes_at_once_does_not_look_twice);
	tcase_add_test(t, S09_who_is_in_stays_in_if_its_node_is_only_written);
	tcase_add_test(t,
		S09_who_waits_comes_again_at_once_if_its_node_was_deleted);
	tcase_add_test(t, L18_who_has_gone_does_not_wait_for_the_next_round);
	suite_add_tcase(s, t);
	return unit_main(s);
}
