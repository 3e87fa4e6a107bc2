/*
 * test_muster.c - what a member of a double barrier makes of a "ready" that comes
 * and goes while it looks.
 */
#include "lone.h"

#include "../unit/unit.h"

#include <kustos/barrier.h>
#include <stdio.h>
#include <string.h>

#define ROUND "/round"
#define READY ROUND "/ready"
#define RIVAL ROUND "/00000000-0000-4000-8000-000000000000"
#define SECOND ROUND "/00000000-0000-4000-8000-000000000001"
#define THIRD ROUND "/00000000-0000-4000-8000-000000000002"
/* Between a client and its server: all requests take the same. */
#define WAY_MS 10

static struct bench bench;
static struct ku_zk *raw;
static struct ku_zk_api api; /* ku_zk_sim, with the one below before it */
static struct kustos_client *client;
static struct kustos_double_barrier *member;

/* "ready" is made behind the member's node, before it looks; and goes before it is
   read. */
static struct {
	const char *says;
	bool comes, goes;
	int requests;
} ready;

/* Its node is deleted just before it is watched. */
static bool deletes;

/* What the rival does just before the member's first request of a kind to "ready", or
   just behind it. */
static struct {
	enum ku_zk_kind kind;
	void (*before)(void);
	void (*behind)(void);
} rival;

static struct {
	bool ended;
	enum kustos_err err;
} entry, departure;

/* Have it done by the rival, behind what was sent before. */
static void send_for(enum ku_zk_kind kind, const char *path)
{
	const struct ku_zk_request request = { .kind = kind,
		.path = path,
		.data = ready.says,
		.len = (int)strlen(ready.says) };

	lone_send(&bench, raw, &request);
}

static void send(enum ku_zk_kind kind)
{
	send_for(kind, READY);
}

static void once(void (**act)(void))
{
	void (*fn)(void) = *act;

	*act = NULL;
	if (fn != NULL)
		fn();
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	bool ours = strncmp(request->path, ROUND, strlen(ROUND)) == 0;
	bool now = request->kind == rival.kind &&
		strcmp(request->path, READY) == 0;

	if (now)
		once(&rival.before);

	ready.requests += ours;
	if (ready.goes && ours && request->kind == KU_ZK_GET &&
		strcmp(request->path, READY) == 0) {
		ready.goes = false;
		send(KU_ZK_DELETE);
	}
	if (deletes && ours && request->kind == KU_ZK_GET && request->watch) {
		deletes = false;
		send_for(KU_ZK_DELETE, request->path);
	}
	int rc = ku_zk_sim.submit(zk, request, done, arg);
	if (ready.comes && ours && request->kind == KU_ZK_CREATE) {
		ready.comes = false;
		ready.goes = true;
		send(KU_ZK_CREATE);
	}
	if (now)
		once(&rival.behind);
	return rc;
}

static void entered(void *arg, enum kustos_err err)
{
	(void)arg;
	entry.ended = true;
	entry.err = err;
}

static void enter(kustos_deadline deadline)
{
	ck_assert_int_eq(kustos_double_barrier_enter_async(member, deadline,
				 NULL, entered, NULL),
		KUSTOS_OK);
}

static void check_entered(void)
{
	ck_assert(entry.ended);
	ck_assert_int_eq(entry.err, KUSTOS_OK);
}

static void left(void *arg, enum kustos_err err)
{
	(void)arg;
	departure.ended = true;
	departure.err = err;
}

static void setup(void)
{
	memset(&rival, 0, sizeof(rival));
	memset(&departure, 0, sizeof(departure));
	memset(&ready, 0, sizeof(ready));
	ready.says = "";
	deletes = false;
	memset(&entry, 0, sizeof(entry));
	api = ku_zk_sim;
	api.submit = submit_it;
	raw = lone_setup(&bench, WAY_MS);
	bench_create(&bench, raw, ROUND, "", KU_ZK_PERSISTENT);
	bench_create(&bench, raw, RIVAL, "", KU_ZK_EPHEMERAL);
	client = lone_connected(&bench, &api);
	ck_assert_int_eq(
		kustos_double_barrier_create(client, ROUND, 3, NULL, &member),
		KUSTOS_OK);
}

