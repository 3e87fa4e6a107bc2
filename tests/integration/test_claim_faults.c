/*
 * test_claim_faults.c - claims while answers, connections, sessions, markers
 * and consumers are lost: no item is lost, and nobody acknowledges an item that
 * another consumer has by now.  The proxy loses frames, processes are killed or
 * stopped, and sessions are ended from outside.
 */
#include "child.h"
#include "claim_fixture.h"
#include "rawkill.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 12000

static void set_up(void)
{
	claim_pair_open(T_MS);
}

static void settle(void)
{
	test_eventually(claim_marks() == 0, 5000);
	ck_assert_int_eq(queue_count(), 0);
}

static struct kustos_claim *put_and_claim(void)
{
	queue_put(queue_others, "a");
	return claim_expect(claims, "a");
}

/* The item was not acknowledged, and another consumer has it now; end that
   claim. */
static void end_theirs(struct kustos_claim *theirs)
{
	ck_assert_int_eq(queue_count(), 1);
	ck_assert_int_eq(claim_marks(), 1);
	claim_ack(theirs, KUSTOS_OK);
	settle();
}

static const struct {
	int op, n;
} frames[] = { { ZK_OP_CHILDREN2, 1 }, { ZK_OP_CHILDREN2, 2 },
	{ ZK_OP_CHILDREN2, 3 }, { ZK_OP_EXISTS, 1 }, { ZK_OP_GET, 1 },
	{ ZK_OP_GET, 2 }, { ZK_OP_MULTI, 1 }, { ZK_OP_MULTI, 2 },
	{ ZK_OP_MULTI, 3 }, { ZK_OP_CREATE2, 1 } };
#define FRAMES ((int)(sizeof(frames) / sizeof(frames[0])))

static void arm(int fault)
{
	proxy_arm(proxy,
		fault >= FRAMES ? PROXY_LOSE_REPLY : PROXY_LOSE_REQUEST,
		frames[fault % FRAMES].op, frames[fault % FRAMES].n);
}

/* At any frame of the first cycle, in which the folder of the markers is
   created. */
START_TEST(S16_a_fault_at_any_frame_loses_nothing)
{
	struct kustos_claim *claim;

	queue_put(queue_others, "a");
	arm(_i);
	claim = claim_expect(claims, "a");
	ck_assert_int_eq(kustos_claim_deliveries(claim), 1);
	ck_assert_int_eq(claim_marks(), 1);
	check_err(claim_try(claims_others), KUSTOS_EEMPTY);
	claim_ack(claim, KUSTOS_OK);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	ck_assert_int_eq(claim_marks(), 0);
	settle();
}
END_TEST

/* The same for a requeue: the item must not exist twice. */
START_TEST(S16_a_fault_while_it_is_put_back_makes_no_second_item)
{
	struct kustos_claim *claim = put_and_claim();

	proxy_arm(proxy, _i == 0 ? PROXY_LOSE_REQUEST : PROXY_LOSE_REPLY,
		ZK_OP_MULTI, 1);
	check_err(kustos_claim_requeue(claim, SOON, NULL), KUSTOS_OK);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	ck_assert_int_eq(queue_count(), 1);
	claim_ack(claim_expect(claims, "a"), KUSTOS_OK);
	settle();
}
END_TEST

static void give_back(void *arg, struct kustos_hold *hold)
{
	struct kustos_claim **claim = arg;

	ck_assert_ptr_eq(kustos_claim_hold(*claim), hold);
	kustos_claim_release(*claim);
	*claim = NULL;
}

START_TEST(a_close_is_a_loss_of_what_is_claimed_and_is_told)
{
	struct kustos_client *third = client_open(fixture_address(), T_MS);
	struct kustos_claims *thirds = claims_new(third, QUEUE, NULL);
	struct kustos_claim *claim;

	queue_put(queue_others, "a");
	claim = claim_expect(thirds, "a");
	check_err(kustos_hold_on_lost(kustos_claim_hold(claim), give_back,
			  &claim),
		KUSTOS_OK);
	kustos_claims_destroy(thirds);
	client_close(third);
	ck_assert_ptr_null(claim);
	claim = claim_expect(claims, "a");
	ck_assert_int_eq(kustos_claim_deliveries(claim), 2);
	claim_ack(claim, KUSTOS_OK);
	settle();
}
END_TEST

