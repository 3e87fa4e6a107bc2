/*
 * test_muster_guard.c - the node of a member of a double barrier is deleted, or
 * changed, just as the member looks at it; or that look is throttled.
 */
#include "muster_bed.h"

/* How long each message between a client and its server takes. */
#define WAY_MS 10

static struct ku_zk_api api; /* ku_zk_sim, with a layer of ours on top */

/* Reads of the member's own node. */
static struct {
	int reads;
	int put_off;		 /* so many of them are throttled */
	enum ku_zk_kind happens; /* is done just before the next read */
	bool wanted;
} own;

static bool is_own(const struct ku_zk_request *request)
{
	return request->kind == KU_ZK_GET &&
		strncmp(request->path, ROUND "/", strlen(ROUND "/")) == 0 &&
		strcmp(request->path, READY) != 0;
}

static int submit_it(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (!is_own(request))
		return ku_zk_sim.submit(zk, request, done, arg);
	own.reads++;
	if (own.wanted)
		send(own.happens, request->path, "");
	own.wanted = false;
	if (own.put_off > 0) {
		own.put_off--;
		return lone_refuse(zk, KU_ZK_THROTTLEDOP, done, arg);
	}
	return ku_zk_sim.submit(zk, request, done, arg);
}

static void setup(void)
{
	memset(&own, 0, sizeof(own));
	api = ku_zk_sim;
	api.submit = submit_it;
	open_member(&api, WAY_MS);
}

static void wait_for_the_others(void)
{
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	ck_assert_int_eq(entry, -1);
}

/* The member completes the round, and goes in without a look at its node. */
static void come_last(void)
{
	make(SECOND, KU_ZK_EPHEMERAL);
	enter(KUSTOS_FOREVER);
	run_ms(1000);
	check_in();
	ck_assert_int_eq(own.reads, 0);
}

/* Delete the member's node, and check that the member learns it at once. */
static void check_hears(void)
{
	drop(own_path());
	run_ms(100);
	check_lost();
}

START_TEST(S09_a_node_whose_watch_was_put_off_is_watched_in_a_moment)
{
	own.put_off = 1;
	wait_for_the_others();
	ck_assert_int_eq(own.reads, 2);
	drop(own_path());
	run_ms(1000);
	ck_assert_int_eq(model_child_count(bench.model, ROUND), 2);
	let_in();
}
END_TEST

START_TEST(a_node_that_is_watched_is_not_read_again_while_it_waits)
{
	wait_for_the_others();
	ck_assert_int_eq(own.reads, 1);
	make(ROUND "/notes", KU_ZK_PERSISTENT);
	run_ms(300000);
	ck_assert_int_eq(own.reads, 1);
	let_in();
}
END_TEST

/* The watch of an earlier look must stay. */
START_TEST(S09_who_is_in_hears_though_a_later_look_was_put_off)
{
	wait_for_the_others();
	let_in();
	own.put_off = 1;
	run_ms(140000);
	ck_assert_int_eq(own.put_off, 0);
	check_hears();
}
END_TEST

/* Both the event and the answer behind it say that the node is gone. */
START_TEST(S09_a_node_that_goes_just_before_it_is_looked_at_is_gone)
{
	wait_for_the_others();
	let_in();
	own.happens = KU_ZK_DELETE;
	own.wanted = true;
	run_ms(140000);
	ck_assert(!own.wanted);
	int reads = own.reads;
	run_ms(140000);
	ck_assert_int_eq(own.reads, reads);
	check_lost();
}
END_TEST

/* The change removes the watch that the look would rely on. */
START_TEST(S09_a_node_that_changes_just_before_it_is_looked_at_is_watched)
{
	wait_for_the_others();
	let_in();
	own.happens = KU_ZK_SET;
	own.wanted = true;
	run_ms(140000);
	ck_assert(!own.wanted);
	ck_assert_int_eq(kustos_double_barrier_inside(member), 1);
	check_hears();
}
END_TEST

/* It looks no more often than otherwise. */
START_TEST(L28_who_is_in_and_is_put_off_asks_again_in_a_while)
{
	come_last();
	own.put_off = 1000;
	run_ms(140000);
	ck_assert_int_ge(own.reads, 1);
	ck_assert_int_le(own.reads, 2);
	own.put_off = 0;
	run_ms(140000);
	check_hears();
}
END_TEST

START_TEST(S09_who_is_in_and_may_watch_nothing_looks_in_a_while)
{
	come_last();
	client->footprint.watch_bytes += KU_FOOTPRINT_LIMIT;
	run_ms(140000);
	ck_assert_int_ge(own.reads, 1);
	ck_assert_int_le(own.reads, 2);
	ck_assert_int_eq(kustos_double_barrier_inside(member), 1);
	drop(own_path());
	run_ms(140000);
	check_lost();
	client->footprint.watch_bytes -= KU_FOOTPRINT_LIMIT;
}
END_TEST

START_TEST(L28_who_waits_and_may_watch_nothing_does_not_read_its_node)
{
	client->footprint.watch_bytes += KU_FOOTPRINT_LIMIT;
	wait_for_the_others();
	run_ms(10000);
	ck_assert_int_eq(own.reads, 0);
	client->footprint.watch_bytes -= KU_FOOTPRINT_LIMIT;
}
END_TEST

/* The server has forgotten its watches without telling anybody. */
START_TEST(P05_of_a_node_that_is_found_to_be_gone_nothing_is_kept)
{
	wait_for_the_others();
	let_in();
	model_set_odd_faults(bench.model, 1000000, 0);
	model_cut(bench.model, LONE_MACHINE, false);
	run_ms(1000);
	model_set_odd_faults(bench.model, 0, 0);
	drop(own_path());
	run_ms(140000);
	check_lost();
	ck_assert_ptr_null(client->watches.entries);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("nodes of members of double barriers");
	TCase *t = tcase_create("looked at");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, close_unwatched);
	tcase_add_test(t,
		S09_a_node_whose_watch_was_put_off_is_watched_in_a_moment);
	tcase_add_test(t,
		a_node_that_is_watched_is_not_read_again_while_it_waits);
	tcase_add_test(t, S09_who_is_in_hears_though_a_later_look_was_put_off);
	tcase_add_test(t,
		S09_a_node_that_goes_just_before_it_is_looked_at_is_gone);
	tcase_add_test(t,
		S09_a_node_that_changes_just_before_it_is_looked_at_is_watched);
	tcase_add_test(t, L28_who_is_in_and_is_put_off_asks_again_in_a_while);
	tcase_add_test(t, S09_who_is_in_and_may_watch_nothing_looks_in_a_while);
	tcase_add_test(t,
		L28_who_waits_and_may_watch_nothing_does_not_read_its_node);
	tcase_add_test(t,
		P05_of_a_node_that_is_found_to_be_gone_nothing_is_kept);
	suite_add_tcase(s, t);
	return unit_main(s);
}