static void teardown(void)
{
	kustos_double_barrier_destroy(member);
	lone_run_ms(&bench, client, 1000);
	lone_teardown(&bench, client);
}

/* A peer has counted us, and is out again, with "ready", before we have read it. */
START_TEST(L18_a_peers_ready_that_goes_before_it_is_read_lets_in)
{
	ready.says = _i == 0 ? "" : "192.168.100.100";
	ready.comes = true;
	enter(KUSTOS_FOREVER);
	lone_run_ms(&bench, client, 1000);
	ck_assert(!ready.comes);
	check_entered();
}
END_TEST

/* One of ours has written it late, of a round that was complete before we came. */
START_TEST(L18_who_waits_when_a_late_ready_has_gone_asks_no_more)
{
	ready.says = "round 0x0000000000000001";
	ready.comes = true;
	enter(KUSTOS_FOREVER);
	lone_run_ms(&bench, client, 1000);
	ck_assert(!ready.comes && !ready.goes);
	ck_assert(!entry.ended);
	int before = ready.requests;
	lone_run_ms(&bench, client, 10000);
	ck_assert_int_eq(ready.requests, before);

	/* And hears of the next one. */
	bench_create(&bench, raw, SECOND, "", KU_ZK_EPHEMERAL);
	bench_create(&bench, raw, READY, "", KU_ZK_PERSISTENT);
	bench_delete(&bench, raw, READY, -1);
	lone_run_ms(&bench, client, 1000);
	check_entered();
}
END_TEST

/* A peer's, late: its round is over, and it leaves at once. */
START_TEST(S12_a_late_ready_that_goes_at_once_lets_nobody_in)
{
	bench_create(&bench, raw, ROUND "/notes", "", KU_ZK_PERSISTENT);
	ready.says = "";
	enter(KUSTOS_FOREVER);
	lone_run_ms(&bench, client, 1000);
	send(KU_ZK_CREATE);
	send(KU_ZK_DELETE);
	lone_run_ms(&bench, client, 1000);
	ck_assert(!entry.ended);

	/* The third comes, and so does what is for us, for as long. */
	bench_create(&bench, raw, SECOND, "", KU_ZK_EPHEMERAL);
	send(KU_ZK_CREATE);
	send(KU_ZK_DELETE);
	bench_delete(&bench, raw, SECOND, -1);
	lone_run_ms(&bench, client, 1000);
	check_entered();
}
END_TEST

START_TEST(L20_who_does_not_wait_ends_though_a_late_ready_has_gone)
{
	ready.says = "round 0x0000000000000001";
	ready.comes = true;
	enter(KUSTOS_NOW);
	lone_run_ms(&bench, client, 1000);
	ck_assert(!ready.comes && !ready.goes);
	ck_assert(entry.ended);
	ck_assert_int_eq(entry.err, KUSTOS_EBUSY);
}
END_TEST

/* The others come, and say that all are there. */
static void complete(void)
{
	ck_assert_int_eq(
		bench_create(&bench, raw, SECOND, "", KU_ZK_EPHEMERAL).rc,
		KU_ZK_OK);
	ck_assert_int_eq(
		bench_create(&bench, raw, READY, "", KU_ZK_PERSISTENT).rc,
		KU_ZK_OK);
}

static void check_in(void)
{
	check_entered();
	ck_assert_int_eq(kustos_double_barrier_inside(member), 1);
}

START_TEST(S09_a_member_whose_node_goes_before_it_is_watched_makes_another)
{
	deletes = true;
	enter(KUSTOS_FOREVER);
	lone_run_ms(&bench, client, 1000);
	ck_assert(!deletes);
	ck_assert(!entry.ended);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	complete();
	lone_run_ms(&bench, client, 1000);
	check_in();
}
END_TEST