static void was_lost(void *arg, struct kustos_hold *hold)
{
	(void)hold;
	__atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

START_TEST(S16_who_has_lost_its_session_acknowledges_nothing)
{
	struct kustos_claim *ours = put_and_claim(), *theirs;
	int lost = 0;

	check_err(kustos_hold_on_lost(kustos_claim_hold(ours), was_lost, &lost),
		KUSTOS_OK);
	client_kill_session(client);
	theirs = claim_expect(claims_others, "a");
	ck_assert_int_eq(kustos_claim_deliveries(theirs), 2);
	test_eventually(__atomic_load_n(&lost, __ATOMIC_SEQ_CST) == 1, 5000);
	ck_assert_int_eq(kustos_hold_state(kustos_claim_hold(ours)),
		KUSTOS_HOLD_LOST);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	claim_ack(ours, KUSTOS_ELOST);
	end_theirs(theirs);
}
END_TEST

/* The ack waits for a connection, its caller perhaps not as long. */
START_TEST(S16_an_ack_is_not_sent_in_the_next_session)
{
	struct kustos_claim *ours, *theirs;
	struct claimed end = { 0 };
	int64_t id = client_session_id(client);

	ours = put_and_claim();
	proxy_set_mode(proxy, PROXY_REFUSE);
	client_wait(client, KUSTOS_STATE_SUSPENDED, 2000);
	claim_ack_later(ours, _i == 0 ? KUSTOS_FOREVER : kustos_after_ms(1),
		&end);
	ck_assert_int_eq(raw_kill_session(fixture_address(), id), 0);
	theirs = claim_expect(claims_others, "a");
	proxy_set_mode(proxy, PROXY_PASS);
	check_err(claimed_wait(&end),
		_i == 0 ? KUSTOS_ELOST : KUSTOS_ETIMEDOUT);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	pair_flush();
	end_theirs(theirs);
}
END_TEST

/* The answer to an ack is lost, and then so is the session. */
START_TEST(S16_what_became_of_an_ack_is_told_as_far_as_it_is_known)
{
	struct kustos_claim *ours;
	struct claimed end = { 0 };
	int64_t id = client_session_id(client);
	bool applied = _i == 1;

	ours = put_and_claim();
	proxy_arm(proxy, applied ? PROXY_LOSE_REPLY : PROXY_LOSE_REQUEST,
		ZK_OP_MULTI, 1);
	claim_ack_later(ours, KUSTOS_FOREVER, &end);
	test_eventually(proxy_fired(proxy) == 1, 5000);
	proxy_set_mode(proxy, PROXY_REFUSE);
	ck_assert_int_eq(raw_kill_session(fixture_address(), id), 0);
	proxy_set_mode(proxy, PROXY_PASS);
	enum kustos_err err = claimed_wait(&end);
	/* If the client has reconnected before the kill, it knows the
	   outcome. */
	if (err != KUSTOS_OK)
		check_err(err, applied ? KUSTOS_EUNKNOWN : KUSTOS_ELOST);
	if (err == KUSTOS_ELOST)
		claim_ack(claim_expect(claims_others, "a"), KUSTOS_OK);
	settle();
}
END_TEST

START_TEST(S16_who_has_lost_its_marker_acknowledges_nothing)
{
	struct kustos_claim *ours = put_and_claim(), *theirs;
	char path[128];

	snprintf(path, sizeof(path), "%s",
		kustos_hold_path(kustos_claim_hold(ours)));
	ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	claim_ack(ours, KUSTOS_ELOST);
	ck_assert_int_eq(queue_count(), 1);
	/* The same when another consumer has claimed the item meanwhile. */
	ours = claim_expect(claims, "a");
	ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	theirs = claim_expect(claims_others, "a");
	ck_assert_int_eq(kustos_claim_deliveries(theirs), 3);
	claim_ack(ours, KUSTOS_ELOST);
	end_theirs(theirs);
}
END_TEST

static struct kustos_claim *claim_large(struct kustos_claims *from)
{
	struct kustos_claim *claim = NULL;

	check_err(kustos_claim_next(from, SOON, NULL, &claim), KUSTOS_OK);
	ck_assert_int_eq(kustos_claim_deliveries(claim), 1);
	return claim;
}

/* The item is too large for its deliveries to be counted, so its version does
   not tell that another consumer has claimed it. */
START_TEST(S16_who_has_lost_its_marker_acknowledges_nothing_large)
{
	static char data[999800];
	struct kustos_claim *ours, *theirs;

	claim_put_raw(QUEUE, "qn-", data, sizeof(data), NULL);
	ours = claim_large(claims);
	ck_assert_int_eq(raw_delete(fixture_address(),
				 kustos_hold_path(kustos_claim_hold(ours))),
		0);
	theirs = claim_large(claims_others);
	claim_ack(ours, KUSTOS_ELOST);
	end_theirs(theirs);
}
END_TEST

START_TEST(S16_an_item_that_somebody_took_away_was_not_acknowledged)
{
	struct kustos_claim *ours = put_and_claim();

	queue_expect(queue_others, "a");
	claim_ack(ours, KUSTOS_ELOST);
	settle();
}
END_TEST

/* The client is cut off for longer than the lease, but its session survives. */
START_TEST(L17_what_was_lost_is_given_up_though_the_session_lives)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct kustos_claims *eager;
	struct kustos_claim *ours;
	struct kustos_session before = client_session(client);

	queue_put_numbers(queue_others, 0, 3);
	o.ahead = 2;
	eager = claims_new(client, QUEUE, &o);
	ours = claim_expect(eager, "0");
	test_eventually(claim_marks() == 3, 5000);
	proxy_set_mode(proxy, PROXY_REFUSE);
	client_wait(client, KUSTOS_STATE_LOST, T_MS);
	kustos_claims_destroy(eager);
	proxy_set_mode(proxy, PROXY_PASS);
	client_wait_epoch(client, before.epoch, 5000);
	ck_assert(client_session_id(client) == before.session_id);
	test_eventually(claim_marks() == 0, 5000);
	for (int i = 0; i < 3; i++) {
		char text[12];

		snprintf(text, sizeof(text), "%d", i);
		claim_ack(claim_expect(claims_others, text), KUSTOS_OK);
	}
	claim_ack(ours, KUSTOS_ELOST);
	settle();
}
END_TEST

