/*
 * test_muster.c - how a member of a double barrier handles a "ready" that comes
 * and goes while it looks.
 */
#include "muster_bed.h"
#include "muster_rule.h"

/* How long each message between a client and its server takes. */
#define WAY_MS 10

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */

/* "ready" is created after the member's node and before the member looks, and
   is deleted before the member reads it. */
static struct {
	const char *says;
	bool comes, goes;
	int requests;
} ready;

/* The member's node is deleted just before the member watches it. */
static bool deletes;

/* Not all members may be read, so the check that all are there is refused. */
static bool forbidden;

/* "ready" may not be read. */
static bool unreadable;

/* What the rival does just before, or just behind, the member's first request
   of this kind to "ready". */
static struct {
	enum ku_zk_kind kind;
	void (*before)(void);
	void (*behind)(void);
} rival;

static void send_ready(enum ku_zk_kind kind)
{
	send(kind, READY, ready.says);
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
	const char *path = request->kind == KU_ZK_MULTI ? READY : request->path;
	bool ours = strncmp(path, ROUND, strlen(ROUND)) == 0;
	bool now = request->kind == rival.kind && strcmp(path, READY) == 0;

	if (forbidden && request->kind == KU_ZK_MULTI)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);
	if (unreadable && request->kind == KU_ZK_GET &&
		strcmp(path, READY) == 0)
		return lone_refuse(zk, KU_ZK_NOAUTH, done, arg);

	if (now)
		once(&rival.before);
	ready.requests += ours;
	if (ready.goes && ours && request->kind == KU_ZK_GET &&
		strcmp(path, READY) == 0) {
		ready.goes = false;
		send_ready(KU_ZK_DELETE);
	}
	if (deletes && ours && request->kind == KU_ZK_GET && request->watch) {
		deletes = false;
		send(KU_ZK_DELETE, request->path, "");
	}
	int rc = ku_zk_sim.submit(zk, request, done, arg);
	if (ready.comes && ours && request->kind == KU_ZK_CREATE) {
		ready.comes = false;
		ready.goes = true;
		send_ready(KU_ZK_CREATE);
	}
	if (now)
		once(&rival.behind);
	return rc;
}

static void setup(void)
{
	memset(&rival, 0, sizeof(rival));
	memset(&ready, 0, sizeof(ready));
	ready.says = "";
	deletes = forbidden = unreadable = false;
	api = ku_zk_sim;
	api.submit = submit_it;
	open_member(&api, WAY_MS);
}

/* A peer (a member of another library) has counted us, writes "ready", and is
   out again with it before we have read it. */
START_TEST(L18_a_peers_ready_that_goes_before_it_is_read_lets_in)
{
	ready.says = _i == 0 ? "" : "192.168.100.100";
	ready.comes = true;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert(!ready.comes);
	check_in();
}
END_TEST

static void second_leaves(void)
{
	send(KU_ZK_DELETE, SECOND, "");
}

/* Check that the member's node goes and comes again within so many seconds. */
static void check_comes_again(int seconds)
{
	int alone = 0;

	for (int i = 0; i < seconds * 10; i++) {
		run_ms(100);
		alone += model_child_count(bench.model, ROUND) == 1;
	}
	ck_assert_int_gt(alone, 0);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
}

/* A member of ours has written "ready", and a member of kazoo's, which leaves,
   deletes it.  A member that has not seen all comes again, as those that are in
   may wait for it. */
START_TEST(L18_who_has_seen_all_is_in_though_ready_goes_before_it_is_read)
{
	bool all = _i == 0;

	if (all)
		make(SECOND, KU_ZK_EPHEMERAL);
	ready.says = "round 0x0000000000000001";
	ready.comes = true;
	rival.kind = KU_ZK_GET;
	rival.before = second_leaves;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert(!ready.comes && !ready.goes);
	ck_assert_ptr_null(rival.before);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	if (all) {
		check_in();
		return;
	}
	ck_assert_int_eq(entry, -1);
	check_comes_again(150);
	let_in();
}
END_TEST

/* A member of ours has written "ready" late, for a round that was complete
   before we came. */