START_TEST(S09_who_is_in_hears_that_its_node_was_deleted)
{
	char path[80];

	enter(KUSTOS_FOREVER);
	lone_run_ms(&bench, client, 1000);
	const struct bench_reply members = bench_read(&bench, raw,
		KU_ZK_CHILDREN, ROUND, false);
	ck_assert_int_eq(members.name_count, 2);
	int own = strcmp(members.names[0], RIVAL + strlen(ROUND "/")) == 0;
	snprintf(path, sizeof(path), ROUND "/%s", members.names[own]);
	complete();
	lone_run_ms(&bench, client, 1000);
	check_in();
	ck_assert_int_eq(bench_delete(&bench, raw, path, -1).rc, KU_ZK_OK);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(kustos_double_barrier_inside(member), 0);
	enum kustos_err err = kustos_double_barrier_leave_async(member,
		KUSTOS_FOREVER, NULL, left, NULL);
	lone_run_ms(&bench, client, 100);
	ck_assert_int_eq(departure.ended ? departure.err : err, KUSTOS_ELOST);
}
END_TEST

START_TEST(L07_a_member_that_may_watch_nothing_looks_again)
{
	client->footprint.watch_bytes += KU_FOOTPRINT_LIMIT;
	enter(KUSTOS_FOREVER);
	lone_run_ms(&bench, client, 3000);
	ck_assert(!entry.ended);
	complete();
	lone_run_ms(&bench, client, 3000);
	check_in();
	client->footprint.watch_bytes -= KU_FOOTPRINT_LIMIT;
}
END_TEST

/* The server has no time for the look that follows upon "ready". */
START_TEST(L08_a_look_that_is_put_off_is_made_in_a_while)
{
	enter(KUSTOS_FOREVER);
	lone_run_ms(&bench, client, 1000);
	complete();
	int before = ready.requests;
	model_set_throttle(bench.model, 1000000);
	lone_run_ms(&bench, client, 300);
	ck_assert_int_gt(ready.requests, before);
	ck_assert(!entry.ended);
	model_set_throttle(bench.model, 0);
	lone_run_ms(&bench, client, 500);
	check_in();
}
END_TEST

static void tell_of_a_newer_round(void)
{
	send(KU_ZK_SET);
}

/* Who is late with it goes by an old listing: members of the newer round, who have not
   read it yet, would wait for another, and the others for them. */
START_TEST(L18_a_newer_round_is_not_written_over_by_an_older_one)
{
	char data[64];

	bench_create(&bench, raw, SECOND, "", KU_ZK_EPHEMERAL);
	bench_create(&bench, raw, READY, "round 0x0000000000000001",
		KU_ZK_PERSISTENT);
	ready.says = "newer";
	rival.kind = KU_ZK_SET;
	rival.before = tell_of_a_newer_round;
	enter(KUSTOS_FOREVER);
	lone_run_ms(&bench, client, 1000);
	ck_assert_ptr_null(rival.before);
	check_entered();
	ck_assert(model_data(bench.model, READY, data, sizeof(data)));
	ck_assert_str_eq(data, "newer");
}
END_TEST

static void make_it_anew(void)
{
	send(KU_ZK_DELETE);
	send(KU_ZK_CREATE);
}

/* It was of an old round as it was seen; the one that is there now has the same
   version. */
START_TEST(L18_a_ready_that_was_made_anew_is_not_tidied_away)
{
	bench_delete(&bench, raw, RIVAL, -1);
	bench_create(&bench, raw, READY, "round 0x0000000000000001",
		KU_ZK_PERSISTENT);
	ready.says = "newer";
	rival.kind = KU_ZK_EXISTS;
	rival.behind = make_it_anew;
	enter(KUSTOS_FOREVER);
	lone_run_ms(&bench, client, 1000);
	ck_assert_ptr_null(rival.behind);
	ck_assert(model_stat(bench.model, READY, NULL));
	check_entered();
}
END_TEST