/* A consumer in a process of its own.  It claims an item and reports that,
   acknowledges it when told to, and reports how that ended. */
static int consumer_main(int fd, void *arg)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct kustos_claim *claim;
	char line[64];

	o.ahead = *(int *)arg;
	if (child_hear(fd, line, sizeof(line), PATIENCE_MS) != 0)
		return 1;
	struct kustos_client *own = client_connected(fixture_address(), T_MS);
	struct kustos_claims *some = claims_new(own, QUEUE, &o);
	claim = claim_expect(some, "0");
	snprintf(line, sizeof(line), "%lld", (long long)client_session_id(own));
	child_say(fd, line);
	if (child_hear(fd, line, sizeof(line), PATIENCE_MS) != 0)
		return 1;
	enum kustos_err err = kustos_claim_ack(claim, SOON, NULL);
	child_say(fd, kustos_err_name(err));
	kustos_claims_destroy(some);
	client_close(own);
	return 0;
}

static int64_t consumer_claims(struct child *child)
{
	char line[64];

	queue_put_numbers(queue, 0, 3);
	child_say(child->fd, "go");
	ck_assert_int_eq(child_hear(child->fd, line, sizeof(line), PATIENCE_MS),
		0);
	return strtoll(line, NULL, 10);
}

START_TEST(S16_what_a_killed_consumer_had_comes_back)
{
	struct child child;
	int ahead = 2 * _i;

	ck_assert_int_eq(child_start(&child, consumer_main, &ahead), 0);
	claim_pair_open(T_MS);
	int64_t id = consumer_claims(&child);
	test_eventually(claim_marks() == 1 + ahead, 5000);
	kill(child.pid, SIGKILL);
	child_end(&child);
	/* Its session is ended here, sooner than it would expire. */
	ck_assert_int_eq(raw_kill_session(fixture_address(), id), 0);
	for (int i = 0; i < 3; i++) {
		char text[12];

		snprintf(text, sizeof(text), "%d", i);
		struct kustos_claim *claim = claim_expect(claims, text);
		ck_assert_int_eq(kustos_claim_deliveries(claim),
			i <= ahead ? 2 : 1);
		claim_ack(claim, KUSTOS_OK);
	}
	settle();
	claim_pair_close();
}
END_TEST

START_TEST(S16_a_paused_consumer_acknowledges_nothing_afterwards)
{
	struct child child;
	int ahead = 0;

	ck_assert_int_eq(child_start(&child, consumer_main, &ahead), 0);
	claim_pair_open(T_MS);
	int64_t id = consumer_claims(&child);
	kill(child.pid, SIGSTOP);
	ck_assert_int_eq(raw_kill_session(fixture_address(), id), 0);
	struct kustos_claim *claim = claim_expect(claims, "0");
	ck_assert_int_eq(kustos_claim_deliveries(claim), 2);
	/* The first thing that the consumer does when it continues. */
	child_say(child.fd, "ack");
	kill(child.pid, SIGCONT);
	ck_assert(child_expect(child.fd, "KUSTOS_ELOST", PATIENCE_MS));
	ck_assert_int_eq(child_wait(&child, PATIENCE_MS), 0);
	child_end(&child);
	ck_assert_int_eq(queue_count(), 3);
	claim_ack(claim, KUSTOS_OK);
	claim_ack(claim_expect(claims, "1"), KUSTOS_OK);
	claim_ack(claim_expect(claims, "2"), KUSTOS_OK);
	settle();
	claim_pair_close();
}
END_TEST

static void put_on(struct raw *raw, const char *text)
{
	ck_assert_int_eq(
		raw_do_create(raw, "/q/qn-", text, RAW_SEQUENTIAL, NULL, 0), 0);
}