START_TEST(L18_who_waits_when_a_late_ready_has_gone_asks_no_more)
{
	ready.says = "round 0x0000000000000001";
	ready.comes = true;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert(!ready.comes && !ready.goes);
	ck_assert_int_eq(entry, -1);
	int before = ready.requests;
	run_ms(10000);
	ck_assert_int_eq(ready.requests, before);

	/* It learns of the next "ready". */
	make(SECOND, KU_ZK_EPHEMERAL);
	make(READY, KU_ZK_PERSISTENT);
	drop(READY);
	run_ms(1000);
	check_in();
}
END_TEST

/* A peer writes "ready" late: its round is over, and it leaves at once. */
START_TEST(S12_a_late_ready_that_goes_at_once_lets_nobody_in)
{
	make(ROUND "/notes", KU_ZK_PERSISTENT);
	ready.says = "";
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	send_ready(KU_ZK_CREATE);
	send_ready(KU_ZK_DELETE);
	run_ms(1000);
	ck_assert_int_eq(entry, -1);

	/* The third member comes, and "ready" for our round comes and goes as
	   quickly. */
	make(SECOND, KU_ZK_EPHEMERAL);
	send_ready(KU_ZK_CREATE);
	send_ready(KU_ZK_DELETE);
	drop(SECOND);
	run_ms(1000);
	check_in();
}
END_TEST

START_TEST(L20_who_does_not_wait_ends_though_a_late_ready_has_gone)
{
	ready.says = "round 0x0000000000000001";
	ready.comes = true;
	enter(KUSTOS_NOW);
	run_ms(1000);
	ck_assert(!ready.comes && !ready.goes);
	ck_assert_int_eq(entry, KUSTOS_EBUSY);
}
END_TEST

START_TEST(S09_a_member_whose_node_goes_before_it_is_watched_makes_another)
{
	deletes = true;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert(!deletes);
	ck_assert_int_eq(entry, -1);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	let_in();
}
END_TEST

START_TEST(S09_who_is_in_hears_that_its_node_was_deleted)
{
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	let_in();
	drop(own_path());
	run_ms(100);
	check_lost();
}
END_TEST

START_TEST(L07_a_member_that_may_watch_nothing_looks_again)
{
	client->footprint.watch_bytes += KU_FOOTPRINT_LIMIT;
	enter(KUSTOS_FOREVER);
	run_ms(3000);
	ck_assert_int_eq(entry, -1);
	complete();
	run_ms(3000);
	check_in();
	client->footprint.watch_bytes -= KU_FOOTPRINT_LIMIT;
}
END_TEST

/* The server throttles the look that follows "ready". */
START_TEST(L08_a_look_that_is_put_off_is_made_in_a_while)
{
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	complete();
	int before = ready.requests;
	model_set_throttle(bench.model, 1000000);
	run_ms(300);
	ck_assert_int_gt(ready.requests, before);
	ck_assert_int_eq(entry, -1);
	model_set_throttle(bench.model, 0);
	run_ms(500);
	check_in();
}
END_TEST

static void tell_of_a_newer_round(void)
{
	send_ready(KU_ZK_SET);
}

/* A member that writes "ready" late uses an old listing.  If it replaced the
   newer text, members of the newer round that have not read that yet would wait
   for another, and the others for them. */
START_TEST(L18_a_newer_round_is_not_written_over_by_an_older_one)
{
	char data[64];

	make(SECOND, KU_ZK_EPHEMERAL);
	bench_create(&bench, raw, READY, "round 0x0000000000000001",
		KU_ZK_PERSISTENT);
	ready.says = "newer";
	forbidden = _i == 1;
	rival.kind = forbidden ? KU_ZK_SET : KU_ZK_MULTI;
	rival.before = tell_of_a_newer_round;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_ptr_null(rival.before);
	check_in();
	ck_assert(model_data(bench.model, READY, data, sizeof(data)));
	ck_assert_str_eq(data, "newer");
}
END_TEST

static void make_it_anew(void)
{
	send_ready(KU_ZK_DELETE);
	send_ready(KU_ZK_CREATE);
}

/* "ready" was of an old round when the member saw it.  Now there is a new one,
   which has the same version. */