static void come_late(void)
{
	const struct ku_zk_request request = { .kind = KU_ZK_CREATE,
		.path = THIRD,
		.len = -1,
		.mode = KU_ZK_EPHEMERAL };

	lone_send(&bench, raw, &request);
}

/* One came after the round was complete, and hears that "ready" is made: if it is
   paused, and finds it gone, it takes it for its own.  Who came after that has not
   heard of it, and it goes. */
START_TEST(L18_a_ready_stays_for_who_came_before_it_and_after_the_round)
{
	bool before = _i == 0;

	bench_create(&bench, raw, SECOND, "", KU_ZK_EPHEMERAL);
	rival.kind = KU_ZK_CREATE;
	if (before)
		rival.before = come_late;
	else
		rival.behind = come_late;
	enter(KUSTOS_FOREVER);
	lone_run_ms(&bench, client, 1000);
	check_entered();
	bench_delete(&bench, raw, RIVAL, -1);
	bench_delete(&bench, raw, SECOND, -1);
	ck_assert_int_eq(kustos_double_barrier_leave_async(member,
				 KUSTOS_FOREVER, NULL, left, NULL),
		KUSTOS_OK);
	lone_run_ms(&bench, client, 1000);
	ck_assert(departure.ended);
	ck_assert_int_eq(departure.err, KUSTOS_OK);
	ck_assert_int_eq(model_stat(bench.model, READY, NULL), before);
}
END_TEST

/* What it has made is not heard of before the round has met, and gone. */
START_TEST(L18_who_missed_its_round_before_it_looked_comes_again)
{
	bool met = _i == 0;
	int alone = 0;

	enter(KUSTOS_FOREVER);
	lone_run_ms(&bench, client, WAY_MS + WAY_MS / 2);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	model_cut(bench.model, LONE_MACHINE, false);
	if (met) {
		complete();
		bench_delete(&bench, raw, READY, -1);
		bench_delete(&bench, raw, SECOND, -1);
	}
	for (int i = 0; i < 3000; i++) {
		lone_run_ms(&bench, client, 100);
		alone += model_child_count(bench.model, ROUND) == 1;
	}
	ck_assert_int_eq(alone > 0, met);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	complete();
	lone_run_ms(&bench, client, 1000);
	check_in();
}
END_TEST

int main(void)
{
	Suite *s = suite_create(
		"a member of a double barrier in the simulator");
	TCase *t = tcase_create("in one moment");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t,
		L18_a_peers_ready_that_goes_before_it_is_read_lets_in, 0, 2);
	tcase_add_test(t,
		L18_who_waits_when_a_late_ready_has_gone_asks_no_more);
	tcase_add_test(t, S12_a_late_ready_that_goes_at_once_lets_nobody_in);
	tcase_add_test(t,
		L20_who_does_not_wait_ends_though_a_late_ready_has_gone);
	tcase_add_test(t,
		S09_a_member_whose_node_goes_before_it_is_watched_makes_another);
	tcase_add_test(t, S09_who_is_in_hears_that_its_node_was_deleted);
	tcase_add_test(t, L07_a_member_that_may_watch_nothing_looks_again);
	tcase_add_test(t, L08_a_look_that_is_put_off_is_made_in_a_while);
	tcase_add_test(t,
		L18_a_newer_round_is_not_written_over_by_an_older_one);
	tcase_add_test(t, L18_a_ready_that_was_made_anew_is_not_tidied_away);
	tcase_add_loop_test(t,
		L18_a_ready_stays_for_who_came_before_it_and_after_the_round, 0,
		2);
	tcase_add_loop_test(t,
		L18_who_missed_its_round_before_it_looked_comes_again, 0, 2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