static void want(struct kustos_claims *from, struct claimed *told)
{
	check_err(kustos_claim_next_async(from, KUSTOS_FOREVER, NULL,
			  claim_told, told),
		KUSTOS_OK);
}

static void expect_told(const struct claimed *told, const char *text)
{
	check_err(claimed_wait(told), KUSTOS_OK);
	ck_assert_str_eq(kustos_claim_item(told->claim)->data, text);
	claim_ack(told->claim, KUSTOS_OK);
}

/* A server that closes the connection at each claim of the first item: the
   request for this is longer than the one that created the item. */
static struct server *stubborn;
static struct raw *stubborn_raw;
static struct kustos_client *stubborn_client;
static struct kustos_claims *stubborn_claims;

static void stubborn_open(void)
{
	const struct server_options options = {
		.jvm = "-Djute.maxbuffer=20000"
	};
	char text[19850] = { 0 };

	stubborn = server_start(&options);
	ck_assert_ptr_nonnull(stubborn);
	memset(text, 'x', sizeof(text) - 1);
	stubborn_raw = raw_open(server_address(stubborn), 30000);
	stubborn_client = client_connected(server_address(stubborn), T_MS);
	ck_assert_int_eq(raw_create(server_address(stubborn), "/q", ""), 0);
	put_on(stubborn_raw, text);
}

/* One claim is still waiting then. */
static void stubborn_close(const struct claimed *waits)
{
	kustos_claims_destroy(stubborn_claims);
	check_err(claimed_wait(waits), KUSTOS_ECLOSED);
	client_close(stubborn_client);
	raw_close(stubborn_raw);
	server_free(stubborn);
}

/* There is always one more claim than there are items to claim. */
START_TEST(an_item_that_can_never_be_claimed_holds_up_no_others)
{
	struct claimed told[4] = { { .calls = 0 } };

	stubborn_open();
	stubborn_claims = claims_new(stubborn_client, "/q", NULL);
	want(stubborn_claims, &told[0]);
	want(stubborn_claims, &told[1]);
	test_eventually(client_stats(stubborn_client).disconnects >= 3, 10000);
	for (int i = 0; i < 2; i++) {
		put_on(stubborn_raw, "a");
		expect_told(&told[i], "a");
		want(stubborn_claims, &told[i + 2]);
	}
	put_on(stubborn_raw, "b");
	expect_told(&told[2], "b");
	stubborn_close(&told[3]);
}
END_TEST

/* The claims of the items behind it are lost with it each time. */
START_TEST(an_item_that_can_never_be_claimed_holds_up_none_tried_with_it)
{
	struct kustos_claims_options o = claims_options(KUSTOS_QUEUE_SIMPLE);
	struct claimed told[2] = { { .calls = 0 } };

	stubborn_open();
	put_on(stubborn_raw, "a");
	o.ahead = 2;
	stubborn_claims = claims_new(stubborn_client, "/q", &o);
	want(stubborn_claims, &told[0]);
	expect_told(&told[0], "a");
	want(stubborn_claims, &told[1]);
	stubborn_close(&told[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("claims, faults");
	TCase *t = fixture_case(s, "two clients", 15);

	tcase_add_checked_fixture(t, set_up, claim_pair_close);
	tcase_add_test(t, a_close_is_a_loss_of_what_is_claimed_and_is_told);
	tcase_add_loop_test(t, S16_a_fault_at_any_frame_loses_nothing, 0,
		2 * FRAMES);
	tcase_add_loop_test(t,
		S16_a_fault_while_it_is_put_back_makes_no_second_item, 0, 2);
	tcase_add_test(t, S16_who_has_lost_its_session_acknowledges_nothing);
	tcase_add_loop_test(t, S16_an_ack_is_not_sent_in_the_next_session, 0,
		2);
	tcase_add_loop_test(t,
		S16_what_became_of_an_ack_is_told_as_far_as_it_is_known, 0, 2);
	tcase_add_test(t, S16_who_has_lost_its_marker_acknowledges_nothing);
	tcase_add_test(t,
		S16_who_has_lost_its_marker_acknowledges_nothing_large);
	tcase_add_test(t,
		S16_an_item_that_somebody_took_away_was_not_acknowledged);
	tcase_add_test(t,
		L17_what_was_lost_is_given_up_though_the_session_lives);
	t = fixture_case(s, "a consumer of its own", 15);
	tcase_add_loop_test(t, S16_what_a_killed_consumer_had_comes_back, 0, 2);
	tcase_add_test(t,
		S16_a_paused_consumer_acknowledges_nothing_afterwards);
	t = fixture_case(s, "a server of its own", 40);
	tcase_add_test(t, an_item_that_can_never_be_claimed_holds_up_no_others);
	tcase_add_test(t,
		an_item_that_can_never_be_claimed_holds_up_none_tried_with_it);
	return fixture_main(s);
}