START_TEST(L18_a_ready_that_was_made_anew_is_not_tidied_away)
{
	drop(RIVAL);
	bench_create(&bench, raw, READY, "round 0x0000000000000001",
		KU_ZK_PERSISTENT);
	ready.says = "newer";
	rival.kind = KU_ZK_EXISTS;
	rival.behind = make_it_anew;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_ptr_null(rival.behind);
	ck_assert(model_stat(bench.model, READY, NULL));
	check_in();
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

/* A member that came after the round was complete gets the event of "ready".
   If it is paused then and finds "ready" gone, it takes it for its own: so
   "ready" stays.  A member that came after "ready" has no such event, so
   "ready" is deleted. */
START_TEST(L18_a_ready_stays_for_who_came_before_it_and_after_the_round)
{
	bool before = _i == 0;

	make(SECOND, KU_ZK_EPHEMERAL);
	rival.kind = KU_ZK_MULTI;
	if (before)
		rival.before = come_late;
	else
		rival.behind = come_late;
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	check_in();
	drop(RIVAL);
	drop(SECOND);
	leave(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(departure, KUSTOS_OK);
	ck_assert_int_eq(model_stat(bench.model, READY, NULL), before);
}
END_TEST

/* The member learns that its node was made only after the round has met and
   parted. */
START_TEST(L18_who_missed_its_round_before_it_looked_comes_again)
{
	bool met = _i == 0;
	int alone = 0;

	enter(KUSTOS_FOREVER);
	run_ms(WAY_MS + WAY_MS / 2);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	model_cut(bench.model, LONE_MACHINE, false);
	if (met)
		meet_and_part();
	for (int i = 0; i < 3000; i++) {
		run_ms(100);
		alone += model_child_count(bench.model, ROUND) == 1;
	}
	ck_assert_int_eq(alone > 0, met);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	let_in();
}
END_TEST

/* It can be in only by what "ready" says, as there are fewer members by
   then. */
START_TEST(L18_who_could_not_read_ready_reads_that_of_the_next_round)
{
	char text[KU_MUSTER_TEXT_SIZE];
	struct kustos_stat own;

	enter(KUSTOS_FOREVER);
	run_ms(100);
	let_in();
	unreadable = true;
	leave(KUSTOS_FOREVER);
	run_ms(100);
	drop(SECOND);
	drop(RIVAL);
	run_ms(1000);
	ck_assert_int_eq(departure, KUSTOS_OK);
	unreadable = false;
	if (model_stat(bench.model, READY, NULL))
		drop(READY);
	make(RIVAL, KU_ZK_EPHEMERAL);
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert(model_stat(bench.model, own_path(), &own));
	make(SECOND, KU_ZK_EPHEMERAL);
	ku_muster_print(text, own.czxid);
	send(KU_ZK_CREATE, READY, text);
	send(KU_ZK_DELETE, SECOND, "");
	run_ms(1000);
	check_in();
}
END_TEST

/* "ready" is a peer's, of a round that goes on: the member waits for those that
   came before it was made. */
START_TEST(L18_who_may_not_read_a_peers_ready_goes_by_when_it_was_made)
{
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	let_in();
	unreadable = true;
	drop(READY);
	drop(SECOND);
	make(THIRD, KU_ZK_EPHEMERAL);
	make(READY, KU_ZK_PERSISTENT);
	drop(RIVAL);
	leave(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(departure, -1);
	drop(THIRD);
	run_ms(1000);
	ck_assert_int_eq(departure, KUSTOS_OK);
}
END_TEST

int main(void)
{
	Suite *s = suite_create(
		"a member of a double barrier in the simulator");
	TCase *t = tcase_create("in one moment");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, close_unwatched);
	tcase_add_loop_test(t,
		L18_a_peers_ready_that_goes_before_it_is_read_lets_in, 0, 2);
	tcase_add_loop_test(t,
		L18_who_has_seen_all_is_in_though_ready_goes_before_it_is_read,
		0, 2);
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
	tcase_add_loop_test(t,
		L18_a_newer_round_is_not_written_over_by_an_older_one, 0, 2);
	tcase_add_test(t, L18_a_ready_that_was_made_anew_is_not_tidied_away);
	tcase_add_loop_test(t,
		L18_a_ready_stays_for_who_came_before_it_and_after_the_round, 0,
		2);
	tcase_add_loop_test(t,
		L18_who_missed_its_round_before_it_looked_comes_again, 0, 2);
	tcase_add_test(t,
		L18_who_could_not_read_ready_reads_that_of_the_next_round);
	tcase_add_test(t,
		L18_who_may_not_read_a_peers_ready_goes_by_when_it_was_made);
	suite_add_tcase(s, t);
	return unit_main(s);
}
