/*
 * test_custody_waits.c - a request for an item waits for room on the wire, or
 * was just answered, when the connection or the lease is lost, or nobody wants
 * the item any more.
 */
#include "custody_bed.h"

#include <kustos/node.h>

static bool unheard; /* the answer to the next transaction is lost */
static int losses;   /* so many of the next transactions are lost */
static int reads;    /* number of reads of the item */

/* The next read of the item: if "wanted", its answer comes when the wire has
   room for one request only. */
static struct {
	bool wanted;
	ku_zk_done_fn *done;
	void *arg;
} reading;

/* From now on only one request may be in flight, and this one takes the
   room. */
static void fill(void)
{
	client->env.in_flight = 1;
	ck_assert_int_eq(kustos_exists_async(client, "/", KUSTOS_FOREVER, NULL,
				 lone_ignore, NULL),
		KUSTOS_OK);
}

static void was_read(void *arg, const struct ku_zk_reply *reply)
{
	(void)arg;
	ku_unlock(client); /* an answer comes when it is locked */
	fill();
	ku_lock(client);
	reading.done(reading.arg, reply);
}

static int submit(struct ku_zk *zk, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg)
{
	if (unheard && request->kind == KU_ZK_MULTI) {
		unheard = false;
		return lone_lose(zk, request, done, arg);
	}
	if (request->kind == KU_ZK_MULTI && losses-- > 0)
		return lone_refuse(zk, KU_ZK_CONNECTIONLOSS, done, arg);
	bool reads_it = request->kind == KU_ZK_GET &&
		strcmp(request->path, ITEM) == 0;
	reads += reads_it;
	if (!reading.wanted || !reads_it)
		return ku_zk_sim.submit(zk, request, done, arg);
	reading.wanted = false;
	reading.done = done;
	reading.arg = arg;
	return ku_zk_sim.submit(zk, request, was_read, NULL);
}

static void setup(void)
{
	memset(&reading, 0, sizeof(reading));
	unheard = false;
	losses = reads = 0;
	make_item(5);
	open_client(submit);
	open_desk(NULL, 0);
}

static void have(void)
{
	ask();
	run_ms(1000);
	ck_assert_int_eq(asked, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 1);
}

static void ask_until_claim_waits(void)
{
	reading.wanted = true;
	ask();
	for (int ms = 0; client->footprint.asked_bytes == 0 && ms < 1000; ms++)
		run_ms(1);
	ck_assert_uint_gt(client->footprint.asked_bytes, 0);
	ck_assert_uint_eq(client->wire.waiting, 1);
}

START_TEST(P05_a_claim_that_was_not_sent_takes_no_room_among_paths)
{
	ask_until_claim_waits();
	close_desk();
	ck_assert_uint_eq(client->footprint.asked_bytes, 0);
	run_ms(1000);
	ck_assert_int_eq(asked, KUSTOS_ECLOSED);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}
END_TEST

/* The loss comes first, without a disconnect before it. */
START_TEST(S16_a_claim_that_waits_as_the_lease_ends_is_made_anew)
{
	ask_until_claim_waits();
	ku_session_set_state(client, KUSTOS_STATE_LOST);
	ck_assert_uint_eq(client->footprint.asked_bytes, 0);
	run_ms(LONE_TIMEOUT_MS);
	ck_assert_int_eq(asked, KUSTOS_OK);
}
END_TEST

static void ack_while_full(void)
{
	have();
	fill();
	ck_assert_int_eq(ack(), KUSTOS_OK);
	ck_assert_uint_eq(client->wire.waiting, 1);
}

static void check_acked(void)
{
	ck_assert_int_eq(end, KUSTOS_OK);
	ck_assert_int_eq(model_child_count(bench.model, QUEUE), 0);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}

/* The session goes on after the reconnect. */
START_TEST(S16_an_ack_that_waits_as_the_connection_is_lost_is_done)
{
	ack_while_full();
	model_cut(bench.model, LONE_MACHINE, true);
	run_ms(LONE_TIMEOUT_MS);
	ck_assert_uint_eq(client->counters.disconnects, 1);
	check_acked();
}
END_TEST

/* The ack goes on although its desk is destroyed. */
START_TEST(S16_an_ack_that_waits_as_nobody_asks_for_more_is_done)
{
	ack_while_full();
	close_desk();
	run_ms(1000);
	check_acked();
}
END_TEST

/* The ack is refused, as the item is gone; or it is lost on its way, and the
   marker is still there. */
START_TEST(S16_an_ack_of_what_another_has_deleted_leaves_no_marker)
{
	have();
	ck_assert_int_eq(bench_delete(&bench, raw, ITEM, -1).rc, KU_ZK_OK);
	losses = _i;
	ck_assert_int_eq(ack(), KUSTOS_OK);
	run_ms(1000);
	ck_assert_int_eq(end, KUSTOS_ELOST);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}
END_TEST

static void give_up(void)
{
	close_desk();
	run_ms(1000);
	ck_assert_int_eq(asked, KUSTOS_ECLOSED);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
}

/* The caller gives up before the client has asked what became of the claim. */
START_TEST(L05_a_claim_that_is_not_known_leaves_no_marker)
{
	unheard = true;
	ask();
	for (int ms = 0; unheard && ms < 1000; ms++)
		run_ms(1);
	run_ms(20);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 1);
	give_up();
}
END_TEST

/* The claim was lost twice, and so the item is read again after a pause. */
START_TEST(P05_who_gives_up_while_an_item_is_read_again_is_not_told_of_it)
{
	losses = 2;
	ask();
	for (int ms = 0; reads < 3 && ms < 2000; ms++)
		run_ms(1);
	ck_assert_int_eq(reads, 3);
	give_up();
}
END_TEST

/* After the loss another may claim the item, although the session goes on. */
START_TEST(L17_what_was_had_as_the_lease_ended_is_left)
{
	int64_t id = client->session.id;

	have();
	ku_session_set_state(client, KUSTOS_STATE_LOST);
	run_ms(LONE_TIMEOUT_MS);
	ck_assert(client->session.id == id);
	ck_assert_int_eq(client->session.state, KUSTOS_STATE_CONNECTED);
	ck_assert_int_eq(model_child_count(bench.model, MARKS), 0);
	ck_assert(model_stat(bench.model, ITEM, NULL));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("what waits of items in custody");
	TCase *t = tcase_create("lost");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, close_all);
	tcase_add_test(t,
		P05_a_claim_that_was_not_sent_takes_no_room_among_paths);
	tcase_add_test(t,
		S16_a_claim_that_waits_as_the_lease_ends_is_made_anew);
	tcase_add_test(t,
		S16_an_ack_that_waits_as_the_connection_is_lost_is_done);
	tcase_add_test(t,
		S16_an_ack_that_waits_as_nobody_asks_for_more_is_done);
	tcase_add_loop_test(t,
		S16_an_ack_of_what_another_has_deleted_leaves_no_marker, 0, 2);
	tcase_add_test(t, L05_a_claim_that_is_not_known_leaves_no_marker);
	tcase_add_test(t,
		P05_who_gives_up_while_an_item_is_read_again_is_not_told_of_it);
	tcase_add_test(t, L17_what_was_had_as_the_lease_ended_is_left);
	suite_add_tcase(s, t);
	return unit_main(s);
}
